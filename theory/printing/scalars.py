"""The one printer of sympy expressions: scalars, relations and matrix terms in the papers' letters, for amsmath alone."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sympy import Add, And, Expr, Implies, Mul, Or, default_sort_key, denom, preorder_traversal, sqrt, sympify, together
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE

if TYPE_CHECKING:
    import sympy as sp

__all__ = ["POINTS", "formula", "matrix_latex", "ordered", "scalar_latex", "width"]

LETTERS = {
    "ell": r"\ell",
    "rho_omega": r"\rho^{\top}\omega",
    "rhoprime_omega": r"\rho'^{\top}\omega",
}
#: ``lambda_k__2`` belongs to the second head.
OF_HEAD = re.compile(r"(.+)__(\d+)")


class PaperPrinter(LatexPrinter):  # type: ignore[misc]
    """sympy's printer with the papers' habits: transposes as ``\\top``, logarithms as ``\\ln``."""

    def __init__(self, taken: tuple[str, ...] = ()) -> None:
        super().__init__({"ln_notation": True, "fold_short_frac": False, "mul_symbol": None, "symbol_names": {}})
        self.taken = taken

    def _print_Transpose(self, expr: Any) -> str:
        inner = self._print(expr.arg)
        return rf"{inner}^{{\top}}" if expr.arg.is_symbol else rf"\left({inner}\right)^{{\top}}"

    def _print_MatAdd(self, expr: Any) -> str:
        """Symmetric and skew parts of a letter by their names."""
        from sympy import MatrixSymbol

        for letter in expr.atoms(MatrixSymbol):
            for name, sign in ((r"\operatorname{sym}", 1), (r"\operatorname{skew}", -1)):
                part = (letter + sign * letter.T) / 2
                if expr in (part, (-part).doit()):
                    return f"{'' if expr == part else '- '}{name}({self._print(letter)})"
        found: str = super()._print_Add(expr)
        return found

    def _print_MatrixSymbol(self, expr: Any, style: str = "plain") -> str:
        return str(expr.name)

    def _print_Symbol(self, expr: Any, style: str = "plain") -> str:
        name = str(expr.name)
        if name.startswith("[") and name.endswith("]"):
            return name[1:-1]
        of_head = OF_HEAD.fullmatch(name)
        if of_head is not None:
            return rf"{super()._print_Symbol(expr.func(of_head[1]), style)}^{{({of_head[2]})}}"
        found = LETTERS.get(name) or str(super()._print_Symbol(expr, style))
        return rf"\mathrm{{{name}}}" if found == name and len(name) > 1 and name.isalpha() else found

    def parenthesize(self, item: Any, level: int, is_neg: bool = False, strict: bool = False) -> str:
        """What ends in an exponent of its own, as ``|x_i|^2`` does, stands in brackets before it is raised to another."""
        text = str(super().parenthesize(item, level, is_neg=is_neg, strict=strict))
        raised = level == PRECEDENCE["Pow"] and not strict and not item.is_Symbol and has_exponent(text)
        return rf"\left({text}\right)" if raised else text

    def _needs_mul_brackets(self, expr: Any, first: bool = False, last: bool = False) -> bool:
        """A sum over tokens would take in what stands behind it; an inner product is a factor in parentheses."""
        sums = (not last and getattr(expr, "is_sum", False)) or getattr(expr, "is_product", False)
        sums = sums or getattr(expr, "is_negative_term", False)
        if expr.is_Add and _common_number(expr) != 1:
            return False
        return bool(sums or super()._needs_mul_brackets(expr, first=first, last=last))

    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        """Sums as papers write them: ``1 + alpha lambda`` and ``1 - c``, never a minus first where a plus is at hand."""
        terms = list(super()._as_ordered_terms(expr, order=order))
        leading = terms[-1] if len(terms) == 2 and terms[-1].is_positive and terms[-1].is_number else None
        if leading is None and terms[0].could_extract_minus_sign():
            leading = next((each for each in terms if not each.could_extract_minus_sign()), None)
        return terms if leading is None else [leading, *(each for each in terms if each is not leading)]

    def _print_Add(self, expr: Any, order: Any = None) -> str:
        """``a/2 + b/2`` as one fraction: a sum of which every term has the same number below the line, and nothing else there."""
        number = _common_number(expr)
        if number == 1:
            return str(super()._print_Add(expr, order=order))
        return rf"\frac{{{self._print(Add(*(number * each for each in expr.args)))}}}{{{number}}}"

    def _print_Mul(self, expr: Any) -> str:
        """A sum in which fractions stand in fractions stands beside another fraction, not in it."""
        sums = [each for each in expr.args if each.is_Add and fraction_levels(self._print(each)) > 1]
        if len(sums) == 1:
            rest = Mul(*(each for each in expr.args if each != sums[0]))
            if denom(rest) != 1 and not rest.is_Add:
                return rf"{self._print(rest)} \left({self._print(sums[0])}\right)"
        return str(super()._print_Mul(expr))

    def _print_And(self, e: Any) -> str:
        return self._joined(e, "and")

    def _print_Or(self, e: Any) -> str:
        return self._joined(e, "or")

    def _joined(self, expression: Any, word: str) -> str:
        inner = [
            rf"\left({self._print(each)}\right)" if each.func in (And, Or, Implies) else self._print(each)
            for each in sorted(expression.args, key=lambda each: each.sort_key())
        ]
        return rf" \ \text{{{word}}}\ ".join(inner)

    def _print_Not(self, e: Any) -> str:
        return rf"\text{{not }}\left({self._print(e.args[0])}\right)"

    def _print_Implies(self, e: Any, altchar: Any = None) -> str:
        return rf"{self._print(e.args[0])} \Rightarrow {self._print(e.args[1])}"

    def _print_Pow(self, expr: Any) -> str:
        text = str(super()._print_Pow(expr))
        root = text.startswith(r"\sqrt{") and text.endswith("}")
        return rf"\sqrt{{{bare(text[6:-1])}}}" if root else text

    def _print_Abs(self, expr: Any, exp: Any = None) -> str:
        text = rf"\left|{bare(self._print(expr.args[0]))}\right|"  # a bare | next to another reads as one double bar
        return text if exp is None else f"{text}^{{{exp}}}"


def _common_number(expr: Any) -> int:
    """The number below the line of every term of a sum, where nothing else stands there; else 1.

    A quantity of tokens prints its own sum, with its own fractions.
    """
    below = {each.as_coeff_Mul()[0].q if each.as_coeff_Mul()[0].is_Rational else 1 for each in expr.args}
    if len(below) != 1 or below == {1} or any(denom(each.as_coeff_Mul()[1]) != 1 for each in expr.args):
        return 1
    return 1 if any(hasattr(part, "is_sum") for part in preorder_traversal(expr)) else int(below.pop())


def bare(text: str) -> str:
    r"""Without the one pair of parentheses around all of it.

    >>> print(bare(r"\left(a + b\right)"), bare(r"\left(a\right) + \left(b\right)"))
    a + b \left(a\right) + \left(b\right)
    """
    depth, pieces = 0, re.split(r"(\\left\(|\\right\))", text)
    if not (text.startswith(r"\left(") and text.endswith(r"\right)")):
        return text
    for place, piece in enumerate(pieces):
        depth += {r"\left(": 1, r"\right)": -1}.get(piece, 0)
        if depth == 0 and piece == r"\right)" and place < len(pieces) - 2:
            return text
    return text[6:-7]


def has_exponent(text: str) -> bool:
    r"""Does an exponent stand outside all brackets and braces?

    >>> [has_exponent(each) for each in (r"\left|x_{i}\right|^{2}", r"\left|x^{2}\right|", "(x_i^{\top} x_j)", r"\frac{x^2}{y}")]
    [True, False, False, False]
    """
    depth = 0
    for part in re.findall(r"\\left\b|\\right\b|\\[lr]Vert|[][(){}^]", text):
        if part == "^" and depth == 0:
            return True
        depth += 1 if part in (r"\left", r"\lVert", *"([{") else 0 if part == "^" else -1
    return False


def fraction_levels(text: str) -> int:
    r"""How deep fractions stand in fractions.

    >>> fraction_levels(r"a + \frac{1}{b}"), fraction_levels(r"\frac{1 + \frac{a}{b}}{c}")
    (1, 2)
    """
    open_: list[bool] = []
    deepest, level, closed = 0, 0, False
    for place, letter in enumerate(text):
        if letter == "{":
            starts = text.endswith(r"\frac", 0, place) or (text[:place].endswith("}") and closed)
            open_.append(starts)
            level += starts
            deepest = max(deepest, level)
        elif letter == "}" and open_:
            closed = open_.pop()
            level -= closed
    return deepest


#: An inner product in parentheses that grow: nothing in it is taller than a letter.
_INNER_PRODUCT = re.compile(r"\\left\(([^()\\]*\^\{\\top\}[^()\\]*(?:\^\{\\top\}[^()\\]*)*)\\right\)")


@lru_cache(maxsize=50_000, typed=True)  # a document says the same formula in many places
def scalar_latex(expression: sp.Basic, taken: tuple[str, ...] = ()) -> str:
    """LaTeX of a scalar expression or relation; sums in it do not run over a letter that is ``taken``."""
    return _INNER_PRODUCT.sub(r"(\1)", str(PaperPrinter(taken).doprint(expression)))


def matrix_latex(term: sp.Basic) -> str:
    """LaTeX of a matrix term."""
    return scalar_latex(term)


def ordered(expression: sp.Basic) -> list[sp.Basic]:
    """The arguments in the order of sympy, so that a formula prints the same each time."""
    return sorted(expression.args, key=default_sort_key)


def formula(expression: sp.Basic) -> str:
    r"""A derived scalar, relation or Boolean, put in order for print: one fraction, ``1 - b`` rather than ``-(b - 1)``.

    >>> from sympy import symbols
    >>> alpha, b = symbols("alpha b")
    >>> formula(-alpha * (b - 1) / 2)
    '\\frac{\\alpha \\left(1 - b\\right)}{2}'
    """
    return scalar_latex(_presented(sympify(expression)))


def _presented(expression: Any) -> Any:
    """The same value, in the form in which it is read."""
    if not isinstance(expression, Expr):
        return expression.func(*map(_presented, expression.args), evaluate=False) if expression.args else expression
    if expression.is_Add and not expression.has(sqrt(2)):
        whole = together(expression)
        expression = whole if denom(whole) != 1 else expression
    return _without_minus(expression) if expression.is_Mul else expression


def _without_minus(product: Any) -> Any:
    """``-a (b - 1)`` as ``a (1 - b)``: the sign goes into the first sum that it turns positive at zero."""
    number, factors = product.as_coeff_mul()
    if not number.is_negative:
        return product
    for place, each in enumerate(factors):
        base, power = each.as_base_exp()
        if base.is_Add and abs(power) == 1 and (-base).subs(dict.fromkeys(base.free_symbols, 0)).is_positive:
            turned = Add(*(-term for term in base.args)) ** power
            return Mul(-number, *factors[:place], turned, *factors[place + 1 :])
    return product


# -- how wide a formula is set ---------------------------------------------------------------------------------------------------
# How wide LaTeX sets a formula, without LaTeX: in characters of the book, by the widths of letters and the spaces around signs.
#
# Scripts are smaller, a fraction is as wide as its wider part, and a limit stands below its sum.  The numbers are those of
# Computer Modern at 11pt, in points; the true width is 0.9 to 1.2 times the sum (a test that runs LaTeX holds it).

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
