"""False: "polygonal points of the attention map are unstable" (Lemma 15 as printed)."""

from eigentoken.lab import *

V = matrix("V")

polygonal = Conjecture(
    name="polygonal points of the attention map are unstable",
    system="attention-map",
    conditions=[
        *(Symmetric(V), SimpleTop(V), Nonsingular(V), Relation(Eigenvalue(V, 1) > 0)),
        Relation(alpha * SpectralNorm(V) < Rational(1, 2)),
    ],
    claims=[Unstable(Polygonal())],
    expect="refuted",
)
