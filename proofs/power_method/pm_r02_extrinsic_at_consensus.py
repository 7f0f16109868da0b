"""PM-R2: extrinsic eigenvalues at consensus depend on how the map is extended off the sphere.

Reference: Li-Altafini, Remark 2.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_cm_consensus_manifold import CONSENSUS, B
from eigentoken.proofs.power_method.pm_e08_attention_map import attention_step
from eigentoken.proofs.power_method.pm_e09_oja_map import oja_step
from eigentoken.proofs.power_method.pm_l02_oja_jacobian import W
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.point_checks import extrinsic_at_consensus
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z, at_every_token, for_every
from eigentoken.proofs.steps.slopes import extrinsic, radial_slopes, value_of
from eigentoken.theory.calculus import ALPHA, dot, matrix, one, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, ForAll, Implication
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement

_Z, _B = vector(Z.name), vector(B.name)
HEIGHT = sp.Symbol("lambda", real=True)
_PUSHED = dot(_Z, _B.applied(matrix("V")))
#: ``V b = lambda b``.
EIGENVECTOR = for_every(sp.Eq(Tensor(_PUSHED), HEIGHT * Tensor(dot(_Z, _B)), evaluate=False), Z)
PLACE = Conjunction((CONSENSUS, EIGENVECTOR))


def _claim(said: sp.Eq) -> Formula:
    return Formula(ForAll(B, TRUE, ForAll(HEIGHT, TRUE, Implication(PLACE, for_every(said, TOKEN, W)))))


CLAIMS = tuple(map(_claim, extrinsic(_B, 1 + ALPHA * HEIGHT)))


def _raw(k: Kernel, same: Proved, eigen: Proved) -> Proved:
    """``y_i = (1 + alpha lambda) b``, for every z."""
    step = attention_step() if k.system is not None and k.system.score else oja_step()
    there = k.congruent(dot(_Z, step), "x", _B, TOKEN, same)
    pieces = (
        k.reduction(dot(_Z, RAW), dot(_Z, step)),
        k.reduction(value_of(there), dot(_Z, _B) + _PUSHED * ALPHA),
        k.total(dot(_Z, _B), _PUSHED * ALPHA),
        k.scaling(_PUSHED, ALPHA),
    )
    equal = sp.Eq(Tensor(dot(_Z, RAW)), (1 + ALPHA * HEIGHT) * Tensor(dot(_Z, _B)), evaluate=False)
    return k.generalise(Z, k.arithmetic([there, *pieces, k.instantiate(eigen, Z)], equal))


def proof(k: Kernel) -> Proved:
    """Both derivatives along b: those of a step along b from a state along b."""
    place = k.assume(PLACE)
    same = k.part(place, CONSENSUS)
    own, x = k.instantiate(same, TOKEN), vector("x", TOKEN)
    unit = (k.instantiate(own, x), k.instantiate(own, _B), k.reduction(dot(x, x), one()), k.factors(one()))
    long = k.arithmetic(unit, sp.Eq(Tensor(dot(_B, _B)), 1, evaluate=False))
    raw = _raw(k, same, k.part(place, EIGENVECTOR))
    found = radial_slopes(k, B, 1 + ALPHA * HEIGHT, sp.Integer(1), raw, own, long)
    return k.conjunction(
        *(at_every_token(k, k.discharge(PLACE, at_every_token(k, each, TOKEN, W)), B, HEIGHT) for each in found)
    )


PM_R2 = register(
    Statement(
        id="PM-R2",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "Remark 2"),
        title="Extrinsic eigenvalues at consensus",
        systems=("oja-map", "attention-map"),
        claims=CLAIMS,
        depends=("PM-L3",),
        proof=proof,
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"The map is extended off the sphere as $y_i/\lVert y_i\rVert$, or with $\lVert x_i\rVert = 1$ put "
                r"in as $y_i/q_i$, $q_i^2 = 1 + \lVert y_i\rVert^2 - \lVert x_i\rVert^2$. The left sides are the "
                r"derivatives of the two along $w$, in the direction of $b$: the extrinsic block.",
            ),
        ),
        property_tests=(OnInstances(extrinsic_at_consensus),),
    )
)
