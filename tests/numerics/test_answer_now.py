"""An answer that one factorization gives returns at once; what its document says is found later, of a copy of its own."""

from __future__ import annotations

import copy
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace

import numpy as np
import pytest

from eigentoken.numerics.certified import inertia, questions
from eigentoken.numerics.certified.arithmetic import using
from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.inertia import definite_at_once, mirrored
from eigentoken.numerics.recheck import recheck
from eigentoken.theory.language.verdicts import Verdict, VerdictAnswer, array_digest
from tests.tools.simulated_device import SimulatedDevice


def definite(seed: int, n: int = 150, least: float = 1.0) -> np.ndarray:
    a = np.random.default_rng(seed).standard_normal((n, n))
    s = a @ a.T / n
    return np.asarray(0.5 * (s + s.T) + least * np.eye(n))


def waits(verdict: Verdict) -> bool:
    return type(verdict) is not Verdict


@pytest.fixture(autouse=True)
def _nothing_waits_afterwards() -> object:
    yield
    if list(
        questions._WAITING
    ):  # a failure that was caught may hold a frame: a collection of everything takes a second
        gc.collect()
    assert not list(questions._WAITING)


@pytest.mark.parametrize("n", [150, 192, 300])
@pytest.mark.parametrize(
    ("condition", "sign", "answer"),
    [
        ("positive-definite", 1, "holds"),
        ("negative-definite", -1, "holds"),
        ("positive-semidefinite", 1, "holds"),
        ("negative-semidefinite", -1, "holds"),
        ("indefinite", 1, "fails"),
        ("indefinite", -1, "fails"),
    ],
)
def test_the_document_is_of_the_matrix_as_it_was(condition: str, sign: int, answer: str, n: int) -> None:
    before = sign * definite(n, n)
    given = before.copy()
    verdict = certify(condition, given, radius=0.125)
    assert waits(verdict) and verdict == answer
    given[:] = np.eye(n) * 1e-3
    assert waits(verdict)
    least = np.abs(np.linalg.eigvalsh(before)).min()
    assert verdict.margin is not None
    assert 0.88 * (least - 0.125) < verdict.margin < least - 0.125
    assert not waits(verdict)
    assert verdict.certificate is not None
    assert dict(verdict.certificate.inputs) == {"matrix": array_digest(before)}
    assert recheck(verdict.certificate, {"matrix": before}) == "holds"
    assert recheck(verdict.certificate, {"matrix": given}) != "holds"


def test_a_wish_for_the_margin_the_details_or_the_certificate_makes_it_whole() -> None:
    s = definite(1)
    whole = certify("positive-definite", s).as_dict()
    assert whole["verdict"] == "holds" and whole["certificate"] is not None and whole["margin"]
    for name in ("margin", "certificate", "details"):
        verdict = certify("positive-definite", s)
        assert waits(verdict)
        assert getattr(verdict, name) is not None
        assert type(verdict) is Verdict
        assert verdict.as_dict() == whole


def test_what_is_done_with_verdicts_is_done_with_one_that_waits() -> None:
    s = definite(2)
    known = certify("positive-definite", s)
    known.as_dict()

    def fresh() -> Verdict:
        found = certify("positive-definite", s)
        assert waits(found)
        return found

    assert pickle.loads(pickle.dumps(fresh())) == known
    assert copy.copy(fresh()) == known == copy.deepcopy(fresh())
    assert fresh() == known and known == fresh() and hash(fresh()) == hash(known)
    assert repr(fresh()) == repr(known) and str(fresh()) == str(known) and f"{fresh()}" == f"{known}"
    assert fresh()._repr_html_() == known._repr_html_()
    assert asdict(fresh())["margin"] == known.margin
    assert replace(fresh(), reason=known.reason) == known
    bare = replace(fresh(), margin=None, certificate=None, details={})
    assert type(bare) is Verdict and bare.margin is None and bare.certificate is None
    assert fresh().is_holds and not fresh().is_fails and isinstance(fresh(), Verdict)
    with pytest.raises(TypeError, match="not true or false"):
        bool(fresh())
    with pytest.raises(AttributeError):
        fresh().margin = 3.0  # type: ignore[misc]


def test_a_minus_zero_on_one_side_is_kept() -> None:
    s = definite(3)
    s[3, 140] = s[140, 3] = 0.0
    both = s.copy()
    both[3, 140] = both[140, 3] = -0.0
    one = s.copy()
    one[3, 140] = -0.0
    assert len({array_digest(each) for each in (s, both, one)}) == 3
    for each, later in ((s, True), (both, True), (one, False)):
        for sign in (1.0, -1.0):
            verdict = certify("positive-definite" if sign > 0 else "negative-definite", sign * each)
            assert waits(verdict) is later
            assert verdict.certificate is not None
            assert verdict.certificate.inputs["matrix"] == array_digest(sign * each)


def test_only_what_is_large_symmetric_and_unscaled_waits() -> None:
    s = definite(4)
    skew = s + np.triu(s, 1) * 1e-3
    for matrix in (s[:100, :100], skew, np.ldexp(s, 300)):
        verdict = certify("positive-definite", matrix)
        assert verdict == "holds" and not waits(verdict)
    with using(SimulatedDevice(1)):
        assert not waits(certify("positive-definite", s))
    assert not waits(certify("positive-definite", s - 2 * np.eye(len(s))))
    assert certify("positive-definite", s - 2 * np.eye(len(s))) == "fails"
    assert waits(certify("positive-definite", -s)) and certify("positive-definite", -s) == "fails"


def test_an_enclosure_of_an_array_that_is_changed_says_the_same() -> None:
    before = definite(5)
    given = before.copy()
    enclosure = Enclosure.from_floats(given, 0.25, "S")
    verdict = certify("positive-definite", enclosure)
    given[:] = 0.0
    assert verdict.certificate is not None
    assert dict(verdict.certificate.inputs) == {"S": array_digest(before)}
    assert verdict.certificate.data["terms"] == [[["S", False]]]
    assert verdict.certificate.data["slack"] == "1/4"


def test_many_threads_make_it_whole_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    truth = inertia.AtOnce.whole
    monkeypatch.setattr(inertia.AtOnce, "whole", lambda self: (made.append(1), truth(self))[1])
    verdict = certify("positive-definite", definite(6, 300))
    with ThreadPoolExecutor(8) as pool:
        margins = list(pool.map(lambda _: verdict.margin, range(32)))
    assert len(set(margins)) == 1 and made == [1]


def test_what_waits_is_bounded_and_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    s = definite(7)
    first = certify("positive-definite", s)
    monkeypatch.setattr(questions, "MOST_WAITING", s.nbytes)
    second = certify("positive-definite", s)
    assert waits(first) and not waits(second)
    assert first == second  # the first one is whole now, and waits no more
    third = certify("positive-definite", s)
    assert waits(third)
    del third
    assert waits(certify("positive-definite", s))


def test_an_interruption_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    s = definite(8)
    known = certify("positive-definite", s).as_dict()
    verdict = certify("positive-definite", s)
    truth = inertia.cholesky_bound

    def interrupted(*given: object, **named: object) -> float | None:
        truth(*given, **named)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(inertia, "cholesky_bound", interrupted)
    with pytest.raises(KeyboardInterrupt):
        print(verdict.margin)
    monkeypatch.setattr(inertia, "cholesky_bound", truth)
    assert waits(verdict)
    again = verdict.as_dict()
    assert again["certificate"] is not None and known["certificate"] is not None
    assert again["certificate"]["inputs"] == known["certificate"]["inputs"]
    assert verdict.margin is not None and 0 < verdict.margin < np.linalg.eigvalsh(s)[0]


def test_a_second_answer_that_differs_is_an_error() -> None:
    other = Verdict(VerdictAnswer.FAILS, "no", 0.0, questions.SPECTRAL)
    verdict = questions.answer_now(VerdictAnswer.HOLDS, "yes", lambda: other, 8)
    with pytest.raises(AssertionError, match="please report this"):
        print(verdict.margin)


@pytest.mark.parametrize("n", [1, 2, 95, 96, 97, 200, 384])
def test_a_triangle_and_a_diagonal_are_the_matrix(n: int) -> None:
    rng = np.random.default_rng(n)
    s = rng.standard_normal((n, n))
    s = s + s.T
    spoiled = s.copy()
    spoiled[np.triu_indices(n)] = np.nan
    assert np.array_equal(mirrored(spoiled, s.diagonal()), s)
    assert definite_at_once(Enclosure.from_floats(np.full((130, 130), 1.0))) is None
