"""Bipartite points just outside the criterion of PM-N3, one for each of its conditions, and its number h."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.properties.exact_points import instance

__all__ = ["GAP_TOO_SMALL", "ON_THE_BOUNDARY", "SCORE_NEGATIVE", "SIDE_EXPANDS", "harmonic_height"]


def _pair(score: list[list[str]], step: str) -> dict[str, Any]:
    """One token on each side of v_1, V = diag(1, 1/2)."""
    tokens = [["1", "0"], ["-1", "0"]]
    return instance("attention-map", tokens, V=[["1", "0"], ["0", "1/2"]], M=score, alpha=step)


#: tanh s = 1/3 < 1/2 = lambda_2/lambda_1.
GAP_TOO_SMALL = _pair([["1/2*ln(2)", "0"], ["0", "1/2*ln(2)"]], "1/4")
#: s < 0.
SCORE_NEGATIVE = _pair([["-ln(2)", "0"], ["0", "-ln(2)"]], "1/4")
#: tanh s = 1/2 = lambda_2/lambda_1: a multiplier is 1.
ON_THE_BOUNDARY = _pair([["1/2*ln(3)", "0"], ["0", "0"]], "1/2")
#: p = 3, q = 2, 0 < s < t.
SIDE_EXPANDS = instance(
    "attention-map",
    [["1", "0"]] * 3 + [["-1", "0"]] * 2,
    V=[["1", "0"], ["0", "-9/10"]],
    M=[["1/2*ln(5/4)", "0"], ["0", "0"]],
    alpha="1/4",
)


def harmonic_height(score_at: Any) -> Any:
    """``h = (cosh 2s - cosh 2t)/sinh 2s`` with ``t = (ln 2)/2``."""
    return (sp.cosh(2 * score_at) - sp.cosh(sp.log(2))) / sp.sinh(2 * score_at)
