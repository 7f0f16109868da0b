"""``eigentoken recheck`` on reports that were changed: nothing that a report states beyond its certificates passes."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eigentoken.checking import check
from eigentoken.checking.formats import write_report
from eigentoken.checking.run import open_model
from eigentoken.cli import app
from eigentoken.numerics.recheck.documents.shown import Shown, leaves
from eigentoken.rechecking.consistency import compare, made_again
from eigentoken.rechecking.recheck import recheck_document

from ..numerics.forging import other_values, resealed, set_at
from ..shares import others_slow

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "conjectures"

Change = Callable[[dict[str, Any]], Any]


def attack(name: str, path: Path, *more: str, instances: str = "2000") -> dict[str, Any]:
    arguments = ["refute", str(EXAMPLES / name), "--instances", instances, "--jobs", "1", "-o", str(path), *more]
    CliRunner().invoke(app, arguments)
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def rechecked(document: dict[str, Any], path: Path) -> tuple[int, str, int]:
    """Exit code, verdict (or that the document is refused), and how many lines there are."""
    path.write_text(json.dumps(document), encoding="utf-8")
    printed = CliRunner().invoke(app, ["recheck", str(path), "--json"])
    if isinstance(printed.exception, ValueError):
        return 2, "refused", 0
    answer = json.loads(printed.stdout)
    return printed.exit_code, answer["verdict"], len(answer["certificates"])


@pytest.fixture(scope="module")
def refuted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A refutation that is confirmed as it stands."""
    path = tmp_path_factory.mktemp("refuted") / "any.json"
    document = attack("any_step.py", path)
    assert rechecked(document, path) == (0, "holds", 5)
    return document


@pytest.fixture(scope="module")
def survived(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return attack("oja_consensus.py", tmp_path_factory.mktemp("survived") / "oja.json", instances="100")


def _certificates(result: dict[str, Any]) -> Any:
    return result["counterexample"]["certificates"]


def _other_condition(result: dict[str, Any]) -> None:
    """A condition is replaced by another one that is true, everywhere but in the digest."""
    found = result["counterexample"]
    result["conjecture"]["conditions"][2] = copy.deepcopy(result["conjecture"]["conditions"][3])
    found["conditions"][2] = copy.deepcopy(found["conditions"][3])
    found["certificates"][2] = copy.deepcopy(found["certificates"][3])


def _fewer_conditions(result: dict[str, Any]) -> None:
    for listed in (result["conjecture"]["conditions"], result["counterexample"]["conditions"], _certificates(result)):
        del listed[0]


def _margin_everywhere(result: dict[str, Any]) -> None:
    claim = result["counterexample"]["claim"]
    own = _certificates(result)[-1]["data"]["data"]
    claim["margin"] *= 100
    own["at_least"] = claim["margin"].hex()
    claim["reason"] = claim["reason"].replace("0.5", "50")
    result["meaning"] = result["meaning"].replace("0.5", "50")
    resealed(result)


REFUTATIONS: dict[str, Change] = {
    "no certificates": lambda result: _certificates(result).clear(),
    "some conditions' certificates": lambda result: _certificates(result).__delitem__(slice(0, 4)),
    "no claim's certificate": lambda result: _certificates(result).pop(),
    "no counterexample": lambda result: result.update(counterexample=None),
    "verdict flipped": lambda result: result.update(verdict="survived", status="tested"),
    "verdict only": lambda result: result.update(verdict="survived"),
    "unknown verdict": lambda result: result.update(verdict="proved"),
    "name": lambda result: result.update(name="something else"),
    "name in the conjecture too": lambda result: (result.update(name="x"), result["conjecture"].update(name="x")),
    "system": lambda result: result.update(system="oja-flow"),
    "meaning": lambda result: result.update(meaning="refuted by a wish"),
    "no conjecture": lambda result: result.pop("conjecture"),
    "claim's margin": lambda result: result["counterexample"]["claim"].update(margin=5.0),
    "claim's margin, everywhere": _margin_everywhere,
    "claim's reason": lambda result: result["counterexample"]["claim"].update(reason="because"),
    "claim's verdict": lambda result: result["counterexample"]["claim"].update(verdict="holds"),
    "claim's text": lambda result: result["counterexample"]["claim"].update(claim="1 = 1"),
    "condition's verdict": lambda result: result["counterexample"]["conditions"][1].update(verdict="fails"),
    "condition's text": lambda result: result["counterexample"]["conditions"][1].update(condition="1 = 1"),
    "a condition not listed": lambda result: result["counterexample"]["conditions"].pop(),
    "another condition": _other_condition,
    "fewer conditions": _fewer_conditions,
    "n": lambda result: result["counterexample"].update(n=7),
    "k": lambda result: result["counterexample"].update(k=2),
    "displayed instance": lambda result: result["counterexample"]["instance"].update(alpha="1/100"),
    "certificates twice": lambda result: _certificates(result).__setitem__(0, _certificates(result)[1]),
}


@pytest.mark.parametrize("change", REFUTATIONS)
def test_a_changed_refutation_is_noticed(refuted: dict[str, Any], change: str, tmp_path: Path) -> None:
    forged = copy.deepcopy(refuted)
    REFUTATIONS[change](forged["results"][0])
    assert forged != refuted
    code, verdict, _ = rechecked(forged, tmp_path / "r.json")
    assert (code, verdict) in ((1, "fails"), (2, "refused"))


def test_a_report_that_claims_nothing_has_nothing_to_recheck(survived: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    assert rechecked(survived, path) == (0, "undecided", 0)
    assert "nothing to re-check" in CliRunner().invoke(app, ["recheck", str(path)]).stdout
    for change in ({"verdict": "refuted"}, {"verdict": "refuted", "status": "refuted"}, {"status": "refuted"}):
        forged = copy.deepcopy(survived)
        forged["results"][0].update(change)
        assert rechecked(forged, path)[:2] in ((1, "fails"), (2, "refused"))
    path.write_text(json.dumps({"schema": survived["schema"]}))
    with pytest.raises(ValueError, match="has no field"):
        recheck_document(path)


def test_dropped_conditions_carry_their_own_certificates(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    document = attack("oja_consensus.py", path, "--drop", instances="200")
    assert rechecked(document, path)[:2] == (0, "holds")
    needed = [number for number, line in enumerate(document["results"][0]["dropped"]) if line["needed"]]
    assert needed
    changes: tuple[Change, ...] = (
        lambda line: line.update(needed=None),
        lambda line: line.update(counterexample=None),
        lambda line: line.update(condition="1 = 1"),
        lambda line: line["counterexample"]["certificates"].clear(),
        lambda line: line["counterexample"]["claim"].update(reason="because"),
    )
    for change in changes:
        forged = copy.deepcopy(document)
        change(forged["results"][0]["dropped"][needed[0]])
        assert rechecked(forged, path)[:2] in ((1, "fails"), (2, "refused"))


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The report of a small model with two layers."""
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(1)
    folder = tmp_path_factory.mktemp("checked")
    config = transformers.BertConfig(
        num_hidden_layers=2, num_attention_heads=2, hidden_size=8, intermediate_size=8, vocab_size=30
    )
    transformers.BertModel(config).save_pretrained(folder / "model")
    report = check(
        str(folder / "model"),
        work=folder / "work",
        sequences=0,
        arrays=True,
        statements=("AB-T4.1", "PM-N1", "PM-T1", "PM-L8", "PM-L4", "PH-T2"),
    )
    path = folder / "report.json"
    write_report(report, {"json": path}, arrays=True)
    return json.loads(path.read_text(encoding="utf-8")), path


def _flip(word: str) -> str:
    return "fails" if word == "holds" else "holds"


def _condition(document: dict[str, Any], certified: bool) -> dict[str, Any]:
    """The first verdict of a condition on a layer with, or without, a certificate."""
    found: list[dict[str, Any]] = [
        verdict
        for layer in document["layers"]
        for each in layer["hypotheses"]
        for verdict in each["conditions"].values()
        if (verdict["certificate"] is not None) is certified and verdict["verdict"] != "undecided"
    ]
    return found[0]


def _turn(verdict: dict[str, Any]) -> None:
    verdict["verdict"] = _flip(verdict["verdict"])


def _layer(document: dict[str, Any]) -> dict[str, Any]:
    layer: dict[str, Any] = document["layers"][0]
    return layer


def _head(document: dict[str, Any]) -> dict[str, Any]:
    head: dict[str, Any] = _layer(document)["heads"][0]
    return head


def _set_discs(node: Any) -> None:
    """Every disc of the report at (0, 0, 0)."""
    if isinstance(node, dict):
        for name, child in node.items():
            if name == "discs" and isinstance(child, list):
                node[name] = [
                    [0.0] * len(disc) if isinstance(disc, list) else dict.fromkeys(disc, 0.0) for disc in child
                ]
            else:
                _set_discs(child)
    elif isinstance(node, list):
        for child in node:
            _set_discs(child)


CHECKS: dict[str, Change] = {
    "statement's word": lambda d: d["statements"][0].update(word=_flip(d["statements"][0]["word"])),
    "what is not about the model": lambda d: next(
        s for s in d["statements"] if s["word"] == "not about this model"
    ).update(word="holds"),
    "statement's difference": lambda d: next(s for s in d["statements"] if s["differs"])["differs"].clear(),
    "what a statement leaves out": lambda d: next(s for s in d["statements"] if s["idealisations"])[
        "idealisations"
    ].pop(),
    "the idealisations": lambda d: d["idealisations"].pop(),
    "size of an idealisation": lambda d: d["idealisations"][0].update(measured=[0.0, 0.0]),
    "layer's system": lambda d: _layer(d)["system"].update(acting=1, heads=1),
    "layer's mask": lambda d: _layer(d)["system"].update(mask="causal"),
    "as if one head": lambda d: next(h for h in _layer(d)["hypotheses"] if h["as_one_head"])["as_one_head"].update(
        word="met as if one head"
    ),
    "statement's layers": lambda d: d["statements"][1]["layers"].__setitem__(0, _flip(d["statements"][1]["layers"][0])),
    "statement's obstacles": lambda d: next(s for s in d["statements"] if s["obstacles"])["obstacles"].clear(),
    "statement's title": lambda d: d["statements"][0].update(title="Something else"),
    "statement over heads": lambda d: next(s for s in d["statements"] if s["as_one_head"])["as_one_head"][
        "heads"
    ].update({"met as if one head": 99}),
    "layer's verdict": lambda d: _turn(_layer(d)["hypotheses"][0]["verdict"]),
    "layer's word": lambda d: _layer(d)["hypotheses"][0].update(word="holds"),
    "certified condition's word": lambda d: _turn(_condition(d, True)),
    "certified condition's margin": lambda d: _condition(d, True).update(margin=5.0),
    "certificate removed": lambda d: _condition(d, True).update(certificate=None),
    "uncertified condition's word": lambda d: _turn(_condition(d, False)),
    "uncertified condition's margin": lambda d: _condition(d, False).update(margin=5.0),
    "condition removed": lambda d: _layer(d)["hypotheses"][0]["conditions"].popitem(),
    "case": lambda d: _layer(d)["cases"].update({"real-part": "9"}),
    "regime": lambda d: _layer(d)["regime"].update(regime="convergence"),
    "norm": lambda d: _layer(d).update(norm=[7.0, 7.5]),
    "leader": lambda d: _turn(_layer(d)["leaders"]["real-part"]),
    "leader's kind": lambda d: _layer(d)["leaders"]["real-part"]["details"].update(kind="unheard of"),
    "head's word": lambda d: next(h for h in _head(d)["hypotheses"] if not h["word"].startswith("met")).update(
        word="met as if one head"
    ),
    "regime's subject": lambda d: _layer(d)["regime"].update(of="this layer"),
    "head's verdicts": lambda d: _turn(next(iter(_head(d)["verdicts"].values()))),
    "head's regime": lambda d: _head(d)["regime"].update(regime="convergence"),
    "units": lambda d: _condition(d, True).update(unit="furlong"),
    "reason": lambda d: _condition(d, False).update(reason="because"),
    "family": lambda d: d["model"].update(family="llama"),
    "number of heads": lambda d: d["model"].update(heads=7),
    "d": lambda d: d["model"].update(d=9),
    "description": lambda d: d["model"].update(description="another model"),
    "norm widened": lambda d: _layer(d).update(norm=[_layer(d)["norm"][1], 1e6]),
    "distance": lambda d: _layer(d).update(distance_to_symmetric=[5.0, 6.0]),
    "leading eigenvalue": lambda d: _layer(d).update(leading_eigenvalue=[5.0, 6.0]),
    "discs": lambda d: _set_discs(d),
    "a head fewer": lambda d: _layer(d)["heads"].pop(),
    "a layer fewer": lambda d: d["layers"].pop(),
    "the other layer": lambda d: d["layers"].reverse(),
}


#: every second one: what is changed is found by one comparison with the report made anew
QUICK_CHECKS = set(list(CHECKS)[::2])


@pytest.mark.parametrize("change", others_slow(CHECKS, lambda change: change in QUICK_CHECKS))
def test_a_changed_check_report_is_noticed(checked: tuple[dict[str, Any], Path], change: str) -> None:
    document, path = checked
    forged = copy.deepcopy(document)
    CHECKS[change](forged)
    assert forged != document
    path.write_text(json.dumps(forged), encoding="utf-8")
    try:
        assert "fails" in {each.agrees for each in recheck_document(path)}
    except ValueError as refused:  # by its schema
        assert "is not a document of" in str(refused)


def test_an_unchanged_check_report_agrees(checked: tuple[dict[str, Any], Path]) -> None:
    assert rechecked(*checked)[:2] == (0, "holds")


def test_every_leaf_of_a_check_report_is_compared_or_listed(checked: tuple[dict[str, Any], Path]) -> None:
    """A share of all leaves, changed one by one, against the report made again; certificates are for the other arithmetic."""
    document, path = checked
    path.write_text(json.dumps(document), encoding="utf-8")
    fresh = made_again(document, open_model(document["model"]["source"]))
    whole = Shown(document)
    compare(whole, fresh, elsewhere=False)
    whole.cover(("schema",))
    assert not whole.found
    assert whole.not_covered() == ["version"]
    listed = [
        leaf for leaf, _ in leaves(document) if "certificate" not in leaf and leaf[0] not in ("schema", "version")
    ]
    for leaf in random.Random(1).sample(listed, 150):
        value = Shown(document).at(leaf)
        for other in list(other_values(value))[:1]:
            forged = Shown(set_at(document, leaf, other))
            compare(forged, fresh, elsewhere=False)
            assert forged.found or leaf[:2] in (("options", "seed"), ("options", "tokens"), ("options", "sequences")), (
                leaf
            )


def test_a_foreign_document_is_told_what_writes_ours(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for text in ("[1]", '{"schema": "other/thing/1"}'):
        path.write_text(text)
        with pytest.raises(ValueError, match="refute -o"):
            recheck_document(path)
