"""All states at which the Oja map rests, and all that it sends to their negatives.

At rest ``u = (x_i^T u) x_i`` for every token, u the push.  If ``u != 0`` the tokens are on one line, that of an eigenvector; if
``u = V xbar = 0`` and V is nonsingular, their mean is zero.  Where ``x_i^+ = -x_i`` for every i, ``(1 + r_i) x_i = -alpha u``:
then all tokens are equal.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.power_method.pm_e09_oja_map import influence
from eigentoken.proofs.power_method.polygons import NO_PUSH, rests
from eigentoken.proofs.power_method.principal_limits import collected_pushes, height_of_mean, radial_push
from eigentoken.proofs.power_method.symbols import V, alpha
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z, at_every_token, for_every
from eigentoken.proofs.steps.fixed_points import RESTS, C
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.slopes import value_of
from eigentoken.proofs.steps.theorems import EUCLIDEAN
from eigentoken.theory.calculus import TOKENS, Index, Letter, Norm, dot, factor, matrix, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Disjunction,
    Exists,
    ForAll,
    Implication,
    Proposition,
    proposition,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor
from eigentoken.theory.language.conditions import Nonsingular

__all__ = ["CLASSES", "FLIPPED", "ONE_CYCLE", "POLYGONAL", "classes", "one_cycle", "polygonal"]

_J = Index("token", "j")
_Z, _X, _XJ, _U = vector(Z.name), vector("x", TOKEN), vector("x", _J), influence()
_MEAN = vector("x", _J).summed(_J) / TOKENS
_PUSHED, _RHO = Tensor(dot(_U, _U)), Tensor(dot(_MEAN, _U))
#: ``xbar = 0``.
NO_MEAN = for_every(sp.Eq(Tensor(dot(_Z, _MEAN)), 0, evaluate=False), Z)
#: All tokens are on one line: ``x_i = (x_i^T x_j) x_j``.
_ONE_LINE = for_every(sp.Eq(Tensor(dot(_Z, _X)), Tensor(dot(_X, _XJ) * dot(_Z, _XJ)), evaluate=False), TOKEN, _J, Z)


def _eigenvector(guard: Proposition = TRUE) -> Proposition:
    """Every token is an eigenvector: ``V x_i = c x_i``."""
    equal = sp.Eq(Tensor(dot(_Z, _X.applied(matrix("V")))), C * Tensor(dot(_Z, _X)), evaluate=False)
    return ForAll(TOKEN, TRUE, Exists(C, guard, for_every(equal, Z)))


_LINE = Conjunction((_ONE_LINE, _eigenvector()))
#: A state at rest has mean zero, or its tokens are on the line of an eigenvector.
CLASSES = Implication(RESTS, Disjunction((NO_MEAN, _LINE)))
#: A state with mean zero rests.
POLYGONAL = Implication(NO_MEAN, RESTS)


def _line(k: Kernel, radial: Proved) -> Proved:
    """With a push the tokens are on one line, that of an eigenvector for ``|u|^2 / rho``."""
    pushed = k.assume(_PUSHED > 0)
    here, there = k.instantiate(radial, TOKEN), k.instantiate(radial, _J)
    known = [k.instantiate(each, test) for each in (here, there) for test in (Z, _U, _X)]
    line = k.arithmetic([*known, k.product(dot(_X, _XJ), dot(_Z, _XJ)), pushed], _ONE_LINE.body.body.body)
    collected, turned = collected_pushes(k, radial), _Z.applied((Letter("V", True),))
    height = height_of_mean(k, collected)
    value = [
        *(k.instantiate(here, test) for test in (Z, turned, _U)),
        *(k.instantiate(collected, turned), expanded(k, dot(turned, _MEAN), (1, dot(_Z, _U)))),
        *(expanded(k, dot(turned, _X), (1, dot(_Z, _X.applied(matrix("V"))))), height, pushed),
    ]
    some = _eigenvector().body
    number = _PUSHED / _RHO
    equal = sp.Eq(Tensor(dot(_Z, _X.applied(matrix("V")))), number * Tensor(dot(_Z, _X)), evaluate=False)
    found = k.generalise(Z, k.arithmetic(value, equal))
    eigen = k.generalise(TOKEN, k.witness(some, number, found, height))
    return k.conjunction(at_every_token(k, line, TOKEN, _J, Z), eigen)


def _no_mean(k: Kernel) -> Proved:
    """Without a push the mean is zero, V being nonsingular."""
    size = Tensor(dot(_MEAN, _MEAN))
    none = k.assume(sp.Eq(_PUSHED, 0, evaluate=False))
    kept = k.modus_ponens(k.as_form(Nonsingular(V)), k.given(Nonsingular(V)))
    long, zero = proposition(size > 0), proposition(sp.Le(size, 0, evaluate=False))
    image = k.instantiate(kept, _MEAN, k.assume(long))
    same = expanded(k, image.proposition.word.relation.lhs.expression, (1, dot(_U, _U)))
    either = k.arithmetic([], Disjunction((long, zero)))
    short = k.by_cases(either, (long, k.arithmetic([image, same, none], zero)), (zero, k.assume(zero)))
    known = [short, k.square(_MEAN), k.textbook(EUCLIDEAN, y=_Z, z=_MEAN)]
    return k.generalise(Z, k.arithmetic(known, NO_MEAN.body))


def classes(k: Kernel) -> Proved:
    """A proof of :data:`CLASSES`."""
    radial = radial_push(k)
    zero, more = proposition(sp.Eq(_PUSHED, 0, evaluate=False)), proposition(_PUSHED > 0)
    wanted = CLASSES.right
    found = k.by_cases(
        k.arithmetic([k.square(_U)], Disjunction((zero, more))),
        (zero, k.tautology([_no_mean(k)], wanted)),
        (more, k.tautology([_line(k, radial)], wanted)),
    )
    return k.discharge(RESTS, found)


def polygonal(k: Kernel) -> Proved:
    """A proof of :data:`POLYGONAL`."""
    mean, turned = k.assume(NO_MEAN), _Z.applied((Letter("V", True),))
    known = [k.instantiate(mean, turned), expanded(k, dot(turned, _MEAN), (1, dot(_Z, _U)))]
    push = k.generalise(Z, k.arithmetic(known, NO_PUSH.body))
    return k.discharge(NO_MEAN, k.supply(rests(k), push))


#: ``x_i^+ = -x_i`` for every token.
FLIPPED = for_every(sp.Eq(Rate(dot(_Z, _X)), Tensor(dot(_Z, _X) * -2), evaluate=False), TOKEN, Z)
_EQUAL = for_every(sp.Eq(Tensor(dot(_Z, _X)), Tensor(dot(_Z, _XJ)), evaluate=False), TOKEN, _J, Z)
#: Then all tokens are equal, and an eigenvector for a c with ``1 + alpha c < 0``.
ONE_CYCLE = Implication(FLIPPED, Conjunction((_EQUAL, _eigenvector(proposition(1 + alpha * C < 0)))))


def _turned_round(k: Kernel) -> Proved:
    """``alpha z^T u = -(1 + r_i) z^T x_i`` for every i and z."""
    length = factor(Norm("r", (TOKEN,)))
    step, positive = k.increment(dot(_Z, _X)), k.positive(length)
    split = k.factors(value_of(step))
    known = [
        *(k.instantiate(k.instantiate(k.assume(FLIPPED), TOKEN), Z), step, positive, k.scaling(dot(_Z, _X), -2)),
        k.supply(split, *(k.arithmetic([positive], each) for each in split.hypotheses)),
        expanded(k, dot(_Z, RAW), (1, dot(_Z, _X)), (alpha, dot(_Z, _U))),
    ]
    equal = sp.Eq(alpha * Tensor(dot(_Z, _U)), -(1 + Tensor(length)) * Tensor(dot(_Z, _X)), evaluate=False)
    return at_every_token(k, k.arithmetic(known, equal), TOKEN, Z)


def one_cycle(k: Kernel) -> Proved:
    """A proof of :data:`ONE_CYCLE`: ``(1 + r_i)^2 = alpha^2 |u|^2`` for every i."""
    back, long = _turned_round(k), []
    lengths = [Tensor(factor(Norm("r", (each,)))) for each in (TOKEN, _J)]
    for index, own in ((TOKEN, _X), (_J, _XJ)):
        here = k.instantiate(back, index)
        long += [k.instantiate(here, _U), k.instantiate(here, own), expanded(k, dot(own, own), (1,))]
        long.append(k.positive(factor(Norm("r", (index,)))))
    same = k.arithmetic(long, sp.Eq(*lengths, evaluate=False))
    both = [k.instantiate(k.instantiate(back, index), Z) for index in (TOKEN, _J)]
    first = k.arithmetic([same, k.positive(factor(Norm("r", (TOKEN,)))), *both], _EQUAL.body.body.body)
    equal = at_every_token(k, first, TOKEN, _J, Z)
    turned = _Z.applied((Letter("V", True),))
    own = dot(_Z, _X.applied(matrix("V")))
    each = k.arithmetic(
        [
            k.instantiate(k.instantiate(k.instantiate(equal, TOKEN), _J), turned),
            *(expanded(k, dot(turned, one_), (1, dot(_Z, one_.applied(matrix("V"))))) for one_ in (_X, _XJ)),
        ],
        sp.Eq(Tensor(own), Tensor(dot(_Z, _XJ.applied(matrix("V")))), evaluate=False),
    )
    pushes = [
        k.summed(k.generalise(_J, each)),
        expanded(k, own.summed(_J), (TOKENS, own)),
        expanded(k, dot(_Z, _XJ.applied(matrix("V"))).summed(_J), (TOKENS, dot(_Z, _U))),
    ]
    value = -(1 + lengths[0]) / alpha
    image = sp.Eq(Tensor(own), value * Tensor(dot(_Z, _X)), evaluate=False)
    found = k.generalise(Z, k.arithmetic([*pushes, both[0]], image))
    some = ONE_CYCLE.right.parts[1].body
    ahead = k.arithmetic([k.positive(factor(Norm("r", (TOKEN,))))], 1 + alpha * value < 0)
    eigen = k.generalise(TOKEN, k.witness(some, value, ahead, found))
    return k.discharge(FLIPPED, k.conjunction(equal, eigen))
