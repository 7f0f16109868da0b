"""A fifth list, false: centre directions, singular values, masks, spirals, clusters, rates, two instances.

Written before looking at what the certificates of this text can do; each is false for a reason known to the author, and none is
stated with the numbers of a counterexample.
"""

import numpy as np
import sympy as sp

from eigentoken.lab import *

V, M, B, W, F, U = (matrix(name) for name in "VMBWFU")
ZERO_TOP = (Symmetric(V), SimpleTop(V), Relation(sp.Eq(Eigenvalue(V, 1), 0)), Relation(n >= 2))
SPIRAL = (Relation(Trace(B) < 0), Relation(Trace(B) ** 2 < 4 * Determinant(B)))
RING = [[1, 1, 0], [0, 1, 1], [1, 0, 1]]
false = {"expect": "refuted"}


def inside_ball(scalars, system, parameters, x, mask):
    """1 minus the largest square of a norm."""
    return scalars.one - largest(scalars, [sum((a * a for a in token), 0 * scalars.one) for token in x])


ball = Where(Observable("unit ball", r"1 - \max_i |x_i|^2", inside_ball))

# --- the linearization is silent -------------------------------------------------------------------------------------
SPIRAL_PAIR = Conjecture(
    "5F two tokens: 0 is Lyapunov stable where B is a stable spiral",
    "token-flow",
    (*SPIRAL, Symmetric(W)),
    LyapunovStable(Zero()),
    n=[2],
    d=[2],
    **false,
)
SPIRAL_RING = Conjecture(
    "5F three tokens: 0 is Lyapunov stable where B < 0 and W > 0 in their symmetric parts",
    "token-flow",
    (NegativeDefinite(B), PositiveDefinite(W), Relation(Trace(B) ** 2 < 4 * Determinant(B))),
    LyapunovStable(Zero()),
    n=[3],
    d=[2],
    **false,
)
NEVER_OJA = Conjecture(
    "5F consensus at a top eigenvalue 0 is never Lyapunov stable, flow",
    "oja-flow",
    ZERO_TOP,
    Fails(LyapunovStable(ConsensusAt(V, 1))),
    **false,
)
NEVER_OJA_MAP = Conjecture(
    "5F consensus at a top eigenvalue 0 is never Lyapunov stable, map",
    "oja-map",
    (*ZERO_TOP, Relation(alpha * SpectralNorm(V) < 1)),
    Fails(LyapunovStable(ConsensusAt(V, 1))),
    **false,
)
ANY_SCORES = Conjecture(
    "5F consensus at a top eigenvalue 0 is Lyapunov stable whatever the scores",
    "attention-flow",
    ZERO_TOP,
    LyapunovStable(ConsensusAt(V, 1)),
    **false,
)
ANY_SCORES_MAP = Conjecture(
    "5F consensus at a top eigenvalue 0 is Lyapunov stable whatever the scores, short steps",
    "attention-map",
    (*ZERO_TOP, Relation(alpha * SpectralNorm(V) < 1)),
    LyapunovStable(ConsensusAt(V, 1)),
    **false,
)
POSITIVE_SCORES_NEVER = Conjecture(
    "5F consensus at a top eigenvalue 0 is never Lyapunov stable, positive definite scores",
    "attention-flow",
    (*ZERO_TOP, Symmetric(M), PositiveDefinite(M)),
    Fails(LyapunovStable(ConsensusAt(V, 1))),
    **false,
)
FOUR = Conjecture(
    "5F four tokens: an even split at the top is Lyapunov stable where all other eigenvalues are negative",
    "oja-flow",
    (Symmetric(V), Relation(Eigenvalue(V, 1) > 0), Relation(Eigenvalue(V, 2) < 0), Relation(sp.Eq(p, q))),
    LyapunovStable(BipartiteAt(V, 1)),
    n=[4],
    d=[2],
    **false,
)
EXACTLY_POSITIVE = Conjecture(
    "5F two tokens, B = -I: 0 is Lyapunov stable exactly where W is positive definite",
    "token-flow",
    (IsIdentity(-B), Symmetric(W)),
    Iff(LyapunovStable(Zero()), PositiveDefinite(W)),
    n=[2],
    **false,
)
ON_A_LINE = Conjecture(
    "5F tokens on a line: 0 is Lyapunov stable exactly where B < 0",
    "token-flow",
    Relation(n >= 2),
    Iff(LyapunovStable(Zero()), NegativeDefinite(B)),
    d=[1],
    **false,
)

# --- never at rest, without bound ------------------------------------------------------------------------------------
LINE_DECAYS = Conjecture(
    "5F two tokens on a line: almost every start decays where B < 0",
    "token-flow",
    NegativeDefinite(B),
    AlmostEveryConverges(Zero()),
    n=[2],
    d=[1],
    **false,
)
SKEW_FREE = Conjecture(
    "5F the flow comes to rest unless its values are skew",
    "oja-flow",
    (Not(IsZero(sym(V))), Nonsingular(sym(V)), Not(IsIdentity(sym(V))), Relation(sp.Eq(Trace(V), 0))),
    Converges(SomeEquilibrium()),
    d=[2],
    **false,
)
CIRCLE_RESTS = Conjecture(
    "5F three tokens on the circle, V = I: almost every trajectory comes to rest",
    "attention-flow",
    IsIdentity(V),
    AlmostEveryConverges(SomeEquilibrium()),
    n=[3],
    d=[2],
    **false,
)
UNIT_BALL = Conjecture(
    "5F the unit ball is kept where B = -I and W is positive definite",
    "token-flow",
    (IsIdentity(-B), Symmetric(W), PositiveDefinite(W)),
    ForwardInvariant(ball),
    **false,
)
TWO_CLUSTERS = Conjecture(
    "5F negative values: almost every start ends in at most two clusters",
    "oja-flow",
    IsIdentity(-V),
    AlmostEveryConverges(AtMostClusters(2)),
    n=[3],
    d=[2],
    **false,
)

# --- masks, rates, cycles --------------------------------------------------------------------------------------------
RING_HURWITZ = Conjecture(
    "5F three tokens on a ring: 0 is stable where B is Hurwitz",
    "token-flow",
    SPIRAL,
    Stable(Zero()),
    n=[3],
    d=[2],
    mask=RING,
    **false,
)
SLOWER = Conjecture(
    "5F the diameter of two acute tokens decays at rate 1, V = I and positive definite scores",
    "attention-flow",
    (IsIdentity(V), Symmetric(M), PositiveDefinite(M), StartsIn(Acute())),
    Decays(squared_diameter, 1),
    n=[2],
    **false,
)
HALF = Conjecture(
    "5F consensus on an eigenvector with alpha lambda < -1/2 is a 2-cycle",
    "oja-map",
    (Symmetric(V), Relation(alpha * Eigenvalue(V, 2) < -Rational(1, 2)), Relation(Eigenvalue(V, 1) > 0)),
    TwoCycle(ConsensusAt(V, 2)),
    d=[2],
    **false,
)


# --- two instances, margins ------------------------------------------------------------------------------------------
def reversed_tokens(x):
    """The order of the tokens does not matter."""
    return 1e-2 - np.abs(x.advance(tokens=x.tokens[::-1])[::-1] - x.advance()).max()


def short_way(x):
    """No token goes farther than the step times the norm of the values."""
    return x.alpha * np.linalg.norm(x.V, 2) - np.linalg.norm(x.advance() - x.tokens, axis=1).max()


BACKWARDS = Conjecture(
    "5F the order of the tokens does not matter, ring mask",
    "attention-map",
    (Symmetric(V), PositiveDefinite(V)),
    holds_if=reversed_tokens,
    mask=RING,
    n=[3],
    **false,
)
SHORT_WAY = Conjecture(
    "5F no token goes farther than alpha times the norm of V",
    "attention-map",
    (Symmetric(V), PositiveDefinite(V)),
    holds_if=short_way,
    n=[2],
    d=[2],
    **false,
)
