"""Textbook theorems on limits, flows, invariant sets and null sets: hypotheses and conclusions are facts on named objects.

How they are cited, and why books are cited by subject and not by number: :mod:`eigentoken.proofs.steps.textbook`.
"""

from __future__ import annotations

from eigentoken.proofs.bibliography import bibtex
from eigentoken.theory.statements.steps import Theorem

__all__ = [
    "CONTINUATION",
    "CONVEX_TANGENT",
    "EXPONENTIAL_DECAY",
    "LEVEL_SET",
    "LIMIT_IS_EQUILIBRIUM",
    "LINEAR_GROWTH",
    "MEAN_VALUE_DIFFERENCE",
    "SUPPORT_FUNCTIONS",
    "UNBOUNDED_MONOTONE",
]

_SPECIAL = "Rudin, Principles of Mathematical Analysis, chapter on special functions (the exponential function)"

EXPONENTIAL_DECAY = Theorem(
    key="exponential-decay",
    name="the limit of the exponential function",
    hypotheses=("{q} lies between zero and a decaying exponential of time",),
    conclusions=("{q} tends to zero",),
    reference=_SPECIAL,
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
