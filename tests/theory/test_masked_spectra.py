"""Signed points under any mask: derived spectra against 60-digit Jacobians of the plain loops and against each other."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import pytest
import sympy as sp

from eigentoken.theory.calculus import DIMENSION, TOKENS
from eigentoken.theory.linearization.consensus_spectra import KAPPA, P, Q, bipartite_spectrum, consensus_spectrum
from eigentoken.theory.linearization.masked_spectra import (
    OTHER,
    SAME,
    SEEN_MINUS,
    SEEN_PLUS,
    complete_part_spectrum,
    masked_bipartite_spectrum,
    signed_response,
)
from eigentoken.theory.linearization.signed_spectra import signed_spectrum, token_matrix
from eigentoken.theory.linearization.spectrum import Spectrum, spectrum_latex
from eigentoken.theory.systems.catalogue import system

_spec = importlib.util.spec_from_file_location("numeric_jacobians", Path(__file__).with_name("numeric_jacobians.py"))
assert _spec is not None and _spec.loader is not None
numeric = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(numeric)
mp = numeric.mp
R = sp.Rational

SYSTEMS_HERE = ["oja-map", "oja-flow", "attention-map", "attention-flow", "multihead-map", "multihead-flow"]


def random_mask(draw, n):
    """Any 0/1 matrix without a zero row: strongly connected, block triangular, without self attention."""
    rows = [[int(draw.random() < 0.45) for _ in range(n)] for _ in range(n)]
    for i, row in enumerate(rows):
        if not any(row):
            row[draw.randrange(n) if draw.random() < 0.5 else i] = 1
    return rows


def eigenvalues_of(draw, d):
    kinds = (
        [R(draw.randint(-20, 20), 7) for _ in range(d)],
        [R(1, 2), *[R(-draw.randint(9, 40), 7)] * (d - 1)],  # negative and dominant, repeated
        [R(draw.randint(1, 20), 7), *[R(0)] * (d - 1)],  # singular
    )
    return kinds[draw.randrange(len(kinds))]


def check_instance(name, draw):
    """One random instance; ``False`` where the map does not fix the point."""
    n, d = draw.choice([2, 3, 4]), draw.choice([2, 3])
    heads = 2 if name.startswith("multihead") else None
    signs = [draw.choice([1, -1]) for _ in range(n)]
    mask = random_mask(draw, n)
    basis = numeric.random_orthogonal(d, draw)
    eigenvalues = [eigenvalues_of(draw, d) for _ in range(heads or 1)]
    scores = [numeric.random_matrix(d, draw, 2) for _ in range(heads or 1)]
    step = draw.choice([R(1, 50), R(1, 4), R(2), R(9)])
    v = basis[:, 0]
    found = signed_spectrum(system(name), signs, mask, heads)
    assert found.count_check().is_holds
    matrices = [numeric.rows(numeric.from_eigenvalues(values, basis)) for values in eigenvalues]
    number = {f"__{h + 1}" if heads else "": h for h in range(heads or 1)}
    values = {f"lambda_k{label}": eigenvalues[h][0] for label, h in number.items()}
    for label, h in number.items():
        values[f"s{label}"] = sp.Float(str((v.T * scores[h] * v)[0]), 85)
    values |= {"alpha": step, "d": 2}  # one direction at a time
    if name.endswith("map"):
        table = {symbol: values[symbol.name] for each in found.conditions for symbol in each.free_symbols}
        if any(numeric.number(each.lhs.subs(table)) <= mp.mpf(10) ** -6 for each in found.conditions):
            return False
    parameters = {"V": matrices[0], "M": numeric.rows(scores[0]), "alpha": numeric.number(step)}
    if heads:
        parameters = {
            "heads": [{"F": F, "M": numeric.rows(M)} for F, M in zip(matrices, scores, strict=True)],
            "alpha": numeric.number(step),
        }
    tokens = [list(sign * v) for sign in signs]
    matrix = numeric.tangent_restriction(numeric.jacobian(name, parameters, tokens, mask), tokens)
    listed = []
    for l in range(1, d):
        here = {f"lambda_ell{label}": eigenvalues[h][l] for label, h in number.items()}
        listed += found.at(values | here, {key: [value] for key, value in here.items()}, numeric.number, partial=True)
    numeric.assert_spectrum(matrix, listed, mp.mpf(10) ** -36)
    return True


@pytest.mark.parametrize("name", SYSTEMS_HERE)
def test_any_mask_on_random_instances(name):
    draw = random.Random(f"any mask {name}")
    checked = sum(check_instance(name, draw) for _ in range(10))
    assert checked >= 4


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS_HERE)
def test_any_mask_on_many_random_instances(name):
    draw = random.Random(f"many masks {name}")
    assert sum(check_instance(name, draw) for _ in range(60)) >= 25


def test_the_ellipsoid_and_the_causal_flow():
    """AB: the metric enters the scores (s = 1), the causal flow has rows that sum to 1/sqrt(d)."""
    draw = random.Random(11)
    signs = [1, -1, 1]
    root = numeric.random_matrix(3, draw)
    metric = root * root.T / 9 + mp.eye(3)
    z = mp.matrix([1, 2, -1])
    z = z / mp.sqrt((z.T * metric * z)[0])
    tokens = [list(sign * z) for sign in signs]
    for mask in (None, [[0, 1, 0], [1, 1, 0], [1, 0, 1]]):
        full = numeric.jacobian("ellipsoid-flow", {"P": numeric.rows(metric)}, tokens, mask)
        found = signed_spectrum(system("ellipsoid-flow"), signs, mask)
        listed = found.at({"d": 3}, {}, numeric.number)
        numeric.assert_spectrum(numeric.tangent_restriction(full, tokens, metric), listed)
    eigenvalues = [R(3, 2), R(-1), R(2, 5)]
    basis = numeric.random_orthogonal(3, draw)
    v = basis[:, 0]
    tokens = [list(sign * v) for sign in signs]
    parameters = {"U": numeric.rows(numeric.from_eigenvalues(eigenvalues, basis)), "P": numeric.rows(root)}
    matrix = numeric.tangent_restriction(numeric.jacobian("causal-flow", parameters, tokens), tokens)
    causal = [[int(j <= i) for j in range(3)] for i in range(3)]
    values = {"lambda_k": eigenvalues[0], "s": sp.Float(str((v.T * root * v)[0]), 85), "d": 3}
    found = signed_spectrum(system("causal-flow"), signs, causal)
    numeric.assert_spectrum(matrix, found.at(values, {"lambda_ell": eigenvalues[1:]}, numeric.number))


@pytest.mark.parametrize(
    ("name", "heads"),
    [*((name, None) for name in SYSTEMS_HERE[:4]), pytest.param("multihead-map", 2, marks=pytest.mark.slow)],
)
def test_full_attention_is_one_complete_part(name, heads):
    """Two derivations: the groups of the full system, and the signed point with P = p, Q = q."""
    part = complete_part_spectrum(system(name), heads)
    full = bipartite_spectrum(system(name), heads=heads)
    assert part.count_check().is_holds
    assert [sp.expand(a.multiplicity - b.multiplicity) for a, b in zip(part.tangent, full.tangent, strict=True)] == [
        0
    ] * 4
    draw = random.Random(5)
    names = {symbol.name for entry in full.tangent for symbol in full.expanded(entry.value).free_symbols}
    for p, q in ((1, 1), (4, 2)):
        table = {name: sp.Float(str(mp.mpf(draw.randint(1, 40)) / draw.randint(30, 60)), 85) for name in sorted(names)}
        table |= {"p": p, "q": q, "P": p, "Q": q, "n": p + q, "d": 3}
        runs = {name: [table[name]] for name in names if name.startswith("lambda_ell")}
        listed = [each.at(table, runs, numeric.number, partial=True) for each in (part, full)]
        assert len(listed[0]) == len(listed[1]) >= 2
        for (left, count), (right, same) in zip(*listed, strict=True):
            assert abs(left - right) < mp.mpf(10) ** -55
            assert count == same


def test_the_parts_of_a_block_triangular_mask():
    """A prefix that sees itself, then tokens one by one: parts in symbols against the mask written out."""
    name = "attention-map"
    signs = [1, -1, -1, 1, -1]
    mask = [[1, 1, 1, 0, 0]] * 3 + [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    values = {"alpha": R(1, 3), "lambda_k": R(3, 2), "s": sp.Float("0.2", 85), "d": 2}
    runs = {"lambda_ell": [R(-4, 5)]}
    whole = signed_spectrum(system(name), signs, mask).at(values, runs, numeric.number)
    part = complete_part_spectrum(system(name)).at(values | {"p": 1, "q": 2, "P": 1, "Q": 2}, runs, numeric.number)
    single = masked_bipartite_spectrum(system(name), "triangular")
    for same, other in ((2, 2), (3, 2)):
        part += single.at(
            values | {"p_i": same, "q_i": other, "n": 5}, {**runs, "i": [1]}, numeric.number, partial=True
        )

    def flat(listed):
        return sorted((value for value, count in listed for _ in range(count)), key=lambda value: value.real)

    assert len(flat(whole)) == len(flat(part)) == 5
    assert all(abs(a - b) < mp.mpf(10) ** -55 for a, b in zip(flat(whole), flat(part), strict=True))


def test_consensus_under_a_mask_is_the_spectrum_of_the_attention_matrix():
    mask = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    for name in ("oja-map", "attention-flow"):
        general = consensus_spectrum(system(name), mask="any")
        given = signed_spectrum(system(name), [1] * 4, mask)
        kappas = list(sp.Matrix([[R(e, sum(row)) for e in row] for row in mask]).eigenvals(multiple=True))
        values = {"alpha": R(1, 3), "lambda_k": R(2), "n": 4, "d": 3}
        runs = {"lambda_ell": [R(1, 2), R(-3)], "kappa": kappas}
        one, two = general.at(values, runs, numeric.number), given.at(values, runs, numeric.number)
        for z in (mp.mpc(3, 1), mp.mpc(-2, 5)):
            products = []
            for listed in (one, two):
                product = mp.mpf(1)
                for value, count in listed:
                    product *= (z - value) ** count
                products.append(product)
            assert abs(products[0] - products[1]) < mp.mpf(10) ** -45 * abs(products[0])


@pytest.mark.parametrize("name", SYSTEMS_HERE)
def test_counts_in_symbols(name):
    heads = 2 if name.startswith("multihead") else None
    for mask in ("causal", "triangular", "any other"):
        found = masked_bipartite_spectrum(system(name), mask, heads)
        assert found.count_check().is_holds, found.count_check().reason
        assert sp.expand(found.dimension - TOKENS * (DIMENSION - 1)) == 0
    broken = masked_bipartite_spectrum(system(name), "any other", heads)
    wrong = Spectrum(broken.system, broken.point, broken.entries * 2, broken.dimension, broken.flow)
    assert wrong.count_check().is_fails


def test_a_repeated_eigenvalue_turns_the_point():
    """Direction with lambda_ell = lambda_k: the sign vector is an eigenvector of eigenvalue 1 (map) or 0 (flow)."""
    signs, mask = [1, -1, 1], [[1, 1, 0], [0, 1, 1], [1, 1, 0]]
    for name, expected in (("attention-map", 1), ("attention-flow", 0)):
        _, response = signed_response(system(name), "given")
        matrix = token_matrix(response, signs, mask)
        k, l = sp.Symbol("lambda_k", real=True), sp.Symbol("lambda_ell", real=True)
        image = matrix.subs(l, k) * sp.Matrix(signs) - expected * sp.Matrix(signs)
        assert image.applyfunc(sp.simplify) == sp.zeros(3, 1)


def test_what_is_seen_is_counted():
    found = masked_bipartite_spectrum(system("attention-map"), "anything")
    assert found.entries[0].value == KAPPA
    assert {SAME, OTHER} <= {symbol for _, meaning in found.abbreviations for symbol in meaning.free_symbols}
    part = complete_part_spectrum(system("attention-flow"))
    assert {SEEN_PLUS, SEEN_MINUS, P, Q} <= {s for e in part.entries for s in part.expanded(e.value).free_symbols}


def test_wrong_requests():
    with pytest.raises(ValueError, match="signs must be"):
        signed_spectrum(system("oja-map"), [1, 2])
    with pytest.raises(ValueError, match="mask row 2"):
        signed_spectrum(system("oja-map"), [1, 1], [[1, 1], [0, 0]])
    with pytest.raises(ValueError, match="2 x 2"):
        signed_spectrum(system("oja-map"), [1, 1], [[1, 1]])
    with pytest.raises(ValueError, match="heads must be a number"):
        signed_response(system("multihead-map"), None)
    with pytest.raises(ValueError, match="sphere"):
        signed_response(system("token-flow"), None)


def test_printed_blocks_are_numbered():
    mask = [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]]
    text = spectrum_latex(signed_spectrum(system("attention-flow"), [1, -1, 1, -1], mask))
    assert r"B_\ell^{(1)}" in text
    assert r"B_\ell^{(2)}" in text
    large = spectrum_latex(signed_spectrum(system("attention-map"), [1, -1, 1], [[0, 1, 0], [0, 0, 1], [1, 0, 0]]))
    assert "the 3 eigenvalues of" in large
