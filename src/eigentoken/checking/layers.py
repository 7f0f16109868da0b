"""One layer of a model, from its stored weights to a JSON-able record of everything certified about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from eigentoken.documents.check_document import LayerRecord, StatementReading
    from eigentoken.models.convention.head_and_layer import Layer
    from eigentoken.models.loading.model import Model
    from eigentoken.numerics.layers.layer_readings import StatementOnLayer
    from eigentoken.numerics.layers.rotary_scores import RotaryPairs
    from eigentoken.numerics.layers.symbol_values import Answers
    from eigentoken.numerics.layers.weights import LayerWeights
    from eigentoken.theory.language.verdicts import Verdict
    from eigentoken.theory.statements.layer_systems import Match

__all__ = ["Held", "layer_record", "layers_that_hold"]

#: The statement whose threshold alpha* is.
THRESHOLD = "PM-N1"
#: Of the time of a layer, about: what the findings take, before the statements are read (for a progress bar).
FINDINGS_SHARE = 0.84


def layer_record(
    layer: Layer,
    statement_ids: Sequence[str],
    watch: Callable[[float, str], None] = lambda _share, _now: None,
    *,
    heads_only: bool = False,
    arrays: bool = False,
) -> tuple[LayerRecord, dict[str, np.ndarray]]:
    """Findings and hypotheses of one :class:`eigentoken.models.Layer`; with ``arrays`` those of the certificates, by digest.

    ``watch`` is told which share of the layer is done, and what begins.
    ``heads_only``: through the factors of each head; no d x d matrix is formed, and what is asked of F and S is undecided.
    """
    from eigentoken.models.loading.left_out import zero_parts
    from eigentoken.numerics.layers.findings import examine
    from eigentoken.numerics.layers.layer_readings import read_layer
    from eigentoken.numerics.layers.margins import margins_of_layer
    from eigentoken.numerics.layers.regimes import regime
    from eigentoken.numerics.layers.symbol_values import Answers
    from eigentoken.theory.statements.registry import statements

    weights = weights_of(layer, heads_only=heads_only)
    answers = Answers()
    chosen = [statements().get(name) for name in statement_ids]
    findings = examine(
        weights,
        answers=answers,
        statements=chosen,
        pairs=rotary_pairs(layer),
        watch=lambda share, now: watch(FINDINGS_SHARE * share, now),
    )
    readings = []
    for number, each in enumerate(chosen):
        watch(FINDINGS_SHARE + (1 - FINDINGS_SHARE) * number / len(chosen), each.title)
        readings.append(read_layer(each, weights, answers))
    record: LayerRecord = {
        **findings.as_dict(),
        "system": weights.system.as_dict(),
        "regime": regime(weights, answers).as_dict(),
        "hypotheses": [_with_distance(each, weights, answers) for each in readings],
        "principal": None if layer.folded else findings.principal,
        "margins": margins_of_layer(weights, answers, statement_ids, findings.discs),
        "zero_weights": zero_parts(layer),
        "convention": layer.stamp(),
        "description": layer.describe(),
    }
    if all(each.differences for each in _systems_of(THRESHOLD, weights)):
        record["alpha_star"] = None  # a number of F that decides nothing about this layer
    if not arrays:
        return record, {}
    return record, _arrays(
        [*answers.verdicts(), *findings.verdicts(), *(v for each in readings for v in each.verdicts())]
    )


def _with_distance(reading: StatementOnLayer, weights: LayerWeights, answers: Answers) -> StatementReading:
    """The reading with how far the layer is from it, where it is about the layer and does not hold."""
    from eigentoken.numerics.layers.quantities import as_json
    from eigentoken.numerics.layers.statement_distances import distance_of_layer
    from eigentoken.theory.statements.registry import statements

    told = reading.as_dict()
    if told["word"] not in ("fails", "undecided"):
        return told
    found = distance_of_layer(statements().get(reading.statement), weights, answers)
    if found is None:
        return told
    return {**told, "distance": as_json(found.interval), "distance_of": found.of, "distance_says": found.says}


class Held(NamedTuple):
    """In how many layers a statement holds, and by how many heads, each taken alone, its conditions on weights are met."""

    layers: int = 0
    heads: int = 0


def layers_that_hold(
    model: Model, statement_ids: Sequence[str], done: Callable[[int], None] = lambda _layer: None
) -> dict[str, Held]:
    """In how many layers each statement holds, and for how many heads alone.

    Only what such an answer needs is read: statements with conditions whose systems contain the layer, on the layer as a
    whole, and those about one head on each head of several.  ``done`` is called with each layer that was read.
    """
    from eigentoken.numerics.layers.layer_readings import read_head, read_layer
    from eigentoken.numerics.layers.symbol_values import Answers
    from eigentoken.theory.statements.layer_systems import AsIfAnswer, LayerAnswer
    from eigentoken.theory.statements.registry import statements
    from eigentoken.theory.statements.subjects import subject_of

    asked = [each for each in map(statements().get, statement_ids) if each.conditions]
    found = dict.fromkeys(statement_ids, Held())
    sharing = Counter(model.architecture.weights_of(index) for index in range(model.n_layers))
    for origin, layers in sorted(sharing.items()):
        weights, answers = weights_of(model.layer(origin)), Answers()
        alone = [Answers() for _ in weights.heads]
        for each in asked:
            about = subject_of(each.id) or any(not match.differences for match in _systems_of(each.id, weights))
            holds = bool(about) and read_layer(each, weights, answers).answer is LayerAnswer.HOLDS
            heads = [read_head(each, weights, index, known) for index, known in enumerate(alone)]
            met = sum(one is not None and one.answer is AsIfAnswer.MET for one in heads)
            before = found[each.id]
            found[each.id] = Held(before.layers + layers * holds, before.heads + layers * met)
        done(origin)
    return found


def _systems_of(name: str, weights: LayerWeights) -> list[Match]:
    """The systems of a statement beside the layer."""
    from eigentoken.theory.statements.layer_systems import matches
    from eigentoken.theory.statements.registry import statements

    found = statements().get(name)
    return matches(found.systems, found.covers, weights.system)


def _arrays(verdicts: Sequence[Verdict]) -> dict[str, np.ndarray]:
    """The arrays of every certificate, by content digest."""
    from eigentoken.theory.language.verdicts import array_digest

    found: dict[str, np.ndarray] = {}
    for verdict in verdicts:
        if verdict.certificate is not None:
            found |= {array_digest(array): array for array in verdict.certificate.arrays.values()}
    return found


def weights_of(layer: Layer, *, heads_only: bool = False) -> LayerWeights:
    """The stored arrays of a layer, as the numerics reads them."""
    from eigentoken.numerics.layers.weights import HeadWeights, LayerWeights, Surroundings

    heads = [
        HeadWeights(
            head.Q,
            head.K,
            head.V,
            head.O,
            head.scale,
            f"layer{layer.weights_of}.head{number}",
            head.q_bias,
            head.k_bias,
            not heads_only,
        )
        for number, head in enumerate(layer.heads)
    ]
    only_added = layer.positions == "absolute"  # once, before the layers: no part of a layer's system
    surroundings = Surroundings(
        mask=layer.mask.kind,
        window=layer.mask.window,
        positions="none" if only_added else layer.positions,
        added_positions="absolute" if only_added or layer.added else "none",
        placement=layer.placement,
        norm=layer.attention_norm.kind,
        gains_folded=bool(layer.folded),
        scores=layer.rules.scores(),
        weights=layer.rules.weights(),
        values=layer.rules.values(),
        update=layer.update(),
    )
    normed = layer.placement == "pre" and layer.attention_norm.kind != "none"
    return LayerWeights(layer.weights_of, tuple(heads), surroundings, layer.attention_norm.gain if normed else None)


def rotary_pairs(layer: Layer) -> RotaryPairs | None:
    """The turned coordinate pairs of a layer's heads as the numerics reads them, or ``None`` without rotary positions."""
    from eigentoken.numerics.layers.rotary_scores import RotaryPairs

    if layer.rotary is None:
        return None
    first, second = layer.rotary.pairs()
    return RotaryPairs(first.tolist(), second.tolist(), layer.rotary.frequencies)
