"""Whether a check report says what its certificates and the weights support: every word that is displayed, not only those
with a certificate.

The statements are put together again from the layers of the report, each layer is examined again from the stored weights,
and both are compared with what is written.  This is the arithmetic of the issuer: it finds what was changed in a report, while
the certificates are confirmed by the other arithmetic (:mod:`eigentoken.checking.recheck`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["differences", "rewritten"]

#: Texts with numbers in them, and pictures: not compared word by word.
UNREAD = frozenset({"reason", "discs", "details", "description", "convention", "verdicts", "unit"})
#: Details of a verdict that are words or counts.
COUNTED = ("kind", "inertia", "rank")
#: Margins are floats of the linear algebra at hand: another machine rounds differently, in the last digits.
ROUNDING = 1e-6

Difference = tuple[str, str, str]


def rewritten(document: Mapping[str, Any], model: Any) -> Iterator[Difference]:
    """What the report says of the whole model, put together again from its own layers: place, answer, why."""
    from eigentoken.checking.idealisations import idealisations
    from eigentoken.checking.report import statement_over_layers
    from eigentoken.checking.warnings import warnings_of

    layers = document["layers"]
    stated = [(each["layer"], each["weights_of"]) for each in layers]
    if stated != [(index, model.reading.weights_of(index)) for index in range(model.n_layers)]:
        yield "layers", "fails", "the layers are not those of the model"
        return
    for each in layers:
        same = {name: value for name, value in layers[each["weights_of"]].items() if name != "layer"}
        if {name: value for name, value in each.items() if name != "layer"} != same:
            yield (
                f"layer {each['layer']}",
                "fails",
                f"not what is said of layer {each['weights_of']}, whose weights it has",
            )
    if document["warnings"] != warnings_of(model, layers):
        yield "warnings", "fails", "not what the file and the layers give"
    for statement in document["statements"]:
        name = statement["id"]
        own = [[found["statement"] for found in layer["hypotheses"]] for layer in layers]
        if any(name not in listed for listed in own):
            yield name, "fails", "a layer does not list its conditions"
            continue
        again = statement_over_layers(name, layers)
        wrong = [part for part, value in again.items() if statement.get(part) != value]
        if wrong:
            yield name, "fails", f"{', '.join(wrong)}: not what the layers say"
    if document["idealisations"] != json.loads(json.dumps(idealisations(layers, document["observed"]))):
        yield "idealisations", "fails", "not what the layers and the observation say"


def differences(record: Mapping[str, Any], layer: Any, ids: Sequence[str]) -> Iterator[Difference]:
    """What one layer's record says and an examination of the stored weights does not."""
    from eigentoken.checking.layers import layer_record

    examined, _ = layer_record(layer, ids)
    fresh = json.loads(json.dumps({name: value for name, value in examined.items() if name != "principal"}))
    where = f"layer {record['weights_of']}"
    for name in sorted(set(fresh) - {"layer", "heads"}):
        if name not in record:
            yield f"{where}, {name}", "fails", "missing"
        else:
            yield from _compared(record[name], fresh[name], f"{where}, {name}", name)
    yield from _compared(_spread(record["heads"]), _spread(fresh["heads"]), f"{where}, heads", "heads")


def _spread(heads: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Heads with the verdict of each condition in its place, instead of its name in a list."""
    return [
        {
            **{name: value for name, value in head.items() if name != "verdicts"},
            "hypotheses": [
                {
                    **each,
                    "conditions": {text: head["verdicts"].get(name) for text, name in each["conditions"].items()},
                }
                for each in head["hypotheses"]
            ],
        }
        for head in heads
    ]


def _compared(stated: Any, fresh: Any, where: str, name: str) -> Iterator[Difference]:
    if name in UNREAD and not (isinstance(fresh, dict) and all(map(_is_verdict, fresh.values()))):
        return
    if _is_verdict(fresh):
        yield from _verdicts(stated, fresh, where)
    elif isinstance(fresh, dict):
        if not isinstance(stated, dict) or len(stated) != len(fresh):
            yield where, "fails", "not the entries that an examination of the weights gives"
            return
        if set(stated) != set(fresh):
            yield (
                where,
                "undecided" if name == "conditions" else "fails",
                f"other words: {sorted(set(stated) ^ set(fresh))}",
            )
            return
        for key, value in fresh.items():
            yield from _compared(stated[key], value, f"{where}, {key}", key)
    elif _is_interval(fresh) or _is_interval(stated):
        yield from _intervals(stated, fresh, where)
    elif isinstance(fresh, list | tuple):
        if not isinstance(stated, list) or len(stated) != len(fresh):
            yield where, "fails", "not as many entries as an examination of the weights gives"
            return
        for index, (mine, again) in enumerate(zip(stated, fresh, strict=True)):
            label = again.get("statement", again.get("head", index)) if isinstance(again, dict) else index
            yield from _compared(mine, again, f"{where} {label}", "")
    elif isinstance(fresh, float) and not isinstance(stated, bool) and isinstance(stated, int | float):
        if not math.isclose(stated, fresh, rel_tol=ROUNDING):
            yield where, "fails", f"{stated!r} is stated, the weights give {fresh!r}"
    elif stated != fresh:
        open_one = "undecided" in (stated, fresh) or "about_tokens" in where
        yield where, "undecided" if open_one else "fails", f"{stated!r} is stated, the weights give {fresh!r}"


def _is_verdict(node: Any) -> bool:
    return isinstance(node, dict) and {"verdict", "margin", "certificate"} <= set(node)


def _is_interval(node: Any) -> bool:
    ends = (int, float)
    return (
        isinstance(node, list | tuple)
        and len(node) == 2
        and all(each in ("inf", "-inf") or (isinstance(each, ends) and not isinstance(each, bool)) for each in node)
    )


def _verdicts(stated: Any, fresh: Mapping[str, Any], where: str) -> Iterator[Difference]:
    """The word, the margin and what the certificate is about."""
    if not _is_verdict(stated):
        yield where, "fails", "not a verdict"
        return
    mine, again = stated["verdict"], fresh["verdict"]
    if mine != again:
        open_one = "undecided" in (mine, again)
        yield where, "undecided" if open_one else "fails", f"{mine} is stated, the weights give {again}"
        return
    certificate, other = stated["certificate"], fresh["certificate"]
    if (certificate is None) != (other is None):
        yield (
            where,
            "fails",
            "the certificate is missing" if certificate is None else "a certificate that is not issued",
        )
        return
    if certificate is not None and other is not None:
        if certificate["verdict"] != mine:
            yield where, "fails", f"{mine} is stated, its certificate says {certificate['verdict']}"
        if any(certificate[part] != other[part] for part in ("condition", "inputs")):
            yield where, "fails", "the certificate is about something else"
        kept = certificate["data"].get("margin")
        if kept is not None and stated["margin"] not in (None, float.fromhex(str(kept))):
            yield where, "fails", "the margin is not the one that the certificate supports"
    for part in COUNTED:
        if stated["details"].get(part) != fresh["details"].get(part):
            yield where, "fails", f"the {part} is not what the weights give"
    yield from _margins(stated["margin"], fresh["margin"], where)


def _margins(stated: Any, fresh: Any, where: str) -> Iterator[Difference]:
    if stated is None or stated == fresh:
        return
    if fresh is None:
        yield where, "fails", f"a margin of {stated!r} is stated, the weights give none"
    elif not math.isclose(stated, fresh, rel_tol=ROUNDING):
        word = "fails" if stated > fresh else "undecided"
        yield where, word, f"a margin of {stated!r} is stated, the weights give {fresh!r}"


def _intervals(stated: Any, fresh: Any, where: str) -> Iterator[Difference]:
    """Both enclose the same number: they must meet."""
    if not (_is_interval(stated) and _is_interval(fresh)):
        yield where, "fails", f"{stated!r} is stated, the weights give {fresh!r}"
        return
    (low, high), (least, most) = (sorted(map(float, ends)) for ends in (stated, fresh))
    if high < least or most < low:
        yield where, "fails", f"{stated!r} is stated, the weights give {fresh!r}"
