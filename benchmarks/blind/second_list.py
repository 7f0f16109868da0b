"""A second list of a theorist's conjectures, true and false: masks, heads, Euclidean flows, 2-cycles, ellipsoids, functions."""

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
    SpectrumIs,
    Stable,
    TwoCycle,
    Unstable,
)
from eigentoken.theory.language.conditions import (
    BoundedInTime,
    InHemisphere,
    IsIdentity,
    NegativeDefinite,
    NoneOpposite,
    Nonsingular,
    NotAllZero,
    PositiveDefinite,
    Relation,
    SharesTopEigenvector,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.observables import Observable, dot, oja_potential
from eigentoken.theory.language.observables_attention import cosine_gap, pair_form
from eigentoken.theory.language.places import (
    AntipodalAt,
    BipartiteAt,
    ConsensusAt,
    ConsensusSet,
    Hemisphere,
    SomeEquilibrium,
    Zero,
)
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, alpha, d, ell, k, matrix, n, p, q

U, V, M, P, W, B, F, Q, K = (matrix(name) for name in "UVMPWBFQK")
TOP = (Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0))
SEVERAL = Relation(n >= 2)
SMALL = Relation(alpha * SpectralNorm(V) < 1)
true, false = {"expect": "survives"}, {"expect": "refuted"}


def distance(scalars, system, parameters, x, mask):
    gap = [a - b for a, b in zip(x[0], x[1], strict=True)]
    return dot(gap, gap)


first_gap = Observable("first-gap", r"|x_1 - x_2|^2", distance)


def rows_sum_to_one(x):
    """Also with a mask, a row of weights sums to 1."""
    return np.allclose(x.attention().sum(axis=1), 1)


def closer(x):
    """One layer brings two tokens closer to each other."""
    moved = x.advance()
    return np.linalg.norm(moved[0] - moved[1]) <= np.linalg.norm(x.tokens[0] - x.tokens[1]) + 1e-12


# --- false -----------------------------------------------------------------------------------------------------------
POSITIVE_FLOW = Conjecture(
    "positive definite V: the Oja flow agrees from every start",
    "oja-flow",
    (Symmetric(V), PositiveDefinite(V)),
    Converges(ConsensusSet()),
    **false,
)
CAUSAL_SPECTRUM = Conjecture(
    "a causal mask does not change the spectrum at consensus",
    "attention-map",
    TOP,
    SpectrumIs(
        ConsensusAt(V, 1),
        (
            ((1 + alpha * Eigenvalue(V, ell)) / (1 + alpha * Eigenvalue(V, 1)), 1),
            (1 / (1 + alpha * Eigenvalue(V, 1)), (n - 1) * (d - 1)),
        ),
    ),
    mask="causal",
    **false,
)
CYCLE = Conjecture(
    "consensus on an eigenvector with a negative eigenvalue is a 2-cycle",
    "oja-map",
    (Symmetric(V), Relation(Eigenvalue(V, k) < 0)),
    TwoCycle(ConsensusAt(V, k)),
    **false,
)
EVEN_SPLIT = Conjecture(
    "positive definite M makes even splits on the principal vector stable",
    "attention-flow",
    (*TOP, PositiveDefinite(M), Relation(sp.Eq(p, q))),
    Stable(BipartiteAt(V, 1)),
    **false,
)
NEAREST = Conjecture(
    "for V = I tokens 1 and 2 never move apart",
    "attention-flow",
    (IsIdentity(V), SEVERAL),
    Decreases(first_gap),
    **false,
)
ROTARY = Conjecture(
    "rotary: negative definite B makes all tokens vanish",
    "rotary-flow",
    (NegativeDefinite(B),),
    Converges(Zero()),
    **false,
)
FORMS = Conjecture(
    "pair forms shrink for negative definite A",
    "token-flow",
    (Symmetric(W * B.I), NegativeDefinite(W * B.I), SEVERAL),
    Decreases(pair_form),
    **false,
)
RESTS = Conjecture(
    "every start of the Oja map comes to rest",
    "oja-map",
    (Symmetric(V), SimpleTop(V), Nonsingular(V)),
    Converges(SomeEquilibrium()),
    **false,
)
HEADS = Conjecture(
    "heads that share their top eigenvector: consensus is stable for every step",
    "multihead-map",
    (SharesTopEigenvector("F"), SEVERAL),
    Stable(ConsensusAt(F, 1)),
    **false,
)
TRIANGLES = Conjecture(
    "V = I, no opposite tokens: consensus, with scores that vary in time",
    "attention-flow",
    (IsIdentity(V), BoundedInTime("M"), NoneOpposite()),
    Converges(ConsensusSet()),
    **false,
)
ELLIPSOID = Conjecture(
    "tokens on an ellipsoid agree from every start", "ellipsoid-flow", (), Converges(ConsensusSet()), **false
)
LAYER = Conjecture(
    "one layer brings two of three tokens closer",
    "oja-map",
    (Symmetric(V), PositiveDefinite(V), SMALL),
    holds_if=closer,
    n=[3],
    d=[2],
    **false,
)
CAUSAL_SPLIT = Conjecture(
    "with a causal mask no split is stable",
    "attention-map",
    (*TOP, SMALL),
    Unstable(BipartiteAt(V, 1)),
    mask="causal",
    **false,
)
MASKED_GAP = Conjecture(
    "a causal mask keeps the cosine gap from growing",
    "attention-flow",
    (IsIdentity(V), SEVERAL),
    Decreases(cosine_gap),
    mask="causal",
    **false,
)
GROWS = Conjecture(
    "indefinite W and positive definite B: some token grows",
    "token-flow",
    (Symmetric(B), PositiveDefinite(B), NotAllZero()),
    Diverges(),
    **false,
)
# --- true ------------------------------------------------------------------------------------------------------------
HALF_SPACE = Conjecture(
    "the hemisphere of the principal vector stays, for every step",
    "oja-map",
    (*TOP, InHemisphere(V)),
    ForwardInvariant(Hemisphere(V)),
    **true,
)
FIRST_TWO = Conjecture(
    "causal, U = I: token 2 comes closer to token 1",
    "causal-flow",
    (IsIdentity(U), SEVERAL),
    Decreases(first_gap),
    **true,
)
MASKED_SPECTRUM = Conjecture(
    "two causal tokens: spectrum at consensus of the flow",
    "attention-flow",
    TOP,
    SpectrumIs(
        ConsensusAt(V, 1),
        ((Eigenvalue(V, ell) - Eigenvalue(V, 1), 1), (Eigenvalue(V, ell) / 2 - Eigenvalue(V, 1), 1)),
    ),
    mask="causal",
    n=[2],
    **true,
)
LONG_STEPS = Conjecture(
    "steps beyond -1/lambda_k make consensus on v_k a 2-cycle",
    "oja-map",
    (Symmetric(V), Relation(alpha * Eigenvalue(V, k) < -1)),
    TwoCycle(ConsensusAt(V, k)),
    **true,
)
SHARED = Conjecture(
    "heads that share their top eigenvector: consensus is stable for steps below 1/|F|",
    "multihead-map",
    (SharesTopEigenvector("F"), Relation(alpha * SpectralNorm(F) < 1)),
    Stable(ConsensusAt(F, 1)),
    **true,
)
PAIRS_REST = Conjecture(
    "antipodal pairs rest on every ellipsoid", "ellipsoid-flow", (), Equilibrium(AntipodalAt()), **true
)
ALONE = Conjecture(
    "one causal token finds the principal vector, whatever its sign",
    "causal-flow",
    (Symmetric(U), SimpleTop(U)),
    AlmostEveryConverges(ConsensusAt(U, 1)),
    n=[1],
    **true,
)
GRADIENT = Conjecture("W decreases along the Oja flow", "oja-flow", (Symmetric(V),), Decreases(oja_potential), **true)
ONE_TOKEN = Conjecture(
    "one Euclidean token with Hurwitz B vanishes",
    "token-flow",
    (Relation(Eigenvalue(B, 1) < 0),),
    Converges(Zero()),
    n=[1],
    **true,
)
MASKED_ROWS = Conjecture(
    "masked rows sum to one",
    "attention-map",
    (),
    holds_if=rows_sum_to_one,
    mask=[[1, 0, 0], [1, 1, 0], [0, 1, 1]],
    d=[2],
    **true,
)
MASKED_STABLE = Conjecture(
    "causal mask: consensus is stable for steps below 2/|V|",
    "attention-map",
    (*TOP, SEVERAL, Relation(alpha * SpectralNorm(V) < 2)),
    Stable(ConsensusAt(V, 1)),
    mask="causal",
    **true,
)
FLOW_THRESHOLD = Conjecture(
    "multi-head flow: consensus is stable exactly for a positive top eigenvalue",
    "multihead-flow",
    (Symmetric(F), SimpleTop(F), SEVERAL, Relation(d >= 2)),
    Iff(Stable(ConsensusAt(F, 1)), Relation(Eigenvalue(F, 1) > 0)),
    **true,
)
EQUAL = Conjecture("equal tokens rest on every ellipsoid", "ellipsoid-flow", (), Equilibrium(ConsensusSet()), **true)
PLANE_LAYER = Conjecture(
    "one layer brings two tokens of the plane closer",
    "oja-map",
    (Symmetric(V), PositiveDefinite(V)),
    holds_if=closer,
    n=[2],
    d=[2],
    **true,
)
