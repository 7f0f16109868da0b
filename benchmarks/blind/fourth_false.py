"""A fourth list, false: regions, heads, families moved by rotations, waves, escapes, rates, opposites, two instances.

Written by someone who did not write the certificates; each is false for a reason known to the author, and none is stated with
the numbers of a counterexample.
"""

import numpy as np
import sympy as sp

from eigentoken.lab import *

U, V, M, P, W, B, F = (matrix(name) for name in "UVMPWBF")
PD = (Symmetric(V), PositiveDefinite(V))
TOP = (Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0))
SEVERAL = Relation(n >= 2)
false = {"expect": "refuted"}


def narrow_margin(scalars, system, parameters, x, mask):
    """1/4 minus the largest square of a second coordinate."""
    return scalars.one / 4 - largest(scalars, [token[1] * token[1] for token in x])


narrow = Where(Observable("off-axis", r"\tfrac14 - \max_i x_{i2}^2", narrow_margin))

# --- regions that are left -------------------------------------------------------------------------------------------
ORTHANT_FLOW = Conjecture(
    "4F positive definite V keeps the orthant, flow", "attention-flow", PD, ForwardInvariant(Orthant()), **false
)
ORTHANT_TOKENS = Conjecture(
    "4F positive definite B keeps the orthant, Euclidean tokens",
    "token-flow",
    (Symmetric(B), PositiveDefinite(B)),
    ForwardInvariant(Orthant()),
    **false,
)
ORTHANT_HEADS = Conjecture(
    "4F two heads with positive definite values keep the orthant",
    "multihead-map",
    (EachHead(Symmetric(F)), EachHead(PositiveDefinite(F)), Relation(H >= 2)),
    ForwardInvariant(Orthant()),
    **false,
)
ACUTE_STOCHASTIC = Conjecture(
    "4F stochastic V keeps acute tokens acute", "oja-flow", Stochastic(V), ForwardInvariant(Acute()), **false
)
ACUTE_NEGATIVE = Conjecture(
    "4F negative definite V keeps acute tokens acute",
    "oja-flow",
    (NegativeDefinite(V), SEVERAL),
    ForwardInvariant(Acute()),
    **false,
)
ACUTE_MAP = Conjecture(
    "4F positive definite V keeps acute tokens acute, map", "oja-map", PD, ForwardInvariant(Acute()), d=[3], **false
)
ACUTE_CAUSAL = Conjecture(
    "4F positive definite U keeps acute tokens acute, causal",
    "causal-flow",
    (Symmetric(U), PositiveDefinite(U)),
    ForwardInvariant(Acute()),
    n=[2],
    d=[2],
    **false,
)
ACUTE_SCORES = Conjecture(
    "4F positive definite scores and values keep acute tokens acute",
    "attention-map",
    (*PD, Symmetric(M), PositiveDefinite(M)),
    ForwardInvariant(Acute()),
    **false,
)
CAP_KEPT = Conjecture(
    "4F positive definite V keeps the cap around the first axis",
    "oja-flow",
    PD,
    ForwardInvariant(Cap((1, 0), Rational(1, 2))),
    **false,
)
NARROW = Conjecture(
    "4F positive definite V keeps a narrow cone", "oja-flow", PD, ForwardInvariant(narrow), d=[2], **false
)
LINE = Conjecture(
    "4F a symmetric V keeps the first axis",
    "oja-flow",
    (Symmetric(V), Nonsingular(V)),
    ForwardInvariant(Subspace(1)),
    d=[2],
    **false,
)
PLANE = Conjecture(
    "4F a positive definite V keeps the plane of the first axes",
    "attention-map",
    PD,
    ForwardInvariant(Subspace(2)),
    d=[3],
    **false,
)

# --- where tokens start ----------------------------------------------------------------------------------------------
FROM_ORTHANT = Conjecture(
    "4F from the orthant to the principal vector",
    "oja-flow",
    (*PD, SimpleTop(V), StartsIn(Orthant())),
    Converges(ConsensusAt(V, 1)),
    **false,
)
FROM_ACUTE = Conjecture(
    "4F acute starts find the principal vector",
    "oja-flow",
    (*PD, SimpleTop(V), StartsIn(Acute())),
    Converges(ConsensusAt(V, 1)),
    **false,
)
FROM_CAP = Conjecture(
    "4F starts in a cap find the principal vector",
    "oja-flow",
    (*PD, SimpleTop(V), StartsIn(Cap((1, 0), Rational(1, 2)))),
    Converges(ConsensusAt(V, 1)),
    **false,
)
FROM_BALL = Conjecture(
    "4F near tokens agree for negative definite V",
    "oja-flow",
    (NegativeDefinite(V), Symmetric(V), StartsIn(Acute(Rational(9, 10))), SEVERAL, Relation(d >= 2)),
    Converges(ConsensusSet()),
    **false,
)
FROM_LINE = Conjecture(
    "4F tokens on an axis agree",
    "oja-flow",
    (*PD, SimpleTop(V), StartsIn(Subspace(1)), SEVERAL),
    Converges(ConsensusSet()),
    d=[2],
    **false,
)

# --- families, waves, cycles -----------------------------------------------------------------------------------------
SKEW_SETTLES = Conjecture(
    "4F every trajectory settles, skew values",
    "oja-flow",
    (IsZero(sym(V)), Nonsingular(V)),
    Converges(SomeEquilibrium()),
    d=[2],
    **false,
)
TURNING_SETTLES = Conjecture(
    "4F almost every trajectory settles, values with positive definite part",
    "oja-flow",
    (PositiveDefinite(sym(V)), Not(Symmetric(V))),
    AlmostEveryConverges(SomeEquilibrium()),
    d=[2],
    **false,
)
TURNING_LAYER = Conjecture(
    "4F layers with values that are not symmetric settle",
    "attention-map",
    (Not(Symmetric(V)), Relation(alpha * SpectralNorm(V) < 1)),
    AlmostEveryConverges(SomeEquilibrium()),
    d=[2],
    **false,
)
CAUSAL_TURNS = Conjecture(
    "4F causal tokens settle, skew values",
    "causal-flow",
    (IsZero(sym(U)), Nonsingular(U)),
    Converges(SomeEquilibrium()),
    d=[2],
    **false,
)
TRIANGLE = Conjecture(
    "4F circle, V = I and symmetric scores: almost every start agrees",
    "attention-flow",
    (IsIdentity(V), Symmetric(M)),
    AlmostEveryConverges(ConsensusSet()),
    n=[3],
    d=[2],
    **false,
)
TRIANGLE_HEADS = Conjecture(
    "4F circle, several heads with values I: almost every start agrees",
    "multihead-flow",
    (EachHead(IsIdentity(F)), EachHead(Symmetric(M))),
    AlmostEveryConverges(ConsensusSet()),
    n=[3],
    d=[2],
    **false,
)
NEGATIVE_HEADS = Conjecture(
    "4F two negative definite heads: almost every start agrees",
    "multihead-flow",
    (EachHead(Symmetric(F)), EachHead(NegativeDefinite(F)), Relation(H >= 2)),
    AlmostEveryConverges(ConsensusSet()),
    n=[2],
    d=[2],
    **false,
)
MAP_SETTLES = Conjecture(
    "4F every orbit of the map settles", "oja-map", Symmetric(V), Converges(SomeEquilibrium()), **false
)
LARGE_STEPS = Conjecture(
    "4F almost every orbit of the map settles, any step",
    "oja-map",
    TOP,
    AlmostEveryConverges(SomeEquilibrium()),
    n=[2],
    d=[2],
    **false,
)
CAUSAL_TOP = Conjecture(
    "4F causal tokens with positive definite values agree from almost every start",
    "causal-flow",
    (Symmetric(U), PositiveDefinite(U), SimpleTop(U)),
    AlmostEveryConverges(ConsensusSet()),
    n=[2],
    d=[2],
    **false,
)
ALL_AGREE = Conjecture(
    "4F every start agrees, V = I and positive definite scores",
    "attention-flow",
    (IsIdentity(V), PositiveDefinite(M)),
    Converges(ConsensusSet()),
    **false,
)

# --- Euclidean tokens that escape, or do not -------------------------------------------------------------------------
SKEW_DECAY = Conjecture(
    "4F tokens decay where values are -I and scores skew",
    "token-flow",
    (IsIdentity(-B), IsZero(sym(W))),
    Converges(Zero()),
    d=[2],
    **false,
)
PAIR_DECAY = Conjecture(
    "4F two tokens decay where values are -I", "token-flow", IsIdentity(-B), Converges(Zero()), n=[2], **false
)
HURWITZ_DECAY = Conjecture(
    "4F tokens decay where values are Hurwitz",
    "token-flow",
    (Relation(EigenvalueRealPart(B, 1) < 0),),
    Converges(Zero()),
    n=[2, 3],
    d=[2],
    **false,
)
ALMOST_DECAY = Conjecture(
    "4F almost every start decays where values are negative definite",
    "token-flow",
    (Symmetric(B), NegativeDefinite(B)),
    AlmostEveryConverges(Zero()),
    n=[2],
    d=[2],
    **false,
)
ALL_DIVERGE = Conjecture(
    "4F positive definite values make every start diverge",
    "token-flow",
    (Symmetric(B), PositiveDefinite(B), NotAllZero()),
    Diverges(),
    **false,
)

# --- observables with extremes ---------------------------------------------------------------------------------------
ENERGY = Conjecture(
    "4F the interaction energy increases, V = I and symmetric scores",
    "attention-flow",
    (IsIdentity(V), Symmetric(M)),
    Increases(interaction_energy),
    **false,
)
DIAMETER = Conjecture(
    "4F the diameter decreases, positive definite V", "oja-flow", PD, Decreases(squared_diameter), **false
)
PRODUCT = Conjecture(
    "4F the smallest product increases, V = I",
    "attention-flow",
    IsIdentity(V),
    Increases(smallest_product),
    n=[3, 4],
    **false,
)
MEAN = Conjecture(
    "4F the mean grows, V = I and any scores", "attention-flow", IsIdentity(V), Increases(mean_square), **false
)
ENTRY = Conjecture(
    "4F the smallest entry increases, V = I", "attention-flow", IsIdentity(V), Increases(smallest_entry), **false
)
NEGATIVE_MEAN = Conjecture(
    "4F the mean shrinks, negative definite V, any step",
    "oja-map",
    (Symmetric(V), NegativeDefinite(V)),
    Decreases(mean_square),
    **false,
)

# --- rates -----------------------------------------------------------------------------------------------------------
RATE_HEMISPHERE = Conjecture(
    "4F the diameter decays at rate 1 in a hemisphere",
    "oja-flow",
    (IsIdentity(V), InHemisphere()),
    Decays(squared_diameter, 1),
    n=[2],
    **false,
)
RATE_ACUTE = Conjecture(
    "4F the diameter of acute tokens decays at rate 1",
    "oja-flow",
    (IsIdentity(V), StartsIn(Acute())),
    Decays(squared_diameter, 1),
    n=[3],
    d=[3],
    **false,
)
RATE_TWO = Conjecture(
    "4F the diameter of two acute tokens decays at rate 2",
    "oja-flow",
    (IsIdentity(V), StartsIn(Acute())),
    Decays(squared_diameter, 2),
    n=[2],
    **false,
)
RATE_TOP = Conjecture(
    "4F the diameter decays at the rate of the top eigenvalue",
    "oja-flow",
    PD,
    Decays(squared_diameter, Eigenvalue(V, 1)),
    n=[2],
    **false,
)
RATE_LAYER = Conjecture(
    "4F one layer with V = I and step 1 quarters the diameter",
    "oja-map",
    (IsIdentity(V), Relation(sp.Eq(alpha, 1)), StartsIn(Acute())),
    Decays(squared_diameter, Rational(3, 4)),
    n=[2],
    **false,
)
RATE_CAUSAL = Conjecture(
    "4F causal acute tokens decay at rate 1/10 for any scores",
    "causal-flow",
    (IsIdentity(U), StartsIn(Acute())),
    Decays(squared_diameter, Rational(1, 10)),
    n=[2],
    d=[2],
    **false,
)

# --- never -----------------------------------------------------------------------------------------------------------
NO_SPLIT = Conjecture(
    "4F no split is ever stable", "attention-map", (Symmetric(V), SEVERAL), Fails(Stable(BipartiteAt(V, 1))), **false
)
NO_PAIR = Conjecture(
    "4F no opposite pair is Lyapunov stable",
    "oja-flow",
    Symmetric(V),
    Fails(LyapunovStable(AntipodalAt())),
    n=[2],
    **false,
)
NO_SECOND = Conjecture(
    "4F consensus at the first vector is never unstable", "oja-map", TOP, Fails(Unstable(ConsensusAt(V, 1))), **false
)
NO_ZERO = Conjecture("4F zero is never stable", "token-flow", (), Fails(Stable(Zero())), **false)
NO_REST = Conjecture("4F no polygon rests", "oja-flow", Symmetric(V), Fails(Equilibrium(Polygonal())), **false)

# --- named matrices --------------------------------------------------------------------------------------------------
TRACE = Conjecture(
    "4F a positive trace makes consensus stable for every step",
    "oja-map",
    (*TOP, Relation(Trace(V) > 0), SEVERAL),
    Stable(ConsensusAt(V, 1)),
    d=[3],
    **false,
)
DETERMINANT = Conjecture(
    "4F a positive determinant makes consensus stable for every step",
    "oja-map",
    (*TOP, Relation(Determinant(V) > 0), SEVERAL),
    Stable(ConsensusAt(V, 1)),
    d=[3],
    **false,
)
TRACELESS = Conjecture(
    "4F traceless values: consensus is stable for every step",
    "oja-map",
    (*TOP, Relation(sp.Eq(Trace(V), 0)), SEVERAL),
    Stable(ConsensusAt(V, 1)),
    d=[3],
    **false,
)
ENTRIES = Conjecture(
    "4F positive entries: almost every start finds the Perron vector",
    "oja-flow",
    (Symmetric(V), Relation(SmallestEntry(V) > 0)),
    AlmostEveryConverges(ConsensusAt(V, 1)),
    **false,
)
COMMUTING = Conjecture(
    "4F commuting weights leave no stable even split",
    "attention-flow",
    (*TOP, Symmetric(M), Commute(V, M), Relation(sp.Eq(p, q)), Relation(d >= 2)),
    Unstable(BipartiteAt(V, 1)),
    **false,
)
GRADIENT = Conjecture(
    "4F gradient scores leave no stable even split",
    "attention-flow",
    (*TOP, MultipleOf(M, V), Relation(sp.Eq(p, q)), Relation(d >= 2)),
    Unstable(BipartiteAt(V, 1)),
    **false,
)
HEADS_STEP = Conjecture(
    "4F two symmetric heads: consensus of the sum is stable for every step",
    "multihead-map",
    (EachHead(Symmetric(F)), SimpleTop(F), Relation(Eigenvalue(F, 1) > 0), Relation(H >= 2), SEVERAL),
    Stable(ConsensusAt(F, 1)),
    **false,
)
LONG_STEPS = Conjecture(
    "4F steps above 2 make consensus unstable",
    "oja-map",
    (*TOP, Relation(alpha > 2), SEVERAL),
    Unstable(ConsensusAt(V, 1)),
    **false,
)
UNIT_STEP = Conjecture(
    "4F with step 1 and top eigenvalue 1 stability ends at -2",
    "oja-map",
    (
        Symmetric(V),
        SimpleTop(V),
        Relation(sp.Eq(alpha, 1)),
        Relation(sp.Eq(Eigenvalue(V, 1), 1)),
        SEVERAL,
        Relation(d >= 2),
    ),
    Iff(Stable(ConsensusAt(V, 1)), Relation(Eigenvalue(V, d) > -2)),
    **false,
)


# --- two instances, margins ------------------------------------------------------------------------------------------
def half_steps(x):
    """Two half steps end within 1/20 of one step."""
    halved = x.advance(x.advance(alpha=x.alpha / 2), alpha=x.alpha / 2)
    return 0.05 - np.abs(halved - x.advance()).max()


def reversed_order(x):
    """The order of the tokens does not matter."""
    return 0.01 - np.abs(x.advance(tokens=x.tokens[::-1])[::-1] - x.advance()).max()


def swapped_axes(x):
    """The axes may be exchanged."""
    return 0.01 - np.abs(x.advance(tokens=x.tokens[:, ::-1])[:, ::-1] - x.advance()).max()


def one_sign(x):
    """Turning the first token round does not move the others elsewhere."""
    turned = np.concatenate([-x.tokens[:1], x.tokens[1:]])
    return 0.01 - np.abs(x.advance(tokens=turned)[1:] - x.advance()[1:]).max()


def rank_kept(x):
    """A layer does not raise the rank of the tokens."""
    return np.linalg.matrix_rank(x.advance()) <= np.linalg.matrix_rank(x.tokens)


def closer(x):
    """The smallest inner product does not fall over a layer."""
    after, before = x.advance(), x.tokens
    return (after @ after.T).min() - (before @ before.T).min()


def sum_of_heads(x):
    """Two heads act as the first one with the sum of the values."""
    first, second = x.heads[0], x.heads[1]
    joined = x.advance(system="attention-map", V=first.F + second.F, M=first.M, alpha=x.alpha)
    return 0.01 - np.abs(joined - x.advance()).max()


HALF = Conjecture(
    "4F two half steps are one step",
    "oja-map",
    (Symmetric(V), Relation(alpha <= 1)),
    holds_if=half_steps,
    n=[1, 2],
    d=[2],
    **false,
)
ORDER = Conjecture(
    "4F the order does not matter under a causal mask",
    "attention-map",
    PD,
    holds_if=reversed_order,
    n=[2, 3],
    d=[2],
    mask="causal",
    **false,
)
AXES = Conjecture(
    "4F axes may be exchanged", "attention-map", Symmetric(V), holds_if=swapped_axes, n=[2], d=[2], **false
)
SIGN = Conjecture("4F a turned token moves no other", "attention-map", PD, holds_if=one_sign, n=[2, 3], d=[2], **false)
RANK = Conjecture("4F a layer does not raise the rank", "oja-map", PD, holds_if=rank_kept, n=[3], d=[2], **false)
CLOSER = Conjecture(
    "4F a layer with V = I brings the furthest pair closer",
    "attention-map",
    IsIdentity(V),
    holds_if=closer,
    n=[3],
    d=[2],
    **false,
)
SUM = Conjecture(
    "4F two heads act as one", "multihead-map", (Relation(H >= 2),), holds_if=sum_of_heads, n=[2], d=[2], **false
)

# --- where the linearization is silent -------------------------------------------------------------------------------
EDGE = Conjecture(
    "4F an even pair at the first vector is Lyapunov stable unless the second eigenvalue is positive",
    "oja-flow",
    (*TOP, Relation(Eigenvalue(V, 2) <= 0), Relation(sp.Eq(p, q))),
    LyapunovStable(BipartiteAt(V, 1)),
    n=[2],
    d=[2],
    **false,
)
