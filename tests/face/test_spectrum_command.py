"""``eigentoken spectrum``: text, LaTeX and one JSON document from the same checked object; bad input is one line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest
import sympy as sp
from typer.testing import CliRunner

from eigentoken.cli import app
from eigentoken.schemas import schema
from eigentoken.theory.linearization.at_points import PLACES, closed_forms, spectrum
from eigentoken.theory.linearization.criterion import Criterion
from eigentoken.theory.linearization.document import spectrum_document
from eigentoken.theory.proving.real_arithmetic import Lemma
from eigentoken.theory.systems.catalogue import SYSTEMS

from ..documents import validate

QUICK = [
    ("oja-map",),
    ("attention-flow", "--mask", "causal"),
    ("multihead-flow", "--at", "bipartite", "--heads", "2"),
    ("attention-map", "--at", "polygon"),
    ("ellipsoid-map", "--nonsymmetric"),
    ("ellipsoid-flow", "--at", "bipartite"),
    ("oja-map", "--at", "bipartite", "--signs=++-", "--mask", "causal"),
    ("token-flow", "--at", "zero"),
]


@pytest.mark.parametrize("call", QUICK, ids=" ".join)
def test_the_document_is_what_its_schema_says(call: tuple[str, ...]) -> None:
    printed = CliRunner().invoke(app, ["spectrum", *call, "--json"])
    assert printed.exit_code == 0
    document = json.loads(printed.stdout)
    validate(document, schema("spectrum"))
    assert document["schema"] == "eigentoken/spectrum/1"
    assert document["count"]["verdict"] == "holds"
    assert all(each["verdict"] == "holds" for each in document["criteria"])
    for family in document["families"]:
        assert sp.sympify(family["multiplicity"]["text"]) is not None  # a text that sympy reads


def test_the_schema_rejects_what_is_left_out_or_added() -> None:
    document = {"schema": "eigentoken/spectrum/1", **spectrum("oja-flow").as_dict()}
    validate(document, schema("spectrum"))
    for key in document:
        with pytest.raises(jsonschema.ValidationError):
            validate({name: value for name, value in document.items() if name != key}, schema("spectrum"))
    with pytest.raises(jsonschema.ValidationError):
        validate({**document, "extra": 1}, schema("spectrum"))


def test_the_text_has_the_families_the_letters_and_the_criterion() -> None:
    printed = CliRunner().invoke(app, ["spectrum", "oja-map"], env={"COLUMNS": "80"})
    assert "(1 + α λ_ℓ)/(1 + α λ_k)" in printed.stdout
    assert "(d - 1) (n - 1)" in printed.stdout
    assert "then   the point is stable ⇔ λ₁ > 0 and α (|λ_d| - λ₁) < 2" in printed.stdout
    assert "proof  5 steps, checked: holds" in printed.stdout


def test_files_are_written(tmp_path: Path) -> None:
    for form in ("tex", "json"):
        written = CliRunner().invoke(app, ["spectrum", "oja-flow", "--format", form, "-o", str(tmp_path / f"s.{form}")])
        assert written.exit_code == 0
    assert (tmp_path / "s.tex").read_text().startswith("\\documentclass")
    validate(json.loads((tmp_path / "s.json").read_text()), schema("spectrum"))


def test_bad_input_is_told() -> None:
    for call, told in (
        (("oja-mop",), "did you mean oja-map"),
        (("oja-map", "--at", "polygn"), "did you mean polygon"),
        (("oja-map", "--mask", "casual"), "did you mean causal"),
        (("multihead-map", "--at", "polygon"), "at polygon there is one for oja-map"),
        (("rotary-flow",), "depend on the positions"),
        (("oja-map", "--format", "pdf"), "--format must be text, tex, json"),
        (("oja-map", "-o", "x.txt"), "--output needs --format"),
    ):
        found = CliRunner().invoke(app, ["spectrum", *call])
        assert isinstance(found.exception, ValueError)
        assert told in str(found.exception)
        assert "\n" not in str(found.exception)


def test_a_proof_that_does_not_check_is_exit_code_one(monkeypatch: pytest.MonkeyPatch) -> None:
    import eigentoken.theory.linearization.at_points as door

    def wrong(asked: object, found: object) -> tuple[Criterion, ...]:
        return (Criterion("wrong", spectrum_found, (), sp.true, (Lemma("no", (), sp.Symbol("x", real=True) > 0),), ""),)

    spectrum_found = spectrum("oja-flow")
    monkeypatch.setattr(door, "_criteria", wrong)
    printed = CliRunner().invoke(app, ["spectrum", "oja-flow"])
    assert printed.exit_code == 1
    assert "checked: fails" in printed.stdout


@pytest.mark.needs_latex
def test_the_latex_of_every_system_compiles(tmp_path: Path) -> None:
    found = [(spectrum(each), each) for each in SYSTEMS.values()]
    found.append((spectrum("attention-map", at="bipartite", mask="any"), SYSTEMS["attention-map"]))
    others = {at: next(each for each in SYSTEMS.values() if at in closed_forms(each)) for at in PLACES}
    found += [(spectrum(each, at=at), each) for at, each in others.items()]
    found += [(spectrum("attention-flow", at=at), SYSTEMS["attention-flow"]) for at in ("polygon", "antipodal")]
    found.append((spectrum("oja-map", at="bipartite", mask="blocks"), SYSTEMS["oja-map"]))
    found.append((spectrum("oja-map", signs="+-", mask=[[0, 1], [1, 0]]), SYSTEMS["oja-map"]))
    bodies = [spectrum_document(*pair) for pair in found]
    head, _, _ = bodies[0].partition("\\begin{document}")
    inside = [text.partition("\\begin{document}")[2].partition("\\end{document}")[0] for text in bodies]
    (tmp_path / "all.tex").write_text(f"{head}\\begin{{document}}{''.join(inside)}\\end{{document}}")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-1500:]
