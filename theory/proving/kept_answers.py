"""Answers that a process need not find twice: proofs and refutations, each under the whole content of its question.

A step of the book is asked by its page, by the ledger, by the kernel and by the statements that rest on it.  The key is the
question itself (every hypothesis, the conclusion, the limits), compared part by part, so that a changed question is another one.
Only ``holds`` and ``fails`` are kept: what was undecided may be decided on a quieter machine.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from eigentoken.theory.language.verdicts import Verdict

__all__ = ["KeptAnswers"]


class KeptAnswers:
    """A table of decided questions of a bounded size; the one that was not asked for longest goes first.

    >>> from eigentoken.theory.language.verdicts import holds, undecided
    >>> table = KeptAnswers()
    >>> table.answer("late", lambda: undecided("no time")), table.answer("late", lambda: holds("found"))
    (undecided: no time, holds: found)
    >>> table.answer("late", lambda: holds("found again"))
    holds: found
    """

    def __init__(self, most: int = 8192) -> None:
        self.most = most
        self._found: OrderedDict[Hashable, Verdict] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, question: Hashable, find: Callable[[], Verdict]) -> Verdict:
        """The kept answer to this very question, or the one that ``find`` finds."""
        with self._lock:
            verdict = self._found.get(question)
            if verdict is not None:
                self._found.move_to_end(question)
                return verdict
        verdict = find()
        if not verdict.is_undecided:
            with self._lock:
                self._found[question] = verdict
                if len(self._found) > self.most:
                    self._found.popitem(last=False)
        return verdict
