"""Linearizations of the systems, for symbolic n and d and with no truncation in the step size.

``linearize(system)`` runs the system itself on abstract tokens (:class:`~eigentoken.theory.calculus.CalculusAlgebra`)
and differentiates what comes out along ``x_i -> x_i + eps w_i``.

How a linearization acts at a point with groups of equal tokens: numbers read off the normal form.

Let every token sit on the line through a vector v, and test the derivative with a covector u for which ``u^T v`` and
``u^T (value matrix)`` are known.  By the symmetry of the point the result only contains ``eta_i = u^T w_i``, the means of
eta over the groups, and averages of eta over a mask; a term of any other shape is an error, never dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from eigentoken.documents.spectrum_document import Extension
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
    dot,
    factor,
    normal_form,
    prove_equal,
    vector,
)
from eigentoken.theory.calculus.atoms import Base, Dot, Letters, MaskEntry, Norm, SumExp
from eigentoken.theory.calculus.derivative import Group, GroupPoint, with_norms
from eigentoken.theory.calculus.expressions import Monomial
from eigentoken.theory.calculus.latex import expression_latex
from eigentoken.theory.printing.plain_text import plain_text
from eigentoken.theory.systems.algebra import NoClosedForm, ParameterValue
from eigentoken.theory.systems.catalogue import system as system_named
from eigentoken.theory.systems.system import Space, System, Time

__all__ = [
    "MEAN",
    "PERTURBATION",
    "Linearization",
    "NoClosedForm",
    "Response",
    "height",
    "jacobian_block",
    "jacobian_latex",
    "linearize",
    "norm_symbol",
    "raw_symbol",
    "read_response",
    "symbolic_parameters",
]

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


@dataclass(frozen=True, repr=False)
class Linearization:
    """A system, its step or velocity ``f_i(x)`` and the derivative ``sum_j (df_i/dx_j) w_j``, in the slot index."""

    system: System
    parameters: dict[str, ParameterValue]
    mask: str | None
    step: Expression
    derivative: Expression
    assumptions: Assumptions
    extension: Extension = "homogeneous"

    @property
    def jacobian(self) -> Expression:
        """``(df_i/dx_l) xi``: how token i answers where token l alone moves by xi, see :func:`jacobian_block`."""
        return jacobian_block(self.derivative, self.assumptions)

    @property
    def latex(self) -> str:
        """The exact Jacobian block in the papers' form, compared with the derived one before it is printed."""
        return jacobian_latex(self)

    def __repr__(self) -> str:
        masked = f", {self.mask} mask" if self.mask else ""
        inside = self.latex.removeprefix("\\begin{aligned}\n").removesuffix("\n\\end{aligned}")
        rows = inside.split(", \\\\\n")
        return "\n".join([f"linearization of {self.system.name}{masked}:", *(f"  {plain_text(row)}" for row in rows)])

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex}\n$$"


def linearize(
    system: System | str,
    *,
    mask: str | None = None,
    heads: int | None = None,
    symmetric: bool = False,
    tangent: bool = True,
    extension: Extension = "homogeneous",
    parameters: dict[str, ParameterValue] | None = None,
) -> Linearization:
    """Differentiate the system along ``x_i -> x_i + eps w_i``.

    ``mask`` names a 0/1 matrix (``None``: full, or the system's own causal mask); ``symmetric`` assumes symmetric value
    matrices; ``tangent`` restricts the perturbations to the tangent space.  ``extension`` says how a map is
    continued off the sphere: ``homogeneous`` divides by the true norm, ``unit`` by the norm in
    which ``x_i^T x_i = 1`` was put in.
    """
    if extension not in {"homogeneous", "unit"}:
        raise ValueError(f"extension must be 'homogeneous' or 'unit', got {extension!r}")
    system = system_named(system)
    if system.rotary is not None:
        raise NoClosedForm(
            f"{system.name} is not linearized in symbols: its scores depend on the positions of the tokens"
        )
    if not (system.standard or system.residual):
        raise NoClosedForm(
            f"{system.name} is not linearized in symbols: it has an equation of its own; "
            "classify a point with numbers, its Jacobian is differentiated exactly"
        )
    if mask is not None and not isinstance(mask, str):
        raise ValueError(
            f"mask must be a name such as causal, got a {type(mask).__name__}: the weights are letters here"
        )
    if heads is not None and not system.multihead:
        raise ValueError(f"heads of {system.name} must be left out: the system has one head, got {heads}")
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
        (Dot(base(atom.left), atom.letters, base(atom.right)) if isinstance(atom, Dot) else atom, power)
        for atom, power in monomial.factors
    )
    arrow = None if monomial.arrow is None else (monomial.arrow[0], base(monomial.arrow[1]))
    return Expression({Monomial(monomial.bound, factors, arrow): value})


def norm_name(linearization: Linearization) -> Norm:
    """The norm ``r_i`` that a map divides by."""
    return Norm(next(iter(linearization.assumptions.norms)), (SLOT,))


# -- LaTeX ------------------------------------------------------------------------------------------------------------


def influence_block(found: Linearization) -> Expression:
    """``(du_i/dx_l) xi``, derived from the influence of the system."""
    algebra = CalculusAlgebra()
    push = found.system.influence(algebra, found.parameters, vector("x", SLOT), found.mask)
    return jacobian_block(differentiate(push, direction("x", PERTURBATION), algebra.assumptions), algebra.assumptions)


def jacobian_latex(found: Linearization) -> str:
    """The exact Jacobian block in the papers' form; it is compared with the derived block before it is printed."""
    system, rules = found.system, found.assumptions
    inner = influence_block(found)
    xi, x = vector("xi"), vector("x", SLOT)
    same = delta(SLOT, Index("token", "l"))
    metric = rules.unit.get("x", ())
    W = "".join(letter.name for letter in metric)
    name = r"\frac{\partial u_i}{\partial x_l}"
    if system.time is Time.MAP:
        norm = factor(norm_name(found))
        unit = vector("y", SLOT) / norm
        raw = same * xi + inner * found.parameters["alpha"]
        claimed = (raw - dot(unit, raw, metric) * unit) / norm
        shown = rf"\frac1{{r_i}}\bigl(I-\hat y_i\hat y_i^\top {W}\bigr)\Bigl(\delta_{{il}}I+\alpha {name}\Bigr)"
        shown += (
            rf",\qquad \hat y_i=\frac{{y_i}}{{r_i}},\quad r_i=\lvert y_i\rvert_{{{W}}}"
            if W
            else (r",\qquad \hat y_i=\frac{y_i}{r_i},\quad r_i=\lVert y_i\rVert")
        )
    elif system.space is Space.EUCLIDEAN:
        claimed, shown = inner, name
    else:
        push = system.influence(CalculusAlgebra(), found.parameters, x, found.mask)
        turning = dot(x, push, metric) * xi + dot(xi, push, metric) * x
        claimed = inner - dot(x, inner, metric) * x - same * turning
        shown = rf"\bigl(I-x_ix_i^\top {W}\bigr){name}-\delta_{{il}}\bigl((x_i^\top {W}u_i)I+x_iu_i^\top {W}\bigr)"
    plain = rules if found.extension == "homogeneous" else None
    if plain is None or not prove_equal(found.jacobian, claimed, rules).is_holds:
        raise ValueError(
            f"{system.name}: the structured Jacobian is not the derived one (extension {found.extension!r})"
        )
    influence = expression_latex(normal_form(inner, rules), weights=True, operator="xi", line_width=130)
    lines = [rf"\frac{{\partial f_i}}{{\partial x_l}}&={shown}", rf"{name}&={influence}"]
    if r"\bar x" in influence:
        head = "^{h}" if system.multihead else ""
        lines.append(rf"\bar x{head}_{{i}}&=\sum_{{j}} a{head}_{{ij}} x_{{j}}")
    return "\\begin{aligned}\n" + ", \\\\\n".join(lines) + ".\n\\end{aligned}"


MEAN = "wbar"
ZERO = sp.Integer(0)


@dataclass(frozen=True)
class Response:
    """``eta_i -> own * eta_i + sum_g from_mean[g] * mean_g(eta) + over_mask * sum_j a_ij eta_j``.

    The numbers may contain the symbols for m and r = |m| of their group.  ``a_ij`` is 1/(number of tokens that i sees)
    where i sees j, else 0.
    """

    own: sp.Expr
    from_mean: dict[str, sp.Expr]
    over_mask: sp.Expr = ZERO

    def entry(self, group: str, other: str) -> sp.Expr:
        """The matrix that acts on the means of the groups."""
        return (self.own if group == other else ZERO) + self.from_mean.get(other, ZERO)


def height(found: Linearization, point: GroupPoint, group: Group) -> sp.Expr:
    """``m`` of ``y_i = m x_i`` for a map at the point, before normalization: its sign decides whether x is fixed."""
    if found.system.time is not Time.MAP:
        raise ValueError("only a map has a step before normalization")
    (definition,) = found.assumptions.definitions.values()
    return point.height(definition, group)


def read_response(
    found: Linearization, point: GroupPoint, group: Group, test: str, metric: Letters, rules: Assumptions
) -> Response:
    """The derivative in one group, tested with ``test^T metric``, under the relations of the point."""
    local = replace(point, assumptions=rules)
    names = {(name, each.kind): norm_symbol(each.kind) for name in rules.norms for each in point.groups}
    heights = {group.kind: raw_symbol(group.kind)} if names else {}
    local = replace(local, heights={(of, group.kind): raw_symbol(group.kind) for of, _ in rules.norms.values()})
    value = with_norms(local.value(found.derivative, group), names)
    tested = normal_form(dot(vector(test), value, metric), rules)
    own, over_mask = ZERO, ZERO
    from_mean: dict[str, sp.Expr] = {}
    for monomial, unreduced in tested.terms.items():
        coefficient = _with_heights(unreduced, heights)
        if coefficient == 0:
            continue
        shape, where = _shape(monomial, test, metric)
        if shape == "own":
            own += coefficient
        elif shape == "mean":
            from_mean[where] = from_mean.get(where, ZERO) + coefficient
        else:
            over_mask += coefficient
    return Response(own, from_mean, over_mask)


def _shape(monomial: Monomial, test: str, metric: Letters) -> tuple[str, str]:
    dots = [atom for atom, power in monomial.factors if isinstance(atom, Dot) and power == 1]
    others = [(atom, power) for atom, power in monomial.factors if not isinstance(atom, Dot)]
    if len(dots) == 1 and dots[0].letters == metric and monomial.arrow is None:
        bases = [base for base in (dots[0].left, dots[0].right) if base.name in (PERTURBATION, MEAN)]
        if len(bases) == 1 and test in (dots[0].left.name, dots[0].right.name):
            (base,) = bases
            if not others and not monomial.bound:
                is_mean = base.name == MEAN
                return ("mean", base.indices[0].name) if is_mean else ("own", base.indices[0].kind)
            if base == Base(PERTURBATION, monomial.bound) and _is_uniform_row(others):
                return "mask", base.indices[0].kind
    term = Expression({monomial: sp.Integer(1)})
    raise ValueError(f"the term {term!r} is not explained by the symmetry of the point")


def _is_uniform_row(factors: list[tuple[Any, int]]) -> bool:
    masks = [atom for atom, power in factors if isinstance(atom, MaskEntry) and power == 1]
    sums = [atom for atom, power in factors if isinstance(atom, SumExp) and power == -1]
    return len(masks) == len(sums) == 1 and len(factors) == 2 and not sums[0].exponent


def _with_heights(value: sp.Expr, heights: Mapping[str, sp.Expr]) -> sp.Expr:
    """Powers of the norms ``r_g = |m_g|`` reduced by ``r_g^2 = m_g^2`` to ``1/r_g`` at most; ``r_g`` stays a symbol."""
    reduced = sp.together(value)
    for kind, number in heights.items():
        r = norm_symbol(kind)
        numerator, denominator = sp.fraction(sp.cancel(reduced))
        even_top, odd_top = _modulo_square(numerator, r, number)
        even_bottom, odd_bottom = _modulo_square(denominator, r, number)
        scale = even_bottom**2 - (odd_bottom * number) ** 2
        even = sp.cancel((even_top * even_bottom - odd_top * odd_bottom * number**2) / scale)
        odd = sp.cancel((odd_top * even_bottom - even_top * odd_bottom) / scale)
        reduced = even + sp.cancel(odd * number**2) / r
    return reduced


def _modulo_square(value: sp.Expr, r: sp.Symbol, number: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """``a + b r`` modulo ``r^2 = number^2``."""
    parts = [ZERO, ZERO]
    for (power,), coefficient in sp.Poly(value, r).terms():
        parts[power % 2] += coefficient * number ** (power - power % 2)
    return parts[0], parts[1]


def raw_symbol(kind: str) -> sp.Symbol:
    """``m`` of ``y_i = m x_i``, kept as a symbol; :func:`height` says what it stands for."""
    return sp.Symbol(f"m_{kind}", real=True)


def norm_symbol(kind: str) -> sp.Symbol:
    """The norm ``r`` of the raw step of a token of the group, kept as a symbol."""
    return sp.Symbol(f"r_{kind}", positive=True)
