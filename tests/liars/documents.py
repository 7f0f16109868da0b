"""Honest documents of every kind that ``recheck`` reads, as the commands write them, and the judge of forged ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

from eigentoken.cli import app
from eigentoken.rechecking.recheck import recheck_document

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "conjectures"

GENERAL = [[4.0, 1.0, 0.5], [-1.0, 0.25, 0.0], [2.0, 0.0, -1.0]]
DEFINITE = [[2.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 3.0]]
MATRICES: dict[str, tuple[str, list[list[float]], tuple[str, ...]]] = {
    "definite": ("positive-definite", DEFINITE, ()),
    "indefinite": ("positive-definite", GENERAL, ()),
    "symmetric": ("symmetric", DEFINITE, ()),
    "skewed": ("symmetric", GENERAL, ()),
    "leader": ("dominant-real-part", GENERAL, ()),
    "modulus": ("dominant-modulus", GENERAL, ()),
    "gap": ("spectral-gap", GENERAL, ()),
    "endless gap": ("spectral-gap", [[3.0]], ()),
    "norm": ("norm-bound", GENERAL, ("--bound", "9")),
    "rank": ("rank", GENERAL, ()),
    "nonsingular": ("nonsingular", GENERAL, ()),
    "deficient": ("rank", [[1.0, 2.0], [2.0, 4.0]], ()),
    "inertia": ("inertia", DEFINITE, ()),
    "spectrum": ("spectrum", GENERAL, ()),
    "eigenvector": ("principal-eigenvector", GENERAL, ()),
    "identity": ("identity", DEFINITE, ()),
}
FORMULA = [["2 + sin(t)", "1/4"], ["1/4", "exp(-t)"]]
TIMES: dict[str, tuple[str, Any, tuple[str, ...]]] = {
    "formula": ("positive-definite", FORMULA, ()),
    "bounded": ("norm-bound", FORMULA, ("--bound", "4")),
    "failing": ("positive-definite", [["1 - t", 0], [0, 1]], ()),
    "samples": (
        "positive-definite",
        {"times": [0, 1, 2], "matrices": [[[2, 0], [0, 1]], [[3, 0], [0, 1.5]], [[2, 0], [0, 1]]], "lipschitz": "1"},
        (),
    ),
}
INSTANCES: dict[str, dict[str, Any]] = {
    "consensus": {
        "system": "oja-map",
        "V": [["1", "0"], ["0", "-1/2"]],
        "alpha": "1/4",
        "tokens": [["1", "0"], ["1", "0"]],
    },
    "bipartite": {
        "system": "attention-map",
        "V": [["1", "0"], ["0", "-1/3"]],
        "M": [["1", "0"], ["0", "1"]],
        "alpha": "1/3",
        "tokens": [["1", "0"], ["-1", "0"]],
    },
    "unstable": {
        "system": "oja-flow",
        "V": [["1", "0"], ["0", "-1"]],
        "tokens": [["0", "1"], ["0", "1"]],
    },
    "no equilibrium": {
        "system": "oja-map",
        "V": [["1", "0"], ["0", "-1/2"]],
        "alpha": "1/4",
        "tokens": [["3/5", "4/5"], ["1", "0"]],
    },
    "heads": {
        "system": "multihead-flow",
        "heads": [
            {"F": [["1", "0"], ["0", "0"]], "M": [["1", "0"], ["0", "1"]]},
            {"F": [["1", "0"], ["0", "-1"]], "M": [["0", "1"], ["1", "0"]]},
        ],
        "tokens": [["1", "0"], ["1", "0"], ["1", "0"]],
    },
}
#: What a report of a refutation says of the search, and its sentences: not covered by the re-check.
MEASURED = (
    *("best_violation", "candidate", "corners", "expect", "found_by", "lost_workers", "meaning", "methods", "place"),
    *("seconds", "seed", "stopped", "tried", "units", "unsettled", "volume"),
    *("counterexample.certificates[].data.reason", "counterexample.claim.reason"),
    "counterexample.conditions[].reason",
)
CONJECTURES = ("any_step.py", "polygonal_instability.py")


def run(*arguments: str) -> str:
    """What a command prints; exit codes 0 and 1 are answers."""
    found = CliRunner().invoke(app, list(arguments))
    assert found.exit_code in (0, 1), (arguments, found.output)
    return found.stdout


def verdict(name: str, folder: Path) -> dict[str, Any]:
    """What ``certify --json`` prints of a matrix file that stays where it is."""
    condition, rows, options = MATRICES[name]
    file = folder / f"{name}.npy"
    np.save(file, np.array(rows))
    document: dict[str, Any] = json.loads(run("certify", condition, str(file), "--json", *options))
    return document


def at_all_times(name: str, folder: Path) -> dict[str, Any]:
    """What ``certify --over --json`` prints of a file of formulas or samples that stays where it is."""
    condition, given, options = TIMES[name]
    file = folder / f"{name}.times.json"
    file.write_text(json.dumps(given), encoding="utf-8")
    document: dict[str, Any] = json.loads(run("certify", condition, str(file), "--over", "0,2", "--json", *options))
    return document


def classification(name: str, folder: Path) -> dict[str, Any]:
    file = folder / f"{name.replace(' ', '_')}.instance.json"
    file.write_text(json.dumps(INSTANCES[name]), encoding="utf-8")
    document: dict[str, Any] = json.loads(run("classify", str(file), "--json"))
    return document


def refutation(name: str, folder: Path) -> dict[str, Any]:
    file = folder / f"{name}.json"
    run("refute", str(EXAMPLES / name), "--instances", "3000", "--jobs", "1", "-o", str(file))
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document


def small_model(folder: Path, name: str = "model", seed: int = 0) -> Path:
    """A BERT of two layers, d = 4, two heads, with random weights, as ``transformers`` saves it."""
    import torch
    import transformers

    torch.manual_seed(seed)
    config = transformers.BertConfig(
        hidden_size=4,
        num_attention_heads=2,
        num_hidden_layers=2,
        intermediate_size=4,
        vocab_size=20,
        max_position_embeddings=12,
        initializer_range=0.5,
    )
    transformers.BertModel(config).save_pretrained(folder / name)
    return folder / name


def of_models(kind: str, folder: Path) -> dict[str, Any]:
    """What ``compare``, ``chance`` or ``nearest`` prints of small models that stay where they are."""
    first, second = (str(small_model(folder, f"{kind}{seed}", seed)) for seed in (0, 1))
    asked = {
        "compare": ("compare", first, second, "--statement", "PM-N1", "--jobs", "1", "--work", str(folder / "work")),
        "chance": ("chance", first, "--draws", "100"),
        "nearest": ("nearest", first, "PM-N1"),
    }
    document: dict[str, Any] = json.loads(run(*asked[kind], "--json"))
    return document


def report(model: Path, file: Path) -> dict[str, Any]:
    """A check report; the arrays of its certificates lie beside it."""
    run("check", str(model), "--jobs", "1", "--sequences", "1", "--work", str(file.parent / "work"), "-o", str(file))
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document


def shortened(path: tuple[str | int, ...]) -> str:
    """The name under which ``recheck`` lists a field that it does not cover: ``spectrum[].note``."""
    return re.sub(r"\.\[", "[", ".".join("[]" if isinstance(key, int) else str(key) for key in path))


def confirmed(document: Any, file: Path, where: tuple[str | int, ...], seconds: float = 60.0) -> bool:
    """Does ``recheck`` confirm the document, the changed field among what it covers?"""
    file.write_text(json.dumps(document), encoding="utf-8")
    try:
        answer = recheck_document(file, seconds=seconds, run_predicates=True)
    except (ValueError, OSError):
        return False
    if answer.verdict != "holds":
        return False
    name = shortened(where)
    return not any(name == listed or name.startswith((f"{listed}.", f"{listed}[")) for listed in answer.not_covered)


def honest(document: Any, file: Path) -> tuple[str, list[str]]:
    """The answer to the document as it is: the word, and what is not covered."""
    file.write_text(json.dumps(document), encoding="utf-8")
    answer = recheck_document(file, run_predicates=True)
    return answer.verdict, list(answer.not_covered)


ISSUERS: dict[str, tuple[Callable[[str, Path], dict[str, Any]], tuple[str, ...]]] = {
    "verdict": (verdict, tuple(MATRICES)),
    "times": (at_all_times, tuple(TIMES)),
    "classification": (classification, tuple(INSTANCES)),
    "refutation": (refutation, CONJECTURES),
}
