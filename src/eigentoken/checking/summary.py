"""The statements of a report in the groups that a reader is told: every list and count on the screen comes from here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from eigentoken.checking.report import Report
from eigentoken.documents.check_document import AsIfCounts, Head, Statement

__all__ = [
    "Groups",
    "difference_text",
    "groups",
    "heads_of",
    "in_words",
    "met_as_one_head",
    "regime_heading",
    "systems_of",
]

Told = Statement

#: How a reader is told of each part in which a statement's system may differ.
PARTS = {
    "heads": "heads",
    "mask": "mask",
    "positions": "positions",
    "scores": "uniform weights",
    "metric": "scores as metric",
    "values": "values I",
    "map": "changed map",
    "matrices": "an example's own matrices",
    "system": "no system named",
}


#: So many ways in which statements are not about a model are told; what is left is counted together.
MOST_REASONS = 6


@dataclass(frozen=True)
class Groups:
    """Statements that claim something, by their answer over all layers; definitions, which claim nothing, apart.

    ``partly``: those that hold in some layers but not in all, with the number of layers.
    """

    holds: tuple[Told, ...]
    fails: tuple[Told, ...]
    undecided: tuple[Told, ...]
    not_about: tuple[Told, ...]
    asks_nothing: tuple[Told, ...]
    asks_invertible: tuple[Told, ...]
    no_condition: tuple[Told, ...]
    partly: tuple[tuple[Told, int], ...]
    definitions: tuple[Told, ...]

    def parts(self) -> dict[str, int]:
        """For what is not about the model: how many statements differ in each part (one may differ in several)."""
        found: dict[str, int] = {}
        for each in self.not_about:
            for part in {differing["part"] for differing in each["differs"]}:
                found[part] = found.get(part, 0) + 1
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))

    def parts_text(self) -> str:
        """``heads 61; heads and mask 20; otherwise 3``: each statement once, so that the numbers add up."""
        order = list(self.parts())
        found = Counter(
            tuple(sorted({differing["part"] for differing in each["differs"]}, key=order.index))
            for each in self.not_about
        )
        often = [(parts, number) for parts, number in found.most_common(MOST_REASONS) if number > 1]
        said = [f"{_listed([PARTS.get(part, part) for part in parts])} {number}" for parts, number in often]
        rest = found.total() - sum(number for _, number in often)
        return "; ".join([*said, *([f"otherwise {rest}"] if rest else [])])


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def groups(report: Report) -> Groups:
    """The statements by what is said of them."""
    claims = [each for each in report.statements if each["kind"] != "definition"]

    def having(word: str) -> tuple[Told, ...]:
        return tuple(each for each in claims if each["word"] == word)

    partly = [(each, each["layers"].count("holds")) for each in claims if each["word"] != "holds"]
    return Groups(
        holds=having("holds"),
        fails=having("fails"),
        undecided=having("undecided"),
        not_about=having("not about this model"),
        asks_nothing=having("asks nothing of the weights"),
        asks_invertible=having("asks only invertibility"),
        no_condition=having("no condition on weights"),
        partly=tuple((each, count) for each, count in partly if count),
        definitions=tuple(each for each in report.statements if each["kind"] == "definition"),
    )


def difference_text(told: Told, layers: int) -> str:
    """Why a statement is not about the model: ``one head; this layer has 12 heads``, and in how many layers if not all."""
    found = []
    for each in told["differs"]:
        where = "" if each["layers"] == layers else f" ({each['layers']} of {layers} layers)"
        found.append(f"{each['statement']}; this layer has {each['layer']}{where}")
    return " / ".join(found)


def met_as_one_head(report: Report, of: Literal["layers", "heads"]) -> list[tuple[Told, int]]:
    """What is met as if there were one head, by the sums of the heads (``layers``) or in single heads (``heads``)."""
    counted = [
        (each, each["as_one_head"][of]["met as if one head"]) for each in report.statements if each["as_one_head"]
    ]
    return [(each, count) for each, count in counted if count]


def heads_of(report: Report) -> list[Head]:
    """All heads, those of shared layers once."""
    return [head for layer in report.layers if layer["layer"] == layer["weights_of"] for head in layer["heads"]]


def met_of(counts: AsIfCounts) -> str:
    """``3/8``: how many of those that were read meet the conditions; empty without any."""
    met, apart = counts["met as if one head"], counts["not met as if one head"] + counts["undecided as if one head"]
    return f"{met}/{met + apart}" if met + apart else ""


def in_words(found: Sequence[Told]) -> str:
    """The statements with their titles, or ``none``."""
    return ", ".join(f"{each['title']} ({each['id']})" for each in found) or "none"


def regime_heading(report: Report) -> str:
    """``regime``, with what it is of where that is not the layers themselves."""
    of = {layer["regime"]["of"] for layer in report.layers}
    return "regime (as if one head)" if "as if one head" in of else "regime"


def systems_of(report: Report) -> list[str]:
    """What the layers are, each different description once, with the layers that have it."""
    found: dict[str, list[int]] = {}
    for layer in report.layers:
        found.setdefault(layer["system"]["says"], []).append(layer["layer"])
    if len(found) == 1:
        return list(found)
    return [f"{says} (layers {', '.join(map(str, which))})" for says, which in found.items()]
