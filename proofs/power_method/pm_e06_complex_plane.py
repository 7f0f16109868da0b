"""PM-E6: correlation with the plane of a complex pair.  Reference: Li-Altafini, eq. (6)."""

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
from eigentoken.proofs.properties.map_checks import complex_plane
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
RE, IM = sp.symbols("rho omega", real=True)
FIRST, SECOND = _A * RE - _B * IM, _A * IM + _B * RE
#: ``F (a + i b) = (rho + i omega)(a + i b)`` in real and imaginary parts, with ``omega != 0``.
PAIR = Conjunction(
    (
        image_is(_A, FIRST),
        image_is(_B, SECOND),
        proposition(sp.Ne(IM, 0)),
        proposition(Tensor(dot(_A, _A)) + Tensor(dot(_B, _B)) > 0),
    )
)
SPANNED = for_every(Implication(PAIR, INDEPENDENT), A, B, RE, IM)


def proof(k: Kernel) -> Proved:
    """Dependent vectors would be sent to dependent ones."""
    known = forms(k, k.assume(PAIR), FIRST, SECOND)
    spanned = at_every_token(k, k.discharge(PAIR, independent(k, *known)), A, B, RE, IM)
    return k.conjunction(spanned, *projection(k))


PM_E6 = register(
    Statement(
        id="PM-E6",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (6)"),
        title="Correlation with the plane of a complex pair",
        systems=("multihead-map",),
        claims=(Formula(SPANNED), *PROJECTION),
        depends=("PM-E3",),
        proof=proof,
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"Here $a = \operatorname{Re}v_1$, $b = \operatorname{Im}v_1$ (Case 2, a complex pair). " + NOTATION,
            ),
        ),
        property_tests=(OnInstances(complex_plane),),
    )
)
