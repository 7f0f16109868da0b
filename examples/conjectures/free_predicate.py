"""False, with a free predicate: "a state where A(x) (x) V - lambda_1 I is singular is an equilibrium" (Proposition 1).

That matrix is singular at every state, since 1 is an eigenvalue of the attention matrix: so the claim is about all states.
"""

from eigentoken.lab import *

V = matrix("V")

singular_means_rest = Conjecture(
    name="states where the matrix of Proposition 1 is singular are equilibria",
    system="attention-map",
    conditions=[Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0)],
    holds_if=lambda instance: instance.is_equilibrium(),
    expect="refuted",
)
