"""Certify a counterexample: every condition holds and the claim fails, each by exact or ball arithmetic.

A report carries the document of its conjecture, which the certificates name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Literal

from eigentoken.display import listing
from eigentoken.documents.refutation_document import (
    CertifiedCondition,
    Counterexample,
    LabCertificate,
    LabData,
    RefutedClaim,
    StatedWord,
)
from eigentoken.documents.refutation_document import Conjecture as ConjectureDocument
from eigentoken.documents.refutation_document import Inputs as LabInputs
from eigentoken.documents.verdict_object import Verdict as VerdictDocument
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.lab.pictures import spectrum_svg, tokens_svg
from eigentoken.numerics.lab.predicate_files import predicate_home, premise_home
from eigentoken.numerics.lab.predicates import predicate_verdict, premise_verdict
from eigentoken.numerics.lab.targets import Target
from eigentoken.numerics.readings.bracketed_starts import holds_on_arc
from eigentoken.theory.language.claims import Claim
from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.documents import (
    FREE,
    GIVEN,
    UnknownObservable,
    WordDocumentError,
    conjecture_digest,
    decode,
    encode,
    mask_document,
)
from eigentoken.theory.language.readings import CERTIFIED, LATEX
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer

__all__ = ["Certified", "certify_case", "claim_verdict", "conjecture_document"]

if TYPE_CHECKING:
    from eigentoken.numerics.lab.conjectures import Conjecture


def conjecture_document(conjecture: Conjecture) -> ConjectureDocument:
    """Name, system, conditions and claims of a conjecture with their digest."""
    free: list[StatedWord] = [] if conjecture.holds_if is None else [{"text": FREE, "statement": None}]
    given: list[StatedWord] = [] if conjecture.given is None else [{"text": GIVEN, "statement": None}]
    document: ConjectureDocument = {
        "name": conjecture.name,
        "system": conjecture.system,
        "conditions": [*(_word(each) for each in conjecture.conditions), *given],
        "claims": [*(_word(each) for each in conjecture.claims), *free],
        "digest": "",
    }
    if conjecture.mask is not None:
        document["mask"] = mask_document(conjecture.mask)
    document["digest"] = conjecture_digest(document)
    return document


def _word(word: Condition | Claim) -> StatedWord:
    try:
        return {"text": str(LATEX(word)), "statement": encode(word)}
    except WordDocumentError as problem:  # it can be searched, but a certificate could not name it
        return {"text": str(LATEX(word)), "statement": {"unreadable": str(problem)}}


@dataclass(frozen=True)
class Certified:
    """An exact counterexample: its conditions (each ``holds``), its claim (``fails``), with certificates."""

    case: Case
    conditions: tuple[tuple[str, Verdict], ...]
    claim: str
    verdict: Verdict
    certificates: tuple[LabCertificate, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        lines = [f"{name} = {value}" for name, value in self.case.instance.as_dict().items()]
        return listing(f"<Certified counterexample to {self.claim}>", [*lines, self.verdict.reason], width=400)

    def _repr_html_(self) -> str:
        """The matrices typeset, the tokens with where they go, and the spectrum where they rest."""
        instance = self.case.instance
        pictures = tokens_svg(instance) + spectrum_svg(instance)
        return f"<div>$$\n{instance.latex}\n$$</div>{pictures}<p>{escape(self.verdict.reason)}</p>"

    def as_dict(self) -> Counterexample:
        return {
            "instance": self.case.instance.as_dict(),
            "instance_sha256": self.case.instance.digest(),
            "n": self.case.n,
            "d": self.case.d,
            "k": self.case.k,
            "p": self.case.p,
            "conditions": [_certified_condition(text, verdict.as_dict()) for text, verdict in self.conditions],
            "claim": _refuted_claim(self.claim, self.verdict.as_dict()),
            "certificates": list(self.certificates),
        }


def _certified_condition(text: str, verdict: VerdictDocument) -> CertifiedCondition:
    return {
        "condition": text,
        "verdict": "holds",
        "margin": verdict["margin"],
        "unit": verdict["unit"],
        "reason": verdict["reason"],
    }


def _refuted_claim(text: str, verdict: VerdictDocument) -> RefutedClaim:
    return {
        "claim": text,
        "verdict": "fails",
        "margin": verdict["margin"],
        "unit": verdict["unit"],
        "reason": verdict["reason"],
    }


def _lab_certificate(
    kind: Literal["lab/condition", "lab/claim"], text: str, answer: VerdictAnswer, inputs: LabInputs, data: LabData
) -> LabCertificate:
    """The document of a certificate that names the instance and the conjecture and holds no arrays."""
    named = {"instance": inputs["instance"], "conjecture": inputs["conjecture"]}
    whole = Certificate(kind, text, answer, named, data).as_document()
    return {
        "schema": whole["schema"],
        "kind": kind,
        "condition": whole["condition"],
        "verdict": whole["verdict"],
        "inputs": inputs,
        "data": data,
        "arrays": {},
        "digest": whole["digest"],
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
    premise = _premise(target.conjecture, case)
    if premise is not None and not premise.is_holds:
        return None
    verdict = claim_verdict(target, case)
    if not verdict.is_fails:
        return None
    if verdict.certificate is not None and verdict.certificate.kind == "limit/bracketed-start":
        m = int(str(verdict.certificate.data["m"]))  # the start is on an arc: the conditions must hold on all of it
        if not all(holds_on_arc(condition, case, m) for condition in target.conjecture.conditions):
            return None
    inputs: LabInputs = {
        "instance": case.instance.digest(),
        "conjecture": conjecture_document(target.conjecture)["digest"],
    }
    certificates = [
        _lab_certificate("lab/condition", text, VerdictAnswer.HOLDS, inputs, _own(found, case, encode(condition)))
        for (text, found), (condition, _) in zip(listed, _asked(target), strict=True)
    ]
    if premise is not None:
        given = _own(premise, case, None)
        given["predicate"] = dict(premise_home(target.conjecture))
        certificates.append(_lab_certificate("lab/condition", GIVEN, VerdictAnswer.HOLDS, inputs, given))
        listed.append((GIVEN, premise))
    claim = FREE if target.claim is None else LATEX(target.claim)
    statement = None if target.claim is None else encode(target.claim)
    data = _own(verdict, case, statement)
    if target.claim is None or _has_own_observable(statement):
        data["predicate"] = dict(predicate_home(target.conjecture))
    certificates.append(_lab_certificate("lab/claim", claim, VerdictAnswer.FAILS, inputs, data))
    return Certified(case, tuple(listed), claim, verdict, tuple(certificates))


def _premise(conjecture: Conjecture, case: Case) -> Verdict | None:
    """The certified verdict about the premise ``given``, where there is one."""
    return None if conjecture.given is None else premise_verdict(conjecture.given, case)


def _own(verdict: Verdict, case: Case, statement: dict[str, object] | None) -> LabData:
    """The statement, the reason, and the kind and the data of the verdict's own certificate, in which k and p stand once."""
    made: LabData = {"k": case.k, "p": case.p, "statement": statement, "reason": verdict.reason, "kind": ""}
    if verdict.certificate is not None:
        own = {name: value for name, value in verdict.certificate.data.items() if name not in ("instance", "k", "p")}
        made["kind"], made["data"] = verdict.certificate.kind, own
    return made


def _has_own_observable(statement: dict[str, object] | None) -> bool:
    try:
        decode(statement)
    except UnknownObservable:
        return True
    return False


def _asked(target: Target) -> list[tuple[Condition, bool]]:
    """The conditions of the conjecture (the conditions inside a claim are decided with the claim)."""
    return [(condition, True) for condition in target.conjecture.conditions]


def _text(condition: Condition, satisfied: bool) -> str:
    return str(LATEX(condition)) if satisfied else rf"\text{{not }} {LATEX(condition)}"
