"""The five readings of a word, found by dispatch.

Conditions and claims are the words of the toolkit.  Each word is a frozen dataclass that says nothing about how it is
used; each *reading* is a table from word types to functions, filled by whoever knows how:

========== ====================================================== ====================
reading    answers                                                filled in
========== ====================================================== ====================
latex      how is it printed?                                     theory
symbolic   what does it say about the symbols?                    theory
certified  is it true of this instance?  (a Verdict)              numerics
generated  how are instances made that satisfy it, or just miss?  numerics
observed   what is seen of it along trajectories?                 numerics
========== ====================================================== ====================

A test asks every word of the registry for all five, so that a word without a reading cannot be registered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

__all__ = [
    "CERTIFIED",
    "GENERATED",
    "LATEX",
    "OBSERVED",
    "READINGS",
    "SYMBOLIC",
    "WORDS",
    "NoReading",
    "Reading",
    "word",
]

Function = TypeVar("Function", bound=Callable[..., Any])
Word = TypeVar("Word", bound=type)

#: Every word of the language, by name.
WORDS: dict[str, type] = {}


def word(cls: Word) -> Word:
    """Class decorator: enter a condition or claim into the language."""
    if cls.__name__ in WORDS:
        raise ValueError(f"the word {cls.__name__} is taken by {WORDS[cls.__name__].__module__}: choose another name")
    WORDS[cls.__name__] = cls
    return cls


class NoReading(TypeError):
    """A word was read in a way that nobody has defined."""


@dataclass(frozen=True)
class Reading:
    """A dispatch table from word types to functions.

    >>> length = Reading("length", "how long is it?")
    >>> @length.register(str)
    ... def _(text): return len(text)
    >>> length("token")
    5
    """

    name: str
    question: str
    table: dict[type, Callable[..., Any]] = field(default_factory=dict, repr=False, compare=False)

    def register(self, *types: type) -> Callable[[Function], Function]:
        def enter(function: Function) -> Function:
            for each in types:
                if each in self.table:
                    raise ValueError(f"{each.__name__} has a {self.name} reading already: {self.table[each]}")
                self.table[each] = function
            return function

        return enter

    def find(self, word_type: type) -> Callable[..., Any] | None:
        return next((self.table[base] for base in word_type.__mro__ if base in self.table), None)

    def __call__(self, word: Any, *args: Any, **options: Any) -> Any:
        function = self.find(type(word))
        if function is None:
            known = ", ".join(sorted(each.__name__ for each in self.table)) or "nothing yet"
            raise NoReading(f"{type(word).__name__} has no {self.name} reading ({self.question}); known: {known}")
        return function(word, *args, **options)


LATEX = Reading("latex", "how is it printed?")
SYMBOLIC = Reading("symbolic", "what does it say about the symbols?")
CERTIFIED = Reading("certified", "is it true of this instance?")
GENERATED = Reading("generated", "how are instances made that satisfy it, or just miss it?")
OBSERVED = Reading("observed", "what is seen of it along trajectories?")

READINGS = (LATEX, SYMBOLIC, CERTIFIED, GENERATED, OBSERVED)
