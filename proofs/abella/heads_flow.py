"""What the chapter shares in the calculus: attention weights, heights, and the registered flow with heads on the ellipsoid.

All of it for symbolic numbers of tokens, heads and dimensions (:mod:`eigentoken.theory.calculus`).
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from eigentoken.proofs.steps.calculus_steps import HEAD, TOKEN_I, TOKEN_J, field_of
from eigentoken.theory.calculus import (
    DIMENSION,
    Assumptions,
    Base,
    Expression,
    Index,
    Letter,
    MaskEntry,
    dot,
    exponential,
    factor,
    vector,
)
from eigentoken.theory.calculus.atoms import Dot
from eigentoken.theory.calculus.expressions import row_sum

__all__ = ["HeadsFlow", "attention_weight", "height"]

#: the score matrix of a head, and the metric of the ellipsoid
SCORE, METRIC = Letter("P", False, (HEAD,)), Letter("W")


def attention_weight(score: Letter | None, at: Index = TOKEN_I, *, mask: str = "", state: str = "y") -> Expression:
    """``alpha_ij = c_ij e^{y_i^T P y_j} / (sqrt(d) sum_k c_ik e^{y_i^T P y_k})``; all c are 1 without a mask."""
    pair = dot(vector(state, at), vector(state, TOKEN_J), () if score is None else (score,))
    if not mask:
        return exponential(pair) * factor(row_sum(pair, TOKEN_J), -1) / sp.sqrt(DIMENSION)
    seen = MaskEntry(mask, at, TOKEN_J)
    return factor(seen) * exponential(pair) * factor(row_sum(pair, TOKEN_J, (seen,)), -1) / sp.sqrt(DIMENSION)


def height(index: Index, power: int = 1, *, against: str = "v") -> Expression:
    """``(v^T y_i)^power``."""
    return factor(Dot(Base(against), (), Base("y", (index,))), power)


@dataclass(frozen=True)
class HeadsFlow:
    """The flow with heads ``U_h, P_h`` on the ellipsoid of W, without and with a mask c; ``value = None`` is U = I.

    The fields are read off the registered system whenever they are asked for: a step that is checked again looks again.
    """

    value: Letter | None = None
    score: Letter = SCORE
    metric: Letter = METRIC

    @property
    def rules(self) -> Assumptions:
        """``W = W^T`` and ``y^T W y = 1``."""
        return Assumptions(symmetric=frozenset({self.metric.name}), unit={"y": (self.metric,)})

    @property
    def field(self) -> Expression:
        """``dy_i/dt``."""
        return self._field(None)

    @property
    def masked_field(self) -> Expression:
        """``dy_i/dt`` with weights ``c_ij``."""
        return self._field("c")

    def _field(self, mask: str | None) -> Expression:
        given = {"heads": [{"U": self.value, "P": self.score}], "W": self.metric}
        return field_of("ellipsoid-multihead-flow", given, self.rules, mask=mask)
