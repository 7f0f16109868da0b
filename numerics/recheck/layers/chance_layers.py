"""Re-check of what ``chance`` measures on tokens of whole layers: the layer and its draws made again by other formulas.

The layer is run here head by head from ``Q, K, V, O``, with norms by variances, GELU by the normal distribution function and its
tanh form by the logistic one.  The streams are those of ``numpy.random.default_rng``: ``[seed, 0, G, r, d, H]`` one draw after
another V (G, r, .) and O (d, H r); ``[seed, 1, R, d, n]`` queries (N, H, r, m) and keys (N, G, r, m) of a batch;
``[seed, 2, R, d, n]`` four normal (N, d, m) that are made orthonormal; ``[seed, 3, d, n]`` directions; ``[seed, 4, R, d, n]`` one
draw after another the frames of rotations with the leader of F, which is found by inverse iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.layers.chance_nulls import WIDEST, shares_of
from eigentoken.numerics.recheck.layers.chance_on_tokens import HeldOnTokens, PlainHeads, defined, widest

__all__ = ["ACTIVATIONS", "PlainLayer"]

Floats = NDArray[np.float64]
Leader = NDArray[Any] | None
BATCH = 4_000_000
GAUSSIAN, BASES = "gaussian factors", "random bases"


def _normal(x: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(x * ndtr(x))


def _logistic(x: Floats, slope: Floats | float) -> Floats:
    from scipy.special import expit

    return np.asarray(x * expit(slope * x))


def _tanh_form(x: Floats) -> Floats:
    """``(1 + tanh u) / 2`` is the logistic function of 2 u."""
    return _logistic(x, 2 * np.sqrt(2 / np.pi) * (1 + 0.044715 * x**2))


ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    **dict.fromkeys(("gelu", "gelu_python"), _normal),
    **dict.fromkeys(("gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_accurate", "gelu_python_tanh"), _tanh_form),
    **dict.fromkeys(("silu", "swish"), lambda x: _logistic(x, 1.0)),
    "quick_gelu": lambda x: _logistic(x, 1.702),
    "relu": lambda x: np.where(x > 0, x, 0.0),
    "relu2": lambda x: np.where(x > 0, x * x, 0.0),
}


@dataclass(frozen=True, eq=False)
class PlainLayer:
    """A layer whose heads are plain, the tokens ``state`` (n, d) that enter it, and whose values each head has (``shared``).

    ``parts``: ``attention_norm``, ``feed_forward_norm``, ``attention_update_norm``, ``feed_forward_update_norm`` (mappings with
    ``gain, bias, eps, centred``, or ``None`` for none), ``up, down, gate`` with ``_bias``, ``activation``, ``out_bias``,
    ``attention_gain, feed_forward_gain``, ``pre_norm``, ``parallel``.
    """

    plain: PlainHeads
    state: Floats
    shared: Sequence[int]
    parts: Mapping[str, Json]

    @property
    def _parts(self) -> Mapping[str, Any]:
        return self.parts

    # -- the layer -----------------------------------------------------------------------------------------------------------

    def _norm(self, name: str, x: Floats) -> Floats:
        told = self._parts[name]
        if told is None:
            return x
        middle = x - np.average(x, axis=-1)[..., None] if told["centred"] else x
        size = np.sqrt(np.average(middle**2, axis=-1) + told["eps"])[..., None]
        gain, bias = told["gain"], told["bias"]
        found = middle / size if gain is None else np.asarray(gain, dtype=np.float64) * middle / size
        return np.asarray(found if bias is None else found + np.asarray(bias, dtype=np.float64))

    def read(self) -> Floats:
        """The tokens as the attention reads them."""
        return self._norm("attention_norm", self.state) if self._parts["pre_norm"] else self.state

    def _scaled(self, half: str, update: Floats) -> Floats:
        gain = self._parts[f"{half}_gain"]
        normed = self._norm(f"{half}_update_norm", update)
        return normed if gain is None else normed * np.asarray(gain, dtype=np.float64)

    def _inner(self, x: Floats) -> Floats:
        def through(name: str, y: Floats) -> Floats:
            bias = self._parts[f"{name}_bias"]
            found = np.einsum("...j,ij->...i", y, np.asarray(self._parts[name], dtype=np.float64), optimize=True)
            return np.asarray(found if bias is None else found + np.asarray(bias, dtype=np.float64))

        act = ACTIVATIONS[self._parts["activation"]]
        wide = through("up", x)
        return through("down", act(wide) if self._parts["gate"] is None else wide * act(through("gate", x)))

    def after(self, update: Floats) -> tuple[Floats, Floats]:
        """What is added for an update of the attention, and the tokens after the layer."""
        pre, added = self._parts["pre_norm"], self._scaled("attention", update)
        middle = self.state + added
        middle = middle if pre else self._norm("attention_norm", middle)
        if self._parts["up"] is None:
            return added, middle
        entering = np.broadcast_to(self.state, middle.shape) if self._parts["parallel"] else middle
        inner = self._inner(self._norm("feed_forward_norm", entering) if pre else entering)
        found = middle + self._scaled("feed_forward", inner)
        return added, found if pre else self._norm("feed_forward_norm", found)

    def _with_bias(self, update: Floats) -> Floats:
        bias = self._parts["out_bias"]
        return update if bias is None else update + np.asarray(bias, dtype=np.float64)

    # -- what is measured ----------------------------------------------------------------------------------------------------

    def quantities(self, update: Floats, leaders: Sequence[Leader] | None) -> dict[str, Floats]:
        """Of updates (N, n, d), token by token; a leader is an orthonormal basis of its line or plane."""
        added, after = self.after(update)
        before = self.state
        unit = after / np.sqrt((after**2).sum(-1))[..., None]
        first = before / np.sqrt((before**2).sum(-1))[:, None]
        apart = update - np.average(update, axis=1)[:, None]
        spread = np.sqrt(((before - np.average(before, axis=0)) ** 2).sum())
        cosines, old = unit @ np.swapaxes(unit, 1, 2), first @ first.T
        found = {
            "update": np.sqrt((added**2).sum((1, 2)) / (before**2).sum()),
            "diversity": np.sqrt((apart**2).sum((1, 2))) / spread,
            "diameter": widest(before + update) / widest(before),
            "mean distance": _mean_apart(unit) - _mean_apart(first[None])[0],
            "E": np.average(old[0]) - np.average(cosines[:, 0], axis=-1),
            "smallest cosine": cosines.min(-1).min(-1),
        }
        if leaders is None:
            return found
        changes = []
        for leader, here in zip(leaders, unit, strict=True):
            changes.append(np.sqrt(((here @ leader) ** 2).sum(-1)) - np.sqrt(((first @ leader) ** 2).sum(-1)))
        return found | {
            "delta rho": np.average(changes, axis=-1),
            "probability": np.average(np.array(changes) > 0, axis=-1),
        }

    def _one_side(self, directions: Floats) -> Floats:
        heights = np.sign(directions @ self.state.T)
        return np.asarray(np.maximum((heights == 1).sum(-1), (heights == -1).sum(-1)) / len(self.state))

    def _matrices(self, letter: str) -> list[Floats]:
        return [np.asarray(head[letter], dtype=np.float64) for head in self.plain.heads]

    def _firsts(self) -> list[int]:
        return [list(self.shared).index(group) for group in sorted(set(self.shared))]

    def _summed(self, outputs: Sequence[Floats]) -> Floats:
        """The outputs of heads that share values, added, side by side."""
        groups = sorted(set(self.shared))
        return np.hstack([sum(O for O, own in zip(outputs, self.shared, strict=True) if own == g) for g in groups])

    @property
    def rank(self) -> int:
        return min(len(set(self.shared)) * len(self._matrices("V")[0]), self.state.shape[1])

    def _put_out(self, q: Floats, k: Floats, v: Floats) -> list[Floats]:
        """What each head puts out before O (N, n, r) of rows (N, H, n, .) without biases."""
        found = []
        for place, head in enumerate(self.plain.heads):
            weights = self.plain.weights(place, q[:, place], k[:, place])
            bias = head["v_bias"]
            values = v[:, place] if bias is None else v[:, place] + np.asarray(bias, dtype=np.float64)
            found.append(weights @ values)
        return found

    def held(self, layer: int, many: int, seed: int) -> Iterator[HeldOnTokens]:
        """The tests of the layer, in the order of a document."""
        values = self.measured()
        for null, of in self.draws(many, seed).items():
            for name in (each for each in of if each in values):
                yield from defined(layer, None, name, null, values[name], of[name])

    def measured(self) -> dict[str, float]:
        """Of the weights as they are."""
        x = self.plain.x
        q, k, v = (np.array([x @ part.T for part in self._matrices(letter)])[None] for letter in "QKV")
        update = _through(self._put_out(q, k, v), self._matrices("O"))
        leaders = None
        if self.rank <= WIDEST:
            leaders = [
                leader_of(
                    self._summed(self._matrices("O")), np.vstack([self._matrices("V")[i] for i in self._firsts()])
                )
            ]
        found = {name: float(each[0]) for name, each in self.quantities(self._with_bias(update), leaders).items()}
        if leaders is not None and leaders[0].shape[1] == 1:
            found["one side"] = float(self._one_side(leaders[0].T)[0])
        return found

    # -- the draws -----------------------------------------------------------------------------------------------------------

    def draws(self, many: int, seed: int) -> dict[str, dict[str, Floats]]:
        """Under both nulls."""
        n, d = self.state.shape
        heads, groups, m = len(self.shared), sorted(set(self.shared)), min(n, d)
        Q, K, V, O = (self._matrices(letter) for letter in "QKVO")
        rows = sum(map(len, (*Q, *K, *V)))
        sizes = [np.sqrt(np.average(np.array(part) ** 2)) for part in (Q, K, V, O)]
        with_leaders = self.rank <= WIDEST
        along = np.linalg.qr(self.plain.x.T)[1].T
        first, second, third, values = (
            np.random.default_rng([seed, *rest])
            for rest in ((1, rows, d, n), (2, rows, d, n), (3, d, n), (0, len(groups), len(V[0]), d, heads))
        )
        columns = d if with_leaders else m
        seen = self.plain.x if columns == d else along
        owner = [groups.index(each) for each in self.shared]
        sides = self._one_side(third.standard_normal((many, d)))
        found: dict[str, dict[str, list[Floats]]] = {GAUSSIAN: {}, BASES: {}}
        batch = max(1, min(many, BATCH // (heads * n * n + rows * (n + d))))
        for start in range(0, many, batch):
            count = min(batch, many - start)
            drawn = [
                (
                    values.standard_normal((len(groups), len(V[0]), columns)),
                    values.standard_normal((d, heads * len(V[0]))),
                )
                for _ in range(count)
            ]
            q = first.standard_normal((count, heads, len(Q[0]), m))
            k = first.standard_normal((count, len(groups), len(K[0]), m))[:, owner]
            v = np.array([each for each, _ in drawn])[:, owner]
            put = self._put_out(
                *(
                    size * (at @ np.swapaxes(part, -1, -2))
                    for size, at, part in zip(sizes, (along, along, seen), (q, k, v), strict=False)
                )
            )
            joined = np.concatenate(put, axis=-1)
            update = sizes[3] * (joined @ np.swapaxes(np.array([each for _, each in drawn]), 1, 2))
            leaders = None
            if with_leaders:
                leaders = [
                    leader_of(self._summed(np.split(o, heads, axis=1)), np.concatenate(list(part))) for part, o in drawn
                ]
            _keep(found[GAUSSIAN], self.quantities(self._with_bias(update), leaders))
            turns = [_orthonormal(second.standard_normal((count, d, m))) for _ in range(4)]
            q, k, v = (
                np.stack([along @ np.swapaxes(turn[:, :, :m], 1, 2) @ part.T for part in parts], axis=1)
                for turn, parts in zip(turns, (Q, K, V), strict=False)
            )
            update = _through(self._put_out(q, k, v), O)
            inside = _root(update)
            _keep(found[BASES], self.quantities(self._with_bias(inside @ np.swapaxes(turns[3], 1, 2)), None))
        if with_leaders:
            source = np.random.default_rng([seed, 4, rows, d, n])
            for _ in range(shares_of(self.rank, d, True, many)[2]):
                _keep(found[BASES], self._turned_with_leader(source, along))
        joined_up = {null: {name: np.concatenate(each) for name, each in of.items()} for null, of in found.items()}
        return {null: of | ({"one side": sides} if with_leaders else {}) for null, of in joined_up.items()}

    def _turned_with_leader(self, source: np.random.Generator, along: Floats) -> dict[str, Floats]:
        """Delta rho and the probability with ``Q R_1, K R_2, V R_3, R_4 O``, in a basis whose first axes span the tokens."""
        d, m = self.state.shape[1], along.shape[1]
        Q, K, V, O = (self._matrices(letter) for letter in "QKVO")
        right = np.vstack([V[place] for place in self._firsts()])
        lower, width = np.linalg.qr(right.T)[1].T, len(V[0])
        basis = np.linalg.qr(self.plain.x.T, mode="complete")[0]
        q, k = (
            np.array([along @ turn.T @ part.T for part in parts])[None]
            for turn, parts in ((_orthonormal(source.standard_normal((1, d, m)))[0], each) for each in (Q, K))
        )
        frame = _orthonormal(source.standard_normal((1, d, lower.shape[1])))[0]
        rows = along @ frame[:m] @ lower.T
        groups = sorted(set(self.shared))
        v = np.array([rows[:, width * (at := groups.index(own)) : width * (at + 1)] for own in self.shared])[None]
        update = _through(self._put_out(q, k, v), O)[0]
        left = self._summed(O)
        inside = _root(np.vstack([left.T, update])[None])[0]
        turned = basis @ _orthonormal(source.standard_normal((1, d, inside.shape[1])))[0] @ inside.T
        leader = leader_of(turned[:, : left.shape[1]], lower @ frame.T @ basis.T)
        found = self.quantities(self._with_bias(turned[:, left.shape[1] :].T)[None], [leader])
        return {name: found[name] for name in ("delta rho", "probability")}


def _through(put_out: Sequence[Floats], outputs: Sequence[Floats]) -> Floats:
    """``sum_h O_h y_h`` for each token."""
    return np.asarray(sum(each @ O.T for each, O in zip(put_out, outputs, strict=True)), dtype=np.float64)


def _keep(found: dict[str, list[Floats]], more: Mapping[str, Floats]) -> None:
    for name, each in more.items():
        found.setdefault(name, []).append(each)


def _orthonormal(columns: Floats) -> Floats:
    """By QR with a positive diagonal."""
    base, triangle = np.linalg.qr(columns)
    return np.asarray(base * np.where(np.diagonal(triangle, axis1=-2, axis2=-1) < 0, -1.0, 1.0)[:, None, :])


def _root(rows: Floats) -> Floats:
    """``(X X^T)^(1/2) = W S W^T`` from the singular values of rows X (N, k, d); X itself where there are no fewer than d."""
    if rows.shape[1] >= rows.shape[2]:
        return rows
    left, sizes, _right = np.linalg.svd(rows, full_matrices=False)
    return np.asarray((left * sizes[:, None, :]) @ np.swapaxes(left, 1, 2))


def _mean_apart(unit: Floats) -> Floats:
    """The mean of ``|u_i - u_j|`` over i < j, of unit rows."""
    n = unit.shape[1]
    if n < 2:
        return np.zeros(len(unit))
    total = np.zeros(len(unit))
    for place in range(n - 1):
        total += np.sqrt(((unit[:, place + 1 :] - unit[:, place, None]) ** 2).sum(-1)).sum(-1)
    return np.asarray(2 * total / (n * (n - 1)))


def leader_of(left: Floats, right: Floats) -> Floats:
    """The line or plane of the eigenvalue of ``A B`` with the largest real part, by inverse iteration on the smaller product."""
    small = left.shape[1] < len(left)
    core = right @ left if small else left @ right
    values = np.linalg.eigvals(core)
    first = values[np.argmax(values.real)]
    largest = max(1.0, float(np.abs(values).max()))
    real = abs(first.imag) <= 1e-12 * largest
    shift = (float(first.real) if real else first) + 1e-10 * largest
    vector = np.random.default_rng(1).standard_normal(len(core)) + (0.0 if real else 0.5j)
    for _ in range(4):
        vector = np.linalg.solve(core - shift * np.eye(len(core)), vector)
        vector = vector / np.linalg.norm(vector)
    vector = left @ vector if small else vector
    plane = vector[:, None] if real else np.stack([vector.real, vector.imag], axis=1)
    return np.asarray(np.linalg.svd(plane, full_matrices=False)[0])
