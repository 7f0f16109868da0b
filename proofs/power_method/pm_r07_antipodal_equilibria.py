"""PM-R7: all maps are odd, so equilibria come in antipodal pairs.  Reference: Li-Altafini, Remark 7."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.point_checks import odd
from eigentoken.proofs.steps.equations import NORMALISED, RAW, TOKEN, Z, at_every_token, for_every, normalised
from eigentoken.proofs.steps.fixed_points import RESTS
from eigentoken.proofs.steps.slopes import SHORT
from eigentoken.theory.calculus import dot, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Equivalence, Proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Opposite, Rate, Tensor
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement

_OWN, _NEXT = dot(vector(Z.name), vector("x", TOKEN)), dot(vector(Z.name), RAW) * SHORT


def _sent_to(sign: int) -> Proposition:
    """The opposite state is sent to ``sign x``."""
    return for_every(sp.Eq(Opposite(_NEXT), Tensor(_OWN * sign), evaluate=False), TOKEN, Z)


#: ``f(-x) = -f(x)``.
ODD = for_every(sp.Eq(Opposite(_NEXT), Tensor(-_NEXT), evaluate=False), TOKEN, Z)
#: ``f(x) = -x``.
FLIPPED = for_every(sp.Eq(Rate(_OWN), Tensor(_OWN * -2), evaluate=False), TOKEN, Z)
#: -x is fixed iff x is; and ``f(-x) = x`` iff ``f(x) = -x``.
PAIRS, CYCLES = Equivalence(RESTS, _sent_to(-1)), Equivalence(FLIPPED, _sent_to(1))


def proof(k: Kernel) -> Proved:
    """The equation at -x by the calculus: scores are even, pushes are odd, and so is what is normalised."""
    turned, step = k.opposite(_NEXT), k.increment(_OWN)
    known = (
        *(turned, step, k.total(_NEXT, -_OWN), k.scaling(_NEXT, -1)),
        *(k.scaling(_OWN, scale) for scale in (-1, -2)),
    )
    shown = [normalised(k), at_every_token(k, k.arithmetic([turned], ODD.body.body), TOKEN, Z)]
    for both in (PAIRS, CYCLES):
        ways = []
        for one, other in ((both.left, both.right), (both.right, both.left)):
            here = k.instantiate(k.instantiate(k.assume(one), TOKEN), Z)
            there = at_every_token(k, k.arithmetic([here, *known], other.body.body), TOKEN, Z)
            ways.append(k.discharge(one, there))
        shown.append(k.iff(*ways))
    return k.conjunction(*shown)


PM_R7 = register(
    Statement(
        id="PM-R7",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "Remark 7"),
        title="Equilibria come in antipodal pairs",
        systems=("oja-map", "attention-map", "multihead-map"),
        claims=(NORMALISED, *map(Formula, (ODD, PAIRS, CYCLES))),
        proof=proof,
        property_tests=(OnInstances(odd),),
    )
)
