"""The conjecture lab on the command line: ``refute``, ``conjecture new``."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigentoken.commands import names
from eigentoken.documents.attempt_document import AttemptDocument
from eigentoken.documents.refutation_document import RefutationDocument, Result
from eigentoken.documents.strengthen_document import StrengthenDocument
from eigentoken.files.writing import ready, write_text
from eigentoken.output import say, say_hanging, say_interrupted, show_json, watched

if TYPE_CHECKING:
    from eigentoken.numerics.lab.report import Progress, RefutationReport

__all__ = ["COLOURS", "JsonFlag", "add_to", "cleared", "keep", "on_one_line", "python_file", "watcher"]

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def add_to(app: typer.Typer) -> None:
    app.command("refute")(refute)
    group = typer.Typer(
        help="Conjecture files.\n\nExample: eigentoken conjecture new conjecture_mine.py",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    group.command("new")(new)
    app.add_typer(group, name="conjecture")


def refute(
    file: Annotated[Path, typer.Argument(metavar="FILE.py", help="A file with conjectures.")],
    seconds: Annotated[float, typer.Option(help="Time for each conjecture.")] = 60.0,
    instances: Annotated[
        int | None,
        typer.Option(
            help="Start no new batch of work after so many instances of a conjecture, for repeatable runs; "
            "the batches that run are finished, so more are tried."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the search.")] = 0,
    drop: Annotated[bool, typer.Option("--drop", help="Also try it with each condition removed.")] = False,
    jobs: Annotated[int, typer.Option(help="Parallel workers.", min=1)] = 2,
    backend: Annotated[str, typer.Option(help="loky, dask with --address, or slurm.")] = "loky",
    address: Annotated[str | None, typer.Option(help="Scheduler of a Dask cluster, tcp://host:port.")] = None,
    device: Annotated[
        str,
        typer.Option(help="Where large batches are looked at: cpu, cuda or auto.", autocompletion=names.devices),
    ] = "cpu",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON report to a file.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the report of -o: what it has done is not searched again.")
    ] = False,
    html: Annotated[Path | None, typer.Option(help="Write an HTML report.")] = None,
    json: JsonFlag = False,
) -> None:
    """Search for counterexamples to conjectures, certify them.

    Exit code 1 if one is refuted, or not tested (no instance was judged).  A violation that does not certify is a
    candidate, never a refutation.  The report (-o) is written after each conjecture; Ctrl-C ends the search, prints what was
    tried, and leaves the report (exit code 130); the same call with --resume goes on from there.

    Example: eigentoken refute examples/conjectures/polygonal_instability.py
    """
    from eigentoken.commands.resuming import done_before, with_earlier
    from eigentoken.numerics.lab import refute as search

    if resume and output is None:
        raise ValueError("--resume goes on with the report of -o: name it")
    earlier = done_before(output, file, drop=drop) if resume and output is not None else []
    ready(output, html)
    for each in earlier if not json else ():
        say(f"{each['name']}: {each['verdict']}, done before")

    def finished(so_far: RefutationReport) -> None:
        """Each conjecture is told, and kept, as soon as it is done."""
        found = so_far.as_dict()
        keep(with_earlier(found, earlier), output)
        cleared()
        if not json:
            _show(found["results"][-1])

    report = search(
        python_file(file),
        seconds=seconds,
        instances=instances,
        seed=seed,
        jobs=jobs,
        backend=backend,
        address=address,
        device=device,
        drop=drop,
        skip=[each["name"] for each in earlier],
        watch=watcher(),
        finished=finished,
    )
    document = with_earlier(report.as_dict(), earlier)
    if html is not None:
        from eigentoken.lab_page import refutation_html

        write_text(html, refutation_html(document))
    if json:
        show_json(document)
    for path in (output, html) if not json else ():
        if path is not None:
            say(f"wrote {path}")
    if report.interrupted:
        say_interrupted("the last conjecture above was not searched to its end")
        raise typer.Exit(130)
    negative = any(each["verdict"] in ("refuted", "not tested") for each in document["results"])
    raise typer.Exit(1 if negative else 0)


def keep(document: RefutationDocument | StrengthenDocument | AttemptDocument, output: Path | None) -> None:
    """Write the report so far, whole or not at all."""
    if output is not None:
        import json as codec

        write_text(output, codec.dumps(document, indent=1, default=str) + "\n")


def cleared() -> None:
    """The line of progress is taken back before a result is told."""
    if watched():
        print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


def watcher() -> Any:
    if not watched():
        return None

    def line(progress: Progress) -> None:
        shown = on_one_line(str(progress), shutil.get_terminal_size().columns)
        print(f"\r\x1b[2K{shown}", end="", file=sys.stderr, flush=True)

    return line


def on_one_line(text: str, width: int) -> str:
    """A line of progress that is no wider than the screen, where ``\\r`` would take back its last row alone: the name in front
    gives way, what was found and the time left stay.

    >>> on_one_line("short steps make consensus stable: 760 instances, 60 s left", 40)
    'short steps …: 760 instances, 60 s left'
    """
    name, mark, rest = text.partition(": ")
    if len(text) < width or not mark:
        return text[: width - 1]
    room = max(0, width - 3 - len(mark + rest))
    return f"{name[:room].rstrip()} …{mark}{rest}"[: width - 1]


def python_file(file: Path) -> Path:
    """The file of a conjecture, or an error that says what it is not: the name of another kind of file is not run as Python."""
    if file.suffix not in ("", ".py") and file.is_file():
        raise ValueError(
            f"{file} is no Python file (.py): give one with conjectures, or begin one by `eigentoken conjecture new`"
        )
    return file


COLOURS = {"refuted": "red", "candidate": "yellow", "survived": "green", "not tested": "yellow"}


def _show(result: Result) -> None:
    from eigentoken.lab_page import NEEDED
    from eigentoken.theory.printing.plain_text import plain_text

    say(f"{result['name']}: {result['verdict']}", COLOURS.get(result["verdict"], ""))
    say_hanging(result["meaning"])
    found = result["counterexample"]
    if found is not None:
        for name, value in found["instance"].items():
            say(f"    {name} = {_plain(value)}")
    for lost in result["lost_workers"]:
        say_hanging(lost)
    fallen = result["verdict"] == "refuted"
    for each in result["dropped"][:1] if fallen else ():
        say_hanging(f"which conditions are needed: {each['says']}")
    for each in () if fallen else result["dropped"]:
        say_hanging(f"without {plain_text(each['condition'])}: {NEEDED[each['needed']]}; {each['says']}")


def _plain(value: object) -> str:
    """Exact numbers as they are written, without the quotes that JSON needs.

    >>> _plain([["1/3", "0"], ["-1", "2"]])
    '[[1/3, 0], [-1, 2]]'
    """
    return f"[{', '.join(map(_plain, value))}]" if isinstance(value, list) else str(value)


def new(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE.py", help="The file to write; left out: conjecture_*.py, by the name."),
    ] = None,
    name: Annotated[
        str, typer.Option(help="The conjecture in words.")
    ] = "principal consensus is stable for every step",
    force: Annotated[bool, typer.Option("--force", help="Write over an existing file.")] = False,
) -> None:
    """Write a starting file for a conjecture.

    Without a file its name is conjecture_*.py, which pytest collects without being told.

    Example: eigentoken conjecture new mine.py
    """
    from eigentoken.numerics.lab import new as write

    made = write(file, name, force=force)
    say(f"wrote {made}; run: eigentoken refute {made}")
