"""What other programs read: published schemas, SARIF, in-toto, JUnit, model card, and re-checking of reports."""

from __future__ import annotations

import hashlib
import inspect
import json
from pathlib import Path
from typing import Any, get_args, get_type_hints
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest
from typer.testing import CliRunner

from eigentoken.checking import check
from eigentoken.checking.formats import to_json, write_report
from eigentoken.checking.intoto import to_intoto
from eigentoken.checking.model_card import to_model_card
from eigentoken.checking.sarif import to_sarif
from eigentoken.cli import app
from eigentoken.commands.junit import to_junit
from eigentoken.documents.printed import CommandDocument
from eigentoken.output import show_json
from eigentoken.proofs.verify import Line, Verified
from eigentoken.rechecking.recheck import recheck_document
from eigentoken.schemas import names, schema

from ..documents import validate

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "conjectures"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(1)
    config = transformers.GPT2Config(n_layer=2, n_head=2, n_embd=12, vocab_size=30, n_positions=16)
    folder = tmp_path_factory.mktemp("model")
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def report(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return check(str(model), work=tmp_path_factory.mktemp("work"), sequences=1, tokens=4, arrays=True)


def _validate(document: dict[str, Any]) -> None:
    kind = document["schema"].split("/")[1]
    validate(document, schema(kind))


def test_published_schemas_are_schemas() -> None:
    assert {"check", "verdict", "statements", "classification", "verify"} <= set(names())
    for name in names():
        jsonschema.Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize(
    "arguments",
    [
        ["statements", "--json"],
        ["show", "PM-L4", "--json"],
        ["verify", "PM-L4", "--instances", "0", "--json"],
        ["models", "--json"],
        ["reproduce", "--list", "--json"],
        ["doctor", "--json"],
        ["simulate", "oja-map", "--end", "5", "--samples", "3", "--json"],
    ],
)
def test_commands_print_what_their_schema_says(arguments: list[str]) -> None:
    printed = CliRunner().invoke(app, arguments)
    assert printed.exit_code == 0, printed.output
    _validate(json.loads(printed.stdout))


def test_every_document_that_a_command_prints_has_a_published_schema() -> None:
    """No list to keep: ``show_json`` takes :data:`CommandDocument` (mypy holds the callers to it), and each has a schema."""
    assert next(iter(inspect.signature(show_json).parameters.values())).annotation == "CommandDocument"
    printed = [get_args(get_type_hints(each)["schema"]) for each in get_args(CommandDocument)]
    kinds = {value.split("/")[1] for values in printed for value in values}
    assert len(printed) >= 19
    assert all(printed)
    assert kinds <= set(names()), f"no schema for {sorted(kinds - set(names()))}"


def test_the_other_commands_print_what_their_schema_says(model: Path, tmp_path: Path) -> None:
    derived = ["derive", "PM-L4", "--format", "tex", "-o", str(tmp_path / "l4.tex"), "--json"]
    steered = ["steer", str(model), "--direction", "random", "-o", str(tmp_path / "steered"), "--json"]
    drawn = ["reproduce", "abella-2", "--quick", "-o", str(tmp_path / "figures"), "--json"]
    attacked = [
        ["refute", str(EXAMPLES / name), "--instances", "200", "--jobs", "1", "--json", *more]
        for name, more in (("polygonal_instability.py", ["--drop"]), ("oja_consensus.py", []))
    ]
    for arguments, code in (
        (["certify", "--json"], 0),
        (derived, 0),
        (steered, 0),
        (drawn, 0),
        (attacked[0], 1),
        (attacked[1], 0),
    ):
        printed = CliRunner().invoke(app, arguments)
        assert printed.exit_code == code, printed.output
        document = json.loads(printed.stdout)
        _validate(document)
        with pytest.raises(jsonschema.ValidationError):
            _validate({name: value for name, value in document.items() if name == "schema"})


@pytest.mark.needs_coq
def test_an_export_to_coq_prints_what_its_schema_says(tmp_path: Path) -> None:
    printed = CliRunner().invoke(app, ["derive", "PM-L4", "--coq", str(tmp_path / "coq"), "--json"])
    assert printed.exit_code == 0, printed.output
    _validate(json.loads(printed.stdout))


def test_a_refutation_without_its_counterexample_is_not_one(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    attack = ["refute", str(EXAMPLES / "polygonal_instability.py"), "--instances", "200", "--jobs", "1"]
    assert CliRunner().invoke(app, [*attack, "-o", str(path)]).exit_code == 1
    document = json.loads(path.read_text(encoding="utf-8"))
    _validate(document)
    for change in ({"counterexample": None}, {"verdict": "survived"}, {"verdict": "proved"}):
        with pytest.raises(jsonschema.ValidationError):
            _validate({**document, "results": [{**document["results"][0], **change}]})


def test_classify_and_certify_print_what_their_schema_says(tmp_path: Path) -> None:
    point = tmp_path / "point.json"
    point.write_text(
        json.dumps({"system": "oja-map", "V": [["1", 0], [0, "1/2"]], "alpha": "1/2", "tokens": [[1, 0], [1, 0]]})
    )
    printed = CliRunner().invoke(app, ["classify", str(point), "--json"])
    document = json.loads(printed.stdout)
    _validate(document)
    assert document["class"] == "consensus"
    np.save(tmp_path / "m.npy", np.diag([1.0, 2.0]))
    printed = CliRunner().invoke(app, ["certify", "positive-definite", str(tmp_path / "m.npy"), "--json"])
    document = json.loads(printed.stdout)
    _validate(document)
    assert document["verdict"] == "holds"
    with pytest.raises(jsonschema.ValidationError):
        _validate({**document, "verdict": "maybe"})


def test_the_report_validates_and_sarif_counts_every_layer(report: Any) -> None:
    _validate(json.loads(to_json(report)))
    sarif = json.loads(to_sarif(report))
    run = sarif["runs"][0]
    assert len(run["results"]) == 2 * len(report.statements)
    kinds = {each["ruleId"]: each["kind"] for each in run["results"]}
    for each in report.statements:
        if each["word"] == "holds":
            assert kinds[each["id"]] == "pass"


def test_in_toto_binds_the_report_to_the_weights(report: Any, model: Path) -> None:
    statement = json.loads(to_intoto(report))
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    weights = hashlib.sha256((model / "model.safetensors").read_bytes()).hexdigest()
    assert statement["subject"][0]["digest"]["sha256"] == weights
    assert statement["predicate"]["report"]["sha256"] == hashlib.sha256(to_json(report).encode()).hexdigest()


def test_junit_counts_failures() -> None:
    lines = (Line("identity", "good", "holds", "fine"), Line("inequality", "bad", "fails", "x < y & \x01 worse"))
    root = ElementTree.fromstring(to_junit([Verified("PM-X", "0", lines)]))
    suite = root.find("testsuite")
    assert suite is not None
    assert suite.attrib["tests"] == "2"
    assert suite.attrib["failures"] == "1"


def test_the_model_card_has_a_row_a_layer(report: Any) -> None:
    assert to_model_card(report).count("\n| ") == 2 + 2


def test_recheck_agrees_and_notices_every_change(report: Any, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_report(report, {"json": path}, arrays=True)
    found = recheck_document(path)
    assert len(found) > 10
    assert {each.agrees for each in found} == {"holds"}
    document = json.loads(path.read_text())
    verdict = document["layers"][0]["leaders"]["real-part"]
    verdict["verdict"] = verdict["certificate"]["verdict"] = "fails" if verdict["verdict"] == "holds" else "holds"
    path.write_text(json.dumps(document))
    assert "fails" in {each.agrees for each in recheck_document(path)}


def test_recheck_notices_other_weights(report: Any, model: Path, tmp_path: Path) -> None:
    import shutil

    from safetensors.numpy import load_file, save_file

    path = tmp_path / "report.json"
    write_report(report, {"json": path}, arrays=True)
    copy = tmp_path / "copy"
    shutil.copytree(model, copy)
    tensors = load_file(copy / "model.safetensors")
    name = next(name for name in tensors if name.endswith("attn.c_proj.weight"))
    changed = tensors[name].copy()
    changed.flat[0] = np.nextafter(changed.flat[0], np.float32(10))
    save_file({**tensors, name: changed}, copy / "model.safetensors", metadata={"format": "pt"})
    found = recheck_document(path, source=str(copy))
    assert found[0].agrees == "fails"
    printed = CliRunner().invoke(app, ["recheck", str(path), "--source", str(copy)])
    assert printed.exit_code == 1


def test_a_document_that_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for text, match in (("{", "not JSON"), ("[1]", "no schema"), ('{"schema": "other/thing/1"}', "expected a check")):
        path.write_text(text)
        with pytest.raises(ValueError, match=match):
            recheck_document(path)
