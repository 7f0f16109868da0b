"""Motions that are known exactly, by sympy and Routh's table: equal tokens, mirrored tokens, manifolds of rest.

Nothing is read from a certificate: all of this is decided by the instance.

* Equal tokens of a Euclidean flow: ``x' = B x``.  With p the least polynomial with ``p(B) x = 0``, the start tends to 0 where
  all roots of p are in the open left half plane (Routh's table has one sign); it has no limit where a root is in the right
  half plane, a pair is on the axis, or 0 is a double root.
* Mirrored tokens ``x_i = s_i v`` on the line of an eigenvector, ``B v = b v``: each ``|s_i|`` falls where ``b v^T W v < 0`` and
  rises where it is positive.
* A state of tokens v and -v whose boundary multipliers are as many as the dimension of the equilibria of this form is stable;
  so are equal tokens of a map with as many at 1 and -1 as equal tokens near them come back after two layers.
* 0 is stable in a Euclidean flow where ``sum_i x_i^T P x_i``, ``P = -W B^{-1}``, falls.
* Equal tokens at an eigenvector are unstable where its eigenvalue (of two layers: its square) is defective; so is 0 where
  mirrored tokens near it rise, and an even number of tokens v, -v with equal weights, where ``F v = mu v``, ``mu > 0``, and
  ``F w = 0`` for a w beside v.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp
from mpmath import iv

from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.interval_recheck import (
    exact_count,
    interval,
    interval_jacobian,
    intrinsic_charpoly,
    is_definite,
    middle,
)
from eigentoken.theory.systems.system import Space, Time

__all__ = [
    "all_inside",
    "falls_to_zero_or_stays",
    "finds_no_rest",
    "keeps_away_from_zero",
    "rests_on_a_manifold",
    "stays_in_a_ball",
    "turns_away",
    "turns_for_ever",
    "z",
]

z = sp.Symbol("z")


def _flat(look: IndependentInstance) -> bool:
    """One head of the papers' Euclidean flow, with rational values and tokens."""
    system = look.instance.system
    plain = system.standard and not system.multihead and system.value is not None and not system.over_root_d
    if system.space is not Space.EUCLIDEAN or system.time is not Time.FLOW or not plain:
        return False
    rows = [*look.instance.parameters[str(system.value)], *look.instance.tokens]
    return all(sp.sympify(entry).is_Rational for row in rows for entry in row)


def _signs(look: IndependentInstance) -> tuple[int, int, int, bool] | None:
    """For equal tokens, not 0: roots on the right, pairs on the axis, multiplicity of the root 0, and is all of that simple?"""
    tokens = [sp.Matrix(token) for token in look.instance.tokens]
    if not _flat(look) or any(token != tokens[0] for token in tokens) or tokens[0].is_zero_matrix:
        return None
    B, powers = look.named(str(look.instance.system.value)), [tokens[0]]
    while sp.Matrix.hstack(*powers).rank() == len(powers):
        powers.append(B * powers[-1])
    relation = sp.Matrix.hstack(*powers).nullspace()[0]
    p = sp.Poly(list(relation)[::-1], z, domain="QQ").monic()
    right = pairs = zeros = 0
    simple = True
    for factor, times in p.factor_list()[1]:
        c = factor.all_coeffs()
        if factor == sp.Poly(z, z, domain="QQ"):
            zeros, simple = times, simple and times == 1
        elif len(c) == 3 and c[1] == 0 and c[2] > 0:
            pairs, simple = pairs + 1, simple and times == 1
        else:
            found = _routh(c)
            if found is None:
                return None
            right += found
    return right, pairs, zeros, simple


def _routh(coefficients: list[Any]) -> int | None:
    """The number of roots in the right half plane; ``None`` where a zero in the first column leaves it open."""
    top, below = list(coefficients[0::2]), list(coefficients[1::2])
    column = [top[0]]
    while below:
        if below[0] == 0:
            return None
        column.append(below[0])
        further = [
            (below[0] * a - top[0] * b) / below[0] for a, b in zip(top[1:], [*below[1:], *[0] * len(top)], strict=False)
        ]
        top, below = below, further
    return sum(1 for a, b in pairwise(column) if a * b < 0)


def _mirrored(look: IndependentInstance) -> int | None:
    """The sign of ``b v^T W v`` for mirrored tokens on the line of an eigenvector v of B; ``None`` where they are not such."""
    system = look.instance.system
    if not _flat(look) or look.instance.mask is not None or system.rotary is not None or system.score is None:
        return None
    tokens = [sp.Matrix(token) for token in look.instance.tokens]
    v = next((token for token in tokens if not token.is_zero_matrix), None)
    if v is None or sp.Matrix.hstack(*tokens).rank() != 1:
        return None
    heights = [(token.T * v)[0, 0] for token in tokens]
    if sorted(heights) != sorted(-height for height in heights):
        return None
    return _pair_sign(look, v)


def _pair_sign(look: IndependentInstance, v: sp.Matrix) -> int | None:
    B, W = look.named(str(look.instance.system.value)), look.named(str(look.instance.system.score))
    image = B * v
    b = (v.T * image)[0, 0] / (v.T * v)[0, 0]
    if image != b * v:
        return None
    product = b * (v.T * W * v)[0, 0]
    return int(sp.sign(product)) if product.is_Rational else None


def stays_in_a_ball(look: IndependentInstance) -> bool:
    """Does the trajectory from this start stay bounded, for a reason that is known exactly?"""
    found = _signs(look)
    if found is not None:
        return found[0] == 0 and found[3]
    return _mirrored(look) in (-1, 0)


def keeps_away_from_zero(look: IndependentInstance) -> bool:
    """Does it not tend to 0?"""
    found = _signs(look)
    return found[:3] != (0, 0, 0) if found is not None else _mirrored(look) in (0, 1)


def finds_no_rest(look: IndependentInstance) -> bool:
    """Has it no limit?"""
    if look.instance.system.space is Space.SPHERE:
        return turns_for_ever(look)
    found = _signs(look)
    return found[0] > 0 or found[1] > 0 or found[2] > 1 if found is not None else _mirrored(look) == 1


def turns_for_ever(look: IndependentInstance) -> bool:
    """Equal tokens on the sphere: has the value matrix no eigenvector in the span of its powers at the start?"""
    system, values = look.instance.system, _values(look)
    tokens = [sp.Matrix(token) for token in look.instance.tokens]
    if system.space is not Space.SPHERE or not system.standard or system.rotary is not None or values is None:
        return False
    if any(token != tokens[0] for token in tokens) or not all(entry.is_Rational for entry in tokens[0]):
        return False
    F, span = sum(values, sp.zeros(look.instance.d)), [tokens[0]]
    while sp.Matrix.hstack(*span, F * span[-1]).rank() > len(span):
        span.append(F * span[-1])
    basis = sp.Matrix.hstack(*span)
    inner = (basis.T * basis).inv() * basis.T * F * basis
    return not sp.Poly(inner.charpoly(z).as_expr(), z, domain="QQ").real_roots()


def turns_and_attracts(look: IndependentInstance) -> bool:
    """Equal tokens on the circle that turn for ever and attract: eigenvalues not real, and growing (flow) or expanding (map)."""
    system, values = look.instance.system, _values(look)
    if look.instance.d != 2 or system.over_root_d or look.instance.mask is not None or system.mask != "full":
        return False
    if values is None or not turns_for_ever(look):
        return False
    F = sum(values, sp.zeros(2))
    if system.time is Time.MAP:
        step = sp.sympify(look.instance.parameters["alpha"])
        # both eigenvalues of I + alpha F have the same modulus, whose square is the determinant
        return bool(step.is_Rational and (sp.eye(2) + step * F).det() > 1)
    return bool(F.trace() > 0)


def _values(look: IndependentInstance) -> list[sp.Matrix] | None:
    """The value matrix of each head (the identity where there is none), where they are rational."""
    system, parameters = look.instance.system, look.instance.parameters
    found = []
    for head in parameters["heads"] if system.multihead else (parameters,):
        given = None if system.value is None else head.get(system.value)
        found.append(sp.eye(look.instance.d) if given is None else sp.Matrix(given))
    return found if all(entry.is_Rational for matrix in found for entry in matrix) else None


def turns_away(look: IndependentInstance) -> bool:
    """Is the state unstable by motions near it that are known exactly?"""
    system, values = look.instance.system, _values(look)
    tokens = [sp.Matrix(token) for token in look.instance.tokens]
    if not system.standard or values is None:
        return False
    v, F = tokens[0], sum(values, sp.zeros(look.instance.d))
    if any(token != v for token in tokens):
        return _one_token_leaves(look, tokens, F)
    if not all(entry.is_Rational for entry in v):
        return False
    if system.space is Space.EUCLIDEAN:
        if system.time is not Time.FLOW or not v.is_zero_matrix:
            return False
        return (F * F).rank() < F.rank() or _some_pair_rises(look)
    mu = (v.T * F * v)[0, 0] / (v.T * v)[0, 0]
    if F * v != mu * v:
        return False
    if system.time is Time.MAP and not 1 + sp.sympify(look.instance.parameters["alpha"]) * mu > 0:
        return False
    one, N = sp.eye(look.instance.d), F - mu * sp.eye(look.instance.d)
    if system.time is Time.MAP:  # two layers
        alpha = sp.sympify(look.instance.parameters["alpha"])
        N = (one + alpha * F) ** 2 - (1 + alpha * mu) ** 2 * one
    return bool((N * N).rank() < N.rank())


def _one_token_leaves(look: IndependentInstance, tokens: list[sp.Matrix], F: sp.Matrix) -> bool:
    """Tokens v and -v with sum 0, equal weights, ``F v = mu v`` with ``mu > 0``: is there a w beside v with ``F w = 0``?"""
    system, v = look.instance.system, tokens[0]
    if system.space is not Space.SPHERE or system.rotary is not None or look.instance.mask is not None:
        return False
    if any(token not in (v, -v) for token in tokens) or not sum(tokens, sp.zeros(*v.shape)).is_zero_matrix:
        return False
    heads = look.instance.parameters["heads"] if system.multihead else (look.instance.parameters,)
    if system.score and any(entry != 0 for head in heads for row in head[system.score] for entry in row):
        return False
    mu = (v.T * F * v)[0, 0]
    if not all(entry.is_Rational for entry in v) or F * v != mu * v or not mu > 0:
        return False
    return bool(sp.Matrix.vstack(F, v.T).nullspace())


def _some_pair_rises(look: IndependentInstance) -> bool:
    """On the line of a rational eigenvector of B: is ``b v^T W v > 0`` for some v of an eigenspace?"""
    system = look.instance.system
    plain = _flat(look) and look.instance.mask is None and system.rotary is None and system.score is not None
    if not plain or look.instance.n < 2:
        return False
    B, W = look.named(str(system.value)), look.named(str(system.score))
    if not all(entry.is_Rational for entry in W):
        return False
    for b in sp.Poly(B.charpoly(z).as_expr(), z, domain="QQ").ground_roots():
        basis = sp.Matrix.hstack(*(B - b * sp.eye(B.rows)).nullspace())
        form = b * basis.T * (W + W.T) * basis
        if not (-form).is_positive_semidefinite:
            return True
    return False


def rests_on_a_manifold(look: IndependentInstance) -> bool:
    """A manifold of rest of dimension m, with m multipliers on the boundary and all others inside.

    Tokens v and -v on common eigenspaces, or states whose pushes vanish, with weights that do not depend on the state.
    """
    system, values = look.instance.system, _values(look)
    tokens = [sp.Matrix(token) for token in look.instance.tokens]
    if system.space is Space.ELLIPSOID or not system.standard or system.rotary is not None or values is None:
        return False
    if look.at_rest() is not True:
        return False
    if system.time is Time.MAP and _comes_back(look, tokens, values):
        return True
    dimension = max(_rotated_rest(look, tokens, values), _rest_with_equal_weights(look, tokens, values))
    polynomial = intrinsic_charpoly(look.instance) if dimension >= 0 else None
    if dimension < 0 or polynomial is None:
        return dimension >= 0 and _counted(look, dimension)
    limit, rest, times = int(system.time is Time.MAP), polynomial, 0
    while rest.degree() > 0 and rest.eval(limit) == 0:
        rest, times = rest.quo(sp.Poly(rest.gen - limit, rest.gen)), times + 1
    return bool(times == dimension and all_inside(rest, system.time))


def _comes_back(look: IndependentInstance, tokens: list[sp.Matrix], values: list[sp.Matrix]) -> bool:
    """Equal tokens v, ``(I + alpha F) v = rho v``, ``rho > 0``: the square of f fixes as many near them as it must.

    Those along an eigenvector w of ``(I + alpha F)^2`` at ``rho^2``; f has one multiplier at 1 or -1 for each, the others inside.
    """
    alpha, v, polynomial = sp.sympify(look.instance.parameters["alpha"]), tokens[0], intrinsic_charpoly(look.instance)
    flat = look.instance.system.space is not Space.SPHERE
    if flat or polynomial is None or any(token != v for token in tokens) or not alpha.is_Rational:
        return False
    layer = sp.eye(look.instance.d) + alpha * sum(values, sp.zeros(look.instance.d))
    rho = (v.T * layer * v)[0, 0] / (v.T * v)[0, 0]
    if layer * v != rho * v or not rho.is_Rational or not rho > 0:
        return False
    fixed = len((layer**2 - rho**2 * sp.eye(look.instance.d)).nullspace()) - 1
    rest, times = polynomial, 0
    for root in (1, -1):
        while rest.degree() > 0 and rest.eval(root) == 0:
            rest, times = rest.quo(sp.Poly(rest.gen - root, rest.gen)), times + 1
    return bool(times == fixed and all_inside(rest, Time.MAP))


def _rotated_rest(look: IndependentInstance, tokens: list[sp.Matrix], values: list[sp.Matrix]) -> int:
    """The dimension of the equilibria of tokens v and -v on common eigenspaces; -1 where the state is none."""
    v = tokens[0]
    if look.instance.system.space is not Space.SPHERE or any(token not in (v, -v) for token in tokens):
        return -1
    around: list[sp.Matrix] = []
    for F in () if _pairs_rest(look, tokens) else values:
        mu = (v.T * F * v)[0, 0]
        if F * v != mu * v:
            return -1
        around.append(F - mu * sp.eye(look.instance.d))
    return look.instance.d - 1 - (int(sp.Matrix.vstack(*around).rank()) if around else 0)


def _rest_with_equal_weights(look: IndependentInstance, tokens: list[sp.Matrix], values: list[sp.Matrix]) -> int:
    """The dimension of the states on which all pushes vanish, with weights that do not depend on the state; -1 where unknown."""
    system, n, d = look.instance.system, look.instance.n, look.instance.d
    heads = look.instance.parameters["heads"] if system.multihead else (look.instance.parameters,)
    scores = [sp.Matrix(head[system.score]) for head in heads] if system.score else []
    if any(not M.is_zero_matrix for M in scores):
        return -1
    F, mask = sum(values, sp.zeros(d)), look.instance.mask
    rows = [[1 if mask is None or mask[i][j] else 0 for j in range(n)] for i in range(n)]
    weights = sp.Matrix([[sp.Rational(entry, sum(row)) for entry in row] for row in rows])
    push = sp.kronecker_product(weights, F)
    if any(sp.simplify(entry) != 0 for entry in push * sp.Matrix.vstack(*tokens)):
        return -1
    flat = system.space is Space.EUCLIDEAN
    if not flat and any(not e.is_Rational for token in tokens for e in token):
        return n * (d - 1) - push.rank() if _full_rank_on_tangents(push, tokens) else -1
    tangent = sp.eye(n * d) if flat else sp.diag(*[sp.Matrix.hstack(*token.T.nullspace()) for token in tokens])
    seen = (push * tangent).rank()
    return int(tangent.cols - seen) if seen == push.rank() else -1


def _full_rank_on_tangents(push: sp.Matrix, tokens: list[sp.Matrix]) -> bool:
    """Independent rows of the pushes stay so on the tangent spaces: their Gram matrix there is definite, in intervals."""
    x = [[interval(entry) for entry in token] for token in tokens]
    made = []
    for i in push.T.rref()[1]:
        parts = [[interval(entry) for entry in push.row(i)[j * len(t) : (j + 1) * len(t)]] for j, t in enumerate(x)]
        heights = [
            sum((a * b for a, b in zip(part, t, strict=True)), iv.mpf(0)) for part, t in zip(parts, x, strict=True)
        ]
        made.append(
            [a - h * b for part, t, h in zip(parts, x, heights, strict=True) for a, b in zip(part, t, strict=True)]
        )
    return is_definite([[sum((a * b for a, b in zip(p, q, strict=True)), iv.mpf(0)) for q in made] for p in made])


def _pairs_rest(look: IndependentInstance, tokens: list[sp.Matrix]) -> bool:
    """The first half at w and the second at -w, full attention, skew scores or none: so is every rotated state."""
    system, half = look.instance.system, len(tokens) // 2
    if len(tokens) % 2 or look.instance.mask is not None:
        return False
    if any(token != (tokens[0] if i < half else -tokens[0]) for i, token in enumerate(tokens)):
        return False
    heads = look.instance.parameters["heads"] if system.multihead else (look.instance.parameters,)
    scores = [sp.Matrix(head[system.score]) for head in heads] if system.score else []
    return all(M.T == -M for M in scores)


def _counted(look: IndependentInstance, dimension: int) -> bool:
    """Right of a line left of the axis (outside a smaller circle) are as many eigenvalues as the manifold has dimensions."""
    discrete = look.instance.system.time is Time.MAP
    _, matrix = interval_jacobian(look.instance, pull=None if discrete else iv.mpf(50))
    values = np.linalg.eigvals(np.array([[middle(entry) for entry in row] for row in matrix]))
    parts = np.abs(values) - 1 if discrete else values.real
    below = [float(each) for each in parts if each < -1e-6]
    shift = max(below, default=0.0) / 2 + int(discrete)
    return bool(below) and exact_count(matrix, shift, look.instance.system.time) == dimension


def falls_to_zero_or_stays(look: IndependentInstance) -> bool:
    """At 0 of a Euclidean flow: ``P = -W B^{-1}`` is symmetric positive definite, and sym W positive semidefinite."""
    system = look.instance.system
    if not _flat(look) or look.instance.mask is not None or system.rotary is not None or system.score is None:
        return False
    B, W = look.named(str(system.value)), look.named(str(system.score))
    if any(entry != 0 for token in look.instance.tokens for entry in token) or not all(e.is_Rational for e in W):
        return False
    if B.det() == 0:
        return False
    P = -W * B.inv()
    return bool(P.T == P and P.is_positive_definite and (W + W.T).is_positive_semidefinite)


def all_inside(polynomial: sp.Poly, time: Time) -> bool:
    """All roots in the open left half plane, or the open disc (``z = (1 + y)/(1 - y)`` takes one to the other)."""
    y, degree, c = sp.Symbol("y"), polynomial.degree(), polynomial.all_coeffs()
    if degree == 0:
        return True
    if time is Time.MAP:
        moved = sum(each * (1 + y) ** (degree - i) * (1 - y) ** i for i, each in enumerate(c))
        polynomial = sp.Poly(sp.expand(moved), y)
        if polynomial.degree() < degree:  # a root at -1
            return False
    return all(_routh(factor.all_coeffs()) == 0 for factor, _ in polynomial.factor_list()[1] if factor.degree() > 0)
