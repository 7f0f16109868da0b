"""Certify a counterexample: every condition holds and the claim fails, each by exact or ball arithmetic.

A report carries the document of its conjecture, which the certificates name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eigentoken.display import listing
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.lab.predicates import predicate_home, predicate_verdict
from eigentoken.numerics.lab.targets import Target
from eigentoken.numerics.readings.bracketed_starts import holds_on_arc
from eigentoken.theory.language.conjecture_documents import FREE, conjecture_digest, mask_document
from eigentoken.theory.language.documents import UnknownObservable, WordDocumentError, decode, encode
from eigentoken.theory.language.readings import CERTIFIED, LATEX
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer

__all__ = ["Certified", "certify_case", "claim_verdict", "conjecture_document", "shown"]

if TYPE_CHECKING:
    from eigentoken.numerics.lab.conjectures import Conjecture


SHOWN = ("verdict", "margin", "unit", "reason")


def conjecture_document(conjecture: Conjecture) -> dict[str, Any]:
    """Name, system, conditions and claims of a conjecture with their digest."""
    document: dict[str, Any] = {
        "name": conjecture.name,
        "system": conjecture.system,
        "conditions": [_word(each) for each in conjecture.conditions],
        "claims": [_word(each) for each in conjecture.claims],
    }
    if conjecture.mask is not None:
        document["mask"] = mask_document(conjecture.mask)
    if conjecture.holds_if is not None:
        document["claims"] = [*document["claims"], {"text": FREE, "statement": None}]
    return {**document, "digest": conjecture_digest(document)}


def _word(word: Any) -> dict[str, Any]:
    try:
        return {"text": str(LATEX(word)), "statement": encode(word)}
    except WordDocumentError as problem:  # it can be searched, but a certificate could not name it
        return {"text": str(LATEX(word)), "statement": {"unreadable": str(problem)}}


def shown(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a verdict that a reader sees: answer, margin, unit, reason."""
    return {name: verdict.get(name) for name in SHOWN}


@dataclass(frozen=True)
class Certified:
    """An exact counterexample: its conditions (each ``holds``), its claim (``fails``), with certificates."""

    case: Case
    conditions: tuple[tuple[str, Verdict], ...]
    claim: str
    verdict: Verdict
    certificates: tuple[Certificate, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        lines = [f"{name} = {value}" for name, value in self.case.instance.as_dict().items()]
        return listing(f"<Certified counterexample to {self.claim}>", [*lines, self.verdict.reason], width=400)

    def _repr_html_(self) -> str:
        return self.case.instance._repr_html_()

    def as_dict(self) -> dict[str, Any]:
        return {
            "instance": self.case.instance.as_dict(),
            "instance_sha256": self.case.instance.digest(),
            "n": self.case.n,
            "d": self.case.d,
            "k": self.case.k,
            "p": self.case.p,
            "conditions": [{"condition": text, **shown(verdict.as_dict())} for text, verdict in self.conditions],
            "claim": {"claim": self.claim, **shown(self.verdict.as_dict())},
            "certificates": [each.as_document() for each in self.certificates],
        }


def claim_verdict(target: Target, case: Case) -> Verdict:
    """The certified verdict about the claim of the target at the case."""
    if target.claim is not None:
        found: Verdict = CERTIFIED(target.claim, case)
        return found
    assert callable(target.conjecture.holds_if)
    return predicate_verdict(target.conjecture.holds_if, case)


def certify_case(target: Target, case: Case) -> Certified | None:
    """The certified counterexample, or ``None`` where a condition or the failure was not established."""
    listed: list[tuple[str, Verdict]] = []
    for condition, satisfied in _asked(target):
        verdict = CERTIFIED(condition, case)
        if not (verdict.is_holds if satisfied else verdict.is_fails):
            return None
        listed.append((_text(condition, satisfied), verdict))
    verdict = claim_verdict(target, case)
    if not verdict.is_fails:
        return None
    if verdict.certificate is not None and verdict.certificate.kind == "limit/bracketed-start":
        m = int(str(verdict.certificate.data["m"]))  # the start is on an arc: the conditions must hold on all of it
        if not all(holds_on_arc(condition, case, m) for condition in target.conjecture.conditions):
            return None
    digest = {"instance": case.instance.digest(), "conjecture": conjecture_document(target.conjecture)["digest"]}
    document = {"k": case.k, "p": case.p}
    certificates = [
        Certificate(
            "lab/condition",
            text,
            VerdictAnswer.HOLDS,
            digest,
            {**document, "statement": encode(condition), **_own(found)},
        )
        for (text, found), (condition, _) in zip(listed, _asked(target), strict=True)
    ]
    claim = "holds_if" if target.claim is None else LATEX(target.claim)
    details: dict[str, Any] = _own(verdict)
    details["statement"] = None if target.claim is None else encode(target.claim)
    if target.claim is None or _has_own_observable(details["statement"]):
        details["predicate"] = predicate_home(target.conjecture)
    certificates.append(Certificate("lab/claim", claim, VerdictAnswer.FAILS, digest, {**document, **details}))
    return Certified(case, tuple(listed), claim, verdict, tuple(certificates))


def _own(verdict: Verdict) -> dict[str, Any]:
    """The reason, and the kind and the data of the verdict's own certificate; instance, k and p stand in the document once."""
    made: dict[str, Any] = {"reason": verdict.reason, "kind": ""}
    if verdict.certificate is not None:
        own = {name: value for name, value in verdict.certificate.data.items() if name not in ("instance", "k", "p")}
        made |= {"kind": verdict.certificate.kind, "data": own}
    return made


def _has_own_observable(statement: Any) -> bool:
    try:
        decode(statement)
    except UnknownObservable:
        return True
    return False


def _asked(target: Target) -> list[tuple[Any, bool]]:
    """The conditions of the conjecture (the conditions inside a claim are decided with the claim)."""
    return [(condition, True) for condition in target.conjecture.conditions]


def _text(condition: Any, satisfied: bool) -> str:
    return str(LATEX(condition)) if satisfied else rf"\text{{not }} {LATEX(condition)}"
