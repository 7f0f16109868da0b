"""Re-check of conditions at all times of an interval: pieces that cover it, and one certificate for each piece.

*A formula*: on each piece the balls of the formula must lie within the slack of the piece's center (Frobenius norm), and
the certificate of the piece must hold for that center and slack.  *Samples* ``P(t_k)`` with a Lipschitz constant L: the slack
must be at least ``L max |t - t_k|`` over the piece.  ``holds`` needs pieces that cover the interval, one after the other;
``fails`` needs one piece inside it.  What is given may be the name of the file that was certified.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from eigentoken.files.documents import read_json
from eigentoken.numerics.recheck.documents.reading import (
    CertificateDocument,
    RecheckError,
    exact_input,
    exact_rows,
    fraction_of,
    unconfirmed,
)
from eigentoken.numerics.recheck.documents.shown import Shown
from eigentoken.numerics.recheck.matrices.formulas import evaluate
from eigentoken.numerics.recheck.matrices.locating import arb_of
from eigentoken.theory.language.reasons import formula_reason, samples_reason

__all__ = ["KINDS", "confirm_times", "recheck_times_beside"]

Confirm = Callable[[CertificateDocument, Any, float], str | None]
PRECISION = 128
KINDS = ("time-formula", "time-samples")


def confirm_times(document: CertificateDocument, inputs: object, until: float, confirm: Confirm) -> str | None:
    """None if every piece is confirmed and the pieces say what the certificate says, else why not."""
    data = document.data
    low, high = (fraction_of(end) for end in data["interval"])
    pieces = list(data["pieces"])
    why = _covered(document.verdict, low, high, pieces)
    if why is not None:
        return why
    formula = document.kind == "time-formula"
    given = _formula(document, inputs) if formula else _samples(document, inputs)
    open_pieces = []
    for index, piece in enumerate(pieces):
        inner = _inner(document, index, piece)
        why = _agrees(document, inner)
        if why is None:
            slack = fraction_of(inner.data["slack"])
            a, b = fraction_of(piece["from"]), fraction_of(piece["to"])
            if formula:
                matrix: Any = _center(piece)
                why = _contained(given, matrix, a, b, slack)
            else:
                k = int(piece["sample"])
                matrix = given[k]
                mark, rate = fraction_of(data["times"][k]), fraction_of(data["lipschitz"])
                if rate < 0 or slack < rate * max(abs(mark - a), abs(b - mark)):
                    why = f"the slack of piece {index} is below what the Lipschitz constant allows"
        if why is None:
            why = confirm(inner, {next(iter(inner.inputs)): matrix}, until)
        if why is not None and why.startswith("undecided: "):
            open_pieces.append(f"piece {index} ({why.removeprefix('undecided: ')})")
        elif why is not None:
            return f"piece {index}: {why}"
    return unconfirmed(*open_pieces[:3]) if open_pieces else None


def _covered(answer: str, low: Fraction, high: Fraction, pieces: Sequence[Mapping[str, Any]]) -> str | None:
    ends = [(fraction_of(piece["from"]), fraction_of(piece["to"])) for piece in pieces]
    if low > high or not ends or any(a > b for a, b in ends):
        return "an interval of times has its ends in order, and at least one piece"
    if answer == "fails":
        inside = len(ends) == 1 and low <= ends[0][0] and ends[0][1] <= high
        return None if inside else "a failure is shown at one piece inside the interval"
    reached = low
    for a, b in ends:
        if a != reached:
            return f"the pieces do not cover the interval one after the other: one begins at {a}, not at {reached}"
        reached = b
    return None if reached == high else f"the pieces cover the interval up to {reached}, not up to {high}"


def _inner(document: CertificateDocument, index: int, piece: Mapping[str, Any]) -> CertificateDocument:
    found = piece["certificate"]
    prefix = f"piece {index}/"
    arrays = {name.removeprefix(prefix): array for name, array in document.arrays.items() if name.startswith(prefix)}
    return CertificateDocument(
        str(found["kind"]),
        str(found["condition"]),
        str(found["verdict"]),
        dict(found["inputs"]),
        dict(found["data"]),
        arrays,
        dict(found["arrays"]),
    )


def _agrees(document: CertificateDocument, inner: CertificateDocument) -> str | None:
    if inner.condition != document.condition or inner.verdict != document.verdict or len(inner.inputs) != 1:
        return "its certificate is about another condition, answer or input"
    if inner.data["terms"] != [[[next(iter(inner.inputs)), False]]]:
        return "its certificate is not about the matrix itself"
    if inner.data.get("options") != document.data.get("options"):
        return "its certificate answers a question with other options"
    margin = float.fromhex(str(document.data["margin"]))
    if not 0 <= margin <= float.fromhex(str(inner.data["margin"])):
        return "its margin is below the one that is stated for all times"
    return None


def _formula(document: CertificateDocument, inputs: Any) -> list[list[str]]:
    rows = [[str(entry) for entry in row] for row in document.data["formula"]]
    read = _read(inputs) if isinstance(inputs, str) else inputs
    given = read.get("formula") if isinstance(read, Mapping) else read
    if given is not None and [[str(e).replace("^", "**").strip() for e in row] for row in given] != rows:
        raise RecheckError("the formula is not the one that was certified")
    text = json.dumps(rows, separators=(",", ":"))
    if document.inputs.get("formula") != hashlib.sha256(text.encode()).hexdigest():
        raise RecheckError("the content of the formula is not what was certified: its hash differs")
    return rows


def _samples(document: CertificateDocument, inputs: Any) -> list[Any]:
    count = len(document.data["times"])
    if isinstance(inputs, str):
        read = _read(inputs)
        inputs = read["matrices"]
        marks = [fraction_of(mark) for mark in document.data["times"]]
        same = marks == [fraction_of(mark) for mark in read["times"]]
        if not same or fraction_of(document.data["lipschitz"]) != fraction_of(read["lipschitz"]):
            raise RecheckError("the times or the Lipschitz constant are not those of the file")
    if isinstance(inputs, Mapping):
        inputs = [inputs[f"sample {k}"] for k in range(count)]
    matrices = list(inputs)
    if len(matrices) != count or len(document.inputs) != count:
        raise RecheckError(f"the certificate is about {count} samples, got {len(matrices)} matrices")
    for k, matrix in enumerate(matrices):
        if exact_input(matrix).digest != document.inputs.get(f"sample {k}"):
            raise RecheckError(f"the content of sample {k} is not what was certified: its hash differs")
    _check_rate(document, matrices)
    return matrices


def _check_rate(document: CertificateDocument, matrices: Sequence[Any]) -> None:
    """The samples are those of some P(t): no entry changes faster than the Lipschitz constant allows, nor a column."""
    rate = fraction_of(document.data["lipschitz"])
    marks = [fraction_of(mark) for mark in document.data["times"]]
    rows = [exact_rows(matrix) for matrix in matrices]
    for k in range(len(marks) - 1):
        reach = (rate * (marks[k + 1] - marks[k])) ** 2
        if marks[k + 1] <= marks[k]:
            raise RecheckError("the times of the samples do not increase")
        for column in range(len(rows[k][0])):
            moved = sum(((b[column] - a[column]) ** 2 for a, b in zip(rows[k], rows[k + 1], strict=True)), Fraction(0))
            if moved > reach:
                raise RecheckError(f"samples {k} and {k + 1} change faster than the Lipschitz constant allows")


def _read(path: str) -> Any:
    """The file that was certified, its numbers as they are written."""
    return read_json(path, error=RecheckError, parse_float=str, parse_int=str)


def recheck_times_beside(shown: Shown, document: CertificateDocument) -> None:
    """What a verdict document shows beside its certificate: details and, where it holds, the reason.

    The reason of a failure quotes that of its one piece, which is not formed again: it is left as not covered.
    """
    data, pieces = document.data, list(document.data["pieces"])
    if document.verdict == "holds":
        details: dict[str, Any] = {"pieces": len(pieces), "interval": list(data["interval"])}
        low, high = data["interval"]
        formula = document.kind == "time-formula"
        reason = (
            formula_reason(document.condition, low, high, len(pieces))
            if formula
            else samples_reason(document.condition, low, high, len(data["times"]))
        )
        shown.same(("reason",), reason, "the reason is not the one that the certificate supports")
    else:
        first, last = pieces[0]["from"], pieces[0]["to"]
        details = {"time": first if first == last else [first, last], "interval": list(data["interval"])}
    shown.same(("details",), details, "the details are not those of the certificate")


def _center(piece: Mapping[str, Any]) -> Any:
    return np.array([[float.fromhex(entry) for entry in row] for row in piece["center"]], dtype=np.float64)


def _contained(rows: list[list[str]], center: Any, a: Fraction, b: Fraction, slack: Fraction) -> str | None:
    """Is the formula, at all times of [a, b], within the slack of the center?"""
    if center.shape != (len(rows), len(rows[0])) or any(len(row) != len(rows[0]) for row in rows):
        return "the center does not have the shape of the formula"
    old, flint.ctx.prec = flint.ctx.prec, PRECISION
    try:
        middle, half = arb_of((a + b) / 2), arb_of((b - a) / 2)
        bound = arb_of(slack) ** 2
        nearest, farthest = _distances(rows, center, middle)
        if nearest.is_finite() and nearest > bound:
            return f"the formula leaves the slack of the certificate at t = {(a + b) / 2}"
        if a != b:
            farthest = _distances(rows, center, middle + flint.arb(0, half.upper()))[1]
        if not farthest.is_finite():
            return unconfirmed("balls of the formula, which are not finite here")
        return (
            None if farthest <= bound else unconfirmed("balls of the formula, which leave the slack of the certificate")
        )
    except ZeroDivisionError:
        return unconfirmed("balls of the formula, which divide by zero here")
    finally:
        flint.ctx.prec = old


def _distances(rows: list[list[str]], center: Any, t: Any) -> tuple[Any, Any]:
    """Bounds, from below and above, on the squared Frobenius distance between the formula on t and the center."""
    low, high = flint.arb(0), flint.arb(0)
    for row, values in zip(rows, center.tolist(), strict=True):
        for entry, value in zip(row, values, strict=True):
            gap = abs(evaluate(entry, t) - value)
            largest = flint.arb(gap.upper())
            high += largest * largest
            if gap > 0:
                smallest = flint.arb(gap.lower())
                low += smallest * smallest
    return low, high
