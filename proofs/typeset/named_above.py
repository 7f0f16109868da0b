"""The statements that a text names by their ids: a reader meets their titles beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Statement

__all__ = ["ID", "named_above"]

#: What an id looks like; whether a statement has it, the registry says.
ID = re.compile(r"(?<![\w#.-])[A-Z]{2}-(?:[A-Z]{0,3}\d+(?:\.\d+)?[a-z]?['+]?|[A-Z]{1,4})(?![\w-])")


def named_above(texts: Iterable[str], but: Iterable[str] = ()) -> list[Statement]:
    """The statements whose ids stand in the texts, in order, without those in ``but``.

    >>> [each.id for each in named_above(["as in PM-L4 and GPT-2", "by PM-L3 (see PM-L4)"], but=["PM-L3"])]
    ['PM-L4']
    """
    left = set(but)
    names = dict.fromkeys(name for text in texts for name in ID.findall(text) if name not in left)
    found = (statements().registered(name) for name in names)
    return [each for each in found if each is not None]
