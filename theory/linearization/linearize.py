"""Linearizations of the systems, for symbolic n and d and with no truncation in the step size.

``linearize(system)`` runs the system itself on abstract tokens (:class:`~eigentoken.theory.calculus.CalculusAlgebra`)
and differentiates what comes out along ``x_i -> x_i + eps w_i``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import (
    ALPHA,
    HEAD,
    SLOT,
    Assumptions,
    CalculusAlgebra,
    Expression,
    Index,
    Letter,
    delta,
    differentiate,
    direction,
    normal_form,
    vector,
)
from eigentoken.theory.calculus.atoms import Base, Dot, Norm
from eigentoken.theory.calculus.expressions import Monomial, zero
from eigentoken.theory.systems.catalogue import Space, System, Time

__all__ = ["PERTURBATION", "Linearization", "jacobian_block", "linearize", "step_series", "symbolic_parameters"]

PERTURBATION = "w"


def symbolic_parameters(system: System, heads: int | None = None) -> dict[str, Any]:
    """Letters for the parameters of a system; ``heads=None`` is a symbolic number H of heads.

    >>> from eigentoken.theory.systems.catalogue import system
    >>> symbolic_parameters(system("attention-map"))["V"]
    Letter(name='V', transposed=False, indices=())
    """
    parameters: dict[str, Any] = {}
    if system.multihead:
        names = [name for name in (system.value, system.score) if name]
        if heads is None:
            parameters["heads"] = [{name: Letter(name, False, (HEAD,)) for name in names}]
        else:
            parameters["heads"] = [{name: Letter(f"{name}_{h}") for name in names} for h in range(1, heads + 1)]
    else:
        for name in (system.value, system.score):
            if name:
                parameters[name] = Letter(name)
    if system.metric:
        parameters[system.metric] = Letter(system.metric)
    if system.time is Time.MAP:
        parameters["alpha"] = ALPHA
    return parameters


@dataclass(frozen=True)
class Linearization:
    """A system, its step or velocity ``f_i(x)`` and the derivative ``sum_j (df_i/dx_j) w_j``, in the slot index."""

    system: System
    parameters: dict[str, Any]
    mask: str | None
    step: Expression
    derivative: Expression
    assumptions: Assumptions
    extension: str = "homogeneous"

    def block(self) -> Expression:
        """``(df_i/dx_l) xi``, see :func:`jacobian_block`."""
        return jacobian_block(self.derivative, self.assumptions)

    def _repr_latex_(self) -> str:
        from eigentoken.theory.linearization.latex import jacobian_latex

        return f"$$\n{jacobian_latex(self)}\n$$"


def linearize(
    system: System,
    *,
    mask: str | None = None,
    heads: int | None = None,
    symmetric: bool = False,
    tangent: bool = True,
    extension: str = "homogeneous",
    parameters: dict[str, Any] | None = None,
) -> Linearization:
    """Differentiate the system along ``x_i -> x_i + eps w_i``.

    ``mask`` names a 0/1 matrix (``None``: full, or the system's own causal mask); ``symmetric`` assumes symmetric value
    matrices; ``tangent`` restricts the perturbations to the tangent space.  ``extension`` says how a map is
    continued off the sphere: ``homogeneous`` divides by the true norm, ``unit`` by the norm in
    which ``x_i^T x_i = 1`` was put in.
    """
    if extension not in {"homogeneous", "unit"}:
        raise ValueError(f"extension must be 'homogeneous' or 'unit', got {extension!r}")
    given = symbolic_parameters(system, heads) if parameters is None else parameters
    mask = "causal" if mask is None and system.mask == "causal" else mask
    algebra = CalculusAlgebra(_known(system, given, symmetric, tangent))
    step = system.advance(algebra, given, vector("x", SLOT), mask)
    if extension == "unit":
        if system.time is not Time.MAP:
            raise ValueError("extension='unit' belongs to maps: a flow divides by no norm")
        names = dict.fromkeys(algebra.assumptions.norms, "x")
        algebra.assumptions = algebra.assumptions.extended(unit_in_norm=names)
    rules = algebra.assumptions
    derivative = normal_form(differentiate(step, direction("x", PERTURBATION), rules), rules)
    return Linearization(system, given, mask, step, derivative, rules, extension)


def _known(system: System, parameters: dict[str, Any], symmetric: bool, tangent: bool) -> Assumptions:
    metric = () if system.metric is None else (parameters[system.metric],)
    names = {letter.name for letter in metric}
    if symmetric and system.value:
        groups = parameters["heads"] if system.multihead else [parameters]
        names |= {group[system.value].name for group in groups if group.get(system.value) is not None}
        names.add(system.value)
    rules = Assumptions(symmetric=frozenset(names), totals={system.value: system.value} if system.value else {})
    if system.space is Space.EUCLIDEAN:
        return rules
    rules = rules.extended(unit={"x": metric})
    return rules.extended(tangent={("x", PERTURBATION): metric}) if tangent else rules


def jacobian_block(derivative: Expression, assumptions: Assumptions, at: str = "xi") -> Expression:
    """``(df_i/dx_l) xi``: the derivative with only token l perturbed, by xi; i is the slot index.

    A bound index on the perturbation becomes l, a perturbation of token i itself gets a Kronecker delta.
    """
    target = Index("token", "l")

    def of_term(monomial: Monomial, value: sp.Expr) -> Expression:
        index = _perturbed(monomial)
        if index in monomial.bound:
            kept = tuple(other for other in monomial.bound if other != index)
            body = Expression({Monomial(kept, monomial.factors, monomial.arrow): value}).at((index, target))
            return body.mapped(lambda m, c: _renamed(m, c, at))
        body = Expression({monomial: value}).mapped(lambda m, c: _renamed(m, c, at))
        return body * delta(index, target)

    return normal_form(derivative.mapped(of_term), assumptions)


def _perturbed(monomial: Monomial) -> Index:
    """The index of the one perturbation in the monomial."""
    found = []
    if monomial.arrow is not None and monomial.arrow[1].name == PERTURBATION:
        found.append(monomial.arrow[1].indices[0])
    for atom, _ in monomial.factors:
        if isinstance(atom, Dot):
            found += [base.indices[0] for base in (atom.left, atom.right) if base.name == PERTURBATION]
    if len(found) != 1:
        raise ValueError(f"a linear term has one perturbation, got {len(found)}")
    return found[0]


def _renamed(monomial: Monomial, value: sp.Expr, name: str) -> Expression:
    def base(old: Base) -> Base:
        return Base(name) if old.name == PERTURBATION else old

    factors = tuple(
        (Dot(base(atom.left), atom.word, base(atom.right)) if isinstance(atom, Dot) else atom, power)
        for atom, power in monomial.factors
    )
    arrow = None if monomial.arrow is None else (monomial.arrow[0], base(monomial.arrow[1]))
    return Expression({Monomial(monomial.bound, factors, arrow): value})


def step_series(linearization: Linearization, order: int) -> list[Expression]:
    """The coefficients of ``alpha^0 .. alpha^order`` of a map ``x_i + alpha ...``, with ``u_i`` kept by name.

    With ``c_i = x_i^T u_i`` and ``|u_i|^2`` the norm is ``r_i^2 = 1 + 2 alpha c_i + alpha^2 |u_i|^2``; the series of
    its inverse times ``x_i + alpha u_i`` follows.  The exact map is what is expanded.
    """
    if linearization.system.time is not Time.MAP:
        raise ValueError("only a map has a series in its step size")
    from eigentoken.theory.calculus import dot, one

    x, u = vector("x", SLOT), vector("u", SLOT)
    rules = linearization.assumptions
    pair, square = dot(x, u), dot(u, u)
    excess = sp.Symbol("t")
    binomial = sp.series((1 + excess) ** sp.Rational(-1, 2), excess, 0, order + 1).removeO()
    inverse_norm = [zero() for _ in range(order + 1)]
    for power in range(order + 1):
        weight = binomial.coeff(excess, power)
        for squares in range(power + 1):
            degree = 2 * squares + (power - squares)
            if degree <= order:
                term = pair ** (power - squares) * square**squares if power else one()
                scale = weight * sp.binomial(power, squares) * 2 ** (power - squares)
                inverse_norm[degree] = inverse_norm[degree] + term * scale
    coefficients = []
    for degree in range(order + 1):
        total = inverse_norm[degree] * x
        if degree:
            total = total + inverse_norm[degree - 1] * u
        coefficients.append(normal_form(total, rules))
    return coefficients


def norm_name(linearization: Linearization) -> Norm:
    """The norm ``r_i`` that a map divides by."""
    return Norm(next(iter(linearization.assumptions.norms)), (SLOT,))
