"""False for three tokens: "causal tokens, none opposite to the first, reach consensus" (Theorem 5.1 as printed)."""

from eigentoken.lab import *

domain = Conjecture(
    name="causal tokens that are not opposite to the first reach consensus",
    system="causal-flow",
    conditions=[IsIdentity(matrix("U")), BoundedInTime("P"), NoneOpposite(), Relation(d >= 2)],
    claims=[Converges(ConsensusSet())],
    expect="refuted",
)
