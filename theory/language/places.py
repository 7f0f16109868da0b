"""Places of the state space that claims speak of: points, sets and regions."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.printing.scalars import matrix_latex, scalar_latex

if TYPE_CHECKING:
    import sympy as sp

__all__ = [
    "AntipodalAt",
    "AtMostClusters",
    "BipartiteAt",
    "Clustering",
    "ConsensusAt",
    "ConsensusSet",
    "EachAt",
    "Equiangular",
    "Hemisphere",
    "Place",
    "Polygonal",
    "SomeEquilibrium",
    "Zero",
]


class Place(ABC):  # noqa: B024 - printed and decided by dispatch
    """A point or a set of states of n tokens."""

    def has_states(self, n: int) -> bool:
        """Are there states of this form for n tokens?  Where there are none a claim about them says nothing."""
        return n >= 1


@dataclass(frozen=True)
class ConsensusAt(Place):
    """``x_1 = ... = x_n = v_k(X)``, the unit eigenvector of X for its k-th eigenvalue from the top (up to sign).

    Where that eigenvalue is repeated a claim is about each point of this form: none of them is asymptotically stable.
    """

    term: sp.MatrixExpr
    index: sp.Expr | int = 1


@dataclass(frozen=True)
class BipartiteAt(Place):
    """p tokens at ``v_k(X)`` and q = n - p at ``-v_k(X)``."""

    term: sp.MatrixExpr
    index: sp.Expr | int = 1


@dataclass(frozen=True)
class AntipodalAt(Place):
    """``n = 2m`` tokens, the first m at w and the others at -w, for a unit vector w that need not be an eigenvector.

    An odd number of tokens has no such state: with m + 1 of them at w the mean is not zero.
    """

    name: str = "w"

    def has_states(self, n: int) -> bool:
        return n >= 2 and n % 2 == 0


@dataclass(frozen=True)
class EachAt(Place):
    """Every token at ``v_k(X)`` or at ``-v_k(X)``, each with a sign of its own."""

    term: sp.MatrixExpr
    index: sp.Expr | int = 1


@dataclass(frozen=True)
class Equiangular(Place):
    """``|x_i| = |x_j|`` for all i, j, and one cosine ``x_i^T x_j/|x_i|^2`` for all ``i != j`` (a given one, or any).

    In ``R^d`` with ``d >= n`` every cosine above ``-1/(n-1)`` occurs; equal tokens are such a state for every n and d.
    """

    cosine: sp.Expr | int | None = None


@dataclass(frozen=True)
class Polygonal(Place):
    """States where the (attention-weighted) mean of the tokens vanishes for every token."""


@dataclass(frozen=True)
class Zero(Place):
    """All tokens at the origin (Euclidean systems)."""


@dataclass(frozen=True)
class ConsensusSet(Place):
    """All states ``x_1 = ... = x_n``."""


@dataclass(frozen=True)
class AtMostClusters(Place):
    """All states with at most so many different tokens: ``AtMostClusters(1)`` is consensus."""

    count: int

    def __post_init__(self) -> None:
        given: object = self.count
        if type(given) is not int or given < 1:
            raise TypeError(f"AtMostClusters: count must be an integer from 1, got {given!r}")


@dataclass(frozen=True)
class SomeEquilibrium(Place):
    """A single equilibrium, which may depend on the start."""


@dataclass(frozen=True)
class Hemisphere(Place):
    """``w^T x_i > 0`` for all i, w the top eigenvector of the term (``None``: a fixed w)."""

    normal: sp.MatrixExpr | None = None
    left: bool = False


@LATEX.register(ConsensusAt)
def latex_consensus_at(place: ConsensusAt) -> str:
    index = scalar_latex(place.index)
    return rf"x_1 = \dots = x_n = v_{{{index}}}({matrix_latex(place.term)})"


@LATEX.register(BipartiteAt)
def latex_bipartite_at(place: BipartiteAt) -> str:
    vector = rf"v_{{{scalar_latex(place.index)}}}({matrix_latex(place.term)})"
    return rf"x_i = {vector}\ (i \leq p),\;x_i = -{vector}\ (i > p)"


@LATEX.register(AntipodalAt)
def latex_antipodal_at(place: AntipodalAt) -> str:
    return rf"x_i = {place.name}\ (i \leq n/2),\;x_i = -{place.name}\ (i > n/2)\quad (n \text{{ even}})"


@LATEX.register(EachAt)
def latex_each_at(place: EachAt) -> str:
    return rf"x_i = \pm v_{{{scalar_latex(place.index)}}}({matrix_latex(place.term)}) \text{{ for all }} i"


@LATEX.register(Equiangular)
def latex_equiangular(place: Equiangular) -> str:
    cosine = r"\rho" if place.cosine is None else scalar_latex(place.cosine)
    return rf"\{{|x_i| = |x_j|,\ \cos(x_i, x_j) = {cosine} \text{{ for all }} i \neq j\}}"


@LATEX.register(Polygonal)
def latex_polygonal(place: Polygonal) -> str:
    return r"\textstyle\sum_j a_{ij} x_j = 0 \text{ for all } i"


@LATEX.register(Zero)
def latex_zero(place: Zero) -> str:
    return r"x_1 = \dots = x_n = 0"


@LATEX.register(ConsensusSet)
def latex_consensus_set(place: ConsensusSet) -> str:
    return r"\{x_1 = \dots = x_n\}"


@LATEX.register(AtMostClusters)
def latex_at_most_clusters(place: AtMostClusters) -> str:
    return rf"\{{\text{{at most {place.count} different tokens}}\}}"


@LATEX.register(SomeEquilibrium)
def latex_some_equilibrium(place: SomeEquilibrium) -> str:
    return r"\text{one equilibrium}"


@LATEX.register(Hemisphere)
def latex_hemisphere(place: Hemisphere) -> str:
    if place.normal is None:
        return r"\{w^{\top} x_i > 0 \text{ for all } i\}"
    vector = "u_1" if place.left else "v_1"
    return rf"\{{{vector}({matrix_latex(place.normal)})^{{\top}} x_i > 0 \text{{ for all }} i\}}"


@dataclass(frozen=True)
class Clustering(Place):
    """An equilibrium with n distinct tokens on no common line through the origin and with nonzero means."""


@LATEX.register(Clustering)
def latex_clustering(place: Clustering) -> str:
    return r"\text{a clustering equilibrium of } n \text{ distinct tokens}"
