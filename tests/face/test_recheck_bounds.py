"""``eigentoken recheck`` on the bounds of a report: confirmed by the second arithmetic, refused, or said to be not covered."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.checking import check
from eigentoken.checking.formats import write_report
from eigentoken.numerics.recheck.documents.reading import fine_product
from eigentoken.numerics.recheck.layers.token_bounds import MARGIN, QUICK, GivenLayer, bound_above, judged
from eigentoken.rechecking.recheck import AGAIN, SECOND, Recheck, recheck_document

BOUNDS = (
    "BD-D2",
    "BD-D3",
    "BD-R1",
    "BD-R1b",
    "BD-R4",
    "BD-M1",
    "BD-J2",
    "BD-N1",
    "BD-D2b",
    "BD-L1",
    "BD-T3",
    "BD-J3",
    "BD-D1",
    "BD-H2",
)


@pytest.fixture(scope="module")
def stated(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The report of a small model, of the bounds alone."""
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(2)
    folder = tmp_path_factory.mktemp("bounds")
    config = transformers.BertConfig(
        num_hidden_layers=1, num_attention_heads=2, hidden_size=8, intermediate_size=8, vocab_size=30
    )
    transformers.BertModel(config).save_pretrained(folder / "model")
    report = check(str(folder / "model"), work=folder / "work", sequences=1, tokens=5, statements=BOUNDS)
    path = folder / "report.json"
    write_report(report, {"json": path}, False)
    return json.loads(path.read_text(encoding="utf-8")), path


def again(document: dict[str, Any], path: Path) -> Recheck:
    path.write_text(json.dumps(document), encoding="utf-8")
    return recheck_document(path)


def test_the_bounds_are_confirmed_by_the_second_arithmetic(stated: tuple[dict[str, Any], Path]) -> None:
    document, path = stated
    (layer,) = document["bounds"]
    assert {each["statement"] for each in layer["bounds"]} == set(BOUNDS) - {"BD-M1"}
    assert [each["statement"] for each in layer["not_about"]] == ["BD-M1"]
    found = again(document, path)
    assert found == "holds" and not any(name.startswith("bounds") for name in found.not_covered)
    (line,) = [each for each in found if each.where.startswith("bounds")]
    assert (line.by, line.reason) == (SECOND, f"{len(layer['bounds'])} bounds found again with error bounds")


def _scaled(name: str, factor: float) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        each = next(e for e in document["bounds"][0]["bounds"] if e["statement"] == name)
        each["bound"] *= factor
        each["ratio"] *= factor
        if each["trivial"] is not None:
            each["vacuous"] = each["bound"] >= each["trivial"]

    return change


#: What is forged, and whether the second arithmetic sees it (otherwise the issuer's code, made again).
FORGED: dict[str, tuple[Callable[[dict[str, Any]], Any], bool]] = {
    **{f"{name} lowered, all that follows too": (_scaled(name, 0.9), True) for name in BOUNDS if name != "BD-M1"},
    **{f"{name} raised": (_scaled(name, 1.5), True) for name in ("BD-J2", "BD-J3", "BD-D1", "BD-H2")},
    "a ratio": (lambda d: d["bounds"][0]["bounds"][0].update(ratio=1.01), False),
    "a measurement": (lambda d: d["bounds"][0]["bounds"][0].update(measured=0.25), False),
    "vacuous or not": (
        lambda d: d["bounds"][0]["bounds"][0].update(vacuous=not d["bounds"][0]["bounds"][0]["vacuous"]),
        False,
    ),
    "a bound left out": (lambda d: d["bounds"][0]["bounds"].pop(), False),
    "what it is not about": (lambda d: d["bounds"][0]["not_about"].clear(), False),
    "a head that is not there": (lambda d: d["bounds"][0]["bounds"][-1].update(head=7), False),
    "no bounds": (lambda d: d["bounds"].clear(), False),
}


@pytest.mark.parametrize("change", FORGED)
def test_a_changed_bound_is_refused(stated: tuple[dict[str, Any], Path], change: str) -> None:
    document, path = stated
    forged = copy.deepcopy(document)
    forge, second = FORGED[change]
    forge(forged)
    assert forged != document
    found = again(forged, path)
    assert found == "fails"
    refused = {each.by for each in found if each.agrees == "fails"}
    assert AGAIN in refused and (SECOND in refused) == second


def test_bounds_of_other_tokens_are_said_to_be_not_covered(stated: tuple[dict[str, Any], Path]) -> None:
    """With another digest (another machine, or a forger's) nothing is confirmed, and that is said; far off is undecided."""
    document, path = stated
    for change in (
        lambda d: d["bounds"][0].update(sha256="0" * 64),
        lambda d: d["options"].update(seed=5),
    ):
        forged = copy.deepcopy(document)
        _scaled("BD-J2", 0.5)(forged)
        change(forged)
        found = again(forged, path)
        assert "bounds" in found.not_covered
        told = [each for each in found if each.where.startswith("bounds")]
        assert told and {each.agrees for each in told} == {"undecided"} and "other tokens" in told[0].reason
    rounded = copy.deepcopy(document)
    _scaled("BD-J2", 1 + 1e-5)(rounded)
    rounded["bounds"][0].update(sha256="0" * 64)
    found = again(rounded, path)
    assert found == "holds" and "bounds" in found.not_covered


def test_what_was_observed_is_made_again(stated: tuple[dict[str, Any], Path]) -> None:
    """A feed-forward that is said to be small, with the idealisation that follows from it."""
    document = copy.deepcopy(stated[0])
    assert document["observed"]
    for each in document["observed"]:
        each["left_out"]["feed_forward"] = 0.0
    for row in document["idealisations"]:
        if row["name"] == "feed-forward":
            row["measured"] = [0.0 for _ in row["measured"]]
    assert again(document, stated[1]) == "fails"


def test_a_value_of_the_second_arithmetic_is_above_the_dense_one() -> None:
    """BD-J2 and BD-M1, causal with biases, against dense floats; nothing is said of a statement that is not known here."""
    from eigentoken.proofs.bounds.heads import HeadAtTokens, norm

    source = np.random.default_rng(7)
    Q, K, V = (source.normal(size=(3, 5)) for _ in "QKV")
    O, x, bias = source.normal(size=(5, 3)), source.normal(size=(4, 5)), source.normal(size=3)
    mask = np.tril(np.ones((4, 4), dtype=bool))
    head = {"Q": Q, "K": K, "V": V, "O": O, "scale": 2.0, "q_bias": bias, "k_bias": None}
    dense = HeadAtTokens(x, Q.T @ K / 2, O @ V, bias @ K / 2, mask)
    layer = GivenLayer([head], x, x, mask)
    found = bound_above("BD-J2", layer, 0)
    assert found is not None and norm(dense.jacobian()) <= found
    assert dense.row_operator_bounds()[0] * (1 - 1e-12) <= found <= dense.row_operator_bounds()[1] * (1 + 1e-6)
    assert bound_above("BD-M1", layer, 0) == pytest.approx(1 - dense.weights[:, 0].min(), rel=1e-12)
    wide = GivenLayer([{**head, "Q": 100 * Q}], x, x, np.ones((4, 4), dtype=bool))
    assert bound_above("BD-R1", wide, 0) == 1.0 and judged(1.0, 1.0)[0] == "holds"  # no more than what is always true
    assert bound_above("BD-J2", layer, None) is None and bound_above("PM-L4", layer, 0) is None


def test_a_stated_bound_is_judged() -> None:
    assert judged(1.0 + 1e-6, 1.0)[0] == "holds"
    assert judged(1.0 - 1e-6, 1.0)[0] == "undecided" and judged(1.0 - 2 * MARGIN, 1.0)[0] == "fails"
    assert judged(1.0 + 2 * MARGIN, 1.0)[0] == "fails"
    assert judged(None, 1.0)[0] == judged(1.0, None)[0] == judged(1.0, float("inf"))[0] == "undecided"


@pytest.mark.parametrize("turned", [None, ([0, 1], [2, 3], [1.0, 0.125])])
def test_floats_with_bounds_are_above_balls_and_near(turned: Any) -> None:
    """Each quick form is at least what balls find, and so near that balls are not needed; with biases, masks, positions."""
    source = np.random.default_rng(3)
    heads = []
    for scale in (0.3, 3.0):
        Q, K, V = (source.normal(size=(4, 12)) for _ in "QKV")
        biases = {f"{name}_bias": source.normal(size=4) for name in "qkv"}
        heads.append({"Q": scale * Q, "K": K, "V": V, "O": source.normal(size=(12, 4)), "scale": 2.0, **biases})
    x = source.normal(size=(6, 12))
    for mask in (np.ones((6, 6), dtype=bool), np.tril(np.ones((6, 6), dtype=bool))):
        layer = GivenLayer(heads, x, x, mask, turned, np.ones(12), None, True)
        asked = [(name, head) for name, heads_of in QUICK for head in ((0, 1) if heads_of else (None,))]
        assert len(asked) == 21
        for name, head in asked:
            quick, sharp = (bound_above(name, layer, head, sharp=each) for each in (False, True))
            assert quick is not None and sharp is not None
            # a bound of balls is itself above the formula by its radius and one float
            assert sharp * (1 - 1e-12) <= quick <= sharp * (1 + 2e-7), (name, head)


def test_floats_that_show_nothing_leave_it_to_balls() -> None:
    """Scores so large that floats do not know them to 1: the quick form is that of the balls."""
    source = np.random.default_rng(4)
    Q, K, V = (1e9 * source.normal(size=(2, 6)) for _ in "QKV")
    head = {"Q": Q, "K": K, "V": V, "O": source.normal(size=(6, 2)), "scale": 1.0}
    x = source.normal(size=(3, 6))
    layer = GivenLayer([head], x, x, np.ones((3, 3), dtype=bool))
    assert layer._quick.attention(0) is None
    assert bound_above("BD-R1", layer, 0, sharp=False) == bound_above("BD-R1", layer, 0) == 1.0


def test_a_fine_product_is_off_by_no_more_than_it_says() -> None:
    """Against exact arithmetic: graded rows and columns, cancellation, factors that are themselves off."""
    source = np.random.default_rng(5)
    for k in (1, 2, 7, 300):
        a, b = source.normal(size=(5, k)), source.normal(size=(k, 4))
        a, b = np.ldexp(a, source.integers(-30, 30, size=(5, k))), np.ldexp(b, source.integers(-30, 30, size=(k, 4)))
        if k > 6:
            a[:, k // 2 :], b[k // 2 :] = a[:, : k - k // 2], -b[: k - k // 2] * (1 + 2.0**-40)
        found = fine_product((a, 0.0), (b, 0.0))
        assert found is not None
        exact = [[sum(Fraction(a[i, n]) * Fraction(b[n, j]) for n in range(k)) for j in range(4)] for i in range(5)]
        off = sum((Fraction(found[0][i, j]) - exact[i][j]) ** 2 for i in range(5) for j in range(4))
        assert off <= Fraction(found[1]) ** 2
        assert found[1] <= 1e-15 * np.linalg.norm(found[0]) + 1e-18 * np.linalg.norm(a) * np.linalg.norm(b)
        moved = fine_product((a, 0.5), (b, 0.25))
        assert moved is not None and moved[1] >= 0.25 * np.linalg.norm(a) + 0.5 * np.linalg.norm(b)
    assert fine_product((np.full((2, 2), 1e200), 0.0), (np.eye(2), 0.0)) is None
    assert fine_product((np.zeros((2, 2)), 0.0), (np.eye(2), 0.0)) is not None
