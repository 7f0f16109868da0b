"""Polygonal points: ``sum_j x_j = 0`` (Oja) or ``sum_j a_ij x_j = 0`` for every i (attention).

The raw step is then ``y_i = x_i``.  At an Oja polygon the derivative is the identity plus a map through the mean,
``w_i + c P_i V wbar``; its nontrivial eigenvalues are those of the d x d matrix ``c Pbar V``, ``Pbar`` the mean of the
``P_i``.  At an antipodal attention polygon (``x_i = +-z``, half each, ``z^T M z = 0``) three blocks act on ``z^perp``.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from eigentoken.theory.calculus import (
    ALPHA,
    DIMENSION,
    SLOT,
    TOKENS,
    Assumptions,
    Base,
    Expression,
    Index,
    Letter,
    dot,
    matrix,
    normal_form,
    prove_equal,
    vector,
    zero,
)
from eigentoken.theory.calculus.atoms import Norm
from eigentoken.theory.calculus.derivative import Group, GroupPoint, expand_definitions, substitute
from eigentoken.theory.calculus.expressions import Monomial
from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.linearization.linearize import PERTURBATION, Linearization, linearize
from eigentoken.theory.linearization.spectrum import EigenvalueFamily, Entry, Spectrum
from eigentoken.theory.systems.system import System, Time

__all__ = ["AntipodalBlocks", "antipodal_blocks", "antipodal_spectrum", "polygonal_derivative", "polygonal_spectrum"]

NU = sp.Symbol("nu", real=True)


def polygonal_derivative(system: System) -> tuple[Expression, Assumptions]:
    """``sum_j (df_i/dx_j) w_j`` at a polygonal point, for tangent perturbations.

    >>> from eigentoken.theory.systems.catalogue import system
    >>> print(polygonal_derivative(system("oja-map"))[0])
    w_slot + (-alpha/n) sum_1 <x_slot|V|w_1> x_slot + (alpha/n) sum_1 V w_1
    """
    if system.multihead or system.value is None:
        raise ValueError(f"{system.name}: a single-head system with a value matrix is expected")
    found = linearize(system)
    families = frozenset({"x"})
    zero_kind = {"zero_sums": families} if system.score is None else {"zero_averages": families}
    rules = found.assumptions.extended(**zero_kind)
    return derivative_at_rest(found, rules), rules


def derivative_at_rest(found: Linearization, rules: Assumptions) -> Expression:
    """The derivative where no token is pushed: the raw step of a map is then the point itself, and its norms are 1."""
    if found.system.time is Time.FLOW:
        return normal_form(found.derivative, rules)
    (definition,) = rules.definitions.values()
    if not prove_equal(expand_definitions(definition, rules), vector("x", SLOT), rules).is_holds:
        raise ValueError("the raw step of a polygonal point is the point itself, which could not be derived")
    plain = found.derivative.mapped(without_norms)
    return normal_form(substitute(plain, {"y": lambda index: vector("x", index)}), rules)


def without_norms(monomial: Monomial, value: sp.Expr) -> Expression:
    factors = tuple(pair for pair in monomial.factors if not isinstance(pair[0], Norm))
    return Expression({Monomial(monomial.bound, factors, monomial.arrow): value})


def polygonal_spectrum(system: System) -> Spectrum:
    """The spectrum of the Oja map or flow at a polygonal point: ``1 + alpha nu`` with nu in spec(Pbar V), and 1.

    For attention see :func:`eigentoken.theory.linearization.attention_polygons.uniform_polygon_spectrum`.

    The derivative is checked to be ``w_i + K_i(wbar)`` (for the flow ``K_i(wbar)``) with ``K_i(z) = c P_i V z``; eigenvalues of
    ``w -> K wbar`` other than 0 are those of ``z -> mean_i K_i(z) = c Pbar V z``.
    """
    if system.score is not None:
        raise ValueError(f"{system.name} has scores: use uniform_polygon_spectrum")
    derivative, rules = polygonal_derivative(system)
    is_map = system.time is Time.MAP
    c = ALPHA if is_map else sp.Integer(1)
    mean = vector(PERTURBATION, Index("token", "j")).summed(Index("token", "j")) / TOKENS
    x = vector("x", SLOT)

    def through_mean(z: Expression) -> Expression:
        pushed = z.applied(matrix(system.value or ""))
        return (pushed - dot(x, pushed) * x) * c

    own = vector(PERTURBATION, SLOT) if is_map else zero()
    if not prove_equal(derivative, own + through_mean(mean), rules).is_holds:
        raise ValueError(f"{system.name}: the derivative at a polygonal point does not act through the mean")
    small = normal_form(through_mean(vector("z")).summed(SLOT) / TOKENS, rules)
    pushed = vector("z").applied(matrix(system.value or ""))
    j = Index("token", "j")
    mean_projection = pushed - (dot(vector("x", j), pushed) * vector("x", j)).summed(j) / TOKENS
    if not prove_equal(small, mean_projection * c, rules).is_holds:
        raise ValueError(f"{system.name}: the mean of the projections is not what acts on the mean perturbation")
    base, value = sp.Integer(1) if is_map else sp.Integer(0), system.value
    run = EigenvalueFamily(
        NU,
        DIMENSION,
        rf"\nu \in \operatorname{{spec}}(\bar P{system.value})",
        f"eigenvalues of the mean projection times {system.value}",
    )
    dimension = TOKENS * (DIMENSION - 1)
    return Spectrum(
        system=system.name,
        point="polygonal",
        entries=(
            Entry(
                base + c * NU,
                sp.Integer(1),
                (run,),
                "through the mean",
                rf"(P_i{value}z)_i,\ \bar P{value}z=\nu z",
            ),
            Entry(base, sp.expand(dimension - DIMENSION), (), "mean at rest", r"\bar w=0"),
        ),
        dimension=dimension,
        flow=not is_map,
        conditions=(sp.Ge(dimension, DIMENSION, evaluate=False),),
        notes=(r"$\bar P = \frac{1}{n} \sum_i P_i$ is the mean of the projections $P_i = I - x_i x_i^\top$",),
    )


@dataclass(frozen=True)
class AntipodalBlocks:
    """The three operators on ``z^perp``, as vectors linear in xi (tested with any u orthogonal to z).

    ``apart`` acts on perturbations with zero sum in each half (n - 2 copies), ``common`` on ``w_i = xi``, ``opposite`` on
    ``w_i = sigma_i xi``.
    """

    apart: Expression
    common: Expression
    opposite: Expression
    assumptions: Assumptions

    def check(self, step: sp.Expr, is_map: bool, value: str = "V", score: str = "M") -> dict[str, Verdict]:
        """The blocks are ``I + c omega rho^T``, ``I + c (V + omega rho^T)``, ``I + c omega (rho + rho')^T``.

        ``omega = P_z V z``, ``rho = P_z M z``, ``rho' = P_z M^T z``; for a flow without the identity.
        """
        u, xi, z = vector("u"), vector("xi"), vector("z")
        identity = dot(u, xi) if is_map else zero()
        omega = dot(u, z, matrix(value))
        along = dot(z, xi, matrix(f"{score}^T"))
        across = dot(z, xi, matrix(score))
        claimed = {
            "apart": identity + omega * along * step,
            "common": identity + (dot(u, xi, matrix(value)) + omega * along) * step,
            "opposite": identity + omega * (along + across) * step,
        }
        return {name: prove_equal(getattr(self, name), each, self.assumptions) for name, each in claimed.items()}


def antipodal_blocks(system: System) -> AntipodalBlocks:
    """The derivative of an attention system at ``x_i = +-z``, half of the tokens each, with ``z^T M z = 0``."""
    if system.score is None or system.value is None or system.multihead:
        raise ValueError(f"{system.name}: a single-head attention system is expected")
    found = linearize(system, tangent=False)
    half = TOKENS / 2
    z, u = Base("z"), Base("u")
    rules = found.assumptions.extended(
        gram={
            (z, (), z): sp.Integer(1),
            (z, (Letter(system.score),), z): sp.Integer(0),
            (u, (), z): sp.Integer(0),
        },
        orthogonal={("z", name): () for name in (PERTURBATION, "wbar", "xi")},
        means={PERTURBATION: "wbar"},
        sizes={"plus": half, "minus": half},
    )
    balances = {("plus", system.score): sp.Integer(0), ("minus", system.score): sp.Integer(0)}
    point = GroupPoint((Group("plus", half, 1), Group("minus", half, -1)), rules, at="z", balances=balances)
    heights = {("y", group.kind): sp.Integer(1) for group in point.groups} if system.time is Time.MAP else {}
    for group in point.groups if heights else ():
        (definition,) = found.assumptions.definitions.values()
        if point.height(definition, group) != 1:
            raise ValueError("the antipodal point is not fixed")
    local = GroupPoint(point.groups, rules, at="z", balances=balances, heights=heights)
    plus = local.value(found.derivative.mapped(without_norms), point.groups[0])
    tested = normal_form(dot(vector("u"), plus), rules)

    def with_perturbation(own: int, mean_plus: int, mean_minus: int) -> Expression:
        means = {"plus": mean_plus, "minus": mean_minus}
        families = {
            PERTURBATION: lambda *indices: vector("xi") * own,
            "wbar": lambda index: vector("xi") * means[index.name],
        }
        return normal_form(substitute(tested, families), rules)

    return AntipodalBlocks(with_perturbation(1, 0, 0), with_perturbation(1, 1, 1), with_perturbation(1, 1, -1), rules)


def antipodal_spectrum(system: System) -> Spectrum:
    """The spectrum at an antipodal attention polygon, from the three blocks.

    A block ``I + c omega r^T`` has the eigenvalue ``1 + c r^T omega`` once and 1 otherwise.
    """
    is_map = system.time is Time.MAP
    step = ALPHA if is_map else sp.Integer(1)
    checks = antipodal_blocks(system).check(step, is_map, system.value or "", system.score or "")
    for name, verdict in checks.items():
        if not verdict.is_holds:
            raise ValueError(f"{system.name}: the block {name} was not derived: {verdict.reason}")
    base = sp.Integer(1) if is_map else sp.Integer(0)
    along, across = sp.Symbol("rho_omega", real=True), sp.Symbol("rhoprime_omega", real=True)
    run = EigenvalueFamily(
        NU,
        DIMENSION - 1,
        rf"\nu \in \operatorname{{spec}}(({system.value}+\omega\rho^\top)|_{{z^\perp}})",
        "block of the common motion",
    )
    return Spectrum(
        system=system.name,
        point="antipodal polygon",
        entries=(
            Entry(base + step * NU, sp.Integer(1), (run,), "common motion", r"w_i=\xi"),
            Entry(base + step * along, TOKENS - 2, (), "zero sum in each half", r"\eta\otimes\omega"),
            Entry(base + step * (along + across), sp.Integer(1), (), "opposite motion", r"w_i=\sigma_i\omega"),
            Entry(base, (TOKENS - 1) * (DIMENSION - 2), (), "orthogonal to rho", r"\xi\perp\rho"),
        ),
        dimension=TOKENS * (DIMENSION - 1),
        flow=not is_map,
        notes=(
            r"half of the tokens are at $z$, half at $-z$; with $P_z = I - z z^\top$ "
            rf"$\omega = P_z {system.value} z$, $\rho = P_z {system.score} z$, $\rho' = P_z {system.score}^\top z$",
        ),
    )
