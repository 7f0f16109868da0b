"""The story of one statement, for a terminal screen or a JSON document: what it says, what was printed, what is wrong
with that and why we know, how the corrected form is derived, and what was run for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from eigentoken.proofs.bibliography import BIBLIOGRAPHY
from eigentoken.proofs.verify import evidence_of, status_of
from eigentoken.theory.plain_text import plain_text
from eigentoken.theory.readings import LATEX
from eigentoken.theory.statements import Evidence, Statement
from eigentoken.theory.steps import ALL_SIZES, Citation

__all__ = ["Story", "story"]


@dataclass(frozen=True)
class Story:
    """One statement with its status, ready to be told."""

    statement: Statement
    status: str
    evidence: Evidence | None

    def as_dict(self) -> dict[str, Any]:
        """Everything, with LaTeX as it is printed in the book."""
        told = self.statement
        printed = told.printed
        return {
            "id": told.id,
            "kind": str(told.kind),
            "title": told.title,
            "source": str(told.source),
            "status": self.status,
            "depends": list(told.depends),
            "systems": list(told.systems),
            "text": told.text,
            "conditions": [LATEX(each) for each in told.conditions],
            "claims": [LATEX(each) for each in told.claims],
            "steps": [
                {
                    "name": step.name,
                    "kind": step.kind,
                    "says": step.says,
                    "formula": step.display(),
                    "uses": list(step.uses),
                    "scope": step.scope,
                }
                for step in (told.derivation.steps if told.derivation else ())
            ],
            "printed": None
            if printed is None
            else {
                "text": printed.text,
                "wrong": printed.wrong,
                "false": printed.false,
                "counterexamples": [
                    {"name": each.name, "says": each.says, "instance": each.instance}
                    for each in printed.counterexamples
                ],
            },
            "dropped": [{"condition": each.dropped, "says": each.says} for each in told.variants],
            "vectors": [{"name": each.name, "expected": list(each.expected)} for each in told.vectors],
            "evidence": None if self.evidence is None else vars(self.evidence) | {"scopes": list(self.evidence.scopes)},
            "notes": told.notes,
            "bibtex": BIBLIOGRAPHY.get(told.source.paper, ""),
        }

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """Headings and lines, in the order in which a reader wants them."""
        told = self.statement
        yield f"{told.id}  {told.title}", [f"{told.kind}, {told.source}; status: {self.status}"]
        if told.printed is not None:
            label = "As printed (false)" if told.printed.false else "As printed (imprecise)"
            yield label, [plain_text(told.printed.text), f"What is wrong: {plain_text(told.printed.wrong)}"]
            for example in told.printed.counterexamples:
                shown = json.dumps(example.instance, ensure_ascii=False)
                yield f"Counterexample {example.name}", [plain_text(example.says), shown]
        yield "Statement" if told.printed is None else "Corrected statement", list(self._statement_lines())
        if told.derivation is not None:
            yield "Derivation", list(self._step_lines())
        if told.variants:
            yield (
                "Conditions that are needed",
                [f"without {plain_text(each.dropped)}: {plain_text(each.says)}" for each in told.variants],
            )
        yield "Evidence", [self._evidence_line()]
        if told.depends:
            yield "Depends on", [", ".join(told.depends)]
        if told.notes:
            yield "Notes", [plain_text(told.notes)]
        if told.source.paper in BIBLIOGRAPHY:
            yield "BibTeX", BIBLIOGRAPHY[told.source.paper].splitlines()

    def _statement_lines(self) -> Iterator[str]:
        told = self.statement
        if told.systems:
            yield f"for {', '.join(told.systems)}"
        if told.text:
            yield plain_text(told.text)
        for each in told.conditions:
            yield f"if    {plain_text(LATEX(each))}"
        for claim in told.claims:
            yield f"then  {plain_text(LATEX(claim))}"

    def _step_lines(self) -> Iterator[str]:
        steps = self.statement.derivation.steps if self.statement.derivation else ()
        for number, step in enumerate(steps, 1):
            how = f"cited: {step.theorem.name}" if isinstance(step, Citation) else f"checked: {step.kind}"
            limit = "" if step.scope == ALL_SIZES else f", only for {step.scope}"
            yield f"{number}. {plain_text(step.says)} [{how}{limit}]"
            formula = plain_text(step.display())
            if formula:
                yield f"   {formula}"

    def _evidence_line(self) -> str:
        found = self.evidence
        if found is None:
            return "nothing recorded for this text: run `eigentoken verify " + self.statement.id + "`"
        return (
            f"{found.checked} steps checked, {found.cited} cited, {found.second} with a second opinion, "
            f"{found.vectors} vectors, {found.counterexamples} counterexamples, {found.tested} instances tested"
        )


def story(statement: Statement) -> Story:
    """The story of a statement with its recorded evidence."""
    return Story(statement, str(status_of(statement)), evidence_of(statement))
