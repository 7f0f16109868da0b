"""``verify --coq``: the whole derivations that Coq checks, as a table."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from eigentoken.documents.formal_document import FormalDocument, Theorem
from eigentoken.output import progress, say, say_hanging, show_json, styled, table

if TYPE_CHECKING:
    from eigentoken.proofs.coq.formal import Formal

__all__ = ["verify_by_coq"]


def verify_by_coq(ids: list[str], record: bool, json: bool) -> bool:
    """Check the statements of these ids (all that have a whole derivation in Coq, if none is given); did all hold?"""
    from eigentoken.proofs.coq.formal import FORMAL, check, toolbox
    from eigentoken.proofs.verify import record_formal
    from eigentoken.theory.statements.registry import statements

    chosen = [statements().get(each) for each in ids or FORMAL]
    results: list[Formal] = []
    with toolbox() as folder, progress("coqc", len(chosen)) as advance:
        for told in chosen:
            results += check(told, folder)
            advance()
    good = all(each.accepted for each in results)
    counts = {
        told.id: sum(each.id == told.id for each in results)
        if all(each.accepted for each in results if each.id == told.id)
        else 0
        for told in chosen
    }
    recorded = record_formal(counts) if record else []
    if json:
        show_json(_document(results, good))
        return good
    _table(results)
    for path in recorded:
        say(f"recorded in {path}")
    return good


def _document(results: list[Formal], good: bool) -> FormalDocument:
    theorems: list[Theorem] = [
        {
            "id": each.id,
            "system": each.system,
            "theorem": each.theorem,
            "accepted": each.accepted,
            "reason": each.refused,
            "proved": each.proved,
            "assumed": [{"rule": one.rule, "says": one.told, "coq": one.statement} for one in each.assumed],
            "claims": each.claims,
            "given": each.given,
            "axioms": list(each.axioms),
        }
        for each in results
    ]
    return {"schema": "eigentoken/formal/1", "verdict": "holds" if good else "fails", "theorems": theorems}


def _table(results: list[Formal]) -> None:
    from eigentoken.theory.statements.registry import statements

    columns = ("theorem", "proved", "assumed", "claims", "axioms", "coqc, coqchk")
    rows = []
    for each in results:
        claims = f"{each.claims}" + (f" ({each.given} assumed)" if each.given else "")
        word = styled("holds" if each.accepted else "fails")
        rows.append((each.theorem, each.proved, len(each.assumed), claims, len(each.axioms), word))
    table("", columns, rows)
    called = {each.id: statements().get(each.id).called for each in results}
    for each in results:
        kinds = Counter(one.rule for one in each.assumed)
        told = "; ".join(f"{rule} ({count})" if count > 1 else rule for rule, count in kinds.items())
        if each.accepted:
            say_hanging(f"  {called[each.id]}: {each.theorem} assumes beyond its conditions: {told or 'nothing'}")
        else:
            say(f"{called[each.id]}: {each.theorem}: {each.refused}", "red")
    axioms = sorted({name for each in results if each.accepted for name in each.axioms})
    say_hanging(f"  axioms, all of them of Coq's real numbers: {', '.join(axioms) or 'none'}")
    accepted = sum(each.accepted for each in results)
    say(f"Coq accepts {accepted} of {len(results)} derivations, whole", "bold")
