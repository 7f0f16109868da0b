"""Criteria: every lemma of their proofs holds, wrong versions fail, and they agree with the spectra on random instances."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from eigentoken.theory.calculus import ALPHA
from eigentoken.theory.linearization.bipartite_stability import (
    BETWEEN,
    KAPPA,
    MU,
    BipartiteLetters,
    bipartite_criterion,
    bipartite_last,
    bipartite_other,
    identity_bipartite,
    oja_bipartite,
)
from eigentoken.theory.linearization.consensus_spectra import bipartite_spectrum
from eigentoken.theory.linearization.criterion import Criterion, Equality
from eigentoken.theory.linearization.masked_stability import masked_bipartite_criterion, masked_consensus_criterion
from eigentoken.theory.linearization.stability import (
    consensus_criterion,
    instability_of_other_consensus,
    nonsymmetric_criterion,
    two_cycle_criterion,
)
from eigentoken.theory.proving.real_arithmetic import Lemma
from eigentoken.theory.systems.catalogue import system

MASKED = (masked_consensus_criterion, masked_bipartite_criterion)
CONSENSUS = [
    (consensus_criterion, "oja-map", {}),
    (consensus_criterion, "attention-map", {}),
    (consensus_criterion, "multihead-map", {}),
    (consensus_criterion, "oja-flow", {}),
    (consensus_criterion, "attention-flow", {}),
    (consensus_criterion, "attention-map", {"mask": "causal"}),
    (consensus_criterion, "attention-flow", {"mask": "causal"}),
    (consensus_criterion, "causal-flow", {}),
    (instability_of_other_consensus, "attention-map", {}),
    (instability_of_other_consensus, "multihead-flow", {}),
    (two_cycle_criterion, "attention-map", {}),
    (nonsymmetric_criterion, "multihead-map", {}),
    (nonsymmetric_criterion, "multihead-flow", {}),
    *((build, name, {}) for build in MASKED for name in ("oja-map", "attention-map", "oja-flow", "attention-flow")),
]


@pytest.mark.parametrize(("build", "name", "options"), CONSENSUS)
def test_consensus_proofs(build, name, options):
    criterion = build(system(name), **options)
    assert criterion.proof
    failing = {lemma: verdict.reason for lemma, verdict in criterion.verdicts.items() if not verdict.is_holds}
    assert not failing


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (bipartite_criterion, "attention-map"),
        (bipartite_last, "attention-flow"),
        (bipartite_other, "attention-map"),
        (oja_bipartite, "oja-map"),
        (identity_bipartite, "ellipsoid-flow"),
    ],
)
def test_bipartite_proofs(build, name):
    criterion = build(system(name))
    failing = {lemma: verdict.reason for lemma, verdict in criterion.verdicts.items() if not verdict.is_holds}
    assert not failing


def test_the_bounds_of_all_eigenvalues_together():
    """The condition of the nonsymmetric criterion, for every other eigenvalue, is that the spectral radius is below 1."""
    criterion = nonsymmetric_criterion(system("multihead-map"))
    letters = [ALPHA, *(sp.Symbol(name, real=True) for name in ("lambda_1", "a", "b"))]
    holds = sp.lambdify(letters, criterion.condition)
    draw = random.Random(9)
    seen = {True: 0, False: 0}
    for _ in range(300):
        others = [complex(draw.uniform(-3, 0.99), draw.uniform(-3, 3)) for _ in range(3)]
        step = 10 ** draw.uniform(-2, 1)
        radius = max(abs(1 + step * z) for z in others) / (1 + step)
        if abs(radius - 1) > 1e-9:
            said = all(holds(step, 1, z.real, z.imag) for z in others)
            assert bool(said) == (radius < 1)
            seen[bool(said)] += 1
    assert min(seen.values()) > 30


def test_a_wrong_threshold_is_refuted():
    criterion = consensus_criterion(system("oja-map"))
    lemma = next(each for each in criterion.proof if each.name == "the last eigenvalue decides")
    stable = lemma.conclusion.args[0] if lemma.conclusion.args[0].has(sp.And) else lemma.conclusion.args[1]
    l1, ld = sp.Symbol("lambda_1", real=True), sp.Symbol("lambda_d", real=True)
    for wrong in (ALPHA * (-ld - l1) < 1, ALPHA * (-ld - l1) <= 2, ALPHA * -ld < 2):
        assert Lemma("wrong", lemma.hypotheses, sp.Equivalent(stable, wrong)).check().is_fails
    broken = replace(criterion, proof=(*criterion.proof, Lemma("wrong", (), l1 > 0)))
    assert broken.check().is_fails
    assert criterion.check().is_holds


def test_a_wrong_bipartite_criterion_is_refuted():
    letters = BipartiteLetters.of("attention")
    b1, b2 = sp.symbols("b_1 b_2", real=True)
    hypotheses = (*BETWEEN, KAPPA > 0, MU < KAPPA)
    right = sp.And(b1 + b2 > 0, MU * (b1 + b2) / 2 < KAPPA * b1 * b2)
    assert Lemma("right", hypotheses, sp.Equivalent(letters.below, right)).check().is_holds
    for wrong in (
        sp.And(b1 + b2 > 0, MU * (b1 + b2) < KAPPA * b1 * b2),
        sp.And(b2 > 0, MU * (b1 + b2) / 2 < KAPPA * b1 * b2),
        MU * (b1 + b2) / 2 < KAPPA * b1 * b2,
    ):
        assert Lemma("wrong", hypotheses, sp.Equivalent(letters.below, wrong)).check().is_fails


def test_a_wrong_identity_is_refuted():
    G = BipartiteLetters.of("attention").flow_block
    b1, b2 = sp.symbols("b_1 b_2", real=True)
    assert Equality("det", G.det(), (KAPPA - MU) * (KAPPA * b1 * b2 - MU * (b1 + b2) / 2)).check().is_holds
    assert Equality("det", G.det(), (KAPPA - MU) * (KAPPA * b1 * b2 - MU * (b1 + b2))).check().is_fails


def test_an_undecided_lemma_is_not_a_proof():
    x = sp.Symbol("x", real=True)
    hard = Lemma("hard", (x > 0,), sp.exp(x) > 1 + x + x**2 / 2)
    spectrum = bipartite_spectrum(system("oja-flow"))
    assert Criterion("name", spectrum, (), sp.true, (hard,), "words").check().is_undecided


def test_masked_criteria_against_the_spectrum():
    """Random masks: the consensus criterion decides as the spectral radius does, the bipartite one is sufficient."""
    rng = np.random.default_rng(8)
    sides = {True: 0, False: 0}
    sufficient = differing = 0
    for _ in range(400):
        n = int(rng.integers(2, 6))
        mask = rng.random((n, n)) < 0.5
        mask[np.arange(n), rng.integers(0, n, n)] = True
        top, step = rng.uniform(0.1, 2), 10 ** rng.uniform(-2, 1)
        others = rng.uniform(-3, top, 2)
        kappas = np.linalg.eigvals(mask / mask.sum(1, keepdims=True))
        radius = max(np.abs((1 + step * l * kappas) / (1 + step * top)).max() for l in others)
        if abs(radius - 1) > 1e-9:
            numbers = np.outer(others, kappas).ravel()
            size = np.abs(numbers) ** 2
            says = all((size <= top**2) | (step * (size - top**2) < 2 * (top - numbers.real)))
            assert says == (radius < 1)
            sides[bool(says)] += 1
            full = step * (max(-others.min(), 0) - top) < 2
            differing += int(full and not says)
        signs, s = rng.choice([-1, 1], n), rng.normal()
        weights = mask * np.exp(s * np.outer(signs, signs))
        weights = weights / weights.sum(1, keepdims=True)
        b = signs * (weights @ signs)
        m = 1 + step * top * b
        if (m > 0).all() and (np.abs(others).max() < top * b).all():
            for l in others:
                assert np.abs(np.linalg.eigvals((np.eye(n) + step * l * weights) / m[:, None])).max() < 1
                assert np.linalg.eigvals(l * weights - top * np.diag(b)).real.max() < 0
            sufficient += 1
    assert min(sides.values()) > 50
    assert sufficient > 10
    assert differing > 0  # masks without self attention are less stable than full attention


def test_a_wrong_masked_criterion_is_refuted():
    criterion = masked_bipartite_criterion(system("attention-map"))
    assert not criterion.exact
    row = criterion.proof[0]
    k, l, b = (sp.Symbol(name, real=True) for name in ("lambda_k", "lambda_ell", "b_i"))
    wrong = type(row)(row.name, row.hypotheses, row.conclusion.subs(criterion.condition, sp.Abs(l) < 2 * k * b))
    assert not wrong.check().is_holds
