"""The check on one screen: the model, which theorems apply, what is in the way, the layers, what was seen anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eigentoken.checking.intervals import interval, share
from eigentoken.checking.own_states import COLUMNS as STATE_COLUMNS
from eigentoken.checking.own_states import rows_of_states, says_of_states, tokens_are
from eigentoken.checking.report import Report, rotary_shares, size_text
from eigentoken.checking.rows_of_statements import ABOUT, GROUPS, grouped
from eigentoken.checking.sentences import called, sentences
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
from eigentoken.output import say, say_hanging, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from eigentoken.checking.summary import Told
    from eigentoken.documents.check_document import Head, Layer, LayerRecord

__all__ = ["layer_line", "show"]


MOST_ROWS = 14


#: What the columns of the layers are, and where the letters of a condition are told.
CELLS = ("case", "Re λ₁", "|F|", "α*", "to sym.")
LETTERS = (
    "F: the values of all heads together, Σ O_h V_h; λ₁: its leading eigenvalue, in case 1 real and alone, in case 2 a complex "
    "pair, in case 3 neither; α*: the step below which consensus on its eigenvector is stable; to sym.: |F - Fᵀ|/2",
)


def _cells(layer: Layer | LayerRecord) -> tuple[str, ...]:
    cases = "/".join(layer["cases"][key] for key in ("real-part", "modulus", "step"))
    numbers = (interval(layer["leading_eigenvalue"]), interval(layer["norm"]), interval(layer["alpha_star"], 3))
    return cases, *numbers, interval(layer["distance_to_symmetric"], 3), layer["regime"]["regime"]


def layer_line(layer: LayerRecord) -> str:
    """One layer in a line, for who waits for the others."""
    told = ", ".join(f"{name} {cell}" for name, cell in zip((*CELLS, "regime"), _cells(layer), strict=True))
    return f"layer {layer['layer']}: {told}"


#: The columns of :func:`_heads`.
HEAD_CELLS: tuple[str, ...] = ("head", "|P|", "|U|", "P to sym.", "U to sym.", "Re λ₁(U)", "met", "regime")
HEAD_LETTERS = (
    "head: layer.head; P = QᵀK/scale and U = OV of one head; to sym.: |M - Mᵀ|/2 over |M|; Re λ₁(U): its leading eigenvalue, "
    "where that is real and simple; met: statements whose conditions on weights the head meets, as if it were alone; regime: "
    "alone, on the range of O"
)


def _head_cells(layer: Layer, head: Head) -> tuple[str, ...]:
    score, value, leader = head["score"], head["value"], head["value_leader"]
    found = leader["details"].get("eigenvalue")
    real = leader["verdict"] == "holds" and found is not None and found["re"] is not None
    shares = [share(each["distance_to_symmetric"], each["norm"]) for each in (score, value)]
    return (
        f"{layer['layer']}.{head['head']}",
        interval(score["norm"], 3),
        interval(value["norm"], 3),
        *shares,
        f"{found['re']:.4g}" if real and found else {"fails": "not real", "holds": "0"}.get(leader["verdict"], "?"),
        str(sum(each["word"] == "met as if one head" for each in head["hypotheses"])),
        head["regime"]["regime"],
    )


def _heads(report: Report, every: bool) -> None:
    """A row a head; of many, without ``every``, the first and the last."""
    rows: list[tuple[Any, ...]] = [_head_cells(layer, head) for layer, head in report.heads]
    columns, letters = HEAD_CELLS, HEAD_LETTERS
    if all(row[-1] == "not about this model" for row in rows):
        rows, columns, letters = [row[:-1] for row in rows], columns[:-1], letters.rpartition("; ")[0]
    table("heads", columns, rows if every else _on_one_screen(rows, columns))
    say(letters, "dim")


def _on_one_screen(rows: list[tuple[Any, ...]], columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """The first and the last: the middle is in the other formats."""
    half = MOST_ROWS // 2
    if len(rows) <= MOST_ROWS:
        return rows
    return [*rows[:half], (f"… {len(rows) - 2 * half} more", *("" for _ in columns[1:])), *rows[-half:]]


def show(report: Report, heads: bool = False) -> None:
    """Print the summary; with ``heads``, a row for each of them."""
    model = report.document["model"]
    say(model["description"], "bold")
    for each in systems_of(report):
        say(f"each layer: {each}")
    for text in report.document["warnings"]:
        say(f"warning: {text}", "yellow")
    _statements(report)
    alone = report.document["options"].get("heads_only", False)
    if not alone:
        _layers(report)
    if heads or alone:
        _heads(report, heads)
    if alone:
        say(
            "heads only: F and S, the sums over the heads of a layer, were not formed; what is asked of them is undecided"
        )
    _as_one_head(report)
    _idealisations(report)
    _observed(report)
    _states(report)
    _bounds(report)


def _layers(report: Report) -> None:
    """A row for each layer that has weights of its own, and what the columns are."""
    rows: list[tuple[Any, ...]] = []
    for layer in report.layers:
        if layer["weights_of"] != layer["layer"]:
            continue
        shared = sum(other["weights_of"] == layer["layer"] for other in report.layers)
        name = str(layer["layer"]) + (f" (x{shared})" if shared > 1 else "")
        rows.append((name, *_cells(layer)))
    columns = ("layer", *CELLS, regime_heading(report))
    table("layers (case by real part / modulus / |1+λ|)", columns, _on_one_screen(rows, columns), wrap=columns[-1:])
    for text in LETTERS:
        say(text, "dim")


def _states(report: Report) -> None:
    """The conditions on tokens at the states that were given."""
    rows = rows_of_states(report)
    if rows:
        table(says_of_states(report), STATE_COLUMNS, rows, wrap=STATE_COLUMNS[-1:])


def _bounds(report: Report) -> None:
    """The certified bounds at the observed tokens, beside what was measured there."""
    listed = report.document["bounds"]
    rows = summaries(listed)
    if rows:
        table(SAYS, COLUMNS, [each.cells() for each in rows], wrap=COLUMNS[:1])
    for each in not_about(listed):
        say_hanging(each)


def _statements(report: Report) -> None:
    found, rows = groups(report), grouped(report)
    about = [(name, heading, meaning) for name, heading, meaning in GROUPS if name in ABOUT]
    counts = ", ".join(f"{heading.lower()} {len(rows[name])}" for name, heading, _ in about)
    say(f"statements about these layers: {counts}", "bold")
    for name, heading, meaning in about:
        if rows[name]:
            say(f"{heading} ({meaning})")
        for text in sentences(report, [row.told for row in rows[name]]):
            say_hanging(f"- {text}.")
    if found.fails or found.undecided:
        say("(letters and conditions are those of each statement: `eigentoken show ID`)", "dim")
    _apart(found)


def _counted(found: Iterable[tuple[Told, int]], of: int) -> str:
    return ", ".join(f"{called(each)} in {number} of {of}" for each, number in found) or "none"


def _apart(found: Groups) -> None:
    """What is not about the model, and what says the same of any weights."""
    if found.not_about:
        parts = found.parts_text()
        say_hanging(f"not about this model: {len(found.not_about)} (what differs: {parts})")
    for name, listed in (
        ("about any such layer or head, with no condition on weights", found.no_condition),
        ("ask nothing of the weights", found.asks_nothing),
        ("ask only that a matrix is invertible, and it is", found.asks_invertible),
    ):
        if listed:
            say_hanging(f"{name}: {len(listed)} ({_first(listed)})")


def _first(listed: Sequence[Told]) -> str:
    """The titles, of many the first three: the other formats list them all."""
    few = listed if len(listed) <= 4 else listed[:3]
    return in_words(few) + (f" and {len(listed) - len(few)} more, in the report" if len(few) < len(listed) else "")


def _as_one_head(report: Report) -> None:
    """What is read on the sum of the heads, or on a head alone: apart, and said to be no verdict on the layers."""
    heads, summed, single = heads_of(report), met_as_one_head(report, "layers"), met_as_one_head(report, "heads")
    several = any(layer["system"]["acting"] > 1 for layer in report.layers)
    if several:
        say("as if a layer were one head (no theorem says this of these layers)", "bold")
        distinct = sum(layer["layer"] == layer["weights_of"] for layer in report.layers)
        say_hanging(f"conditions met by the sum of the heads, in layers: {_counted(summed, distinct)}")
        say_hanging(f"conditions met by single heads: {_counted(single, len(heads))}")
    regimes: dict[str, int] = {}
    for head in heads:
        regimes[head["regime"]["regime"]] = regimes.get(head["regime"]["regime"], 0) + 1
    shown = ", ".join(f"{name} {count}" for name, count in sorted(regimes.items()))
    where = " on the range of O" if any(head["regime"]["conserved_directions"] for head in heads) else ""
    if several:
        say_hanging(f"regime of the heads{where}: {shown}")
    shares = [f"{low:.2g} to {high:.2g} at offset {offset}" for offset, (low, high) in rotary_shares(report).items()]
    if shares:
        say(f"rotary positions change a head's score matrix by this part of its norm: {', '.join(shares)}")


def _idealisations(report: Report) -> None:
    """The size of what the verdicts leave out; of the statements that hold, which of it stands beside each."""
    listed = report.document["idealisations"]
    if not listed:
        return
    rows = [(f"{each['name']}: {each['says']}", size_text(each)) for each in listed]
    title = "idealisations beside these verdicts (measured over the layers, not certified)"
    table(title, ("what a statement supposes", "size"), rows, wrap=("what a statement supposes",))
    found = groups(report)
    for each in (*found.holds, *(held for held, _ in found.partly)):
        say_hanging(f"{called(each)} leaves out: {', '.join(each['idealisations'])}")


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
        f"seen with {first['tokens']} {tokens_are(report)} (measured, not certified): mean distance "
        f"{first['mean_distance'][0]:.3f} -> {last['mean_distance'][1]:.3f}, "
        f"E {first['E'][0]:.3f} -> {last['E'][1]:.3f}; "
        f"correlation with the principal direction grows in {grew} of {len(seen)} layers",
        "bold",
    )
