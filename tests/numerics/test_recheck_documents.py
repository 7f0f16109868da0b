"""A document is one object: every leaf is found again, refused when it is changed, or listed as not covered."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from eigentoken.cli import app, main
from eigentoken.numerics.recheck.documents.shown import Shown, leaves
from eigentoken.rechecking.recheck import recheck_document
from eigentoken.theory.classification.classify import classify
from eigentoken.theory.classification.instances import Instance

from ..shares import others_slow
from .forging import forgeries, resealed, set_at


def diagonal(*entries: Any) -> list[list[Any]]:
    return [[entry if i == j else 0 for j in range(len(entries))] for i, entry in enumerate(entries)]


PAIR = [[1, 0], [-1, 0]]
POINTS: dict[str, Any] = {
    "consensus": ("oja-map", [[1, 0]] * 3, {"V": diagonal(2, -1), "alpha": "1/4"}),
    "2-cycle": ("oja-map", [[0, 1]] * 3, {"V": diagonal("1/2", -1), "alpha": "4.1"}),
    "elsewhere": ("oja-map", [["3/5", "4/5"]] * 2, {"V": diagonal(2, -1), "alpha": "1/4"}),
    "bipartite": ("attention-map", PAIR, {"V": diagonal(1, "1/2"), "M": diagonal("ln(3)", 0), "alpha": "1/2"}),
    "complex": ("attention-flow", [[1, 0, 0]] * 2, {"V": [[3, 0, 0], [0, 1, -2], [0, 2, 1]], "M": diagonal(1, 1, 1)}),
    "outside": ("attention-flow", [[0, 1]] * 2, {"V": diagonal(9, 4), "M": [[1, 1], [0, 1]]}),
    "radicals": (
        "attention-flow",
        [["sqrt(2)/2"] * 2, ["-sqrt(2)/2"] * 2],
        {"V": [[1, 2], [2, 1]], "M": [[1, 3], [0, 2]]},
    ),
}


def classified(name: str) -> dict[str, Any]:
    system, tokens, parameters = POINTS[name]
    found: dict[str, Any] = json.loads(json.dumps(classify(Instance.of(system, tokens, **parameters)).as_dict()))
    return found


def answer(document: Any, path: Path) -> tuple[str, list[str]]:
    """The verdict of the re-check and what it does not cover; ``refused`` for a document that is not read at all."""
    path.write_text(json.dumps(document), encoding="utf-8")
    try:
        found = recheck_document(path)
    except (ValueError, OSError) as problem:
        assert "\n" not in str(problem)
        return "refused", []
    return found.verdict, found.not_covered


def short(path: tuple[str | int, ...]) -> str:
    return re.sub(r"\[\d+\]", "[]", re.sub(r"\.\[", "[", ".".join(f"[{p}]" if isinstance(p, int) else p for p in path)))


HOW = ["arithmetic"]


@pytest.mark.parametrize("name", POINTS)
def test_a_classification_agrees_and_every_leaf_is_covered_or_listed(name: str, tmp_path: Path) -> None:
    document = classified(name)
    word, open_ones = answer(document, tmp_path / "c.json")
    assert word == "holds"
    assert open_ones == HOW


@pytest.mark.parametrize(
    "name", others_slow(POINTS, lambda name: name not in {"radicals", "bipartite", "outside", "2-cycle"})
)
def test_a_classification_changed_in_any_leaf_is_noticed(name: str, tmp_path: Path) -> None:
    """Numbers of the instance are the question: another question has other answers, or is refused by its hash."""
    document = classified(name)
    tried = 0
    for path, forged in forgeries(document):
        word, open_ones = answer(forged, tmp_path / "c.json")
        tried += 1
        if short(path) not in HOW:
            assert word in ("fails", "refused"), (path, word)
        else:
            assert word in ("fails", "refused") or short(path) in open_ones, path  # the reason repeats how it was found
    assert tried > 60


def test_a_point_that_moves_is_not_made_stable(tmp_path: Path) -> None:
    """The audit's first forgery: a point that is no equilibrium, ``stable`` with the claim inside and the margin 0."""
    document = classified("elsewhere")
    stable = document["stable"]
    stable["verdict"] = stable["certificate"]["verdict"] = "holds"
    stable["certificate"]["data"].update(claim="inside", at_least=(0.0).hex())
    stable["margin"] = 0.0
    assert answer(resealed(document), tmp_path / "c.json")[0] == "fails"
    wrapped = {"schema": "eigentoken/verdict/3", "condition": "stable", "matrix": "m.npy", **stable}
    assert answer(wrapped, tmp_path / "v.json")[0] == "refused"


def test_verdicts_of_another_point_are_refused(tmp_path: Path) -> None:
    here, there, elsewhere = classified("consensus"), classified("bipartite"), classified("elsewhere")
    for names in (("stable",), ("equilibrium",), ("equilibrium", "stable")):
        for target in (here, elsewhere):
            pasted = {**target, **{name: there[name] for name in names}}
            assert answer(pasted, tmp_path / "c.json")[0] == "fails"
    other = {**here, "instance": there["instance"], "instance_sha256": there["instance_sha256"]}
    assert answer(other, tmp_path / "c.json")[0] == "fails"


@pytest.mark.parametrize("factor", [1.0009, 1 + 1e-8, 0.99])
def test_a_margin_is_compared_to_nine_digits(factor: float, tmp_path: Path) -> None:
    for name in ("consensus", "outside", "elsewhere"):
        document = classified(name)
        verdict = document["equilibrium" if name == "elsewhere" else "stable"]
        verdict["margin"] *= factor
        verdict["certificate"]["data"]["at_least"] = verdict["margin"].hex()
        for digits in ("333333", "0.2453", "5 "):
            verdict["reason"] = verdict["reason"].replace(digits, f"{verdict['margin']:.6g}")
        assert answer(resealed(document), tmp_path / "c.json")[0] == "fails"


def certified(tmp_path: Path, condition: str, matrix: Any, *options: str) -> dict[str, Any]:
    np.save(tmp_path / "m.npy", matrix)
    printed = CliRunner().invoke(app, ["certify", condition, str(tmp_path / "m.npy"), "--json", *options])
    document: dict[str, Any] = json.loads(printed.stdout)
    return document


RNG = np.random.default_rng(5)
GENERAL = RNG.standard_normal((4, 4)) + np.diag([5.0, 0.0, 0.0, 1.0])
DEFINITE = np.array([[2.0, 1.0], [1.0, 3.0]])
VERDICTS: dict[str, Any] = {
    "signs": ("positive-definite", DEFINITE, ()),
    "indefinite": ("indefinite", GENERAL - 2 * np.eye(4), ()),
    "inertia": ("inertia", GENERAL, ("--expected", "2,2,0")),
    "leader": ("dominant-real-part", GENERAL, ()),
    "step": ("dominant-step", GENERAL, ("--alpha", "1/3")),
    "pair": ("dominant-complex-pair", np.array([[1.0, 2.0], [-2.0, 1.0]]), ()),
    "gap": ("spectral-gap", GENERAL, ()),
    "eigenvector": ("principal-eigenvector", GENERAL, ()),
    "different": ("symmetric", GENERAL, ()),
    "identity": ("identity", np.eye(3), ()),
    "distance": ("symmetric", GENERAL, ("--within", "9")),
    "norm": ("norm-bound", GENERAL, ("--bound", "9")),
    "interval": ("norm-bound", GENERAL, ("--radius", "1/3")),
    "rank": ("rank", GENERAL, ("--expected", "4")),
    "singular": ("nonsingular", np.ones((3, 3)), ()),
    "spectrum": ("spectrum", GENERAL, ("--radius", "1/1000")),
}
#: True, weaker or stronger by less than the slack, or how it was found: a change of these need not be noticed.
WEAKER = re.compile(
    r"details\.rung|certificate\.data\.facts\.(beta|beyond|norm_at_most|norm_above|distance_above|low|high)|"
    r"certificate\.data\.(slack|margin)|margin|details\.discs\[\]\.radius|details\.gap\[\]|details\.sine_of_angle|.*facts.*"
)


@pytest.mark.parametrize("name", VERDICTS)
def test_a_verdict_agrees_and_every_leaf_is_covered_or_listed(name: str, tmp_path: Path) -> None:
    condition, matrix, options = VERDICTS[name]
    document = certified(tmp_path, condition, matrix, *options)
    word, open_ones = answer(document, tmp_path / "v.json")
    assert (word, set(open_ones) - {"details.rung"}) == ("holds", {"details"} if name == "singular" else set())


@pytest.mark.parametrize(
    "name", others_slow(VERDICTS, lambda name: name not in {"indefinite", "spectrum", "step", "leader", "pair"})
)
def test_a_verdict_changed_in_any_leaf_is_noticed(name: str, tmp_path: Path) -> None:
    """A fact may be replaced by another true one that implies the same; nothing that is displayed may."""
    condition, matrix, options = VERDICTS[name]
    document = certified(tmp_path, condition, matrix, *options)
    for path, forged in forgeries(document):
        word, open_ones = answer(forged, tmp_path / "v.json")
        if short(path) == "details.eigenvalue.radius" and forged["details"]["eigenvalue"]["radius"] < 1e-6:
            assert word == "holds"  # within the slack
        elif WEAKER.fullmatch(short(path)) is None:
            assert word in ("fails", "refused"), (path, word)
        else:
            assert word != "holds" or short(path) in open_ones or "facts" in path, path


def test_the_forgeries_of_the_audit(tmp_path: Path) -> None:
    """Another eigenvalue as the leading one, the norm, the rank, the gap without its fact, the order, the reason."""
    document = certified(tmp_path, "dominant-real-part", GENERAL)
    others = sorted(np.linalg.eigvals(GENERAL), key=lambda z: -z.real)[1:]
    for value in others:
        shown = {**document["details"]["eigenvalue"], "re": float(value.real), "im": float(value.imag)}
        assert answer(set_at(document, ("details", "eigenvalue"), shown), tmp_path / "v.json")[0] == "fails"
    gap = certified(tmp_path, "spectral-gap", GENERAL)
    del gap["certificate"]["data"]["facts"]["gap"]
    for ends in (gap["details"]["gap"], [100.0, 101.0]):
        assert answer(set_at(gap, ("details", "gap"), ends), tmp_path / "v.json")[0] == "fails"
    rank = certified(tmp_path, "rank", GENERAL)
    assert answer(set_at(rank, ("details", "rank"), 3), tmp_path / "v.json")[0] == "fails"
    spectrum = certified(tmp_path, "spectrum", GENERAL)
    assert answer(set_at(spectrum, ("details", "largest_radius"), 0.0), tmp_path / "v.json")[0] == "fails"
    assert answer({**spectrum, "schema": "eigentoken/verdict/1X"}, tmp_path / "v.json")[0] == "refused"
    assert answer({**document, "certificate": None}, tmp_path / "v.json")[0] == "fails"


@pytest.mark.parametrize("condition", ["spectrum", "principal-eigenvector"])
def test_large_spectra_are_rechecked_from_what_is_shown(condition: str, tmp_path: Path) -> None:
    """n = 60: the arrays of the certificate are made of the numbers that the document shows, under their hashes."""
    a = np.random.default_rng(1).standard_normal((60, 60))
    document = certified(tmp_path, condition, a @ a.T)
    assert document["certificate"]["arrays"]
    assert answer(document, tmp_path / "v.json") == ("holds", ["details.rung"])
    field = ("details", "discs", 3, "re") if condition == "spectrum" else ("details", "vector", 3)
    assert answer(set_at(document, field, 0.25), tmp_path / "v.json")[0] == "fails"


BAD = {
    "classification alone": '{"schema": "eigentoken/classification/2"}',
    "older": '{"schema": "eigentoken/classification/1"}',
    "check alone": '{"schema": "eigentoken/check/7"}',
    "a number for a result": '{"schema": "eigentoken/refutation/3", "file": "x.py", "file_sha256": null, "results": [3]}',
    "longer name": '{"schema": "eigentoken/verdict/3X"}',
    "twice": '{"schema": "eigentoken/verdict/3", "schema": "eigentoken/verdict/3"}',
    "deep": "[" * 100000,
    "number": '{"schema": 3}',
    "not a number": '{"schema": "eigentoken/verdict/3", "margin": NaN}',
    "beyond floats": '{"schema": "eigentoken/verdict/3", "margin": 1e999}',
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_a_document_gets_one_line_and_exit_two(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.json"
    path.write_text(BAD[name], encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["eigentoken", "recheck", str(path)])
    with pytest.raises(SystemExit) as end:
        main()
    printed = capsys.readouterr()
    assert end.value.code == 2, printed
    assert len(printed.err.strip().splitlines()) == 1 and not printed.out


def test_a_new_field_is_not_covered_until_somebody_checks_it() -> None:
    document = {"a": 1, "b": {"c": [1, 2], "d": None}, "new": {"x": []}}
    shown = Shown(document)
    shown.same(("a",), 1)
    shown.cover(("b", "c"))
    assert shown.not_covered() == ["b.d", "new"]
    assert {path for path, _ in leaves(document)} == {("a",), ("b", "c", 0), ("b", "c", 1), ("b", "d"), ("new", "x")}
    assert not shown.same(("b", "d"), 2) and shown.found[0].answer == "fails"
