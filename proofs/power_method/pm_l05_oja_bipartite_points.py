"""PM-L5: bipartite points of the Oja map: exact spectrum; unstable for p != q; for p = q linearly silent in one case.

Reference: Li-Altafini, Lemma 5 (false for p = q, see PM-CX1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.bipartite import bipartite_count, bipartite_moves, written_trace
from eigentoken.proofs.power_method.pm_cx1_antipodal_tokens import TV9, attracting
from eigentoken.proofs.power_method.pm_l01_oja_fixed_points import one_group_flips
from eigentoken.proofs.power_method.symbols import (
    LK,
    LL,
    V,
    alpha,
    b1,
    b2,
    d,
    delta,
    ell,
    k,
    lam,
    m1,
    m2,
    n,
    p,
    q,
)  # fmt: skip
from eigentoken.proofs.properties.exact_points import decimals, instance, multipliers, point_is
from eigentoken.proofs.steps.bipartite_spectra import bipartite_spectrum_of, first_or_other, outside_at, split
from eigentoken.proofs.steps.consensus_criteria import other_index
from eigentoken.proofs.steps.reductions import bipartite_block, claimed_spectrum, group_multipliers
from eigentoken.proofs.steps.standing_assumption import ASSUMPTION_1
from eigentoken.proofs.steps.textbook_maps import INTERMEDIATE_VALUE
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import FALSE, Exists, Implication, Negation, conjuncts, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import SpectrumIs, Unstable, When
from eigentoken.theory.language.conditions import AllOf, Relation, SimpleTop
from eigentoken.theory.language.places import BipartiteAt
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
    Vector,
)
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality, Step

MP, MM = 1 + alpha * LK * delta, 1 - alpha * LK * delta
SIZE = p + q
PHI = sp.Symbol("phi", real=True)


def block(eigenvalue: Any, m_plus: Any, m_minus: Any, share: Any) -> sp.Matrix:
    """The 2 x 2 block of the direction v_l, from the Jacobian; ``share`` is p/n, so that ``b_1 = 2 share - 1 = -b_2``."""
    found = bipartite_block("oja-map", {b1: 2 * PHI - 1, b2: 1 - 2 * PHI})
    letters = {LL: eigenvalue, m1: m_plus, m2: m_minus, PHI: share}
    return sp.Matrix(found.subs(letters, simultaneous=True))


def derive() -> Derivation:
    """The spectrum from the map; then a multiplier above 1 for p != q, first for k = 1, then for k != 1; then p = q."""
    return Derivation((*_spectrum(), *_unequal_sides(), *_equal_sides()))


def _spectrum() -> tuple[Step, ...]:
    """The multipliers of a side, the block of the two sides, and its trace, determinant and discriminant."""
    first = block(LL, MP, MM, p / SIZE)
    trace, determinant = first.trace(), first.det()
    return (
        *bipartite_moves(
            "oja-map",
            group_multipliers("oja-map", {m1: MP, m2: MM}),
            first,
            (
                "Two tokens at $v_k$ are moved along $\\xi$ and $-\\xi$, for any tangent $\\xi$.",
                "Likewise at $-v_k$.",
                "The sides are moved as wholes by $\\xi_1 v_\\ell$ and $\\xi_2 v_\\ell$: a $2 \\times 2$ block "
                "$B_\\ell$.",
            ),
            (
                r"\text{multiplier } <2>,\ p - 1 \text{ times for each } \ell",
                r"\text{multiplier } <2>,\ q - 1 \text{ times for each } \ell",
                r"\xi_1^+ = <2>, \qquad \xi_2^+ = <4>",
            ),
            ((), (), ("the blocks of the bipartite Jacobian",)),
            (MP, MM),
        ),
        bipartite_count(),
        claimed_spectrum(
            SPECTRUM,
            "oja-map",
            {lam(V, k): LK, lam(V, ell): LL},
            r"<1>\ [<2>\text{ times}],\quad <3>\ [<4>\text{ times}],\quad \operatorname{tr}B_\ell = <5>,\quad "
            r"\det B_\ell = <6>",
            uses=("sides", "count"),
        ),
        Identity(
            name="determinant",
            says="The determinant of $B_\\ell$.",
            left=determinant,
            right=(1 + alpha * LL) / (MP * MM),
            uses=("sides",),
        ),
        Identity(
            name="value at one",
            says="The characteristic polynomial of $B_\\ell$ at 1.",
            left=1 - trace + determinant,
            right=alpha**2 * delta**2 * LK * (LL - LK) / (MP * MM),
            uses=("sides",),
        ),
        Identity(
            name="real",
            says="The discriminant of $B_\\ell$ is a square plus a product of equal signs: all eigenvalues are real.",
            left=trace**2 - 4 * determinant,
            right=(first[0, 0] - first[1, 1]) ** 2 + 4 * alpha**2 * LL**2 * p * q / (SIZE**2 * MP * MM),
            uses=("sides",),
        ),
    )


def _unequal_sides() -> tuple[Step, ...]:
    """``p != q``: the block of v_1, or that of v_ell on v_1, has an eigenvalue above 1."""
    l1, share, bal, mp, mm = sp.symbols("lambda_1 phi delta m_+ m_-", real=True)
    small = alpha * LK * bal
    at_k1 = alpha**2 * bal**2 * l1 * (LL - l1) / ((1 + alpha * l1 * bal) * (1 - alpha * l1 * bal))
    other = block(l1, mp, mm, share)
    below = other.charpoly(sp.Symbol("z")).as_expr().subs(sp.Symbol("z"), 1 / mp)
    above = other.charpoly(sp.Symbol("z")).as_expr().subs(sp.Symbol("z"), 1 / mm)
    inside = (l1 > 0, share > 0, share < 1, mp > 0, mm > 0)
    return (
        Inequality(
            name="k = 1",
            says="On $v_1$ with $\\delta \\neq 0$ the value at 1 is negative for every $\\ell \\neq 1$.",
            hypotheses=(l1 > 0, l1 > LL, sp.Ne(bal, 0), 1 + alpha * l1 * bal > 0, 1 - alpha * l1 * bal > 0),
            conclusion=at_k1 < 0,
            uses=("value at one",),
            establishes=("the monic characteristic polynomial of B_l is negative at 1",),
        ),
        Citation(
            name="root above 1",
            says="So $B_\\ell$ has a real eigenvalue above 1: no token beyond the two sides is needed, $q = 1$ "
            "is covered.",
            theorem=INTERMEDIATE_VALUE,
            letters={"B": "B_l", "z": "1"},
            formula=r"\chi_\ell(1) < 0 \implies \text{a multiplier above } 1",
            uses=("k = 1", "real"),
            establishes=("B_l has a real eigenvalue above 1",),
        ),
        Inequality(
            name="k > 1, m+ smaller",
            says="On $v_k$, $k \\neq 1$, take $\\ell = 1$ and let $m_+ < m_-$, $\\varphi = p/n$: the "
            "characteristic polynomial "
            "is negative at $1/m_+$.",
            hypotheses=(*inside, mp < mm),
            conclusion=below < 0,
            uses=("sides",),
            establishes=("the monic characteristic polynomial of B_1, if m_+ < m_-, is negative at 1/m_+",),
        ),
        Citation(
            name="root above 1/m+",
            says="So $B_1$ has a real eigenvalue above $1/m_+$.",
            theorem=INTERMEDIATE_VALUE,
            letters={"B": "B_1, if m_+ < m_-,", "z": "1/m_+"},
            formula=r"m_+ < m_- \implies \max\operatorname{spec}(B_1) > \frac{1}{m_+}",
            uses=("k > 1, m+ smaller", "real"),
            establishes=("B_1, if m_+ < m_-, has a real eigenvalue above 1/m_+",),
        ),
        Inequality(
            name="k > 1, m- smaller",
            says="If $m_- < m_+$ it is negative at $1/m_-$.",
            hypotheses=(*inside, mm < mp),
            conclusion=above < 0,
            uses=("sides",),
            establishes=("the monic characteristic polynomial of B_1, if m_- < m_+, is negative at 1/m_-",),
        ),
        Citation(
            name="root above 1/m-",
            says="So $B_1$ has a real eigenvalue above $1/m_-$.",
            theorem=INTERMEDIATE_VALUE,
            letters={"B": "B_1, if m_- < m_+,", "z": "1/m_-"},
            formula=r"m_- < m_+ \implies \max\operatorname{spec}(B_1) > \frac{1}{m_-}",
            uses=("k > 1, m- smaller", "real"),
            establishes=("B_1, if m_- < m_+, has a real eigenvalue above 1/m_-",),
        ),
        Inequality(
            name="that point is above 1",
            says="Since $\\lambda_k\\delta \\neq 0$, the smaller of $m_\\pm = 1 \\pm \\alpha\\lambda_k\\delta$ "
            "is below 1, and the "
            "two differ.",
            hypotheses=(sp.Ne(small, 0), 1 + small > 0, 1 - small > 0),
            conclusion=sp.And(1 / sp.Min(1 + small, 1 - small) > 1, sp.Ne(1 + small, 1 - small)),
            uses=("root above 1", "root above 1/m+", "root above 1/m-"),
            needs=(
                "B_l has a real eigenvalue above 1",
                "B_1, if m_+ < m_-, has a real eigenvalue above 1/m_+",
                "B_1, if m_- < m_+, has a real eigenvalue above 1/m_-",
            ),
            establishes=(
                "bipartite points with p != q are unstable",
                "bipartite points with p != q have a multiplier above 1",
            ),
        ),
    )


def _equal_sides() -> tuple[Step, ...]:
    """``p = q``: the multipliers are 1 and 1 + alpha lambda_ell."""
    first = block(LL, MP, MM, p / SIZE)
    second, last = sp.symbols("lambda_2 lambda_d", real=True)
    return (
        Identity(
            name="p = q: trace",
            says="For $p = q$ the block has the eigenvalues $1$ and $1 + \\alpha\\lambda_\\ell$: this is the trace.",
            left=written_trace(first),
            right=sp.Add(1, 1 + alpha * LL, evaluate=False),
            where={q: p},
            uses=("sides",),
        ),
        Identity(
            name="p = q: determinant",
            says="This is the determinant; all other multipliers are 1.",
            left=(1 + alpha * LL) / (MP * MM),
            right=1 + alpha * LL,
            where={q: p},
            uses=("sides", "pairs, first side"),
        ),
        Inequality(
            name="p = q: above 1",
            says="If $k \\neq 1$ take $\\ell = 1$, if $k = 1$ and $\\lambda_2 > 0$ take $\\ell = 2$: a multiplier "
            "above 1.",
            hypotheses=(LL > 0,),
            conclusion=1 + alpha * LL > 1,
            uses=("p = q: trace", "p = q: determinant"),
        ),
        Inequality(
            name="p = q: below -1",
            says="If $k = 1$ and $\\lambda_2 < 0$, a multiplier is below $-1$ iff the step is longer than "
            "$2/|\\lambda_\\ell|$; the first is $\\ell = d$.",
            hypotheses=(LL < 0,),
            conclusion=sp.Equivalent(1 + alpha * LL < -1, alpha * sp.Abs(LL) > 2),
            uses=("p = q: trace", "p = q: determinant"),
        ),
        Inequality(
            name="p = q: silent",
            says="If $\\alpha|\\lambda_d| \\leq 2$, no multiplier is outside the unit circle, and $1$ is one.",
            hypotheses=(last <= LL, second >= LL, second < 0, alpha * sp.Abs(last) <= 2),
            conclusion=sp.And(1 + alpha * LL < 1, 1 + alpha * LL >= -1),
            uses=("p = q: below -1",),
        ),
    )


def at_split(index: int) -> Callable[[], Sequence[Any]]:
    """TV2: V = diag(2, 1/2, -1), two tokens at e_index and one at -e_index, alpha = 1/4."""
    token = ["1" if place == index else "0" for place in range(3)]
    other = ["-1" if place == index else "0" for place in range(3)]
    value = [["2", "0", "0"], ["0", "1/2", "0"], ["0", "0", "-1"]]
    return lambda: multipliers(instance("oja-map", [token, token, other], V=value, alpha="1/4"))


def lowest_block() -> Sequence[Any]:
    """Trace, determinant and value at one of the block k = 1, l = 2 of TV2."""
    third = sp.Rational(1, 3)
    step = {alpha: sp.Rational(1, 4)}
    found = block(sp.Rational(1, 2), 1 + alpha * 2 * third, 1 - alpha * 2 * third, 2 * third).subs(step)
    return found.trace(), found.det(), 1 - found.trace() + found.det()


#: k = 1, lambda_2 < 0, n = 2 and alpha |lambda_d| = 3.
LONG_STEP = instance("oja-map", [["1", "0"], ["-1", "0"]], V=[["1", "0"], ["0", "-3"]], alpha="1")

_LK, _LL, _DELTA = lam(V, k), lam(V, ell), (p - q) / n
_MP, _MM = 1 + alpha * _LK * _DELTA, 1 - alpha * _LK * _DELTA
_TRACE = (1 + alpha * _LL * p / n) / _MP + (1 + alpha * _LL * q / n) / _MM
_DET = (1 + alpha * _LL) / (_MP * _MM)
FIXED = Relation(alpha * sp.Abs(_LK * _DELTA) < 1)
SPECTRUM = SpectrumIs(
    BipartiteAt(V, k),
    (
        (1 / _MP, (p - 1) * (d - 1)),
        (1 / _MM, (q - 1) * (d - 1)),
        ((_TRACE + sp.sqrt(_TRACE**2 - 4 * _DET)) / 2, 1),
        ((_TRACE - sp.sqrt(_TRACE**2 - 4 * _DET)) / 2, 1),
    ),
)

UNBALANCED = Relation(sp.Ne(p, q))
BALANCED = AllOf(
    (
        Relation(sp.Eq(p, q)),
        Relation(sp.Or(lam(V, k) < lam(V, 1), lam(V, 2) > 0, alpha * sp.Abs(lam(V, d)) > 2)),
    )
)


#: Otherwise, for p = q, no multiplier is outside: the linearisation is silent.
QUIET = proposition(
    sp.And(sp.Eq(p, q), sp.Eq(k, 1), sp.Le(lam(V, 2), 0, evaluate=False), sp.Le(alpha * sp.Abs(lam(V, d)), 2))
)
SILENT = Implication(QUIET, Negation(proposition(Unstable(BipartiteAt(V, k)))))


def _silent(kernel: Kernel, test: Proved, *known: Proved) -> Proved:
    """The classes of one side are 1, the pair along ``v_ell`` is 1 and ``1 + alpha lambda_ell``, between -1 and 1."""
    quiet, wide = kernel.assume(QUIET), kernel.given(d >= 2)
    parts = test.proposition.right.parts
    same, index = kernel.part(quiet, sp.Eq(p, q)), kernel.part(quiet, sp.Eq(k, 1))
    order = kernel.eigenvalue_order(V)
    absurd = []
    for part in parts:
        if isinstance(part, Exists):
            here = [kernel.assume(each) for each in conjuncts(part.guard)]
            later = kernel.integers([*here, index], sp.Ge(ell, 2, evaluate=False))
            most = kernel.at(kernel.at(order, sp.Integer(2), wide), ell, *here, later)
            least = kernel.at(kernel.at(order, ell, *here), d, *here)
            false = kernel.arithmetic([kernel.assume(part.body), most, least, quiet, same, *known], FALSE)
            absurd.append((part, kernel.exists_elimination(kernel.assume(part), false)))
        else:
            absurd.append((part, kernel.arithmetic([kernel.assume(part), same, *known], FALSE)))
    unstable = kernel.assume(Unstable(BipartiteAt(V, k)))
    either = kernel.modus_ponens(test, unstable)
    none = kernel.discharge(unstable.proposition, kernel.by_cases(either, *absurd))
    return kernel.discharge(QUIET, kernel.tautology([none], SILENT.right))


def proof(kernel: Kernel) -> Proved:
    """The spectrum; on ``v_1`` the polynomial of the pair is negative at 1, elsewhere its value at 0 is above 1."""
    tokens, fixed = split(kernel), kernel.given(FIXED)
    spectrum = bipartite_spectrum_of(kernel, SPECTRUM, tokens, fixed)
    test = kernel.linear_instability(spectrum)
    positive, wide = kernel.given(lam(V, 1) > 0), kernel.given(d >= 2)
    first, other = kernel.assume(sp.Eq(k, 1)), kernel.assume(k >= 2)
    simple = kernel.unfold(kernel.given(SimpleTop(V)))
    top, second = kernel.equal_indices(first, lam(V, k)), kernel.at(simple, sp.Integer(2), wide)
    elsewhere = outside_at(kernel, test, sp.Integer(1), other, positive, fixed, tokens, product=True)
    unequal = outside_at(
        kernel, test, sp.Integer(2), first, kernel.assume(UNBALANCED), positive, top, second, wide, tokens, fixed
    )
    either = first_or_other(kernel)
    unbalanced = kernel.by_cases(either, (first.proposition, unequal), (other.proposition, elsewhere))
    ways = [lam(V, k) < lam(V, 1), lam(V, 2) > 0, alpha * sp.Abs(lam(V, d)) > 2]
    below, grows, long = (kernel.assume(each) for each in ways)
    equal = kernel.assume(BALANCED.parts[0])
    others = other_index(kernel, below, V)
    not_first = outside_at(kernel, test, sp.Integer(1), others, positive, fixed, tokens, product=True)
    along_second = outside_at(kernel, test, sp.Integer(2), first, grows, wide, tokens, equal)
    along_last = outside_at(kernel, test, d, first, long, wide, tokens, equal)
    balanced = kernel.by_cases(
        kernel.tautology([kernel.assume(BALANCED)], sp.Or(*ways)),
        (below.proposition, not_first),
        (grows.proposition, kernel.by_cases(either, (first.proposition, along_second), (other.proposition, elsewhere))),
        (long.proposition, kernel.by_cases(either, (first.proposition, along_last), (other.proposition, elsewhere))),
    )
    balanced = kernel.supply(balanced, kernel.tautology([kernel.assume(BALANCED)], BALANCED.parts[0]))
    return kernel.conjunction(
        spectrum,
        kernel.discharge(UNBALANCED, unbalanced),
        kernel.discharge(BALANCED, balanced),
        _silent(kernel, test, tokens),
    )


PM_L5 = register(
    Statement(
        id="PM-L5",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 5"),
        title="Bipartite points of the Oja map",
        systems=("oja-map",),
        conditions=(*ASSUMPTION_1, FIXED, Relation(d >= 2)),
        claims=(
            SPECTRUM,
            When(UNBALANCED, Unstable(BipartiteAt(V, k))),
            When(BALANCED, Unstable(BipartiteAt(V, k))),
            Formula(SILENT),
        ),
        depends=("PM-L1", "PM-A1", "PM-CX1"),
        derive=derive,
        proof=proof,
        printed=Printed(
            text=r"All bipartite consensus equilibria of the Oja map, also those aligned with $v_1$, are unstable.",
            wrong=(
                r"False for $p = q$, $k = 1$, $n = 2$, $\lambda_2 < 0$, $\alpha|\lambda_d| < 2$: the point is Lyapunov stable "
                r"(PM-CX1). For "
                r"$p \neq q$ the "
                r"claim is true, but the printed proof uses the vector $\mathbf 1$, which is no eigenvector for "
                r"$\delta \neq 0$, and the direction $v_1$, which is not tangent for $k = 1$."
            ),
            counterexamples=(
                Counterexample(
                    "TV9",
                    r"$n = d = 2$, $V = \operatorname{diag}(1, -\frac12)$, $\alpha = \frac14$, $x = (e_1, -e_1)$: "
                    r"multipliers "
                    r"$\frac78$ and $1$; stable by PM-CX1.",
                    TV9,
                    lambda: attracting(TV9, "7/8"),
                ),
            ),
        ),
        vectors=(
            Vector(
                "TV2, k = 1",
                at_split(0),
                decimals("0.680251711796163", "6/7 * 2", "0.917819944512031", "1.13403400248955", "1.26075148405940"),
            ),
            Vector(
                "TV2, k = 2",
                at_split(1),
                decimals("0.736705907860003", "0.96 * 2", "1.01072057762647", "1.01981583127043", "1.48667072672135"),
            ),
            Vector(
                "TV2, k = 3",
                at_split(2),
                decimals("0.946669152862065", "0.963089720162484", "12/11 * 2", "1.19668749049458", "1.56837881130605"),
            ),
            Vector("p = q, a long step", lambda: multipliers(LONG_STEP), ("-2", "1")),
            Vector("TV2, block k = 1, l = 2", lowest_block, decimals("61/28", "81/70", "-3/140")),
        ),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"$\delta = (p - q)/n$, and $\mathbf 1$ is the vector of ones.",
            ),
        ),
        variants=(
            Variant(
                "p != q",
                "n = 2, p = q = 1, k = 1, V = diag(1, -1/2): no multiplier above 1 (and stable, PM-CX1)",
                lambda: attracting(TV9, "7/8"),
            ),
            Variant(
                "alpha |lambda_d| <= 2",
                "V = diag(1, -3), alpha = 1, x = (e_1, -e_1): multipliers -2 and 1, so the linearisation is not silent and "
                "the point is unstable, although k = 1, lambda_2 < 0 and n = 2",
                lambda: point_is(LONG_STEP, "bipartite", stable="unstable"),
            ),
            Variant(
                "alpha |lambda_k delta| < 1",
                "V = diag(2, 1/2, -1), p = 2, q = 1, alpha = 2: one group flips",
                one_group_flips,
            ),
        ),
    )
)
