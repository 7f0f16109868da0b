"""Spectra for symbolic n and d: ``spectrum``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eigentoken.commands import names
from eigentoken.files.writing import ready, write_text
from eigentoken.output import progress, say, say_hanging, show_json, table

if TYPE_CHECKING:
    from eigentoken.theory.linearization.spectrum import Spectrum

__all__ = ["add_to"]

FORMATS = ("text", "tex", "json")


def add_to(app: typer.Typer) -> None:
    app.command("spectrum")(spectrum)


def spectrum(
    system: Annotated[
        str, typer.Argument(metavar="SYSTEM", help="A system, e.g. attention-map.", autocompletion=names.systems)
    ],
    at: Annotated[
        str, typer.Option("--at", help="consensus, bipartite, polygon, antipodal, zero, two-cycle or circle.")
    ] = "consensus",
    mask: Annotated[
        str | None, typer.Option("--mask", help="full, causal, triangular, blocks or any; by default the system's own.")
    ] = None,
    heads: Annotated[int | None, typer.Option("--heads", help="Number of heads, at a bipartite point.")] = None,
    symmetric: Annotated[
        bool,
        typer.Option(
            "--symmetric/--nonsymmetric", help="Criteria for real, or for any eigenvalues of the value matrix."
        ),
    ] = True,
    signs: Annotated[
        str | None, typer.Option("--signs", help="One bipartite point, a sign for each token: --signs=++-.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="text, tex or json.")] = "text",
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write to; stdout if not given.")
    ] = None,
) -> None:
    """Eigenvalues and stability at a kind of point, for all n and d.

    Families of eigenvalues with multiplicities, where they are valid, and the criterion of stability with its checked proof.
    Exit code 1 if a step of a proof does not check.

    Example: eigentoken spectrum attention-map --at bipartite
    """
    import json as documents

    from eigentoken.schemas import schema
    from eigentoken.theory.linearization.at_points import spectrum as derived
    from eigentoken.theory.linearization.document import spectrum_document

    chosen = "json" if json else form
    if chosen not in FORMATS:
        raise ValueError(f"--format must be {', '.join(FORMATS)}, got {form!r}: choose one")
    if chosen == "text" and output is not None:
        raise ValueError("--output needs --format tex or json: text is for the terminal")
    ready(output)
    with progress(f"linearizing {system}"):
        found = derived(system, at=at, mask=mask, heads=heads, symmetric=symmetric, signs=signs)
    if chosen == "json" and output is None:
        show_json({"schema": "eigentoken/spectrum/1", **found.as_dict()})
    elif chosen == "json" and output is not None:
        document = {"schema": schema("spectrum")["$id"], **found.as_dict()}
        write_text(output, documents.dumps(document, indent=2, allow_nan=False) + "\n")
    elif chosen == "tex":
        text = spectrum_document(found, system, mask)
        print(text, end="") if output is None else write_text(output, text)
    else:
        _tell(found)
    if output is not None:
        say(f"written to {output}")
    raise typer.Exit(0 if all(each.check().is_holds for each in found.criteria) else 1)


def _tell(found: Spectrum) -> None:
    """The spectrum for a person: a table of families, what the letters are, the criteria."""
    from eigentoken.theory.printing.plain_text import plain_words

    rows = [(value, runs, count) for value, runs, count in found.rows()]
    table(f"{found.system} at {found.point}", ("eigenvalue", "for", "times"), rows, wrap=("eigenvalue", "for"))
    for name, meaning in found.letters():
        say_hanging(f"{name} = {meaning}")
    if found.conditions:
        say_hanging(f"if    {', '.join(found.plain_conditions())}")
    for note in found.notes:
        say_hanging(f"note  {plain_words(note)}")
    if not found.criteria:
        say("No criterion of stability in closed form is known here.")
    for criterion in found.criteria:
        verdict = criterion.check()
        say(criterion.name, "bold")
        for line in criterion.sentences():
            say_hanging(line)
        steps = "1 step" if len(criterion.proof) == 1 else f"{len(criterion.proof)} steps"
        say_hanging(f"proof  {steps}, checked: {verdict.answer}" + ("" if verdict.is_holds else f" ({verdict.reason})"))
