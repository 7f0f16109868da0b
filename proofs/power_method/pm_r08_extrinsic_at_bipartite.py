"""PM-R8: extrinsic eigenvalues at bipartite points.  Reference: Li-Altafini, Remark 8."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_e08_attention_map import OTHER, attention_weight
from eigentoken.proofs.power_method.pm_l02_oja_jacobian import W
from eigentoken.proofs.power_method.pm_l12_jacobian_at_bipartite import (
    HEIGHT,
    LINE,
    ON_THE_LINE,
    PLACE,
    PM_L12,
    sigma,
)
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.point_checks import extrinsic_at_bipartite
from eigentoken.proofs.steps.equations import TOKEN, Z, at_every_token, for_every
from eigentoken.proofs.steps.slopes import extrinsic, radial_slopes
from eigentoken.theory.calculus import ALPHA, dot, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, ForAll, Implication, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement

_Z, _V = vector(Z.name), vector(LINE.name)
#: ``|v|^2 = 1``.
UNIT = proposition(sp.Eq(Tensor(dot(_V, _V)), 1, evaluate=False))
BIPARTITE = Conjunction((PLACE, UNIT))
_SIDE = Tensor(sigma(TOKEN))
#: ``y_i = c v`` with ``c = sigma_i + alpha lambda sum_j a_ij sigma_j``.
_SIZE = _SIDE + ALPHA * HEIGHT * Tensor((attention_weight() * sigma(OTHER)).summed(OTHER))


def _claim(said: sp.Eq) -> Formula:
    return Formula(ForAll(LINE, TRUE, ForAll(HEIGHT, TRUE, Implication(BIPARTITE, for_every(said, TOKEN, W)))))


CLAIMS = tuple(map(_claim, extrinsic(_V, _SIDE * _SIZE)))


def proof(k: Kernel) -> Proved:
    """The step of a token on the line is on the line (PM-L12): both derivatives along it."""
    place = k.assume(BIPARTITE)
    recalled = k.recall(PM_L12)
    radial = k.part(recalled, recalled.proposition.parts[1])
    there = k.modus_ponens(k.instantiate(k.instantiate(radial, LINE), HEIGHT), k.part(place, PLACE))
    line = k.instantiate(k.part(place, ON_THE_LINE), TOKEN)
    split = k.product(sigma(TOKEN), dot(_Z, _V))
    along = sp.Eq(Tensor(dot(_Z, vector("x", TOKEN))), _SIDE * Tensor(dot(_Z, _V)), evaluate=False)
    own = k.generalise(Z, k.arithmetic([k.instantiate(line, Z), split], along))
    found = radial_slopes(k, LINE, _SIZE, _SIDE, k.instantiate(there, TOKEN), own, k.part(place, UNIT))
    return k.conjunction(
        *(at_every_token(k, k.discharge(BIPARTITE, at_every_token(k, each, TOKEN, W)), LINE, HEIGHT) for each in found)
    )


PM_R8 = register(
    Statement(
        id="PM-R8",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "Remark 8"),
        title="Extrinsic eigenvalues at bipartite points",
        systems=("attention-map",),
        claims=CLAIMS,
        depends=("PM-R2", "PM-L12"),
        proof=proof,
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"As in PM-R2, in the direction of $v$; what is divided by on the right is $m_i|m_i|$ with the height $m_i = "
                r"x_i^{\top}y_i$ of token $i$.",
            ),
        ),
        property_tests=(OnInstances(extrinsic_at_bipartite),),
    )
)
