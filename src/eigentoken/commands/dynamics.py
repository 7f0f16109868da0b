"""Trajectories and the papers' figures: ``simulate``, ``reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigentoken.commands import names
from eigentoken.documents.reproduction_document import Outcome, Scale
from eigentoken.documents.simulation_document import SimulationDocument
from eigentoken.output import progress, say, say_hanging, settings, show_json, table

__all__ = ["add_to"]

STYLE_HELP = "Width and fonts of the figure: page, neurips, icml, ieee, thesis."
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def add_to(app: typer.Typer) -> None:
    app.command("simulate")(simulate)
    app.command("reproduce")(reproduce)


def simulate(
    system: Annotated[
        str,
        typer.Argument(
            metavar="SYSTEM", help="A system's name, or an instance file (.json).", autocompletion=names.systems
        ),
    ],
    n: Annotated[int, typer.Option(help="Number of tokens.", min=1)] = 10,
    d: Annotated[int, typer.Option(help="Dimension of a token.", min=1)] = 3,
    heads: Annotated[int, typer.Option(help="Heads of a random multi-head system.", min=1)] = 2,
    alpha: Annotated[float | None, typer.Option(help="Step of a map; 0.25 where the matrices are random.")] = None,
    instances: Annotated[int, typer.Option(help="Random starts followed together.", min=1)] = 1,
    end: Annotated[float | None, typer.Option(help="End time, or number of layers.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same run.")] = 0,
    mask: Annotated[
        str | None, typer.Option(help="Who attends to whom: full or causal; default: the system's own.")
    ] = None,
    method: Annotated[str, typer.Option(help="dopri5, bosh3, or rk4 with --step; flows only.")] = "dopri5",
    step: Annotated[float | None, typer.Option(help="Fixed step of the integrator.")] = None,
    rtol: Annotated[float, typer.Option(help="Relative tolerance.")] = 1e-8,
    samples: Annotated[int, typer.Option(help="How many times are kept.", min=2)] = 200,
    device: names.DeviceOption = "cpu",
    certify: Annotated[bool, typer.Option("--certify", help="Certify the equilibrium near the first limit.")] = False,
    figure: Annotated[Path | None, typer.Option(help="Write a figure (.png, .svg, .pdf).")] = None,
    data: Annotated[Path | None, typer.Option(help="Write times, states and observables (.npz).")] = None,
    animate: Annotated[Path | None, typer.Option(help="Write the moving tokens (.gif, .html); d = 2 or 3.")] = None,
    style: Annotated[str, typer.Option(help=STYLE_HELP, autocompletion=names.styles)] = "page",
    json: JsonFlag = False,
) -> None:
    """Follow tokens: where they go, with a figure and a data file.

    Example: eigentoken simulate attention-map --n 10 --seed 1 --figure run.png
    """
    from eigentoken.figures import run_simulation
    from eigentoken.numerics.dynamics.simulate import OptionError, SimulationOptions

    options: SimulationOptions = {
        "n": n, "d": d, "heads": heads, "alpha": alpha, "instances": instances, "end": end, "seed": seed, "mask": mask,
        "method": method, "step": step, "rtol": rtol, "samples": samples, "certify": certify,
        "device": device,
    }  # fmt: skip
    try:
        with progress(f"following {system}") as advance:
            summary = run_simulation(
                system,
                figure=figure,
                data=data,
                animation=animate,
                style=style,
                watch=lambda now: advance(0, now),
                **options,
            )
    except OptionError as problem:
        raise ValueError(f"--{problem}") from None
    if json:
        show_json(summary)
        return
    say(f"{summary['system']}: {_limits(summary)}", "bold")
    rows = [(name, f"{each['start']:.4g}", f"{each['end']:.4g}") for name, each in summary["observables"].items()]
    table("", ("observable", "start", "end"), rows, wrap=("observable",))
    found = summary["equilibrium"]
    if found is not None:
        say(f"equilibrium near the limit: {found['exists']['verdict']} ({found['exists']['reason']})")
        say(f"stable: {found['stable']['verdict']} ({found['stable']['reason']})")
    for path in summary["files"].values():
        say(f"wrote {path}")


def _limits(summary: SimulationDocument) -> str:
    return ", ".join(f"{name} {each['count']} of {each['total']}" for name, each in summary["limits"].items())


def reproduce(
    recipes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RECIPE", help="Names from --list; all of them by default.", autocompletion=names.recipes
        ),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the recipes.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="The whole set scaled down, in minutes.")] = False,
    paper: Annotated[bool, typer.Option("--paper", help="The papers' largest shapes too (GPT-2 XL).")] = False,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of figures, data and the gallery.")] = Path(
        "out/reproduce"
    ),
    model: Annotated[
        list[str] | None, typer.Option("--model", help="Own checkpoints to run on as well (repeat).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed.")] = 0,
    style: Annotated[str, typer.Option(help=STYLE_HELP, autocompletion=names.styles)] = "page",
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what is there already.")] = False,
    jobs: Annotated[int, typer.Option(help="Recipes beside each other, in so many processes.", min=1)] = 1,
    backend: Annotated[str, typer.Option(help="Where recipes run: loky, dask with --address, or slurm.")] = "loky",
    address: Annotated[str | None, typer.Option(help="Scheduler of a Dask cluster, tcp://host:port.")] = None,
    json: JsonFlag = False,
) -> None:
    """Run and draw the papers' figures and tables.

    Each is compared with what the paper claims.
    A recipe agrees, differs, or cannot run here and says why; an interrupted run resumes.

    Example: eigentoken reproduce --quick
    """
    from eigentoken.figures import list_recipes, run_recipes

    if quick and paper:
        raise ValueError("--quick and --paper are two scales: give one of them")
    if listing:
        whole = list_recipes()
        listed = whole["recipes"]
        if json:
            show_json(whole)
        else:
            rows = [(each["name"], each["figure"], each["title"]) for each in listed]
            table(f"{len(listed)} recipes", ("name", "figure", "title"), rows, wrap=("title", "figure"))
        return

    scale: Scale = "quick" if quick else "paper" if paper else "full"
    if not recipes and not quick and not settings.quiet:
        long = f"all {len(list_recipes()['recipes'])} recipes in full: a long run, kept as it goes"
        typer.echo(f"{long}; --quick takes minutes, and --list has the names", err=True)
    with progress("reproducing", len(recipes or list_recipes()["recipes"])) as advance:
        done = run_recipes(
            recipes or None, scale=scale, seed=seed, folder=output, resume=not fresh, models=model or (),
            progress=lambda now: advance(0, now), finished=lambda each: advance(1, None, _line(each)), style=style,
            jobs=jobs, backend=backend, address=address,
        )  # fmt: skip
    if json:
        show_json(done)
        return
    rows = [(each["name"], each["status"], each["reason"]) for each in done["outcomes"]]
    table("", ("recipe", "outcome", "why"), rows, wrap=("why",))
    for each in done["outcomes"] if recipes else ():
        _details(each)
    _named(done["outcomes"], bool(recipes))
    say(f"gallery: {done['gallery']}")


def _line(outcome: Outcome) -> str:
    """One outcome in a line, for who waits for the others."""
    return f"{outcome['status']}  {outcome['title']} ({outcome['name']})"


def _named(outcomes: list[Outcome], whole: bool) -> None:
    """The titles of the statements that were named by their ids; ``whole``: the details of each outcome were told."""
    from eigentoken.proofs.typeset.summary import named_above

    texts = [each["reason"] for each in outcomes]
    for each in outcomes if whole else ():
        texts += [each["note"], *(text for check in each["checks"] for text in (check["claim"], check["evidence"]))]
    if named := named_above(texts):
        say("named above")
        for told in named:
            say_hanging(f"- {told.called}")


def _details(outcome: Outcome) -> None:
    """Each claim of a recipe asked for by name with its evidence, its tables, and what stood in for what."""
    words = {True: "agrees", False: "differs"}
    rows = [(words[check["agrees"]], check["claim"], check["evidence"]) for check in outcome["checks"]]
    if rows:
        table(outcome["name"], ("", "claim", "evidence"), rows, wrap=("claim", "evidence"))
    for found in outcome["tables"]:
        table(found["title"], tuple(found["columns"]), found["rows"], wrap=(found["columns"][0],))
    if outcome["note"]:
        say(outcome["note"])
