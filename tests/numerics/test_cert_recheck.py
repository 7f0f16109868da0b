"""Certificates: every verdict re-checks in the other arithmetic, and every change to what matters is caught."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from eigentoken.numerics.certified.certificates import save, schema
from eigentoken.numerics.certified.certify import certify, conditions
from eigentoken.numerics.recheck import recheck
from eigentoken.theory.language.verdicts import Certificate, Verdict

from ..documents import validate
from ..tools.adversarial_matrices import sign_cases, spectral_cases

RNG = np.random.default_rng(7)
GENERAL = RNG.standard_normal((5, 5))
SYMMETRIC = GENERAL + GENERAL.T
SAMPLES: dict[str, Any] = {
    "general": GENERAL,
    "symmetric": SYMMETRIC,
    "definite": SYMMETRIC @ SYMMETRIC.T + np.eye(5),
    "positive": np.abs(GENERAL),
    "jordan": np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]]),
    "mirror": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "line": np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, -1.0, 1.0]]),
    "orbit": np.array([[0.0, 0.0, 2.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    "circle": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "pairs": np.kron(np.eye(2), np.array([[1.0, 1.0], [-1.0, 1.0]])),
    "hilbert": [[f"1/{i + j + 1}" for j in range(7)] for i in range(7)],
    "ones": np.ones((4, 4)),
    "zero": np.zeros((2, 2)),
    "identity": np.eye(3),
    "one": [[5]],
    "graded": np.diag([1e300, 1.0, -1e-300]),
}


def decided(matrix: Any, radius: float = 0.0) -> list[Verdict]:
    found = [certify(c, matrix, alpha=Fraction(1, 10), radius=radius) for c in conditions()]
    more = [
        certify("norm-bound", matrix, radius=radius, bound=3),
        certify("symmetric", matrix, radius=radius, within=Fraction(1, 2)),
        certify("identity", matrix, radius=radius, within=2),
        certify("rank", matrix, radius=radius, expected=1),
    ]
    return [verdict for verdict in found + more if verdict.certificate is not None]


@pytest.mark.parametrize("radius", [0.0, 1e-5])
@pytest.mark.parametrize("name", SAMPLES)
def test_every_verdict_rechecks(name: str, radius: float) -> None:
    matrix = SAMPLES[name]
    verdicts = decided(matrix, radius)
    assert verdicts
    for verdict in verdicts:
        again = recheck(verdict.certificate, matrix)
        assert again.is_holds, (name, verdict.reason, again.reason)


def test_many_verdicts_recheck() -> None:
    for case in sign_cases(60, seed=3):
        for condition in ("positive-definite", "negative-semidefinite", "inertia", "indefinite"):
            verdict = certify(condition, case.matrix)
            assert verdict.certificate is not None
            assert recheck(verdict.certificate, case.matrix).is_holds, (case, verdict)
    for case in spectral_cases(48, seed=4):
        for condition in ("dominant-real-part", "dominant-modulus", "spectrum"):
            verdict = certify(condition, case.matrix)
            if verdict.certificate is None:
                assert verdict.is_undecided
                continue
            again = recheck(verdict.certificate, case.matrix)
            assert again.is_holds, (case, verdict.reason, again.reason)


@pytest.mark.parametrize("n", [70, 120])
def test_large_matrices_recheck_by_stored_certificates_and_floats(n: int) -> None:
    rng = np.random.default_rng(n)
    general = rng.standard_normal((n, n)) / np.sqrt(n) + 3.0 / n
    symmetric = general + general.T
    names = ("dominant-real-part", "dominant-modulus", "dominant-step", "inertia", "nonsingular", "positive-definite")
    for matrix in (general, symmetric):
        for condition in names:
            verdict = certify(condition, matrix, alpha=Fraction(1, 10))
            assert verdict.certificate is not None
            assert recheck(verdict.certificate, matrix).is_holds, condition
    stored = certify("dominant-real-part", general).certificate
    assert stored is not None and "lyapunov" in stored.arrays
    bad = Certificate(
        stored.kind,
        stored.condition,
        stored.verdict,
        stored.inputs,
        stored.data,
        {**stored.arrays, "lyapunov": stored.arrays["lyapunov"] + np.eye(n)},
    )
    assert not recheck(bad, general).is_holds


def strengthened(value: Any) -> list[Any]:
    """Changes to one leaf of a certificate that make it say something else."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, str):
        try:
            if "0x" in value:
                return [float(abs(float.fromhex(value)) * 2 + 3.0).hex()]
            return [str(abs(Fraction(value)) * 2 + 3), str(-abs(Fraction(value)) - 1)]
        except ValueError:
            return [value + "x", ""]
    return []


def leaves(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(node, dict):
        return [leaf for key, child in node.items() for leaf in leaves(child, (*path, key))]
    if isinstance(node, list):
        return [leaf for key, child in enumerate(node) for leaf in leaves(child, (*path, key))]
    return [path]


def changed(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    result = copy.deepcopy(document)
    node: Any = result
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return result


def value_at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


MATTER = {
    "verdict",
    "condition",
    "kind",
    "margin",
    "slack",
    "positive",
    "negative",
    "zero",
    "rank",
    "equal",
    "by",
    "shape",
}


@pytest.mark.parametrize("name", ["general", "definite", "jordan", "ones", "mirror"])
def test_stronger_claims_are_caught_even_with_a_new_digest(name: str) -> None:
    """An adversary who recomputes every hash: the facts themselves must fail."""
    inertia = certify("inertia", SAMPLES[name]).details["inertia"]
    truth = dict(zip(("positive", "negative", "zero"), inertia, strict=True))
    for verdict in decided(SAMPLES[name]):
        assert verdict.certificate is not None
        document = verdict.certificate.as_dict()  # no digest at all
        other = {"holds": "fails", "fails": "holds"}[document["verdict"]]
        assert not recheck({**document, "verdict": other}, SAMPLES[name]).is_holds
        for path in leaves(document):
            if path[-1] not in MATTER and "shape" not in path:
                continue
            for value in strengthened(value_at(document, path)):
                if path[-1] in truth and value <= truth[path[-1]]:
                    continue  # a count that is true may still imply the word
                if path[-1] == "slack" and Fraction(value) < 0:
                    continue
                again = recheck(changed(document, path, value), SAMPLES[name])
                assert not again.is_holds, (verdict.reason, path, value, again.reason)


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "one"])
def test_a_changed_weight_is_caught(name: str) -> None:
    matrix = SAMPLES[name]
    for verdict in decided(matrix)[:4]:
        if isinstance(matrix, list):
            other: Any = [list(row) for row in matrix]
            other[0][0] = "1000001/1000000"
        else:
            other = matrix.copy()
            other[0, 0] = np.nextafter(other[0, 0], np.inf)
        again = recheck(verdict.certificate, other)
        assert again.is_fails and "hash" in again.reason


def test_a_verdict_document_rechecks_and_its_margin_is_compared() -> None:
    verdict = certify("positive-definite", SAMPLES["definite"])
    document = json.loads(json.dumps(verdict.as_dict()))
    assert recheck(document, SAMPLES["definite"]).is_holds
    assert recheck({**document, "margin": document["margin"] * 1.5}, SAMPLES["definite"]).is_fails
    assert recheck({**document, "verdict": "fails"}, SAMPLES["definite"]).is_fails
    assert recheck({"verdict": "undecided", "certificate": None}, SAMPLES["definite"]).is_fails


def test_what_is_saved_is_re_checked_and_what_was_changed_is_not(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((70, 70)) / 8 + 0.05
    certificate = certify("dominant-real-part", matrix).certificate
    assert certificate is not None and certificate.arrays
    path = tmp_path / "c.json"
    assert len(save(certificate, path)) == 2
    assert recheck(path, matrix).is_holds
    np.save(tmp_path / "m.npy", matrix)
    assert recheck(str(path), str(tmp_path / "m.npy")).is_holds
    text = path.read_text()
    path.write_text(text.replace('"holds"', '"fails"'))
    assert recheck(path, matrix).is_fails
    path.write_text(text)
    blob = bytearray((tmp_path / "c.safetensors").read_bytes())
    blob[-3] ^= 1
    (tmp_path / "c.safetensors").write_bytes(bytes(blob))
    assert recheck(path, matrix).is_fails
    (tmp_path / "c.safetensors").unlink()  # the arrays only spare the re-check some work
    assert recheck(path, matrix).is_holds


def test_documents_follow_the_published_schema() -> None:
    published = schema()
    jsonschema.Draft202012Validator.check_schema(published)
    validator = jsonschema.Draft202012Validator(published)
    for matrix in SAMPLES.values():
        for verdict in decided(matrix):
            assert verdict.certificate is not None
            validator.validate(json.loads(json.dumps(verdict.certificate.as_document())))
    with pytest.raises(jsonschema.ValidationError):
        validate({"schema": "eigentoken/certificate/1"}, published)


def test_garbage_is_refused_not_raised() -> None:
    for wrong in ({}, {"kind": "signs"}, {"schema": "eigentoken/certificate/1", "kind": 3}, "no-such-file.json"):
        assert recheck(wrong, np.eye(2)).is_fails
    good = certify("positive-definite", np.eye(2)).certificate
    assert good is not None
    assert recheck(good, {"other": np.eye(2)}).is_fails
    assert recheck(good, np.array([[np.nan, 0], [0, 1]])).is_fails
    assert recheck(good, "nothing").is_fails


def test_a_vector_is_called_wrong_only_beyond_the_rounding_of_the_comparison() -> None:
    from eigentoken.numerics.recheck.matrices.vectors import _sine_at_least

    rng = np.random.default_rng(3)
    for n in (2, 50, 1600):
        x = rng.standard_normal(n)
        for scale in (1.0, 1e-300, 1e300, -3.0):
            assert _sine_at_least(x, scale * (x / np.abs(x).max()), 0.0) <= 0  # parallel, whatever the scale
        across = rng.standard_normal(n)
        across -= x * (across @ x) / (x @ x)
        tilted = x / np.linalg.norm(x) + 1e-6 * across / np.linalg.norm(across)
        assert 0 < _sine_at_least(x, tilted, 0.0) <= 1e-6
        assert _sine_at_least(x, tilted, 1e-6) <= 0  # within what the found vector may be off
