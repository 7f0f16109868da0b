"""Re-check counterexamples from a report alone, with the second arithmetic.

``recheck(document)`` takes what ``Certified.as_dict()`` wrote (a counterexample of a report) and gives a verdict for each
of its certificates: ``holds`` where the second arithmetic agrees, ``fails`` where it finds the opposite or the numbers
were changed, ``undecided`` where it has no method.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eigentoken.numerics.lab.documents import DocumentError, UnknownObservable, decode
from eigentoken.numerics.lab.predicates import run_again, stated_again
from eigentoken.numerics.lab.second_look import SecondLook
from eigentoken.numerics.lab.stated import contradictions
from eigentoken.numerics.readings.exact_values import Case
from eigentoken.theory.instances import InstanceError, read_instance
from eigentoken.theory.verdicts import Verdict, fails, holds, undecided

__all__ = ["recheck", "recheck_report"]


def recheck_report(
    report: Mapping[str, Any], *, run_predicates: bool = False, beside: Path | None = None
) -> list[tuple[str, Verdict]]:
    """Every certificate of every counterexample of a report of ``refute``; and a line for each thing that it states
    and its certificates do not support (a verdict without counterexample, a condition without certificate, other words).

    A free predicate is code: it is run again only with ``run_predicates``, from the file that the certificate names (or one
    of that name in the folder ``beside``), and only if that file is still the one that was run.
    """
    options: dict[str, Any] = {"run_predicates": run_predicates, "beside": beside}
    listed = []
    if not isinstance(report.get("results"), list):
        raise ValueError("the report of a refutation has no list of results: expected what refute -o wrote")
    for result in report["results"]:
        listed += _stated(result)
        parts = [(result["name"], result.get("counterexample"))]
        parts += [
            (f"{result['name']} without {line['condition']}", line.get("counterexample"))
            for line in result.get("dropped", [])
        ]
        for name, counterexample in parts:
            if counterexample is not None:
                listed += [(f"{name}: {what}", verdict) for what, verdict in recheck(counterexample, **options)]
    return listed


def _stated(result: Mapping[str, Any]) -> list[tuple[str, Verdict]]:
    """What the result states beyond its certificates, or against them."""
    try:
        return [(where, fails(why)) for where, why in contradictions(result)]
    except (DocumentError, InstanceError, KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
        return [(str(result.get("name")), fails(f"the result cannot be read: {type(problem).__name__}: {problem}"))]


def recheck(
    counterexample: Mapping[str, Any], *, run_predicates: bool = False, beside: Path | None = None
) -> list[tuple[str, Verdict]]:
    """The verdict of the second arithmetic for each certificate of one counterexample."""
    listed = []
    for certificate in counterexample.get("certificates", []):
        try:
            verdict = _one(certificate, counterexample, run_predicates, beside)
        except UnknownObservable as problem:
            verdict = undecided(str(problem))
        except (DocumentError, InstanceError, KeyError, TypeError, ValueError) as problem:
            verdict = fails(f"the certificate cannot be read: {type(problem).__name__}: {problem}")
        listed.append((certificate.get("condition", "?"), verdict))
    return listed


def _one(
    certificate: Mapping[str, Any], counterexample: Mapping[str, Any], run_predicates: bool, beside: Path | None
) -> Verdict:
    data = certificate["data"]
    document = {"instance": data["instance"], "k": data["k"], "p": data["p"]}
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    if certificate["inputs"].get("instance") != digest or data["instance"] != counterexample["instance"]:
        return fails("the numbers are not those that were certified: the digest differs")
    if data.get("statement") is None:
        if not run_predicates:
            return undecided("a free predicate is code, and was not run again: ask for it with --run-predicates")
        case = Case(read_instance(data["instance"]), int(data["k"]), int(data["p"]))
        return run_again(data.get("predicate"), case, beside)
    look = SecondLook(read_instance(data["instance"]), int(data["k"]), int(data["p"]), _arc(counterexample))
    try:
        word = decode(data["statement"])
    except UnknownObservable:
        if not run_predicates:
            raise
        word = stated_again(data.get("predicate"), data["statement"], beside)
        if isinstance(word, Verdict):
            return word
    if certificate["kind"] == "lab/condition":
        truth = look.condition(word, data)
    else:
        found = look.claim(word, data)
        truth = None if found is None else not found
    if truth is None:
        return undecided("the second arithmetic has no method for this")
    return holds("the second arithmetic agrees") if truth else fails("the second arithmetic finds the opposite")


def _arc(counterexample: Mapping[str, Any]) -> int | None:
    """The arc on which the last token is, where the claim was refuted by a start that is only known to be on one."""
    for certificate in counterexample["certificates"]:
        if certificate["data"].get("kind") == "limit/bracketed-start":
            return int(certificate["data"]["data"]["m"])
    return None
