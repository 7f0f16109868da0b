"""The necessary and sufficient criterion for bipartite consensus, with its proof.

Let ``b_1 = tanh(s+t)``, ``b_2 = tanh(s-t)``, ``t = ln(p/q)/2 >= 0`` (p >= q), ``h = (cosh 2s - cosh 2t)/sinh 2s``.  With
``alpha |V| < 1`` the bipartite point (v_k; p, q) of attention is stable iff

* k = 1:  ``s > 0``, ``lambda_2 < lambda_1 h`` and (q = 1 or s > t), or
* k = d, ``lambda_d`` simple and negative:  ``s < -t`` and ``lambda_1 < |lambda_d| |h|``.

The flow has the same criterion (without a bound on alpha).  Everything is derived from the blocks of
:func:`~eigentoken.theory.linearization.consensus_spectra.bipartite_spectrum`: with G the block of the flow, the block
of the map is ``I + alpha diag(m)^{-1} G``, so that its eigenvalues are below 1 iff G is Hurwitz, whatever alpha is.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from eigentoken.theory.calculus import ALPHA
from eigentoken.theory.linearization.consensus_spectra import LAMBDA_K, LAMBDA_L, P, Q, S, bipartite_spectrum
from eigentoken.theory.linearization.criterion import Criterion, Equality
from eigentoken.theory.linearization.masked_spectra import unmasked_bipartite_spectrum
from eigentoken.theory.linearization.spectrum import Spectrum
from eigentoken.theory.proving.real_arithmetic import Lemma
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import System, Time

__all__ = [
    "BipartiteLetters",
    "bipartite_criterion",
    "bipartite_last",
    "bipartite_other",
    "harmonic_mean",
    "identity_bipartite",
    "oja_bipartite",
]

B1, B2 = sp.symbols("b_1 b_2", real=True)
T = sp.Symbol("t", real=True, nonnegative=True)
#: kappa = alpha lambda_k, mu = alpha lambda_ell, and mu for the extreme eigenvalues.
KAPPA, MU, MU_1, MU_2 = sp.symbols("kappa mu mu_1 mu_2", real=True)
BETWEEN = (B1 < 1, B2 > -1, B2 <= B1)
_FACTORS = (KAPPA - MU) * (KAPPA * B1 * B2 - MU * (B1 + B2) / 2)
INSIDE = (B1 < 1, B1 > -1, B2 < 1, B2 > -1)


def harmonic_mean(s: sp.Expr, t: sp.Expr) -> sp.Expr:
    """``h(s, t) = (cosh 2s - cosh 2t) / sinh 2s``, the harmonic mean of ``tanh(s+t)`` and ``tanh(s-t)``."""
    return (sp.cosh(2 * s) - sp.cosh(2 * t)) / sp.sinh(2 * s)


@dataclass(frozen=True)
class BipartiteLetters:
    """The derived blocks of map and flow in the letters kappa, mu, b_1, b_2 (the flow scaled by alpha)."""

    map_spectrum: Spectrum
    flow_spectrum: Spectrum

    @staticmethod
    def of(name: str) -> BipartiteLetters:
        """``name`` is ``attention`` or ``oja``."""
        return BipartiteLetters(bipartite_spectrum(system(f"{name}-map")), bipartite_spectrum(system(f"{name}-flow")))

    def spectrum(self, chosen: System) -> Spectrum:
        """The spectrum of the map or of the flow."""
        return self.map_spectrum if chosen.time is Time.MAP else self.flow_spectrum

    def _block(self, spectrum: Spectrum) -> sp.ImmutableMatrix:
        block = next(entry.block for entry in spectrum.tangent if entry.block is not None)
        heights = {letter: meaning for letter, meaning in spectrum.abbreviations if str(letter).startswith("m")}
        return block.subs(heights).subs({LAMBDA_K: KAPPA / ALPHA, LAMBDA_L: MU / ALPHA})

    @property
    def map_block(self) -> sp.ImmutableMatrix:
        return self._block(self.map_spectrum).applyfunc(sp.cancel)

    @property
    def flow_block(self) -> sp.ImmutableMatrix:
        """``alpha`` times the block of the flow: free of alpha in these letters."""
        return (ALPHA * self._block(self.flow_spectrum)).applyfunc(sp.cancel)

    def reduction(self) -> tuple[Lemma | Equality, ...]:
        """Map and flow: eigenvalues real, below 1 iff G is Hurwitz, above -1 when ``|kappa|, |mu| < 1``."""
        B, G = self.map_block, self.flow_block
        m = (1 + KAPPA * B1, 1 + KAPPA * B2)
        z1, z2, g1, g2, m1, m2 = sp.symbols("z_1 z_2 g_1 g_2 m_1 m_2", real=True)
        small = (KAPPA > -1, KAPPA < 1, MU > -1, MU < 1)
        trace, det = B.trace(), sp.cancel(B.det())
        product = G[0, 1] * G[1, 0]
        listed: list[Lemma | Equality] = [
            Equality(f"map block and flow block, entry {i + 1}{j + 1}", B[i, j], (1 if i == j else 0) + G[i, j] / m[i])
            for i in (0, 1)
            for j in (0, 1)
        ]
        x, y, w = sp.symbols("x y w", real=True)
        return (
            *listed,
            Equality("factorized determinant of G", G.det(), _FACTORS, shown=r"\det G"),
            Equality("factorized 1 - T + D", 1 - trace + det, _FACTORS / (m[0] * m[1]), shown="1-T+D"),
            Equality(
                "determinant of the map block", det, (1 + MU) * (1 + MU * (B1 + B2) / 2) / (m[0] * m[1]), shown="D"
            ),
            Lemma("the off-diagonal product is not negative", INSIDE, product >= 0, "so that all eigenvalues are real"),
            Lemma("real eigenvalues", (w >= 0,), (x + y) ** 2 - 4 * (x * y - w) >= 0, "w is the off-diagonal product"),
            Lemma(
                "two real numbers below 1",
                (),
                sp.Equivalent(sp.And(z1 < 1, z2 < 1), sp.And(z1 + z2 < 2, 1 - (z1 + z2) + z1 * z2 > 0)),
            ),
            Lemma(
                "below 1 iff both diagonal entries of G are negative and its determinant is positive",
                (m1 > 0, m2 > 0, w >= 0),
                sp.Equivalent(sp.And(g1 / m1 + g2 / m2 < 0, g1 * g2 - w > 0), sp.And(g1 < 0, g2 < 0, g1 * g2 - w > 0)),
                "T - 2 = G_11/m_1 + G_22/m_2, and w is the off-diagonal product",
            ),
            Lemma(
                "Hurwitz iff the same",
                (w >= 0,),
                sp.Equivalent(sp.And(g1 + g2 < 0, g1 * g2 - w > 0), sp.And(g1 < 0, g2 < 0, g1 * g2 - w > 0)),
            ),
            Lemma("above -1 for alpha |V| < 1", (*INSIDE, *small), sp.And(trace > -2, 1 + trace + det > 0)),
        )

    @property
    def below(self) -> sp.Basic:
        """All eigenvalues of the means' block are below 1 (map) or in the left half plane (flow)."""
        G = self.flow_block
        return sp.And(G[0, 0] < 0, G[1, 1] < 0, sp.factor(G.det()) > 0)


#: Largest, second, any and smallest eigenvalue.
L1, L2, LD = (sp.Symbol(f"lambda_{name}", real=True) for name in "12d")
SPLIT = "there are p tokens at v and q at -v, s = v^T M v, t = ln(p/q)/2"
ORDER = "the value matrix has real eigenvalues lambda_1 > lambda_2 >= ... >= lambda_d, d >= 2"


def _short_step(chosen: System) -> tuple[sp.Basic, ...]:
    """``alpha |V| < 1`` for a map, in the extreme eigenvalues; nothing for a flow."""
    return (ALPHA * L1 < 1, ALPHA * sp.Abs(LD) < 1) if chosen.time is Time.MAP else ()


def _balance_lemmas() -> tuple[Lemma | Equality, ...]:
    """The letters b_1, b_2 and h as hyperbolic functions, and what their signs say about s and t."""
    b1, b2 = sp.tanh(S + T), sp.tanh(S - T)
    e = sp.exp(2 * S)
    ratio = sp.exp(2 * T)
    return (
        Equality("b_1 is tanh(s+t), p/q = exp(2t)", (ratio * e - 1) / (ratio * e + 1), b1),
        Equality("b_2 is tanh(s-t)", (e - ratio) / (e + ratio), b2),
        Equality("h is the harmonic mean", harmonic_mean(S, T) * (b1 + b2) / 2, b1 * b2),
        Lemma("order of the balances", (), sp.And(b1 < 1, b2 > -1, b2 <= b1)),
        Lemma("sign of the mean balance", (), sp.Equivalent(b1 + b2 > 0, S > 0)),
        Lemma("sign of b_2", (), sp.Equivalent(b2 > 0, S > T)),
        Lemma("sign of b_1", (), sp.Equivalent(b1 < 0, S < -T)),
    )


def bipartite_criterion(chosen: System) -> Criterion:
    """Principal bipartite consensus of attention (k = 1): ``s > 0``, ``lambda_2 < lambda_1 h`` and (q = 1 or s > t)."""
    letters = BipartiteLetters.of("attention")
    below = letters.below
    closed = sp.And(B1 + B2 > 0, MU * (B1 + B2) / 2 < KAPPA * B1 * B2)
    hypotheses = (*BETWEEN, KAPPA > 0, MU < KAPPA)
    second = closed.subs(MU, MU_2)
    condition = sp.And(S > 0, L1 * harmonic_mean(S, T) > L2, sp.Or(sp.Eq(Q, 1), S > T))
    proof = (
        *letters.reduction(),
        *_balance_lemmas(),
        Lemma("one direction", hypotheses, sp.Equivalent(below, closed)),
        Lemma("the second eigenvalue decides", (*BETWEEN, KAPPA > 0, MU <= MU_2, MU_2 < KAPPA, second), closed),
        Lemma("disagreement in the larger group", (*BETWEEN, KAPPA > 0, B1 + B2 > 0), KAPPA * B1 > 0),
        Lemma("disagreement in the smaller group", (KAPPA > 0,), sp.Equivalent(KAPPA * B2 > 0, B2 > 0)),
        Lemma("h in the closed form", (B1 + B2 > 0,), sp.Equivalent(closed, MU < KAPPA * (2 * B1 * B2 / (B1 + B2)))),
        Lemma(
            "s > t is implied for nonnegative lambda_2",
            (*BETWEEN, KAPPA > 0, MU >= 0, closed),
            B2 > 0,
        ),
    )
    return Criterion(
        f"{chosen.name}: bipartite consensus on the principal eigenvector",
        letters.spectrum(chosen),
        (L1 > 0, L2 < L1, P >= Q, *_short_step(chosen)),
        condition,
        proof,
        "Below 1 iff G is Hurwitz in every direction; with kappa > mu this is b_1 + b_2 > 0 and mu (b_1+b_2)/2 < kappa b_1 b_2, "
        "monotone in mu, so that lambda_2 decides; disagreement adds b_2 > 0 where the smaller group has two tokens. Here "
        "kappa = alpha lambda_1 and mu = alpha lambda_ell; a flow has no lower bound to meet.",
        assumes=(ORDER, SPLIT, "v is the eigenvector of lambda_1"),
    )


def bipartite_last(chosen: System) -> Criterion:
    """Bipartite consensus of attention on the last eigenvector: ``s < -t`` and ``lambda_1 < |lambda_d| |h|``."""
    letters = BipartiteLetters.of("attention")
    below = letters.below
    closed = sp.And(B1 < 0, MU * (-(B1 + B2) / 2) < -KAPPA * B1 * B2)
    top = closed.subs(MU, MU_1)
    proof = (
        *letters.reduction(),
        *_balance_lemmas(),
        Lemma("the largest eigenvalue, one direction", (*BETWEEN, KAPPA < 0, MU > 0), sp.Equivalent(below, closed)),
        Lemma("the others follow", (*BETWEEN, KAPPA < 0, MU_1 > 0, MU > KAPPA, MU <= MU_1, top), below),
        Lemma("disagreement in both groups", (*BETWEEN, KAPPA < 0, B1 < 0), sp.And(KAPPA * B1 > 0, KAPPA * B2 > 0)),
        Lemma(
            "h in the closed form",
            (B1 < 0, B2 <= B1),
            sp.Equivalent(closed, sp.Abs(KAPPA) * sp.Abs(2 * B1 * B2 / (B1 + B2)) > MU).subs(sp.Abs(KAPPA), -KAPPA),
        ),
        Lemma(
            "|lambda_d| exceeds lambda_1",
            (*BETWEEN, KAPPA < 0, MU > 0, closed),
            -KAPPA > MU,
        ),
    )
    return Criterion(
        f"{chosen.name}: bipartite consensus on the last eigenvector",
        letters.spectrum(chosen),
        (L1 > 0, LD < 0, P >= Q, *_short_step(chosen)),
        sp.And(S < -T, sp.Abs(LD) * sp.Abs(harmonic_mean(S, T)) > L1),
        proof,
        "In the direction of lambda_1 > 0 > lambda_d, G is Hurwitz iff b_1 < 0 and mu |b_1+b_2|/2 < |kappa| b_1 b_2; the other "
        "directions and disagreement follow. Here kappa = alpha lambda_d and mu = alpha lambda_ell.",
        assumes=(
            "the value matrix has real eigenvalues lambda_1 >= ... >= lambda_{d-1} > lambda_d, d >= 2",
            SPLIT,
            "v is the eigenvector of lambda_d",
        ),
    )


def bipartite_other(chosen: System) -> Criterion:
    """Any other eigenvector: not asymptotically stable, for every step for which the point is fixed."""
    letters = BipartiteLetters.of("attention")
    below = letters.below
    proof = (
        *letters.reduction(),
        Lemma(
            "the direction of lambda_1 forces kappa < 0 and negative balances",
            (*BETWEEN, MU > KAPPA, MU > 0, below),
            sp.And(KAPPA < 0, B1 < 0, B2 < 0),
        ),
        Lemma(
            "a direction at or below kappa is then not stable",
            (*BETWEEN, KAPPA < 0, B1 < 0, MU <= KAPPA),
            sp.Not(below),
        ),
    )
    return Criterion(
        f"{chosen.name}: bipartite consensus on any other eigenvector",
        letters.spectrum(chosen),
        (L1 > 0, LAMBDA_K < L1, LAMBDA_L <= LAMBDA_K, P >= Q),
        sp.false,
        proof,
        "Stability in the direction of lambda_1 forces lambda_k < 0 and b_1, b_2 < 0; then a direction with "
        "lambda_ell <= lambda_k, l != k, is not stable. So k is last and simple.",
        assumes=(
            "the value matrix has real eigenvalues, lambda_1 the largest, lambda_ell another than lambda_k",
            SPLIT,
        ),
    )


def oja_bipartite(chosen: System) -> Criterion:
    """Bipartite consensus of the Oja map or flow with p != q: never stable."""
    letters = BipartiteLetters.of("oja")
    delta = sp.Symbol("delta", real=True)
    below = letters.below.subs({B1: delta, B2: -delta}, simultaneous=True)
    between = (delta > -1, delta < 1, sp.Ne(delta, 0))
    B = letters.map_block.subs({B1: delta, B2: -delta}, simultaneous=True)
    plus, minus = 1 + KAPPA * delta, 1 - KAPPA * delta
    proof = (
        *letters.reduction(),
        Equality("1 - T + D", 1 - B.trace() + B.det(), delta**2 * KAPPA * (MU - KAPPA) / (plus * minus), shown="1-T+D"),
        Lemma("on the principal eigenvector", (*between, KAPPA > 0, MU < KAPPA), sp.Not(below)),
        Lemma("on any other, direction of lambda_1", (*between, MU > 0, MU > KAPPA), sp.Not(below)),
    )
    return Criterion(
        f"{chosen.name}: bipartite consensus with unequal groups",
        letters.spectrum(chosen),
        (L1 > 0, L2 < L1, sp.Ne(P, Q, evaluate=False)),
        sp.false,
        proof,
        "b_1 = -b_2 = delta; on the principal eigenvector every direction has 1 - T + D < 0, on any other that of "
        "lambda_1 fails.",
        assumes=(ORDER, "there are p tokens at v and q at -v, v any eigenvector"),
    )


def identity_bipartite(chosen: System) -> Criterion:
    """Where the value matrix is the identity, every axis has its bipartite points: none attracts the neighbours of its kind."""
    spectrum = unmasked_bipartite_spectrum(chosen)
    block = next(entry.block for entry in spectrum.tangent if entry.block is not None)
    return Criterion(
        f"{chosen.name}: bipartite consensus",
        spectrum,
        (),
        sp.false,
        (Equality("an eigenvalue of the group means is zero", sp.cancel(block.det()), sp.Integer(0), shown=r"\det B"),),
        "Turning the axis of all tokens together leads to other equilibria.",
        assumes=(SPLIT.partition(",")[0],),
    )
