"""Textbook theorems on limits, flows, invariant sets and null sets that the chapters on flows cite.

A citation is accepted only where earlier steps, or the facts of the statement, establish each hypothesis under exactly
these names (:class:`eigentoken.theory.steps.Citation`); :func:`eigentoken.proofs.textbook.about` speaks of a named object.
"""

from __future__ import annotations

from eigentoken.proofs.textbook import KHALIL, PRINCIPLES, RUDIN
from eigentoken.theory.steps import Theorem

__all__ = [
    "COMPACTNESS",
    "CONVEX_TANGENT",
    "EXPONENTIAL_DECAY",
    "EXPONENTIAL_GROWTH",
    "EXPONENTIAL_LIMIT",
    "FLOW_MAPS",
    "INDUCTION",
    "ISOTROPIC",
    "LEVEL_SET",
    "LIMIT_IS_EQUILIBRIUM",
    "LINEAR_GROWTH",
    "MEAN_VALUE",
    "NO_ATOMS",
    "NULL_UNION",
    "OPEN_PREIMAGES",
    "SMOOTH_FLOW",
    "SUPPORT_FUNCTIONS",
    "UNBOUNDED",
    "UNBOUNDED_MONOTONE",
]

_HALE = """@book{Hale,
  author = {Hale, Jack K.},
  title = {Ordinary Differential Equations},
  edition = {2},
  publisher = {Krieger},
  year = {1980}
}"""
_LEE = """@book{Lee,
  author = {Lee, John M.},
  title = {Introduction to Smooth Manifolds},
  edition = {2},
  publisher = {Springer},
  year = {2013}
}"""

EXPONENTIAL_LIMIT = Theorem(
    key="exponential-limit",
    name="the limit of the exponential function",
    hypotheses=("the quantity lies between zero and a decaying exponential of s", "s tends to infinity"),
    conclusion="the quantity tends to zero",
    reference="Rudin, Principles of Mathematical Analysis, Theorem 8.6",
    bibtex=PRINCIPLES,
)

EXPONENTIAL_DECAY = Theorem(
    key="exponential-decay",
    name="the limit of the exponential function",
    hypotheses=("the quantity lies between zero and a decaying exponential of time",),
    conclusion="the quantity tends to zero as time goes on",
    reference="Rudin, Principles of Mathematical Analysis, Theorem 8.6",
    bibtex=PRINCIPLES,
)

EXPONENTIAL_GROWTH = Theorem(
    key="exponential-growth",
    name="the growth of the exponential function",
    hypotheses=("from T on the quantity grows at least exponentially", "the quantity is bounded"),
    conclusion="the quantity is zero at time T",
    reference="Rudin, Principles of Mathematical Analysis, Theorem 8.6",
    bibtex=PRINCIPLES,
)

MEAN_VALUE = Theorem(
    key="mean-value",
    name="the mean value theorem",
    hypotheses=("the derivative is bounded",),
    conclusion="the function is Lipschitz",
    reference="Rudin, Principles of Mathematical Analysis, Theorem 5.19",
    bibtex=PRINCIPLES,
)

CONVEX_TANGENT = Theorem(
    key="convex-tangent",
    name="the first-order condition for convex functions",
    hypotheses=("the second derivative is nonnegative along lines",),
    conclusion="the function lies above its tangents",
    reference="Boyd, Vandenberghe, Convex Optimization, Sections 3.1.3 and 3.1.4",
    bibtex="""@book{Boyd-Vandenberghe,
  author = {Boyd, Stephen and Vandenberghe, Lieven},
  title = {Convex Optimization},
  publisher = {Cambridge University Press},
  year = {2004}
}""",
)

SUPPORT_FUNCTIONS = Theorem(
    key="support-functions",
    name="the theorem on support functions of convex sets",
    hypotheses=("the sets are hulls of finitely many points", "their support functions do not increase"),
    conclusion="nested compact sets",
    reference="Rockafellar, Convex Analysis, Corollary 13.1.1 and Theorem 17.2",
    bibtex="""@book{Rockafellar,
  author = {Rockafellar, R. Tyrrell},
  title = {Convex Analysis},
  publisher = {Princeton University Press},
  year = {1970}
}""",
)

INDUCTION = Theorem(
    key="induction",
    name="the principle of induction",
    hypotheses=(
        "the claim holds for the first token",
        "if the claim holds for all earlier tokens it holds for the next one",
    ),
    conclusion="the claim holds for all tokens",
    reference="Halmos, Naive Set Theory, Section 12",
    bibtex="""@book{Halmos,
  author = {Halmos, Paul R.},
  title = {Naive Set Theory},
  publisher = {Van Nostrand},
  year = {1960}
}""",
)

FLOW_MAPS = Theorem(
    key="flow-maps",
    name="uniqueness and continuous dependence under Caratheodory conditions",
    hypotheses=(
        "the field is measurable in time and Lipschitz in the state with an integrable bound",
        "the state space is compact and invariant",
    ),
    conclusion="the time-T maps are homeomorphisms of the state space",
    reference="Hale, Ordinary Differential Equations, Section I.5, Theorems 5.1 to 5.3, forward and backward in time",
    bibtex=_HALE,
)

SMOOTH_FLOW = Theorem(
    key="smooth-flow",
    name="the fundamental theorem on flows",
    hypotheses=("the field is smooth", "the state space is a compact manifold"),
    conclusion="the flow is a diffeomorphism",
    reference="Lee, Introduction to Smooth Manifolds, Theorem 9.12 and Corollary 9.17",
    bibtex=_LEE,
)

LEVEL_SET = Theorem(
    key="level-set",
    name="the regular level set theorem",
    hypotheses=("the level set is bounded", "the differential does not vanish on the level set"),
    conclusion="the state space is a compact manifold",
    reference="Lee, Introduction to Smooth Manifolds, Corollary 5.14",
    bibtex=_LEE,
)

LIMIT_IS_EQUILIBRIUM = Theorem(
    key="limit-sets",
    name="the invariance of limit sets",
    hypotheses=("every trajectory converges to a single point", "the field is autonomous and locally Lipschitz"),
    conclusion="every trajectory converges to a single equilibrium",
    reference="Khalil, Nonlinear Systems, Lemma 4.1",
    bibtex=KHALIL,
)

UNBOUNDED = Theorem(
    key="LaSalle-unbounded",
    name="LaSalle's invariance principle, in the contrapositive",
    hypotheses=(
        "the field is autonomous and locally Lipschitz",
        "a continuously differentiable function does not decrease along trajectories",
        "where its derivative vanishes the function is below its value at the start",
    ),
    conclusion="the trajectory is unbounded",
    reference="Khalil, Nonlinear Systems, Theorem 4.4",
    bibtex=KHALIL,
)

UNBOUNDED_MONOTONE = Theorem(
    key="monotone",
    name="the theorem on monotone functions",
    hypotheses=("the function does not decrease", "the function is unbounded"),
    conclusion="the function tends to infinity",
    reference="Rudin, Principles of Mathematical Analysis, Theorem 3.14",
    bibtex=PRINCIPLES,
)

LINEAR_GROWTH = Theorem(
    key="linear-growth",
    name="the theorem on linear flows",
    hypotheses=("X has an eigenvalue with positive real part",),
    conclusion="some solution of the linear system is unbounded",
    reference="Khalil, Nonlinear Systems, Theorem 4.5",
    bibtex=KHALIL,
)

ISOTROPIC = Theorem(
    key="isotropic",
    name="the intermediate value theorem on a connected set",
    hypotheses=("the form takes both signs, or vanishes, at vectors that are not zero",),
    conclusion="the form vanishes at a vector that is not zero",
    reference="Rudin, Principles of Mathematical Analysis, Theorems 4.22 and 4.23",
    bibtex=PRINCIPLES,
)

COMPACTNESS = Theorem(
    key="compactness",
    name="the Heine-Borel theorem",
    hypotheses=("the sets are open and increase", "the space is compact", "no set is the whole space"),
    conclusion="the union of the sets is not the whole space",
    reference="Rudin, Principles of Mathematical Analysis, Definition 2.32 and Theorem 2.41",
    bibtex=PRINCIPLES,
)

OPEN_PREIMAGES = Theorem(
    key="open-preimages",
    name="the measurability of open sets",
    hypotheses=(
        "the time-T maps are homeomorphisms of the state space",
        "the domain is the union over T of the preimages of an open set",
    ),
    conclusion="the set is measurable",
    reference="Rudin, Real and Complex Analysis, Theorem 1.12 and Section 1.11",
    bibtex=RUDIN,
)

NO_ATOMS = Theorem(
    key="no-atoms",
    name="the nullity of points under surface measure",
    hypotheses=("every section has at most one point", "the sphere has positive dimension"),
    conclusion="almost every section has measure zero",
    reference="Rudin, Real and Complex Analysis, Theorem 2.20, in charts",
    bibtex=RUDIN,
)

NULL_UNION = Theorem(
    key="null-union",
    name="the countable additivity of measures",
    hypotheses=("the set has measure zero",),
    conclusion="the union over the tokens has measure zero",
    reference="Rudin, Real and Complex Analysis, Theorem 1.19",
    bibtex=RUDIN,
)
