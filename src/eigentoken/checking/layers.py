"""One layer of a model, from its stored weights to a JSON-able record of everything certified about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["layer_record"]


def layer_record(layer: Any, statement_ids: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Findings and hypotheses of one :class:`eigentoken.models.Layer`, and the arrays of the certificates by digest."""
    from eigentoken.numerics.layers.bindings import hypotheses_of
    from eigentoken.numerics.layers.findings import examine
    from eigentoken.numerics.layers.regimes import regime
    from eigentoken.theory.registry import statements

    weights = weights_of(layer)
    memory: dict[Any, Any] = {}
    findings = examine(weights, memory=memory)
    registry = statements()
    hypotheses = [hypotheses_of(registry.get(name), weights, memory) for name in statement_ids]
    record = findings.as_dict()
    record["regime"] = regime(weights, memory).as_dict()
    record["hypotheses"] = [
        {
            "statement": each["statement"],
            "applies": None if each["applies"] is None else {**each["applies"].as_dict(), "details": {}},
            "conditions": {name: verdict.as_dict() for name, verdict in each["conditions"].items()},
            "about_tokens": each["about_tokens"],
        }
        for each in hypotheses
    ]
    record["convention"] = layer.stamp()
    record["description"] = layer.describe()
    if layer.rotary is not None:
        record["rotary"] = [rotary_change(head) for head in layer.heads]
    return record, _arrays([*memory.values(), *findings.verdicts()])


def _arrays(values: Sequence[Any]) -> dict[str, Any]:
    """The arrays of every certificate among the values, by content digest."""
    from eigentoken.theory.verdicts import Verdict, array_digest

    found: dict[str, Any] = {}
    for value in values:
        if isinstance(value, Verdict) and value.certificate is not None:
            found |= {array_digest(array): array for array in value.certificate.arrays.values()}
    return found


def weights_of(layer: Any) -> Any:
    """The stored arrays of a layer, as the numerics reads them."""
    from eigentoken.numerics.layers.weights import LayerWeights

    heads = [{"Q": head.Q, "K": head.K, "V": head.V, "O": head.O, "scale": head.scale} for head in layer.heads]
    return LayerWeights.from_arrays(layer.weights_of, heads)


def rotary_change(head: Any, offsets: Sequence[int] = (1, 8, 64)) -> dict[str, Any]:
    """``|Delta W(delta)| / |P|`` for a few offsets (Frobenius norms): how much rotary positions change the scores."""
    from numpy.linalg import norm

    size = float(norm(head.score_matrix()))
    changes = {str(offset): float(norm(head.rotary_change(offset))) / size for offset in offsets} if size else {}
    return {"head": head.index, "relative_change": changes}
