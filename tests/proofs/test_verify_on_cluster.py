"""Statements verified by the workers of a cluster: the same lines; another text there, or a lost worker, is no proof."""

from __future__ import annotations

from typing import Any

import pytest

from eigentoken.numerics.pool import Lost, Pool
from eigentoken.proofs import verify as module
from eigentoken.proofs.verify import Verified, verify_many

IDS = ["PM-E3", "PM-E1", "PM-L3", "PM-E3"]


def test_a_cluster_finds_what_one_process_finds() -> None:
    distributed = pytest.importorskip("distributed")
    finished: list[int] = []
    with distributed.LocalCluster(1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        found = verify_many(
            IDS, instances=20, backend="dask", address=cluster.scheduler_address, done=lambda: finished.append(1)
        )
    assert [each.id for each in found] == IDS and len(finished) == len(IDS)
    assert found == verify_many(IDS, instances=20)
    assert all(each.good for each in found)


def test_a_statement_that_kills_its_worker_is_not_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(self: Pool, function: Any, tasks: Any, named: Any, *, ordered: bool) -> Any:
        for place, task in enumerate(tasks):
            dies = task[:2] == ("PM-E1", False)
            yield place, Lost(f"a worker was lost: {named(task)} was given up") if dies else function(*task)

    monkeypatch.setattr(Pool, "map", lost)
    found = {each.id: each for each in verify_many(IDS, instances=20, backend="sequential")}
    assert [name for name, each in found.items() if not each.good] == ["PM-E1"]
    (bad,) = [line for line in found["PM-E1"].lines if not line.good]
    assert (bad.what, bad.name) == ("worker", "random instances") and "PM-E1 was given up" in bad.reason


def test_a_worker_with_another_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(names: str, proof: bool, how: Any) -> Any:
        return [(name, proof, Verified(name, "0" * 64, ())) for name in names.split()]

    monkeypatch.setattr(module, "_parts", other)
    with pytest.raises(ValueError, match="another text of PM-E1"):
        verify_many(["PM-E1"], backend="sequential")


def test_what_names_no_cluster_is_refused() -> None:
    with pytest.raises(ValueError, match="needs the address of a scheduler"):
        verify_many(["PM-E1"], backend="dask")
    with pytest.raises(ValueError, match="leave it out beside loky"):
        verify_many(["PM-E1"], address="tcp://127.0.0.1:8786")
