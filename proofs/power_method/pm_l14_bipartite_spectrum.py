"""PM-L14: the spectrum of the attention map at a bipartite point, with a factorisation that decides stability.

Reference: Li-Altafini, Lemma 14, eq. (14); the factorisation and the realness of the spectrum are new.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.bipartite import bipartite_count, bipartite_moves
from eigentoken.proofs.power_method.pm_l13_small_steps_fix_bipartite import LARGE_STEP
from eigentoken.proofs.power_method.symbols import (
    B1,
    B2,
    LK,
    LL,
    M1,
    M2,
    S,
    V,
    alpha,
    b1,
    b2,
    bbar,
    d,
    ell,
    k,
    kappa,
    lam,
    m1,
    m2,
    mu,
    n,
    p,
    q,
    score,
)  # fmt: skip
from eigentoken.proofs.properties.exact_points import agree, decimals, image, instance, multipliers
from eigentoken.proofs.steps.bipartite_spectra import bipartite_spectrum_of, small_eigenvalue
from eigentoken.proofs.steps.reductions import bipartite_block, claimed_spectrum, group_multipliers
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, ForAll, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.words import index_range
from eigentoken.theory.language.claims import SpectrumIs
from eigentoken.theory.language.conditions import Relation, Symmetric
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.language.terms import SpectralNorm, t_split
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Derivation, Identity


def block() -> sp.Matrix:
    """B_l in mu = alpha lambda_l, b_1, b_2, m_1, m_2, from the Jacobian: the four numbers of eq. (14)."""
    return sp.Matrix(bipartite_block("attention-map").subs(LL, mu / alpha))


LENGTHS = {m1: 1 + kappa * b1, m2: 1 + kappa * b2}


def derive() -> Derivation:
    """The three ways to move tokens; then determinant, value at one and discriminant of the block."""
    found = block()
    return Derivation(
        (
            *bipartite_moves(
                "attention-map",
                group_multipliers("attention-map", {m1: M1, m2: M2}),
                found.subs({mu: alpha * LL, b1: B1, b2: B2, m1: M1, m2: M2}),
                (
                    "Two tokens at $v_k$ are moved along $\\xi$ and $-\\xi$ (any tangent $\\xi$, any $M$; $E = e^s$).",
                    "Likewise at $-v_k$.",
                    "The sides are moved as wholes by $\\xi_1 v_\\ell$ and $\\xi_2 v_\\ell$, which gives the block "
                    "$B_\\ell$ of the statement with $b_1 = \\frac{pE - q/E}{pE + q/E}$, $b_2 = \\frac{qE - p/E}{qE + "
                    "p/E}$.",
                ),
                (
                    r"\frac{1}{m_1} = <2>,\ p - 1 \text{ times for each } \ell",
                    r"\frac{1}{m_2} = <2>,\ q - 1 \text{ times for each } \ell",
                    r"\xi_1^+ = <2>, \qquad \xi_2^+ = <4>",
                ),
                (
                    ("class 3 multipliers are 1/m_1 and 1/m_2",),
                    (),
                    ("class 2 multipliers are the eigenvalues of B_l",),
                ),
                (M1, M2),
            ),
            bipartite_count(),
            claimed_spectrum(
                SPECTRUM,
                "attention-map",
                {lam(V, k): LK, lam(V, ell): LL, score(k): S},
                r"\frac{1}{m_1}\ [<2>\text{ times}],\quad \frac{1}{m_2}\ [<4>\text{ times}],\quad \operatorname{tr}B_\ell,\quad "
                r"\det B_\ell",
                uses=("sides", "count"),
            ),
            Identity(
                name="determinant",
                says="With $\\mu = \\alpha\\lambda_\\ell$, $\\kappa = \\alpha\\lambda_k$, $m_i = 1 + \\kappa b_i$.",
                left=found.det(),
                right=(1 + mu) * (1 + mu * bbar) / (m1 * m2),
                uses=("sides",),
                establishes=("the determinant of B_l",),
            ),
            Identity(
                name="value at one",
                says="The characteristic polynomial of $B_\\ell$ at 1 factors.",
                left=(1 - found.trace() + found.det()).subs(LENGTHS),
                right=(kappa - mu) * (kappa * b1 * b2 - mu * bbar) / ((1 + kappa * b1) * (1 + kappa * b2)),
                uses=("sides",),
                establishes=("the value at one factors",),
            ),
            Identity(
                name="real",
                says="The discriminant is a square plus a nonnegative term ($|b_i| < 1$, $m_i > 0$): the spectrum "
                "is real.",
                left=found.trace() ** 2 - 4 * found.det(),
                right=(found[0, 0] - found[1, 1]) ** 2 + mu**2 * (1 - b1) * (1 - b2) / (m1 * m2),
                uses=("sides",),
                establishes=("the eigenvalues of B_l are real",),
            ),
        )
    )


TV5 = instance(
    "attention-map",
    [["1", "0"], ["-1", "0"]],
    V=[["1", "0"], ["0", "1/2"]],
    M=[["ln(3)", "0"], ["0", "ln(3)"]],
    alpha="1/2",
)
TV4 = instance(
    "attention-map",
    [["1", "0", "0"]] * 8 + [["-1", "0", "0"]] * 2,
    V=[["1", "0", "0"], ["0", "1/4", "0"], ["0", "0", "1/8"]],
    M=[["ln(3)", "0", "0"], ["0", "ln(3)", "0"], ["0", "0", "ln(3)"]],
    alpha="1/2",
)


def tv4_heights() -> tuple[object, ...]:
    """b_1, b_2, h, m_1, m_2 of TV4, from p = 8, q = 2, e^s = 3."""
    at = {p: 8, q: 2, sp.Symbol("E", positive=True): 3, alpha: sp.Rational(1, 2), sp.Symbol("lambda_k", real=True): 1}
    one, two = B1.subs(at), B2.subs(at)
    return one, two, 2 * one * two / (one + two), M1.subs(at), M2.subs(at)


_B1, _B2 = sp.tanh(score(k) + t_split), sp.tanh(score(k) - t_split)
_M1, _M2 = 1 + alpha * lam(V, k) * _B1, 1 + alpha * lam(V, k) * _B2
_MU = alpha * lam(V, ell)
_TRACE = (1 + _MU * (1 + _B1) / 2) / _M1 + (1 + _MU * (1 + _B2) / 2) / _M2
_DET = (1 + _MU) * (1 + _MU * (_B1 + _B2) / 2) / (_M1 * _M2)
SPECTRUM = SpectrumIs(
    BipartiteAt(V, k),
    (
        (1 / _M1, (p - 1) * (d - 1)),
        (1 / _M2, (q - 1) * (d - 1)),
        ((_TRACE + sp.sqrt(_TRACE**2 - 4 * _DET)) / 2, 1),
        ((_TRACE - sp.sqrt(_TRACE**2 - 4 * _DET)) / 2, 1),
    ),
)


def _at_heights(said: sp.Basic) -> sp.Basic:
    """A formula in ``kappa``, ``mu`` and the heights, at those of the place."""
    table = {kappa: alpha * lam(V, k), mu: _MU, b1: _B1, b2: _B2}
    return said.xreplace(table)


_T = (1 + mu * (1 + b1) / 2) / (1 + kappa * b1) + (1 + mu * (1 + b2) / 2) / (1 + kappa * b2)
_D = (1 + mu) * (1 + mu * (b1 + b2) / 2) / ((1 + kappa * b1) * (1 + kappa * b2))
_VALUE = (kappa - mu) * (kappa * b1 * b2 - mu * (b1 + b2) / 2) / ((1 + kappa * b1) * (1 + kappa * b2))
#: The two multipliers along ``v_ell`` are real; and ``(1 - z_1)(1 - z_2) = 1 - T + D`` factors.
_PAIR = (sp.Ge(_T**2 - 4 * _D, 0, evaluate=False), sp.Eq(1 - _T + _D, _VALUE, evaluate=False))
REAL, AT_ONE = (ForAll(ell, index_range(ell), proposition(_at_heights(each))) for each in _PAIR)


def _pairs(kernel: Kernel, bounds: tuple[Proved, ...]) -> tuple[Proved, ...]:
    """The discriminant is ``(a - d)^2 + mu^2 (1 - b_1)(1 - b_2)/(m_1 m_2)``, a and d the diagonal of the block."""
    given = (b1 < 1, b1 > -1, b2 < 1, b2 > -1, 1 + kappa * b1 > 0, 1 + kappa * b2 > 0)
    known = [kernel.assume(each) for each in given]
    nonzero = [kernel.arithmetic(known, sp.Ne(1 + kappa * each, 0)) for each in (b1, b2)]
    gap = (1 + mu * (1 + b1) / 2) / (1 + kappa * b1) - (1 + mu * (1 + b2) / 2) / (1 + kappa * b2)
    rest = mu**2 * (1 - b1) * (1 - b2) / ((1 + kappa * b1) * (1 + kappa * b2))
    t, u, w = sp.symbols("t u w", real=True)
    lemma = kernel.lemma((sp.Eq(t, u**2 + w), w >= 0), t >= 0, t, u, w)
    for value in (_T**2 - 4 * _D, gap, rest):
        lemma = kernel.instantiate(lemma, value, *nonzero)
    square = kernel.identity(_T**2 - 4 * _D, gap**2 + rest, *nonzero)
    real = kernel.modus_ponens(lemma, kernel.conjunction(square, kernel.arithmetic(known, rest >= 0)))
    asked = [kernel.arithmetic(bounds, _at_heights(each)) for each in given]
    found = []
    for each in (real, kernel.identity(_PAIR[1].lhs, _PAIR[1].rhs, *nonzero)):
        whole = kernel.discharge(Conjunction(tuple(map(proposition, given))), each)
        for letter in reversed((kappa, mu, b1, b2)):
            whole = kernel.generalise(letter, whole)
        shown = kernel.apply(whole, [_at_heights(letter) for letter in (kappa, mu, b1, b2)], *asked)
        found.append(kernel.generalise(ell, shown, index_range(ell)))
    return tuple(found)


def proof(kernel: Kernel) -> Proved:
    """The spectrum that the engine proves, valid since ``|alpha lambda_k b_i| < 1``, in the formulas of the claim."""
    bounds = tuple(small_eigenvalue(kernel))
    return kernel.conjunction(bipartite_spectrum_of(kernel, SPECTRUM, *bounds), *_pairs(kernel, bounds))


PM_L14 = register(
    Statement(
        id="PM-L14",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 14, eq. (14)"),
        title="The spectrum of the attention map at a bipartite point",
        systems=("attention-map",),
        conditions=(Symmetric(V), Relation(alpha * SpectralNorm(V) < 1), Relation(n >= 2)),
        claims=(SPECTRUM, Formula(REAL), Formula(AT_ONE)),
        depends=("PM-L9", "PM-L12", "PM-L13"),
        derive=derive,
        proof=proof,
        vectors=(
            Vector("TV5", lambda: multipliers(TV5), decimals("6/7", "25/28")),
            Vector("TV4, b_1, b_2, h, m_1, m_2", tv4_heights, decimals("35/37", "5/13", "35/64", "109/74", "31/26")),
            Vector(
                "TV4, spectrum",
                lambda: multipliers(TV4),
                decimals(
                    "74/109 * 14",
                    "0.720064103983665",
                    "0.760975679800602",
                    "26/31 * 2",
                    "0.875119382254867",
                    "0.911782532688300",
                ),
            ),
        ),
        variants=(
            Variant(
                "alpha |V| < 1",
                "alpha = 3, V = diag(1/10, -1): m_i < 0, the point on e_2 is sent to its negative",
                lambda: agree(image(LARGE_STEP), ("0", "-1", "0", "1")),
            ),
        ),
    )
)
