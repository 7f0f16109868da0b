"""Where the Oja map rests with a push ``u = V xbar != 0``: principal consensus, or a multiplier above 1.

At rest ``u = (x_i^T u) x_i`` for every token.  With ``rho = xbar^T V xbar``: if ``rho >= lambda_1`` all tokens are at ``xbar``,
a unit top eigenvector.  Else, with a unit top eigenvector ``v_1``, all tokens are moved along ``g = v_1 - (v_1^T x_a) x_a``;
where that is zero the tokens are at ``+- v_1``, and ``(v_1^T x_i - v_1^T xbar) v_2`` moves them.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.power_method.pm_e09_oja_map import influence
from eigentoken.proofs.power_method.polygons import NO_PUSH, polygon
from eigentoken.proofs.power_method.saddles import at_rest, saddle, shown_by
from eigentoken.proofs.power_method.symbols import V, alpha, d, lam
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z
from eigentoken.proofs.steps.fixed_points import RESTS
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.saddle_theorems import TWO_EIGENVECTORS, at_consensus
from eigentoken.proofs.steps.theorems import EUCLIDEAN, OPERATOR_NORM, RAYLEIGH_ABOVE
from eigentoken.theory.calculus import SLOT, TOKENS, Expression, Index, Letter, dot, instance, matrix, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.multipliers import MULTIPLIER
from eigentoken.theory.kernel.propositions import Conjunction, Disjunction, Implication, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.conditions import Symmetric

__all__ = [
    "AT_REST",
    "PRINCIPAL_OR_SADDLE",
    "collected_pushes",
    "eigenvectors",
    "height_of_mean",
    "of_any",
    "principal_or_saddle",
    "radial_push",
]

_Z, _X, _P = vector(Z.name), vector("x", TOKEN), influence()
_J, _A = Index("token", "j"), Index("token", "a")
_ANY = vector("x", _A)
_MEAN = vector("x", _J).summed(_J) / TOKENS
_FIRST, _SECOND = vector("u"), vector("v")
_V = matrix("V")
_RHO, _PUSHED, _TOP = Tensor(dot(_MEAN, _P)), Tensor(dot(_P, _P)), lam(V, 1)
_ZERO = sp.Eq(_PUSHED, 0, evaluate=False)
PRINCIPAL_OR_SADDLE = Disjunction((at_consensus(V), MULTIPLIER))
_PUSH_OR_SECOND = proposition(sp.Or(_PUSHED > 0, lam(V, 2) > 0))
#: A state at rest with a push, or with ``lambda_2 > 0``, is principal consensus or has a multiplier above 1.
AT_REST = Implication(Conjunction((RESTS, _PUSH_OR_SECOND)), PRINCIPAL_OR_SADDLE)


def eigenvectors(k: Kernel) -> tuple[Proved, Proved]:
    """That there are orthonormal eigenvectors u and v for the first two eigenvalues; and what is known of them."""
    some = k.textbook(TWO_EIGENVECTORS, k.given(Symmetric(V)), k.given(sp.Ge(d, 2, evaluate=False)), A=V)
    second = some.proposition.body
    return some, k.conjunction(*(k.assume(each) for each in (some.proposition.guard, second.guard, second.body)))


def of_any(k: Kernel, some: Proved, found: Proved) -> Proved:
    """What was shown with the eigenvectors does not speak of them."""
    inner = k.exists_elimination(k.assume(some.proposition.body), found)
    return k.exists_elimination(some, inner)


def radial_push(k: Kernel) -> Proved:
    """``z^T u = (x_i^T u) z^T x_i`` for every i and z."""
    along, height = at_rest(k)
    step = expanded(k, dot(_Z, RAW), (1, dot(_Z, _X)), (alpha, dot(_Z, _P)))
    equal = sp.Eq(Tensor(dot(_Z, _P)), Tensor(dot(_X, _P)) * Tensor(dot(_Z, _X)), evaluate=False)
    found = k.arithmetic([k.instantiate(k.instantiate(along, TOKEN), Z), height, step], equal)
    return k.generalise(TOKEN, k.generalise(Z, found))


def collected_pushes(k: Kernel, radial: Proved) -> Proved:
    """``rho z^T u = |u|^2 z^T xbar`` for every z: the tokens summed with the weights ``x_i^T u``."""
    here = k.instantiate(radial, TOKEN)
    own, along = k.instantiate(here, _P), k.instantiate(here, Z)
    left, right = dot(_X, _P) * dot(_Z, _P), dot(_P, _P) * dot(_Z, _X)
    each = k.arithmetic(
        [own, along, k.product(dot(_X, _P), dot(_Z, _P)), k.product(dot(_P, _P), dot(_Z, _X))],
        sp.Eq(Tensor(left), Tensor(right), evaluate=False),
    )
    known = [
        k.summed(k.generalise(TOKEN, each)),
        expanded(k, left.summed(TOKEN), (TOKENS, dot(_MEAN, _P), dot(_Z, _P))),
        expanded(k, right.summed(TOKEN), (TOKENS, dot(_P, _P), dot(_Z, _MEAN))),
    ]
    equal = sp.Eq(_RHO * Tensor(dot(_Z, _P)), _PUSHED * Tensor(dot(_Z, _MEAN)), evaluate=False)
    return k.generalise(Z, k.arithmetic(known, equal))


def _consensus(k: Kernel, radial: Proved) -> Proved:
    """``rho >= lambda_1``: all tokens are at xbar, and that is a unit eigenvector for ``lambda_1``."""
    apart = _X - _MEAN
    size, spread = Tensor(dot(_MEAN, _MEAN)), dot(apart, apart)
    bounded = k.textbook(RAYLEIGH_ABOVE, k.given(Symmetric(V)), A=V, z=_MEAN)
    form = expanded(k, dot(_MEAN, _MEAN, _V), (1, dot(_MEAN, _P)))
    total = expanded(k, spread.summed(TOKEN), (TOKENS,), (-TOKENS, dot(_MEAN, _MEAN)))
    known = [bounded, form, total, k.square(apart, TOKEN), k.given(_TOP > 0), k.assume(_RHO >= _TOP)]
    unit = k.arithmetic(known, sp.And(sp.Eq(size, 1), sp.Eq(_RHO, _TOP), sp.Eq(Tensor(spread.summed(TOKEN)), 0)))
    least = k.summand(k.generalise(TOKEN, k.square(apart)), TOKEN)
    cauchy = k.textbook(EUCLIDEAN, y=_Z, z=apart)
    split = expanded(k, dot(_Z, apart), (1, dot(_Z, _X)), (-1, dot(_Z, _MEAN)))
    same = sp.Eq(Tensor(dot(_Z, _X)), Tensor(dot(_Z, _MEAN)), evaluate=False)
    there = k.generalise(Z, k.arithmetic([unit, least, k.square(apart), cauchy, split], same))
    here = k.instantiate(radial, TOKEN)
    moved = expanded(k, dot(_Z, _MEAN.applied(_V)), (1, dot(_Z, _P)))
    eigen = sp.Eq(Tensor(dot(_Z, _MEAN, _V)), _TOP * Tensor(dot(_Z, _MEAN)), evaluate=False)
    value = [k.instantiate(here, Z), k.instantiate(there, Z), k.instantiate(there, _P), moved, unit]
    top = k.generalise(Z, k.arithmetic(value, eigen))
    one_long = k.arithmetic([unit], sp.Eq(size, 1, evaluate=False))
    return k.witness(at_consensus(V), _MEAN, top, one_long, k.generalise(TOKEN, there))


def _turned() -> Expression:
    """``g = v_1 - (v_1^T x_a) x_a``, a any token: the same vector for all of them."""
    return _FIRST - _ANY * dot(_FIRST, _ANY)


def height_of_mean(k: Kernel, collected: Proved) -> Proved:
    """``rho != 0``, because ``rho^2 = |u|^2 |xbar|^2`` and ``|u| <= |V| |xbar|``."""
    bounded = k.textbook(OPERATOR_NORM, A=V, z=_MEAN)
    known = [
        k.instantiate(collected, _MEAN),
        k.part(bounded, bounded.proposition.parts[0]),
        expanded(k, dot(_MEAN.applied(_V), _MEAN.applied(_V)), (1, dot(_P, _P))),
        k.square(_MEAN),
        k.assume(_PUSHED > 0),
    ]
    return k.arithmetic(known, sp.Ne(_RHO, 0))


def _together(k: Kernel, rule: Proved, radial: Proved, top: Proved) -> Proved:
    """``rho < lambda_1`` and ``g != 0``: all tokens are moved along g, ``g^T V g = lambda_1 |g|^2``."""
    turned, here, there = _turned(), k.instantiate(radial, TOKEN), k.instantiate(radial, _A)
    along = dot(_FIRST, _ANY)
    both = [k.instantiate(each, vector_) for each in (here, there) for vector_ in (_FIRST, _P, _ANY)]
    units = [expanded(k, dot(_ANY, _ANY), (1,)), k.assume(_PUSHED > 0)]
    level = expanded(k, dot(_X, turned), (1, dot(_X, _FIRST)), (-1, along, dot(_X, _ANY)))
    tangent = k.arithmetic([level, *both, *units], sp.Eq(Tensor(dot(_X, turned)), 0, evaluate=False))
    collected = collected_pushes(k, radial)
    back = turned.applied((Letter("V", True),))  # V^T g, so that its product with u is g^T V u
    flat = k.arithmetic(
        [
            k.instantiate(collected, back),
            expanded(k, dot(back, _MEAN), (1, dot(turned, _P))),
            k.instantiate(there, turned),
            k.instantiate(there, back),
            k.instantiate(there, _P),
            expanded(k, dot(turned, _ANY), (1, along), (-1, along, dot(_ANY, _ANY))),
            *units,
            height_of_mean(k, collected),
        ],
        sp.And(sp.Eq(Tensor(dot(back, _ANY)), 0), sp.Eq(Tensor(dot(turned, _ANY)), 0)),
    )
    stretched = [
        flat,
        expanded(k, dot(turned, turned, _V), (1, dot(turned, _FIRST, _V)), (-1, along, dot(back, _ANY))),
        expanded(k, dot(turned, turned), (1, dot(turned, _FIRST)), (-1, along, dot(turned, _ANY))),
        k.instantiate(top, turned),
    ]
    equal = sp.Eq(Tensor(dot(turned, turned, _V)), _TOP * Tensor(dot(turned, turned)), evaluate=False)
    form = k.arithmetic(stretched, equal)
    weighed = (dot(_X, _P) * dot(turned, turned)).summed(TOKEN)
    excess = k.arithmetic(
        [
            form,
            expanded(k, _curved(turned), (TOKENS, dot(turned, turned, _V))),
            expanded(k, weighed, (TOKENS, dot(_MEAN, _P), dot(turned, turned))),
            k.assume(_RHO < _TOP),
            k.assume(Tensor(dot(turned, turned)) > 0),
        ],
        sp.Gt(Tensor(_curved(turned)), Tensor(weighed), evaluate=False),
    )
    return shown_by(k, rule, turned, tangent, excess)


def _curved(family: Expression) -> Expression:
    total = instance(family, _J).summed(_J)
    return dot(total, total, _V) / TOKENS


def _split(k: Kernel, rule: Proved, radial: Proved, both: Proved) -> Proved:
    """``g = 0``: the tokens are at ``+- v_1`` and not all equal; ``(v_1^T x_i - v_1^T xbar) v_2`` moves them."""
    turned, here = _turned(), k.instantiate(radial, TOKEN)
    along, sign, balance = dot(_FIRST, _P), dot(_FIRST, _X), dot(_FIRST, _MEAN)
    top, second, right = both.proposition.parts
    eigen, unit, other, level = (k.part(both, each) for each in (*top.parts, second.parts[1], right))
    cauchy = k.textbook(EUCLIDEAN, y=_Z, z=turned)
    parts = expanded(k, dot(_Z, turned), (1, dot(_Z, _FIRST)), (-1, dot(_FIRST, _ANY), dot(_Z, _ANY)))
    there = k.instantiate(radial, _A)
    on_line = k.arithmetic(
        [
            *(cauchy, parts, k.assume(sp.Le(Tensor(dot(turned, turned)), 0, evaluate=False)), k.square(turned)),
            *(k.instantiate(there, each) for each in (Z, _FIRST, _P)),
        ],
        sp.Eq(_PUSHED * Tensor(dot(_Z, _FIRST)), Tensor(along) * Tensor(dot(_Z, _P)), evaluate=False),
    )
    on_line = k.generalise(Z, on_line)
    height = k.instantiate(eigen, _MEAN)  # xbar^T V u = lambda_1 xbar^T u
    turned_height = k.reduction(dot(_MEAN, _FIRST, _V), along, k.given(Symmetric(V)))
    known = [
        *(k.instantiate(on_line, each) for each in (_FIRST, _MEAN)),
        *(k.instantiate(here, each) for each in (_FIRST, _P)),
        *(height, turned_height, unit, k.assume(_PUSHED > 0), k.given(_TOP > 0)),
    ]
    s, delta = Tensor(sign), Tensor(balance)
    signs = k.arithmetic(known, sp.And(sp.Eq(s**2, 1), sp.Eq(Tensor(dot(_X, _P)), _TOP * delta * s), sp.Ne(delta, 0)))
    rho = k.arithmetic(known, sp.Eq(_RHO, _TOP * delta**2, evaluate=False))
    side = k.arithmetic(
        [k.instantiate(on_line, _SECOND), k.instantiate(here, _SECOND), level, *known],
        sp.Eq(Tensor(dot(_SECOND, _X)), 0, evaluate=False),
    )
    family = (dot(_FIRST, vector("x", SLOT)) - balance) * _SECOND
    tangent = k.arithmetic(
        [side, expanded(k, dot(_X, instance(family, TOKEN)), (1, sign - balance, dot(_SECOND, _X)))],
        sp.Eq(Tensor(dot(_X, instance(family, TOKEN))), 0, evaluate=False),
    )
    excess = _opposite(k, family, (signs, rho, other, k.assume(_RHO < _TOP), k.given(_TOP > 0)))
    return shown_by(k, rule, family, tangent, excess)


def _opposite(k: Kernel, family: Expression, known: tuple[Proved, ...]) -> Proved:
    """``sum_i (x_i^T u)(sigma_i - delta)^2 = -n lambda_1 delta^2 (1 - delta^2) < 0``."""
    sign, balance, own = dot(_FIRST, _X), dot(_FIRST, _MEAN), instance(family, TOKEN)
    weighed = dot(_X, _P) * dot(own, own)
    value = (balance * sign + balance**3 * sign - balance * balance * 2) * _TOP
    each = k.arithmetic(
        [
            *known,
            k.product(dot(_X, _P), dot(own, own)),
            expanded(k, dot(own, own), (1, sign - balance, sign - balance, dot(_SECOND, _SECOND))),
            expanded(k, sign - balance, (1, sign), (-1, balance)),
            expanded(
                k,
                value,
                (_TOP, balance, sign),
                (_TOP, balance, balance, balance, sign),
                (-2 * _TOP, balance, balance),
            ),
        ],
        sp.Eq(Tensor(weighed), Tensor(value), evaluate=False),
    )
    four = (_TOP * TOKENS, balance, balance, balance, balance)
    total = expanded(k, value.summed(TOKEN), four, (-_TOP * TOKENS, balance, balance))
    below = [
        k.summed(k.generalise(TOKEN, each)),
        total,
        expanded(k, _curved(family), (0,)),
        *known[1:],
        k.arithmetic([known[0]], sp.Ne(Tensor(balance), 0)),
    ]
    return k.arithmetic(below, sp.Gt(Tensor(_curved(family)), Tensor(weighed.summed(TOKEN)), evaluate=False))


def _either(k: Kernel, found: Proved) -> Proved:
    return k.tautology([found], PRINCIPAL_OR_SADDLE)


def principal_or_saddle(k: Kernel) -> Proved:
    """A proof of :data:`AT_REST`: by the push, by ``rho`` against ``lambda_1``, and by g."""
    some, both = eigenvectors(k)
    rule = k.modus_ponens(saddle(k), k.assume(RESTS))
    radial = radial_push(k)
    top = k.part(both, both.proposition.parts[0].parts[0])
    cauchy = k.textbook(EUCLIDEAN, y=_Z, z=_P)
    no_push = k.generalise(Z, k.arithmetic([cauchy, k.assume(_ZERO)], NO_PUSH.body))
    without = k.supply(polygon(k, rule, both), no_push)
    turned = Tensor(dot(_turned(), _turned()))
    cases: tuple[tuple[Proposition, Proved], ...] = (
        (proposition(sp.And(_ZERO, lam(V, 2) > 0)), _either(k, without)),
        (proposition(sp.And(_PUSHED > 0, _RHO >= _TOP)), _either(k, _consensus(k, radial))),
        (proposition(sp.And(_PUSHED > 0, _RHO < _TOP, turned > 0)), _either(k, _together(k, rule, radial, top))),
        (proposition(sp.And(_PUSHED > 0, _RHO < _TOP, turned <= 0)), _either(k, _split(k, rule, radial, both))),
    )
    known = [k.square(_P), k.assume(AT_REST.left.parts[1])]
    either = k.arithmetic(known, Disjunction(tuple(case for case, _ in cases)))
    return k.discharge(AT_REST.left, of_any(k, some, k.by_cases(either, *cases)))
