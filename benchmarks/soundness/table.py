"""The recorded table: what ran, what was said, what was false."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .judging import Domain
from .state import State


def table(state: State, domains: Sequence[Domain], jobs: int, asked: int) -> str:
    """Markdown: one row a generator, sums by domain, and what the run was."""
    total = state.cases()
    commits: dict[str, int] = {}
    for each in state.counts:
        commits[each.commit] = commits.get(each.commit, 0) + each.cases
    seconds = sum(each.seconds for each in state.counts)
    false = sum(each.false for each in state.counts)
    lines = [
        "# Soundness: verdicts against exact ground truth",
        "",
        "Written by `make soundness` (`python -m benchmarks.soundness`). A case is one verdict compared with the truth, which is",
        "known by construction or found in rational arithmetic of the harness itself, never by the code that issues the verdict.",
        "`false` counts a wrong word, margin, interval, disc or vector; `other` are words such as `not about this model`.",
        "",
        f"{total:,} cases, {false} false, {seconds / 60:.0f} minutes of processor time"
        + (f"; {asked:,} cases were asked for, so this is a shorter run." if total < asked else "."),
        "",
        "Commits: " + ", ".join(f"`{name}` ({count:,} cases)" for name, count in commits.items()) + "."
        if commits
        else "Nothing was run.",
        "",
    ]
    rows = list(state.rows())
    for domain in domains:
        own = [row for row in rows if row["domain"] == domain.name]
        lines += [f"## {domain.name}: {domain.about}", ""]
        if not own:
            lines += ["Not run.", ""]
            continue
        lines += ["| generator | cases | holds | fails | undecided | other | false | seconds |", "| --- " * 8 + "|"]
        lines += [_row(str(row["generator"]), row) for row in own]
        sums = {
            name: sum(row[name] for row in own)
            for name in ("cases", "holds", "fails", "undecided", "other", "false", "seconds")
        }
        lines += [_row("**all**", sums), ""]
    if state.wrong:
        lines += ["## False", "", *(f"- {_plain(each)}" for each in state.wrong), ""]
    return "\n".join(lines)


def _row(name: str, row: Mapping[str, float]) -> str:
    cells = [f"{int(row[key]):,}" for key in ("cases", "holds", "fails", "undecided", "other", "false")]
    return f"| {name} | {' | '.join(cells)} | {row['seconds']:.0f} |"


def _plain(text: str) -> str:
    return " ".join(text.split())[:400].replace("|", "\\|")
