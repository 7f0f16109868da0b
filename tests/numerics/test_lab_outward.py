"""Open sets of starts that go out along a direction, manifolds that attract, and states that two layers keep.

Each is certified twice; forged data, other instances and true conjectures are refused.
"""

from __future__ import annotations

from typing import Any

import pytest
from sympy import Eq

from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.outward import outward
from eigentoken.numerics.readings.trajectories import problem_of
from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import Instance, read_instance
from eigentoken.theory.language.claims import AlmostEveryConverges, Converges, LyapunovStable
from eigentoken.theory.language.conditions import (
    IsIdentity,
    NegativeDefinite,
    PositiveDefinite,
    Relation,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.matrix_words import IsZero
from eigentoken.theory.language.opposites_and_rates import Fails
from eigentoken.theory.language.places import AtMostClusters, ConsensusAt, ConsensusSet, SomeEquilibrium, Zero
from eigentoken.theory.language.readings import CERTIFIED, OBSERVED
from eigentoken.theory.language.terms import Eigenvalue, EigenvalueRealPart, alpha, matrix

from .forging import set_at

load()
B, W, V = matrix("B"), matrix("W"), matrix("V")
ALMOST, TOP, ORIGIN = AlmostEveryConverges(Zero()), LyapunovStable(ConsensusAt(V, 1)), LyapunovStable(Zero())
MINUS, SHEARED = [[-1, 0], [0, -1]], [[-2, 1], [0, -2]]
TRIANGLE = [[1, 0], ["-1/2", "sqrt(3)/2"], ["-1/2", "-sqrt(3)/2"]]
RHOMBUS = [[1, 0], [-1, 0], ["3/5", "4/5"], ["-3/5", "-4/5"]]


def flow(tokens: Any, value: Any, score: Any, **further: Any) -> Instance:
    return Instance.of("token-flow", tokens, B=value, W=score, **further)


def answers(claim: Any, instance: Instance) -> tuple[str, str, bool | None]:
    """What is certified, by what kind, and what the second arithmetic says of it."""
    verdict = CERTIFIED(claim, Case(instance, 1, 1))
    own = verdict.certificate
    data = {} if own is None else {"kind": own.kind, "data": dict(own.data)}
    said = CLAIM_TRUTH(claim, IndependentInstance(instance, 1, 1), data)
    return str(verdict.answer), "" if own is None else own.kind, said


GOES_OUT = [
    flow([[2], [1], [-1]], [[-1]], [[-1]]),
    flow([[2], [1], [-3], [-4]], [[1]], [[1]]),  # each end attends to itself
    flow([[2], [1], [3]], [[1]], [[-1]]),  # one side, whatever the weights
    flow([[2], [1], [-1]], [[-1]], [[-1]], mask=[[1, 0, 1], [0, 1, 1], [1, 0, 1]]),
    flow([[3, 0], [4, "1/10"], [-3, "1/10"]], MINUS, MINUS),
    flow([[3, 3], [4, 4], [-3, -3]], MINUS, SHEARED),
    flow([[0, 3], [0, 4], ["1/10", -3]], [[-2, 0], [0, -3]], MINUS),
    flow([[3, 3], [4, 4], [3, -3]], [[1, 0], [0, -5]], SHEARED),
]
STAYS_OPEN = [
    flow([[2], [1], ["-1/10"]], [[-1]], [[-1]]),  # too near to 0 for what is asked
    flow([[2], [1], [1]], [[-1]], [[-1]]),  # one side, and the values turn over: it decays
    flow([[2], [1], [-1]], [[-1]], [[1]]),  # each end attends to itself, and is pushed to 0
    flow([[2], [1], [-1]], [[-1]], [[-1]], mask=[[1, 0, 0], [0, 1, 1], [1, 0, 1]]),  # the first sees only itself
    flow([[3, 0], [0, 3], [-3, 0]], MINUS, MINUS),  # not near a line
    flow([[3, 0], [4, 0], [-3, 0]], [[-2, 0], [0, -3]], MINUS),  # across the line it grows faster
]


@pytest.mark.parametrize("instance", GOES_OUT)
def test_an_open_set_goes_out(instance: Instance) -> None:
    """Certified twice, and followed in floats: every token is farther out after a while."""
    assert outward(Case(instance)) is not None
    for claim in (ALMOST, AlmostEveryConverges(SomeEquilibrium()), Converges(Zero())):
        said, _, again = answers(claim, instance)
        assert (said, again) == ("fails", False)
    batch = batch_of(instance, 1, 1)
    x, before = batch.tokens, batch.tokens.norm(dim=-1)
    for _ in range(400):
        x = x + 0.005 * problem_of(batch).advance(x, 0.0)
    assert bool((x.norm(dim=-1) > before + 0.1).all())


@pytest.mark.parametrize("instance", STAYS_OPEN)
def test_what_need_not_go_out_is_left_open(instance: Instance) -> None:
    assert outward(Case(instance)) is None


def test_forged_data_is_refused() -> None:
    instance = GOES_OUT[4]
    found = outward(Case(instance))
    assert found is not None
    data = {"kind": "limit/outward", "data": found.as_data()}

    def said(of: Any, at: Instance = instance, claim: Any = ALMOST) -> bool | None:
        return CLAIM_TRUTH(claim, IndependentInstance(at, 1, 1), of)

    assert said(data) is False
    for path, value in (
        (("data", "functional"), ["0", "1"]),
        (("data", "functional"), ["0", "0"]),
        (("data", "functional"), ["1"]),
        (("data", "direction"), ["-2", "0"]),
        (("data", "direction"), ["0", "1"]),
        (("data", "direction"), None),  # both sides, and the values turn over
        (("data", "reach"), "0"),
        (("data", "reach"), "1/100"),
        (("data", "reach"), "4"),  # beyond a token
        (("data", "aperture"), "0"),
        (("data", "aperture"), "10"),
        (("data", "aperture"), "1/1000"),  # a token is not in it
        (("data", "slack"), "0"),
        (("data", "slack"), "1/100000000"),
        (("data", "slack"), "3"),
    ):
        assert said(set_at(data, path, value)) is None, (path, value)
    others: tuple[dict[str, Any], ...] = (
        {"tokens": [[3, 0], [4, 0], [3, 0]]},
        {"tokens": [[3, 0], [4, 3], [-3, 0]]},
        {"W": [[1, 0], [0, 1]]},
        {"W": [[-1, 0], [0, 200]]},
        {"B": [[-1, 0], [0, -2]]},
        {"B": [[1, 0], [0, 1]]},
    )
    for other in others:
        assert said(data, read_instance({**instance.as_dict(), **other})) is None, other
    assert said(data, claim=AlmostEveryConverges(ConsensusSet())) is None
    side = outward(Case(GOES_OUT[2]))
    assert side is not None and side.direction is None
    one = {"kind": "limit/outward", "data": side.as_data()}
    assert said(one, GOES_OUT[2]) is False
    assert said(one, GOES_OUT[0]) is None
    assert said(one, flow([[2], [1], [3]], [[-1]], [[-1]])) is None


def test_manifolds_of_rest_attract() -> None:
    """Four tokens with mean 0: a rhombus has four clusters, and an open set of starts ends near it."""
    for instance in (
        Instance.of("oja-flow", RHOMBUS, V=MINUS),
        Instance.of("oja-flow", RHOMBUS, V=[[-2, 1], [1, -3]]),
        Instance.of("oja-map", RHOMBUS, V=[[-2, 1], [1, -3]], alpha="1/10"),
    ):
        assert answers(AlmostEveryConverges(AtMostClusters(3)), instance) == (
            "fails",
            "limit/attracting-manifold",
            False,
        )
        assert answers(AlmostEveryConverges(ConsensusSet()), instance) == ("fails", "limit/attracting-manifold", False)
        assert answers(AlmostEveryConverges(AtMostClusters(4)), instance)[0] == "undecided"
    forged = {"kind": "limit/attracting-manifold", "data": {}}
    for other in (
        Instance.of("oja-flow", RHOMBUS, V=[[1, 0], [0, 1]]),  # it repels
        Instance.of("oja-flow", RHOMBUS, V=[[-1, 0], [0, 1]]),
        Instance.of("oja-flow", [*RHOMBUS[:3], [0, 1]], V=MINUS),  # not at rest
        Instance.of("oja-flow", [*RHOMBUS[:2], *RHOMBUS[:2]], V=MINUS),  # on one line: a direction is slow
        Instance.of("oja-map", RHOMBUS, V=MINUS, alpha=6),  # too long a step
    ):
        assert CERTIFIED(AlmostEveryConverges(ConsensusSet()), Case(other, 1, 1)).is_undecided
        look = IndependentInstance(other, 1, 1)
        assert CLAIM_TRUTH(AlmostEveryConverges(ConsensusSet()), look, forged) is None


def test_odd_numbers_of_tokens() -> None:
    """A triangle and a pair: entries with a root, decided in balls and again in intervals; where it repels, refused."""
    five, claim = [*TRIANGLE, *RHOMBUS[2:]], AlmostEveryConverges(AtMostClusters(4))
    found = ("fails", "limit/attracting-manifold", False)
    assert answers(claim, Instance.of("oja-flow", five, V=MINUS)) == found
    assert answers(claim, Instance.of("oja-map", five, V=[[-2, 1], [1, -3]], alpha="1/4")) == found
    forged = {"kind": "limit/attracting-manifold", "data": {}}
    for values, tokens in (([[1, 0], [0, 1]], five), (MINUS, [*TRIANGLE, *RHOMBUS[1:3]]), ([[-1, 0], [0, 1]], five)):
        for further in ({}, {"alpha": "1/4"}):
            other = Instance.of("oja-map" if further else "oja-flow", tokens, V=values, **further)
            assert CERTIFIED(claim, Case(other, 1, 1)).is_undecided
            assert CLAIM_TRUTH(claim, IndependentInstance(other, 1, 1), forged) is None


def layer(values: Any, **further: Any) -> Instance:
    return Instance.of("oja-map", [[1, *[0] * (len(values) - 1)]] * 2, V=values, **{"alpha": 1, **further})


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        (layer([[1, 0], [0, -3]]), ("holds", True)),  # two layers are the identity on equal tokens
        (layer([[1, 1], [0, -3]]), ("holds", True)),
        (layer([[1, 0, 0], [0, -3, 0], [0, 0, -1]]), ("holds", True)),
        (layer([[1, 0, 0], [0, -3, 0], [0, 0, 1]]), ("holds", True)),
        (layer([[1, 0], [0, -4]]), ("fails", False)),
        (layer([[1, 0, 0], [0, -3, 1], [0, 0, -3]]), ("fails", False)),  # the square is defective
        (layer([[1, 0, 0], [0, 1, 1], [0, 0, 1]]), ("fails", False)),  # defective beside the token
        (layer([[1, 0], [0, -3]], mask=[[1, 0], [1, 1]]), ("holds", True)),
    ],
)
def test_two_layers_keep_a_manifold(instance: Instance, expected: tuple[str, bool | None]) -> None:
    if instance.mask is not None:
        instance = Instance.of(
            "attention-map", instance.tokens, V=[[1, 0], [0, -3]], M=[[0, 0], [0, 0]], alpha=1, mask="causal"
        )
    said, _, again = answers(TOP, instance)
    assert (said, again) == expected
    opposite = {"holds": "fails", "fails": "holds"}[said]
    assert answers(Fails(TOP), instance)[::2] == (opposite, not again)


def test_growth_that_ends_is_no_violation() -> None:
    """A start is carried 5000 times as far by a layer that is far from normal, and rests there; defective ones still fall."""
    carried = Instance.of("oja-map", [[1, 0, 0]] * 2, V=[[1, 0, 0], [0, 1, 10000], [0, 0, -1]], alpha=1)
    seen = float(OBSERVED(TOP, batch_of(carried, 1, 1))[0])
    assert -1e-3 < seen < 0
    assert answers(TOP, carried)[::2] == ("holds", True)
    for fallen in (layer([[1, 0, 0], [0, 1, 1], [0, 0, 1]]), layer([[1, 0, 0], [0, -3, 1], [0, 0, -3]])):
        assert float(OBSERVED(TOP, batch_of(fallen, 1, 1))[0]) > 0.05
    for value, score in ((MINUS, MINUS), ([[-1, 1000], [0, -3]], [[-1, 0], [0, -2]]), ([[0, 1], [0, 0]], MINUS)):
        assert float(OBSERVED(ORIGIN, batch_of(flow([[0, 0]] * 2, value, score), 1, 1))[0]) > 0.05


def test_a_condition_that_only_rounding_meets_makes_no_candidate() -> None:
    """The eigenvalues of [[-1, -1], [1, 1]] are 0, which floats see at -1e-9: no instance, and 0 is stable in all others."""
    stable = Conjecture(
        "decays", "token-flow", [IsZero(W), Relation(EigenvalueRealPart(B, 1) < 0)], ORIGIN, d=[2], n=[2]
    )
    found = refute(stable, instances=2500).results[0]
    assert found.answer == "survived"
    nilpotent = flow([[0, 0]] * 2, [[-1, -1], [1, 1]], [[0, 0], [0, 0]])
    assert CERTIFIED(Relation(EigenvalueRealPart(B, 1) < 0), Case(nilpotent)).is_fails
    assert CERTIFIED(Relation(EigenvalueRealPart(B, 1) >= 0), Case(nilpotent)).is_holds
    allowed = Conjecture(
        "rests", "token-flow", [IsZero(W), Relation(EigenvalueRealPart(B, 1) <= 0)], ORIGIN, d=[2], n=[2]
    )
    assert refute(allowed, instances=2500).results[0].answer == "refuted"


FALSE = [
    Conjecture("four clusters", "oja-flow", IsIdentity(-V), AlmostEveryConverges(AtMostClusters(3)), n=[4], d=[2]),
    Conjecture(
        "clusters in space", "oja-flow", [Symmetric(V), NegativeDefinite(V)], AlmostEveryConverges(AtMostClusters(2)),
        n=[4], d=[3],
    ),
    Conjecture("five clusters", "oja-flow", IsIdentity(-V), AlmostEveryConverges(AtMostClusters(4)), n=[5], d=[2]),
    Conjecture(
        "three on a line", "token-flow", [IsIdentity(-B), Symmetric(W), NegativeDefinite(W)], ALMOST, n=[3], d=[1]
    ),
    Conjecture(
        "five in the plane", "token-flow", [Symmetric(B), NegativeDefinite(B), NegativeDefinite(W)],
        AlmostEveryConverges(SomeEquilibrium()), n=[5], d=[2],
    ),
    Conjecture(
        "critical step", "oja-map",
        [
            Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0),
            Relation(Eq(alpha * (-Eigenvalue(V, 2) - Eigenvalue(V, 1)), 2)),
        ],
        Fails(TOP), n=[2], d=[2],
    ),
]  # fmt: skip


@pytest.mark.parametrize("conjecture", FALSE, ids=lambda each: each.name)
def test_the_search_finds_them(conjecture: Conjecture) -> None:
    report = refute(conjecture, instances=6000)
    assert report.results[0].answer == "refuted"
    verdicts = [verdict for _, verdict in recheck_report(report.as_dict())]
    assert verdicts and all(verdict.is_holds for verdict in verdicts)


def test_true_ones_survive() -> None:
    true = [
        Conjecture("attends to itself", "token-flow", [IsIdentity(-B), PositiveDefinite(W)], ALMOST, n=[3], d=[1]),
        Conjecture(
            "as many as tokens", "oja-flow", IsIdentity(-V), AlmostEveryConverges(AtMostClusters(4)), n=[4], d=[2]
        ),
    ]
    assert [refute(each, instances=2000).results[0].answer for each in true] == ["survived", "survived"]
