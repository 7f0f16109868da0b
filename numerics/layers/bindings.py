"""How the weights of a layer, or of one head of it, play the letters of a system.

*A layer.*  The value letter of a system (V, F, U, B) is the layer matrix ``F = sum_h O_h V_h``.  The score letter (M, P, W) of
a system of one head is that of the one head that acts; where several act it is ``sum_h Q_h^T K_h / scale``, which is what
Pham et al. impose conditions on, and what is read then is read *as if the layer were one head*
(:mod:`eigentoken.numerics.layers.layer_readings`).  The metric is the identity unless it is the score matrix itself.  The
step of a map is 1: a layer adds its update once.  What a system of several heads asks of each head (``U = I``) is asked of
each head that acts.

*A head.*  The value letter is ``U_h = O_h V_h`` and the score letter ``P_h = Q_h^T K_h / scale``, on the whole of R^d.
"""

from __future__ import annotations

import numpy as np

from eigentoken.numerics.certified.enclosures import Enclosure, total
from eigentoken.numerics.layers.low_rank import LowRank
from eigentoken.numerics.layers.symbol_values import Answers, HeadSymbolValues, LayerSymbolValues, SymbolValues
from eigentoken.numerics.layers.weights import HeadWeights, LayerWeights
from eigentoken.theory.systems.system import System

__all__ = ["behind", "bind", "bind_head"]


def bind(listed: System, weights: LayerWeights, answers: Answers) -> LayerSymbolValues:
    """The environment of one system on one layer; ``answers`` are shared between the systems."""
    matrices: dict[str, Enclosure] = {}
    scales: dict[str, float] = {}
    if listed.value:
        matrices[listed.value] = weights.value
        matrices.setdefault("F", weights.value)
    if listed.score:
        matrices[listed.score], scales[listed.score] = _score(weights)
    if listed.metric and listed.metric not in matrices:
        size = weights.d
        identity = answers.once(("identity", size), lambda: Enclosure.from_floats(np.eye(size), name="identity"))
        matrices[listed.metric] = identity
    heads = tuple(_bind_group(listed, weights, group, answers) for group in weights.acting) if listed.multihead else ()
    return LayerSymbolValues(
        f"layer {weights.index}",
        matrices,
        scales,
        heads=heads,
        light=weights.is_wide,
        grouped=behind(weights),
        answers=answers,
    )


def _score(weights: LayerWeights) -> tuple[Enclosure, float]:
    """The scores of the one head that acts, else of all heads together, times their scale."""
    if len(weights.acting) == 1 and len(weights.heads) > 1:
        head = weights.heads[weights.acting[0][0]]
        return head.score, head.scale
    return weights.score, weights.scale


def behind(weights: LayerWeights) -> dict[Enclosure, LowRank]:
    """The fewer rows behind F and S where heads share keys and values."""
    whole = {"value": weights.value, "score": weights.score} if weights.grouped else {}
    return {whole[role]: found for role, found in weights.grouped.items()}


def _bind_group(listed: System, weights: LayerWeights, group: tuple[int, ...], answers: Answers) -> SymbolValues:
    """One head that acts: alone, or several with equal scores, whose values add."""
    head = weights.heads[group[0]]
    if len(group) == 1:
        return bind_head(listed, head, answers.of_head(group[0]))
    value = answers.once(("values", *group), lambda: total([weights.heads[index].value for index in group]))
    return _whole(listed, head, value, answers)


def bind_head(listed: System, head: HeadWeights, answers: Answers) -> SymbolValues:
    """The letters of one system on one head, through its factors where it is singular by its shapes."""
    if head.width >= head.d:
        return _whole(listed, head, head.value, answers)
    roles = {name: "value" for name in (listed.value, "F") if listed.value and name}
    return HeadSymbolValues(head, roles | ({listed.score: "score"} if listed.score else {}), answers=answers)


def _whole(listed: System, head: HeadWeights, value: Enclosure, answers: Answers) -> LayerSymbolValues:
    matrices: dict[str, Enclosure] = {name: value for name in (listed.value, "F") if listed.value and name}
    scales = {}
    if listed.score:
        matrices[listed.score] = head.score
        scales[listed.score] = head.scale
    return LayerSymbolValues(head.prefix, matrices, scales, answers=answers)
