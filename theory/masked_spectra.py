"""Points ``x_i = sigma_i v`` (any signs) under any mask: the exact linearization, and its spectrum when causal.

Tested with a left eigenvector u of another eigenvalue, the derivative maps ``eta_i = u^T w_i`` to
``own_i eta_i + spread_i sum_j a_ij eta_j``, where ``a_ij`` are the attention weights at the point.  For a causal mask this
matrix is triangular, so that its spectrum is ``own_i + spread_i a_ii``, i = 1, ..., n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import (
    DIMENSION,
    TOKENS,
    Base,
    Expression,
    Letter,
    Named,
    dot,
    factor,
    normal_form,
    vector,
)
from eigentoken.theory.calculus.atoms import Dot, Exp, Index, Mask, Norm, SumExp
from eigentoken.theory.calculus.derivative import SLOT, substitute
from eigentoken.theory.calculus.expressions import Monomial
from eigentoken.theory.linearize import PERTURBATION, Linearization, linearize
from eigentoken.theory.spectra import LAMBDA_K, LAMBDA_L, TOKEN, S
from eigentoken.theory.spectrum import Entry, Run, Spectrum
from eigentoken.theory.systems import System, Time

__all__ = ["SignedResponse", "masked_bipartite_spectrum", "signed_response"]

SIGN = "sigma"
BALANCE = sp.Symbol("b_i", real=True)
RAW = sp.Symbol("m_i", positive=True)
SAME = sp.Symbol("p_i", integer=True, positive=True)
OTHER = sp.Symbol("q_i", integer=True, nonnegative=True)


@dataclass(frozen=True)
class SignedResponse:
    """``eta_i -> own eta_i + spread sum_j a_ij eta_j``, in the letters ``b_i = sum_j a_ij sigma_i sigma_j`` and ``m_i``.

    ``raw`` is what ``m_i`` stands for (maps only): ``y_i = m_i x_i``.
    """

    own: sp.Expr
    spread: sp.Expr
    raw: sp.Expr | None


def signed_response(system: System, mask: str | None) -> tuple[Linearization, SignedResponse]:
    """The linearization at ``x_i = sigma_i v`` with any signs and any mask; only ``s = v^T M v`` of M enters.

    >>> from eigentoken.theory.systems import system
    >>> signed_response(system("attention-map"), "anything")[1]
    SignedResponse(own=1/m_i, spread=alpha*lambda_l/m_i, raw=alpha*b_i*lambda_k + 1)
    """
    if system.multihead or system.value is None:
        raise ValueError(f"{system.name}: one head with a value matrix is expected")
    found = linearize(system, mask=mask, tangent=False)
    v, u = Base("v"), Base("u")
    metric = found.assumptions.unit["x"]
    gram: dict[Any, sp.Expr] = {(v, metric, v): sp.Integer(1), (u, (), v): sp.Integer(0)}
    if system.score:
        gram[v, (Letter(system.score),), v] = S
    rules = found.assumptions.extended(
        eigen={(system.value, False, "v"): LAMBDA_K, (system.value, True, "u"): LAMBDA_L},
        gram=gram,
        orthogonal={("v", PERTURBATION): metric},
        signs=frozenset({SIGN}),
    )

    def token(index: Index) -> Expression:
        return vector("v") * factor(Named(SIGN, (index,)))

    families: dict[str, Any] = {"x": token}
    raw = None
    if system.time is Time.MAP:
        (definition,) = found.assumptions.definitions.values()
        step = normal_form(substitute(definition, families) * factor(Named(SIGN, (SLOT,))), rules)
        raw = sum((_balance(m, "raw") * c for m, c in step.terms.items()), sp.Integer(0))
        families["y"] = lambda index: token(index) * factor(Named("m", (index,)))
    tested = normal_form(dot(vector("u"), substitute(found.derivative, families)), rules)
    own, spread = sp.Integer(0), sp.Integer(0)
    for monomial, value in tested.terms.items():
        kind, number = _read(monomial)
        own, spread = (own + number * value, spread) if kind == "own" else (own, spread + number * value)
    return found, SignedResponse(sp.factor(own), sp.factor(spread), raw)


def _balance(monomial: Monomial, what: str) -> sp.Expr:
    """1 for a plain term, ``b_i`` for ``sum_j a_ij sigma_i sigma_j``."""
    if what == "raw" and monomial.arrow != ((), Base("v")):
        raise ValueError("the point is not an equilibrium: the step leaves the line of v")
    return _weights(monomial.factors, monomial.bound)


def _weights(factors: Any, bound: tuple[Index, ...]) -> sp.Expr:
    if not factors and not bound:
        return sp.Integer(1)
    signs = [atom for atom, _ in factors if isinstance(atom, Named) and atom.name == SIGN]
    rest = [(atom, power) for atom, power in factors if not (isinstance(atom, Named) and atom.name == SIGN)]
    if len(bound) == 1 and {atom.indices[0] for atom in signs} == {SLOT, bound[0]} and _is_row(rest, bound[0]):
        return BALANCE
    raise ValueError(f"the factors {factors} are not one row of attention")


def _is_row(factors: list[tuple[Any, int]], index: Index) -> bool:
    """The factors are exactly the attention weight of the slot token on the index."""
    sums = [atom for atom, power in factors if isinstance(atom, SumExp) and power == -1]
    exps = [atom for atom, power in factors if isinstance(atom, Exp) and power == 1]
    masks = [atom for atom, power in factors if isinstance(atom, Mask) and power == 1]
    if len(sums) != 1 or len(sums) + len(exps) + len(masks) != len(factors):
        return False
    same_masks = [(mask.name, mask.query, mask.key) for mask in masks] == [
        (mask.name, mask.query, index) for mask in sums[0].masks
    ]
    return same_masks and all(mask.query == SLOT for mask in masks) and len(exps) == (1 if sums[0].exponent else 0)


def _read(monomial: Monomial) -> tuple[str, sp.Expr]:
    """A term as ``own`` (a number times eta_i) or ``spread`` (times the attention average of eta)."""
    dots = [atom for atom, power in monomial.factors if isinstance(atom, Dot) and power == 1]
    rest = []
    number = sp.Integer(1)
    for atom, power in monomial.factors:
        if isinstance(atom, Norm) or (isinstance(atom, Named) and atom.name == "m"):
            number *= RAW**power
        elif not isinstance(atom, Dot):
            rest.append((atom, power))
    if len(dots) == 1 and not dots[0].word:
        (base,) = (base for base in (dots[0].left, dots[0].right) if base.name == PERTURBATION)
        if base.indices == (SLOT,):
            return "own", number * _weights(tuple(rest), monomial.bound)
        if base.indices == monomial.bound and _is_row(rest, monomial.bound[0]):
            return "spread", number
    raise ValueError(
        f"the term {Expression({monomial: sp.Integer(1)})!r} is not explained by the symmetry of the point"
    )


def masked_bipartite_spectrum(system: System, mask: str = "causal") -> Spectrum:
    """The spectrum at ``x_i = sigma_i v`` with causal attention and any order of the signs.

    ``p_i`` of the tokens that token i sees (itself included) are on its side, ``q_i`` on the other.
    """
    if mask != "causal":
        raise ValueError(f"mask {mask!r}: only a triangular mask has a closed spectrum, use signed_response for others")
    found, response = signed_response(system, mask)
    e = sp.exp(2 * S) if system.score else sp.Integer(1)
    share = e / (SAME * e + OTHER)
    directions = Run(LAMBDA_L, DIMENSION - 1, r"\ell\neq k", "the other eigenvalues of the value matrix")
    tokens = Run(TOKEN, TOKENS, r"i=1,\dots,n", "the tokens")
    value = response.own + response.spread * share
    abbreviations = [(BALANCE, (SAME * e - OTHER) / (SAME * e + OTHER))]
    if response.raw is not None:
        abbreviations.insert(0, (RAW, response.raw))
    return Spectrum(
        system=system.name,
        point="bipartite, causal mask",
        entries=(Entry(value, sp.Integer(1), (directions, tokens), "token i", r"\text{triangular in the tokens}"),),
        dimension=TOKENS * (DIMENSION - 1),
        flow=found.system.time is Time.FLOW,
        conditions=() if response.raw is None else (sp.Gt(response.raw, 0, evaluate=False),),
        abbreviations=tuple(abbreviations),
    )
