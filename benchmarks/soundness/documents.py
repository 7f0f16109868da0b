"""``recheck``: honest documents are not refused, and no forged one is confirmed.

Documents of random matrices and points, as the commands write them.  The forgers here turn the word round or put another matrix
in place, with all digests made anew; those of ``tests/liars/forger.py`` (every field and shape of a document) join them.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from eigentoken.numerics.certified.certify import certify
from eigentoken.rechecking.recheck import recheck_document
from eigentoken.schemas import schema
from eigentoken.theory.classification.classify import classify
from eigentoken.theory.language.verdicts import VerdictAnswer

from . import exact
from .exact import Rows
from .judging import Case, Domain, Generator
from .points import _known
from .state import ROOT

QUESTIONS = (
    *(
        "positive-definite",
        "negative-definite",
        "positive-semidefinite",
        "indefinite",
        "inertia",
        "rank",
        "nonsingular",
    ),
    *("symmetric", "identity", "norm-bound", "spectrum", "dominant-real-part", "dominant-modulus", "spectral-gap"),
    *("principal-eigenvector", "dominant-complex-pair"),
)
#: the ways of ``tests/liars/forger.py``: each gives (place, forged document) pairs
FORGERS = ("changed_fields", "changed_shapes")


@cache
def _liars(name: str) -> Any:
    """A module of ``tests/liars``, or None where it is not there."""
    place, full = ROOT / "tests" / "liars" / f"{name}.py", f"eigentoken_liars_{name}"
    if full not in sys.modules and place.exists():
        spec = importlib.util.spec_from_file_location(full, place)
        if spec is None or spec.loader is None:
            return None
        module = importlib.util.module_from_spec(spec)
        sys.modules[full] = module
        spec.loader.exec_module(module)
    return sys.modules.get(full)


def _recheck(document: Any, folder: Path) -> tuple[str, Any]:
    """The word of the command, and why where it does not agree; a document may be refused outright."""
    file = folder / "document.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    try:
        answer = recheck_document(file, seconds=60.0)
    except (ValueError, OSError) as problem:
        return "refused", str(problem)
    return str(answer.verdict), [each.reason for each in answer if each.agrees != "holds"]


def _matrix(rng: Any) -> Rows:
    n = int(rng.integers(1, 5))
    draw = rng.random()
    if draw < 0.4:
        return exact.fractions(rng.integers(-3, 4, (n, n)))
    if draw < 0.7:
        made = rng.integers(-3, 4, (n, n))
        return exact.fractions(made @ made.T)
    return exact.fractions(rng.standard_normal((n, n)))


def _verdict(rng: Any, folder: Path) -> tuple[dict[str, Any], Any, str]:
    """A document of ``certify --json``: the matrix in a file, the verdict, the condition."""
    rows = _matrix(rng)
    np.save(folder / "m.npy", exact.as_floats(rows))
    condition = str(rng.choice(QUESTIONS))
    verdict = certify(condition, str(folder / "m.npy"))
    head = {"schema": schema("verdict")["$id"], "condition": condition, "matrix": str(folder / "m.npy")}
    return json.loads(json.dumps({**head, **verdict.as_dict()})), verdict, condition


def _classification(rng: Any) -> dict[str, Any]:
    instance, *_ = _known(rng, flow=bool(rng.random() < 0.5))
    found = {key: value for key, value in classify(instance).as_dict().items() if key != "schema"}
    return dict(json.loads(json.dumps({"schema": schema("classification")["$id"], **found}, default=str)))


def honest(rng: Any) -> Iterator[Case]:
    """What the toolkit says of itself: the re-check may be undecided, never against it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for _ in range(3):
            document, verdict, condition = _verdict(rng, folder)
            word, why = _recheck(document, folder)
            wrong = word in ("fails", "refused") and verdict.certificate is not None
            yield Case(
                word, f"honest {condition} of {document['matrix']}: {word} ({why}): {document}"[:900] if wrong else ""
            )
        document = _classification(rng)
        word, why = _recheck(document, folder)
        yield Case(
            word, f"honest classification: {word} ({why}): {document}"[:900] if word in ("fails", "refused") else ""
        )


def turned_round(rng: Any) -> Iterator[Case]:
    """The word turned round with its digest made anew, or the same certificate beside another matrix."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for _ in range(3):
            document, verdict, condition = _verdict(rng, folder)
            if verdict.certificate is None or verdict.is_undecided:
                continue
            if rng.random() < 0.5:
                other = VerdictAnswer.FAILS if verdict.is_holds else VerdictAnswer.HOLDS
                forged_certificate = type(verdict.certificate)(
                    verdict.certificate.kind,
                    verdict.certificate.condition,
                    other,
                    verdict.certificate.inputs,
                    verdict.certificate.data,
                    verdict.certificate.arrays,
                )
                forged = {
                    **document,
                    "verdict": str(other),
                    "certificate": json.loads(json.dumps(forged_certificate.as_document())),
                }
                what = f"{condition}: the word turned round"
            else:
                before = np.load(folder / "m.npy")
                np.save(folder / "m.npy", before + np.eye(len(before)) * 0.5)
                forged, what = document, f"{condition}: another matrix"
            word, _ = _recheck(forged, folder)
            yield Case(word, f"forged {what}: holds: {forged}"[:900] if word == "holds" else "")


def every_field(rng: Any) -> Iterator[Case]:
    """Fields and shapes of a document changed by the forgers of the tests, a few of each document."""
    forger, judge = _liars("forger"), _liars("documents")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        document = _verdict(rng, folder)[0] if rng.random() < 0.7 else _classification(rng)
        if document.get("certificate", document) is None:
            return
        for way in FORGERS:
            forgeries = list(getattr(forger, way)(document))
            for index in rng.permutation(len(forgeries))[:6]:
                path, forged = forgeries[int(index)]
                if forged == document:
                    continue  # a digest that was changed and made anew is the honest one
                if document["schema"].startswith("eigentoken/classification") and path[:1] == ("instance",):
                    continue  # a classification of another instance may be honest
                believed = judge.confirmed(forged, folder / "forged.json", path)
                yield Case(
                    "holds" if believed else "fails", f"forged {way} {path} of {document}"[:900] if believed else ""
                )


GENERATORS: dict[str, Generator] = {"honest": honest, "turned round": turned_round}
if _liars("forger") is not None and _liars("documents") is not None:
    GENERATORS["every field (tests/liars)"] = every_field

DOMAIN = Domain("recheck", "honest documents and forged ones", 20_000, GENERATORS, seeds_at_once=5)
