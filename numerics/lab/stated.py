"""What a report of ``refute`` states beside its certificates, and whether the certificates support all of it.

A report says ``refuted`` of a conjecture; the certificates are about one instance.  They meet in the conjecture's document:
its name, system, conditions and claims in words that can be read back, with a sha256 that each certificate names.  The
sha256 shows that something was changed; it is no signature.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from eigentoken.numerics.lab.documents import DocumentError, UnknownObservable, decode, encode
from eigentoken.theory.algebra import causal_mask
from eigentoken.theory.instances import read_instance
from eigentoken.theory.readings import LATEX

if TYPE_CHECKING:
    from eigentoken.numerics.lab.conjectures import Conjecture

__all__ = ["conjecture_document", "contradictions", "shown"]

FREE = "holds_if"
SHOWN = ("verdict", "margin", "unit", "reason")


def conjecture_document(conjecture: Conjecture) -> dict[str, Any]:
    """Name, system, conditions and claims of a conjecture with their digest."""
    document = {
        "name": conjecture.name,
        "system": conjecture.system,
        "conditions": [_word(each) for each in conjecture.conditions],
        "claims": [_word(each) for each in conjecture.claims],
    }
    if conjecture.mask is not None:
        document["mask"] = _mask(conjecture.mask)
    if conjecture.holds_if is not None:
        document["claims"] = [*document["claims"], {"text": FREE, "statement": None}]
    return {**document, "digest": _digest(document)}


def _mask(mask: Any) -> Any:
    if mask is None or isinstance(mask, str):
        return mask
    rows = [[int(entry) for entry in row] for row in mask]
    return "causal" if tuple(map(tuple, rows)) == causal_mask(len(rows)) else rows


def _word(word: Any) -> dict[str, Any]:
    try:
        return {"text": str(LATEX(word)), "statement": encode(word)}
    except DocumentError as problem:  # it can be searched, but a certificate could not name it
        return {"text": str(LATEX(word)), "statement": {"unreadable": str(problem)}}


def shown(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a verdict that a reader sees: word, margin, unit, reason."""
    return {name: verdict.get(name) for name in SHOWN}


def _digest(document: Mapping[str, Any]) -> str:
    bare = {name: value for name, value in document.items() if name != "digest"}
    return hashlib.sha256(json.dumps(bare, sort_keys=True).encode()).hexdigest()


def contradictions(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Where one result says more than its certificates, or something else: the place and what is wrong."""
    name, refuted = str(result.get("name")), result.get("verdict") == "refuted"
    found = result.get("counterexample")
    statuses = {"refuted": "refuted", "candidate": "tested", "survived": "tested", "not tested": "not tested"}
    if result.get("verdict") not in statuses:
        yield name, f"unknown verdict {result.get('verdict')!r}"
    if result.get("status") != statuses.get(str(result.get("verdict"))):
        yield name, f"the status {result.get('status')!r} does not belong to the verdict {result.get('verdict')!r}"
    if refuted != (found is not None):
        yield name, "refuted without a counterexample" if refuted else "a counterexample stands beside another verdict"
    stated = result.get("conjecture")
    if not isinstance(stated, dict) or not {"conditions", "claims", "digest"} <= set(stated):
        yield name, "the report does not carry the conjecture that was attacked"
        return
    if stated["digest"] != _digest(stated):
        yield name, "the conjecture is not the one that was attacked: its digest differs"
    for part in ("name", "system"):
        if result.get(part) != stated.get(part):
            yield name, f"the {part} is {result.get(part)!r}, that of the conjecture is {stated.get(part)!r}"
    if refuted and found is not None:
        yield from ((name, why) for why in _unsupported(found, stated))
        reason = found["claim"].get("reason") if isinstance(found.get("claim"), dict) else None
        if not str(result.get("meaning")).endswith(f": {reason}"):
            yield name, "the meaning is not the reason of the counterexample"
    yield from _dropped(name, result.get("dropped", []), stated)


def _dropped(name: str, lines: list[Any], stated: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The line number i is the conjecture without its condition number i."""
    conditions = stated["conditions"]
    if lines and [line.get("condition") for line in lines] != [each["text"] for each in conditions]:
        yield name, "the dropped conditions are not the conditions of the conjecture"
        return
    for number, line in enumerate(lines):
        where, found = f"{name} without {line['condition']}", line.get("counterexample")
        if (line.get("needed") is True) != (found is not None):
            yield where, "a condition is needed exactly where a counterexample without it is given"
        if found is not None:
            kept = [each for index, each in enumerate(conditions) if index != number]
            weaker = {**stated, "conditions": kept}
            yield from ((where, why) for why in _unsupported(found, {**weaker, "digest": _digest(weaker)}))


def _unsupported(found: Mapping[str, Any], stated: Mapping[str, Any]) -> Iterator[str]:
    """One certificate for each condition of the conjecture and one for a claim, all of the displayed instance."""
    certificates, conditions, claim = found["certificates"], found["conditions"], found["claim"]
    if [each["condition"] for each in conditions] != [each["text"] for each in stated["conditions"]]:
        yield "the listed conditions are not those of the conjecture"
    if len(certificates) != len(stated["conditions"]) + 1:
        yield f"{len(stated['conditions'])} conditions and a claim need as many certificates and one, not {len(certificates)}"
        return
    expected = [(each, "lab/condition", "holds") for each in stated["conditions"]]
    own = next((each for each in stated["claims"] if each["text"] == claim["claim"]), None)
    if own is None:
        yield "the claim that fails is none of the conjecture's"
        return
    expected.append((own, "lab/claim", "fails"))
    for (word, kind, verdict), display, certificate in zip(expected, [*conditions, claim], certificates, strict=False):
        why = _differs(word, kind, verdict, display, certificate)
        if why is not None:
            yield f"{word['text']}: {why}"
        if certificate["inputs"].get("conjecture") != stated["digest"]:
            yield f"{word['text']}: the certificate is about another conjecture"
    yield from _wrong_numbers(found, stated)


def _differs(word: Any, kind: str, verdict: str, display: Any, certificate: Any) -> str | None:
    data = certificate["data"]
    if (certificate["kind"], certificate["verdict"]) != (kind, verdict):
        return f"a {kind} certificate that says {verdict} is needed"
    if certificate["condition"] != word["text"] or data.get("statement") != word["statement"]:
        return "the certificate is about something else"
    if display.get("verdict") != verdict or data.get("shown") != shown(display):
        return "what is displayed is not what the certificate says"
    inner = display.get("certificate")
    if inner is not None:
        if inner["verdict"] != verdict or inner["data"] != data.get("data") or inner["kind"] != data.get("kind"):
            return "the verdict's own certificate is another"
        least = inner["data"].get("at_least")
        if least is not None and display.get("margin") != float.fromhex(str(least)):
            return "the margin is not the one that the certificate supports"
    try:
        read = None if word["statement"] is None else str(LATEX(decode(word["statement"])))
    except UnknownObservable:
        return None
    return None if read in (None, word["text"]) else f"the words are those of another formula: {read}"


def _wrong_numbers(found: Mapping[str, Any], stated: Mapping[str, Any]) -> Iterator[str]:
    instance = read_instance(found["instance"])
    if found["instance"].get("system") != stated.get("system"):
        yield "the counterexample is of another system"
    if _mask(found["instance"].get("mask")) != stated.get("mask"):
        yield "the mask of the counterexample is not that of the conjecture"
    if (found["n"], found["d"]) != (len(instance.tokens), len(instance.tokens[0])):
        yield "n and d are not those of the instance"
    for certificate in found["certificates"]:
        if any(certificate["data"].get(name) != found.get(name) for name in ("instance", "k", "p")):
            yield "a certificate is about another instance, k or p"
            return
