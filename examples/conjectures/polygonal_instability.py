"""False: "polygonal points of the attention map are unstable" (Lemma 15 as printed)."""

import sympy as sp

from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import Unstable
from eigentoken.theory.language.conditions import Nonsingular, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import Polygonal
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, alpha, matrix

V = matrix("V")

polygonal = Conjecture(
    name="polygonal points of the attention map are unstable",
    system="attention-map",
    conditions=[
        *(Symmetric(V), SimpleTop(V), Nonsingular(V), Relation(Eigenvalue(V, 1) > 0)),
        Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2)),
    ],
    claims=[Unstable(Polygonal())],
    expect="refuted",
)
