"""LaTeX for scalars, relations and the equations of a system: the papers' letters, amsmath only."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter

from eigentoken.theory.systems.system import Space, System, Time

__all__ = ["formula", "ordered", "system_latex"]

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
        return r"\ \text{and}\ ".join(self._clause(part) for part in ordered(expression))

    def _print_Or(self, expression: sp.Basic) -> str:
        return r"\ \text{or}\ ".join(self._clause(part) for part in ordered(expression))

    def _print_Not(self, expression: sp.Basic) -> str:
        return rf"\text{{not }}({self._print(expression.args[0])})"

    def _print_Equivalent(self, expression: sp.Basic, altchar: str | None = None) -> str:
        return r"\iff ".join(self._clause(part) for part in ordered(expression))

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


def ordered(expression: sp.Basic) -> list[sp.Basic]:
    """The arguments in the order of sympy, so that a formula prints the same each time."""
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
