"""Bounds that are read from weights (BD-E1, BD-E2, BD-H1): in the report of ``check``, and confirmed or refused by recheck."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.checking import check
from eigentoken.checking.formats import to_html, write_report
from eigentoken.checking.terminal import show
from eigentoken.checking.token_bounds import OF_WEIGHTS
from eigentoken.rechecking.recheck import AGAIN, SECOND, Recheck, recheck_document

ASKED = tuple(OF_WEIGHTS)


@pytest.fixture(scope="module")
def stated(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path, Any]:
    """The report, without tokens, of a model of full attention whose first layer and one head of it have a margin."""
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(2)
    folder = tmp_path_factory.mktemp("margins")
    config = transformers.BertConfig(
        num_hidden_layers=2, num_attention_heads=2, hidden_size=8, intermediate_size=8, vocab_size=30
    )
    model = transformers.BertModel(config)
    attention = model.encoder.layer[0].attention
    with torch.no_grad():
        attention.self.value.weight[0] += torch.tensor([2.0, 0.25, 0, 0, 0, 0, 0, 0.0])
        attention.output.dense.weight[:, 0] += torch.tensor([2.0, -0.25, 0.5, 0, 0, 0, 0, 0.0])
    model.save_pretrained(folder / "model")
    report = check(str(folder / "model"), work=folder / "work", sequences=0, statements=ASKED)
    path = folder / "report.json"
    write_report(report, {"json": path}, False)
    return json.loads(path.read_text(encoding="utf-8")), path, report


def again(document: dict[str, Any], path: Path) -> Recheck:
    path.write_text(json.dumps(document), encoding="utf-8")
    return recheck_document(path)


def _entry(document: dict[str, Any], name: str, head: int | None = None) -> dict[str, Any]:
    (found,) = [e for e in document["bounds"][0]["bounds"] if (e["statement"], e["head"]) == (name, head)]
    return dict(found)


def test_each_layer_and_head_has_its_bound_beside_the_measured_value(stated: tuple[dict[str, Any], Path, Any]) -> None:
    document, _, _ = stated
    assert [each["layer"] for each in document["bounds"]] == [0, 1]
    first, second = document["bounds"]
    assert (first["tokens"], first["sha256"]) == (0, "")
    assert {(e["statement"], e["head"]) for e in first["bounds"]} == {
        ("BD-E1", None), ("BD-E2", None), ("BD-E1", 0), ("BD-E1", 1), ("BD-H1", 0), ("BD-H1", 1)
    }  # fmt: skip
    for each in first["bounds"]:
        if each["bound"] is not None:
            assert each["measured"] <= each["bound"] and not each["vacuous"]
    assert _entry(document, "BD-E1")["bound"] < 1 and _entry(document, "BD-E1", 0)["bound"] < 1
    assert (
        _entry(document, "BD-E1")["ratio"] == _entry(document, "BD-E1")["bound"] / _entry(document, "BD-E1")["measured"]
    )
    margins = [e for e in second["bounds"] if e["statement"] == "BD-E1"]
    assert len(margins) == 3 and all(e["bound"] is None and e["vacuous"] and e["ratio"] is None for e in margins)
    (refused,) = second["not_about"]  # the condition fails there, and so there is no bound on a step
    assert refused["statement"] == "BD-E2" and [each["part"] for each in refused["differs"]] == ["matrices"]


def test_the_terminal_and_the_page_show_them(
    stated: tuple[dict[str, Any], Path, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    _, _, report = stated
    show(report)
    told, page = " ".join(capsys.readouterr().out.split()), to_html(report)
    assert "(BD-E1)" in told and "(BD-E2)" in told and "no such margin is certified (1 of 2 layers)" in told
    assert all(each in page for each in OF_WEIGHTS.values())


def test_they_are_confirmed_by_the_second_arithmetic(stated: tuple[dict[str, Any], Path, Any]) -> None:
    document, path, _ = stated
    found = again(document, path)
    assert found == "holds" and not any(name.startswith("bounds") for name in found.not_covered)
    lines = {each.where: (each.by, each.reason) for each in found if each.where.startswith("bounds")}
    count = sum(each["bound"] is not None for each in document["bounds"][0]["bounds"])
    assert count >= 4 and lines["bounds, layer 0"] == (SECOND, f"{count} margins found again with error bounds")


def _scaled(name: str, head: int | None, factor: float) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        for each in document["bounds"][0]["bounds"]:
            if (each["statement"], each["head"]) == (name, head):
                each["bound"] *= factor
                each["ratio"] = each["ratio"] and each["ratio"] * factor

    return change


def _of(layer: int, **fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["bounds"][layer]["bounds"][0].update(fields)


#: What is forged, and whether the second arithmetic sees it (otherwise the issuer's code, made again).
FORGED: dict[str, tuple[Callable[[dict[str, Any]], Any], bool]] = {
    "BD-E1 of the layer lowered": (_scaled("BD-E1", None, 0.98), True),
    "BD-E1 of the layer raised": (_scaled("BD-E1", None, 1.02), True),
    "BD-E1 of the layer lowered by a little": (_scaled("BD-E1", None, 1 - 2.0**-15), True),
    "BD-H1 of a head lowered by a little": (_scaled("BD-H1", 0, 1 - 2.0**-18), True),
    "BD-E1 of a head lowered": (_scaled("BD-E1", 0, 0.98), True),
    "BD-E2 lowered": (_scaled("BD-E2", None, 0.98), True),
    "BD-H1 of a head lowered": (_scaled("BD-H1", 0, 0.98), True),
    "BD-H1 of a head raised": (_scaled("BD-H1", 0, 1.02), True),
    "BD-E2 raised": (_scaled("BD-E2", None, 1.02), True),
    "a measurement": (_of(0, measured=0.01), False),
    "a ratio": (_of(0, ratio=1.01), False),
    "a bound left out": (_of(0, bound=None, ratio=None, vacuous=True), False),
    "a bound where there is none": (_of(1, bound=0.5, ratio=1.0, vacuous=False), False),
    "tokens that were not run": (lambda d: d["bounds"][0].update(tokens=5, sha256="0" * 64), False),
    "a head that is not there": (lambda d: d["bounds"][0]["bounds"][-1].update(head=7), False),
    "a layer that is not there": (lambda d: d["bounds"][0].update(layer=9), False),
    "what it is not about": (lambda d: d["bounds"][1]["not_about"].clear(), False),
    "no bounds": (lambda d: d["bounds"].clear(), False),
}


@pytest.mark.parametrize("change", FORGED)
def test_a_changed_margin_is_refused(stated: tuple[dict[str, Any], Path, Any], change: str) -> None:
    document, path, _ = stated
    forged = copy.deepcopy(document)
    forge, second = FORGED[change]
    forge(forged)
    assert forged != document
    found = again(forged, path)
    assert found == "fails"
    refused = {each.by for each in found if each.agrees == "fails"}
    assert AGAIN in refused and (SECOND in refused) == second


def test_beside_bounds_at_tokens_and_with_other_tokens(
    tmp_path: Path, stated: tuple[dict[str, Any], Path, Any]
) -> None:
    """With tokens they stand last; where the tokens are others, the margins are still confirmed."""
    source = stated[0]["model"]["source"]
    report = check(source, work=tmp_path / "work", sequences=1, tokens=5, statements=(*ASKED, "BD-J2", "BD-D2"))
    path = tmp_path / "report.json"
    write_report(report, {"json": path}, False)
    document = json.loads(path.read_text(encoding="utf-8"))
    first = document["bounds"][0]
    assert first["tokens"] == 5 and [each["statement"] for each in first["bounds"]] == [
        "BD-D2", "BD-J2", "BD-J2", "BD-E1", "BD-E2", "BD-E1", "BD-E1", "BD-H1", "BD-H1"
    ]  # fmt: skip
    assert [e for e in first["bounds"] if e["statement"] in ASKED] == stated[0]["bounds"][0]["bounds"]
    assert again(document, path) == "holds"
    first["sha256"] = "0" * 64
    forged = copy.deepcopy(document)
    found = again(document, path)
    lines = {each.condition: each.agrees for each in found if each.where.startswith("bounds, layer 0")}
    assert "bounds[]" in found.not_covered and lines == {"certified margins": "holds"}
    _scaled("BD-E1", None, 0.98)(forged)
    assert again(forged, path) == "fails"


def test_heads_alone_have_margins_and_layers_none(tmp_path: Path, stated: tuple[dict[str, Any], Path, Any]) -> None:
    report = check(stated[0]["model"]["source"], work=tmp_path, heads_only=True, statements=ASKED)
    first = report.document["bounds"][0]
    assert [(e["statement"], e["head"]) for e in first["bounds"]] == [
        ("BD-E1", 0),
        ("BD-E1", 1),
        ("BD-H1", 0),
        ("BD-H1", 1),
    ]
    assert first["bounds"][0] == _entry(stated[0], "BD-E1", 0)
    (refused,) = first["not_about"]
    assert refused["differs"][0]["layer"] == "heads alone, F is not formed"


def test_nothing_is_said_where_it_is_not_asked(tmp_path: Path, stated: tuple[dict[str, Any], Path, Any]) -> None:
    report = check(stated[0]["model"]["source"], work=tmp_path, sequences=0, statements=("PM-N1",))
    assert report.document["bounds"] == []
    assert np.isfinite(_entry(stated[0], "BD-E2")["measured"])
