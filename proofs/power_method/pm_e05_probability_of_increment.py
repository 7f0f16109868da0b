"""PM-E5: the share of tokens whose alignment grows.  Reference: Li-Altafini, eq. (5)."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.alignment import (
    AFTER,
    BEFORE,
    EIGENVECTOR,
    LAST,
    LENGTH,
    NOTATION,
    PLACE,
    TOP,
    UNIT,
    F,
    V,
    heights,
)
from eigentoken.proofs.power_method.pm_cm_consensus_manifold import B
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.first_failures import FirstFailure, alignment_lost
from eigentoken.proofs.properties.map_checks import share_of_increments
from eigentoken.proofs.steps.equations import TOKEN, at_every_token, for_every
from eigentoken.proofs.steps.theorems import OFF_THE_TOP, RAYLEIGH_BELOW
from eigentoken.theory.calculus import ALPHA, dot, matrix, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, Implication, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.terms import Eigenvalue, d
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant

#: ``-(1 + alpha lambda_d) < 1 + alpha lambda_1``: with a simple top, ``|1 + alpha lambda_ell|`` is less than that, too.
DOMINANT = Relation(sp.Gt(2 + ALPHA * (TOP + LAST), 0, evaluate=False))
PLANE = Relation(sp.Ge(d, 2, evaluate=False))
_B, _V = vector(B.name), vector(V.name)
_HEIGHT = Tensor(dot(_V, _B))
#: The common token is neither orthogonal to v nor at v or -v.
BETWEEN = proposition(sp.And(sp.Ne(_HEIGHT, 0), _HEIGHT**2 < 1))
GUARD = Conjunction((PLACE, BETWEEN))
GROWS = sp.Gt(AFTER, BEFORE, evaluate=False)
_FB, _FV = (each.applied(matrix("F")) for each in (_B, _V))


def _off(k: Kernel, place: Proved) -> list[Proved]:
    """The part e of b off v: ``|e|^2``, ``e^T F e`` and ``|F e|^2`` in terms of b, and their bounds by the spectrum."""
    eigen, unit, symmetric = k.part(place, EIGENVECTOR), k.part(place, UNIT), k.given(Symmetric(F))
    off = _B - dot(_V, _B) * _V
    across = k.arithmetic([k.factors(dot(_V, off)), unit], sp.Eq(Tensor(dot(_V, off)), 0, evaluate=False))
    long = k.arithmetic([unit], Tensor(dot(_V, _V)) > 0)
    bounds = k.textbook(OFF_THE_TOP, symmetric, k.given(PLANE), eigen, long, across, A=F, v=V, z=off)
    plain = Kernel(None, k.conditions)
    turned = plain.reduction(dot(_V, _FB), dot(_B, _FV), plain.given(Symmetric(F)))
    image = off.applied(matrix("F"))
    known = [
        *(k.factors(dot(off, off)), k.factors(dot(off, image)), k.factors(dot(image, image)), turned, unit),
        *(k.instantiate(eigen, each) for each in (_B, _V, _FB, _FV)),
    ]
    form, square = Tensor(dot(_B, _FB)), Tensor(dot(_FB, _FB))
    said = sp.And(
        sp.Eq(Tensor(dot(off, off)), Tensor(dot(_B, _B)) - _HEIGHT**2),
        sp.Eq(Tensor(dot(off, image)), form - TOP * _HEIGHT**2),
        sp.Eq(Tensor(dot(image, image)), square - TOP**2 * _HEIGHT**2),
    )
    return [k.arithmetic(known, said), bounds, k.textbook(RAYLEIGH_BELOW, symmetric, A=F, z=off)]


def _gap(k: Kernel) -> Proved:
    """``e^2 + 2 alpha g + alpha^2 h < (1 + alpha l)^2 e^2`` for a form g between ``m e^2`` and ``s e^2``, s and m below l."""
    a, e, g, h, l, s, m = sp.symbols("a e g h l s m", real=True)
    given = (*(a > 0, e > 0, m <= s, s < l, 2 + a * (l + m) > 0, g <= s * e, g >= m * e, h <= (s + m) * g - s * m * e),)
    return k.lemma(given, e + 2 * a * g + a**2 * h < (1 + a * l) ** 2 * e, a, e, g, h, l, s, m)


def _order(k: Kernel) -> Proved:
    """``lambda_d <= lambda_2 < lambda_1``."""
    plane = k.given(PLANE)
    simple = k.at(k.unfold(k.given(SimpleTop(F))), sp.Integer(2), plane)
    last = k.at(k.at(k.eigenvalue_order(F), sp.Integer(2), plane), d, plane)
    return k.conjunction(simple, k.supply(last, k.given(Symmetric(F))))


def proof(k: Kernel) -> Proved:
    """``|(I + alpha F) b| < (1 + alpha lambda_1) |b|``: the part of b off v is stretched less."""
    place = k.assume(GUARD)
    made, off = heights(k, k.part(place, PLACE)), _off(k, k.part(place, PLACE))
    second = Eigenvalue(F, 2)
    values = (
        *(ALPHA, 1 - _HEIGHT**2, Tensor(dot(_B, _FB)) - TOP * _HEIGHT**2, Tensor(dot(_FB, _FB)) - TOP**2 * _HEIGHT**2),
        *(TOP, second, LAST),
    )
    less = _gap(k)
    for value in values:
        less = k.instantiate(less, value)
    known = [*made, *off, _order(k), k.given(DOMINANT), k.part(place, BETWEEN)]
    asked = k.arithmetic(known, less.proposition.left)
    stretched = k.arithmetic([k.modus_ponens(less, asked), *made], LENGTH < (1 + ALPHA * TOP) ** 2)
    grows = k.arithmetic([*made, stretched, k.part(place, BETWEEN)], GROWS)
    return at_every_token(k, k.discharge(GUARD, k.generalise(TOKEN, grows)), B, V)


PM_E5 = register(
    Statement(
        id="PM-E5",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (5)"),
        title="The probability of an increment",
        systems=("multihead-map",),
        conditions=(Symmetric(F), SimpleTop(F), DOMINANT, PLANE),
        claims=(Formula(for_every(Implication(GUARD, for_every(GROWS, TOKEN)), B, V)),),
        depends=("PM-E4", "PM-CM"),
        proof=proof,
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                NOTATION + r"The share of $N$ sampled tokens that align further is $\Pi(\tau) = \frac1N\#\{i : "
                r"|\operatorname{corr}(x_i(\tau+1), v_1(\tau))| > |\operatorname{corr}(x_i(\tau), v_1(\tau))|\}$; "
                r"alignment means $\Pi > \frac12$.",
            ),
        ),
        property_tests=(OnInstances(share_of_increments),),
        variants=(
            Variant(
                "F symmetric",
                "for a triangular F the correlation with v_1 falls in one step, for every token",
                FirstFailure(alignment_lost),
            ),
        ),
    )
)
