"""Re-check of a report of ``refute``, leaf by leaf, from the report alone, with the second arithmetic.

A result states a conjecture, a verdict and, where that is ``refuted``, a counterexample: one instance with a certificate for each
condition (it holds) and one for a claim (it fails).  The words are read back from the conjecture's document; the second
arithmetic decides each of them at the instance; certificates are built again from that and compared as a whole; margins and
reasons that come from a classification are confirmed by :mod:`eigentoken.numerics.recheck.points.classified`.  What the
search counted or measured (times, numbers of tries, corners, candidates) is not covered.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import flint

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.reading import UNCONFIRMED, RecheckError, unconfirmed
from eigentoken.numerics.recheck.documents.shown import Shown
from eigentoken.numerics.recheck.points.attention import POINTS, SHAPES, WITHOUT_POINTS, not_written
from eigentoken.numerics.recheck.points.classified import confirm_claim
from eigentoken.numerics.recheck.points.number_texts import real_ball
from eigentoken.numerics.recheck.points.point import PRECISION, Point, instance_digest
from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
from eigentoken.numerics.recheck.refutations.condition_truths import CONDITION_TRUTH
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.theory.classification import sentences as words
from eigentoken.theory.classification.instances import Instance, InstanceError, read_instance
from eigentoken.theory.language.claims import Claim
from eigentoken.theory.language.documents import (
    FREE,
    GIVEN,
    UnknownObservable,
    WordDocumentError,
    conjecture_digest,
    decode,
    mask_document,
)
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer, fails, holds, undecided

__all__ = ["AuthorsCode", "LabRecheck", "recheck_report", "recheck_result", "recheck_shown"]

CODE = "a free predicate is code, and was not run again: ask for it with --run-predicates"
#: The certificate of a free predicate that answers with a number.
PREDICATE_MARGIN = "predicate/margin"
NEEDED = "a certified counterexample exists without it"
Path_ = tuple[str | int, ...]
UNREADABLE = (
    WordDocumentError,
    InstanceError,
    RecheckError,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    IndexError,
)


class AuthorsCode(Protocol):
    """The code of a conjecture's author, run again where the caller hands it over: no second arithmetic can read code.

    What it answers is the issuer's reading of that code, and is listed as such.
    """

    def predicate(self, home: Mapping[str, str] | None, instance: Instance, k: int, p: int) -> Verdict:
        """``holds`` where the predicate of that file is false of the instance, as was certified; with its margin."""

    def premise(self, home: Mapping[str, str] | None, instance: Instance, k: int, p: int) -> Verdict:
        """``holds`` where the premise of that file is true of the instance, as was certified."""

    def claim(self, home: Mapping[str, str] | None, statement: Json) -> Claim | Verdict:
        """The claim of that file that has this document."""


@dataclass
class LabRecheck:
    """The report leaf by leaf, and a line for each certificate: where, and what the second arithmetic says."""

    shown: Shown
    lines: list[tuple[str, Verdict]] = field(default_factory=list)


@dataclass(frozen=True)
class _Options:
    authors_code: AuthorsCode | None
    until: float


def recheck_report(
    report: Mapping[str, Any], *, authors_code: AuthorsCode | None = None, seconds: float = 60.0
) -> list[tuple[str, Verdict]]:
    """The lines of :func:`recheck_shown`: first what does not agree or is open, then each certificate."""
    found = recheck_shown(report, authors_code=authors_code, seconds=seconds)
    words_of = {"fails": fails, "undecided": undecided}
    return [(each.where, words_of[each.answer](each.why)) for each in found.shown.found] + found.lines


def recheck_shown(
    report: Mapping[str, Json], *, authors_code: AuthorsCode | None = None, seconds: float = 60.0
) -> LabRecheck:
    """Every result of a report (already validated against its schema).

    A free predicate is code: it is run again only where the caller hands over who runs it (``authors_code``).
    """
    found = LabRecheck(Shown(report))
    found.shown.cover(("schema",))
    names = [result["name"] for result in report["results"]]
    if len(set(names)) != len(names):
        found.shown.fails(("results",), "a conjecture is listed twice")
    for number in range(len(report["results"])):
        recheck_result(found, ("results", number), authors_code, seconds)
    return found


def recheck_result(found: LabRecheck, path: Path_, authors_code: AuthorsCode | None, seconds: float) -> None:
    """One result of a search, which stands at the path."""
    try:
        _Result(found, path, found.shown.at(path), _Options(authors_code, time.monotonic() + seconds)).run()
    except UNREADABLE as problem:
        found.shown.fails(path, f"it cannot be read: {type(problem).__name__}: {problem}"[:300])


def _truth(certificate: Mapping[str, Any], instance: Instance, arc: int | None, options: _Options) -> Verdict:
    """Does the second arithmetic find what the certificate says?"""
    data = certificate["data"]
    if data["statement"] is None:
        return _author_again(certificate, instance, options)
    look = IndependentInstance(instance, int(data["k"]), int(data["p"]), arc)
    try:
        word = decode(data["statement"])
    except UnknownObservable as problem:
        if options.authors_code is None:
            return undecided(str(problem))
        word = options.authors_code.claim(data.get("predicate"), data["statement"])
        if isinstance(word, Verdict):
            return word
    if certificate["kind"] == "lab/condition":
        truth = CONDITION_TRUTH(word, look, data)
    else:
        found = CLAIM_TRUTH(word, look, data)
        truth = None if found is None else not found
    if truth is None:
        return undecided("the second arithmetic has no method for this")
    return holds("the second arithmetic agrees") if truth else fails("the second arithmetic finds the opposite")


def _author_again(certificate: Mapping[str, Any], instance: Instance, options: _Options) -> Verdict:
    """A free predicate is code of an author: where the caller hands that over, it is run again."""
    if options.authors_code is None:
        return undecided(CODE)
    data, code = certificate["data"], options.authors_code
    again = code.premise if certificate["kind"] == "lab/condition" else code.predicate
    return again(data.get("predicate"), instance, int(data["k"]), int(data["p"]))


def _arc(counterexample: Mapping[str, Any]) -> int | None:
    """The arc on which the last token is, where the claim was refuted by a start that is only known to be on one."""
    for certificate in counterexample["certificates"]:
        if certificate["data"].get("kind") == "limit/bracketed-start":
            return int(certificate["data"]["data"]["m"])
    return None


def _own_claim(instance: Any, data: Mapping[str, Any], display: Mapping[str, Any], options: _Options) -> str | None:
    """The margin that is displayed: none, or that of a classification, confirmed at the point."""
    margin = display["margin"]
    if data["kind"] == "hemisphere" and margin is not None:
        return _displacement(instance, data["data"]["vector"], float(margin))
    if data["kind"] == PREDICATE_MARGIN and data["statement"] is None and margin is not None:
        return _predicate_margin(instance, data, float(margin), options)
    if data["kind"] != "classification":
        return None if margin is None else "a margin is stated that no certificate supports"
    own = data["data"]
    if set(own) != {"claim", "at_least", "cycle"}:
        return "the claim about the point is not one of a classification"
    if own["at_least"] != (None if margin is None else float(margin).hex()):
        return "the margin is not the one that the certificate supports"
    if instance["system"] not in POINTS:
        return unconfirmed(not_written(instance["system"], POINTS))
    if own["claim"] == "boundary" and not own["cycle"]:
        exactly = IndependentInstance(read_instance(instance), int(data["k"]), int(data["p"])).marginal()
        if exactly is not None:
            return None if exactly else "no eigenvalue is exactly on the boundary with all others inside"
    about = "equilibrium" if own["claim"] in ("fixed", "moved", "undefined") else "linearly asymptotically stable"
    answer = "holds" if own["claim"] in ("fixed", "inside", "discrete") else "fails"
    old, flint.ctx.prec = flint.ctx.prec, PRECISION
    try:
        return confirm_claim(Point(instance), about, answer, own, options.until)
    finally:
        flint.ctx.prec = old


def _predicate_margin(instance: Any, data: Mapping[str, Any], margin: float, options: _Options) -> str | None:
    """The margin of a free predicate is known only by running its code again: it must be at least as large then."""
    if data["data"] != {"at_least": margin.hex()}:
        return "the margin is not the one that the certificate supports"
    if options.authors_code is None:
        return unconfirmed(CODE)
    found = options.authors_code.predicate(
        data.get("predicate"), read_instance(instance), int(data["k"]), int(data["p"])
    )
    if not found.is_holds:
        return unconfirmed(found.reason)
    return None if found.margin is not None and margin <= found.margin else "the margin is larger than that of the code"


def _displacement(instance: Any, vector: Any, margin: float) -> str | None:
    """Every token may move by so much before it leaves the side of the vector: ``margin |v| <= v^T x_i`` for all i."""
    old, flint.ctx.prec = flint.ctx.prec, PRECISION
    try:
        v = [real_ball(entry) for entry in vector]
        tokens = [[real_ball(entry) for entry in token] for token in instance["tokens"]]
        length = sum((entry * entry for entry in v), flint.arb(0)).sqrt()
        heights = [sum((a * b for a, b in zip(v, x, strict=True)), flint.arb(0)) for x in tokens]
        fine = all(flint.arb(margin) * length <= height for height in heights)
        return None if fine else "the margin is larger than the distance of a token to the plane"
    finally:
        flint.ctx.prec = old


def _written(found: Mapping[str, Any]) -> bool:
    """Are there equations here for what the counterexample is about?  Of residual attention for points alone."""
    name, last = found["instance"]["system"], found["certificates"][-1:]
    of_a_point = bool(last) and last[0]["data"]["kind"] == "classification"
    return name in {*SHAPES, *WITHOUT_POINTS} or (name in POINTS and of_a_point)


def _own_reasons(instance: Any, own: Mapping[str, Any], margin: float | None) -> list[str]:
    """What a classification says of its claim; empty where the sentence has more in it than the claim."""
    is_map = POINTS[instance["system"]].is_map if instance["system"] in POINTS else None
    named = {"inside": "stable", "outside": "unstable", "boundary": "marginal"}
    if is_map is None:
        return []
    if own["claim"] in named:
        ways = ("exact spectrum", "ball arithmetic")
        return [words.stability_reason(named[own["claim"]], is_map, margin or 0.0, how) for how in ways]
    return [words.fixed_reason(is_map)] if own["claim"] == "fixed" else []


class _Result:
    """One result of a report."""

    def __init__(self, found: LabRecheck, path: Path_, result: Mapping[str, Any], options: _Options) -> None:
        self.found, self.shown, self.path, self.result, self.options = found, found.shown, path, result, options
        self.stated = result["conjecture"]

    def run(self) -> None:
        shown, result = self.shown, self.result
        refuted = result["verdict"] == "refuted"
        status = {"refuted": "refuted", "not tested": "not tested"}.get(result["verdict"], "tested")
        shown.same((*self.path, "status"), status)
        shown.cover((*self.path, "verdict"))
        if refuted != (result["counterexample"] is not None):
            why = "refuted without a counterexample" if refuted else "a counterexample stands beside another verdict"
            shown.fails((*self.path, "verdict"), why)
        self._conjecture()
        if result["counterexample"] is None:
            shown.cover((*self.path, "counterexample"))
        elif refuted:
            found = _Counterexample(self, (*self.path, "counterexample"), result["counterexample"], self.stated)
            found.run(result["name"])
            said = f"refuted by an exact counterexample, found by {result['found_by']}: "
            shown.same((*self.path, "meaning"), said + result["counterexample"]["claim"]["reason"])
            if not found.reason_is_covered:
                shown.covered.discard((*self.path, "meaning"))
        self._dropped()

    def _conjecture(self) -> None:
        """The conjecture that was attacked: its words read back, under the digest that the certificates name."""
        shown, stated, place = self.shown, self.stated, (*self.path, "conjecture")
        shown.same((*place, "digest"), conjecture_digest(stated), "it is not the conjecture that was attacked")
        for part in ("name", "system"):
            shown.same((*self.path, part), stated[part], f"the {part} is not that of the conjecture")
            shown.cover((*place, part))
        if "mask" in stated:
            shown.same((*place, "mask"), mask_document(stated["mask"]))
        for part in ("conditions", "claims"):
            for number, word in enumerate(stated[part]):
                self._word((*place, part, number), word)
            if not stated[part]:
                shown.cover((*place, part))

    def _word(self, place: Path_, word: Mapping[str, Any]) -> None:
        statement = word["statement"]
        self.shown.cover((*place, "statement"))
        if statement is None:
            self.shown.same((*place, "text"), GIVEN if place[-2] == "conditions" else FREE)
            return
        try:
            read = str(LATEX(decode(statement)))
        except UnknownObservable:
            return  # an author's own observable: its text cannot be read from the report
        except UNREADABLE:
            if set(statement) != {"unreadable"}:
                self.shown.fails((*place, "statement"), "it says no word of the language")
            return
        self.shown.same((*place, "text"), read, f"the words are those of another formula: {read[:80]}")

    def _dropped(self) -> None:
        """The line number i is the conjecture without its condition number i."""
        lines, conditions = self.result["dropped"], self.stated["conditions"]
        if not lines:
            self.shown.cover((*self.path, "dropped"))
            return
        if len(lines) != len(conditions):
            self.shown.fails((*self.path, "dropped"), "there is not one line for each condition")
            return
        for number, line in enumerate(lines):
            place = (*self.path, "dropped", number)
            self.shown.same((*place, "condition"), conditions[number]["text"])
            found = line["counterexample"]
            if line["needed"] is True or found is not None:
                self.shown.same(
                    (*place, "needed"), True if found is not None else None, "needed without a counterexample"
                )
                self.shown.same((*place, "says"), NEEDED)
            if found is None:
                self.shown.cover((*place, "counterexample"))
                continue
            kept = [each for index, each in enumerate(conditions) if index != number]
            weaker = {**self.stated, "conditions": kept}
            weaker["digest"] = conjecture_digest(weaker)
            name = f"{self.result['name']} without {line['condition']}"
            _Counterexample(self, (*place, "counterexample"), found, weaker).run(name)


class _Counterexample:
    """One instance, a certificate for each condition, and one for a claim."""

    def __init__(self, result: _Result, path: Path_, found: Mapping[str, Any], stated: Mapping[str, Any]) -> None:
        self.result, self.shown, self.path, self.found, self.stated = result, result.shown, path, found, stated
        self.options = result.options
        self.reason_is_covered = False

    def run(self, name: str) -> None:
        shown, found, stated = self.shown, self.found, self.stated
        self.digest = instance_digest(found["instance"])
        shown.same((*self.path, "instance_sha256"), self.digest, "the hash is not that of the instance")
        if not _written(found):
            open_ = undecided(f"nothing is confirmed of {not_written(found['instance']['system'])}")
            self.result.found.lines.append((f"{name}: {found['claim']['claim']}", open_))
            return
        self.instance = read_instance(found["instance"])
        shown.same((*self.path, "instance"), self.instance.as_dict(), "the instance is not in its canonical form")
        self._sizes()
        own = [number for number, each in enumerate(stated["claims"]) if each["text"] == found["claim"]["claim"]]
        entries = [(each, "lab/condition", "holds") for each in stated["conditions"]]
        if not own:
            shown.fails((*self.path, "claim"), "the claim that fails is none of the conjecture's")
            return
        entries.append((stated["claims"][own[0]], "lab/claim", "fails"))
        if not len(found["certificates"]) == len(found["conditions"]) + 1 == len(entries):
            shown.fails(
                (*self.path, "certificates"), "there is not one certificate for each condition and one for a claim"
            )
            return
        for number, (word, kind, verdict) in enumerate(entries):
            self._entry(number, word, kind, verdict, name)
        if not stated["conditions"]:
            shown.cover((*self.path, "conditions"))

    def _sizes(self) -> None:
        shown, found, instance = self.shown, self.found, self.instance
        shown.same((*self.path, "n"), instance.n)
        shown.same((*self.path, "d"), instance.d)
        shown.cover((*self.path, "k"), (*self.path, "p"))
        if not (1 <= found["k"] <= instance.d and 0 <= found["p"] <= instance.n):
            shown.fails((*self.path, "k"), "k and p do not fit the instance")
        if found["instance"]["system"] != self.stated["system"]:
            shown.fails((*self.path, "instance"), "the counterexample is of another system")
        mask = found["instance"].get("mask")
        if (None if mask is None else mask_document(mask)) != self.stated.get("mask"):
            shown.fails((*self.path, "instance"), "the mask of the counterexample is not that of the conjecture")

    def _entry(self, number: int, word: Mapping[str, Any], kind: str, verdict: str, name: str) -> None:
        """What is displayed of one word, its certificate as a whole, and its truth at the instance."""
        shown, claim = self.shown, kind == "lab/claim"
        display = (*self.path, "claim") if claim else (*self.path, "conditions", number)
        place = (*self.path, "certificates", number)
        certificate = self.found["certificates"][number]
        entry = self.found["claim"] if claim else self.found["conditions"][number]
        shown.same((*display, "claim" if claim else "condition"), word["text"])
        shown.same((*display, "verdict"), verdict)
        data = certificate["data"]
        issued = Certificate(
            kind,
            word["text"],
            VerdictAnswer(verdict),
            {"instance": self.digest, "conjecture": self.stated["digest"]},
            {
                **data,
                "k": self.found["k"],
                "p": self.found["p"],
                "statement": word["statement"],
                "reason": entry["reason"],
            },
        )
        whole = shown.same(place, issued.as_document(), "not the certificate of this word, instance and conjecture")
        self._proposals(place, data)
        self._margin(display, entry, data)
        if (*display, "reason") not in shown.covered:
            shown.uncover((*place, "data", "reason"))
        if not whole:
            return
        try:
            answer = _truth(certificate, self.instance, _arc(self.found), self.options)
        except UNREADABLE as problem:
            answer = fails(f"the certificate cannot be read: {type(problem).__name__}: {problem}"[:300])
        self.result.found.lines.append((f"{name}: {word['text']}", answer))

    def _proposals(self, place: Path_, data: Mapping[str, Any]) -> None:
        """The data of the verdict's own certificate: a claim that is confirmed, or proposals for which others are as good."""
        if data["kind"] not in ("", "classification") or (data["kind"] == "" and "data" in data):
            self.shown.uncover((*place, "data", "data"), (*place, "data", "kind"))
        if "predicate" in data:
            self.shown.uncover((*place, "data", "predicate"))

    def _margin(self, display: Path_, entry: Mapping[str, Any], data: Mapping[str, Any]) -> None:
        shown, margin = self.shown, entry["margin"]
        shown.judge((*display, "margin"), _own_claim(self.found["instance"], data, entry, self.options), UNCONFIRMED)
        own = data["data"] if data["kind"] == "classification" else {}
        is_map = self.found["instance"]["system"].endswith("map")
        stability = own.get("claim") in ("inside", "outside")
        unit = words.stability_unit(is_map) if stability else words.residual_unit
        unit = {"hemisphere": "token displacement", PREDICATE_MARGIN: "margin of the predicate"}.get(data["kind"], unit)
        shown.same((*display, "unit"), "" if margin is None else unit)
        reasons = _own_reasons(self.found["instance"], own, margin) if own else []
        if reasons:
            shown.cover((*display, "reason"))
            self.reason_is_covered = True
            if entry["reason"] not in reasons:
                shown.fails((*display, "reason"), f"{entry['reason'][:80]!r} is stated, {reasons[0]!r} is found")
