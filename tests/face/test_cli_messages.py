"""What the command line says when a call is wrong: one line, exit 2, what was meant; and what a shell completes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eigentoken.cli import app, main
from eigentoken.commands import names

LISTED = [each.name for each in app.registered_commands]


@pytest.fixture
def eigentoken(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["eigentoken", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        return int(end.value.code or 0), printed.out, printed.err

    return run


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("verfy", "unknown command 'verfy': did you mean verify? (try: eigentoken --help)"),
        ("conjecture nw", "unknown command 'nw': did you mean new? (try: eigentoken conjecture --help)"),
        ("simulate oja-map --sede 3", "unknown option --sede: did you mean --seed? (try: eigentoken simulate --help)"),
        ("verify --instances", "--instances needs a value (try: eigentoken verify --help)"),
        ("models extra", "one argument too many: extra (try: eigentoken models --help)"),
        ("show", "ID is missing: A statement, e.g. PM-L4"),
        ("show PM-L44", "did you mean PM-L4 (Stability of consensus for the Oja map) or PM-L14 ("),
        ("show hemisphere", "did you mean AB-"),
        ("certify posdef nowhere.npy", "unknown condition 'posdef': did you mean positive-definite?"),
        ("check sample:rxn", "no sample 'rxn': did you mean sample:rxnmapper?"),
        ("steer sample:rxnmapper", "--direction is missing"),
        ("simulate oja-map --n x", "--n must be a whole number, got 'x'"),
        ("simulate oja-map --alpha x", "--alpha must be a number, got 'x'"),
        ("simulate oja-map --n 0", "--n must be at least 1, got 0"),
        ("simulate oja-map --alpha nan", "--alpha must be a finite number above 0, got nan"),
        ("simulate oja-map --alpha=-1", "--alpha must be a finite number above 0, got -1.0"),
        ("simulate oja-map --end inf", "--end must be a finite number above 0, got inf"),
        ("simulate oja-map --end 0.5", "--end must be at least 1, the number of layers of oja-map, got 0.5"),
        ("simulate oja-map --rtol 0", "--rtol must be a finite number above 0, got 0.0"),
        ("simulate oja-map --step=-0.1", "--step must be a finite number above 0, got -0.1"),
        ("simulate oja-map --method bosh", "--method 'bosh' is not known: did you mean bosh3?"),
        ("simulate oja-map --method foo", "expected one of dopri5, bosh3, rk4"),
        ("simulate oja-map --mask casual", "--mask 'casual' is not known: did you mean causal?"),
        ("simulate oja-mop", "did you mean oja-map?"),
        ("simulate rotary-flow", "depend on the positions of the tokens"),
        ("reproduce abela-1", "unknown recipe 'abela-1': did you mean abella-1?"),
        ("certify positiv-definite m.npy", "did you mean positive-definite?"),
        ("certify symmetric absent.npy", "no such file: absent.npy; give the path of a .npy"),
        ("recheck absent.json", "absent.json: No such file or directory; give the path of a JSON file"),
        ("refute absent.py --seconds nan", "seconds must be a number above 0, got nan"),
    ],
)
def test_a_wrong_call_is_one_line_that_helps(call: str, said: str, eigentoken: Any) -> None:
    code, out, err = eigentoken(*call.split())
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1 and err.startswith("eigentoken: error: ")
    assert said in err


def test_files_that_are_wrong_come_with_a_remedy(eigentoken: Any, tmp_path: Path) -> None:
    ragged = tmp_path / "ragged.json"
    ragged.write_text("[[1, 2], [3]]")
    assert "give every row as many entries" in eigentoken("certify", "symmetric", ragged)[2]
    taken = tmp_path / "mine.py"
    taken.write_text("")
    assert "--force" in eigentoken("conjecture", "new", taken)[2]
    point = tmp_path / "point.json"
    point.write_text(json.dumps({"system": "oja-mop", "V": [[1]], "alpha": 1, "tokens": [[1]]}))
    for command in ("classify", "simulate"):
        code, _, err = eigentoken(command, point)
        assert code == 2 and "did you mean oja-map?" in err


@pytest.mark.parametrize("command", ["", *LISTED, "conjecture new"])
def test_help_fits_and_describes_every_argument(command: str, eigentoken: Any) -> None:
    code, out, _ = eigentoken(*command.split(), "--help")
    assert code == 0 and max(map(len, out.splitlines())) <= 80
    if not command:
        listed = out.split("Commands:")[1]
        cut = [line for line in listed.splitlines() if line.endswith("...")]
        assert cut == [], "a first line is too long for the list"
        return
    lines = out.split("Arguments:")[1].split("Options:")[0].splitlines() if "Arguments:" in out else []
    for line in lines:
        assert not line.removesuffix("[required]").rstrip().endswith(">"), f"{line.strip()} has no description"


def test_completion_knows_the_names() -> None:
    from eigentoken.models.loading.samples import SAMPLES
    from eigentoken.numerics.certified.certify import conditions
    from eigentoken.theory.statements.registry import statements
    from eigentoken.theory.systems.catalogue import SYSTEMS

    assert set(names.statement_ids("")) == {each.id for each in statements()}
    assert names.statement_ids("PM-L1")[0] == "PM-L1" and all(
        i.startswith("PM-L1") for i in names.statement_ids("PM-L1")
    )
    assert names.systems("oja") == [each for each in SYSTEMS if each.startswith("oja")] != []
    assert names.conditions("") == list(conditions())
    assert names.models("sample:") == [f"sample:{each.name}" for each in SAMPLES]


@pytest.mark.parametrize(
    ("words", "found"), [("show PM-L4", "PM-L4"), ("simulate oja-m", "oja-map"), ("certify ind", "indefinite")]
)
def test_the_shell_completes_without_heavy_imports(words: str, found: str) -> None:
    script = (
        "import sys; from eigentoken.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print(sorted({'sympy', 'torch', 'numpy', 'scipy'} & set(sys.modules)), file=sys.stderr)\n"
    )
    asked = {"_EIGENTOKEN_COMPLETE": "complete_bash", "COMP_WORDS": f"eigentoken {words}", "COMP_CWORD": "2"}
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, **asked}
    )
    assert found in printed.stdout.split()
    assert printed.stderr.strip() == "[]"


CONJECTURE = """
from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import Stable
from eigentoken.theory.language.conditions import Relation, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, matrix

V = matrix("V")
stable = Conjecture("c", "oja-map", [Symmetric(V), Relation(Eigenvalue(V, 1) > 0)], [Stable(ConsensusAt(V, 1))])
"""


def test_dropped_conditions_are_told_in_unicode_and_once(eigentoken: Any, tmp_path: Path) -> None:
    stands = Path(__file__).parents[2] / "examples" / "conjectures" / "oja_consensus.py"
    code, out, _ = eigentoken("refute", stands, "--seconds", 20, "--instances", 200, "--drop", "--jobs", 1)
    told = " ".join(out.split())
    assert code == 0 and "\\" not in told
    assert told.count("without \u03bb\u2081(V) > 0: needed; a certified counterexample exists without it") == 1


def test_nothing_is_said_of_need_where_the_conjecture_falls(eigentoken: Any, tmp_path: Path) -> None:
    file = tmp_path / "c.py"
    file.write_text(CONJECTURE)
    code, out, _ = eigentoken("refute", file, "--seconds", 20, "--instances", 500, "--drop", "--jobs", 1)
    told = " ".join(out.split())
    assert code == 1 and "\\" not in told
    assert "already refuted, so nothing can be said of need" in told and ": needed" not in told


def test_a_recheck_prints_no_latex(eigentoken: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from eigentoken.checking import recheck

    line = recheck.Rechecked("c without \\lambda_{1}(V) > 0", "\\det V \\neq 0", "holds", "fails", "other numbers")
    monkeypatch.setattr(recheck, "recheck_document", lambda *_, **__: recheck.Recheck([line]))
    code, out, _ = eigentoken("recheck", tmp_path / "r.json")
    assert code == 1 and "\\" not in out
    assert "\u03bb\u2081(V) > 0" in " ".join(out.split())
