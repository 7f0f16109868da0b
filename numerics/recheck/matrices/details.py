"""Numbers that ``certify`` shows beside its certificate, confirmed or shown false for every matrix within the slack s of T.

An interval ``[low, high]`` of the smallest eigenvalue of sym(M) is true if no eigenvalue of sym(T) is below ``low + s``, one
is at most ``high - s``; those of the largest eigenvalue, of a norm and of a distance are mirror images (a norm is the root of the
largest eigenvalue of ``M^T M``).  Up to n = 24 that is decided by exact elimination, above by the float verifier, which gives
way by :data:`ROUND` times the Frobenius norm.  An end of an interval may be loose by :data:`LOOSE` times the Frobenius norm
of M and no more; a bound without another end (null) may be weaker only where it repeats the margin.
The leading eigenvalue: the disc shown must meet the disc found here of one that may lead, and be no wider than the slack.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

import flint
import numpy as np

from eigentoken.numerics.recheck.documents.reading import Exact, fraction_of, unconfirmed
from eigentoken.numerics.recheck.matrices.covering import ROOT_BITS, exact_roots
from eigentoken.numerics.recheck.matrices.leaders import places
from eigentoken.numerics.recheck.matrices.locating import BallPlaces, FloatPlaces, arb_of
from eigentoken.numerics.recheck.matrices.rational import LateError
from eigentoken.numerics.recheck.matrices.signs import certain_counts, direction_below

__all__ = ["LOOSE", "ROUND", "extreme_differs", "leader_differs", "norm_differs"]

LOOSE = Fraction(1, 10**5)
ROUND = Fraction(1, 10**9)
WIDER = 64
EXACT_SIZE = 24
FLOOR = Fraction(1, 2**480)


def scale_of(matrix: Exact) -> Fraction:
    """The Frobenius norm, rounded up a little."""
    values, exponent, distance = matrix.rounded
    return Fraction(float(np.linalg.norm(values)) * (1 + 2.0**-20) + distance) * Fraction(2) ** exponent


class Extremes:
    """The largest eigenvalue of a symmetric matrix against numbers: certainly above, certainly not."""

    def __init__(self, matrix: Exact, scale: Fraction, until: float) -> None:
        self.matrix, self.until = matrix, until
        self.exact = matrix.shape[0] <= EXACT_SIZE
        self.give = Fraction(0) if self.exact else ROUND * scale

    @cached_property
    def _vector(self) -> Any:
        values = self.matrix.rounded[0]
        return np.ascontiguousarray(np.linalg.eigh(0.5 * (values + values.T))[1][:, -1])

    def some_above(self, at: Fraction) -> bool:
        """One eigenvalue is certainly above."""
        if self.exact:
            return certain_counts(self.matrix, at, self.until)[0] >= 1
        return direction_below(self.matrix, self._vector, -at, flip=True)

    def all_below(self, at: Fraction) -> bool:
        """Every eigenvalue is certainly below."""
        return certain_counts(self.matrix, at, self.until, EXACT_SIZE)[1] == self.matrix.shape[0]


class Norms:
    """The same for a norm, the root of the largest eigenvalue of ``M^T M``."""

    def __init__(self, matrix: Exact, gram: Exact, scale: Fraction, until: float) -> None:
        self.matrix, self.gram, self.until = matrix, _near_gram(matrix, gram), until
        self.exact = gram.shape[0] <= EXACT_SIZE
        self.give = Fraction(0) if self.exact else ROUND * scale

    @cached_property
    def _vector(self) -> Any:
        return np.ascontiguousarray(np.linalg.svd(self.matrix.rounded[0])[2][0])

    def some_above(self, at: Fraction) -> bool:
        if at < 0:
            return True
        if self.exact:
            return certain_counts(self.gram, at * at, self.until)[0] >= 1
        return stretches(self.matrix, self._vector, at)

    def all_below(self, at: Fraction) -> bool:
        return at > 0 and certain_counts(self.gram, at * at, self.until, EXACT_SIZE)[1] == self.gram.shape[0]


def _near_gram(matrix: Exact, gram: Exact) -> Exact:
    """A large Gram matrix in floats with a bound on its error, so that it need not be formed exactly.

    With ``M = 2^e (A + D)``, ``||D|| <= r``: the product of floats errs by at most ``n u ||A||^2`` (any order of summation), and
    D by ``2 r ||A|| + r^2``.
    """
    values, e, r = matrix.rounded
    if gram.shape[0] <= EXACT_SIZE or abs(e) > 200:
        return gram
    tall = values if values.shape[1] <= values.shape[0] else values.T
    size = float(np.linalg.norm(values)) * (1 + 2.0**-30)
    error = (max(values.shape) + 8) * 2.0**-52 * size * size + 2 * r * size + r * r
    near = (np.ldexp(tall.T @ tall, 2 * e), float(np.ldexp(error, 2 * e)))
    return Exact(gram.build, None, "", gram.shape, near)


def stretches(matrix: Exact, vector: Any, at: Fraction) -> bool:
    """Is ``|M x| > at |x|``, in exact arithmetic?"""
    pairs = [float(v).as_integer_ratio() for v in vector]
    q = max(d for _, d in pairs)
    x = flint.fmpz_mat(len(pairs), 1, [p * (q // d) for p, d in pairs])
    y = matrix.numerators * x
    long, short = (y.transpose() * y)[0, 0], (x.transpose() * x)[0, 0]
    unit = int(matrix.denominator) * at
    return bool(short > 0 and Fraction(int(long)) > unit * unit * int(short))


def end_differs(
    found: Extremes | Norms, ends: Any, slack: Fraction, loose: Fraction, *, promised: bool = False
) -> str | None:
    """An interval of the largest eigenvalue, or of the norm, of every matrix within the slack; a null end states nothing.

    ``promised``: the one end that there is repeats the margin, which may be weak.
    """
    low, high = (None if end is None else Fraction(end) for end in ends)
    if low is not None and high is not None and low > high:
        return "the ends of the interval are the wrong way round"
    give, two_sided = found.give + _tiny(loose), (low is not None and high is not None) or not promised
    if low is not None:
        nothing = isinstance(found, Norms) and low == 0  # no norm is below zero
        if not nothing and found.all_below(low + slack):
            return "the number is below the interval shown"
        if not nothing and not found.some_above(low + slack - give):
            return unconfirmed("the low end of an interval")
        if two_sided and found.some_above(low + slack + loose):
            return "the low end of the interval is looser than the slack"
    if high is not None:
        if found.some_above(high - slack):
            return "the number is above the interval shown"
        if not found.all_below(high - slack + give):
            return unconfirmed("the high end of an interval")
        if two_sided and found.all_below(high - slack - loose):
            return "the high end of the interval is looser than the slack"
    return None


def _tiny(scale: Fraction) -> Fraction:
    """A strict comparison stands for a weak one where it gives way by this much."""
    return scale / 2**80 + Fraction(1, 2**1200)


def extreme_differs(
    matrix: Exact, stated: Any, slack: Fraction, until: float, *, largest: bool, size: Fraction, margin: Fraction
) -> str | None:
    """The interval of the smallest or largest eigenvalue of a symmetric matrix; ``size``: the Frobenius norm of M."""
    loose = LOOSE * (size + slack) + FLOOR
    low, high = (None if end is None else Fraction(end) for end in stated)
    ends = [end for end in (low, None if high is None else -high) if end is not None]
    promised = len(ends) == 1 and margin <= ends[0] <= margin * (1 + Fraction(1, 2**18))
    if largest:
        return end_differs(Extremes(matrix, size, until), (low, high), slack, loose, promised=promised)
    floats = None if matrix.floats is None else -matrix.floats
    flipped = Exact(lambda: (-matrix.numerators, matrix.denominator), floats, "", matrix.shape)
    turned = (None if high is None else -high, None if low is None else -low)
    return end_differs(Extremes(flipped, size, until), turned, slack, loose, promised=promised)


def norm_differs(part: Exact, square: Exact, size: Fraction, stated: Any, slack: Fraction, until: float) -> str | None:
    """The interval of the norm of a part of M, from its Gram matrix."""
    size = size + scale_of(part)
    return end_differs(Norms(part, square, size, until), stated, slack, LOOSE * (size + slack) + FLOOR)


# -- the leading eigenvalue -------------------------------------------------------------------------------------------


def leader_differs(
    matrix: Exact, facts: Mapping[str, Any], stated: Mapping[str, Any], slack: Fraction, until: float
) -> str | None:
    """The disc of a leading eigenvalue, by the order of the facts: it holds the one found here (up to n = 24), or meets it."""
    if None in (stated["re"], stated["im"], stated["radius"]):
        return unconfirmed("an eigenvalue beyond the range of floats")
    re, im = Fraction(stated["re"]), Fraction(stated["im"])
    scale, small, coarse = scale_of(matrix), slack == 0 and matrix.shape[0] <= EXACT_SIZE, "discs of the eigenvalues"
    old = flint.ctx.prec
    try:
        for found in _discs(matrix, slack, until):
            flint.ctx.prec = 512
            if not all(r < arb_of(LOOSE * scale + 10**6 * slack) for _, r in found):
                continue
            point = flint.acb(arb_of(re), arb_of(im))
            shown = arb_of(Fraction(stated["radius"]))
            leading = _may_lead(found, facts)
            met = [(c, r) for c, r in leading if not abs(c - point) > shown + r]
            if not met:
                return "the eigenvalue shown is not the leading one"
            if small and not any(abs(c - point) + r <= shown for c, r in met):
                coarse = "the disc of the eigenvalue, which is met and not seen to hold it"
                continue
            widest = max(float(r.upper()) for _, r in met)
            if float(shown.upper()) > WIDER * widest + float(LOOSE * scale) + 2.0**-1000:
                return "the disc of the eigenvalue is wider than the slack"
            return None
    except LateError as late:
        return unconfirmed(str(late))
    finally:
        flint.ctx.prec = old
    return unconfirmed(coarse)


def _discs(matrix: Exact, slack: Fraction, until: float) -> Iterator[list[tuple[Any, Any]]]:
    for _, found in places(matrix, slack, until):
        if isinstance(found, BallPlaces):
            yield list(zip(found.discs.centers, found.discs.radii, strict=True))
        elif isinstance(found, FloatPlaces):
            unit = flint.arb(2) ** found.exponent
            columns = zip(found.discs.re.tolist(), found.discs.im.tolist(), found.discs.radii.tolist(), strict=True)
            yield [(flint.acb(x, y) * unit, flint.arb(r) * unit) for x, y, r in columns]
    if slack == 0 and matrix.shape[0] <= EXACT_SIZE:
        old, flint.ctx.prec = flint.ctx.prec, ROOT_BITS
        try:
            roots = list(exact_roots(matrix, until))
        finally:
            flint.ctx.prec = old
        yield roots


def _may_lead(found: list[tuple[Any, Any]], facts: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Discs that no other disc is certainly ahead of."""
    by = facts["by"]
    step = arb_of(fraction_of(facts["alpha"])) if by == "step" else None
    scores = []
    for center, radius in found:
        if by == "real-part":
            scores.append((center.real, radius))
        elif step is None:
            scores.append((abs(center), radius))
        else:
            scores.append((abs(1 + step * center), abs(step) * radius))
    best = scores[0][0] - scores[0][1]
    for middle, spread in scores[1:]:
        best = best.max(middle - spread)
    return [disc for disc, (middle, spread) in zip(found, scores, strict=True) if not middle + spread < best]
