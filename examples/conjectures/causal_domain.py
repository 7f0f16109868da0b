"""False for three tokens: "causal tokens, none opposite to the first, reach consensus" (Theorem 5.1 as printed)."""

from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import Converges
from eigentoken.theory.language.conditions import BoundedInTime, IsIdentity, NoneOpposite, Relation
from eigentoken.theory.language.places import ConsensusSet
from eigentoken.theory.language.terms import d, matrix

domain = Conjecture(
    name="causal tokens that are not opposite to the first reach consensus",
    system="causal-flow",
    conditions=[IsIdentity(matrix("U")), BoundedInTime("P"), NoneOpposite(), Relation(d >= 2)],
    claims=[Converges(ConsensusSet())],
    expect="refuted",
)
