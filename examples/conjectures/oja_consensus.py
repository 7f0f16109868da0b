"""True: principal consensus of the Oja map is stable exactly below the flip threshold (PM-L4)."""

import sympy as sp

from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import Iff, Stable
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, alpha, d, matrix, n

V = matrix("V")

threshold = Conjecture(
    name="principal consensus is stable exactly below the flip threshold",
    system="oja-map",
    conditions=[Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0), Relation(n >= 2)],
    claims=[Iff(Stable(ConsensusAt(V, 1)), Relation(alpha * (sp.Abs(Eigenvalue(V, d)) - Eigenvalue(V, 1)) < 2))],
    expect="survives",
)
