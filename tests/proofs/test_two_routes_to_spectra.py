"""Two derivations of the same spectra: the calculus (:mod:`eigentoken.theory.linearization`), for symbolic n and d, and the
jets on groups of equal tokens.  They share the definition of the systems and nothing else.  For the maps the book has the
comparison as checked steps; here are the flows, and what happens to those steps where one route, or the claim, is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from eigentoken.proofs.power_method.symbols import LK, LL, S, V, lam, score
from eigentoken.proofs.steps import reductions
from eigentoken.proofs.steps.reductions import claimed_spectrum
from eigentoken.proofs.steps.token_groups import slopes
from eigentoken.theory.language.claims import SpectrumIs, When
from eigentoken.theory.language.terms import ell, k, t_split
from eigentoken.theory.linearization.at_points import spectrum
from eigentoken.theory.linearization.consensus_spectra import bipartite_spectrum, consensus_spectrum
from eigentoken.theory.linearization.spectrum import Spectrum
from eigentoken.theory.proving.normal_form import identity_verdict
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.steps import Reduction
from eigentoken.theory.systems.catalogue import system

n, p, q = (sp.Symbol(name, integer=True, positive=True) for name in "npq")
lk, ll, s = (sp.Symbol(name, real=True) for name in ("lambda_k", "lambda_ell", "s"))
m12, m21, m22 = sp.symbols("m_12 m_21 m_22", real=True)
VALUE = ((lk, sp.Integer(0)), (sp.Integer(0), ll))
SCORE = ((s, m12), (m21, m22))
FLOWS = ["oja-flow", "attention-flow"]
AT, MINUS, REST, MOVE = (1, 0), (-1, 0), (0, 0), (0, 1)
WITH_BOTH_ROUTES = {"PM-L3": "oja-map", "PM-L5": "oja-map", "PM-L14": "attention-map"}


def parameters(name: str) -> dict[str, Any]:
    return {"V": VALUE, "M": SCORE} if name.startswith("attention") else {"V": VALUE}


def same(left: sp.Expr, right: sp.Expr) -> bool:
    return identity_verdict(sp.sympify(left), sp.sympify(right)).is_holds


@pytest.mark.parametrize("name", FLOWS)
def test_consensus_of_the_flows(name: str) -> None:
    moved, rest = slopes(name, parameters(name), [(1, AT, MOVE), (n - 1, AT, REST)])
    assert (sp.simplify(moved[0]), sp.simplify(rest[0])) == (0, 0)
    common, apart = (entry.value for entry in consensus_spectrum(system(name)).tangent)
    assert same(moved[1] - rest[1], apart)
    assert same(moved[1] + (n - 1) * rest[1], common)
    assert not same(moved[1], apart)


@pytest.mark.parametrize("name", FLOWS)
def test_bipartite_points_of_the_flows(name: str) -> None:
    found = bipartite_spectrum(system(name))

    def written_out(value: sp.Expr) -> sp.Expr:
        return found.expanded(value).subs(n, p + q)

    block = next(entry.block for entry in found.tangent if entry.block is not None)
    for side, (own_size, other_size) in enumerate(((p, q), (q, p))):
        at, away = (AT, MINUS) if side == 0 else (MINUS, AT)
        groups = [(1, at, MOVE), (own_size - 1, at, REST), (other_size, away, REST)]
        moved, beside, across = (slope[1] for slope in slopes(name, parameters(name), groups))
        assert same(moved - beside, written_out(found.tangent[side].value))
        assert same(moved + (own_size - 1) * beside, written_out(block[side, side]))
        assert same(own_size * across, written_out(block[1 - side, side]))
        assert not same(own_size * across, written_out(block[side, 1 - side]) + 1)


def steps_of(identifier: str) -> dict[str, Reduction]:
    derivation = statements().get(identifier).derive()
    return {step.name: step for step in derivation.steps if isinstance(step, Reduction)}


def holds(step: Reduction) -> bool:
    return bool(step.agrees(step.derive(), step.claimed).is_holds)


@pytest.mark.parametrize("identifier", WITH_BOTH_ROUTES)
def test_a_wrong_multiplier_in_the_claim_is_rejected_by_the_second_route(identifier: str) -> None:
    stated = statements().get(identifier).claims[0]
    claim = stated.claim if isinstance(stated, When) else stated
    assert isinstance(claim, SpectrumIs)
    letters = {lam(V, k): LK, lam(V, ell): LL, score(k): S}
    name = WITH_BOTH_ROUTES[identifier]
    assert holds(claimed_spectrum(claim, name, letters, ""))
    for place in range(len(claim.classes)):
        value, count = claim.classes[place]
        for changed in ((2 * value, count), (value, count + 1)):
            wrong = SpectrumIs(claim.place, (*claim.classes[:place], changed, *claim.classes[place + 1 :]))
            assert not holds(claimed_spectrum(wrong, name, letters, "")), (place, changed)


@pytest.mark.parametrize(
    ("identifier", "kind", "step"),
    [
        ("PM-L3", "consensus_spectrum", "common"),
        ("PM-L3", "consensus_spectrum", "zero sum"),
        ("PM-L5", "bipartite_spectrum", "pairs, first side"),
        ("PM-L5", "bipartite_spectrum", "sides"),
        ("PM-L14", "bipartite_spectrum", "pairs, second side"),
        ("PM-L14", "bipartite_spectrum", "sides"),
    ],
)
def test_a_wrong_derivation_by_the_calculus_is_rejected_by_the_groups(
    identifier: str, kind: str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert holds(steps_of(identifier)[step])
    right = getattr(reductions, kind)

    def wrong(*given: Any, **options: Any) -> Spectrum:
        found = right(*given, **options)
        doubled = [
            replace(entry, value=2 * entry.value, block=None if entry.block is None else 2 * entry.block)
            for entry in found.entries
        ]
        return replace(found, entries=tuple(doubled))

    monkeypatch.setattr(reductions, kind, wrong)
    changed = steps_of(identifier)
    assert not holds(changed[step])
    assert not holds(changed["second route"])


def test_the_criterion_of_the_book_is_that_of_the_linearization() -> None:
    """PM-N3 and the front door: the same closed forms, each proved on its own."""
    ours = [each.condition for each in spectrum("attention-map", at="bipartite").criteria[:2]]
    stated = [each.condition for each in statements().get("PM-N3").claims[:2]]
    half = sp.Symbol("t", real=True, nonnegative=True)
    for index, (mine, book) in enumerate(zip(ours, stated, strict=True)):
        relations = {each for part in book.parts for each in getattr(part, "parts", (part,))}
        axis = 1 if index == 0 else sp.Symbol("d", integer=True, positive=True)
        table = {score(axis): s}
        table |= {lam(V, name): sp.Symbol(f"lambda_{name}", real=True) for name in (1, 2, axis)}
        theirs = [each.relation.subs(table) for each in relations]
        for atom in mine.atoms(sp.core.relational.Relational):
            flat = atom.subs(half, t_split)
            assert any(_same_relation(flat, other) for other in theirs), (atom, theirs)


def _same_relation(left: sp.Basic, right: sp.Basic) -> bool:
    if {type(left), type(right)} <= {sp.Eq}:
        return left == right
    if not isinstance(left, sp.Gt | sp.Lt) or not isinstance(right, sp.Gt | sp.Lt):
        return False
    return same(left.gts - left.lts, right.gts - right.lts)
