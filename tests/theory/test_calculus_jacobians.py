"""The derived Jacobians against sympy at explicit sizes, against 60-digit differences, and against printed vectors."""

from __future__ import annotations

import importlib.util
import random
from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp

from eigentoken.theory.calculus import (
    ALPHA,
    DIMENSION,
    SLOT,
    TOKENS,
    CalculusAlgebra,
    Index,
    differentiate,
    direction,
    normal_form,
    vector,
)
from eigentoken.theory.calculus.evaluation import Numbers
from eigentoken.theory.linearization.linearize import linearize, symbolic_parameters
from eigentoken.theory.systems.algebra import LoopAlgebra, causal_mask
from eigentoken.theory.systems.catalogue import SYSTEMS, system

_spec = importlib.util.spec_from_file_location("numeric_jacobians", Path(__file__).with_name("numeric_jacobians.py"))
numeric = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(numeric)
mp = numeric.mp
R = sp.Rational
L = Index("token", "l")


def as_numbers(rows):
    return [[numeric.number(entry) for entry in row] for row in rows]


def block_matrix(found, n, d, scalars, matrices, tokens, exp, sqrt, convert, one, mask=None):
    """All blocks of the derived Jacobian at an instance, as a list of rows."""
    block = found.jacobian
    full = [[None] * (n * d) for _ in range(n * d)]
    for b in range(d):
        unit = [one * int(b == c) for c in range(d)]
        heads = next((len(value) for value in matrices.values() if isinstance(value, tuple)), 1)
        numbers = Numbers(
            sizes={"token": n, "head": heads},
            scalars=scalars,
            matrices={
                name: (lambda h, value=value: value[h]) if isinstance(value, tuple) else value
                for name, value in matrices.items()
            },
            vectors={"x": tokens, "xi": unit},
            exp=exp,
            sqrt=sqrt,
            convert=convert,
            masks={} if mask is None else {"causal": mask},
            assumptions=found.assumptions,
        )
        for i in range(n):
            for l in range(n):
                column = numbers.vector(block, {SLOT: i, L: l})
                for row in range(d):
                    full[i * d + row][l * d + b] = column[row]
    return full


SMALL = [(1, 2), (2, 2), (2, 3), (3, 2)]
CASES = [(name, n, d) for name in ("oja-map", "oja-flow") for n, d in SMALL]
CASES += [(name, *SMALL[0]) for name in ("attention-map", "attention-flow", "ellipsoid-flow", "token-flow")]
CASES += [(name, *SMALL[1]) for name in ("attention-map", "token-flow")]
CASES += [
    pytest.param(name, n, d, marks=pytest.mark.slow)
    for name in ("attention-map", "attention-flow", "ellipsoid-flow", "token-flow")
    for n, d in SMALL[1:]
    if (name, n, d) not in CASES
]


@pytest.mark.parametrize(("name", "n", "d"), CASES)
def test_against_sympy_matrix_jacobian(name, n, d):
    chosen = system(name)
    draw = random.Random(f"{name}{n}{d}")
    rational = {
        letter: [[R(draw.randint(-5, 5), 3) for _ in range(d)] for _ in range(d)]
        for letter in ("V", "M", "B", "W", "P")
    }
    rational["P"] = [[rational["P"][a][b] + rational["P"][b][a] + 7 * int(a == b) for b in range(d)] for a in range(d)]
    symbols = [[sp.Symbol(f"x{i}{c}", real=True) for c in range(d)] for i in range(n)]
    loops = LoopAlgebra(sp.exp, sp.sqrt, sp.Integer(1))
    parameters = {**rational, "alpha": R(1, 3)}
    flat = [entry for token in chosen.advance(loops, parameters, symbols) for entry in token]
    variables = [entry for token in symbols for entry in token]
    expected = sp.Matrix(flat).jacobian(variables)
    tokens = [[R(draw.randint(-4, 4), 5) + R(1, 7) for _ in range(d)] for _ in range(n)]
    point = dict(zip(variables, [entry for token in tokens for entry in token], strict=True))
    values = {ALPHA: R(1, 3), TOKENS: n, DIMENSION: d}
    matrices = {letter: as_numbers(rows) for letter, rows in rational.items()}
    derived = block_matrix(
        _raw(chosen), n, d, values, matrices, as_numbers(tokens), mp.exp, mp.sqrt, numeric.number, mp.mpf(1)
    )
    exact = expected.xreplace(point)
    rows = [[numeric.number(exact[a, b]) for b in range(n * d)] for a in range(n * d)]
    for row in range(n * d):
        for column in range(n * d):
            assert abs(rows[row][column] - derived[row][column]) < mp.mpf(10) ** -45


def _raw(chosen):
    """The linearization without the relation |x_i| = 1, so that it can be compared off the sphere."""
    found = linearize(chosen, tangent=False)
    algebra = CalculusAlgebra()
    step = chosen.advance(algebra, symbolic_parameters(chosen), vector("x", SLOT), found.mask)
    derivative = normal_form(differentiate(step, direction("x", "w"), algebra.assumptions), algebra.assumptions)
    return replace(found, step=step, derivative=derivative, assumptions=algebra.assumptions)


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_every_system_against_differences(name):
    chosen = system(name)
    found = _raw(chosen)
    draw = random.Random(name)
    for n, d in ((2, 3), (3, 2)):
        matrices = {
            letter: numeric.rows(numeric.random_matrix(d, draw, scale=1))
            for letter in ("V", "M", "B", "W", "P", "U", "F")
        }
        if chosen.metric:
            square = numeric.random_matrix(d, draw, scale=1)
            matrices[chosen.metric] = numeric.rows(square * square.T + mp.eye(d))
        parameters = {**matrices, "alpha": mp.mpf(3) / 2}
        named = dict(matrices)
        if chosen.multihead:
            heads = [
                {
                    letter: numeric.rows(numeric.random_matrix(d, draw, scale=1))
                    for letter in (chosen.value, chosen.score)
                }
                for _ in range(2)
            ]
            parameters["heads"] = heads
            for letter in (chosen.value, chosen.score):
                named[letter] = tuple(head[letter] for head in heads)
        tokens = [[mp.mpf(draw.randint(-9, 9)) / 8 for _ in range(d)] for _ in range(n)]
        mask = causal_mask(n) if found.mask == "causal" else None
        expected = numeric.jacobian(name, parameters, tokens)
        values = {ALPHA: R(3, 2), TOKENS: n, DIMENSION: d}
        derived = block_matrix(found, n, d, values, named, tokens, mp.exp, mp.sqrt, numeric.number, mp.mpf(1), mask)
        for row in range(n * d):
            for column in range(n * d):
                assert abs(expected[row, column] - derived[row][column]) < mp.mpf(10) ** -40 * (
                    1 + abs(expected[row, column])
                )


TV_TOKENS = [[R(3, 5), R(4, 5)], [R(5, 13), R(-12, 13)]]
TV_V = [[R(1), R(1, 2)], [R(1, 2), R(-1, 3)]]
TV_M = [[R(1, 2), R(-1)], [R(2), R(1, 4)]]
TV13 = """
 0.583573049052    -0.336190795917    -0.05890346912835   0.1010261549943
-0.4727707195256    0.2723586442893    0.04771953661603  -0.08184443758182
 0.009960627304347 -0.004986210095849  1.155177296746     0.5971690331937
 0.005431757392091 -0.002719094161352  0.6299445435568    0.3256499024878
"""
TV14 = """
 0.5469629036733   -0.3581371373957    0.04790624057616   0.06510130188479
-0.4638666163845    0.3037278415221   -0.04062817710401  -0.05521091179076
 0.1567338939681    0.03375059839128   0.8676817507284    0.4926616124886
 0.1011704438524    0.02178573461732   0.5600814579497    0.3180090326514
"""


@pytest.mark.parametrize(("name", "printed"), [("attention-map", TV13), ("oja-map", TV14)])
def test_generic_state_vectors(name, printed):
    found = linearize(system(name), tangent=False)
    values = {ALPHA: R(1, 3), TOKENS: 2, DIMENSION: 2}
    matrices = {"V": as_numbers(TV_V), "M": as_numbers(TV_M)}
    derived = block_matrix(
        found, 2, 2, values, matrices, as_numbers(TV_TOKENS), mp.exp, mp.sqrt, numeric.number, mp.mpf(1)
    )
    rows = [line.split() for line in printed.strip().splitlines()]
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            slack = mp.mpf(10) ** -len(text.split(".")[1]) * mp.mpf("0.51")
            assert abs(derived[row][column] - mp.mpf(text)) <= slack, (row, column, text)


def test_TV15():
    """A genuine 3-clustering whose attention matrix has rank 2: spectrum at alpha = 1/10."""
    half, root = mp.mpf(1) / 2, mp.sqrt(3) / 2
    tokens = [[mp.mpf(1), mp.mpf(0)], [half, root], [half, -root]]
    M = [[-4 * mp.log(mp.cosh(mp.mpf(3) / 2)), mp.mpf(0)], [mp.mpf(0), mp.mpf(2)]]
    # weights from the definition; V is diagonal with the ratio that makes the point an equilibrium
    weights = numeric.LOOPS.attention(tokens, M, None, False)
    mean = numeric.LOOPS.average(weights, tokens)
    ratio = (root / half) * mean[1][0] / mean[1][1]
    V = [[mp.mpf(1), mp.mpf(0)], [mp.mpf(0), ratio]]
    assert abs(ratio - mp.mpf("1.30443453232016")) <= mp.mpf("0.51e-14")
    assert abs(M[0][0] - mp.mpf("-3.42176068405519")) <= mp.mpf("0.51e-14")
    found = linearize(system("attention-map"), tangent=False)
    values = {ALPHA: R(1, 10), TOKENS: 3, DIMENSION: 2}
    derived = block_matrix(found, 3, 2, values, {"V": V, "M": M}, tokens, mp.exp, mp.sqrt, numeric.number, mp.mpf(1))
    restricted = numeric.tangent_restriction(mp.matrix(derived), tokens)
    eigenvalues = sorted(mp.re(value) for value in mp.eig(restricted, left=False, right=False))
    for value, text in zip(eigenvalues, ["1.01356599439203", "1.03973843594174", "1.10444814757400"], strict=True):
        assert abs(value - mp.mpf(text)) <= mp.mpf("0.51e-14")
