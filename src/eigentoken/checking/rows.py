"""The layers and the heads of a report as lists that are also tables.

A row of a frame has plain numbers: the two ends of each certified interval, as ``norm_low`` and ``norm_high``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from eigentoken.display import frame
from eigentoken.documents.check_document import Head, Layer

if TYPE_CHECKING:
    from pandas import DataFrame

    from eigentoken.documents.check_document import Interval

__all__ = ["HeadOfLayer", "HeadRows", "LayerRows", "expanded", "head_numbers", "layer_numbers"]

#: The layer, and one of its heads.
HeadOfLayer: TypeAlias = tuple[Layer, Head]


class LayerRows(list[Layer]):
    """The layers in the order in which a token passes them; one that has the weights of another says so (``weights_of``)."""

    def to_frame(self) -> DataFrame:
        """One row a layer: its case, its regime, and the ends of its certified intervals (pandas)."""
        return frame((layer_numbers(layer) for layer in self), "layer")


class HeadRows(list[HeadOfLayer]):
    """The heads with their layers; those of layers that share their weights once."""

    def to_frame(self) -> DataFrame:
        """One row a head: leader, regime, and the ends of its certified intervals (pandas)."""
        made = frame(head_numbers(layer, head) for layer, head in self)
        return made if made.empty else made.set_index(["layer", "head"])


def expanded(entries: Iterable[Layer]) -> LayerRows:
    """Every layer that a token passes, from the entries of a document, which holds shared weights once."""
    every: list[Layer] = [{**entry, "layer": number} for entry in entries for number in entry["used_by"]]
    return LayerRows(sorted(every, key=lambda layer: layer["layer"]))


def _ends(found: Mapping[str, Interval]) -> dict[str, float | None]:
    """Two columns an interval; both empty where nothing is known."""
    columns: dict[str, float | None] = {}
    for name, ends in found.items():
        for end, value in zip(("low", "high"), ends or (None, None), strict=True):
            columns[f"{name}_{end}"] = None if value is None else float(value)
    return columns


def layer_numbers(layer: Layer) -> dict[str, object]:
    """One layer as a row."""
    intervals: dict[str, Interval] = {
        "leading_eigenvalue": layer["leading_eigenvalue"],
        "gap": layer["gap"],
        "alpha_star": layer["alpha_star"],
        "norm": layer["norm"],
        "distance_to_symmetric": layer.get("distance_to_symmetric"),
        "distance_to_identity": layer.get("distance_to_identity"),
        "distance_to_positive_definite": layer.get("distance_to_positive_definite"),
        "score_distance_to_symmetric": layer.get("score_distance_to_symmetric"),
        "score_distance_to_positive_definite": layer.get("score_distance_to_positive_definite"),
    }
    words = {"layer": layer["layer"], "weights_of": layer["weights_of"], "heads": len(layer["heads"])}
    cases = {f"case_by_{order.replace('-', '_')}": case for order, case in layer["cases"].items()}
    return {**words, **cases, "regime": layer["regime"]["regime"], **_ends(intervals)}


def head_numbers(layer: Layer, head: Head) -> dict[str, object]:
    """One head as a row."""
    leader = head["value_leader"]
    found = leader["details"].get("eigenvalue")
    intervals = {f"score_{name}": ends for name, ends in head["score"].items()}
    intervals |= {f"value_{name}": ends for name, ends in head["value"].items()}
    return {
        "layer": layer["layer"],
        "head": head["head"],
        "leader_real_and_simple": leader["verdict"],
        "leading_eigenvalue": found["re"] if found else None,
        "regime": head["regime"]["regime"],
        "met_as_if_alone": sum(each["word"] == "met as if one head" for each in head["hypotheses"]),
        **_ends(intervals),
    }
