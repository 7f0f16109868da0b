"""PM-CM: on the consensus manifold attention is invisible and the dynamics is the power method of I + alpha F.

New here: it holds at every state x_1 = ... = x_n = z, not only at equilibria, for any heads.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.pm_e01_layer_with_heads import layer_step
from eigentoken.proofs.power_method.pm_l02_oja_jacobian import W
from eigentoken.proofs.power_method.pm_l10_attention_jacobian import PM_L10
from eigentoken.proofs.power_method.symbols import alpha, any_score, n
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.jacobian_checks import consensus_manifold
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z, at_every_token, for_every
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.calculus import (
    ALPHA,
    TOKENS,
    Expression,
    Index,
    Letter,
    Norm,
    dot,
    factor,
    matrix,
    vector,
)
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, ForAll, Implication
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Slope, Tensor, VectorLetter
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation


def two_heads() -> tuple[list[dict[str, Any]], list[list[Any]], list[Any]]:
    """Two heads with arbitrary values and scores on the span of z, Fz, xi, F xi; their sum F; and y = z + alpha F z.

    The basis begins with z; ``y = r (cos, sin, 0, 0)`` in the plane of z and Fz, with the circle parametrised rationally,
    so that F z is any vector; xi lies in the span of e_2, e_3 and F xi anywhere in the four-space.
    """
    r, tau = sp.Symbol("r", positive=True), sp.Symbol("tau", real=True)
    y = [r * (1 - tau**2) / (1 + tau**2), r * 2 * tau / (1 + tau**2), sp.Integer(0), sp.Integer(0)]
    first, total = any_score(4, letter="a"), any_score(4, letter="f")
    for row, entry in enumerate(y):
        total[row][0] = (entry - (1 if row == 0 else 0)) / alpha
    second = [[total[i][j] - first[i][j] for j in range(4)] for i in range(4)]
    heads = [{"F": first, "M": any_score(4, letter="c")}, {"F": second, "M": any_score(4, letter="d")}]
    return heads, total, y


def projected(push: list[Any], y: list[Any], r: Any) -> list[Any]:
    """``(1/r)(I - y y^T / r^2) push``."""
    inner = sum(a * b for a, b in zip(y, push, strict=True))
    return [(each - inner * entry / r**2) / r for each, entry in zip(push, y, strict=True)]


def _slopes(groups: list[Any]) -> list[Any]:
    from eigentoken.proofs.steps.token_groups import slopes

    heads, _, _ = two_heads()
    found = slopes("multihead-map", {"heads": heads, "alpha": alpha}, groups, (sp.Symbol("r", positive=True),))
    return [entry for token in found for entry in token]


def derive() -> Derivation:
    """The image of a consensus state, one token moved, and a zero-sum move."""
    heads, total, y = two_heads()
    r = sp.Symbol("r", positive=True)
    x2, x3 = sp.symbols("xi_2 xi_3", real=True)
    z, xi, still, minus = (1, 0, 0, 0), (0, x2, x3, 0), (0, 0, 0, 0), (0, -x2, -x3, 0)
    image = [sum(total[i][j] * xi[j] for j in range(4)) for i in range(4)]
    own = projected([xi[i] + alpha / n * image[i] for i in range(4)], y, r)
    others = projected([alpha / n * image[i] for i in range(4)], y, r)
    radial = projected(list(map(sp.sympify, xi)), y, r)

    def next_state() -> list[Any]:
        from eigentoken.proofs.steps.token_groups import advance_groups

        return list(advance_groups("multihead-map", {"heads": heads, "alpha": alpha}, [(n, z)], (r,))[0])

    return Derivation(
        (
            grouped(
                "power method",
                "At $x_1 = \\dots = x_n = z$, in coordinates of the plane of $z$ and $y = (I + \\alpha F)z = "
                "r(\\cos\\theta, \\sin\\theta)$, $\\tau = \\tan\\frac{\\theta}{2}$: one step is $y/r$, whatever the "
                "scores of the heads.",
                next_state,
                tuple(entry / r for entry in y),
                r"z^+ = \frac{(I + \alpha F)z}{r} = \Big(<1>,\ <2>,\ <3>,\ <4>\Big)",
                establishes=("on the consensus manifold the map is the power method of I + alpha F",),
            ),
            grouped(
                "one token moved",
                "One token is moved along a tangent vector $\\xi$; $F\\xi$ is any vector; two heads with arbitrary "
                "values and scores, $F$ their sum. All terms from the attention weights cancel, and the images of the "
                "token and of the others are those of $J_{ij}$; for any number of heads in the kernel.",
                lambda: _slopes([(1, z, xi), (n - 1, z, still)]),
                (*own, *others),
                r"J_{ij}\,\xi = \frac{1}{r}\,(I - \hat y\hat y^{\top})\Big(\delta_{ij}I + \frac{\alpha}{n}F\Big)\xi",
                establishes=("the Jacobian on the consensus manifold",),
            ),
            grouped(
                "disagreement",
                "A zero-sum move: disagreements are projected and divided by $r$.",
                lambda: _slopes([(1, z, xi), (1, z, minus), (n - 2, z, still)])[:4],
                tuple(radial),
                r"\delta x_i^+ = \frac{1}{r}\,(I - \hat y\hat y^{\top})\,\delta x_i",
                uses=("one token moved",),
            ),
        )
    )


_Z, _B, _W = vector(Z.name), vector("b"), vector("w", TOKEN)
B = VectorLetter("b")
_SHORT = factor(Norm("r", (TOKEN,)), -1)
_OTHER = Index("token", "j")
#: ``x_i = b`` for every token.
CONSENSUS = for_every(sp.Eq(Tensor(dot(_Z, vector("x", TOKEN))), Tensor(dot(_Z, _B)), evaluate=False), TOKEN, Z)
#: ``sum_j w_j = 0``.
ZERO_SUM = for_every(sp.Eq(Tensor(dot(_Z, vector("w", _OTHER)).summed(_OTHER)), 0, evaluate=False), Z)


def _pushed(moved: Expression) -> Expression:
    """``F`` of a vector, F the sum of the heads."""
    return moved.applied(matrix("F"))


def _linear() -> Expression:
    """``w_i + (alpha/n) F sum_j w_j``."""
    return _W + _pushed(vector("w", _OTHER)).summed(_OTHER) * (ALPHA / TOKENS)


def _normalised(moved: Expression) -> Expression:
    """``(1/r_i)(I - yhat_i yhat_i^T)`` of a vector."""
    return _SHORT * (moved - _SHORT * _SHORT * dot(RAW, moved) * RAW)


def _slope_is(moved: Expression) -> sp.Eq:
    return sp.Eq(Slope(dot(_Z, RAW) * _SHORT), Tensor(dot(_Z, _normalised(moved))), evaluate=False)


#: ``y_i = (I + alpha F) b``.
POWER = for_every(sp.Eq(Tensor(dot(_Z, RAW)), Tensor(dot(_Z, _B + _pushed(_B) * ALPHA)), evaluate=False), TOKEN, Z)
JACOBIAN = for_every(_slope_is(_linear()), TOKEN, W, Z)
DISAGREEMENT = ForAll(TOKEN, TRUE, ForAll(W, TRUE, Implication(ZERO_SUM, for_every(_slope_is(_W), Z))))


def _power(k: Kernel, same: Proved) -> Proved:
    """The raw step with b for every token."""
    written = k.reduction(dot(_Z, RAW), dot(_Z, layer_step()))
    there = k.congruent(dot(_Z, layer_step()), "x", _B, TOKEN, same)
    value = there.proposition.word.relation.rhs.expression
    found = k.reduction(value, dot(_Z, _B + _pushed(_B) * ALPHA))
    return at_every_token(k, k.arithmetic([written, there, found], POWER.body.body), TOKEN, Z)


def _step_there(k: Kernel, same: Proved) -> tuple[Proved, Proved]:
    """``D[z^T y_i](w)`` in the state; and that at consensus it is ``z^T (w_i + (alpha/n) F sum_j w_j)``, for every z."""
    step = k.slope(dot(_Z, RAW))
    value = step.proposition.word.relation.rhs.expression
    there = k.congruent(value, "x", _B, TOKEN, same)
    found = k.reduction(there.proposition.word.relation.rhs.expression, dot(_Z, _linear()))
    equal = sp.Eq(Tensor(value), Tensor(dot(_Z, _linear())), evaluate=False)
    return step, k.generalise(Z, k.arithmetic([there, found], equal))


def _map_there(k: Kernel, same: Proved) -> Proved:
    """The derivative of the map, from that of its raw step (PM-L10) at z and at y_i."""
    of_map = k.recall(PM_L10)
    for letter in (TOKEN, W, Z):
        of_map = k.instantiate(of_map if letter != TOKEN else k.part(of_map, of_map.proposition.parts[2]), letter)
    step, linear = _step_there(k, same)
    square = k.slope(dot(RAW, RAW) / 2)
    along = k.instantiate(linear, RAW)
    kept, lost = dot(_Z, _linear()), dot(RAW, _linear())
    far = dot(_Z, RAW) * factor(Norm("r", (TOKEN,)), -3)
    pieces = (
        k.reduction(square.proposition.word.relation.rhs.expression, along.proposition.word.relation.lhs.expression),
        k.reduction(dot(_Z, _normalised(_linear())), _SHORT * kept - far * lost),
        k.total(_SHORT * kept, -(far * lost)),
        k.scaling(far * lost, -1),
        k.product(_SHORT, kept),
        k.product(far, lost),
    )
    return k.arithmetic([of_map, step, square, k.instantiate(linear, Z), along, *pieces], _slope_is(_linear()))


def _disagreement(k: Kernel, moved: Proved) -> Proved:
    """Moves that sum to zero: the term with F vanishes, at z and at y_i."""
    none = k.assume(ZERO_SUM)
    turned = (Letter("F", True),)
    pieces = []
    for test in (_Z, RAW):
        pushed = dot(test, _pushed(vector("w", _OTHER))).summed(_OTHER)
        gone = k.instantiate(none, test.applied(turned))
        whole = k.reduction(dot(test, _linear()), dot(test, _W) + pushed * (ALPHA / TOKENS))
        parts = (k.total(dot(test, _W), pushed * (ALPHA / TOKENS)), k.scaling(pushed, ALPHA / TOKENS))
        same = k.reduction(pushed, gone.proposition.word.relation.lhs.expression)
        equal = sp.Eq(Tensor(dot(test, _linear())), Tensor(dot(test, _W)), evaluate=False)
        pieces.append(k.arithmetic([gone, whole, *parts, same], equal))
    far = dot(_Z, RAW) * factor(Norm("r", (TOKEN,)), -3)
    for each in (_linear(), _W):
        kept, lost = _SHORT * dot(_Z, each), far * dot(RAW, each)
        pieces += [
            k.reduction(dot(_Z, _normalised(each)), kept - lost),
            k.total(kept, -lost),
            k.scaling(lost, -1),
            k.product(_SHORT, dot(_Z, each)),
            k.product(far, dot(RAW, each)),
        ]
    found = k.generalise(Z, k.arithmetic([moved, *pieces], _slope_is(_W)))
    return at_every_token(k, k.discharge(ZERO_SUM, found), TOKEN, W)


def proof(k: Kernel) -> Proved:
    """Equals for equals: the attention weights become 1/n, and their derivatives drop out."""
    same = k.assume(CONSENSUS)
    moved = _map_there(k, same)
    shown = (_power(k, same), at_every_token(k, moved, TOKEN, W, Z), _disagreement(k, moved))
    return k.conjunction(*(k.generalise(B, k.discharge(CONSENSUS, each)) for each in shown))


PM_CM = register(
    Statement(
        id="PM-CM",
        kind=Kind.EXTENSION,
        source=Source(HERE, "the consensus manifold"),
        title="On the consensus manifold attention is the power method",
        systems=("multihead-map",),
        claims=tuple(
            Formula(ForAll(B, TRUE, Implication(CONSENSUS, each))) for each in (POWER, JACOBIAN, DISAGREEMENT)
        ),
        depends=("PM-L10",),
        derive=derive,
        proof=proof,
        property_tests=(OnInstances(consensus_manifold),),
    )
)
