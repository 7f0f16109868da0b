"""The check on one screen: the model, the layers, which theorems apply, what is in the way, what was seen anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eigentoken.checking.intervals import interval
from eigentoken.checking.report import Report, rotary_shares, size_text
from eigentoken.checking.summary import (
    Groups,
    groups,
    heads_of,
    in_words,
    met_as_one_head,
    regime_heading,
    systems_of,
)
from eigentoken.checking.token_bounds import COLUMNS, SAYS, not_about, summaries
from eigentoken.output import say, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["show"]


MOST_ROWS = 14


def show(report: Report) -> None:
    """Print the summary."""
    from eigentoken.theory.printing.plain_text import plain_text

    model = report.document["model"]
    say(model["description"], "bold")
    for each in systems_of(report):
        say(f"each layer: {each}")
    for text in report.document["warnings"]:
        say(f"warning: {text}", "yellow")
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
    columns = ("layer", "case", "Re λ₁", "|F|", "α*", "to sym.", regime_heading(report))
    if len(rows) > MOST_ROWS:  # one screen: the middle is in the other formats
        half = MOST_ROWS // 2
        left = (f"… {len(rows) - 2 * half} more", *("" for _ in columns[1:]))
        rows = [*rows[:half], left, *rows[-half:]]
    table("layers (case by real part / modulus / |1+λ|)", columns, rows, wrap=columns[-1:])
    say("case 1: a real eigenvalue leads alone; 2: a complex pair; 3: neither", "dim")
    _statements(report, plain_text)
    _observed(report)
    _bounds(report)


def _bounds(report: Report) -> None:
    """The certified bounds at the observed tokens, beside what was measured there."""
    listed = report.document["bounds"]
    rows = summaries(listed)
    if rows:
        table(SAYS, COLUMNS, [each.cells() for each in rows], wrap=COLUMNS[:1])
    for each in not_about(listed):
        say(f"  {each}")


def _statements(report: Report, plain_text: Callable[[str], str]) -> None:
    found = groups(report)
    count = len(report.layers)
    say(
        f"statements about these layers, all conditions on weights certified in every layer: {len(found.holds)}", "bold"
    )
    if found.holds:
        say(f"  hold: {in_words(found.holds)}")
    if found.partly:
        partly = ", ".join(f"{each['id']} ({number} of {count})" for each, number in found.partly)
        say(f"  hold in some layers: {partly}")
    for name, listed in (("fail in some layer", found.fails), ("undecided", found.undecided)):
        if listed:
            say(f"  {name}: {_ids(listed)}")
    _apart(found)
    _as_one_head(report)
    obstacles: dict[str, int] = {}
    for each in (*found.fails, *found.undecided):
        for item in each["obstacles"]:
            obstacles[item["condition"]] = obstacles.get(item["condition"], 0) + 1
    most = sorted(obstacles.items(), key=lambda pair: -pair[1])[:6]
    if most:
        rows = [(plain_text(text), number) for text, number in most]
        table("what is in the way of those that fail", ("condition", "statements"), rows, wrap=("condition",))
    _idealisations(report, found)


def _ids(listed: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(each["id"] for each in listed)


def _apart(found: Groups) -> None:
    """What is not about the model, and what says the same of any weights."""
    if found.not_about:
        parts = found.parts_text()
        say(f"  not about this model: {len(found.not_about)} (what differs: {parts})")
    for name, listed in (
        ("ask nothing of the weights", found.asks_nothing),
        ("ask only that a matrix is invertible, and it is", found.asks_invertible),
    ):
        if listed:
            say(f"  {name}: {_ids(listed)}")


def _as_one_head(report: Report) -> None:
    """What is read on the sum of the heads, or on a head alone: apart, and said to be no verdict on the layers."""
    heads, summed, single = heads_of(report), met_as_one_head(report, "layers"), met_as_one_head(report, "heads")
    several = any(layer["system"]["acting"] > 1 for layer in report.layers)
    if several:
        say("as if a layer were one head (no theorem says this of these layers)", "bold")
        distinct = sum(layer["layer"] == layer["weights_of"] for layer in report.layers)
        met = ", ".join(f"{each['id']} ({number} of {distinct})" for each, number in summed)
        say(f"  conditions met by the sum of the heads: {met or 'none'}")
        alone = ", ".join(f"{each['id']} ({number})" for each, number in single)
        say(f"  conditions met by single heads, of {len(heads)}: {alone or 'none'}")
    regimes: dict[str, int] = {}
    for head in heads:
        regimes[head["regime"]["regime"]] = regimes.get(head["regime"]["regime"], 0) + 1
    shown = ", ".join(f"{name} {count}" for name, count in sorted(regimes.items()))
    where = " on the range of O" if any(head["regime"]["conserved_directions"] for head in heads) else ""
    if several:
        say(f"  regime of the heads{where}: {shown}")
    shares = [f"{low:.2g} to {high:.2g} at offset {offset}" for offset, (low, high) in rotary_shares(report).items()]
    if shares:
        say(f"rotary positions change a head's score matrix by this part of its norm: {', '.join(shares)}")


def _idealisations(report: Report, found: Groups) -> None:
    """The size of what the verdicts leave out; of the statements that hold, which of it stands beside each."""
    listed = report.document["idealisations"]
    if not listed:
        return
    rows = [(f"{each['name']}: {each['says']}", size_text(each)) for each in listed]
    title = "idealisations beside these verdicts (measured over the layers, not certified)"
    table(title, ("what a statement supposes", "size"), rows, wrap=("what a statement supposes",))
    for each in (*found.holds, *(held for held, _ in found.partly)):
        say(f"  {each['id']} leaves out: {', '.join(each['idealisations'])}")


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
