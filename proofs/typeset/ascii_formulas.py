"""Formulas that are typed in plain letters inside words, as mathematics: ``alpha |V| < 1``, ``V = diag(1, -1/2)``, ``w^perp``.

A word belongs to a formula if it is a number, one letter (but not the articles ``a`` and ``I``), a Greek name, a letter with
marks, a function, or a sign.  Words that stand beside each other are one formula; numbers by themselves stay in the text.
"""

from __future__ import annotations

import re

__all__ = ["GREEK", "with_mathematics"]

GREEK = frozenset(
    (
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "eta",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "omega",
        "rho",
        "sigma",
        "tau",
        "theta",
    )
)
_FUNCTIONS = {
    "det": r"\det",
    "diag": r"\operatorname{diag}",
    "Re": r"\operatorname{Re}",
    "ln": r"\ln",
    "max": r"\max",
    "min": r"\min",
    "osc": r"\operatorname{osc}",
    "sqrt": "",
    "sym": r"\operatorname{sym}",
    "tanh": r"\tanh",
    "tr": r"\operatorname{tr}",
}
_SIGNS = {"<=": r"\leq", ">=": r"\geq", "!=": r"\neq", "+-": r"\pm"}
_RAISED = {"T": r"\top", "perp": r"\perp"}
_LOWERED = {"min": r"\min", "max": r"\max"}
_NAME = re.compile(r"([A-Za-z]+)((?:[_^](?:[A-Za-z0-9]+|\([^()]*\)|[+-](?!\w)))*)")
_MARK = re.compile(r"([_^])(\([^()]*\)|[A-Za-z0-9]+|[+-])")
#: Ids, words with a hyphen, labels (``PM-L6``, ``2-cycle``, ``(d)``), an ``'s`` and a first article are one piece.
_PIECE = re.compile(
    r"`[^`]*`|(?<=\s)\([a-z]\)|[A-Z]{2}-[A-Z]{0,3}[0-9]*(?:\.[0-9]+)?[a-z]?\b|(?<=\w)'s\b|(?:^|(?<=[.:;]\s))A(?=\s[A-Za-z]{2})\s|\w+-[a-z]{2,}|<=|>=|!=|\+-|[-+=<>|/*;()\[\],.:]|\d+(?:\.\d+)?"
    r"|[A-Za-z]+(?:[_^](?:[A-Za-z0-9]+|\([^()]*\)|[+-](?!\w)))*|\s+|.",
    re.DOTALL,
)
_OPERATORS = frozenset("+-=<>|/*") | frozenset(_SIGNS)


def with_mathematics(words: str) -> str:
    r"""The words with their formulas between dollar signs; text that has such formulas already is left as it is.

    >>> print(with_mathematics("alpha |lambda_k| < 1 or n odd"))
    $\alpha |\lambda_{k}| < 1$ or $n$ odd
    >>> print(with_mathematics("V = diag(1, -1/2), n = 2: no multiplier above 1 at (e_1, -e_1) (and stable, PM-CX1)"))
    $V = \operatorname{diag}(1, -1/2)$, $n = 2$: no multiplier above 1 at $(e_{1}, -e_{1})$ (and stable, PM-CX1)
    >>> print(with_mathematics("mu_- > 0, max|g|"))
    $\mu_{-} > 0$, $\max|g|$
    >>> print(with_mathematics("F = (1 0; 1 1/2), z^T w = 1: roots 3/4 +- sqrt(1/16 + mu)"))
    $F = \left(\begin{smallmatrix}1&0\\1&1/2\end{smallmatrix}\right)$, $z^{\top} w = 1$: roots $3/4 \pm \sqrt{1/16 + \mu}$
    """
    if "$" in words:
        return words
    pieces = _PIECE.findall(words)
    out, start = [], 0
    while start < len(pieces):
        end = start if pieces[start].isspace() else _formula_end(pieces, start)
        run = pieces[start:end]
        if end > start and _worth(run):
            out.append(f"${_typeset(run)}$")
            start = end
        else:
            out.append(pieces[start])
            start += 1
    return "".join(out)


def _formula_end(pieces: list[str], start: int) -> int:
    """Where the longest run of pieces of a formula ends: balanced, without spaces or signs of a sentence at its end."""
    end, place = start, start
    while place < len(pieces):
        piece = pieces[place]
        if piece in "([":
            inside = _closing(pieces, place)
            if inside is None or not all(_mathematical(each, inside=True) for each in pieces[place + 1 : inside]):
                break
            place = end = inside + 1
            continue
        if piece.isspace():
            place += 1
            continue
        if not _mathematical(piece):
            break
        place = end = place + 1
    return end


def _closing(pieces: list[str], place: int) -> int | None:
    depth = 0
    for index in range(place, len(pieces)):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(pieces[index], 0)
        if depth == 0:
            return index
    return None


def _mathematical(piece: str, *, inside: bool = False) -> bool:
    if piece in _OPERATORS or re.fullmatch(r"\d+(\.\d+)?", piece):
        return True
    if inside and (piece in ",;()[]" or piece.isspace()):
        return True
    name = _NAME.fullmatch(piece)
    if name is None:
        return False
    letters, marks = name.groups()
    if letters in GREEK or letters in _FUNCTIONS:
        return True
    return len(letters) == 1 and (bool(marks) or letters not in "aI")


def _worth(run: list[str]) -> bool:
    """A number by itself is no formula; a letter is one."""
    return any(_NAME.fullmatch(each) for each in run) or (
        len(run) > 1 and any(each in _OPERATORS for each in run) and any(each[0].isdigit() for each in run)
    )


def _typeset(run: list[str]) -> str:
    text = "".join(_one(each) for each in run)
    text = re.sub(r"\\ROOT\(((?:[^()]|\([^()]*\))*)\)", r"\\sqrt{\1}", text)
    return re.sub(r"\(([^(),]*;[^(),]*)\)", _matrix, text)


def _matrix(found: re.Match[str]) -> str:
    rows = [r"&".join(row.split()) for row in found[1].split(";")]
    return r"\left(\begin{smallmatrix}" + r"\\".join(rows) + r"\end{smallmatrix}\right)"


def _one(piece: str) -> str:
    if piece in _SIGNS:
        return _SIGNS[piece]
    name = _NAME.fullmatch(piece)
    if name is None:
        return " " if piece.isspace() else piece
    letters, marks = name.groups()
    base = rf"\{letters}" if letters in GREEK else r"\ROOT" if letters == "sqrt" else _FUNCTIONS.get(letters, letters)
    known = {"^": _RAISED, "_": _LOWERED}
    return base + "".join(f"{kind}{{{known[kind].get(mark, mark.strip('()'))}}}" for kind, mark in _MARK.findall(marks))
