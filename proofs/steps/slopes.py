"""The derivative of a map on the sphere from that of its raw step: ``x_i^+ = y_i / r_i``, along any family w."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.steps.equations import RAW, TOKEN, Z
from eigentoken.theory.calculus import Expression, Norm, dot, factor, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Slope, Tensor

__all__ = ["ALONG", "HALF_SQUARE", "OF_THE_MAP", "SHORT", "STEP", "quotient", "value_of"]

_Z = vector(Z.name)
#: ``1/r_i``.
SHORT = factor(Norm("r", (TOKEN,)), -1)
#: ``z^T y_i / r_i^3``.
ALONG = dot(_Z, RAW) * factor(Norm("r", (TOKEN,)), -3)
HALF_SQUARE = dot(RAW, RAW) / 2
#: ``D[z^T y_i](w)``.
STEP = Slope(dot(_Z, RAW))
#: ``D[y_i / r_i](w) = (1/r_i)(I - yhat_i yhat_i^T) D[y_i](w)``, where ``y_i^T D[y_i](w) = D[|y_i|^2 / 2](w)``.
OF_THE_MAP = sp.Eq(
    Slope(dot(_Z, RAW) * SHORT), Tensor(SHORT) * STEP - Tensor(ALONG) * Slope(HALF_SQUARE), evaluate=False
)


def value_of(found: Proved) -> Expression:
    """The right side of a proved equation, where it is one quantity."""
    value: Expression = found.proposition.word.relation.rhs.expression
    return value


def quotient(k: Kernel) -> Proved:
    """A proof of :data:`OF_THE_MAP`: each derivative by the dimension-free calculus, and one normal form."""
    step, moved, square = k.slope(dot(_Z, RAW)), k.slope(dot(_Z, RAW) * SHORT), k.slope(HALF_SQUARE)
    kept, lost = SHORT * value_of(step), ALONG * value_of(square)
    pieces = (
        k.reduction(value_of(moved), kept - lost),
        k.total(kept, -lost),
        k.scaling(lost, -1),
        k.product(SHORT, value_of(step)),
        k.product(ALONG, value_of(square)),
    )
    return k.arithmetic([moved, step, square, *pieces], OF_THE_MAP)
