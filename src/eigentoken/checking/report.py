"""The report of a check: one object, from which the terminal, JSON, HTML, LaTeX and the other formats are made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Report", "assemble", "rotary_shares", "statement_over_layers"]

SCHEMA = "check"


@dataclass(frozen=True)
class Report:
    """``document`` is the whole JSON document, ``arrays`` reads what its certificates need; the rest are views."""

    document: Mapping[str, Any] = field(repr=False)
    arrays: Callable[[], dict[str, Any]] = field(default=dict, compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        return dict(self.document)

    @property
    def layers(self) -> list[dict[str, Any]]:
        return list(self.document["layers"])

    @property
    def statements(self) -> list[dict[str, Any]]:
        return list(self.document["statements"])

    def applies(self, name: str) -> str:
        """``holds`` if every layer satisfies every condition on weights, ``fails`` if one fails, else ``undecided``."""
        return str(next(each["applies"] for each in self.statements if each["id"] == name))

    def _repr_html_(self) -> str:
        from eigentoken.checking.html import summary_html

        return summary_html(self)


def assemble(
    model: Any,
    records: Mapping[int, dict[str, Any]],
    observed: list[dict[str, Any]],
    ids: Sequence[str],
    options: Any,
    arrays: Callable[[], dict[str, Any]] = dict,
) -> Report:
    """The report from the layers' records, in the order of the layers; no clock, no path of the machine."""
    from eigentoken import __version__

    layers = []
    for index in range(model.n_layers):
        origin = model.reading.weights_of(index)
        kept = {name: value for name, value in records[origin].items() if name != "principal"}
        layers.append({**kept, "layer": index, "weights_of": origin})
    document = {
        "version": __version__,
        "model": {
            "source": model.source,
            "family": model.family,
            "format": model.format,
            "layers": model.n_layers,
            "heads": model.n_heads,
            "key_value_heads": model.n_kv_heads,
            "d": model.d,
            "d_head": model.d_head,
            "description": model.describe(),
            "fingerprint": model.fingerprint(),
            "files": [{"name": file.path.name, "sha256": file.sha256} for file in model.files],
        },
        "options": {
            "fold": options.fold,
            "sequences": options.sequences,
            "tokens": options.tokens,
            "seed": options.seed,
        },
        "conventions": CONVENTIONS,
        "statements": [statement_over_layers(name, layers) for name in ids],
        "layers": layers,
        "observed": observed,
    }
    return Report(document, arrays)


def rotary_shares(report: Report) -> dict[int, tuple[float, float]]:
    """By offset, the smallest and largest certified ``|Delta W(delta)| / |P(0)|`` over all heads; empty without rotary."""
    found: dict[int, list[tuple[float, float]]] = {}
    for layer in report.layers:
        for head in layer["heads"]:
            for each in head.get("rotary", []):
                if each["relative_change"] is not None:
                    low, high = (float(end) for end in each["relative_change"])
                    found.setdefault(each["offset"], []).append((low, high))
    return {offset: (min(low for low, _ in ends), max(high for _, high in ends)) for offset, ends in found.items()}


CONVENTIONS = (
    "Tokens are columns; a matrix acts from the left. "
    "F = sum_h O_h V_h, S = sum_h Q_h^T K_h, all heads of a layer together; "
    "a statement about one head is also read on each head, with U_h = O_h V_h and P_h = Q_h^T K_h / scale. "
    "Weights count exactly as stored; products are enclosures. A map takes the step alpha = 1. "
    "Biases, norm gains and the feed-forward are not part of the theorems: their sizes are under left_out."
)


def statement_over_layers(name: str, layers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One statement over all layers: which conditions hold where, and the first obstacle."""
    from eigentoken.theory.registry import statements

    told = statements().get(name)
    per_layer = []
    obstacles: Counter[str] = Counter()
    tokens: list[str] = []
    for layer in layers:
        found = next(each for each in layer["hypotheses"] if each["statement"] == name)
        tokens = found["about_tokens"]
        word = "no condition on weights" if found["applies"] is None else str(found["applies"]["verdict"])
        per_layer.append(word)
        obstacles.update(text for text, verdict in found["conditions"].items() if verdict["verdict"] != "holds")
    words = set(per_layer)
    if words == {"no condition on weights"}:
        applies = "no condition on weights"
    else:
        applies = "fails" if "fails" in words else "undecided" if "undecided" in words else "holds"
    return {
        "id": name,
        "title": told.title,
        "applies": applies,
        "layers": per_layer,
        "obstacles": [{"condition": text, "layers": count} for text, count in obstacles.most_common()],
        "heads": _over_heads(name, layers),
        "about_tokens": tokens,
    }


def _over_heads(name: str, layers: Sequence[Mapping[str, Any]]) -> dict[str, int] | None:
    """In how many heads the conditions on weights hold, fail, are undecided; ``None`` for what is not about one head.

    Layers that share their weights share their heads: they are counted once.
    """
    words: Counter[str] = Counter()
    for layer in layers:
        if layer["layer"] != layer["weights_of"]:
            continue
        for head in layer["heads"]:
            found = [each["applies"] for each in head["hypotheses"] if each["statement"] == name]
            words.update(word for word in found if word is not None)
    return {word: words[word] for word in ("holds", "fails", "undecided")} if words else None
