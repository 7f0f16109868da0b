"""``eigentoken classify`` as a command: all nine systems, odd instances of many kinds, bad input in one line with exit code 2."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from eigentoken.cli import main


def diagonal(*entries: Any) -> list[list[Any]]:
    return [[entry if i == j else 0 for j in range(len(entries))] for i, entry in enumerate(entries)]


ONE = diagonal(1, 1)
PAIR = [[1, 0], [-1, 0]]
SAME = [[1, 0]] * 3
CYCLE = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
SQUARE = [[1, 0], [0, 1], [-1, 0], [0, -1]]
GOLDEN = ["sqrt((5+sqrt(5))/10)", "sqrt((5-sqrt(5))/10)"]
EQUAL_HEADS = [{"F": diagonal(1, -5), "M": ONE}, {"F": diagonal(0, -5), "M": diagonal(-1, 2)}]

# document, class, stable, values of the spectrum in ascending order with multiplicities (None: not compared)
POINTS: list[tuple[dict[str, Any], str, str, list[tuple[str, int]] | None]] = [
    (
        {"system": "oja-map", "V": diagonal(2, -1), "alpha": "1/4", "tokens": SAME},
        "consensus",
        "holds",
        [("1/2", 1), ("2/3", 2)],
    ),
    ({"system": "oja-flow", "V": diagonal(2, -1), "tokens": SAME}, "consensus", "holds", [("-3", 1), ("-2", 2)]),
    (
        {"system": "attention-map", "V": diagonal(1, "1/2"), "M": diagonal("ln(3)", 7), "alpha": "1/2", "tokens": PAIR},
        "bipartite",
        "holds",
        [("6/7", 1), ("25/28", 1)],
    ),
    (
        {"system": "attention-flow", "V": [[2, 1], [1, 2]], "M": [[0, 0], [-3, 0]], "tokens": PAIR},
        "polygonal",
        "holds",
        [("-3", 1), ("-1", 1)],
    ),
    (
        {"system": "multihead-map", "heads": EQUAL_HEADS, "alpha": 5, "tokens": [[0, 1]] * 3},
        "2-cycle",
        "holds",
        [("1/49", 2), ("6/49", 1)],
    ),
    ({"system": "multihead-flow", "heads": EQUAL_HEADS, "tokens": SAME}, "consensus", "holds", [("-11", 1), ("-1", 2)]),
    (
        {"system": "ellipsoid-flow", "P": [[4, 1], [1, 2]], "tokens": [["1/2", 0]] * 2},
        "consensus",
        "fails",
        [("-sqrt(2)/2", 1), ("0", 1)],
    ),
    (
        {"system": "causal-flow", "U": diagonal(-1, "-3/2"), "P": diagonal(0, 0), "tokens": [[1, 0]] * 2},
        "consensus",
        "fails",
        [("-sqrt(2)/4", 1), ("sqrt(2)/8", 1)],
    ),
    (
        {"system": "token-flow", "B": diagonal(1, -1), "W": ONE, "tokens": [[0, 0]] * 3},
        "consensus",
        "fails",
        [("-1", 1), ("0", 4), ("1", 1)],
    ),
    # one token, one dimension
    (
        {"system": "oja-map", "V": [[2, 1], [1, 2]], "alpha": 1, "tokens": [["sqrt(1/2)", "sqrt(1/2)"]]},
        "consensus",
        "holds",
        [("1/2", 1)],
    ),
    ({"system": "oja-map", "V": [[-2]], "alpha": 1, "tokens": [[1], [1]]}, "2-cycle", "holds", []),
    ({"system": "ellipsoid-flow", "P": [[1]], "tokens": [[1], [-1]]}, "bipartite", "holds", []),
    ({"system": "causal-flow", "U": [["exp(1)"]], "P": [["cosh(1)"]], "tokens": [[-1], [1]]}, "bipartite", "holds", []),
    (
        {"system": "attention-map", "V": [["-ln(3)"]], "M": [[-1]], "alpha": "sqrt(2)", "tokens": [[1]] * 5 + [[-1]]},
        "bipartite",
        "holds",
        [],
    ),
    # repeated, zero, irrational and transcendental eigenvalues
    (
        {"system": "attention-map", "V": ONE, "M": ONE, "alpha": 1, "tokens": [["3/5", "4/5"]] * 3},
        "consensus",
        "fails",
        [("1/2", 2), ("1", 1)],
    ),
    (
        {"system": "oja-map", "V": diagonal(2, 2, -5), "alpha": 10, "tokens": [["3/5", "4/5", 0]] * 4},
        "consensus",
        "fails",
        [("-7/3", 1), ("1/21", 6), ("1", 1)],
    ),
    (
        {
            "system": "attention-map",
            "V": diagonal(0, 0),
            "M": ONE,
            "alpha": 1,
            "tokens": [["3/5", "4/5"], [1, 0], [0, 1]],
        },
        "polygonal",
        "fails",
        [("1", 3)],
    ),
    (
        {"system": "attention-map", "V": [[0, 1], [0, 0]], "M": ONE, "alpha": 1, "tokens": [[1, 0]] * 2},
        "consensus",
        "fails",
        [("1", 2)],
    ),
    (
        {"system": "oja-map", "V": [[1, 1], [1, 0]], "alpha": "1/2", "tokens": [GOLDEN] * 2},
        "consensus",
        "holds",
        [("(3 - sqrt(5))/2", 1), ("1 - sqrt(5)/5", 1)],
    ),
    (
        {
            "system": "attention-map",
            "V": diagonal("exp(1)", "-exp(1)"),
            "M": diagonal("ln(2)", 1),
            "alpha": "exp(-1)",
            "tokens": [[1, 0], [1, 0], [-1, 0]],
        },
        "bipartite",
        "holds",
        [("0", 1), ("5/16", 1), ("9/16", 1)],
    ),
    # large and small numbers, decimals beside exact numbers
    (
        {"system": "oja-map", "V": diagonal(10**50, -(10**49)), "alpha": 10**30, "tokens": [[1, 0]] * 2},
        "consensus",
        "holds",
        None,
    ),
    (
        {"system": "attention-map", "V": diagonal(1, 2), "M": diagonal(10**40, 0), "alpha": 1, "tokens": PAIR},
        "bipartite",
        "fails",
        None,
    ),
    (
        {"system": "oja-map", "V": diagonal("1/2", -1), "alpha": "4-1e-60", "tokens": [[1, 0]] * 2},
        "consensus",
        "holds",
        None,
    ),
    (
        {"system": "oja-map", "V": diagonal("1/2", -1), "alpha": 4, "tokens": [[1, 0]] * 2},
        "consensus",
        "fails",
        [("-1", 1), ("1/3", 1)],
    ),
    (
        {"system": "oja-map", "V": diagonal("1/2", -1), "alpha": "4+1e-60", "tokens": [[1, 0]] * 2},
        "consensus",
        "fails",
        None,
    ),
    (
        {
            "system": "attention-map",
            "V": [[1, 0.5], [0.5, "-1/3"]],
            "M": ONE,
            "alpha": 0.333,
            "tokens": [[0.6, "0.8"], ["-0.6", -0.8]],
        },
        "not-an-equilibrium",
        "fails",
        [],
    ),
    # masks
    (
        {
            "system": "attention-map",
            "V": diagonal(1, -10),
            "M": ONE,
            "alpha": 5,
            "mask": "causal",
            "tokens": [[0, 1]] * 3,
        },
        "2-cycle",
        "holds",
        [("8/147", 1), ("1/14", 1), ("6/49", 1)],
    ),
    (
        {"system": "attention-map", "V": diagonal(1, 2), "M": ONE, "alpha": 5, "mask": CYCLE, "tokens": [[0, 1]] * 3},
        "consensus",
        "holds",
        None,
    ),
    (
        {"system": "oja-map", "V": diagonal(1, 2), "alpha": "1/5", "mask": CYCLE, "tokens": [[0, 1], [0, -1], [0, 1]]},
        "bipartite",
        "fails",
        None,
    ),
    (
        {
            "system": "attention-map",
            "V": diagonal(1, 2, 3),
            "M": diagonal(1, 1, 1),
            "alpha": "1/3",
            "mask": diagonal(1, 1, 1),
            "tokens": diagonal(1, 1, 1),
        },
        "clustering",
        "fails",
        None,
    ),
    # polygons, clusters, moved and undefined points
    (
        {"system": "oja-flow", "V": [[1, 2], [2, -7]], "tokens": SQUARE},
        "polygonal",
        "fails",
        [("-sqrt(5) - 3/2", 1), ("0", 2), ("-3/2 + sqrt(5)", 1)],
    ),
    (
        {
            "system": "attention-flow",
            "V": ONE,
            "M": ONE,
            "tokens": [[1, 0], ["-1/2", "sqrt(3)/2"], ["-1/2", "-sqrt(3)/2"]],
        },
        "clustering",
        "fails",
        [("0", 1), ("15/(4*(2 + exp(3/2)))", 2)],
    ),
    (
        {"system": "token-flow", "B": [[1, -1], [-1, 1]], "W": ONE, "tokens": [[1, 1], [2, 2], ["sqrt(2)", "sqrt(2)"]]},
        "clustering",
        "fails",
        None,
    ),
    (
        {"system": "oja-map", "V": diagonal(-1, 1), "alpha": 1, "tokens": [[1, 0]] * 2},
        "not-an-equilibrium",
        "fails",
        [],
    ),
    (
        {"system": "attention-map", "V": [[0, 1], [-1, 0]], "M": ONE, "alpha": 1, "tokens": [[1, 0]] * 2},
        "not-an-equilibrium",
        "fails",
        [],
    ),
]


def run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    capsys.readouterr()
    code = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["eigentoken", *arguments])
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize(("document", "kind", "stable", "spectrum"), POINTS)
def test_classify(
    document: dict[str, Any],
    kind: str,
    stable: str,
    spectrum: list[tuple[str, int]] | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "point.json"
    path.write_text(json.dumps(document))
    code, out, err = run(["classify", str(path), "--json"], capsys)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["class"], found["stable"]["verdict"]) == (kind, stable)
    if spectrum is not None:
        assert [(entry["exact"], entry["multiplicity"]) for entry in found["spectrum"]] == spectrum
    if found["spectrum"]:
        tangent = found["d"] - (document["system"] != "token-flow")
        assert sum(entry["multiplicity"] for entry in found["spectrum"]) == found["n"] * tangent
    for name in ("equilibrium", "stable"):
        assert found[name]["certificate"]["verdict"] == found[name]["verdict"]
    code, out, err = run(["classify", str(path)], capsys)
    assert (code, err) == (0, "")
    assert kind in out


GOOD: dict[str, Any] = {"system": "oja-map", "V": diagonal(2, -1), "alpha": "1/4", "tokens": SAME}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"V": [[1, 2]]}, "V must be square"),
        ({"tokens": [[1, 1]]}, "not on the sphere"),
        ({"tokens": [[0.7071067811865476, 0.7071067811865476]]}, "not on the sphere"),
        ({"alpha": 0}, "alpha must be positive"),
        ({"alpha": "-1/3"}, "alpha must be positive"),
        ({"system": "oja"}, "unknown system"),
        ({"V": [["one", 0], [0, 1]]}, "must be a number"),
        ({"V": [["1/0", 0], [0, 1]]}, "division by zero"),
        ({"V": diagonal(10**150, 1)}, "below 1e100"),
        ({"mask": [[1, 1, 1], [0, 0, 0], [1, 1, 1]]}, "attend to nothing"),
        ({"mask": "banded"}, "mask must be"),
        ({"alpha": "½"}, "must be a number"),
        ({"alpha": True}, "must be a number"),
    ],
)
def test_bad_input(change: dict[str, Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "point.json"
    path.write_text(json.dumps({**GOOD, **change}))
    code, out, err = run(["classify", str(path), "--json"], capsys)
    assert code == 2
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert said in err
    assert "Traceback" not in err
