"""The regime of a layer in the sense of Pham et al.: convergence, divergence or intermediate, with certified reasons.

With ``W = sum_h Q_h^T K_h``, ``B = sum_h O_h V_h`` (column convention) and ``A = W B^-1``: convergence needs symmetric
negative definite A and positive definite sym(W) (PH-T2), divergence symmetric positive definite A and positive
definite sym(W) (PH-T3), an indefinite symmetric A is the intermediate regime (PH-T5).  Whatever W is, a real eigenvalue
``lambda > 0`` of B makes all tokens of the half space ``u^T x > 0`` diverge (PH-T4).  The signs of sym(A) are reported
even where A is not symmetric, because the authors' code imposes only those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from eigentoken.numerics.layers.bindings import bind
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.theory.conditions import NegativeDefinite, PositiveDefinite, Symmetric
from eigentoken.theory.systems import system
from eigentoken.theory.terms import matrix
from eigentoken.theory.verdicts import Verdict

__all__ = ["Regime", "regime"]


@dataclass(frozen=True)
class Regime:
    """``name`` is ``convergence``, ``divergence``, ``intermediate``, ``none`` (no theorem applies) or ``undecided``."""

    name: str
    reason: str
    verdicts: dict[str, Verdict]

    def as_dict(self) -> dict[str, Any]:
        found = {name: verdict.as_dict() for name, verdict in self.verdicts.items()}
        return {"regime": self.name, "reason": self.reason, "verdicts": found}


def regime(weights: LayerWeights, memory: dict[Any, Any]) -> Regime:
    """The regime of one layer, all heads together."""
    environment = bind(system("token-flow"), weights, memory)
    W, B = matrix("W"), matrix("B")
    A = sp.MatMul(W, sp.Inverse(B))
    found = {
        "A symmetric": ON_WEIGHTS(Symmetric(A), environment),
        "A negative definite": ON_WEIGHTS(NegativeDefinite(A), environment),
        "A positive definite": ON_WEIGHTS(PositiveDefinite(A), environment),
        "W positive definite": ON_WEIGHTS(PositiveDefinite(W), environment),
    }
    return Regime(*_name(found), found)


def _name(found: dict[str, Verdict]) -> tuple[str, str]:
    symmetric, negative, positive, score = found.values()
    for name in ("W positive definite", "A symmetric"):
        if found[name].is_fails:
            return "none", f"{name} fails: {found[name].reason}"
    if symmetric.is_holds and score.is_holds:
        if negative.is_holds:
            return "convergence", "A is symmetric negative definite and sym(W) positive definite (PH-T2)"
        if positive.is_holds:
            return "divergence", "A is symmetric positive definite and sym(W) positive definite (PH-T3)"
        if negative.is_fails and positive.is_fails:
            return "intermediate", "A is symmetric and indefinite, sym(W) positive definite (PH-T5)"
    open_ones = [name for name, verdict in found.items() if verdict.is_undecided]
    return "undecided", f"undecided: {', '.join(open_ones)}"
