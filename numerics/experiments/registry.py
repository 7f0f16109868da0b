"""Recipes: one figure or table of a paper each, found by name, run at three scales, resumable.

A recipe returns numbers and a chart, and says of each claim of the paper whether it *agrees* or
*differs*; what cannot be run here says why.  Agreement of a run with a claim is evidence, not proof.
"""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from eigentoken.documents.recipes_document import Recipe as RecipeDocument
from eigentoken.documents.reproduction_document import Check as CheckDocument
from eigentoken.documents.reproduction_document import Outcome, RecipeStatus
from eigentoken.files.arrays import write_npz
from eigentoken.files.documents import DocumentError, parse_json
from eigentoken.files.writing import append_line, opened, replacing, sealed
from eigentoken.numerics.dynamics.charts import Chart
from eigentoken.numerics.dynamics.threads import torch_threads
from eigentoken.numerics.experiments.checkpoints import Workbench
from eigentoken.numerics.experiments.paper_models import PAPER_MODELS
from eigentoken.theory.systems.suggestions import meant

__all__ = [
    "SCALES",
    "CannotRun",
    "Check",
    "Context",
    "Recipe",
    "RecipeOutcome",
    "RecipeResult",
    "check",
    "recipe",
    "recipe_named",
    "recipes",
    "run",
    "run_set",
]

#: "quick": minutes for the whole set; "full": the paper's sizes where a desktop can; "paper": GPT-2 XL shapes as well.
SCALES = ("quick", "full", "paper")


class CannotRun(Exception):
    """Raised by a recipe that lacks something; the message is the reason, in one line."""


@dataclass(frozen=True)
class Check:
    """One claim of the paper, whether the run agrees, and the numbers that say so.

    ``because`` says why a run differs: a statement that corrects the claim, or what stands in for the paper's setting.
    """

    claim: str
    agrees: bool
    evidence: str
    because: str = ""

    def as_dict(self) -> CheckDocument:
        return {"claim": self.claim, "agrees": self.agrees, "evidence": self.evidence, "because": self.because}

    @property
    def difference(self) -> str:
        """The claim, and why the run differs from it if that is known."""
        return f"{self.claim}: no, {self.because}" if self.because else self.claim


def check(claim: str, agrees: Any, evidence: str, because: str = "") -> Check:
    """A claim with its outcome; ``agrees`` may be any truth value, ``because`` is kept only if it is false."""
    return Check(claim, bool(agrees), evidence, "" if agrees else because)


@dataclass(frozen=True, eq=False)
class RecipeResult:
    """What a recipe gives back; ``note`` says how the run differs from the paper's: what stands in for what the paper had."""

    checks: Sequence[Check]
    numbers: Mapping[str, object]
    chart: Chart
    note: str

    def __post_init__(self) -> None:
        if len(self.note.split()) < 2:
            raise ValueError("a recipe tells in its note how the run differs from what the paper describes")


@dataclass(frozen=True, eq=False)
class Context:
    """How to run: scale, seed, the function that opens checkpoints, checkpoints of the user's own, progress.

    ``load`` and ``on_disk`` (are the weights of that name here, without the network?) are given by the caller because
    this room knows no checkpoint formats; without a loader the recipes on real models cannot run and say so.  ``work``
    keeps what a long recipe has done so far.
    """

    scale: str = "quick"
    seed: int = 0
    load: Callable[[str], Any] | None = None
    models: Sequence[str] = ()
    progress: Callable[[str], None] = lambda text: None
    on_disk: Callable[[str], bool] = lambda name: False
    work: Workbench = field(default_factory=Workbench)

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise ValueError(f"scale must be one of {', '.join(SCALES)}, got {self.scale!r}")

    def pick(self, quick: Any, full: Any, paper: Any = None) -> Any:
        """The setting for this scale (``paper`` defaults to ``full``)."""
        return {"quick": quick, "full": full, "paper": full if paper is None else paper}[self.scale]

    def model(self, source: str) -> Any:
        """An opened checkpoint, or :class:`CannotRun`."""
        if self.load is None:
            raise CannotRun(f"{source} is needed, and no loader of checkpoints was given")
        try:
            return self.load(source)
        except Exception as error:
            raise CannotRun(f"{source} cannot be opened: {' '.join(str(error).split())[:300]}") from None

    def family(self, family: str, *samples: str) -> list[Any]:
        """The samples, then the user's own checkpoints of that family; those that cannot be opened are left out.

        Raises :class:`CannotRun` when none can be opened.
        """
        opened, reasons = [], []
        for source in [*samples, *self.models]:
            try:
                model = self.model(source)
            except CannotRun as error:
                reasons.append(str(error))
                continue
            if source in samples or model.family == family:
                opened.append(model)
        if not opened:
            raise CannotRun("; ".join(reasons) or f"no checkpoint of the family {family} is at hand")
        return opened

    def gather(self, samples: Mapping[str, Sequence[str]], paper: Sequence[str]) -> list[Any]:
        """The samples of each family, the user's own of these families, then the paper's models on the disk.

        Raises :class:`CannotRun` when there is none of them.
        """
        opened, reasons = [], []
        for family, sources in samples.items():
            try:
                opened.extend(self.family(family, *sources))
            except CannotRun as reason:
                reasons.append(str(reason))
        opened.extend(self.paper(*paper))
        if not opened:
            raise CannotRun("; ".join(reasons))
        return opened

    def paper(self, *names: str) -> list[Any]:
        """Those of the papers' own models whose weights are on the disk; none at the scale "quick"."""
        if self.load is None or self.scale == "quick":
            return []
        found = (next(filter(self.on_disk, PAPER_MODELS[name]), None) for name in names)
        return [self.model(source) for source in found if source is not None]


@dataclass(frozen=True)
class Recipe:
    """A named experiment: which figure of which paper, with which settings, and what the paper claims from it."""

    name: str
    paper: str
    figure: str
    title: str
    settings: str
    claim: str
    function: Callable[[Context], RecipeResult] = field(repr=False, compare=False)
    heavy: bool = False

    def as_dict(self) -> RecipeDocument:
        return {
            "name": self.name,
            "paper": self.paper,
            "figure": self.figure,
            "title": self.title,
            "settings": self.settings,
            "claim": self.claim,
        }


@dataclass(frozen=True, eq=False)
class RecipeOutcome:
    """A recipe that ran, or the reason why it did not."""

    recipe: Recipe
    status: RecipeStatus
    reason: str
    seconds: float
    scale: str
    seed: int
    checks: Sequence[Check] = ()
    numbers: Mapping[str, object] = field(default_factory=dict)
    note: str = ""
    chart: Chart | None = None
    resumed: bool = False
    models: Sequence[str] = ()

    def as_dict(self) -> Outcome:
        """Everything but the chart."""
        return {
            **self.recipe.as_dict(),
            "status": self.status,
            "reason": self.reason,
            "seconds": round(self.seconds, 2),
            "scale": self.scale,
            "seed": self.seed,
            "models": list(self.models),
            "checks": [c.as_dict() for c in self.checks],
            "numbers": {str(name): _plain(value) for name, value in self.numbers.items()},
            "note": self.note,
            "tables": []
            if self.chart is None
            else [
                {"title": t.title, "columns": list(t.columns), "rows": [list(r) for r in t.rows]}
                for t in self.chart.tables
            ],
            "resumed": self.resumed,
        }


_RECIPES: dict[str, Recipe] = {}


def recipe(
    name: str, *, paper: str, figure: str, title: str, settings: str, claim: str, heavy: bool = False
) -> Callable[[Callable[[Context], RecipeResult]], Callable[[Context], RecipeResult]]:
    """Registers a function as the recipe of a figure; ``heavy`` ones use all threads of torch, except when quick."""

    def register(function: Callable[[Context], RecipeResult]) -> Callable[[Context], RecipeResult]:
        known = _RECIPES.get(name)
        if known is not None and known.function.__code__.co_filename != function.__code__.co_filename:
            raise ValueError(f"recipe {name!r} is defined twice: in {known.function.__module__} already")
        _RECIPES[name] = Recipe(name, paper, figure, title, settings, claim, function, heavy)
        return function

    return register


def recipes() -> list[Recipe]:
    """All recipes, in the order of their names (numbers compared as numbers)."""
    import eigentoken.numerics.experiments as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return sorted(_RECIPES.values(), key=lambda r: _natural(r.name))


def recipe_named(name: str) -> Recipe:
    """The recipe of that name."""
    known = {listed.name: listed for listed in recipes()}
    if name not in known:
        hint = meant(name, known, "`eigentoken reproduce --list` lists them")
        raise ValueError(f"unknown recipe {name!r}: {hint}")
    return known[name]


def run(listed: Recipe, context: Context) -> RecipeOutcome:
    """Run one recipe: "agrees" if every claim does, "differs" if one does not, "cannot run" with the reason.

    A checkpoint that opens but does not fit the recipe (a ``ValueError``) is a reason, too: the set goes on.
    """
    begin = time.perf_counter()
    try:
        with torch_threads(small=not listed.heavy or context.scale == "quick"):
            result = listed.function(context)
    except (CannotRun, ValueError) as lacking:
        seconds = time.perf_counter() - begin
        return RecipeOutcome(
            listed,
            "cannot run",
            " ".join(str(lacking).split()),
            seconds,
            context.scale,
            context.seed,
            models=tuple(context.models),
        )
    against = [c.difference for c in result.checks if not c.agrees]
    status: RecipeStatus = "differs" if against else "agrees"
    reason = "; ".join(against) if against else f"{len(result.checks)} claims checked"
    seconds = time.perf_counter() - begin
    return RecipeOutcome(
        listed,
        status,
        reason,
        seconds,
        context.scale,
        context.seed,
        result.checks,
        result.numbers,
        result.note,
        result.chart,
        models=tuple(context.models),
    )


def run_set(
    names: Iterable[str] | None,
    context: Context,
    folder: Path | None = None,
    *,
    resume: bool = True,
    finish: Callable[[RecipeOutcome], None] = lambda outcome: None,
    save_every: float = 5.0,
) -> Iterator[RecipeOutcome]:
    """Run recipes one after another; each outcome is appended to ``folder/results.jsonl`` as soon as it is there.

    With ``resume`` a recipe already recorded there with the same scale, seed and models is not run again (unless it
    could not run), and one that was interrupted goes on from what it kept in ``folder/partial`` (at most every
    ``save_every`` seconds), with the same numbers as a run that was not.  ``finish`` is called with each new outcome
    before it is recorded, to draw its figure.
    """
    wanted = recipes() if names is None else [recipe_named(name) for name in names]
    done = _recorded(folder, context, wanted) if folder is not None and resume else {}
    for listed in wanted:
        if listed.name in done:
            yield _restored(listed, done[listed.name])
            continue
        context.progress(f"{listed.name}: {listed.title}")
        work = Workbench(None if folder is None else folder / "partial" / _work_name(listed, context), save_every)
        if not resume:
            work.clear()
        outcome = run(listed, replace(context, work=work))
        finish(outcome)
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            if outcome.chart is not None:
                with replacing(folder / f"{listed.name}.npz") as place:
                    write_npz(place, outcome.chart.arrays())
            append_line(folder / "results.jsonl", sealed(_line(outcome), _work_name(listed, context)))
        work.clear()
        yield outcome


def _work_name(listed: Recipe, context: Context) -> str:
    """One name for a recipe, scale, seed, models and code: what another version of the recipe kept is not taken up."""
    source = Path(listed.function.__code__.co_filename)
    said = f"{listed.settings}\n{list(context.models)}\n".encode()
    digest = hashlib.sha256(said + (source.read_bytes() if source.exists() else b"")).hexdigest()[:12]
    return f"{listed.name}-{context.scale}-{context.seed}-{digest}"


def _recorded(folder: Path, context: Context, wanted: Sequence[Recipe]) -> dict[str, dict[str, Any]]:
    """Outcomes of these recipes with this scale, seed, models and code; a line that was changed is told and not taken."""
    path = folder / "results.jsonl"
    if not path.exists():
        return {}
    found: dict[str, dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            document = parse_json(line, str(path))
        except DocumentError:
            continue  # the line that was being written when the run was interrupted
        if not isinstance(document, dict) or not isinstance(document.get("name"), str):
            continue
        same = (document.get("scale"), document.get("seed")) == (context.scale, context.seed)
        same = same and document.get("models", []) == list(context.models)
        listed = next((each for each in wanted if each.name == document["name"]), None)
        if not same or listed is None or document.get("status") == "cannot run":
            continue
        if opened(line, _work_name(listed, context)) is None:
            print(
                f"{path}: the line of {listed.name} was changed or is of other code: it is run again", file=sys.stderr
            )
            continue
        found[document["name"]] = document
    return found


def _restored(listed: Recipe, document: Mapping[str, Any]) -> RecipeOutcome:
    from eigentoken.numerics.dynamics.charts import Table

    tables = [Table(t["columns"], t["rows"], t["title"]) for t in document["tables"]]
    checks = [Check(**c) for c in document["checks"]]
    bare = RecipeOutcome(
        listed, document["status"], document["reason"], document["seconds"], document["scale"], document["seed"]
    )
    chart = Chart(listed.title, tables=tables)
    return replace(bare, checks=checks, numbers=document["numbers"], note=document["note"], chart=chart, resumed=True)


def _natural(name: str) -> list[tuple[int, int, str]]:
    parts: list[tuple[int, int, str]] = []
    digits = ""
    for character in name + "-":
        if character.isdigit():
            digits += character
            continue
        if digits:
            parts.append((0, int(digits), ""))
            digits = ""
        parts.append((1, 0, character))
    return parts


def _line(outcome: RecipeOutcome) -> dict[str, object]:
    """What is kept of an outcome; a line that is kept was run, not resumed."""
    return {name: value for name, value in outcome.as_dict().items() if name != "resumed"}


def _plain(value: object) -> object:
    """Numbers and arrays as JSON has them; what is not finite becomes text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    return value if isinstance(value, int | str | bool) or value is None else str(value)
