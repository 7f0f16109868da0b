"""Textbook theorems on matrices, maps and holomorphic functions: hypotheses and conclusions are facts on named objects.

How they are cited, and why books are cited by subject and not by number: :mod:`eigentoken.proofs.steps.textbook`.
"""

from __future__ import annotations

from eigentoken.proofs.bibliography import bibtex
from eigentoken.theory.statements.steps import Theorem

__all__ = [
    "BLOCK_TRIANGULAR",
    "DESCENT_SEQUENCES",
    "INTERMEDIATE_VALUE",
    "KRONECKER",
    "LIMIT_IS_FIXED",
    "PRODUCT_SPECTRA",
]

PRODUCT_SPECTRA = Theorem(
    key="product-spectra",
    name="the theorem on the spectra of two products",
    hypotheses=("{B} maps one space to another, and {C} maps back",),
    conclusions=("{B} {C} and {C} {B} have the same nonzero eigenvalues with multiplicities",),
    reference="Horn, Johnson, Matrix Analysis, chapter on eigenvalues (similarity)",
    bibtex=bibtex("Horn-Johnson"),
)
BLOCK_TRIANGULAR = Theorem(
    key="block-triangular",
    name="the spectrum of a block triangular matrix",
    hypotheses=("{A} is block triangular",),
    conclusions=("the eigenvalues of {A} are those of its diagonal blocks",),
    reference="Horn, Johnson, Matrix Analysis, chapter on review and miscellanea (partitioned matrices)",
    bibtex=bibtex("Horn-Johnson"),
)
KRONECKER = Theorem(
    key="Kronecker",
    name="the spectrum of a polynomial in a Kronecker product",
    hypotheses=("the Jacobian is (I + alpha A x G)/m in Kronecker form",),
    conclusions=("its eigenvalues are (1 + alpha a g)/m over the eigenvalues a of A and g of G",),
    reference="Horn, Johnson, Topics in Matrix Analysis, chapter on matrix equations and the Kronecker product",
    bibtex=bibtex("Horn-Johnson-Topics"),
)
DESCENT_SEQUENCES = Theorem(
    key="descent-sequences",
    name="the convergence theorem for descent sequences of analytic functions",
    hypotheses=(
        "the cost is real analytic on a compact analytic manifold",
        "the cost decreases by at least a multiple of the squared step",
        "the gradient is at most a multiple of the step",
    ),
    conclusions=("every trajectory converges to a single point",),
    reference="Absil, Mahony, Andrews, SIAM J. Optim. 16 (2005), in charts",
    bibtex=bibtex("Absil-Mahony-Andrews"),
)
LIMIT_IS_FIXED = Theorem(
    key="limit-is-fixed",
    name="the continuity of limits",
    hypotheses=("every trajectory converges to a single point", "the map is continuous at the limit"),
    conclusions=("every orbit converges to a fixed point",),
    reference="Rudin, Principles of Mathematical Analysis, chapter on continuity: f(lim x) = lim f(x)",
    bibtex=bibtex("Rudin-Principles"),
)
INTERMEDIATE_VALUE = Theorem(
    key="intermediate-value",
    name="the intermediate value theorem",
    hypotheses=("the monic characteristic polynomial of {B} is negative at {z}",),
    conclusions=("{B} has a real eigenvalue above {z}",),
    reference="Rudin, Principles of Mathematical Analysis, chapter on continuity",
    bibtex=bibtex("Rudin-Principles"),
)
