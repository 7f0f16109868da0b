"""The functions behind ``eigentoken simulate`` and ``eigentoken reproduce``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

if TYPE_CHECKING:
    from eigentoken.documents.recipes_document import RecipesDocument
    from eigentoken.documents.reproduction_document import Outcome, ReproductionDocument, Scale
    from eigentoken.documents.simulation_document import SimulationDocument, SimulationFiles
    from eigentoken.models.loading.model import Model
    from eigentoken.numerics.dynamics.simulate import SimulationOptions
    from eigentoken.numerics.pool import Pool
    from eigentoken.theory.systems.system import System

__all__ = ["list_recipes", "run_recipes", "run_simulation", "simulation_options"]


def simulation_options() -> list[dict[str, Any]]:
    """Name, default and meaning of each option of :func:`run_simulation`."""
    from eigentoken.numerics.dynamics.simulate import OPTIONS

    return [{"name": option.name, "default": option.default, "meaning": option.meaning} for option in OPTIONS]


def run_simulation(
    source: str | Path | Mapping[str, object],
    *,
    figure: str | Path | None = None,
    data: str | Path | None = None,
    animation: str | Path | None = None,
    style: str = "page",
    watch: Callable[[str], None] = lambda _now: None,
    **options: Unpack[SimulationOptions],
) -> SimulationDocument:
    """Simulate a system (by name) or an instance (file or mapping); write the figure, the data file and the animation if named.

    Returns the summary, a JSON document with a ``schema`` field, with the paths that were written.  ``watch`` is called with what
    begins.
    """
    from eigentoken.figures.animation import animate, can_move
    from eigentoken.files.writing import could_be_ready, ready
    from eigentoken.numerics.dynamics.figure_styles import style_named
    from eigentoken.numerics.dynamics.simulate import simulate

    chosen = style_named(style)
    _endings(figure, data, animation)
    could_be_ready(figure, data, animation)

    def begun(system: System, d: int) -> None:
        """What cannot be shown moving is refused before a folder is made for it."""
        if animation is not None:
            can_move(system, d)
        ready(figure, data, animation)

    run = simulate(source, begun=begun, **options)
    summary = run.as_dict()
    files: SimulationFiles = {}
    if figure is not None:
        from eigentoken.numerics.dynamics.drawing import save

        files["figure"] = str(save(run.chart(), figure, chosen))
    if data is not None:
        files["data"] = str(run.save(Path(data)))
    if animation is not None:
        files["animation"] = str(animate(run, animation, lambda made, all: watch(f"frame {made + 1} of {all}")))
    summary["files"] = files
    return summary


def _endings(figure: str | Path | None, data: str | Path | None, animation: str | Path | None) -> None:
    """What a file cannot be is said before the run."""
    if figure is not None and Path(figure).suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(f"a figure is saved as .png, .svg or .pdf, got {Path(figure).name!r}")
    if data is not None and Path(data).suffix != ".npz":
        raise ValueError(f"the data file of a simulation is a .npz file, got {Path(data).name!r}")
    if animation is not None and Path(animation).suffix not in (".gif", ".html"):
        raise ValueError(f"an animation is written as .gif or .html, got {Path(animation).name!r}")


def list_recipes() -> RecipesDocument:
    """``{"schema", "recipes": [{"name", "paper", "figure", "title", "settings", "claim"}]}``."""
    from eigentoken.numerics.experiments.registry import recipes

    return {"schema": "eigentoken/recipes/1", "recipes": [recipe.as_dict() for recipe in recipes()]}


def run_recipes(
    names: Iterable[str] | None = None,
    *,
    scale: Scale = "full",
    seed: int = 0,
    folder: str | Path | None = None,
    resume: bool = True,
    models: Sequence[str] = (),
    load: Callable[[str], Model] | None = None,
    progress: Callable[[str], None] = lambda text: None,
    finished: Callable[[Outcome], None] = lambda outcome: None,
    save_every: float = 5.0,
    style: str = "page",
    jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
) -> ReproductionDocument:
    """Run the recipes (all, or those named); figures, data, results and the gallery page go to ``folder``.

    ``scale`` is "quick", "full" or "paper"; ``models`` are checkpoints of the user's own to run the recipes of their
    family on as well, and the papers' own models are taken from the Hugging Face cache when they are there (not at the
    scale "quick"); ``finished`` is called with each outcome.  A recipe that was interrupted goes on from what it kept,
    at most every ``save_every`` seconds.  ``style`` is that of the printed figures (PDF, SVG).

    With ``jobs`` above 1, or ``backend="dask"`` and the ``address`` of a scheduler, recipes run beside each other, each in
    a worker (:class:`~eigentoken.numerics.pool.Pool`); the folder must be the same for all of them.

    Returns ``{"schema", "outcomes", "gallery"}``.
    """
    from eigentoken.numerics.dynamics.figure_styles import style_named
    from eigentoken.numerics.experiments.registry import recipe_named, recipes
    from eigentoken.numerics.pool import Pool

    style_named(style)
    target = None if folder is None else Path(folder)
    wanted = [each.name for each in recipes()] if names is None else [recipe_named(each).name for each in names]
    set_up = _SetUp(scale, seed, target, resume, tuple(models), save_every, style)
    pool = Pool(jobs, backend, address)
    if load is not None and not pool.alone:
        raise ValueError("load is a function of this process: leave jobs at 1, or leave it out")
    documents: list[Outcome] = []
    for outcome in (
        _one_by_one(wanted, set_up, load, progress) if pool.alone else _beside(wanted, set_up, pool, progress)
    ):
        documents.append(outcome)
        finished(outcome)
    page = ""
    if target is not None and documents:
        from eigentoken.figures.gallery import gallery_page

        page = str(gallery_page(target))
    return {"schema": "eigentoken/reproduction/1", "scale": scale, "seed": seed, "outcomes": documents, "gallery": page}


@dataclass(frozen=True)
class _SetUp:
    """What all recipes of one run have in common."""

    scale: Scale
    seed: int
    folder: Path | None
    resume: bool
    models: tuple[str, ...]
    save_every: float
    style: str


def _everywhere(source: str) -> str:
    """The name of a checkpoint for a worker that runs in another folder."""
    return str(Path(source).resolve()) if Path(source).exists() else source


def _beside(names: Sequence[str], set_up: _SetUp, pool: Pool, progress: Callable[[str], None]) -> Iterator[Outcome]:
    """Each recipe a task of the pool, in the order in which they end; one that ended its worker each time could not run."""
    from eigentoken.numerics.experiments.registry import recipe_named
    from eigentoken.numerics.pool import Lost

    progress(f"{len(names)} recipes in {pool.backend} workers")
    folder = None if set_up.folder is None else set_up.folder.resolve()
    sent = replace(set_up, folder=folder, models=tuple(map(_everywhere, set_up.models)))
    with pool:
        for place, found in pool.map(
            _in_worker, [(name, sent) for name in names], lambda task: str(task[0]), ordered=False
        ):
            if isinstance(found, Lost):
                yield {
                    **recipe_named(names[place]).as_dict(), "status": "cannot run", "reason": found.why, "seconds": 0.0,
                    "checks": [], "numbers": {}, "resumed": False, "scale": set_up.scale, "seed": set_up.seed,
                    "models": list(set_up.models), "note": "", "tables": [],
                }  # fmt: skip
            else:
                yield found


def _in_worker(name: str, set_up: _SetUp) -> Outcome:
    (outcome,) = _one_by_one([name], set_up, None, lambda _text: None)
    return outcome


def _one_by_one(
    names: Sequence[str], set_up: _SetUp, load: Callable[[str], Model] | None, progress: Callable[[str], None]
) -> Iterator[Outcome]:
    from eigentoken.numerics.dynamics.figure_styles import STYLES, style_named
    from eigentoken.numerics.experiments.registry import Context, RecipeOutcome, run_set

    printed, target = style_named(set_up.style), set_up.folder
    if load is None:
        from eigentoken.models import load as load_model

        load = load_model

    def draw(outcome: RecipeOutcome) -> None:
        if target is not None and outcome.chart is not None and outcome.chart.panels:
            from eigentoken.numerics.dynamics.drawing import save

            target.mkdir(parents=True, exist_ok=True)
            for kind, chosen in (("png", STYLES["page"]), ("svg", printed), ("pdf", printed)):
                save(outcome.chart, target / f"{outcome.recipe.name}.{kind}", chosen)

    def on_disk(name: str) -> bool:
        from eigentoken.models.loading.hub import cached

        return cached(name) is not None

    context = Context(set_up.scale, set_up.seed, load, set_up.models, progress, on_disk)
    for outcome in run_set(names, context, target, resume=set_up.resume, finish=draw, save_every=set_up.save_every):
        yield outcome.as_dict()
