"""Exact answers about one state: ``classify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigentoken.output import say, show_json, table

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    app.command("classify")(classify)


def classify(
    instance: Annotated[
        Path, typer.Argument(metavar="INSTANCE.json", help="System, parameters and tokens; '-' for stdin.")
    ],
    seconds: Annotated[float, typer.Option(help="Time limit.", min=0)] = 600.0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Class, exact spectrum and stability of a point.

    Numbers are integers, decimals, rational strings, ln(3), sqrt(2); they are kept exact.

    Example: eigentoken classify point.json --json
    """
    import sys
    import time

    from eigentoken.numerics.deadline import OutOfTime, limited
    from eigentoken.theory.classification.classify import classify as decide
    from eigentoken.theory.classification.instances import LARGEST_INSTANCE, read_instance

    source: str | Path = instance
    if str(instance) == "-":
        source = sys.stdin.read(LARGEST_INSTANCE)
        if not source.lstrip().startswith("{"):
            raise ValueError('the standard input must hold one JSON object: write {"system": ...}')
    try:
        with limited(time.time() + seconds):
            found = decide(read_instance(source)).as_dict()
    except OutOfTime:
        raise ValueError(f"not classified within {seconds:g} seconds: give more with --seconds") from None
    if json:
        show_json(found)
        return
    where = "".join(f", {name} = {found[name]}" for name in ("k", "p", "q") if found.get(name) is not None)
    say(f"{found['class']}{where}", "bold")
    for name in ("equilibrium", "stable"):
        verdict = found[name]
        say(f"{name}: {verdict['verdict']} ({verdict['reason']})")
    rows = [(each["exact"] or "", each["float"], each["multiplicity"]) for each in found["spectrum"]]
    if rows:
        table("spectrum, tangent directions", ("exact", "float", "multiplicity"), rows, wrap=("exact",))
    for note in found.get("notes", []):
        say(f"note: {note}")
