"""Spectra at bipartite points in the kernel: where the formulas are valid, and their spelling in a claim."""

from __future__ import annotations

import sympy as sp

from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Exists, conjuncts, put
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import SpectrumIs
from eigentoken.theory.language.terms import SpectralNorm, alpha, d, ell, k, matrix, n, p, q

__all__ = ["bipartite_spectrum_of", "first_or_other", "index_bound", "outside_at", "small_eigenvalue", "split"]


def index_bound(kernel: Kernel) -> tuple[Proved, Proved]:
    """``1 <= k <= d``: what k is."""
    return kernel.given(sp.Ge(k, 1, evaluate=False)), kernel.given(sp.Le(k, d))


def small_eigenvalue(kernel: Kernel, index: sp.Expr = k) -> tuple[Proved, ...]:
    """``|lambda_k| <= |V|`` and ``alpha |V| < 1``."""
    value = matrix("V")
    norm = kernel.norm_of_symmetric(value)
    bounds = index_bound(kernel) if index == k else ()
    each = kernel.at(kernel.part(norm, norm.proposition.parts[1]), index, *bounds)
    return each, kernel.given(alpha * SpectralNorm(value) < 1)


def split(kernel: Kernel) -> Proved:
    """``n = p + q``."""
    return kernel.given(sp.Eq(n, p + q))


def outside_at(
    kernel: Kernel, test: Proved, index: sp.Expr, other: Proved, *premises: Proved, product: bool = False
) -> Proved:
    """``Unstable``: at ``ell = index`` (which is not k) one of the two roots is outside, by arithmetic from the premises.

    ``product``: because the product of the two is above 1, which is asked alone.
    """
    some = next(each for each in test.proposition.right.parts if isinstance(each, Exists))
    guards = [kernel.follows((*premises, other), each) for each in conjuncts(put(some.guard, {ell: index}))]
    body = put(some.body, {ell: index})
    found = kernel.arithmetic(premises, body.parts[0] if product else body)
    shown = kernel.witness(some, index, *guards, kernel.tautology([found], body) if product else found)
    return kernel.modus_ponens(test, kernel.tautology([shown], test.proposition.right))


def first_or_other(kernel: Kernel) -> Proved:
    """``k = 1`` or ``k >= 2``."""
    return kernel.integers([], sp.Or(sp.Eq(k, 1), k >= 2))


def bipartite_spectrum_of(kernel: Kernel, claim: SpectrumIs, *premises: Proved) -> Proved:
    """The spectrum of the system at the place of the claim, in its formulas; the premises show that these are valid."""
    found = kernel.spectrum(claim.place)
    valid = [each for each in found.hypotheses if not kernel.is_given(each)]
    found = kernel.supply(found, *(kernel.arithmetic(premises, each) for each in valid))
    return kernel.respelled(found, claim, *premises)
