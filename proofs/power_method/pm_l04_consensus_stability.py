"""PM-L4: which consensus points of the Oja map are stable, and for which steps.

(a) Consensus at v_1 is stable iff ``alpha (|lambda_d| - lambda_1) < 2``.  (b) A consensus *fixed point* at
v_k with ``lambda_k < lambda_1`` is unstable for every step.  The multipliers come from PM-L3; what is left is real
arithmetic, both directions, shared with the other maps that have these multipliers (PM-L11, PM-T1).  Reference:
Li-Altafini, Lemma 4 (the printed wording of the non-principal case is about 2-cycles, PM-N4).
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_l03_consensus_spectrum import COMMON, ZERO_SUM
from eigentoken.proofs.properties.exact_points import instance, point_is
from eigentoken.proofs.properties.first_failures import FirstFailure, cycle_that_attracts
from eigentoken.proofs.steps.consensus_criteria import principal_and_others
from eigentoken.proofs.steps.reductions import consensus_multipliers
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Iff, Stable, Unstable, When
from eigentoken.theory.language.conditions import Condition, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, alpha, d, k, matrix, n
from eigentoken.theory.linearization.consensus_spectra import LAMBDA_K, LAMBDA_L
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import Kind, Printed, Source, Statement, Variant
from eigentoken.theory.statements.steps import Derivation, Inequality

V = matrix("V")
STEP_BELOW = Relation(alpha * (sp.Abs(Eigenvalue(V, d)) - Eigenvalue(V, 1)) < 2)


def lam(index: object) -> Eigenvalue:
    """``lambda_index(V)``."""
    return Eigenvalue(V, index)


CLAIMS = (
    Iff(Stable(ConsensusAt(V, 1)), STEP_BELOW),
    When(Relation(sp.And(1 + alpha * lam(k) > 0, lam(k) < lam(1))), Unstable(ConsensusAt(V, k))),
)

BELOW = "stable iff the step is below the threshold"
OTHERS = "consensus fixed points on other eigenvectors are unstable"


def consensus_steps(
    common: str, zero_sum: str, elsewhere: str, assuming: tuple[Condition, ...] = (), system: str = "oja-map"
) -> tuple[Inequality, ...]:
    """The multipliers (1 + alpha lambda_l)/(1 + alpha lambda_k) and 1/(1 + alpha lambda_k) against the unit circle.

    ``common`` and ``zero_sum`` name the steps that give them at v_1, ``elsewhere`` the one for common moves at any v_k.  The
    multipliers are those of the Jacobian of the ``system``.
    """
    first, other, last, kth = sp.symbols("lambda_1 lambda_ell lambda_d lambda_k", real=True)
    together, apart = consensus_multipliers(system)

    def multiplier(at: sp.Symbol, along: sp.Symbol) -> sp.Expr:
        return together.subs({LAMBDA_K: at, LAMBDA_L: along}, simultaneous=True)

    lone = apart.subs(LAMBDA_K, first)
    positive = (first > 0,)
    ordered = (*positive, last <= other, other < first)
    bound = alpha * (sp.Abs(last) - first) < 2
    return (
        Inequality(
            name="disagreement",
            says="The multiplier on zero-sum perturbations is below 1 in modulus.",
            hypotheses=positive,
            conclusion=sp.And(lone > 0, lone < 1),
            uses=(zero_sum,),
            assuming=assuming,
        ),
        Inequality(
            name="agreement above",
            says="A common perturbation along $v_\\ell$ has a multiplier below 1, since $\\lambda_1$ is simple.",
            hypotheses=ordered,
            conclusion=multiplier(first, other) < 1,
            uses=(common,),
            assuming=assuming,
        ),
        Inequality(
            name="agreement below",
            says="It is above $-1$ for every $\\ell$ when the step is below the threshold.",
            hypotheses=(*ordered, bound),
            conclusion=multiplier(first, other) > -1,
            uses=(common,),
            assuming=assuming,
        ),
        Inequality(
            name="threshold needed",
            says="Conversely, a multiplier above $-1$ at $\\ell = d$ forces the step below the threshold.",
            hypotheses=(*positive, last < first, multiplier(first, last) > -1),
            conclusion=bound,
            uses=("disagreement", "agreement above", "agreement below"),
            establishes=(BELOW,),
            assuming=assuming,
        ),
        Inequality(
            name="flip",
            says="At the threshold, where necessarily $\\lambda_d < -\\lambda_1$, the multiplier of $v_d$ is $-1$.",
            hypotheses=(*positive, last < first, sp.Eq(alpha * (sp.Abs(last) - first), 2)),
            conclusion=sp.Eq(multiplier(first, last), -1),
            uses=(common,),
            assuming=assuming,
        ),
        Inequality(
            name="other points",
            says="At a consensus fixed point on $v_k$ with $\\lambda_k < \\lambda_1$ the direction $v_1$ expands.",
            hypotheses=(1 + alpha * kth > 0, kth < first),
            conclusion=multiplier(kth, first) > 1,
            uses=(elsewhere,),
            establishes=(OTHERS,),
        ),
    )


def derive() -> Derivation:
    """The multipliers of PM-L3, at k = 1 and at the other consensus fixed points, against the unit circle."""
    return Derivation(
        (
            recalled(
                "PM-L3",
                COMMON,
                "Consensus at $v_1$ is fixed, and the multipliers on common perturbations are those of PM-L3;",
                r"\frac{1 + \alpha\lambda_\ell}{1 + \alpha\lambda_1},\quad \ell \geq 2",
                name="common",
                letters={"k": 1},
            ),
            recalled(
                "PM-L3",
                ZERO_SUM,
                "so is the one on zero-sum perturbations.",
                r"\frac{1}{1 + \alpha\lambda_1}",
                name="zero sum",
                letters={"k": 1},
            ),
            recalled(
                "PM-L3",
                COMMON,
                "At any $v_k$ that is fixed, those on common perturbations are",
                r"\frac{1 + \alpha\lambda_\ell}{1 + \alpha\lambda_k},\quad \ell \neq k",
                name="common, any k",
                assuming=(Relation(1 + alpha * Eigenvalue(V, k) > 0),),
            ),
            *consensus_steps("common", "zero sum", "common, any k"),
        )
    )


# -- in the kernel ----------------------------------------------------------------------------------------------------


def proof(kernel: Kernel) -> Proved:
    """(a) and (b), from the spectrum that the linearization engine proves."""
    return principal_and_others(kernel, V)


BEYOND = instance("oja-map", [["1", "0"]] * 3, V=[["1/2", "0"], ["0", "-1"]], alpha="41/10")

PM_L4 = register(
    Statement(
        id="PM-L4",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 4"),
        title="Stability of consensus for the Oja map",
        systems=("oja-map",),
        conditions=(
            Symmetric(V),
            SimpleTop(V),
            Relation(Eigenvalue(V, 1) > 0),
            Relation(n >= 2),
        ),
        claims=CLAIMS,
        proof=proof,
        depends=("PM-L3",),
        derive=derive,
        printed=Printed(
            text=r"Consensus on a non-principal eigenvector is unstable for $\alpha$ below the threshold, also "
            r"when $1 + \alpha\lambda_k < 0$.",
            wrong=r"No bound is needed where the point is fixed; for $1 + \alpha\lambda_k < 0$ it is a 2-cycle, "
            r"not an equilibrium (PM-N4).",
            false=False,
        ),
        variants=(
            Variant(
                "alpha (|lambda_d| - lambda_1) < 2",
                "lambda = (1/2, -1), threshold 4, at alpha = 41/10",
                lambda: point_is(BEYOND, "consensus", stable="unstable"),
            ),
            Variant(
                "1 + alpha lambda_k > 0",
                "consensus on v_d is then a 2-cycle, which can attract",
                FirstFailure(cycle_that_attracts),
            ),
        ),
    )
)
