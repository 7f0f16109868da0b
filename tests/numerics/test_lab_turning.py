"""Equal tokens that turn for ever and attract: refutes "almost every trajectory comes to rest" for flows and for maps."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.turning_consensus import turning_consensus
from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import Commute, Not, Relation
from eigentoken.theory.language.places import ConsensusSet, SomeEquilibrium
from eigentoken.theory.language.readings import CERTIFIED
from eigentoken.theory.language.terms import Determinant, Trace, matrix, sym

load()
REST, AGREE = AlmostEveryConverges(SomeEquilibrium()), AlmostEveryConverges(ConsensusSet())
EQUAL, APART = [[1, 0], [1, 0], [1, 0]], [[1, 0], [1, 0], [0, 1]]
SCORES = [[2, 1], [0, -1]]
#: Values, step (None: a flow), and whether equal tokens turn and attract.
CASES = [
    ([[1, -2], [1, 0]], None, True),
    ([[-1, -2], [1, 0]], None, False),  # they turn, and others leave
    ([[0, -2], [1, 0]], None, False),  # on the boundary
    ([[2, 1], [1, 1]], None, False),  # they rest on an eigenvector
    ([[1, -2], [1, 0]], "1/2", True),
    ([[-1, -2], [1, 0]], "1/2", False),  # |1 + alpha lambda|^2 = 1
    ([[-1, -2], [1, 0]], "1", True),
    ([[-1, -2], [1, 0]], "1/4", False),
]


def instance_of(values: Any, step: Any, tokens: Any = EQUAL, **further: Any) -> Instance:
    name = "attention-flow" if step is None else "attention-map"
    return Instance.of(name, tokens, V=values, M=SCORES, **further, **({} if step is None else {"alpha": step}))


def data_of(case: Case) -> dict[str, Any]:
    found = CERTIFIED(REST, case)
    assert found.is_fails and found.certificate is not None
    made: dict[str, Any] = {"kind": found.certificate.kind, "data": dict(found.certificate.data)}
    return made


@pytest.mark.parametrize(("values", "step", "expected"), CASES)
def test_both_arithmetics_say_the_same(values: Any, step: Any, expected: bool) -> None:
    instance = instance_of(values, step)
    assert (turning_consensus(Case(instance)) is not None) is expected
    forged = {"kind": "limit/turning-consensus", "data": {}}
    assert CLAIM_TRUTH(REST, IndependentInstance(instance, 1, 0), forged) is (False if expected else None)


@pytest.mark.parametrize("step", [None, "1/2"])
def test_it_is_seen_in_floats(step: Any) -> None:
    """Tokens near each other come nearer, and go on turning: the statement itself, by numbers alone."""
    V, M = np.array([[1.0, -2.0], [1.0, 0.0]]), np.array(SCORES, dtype=float)
    x = np.array([[np.cos(a), np.sin(a)] for a in (0.3, 0.32, 0.27)])
    start, turned = np.ptp(np.arctan2(x[:, 1], x[:, 0])), 0.0
    for _ in range(60 if step else 20_000):
        weights = np.exp(x @ M @ x.T)
        pushed = (weights / weights.sum(1, keepdims=True)) @ x @ V.T
        after = x + (0.5 if step else 1e-3) * pushed
        after /= np.linalg.norm(after, axis=1, keepdims=True)
        turned += abs(float(x[0, 0] * after[0, 1] - x[0, 1] * after[0, 0]))
        x = after
    assert np.linalg.norm(x - x[0]) < 1e-3 * start
    assert turned > 6


def test_what_it_does_not_say() -> None:
    """Nothing of consensus, of other starts, of masks: refused by both."""
    values, forged = [[1, -2], [1, 0]], {"kind": "limit/turning-consensus", "data": {}}
    equal = IndependentInstance(instance_of(values, None), 1, 0)
    assert CLAIM_TRUTH(AGREE, equal, forged) is None
    masked = instance_of(values, None, mask=[[1, 0, 0], [1, 1, 0], [1, 1, 1]])
    for other in (instance_of(values, None, APART), masked):
        assert turning_consensus(Case(other)) is None
        assert CLAIM_TRUTH(REST, IndependentInstance(other, 1, 0), forged) is None
    assert data_of(Case(instance_of(values, None)))["kind"] == "limit/turning-consensus"


@pytest.mark.parametrize("system", ["oja-flow", "oja-map"])
def test_the_kind_falls(system: str) -> None:
    V = matrix("V")
    spiral = (Relation(Trace(V) > 0), Relation(Trace(V) ** 2 < 4 * Determinant(V)), Not(Commute(V, sym(V))))
    report = refute(Conjecture("almost every pair comes to rest", system, spiral, [REST], n=2, d=2), instances=2000)
    assert report.results[0].answer == "refuted"
    document = json.loads(json.dumps(report.as_dict()))
    assert all(verdict.is_holds for _, verdict in recheck_report(document))
