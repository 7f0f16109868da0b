"""Sentences of the power method's chapter that were false or lacked a hypothesis: each is refuted here by its example."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

from eigentoken.proofs.properties.exact_points import instance, point_is
from eigentoken.theory.language.claims import AlmostEveryConverges, Iff, Stable, Unstable, When
from eigentoken.theory.language.conditions import AllOf, Relation
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.language.terms import alpha, d, matrix, n, p, q
from eigentoken.theory.statements.registry import statements

CHAPTER = [each for each in statements() if each.id.startswith(("PM-", "CT-"))]


def attention_step(x: np.ndarray[Any, Any], value: Any, score: Any, step: float) -> np.ndarray[Any, Any]:
    """One step of the attention map in doubles, written here again."""
    weights = np.exp(x @ score @ x.T)
    weights /= weights.sum(axis=1, keepdims=True)
    y = x + step * weights @ x @ value.T
    return np.asarray(y / np.linalg.norm(y, axis=1, keepdims=True))


def test_a_long_step_throws_two_antipodal_tokens_apart() -> None:
    """K1: n = 2, V = diag(1, -3), alpha = 1, k = 1, lambda_2 < 0: a start at 1e-6 from (e_1, -e_1) leaves."""
    x = np.array([[1.0, 0.0], [-1.0, 1e-6]])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    farthest = 0.0
    for _ in range(100):
        x = attention_step(x, np.diag([1.0, -3.0]), np.zeros((2, 2)), 1.0)
        farthest = max(farthest, float(np.linalg.norm(x - np.array([[1.0, 0.0], [-1.0, 0.0]]))))
    assert farthest > 1


@pytest.mark.parametrize(("second", "ends"), [(5.0, "near"), (0.0, "away")])
def test_on_the_boundary_the_linearisation_is_silent_and_both_happen(second: float, ends: str) -> None:
    """K3: p = 2, q = 1, s = ln 3, lambda_2 = lambda_1 h = 119/160: slow decay or escape, as the second score says."""
    scores = [["ln(3)", "0"], ["0", str(int(second))]]
    tokens = [["1", "0"], ["1", "0"], ["-1", "0"]]
    document = instance("attention-map", tokens, V=[["1", "0"], ["0", "119/160"]], M=scores, alpha="1/2")
    assert point_is(document, "bipartite", stable="marginal").is_holds
    b1, b2 = np.tanh(np.log(3) + np.log(2) / 2), np.tanh(np.log(3) - np.log(2) / 2)
    angles = 0.15 * np.array([b2 * (1 - b1), b2 * (1 - b1), -b1 * (1 - b2)]) / (b1 * (1 - b2))
    x = np.stack([np.array([1, 1, -1]) * np.cos(angles), np.array([1, 1, -1]) * np.sin(angles)], axis=1)
    sizes = []
    for _ in range(4000):
        x = attention_step(x, np.diag([1.0, 119 / 160]), np.diag([np.log(3), second]), 0.5)
        sizes.append(float(np.abs(x[:, 1]).max()))
    if ends == "near":  # an algebraic decay: slower than any exponential rate that the linearisation could give
        assert 0.005 < sizes[-1] < 0.08 < sizes[10] < 0.16
    else:
        assert max(sizes) > 0.3


def test_claims_say_linear_stability_themselves() -> None:
    seen = 0
    for told in CHAPTER:
        for claim in told.claims:
            inner: Any = claim
            while isinstance(inner, Iff | When):
                inner = inner.claim
            if isinstance(inner, Stable | Unstable):
                assert "linearly" in LATEX(claim), told.id
                seen += 1
    assert seen > 15
    for name in ("PM-N3", "CT-6", "PM-L4", "PM-T1", "PM-T3", "PM-N1", "CT-2"):
        told = statements().get(name)
        assert "linear" in " ".join((told.text, *map(LATEX, told.claims))), name


def test_a_disjunction_inside_a_conjunction_has_parentheses() -> None:
    either = Relation(sp.Or(alpha > 1, sp.Symbol("beta", real=True) > 2))
    assert r"\text{ and } \left(" in LATEX(AllOf((Relation(sp.Eq(p, q)), either)))
    third = statements().get("PM-L5").claims[2]
    assert r"p = q \text{ and } \left(" in LATEX(third)


def test_almost_every_start_is_claimed_up_to_the_global_sign() -> None:
    assert LATEX(AlmostEveryConverges(ConsensusAt(matrix("V"), 1))).endswith(r"\text{ or to its negative}")
    told = statements().get("PM-T2")
    assert Relation(n >= 2) in told.conditions and Relation(d >= 2) in told.conditions


def test_below_the_threshold_other_eigenvectors_need_not_be_fixed() -> None:
    """PM-T1: F = diag(1/2, -1), alpha = 3 < 4 sends consensus on v_2 to its negative."""
    from eigentoken.proofs.power_method.pm_t01_multihead_alignment import sent_to_its_negative

    assert sent_to_its_negative().is_holds


def test_numbers_of_floating_point_runs_are_not_in_a_statement() -> None:
    told = statements().get("PM-T2")
    assert told.printed is not None
    assert "12.7" not in told.text + told.printed.wrong
    (note,) = statements().get("PM-CX1").notes
    assert str(note).startswith("Not proved here") and "another number" in note.text


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("PM-L7", "sharp"),
        ("PM-S1", "creates no gap"),
        ("PM-S2", "both are needed only to keep"),
        ("PM-S3", "approx 0"),
        ("PM-L15", "PM-L6 applies"),
        ("CT-3", "stable as in PM-CX1"),
    ],
)
def test_the_old_sentences_are_gone(name: str, gone: str) -> None:
    assert gone not in statements().get(name).text


@pytest.mark.parametrize("name", ["CT-5", "PM-L14"])
def test_the_heights_have_the_signs_of_the_text_in_the_formulas(name: str) -> None:
    """b_2 = tanh(s - t) in the text and in the formulas, which sympy would turn round."""
    told = statements().get(name)
    shown = LATEX(told.claims[0])
    assert r"b_{2} = \tanh\left(" in shown
    assert shown.split("b_{2} =")[1].endswith(r"M\, v_{k}(V) - \frac{\ln{\left(\frac{p}{q} \right)}}{2}\right)")
