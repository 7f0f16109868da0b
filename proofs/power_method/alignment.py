"""What PM-E4 and PM-E5 share: one layer and the correlation with the principal eigenvector, at tokens of a common value.

There ``y_i = (I + alpha F) b`` (PM-CM), so that ``v^T y_i = (1 + alpha lambda_1) v^T b`` for symmetric F.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.power_method.pm_cm_consensus_manifold import CONSENSUS, PM_CM, B
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z, for_every
from eigentoken.theory.calculus import ALPHA, dot, factor, matrix, one, vector
from eigentoken.theory.calculus.atoms import Norm
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.terms import Eigenvalue, d
from eigentoken.theory.language.terms import matrix as letter

__all__ = ["AFTER", "BEFORE", "LAST", "LENGTH", "NOTATION", "PLACE", "TOP", "F", "V", "heights", "non_normal"]

F, V = letter("F"), VectorLetter("v")
TOP, LAST = Eigenvalue(F, 1), Eigenvalue(F, d)
_Z, _B, _V, _X = vector(Z.name), vector(B.name), vector(V.name), vector("x", TOKEN)
_PUSHED = _B.applied(matrix("F"))
_LENGTH = factor(Norm("r", (TOKEN,)))
#: ``F v = lambda_1 v`` with ``|v| = 1``.
EIGENVECTOR = for_every(sp.Eq(Tensor(dot(_Z, _V.applied(matrix("F")))), TOP * Tensor(dot(_Z, _V)), evaluate=False), Z)
UNIT = proposition(sp.Eq(Tensor(dot(_V, _V)), 1, evaluate=False))
PLACE = Conjunction((CONSENSUS, EIGENVECTOR, UNIT))
#: The squares of ``corr(x_i, v)`` and ``corr(x_i^+, v)``: tokens have unit length.
BEFORE, AFTER = Tensor(dot(_V, _X)) ** 2, Tensor(dot(_V, RAW) * factor(Norm("r", (TOKEN,)), -1)) ** 2
#: ``r_i^2``.
LENGTH = Tensor(_LENGTH) ** 2
NOTATION = r"$\operatorname{corr}(x, v) = \frac{x^{\top}v}{\lVert x\rVert\lVert v\rVert}$, and $x_i^+ = y_i/r_i$. "


def heights(k: Kernel, place: Proved) -> list[Proved]:
    """``v^T y_i`` and ``r_i^2 = |b|^2 + 2 alpha b^T F b + alpha^2 |F b|^2`` with ``|b| = 1``; and a quotient."""
    own = k.instantiate(k.part(place, CONSENSUS), TOKEN)
    power = k.recall(PM_CM)
    power = k.instantiate(k.part(power, power.proposition.parts[0]), B)
    raw = k.instantiate(k.modus_ponens(power, k.part(place, CONSENSUS)), TOKEN)
    step = _B + _PUSHED * ALPHA
    plain = Kernel(None, k.conditions)  # a fact about a symmetric matrix, of heads or not
    turned = plain.reduction(dot(_V, _PUSHED), dot(_B, _V.applied(matrix("F"))), plain.given(Symmetric(F)))
    split = k.factors(dot(_V, RAW) * factor(Norm("r", (TOKEN,)), -1))
    known = [
        *(k.instantiate(raw, each) for each in (RAW, step, _V)),
        *(k.factors(dot(step, step)), k.factors(dot(_V, step)), turned),
        *(k.instantiate(k.part(place, EIGENVECTOR), _B), k.part(place, UNIT)),
        *(k.instantiate(own, each) for each in (_X, _B, _V)),
        *(k.reduction(dot(_X, _X), one()), k.factors(one()), k.positive(_LENGTH)),
        *(k.reduction(dot(RAW, RAW), _LENGTH * _LENGTH), k.product(_LENGTH, _LENGTH)),
    ]
    form, square = Tensor(dot(_B, _PUSHED)), Tensor(dot(_PUSHED, _PUSHED))
    said = sp.And(
        sp.Eq(Tensor(dot(_V, RAW)), (1 + ALPHA * TOP) * Tensor(dot(_V, _B))),
        sp.Eq(Tensor(_LENGTH) ** 2, 1 + 2 * ALPHA * form + ALPHA**2 * square),
        sp.Eq(Tensor(dot(_V, _X)), Tensor(dot(_V, _B))),
        sp.Eq(Tensor(dot(_B, _B)), 1),
        Tensor(_LENGTH) > 0,
    )
    return [k.arithmetic(known, said), k.supply(split, k.arithmetic([k.positive(_LENGTH)], split.hypotheses[0]))]


def non_normal() -> Sequence[Any]:
    """F = [[1, 5], [0, 0]], alpha = 1, x ~ (1, -2/5): |corr(x, v_1)| before and after one step of the map, v_1 = e_1."""
    from eigentoken.theory.systems.algebra import LoopAlgebra
    from eigentoken.theory.systems.catalogue import system

    algebra = LoopAlgebra(sp.exp, sp.sqrt, sp.Integer(1))
    token = algebra.normalise(((sp.Integer(1), sp.Rational(-2, 5)),))
    after = system("oja-map").advance(algebra, {"V": ((1, 5), (0, 0)), "alpha": sp.Integer(1)}, token)
    return [sp.N(sp.Abs(token[0][0]), 30), sp.N(sp.Abs(sp.simplify(after[0][0])), 30)]
