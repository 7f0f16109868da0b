"""Spectra of systems that are composed of declarations: every closed form that is promised is derived."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import eigentoken as et
from eigentoken.theory.linearization.at_points import closed_forms
from eigentoken.theory.printing.plain_text import plain_words
from eigentoken.theory.systems import catalogue
from eigentoken.theory.systems.system import System

from ..shares import others_slow


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    before = dict(catalogue._ADDED)
    yield
    catalogue._ADDED.clear()
    catalogue._ADDED.update(before)


COMPOSED = [
    {"space": "sphere", "time": "map", "value": "V", "score": "M", "mask": "causal"},
    {"space": "sphere", "time": "map", "score": "M"},
    {"space": "sphere", "time": "map", "value": "V", "over_root_d": True},
    {"space": "sphere", "time": "flow", "value": "V", "score": "M", "over_root_d": True},
    {"space": "sphere", "time": "flow", "score": "M", "multihead": True},
    {"space": "ellipsoid", "time": "map", "value": "V", "metric": "W"},
    {"space": "euclidean", "time": "flow", "value": "V"},
]


@pytest.mark.parametrize(
    "declarations",
    others_slow(
        COMPOSED, lambda each: each.get("mask") or "value" in each, lambda each: "-".join(map(str, each.values()))
    ),
)
def test_every_closed_form_that_is_promised_is_derived(declarations: dict[str, Any]) -> None:
    made = et.register_system(System("composed", "composed of declarations", **declarations))
    forms = closed_forms(made)
    assert "consensus" in forms
    for at, masks in forms.items():
        for mask in masks:
            found = et.spectrum(made, at=at, mask=mask, heads=2 if made.multihead and at == "bipartite" else None)
            assert found.count_check() == "holds"
    for at in {"polygon", "antipodal", "circle", "two-cycle", "zero", "bipartite"} - set(forms):
        with pytest.raises(ValueError, match=f"composed has no closed form at {at}") as caught:
            et.spectrum(made, at=at)
        assert len(str(caught.value)) < 500


def test_a_causal_map_has_the_spectrum_of_autograd() -> None:
    et.register_system(System("causal-map", "causal map", "sphere", "map", "V", "M", mask="causal"))
    found = et.spectrum("causal-map")
    generator = np.random.default_rng(0)
    basis = np.linalg.qr(generator.normal(size=(3, 3)))[0]
    values = np.array([1.5, -0.5, 0.25])
    V, M = torch.tensor(basis @ np.diag(values) @ basis.T), torch.tensor(generator.normal(size=(3, 3)))
    hidden = torch.triu(torch.ones(4, 4, dtype=torch.bool), 1)

    def step(flat: torch.Tensor) -> torch.Tensor:
        x = flat.reshape(4, 3)
        weights = torch.softmax((x @ M @ x.T).masked_fill(hidden, -torch.inf), 1)
        moved = x + 0.3 * weights @ x @ V.T
        return (moved / moved.norm(dim=1, keepdim=True)).reshape(-1)

    point = torch.tensor(np.tile(basis[:, 0], 4))
    jacobian = torch.autograd.functional.jacobian(step, point).numpy()
    tangent = np.kron(np.eye(4), basis[:, 1:])
    numeric = np.sort(np.linalg.eigvals(tangent.T @ jacobian @ tangent).real)
    listed = found.at(
        {"alpha": 0.3, "lambda_k": 1.5, "n": 4, "d": 3}, {"lambda_ell": [-0.5, 0.25], "i": [1, 2, 3, 4]}, float
    )
    assert np.allclose(numeric, sorted(value for value, count in listed for _ in range(count)))
    assert found.criteria[0].check() == "holds"


def test_criteria_belong_to_the_equation_and_not_to_its_name() -> None:
    et.register_system(System("renamed", "attention flow by another name", "sphere", "flow", "A", "K"))
    own, theirs = (et.spectrum(name, at="bipartite").criteria for name in ("renamed", "attention-flow"))
    assert [each.condition for each in own] == [each.condition for each in theirs]
    assert len(own) == 3


def test_values_at_which_the_formulas_are_not_valid_are_refused() -> None:
    flow, step, polygon = et.spectrum("oja-flow"), et.spectrum("oja-map"), et.spectrum("attention-flow", at="polygon")
    good = {"lambda_k": 2, "n": 3, "d": 3}
    assert flow.at(good, {"lambda_ell": np.array([1, -1])}) == [(-1, 1), (-3, 1), (-2, 4)]
    for values, runs, said in [
        ({**good, "d": 5}, {"lambda_ell": [1, -1]}, "must list all 4 values of lambda_ell .* got 2"),
        ({**good, "n": 0}, {"lambda_ell": [1, -1]}, "no such point exists"),
        ({**good, "n": "5/4"}, {"lambda_ell": [1, -1]}, "no such point exists"),
        ({**good, "lambda_k": "__import__('os')"}, {"lambda_ell": [1, -1]}, "lambda_k must be a number"),
        (good, {"lambda_ell": 1}, "lambda_ell runs over a list of numbers"),
    ]:
        with pytest.raises(ValueError, match=said) as caught:
            flow.at(values, runs)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=r"valid where 1 . α λ_k > 0, which is false here"):
        step.at({"alpha": 1, "lambda_k": -3, "n": 3, "d": 2}, {"lambda_ell": [1]})
    with pytest.raises(ValueError, match="valid where r ≥ 2"):  # its multiplicity would be -1
        polygon.at({"n": 4, "d": 2, "r": 1}, {"nu": [0, 0], "kappa": [0], "tau": [0]})


def test_every_letter_is_told() -> None:
    def told(name: str, **asked: Any) -> str:
        return " ".join(map(plain_words, et.spectrum(name, **asked).notes))

    assert "A is the mask with each row divided by its sum" in told("oja-map", mask="any")
    assert "of A, the mask with each row divided by its sum" in " ".join(
        et.spectrum("oja-map", mask="any").criteria[0].assumes
    )
    assert "s = v_kᵀ M v_k" in told("attention-map", at="bipartite")
    assert "P tokens at v_k and Q at -v_k" in told("oja-map", at="bipartite", mask="blocks")
    assert "p_i are on its side" in told("oja-flow", at="bipartite", mask="causal")
    assert "ω = P_z V z" in told("attention-flow", at="antipodal")
    assert "r is the dimension of the span E" in told("token-flow", at="polygon")
    assert "(α λ_k + √d)/√d < 0" in told("ellipsoid-map", at="two-cycle")  # not 1 + alpha lambda_k


def test_a_point_of_signs_names_its_own_mask() -> None:
    assert et.spectrum("oja-flow", signs="++-").point == "signs ++-"
    assert et.spectrum("oja-flow", signs=[1, -1], mask="causal").point == "signs +-, causal mask"
    assert et.spectrum("oja-flow", signs="+-", mask=[[0, 1], [1, 0]]).point == "signs +-, mask 01 10"
    assert et.spectrum("oja-map", signs="+-").conditions == ()  # 1 > 0 is no condition


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: et.spectrum(3), "unknown system 3"),  # type: ignore[arg-type]
        (lambda: et.spectrum("oja-map", at=["consensus"]), "unknown place"),  # type: ignore[arg-type]
        (lambda: et.spectrum("multihead-map", at="bipartite", heads=2.5), "heads must be a whole number"),  # type: ignore[arg-type]
        (lambda: et.spectrum("oja-map", signs=3), "signs must be"),  # type: ignore[arg-type]
        (lambda: et.linearize("attention-map", mask=np.eye(2)), "mask must be a name"),  # type: ignore[arg-type]
        (lambda: et.linearize("attention-map", heads=2), "heads of attention-map must be left out"),
    ],
)
def test_nonsense_is_told_in_one_line(ask: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        ask()
    assert "\n" not in str(caught.value)
