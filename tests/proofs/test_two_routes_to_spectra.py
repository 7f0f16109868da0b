"""Two derivations of the same spectra: the calculus of :mod:`eigentoken.theory.linearization.consensus_spectra`, for
symbolic n and d, and the jets on groups of equal tokens on which the proofs rest.  They share the definition of the systems
and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from eigentoken.proofs.steps.token_groups import slopes
from eigentoken.theory.linearization.consensus_spectra import bipartite_spectrum, consensus_spectrum
from eigentoken.theory.proving.normal_form import identity_verdict
from eigentoken.theory.systems.catalogue import system

n, p, q = (sp.Symbol(name, integer=True, positive=True) for name in "npq")
alpha = sp.Symbol("alpha", positive=True)
k, l, s = (sp.Symbol(name, real=True) for name in ("lambda_k", "lambda_ell", "s"))
m12, m21, m22 = sp.symbols("m_12 m_21 m_22", real=True)
V = ((k, sp.Integer(0)), (sp.Integer(0), l))
M = ((s, m12), (m21, m22))
NAMES = ["oja-map", "oja-flow", "attention-map", "attention-flow"]
AT, MINUS, REST, MOVE = (1, 0), (-1, 0), (0, 0), (0, 1)


def parameters(name: str) -> dict[str, Any]:
    given: dict[str, Any] = {"V": V}
    if name.startswith("attention"):
        given["M"] = M
    if name.endswith("map"):
        given["alpha"] = alpha
    return given


def same(left: sp.Expr, right: sp.Expr) -> bool:
    return identity_verdict(sp.sympify(left), sp.sympify(right)).is_holds


@pytest.mark.parametrize("name", NAMES)
def test_consensus(name: str) -> None:
    moved, rest = slopes(name, parameters(name), [(1, AT, MOVE), (n - 1, AT, REST)], (1 + alpha * k,))
    assert (sp.simplify(moved[0]), sp.simplify(rest[0])) == (0, 0)
    common, apart = (entry.value for entry in consensus_spectrum(system(name)).tangent)
    assert same(moved[1] - rest[1], apart)
    assert same(moved[1] + (n - 1) * rest[1], common)
    assert not same(moved[1], apart)


@pytest.mark.parametrize("name", NAMES)
def test_bipartite(name: str) -> None:
    found = bipartite_spectrum(system(name))
    table = {sp.Symbol("n", integer=True, positive=True): p + q}
    letters = {str(letter): found.expanded(letter).subs(table) for letter, _ in found.abbreviations}
    heights = [letters[letter] for letter in ("m_1", "m_2") if letter in letters]

    def written_out(value: sp.Expr) -> sp.Expr:
        return found.expanded(value).subs(table)

    block = next(entry.block for entry in found.tangent if entry.block is not None)
    for side, (own_size, other_size) in enumerate(((p, q), (q, p))):
        at, away = (AT, MINUS) if side == 0 else (MINUS, AT)
        groups = [(1, at, MOVE), (own_size - 1, at, REST), (other_size, away, REST)]
        moved, beside, across = (slope[1] for slope in slopes(name, parameters(name), groups, heights or (1,)))
        assert same(moved - beside, written_out(found.tangent[side].value))
        assert same(moved + (own_size - 1) * beside, written_out(block[side, side]))
        assert same(own_size * across, written_out(block[1 - side, side]))
        assert not same(own_size * across, written_out(block[side, 1 - side]) + 1)
