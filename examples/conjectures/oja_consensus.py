"""True: principal consensus of the Oja map is stable exactly below the flip threshold (PM-L4)."""

from eigentoken.lab import *

V = matrix("V")

threshold = Conjecture(
    name="principal consensus is stable exactly below the flip threshold",
    system="oja-map",
    conditions=[Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0), Relation(n >= 2)],
    claims=[Iff(Stable(ConsensusAt(V, 1)), Relation(alpha * (Abs(Eigenvalue(V, d)) - Eigenvalue(V, 1)) < 2))],
    expect="survives",
)
