"""The check on one screen: the model, the layers, which theorems apply, what is in the way, what was seen anyway."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import lru_cache
from typing import Any

from eigentoken.checking.report import Report, rotary_shares
from eigentoken.output import say, table

__all__ = ["by_kind", "definition_ids", "interval", "show"]


MOST_ROWS = 14


def interval(ends: Any, digits: int = 4) -> str:
    """A certified interval, as short as it can honestly be written: one number if both ends round to it, else outward.

    >>> interval((1.23449, 1.23451)), interval((17.5349, 17.7041)), interval((2.0, "inf"))
    ('[1.234, 1.235]', '[17.53, 17.71]', '[2, ∞]')
    """
    if ends is None:
        return "-"
    low, high = (float(end) for end in ends)
    if low == high or f"{low:.{digits}g}" == f"{high:.{digits}g}":
        return _shown(low, digits)
    below = Context(prec=digits, rounding=ROUND_FLOOR).plus(Decimal(low))
    above = Context(prec=digits, rounding=ROUND_CEILING).plus(Decimal(high))
    return f"[{_shown(float(below), digits)}, {_shown(float(above), digits)}]"


def _shown(value: float, digits: int) -> str:
    return f"{value:.{digits}g}".replace("inf", "∞")


@lru_cache(maxsize=1)
def definition_ids() -> frozenset[str]:
    """The statements of the book that claim nothing: they only say what a word means."""
    from eigentoken.theory.registry import statements
    from eigentoken.theory.statements import Kind

    return frozenset(each.id for each in statements() if each.kind is Kind.DEFINITION)


def by_kind(report: Report) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The statements that claim something, and the definitions."""
    known = definition_ids()
    return (
        [each for each in report.statements if each["id"] not in known],
        [each for each in report.statements if each["id"] in known],
    )


def show(report: Report) -> None:
    """Print the summary."""
    from eigentoken.theory.plain_text import plain_text

    model = report.document["model"]
    say(model["description"], "bold")
    rows: list[tuple[Any, ...]] = []
    for layer in report.layers:
        if layer["weights_of"] != layer["layer"]:
            continue
        shared = sum(other["weights_of"] == layer["layer"] for other in report.layers)
        name = str(layer["layer"]) + (f" (x{shared})" if shared > 1 else "")
        cases = "/".join(layer["cases"][key] for key in ("real-part", "modulus", "step"))
        numbers = (interval(layer["leading_eigenvalue"]), interval(layer["norm"]), interval(layer["alpha_star"], 3))
        distance = interval(layer["distance_to_symmetric"], 3)
        rows.append((name, cases, *numbers, distance, layer["regime"]["regime"]))
    columns = ("layer", "case", "Re λ₁", "|F|", "α*", "to sym.", "regime")
    if len(rows) > MOST_ROWS:  # one screen: the middle is in the other formats
        half = MOST_ROWS // 2
        left = (f"… {len(rows) - 2 * half} more", *("" for _ in columns[1:]))
        rows = [*rows[:half], left, *rows[-half:]]
    table("layers (case by real part / modulus / |1+λ|)", columns, rows)
    say("case 1: a real eigenvalue leads alone; 2: a complex pair; 3: neither", "dim")
    _statements(report, plain_text)
    _observed(report)


def _statements(report: Report, plain_text: Any) -> None:
    claims, definitions = by_kind(report)
    words = [each["applies"] for each in claims]
    say(
        f"statements whose conditions on weights hold in every layer: {words.count('holds')}; "
        f"fail in some layer: {words.count('fails')}; undecided: {words.count('undecided')}",
        "bold",
    )
    held = [each["id"] for each in claims if each["applies"] == "holds"]
    if held:
        say(f"  hold: {', '.join(held)}")
    count = len(report.layers)
    some = {each["id"]: each["layers"].count("holds") for each in claims if each["id"] not in held}
    partly = [f"{name} ({number} of {count})" for name, number in some.items() if number]
    if partly:
        say(f"  hold in some layers: {', '.join(partly)}")
    defined = [each["id"] for each in definitions if each["applies"] == "holds"]
    if defined:
        say(f"  definitions (no theorems) whose conditions hold: {', '.join(defined)}")
    _by_head(report)
    obstacles: dict[str, int] = {}
    for each in claims:
        for item in each["obstacles"]:
            obstacles[item["condition"]] = obstacles.get(item["condition"], 0) + 1
    most = sorted(obstacles.items(), key=lambda pair: -pair[1])[:6]
    if most:
        rows = [(plain_text(text), count) for text, count in most]
        table("what is most often in the way", ("condition", "statements"), rows, wrap=("condition",))


def _by_head(report: Report) -> None:
    """One line on the statements about one head, and one on the heads' regimes."""
    counted = {each["id"]: each["heads"] for each in by_kind(report)[0] if each["heads"]}
    heads = [head for layer in report.layers if layer["layer"] == layer["weights_of"] for head in layer["heads"]]
    if not heads:
        return
    held = [f"{name} ({words['holds']})" for name, words in counted.items() if words["holds"]]
    say(f"  in single heads, of {len(heads)}: {', '.join(held) if held else 'no statement holds'}")
    regimes: dict[str, int] = {}
    for head in heads:
        regimes[head["regime"]["regime"]] = regimes.get(head["regime"]["regime"], 0) + 1
    where = "; each is singular on R^d" if any(head["regime"]["conserved_directions"] for head in heads) else ""
    shown = ", ".join(f"{name} {count}" for name, count in sorted(regimes.items()))
    say(f"  regime of the heads on the range of O: {shown}{where}")
    shares = [f"{low:.2g} to {high:.2g} at offset {offset}" for offset, (low, high) in rotary_shares(report).items()]
    if shares:
        say(f"  rotary positions change a head's score matrix by this part of its norm: {', '.join(shares)}")


def _observed(report: Report) -> None:
    seen = report.document["observed"]
    asked = report.document["options"]["sequences"] > 0
    if asked and len(seen) < len(report.layers):
        say(f"the tokens overflow in layer {len(seen)}: no observation from there on", "bold")
    if not seen:
        return
    first, last = seen[0], seen[-1]
    grew = sum(each["delta_rho_interval"][0] > 0 for each in seen)
    say(
        f"seen with {first['tokens']} random tokens (measured, not certified): mean distance "
        f"{first['mean_distance'][0]:.3f} -> {last['mean_distance'][1]:.3f}, "
        f"E {first['E'][0]:.3f} -> {last['E'][1]:.3f}; "
        f"correlation with the principal direction grows in {grew} of {len(seen)} layers",
        "bold",
    )
    parts = {name: [each["left_out"][name] for each in seen] for name in ("feed_forward", "biases", "gains")}
    ratio, bias, gain = (_mean([value for value in values if value is not None]) for values in parts.values())
    say(
        f"left out by the theory: feed-forward {ratio} of the attention update, biases {bias} of it, uneven norm gains "
        f"{gain} of it"
    )


def _mean(values: list[float]) -> str:
    return f"{sum(values) / len(values):.2g}" if values else "-"
