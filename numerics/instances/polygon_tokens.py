"""Exact tokens on the sphere whose sum is 0: a triangle, and pairs w, -w in the directions of a state in floating point."""

from __future__ import annotations

from fractions import Fraction

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.rational import sphere_point
from eigentoken.theory.systems.system import Space

__all__ = ["polygon_tokens"]

#: Tokens whose sum is below this are opposite to each other, for a proposal.
PAIRED = 1e-9


def polygon_tokens(batch: Batch, denominator: int) -> tuple[tuple[Fraction | str, ...], ...] | None:
    """The tokens near those of the batch; ``None`` where they are of another form.

    More than three tokens are pairs, for odd n after a triangle: without push where the weights do not depend on the state.
    """
    rest = ("0",) * (batch.d - 2)
    triangle = (("1", "0", *rest), ("-1/2", "sqrt(3)/2", *rest), ("-1/2", "-sqrt(3)/2", *rest))
    odd = batch.n % 2 == 1
    if odd and (batch.n < 3 or batch.d < 2):
        return None
    if batch.n == 3:
        return triangle
    uniform = batch.system.score is None and batch.system.space is Space.SPHERE
    pairs = _opposite_pairs(batch, 3 if odd else 0) if uniform and batch.n > 3 else None
    if pairs is None:
        return None
    found: list[tuple[Fraction | str, ...]] = list(triangle) if odd else []
    for w in pairs:
        made = sphere_point(w, denominator)
        found += [made, tuple(-a for a in made)]
    return tuple(found)


def _opposite_pairs(batch: Batch, first: int) -> list[list[float]] | None:
    """The first token of each pair from the given place on, where each second token is the negative of the one before it."""
    x = batch.tokens[0, first:]
    if float((x[0::2] + x[1::2]).abs().max()) > PAIRED:
        return None
    found: list[list[float]] = x[0::2].tolist()
    return found
