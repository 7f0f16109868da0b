"""PM-T2: the Oja map: which consensus is stable, and where almost every start goes.

If ``lambda_2 > 0``, almost every start converges to principal consensus: every trajectory converges (PM-R3), every other fixed
point has a multiplier above 1, and the derivative is invertible everywhere (PM-DIFF).
Reference: Li-Altafini, Theorem 2 (the almost-everywhere claim is false for n = 2, lambda_2 < 0).
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_cx1_antipodal_tokens import TV9, attracting
from eigentoken.proofs.power_method.pm_diff_local_diffeomorphism import PM_DIFF
from eigentoken.proofs.power_method.pm_l04_consensus_stability import PM_L4
from eigentoken.proofs.power_method.pm_r03_oja_convergence import PM_R3
from eigentoken.proofs.power_method.principal_limits import AT_REST, principal_or_saddle
from eigentoken.proofs.power_method.symbols import V, alpha, d, k, lam, n
from eigentoken.proofs.steps.fixed_points import RESTS
from eigentoken.proofs.steps.saddle_theorems import STRICT_SADDLES
from eigentoken.proofs.steps.standing_assumption import ASSUMPTION_1
from eigentoken.proofs.steps.step_lengths import apart_from_zero
from eigentoken.theory.calculus import TOKENS, one
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Disjunction, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, VectorLetter
from eigentoken.theory.language.claims import AlmostEveryConverges, Stable, Unstable, When
from eigentoken.theory.language.conditions import Relation, SimpleTop
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import SpectralNorm
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    Source,
    Statement,
    Variant,
)

_NORM = SpectralNorm(V)
_SECOND = proposition(lam(V, 2) > 0)
CLAIMS = (
    Stable(ConsensusAt(V, 1)),
    When(Relation(lam(V, k) < lam(V, 1)), Unstable(ConsensusAt(V, k))),
    Formula(AT_REST),
    When(Relation(lam(V, 2) > 0), AlmostEveryConverges(ConsensusAt(V, 1))),
)


def _consensus(kernel: Kernel) -> tuple[Proved, Proved]:
    """PM-L4: the step is below the threshold, and every other consensus on an eigenvector is fixed."""
    known = kernel.recall(PM_L4)
    stable, others = (kernel.part(known, each) for each in known.proposition.parts)
    norm = kernel.norm_of_symmetric(V)
    extreme, every = (kernel.part(norm, each) for each in norm.proposition.parts)
    short, positive = kernel.given(alpha * _NORM < sp.Rational(1, 2)), kernel.given(lam(V, 1) > 0)
    below = kernel.arithmetic([extreme, short, positive], stable.proposition.right)
    lower = kernel.assume(lam(V, k) < lam(V, 1))
    index = kernel.at(every, k, kernel.given(k <= d), kernel.given(sp.Ge(k, 1, evaluate=False)))
    fixed = kernel.arithmetic([index, short, lower], others.proposition.left)
    unstable = kernel.modus_ponens(others, fixed)
    return kernel.modus_ponens(stable, below), kernel.discharge(lower.proposition, unstable)


def proof(kernel: Kernel) -> Proved:
    """Every hypothesis of the theorem on strict saddles, at every state."""
    state = VectorLetter(STATE)
    second, rho = kernel.assume(_SECOND), (1 - alpha * _NORM) ** 2
    short = kernel.given(alpha * _NORM < sp.Rational(1, 2))
    apart = kernel.modus_ponens(apart_from_zero(kernel, one() / TOKENS), kernel.arithmetic([short], alpha * _NORM < 1))
    classified = principal_or_saddle(kernel)
    push, positive = AT_REST.left.parts[1].parts
    ready = kernel.conjunction(kernel.assume(RESTS), kernel.tautology([second], Disjunction((push, positive))))
    either = kernel.discharge(RESTS, kernel.modus_ponens(classified, ready))
    almost = kernel.textbook(
        STRICT_SADDLES,
        kernel.given(SimpleTop(V)),
        kernel.arithmetic([short], rho > 0),
        kernel.recall(PM_R3),
        *(kernel.generalise(state, each) for each in (apart, kernel.recall(PM_DIFF), either)),
        A=V,
        rho=rho,
    )
    return kernel.conjunction(*_consensus(kernel), classified, kernel.discharge(second.proposition, almost))


PM_T2 = register(
    Statement(
        id="PM-T2",
        kind=Kind.THEOREM,
        source=Source(LI_ALTAFINI, "Theorem 2"),
        title="The Oja map: stability and almost every start",
        systems=("oja-map",),
        conditions=(
            *ASSUMPTION_1,
            Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2)),
            Relation(n >= 2),
            Relation(d >= 2),
        ),
        claims=CLAIMS,
        depends=("PM-CX1", "PM-DIFF", "PM-L4", "PM-R3"),
        proof=proof,
        printed=Printed(
            text=(
                r"If $\alpha < \frac{1}{2\lVert V\rVert}$, principal consensus is asymptotically stable, all other "
                r"equilibria are unstable, and almost all trajectories converge to $v_1$ or $-v_1$."
            ),
            wrong=r"False for $n = 2$, $\lambda_2 < 0$: an open set of starts ends antipodal (PM-CX1).",
            counterexamples=(
                Counterexample(
                    "TV9",
                    r"$n = d = 2$, $V = \operatorname{diag}(1, -\frac12)$, $\alpha = \frac14 < \frac{1}{2\lVert "
                    r"V\rVert}$: the antipodal points attract an open set.",
                    TV9,
                    lambda: attracting(TV9, "7/8"),
                ),
            ),
        ),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"For $n \geq 3$ the condition $\lambda_2 > 0$ is not needed: a cross-ratio of four tokens, that the map changes "
                r"by summable losses, keeps almost every start from the states with half of the tokens at each of $\pm w$.",
            ),
        ),
        variants=(Variant("lambda_2 > 0", "n = 2, V = diag(1, -1/2): PM-CX1", lambda: attracting(TV9, "7/8")),),
    )
)
