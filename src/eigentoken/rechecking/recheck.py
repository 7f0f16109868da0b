"""Re-verify a document: validate it, re-check every part of it with the independent arithmetic, and list what is not covered."""

from __future__ import annotations

import time
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from eigentoken.rechecking.lines import AGAIN, HASHES, SECOND, Parts, Recheck, Rechecked, lines_of, same_weights
from eigentoken.rechecking.of_reports import CheckWork, work_of_check

__all__ = ["AGAIN", "HASHES", "SECOND", "CheckWork", "Recheck", "Rechecked", "recheck_document", "work_of_check"]

KINDS = (
    "check",
    "compare",
    "chance",
    "nearest",
    "steer",
    "refutation",
    "strengthen",
    "classification",
    "basin",
    "verdict",
)
EXPECTED = (
    "expected a check report (check -o), a comparison (compare -o), what was held against chance (chance -o), a distance "
    "(nearest --json), an edit (steer --json), "
    "a refutation (refute -o), a table (strengthen -o), a classification (classify --json), a basin (basin "
    "-o), a verdict (certify --json) or a certificate (certify --save)"
)


#: Documents that hold the whole instance that they speak of.
_WHOLE = ("classification", "refutation", "strengthen")


def recheck_document(
    path: Path,
    *,
    source: object = None,
    seconds: float = 60.0,
    done: Callable[[], None] = lambda: None,
    run_predicates: bool = False,
    states: object = None,
    watch: Callable[[str], None] = lambda _now: None,
) -> Recheck:
    """A document that a command wrote; ``source`` replaces the model or matrix, ``states`` are those of ``check --states``.

    ``watch`` is called with the part of a check report that is done, ``done`` after each (:func:`work_of_check` counts).
    It is read strictly and validated against its published schema before anything in it is looked at.
    """
    document = _validated(path)
    kind = document["schema"].split("/")[1]
    if states is not None and kind not in ("check", "chance"):
        raise ValueError(f"states are those of a check report or of chance: leave them out beside {document['schema']}")
    if source is not None and (kind in _WHOLE or (kind == "basin" and document["head"] is None)):
        raise ValueError(
            f"a source is a model or a matrix, and {document['schema']} holds what it is about: leave it out"
        )
    if kind == "check":
        from eigentoken.rechecking.of_reports import recheck_report, stored_arrays

        def part(now: str) -> None:
            watch(now)
            done()

        return recheck_report(document, stored_arrays(path), source, seconds, part, states)
    if kind in ("compare", "nearest", "chance", "steer"):
        from eigentoken.rechecking import of_models

        if kind == "chance":
            return of_models.recheck_chance(document, source, seconds, done, states)

        whole_models = {
            "compare": of_models.recheck_compare,
            "nearest": of_models.recheck_nearest,
            "steer": of_models.recheck_steer,
        }
        return whole_models[kind](document, source, seconds, done)
    if kind == "certificate":
        return Recheck([_certificate(path, document, source, seconds)])
    if kind == "verdict":
        return _verdict(document, source, seconds)
    if kind == "classification":
        return _classification(document, seconds)
    if kind == "basin":
        return _basin(document, source, seconds)
    return _searched(document, run_predicates, path.parent, seconds)


def _validated(path: Path) -> dict[str, Any]:
    from eigentoken.files.documents import read_json
    from eigentoken.numerics.certified.certificates import schema as certificate_schema
    from eigentoken.numerics.recheck.documents.strict import broken_rule
    from eigentoken.schemas import schema

    document = read_json(path)
    if not isinstance(document, dict) or "schema" not in document:
        raise ValueError(f"{path} has no schema field: {EXPECTED}")
    rules = [schema(name) for name in KINDS] + [certificate_schema()]
    own = next((each for each in rules if each["$id"] == document["schema"]), None)
    if own is None:
        known = [str(each["$id"]) for each in rules]
        older = any(str(document["schema"]).rpartition("/")[0] == each.rpartition("/")[0] for each in known)
        why = f"this version re-checks {', '.join(known)}; write it anew" if older else EXPECTED
        raise ValueError(f"{path} holds {str(document['schema'])[:60]}: {why}")
    broken = broken_rule(document, own)
    if broken is not None:
        raise ValueError(f"{path} is not a document of {own['$id']}: {broken}")
    return document


def _classification(document: dict[str, Any], seconds: float) -> Recheck:
    from eigentoken.numerics.recheck.points.classification_documents import recheck_classification

    shown = recheck_classification(document, time.monotonic() + seconds)
    parts: Parts = {(name,): (name, document[name]["verdict"]) for name in ("equilibrium", "stable")}
    return Recheck(list(lines_of(shown, parts)), shown.not_covered())


def _basin(document: dict[str, Any], source: object, seconds: float) -> Recheck:
    """Every region of a basin; those of a head from its weights, which are read again."""
    from eigentoken.checking.heads import head_of, layer_of
    from eigentoken.checking.run import open_model
    from eigentoken.numerics.recheck.basins.documents import recheck_basin

    subject, weights, lines = document["head"], None, []
    if subject is not None:
        model = open_model(subject["model"] if source is None else source)
        head = head_of(layer_of(model, subject["layer"], subject["fold"]), subject["head"])
        weights = {"O": head.O, "V": head.V}
        lines.append(same_weights("weights", subject["fingerprint"], model.fingerprint()))
    shown = recheck_basin(document, weights, time.monotonic() + seconds)
    if subject is not None:
        shown.cover(*(("head", name) for name in ("fingerprint", "layer", "head", "fold")))
        if source is None:
            shown.cover(("head", "model"))  # it was read from there, and its weights have the hashes that are stated
    if not document["regions"]:
        shown.cover(("regions",))
        shown.undecided(("regions",), "no region is claimed, so there is nothing to confirm")
    for index, region in enumerate(document["regions"]):
        where = f"regions[{index}]"
        if not any(each.where.startswith(where) for each in shown.found):
            named = region["statement"] or "contraction principle"
            lines.append(
                Rechecked(where, f"{region['kind']} ({named})", "holds", "holds", "confirmed from the weights")
            )
    return Recheck([*lines, *lines_of(shown, {})], shown.not_covered())


def _verdict(document: dict[str, Any], source: object, seconds: float) -> Recheck:
    from eigentoken.files.given_arrays import dense_array
    from eigentoken.numerics.recheck import recheck_verdict

    matrix = document["matrix"] if source is None else dense_array("source", source)
    shown = recheck_verdict(document, matrix, time_limit=seconds)
    if source is None and document["certificate"] is not None:
        shown.cover(("matrix",))  # it was read from there, and its content has the hash of the certificate
    parts: Parts = {("certificate",): (document["condition"], document["verdict"])}
    return Recheck(list(lines_of(shown, parts)), shown.not_covered())


def _certificate(path: Path, document: dict[str, Any], source: object, seconds: float) -> Rechecked:
    from eigentoken.files.documents import read_json
    from eigentoken.files.given_arrays import dense_array
    from eigentoken.numerics.recheck import recheck

    if source is None and document["inputs"] and document["kind"] != "time-formula":
        raise ValueError(f"{path} does not name its input: give it with --source FILE")
    given = dense_array("source", source)
    if document["kind"] == "classification" and isinstance(source, str | PathLike):
        given = read_json(Path(source))
    answer = recheck(str(path), given, time_limit=seconds)
    return Rechecked(str(path), document["condition"], document["verdict"], str(answer.answer), answer.reason)


def _searched(document: dict[str, Any], run_predicates: bool, beside: Path, seconds: float) -> Recheck:
    """A report of ``refute`` or a table of ``strengthen``."""
    from eigentoken.numerics.lab.rerun import Rerun
    from eigentoken.numerics.recheck.refutations.report import recheck_shown
    from eigentoken.numerics.recheck.refutations.strengthened import recheck_strengthened

    again = recheck_strengthened if document["schema"].startswith("eigentoken/strengthen/") else recheck_shown
    found = again(document, authors_code=Rerun(beside) if run_predicates else None, seconds=seconds)
    lines = [
        Rechecked(where, "counterexample", "holds", str(verdict.answer), verdict.reason, AGAIN if free else SECOND)
        for where, verdict in found.lines
        for free in (where.endswith(": holds_if"),)
    ]
    differs = [Rechecked(each.where, "as displayed", "holds", each.answer, each.why) for each in found.shown.found]
    return Recheck(lines + differs, found.shown.not_covered())
