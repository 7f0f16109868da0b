"""Bad input to the commands: one line, exit 2, within a second of processor time; a full disk destroys nothing."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.cli import main
from eigentoken.files import writing

from ..commands import at_once

POINT = {
    "system": "oja-map",
    "V": [["1", "0"], ["0", "1/2"]],
    "alpha": "1/2",
    "tokens": [["1", "0"], ["1", "0"]],
}
HUGE = {
    "minus signs": "-" * 5000 + "1",
    "parentheses": "(" * 5000 + "1" + ")" * 5000,
    "few parentheses": "(" * 150 + "1" + ")" * 150,
    "power": "2**(10**9)",
    "tower": "10**10**10",
    "exponent": "1e4999",
    "negative exponent": "1e-4999",
    "digits": "9" * 5000,
    "fraction": "1/" + "9" * 5000,
    "tiny power": "2**-(10**9)",
    "not a number": "nan",
    "infinite": "inf",
    "nothing": "",
    "zero": "1/0",
    "code": "__import__('os').system('x')",
}


@pytest.fixture
def eigentoken(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["eigentoken", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        return int(end.value.code or 0), printed.out, printed.err

    return run


def refused(eigentoken: Any, *arguments: object) -> str:
    """The one line of a refusal, which does not first compute what it refuses (that would take hours)."""
    with at_once():
        code, out, err = eigentoken(*arguments)
    assert code == 2, (out, err)
    assert out == ""
    assert len(err.strip().splitlines()) == 1, err
    assert "Traceback" not in err
    assert "set_int_max_str_digits" not in err
    assert len(err) < 1100
    return err


@pytest.fixture(autouse=True, scope="module")
def _imported() -> None:
    """What a command imports is not what an input costs."""
    import eigentoken.checking.run
    import eigentoken.numerics.certified.certify
    import eigentoken.numerics.certified.probe
    import eigentoken.numerics.dynamics.simulate
    import eigentoken.theory.classification.classify  # noqa: F401


@pytest.mark.parametrize("what", HUGE)
def test_numbers_that_cannot_be_taken(what: str, eigentoken: Any, tmp_path: Path) -> None:
    text = HUGE[what]
    point, matrix = tmp_path / "point.json", tmp_path / "m.json"
    point.write_text(json.dumps({**POINT, "V": [[text, "0"], ["0", "1/2"]]}))
    matrix.write_text(json.dumps([[text, "0"], ["0", "1"]]))
    np.save(tmp_path / "m.npy", np.eye(2))
    refused(eigentoken, "classify", point)
    refused(eigentoken, "simulate", point)
    refused(eigentoken, "certify", "positive-definite", matrix)
    for option in ("radius", "bound", "within", "alpha"):
        if text:
            assert option in refused(eigentoken, "certify", "norm-bound", tmp_path / "m.npy", f"--{option}={text}")


@pytest.mark.parametrize(
    "digits", ["1e4999", "9" * 5000, "-" + "9" * 5000, "1e999999999", "0." + "0" * 5000 + "1", "NaN", "-Infinity"]
)
def test_numbers_of_json_that_cannot_be_taken(digits: str, eigentoken: Any, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(f"[[{digits}, 0], [0, 1]]")
    refused(eigentoken, "certify", "positive-definite", tmp_path / "m.json")
    (tmp_path / "p.json").write_text(json.dumps(POINT).replace('"1/2"]]', f"{digits}]]"))
    refused(eigentoken, "classify", tmp_path / "p.json")
    refused(eigentoken, "simulate", tmp_path / "p.json")


@pytest.mark.parametrize(
    "text",
    [
        '{"matrix": [[1]], "matrix": [[2]]}',
        json.dumps(POINT)[:-1] + ', "alpha": "1/3"}',
        '{"schema": "eigentoken/verdict/1", "schema": "eigentoken/verdict/1"}',
        "[" * 100_000,
        '{"a":' * 100_000,
        "{",
        "",
        "\x00",
    ],
    ids=lambda text: text[:24],
)
@pytest.mark.parametrize("command", ["classify", "simulate", "certify positive-definite", "recheck"])
def test_documents_that_cannot_be_taken(command: str, text: str, eigentoken: Any, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    refused(eigentoken, *command.split(), tmp_path / "a.json")


@pytest.mark.parametrize(
    "command", ["classify", "simulate", "certify positive-definite", "check", "steer", "recheck", "refute"]
)
@pytest.mark.parametrize("wrong", ["folder", "absent", "binary.json", "header.npy", "odd\nname.json", "x" * 5000])
def test_files_that_cannot_be_taken(command: str, wrong: str, eigentoken: Any, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary.json").write_bytes(bytes(range(256)))
    claim = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 100000), }"
    (tmp_path / "header.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + claim.ljust(117) + b"\n")
    assert (tmp_path / "header.npy").stat().st_size == 128
    path = wrong if wrong.startswith("/") else str(tmp_path / wrong)
    extra = ["--direction", "random", "-o", str(tmp_path / "out")] if command == "steer" else []
    refused(eigentoken, *command.split(), path, *extra)


@pytest.mark.parametrize("command", ["classify", "simulate", "certify positive-definite", "check", "refute", "recheck"])
def test_a_device_is_not_read_for_ever(command: str, eigentoken: Any) -> None:
    refused(eigentoken, *command.split(), "/dev/zero")


@pytest.mark.parametrize("what", HUGE)
def test_numbers_in_a_document_that_cannot_be_taken(what: str, eigentoken: Any, tmp_path: Path) -> None:
    """A classification and a verdict with such a number in each place: one line, or a re-check that says no, at once."""
    (tmp_path / "p.json").write_text(json.dumps(POINT))
    np.save(tmp_path / "m.npy", np.diag([1.0, 2.0]))
    calls = (["classify", tmp_path / "p.json"], ["certify", "positive-definite", tmp_path / "m.npy"])
    for call in calls:
        document = json.loads(eigentoken(*call, "--json")[1])
        for path in _texts(document)[list(HUGE).index(what) % 7 :: 7]:  # each place meets two or three of them
            changed = json.loads(json.dumps(document))
            holder = changed
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = HUGE[what]
            (tmp_path / "d.json").write_text(json.dumps(changed))
            with at_once():
                code, out, err = eigentoken("recheck", tmp_path / "d.json")
            assert code in (1, 2) or "not covered" in out, (path, out)
            assert code != 2 or len(err.strip().splitlines()) == 1, (path, err)
            assert "Traceback" not in err


def _texts(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of the texts of a document."""
    if isinstance(node, dict | list):
        items = node.items() if isinstance(node, dict) else enumerate(node)
        return [found for key, value in items for found in _texts(value, (*path, key))]
    return [path] if isinstance(node, str) else []


def test_a_direction_that_claims_more_than_it_has(eigentoken: Any, tmp_path: Path) -> None:
    claim = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 100000), }"
    (tmp_path / "d.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + claim.ljust(117) + b"\n")
    said = eigentoken("steer", "sample:rxnmapper", "--direction", tmp_path / "d.npy", "-o", tmp_path / "out")
    assert said[0] == 2
    assert "claims 100000 x 100000" in said[2]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_a_random_change_of_an_instance_is_an_answer_or_one_line(every: int, eigentoken: Any, tmp_path: Path) -> None:
    """Wrong types, huge numbers and missing parts at every place of a document; the slow suite tries each value at each."""
    values = [None, True, -1, 10**30, 1.5, "", "x", [], [[]], {}, {"a": 1}, [None], "1/3", [["1"]], "ln(2)"]
    path = tmp_path / "p.json"
    places: list[tuple[Any, ...]] = [(key,) for key in POINT]
    places += [(key, 0) for key in ("V", "tokens")] + [(key, 0, 1) for key in ("V", "tokens")]
    for number, place in enumerate(places):
        for value in values[number % every :: every]:
            changed = json.loads(json.dumps(POINT))
            holder = changed
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = value
            path.write_text(json.dumps(changed))
            for command in ("classify", "simulate"):
                code, out, err = eigentoken(command, path)
                assert code in (0, 2), (place, value, err)
                assert code == 0 or (out == "" and len(err.strip().splitlines()) == 1), (place, value, err)


def test_an_instance_from_the_standard_input(eigentoken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(POINT)))
    assert eigentoken("classify", "-")[0] == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO("[1]"))
    assert "standard input" in refused(eigentoken, "classify", "-")


def test_the_time_of_classify_is_limited(eigentoken: Any, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps(POINT))
    assert "--seconds" in refused(eigentoken, "classify", tmp_path / "p.json", "--seconds", "0")


def test_the_identity_near_the_smallest_floats(eigentoken: Any, tmp_path: Path) -> None:
    for matrix, low in (
        (np.eye(2) * 1e-300, 0.99),
        (np.eye(2) * 5e-324, 0.99),
        (np.eye(2) + 1e-300, 9e-301),
        (np.eye(2) * 1e300, 9e299),
    ):
        np.save(tmp_path / "m.npy", matrix)
        code, out, err = eigentoken("certify", "identity", tmp_path / "m.npy", "--json")
        found = json.loads(out)
        assert (code, err) == (0, "")
        assert found["verdict"] == "fails"
        assert found["margin"] >= low
        (tmp_path / "v.json").write_text(out)
        assert eigentoken("recheck", tmp_path / "v.json")[0] == 0


@pytest.mark.parametrize(
    "command",
    [
        "certify positive-definite m.npy --save out",
        "derive PM-L4 --format tex -o out.tex",
        "derive PM-L4 --format html -o out.html",
        "simulate point.json --end 3 --data out.npz",
        "refute conjecture.py --instances 20 --seconds 5 --jobs 1 -o out",
        "refute conjecture.py --instances 20 --seconds 5 --jobs 1 --html out",
        "check sample:rxnmapper --sequences 0 -o out",
    ],
)
def test_a_full_disk_leaves_the_previous_output(
    command: str, eigentoken: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("m.npy", np.eye(2))
    Path("point.json").write_text(json.dumps(POINT))
    example = Path(__file__).resolve().parents[2] / "examples" / "conjectures" / "oja_consensus.py"
    Path("conjecture.py").write_text(example.read_text())
    words = command.split()
    output = Path(words[-1])
    output.write_text("the previous one")

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(writing, "_sync", full)
    code, _, err = eigentoken(*words)
    assert code == 2
    assert "No space left on device; make room" in err
    assert str(output.resolve()) in err
    assert output.read_text() == "the previous one"
    assert not list(tmp_path.glob(f"{writing.PREFIX}*"))


def test_options_that_are_wrong_are_named(eigentoken: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", np.eye(2))
    (tmp_path / "file").write_text("")
    assert "expected: not a number: 'two'" in refused(
        eigentoken, "certify", "rank", tmp_path / "m.npy", "--expected", "two"
    )
    assert "--quick and --paper" in refused(eigentoken, "reproduce", "--quick", "--paper")
    assert "choose another place" in refused(eigentoken, "atlas", "-o", tmp_path / "file")
