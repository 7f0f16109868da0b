"""Open: for an even number n >= 4 of tokens and lambda_2 < 0, does almost every start reach principal consensus?"""

import sympy as sp

from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, alpha, matrix

V = matrix("V")

even_tokens = Conjecture(
    name="four or six tokens reach principal consensus from almost every start",
    system="oja-map",
    conditions=[
        *(Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0), Relation(Eigenvalue(V, 2) < 0)),
        Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2)),
    ],
    claims=[AlmostEveryConverges(ConsensusAt(V, 1))],
    n=[4, 6],
)
