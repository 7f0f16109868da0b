"""``certify``: who leads the spectrum, gaps, discs and eigenvectors, against eigenvalues known by construction.

``M = T J T^-1`` with an integer T of determinant +-1 and a block diagonal J: real eigenvalues, pairs ``[[a, -b], [b, a]]`` and
Jordan blocks, all rational, so every comparison of real parts, squared moduli and squared ``|1 + alpha lambda|`` is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from eigentoken.numerics.certified.certify import certify

from . import exact
from .exact import Rows
from .judging import Case, Domain, judge

ORDERS = ("real-part", "modulus", "step")


@dataclass(frozen=True)
class Block:
    """One block of J: the eigenvalue ``re + i im`` (im >= 0; a pair if im > 0), ``size`` times in a Jordan block."""

    re: Fraction
    im: Fraction = Fraction(0)
    size: int = 1

    @property
    def width(self) -> int:
        return self.size * (2 if self.im else 1)


@dataclass(frozen=True)
class Known:
    """A matrix with its spectrum; ``t`` and ``s`` are the similarity and its inverse where they are known."""

    rows: Rows
    blocks: tuple[Block, ...]
    t: Rows | None = None
    s: Rows | None = None

    def multiplicities(self) -> dict[tuple[Fraction, Fraction], int]:
        found: dict[tuple[Fraction, Fraction], int] = {}
        for block in self.blocks:
            found[block.re, block.im] = found.get((block.re, block.im), 0) + block.size
        return found

    def score(self, order: str, alpha: Fraction, re: Fraction, im: Fraction) -> Fraction:
        if order == "real-part":
            return re
        return re * re + im * im if order == "modulus" else (1 + alpha * re) ** 2 + (alpha * im) ** 2

    def leaders(self, order: str, alpha: Fraction) -> list[tuple[Fraction, Fraction, int]]:
        found = self.multiplicities()
        best = max(self.score(order, alpha, re, im) for re, im in found)
        return [(re, im, m) for (re, im), m in found.items() if self.score(order, alpha, re, im) == best]


def similar(rng: Any, blocks: list[Block], steps: int | None = None) -> Known:
    n = sum(block.width for block in blocks)
    j = [[Fraction(0)] * n for _ in range(n)]
    at = 0
    for block in blocks:
        step = 2 if block.im else 1
        for k in range(block.size):
            p = at + k * step
            for r in range(step):
                j[p + r][p + r] = block.re
                if k + 1 < block.size:
                    j[p + r][p + step + r] = Fraction(1)
            if block.im:
                j[p][p + 1], j[p + 1][p] = -block.im, block.im
        at += block.width
    t, s = exact.unimodular(rng, n, steps=n if steps is None else steps)
    return Known(exact.times(exact.times(t, j), s), tuple(blocks), t, s)


def ask(rng: Any, known: Known, alpha: Fraction) -> Iterator[Case]:
    matrix = exact.given(rng, known.rows)
    text = [[str(entry) for entry in row] for row in known.rows]
    for order in ORDERS:
        leaders = known.leaders(order, alpha)
        re, im, multiplicity = leaders[0]
        simple = len(leaders) == 1 and multiplicity == 1
        condition = f"dominant-{order}"
        options = {"alpha": alpha} if order == "step" else {}
        verdict = certify(condition, matrix, **options)
        yield judge(
            verdict,
            simple and im == 0,
            f"{condition} (alpha {alpha}) of {text}",
            lambda v, order=order, re=re: _leader(v, re) or (_flipped(known, v) if order == "real-part" else ""),
        )
        verdict = certify("dominant-complex-pair", matrix, by=order, **options)
        yield judge(verdict, simple and im > 0, f"dominant-complex-pair by {order} (alpha {alpha}) of {text}")
    yield from _gap_and_vector(known, matrix, text)
    yield _discs(known, certify("spectrum", matrix), text)


def _leader(verdict: Any, re: Fraction) -> str:
    """The real leader lies in the disc that is shown."""
    shown = verdict.details.get("eigenvalue")
    if not verdict.is_holds or not shown or "radius" not in shown:
        return ""
    right = (Fraction(shown["re"]) - re) ** 2 + Fraction(shown["im"]) ** 2 <= Fraction(shown["radius"]) ** 2
    return "" if right else f"the leader {re} is not in the disc {shown}"


def _flipped(known: Known, verdict: Any) -> str:
    """A change within the margin that gives the other word: eigenvalues moved in their own basis."""
    if verdict.margin == float("inf"):
        return (
            "" if len(known.rows) == 1 and verdict.is_holds else "the margin is infinite"
        )  # one eigenvalue leads always
    m = Fraction(verdict.margin or 0)
    if not m or known.t is None or known.s is None:
        return ""
    order = sorted(known.multiplicities().items(), key=lambda item: item[0][0], reverse=True)
    if verdict.is_holds and len(order) > 1 and all(block.size == 1 for block in known.blocks):
        (top, _), (second, _) = order[0][0], order[1][0]
        moves = {order[0][0]: (second - top) / 2, order[1][0]: (top - second) / 2}
    else:
        real = [block for block in known.blocks if not block.im and block.size == 1]
        alone = [block for block in real if known.multiplicities()[block.re, block.im] == 1]
        if verdict.is_holds or not alone:
            return ""
        moves = {(alone[0].re, alone[0].im): order[0][0][0] - alone[0].re + m / 1000}
    n = len(known.rows)
    change = [[Fraction(0)] * n for _ in range(n)]
    at = 0
    for block in known.blocks:
        for k in range(block.width):
            change[at + k][at + k] = moves.get((block.re, block.im), Fraction(0))
        at += block.width
    moved = exact.times(exact.times(known.t, change), known.s)
    small = exact.frobenius_squared(moved) <= m * m
    return f"the margin {verdict.margin!r} is too large: a smaller change gives the other word" if small else ""


def _gap_and_vector(known: Known, matrix: Any, text: Any) -> Iterator[Case]:
    leaders = known.leaders("real-part", Fraction(0))
    re, im, multiplicity = leaders[0]
    truth = len(leaders) == 1 and multiplicity == 1 and im == 0
    others = [other for other, i in known.multiplicities() if (other, i) != (re, im)]

    def gap(v: Any) -> str:
        shown = v.details.get("gap")
        if not v.is_holds or not shown or not others:
            return ""
        true = re - max(others)
        return "" if Fraction(shown[0]) <= true <= Fraction(shown[1]) else f"the gap {true} is not in {shown}"

    yield judge(certify("spectral-gap", matrix), truth, f"spectral-gap of {text}", gap)

    def angle(v: Any) -> str:
        shown, sine = v.details.get("vector"), v.details.get("sine_of_angle")
        if not v.is_holds or shown is None or sine is None or known.t is None:
            return ""
        at = 0
        for block in known.blocks:
            if (block.re, block.im) == (re, im):
                break
            at += block.width
        x, w = [row[at] for row in known.t], [Fraction(entry) for entry in shown]
        inner = sum((a * b for a, b in zip(x, w, strict=True)), Fraction(0))
        lengths = sum(a * a for a in x) * sum(b * b for b in w)
        right = lengths - inner * inner <= Fraction(sine) ** 2 * lengths
        return "" if right else f"the eigenvector is farther than sine {sine!r} from {shown}"

    yield judge(certify("principal-eigenvector", matrix), truth, f"principal-eigenvector of {text}", angle)


def _discs(known: Known, verdict: Any, text: Any) -> Case:
    """Every eigenvalue lies in a disc, and each connected part of k discs holds k of them."""
    word = str(verdict.answer)
    shown = verdict.details.get("discs")
    if word != "holds" or not shown or any("radius" not in disc for disc in shown):
        return Case(word)
    discs = [(Fraction(disc["re"]), Fraction(disc["im"]), Fraction(disc["radius"])) for disc in shown]
    parts = list(range(len(discs)))
    for i, (a, b, r) in enumerate(discs):
        for j, (c, d, q) in enumerate(discs[:i]):
            if (a - c) ** 2 + (b - d) ** 2 <= (r + q) ** 2 and parts[i] != parts[j]:
                parts = [parts[j] if part == parts[i] else part for part in parts]
    held = dict.fromkeys(parts, 0)
    for (re, im), multiplicity in known.multiplicities().items():
        for sign in (1, -1) if im else (1,):
            within = [k for k, (a, b, r) in enumerate(discs) if (re - a) ** 2 + (sign * im - b) ** 2 <= r * r]
            if not within:
                return Case(word, f"spectrum of {text}: {re} + {sign * im} i is in no disc of {shown}")
            held[parts[within[0]]] += multiplicity
    right = all(count == parts.count(part) for part, count in held.items())
    return Case(word, "" if right else f"spectrum of {text}: the parts of {shown} hold {held}")


def _near(rng: Any) -> Fraction:
    """0, or +-2^-k with k to 60."""
    return Fraction(int(rng.integers(-1, 2)), 2 ** int(rng.choice([1, 4, 10, 20, 30, 40, 50, 52, 53, 54, 60])))


def _alpha(rng: Any) -> Fraction:
    return Fraction(int(rng.integers(1, 9)), int(rng.integers(1, 9)))


def _rest(rng: Any, below: int) -> list[Block]:
    """A few blocks with real parts below a bound."""
    found = []
    for _ in range(int(rng.integers(0, 3))):
        re = Fraction(int(rng.integers(below - 4, below)))
        im = Fraction(int(rng.integers(1, 4))) if rng.random() < 0.4 else Fraction(0)
        found.append(Block(re, im, 2 if rng.random() < 0.2 else 1))
    return found


def _shuffled(rng: Any, blocks: list[Block]) -> list[Block]:
    return [blocks[i] for i in rng.permutation(len(blocks))]


def integers(rng: Any) -> Iterator[Case]:
    """Small integer eigenvalues: ties of real parts, moduli and steps are common."""
    blocks = []
    for _ in range(int(rng.integers(1, 5))):
        im = Fraction(int(rng.integers(1, 5))) if rng.random() < 0.35 else Fraction(0)
        blocks.append(Block(Fraction(int(rng.integers(-4, 5))), im, 2 if rng.random() < 0.15 else 1))
    yield from ask(rng, similar(rng, blocks), _alpha(rng))


def real_part_ties(rng: Any) -> Iterator[Case]:
    """Two leaders whose real parts differ by 2^-k or not at all: real and real, real and pair, pair and pair, a Jordan block."""
    top = Fraction(int(rng.integers(1, 4)))
    first = Block(top, Fraction(int(rng.integers(0, 3))))
    second = Block(top - abs(_near(rng)), Fraction(int(rng.integers(0, 3))), 2 if rng.random() < 0.2 else 1)
    yield from ask(rng, similar(rng, _shuffled(rng, [first, second, *_rest(rng, int(top))]), steps=3), _alpha(rng))


def modulus_ties(rng: Any) -> Iterator[Case]:
    """5 against -5, 3 + 4i and 4 + 3i, moved by 2^-k or not at all."""
    five = [Block(Fraction(5)), Block(Fraction(-5)), Block(Fraction(3), Fraction(4)), Block(Fraction(-4), Fraction(3))]
    chosen = [five[i] for i in rng.permutation(4)[: int(rng.integers(1, 4))]]
    moved = Block(chosen[0].re + _near(rng), chosen[0].im)
    yield from ask(rng, similar(rng, _shuffled(rng, [moved, *chosen[1:], *_rest(rng, 2)]), steps=3), _alpha(rng))


def step_ties(rng: Any) -> Iterator[Case]:
    """``|1 + alpha lambda|`` equal for two eigenvalues, ``lambda' = -2 / alpha - lambda``, or off by 2^-k."""
    alpha = Fraction(1, int(rng.integers(1, 5)))
    top = Fraction(int(rng.integers(-2, 4)))
    im = Fraction(int(rng.integers(1, 3))) if rng.random() < 0.3 else Fraction(0)
    blocks = [Block(top, im), Block(-2 / alpha - top + _near(rng), im if rng.random() < 0.5 else Fraction(0))]
    yield from ask(rng, similar(rng, _shuffled(rng, [*blocks, *_rest(rng, int(top))]), steps=3), alpha)


def triangular(rng: Any) -> Iterator[Case]:
    """Triangular with large entries above the diagonal: far from normal, the spectrum is the diagonal."""
    n = int(rng.integers(2, 6))
    diagonal = [Fraction(int(x)) for x in rng.integers(-3, 4, n)]
    diagonal[0] += _near(rng)
    size = 10 ** int(rng.integers(0, 5))
    rows = [
        [diagonal[i] if i == j else Fraction(int(rng.integers(-size, size + 1)) if j > i else 0) for j in range(n)]
        for i in range(n)
    ]
    yield from ask(rng, Known(rows, tuple(Block(x) for x in diagonal)), _alpha(rng))


def scaled(rng: Any) -> Iterator[Case]:
    """The same at sizes from 2^-300 to 2^300."""
    factor = Fraction(2) ** int(rng.integers(-300, 301))
    blocks = [
        Block(Fraction(int(rng.integers(-4, 5))), Fraction(int(rng.integers(0, 2))))
        for _ in range(int(rng.integers(1, 4)))
    ]
    known = similar(rng, [Block(b.re * factor, b.im * factor) for b in blocks])
    yield from ask(rng, known, _alpha(rng) / factor)


def symmetric(rng: Any) -> Iterator[Case]:
    """``Q D Q^T`` with a rational reflection Q, entries ``p/q``; eigenvalues may meet."""
    n = int(rng.integers(2, 5))
    v = [Fraction(int(x)) for x in rng.integers(-3, 4, n)]
    if not any(v):
        v[0] = Fraction(1)
    length = sum(x * x for x in v)
    q = exact.plus(exact.identity(n), [[2 * a * b / length for b in v] for a in v], -1)
    values = [Fraction(int(x)) for x in rng.integers(-3, 4, n)]
    values[0] += _near(rng)
    d = [[values[i] if i == j else Fraction(0) for j in range(n)] for i in range(n)]
    known = Known(exact.times(exact.times(q, d), q), tuple(Block(x) for x in values), q, q)
    yield from ask(rng, known, _alpha(rng))


DOMAIN = Domain(
    "spectra",
    "leaders, pairs, gaps, discs, eigenvectors",
    360_000,
    {
        "integer similarities": integers,
        "real-part ties (2^-60)": real_part_ties,
        "modulus ties (2^-60)": modulus_ties,
        "step ties (2^-60)": step_ties,
        "triangular": triangular,
        "scaled to 2^300": scaled,
        "rational reflections": symmetric,
    },
)
