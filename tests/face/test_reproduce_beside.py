"""Recipes beside each other, on processes of this machine or on a cluster: the same outcomes and files as one after another."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from eigentoken.figures import run_recipes
from eigentoken.numerics.pool import Lost, Pool

NAMES = ("abella-3", "li-altafini-6-spectra")


def plain(done: Any) -> dict[str, Any]:
    """Each outcome by name, without how long it took."""
    return {each["name"]: {**each, "seconds": 0} for each in done["outcomes"]}


def test_a_cluster_gives_the_same_outcomes_and_resumes(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    alone = run_recipes(NAMES, scale="quick")
    options: dict[str, Any] = {"scale": "quick", "folder": tmp_path, "backend": "dask"}
    with distributed.LocalCluster(1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        shared = run_recipes(NAMES, address=cluster.scheduler_address, **options)
        again = run_recipes(NAMES, address=cluster.scheduler_address, **options)
    assert plain(shared) == plain(alone)
    assert {f"{name}.{kind}" for name in NAMES for kind in ("png", "svg", "pdf", "npz")} <= set(os.listdir(tmp_path))
    assert [each["resumed"] for each in again["outcomes"]] == [True, True]


def test_a_recipe_that_kills_its_worker_could_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(self: Pool, function: Any, tasks: Any, named: Any, *, ordered: bool) -> Any:
        yield 0, function(*tasks[0])
        yield 1, Lost(f"a worker was lost (SIGKILL): {named(tasks[1])} was given up")

    monkeypatch.setattr(Pool, "map", lost)
    told: list[str] = []
    done = run_recipes(NAMES, scale="quick", jobs=2, progress=told.append)
    assert told == ["2 recipes in loky workers"]
    assert [each["status"] for each in done["outcomes"]] == ["agrees", "cannot run"]
    assert "li-altafini-6-spectra was given up" in done["outcomes"][1]["reason"]


def test_what_cannot_be_sent_is_refused() -> None:
    with pytest.raises(ValueError, match="leave jobs at 1"):
        run_recipes(NAMES, load=lambda name: pytest.fail(name), jobs=2)
    with pytest.raises(ValueError, match="needs the address of a scheduler"):
        run_recipes(NAMES, backend="dask")
