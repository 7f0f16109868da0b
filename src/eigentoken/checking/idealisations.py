"""What a verdict about a layer leaves out, each with its size: measured on random tokens, or certified."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal

from eigentoken.documents.check_document import IdealisationRow, Interval, Layer, Observed

__all__ = ["NOT_MEASURED", "idealisations", "size_text"]

NOT_MEASURED: Final = "not measured"

#: The measured quantity of :func:`eigentoken.checking.observe.observe` behind each idealisation.
MEASURED = {
    "step": "attention_to_state",
    "step of a map": "own_step",
    "normalisation": "length_spread",
    "centring": "centring",
    "no normalisation": "norm_change",
    "gains": "gains",
    "biases": "biases",
    "feed-forward": "feed_forward",
}


def idealisations(layers: Sequence[Layer], observed: Sequence[Observed]) -> list[IdealisationRow]:
    """Each idealisation that stands beside some verdict: what it says, its size in each layer, certified bounds.

    ``measured`` is a number a layer (``None`` where the tokens overflowed before), or ``not measured``.  ``certified`` is an
    interval a layer for the step (``alpha |F|`` with ``alpha = 1``) and for the factor ``sqrt(d)``, else ``None``.
    """
    from eigentoken.theory.statements.layer_systems import IDEALISATIONS

    used = {name for layer in layers for each in layer["hypotheses"] for name in each["idealisations"]}
    found: list[IdealisationRow] = []
    for name, says in IDEALISATIONS.items():
        if name in used:
            certified = [_certified(name, layer) for layer in layers]
            found.append(
                {
                    "name": name,
                    "says": says,
                    "measured": _measured(name, len(layers), observed),
                    "certified": certified if any(each is not None for each in certified) else None,
                }
            )
    return found


def _measured(name: str, count: int, observed: Sequence[Observed]) -> Literal["not measured"] | list[float | None]:
    key = MEASURED.get(name)
    if key is None or not observed:
        return NOT_MEASURED
    sizes = {each["layer"]: each["left_out"][key] for each in observed}
    return [sizes.get(index) for index in range(count)]


def _certified(name: str, layer: Layer) -> Interval:
    if name == "step":
        return layer["norm"]
    if name in {"weights over root d", "unit tokens"}:
        root = math.sqrt(layer["d"])
        exact = math.isqrt(layer["d"]) ** 2 == layer["d"]
        return [root, root] if exact else [math.nextafter(root, 0.0), math.nextafter(root, math.inf)]
    return None


def size_text(found: IdealisationRow) -> str:
    """The size over the layers as a reader sees it: a number, a range, or ``not measured``; certified bounds beside it."""
    from eigentoken.checking.intervals import interval

    parts: list[str] = []
    measured = found["measured"]
    if isinstance(measured, str):
        parts += [measured] if found["certified"] is None or found["name"] == "step" else []
    else:
        known = [value for value in measured if value is not None]
        parts.append(_range(min(known), max(known)) if known else NOT_MEASURED)
    if found["certified"] is not None:
        ends = [tuple(map(float, each)) for each in found["certified"] if each is not None]
        whole = interval((min(low for low, _ in ends), max(high for _, high in ends)), 3)
        parts.append(f"|F| {whole} (certified)" if found["name"] == "step" else f"a factor of {whole}")
    return ", ".join(parts)


def _range(low: float, high: float) -> str:
    return f"{low:.2g}" if f"{low:.2g}" == f"{high:.2g}" else f"{low:.2g} to {high:.2g}"
