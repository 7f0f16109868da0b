"""PM-R10: a negative lambda_k does not make bipartite points unstable.  Reference: Li-Altafini, Remark 10 (false)."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_l14_bipartite_spectrum import LENGTHS, SPECTRUM, block
from eigentoken.proofs.power_method.pm_n03_stable_bipartite_criterion import D1, D2, DET, RANGE
from eigentoken.proofs.power_method.symbols import V, alpha, b1, k, kappa, lam, mu, p, q, score
from eigentoken.proofs.properties.exact_points import decimals, instance, multipliers, point_is
from eigentoken.proofs.steps.bipartite_criteria import BipartiteCriterion
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Unstable, When
from eigentoken.theory.language.conditions import AnyOf, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.language.terms import SpectralNorm
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Derivation, Identity, Inequality


def derive() -> Derivation:
    """A negative diagonal entry of the form of PM-N3 is a multiplier above 1."""
    z = sp.Symbol("z", real=True)
    found = block()
    trace, det = sp.symbols("T D", real=True)
    negative = sp.Or(DET < 0, D1 < 0, D2 < 0)
    one, two, off, form, first, second = sp.symbols("m_1 m_2 o Delta d_1 d_2", real=True)
    return Derivation(
        (
            recalled(
                "PM-L14",
                "the eigenvalues of B_l are real",
                "The multipliers of the two sides along $v_\\ell$ are the real eigenvalues of the block $B_\\ell$ of PM-L14.",
                r"z^2 - (\operatorname{tr}B_\ell)\,z + \det B_\ell = 0",
            ),
            Identity(
                name="value at one",
                says="As in PM-N3, up to $m_1m_2 > 0$ the characteristic polynomial of $B_1$ (direction $v_1$, $\\mu = "
                "\\alpha\\lambda_1$) at 1 is the determinant of $\\kappa\\operatorname{diag}(b_1,b_2) - \\mu S$.",
                left=(1 - found.trace() + found.det()).subs(LENGTHS)
                * (1 + kappa * b1)
                * (1 + kappa * sp.Symbol("b_2", real=True)),
                right=DET,
            ),
            Inequality(
                name="nonnegative scores",
                says="If $s \\geq 0$ and $p \\geq q$, then $b_1 \\geq 0$, and $\\lambda_k < 0 < \\lambda_1$ makes the "
                "first diagonal entry negative.",
                hypotheses=(*RANGE, kappa < 0, mu > 0, b1 >= 0),
                conclusion=D1 < 0,
            ),
            Inequality(
                name="small modulus",
                says="If $|\\lambda_k| \\leq \\lambda_1$, one of the three numbers is negative whatever the heights "
                "are.",
                hypotheses=(*RANGE, kappa < 0, mu > 0, -kappa <= mu),
                conclusion=negative,
            ),
            Identity(
                name="trace",
                says="With the diagonal entries $d_i = \\kappa b_i - \\mu\\frac{1+b_i}2$ of that form and the trace "
                "$T$ of $B_1$, $2 - T$ is a sum of both over $m_i$.",
                left=2 - found.trace().subs(LENGTHS),
                right=D1 / (1 + kappa * b1) + D2 / (1 + kappa * sp.Symbol("b_2", real=True)),
            ),
            Inequality(
                name="not semidefinite",
                says="So if a diagonal entry or the determinant $\\Delta = d_1d_2 - o$, $o \\geq 0$, is negative, then "
                "$\\Delta < 0$ or $2 - T < 0$.",
                hypotheses=(
                    one > 0,
                    two > 0,
                    off >= 0,
                    sp.Eq(form, first * second - off),
                    sp.Or(first < 0, second < 0, form < 0),
                ),
                conclusion=sp.Or(form < 0, first / one + second / two < 0),
                uses=("value at one", "trace", "nonnegative scores", "small modulus"),
            ),
            Inequality(
                name="a root above 1",
                says="That is $1 - T + D < 0$ or $T > 2$, and then the larger root $z \\geq T/2$ of $z^2 - Tz + D$ "
                "(the roots are real by PM-L14) is above 1.",
                hypotheses=(sp.Eq(z**2 - trace * z + det, 0), z >= trace / 2, sp.Or(1 - trace + det < 0, trace > 2)),
                conclusion=z > 1,
                uses=("not semidefinite", "from PM-L14"),
                needs=("the eigenvalues of B_l are real",),
            ),
        )
    )


TV7A = instance(
    "attention-map",
    [["0", "1"]] * 2 + [["0", "-1"]] * 2,
    V=[["1", "0"], ["0", "-2"]],
    M=[["0", "0"], ["0", "-ln(3)"]],
    alpha="1/4",
)
TV7B = instance(
    "attention-map",
    [["0", "1"]] * 2 + [["0", "-1"]] * 2,
    V=[["1", "0"], ["0", "-2"]],
    M=[["1", "0"], ["0", "-2"]],
    alpha="1/4",
)

NONNEGATIVE_SCORE, NOT_LARGER = Relation(score(k) >= 0), Relation(sp.Abs(lam(V, k)) <= lam(V, 1))


def proof(kernel: Kernel) -> Proved:
    """Along ``v_1`` a root of the pair is outside, in either case."""
    return BipartiteCriterion(kernel, SPECTRUM).on_negative(NONNEGATIVE_SCORE, NOT_LARGER)


PM_R10 = register(
    Statement(
        id="PM-R10",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "Remark 10"),
        title="Bipartite points on negative eigenvalues",
        systems=("attention-map",),
        conditions=(
            Symmetric(V),
            SimpleTop(V),
            Relation(lam(V, 1) > 0),
            Relation(p >= q),
            Relation(alpha * SpectralNorm(V) < 1),
            Relation(lam(V, k) < 0),
        ),
        claims=(
            When(
                AnyOf((NONNEGATIVE_SCORE, NOT_LARGER)),
                Unstable(BipartiteAt(V, k)),
            ),
        ),
        depends=("PM-L14", "PM-N3"),
        derive=derive,
        proof=proof,
        printed=Printed(
            text=r"If $\lambda_k < 0$ is an eigenvalue of $V$, the associated bipartite equilibria are unstable.",
            wrong=r"This presumes $b_i > 0$; with $s < 0$ both $b_i$ are negative and $\lambda_kb_i > 0$.",
            counterexamples=(
                Counterexample(
                    "TV7a",
                    r"$V = \operatorname{diag}(1, -2)$, $M = \operatorname{diag}(0, -\ln 3)$, $k = 2$, $p = q = 2$, "
                    r"$\alpha = \frac14$: multipliers $\frac47, \frac57, \frac57, \frac{25}{28}$.",
                    TV7A,
                    lambda: point_is(TV7A, "bipartite", stable="stable"),
                ),
                Counterexample(
                    "TV7b",
                    r"The natural choice $M = V = \operatorname{diag}(1, -2)$ is stable as well.",
                    TV7B,
                    lambda: point_is(TV7B, "bipartite", stable="stable"),
                ),
            ),
        ),
        vectors=(
            Vector("TV7a", lambda: multipliers(TV7A), decimals("4/7", "5/7 * 2", "25/28")),
            Vector(
                "TV7b",
                lambda: multipliers(TV7B),
                decimals("0.512136331040234", "0.674757554026823 * 2", "0.843446942533528"),
            ),
        ),
        variants=(
            Variant(
                "s >= 0 or |lambda_k| <= lambda_1",
                "TV7a: s = -ln 3, lambda_2 = -2, lambda_1 = 1, stable",
                lambda: point_is(TV7A, "bipartite", stable="stable"),
            ),
        ),
    )
)
