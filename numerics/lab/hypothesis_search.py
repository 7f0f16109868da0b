"""Hypothesis steers: instances of a plan one by one, with ``target()`` on the violation."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor

from eigentoken.numerics.deadline import OutOfTime, is_over, patient
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.strategies import plan_instances
from eigentoken.numerics.lab.premises import premise_holds
from eigentoken.numerics.lab.targets import Target

__all__ = ["steered_search"]


def steered_search(goal: Target, examples: int, seed: int) -> tuple[list[tuple[Batch, Tensor]], int]:
    """The instances with the largest violations among ``examples``, and how many were looked at."""
    import hypothesis
    from hypothesis import HealthCheck, Phase, given, settings, target
    from hypothesis.errors import HypothesisWarning, Unsatisfiable

    seen: list[tuple[float, Batch, Tensor]] = []
    looked = 0

    @hypothesis.seed(seed)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.target],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(plan_instances(goal.plan))
    def look(batch: Batch) -> None:
        nonlocal looked
        if is_over():  # no Exception: Hypothesis takes it for no failure, which it would play again (and call flaky)
            raise OutOfTime
        if not bool(premise_holds(goal, batch)):
            return
        looked += 1
        value = goal.violation(batch)
        height = float(value[0])
        if torch.isfinite(value).all():
            target(max(-1e6, min(1e6, height)))
            seen.append((height, batch, value))

    with warnings.catch_warnings(), patient():
        warnings.simplefilter("ignore", HypothesisWarning)
        try:
            look()
        except Unsatisfiable:
            return [], looked
        except OutOfTime:
            pass
    seen.sort(key=lambda each: -each[0])
    return [(batch, value) for _, batch, value in seen[:8]], looked
