"""A fifth list, true: the counterparts of the false ones, each with its reason in a docstring or a line."""

import numpy as np
import sympy as sp

from eigentoken.lab import *

V, M, B, W, F, U = (matrix(name) for name in "VMBWFU")
ZERO_TOP = (Symmetric(V), SimpleTop(V), Relation(sp.Eq(Eigenvalue(V, 1), 0)), Relation(n >= 2))
RING = [[1, 1, 0], [0, 1, 1], [1, 0, 1]]
true = {"expect": "survives"}


def weighted_squares(scalars, system, parameters, x, mask):
    """The sum of the forms ``x_i^T W x_i``."""
    W = parameters["W"]
    size = range(len(x[0]))
    return sum((token[a] * W[a][b] * token[b] for token in x for a in size for b in size), 0 * scalars.one)


# --- the linearization is silent: on the centre directions the cubic terms decide ------------------------------------
SPIRAL_PAIR = Conjecture(  # c' = (c^T W c) B c
    "5T two tokens: 0 is Lyapunov stable where B is a stable spiral and W is positive definite",
    "token-flow",
    (Relation(Trace(B) < 0), Relation(Trace(B) ** 2 < 4 * Determinant(B)), Symmetric(W), PositiveDefinite(W)),
    LyapunovStable(Zero()),
    n=[2],
    d=[2],
    **true,
)
SPIRAL_NEVER = Conjecture(  # the same turned round
    "5T two tokens: 0 is never Lyapunov stable where B is a stable spiral and W is negative definite",
    "token-flow",
    (Relation(Trace(B) < 0), Relation(Trace(B) ** 2 < 4 * Determinant(B)), Symmetric(W), NegativeDefinite(W)),
    Fails(LyapunovStable(Zero())),
    n=[2],
    d=[2],
    **true,
)
OJA_ZERO = Conjecture(  # the states with V m = 0 are a manifold of rest with as many dimensions as there are zeros
    "5T consensus at a top eigenvalue 0 is Lyapunov stable, flow",
    "oja-flow",
    ZERO_TOP,
    LyapunovStable(ConsensusAt(V, 1)),
    **true,
)
OJA_ZERO_MAP = Conjecture(
    "5T consensus at a top eigenvalue 0 is Lyapunov stable, short steps",
    "oja-map",
    (*ZERO_TOP, Relation(alpha * SpectralNorm(V) < 1)),
    LyapunovStable(ConsensusAt(V, 1)),
    **true,
)
SCORES_ZERO = Conjecture(  # sum c_i^T (-V_2)^-1 c_i falls like -tr(C M_2 C)
    "5T consensus at a top eigenvalue 0 is Lyapunov stable, positive definite scores",
    "attention-flow",
    (*ZERO_TOP, Symmetric(M), PositiveDefinite(M)),
    LyapunovStable(ConsensusAt(V, 1)),
    **true,
)
SCORES_NEVER = Conjecture(  # one eigenvector of M among the others' directions is enough
    "5T consensus at a top eigenvalue 0 is never Lyapunov stable, negative definite scores",
    "attention-flow",
    (*ZERO_TOP, Symmetric(M), NegativeDefinite(M), Relation(d >= 2)),
    Fails(LyapunovStable(ConsensusAt(V, 1))),
    d=[2],
    **true,
)
FOUR = Conjecture(  # q = |c of one side|^2 - |c of the other|^2 grows where it is positive
    "5T four tokens: no even split at the top is Lyapunov stable",
    "oja-flow",
    (Symmetric(V), Relation(Eigenvalue(V, 1) > 0), Relation(sp.Eq(p, q))),
    Fails(LyapunovStable(BipartiteAt(V, 1))),
    n=[4],
    d=[2],
    **true,
)

# --- trajectories ----------------------------------------------------------------------------------------------------
TWO_REST = Conjecture(  # the angle between them falls by (a_12 + a_21) sin
    "5T two tokens on the circle come to rest, V = I",
    "attention-flow",
    IsIdentity(V),
    Converges(SomeEquilibrium()),
    n=[2],
    d=[2],
    **true,
)
BOUNDED = Conjecture(  # the tilted means are ahead of the mean
    "5T the sum of x^T W x falls where B = -I and W is positive definite",
    "token-flow",
    (IsIdentity(-B), Symmetric(W), PositiveDefinite(W)),
    Decreases(Observable("weighted squares", r"\sum_i x_i^T W x_i", weighted_squares)),
    **true,
)
GRADIENT = Conjecture(  # an analytic gradient flow on a compact manifold
    "5T every trajectory of the Oja flow comes to rest, symmetric V",
    "oja-flow",
    Symmetric(V),
    Converges(SomeEquilibrium()),
    d=[2],
    **true,
)
LINE = Conjecture(  # the square of the norm falls, strictly off 0
    "5T two tokens on a line decay, B < 0 < W",
    "token-flow",
    (NegativeDefinite(B), PositiveDefinite(W)),
    Converges(Zero()),
    n=[2],
    d=[1],
    **true,
)
HEADS_ACUTE = Conjecture(  # pushes are in the cone of the tokens
    "5T heads with values I keep acute tokens acute",
    "multihead-map",
    (EachHead(IsIdentity(F)), Relation(H >= 2)),
    ForwardInvariant(Acute()),
    **true,
)
HEMISPHERE = Conjecture(
    "5T causal tokens stay in a hemisphere, values I",
    "causal-flow",
    IsIdentity(U),
    ForwardInvariant(Hemisphere()),
    **true,
)

# --- masks, rates, cycles --------------------------------------------------------------------------------------------
RING_SYMMETRIC = Conjecture(  # beta (1 + w)/2 for the cube roots w of 1: real parts beta and beta/4
    "5T three tokens on a ring: 0 is stable where B is symmetric negative definite",
    "token-flow",
    (Symmetric(B), NegativeDefinite(B)),
    Stable(Zero()),
    n=[3],
    mask=RING,
    **true,
)
CAUSAL_ZERO = Conjecture(  # lambda_l / i for token i
    "5T causal consensus at a top eigenvalue 0 is stable",
    "causal-flow",
    (Symmetric(U), SimpleTop(U), Relation(sp.Eq(Eigenvalue(U, 1), 0)), Relation(d >= 2)),
    Stable(ConsensusAt(U, 1)),
    **true,
)
LAYER_RATE = Conjecture(  # tan of half the angle is halved: (1 + t^2)/(4 + t^2) <= 2/5 for t <= 1
    "5T one layer with V = I and step 1 takes 3/5 of the diameter of two acute tokens",
    "oja-map",
    (IsIdentity(V), Relation(sp.Eq(alpha, 1)), StartsIn(Acute())),
    Decays(squared_diameter, Rational(3, 5)),
    n=[2],
    **true,
)
CONSTANT = Conjecture(  # both tokens turn at the speed (1 + cos)/2
    "5T two tokens on the circle keep their distance, skew values",
    "oja-flow",
    IsZero(sym(V)),
    Decreases(squared_diameter),
    n=[2],
    d=[2],
    **true,
)
NO_CYCLE = Conjecture(
    "5T positive definite values have no 2-cycle at consensus",
    "oja-map",
    (Symmetric(V), PositiveDefinite(V)),
    Fails(TwoCycle(ConsensusAt(V, 2))),
    d=[2],
    **true,
)


# --- two instances, margins ------------------------------------------------------------------------------------------
def turned_over(x):
    """A layer commutes with the sign."""
    return 1e-6 - np.abs(x.advance(tokens=-x.tokens) + x.advance()).max()


def twice_the_way(x):
    """No token goes farther than twice the step times the norm of the values: a chord is at most sqrt(2) times a sine."""
    return 2 * x.alpha * np.linalg.norm(x.V, 2) - np.linalg.norm(x.advance() - x.tokens, axis=1).max()


SIGN = Conjecture("5T a layer commutes with the sign", "attention-map", holds_if=turned_over, **true)
WAY = Conjecture(
    "5T no token goes farther than twice alpha times the norm of V",
    "attention-map",
    (Symmetric(V), PositiveDefinite(V)),
    holds_if=twice_the_way,
    n=[2],
    d=[2],
    **true,
)
