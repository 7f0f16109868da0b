"""No falsehood on named matrices and near misses of them: every condition, each certificate re-checked, each number true."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, pairwise
from typing import Any

import flint
import numpy as np
import pytest

from eigentoken.numerics.certified.certify import certify, conditions
from eigentoken.numerics.recheck import recheck
from eigentoken.theory.language.verdicts import Verdict

from ..tools.adversarial_matrices import exact_kinds
from ..tools.named_matrices import (
    NAMED_SIGNS,
    NAMED_SPECTRA,
    isolated_kinds,
    named_sign_cases,
    named_spectral_cases,
)

SLOW_BLOCKS = 6


def exact(matrix: Any) -> flint.fmpq_mat:
    rows = matrix.tolist() if isinstance(matrix, np.ndarray) else matrix
    found = [[Fraction(entry) for entry in row] for row in rows]
    return flint.fmpq_mat(
        len(found), len(found[0]), [flint.fmpq(e.numerator, e.denominator) for row in found for e in row]
    )


def scalar(n: int, value: Fraction) -> flint.fmpq_mat:
    entry = flint.fmpq(value.numerator, value.denominator)
    return flint.fmpq_mat(n, n, [entry if i == j else flint.fmpq(0) for i in range(n) for j in range(n)])


def negative_count(matrix: flint.fmpq_mat) -> int:
    """Negative eigenvalues of a symmetric rational matrix: sign changes of its characteristic polynomial at -x."""
    p = matrix.charpoly()
    signs = [c > 0 for c in (p[k] * (-1) ** k for k in range(p.degree() + 1)) if c != 0]
    return sum(a != b for a, b in pairwise(signs))


def norm_at_most(matrix: flint.fmpq_mat, bound: Fraction) -> bool:
    gap = scalar(matrix.ncols(), bound * bound) - matrix.transpose() * matrix
    return bound >= 0 and negative_count(gap) == 0


def ask(condition: str, matrix: Any, wrong: list[str], **options: Any) -> Verdict:
    """The verdict; a certificate must re-check (never ``fails``)."""
    verdict = certify(condition, matrix, time_limit=3.0, **options)
    if verdict.certificate is not None and recheck(verdict.certificate, matrix, time_limit=20.0).is_fails:
        wrong.append(f"{condition} {options} {verdict.answer}: the re-check does not agree: {matrix!r}")
    return verdict


def false_shapes(matrix: Any) -> list[str]:
    """Rank, norm, symmetric, identity, definiteness against exact algebra."""
    wrong: list[str] = []
    a = exact(matrix)
    n, rank = a.nrows(), a.rank()
    part = a + a.transpose()
    negative, positive = negative_count(part), negative_count(part * flint.fmpq(-1))
    truths: dict[tuple[str, Fraction | None], bool] = {
        ("positive-definite", None): positive == n,
        ("negative-definite", None): negative == n,
        ("positive-semidefinite", None): negative == 0,
        ("negative-semidefinite", None): positive == 0,
        ("indefinite", None): positive > 0 and negative > 0,
        ("nonsingular", None): rank == n,
        ("symmetric", None): a == a.transpose(),
        ("identity", None): a == scalar(n, Fraction(1)),
    }
    skew, moved = (a - a.transpose()) * flint.fmpq(1, 2), a - scalar(n, Fraction(1))
    for within in (Fraction(0), Fraction(1), Fraction(1, 10**6)):
        truths["symmetric", within] = norm_at_most(skew, within)
        truths["identity", within] = norm_at_most(moved, within)
    for (condition, within), truth in truths.items():
        verdict = ask(condition, matrix, wrong, **({} if within is None else {"within": within}))
        if not verdict.is_undecided and verdict.is_holds != truth:
            wrong.append(f"{condition} within {within}: {verdict.answer}, truth {truth}: {matrix!r}")
    found = {name: ask(name, matrix, wrong) for name in ("rank", "inertia", "norm-bound")}
    if found["rank"].is_holds and found["rank"].details["rank"] != rank:
        wrong.append(f"rank {found['rank'].details}, truth {rank}: {matrix!r}")
    if found["inertia"].is_holds and found["inertia"].details["inertia"][:2] != [positive, negative]:
        wrong.append(f"inertia {found['inertia'].details}, truth {positive, negative}: {matrix!r}")
    low, high = found["norm-bound"].details["norm"]
    if (high is not None and not norm_at_most(a, Fraction(high))) or (
        low > 0 and norm_at_most(a, Fraction(np.nextafter(low, 0.0)))
    ):
        wrong.append(f"the norm is not in {low, high}: {matrix!r}")
    for bound in (Fraction(low), Fraction(low) / 2):
        verdict = ask("norm-bound", matrix, wrong, bound=bound)
        if not verdict.is_undecided and verdict.is_holds != norm_at_most(a, bound):
            wrong.append(f"norm-bound {bound}: {verdict.answer}: {matrix!r}")
    return wrong


def false_spectrum(matrix: Any, kinds: dict[str, str | None], alpha: Fraction) -> list[str]:
    """Leaders, gap and eigenvector against exact roots."""
    wrong: list[str] = []
    orders = {"real-part": "dominant-real-part", "modulus": "dominant-modulus", "step": "dominant-step"}
    for order, condition in orders.items():
        for claimed, verdict in (
            ("simple-real", ask(condition, matrix, wrong, alpha=alpha)),
            ("simple-pair", ask("dominant-complex-pair", matrix, wrong, alpha=alpha, by=order)),
        ):
            if kinds[order] is not None and not verdict.is_undecided and verdict.is_holds != (kinds[order] == claimed):
                wrong.append(f"{claimed} by {order}: {verdict.answer}, truth {kinds[order]}: {matrix!r}")
    ask("spectrum", matrix, wrong)
    vector, gap = ask("principal-eigenvector", matrix, wrong), ask("spectral-gap", matrix, wrong)
    for verdict in (vector, gap):
        if (
            kinds["real-part"]
            and not verdict.is_undecided
            and verdict.is_holds != (kinds["real-part"] == "simple-real")
        ):
            wrong.append(f"{verdict.reason}: {verdict.answer}, truth {kinds['real-part']}: {matrix!r}")
    if vector.is_holds and len(vector.details["vector"]) > 1:
        wrong += far_vector(exact(matrix), vector, matrix)
    if gap.is_holds and gap.details.get("gap"):
        wrong += wrong_gap(exact(matrix), gap, matrix)
    return wrong


def real_parts(a: flint.fmpq_mat) -> list[Any]:
    roots = [
        (ball.real, m * k) for f, m in a.charpoly().numer().factor_squarefree()[1] for ball, k in f.complex_roots()
    ]
    return sorted((part for part, m in roots for _ in range(m)), key=lambda part: part.mid(), reverse=True)


def wrong_gap(a: flint.fmpq_mat, verdict: Verdict, matrix: Any) -> list[str]:
    flint.ctx.prec = 1200
    first, second = real_parts(a)[:2]
    flint.ctx.prec = 1200
    low, high = verdict.details["gap"]
    inside = not first - second < flint.arb(low) and (high is None or not first - second > flint.arb(high))
    flint.ctx.prec = 53
    return [] if inside else [f"the gap is not in {low, high}: {matrix!r}"]


def far_vector(a: flint.fmpq_mat, verdict: Verdict, matrix: Any) -> list[str]:
    """The eigenvector from the adjugate of ``A - lambda I`` at 1,200 bits: any nonzero column of it."""
    flint.ctx.prec = 1200
    try:
        n = a.nrows()
        lead = real_parts(a)[0]
        x = [flint.arb(v) for v in verdict.details["vector"]]
        ends = [flint.arb((k * 7) % 11 + 1) for k in range(n)], [flint.arb((k * 5) % 13 + 1) for k in range(n)]
        rows = [[flint.arb(a[i, j]) - (lead if i == j else 0) for j in range(n)] + [ends[0][i]] for i in range(n)]
        rows.append([*ends[1], flint.arb(0)])
        try:
            solved = flint.arb_mat(rows).solve(flint.arb_mat(n + 1, 1, [0] * n + [1]))
        except ZeroDivisionError:
            return []
        v = [solved[i, 0] for i in range(n)]
        cross = sum((p * q for p, q in zip(x, v, strict=True)), flint.arb(0))
        lengths = sum((p * p for p in x), flint.arb(0)) * sum((q * q for q in v), flint.arb(0))
        sine = flint.arb(verdict.details["sine_of_angle"])
        far = bool(1 - cross * cross / lengths > sine * sine)
        return [f"the eigenvector is farther than {verdict.details['sine_of_angle']}: {matrix!r}"] if far else []
    finally:
        flint.ctx.prec = 53


def all_false(count: int, seed: int) -> list[str]:
    wrong = [text for case in named_sign_cases(count, seed) for text in false_shapes(case.matrix)]
    for case in named_spectral_cases(count, seed):
        wrong += false_spectrum(case.matrix, case.kinds, case.alpha)
    return wrong


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_no_false_word_or_number_on_named_matrices(seed: int) -> None:
    assert all_false(60, 40 + seed) == []


@pytest.mark.slow
@pytest.mark.parametrize("block", range(SLOW_BLOCKS))
def test_no_false_word_or_number_on_3000_named_matrices(block: int) -> None:
    assert all_false(250, 400 + block) == []


def test_the_truths_of_the_two_ways_agree_and_every_family_appears() -> None:
    """Isolated roots against eigenvalues that are rational by construction; inertia against characteristic polynomials."""
    families, compared = set(), 0
    for case in named_spectral_cases(60, 3):
        families.add(case.family)
        if not case.eigenvalues:
            continue
        isolated = isolated_kinds(case.matrix, case.alpha)
        by_hand = exact_kinds(list(case.eigenvalues), case.alpha)
        for order, kind in isolated.items():
            assert kind is None or kind == by_hand[order], (case.family, order, case.matrix)
            compared += kind is not None
    assert compared >= 30 and len(families) >= len(NAMED_SPECTRA)
    for sign_case in named_sign_cases(40, 3):
        a = exact(sign_case.matrix)
        part = a + a.transpose()
        assert sign_case.inertia[:2] == (negative_count(part * flint.fmpq(-1)), negative_count(part))
    assert len({case.family for case in named_sign_cases(20, 0)}) == len(NAMED_SIGNS)


def test_the_harness_sees_a_false_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """With truths turned around, every decided word counts as false: the comparison can fail."""
    matrix = np.diag([2.0, 1.0])
    assert false_spectrum(matrix, {"real-part": "simple-pair", "modulus": None, "step": None}, Fraction(1, 2))
    monkeypatch.setitem(globals(), "negative_count", lambda matrix: 1)
    assert false_shapes(matrix)


def test_where_floats_do_not_separate_the_exact_rungs_answer() -> None:
    """Distances asked for exactly; real leaders that tie are no pair; an eigenvector beyond the reach of discs."""
    square = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert certify("symmetric", square, within=0).is_holds and certify("identity", np.eye(3), within=0).is_holds
    assert certify("identity", np.zeros((2, 2)), within=1).is_holds
    assert certify("identity", np.zeros((2, 2)), within=Fraction(10**20 - 1, 10**20)).is_fails
    turned = np.array([[0.0, 1.0], [-1.0, 0.0]])
    assert certify("symmetric", turned, within=1).is_holds
    assert certify("symmetric", turned, within=1, radius="1/100").is_undecided
    tied = np.diag([1.0, -1.0, 0.5])
    pair = certify("dominant-complex-pair", tied, by="modulus")
    assert pair.is_fails and pair.details["kind"] == "all-real" and recheck(pair.certificate, tied).is_holds
    defective = np.kron(np.eye(2), np.array([[1.0, 2.0], [-2.0, 1.0]])) + np.eye(4, k=2)  # 1 +- 2i, each twice
    double = certify("dominant-complex-pair", defective)
    assert double.is_fails and double.details["kind"] == "multiple-pair"
    assert recheck(double.certificate, defective).is_holds
    cycles = np.eye(6)[[1, 2, 0, 4, 3, 5]]  # eigenvalues 1 (three times), -1 and a pair on the unit circle
    modulus = certify("dominant-modulus", cycles)
    assert modulus.is_fails and recheck(modulus.certificate, cycles).is_holds
    close = np.array([[3.0, 1000.0, 0.0], [0.0, np.nextafter(3.0, 0.0), 1.0], [0.0, 0.0, -1.0]])
    vector = certify("principal-eigenvector", close)
    assert vector.is_holds and vector.details["sine_of_angle"] < 1e-15
    assert recheck(vector.certificate, close).is_holds
    assert vector.certificate is not None
    document = vector.certificate.as_document()
    document["data"]["facts"]["vector"][1] = (1e-9).hex()
    assert not recheck(document, close).is_holds
    document = pair.certificate.as_document() if pair.certificate is not None else {}
    assert recheck(document, np.diag([1.0, -1.0, 0.25])).is_fails  # another matrix
    document["data"]["facts"]["beta"] = "2"
    assert recheck(document, tied).is_fails  # nobody is beyond that


def test_a_pair_beyond_the_score_is_not_all_real() -> None:
    """A certificate that calls leaders real where a pair leads is shown false."""
    matrix = np.array([[0.0, 2.0, 0.0], [-2.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    real = certify("dominant-complex-pair", np.diag([1.0, -1.0, 0.5]), by="modulus").certificate
    honest = certify("dominant-complex-pair", matrix, by="modulus").certificate
    assert real is not None and honest is not None
    document = {**real.as_document(), "inputs": dict(honest.inputs)}
    document.pop("digest")
    document["data"] = {**document["data"], "facts": {**document["data"]["facts"], "beta": "1/2"}}
    assert recheck(document, matrix).is_fails


def test_every_condition_is_asked() -> None:
    asked = set(chain.from_iterable(_asked(kind) for kind in ("shapes", "spectrum")))
    assert asked == set(conditions())


def _asked(kind: str) -> set[str]:
    seen: set[str] = set()
    original = globals()["ask"]

    def listening(condition: str, matrix: Any, wrong: list[str], **options: Any) -> Verdict:
        seen.add(condition)
        found: Verdict = original(condition, matrix, wrong, **options)
        return found

    globals()["ask"] = listening
    try:
        if kind == "shapes":
            false_shapes(np.eye(2))
        else:
            false_spectrum(np.eye(2), {"real-part": None, "modulus": None, "step": None}, Fraction(1, 2))
    finally:
        globals()["ask"] = original
    return seen
