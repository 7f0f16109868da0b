"""Do the tokens lie in an open hemisphere?  Decided exactly.

Either some v has ``v^T x_i > 0`` for all i, or some ``w >= 0, w != 0`` has ``sum_i w_i x_i = 0`` (Gordan), never both.
A floating-point linear program proposes v or w; the answer is given only after the proposal has been checked in
rational arithmetic.  Where no proposal checks (degenerate tokens), an exact simplex decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from eigentoken.documents.certificate import Tokens
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer, fails, holds, undecided

__all__ = ["in_open_hemisphere"]

Rows = list[list[Fraction]]


def in_open_hemisphere(tokens: object, *, exact_limit: int = 20_000) -> Verdict:
    """``holds`` with the separating vector v, or ``fails`` with the weights w, for tokens taken as exact numbers.

    The margin of ``holds`` is a lower bound on how far every token may move before v stops separating.

    >>> in_open_hemisphere([[1, 0], [0, 1], ["1/3", "-1/4"]]).answer.value
    'holds'
    >>> in_open_hemisphere([[1, 0], [-1, 0]]).certificate.data["weights"]
    ['1', '1']
    """
    rows = _exact_rows(tokens)
    inputs = [[str(entry) for entry in row] for row in rows]
    if any(not any(row) for row in rows):
        zero = next(i for i, row in enumerate(rows) if not any(row))
        return _outside([Fraction(int(i == zero)) for i in range(len(rows))], inputs, "a token is zero")
    floats = np.array([[float(entry) for entry in row] for row in rows])
    floats = floats / np.abs(floats).max(axis=1, keepdims=True)  # so that no square overflows
    floats = floats / np.linalg.norm(floats, axis=1, keepdims=True)
    v = _proposed_vector(floats)
    if v is not None and all(height > 0 for height in _heights(rows, v)):
        return _inside(v, rows, inputs)
    w = _proposed_weights(floats, rows)
    if w is not None:
        return _outside(w, inputs, "nonnegative weights combine the tokens to zero")
    if len(rows) * len(rows[0]) > exact_limit:
        return undecided(f"the float proposals do not check and {len(rows)} x {len(rows[0])} is above the exact limit")
    v, w = _exact_simplex(rows)
    if v is not None:
        return _inside(v, rows, inputs)
    assert w is not None
    return _outside(w, inputs, "nonnegative weights combine the tokens to zero")


def _exact_rows(tokens: Any) -> Rows:
    listed = tokens.tolist() if hasattr(tokens, "tolist") else tokens
    rows = [[Fraction(entry) for entry in row] for row in listed]
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError(f"tokens must be a non-empty list of rows of one length, got lengths {[len(r) for r in rows]}")
    return rows


def _heights(rows: Rows, v: Sequence[Fraction]) -> list[Fraction]:
    return [sum((a * b for a, b in zip(row, v, strict=True)), Fraction(0)) for row in rows]


def _inside(v: Sequence[Fraction], rows: Rows, inputs: list[list[str]]) -> Verdict:
    heights = _heights(rows, v)
    size = sum(entry * entry for entry in v)
    square = min(heights) ** 2 / size
    try:
        margin = math.nextafter(math.sqrt(float(square)) * (1 - 1e-12), 0.0)
    except OverflowError:  # |v|_1 >= |v|, and min / |v|_1 is at most the largest entry of a token
        margin = math.nextafter(float(min(heights) / sum(abs(entry) for entry in v)), 0.0)
    data: Tokens = {"tokens": inputs, "vector": [str(entry) for entry in v]}
    certificate = Certificate("hemisphere", "tokens in an open hemisphere", VerdictAnswer.HOLDS, data=data)
    reason = f"a vector has inner product at least {float(min(heights)):.3g} with every token"
    return holds(reason, margin=margin, unit="token displacement", certificate=certificate)


def _outside(w: Sequence[Fraction], inputs: list[list[str]], reason: str) -> Verdict:
    data: Tokens = {"tokens": inputs, "weights": [str(entry) for entry in w]}
    return fails(
        reason, certificate=Certificate("hemisphere", "tokens in an open hemisphere", VerdictAnswer.FAILS, data=data)
    )


def _proposed_vector(x: np.ndarray) -> list[Fraction] | None:
    """Maximise s subject to ``x_i^T v >= s``, ``|v|_inf <= 1``."""
    n, d = x.shape
    if n <= d:
        v, *_ = np.linalg.lstsq(x, np.ones(n), rcond=None)
        if (x @ v).min() > 0.5:
            return _rounded(v)
    from scipy.optimize import linprog

    cost = np.zeros(d + 1)
    cost[-1] = -1
    rows = np.hstack([-x, np.ones((n, 1))])
    found = linprog(cost, A_ub=rows, b_ub=np.zeros(n), bounds=[(-1, 1)] * d + [(None, 1)], method="highs")
    if found.status != 0 or found.x[-1] <= 0:
        return None
    return _rounded(found.x[:d])


def _rounded(v: np.ndarray) -> list[Fraction]:
    scale = float(np.abs(v).max())
    return [Fraction(round(float(entry) / scale * 2**40), 2**40) for entry in v]


def _proposed_weights(x: np.ndarray, rows: Rows) -> list[Fraction] | None:
    """A vertex of ``{w >= 0, sum w = 1, X^T w = 0}``; its support is then solved exactly."""
    from scipy.optimize import linprog

    n, d = x.shape
    equalities = np.vstack([x.T, np.ones((1, n))])
    found = linprog(np.zeros(n), A_eq=equalities, b_eq=np.append(np.zeros(d), 1.0), bounds=(0, None), method="highs-ds")
    if found.status != 0:
        return None
    support = [i for i in range(n) if found.x[i] > 1e-12]
    kernel = _kernel_vector([rows[i] for i in support])
    if kernel is None:
        return None
    if all(entry <= 0 for entry in kernel):
        kernel = [-entry for entry in kernel]
    if min(kernel) < 0:
        return None
    w = [Fraction(0)] * n
    for i, entry in zip(support, kernel, strict=True):
        w[i] = entry
    return w


def _kernel_vector(rows: Rows) -> list[Fraction] | None:
    """The w with ``sum_i w_i rows_i = 0`` when the space of such w is a line, else ``None``."""
    from flint import fmpq, fmpq_mat

    transposed = fmpq_mat(
        len(rows[0]),
        len(rows),
        [fmpq(row[k].numerator, row[k].denominator) for k in range(len(rows[0])) for row in rows],
    )
    reduced, rank = transposed.rref()
    if rank != len(rows) - 1:
        return None
    pivots = [next(c for c in range(len(rows)) if reduced[r, c] != 0) for r in range(rank)]
    free = next(c for c in range(len(rows)) if c not in pivots)
    w = [Fraction(0)] * len(rows)
    w[free] = Fraction(1)
    for r, c in enumerate(pivots):
        w[c] = -Fraction(int(reduced[r, free].p), int(reduced[r, free].q))
    return w


def _exact_simplex(rows: Rows) -> tuple[list[Fraction] | None, list[Fraction] | None]:
    """Phase one for ``w >= 0, sum w = 1, X^T w = 0`` with Bland's rule: weights if feasible, else the dual vector v."""
    n, d = len(rows), len(rows[0])
    table = [
        [rows[j][k] for j in range(n)] + [Fraction(int(k == a)) for a in range(d + 1)] + [Fraction(0)] for k in range(d)
    ]
    table.append([Fraction(1)] * n + [Fraction(int(a == d)) for a in range(d + 1)] + [Fraction(1)])
    cost = [
        -sum((table[r][c] for r in range(d + 1)), Fraction(0)) if c < n or c == n + d + 1 else Fraction(0)
        for c in range(n + d + 2)
    ]
    basis = [n + k for k in range(d + 1)]
    while True:
        entering = next((c for c in range(n) if cost[c] < 0), None)
        if entering is None:
            break
        ratios = [(table[r][-1] / table[r][entering], basis[r], r) for r in range(d + 1) if table[r][entering] > 0]
        row = min(ratios)[2]
        pivot = table[row][entering]
        table[row] = [entry / pivot for entry in table[row]]
        for other in range(d + 1):
            if other != row and table[other][entering]:
                factor = table[other][entering]
                table[other] = [a - factor * b for a, b in zip(table[other], table[row], strict=True)]
        factor = cost[entering]
        cost = [a - factor * b for a, b in zip(cost, table[row], strict=True)]
        basis[row] = entering
    if cost[-1] == 0:
        w = [Fraction(0)] * n
        for r, column in enumerate(basis):
            if column < n:
                w[column] = table[r][-1]
        return None, w
    # the reduced cost of artificial k is 1 - y_k with y the dual vector; y_1..d . x_j <= -y_(d+1) < 0 for every token
    return [cost[n + k] - 1 for k in range(d)], None
