"""What random weights of the same shapes look like: the null that a head or a layer is held against.

A head has ``M = L^T R`` twice: the scores ``P`` (``L = Q``, ``R = K``) and the values ``U`` (``L = O^T``, ``R = V``), L and R
of shape (r, d); a layer has ``F = sum_h O_h V_h``, with all heads stacked.  Every statistic below is free of scale: it is the
same for ``c M``.

Two nulls.  *Gaussian factors*: the entries of L and R independent and normal; by freedom of scale their variances do not matter,
so that one set of draws serves every head of a shape.  *Random bases*: ``M = A diag(s) B^T`` with the singular values s of the
head itself and orthonormal frames A, B of R^d, uniform and independent; only ``B^T A`` enters, so that one set of frames
serves every head of a shape, whatever its spectrum.  What is solved for each spectrum anew, eigenvalues and the ends of symmetric
parts, gets fewer of the draws where the matrices are large (:func:`eigentoken.numerics.layers.chance_draws.draws_of_bases`).

The norm of ``L^T R`` is measured by the sizes of L and R, so that random weights of the same scales are what it is held against;
the singular values fix it, so that random bases say nothing of it.  alpha* is defined where a positive real eigenvalue leads: it
is held against those draws where one does.  The distance to I and the growth depend on the scale: the draws get that of the
head, ``|L|_F |R|_F``.  The frames of Gaussian factors are independent of their singular values, so that those kept beside the
frames make Gaussian matrices again.  What rotary positions change of the scores, ``|Q^T (R - I) K| / |Q^T K|`` for the turn R of
an offset, is held against Gaussian factors that are turned alike; singular values do not say what a turn changes.

A p-value is ``(1 + #{draws at least as far out}) / (N + 1)``, doubled for two sides (Phipson and Smyth 2010): valid whatever the
distribution is, and never zero.  Many of them are corrected by Benjamini and Hochberg (1995), whose bound on the expected share
of false discoveries is for independent or positively dependent tests.  These are statistics in floats: nothing is certified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eigentoken.documents.chance_document import NullName
from eigentoken.numerics.layers.chance_draws import Null
from eigentoken.numerics.layers.chance_statistics import (
    Floats,
    scale_of,
    scaled_statistics,
    singular_values,
    spectral_statistics,
)

__all__ = [
    "HeldAgainst",
    "benjamini_hochberg",
    "held_against",
    "held_to",
    "p_values",
    "share_p_value",
    "shares_p_value",
]

#: A statistic that is not defined for every draw needs this many draws where it is; those of values are not asked of scores.
FEWEST, OF_VALUES = 10, ("gap", "alpha*", "distance to I", "growth")


@dataclass(frozen=True)
class HeldAgainst:
    """One statistic of one matrix against so many draws of one null."""

    statistic: str
    null: NullName
    value: float
    mean: float
    deviation: float
    p: float
    draws: int

    @property
    def z(self) -> float:
        """How many deviations of the null the value is from its mean (0 where the null does not vary)."""
        return (self.value - self.mean) / self.deviation if self.deviation > 0 else 0.0


def held_against(left: Floats, right: Floats, null: Null, *, scores: bool = False) -> list[HeldAgainst]:
    """Every statistic of ``L^T R`` against the Gaussian draws, and against the frames where the null has them.

    Zero weights have no statistic: the list is empty.  Of ``scores`` no gap and no alpha* is asked.
    """
    value = {
        name: each for name, each in spectral_statistics(left, right).items() if not (scores and name in OF_VALUES)
    }
    if not value:
        return []
    gaussian = dict(null.gaussian)
    if not scores:
        value |= scaled_statistics(left, right)
        gaussian |= null.of_scale(float(scale_of(left, right)))
    held = [held_to(name, "gaussian factors", value[name], gaussian[name]) for name in value]
    if len(null.frames):
        draws = null.with_bases(singular_values(left, right), left.shape[1], spectra=not scores)
        held += [held_to(name, "random bases", value[name], draws[name]) for name in draws if name in value]
    return [each for each in held if each is not None]


def held_to(name: str, null: NullName, value: float, draws: Floats) -> HeldAgainst | None:
    """Against the draws where it is defined; ``None`` where these are too few."""
    draws = draws[np.isfinite(draws)]
    if len(draws) < FEWEST:
        return None
    return HeldAgainst(name, null, value, float(draws.mean()), float(draws.std()), p_values(value, draws), len(draws))


def p_values(value: float, draws: Floats) -> float:
    """Two-sided: twice the smaller of ``(1 + #{draws <= value}) / (N + 1)`` and the same with >=, at most 1."""
    below, above = np.count_nonzero(draws <= value), np.count_nonzero(draws >= value)
    return min(1.0, 2 * (1 + min(int(below), int(above))) / (len(draws) + 1))


def share_p_value(met: int, of: int, draws: NDArray[np.bool_]) -> float:
    """Two-sided exact binomial p-value of ``met`` of ``of`` heads, the chance of each taken from the draws."""
    from scipy.stats import binomtest

    chance = (1 + np.count_nonzero(draws)) / (len(draws) + 2)
    return float(binomtest(met, of, chance).pvalue)


def shares_p_value(met: int, chances: Sequence[float]) -> float:
    """The same where each has a chance of its own: all counts that are no likelier than ``met`` (Poisson's binomial law)."""
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, [1 - chance, chance])
    return min(1.0, float(law[law <= law[met] * (1 + 1e-7)].sum()))


def benjamini_hochberg(p: Floats) -> Floats:
    """The adjusted p-values (q-values) of Benjamini and Hochberg, in the order given.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.5])).round(3).tolist()
    [0.04, 0.053, 0.053, 0.5]
    """
    p = np.asarray(p, dtype=np.float64)
    if p.size and not ((p > 0) & (p <= 1)).all():
        raise ValueError("p must be numbers above 0 and at most 1")
    order = np.argsort(p)
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.minimum.accumulate(scaled[::-1])[::-1]
    found = np.empty_like(p)
    found[order] = np.minimum(adjusted, 1.0)
    return found
