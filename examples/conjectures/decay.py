"""False: "with sym(W) positive definite and B = -I the tokens of the Euclidean flow decay": a ring of three grows for ever."""

from eigentoken.lab import *

B, W = matrix("B"), matrix("W")

decay = Conjecture(
    name="tokens decay where scores are positive and values negative",
    system="token-flow",
    conditions=[IsIdentity(-B), PositiveDefinite(W)],
    claims=[Converges(Zero())],
    expect="refuted",
)
