"""A package outside the tree that adds systems by entry point: simulate, classify, refute, check, and what is refused.

The package is in ``tests/third_party``; here it is installed as pip leaves it, and each command runs in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from eigentoken.numerics.recheck.documents.strict import broken_rule
from eigentoken.schemas import schema

from ..commands import eigentoken

HOME = Path(__file__).resolve().parents[1] / "third_party"


def install(folder: Path, files: dict[str, str], entries: str, name: str = "zoo") -> Path:
    """What ``pip install`` leaves behind, as far as entry points need it."""
    folder.mkdir(parents=True, exist_ok=True)
    for module, code in files.items():
        (folder / f"{module}.py").write_text(code)
    facts = folder / f"{name}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(entries)
    return folder


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    code = {name: (HOME / f"{name}.py").read_text() for name in ("zoo_systems", "zoo_statements")}
    return install(
        folder, code, "[eigentoken.systems]\nzoo = zoo_systems\n[eigentoken.statements]\nzoo = zoo_statements\n"
    )


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return eigentoken(*arguments, environment={"PYTHONPATH": str(folder)}, book=True)


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    return done.stderr


@pytest.mark.parametrize("name", ["prenorm-map", "sigmoid-map", "linear-flow", "gated-flow"])
def test_simulate_follows_it_by_name(zoo: Path, name: str) -> None:
    found = document(run(zoo, "simulate", name, "--n", "4", "--seed", "1", "--end", "20", "--json"))
    assert found["system"] == name
    assert found["observables"]["diameter"]["end"] >= 0


def test_simulate_takes_its_parameters_and_tells_a_slip_in_their_names(zoo: Path, tmp_path: Path) -> None:
    point = {"system": "sigmoid-map", "tokens": [[1, 0], ["3/5", "4/5"]], "V": [[2, 0], [0, 1]], "M": [[1, 0], [0, 1]]}
    point |= {"b": ["1/2", 0], "alpha": "1/2", "c": 2}
    file = tmp_path / "point.json"
    file.write_text(json.dumps(point))
    assert document(run(zoo, "simulate", str(file), "--json"))["first"]["kind"] == "consensus"
    file.write_text(json.dumps({**point, "cc": 2}))
    assert "cc is not one of its parameters: did you mean c" in one_line(run(zoo, "simulate", str(file)))
    file.write_text(json.dumps({**point, "b": [1]}))
    assert "b must have 2 entries" in one_line(run(zoo, "simulate", str(file)))


def test_classify_is_exact_and_the_recheck_confirms_nothing(zoo: Path, tmp_path: Path) -> None:
    point = {"system": "sigmoid-map", "tokens": [[1, 0], [1, 0]], "V": [[2, 0], [0, 1]], "M": [["ln(3)", 0], [0, 0]]}
    file = tmp_path / "point.json"
    file.write_text(json.dumps({**point, "b": ["1/2", 0], "alpha": "1/2"}))
    found = document(run(zoo, "classify", str(file), "--json"))
    assert (found["class"], found["stable"]["verdict"]) == ("consensus", "holds")
    assert [entry["exact"] for entry in found["spectrum"]] == ["4/11", "7/11"]
    saved = tmp_path / "classified.json"
    saved.write_text(json.dumps(found))
    for folder in (zoo, tmp_path):  # with the package, and without it
        again = document(run(folder, "recheck", str(saved), "--json"))
        assert again["verdict"] == "undecided"
        assert {each["agrees"] for each in again["certificates"]} == {"undecided"}
        assert "the re-checker has equations of its own for oja-map" in again["certificates"][0]["reason"]
        assert {"equilibrium", "stable", "spectrum", "class"} <= set(again["not_covered"])


@pytest.mark.parametrize("name", ["prenorm-map", "sigmoid-map", "linear-flow"])
def test_spectrum_is_refused_and_says_what_works_instead(zoo: Path, name: str) -> None:
    said = one_line(run(zoo, "spectrum", name))
    assert f"{name} has no closed form at consensus" in said
    assert "classify gives the spectrum of one exact point" in said


CONJECTURES = """
from eigentoken.schemas import schema
from eigentoken.numerics.recheck.documents.strict import broken_rule
from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import Equilibrium, Stable
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt, Polygonal
from eigentoken.theory.language.terms import Eigenvalue, alpha, d, matrix, scalar

V = matrix("V")
biased = Conjecture("a bias moves no consensus", "sigmoid-map", [Symmetric(V)], [Equilibrium(ConsensusAt(V, 1))])
rests = Conjecture("consensus rests", "linear-flow", [Symmetric(V), SimpleTop(V)], [Equilibrium(ConsensusAt(V, 1))])
moves = Conjecture("pre-norm tokens never rest", "prenorm-map", holds_if=lambda i: not i.is_equilibrium())
short = Conjecture(
    "a pre-norm step is at most alpha",
    "prenorm-map",
    [Symmetric(V), Relation(Eigenvalue(V, 1) < 1), Relation(Eigenvalue(V, d) > -1)],
    holds_if=lambda i: ((i.advance() - i.tokens) ** 2).sum() <= i.n * i.alpha ** 2,
)
large = Conjecture("c is below 2", "sigmoid-map", [Relation(scalar("c") > 1)], holds_if=lambda i: i.c < 2)
"""


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])  # here, and in processes of its own
def test_refute_finds_what_is_false_and_not_what_is_true(zoo: Path, tmp_path: Path, jobs: str) -> None:
    file = tmp_path / "conjectures.py"
    file.write_text(CONJECTURES)
    saved = tmp_path / "report.json"
    limits = ("--seconds", "120", "--instances", "3000", "--jobs", jobs)
    done = run(zoo, "refute", str(file), *limits, "-o", str(saved))
    assert done.returncode == 1, done.stderr
    found = {each["name"]: each for each in json.loads(saved.read_text())["results"]}
    assert {name: each["verdict"] for name, each in found.items()} == {
        "a bias moves no consensus": "refuted",
        "consensus rests": "survived",
        "pre-norm tokens never rest": "refuted",
        "a pre-norm step is at most alpha": "survived",
        "c is below 2": "refuted",
    }
    assert set(found["a bias moves no consensus"]["counterexample"]["instance"]) >= {"V", "M", "b", "c", "alpha"}
    again = run(zoo, "recheck", str(saved), "--run-predicates", "--json")
    lines = [each for each in document(again)["certificates"] if "counterexample" in each["condition"]]
    assert lines
    assert {each["agrees"] for each in lines} == {"undecided"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "Conjecture('x', 'linear-flow', [], [Stable(ConsensusAt(V, 1)), Equilibrium(Polygonal())])",
            "Polygonal is known",
        ),
        ("Conjecture('x', 'linear-flo', [], [Stable(ConsensusAt(V, 1))])", "did you mean linear-flow"),
        ("Conjecture('x', 'linear-flow', [Relation(scalar('c') > 0)], [Stable(ConsensusAt(V, 1))])", "c has no value"),
    ],
)
def test_a_conjecture_that_it_cannot_carry_is_refused(zoo: Path, tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "conjectures.py"
    file.write_text(CONJECTURES + f"\nrefused = {line}\n")
    assert said in one_line(run(zoo, "refute", str(file)))


def test_check_matches_its_statements_with_the_layers(zoo: Path, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(0)
    config = transformers.GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=20, n_positions=12)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "gpt2")
    saved = tmp_path / "check.json"
    done = run(zoo, "check", str(tmp_path / "gpt2"), "--work", str(tmp_path / "work"), "-o", str(saved))
    assert done.returncode in {0, 1}, done.stderr
    document = json.loads(saved.read_text())
    assert broken_rule(document, schema("check")) is None
    (layer,) = document["layers"]
    said = {each["statement"]: each for each in layer["hypotheses"] if each["statement"].startswith("ZOO-")}
    assert said["ZOO-1"]["system"] == "prenorm-heads-map"
    assert said["ZOO-1"]["word"] == "fails"  # the random F is not symmetric
    assert said["ZOO-1"]["idealisations"][0] == "unit tokens"
    assert "normalisation" not in said["ZOO-1"]["idealisations"]
    assert said["ZOO-2"]["word"] == said["ZOO-3"]["word"] == "not about this model"
    parts = {name: {each["part"] for each in said[name]["differs"]} for name in ("ZOO-2", "ZOO-3")}
    assert parts == {"ZOO-2": {"heads", "mask"}, "ZOO-3": {"heads", "mask", "attention", "parameters"}}


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        (
            "from eigentoken.theory.systems.catalogue import register_system\n"
            "from eigentoken.theory.systems.system import System\n"
            "register_system(System('oja-map', 'mine', 'sphere', 'map', 'V'))\n",
            "'oja-map' is taken by a system of the papers",
        ),
        ("def load():\n    return 1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_broken_package_is_named_in_one_line_and_harms_no_other_system(tmp_path: Path, code: str, said: str) -> None:
    folder = install(tmp_path, {"broken": code}, "[eigentoken.systems]\nbroken = broken\n", "broken-systems")
    line = one_line(run(folder, "simulate", "prenorm-map"))
    assert "entry point broken (broken-systems): " in line
    assert said in line
    assert "uninstall broken-systems or repair it" in line
    assert run(folder, "simulate", "oja-map", "--n", "3", "--end", "5", "--json").returncode == 0


def test_without_the_package_its_systems_are_unknown(tmp_path: Path) -> None:
    assert "neither a system nor an instance file" in one_line(run(tmp_path, "simulate", "prenorm-map"))
