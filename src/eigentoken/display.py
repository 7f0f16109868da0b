"""How objects show themselves: short texts, HTML tables, data frames.

Below all rooms, like ``files``: it imports none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from pandas import DataFrame

__all__ = ["Listed", "brief", "frame", "html_table", "listing", "with_shapes"]

#: A cell that stands under the ends of others; all else is words.
NUMBER = re.compile(r"[-+]?(\d[\d.,]*(e[-+]?\d+)?|inf|nan|∞)?%?")
#: No representation has more lines than this.
LINES = 10


def brief(text: object, length: int = 300) -> str:
    """The text on one line; what is longer is cut in the middle.

    >>> brief("one\\n two")
    'one two'
    >>> brief("x" * 1000, 20)
    'xxxxxxxxxx ... xxxxx'
    """
    plain = " ".join(str(text).split())
    return plain if len(plain) <= length else f"{plain[: length // 2]} ... {plain[-(length // 2 - 5) :]}"


def listing(head: str, lines: Iterable[object], most: int = LINES - 2, width: int = 160) -> str:
    """A head and the first lines under it, with the number of those left out: at most ten lines in all.

    >>> print(listing("three:", "abc", most=2))
    three:
      a
      b
      and 1 more
    """
    given = [brief(line, width) for line in lines]
    rest = [f"and {len(given) - most} more"] if len(given) > most else []
    return "\n".join([brief(head, 2 * width), *(f"  {line}" for line in given[:most] + rest)])


def with_shapes(value: DataclassInstance) -> str:
    """The representation of a dataclass that holds arrays: their dtype and shape instead of their entries."""
    parts = []
    for each in fields(value):
        held = getattr(value, each.name)
        shape = getattr(held, "shape", None)
        told = f"{held.dtype} {'x'.join(map(str, shape))}" if shape else brief(repr(held), 80)
        parts += [f"{each.name}: {told}"] if held is not None and each.repr else []
    return f"<{type(value).__name__} {', '.join(parts)}>"


def html_table(columns: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table for a notebook; everything is escaped.  A notebook has all cells at the right: columns of words begin at the left.

    >>> html_table(("n",), [("<1>",)])
    '<table><tr><th style="text-align:left">n</th></tr><tr><td style="text-align:left">&lt;1&gt;</td></tr></table>'
    >>> html_table(("n",), [(-1.5e-3,), ("",)])
    '<table><tr><th>n</th></tr><tr><td>-0.0015</td></tr><tr><td></td></tr></table>'
    """
    told = [[str(cell) for cell in row] for row in rows]
    words = [any(not NUMBER.fullmatch(row[place]) for row in told) for place in range(len(columns))]
    title = f"<caption>{escape(caption)}</caption>" if caption else ""

    def cells(kind: str, row: Sequence[str]) -> str:
        left = ' style="text-align:left"'
        return "".join(
            f"<{kind}{left if word else ''}>{escape(cell)}</{kind}>" for cell, word in zip(row, words, strict=True)
        )

    head = cells("th", columns)
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in told)
    return f"<table>{title}<tr>{head}</tr>{body}</table>"


Held = TypeVar("Held")


class Listed(dict[str, Held]):
    """Things by name, shown one a line.

    >>> Listed(a=1, b=2)
    <2 names>
      a: 1
      b: 2
    """

    def __repr__(self) -> str:
        return listing(f"<{len(self)} names>", (f"{name}: {held}" for name, held in self.items()))

    def _repr_html_(self) -> str:
        return html_table(("name", "what it is"), self.items())

    def to_frame(self) -> DataFrame:
        """One row a name (pandas)."""
        return frame(({"name": name, "what it is": str(held)} for name, held in self.items()), "name")


def frame(rows: Iterable[Mapping[str, object]], index: str | None = None) -> DataFrame:
    """A pandas DataFrame of these rows; without pandas, an error that says how to get it."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_frame needs pandas, which is not installed: pip install 'eigentoken[frames]'") from None
    made = pandas.DataFrame(list(rows))
    return made if index is None or made.empty else made.set_index(index)
