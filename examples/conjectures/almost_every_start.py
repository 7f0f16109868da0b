"""False for two tokens: "almost every start of the Oja map reaches principal consensus" (Theorem 2 as printed)."""

from eigentoken.lab import *

V = matrix("V")

almost_every = Conjecture(
    name="almost every start reaches principal consensus",
    system="oja-map",
    conditions=[
        *(Symmetric(V), SimpleTop(V), Nonsingular(V), Relation(Eigenvalue(V, 1) > 0)),
        Relation(alpha * SpectralNorm(V) < Rational(1, 2)),
    ],
    claims=[AlmostEveryConverges(ConsensusAt(V, 1))],
    expect="refuted",
)
