"""Hard attention, the limit of softmax attention as its scores grow: every token moves towards the one of largest score.

``x_i^+ = x_i + alpha (c_i - x_i)`` with ``c_i`` the token of largest score ``x_i^T M x_j`` among those that the mask shows, the
mean of them where several attain it: the limit of ``sum_j softmax_j(beta x_i^T M x_j) x_j`` as beta grows.  The step alpha is the
gain of CL-16.
"""

from __future__ import annotations

from collections.abc import Mapping

from eigentoken.theory.systems.algebra import Algebra, MaskValue, Parameters, State
from eigentoken.theory.systems.declarations import declared
from eigentoken.theory.systems.system import Space, System, Time

__all__ = ["HARD"]


class HardAttentionMap(System):
    """``x_i^+ = x_i + alpha (c_i - x_i)``, ``c_i`` the mean of the tokens of largest score."""

    name = "hard-attention-map"
    title = "hard attention map"
    source = "CL-16: the limit of softmax attention as its scores grow"
    space = Space.EUCLIDEAN
    time = Time.MAP
    score = "M"
    attention = "hard"

    def sublayer(self, algebra: Algebra, parameters: Parameters, x: State, mask: MaskValue) -> State:
        weights = algebra.hardest(algebra.scores(x, parameters["M"]), mask)
        return algebra.add(algebra.average(weights, x), x, -1)


#: The systems of this module by name.
HARD: Mapping[str, System] = {made.name: made for made in map(declared, (HardAttentionMap,))}
