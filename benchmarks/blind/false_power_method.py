"""What the sheet of the power-method paper marks FALSE, as conjectures without its numbers."""

import sympy as sp

from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import (
    AlmostEveryConverges,
    AttentionRank,
    Converges,
    Decreases,
    Equilibrium,
    Iff,
    SpectrumIs,
    Stable,
    Unstable,
)
from eigentoken.theory.language.conditions import (
    AllOf,
    NonPrincipalModulusBelow,
    Nonsingular,
    Not,
    Relation,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.observables import oja_potential
from eigentoken.theory.language.places import AntipodalAt, BipartiteAt, Clustering, ConsensusAt, ConsensusSet, Polygonal
from eigentoken.theory.language.terms import (
    Eigenvalue,
    ScoreAtEigenvector,
    SpectralNorm,
    alpha,
    d,
    ell,
    k,
    matrix,
    n,
    p,
    q,
)

V, M, F = (matrix(name) for name in "VMF")
A1 = (Symmetric(V), SimpleTop(V), Nonsingular(V), Relation(Eigenvalue(V, 1) > 0))
SMALL = Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2))
BELOW = Relation(alpha * SpectralNorm(V) < 1)
SEVERAL = Relation(n >= 2)
step = alpha * Eigenvalue(V, 1)
other = alpha * Eigenvalue(V, ell)
s = ScoreAtEigenvector(M, V, 1)


def on_an_eigenvector(x):
    """An equilibrium (w, ..., -w, ...) has V w parallel to w."""
    if not x.is_equilibrium():
        return True
    w, image = x.tokens[0], x.V @ x.tokens[0]
    return abs(image[0] * w[1] - image[1] * w[0]) < 1e-9


def singular_means_rest(x):
    """A(x) (x) V - lambda_1 I is singular at every state: the proposition says that every state is an equilibrium."""
    return x.is_equilibrium()


refuted = {"expect": "refuted"}
L1_CONSENSUS = Conjecture("PM-L1 consensus", "oja-map", A1, Equilibrium(ConsensusAt(V, k)), **refuted)
L1_BIPARTITE = Conjecture("PM-L1 bipartite", "oja-map", A1, Equilibrium(BipartiteAt(V, k)), **refuted)
R1 = Conjecture(
    "PM-R1 on an eigenvector", "oja-map", A1, holds_if=on_an_eigenvector, at=AntipodalAt(), d=[2], n=[2, 4], **refuted
)
L2 = Conjecture(
    "PM-L2 truncated spectrum",
    "oja-map",
    A1,
    SpectrumIs(
        ConsensusAt(V, 1),
        (((1 + other) * (1 - step + step**2), 1), (1 - step + step**2, (n - 1) * (d - 1))),
    ),
    **refuted,
)
L4 = Conjecture("PM-L4 any step", "oja-map", (*A1, SEVERAL), Stable(ConsensusAt(V, 1)), **refuted)
L5 = Conjecture("PM-L5 any split", "oja-map", (*A1, SMALL), Unstable(BipartiteAt(V, k)), **refuted)
L6 = Conjecture("PM-L6", "oja-map", (*A1, SMALL), Unstable(Polygonal()), **refuted)
L7 = Conjecture("PM-L7 any step", "oja-map", A1, Decreases(oja_potential), **refuted)
L7_NORM = Conjecture(
    "PM-L7 step below 2/|V|",
    "oja-map",
    (*A1, Relation(alpha * SpectralNorm(V) < 2)),
    Decreases(oja_potential),
    **refuted,
)
T2 = Conjecture("PM-T2 almost every start", "oja-map", (*A1, SMALL), AlmostEveryConverges(ConsensusAt(V, 1)), **refuted)
R6 = Conjecture("PM-R6 one cluster", "attention-map", (*A1, SMALL), Equilibrium(ConsensusSet()), **refuted)
P1 = Conjecture("PM-P1 singular means rest", "attention-map", A1, holds_if=singular_means_rest, **refuted)
L8 = Conjecture("PM-L8 bipartite", "attention-map", A1, Equilibrium(BipartiteAt(V, k)), **refuted)
L9 = Conjecture("PM-L9 rank 2", "attention-map", (*A1, SMALL), AttentionRank(BipartiteAt(V, k), 2), **refuted)
L9_M = Conjecture("PM-L9 rank m", "attention-map", A1, AttentionRank(Clustering(), n), n=[3], d=[2], **refuted)
T3 = Conjecture(
    "PM-T3 necessary",
    "attention-map",
    (*A1, BELOW, Relation(p >= q)),
    Iff(
        Stable(BipartiteAt(V, 1)),
        AllOf(
            (
                Relation(s > sp.log(p / q) / 2),
                Relation(Eigenvalue(V, 2) * sp.sinh(2 * s) < Eigenvalue(V, 1) * (sp.cosh(2 * s) - (p / q + q / p) / 2)),
            )
        ),
    ),
    **refuted,
)
L15 = Conjecture("PM-L15", "attention-map", (*A1, SMALL), Unstable(Polygonal()), **refuted)
R10 = Conjecture(
    "PM-R10", "attention-map", (*A1, SMALL, Relation(Eigenvalue(V, k) < 0)), Unstable(BipartiteAt(V, k)), **refuted
)
ANY_K = Conjecture(
    "2.1.1 only on the principal vector",
    "attention-map",
    (*A1, SMALL, Relation(k > 1)),
    Unstable(BipartiteAt(V, k)),
    **refuted,
)
N1 = Conjecture(
    "2.1.1 any F with a dominant real part",
    "multihead-map",
    (SimpleTop(F), Relation(Eigenvalue(F, 1) > 0), SEVERAL),
    Stable(ConsensusAt(F, 1)),
    **refuted,
)
N1_COMPLEX = Conjecture(
    "2.1.1 any F, bounded step",
    "multihead-map",
    (SimpleTop(F), Not(Symmetric(F)), Relation(Eigenvalue(F, 1) > 0), SEVERAL, Relation(alpha * SpectralNorm(F) < 2)),
    Stable(ConsensusAt(F, 1)),
    **refuted,
)
N4 = Conjecture(
    "2.1.1 any step, almost every start", "oja-map", A1, AlmostEveryConverges(ConsensusAt(V, 1)), n=[3], **refuted
)
RARE = Conjecture(
    "D.4.2 bipartite points never attract",
    "attention-map",
    (*A1, SMALL, NonPrincipalModulusBelow(V)),
    AlmostEveryConverges(ConsensusAt(V, 1)),
    n=[2, 3],
    **refuted,
)
EVERY = Conjecture("every start converges", "oja-map", (*A1, SMALL), Converges(ConsensusAt(V, 1)), **refuted)
CT7 = Conjecture("CT-7 polygonal points of the flow", "attention-flow", A1, Unstable(Polygonal()), **refuted)
