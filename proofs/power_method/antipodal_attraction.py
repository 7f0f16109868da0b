"""Two tokens near ``a_1 = -a_2``, V negative across them: the Oja map takes them to opposite points, ``x_1 + x_2 -> 0``.

They stay near (:mod:`~.antipodal_stability`), and every trajectory tends to a state of rest.  At rest the push ``u = V xbar`` is
``(x_i^T u) x_i`` for both tokens, so ``xbar^T V xbar = (x_i^T u) |xbar|^2``; were ``xbar`` not zero, both heights would be equal,
hence zero, as ``x_1^T x_2 < 0``; but ``xbar^T V xbar`` is negative there.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.power_method.antipodal_stability import (
    NEGATIVE,
    PLACE,
    RADIUS,
    STABLE,
    defined,
    norm_of_values,
    small_mean,
    tilted_form,
    two_tokens,
)
from eigentoken.proofs.power_method.pm_e09_oja_map import influence
from eigentoken.proofs.power_method.pm_r03_oja_convergence import proof as convergence
from eigentoken.proofs.power_method.principal_limits import radial_push
from eigentoken.proofs.power_method.symbols import n
from eigentoken.proofs.steps.equations import TOKEN
from eigentoken.proofs.steps.fixed_points import RESTS
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.map_theorems import LIMIT_AT_REST, near, stays_within, vanishes
from eigentoken.theory.calculus import TOKENS, Index, dot, matrix, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, Exists, ForAll, ForAlmostEvery, Implication, put
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, Tensor, VectorLetter

__all__ = ["ATTRACTS", "antipodal_attraction"]


_J = Index("token", "j")
_X, _U = vector("x", TOKEN), influence()
_TOTAL = vector("x", _J).summed(_J)
_MEAN = _TOTAL / TOKENS
#: ``|x_1 + x_2|^2``.
_WIDTH = dot(_TOTAL, _TOTAL)
_NEAR = STABLE.body  # for every epsilon there is a delta: almost every start within delta stays within epsilon
_START = _NEAR.body.body.body.left
_GOES = Implication(_START, vanishes(_WIDTH))
#: Almost every start near such a state a ends with opposite tokens.
ATTRACTS = ForAll(PLACE, STABLE.guard, Exists(_NEAR.body.letter, TRUE, ForAlmostEvery(_GOES)))
#: Half of the square of the distance at which W is not negative.
_CLOSE = RADIUS / 2


def _opposite_at_rest(k: Kernel) -> Proved:
    """A state of rest that is so near has ``x_1 + x_2 = 0``."""
    two = k.given(sp.Eq(n, 2))
    some = k.instantiate(k.pair(two), TOKEN)
    other = some.proposition.letter
    partner, both = vector("x", other), k.assume(some.proposition.body)
    radial, alike = k.supply(radial_push(k)), k.generalise(TOKEN, two_tokens(k))
    here, there = k.instantiate(radial, TOKEN), k.instantiate(radial, other)
    size, width = Tensor(dot(_MEAN, _MEAN)), Tensor(_WIDTH)
    form, sides = Tensor(dot(_MEAN, _MEAN, matrix("V"))), [Tensor(dot(each, _U)) for each in (_X, partner)]
    cosine = Tensor(dot(_X, partner))
    heights = k.arithmetic(
        [
            *(k.instantiate(each, _MEAN) for each in (here, there)),
            *(k.instantiate(alike, each) for each in (TOKEN, other)),
            expanded(k, dot(_MEAN, _U), (1, dot(_MEAN, _MEAN, matrix("V")))),
        ],
        sp.And(*(sp.Eq(form, each * size, evaluate=False) for each in sides)),
    )
    turned = k.arithmetic([k.instantiate(here, partner)], sp.Eq(sides[1], sides[0] * cosine, evaluate=False))
    angle = k.arithmetic(
        [
            k.instantiate(both, _X),
            expanded(k, dot(_X, _X), (1,)),
            expanded(k, dot(_X, _MEAN), (1 / TOKENS, dot(_X, _TOTAL))),
            k.instantiate(alike, TOKEN),
            two,
        ],
        sp.Eq(2 * size, 1 + cosine, evaluate=False),
    )
    norm = k.arithmetic([norm_of_values(k)], sp.Le(_CLOSE, sp.Rational(1, 8), evaluate=False))
    short = k.arithmetic([small_mean(k, _CLOSE), norm], sp.Le(size, sp.Rational(1, 8), evaluate=False))
    known = [heights, turned, angle, short, tilted_form(k, 2), k.square(_MEAN)]
    nothing = k.arithmetic(known, sp.Eq(size, 0, evaluate=False))
    whole = expanded(k, dot(_MEAN, _MEAN), (1 / TOKENS**2, _WIDTH))
    found = k.exists_elimination(some, k.arithmetic([nothing, whole], sp.Eq(width, 0, evaluate=False)))
    return k.generalise(VectorLetter(STATE), k.discharge(Conjunction((RESTS, near("a", _CLOSE))), found))


def _within(k: Kernel, stays: Proved) -> Proved:
    """``|x_i(t) - a_i|^2 <= bound`` at every time, from the strict inequality."""
    wanted = stays_within("a", _CLOSE)
    now = k.instantiate(stays, wanted.letter, k.assume(wanted.guard))
    each = k.arithmetic([k.instantiate(now, TOKEN)], put(wanted.body.body, {wanted.body.letter: TOKEN}))
    return k.generalise(wanted.letter, k.generalise(TOKEN, each), wanted.guard)


def antipodal_attraction(k: Kernel, stable: Proved) -> Proved:
    """A proof of :data:`ATTRACTS`; ``stable`` is one of :data:`~.antipodal_stability.STABLE`."""
    there = k.instantiate(stable, PLACE, k.assume(STABLE.guard))
    positive = k.arithmetic([norm_of_values(k)], sp.Gt(_CLOSE, 0, evaluate=False))
    stays = k.instantiate(there, _CLOSE, positive, *defined(k, _CLOSE))
    almost = k.assume(stays.proposition.body)
    path = almost.proposition.body
    start = k.assume(path.left)
    always = _within(k, k.modus_ponens(k.assume(path), start))
    goes = k.textbook(LIMIT_AT_REST, convergence(k), always, _opposite_at_rest(k), q=_WIDTH, a=PLACE, bound=_CLOSE)
    rule = k.discharge(path, k.discharge(path.left, goes))
    found = k.almost_everywhere([almost, rule], _GOES)
    some = k.witness(ATTRACTS.body, _NEAR.body.letter, found)
    found = k.exists_elimination(stays, some)
    found = k.exists_elimination(k.assume(NEGATIVE), found)
    return k.generalise(PLACE, found, STABLE.guard)
