"""Textbook theorems on matrices, maps and holomorphic functions: hypotheses and conclusions are facts on named objects.

How they are cited, and why books are cited by subject and not by number: :mod:`eigentoken.proofs.steps.textbook`.
"""

from __future__ import annotations

from eigentoken.proofs.bibliography import bibtex
from eigentoken.theory.statements.steps import Theorem

__all__ = [
    "BLOCK_TRIANGULAR",
    "CENTRE_STABLE_MAPS",
    "DESCENT_SEQUENCES",
    "DETERMINANT_LEMMA",
    "INERTIA_OF_PRODUCTS",
    "INFINITE_PRODUCTS",
    "INTERLACING",
    "INTERMEDIATE_VALUE",
    "INVARIANCE_OF_MAPS",
    "INVERSE_FUNCTION",
    "KRONECKER",
    "LIMIT_IS_FIXED",
    "NEUMANN",
    "NORMALLY_HYPERBOLIC_CIRCLE",
    "PRODUCT_SPECTRA",
    "REDUCTION_PRINCIPLE",
    "ROUCHE",
]


PRODUCT_SPECTRA = Theorem(
    key="product-spectra",
    name="the theorem on the spectra of two products",
    hypotheses=("{B} maps one space to another, and {C} maps back",),
    conclusions=("{B} {C} and {C} {B} have the same nonzero eigenvalues with multiplicities",),
    reference="Horn, Johnson, Matrix Analysis, chapter on eigenvalues (similarity)",
    bibtex=bibtex("Horn-Johnson"),
)
INERTIA_OF_PRODUCTS = Theorem(
    key="inertia-of-products",
    name="Sylvester's law of inertia for products",
    hypotheses=("{A} is positive definite", "{B} is symmetric"),
    conclusions=(
        "all eigenvalues of {A} times {B} are real",
        "{A} times {B} has as many positive eigenvalues as {B}",
        "{A} times {B} has as many negative eigenvalues as {B}",
    ),
    reference="Horn, Johnson, Matrix Analysis, chapter on positive definite matrices (products)",
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
INTERLACING = Theorem(
    key="interlacing",
    name="Cauchy's interlacing theorem",
    hypotheses=("{A} is symmetric", "{B} is the compression of {A} to a hyperplane"),
    conclusions=(
        "the largest eigenvalue of {B} is at least the second eigenvalue of {A}",
        "the smallest eigenvalue of {B} is at least the last eigenvalue of {A}",
    ),
    reference="Horn, Johnson, Matrix Analysis, chapter on Hermitian matrices (interlacing)",
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
DETERMINANT_LEMMA = Theorem(
    key="determinant-lemma",
    name="the matrix determinant lemma",
    hypotheses=("the matrix is changed by a term of rank one",),
    conclusions=("the characteristic polynomial is multiplied by 1 - mu z^T (zeta I - F)^(-1) w",),
    reference="Horn, Johnson, Matrix Analysis, chapter on review and miscellanea (determinants)",
    bibtex=bibtex("Horn-Johnson"),
)
NEUMANN = Theorem(
    key="Neumann",
    name="the Neumann series",
    hypotheses=("the number lies outside the disc of the norm",),
    conclusions=("the resolvent is analytic there and at most 1/(|zeta| - |F|)",),
    reference="Horn, Johnson, Matrix Analysis, chapter on norms (power series of matrices)",
    bibtex=bibtex("Horn-Johnson"),
)
ROUCHE = Theorem(
    key="Rouche",
    name="Rouche's theorem",
    hypotheses=(
        "{f} and {g} are analytic on {disc} and its circle",
        "{g} is smaller than {f} in modulus on the circle of {disc}",
    ),
    conclusions=("{f} and its difference with {g} have equally many zeros in {disc}",),
    reference="Rudin, Real and Complex Analysis, chapter on elementary properties of holomorphic functions",
    bibtex=bibtex("Rudin"),
)
INFINITE_PRODUCTS = Theorem(
    key="infinite-products",
    name="the theorem on infinite products",
    hypotheses=("each loss lies in [0, 1)", "the losses are summable"),
    conclusions=("the product of the factors is positive",),
    reference="Rudin, Real and Complex Analysis, chapter on zeros of holomorphic functions (infinite products)",
    bibtex=bibtex("Rudin"),
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
CENTRE_STABLE_MAPS = Theorem(
    key="centre-stable-maps",
    name="the centre-stable manifold theorem with a countable cover",
    hypotheses=(
        "the map is a local diffeomorphism",
        "every orbit converges to a fixed point",
        "every fixed point outside {S} has a multiplier above 1",
    ),
    conclusions=("almost every start has its limit in {S}",),
    reference="Shub, Global Stability of Dynamical Systems, chapter on stable manifolds; Lee, Panageas, Piliouras, "
    "Simchowitz, Jordan, Recht, Mathematical Programming 176 (2019)",
    bibtex=bibtex("Lee-et-al"),
)
REDUCTION_PRINCIPLE = Theorem(
    key="reduction-principle",
    name="the reduction principle (centre manifolds of maps)",
    hypotheses=(
        "{x} lies on a manifold of fixed points",
        "at {x} the multiplier 1 has exactly the multiplicity of the dimension of that manifold",
        "at {x} all other multipliers lie inside the unit circle",
    ),
    conclusions=("{x} is Lyapunov stable", "every start near {x} converges to a point of that manifold"),
    reference="Carr, Applications of Centre Manifold Theory, chapters on the theory and on maps: the manifold of fixed "
    "points is tangent to the centre space, so it is a centre manifold, on which nothing moves",
    bibtex=bibtex("Carr"),
)
NORMALLY_HYPERBOLIC_CIRCLE = Theorem(
    key="normally-attracting-circle",
    name="the theorem on normally attracting invariant circles",
    hypotheses=(
        "the circle is invariant and the map on it is conjugate to a rotation",
        "perturbations normal to the circle are contracted on average over an orbit",
    ),
    conclusions=("the circle attracts a neighbourhood",),
    reference="Hirsch, Pugh, Shub, Invariant Manifolds, on normally hyperbolic manifolds",
    bibtex=bibtex("Hirsch-Pugh-Shub"),
)
INVERSE_FUNCTION = Theorem(
    key="inverse-function",
    name="the inverse function theorem",
    hypotheses=("the map is defined and analytic everywhere", "the derivative has no kernel"),
    conclusions=("the map is a local diffeomorphism",),
    reference="Rudin, Principles of Mathematical Analysis, chapter on functions of several variables",
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
INVARIANCE_OF_MAPS = Theorem(
    key="LaSalle-maps",
    name="LaSalle's invariance principle for maps",
    hypotheses=(
        "{W} decreases strictly along the map off its fixed points",
        "{W} and the map are continuous on {K}, which is compact",
    ),
    conclusions=(
        "an orbit that stays in {K} has a fixed point there as a limit point, with {W} at most its value on the orbit",
    ),
    reference="LaSalle, The Stability and Control of Discrete Processes, on invariance",
    bibtex=bibtex("LaSalle"),
)
