"""PM-N3: when is a bipartite point of the attention map stable?  A closed form, necessary and sufficient.

With ``b_1 = tanh(s+t)``, ``b_2 = tanh(s-t)``, ``h = b_1 b_2 / bbar``: for ``alpha |V| < 1`` the point on v_k is stable iff k = 1,
s > 0, ``lambda_2 < lambda_1 h`` and (q = 1 or s > t), or k = d with lambda_d simple and negative, s < -t and
``lambda_1 < |lambda_d| |h|``.  New here; it replaces the sufficient conditions of Li-Altafini, Theorem 3.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.bipartite_examples import (
    GAP_TOO_SMALL,
    ON_THE_BOUNDARY,
    SCORE_NEGATIVE,
    SIDE_EXPANDS,
    harmonic_height,
)
from eigentoken.proofs.power_method.pm_l14_bipartite_spectrum import LENGTHS, SPECTRUM, block
from eigentoken.proofs.power_method.symbols import (
    E,
    S,
    T,
    V,
    alpha,
    b1,
    b2,
    bbar,
    d,
    k,
    kappa,
    lam,
    m1,
    m2,
    mu,
    p,
    q,
    score,
)  # fmt: skip
from eigentoken.proofs.properties.exact_points import decimals, instance, multipliers, point_is
from eigentoken.proofs.steps.bipartite_criteria import BipartiteCriterion
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Iff, Stable, Unstable, When
from eigentoken.theory.language.conditions import AllOf, AnyOf, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.language.terms import SpectralNorm, t_split
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Derivation, Identity, Inequality

#: Diagonal entries and determinant of ``kappa diag(b) - mu S``, on which everything rests.
D1, D2 = kappa * b1 - mu * (1 + b1) / 2, kappa * b2 - mu * (1 + b2) / 2
DET = (kappa - mu) * (kappa * b1 * b2 - mu * bbar)
BELOW_ONE = (DET > 0, D1 > 0, D2 > 0)
RANGE = (b1 > -1, b1 < 1, b2 > -1, b2 < 1)


def reduction_steps() -> tuple[Identity | Inequality, ...]:
    """All multipliers of B_l are below 1 iff ``kappa diag(b) - mu S`` is positive definite."""
    found = block()
    z1, z2 = sp.symbols("z_1 z_2", real=True)
    one, two, off, det = sp.symbols("d_1 d_2 o D", real=True)
    lengths = (m1 > 0, m2 > 0)
    return (
        Identity(
            name="trace",
            says="With $\\kappa = \\alpha\\lambda_k$, $\\mu = \\alpha\\lambda_\\ell$ and "
            "$d_i = \\kappa b_i - \\mu\\frac{1+b_i}{2}$, the diagonal of "
            "$\\kappa\\operatorname{diag}(b_1,b_2) - \\mu S$.",
            left=2 - found.trace().subs(LENGTHS),
            right=D1 / (1 + kappa * b1) + D2 / (1 + kappa * b2),
        ),
        Identity(
            name="determinant",
            says="The determinant of $\\kappa\\operatorname{diag}(b_1,b_2) - \\mu S$, where $S_{12}^2 = "
            "\\frac14(1-b_1)(1-b_2)$.",
            left=D1 * D2 - mu**2 * (1 - b1) * (1 - b2) / 4,
            right=DET,
        ),
        Identity(
            name="value at one",
            says="It is, up to $m_1m_2 > 0$, the characteristic polynomial of $B_\\ell$ at 1 (PM-L14).",
            left=(1 - found.trace() + found.det()).subs(LENGTHS) * (1 + kappa * b1) * (1 + kappa * b2),
            right=DET,
        ),
        Inequality(
            name="two real roots",
            says="Two real numbers are below 1 iff $(1-z_1)(1-z_2) > 0$ and $z_1 + z_2 < 2$.",
            hypotheses=((1 - z1) * (1 - z2) > 0, z1 + z2 < 2),
            conclusion=sp.And(z1 < 1, z2 < 1),
        ),
        Inequality(
            name="two real roots, converse",
            says="The converse.",
            hypotheses=(z1 < 1, z2 < 1),
            conclusion=sp.And((1 - z1) * (1 - z2) > 0, z1 + z2 < 2),
        ),
        Inequality(
            name="definite",
            says="With $D = d_1d_2 - o > 0$, $o \\geq 0$, the sum $d_1/m_1 + d_2/m_2$ is positive iff both $d_i$ "
            "are: all "
            "multipliers of $B_\\ell$ are below 1 iff $\\kappa\\operatorname{diag}(b) - \\mu S \\succ 0$, "
            "independently of $\\alpha$.",
            hypotheses=(*lengths, off >= 0, sp.Eq(det, one * two - off), det > 0, one / m1 + two / m2 > 0),
            conclusion=sp.And(one > 0, two > 0),
            uses=("trace", "determinant", "value at one", "two real roots", "two real roots, converse"),
            establishes=("multipliers below 1 iff the form is definite",),
        ),
        Inequality(
            name="definite, converse",
            says="Positive diagonal entries give a positive sum.",
            hypotheses=(*lengths, one > 0, two > 0),
            conclusion=one / m1 + two / m2 > 0,
            uses=("definite",),
        ),
        Inequality(
            name="class 3",
            says="The multiplier $1/m_i$ of a side with at least two tokens is below 1 iff $\\kappa b_i > 0$.",
            hypotheses=(1 + kappa * b1 > 0, 1 / (1 + kappa * b1) < 1),
            conclusion=kappa * b1 > 0,
        ),
        Inequality(
            name="class 3, converse",
            says="The converse.",
            hypotheses=(kappa * b1 > 0,),
            conclusion=sp.And(1 / (1 + kappa * b1) < 1, 1 / (1 + kappa * b1) > -1),
        ),
    )


def above_minus_one() -> tuple[Inequality, ...]:
    """For ``alpha |V| < 1`` no multiplier reaches -1: ``2 I + kappa diag(b) + mu S`` is positive definite."""
    up1, up2 = 2 + kappa * b1 + mu * (1 + b1) / 2, 2 + kappa * b2 + mu * (1 + b2) / 2
    small = (kappa > -1, kappa < 1, mu > -1, mu < 1)
    return (
        Inequality(
            name="above -1: diagonal",
            says="For $\\alpha\\lVert V\\rVert < 1$, that is $|\\kappa|, |\\mu| < 1$: the diagonal entries of "
            "$2I + \\kappa\\operatorname{diag}(b) + \\mu S$ are positive.",
            hypotheses=(*RANGE, *small),
            conclusion=sp.And(up1 > 0, up2 > 0),
        ),
        Inequality(
            name="above -1: determinant",
            says="So is its determinant: no multiplier of $B_\\ell$ is at or below $-1$.",
            hypotheses=(*RANGE, *small),
            conclusion=up1 * up2 - mu**2 * (1 - b1) * (1 - b2) / 4 > 0,
        ),
    )


def first_eigenvector() -> tuple[Inequality, ...]:
    """k = 1: ``kappa > 0`` and ``mu < kappa`` for every other eigenvalue."""
    second = sp.Symbol("mu_2", real=True)
    ordered = (kappa > 0, mu < kappa)
    return (
        Inequality(
            name="k = 1, necessary",
            says="On $v_1$ ($\\kappa > 0$, $\\mu < \\kappa$) definiteness forces $\\bar b > 0$ and $\\mu\\bar b < "
            "\\kappa b_1b_2$.",
            hypotheses=(*RANGE, *ordered, *BELOW_ONE),
            conclusion=sp.And(b1 + b2 > 0, mu * bbar < kappa * b1 * b2),
            uses=("definite",),
        ),
        Inequality(
            name="k = 1, sufficient",
            says="Conversely $\\bar b > 0$ and $\\lambda_2\\bar b < \\lambda_1b_1b_2$ give definiteness for every "
            "$\\lambda_\\ell \\leq \\lambda_2$.",
            hypotheses=(*RANGE, kappa > 0, second < kappa, mu <= second, b1 + b2 > 0, second * bbar < kappa * b1 * b2),
            conclusion=sp.And(*BELOW_ONE),
            uses=("definite",),
        ),
        Inequality(
            name="s > t implied",
            says="For $\\lambda_2 \\geq 0$ the inequality contains $b_1b_2 > 0$, that is $s > t$.",
            hypotheses=(*RANGE, kappa > 0, mu >= 0, b1 + b2 > 0, mu * bbar < kappa * b1 * b2),
            conclusion=sp.And(b1 > 0, b2 > 0),
        ),
    )


def other_eigenvectors() -> tuple[Inequality, ...]:
    """k != 1: the direction v_1 forces a negative lambda_k and negative heights; the others force k = d, simple."""
    top = sp.Symbol("mu_1", real=True)
    negative = (kappa < 0, b1 < 0, b2 < 0)
    return (
        Inequality(
            name="k > 1, direction v_1",
            says="On $v_k$ with $\\lambda_k < \\lambda_1$, take $\\ell = 1$: even positive semidefiniteness forces "
            "$\\lambda_k < 0$, "
            "$b_1, b_2 < 0$ and $|\\lambda_k| > \\lambda_1$.",
            hypotheses=(*RANGE, mu > 0, kappa < mu, DET >= 0, D1 >= 0, D2 >= 0),
            conclusion=sp.And(*negative, -kappa > mu),
            uses=("definite",),
        ),
        Inequality(
            name="k > 1, other directions",
            says="Then a smaller $\\lambda_\\ell < \\lambda_k$ makes the determinant negative: a multiplier above "
            "1. So "
            "$\\lambda_k$ is the smallest eigenvalue.",
            hypotheses=(*RANGE, *negative, mu < kappa),
            conclusion=DET < 0,
            uses=("k > 1, direction v_1",),
        ),
        Inequality(
            name="k > 1, repeated",
            says="An equal one makes it zero: for asymptotic stability $\\lambda_d$ must be simple.",
            hypotheses=(*RANGE, *negative, sp.Eq(mu, kappa)),
            conclusion=sp.Eq(DET, 0),
        ),
        Inequality(
            name="k = d, necessary",
            says="The determinant for $\\ell = 1$ then says $\\lambda_1 < |\\lambda_d|\\,|h|$, $h = b_1b_2/\\bar b$.",
            hypotheses=(*RANGE, mu > 0, kappa < mu, *BELOW_ONE),
            conclusion=mu * sp.Abs(bbar) < -kappa * b1 * b2,
            uses=("k > 1, direction v_1",),
        ),
        Inequality(
            name="k = d, sufficient",
            says="Conversely, negative heights, $\\lambda_d < \\lambda_\\ell \\leq \\lambda_1$ and this inequality "
            "give definiteness "
            "for every $\\ell$.",
            hypotheses=(*RANGE, *negative, top > 0, mu <= top, kappa < mu, -top * bbar < -kappa * b1 * b2),
            conclusion=sp.And(*BELOW_ONE),
            uses=("definite",),
        ),
    )


def in_s_and_t() -> tuple[Identity | Inequality, ...]:
    """The signs of the heights and their harmonic mean, in s and t."""
    first, second = (p * E**2 - q) / (p * E**2 + q), (q * E**2 - p) / (q * E**2 + p)
    return (
        Identity(
            name="harmonic mean",
            says="The harmonic mean of the heights $b_1 = \\tanh(s+t)$, $b_2 = \\tanh(s-t)$.",
            left=2 * sp.tanh(S + T) * sp.tanh(S - T) / (sp.tanh(S + T) + sp.tanh(S - T)),
            right=(sp.cosh(2 * S) - sp.cosh(2 * T)) / sp.sinh(2 * S),
        ),
        Identity(
            name="imbalance",
            says="The term $\\cosh 2t$ is a number of the split.",
            left=sp.cosh(2 * T),
            right=(p / q + q / p) / 2,
            where={T: sp.log(p / q) / 2},
        ),
        Identity(
            name="balanced",
            says="For $p = q$ the harmonic mean is $\\tanh s$.",
            left=((sp.cosh(2 * S) - 1) / sp.sinh(2 * S)),
            right=sp.tanh(S),
        ),
        Inequality(
            name="sign of s",
            says="With $E = e^s$: $\\bar b > 0$ forces $s > 0$.",
            hypotheses=(p >= q, first + second > 0),
            conclusion=E > 1,
        ),
        Inequality(
            name="sign of s, converse",
            says="Conversely $s > 0$ gives $\\bar b > 0$ and $b_1 > 0$, so that the side of $p \\geq q$ tokens "
            "contracts.",
            hypotheses=(p >= q, E > 1),
            conclusion=sp.And(first + second > 0, first > 0),
        ),
        Inequality(
            name="second side",
            says="$b_2 > 0$ iff $e^{2s} > p/q$, that is $s > t$.",
            hypotheses=(second > 0,),
            conclusion=p / q < E**2,
        ),
        Inequality(
            name="second side, converse",
            says="The converse.",
            hypotheses=(p / q < E**2,),
            conclusion=second > 0,
        ),
        Inequality(
            name="both negative",
            says="Both heights are negative iff $s < -t$.",
            hypotheses=(p >= q, first < 0, second < 0),
            conclusion=q / p > E**2,
        ),
        Inequality(
            name="both negative, converse",
            says="The converse.",
            hypotheses=(p >= q, q / p > E**2),
            conclusion=sp.And(first < 0, second < 0),
        ),
    )


def derive() -> Derivation:
    """From the block of PM-L14 to the criterion."""
    steps = (*reduction_steps(), *above_minus_one(), *first_eigenvector(), *other_eigenvectors(), *in_s_and_t())
    return Derivation(steps)


def harmonic(index: object) -> object:
    """``h(s, t)`` at v_index."""
    s = score(index)
    return (sp.cosh(2 * s) - (p / q + q / p) / 2) / sp.sinh(2 * s)


CRITERION_FIRST = AllOf(
    (
        Relation(score(1) > 0),
        Relation(sp.StrictLessThan(lam(V, 2), lam(V, 1) * harmonic(1), evaluate=False)),
        AnyOf((Relation(sp.Eq(q, 1)), Relation(score(1) > t_split))),
    )
)
CRITERION_LAST = AllOf(
    (
        Relation(lam(V, d) < 0),
        Relation(lam(V, d) < lam(V, d - 1)),
        Relation(score(d) < -t_split),
        Relation(sp.StrictLessThan(lam(V, 1), sp.Abs(lam(V, d)) * sp.Abs(harmonic(d)), evaluate=False)),
    )
)

BETWEEN = Relation(sp.And(lam(V, k) < lam(V, 1), lam(V, k) > lam(V, d)))


def proof(kernel: Kernel) -> Proved:
    """The spectrum of PM-L14 against the unit circle, by the sum and the product of its pairs of roots."""
    criterion = BipartiteCriterion(kernel, SPECTRUM)
    return kernel.conjunction(
        criterion.first(CRITERION_FIRST), criterion.last(CRITERION_LAST), criterion.between(BETWEEN)
    )


PM_N3 = register(
    Statement(
        id="PM-N3",
        kind=Kind.EXTENSION,
        source=Source(HERE, "sharpens Li-Altafini, Theorem 3"),
        title="Stable bipartite points: a criterion in closed form",
        systems=("attention-map",),
        conditions=(
            Symmetric(V),
            SimpleTop(V),
            Relation(lam(V, 1) > 0),
            Relation(d >= 2),
            Relation(p >= q),
            Relation(alpha * SpectralNorm(V) < 1),
        ),
        claims=(
            Iff(Stable(BipartiteAt(V, 1)), CRITERION_FIRST),
            Iff(Stable(BipartiteAt(V, d)), CRITERION_LAST),
            When(BETWEEN, Unstable(BipartiteAt(V, k))),
        ),
        depends=("PM-L9", "PM-L13", "PM-L14"),
        derive=derive,
        proof=proof,
        vectors=(
            Vector(
                "h for s = 1 and for s = ln 3, p = 2, q = 1",
                lambda: [harmonic_height(sp.Integer(1)), harmonic_height(sp.log(3))],
                ("0.692664014762819", "0.74375"),
            ),
            Vector("on the boundary", lambda: multipliers(ON_THE_BOUNDARY), decimals("9/10", "1")),
        ),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"Above, $s = v_k(V)^{\top}Mv_k(V)$ at the point on $v_k$ ($k = 1$ where no other $k$ is named), "
                r"$t = \frac12\ln\frac pq$ and $h = (\cosh 2s - \cosh 2t)/\sinh 2s$, where $\cosh 2t = \frac p{2q} + "
                r"\frac q{2p}$.",
            ),
        ),
        variants=(
            Variant(
                "lambda_2 < lambda_1 h",
                "p = q = 1, V = diag(1, 1/2), tanh s = 1/3 < 1/2: unstable",
                lambda: point_is(GAP_TOO_SMALL, "bipartite", stable="unstable"),
            ),
            Variant(
                "lambda_2 != lambda_1 h",
                "p = q = 1, V = diag(1, 1/2), tanh s = 1/2, alpha = 1/2: a multiplier is 1, the linearisation is silent",
                lambda: point_is(ON_THE_BOUNDARY, "bipartite", stable="marginal"),
            ),
            Variant(
                "s > 0",
                "p = q = 1, V = diag(1, 1/2), s = -ln 2: unstable",
                lambda: point_is(SCORE_NEGATIVE, "bipartite", stable="unstable"),
            ),
            Variant(
                "q = 1 or s > t",
                "p = 3, q = 2, V = diag(1, -9/10), 0 < s < t: the side of two tokens expands",
                lambda: point_is(SIDE_EXPANDS, "bipartite", stable="unstable"),
            ),
            Variant(
                "lambda_d simple",
                "V = diag(1, -2, -2), s = -ln 3, k = 3: a multiplier is 1",
                lambda: point_is(
                    instance(
                        "attention-map",
                        [["0", "0", "1"], ["0", "0", "-1"]],
                        V=[["1", "0", "0"], ["0", "-2", "0"], ["0", "0", "-2"]],
                        M=[["0", "0", "0"], ["0", "0", "0"], ["0", "0", "-ln(3)"]],
                        alpha="1/4",
                    ),
                    "bipartite",
                    stable="marginal",
                ),
            ),
            Variant(
                "s < -t",
                "V = diag(1, -2), s = ln 3, k = 2: unstable",
                lambda: point_is(
                    instance(
                        "attention-map",
                        [["0", "1"], ["0", "-1"]],
                        V=[["1", "0"], ["0", "-2"]],
                        M=[["0", "0"], ["0", "ln(3)"]],
                        alpha="1/4",
                    ),
                    "bipartite",
                    stable="unstable",
                ),
            ),
            Variant(
                "lambda_1 < |lambda_d||h|",
                "V = diag(1, -11/10), tanh s = -3/5, k = 2: unstable",
                lambda: point_is(
                    instance(
                        "attention-map",
                        [["0", "1"], ["0", "-1"]],
                        V=[["1", "0"], ["0", "-11/10"]],
                        M=[["0", "0"], ["0", "-ln(2)"]],
                        alpha="1/4",
                    ),
                    "bipartite",
                    stable="unstable",
                ),
            ),
            Variant(
                "alpha |V| < 1",
                "V = diag(1, -3), s = ln 3, alpha = 2: all other conditions hold, and a multiplier is below -1",
                lambda: point_is(
                    instance(
                        "attention-map",
                        [["1", "0"], ["-1", "0"]],
                        V=[["1", "0"], ["0", "-3"]],
                        M=[["ln(3)", "0"], ["0", "0"]],
                        alpha="2",
                    ),
                    "bipartite",
                    stable="unstable",
                ),
            ),
        ),
    )
)
