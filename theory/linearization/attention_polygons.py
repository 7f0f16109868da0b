r"""Attention polygons: ``sum_j a_ij x_j = 0`` for every i, full attention, one head.  All of them have a closed spectrum.

**Where they are.**  At such a point all scores vanish, ``x_i^T M x_j = 0`` for all i and j, so that the weights are
uniform and ``sum_j x_j = 0``.  Proof: with ``g_i = M^T x_i``, ``sum_j (exp(g_i.x_j) - exp(g_l.x_j)) (g_i - g_l).x_j = 0``
for all i, l, where every term is >= 0 and vanishes only for ``g_i.x_j = g_l.x_j`` (exp is strictly increasing); so the
scores ``c_j = g_i.x_j`` do not depend on i, all rows of attention are one row a, and ``c_j = sum_i a_i x_i^T M x_j = 0``.

**The spectrum.**  Let E be the span of the tokens, of dimension r, F its orthogonal complement, ``S = (1/n) sum x_j
x_j^T``, ``Pbar = I - S``.  The derivative is ``w_i + c T_i(w)`` (flow: ``T_i(w)``, c = 1) with

    ``T_i(w) = P_i V [wbar + (1/n) sum_j x_j (x_i^T M w_j) + S M^T w_i]``.

M-terms only see the parts of the ``w_j`` in F.  Along the chain of invariant subspaces {w in E, wbar = 0} and so on, T has

- the eigenvalues of ``Pbar V (I + S M^T)`` on R^d, once: the mean;
- those of ``P_F V S M^T`` on F, each n - 1 - r times: parts in F orthogonal to 1 and to the tokens;
- those of ``Psi -> P_F V S (Psi^T M^T + M^T Psi)`` on Hom(E, F), once: parts ``w_i = Psi x_i``;
- 0, ``n (r - 1) - r`` times: in E with mean zero.  (For r = 1 one zero of the first matrix is no tangent direction and the
  number is -1: such polygons are the antipodal ones, which have a listing of their own.)

Without M these are the Oja polygons; with r = 1 the antipodal ones.  The unnormalised flow has ``P_i = I``.  What is not
covered: masks and several heads (rows of attention then differ), and points with ``V sum_j a_ij x_j = 0`` for singular V
only; there the Jacobian is exact and its eigenvalues are exact or in certified enclosures, point by point.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import sympy as sp

from eigentoken.theory.calculus import (
    ALPHA,
    DIMENSION,
    SLOT,
    TOKENS,
    Assumptions,
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
from eigentoken.theory.calculus.derivative import substitute
from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.linearization.linearize import PERTURBATION, linearize
from eigentoken.theory.linearization.polygonal_spectra import derivative_at_rest
from eigentoken.theory.linearization.spectrum import EigenvalueFamily, Entry, Spectrum
from eigentoken.theory.systems.system import Space, System, Time

__all__ = ["RANK", "polygon_identities", "uniform_polygon_spectrum"]

#: Dimension of the span of the tokens.
RANK = sp.Symbol("r", integer=True, positive=True)
NU, KAPPA, TAU = sp.symbols("nu kappa tau")
J = Index("token", "j")


def _letters(system: System) -> tuple[str, str]:
    if system.value is None or system.score is None or system.multihead or system.mask != "full":
        raise ValueError(f"{system.name}: one head of full attention with a value matrix is expected")
    return system.value, system.score


@cache
def _derivative(system: System) -> tuple[Expression, Assumptions]:
    """The derivative where all scores and the sum of the tokens vanish; the raw step is then the point itself."""
    _, score = _letters(system)
    found = linearize(system)
    rules = found.assumptions.extended(
        zero_sums=frozenset({"x"}), orthogonal={("x", "x"): (Letter(score),)}, symmetric=frozenset()
    )
    return derivative_at_rest(found, rules), rules


def _pushed(system: System, inner: Expression) -> Expression:
    """``P_i V inner`` in the slot index (``V inner`` in Euclidean space)."""
    value, _ = _letters(system)
    moved = inner.applied(matrix(value))
    if system.space is Space.EUCLIDEAN:
        return moved
    x = vector("x", SLOT)
    return moved - dot(x, moved) * x


def _second_moment(system: System, of: Expression) -> Expression:
    """``S M^T of``: ``(1/n) sum_j x_j (of^T M x_j)``."""
    _, score = _letters(system)
    x = vector("x", J)
    return (dot(of, x, matrix(score)) * x).summed(J) / TOKENS


def _with(system: System, own: Expression, inner: Expression) -> Expression:
    """``own + c P_i V inner`` for a map, ``P_i V inner`` for a flow."""
    if system.time is Time.MAP:
        return own + _pushed(system, inner) * ALPHA
    return _pushed(system, inner)


@cache
def polygon_identities(system: System) -> Mapping[str, Verdict]:
    """The identities of the reduction, each proved by the normal form for all n and d.

    >>> from eigentoken.theory.systems.catalogue import system
    >>> [verdict.answer.value for verdict in polygon_identities(system("attention-map")).values()]
    ['holds', 'holds', 'holds', 'holds']
    """
    _, score = _letters(system)
    derivative, rules = _derivative(system)
    M = matrix(score)
    w, x, k = vector(PERTURBATION, SLOT), vector("x", SLOT), Index("token", "k")
    mean = vector(PERTURBATION, J).summed(J) / TOKENS
    across = (dot(x, vector(PERTURBATION, J), M) * vector("x", J)).summed(J) / TOKENS
    whole = _with(system, w, mean + across + _second_moment(system, w))
    checks = {"derivative": prove_equal(derivative, whole, rules)}

    # perturbations w_i = phi + e_i, phi in F and e_i in E: only the mean is felt
    inside = rules.extended(orthogonal={("x", "e"): (Letter(score),), ("x", "phi"): ()}, tangent={("x", "e"): ()})
    if system.space is Space.EUCLIDEAN:
        inside = rules.extended(orthogonal={("x", "e"): (Letter(score),), ("x", "phi"): ()})
    moved = vector("phi") + vector("e", SLOT)
    common = normal_form(
        substitute(derivative, {PERTURBATION: lambda index: vector("phi") + vector("e", index)}), inside
    )
    at_mean = vector("phi") + vector("e", J).summed(J) / TOKENS
    checks["mean"] = prove_equal(common, _with(system, moved, at_mean + _second_moment(system, at_mean)), inside)

    # tested with u in F: the terms other than S M^T w_i do not depend on i, or only through x_i
    outside = rules.extended(orthogonal={("u", "x"): (), ("x", "xi"): (), ("x", "e"): (Letter(score),)})
    u = vector("u")
    tested = normal_form(dot(u, derivative), outside)
    local = dot(u, w) if system.time is Time.MAP else zero()
    step = ALPHA if system.time is Time.MAP else sp.Integer(1)
    constant = dot(u, mean.applied(matrix(system.value or ""))) * step
    linear = dot(u, across.applied(matrix(system.value or ""))) * step
    own = dot(u, _second_moment(system, w).applied(matrix(system.value or ""))) * step
    checks["outside"] = prove_equal(tested, local + own + constant + linear, outside)

    # perturbations w_i = (g^T x_i) xi, xi in F
    g, xi = vector("g"), vector("xi")
    turned = normal_form(
        dot(u, substitute(derivative, {PERTURBATION: lambda index: dot(g, vector("x", index)) * xi})), outside
    )
    mixed = (dot(g, vector("x", k)) * vector("x", k)).summed(k) / TOKENS * dot(x, xi, M)
    straight = _second_moment(system, xi) * dot(g, x)
    pushed = dot(u, (mixed + straight).applied(matrix(system.value or ""))) * step
    identity = dot(u, xi) * dot(g, x) if system.time is Time.MAP else zero()
    checks["turning"] = prove_equal(turned, identity + pushed, outside)
    return checks


@cache
def uniform_polygon_spectrum(system: System) -> Spectrum:
    """The spectrum at any attention polygon, in symbols n, d and the rank r of the tokens.

    >>> from eigentoken.theory.systems.catalogue import system
    >>> uniform_polygon_spectrum(system("attention-flow")).count_check().answer.value
    'holds'
    """
    for name, verdict in polygon_identities(system).items():
        if not verdict.is_holds:
            raise ValueError(f"{system.name}: the identity {name!r} was not derived: {verdict.reason}")
    value, score = _letters(system)
    is_map = system.time is Time.MAP
    step = ALPHA if is_map else sp.Integer(1)
    base = sp.Integer(1) if is_map else sp.Integer(0)
    euclidean = system.space is Space.EUCLIDEAN
    projection = "" if euclidean else r"\bar P"
    moment = rf"S{score}^\top"
    mean = EigenvalueFamily(
        NU,
        DIMENSION,
        rf"\nu \in \operatorname{{spec}}({projection}{value}(I+{moment}))",
        "eigenvalues on the mean perturbation",
    )
    apart = EigenvalueFamily(
        KAPPA,
        DIMENSION - RANK,
        rf"\kappa \in \operatorname{{spec}}(P_F{value}{moment}|_F)",
        "eigenvalues on the complement of the tokens",
    )
    turning = EigenvalueFamily(
        TAU,
        RANK * (DIMENSION - RANK),
        rf"\tau \in \operatorname{{spec}}(\Psi\mapsto P_F{value}S(\Psi^\top {score}^\top+{score}^\top\Psi))",
        "eigenvalues on Hom(E, F)",
    )
    rest = RANK * (TOKENS - 1) if euclidean else TOKENS * (RANK - 1) - RANK
    return Spectrum(
        system=system.name,
        point="attention polygon",
        entries=(
            Entry(base + step * NU, sp.Integer(1), (mean,), "mean", r"w_i=P_i(\dots)"),
            Entry(
                base + step * KAPPA,
                TOKENS - 1 - RANK,
                (apart,),
                "apart",
                r"\eta\otimes\xi,\ \mathbf 1^\top\eta=X^\top\eta=0",
            ),
            Entry(base + step * TAU, sp.Integer(1), (turning,), "turning", r"w_i=\Psi x_i"),
            Entry(base, sp.expand(rest), (), "inside", r"w_i\in E,\ \bar w=0"),
        ),
        dimension=TOKENS * (DIMENSION if euclidean else DIMENSION - 1),
        flow=not is_map,
        conditions=(
            sp.Ge(TOKENS, RANK + 1, evaluate=False),
            sp.Ge(DIMENSION, RANK, evaluate=False),
            *(() if euclidean else (sp.Ge(RANK, 2, evaluate=False),)),
        ),
        notes=(
            r"$r$ is the dimension of the span $E$ of the tokens, $F$ its orthogonal complement, $P_F$ the projection to it, "
            r"and $S = \frac{1}{n} \sum_j x_j x_j^\top$"
            + ("" if euclidean else r", $\bar P = I - S$; $r = 1$ are the antipodal polygons"),
        ),
    )
