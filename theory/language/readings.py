"""The readings of a word, found by dispatch: the only tables of the house that are keyed by a word.

Conditions and claims, places and quantities are the words of the toolkit.  Each word is a frozen class that says nothing
about how it is used; each *reading* is a table from word types to functions, filled by whoever knows how:

============== ====================== ========================================================== ===================
reading        of                     answers                                                    filled in
============== ====================== ========================================================== ===================
LATEX          every word and place   how is it printed?                                         theory.language
SYMBOLIC       conditions             what does it say about the symbols?                        theory.language
CERTIFIED      conditions, claims     is it true of this instance?  (a verdict)                  numerics.readings
GENERATED      conditions, claims     how are instances made that satisfy it, or just miss?      numerics.instances
OBSERVED       conditions, claims     what is seen of it along trajectories?                     numerics.readings
ON_ARC         conditions             is it true for every last token on an arc?                 numerics.readings
ON_WEIGHTS     conditions             is it true of the weights of this layer?  (a verdict)      numerics.layers
ASKED          conditions             how much does it ask of the weights?                       numerics.layers
PLACED         places                 how are tokens put there?                                  numerics.instances
PLACED_EXACTLY places                 how are exact tokens put there?                            numerics.instances
DISTANCE       places                 how far are these states from it?                          numerics.readings
MEMBERSHIP     places                 is this exact state there?                                 numerics.readings
VALUE          quantities             what is it, in floating point, on a batch?                 numerics.instances
EXACT          quantities             what is it, exactly, on an exact instance?                 numerics.instances
ENCLOSURE      quantities             in which ball does it lie, on an exact instance?           numerics.instances
OF_SYMMETRIC   conditions             what does it say of the eigenvalues of a symmetric matrix? theory.kernel
IN_OTHER_WORDS claims                 what does it say in other words?                           theory.kernel
============== ====================== ========================================================== ===================

A test asks every word for each reading of its kind, so that a word without a reading cannot be registered.  The re-check
keeps tables of its own, of the same class (:mod:`eigentoken.numerics.recheck.refutations`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from eigentoken.theory.language.verdicts import Verdict

if TYPE_CHECKING:
    import sympy as sp
    from flint import arb

__all__ = [
    "ASKED",
    "CERTIFIED",
    "DISTANCE",
    "ENCLOSURE",
    "EXACT",
    "GENERATED",
    "LATEX",
    "MEMBERSHIP",
    "OBSERVED",
    "ON_ARC",
    "ON_WEIGHTS",
    "PLACED",
    "PLACED_EXACTLY",
    "SYMBOLIC",
    "VALUE",
    "WORDS",
    "NoReading",
    "Reading",
    "word",
]

Answer = TypeVar("Answer")
Function = TypeVar("Function", bound=Callable[..., Any])
Word = TypeVar("Word", bound=type)

#: Every condition and claim of the language, by name.
WORDS: dict[str, type] = {}


def word(cls: Word) -> Word:
    """Class decorator: enter a condition or claim into the language."""
    if cls.__name__ in WORDS:
        raise ValueError(f"the word {cls.__name__} is taken by {WORDS[cls.__name__].__module__}: choose another name")
    WORDS[cls.__name__] = cls
    return cls


class NoReading(ValueError):
    """A word was read in a way that nobody has defined."""


@dataclass(frozen=True)
class Reading(Generic[Answer]):
    """A dispatch table from word types to functions; a subclass of a word is read as the word unless it has its own entry.

    >>> length: Reading[int] = Reading("length", "how long is it?")
    >>> @length.register(str)
    ... def length_of_text(text): return len(text)
    >>> length("token")
    5
    """

    name: str
    question: str
    table: dict[type, Callable[..., Any]] = field(default_factory=dict, repr=False, compare=False)

    def register(self, *types: type) -> Callable[[Function], Function]:
        """Decorator: the function reads these types.  It has a name of its own, which a traceback then shows."""

        def enter(function: Function) -> Function:
            name = getattr(function, "__name__", "")
            if not name.strip("_").isidentifier():
                raise ValueError(
                    f"a function of the {self.name} reading needs a name, got {name or function!r}: "
                    f"call it {self.name}_ and the word, so that a traceback says what was read"
                )
            for each in types:
                if each in self.table:
                    raise ValueError(f"{each.__name__} has a {self.name} reading already: {self.table[each]}")
                self.table[each] = function
            return function

        return enter

    def find(self, word_type: type) -> Callable[..., Answer] | None:
        return next((self.table[base] for base in word_type.__mro__ if base in self.table), None)

    def __call__(self, word: object, *args: Any, **options: Any) -> Answer:
        function = self.find(type(word))
        if function is None:
            known = ", ".join(sorted(each.__name__ for each in self.table)) or "nothing yet"
            raise NoReading(f"{type(word).__name__} has no {self.name} reading ({self.question}); known: {known}")
        return function(word, *args, **options)


# The four that every condition and every claim has.
LATEX: Reading[str] = Reading("latex", "how is it printed?")
CERTIFIED: Reading[Verdict] = Reading("certified", "is it true of this instance?")
GENERATED: Reading[Any] = Reading("generated", "how are instances made that satisfy it, or just miss it?")
OBSERVED: Reading[Any] = Reading("observed", "what is seen of it along trajectories?")

SYMBOLIC: Reading[sp.Basic] = Reading("symbolic", "what does it say about the symbols?")
ON_ARC: Reading[bool | None] = Reading("on_arc", "is it true for every last token on an arc?")
ON_WEIGHTS: Reading[Verdict | None] = Reading("on_weights", "is it true of the weights of this layer?")
ASKED: Reading[int] = Reading("asked", "how much does it ask of the weights?")

PLACED: Reading[Any] = Reading("placed", "how are tokens put there?")
PLACED_EXACTLY: Reading[Any] = Reading("placed_exactly", "how are exact tokens put there?")
DISTANCE: Reading[Any] = Reading("distance", "how far are these states from it?")
MEMBERSHIP: Reading[bool | None] = Reading("membership", "is this exact state there?")

VALUE: Reading[Any] = Reading("value", "what is it, in floating point, on a batch of instances?")
EXACT: Reading[sp.Expr | None] = Reading("exact", "what is it, exactly, on an exact instance?")
ENCLOSURE: Reading[arb] = Reading("enclosure", "in which ball does it lie, on an exact instance?")
