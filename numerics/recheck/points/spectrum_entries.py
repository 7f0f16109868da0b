"""The entries of a displayed spectrum against the eigenvalues found here: closed forms, floats, enclosures, multiplicities."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import flint

from eigentoken.numerics.recheck.documents.reading import UNCONFIRMED, RecheckError
from eigentoken.numerics.recheck.documents.shown import Shown
from eigentoken.numerics.recheck.points.clusters import Cluster, square_root
from eigentoken.numerics.recheck.points.number_texts import complex_ball, printed_ball

__all__ = ["FLOAT_SLACK", "WIDEST", "compare_spectrum", "float_differs", "form_differs"]

arb, acb = flint.arb, flint.acb
FLOAT_SLACK = 2.0**-48
WIDEST = 1e-12
DIGITS_NEAR = 1e-11
_ROOT = re.compile(r"RootOf\((.+), near (\S+)\)")


def compare_spectrum(
    shown: Shown,
    stated: Sequence[Mapping[str, Any]],
    found: Sequence[Cluster],
    cycle: bool,
    order: int,
    *,
    enclosed: bool,
) -> None:
    """Each entry belongs to one eigenvalue found here, each eigenvalue has its entry, with its multiplicity."""
    values = [Cluster(acb(square_root(abs(each.ball))), each.count) for each in found] if cycle else list(found)
    values = _merged(values)
    homes: list[int | None] = []
    for number, entry in enumerate(stated):
        path = ("spectrum", number)
        home = _home(entry, values)
        homes.append(home)
        if home is None:
            shown.cover(path)
            shown.fails(path, f"{entry['float']!r} is stated, which is none of the eigenvalues")
            continue
        value = values[home].ball
        shown.judge((*path, "exact"), form_differs(entry["exact"], value), UNCONFIRMED)
        shown.judge((*path, "float"), float_differs(entry["float"], value), UNCONFIRMED)
        shown.judge((*path, "enclosure"), _enclosure_differs(entry["enclosure"], value, enclosed), UNCONFIRMED)
        shown.cover((*path, "multiplicity"))
    for number, value in enumerate(values):
        own = [index for index, home in enumerate(homes) if home == number]
        total = sum(stated[index]["multiplicity"] for index in own)
        if total != value.count:
            shown.fails(
                ("spectrum",), f"{value.ball.str(12)} is an eigenvalue {value.count} times, stated {total} times"
            )
        elif len(own) > 1 and not cycle:
            shown.fails(("spectrum",), f"{value.ball.str(12)} is listed {len(own)} times")
    if not stated:
        shown.same(("spectrum",), [] if not order else None)
    floats = [_parts(entry["float"]) for entry in stated]
    if any(_before(b, a) for a, b in pairwise(floats)):
        shown.fails(("spectrum",), "the entries are not in ascending order")


def _merged(values: Sequence[Cluster]) -> list[Cluster]:
    """Balls that meet are one eigenvalue as far as it is seen (moduli of a pair, above all)."""
    kept: list[Cluster] = []
    for value in values:
        for place, other in enumerate(kept):
            if other.ball.overlaps(value.ball):
                kept[place] = Cluster(other.ball.union(value.ball), other.count + value.count)
                break
        else:
            kept.append(value)
    return kept


def _parts(value: Any) -> tuple[float, float]:
    return (float(value[0]), float(value[1])) if isinstance(value, list) else (float(value), 0.0)


def _before(a: tuple[float, float], b: tuple[float, float]) -> bool:
    """Strictly before in the order of real, then imaginary parts, beyond the slack of floats."""
    slack = FLOAT_SLACK * (1 + abs(complex(*a)) + abs(complex(*b)))
    return a[0] < b[0] - slack or (abs(a[0] - b[0]) <= slack and a[1] < b[1] - slack)


def _home(entry: Mapping[str, Any], values: Sequence[Cluster]) -> int | None:
    """The eigenvalue that the entry is about: near the stated float, and of those the one that its form and enclosure fit.

    Two eigenvalues may have one nearest float; where nothing fits, the nearest is compared, and found to differ.
    """
    re_, im = _parts(entry["float"])
    point = acb(re_, im)
    distances = [abs(value.ball - point) for value in values]
    near = [k for k in range(len(values)) if distances[k] < (1 + abs(point)) * arb(1e-6)]
    fitting = near
    if len(near) > 1:
        fitting = [k for k in near if not form_differs(entry["exact"], values[k].ball)]
        fitting = [k for k in fitting if not _enclosure_differs(entry["enclosure"], values[k].ball, False)]
    return min(fitting or near, key=lambda k: float(distances[k].mid()), default=None)


def form_differs(text: Any, value: Any) -> str | None:
    """A closed form, or a root of a polynomial near a number; None stands for no form."""
    if text is None:
        return None
    value = acb(value)
    root = _ROOT.fullmatch(str(text))
    try:
        if root is not None:
            if not complex_ball(root.group(1), {"z": value}).contains(0):
                return f"the eigenvalue {value.str(12)} is no root of {root.group(1)[:60]}"
            near = complex(root.group(2).strip("()"))
            far = abs(value - acb(near)) > (abs(value) + arb(1e-30)) * arb(DIGITS_NEAR)
            return f"the root {value.str(14)} is not near {root.group(2)}" if far else None
        written = complex_ball(text)
    except (RecheckError, ValueError):
        return f"the closed form {str(text)[:60]!r} cannot be read"
    return None if written.overlaps(value) else f"{str(text)[:60]} is stated, {value.str(14)} is found"


def float_differs(stated: Any, value: Any) -> str | None:
    """The nearest float, a pair where it is complex."""
    value = acb(value)
    re_, im = _parts(stated)
    slack = abs(value) * arb(FLOAT_SLACK) + abs(value - acb(value.mid())) + arb(2) ** -300
    if abs(acb(re_, im) - value) > slack * 2:
        return f"{stated!r} is stated, {value.str(17)} is found"
    if not isinstance(stated, list) and not value.imag.contains(0):
        return f"{stated!r} is stated of an eigenvalue that is not real"
    return None


def _enclosure_differs(text: str, value: Any, enclosed: bool) -> str | None:
    if text == "":
        return "an eigenvalue is shown without its enclosure" if enclosed else None
    stated = printed_ball(text)
    if not stated.overlaps(acb(value)):
        return f"{text} is stated, {value.str(25)} is found"
    width = max(float(stated.real.rad().upper()), float(stated.imag.rad().upper()))
    if width > WIDEST * (1 + float(abs(acb(value)).upper())) + 2 * float(value.rad().upper()):
        return f"{text} is wider than the slack"
    return None
