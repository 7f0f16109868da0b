"""PM-R6: there is no 1-clustering off the eigenvectors.  Reference: Li-Altafini, Remark 6 (vacuous)."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_cm_consensus_manifold import CONSENSUS, B
from eigentoken.proofs.power_method.pm_e08_attention_map import push
from eigentoken.proofs.power_method.pm_p01_kernel_condition import PM_P1
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import image, instance
from eigentoken.proofs.properties.point_checks import common_token
from eigentoken.proofs.steps.equations import TOKEN, Z, at_every_token, for_every
from eigentoken.proofs.steps.fixed_points import RESTS, C, along
from eigentoken.proofs.steps.slopes import value_of
from eigentoken.theory.calculus import ALPHA, dot, matrix, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Equivalence,
    Exists,
    ForAll,
    Implication,
    Proposition,
    proposition,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement

_Z, _B = vector(Z.name), vector(B.name)
_PUSHED = dot(_Z, _B.applied(matrix("V")))
#: ``u_i = V b``.
PUSH = for_every(sp.Eq(Tensor(dot(_Z, push())), Tensor(_PUSHED), evaluate=False), TOKEN, Z)
#: ``V b = c b`` for a number c with ``1 + alpha c > 0``.
EIGENVECTOR = Exists(
    C,
    proposition(1 + ALPHA * C > 0),
    for_every(sp.Eq(Tensor(_PUSHED), C * Tensor(dot(_Z, _B)), evaluate=False), Z),
)


def _at_consensus(said: Proposition) -> Formula:
    return Formula(ForAll(B, TRUE, Implication(CONSENSUS, said)))


CLAIMS = tuple(map(_at_consensus, (PUSH, Equivalence(RESTS, EIGENVECTOR))))


def proof(k: Kernel) -> Proved:
    """The weights of a row sum to 1, and a map rests where every push is radial (PM-P1)."""
    same = k.assume(CONSENSUS)
    token = k.instantiate(k.instantiate(same, TOKEN), Z)
    there = k.congruent(dot(_Z, push()), "x", _B, TOKEN, same)
    pushed = k.arithmetic([there, k.reduction(value_of(there), _PUSHED)], PUSH.body.body)
    radial = k.recall(PM_P1)
    every = radial.proposition.right
    rests = k.instantiate(k.assume(every), TOKEN)
    known = [k.assume(EIGENVECTOR.guard), token, pushed]
    forth = k.arithmetic([*known, k.instantiate(k.assume(rests.proposition.body), Z)], EIGENVECTOR.body.body)
    found = k.witness(EIGENVECTOR, C, known[0], k.generalise(Z, forth))
    found = k.discharge(every, k.exists_elimination(rests, found))
    back = k.arithmetic([*known, k.instantiate(k.assume(EIGENVECTOR.body), Z)], rests.proposition.body.body)
    some = k.generalise(TOKEN, k.witness(along(push()), C, known[0], k.generalise(Z, back)))
    some = k.discharge(EIGENVECTOR, k.exists_elimination(k.assume(EIGENVECTOR), some))
    whole = k.tautology([radial, found, some], Equivalence(RESTS, EIGENVECTOR))
    shown = (at_every_token(k, pushed, TOKEN, Z), whole)
    return k.conjunction(*(k.generalise(B, k.discharge(CONSENSUS, each)) for each in shown))


CLAIMED = instance(
    "attention-map", [["3/5", "4/5"]] * 2, V=[["1", "0"], ["0", "1/2"]], M=[["1", "2"], ["0", "1"]], alpha="1/2"
)


def moves() -> Verdict:
    """Two tokens at (3, 4)/5, no eigenvector of diag(1, 1/2): the step moves them."""
    from flint import arb, fmpq

    found = image(CLAIMED)[0]
    if found.overlaps(arb(fmpq(3, 5))):
        return fails("it does not move")
    return holds(f"the first coordinate 3/5 goes to {found.str(8)}")


PM_R6 = register(
    Statement(
        id="PM-R6",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "Remark 6"),
        title="No 1-clustering off the eigenvectors",
        systems=("attention-map",),
        claims=CLAIMS,
        depends=("PM-P1",),
        proof=proof,
        printed=Printed(
            text=(
                r"A clustering equilibrium can be a consensus $x_i = \hat x$ with $\hat x$ not aligned with any "
                r"eigenvector of $V$ (a 1-clustering)."
            ),
            wrong=r"There are no such equilibria: the class is empty.",
            counterexamples=(
                Counterexample(
                    "an attempt",
                    r"$V = \operatorname{diag}(1, \frac12)$, $\hat x = (\frac35, \frac45)$, any scores: the tokens "
                    r"move.",
                    CLAIMED,
                    moves,
                ),
            ),
        ),
        property_tests=(OnInstances(common_token),),
    )
)
