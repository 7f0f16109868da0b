"""Re-check of ``eigentoken/nearest``: norms, distances and words from the weights, by a table of conditions of its own.

A distance ``[low, high]`` of F to the matrices that meet the conditions is true if every matrix within ``low`` of F breaks one of
them and one within ``high`` meets them all.  *Low*: ``|F - F^T| / 2`` for the symmetric ones; for a real simple leader,
discs of every matrix within that reach whose leader is a pair off the axis, or not positive.  *High*: a matrix is made
here in floats and the conditions are confirmed of it as it stands, so that what the issuer found is not needed; where
no matrix so near was found, the upper end is not confirmed.

The pair ``a +- ib`` that leads has a block B, 2 x 2, of the real Schur form, on a plane with orthonormal basis Z; in the basis
that bisects the axes of sym(B) its diagonal is a, a.  With the smaller of the other two entries taken away the eigenvalues are
real: ``F + Z D Z^T`` has them in place of the pair, and all others of F.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import schur

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.reading import UNCONFIRMED, exact_input
from eigentoken.numerics.recheck.documents.shown import Shown
from eigentoken.numerics.recheck.layers.numbers import (
    ROUND,
    Near,
    SpectrumDiscs,
    exact_sum,
    factors_of,
    interval_differs,
    norm_ends,
    spectra,
)
from eigentoken.numerics.recheck.layers.weight_numbers import WeightNumbers

__all__ = ["CONDITIONS", "recheck_nearest"]

#: What each statement asks of the layer matrix F.
CONDITIONS = {"CT-2": ("symmetric",), "PM-N1": ("leader",), "PM-T1": ("symmetric", "leader")}
#: Statements that ask of a head that its values are symmetric.
OF_SYMMETRIC_HEADS = ("AB-L6.1", "AB-T6.1", "CL-13", "CT-1", "CT-2", "PM-L4", "PM-L9", "PM-N3", "PM-T2", "PM-X1")
#: Words about conditions; the others say that the statement is not about the layer.
WORDS = ("holds", "fails", "undecided")
SHIFTS = (1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
Floats = NDArray[np.float64]
Heads = Sequence[Mapping[str, ArrayLike]]
Path = tuple[str | int, ...]


def recheck_nearest(
    document: Mapping[str, Json],
    heads_of: Callable[[int], Heads],
    written_of: Callable[[int], Heads] | None,
    seconds: float,
) -> Shown:
    """``heads_of(layer)``, ``written_of(layer)``: the heads of the model, and of what was written, if that is there."""
    shown = Shown(document)
    shown.cover(("schema",))
    asked = CONDITIONS.get(document["statement"]["id"])
    layers: dict[int, WeightNumbers] = {}
    for place, row in enumerate(document["layers"]):
        weights = layers[row["layer"]] = WeightNumbers(heads_of(row["layer"]), seconds)
        path: Path = ("layers", place)
        shown.judge((*path, "norm"), weights.number_differs(None, "norm", row["norm"]), UNCONFIRMED)
        _heads(shown, path, row["heads"], weights, document["statement"]["id"])
        if asked is not None and row["word"] in WORDS:
            where = _Layer(weights, asked, seconds)
            shown.judge((*path, "word"), where.word_differs(row["word"]), UNCONFIRMED)
            shown.judge((*path, "distance"), where.distance_differs(row["word"], row["distance"]), UNCONFIRMED)
    written = document["written"]
    if written is None or written_of is None:
        return shown
    for name in ("moved", "scores_moved", "changed"):
        if len(written[name]) != len(_distinct(written["layers_changed"], document)):
            shown.fails(("written", name), "one entry for each changed layer is stated, some are missing")
            return shown
    for place, layer in enumerate(_distinct(written["layers_changed"], document)):
        path = ("written", "moved", place)
        after = WeightNumbers(written_of(layer), seconds)
        change = layers[layer].matrix(None, "values").minus(after.matrix(None, "values"))
        shown.judge(
            path,
            interval_differs(written["moved"][place], norm_ends(change), after.matrix(None, "values").size),
            UNCONFIRMED,
        )
        _scores_moved(shown, place, layers[layer], after)
    for place, word in enumerate(written["words"]):
        if asked is not None and word in WORDS:
            where = _Layer(WeightNumbers(written_of(place), seconds), asked, seconds)
            shown.judge(("written", "words", place), where.word_differs(word), UNCONFIRMED)
    return shown


def _scores_moved(shown: Shown, place: int, before: WeightNumbers, after: WeightNumbers) -> None:
    """How far the scores of an only head moved; nothing is stated where they are as they were."""
    path: Path = ("written", "scores_moved", place)
    stated = shown.document["written"]["scores_moved"][place]
    same = all(
        np.array_equal(one[name], other[name])
        for one, other in zip(before.heads, after.heads, strict=True)
        for name in ("Q", "K")
    )
    if same or len(before.heads) != 1:
        shown.same(path, None)
        return
    if stated is None:
        shown.fails(path, "the scores moved, and nothing is stated")
        return
    one, other = before.matrix(0, "scores"), after.matrix(0, "scores")
    shown.judge(path, interval_differs(stated, norm_ends(one.minus(other)), max(one.size, other.size)), UNCONFIRMED)


def _heads(
    shown: Shown, path: Path, rows: Sequence[Mapping[str, Json]], weights: WeightNumbers, statement: str
) -> None:
    """Norms of the heads; and no head is nearer to statements about symmetric values than to the symmetric matrices."""
    if rows and [row["head"] for row in rows] != list(range(len(weights.heads))):
        shown.fails((*path, "heads"), f"the layer has {len(weights.heads)} heads, one row is stated for each")
        return
    for place, row in enumerate(rows):
        for name, role in (("norm", "values"), ("score_norm", "scores")):
            where, size = (*path, "heads", place, name), weights.matrix(place, role).size
            shown.judge(where, interval_differs(row[name], weights.norm(place, role), size), UNCONFIRMED)
        away, stated = weights.to_symmetric(place, "values"), row["distance"]
        if statement in OF_SYMMETRIC_HEADS and away is not None and stated is not None:
            give = ROUND * weights.matrix(place, "values").size
            if float(stated[1]) < away[0] - give:
                why = f"{stated[1]} is stated from above, the symmetric matrices are at least {away[0]:.17g} away"
                shown.fails((*path, "heads", place, "distance"), why)


def _distinct(changed: Sequence[int], document: Mapping[str, Any]) -> list[int]:
    """The changed layers that have weights of their own."""
    own = [row["layer"] for row in document["layers"]]
    return [layer for layer in changed if layer in own]


class _Layer:
    """One layer matrix and the conditions that are asked of it."""

    def __init__(self, weights: WeightNumbers, asked: Sequence[str], seconds: float) -> None:
        self.weights, self.asked, self.seconds = weights, asked, seconds
        self.near = weights.matrix(None, "values")
        self.exact = exact_sum(factors_of(weights.heads, "values"))

    def _discs(self, reach: float) -> Iterator[SpectrumDiscs]:
        yield from spectra(self.exact, time.monotonic() + self.seconds, Fraction(reach))

    def meets(self) -> bool | None:
        """Are the conditions met by the layer matrix itself?"""
        if "symmetric" in self.asked and self.exact.numerators != self.exact.numerators.transpose():
            return False
        if "leader" not in self.asked:
            return True
        return next((found for discs in self.weights.spectrum if (found := _real_leader(discs)) is not None), None)

    def breaks_within(self, reach: float, give: float) -> bool:
        """Does every matrix within that distance, less ``give``, break a condition?"""
        if "symmetric" in self.asked:
            away = self.weights.to_symmetric(None, "values")
            if away is not None and reach - give < away[0]:
                return True
        return "leader" in self.asked and any(_real_leader(discs) is False for discs in self._discs(reach))

    def neighbour(self) -> float | None:
        """The distance, from above, of a matrix that meets the conditions."""
        found = (self._confirmed(each) for each in _candidates(self.near.values, self.asked))
        return min((each for each in found if each is not None), default=None)

    def _confirmed(self, made: Floats) -> float | None:
        if "symmetric" in self.asked and not np.array_equal(made, made.T):
            return None
        if "leader" in self.asked:
            discs = spectra(exact_input(made), time.monotonic() + self.seconds)
            if not any(_real_leader(each) for each in discs):
                return None
        ends = norm_ends(self.near.minus(Near(made, 0.0)))
        return None if ends is None else ends[1]

    def word_differs(self, word: str) -> str | None:
        if word == "undecided":
            return None  # nothing is stated
        met = self.meets()
        if met is None:
            return f"{UNCONFIRMED}the conditions were not decided here"
        return None if met == (word == "holds") else f"{word} is stated, the weights give {'holds' if met else 'fails'}"

    def distance_differs(self, word: str, stated: Any) -> str | None:
        if stated is None:
            return None  # nothing is stated
        low, high = (float(end) for end in stated)
        if not 0 <= low <= high:
            return "a distance is an interval of numbers that are not negative"
        if word == "holds":
            return (
                None
                if (low, high) == (0.0, 0.0)
                else f"{stated} is stated, where the conditions hold the distance is 0"
            )
        give = ROUND * self.near.size
        nearest = self.neighbour()
        if nearest is not None and nearest + give < low:
            return f"{low:.17g} is stated from below, a matrix that meets the conditions is within {nearest:.17g}"
        if np.isfinite(high) and self.breaks_within(high, -give):
            return f"{high:.17g} is stated from above, no matrix within that meets the conditions"
        if not self.breaks_within(low, give):
            return f"{UNCONFIRMED}the low end: not every matrix within it was seen to break a condition"
        if np.isfinite(high) and (nearest is None or nearest > high + give):
            return f"{UNCONFIRMED}the high end: no matrix so near was found here that meets the conditions"
        return None


def _real_leader(discs: SpectrumDiscs) -> bool | None:
    """Is the leader by real part real, simple and positive; certainly, certainly not, or not known?"""
    kind, ends = discs.leader("real-part"), discs.largest_real_part()
    if kind == "2" or ends[1] <= 0:
        return False
    return True if kind == "1" and ends[0] > 0 else None


def _candidates(F: Floats, asked: Sequence[str]) -> Iterator[Floats]:
    """Matrices near F that may meet the conditions."""
    base = 0.5 * (F + F.T) if "symmetric" in asked else F
    if "leader" not in asked:
        yield base
        return
    size = float(np.linalg.norm(base, 2)) or 1.0
    for shift in (share * size for share in SHIFTS):
        if "symmetric" in asked:
            values, vectors = np.linalg.eigh(base)
            wanted = max(0.0, float(values[-2]) if len(values) > 1 else 0.0) + shift
            lifted = base + max(0.0, wanted - float(values[-1])) * np.outer(vectors[:, -1], vectors[:, -1])
            yield 0.5 * (lifted + lifted.T)
        else:
            yield from (made for made in (_plane_made_real(F, shift), _raised(F, shift)) if made is not None)


def _plane_made_real(F: Floats, shift: float) -> Floats | None:
    """See the head of this module; the larger of the two eigenvalues is put at least ``shift`` above the other and 0."""
    T, Q = schur(F, output="real")
    pairs = [k for k in range(len(T) - 1) if T[k + 1, k] != 0]
    lead = max(pairs, key=lambda k: T[k, k] + T[k + 1, k + 1], default=None)
    if lead is None:
        return None
    Z, B = Q[:, lead : lead + 2], T[lead : lead + 2, lead : lead + 2]
    axes = np.linalg.eigh(0.5 * (B + B.T))[1]
    turned = axes @ np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2.0)
    D, there = np.zeros((2, 2)), turned.T @ B @ turned
    gone = (0, 1) if abs(there[0, 1]) < abs(there[1, 0]) else (1, 0)
    D[gone] = -there[gone]
    D[0, 0] = max(shift, shift - there[0, 0])
    return np.asarray(F + Z @ turned @ D @ turned.T @ Z.T)


def _raised(F: Floats, shift: float) -> Floats | None:
    """The largest real eigenvalue moved ahead of all others along its eigenvectors."""
    values, right = np.linalg.eig(F)
    real = np.flatnonzero(values.imag == 0)
    if not len(real):
        return None
    place = int(real[np.argmax(values[real].real)])
    try:
        left = np.linalg.inv(right)[place].real
    except np.linalg.LinAlgError:
        return None
    ahead = max(0.0, float(np.delete(values.real, place).max(initial=-np.inf))) + shift
    made = F + max(0.0, ahead - float(values[place].real)) * np.outer(right[:, place].real, left)
    return np.asarray(made) if np.isfinite(made).all() else None
