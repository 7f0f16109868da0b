"""Is an exact state at a place?  Decided by exact arithmetic, with the k-th eigenvalue counted, not assumed."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.numerics.instances.exact_values import BITS, Case, NoValue, relation_truth, zero
from eigentoken.theory.exactness.balls import expression_ball, precision
from eigentoken.theory.language.places import (
    AntipodalAt,
    AtMostClusters,
    BipartiteAt,
    Clustering,
    ConsensusAt,
    ConsensusSet,
    EachAt,
    Equiangular,
    Hemisphere,
    Place,
    Polygonal,
    SomeEquilibrium,
    Zero,
)
from eigentoken.theory.language.readings import MEMBERSHIP

__all__ = ["at_place", "same_tokens"]


def at_place(place: Place, case: Case) -> bool | None:
    """True, False, or ``None`` where it is not decided."""
    try:
        return MEMBERSHIP(place, case)
    except NoValue:
        return None


def _all(parts: list[bool | None]) -> bool | None:
    if any(part is False for part in parts):
        return False
    return None if any(part is None for part in parts) else True


def same_tokens(first: Any, second: Any, sign: int = 1) -> bool | None:
    """``first = sign second``, exactly."""
    return _all([zero(a - sign * b) for a, b in zip(first, second, strict=True)])


def _at_eigenvector(term: Any, index: int, token: Any, case: Case) -> bool | None:
    """``X v = mu v`` exactly, with mu the index-th eigenvalue from the top."""
    vector = sp.Matrix(list(token))
    value = case.matrix(term)
    image = value * vector
    mu = (vector.T * image)[0, 0] / (vector.T * vector)[0, 0]
    parallel = _all([zero(entry) for entry in image - mu * vector])
    if parallel is not True:
        return parallel
    return _is_nth(term, index, mu, case)


def _is_nth(term: Any, index: int, mu: Any, case: Case) -> bool | None:
    listed = case.rational_eigenvalues(term)
    if listed is not None and mu.is_Rational:
        above = sum(times for value, times in listed.items() if value > mu)
        return bool(above < index <= above + listed.get(mu, 0))
    for bits in BITS:
        values = case.eigenvalues(term, bits)
        with precision(bits):
            centre = expression_ball(mu, bits)
            above = sum(1 for value in values if value.real > centre)
            below = sum(1 for value in values if value.real < centre)
        if above + below == case.d - 1:
            return bool(above == index - 1)
        if above >= index or below > case.d - index:
            return False
    return None


@MEMBERSHIP.register(ConsensusAt)
def membership_consensus_at(place: ConsensusAt, case: Case) -> bool | None:
    tokens = case.instance.tokens
    agreed = _all([same_tokens(token, tokens[0]) for token in tokens[1:]])
    if agreed is not True:
        return agreed
    return _at_eigenvector(place.term, case.integer(place.index), tokens[0], case)


@MEMBERSHIP.register(BipartiteAt)
def membership_bipartite_at(place: BipartiteAt, case: Case) -> bool | None:
    tokens = case.instance.tokens
    split = [same_tokens(token, tokens[0], 1 if i < case.p else -1) for i, token in enumerate(tokens)]
    parts = _all(split)
    if parts is not True:
        return parts
    if not 1 <= case.p < case.n:
        return False
    return _at_eigenvector(place.term, case.integer(place.index), tokens[0], case)


@MEMBERSHIP.register(EachAt)
def membership_each_at(place: EachAt, case: Case) -> bool | None:
    """The first token at an eigenvector, and every other one equal or opposite to it."""
    tokens = case.instance.tokens
    sides = []
    for token in tokens[1:]:
        pair = [same_tokens(token, tokens[0], sign) for sign in (1, -1)]
        sides.append(True if True in pair else None if None in pair else False)
    agreed = _all(sides)
    return _at_eigenvector(place.term, case.integer(place.index), tokens[0], case) if agreed is True else agreed


@MEMBERSHIP.register(Equiangular)
def membership_equiangular(place: Equiangular, case: Case) -> bool | None:
    """Equal squares, and equal inner products, exactly."""
    tokens = case.tokens()
    squares = [(token.T * token)[0, 0] for token in tokens]
    inner = [(x.T * y)[0, 0] for i, x in enumerate(tokens) for y in tokens[:i]]
    gaps = [each - squares[0] for each in squares[1:]] + [each - inner[0] for each in inner[1:]]
    if place.cosine is not None and inner:
        gaps.append(inner[0] - sp.sympify(place.cosine) * squares[0])
    return _all([zero(sp.simplify(each)) for each in gaps])


@MEMBERSHIP.register(AntipodalAt)
def membership_antipodal_at(place: AntipodalAt, case: Case) -> bool | None:
    tokens = case.instance.tokens
    if not place.has_states(case.n):
        return False
    return _all([same_tokens(token, tokens[0], 1 if i < case.n // 2 else -1) for i, token in enumerate(tokens)])


@MEMBERSHIP.register(ConsensusSet)
def membership_consensus_set(place: ConsensusSet, case: Case) -> bool | None:
    tokens = case.instance.tokens
    return _all([same_tokens(token, tokens[0]) for token in tokens[1:]])


@MEMBERSHIP.register(AtMostClusters)
def membership_at_most_clusters(place: AtMostClusters, case: Case) -> bool | None:
    """Tokens are put beside those that they equal; where that is open, nothing is said."""
    kept: list[Any] = []
    for token in case.instance.tokens:
        pairs = [same_tokens(token, known) for known in kept]
        if None in pairs and True not in pairs:
            return None
        if True not in pairs:
            kept.append(token)
    return len(kept) <= place.count


@MEMBERSHIP.register(Zero)
def membership_zero(place: Zero, case: Case) -> bool | None:
    return _all([zero(entry) for token in case.instance.tokens for entry in token])


@MEMBERSHIP.register(Polygonal)
def membership_polygonal(place: Polygonal, case: Case) -> bool | None:
    """``sum_j a_ij x_j = 0`` for all i, by the exact classification of the point; open for a sublayer of another package."""
    if not case.instance.system.standard:
        return None
    from eigentoken.theory.classification.jacobians import exact_setting
    from eigentoken.theory.classification.point_shapes import Undecided, certain_zero
    from eigentoken.theory.exactness.fields import in_smallest_field

    def means(field: Any) -> bool:
        setting = exact_setting(case.instance, field)
        algebra = setting.algebra()
        system = case.instance.system
        for _, score in system.heads(setting.parameters):
            weights = algebra.attention(setting.tokens, score, case.instance.mask, False)
            for token in algebra.average(weights, setting.tokens):
                if not all(certain_zero(entry) for entry in token):
                    return False
        return True

    try:
        return in_smallest_field(means)
    except (Undecided, ArithmeticError, Exception) as problem:
        if type(problem).__name__ in {"ExactnessLimit", "Undecided"}:
            return None
        raise


@MEMBERSHIP.register(SomeEquilibrium)
def membership_some_equilibrium(place: SomeEquilibrium, case: Case) -> bool | None:
    from eigentoken.theory.classification.classify import classify

    verdict = classify(case.instance).equilibrium
    return None if verdict.is_undecided else verdict.is_holds


@MEMBERSHIP.register(Clustering)
def membership_clustering(place: Clustering, case: Case) -> bool | None:
    """By the exact classification, with no two tokens equal."""
    from eigentoken.theory.classification.classify import classify

    tokens = case.instance.tokens
    pairs = [same_tokens(x, y) for i, x in enumerate(tokens) for y in tokens[:i]]
    if any(pair is None for pair in pairs):
        return None
    found = classify(case.instance)
    return None if found.kind == "undecided" else found.kind == "clustering" and not any(pairs)


@MEMBERSHIP.register(Hemisphere)
def membership_hemisphere(place: Hemisphere, case: Case) -> bool | None:
    if place.normal is None:
        vector = case.extra.get("w")
        if vector is None:
            return None
        normal = sp.Matrix(list(vector))
    else:
        normal = case.eigenvector(place.normal.T if place.left else place.normal, 1)
    heights = [(normal.T * token)[0, 0] for token in case.tokens()]
    up = _all([relation_truth(case, sp.Gt(height, 0, evaluate=False)) for height in heights])
    down = _all([relation_truth(case, sp.Lt(height, 0, evaluate=False)) for height in heights])
    if up or (down and place.normal is not None):
        return True
    return None if up is None or (down is None and place.normal is not None) else False
