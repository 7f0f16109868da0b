"""False: "principal consensus of the Oja map is stable for every step"."""

from eigentoken.lab import *

V = matrix("V")

any_step = Conjecture(
    name="principal consensus is stable for every step",
    system="oja-map",
    conditions=[Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0), Relation(n >= 2)],
    claims=[Stable(ConsensusAt(V, 1))],
    expect="refuted",
)
