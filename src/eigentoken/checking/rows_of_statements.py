"""The statements of a report as a reader finds them: applies, nearly, far, undecided, not about this model.

The screen and the page have these groups from here, and what is in the way from :mod:`eigentoken.checking.sentences`.

``nearly`` is about the layers and holds in some of them, or is certified to be closer than a tenth of ``|F|`` wherever it fails;
``far`` is about the layers and neither.  The distance is that of all conditions together, where it is enclosed from both sides;
else that of the conditions that fail, from the verdicts: two-sided where a verdict has the distance itself, else a lower bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from eigentoken.checking.report import Report
from eigentoken.checking.sentences import ends_of, in_the_way, says
from eigentoken.checking.summary import difference_text
from eigentoken.documents.check_document import Layer, Statement
from eigentoken.statement_links import Text, text_of

__all__ = ["ABOUT", "GROUPS", "Bunch", "Distance", "StatementRow", "bunches", "distance_of", "grouped"]

#: Group, heading, what it means; in this order on the page.
GROUPS = (
    ("applies", "Applies", "about every layer, and every condition on weights is certified there"),
    (
        "nearly",
        "Nearly",
        "about these layers; holds in some of them, or is certified to be closer than a tenth of |F| where it fails",
    ),
    ("far", "Far", "about these layers; a condition certifiably fails, and no small change is known that mends it"),
    ("undecided", "Undecided", "about these layers; a condition is neither certified nor refuted in some of them"),
    ("other", "Not about this model", "its system has other heads, mask, positions or shared matrices"),
    ("any", "Asks nothing of the weights", "or only that a matrix is invertible (and it is), or only of the tokens"),
    ("definition", "Definitions", "they claim nothing"),
)
#: The groups of statements that are about the layers of the model and ask something of their weights.
ABOUT = ("applies", "nearly", "far", "undecided")
WORDS = {
    "holds": "applies",
    "undecided": "undecided",
    "not about this model": "other",
    "asks nothing of the weights": "any",
    "asks only invertibility": "any",
    "no condition on weights": "any",
}
#: Closer than this part of ``|F|`` is near; a lower bound below the second says nothing of use and is not shown.
NEAR, USEFUL = 0.1, 1e-3


@dataclass(frozen=True)
class Distance:
    """Of the conditions that fail in a layer, in units of its ``|F|``: at least ``low``; at most ``high``, if that is known."""

    low: float
    high: float | None

    def __str__(self) -> str:
        """As it is read before ``|F|``: ``46 % of``, ``at least 12 times``."""
        ends = [self.low] if self.high is None else [self.low, self.high]
        many = max(ends) >= 10
        shown = list(dict.fromkeys(f"{each:.3g}" if many else f"{100 * each:.3g} %" for each in ends))
        said = " to ".join(shown) + (" times" if many else " of")
        return f"at least {said}" if self.high is None else said


@dataclass(frozen=True)
class StatementRow:
    """One statement of the page; ``holding``: in how many layers it holds; ``mixed``: the layers have different answers."""

    told: Statement
    group: str
    distance: Distance | None
    blocked: tuple[tuple[str, str], ...]
    "The conditions (LaTeX) that are not certified, each with what is told of it."
    differs: str
    holding: int
    mixed: bool

    @cached_property
    def text(self) -> Text | None:
        """The statement itself (a page asks for each of its parts)."""
        return text_of(self.told["id"])


@dataclass(frozen=True)
class Bunch:
    """Statements of a group of which the page tells the same; ``shared`` where they are several."""

    rows: tuple[StatementRow, ...]

    @property
    def shared(self) -> bool:
        """Is what is told of them told once, above them?"""
        return len(self.rows) > 1

    @property
    def first(self) -> StatementRow:
        return self.rows[0]


#: The groups where something is told of each statement that others may share.
BUNCHED = ("nearly", "far", "undecided", "other", "any")


def bunches(group: str, rows: Sequence[StatementRow]) -> list[Bunch]:
    """The rows of a group by what is told of them, in the order of the first of each."""
    if group not in BUNCHED:
        return [Bunch((row,)) for row in rows]
    found: dict[tuple[object, ...], list[StatementRow]] = {}
    for row in rows:
        word = row.told["word"] if group == "any" else ""
        layers = tuple(row.told["layers"]) if row.mixed else ()
        found.setdefault((word, layers, row.distance, row.blocked, row.differs), []).append(row)
    return [Bunch(tuple(each)) for each in found.values()]


def grouped(report: Report) -> dict[str, list[StatementRow]]:
    """Every statement in its group, in the order of the book."""
    found: dict[str, list[StatementRow]] = {name: [] for name, *_ in GROUPS}
    for told in report.statements:
        row = _row(report, told)
        found[row.group].append(row)
    return found


def _row(report: Report, told: Statement) -> StatementRow:
    distances = [_in_layer(layer, told["id"]) for layer, word in _layers(report, told) if word == "fails"]
    known = [each for each in distances if each is not None]
    distance = distance_of(known) if known and len(known) == len(distances) else None
    if distance is not None and distance.high is None and distance.low < USEFUL:
        distance = None
    return StatementRow(
        told,
        _group(told, distance),
        distance,
        tuple((each.condition, says(each, len(report.layers))) for each in in_the_way(report, told["id"])),
        difference_text(told, len(report.layers)) if told["differs"] else "",
        told["layers"].count("holds"),
        len(set(told["layers"])) > 1,
    )


def _layers(report: Report, told: Statement) -> list[tuple[Layer, str]]:
    return list(zip(report.layers, told["layers"], strict=True))


def _group(told: Statement, distance: Distance | None) -> str:
    if told["kind"] == "definition":
        return "definition"
    if told["word"] != "fails":
        return WORDS[told["word"]]
    close = distance is not None and distance.high is not None and distance.high <= NEAR
    return "nearly" if close or "holds" in told["layers"] else "far"


def _in_layer(layer: Layer, name: str) -> Distance | None:
    """Of the conditions of a statement that fail in a layer; ``None`` where one has no margin in a norm of matrices."""
    (reading,) = [each for each in layer["hypotheses"] if each["statement"] == name]
    norm = layer["norm"]
    if norm is None:
        return None
    small, large = float(norm[0]), float(norm[1])
    if not 0 < small <= large:
        return None
    whole = reading["distance"]
    if whole is not None and whole[1] != "inf" and reading["distance_of"] == "F":
        return Distance(float(whole[0]) / large, float(whole[1]) / small)
    failing = [ends_of(each) for each in reading["conditions"].values() if each["verdict"] == "fails"]
    ends = [each for each in failing if each is not None]
    if not failing or len(ends) < len(failing):
        return None
    low = max(low for low, _ in ends)
    high = ends[0][1] if len(ends) == 1 else None  # to mend several conditions together may cost more than each alone
    return Distance(low / large, None if high is None else high / small)


def distance_of(distances: Sequence[Distance]) -> Distance:
    """Over several layers: the smallest and the largest.

    >>> str(distance_of([Distance(0.5, 0.5), Distance(0.25, 0.25)])), str(distance_of([Distance(0.5, None)]))
    ('25 % to 50 % of', 'at least 50 % of')
    """
    highs = [each.high for each in distances]
    high = None if None in highs else max(each for each in highs if each is not None)
    return Distance(min(each.low for each in distances), high)
