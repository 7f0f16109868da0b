"""What `verify` of the book and `make test` take: seconds on the clock with two workers, and of processor time.

``python benchmarks/bench_suite.py [--tests]``.  The ratio is the number of seconds itself, held against the target; processor
time is beside it, since the clock speaks of an idle machine alone: the load at the beginning is told.  ``--tests`` runs
``make test``, too, which needs the environment that it makes.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ratios import Row, command, environment, report

ROOT = Path(__file__).resolve().parent.parent
#: The statements that the book had when the target of 45 s was set (its ledger at commit 505724cf).
BOOK_THEN = """
AB-E10 AB-E15 AB-E2 AB-E25 AB-E3 AB-E4 AB-E5 AB-E6 AB-E7 AB-E8 AB-E9 AB-L3.1 AB-L3.2 AB-L3.3 AB-L4.1 AB-L4.2 AB-L5.1 AB-L6.1
AB-R4.2 AB-R5.1 AB-S7 AB-T3.1 AB-T3.2 AB-T4.1 AB-T5.1 AB-T6.1 AB-X0 AB-X1 AB-X2 CT-1 CT-2 CT-3 CT-4 CT-5 CT-6 CT-7 CT-8
PH-C1 PH-C2 PH-C4 PH-M PH-T1 PH-T2 PH-T3 PH-T4 PH-T5 PH-T6 PH-T7 PH-T8 PH-T9 PM-A1 PM-C2 PM-CM PM-CX1 PM-DIFF PM-DOM PM-E1
PM-E10 PM-E2 PM-E21 PM-E3 PM-E4 PM-E5 PM-E6 PM-E7 PM-E8 PM-E9 PM-F PM-L1 PM-L10 PM-L11 PM-L12 PM-L13 PM-L14 PM-L15 PM-L2 PM-L3
PM-L4 PM-L5 PM-L6 PM-L7 PM-L8 PM-L9 PM-N1 PM-N3 PM-N4 PM-N4' PM-N6 PM-P1 PM-R1 PM-R10 PM-R2 PM-R3 PM-R4 PM-R6 PM-R7 PM-R8 PM-S1
PM-S2 PM-S3 PM-T1 PM-T2 PM-T3
"""
THEN = BOOK_THEN.split()
#: Fewer tests than this that passed are not the suite.
WHOLE_SUITE = 10_000


def measured(arguments: Sequence[str]) -> tuple[float, float, str]:
    """Seconds on the clock, of processor time with all processes, and what was printed; an error ends the benchmark."""
    with tempfile.TemporaryFile("w+") as printed:
        start = time.perf_counter()
        process = subprocess.Popen(arguments, env=environment(), cwd=ROOT, stdout=printed, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
        printed.seek(0)
        text = printed.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments[:4])} ended with {process.returncode}: {text[-500:]}")
    return wall, used.ru_utime + used.ru_stime, text


def rows_of(what: str, size: str, arguments: Sequence[str], clock: float, processor: float | None) -> Iterator[Row]:
    """A row for the clock, and one for processor time where that has a target."""
    load = f"load {os.getloadavg()[0]:.1f} at the beginning"
    wall, spent, printed = measured(arguments)
    if counted := re.findall(r"(\d+) passed", printed):
        if int(counted[-1]) < WHOLE_SUITE:
            raise SystemExit(f"{counted[-1]} tests passed: that is not the suite")
        size = f"{int(counted[-1]):,} tests"
    note = f"{spent:.0f} s of processor time; {load}"
    yield Row(f"{what}, on the clock, seconds", size, None, wall, wall, f"<= {clock:g}", wall <= clock, note)
    if processor is not None:
        what = f"{what}, processor time, seconds"
        yield Row(what, size, None, spent, spent, f"<= {processor:g}", spent <= processor, load)


def rows(tests: bool) -> Iterator[Row]:
    two = ["--jobs", "2"]
    yield from rows_of("verify", f"the {len(THEN)} statements of then", command("verify", *THEN, *two), 45, None)
    yield from rows_of("verify", "all statements", command("verify", *two), 90, None)
    if tests:
        yield from rows_of("make test", "", ["make", "test", "JOBS=2"], 300, 480)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", action="store_true", help="make test, too: five minutes of an idle machine")
    report(rows(parser.parse_args(arguments).tests))
    return 0


if __name__ == "__main__":
    sys.exit(main())
