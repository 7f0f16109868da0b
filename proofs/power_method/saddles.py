"""Where the Oja map rests, a tangent family w with ``n wbar^T V wbar > sum_i (x_i^T u) |w_i|^2`` gives a multiplier above 1.

At rest ``y_i = r_i x_i`` with ``r_i = 1 + alpha x_i^T u``, and the derivative is ``D_i(w) = (H_i - (x_i^T H_i) x_i)/r_i`` with
``H_i = w_i + alpha V wbar``.  It is symmetric in the inner product ``sum_i r_i a_i^T b_i``, so that Rayleigh's principle decides.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.power_method.pm_e09_oja_map import influence
from eigentoken.proofs.power_method.symbols import V, alpha
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z
from eigentoken.proofs.steps.fixed_points import RESTS
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.saddle_theorems import FAMILY, SELF_ADJOINT
from eigentoken.proofs.steps.slopes import ALONG, HALF_SQUARE, SHORT, quotient, value_of
from eigentoken.theory.calculus import TOKENS, Expression, Index, Norm, dot, factor, instance, matrix, one, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.multipliers import DIRECTIONS, FACTOR, MULTIPLIER, TANGENT
from eigentoken.theory.kernel.propositions import ForAll, Implication, proposition, put
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Slope, Tensor, VectorLetter
from eigentoken.theory.language.conditions import Symmetric

__all__ = ["EXCESS", "SADDLE", "at_rest", "curved", "saddle", "shown_by"]

_Z, _X, _W = vector(Z.name), vector("x", TOKEN), vector("w", TOKEN)
_SECOND, _AT = VectorLetter("h"), Index("token", "a")
_LENGTH = factor(Norm("r", (TOKEN,)))
_PUSH = influence()


def _total(family: str) -> Expression:
    """``sum_j w_j``."""
    j = Index("token", "j")
    return vector(family, j).summed(j)


def _raw(family: str, token: Index = TOKEN) -> Expression:
    """``H_i = w_i + alpha V wbar``."""
    return vector(family, token) + _total(family).applied(matrix("V")) * (alpha / TOKENS)


def _image(family: str, token: Index = TOKEN) -> Expression:
    """``D_i(w)``."""
    moved, here = _raw(family, token), vector("x", token)
    return factor(Norm("r", (token,)), -1) * (moved - dot(here, moved) * here)


def curved(family: str = "w") -> Expression:
    """``n wbar^T V wbar``."""
    return dot(_total(family), _total(family), matrix("V")) / TOKENS


_WEIGHED = dot(_X, _PUSH) * dot(_W, _W)
#: ``n wbar^T V wbar > sum_i (x_i^T u) |w_i|^2``.
EXCESS = proposition(sp.Gt(Tensor(curved()), Tensor(_WEIGHED.summed(TOKEN)), evaluate=False))
#: At rest, every tangent family with that excess shows a multiplier above 1.
SADDLE = Implication(RESTS, ForAll(DIRECTIONS, TANGENT, Implication(EXCESS, MULTIPLIER)))


def at_rest(k: Kernel) -> tuple[Proved, Proved]:
    """``z^T y_i = r_i z^T x_i`` for every i and z, and ``r_i = 1 + alpha x_i^T u``, where the map rests."""
    still = k.instantiate(k.instantiate(k.assume(RESTS), TOKEN), Z)
    step, length = k.increment(dot(_Z, _X)), k.positive(_LENGTH)
    split = k.factors(value_of(step))
    split = k.supply(split, *(k.arithmetic([length], each) for each in split.hypotheses))
    equal = sp.Eq(Tensor(dot(_Z, RAW)), Tensor(_LENGTH) * Tensor(dot(_Z, _X)), evaluate=False)
    radial = k.generalise(TOKEN, k.generalise(Z, k.arithmetic([still, step, split, length], equal)))
    known = [
        k.instantiate(k.instantiate(radial, TOKEN), _X),
        expanded(k, dot(_X, RAW), (1,), (alpha, dot(_X, _PUSH))),
        expanded(k, dot(_X, _X), (1,)),
    ]
    height = k.arithmetic(known, sp.Eq(Tensor(_LENGTH), 1 + alpha * Tensor(dot(_X, _PUSH)), evaluate=False))
    return radial, height


def _nothing(k: Kernel, family: str, tangent: Proved) -> Proved:
    """``sum_i (x_i^T H_i)(x_i^T h_i) = 0`` for a tangent family h, ``H_i`` that of w."""
    along, level = dot(_X, _raw("w")), dot(_X, vector(family, TOKEN))
    each = k.arithmetic(
        [k.product(along, level), k.instantiate(tangent, TOKEN)], sp.Eq(Tensor(along * level), 0, evaluate=False)
    )
    whole = k.summed(k.generalise(TOKEN, each))
    return k.arithmetic([whole, k.factors(one() * 0)], sp.Eq(Tensor((along * level).summed(TOKEN)), 0, evaluate=False))


def _inner(k: Kernel, family: str, tangent: Proved) -> Proved:
    """``sum_i r_i h_i^T D_i(w) = sum_i h_i^T H_i(w)`` for a tangent family h."""
    other = vector(family, TOKEN)
    whole = (_LENGTH * dot(other, _image("w"))).summed(TOKEN)
    kept, lost = dot(other, _raw("w")).summed(TOKEN), (dot(_X, _raw("w")) * dot(_X, other)).summed(TOKEN)
    split = expanded(k, whole, (1, kept), (-1, lost))
    return k.arithmetic([split, _nothing(k, family, tangent)], sp.Eq(Tensor(whole), Tensor(kept), evaluate=False))


def _symmetric(k: Kernel) -> Proved:
    """``sum_i r_i h_i^T D_i(w) = sum_i r_i w_i^T D_i(h)`` for tangent w and h."""
    here, other = k.assume(TANGENT), put(TANGENT, {DIRECTIONS: _SECOND})
    one_way = _inner(k, _SECOND.name, k.assume(other))
    every = k.generalise(DIRECTIONS, k.generalise(_SECOND, one_way, other))
    back = k.instantiate(k.instantiate(every, _SECOND), DIRECTIONS, here)
    kept = dot(vector(_SECOND.name, TOKEN), _raw("w")).summed(TOKEN)
    turned = dot(_W, _raw(_SECOND.name)).summed(TOKEN)
    same = k.reduction(kept, turned, k.given(Symmetric(V)))
    sides = (each.proposition.word.relation.lhs for each in (one_way, back))
    found = k.arithmetic([one_way, back, same], sp.Eq(*sides, evaluate=False))
    return k.generalise(DIRECTIONS, k.generalise(_SECOND, found, other), TANGENT)


def _grows(k: Kernel, height: Proved) -> Proved:
    """``sum_i r_i w_i^T D_i(w) > sum_i r_i |w_i|^2``."""
    size = dot(_W, _W)
    each = k.arithmetic(
        [height, k.product(_LENGTH, size), k.product(dot(_X, _PUSH), size)],
        sp.Eq(Tensor(_LENGTH * size), Tensor(size) + alpha * Tensor(_WEIGHED), evaluate=False),
    )
    inner = _inner(k, "w", k.assume(TANGENT))
    kept = dot(_W, _raw("w")).summed(TOKEN)
    known = [
        inner,
        expanded(k, kept, (1, size.summed(TOKEN)), (alpha, curved())),
        k.summed(k.generalise(TOKEN, each)),
        expanded(k, (size + _WEIGHED * alpha).summed(TOKEN), (1, size.summed(TOKEN)), (alpha, _WEIGHED.summed(TOKEN))),
        k.assume(EXCESS),
    ]
    left = inner.proposition.word.relation.lhs
    return k.arithmetic(known, sp.Gt(left, Tensor((_LENGTH * size).summed(TOKEN)), evaluate=False))


def _slope_at_rest(k: Kernel, radial: Proved) -> Proved:
    """``D[x_i^+](w) = D_i(w)``."""
    step, half, length = k.slope(dot(_Z, RAW)), k.slope(HALF_SQUARE), k.positive(_LENGTH)
    moved = _raw("w")
    at = k.instantiate(radial, TOKEN)
    known = [
        quotient(k),
        step,
        half,
        length,
        k.reduction(value_of(step), dot(_Z, moved)),
        k.reduction(value_of(half), dot(RAW, moved)),
        k.instantiate(at, moved),
        k.instantiate(at, Z),
        expanded(k, dot(_Z, _image("w")), (1, SHORT, dot(_Z, moved)), (-1, SHORT, dot(_X, moved), dot(_Z, _X))),
    ]
    split = [k.factors(SHORT), k.factors(ALONG)]
    known += [k.supply(each, *(k.arithmetic([length], part) for part in each.hypotheses)) for each in split]
    equal = sp.Eq(Slope(dot(_Z, RAW) * SHORT), Tensor(dot(_Z, _image("w"))), evaluate=False)
    return k.arithmetic(known, equal)


def _as_slope(k: Kernel, radial: Proved, found: Proved) -> Proved:
    """The eigenvector of the linear map is one of the derivative."""
    inner = found.proposition.body
    body = k.instantiate(k.instantiate(k.assume(inner.body), TOKEN), Z)
    wanted = MULTIPLIER.body.body.body.body
    same = k.arithmetic([body, _slope_at_rest(k, radial)], wanted)
    same = k.generalise(TOKEN, k.generalise(Z, same))
    some = k.witness(MULTIPLIER.body, DIRECTIONS, k.assume(inner.guard), same)
    whole = k.witness(
        MULTIPLIER, FACTOR, k.assume(found.proposition.guard), k.exists_elimination(k.assume(inner), some)
    )
    return k.exists_elimination(found, whole)


def saddle(k: Kernel) -> Proved:
    """A proof of :data:`SADDLE`."""
    radial, height = at_rest(k)
    level = k.arithmetic(
        [k.reduction(dot(_X, _image("w")), one() * 0), k.factors(one() * 0)],
        sp.Eq(Tensor(dot(_X, _image("w"))), 0, evaluate=False),
    )
    objects = {"image": _image(FAMILY.name, _AT), "weight": factor(Norm("r", (_AT,)))}
    grows = SELF_ADJOINT.of(**objects)[0][-1]
    found = k.textbook(
        SELF_ADJOINT,
        k.generalise(TOKEN, k.positive(_LENGTH)),
        k.generalise(DIRECTIONS, k.generalise(TOKEN, level), TANGENT),
        _symmetric(k),
        k.witness(grows, DIRECTIONS, k.assume(TANGENT), _grows(k, height)),
        **objects,
    )
    shown = k.discharge(EXCESS, _as_slope(k, radial, found))
    return k.discharge(RESTS, k.generalise(DIRECTIONS, shown, TANGENT))


def shown_by(k: Kernel, rule: Proved, family: Expression, tangent: Proved, excess: Proved) -> Proved:
    """The multiplier that a family (in the slot index) shows, tangent and with the excess; ``rule`` is :data:`SADDLE` at rest."""
    level = sp.Eq(Tensor(dot(_X, instance(family, TOKEN))), 0, evaluate=False)
    everywhere = k.generalise(TOKEN, k.arithmetic([tangent], level))
    found = k.instantiate(rule, family, everywhere)
    return k.modus_ponens(found, k.arithmetic([excess], found.proposition.left))
