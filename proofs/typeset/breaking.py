"""Breaking displays: a formula wider than the line is broken where a mathematician would break it."""

from __future__ import annotations

import re

from eigentoken.theory.printing.plain_text import plain_text

__all__ = ["WIDE", "broken", "width"]

#: What fits on a line of the book, counted in characters of the plain text.
WIDE = 74
_PLACES = (
    r"\qquad \text{where",
    r"\implies",
    r"\iff",
    r"\Rightarrow",
    r", \qquad",
    r",\qquad ",
    r", \quad",
    r",\quad ",
    r",\ ",
    r";\ ",
    r"\ \text{and}",
    r"\ \text{or}",
    r"\text{ and ",
    r"\text{ is ",
    r"\quad",
    r"\wedge",
    r"\vee",
    r"\leq",
    r"\geq",
    " = ",
    "=",
    " + ",
    " - ",
)


def broken(latex: str, wide: int = WIDE) -> str:
    """Break a wide formula at its top-level ``where``, implication, commas, relations, and only then at its signs."""
    if width(latex) <= wide or r"\begin{aligned}" in latex:
        return latex
    pieces = [latex]
    for sign in _PLACES:
        if all(width(piece) <= wide for piece in pieces):
            break
        pieces = [part for piece in pieces for part in _split(piece, sign, wide)]
    if len(pieces) == 1:
        return latex
    lines = _filled(pieces, wide)
    return r"\begin{aligned} & " + r" \\ & ".join(lines) + r" \end{aligned}" if len(lines) > 1 else latex


def width(latex: str) -> int:
    """About how wide a formula is set, in characters: a fraction is as wide as its wider part.

    >>> width(r"\\frac{a + b}{2} + \\lambda_{k}") < width(r"(a + b)/2 + \\lambda_{k}") + 3
    True
    """
    text = latex
    for _ in range(12):
        before = text
        text = re.sub(r"[_^]\{([^{}]*)\}", lambda found: " " + found.group(1)[: len(found.group(1)) // 2 + 1], text)
        text = re.sub(r"\\[td]?frac\{([^{}]*)\}\{([^{}]*)\}", lambda found: f" {max(found.groups(), key=_long)} ", text)
        text = re.sub(r"\\(?:sqrt|text|mathrm|operatorname)\{([^{}]*)\}", r" \1", text)
        if text == before:
            break
    return _long(text)


def _long(latex: str) -> int:
    return len(plain_text(latex))


def _filled(pieces: list[str], wide: int) -> list[str]:
    """Put short pieces on one line again, but begin a new one at an implication or a ``where``."""
    lines = [pieces[0]]
    for piece in pieces[1:]:
        begins = piece.lstrip().startswith((r"\qquad \text{where", r"\implies", r"\iff"))
        if not begins and width(lines[-1] + piece) <= wide:
            lines[-1] += " " + piece
        else:
            lines.append(r"\quad {}" + piece.replace(r"\qquad \text{where", r"\text{where", 1))
    return lines


def _split(piece: str, sign: str, wide: int) -> list[str]:
    """Split before each top-level occurrence of the sign (after it, for commas), outside brackets of every kind."""
    if width(piece) <= wide:
        return [piece]
    depth, cuts, index = 0, [0], 0
    while index < len(piece):
        depth += _nesting(piece, index)
        if depth == 0 and index > 0 and piece.startswith(sign, index) and not _word_goes_on(piece, index, sign):
            cut = index + len(sign) if sign[0] in ",;" else index
            if cut > cuts[-1]:
                cuts.append(cut)
        index += 1
    return [
        piece[start:end] for start, end in zip(cuts, [*cuts[1:], len(piece)], strict=True) if piece[start:end].strip()
    ]


def _word_goes_on(piece: str, index: int, sign: str) -> bool:
    """``\\leq`` is not found inside ``\\leqslant``."""
    after = index + len(sign)
    return sign.startswith("\\") and sign[-1].isalpha() and after < len(piece) and piece[after].isalpha()


def _nesting(piece: str, index: int) -> int:
    """How the character at this place changes the depth of braces, brackets, parentheses and environments."""
    for command, change in ((r"\begin{", 1), (r"\end{", -1), (r"\{", 1), (r"\}", -1)):
        if piece.startswith(command, index):
            return change
    if index and piece[index - 1] == "\\":
        return 0
    return {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(piece[index], 0)
