"""Open: for an even number n >= 4 of tokens and lambda_2 < 0, does almost every start reach principal consensus?"""

from eigentoken.lab import *

V = matrix("V")

even_tokens = Conjecture(
    name="four or six tokens reach principal consensus from almost every start",
    system="oja-map",
    conditions=[
        *(Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0), Relation(Eigenvalue(V, 2) < 0)),
        Relation(alpha * SpectralNorm(V) < Rational(1, 2)),
    ],
    claims=[AlmostEveryConverges(ConsensusAt(V, 1))],
    n=[4, 6],
)
