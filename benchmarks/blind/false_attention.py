"""What the sheet of the papers on ellipsoids and on token dynamics marks false, as conjectures without its numbers."""

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
    Increases,
    Nonnegative,
)
from eigentoken.theory.language.conditions import (
    BoundedInTime,
    InHemisphere,
    IsIdentity,
    NegativeDefinite,
    NoneOpposite,
    Nonsingular,
    NotAllEqual,
    NotAllZero,
    PositiveDefinite,
    Relation,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.observables import Observable, dot
from eigentoken.theory.language.observables_attention import absolute_cosine_gap, token_energy
from eigentoken.theory.language.places import ConsensusAt, ConsensusSet, Hemisphere, Zero
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, d, matrix, n

U, V, P, W, B, Q, K = (matrix(name) for name in "UVPWBQK")
A = W * B.I
ROTATED = Q * K.T * B.I
TOP = (Symmetric(U), SimpleTop(U), Relation(Eigenvalue(U, 1) > 0))
refuted = {"expect": "refuted"}


def nonnegative_height(x):
    """(13): 1 - v^T y is nonnegative for tokens v, y of the ellipsoid."""
    return x.tokens[0] @ x.tokens[1] <= 1


def normalised_by_keys(x):
    """(4): the weights D exp(x^T K^T Q x), normalised from the left, sum to 1/sqrt(d) over the keys of a token."""
    return np.allclose(x.attention().sum(axis=0) * np.sqrt(x.d), 1)


def distance(scalars, system, parameters, x, mask):
    gap = [a - b for a, b in zip(x[0], x[1], strict=True)]
    return dot(gap, gap)


square = Observable("square-distance", r"|x_1 - x_2|^2", distance)

E4 = Conjecture(
    "AB-E4 normalised on the left", "ellipsoid-flow", [Relation(n >= 2)], holds_if=normalised_by_keys, **refuted
)
T41 = Conjecture("AB-T4.1 function (13)", "ellipsoid-flow", [Relation(n >= 2)], holds_if=nonnegative_height, **refuted)
T51 = Conjecture(
    "AB-T5.1 domain",
    "causal-flow",
    [IsIdentity(U), BoundedInTime("P"), NoneOpposite(), Relation(d >= 2)],
    Converges(ConsensusSet()),
    **refuted,
)
L61 = Conjecture(
    "AB-L6.1 empty domain", "causal-flow", (*TOP, Relation(sp.Eq(n, 1))), Converges(ConsensusAt(U, 1)), **refuted
)
T61 = Conjecture("AB-T6.1 anywhere", "causal-flow", TOP, AlmostEveryConverges(ConsensusAt(U, 1)), **refuted)
T61_NEGATIVE = Conjecture(
    "AB-T6.1 any sign",
    "causal-flow",
    [Symmetric(U), SimpleTop(U), InHemisphere(U)],
    Converges(ConsensusAt(U, 1)),
    **refuted,
)
T61_RIGHT = Conjecture(
    "AB-T6.1 not symmetric",
    "causal-flow",
    [SimpleTop(U), Relation(Eigenvalue(U, 1) > 0), InHemisphere(U)],
    Converges(ConsensusAt(U, 1)),
    **refuted,
)
X2 = Conjecture(
    "AB-X2 without the modulus",
    "attention-flow",
    [Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0), InHemisphere(V)],
    Converges(ConsensusAt(V, 1)),
    **refuted,
)
E25 = Conjecture(
    "AB-E25 absolute values",
    "causal-flow",
    [NotAllEqual()],
    Nonnegative(absolute_cosine_gap, strict=True),
    **refuted,
)
C1 = Conjecture(
    "PH-C1 Euclidean distance",
    "token-flow",
    [Symmetric(A), NegativeDefinite(A), PositiveDefinite(W), Relation(n >= 2)],
    Decreases(square),
    **refuted,
)
C2 = Conjecture(
    "PH-C2 not symmetric", "token-flow", [NegativeDefinite(A), PositiveDefinite(W)], Converges(Zero()), **refuted
)
T2 = Conjecture(
    "PH-T2 without W", "token-flow", [Symmetric(A), NegativeDefinite(A), Relation(n >= 2)], Converges(Zero()), **refuted
)
T2_B = Conjecture(
    "PH-T2 with B Hurwitz instead",
    "token-flow",
    [Relation(Eigenvalue(B, 1) < 0), Symmetric(A), NegativeDefinite(A), Relation(n >= 2)],
    Converges(Zero()),
    **refuted,
)
T3 = Conjecture(
    "PH-T3 every token",
    "token-flow",
    [Symmetric(A), PositiveDefinite(A), PositiveDefinite(W), NotAllZero()],
    Diverges(every=True),
    **refuted,
)
T3_ENERGY = Conjecture(
    "PH-T3 energy", "token-flow", [Nonsingular(B), PositiveDefinite(W)], Decreases(token_energy), **refuted
)
T7_KEEPS = Conjecture(
    "PH-T7 keeps convergence",
    "rotary-flow",
    [Symmetric(ROTATED), NegativeDefinite(ROTATED), PositiveDefinite(Q * K.T)],
    Converges(Zero()),
    **refuted,
)
T7 = Conjecture("PH-T7 forces divergence", "rotary-flow", [Nonsingular(B), NotAllZero()], Diverges(), **refuted)
T8 = Conjecture(
    "PH-T8 a negative shift of W makes tokens diverge",
    "token-flow",
    [NegativeDefinite(W), Nonsingular(B), NotAllZero()],
    Diverges(),
    **refuted,
)
T61_SPHERE = Conjecture(
    "AB-T6.1 hemisphere of any U stays",
    "causal-flow",
    [Symmetric(U), SimpleTop(U), InHemisphere(U)],
    ForwardInvariant(Hemisphere(U)),
    **refuted,
)
EQUAL = Conjecture("equal tokens rest", "attention-flow", [Symmetric(V)], Equilibrium(ConsensusSet()), **refuted)
PAIRS = Conjecture(
    "distances grow",
    "token-flow",
    [Nonsingular(B), Relation(SpectralNorm(W) < 1), Relation(n >= 2)],
    Increases(square),
    **refuted,
)
