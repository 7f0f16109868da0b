"""The site, the documents and the state of the machine: ``atlas``, ``schemas``, ``doctor``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigentoken.commands import names
from eigentoken.output import progress, say, show_json, table

__all__ = ["add_to"]

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def add_to(app: typer.Typer) -> None:
    app.command("atlas")(atlas)
    app.command("schemas")(schemas)
    app.command("doctor")(doctor)


def atlas(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Only the pages of these.", autocompletion=names.statement_ids),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the site.")] = Path("out/atlas"),
    json: JsonFlag = False,
) -> None:
    """A static site of all statements.

    The dependency graph, derivations, counterexamples, and a sphere to play with.

    Example: eigentoken atlas -o out/atlas
    """
    from eigentoken.atlas import build
    from eigentoken.theory.statements.registry import statements

    with progress("the atlas", len(ids) if ids else len(statements())) as advance:
        pages = build(output, ids or (), lambda title: advance(1, title))
    if json:
        show_json({"schema": "eigentoken/atlas/1", "folder": str(output), "pages": [path.name for path in pages]})
    else:
        say(f"wrote {len(pages)} pages; open {output / 'index.html'}")


def schemas(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A document, e.g. check.", autocompletion=names.schemas)
    ] = None,
) -> None:
    """The JSON schemas of what --json prints.

    Without a name the documents are listed; with one its schema is printed (JSON Schema).

    Example: eigentoken schemas verdict
    """
    import json as text

    from eigentoken.schemas import names as known
    from eigentoken.schemas import schema
    from eigentoken.theory.systems.suggestions import meant

    if name is None:
        rows = [(each, str(schema(each)["$id"]), str(schema(each).get("title", ""))) for each in known()]
        table("", ("name", "schema", "printed by"), rows, wrap=("printed by",))
        return
    if name not in known():
        raise ValueError(f"no document is called {name!r}: {meant(name, known())}")
    print(text.dumps(schema(name), indent=2))


def doctor(json: JsonFlag = False) -> None:
    """What works on this machine and what is missing.

    Versions, devices, BLAS, the probe of the backend, LaTeX, Coq, a browser, the cache.

    Example: eigentoken doctor
    """
    from eigentoken.diagnosis import diagnose

    found = diagnose()
    if json:
        show_json({"schema": "eigentoken/doctor/1", "checks": found})
        return
    rows = [(each["name"], each["state"], each["detail"]) for each in found]
    table("", ("what", "state", "detail"), rows, wrap=("detail",))
