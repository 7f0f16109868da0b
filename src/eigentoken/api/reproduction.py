"""``et.reproduce``: the papers' figures and tables, run and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eigentoken.display import frame, html_table, listing
from eigentoken.documents.reproduction_document import Outcome, ReproductionDocument, Scale
from eigentoken.figures.runs import run_recipes

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Reproduction", "reproduce"]


@dataclass(frozen=True, repr=False)
class Reproduction:
    """What each recipe came to: it agrees with the paper, differs, or cannot run here; ``document`` is the JSON."""

    document: ReproductionDocument

    @property
    def outcomes(self) -> list[Outcome]:
        return list(self.document["outcomes"])

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)

    def __getitem__(self, name: str) -> Outcome:
        for each in self.outcomes:
            if each["name"] == name:
                return each
        raise KeyError(f"{name!r} was not run: {', '.join(each['name'] for each in self.outcomes)}")

    def as_dict(self) -> ReproductionDocument:
        return self.document.copy()

    def __repr__(self) -> str:
        lines = [f"{each['name']}: {each['status']}; {each['reason']}" for each in self.outcomes]
        return listing(f"<{len(self)} recipes at scale {self.document['scale']}>", lines)

    def _repr_html_(self) -> str:
        rows = [(each["name"], each["figure"], each["status"], each["reason"]) for each in self.outcomes]
        return html_table(("recipe", "figure", "outcome", "why"), rows)

    def to_frame(self) -> DataFrame:
        """One row a recipe (pandas)."""
        wanted = ("name", "paper", "figure", "title", "status", "reason")
        return frame(({key: dict(each)[key] for key in wanted} for each in self.outcomes), "name")


def reproduce(
    recipes: str | Sequence[str] | None = None,
    *,
    scale: Scale = "quick",
    seed: int = 0,
    folder: str | Path | None = None,
    models: Sequence[str] = (),
    fresh: bool = False,
    jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> Reproduction:
    """Run the recipes of the papers' figures and tables (all, or those named) and compare with what the papers claim.

    ``scale``: ``quick`` (minutes), ``full`` or ``paper``.  With a ``folder``, figures, data and a gallery are written there,
    and what is there already is not run again unless ``fresh``.  ``models``: own checkpoints to run on as well.
    ``jobs``, or ``backend="dask"`` with the ``address`` of a scheduler: recipes run beside each other.
    """
    if scale not in ("quick", "full", "paper"):
        raise ValueError(f"scale must be quick, full or paper, got {scale!r}")
    if recipes is not None and not isinstance(recipes, Iterable):
        raise TypeError(f"recipes must be the names of some, or of one, got {recipes!r}: `eigentoken reproduce --list`")
    names = None if recipes is None else [recipes] if isinstance(recipes, str) else list(recipes)
    done = run_recipes(
        names, scale=scale, seed=seed, folder=folder, resume=not fresh, models=models, progress=progress,
        jobs=jobs, backend=backend, address=address,
    )  # fmt: skip
    return Reproduction(done)
