"""PM-E7: correlation with the plane of two eigenvectors.  Reference: Li-Altafini, eq. (7)."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.projection import (
    INDEPENDENT,
    NOTATION,
    PROJECTION,
    A,
    B,
    forms,
    image_is,
    independent,
    projection,
)
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.map_checks import eigenvector_plane
from eigentoken.proofs.steps.equations import at_every_token, for_every
from eigentoken.theory.calculus import dot, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, Implication, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement

_A, _B = vector(A.name), vector(B.name)
TOP, NEXT = sp.symbols("lambda mu", real=True)
FIRST, SECOND = _A * TOP, _B * NEXT
#: ``F a = lambda a`` and ``F b = mu b`` with ``lambda != mu`` and a, b not zero.
PAIR = Conjunction(
    (
        image_is(_A, FIRST),
        image_is(_B, SECOND),
        proposition(sp.Ne(TOP, NEXT)),
        *(proposition(Tensor(dot(each, each)) > 0) for each in (_A, _B)),
    )
)
SPANNED = for_every(Implication(PAIR, INDEPENDENT), A, B, TOP, NEXT)


def proof(k: Kernel) -> Proved:
    """Dependent vectors would be sent to dependent ones."""
    known = forms(k, k.assume(PAIR), FIRST, SECOND)
    spanned = at_every_token(k, k.discharge(PAIR, independent(k, *known)), A, B, TOP, NEXT)
    return k.conjunction(spanned, *projection(k))


PM_E7 = register(
    Statement(
        id="PM-E7",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (7)"),
        title="Correlation with the plane of two eigenvectors",
        systems=("multihead-map",),
        claims=(Formula(SPANNED), *PROJECTION),
        depends=("PM-E3",),
        proof=proof,
        notes=(
            Remark(
                RemarkKind.CONVENTION, r"Here $a = v_1$, $b = v_2$ (Case 3, two nearly equal eigenvalues). " + NOTATION
            ),
        ),
        property_tests=(OnInstances(eigenvector_plane),),
    )
)
