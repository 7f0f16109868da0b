"""A sixth list, false: rings of pursuit, rotating opposites, clusters, exact thresholds, escapes, two instances.

Written from the audits alone, before looking at what the certificates of this text can do; each is false for a reason known to
the author, and none is stated with the numbers of a counterexample.
"""

import numpy as np
import sympy as sp

from eigentoken.lab import *

V, M, B, W, F = (matrix(name) for name in "VMBWF")
PURSUIT = [[int(j in (i, (i + 1) % 5)) for j in range(5)] for i in range(5)]
false = {"expect": "refuted"}


def double_cone(scalars, system, parameters, x, mask):
    """The smallest ``x_i1^2 - x_i2^2``: inside the double cone around the first axis."""
    return smallest(scalars, [token[0] * token[0] - token[1] * token[1] for token in x])


def mean_defect(scalars, system, parameters, x, mask):
    """1 minus the square of the mean's length."""
    mean = [sum((token[a] for token in x), 0 * scalars.one) / len(x) for a in range(len(x[0]))]
    return scalars.one - sum((a * a for a in mean), 0 * scalars.one)


cone = Where(Observable("double cone", r"\min_i x_{i1}^2 - x_{i2}^2", double_cone))
defect = Observable("defect of the mean", r"1 - |m|^2", mean_defect)

# --- motions that never rest -----------------------------------------------------------------------------------------
SKEW_AGREE = Conjecture(
    "6F two tokens on the circle agree, skew values",
    "oja-flow",
    IsZero(sym(V)),
    Converges(ConsensusSet()),
    n=[2],
    d=[2],
    **false,
)
SKEW_SPACE = Conjecture(
    "6F one token in space comes to rest, skew values",
    "oja-flow",
    IsZero(sym(V)),
    Converges(SomeEquilibrium()),
    n=[1],
    d=[3],
    **false,
)
SPACE_RESTS = Conjecture(
    "6F almost every token in space comes to rest where the values are not normal",
    "oja-flow",
    Not(Commute(V, V.T)),
    AlmostEveryConverges(SomeEquilibrium()),
    n=[1],
    d=[3],
    **false,
)
PURSUIT_AGREES = Conjecture(
    "6F five tokens that pursue each other on a circle agree, almost every start",
    "oja-flow",
    IsIdentity(V),
    AlmostEveryConverges(ConsensusSet()),
    n=[5],
    d=[2],
    mask=PURSUIT,
    **false,
)
PURSUIT_RESTS = Conjecture(
    "6F five tokens that pursue each other on a circle come to rest",
    "oja-flow",
    IsIdentity(V),
    Converges(SomeEquilibrium()),
    n=[5],
    d=[2],
    mask=PURSUIT,
    **false,
)
OPPOSITES_TURN = Conjecture(
    "6F two tokens come to rest almost always, values with negative definite part that are not symmetric",
    "attention-flow",
    (NegativeDefinite(V), Not(Symmetric(V)), Symmetric(M), PositiveDefinite(M)),
    AlmostEveryConverges(SomeEquilibrium()),
    n=[2],
    d=[2],
    **false,
)
SKEW_MAP = Conjecture(
    "6F two tokens on the circle come to rest under layers, skew values",
    "attention-map",
    IsZero(sym(V)),
    Converges(SomeEquilibrium()),
    n=[2],
    d=[2],
    **false,
)
ONE_TURNS = Conjecture(
    "6F one token of the plane comes to rest under layers of positive determinant",
    "oja-map",
    Relation(Determinant(V) > 0),
    Converges(SomeEquilibrium()),
    n=[1],
    d=[2],
    **false,
)

# --- clusters --------------------------------------------------------------------------------------------------------
NEGATIVE_SCORES = Conjecture(
    "6F scores -I and values I: three tokens of a circle end in at most two clusters, almost every start",
    "attention-flow",
    (IsIdentity(V), IsIdentity(-M)),
    AlmostEveryConverges(AtMostClusters(2)),
    n=[3],
    d=[2],
    **false,
)
FOUR_CLUSTERS = Conjecture(
    "6F values -I: four tokens of a circle end in at most three clusters, almost every start",
    "oja-flow",
    IsIdentity(-V),
    AlmostEveryConverges(AtMostClusters(3)),
    n=[4],
    d=[2],
    **false,
)
MAP_CLUSTERS = Conjecture(
    "6F values -I, steps below 1: three tokens end in at most two clusters",
    "oja-map",
    (IsIdentity(-V), Relation(alpha < 1)),
    Converges(AtMostClusters(2)),
    n=[3],
    **false,
)
REFLECTION = Conjecture(
    "6F a reflection as values: two tokens of the plane agree on its vector, almost every start",
    "oja-flow",
    (Symmetric(V), IsIdentity(V * V.T), Relation(Determinant(V) < 0)),
    AlmostEveryConverges(ConsensusAt(V, 1)),
    n=[2],
    d=[2],
    **false,
)

# --- stability, thresholds, inertia ----------------------------------------------------------------------------------
ONE_RIGHT = Conjecture(
    "6F exactly one positive eigenvalue makes principal consensus stable for every step",
    "oja-map",
    (Symmetric(V), Relation(sp.Eq(RightCount(V), 1)), Relation(n >= 2)),
    Stable(ConsensusAt(V, 1)),
    **false,
)
AT_THE_STEP = Conjecture(
    "6F at the critical step consensus is never Lyapunov stable",
    "oja-map",
    (
        Symmetric(V),
        SimpleTop(V),
        Relation(Eigenvalue(V, 1) > 0),
        Relation(sp.Eq(alpha * (-Eigenvalue(V, 2) - Eigenvalue(V, 1)), 2)),
    ),
    Fails(LyapunovStable(ConsensusAt(V, 1))),
    n=[2],
    d=[2],
    **false,
)
NO_OPPOSITES = Conjecture(
    "6F negative definite values: no opposite pair is Lyapunov stable",
    "oja-flow",
    (Symmetric(V), NegativeDefinite(V)),
    Fails(LyapunovStable(AntipodalAt())),
    n=[2],
    **false,
)
STOCHASTIC_STABLE = Conjecture(
    "6F symmetric stochastic values: consensus at the second vector is never Lyapunov stable under layers",
    "oja-map",
    (Symmetric(V), Stochastic(V)),
    Fails(LyapunovStable(ConsensusAt(V, 2))),
    n=[2],
    d=[2],
    **false,
)

# --- escapes ---------------------------------------------------------------------------------------------------------
ESCAPE_TWO = Conjecture(
    "6F values -I and negative definite scores: two tokens vanish",
    "token-flow",
    (IsIdentity(-B), Symmetric(W), NegativeDefinite(W)),
    Converges(Zero()),
    n=[2],
    **false,
)
ESCAPE_THREE = Conjecture(
    "6F values -I and negative definite scores: three tokens vanish, almost every start",
    "token-flow",
    (IsIdentity(-B), Symmetric(W), NegativeDefinite(W)),
    AlmostEveryConverges(Zero()),
    n=[3],
    d=[1],
    **false,
)
FLAT = Conjecture(
    "6F without scores Hurwitz values make all tokens vanish",
    "token-flow",
    (IsZero(W), Relation(EigenvalueRealPart(B, 1) < 0)),
    Converges(Zero()),
    n=[2],
    **false,
)
# --- regions and rates -----------------------------------------------------------------------------------------------
KEEPS_CONE = Conjecture(
    "6F positive definite values keep the double cone around the first axis",
    "oja-flow",
    (Symmetric(V), PositiveDefinite(V)),
    ForwardInvariant(cone),
    n=[2],
    d=[2],
    **false,
)
TO_THE_ORTHANT = Conjecture(
    "6F positive definite values: starts in the orthant end there",
    "oja-flow",
    (Symmetric(V), PositiveDefinite(V), StartsIn(Orthant())),
    Converges(Orthant()),
    d=[2],
    **false,
)
MEAN_RATE = Conjecture(
    "6F two acute tokens: the defect of the mean decays at rate 2, V = I",
    "oja-flow",
    (IsIdentity(V), StartsIn(Acute())),
    Decays(defect, 2),
    n=[2],
    **false,
)


# --- instances beside each other, margins ----------------------------------------------------------------------------
def nothing_moves(x):
    """No token moves by more than a thousandth."""
    return 1e-3 - np.abs(x.advance() - x.tokens).max()


def second_singular(x):
    """The second singular value of the weights is at most 1."""
    return 1 - np.linalg.svd(x.attention(), compute_uv=False)[1]


def determinant(x):
    """The determinant of the weights is not negative."""
    return np.linalg.det(x.attention())


def halves_go_far(x):
    """Two half steps take each token at least as far as one step."""
    half = x.advance(x.advance(alpha=x.alpha / 2), alpha=x.alpha / 2)
    return (np.linalg.norm(half - x.tokens, axis=1) - np.linalg.norm(x.advance() - x.tokens, axis=1)).min() + 1e-3


def same_mean(x):
    """Attention moves the mean as the Oja map does."""
    return (
        1e-2 - np.abs(x.advance().mean(axis=0) - x.advance(system="oja-map", V=x.V, alpha=x.alpha).mean(axis=0)).max()
    )


CANCEL = Conjecture(
    "6F heads whose values add up to zero move nothing",
    "multihead-map",
    (Relation(H >= 2), IsZero(F)),
    holds_if=nothing_moves,
    **false,
)
SINGULAR = Conjecture(
    "6F the second singular value of the weights is at most 1",
    "attention-map",
    Symmetric(M),
    holds_if=second_singular,
    n=[2, 3, 4],
    **false,
)
DETERMINANT = Conjecture(
    "6F symmetric scores: the determinant of the weights is not negative",
    "attention-map",
    Symmetric(M),
    holds_if=determinant,
    n=[2, 3],
    **false,
)
HALVES = Conjecture(
    "6F two half steps go as far as one",
    "oja-map",
    (Symmetric(V), PositiveDefinite(V)),
    holds_if=halves_go_far,
    **false,
)
MEANS = Conjecture(
    "6F scores do not change the way of the mean",
    "attention-map",
    (Symmetric(V), Symmetric(M)),
    holds_if=same_mean,
    **false,
)
