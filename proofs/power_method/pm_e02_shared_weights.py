"""PM-E2: shared weights: the system is autonomous.  Reference: Li-Altafini, eq. (2)."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_e01_layer_with_heads import layer_step
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.map_checks import shared_weights
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z, at_every_token, for_every, same_vectors, the_same
from eigentoken.proofs.steps.slopes import value_of
from eigentoken.theory.calculus import dot, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, ForAll, Implication
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, AtTime, Rate, Tensor, VectorLetter
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement

#: Two layers.
S, T = sp.symbols("s t", integer=True, nonnegative=True)
_OWN = dot(vector(Z.name), vector(STATE, TOKEN))
#: ``x_i(s) = x_i(t)``, and the same of the increments.
SAME = for_every(sp.Eq(Tensor(_OWN, S), Tensor(_OWN, T), evaluate=False), TOKEN, Z)
MOVES = for_every(sp.Eq(Rate(_OWN, S), Rate(_OWN, T), evaluate=False), TOKEN, Z)
AUTONOMOUS = ForAll(S, TRUE, ForAll(T, TRUE, Implication(SAME, MOVES)))


def proof(k: Kernel) -> Proved:
    """The increment is a function of the state, the same in all layers."""
    step = k.increment(_OWN)
    always = k.generalise(VectorLetter(STATE), step)
    moved = k.same_state(value_of(step), S, T, k.assume(SAME))
    both = [k.instantiate(always, AtTime(layer)) for layer in (S, T)]
    found = at_every_token(k, k.arithmetic([moved, *both], MOVES.body.body), TOKEN, Z)
    return k.conjunction(the_same(k, RAW, layer_step(), TOKEN), at_every_token(k, k.discharge(SAME, found), S, T))


PM_E2 = register(
    Statement(
        id="PM-E2",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (2)"),
        title="Shared weights",
        systems=("multihead-map",),
        claims=(same_vectors(RAW, layer_step(), TOKEN), Formula(AUTONOMOUS)),
        depends=("PM-E1",),
        proof=proof,
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"$F_h$ and $M_h$ are the same in every layer (ALBERT); $s$ and $t$ are two layers.",
            ),
        ),
        property_tests=(OnInstances(shared_weights),),
    )
)
