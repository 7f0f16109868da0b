"""After survival, on the command line: ``strengthen`` and ``attempt``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from eigentoken.commands.lab import COLOURS, JsonFlag, keep, watcher
from eigentoken.output import say, say_hanging, show_json, table

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    app.command("strengthen")(strengthen)
    app.command("attempt")(attempt)


def strengthen(
    file: Annotated[Path, typer.Argument(metavar="FILE.py", help="A file with conjectures.")],
    seconds: Annotated[float, typer.Option(help="Time for each search; there are several for each conjecture.")] = 10.0,
    instances: Annotated[
        int | None, typer.Option(help="Start no new batch of work after so many instances of a search.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the searches.")] = 0,
    jobs: Annotated[int, typer.Option(help="Parallel workers.", min=1)] = 2,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON table to a file.")] = None,
    json: JsonFlag = False,
) -> None:
    """Find how much more a surviving conjecture could say.

    Conditions dropped or weakened, claims sharpened, constants moved until it falls: each change is attacked as a conjecture
    of its own, and falls by a certified counterexample or survives so many instances, which is no proof.  The table (-o) is
    written after each row, and recheck confirms its counterexamples.  Exit code 1 if a conjecture falls as it stands.

    Example: eigentoken strengthen examples/conjectures/short_steps.py
    """
    from eigentoken.numerics.lab import strengthen as search

    report = search(
        file,
        seconds=seconds,
        instances=instances,
        seed=seed,
        jobs=jobs,
        watch=watcher(),
        finished=lambda so_far: keep(so_far.as_dict(), output),
    )
    if json:
        show_json(report.as_dict())
    else:
        for each in report:
            say(f"{each.name}: {each.whole.answer}", COLOURS.get(each.whole.answer, ""))
            if each.whole.answer == "survived":
                say(f"  no counterexample among {each.whole.tried} instances; this is no proof")
            else:
                say(f"  {each.whole.meaning}")
            if each.rows:
                rows = [(row.change, row.outcome, row.says) for row in each.rows]
                table("", ("change", "outcome", "evidence"), rows, wrap=("change", "outcome", "evidence"))
    if report.interrupted:
        print("interrupted: the last row was not searched to its end", file=sys.stderr)
        raise typer.Exit(130)
    raise typer.Exit(1 if report.refuted else 0)


def attempt(
    file: Annotated[Path, typer.Argument(metavar="FILE.py", help="A file with conjectures.")],
    seconds: Annotated[float, typer.Option(help="Time for each conjecture.")] = 60.0,
    recall: Annotated[bool, typer.Option(help="Use the statements of the book.")] = True,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON document to a file.")] = None,
    json: JsonFlag = False,
) -> None:
    """Try to prove conjectures by the kernel's own means.

    The linearization at the place, real arithmetic, and statements of the book whose conditions follow.  What is derived is
    printed step by step and is accepted by the kernel as a statement of the book is.  A failed attempt says what was tried; it
    proves nothing.  Exit code 1 if a conjecture was not derived.

    Example: eigentoken attempt examples/conjectures/oja_consensus.py
    """
    from eigentoken.proofs.attempts.attempt import attempt as prove

    report = prove(file, seconds=seconds, recall=recall)
    document = report.as_dict()
    keep(document, output)
    if json:
        show_json(document)
    else:
        for each in report:
            say(f"{each.name}: {each.answer}", {"derived": "green"}.get(each.answer, "yellow"))
            say_hanging(each.says)
            for heading, lines in each.sections():
                say(heading)
                for line in lines:
                    say_hanging(line)
            for means in each.tried if each.statement is None else ():
                say_hanging(f"- {means.name}, for {means.goal}: {means.stopped or 'done'}")
    raise typer.Exit(0 if all(each.answer == "derived" for each in report) else 1)
