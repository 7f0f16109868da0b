"""Explicit points: certified multipliers, images and Jacobians of an exact instance, for vectors and counterexamples.

Everything is computed in balls (FLINT) of the stated precision from the exact instance, through the one definition of each
system; ``exactly`` tells whether closed forms agree, by exact arithmetic.  Verdicts about classes and stability come from
:func:`eigentoken.theory.classification.classify.classify`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from eigentoken.files.documents import Json
from eigentoken.theory.language.verdicts import Verdict, all_of, fails, holds, undecided

if TYPE_CHECKING:
    import sympy as sp

    from eigentoken.theory.language.observables import Observable

__all__ = [
    "DIGITS",
    "agree",
    "decimals",
    "image",
    "instance",
    "multipliers",
    "observed",
    "point_is",
    "stable_point",
    "state_jacobian",
]

#: Digits that are computed, beyond those printed.
DIGITS = 60
BITS = int(DIGITS * 3.33)


def instance(system: str, tokens: Json, **parameters: Json) -> dict[str, Json]:
    """The JSON document of an instance: exact numbers as texts."""
    return {"system": system, **parameters, "tokens": tokens}


def decimals(*texts: str, digits: int = 20) -> tuple[str, ...]:
    """Rational numbers, as the sheet prints them, in decimal digits; ``"6/7 * 3"`` stands for three of them.

    >>> decimals("1/4", "0.7 * 2", digits=3)
    ('0.250', '0.7', '0.7')
    """
    listed: list[str] = []
    for text in texts:
        number, _, times = text.partition("*")
        number = number.strip()
        if "/" in number:
            value = Fraction(number)
            scaled = round(value * 10**digits)
            sign = "-" if scaled < 0 else ""
            body = str(abs(scaled)).rjust(digits + 1, "0")
            number = f"{sign}{body[:-digits]}.{body[-digits:]}"
        listed += [number] * int(times or 1)
    return tuple(listed)


@contextmanager
def _working(bits: int = BITS) -> Iterator[None]:
    """Balls of that precision inside the block."""
    from flint import ctx

    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def _setting(document: dict[str, Any]) -> Any:
    from eigentoken.theory.classification.instances import read_instance
    from eigentoken.theory.classification.jacobians import ball_setting

    return ball_setting(read_instance(document), BITS)


def multipliers(document: dict[str, Json], sign: int = 1) -> list[sp.Expr]:
    """The eigenvalues of the intrinsic Jacobian as balls, in ascending order of the real part; ``sign`` -1 for 2-cycles."""
    from flint import acb_mat

    from eigentoken.theory.classification.jacobian_spectrum import symmetric_blocks
    from eigentoken.theory.classification.jacobians import intrinsic_jacobian, jacobian, tangent_pivots

    groups: dict[str, list[int]] = {}
    for place, token in enumerate(document["tokens"]):
        groups.setdefault(str(token), []).append(place)
    with _working():
        setting = _setting(document)
        pivots = tangent_pivots(setting)
        matrix = intrinsic_jacobian(setting, jacobian(setting), pivots, pivots)
        found: list[Any] = []
        for block, count in symmetric_blocks(matrix, list(groups.values()), len(document["tokens"][0]) - 1):
            found += acb_mat([[sign * entry for entry in row] for row in block]).eig(multiple=True) * count
    ordered = sorted(found, key=lambda each: (float(each.real.mid()), float(each.imag.mid())))
    return [each.real if each.imag.contains(0) else each for each in ordered]


def image(document: dict[str, Json]) -> list[sp.Expr]:
    """The next state of a map (or the velocity of a flow), coordinates in order, as balls."""
    with _working():
        return [entry for token in _setting(document).advance() for entry in token]


def state_jacobian(document: dict[str, Json]) -> list[sp.Expr]:
    """The extrinsic Jacobian of the homogeneous extension, row by row, as balls."""
    from eigentoken.theory.classification.jacobians import jacobian

    with _working():
        return [entry for row in jacobian(_setting(document)) for entry in row]


def observed(observable: Observable, document: dict[str, Json], *, steps: int = 0) -> sp.Expr:
    """The value of an observable at the state, or after some steps of the map, as a ball."""
    with _working():
        setting = _setting(document)
        tokens = setting.tokens
        for _ in range(steps):
            tokens = setting.advance(tokens)
        return observable(setting.algebra(), setting.instance.system, setting.parameters, tokens, setting.instance.mask)


def agree(found: Sequence[sp.Expr], wanted: Sequence[sp.Expr]) -> Verdict:
    """Balls against exact rational numbers: each ball contains its number and is narrower than 10^-30."""
    from flint import arb, fmpq

    if len(found) != len(wanted):
        return fails(f"{len(found)} numbers were computed, {len(wanted)} are claimed")
    with _working(2 * BITS):
        for ball, number in zip(found, wanted, strict=True):
            exact = Fraction(str(number))
            if not hasattr(ball, "rad") or not (ball.rad() < arb("1e-30")):
                return undecided(f"a ball is too wide: {ball}")
            if not ball.overlaps(arb(fmpq(exact.numerator, exact.denominator))):
                return fails(f"{ball.str(15)} is not {number}")
    return holds(f"{len(wanted)} numbers agree to 30 digits: {', '.join(map(str, wanted))}")


def point_is(document: dict[str, Json], kind: str, *, stable: str | None = None, also: str | None = None) -> Verdict:
    """The class of the point and what the linearization says, by exact classification."""
    from eigentoken.theory.classification.classify import classify
    from eigentoken.theory.classification.instances import read_instance

    found = classify(read_instance(document))
    if found.kind != kind and kind not in found.also:
        return fails(f"the point is {found.kind}, not {kind}")
    if also is not None and also not in (found.kind, *found.also):
        return fails(f"the point is {found.kind}, not also {also}")
    if stable is not None and found.linearization != stable:
        return fails(f"the linearization at the point is {found.linearization}, not {stable}")
    values = ", ".join(
        f"{each.value.real:.6g}" + (f" ({each.multiplicity})" if each.multiplicity > 1 else "")
        for each in found.spectrum
    )
    return holds(f"{kind}, linearly {found.linearization}; multipliers {values}")


def stable_point(document: dict[str, Json], kind: str) -> Verdict:
    """The point is an equilibrium of that class and linearly asymptotically stable."""
    return all_of({"class and spectrum": point_is(document, kind, stable="stable")})
