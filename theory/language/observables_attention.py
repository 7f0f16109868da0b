"""Observables of the Abella-Silvestre-Tabuada and Pham et al. chapters: potentials, gaps, energies, pair forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eigentoken.theory.language.observables import Observable, apply_matrix, dot
from eigentoken.theory.systems.algebra import LoopAlgebra, Number
from eigentoken.theory.systems.system import System

__all__ = [
    "absolute_cosine_gap",
    "cosine_gap",
    "ellipsoid_potential",
    "pair_form",
    "solve",
    "token_energy",
]

Matrix = Sequence[Sequence[Any]]


def solve(matrix: Matrix, columns: Sequence[Sequence[Number]]) -> tuple[tuple[Number, ...], ...]:
    """``M^{-1} c`` for each column c, with ``+ - * /`` alone: elimination on the normal equations ``M^T M z = M^T c``.

    ``M^T M`` is positive definite for every invertible M, so no pivot vanishes and no pivoting (no comparison) is needed.

    >>> solve(((0, 2), (4, 0)), ((2, 4),))
    ((1.0, 1.0),)
    """
    d = len(matrix)
    down = list(zip(*matrix, strict=True))
    gram = [[dot(a, b) for b in down] for a in down]
    sides = [[dot(a, column) for a in down] for column in columns]
    for k in range(d):
        for row in range(k + 1, d):
            ratio = gram[row][k] / gram[k][k]
            for entry in range(k, d):
                gram[row][entry] = gram[row][entry] - ratio * gram[k][entry]
            for side in sides:
                side[row] = side[row] - ratio * side[k]
    for k in reversed(range(d)):
        for side in sides:
            for entry in range(k + 1, d):
                side[k] = side[k] - gram[k][entry] * side[entry]
            side[k] = side[k] / gram[k][k]
    return tuple(tuple(side) for side in sides)


def _ellipsoid_potential(scalars: LoopAlgebra, system: System, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    """``V_P(x) = -1/2 sum_ij exp(x_i^T P x_j)``, eq. (10) of Rodriguez Abella et al. (AB-E10, AB-T3.1)."""
    total: Any = 0
    for first in x:
        for second in x:
            total = total + scalars.exp(dot(first, apply_matrix(parameters["P"], second)))
    return -total / (2 * scalars.one)


def _gap(scalars: LoopAlgebra, x: Any, absolute: bool) -> Any:
    first = x[0]
    total: Any = 0
    for token in x:
        cosine = dot(first, token) / (scalars.sqrt(dot(first, first)) * scalars.sqrt(dot(token, token)))
        total = total + (scalars.sqrt(cosine * cosine) if absolute else cosine)
    return scalars.one - total / (len(x) * scalars.one)


def _cosine_gap(scalars: LoopAlgebra, system: System, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    """``E(x) = 1 - (1/n) sum_i cos(x_1, x_i)``, eq. (25) with signed cosines (AB-E25)."""
    return _gap(scalars, x, absolute=False)


def _absolute_gap(scalars: LoopAlgebra, system: System, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    """``E(x) = 1 - (1/n) sum_i |cos(x_1, x_i)|``, eq. (25) as printed (AB-E25)."""
    return _gap(scalars, x, absolute=True)


def _pair_form(scalars: LoopAlgebra, system: System, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    """``(x_1 - x_2)^T A (x_1 - x_2)`` with ``A = W B^{-1}`` (PH-T1); any pair, by relabelling the tokens."""
    gap = tuple(a - b for a, b in zip(x[0], x[1], strict=True))
    (solved,) = solve(parameters["B"], (gap,))
    return dot(gap, apply_matrix(parameters["W"], solved))


def _token_energy(scalars: LoopAlgebra, system: System, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    """``E(x) = -1/2 sum_l x_l^T A x_l`` with ``A = W B^{-1}`` (PH-T2)."""
    total: Any = 0
    for token, solved in zip(x, solve(parameters["B"], x), strict=True):
        total = total + dot(token, apply_matrix(parameters["W"], solved))
    return -total / (2 * scalars.one)


#: V_P = -1/2 sum_ij exp(x_i^T P x_j), decreasing along the ellipsoid flow (AB-T3.1).
ellipsoid_potential = Observable(
    "ellipsoid-potential", r"V_P(x) = -\tfrac12 \textstyle\sum_{i,j} e^{x_i^{\top} P x_j}", _ellipsoid_potential
)

#: E of eq. (25), signed: zero exactly at consensus (of directions).
cosine_gap = Observable(
    "cosine-gap", r"E(x) = 1 - \tfrac1n \textstyle\sum_i \frac{x_1^{\top} x_i}{|x_1|\,|x_i|}", _cosine_gap
)

#: E of eq. (25) as printed: zero also at an antipodal pair.
absolute_cosine_gap = Observable(
    "absolute-cosine-gap",
    r"E_{\mathrm{abs}}(x) = 1 - \tfrac1n \textstyle\sum_i \frac{|x_1^{\top} x_i|}{|x_1|\,|x_i|}",
    _absolute_gap,
)

#: (x_1 - x_2)^T W B^{-1} (x_1 - x_2), nondecreasing along the token flow for symmetric A (PH-T1).
pair_form = Observable("pair-form", r"(x_1 - x_2)^{\top} W B^{-1} (x_1 - x_2)", _pair_form)

#: -1/2 sum_l x_l^T W B^{-1} x_l, decreasing along the token flow in the convergence regime (PH-T2).
token_energy = Observable(
    "token-energy", r"\mathcal{E}(x) = -\tfrac12 \textstyle\sum_l x_l^{\top} W B^{-1} x_l", _token_energy
)
