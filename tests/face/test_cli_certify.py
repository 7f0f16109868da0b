"""``eigentoken certify`` and ``recheck`` from the outside: every condition by name, and bad input in one line with code 2."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_tensors

from eigentoken.cli import main
from eigentoken.numerics.certified.certify import conditions


def run(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["eigentoken", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    printed = capsys.readouterr()
    return int(end.value.code or 0), printed.out, printed.err


@pytest.fixture
def eigentoken(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    return lambda *arguments: run([str(argument) for argument in arguments], monkeypatch, capsys)


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    np.save(tmp_path / "m.npy", np.array([[4.0, 1.0, 0.5], [0.0, 1.0, 0.25], [0.0, 0.0, -2.0]]))
    return tmp_path / "m.npy"


@pytest.mark.parametrize("condition", sorted(conditions()))
def test_every_condition_by_name(condition: str, eigentoken: Any, matrix: Path, tmp_path: Path) -> None:
    step = ("--alpha", "1/3") if condition == "dominant-step" else ()
    if not step:
        assert "alpha has no meaning for" in eigentoken("certify", condition, matrix, "--alpha", "1/3")[2]
    for radius in ("0", "1e-6", "1/1000000"):
        code, out, err = eigentoken("certify", condition, matrix, *step, "--radius", radius, "--json")
        assert (code, err) == (0, "")
        document = json.loads(out)
        assert document["condition"] == condition and document["verdict"] in ("holds", "fails", "undecided")
        if document["verdict"] == "undecided":
            assert document["certificate"] is None and "tried" in document["reason"]
            continue
        (tmp_path / "v.json").write_text(out)
        assert eigentoken("recheck", tmp_path / "v.json")[0] == 0
        document["certificate"]["data"]["slack"] = "77"
        (tmp_path / "v.json").write_text(json.dumps(document))
        assert eigentoken("recheck", tmp_path / "v.json")[0] == 1
    code, out, _ = eigentoken("certify", condition, matrix, *step)
    assert code == 0 and out.startswith(f"{condition}: ")


def test_the_list_of_conditions(eigentoken: Any) -> None:
    code, out, _ = eigentoken("certify", "--json")
    assert code == 0 and json.loads(out)["conditions"] == conditions()


def files(folder: Path) -> dict[str, Path]:
    """Files that hold no real square finite matrix."""
    arrays = {
        "empty": np.zeros((0, 0)),
        "tall": np.zeros((3, 2)),
        "cube": np.zeros((2, 2, 2)),
        "line": np.zeros(3),
        "complex": np.eye(2) * 1j,
        "nan": np.array([[np.nan, 0.0], [0.0, 1.0]]),
        "inf": np.array([[np.inf, 0.0], [0.0, 1.0]]),
        "text": np.array([["a", "b"], ["c", "d"]]),
    }
    found = {}
    for name, array in arrays.items():
        found[name] = folder / f"{name}.npy"
        np.save(found[name], array)
    texts = {
        "object": '{"rows": [[1]]}',
        "ragged": "[[1, 2], [3]]",
        "null": "[[null]]",
        "broken": "[[1, ",
        "word": '[["one"]]',
        "nan json": "[[NaN]]",
        "zero": '[["1/0"]]',
        "nothing": "",
        "scalar": "3",
    }
    for name, text in texts.items():
        found[name] = folder / f"{name}.json"
        found[name].write_text(text)
    found["cut"] = folder / "cut.npy"
    found["cut"].write_bytes((folder / "tall.npy").read_bytes()[:40])
    found["pickle"] = folder / "pickle.npy"
    np.save(found["pickle"], np.array([[{}]], dtype=object), allow_pickle=True)
    found["junk"] = folder / "junk.safetensors"
    found["junk"].write_bytes(b"junk")
    save_file({"a": np.eye(2), "b": np.eye(2)}, folder / "two.safetensors")
    found["which"] = folder / "two.safetensors"
    found["absent"] = folder / "absent.npy"
    found["suffix"] = folder / "m.csv"
    found["folder"] = folder
    return found


def test_bad_files_are_one_line_and_code_two(eigentoken: Any, tmp_path: Path) -> None:
    for name, path in files(tmp_path).items():
        code, out, err = eigentoken("certify", "positive-definite", path)
        assert code == 2, (name, out, err)
        assert out == "" and len(err.strip().splitlines()) == 1 and "Traceback" not in err, (name, err)


@pytest.mark.parametrize(
    "arguments",
    [
        ["pos-def"],
        ["positive-definite", "--radius", "-1"],
        ["positive-definite", "--radius", "nan"],
        ["positive-definite", "--radius", "wide"],
        ["positive-definite", "--radius", "1e9999"],
        ["dominant-step"],
        ["dominant-step", "--alpha", "x"],
        ["dominant-complex-pair", "--by", "size"],
        ["inertia", "--expected", "1,1,1,1"],
        ["inertia", "--expected", "9,9,9"],
        ["inertia", "--expected", "one"],
        ["rank", "--expected", "1,2"],
        ["rank", "--expected", "many"],
        ["positive-definite", "--expected", "3"],
        ["norm-bound", "--bound", "inf"],
        ["symmetric", "--within", "-1"],
    ],
    ids=" ".join,
)
def test_bad_options_are_one_line_and_code_two(arguments: list[str], eigentoken: Any, matrix: Path) -> None:
    code, out, err = eigentoken("certify", arguments[0], matrix, *arguments[1:])
    assert code == 2, (out, err)
    assert out == "" and len(err.strip().splitlines()) == 1 and "Traceback" not in err, err


def test_stored_types_by_file(eigentoken: Any, tmp_path: Path) -> None:
    whole = torch.tensor([[2.0, 0.5], [0.5, 1.0]])
    kinds = [
        torch.float64,
        torch.float32,
        torch.float16,
        torch.bfloat16,
        torch.int64,
        torch.int8,
        torch.uint8,
        torch.bool,
    ]
    save_tensors({str(kind).split(".")[1]: whole.to(kind) for kind in kinds}, tmp_path / "w.safetensors")
    for kind in kinds:
        name = f"{tmp_path / 'w.safetensors'}::{str(kind).split('.')[1]}"
        code, out, err = eigentoken("certify", "symmetric", name, "--json")
        assert code == 0 and json.loads(out)["verdict"] == "holds", err
        (tmp_path / "v.json").write_text(out)
        assert eigentoken("recheck", tmp_path / "v.json")[0] == 0


def test_a_saved_certificate_and_a_changed_one(eigentoken: Any, tmp_path: Path) -> None:
    wide = np.random.default_rng(0).standard_normal((70, 70)) / 8 + 0.05
    np.save(tmp_path / "w.npy", wide)
    kept = tmp_path / "c.json"
    assert eigentoken("certify", "dominant-real-part", tmp_path / "w.npy", "--save", kept)[0] == 0
    assert (tmp_path / "c.safetensors").is_file()
    assert eigentoken("recheck", kept, "--source", tmp_path / "w.npy")[0] == 0
    wide[3, 4] = np.nextafter(wide[3, 4], np.inf)
    np.save(tmp_path / "x.npy", wide)
    assert eigentoken("recheck", kept, "--source", tmp_path / "x.npy")[0] == 1
    code, _, err = eigentoken("recheck", kept)
    assert code == 2 and len(err.strip().splitlines()) == 1


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document, as the keys that lead there."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from _places(child, (*path, key))


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_no_malformed_document_is_an_internal_error(every: int, eigentoken: Any, matrix: Path, tmp_path: Path) -> None:
    """Each place of a verdict document replaced by something of another type: one line or a re-check that says no.

    Every place is tried, with every third value in turn; the slow suite tries all of them.
    """
    document = json.loads(eigentoken("certify", "positive-definite", matrix, "--json")[1])
    target = tmp_path / "changed.json"
    confirmed = set()
    for number, path in enumerate(_places(document)):
        for value in (None, "x", -1, [], {}, True)[number % every :: every]:
            changed = json.loads(json.dumps(document))
            holder = changed
            for key in path[:-1]:
                holder = holder[key]
            if holder[path[-1]] == value:
                continue
            holder[path[-1]] = value
            target.write_text(json.dumps(changed))
            code, _, err = eigentoken("recheck", target)
            assert code in (0, 1, 2) and "Traceback" not in err, (path, value, err)
            assert code != 2 or len(err.strip().splitlines()) == 1, (path, value, err)
            confirmed |= {path} if code == 0 else set()
    described = {
        path for path in confirmed if path[0] in ("reason", "details", "matrix", "condition", "unit", "schema")
    }
    kept = {
        ("certificate",),
        ("certificate", "digest"),
    }  # no certificate is undecided; a digest only repeats the content
    assert confirmed - described <= kept, confirmed - described
    for text in (
        "",
        "null",
        "[]",
        "{}",
        '{"certificate": {}}',
        json.dumps({"schema": document["schema"]}),
        "[" * 50000,
    ):
        target.write_text(text)
        code, _, err = eigentoken("recheck", target)
        assert code == 2 and len(err.strip().splitlines()) == 1, (text[:40], err)
