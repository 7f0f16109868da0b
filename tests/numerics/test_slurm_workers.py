"""Workers that SLURM starts: asked for as there are tasks, at most so many; here a stand-in for SLURM runs the job scripts."""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eigentoken.numerics.pool import Pool

pytest.importorskip("dask_jobqueue")

#: ``sbatch`` begins the script by itself and tells its number; with ``--test-only`` it reads it from its input and tells nothing.
SBATCH = """#!/bin/bash
echo "$@" >> "$SLURM_STAND_IN/asked"
if [ "$1" = "--test-only" ]; then
    grep -q "^#SBATCH" && [ ! -e "$SLURM_STAND_IN/full" ] && exit 0
    echo "sbatch: error: Batch job submission failed: Invalid partition name specified" >&2; exit 1
fi
cp "${@: -1}" "$SLURM_STAND_IN/job.sh"
setsid bash "$SLURM_STAND_IN/job.sh" > "$SLURM_STAND_IN/out" 2>&1 < /dev/null &
echo "$!" >> "$SLURM_STAND_IN/begun"
echo "Submitted batch job $!"
"""
SCANCEL = """#!/bin/bash
echo "$@" >> "$SLURM_STAND_IN/ended"
kill -- "-$1" 2> /dev/null || true
"""


def squared(number: int) -> tuple[int, int, str]:
    """A result, the process that found it, and how many threads it was told to use."""
    return number * number, os.getpid(), os.environ.get("OMP_NUM_THREADS", "")


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder on the PATH with ``sbatch`` and ``scancel``; its jobs are ended with the test."""
    import dask

    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_STAND_IN", str(tmp_path))
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    with dask.config.set({"jobqueue.slurm.interface": "lo", "jobqueue.slurm.local-directory": str(tmp_path)}):
        yield tmp_path
    for line in (tmp_path / "begun").read_text().split() if (tmp_path / "begun").exists() else ():
        try:
            os.killpg(int(line), signal.SIGKILL)
        except ProcessLookupError:
            continue


def test_tasks_bring_workers_and_their_end_ends_them(slurm: Path) -> None:
    with Pool(1, "slurm") as pool:
        assert pool.width == 2 and not pool.alone
        assert not (slurm / "begun").exists(), "a worker was asked for before there was a task"
        found = list(pool.map(squared, [(number,) for number in range(5)], str, ordered=True))
    assert [(place, result[0]) for place, result in found] == [(number, number**2) for number in range(5)]
    processes = {result[1] for _, result in found}
    assert len(processes) == 1 and os.getpid() not in processes
    assert {result[2] for _, result in found} == {"1"}
    begun = (slurm / "begun").read_text().split()
    assert len(begun) == 1
    assert set(begun) <= set((slurm / "ended").read_text().split())
    script = (slurm / "job.sh").read_text()
    assert "#SBATCH --cpus-per-task=1" in script and "#SBATCH --mem=8G" in script


def test_a_job_that_slurm_would_refuse_is_not_waited_for(slurm: Path) -> None:
    (slurm / "full").touch()
    with pytest.raises(ValueError, match=r"no worker can be asked for: .*Invalid partition name"), Pool(1, "slurm"):
        pass
    assert not (slurm / "begun").exists()


def test_without_slurm_it_says_where_to_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="sbatch is not on the PATH"), Pool(1, "slurm"):
        pass


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("dask_jobqueue", "dask_jobqueue.slurm"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ValueError, match=r"pip install 'eigentoken\[slurm\]'"), Pool(1, "slurm"):
        pass


def test_an_address_is_not_its_business() -> None:
    with pytest.raises(ValueError, match="leave it out beside slurm"):
        Pool(1, "slurm", "tcp://127.0.0.1:8786")
