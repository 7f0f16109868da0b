"""States of the Oja map without push, ``V xbar = 0``: they rest, and which families show a multiplier above 1.

Two tokens off one line, ``c = x_a^T x_b`` with ``c^2 < 1``, can be moved so that the mean moves along ``v_1``; tokens on one line
can all be moved along a vector at right angles to it.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.power_method.pm_e09_oja_map import influence
from eigentoken.proofs.power_method.saddles import shown_by
from eigentoken.proofs.power_method.symbols import V, lam
from eigentoken.proofs.steps.equations import TOKEN, Z, for_every
from eigentoken.proofs.steps.fixed_points import radial
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.theorems import EUCLIDEAN
from eigentoken.theory.calculus import SLOT, TOKENS, Expression, Index, delta, dot, instance, matrix, one, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.multipliers import MULTIPLIER
from eigentoken.theory.kernel.propositions import TRUE, Exists, Negation, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter

__all__ = ["ACROSS", "APART", "NO_PUSH", "across", "apart", "polygon", "rests"]

_Z, _X, _U = vector(Z.name), vector("x", TOKEN), influence()
_A, _B = Index("token", "a"), Index("token", "b")
_XA, _XB = vector("x", _A), vector("x", _B)
_COSINE = dot(_XA, _XB)
#: ``V xbar = 0``.
NO_PUSH = for_every(sp.Eq(Tensor(dot(_Z, _U)), 0, evaluate=False), Z)
_TWO = proposition(sp.Lt(Tensor(_COSINE) ** 2, 1, evaluate=False))
#: Two tokens are not on one line; every two are.
APART = Exists(_A, TRUE, Exists(_B, TRUE, _TWO))
ON_ONE_LINE = for_every(sp.Eq(Tensor(_COSINE) ** 2, 1, evaluate=False), _A, _B)
_Y = VectorLetter("b")
_ALONG = vector(_Y.name)
#: A vector b at right angles to every token, with ``b^T V b > 0``.
ACROSS = Exists(
    _Y,
    for_every(sp.Eq(Tensor(dot(_X, _ALONG)), 0, evaluate=False), TOKEN),
    proposition(sp.Gt(Tensor(dot(_ALONG, _ALONG, matrix("V"))), 0, evaluate=False)),
)


def rests(k: Kernel) -> Proved:
    """Without a push the map rests."""
    found = radial(k, _U)
    along = found.proposition.right.body
    zero = k.arithmetic([k.instantiate(k.assume(NO_PUSH), Z)], sp.Eq(Tensor(dot(_Z, _U)), 0 * Tensor(dot(_Z, _X))))
    ahead = k.arithmetic([], sp.Gt(1, 0, evaluate=False))
    some = k.witness(along, sp.Integer(0), ahead, k.generalise(Z, zero))
    return k.modus_ponens(found, k.generalise(TOKEN, some))


def _curved(family: Expression) -> Expression:
    """``n wbar^T V wbar``."""
    j = Index("token", "j")
    total = instance(family, j).summed(j)
    return dot(total, total, matrix("V")) / TOKENS


def _excess(k: Kernel, family: Expression, positive: Proved) -> Proved:
    """``n wbar^T V wbar > 0 = sum_i (x_i^T u) |w_i|^2``, where the first is proved."""
    own = instance(family, TOKEN)
    height, size = dot(_X, _U), dot(own, own)
    each = k.arithmetic(
        [k.instantiate(k.assume(NO_PUSH), _X), k.product(height, size)],
        sp.Eq(Tensor(height * size), 0, evaluate=False),
    )
    nothing = k.summed(k.generalise(TOKEN, each))
    wanted = sp.Gt(Tensor(_curved(family)), Tensor((height * size).summed(TOKEN)), evaluate=False)
    return k.arithmetic([positive, nothing, k.factors(one() * 0)], wanted)


def across(k: Kernel, rule: Proved) -> Proved:
    """All tokens are moved along b; ``rule`` is what holds of tangent families at rest."""
    some = k.assume(ACROSS)
    level, form = k.assume(ACROSS.guard), k.assume(ACROSS.body)
    grows = k.arithmetic(
        [form, expanded(k, _curved(_ALONG), (TOKENS, dot(_ALONG, _ALONG, matrix("V"))))],
        sp.Gt(Tensor(_curved(_ALONG)), 0, evaluate=False),
    )
    found = shown_by(k, rule, _ALONG, k.instantiate(level, TOKEN), _excess(k, _ALONG, grows))
    return k.exists_elimination(some, found)


def two_apart(k: Kernel, rule: Proved, top: Proved) -> Proved:
    """Tokens a and b off one line are moved, with the sum ``(1 - c^2) u``; ``top``: u is a unit eigenvector for ``lambda_1``."""
    first = vector("u")
    left = one() - _COSINE * _COSINE
    turned = (_XA - _COSINE * _XB) * dot(first, _XA)
    family = delta(SLOT, _A) * (left * first - turned) + delta(SLOT, _B) * turned
    form = dot(first, first, matrix("V"))
    known = [
        expanded(k, _curved(family), (1 / TOKENS, left, left, form)),
        expanded(k, left, (1,), (-1, _COSINE, _COSINE)),
        k.assume(_TWO),
        k.instantiate(k.part(top, top.proposition.parts[0]), first),
        k.part(top, top.proposition.parts[1]),
        k.given(lam(V, 1) > 0),
    ]
    grows = k.arithmetic(known, sp.Gt(Tensor(_curved(family)), 0, evaluate=False))
    tangent = k.arithmetic(
        [k.reduction(dot(_X, instance(family, TOKEN)), one() * 0), k.factors(one() * 0)],
        sp.Eq(Tensor(dot(_X, instance(family, TOKEN))), 0, evaluate=False),
    )
    return shown_by(k, rule, family, tangent, _excess(k, family, grows))


def apart(k: Kernel, rule: Proved, top: Proved) -> Proved:
    """The same from :data:`APART`."""
    inner = k.exists_elimination(k.assume(APART.body), two_apart(k, rule, top))
    return k.exists_elimination(k.assume(APART), inner)


def on_one_line(k: Kernel, both: Proved) -> Proved:
    """A vector b as in :data:`ACROSS` if ``lambda_2 > 0``; ``both`` says what u and v are, orthonormal eigenvectors."""
    first, second = vector("u"), vector("v")
    along, beside = dot(first, _XA), dot(second, _XA)
    mixed = first * beside - second * along
    line = k.instantiate(k.instantiate(k.assume(ON_ONE_LINE), TOKEN), _A)
    rest = _X - dot(_X, _XA) * _XA
    size = expanded(k, dot(rest, rest), (1,), (-1, dot(_X, _XA), dot(_X, _XA)))

    def level(vector_: Expression, *known: Proved) -> Proved:
        """``x_i^T b = (x_i^T x_a)(x_a^T b) = 0``."""
        cauchy = k.textbook(EUCLIDEAN, y=rest, z=vector_)
        split = expanded(k, dot(rest, vector_), (1, dot(_X, vector_)), (-1, dot(_X, _XA), dot(_XA, vector_)))
        flat = sp.Eq(Tensor(dot(_X, vector_)), 0, evaluate=False)
        return k.generalise(TOKEN, k.arithmetic([line, size, cauchy, split, *known], flat))

    top, other, right = both.proposition.parts[0], both.proposition.parts[1], both.proposition.parts[2]
    pairs = [k.part(both, each) for each in (*top.parts, *other.parts, right)]
    forms = [
        k.instantiate(pairs[0], first),
        k.instantiate(pairs[0], second),
        k.instantiate(pairs[2], first),
        k.instantiate(pairs[2], second),
        *(pairs[1], pairs[3], pairs[4]),
    ]
    order = [k.given(lam(V, 1) > 0), k.assume(lam(V, 2) > 0)]
    value = expanded(
        k,
        dot(mixed, mixed, matrix("V")),
        (1, beside, beside, dot(first, first, matrix("V"))),
        (-1, beside, along, dot(first, second, matrix("V"))),
        (-1, beside, along, dot(second, first, matrix("V"))),
        (1, along, along, dot(second, second, matrix("V"))),
    )
    nothing = sp.And(sp.Eq(Tensor(along), 0), sp.Eq(Tensor(beside), 0))
    flat = expanded(k, dot(_XA, mixed), (1, beside, along), (-1, along, beside))
    here, off = k.assume(nothing), k.assume(sp.Not(nothing))
    positive = k.arithmetic([*forms, *order, value, off], sp.Gt(Tensor(dot(mixed, mixed, matrix("V"))), 0))
    one_way = k.witness(ACROSS, mixed, level(mixed, flat), positive)
    plain = k.arithmetic([*forms, *order], sp.Gt(Tensor(dot(first, first, matrix("V"))), 0))
    other_way = k.witness(ACROSS, first, level(first, here), plain)
    either = k.tautology([], sp.Or(nothing, sp.Not(nothing)))
    return k.by_cases(either, (here.proposition, other_way), (off.proposition, one_way))


def polygon(k: Kernel, rule: Proved, both: Proved) -> Proved:
    """Without a push, and with ``lambda_2 > 0``, a multiplier is above 1: were none, all tokens would be on one line."""
    none = k.assume(Negation(MULTIPLIER))
    show = k.discharge(_TWO, two_apart(k, rule, k.part(both, both.proposition.parts[0])))
    near = k.tautology([show, none], Negation(_TWO))
    cauchy = k.textbook(EUCLIDEAN, y=_XA, z=_XB)
    units = [expanded(k, dot(each, each), (1,)) for each in (_XA, _XB)]
    line = k.arithmetic([near, cauchy, *units], sp.Eq(Tensor(_COSINE) ** 2, 1, evaluate=False))
    line = k.generalise(_A, k.generalise(_B, line))
    found = k.supply(across(k, rule), k.supply(on_one_line(k, both), line))
    return k.tautology([k.discharge(Negation(MULTIPLIER), found)], MULTIPLIER)
