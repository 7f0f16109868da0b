"""Textbook theorems that the chapter on maps cites: hypotheses and conclusions are names of facts.

A citation is accepted only where earlier steps, or the facts of the statement, establish each hypothesis under exactly
these names (:class:`eigentoken.theory.steps.Citation`).
"""

from __future__ import annotations

from eigentoken.theory.steps import Theorem

__all__ = [
    "CENTRE_STABLE_MAPS",
    "DESCENT_SEQUENCES",
    "DETERMINANT_LEMMA",
    "INTERLACING",
    "INTERMEDIATE_VALUE",
    "INVARIANCE_OF_MAPS",
    "INVERSE_FUNCTION",
    "KRONECKER",
    "NORMALLY_ATTRACTING",
    "NORMALLY_HYPERBOLIC_CIRCLE",
    "OSTROWSKI",
    "PRODUCT_SPECTRA",
    "RAYLEIGH_BOUND",
    "VARIANCE",
]

_HORN_JOHNSON = """@book{Horn-Johnson,
  author = {Horn, Roger A. and Johnson, Charles R.}, title = {Matrix Analysis}, edition = {2},
  publisher = {Cambridge University Press}, year = {2013}
}"""
_SHUB = """@book{Shub,
  author = {Shub, Michael}, title = {Global Stability of Dynamical Systems}, publisher = {Springer}, year = {1987}
}"""
_HPS = """@book{Hirsch-Pugh-Shub,
  author = {Hirsch, Morris W. and Pugh, Charles C. and Shub, Michael}, title = {Invariant Manifolds},
  publisher = {Springer}, year = {1977}
}"""
_ABSIL = """@article{Absil-Mahony-Andrews,
  author = {Absil, P.-A. and Mahony, R. and Andrews, B.},
  title = {Convergence of the iterates of descent methods for analytic cost functions},
  journal = {SIAM J. Optim.}, volume = {16}, year = {2005}, pages = {531--547}
}"""
_RUDIN = """@book{Rudin-Principles,
  author = {Rudin, Walter}, title = {Principles of Mathematical Analysis}, edition = {3}, publisher = {McGraw-Hill},
  year = {1976}
}"""
_LASALLE = """@book{LaSalle,
  author = {LaSalle, J. P.}, title = {The Stability and Control of Discrete Processes}, publisher = {Springer}, year = {1986}
}"""

PRODUCT_SPECTRA = Theorem(
    key="Horn-Johnson",
    name="the theorem on the spectra of two products",
    hypotheses=("the linearisation is the identity plus a product of two maps",),
    conclusion="the two products have the same nonzero eigenvalues with multiplicities",
    reference="Horn and Johnson, Theorem 1.3.22",
    bibtex=_HORN_JOHNSON,
)
OSTROWSKI = Theorem(
    key="Horn-Johnson",
    name="Sylvester's law of inertia for products",
    hypotheses=("the first factor is positive definite", "the second factor is symmetric"),
    conclusion="the product has real eigenvalues, as many positive ones as the second factor",
    reference="Horn and Johnson, Theorem 7.6.3",
    bibtex=_HORN_JOHNSON,
)
INTERLACING = Theorem(
    key="Horn-Johnson",
    name="Cauchy's interlacing theorem",
    hypotheses=("the matrix is symmetric", "it is compressed to a hyperplane"),
    conclusion="the largest eigenvalue of the compression is at least the second eigenvalue of the matrix",
    reference="Horn and Johnson, Theorem 4.3.17",
    bibtex=_HORN_JOHNSON,
)
RAYLEIGH_BOUND = Theorem(
    key="Horn-Johnson",
    name="Rayleigh's principle",
    hypotheses=("the matrix is symmetric",),
    conclusion="the quadratic form lies between the smallest and the largest eigenvalue times the squared norm",
    reference="Horn and Johnson, Theorem 4.2.2",
    bibtex=_HORN_JOHNSON,
)
VARIANCE = Theorem(
    key="Rudin-Principles",
    name="the convexity of the squared norm",
    hypotheses=(),
    conclusion="the squared norm of a mean is at most the mean of the squared norms",
    reference="Jensen's inequality for the squared norm",
    bibtex=_RUDIN,
)
KRONECKER = Theorem(
    key="Horn-Johnson",
    name="the spectrum of a polynomial in a Kronecker product",
    hypotheses=("the Jacobian is (I + alpha A x G)/m in Kronecker form",),
    conclusion="its eigenvalues are (1 + alpha a g)/m over the eigenvalues a of A and g of G",
    reference="Horn and Johnson, Topics in Matrix Analysis, Theorem 4.2.12",
    bibtex=_HORN_JOHNSON,
)
DETERMINANT_LEMMA = Theorem(
    key="Horn-Johnson",
    name="the matrix determinant lemma",
    hypotheses=("the matrix is changed by a term of rank one",),
    conclusion="the characteristic polynomial is multiplied by 1 - mu z^T (zeta I - F)^{-1} w",
    reference="Horn and Johnson, 0.8.5.11",
    bibtex=_HORN_JOHNSON,
)
DESCENT_SEQUENCES = Theorem(
    key="Absil-Mahony-Andrews",
    name="the convergence theorem for descent sequences of analytic functions",
    hypotheses=(
        "the cost is real analytic on a compact analytic manifold",
        "the cost decreases by at least a multiple of the squared step",
        "the gradient is at most a multiple of the step",
    ),
    conclusion="every trajectory converges to a single critical point",
    reference="Absil, Mahony and Andrews, Theorem 3.2 (Lojasiewicz's inequality), in charts",
    bibtex=_ABSIL,
)
CENTRE_STABLE_MAPS = Theorem(
    key="Shub",
    name="the centre-stable manifold theorem with a countable cover",
    hypotheses=(
        "the map is a local diffeomorphism",
        "every orbit converges to a fixed point",
        "every other fixed point has a multiplier above 1",
    ),
    conclusion="almost every trajectory converges to a principal consensus point",
    reference="Shub, Theorem III.7; a local diffeomorphism pulls null sets back to null sets",
    bibtex=_SHUB,
)
NORMALLY_ATTRACTING = Theorem(
    key="Hirsch-Pugh-Shub",
    name="the theorem on normally attracting manifolds of fixed points",
    hypotheses=(
        "the point lies on a manifold of fixed points",
        "the multiplier 1 has exactly the multiplicity of the dimension of that manifold",
        "all other multipliers lie inside the unit circle",
    ),
    conclusion="the point is Lyapunov stable and an open set of states converges to the manifold",
    reference="Hirsch, Pugh and Shub, Theorem 4.1",
    bibtex=_HPS,
)
NORMALLY_HYPERBOLIC_CIRCLE = Theorem(
    key="Hirsch-Pugh-Shub",
    name="the theorem on normally attracting invariant circles",
    hypotheses=(
        "the circle is invariant and the map on it is conjugate to a rotation",
        "perturbations normal to the circle are contracted on average over an orbit",
    ),
    conclusion="the circle attracts a neighbourhood",
    reference="Hirsch, Pugh and Shub, Theorem 4.1",
    bibtex=_HPS,
)
INVERSE_FUNCTION = Theorem(
    key="Rudin-Principles",
    name="the inverse function theorem",
    hypotheses=("the map is defined and analytic everywhere", "the derivative has no kernel"),
    conclusion="the map is a local diffeomorphism",
    reference="Rudin, Theorem 9.24",
    bibtex=_RUDIN,
)
INTERMEDIATE_VALUE = Theorem(
    key="Rudin-Principles",
    name="the intermediate value theorem",
    hypotheses=("the monic characteristic polynomial is negative at a point",),
    conclusion="there is a real eigenvalue above that point",
    reference="Rudin, Theorem 4.23",
    bibtex=_RUDIN,
)
INVARIANCE_OF_MAPS = Theorem(
    key="LaSalle",
    name="LaSalle's invariance principle for maps",
    hypotheses=("a continuous function decreases strictly off the fixed points", "the state space is compact"),
    conclusion="every limit point of a trajectory is a fixed point",
    reference="LaSalle, Theorem 6.3",
    bibtex=_LASALLE,
)
