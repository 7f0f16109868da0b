"""Observables of how far tokens are spread: greatest distance, least inner product, length of the mean, interaction energy.

``largest`` and ``smallest`` take the extreme of a list of numbers in every arithmetic; Python's ``max`` compares, which batches
of tensors and enclosures cannot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import combinations
from typing import Any

from eigentoken.theory.language.observables import Observable, apply_matrix, dot, mean_token
from eigentoken.theory.systems.algebra import LoopAlgebra, Number
from eigentoken.theory.systems.system import System

__all__ = [
    "interaction_energy",
    "largest",
    "mean_square",
    "smallest",
    "smallest_entry",
    "smallest_product",
    "squared_diameter",
]


def largest(scalars: LoopAlgebra, values: Iterable[Number]) -> Number:
    """``max_k v_k``.

    >>> import math
    >>> largest(LoopAlgebra(math.exp, math.sqrt), (1.0, 3.0, 2.0))
    3.0
    """
    return reduce(scalars.greater, values)


def smallest(scalars: LoopAlgebra, values: Iterable[Number]) -> Number:
    """``min_k v_k``."""
    return -largest(scalars, (-each for each in values))


def _squared_diameter(scalars: LoopAlgebra, system: System, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    """``max_{i<j} |x_i - x_j|^2``; 0 for one token."""
    gaps = [tuple(a - b for a, b in zip(first, second, strict=True)) for first, second in combinations(x, 2)]
    return largest(scalars, (dot(gap, gap) for gap in gaps)) if gaps else 0 * scalars.one


def _smallest_product(scalars: LoopAlgebra, system: System, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    """``min_{i<j} x_i^T x_j``; ``|x_1|^2`` for one token."""
    pairs = list(combinations(x, 2)) or [(x[0], x[0])]
    return smallest(scalars, (dot(first, second) for first, second in pairs))


def _smallest_entry(scalars: LoopAlgebra, system: System, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    """``min_{i,a} x_ia``."""
    return smallest(scalars, (entry for token in x for entry in token))


def _mean_square(scalars: LoopAlgebra, system: System, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    """``|xbar|^2``, the square of the order parameter: 1 at consensus on the unit sphere."""
    centre = mean_token(scalars, x)
    return dot(centre, centre)


def _interaction_energy(scalars: LoopAlgebra, system: System, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    """``E(x) = sum_ij exp(x_i^T M x_j)`` with the scores M of the system (``M = 0``: n^2), summed over its heads."""
    total: Any = 0 * scalars.one
    groups = parameters.get("heads", (parameters,)) if isinstance(parameters, Mapping) else (parameters,)
    for head in groups:
        score = head[system.score] if system.score is not None else None
        for first in x:
            for second in x:
                product = 0 * scalars.one if score is None else dot(first, apply_matrix(score, second))
                total = total + scalars.exp(product)
    return total


#: max |x_i - x_j|^2: 0 exactly at consensus.
squared_diameter = Observable("squared-diameter", r"\max_{i<j} |x_i - x_j|^2", _squared_diameter)
#: min x_i^T x_j: positive where all angles are acute.
smallest_product = Observable("smallest-product", r"\min_{i<j} x_i^{\top} x_j", _smallest_product)
#: min over all coordinates: not negative in the orthant.
smallest_entry = Observable("smallest-entry", r"\min_{i,a} x_{ia}", _smallest_entry)
#: |xbar|^2, the squared order parameter.
mean_square = Observable("mean-square", r"|\bar x|^2", _mean_square)
#: sum_ij exp(x_i^T M x_j).
interaction_energy = Observable("interaction-energy", r"\textstyle\sum_{i,j} e^{x_i^{\top} M x_j}", _interaction_energy)
