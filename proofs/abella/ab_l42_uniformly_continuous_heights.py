"""AB-L4.2: heights have bounded, uniformly continuous derivatives when P is bounded and uniformly continuous.

A composition argument; AB-X1 does not need it.  Reference: Abella-Silvestre-Tabuada, Lemma 4.2.
"""

from __future__ import annotations

from eigentoken.proofs.abella.moving_heights import BOUNDED, SLOPE, STEADY, proof
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.flow_properties import speed_is_bounded
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.language.conditions import (
    BoundedInTime,
    IsIdentity,
    PositiveDefinite,
    Symmetric,
    UniformlyContinuous,
)
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement

W, U = matrix("W"), matrix("U")

AB_L42 = register(
    Statement(
        id="AB-L4.2",
        kind=Kind.LEMMA,
        source=Source(ABELLA, "Lemma 4.2"),
        title="Heights have uniformly continuous derivatives",
        systems=("ellipsoid-multihead-flow",),
        conditions=(Symmetric(W), PositiveDefinite(W), IsIdentity(U), BoundedInTime("P"), UniformlyContinuous("P")),
        claims=tuple(map(Formula, (SLOPE, BOUNDED, STEADY))),
        depends=("AB-E7",),
        proof=proof,
        property_tests=(speed_is_bounded,),
    )
)
