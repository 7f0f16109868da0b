"""Residual attention with the norm in each of its places: before the sublayer, around it, after the step, or nowhere.

With ``theta_j = G x_j/|x_j|`` (G the gain of the norm, a diagonal matrix) and
``A_i(y) = sum_j a_ij V y_j``, ``a_ij = softmax_j(y_i^T M y_j)``:

* pre-norm: ``x_i^+ = x_i + alpha A_i(theta)``, flow ``x_i' = A_i(theta)``;
* peri-norm: ``x_i^+ = x_i + alpha H A_i(theta)/|A_i(theta)|``, flow ``x_i' = H A_i(theta)/|A_i(theta)|`` (H a second gain);
* post-norm: ``x_i^+ = G y_i/|y_i|``, ``y_i = x_i + alpha A_i(x)``, told in ``z_i = y_i/|y_i|`` on the sphere, ``x_i = G z_i``;
  with G = I it is ``attention-map``.  Its flow is that of small steps with the gain in what attention reads alone,
  ``z_i' = (I - z_i z_i^T) A_i(G z)``: with G = I it is ``attention-flow``;
* unnormalised: ``x_i^+ = x_i + alpha A_i(x)``; its flow is ``token-flow``.

The norm is the Euclidean one: an RMS norm is that times ``sqrt(d)``, which is a gain.  The flows with G = H = I are those of
BD-P1 to BD-P7.
"""

from __future__ import annotations

from collections.abc import Mapping

from eigentoken.theory.systems.algebra import Algebra, MaskValue, Number, Parameters, State
from eigentoken.theory.systems.declarations import declared
from eigentoken.theory.systems.system import Normalisation, Parameter, Space, System, Time, parameters_at

__all__ = ["PLACEMENTS"]

_GAIN = Parameter("G", "matrix", "gain of the norm, a diagonal matrix", default="I")
_SECOND = Parameter("H", "matrix", "gain of the norm behind the sublayer, a diagonal matrix", default="I")


def _with_gain(algebra: Algebra, parameters: Parameters, x: State, mask: MaskValue) -> State:
    """``V sum_j a_ij G x_j`` with the weights at ``G x``."""
    seen = algebra.apply(parameters["G"], x)
    weights = algebra.attention(seen, parameters["M"], mask, False)
    return algebra.apply(parameters["V"], algebra.average(weights, seen))


class _PreNorm(System):
    """``u_i = A_i(theta)``."""

    space = Space.EUCLIDEAN
    value = "V"
    score = "M"
    normalisation = Normalisation.BEFORE
    further: tuple[Parameter, ...] = (_GAIN,)

    def sublayer(self, algebra: Algebra, parameters: Parameters, x: State, mask: MaskValue) -> State:
        return _with_gain(algebra, parameters, x, mask)


class PreNormMap(_PreNorm):
    """``x_i^+ = x_i + alpha A_i(theta)``."""

    name = "pre-norm-map"
    title = "pre-norm residual attention layer with gains"
    source = "the layer of pre-norm-flow"
    attention = "softmax"
    time = Time.MAP


class PreNormFlow(_PreNorm):
    """``x_i' = A_i(theta)``."""

    name = "pre-norm-flow"
    title = "pre-norm residual attention flow with gains"
    source = "BD-P3"
    attention = "softmax"
    time = Time.FLOW


class _PeriNorm(_PreNorm):
    """``u_i = H A_i(theta)/|A_i(theta)|``, undefined where ``A_i = 0``."""

    attention = "softmax, its push normalised"
    further = (_GAIN, _SECOND)

    def sublayer(self, algebra: Algebra, parameters: Parameters, x: State, mask: MaskValue) -> State:
        push = _with_gain(algebra, parameters, x, mask)
        return algebra.apply(parameters["H"], algebra.normalise(push))


class PeriNormMap(_PeriNorm):
    """``x_i^+ = x_i + alpha H A_i(theta)/|A_i(theta)|``."""

    name = "peri-norm-map"
    title = "peri-norm residual attention layer with gains"
    source = "the layer of peri-norm-flow"
    time = Time.MAP


class PeriNormFlow(_PeriNorm):
    """``x_i' = H A_i(theta)/|A_i(theta)|``."""

    name = "peri-norm-flow"
    title = "peri-norm residual attention flow with gains"
    source = "BD-P4"
    time = Time.FLOW


class PostNormMap(System):
    """``z_i^+ = y_i/|y_i|``, ``y_i = G z_i + alpha A_i(G z)``."""

    name = "post-norm-map"
    title = "post-norm residual attention layer with gains"
    source = "attention-map, with gains"
    space = Space.SPHERE
    time = Time.MAP
    value = "V"
    score = "M"
    attention = "softmax"
    further = (_GAIN,)

    def sublayer(self, algebra: Algebra, parameters: Parameters, x: State, mask: MaskValue) -> State:
        return _with_gain(algebra, parameters, x, mask)

    def raw_step(
        self, algebra: Algebra, parameters: Parameters, x: State, mask: MaskValue = None, t: Number = None
    ) -> State:
        push = self.influence(algebra, parameters, x, mask, t)
        return algebra.add(algebra.apply(parameters_at(parameters, t)["G"], x), push, parameters["alpha"])


class PostNormFlow(System):
    """``z_i' = (I - z_i z_i^T) A_i(G z)``."""

    name = "post-norm-flow"
    title = "post-norm residual attention flow with gains"
    source = "BD-P2"
    space = Space.SPHERE
    time = Time.FLOW
    value = "V"
    score = "M"
    attention = "softmax"
    further = (_GAIN,)

    def sublayer(self, algebra: Algebra, parameters: Parameters, x: State, mask: MaskValue) -> State:
        return _with_gain(algebra, parameters, x, mask)


RESIDUAL = System(
    "residual-map",
    "unnormalised residual attention layer",
    Space.EUCLIDEAN,
    Time.MAP,
    "B",
    "W",
    source="PH-X2: the layer of token-flow",
)

#: The systems of this module by name.
PLACEMENTS: Mapping[str, System] = {
    made.name: made
    for made in (
        *map(declared, (PreNormMap, PreNormFlow, PeriNormMap, PeriNormFlow, PostNormMap, PostNormFlow)),
        RESIDUAL,
    )
}
