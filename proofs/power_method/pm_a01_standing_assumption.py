"""PM-A1: the standing assumption on the value matrix.  Reference: Li-Altafini, Assumption 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.properties.exact_points import decimals
from eigentoken.proofs.steps.standing_assumption import ASSUMPTION_1
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import ForAll, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.words import index_range
from eigentoken.theory.language.conditions import SimpleTop
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, d, ell, matrix
from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector

#: The value matrix of the regression vectors TV13 and TV14.
GENERIC_V = [["1", "1/2"], ["1/2", "-1/3"]]


V = matrix("V")
#: Every other eigenvalue is below the first; none is larger in modulus than the first or the last.
GAP = ForAll(ell, index_range(ell, 2), proposition(Eigenvalue(V, ell) < Eigenvalue(V, 1)))
NORM = proposition(sp.Eq(SpectralNorm(V), sp.Max(Eigenvalue(V, 1), sp.Abs(Eigenvalue(V, d))), evaluate=False))


def proof(k: Kernel) -> Proved:
    """What the assumption gives in every use: a gap at the top, and a spectral norm of two candidates."""
    gap = k.unfold(k.given(SimpleTop(V)))
    extreme = k.part(k.norm_of_symmetric(V), k.norm_of_symmetric(V).proposition.parts[0])
    norm = k.arithmetic([extreme, k.given(Eigenvalue(V, 1) > 0)], NORM)
    return k.conjunction(gap, norm)


def generic_eigenvalues() -> Sequence[Any]:
    """The eigenvalues of the generic V."""
    matrix = sp.Matrix([[sp.Rational(entry) for entry in row] for row in GENERIC_V])
    return sorted((value for value, count in matrix.eigenvals().items() for _ in range(count)), reverse=True)


def generated_satisfy_it(instances: int, seed: int) -> Verdict:
    """The value matrices that the book's own generator makes for the assumption satisfy it (eigenvalues in doubles)."""
    from eigentoken.proofs.properties.checks import look
    from eigentoken.proofs.properties.map_checks import generated_values, standing_assumption

    drawn = iter(generated_values(instances, seed))
    return look(lambda _: standing_assumption(next(drawn)), instances, seed)


PM_A1 = register(
    Statement(
        id="PM-A1",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "Assumption 1"),
        title="The standing assumption on the value matrix",
        systems=("oja-map", "attention-map"),
        conditions=ASSUMPTION_1,
        claims=(Formula(GAP), Formula(NORM)),
        proof=proof,
        vectors=(Vector("eigenvalues of V in TV13 and TV14", generic_eigenvalues, decimals("7/6", "-1/2")),),
        property_tests=(generated_satisfy_it,),
    )
)
