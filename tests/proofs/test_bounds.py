"""The sheet of bounds (BD-*): every statement is there, its numbers agree, and what is wrong is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from eigentoken.proofs.bounds import bd_j01_jacobians, bd_s01_softmax, lemmas
from eigentoken.proofs.bounds.bd_s01_softmax import BD_S2, BD_S3
from eigentoken.proofs.bounds.heads import random_head
from eigentoken.proofs.properties.checks import OnInstances, above
from eigentoken.proofs.verify import verify
from eigentoken.theory.kernel.proved import Refused
from eigentoken.theory.statements.registry import statements

from ..shares import others_slow

IDS = (
    *("BD-S1", "BD-S2", "BD-S3", "BD-J1", "BD-J2", "BD-J3", "BD-L1", "BD-K1", "BD-N1", "BD-N2", "BD-N3"),
    *("BD-D1", "BD-D2", "BD-D2b", "BD-D3", "BD-R1", "BD-R1b", "BD-R2", "BD-R3", "BD-R4", "BD-M1", "BD-M2"),
    *(f"BD-P{number}" for number in range(1, 8)),
    *("BD-T1", "BD-T2", "BD-T3", "BD-E1", "BD-E2", "BD-H1", "BD-H2"),
)
#: Those that the kernel proves.
PROVED = {
    "BD-S1",
    "BD-S2",
    "BD-S3",
    "BD-J1",
    "BD-N3",
    "BD-D1",
    "BD-D3",
    "BD-R1",
    "BD-R3",
    "BD-T3",
    *("BD-D2", "BD-D2b", "BD-H2", "BD-K1", "BD-T2"),
    *("BD-J2", "BD-J3", "BD-M1", "BD-M2", "BD-N1", "BD-N2", "BD-R1b", "BD-R2", "BD-R4", "BD-T1", "BD-L1"),
}


def test_every_statement_of_the_sheet_is_in_the_book() -> None:
    assert {each.id for each in statements() if each.id.startswith("BD-")} == set(IDS)
    assert {name for name in IDS if statements().get(name).proof is not None} == PROVED


@pytest.mark.parametrize("name", others_slow(sorted(set(IDS) - PROVED), lambda name: name not in {"BD-P1", "BD-P7"}))
def test_what_is_not_proved_is_tested_and_says_so(name: str) -> None:
    found = verify(name, instances=8)
    assert found.good, [line for line in found.lines if not line.good]
    assert found.status() == "tested"
    assert statements().get(name).claims


@pytest.mark.parametrize("name", ["BD-S1", "BD-S3", "BD-J1", "BD-N3", "BD-D1"])
def test_what_the_kernel_proves_quickly(name: str) -> None:
    found = verify(name, instances=8, second=False)
    assert found.good, [line for line in found.lines if not line.good]
    assert found.status() == "derived"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PROVED))
def test_what_the_kernel_proves(name: str) -> None:
    found = verify(name, instances=50)
    assert found.good, [line for line in found.lines if not line.good]


def test_a_smaller_bound_is_not_proved() -> None:
    """BD-S3 with half of ``e^w`` in its place, or with a claim left out, is another statement."""
    half = lemmas.LARGEST.xreplace({sp.exp(lemmas.WIDTH): sp.exp(lemmas.WIDTH) / 2})
    with pytest.raises(Refused):
        _ = replace(BD_S3, claims=(BD_S3.claims[0], bd_s01_softmax.of_each_weight(half), BD_S3.claims[2])).proofs
    with pytest.raises(Refused):
        _ = replace(BD_S3, claims=BD_S3.claims[:1]).proofs


def test_a_property_test_of_a_wrong_bound_fails() -> None:
    """The local bound without its diagonal part, and the ball bound without its constant, are violated by drawn heads."""

    def without_the_diagonal(source: np.random.Generator) -> dict[str, float]:
        head = random_head(source)
        _, spreads = head.moments()
        sharp, _ = head.row_operator_bounds()
        own = max(float(np.linalg.norm(head.U @ c @ head.P.T, 2)) for c in spreads)
        return {"B_2": above(sharp - own, float(np.linalg.norm(head.jacobian(), 2)))}

    assert OnInstances(without_the_diagonal)(200, 1).is_fails
    assert OnInstances(bd_j01_jacobians.local_bounds)(200, 1).is_holds


def test_the_sheet_says_what_was_read() -> None:
    """No statement of the sheet calls a printed theorem false: none was read."""
    for name in IDS:
        told = statements().get(name)
        assert told.printed is None or not told.printed.erratum, name
    assert BD_S2.printed is None and bd_s01_softmax.BD_R3.printed is not None
