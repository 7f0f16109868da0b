"""Attention dynamics in balls for the re-check of equilibria: the push of every token and its derivative in closed form.

    ``u_i = sum_h F_h m_i``,  ``m_i = sum_j a_ij y_j``,  ``a_ij = r exp(y_i^T M y_j) / sum_l exp(y_i^T M y_l)``

over the tokens that i sees, ``y = x + positions``, r = 1 or 1/sqrt d.  With ``b_i = m_i / r`` the derivative of the softmax gives

    ``d m_i / d y_k = a_ik I + a_ik (y_k - b_i) (M^T y_i)^T + [i = k] sum_j a_ij (y_j - b_i) (M y_j)^T``.

The systems are written here again from their definitions (no code of the issuer, none of the theory room).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import flint

from eigentoken.numerics.recheck.documents.reading import RecheckError

if TYPE_CHECKING:
    from flint import acb

__all__ = ["POINTS", "SHAPES", "WITHOUT_POINTS", "Attention", "SystemShape", "not_written", "read_attention"]

arb, arb_mat = flint.arb, flint.arb_mat


@dataclass(frozen=True)
class SystemShape:
    """Which parameters play F, M and W; a map or a flow; on a sphere or ellipsoid or in Euclidean space."""

    value: str | None
    score: str | None
    metric: str | None = None
    heads: bool = False
    root: bool = False
    is_map: bool = False
    euclidean: bool = False
    before: bool = False
    "Attention reads ``x_j/|x_j|``."
    gain: str | None = None
    "A matrix G before what attention reads (and before the step of a map on the sphere)."
    second: str | None = None
    "A matrix H behind the push, which is normalised first."

    @property
    def reads_tokens(self) -> bool:
        """Attention reads the tokens as they are."""
        return self.gain is None and not self.before

    @property
    def plain(self) -> bool:
        """An equation of the papers."""
        return self.reads_tokens and not (self.is_map and self.euclidean)


SHAPES: Mapping[str, SystemShape] = {
    "oja-map": SystemShape("V", None, is_map=True),
    "oja-flow": SystemShape("V", None),
    "attention-map": SystemShape("V", "M", is_map=True),
    "attention-flow": SystemShape("V", "M"),
    "multihead-map": SystemShape("F", "M", heads=True, is_map=True),
    "multihead-flow": SystemShape("F", "M", heads=True),
    "ellipsoid-flow": SystemShape(None, "P", metric="P", root=True),
    "ellipsoid-map": SystemShape("U", "P", metric="W", heads=True, root=True, is_map=True),
    "ellipsoid-multihead-flow": SystemShape("U", "P", metric="W", heads=True, root=True),
    "causal-flow": SystemShape("U", "P", root=True),
    "token-flow": SystemShape("B", "W", euclidean=True),
}
#: Residual attention with the norm in each of its places: points are confirmed of these, too.
POINTS: Mapping[str, SystemShape] = {
    **SHAPES,
    "residual-map": SystemShape("B", "W", is_map=True, euclidean=True),
    "pre-norm-map": SystemShape("V", "M", is_map=True, euclidean=True, before=True, gain="G"),
    "pre-norm-flow": SystemShape("V", "M", euclidean=True, before=True, gain="G"),
    "peri-norm-map": SystemShape("V", "M", is_map=True, euclidean=True, before=True, gain="G", second="H"),
    "peri-norm-flow": SystemShape("V", "M", euclidean=True, before=True, gain="G", second="H"),
    "post-norm-map": SystemShape("V", "M", is_map=True, gain="G"),
    "post-norm-flow": SystemShape("V", "M", gain="G"),
}


#: Systems that the re-check of refutations knows, though that of points has no equation for them.
WITHOUT_POINTS = ("rotary-flow",)


def not_written(name: object, known: Mapping[str, SystemShape] = SHAPES) -> str:
    """Why nothing is confirmed of a system of another package, or of one whose scores depend on positions."""
    return (
        f"the system {str(name)[:40]!r}: the re-checker has equations of its own for {', '.join(known)} only, "
        "and runs none that it is given"
    )


@dataclass(frozen=True)
class Attention:
    """A system with its parameters as exact balls."""

    shape: SystemShape
    n: int
    d: int
    pairs: Sequence[tuple[flint.arb_mat, flint.arb_mat]]
    mask: Sequence[Sequence[int]]
    metric: flint.arb_mat | None
    positions: Sequence[flint.arb_mat] | None
    alpha: flint.arb
    gain: flint.arb_mat | None = None
    second: flint.arb_mat | None = None

    def push(self, x: list[acb]) -> tuple[list[acb], list[list[acb]]]:
        """``u_i`` (columns) and ``d u_i / d x_k`` (matrices) at tokens given as columns of balls.

        With a norm before, after or around it by the chain rule: the derivative of ``x/|x|`` is ``(I - e e^T)/|x|``.
        """
        u, slopes = self._sublayer(self.seen(x))
        if self.shape.before or self.gain is not None:
            inner = [self._reading(each) for each in x]
            slopes = [[part * inner[k] for k, part in enumerate(row)] for row in slopes]
        if self.shape.second is not None:
            turns = [_direction_slope(each) for each in u]
            u = [self._behind(_direction(each)) for each in u]
            slopes = [[self._behind(turn * part) for part in row] for turn, row in zip(turns, slopes, strict=True)]
        return u, slopes

    def seen(self, x: list[acb]) -> list[acb]:
        """What attention reads."""
        y = x if self.positions is None else [a + b for a, b in zip(x, self.positions, strict=True)]
        y = [_direction(each) for each in y] if self.shape.before else y
        return y if self.gain is None else [self.gain * each for each in y]

    def carried(self, x: acb) -> acb:
        """What the step of a map is added to: ``G x`` on the sphere, else x."""
        return x if self.gain is None or self.shape.euclidean else self.gain * x

    def _reading(self, x: acb) -> acb:
        """The derivative of what attention reads of a token."""
        inner = _direction_slope(x) if self.shape.before else _identity(self.d)
        return inner if self.gain is None else self.gain * inner

    def _behind(self, thing: acb) -> acb:
        return thing if self.second is None else self.second * thing

    def _sublayer(self, y: list[acb]) -> tuple[list[acb], list[list[acb]]]:
        """The push and its derivative in the tokens that attention reads."""
        u = [arb_mat(self.d, 1) for _ in range(self.n)]
        slopes = [[arb_mat(self.d, self.d) for _ in range(self.n)] for _ in range(self.n)]
        for value, score in self.pairs:
            for i in range(self.n):
                m, parts = self._mean(y, i, score)
                u[i] = u[i] + (m if value is None else value * m)
                for k, part in parts.items():
                    slopes[i][k] = slopes[i][k] + (part if value is None else value * part)
        return u, slopes

    def _mean(self, y: list[Any], i: int, score: Any) -> tuple[Any, dict[int, Any]]:
        seen = [j for j in range(self.n) if self.mask[i][j]]
        if not seen:
            raise RecheckError("a token sees no token")
        if score is None:
            terms = {j: arb(1) for j in seen}
        else:
            row = y[i].transpose() * score
            terms = {j: (row * y[j])[0, 0].exp() for j in seen}
        total = sum(terms.values(), arb(0))
        share = {j: term / total for j, term in terms.items()}
        b = arb_mat(self.d, 1)
        for j in seen:
            b = b + y[j] * share[j]
        r = 1 / arb(self.d).sqrt() if self.shape.root else arb(1)
        parts: dict[int, Any] = {j: _identity(self.d) * (share[j] * r) for j in seen}
        if score is not None:
            left = y[i].transpose() * score
            parts.setdefault(i, arb_mat(self.d, self.d))
            for j in seen:
                off = (y[j] - b) * (share[j] * r)
                parts[j] = parts[j] + off * left
                parts[i] = parts[i] + off * (score * y[j]).transpose()
        return b * r, parts

    def weigh(self, x: Any) -> Any:
        """``W x``, symmetric part of W."""
        return x if self.metric is None else self.metric * x


def _length(x: Any) -> Any:
    square = (x.transpose() * x)[0, 0]
    if not square > 0:
        raise RecheckError("a vector that is normalised is not shown to be nonzero")
    return square.sqrt()


def _direction(x: Any) -> Any:
    """``x/|x|``."""
    return x * (1 / _length(x))


def _direction_slope(x: Any) -> Any:
    """``(I - e e^T)/|x|`` with ``e = x/|x|``."""
    e = _direction(x)
    return (_identity(x.nrows()) - e * e.transpose()) * (1 / _length(x))


def _identity(d: int) -> Any:
    return arb_mat(d, d, [int(r == c) for r in range(d) for c in range(d)])


def _ball(text: Any) -> Any:
    return arb(float.fromhex(str(text)))


def _matrix(rows: Any, d: int) -> Any:
    entries = [_ball(entry) for row in rows for entry in row]
    if len(rows) != d or len(entries) != d * d:
        raise RecheckError(f"a parameter must be a {d} x {d} matrix")
    return arb_mat(d, d, entries)


def read_attention(data: Mapping[str, Any]) -> Attention:
    """The system of a certificate."""
    shape = SHAPES.get(str(data["system"]))
    if shape is None:
        raise RecheckError(f"nothing is confirmed of {not_written(data['system'])}")
    n, d = int(data["n"]), int(data["d"])
    parameters = data["parameters"]
    if not (0 < n <= 1000 and 0 < d <= 1000):
        raise RecheckError("a state has at least one token of at least one dimension")
    groups = list(parameters["heads"]) if shape.heads else [parameters]
    pairs = []
    for group in groups:
        value, score = (None if name is None else group.get(name) for name in (shape.value, shape.score))
        pairs.append((None if value is None else _matrix(value, d), None if score is None else _matrix(score, d)))
    if not pairs:
        raise RecheckError("a multi-head system needs at least one head")
    mask = [[1] * n for _ in range(n)] if data["mask"] is None else [[int(v) for v in row] for row in data["mask"]]
    if len(mask) != n or any(len(row) != n for row in mask):
        raise RecheckError("the mask does not fit the tokens")
    held = None if shape.metric is None else parameters.get(shape.metric)
    metric = None if held is None else _matrix(held, d)
    if metric is not None:
        metric = (metric + metric.transpose()) * arb("0.5")
    placed = parameters.get("positions")
    positions = None if placed is None else [arb_mat(d, 1, [_ball(e) for e in row]) for row in placed]
    alpha = _ball(parameters["alpha"]) if shape.is_map else None
    gains = [None if name is None else _matrix(parameters[name], d) for name in (shape.gain, shape.second)]
    return Attention(shape, n, d, pairs, mask, metric, positions, alpha, *gains)
