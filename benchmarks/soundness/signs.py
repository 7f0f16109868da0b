"""``certify``: signs of eigenvalues, rank, norm and equalities, with their margins, against rational elimination."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from eigentoken.numerics.certified.certify import certify

from . import exact
from .exact import Rows
from .judging import Case, Domain, judge

SIGNS = ("positive-definite", "negative-definite", "positive-semidefinite", "negative-semidefinite", "indefinite")


def sign_truth(condition: str, counts: tuple[int, int, int]) -> bool:
    """What each word means, from the numbers of positive, negative and zero eigenvalues of the symmetric part."""
    p, q, z = counts
    return {
        "positive-definite": q == z == 0,
        "negative-definite": p == z == 0,
        "positive-semidefinite": q == 0,
        "negative-semidefinite": p == 0,
        "indefinite": p > 0 and q > 0,
    }[condition]


def _sign_margin(condition: str, holds: bool, s: Rows, margin: float | None) -> str:
    """A margin m says that every matrix within m in the spectral norm gets the same word."""
    m = Fraction(margin or 0)
    if m == 0:
        return ""
    least = exact.least_at_least
    minus = exact.scaled(s, -1)
    positive, negative = (lambda: least(s, m)), (lambda: least(minus, m))
    has_negative, has_positive = (lambda: exact.largest_at_least(minus, m)), (lambda: exact.largest_at_least(s, m))
    right = {
        ("positive-definite", True): positive,
        ("positive-semidefinite", True): positive,
        ("negative-definite", True): negative,
        ("negative-semidefinite", True): negative,
        ("indefinite", True): lambda: has_negative() and has_positive(),
        ("positive-definite", False): has_negative,
        ("positive-semidefinite", False): has_negative,
        ("negative-definite", False): has_positive,
        ("negative-semidefinite", False): has_positive,
        ("indefinite", False): lambda: positive() or negative(),
    }[condition, holds]()
    return "" if right else f"the margin {margin!r} is too large"


def ask_signs(rng: Any, rows: Rows, counts: tuple[int, int, int] | None = None) -> Iterator[Case]:
    """All sign questions about one square matrix; ``counts`` is its inertia where the construction knows it."""
    s = exact.symmetric_part(rows)
    counts = counts or exact.inertia(s)
    matrix = exact.given(rng, rows)
    text = [[str(entry) for entry in row] for row in rows]
    for condition in SIGNS:
        verdict = certify(condition, matrix)
        what = f"{condition} of {text}"
        yield judge(
            verdict,
            sign_truth(condition, counts),
            what,
            lambda v, condition=condition: _sign_margin(condition, v.is_holds, s, v.margin),
        )
    verdict = certify("inertia", matrix)
    told = tuple(verdict.details.get("inertia") or ()) if verdict.is_holds else None
    wrong = f"inertia of {text}: {told}, but it is {counts}" if told is not None and told != counts else ""
    m = Fraction(verdict.margin or 0)
    squared = exact.times(s, s)
    if not wrong and m and not exact.least_at_least(squared, m * m):
        wrong = f"inertia of {text}: the margin {verdict.margin!r} is too large"
    yield Case(str(verdict.answer), wrong)
    p, q, z = counts
    other = (p - 1, q + 1, z) if p else (p + 1, q - 1, z) if q else (1, 0, z - 1)
    yield judge(certify("inertia", matrix, expected=other), False, f"inertia {other} of {text}")
    yield judge(certify("inertia", matrix, expected=counts), True, f"inertia {counts} of {text}")


def ask_rank(rng: Any, rows: Rows, known: int | None = None) -> Iterator[Case]:
    """Rank, invertibility, norm and its bounds, of a matrix of any shape."""
    true = exact.rank(rows) if known is None else known
    matrix = exact.given(rng, rows)
    text = [[str(entry) for entry in row] for row in rows]
    verdict = certify("rank", matrix)
    told = verdict.details.get("rank") if verdict.is_holds else None
    yield Case(
        str(verdict.answer), f"rank of {text}: {told}, but it is {true}" if told is not None and told != true else ""
    )
    off = true - 1 if true and rng.random() < 0.5 else true + 1
    yield judge(certify("rank", matrix, expected=off), False, f"rank {off} of {text}")
    if len(rows) == len(rows[0]):

        def far(v: Any) -> str:
            m = Fraction(v.margin or 0)
            return (
                ""
                if not m or exact.least_at_least(exact.gram(rows), m * m)
                else f"the margin {v.margin!r} is too large"
            )

        yield judge(certify("nonsingular", matrix), true == len(rows), f"nonsingular {text}", far)
    yield from ask_norm(rng, rows, matrix, text)


def ask_norm(rng: Any, rows: Rows, matrix: Any, text: Any) -> Iterator[Case]:
    """The norm's interval, and a bound at it or near it."""
    verdict = certify("norm-bound", matrix)
    low, high = verdict.details["norm"]
    wrong = ""
    if verdict.is_holds and not (
        exact.norm_at_least(rows, Fraction(low)) and (high is None or exact.norm_at_most(rows, Fraction(high)))
    ):
        wrong = f"norm of {text} is not in [{low!r}, {high!r}]"
    yield Case(str(verdict.answer), wrong)
    near = Fraction(low) if rng.random() < 0.5 or high is None else Fraction(high)
    bound = near + Fraction(int(rng.integers(-2, 3))) * Fraction(2) ** int(rng.integers(-60, 1))
    bound = abs(bound) if rng.random() < 0.7 else Fraction(round(abs(bound)))

    def room(v: Any) -> str:
        m = Fraction(v.margin or 0)
        right = exact.norm_at_most(rows, bound - m) if v.is_holds else exact.norm_at_least(rows, bound + m)
        return "" if not m or right else f"the margin {v.margin!r} is too large"

    yield judge(
        certify("norm-bound", matrix, bound=bound), exact.norm_at_most(rows, bound), f"norm {text} <= {bound}", room
    )


def ask_equalities(rng: Any, rows: Rows) -> Iterator[Case]:
    """``symmetric`` and ``identity``, exactly and within a distance."""
    n = len(rows)
    matrix = exact.given(rng, rows)
    text = [[str(entry) for entry in row] for row in rows]
    skew = exact.scaled(exact.plus(rows, exact.transpose(rows), -1), Fraction(1, 2))
    for condition, part in (("symmetric", skew), ("identity", exact.plus(rows, exact.identity(n), -1))):
        zero = not any(any(row) for row in part)

        def apart(v: Any, part: Rows = part) -> str:
            m = Fraction(v.margin or 0)
            return "" if not m or exact.norm_at_least(part, m) else f"the margin {v.margin!r} is too large"

        verdict = certify(condition, matrix)
        yield judge(verdict, zero, f"{condition} {text}", apart)
        ends = verdict.details.get("distance", [0.0, None])
        within = abs(
            Fraction(ends[int(rng.integers(2))] or 1)
            + Fraction(int(rng.integers(-1, 2)), 2 ** int(rng.integers(1, 61)))
        )

        def room(v: Any, part: Rows = part, within: Fraction = within) -> str:
            m = Fraction(v.margin or 0)
            right = exact.norm_at_most(part, within - m) if v.is_holds else exact.norm_at_least(part, within + m)
            return "" if not m or right else f"the margin {v.margin!r} is too large"

        truth = exact.norm_at_most(part, within)
        yield judge(certify(condition, matrix, within=within), truth, f"{condition} {text} within {within}", room)


def _size(rng: Any, largest: int = 6) -> int:
    return int(rng.integers(1, largest + 1))


def _congruent(rng: Any, diagonal: list[Fraction]) -> Rows:
    """``T^T D T`` with an integer T of determinant +-1: the inertia is that of D."""
    n = len(diagonal)
    t, _ = exact.unimodular(rng, n, steps=2 + n)
    d = [[diagonal[i] if i == j else Fraction(0) for j in range(n)] for i in range(n)]
    return exact.times(exact.times(exact.transpose(t), d), t)


def _counts(diagonal: list[Fraction]) -> tuple[int, int, int]:
    return sum(x > 0 for x in diagonal), sum(x < 0 for x in diagonal), sum(x == 0 for x in diagonal)


def congruent(rng: Any) -> Iterator[Case]:
    """Integer congruences of small diagonals, with or without a skew part."""
    diagonal = [Fraction(int(x)) for x in rng.integers(-2, 4, _size(rng))]
    rows = _congruent(rng, diagonal)
    if rng.random() < 0.4:
        n = len(rows)
        skew = rng.integers(-5, 6, (n, n))
        rows = exact.plus(rows, exact.fractions(skew - skew.T))
    yield from ask_signs(rng, rows, _counts(diagonal))


def edge(rng: Any) -> Iterator[Case]:
    """One eigenvalue of the diagonal at 0 or at +-2^-k, k to 60: ties, singular, off by 2^-60."""
    n = _size(rng)
    diagonal = [Fraction(int(x)) for x in rng.integers(1, 4, n)]
    sign = int(rng.choice([-1, 1]))
    tiny = Fraction(int(rng.integers(-1, 2)), 2 ** int(rng.choice([8, 20, 30, 45, 52, 53, 54, 60])))
    diagonal[int(rng.integers(n))] = tiny
    diagonal = [sign * x for x in diagonal]
    yield from ask_signs(rng, _congruent(rng, diagonal), _counts(diagonal))


def graded(rng: Any) -> Iterator[Case]:
    """Rows and columns scaled by powers of two, to 2^+-40: a congruence, so the inertia stays."""
    diagonal = [Fraction(int(x)) for x in rng.integers(-2, 4, _size(rng))]
    rows = _congruent(rng, diagonal)
    powers = [Fraction(2) ** int(k) for k in rng.integers(-40, 41, len(rows))]
    rows = [[powers[i] * powers[j] * rows[i][j] for j in range(len(rows))] for i in range(len(rows))]
    yield from ask_signs(rng, rows, _counts(diagonal))


def small_integers(rng: Any) -> Iterator[Case]:
    """Entries from -3 to 3, square or not; ties and singular matrices are common."""
    shape = (_size(rng), _size(rng))
    if rng.random() < 0.6:
        shape = (shape[0], shape[0])
    rows = exact.fractions(rng.integers(-3, 4, shape))
    if shape[0] == shape[1]:
        yield from ask_signs(rng, rows)
        yield from ask_equalities(rng, rows)
    yield from ask_rank(rng, rows)


def floats(rng: Any) -> Iterator[Case]:
    """Normal floats of 64, 32 or 16 bits, some nearly singular."""
    n = _size(rng)
    array = rng.standard_normal((n, n)) * 2.0 ** int(rng.integers(-30, 31))
    draw = rng.random()
    if draw < 0.3 and n > 1:
        array[-1] = array[0] * (1 + 2.0**-50 * rng.integers(-2, 3))
    elif draw < 0.5:
        array = array.astype(np.float32).astype(np.float64)
    elif draw < 0.7:
        array = np.clip(array, -1e4, 1e4).astype(np.float16).astype(np.float64)
    elif draw < 0.9:
        array = array @ array.T
    rows = exact.fractions(array)
    yield from ask_signs(rng, rows)
    yield from ask_rank(rng, rows)


def one_ulp(rng: Any) -> Iterator[Case]:
    """A singular integer Gram matrix with one entry moved by one unit in the last place, or not at all."""
    n = int(rng.integers(2, 7))
    half = rng.integers(-3, 4, (n, max(1, n - 1)))
    array = (half @ half.T).astype(np.float64)
    i = int(rng.integers(n))
    if rng.random() < 0.7:
        array[i, i] = np.nextafter(array[i, i], rng.choice([-np.inf, np.inf]))
    rows = exact.fractions(array)
    yield from ask_signs(rng, rows)
    yield from ask_rank(rng, rows)


def low_rank(rng: Any) -> Iterator[Case]:
    """Products of thin integer matrices."""
    m, n = int(rng.integers(1, 8)), int(rng.integers(1, 8))
    r = int(rng.integers(1, min(m, n) + 1))
    yield from ask_rank(rng, exact.fractions(rng.integers(-3, 4, (m, r)) @ rng.integers(-3, 4, (r, n))))


def near_identity(rng: Any) -> Iterator[Case]:
    """The identity and symmetric matrices, changed in one entry by a power of two down to the smallest floats, or not at all."""
    n = _size(rng, 4)
    rows = (
        exact.identity(n) if rng.random() < 0.6 else exact.symmetric_part(exact.fractions(rng.integers(-3, 4, (n, n))))
    )
    if rng.random() < 0.1:
        rows = exact.scaled(rows, Fraction(2) ** int(rng.integers(-1060, 1000)))
    if rng.random() < 0.8:
        i, j = rng.integers(n, size=2)
        rows[i][j] += Fraction(int(rng.choice([-1, 1]))) * Fraction(2) ** int(
            rng.choice([-1000, -300, -60, -52, -40, -10, 0, 30])
        )
    yield from ask_equalities(rng, rows)


def balls(rng: Any) -> Iterator[Case]:
    """A verdict about every matrix within a radius: it holds (fails) only where it does for the worst of them."""
    n = _size(rng, 5)
    diagonal = [Fraction(int(x)) for x in rng.integers(1, 5, n)]
    rows = _congruent(rng, diagonal)
    if rng.random() < 0.3:
        rows = exact.scaled(rows, -1)
    matrix = exact.given(rng, rows)
    radius = Fraction(int(rng.integers(1, 33)), 2 ** int(rng.integers(0, 60)))
    s = exact.symmetric_part(rows)
    for sign, condition in ((1, "positive-definite"), (-1, "negative-definite")):
        turned = exact.scaled(s, sign)
        always = exact.inertia(exact.plus(turned, exact.identity(n), -radius))[0] == n
        never = exact.inertia(exact.plus(turned, exact.identity(n), radius))[0] < n
        verdict = certify(condition, matrix, radius=radius)
        word = str(verdict.answer)
        false = (word == "holds" and not always) or (word == "fails" and not never)
        yield Case(word, f"{condition} of {rows} within {radius}: {word}" if false else "")


DOMAIN = Domain(
    "certify",
    "signs, rank, norm, equalities and their margins",
    520_000,
    {
        "congruent integers": congruent,
        "edge (0, 2^-60)": edge,
        "graded": graded,
        "small integers": small_integers,
        "floats": floats,
        "one ulp": one_ulp,
        "low rank": low_rank,
        "near equality": near_identity,
        "balls": balls,
    },
)
