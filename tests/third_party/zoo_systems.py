"""Five systems that stand in none of our papers, as another package would write them: one equation each, in our algebra."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eigentoken.theory.systems.algebra import Algebra
from eigentoken.theory.systems.catalogue import register_system
from eigentoken.theory.systems.system import Normalisation, Parameter, Space, System, Time

#: A pre-norm residual layer, composed of declarations alone: ``x_i+ = x_i + alpha V sum_j a_ij x_j/|x_j|``.
PRENORM = register_system(
    System(
        "prenorm-map",
        "pre-norm attention layer",
        Space.EUCLIDEAN,
        Time.MAP,
        "V",
        "M",
        normalisation=Normalisation.BEFORE,
    )
)

#: The same with several heads and the causal mask: the attention of a GPT-2 layer.
PRENORM_HEADS = register_system(
    System(
        "prenorm-heads-map",
        "pre-norm layer with several heads",
        Space.EUCLIDEAN,
        Time.MAP,
        "F",
        "M",
        multihead=True,
        mask="causal",
        normalisation=Normalisation.BEFORE,
    )
)


@register_system
class SigmoidMap(System):
    """``x_i+ = pi(x_i + alpha u_i)`` with ``u_i = c V sum_j sigma(x_i^T M x_j) x_j + b``: no softmax, and a bias."""

    name = "sigmoid-map"
    title = "sigmoid attention with a bias on the sphere"
    space = Space.SPHERE
    time = Time.MAP
    value = "V"
    score = "M"
    attention = "sigmoid"
    further = (Parameter("b", "vector", "bias of the output"), Parameter("c", "scalar", "scale of the weights", "1"))

    def sublayer(self, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
        weights = algebra.masked(algebra.function("sigmoid", algebra.scores(x, parameters["M"])), mask)
        pushed = algebra.apply(parameters["V"], algebra.average(algebra.scale(weights, parameters["c"]), x))
        return algebra.shift(pushed, parameters["b"])


@register_system
class LinearFlow(System):
    """Linear attention on the sphere, ``x_i' = P_i V sum_j (x_i^T M x_j) x_j``, scores as they are."""

    name = "linear-flow"
    title = "linear attention flow on the sphere"
    space = Space.SPHERE
    time = Time.FLOW
    value = "V"
    score = "M"
    attention = "linear"

    def sublayer(self, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
        weights = algebra.masked(algebra.scores(x, parameters["M"]), mask)
        return algebra.apply(parameters["V"], algebra.average(weights, x))


@register_system
class GatedHeads(System):
    """Heads with gates ``g_h``: ``x_i' = sum_h g_h F_h sum_j a^h_ij x_j - D x_i + b``, in Euclidean space."""

    name = "gated-flow"
    title = "heads with gates and a leak"
    space = Space.EUCLIDEAN
    time = Time.FLOW
    value = "F"
    score = "M"
    multihead = True
    attention = "gated softmax"
    further = (
        Parameter("g", "scalar", "gate of the head", per_head=True),
        Parameter("D", "matrix", "leak", default="I"),
        Parameter("b", "vector", "drive", optional=True),
    )

    def sublayer(self, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
        total = algebra.scale(algebra.apply(parameters["D"], x), -1)
        for head in parameters["heads"]:
            mean = algebra.average(algebra.attention(x, head["M"], mask, False), x)
            pushed = algebra.apply(head["F"], mean)
            total = algebra.add(total, algebra.scale(pushed, head["g"]))
        return algebra.shift(total, parameters["b"])
