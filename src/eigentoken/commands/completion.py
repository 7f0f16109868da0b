"""The tab key in bash: words that it breaks at ``:`` and ``=`` are put together again before they are completed."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout

__all__ = ["asked_by_bash", "complete_for_bash", "put_together"]

VARIABLE = "_EIGENTOKEN_COMPLETE"


def asked_by_bash() -> bool:
    return os.environ.get(VARIABLE) == "complete_bash" and "COMP_CWORD" in os.environ


def put_together(words: list[str], place: int) -> tuple[list[str], int, str]:
    """The words that were typed, the place of the one to complete, and what of it bash keeps by itself.

    >>> put_together(["eigentoken", "check", "sample", ":", "mi"], 4)
    (['eigentoken', 'check', 'sample:mi'], 2, 'sample:')
    >>> put_together(["eigentoken", "check", "sample", ":"], 3)
    (['eigentoken', 'check', 'sample:'], 2, 'sample:')
    >>> put_together(["eigentoken", "derive", "PM-L4", "--format", "=", "te"], 5)
    (['eigentoken', 'derive', 'PM-L4', '--format', 'te'], 4, '')
    """
    whole: list[str] = []
    open_end = False
    for word in words[: place + 1]:
        joins = word.startswith(":") and whole
        if joins or open_end:
            whole[-1] += word
        elif word != "=":
            whole.append(word)
        open_end = bool(joins) and set(word) == {":"}
    if words[place : place + 1] in ([], ["="]):
        whole.append("")
    last = whole[-1]
    return whole, len(whole) - 1, last[: last.rfind(":") + 1]


def complete_for_bash(run: Callable[[], None]) -> None:
    """Let ``run`` (which ends the process) complete the words as they were typed; bash wants what follows the last colon."""
    words, place, kept = put_together(os.environ["COMP_WORDS"].split(), int(os.environ["COMP_CWORD"]))
    os.environ |= {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(place)}
    found = io.StringIO()
    try:
        with redirect_stdout(found):
            run()
    finally:
        sys.stdout.write("".join(f"{line.removeprefix(kept)}\n" for line in found.getvalue().splitlines()))
