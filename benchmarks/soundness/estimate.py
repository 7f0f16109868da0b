"""What so many cases would cost, from cases that are run now: a plan for a cluster, printed before anything is begun."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence

from eigentoken.numerics.pool import Pool

from .judging import Domain
from .state import State
from .work import run

__all__ = ["estimate"]

#: How many cases are run to know what a case costs.
SAMPLE = 3000


def estimate(chosen: Sequence[Domain], cases: int, jobs: int, commit: str, sample: int = SAMPLE) -> list[str]:
    """Time, memory and what is kept, as lines."""
    state = State()
    run(
        chosen, state, None, cases=sample, until=time.time() + 600, commit=commit,
        advance=lambda _count, _what: None, pool=Pool(),
    )  # fmt: skip
    shares = sum(domain.share for domain in chosen)
    spent = {name: sum(each.seconds for each in state.counts if each.domain == name) for name in domain_names(chosen)}
    each_case = sum(d.share / shares * spent[d.name] / max(1, state.cases(d.name)) for d in chosen)
    hours = cases * each_case / 3600
    unit = 1 if sys.platform == "darwin" else 1024
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30
    piece = max(each.seconds / max(1, each.next - each.first) for each in state.counts)
    return [
        f"{cases:,} cases, from {state.cases():,} that were run now ({sum(spent.values()):.0f} s of processor time)",
        f"  - one core: about {hours:,.3g} h ({1000 * each_case:.3g} ms a case; the time is linear in the cases)",
        f"  - --jobs {jobs}: about {hours / jobs:,.3g} h, {hours / jobs / 24:.3g} days; a worker needs {memory:.1f} GB",
        f"  - a day takes {max(1, -(-hours // 24)):,.0f} cores: --address tcp://HOST:8786 gives pieces to a Dask cluster,",
        "    which may grow and shrink, --backend slurm to jobs of SLURM",
        f"  - kept: one file of counts, a line for each of {sum(len(d.generators) for d in chosen)} generators; what is lost",
        f"    with a worker or an interruption is the pieces at work (a seed takes up to {piece:.1g} s)",
    ]


def domain_names(chosen: Sequence[Domain]) -> list[str]:
    return [domain.name for domain in chosen]
