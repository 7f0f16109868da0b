"""What the report's script reads: a small table for the heat map at once, each layer's details when it is opened.

The heat map needs one number or word a head; verdicts, certificates and discs are many times that.  They stand packed
(zlib, base64) in one script element a layer, which the browser keeps as text until a reader chooses that layer, so a
report of 48 layers with 25 heads is as small and answers as fast as one of 12.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from typing import Any

from eigentoken.checking.report import Report
from eigentoken.documents.check_document import Head, HeadRegime, Interval, Layer, LayerRegime
from eigentoken.documents.verdict_object import Verdict

__all__ = ["data_scripts", "details", "overview"]

Record = dict[str, object]


def _leading(verdict: Verdict) -> float | None:
    found = verdict["details"].get("eigenvalue")
    return _short(found["re"]) if found and found["re"] is not None else None


def _end(interval: Interval) -> float | None:
    high = None if interval is None else interval[1]
    return None if high is None or isinstance(high, str) else _short(high)  # "inf" has no colour


#: What the colour can show: name, whether it is a word, its value for a head, its value for the whole layer.
CHOICES: tuple[tuple[str, bool, Callable[[Head], object], Callable[[Layer], object]], ...] = (
    ("norm of the score matrix", False, lambda head: _end(head["score_norm"]), lambda layer: _end(layer["norm"])),
    (
        "leading real part of U = O V",
        False,
        lambda head: _leading(head["value_leader"]),
        lambda layer: _leading(layer["leaders"]["real-part"]),
    ),
    (
        "leader of U real and simple",
        True,
        lambda head: head["value_leader"]["verdict"],
        lambda layer: layer["leaders"]["real-part"]["verdict"],
    ),
    ("statements met as if the head were alone", False, lambda head: len(_met(head)), lambda layer: None),
    (
        "distance of sym(P) to positive definite",
        False,
        lambda head: _end(head["score"].get("distance_to_positive_definite")),
        lambda layer: None,
    ),
    (
        "distance of U to symmetric",
        False,
        lambda head: _end(head["value"]["distance_to_symmetric"]),
        lambda layer: _end(layer["distance_to_symmetric"]),
    ),
    (
        "inertia of the scores decided",
        True,
        lambda head: head["score_inertia"]["verdict"],
        lambda layer: layer["score_inertia"]["verdict"],
    ),
)


def data_scripts(report: Report) -> str:
    """The script elements: ``data`` with the overview, ``layer-K`` with the details of each distinct layer."""
    parts = [_script("data", overview(report))]
    parts += [_packed(f"layer-{layer['layer']}", details(layer)) for layer in report.layers if _distinct(layer)]
    return "\n".join(parts)


def overview(report: Report) -> Record:
    """Which layers there are, and what the colours of the heat map show for each head and layer."""
    layers = []
    for layer in report.layers:
        entry: Record = {"layer": layer["layer"], "weights_of": layer["weights_of"]}
        if _distinct(layer):
            entry["heads"] = [[of(head) for _, _, of, _ in CHOICES] for head in layer["heads"]]
            entry["whole"] = [of(layer) for *_, of in CHOICES]
        layers.append(entry)
    choices = [{"name": name, "word": word} for name, word, *_ in CHOICES]
    return {"choices": choices, "layers": layers, "observed": report.document["observed"]}


def details(layer: Layer) -> Record:
    """All that a click on a layer or one of its heads shows; the conditions' names once, not once a head."""
    names = list(dict.fromkeys(name for head in layer["heads"] for name in head["verdicts"]))
    return {
        "discs": [[_short(value) for value in disc] for disc in layer["discs"] or ()],
        "leaders": {name: _verdict(verdict) for name, verdict in layer["leaders"].items()},
        "regime": _regime(layer["regime"]),
        "system": layer["system"]["says"],
        "score_inertia": _verdict(layer["score_inertia"]),
        "conditions": names,
        "heads": [_head(head, names) for head in layer["heads"]],
    }


def _head(head: Head, names: list[str]) -> Record:
    return {
        "score_inertia": _verdict(head["score_inertia"]),
        "value_inertia": _verdict(head["value_inertia"]),
        "value_leader": _verdict(head["value_leader"]),
        "regime": _regime(head["regime"]),
        "sizes": {"P": head["score"], "U": head["value"]},
        "conditions": [_bare(head["verdicts"].get(name)) for name in names],
        "met": _met(head),
        "rotary": head.get("rotary", []),
    }


def _regime(found: LayerRegime | HeadRegime) -> Record:
    return {"regime": found["regime"], "of": found["of"], "reason": found["reason"]}


def _distinct(layer: Layer) -> bool:
    return bool(layer["weights_of"] == layer["layer"])


def _met(head: Head) -> list[str]:
    """The statements about one head whose conditions the head meets, as if it were alone; definitions claim nothing."""
    return [each["statement"] for each in head["hypotheses"] if each["word"] == "met as if one head"]


def _verdict(verdict: Verdict) -> Record:
    """A verdict for the page: the certificate by kind, inputs and facts."""
    certificate = verdict["certificate"]
    kept = None
    if certificate is not None:
        facts = certificate["data"].get("facts", {})
        assert isinstance(facts, dict)
        small = {name: value for name, value in facts.items() if len(json.dumps(value)) < 200}
        kept = {"kind": certificate["kind"], "inputs": certificate["inputs"], "facts": small}
    eigenvalue = verdict["details"].get("eigenvalue")
    shown: Record = {
        "verdict": verdict["verdict"],
        "margin": verdict["margin"],
        "unit": verdict["unit"],
        "reason": verdict["reason"],
    }
    return shown | {"certificate": kept} | ({"eigenvalue": eigenvalue} if eigenvalue else {})


def _bare(verdict: Verdict | None) -> list[Any] | None:
    """Word, margin, unit and reason; the certificate is in the JSON report."""
    return None if verdict is None else [verdict[name] for name in ("verdict", "margin", "unit", "reason")]


def _short(value: float) -> float:
    return float(f"{value:.7g}")


def _compact(document: Record) -> str:
    return json.dumps(document, allow_nan=False, separators=(",", ":"))


def _script(name: str, document: Record) -> str:
    """A script element of JSON that cannot end its own element."""
    text = _compact(document).replace("</", "<\\/")
    return f'<script type="application/json" id="{name}">{text}</script>'


def _packed(name: str, document: Record) -> str:
    """The same, packed: what ``DecompressionStream("deflate")`` of a browser reads."""
    text = base64.b64encode(zlib.compress(_compact(document).encode(), 9)).decode()
    return f'<script type="application/zlib" id="{name}">{text}</script>'
