"""Conjectures of a theorist, true ones (they must survive) and false ones (they must be refuted), on all kinds of claims."""

import numpy as np
import sympy as sp

from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import (
    AlmostEveryConverges,
    Converges,
    Decreases,
    Diverges,
    Equilibrium,
    ForwardInvariant,
    Iff,
    Increases,
    Nonnegative,
    SpectrumIs,
    Stable,
    Unstable,
    When,
)
from eigentoken.theory.language.conditions import (
    BoundedInTime,
    Commute,
    InHemisphere,
    IsIdentity,
    NegativeDefinite,
    NoneOpposite,
    NonPrincipalModulusBelow,
    Nonsingular,
    NotAllEqual,
    NotAllZero,
    PositiveDefinite,
    PositiveSemidefinite,
    Relation,
    SharesTopEigenvector,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.observables import oja_potential
from eigentoken.theory.language.observables_attention import cosine_gap, ellipsoid_potential, pair_form
from eigentoken.theory.language.places import AntipodalAt, BipartiteAt, ConsensusAt, ConsensusSet, Hemisphere, Zero
from eigentoken.theory.language.terms import Eigenvalue, ScoreAtEigenvector, SpectralNorm, alpha, d, ell, k, matrix, n

U, V, M, P, W, B, F = (matrix(name) for name in "UVMPWBF")
TOP = (Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0))
SMALL = Relation(alpha * SpectralNorm(V) < 1)
SEVERAL = Relation(n >= 2)
true, false = {"expect": "survives"}, {"expect": "refuted"}


def row_stochastic(x):
    """The rows of the attention matrix sum to 1."""
    return np.allclose(x.attention().sum(axis=1), 1)


def doubly_stochastic(x):
    """The columns of the attention matrix sum to 1, too."""
    return np.allclose(x.attention().sum(axis=0), 1)


# spectra and stability thresholds
FLOW_SPECTRUM = Conjecture(
    "consensus of the flow: spectrum",
    "attention-flow",
    TOP,
    SpectrumIs(ConsensusAt(V, 1), ((Eigenvalue(V, ell) - Eigenvalue(V, 1), 1), (-Eigenvalue(V, 1), (n - 1) * (d - 1)))),
    **true,
)
FLOW_SPECTRUM_FALSE = Conjecture(
    "consensus of the flow: spectrum without the second class",
    "attention-flow",
    TOP,
    SpectrumIs(ConsensusAt(V, 1), ((Eigenvalue(V, ell) - Eigenvalue(V, 1), n),)),
    **false,
)
HALF_STEP = Conjecture(
    "consensus is stable for steps below 2/|V|",
    "attention-map",
    (*TOP, SEVERAL, Relation(alpha * SpectralNorm(V) < 2)),
    Stable(ConsensusAt(V, 1)),
    **true,
)
THIRD_STEP = Conjecture(
    "consensus is stable for steps below 3/|V|",
    "attention-map",
    (*TOP, SEVERAL, Relation(alpha * SpectralNorm(V) < 3)),
    Stable(ConsensusAt(V, 1)),
    **false,
)
SECOND = Conjecture(
    "every consensus but the first is unstable",
    "oja-map",
    (*TOP, SMALL, SEVERAL),
    When(Relation(k > 1), Unstable(ConsensusAt(V, k))),
    **true,
)
STRONG_SCORES = Conjecture(
    "strong scores make every balanced split stable",
    "attention-map",
    (*TOP, SMALL, Relation(ScoreAtEigenvector(M, V, 1) > 1)),
    Stable(BipartiteAt(V, 1)),
    **false,
)
NO_SCORES = Conjecture(
    "without a positive score at v_1 no split on it is stable",
    "attention-flow",
    (*TOP, Relation(ScoreAtEigenvector(M, V, 1) <= 0)),
    When(SEVERAL, Unstable(BipartiteAt(V, 1))),
    **false,
)
# multi-head and commuting
HEADS = Conjecture(
    "heads that share their top eigenvector have a stable consensus on it",
    "multihead-flow",
    (SharesTopEigenvector("F"), SEVERAL),
    Stable(ConsensusAt(F, 1)),
    **true,
)
COMMUTING = Conjecture(
    "commuting V and M leave no stable split",
    "attention-map",
    (*TOP, SMALL, Symmetric(M), Commute(V, M)),
    Unstable(BipartiteAt(V, 1)),
    **false,
)
# Lyapunov functions
PSD = Conjecture(
    "W decreases for V >= 0, any step",
    "oja-map",
    (Symmetric(V), PositiveSemidefinite(V)),
    Decreases(oja_potential),
    **true,
)
FLOW_W = Conjecture(
    "W decreases along the attention flow", "attention-flow", (*TOP, SEVERAL), Decreases(oja_potential), **false
)
POTENTIAL = Conjecture(
    "the potential decreases on every ellipsoid", "ellipsoid-flow", (), Decreases(ellipsoid_potential), **true
)
GAP = Conjecture("the cosine gap decreases on ellipsoids", "ellipsoid-flow", (SEVERAL,), Decreases(cosine_gap), **false)
GAP_SIGN = Conjecture(
    "the cosine gap is positive off consensus",
    "attention-flow",
    (NotAllEqual(),),
    Nonnegative(cosine_gap, strict=True),
    **true,
)
PAIRS = Conjecture(
    "pair forms grow for symmetric A",
    "token-flow",
    (Symmetric(W * B.I), Nonsingular(B), SEVERAL),
    Increases(pair_form),
    **true,
)
PAIRS_FALSE = Conjecture(
    "pair forms grow for every A", "token-flow", (Nonsingular(B), SEVERAL), Increases(pair_form), **false
)
# hemispheres and convergence
CAP = Conjecture(
    "tokens in a hemisphere reach consensus",
    "causal-flow",
    (IsIdentity(U), InHemisphere(), BoundedInTime("P")),
    Converges(ConsensusSet()),
    **true,
)
CAP_LEFT = Conjecture(
    "the hemisphere of the left eigenvector stays",
    "causal-flow",
    (SimpleTop(U), Relation(Eigenvalue(U, 1) > 0), InHemisphere(U, left=True)),
    ForwardInvariant(Hemisphere(U, left=True)),
    **true,
)
CAP_RIGHT = Conjecture(
    "the hemisphere of the right eigenvector stays",
    "causal-flow",
    (SimpleTop(U), Relation(Eigenvalue(U, 1) > 0), InHemisphere(U)),
    ForwardInvariant(Hemisphere(U)),
    **false,
)
TWO = Conjecture(
    "two causal tokens that are not opposite agree",
    "causal-flow",
    (IsIdentity(U), NoneOpposite()),
    Converges(ConsensusSet()),
    n=[2],
    **true,
)
OPPOSITE = Conjecture("causal tokens agree", "causal-flow", (IsIdentity(U),), Converges(ConsensusSet()), **false)
POSITIVE = Conjecture(
    "positive definite V: almost every start of the Oja map agrees",
    "oja-map",
    (Symmetric(V), SimpleTop(V), PositiveDefinite(V), Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2))),
    AlmostEveryConverges(ConsensusAt(V, 1)),
    **true,
)
DOMINANT = Conjecture(
    "a dominant eigenvalue makes almost every start of attention agree",
    "attention-flow",
    (Symmetric(V), NonPrincipalModulusBelow(V), Relation(Eigenvalue(V, 1) > 0), PositiveDefinite(M)),
    AlmostEveryConverges(ConsensusAt(V, 1)),
    **false,
)
# Pham's regimes
DECAY = Conjecture(
    "convergence regime",
    "token-flow",
    (Symmetric(W * B.I), NegativeDefinite(W * B.I), PositiveDefinite(W)),
    Converges(Zero()),
    **true,
)
GROWTH = Conjecture(
    "divergence regime",
    "token-flow",
    (Symmetric(W * B.I), PositiveDefinite(W * B.I), PositiveDefinite(W), NotAllZero()),
    Diverges(),
    **true,
)
HURWITZ = Conjecture("Hurwitz B is enough", "token-flow", (NegativeDefinite(B),), Converges(Zero()), **false)
# equilibria, weights
ANTIPODAL = Conjecture(
    "antipodal pairs rest for the Oja map", "oja-map", (Symmetric(V),), Equilibrium(AntipodalAt()), **true
)
STOCHASTIC = Conjecture(
    "attention is row stochastic", "attention-map", (), holds_if=row_stochastic, n=[1, 2, 3], d=[2], **true
)
DOUBLY = Conjecture(
    "attention is doubly stochastic",
    "attention-map",
    (Symmetric(M),),
    holds_if=doubly_stochastic,
    n=[2, 3],
    d=[2],
    **false,
)
THRESHOLD = Conjecture(
    "multi-head threshold",
    "multihead-map",
    (Symmetric(F), SimpleTop(F), Relation(Eigenvalue(F, 1) > 0), SEVERAL),
    Iff(Stable(ConsensusAt(F, 1)), Relation(alpha * (sp.Abs(Eigenvalue(F, d)) - Eigenvalue(F, 1)) < 2)),
    **true,
)
