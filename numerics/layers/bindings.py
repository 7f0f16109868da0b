"""How a layer of a transformer, or one head of it, is read as an instance of each system: which weights play which letter.

*A layer.*  The value letter of a system (V, F, U, B) is the layer matrix ``F = sum_h O_h V_h``; the score letter (M, P, W)
is ``sum_h Q_h^T K_h / scale`` (Pham et al. impose definiteness on this sum, not on single heads); the metric is the identity
unless it is the score matrix itself.  The step of a map is 1: a layer adds its update once.  What a system of several
heads asks of each head (``U = I``) is asked of each head.

*A head.*  Systems of one head are also read on each head: the value letter is ``U_h = O_h V_h`` and the score letter
``P_h = Q_h^T K_h / scale``, on the whole of R^d.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from eigentoken.numerics.enclosures import Enclosure
from eigentoken.numerics.layers.head_letters import HeadLetters
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS
from eigentoken.numerics.layers.letters import Environment, Letters
from eigentoken.numerics.layers.low_rank import LowRank
from eigentoken.numerics.layers.weights import HeadWeights, LayerWeights
from eigentoken.theory.conditions import Condition
from eigentoken.theory.readings import LATEX
from eigentoken.theory.statements import Statement
from eigentoken.theory.systems import System, system
from eigentoken.theory.verdicts import Verdict, all_of, undecided

__all__ = ["behind", "bind", "bind_head", "hypotheses_of", "hypotheses_of_head", "reads_heads", "reads_weights"]


def bind(listed: System, weights: LayerWeights, memory: dict[Any, Any]) -> Environment:
    """The environment of one system on one layer; ``memory`` is shared between the systems."""
    matrices: dict[str, Enclosure] = {}
    scales: dict[str, float] = {}
    if listed.value:
        matrices[listed.value] = weights.value
    if listed.score:
        matrices[listed.score] = weights.score
        scales[listed.score] = weights.scale
    if listed.metric and listed.metric not in matrices:
        size = weights.d
        key = ("identity", size)
        if key not in memory:
            memory[key] = Enclosure.from_floats(np.eye(size), name="identity")
        matrices[listed.metric] = memory[key]
    if listed.value:
        matrices.setdefault("F", weights.value)
    heads: tuple[Letters, ...] = ()
    if listed.multihead:
        heads = tuple(
            bind_head(listed, head, memory.setdefault(("head", index), {})) for index, head in enumerate(weights.heads)
        )
    where = f"layer {weights.index}"
    return Environment(
        where, matrices, scales, heads=heads, light=weights.is_wide, grouped=behind(weights), memory=memory
    )


def behind(weights: LayerWeights) -> dict[Enclosure, LowRank]:
    """The fewer rows behind F and S where heads share keys and values."""
    whole = {"value": weights.value, "score": weights.score} if weights.grouped else {}
    return {whole[role]: found for role, found in weights.grouped.items()}


def bind_head(listed: System, head: HeadWeights, memory: dict[Any, Any]) -> Letters:
    """The letters of one system on one head, through its factors where it is singular by its shapes."""
    if head.width >= head.d:
        return _bind_full_head(listed, head, memory)
    roles = {name: "value" for name in (listed.value, "F") if listed.value and name}
    return HeadLetters(head, roles | ({listed.score: "score"} if listed.score else {}), memory=memory)


def _bind_full_head(listed: System, head: HeadWeights, memory: dict[Any, Any]) -> Environment:
    matrices: dict[str, Enclosure] = {name: head.value for name in (listed.value, "F") if listed.value and name}
    scales = {}
    if listed.score:
        matrices[listed.score] = head.score
        scales[listed.score] = head.scale
    return Environment(head.prefix, matrices, scales, memory=memory)


def reads_weights(statement: Statement) -> bool:
    """Does it put conditions on the parameters of a system, whose letters a layer can play?"""
    return bool(statement.conditions) and bool(statement.systems)


def reads_heads(statement: Statement) -> System | None:
    """The system of one head that the statement is about, if it has conditions and such a system."""
    if not reads_weights(statement):
        return None
    return next((found for name in statement.systems if not (found := system(name)).multihead), None)


def hypotheses_of(statement: Statement, weights: LayerWeights, memory: dict[Any, Any]) -> dict[str, Any]:
    """Every condition of the statement on this layer: verdicts, and which conditions speak of the tokens instead."""
    if not reads_weights(statement):
        return {"statement": statement.id, "conditions": {}, "about_tokens": [], "applies": None}
    listed = system(statement.systems[0])
    return _read(statement, bind(listed, weights, memory), _read_before(listed, memory))


def hypotheses_of_head(statement: Statement, head: HeadWeights, memory: dict[Any, Any]) -> dict[str, Any] | None:
    """The same for one head, or ``None`` where the statement is not about a system of one head."""
    listed = reads_heads(statement)
    if listed is None:
        return None
    return _read(statement, bind_head(listed, head, memory), _read_before(listed, memory))


@lru_cache(maxsize=1024)
def _text(condition: Condition) -> str:
    """The condition as LaTeX, printed once however many heads it is read on."""
    return LATEX(condition)


def _read(statement: Statement, letters: Letters, read: dict[Condition, Verdict | None]) -> dict[str, Any]:
    """``read``: the conditions that were read on the same letters already, for another statement."""
    verdicts: dict[str, Verdict] = {}
    about_tokens: list[str] = []
    for condition in statement.conditions:
        name = _text(condition)
        if ON_WEIGHTS.find(type(condition)) is None:
            verdicts[name] = undecided(f"{type(condition).__name__} has no reading on weights")
            continue
        if condition not in read:
            read[condition] = ON_WEIGHTS(condition, letters)
        found = read[condition]
        if found is None:
            about_tokens.append(name)
        else:
            verdicts[name] = found
    return {
        "statement": statement.id,
        "conditions": verdicts,
        "about_tokens": about_tokens,
        "applies": all_of({name: _bare(verdict) for name, verdict in verdicts.items()}) if verdicts else None,
    }


def _bare(verdict: Verdict) -> Verdict:
    """Without what the conjunction would copy of each part: it is in the condition's own verdict."""
    return replace(verdict, certificate=None, details={})


def _read_before(listed: System, memory: dict[Any, Any]) -> dict[Condition, Verdict | None]:
    """What was read on the same letters of the same layer or head."""
    key = ("conditions", listed.value, listed.score, listed.metric, listed.multihead)
    found: dict[Condition, Verdict | None] = memory.setdefault(key, {})
    return found
