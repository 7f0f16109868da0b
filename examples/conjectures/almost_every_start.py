"""False for two tokens: "almost every start of the Oja map reaches principal consensus" (Theorem 2 as printed)."""

import sympy as sp

from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import Nonsingular, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, alpha, matrix

V = matrix("V")

almost_every = Conjecture(
    name="almost every start reaches principal consensus",
    system="oja-map",
    conditions=[
        *(Symmetric(V), SimpleTop(V), Nonsingular(V), Relation(Eigenvalue(V, 1) > 0)),
        Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2)),
    ],
    claims=[AlmostEveryConverges(ConsensusAt(V, 1))],
    expect="refuted",
)
