"""Do the false conjectures fall, and do the true ones survive?  The blind lists, run in parts, and their page.

    python benchmarks/blind_runs.py false --seconds 120 --jobs 2 --seed 0     attacks what is expected to be refuted
    python benchmarks/blind_runs.py true  --seconds 120 --jobs 1 --seed 1     attacks what is expected to survive
    python benchmarks/blind_runs.py book  --seconds 120 --jobs 1 --seed 1     attacks the statements of the book, system by system
    python benchmarks/blind_runs.py page --write                              docs/tables/blind.md, of the lines that still count

Each conjecture is a line of the record (``blind_record.py``) as it ends; what has a line of the present text with this seed and
at least this time is passed by, so a run that was stopped goes on, and a change of the lab begins anew.  ``--only PM-L4`` takes
names with that text.  Exit code 1 where a conjecture did not do what is expected.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import blind_record as record

from eigentoken.numerics.lab import Conjecture, load, refute
from eigentoken.numerics.lab.rerun import Rerun
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.statements.registry import statements

BLIND = record.FOLDER.parent
PAGE = record.ROOT / "docs" / "tables" / "blind.md"
#: what the page asks of the true ones
SEEDS, SECONDS = (0, 1, 2), 120.0


class Kind(NamedTuple):
    """A list: where its lines are, the verdict that is expected, and its name in a sentence."""

    file: Path
    expected: str
    called: str


KINDS = {
    "false": Kind(record.FOLDER / "false.jsonl", "refuted", "false conjectures"),
    "true": Kind(record.FOLDER / "true.jsonl", "survived", "true conjectures"),
    "book": Kind(record.FOLDER / "book.jsonl", "survived", "statements of the book, for each of their systems"),
}


def listed(kind: str) -> Iterator[Conjecture]:
    """The false or the true conjectures of ``benchmarks/blind``, or the statements that have claims."""
    if kind == "book":
        for statement in statements():
            for system in statement.systems if statement.claims else ():
                yield Conjecture(
                    f"{statement.id} {system}", system, statement.conditions, statement.claims, expect="survives"
                )
        return
    for source in sorted(BLIND.glob("*.py")):
        yield from (each for each in load(source) if each.expect == ("survives" if kind == "true" else "refuted"))


def attack(conjecture: Conjecture, seconds: float, seed: int, jobs: int) -> dict[str, Any]:
    """One conjecture: the verdict, how long and how much was tried, and what the re-check says of each certificate."""
    begun = time.process_time()
    report = json.loads(json.dumps(refute(conjecture, seconds=seconds, seed=seed, jobs=jobs).as_dict(), default=str))
    used = time.process_time() - begun
    (result,) = report["results"]
    words = [str(verdict.answer) for _, verdict in recheck_report(report, authors_code=Rerun())]
    kept = ("verdict", "seconds", "tried", "units", "unsettled", "best_violation", "found_by")
    line = {"name": conjecture.name, "asked": seconds, "seed": seed, "jobs": jobs, "cpu": round(used, 1)}
    line |= {"load": round(os.getloadavg()[0], 1), "confirmed": f"{words.count('holds')} of {len(words)}"}
    line |= {key: result.get(key) for key in kept}
    if result["verdict"] != "survived":
        line["instance"] = (result["counterexample"] or result["candidate"] or {}).get("instance")
    return line | record.belongs_to(conjecture)


def run(kind: str, seconds: float, seed: int, jobs: int, only: str) -> bool:
    """Attack what has no line yet; true where every line of this run is as expected."""
    good = True
    for conjecture in listed(kind):
        here = KINDS[kind]
        if only not in conjecture.name or record.is_done(record.lines(here.file), conjecture, seconds, seed):
            continue
        line = attack(conjecture, seconds, seed, jobs)
        record.add(here.file, line)
        good = good and line["verdict"] == here.expected and is_confirmed(line)
        print(f"{line['name']}: {line['verdict']}, {line['tried']} instances in {line['seconds']:.0f} s", flush=True)
    return good


def is_confirmed(line: record.Line) -> bool:
    """Does the re-check confirm every certificate of this line?"""
    confirmed, _, certificates = str(line["confirmed"]).partition(" of ")
    return confirmed == certificates


def page() -> str:
    """What counts on the present text: the false ones, the true ones for each seed, and what was not run."""
    text = [
        "# Blind rediscovery and survival, as recorded",
        "",
        "Written by `benchmarks/blind_runs.py page` from the record in `benchmarks/blind/record`. A line counts if it was",
        f"run on the present text of the lab (digest {record.code_digest()[:12]}) and of the conjecture. Seconds are on the",
        "clock. False ones are stated without the numbers of any counterexample; a certificate is confirmed by the re-check,",
        "which shares no code with its issuer.",
        "",
        *_false_rows(),
        "",
        *_true_rows("true"),
        "",
        *_true_rows("book"),
    ]
    return "\n".join(text) + "\n"


def _counted(kind: str, conjectures: list[Conjecture]) -> dict[str, list[record.Line]]:
    """For each conjecture the lines of the present text."""
    recorded = record.lines(KINDS[kind].file)
    by_name = {each.name: each for each in conjectures}
    found: dict[str, list[record.Line]] = {name: [] for name in by_name}
    for line in recorded:
        if line["name"] in by_name and record.is_present(line, by_name[line["name"]]):
            found[line["name"]].append(line)
    return found


def _false_rows() -> list[str]:
    """Of each false one the last line that counts."""
    conjectures = list(listed("false"))
    last = {name: lines[-1] for name, lines in _counted("false", conjectures).items() if lines}
    fell = [each for each in last.values() if each["verdict"] == "refuted" and is_confirmed(each)]
    text = [
        f"{len(conjectures)} false conjectures; {len(last)} attacked on this text, {len(fell)} refuted with certificates that "
        f"the re-check confirms"
        + (f", the slowest in {max(float(each['seconds']) for each in fell):.0f} s." if fell else "."),
        "",
        "| false conjecture | verdict | seconds | found by | certificates confirmed |",
        "| --- | --- | --- | --- | --- |",
    ]
    for conjecture in conjectures:
        line = last.get(conjecture.name)
        cells = ["not run on this text", "", "", ""]
        if line is not None:
            cells = [line["verdict"], f"{float(line['seconds']):.1f}", str(line["found_by"]), line["confirmed"]]
        text.append(f"| {conjecture.name} | " + " | ".join(cells) + " |")
    return text


def _true_rows(kind: str) -> list[str]:
    """Of each true one, for each seed, the longest time that it survived, or what came instead."""
    conjectures = list(listed(kind))
    counted = _counted(kind, conjectures)
    full = sum(
        all(any(_survived(each, seed) for each in counted[conjecture.name]) for seed in SEEDS)
        for conjecture in conjectures
    )
    every = [each for lines in counted.values() for each in lines]
    wrong = sorted({each["name"] for each in every if each["verdict"] in record.DECIDED})
    text = [
        f"{len(conjectures)} {KINDS[kind].called}; {full} survived {SECONDS:.0f} s from each of the seeds "
        f"{', '.join(map(str, SEEDS))} on this text. Refuted, or a candidate: {'; '.join(wrong) or 'none'}.",
        "",
        "| expected to survive |" + "".join(f" seed {seed}: seconds, instances |" for seed in SEEDS),
        "| --- |" + " --- |" * len(SEEDS),
    ]
    for conjecture in conjectures:
        cells = []
        for seed in SEEDS:
            lines = [each for each in counted[conjecture.name] if each["seed"] == seed]
            other = next((each for each in lines if each["verdict"] in record.DECIDED), None)
            best = other or max(lines, key=lambda each: float(each["asked"]), default=None)
            cells.append(
                ""
                if best is None
                else best["verdict"]
                if best["verdict"] != "survived"
                else f"{best['seconds']:.0f}, {best['tried']}"
            )
        text.append(f"| {conjecture.name} | " + " | ".join(cells) + " |")
    return text


def _survived(line: record.Line, seed: int) -> bool:
    """Does this line show survival of the whole time from this seed?"""
    return line["seed"] == seed and line["verdict"] == "survived" and float(line["asked"]) >= SECONDS


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=[*KINDS, "page"])
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true", help="with page: write docs/tables/blind.md")
    given = parser.parse_args()
    if given.what != "page":
        sys.exit(0 if run(given.what, given.seconds, given.seed, given.jobs, given.only) else 1)
    if given.write:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")
