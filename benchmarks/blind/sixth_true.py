"""A sixth list, true: the counterparts, each with its reason in a line."""

import numpy as np
import sympy as sp

from eigentoken.lab import *

V, M, B, W, F = (matrix(name) for name in "VMBWF")
true = {"expect": "survives"}


def mean_defect(scalars, system, parameters, x, mask):
    """1 minus the square of the mean's length."""
    mean = [sum((token[a] for token in x), 0 * scalars.one) / len(x) for a in range(len(x[0]))]
    return scalars.one - sum((a * a for a in mean), 0 * scalars.one)


defect = Observable("defect of the mean", r"1 - |m|^2", mean_defect)

RANK_TWO = Conjecture(  # the negative eigenvalue is smaller than the positive one
    "6T symmetric values of rank two and positive trace: consensus is stable for every step",
    "oja-map",
    (Symmetric(V), SimpleTop(V), Relation(sp.Eq(Rank(V), 2)), Relation(Trace(V) > 0), Relation(n >= 2)),
    Stable(ConsensusAt(V, 1)),
    d=[2, 3],
    **true,
)
AT_THE_STEP = Conjecture(  # on the line of consensus states two layers are the identity; across it they contract
    "6T at the critical step consensus is Lyapunov stable",
    "oja-map",
    (
        Symmetric(V),
        SimpleTop(V),
        Relation(Eigenvalue(V, 1) > 0),
        Relation(sp.Eq(alpha * (-Eigenvalue(V, 2) - Eigenvalue(V, 1)), 2)),
    ),
    LyapunovStable(ConsensusAt(V, 1)),
    n=[2],
    d=[2],
    **true,
)
OPPOSITES = Conjecture(  # the opposite pairs are a manifold of rest, and m decays across it
    "6T values -I: opposite pairs are Lyapunov stable",
    "oja-flow",
    IsIdentity(-V),
    LyapunovStable(AntipodalAt()),
    n=[2],
    **true,
)
TWO_AGREE = Conjecture(  # (x1.x2)' = (w12 + w21)(1 - (x1.x2)^2)
    "6T two tokens agree for any scores, V = I, almost every start",
    "attention-flow",
    IsIdentity(V),
    AlmostEveryConverges(ConsensusSet()),
    n=[2],
    **true,
)
SPHERE_AGREES = Conjecture(  # no other local maximum of the energy for d >= 3
    "6T values and scores I in space: almost every start agrees",
    "attention-flow",
    (IsIdentity(V), IsIdentity(M)),
    AlmostEveryConverges(ConsensusSet()),
    d=[3],
    n=[3],
    **true,
)
FLAT_RESTS = Conjecture(  # m' = B m, and x_i - m stays
    "6T without scores Hurwitz values bring all tokens to rest",
    "token-flow",
    (IsZero(W), Relation(EigenvalueRealPart(B, 1) < 0)),
    Converges(SomeEquilibrium()),
    **true,
)
FLAT_STABLE = Conjecture(
    "6T without scores Hurwitz values make 0 Lyapunov stable",
    "token-flow",
    (IsZero(W), Relation(EigenvalueRealPart(B, 1) < 0)),
    LyapunovStable(Zero()),
    **true,
)
ACUTE_PRODUCT = Conjecture(  # the next tokens are in the convex cone of the tokens
    "6T acute tokens: the smallest product does not fall over a layer, V = I and any scores",
    "attention-map",
    (IsIdentity(V), StartsIn(Acute())),
    ForwardInvariant(Acute(Rational(1, 3))),
    **true,
)
MEAN_RATE = Conjecture(  # 2 cos^2 sin^2 >= sin^2 for angles up to 45 degrees
    "6T two acute tokens: the defect of the mean decays at rate 1, V = I",
    "oja-flow",
    (IsIdentity(V), StartsIn(Acute())),
    Decays(defect, 1),
    n=[2],
    **true,
)
ORTHANT = Conjecture(  # the cone of the orthant is mapped into itself
    "6T values without negative entries: starts in the orthant stay and end there",
    "oja-flow",
    (Relation(SmallestEntry(V) > 0), StartsIn(Orthant())),
    Converges(Orthant()),
    d=[2],
    **true,
)


def determinant(x):
    """The determinant of the weights is not negative."""
    return np.linalg.det(x.attention()) + 1e-9


def longer_step(x):
    """Twice the step takes each token at least as far."""
    far = np.linalg.norm(x.advance(alpha=2 * x.alpha) - x.tokens, axis=1)
    return (far - np.linalg.norm(x.advance() - x.tokens, axis=1)).min() + 1e-9


def is_oja(x):
    """Without scores attention is the Oja map."""
    return 1e-9 - np.abs(x.advance() - x.advance(system="oja-map", V=x.V, alpha=x.alpha)).max()


DETERMINANT = Conjecture(  # exp of a Gram matrix is one (Schur)
    "6T positive definite scores: the determinant of the weights is not negative",
    "attention-map",
    (Symmetric(M), PositiveDefinite(M)),
    holds_if=determinant,
    n=[2, 3],
    **true,
)
LONGER = Conjecture(  # the angle between x and x + alpha u grows with alpha
    "6T twice the step goes at least as far", "attention-map", Symmetric(V), holds_if=longer_step, **true
)
NO_SCORES = Conjecture(
    "6T attention without scores is the Oja map", "attention-map", IsZero(M), holds_if=is_oja, **true
)
