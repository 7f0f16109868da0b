"""Textbook theorems that derivations cite: hypotheses and conclusions are facts about named objects, with BibTeX.

A citation is accepted only where earlier steps, or the conditions of the statement, establish every hypothesis under
exactly these names, and it gives only what stands here as a conclusion (:class:`eigentoken.theory.statements.steps.Citation`).
Letters in braces stand for objects that the citation names.  Books are cited by subject: numbers of theorems differ from
edition to edition, and were not checked.  Limits, flows and measures: :mod:`eigentoken.proofs.steps.textbook_flows`; maps and
matrices: :mod:`eigentoken.proofs.steps.textbook_maps`.
"""

from __future__ import annotations

from eigentoken.proofs.bibliography import bibtex
from eigentoken.theory.statements.steps import Theorem

__all__ = [
    "ADAPTED_NORM",
    "ALMOST_EVERYWHERE_GRONWALL",
    "ALMOST_EVERYWHERE_LARGEST",
    "ALMOST_EVERYWHERE_MONOTONE",
    "BOOTSTRAP",
    "CANTOR",
    "CARATHEODORY",
    "CARATHEODORY_BOUNDED",
    "CAUCHY_SCHWARZ",
    "COMPARISON",
    "DANSKIN",
    "GRONWALL",
    "JENSEN",
    "LASALLE",
    "LASALLE_BOUNDED",
    "LOJASIEWICZ",
    "OSTROWSKI_SCHNEIDER",
    "RAYLEIGH",
    "SPECTRAL",
    "SYLVESTER",
    "TAYLOR",
]


_LYAPUNOV = "Khalil, Nonlinear Systems, chapter on Lyapunov stability"
_NOT_INCREASING = "{V} is continuously differentiable and does not increase along trajectories"
_AUTONOMOUS = "the field is autonomous and locally Lipschitz"

LASALLE = Theorem(
    key="LaSalle",
    name="LaSalle's invariance principle",
    hypotheses=("the trajectories are bounded", _NOT_INCREASING, _AUTONOMOUS),
    conclusions=("every trajectory tends to the largest invariant set where the derivative of {V} vanishes",),
    reference=_LYAPUNOV,
    bibtex=bibtex("Khalil"),
)

LASALLE_BOUNDED = Theorem(
    key="LaSalle-bounded",
    name="LaSalle's invariance principle for bounded trajectories",
    hypotheses=(_NOT_INCREASING, _AUTONOMOUS),
    conclusions=("every bounded trajectory tends to the largest invariant set where the derivative of {V} vanishes",),
    reference=_LYAPUNOV,
    bibtex=bibtex("Khalil"),
)

LOJASIEWICZ = Theorem(
    key="Lojasiewicz",
    name="Lojasiewicz's gradient theorem",
    hypotheses=(
        "the system is minus the gradient of a function",
        "the function and the metric are real analytic",
        "the trajectories are bounded",
    ),
    conclusions=("every trajectory converges to a single point",),
    reference="Lojasiewicz, Sur les trajectoires du gradient d'une fonction analytique (1984)",
    bibtex=bibtex("Lojasiewicz"),
)

DANSKIN = Theorem(
    key="Danskin",
    name="Danskin's theorem",
    hypotheses=(
        "{M} is the largest of finitely many differentiable functions of time",
        "where {M} is attained the derivative is at most {rate}",
    ),
    conclusions=("the upper Dini derivative of {M} is at most {rate}",),
    reference="Lin, Francis, Maggiore, SIAM J. Control Optim. 46 (2007), on the derivative of a maximum",
    bibtex=bibtex("Lin-Francis-Maggiore"),
)

_COMPARISON = "Khalil, Nonlinear Systems, chapter on fundamental properties (comparison principle)"

GRONWALL = Theorem(
    key="Gronwall",
    name="the comparison lemma with a linear rate",
    hypotheses=("the upper Dini derivative of {u} is at most {k} times {u}",),
    conclusions=("{u} at time t is at most exp({k} t) times {u} at the start",),
    reference=_COMPARISON,
    bibtex=bibtex("Khalil"),
)

COMPARISON = Theorem(
    key="comparison",
    name="the comparison lemma",
    hypotheses=(
        "the derivative of {u} is at least {rate}",
        "{bound} solves the equation with the rate {rate}",
        "{u} starts at or above {bound}",
    ),
    conclusions=("{u} stays at or above {bound}",),
    reference=_COMPARISON,
    bibtex=bibtex("Khalil"),
)

_CARATHEODORY_COMPARISON = (
    "Walter, Ordinary Differential Equations, on differential inequalities in the sense of Caratheodory"
)
_SLOPE = "{u} is absolutely continuous, with a derivative of at most"

ALMOST_EVERYWHERE_LARGEST = Theorem(
    key="largest-absolutely-continuous",
    name="the derivative of a maximum of absolutely continuous functions",
    hypotheses=(
        "{M} is the largest of finitely many absolutely continuous functions of time",
        "for almost every time, where {M} is attained the derivative is at most {rate}",
    ),
    conclusions=("{M} is absolutely continuous, with a derivative of at most {rate} almost everywhere",),
    reference="Gilbarg, Trudinger, Elliptic Partial Differential Equations of Second Order, chapter on Sobolev spaces "
    "(the chain rule: derivatives agree almost everywhere where two functions do)",
    bibtex=bibtex("Gilbarg-Trudinger"),
)

ALMOST_EVERYWHERE_MONOTONE = Theorem(
    key="monotone-absolutely-continuous",
    name="the fundamental theorem for absolutely continuous functions",
    hypotheses=(f"{_SLOPE} zero almost everywhere",),
    conclusions=("{u} does not increase",),
    reference="Rudin, Real and Complex Analysis, chapter on differentiation",
    bibtex=bibtex("Rudin"),
)

ALMOST_EVERYWHERE_GRONWALL = Theorem(
    key="Gronwall-absolutely-continuous",
    name="the comparison lemma for absolutely continuous functions, with a linear rate",
    hypotheses=(f"{_SLOPE} {{k}} times {{u}} almost everywhere",),
    conclusions=("{u} at time t is at most exp({k} t) times {u} at the start",),
    reference=_CARATHEODORY_COMPARISON,
    bibtex=bibtex("Walter"),
)

BOOTSTRAP = Theorem(
    key="bootstrap",
    name="the continuity (bootstrap) principle",
    hypotheses=(
        "{q} is continuous in time and positive at the start",
        "as long as {q} is positive, it is at least a positive continuous function of time",
    ),
    conclusions=("{q} is positive at all times",),
    reference="Tao, Nonlinear Dispersive Equations, chapter on ordinary differential equations (abstract bootstrap "
    "principle)",
    bibtex=bibtex("Tao"),
)

CARATHEODORY = Theorem(
    key="Caratheodory",
    name="Caratheodory's existence theorem",
    hypotheses=("the field is measurable in time and Lipschitz in the state with an integrable bound",),
    conclusions=("solutions exist, are unique and absolutely continuous",),
    reference="Coddington, Levinson, Theory of Ordinary Differential Equations, chapter on existence and uniqueness",
    bibtex=bibtex("Coddington-Levinson"),
)

CARATHEODORY_BOUNDED = Theorem(
    key="Caratheodory-bounded",
    name="Caratheodory's existence theorem for bounded fields",
    hypotheses=("the field is measurable in time, continuous in the state and bounded",),
    conclusions=("solutions exist and are absolutely continuous",),
    reference="Coddington, Levinson, Theory of Ordinary Differential Equations, chapter on existence and uniqueness",
    bibtex=bibtex("Coddington-Levinson"),
)

CANTOR = Theorem(
    key="Cantor",
    name="Cantor's intersection theorem",
    hypotheses=("{K} are nested compact sets", "the diameter of {K} tends to zero"),
    conclusions=("{K} shrink to one point",),
    reference="Rudin, Principles of Mathematical Analysis, chapter on sequences (diameters of nested compact sets)",
    bibtex=bibtex("Rudin-Principles"),
)

OSTROWSKI_SCHNEIDER = Theorem(
    key="Ostrowski-Schneider",
    name="the Ostrowski-Schneider inertia theorem",
    hypotheses=("{H} is symmetric", "{H} {X} + {X}^T {H} is positive definite"),
    conclusions=(
        "{X} has no eigenvalue on the imaginary axis",
        "{X} has as many eigenvalues with positive real part as {H} has positive ones",
    ),
    reference="Ostrowski, Schneider, J. Math. Anal. Appl. 4 (1962), 72-84",
    bibtex=bibtex("Ostrowski-Schneider"),
)

SYLVESTER = Theorem(
    key="Sylvester",
    name="Sylvester's law of inertia",
    hypotheses=("{S} and {T} are symmetric and congruent by an invertible matrix",),
    conclusions=("{S} and {T} have the same inertia",),
    reference="Horn, Johnson, Matrix Analysis, chapter on Hermitian matrices and congruences",
    bibtex=bibtex("Horn-Johnson"),
)

SPECTRAL = Theorem(
    key="spectral",
    name="the spectral theorem",
    hypotheses=("{A} is symmetric",),
    conclusions=("{A} has an orthonormal basis of eigenvectors",),
    reference="Horn, Johnson, Matrix Analysis, chapter on unitary equivalence and normal matrices",
    bibtex=bibtex("Horn-Johnson"),
)

RAYLEIGH = Theorem(
    key="Rayleigh",
    name="Rayleigh's principle",
    hypotheses=("{A} is symmetric",),
    conclusions=(
        "the form of {A} lies between its extreme eigenvalues times the squared norm",
        "a unit vector where the form of {A} is its top eigenvalue is an eigenvector",
    ),
    reference="Horn, Johnson, Matrix Analysis, chapter on Hermitian matrices (variational characterisations)",
    bibtex=bibtex("Horn-Johnson"),
)

CAUCHY_SCHWARZ = Theorem(
    key="Cauchy-Schwarz",
    name="the Cauchy-Schwarz inequality",
    hypotheses=("the metric is symmetric and positive definite",),
    conclusions=("inner products are bounded by the product of the norms",),
    reference="Horn, Johnson, Matrix Analysis, chapter on norms",
    bibtex=bibtex("Horn-Johnson"),
)

ADAPTED_NORM = Theorem(
    key="adapted-norm",
    name="the adapted norm",
    hypotheses=("the spectral radius of {A} is below {bound}",),
    conclusions=("some Euclidean norm has an operator norm of {A} below {bound}",),
    reference="Horn, Johnson, Matrix Analysis, chapter on norms (spectral radius): the norm of the proof is that of a "
    "basis in which the matrix is nearly diagonal",
    bibtex=bibtex("Horn-Johnson"),
)

JENSEN = Theorem(
    key="Jensen",
    name="Jensen's inequality",
    hypotheses=("{f} is strictly convex",),
    conclusions=(
        "{f} of a mean is at most the mean of {f}",
        "{f} of a mean is the mean of {f} only for equal arguments",
    ),
    reference="Rudin, Real and Complex Analysis, chapter on Lp-spaces (convex functions)",
    bibtex=bibtex("Rudin"),
)

TAYLOR = Theorem(
    key="Taylor",
    name="Taylor's theorem",
    hypotheses=("{f} and {g} are twice continuously differentiable", "value and first derivative of {f} and {g} agree"),
    conclusions=("the difference of {f} and {g} is of second order",),
    reference="Rudin, Principles of Mathematical Analysis, chapter on differentiation",
    bibtex=bibtex("Rudin-Principles"),
)
