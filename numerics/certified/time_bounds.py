"""Conditions that must hold at all times of an interval, for P(t) given by a formula or by samples.

*Samples* ``P(t_k)`` with a Lipschitz constant L (spectral norm): every t is within half the largest gap h of a sample (or
within the distance to the first or last one at the ends), so ``||P(t) - P(t_k)|| <= L h``: each sample becomes an enclosure
with that radius.  *A formula* for each entry is evaluated in FLINT balls on whole sub-intervals, which are halved until
the condition is decided on each: ball evaluation contains every value on the sub-interval.  ``holds`` is about **all**
times of the interval; ``fails`` names one time at which the condition is certified to fail.

The certificate lists the pieces: for each its times, the certificate of the enclosure there, and (for a formula) the
enclosure's center; a re-check evaluates the formula again, or compares the slack with ``L max |t - t_k|``.
:func:`certify_at_all_times` is the door (``certify --over``): it takes either, or a file that holds it.
"""

from __future__ import annotations

import ast
import hashlib
import json
import operator
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import flint
import numpy as np

from eigentoken.documents.verdict_object import VerdictDetails
from eigentoken.files.documents import read_json
from eigentoken.files.given_arrays import rows_of
from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.enclosures import Enclosure, MatrixError
from eigentoken.numerics.certified.matrices import as_enclosure, exact_number
from eigentoken.numerics.certified.rounding import frobenius_above, up
from eigentoken.theory.language.reasons import formula_reason, samples_reason
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer, undecided

__all__ = ["certify_at_all_times", "certify_formula", "certify_samples"]

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
#: Conditions that answer with a number unless this option makes them a question.
ASKED_WITH = {"inertia": "expected", "rank": "expected", "norm-bound": "bound"}
SAMPLED = {"times", "matrices", "lipschitz"}
_FUNCTIONS = ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "atan")


def _evaluate(node: ast.AST, t: Any) -> Any:
    if isinstance(node, ast.Expression):
        return _evaluate(node.body, t)
    exact: Any = node.value if isinstance(node, ast.Constant) else None
    if isinstance(exact, Fraction):
        return flint.arb(flint.fmpq(exact.numerator, exact.denominator))
    if isinstance(node, ast.Name) and node.id == "t":
        return t
    if isinstance(node, ast.Name) and node.id == "pi":
        return flint.arb.pi()
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _evaluate(node.operand, t)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_evaluate(node.left, t), _evaluate(node.right, t))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        exponent = node.right
        power: Any = exponent.value if isinstance(exponent, ast.Constant) else None
        if isinstance(power, Fraction) and power.denominator == 1 and 0 <= power <= 64:
            return _whole_power(_evaluate(node.left, t), int(power))
        raise MatrixError("a power in a formula must have an integer exponent from 0 to 64")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
        if node.func.id == "abs":
            return abs(_evaluate(node.args[0], t))
        if node.func.id in _FUNCTIONS:
            return getattr(_evaluate(node.args[0], t), node.func.id)()
    raise MatrixError(f"a formula may use t, pi, numbers, + - * / **, abs and {', '.join(_FUNCTIONS)}")


def _whole_power(ball: Any, k: int) -> Any:
    """``x^k`` for whole k; FLINT's own power has no value where the ball reaches below zero."""
    if k == 0:
        return flint.arb(1)
    if k % 2:
        return ball * _whole_power(ball, k - 1)
    modulus = abs(ball)
    top = modulus.upper() ** k
    return top.union(modulus.lower() ** k) if modulus > 0 else top.union(flint.arb(0))


def _expression(text: str) -> ast.Expression:
    """The tree of a formula, with every number as the exact rational that was written."""
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            number = isinstance(node.value, int | float) and not isinstance(node.value, bool)
            node.value = exact_number(ast.get_source_segment(text, node) or "") if number else None  # type: ignore[assignment]
    return tree


def _parsed(formula: Sequence[Sequence[Any]]) -> list[list[ast.Expression]]:
    rows = []
    for row in formula:
        try:
            rows.append([_expression(str(entry).replace("^", "**").strip()) for entry in row])
        except (SyntaxError, ValueError):
            raise MatrixError(f"cannot read a formula in the row {list(row)!r}") from None
    if not rows or len({len(row) for row in rows}) != 1 or not rows[0]:
        raise MatrixError("a formula matrix needs rows of one length")
    return rows


def _enclosure(rows: list[list[ast.Expression]], low: Fraction, high: Fraction) -> Enclosure | None:
    """An enclosure of P(t) for all t in [low, high], or None where the balls are not finite."""
    old, flint.ctx.prec = flint.ctx.prec, 96
    try:
        middle, half = (low + high) / 2, (high - low) / 2
        t = flint.arb(flint.fmpq(middle.numerator, middle.denominator))
        if half:
            t = t + flint.arb(0, flint.arb(flint.fmpq(half.numerator, half.denominator)).upper())
        balls = [[_evaluate(entry, t) for entry in row] for row in rows]
    except ZeroDivisionError:
        return None
    finally:
        flint.ctx.prec = old
    if not all(ball.is_finite() for row in balls for ball in row):
        return None
    center = np.array([[float(ball.mid()) for ball in row] for row in balls])
    radii = np.array([[float(ball.rad()) for ball in row] for row in balls])
    if not (np.isfinite(center).all() and np.isfinite(radii).all()):
        return None
    widened = radii * (1 + 2.0**-40) + np.abs(center) * 2.0**-52 + 2.0**-1060
    if widened.max() > 2.0**400:  # beyond what the norm is bounded for: nothing is said about so wide a piece
        return None
    return Enclosure.from_floats(center, up(frobenius_above(widened)), name="P(t)")


@dataclass(frozen=True)
class _Piece:
    """A piece of time, the verdict about the enclosure there, and what a re-check needs beside its certificate."""

    low: Fraction
    high: Fraction
    found: Verdict
    more: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        certificate = self.found.certificate
        if certificate is None:
            raise ValueError("a decided verdict has a certificate")
        return {"from": str(self.low), "to": str(self.high), "certificate": certificate.as_dict(), **self.more}


def _decided(
    kind: str, condition: str, reason: str, inputs: Mapping[str, str], data: Mapping[str, Any], pieces: list[_Piece]
) -> Verdict:
    """The verdict that all pieces share, with the smallest of their margins and one certificate."""
    pieces = sorted(pieces, key=lambda piece: piece.low)
    answer, unit = pieces[0].found.answer, pieces[0].found.unit
    margin = min(piece.found.margin or 0.0 for piece in pieces) if answer is VerdictAnswer.HOLDS else 0.0
    documents = [piece.document() for piece in pieces]
    whole = {
        **data,
        "options": documents[0]["certificate"]["data"]["options"],
        "margin": float(margin).hex(),
        "unit": unit,
        "pieces": documents,
    }
    arrays = {
        f"piece {k}/{name}": array
        for k, piece in enumerate(pieces)
        if piece.found.certificate is not None
        for name, array in piece.found.certificate.arrays.items()
    }
    certificate = Certificate(kind, condition, answer, inputs, whole, arrays)
    if answer is VerdictAnswer.HOLDS:
        details: VerdictDetails = {"pieces": len(pieces), "interval": data["interval"]}
        return Verdict(answer, reason, margin, unit, certificate, details)
    first, last = documents[0]["from"], documents[0]["to"]
    details = {"time": first if first == last else [first, last], "interval": data["interval"]}
    return Verdict(answer, reason, 0.0, unit, certificate, details)


@dataclass(frozen=True)
class _Formula:
    """One question about a formula on an interval."""

    condition: str
    rows: list[list[ast.Expression]]
    texts: list[list[str]]
    low: Fraction
    high: Fraction
    options: Mapping[str, Any]

    def piece(self, a: Fraction, b: Fraction) -> _Piece:
        enclosure = _enclosure(self.rows, a, b)
        if enclosure is None:
            return _Piece(a, b, undecided("not finite"), {})
        center = np.ldexp(enclosure.center, enclosure.exponent)
        more = {"center": [[float(v).hex() for v in row] for row in center]}
        return _Piece(a, b, certify(self.condition, enclosure, **self.options), more)

    def answer(self, reason: str, pieces: list[_Piece]) -> Verdict:
        text = json.dumps(self.texts, separators=(",", ":"))
        inputs = {"formula": hashlib.sha256(text.encode()).hexdigest()}
        data = {"formula": self.texts, "interval": [str(self.low), str(self.high)]}
        return _decided("time-formula", self.condition, reason, inputs, data, pieces)

    def refuted(self, piece: _Piece) -> Verdict:
        at = (
            f"t = {piece.low}" if piece.low == piece.high else f"t in [{float(piece.low):.6g}, {float(piece.high):.6g}]"
        )
        return self.answer(f"at {at}: {piece.found.reason}", [piece])


def certify_at_all_times(condition: str, given: object, interval: tuple[object, object], **options: Any) -> Verdict:
    """The condition for P(t) at all t of a closed interval.

    ``given``: rows of formulas in t; or ``{"times": ..., "matrices": ..., "lipschitz": ...}``, samples and a Lipschitz
    constant of P in the spectral norm; or the name of a JSON file that holds one of these (its numbers as written).

    >>> certify_at_all_times("norm-bound", [["sin(t)", "cos(t)"]], (0, 3), bound="1.05").answer.value
    'holds'
    """
    if condition == "spectrum" or (condition in ASKED_WITH and options.get(ASKED_WITH[condition]) is None):
        asked = f"give {ASKED_WITH[condition]}" if condition in ASKED_WITH else "ask for a property of it"
        raise MatrixError(f"{condition} answers with numbers, which depend on the time: {asked}")
    if isinstance(given, str | Path):
        given = read_json(given, error=MatrixError, parse_float=str, parse_int=str)
    if isinstance(given, Mapping):
        if set(given) != SAMPLED:
            raise MatrixError(
                f"samples of P(t) are given by {', '.join(sorted(SAMPLED))}, got {', '.join(sorted(given))}"
            )
        times = rows_of("times", given["times"])
        matrices = given["matrices"] if isinstance(given["matrices"], list) else rows_of("matrices", given["matrices"])
        if not isinstance(times, list | tuple) or not isinstance(matrices, list | tuple):
            raise MatrixError("times and matrices of P(t) are two lists of one length")
        return certify_samples(condition, times, matrices, given["lipschitz"], interval, **options)
    if not isinstance(given, list | tuple) or not all(isinstance(row, list | tuple) for row in given):
        raise MatrixError(
            'P(t) is given by rows of formulas in t, such as [["2 + sin(t)", "1/4"], ["1/4", "1"]], or by samples'
        )
    return certify_formula(condition, given, interval, **options)


def certify_formula(
    condition: str,
    formula: Sequence[Sequence[Any]],
    interval: tuple[Any, Any],
    *,
    time_limit: float = 20.0,
    pieces: int = 4096,
    **options: Any,
) -> Verdict:
    """The condition for P(t) at all t of a closed interval; entries are formulas in t.

    >>> certify_formula("positive-definite", [["2 + sin(t)", "1/4"], ["1/4", "1"]], (0, 10)).answer.value
    'holds'
    """
    texts = [[str(entry).replace("^", "**").strip() for entry in row] for row in formula]
    low, high = exact_number(interval[0]), exact_number(interval[1])
    if low > high:
        raise MatrixError(f"the interval must be [a, b] with a <= b, got {interval}")
    question = _Formula(condition, _parsed(texts), texts, low, high, options)
    until = time.monotonic() + time_limit
    for k in range(17):  # a few single times first: one of them may refute
        at = low + (high - low) * Fraction(k, 16)
        point = question.piece(at, at)
        if point.found.is_fails:
            return question.refuted(point)
    queue, done, settled = deque([(low, high)]), 0, []
    while queue:
        a, b = queue.popleft()
        done += 1
        piece = question.piece(a, b)
        if piece.found.is_holds:
            settled.append(piece)
            continue
        if piece.found.is_fails:
            return question.refuted(piece)
        point = question.piece((a + b) / 2, (a + b) / 2)
        if point.found.is_fails:
            return question.refuted(point)
        if a == b or done >= pieces or time.monotonic() > until:
            return undecided(
                f"{condition} on [{float(a):.6g}, {float(b):.6g}] after {done} pieces: {piece.found.reason}"
            )
        queue += [(a, (a + b) / 2), ((a + b) / 2, b)]
    return question.answer(formula_reason(condition, str(low), str(high), len(settled)), settled)


def _check_rate(marks: Sequence[Fraction], matrices: Sequence[Any], rate: Fraction) -> None:
    """Samples that change faster than the constant are samples of no P(t): what holds of it would hold of nothing.

    A column of a difference is no longer than its spectral norm, so one that is too long, exactly, is enough.
    """
    exact = [_exact_rows(each, f"sample {k}") for k, each in enumerate(matrices)]
    for k, (a, b) in enumerate(pairwise(marks)):
        if len(exact[k]) != len(exact[k + 1]) or len(exact[k][0]) != len(exact[k + 1][0]):
            raise MatrixError(f"samples {k} and {k + 1} are matrices of different shapes")
        gaps = [[p - q for p, q in zip(r, s, strict=True)] for r, s in zip(exact[k + 1], exact[k], strict=True)]
        for column in zip(*gaps, strict=True):
            if sum((gap * gap for gap in column), Fraction(0)) > (rate * (b - a)) ** 2:
                raise MatrixError(
                    f"the samples at t = {a} and t = {b} change faster than the Lipschitz constant {rate} allows: no P(t) has "
                    "these samples"
                )


def _exact_rows(matrix: Any, name: str) -> list[list[Fraction]]:
    found = as_enclosure(matrix, name=name).exact
    if found is None:
        raise MatrixError(f"{name} must be known exactly, got an enclosure")
    return found.fractions()


def certify_samples(
    condition: str,
    times: Sequence[Any],
    matrices: Sequence[Any],
    lipschitz: Any,
    interval: tuple[Any, Any],
    **options: Any,
) -> Verdict:
    """The condition for P(t) at all t of an interval, from exact samples and a Lipschitz constant (spectral norm).

    >>> certify_samples("positive-definite", [0, 1], [[[2]], [[3]]], 1, (0, 1)).answer.value
    'holds'
    """
    marks = [exact_number(t) for t in times]
    low, high, rate = exact_number(interval[0]), exact_number(interval[1]), exact_number(lipschitz)
    if len(marks) != len(matrices) or not marks:
        raise MatrixError(f"one matrix for each time, got {len(marks)} times and {len(matrices)} matrices")
    if any(b <= a for a, b in pairwise(marks)) or low > high or rate < 0:
        raise MatrixError("times must increase, the interval be [a, b] with a <= b, the Lipschitz constant be >= 0")
    names = [f"sample {k}" for k in range(len(marks))]
    _check_rate(marks, matrices, rate)

    def answer(reason: str, settled: list[_Piece]) -> Verdict:
        inputs: dict[str, str] = {}
        for name, matrix in zip(names, matrices, strict=True):
            inputs.update(as_enclosure(matrix, name=name).inputs)
        data = {
            "times": [str(mark) for mark in marks],
            "lipschitz": str(rate),
            "interval": [str(low), str(high)],
        }
        return _decided("time-samples", condition, reason, inputs, data, settled)

    pieces, open_times = [], []
    for k, (mark, matrix) in enumerate(zip(marks, matrices, strict=True)):
        left = low if k == 0 else max(low, (marks[k - 1] + mark) / 2)
        right = high if k == len(marks) - 1 else min(high, (mark + marks[k + 1]) / 2)
        if left > right:
            continue  # this sample is nearest to no time of the interval
        reach = max(abs(mark - left), abs(right - mark)) * rate
        found = certify(condition, as_enclosure(matrix, reach, names[k]), **options)
        if not found.is_holds and low <= mark <= high:
            here = certify(condition, as_enclosure(matrix, name=names[k]), **options)
            if here.is_fails:
                return answer(f"at t = {mark}: {here.reason}", [_Piece(mark, mark, here, {"sample": k})])
        if found.is_fails:
            return answer(f"near t = {mark}: {found.reason}", [_Piece(left, right, found, {"sample": k})])
        if found.is_holds:
            pieces.append(_Piece(left, right, found, {"sample": k}))
        else:
            open_times.append(f"near t = {mark} (radius {float(reach):.3g}): {found.reason}")
    if open_times:
        return undecided(f"{condition} on [{low}, {high}]: " + "; ".join(open_times[:3]))
    return answer(samples_reason(condition, str(low), str(high), len(marks)), pieces)
