"""The re-check's own table of places: is the exact state of an instance certainly not there?  ``False``: not certain."""

from __future__ import annotations

from typing import Any

import sympy as sp
from mpmath import iv

from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.interval_recheck import interval
from eigentoken.numerics.recheck.refutations.region_truths import outside
from eigentoken.theory.language import places
from eigentoken.theory.language.readings import Reading
from eigentoken.theory.language.regions import StateRegion
from eigentoken.theory.systems.algebra import LoopAlgebra

__all__ = ["NOT_AT"]

NOT_AT: Reading[bool] = Reading("not_at", "is this exact state certainly elsewhere, by the second arithmetic?")


def _tokens(look: IndependentInstance) -> list[sp.Matrix]:
    return [sp.Matrix(token) for token in look.instance.tokens]


@NOT_AT.register(places.Place)
def not_at_unknown(place: places.Place, look: IndependentInstance) -> bool:
    """No method: not certain."""
    return False


@NOT_AT.register(places.SomeEquilibrium)
def not_at_some_equilibrium(place: places.SomeEquilibrium, look: IndependentInstance) -> bool:
    return look.at_rest() is False


@NOT_AT.register(places.ConsensusSet)
def not_at_consensus_set(place: places.ConsensusSet, look: IndependentInstance) -> bool:
    return _unlike(_tokens(look), look.instance.n)


@NOT_AT.register(places.AtMostClusters)
def not_at_at_most_clusters(place: places.AtMostClusters, look: IndependentInstance) -> bool:
    """More tokens than that differ from each other in an entry, in interval arithmetic."""
    kept: list[list[Any]] = []
    for token in _tokens(look):
        row = [interval(entry) for entry in token]
        gaps = [[a - b for a, b in zip(row, known, strict=True)] for known in kept]
        if all(any(gap.a > 0 or gap.b < 0 for gap in each) for each in gaps):
            kept.append(row)
    return len(kept) > place.count


@NOT_AT.register(StateRegion)
def not_at_region(place: StateRegion, look: IndependentInstance) -> bool:
    """A margin is certainly negative: the state is not even on the boundary."""
    return outside(place, look, [interval(entry) for token in _tokens(look) for entry in token])


@NOT_AT.register(places.Zero)
def not_at_zero(place: places.Zero, look: IndependentInstance) -> bool:
    return any(token != sp.zeros(look.instance.d, 1) for token in _tokens(look))


@NOT_AT.register(places.Polygonal)
def not_at_polygonal(place: places.Polygonal, look: IndependentInstance) -> bool:
    return not look.instance.system.multihead and any(a.a > 0 or a.b < 0 for mean in _means(look) for a in mean)


@NOT_AT.register(places.AntipodalAt)
def not_at_antipodal_at(place: places.AntipodalAt, look: IndependentInstance) -> bool:
    return bool(look.instance.n % 2) or _unlike(_tokens(look), look.instance.n // 2)


@NOT_AT.register(places.EachAt)
def not_at_each_at(place: places.EachAt, look: IndependentInstance) -> bool:
    """Tokens that are not all on one line through the origin, or not on that of the eigenvector."""
    return _spread(_tokens(look)) or _off_eigenvector(place, look)


@NOT_AT.register(places.Equiangular)
def not_at_equiangular(place: places.Equiangular, look: IndependentInstance) -> bool:
    """Two inner products, or two squares, that certainly differ, in interval arithmetic."""
    rows = [[interval(entry) for entry in token] for token in _tokens(look)]
    gram = [[sum((a * b for a, b in zip(x, y, strict=True)), iv.mpf(0)) for y in rows] for x in rows]
    size = range(len(rows))
    squares, inner = [gram[i][i] for i in size], [gram[i][j] for i in size for j in range(i)]
    gaps = [each - squares[0] for each in squares[1:]] + [each - inner[0] for each in inner[1:]]
    if place.cosine is not None and inner:
        gaps.append(inner[0] - interval(sp.sympify(place.cosine)) * squares[0])
    return any(each.a > 0 or each.b < 0 for each in gaps)


@NOT_AT.register(places.ConsensusAt)
def not_at_consensus_at(place: places.ConsensusAt, look: IndependentInstance) -> bool:
    return _unlike(_tokens(look), look.instance.n) or _off_eigenvector(place, look)


@NOT_AT.register(places.BipartiteAt)
def not_at_bipartite_at(place: places.BipartiteAt, look: IndependentInstance) -> bool:
    if not 1 <= look.p < look.instance.n or _unlike(_tokens(look), look.p):
        return True
    return _off_eigenvector(place, look)


def _off_eigenvector(place: places.ConsensusAt | places.BipartiteAt | places.EachAt, look: IndependentInstance) -> bool:
    """The first token is certainly not on the line of the eigenvector."""
    vector = look.eigenvector(look.matrix(place.term), int(sp.sympify(place.index).subs(look.sizes())))
    return vector is not None and _spread([vector, _tokens(look)[0]])


def _unlike(tokens: list[sp.Matrix], p: int) -> bool:
    """Not p equal tokens and their negatives after them."""
    return any((token if i < p else -token) != tokens[0] for i, token in enumerate(tokens))


def _means(look: IndependentInstance) -> Any:
    """``sum_j a_ij x_j`` in intervals, for one head."""
    loops = LoopAlgebra(iv.exp, iv.sqrt, iv.mpf(1))
    instance = look.instance
    tokens = [[interval(entry) for entry in token] for token in instance.tokens]
    name = instance.system.score
    score = None if name is None else [[interval(sp.sympify(e)) for e in row] for row in instance.parameters[name]]
    return loops.average(loops.attention(tokens, score, instance.mask, instance.system.over_root_d), tokens)


def _spread(vectors: list[sp.Matrix]) -> bool:
    """Certainly not all on one line: a minor with the first of them does not vanish, in interval arithmetic."""
    rows = [[interval(entry) for entry in vector] for vector in vectors]
    first = rows[0]
    minors = (first[a] * y[b] - first[b] * y[a] for y in rows[1:] for a in range(len(first)) for b in range(a))
    return any(minor.a > 0 or minor.b < 0 for minor in minors)
