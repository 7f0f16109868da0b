"""Forms on the centre directions: certified, checked again at points, and every forged part of them is refused."""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.centre_fields import centre_field
from eigentoken.numerics.readings.centre_forms import centre_form
from eigentoken.numerics.recheck.refutations.centre_terms import decided_on_the_centre
from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import Iff, LyapunovStable
from eigentoken.theory.language.conditions import (
    IsIdentity,
    NegativeDefinite,
    PositiveDefinite,
    Relation,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.opposites_and_rates import Fails
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt, Zero
from eigentoken.theory.language.readings import CERTIFIED
from eigentoken.theory.language.terms import Eigenvalue, matrix

load()
V, B, W, M = (matrix(name) for name in "VBWM")
SPIRAL, LOW, POSITIVE = [[-1, -2], [2, -1]], [[0, 0], [0, -1]], [[1, 1], [1, 2]]
PAIR, FOUR = [[1, 0], [1, 0]], [[1, 0], [1, 0], [-1, 0], [-1, 0]]


def zero(n: int, value: Any, score: Any, **further: Any) -> Instance:
    return Instance.of("token-flow", [[0, 0]] * n, B=value, W=score, **further)


ONE_HEAD = {"F": LOW, "M": [[1, 0], [0, 3]]}
ANOTHER = {"F": [[0, 0], [0, "-1/2"]], "M": [[1, 0], [0, -1]]}
UNSTABLE = {
    "terms of the second order": Instance.of("oja-flow", PAIR, V=[[1, 1], [0, -2]], mask=[[0, 1], [1, 1]]),
    "terms of the second order, layers": Instance.of("oja-map", PAIR, V=[[1, 1], [0, -2]], alpha="1/3", mask=[[0, 1], [1, 1]]),
    "a spiral of two tokens": zero(2, SPIRAL, [[-1, 0], [0, -2]]),
    "a ring of three that turns": zero(3, [[-1, -5], [5, -1]], [[1, -5], [5, 1]]),
    "two and two of the Oja flow": Instance.of("oja-flow", FOUR, V=[[1, 0], [0, -1]]),
    "two and two of the Oja map": Instance.of("oja-map", FOUR, V=[[1, 0], [0, "-1/2"]], alpha="1/2"),
    "negative scores": Instance.of("attention-flow", PAIR, V=LOW, M=[[1, 1], [1, -2]]),
    "negative scores, layers": Instance.of("attention-map", PAIR, V=LOW, M=[[1, 1], [1, -2]], alpha="1/2"),
    "equal scores that are not 0": Instance.of(
        "attention-flow", [["3/5", "4/5"]] * 2, V=[[-16, 12], [12, -9]], M=[[-3, 0], [0, -1]]),
}  # fmt: skip
STABLE = {
    "a spiral of two tokens": zero(2, SPIRAL, [[1, 0], [0, 2]]),
    "a ring of three": zero(3, SPIRAL, [[1, 2], [-2, 1]]),
    "a mask": zero(3, [[-1, 0], [0, -1]], [[1, 0], [0, 1]], mask=[[1, 1, 0], [1, 1, 0], [0, 1, 1]]),
    "positive scores": Instance.of("attention-flow", PAIR, V=LOW, M=POSITIVE),
    "layers": Instance.of("attention-map", PAIR, V=LOW, M=POSITIVE, alpha="1/2"),
    "two heads": Instance.of("multihead-map", PAIR, heads=[ONE_HEAD, ANOTHER], alpha="1/2"),
    "values that are not symmetric": Instance.of("attention-flow", PAIR, V=[[0, 1], [0, -1]], M=POSITIVE),
}


def look(instance: Instance) -> IndependentInstance:
    return IndependentInstance(instance, 1, instance.n)


@pytest.mark.parametrize(("instance", "stable"), [(i, False) for i in UNSTABLE.values()] + [(i, True) for i in STABLE.values()],
                         ids=[*UNSTABLE, *(f"stable: {name}" for name in STABLE)])  # fmt: skip
def test_decided_twice(instance: Instance, stable: bool) -> None:
    form = centre_form(instance)
    assert form is not None
    assert form.unstable is not stable
    assert decided_on_the_centre(look(instance), form.as_data()) is stable


@pytest.mark.parametrize(
    "instance",
    [
        zero(2, SPIRAL, [[0, 0], [0, 0]]),  # nothing of the third order
        zero(2, [[-1, 0], [0, -1]], [[1, 0], [0, -1]]),  # every direction of the field is its own: no cone attracts
        zero(2, [[0, -1], [1, 0]], [[1, 0], [0, 1]]),  # other eigenvalues on the axis
        zero(2, [[0, 1], [0, 0]], [[1, 0], [0, 1]]),  # 0 is defective
        Instance.of("oja-flow", PAIR, V=[[1, 0], [0, -1]]),  # no centre directions
        Instance.of("attention-flow", [[1, 0], [-1, 0]], V=[[-1, 0], [0, -1]], M=[[1, 0], [0, 1]]),  # e and 1/e
    ],
)
def test_what_is_not_decided(instance: Instance) -> None:
    assert centre_form(instance) is None


def test_the_field_is_the_one_by_hand() -> None:
    """Two Euclidean tokens c, -c: ``c' = (c^T W c) B c``; tokens (-c, c) are the directions."""
    field = centre_field(zero(2, SPIRAL, [[1, 0], [0, 2]]))
    assert field is not None
    assert field.degree == 3
    first, second = {(3, 0): -1, (2, 1): -2, (1, 2): -2, (0, 3): -4}, {(3, 0): 2, (2, 1): -1, (1, 2): 4, (0, 3): -2}
    assert field.g == (first, second)  # (c_0^2 + 2 c_1^2) (-c_0 - 2 c_1), and times (2 c_0 - c_1)


def test_the_field_is_the_motion() -> None:
    """The slow motion of four tokens, in floats, follows the terms of the third order."""
    field = centre_field(UNSTABLE["two and two of the Oja flow"])
    assert field is not None
    directions = np.array([[float(int(e.p)) / int(e.q) for e in row] for row in field.directions])
    c = np.array([0.3, -0.2, 0.1])

    def velocity(x: Any) -> Any:
        pushed = np.broadcast_to(np.diag([1.0, -1.0]) @ x.mean(0), x.shape)
        return pushed - (pushed * x).sum(1, keepdims=True) * x

    for size in (0.05, 0.02):
        x = np.array(FOUR, dtype=float) + size * (c @ directions).reshape(4, 2)
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        for _ in range(4000):  # the other direction comes to its place, the slow ones hardly move
            x = x + 0.01 * velocity(x)
            x /= np.linalg.norm(x, axis=1, keepdims=True)
        at = np.linalg.lstsq(directions[:, 1::2].T, x[:, 1], rcond=None)[0]
        speed = np.linalg.lstsq(directions[:, 1::2].T, velocity(x)[:, 1], rcond=None)[0]
        expected = [sum(float(value) * np.prod(at ** np.array(key)) for key, value in g.items()) for g in field.g]
        assert np.abs(speed - expected).max() < 5 * size**2 * np.abs(expected).max()


def diagonal(entry: int, size: int) -> list[list[str]]:
    return [[str(entry * (i == j)) for j in range(size)] for i in range(size)]


def twice(rows: Any) -> list[list[str]]:
    return [[str(2 * Fraction(entry)) for entry in row] for row in rows]


FORGED = {
    "the form turned round": lambda d: d.update(form=[[str(-Fraction(e)) for e in row] for row in d["form"]]),
    "an entry of the form": lambda d: d["form"][0].__setitem__(0, str(Fraction(d["form"][0][0]) * 2)),
    "an entry of the Gram matrix": lambda d: d["gram"][0].__setitem__(0, str(Fraction(d["gram"][0][0]) + 1)),
    "a Gram matrix of zeros": lambda d: d.update(gram=[["0"] * len(row) for row in d["gram"]]),
    "a form of zeros": lambda d: d.update(form=[["0"] * len(row) for row in d["form"]]),
    "a multiplier that is negative": lambda d: d.update(multiplier=diagonal(-1, len(d["form"]))),
    "another degree": lambda d: d.update(degree=5 - d["degree"]),
    "a direction less": lambda d: d.update(directions=d["directions"][:-1]),
    "a direction that is none": lambda d: d["directions"].__setitem__(0, ["1"] * len(d["directions"][0])),
    "directions of another length": lambda d: d.update(directions=twice(d["directions"])),
}  # fmt: skip


@pytest.mark.parametrize("forge", FORGED.values(), ids=list(FORGED))
@pytest.mark.parametrize("name", ["a spiral of two tokens", "two and two of the Oja flow", "terms of the second order"])
def test_forged_certificates(name: str, forge: Any) -> None:
    form = centre_form(UNSTABLE[name])
    assert form is not None
    data = deepcopy(form.as_data())
    forge(data)
    assert decided_on_the_centre(look(UNSTABLE[name]), data) is None


def test_a_form_of_another_instance() -> None:
    form = centre_form(STABLE["positive scores"])
    assert form is not None
    assert decided_on_the_centre(look(UNSTABLE["negative scores"]), form.as_data()) is None
    assert decided_on_the_centre(look(zero(2, [[0, -1], [1, 0]], [[1, 0], [0, 1]])), form.as_data()) is None


def test_a_multiplier_shows_no_stability() -> None:
    """``V' - s V > 0`` with V negative definite says nothing: s V alone may do it."""
    instance = UNSTABLE["negative scores"]
    form = centre_form(instance)
    assert form is not None
    (slope,) = form.gram[0]
    wrong = {**form.as_data(), "form": [["-1"]], "multiplier": [[str(10 * slope)]]}
    field = centre_field(instance)
    assert field is not None
    (g,) = field.g
    (value,) = g.values()
    wrong["gram"] = [[str(-2 * value + 10 * slope)]]
    assert decided_on_the_centre(look(instance), wrong) is None


TOP = [Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) >= 0), Relation(Eigenvalue(V, 1) <= 0)]
FALSE = [
    Conjecture("four", "oja-flow", [Symmetric(V), Relation(Eigenvalue(V, 1) > 0), Relation(Eigenvalue(V, 2) < 0)],
               LyapunovStable(BipartiteAt(V, 1)), n=4, d=2),
    Conjecture("never", "attention-flow", [*TOP, Symmetric(M), PositiveDefinite(M)],
               Fails(LyapunovStable(ConsensusAt(V, 1))), n=2, d=2),
    Conjecture("unless", "token-flow", [NegativeDefinite(B), Symmetric(W), PositiveDefinite(W)],
               Iff(LyapunovStable(Zero()), IsIdentity(-B)), n=2, d=2),
]  # fmt: skip


@pytest.mark.parametrize("conjecture", FALSE, ids=lambda each: each.name)
def test_found_and_checked_again(conjecture: Conjecture) -> None:
    report = refute(conjecture, instances=3000)
    assert report.results[0].answer == "refuted"
    assert all(verdict.is_holds for _, verdict in recheck_report(report.as_dict()))


def test_a_report_with_a_forged_form_fails() -> None:
    report = refute(FALSE[1], instances=400).as_dict()
    certificate = report["results"][0]["counterexample"]["certificates"][-1]
    assert certificate["data"]["kind"] == "stability/centre-form"
    certificate["data"]["data"]["gram"][0][0] = "7/5"
    assert not all(verdict.is_holds for _, verdict in recheck_report(report))


def test_true_of_the_instance_twice() -> None:
    for claim, instance, truth in (
        (LyapunovStable(Zero()), STABLE["a spiral of two tokens"], True),
        (Fails(LyapunovStable(Zero())), STABLE["a spiral of two tokens"], False),
        (LyapunovStable(Zero()), UNSTABLE["a ring of three that turns"], False),
        (Iff(LyapunovStable(Zero()), NegativeDefinite(W)), UNSTABLE["a spiral of two tokens"], False),
    ):
        verdict = CERTIFIED(claim, Case(instance, 1, instance.n))
        assert (verdict.is_holds, verdict.is_fails) == (truth, not truth)
        assert verdict.certificate is not None
        data = {"kind": verdict.certificate.kind, "data": dict(verdict.certificate.data)}
        assert CLAIM_TRUTH(claim, look(instance), data) is truth
        assert CLAIM_TRUTH(claim, look(instance), {}) is None
