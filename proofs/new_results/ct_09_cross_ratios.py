"""CT-9: the Oja flow conserves cross-ratios of tokens; and where almost every start goes.

``D_ab = |x_a - x_b|^2`` obeys ``D_ab' = -u^T(x_a + x_b) D_ab`` with the common push ``u = V xbar``, so ``D_ab D_cd / (D_ac
D_bd)``
does not change: tokens move by one Moebius transformation, and at most one point is the limit of several tokens.  Own derivation.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.new_results.needed import negative_leaders_repel_in_the_flow
from eigentoken.proofs.power_method.pm_cx1_antipodal_tokens import antipodal_share
from eigentoken.proofs.power_method.symbols import V, d, n
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.token_fields import Array, random_units, run
from eigentoken.proofs.steps.equations import at_every_token, for_every
from eigentoken.theory.calculus import TOKENS, Expression, Index, dot, matrix, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import AnyOf, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector

A, B, C, D, _ALL = (Index("token", name) for name in ("a", "b", "c", "e", "m"))
_PUSH = (vector("x", _ALL).summed(_ALL) / TOKENS).applied(matrix("V"))


def apart(one: Index, other: Index) -> Expression:
    """``|x_a - x_b|^2``."""
    gap_ = vector("x", one) - vector("x", other)
    return dot(gap_, gap_)


def _along(*tokens: Index) -> Expression:
    """``u^T (x_a + x_b + ...)``."""
    total = vector("x", tokens[0])
    for each in tokens[1:]:
        total = total + vector("x", each)
    return dot(_PUSH, total)


_PAIR = apart(A, B)
_FALLS = _along(A, B) * _PAIR * -1
#: The squared distance of two tokens shrinks at the rate ``u^T (x_a + x_b)``.
DISTANCE = for_every(sp.Eq(Rate(_PAIR), Tensor(_FALLS), evaluate=False), A, B)
_UPPER, _LOWER = apart(A, B) * apart(C, D), apart(A, C) * apart(B, D)
#: The derivative of the cross-ratio vanishes (multiplied by the square of its denominator).
CONSERVED = for_every(sp.Eq(Rate(_UPPER) * Tensor(_LOWER), Rate(_LOWER) * Tensor(_UPPER), evaluate=False), A, B, C, D)


def _rate(kernel: Kernel, quantity: Expression, stated: Expression) -> list[Proved]:
    rate = kernel.increment(quantity)
    return [rate, kernel.reduction(relation_of(rate.proposition).rhs.expression, stated)]


def proof(kernel: Kernel) -> Proved:
    """Both products of distances have the same logarithmic derivative."""
    pair = kernel.arithmetic(_rate(kernel, _PAIR, _FALLS), DISTANCE.body.body)
    everywhere = _along(A, B, C, D)
    facts = []
    for each in (_UPPER, _LOWER):
        facts += [*_rate(kernel, each, everywhere * each * -1), kernel.scaling(everywhere * each, -1)]
        facts.append(kernel.product(everywhere, each))
    both = kernel.arithmetic(facts, CONSERVED.body.body.body.body)
    return kernel.conjunction(at_every_token(kernel, pair, A, B), at_every_token(kernel, both, A, B, C, D))


def oja(x: Array, value: Array) -> Array:
    """``P_i V xbar``."""
    push = value @ x.mean(axis=0)
    return np.asarray(push - (x @ push)[:, None] * x)


def cross_ratio(x: Array, a: int, b: int, c: int, e: int) -> float:
    """``D_ab D_ce / (D_ac D_be)``."""
    sizes = np.sum((x[:, None] - x[None]) ** 2, axis=2)
    return float(sizes[a, b] * sizes[c, e] / (sizes[a, c] * sizes[b, e]))


VALUE = np.diag([1, -0.5, -0.7])
START = np.array([[3 / 5, 4 / 5, 0], [5 / 13, -12 / 13, 0], [0, 3 / 5, -4 / 5], [2 / 3, -1 / 3, 2 / 3]])


def example() -> list[float]:
    """The cross-ratio and ``D_12`` at 0, ``x_1`` and ``D_12`` at 3, and the cross-ratio then."""
    (end,) = run(lambda t, x: oja(x, VALUE), START, [3.0])
    distance = [float(np.sum((x[0] - x[1]) ** 2)) for x in (START, end)]
    return [cross_ratio(START, 0, 1, 2, 3), distance[0], *map(float, end[0]), distance[1], cross_ratio(end, 0, 1, 2, 3)]


def conserved(source: np.random.Generator) -> Mapping[str, float]:
    """Along any common push: the rate of every distance and of a cross-ratio."""
    count, size = int(source.integers(4, 7)), int(source.integers(2, 5))
    x = random_units(source, count, size)
    push = source.normal(size=size)
    speed = push - (x @ push)[:, None] * x
    a, b, c, e = source.permutation(count)[:4]

    def log_rate(i: int, j: int) -> float:
        return float(2 * (x[i] - x[j]) @ (speed[i] - speed[j]) / np.sum((x[i] - x[j]) ** 2))

    total = log_rate(a, b) + log_rate(c, e) - log_rate(a, c) - log_rate(b, e)
    return {
        "distance": gap(log_rate(a, b), -push @ (x[a] + x[b])),
        "cross-ratio": abs(total) / (1 + abs(log_rate(a, b))),
    }


def antipodal_pairs_attract() -> Verdict:
    """``V = diag(1, -1)`` on the circle, exactly: every antipodal pair rests, and at ``(e_1, -e_1)`` the eigenvalues are 0, along
    these pairs, and -1."""
    first, second = sp.symbols("theta_1 theta_2", real=True)
    mean = sp.Matrix([sp.cos(first) + sp.cos(second), -sp.sin(first) - sp.sin(second)]) / 2
    speeds = [(sp.Matrix([-sp.sin(each), sp.cos(each)]).T * mean)[0] for each in (first, second)]
    rest = all(sp.simplify(each.subs(second, first + sp.pi)) == 0 for each in speeds)
    jacobian = sp.Matrix(speeds).jacobian([first, second]).subs({first: 0, second: sp.pi})
    if rest and jacobian.eigenvals() == {0: 1, -1: 1}:
        return holds("a curve of equilibria with the eigenvalues 0 and -1: it attracts an open set")
    return fails(f"at rest: {rest}, spectrum {jacobian.eigenvals()}")


CT_9 = register(
    Statement(
        id="CT-9",
        kind=Kind.EXTENSION,
        source=Source(HERE, "the Oja flow as a flow of Moebius transformations"),
        title="The Oja flow conserves cross-ratios",
        systems=("oja-flow",),
        claims=(Formula(DISTANCE), Formula(CONSERVED)),
        proof=proof,
        depends=("CT-4",),
        vectors=(
            Vector(
                "cross-ratio, D_12, x_1 and D_12 at t = 3, cross-ratio then",
                example,
                (
                    *("11.529411764706", "3.015384615385", "0.996640036274", "0.080691436192", "0.014054544462"),
                    *("0.041579318085", "11.529411764706"),
                ),
            ),
        ),
        property_tests=(OnInstances(conserved),),
    )
)

CT_9A = register(
    Statement(
        id="CT-9a",
        kind=Kind.THEOREM,
        source=Source(HERE, "the Oja flow from almost every start"),
        title="The Oja flow: almost every start reaches principal consensus",
        systems=("oja-flow",),
        conditions=(
            Symmetric(V),
            SimpleTop(V),
            Relation(Eigenvalue(V, 1) > 0),
            Relation(d >= 2),
            AnyOf((Relation(n >= 3), Relation(Eigenvalue(V, 2) > 0))),
        ),
        claims=(AlmostEveryConverges(ConsensusAt(V, 1)),),
        depends=("CT-9", "CT-3", "CT-4"),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"Proved on paper (every trajectory converges by Lojasiewicz; every other equilibrium but an even "
                r"antipodal split "
                r"is linearly unstable; that one would make a cross-ratio of distinct tokens tend to 0), not yet in the "
                r"kernel. For "
                r"$n = d = 2$ and $\lambda_2 < 0$ the share of starts that end antipodal is the vector.",
            ),
        ),
        vectors=(
            Vector(
                "n = d = 2: shares for lambda_2 = -1/2, -1, -2",
                lambda: [antipodal_share(each) for each in ("-0.5", "-1", "-2")],
                ("0.1267999802871", "0.1935643552999", "0.2662762121046"),
            ),
        ),
        variants=(
            Variant(
                "Relation(Eigenvalue(V, 1) > 0)",
                "$V = \\operatorname{diag}(-\\frac14, -\\frac12)$: principal consensus is unstable.",
                negative_leaders_repel_in_the_flow,
            ),
            Variant(
                "AnyOf((Relation(n >= 3), Relation(Eigenvalue(V, 2) > 0)))",
                r"$n = 2$, $V = \operatorname{diag}(1, -1)$: the pairs $(w, -w)$ near $w = e_1$ attract an open set.",
                antipodal_pairs_attract,
            ),
        ),
    )
)
