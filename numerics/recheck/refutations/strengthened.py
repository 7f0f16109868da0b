"""Re-check of a table of ``strengthen``: each search in it as a report of ``refute``, and each change against what its row says.

A row says which word of the conjecture was changed and how.  The changed conjecture is built again from the documents of the
words, and must be the one that was attacked; the sentences are formed again from the verdicts.  How many instances were tried is
not covered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.shown import Shown
from eigentoken.numerics.recheck.refutations.report import UNREADABLE, AuthorsCode, LabRecheck, Path_, recheck_result
from eigentoken.theory.language.documents import decode
from eigentoken.theory.language.trial_sentences import TriedChange, outcome_of, sentence_of

__all__ = ["recheck_strengthened"]

Word = Mapping[str, Any]


def recheck_strengthened(
    report: Mapping[str, Json], *, authors_code: AuthorsCode | None = None, seconds: float = 60.0
) -> LabRecheck:
    """Every search and every row of a table (already validated against its schema)."""
    found = LabRecheck(Shown(report))
    found.shown.cover(("schema",))
    for number, each in enumerate(report["results"]):
        path: Path_ = ("results", number)
        recheck_result(found, (*path, "whole"), authors_code, seconds)
        if each["rows"] and each["whole"]["verdict"] != "survived":
            found.shown.fails((*path, "rows"), "only what survives is strengthened")
        if not each["rows"]:
            found.shown.cover((*path, "rows"))
        for index, row in enumerate(each["rows"]):
            place = (*path, "rows", index)
            try:
                _row(found, place, row, each["whole"]["conjecture"], authors_code, seconds)
            except UNREADABLE as problem:
                found.shown.fails(place, f"it cannot be read: {type(problem).__name__}: {problem}"[:300])
    return found


def _row(
    found: LabRecheck,
    place: Path_,
    row: Mapping[str, Any],
    stated: Mapping[str, Any],
    authors_code: AuthorsCode | None,
    seconds: float,
) -> None:
    shown, kind, part, number = found.shown, row["kind"], row["part"], row["number"]
    belongs = {"sharpen": ("claims",), "constant": ("conditions", "claims")}.get(kind, ("conditions",))
    if number >= len(stated[part]) or part not in belongs:
        shown.fails(place, "the conjecture has no such word for a change of this kind")
        return
    shown.cover((*place, "kind"), (*place, "part"), (*place, "number"))
    shown.same((*place, "word"), stated[part][number]["text"])
    shown.cover((*place, "constant"))
    if (row["constant"] is None) == (kind == "constant"):
        shown.fails((*place, "constant"), "a constant belongs to the rows of constants, and to each of them")
        return
    told = []
    for index, trial in enumerate(row["trials"]):
        path = (*place, "trials", index)
        result = trial["result"]
        told.append(_told(trial))
        if result is None:
            continue  # what was not tried: not covered
        recheck_result(found, (*path, "result"), authors_code, seconds)
        shown.cover((*path, "to"))
        if not _is_the_change(row, trial, stated, result["conjecture"]):
            shown.fails((*path, "result"), "what was attacked is not the conjecture with this change")
    shown.same((*place, "outcome"), outcome_of(kind, row["constant"], told))
    shown.same((*place, "says"), sentence_of(kind, row["constant"], told))


def _told(trial: Mapping[str, Any]) -> TriedChange:
    result = trial["result"]
    if result is None:
        return TriedChange(trial["to"], "not tried", 0, trial["why_not"])
    return TriedChange(trial["to"], result["verdict"], result["tried"], trial["why_not"])


def _is_the_change(
    row: Mapping[str, Any], trial: Mapping[str, Any], stated: Mapping[str, Any], changed: Mapping[str, Any]
) -> bool:
    """Is the second conjecture the first one with the change of the row?"""
    kind, part, number = row["kind"], row["part"], row["number"]
    same = all(changed.get(each) == stated.get(each) for each in ("name", "system", "mask"))
    other = "claims" if part == "conditions" else "conditions"
    kept = [each for index, each in enumerate(stated[part]) if index != number]
    if kind in ("drop", "converse"):
        if not same or changed["conditions"] != kept:
            return False
        if kind == "drop":
            return bool(trial["to"] == "" and changed["claims"] == stated["claims"])
        return trial["to"] == stated[part][number]["text"] and _are_equivalences(stated, number, changed["claims"])
    if not same or changed[other] != stated[other] or len(changed[part]) != len(stated[part]):
        return False
    old, new = stated[part][number]["statement"], changed[part][number]["statement"]
    if [each for index, each in enumerate(changed[part]) if index != number] != kept or old is None or new is None:
        return False
    if kind == "constant":
        return any(decode(each) == decode(new) for each in _with_number(old, row["constant"], trial["to"]))
    offered = _weaker(old) if kind == "weaken" else _sharper(old)
    return trial["to"] == changed[part][number]["text"] and any(each == new for each in offered)


def _are_equivalences(stated: Mapping[str, Any], number: int, claims: list[Word]) -> bool:
    condition = stated["conditions"][number]["statement"]
    wanted = [_word("Iff", claim=each["statement"], condition=condition) for each in stated["claims"]]
    return [each["statement"] for each in claims] == wanted


def _word(name: str, **fields: Any) -> dict[str, Any]:
    return {"word": name, "fields": fields}


def _with_number(node: Any, old: str, new: str) -> Iterator[Any]:
    """The document with one of its numbers that is the old one replaced by the new one, in each way."""
    if isinstance(node, dict):
        if node == {"number": old}:
            yield {"number": new}
        for name, child in node.items():
            for each in _with_number(child, old, new):
                yield {**node, name: each}
    elif isinstance(node, list):
        for index, child in enumerate(node):
            for each in _with_number(child, old, new):
                yield [*node[:index], each, *node[index + 1 :]]


def _weaker(word: Word) -> Iterator[dict[str, Any]]:
    """Conditions that follow from the one that is given, whatever the matrices are."""
    name, fields = word.get("word"), word.get("fields", {})
    if name == "PositiveDefinite":
        yield _word("PositiveSemidefinite", **fields)
    if name == "NonPrincipalModulusBelow":
        yield _word("SimpleTop", **fields)
    if name == "IsIdentity":
        parts = [_word("Symmetric", **fields), _word("PositiveDefinite", **fields)]
        yield _word("AllOf", parts={"list": parts})
    if name == "InHemisphere" and fields["normal"] != {"value": None}:
        yield _word("InHemisphere", normal={"value": None}, left={"value": False})
    if name == "Relation" and str(fields["relation"].get("call", "")).startswith("Strict"):
        relation = fields["relation"]
        yield _word("Relation", relation={**relation, "call": relation["call"].removeprefix("Strict")})


def _sharper(word: Word) -> Iterator[dict[str, Any]]:
    """Claims from which the one that is given follows."""
    name, fields = word.get("word"), word.get("fields", {})
    if name == "When":
        yield fields["claim"]
        yield _word("Iff", claim=fields["claim"], condition=fields["condition"])
    if name in ("AlmostEveryConverges", "LyapunovStable"):
        yield _word({"AlmostEveryConverges": "Converges", "LyapunovStable": "Stable"}[str(name)], **fields)
    if name in ("Nonnegative", "Decreases", "Increases"):
        yield _word(str(name), **{**fields, "strict": {"value": True}})
    if name == "Diverges":
        yield _word("Diverges", every={"value": True})
