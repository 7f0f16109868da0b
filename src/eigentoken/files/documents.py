"""JSON, read in one way by every command: no key twice, no NaN, no number that is lost on the way, no depth without end.

Python's reader keeps the last of two equal keys, reads ``1e999`` as infinity and takes ``NaN``; each of these lets a document say
one thing to a reader and another to a program.  What is wrong is said in one line.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["DEEPEST", "LARGEST_DOCUMENT", "MOST_DIGITS", "DocumentError", "Json", "parse_json", "read_json"]

#: What a JSON text holds.  It was written by somebody else: whoever reads it tests each part before it is used, and a part
#: that is not what it should be is an error of its reader that names the document.  As the union of what JSON has, every one
#: of those reads would have to be written twice, once for the checker of types.
Json = Any

#: bytes of a document, levels of nesting, digits of a number
LARGEST_DOCUMENT = 1 << 30
DEEPEST = 100
MOST_DIGITS = 4000


class DocumentError(ValueError):
    """A document that cannot be read, or is no JSON: one line."""


def read_json(
    path: str | os.PathLike[str],
    *,
    error: type[ValueError] = DocumentError,
    parse_float: Callable[[str], Json] | None = None,
    parse_int: Callable[[str], Json] | None = None,
    largest: int = LARGEST_DOCUMENT,
) -> Json:
    """The JSON document of a file; ``error`` is raised, with one line, for whatever is wrong with it."""
    shown = _ending(str(path))
    try:
        with Path(path).open("rb") as stream:
            kind = os.fstat(stream.fileno())
            if stat.S_ISCHR(kind.st_mode) or stat.S_ISBLK(kind.st_mode):
                raise error(f"cannot read {shown}: it is a device; give a JSON file")
            data = stream.read(largest + 1) if kind.st_size <= largest else b""
            if kind.st_size > largest or len(data) > largest:
                raise error(f"cannot read {shown}: more than {largest} bytes; give a JSON document")
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise error(f"cannot read {shown}: {reason}; give the path of a JSON file") from None
    except ValueError as problem:
        if isinstance(problem, error):
            raise
        raise error(f"{shown} is not the name of a file: give the path of a JSON file") from None
    return parse_json(data, shown, error=error, parse_float=parse_float, parse_int=parse_int)


def parse_json(
    text: str | bytes,
    origin: str,
    *,
    error: type[ValueError] = DocumentError,
    parse_float: Callable[[str], Json] | None = None,
    parse_int: Callable[[str], Json] | None = None,
) -> Json:
    """The value of a JSON text; ``origin`` names it in messages.

    ``parse_float`` and ``parse_int`` read the digits of a number, as in :func:`json.loads`.

    >>> parse_json('{"a": 1, "a": 2}', "the text")
    Traceback (most recent call last):
    eigentoken.files.documents.DocumentError: the text gives 'a' twice: keep one
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            seen: set[str] = set()
            twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            raise error(f"{origin} gives {_short(repr(twice))} twice: keep one")
        return found

    def constant(word: str) -> Any:
        raise error(f"{origin} is not JSON: {word} is not a number of JSON; write a finite number")

    def bounded(read: Callable[[str], Any]) -> Callable[[str], Any]:
        def number(digits: str) -> Any:
            if len(digits) > MOST_DIGITS:
                raise error(
                    f"{origin} has a number of {len(digits)} characters ({_short(digits, 24)}): "
                    f"a number of JSON has at most {MOST_DIGITS} here"
                )
            return read(digits)

        return number

    def finite(digits: str) -> float:
        value = float(digits)
        if value in (float("inf"), float("-inf")):
            raise error(f"{origin} has the number {_short(digits, 24)}, beyond the range of floats: write a finite one")
        return value

    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        if not decoded.strip():
            raise error(f"{origin} is empty: give a JSON document")
        value = json.loads(
            decoded,
            object_pairs_hook=unique,
            parse_constant=constant,
            parse_float=bounded(parse_float or finite),
            parse_int=bounded(parse_int or int),
        )
    except UnicodeDecodeError:
        raise error(f"{origin} is {_kind_of_bytes(text)}: give a JSON document") from None
    except RecursionError:
        raise error(
            f"{origin} is nested too deeply (more than {DEEPEST} levels): give a flatter JSON document"
        ) from None
    except json.JSONDecodeError as problem:
        if decoded.startswith("\ufeff"):
            raise error(f"{origin} begins with a byte order mark: save it as UTF-8 without one") from None
        where = f"line {problem.lineno} column {problem.colno}"
        raise error(f"{origin} is not JSON: {problem.msg} at {where}") from None
    if _deeper_than(value, DEEPEST):
        raise error(f"{origin} is nested too deeply (more than {DEEPEST} levels): give a flatter JSON document")
    return value


#: How files that are no text begin, and what a reader may have meant by them.
BEGINNINGS = (
    (b"\x93NUMPY", "an array of numpy (.npy), which certify and the options --states and --prompts read"),
    (b"PK\x03\x04", "a zip archive (.npz, .pt or .zip), which check reads where it is a checkpoint"),
    (b"GGUF", "a GGUF checkpoint, which check reads"),
    (b"\x80", "a pickle of Python, which check reads where it is a checkpoint"),
    (b"\x1f\x8b", "compressed by gzip: unpack it first"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xfe", "text in UTF-16: save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16: save it as UTF-8"),
)


def _kind_of_bytes(text: str | bytes) -> str:
    start = text if isinstance(text, bytes) else b""
    return next((said for beginning, said in BEGINNINGS if start.startswith(beginning)), "no text (no UTF-8)")


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            child
            for each in level
            if isinstance(each, dict | list)
            for child in (each.values() if isinstance(each, dict) else each)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _short(text: str, limit: int = 80) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= limit else plain[: limit - 3] + "..."


def _ending(path: str, limit: int = 240) -> str:
    """A path in one line; of a very long one the end, where the name of the file is."""
    plain = " ".join(path.split())
    return plain if len(plain) <= limit else "..." + plain[3 - limit :]
