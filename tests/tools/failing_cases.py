"""Cases of instances that fail without a condition, for the searches of :mod:`.known_failures`.

As in :mod:`eigentoken.proofs.properties.first_failures`: exact numbers, drawn at random, certified.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import sympy as sp

from eigentoken.proofs.properties.exact_points import agree, image, instance, point_is
from eigentoken.proofs.properties.first_failures import _diagonal, _side_that_expands, _texts, small, unit_vector
from eigentoken.proofs.properties.matrices import _matrix, _radial_direction, _shown, _vector
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import sign

__all__ = [
    "degenerate_step",
    "edit_that_moves_eigenvectors",
    "heights_that_flip",
    "last_eigenvalue_repeated",
    "mean_that_moves",
    "negative_scores_decay",
    "negative_values_leave",
    "rotary_with_negative_c",
    "side_that_expands_in_the_flow",
    "split_that_flips",
    "stable_polygon",
    "steering_across",
    "steering_by_a_root",
    "steering_by_a_short_w",
]


def degenerate_step(source: Random) -> Verdict:
    """PM-DOM with ``alpha |V| >= 1``: consensus with ``1 + alpha lambda_k = 0``, a split with ``alpha |lambda_k delta| = 1``."""
    from eigentoken.theory.systems.algebra import LoopAlgebra
    from eigentoken.theory.systems.catalogue import system

    low, other = -abs(small(source)), small(source)
    p, q = source.choice(((1, 0), (2, 1), (3, 1), (1, 3)))
    alpha = abs(Fraction(p + q, p - q) / low)
    tokens = [(0, 1)] * p + [(0, -1)] * q
    algebra = LoopAlgebra(lambda each: each, lambda each: each, Fraction(1))
    raw = system("oja-map").raw_step(algebra, {"V": ((other, 0), (0, low)), "alpha": alpha}, tuple(tokens))
    if (0, 0) in [tuple(row) for row in raw] and alpha * max(abs(other), -low) >= 1:
        return holds(f"V = diag({other}, {low}), alpha = {alpha}, {p} tokens at e_2 and {q} at -e_2: some y_i = 0")
    return fails(f"y = {raw}")


def stable_polygon(source: Random) -> Verdict:
    """PM-L15, CT-7 with scores that enter: (w, -w), ``w^T M w = 0``, and the point is asymptotically stable."""
    value = [[small(source), small(source)], [Fraction(0), small(source)]]
    value[1][0] = value[0][1]
    if value[0][0] <= 0 or value[0][0] * value[1][1] <= value[0][1] ** 2:
        return fails("V is not positive definite")
    score = [[Fraction(0), small(source)], [small(source), small(source)]]
    document = instance("attention-map", _texts((1, 0), (-1, 0)), V=_texts(*value), M=_texts(*score), alpha="1/20")
    return point_is(document, "polygonal", stable="stable")


def side_that_expands_in_the_flow(source: Random) -> Verdict:
    """CT-6 with q >= 2 and 0 < s < t: the flow expands along the second side, the block is inside."""

    def flow(document: dict[str, Any]) -> dict[str, Any]:
        return {name: each for name, each in document.items() if name != "alpha"} | {"system": "attention-flow"}

    return _side_that_expands(source, flow)


def split_that_flips(source: Random) -> Verdict:
    """PM-L5 with ``alpha |lambda_k delta| > 1``: one group changes sides, the state is no fixed point."""
    value, alpha = (small(source), small(source)), abs(small(source))
    p, q = source.choice(((2, 1), (1, 2), (3, 1)))
    height = value[0] * Fraction(p - q, p + q)
    if alpha * abs(height) <= 1:
        return fails("fixed")
    signs = [1 if 1 + alpha * height > 0 else -1] * p + [-1 if 1 - alpha * height > 0 else 1] * q
    document = instance("oja-map", _texts(*[(1, 0)] * p, *[(-1, 0)] * q), V=_diagonal(*value), alpha=str(alpha))
    if agree(image(document), [entry for sign in signs for entry in (sign, 0)]).is_holds and len(set(signs)) == 1:
        return holds(f"V = diag({value[0]}, {value[1]}), p = {p}, q = {q}, alpha = {alpha}: consensus after one step")
    return fails("it stays")


def heights_that_flip(source: Random) -> Verdict:
    """PM-L14 with ``alpha |V| >= 1`` and m_i < 0: the bipartite point is sent to its negative, no spectrum of it exists."""
    low, alpha, ratio = -abs(small(source)), abs(small(source)), source.randint(2, 9)
    if 1 + alpha * low * Fraction(ratio - 1, ratio + 1) >= 0:
        return fails("m_i >= 0")
    score = [["0", "0"], ["0", f"1/2*ln({ratio})"]]
    document = instance("attention-map", _texts((0, 1), (0, -1)), V=_diagonal(1, low), M=score, alpha=str(alpha))
    if agree(image(document), ("0", "-1", "0", "1")).is_holds:
        return holds(f"V = diag(1, {low}), e^(2s) = {ratio}, alpha = {alpha}: (e_2, -e_2) is sent to its negative")
    return fails("it stays")


def last_eigenvalue_repeated(source: Random) -> Verdict:
    """PM-N3 on v_d with lambda_d repeated, all else as required: a multiplier is 1."""
    ratio = Fraction(1, source.randint(3, 9))
    height = (ratio - 1) / (ratio + 1)
    low = -Fraction(source.randint(11, 40), 10)
    if -low * -height <= 1:
        return fails("lambda_1 is too large")
    document = instance(
        "attention-map",
        _texts((0, 0, 1), (0, 0, -1)),
        V=_diagonal(1, low, low),
        M=[["0", "0", "0"], ["0", "0", "0"], ["0", "0", f"1/2*ln({ratio})"]],
        alpha=str(Fraction(9, 10) / -low),
    )
    return point_is(document, "bipartite", stable="marginal")


def steering_across(source: Random) -> Verdict:
    """PM-S1 with ``z^T w = 0``: no eigenvalue of modulus mu/2, although ``mu >= 20 |F||z|``."""
    from eigentoken.proofs.properties.steering_checks import no_gap

    f = _matrix(source, 2)
    w = unit_vector(source)
    z = (-w[1], w[0])
    size = sum(int(entry) ** 2 for entry in f)
    document = {
        "F": [[str(entry) for entry in f.row(i)] for i in range(2)],
        "w": [str(entry) for entry in w],
        "z": [str(entry) for entry in z],
        "mu": str(20 * (size + 1)),
    }
    return no_gap(document)


def steering_by_a_root(source: Random) -> Verdict:
    """PM-S1 with ``z^T w = 0`` and ``z^T F w > 0``: the top eigenvalue exceeds sqrt(mu z^T F w)/2, at a large mu."""
    f = _matrix(source, 2)
    slope = f[1, 0]
    if slope <= 0:
        return fails("not an instance")
    mu = sp.Integer(10) ** source.randint(3, 6)
    edited = f + mu * sp.Matrix([[0, 1], [0, 0]])
    top = max(edited.eigenvals(), key=lambda each: float(sp.re(each)))
    if top.is_real and top > sp.sqrt(mu * slope) / 2:
        return holds(f"F = {_shown(f)}, mu = {mu}: top eigenvalue {top}")
    return fails("no gap")


def edit_that_moves_eigenvectors(source: Random) -> Verdict:
    """PM-S2 with ``F w = lambda_k w``, z no left eigenvector: another right eigenvector is moved."""
    f, z, mu = sp.Matrix([[1, source.randint(1, 5)], [0, 2]]), _vector(source, 2), sp.Integer(source.randint(1, 5))
    w, other = sp.Matrix([1, 0]), sp.Matrix([f[0, 1], 1])
    if (z.T * w)[0] != 1 or (z.T * other)[0] == 0:
        return fails("not an instance")
    moved = (f + mu * w * z.T) * other
    kept = moved[0] * other[1] - moved[1] * other[0] == 0
    return fails("kept") if kept else holds(f"F = {_shown(f)}, z = {_shown(z)}, mu = {mu}: sent to {_shown(moved)}")


def steering_by_a_short_w(source: Random) -> Verdict:
    """PM-S3 with ``|w| < 1``, u = 0, x across w, alpha = kappa = 1: the step x + mu w is further from w than the bound."""
    mu, length = sp.Integer(source.randint(2, 9)), sp.Rational(1, source.randint(2, 20))
    direction = sp.Matrix([sp.Rational(each) for each in unit_vector(source)])
    across, w = sp.Matrix([-direction[1], direction[0]]), length * direction
    after = across + mu * w
    tangent, bound = abs((after.T * across)[0]) / abs((after.T * direction)[0]), 1 / (mu - 1)
    return holds(f"mu = {mu}, |w| = {length}: {tangent} > {bound}") if tangent > bound else fails("within the bound")


def mean_that_moves(source: Random) -> Verdict:
    """PH-T2 with three tokens: a mean that is zero moves, for W > 0 and B < 0 on the line."""
    one, other = (sp.Rational(small(source)) for _ in range(2))
    weight, value = (sp.Integer(source.randint(1, 3)) for _ in range(2))
    tokens = ((one,), (other,), (-one - other,))
    speed = sum(row[0] for row in velocity("token-flow", {"B": ((-value,),), "W": ((weight,),)}, tokens))
    if sign(speed) in (1, -1):
        return holds(f"W = {weight}, B = {-value}, tokens {tokens}: the mean is 0 and its velocity is not")
    return fails("the mean stays")


def negative_scores_decay(source: Random) -> Verdict:
    """PH-T3(c) with kappa < 0: A > 0, W = AB < 0 on the line; consensus states decay, above ln L/kappa as all are."""
    value, form, token = (sp.Integer(source.randint(1, 4)) for _ in range(3))
    speed = velocity("token-flow", {"B": ((-value,),), "W": ((-form * value,),)}, ((token,), (token,)))
    if all(row[0] == -value * token for row in speed):
        return holds(
            f"A = {form}, B = {-value}: kappa = {-value} < 0, and the consensus at {token} has velocity {speed[0][0]}"
        )
    return fails("it does not decay")


def negative_values_leave(source: Random) -> Verdict:
    """PH-T4 with lambda < 0: at heights (0, y, ...), all others positive, the first one becomes negative."""
    value, weight = sp.Integer(source.randint(1, 4)), sp.Rational(small(source))
    tokens = ((sp.Integer(0),), *((sp.Integer(source.randint(1, 5)),) for _ in range(source.randint(1, 3))))
    speed = velocity("token-flow", {"B": ((-value,),), "W": ((weight,),)}, tokens)[0][0]
    if sign(speed) == -1:
        return holds(f"B = {-value}, W = {weight}, tokens {tokens}: the height 0 falls with {speed}")
    return fails("it does not fall")


def rotary_with_negative_c(source: Random) -> Verdict:
    """PH-T7(c) with ``c < -1``: the radius grows, although c > 1 fails."""
    c, stretch, radius, direction = _radial_direction(source, (2, 6), (1, 12))
    if c < -1 and direction == 1:
        return holds(f"a = {stretch}, c = {c} < -1, r = {radius}: the radius grows")
    return fails("c >= -1")
