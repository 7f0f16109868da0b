"""Certified basins of attraction: ``basin``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eigentoken.output import progress, say, show_json, table

if TYPE_CHECKING:
    from eigentoken.documents.basin_document import BasinDocument, HeadSubject, ObservedTokens

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    app.command("basin")(basin)


def basin(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="INSTANCE.json|MODEL", help="A stable equilibrium; or, with --layer and --head, a model."
        ),
    ],
    layer: Annotated[int | None, typer.Option(help="Layer of a model.", min=0)] = None,
    head: Annotated[int | None, typer.Option(help="Head of that layer.", min=0)] = None,
    alpha: Annotated[str, typer.Option(help="Step of the head as a layer.")] = "1",
    fold: Annotated[bool, typer.Option("--fold", help="Fold the gains of the norm into the head.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the random tokens of a model.")] = 0,
    seconds: Annotated[float, typer.Option(help="Time limit.", min=0)] = 600.0,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the document to this file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Regions of attraction with rates, certified.

    Around a stable equilibrium of an exact instance, or of the leading direction of one head, by its factors.
    Exit code 1 if no region is certified.

    Example: eigentoken basin point.json -o basin.json
    """
    import json as documents

    from eigentoken.api.basins import basin as find
    from eigentoken.files.writing import ready, write_text

    ready(output)
    if layer is None and head is None:
        if subject.startswith("sample:") or Path(subject).is_dir():
            raise ValueError(f"{subject} is a model: say which head with --layer and --head")
        with progress(f"certifying regions of {subject}"):
            found = find(Path(subject), seconds=seconds).as_dict()
    else:
        with progress(f"certifying regions of {subject}"):
            found = find(subject, layer=layer, head=head, alpha=alpha, fold=fold, seed=seed, seconds=seconds).as_dict()
    if output is not None:
        write_text(output, documents.dumps(found, indent=1) + "\n")
    if json:
        show_json(found)
    else:
        _say(found)
        if output is not None:
            say(f"wrote {output}")
    if not found["regions"]:
        raise typer.Exit(1)


def _say(found: BasinDocument) -> None:
    from eigentoken.theory.statements.registry import statements

    if found["head"] is not None:
        _say_head(found["head"])
    if found["regions"]:
        say("certified: every start in one of these regions tends to the equilibrium")
    for region in found["regions"]:
        title = "contraction principle" if region["statement"] is None else statements().get(region["statement"]).title
        said = f"{region['kind']}: {title}" + (f" ({region['statement']})" if region["statement"] else "")
        say(said, "bold")
        say(region["says"])
        rows = [(each["radius"], each["rate"]) for each in region["rates"]]
        if rows:
            table("", ("from within", region["unit"]), rows)
        else:
            say("no rate is certified: the formula of the statement gives none below 1 at the radii that are tried")
    if not found["regions"]:
        say("no region was certified")
    if found["observed"] is not None:
        _say_observed(found["observed"])


def _say_head(head: HeadSubject) -> None:
    say(
        f"layer {head['layer']} head {head['head']} alone, as a layer on the unit sphere with step {head['alpha']}: without its "
        "biases, the other heads and the feed-forward"
    )


def _say_observed(seen: ObservedTokens) -> None:
    where = (
        "none is whole on one side"
        if seen["radius"] is None
        else f"{seen['same_side']} are whole on one side, the nearest within {seen['radius']:.3g}"
    )
    say(
        f"of {seen['sequences']} sequences of {seen['tokens']} random tokens of the model {where}; "
        f"{100 * seen['share']:.1f} % of the tokens are on the larger side (measured)"
    )
