"""True, with room: a short step makes principal consensus of the Oja map stable (`strengthen` finds how much room)."""

from eigentoken.lab import *

V = matrix("V")

short_steps = Conjecture(
    name="short steps make principal consensus stable",
    system="oja-map",
    conditions=[
        Symmetric(V),
        SimpleTop(V),
        Relation(Eigenvalue(V, 1) > 0),
        Relation(alpha * SpectralNorm(V) < Rational(1, 2)),
    ],
    claims=[Stable(ConsensusAt(V, 1))],
    n=[2],
    d=[2],
    expect="survives",
)
