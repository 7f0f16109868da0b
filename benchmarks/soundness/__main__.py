"""``python -m benchmarks.soundness``: run, resume, and write the table."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from eigentoken.files.writing import write_text  # noqa: E402
from eigentoken.numerics.pool import Pool  # noqa: E402
from eigentoken.output import progress  # noqa: E402

from .estimate import estimate  # noqa: E402
from .state import ROOT, State, commit, held  # noqa: E402
from .table import table  # noqa: E402
from .work import domains, run  # noqa: E402


@contextlib.contextmanager
def _stopping() -> Iterator[None]:
    """Both signals stop the run after the pieces at work, also where a shell started it in the background and ignores one."""
    before = {each: signal.signal(each, signal.default_int_handler) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="soundness", description="Attack every word with exact ground truth.")
    parser.add_argument("--cases", type=int, default=1_000_000, help="verdicts to compare, over all domains")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--backend", choices=("loky", "dask", "slurm"), help="processes of this machine, or a cluster")
    parser.add_argument("--address", help="scheduler of a Dask cluster, tcp://host:port, in place of --jobs")
    parser.add_argument("--estimate", action="store_true", help="run a few cases and say what --cases would cost")
    parser.add_argument("--domain", action="append", help="only this domain (may be given again)")
    parser.add_argument("--state", type=Path, default=ROOT / "out" / "soundness.json", help="where the counts are kept")
    parser.add_argument("--fresh", action="store_true", help="forget earlier counts")
    parser.add_argument("--table", type=Path, default=ROOT / "docs" / "tables" / "soundness.md")
    parser.add_argument("--no-table", action="store_true", help="run, and leave the recorded table as it is")
    options = parser.parse_args(arguments)
    names = [domain.name for domain in domains()]
    unknown = set(options.domain or ()) - set(names)
    if unknown or options.cases < 1 or options.jobs < 1 or not options.seconds > 0:
        print(
            f"soundness: error: domains are {', '.join(names)}; --cases, --jobs, --seconds above 0",
            file=sys.stderr,
        )
        return 2
    chosen = [domain for domain in domains() if not options.domain or domain.name in options.domain]
    if options.estimate:
        print("\n".join(estimate(chosen, options.cases, options.jobs, commit())))
        return 0
    try:
        backend = options.backend or ("loky" if options.address is None else "dask")
        pool = Pool(options.jobs, backend, options.address)
        with held(options.state), _stopping(), progress("soundness", options.cases) as advance:
            state = State() if options.fresh else State.load(options.state)
            advance(state.cases())
            reached = run(
                chosen,
                state,
                options.state,
                cases=options.cases,
                until=time.time() + options.seconds,
                commit=commit(),
                advance=advance,
                pool=pool,
            )
    except ValueError as problem:
        print(f"soundness: error: {problem}", file=sys.stderr)
        return 2
    if not options.no_table:
        write_text(options.table, table(state, domains(), options.jobs, options.cases))
    false = sum(each.false for each in state.counts)
    state_of = "all cases reached" if reached else "stopped before all cases were reached; run it again to go on"
    print(f"{state.cases():,} cases, {false} false ({state_of})")
    for each in state.wrong[:20]:
        print(f"  {each[:300]}")
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
