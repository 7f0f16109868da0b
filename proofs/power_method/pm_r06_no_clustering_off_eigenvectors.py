"""PM-R6: there is no 1-clustering off the eigenvectors.  Reference: Li-Altafini, Remark 6 (vacuous)."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_l01_oja_fixed_points import fixed_token
from eigentoken.proofs.power_method.pm_l08_attention_fixed_points import attention_push
from eigentoken.proofs.power_method.symbols import V, n
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import image, instance
from eigentoken.proofs.properties.point_checks import common_token
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement
from eigentoken.theory.statements.steps import Derivation


def derive() -> Derivation:
    """At a common value x the push is Vx, whatever the scores."""
    nu, omega, free = sp.symbols("nu omega nu'", real=True)
    return Derivation(
        (
            *fixed_token()[:1],
            grouped(
                "push",
                "At $x_1 = \\dots = x_n = \\hat x$ with $V\\hat x = \\nu\\hat x + \\omega e$, $e \\perp \\hat x$, the "
                "weights of a row sum to 1 and the push is $V\\hat x$, for any $n$ and any scores. Its tangential "
                "part vanishes only for $\\omega = 0$: $\\hat x$ is an eigenvector.",
                attention_push([(1, (1, 0)), (n - 1, (1, 0))], [[nu, omega], [omega, free]]),
                (nu, omega, nu, omega),
                r"u_i = <1>\,\hat x + <2>\,e",
                uses=("fixed: necessary",),
            ),
        )
    )


CLAIMED = instance(
    "attention-map", [["3/5", "4/5"]] * 2, V=[["1", "0"], ["0", "1/2"]], M=[["1", "2"], ["0", "1"]], alpha="1/2"
)


def moves() -> Verdict:
    """Two tokens at (3, 4)/5, no eigenvector of diag(1, 1/2): the step moves them."""
    from flint import arb, fmpq

    found = image(CLAIMED)[0]
    if found.overlaps(arb(fmpq(3, 5))):
        return fails("it does not move")
    return holds(f"the first coordinate 3/5 goes to {found.str(8)}")


PM_R6 = register(
    Statement(
        id="PM-R6",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "Remark 6"),
        title="No 1-clustering off the eigenvectors",
        systems=("attention-map",),
        conditions=(Symmetric(V),),
        text=(
            r"A state $x_1 = \dots = x_n = \hat x$ is an equilibrium of the attention map only if $\hat x$ is an "
            r"eigenvector of $V$: the rows of $A$ sum to 1, so $u_i = V\hat x$."
        ),
        depends=("PM-L8",),
        derive=derive,
        prose_from=("push",),
        printed=Printed(
            text=(
                r"A clustering equilibrium can be a consensus $x_i = \hat x$ with $\hat x$ not aligned with any "
                r"eigenvector of $V$ (a 1-clustering)."
            ),
            wrong=r"There are no such equilibria: the class is empty.",
            counterexamples=(
                Counterexample(
                    "an attempt",
                    r"$V = \operatorname{diag}(1, \frac12)$, $\hat x = (\frac35, \frac45)$, any scores: the tokens "
                    r"move.",
                    CLAIMED,
                    moves,
                ),
            ),
        ),
        property_tests=(OnInstances(common_token),),
    )
)
