"""How a layer of a transformer is read as an instance of each system: which weights play which letter.

The value letter of a system (V, F, U, B) is the layer matrix ``F = sum_h O_h V_h``; the score letter (M, P, W) is
``sum_h Q_h^T K_h / scale`` (Pham et al. impose definiteness on this sum, not on single heads); the metric is the
identity unless it is the score matrix itself.  The step of a map is 1: a layer adds its update once.  Heads enter one
by one only in the findings (:mod:`eigentoken.numerics.layers.findings`): a single head is singular on R^d whenever
d_h < d.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eigentoken.numerics.enclosures import Enclosure
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS, Environment
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.theory.readings import LATEX
from eigentoken.theory.statements import Kind, Statement
from eigentoken.theory.systems import System, system
from eigentoken.theory.verdicts import Verdict, all_of, undecided

__all__ = ["bind", "hypotheses_of", "reads_weights"]


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
        made = memory.setdefault(("identity", size), Enclosure.from_floats(np.eye(size), name="identity"))
        matrices[listed.metric] = made
    if listed.value:
        matrices.setdefault("F", weights.value)
    return Environment(f"layer {weights.index}", matrices, scales, memory=memory)


def reads_weights(statement: Statement) -> bool:
    """Is it a result (not a definition) with conditions, and with a system whose letters a layer can play?"""
    return statement.kind is not Kind.DEFINITION and bool(statement.conditions) and bool(statement.systems)


def hypotheses_of(statement: Statement, weights: LayerWeights, memory: dict[Any, Any]) -> dict[str, Any]:
    """Every condition of the statement on this layer: verdicts, and which conditions speak of the tokens instead."""
    environment = bind(system(statement.systems[0]), weights, memory)
    verdicts: dict[str, Verdict] = {}
    about_tokens: list[str] = []
    for condition in statement.conditions:
        name = LATEX(condition)
        if ON_WEIGHTS.find(type(condition)) is None:
            verdicts[name] = undecided(f"{type(condition).__name__} has no reading on weights")
            continue
        found = ON_WEIGHTS(condition, environment)
        if found is None:
            about_tokens.append(name)
        else:
            verdicts[name] = found
    whole = all_of(verdicts) if verdicts else None
    return {
        "statement": statement.id,
        "conditions": verdicts,
        "about_tokens": about_tokens,
        "applies": whole,
    }
