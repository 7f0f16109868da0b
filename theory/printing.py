"""LaTeX for systems, Jacobian blocks, spectra and criteria: the papers' letters, amsmath only.

What is printed is what was checked: the structured form of a Jacobian is compared with the derived one by the normal
form before it is printed.  (Conditions, claims and derivations are printed by the words themselves.)
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter

from eigentoken.theory.spectrum import Entry, Spectrum
from eigentoken.theory.systems import Space, System, Time

__all__ = [
    "criterion_latex",
    "entry_latex",
    "formula",
    "proof_latex",
    "spectrum_latex",
    "statement_latex",
    "system_latex",
]

_NAMES = {
    "lambda_l": r"\lambda_\ell",
    "lambda_k": r"\lambda_k",
    "lambda_1": r"\lambda_1",
    "lambda_2": r"\lambda_2",
    "lambda_d": r"\lambda_d",
    "rho_omega": r"\rho^\top\omega",
    "rhoprime_omega": r"\rho'^\top\omega",
}


class _Printer(LatexPrinter):  # type: ignore[misc]
    """Constants first, plain parentheses, no space noise."""

    def _print_Symbol(self, symbol: sp.Symbol, style: str = "plain") -> str:
        name = str(symbol.name)
        if name in _NAMES:
            return _NAMES[name]
        if name.startswith(("lambda_k", "lambda_l")):
            index = "k" if name[7] == "k" else r"\ell"
            return rf"\lambda_{index}^{{({name[8:]})}}"
        if name.startswith("b_") and len(name) > 3:
            return rf"b_{name[2]}^{{({name[3:]})}}"
        return str(super()._print_Symbol(symbol, style))

    def _as_ordered_terms(self, expr: sp.Expr, order: str | None = None) -> list[sp.Expr]:
        """Positive terms first, and a constant before the rest."""
        return sorted(sp.Add.make_args(expr), key=_place_in_sum)

    def _print_Mul(self, expr: sp.Expr) -> str:
        if not expr.is_Mul:
            return str(super()._print_Mul(expr))
        numbers, greek, latin, others = [], [], [], []
        for factor in expr.args:
            base = factor.as_base_exp()[0]
            if factor.is_number:
                numbers.append(factor)
            elif base.is_Symbol and _is_greek(str(base.name)):
                greek.append(factor)
            elif base.is_Symbol:
                latin.append(factor)
            else:
                others.append(factor)
        if numbers and sp.Mul(*numbers).is_negative:
            for place, factor in enumerate(others):
                if factor.is_Add and (-factor).subs(dict.fromkeys(factor.free_symbols, 0)).is_positive:
                    rest = [*numbers, *greek, *latin, *others[:place], *others[place + 1 :]]
                    return str(self._print(sp.Mul(-1, *rest) * (-factor)))
        ordered = [*numbers, *sorted(greek, key=str), *sorted(latin, key=str), *others]
        return str(super()._print_Mul(sp.Mul(*ordered, evaluate=False)))

    def _print_Abs(self, expression: sp.Abs, exp: str | None = None) -> str:
        inner = rf"\lvert {self._print(expression.args[0])}\rvert"
        return inner if exp is None else rf"{inner}^{{{exp}}}"

    def _print_And(self, expression: sp.Basic) -> str:
        return r"\ \text{and}\ ".join(self._clause(part) for part in _ordered(expression))

    def _print_Or(self, expression: sp.Basic) -> str:
        return r"\ \text{or}\ ".join(self._clause(part) for part in _ordered(expression))

    def _print_Not(self, expression: sp.Basic) -> str:
        return rf"\text{{not }}({self._print(expression.args[0])})"

    def _print_Equivalent(self, expression: sp.Basic, altchar: str | None = None) -> str:
        return r"\iff ".join(self._clause(part) for part in _ordered(expression))

    def _print_BooleanTrue(self, expression: sp.Basic) -> str:
        return r"\text{always}"

    def _print_BooleanFalse(self, expression: sp.Basic) -> str:
        return r"\text{never}"

    def _clause(self, part: sp.Basic) -> str:
        shown = self._print(part)
        return f"({shown})" if isinstance(part, (sp.And, sp.Or, sp.Equivalent)) else str(shown)


def _place_in_sum(term: sp.Expr) -> tuple[bool, int, str]:
    return bool(term.could_extract_minus_sign()), 0 if term.is_number else 1, str(term)


def _is_greek(name: str) -> bool:
    return name.split("_")[0] in {"alpha", "beta", "delta", "kappa", "lambda", "mu", "nu", "rho", "omega", "sigma"}


def _ordered(expression: sp.Basic) -> list[sp.Basic]:
    return sorted(expression.args, key=sp.default_sort_key)


def formula(expression: Any) -> str:
    r"""A scalar, relation or Boolean.

    >>> formula((1 + sp.Symbol("alpha") * sp.Symbol("lambda_l")) / 2)
    '\\frac{1 + \\alpha \\lambda_\\ell}{2}'
    """
    printer = _Printer({"order": "none", "mul_symbol": None, "fold_short_frac": False})
    text = str(printer.doprint(_without_halves(sp.sympify(expression))))
    return text.replace(r"\left(", "(").replace(r"\right)", ")").replace(r"\cdot", "").replace("{k}", "k")


def _without_halves(expression: Any) -> Any:
    """Half of a sum as one fraction, which reads better than two."""
    if isinstance(expression, sp.Expr) and not expression.has(sp.sqrt(2)) and expression.is_Add:
        together = sp.together(expression)
        return together if sp.denom(together) != 1 else expression
    return expression


# -- systems ----------------------------------------------------------------------------------------------------------


def system_latex(system: System) -> str:
    """The equations of a system, with its state space and where it is defined, as an ``aligned`` block."""
    head = "^h" if system.multihead else ""
    lower = "_h" if system.multihead else ""
    value = f"{system.value}{lower}" if system.value else ""
    mask = r"j\le i" if system.mask == "causal" else "j"
    root = r"\frac1{\sqrt d}" if system.over_root_d else ""
    weights = rf"a{head}_{{ij}}" if system.score else r"\tfrac1n"
    total = r"\sum_{h=1}^{H}" if system.multihead else ""
    influence = rf"u_i={root}{total}{value}\sum_{{{mask}}}{weights}\,x_j"
    lines = []
    metric = system.metric or ""
    norm = rf"\lvert y_i\rvert_{{{metric}}}" if metric else r"\lVert y_i\rVert"
    if system.time is Time.MAP:
        lines.append(rf"x_i^+&=\frac{{y_i}}{{{norm}}},\qquad y_i=x_i+\alpha u_i,\qquad {influence},")
    elif system.space is Space.EUCLIDEAN:
        lines.append(rf"\dot x_i&=u_i,\qquad {influence},")
    else:
        lines.append(rf"\dot x_i&=u_i-(x_i^\top {metric}u_i)\,x_i,\qquad {influence},")
    if system.score:
        score = f"{system.score}{lower}"
        below = r"l\le i" if system.mask == "causal" else "l"
        lines.append(
            rf"a{head}_{{ij}}&=\frac{{\exp(x_i^\top {score}x_j)}}{{\sum_{{{below}}}\exp(x_i^\top {score}x_l)}},"
        )
    spaces = {
        Space.SPHERE: r"x_i\in S^{d-1}=\{x\in\mathbf R^d:\ x^\top x=1\}",
        Space.ELLIPSOID: rf"x_i\in\{{x\in\mathbf R^d:\ x^\top {metric}x=1\}},\quad {metric}={metric}^\top\succ0",
        Space.EUCLIDEAN: r"x_i\in\mathbf R^d",
    }
    domain = r";\quad\text{defined where every }y_i\neq0" if system.time is Time.MAP else ""
    step = r",\quad\alpha>0" if system.time is Time.MAP else ""
    lines.append(rf"&{spaces[system.space]},\quad i=1,\dots,n{step}{domain}.")
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


# -- spectra ----------------------------------------------------------------------------------------------------------


def entry_latex(entry: Entry) -> tuple[str, str]:
    """The value and the multiplicity of an entry."""
    runs = ",\\ ".join(run.latex for run in entry.runs)
    value = formula(entry.value).replace(r"\frac", r"\dfrac", 1)
    return value + (rf"\quad({runs})" if runs else ""), formula(entry.multiplicity)


def spectrum_latex(spectrum: Spectrum) -> str:
    """The spectrum as a table: class, value, multiplicity, eigenvectors; then the block and the abbreviations."""
    rows = []
    blocks: list[sp.ImmutableMatrix] = []
    listed = dict.fromkeys(entry.block for entry in spectrum.entries if entry.block is not None)
    names = [r"B_\ell"] if len(listed) == 1 else [rf"B_\ell^{{({place})}}" for place in range(1, len(listed) + 1)]
    for entry in spectrum.entries:
        if entry.block is not None:
            if entry.block in blocks:
                continue
            blocks.append(entry.block)
            size = entry.block.rows
            runs = ",\\ ".join(run.latex for run in entry.runs if run.symbol != entry.value)
            which = "two" if size == 2 else str(size)
            value = rf"\text{{the {which} eigenvalues of }}{names[len(blocks) - 1]}" + (
                rf"\quad({runs})" if runs else ""
            )
            each = formula(entry.multiplicity)
            multiplicity = rf"{each}\text{{ each}}"
        else:
            value, multiplicity = entry_latex(entry)
        title = entry.title.replace("+v_k", "$+v_k$").replace("-v_k", "$-v_k$").replace(r"\rho", r"$\rho$")
        if not entry.tangent:
            title += f" ({entry.extension} extension)"
        rows.append(rf"\text{{{title}}} & {value} & {multiplicity} & {entry.eigenvectors}")
    header = r"\text{class} & \text{eigenvalue} & \text{multiplicity} & \text{eigenvectors} \\ \hline\rule{0pt}{16pt}"
    gap = " \\\\[7pt]\n"
    table = f"\\begin{{array}}{{llll}}\n{header}\n{gap.join(rows)}\n\\end{{array}}"
    after = []
    after += [rf"{name}&={_matrix(block)}" for name, block in zip(names, blocks, strict=True)]
    after += [rf"{formula(letter)}&={formula(meaning)}" for letter, meaning in spectrum.abbreviations]
    if spectrum.conditions:
        after.append(r"&\text{where }" + ",\\quad ".join(formula(condition) for condition in spectrum.conditions))
    if not after:
        return table
    return (
        "\\begin{gathered}\n"
        + table
        + " \\\\[6pt]\n\\begin{aligned}\n"
        + " \\\\\n".join(after)
        + "\n\\end{aligned}\n\\end{gathered}"
    )


def _matrix(block: sp.ImmutableMatrix) -> str:
    rows = [
        " & ".join(
            rf"\dfrac{{{formula(sp.numer(e))}}}{{{formula(sp.denom(e))}}}" if sp.denom(e) != 1 else formula(e)
            for e in row
        )
        for row in block.tolist()
    ]
    return "\\begin{pmatrix}\n" + " \\\\[8pt]\n".join(rows) + "\n\\end{pmatrix}"


# -- criteria ---------------------------------------------------------------------------------------------------------


def statement_latex(hypotheses: tuple[Any, ...], conclusion: Any) -> str:
    """``hypotheses => conclusion``, on several lines where it is long."""
    given = _lines([formula(each) for each in hypotheses], ",\\ ")
    if isinstance(conclusion, sp.Equivalent):
        sides = [formula(part) for part in _ordered(conclusion)]
        claim = [sides[0], *(rf"\iff\ {side}" for side in sides[1:])]
    elif isinstance(conclusion, sp.And):
        sides = [formula(part) for part in _ordered(conclusion)]
        claim = [sides[0], *(rf"\text{{and}}\ {side}" for side in sides[1:])]
    else:
        claim = [formula(conclusion)]
    if not given:
        return claim[0] if len(claim) == 1 else _aligned(claim)
    return _aligned([*given, rf"\Longrightarrow\ {claim[0]}", *claim[1:]])


def _lines(parts: list[str], separator: str, width: int = 100) -> list[str]:
    """The parts joined, with a new line where one gets long."""
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(part) <= width:
            lines[-1] += separator + part
        else:
            if lines:
                lines[-1] += ","
            lines.append(part)
    return lines


def _aligned(lines: list[str]) -> str:
    if len(lines) == 1:
        return lines[0]
    return "\\begin{aligned}\n" + " \\\\\n".join(f"&{line}" for line in lines) + "\n\\end{aligned}"


def criterion_latex(criterion: Any) -> str:
    """The criterion in words and one display."""
    given = ",\\ ".join(formula(each) for each in criterion.hypotheses)
    arrow = r"\iff" if criterion.exact else r"\impliedby"
    condition = (
        r"\text{the point is unstable}"
        if criterion.condition is sp.false
        else rf"\text{{the point is stable}}{arrow} {formula(criterion.condition)}"
    )
    if not given:
        return f"\\[\n{condition}.\n\\]"
    return f"\\[\n{given}\\ \\Longrightarrow\\ \\bigl({condition}\\bigr).\n\\]"


def proof_latex(criterion: Any) -> str:
    """The lemmas of the proof, one item each, as they are checked."""
    items = []
    for lemma in criterion.proof:
        if hasattr(lemma, "left"):
            shown = f"{lemma.shown or formula(lemma.left)}={formula(lemma.right)}"
        else:
            shown = statement_latex(lemma.hypotheses, lemma.conclusion)
        items.append(f"\\item {_words(lemma.name)}:\n\\[\n{shown}\n\\]")
    return "\\begin{enumerate}\n" + "\n".join(items) + "\n\\end{enumerate}\n" + _words(criterion.words)


def _words(text: str) -> str:
    """Plain words with the letters of the formulas in mathematics."""
    import re

    text = re.sub(r"\b(lambda|kappa|mu|alpha|delta)(_\w+)?\b", lambda m: f"${_letter(m.group(0))}$", text)
    text = re.sub(r"(?<![\w$])([bvmGTD]_\w+)", r"$\1$", text)
    return (
        text.replace("<=", r"$\le$")
        .replace(">=", r"$\ge$")
        .replace("!=", r"$\ne$")
        .replace("<", "$<$")
        .replace(">", "$>$")
        .replace("|", "$|$")
        .replace("^", r"\^{}")
    )


def _letter(word: str) -> str:
    stem, _, index = word.partition("_")
    index = {"l": r"\ell"}.get(index, index)
    return f"\\{stem}" + (f"_{index}" if index else "")
