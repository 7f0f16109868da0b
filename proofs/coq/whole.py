"""The file of a whole derivation: scalar lemmas, steps in a section, and the theorem with all its hypotheses in its statement."""

from __future__ import annotations

from collections.abc import Mapping

from eigentoken.proofs.coq.derivations import WholeDerivation

__all__ = ["scalar_text", "whole_text"]


def scalar_text(name: str, statement: str, script: str) -> str:
    return f"Lemma {name} : {statement}.\nProof.\n{script}\nQed.\n"


def _comment(text: str) -> str:
    return text.replace("(*", "( *").replace("*)", "* )")


def statement_text(made: WholeDerivation) -> str:
    """The theorem in full: letters, what they are, what is assumed, the conditions, the claims."""
    letters = "".join(f"\n  ({name} : {sort})" for name, sort in made.variables)
    sorts = "".join(f"\n  {fact} ->" for _, fact in made.sorts)
    assumed = "".join(
        f"\n  (* assumed, {_comment(each.rule)}: {_comment(each.told)} *)\n  ({each.statement}) ->"
        for each in made.assumed
    )
    return f"forall{letters},{sorts}{assumed}\n  (* the statement *)\n  {made.claim_text}"


def _whole_fact(statement: str) -> str:
    """A hypothesis of the section that is itself a conjunction stays in one piece: tactics cannot take it away."""
    depth = 0
    for place, sign in enumerate(statement):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return f"Given {statement}" if place == len(statement) - 1 else statement
    return statement


def whole_text(made: WholeDerivation, scripts: Mapping[str, str], told: str = "") -> str:
    """Everything after the library."""
    lines = [f"(* {_comment(told)} *)\n"] if told else []
    for step in made.scalars:
        lines += [scalar_text(each.name, each.statement, scripts[each.statement]) for each in step.lemmas]
        lines.append(scalar_text(step.name, step.statement, f"{step.script}."))
    lines.append("Section Derivation.")
    lines += [f"Variable {name} : {sort}." for name, sort in made.variables]
    lines += [f"Hypothesis {name} : {fact}." for name, fact in made.sorts]
    lines += [f"Hypothesis {each.name} : {_whole_fact(each.statement)}." for each in made.assumed]
    lines += [f"Lemma {name} : {statement}.\nProof. {script}\nQed." for name, statement, script in made.steps]
    lines.append(f"Lemma whole : {made.claim_text}.\nProof using All. exact {made.last}. Qed.\nEnd Derivation.\n")
    lines.append(f"Theorem {made.theorem} : {statement_text(made)}.\nProof. exact whole. Qed.\n")
    return "\n".join(lines)
