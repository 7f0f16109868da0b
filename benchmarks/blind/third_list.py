"""A third list: predicates in plain numpy, Lyapunov stability, masks, ranks, layers on ellipsoids; true ones and false ones."""

import numpy as np
import sympy as sp

from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import (
    AlmostEveryConverges,
    AttentionRank,
    Converges,
    Decreases,
    Equilibrium,
    ForwardInvariant,
    Iff,
    Increases,
    LyapunovStable,
    Stable,
    Unstable,
    When,
)
from eigentoken.theory.language.conditions import (
    InHemisphere,
    IsIdentity,
    NegativeDefinite,
    NoneOpposite,
    Not,
    PositiveDefinite,
    Relation,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.observables import Observable, dot, oja_potential
from eigentoken.theory.language.observables_attention import cosine_gap
from eigentoken.theory.language.places import (
    AntipodalAt,
    BipartiteAt,
    ConsensusAt,
    ConsensusSet,
    Hemisphere,
    Polygonal,
    Zero,
)
from eigentoken.theory.language.terms import Eigenvalue, ScoreAtEigenvector, SpectralNorm, alpha, d, k, matrix, n, p, q

U, V, M, P, W, B, F = (matrix(name) for name in "UVMPWBF")
TOP = (Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0))
SMALL = Relation(alpha * SpectralNorm(V) < 1)
SEVERAL = Relation(n >= 2)
true, false = {"expect": "survives"}, {"expect": "refuted"}


def last_gap(scalars, system, parameters, x, mask):
    gap = [a - b for a, b in zip(x[0], x[-1], strict=True)]
    return dot(gap, gap)


first_and_last = Observable("first-and-last", r"|x_1 - x_n|^2", last_gap)


def real_spectrum(x):
    """The eigenvalues of the attention matrix are real."""
    return (abs(np.linalg.eigvals(x.attention()).imag) < 1e-6).all()


def large_trace(x):
    """The trace of the attention matrix is at least 1."""
    return np.trace(x.attention()) >= 1 - 1e-9


def attends_to_itself(x):
    """No token attends more to another one than to itself."""
    weights = x.attention()
    return all((weights[i] <= weights[i, i] + 1e-9).all() for i in range(x.n))


def mean_grows(x):
    """One layer does not shorten the mean of the tokens."""
    return np.linalg.norm(x.advance().mean(axis=0)) >= np.linalg.norm(x.tokens.mean(axis=0)) - 1e-9


def rayleigh_grows(x):
    """One layer does not lower the Rayleigh quotient of any token."""
    moved = x.advance()
    return all(moved[i] @ x.V @ moved[i] >= x.tokens[i] @ x.V @ x.tokens[i] - 1e-9 for i in range(x.n))


def aligned_with_the_value(x):
    """The velocity of a token is at most |V|."""
    return (np.linalg.norm(x.advance(), axis=1) <= np.linalg.norm(x.V, 2) + 1e-9).all()


def gradient_inequality(x):
    """|V_P| <= c |grad V_P| for the potential of the gradient flow, with a large constant c."""
    potential = np.exp(x.tokens @ x.P @ x.tokens.T).sum() / 2
    return potential <= 1e6 * np.linalg.norm(x.advance()) + 1e-9


# --- false -----------------------------------------------------------------------------------------------------------
PRODUCT = Conjecture(
    "consensus is stable exactly for alpha lambda_1 < 2",
    "oja-map",
    (*TOP, SEVERAL),
    Iff(Stable(ConsensusAt(V, 1)), Relation(alpha * Eigenvalue(V, 1) < 2)),
    **false,
)
LYAPUNOV = Conjecture(
    "consensus is Lyapunov stable for every step",
    "oja-map",
    (*TOP, SEVERAL),
    LyapunovStable(ConsensusAt(V, 1)),
    **false,
)
PAIRS = Conjecture(
    "opposite tokens are Lyapunov stable for positive definite V",
    "oja-flow",
    (Symmetric(V), PositiveDefinite(V), Relation(d >= 2)),
    LyapunovStable(AntipodalAt()),
    **false,
)
FLOW_ALMOST = Conjecture(
    "almost every start of the Oja flow finds the principal vector",
    "oja-flow",
    TOP,
    AlmostEveryConverges(ConsensusAt(V, 1)),
    **false,
)
ANY_CAP = Conjecture(
    "every hemisphere stays", "oja-map", (*TOP, InHemisphere()), ForwardInvariant(Hemisphere()), **false
)
FULL_GAP = Conjecture(
    "full attention with V = I: the cosine gap decreases",
    "attention-flow",
    (IsIdentity(V), SEVERAL),
    Decreases(cosine_gap),
    **false,
)
UNEVEN = Conjecture(
    "uneven splits on the principal vector are unstable",
    "attention-map",
    (*TOP, SMALL, Relation(p > q)),
    Unstable(BipartiteAt(V, 1)),
    **false,
)
LAST = Conjecture(
    "causal, U = I: the last token comes closer to the first",
    "causal-flow",
    (IsIdentity(U), NoneOpposite()),
    Decreases(first_and_last),
    n=[3],
    **false,
)
LAYER_RESTS = Conjecture(
    "equal tokens rest under a layer on an ellipsoid", "ellipsoid-map", (), Equilibrium(ConsensusSet()), **false
)
NOT_SYMMETRIC = Conjecture(
    "W decreases for small steps, any V", "oja-map", (Not(Symmetric(V)), SMALL), Decreases(oja_potential), **false
)
ORIGIN = Conjecture(
    "negative definite B makes the origin attract",
    "token-flow",
    (NegativeDefinite(B), SEVERAL),
    Stable(Zero()),
    **false,
)
REAL = Conjecture(
    "attention matrices have real eigenvalues", "attention-map", (), holds_if=real_spectrum, n=[3], d=[2], **false
)
SELF = Conjecture(
    "positive definite scores: each token attends most to itself",
    "attention-map",
    (Symmetric(M), PositiveDefinite(M)),
    holds_if=attends_to_itself,
    n=[2, 3],
    d=[2],
    **false,
)
MEAN = Conjecture(
    "a layer with positive definite V does not shorten the mean",
    "oja-map",
    (Symmetric(V), PositiveDefinite(V), SMALL),
    holds_if=mean_grows,
    n=[2, 3],
    d=[2],
    **false,
)
RAYLEIGH = Conjecture(
    "a layer raises the Rayleigh quotient of each token",
    "oja-map",
    (Symmetric(V), PositiveDefinite(V)),
    holds_if=rayleigh_grows,
    n=[2, 3],
    d=[2],
    **false,
)
LOJASIEWICZ = Conjecture(
    "AB-T3.2 the inequality of Lojasiewicz without an exponent",
    "ellipsoid-flow",
    (),
    holds_if=gradient_inequality,
    at=ConsensusSet(),
    n=[1, 2],
    d=[2],
    **false,
)
MASKED_RANK = Conjecture(
    "a causal mask leaves the weights at consensus of rank 1",
    "attention-map",
    TOP,
    AttentionRank(ConsensusAt(V, 1), 1),
    mask="causal",
    **false,
)
# --- true ------------------------------------------------------------------------------------------------------------
SYMMETRIC_REAL = Conjecture(
    "symmetric scores give real eigenvalues",
    "attention-map",
    (Symmetric(M),),
    holds_if=real_spectrum,
    n=[2, 3],
    d=[2],
    **true,
)
TRACE = Conjecture(
    "positive definite scores: the trace of the weights is at least 1",
    "attention-map",
    (Symmetric(M), PositiveDefinite(M)),
    holds_if=large_trace,
    n=[2, 3],
    d=[2],
    **true,
)
SPEED = Conjecture(
    "no token moves faster than |V|", "attention-flow", (), holds_if=aligned_with_the_value, n=[2, 3], d=[2, 3], **true
)
CAUSAL_ALMOST = Conjecture(
    "causal Oja map with positive definite V: almost every start agrees",
    "oja-map",
    (Symmetric(V), SimpleTop(V), PositiveDefinite(V), SMALL),
    AlmostEveryConverges(ConsensusAt(V, 1)),
    mask="causal",
    **true,
)
ODD = Conjecture(
    "polygonal points of three tokens are unstable",
    "oja-map",
    (*TOP, Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2)), Relation(Eigenvalue(V, d) > 0)),
    Unstable(Polygonal()),
    n=[3],
    **true,
)
TURNED = Conjecture(
    "multi-head flow, any F: consensus on a dominant positive eigenvector is stable",
    "multihead-flow",
    (SimpleTop(F), SEVERAL, Relation(d >= 2)),
    Iff(Stable(ConsensusAt(F, 1)), Relation(Eigenvalue(F, 1) > 0)),
    **true,
)
ONE_RANK = Conjecture(
    "weights at consensus have rank 1", "attention-map", TOP, AttentionRank(ConsensusAt(V, 1), 1), **true
)
IDENTITY_RESTS = Conjecture(
    "equal tokens rest under a layer with one value matrix U = I on an ellipsoid",
    "ellipsoid-map",
    (IsIdentity(U),),
    Equilibrium(ConsensusSet()),
    **true,
)
GROWING_GAP = Conjecture(
    "two opposite Euclidean tokens with positive definite B: the distance grows",
    "token-flow",
    (Symmetric(B), PositiveDefinite(B), IsIdentity(W)),
    Increases(first_and_last),
    n=[2],
    **true,
)
NEGATIVE_VALUE = Conjecture(
    "a consensus with a negative eigenvalue is unstable for the flow",
    "attention-flow",
    (Symmetric(V), SEVERAL, Relation(d >= 2)),
    When(Relation(Eigenvalue(V, k) < 0), Unstable(ConsensusAt(V, k))),
    **true,
)
CAPPED = Conjecture(
    "tokens in a hemisphere reach consensus under full attention with V = I",
    "attention-flow",
    (IsIdentity(V), InHemisphere()),
    Converges(ConsensusSet()),
    **true,
)
SECOND_SCORE = Conjecture(
    "a negative score at v_1 leaves no stable even split on it",
    "attention-map",
    (*TOP, SMALL, Relation(sp.Eq(p, q)), Relation(ScoreAtEigenvector(M, V, 1) < 0), Relation(d >= 2)),
    Unstable(BipartiteAt(V, 1)),
    **true,
)
