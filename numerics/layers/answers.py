"""What was found about one layer: each question is answered once, whatever statement asks it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar, cast

from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.systems.system import System

__all__ = ["Answers"]

Found = TypeVar("Found")


@dataclass(eq=False)
class Answers:
    """The answers about one layer, or about one of its heads (:meth:`of_head`)."""

    _found: dict[Hashable, object] = field(default_factory=dict, repr=False)
    _heads: dict[int, Answers] = field(default_factory=dict, repr=False)
    _conditions: dict[Hashable, dict[Condition, Verdict | None]] = field(default_factory=dict, repr=False)

    def once(self, key: Hashable, compute: Callable[[], Found]) -> Found:
        """Compute it once; enclosures in the key count by identity (they are kept alive by the key itself)."""
        if key not in self._found:
            self._found[key] = compute()
        return cast(Found, self._found[key])

    def of_head(self, index: int) -> Answers:
        """The answers about one head."""
        return self._heads.setdefault(index, Answers())

    def conditions(self, listed: System) -> dict[Condition, Verdict | None]:
        """The conditions that were read on the letters of a system, for any statement; ``None``: they speak of tokens."""
        key = (listed.value, listed.score, listed.metric, listed.multihead)
        return self._conditions.setdefault(key, {})

    def verdicts(self) -> Iterator[Verdict]:
        """Every verdict among the answers about the layer itself."""
        yield from (each for each in self._found.values() if isinstance(each, Verdict))
