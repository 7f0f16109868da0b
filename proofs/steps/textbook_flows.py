"""Textbook theorems on limits, flows, invariant sets and null sets: hypotheses and conclusions are facts on named objects.

How they are cited, and why books are cited by subject and not by number: :mod:`eigentoken.proofs.steps.textbook`.
"""

from __future__ import annotations

from eigentoken.proofs.bibliography import bibtex
from eigentoken.theory.statements.steps import Theorem

__all__ = [
    "COMPACTNESS",
    "CONTINUATION",
    "CONVEX_TANGENT",
    "EXPONENTIAL_DECAY",
    "EXPONENTIAL_GROWTH",
    "EXPONENTIAL_LIMIT",
    "FLOW_MAPS",
    "INDUCTION",
    "LEVEL_SET",
    "LIMIT_IS_EQUILIBRIUM",
    "LINEAR_GROWTH",
    "LYAPUNOV_EQUATION",
    "MEAN_VALUE",
    "MEAN_VALUE_DIFFERENCE",
    "NO_ATOMS",
    "NULL_SUBMANIFOLDS",
    "NULL_UNION",
    "OPEN_PREIMAGES",
    "OPEN_SETS",
    "SMOOTH_FLOW",
    "SUPPORT_FUNCTIONS",
    "TAYLOR_UNIFORM",
    "UNBOUNDED_MONOTONE",
]

_SPECIAL = "Rudin, Principles of Mathematical Analysis, chapter on special functions (the exponential function)"

EXPONENTIAL_LIMIT = Theorem(
    key="exponential-limit",
    name="the limit of the exponential function",
    hypotheses=("{q} lies between zero and a decaying exponential of s", "s tends to infinity"),
    conclusions=("{q} tends to zero",),
    reference=_SPECIAL,
    bibtex=bibtex("Rudin-Principles"),
)

EXPONENTIAL_DECAY = Theorem(
    key="exponential-decay",
    name="the limit of the exponential function",
    hypotheses=("{q} lies between zero and a decaying exponential of time",),
    conclusions=("{q} tends to zero",),
    reference=_SPECIAL,
    bibtex=bibtex("Rudin-Principles"),
)

EXPONENTIAL_GROWTH = Theorem(
    key="exponential-growth",
    name="the growth of the exponential function",
    hypotheses=("from T on {q} is at least its value at T times a growing exponential", "{q} is bounded"),
    conclusions=("{q} is at most zero at time T",),
    reference=_SPECIAL,
    bibtex=bibtex("Rudin-Principles"),
)

MEAN_VALUE = Theorem(
    key="mean-value",
    name="the mean value theorem",
    hypotheses=("the derivative of {f} is bounded",),
    conclusions=("{f} is Lipschitz",),
    reference="Rudin, Principles of Mathematical Analysis, chapter on differentiation",
    bibtex=bibtex("Rudin-Principles"),
)

MEAN_VALUE_DIFFERENCE = Theorem(
    key="mean-value-difference",
    name="the mean value theorem",
    hypotheses=("{f} is differentiable",),
    conclusions=("a difference of two values of {f} is a value of its derivative in between times the step",),
    reference="Rudin, Principles of Mathematical Analysis, chapter on differentiation",
    bibtex=bibtex("Rudin-Principles"),
)

CONVEX_TANGENT = Theorem(
    key="convex-tangent",
    name="the first-order condition for convex functions",
    hypotheses=("the second derivative of {g} is not negative",),
    conclusions=("{g} lies above its tangents",),
    reference="Boyd, Vandenberghe, Convex Optimization, chapter on convex functions",
    bibtex=bibtex("Boyd-Vandenberghe"),
)

SUPPORT_FUNCTIONS = Theorem(
    key="support-functions",
    name="the theorem on support functions of convex sets",
    hypotheses=("{K} are convex hulls of finitely many points", "the support function of {K} does not increase"),
    conclusions=("{K} are nested compact sets",),
    reference="Rockafellar, Convex Analysis, on support functions and on convex hulls of compact sets",
    bibtex=bibtex("Rockafellar"),
)

INDUCTION = Theorem(
    key="induction",
    name="the principle of induction",
    hypotheses=("{claim} for the first token", "{claim} for the next token if for all earlier ones"),
    conclusions=("{claim} for all tokens",),
    reference="Halmos, Naive Set Theory, on the Peano axioms",
    bibtex=bibtex("Halmos"),
)

FLOW_MAPS = Theorem(
    key="flow-maps",
    name="uniqueness and continuous dependence under Caratheodory conditions",
    hypotheses=(
        "the field is measurable in time and Lipschitz in the state with an integrable bound",
        "the state space is compact and invariant",
    ),
    conclusions=("the time-T maps are homeomorphisms of the state space",),
    reference="Hale, Ordinary Differential Equations, on Caratheodory systems, forward and backward in time",
    bibtex=bibtex("Hale"),
)

CONTINUATION = Theorem(
    key="continuation",
    name="the continuation of solutions",
    hypotheses=(
        "the field is autonomous and locally Lipschitz",
        "solutions are bounded on bounded intervals of time",
    ),
    conclusions=("solutions exist for all times",),
    reference="Khalil, Nonlinear Systems, chapter on fundamental properties (existence and uniqueness)",
    bibtex=bibtex("Khalil"),
)

SMOOTH_FLOW = Theorem(
    key="smooth-flow",
    name="the fundamental theorem on flows",
    hypotheses=("the field is smooth", "the state space is a compact manifold"),
    conclusions=("the flow is a diffeomorphism",),
    reference="Lee, Introduction to Smooth Manifolds, chapter on integral curves and flows",
    bibtex=bibtex("Lee"),
)

LEVEL_SET = Theorem(
    key="level-set",
    name="the regular level set theorem",
    hypotheses=("{S} is a bounded level set of a smooth map", "the differential of that map is onto along {S}"),
    conclusions=("{S} is a compact manifold",),
    reference="Lee, Introduction to Smooth Manifolds, chapter on submanifolds",
    bibtex=bibtex("Lee"),
)

LIMIT_IS_EQUILIBRIUM = Theorem(
    key="limit-sets",
    name="the invariance of limit sets",
    hypotheses=("every trajectory converges to a single point", "the field is autonomous and locally Lipschitz"),
    conclusions=("every trajectory converges to a single equilibrium",),
    reference="Khalil, Nonlinear Systems, chapter on Lyapunov stability (limit sets)",
    bibtex=bibtex("Khalil"),
)

UNBOUNDED_MONOTONE = Theorem(
    key="monotone",
    name="the theorem on monotone functions",
    hypotheses=("{f} does not decrease", "{f} is unbounded"),
    conclusions=("{f} tends to infinity",),
    reference="Rudin, Principles of Mathematical Analysis, chapter on sequences (monotone sequences)",
    bibtex=bibtex("Rudin-Principles"),
)

LINEAR_GROWTH = Theorem(
    key="linear-growth",
    name="the theorem on linear flows",
    hypotheses=("{X} has an eigenvalue with positive real part",),
    conclusions=("some solution of the linear flow of {X} is unbounded",),
    reference="Khalil, Nonlinear Systems, chapter on Lyapunov stability (linear systems)",
    bibtex=bibtex("Khalil"),
)

TAYLOR_UNIFORM = Theorem(
    key="Taylor-uniform",
    name="Taylor's theorem with parameters in a compact set",
    hypotheses=(
        "{f} is a smooth function of the state and of parameters",
        "the parameters stay in a compact set",
        "{f} vanishes at the point, with the linear part {J}, for all parameters",
    ),
    conclusions=("near the point {f} is {J} up to a constant times the squared distance, for all parameters",),
    reference="Rudin, Principles of Mathematical Analysis, chapters on functions of several variables and on "
    "continuity (continuous functions on compact sets)",
    bibtex=bibtex("Rudin-Principles"),
)

LYAPUNOV_EQUATION = Theorem(
    key="Lyapunov-equation",
    name="Lyapunov's equation",
    hypotheses=("all eigenvalues of {J} have negative real parts",),
    conclusions=("{J}^T Q + Q {J} = -1 has a positive definite solution Q",),
    reference="Khalil, Nonlinear Systems, chapter on Lyapunov stability (linear systems)",
    bibtex=bibtex("Khalil"),
)

COMPACTNESS = Theorem(
    key="compactness",
    name="the Heine-Borel theorem",
    hypotheses=("{sets} are open", "{sets} increase", "{space} is compact", "none of {sets} is all of {space}"),
    conclusions=("the union of {sets} is not all of {space}",),
    reference="Rudin, Principles of Mathematical Analysis, chapter on basic topology",
    bibtex=bibtex("Rudin-Principles"),
)

OPEN_SETS = Theorem(
    key="open-sets",
    name="the continuity of maps by open sets",
    hypotheses=(
        "the time-T maps are homeomorphisms of the state space",
        "{sets} are preimages of an open set under time-T maps",
    ),
    conclusions=("{sets} are open",),
    reference="Rudin, Principles of Mathematical Analysis, chapter on continuity",
    bibtex=bibtex("Rudin-Principles"),
)

OPEN_PREIMAGES = Theorem(
    key="open-preimages",
    name="the measurability of preimages",
    hypotheses=(
        "the time-T maps are homeomorphisms of the state space",
        "{B} is a difference of countable unions of preimages of open sets under time-T maps",
    ),
    conclusions=("{B} is measurable",),
    reference="Rudin, Real and Complex Analysis, chapter on abstract integration (Borel sets)",
    bibtex=bibtex("Rudin"),
)

NO_ATOMS = Theorem(
    key="no-atoms",
    name="the nullity of points under surface measure",
    hypotheses=("every section of {B} has at most one point", "the sphere has positive dimension"),
    conclusions=("every section of {B} has measure zero",),
    reference="Rudin, Real and Complex Analysis, chapter on positive Borel measures, in charts",
    bibtex=bibtex("Rudin"),
)

NULL_UNION = Theorem(
    key="null-union",
    name="the countable additivity of measures",
    hypotheses=("{B} has measure zero", "{C} is a finite union of sets {B}"),
    conclusions=("{C} has measure zero",),
    reference="Rudin, Real and Complex Analysis, chapter on abstract integration (measures)",
    bibtex=bibtex("Rudin"),
)

NULL_SUBMANIFOLDS = Theorem(
    key="null-submanifolds",
    name="the fact that submanifolds of positive codimension are null sets",
    hypotheses=("{B} lies in finitely many submanifolds of positive codimension",),
    conclusions=("{B} has measure zero",),
    reference="Lee, Introduction to Smooth Manifolds, chapter on Sard's theorem",
    bibtex=bibtex("Lee"),
)
