"""Re-check of ``eigentoken/compare``: every interval and leader from the weights, every direction from the intervals.

What the weights alone do not give behind the wall (regimes, which statements apply, labels) is not covered here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from numpy.typing import ArrayLike

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.reading import UNCONFIRMED
from eigentoken.numerics.recheck.documents.shown import Shown
from eigentoken.numerics.recheck.layers.weight_numbers import WeightNumbers

__all__ = ["recheck_comparison"]

Heads = Sequence[Mapping[str, ArrayLike]]
Path = tuple[str | int, ...]


def recheck_comparison(
    document: Mapping[str, Json],
    heads_of: Callable[[int, int], Heads],
    seconds: float,
    done: Callable[[], None] = lambda: None,
) -> Shown:
    """``heads_of(model, layer)``: the heads of a layer of a model, as stored."""
    shown = Shown(document)
    shown.cover(("schema",))
    for place, layer in enumerate(document["layers"]):
        path: Path = ("layers", place)
        parts: list[tuple[int | None, Path, Mapping[str, Any]]] = [(None, path, layer)]
        parts += [(each["head"], (*path, "heads", number), each) for number, each in enumerate(layer["heads"])]
        for model in range(len(document["models"])):
            weights = WeightNumbers(heads_of(model, layer["layer"]), seconds)
            if len(layer["heads"]) != len(weights.heads):
                shown.fails((*path, "heads"), f"{len(layer['heads'])} heads are stated, there are {len(weights.heads)}")
                continue
            for head, below, stated in parts:
                _judge(shown, weights, model, head, below, stated)
            done()
        for head, below, stated in parts:
            if head is not None:
                shown.same((*below, "head"), below[-1])
            for number, each in enumerate(stated["numbers"]):
                _directions(shown, (*below, "numbers", number), each["values"])
    return shown


def _judge(
    shown: Shown, weights: WeightNumbers, model: int, head: int | None, path: Path, stated: Mapping[str, Any]
) -> None:
    """Everything that is stated of one model there."""
    if head is not None and not head < len(weights.heads):
        shown.fails((*path, "head"), "there is no such head")
        return
    for kind, differs in (("numbers", weights.number_differs), ("words", weights.word_differs)):
        for number, each in enumerate(stated[kind]):
            if len(each["values"]) <= model:
                shown.fails((*path, kind, number, "values"), "a value a model is stated, one is missing")
                continue
            why = differs(head, each["quantity"], each["values"][model])
            if why is not None and why.startswith(f"{UNCONFIRMED}nothing is known"):
                continue  # not covered
            shown.cover((*path, kind, number, "quantity"))
            shown.judge((*path, kind, number, "values", model), why, UNCONFIRMED)


def _directions(shown: Shown, path: Path, values: Sequence[Any]) -> None:
    """A number rises or falls where the stated intervals part; null and open ends part from nothing."""
    shown.same((*path, "steps"), [_direction(before, after) for before, after in pairwise(values)])
    shown.same((*path, "overall"), _direction(values[0], values[-1]))


def _direction(before: Any, after: Any) -> str:
    if before is None or after is None:
        return "not parted"
    if float(before[1]) < float(after[0]):
        return "rises"
    return "falls" if float(after[1]) < float(before[0]) else "not parted"
