"""What a comparison found, in sentences: every count comes from intervals that part, or from certified verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from eigentoken.checking.sentences import layers_text
from eigentoken.numerics.layers.changes import beyond_both_ends

if TYPE_CHECKING:
    from eigentoken.comparing.compare import Comparison
    from eigentoken.documents.compare_document import ComparedHead, ComparedLayer, ComparedNumber, Direction

__all__ = ["sentences", "spans"]

#: How a reader is told of each number of a layer and of a head.
LAYER_NUMBERS = {
    "leading eigenvalue": "the largest real part of an eigenvalue of F",
    "gap": "its gap to the next",
    "norm": "the norm of F",
    "distance to symmetric over norm": "the distance of F to the symmetric matrices over its norm",
}
HEAD_NUMBERS = {
    "score norm": "the norm of the scores P",
    "value norm": "the norm of the values U",
    "score distance to symmetric over norm": "the distance of P to the symmetric matrices over its norm",
    "value distance to symmetric over norm": "the distance of U to the symmetric matrices over its norm",
}
REAL = "a real simple eigenvalue leads"
#: A saved step between the first and the last, beyond both of them.
BETWEEN: dict[Direction, str] = {"rises": "higher than at both ends", "falls": "lower than at both ends"}


def number_named(numbers: Sequence[ComparedNumber], name: str) -> ComparedNumber:
    return next(each for each in numbers if each["quantity"] == name)


def words_named(of: ComparedLayer | ComparedHead, name: str) -> list[str]:
    return next(each["values"] for each in of["words"] if each["quantity"] == name)


def spans(values: Sequence[str], labels: Sequence[str]) -> str:
    """``2 (step0 to step30), 1 (step60)``: equal neighbours together."""
    parts = []
    for value, group in groupby(zip(values, labels, strict=True), key=lambda pair: pair[0]):
        named = [label for _, label in group]
        parts.append(f"{value} ({named[0]}{f' to {named[-1]}' if len(named) > 1 else ''})")
    return ", ".join(parts)


def sentences(found: Comparison) -> list[str]:
    """Cases, numbers of the layers, heads, statements."""
    layers, labels = found.document["layers"], found.labels
    count = sum(len(each["used_by"]) for each in layers)
    said = [f"from {labels[0]} to {labels[-1]}:"]
    for layer in layers:
        cases = words_named(layer, "case by real-part")
        if len(set(cases)) > 1:
            said.append(f"the case of layer {layer['layer']} by real part: {spans(cases, labels)}")
    for name, text in LAYER_NUMBERS.items():
        moved = {way: _layers_that(layers, name, way) for way in ("rises", "falls")}
        parts = [f"{way} in {layers_text(which, count)}" for way, which in moved.items() if which]
        between = {way: _layers_beyond(layers, name, way) for way in BETWEEN}
        turned = [f"{BETWEEN[way]} in {layers_text(which, count)}" for way, which in between.items() if which]
        if parts or turned:
            said.append(_told(text, parts, turned))
    return [*said, *_heads(layers), *_statements(found, count)]


def _layers_that(layers: Sequence[ComparedLayer], name: str, way: str) -> list[int]:
    moved = [each for each in layers if number_named(each["numbers"], name)["overall"] == way]
    return sorted(number for each in moved for number in each["used_by"])


def _layers_beyond(layers: Sequence[ComparedLayer], name: str, way: Direction) -> list[int]:
    turned = [each for each in layers if way in beyond_both_ends(number_named(each["numbers"], name)["values"])]
    return sorted(number for each in turned for number in each["used_by"])


def _told(text: str, parts: Sequence[str], turned: Sequence[str]) -> str:
    """From the first model to the last, and where one between them lies beyond both."""
    said = " and ".join(parts) or "is not told apart at the ends"
    between = f"; between them it was {' and '.join(turned)}" if turned else ""
    return f"{text} {said}{between} (certified)"


def _heads(layers: Sequence[ComparedLayer]) -> list[str]:
    heads = [(layer["layer"], head) for layer in layers for head in layer["heads"]]
    said = []
    for name, text in HEAD_NUMBERS.items():
        numbers = [number_named(head["numbers"], name) for _, head in heads]
        ways = [each["overall"] for each in numbers]
        moved = [(way, ways.count(way)) for way in ("rises", "falls") if way in ways]
        parts = [f"{way} in {_of(number, len(heads)) if not at else number}" for at, (way, number) in enumerate(moved)]
        beyond = {way: sum(way in beyond_both_ends(each["values"]) for each in numbers) for way in BETWEEN}
        turned = [f"{BETWEEN[way]} in {_of(number, len(heads))}" for way, number in beyond.items() if number]
        if parts or turned:
            said.append(_told(text, parts, turned))

    def those(test: Callable[[list[str]], bool]) -> list[str]:
        return [f"{layer}.{head['head']}" for layer, head in heads if test(words_named(head, REAL))]

    first, last = those(lambda v: v[0] == "holds"), those(lambda v: v[-1] == "holds")
    said.append(
        f"a real simple eigenvalue leads U in {len(first)} of {len(heads)} heads at first and in {len(last)} at last"
    )
    won = those(lambda v: v[0] == "fails" and v[-1] == "holds")
    lost = those(lambda v: v[0] == "holds" and v[-1] == "fails")
    named = [f"{word} {_some(which)}" for word, which in (("it came in heads", won), ("went in", lost)) if which]
    return [*said, f"{' and '.join(named)} (layer.head)"] if named else said


def _of(number: int, count: int) -> str:
    """``all 16 heads``, ``3 of 16 heads``."""
    return f"all {count} heads" if number == count else f"{number} of {count} heads"


def _some(names: Sequence[str], most: int = 12) -> str:
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def _statements(found: Comparison, count: int) -> list[str]:
    return [
        f"{each['title']} ({each['id']}) is known to apply to "
        + spans([layers_text(which, count) if which else "no layer" for which in each["applies_to"]], found.labels)
        for each in found.document["statements"]
    ]
