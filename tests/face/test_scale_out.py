"""check, refute, verify, reproduce and the runs for soundness over one back end: a lost worker, a full disk and two writers.

The cluster is a scheduler and two workers, each a process of its own, on ports of loopback that are free.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import eigentoken as et
from eigentoken.figures import run_recipes
from eigentoken.numerics.pool import Pool
from eigentoken.proofs.verify_many import verify_many

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
try:
    from benchmarks.soundness import work
    from benchmarks.soundness.state import State
finally:
    sys.path.remove(str(ROOT))

MODEL = str(ROOT / "examples" / "byte_lm" / "step03000.safetensors")
RECIPES = ("abella-3", "li-altafini-6-spectra")
STATEMENTS = ["PM-E3", "PM-E1", "PM-L3", "PM-L4"]


def check(folder: Path, **where: Any) -> Any:
    return et.check(MODEL, statements="PM-N1", sequences=0, work=folder, **where).document


def refute(_: Path, **where: Any) -> Any:
    """Survivors of so many instances: everything but the time."""
    report = et.refute(
        ROOT / "examples" / "conjectures" / "oja_consensus.py", instances=3000, seconds=600, seed=6, **where
    )
    document = report.as_dict()
    for result in document["results"]:
        for key in ("seconds", "meaning", "lost_workers"):
            result.pop(key)
    return document


def verify(folder: Path, **where: Any) -> Any:
    return verify_many(STATEMENTS, instances=100, work=folder, **where)


def reproduce(folder: Path, **where: Any) -> Any:
    done = run_recipes(RECIPES, scale="quick", folder=folder, **where)
    return {each["name"]: {**each, "seconds": 0, "resumed": False} for each in done["outcomes"]}


def soundness(folder: Path, **where: Any) -> Any:
    """Are all cases there, and are they those of the seeds?"""
    state, chosen = State(), [each for each in work.domains() if each.name == "pairs"]
    options: Any = {"until": time.time() + 300, "commit": work.commit_here(), "advance": lambda *_: None}
    reached = work.run(chosen, state, None, cases=3000, pool=Pool(**where), **options)
    for each in state.counts:
        again, wrong = work.run_seeds(each.domain, each.generator, each.first, each.next - each.first, each.commit)
        assert (again.holds, again.fails, again.undecided, again.other, wrong) == (
            each.holds, each.fails, each.undecided, each.other, []
        )  # fmt: skip
    return reached and state.cases() >= 3000


COMMANDS: list[Callable[..., Any]] = [check, refute, verify, reproduce, soundness]


class Cluster:
    """A scheduler, and workers that are started as there should be two."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.scheduler = self.begin(
            "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"
        )
        until = time.time() + 60
        while not self.file.exists() and time.time() < until:
            time.sleep(0.05)
        self.address = str(json.loads(self.file.read_text())["address"])
        self.workers: list[subprocess.Popen[bytes]] = []

    def begin(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{name}", "--scheduler-file", str(self.file), *arguments]
        silent: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, **silent)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        for each in (*self.workers, self.scheduler):
            each.kill()
            each.wait()

    @contextmanager
    def losing_one(self) -> Iterator[list[int]]:
        """The first worker that has a task dies of SIGKILL."""
        from distributed import Client

        self.workers = [each for each in self.workers if each.poll() is None]
        while len(self.workers) < 2:
            local = str(self.file.parent)
            self.workers.append(
                self.begin("dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", local)
            )
        over, lost = threading.Event(), []
        with Client(self.address, timeout=60) as client:
            client.wait_for_workers(2, timeout=120)
            processes: dict[str, int] = client.run(os.getpid)

            def kill() -> None:
                while not over.wait(0.02):
                    for place, tasks in client.processing().items():
                        if tasks:
                            lost.append(processes[place])
                            next(each for each in self.workers if each.pid == lost[0]).kill()
                            return

            watcher = threading.Thread(target=kill)
            watcher.start()
            try:
                yield lost
            finally:
                over.set()
                watcher.join()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    with Cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_lost_worker_loses_nothing(command: Callable[..., Any], cluster: Cluster, tmp_path: Path) -> None:
    alone = command(tmp_path / "alone")
    with cluster.losing_one() as lost:
        shared = command(tmp_path / "shared", backend="dask", address=cluster.address)
    assert len(lost) == 1
    assert shared == alone and shared


@pytest.mark.parametrize("command", [check, verify, pytest.param(reproduce, marks=pytest.mark.slow)])
def test_a_full_disk_keeps_what_was_there(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends with the first unit that has no room; what was kept is read, and the rest is done."""
    alone = command(tmp_path / "alone")
    true, room = os.fsync, [3]

    def full(handle: int) -> None:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        room[0] -= 1
        true(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        command(tmp_path / "small")
    monkeypatch.undo()
    kept = {path: path.read_bytes() for path in (tmp_path / "small").rglob("*.json*")}
    assert command(tmp_path / "small") == alone
    logs = [path for path in kept if path.suffix == ".jsonl" and kept[path]]
    assert logs or command is reproduce
    assert all(path.read_bytes().startswith(kept[path][: kept[path].rfind(b"\n") + 1]) for path in logs)


def _both(*commands: list[str]) -> None:
    """The commands beside each other, each to its end."""
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "eigentoken", *each], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for each in commands
    ]
    for each in started:
        _, err = each.communicate(timeout=300)
        assert each.returncode in (0, 1), err.decode()


@pytest.mark.slow
def test_two_writers_of_one_folder_or_file_end_with_what_one_finds(tmp_path: Path) -> None:
    """check, verify and reproduce keep units in a folder, refute replaces its report as a whole."""
    work = tmp_path / "check"
    words = ["check", MODEL, "--statement", "PM-N1", "--sequences", "0", "--work", str(work), "-o"]
    _both([*words, str(tmp_path / "a.json")], [*words, str(tmp_path / "b.json")])
    a, b = (json.loads((tmp_path / f"{name}.json").read_text()) for name in "ab")
    assert a == b
    verified = ["verify", *STATEMENTS, "--instances", "20", "--jobs", "1", "--work", str(tmp_path / "verify")]
    _both(verified, verified)
    asked: list[str] = []
    found = verify_many(STATEMENTS, instances=20, work=tmp_path / "verify", watch=lambda each: asked.append(each.id))
    assert all(each.good for each in found) and sorted(asked) == sorted(STATEMENTS)
    figures = ["reproduce", *RECIPES, "--quick", "-o", str(tmp_path / "figures")]
    _both(figures, figures)
    again = run_recipes(RECIPES, scale="quick", folder=tmp_path / "figures")
    assert [each["resumed"] for each in again["outcomes"]] == [True, True]
    report = tmp_path / "report.json"
    searched = [
        "refute",
        "examples/conjectures/oja_consensus.py",
        "--instances",
        "300",
        "--seed",
        "6",
        "-o",
        str(report),
    ]
    _both(searched, searched)
    assert json.loads(report.read_text())["results"]
    assert not list(tmp_path.rglob(".eigentoken-unfinished-*"))
