"""Stability under any mask: consensus by the eigenvalues of the mask, bipartite points by the rows of attention.

Consensus: the multipliers are ``(1 + alpha lambda_ell kappa) / (1 + alpha lambda_1)`` with kappa in the spectrum of the
row-stochastic matrix that is uniform on the mask (``|kappa| <= 1``, and kappa = 1 is one of them), so that the criterion
for a nonsymmetric layer applies to the numbers ``lambda_ell kappa``.  A mask with eigenvalues outside [0, 1] (tokens that do not
see themselves) can be less stable than full attention.

Bipartite: for direction l the matrix in the tokens is ``diag(m)^-1 (I + alpha lambda_ell A)``.  Its rows have absolute sums
``(1 + alpha |lambda_ell|) / m_i``, which gives a sufficient condition for every mask and every step; and for
``lambda_ell >= 0`` stability does not depend on alpha, because ``diag(m) - (I + alpha lambda_ell A) = alpha (lambda_k diag(b) -
lambda_ell A)`` must be a nonsingular M-matrix, as for the flow (Berman and Plemmons, Nonnegative Matrices in the
Mathematical Sciences, 1979, chapter 6).
"""

from __future__ import annotations

import sympy as sp

from eigentoken.theory.calculus import ALPHA, DIMENSION
from eigentoken.theory.linearization.consensus_spectra import KAPPA, LAMBDA_K, LAMBDA_L, consensus_spectrum
from eigentoken.theory.linearization.criterion import Criterion, Equality
from eigentoken.theory.linearization.masked_spectra import (
    RAW,
    masked_bipartite_spectrum,
    signed_response,
    token_balance,
)
from eigentoken.theory.linearization.stability import LAMBDA_1, LAMBDA_D, REAL, effective_step, restored_step
from eigentoken.theory.proving.real_arithmetic import Lemma
from eigentoken.theory.systems.system import System

__all__ = ["masked_bipartite_criterion", "masked_consensus_criterion"]

#: Real and imaginary part of an eigenvalue kappa of A, the mask with each row divided by its sum.
A, B = sp.symbols("a b", real=True)
EVERY = (
    "the condition is for every other eigenvalue lambda_ell and every eigenvalue kappa = a + i b of A, the mask with each row "
    "divided by its sum"
)


def masked_consensus_criterion(system: System) -> Criterion:
    """Principal consensus under any mask, for one eigenvalue ``kappa = a + i b`` of A and one other ``lambda_ell``.

    Map: stable iff ``|lambda_ell kappa| <= lambda_1`` or
    ``alpha (|lambda_ell kappa|^2 - lambda_1^2) < 2 (lambda_1 - lambda_ell a)``, for all l and kappa.
    Flow: iff ``lambda_ell a < lambda_1``.
    """
    original = consensus_spectrum(system, mask="any")
    spectrum = effective_step(system, original)
    (entry,) = spectrum.tangent
    value = sp.together(entry.value.subs(LAMBDA_K, LAMBDA_1).subs(DIMENSION, sp.Symbol("d", positive=True)))
    top, bottom = sp.fraction(value)
    polynomial = sp.Poly(top, KAPPA)
    slope, constant = polynomial.coeff_monomial(KAPPA), polynomial.coeff_monomial(1)
    positive = (LAMBDA_1 > 0, LAMBDA_L < LAMBDA_1)
    stochastic = (A**2 + B**2 <= 1,)
    below = LAMBDA_L**2 < LAMBDA_1**2
    if spectrum.flow:
        real = (slope * A + constant) / bottom
        return Criterion(
            f"{system.name}: principal consensus, any mask",
            spectrum,
            (LAMBDA_1 > 0,),
            LAMBDA_L * A < LAMBDA_1,
            (
                Lemma("one eigenvalue", (LAMBDA_1 > 0,), sp.Equivalent(real < 0, LAMBDA_L * A < LAMBDA_1)),
                Lemma("modulus dominance suffices", (LAMBDA_1 > 0, *stochastic, below), real < 0),
                Lemma("real eigenvalues in [0, 1] suffice", (*positive, A >= 0, A <= 1), real < 0),
            ),
            "kappa = 1 is always an eigenvalue of A, so that the criterion of full attention is necessary.",
            assumes=(REAL, EVERY),
        )
    modulus = ((slope * A + constant) ** 2 + (slope * B) ** 2) / bottom**2
    size = LAMBDA_L**2 * (A**2 + B**2)
    closed = sp.Or(size <= LAMBDA_1**2, ALPHA * (size - LAMBDA_1**2) < 2 * (LAMBDA_1 - LAMBDA_L * A))
    threshold = ALPHA * (-LAMBDA_D - LAMBDA_1) < 2
    real_modulus = modulus.subs(B, 0)
    found = Criterion(
        f"{system.name}: principal consensus, any mask",
        spectrum,
        (LAMBDA_1 > 0, LAMBDA_L * A < LAMBDA_1),
        closed,
        (
            Equality(
                "the modulus",
                modulus * bottom**2,
                sp.expand((1 + ALPHA * LAMBDA_L * A) ** 2 + (ALPHA * LAMBDA_L * B) ** 2),
            ),
            Lemma(
                "one eigenvalue",
                (LAMBDA_1 > 0, LAMBDA_L * A < LAMBDA_1),
                sp.Equivalent(modulus < 1, closed),
            ),
            Lemma("modulus dominance suffices", (LAMBDA_1 > 0, *stochastic, below), modulus < 1),
            Lemma(
                "real eigenvalues in [0, 1]: the threshold of full attention decides",
                (*positive, LAMBDA_L >= LAMBDA_D, A >= 0, A <= 1, threshold),
                real_modulus < 1,
            ),
        ),
        "kappa = 1 is always an eigenvalue of A, so that the criterion of full attention is necessary.",
        assumes=(REAL, EVERY),
    )
    return restored_step(found, original)


def masked_bipartite_criterion(system: System) -> Criterion:
    """Bipartite points under any mask: ``|lambda_ell| < lambda_k b_i`` for all l != k and all tokens i suffices.

    For every step at which the point is fixed; and no direction with ``lambda_ell >= max(0, lambda_k b_i)`` for all i is stable.
    """
    _, response = signed_response(system, "any")
    spectrum = masked_bipartite_spectrum(system, "any")
    b = token_balance()
    condition = sp.Abs(LAMBDA_L) < LAMBDA_K * b
    root = sp.Symbol("d", positive=True)
    own, spread = (each.subs(DIMENSION, root) for each in (response.own, response.spread))
    grows = (LAMBDA_L >= 0, LAMBDA_K * b <= LAMBDA_L)
    if response.raw is None:
        share = sp.Symbol("a", real=True)  # the weight of a token on itself
        disc = own + spread * share + spread.subs(LAMBDA_L, sp.Abs(LAMBDA_L)) * (1 - share)
        proof: tuple[Lemma | Equality, ...] = (
            Lemma("every disc of Gershgorin is on the left", (condition, share >= 0, share <= 1), disc < 0),
            Lemma("rows that do not decay", grows, own + spread >= 0),
        )
        fixed: tuple[sp.Basic, ...] = ()
    else:
        m = response.raw.subs(DIMENSION, root)
        fixed = (m > 0,)
        size = (own + spread.subs(LAMBDA_L, sp.Abs(LAMBDA_L))).subs(RAW, m)
        proof = (
            Lemma("the absolute row sum", fixed, sp.Equivalent(size < 1, condition)),
            Equality(
                "the M-matrix does not depend on the step",
                (response.raw - RAW * (own + spread)) / ALPHA,
                LAMBDA_K * b - LAMBDA_L,
            ),
            Lemma("rows that do not decay", (*fixed, *grows), (own + spread).subs(RAW, m) >= 1),
        )
    return Criterion(
        f"{system.name}: bipartite, any mask",
        spectrum,
        fixed,
        condition,
        proof,
        "The spectral radius is at most the largest absolute row "
        "sum (for the flow: the discs of Gershgorin), and for lambda_ell >= 0, where the matrix is nonnegative off its "
        "diagonal, at least the smallest row sum (Perron and Frobenius).",
        exact=False,
        assumes=(
            "the value matrix has real eigenvalues",
            "the condition is for every other eigenvalue lambda_ell and every token i",
        ),
    )
