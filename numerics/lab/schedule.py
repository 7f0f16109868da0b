"""Which method has its turn: all of them at first, then those that find something, and none is starved.

A search with a limit of time is shared out as by a bandit: a method is worth what it found for the seconds that it took
(violations that are new, a best violation that rose), with a bonus for what was tried little (UCB1 of Auer, Cesa-Bianchi and
Fischer, 2002, with seconds for counts).  A unit has an allowance of seconds, in which it is cut with what it has; the second
unit of a method has as long as any may have, and one that was cut with nothing is made smaller and gets longer.  A search with a
limit of instances goes through the same units on every machine, whatever they find.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from eigentoken.numerics.lab.gathering import Unit, UnitResult
from eigentoken.numerics.lab.search import methods, units
from eigentoken.numerics.lab.targets import Target

__all__ = ["FIRST_TURNS", "FixedOrder", "Turns"]

#: Seconds in which each method of each target has its first turn.
FIRST_TURNS = 1.6
#: Share of the time that is divided equally.
EQUAL = 0.25
#: Seconds of a unit after the first turns, and at most (or a share of the whole time, where that is longer).
SHORT, LONG, SHARE = 0.4, 6.0, 0.2
#: A unit that was cut with nothing gets so many times as long.
PATIENCE = 3.0
#: A unit that was cut with nothing is made so many times smaller.
SMALLER = 8
#: Instances of a first unit: the size of a full one divided by this.
PARTS = 12
#: Weight of the bonus for what was tried little.
CURIOSITY = 0.15


@dataclass
class _Arm:
    """A method on a target: how large its units are, and what it gave for its seconds."""

    target: int
    method: str
    whole: int
    "Instances of its second unit, which has all the time that a unit may have."
    full: int
    size: int
    allowance: float
    spent: float = 0.0
    "Seconds that its units took, and those that are given to units which run."
    gained: float = 0.0
    turns: int = 0
    best: float = field(default=float("-inf"))

    def worth(self, total: float) -> float:
        spent = max(self.spent, 1e-3)
        return self.gained / spent + CURIOSITY * math.sqrt(math.log(1 + total) / spent)


class Turns:
    """Units of all targets for a search that has a limit of time."""

    def __init__(self, targets: Sequence[Target], seed: int, seconds: float = 60.0) -> None:
        self.targets, self.seed, self.number = list(targets), seed, 0
        self.longest = max(LONG, SHARE * seconds)
        self.arms: list[_Arm] = []
        for index, target in enumerate(self.targets):
            sizes: dict[str, list[int]] = {}
            for method, size in methods(target):
                sizes.setdefault(method, []).append(size)
            self.arms += [
                _Arm(index, name, each[0], max(each), max(4, max(each) // PARTS), 0.0) for name, each in sizes.items()
            ]
        for arm in self.arms:
            arm.allowance = FIRST_TURNS / len(self.arms)
        self._running: dict[int, _Arm] = {}

    @property
    def opening(self) -> bool:
        """Has a method not had its first turn?"""
        return any(arm.turns == 0 for arm in self.arms)

    def take(self, width: int, left: float) -> list[tuple[Target, Unit]]:
        """The next units, none longer than the time that is left."""
        chosen = []
        for _ in range(width):
            arm = self._next()
            if arm is None:
                break
            whole = arm.turns == 1
            arm.turns += 1
            allowance = min(self.longest if whole else arm.allowance, max(left, 0.0))
            arm.spent += allowance
            unit = Unit(arm.method, self.seed * 1_000_003 + self.number, arm.whole if whole else arm.size, allowance)
            self._running[unit.seed] = arm
            self.number += 1
            chosen.append((self.targets[arm.target], unit))
        return chosen

    def _next(self) -> _Arm | None:
        if not self.arms:
            return None
        for turn in (0, 1):
            waiting = next((arm for arm in self.arms if arm.turns == turn), None)
            if waiting is not None:
                return waiting
        total = sum(arm.spent for arm in self.arms)
        least = min(self.arms, key=lambda arm: arm.spent)
        if least.spent < EQUAL * total / len(self.arms):
            return least
        return max(self.arms, key=lambda arm: arm.worth(total))

    def learn(self, unit: Unit, result: UnitResult) -> None:
        """What a unit gave: 1 for violations that were seen, less for a best violation that rose."""
        arm = self._running.pop(unit.seed)
        allowance = unit.seconds or 0.0
        arm.spent += max(result.seconds, 1e-3) - allowance
        seen = sum(not each.hint for each in result.findings)
        rose = result.best > arm.best + 1e-6 * (1 + abs(result.best))
        arm.gained += 1.0 if seen else 0.3 if result.findings else 0.1 if rose and arm.turns > 1 else 0.0
        arm.best = max(arm.best, result.best)
        cut = result.seconds > 0.9 * allowance
        if arm.turns == 2 and not cut:
            arm.size, arm.allowance = arm.full, max(SHORT, 1.5 * result.seconds)
        elif cut and result.tried == 0:
            arm.size = max(4, arm.size // SMALLER)
            arm.whole = min(arm.whole, SMALLER * arm.size)
            arm.allowance = min(self.longest, PATIENCE * max(arm.allowance, SHORT))
        elif cut:
            arm.allowance = min(self.longest, max(SHORT, 1.3 * arm.allowance))
        else:
            arm.allowance = max(arm.allowance, SHORT)
            arm.size = min(arm.full, 2 * arm.size)


class FixedOrder:
    """Units of all targets in turn, the same on every machine, for a search that has a limit of instances."""

    opening = False

    def __init__(self, targets: Sequence[Target], seed: int) -> None:
        self._stream = self._all(targets, seed)

    @staticmethod
    def _all(targets: Sequence[Target], seed: int) -> Iterator[tuple[Target, Unit]]:
        streams = [(aim, units(aim, seed * 31 + number)) for number, aim in enumerate(targets)]
        while True:
            for aim, stream in streams:
                yield aim, next(stream)

    def take(self, width: int, left: float) -> list[tuple[Target, Unit]]:
        """The next units."""
        return [next(self._stream) for _ in range(width)]

    def learn(self, unit: Unit, result: UnitResult) -> None:
        """Nothing: the order is fixed."""
