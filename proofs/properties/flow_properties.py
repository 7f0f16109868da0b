"""Property tests for statements about flows that the language has no claim for: random rational states, decided in balls.

Each test draws exact rational data, evaluates the registered system in balls (directional derivatives by truncated power
series in balls) and looks at a residual that should vanish, or a number that should have a sign.  A ball that excludes
zero is a certified violation; a residual ball that is not tiny, or a sign that balls cannot decide, stops the test as
undecided.  "holds" means that so many instances were tried and none violates: evidence, never a proof.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

from eigentoken.proofs.properties.deterministic_data import BALLS, times, transposed
from eigentoken.proofs.properties.trajectories import ball, precision
from eigentoken.theory.language.observables import apply_matrix, dot
from eigentoken.theory.language.observables_attention import solve
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.systems.algebra import LoopAlgebra, Number, causal_mask
from eigentoken.theory.systems.catalogue import system

__all__ = [
    "causal_structure",
    "conserved_height",
    "differential_of_projection",
    "encoded_is_shifted",
    "gradient_identity",
    "heights_between_extremes",
    "key_identity",
    "metric_is_positive",
    "modified_form",
    "on_the_ellipsoid",
    "order_of_factors",
    "potential_decreases",
    "potential_decreases_for",
    "rotations_grow",
    "sigma_cancels",
    "speed_is_bounded",
    "tangent_field",
    "two_token_gap",
]

Test = Callable[[int, int], Verdict]
Numbers = Callable[[random.Random], Iterable[tuple[Number, Number]]]


def _on_instances(numbers: Numbers, judge: Callable[[Any], Verdict]) -> Test:
    """A property test: the first number of which the judge does not say that it holds decides."""

    @wraps(numbers)
    def test(instances: int, seed: int) -> Verdict:
        source = random.Random(seed)
        with precision(40):
            for number in range(instances):
                for verdict in map(judge, numbers(source)):
                    if not verdict.is_holds:
                        return Verdict(verdict.answer, f"instance {number}: {verdict.reason}")
        return holds(f"{instances} random rational instances, none violates")

    return test


def _vanishes(residual: Numbers) -> Test:
    """A property test of ``residual = 0``."""

    def judge(value: Any) -> Verdict:
        if not value.contains(0):
            return fails(f"the residual is {value.str(5)}")
        return holds("zero") if value.rad() < 1e-20 else undecided(f"the residual ball is too wide, {value.str(5)}")

    return _on_instances(residual, judge)


def _positive(numbers: Numbers) -> Test:
    """A property test of ``numbers > 0``."""

    def judge(value: Any) -> Verdict:
        if value < 0:
            return fails(f"{value.str(5)} is negative")
        return holds("positive") if value > 0 else undecided(f"balls cannot decide the sign of {value.str(5)}")

    return _on_instances(numbers, judge)


# -- random data -------------------------------------------------------------------------------------------------------


def _vector(source: random.Random, d: int) -> tuple[Any, ...]:
    return tuple(ball(source.randint(-20, 20)) / 10 + ball(1) / 37 for _ in range(d))


def _matrix(source: random.Random, d: int) -> tuple[tuple[Any, ...], ...]:
    return tuple(
        tuple(ball(source.randint(-15, 15)) / 10 + (ball(1) / 7 if a == b else 0) for b in range(d)) for a in range(d)
    )


def _spd(source: random.Random, d: int) -> tuple[tuple[Any, ...], ...]:
    root = _matrix(source, d)
    product = times(root, transposed(root))
    return tuple(tuple(entry + (1 if a == b else 0) for b, entry in enumerate(row)) for a, row in enumerate(product))


def _tokens(source: random.Random, d: int, metric: Any = None, count: int | None = None) -> Any:
    many = count or source.randint(2, 4)
    tokens = tuple(_vector(source, d) for _ in range(many))
    return BALLS.normalise(tokens, metric)


def _series(x: Any, along: Any) -> Any:
    """``x + eps X`` as power series in balls."""
    from flint import arb_series

    return tuple(
        tuple(arb_series([a, b], prec=2) for a, b in zip(token, move, strict=True))
        for token, move in zip(x, along, strict=True)
    )


#: The loops over power series in balls.
SERIES = LoopAlgebra(lambda z: z.exp(), lambda z: z.sqrt(), 1)


def _potential(scalars: LoopAlgebra, score: Any, x: Any) -> Any:
    return -sum(scalars.exp(dot(a, apply_matrix(score, b))) for a in x for b in x) / 2


def _normaliser(score: Any, tokens: Any, token: Any) -> Any:
    """``Z_i = sqrt(d) sum_k e^{x_i^T P x_k}``."""
    return ball(len(score)).sqrt() * sum((dot(token, apply_matrix(score, other)).exp() for other in tokens), ball(0))


# -- ellipsoids --------------------------------------------------------------------------------------------------------


@_vanishes
def on_the_ellipsoid(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """``pi_W(x)^T W pi_W(x) = 1``."""
    d = source.choice((2, 3, 4))
    metric = _spd(source, d)
    for token in BALLS.normalise((_vector(source, d),), metric):
        yield dot(token, apply_matrix(metric, token)) - 1


@_vanishes
def differential_of_projection(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """``d/ds pi_W(x + s X)`` at 0, by power series, is ``|x|^{-1} (X - (x^T W X / |x|^2) x)``."""
    d = source.choice((2, 3, 4))
    metric = _spd(source, d)
    x, along = _vector(source, d), _vector(source, d)
    (moved,) = SERIES.normalise(_series((x,), (along,)), metric)
    square, mixed = dot(x, apply_matrix(metric, x)), dot(x, apply_matrix(metric, along))
    for a in range(d):
        yield moved[a][1] - (along[a] - mixed / square * x[a]) / square.sqrt()


@_vanishes
def tangent_field(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """The multi-head flow is tangent, and its weights sum to ``1/sqrt(d)``."""
    d = source.choice((2, 3))
    metric = _spd(source, d)
    tokens = _tokens(source, d, metric)
    heads = [{"U": _matrix(source, d), "P": _matrix(source, d)} for _ in range(source.choice((1, 2)))]
    field = system("ellipsoid-multihead-flow").advance(BALLS, {"heads": heads, "W": metric}, tokens)
    for token, speed in zip(tokens, field, strict=True):
        yield dot(token, apply_matrix(metric, speed))
    for row in BALLS.attention(tokens, heads[0]["P"], None, True):
        yield sum(row, ball(0)) - 1 / ball(d).sqrt()


@_positive
def metric_is_positive(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """``g(X, X) > 0``."""
    d = source.choice((2, 3))
    score = _spd(source, d)
    tokens = tuple(_vector(source, d) for _ in range(3))
    total = ball(0)
    for token in tokens:
        along = _vector(source, d)
        total += _normaliser(score, tokens, token) * dot(along, apply_matrix(score, along))
    yield total


@_vanishes
def gradient_identity(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """``dV(x) X = -sum_i Z_i (X_P)_i^T P X_i``, the left side by power series."""
    d = source.choice((2, 3))
    score = _spd(source, d)
    tokens = tuple(tuple(entry / 3 for entry in _vector(source, d)) for _ in range(3))
    along = tuple(_vector(source, d) for _ in range(3))
    left = _potential(SERIES, score, _series(tokens, along))[1]
    push = system("ellipsoid-flow").influence(BALLS, {"P": score}, tokens)
    right = ball(0)
    for i, token in enumerate(tokens):
        right -= _normaliser(score, tokens, token) * dot(push[i], apply_matrix(score, along[i]))
    yield left - right


@_positive
def potential_decreases(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """``-dV_P/dt > 0`` along the flow, off the equilibria, by power series."""
    d = source.choice((2, 3))
    score = _spd(source, d)
    tokens = _tokens(source, d, score)
    speed = system("ellipsoid-flow").advance(BALLS, {"P": score}, tokens)
    yield -_potential(SERIES, score, _series(tokens, speed))[1]


def potential_decreases_for(rows: Sequence[Sequence[str]]) -> Test:
    """``-dV_P/dt > 0`` from random starts of ten tokens, for the matrix P that is given in exact decimals."""

    @_positive
    def numbers(source: random.Random) -> Iterable[tuple[Number, Number]]:
        score = tuple(tuple(ball(entry) for entry in row) for row in rows)
        tokens = _tokens(source, len(score), score, count=10)
        speed = system("ellipsoid-flow").advance(BALLS, {"P": score}, tokens)
        yield -_potential(SERIES, score, _series(tokens, speed))[1]

    return numbers


@_positive
def speed_is_bounded(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """``|dy_i/dt|_W < 1/sqrt(d)`` for one head with U = I and distinct tokens."""
    d = source.choice((2, 3))
    metric = _spd(source, d)
    tokens = _tokens(source, d, metric)
    heads = [{"U": None, "P": _matrix(source, d)}]
    for speed in system("ellipsoid-multihead-flow").advance(BALLS, {"heads": heads, "W": metric}, tokens):
        yield 1 / ball(d) - dot(speed, apply_matrix(metric, speed))


@_vanishes
def sigma_cancels(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """``U^{-1} (I - U y y^T U^T) U x = x - (y^T U^T U x) y``."""
    d = source.choice((2, 3))
    value = _matrix(source, d)
    y, x = _vector(source, d), _vector(source, d)
    moved, here = apply_matrix(value, x), apply_matrix(value, y)
    inner = dot(here, moved)
    (left,) = solve(value, (tuple(a - inner * b for a, b in zip(moved, here, strict=True)),))
    for a in range(d):
        yield left[a] - (x[a] - inner * y[a])


@_vanishes
def order_of_factors(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """Columns of ``V x exp(S) D``, ``S_ji = x_j^T K^T Q x_i``, D from its column sums, are ``sum_j alpha_ij V x_j``."""
    d = source.choice((2, 3))
    scores, value = _matrix(source, d), _matrix(source, d)
    tokens = tuple(tuple(entry / 2 for entry in _vector(source, d)) for _ in range(3))
    weights = BALLS.attention(tokens, transposed(scores), None, True)
    wanted = BALLS.apply(value, BALLS.average(weights, tokens))
    for i, token in enumerate(tokens):
        column = [dot(other, apply_matrix(scores, token)).exp() for other in tokens]
        scale = ball(d).sqrt() * sum(column, ball(0))
        mixed = [
            sum((c * other[a] for c, other in zip(column, tokens, strict=True)), ball(0)) / scale for a in range(d)
        ]
        yield from (left - right for left, right in zip(apply_matrix(value, mixed), wanted[i], strict=True))


@_vanishes
def causal_structure(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """With U = I token 1 is fixed, and replacing the last token leaves the field of the others as it was."""
    d = source.choice((2, 3))
    tokens = _tokens(source, d, count=3)
    other = (*tokens[:2], *_tokens(source, d, count=1))
    given = {"U": None, "P": _matrix(source, d)}
    first, second = (system("causal-flow").advance(BALLS, given, each, causal_mask(3)) for each in (tokens, other))
    yield from first[0]
    yield from (a - b for a, b in zip(first[1], second[1], strict=True))


# -- token flow --------------------------------------------------------------------------------------------------------


@_vanishes
def key_identity(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """``X^T W B^{-1} dx_l/dt`` is the derivative of ``ln sum_i exp(x^T W x_i)`` along X, by power series."""
    d = source.choice((2, 3))
    score, value = _matrix(source, d), _spd(source, d)
    tokens = tuple(tuple(entry / 2 for entry in _vector(source, d)) for _ in range(3))
    along = _vector(source, d)
    speed = system("token-flow").advance(BALLS, {"B": value, "W": score}, tokens)[0]
    (solved,) = solve(value, (speed,))
    (moved,) = _series(tokens[:1], (along,))
    total = sum(SERIES.exp(dot(moved, apply_matrix(score, other))) for other in tokens)
    yield dot(along, apply_matrix(score, solved)) - total.log()[1]


@_vanishes
def two_token_gap(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """``d(x_1 - x_2)/dt = (p_11 - p_21) B (x_1 - x_2)``."""
    d = source.choice((2, 3))
    score, value = _matrix(source, d), _matrix(source, d)
    tokens = tuple(_vector(source, d) for _ in range(2))
    speed = system("token-flow").advance(BALLS, {"B": value, "W": score}, tokens)
    weights = BALLS.attention(tokens, score, None, False)
    gap = apply_matrix(value, tuple(a - b for a, b in zip(*tokens, strict=True)))
    for a in range(d):
        yield speed[0][a] - speed[1][a] - (weights[0][0] - weights[1][0]) * gap[a]


@_positive
def rotations_grow(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """``A = -R(-phi)``, ``W = R(phi)`` with ``2 phi`` obtuse: sym A < 0, sym W > 0, and consensus states grow."""
    t = ball(source.randint(42, 99)) / 100  # tan(phi/2) in (0.42, 1): phi between 45.6 and 90 degrees
    cosine, sine = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    form = ((-cosine, -sine), (sine, -cosine))
    score = ((cosine, -sine), (sine, cosine))
    columns = solve(form, transposed(score))
    x = _vector(source, 2)
    speed = system("token-flow").advance(BALLS, {"B": transposed(columns), "W": score}, (x, x))[0]
    yield -dot(x, apply_matrix(form, x))
    yield dot(x, apply_matrix(score, x))
    yield dot(x, speed)


@_vanishes
def conserved_height(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """``u^T dx_l/dt = 0`` for a matrix B with ``u^T B = 0``."""
    d = source.choice((2, 3))
    raw, score, u = _matrix(source, d), _matrix(source, d), _vector(source, d)
    square = dot(u, u)
    columns = [
        tuple(entry - dot(u, column) / square * each for entry, each in zip(column, u, strict=True))
        for column in transposed(raw)
    ]
    tokens = tuple(_vector(source, d) for _ in range(3))
    for speed in system("token-flow").advance(BALLS, {"B": transposed(columns), "W": score}, tokens):
        yield dot(u, speed)


@_vanishes
def encoded_is_shifted(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """The velocity with positions p equals the plain velocity at x + p."""
    d = source.choice((2, 3))
    score, value = _matrix(source, d), _matrix(source, d)
    tokens, positions = (tuple(_vector(source, d) for _ in range(3)) for _ in range(2))
    encoded = system("token-flow").advance(BALLS, {"B": value, "W": score, "positions": positions}, tokens)
    plain = system("token-flow").advance(BALLS, {"B": value, "W": score}, BALLS.add(tokens, positions))
    for first, second in zip(encoded, plain, strict=True):
        yield from (a - b for a, b in zip(first, second, strict=True))


@_positive
def heights_between_extremes(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """With any pair scores, ``lambda min h < dh_l/dt < lambda max h`` for ``u^T B = lambda u^T`` (distinct heights)."""
    d = source.choice((2, 3))
    eigenvalue = ball(source.randint(1, 9)) / 4
    table = {(l, i): _matrix(source, d) for l in range(3) for i in range(3)}
    raw = _matrix(source, d)
    value = ((eigenvalue, *(ball(0),) * (d - 1)), *raw[1:])  # the first row is lambda e_1: u = e_1
    tokens = tuple((ball(1 + 2 * l) / 3, *_vector(source, d)[1:]) for l in range(3))
    field = system("token-flow").advance(
        BALLS, {"B": value, "W": None, "pair_score": lambda l, i: table[(l, i)]}, tokens
    )
    heights = [token[0] for token in tokens]
    for speed in field:
        yield speed[0] - eigenvalue * heights[0]
        yield eigenvalue * heights[-1] - speed[0]


@_vanishes
def modified_form(source: random.Random) -> Iterable[tuple[Number, Number]]:
    """``z^T (W + lambda I) B^{-1} z = z^T W B^{-1} z + lambda z^T B^{-1} z``."""
    d = source.choice((2, 3))
    score, value, z = _matrix(source, d), _spd(source, d), _vector(source, d)
    shift = ball(source.randint(-20, 20)) / 7
    shifted = tuple(
        tuple(entry + (shift if a == b else 0) for b, entry in enumerate(row)) for a, row in enumerate(score)
    )
    (solved,) = solve(value, (z,))
    yield dot(z, apply_matrix(shifted, solved)) - dot(z, apply_matrix(score, solved)) - shift * dot(z, solved)
