"""The distance of a layer, of a layer as if it were one head, and of one head, to the conditions of a statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eigentoken.numerics.layers.head_distances import Role, head_distance
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS
from eigentoken.numerics.layers.layer_readings import bind, bind_head, system_of_head, system_read
from eigentoken.numerics.layers.nearest import (
    WIDEST_OF_ALL,
    Letters,
    Nearby,
    WeightDistance,
    layer_distance,
    nearest_of_letters,
)
from eigentoken.numerics.layers.symbol_values import Answers, HeadSymbolValues, LayerSymbolValues, SymbolValues
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.systems.system import System

__all__ = ["distance_of_head", "distance_of_layer", "nearest_values"]


def distance_of_layer(
    statement: Statement, weights: LayerWeights, answers: Answers, *, as_if: bool = False, widest: int = WIDEST_OF_ALL
) -> WeightDistance | None:
    """Of a layer that the statement is about, or as if the layer were one head; ``None`` where neither is."""
    listed = system_read(statement, weights, as_if=as_if)
    if listed is None or weights.heads_only:
        return None
    environment = bind(listed, weights, answers)
    verdicts = _verdicts(statement.conditions, environment, answers.conditions(listed))
    narrow = next((head.width for head in weights.heads if head.width < weights.d), None)
    letters, several = _letters(listed, environment), listed.multihead and len(weights.acting) > 1
    key = ("distance", tuple(verdicts), tuple(letters.matrices.values()), several, widest)
    return answers.once(key, lambda: layer_distance(list(verdicts), verdicts, letters, narrow, several, widest))


def distance_of_head(
    statement: Statement, weights: LayerWeights, index: int, answers: Answers
) -> WeightDistance | None:
    """Of one of several heads, as if it were alone; ``None`` where the statement is not read on heads."""
    listed = system_of_head(statement, weights, index, answers)
    if listed is None:
        return None
    environment = bind_head(listed, weights.heads[index], answers)
    verdicts = _verdicts(statement.conditions, environment, answers.conditions(listed))
    if isinstance(environment, HeadSymbolValues):
        roles: dict[str, Role] = {
            name: "value" if role == "value" else "score" for name, role in environment.roles.items()
        }
        return head_distance(verdicts, weights.heads[index], roles)
    return layer_distance(list(verdicts), verdicts, _letters(listed, environment), None, False)


def nearest_values(statement: Statement, weights: LayerWeights, share: float) -> Nearby | None:
    """Matrices of a layer that meet the conditions with room ``share``; one whose conditions are certified stays as it is."""
    listed = system_read(statement, weights)
    if listed is None:
        return None
    environment = bind(listed, weights, Answers())
    verdicts, letters = _verdicts(statement.conditions, environment, {}), _letters(listed, environment)
    settled = frozenset(each for each, found in verdicts.items() if found is None or found.is_holds)
    return nearest_of_letters(list(verdicts), letters, (share,), settled)


def _letters(listed: System, environment: SymbolValues) -> Letters:
    assert isinstance(environment, LayerSymbolValues)
    value = tuple(dict.fromkeys(name for name in (listed.value, "F") if name and name in environment.matrices))
    score = listed.score if listed.score in environment.matrices else None
    scale = environment.scales.get(score, 1.0) if score else 1.0
    made = environment.answers.once(("neighbours", *(environment.matrices[name] for name in value)), Answers)
    return Letters(value, score, environment.matrices, scale, made)


def _verdicts(
    conditions: Sequence[Condition], environment: SymbolValues, read: dict[Condition, Verdict | None]
) -> Mapping[Condition, Verdict | None]:
    """The conditions that have a reading on weights, each with its verdict."""
    for each in conditions:
        if each not in read and ON_WEIGHTS.find(type(each)) is not None:
            read[each] = ON_WEIGHTS(each, environment)
    return {each: read[each] for each in conditions if each in read}
