"""The matrices of one attention layer as enclosures, from the weights exactly as stored.

Head h has Q_h, K_h, V_h of shape (d_h, d) and O_h of shape (d, d_h).  The theorems speak of

    U_h = O_h V_h,   F = sum_h U_h = [O_1 ... O_H] [V_1; ...; V_H]     (the value side)
    P_h = Q_h^T K_h / scale,   S = sum_h Q_h^T K_h = scale sum_h P_h   (the score side)

Stored weights are exact numbers; a product is an enclosure that remembers its factors by name (``layer3.O``), so that a
certificate can be re-checked from the file.  Signs and inertia do not depend on the positive scale; norms divide by it.
The product of a layer wider than :data:`EXACT_LIMIT` keeps the hashes of its factors but not the factors themselves: no
exact rung is tried there (its integers would take more memory than the checkpoint), and one layer stays small in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from eigentoken.numerics.certified.enclosures import Enclosure, product, total
from eigentoken.numerics.certified.matrices import as_enclosure
from eigentoken.numerics.certified.rounding import TINY, Array, scale_up, up
from eigentoken.numerics.layers.acting_heads import acting_groups, has_no_scores, is_identity
from eigentoken.numerics.layers.low_rank import LowRank
from eigentoken.numerics.layers.quantities import without_factors
from eigentoken.theory.statements.layer_systems import LayerSystem

__all__ = ["EXACT_LIMIT", "HeadWeights", "LayerWeights", "Surroundings", "pair_of_outputs"]

#: The largest width at which a layer's matrices may be turned into exact integers.
EXACT_LIMIT = 512
#: Rows and columns of a corner of a head's matrices: a few entries are enough to see what a matrix is not.
CORNER = 16


@dataclass(frozen=True, eq=False)
class HeadWeights:
    """One head, as stored: Q, K, V (d_h, d), O (d, d_h), scale of the scores; ``prefix`` names it in certificates.

    The biases of Q and K are an idealisation beside every theorem; they are known here because heads count as one only where
    their scores agree with them.
    """

    Q: Array
    K: Array
    V: Array
    O: Array
    scale: float
    prefix: str
    q_bias: Array | None = None
    k_bias: Array | None = None
    dense: bool = True
    "May a d x d matrix be formed of it?  Not where heads alone are examined, through their factors."

    @property
    def width(self) -> int:
        return int(self.Q.shape[0])

    @property
    def d(self) -> int:
        return int(self.Q.shape[1])

    def named(self, letter: str) -> Enclosure:
        """The stored matrix of that letter, exact."""
        if letter not in self._stored:
            self._stored[letter] = hashed_once(as_enclosure(getattr(self, letter), name=f"{self.prefix}.{letter}"))
        return self._stored[letter]

    @cached_property
    def _stored(self) -> dict[str, Enclosure]:
        return {}

    def score_factors(self) -> Array:
        """``[Q; K]`` (2 d_h, d)."""
        return np.concatenate([np.asarray(self.Q, dtype=np.float64), np.asarray(self.K, dtype=np.float64)])

    def value_factors(self) -> Array:
        """``[O^T; V]`` (2 d_h, d)."""
        return np.concatenate([np.asarray(self.O, dtype=np.float64).T, np.asarray(self.V, dtype=np.float64)])

    @cached_property
    def score(self) -> Enclosure:
        """``Q^T K`` (d, d): the score matrix times the scale."""
        return product(self.named("Q").transpose, self.named("K"))

    @cached_property
    def value(self) -> Enclosure:
        """``U = O V`` (d, d)."""
        return product(self.named("O"), self.named("V"))

    def corner(self, role: str) -> Enclosure:
        """The first rows and columns of ``O V`` (``value``) or ``Q^T K`` (``score``)."""
        left, right = (self.O, self.V) if role == "value" else (np.asarray(self.Q).T, self.K)
        return product(as_enclosure(left[:CORNER]), as_enclosure(right[:, :CORNER]))

    @cached_property
    def _products(self) -> dict[str, LowRank]:
        return {}

    def low_rank(self, role: str) -> LowRank:
        """``U = O V`` (``value``) or ``Q^T K`` (``score``: the score matrix times the scale) through its factors."""
        if role not in self._products:
            factors = (
                (self.named("O"), self.named("V")) if role == "value" else (self.named("Q").transpose, self.named("K"))
            )
            self._products[role] = LowRank(*factors, dense=self.dense)
        return self._products[role]

    def release(self) -> None:
        """Let go of what was made of the stored arrays; it is made again when asked for."""
        for name in ("_stored", "_products", "score", "value"):
            self.__dict__.pop(name, None)

    @property
    def core(self) -> Enclosure:
        """``V O`` (d_h, d_h): its nonzero eigenvalues are those of U."""
        return self.low_rank("value").core


@dataclass(frozen=True)
class Surroundings:
    """The fields of :class:`LayerSystem` that the weights do not show."""

    mask: str = "full"
    window: int | None = None
    positions: str = "none"
    added_positions: str = "none"
    placement: str = "post"
    norm: str = "layernorm"
    gains_folded: bool = False
    scores: str = ""
    weights: str = ""
    values: str = ""
    update: str = ""


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """All heads of a layer, and what surrounds them (mask, positions, place of the normalisation)."""

    index: int
    heads: tuple[HeadWeights, ...]
    surroundings: Surroundings = field(default_factory=Surroundings)
    gain: Array | None = None
    "Of the norm before the attention, if there is one."

    @classmethod
    def from_arrays(cls, index: int, heads: Sequence[Mapping[str, Any]], **surroundings: Any) -> LayerWeights:
        """From the heads' arrays (keys Q, K, V, O, scale)."""
        made = [HeadWeights(**head, prefix=f"layer{index}.head{number}") for number, head in enumerate(heads)]
        return cls(index, tuple(made), Surroundings(**surroundings))

    @property
    def heads_only(self) -> bool:
        """Are the heads examined alone, and ``F`` and ``S`` never formed?"""
        return not all(head.dense for head in self.heads)

    @property
    def _positions(self) -> str:
        return self.surroundings.positions

    @property
    def _turned(self) -> bool:
        return self._positions != "none"

    @property
    def _scored_by_weights(self) -> bool:
        """Are the scores known from Q and K, and rotations that all heads share?"""
        around = self.surroundings
        return self._positions in {"none", "rotary"} and not (around.scores or around.weights or around.values)

    @cached_property
    def acting(self) -> tuple[tuple[int, ...], ...]:
        """The heads that act, those with exactly equal scores together."""
        return acting_groups(self.heads, self._turned, self._scored_by_weights)

    @cached_property
    def system(self) -> LayerSystem:
        """What the layer is, for the statements to be matched with."""
        one = [self.heads[index] for index in self.acting[0]] if len(self.acting) == 1 else []
        first = one[0] if one else None
        return LayerSystem(
            heads=len(self.heads),
            acting=len(self.acting),
            key_value_heads=len({_place(head.K) for head in self.heads}),
            queries_are_keys=all(np.array_equal(head.Q, head.K) for head in self.heads),
            uniform=first is not None and self._scored_by_weights and has_no_scores(first, self._turned),
            score_is_identity=first is not None and is_identity(np.asarray(first.Q).T, first.K, first.scale),
            value_is_identity=bool(one)
            and is_identity(np.hstack([head.O for head in one]), np.vstack([head.V for head in one])),
            **asdict(self.surroundings),
        )

    @cached_property
    def read_alone(self) -> dict[LayerSystem, dict[int, tuple[Any, Any]]]:
        """By what a head is alone, and by the statement: the statement, and the system on which it is read; found once."""
        return {}

    def alone(self, index: int) -> LayerWeights:
        """The layer with this head only."""
        return LayerWeights(self.index, (self.heads[index],), self.surroundings, self.gain)

    @property
    def d(self) -> int:
        return int(self.heads[0].Q.shape[1])

    def stacked(self, letter: str) -> Enclosure:
        """``[O_1 ... O_H]`` or ``[V_1; ...; V_H]`` and so on, exact."""
        parts = [np.asarray(getattr(head, letter)) for head in self.heads]
        whole = np.concatenate(parts, axis=1 if letter == "O" else 0)
        return hashed_once(as_enclosure(whole, name=f"layer{self.index}.{letter}"))

    @cached_property
    def value(self) -> Enclosure:
        """``F = sum_h O_h V_h``: the layer matrix."""
        return self._kept(product(self.stacked("O"), self.stacked("V")))

    @cached_property
    def score(self) -> Enclosure:
        """``S = sum_h Q_h^T K_h``: the scores of all heads together, times the scale."""
        return self._kept(product(self.stacked("Q").transpose, self.stacked("K")))

    @cached_property
    def grouped(self) -> dict[str, LowRank]:
        """Grouped queries: heads that share K and V bound the rank of S and F; the products through fewer rows.

        ``F = sum_g (sum_{h in g} O_h) V_g`` and ``S = sum_g (sum_{h in g} Q_h)^T K_g`` have rank at most (number of groups)
        d_h; empty where that is no restriction.
        """
        found = {}
        for role, shared, other in (("value", "V", "O"), ("score", "K", "Q")):
            groups: dict[Any, list[HeadWeights]] = {}
            for head in self.heads:
                groups.setdefault(_place(getattr(head, shared)), []).append(head)
            if sum(group[0].width for group in groups.values()) < self.d:
                first = [total([group_part(head, other) for head in group]) for group in groups.values()]
                second = np.concatenate([np.asarray(getattr(group[0], shared)) for group in groups.values()])
                found[role] = LowRank(beside(first), as_enclosure(second, name=f"layer{self.index}.{shared}.groups"))
        return found

    @property
    def is_wide(self) -> bool:
        """Is it wider than :data:`EXACT_LIMIT`?"""
        return self.d > EXACT_LIMIT

    def _kept(self, found: Enclosure) -> Enclosure:
        return without_factors(found) if self.is_wide else found

    @property
    def scale(self) -> float:
        return self.heads[0].scale

    def inputs(self) -> dict[str, Array]:
        """Every stored matrix under the name that certificates use, as float64 (exact for narrower dtypes)."""
        stored: dict[str, Any] = {"identity": np.eye(self.d)}
        for letter in "QKVO":
            parts = [np.asarray(getattr(head, letter), dtype=np.float64) for head in self.heads]
            stored[f"layer{self.index}.{letter}"] = np.concatenate(parts, axis=1 if letter == "O" else 0)
            for head, part in zip(self.heads, parts, strict=True):
                stored[f"{head.prefix}.{letter}"] = part
        alone = [self.heads[group[0]] for group in self.acting if len(group) == 1]
        if len(alone) > 1:  # what the heads would have to share (shared_pairs)
            stored |= dict([pair_of_outputs(alone[0], alone[1])])
        for head in self.heads:
            for name, factors in (("QK", head.score_factors()), ("OV", head.value_factors())):
                first, second = np.split(factors, 2)
                stored |= {f"{head.prefix}.{name}": factors}
                stored |= {f"{head.prefix}.{name}.first": first, f"{head.prefix}.{name}.second": second}
        return stored


def pair_of_outputs(first: HeadWeights, second: HeadWeights) -> tuple[str, Any]:
    """``[O_1^T; O_2^T]`` (2 d_h, d) under the name that certificates use."""
    parts = [np.asarray(head.O, dtype=np.float64).T for head in (first, second)]
    return f"{first.prefix}+{second.prefix.rpartition('.')[2]}.O", np.concatenate(parts)


def _place(array: Any) -> tuple[Any, ...]:
    """Where an array is in memory: heads that share keys or values have the same."""
    return array.__array_interface__["data"][0], array.strides


def hashed_once(stored: Enclosure) -> Enclosure:
    """The same, with one hash for it and all its transposes and products."""
    return replace(stored, _inputs=lambda: stored.inputs)


def group_part(head: HeadWeights, letter: str) -> Enclosure:
    """``O_h`` or ``Q_h^T`` (d, d_h)."""
    return head.named(letter) if letter == "O" else head.named(letter).transpose


def beside(parts: Sequence[Enclosure]) -> Enclosure:
    """``[A_1 ... A_g]`` of enclosures with d rows: the radii add at most in the Frobenius sense, here simply."""
    exponent = max(part.exponent for part in parts)
    centers = [np.ldexp(part.center, part.exponent - exponent) for part in parts]
    lost = sum(part.center.size for part in parts if part.exponent != exponent) * TINY
    radius = sum(scale_up(part.radius, part.exponent - exponent) for part in parts)
    return Enclosure(np.hstack(centers), up(radius + lost, len(parts) + 2) if radius or lost else 0.0, 0.0, exponent)
