"""The same search on one core, on several processes, and on a Dask cluster that loses a worker."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from eigentoken.numerics.lab import Conjecture, ConjectureError, refute, scale_out
from eigentoken.numerics.lab.scale_out import Workers
from eigentoken.theory.language.claims import Unstable
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, alpha, k, matrix, p, q

V = matrix("V")
CONDITIONS = (
    Symmetric(V),
    SimpleTop(V),
    Relation(Eigenvalue(V, 1) > 0),
    Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2)),
)
FALSE = Conjecture("any split", "oja-map", CONDITIONS, Unstable(BipartiteAt(V, k)), n=[3, 4], d=[2, 3])
TRUE = Conjecture(
    "unequal", "oja-map", (*CONDITIONS, Relation(sp.Ne(p, q))), Unstable(BipartiteAt(V, k)), n=[3], d=[2, 3]
)


def outcome(report: Any) -> dict[str, Any]:
    """What must not depend on the workers: everything but the time."""
    document = report.as_dict()
    for result in document["results"]:
        for key in ("seconds", "meaning", "lost_workers"):
            result.pop(key)
    return document


def test_processes_give_the_same_result() -> None:
    alone = refute(FALSE, seconds=300, instances=20_000, seed=4)
    shared = refute(FALSE, seconds=300, instances=20_000, seed=4, jobs=2)
    assert alone.results[0].answer == "refuted"
    assert outcome(alone) == outcome(shared)


def test_a_predicate_that_raises_in_a_worker_is_told_with_its_place(tmp_path: Path) -> None:
    """Not at the first instances that are tried here, but in a worker, in the middle of the search."""
    file = tmp_path / "late.py"
    file.write_text(
        "from eigentoken.numerics.lab import Conjecture\n"
        "def late(x):\n"
        "    return x.n < 3 or x.V[0, 0] > 1e-9 or [][0]\n"
        "guess = Conjecture('late', 'oja-map', holds_if=late, n=[2, 3], d=[2])\n"
    )
    with pytest.raises(ConjectureError, match=r"late\.py:3: late: holds_if raised IndexError"):
        refute(file, seconds=120, seed=1, jobs=2)


@pytest.mark.slow
def test_processes_try_the_same_instances() -> None:
    alone = refute(TRUE, seconds=600, instances=6000, seed=4)
    shared = refute(TRUE, seconds=600, instances=6000, seed=4, jobs=2)
    assert alone.results[0].stopped == shared.results[0].stopped == "instances"
    assert outcome(alone) == outcome(shared)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_loses_a_worker_loses_nothing() -> None:
    """Three worker processes behind a scheduler on loopback; one is killed while it works."""
    distributed = pytest.importorskip("distributed")
    alone = refute(TRUE, seconds=600, instances=4000, seed=6)
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=":0"
    ) as cluster:
        with distributed.Client(cluster.scheduler_address) as client:
            pids = list(client.run(os.getpid).values())
        assert len(set(pids)) == 3
        killed: list[int] = []

        def kill_one(progress: Any) -> None:
            if not killed:  # a moment later, while units are running
                killed.append(pids[0])
                threading.Timer(0.5, os.kill, (pids[0], signal.SIGKILL)).start()

        shared = refute(
            TRUE,
            seconds=600,
            instances=4000,
            seed=6,
            backend="dask",
            address=cluster.scheduler_address,
            watch=kill_one,
        )
    assert killed
    assert outcome(alone) == outcome(shared)


def fatal(once: Path) -> Conjecture:
    """A predicate that kills the worker that asks it, by a signal, until the file is there."""
    here = os.getpid()

    def kills(instance: Any) -> bool:
        if os.getpid() != here and not once.exists():
            once.touch()
            os.kill(os.getpid(), signal.SIGFPE)
        return True

    return Conjecture("fatal", "oja-map", CONDITIONS, holds_if=kills, n=[2], d=[2])


@pytest.mark.slow
@pytest.mark.parametrize("instances", [200, 1500])
def test_a_worker_that_dies_of_a_signal_loses_nothing_and_is_named(instances: int, tmp_path: Path) -> None:
    options: dict[str, Any] = {"seconds": 300, "instances": instances, "seed": 1}
    once = tmp_path / "dead"
    shared = refute(fatal(once), **options, jobs=2)
    assert once.exists()
    alone = refute(fatal(once), **options)
    (lost,) = shared.results[0].lost
    assert "SIGFPE" in lost and "run again" in lost
    assert lost in shared.results[0].meaning and alone.results[0].lost == ()
    assert {**outcome(alone)["results"][0], "place": ""} == {**outcome(shared)["results"][0], "place": ""}


def test_a_unit_that_kills_each_worker_is_given_up_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units that need no library, so that the five workers are soon there; a real one dies in the test above."""

    def dies(target: str, unit: Any, _: float | None) -> Any:
        if target == "fatal":
            os.kill(os.getpid(), signal.SIGFPE)
        return SimpleNamespace(tried=unit.size, error="", process=os.getpid())

    monkeypatch.setattr(scale_out, "run_unit", dies)
    unit: Any = SimpleNamespace(method="batches", seed=5, size=20)
    work: Any = [("fatal", unit), ("harmless", unit)]
    with Workers(2) as workers:
        dead, alive = workers.run(work)
    assert dead.tried == 0 and "SIGFPE" in dead.error and "given up" in dead.error
    assert "unit batches with seed 5" in dead.error
    assert alive.tried == 20 and not alive.error and alive.process != os.getpid()
    assert len(workers.lost) == 3


def test_bad_workers_are_refused() -> None:
    with pytest.raises(ValueError, match="backend must be one of"):
        Workers(1, "threads")
    with pytest.raises(ValueError, match="address"):
        Workers(1, "dask")
    with pytest.raises(ValueError, match="jobs"):
        Workers(0)
