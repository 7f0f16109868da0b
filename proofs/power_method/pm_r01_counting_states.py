"""PM-R1: how many consensus and bipartite states there are, and their pairing.  Reference: Li-Altafini, Remark 1."""

from __future__ import annotations

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_l01_oja_fixed_points import FLIPPED, flipped
from eigentoken.proofs.power_method.symbols import d, n
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.point_checks import signed_states
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement
from eigentoken.theory.statements.steps import Computation, Derivation, Identity

LARGEST = 10


def count_states() -> Verdict:
    """The signed states (sigma, v_k), listed as states: d 2^n of them, 2 d of them consensus, for n <= 10, d <= 3."""
    import itertools

    for size in range(1, LARGEST + 1):
        for dimension in range(1, 4):
            states = {
                tuple(tuple(sign * int(i == k) for i in range(dimension)) for sign in signs)
                for k in range(dimension)
                for signs in itertools.product((1, -1), repeat=size)
            }
            consensus = {state for state in states if len(set(state)) == 1}
            if len(states) != dimension * 2**size or len(consensus) != 2 * dimension:
                return fails(f"n = {size}, d = {dimension}: {len(states)} states, {len(consensus)} consensus")
    return holds(f"counted for all n <= {LARGEST}, d <= 3")


def derive() -> Derivation:
    """The count by listing, the pairing by oddness."""
    return Derivation(
        (
            Computation(
                name="count",
                says="Listing all states $x_i = \\sigma_iv_k$: $d\\,2^n$ of them, $2d$ of them consensus.",
                run=count_states,
                formula=r"\#\{(\sigma_1v_k, \dots, \sigma_nv_k)\} = d\,2^n",
                scope=f"n up to {LARGEST}, d up to 3",
            ),
            Identity(
                name="pairs",
                says="The global sign pairs them, since the map is odd (PM-R7): no state is its own negative.",
                left=d * 2**n / 2,
                right=d * 2 ** (n - 1),
                uses=("count",),
            ),
            recalled(
                "PM-R7",
                "the maps are odd",
                "If $x$ is a fixed point, so is $-x$.",
                r"f(-x) = -f(x)",
            ),
        )
    )


PM_R1 = register(
    Statement(
        id="PM-R1",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "Remark 1"),
        title="Counting consensus and bipartite states",
        systems=("oja-map",),
        text=(
            r"For a simple spectrum there are $d\,2^n$ signed states $x_i = \sigma_iv_k$, $2d$ of them consensus, "
            r"paired by the global sign. They are fixed points under the positivity conditions of PM-L1 only."
        ),
        depends=("PM-L1", "PM-R7"),
        derive=derive,
        prose_from=("pairs", "from PM-R7"),
        printed=Printed(
            text=r"For a given $k$ there are $2^n$ possible consensus or bipartite consensus equilibria.",
            wrong=r"Some of them may not be equilibria: the conditions $1 + \alpha\lambda_k > 0$ and "
            r"$\alpha|\lambda_k\delta| < 1$ are missing.",
            counterexamples=(
                Counterexample(
                    "2-cycle",
                    r"$V = \operatorname{diag}(\frac12, -1)$, $\alpha = 4.1$: neither $(v_2, v_2)$ nor $(-v_2, -v_2)$ "
                    r"is fixed.",
                    FLIPPED,
                    flipped,
                ),
            ),
        ),
        property_tests=(OnInstances(signed_states),),
    )
)
