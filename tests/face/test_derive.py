"""``eigentoken derive`` and ``show`` on the command line: files, exit codes, and a screen of 80 columns."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eigentoken.cli import app
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import SourceKind
from eigentoken.theory.statements.steps import Derivation, Identity

from ..commands import here


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return here(*arguments, environment=environment)


@pytest.mark.parametrize(
    ("form", "begins"),
    [
        ("tex", r"\documentclass"),
        ("md", "# Stability of consensus for the Oja map (PM-L4)"),
        ("html", "<!doctype html>"),
    ],
)
def test_one_format_goes_to_stdout(form: str, begins: str) -> None:
    printed = run("derive", "PM-L4", "--format", form)
    assert printed.returncode == 0
    assert printed.stdout.startswith(begins)
    assert printed.stderr == ""


def test_several_formats_are_files_with_a_bib_beside_the_tex(tmp_path: Path) -> None:
    printed = run("derive", "PM-L4", "--format", "tex,md,html", "-o", str(tmp_path / "new" / "pm-l4"), "--json")
    assert printed.returncode == 0
    document = json.loads(printed.stdout)
    assert document["schema"] == "eigentoken/derive/1"
    assert [Path(each).name for each in document["files"]] == ["pm-l4.tex", "pm-l4.bib", "pm-l4.md", "pm-l4.html"]
    assert all(Path(each).stat().st_size for each in document["files"])
    assert "@misc{Li-Altafini" in (tmp_path / "new" / "pm-l4.bib").read_text()


def test_a_folder_that_exists_gets_the_files(tmp_path: Path) -> None:
    printed = run("derive", "AB-L3.1", "--format", "md", "-o", str(tmp_path))
    assert printed.returncode == 0, printed.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["ab-l3.1.md"]


def test_without_latex_the_tex_is_written_with_one_clear_line(tmp_path: Path) -> None:
    printed = run("derive", "PM-L4", "--format", "pdf", "-o", str(tmp_path / "x.pdf"), PATH="")
    assert printed.returncode == 0
    assert (tmp_path / "x.tex").exists()
    assert not (tmp_path / "x.pdf").exists()
    lines = printed.stderr.strip().splitlines()
    assert len(lines) == 1
    assert "latexmk is not installed" in lines[0]
    assert "texlive-latex-base" in lines[0]


def test_nothing_is_printed_when_a_step_does_not_check(monkeypatch: pytest.MonkeyPatch) -> None:
    import sympy as sp

    a = sp.Symbol("a")
    wrong = Derivation((Identity(name="wrong sign", says="", left=a, right=-a),))
    monkeypatch.setitem(vars(statements().get("PH-T4c")), "derivation", wrong)
    refused = CliRunner().invoke(app, ["derive", "PH-T4c"])
    assert refused.exit_code == 1
    assert "documentclass" not in refused.stdout
    assert "wrong sign" in refused.stderr


def test_nothing_is_printed_when_the_kernel_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    told = statements().get("PM-L4")
    weaker = replace(told, conditions=told.conditions[1:])
    monkeypatch.setattr(type(statements()), "get", lambda registry, name: weaker)
    refused = CliRunner().invoke(app, ["derive", "PM-L4"])
    assert refused.exit_code == 1
    assert "documentclass" not in refused.stdout
    assert "no condition" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["derive"], "needs one ID"),
        (["derive", "PM-L4", "--all"], "needs one ID"),
        (["derive", "PM-L4", "--format", "doc"], "--format must name"),
        (["derive", "PM-L4", "--format", "pdf"], "needs -o"),
        (["derive", "PM-L44"], "did you mean"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments: list[str], told: str) -> None:
    printed = run(*arguments)
    assert printed.returncode == 2
    assert told in printed.stderr
    assert len(printed.stderr.strip().splitlines()) == 1


def test_errata_group_the_forms_by_how_they_came_to_us() -> None:
    """Only what was read in a paper is called an erratum of it; every form stands in exactly one group."""
    printed = run("derive", "--errata", "--format", "md")
    assert printed.returncode == 0
    groups = {each.splitlines()[0]: each for each in re.split(r"\n#+ ", printed.stdout)[1:]}
    (read,) = [each for title, each in groups.items() if title.startswith("Errata of papers that were read")]
    assert "Pham" not in read
    assert "summary imprecise" not in read.lower()
    assert "as recorded" not in read
    for each in statements():
        holding = [title for title, text in groups.items() if f" ({each.id}), " in text]
        assert len(holding) == (each.printed is not None)
        if each.printed is not None:
            assert (f" ({each.id}), " in read) == (each.printed.kind is SourceKind.READ)
    for title, text in groups.items():
        assert ("alse as printed" in text) <= ("were read" in title and "not read" not in title)


def test_a_statement_that_was_compared_with_a_summary_says_so_and_corrects_nobody() -> None:
    told = run("show", "PH-T3", COLUMNS="80", NO_COLOR="1").stdout
    assert "As a summary has it (summary imprecise, no erratum of the paper)" in told
    assert "Corrected statement" not in told
    assert "As printed" not in told
    document = json.loads(run("show", "PH-T3", "--json").stdout)
    assert (document["printed"]["kind"], document["printed"]["word"]) == ("summarised", "summary imprecise")
    assert document["status"] not in {"refuted", "corrected"}
    rows = {each["id"]: each for each in json.loads(run("statements", "--json").stdout)["statements"]}
    for each in statements():
        assert rows[each.id]["printed"] == (None if each.printed is None else each.printed.finding)
        if each.id.startswith("PH-"):
            assert rows[each.id]["printed"] in {None, "summary imprecise"}
            assert rows[each.id]["status"] not in {"refuted", "corrected"}


@pytest.mark.parametrize("name", ["PM-L15", "PM-T2"])
def test_show_fits_80_columns_with_hanging_indents_and_no_latex(name: str) -> None:
    printed = run("show", name, COLUMNS="80", NO_COLOR="1")
    assert printed.returncode == 0
    lines = printed.stdout.split("BibTeX")[0].splitlines()
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in printed.stdout
    for left in ("\\", "$", "smallmatrix", "frac"):
        assert left not in "\n".join(lines)
    assert all(line.startswith("  ") for line in lines if line and not line[0].isupper())
    assert "As printed (false)" in printed.stdout
    assert "Corrected statement" in printed.stdout


@pytest.mark.whole_book
def test_every_statement_is_told_in_plain_characters() -> None:
    from eigentoken.proofs.typeset.summary import summary

    for each in statements():
        told = "\n".join(line for heading, lines in summary(each).sections() if heading != "BibTeX" for line in lines)
        for left in ("\\", "$", "begin{", "smallmatrix", "\0"):
            assert left not in told, (each.id, left)
