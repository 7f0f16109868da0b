"""False: "principal consensus of the Oja map is stable for every step"."""

from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import Stable
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, matrix, n

V = matrix("V")

any_step = Conjecture(
    name="principal consensus is stable for every step",
    system="oja-map",
    conditions=[Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0), Relation(n >= 2)],
    claims=[Stable(ConsensusAt(V, 1))],
    expect="refuted",
)
