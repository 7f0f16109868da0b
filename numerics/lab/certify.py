"""Certify a counterexample: every condition holds and the claim fails, each by exact or ball arithmetic."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import sympy as sp

from eigentoken.numerics.lab.documents import encode
from eigentoken.numerics.lab.targets import Target, call_predicate
from eigentoken.numerics.readings.certified_claims import classified
from eigentoken.numerics.readings.exact_values import Case
from eigentoken.theory.readings import CERTIFIED, LATEX
from eigentoken.theory.verdicts import Certificate, Verdict, VerdictWord, fails, holds, undecided

__all__ = ["Certified", "certify_case", "claim_verdict"]


@dataclass(frozen=True)
class Certified:
    """An exact counterexample: its conditions (each ``holds``), its claim (``fails``), with certificates."""

    case: Case
    conditions: tuple[tuple[str, Verdict], ...]
    claim: str
    verdict: Verdict
    certificates: tuple[Certificate, ...] = field(default=(), repr=False)

    def as_dict(self) -> dict[str, Any]:
        return {
            "instance": self.case.instance.as_dict(),
            "n": self.case.n,
            "d": self.case.d,
            "k": self.case.k,
            "p": self.case.p,
            "conditions": [{"condition": text, **verdict.as_dict()} for text, verdict in self.conditions],
            "claim": {"claim": self.claim, **self.verdict.as_dict()},
            "certificates": [each.as_dict() for each in self.certificates],
        }


class ExactInstance(SimpleNamespace):
    """One instance for a free predicate: parameters and tokens as sympy matrices of exact numbers."""

    def is_equilibrium(self) -> bool:
        """Decided exactly; raises where it is not decided."""
        verdict = classified(self._case).equilibrium
        if verdict.is_undecided:
            raise ValueError(verdict.reason)
        return bool(verdict.is_holds)


def instance_digest(case: Case) -> str:
    """sha256 of the exact instance with its k and p."""
    document = {"instance": case.instance.as_dict(), "k": case.k, "p": case.p}
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def claim_verdict(target: Target, case: Case) -> Verdict:
    """The certified verdict about the claim of the target at the case."""
    if target.claim is not None:
        found: Verdict = CERTIFIED(target.claim, case)
        return found
    return _predicate_verdict(target, case)


def _predicate_verdict(target: Target, case: Case) -> Verdict:
    """The free predicate on exact numbers: an exact answer counts, a float does not."""
    parameters = {
        name: [SimpleNamespace(**{part: sp.Matrix(rows) for part, rows in head.items()}) for head in value]
        if name == "heads"
        else sp.Matrix(value)
        if isinstance(value, tuple)
        else value
        for name, value in case.instance.parameters.items()
    }
    tokens = sp.Matrix([list(token) for token in case.instance.tokens])
    sizes = {"n": case.n, "d": case.d, "k": case.k, "p": case.p, "q": case.q}
    exact = ExactInstance(**parameters, tokens=tokens, **sizes, _case=case)
    try:
        answer = call_predicate(target.conjecture, exact)
    except Exception:
        return undecided("the predicate does not run on exact numbers (sympy matrices): it stays a float comparison")
    if answer in (True, sp.true):
        return holds("the predicate is true of the exact numbers")
    if answer in (False, sp.false):
        return fails("the predicate is false of the exact numbers")
    return undecided(f"the predicate gave {answer!r} on exact numbers")


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
    digest = {"instance": instance_digest(case)}
    document = {"instance": case.instance.as_dict(), "k": case.k, "p": case.p}
    certificates = [
        Certificate("lab/condition", text, VerdictWord.HOLDS, digest, {**document, "statement": encode(condition)})
        for (text, _), (condition, _) in zip(listed, _asked(target), strict=True)
    ]
    claim = "holds_if" if target.claim is None else LATEX(target.claim)
    details: dict[str, Any] = {"kind": "" if verdict.certificate is None else verdict.certificate.kind}
    details["statement"] = None if target.claim is None else encode(target.claim)
    if verdict.certificate is not None:
        details["data"] = dict(verdict.certificate.data)
    certificates.append(Certificate("lab/claim", claim, VerdictWord.FAILS, digest, {**document, **details}))
    return Certified(case, tuple(listed), claim, verdict, tuple(certificates))


def _asked(target: Target) -> list[tuple[Any, bool]]:
    """The conditions of the conjecture (the conditions inside a claim are decided with the claim)."""
    return [(condition, True) for condition in target.conjecture.conditions]


def _text(condition: Any, satisfied: bool) -> str:
    return str(LATEX(condition)) if satisfied else rf"\text{{not }} {LATEX(condition)}"
