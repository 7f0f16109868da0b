"""The blocks of the Jacobian at consensus on an eigenvector, for either sign of ``m = 1 + alpha lambda`` and any scores.

``D[y_i / r_i](w) = (1/|m|)(I - b b^T)(w_i + (alpha/n) V sum_j w_j)`` at ``x_1 = ... = x_n = b`` with ``V b = lambda b``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.power_method.pm_cm_consensus_manifold import CONSENSUS, PM_CM, B
from eigentoken.proofs.power_method.pm_l02_oja_jacobian import W
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z, at_every_token, for_every
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.slopes import SHORT
from eigentoken.theory.calculus import ALPHA, TOKENS, Index, Norm, dot, factor, matrix, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, Implication
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Slope, Tensor

__all__ = ["BLOCKS", "EIGENVECTOR", "HEIGHT", "PLACE", "blocks", "of_unit_length", "raw_step"]

_J = Index("token", "j")
_Z, _B, _X = vector(Z.name), vector(B.name), vector("x", TOKEN)
HEIGHT = sp.Symbol("lambda", real=True)
_M = 1 + ALPHA * HEIGHT
_PUSHED = dot(_Z, _B.applied(matrix("V")))
#: ``V b = lambda b``.
EIGENVECTOR = for_every(sp.Eq(Tensor(_PUSHED), HEIGHT * Tensor(dot(_Z, _B)), evaluate=False), Z)
PLACE = Conjunction((CONSENSUS, EIGENVECTOR))
_MOVED = vector("w", TOKEN) + vector("w", _J).applied(matrix("V")).summed(_J) * (ALPHA / TOKENS)
_KEPT = dot(_Z, _MOVED - dot(_B, _MOVED) * _B)
_BLOCK = sp.Eq(Slope(dot(_Z, RAW) * SHORT), Tensor(_KEPT * (1 / sp.Abs(_M))), evaluate=False)
BLOCKS = Formula(for_every(Implication(PLACE, for_every(_BLOCK, TOKEN, W, Z)), B, HEIGHT))


def _recalled(k: Kernel, place: Proved, number: int) -> Proved:
    """A claim of PM-CM at b, for one token."""
    found = k.recall(PM_CM)
    claim = k.instantiate(k.part(found, found.proposition.parts[number]), B)
    return k.instantiate(k.modus_ponens(claim, k.part(place, CONSENSUS)), TOKEN)


def raw_step(k: Kernel, place: Proved) -> Proved:
    """``y_i = (1 + alpha lambda) b``, for every z."""
    step = k.instantiate(_recalled(k, place, 0), Z)
    split = expanded(k, step.proposition.word.relation.rhs.expression, (1, dot(_Z, _B)), (ALPHA, _PUSHED))
    equal = sp.Eq(Tensor(dot(_Z, RAW)), _M * Tensor(dot(_Z, _B)), evaluate=False)
    return k.generalise(Z, k.arithmetic([step, split, k.instantiate(k.part(place, EIGENVECTOR), Z)], equal))


def of_unit_length(k: Kernel, own: Proved) -> Proved:
    """``|b|^2 = 1`` from ``x_i = b``."""
    known = (k.instantiate(own, _X), k.instantiate(own, _B), expanded(k, dot(_X, _X), (1,)))
    return k.arithmetic(known, sp.Eq(Tensor(dot(_B, _B)), 1, evaluate=False))


def blocks(k: Kernel) -> Proved:
    """A proof of :data:`BLOCKS`: the Jacobian on the consensus manifold (PM-CM), with ``y_i = m b`` and ``r_i = |m|``."""
    place = k.assume(PLACE)
    raw, own = raw_step(k, place), k.instantiate(k.part(place, CONSENSUS), TOKEN)
    slope = k.instantiate(k.instantiate(_recalled(k, place, 1), W), Z)
    length = factor(Norm("r", (TOKEN,)))
    sizes = [
        *(k.instantiate(raw, each) for each in (RAW, _B)),
        *(expanded(k, dot(RAW, RAW), (1, length, length)), k.positive(length), of_unit_length(k, own)),
    ]
    lengths = k.arithmetic(sizes, sp.And(sp.Eq(Tensor(length), sp.Abs(_M)), sp.Ne(_M, 0), Tensor(length) > 0))
    short, far = factor(Norm("r", (TOKEN,)), -1), factor(Norm("r", (TOKEN,)), -3)
    value = slope.proposition.word.relation.rhs.expression
    powers = [k.factors(short), k.factors(far)]
    known = [
        *(slope, lengths, *(k.instantiate(raw, each) for each in (Z, _MOVED))),
        expanded(k, value, (1, short, dot(_Z, _MOVED)), (-1, far, dot(_Z, RAW), dot(RAW, _MOVED))),
        *(k.supply(each, *(k.arithmetic([k.positive(length)], one) for one in each.hypotheses)) for each in powers),
        expanded(k, _KEPT, (1, dot(_Z, _MOVED)), (-1, dot(_B, _MOVED), dot(_Z, _B))),
    ]
    scaled = k.scaling(_KEPT, 1 / sp.Abs(_M))
    known.append(k.supply(scaled, *(k.arithmetic([lengths], one) for one in scaled.hypotheses)))
    found = at_every_token(k, k.arithmetic(known, _BLOCK), TOKEN, W, Z)
    return at_every_token(k, k.discharge(PLACE, found), B, HEIGHT)
