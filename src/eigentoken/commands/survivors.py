"""After survival, on the command line: ``strengthen``, ``attempt`` and ``explore``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from eigentoken.commands.lab import COLOURS, JsonFlag, cleared, keep, python_file, watcher
from eigentoken.display import brief
from eigentoken.files.writing import could_be_ready, ready
from eigentoken.output import progress, say, say_hanging, say_interrupted, show_json, table

__all__ = ["add_to"]


#: What the numbers of a proposal mean.
EXPLAINED = (
    "score = surprise × distance, best first. surprise = -log₂ p, p how often the claim still holds in random instances when one "
    "of its conditions is left out; distance: 0 for the words of a statement of the registry, 1 for words that none has. "
    "No instance broke these conjectures; that is no proof."
)


def add_to(app: typer.Typer) -> None:
    app.command("strengthen")(strengthen)
    app.command("attempt")(attempt)
    app.command("explore")(explore)


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

    ready(output)
    report = search(
        python_file(file),
        seconds=seconds,
        instances=instances,
        seed=seed,
        jobs=jobs,
        watch=watcher(),
        finished=lambda so_far: keep(so_far.as_dict(), output),
    )
    cleared()
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
        say_interrupted("the last row was not searched to its end")
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

    ready(output)
    with progress(f"attempting {file}") as advance:
        report = prove(python_file(file), seconds=seconds, recall=recall, watch=lambda now: advance(0, now))
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


def explore(
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="A system, such as attention-flow.")],
    about: Annotated[str, typer.Option(help="Topics with commas; left out: all of them.")] = "",
    seconds: Annotated[float, typer.Option(help="Time for all of it.")] = 60.0,
    most: Annotated[int, typer.Option(help="Proposals at most.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the instances.")] = 0,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write each conjecture to this folder.")] = None,
    json: JsonFlag = False,
) -> None:
    """Propose conjectures about a system, put together from words.

    Conditions and claims of the topics (consensus, energy, hemisphere, orthant, clusters) are combined, filtered by
    instances, attacked, and ranked by surprise and by distance from the registry.  With -o each is a file that refute, strengthen
    and attempt run.  What stands is no theorem.  Exit code 1 if nothing stands.

    Example: eigentoken explore oja-flow --about "consensus, energy" -o found
    """
    from eigentoken.numerics.lab.explore import explore as propose
    from eigentoken.theory.printing.plain_text import plain_text

    if output is not None:  # a place that can be written; the folder itself is made when there is something for it
        could_be_ready(output / "conjecture_01.py")
    begun = time.monotonic()
    with progress(f"exploring {system}") as advance:

        def watch(now: str) -> None:
            left = max(0.0, seconds - (time.monotonic() - begun))
            advance(0, f"{brief(now, 80)}, {left:.0f} s left")

        report = propose(system, about, seconds=seconds, most=most, seed=seed, watch=watch)
    written = [] if output is None else report.write(output)
    if json:
        show_json(report.as_dict())
    else:
        say(
            f"{report.looked} conjectures looked at: {report.fallen} fell; {report.implied} left out, since they follow from "
            "others that stand"
        )
        for number, each in enumerate(report, 1):
            say_hanging(f"{number}. {each.said}", "")
            near = f"{'stated by' if each.known else 'nearest'}: {plain_text(each.near) or 'nothing in the registry'}"
            say_hanging(
                f"   score {each.score:.2f} (surprise {each.surprise:.2f}, distance {each.distance:.2f}); {near}", ""
            )
        if len(report):
            say_hanging(EXPLAINED, "")
        for path in written[:1]:
            say(f"wrote {len(written)} files to {path.parent}; run: eigentoken refute {path}")
    raise typer.Exit(0 if len(report) else 1)
