"""AB-X0 (extension): the case P != I is the case P = I, and consensus is reached from almost every start.

``z_i = P^{1/2} y_i`` maps (8) on the ellipsoid exactly onto (8) with P = I on the sphere.  For d >= 3 every critical point
that is not a consensus has a direction of negative second variation, found by averaging over a common push of all tokens; on the
circle a theorem of Criscitiello, Rebjock, McRae and Boumal on the critical points is cited.  The rest is one argument for all d.
Reference: Abella-Silvestre-Tabuada, end of Section 3.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.abella.saddles import CONJUGATE, proof
from eigentoken.proofs.abella.second_variation import antipodal_pair_hessian, average_on_instances
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import PositiveDefinite, Relation, Symmetric
from eigentoken.theory.language.places import ConsensusSet
from eigentoken.theory.language.terms import d, matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    Source,
    Statement,
    Vector,
)

P = matrix("P")


def consensus_points_not_asymptotically_stable() -> Verdict:
    """A consensus point is not asymptotically stable: a rotated consensus nearby is again an equilibrium."""
    angle = sp.Symbol("phi", real=True)
    point = (sp.cos(angle), sp.sin(angle))
    unit = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(1)))
    speed = [sp.simplify(entry) for row in velocity("ellipsoid-flow", {"P": unit}, (point, point)) for entry in row]
    if all(entry == 0 for entry in speed):
        return holds("P = I: the consensus at angle phi is an equilibrium for every phi, so none is isolated")
    return fails("a consensus is not an equilibrium")


AB_X0 = register(
    Statement(
        id="AB-X0",
        kind=Kind.EXTENSION,
        source=Source(ABELLA, "end of Section 3"),
        title="The gradient case for every P, and almost sure consensus",
        systems=("ellipsoid-flow",),
        conditions=(Symmetric(P), PositiveDefinite(P), Relation(d >= 2)),
        claims=(AlmostEveryConverges(ConsensusSet()), Formula(CONJUGATE)),
        notes=(
            Remark(
                RemarkKind.OPEN,
                "The consensus set is asymptotically stable. The case $W = I$, $P \\neq I$ is open here.",
            ),
        ),
        depends=("AB-T3.1", "AB-E8"),
        proof=proof,
        printed=Printed(
            text="For $P = I$ linearisation shows that only the consensus equilibria are asymptotically stable; for $P "
            "\\neq I$ this leads to conditions that cannot be easily ascertained.",
            wrong="The case $P \\neq I$ is conjugate to $P = I$. And a single consensus point is never asymptotically "
            "stable: the consensus set is.",
            counterexamples=(
                Counterexample(
                    name="rotated consensus",
                    says="$P = I$, $\\ell = 2$: consensus at any angle is an equilibrium, so no consensus point is "
                    "isolated.",
                    instance={
                        "system": "ellipsoid-flow",
                        "P": [["1", "0"], ["0", "1"]],
                        "tokens": [["1", "0"], ["1", "0"]],
                    },
                    check=consensus_points_not_asymptotically_stable,
                ),
            ),
            false=False,
        ),
        vectors=(
            Vector("Hessian of V at the antipodal pair on the circle", antipodal_pair_hessian, ("-0.7357588823",)),
        ),
        property_tests=(average_on_instances,),
    )
)
