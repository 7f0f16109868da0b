"""A point of an attention system in balls of our own: where it goes, its tangential Jacobian, its attention matrices.

With ``y_i = x_i + alpha u_i`` the map is ``f_i = y_i / |y_i|_W``; its derivative from the tangent spaces at x is

    ``(I - f_i (W f_i)^T) ([i = k] I + alpha D_ik) / |y_i|_W``,   ``D_ik = d u_i / d x_k``,

to those at f(x), and that of the flow ``x_i' = u_i - (x_i^T W u_i) x_i`` at an equilibrium is
``(I - x_i (W x_i)^T) D_ik - [i = k] (x_i^T W u_i) I``.
A tangent vector v (``v^T W x = 0``) is written in the coordinates other than the one where ``W x`` is largest.

An exact equality is *seen* where a ball contains zero and is narrower than ``2^-400`` (:func:`vanishes`): to 120 digits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import flint

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.reading import RecheckError
from eigentoken.numerics.recheck.points.attention import POINTS, Attention, SystemShape, not_written
from eigentoken.numerics.recheck.points.number_texts import real_ball

__all__ = ["Point", "instance_digest", "vanishes"]

arb, arb_mat = flint.arb, flint.arb_mat
PRECISION = 640
SEEN = 400
LARGEST_STATE = 240


def instance_digest(instance: Json) -> str:
    """sha256 of the canonical JSON text of an instance."""
    text = json.dumps(instance, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def vanishes(value: Any) -> bool | None:
    """True: zero to ``2^-400``; False: certainly not zero; None: open."""
    if not value.contains(0):
        return False
    return True if abs(value) < arb(2) ** -SEEN else None


def every(answers: Sequence[bool | None]) -> bool | None:
    """All true, one false, or open."""
    return False if False in answers else None if None in answers else True


class Point:
    """An instance in balls, and its texts; made and used at one precision."""

    def __init__(self, instance: Mapping[str, Json]) -> None:
        self.instance = instance
        name = str(instance["system"])
        if name not in POINTS:
            raise RecheckError(f"nothing is confirmed of {not_written(name, POINTS)}")
        self.shape: SystemShape = POINTS[name]
        self._known_keys(name)
        tokens = instance["tokens"]
        self.n, self.d = len(tokens), len(tokens[0]) if tokens else 0
        if not self.d or any(len(token) != self.d for token in tokens) or self.n * self.d > LARGEST_STATE:
            raise RecheckError(f"tokens must be rows of one length, with at most {LARGEST_STATE} entries in all")
        self.x = [arb_mat(self.d, 1, [real_ball(entry) for entry in token]) for token in tokens]
        self.heads = list(instance["heads"]) if self.shape.heads else [instance]
        if not self.heads:
            raise RecheckError("a multi-head system needs at least one head")
        pairs = [(self._read(head, self.shape.value), self._read(head, self.shape.score)) for head in self.heads]
        metric = self._read(instance, self.shape.metric)
        alpha = real_ball(instance["alpha"]) if self.shape.is_map else None
        if alpha is not None and not alpha > 0:
            raise RecheckError("the step must be positive")
        self.mask = self._read_mask(name)
        gains = [self._read(instance, key) for key in (self.shape.gain, self.shape.second)]
        self.system = Attention(self.shape, self.n, self.d, pairs, self.mask, metric, None, alpha, *gains)
        self._check_space()
        self.u, self.slopes = self.system.push(self.x)

    def _known_keys(self, name: str) -> None:
        """No field that the system does not have: it would be shown and mean nothing."""
        matrices = {key for key in (self.shape.value, self.shape.score) if key is not None}
        wanted = {"system", "tokens", *(("heads",) if self.shape.heads else matrices)}
        wanted |= {"alpha"} if self.shape.is_map else set()
        wanted |= {self.shape.gain, self.shape.second} - {None}
        wanted |= {self.shape.metric} - {None} if self.shape.metric not in matrices or self.shape.heads else set()
        if set(self.instance) - {"mask"} != wanted:
            raise RecheckError(f"an instance of {name} has the fields {', '.join(sorted(wanted))} and mask")
        if self.shape.heads and any(set(head) != matrices for head in self.instance["heads"]):
            raise RecheckError(f"a head of {name} has the fields {', '.join(sorted(matrices))}")

    def _read(self, source: Mapping[str, Any], key: str | None) -> Any:
        if key is None:
            return None
        rows = source[key]
        if len(rows) != self.d or any(len(row) != self.d for row in rows):
            raise RecheckError(f"{key} must be a {self.d} x {self.d} matrix")
        return arb_mat([[real_ball(entry) for entry in row] for row in rows])

    def _read_mask(self, name: str) -> list[list[int]]:
        mask = self.instance.get("mask", "causal" if name == "causal-flow" else "full")
        if name == "causal-flow" and mask != "causal":
            raise RecheckError("the mask of causal-flow is causal")
        if mask == "full":
            return [[1] * self.n for _ in range(self.n)]
        if mask == "causal":
            return [[int(j <= i) for j in range(self.n)] for i in range(self.n)]
        fits = (
            isinstance(mask, list)
            and len(mask) == self.n
            and all(isinstance(r, list) and len(r) == self.n for r in mask)
        )
        if not fits or any(entry not in (0, 1) or isinstance(entry, bool) for row in mask for entry in row):
            raise RecheckError("the mask does not fit the tokens")
        return [[int(entry) for entry in row] for row in mask]

    def _check_space(self) -> None:
        metric = self.system.metric
        if metric is not None:
            if any(vanishes(metric[i, j] - metric[j, i]) is not True for i in range(self.d) for j in range(i)):
                raise RecheckError("the metric is not symmetric")
            if not _positive_definite(metric):
                raise RecheckError("the metric is not shown to be positive definite")
        for token in self.x if not self.shape.euclidean else ():
            if vanishes(self.pair(token, token) - 1) is not True:
                raise RecheckError("a token is not on its sphere or ellipsoid")

    def pair(self, a: flint.arb_mat, b: flint.arb_mat) -> flint.arb:
        """``a^T W b``."""
        return (a.transpose() * self.system.weigh(b))[0, 0]

    # -- where it goes ------------------------------------------------------------------------------------------------

    def raw(self) -> list[flint.arb_mat]:
        """``y_i = x_i + alpha u_i`` of a map, with ``G x_i`` for ``x_i`` where there is a gain on the sphere."""
        return [self.system.carried(x) + push * self.system.alpha for x, push in zip(self.x, self.u, strict=True)]

    def image(self) -> list[Any] | None:
        """``f(x)`` of a map; None where some ``y_i`` may vanish that is normalised."""
        if self.shape.euclidean:
            return self.raw()
        made = []
        for y in self.raw():
            length = self.pair(y, y)
            if not length > 0:
                return None
            made.append(y * (1 / length.sqrt()))
        return made

    def changes(self) -> list[flint.arb_mat] | None:
        """``f(x) - x``, or the velocity, token by token."""
        if self.shape.is_map:
            image = self.image()
            return None if image is None else [y - x for x, y in zip(self.x, image, strict=True)]
        if self.shape.euclidean:
            return list(self.u)
        return [push - x * self.pair(x, push) for x, push in zip(self.x, self.u, strict=True)]

    def residuals(self) -> list[Any] | None:
        """For each token the largest entry of its change, in modulus."""
        changes = self.changes()
        return None if changes is None else [largest(change) for change in changes]

    def again(self) -> Point:
        """The same system at f(x): a point whose texts are not those of its tokens."""
        image = self.image()
        if image is None:
            raise RecheckError("the map is not defined here")
        other: Point = object.__new__(Point)
        other.__dict__.update(self.__dict__, x=image)
        other.u, other.slopes = self.system.push(image)
        return other

    # -- the linearization --------------------------------------------------------------------------------------------

    def jacobian(self) -> flint.arb_mat:
        """The derivative between the tangent spaces, in coordinates (of the flow: at an equilibrium)."""
        if self.shape.is_map:
            image = self.image()
            if image is None:
                raise RecheckError("the map is not defined here")
        else:
            image = self.x
        starts, ends = [self._pivot(x) for x in self.x], [self._pivot(z) for z in image]
        rows = []
        for i in range(self.n):
            blocks = [self._block(i, k, image[i], starts[k]) for k in range(self.n)]
            for a in range(self.d):
                if a != ends[i][0]:
                    rows.append([block[a, c] for block in blocks for c in range(block.ncols())])
        size = len(rows)
        return arb_mat(size, size, [entry for row in rows for entry in row])

    def _pivot(self, x: Any) -> tuple[int, Any]:
        """The coordinate that is left out and the basis of the tangent space; Euclidean: none and all."""
        d = self.d
        if self.shape.euclidean:
            return -1, arb_mat(d, d, [int(r == c) for r in range(d) for c in range(d)])
        weighed = self.system.weigh(x)
        left_out = max(range(d), key=lambda a: abs(float(weighed[a, 0].mid())))
        kept = [c for c in range(d) if c != left_out]
        entries = [
            -weighed[c, 0] / weighed[left_out, 0] if r == left_out else arb(int(r == c)) for r in range(d) for c in kept
        ]
        return left_out, arb_mat(d, d - 1, entries)

    def _block(self, i: int, k: int, image: Any, start: tuple[int, Any]) -> Any:
        d, slope, basis = self.d, self.slopes[i][k], start[1]
        one = arb_mat(d, d, [int(r == c) for r in range(d) for c in range(d)])
        if self.shape.euclidean and self.shape.is_map:
            return slope * self.system.alpha + (one if i == k else arb_mat(d, d))
        if self.shape.euclidean:
            return slope * basis
        tangent = one - image * self.system.weigh(image).transpose()
        if self.shape.is_map:
            y = self.raw()[i]
            whole = slope * self.system.alpha + (self.system.carried(one) if i == k else arb_mat(d, d))
            return tangent * whole * basis * (1 / self.pair(y, y).sqrt())
        turned = one * self.pair(self.x[i], self.u[i]) if i == k else arb_mat(d, d)
        return (tangent * slope - turned) * basis

    # -- attention ----------------------------------------------------------------------------------------------------

    def attention(self) -> list[flint.arb_mat]:
        """The attention matrix of each head (rows of sum 1: a common factor changes no rank)."""
        made = []
        seen = self.system.seen(self.x)
        for _, score in self.system.pairs:
            rows = []
            for i in range(self.n):
                terms = [self._term(score, seen, i, j) for j in range(self.n)]
                total = sum(terms, arb(0))
                rows.append([term / total for term in terms])
            made.append(arb_mat(rows))
        return made

    def _term(self, score: Any, seen: list[Any], i: int, j: int) -> Any:
        if not self.mask[i][j]:
            return arb(0)
        return arb(1) if score is None else (seen[i].transpose() * score * seen[j])[0, 0].exp()


def largest(column: Any) -> Any:
    """The largest entry of a column, in modulus."""
    best = arb(0)
    for entry in column.entries():
        best = best.max(abs(entry))
    return best


def _positive_definite(matrix: Any) -> bool:
    size = matrix.nrows()
    rows = [[matrix[r, c] for c in range(size)] for r in range(size)]
    for k in range(size):
        if not rows[k][k] > 0:
            return False
        for r in range(k + 1, size):
            factor = rows[r][k] / rows[k][k]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[k], strict=True)]
    return True
