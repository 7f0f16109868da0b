"""Formulas of the book by their width: as one line of Unicode for terminals, readable, not typeset; and wide displays broken.

A display wider than the line is broken where a mathematician would break it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from eigentoken.theory.printing.scalars import width

__all__ = ["WIDE", "broken", "characters_in_latex", "plain_text", "plain_words"]

_SYMBOLS = {
    "lambda": "λ", "alpha": "α", "beta": "β", "gamma": "γ", "Gamma": "Γ", "delta": "δ", "Delta": "Δ", "epsilon": "ε",
    "varepsilon": "ε", "eta": "η", "theta": "θ", "Theta": "Θ", "vartheta": "θ", "kappa": "κ", "mu": "μ", "nu": "ν",
    "xi": "ξ", "pi": "π", "Pi": "Π", "rho": "ρ", "sigma": "σ", "Sigma": "Σ", "tau": "τ", "phi": "φ", "Phi": "Φ",
    "varphi": "φ", "omega": "ω", "Omega": "Ω", "Lambda": "Λ", "zeta": "ζ", "psi": "ψ", "Psi": "Ψ", "chi": "χ",
    "ell": "ℓ", "leq": "≤", "le": "≤", "leqslant": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠", "succeq": "⪰",
    "succ": "≻", "prec": "≺", "preceq": "⪯", "gg": "≫", "ll": "≪", "iff": "⇔", "Leftrightarrow": "⇔", "implies": "⇒",
    "impliedby": "⇐", "Rightarrow": "⇒", "Longrightarrow": "⇒", "to": "→", "rightarrow": "→", "longrightarrow": "→",
    "mapsto": "↦", "infty": "∞", "sum": "Σ", "prod": "Π", "int": "∫", "in": "∈", "notin": "∉", "subset": "⊂", "subseteq": "⊆",
    "cap": "∩", "cup": "∪", "bigcap": "⋂", "bigcup": "⋃", "setminus": "∖", "emptyset": "∅", "exists": "∃",
    "forall": "∀", "wedge": "and", "vee": "or", "lor": "or", "land": "and", "neg": "not ", "pm": "±", "mp": "∓",
    "cdot": "·", "times": "×", "otimes": "⊗", "oplus": "⊕", "circ": "∘", "dots": "…", "ldots": "…", "cdots": "…",
    "vdots": "⋮", "ddots": "⋱", "top": "ᵀ", "perp": "⊥", "parallel": "∥", "lVert": "‖", "rVert": "‖", "Vert": "‖",
    "|": "‖", "lvert": "|", "rvert": "|", "mid": "|", "vert": "|", "approx": "≈", "sim": "∼", "propto": "∝",
    "equiv": "≡", "angle": "∠", "partial": "∂", "nabla": "∇", "langle": "⟨", "rangle": "⟩", "star": "*", "ast": "*",
    "prime": "′", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "uparrow": "↑", "downarrow": "↓",
    "colon": ":", "backslash": "∖", "imath": "i", "Re": "Re", "Im": "Im", "square": "□", "L": "Ł", "l": "ł", "S": "§",
}  # fmt: skip
_SPACES = {",", ";", ":", " ", "quad", "qquad", "\\", "enspace", "par", "newline"}
_SILENT = {
    "left", "right", "displaystyle", "textstyle", "limits", "nolimits", "ensuremath", "big", "Big", "bigg", "Bigg",
    "bigl", "bigr", "Bigl", "Bigr", "biggl", "biggr", "bigm", "!", "/", "-", "itshape", "upshape", "noindent",
}  # fmt: skip
_WRAPPERS = {
    "text", "mathrm", "mathbf", "textbf", "operatorname", "mathcal", "emph", "textit", "boldsymbol", "mathit", "texttt",
    "mbox", "mathsf", "mathfrak", "textrm", "textsc", "underline", "substack", "mathop", "cite", "eqref", "ref",
}  # fmt: skip
_ACCENTS = {
    "bar": "\u0304", "overline": "\u0304", "hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303",
    "widetilde": "\u0303", "dot": "\u0307", "ddot": "\u0308", "vec": "\u20d7",
}  # fmt: skip
_TEXT_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "c": "\u0327"}
_DOUBLE = str.maketrans("RNZCPESQ", "ℝℕℤℂℙ𝔼𝕊ℚ")
_SUBSCRIPTS = str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋")
_SUPERSCRIPTS = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
_RAISED = "₀₁₂₃₄₅₆₇₈₉₊₋⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ*⊥′∘"
_COMMAND = re.compile(r"[a-zA-Z]+\*?|.", re.S)
_RUNS_ON = re.compile(r"[_^][^\W_]+$")
_WORD_NEXT = re.compile(r"\s*[\w\\]")
_MATRICES = {"pmatrix": "()", "bmatrix": "[]", "vmatrix": "||", "matrix": "  ", "smallmatrix": "  "}


def plain_text(latex: str) -> str:
    """One line of Unicode.

    >>> plain_text(r"\\alpha \\left(|\\lambda_{d}(V)| - \\lambda_{1}(V)\\right) < 2")
    'α (|λ_d(V)| - λ₁(V)) < 2'
    >>> plain_text(r"\\frac{1 + \\alpha \\lambda_{k}}{2} = \\tfrac12\\sum_ja_{ij}")
    '(1 + α λ_k)/2 = 1/2 Σ_j a_ij'
    >>> plain_text(r"$V = \\big(\\begin{smallmatrix}2&1\\\\1&2\\end{smallmatrix}\\big)$")
    'V = (2 1; 1 2)'
    """
    text = _Reader(latex.replace("$", "").replace("``", "“").replace("''", "”")).until("")
    text = text.replace("---", "—").replace("--", "–")
    text = re.sub(r"\0(?=[\w(√⟨∂])", " ", text).replace("\0", "")
    text = re.sub(r"(^|[(=<>≤≥⇒,]\s*)- (?=\S)", r"\1-", re.sub(r"\s+", " ", text))
    return re.sub(r" ([,;)]|\.(?!\S))", r"\1", text).replace("( ", "(").strip()


class _Reader:
    """A reader of the little LaTeX that occurs: commands, groups, scripts, fractions, matrices."""

    def __init__(self, source: str) -> None:
        self.source, self.place = source, 0

    def until(self, end: str) -> str:
        """Everything up to ``end`` (which is consumed), as Unicode."""
        out: list[str] = []
        while self.place < len(self.source):
            if end and self.source.startswith(end, self.place):
                self.place += len(end)
                break
            _append(out, self.item())
        return "".join(out)

    def item(self) -> str:
        """The next thing: a command with its arguments, a group, a script or a character."""
        sign = self.source[self.place]
        self.place += 1
        if sign == "\\":
            return self.command()
        if sign == "{":
            return self.until("}")
        if sign in "^_":
            return _script(self.argument(), sign)
        return {"~": " ", "&": " ", "\n": " "}.get(sign, sign)

    def argument(self) -> str:
        while self.place < len(self.source) and self.source[self.place] == " ":
            self.place += 1
        return self.item().strip() if self.place < len(self.source) else ""

    def command(self) -> str:
        found = _COMMAND.match(self.source, self.place)
        if found is None:
            return ""
        name = found.group().rstrip("*") if len(found.group()) > 1 else found.group()
        self.place = found.end()
        if name in ("frac", "tfrac", "dfrac"):
            return f"{_grouped(self.argument())}/{_grouped(self.argument())}\0"
        if name == "binom":
            return f"C({self.argument()}, {self.argument()})"
        if name == "sqrt":
            return f"√{_grouped(self.argument(), always=True)}"
        if name in _ACCENTS or (name in _TEXT_ACCENTS and name != "c"):
            inside = self.argument()
            mark = _ACCENTS.get(name) or _TEXT_ACCENTS[name]
            return f"{inside}{mark}" if len(inside) == 1 else f"{name}({inside})"
        if name == "mathbb":
            return self.argument().translate(_DOUBLE)
        if name == "begin":
            return self.environment()
        return self.other_command(name)

    def other_command(self, name: str) -> str:
        if name in _WRAPPERS:
            inside = self.argument_as_is() if name == "text" else self.argument()
            return f"{inside} " if name == "operatorname" and self._letter_next() else inside
        if name in ("label", "phantom", "vspace", "hspace", "color"):
            self.argument()
            return ""
        if name in _SILENT:
            if name in ("left", "right") and self.source.startswith(".", self.place):
                self.place += 1
            return ""
        if name in _SPACES:
            return " "
        if name in _SYMBOLS:
            return f" {_SYMBOLS[name]} " if _SYMBOLS[name] in ("and", "or") else _SYMBOLS[name]
        return f"{name} " if len(name) > 1 and self._letter_next() else name

    def argument_as_is(self) -> str:
        return self.item() if self.place < len(self.source) else ""

    def _letter_next(self) -> bool:
        return _WORD_NEXT.match(self.source, self.place) is not None

    def environment(self) -> str:
        """Matrices row by row, with a semicolon between rows; other environments as their content."""
        name = self.argument()
        content = self.until_end(name)
        rows: list[str] = [plain_text(re.sub(r"(?<!\\)&", " ", row)) for row in re.split(r"\\\\", content)]
        if name in _MATRICES:
            return f"{_MATRICES[name][0]}{'; '.join(rows)}{_MATRICES[name][1]}".strip()
        return ("; " if name == "cases" else " ").join(rows)

    def until_end(self, name: str) -> str:
        stop = self.source.find(rf"\end{{{name}}}", self.place)
        stop = len(self.source) if stop < 0 else stop
        content = self.source[self.place : stop]
        self.place = stop + len(rf"\end{{{name}}}")
        return content


def _append(out: list[str], piece: str) -> None:
    """Put a space where a script in plain letters would run into the next letter: ``λ_k b_i``."""
    runs_on = piece and out and len(out[-1]) > 1 and piece[0].isalnum() and piece[0] not in _RAISED
    if runs_on and _RUNS_ON.search(out[-1]):
        out.append(" ")
    out.append(piece)


def _grouped(inside: str, always: bool = False) -> str:
    inside = inside.rstrip("\0")
    simple = re.fullmatch(r"[-−]?[\w₀-₉⁰-⁹ᵀ√|]+(\([^()]*\))?", inside) is not None
    return inside if simple and not (always and len(inside) > 1) else f"({inside})"


def _script(inside: str, sign: str) -> str:
    digits: Callable[[str], str] = lambda text: text.translate(_SUBSCRIPTS if sign == "_" else _SUPERSCRIPTS)  # noqa: E731
    moved = digits(inside)
    if moved and all(letter in _RAISED for letter in moved):
        return moved
    plain = r"[^\W_]+" if sign == "_" else r"[^\W_]|\([^()]*\)"
    return f"{sign}{inside}" if re.fullmatch(plain, inside) else f"{sign}({inside})"


def plain_words(text: str) -> str:
    """Words with formulas between dollar signs, in plain text.

    >>> plain_words(r"where $1 + \\alpha \\lambda_k < 0$")
    'where 1 + α λ_k < 0'
    """
    return "".join(plain_text(part) if k % 2 else part for k, part in enumerate(text.split("$")))


def characters_in_latex(text: str) -> str:
    """The symbols of a plain line as mathematics, for a LaTeX that reads no Unicode.

    >>> print(characters_in_latex("several heads only if V v = λ₁ v, vᵀ V ≤ 2"))
    several heads only if V v = $\\lambda$$_{1}$ v, v$^{\\top}$ V $\\leq$ 2
    """
    return "".join(_CHARACTERS.get(each, each) for each in text)


_CHARACTERS = {
    **{
        symbol: rf"$\{name}$"
        for name, symbol in reversed(_SYMBOLS.items())
        if len(symbol) == 1 and not symbol.isascii()
    },
    **{chr(small): f"$_{{{chr(digit)}}}$" for digit, small in _SUBSCRIPTS.items()},
    **{chr(small): f"$^{{{chr(digit)}}}$" for digit, small in _SUPERSCRIPTS.items()},
    "ᵀ": r"$^{\top}$",
}


#: What fits on a line of the book, in characters of running text.
WIDE = 66
_COLON = r"\text{: }"
#: How the right side of a relation begins.
_RELATION = ("=", "<", ">", r"\leq", r"\geq", r"\neq")
_OPENS = re.compile(r"(?:\\bigl\(\s*)+\Z")
#: A sum is split at all its signs, and its terms fill the lines.
_SIGNS = " + | - "
#: Between the entries of a state, and between the coordinates of a token.
_TUPLES = (", (", r", \bigl(", r", \frac")
#: A parenthesis up to this width is not opened; a left side up to that one is not left at the end of a line.
SHORT, STRANDED = 23, 6
_PLACES = (
    r"\qquad \text{where",
    r"\text{ where }",
    r"\text{ contracts ",
    r"\text{if }",
    r"\text{ then }",
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
    _COLON,
    r"\text{ with }",
    r"\text{ such that }",
    r"\text{ and ",
    r"\text{ or ",
    r"\text{ is ",
    r"\quad",
    *_TUPLES,
    r"\wedge",
    r"\vee",
    r"\leq",
    r"\geq",
    " = ",
    "=",
    _SIGNS,
)
_COMMANDS = ((r"\begin{", 1), (r"\end{", -1), (r"\{", 1), (r"\}", -1), (r"\left|", 1), (r"\right|", -1))
_BRACKETS = {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}
_NESTS = frozenset("\\{([}])")
_FIXED = re.compile(r"\\big[lr][()]$")


@lru_cache(maxsize=8192)  # a formula is set in LaTeX, Markdown and HTML, by itself and in the book
def broken(latex: str, wide: int = WIDE) -> str:
    """Break a wide formula at its top-level ``where``, implication, commas, relations, and only then at its signs."""
    if width(latex) <= wide or r"\begin{aligned}" in latex:
        return latex
    pieces = [latex]
    for closed in (False, True, True):  # then also inside parentheses of a fixed size, which may stand on two lines
        for sign in _PLACES:
            if all(width(piece) <= wide for piece in pieces):
                break
            pieces = [part for piece in pieces for part in _split(piece, sign, wide, closed)]
        if closed:  # and of the size of what is inside, where there is no other way
            pieces = [_of_fixed_size(piece) if width(piece) > wide else piece for piece in pieces]
    if len(pieces) == 1:
        return latex
    lines = _filled(pieces, wide)
    return r"\begin{aligned} & " + _as_high(r" \\ & ".join(lines)) + r" \end{aligned}" if len(lines) > 1 else latex


_PARENTHESIS = re.compile(r"\\big([lr])[()]")
_HIGH = re.compile(r"\\frac|\\sum")


def _as_high(lines: str) -> str:
    """Parentheses of a fixed size, higher where a fraction or a sum stands in them; those around words stay."""
    opened: list[re.Match[str]] = []
    for found in list(_PARENTHESIS.finditer(lines)):
        if found[1] == "l":
            opened.append(found)
        elif opened:
            first = opened.pop()
            inside = lines[first.end() : found.start()]
            if _HIGH.search(inside) and r"\text{" not in inside:
                for each in (first, found):  # as long as before
                    lines = f"{lines[: each.start()]}\\Big{lines[each.start() + 4 :]}"
    return lines


def _filled(pieces: list[str], wide: int) -> list[str]:
    """Put short pieces on one line again, but begin a new one at an implication or a ``where``.

    A short left side at the end of a line goes with its equation: ``..., x`` and ``= (1, 2)`` are ``...,`` and ``x = (1, 2)``.
    A short right side goes with the term before it: no line is ``= 0`` alone.
    """
    lines, last = [pieces[0]], ""
    for piece in pieces[1:]:
        begins = piece.lstrip().startswith((r"\qquad \text{where", r"\implies", r"\iff"))
        if not begins and width(lines[-1] + piece) <= wide:
            last = " " + piece
            lines[-1] += last
            continue
        alone = piece.lstrip().startswith(_RELATION) and width(piece) <= STRANDED
        last = last or (_last_term(lines[-1]) if alone else "")
        left = piece.lstrip().startswith("=") and width(last) <= STRANDED and width(last + piece) <= wide
        if last and (left or alone):
            lines[-1], piece = lines[-1].removesuffix(last), last + piece
        lines.append(r"\quad {}" + piece.replace(r"\qquad \text{where", r"\text{where", 1))
        last = ""
    return lines


def _last_term(line: str) -> str:
    """The last term of a sum that has several."""
    for closed in (False, True):
        parts = _split(line, _SIGNS, 0, closed)
        if len(parts) > 1:
            return parts[-1]
    return ""


def _split(piece: str, sign: str, wide: int, through: bool = False) -> list[str]:
    """Split before each top-level occurrence of the sign (after it, for commas and colons), outside brackets of every kind.

    ``through``: parentheses of a fixed size do not count.
    """
    if width(piece) <= wide or not any(each in piece for each in sign.split("|")):
        return [piece]
    depth, cuts, index = 0, [0], 0
    while index < len(piece):
        if through and depth == 0 and piece.startswith(r"\bigl(", index):  # one that fits a line is not opened
            end = _matching(piece, index + 5, "(", ")")
            index = end if width(piece[index:end]) <= SHORT else index + 6
            continue
        if piece[index] in _NESTS:
            depth += 0 if through and _FIXED.search(piece, max(0, index - 5), index + 1) else _nesting(piece, index)
        if (
            depth == 0
            and index > 0
            and piece.startswith(tuple(sign.split("|")), index)
            and not _word_goes_on(piece, index, sign)
            and not (sign == _SIGNS and piece[cuts[-1] : index].rstrip().endswith(_RELATION))
        ):
            after = 2 if sign in _TUPLES else len(sign)
            cut = index + after if sign[0] in ",;" or sign == _COLON else _before_parentheses(piece, index)
            if cut > cuts[-1]:
                cuts.append(cut)
        index += 1
    return [
        piece[start:end] for start, end in zip(cuts, [*cuts[1:], len(piece)], strict=True) if piece[start:end].strip()
    ]


def _before_parentheses(piece: str, index: int) -> int:
    """A parenthesis that opens just before a place goes with what follows: no line ends with it."""
    found = _OPENS.search(piece, 0, index)
    return index if found is None else found.start()


def _of_fixed_size(piece: str) -> str:
    """Parentheses of a fixed size, roots as powers of these and wide quotients as products: they may stand on two lines."""
    piece = piece.replace(r"\left(", r"\bigl(").replace(r"\right)", r"\bigr)")
    start = piece.find(r"\sqrt{")
    while start >= 0:
        end = _matching(piece, start + 5, "{", "}")
        if width(piece[start:end]) > WIDE:
            piece = rf"{piece[:start]}\bigl({piece[start + 6 : end - 1]}\bigr)^{{1/2}}{piece[end:]}"
        start = piece.find(r"\sqrt{", start + 1)
    return _products(_tuples(piece))


def _tuples(piece: str) -> str:
    """Wide tuples of plain parentheses."""
    start = piece.find("(")
    while start >= 0:
        end = _matching(piece, start, "(", ")")
        plain = not piece.endswith((r"\bigl", r"\Big", r"\left"), 0, start) and (start == 0 or piece[start - 1] in "( ")
        if plain and ", " in piece[start:end] and width(piece[start:end]) > WIDE:
            piece = rf"{piece[:start]}\bigl({piece[start + 1 : end - 1]}\bigr){piece[end:]}"
            start += 5
        start = piece.find("(", start + 1)
    return piece


def _products(piece: str) -> str:
    r"""A quotient with a numerator that is wider than a line as a product.

    >>> _products(r"\frac{" + " + ".join(["a b c d"] * 30) + "}{2}")[:26]
    '\\frac{1}{2} \\bigl(a b c d '
    """
    start = piece.find(r"\frac{")
    while start >= 0:
        middle = _matching(piece, start + 5, "{", "}")
        end = _matching(piece, middle, "{", "}")
        above, below = piece[start + 6 : middle - 1], piece[middle + 1 : end - 1]
        if width(above) > WIDE:
            under = rf"\frac{{1}}{{{below}}}" if width(below) <= WIDE else rf"\bigl({below}\bigr)^{{-1}}"
            piece = rf"{piece[:start]}{under} \bigl({above}\bigr){piece[end:]}"
            start += len(under)
        start = piece.find(r"\frac{", start + 1)
    return piece


def _matching(piece: str, start: int, opens: str, closes: str) -> int:
    """The place after the bracket that closes the one at this place."""
    depth = 0
    for place in range(start, len(piece)):
        if piece[place] in opens + closes and (place == 0 or piece[place - 1] != "\\"):
            depth += 1 if piece[place] == opens else -1
            if depth == 0:
                return place + 1
    return len(piece)


def _word_goes_on(piece: str, index: int, sign: str) -> bool:
    """``\\leq`` is not found inside ``\\leqslant``."""
    after = index + len(sign)
    return sign.startswith("\\") and sign[-1].isalpha() and after < len(piece) and piece[after].isalpha()


def _nesting(piece: str, index: int) -> int:
    """How the character at this place changes the depth of braces, brackets, parentheses and environments."""
    for command, change in _COMMANDS:
        if piece.startswith(command, index):
            return change
    if index and piece[index - 1] == "\\":
        return 0
    return _BRACKETS.get(piece[index], 0)
