"""A fourth list, true: regions, heads, families moved by rotations, rates, opposites, two instances, named matrices.

Written by someone who did not write the certificates; each has a short proof, given in a line where it is not plain.
"""

import numpy as np
import sympy as sp

from eigentoken.lab import *

U, V, M, P, W, B, F = (matrix(name) for name in "UVMPWBF")
PD = (Symmetric(V), PositiveDefinite(V))
PSD = (Symmetric(V), PositiveSemidefinite(V))
TOP = (Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0))
SEVERAL = Relation(n >= 2)
true = {"expect": "survives"}

# --- regions that are kept: what is averaged stays in a convex cone --------------------------------------------------
ACUTE_FLOW = Conjecture(
    "4T V = I keeps acute tokens acute, flow", "attention-flow", IsIdentity(V), ForwardInvariant(Acute()), **true
)
ACUTE_MAP = Conjecture(
    "4T V = I keeps acute tokens acute, map", "attention-map", IsIdentity(V), ForwardInvariant(Acute()), **true
)
ACUTE_HALF = Conjecture(
    "4T V = I keeps cosines above 1/2", "attention-map", IsIdentity(V), ForwardInvariant(Acute(Rational(1, 2))), **true
)
ACUTE_CAUSAL = Conjecture(
    "4T U = I keeps acute tokens acute, causal", "causal-flow", IsIdentity(U), ForwardInvariant(Acute()), **true
)
ORTHANT_MAP = Conjecture(
    "4T values without negative entries keep the orthant, map",
    "attention-map",
    Relation(SmallestEntry(V) >= 0),
    ForwardInvariant(Orthant()),
    **true,
)
ORTHANT_FLOW = Conjecture(
    "4T values without negative entries keep the orthant, flow",
    "attention-flow",
    Relation(SmallestEntry(V) >= 0),
    ForwardInvariant(Orthant()),
    **true,
)
ORTHANT_TOKENS = Conjecture(
    "4T values without negative entries keep the orthant, Euclidean",
    "token-flow",
    Relation(SmallestEntry(B) >= 0),
    ForwardInvariant(Orthant()),
    **true,
)
ORTHANT_HEADS = Conjecture(
    "4T heads without negative entries keep the orthant",
    "multihead-map",
    (EachHead(Relation(SmallestEntry(F) >= 0)),),
    ForwardInvariant(Orthant()),
    **true,
)
ORTHANT_STOCHASTIC = Conjecture(
    "4T stochastic values keep the orthant", "oja-flow", Stochastic(V), ForwardInvariant(Orthant()), **true
)
ORTHANT_IDENTITY = Conjecture(
    "4T V = I keeps the orthant", "attention-map", IsIdentity(V), ForwardInvariant(Orthant()), **true
)
CAP = Conjecture(
    "4T V = I keeps the caps around the first axis",
    "attention-map",
    IsIdentity(V),
    ForwardInvariant(Cap((1, 0), Rational(1, 2))),
    **true,
)
CAP_FLOW = Conjecture(
    "4T V = I keeps the half space of the first axis", "attention-flow", IsIdentity(V), ForwardInvariant(Cap()), **true
)
LINE = Conjecture(
    "4T V = I keeps the first axis", "attention-flow", IsIdentity(V), ForwardInvariant(Subspace(1)), d=[2, 3], **true
)
PLANE = Conjecture(
    "4T V = I keeps the plane of the first axes",
    "attention-map",
    IsIdentity(V),
    ForwardInvariant(Subspace(2)),
    d=[3],
    **true,
)

# --- where tokens start ----------------------------------------------------------------------------------------------
FROM_ORTHANT = Conjecture(
    "4T from the orthant to consensus, V = I",
    "attention-flow",
    (IsIdentity(V), StartsIn(Orthant())),
    Converges(ConsensusSet()),
    **true,
)
FROM_CAP = Conjecture(
    "4T from a cap to consensus, V = I, layers",
    "attention-map",
    (IsIdentity(V), StartsIn(Cap((1, 0), Rational(1, 2)))),
    Converges(ConsensusSet()),
    **true,
)
FROM_ACUTE = Conjecture(
    "4T from sharp angles to consensus, V = I",
    "attention-flow",
    (IsIdentity(V), StartsIn(Acute(Rational(1, 10)))),
    Converges(ConsensusSet()),
    **true,
)
FROM_HEADS = Conjecture(
    "4T several heads with values I: a hemisphere agrees",
    "multihead-flow",
    (EachHead(IsIdentity(F)), InHemisphere(), Relation(H >= 2)),
    Converges(ConsensusSet()),
    **true,
)
CAUSAL_AGREE = Conjecture(
    "4T causal tokens with U = I agree from almost every start",
    "causal-flow",
    IsIdentity(U),
    AlmostEveryConverges(ConsensusSet()),
    **true,
)
POLYGONS = Conjecture(
    "4T V = -I: almost every start ends with mean zero",
    "oja-flow",
    (IsIdentity(-V), SEVERAL, Relation(d >= 2)),
    AlmostEveryConverges(Polygonal()),
    **true,
)
FLOW_SETTLES = Conjecture(
    "4T every trajectory of a symmetric Oja flow settles",
    "oja-flow",
    Symmetric(V),
    Converges(SomeEquilibrium()),
    **true,
)
MAP_SETTLES = Conjecture(
    "4T orbits settle for semidefinite values, any step", "oja-map", PD, Converges(SomeEquilibrium()), **true
)

# --- Euclidean tokens ------------------------------------------------------------------------------------------------
DECAY = Conjecture(
    "4T tokens decay for values -I and positive definite symmetric scores",
    "token-flow",
    (IsIdentity(-B), Symmetric(W), PositiveDefinite(W)),
    Converges(Zero()),
    **true,
)
ALONE_DECAYS = Conjecture(
    "4T one token decays where its values are Hurwitz",
    "token-flow",
    (Relation(EigenvalueRealPart(B, 1) < 0),),
    Converges(Zero()),
    n=[1],
    **true,
)
ALONE_DIVERGES = Conjecture(
    "4T one token diverges for positive definite values",
    "token-flow",
    (Symmetric(B), PositiveDefinite(B), NotAllZero()),
    Diverges(),
    n=[1],
    **true,
)

# --- observables -----------------------------------------------------------------------------------------------------
MEAN_FLOW = Conjecture(
    "4T the mean grows, Oja flow with V = I", "oja-flow", IsIdentity(V), Increases(mean_square), **true
)
MEAN_MAP = Conjecture(
    "4T the mean grows, Oja map with V = I, any step", "oja-map", IsIdentity(V), Increases(mean_square), **true
)
MEAN_SHRINKS = Conjecture(
    "4T the mean shrinks, Oja flow with V = -I", "oja-flow", IsIdentity(-V), Decreases(mean_square), **true
)
POTENTIAL = Conjecture(
    "4T the potential falls for positive definite values, any step", "oja-map", PD, Decreases(oja_potential), **true
)
PRODUCT = Conjecture(
    "4T acute tokens: the smallest product grows, V = I",
    "attention-flow",
    (IsIdentity(V), StartsIn(Acute())),
    Increases(smallest_product),
    **true,
)
PRODUCT_TWO = Conjecture(
    "4T two tokens: the product grows, V = I",
    "attention-flow",
    IsIdentity(V),
    Increases(smallest_product),
    n=[2],
    **true,
)
DIAMETER = Conjecture(
    "4T acute tokens: the diameter falls, V = I",
    "attention-map",
    (IsIdentity(V), StartsIn(Acute())),
    Decreases(squared_diameter),
    **true,
)
DIAMETER_TWO = Conjecture(
    "4T two tokens: the diameter falls, positive definite values",
    "oja-flow",
    PD,
    Decreases(squared_diameter),
    n=[2],
    **true,
)
ENERGY = Conjecture(
    "4T the interaction energy grows for gradient scores",
    "attention-flow",
    (Symmetric(V), MultipleOf(M, V), Relation(Trace(M * V.T) >= 0)),
    Increases(interaction_energy),
    **true,
)

# --- rates -----------------------------------------------------------------------------------------------------------
RATE_TWO = Conjecture(
    "4T two acute tokens: the diameter decays at rate 1",
    "oja-flow",
    (IsIdentity(V), StartsIn(Acute())),
    Decays(squared_diameter, 1),
    n=[2],
    **true,
)
RATE_LAYER = Conjecture(
    "4T two acute tokens: one layer of step 1 halves the squared diameter",
    "oja-map",
    (IsIdentity(V), Relation(sp.Eq(alpha, 1)), StartsIn(Acute())),
    Decays(squared_diameter, Rational(1, 2)),
    n=[2],
    **true,
)
RATE_THREE = Conjecture(  # (x_1 + x_2) . m >= 2/n for the furthest pair
    "4T three acute tokens: the diameter decays at rate 2/3",
    "oja-flow",
    (IsIdentity(V), StartsIn(Acute())),
    Decays(squared_diameter, Rational(2, 3)),
    n=[3],
    **true,
)

# --- never -----------------------------------------------------------------------------------------------------------
NEGATIVE = Conjecture(
    "4T negative definite values: consensus is never stable",
    "oja-map",
    (Symmetric(V), NegativeDefinite(V), SEVERAL, Relation(d >= 2)),
    Fails(Stable(ConsensusAt(V, 1))),
    **true,
)
POSITIVE = Conjecture(
    "4T positive definite values: principal consensus is never unstable",
    "oja-map",
    (*PD, SimpleTop(V)),
    Fails(Unstable(ConsensusAt(V, 1))),
    **true,
)
SEVERAL_ZERO = Conjecture(
    "4T zero is never stable for several tokens", "token-flow", (SEVERAL,), Fails(Stable(Zero())), **true
)
SECOND = Conjecture(
    "4T consensus at a lower vector is never stable, flow",
    "oja-flow",
    (*TOP, Relation(k >= 2)),
    Fails(Stable(ConsensusAt(V, k))),
    **true,
)

# --- named matrices --------------------------------------------------------------------------------------------------
RANK_ONE = Conjecture(
    "4T values of rank one: consensus is stable for every step",
    "oja-map",
    (*TOP, Relation(Rank(V) <= 1), SEVERAL),
    Stable(ConsensusAt(V, 1)),
    **true,
)
DOUBLY = Conjecture(
    "4T symmetric stochastic values: consensus is stable for every step",
    "oja-map",
    (Symmetric(V), Stochastic(V, doubly=True), SimpleTop(V), SEVERAL),
    Stable(ConsensusAt(V, 1)),
    **true,
)
STOCHASTIC = Conjecture(
    "4T stochastic values: consensus is stable for every step",
    "oja-map",
    (Stochastic(V), SimpleTop(V), SEVERAL),
    Stable(ConsensusAt(V, 1)),
    **true,
)
PERRON = Conjecture(
    "4T positive entries: consensus is stable for every step",
    "oja-map",
    (Symmetric(V), Relation(SmallestEntry(V) > 0), SEVERAL),
    Stable(ConsensusAt(V, 1)),
    **true,
)
TRACE = Conjecture(
    "4T planar values with positive trace: stable for every step",
    "oja-map",
    (*TOP, Relation(Trace(V) > 0), SEVERAL),
    Stable(ConsensusAt(V, 1)),
    d=[2],
    **true,
)
DETERMINANT = Conjecture(
    "4T planar values with positive determinant: stable for every step",
    "oja-map",
    (*TOP, Relation(Determinant(V) > 0), SEVERAL),
    Stable(ConsensusAt(V, 1)),
    d=[2],
    **true,
)
TRACELESS = Conjecture(
    "4T planar traceless values: stable for every step",
    "oja-map",
    (*TOP, Relation(sp.Eq(Trace(V), 0)), SEVERAL),
    Stable(ConsensusAt(V, 1)),
    d=[2],
    **true,
)
LONG = Conjecture(
    "4T steps above 2, positive definite values: stable",
    "oja-map",
    (*PD, SimpleTop(V), Relation(alpha > 2), SEVERAL),
    Stable(ConsensusAt(V, 1)),
    **true,
)
UNIT = Conjecture(
    "4T with step 1 and top eigenvalue 1 stability ends at -3",
    "oja-map",
    (
        Symmetric(V),
        SimpleTop(V),
        Relation(sp.Eq(alpha, 1)),
        Relation(sp.Eq(Eigenvalue(V, 1), 1)),
        SEVERAL,
        Relation(d >= 2),
    ),
    Iff(Stable(ConsensusAt(V, 1)), Relation(Eigenvalue(V, d) > -3)),
    **true,
)
HEADS = Conjecture(
    "4T two positive definite heads: consensus of the sum is stable for every step",
    "multihead-map",
    (EachHead(Symmetric(F)), EachHead(PositiveDefinite(F)), SimpleTop(F), Relation(H >= 2), SEVERAL),
    Stable(ConsensusAt(F, 1)),
    **true,
)
RESTS = Conjecture(
    "4T consensus at an eigenvector rests where its multiplier is positive",
    "attention-map",
    (Symmetric(V), Relation(1 + alpha * Eigenvalue(V, k) > 0)),
    Equilibrium(ConsensusAt(V, k)),
    **true,
)
EDGE = Conjecture(
    "4T consensus with top eigenvalue 0 is Lyapunov stable, flow",
    "oja-flow",
    (Symmetric(V), SimpleTop(V), Relation(sp.Eq(Eigenvalue(V, 1), 0))),
    LyapunovStable(ConsensusAt(V, 1)),
    d=[2],
    **true,
)


# --- two instances, margins ------------------------------------------------------------------------------------------
def odd(x):
    """Turning all tokens round turns the next state round."""
    return 1e-6 - np.abs(x.advance(tokens=-x.tokens) + x.advance()).max()


def any_order(x):
    """The order of the tokens does not matter."""
    return 1e-6 - np.abs(x.advance(tokens=x.tokens[::-1])[::-1] - x.advance()).max()


def any_axes(x):
    """The axes may be exchanged."""
    return 1e-6 - np.abs(x.advance(tokens=x.tokens[:, ::-1])[:, ::-1] - x.advance()).max()


def step_times_values(x):
    """Twice the step with half the values is the same layer."""
    return 1e-6 - np.abs(x.advance(alpha=2 * x.alpha, V=x.V / 2) - x.advance()).max()


def first_alone(x):
    """Under a causal mask the first token does not depend on the others."""
    others = np.concatenate([x.tokens[:1], -x.tokens[1:]])
    return 1e-6 - np.abs(x.advance(tokens=others)[0] - x.advance()[0]).max()


def uniform(x):
    """Without scores the layer is the Oja map."""
    return 1e-6 - np.abs(x.advance(system="oja-map", V=x.V, alpha=x.alpha) - x.advance()).max()


def further(x):
    """A token goes further with twice the step."""
    near, far = x.advance() - x.tokens, x.advance(alpha=2 * x.alpha) - x.tokens
    return ((far * far).sum(axis=1) - (near * near).sum(axis=1)).min() + 1e-6


def tangent(x):
    """Tokens move across themselves."""
    return 1e-6 - np.abs((x.tokens * x.advance()).sum(axis=1)).max()


def first_climbs(x):
    """The Rayleigh quotient of the first token does not fall."""
    return x.advance()[0] @ x.U @ x.tokens[0] + 1e-6


def lowest(x):
    """The smallest first coordinate does not fall."""
    return x.advance()[:, 0].min() - x.tokens[:, 0].min() + 1e-6


def rows(x):
    """Weights are positive and sum to one."""
    return np.minimum(x.attention().min(), 1e-6 - np.abs(x.attention().sum(axis=1) - 1).max())


def rank_kept(x):
    """A layer does not raise the rank of the tokens."""
    return np.linalg.matrix_rank(x.advance()) <= np.linalg.matrix_rank(x.tokens)


ODD = Conjecture("4T a layer is odd", "attention-map", (), holds_if=odd, n=[2, 3], d=[2], **true)
ORDER = Conjecture(
    "4T the order does not matter without a mask", "attention-map", (), holds_if=any_order, n=[2, 3], d=[2], **true
)
AXES = Conjecture(
    "4T axes may be exchanged where weights are multiples of I",
    "attention-map",
    (IsIdentity(V), MultipleOf(M)),
    holds_if=any_axes,
    n=[2, 3],
    d=[2],
    **true,
)
SCALE = Conjecture(
    "4T twice the step with half the values", "attention-map", (), holds_if=step_times_values, n=[2], d=[2], **true
)
FIRST = Conjecture(
    "4T the first causal token is alone",
    "attention-map",
    (),
    holds_if=first_alone,
    n=[2, 3],
    d=[2],
    mask="causal",
    **true,
)
UNIFORM = Conjecture("4T no scores: the Oja map", "attention-map", IsZero(M), holds_if=uniform, n=[2, 3], d=[2], **true)
FURTHER = Conjecture("4T twice the step moves further", "oja-map", (), holds_if=further, n=[1, 2], d=[2], **true)
TANGENT = Conjecture(
    "4T tokens move across themselves", "attention-flow", (), holds_if=tangent, n=[2], d=[2, 3], **true
)
CLIMBS = Conjecture(
    "4T the first causal token climbs", "causal-flow", Symmetric(U), holds_if=first_climbs, n=[2], d=[2], **true
)
LOWEST = Conjecture(
    "4T V = I: the lowest coordinate of tokens above zero does not fall",
    "attention-map",
    IsIdentity(V),
    given=lambda x: x.tokens[:, 0].min(),
    holds_if=lowest,
    n=[2, 3],
    d=[2],
    **true,
)
ROWS = Conjecture("4T weights are a distribution", "attention-flow", (), holds_if=rows, n=[2, 3], d=[2], **true)
RANK = Conjecture(
    "4T V = I does not raise the rank", "attention-map", IsIdentity(V), holds_if=rank_kept, n=[3], d=[2, 3], **true
)
