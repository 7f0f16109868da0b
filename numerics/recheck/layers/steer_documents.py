"""Re-check of ``eigentoken/steer``: the guarantee of PM-S3 for each token, in balls of 128 bits, from the weights and the tokens.

With the stored matrix O' and bias b, ``kappa_i = r^T o_i`` and ``u_i = (O' - mu w r^T) o_i + b`` the guarantee holds where
``|mu kappa_i| |w| > |x_i| + |u_i|``; then the token ends on the side of ``sign(kappa_i) w``, within an angle whose tangent is at
most ``(|x_i| + |u_i|) / (|mu kappa_i| |w| - |x_i| - |u_i|)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import flint
import numpy as np
from flint import arb, arb_mat
from numpy.typing import ArrayLike

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.reading import UNCONFIRMED
from eigentoken.numerics.recheck.documents.shown import Shown
from eigentoken.numerics.recheck.layers.token_bounds import PRECISION, GivenLayer

__all__ = ["EditedLayer", "recheck_guarantees"]

#: How much wider than what is found here a stated number may be.
LOOSE = 1e-6


@dataclass(frozen=True, eq=False)
class EditedLayer:
    """The stored output matrix O' (d, m) with its bias, and the sequences at the layer before the edit (the same Q, K and V)."""

    output: ArrayLike
    bias: ArrayLike | None
    sequences: Sequence[GivenLayer]


def recheck_guarantees(document: Mapping[str, Json], layer: EditedLayer) -> Shown:
    """Every token of ``tokens.guaranteed.each``, and the counts."""
    shown = Shown(document)
    told = document["tokens"]["guaranteed"]
    old, flint.ctx.prec = flint.ctx.prec, PRECISION
    try:
        found = [each for one in layer.sequences for each in _tokens(document, layer, one)]
    finally:
        flint.ctx.prec = old
    if len(found) != len(told["each"]):
        shown.fails(("tokens", "guaranteed", "each"), f"{len(told['each'])} tokens are stated, {len(found)} were run")
        return shown
    for place, (stated, token) in enumerate(zip(told["each"], found, strict=True)):
        for name, why in token.differs(stated):
            shown.judge(("tokens", "guaranteed", "each", place, name), why, UNCONFIRMED)
    words = [each["verdict"] for each in told["each"]]
    sides = [each["side"] for each in told["each"]]
    tangents = [each["tangent_at_most"] for each in told["each"] if each["tangent_at_most"] is not None]
    counts = {"tokens": len(words), "towards": sides.count("+w"), "away": sides.count("-w")}
    counts |= {word: words.count(word) for word in ("holds", "fails", "undecided")}
    for name, count in counts.items():
        shown.same(("tokens", "guaranteed", name), count)
    shown.same(("tokens", "guaranteed", "largest_tangent_bound"), max(tangents) if tangents else None)
    return shown


@dataclass(frozen=True, eq=False)
class _Token:
    """In balls: kappa, the length of the pull, the lengths beside it, and the cosine with w after the edit."""

    kappa: Any
    pull: Any
    reach: Any
    cosine: Any

    def differs(self, stated: Mapping[str, Any]) -> list[tuple[str, str | None]]:
        return [
            ("verdict", self._word(stated["verdict"])),
            ("kappa", _encloses(stated["kappa"], self.kappa)),
            ("side", self._side(stated["verdict"], stated["side"])),
            ("tangent_at_most", self._tangent(stated["verdict"], stated["tangent_at_most"])),
            ("cosine", None if stated["cosine"] is None else _encloses(stated["cosine"], self.cosine)),
        ]

    def _word(self, word: str) -> str | None:
        if word == "undecided":
            return None  # nothing is stated
        true, false = self.pull > self.reach, self.pull <= self.reach
        if not (true or false):
            return f"{UNCONFIRMED}the lengths are not told apart here"
        return (
            None if true == (word == "holds") else f"{word} is stated, the weights give {'holds' if true else 'fails'}"
        )

    def _side(self, word: str, side: str | None) -> str | None:
        if side is None:
            return (
                None if word != "holds" else f"{UNCONFIRMED}no side is stated of a token that the guarantee holds for"
            )
        true = self.kappa > 0 if side == "+w" else self.kappa < 0
        return (
            None
            if word == "holds" and true
            else f"{side} is stated, kappa is {self.kappa.str(6)} and the guarantee {word}"
        )

    def _tangent(self, word: str, stated: float | None) -> str | None:
        if word != "holds":
            return None if stated is None else "a bound is stated where the guarantee does not hold"
        if stated is None:
            return f"{UNCONFIRMED}no bound is stated"
        least = self.reach / (self.pull - self.reach)
        if arb(stated) < least:
            return f"{stated!r} is stated, the formula gives {least.str(8)}"
        if arb(stated) > least * (1 + LOOSE) + LOOSE:
            return f"{stated!r} is stated, which is more than the formula gives, {least.str(8)}"
        return None if arb(stated) >= least else f"{UNCONFIRMED}the bound is not told from what is found here"


def _encloses(stated: Any, found: Any) -> str | None:
    """Does the stated interval hold the number, and not much beside it?"""
    low, high = stated
    if low is None or high is None:
        return None  # nothing is stated
    if not low <= high or arb(low) > found or arb(high) < found:
        return f"[{low!r}, {high!r}] is stated, {found.str(10)} is found"
    size = abs(found) + LOOSE
    if arb(low) < found - LOOSE * size or arb(high) > found + LOOSE * size:
        return f"{UNCONFIRMED}the interval is wider than what is found here"
    return (
        None if arb(low) <= found and arb(high) >= found else f"{UNCONFIRMED}an end is not told from what is found here"
    )


def _tokens(document: Mapping[str, Any], layer: EditedLayer, given: GivenLayer) -> list[_Token]:
    edit, mu = document["edit"], arb(float(document["strength"]))
    w, r = ([arb(float(value)) for value in edit[name]] for name in ("direction", "row"))
    parts = [given.mixed(head) for head in range(len(given.heads))]
    n = parts[0].nrows()
    rows = [[part[i, k] for part in parts for k in range(part.ncols())] for i in range(n)]
    updates = arb_mat(rows) * arb_mat(np.asarray(layer.output, dtype=np.float64).T.tolist())
    bias = np.zeros(len(w)) if layer.bias is None else np.asarray(layer.bias, dtype=np.float64)
    x, size = np.asarray(given.state, dtype=np.float64), _length(w)
    found = []
    for i in range(n):
        kappa = sum((a * b for a, b in zip(r, rows[i], strict=True)), arb(0))
        whole = [updates[i, k] + arb(float(bias[k])) for k in range(len(w))]
        token = [arb(float(value)) for value in x[i]]
        beside = [a - mu * kappa * b for a, b in zip(whole, w, strict=True)]
        after = [a + b for a, b in zip(token, whole, strict=True)]
        along = abs(sum((a * b for a, b in zip(after, w, strict=True)), arb(0)))
        pull, reach = abs(mu * kappa) * size, _length(token) + _length(beside)
        found.append(_Token(kappa, pull, reach, along / (_length(after) * size)))
    return found


def _length(values: Sequence[Any]) -> Any:
    return sum((value * value for value in values), arb(0)).sqrt()
