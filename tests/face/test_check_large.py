"""A checkpoint of the shape of a 7B model, two layers of it, checked in less than 3 GB (slow: minutes a layer)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ..models.test_streaming import seven_b

CHECK = """
import json, resource, sys
from pathlib import Path
from eigentoken.checking import check
report = check(sys.argv[1], work=Path(sys.argv[2]), jobs=2, sequences=1, tokens=8)
peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
words = {verdict["verdict"] for layer in report.layers for verdict in layer["leaders"].values()}
heads = [len(head["hypotheses"]) for layer in report.layers for head in layer["heads"]]
print(json.dumps({"peaks": peaks, "words": sorted(words), "heads": heads, "observed": len(report.document["observed"])}))
"""


@pytest.mark.slow
def test_a_7b_shaped_checkpoint_is_checked_in_less_than_3_gb(tmp_path: Path) -> None:
    """Two jobs are asked for: at this width the check takes one, so that the whole stays below the limit."""
    folder = tmp_path / "model"
    folder.mkdir()
    seven_b(folder)
    command = [sys.executable, "-c", CHECK, str(folder), str(tmp_path / "work")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.strip().splitlines()[-1])
    print("peak memory", [peak * 1024 / 1e9 for peak in found["peaks"]], "GB")
    assert sum(found["peaks"]) * 1024 < 3e9
    assert found["words"] != ["undecided"]
    assert len(found["heads"]) == 64
    assert min(found["heads"]) > 50
    assert found["observed"] == 2


def test_layers_run_side_by_side_only_where_they_fit() -> None:
    from eigentoken.checking.run import MEMORY, affordable_jobs

    assert affordable_jobs(256, 2) == 2
    assert affordable_jobs(1024, 4) == 4
    assert affordable_jobs(4096, 8) == 1
    assert affordable_jobs(100_000, 8) == 1
    assert all(affordable_jobs(d, 8) * (160 * d * d + 3e8) <= MEMORY for d in (256, 1024, 2048))
