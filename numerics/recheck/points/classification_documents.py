"""Re-check of a whole classification document: every number and text in it, from its instance alone.

The instance is the question; all else is found again in balls (:mod:`.points`, :mod:`.clusters`) and compared: the class,
k, p, q, the eigenvalue of the layer matrix, the ranks, the spectrum entry by entry, the words and margins of both verdicts,
their certificates as a whole, and the notes.  Slacks are those of :mod:`.spectrum_entries`; equalities are seen to 120 digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import flint

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.reading import UNCONFIRMED, RecheckError
from eigentoken.numerics.recheck.documents.shown import Shown
from eigentoken.numerics.recheck.points.attention import POINTS, not_written
from eigentoken.numerics.recheck.points.classified import confirm_claim, excesses, margin_differs, spectrum_at
from eigentoken.numerics.recheck.points.clusters import Cluster
from eigentoken.numerics.recheck.points.point import PRECISION, Point, every, instance_digest, vanishes
from eigentoken.numerics.recheck.points.point_classes import Described, described
from eigentoken.numerics.recheck.points.spectrum_entries import compare_spectrum, float_differs, form_differs
from eigentoken.theory.classification import sentences as words
from eigentoken.theory.language.verdicts import Certificate, VerdictAnswer

__all__ = ["recheck_classification"]

LARGEST_ORDER = 96
EQUILIBRIUM, STABLE = "equilibrium", "linearly asymptotically stable"


def recheck_classification(document: Mapping[str, Json], until: float) -> Shown:
    """What was found of every part of a classification document (already validated against its schema)."""
    shown = Shown(document)
    instance = document["instance"]
    shown.same(("instance_sha256",), instance_digest(instance), "the hash is not that of the instance")
    shown.same(("system",), instance["system"])
    shown.cover(("schema",))
    if instance["system"] not in POINTS:
        shown.cover(("instance",))
        shown.undecided(("instance",), f"nothing is confirmed of {not_written(instance['system'], POINTS)}")
        return shown
    old, flint.ctx.prec = flint.ctx.prec, PRECISION
    try:
        point = Point(instance)
        shown.cover(("instance",))
        shown.same(("n",), point.n)
        shown.same(("d",), point.d)
        _Recheck(shown, document, point, until).run()
    except RecheckError as problem:
        shown.fails(("instance",), str(problem))
    finally:
        flint.ctx.prec = old
    return shown


class _Recheck:
    def __init__(self, shown: Shown, document: Mapping[str, Any], point: Point, until: float) -> None:
        self.shown, self.document, self.point, self.until = shown, document, point, until
        self.is_map = point.shape.is_map
        self.kind = document["class"]
        self.cycle = self.kind == "2-cycle"
        self.how = "exact spectrum" if document["arithmetic"] == "exact" else "ball arithmetic"
        self.notes: list[str] = []

    def run(self) -> None:
        if self.kind == "undecided":
            self._nothing_claimed()
            return
        if self.kind == "not-an-equilibrium":
            self._elsewhere()
            return
        about = described(self.point, self.until)
        self._class(about)
        self._verdict(EQUILIBRIUM, "moved" if self.cycle else "fixed")
        self._spectrum()
        self._notes()

    # -- points that are none, or open ----------------------------------------------------------------------------------

    def _nothing_claimed(self) -> None:
        """An undecided point: both words are ``undecided`` and nothing else is stated."""
        for name in ("equilibrium", "stable"):
            self.shown.same((name, "verdict"), "undecided", "an undecided class with a decided verdict")
            self._empty_verdict(name)
        self.shown.cover(("class",))
        self.shown.undecided(("class",), "nothing is claimed, so there is nothing to confirm")
        self._no_description()

    def _no_description(self) -> None:
        for name in ("shape", "k", "eigenvalue", "p", "q", "clusters", "attention_rank", "linearization"):
            self.shown.same((name,), None)
        self.shown.same(("unstable_dimension",), None)
        self.shown.same(("spectrum",), [])
        self.shown.same(("also",), [])

    def _empty_verdict(self, name: str) -> None:
        self.shown.same((name, "margin"), None)
        self.shown.same((name, "unit"), "")
        self.shown.same((name, "certificate"), None)
        self.shown.same((name, "details"), {})

    def _elsewhere(self) -> None:
        self.shown.same(("class",), "not-an-equilibrium")
        state = "undefined" if self._states_undefined() else "moved"
        self._verdict(EQUILIBRIUM, state)
        self._verdict(STABLE, state)
        self._no_description()
        if self.is_map and state == "moved" and self._second_step_moves():
            self.notes.append(words.NO_CYCLE_NOTE)
        self._notes()

    def _states_undefined(self) -> bool:
        certificate = self.document["equilibrium"]["certificate"]
        return certificate is not None and certificate["data"]["claim"] == "undefined"

    def _second_step_moves(self) -> bool:
        try:
            back = self.point.again().image()
        except RecheckError:
            return False
        if back is None:
            return False
        pairs = zip(self.point.x, back, strict=True)
        return any(vanishes(a - b) is False for x, y in pairs for a, b in zip(x.entries(), y.entries(), strict=True))

    # -- the class ------------------------------------------------------------------------------------------------------

    def _class(self, about: Described) -> None:
        shown = self.shown
        for name, why in about.open.items():
            shown.cover((name,))
            shown.undecided((name,), why)
        if "class" not in about.open:
            kinds = about.kinds
            if self.cycle:
                shown.cover(("class",))  # that the point is on one is asked with the verdict
                shown.same(("shape",), kinds[0])
                shown.same(("also",), [])
            else:
                shown.same(("class",), kinds[0])
                shown.same(("also",), kinds[1:])
                shown.same(("shape",), None)
        for name in ("p", "q", "clusters"):
            if name not in about.open:
                shown.same((name,), getattr(about, name))
        if "attention_rank" not in about.open:
            ranks = about.ranks
            shown.same(("attention_rank",), ranks[0] if len(ranks) == 1 else ranks or None)
        self._eigenvalue(about)

    def _eigenvalue(self, about: Described) -> None:
        shown, stated = self.shown, self.document["eigenvalue"]
        if "eigenvalue" in about.open:
            return
        if about.eigenvalue is None:
            shown.same(("eigenvalue",), None)
            shown.same(("k",), None)
            return
        if not isinstance(stated, dict):
            shown.same(("eigenvalue",), about.eigenvalue.str(12))
            return
        shown.judge(("eigenvalue", "exact"), form_differs(stated["exact"], about.eigenvalue), UNCONFIRMED)
        shown.judge(("eigenvalue", "float"), float_differs(stated["float"], about.eigenvalue), UNCONFIRMED)
        if self.document["k"] is None:
            shown.cover(("k",))
            self.notes.append("the place k of the eigenvalue among those of F was not decided")
        elif "k" not in about.open:
            shown.same(("k",), about.k)
        if about.repeated > 1:
            self.notes.append(words.repeated_note(about.repeated))
        if about.tied:
            self.notes.append(words.TIED_NOTE)

    # -- the verdicts ---------------------------------------------------------------------------------------------------

    def _verdict(self, condition: str, claim: str, extra: Sequence[str] = ()) -> None:
        """One verdict as a whole: its answer, margin, unit, reason and certificate, from the claim that it makes."""
        name = "equilibrium" if condition == EQUILIBRIUM else "stable"
        stated = self.document[name]
        answer = "holds" if claim in ("fixed", "inside", "discrete") else "fails"
        if not self.shown.same((name, "verdict"), answer, f"{stated['verdict']} is stated of a point that is {claim}"):
            return
        margin = stated["margin"]
        data = {"claim": claim, "at_least": None if margin is None else float(margin).hex(), "cycle": self.cycle}
        why = confirm_claim(self.point, condition, answer, data, self.until)
        self.shown.judge((name, "margin"), why, UNCONFIRMED)
        issued = Certificate(
            "classification",
            condition,
            VerdictAnswer(answer),
            {"instance": instance_digest(self.document["instance"])},
            data,
        )
        self.shown.same((name, "certificate"), issued.as_document(), "not the certificate of this verdict and instance")
        unit = "" if margin is None else words.residual_unit if claim == "moved" else words.stability_unit(self.is_map)
        self.shown.same((name, "unit"), unit)
        self.shown.same((name, "details"), {})
        self._reason(name, claim, margin, extra)

    def _reason(self, name: str, claim: str, margin: float | None, extra: Sequence[str]) -> None:
        how = self.how
        reasons: list[str] = list(extra)
        if name == "stable":
            named = {"inside": "stable", "outside": "unstable"}
            if claim in ("moved", "undefined"):
                reasons.append(words.NOT_STABLE)
            elif claim in named:
                reasons.append(words.stability_reason(named[claim], self.is_map, margin or 0.0, how))
            elif claim == "discrete":
                reasons.append(words.stability_reason("", self.is_map, 0.0, how, empty=True))
        elif claim == "fixed":
            reasons.append(words.fixed_reason(self.is_map))
        elif claim == "undefined":
            reasons += self._undefined_reasons()
        else:
            reasons += self._moved_reasons(margin)
        if not reasons:
            return
        stated = self.document[name]["reason"]
        self.shown.cover((name, "reason"))
        if stated not in reasons:
            self.shown.fails((name, "reason"), f"{stated[:80]!r} is stated, {reasons[0]!r} is found")

    def _undefined_reasons(self) -> list[str]:
        steps = enumerate(self.point.raw())
        return [words.undefined_reason(i + 1) for i, y in steps if every([vanishes(e) for e in y.entries()])]

    def _moved_reasons(self, margin: float | None) -> list[str]:
        found = self.point.residuals()
        if found is None:
            return []
        if margin is not None:  # the first token that attains it
            tokens = [i + 1 for i, each in enumerate(found) if margin_differs(margin, each, "") is None]
            return [words.moved_reason(self.is_map, margin, token) for token in tokens]
        moved = [i + 1 for i, each in enumerate(found) if each > 0]
        if not self.is_map:
            return [words.token_moves_reason(token) for token in moved]
        exactly = words.moved_exactly_reason(moved, cycle=self.cycle)
        return [exactly] if self.cycle else [exactly, words.off_the_lines_reason()]

    # -- the spectrum ---------------------------------------------------------------------------------------------------

    def _spectrum(self) -> None:
        point, shown = self.point, self.shown
        if point.d == 1 and not point.shape.euclidean:
            self._verdict(STABLE, "discrete")
            shown.same(("spectrum",), [])
            shown.same(("linearization",), "stable")
            shown.same(("unstable_dimension",), 0)
            return
        order = point.n * (point.d if point.shape.euclidean else point.d - 1)
        found = spectrum_at(point, self.until, self.cycle) if order <= LARGEST_ORDER else None
        if found is None:
            shown.undecided(("spectrum",), f"the {order} eigenvalues were not enclosed by the second arithmetic")
            return
        mirrored = self.cycle and self._mirrored()
        rough = self.cycle and self.document["arithmetic"] != "exact"  # moduli by balls are listed without enclosures
        compare_spectrum(shown, self.document["spectrum"], found, self.cycle, order, enclosed=not rough)
        heights = excesses(found, self.is_map, mirrored)
        self._stability(found, heights)
        if self.cycle:
            self.notes.append(words.moduli_note(mirrored))

    def _mirrored(self) -> bool:
        image = self.point.image() or []
        pairs = zip(self.point.x, image, strict=True)
        return every([vanishes(a + b) for x, y in pairs for a, b in zip(x.entries(), y.entries(), strict=True)]) is True

    def _stability(self, found: Sequence[Cluster], heights: Sequence[Any]) -> None:
        shown = self.shown
        outside = sum(each.count for each, height in zip(found, heights, strict=True) if height > 0)
        edge = sum(each.count for each, height in zip(found, heights, strict=True) if not (height > 0 or height < 0))
        answer = "unstable" if outside else "marginal" if edge else "stable"
        stated = self.document["linearization"]
        if stated == "undecided":
            shown.cover(("linearization",))
            shown.same(("unstable_dimension",), None)
            self._open_stability(edge + outside > 0)
            return
        shown.same(("linearization",), answer)
        if self.document["unstable_dimension"] is None and self.document["arithmetic"] != "exact":
            shown.cover(("unstable_dimension",))  # spectra by balls state no number
        else:
            shown.same(("unstable_dimension",), outside)
        claim = {"stable": "inside", "unstable": "outside", "marginal": "boundary"}[answer]
        extra = [words.stability_reason("marginal", self.is_map, 0.0, self.how)] if answer == "marginal" else []
        self._verdict(STABLE, claim, extra)
        if answer == "marginal" and not self.cycle:  # of a 2-cycle the moduli are listed, with a note of their own
            self.notes.append(f"{edge} {words.BOUNDARY_NOTE}")
        if not self.cycle and any(isinstance(each["float"], list) for each in self.document["spectrum"]):
            self.notes.append(words.PAIR_NOTE)

    def _open_stability(self, not_inside: bool) -> None:
        """``undecided``, or ``fails`` because some eigenvalue is not inside."""
        if self.document["stable"]["verdict"] == "undecided":
            self.shown.cover(("stable", "verdict"))
            self._empty_verdict("stable")
            self.shown.undecided(("stable",), "nothing is claimed, so there is nothing to confirm")
            return
        extra = [words.stability_reason("not inside", self.is_map, 0.0, self.how)] if not_inside else []
        self._verdict(STABLE, "boundary", extra)

    # -- notes ----------------------------------------------------------------------------------------------------------

    #: Notes about how the answer was found, and about the equilibrium nearby: not found again here.
    OPEN_NOTES = (
        "whether f(f(x)) = x was not decided",
        "the exact spectrum was given up",
        "a certified equilibrium lies within",
    )

    def _notes(self) -> None:
        """Every note is one that follows from what was found, and none of those is left out; the rest is not covered."""
        stated = self.document["notes"]
        for number, note in enumerate(stated):
            if note in self.notes:
                self.shown.cover(("notes", number))
            elif not note.startswith(self.OPEN_NOTES):
                self.shown.cover(("notes", number))
                self.shown.fails(("notes", number), f"{note[:80]!r} does not follow from what is found")
        if not stated:
            self.shown.cover(("notes",))
        if len(set(stated)) != len(stated):
            self.shown.fails(("notes",), "a note is given twice")
        undecided = any(note.startswith("whether f(f(x)) = x was not decided") for note in stated)
        for note in self.notes:
            if note not in stated and not (note == words.NO_CYCLE_NOTE and undecided):
                self.shown.fails(("notes",), f"the note is missing: {note}")
        if self.document["nearby"] is None:
            self.shown.cover(("nearby",))
