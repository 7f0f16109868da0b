"""Exact spectra of random equilibria against finite-difference Jacobians at 60 digits (mpmath).

Compared are the traces of all powers, ``sum_z z^k``: they determine the spectrum with multiplicities and, unlike
computed eigenvalues, stay accurate where it is repeated or the matrix is not diagonalisable.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import acb, arb, arb_mat, ctx, fmpq, fmpq_mat

from eigentoken.theory.classification.classify import Classification, classify
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.exactness.balls import expression_ball, precision
from eigentoken.theory.systems.algebra import LoopAlgebra
from eigentoken.theory.systems.catalogue import SYSTEMS
from eigentoken.theory.systems.system import Space

DIGITS = 60


def rational(rng: random.Random, size: int = 3, denominator: int = 4) -> Fraction:
    return Fraction(rng.randint(-size * denominator, size * denominator), rng.randint(1, denominator))


def rational_rotation(rng: random.Random, d: int) -> list[list[Fraction]]:
    """Cayley transform of a rational skew matrix: a rational orthogonal matrix."""
    skew = [[fmpq(0)] * d for _ in range(d)]
    for i in range(d):
        for j in range(i):
            value = fmpq(rng.randint(-3, 3), rng.randint(1, 3))
            skew[i][j], skew[j][i] = value, -value
    unit = fmpq_mat([[int(i == j) for j in range(d)] for i in range(d)])
    K = fmpq_mat(skew)
    Q = (unit - K) * (unit + K).inv()
    return [[Fraction(int(Q[i, j].p), int(Q[i, j].q)) for j in range(d)] for i in range(d)]


def symmetric_with(eigenvalues: list[Fraction], rotation: list[list[Fraction]]) -> list[list[Fraction]]:
    d = len(eigenvalues)
    return [
        [sum((eigenvalues[k] * rotation[i][k] * rotation[j][k] for k in range(d)), Fraction(0)) for j in range(d)]
        for i in range(d)
    ]


def eigenvalues_of_kind(rng: random.Random, d: int, kind: str) -> list[Fraction]:
    values = [rational(rng) for _ in range(d)]
    if kind == "negative-dominant":
        values[0], values[-1] = Fraction(1, 2), Fraction(-rng.randint(2, 6))
    if kind == "repeated" and d > 2:
        values[1] = values[2]
    if kind == "singular":
        values[-1] = Fraction(0)
    rng.shuffle(values)
    return values


def scores(rng: random.Random, d: int) -> list[list[Any]]:
    style = rng.choice(["zero", "rational", "log", "diagonal-log"])
    if style == "zero":
        return [[0] * d for _ in range(d)]
    if style == "rational":
        return [[str(rational(rng, 1, 2)) for _ in range(d)] for _ in range(d)]
    if style == "log":
        return [[f"{rng.randint(-1, 1)}*ln({rng.choice([2, 3])})" for _ in range(d)] for _ in range(d)]
    return [[f"ln({rng.choice(['2', '3/2', '5'])})" if i == j else 0 for j in range(d)] for i in range(d)]


def random_equilibrium(rng: random.Random, name: str) -> Instance:
    """Consensus or a split of tokens on an eigenvector of a random symmetric (or conjugated) matrix."""
    d = rng.choice([2, 2, 3])
    n = rng.choice([1, 2, 3, 4])
    axes_only = rng.random() < 0.5
    unit = [[Fraction(int(i == j)) for j in range(d)] for i in range(d)]
    rotation = unit if axes_only else rational_rotation(rng, d)
    values = eigenvalues_of_kind(rng, d, rng.choice(["plain", "negative-dominant", "repeated", "singular"]))
    V = symmetric_with(values, rotation)
    if rng.random() < 0.3:
        # not symmetric: add a rank-one term that keeps v_k as an eigenvector
        other = [rational(rng, 1, 2) for _ in range(d)]
        along = sum((a * rotation[i][0] for i, a in enumerate(other)), Fraction(0))
        other = [a - along * rotation[i][0] for i, a in enumerate(other)]
        V = [[V[i][j] + rational(rng, 1, 1) * other[j] for j in range(d)] for i in range(d)]
    v = [rotation[i][0] for i in range(d)]
    signs = [rng.choice([1, 1, -1]) for _ in range(n)]
    tokens = [[sign * entry for entry in v] for sign in signs]
    system = SYSTEMS[name]
    parameters: dict[str, Any] = {}
    M = scores(rng, d)
    if system.multihead and system.space is Space.SPHERE:
        parameters["heads"] = [{"F": V, "M": M}, {"F": symmetric_with(values[::-1], rotation), "M": scores(rng, d)}]
    elif system.multihead:
        parameters["heads"] = [{"U": V, "P": M}]
        parameters["W"] = symmetric_with([Fraction(1, 4), *[abs(x) + 1 for x in values[1:]]], rotation)
        tokens = [[2 * entry for entry in token] for token in tokens]
    elif system.name == "ellipsoid-flow":
        parameters["P"] = symmetric_with([Fraction(1, 4), *[abs(x) + 1 for x in values[1:]]], rotation)
        tokens = [[2 * entry for entry in token] for token in tokens]
    elif system.name == "token-flow":
        kernel = symmetric_with([Fraction(0), *values[1:]], rotation)
        parameters |= {"B": kernel, "W": M}
    else:
        if system.value:
            parameters[system.value] = V
        if system.score:
            parameters[system.score] = M
    if system.time.value == "map":
        parameters["alpha"] = rng.choice([Fraction(1, 10), Fraction(1, 3), Fraction(2), Fraction(7)])
    mask: Any = None
    if system.mask != "causal" and rng.random() < 0.4:
        mask = rng.choice(["causal", [[int(i == j or rng.random() < 0.5) for j in range(n)] for i in range(n)]])
    return Instance.of(name, tokens, mask, **parameters)


def rational_unit(rng: random.Random, d: int) -> list[Fraction]:
    """A rational point of the sphere, by stereographic projection."""
    base = [Fraction(rng.randint(-4, 4), rng.randint(1, 3)) for _ in range(d - 1)]
    square = sum((entry * entry for entry in base), Fraction(0))
    return [*(2 * entry / (1 + square) for entry in base), (square - 1) / (1 + square)]


def random_polygon(rng: random.Random, name: str) -> Instance:
    """A state that no token pushes: antipodal pairs for Oja, one pair with ``w^T M w = 0`` for attention."""
    d = rng.choice([2, 3])
    V = [[rational(rng, 2, 2) for _ in range(d)] for _ in range(d)]
    parameters: dict[str, Any] = {"V": V}
    if name.endswith("map"):
        parameters["alpha"] = rng.choice([Fraction(1, 10), Fraction(1, 2), Fraction(3)])
    if name.startswith("oja"):
        points = [rational_unit(rng, d) for _ in range(rng.choice([1, 2]))]
    else:
        points = [rational_unit(rng, d)]
        w = points[0]
        M = [[rational(rng, 1, 2) for _ in range(d)] for _ in range(d)]
        height = sum((w[i] * M[i][j] * w[j] for i in range(d) for j in range(d)), Fraction(0))
        parameters["M"] = [[M[i][j] - height * w[i] * w[j] for j in range(d)] for i in range(d)]
    copies = rng.choice([1, 2])
    tokens = [[sign * entry for entry in point] for point in points for sign in (1, -1) for _ in range(copies)]
    rng.shuffle(tokens)
    return Instance.of(name, tokens, **parameters)


def to_mp(value: Any) -> Any:
    return mpmath.mpf(expression_ball(value, 300).mid().str(DIGITS + 15, radius=False))


def converted(parameters: Any) -> Any:
    if isinstance(parameters, dict):
        return {key: converted(value) for key, value in parameters.items()}
    if isinstance(parameters, tuple | list):
        return [converted(value) for value in parameters]
    return to_mp(parameters)


def finite_difference_jacobian(instance: Instance) -> arb_mat:
    """Central differences of ``advance`` at 60 digits, projected to the tangent spaces along the tokens."""
    n, d = instance.n, instance.d
    algebra = LoopAlgebra(mpmath.exp, mpmath.sqrt, mpmath.mpf(1))
    parameters = converted(dict(instance.parameters))
    tokens = converted(instance.tokens)
    step = mpmath.mpf(10) ** (-DIGITS // 3)
    columns = []
    for j in range(n):
        for b in range(d):
            images = []
            for sign in (1, -1):
                moved = [list(token) for token in tokens]
                moved[j][b] += sign * step
                image = instance.system.advance(algebra, parameters, moved, instance.mask)
                images.append([entry for token in image for entry in token])
            columns.append([(p - m) / (2 * step) for p, m in zip(*images, strict=True)])
    size = n * d
    matrix = arb_mat([[arb(mpmath.nstr(columns[c][r], DIGITS)) for c in range(size)] for r in range(size)])
    if instance.system.space is Space.EUCLIDEAN:
        return matrix
    metric = instance.metric
    rows = [[arb(0)] * size for _ in range(size)]
    for i, token in enumerate(instance.tokens):
        normal = token if metric is None else [sum(a * b for a, b in zip(row, token, strict=True)) for row in metric]
        for a in range(d):
            for b in range(d):
                rows[i * d + a][i * d + b] = arb(int(a == b)) - expression_ball(token[a] * normal[b], 300)
    projector = arb_mat(rows)
    return projector * matrix * projector


def same_traces(found: Classification, matrix: arb_mat) -> None:
    size = sum(entry.multiplicity for entry in found.spectrum)
    instance = found.instance
    assert size == instance.n * (instance.d - (instance.system.space is not Space.EUCLIDEAN))
    power = matrix
    scale = max([1.0, *[abs(entry.value) for entry in found.spectrum]])
    for k in range(1, size + 1):
        trace = sum((power[i, i] for i in range(matrix.nrows())), arb(0))
        total = acb(0)
        for entry in found.spectrum:
            if entry.exact is not None and entry.exact.is_real:
                value = acb(expression_ball(entry.exact, 300))
            elif entry.exact is not None:
                real, imaginary = entry.exact.as_real_imag()
                value = acb(expression_ball(real, 300), expression_ball(imaginary, 300))
            else:
                value = acb(entry.value.real, entry.value.imag)
            total += entry.multiplicity * value**k
        exact = all(entry.exact is not None for entry in found.spectrum)
        tolerance = (1e-32 if exact else 1e-11) * size * scale**k
        assert abs(float((total - acb(trace)).abs_upper().mid())) <= tolerance, (k, instance.as_dict())
        power = power * matrix


def check(seed: int, name: str) -> str:
    rng = random.Random(f"{name}-{seed}")
    instance = random_equilibrium(rng, name)
    found = classify(instance)
    if found.kind == "not-an-equilibrium":
        return found.kind
    assert found.kind != "undecided", instance.as_dict()
    with mpmath.workdps(DIGITS), precision(300):
        matrix = finite_difference_jacobian(instance)
        if found.kind == "2-cycle":
            same_moduli(found, matrix)
        else:
            same_traces(found, matrix)
    return found.kind


def same_moduli(found: Classification, matrix: arb_mat) -> None:
    """At a 2-cycle ``f(x) = -x`` the multipliers per step are the eigenvalues of the Jacobian of f, up to sign."""
    if not any("f(x) = -x" in note for note in found.notes):
        return
    values = np.linalg.eigvals(np.array([[float(entry.mid()) for entry in row] for row in matrix.tolist()]))
    listed = [entry.value.real for entry in found.spectrum for _ in range(entry.multiplicity)]
    expected = sorted(np.abs(values))[-len(listed) :] if listed else []
    assert np.allclose(sorted(listed), expected, atol=1e-5, rtol=1e-5), found.instance.as_dict()


@pytest.mark.parametrize("name", list(SYSTEMS))
def test_random_spectra(name: str) -> None:
    kinds = [check(seed, name) for seed in range(16)]
    assert sum(kind not in {"not-an-equilibrium", "2-cycle"} for kind in kinds) >= 6, kinds
    assert ctx.prec == 53


@pytest.mark.parametrize("name", ["oja-map", "oja-flow", "attention-map", "attention-flow"])
def test_random_polygons(name: str) -> None:
    for seed in range(15):
        instance = random_polygon(random.Random(f"polygon-{name}-{seed}"), name)
        found = classify(instance)
        assert "polygonal" in {found.kind, *found.also}, instance.as_dict()
        with mpmath.workdps(DIGITS), precision(300):
            same_traces(found, finite_difference_jacobian(instance))


@pytest.mark.slow
@pytest.mark.parametrize("name", list(SYSTEMS))
def test_many_random_spectra(name: str) -> None:
    kinds = [check(seed, name) for seed in range(100, 250)]
    assert sum(kind not in {"not-an-equilibrium", "2-cycle"} for kind in kinds) >= 70, kinds
