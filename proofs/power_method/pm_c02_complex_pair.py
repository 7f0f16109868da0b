"""PM-C2: on the plane of a complex pair consensus rotates.  New here; Li-Altafini, section 2.1.2.

``F (u + i v) = lambda (u + i v)``, ``lambda = a + i b``: at consensus on ``xi u + eta v`` the raw step has the coordinates
``eta + i xi`` times ``1 + alpha lambda``: a rotation by ``arg(1 + alpha lambda)`` and a scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.pm_cm_consensus_manifold import PM_CM
from eigentoken.proofs.power_method.symbols import alpha
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.point_checks import rotating_consensus
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z, for_every
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.theory.calculus import Expression, dot, matrix, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, Implication, Proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Vector

#: ``lambda = a + i b``, and the coordinates of the tokens on the plane of ``u + i v``.
A, B, XI, ETA = sp.symbols("a b xi eta", real=True)
_U, _V = VectorLetter("u"), VectorLetter("v")
_u, _v, _z = vector("u"), vector("v"), vector(Z.name)
_LETTERS = (_U, _V, A, B, XI, ETA)


def _combined(left: Expression, first: sp.Expr, second: sp.Expr) -> Proposition:
    """``z^T left = first z^T u + second z^T v`` for every z."""
    value = first * Tensor(dot(_z, _u)) + second * Tensor(dot(_z, _v))
    return for_every(sp.Eq(Tensor(dot(_z, left)), value, evaluate=False), Z)


#: ``F u = a u - b v`` and ``F v = b u + a v``.
PLANE = Conjunction((_combined(_u.applied(matrix("F")), A, -B), _combined(_v.applied(matrix("F")), B, A)))
THERE = for_every(_combined(vector("x", TOKEN), XI, ETA), TOKEN)
_NEXT = ((1 + alpha * A) * XI + alpha * B * ETA, (1 + alpha * A) * ETA - alpha * B * XI)
#: The raw step, in the coordinates of the plane.
TURNED = Implication(Conjunction((PLANE, THERE)), for_every(_combined(RAW, *_NEXT), TOKEN))
#: A scale ``|1 + alpha lambda|`` and a turn by its argument, the same for all coordinates: their square, and the two products.
_SCALE = (1 + alpha * A) ** 2 + (alpha * B) ** 2
SCALED = for_every(
    sp.And(
        sp.Eq(_NEXT[0] ** 2 + _NEXT[1] ** 2, _SCALE * (XI**2 + ETA**2), evaluate=False),
        sp.Eq(XI * _NEXT[0] + ETA * _NEXT[1], (1 + alpha * A) * (XI**2 + ETA**2), evaluate=False),
        sp.Eq(ETA * _NEXT[0] - XI * _NEXT[1], alpha * B * (XI**2 + ETA**2), evaluate=False),
    ),
    *(A, B, XI, ETA),
)


def proof(k: Kernel) -> Proved:
    """PM-CM at ``xi u + eta v``; then identities of numbers."""
    known = k.recall(PM_CM)
    raw = k.part(known, known.proposition.parts[0])
    place = _u * XI + _v * ETA
    whole = k.assume(TURNED.left)
    plane, there = (k.part(whole, each) for each in (PLANE, THERE))
    here = k.instantiate(k.instantiate(there, TOKEN), Z)
    split = expanded(k, dot(_z, place), (XI, dot(_z, _u)), (ETA, dot(_z, _v)))
    at_place = k.instantiate(raw, place)
    equal = k.arithmetic([here, split], at_place.proposition.left.body.body)
    step = k.modus_ponens(at_place, k.generalise(TOKEN, k.generalise(Z, equal)))
    step = k.instantiate(k.instantiate(step, TOKEN), Z)
    moved = place + place.applied(matrix("F")) * alpha
    image = (_u.applied(matrix("F")), _v.applied(matrix("F")))
    pieces = (
        *((XI, dot(_z, _u)), (ETA, dot(_z, _v))),
        *((alpha * XI, dot(_z, image[0])), (alpha * ETA, dot(_z, image[1]))),
    )
    parts = [k.instantiate(k.part(plane, each), Z) for each in PLANE.parts]
    found = k.arithmetic([step, expanded(k, dot(_z, moved), *pieces), *parts], TURNED.right.body.body)
    turned = k.discharge(TURNED.left, k.generalise(TOKEN, k.generalise(Z, found)))
    for letter in reversed(_LETTERS):
        turned = k.generalise(letter, turned)
    scaled = k.conjunction(*(k.identity(*each.word.relation.args) for each in SCALED.body.body.body.body.parts))
    for letter in reversed((A, B, XI, ETA)):
        scaled = k.generalise(letter, scaled)
    return k.conjunction(turned, scaled)


def rotation() -> Sequence[Any]:
    """The angle per layer for lambda = 1 +- 2i, alpha = 3/10: arg(1.3 + 0.6 i), from one step of the map."""
    from eigentoken.proofs.properties.exact_points import image, instance

    document = instance(
        "multihead-map",
        [["1", "0"]] * 2,
        heads=[{"F": [["1", "-2"], ["2", "1"]], "M": [["1", "0"], ["0", "1"]]}],
        alpha="3/10",
    )
    x, y, *_ = image(document)
    return [(y / x).atan()]


PM_C2 = register(
    Statement(
        id="PM-C2",
        kind=Kind.EXTENSION,
        source=Source(HERE, "Case 2 of Li-Altafini, section 2.1.2"),
        title="A complex pair makes consensus rotate",
        systems=("multihead-map",),
        claims=(Formula(for_every(TURNED, *_LETTERS)), Formula(SCALED)),
        depends=("PM-CM",),
        proof=proof,
        vectors=(Vector("angle per layer", rotation, ("0.432407775571",)),),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"If the pair maximises $|1 + \alpha\lambda|$ strictly and $|1 + \alpha\lambda_1| > 1$, the circle of these "
                r"consensus states attracts a neighbourhood.",
            ),
        ),
        property_tests=(OnInstances(rotating_consensus),),
    )
)
