"""Where the linearization is silent, and starts whose trajectories are known exactly: certified twice, wrong data refused."""

from __future__ import annotations

from typing import Any

import pytest

from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.readings import load
from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import Converges, Diverges, LyapunovStable, Stable, Unstable
from eigentoken.theory.language.conditions import IsIdentity, NegativeDefinite, PositiveDefinite, Relation, Symmetric
from eigentoken.theory.language.places import AntipodalAt, ConsensusAt, SomeEquilibrium, Zero
from eigentoken.theory.language.readings import CERTIFIED
from eigentoken.theory.language.terms import Determinant, matrix

load()
V, B, W = matrix("V"), matrix("B"), matrix("W")
ORIGIN, TOP = LyapunovStable(Zero()), LyapunovStable(ConsensusAt(V, 1))
EYE, MINUS = [[1, 0], [0, 1]], [[-1, 0], [0, -1]]
NIL, SHEAR = [[0, 1], [0, 0]], [[1, 1], [0, 1]]


def flow(tokens: Any, value: Any, score: Any, **further: Any) -> Instance:
    return Instance.of("token-flow", tokens, B=value, W=score, **further)


def answers(claim: Any, instance: Instance, k: int = 1) -> tuple[str, bool | None]:
    """What is certified, and what the second arithmetic says."""
    verdict = CERTIFIED(claim, Case(instance, k, instance.n))
    own = verdict.certificate
    data = {} if own is None else {"kind": own.kind, "data": dict(own.data)}
    return str(verdict.answer), CLAIM_TRUTH(claim, IndependentInstance(instance, k, instance.n), data)


ZEROS = [[0, 0], [0, 0]]
FALSE, TRUE, OPEN = ("fails", False), ("holds", True), ("undecided", None)


@pytest.mark.parametrize(
    ("claim", "instance", "expected"),
    [
        (ORIGIN, flow(ZEROS, MINUS, [[-1, 0], [0, 1]]), FALSE),  # a pair grows like s' = s tanh(s^2)
        (ORIGIN, flow(ZEROS, MINUS, [[0, 2], [0, 0]]), FALSE),  # on a line that is no axis
        (ORIGIN, flow(ZEROS, MINUS, EYE), TRUE),  # sum |x_i|^2 falls
        (ORIGIN, flow([[0, 0]], MINUS, MINUS), TRUE),
        (ORIGIN, flow(ZEROS, MINUS, ZEROS), TRUE),  # equal weights: x' = -m, and the states with m = 0 rest
        (ORIGIN, flow(ZEROS, NIL, EYE), FALSE),
        (ORIGIN, flow(ZEROS, [[0, -1], [1, 0]], EYE), OPEN),
        (ORIGIN, flow(ZEROS, MINUS, MINUS, mask=[[1, 0], [1, 1]]), TRUE),  # causal: the spectrum decides
        (TOP, Instance.of("oja-flow", [[1, 0], [1, 0]], V=SHEAR), FALSE),
        (TOP, Instance.of("oja-map", [[1, 0], [1, 0]], V=SHEAR, alpha=1), FALSE),
        (TOP, Instance.of("oja-flow", [[1, 0], [1, 0]], V=EYE), TRUE),
        (TOP, Instance.of("oja-map", [[1, 0], [1, 0]], V=EYE, alpha=1), TRUE),
        (TOP, Instance.of("oja-flow", [[1, 0], [1, 0]], V=ZEROS), TRUE),  # nothing moves
    ],
)  # fmt: skip
def test_stability_where_the_linearization_is_silent(claim: Any, instance: Instance, expected: Any) -> None:
    assert answers(claim, instance) == expected


def test_one_token_leaves_a_pair() -> None:
    """theta' = (1 - cos theta) sin theta / 2: a cubic term alone."""
    claim = LyapunovStable(AntipodalAt())
    pair = [[1, 0], [-1, 0]]
    for system, further in (("oja-flow", {}), ("oja-map", {"alpha": 1}), ("attention-flow", {"M": ZEROS})):
        assert answers(claim, Instance.of(system, pair, V=[[1, 0], [0, 0]], **further)) == FALSE
    assert answers(claim, Instance.of("oja-flow", pair, V=[[1, 0], [0, -1]])) == TRUE
    assert answers(claim, Instance.of("oja-flow", pair, V=[[-1, 0], [0, 0]])) == OPEN


def test_a_family_of_rotated_states_is_stable_with_irrational_multipliers() -> None:
    pair = Instance.of("attention-flow", [[1, 0], [-1, 0]], V=MINUS, M=EYE)  # tanh(1) among them
    assert answers(LyapunovStable(AntipodalAt()), pair) == TRUE


@pytest.mark.parametrize(
    ("value", "start", "vanishes", "rests", "diverges"),
    [
        ([[0, -1], [1, 0]], [1, 0], FALSE, FALSE, FALSE),  # turns for ever
        ([[1, 0], [0, -1]], [0, 1], OPEN, OPEN, FALSE),  # on the stable line of an unstable matrix
        ([[1, 0], [0, -1]], [1, 0], FALSE, FALSE, OPEN),
        (NIL, [0, 1], FALSE, FALSE, OPEN),  # drifts
        (NIL, [1, 0], FALSE, OPEN, FALSE),
        ([[-1, 5], [0, -2]], [1, 1], OPEN, OPEN, FALSE),
    ],
)
def test_equal_tokens(value: Any, start: Any, vanishes: Any, rests: Any, diverges: Any) -> None:
    instance = flow([start, start], value, [[1, 2], [0, 1]])
    asked = (Converges(Zero()), Converges(SomeEquilibrium()), Diverges())
    assert tuple(answers(claim, instance) for claim in asked) == (vanishes, rests, diverges)


@pytest.mark.parametrize(
    ("system", "further"),
    [("oja-flow", {}), ("oja-map", {"alpha": "1/2"}), ("attention-flow", {"M": [[1, 2], [0, 1]]}),
     ("attention-map", {"M": [[1, 2], [0, 1]], "alpha": 3, "mask": "causal"})],
)  # fmt: skip
def test_equal_tokens_on_the_sphere_turn_for_ever(system: str, further: Any) -> None:
    """Without a real eigenvector of the values they never come to rest; with one nothing is said."""
    rests, top = Converges(SomeEquilibrium()), Converges(ConsensusAt(V, 1))
    turning = Instance.of(system, [[1, 0], [1, 0]], V=[[1, -2], [3, -1]], **further)
    assert answers(rests, turning) == FALSE
    assert answers(top, turning) == FALSE
    data = {"kind": "limit/known-orbit", "data": {}}
    for value, tokens in (([[1, -2], [0, -1]], [[1, 0], [1, 0]]), ([[1, -2], [3, -1]], [[1, 0], [-1, 0]])):
        other = Instance.of(system, tokens, V=value, **further)
        for claim in (rests, top):
            assert CLAIM_TRUTH(claim, IndependentInstance(other, 1, 0), data) is None  # forged


def test_a_plane_that_turns_in_a_space_that_does_not() -> None:
    turning = [[0, -1, 0], [1, 0, 0], [0, 0, 5]]
    at = lambda token: Instance.of("oja-flow", [token], V=turning)  # noqa: E731
    assert answers(Converges(SomeEquilibrium()), at([1, 0, 0])) == FALSE
    assert answers(Converges(SomeEquilibrium()), at(["3/5", 0, "4/5"])) == OPEN  # it comes to the third axis


@pytest.mark.parametrize(("b", "w"), [(1, -1), (-1, 1), (1, 1), (-1, -1)])
def test_mirrored_tokens_on_an_eigenline(b: int, w: int) -> None:
    instance = flow([[1, 0], [-1, 0], [0, 0]], [[b, 0], [0, 3]], [[w, 2], [0, 1]])
    fall = b * w < 0
    assert answers(Converges(Zero()), instance) == (OPEN if fall else FALSE)
    assert answers(Diverges(), instance) == (FALSE if fall else OPEN)
    off = flow([[1, 0], [-2, 0], [0, 0]], [[b, 0], [0, 3]], [[w, 2], [0, 1]])
    data = {"kind": "limit/known-orbit", "data": {}}
    assert CLAIM_TRUTH(Converges(Zero()), IndependentInstance(off, 1, 0), data) is None  # not mirrored: forged


def test_a_stable_2_cycle_is_not_unstable() -> None:
    """The second consensus of the map at a long step: x -> -x, with multipliers inside."""
    at = lambda low: Instance.of("oja-map", [[0, 1], [0, 1]], V=[[1, 0], [0, low]], alpha=1)  # noqa: E731
    place = ConsensusAt(V, 2)
    assert answers(Unstable(place), at(-4), 2) == FALSE
    assert answers(Stable(place), at(-4), 2) == TRUE
    assert answers(LyapunovStable(place), at(-4), 2) == TRUE
    assert answers(Unstable(place), at("-5/2"), 2) == TRUE


@pytest.mark.parametrize(
    "conjecture",
    [
        Conjecture("0 is stable for B < 0", "token-flow", [NegativeDefinite(B)], LyapunovStable(Zero()), n=2, d=2),
        Conjecture("B > 0 and W < 0 diverges", "token-flow", [PositiveDefinite(B), NegativeDefinite(W)], Diverges(), d=2, n=2),
        Conjecture("det V > 0 rests", "attention-map", [Relation(Determinant(V) > 0)], Converges(SomeEquilibrium()), d=2, n=2),
    ],
    ids=lambda each: each.name,
)  # fmt: skip
def test_found_and_checked_again(conjecture: Conjecture) -> None:
    report = refute(conjecture, instances=600)
    assert report.results[0].answer == "refuted"
    assert all(verdict.is_holds for _, verdict in recheck_report(report.as_dict()))


def test_a_true_one_survives() -> None:
    conditions = [IsIdentity(-B), Symmetric(W), PositiveDefinite(W)]
    true = Conjecture("0 is stable for B = -I and W > 0", "token-flow", conditions, LyapunovStable(Zero()), n=2, d=2)
    assert refute(true, instances=100).results[0].answer == "survived"
