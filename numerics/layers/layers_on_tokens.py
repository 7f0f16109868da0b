"""What a layer does to given tokens, against the same layer with its attention weights drawn anew.

The tokens that enter, the norms, positions, masks, biases and the feed-forward stay; Q, K, V, O of all heads are redrawn together
(:mod:`eigentoken.numerics.layers.redrawn`), the tokens run through the layer, and the same is measured as ``check`` measures.
Heads that share keys and values share what is drawn for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigentoken.documents.chance_document import NullName
from eigentoken.numerics.layers.chance_draws import draws_of_bases
from eigentoken.numerics.layers.chance_statistics import WIDEST_SPECTRUM
from eigentoken.numerics.layers.heads_on_tokens import HeadsAtTokens, diameters
from eigentoken.numerics.layers.observe import mean_cosine_gap, mean_distances, principal_subspace
from eigentoken.numerics.layers.redrawn import Floats, random_rotations
from eigentoken.transformer_layer import Block, run_parts

__all__ = ["LAYER_QUANTITIES", "WIDEST_DIRECTION", "DrawnLeaders", "LayerAtStates", "draw_leaders"]

LAYER_QUANTITIES = {
    "update": "size of the attention's update over that of the tokens",
    "diversity": "diversity (distance from the mean) of the attention's update over that of the tokens",
    "diameter": "diameter of the tokens with the attention's update over that before",
    "mean distance": "mean distance of two tokens on the sphere after the layer, less that before",
    "E": "E = 1 - mean cos(x_1, x_i) after the layer, less that before",
    "smallest cosine": "smallest cosine of two tokens after the layer",
    "delta rho": "mean change of the correlation of tokens with the principal direction of F across the layer",
    "probability": "share of tokens whose correlation with it grows",
    "one side": "share of the entering tokens on one side of the hyperplane across it, where F is led by a real eigenvalue",
}
#: The principal direction of draws is found up to this rank of F.
WIDEST_DIRECTION = WIDEST_SPECTRUM
ALONG = ("delta rho", "probability")
#: Numbers of a batch of draws.
BATCH = 4_000_000


@dataclass(frozen=True, eq=False)
class DrawnLeaders:
    """Orthonormal bases (d, 1) or (d, 2) of the principal subspaces of draws of F."""

    bases: Sequence[Floats]


@dataclass(frozen=True, eq=False)
class LayerAtStates:
    """One layer and the tokens ``state`` (n, d) that enter it; ``shared``: whose keys and values each head has."""

    block: Block[Floats]
    state: Floats
    shared: tuple[int, ...]

    @cached_property
    def heads(self) -> HeadsAtTokens:
        return HeadsAtTokens.of(self.block, self.state)

    def measured(self) -> dict[str, float]:
        """Of the weights as they are; what is not defined is NaN."""
        heads = self.heads
        Q, K, V, _ = heads.matrices()
        mixed = heads.mixed(*(heads.x @ part.swapaxes(-1, -2) for part in (Q, K, V)))
        update, bases = self._update(mixed[None], np.asarray(self.block.out, dtype=np.float64)[None]), None
        if self.rank <= WIDEST_DIRECTION:
            bases = [principal_of_factors(*self._factors())]
        found = {name: float(values[0]) for name, values in self._after(update, bases).items()}
        if bases is not None and bases[0].shape[1] == 1:
            found["one side"] = float(self._on_one_side(bases[0].T)[0])
        return found

    def _on_one_side(self, directions: Floats) -> Floats:
        """The share of entering tokens on the side of each direction (N, d) that most are on."""
        heights = np.asarray(self.state, dtype=np.float64) @ directions.T
        return np.asarray(np.maximum((heights > 0).sum(axis=0), (heights < 0).sum(axis=0)) / len(heights))

    @property
    def rank(self) -> int:
        """At most the rank of F."""
        return min(len(set(self.shared)) * self.heads.widths[2], self.state.shape[1])

    def _factors(self) -> tuple[Floats, Floats]:
        """A (d, G r) and B (G r, d) with ``F = A B``: heads that share values act by the sum of their outputs."""
        _, _, V, _ = self.heads.matrices()
        firsts = [self.shared.index(group) for group in sorted(set(self.shared))]
        out = np.asarray(self.block.out, dtype=np.float64)
        return _summed(out, self.shared), V[firsts].reshape(-1, V.shape[-1])

    def _update(self, mixed: Floats, out: Floats) -> Floats:
        """``sum_h O_h sum_j a_ij (V_h x_j + b_V) + b_O`` for batches of rows (N, n, .) and output matrices (N, d, H r)."""
        _, _, put_out = self.heads.attend(mixed)
        joined = put_out.swapaxes(-2, -3).reshape((*mixed.shape[:-1], -1))
        return self._with_bias(joined @ out.swapaxes(-1, -2))

    def _with_bias(self, update: Floats) -> Floats:
        bias = self.block.out_bias
        return update if bias is None else update + np.asarray(bias, dtype=np.float64)

    def _after(self, update: Floats, bases: Sequence[Floats] | None) -> dict[str, Floats]:
        """The quantities of a batch of updates (N, n, d)."""
        before = np.asarray(self.state, dtype=np.float64)
        x = np.broadcast_to(before, update.shape)
        ran = run_parts(self.block, x, own=(update, update, update))
        after, apart = ran.output, update - update.mean(axis=1, keepdims=True)
        spread = np.linalg.norm(before - before.mean(axis=0))
        with np.errstate(all="ignore"):
            unit = after / np.linalg.norm(after, axis=-1, keepdims=True)
            found = {
                "update": np.linalg.norm(ran.attention_update, axis=(1, 2)) / np.linalg.norm(before),
                "diversity": np.linalg.norm(apart, axis=(1, 2)) / spread,
                "diameter": diameters(x + update) / diameters(before),
                "mean distance": mean_distances(after) - mean_distances(before),
                "E": mean_cosine_gap(after) - mean_cosine_gap(before),
                "smallest cosine": (unit @ unit.swapaxes(-1, -2)).min(axis=(1, 2)),
            }
        return found if bases is None else found | self._along(before, after, bases)

    @staticmethod
    def _along(before: Floats, after: Floats, bases: Sequence[Floats]) -> dict[str, Floats]:
        found: dict[str, list[float]] = {"delta rho": [], "probability": []}
        unit = before / np.linalg.norm(before, axis=-1, keepdims=True)
        for basis, moved in zip(bases, after, strict=True):
            here = moved / np.linalg.norm(moved, axis=-1, keepdims=True)
            change = np.linalg.norm(here @ basis, axis=-1) - np.linalg.norm(unit @ basis, axis=-1)
            found["delta rho"].append(float(change.mean()))
            found["probability"].append(float((change > 0).mean()))
        return {name: np.array(values) for name, values in found.items()}

    # -- the nulls -----------------------------------------------------------------------------------------------------------

    def against(
        self, draws: int, seed: int, leaders: DrawnLeaders | None, done: Callable[[], None] = lambda: None
    ) -> dict[NullName, dict[str, Floats]]:
        """Quantities (draws) under both nulls; ``leaders``: those of the Gaussian draws of F, where they are taken."""
        n, d = self.state.shape
        whole = leaders is not None
        size = self.block.heads * n * n + self.block.qkv.shape[0] * (n + d)
        batch = max(1, min(draws, BATCH // size))
        found: dict[NullName, dict[str, list[Floats]]] = {"gaussian factors": {}, "random bases": {}}
        sources = [np.random.default_rng([seed, number, *self.block.qkv.shape, n]) for number in (1, 2)]
        values = _values_and_outputs(self.heads, self.shared, seed, d if whole else min(n, d))
        # R F' R^T has the law of F', whatever the rotation R: a real leader has a uniform direction
        sides = self._on_one_side(np.random.default_rng([seed, 3, d, n]).standard_normal((draws, d)))
        for made in range(0, draws, batch):
            count = min(batch, draws - made)
            bases = None if leaders is None else leaders.bases[made : made + count]
            for name, each in self._gaussian(sources[0], values, count, bases).items():
                found["gaussian factors"].setdefault(name, []).append(each)
            for name, each in self._turned(sources[1], count).items():
                found["random bases"].setdefault(name, []).append(each)
            done()
        if whole:
            source = np.random.default_rng([seed, 4, *self.block.qkv.shape, n])
            many = draws_of_bases(self.rank, d, True, draws)[2]
            found["random bases"] |= self._turned_with_leaders(source, many)
        return {
            null: {name: np.concatenate(each) for name, each in of.items()} | ({"one side": sides} if whole else {})
            for null, of in found.items()
        }

    def _gaussian(
        self, source: np.random.Generator, values: _Values, count: int, bases: Sequence[Floats] | None
    ) -> dict[str, Floats]:
        """All entries of Q, of K, of V, of O normal, with the mean squares of the stored ones."""
        heads, x = self.heads, self.heads.x
        *parts, O = heads.matrices()
        sizes = [float(np.sqrt((part**2).mean())) for part in (*parts, O)]
        along, shared = heads._coordinates(), list(self.shared)
        V, G = values.next(count)
        own = len(set(shared))
        q = source.standard_normal((count, len(shared), parts[0].shape[1], along.shape[1]))
        k = source.standard_normal((count, own, parts[1].shape[1], along.shape[1]))
        rows = [along @ (each * size).swapaxes(-1, -2) for each, size in zip((q, k), sizes, strict=False)]
        rows[1] = rows[1][:, shared]
        seen = x if V.shape[-1] == x.shape[1] else along
        v = (seen @ (V * sizes[2]).swapaxes(-1, -2))[:, shared]
        return self._after(self._update(heads.mixed(rows[0], rows[1], v), G * sizes[3]), bases)

    def _turned(self, source: np.random.Generator, count: int) -> dict[str, Floats]:
        """``Q R_1, K R_2, V R_3, R_4 O``: only what the rotations make of the tokens and of the update."""
        heads, (n, d) = self.heads, self.state.shape
        Q, K, V, _ = heads.matrices()
        along, out = heads._coordinates(), np.asarray(self.block.out, dtype=np.float64)
        turns = [random_rotations(source, count, d, min(n, d)) for _ in range(4)]
        seen = [along @ turn[..., : along.shape[1]].swapaxes(-1, -2) for turn in turns[:3]]
        mixed = heads.mixed(*(y[:, None] @ part.swapaxes(-1, -2) for y, part in zip(seen, (Q, K, V), strict=True)))
        _, _, put_out = heads.attend(mixed)
        update = put_out.swapaxes(-2, -3).reshape((*mixed.shape[:-1], -1)) @ out.T
        return self._after(self._with_bias(_up_to_rotation(update) @ turns[3].swapaxes(-1, -2)), None)

    def _turned_with_leaders(self, source: np.random.Generator, count: int) -> dict[str, list[Floats]]:
        """The quantities along the principal direction of ``F' = R_4 F R_3``, of draws of their own.

        In an orthonormal basis C of R^d whose first axes span the tokens, with ``B = L N^T`` (N orthonormal) for ``F = A B``:
        ``B R_3 = L E^T`` for a uniform frame E, and R_4 turns the span of A and of the update alone.
        """
        heads, d = self.heads, self.state.shape[1]
        Q, K, V, _ = heads.matrices()
        along, out = heads._coordinates(), np.asarray(self.block.out, dtype=np.float64)
        left, right = self._factors()
        lower = np.asarray(np.linalg.qr(right.T, mode="r")).T
        basis, m, shared = _whole_basis(heads.x), along.shape[1], list(self.shared)
        found: dict[str, list[Floats]] = {}
        for _ in range(count):
            turns = [random_rotations(source, 1, d, m)[0] for _ in range(2)]
            q, k = (along @ turn.T @ part.swapaxes(-1, -2) for turn, part in zip(turns, (Q, K), strict=True))
            frame = random_rotations(source, 1, d, lower.shape[1])[0]
            v = (along @ frame[:m] @ lower.T).reshape(len(along), -1, V.shape[1]).swapaxes(0, 1)[shared]
            _, _, put_out = heads.attend(heads.mixed(q, k, v))
            update = put_out.swapaxes(-2, -3).reshape((len(along), -1)) @ out.T
            inside = _up_to_rotation(np.concatenate([left.T, update]))
            turned = random_rotations(source, 1, d, inside.shape[1])[0] @ inside.T
            leader = basis @ principal_of_factors(turned[:, : left.shape[1]], lower @ frame.T)
            moved = self._with_bias((basis @ turned[:, left.shape[1] :]).T)
            for name, each in self._after(moved[None], [leader]).items():
                if name in ALONG:
                    found.setdefault(name, []).append(each)
        return found


def _up_to_rotation(rows: Floats) -> Floats:
    """Rows (..., k, d) as (..., k, min(k, d)) with the same products: the symmetric root of their Gram matrix, or themselves.

    Unlike a triangular factor, the root does not jump where rows depend on each other (the first token under a causal mask).
    """
    if rows.shape[-2] >= rows.shape[-1]:
        return rows
    squares, vectors = np.linalg.eigh(rows @ rows.swapaxes(-1, -2))
    return np.asarray((vectors * np.sqrt(np.maximum(squares, 0.0))[..., None, :]) @ vectors.swapaxes(-1, -2))


def principal_of_factors(left: Floats, right: Floats) -> Floats:
    """:func:`principal_subspace` of ``A B``, of factors (d, r) and (r, d), by the core ``B A`` where it is the smaller.

    ``B A y = lambda y`` gives ``A B (A y) = lambda A y``; of a kernel nothing is asked.
    """
    if left.shape[1] >= len(left):
        return principal_subspace(left @ right)
    basis = left @ principal_subspace(right @ left)
    return np.asarray(np.linalg.qr(basis)[0])


def _summed(out: Floats, shared: Sequence[int]) -> Floats:
    """The outputs (d, H r) of heads that share values, added: (d, G r)."""
    by_head = out.reshape(len(out), len(shared), -1)
    groups = sorted(set(shared))
    return np.concatenate([by_head[:, [own == group for own in shared]].sum(axis=1) for group in groups], axis=1)


def _whole_basis(x: Floats) -> Floats:
    """An orthonormal basis (d, d) whose first columns are those in which :meth:`HeadsAtTokens._coordinates` writes the tokens."""
    return np.asarray(np.linalg.qr(x.T, mode="complete")[0])


class _Values:
    """V by group (N, G, r, columns) and O (N, d, H r) of the Gaussian draws of a layer: the same for the same shape and seed.

    ``columns``: d, or only those along the tokens.
    """

    def __init__(self, groups: int, width: int, columns: int, d: int, heads: int, seed: int) -> None:
        self.shapes = (groups, width, columns), (d, heads * width)
        self.source = np.random.default_rng([seed, 0, groups, width, d, heads])

    def next(self, count: int) -> tuple[Floats, Floats]:
        """One draw after another, so that batches do not matter."""
        V, O = np.empty((count, *self.shapes[0])), np.empty((count, *self.shapes[1]))
        for place in range(count):
            V[place], O[place] = (self.source.standard_normal(shape) for shape in self.shapes)
        return V, O


def _values_and_outputs(heads: HeadsAtTokens, shared: Sequence[int], seed: int, columns: int) -> _Values:
    return _Values(len(set(shared)), heads.widths[2], columns, heads.x.shape[1], len(shared), seed)


def draw_leaders(at: LayerAtStates, draws: int, seed: int) -> DrawnLeaders:
    """The principal subspaces of the Gaussian draws of F, the same for every layer of a shape."""
    values = _values_and_outputs(at.heads, at.shared, seed, at.state.shape[1])
    bases = []
    for _ in range(draws):
        V, O = values.next(1)
        bases.append(principal_of_factors(_summed(O[0], at.shared), V[0].reshape(-1, V.shape[-1])))
    return DrawnLeaders(bases)
