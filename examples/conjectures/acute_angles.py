"""Found by ``eigentoken explore attention-flow --about hemisphere``, and true: docs/survivors.md has the proof."""

from eigentoken.lab import *

V = matrix("V")

acute_flow = Conjecture(
    name="tokens at acute angles come closer, whatever they attend to (flow)",
    system="attention-flow",
    conditions=[IsIdentity(V), StartsIn(Acute())],
    claims=[Increases(smallest_product), ForwardInvariant(Acute())],
    expect="survives",
)

acute_map = Conjecture(
    name="tokens at acute angles come closer, whatever they attend to (map, any step)",
    system="attention-map",
    conditions=[IsIdentity(V), StartsIn(Acute())],
    claims=[Increases(smallest_product), ForwardInvariant(Acute())],
    expect="survives",
)
