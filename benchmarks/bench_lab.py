"""Throughput of the lab against the same property run one by one under Hypothesis, on this machine, in one run.

Prints the instances per second of both for a spectrum claim (stability of bipartite points of the attention map) and a
trajectory claim (convergence of the Oja map), at n = 8 and d = 8, and for a free predicate of the attention map (a margin in
numpy, its next state and weights), and their ratios.  Times are of the processor.  Run with ``OMP_NUM_THREADS=1``.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.joining import together
from eigentoken.numerics.instances.plans import Plan
from eigentoken.numerics.instances.sampling import sample
from eigentoken.numerics.instances.strategies import plan_instances
from eigentoken.numerics.lab import Conjecture
from eigentoken.numerics.lab.predicates import predicate_violation
from eigentoken.numerics.lab.search import looked_at_together
from eigentoken.numerics.lab.targets import Target, targets
from eigentoken.numerics.readings import load
from eigentoken.theory.language.claims import AlmostEveryConverges, Claim, Stable
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt
from eigentoken.theory.language.readings import OBSERVED
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, alpha, matrix

V = matrix("V")
CONDITIONS = (
    Symmetric(V),
    SimpleTop(V),
    Relation(Eigenvalue(V, 1) > 0),
    Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2)),
)
CASES: dict[str, tuple[str, Claim, int, int]] = {
    "spectrum": ("attention-map", Stable(BipartiteAt(V, 1)), 20_000, 150),
    "trajectory": ("oja-map", AlmostEveryConverges(ConsensusAt(V, 1)), 2_000, 15),
}


def within_reach(x: Any) -> float:
    """No token moves by more than the largest weight allows: a margin of the kind that people write."""
    return float(2 - np.linalg.norm(x.advance() - x.tokens, axis=1).max() * x.attention().max())


FREE = Conjecture("free", "attention-map", CONDITIONS, holds_if=within_reach, n=[8], d=[8])
#: A free predicate in the place of a claim, with instances in batches and one by one.
FREE_COUNTS = (3_000, 150)


def observed(claim: Claim | Conjecture, batch: Batch) -> None:
    if isinstance(claim, Conjecture):
        predicate_violation(claim, batch)
    else:
        OBSERVED(claim, batch)


def batched(aim: Target, claim: Claim | Conjecture, count: int) -> float:
    """Instances per second in batches, as a unit of the search has them: drawing, joining, conditions and claim together."""
    start = time.process_time()
    drawn = sample(aim.plan, count, 1, cells_at_most=8)
    for each in looked_at_together(drawn.batches, aim):
        observed(claim, together(each))
    return drawn.count / (time.process_time() - start)


def one_by_one(plan: Plan, claim: Claim | Conjecture, count: int) -> float:
    """The same property under Hypothesis, one instance at a time."""
    from hypothesis import HealthCheck, Phase, given, settings

    looked = 0

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(plan_instances(plan))
    def look(batch: Any) -> None:
        nonlocal looked
        looked += 1
        observed(claim, batch)

    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        look()
    return looked / (time.process_time() - start)


def measure(report: Callable[[str], None] = print) -> dict[str, dict[str, float]]:
    """Both rates and their ratio, for each kind of claim."""
    load()
    found: dict[str, dict[str, float]] = {}
    aims = {
        name: targets(Conjecture(name, system, CONDITIONS, [claim], n=[8], d=[8]))[0]
        for name, (system, claim, _, _) in CASES.items()
    }
    counts = {name: case[2:] for name, case in CASES.items()}
    aims["predicate"], counts["predicate"] = targets(FREE)[0], FREE_COUNTS
    for name, aim in aims.items():
        claim, (many, few) = aim.claim or FREE, counts[name]
        batched(aim, claim, 64)  # warm up
        single = one_by_one(aim.plan, claim, few)
        rate = batched(aim, claim, many)
        found[name] = {"batched": rate, "one_by_one": single, "ratio": rate / single}
        report(f"{name}: {rate:.0f}/s in batches, {single:.1f}/s one by one, ratio {rate / single:.0f}")
    return found


if __name__ == "__main__":
    quiet = "--json" in sys.argv
    result = measure((lambda text: None) if quiet else print)
    if quiet:
        print(json.dumps({"schema": "eigentoken/benchmark/1", "lab": result}))
