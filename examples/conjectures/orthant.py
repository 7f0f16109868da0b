"""False: "a positive definite value matrix keeps tokens in the positive orthant"."""

from eigentoken.lab import *

V = matrix("V")

orthant = Conjecture(
    name="a positive definite value matrix keeps the positive orthant",
    system="oja-map",
    conditions=[Symmetric(V), PositiveDefinite(V)],
    given=lambda x: x.tokens.min(),  # not negative: the premise holds
    holds_if=lambda x: x.advance().min(),  # negative: so far is the next state outside
    n=[1],
    d=[2],
    expect="refuted",
)
