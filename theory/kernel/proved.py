"""``Proved``: in this system, under these hypotheses, the proposition holds.  Only the rules of this room make one.

A value remembers the rule and the premises that made it, so that what a result rests on (books, solvers, arguments in words,
sizes that were listed) is computed from the tree, never declared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from eigentoken.theory.kernel.closed import BITS, balls
from eigentoken.theory.kernel.propositions import Proposition, canonical, conjuncts
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.systems.system import System

__all__ = ["ALL_SIZES", "Enclosed", "Proved", "Refused", "SolverQuestion"]

ALL_SIZES = "all sizes"
_KEY = object()


@dataclass(frozen=True)
class SolverQuestion:
    """What was asked of a solver: the hypotheses and the conclusion over the reals, or the two sides of an identity."""

    hypotheses: tuple[Any, ...]
    conclusion: Any
    identity: bool = False


@dataclass(frozen=True)
class Enclosed:
    """A relation between numbers that was decided in balls; for print, its two sides to as many digits as tell them apart."""

    relation: Any

    @property
    def left(self) -> str:
        return self._digits()[0]

    @property
    def right(self) -> str:
        return self._digits()[1]

    def _digits(self) -> list[str]:
        found = next(
            pair for bits in BITS if (pair := balls(*self.relation.args, bits=bits)) and not pair[0].overlaps(pair[1])
        )
        shown = ([each.str(digits, radius=False) for each in found] for digits in (3, 6, 20, 700))
        return next(pair for pair in shown if len(set(pair)) == 2)


@dataclass(frozen=True, eq=False)
class Proved:
    """``hypotheses |- proposition`` for the system (``None``: it is about numbers and matrices alone)."""

    proposition: Proposition
    system: System | None
    hypotheses: tuple[Proposition, ...]
    rule: str
    premises: tuple[Proved, ...]
    detail: Any = None
    sizes: str = ALL_SIZES
    caption: str = ""
    key: object = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.key is not _KEY:
            raise TypeError("Proved is made by the rules of theory/kernel alone: call a rule")
        object.__setattr__(self, "key", None)

    def __init_subclass__(cls) -> None:
        raise TypeError("Proved has no other kinds: its constructor is that of the rules")

    def __copy__(self) -> Proved:
        return self

    def __deepcopy__(self, memo: Any) -> Proved:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a Proved is not stored: run its derivation again")

    def said(self, words: str) -> Proved:
        """The same, with words for print.  They carry nothing: delete them and the proof stands."""
        return prove(
            self.proposition, self.rule, self.premises, self.system, self.hypotheses, self.detail, self.sizes, words
        )

    def tree(self) -> Iterator[Proved]:
        """This and everything that it rests on, each once, premises first."""
        seen: set[int] = set()

        def walk(node: Proved) -> Iterator[Proved]:
            if id(node) not in seen:
                seen.add(id(node))
                for each in node.premises:
                    yield from walk(each)
                yield node

        return walk(self)

    def rests_on(self, rule: str) -> tuple[Proved, ...]:
        """The steps of one rule in the tree: ``textbook``, ``argued``, ``recall``, ``arithmetic``, ..."""
        return tuple(node for node in self.tree() if node.rule == rule)

    @property
    def argued(self) -> bool:
        return bool(self.rests_on("argued"))

    def scope(self) -> tuple[str, ...]:
        """The listed sizes behind it; empty where all steps are for all sizes."""
        return tuple(sorted({node.sizes for node in self.tree()} - {ALL_SIZES}))


def prove(
    proposition: Proposition,
    rule: str,
    premises: Iterable[Proved] = (),
    system: System | None = None,
    hypotheses: Iterable[Proposition] = (),
    detail: Any = None,
    sizes: str = ALL_SIZES,
    caption: str = "",
) -> Proved:
    """For the rules only (a test reads the tree of this project for other callers)."""
    given = tuple(premises)
    if not all(type(each) is Proved for each in given):
        raise Refused(f"the premises of {rule} must be proved, got {[type(each).__name__ for each in given]}")
    return Proved(proposition, system, _distinct(hypotheses), rule, given, detail, sizes, caption, _KEY)


def joined(premises: Iterable[Proved], system: System | None = None) -> tuple[System | None, tuple[Proposition, ...]]:
    """The system and the hypotheses of premises that are used together: two systems cannot be."""
    hypotheses: list[Proposition] = []
    for each in premises:
        if each.system is not None and system is not None and each.system != system:
            raise Refused(f"a premise about {each.system.name} cannot be used with one about {system.name}")
        system = each.system or system
        hypotheses += each.hypotheses
    return system, tuple(hypotheses)


def parts_of(premises: Iterable[Proved]) -> set[Proposition]:
    """What is proved, and each part of it, in one spelling."""
    return {canonical(part) for each in premises for part in (each.proposition, *conjuncts(each.proposition))}


def lacking(wanted: Iterable[Proposition], known: Collection[Proposition]) -> str:
    """Which parts of what is wanted are not among what is known; empty where all are."""
    parts = (part for each in wanted for part in conjuncts(each) if canonical(part) not in known)
    return "; ".join(map(repr, parts))


def without(hypotheses: Iterable[Proposition], given: Iterable[Proposition]) -> tuple[Proposition, ...]:
    """The hypotheses that are not among those given."""
    known = {canonical(part) for each in given for part in conjuncts(each)}
    return tuple(each for each in hypotheses if canonical(each) not in known)


def _distinct(hypotheses: Iterable[Proposition]) -> tuple[Proposition, ...]:
    found = {canonical(part): part for each in hypotheses for part in conjuncts(each)}
    return tuple(found.values())
