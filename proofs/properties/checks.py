"""Property tests of formulas that the language of claims has no word for: a case, seen on many random instances.

A case draws one instance from a seeded source and returns, by name, how far each thing that it looks at is from what the
statement says, relative to the size of the terms.  These are measurements in double precision with a generous allowance
for rounding (:data:`ALLOWANCE`); ``holds`` means that no instance among those drawn violates it, which is never a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided

__all__ = ["ALLOWANCE", "Case", "OnInstances", "above", "gap", "look"]

#: draws one instance from a seeded ``numpy`` generator: how far each thing it looks at is from what is stated
Case = Callable[[np.random.Generator], Mapping[str, float]]
#: Relative differences below this are rounding: the cases are small (at most 6 tokens in 5 dimensions), doubles have 1e-16.
ALLOWANCE = 1e-8


def gap(computed: ArrayLike, stated: ArrayLike) -> float:
    """``max |computed - stated| / max(1, max |stated|)``; nan where a number is missing.

    >>> gap([1.0, 2.0], [1.0, 2.5])
    0.2
    """
    import numpy as np

    first, second = np.asarray(computed), np.asarray(stated)
    if first.shape != second.shape:
        raise ValueError(f"computed has the shape {first.shape}, stated {second.shape}: compare like with like")
    scale = max(1.0, float(np.max(np.abs(second), initial=0.0)))
    return float(np.max(np.abs(first - second), initial=0.0)) / scale


def above(values: ArrayLike, bound: ArrayLike) -> float:
    """How far ``values >= bound`` is violated, relative to ``max(1, |bound|)``: not positive where it holds.

    >>> above([3.0, 2.0], 2.5)
    0.2
    """
    import numpy as np

    low = np.asarray(bound) - np.asarray(values)
    return float(np.max(low / np.maximum(1.0, np.abs(bound))))


def look(case: Case, instances: int, seed: int) -> Verdict:
    """The case on that many instances; instance ``index`` depends on the seed and on the index only.

    A number that is not finite counts as a violation.
    """
    import numpy as np

    if instances < 1:
        return undecided("no instance was asked for")
    worst, place = -np.inf, ""
    for index in range(instances):
        found = case(np.random.default_rng((seed, index)))
        if not found:
            return undecided(f"instance {index} of seed {seed} looked at nothing")
        for name, violation in found.items():
            size = violation if np.isfinite(violation) else np.inf
            if size > worst:
                worst, place = size, f"{name}, instance {index} of seed {seed}"
    said = f"worst relative difference {worst:.2g} ({place}), rounding allowance {ALLOWANCE:g}"
    if worst > ALLOWANCE:
        return fails(f"violated: {said}")
    return holds(f"no violation among {instances} random instances (measured in doubles): {said}")


@dataclass(frozen=True)
class OnInstances:
    """``(instances, seed) -> verdict`` of a case."""

    case: Case

    def __call__(self, instances: int, seed: int) -> Verdict:
        return look(self.case, instances, seed)
