"""What the bounds at given tokens said of the sample models when they were last run: read from the record, never typed.

``benchmarks/table_bounds.py`` writes the record (proofs/bounds_on_samples.json) and the page docs/tables/bounds.md from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypedDict

__all__ = ["RECORD", "OnSample", "on_samples", "recorded", "sentence"]

RECORD = Path(__file__).parent / "bounds_on_samples.json"


class OnSample(TypedDict):
    """One statement on one sample: in how many places of all it says something, and the medians over them."""

    places: int
    telling: int
    bound: float | None
    measured: float
    ratio: float | None


@lru_cache(maxsize=1)
def recorded() -> Mapping[str, Mapping[str, OnSample]]:
    """By statement, by sample."""
    found: dict[str, dict[str, OnSample]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def sentence(found: OnSample) -> str:
    """``7 of 8: bound 0.161, measured 0.0525, ratio 2.95``."""
    numbers = ["-" if each is None else f"{each:.3g}" for each in (found["bound"], found["measured"], found["ratio"])]
    said = f"{found['telling']} of {found['places']}" if found["telling"] else f"vacuous in all {found['places']}"
    return f"{said}: bound {numbers[0]}, measured {numbers[1]}, ratio {numbers[2]}"


def on_samples(statement: str) -> list[str]:
    """What a reader of the statement should know; nothing where no bound of it is shown by ``check``."""
    found = recorded().get(statement, {})
    if not found:
        return []
    if not any(each["telling"] for each in found.values()):
        return [f"Vacuous on every sample model that it is about ({', '.join(found)})."]
    lines = [f"{name}: says something in {sentence(each)}" for name, each in found.items() if each["telling"]]
    silent = [name for name, each in found.items() if not each["telling"]]
    return [
        "Layers or heads in which the bound says more than what is always true; medians.",
        *lines,
        *([f"Vacuous on {', '.join(silent)}."] if silent else []),
    ]
