"""Textbook theorems that derivations cite: hypotheses and conclusions are names of facts, with reference and BibTeX.

A citation is accepted only where earlier steps, or the conditions of the statement, establish every hypothesis under
exactly these names (:class:`eigentoken.theory.steps.Citation`).  ``about(theorem, subject)`` is the same theorem spoken of a
named object, so that one derivation can use it twice.  Limits, flows and measures: :mod:`eigentoken.proofs.textbook_flows`.
"""

from __future__ import annotations

from dataclasses import replace

from eigentoken.theory.steps import Theorem

__all__ = [
    "ALGEBRAIC_NORM",
    "BINOMIAL",
    "CANTOR",
    "CARATHEODORY",
    "CAUCHY_SCHWARZ",
    "CENTRE_STABLE",
    "CIRCLE_CONSENSUS",
    "COMPARISON",
    "DANSKIN",
    "FUBINI",
    "ISS_CASCADE",
    "JENSEN",
    "LASALLE",
    "LOJASIEWICZ",
    "OSTROWSKI_SCHNEIDER",
    "RAYLEIGH",
    "SYLVESTER",
    "TAYLOR",
    "UNIFORMLY_CONTINUOUS_COMPOSITION",
    "UNIFORM_MOMENTS",
    "WENDEL",
    "about",
]

KHALIL = """@book{Khalil,
  author = {Khalil, Hassan K.},
  title = {Nonlinear Systems},
  edition = {3},
  publisher = {Prentice Hall},
  year = {2002}
}"""
_HORN_JOHNSON = """@book{Horn-Johnson,
  author = {Horn, Roger A. and Johnson, Charles R.},
  title = {Matrix Analysis},
  edition = {2},
  publisher = {Cambridge University Press},
  year = {2013}
}"""
RUDIN = """@book{Rudin,
  author = {Rudin, Walter},
  title = {Real and Complex Analysis},
  edition = {3},
  publisher = {McGraw-Hill},
  year = {1987}
}"""
PRINCIPLES = """@book{Rudin-Principles,
  author = {Rudin, Walter},
  title = {Principles of Mathematical Analysis},
  edition = {3},
  publisher = {McGraw-Hill},
  year = {1976}
}"""

LASALLE = Theorem(
    key="LaSalle",
    name="LaSalle's invariance principle",
    hypotheses=(
        "the trajectories are bounded",
        "a continuously differentiable function does not increase along trajectories",
        "the field is autonomous and locally Lipschitz",
    ),
    conclusion="every trajectory tends to the largest invariant set where the derivative of the function vanishes",
    reference="Khalil, Nonlinear Systems, Theorem 4.4",
    bibtex=KHALIL,
)

LOJASIEWICZ = Theorem(
    key="Lojasiewicz",
    name="Lojasiewicz's gradient theorem",
    hypotheses=(
        "the system is minus the gradient of a function",
        "the function and the metric are real analytic",
        "the trajectories are bounded",
    ),
    conclusion="every trajectory converges to a single point",
    reference="Lojasiewicz, Sur les trajectoires du gradient d'une fonction analytique (1984); Absil, Mahony, Andrews "
    "(2005), Theorem 2.2",
    bibtex="""@article{Lojasiewicz,
  author = {{\\L}ojasiewicz, Stanis{\\l}aw},
  title = {Sur les trajectoires du gradient d'une fonction analytique},
  journal = {Seminari di Geometria, Universit{\\`a} di Bologna},
  year = {1984},
  pages = {115--117}
}""",
)

DANSKIN = Theorem(
    key="Danskin",
    name="Danskin's theorem",
    hypotheses=("the function is a maximum of finitely many differentiable functions of time",),
    conclusion="the upper Dini derivative of the maximum is the largest derivative among the maximisers",
    reference="Danskin, The theory of max-min (1967); Lin, Francis, Maggiore, SIAM J. Control Optim. 46 (2007), Lemma "
    "2.2",
    bibtex="""@article{Lin-Francis-Maggiore,
  author = {Lin, Zhiyun and Francis, Bruce and Maggiore, Manfredi},
  title = {State agreement for continuous-time coupled nonlinear systems},
  journal = {SIAM Journal on Control and Optimization},
  volume = {46},
  year = {2007},
  pages = {288--307}
}""",
)

COMPARISON = Theorem(
    key="comparison",
    name="the comparison lemma",
    hypotheses=("a scalar differential inequality holds for the upper Dini derivative",),
    conclusion="the function is bounded by the solution of the comparison equation",
    reference="Khalil, Nonlinear Systems, Lemma 3.4",
    bibtex=KHALIL,
)

CARATHEODORY = Theorem(
    key="Caratheodory",
    name="Caratheodory's existence theorem",
    hypotheses=("the field is measurable in time and Lipschitz in the state with an integrable bound",),
    conclusion="solutions exist, are unique and absolutely continuous",
    reference="Coddington, Levinson, Theory of Ordinary Differential Equations, Chapter 2, Theorems 1.1 and 2.1",
    bibtex="""@book{Coddington-Levinson,
  author = {Coddington, Earl A. and Levinson, Norman},
  title = {Theory of Ordinary Differential Equations},
  publisher = {McGraw-Hill},
  year = {1955}
}""",
)

CANTOR = Theorem(
    key="Cantor",
    name="Cantor's intersection theorem",
    hypotheses=("nested compact sets", "the quantity tends to zero as time goes on (the diameters)"),
    conclusion="the sets shrink to one point",
    reference="Rudin, Principles of Mathematical Analysis, Theorem 3.10",
    bibtex=PRINCIPLES,
)

ISS_CASCADE = Theorem(
    key="ISS-cascade",
    name="the cascade theorem for input-to-state stability",
    hypotheses=("the driving system converges", "the driven system is input-to-state stable on an invariant set"),
    conclusion="the cascade converges",
    reference="Khalil, Nonlinear Systems, Lemma 4.7",
    bibtex=KHALIL,
)

CENTRE_STABLE = Theorem(
    key="centre-stable",
    name="the centre-stable manifold theorem",
    hypotheses=(
        "every equilibrium outside a set has an unstable direction",
        "every trajectory converges to a single equilibrium",
        "the flow is a diffeomorphism",
    ),
    conclusion="the starts whose limit lies outside the set have measure zero",
    reference="Shub, Global Stability of Dynamical Systems, Theorem III.7; Lee, Panageas, Piliouras, Simchowitz, "
    "Jordan, "
    "Recht, Mathematical Programming 176 (2019)",
    bibtex="""@book{Shub,
  author = {Shub, Michael},
  title = {Global Stability of Dynamical Systems},
  publisher = {Springer},
  year = {1987}
}""",
)

OSTROWSKI_SCHNEIDER = Theorem(
    key="Ostrowski-Schneider",
    name="the Ostrowski-Schneider inertia theorem",
    hypotheses=("H is symmetric", "H X + X^T H is positive definite"),
    conclusion="X has no eigenvalue on the imaginary axis, and the inertia of X is the inertia of H",
    reference="Ostrowski, Schneider, J. Math. Anal. Appl. 4 (1962), 72-84; Horn, Johnson, Topics in Matrix Analysis, "
    "Theorem 2.4.10",
    bibtex="""@article{Ostrowski-Schneider,
  author = {Ostrowski, Alexander and Schneider, Hans},
  title = {Some theorems on the inertia of general matrices},
  journal = {Journal of Mathematical Analysis and Applications},
  volume = {4},
  year = {1962},
  pages = {72--84}
}""",
)

SYLVESTER = Theorem(
    key="Sylvester",
    name="Sylvester's law of inertia",
    hypotheses=("two symmetric matrices are congruent by an invertible matrix",),
    conclusion="they have the same inertia",
    reference="Horn, Johnson, Matrix Analysis, Theorem 4.5.8",
    bibtex=_HORN_JOHNSON,
)

RAYLEIGH = Theorem(
    key="Rayleigh",
    name="Rayleigh's principle",
    hypotheses=("the matrix is symmetric",),
    conclusion="the quadratic form of a unit vector lies between the extreme eigenvalues, and equality means an "
    "eigenvector",
    reference="Horn, Johnson, Matrix Analysis, Theorem 4.2.2",
    bibtex=_HORN_JOHNSON,
)

CAUCHY_SCHWARZ = Theorem(
    key="Cauchy-Schwarz",
    name="the Cauchy-Schwarz inequality",
    hypotheses=("the metric is symmetric and positive definite",),
    conclusion="inner products are bounded by the product of the norms",
    reference="Horn, Johnson, Matrix Analysis, Theorem 5.1.4",
    bibtex=_HORN_JOHNSON,
)

ALGEBRAIC_NORM = Theorem(
    key="adapted-norm",
    name="the adapted norm",
    hypotheses=("the spectral radius is below a bound",),
    conclusion="some norm has an operator norm below that bound",
    reference="Horn, Johnson, Matrix Analysis, Lemma 5.6.10",
    bibtex=_HORN_JOHNSON,
)

JENSEN = Theorem(
    key="Jensen",
    name="Jensen's inequality",
    hypotheses=("the function is convex",),
    conclusion="the function of a mean is at most the mean of the function, and strictly convex equality means equal "
    "arguments",
    reference="Rudin, Real and Complex Analysis, Theorem 3.3",
    bibtex=RUDIN,
)

FUBINI = Theorem(
    key="Fubini",
    name="Fubini's theorem",
    hypotheses=("the set is measurable", "almost every section has measure zero"),
    conclusion="the set has measure zero",
    reference="Rudin, Real and Complex Analysis, Theorem 8.8",
    bibtex=RUDIN,
)

TAYLOR = Theorem(
    key="Taylor",
    name="Taylor's theorem",
    hypotheses=("the map is twice continuously differentiable", "value and first derivative agree"),
    conclusion="the difference is of second order",
    reference="Rudin, Principles of Mathematical Analysis, Theorem 5.15",
    bibtex=PRINCIPLES,
)

UNIFORMLY_CONTINUOUS_COMPOSITION = Theorem(
    key="uniform-continuity",
    name="stability of uniform continuity",
    hypotheses=("the factors are bounded and uniformly continuous", "the composition is continuous on a compact set"),
    conclusion="the result is bounded and uniformly continuous",
    reference="Rudin, Principles of Mathematical Analysis, Theorem 4.19",
    bibtex=PRINCIPLES,
)

UNIFORM_MOMENTS = Theorem(
    key="uniform-moments",
    name="second moments of the uniform distribution on the sphere",
    hypotheses=("the vector is uniform on the unit sphere",),
    conclusion="the second moments are those of I/d",
    reference="by rotation invariance and trace; e.g. Muirhead, Aspects of Multivariate Statistical Theory, Section "
    "1.5",
    bibtex="""@book{Muirhead,
  author = {Muirhead, Robb J.},
  title = {Aspects of Multivariate Statistical Theory},
  publisher = {Wiley},
  year = {1982}
}""",
)

WENDEL = Theorem(
    key="Wendel",
    name="Wendel's theorem",
    hypotheses=("the points are independent, with a symmetric distribution, almost surely in general position",),
    conclusion="the number of points in one open half space has Wendel's law",
    reference="Wendel, A problem in geometric probability, Math. Scand. 11 (1962), 109-111",
    bibtex="""@article{Wendel,
  author = {Wendel, James G.},
  title = {A problem in geometric probability},
  journal = {Mathematica Scandinavica},
  volume = {11},
  year = {1962},
  pages = {109--111}
}""",
)

BINOMIAL = Theorem(
    key="binomial",
    name="the binomial theorem",
    hypotheses=("all binomial coefficients of a row are summed",),
    conclusion="the sum is a power of two",
    reference="Rudin, Principles of Mathematical Analysis, Section 8.6",
    bibtex=PRINCIPLES,
)

CIRCLE_CONSENSUS = Theorem(
    key="circle-consensus",
    name="consensus on the circle at inverse temperature at most one",
    hypotheses=("the tokens move on the circle", "the inverse temperature is at most one"),
    conclusion="almost every start on the circle reaches consensus",
    reference="Geshkovski, Letrouit, Polyanskiy, Rigollet, A mathematical perspective on transformers, "
    "arXiv:2312.10794",
    bibtex="""@misc{Geshkovski-et-al,
  author = {Geshkovski, Borjan and Letrouit, Cyril and Polyanskiy, Yury and Rigollet, Philippe},
  title = {A mathematical perspective on transformers},
  note = {arXiv:2312.10794}
}""",
)


def about(theorem: Theorem, subject: str) -> Theorem:
    """The theorem with every hypothesis and the conclusion spoken of ``subject``.

    >>> about(CANTOR, "the hulls").conclusion
    'the sets shrink to one point (the hulls)'
    """
    return replace(
        theorem,
        hypotheses=tuple(f"{each} ({subject})" for each in theorem.hypotheses),
        conclusion=f"{theorem.conclusion} ({subject})",
    )
