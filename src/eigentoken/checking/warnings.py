"""What a reader of a report should know before its verdicts: parts of the file that were not read, weights that are all zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["warnings_of"]


def warnings_of(model: Any, layers: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line each: tensors of the file that no layer uses, then zero weights with the layers that have them."""
    from eigentoken.models.loading.left_out import runs

    said: list[str] = list(model.left_out.sentences(model.n_layers))
    zero: dict[tuple[str, ...], list[int]] = {}
    for layer in layers:
        if layer["zero_weights"]:
            zero.setdefault(tuple(layer["zero_weights"]), []).append(layer["layer"])
    for parts, numbers in zero.items():
        which = "layer" if len(numbers) == 1 else "layers"
        said.append(
            f"{which} {runs(numbers)}: every {_listed(parts)} weight is zero; what is said of them is not about trained "
            "weights"
        )
    return said


def _listed(words: Sequence[str]) -> str:
    """``query, key and value``."""
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)
