"""False for three tokens: "causal tokens, none opposite to the first, reach consensus" (Theorem 5.1 as printed)."""

from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.claims import Converges
from eigentoken.theory.conditions import BoundedInTime, Relation
from eigentoken.theory.points import ConsensusSet
from eigentoken.theory.terms import d, matrix
from eigentoken.theory.words_flows import IsIdentity
from eigentoken.theory.words_lab import NoneOpposite

domain = Conjecture(
    name="causal tokens that are not opposite to the first reach consensus",
    system="causal-flow",
    conditions=[IsIdentity(matrix("U")), BoundedInTime("P"), NoneOpposite(), Relation(d >= 2)],
    claims=[Converges(ConsensusSet())],
    expect="refuted",
)
