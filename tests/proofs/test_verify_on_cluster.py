"""Statements verified by the pool: another text there, or a lost worker, is no proof; what is kept is not done again."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from eigentoken.cli import app
from eigentoken.files import writing
from eigentoken.numerics.pool import Lost, Pool
from eigentoken.proofs import verify_many as module
from eigentoken.proofs.verify import Verified
from eigentoken.proofs.verify_many import verify_many

IDS = ["PM-E3", "PM-E1", "PM-L3", "PM-E3"]
PARTS = module._part
SOON = CliRunner()


def test_a_cluster_finds_what_one_process_finds(tmp_path: Path) -> None:
    """And keeps it, as one process does; the second time no worker is asked."""
    distributed = pytest.importorskip("distributed")
    finished: list[int] = []
    with distributed.LocalCluster(1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        found = verify_many(
            IDS,
            instances=20,
            backend="dask",
            address=cluster.scheduler_address,
            work=tmp_path,
            done=lambda: finished.append(1),
        )
    assert [each.id for each in found] == IDS and len(finished) == len(IDS)
    assert found == verify_many(IDS, instances=20)
    assert all(each.good for each in found)
    gone = verify_many(IDS, instances=20, backend="dask", address="tcp://127.0.0.1:9", work=tmp_path)
    assert gone == found


def _dies_once(name: str, proof: bool, how: Any) -> Verified:
    mark = Path(os.environ["EIGENTOKEN_TEST_MARK"])
    if name == "PM-E1" and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return PARTS(name, proof, how)


def _dies(name: str, proof: bool, how: Any) -> Verified:
    if name == "PM-E1" and not proof:
        os.kill(os.getpid(), signal.SIGKILL)
    return PARTS(name, proof, how)


@pytest.mark.slow
def test_a_process_that_dies_once_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EIGENTOKEN_TEST_MARK", str(tmp_path / "died"))
    monkeypatch.setattr(module, "_part", _dies_once)
    found = verify_many(IDS, instances=20, jobs=2)
    monkeypatch.undo()
    assert (tmp_path / "died").exists() and found == verify_many(IDS, instances=20)


def test_a_statement_that_kills_its_worker_is_not_verified_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_part", _dies)
    found = {each.id: each for each in verify_many(IDS, instances=20, jobs=2, work=tmp_path)}
    assert [name for name, each in found.items() if not each.good] == ["PM-E1"]
    (bad,) = [line for line in found["PM-E1"].lines if not line.good]
    assert (bad.what, bad.name) == ("worker", "random instances")
    assert "SIGKILL" in bad.reason and "PM-E1, random instances, was given up" in bad.reason
    monkeypatch.undo()
    again = verify_many(IDS, instances=20, work=tmp_path)
    assert again == verify_many(IDS, instances=20) and all(each.good for each in again)


def test_a_worker_with_another_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_part", lambda name, proof, how: Verified(name, "0" * 64, ()))
    with pytest.raises(ValueError, match="another text of PM-E1"):
        verify_many(["PM-E1"], backend="sequential")


def test_what_names_no_cluster_is_refused() -> None:
    with pytest.raises(ValueError, match="needs the address of a scheduler"):
        verify_many(["PM-E1"], backend="dask")
    with pytest.raises(ValueError, match="leave it out beside loky"):
        verify_many(["PM-E1"], address="tcp://127.0.0.1:8786")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """The halves that are done, and not taken from a folder."""
    asked: list[tuple[str, bool]] = []

    def part(name: str, proof: bool, how: Any) -> Verified:
        asked.append((name, proof))
        return PARTS(name, proof, how)

    monkeypatch.setattr(module, "_part", part)
    return asked


def test_a_run_goes_on_where_it_was_interrupted(tmp_path: Path, counted: list[tuple[str, bool]]) -> None:
    def stop(_: Verified) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify_many(IDS, instances=20, work=tmp_path, watch=stop)
    assert counted == [("PM-E3", True), ("PM-E3", False)]
    found = verify_many(IDS, instances=20, work=tmp_path)
    assert len(counted) == len(set(counted)) == 6
    assert found == verify_many(IDS, instances=20)
    counted.clear()
    assert verify_many(IDS, instances=20, work=tmp_path) == found and counted == []


def test_what_is_kept_is_of_these_options_and_this_code_and_unchanged(
    tmp_path: Path, counted: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(**options: Any) -> int:
        counted.clear()
        verify_many(["PM-E1"], work=tmp_path, **{"instances": 20, **options})
        return len(counted)

    assert asked() == 2 and asked() == 0
    assert asked(seed=1) == 2 and asked(instances=21) == 2 and asked(second=False) == 2 and asked() == 0
    file = tmp_path / "verified.jsonl"
    whole = file.read_bytes()
    first, *others = whole.splitlines(keepends=True)
    for bad in (first.replace(b'"holds"', b'"fails"'), first.replace(b"PM-E1", b"PM-E3"), first[:-20], first[:-1]):
        assert bad != first
        file.write_bytes(b"".join(others[1:]) + bad)
        assert asked() == 2 and asked() == 0  # the second half is not there either
    file.write_bytes(whole)
    monkeypatch.setattr(module, "_code", lambda: "of another text")
    assert asked() == 2


def test_a_full_disk_keeps_what_was_there(
    tmp_path: Path, counted: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    room = [3]

    def append(path: Path, line: str) -> None:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        room[0] -= 1
        writing.append_line(path, line)

    monkeypatch.setattr(module, "append_line", append)
    told = SOON.invoke(app, ["verify", "PM-E3", "PM-E1", "--instances", "20", "--jobs", "1", "--work", str(tmp_path)])
    assert isinstance(told.exception, OSError) and told.exception.errno == errno.ENOSPC
    assert len(counted) == 4
    room[0] = 100
    counted.clear()
    found = verify_many(["PM-E3", "PM-E1"], instances=20, work=tmp_path)
    assert counted == [("PM-E1", False)] and found == verify_many(["PM-E3", "PM-E1"], instances=20)


def test_two_runs_in_one_folder_lose_no_line(tmp_path: Path, counted: list[tuple[str, bool]]) -> None:
    """The second begins in the middle of the first; what both did stands twice and is read once."""
    found: list[list[Verified]] = []

    def other(_: Verified) -> None:
        if not found:
            found.append([])
            found[0] = verify_many(IDS, instances=20, work=tmp_path)

    first = verify_many(IDS, instances=20, work=tmp_path, watch=other)
    assert first == found[0] == verify_many(IDS, instances=20)
    lines = (tmp_path / "verified.jsonl").read_bytes().splitlines()
    assert len(lines) == 10  # two halves were there when the second came
    counted.clear()
    assert verify_many(IDS, instances=20, work=tmp_path) == first and not counted


def test_what_the_pool_gives_up_in_a_row_is_done_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lane of a cluster whose worker died each time: the tasks that are well come back."""
    from distributed.scheduler import KilledWorker

    class Done:
        def __init__(self, key: str, found: Any) -> None:
            self.key, self.found = key, found

        def result(self) -> Any:
            if isinstance(self.found, BaseException):
                raise self.found
            return self.found

    class Running(list[Done]):
        def update(self, more: Sequence[Done]) -> None:
            self.extend(more)

        def __iter__(self) -> Iterator[Done]:
            while self:
                yield self.pop(0)

    sent: list[Any] = []

    class Client:
        def submit(self, function: Any, *given: Any, pure: bool) -> Done:
            sent.append(given[1])
            row = given[1] if isinstance(given[1], list) else [given[2]]
            dies = ("bad",) in row
            found = KilledWorker("task", SimpleNamespace(address="tcp://127.0.0.1:9"), 3) if dies else function(*given)
            return Done(str(len(sent)), found)

        def cancel(self, _: Any) -> None:
            return None

        def nthreads(self) -> dict[str, int]:
            return {"one": 1}

    import distributed

    monkeypatch.setattr(distributed, "as_completed", Running)
    pool = Pool(1, "dask", "tcp://127.0.0.1:9")
    pool._client = Client()
    found = dict(pool.lanes(str.upper, [[("a",), ("bad",), ("b",)]], iter([("c",), ("d",)]), lambda task: str(task[0])))
    assert (found["a",], found["b",], found["c",], found["d",]) == ("A", "B", "C", "D")
    assert isinstance(found["bad",], Lost) and "bad was given up" in found["bad",].why
