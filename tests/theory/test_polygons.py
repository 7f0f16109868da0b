"""Attention polygons: where they are, the reduction to small matrices, and the spectrum against exact Jacobians."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import least_squares

from eigentoken.theory.calculus import DIMENSION, TOKENS
from eigentoken.theory.classification.classify import classify
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.classification.jacobian_spectrum import reduced_blocks, spectral_factors
from eigentoken.theory.classification.jacobians import exact_setting, intrinsic_jacobian, jacobian, tangent_pivots
from eigentoken.theory.classification.polygon_blocks import polygon_blocks
from eigentoken.theory.exactness.elements import ExactnessLimit
from eigentoken.theory.exactness.fields import Field, in_smallest_field
from eigentoken.theory.linearization.at_points import spectrum
from eigentoken.theory.linearization.attention_polygons import (
    RANK,
    polygon_identities,
    uniform_polygon_spectrum,
)
from eigentoken.theory.linearization.polygonal_spectra import antipodal_spectrum, polygonal_spectrum
from eigentoken.theory.linearization.spectrum import spectrum_latex
from eigentoken.theory.systems.catalogue import SYSTEMS, system
from eigentoken.theory.systems.system import Space

SINGLE = ["attention-map", "attention-flow", "token-flow"]


@pytest.mark.parametrize("name", SINGLE)
def test_the_reduction_is_proved_for_all_n_and_d(name: str) -> None:
    checks = polygon_identities(system(name))
    assert set(checks) == {"derivative", "mean", "outside", "turning"}
    assert all(verdict.is_holds for verdict in checks.values())
    found = uniform_polygon_spectrum(system(name))
    assert found.count_check().is_holds
    assert r"\operatorname{spec}" in spectrum_latex(found)


def test_oja_and_antipodal_polygons_are_cases() -> None:
    """Without M only the mean counts; with r = 1 the classes are those of the antipodal blocks."""
    general = uniform_polygon_spectrum(system("attention-map"))
    oja = polygonal_spectrum(system("oja-map"))
    trivial = sum((entry.count for entry in general.tangent[1:]), sp.Integer(0))
    assert sp.expand(trivial - oja.tangent[1].multiplicity) == 0
    antipodal = antipodal_spectrum(system("attention-map"))
    at_one = [sp.expand(entry.count.subs(RANK, 1)) for entry in general.tangent]
    assert at_one == [DIMENSION, sp.expand((TOKENS - 2) * (DIMENSION - 1)), DIMENSION - 1, -1]
    assert sp.expand(sum(at_one) - antipodal.dimension) == 0


def test_stable_polygons_are_antipodal_in_the_plane() -> None:
    found = [
        spectrum(name, at=at).criteria[0]
        for name in ("attention-map", "attention-flow")
        for at in ("polygon", "antipodal")
    ]
    found += [spectrum(name, at="polygon").criteria[0] for name in ("oja-map", "oja-flow", "token-flow")]
    for criterion in found:
        assert criterion.condition is sp.false
        assert criterion.check().is_holds
        boundary, some = criterion.proof
        weaker = type(some)(some.name, some.hypotheses[1:], some.conclusion)
        assert not weaker.check().is_holds
        assert not replace(boundary, right=boundary.right + 1).check().is_holds


def test_wrong_systems_are_refused() -> None:
    for name in ("oja-map", "multihead-map", "causal-flow"):
        with pytest.raises(ValueError, match="one head of full attention"):
            uniform_polygon_spectrum(system(name))


def rational(rng: random.Random) -> Fraction:
    return Fraction(rng.randint(-6, 6), rng.randint(1, 3))


def random_polygon(rng: random.Random, name: str) -> Instance:
    """Tokens in a coordinate subspace of dimension r turned by a rational rotation, scores zero on it."""
    r = rng.choice([1, 2, 2, 3])
    d = r + rng.choice([0, 1, 1, 2])
    kinds: list[list[list[Any]]] = []
    for _ in range(rng.choice([1, 2])):
        point = [Fraction(rng.randint(-3, 3)) for _ in range(r - 1)]
        square = sum((entry * entry for entry in point), Fraction(0))
        unit = [*(2 * entry / (1 + square) for entry in point), (square - 1) / (1 + square)]
        kinds.append([unit, [-entry for entry in unit]])
    if r >= 2 and rng.random() < 0.4 and name != "token-flow":
        rest = [0] * (r - 2)
        kinds.append([[1, 0, *rest], ["-1/2", "sqrt(3)/2", *rest], ["-1/2", "-sqrt(3)/2", *rest]])
    tokens = [[*token, *[0] * (d - r)] for kind in kinds for token in kind]
    listed = SYSTEMS[name]

    def matrix() -> list[list[Any]]:
        return [[rational(rng) for _ in range(d)] for _ in range(d)]

    def score() -> list[list[Any]]:
        full = matrix()
        return [[0 if i < r and j < r else full[i][j] for j in range(d)] for i in range(d)]

    parameters: dict[str, Any] = {}
    if listed.multihead:
        parameters["heads"] = [{"F": matrix(), "M": score()} for _ in range(2)]
    else:
        for key, make in ((listed.value, matrix), (listed.score, score)):
            if key:
                parameters[key] = make()
    if name.endswith("map"):
        parameters["alpha"] = rng.choice([Fraction(1, 10), Fraction(1, 2), Fraction(7)])
    if name == "token-flow":
        tokens = [[2 * entry for entry in token] for token in tokens[:2]] + tokens[2:]
    return Instance.of(name, tokens, **parameters)


def both_factorizations(field: Field, instance: Instance) -> tuple[Any, Any]:
    setting = exact_setting(instance, field)
    blocks = polygon_blocks(setting)
    assert blocks is not None
    norms = [field.one] * instance.n if instance.system.time.value == "map" else ()
    matrix, width = jacobian(setting, norms=norms), instance.d
    if instance.system.space is not Space.EUCLIDEAN:
        pivots = tangent_pivots(setting)
        matrix, width = intrinsic_jacobian(setting, matrix, pivots, pivots), instance.d - 1
    whole = reduced_blocks(matrix, [[i] for i in range(instance.n)], width)
    return spectral_factors(field, blocks), spectral_factors(field, whole)


def as_set(factored: Any) -> set[tuple[tuple[str, ...], int]]:
    return {(tuple(str(coefficient) for coefficient in factor), count) for factor, count in factored}


@pytest.mark.parametrize(
    "name", ["oja-map", "oja-flow", "attention-map", "attention-flow", "multihead-map", "token-flow"]
)
def test_the_small_matrices_have_the_spectrum_of_the_jacobian(name: str) -> None:
    """Exact characteristic polynomials of the blocks and of the whole tangent Jacobian are one polynomial."""
    rng = random.Random(f"blocks-{name}")
    compared = 0
    for _ in range(25):
        instance = random_polygon(rng, name)
        try:
            small, whole = in_smallest_field(partial(both_factorizations, instance=instance))
        except ExactnessLimit:
            continue  # the whole Jacobian is beyond the exact route: that is what the blocks are for
        assert as_set(small) == as_set(whole), instance.as_dict()
        compared += 1
    assert compared >= 15


def test_a_cube_is_decided() -> None:
    third = "/sqrt(3)"
    cube = [[f"{a}{third}", f"{b}{third}", f"{c}{third}"] for a in (1, -1) for b in (1, -1) for c in (1, -1)]
    found = classify(Instance.of("oja-flow", cube, V=[[1, 2, 0], [2, -7, 1], [0, 1, 3]]))
    assert (found.kind, found.linearization, found.unstable_dimension) == ("polygonal", "unstable", 2)
    # Pbar = (2/3) I: spec(Pbar V) once, and 0
    expected = sorted(2 / 3 * np.linalg.eigvalsh(np.array([[1, 2, 0], [2, -7, 1], [0, 1, 3.0]])))
    moving = [entry.value.real for entry in found.spectrum if entry.value != 0]
    assert np.allclose(moving, expected)
    assert sum(entry.multiplicity for entry in found.spectrum) == 16


def test_no_polygon_no_blocks() -> None:
    """Scores that do not vanish, a sum that does not vanish, a mask: the reduction does not apply, and says so."""
    square = [[1, 0], [0, 1], [-1, 0], [0, -1]]

    def blocks(instance: Instance) -> Any:
        return in_smallest_field(lambda field: polygon_blocks(exact_setting(instance, field)))

    zero = [[0, 0], [0, 0]]
    V = [[1, 2], [0, 1]]
    assert blocks(Instance.of("attention-flow", square, V=V, M=zero)) is not None
    assert blocks(Instance.of("attention-flow", square, V=V, M=[[0, 1], [-1, 0]])) is None
    assert blocks(Instance.of("attention-flow", square[:3], V=V, M=zero)) is None
    assert blocks(Instance.of("attention-flow", square, "causal", V=V, M=zero)) is None


def test_every_attention_polygon_has_vanishing_scores() -> None:
    """The lemma at random: least squares on ``sum_j a_ij x_j = 0`` only reaches zero where all scores are small."""
    rng = np.random.default_rng(3)
    ended = 0
    for _ in range(40):
        n, d = int(rng.integers(2, 5)), int(rng.integers(2, 4))
        M = rng.normal(size=(d, d))
        X = rng.normal(size=(n, d))

        def residual(flat: Any, n: int = n, d: int = d, M: Any = M) -> Any:
            Y = flat.reshape(n, d)
            Y = Y / np.linalg.norm(Y, axis=1, keepdims=True)
            A = np.exp(Y @ M @ Y.T)
            return ((A / A.sum(1, keepdims=True)) @ Y).ravel()

        found = least_squares(residual, X.ravel(), xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=150)
        if np.abs(found.fun).max() < 1e-12:
            Y = found.x.reshape(n, d)
            Y = Y / np.linalg.norm(Y, axis=1, keepdims=True)
            assert np.abs(Y @ M @ Y.T).max() < 1e-4
            ended += 1
    assert ended >= 3
