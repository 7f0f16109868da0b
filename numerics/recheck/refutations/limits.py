"""Attracting sets elsewhere, by the second arithmetic: contraction regions, exact starts, manifolds, growing consensus."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp
from mpmath import iv

from eigentoken.numerics.recheck.refutations.escapes import escapes
from eigentoken.numerics.recheck.refutations.exact_motions import (
    finds_no_rest,
    keeps_away_from_zero,
    rests_on_a_manifold,
    stays_in_a_ball,
    turns_and_attracts,
    turns_for_ever,
)
from eigentoken.numerics.recheck.refutations.flows import arc_is_opposed, second_end
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.interval_recheck import (
    EXACT,
    counts_outside,
    interval,
    interval_jacobian,
    intrinsic_charpoly,
    is_definite,
)
from eigentoken.numerics.recheck.refutations.outward import all_go_out
from eigentoken.numerics.recheck.refutations.place_truths import NOT_AT
from eigentoken.numerics.recheck.refutations.region_truths import inside, outside
from eigentoken.numerics.recheck.refutations.regions import contracts, far, fraction, holds_start, total
from eigentoken.numerics.recheck.refutations.tubes import tube_returns
from eigentoken.theory.language import claims
from eigentoken.theory.language import places as points
from eigentoken.theory.language.regions import StateRegion
from eigentoken.theory.systems.system import Space, Time

__all__ = ["left_region", "limit_truth", "stays_bounded"]


def limit_truth(look: IndependentInstance, word: Any, data: Mapping[str, Any]) -> bool | None:
    """``False`` where the attracting set elsewhere is confirmed; a limit claim is never confirmed."""
    kind, inner = data.get("kind", ""), data.get("data", {})
    if look.instance.system.rotary is not None and kind not in {"limit/exact-start", "limit/growing-consensus"}:
        return None
    if kind == "limit/contraction":
        held = holds_start(look, inner) and contracts(look, inner)
        return False if held and far(look, word.place, inner) else None
    if kind == "limit/moving-frame":
        held = holds_start(look, inner) and contracts(look, inner, framed=True)
        return False if held and far(look, word.place, inner, framed=True) else None
    if kind == "limit/periodic-tube":
        return False if tube_returns(look, word.place, inner) else None
    if kind == "limit/exact-start":
        stays = look.at_rest() or (isinstance(word, claims.Converges) and look.two_cycle())
        return False if stays and NOT_AT(word.place, look) else None
    if kind == "limit/stable-cycle":
        return False if _turns_stably(look) and NOT_AT(word.place, look) else None
    if kind == "limit/attracting-manifold":
        attracts = rests_on_a_manifold(look) or _manifold(look)
        return False if attracts and NOT_AT(word.place, look) else None
    if kind == "limit/captured-start":
        framed = "turns" in inner
        held = contracts(look, inner, framed=framed) and far(look, word.place, inner, framed=framed)
        return False if held and _caught(look, inner) else None
    if kind == "limit/bracketed-start":
        return False if _bracketed(look, word, inner) else None
    if kind == "limit/known-orbit" and isinstance(word, claims.Converges):
        away = {
            points.Zero: keeps_away_from_zero,
            points.SomeEquilibrium: finds_no_rest,
            points.ConsensusAt: turns_for_ever,
        }.get(type(word.place))
        return False if away is not None and away(look) else None
    if kind == "limit/turning-consensus" and isinstance(word.place, points.SomeEquilibrium | points.ConsensusAt):
        return False if turns_and_attracts(look) else None
    if kind == "limit/growing-consensus":
        return False if _grows(look) else None
    if kind == "limit/escape" and isinstance(word.place, points.Zero | points.SomeEquilibrium):
        open_set = isinstance(word, claims.AlmostEveryConverges)
        return False if escapes(look, inner, open_set=open_set) else None
    if kind == "limit/outward" and isinstance(word.place, points.Zero | points.SomeEquilibrium):
        return False if all_go_out(look, inner) else None
    return None


def stays_bounded(look: IndependentInstance, every: bool) -> bool | None:
    """``False`` (no divergence) at an equilibrium, for equal tokens that decay, or (``every``) with a token that stays at 0."""
    if look.at_rest() or stays_in_a_ball(look) or _consensus(look, -1):
        return False
    tokens = sorted(look.instance.tokens, key=str)
    mirrored = sorted((tuple(-entry for entry in token) for token in tokens), key=str)
    zero = any(all(entry == 0 for entry in token) for token in tokens)
    alike = look.instance.mask is None and look.instance.system.rotary is None
    return False if every and zero and alike and tokens == mirrored else None


def left_region(look: IndependentInstance, word: Any, data: Mapping[str, Any]) -> bool | None:
    """``False`` where a token that started on one side of the hyperplane of the region is seen on the other."""
    if isinstance(word.region, StateRegion):
        return _left_inequalities(look, word.region, data.get("data", {}))
    if not isinstance(word.region, points.Hemisphere):
        return None
    inner = data.get("data", {})
    vector: Any
    if word.region.normal is None:  # every hemisphere is meant: the certificate names the one that is left
        vector = [sp.Rational(str(entry)) for entry in inner["normal"]]
        if len(vector) != look.instance.d:
            return None
    else:
        value = look.matrix(word.region.normal)
        vector = look.eigenvector(value.T if word.region.left else value, 1)
    if vector is None:
        return None
    w = [interval(entry) for entry in vector]
    start = [total(a * interval(b) for a, b in zip(w, token, strict=True)) for token in look.instance.tokens]
    side = 1 if all(each.a > 0 for each in start) else -1 if all(each.b < 0 for each in start) else 0
    if side == 0:
        return None
    discrete = look.instance.system.time is Time.MAP
    end = second_end(look.instance, str(inner.get("time", 1)), int(inner.get("steps", 1)) if not discrete else 1)
    if end is None:
        return None
    d = look.instance.d
    heights = [total(a * b for a, b in zip(w, end[i * d : (i + 1) * d], strict=True)) for i in range(look.instance.n)]
    return False if any((side * each).b < 0 for each in heights) else None


def _left_inequalities(look: IndependentInstance, region: StateRegion, data: Mapping[str, Any]) -> bool | None:
    """``False`` where the exact state is in the region and the next one, or that at the time, is certainly not."""
    discrete = look.instance.system.time is Time.MAP
    end = second_end(look.instance, str(data.get("time", 1)), 1 if discrete else int(data.get("steps", 1)))
    return False if end is not None and inside(region, look) and outside(region, look, end) else None


def _caught(look: IndependentInstance, data: Mapping[str, Any]) -> bool:
    """The trajectory from the exact start, by the second arithmetic, is inside the ellipsoid of the region."""
    end = second_end(look.instance, str(data["time"]), int(data["steps"]))
    if end is None:
        return False
    shape = [[fraction(entry) for entry in row] for row in data["shape"]]
    away = [a - fraction(c) for a, c in zip(end, (c for token in data["centre"] for c in token), strict=True)]
    square = total(a * p * b for a, row in zip(away, shape, strict=True) for b, p in zip(away, row, strict=True))
    eps = fraction(data["eps"])
    return bool(square.b < (eps * eps).a)


def _bracketed(look: IndependentInstance, word: Any, data: Mapping[str, Any]) -> bool:
    if not isinstance(word, claims.Converges) or not isinstance(word.place, points.ConsensusSet):
        return False
    return arc_is_opposed(look.instance, int(data["m"]), str(data["time"]), int(data["steps"]))


def _turns_stably(look: IndependentInstance) -> bool:
    """``f(x) = -x`` exactly, and no multiplier of f at x (up to sign that of -f, which fixes x) is on or outside the circle."""
    if look.instance.system.time is not Time.MAP:
        return False
    exact, _ = interval_jacobian(look.instance, kind=EXACT)
    pairs = [(a, b) for x, y in zip(look.instance.tokens, exact, strict=True) for a, b in zip(x, y, strict=True)]
    if any(sp.simplify(a + b) != 0 for a, b in pairs):
        return False
    _, matrix = interval_jacobian(look.instance)
    return counts_outside(matrix, Time.MAP, 1.0) == 0


def _manifold(look: IndependentInstance) -> bool:
    score = look.instance.system.score
    skew = score is None or look.named(score) == -look.named(score).T
    polynomial = intrinsic_charpoly(look.instance)
    if not skew or polynomial is None or look.instance.mask is not None:
        return False
    if look.instance.n != 2 or list(look.instance.tokens[0]) != [-entry for entry in look.instance.tokens[1]]:
        return False
    limit = 1 if look.instance.system.time is Time.MAP else 0
    z = polynomial.gen
    rest, times = polynomial, 0
    while rest.degree() > 0 and rest.eval(limit) == 0:
        rest, times = rest.quo(sp.Poly(z - limit, z)), times + 1
    square_free = rest.quo(rest.gcd(rest.diff()))
    low = -1 if limit else None  # the interval of stable real roots; other roots, if there are any, are not counted
    inside = square_free.count_roots(low, limit) == square_free.degree() and (low is None or square_free.eval(low) != 0)
    return bool(times == look.instance.d - 1 and inside and look.at_rest())


def _grows(look: IndependentInstance) -> bool:
    return _consensus(look, 1)


def _consensus(look: IndependentInstance, sense: int) -> bool:
    """Equal tokens, not all zero, move by ``x' = B x``, with B in the open right (``sense`` 1) or left (-1) half plane."""
    from scipy.linalg import solve_continuous_lyapunov

    system = look.instance.system
    if system.space is not Space.EUCLIDEAN or system.multihead or len(set(look.instance.tokens)) != 1:
        return False
    if all(entry == 0 for entry in look.instance.tokens[0]):
        return False
    value = sense * look.named(str(system.value))
    floats = np.array([[float(entry) for entry in value.row(i)] for i in range(value.rows)])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an ill-conditioned proposal is refused below, not trusted
            form = solve_continuous_lyapunov(floats.T, np.eye(value.rows))
    except np.linalg.LinAlgError:
        return False
    H = [[iv.mpf(float(form[min(i, j), max(i, j)])) for j in range(value.rows)] for i in range(value.rows)]
    B = [[interval(entry) for entry in value.row(i)] for i in range(value.rows)]
    size = value.rows
    product = [[total(H[i][k] * B[k][j] for k in range(size)) for j in range(size)] for i in range(size)]
    gap = [[product[i][j] + product[j][i] for j in range(size)] for i in range(size)]
    return is_definite(H) and is_definite(gap)
