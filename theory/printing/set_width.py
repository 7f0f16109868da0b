r"""How wide LaTeX sets a formula, without LaTeX: in characters of the book, by the widths of letters and the spaces around signs.

Scripts are smaller, a fraction is as wide as its wider part, and a limit stands below its sum.  The numbers are those of
Computer Modern at 11pt, in points; the true width is 0.9 to 1.2 times the sum (a test that runs LaTeX holds it).
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["POINTS", "width"]

#: A character of running text, on average: what widths are told in.
POINTS = 5.1

_TOKEN = re.compile(r"\\([A-Za-z]+)\*? ?|\\(.)|(.)", re.DOTALL)
_RELATIONS = frozenset(
    (
        "leq",
        "geq",
        "neq",
        "succ",
        "prec",
        "succeq",
        "preceq",
        "approx",
        "equiv",
        "to",
        "in",
        "sim",
        "mid",
        "subset",
        "mapsto",
    )
) | frozenset("=<>")
_BINARY = frozenset(("pm", "mp", "cdot", "times", "wedge", "vee", "oplus", "otimes", "perp")) | frozenset("+-")
_ARROWS = {"iff": 31.0, "implies": 28.0, "Rightarrow": 17.0, "Longrightarrow": 24.0, "longrightarrow": 24.0}
_SPACES = {"quad": 10.95, "qquad": 21.9, ",": 1.8, ";": 3.0, ":": 2.4, " ": 3.65, "!": -1.8}
_LIMITS = {"sum": 15.8, "prod": 14.0, "int": 11.0, "bigcup": 12.0}
_ABOVE_ALL = {"max": 18.3, "min": 16.4, "sup": 16.0, "inf": 13.0, "lim": 15.0}
_UPRIGHT = {
    "ln": 8.5, "log": 14.0, "exp": 16.0, "sin": 13.0, "cos": 14.0, "tan": 15.0, "sinh": 19.0, "cosh": 20.0, "tanh": 21.0,
    "det": 14.5, "diam": 22.0, "Re": 12.0, "Im": 12.0, "deg": 15.0, "arccos": 28.0, "tr": 9.0, "ker": 15.0, "dim": 17.0,
}  # fmt: skip
#: Commands that only change how what follows looks, or say how high it is.
_SILENT = frozenset((
    "bigl", "bigr", "Bigl", "Bigr", "Big", "big", "bigg", "Bigg", "biggl", "biggr", "mathbf", "mathbb", "mathcal", "bar", "dot",
    "hat", "tilde", "vec", "widetilde", "overline", "limits", "nolimits", "displaystyle", "textstyle", "boldsymbol",
))  # fmt: skip
_GREEK = {
    "alpha": 7.0,
    "beta": 6.4,
    "ell": 4.6,
    "lambda": 6.4,
    "omega": 7.0,
    "varepsilon": 5.1,
    "infty": 10.95,
    "top": 8.5,
}
_LETTERS = {
    **dict.fromkeys("ilj", 4.1), **dict.fromkeys("tfrs", 4.9), **dict.fromkeys("mwMW", 9.6), **dict.fromkeys("|", 3.04),
    **dict.fromkeys("()", 4.26), **dict.fromkeys("[]", 3.04), **dict.fromkeys(",;", 4.9), **dict.fromkeys(".:!", 3.04),
    **dict.fromkeys("0123456789", 5.48), "'": 3.0, "/": 5.5,
}  # fmt: skip
#: The size of a script, and of a script of a script.
_SIZES = (1.0, 0.73, 0.55)
_WORD = {**dict.fromkeys("iljft.,:;'|!", 3.3), **dict.fromkeys("mwMW", 8.6), **dict.fromkeys("rs()", 4.3), " ": 3.65}


@lru_cache(maxsize=65536)
def width(latex: str) -> int:
    r"""About how wide a formula is set in a display, in characters.

    >>> width("x + y") < width("x + y + z") < width(r"\frac{x + y + z}{2} + 1")
    True
    >>> width("e^{x_{i}^{\\top} W x_{j}}") < width("e + x_{i}^{\\top} W x_{j}")
    True
    """
    return round(_Reader(latex).group(0, display=True) / POINTS)


class _Reader:
    """Reads a formula from left to right and adds up widths."""

    def __init__(self, source: str) -> None:
        self.source, self.place = source, 0

    def group(self, size: int, *, display: bool = False, until: str = "") -> float:
        """The width up to the closing bracket, or the end; ``size``: 0 for the line, 1 for its scripts, 2 for theirs."""
        total, script, binary = 0.0, 0.0, False
        while self.place < len(self.source):
            found = _TOKEN.match(self.source, self.place)
            assert found is not None
            self.place = found.end()
            name, mark, letter = found.groups()
            token = name or mark or letter
            if letter == until and until:
                break
            if letter in ("^", "_"):  # both scripts of a letter stand above each other
                inside = self.argument(min(size + 1, 2))
                total += max(0.0, inside - script)
                script = max(script, inside)
                continue
            if letter in (" ", "&", "~", "$", "}"):
                continue
            if name == "end":  # of an environment that begins in another line
                self.argument(0)
                continue
            if name == "begin":
                total += self.rows(size)
                continue
            script = 0.0
            if letter == "{":
                total += self.group(size, display=display, until="}")
                binary = True
                continue
            total += self.one(token, bool(letter), size, display, binary)
            binary = token not in _RELATIONS and token not in _BINARY and token not in ("(", "[", ",", *_SPACES)
        return total

    def argument(self, size: int) -> float:
        """What a command or a script takes: a group, or one sign."""
        while self.source.startswith(" ", self.place):
            self.place += 1
        if self.source.startswith("{", self.place):
            self.place += 1
            return self.group(size, until="}")
        found = _TOKEN.match(self.source, self.place)
        if found is None:
            return 0.0
        self.place = found.end()
        name, mark, letter = found.groups()
        return self.one(name or mark or letter, bool(letter), size, False, True)

    def one(self, token: str, letter: bool, size: int, display: bool, binary: bool) -> float:
        scale = _SIZES[size]
        if token in ("frac", "tfrac", "dfrac"):
            inner = size if display and token != "tfrac" else min(size + 1, 2)
            return max(self.argument(inner), self.argument(inner)) + 2.4
        if token in ("text", "operatorname", "mathrm", "textbf", "emph", "texttt", "textit"):
            return self.words() * scale + (1.8 if token == "operatorname" else 0.0)
        if token == "sqrt":
            return self.argument(size) + 9.0 * scale
        if token in _LIMITS or token in _ABOVE_ALL:
            own = (_LIMITS.get(token) or _ABOVE_ALL[token]) * scale * (1.0 if display or token in _ABOVE_ALL else 0.75)
            return self.below(own, size, display) + 1.8
        spaced = size == 0
        if token in _RELATIONS:
            return 8.5 * scale + (6.1 if spaced else 0.0)
        if token in _BINARY:
            return (8.5 if token != "cdot" else 3.0) * scale + (4.9 if spaced and binary else 0.0)
        if token in _ARROWS:
            return _ARROWS[token]
        if token in _SPACES and not letter:
            return _SPACES[token]
        if token in _UPRIGHT and not letter:
            return (_UPRIGHT[token] + 1.8) * scale
        if not letter:
            if token in ("left", "right"):  # as high as what stands between them
                return 2.0 * scale
            return 0.0 if token in _SILENT else 3.04 if token in "|{}" else _GREEK.get(token, 6.0) * scale
        return _LETTERS.get(token, 7.9 if token.isupper() else 5.7) * scale

    def below(self, own: float, size: int, display: bool) -> float:
        """A sum with its limits: below it in a display, else beside it."""
        under = 0.0
        while match := re.compile(r"\s*[_^]").match(self.source, self.place):
            self.place = match.end()
            under = max(under, self.argument(min(size + 1, 2)))
        return max(own, under) if display else own + under

    def rows(self, size: int) -> float:
        """The widest row of an environment: its name, perhaps a place in brackets, its cells."""
        name = re.compile(r"\{(\w+)\*?\}(?:\[\w\])?").match(self.source, self.place)
        if name is None:
            return 0.0
        stop = self.source.find(rf"\end{{{name[1]}", name.end())
        stop = len(self.source) if stop < 0 else stop
        rows = re.split(r"\\\\(?:\[\w+\])?", self.source[name.end() : stop])
        closed = self.source.find("}", stop)
        self.place = len(self.source) if closed < 0 else closed + 1
        small, aligned = min(size + 1, 2) if name[1] == "smallmatrix" else size, "aligned" in name[1]
        between = 0.0 if aligned else 5.0 if small > size else 10.0
        return max(_Reader(row).group(small, display=aligned) + between * row.count("&") for row in rows)

    def words(self) -> float:
        """The words of ``\\text{...}``."""
        if not self.source.startswith("{", self.place):
            return 0.0
        end = self.source.find("}", self.place)
        end = len(self.source) if end < 0 else end
        words = self.source[self.place + 1 : end]
        self.place = end + 1
        return sum(_WORD.get(each, 5.6) for each in words)
