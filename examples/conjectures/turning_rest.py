"""False: "almost every pair comes to rest", for values that turn but are no multiple of a rotation."""

from eigentoken.lab import *

V = matrix("V")
spiral = [Relation(Trace(V) > 0), Relation(Trace(V) ** 2 < 4 * Determinant(V)), Not(Commute(V, sym(V)))]

turning_rest = Conjecture(
    name="almost every pair comes to rest",
    system="oja-flow",
    conditions=spiral,
    claims=[AlmostEveryConverges(SomeEquilibrium())],
    n=[2],
    d=[2],
    expect="refuted",
)
