"""PH-T1: the pair forms ``(x_l - x_k)^T A (x_l - x_k)`` never decrease.  PH-C1: Euclidean distances may grow all the
same.

Reference: Pham-et-al, distances move one way; derived here.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import sympy as sp
from flint import fmpq

from eigentoken.proofs.bibliography import PHAM
from eigentoken.proofs.pham.exact_instances import SPREADS, spreads
from eigentoken.proofs.pham.pair_rates import CLAIMS, SEPARATES, proof
from eigentoken.proofs.pham.ph_m_token_flow import A, B, W, calculus_rules, data, soft_average, token_field
from eigentoken.proofs.properties.deterministic_data import BALLS, numbers
from eigentoken.proofs.properties.first_failures import FirstFailure
from eigentoken.proofs.properties.flow_properties import two_token_gap
from eigentoken.proofs.properties.matrices import pair_form_stands_still
from eigentoken.proofs.steps.calculus_steps import TOKEN_I, TOKEN_J, along_flow, tensor_step
from eigentoken.proofs.steps.reductions import all_agree, grouped
from eigentoken.proofs.steps.tensor_reductions import EXACT, velocity
from eigentoken.proofs.steps.textbook import LASALLE_BOUNDED
from eigentoken.proofs.steps.textbook_flows import MEAN_VALUE_DIFFERENCE
from eigentoken.theory.calculus import Assumptions, Index, Letter, instance, vector
from eigentoken.theory.calculus import dot as inner
from eigentoken.theory.language.conditions import NegativeDefinite, Nonsingular, PositiveDefinite, Relation, Symmetric
from eigentoken.theory.language.observables import apply_matrix, dot
from eigentoken.theory.language.terms import n
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import evaluate, sign
from eigentoken.theory.statements.layer_systems import Covers
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, SourceKind, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Citation, Computation, Derivation, Identity, Inequality, Step
from eigentoken.theory.systems.catalogue import system


def variance_steps() -> tuple[Any, ...]:
    """``(E_1/E_0)' = Var >= 0``: softmax averages are nondecreasing along their own scores."""
    s = sp.Symbol("s", real=True)
    zeroth, first, second = (sp.Function(f"E_{k}", positive=True)(s) for k in range(3))
    e_0, e_1, e_2 = sp.symbols("E_0 E_1 E_2", real=True)
    slope = (
        sp.diff(first / zeroth, s)
        .subs({sp.Derivative(zeroth, s): first, sp.Derivative(first, s): second})
        .subs({zeroth: e_0, first: e_1, second: e_2})
    )
    p_i, p_j = sp.symbols("p_i p_j", real=True)
    c_i, c_j = sp.symbols("c_i c_j", real=True)
    return (
        grouped(
            "slope of a softmax average",
            "Let $E_m(s) = \\sum_i c_i^m e^{b_i + s c_i}$, so that $E_0' = E_1$ and $E_1' = E_2$. The average "
            "$E_1/E_0$ of the $c_i$ has the slope $\\operatorname{Var} = E_2/E_0 - (E_1/E_0)^2$.",
            lambda: [slope],
            [e_2 / e_0 - (e_1 / e_0) ** 2],
            "\\frac{d}{ds}\\,\\frac{E_1}{E_0} = <1>",
        ),
        Identity(
            name="variance as a sum of squares",
            says="With weights $p_i = e^{b_i + sc_i}/E_0$, $\\operatorname{Var} = \\sum_{i,j}p_ip_j(c_i^2 - c_ic_j)$; "
            "the pair $(i, j)$ with $(j, i)$ gives",
            left=p_i * p_j * (c_i**2 - c_i * c_j) + p_j * p_i * (c_j**2 - c_j * c_i),
            right=p_i * p_j * (c_i - c_j) ** 2,
            uses=("slope of a softmax average",),
        ),
        Inequality(
            name="variance is nonnegative",
            says="All weights are positive: no pair is negative, and all vanish only if all $c_i$ are equal.",
            hypotheses=(p_i > 0, p_j > 0),
            conclusion=sp.And(
                p_i * p_j * (c_i - c_j) ** 2 >= 0, sp.Implies(sp.Eq(p_i * p_j * (c_i - c_j) ** 2, 0), sp.Eq(c_i, c_j))
            ),
            uses=("variance as a sum of squares",),
            establishes=(
                "the second derivative of log-sum-exp along a line is not negative",
                "the softmax average along a line is differentiable",
            ),
        ),
    )


def _rate() -> tuple[Step, ...]:
    """The derivative of a pair form is a difference of softmax averages, and that is a variance."""
    rules = calculus_rules()
    field = token_field(rules)
    gap = vector("x", TOKEN_I) - vector("x", TOKEN_J)

    def projected(k: Any) -> Any:
        return inner(gap, vector("x", k), (Letter("W"),))

    late, early, variance, rate, moved = sp.symbols("phi_1 phi_0 v q' k", real=True)
    return (
        tensor_step(
            "derivative of a pair form",
            "Let $\\delta = x_i - x_j$ and $c_m = \\delta^{\\top}Wx_m$. Since $A$ is symmetric and $AB = W$, along the "
            "registered flow, for every number of tokens and every dimension, $\\tfrac{d}{dt}\\delta^{\\top}A\\delta "
            "= 2\\sum_m(p_{im} - p_{jm})\\,c_m$.",
            derive=lambda: along_flow(inner(gap, gap, (Letter("A"),)), field, rules, "x"),
            claimed=(soft_average(TOKEN_I, projected) - soft_average(TOKEN_J, projected)) * 2,
            rules=rules,
            left="\\tfrac{d}{dt}\\,(x_i - x_j)^{\\top}A(x_i - x_j)",
        ),
        tensor_step(
            "scores differ by c",
            "The scores of $x_i$ and $x_j$ differ by $c_m$: so $p_i$ are the softmax weights at $s = 1$ and $p_j$ "
            "those at $s = 0$ of the scores $x_j^{\\top}Wx_m + s\\,c_m$.",
            derive=lambda: (
                inner(vector("x", TOKEN_I), vector("x", _token_m()), (Letter("W"),))
                - inner(vector("x", TOKEN_J), vector("x", _token_m()), (Letter("W"),))
            ),
            claimed=projected(_token_m()),
            rules=rules,
            left="x_i^{\\top}Wx_m - x_j^{\\top}Wx_m",
        ),
        *variance_steps(),
        Citation(
            name="from slopes to differences",
            says="Let $\\varphi(s) = E_1(s)/E_0(s)$ be the softmax average of the $c_m$ at the scores $x_j^{\\top}Wx_m "
            "+ sc_m$: $\\varphi(1) = \\sum_m p_{im}c_m$ and $\\varphi(0) = \\sum_m p_{jm}c_m$. For some $s^* \\in (0, "
            "1)$",
            theorem=MEAN_VALUE_DIFFERENCE,
            letters={"f": "the softmax average along a line"},
            uses=("scores differ by c", "variance is nonnegative"),
            formula="\\varphi(1) - \\varphi(0) = \\operatorname{Var}(s^*)",
            establishes=(
                "a difference of two values of the softmax average along a line is a value of its derivative in "
                "between times the step",
            ),
        ),
        Inequality(
            name="sign of the rate",
            says="So the rate $q' = 2(\\varphi_1 - \\varphi_0)$ of the pair form is twice a variance $v \\ge 0$.",
            hypotheses=(sp.Eq(late - early, variance), variance >= 0, sp.Eq(rate, 2 * (late - early))),
            conclusion=sp.And(rate >= 0, sp.Implies(sp.Eq(rate, 0), sp.Eq(variance, 0))),
            uses=("derivative of a pair form", "from slopes to differences"),
            needs=(
                "a difference of two values of the softmax average along a line is a value of its derivative in "
                "between times the step",
                "the second derivative of log-sum-exp along a line is not negative",
            ),
            establishes=(
                "the rate of a pair form is not negative, and zero only where a variance vanishes",
                "a pair form is differentiable",
            ),
        ),
        Inequality(
            name="equality",
            says="If the rate is zero, the variance at $s^*$ vanishes and all $c_m$ are equal. Conversely, if all "
            "$c_m$ are one number $k$, both averages are $k$, and the rate is zero. That all $c_m = "
            "\\delta^{\\top}Wx_m$ are equal says that $W^{\\top}\\delta$ is orthogonal to all $x_i - x_j$.",
            hypotheses=(sp.Eq(late, moved), sp.Eq(early, moved), sp.Eq(rate, 2 * (late - early))),
            conclusion=sp.Eq(rate, 0),
            uses=("sign of the rate",),
            establishes=("the rate of a pair form is zero exactly where all c are equal",),
        ),
    )


def _monotone() -> tuple[Step, ...]:
    """So the form of a pair is monotone, strictly unless the tokens are equal."""
    rules = calculus_rules()
    field = token_field(rules)
    gap = vector("x", TOKEN_I) - vector("x", TOKEN_J)

    def projected(k: Any) -> Any:
        return inner(gap, vector("x", k), (Letter("W"),))

    any_form = Assumptions(products={("A", "B"): (Letter("W"),)})
    c_l, c_k, form = sp.symbols("c_l c_k q", real=True)
    rate = sp.Symbol("q'", real=True)
    now, first, time = sp.symbols("Q Q_0 t", real=True)
    return (
        Citation(
            name="along a trajectory",
            says="The pair form $Q$ is differentiable in time: between two times its difference is a value of its rate "
            "times the step.",
            theorem=MEAN_VALUE_DIFFERENCE,
            letters={"f": "a pair form"},
            uses=("sign of the rate",),
            formula="Q(t) - Q(0) = q'(t^*)\\,t",
            establishes=(
                "a difference of two values of a pair form is a value of its derivative in between times the step",
            ),
        ),
        Inequality(
            name="monotone",
            says="So it does not decrease.",
            hypotheses=(sp.Eq(now - first, rate * time), rate >= 0, time >= 0),
            conclusion=now >= first,
            uses=("along a trajectory", "sign of the rate"),
            needs=(
                "a difference of two values of a pair form is a value of its derivative in between times the step",
                "the rate of a pair form is not negative, and zero only where a variance vanishes",
            ),
            establishes=("pair forms do not decrease",),
        ),
        Inequality(
            name="strictness",
            says="If $\\operatorname{sym} W$ is definite and $x_l \\neq x_k$, then $c_l - c_k = "
            "\\delta^{\\top}W\\delta = q \\neq 0$: not all $c_m$ are equal, so the rate is not zero, and the form "
            "grows strictly.",
            hypotheses=(sp.Eq(c_l - c_k, form), sp.Ne(form, 0)),
            conclusion=sp.Ne(c_l, c_k),
            uses=("equality", "monotone"),
            needs=("the rate of a pair form is zero exactly where all c are equal", "pair forms do not decrease"),
            establishes=("pair forms do not decrease, and those of different tokens grow strictly",),
        ),
        tensor_step(
            "any A",
            "Without symmetry of $A$, with $AB = W$ only, the same difference of averages is "
            "$\\delta^{\\top}A\\dot\\delta$, so that this is not negative; it is half the derivative of the form only "
            "for symmetric $A$.",
            derive=lambda: inner(gap, instance(field, TOKEN_I) - instance(field, TOKEN_J), (Letter("A"),)),
            claimed=soft_average(TOKEN_I, projected) - soft_average(TOKEN_J, projected),
            rules=any_form,
            left="(x_i - x_j)^{\\top}A(\\dot x_i - \\dot x_j)",
            uses=("from slopes to differences", "variance is nonnegative"),
        ),
    )


def _unbounded() -> tuple[Step, ...]:
    """For A > 0 and a definite W the form of a pair that is not equal is unbounded."""
    from eigentoken.proofs.pham.energy import smooth_step

    rate, form, least, square, limit = sp.symbols("q' q mu N e_*", real=True)
    return (
        smooth_step(),
        Inequality(
            name="falling forms",
            says="So minus the pair form $q$, with the slope $-q' \\le 0$, does not increase, and its slope vanishes "
            "only for equal tokens.",
            hypotheses=(rate >= 0,),
            conclusion=-rate <= 0,
            uses=("strictness",),
            needs=("pair forms do not decrease, and those of different tokens grow strictly",),
            establishes=("minus a pair form is continuously differentiable and does not increase along trajectories",),
        ),
        Citation(
            name="LaSalle",
            says="If the trajectory is bounded, it tends to the largest invariant set where the slope vanishes.",
            theorem=LASALLE_BOUNDED,
            letters={"V": "minus a pair form"},
            uses=("falling forms", "Lipschitz field"),
            establishes=(
                "every bounded trajectory tends to the largest invariant set where the derivative of minus a pair form "
                "vanishes",
            ),
        ),
        Inequality(
            name="unbounded",
            says="There the two tokens are equal and the form is $0$; for $A \\succ 0$ it is $q \\ge \\mu N > 0$ at the "
            "start, with $N = |x_l - x_k|^2$, and it does not decrease: its limit $e_* \\ge q$ is not zero. So a "
            "trajectory with two different tokens is unbounded.",
            hypotheses=(least > 0, square > 0, form >= least * square, limit >= form),
            conclusion=sp.Ne(limit, 0),
            uses=("LaSalle", "strictness"),
            needs=(
                "every bounded trajectory tends to the largest invariant set where the derivative of minus a pair form "
                "vanishes",
                "pair forms do not decrease, and those of different tokens grow strictly",
            ),
            establishes=("a trajectory with two different tokens is unbounded",),
            assuming=SEPARATES.parts,
        ),
    )


def derive() -> Derivation:
    """The derivative of a pair form is a difference of softmax averages, by the mean value theorem a variance."""
    return Derivation(
        (
            *_rate(),
            *_monotone(),
            *_unbounded(),
        )
    )


def _token_m() -> Any:
    return Index("token", "m")


def pair_example() -> list[Any]:
    """``2 (x_1 - x_2)^T A (dx_1 - dx_2)``."""
    tokens, score, form, value = data()
    speed = system("token-flow").advance(numbers(), {"B": value, "W": score}, tokens)
    gap = [a - b for a, b in zip(tokens[0], tokens[1], strict=True)]
    change = [a - b for a, b in zip(speed[0], speed[1], strict=True)]
    return [2 * dot(gap, apply_matrix(form, change))]


def nonsymmetric_decreases() -> Verdict:
    """W = I, B = [[0, -1], [2, 0]]: A = W B^{-1} is not symmetric, and the pair form of (1/2, 0), (-1/2, 0)
    decreases."""
    value = ((sp.Integer(0), sp.Integer(-1)), (sp.Integer(2), sp.Integer(0)))
    score = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(1)))
    half = sp.Rational(1, 2)
    tokens = ((half, sp.Integer(0)), (-half, sp.Integer(0)))
    speed = velocity("token-flow", {"B": value, "W": score}, tokens)
    form = sp.Matrix(score) * sp.Matrix(value).inv()
    gap = sp.Matrix([a - b for a, b in zip(*tokens, strict=True)])
    change = sp.Matrix([a - b for a, b in zip(*speed, strict=True)])
    rate = (change.T * form * gap + gap.T * form * change)[0]
    if form != form.T and sign(rate) == -1:
        return holds(
            f"A = {form.tolist()} is not symmetric, and the pair form decreases at the rate {sp.simplify(rate)}"
        )
    return fails(f"the rate is {rate}")


def differences_are_not_negative(instances: int, seed: int) -> Verdict:
    """``delta^T A (dx_1 - dx_2) >= 0`` for random rational B (invertible), W, tokens in the plane, A symmetric or not.

    Where all c are equal the product is computed exactly: it is zero.  Elsewhere it is decided in balls, or exactly.
    """
    source = random.Random(seed)

    def drawn(count: int) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(fmpq(source.randint(-4, 4), 3) for _ in range(2)) for _ in range(count))

    done = 0
    while done < instances:
        value, score, tokens = drawn(2), drawn(2), drawn(3)
        if value[0][0] * value[1][1] == value[0][1] * value[1][0]:
            continue
        row = [sum(a * b for a, b in zip(_gap(tokens), column, strict=True)) for column in zip(*score, strict=True)]
        still = len({str(sum(a * b for a, b in zip(row, each, strict=True))) for each in tokens}) == 1
        speed = system("token-flow").advance(BALLS, {"B": value, "W": score}, tokens)
        if still or not _pushed(value, row, _gap(speed)) > 0:
            weights, scores, places = ([[*map(_rational, line)] for line in each] for each in (value, score, tokens))
            moved = velocity("token-flow", {"B": weights, "W": scores}, places)
            rate = _pushed(weights, [*map(_rational, row)], _gap(moved))
            if (sign(rate) != 1) != still:
                return fails(f"the product is {rate} at B = {value}, W = {score}, tokens {tokens}")
        done += 1
    return holds(f"{instances} instances: positive, and zero exactly where all c are equal")


def _gap(rows: Any) -> list[Any]:
    """The first minus the second."""
    return [a - b for a, b in zip(rows[0], rows[1], strict=True)]


def _pushed(value: Any, row: Sequence[Any], change: Sequence[Any]) -> Any:
    """``r^T B^{-1} u`` in the plane, by the rule of Cramer."""
    (a, b), (c, e) = value
    return (row[0] * (e * change[0] - b * change[1]) + row[1] * (a * change[1] - c * change[0])) / (a * e - b * c)


def _rational(number: Any) -> sp.Rational:
    return sp.Rational(int(number.p), int(number.q))


# -- PH-C1 -------------------------------------------------------------------------------------------------------------


def _euclidean_example() -> tuple[Any, Any, Any]:
    """B = A^{-1} W for A = -diag(1, 10), W = [[1, 2], [-2, 1]]; the eigenvalues of sym B; d/dt |x_1 - x_2|^2."""
    score = sp.Matrix([[1, 2], [-2, 1]])
    form = -sp.diag(1, 10)
    value = form.inv() * score
    symmetric = (value + value.T) / 2
    trace, determinant = symmetric.trace(), symmetric.det()
    spread = sp.sqrt(trace**2 - 4 * determinant)
    top = (trace + spread) / 2
    raw = sp.Matrix([symmetric[0, 1], top - symmetric[0, 0]])
    unit = raw / sp.sqrt(raw.dot(raw))
    tokens = (tuple(unit / 2), tuple(-unit / 2))
    speed = velocity("token-flow", {"B": value.tolist(), "W": score.tolist()}, tokens)
    change = [a - b for a, b in zip(speed[0], speed[1], strict=True)]
    return value, ((trace - spread) / 2, top), 2 * dot([2 * entry for entry in tokens[0]], change)


def euclidean_distance_grows() -> Verdict:
    """Certified: A is symmetric negative definite, sym W = I, and the Euclidean distance grows."""
    _, (_, top), rate = _euclidean_example()
    if sign(top) == 1 and sign(rate - sp.Rational(1, 5)) == 1:
        return holds("A = -diag(1, 10), sym W = I, and d/dt |x_1 - x_2|^2 > 1/5 at the given state")
    return fails("the distance does not grow there")


def derive_growth() -> Derivation:
    """Two tokens: the gap moves by ``gamma B delta``."""
    from eigentoken.theory.statements.steps import Reduction

    tokens = tuple(tuple(sp.Symbol(f"x_{i}{a}", real=True) for a in (1, 2)) for i in (1, 2))
    value = tuple(tuple(sp.Symbol(f"b_{a}{b}", real=True) for b in (1, 2)) for a in (1, 2))
    score = tuple(tuple(sp.Symbol(f"w_{a}{b}", real=True) for b in (1, 2)) for a in (1, 2))

    def gap_speed() -> list[Any]:
        speed = velocity("token-flow", {"B": value, "W": score}, tokens)
        return [a - b for a, b in zip(speed[0], speed[1], strict=True)]

    weights = EXACT.attention(tokens, score, None, False)
    gap = [a - b for a, b in zip(*tokens, strict=True)]
    gamma = weights[0][0] - weights[1][0]
    claimed = [gamma * entry for entry in apply_matrix(value, gap)]
    odds_1, odds_2 = sp.symbols("o_1 o_2", positive=True)
    return Derivation(
        (
            Reduction(
                name="two tokens",
                says="For $L = 2$ the gap $\\delta = x_1 - x_2$ moves by $\\dot\\delta = \\gamma B\\delta$ with "
                "$\\gamma = p_{11} - p_{21}$, for any $W$ and $B$.",
                scope="2 tokens, d = 2",
                derive=gap_speed,
                claimed=tuple(claimed),
                agrees=all_agree,
                entrywise=True,
                shows=lambda _: "\\dot\\delta = (p_{11} - p_{21})\\,B\\delta",
            ),
            Inequality(
                name="sign of gamma",
                says="$p_{11} = o_1/(1 + o_1)$, $p_{21} = o_2/(1 + o_2)$ with odds $o_1/o_2 = "
                "e^{\\delta^{\\top}W\\delta}$: $\\gamma$ has the sign of $\\delta^{\\top}W\\delta$.",
                hypotheses=(odds_1 > odds_2,),
                conclusion=odds_1 / (1 + odds_1) - odds_2 / (1 + odds_2) > 0,
                uses=("two tokens",),
            ),
            Computation(
                name="growth",
                says="So with $\\delta$ the top eigenvector of $\\operatorname{sym} B$, whose eigenvalue is positive "
                "here, the Euclidean distance grows.",
                scope="the given instance",
                run=euclidean_distance_grows,
                formula="\\tfrac{d}{dt}|x_1 - x_2|^2 = 2\\gamma\\,\\delta^{\\top}B\\delta > 0",
                uses=("two tokens", "sign of gamma"),
            ),
        )
    )


def growth_example() -> list[Any]:
    """Eigenvalues of sym B and the rate."""
    _, eigenvalues, rate = _euclidean_example()
    return [evaluate(each).real for each in (*eigenvalues, rate)]


PH_T1 = register(
    Statement(
        id="PH-T1",
        kind=Kind.THEOREM,
        source=Source(PHAM, "distances move one way; derived here", SourceKind.SUMMARISED),
        title="Pair forms are monotone",
        systems=("token-flow",),
        conditions=(Nonsingular(B), Symmetric(A), Relation(n >= 2)),
        claims=CLAIMS,
        proof=proof,
        depends=("PH-M",),
        derive=derive,
        variants=(
            Variant(
                "Symmetric(A)",
                "$W = I$, $B = \\begin{pmatrix}0&-1\\\\2&0\\end{pmatrix}$, $x_{1,2} = \\pm\\tfrac12 e_1$: the form "
                "$\\delta^{\\top}A\\delta$ decreases.",
                nonsymmetric_decreases,
            ),
            Variant(
                "sym W definite",
                "for a skew W the pair form of different tokens stands still",
                FirstFailure(pair_form_stands_still),
            ),
        ),
        vectors=(Vector("rate of the pair (1, 2)", pair_example, ("2.22952606081200",)),),
        property_tests=(differences_are_not_negative,),
    )
)

PH_C1 = register(
    Statement(
        id="PH-C1",
        kind=Kind.COUNTEREXAMPLE,
        source=Source(PHAM, "boundary of PH-T1", SourceKind.SUMMARISED),
        title="Euclidean distances may grow in the convergence regime",
        systems=("token-flow",),
        conditions=(Symmetric(A), NegativeDefinite(A), PositiveDefinite(W)),
        covers=Covers(example="its own A = -diag(1, 10) and W"),
        claims=SPREADS,
        proof=spreads,
        depends=("PH-T1",),
        derive=derive_growth,
        vectors=(
            Vector(
                "eigenvalues of sym B, rate of the squared distance",
                growth_example,
                ("-1.556230589874906", "0.456230589874905", "0.223478771639634"),
            ),
        ),
        property_tests=(two_token_gap,),
    )
)
