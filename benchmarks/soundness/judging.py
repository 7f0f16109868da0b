"""What a case is: one verdict held against the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Case:
    """The answer that was given, and why it is false (empty: it is not)."""

    answer: str
    false: str = ""


#: one seed of a generator, as cases
Generator = Callable[[Any], Iterator[Case]]


@dataclass(frozen=True)
class Domain:
    """A part of the toolkit under attack: its generators by name, and how many cases of a million are its share."""

    name: str
    about: str
    share: int
    generators: Mapping[str, Generator]
    seeds_at_once: int = 50
    weights: Mapping[str, float] = field(
        default_factory=dict
    )  # of costly generators: their part of the cases, 1 by default


def judge(verdict: Any, truth: bool | None, what: str, margin: Callable[[Any], str] | None = None) -> Case:
    """Compare a verdict with the truth (None: undecidable by the construction, any answer is let pass).

    ``margin`` says what is false about the numbers beside the answer.
    """
    answer = str(verdict.answer)
    if answer == "undecided" or truth is None:
        return Case(answer)
    if (answer == "holds") != truth:
        return Case(answer, f"{what}: {answer}, but the truth is {truth}")
    wrong = "" if margin is None else margin(verdict)
    return Case(answer, f"{what}: {answer}, {wrong}" if wrong else "")
