"""Jacobians at 60 digits by differences of the plain loops: what the symbolic results are compared with."""

from __future__ import annotations

import random

import sympy as sp
from mpmath import MPContext

from eigentoken.theory.systems.algebra import LoopAlgebra, causal_mask
from eigentoken.theory.systems.catalogue import system

DIGITS = 60
mp = MPContext()
mp.dps = DIGITS + 25
TOLERANCE = mp.mpf(10) ** -40
LOOPS = LoopAlgebra(mp.exp, mp.sqrt, mp.mpf(1))


def number(expression):
    """A sympy number as an mpmath number."""
    value = sp.N(expression, DIGITS + 20)
    real, imaginary = value.as_real_imag()
    return mp.mpc(str(real), str(imaginary)) if imaginary != 0 else mp.mpf(str(real))


def rows(matrix):
    return [[matrix[a, b] for b in range(matrix.cols)] for a in range(matrix.rows)]


def random_orthogonal(d, draw):
    """The Cayley transform of a random rational skew matrix."""
    skew = mp.matrix(d, d)
    for a in range(d):
        for b in range(a):
            skew[a, b] = mp.mpf(draw.randint(-9, 9)) / 7
            skew[b, a] = -skew[a, b]
    identity = mp.eye(d)
    return mp.inverse(identity + skew) * (identity - skew)


def random_matrix(d, draw, scale=3):
    return mp.matrix([[mp.mpf(draw.randint(-30, 30)) * scale / 30 for _ in range(d)] for _ in range(d)])


def from_eigenvalues(eigenvalues, basis):
    return basis * mp.diag([mp.mpf(value.p) / value.q for value in eigenvalues]) * mp.inverse(basis)


def jacobian(name, parameters, tokens, mask=None):
    """All partial derivatives of the step or velocity, by central differences."""
    chosen = system(name)
    if mask == "causal" or chosen.mask == "causal":
        mask = causal_mask(len(tokens))
    n, d = len(tokens), len(tokens[0])
    h = mp.mpf(10) ** (-(DIGITS // 2) + 5)
    columns = []
    for j in range(n):
        for b in range(d):
            shifted = []
            for sign in (1, -1):
                moved = [list(token) for token in tokens]
                moved[j][b] += sign * h
                shifted.append(chosen.advance(LOOPS, parameters, moved, mask))
            columns.append(
                [(up - down) / (2 * h) for up, down in zip(sum(shifted[0], ()), sum(shifted[1], ()), strict=True)]
            )
    return mp.matrix(columns).T


def tangent_restriction(full, tokens, metric=None):
    """The Jacobian between the tangent spaces ``x_i^T W w = 0`` at the tokens."""
    n, d = len(tokens), len(tokens[0])
    basis = mp.matrix(n * d, n * (d - 1))
    for i, token in enumerate(tokens):
        normal = mp.matrix(token) if metric is None else metric * mp.matrix(token)
        pivot = max(range(d), key=lambda a: abs(normal[a]))
        column = 0
        for a in range(d):
            if a != pivot:
                basis[i * d + a, i * (d - 1) + column] = mp.mpf(1)
                basis[i * d + pivot, i * (d - 1) + column] = -normal[a] / normal[pivot]
                column += 1
    gram = basis.T * basis
    return mp.inverse(gram) * (basis.T * (full * basis))


def assert_spectrum(matrix, spectrum, tolerance=TOLERANCE):
    """``det(z I - J) = prod (z - value)^multiplicity`` at more points than the degree."""
    size = matrix.rows
    assert sum(count for _, count in spectrum) == size
    draw = random.Random(size)
    for _ in range(size + 1):
        z = mp.mpc(draw.randint(-40, 40), draw.randint(-40, 40)) / 10
        product = mp.mpf(1)
        scale = mp.mpf(1)
        for value, count in spectrum:
            product *= (z - value) ** count
            scale *= (1 + abs(z) + abs(value)) ** count
        difference = mp.det(z * mp.eye(size) - matrix) - product
        assert abs(difference) < tolerance * scale, (difference, spectrum)
