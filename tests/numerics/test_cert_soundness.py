"""No falsehood: verdicts against exact ground truth on adversarial families (2,000 matrices, 20,000 in the slow suite)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from eigentoken.numerics.certified.certify import certify
from eigentoken.theory.language.verdicts import Verdict

from ..tools.adversarial_matrices import SignCase, SpectralCase, sign_cases, spectral_cases

ORDERS = {"real-part": "dominant-real-part", "modulus": "dominant-modulus", "step": "dominant-step"}
SLOW_BLOCKS = 8


def sign_truth(condition: str, inertia: tuple[int, int, int]) -> bool:
    p, q, z = inertia
    n = p + q + z
    return {
        "positive-definite": p == n,
        "negative-definite": q == n,
        "positive-semidefinite": q == 0,
        "negative-semidefinite": p == 0,
        "indefinite": p > 0 and q > 0,
    }[condition]


def false_signs(case: SignCase) -> list[str]:
    """Descriptions of false verdicts about one matrix."""
    wrong = []
    conditions = (
        "positive-definite",
        "negative-definite",
        "positive-semidefinite",
        "negative-semidefinite",
        "indefinite",
    )
    for condition in conditions:
        verdict = certify(condition, case.matrix)
        if not verdict.is_undecided and verdict.is_holds != sign_truth(condition, case.inertia):
            wrong.append(
                f"{case.family}: {condition} {verdict.answer} but the inertia is {case.inertia}: {case.matrix!r}"
            )
    verdict = certify("inertia", case.matrix)
    if verdict.is_holds and tuple(verdict.details["inertia"]) != case.inertia:
        wrong.append(f"{case.family}: inertia {verdict.details['inertia']}, truth {case.inertia}: {case.matrix!r}")
    p, q, z = case.inertia
    other = (p - 1, q + 1, z) if p else (p + 1, q - 1, z) if q else (1, 0, z - 1)
    if certify("inertia", case.matrix, expected=other).is_holds:
        wrong.append(f"{case.family}: inertia {other} holds, truth {case.inertia}: {case.matrix!r}")
    return wrong


def false_dominance(case: SpectralCase) -> list[str]:
    wrong = []
    for order, condition in ORDERS.items():
        kind = case.kinds[order]
        if kind is None:
            continue
        found: dict[str, Verdict] = {
            "simple-real": certify(condition, case.matrix, alpha=case.alpha),
            "simple-pair": certify("dominant-complex-pair", case.matrix, alpha=case.alpha, by=order),
        }
        for claimed, verdict in found.items():
            if not verdict.is_undecided and verdict.is_holds != (kind == claimed):
                wrong.append(
                    f"{case.family} by {order}: {claimed} {verdict.answer}, truth {kind}: {case.matrix.tolist()!r}"
                )
    return wrong


def false_discs(case: SpectralCase) -> list[str]:
    """Every eigenvalue in a disc, and k of them in a component of k discs: counted in exact numbers."""
    if not case.eigenvalues:
        return []
    verdict = certify("spectrum", case.matrix)
    if not verdict.is_holds:
        return [] if verdict.is_undecided else [f"{case.family}: no spectrum: {case.matrix.tolist()!r}"]
    shown = [tuple(Fraction(disc[key]) for key in ("re", "im", "radius")) for disc in verdict.details["discs"]]
    label = list(range(len(shown)))
    for i, (x, y, r) in enumerate(shown):
        for j, (u, v, s) in enumerate(shown[:i]):
            if (x - u) ** 2 + (y - v) ** 2 <= (r + s) ** 2:
                label = [label[j] if k == label[i] else k for k in label]
    homes = []
    for re, im in case.points():
        near = {label[k] for k, (x, y, r) in enumerate(shown) if (x - re) ** 2 + (y - im) ** 2 <= r * r}
        homes += sorted(near)[:1]
    if sorted(homes) == sorted(label):
        return []
    return [f"{case.family}: discs do not hold the eigenvalues: {case.matrix.tolist()!r}"]


def test_no_false_sign_verdict_on_1400_matrices() -> None:
    wrong = [text for case in sign_cases(1400, seed=11) for text in false_signs(case)]
    assert wrong == []


def test_no_false_dominance_verdict_on_600_matrices() -> None:
    wrong = [text for case in spectral_cases(600, seed=12) for text in false_dominance(case) + false_discs(case)]
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("block", range(SLOW_BLOCKS))
def test_no_false_sign_verdict_on_14000_matrices(block: int) -> None:
    wrong = [text for case in sign_cases(1750, seed=100 + block) for text in false_signs(case)]
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("block", range(SLOW_BLOCKS))
def test_no_false_dominance_verdict_on_6400_matrices(block: int) -> None:
    cases = spectral_cases(800, seed=200 + block)
    wrong = [text for case in cases for text in false_dominance(case) + false_discs(case)]
    assert wrong == []


def test_undecided_is_rare_on_integers() -> None:
    """The ladder reaches exact arithmetic: without a radius, small integer matrices are all decided."""
    words = [certify("inertia", case.matrix).answer for case in sign_cases(200, seed=5)]
    assert "undecided" not in {str(word) for word in words}


@pytest.mark.parametrize("seed", range(40))
def test_a_radius_is_respected(seed: int) -> None:
    """Diagonal matrices: for every matrix in the ball iff beyond the radius; both signs possible means undecided."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    d = rng.integers(-4, 9, size=n).astype(float)
    radius = Fraction(int(rng.integers(0, 9)), 2)
    verdict = certify("positive-definite", np.diag(d), radius=radius)
    least = Fraction(float(d.min()))
    if verdict.is_holds:
        assert least > radius
        assert Fraction(verdict.margin or 0) <= least - radius
    elif verdict.is_fails:
        assert least <= -radius
        assert Fraction(verdict.margin or 0) <= -least - radius
    else:
        assert -radius <= least <= radius


@pytest.mark.parametrize("seed", range(60))
def test_margins_are_honest(seed: int) -> None:
    """A perturbation within the margin never gets the opposite word."""
    rng = np.random.default_rng(1000 + seed)
    n = int(rng.integers(2, 6))
    matrix = rng.standard_normal((n, n)) + (float(rng.integers(0, 4)) * np.eye(n) if seed % 2 else 0)
    conditions = [
        "positive-definite",
        "indefinite",
        "nonsingular",
        "inertia",
        *ORDERS.values(),
        "dominant-complex-pair",
    ]
    for condition in conditions:
        verdict = certify(condition, matrix, alpha=Fraction(1, 3))
        if verdict.is_undecided or not verdict.margin:
            continue
        for _ in range(4):
            change = rng.standard_normal((n, n))
            change *= 0.999 * verdict.margin / np.linalg.norm(change, 2)
            again = certify(condition, matrix + change, alpha=Fraction(1, 3))
            if condition == "inertia":
                assert again.details.get("inertia") == verdict.details["inertia"]
            else:
                assert again.is_undecided or again.answer is verdict.answer, (
                    condition,
                    matrix.tolist(),
                    change.tolist(),
                )


def test_the_margin_of_a_definite_matrix_is_sharp() -> None:
    verdict = certify("positive-definite", np.diag([3.0, 0.5, 2.0]))
    assert verdict.is_holds and 0.49 < (verdict.margin or 0) <= 0.5


def test_nearly_singular_and_large_is_decided_by_sliced_products() -> None:
    """n = 120, smallest eigenvalue about 1e-15 of the largest: Cholesky alone cannot tell."""
    rng = np.random.default_rng(3)
    n = 120
    q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    w = np.geomspace(1.0, 1e-3, n)
    w[-1] = 4e-16
    s = (q * w) @ q.T
    s = 0.5 * (s + s.T)
    verdict = certify("inertia", s, time_limit=0.0)
    assert verdict.details["rung"] == "sliced congruence"
    truth = certify("inertia", s, time_limit=60.0, expected=tuple(verdict.details["inertia"]))
    exact = certify("positive-definite", s, time_limit=60.0)
    assert truth.is_holds and not exact.is_undecided
