"""Reduction steps over the dimension-free calculus: for every number of tokens, every dimension, every number of heads.

A step compares what is *derived* from the registered system (its field, differentiated by the calculus) with what is
*claimed*; it holds when the normal form of the difference is empty.  The display is the normal form of the claimed expression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import (
    DIMENSION,
    SLOT,
    Assumptions,
    CalculusAlgebra,
    Expression,
    Index,
    Letter,
    differentiate,
    dot,
    exponential,
    factor,
    instance,
    normal_form,
    vector,
)
from eigentoken.theory.calculus.atoms import Base, Delta, Dot, Exp, Mask, Named, Norm, SumExp
from eigentoken.theory.calculus.expressions import Monomial, row_sum, thawed
from eigentoken.theory.calculus.normal_form import least_spelling
from eigentoken.theory.language.verdicts import Verdict, holds, undecided
from eigentoken.theory.language.word_latex import scalar_latex
from eigentoken.theory.statements.steps import Reduction
from eigentoken.theory.systems.catalogue import system

__all__ = [
    "ALONG",
    "HEAD",
    "TOKEN_I",
    "TOKEN_J",
    "TOKEN_K",
    "along_flow",
    "analytic_step",
    "attention_sum",
    "expression_latex",
    "field_of",
    "tensor_step",
    "token",
]

TOKEN_I, TOKEN_J, TOKEN_K = (Index("token", name) for name in "ijk")
HEAD = Index("head", "h")
ALONG = "along the flow"


def token(index: Index, name: str = "y") -> Expression:
    """The token ``y_i``."""
    return vector(name, index)


def field_of(
    name: str, parameters: dict[str, Any], rules: Assumptions, state: str = "y", mask: Any = None
) -> Expression:
    """The velocity ``dy_i/dt`` of the registered flow, in the slot index, for symbolic n and d."""
    chosen = system(name)
    seen = mask if mask is not None else ("c" if chosen.mask == "causal" else None)
    result: Expression = chosen.advance(CalculusAlgebra(rules), parameters, vector(state, SLOT), seen)
    return result


def along_flow(what: Expression, field: Expression, rules: Assumptions, state: str = "y") -> Expression:
    """The derivative of an expression along the flow."""
    return differentiate(what, {state: lambda index: instance(field, index)}, rules)


def attention_sum(score: Letter, index: Index, state: str = "y", *, over_root_d: bool = True) -> Expression:
    """``Z_i = sqrt(d) sum_k exp(y_i^T P y_k)`` (without the root where it is not asked for)."""
    scores = dot(vector(state, index), vector(state, TOKEN_K), (score,))
    return factor(row_sum(scores, TOKEN_K)) * (sp.sqrt(DIMENSION) if over_root_d else sp.Integer(1))


def pair_exponential(score: Letter, first: Index, second: Index, state: str = "y") -> Expression:
    """``exp(y_i^T P y_j)``."""
    return exponential(dot(vector(state, first), vector(state, second), (score,)))


def tensor_step(
    name: str,
    says: str,
    *,
    derive: Callable[[], Expression],
    claimed: Expression,
    rules: Assumptions,
    left: str,
    uses: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    establishes: tuple[str, ...] = (),
) -> Reduction:
    """``left = claimed``, where ``left`` names what ``derive`` computes from the system; the claim is kept in normal form."""

    def agrees(derived: Expression, wanted: Expression) -> Verdict:
        rest = normal_form(derived - wanted, rules)
        if rest.terms:
            return undecided(f"the normal form of the difference is not empty: {rest}")
        return holds("dimension-free calculus: the normal form of the difference is empty, for symbolic n and d")

    return Reduction(
        name=name,
        says=says,
        uses=uses,
        needs=needs,
        establishes=establishes,
        derive=derive,
        claimed=normal_form(claimed, rules),
        agrees=agrees,
        shows=lambda wanted: f"{left} = {expression_latex(wanted)}",
    )


def not_analytic(expression: Expression) -> list[str]:
    """Factors of the expression that are not analytic functions of the tokens on the whole space.

    Inner products and exponentials of analytic expressions are analytic; quotients are where the denominator has no
    zero, which is known here of exponentials and of attention normalisers (nonempty sums of exponentials).

    >>> not_analytic(dot(token(TOKEN_I), token(TOKEN_J)))
    []
    >>> len(not_analytic(dot(token(TOKEN_I), token(TOKEN_J)) ** -1))
    1
    """
    found = []
    for monomial in expression.terms:
        for atom, power in monomial.factors:
            if isinstance(atom, Exp | SumExp):
                found += not_analytic(thawed(atom.exponent))
            elif not isinstance(atom, Dot | Delta | Mask) or power < 0:
                found.append(f"{atom} to the power {power}")
    return found


def analytic_step(
    name: str,
    says: str,
    *,
    derive: Callable[[], Expression],
    claimed: Expression,
    rules: Assumptions,
    left: str,
    uses: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    establishes: tuple[str, ...] = (),
) -> Reduction:
    """``left = claimed`` as in :func:`tensor_step`, and every factor of the claim is an analytic function of the tokens."""
    plain = tensor_step(
        name,
        says,
        derive=derive,
        claimed=claimed,
        rules=rules,
        left=left,
        uses=uses,
        needs=needs,
        establishes=establishes,
    )

    def agrees(derived: Expression, wanted: Expression) -> Verdict:
        bad = not_analytic(wanted)
        if bad:
            return undecided(f"not known to be analytic: {bad[0]}")
        verdict = plain.agrees(derived, wanted)
        return holds(f"{verdict.reason}; all its factors are analytic") if verdict.is_holds else verdict

    return replace(plain, agrees=agrees)


# -- LaTeX of expressions ---------------------------------------------------------------------------------------------

_BOUND_NAMES = "jklmpqr"


def expression_latex(expression: Expression) -> str:
    """The terms of an expression, bound indices named j, k, l, ...: none of them like an index that is free in any term."""
    spelled = [(least_spelling(monomial, Assumptions()), value) for monomial, value in expression.terms.items()]
    if not spelled:
        return "0"
    text = ""
    free = {_index(index, {}) for index in expression.free_indices}
    for monomial, value in sorted(spelled, key=repr):
        term = _term(monomial, value, free)
        text += term if not text or term.startswith("-") else f" + {term}"
    return text


def _term(monomial: Monomial, value: Any, free: set[str]) -> str:
    fresh = iter(each for each in _BOUND_NAMES if each not in free)
    heads = iter(("h", "g"))
    names = {index: next(heads) if index.kind == "head" else next(fresh) for index in monomial.bound}
    sums = "".join(rf"\sum_{{{names[index]}}} " for index in monomial.bound)
    top = " ".join(_power(_atom(atom, names), power) for atom, power in monomial.factors if power > 0)
    bottom = " ".join(_power(_atom(atom, names), -power) for atom, power in monomial.factors if power < 0)
    body = rf"\frac{{{top or 1}}}{{{bottom}}}" if bottom else top
    arrow = ""
    if monomial.arrow is not None:
        word, base = monomial.arrow
        arrow = " ".join([*(_letter(each, names) for each in word), _base(base, names)])
    scale = "" if value == 1 else "-" if value == -1 else scalar_latex(value)
    parts = " ".join(part for part in (scale, sums, body, arrow) if part)
    return parts if (body or arrow or scale not in ("", "-")) else f"{parts}1"


def _power(text: str, power: int) -> str:
    if power == 1:
        return text
    return rf"{text}^{{{power}}}" if text.startswith("(") else rf"\left({text}\right)^{{{power}}}"


def _index(index: Index, names: dict[Index, str]) -> str:
    return names.get(index, {"*": "m", "slot": "i"}.get(index.name, index.name))


def _indices(indices: tuple[Index, ...], names: dict[Index, str]) -> str:
    return rf"_{{{''.join(_index(each, names) for each in indices)}}}" if indices else ""


def _letter(letter: Letter, names: dict[Index, str]) -> str:
    mark = r"^{\top}" if letter.transposed else ""
    return f"{letter.name}{_indices(letter.indices, names)}{mark}"


def _base(base: Base, names: dict[Index, str]) -> str:
    return f"{base.name}{_indices(base.indices, names)}"


def _atom(atom: Any, names: dict[Index, str]) -> str:
    if isinstance(atom, Dot):
        middle = "".join(f"{_letter(each, names)} " for each in atom.word)
        return rf"({_base(atom.left, names)}^{{\top}} {middle}{_base(atom.right, names)})"
    if isinstance(atom, Exp):
        return rf"e^{{{_inner(atom.exponent, names)}}}"
    if isinstance(atom, SumExp):
        inner = {**names, atom.bound: "m"}
        masks = "".join(rf"{each.name}{_indices((each.query, each.key), inner)} " for each in atom.masks)
        return rf"\Big(\sum_{{m}} {masks}e^{{{_inner(atom.exponent, inner)}}}\Big)"
    if isinstance(atom, Norm | Named):
        return f"{atom.name}{_indices(atom.indices, names)}"
    if isinstance(atom, Delta):
        return rf"\delta{_indices((atom.first, atom.second), names)}"
    if isinstance(atom, Mask):
        return rf"{atom.name}{_indices((atom.query, atom.key), names)}"
    raise TypeError(f"no LaTeX for {type(atom).__name__}: teach expression_latex")


def _inner(frozen: Any, names: dict[Index, str]) -> str:
    parts = []
    for monomial, value in thawed(frozen).terms.items():
        factors = " ".join(_power(_atom(atom, names), power) for atom, power in monomial.factors)
        parts.append(factors if value == 1 else f"{scalar_latex(value)} {factors}")
    return " + ".join(parts) or "0"
