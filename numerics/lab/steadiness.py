"""Is a violation seen, or is it the rounding of its own computation?

Where large numbers are subtracted, floats leave a difference that is no violation.  How large it may be depends on what was
subtracted, which nobody notes; but it jumps from one instance to the next.  So the instance is looked at again with all numbers
changed a little, to both sides: a violation that is there changes smoothly, ``f(x + h) + f(x - h) = 2 f(x) + O(h^2)``, and one
that is rounding does not (as in stochastic arithmetic: Vignes, *Discrete Stochastic Arithmetic for Validating Results of
Numerical Software*, Numerical Algorithms, 2004).
"""

from __future__ import annotations

import torch

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.lab.premises import leaves, placed, with_leaves
from eigentoken.numerics.lab.targets import Target
from eigentoken.theory.kernel.formulas import Formula

__all__ = ["is_steady"]

#: The parts of themselves by which numbers are changed (a jump may take a large change), each in so many directions.
NUDGES, DIRECTIONS = (1e-13, 1e-11, 1e-9, 1e-7, 1e-5), 5
#: A violation that is there has second differences below this part of it.
STEADY = 0.25


def is_steady(target: Target, alone: Batch, violation: float) -> bool:
    """Does the violation of this one instance change smoothly when its numbers are changed a little?

    Matrices and numbers are multiplied by factors near 1, which keeps their symmetry and signs; tokens are moved where they are
    free.  Only observables and formulas are asked: code of an author may jump as it likes, and is decided exactly.  Where a guard
    of a formula no longer holds nothing is said.
    """
    differs = isinstance(target.inner, Formula) or hasattr(target.inner, "observable")
    if not differs or target.about_limits or any(callable(value) for value in alone.parameters.values()):
        return True
    generator = torch.Generator().manual_seed(alone.n * 1000 + alone.d)
    sizes = torch.tensor(NUDGES, dtype=torch.float64).repeat_interleave(DIRECTIONS)
    free = target.plan.place is None
    many = alone.take([0] * len(sizes))

    def directions(value: torch.Tensor, *, whole: bool) -> torch.Tensor:
        shape = (len(sizes), *([1] * (value.ndim - 1))) if whole else tuple(value.shape)
        return sizes.reshape(-1, *([1] * (value.ndim - 1))) * torch.randn(
            shape, generator=generator, dtype=torch.float64
        )

    turned = {name: directions(value, whole=value.ndim != 2) for name, value in leaves(many).items()}
    moved = directions(many.tokens, whole=False)
    both = torch.zeros(len(sizes), dtype=torch.float64)
    with torch.no_grad():
        for side in (1.0, -1.0):
            changed = {name: value * (1 + side * turned[name]) for name, value in leaves(many).items()}
            tokens = many.tokens * (1 + side * moved) if free else None
            both = both + target.violation(placed(target, with_leaves(many, changed, tokens), free))
    smooth = (both - 2 * violation).abs() <= STEADY * abs(violation)
    return bool((smooth | ~torch.isfinite(both)).all())
