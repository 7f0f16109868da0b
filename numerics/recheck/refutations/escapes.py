"""Escape to infinity by the second arithmetic: the conditions on the cone in Fractions, the one exponential in intervals.

On a space of states ``x = E z`` that the flow ``x_i' = B sum_j a_ij x_j`` keeps, with ``(L x)_i = B x_{s(i)}`` and ``N = E^T E``:

    ``H L + L^T H - 2 growth H - gain N``,  ``size N - H``,  ``size N + H``  and, for every i and j != s(i) that i sees,
    ``sym(E_i^T W (E_{s(i)} - E_j)) - gap N - multiplier H``

are positive definite, ``H(z) = h > 0`` at the start, and ``gain^2 exp(2 gap h/size) >= 8 n (n-1)^2 size^2 |B|_F^2``.  Then H
grows along the trajectory without bound, and with it ``|x|^2 >= H/size``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from mpmath import iv

from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.systems.system import Space, Time

__all__ = ["escapes"]

Rows = list[list[Fraction]]


def escapes(look: IndependentInstance, data: Mapping[str, Any], *, open_set: bool) -> bool:
    """Does the start of the instance escape in the cone of the data?  ``open_set``: all states near it, too."""
    instance = look.instance
    if not _is_plain(instance) or (open_set and data["symmetry"] is not None):
        return False
    n, d = instance.n, instance.d
    E, H, s = _read(data["basis"]), _read(data["form"]), [int(each) for each in data["targets"]]
    growth, gain, gap, multiplier, size = (
        Fraction(str(data[each])) for each in ("growth", "gain", "gap", "multiplier", "size")
    )
    width = len(E[0])
    square = len(H) == width and all(len(row) == width for row in H)
    if len(E) != n * d or any(len(row) != width for row in E) or not square or _turned(H) != H or len(s) != n:
        return False
    if min(growth, gain, gap, size) <= 0 or multiplier < 0 or not _kept(instance, data["symmetry"], E):
        return False
    B, W = (_read(instance.parameters[str(name)]) for name in (instance.system.value, instance.system.score))
    mask = instance.mask
    if any(not 0 <= target < n or (mask is not None and not mask[i][target]) for i, target in enumerate(s)):
        return False
    N = _times(_turned(E), E)
    token = [E[i * d : (i + 1) * d] for i in range(n)]
    image = [row for i in range(n) for row in _times(B, token[s[i]])]
    L = _solved(N, _times(_turned(E), image))
    if L is None or _times(E, L) != image:
        return False
    pushed = _times(H, L)
    forms = [
        _sum((1, pushed), (1, _turned(pushed)), (-2 * growth, H), (-gain, N)),
        _sum((size, N), (-1, H)),
        _sum((size, N), (1, H)),
    ]
    for i, target in enumerate(s):
        for j in range(n):
            if (mask is None or mask[i][j]) and token[j] != token[target]:
                away = _times(_turned(token[i]), _times(W, _sum((1, token[target]), (-1, token[j]))))
                half = Fraction(1, 2)
                forms.append(_sum((half, away), (half, _turned(away)), (-gap, N), (-multiplier, H)))
    height = _height(instance, E, N, H)
    if height is None or height <= 0 or not all(_definite(form) for form in forms):
        return False
    norm = sum((entry * entry for row in B for entry in row), Fraction(0))
    iv.dps = max(iv.dps, 40)
    rate = 2 * gap * height / size
    left = _interval(gain * gain) * iv.exp(_interval(rate))
    return bool(left.a >= _interval(8 * n * (n - 1) ** 2 * size * size * norm).b)


def _is_plain(instance: Instance) -> bool:
    """One head of the papers' Euclidean flow in rational numbers."""
    system = instance.system
    if system.space is not Space.EUCLIDEAN or system.time is not Time.FLOW or not system.standard or system.multihead:
        return False
    if system.rotary is not None or system.over_root_d or system.value is None or system.score is None:
        return False
    rows = [*instance.parameters[system.value], *instance.parameters[system.score], *instance.tokens]
    return all(sp.sympify(entry).is_Rational for row in rows for entry in row)


def _kept(instance: Instance, symmetry: Mapping[str, Any] | None, E: Rows) -> bool:
    """The columns of E span all states, or exactly those that a symmetry ``(g x)_i = Q x_{pi(i)}`` of the flow fixes."""
    n, d = instance.n, instance.d
    if symmetry is None:
        return _unit(n * d) == E
    Q, order = _read(symmetry["matrix"]), [int(each) for each in symmetry["permutation"]]
    B, W = (_read(instance.parameters[str(name)]) for name in (instance.system.value, instance.system.score))
    if len(Q) != d or any(len(row) != d for row in Q) or sorted(order) != list(range(n)):
        return False
    if _times(Q, B) != _times(B, Q) or _times(_turned(Q), _times(W, Q)) != W:
        return False
    mask = instance.mask
    pairs = [(i, j) for i in range(n) for j in range(n)]
    if mask is not None and any(bool(mask[i][j]) != bool(mask[order[i]][order[j]]) for i, j in pairs):
        return False
    whole = [[Fraction(0)] * (n * d) for _ in range(n * d)]
    for i in range(n):
        for a in range(d):
            for b in range(d):
                whole[i * d + a][order[i] * d + b] += Q[a][b]
            whole[i * d + a][i * d + a] -= 1
    fixed = n * d - _rank(whole)
    return len(E[0]) == fixed == _rank(E) and all(entry == 0 for row in _times(whole, E) for entry in row)


def _height(instance: Instance, E: Rows, N: Rows, H: Rows) -> Fraction | None:
    x = _read([[entry] for token in instance.tokens for entry in token])
    z = _solved(N, _times(_turned(E), x))
    if z is None or _times(E, z) != x:
        return None
    return _times(_turned(z), _times(H, z))[0][0]


# --- matrices of Fractions -------------------------------------------------------------------------------------------


def _read(rows: Sequence[Sequence[Any]]) -> Rows:
    return [[Fraction(str(entry)) for entry in row] for row in rows]


def _unit(size: int) -> Rows:
    return [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]


def _turned(matrix: Rows) -> Rows:
    return [list(row) for row in zip(*matrix, strict=True)]


def _times(a: Rows, b: Rows) -> Rows:
    columns = list(zip(*b, strict=True))
    return [[sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in columns] for row in a]


def _sum(*parts: tuple[Any, Rows]) -> Rows:
    first = parts[0][1]
    return [
        [sum((factor * matrix[i][j] for factor, matrix in parts), Fraction(0)) for j in range(len(first[0]))]
        for i in range(len(first))
    ]


def _eliminated(rows: Rows) -> tuple[Rows, int]:
    """Rows in reduced form, and their rank."""
    made, rank = [list(row) for row in rows], 0
    for column in range(len(made[0])):
        pivot = next((i for i in range(rank, len(made)) if made[i][column] != 0), None)
        if pivot is None:
            continue
        made[rank], made[pivot] = made[pivot], made[rank]
        lead = made[rank][column]
        made[rank] = [entry / lead for entry in made[rank]]
        for i in range(len(made)):
            if i != rank and made[i][column] != 0:
                factor = made[i][column]
                made[i] = [a - factor * b for a, b in zip(made[i], made[rank], strict=True)]
        rank += 1
    return made, rank


def _rank(rows: Rows) -> int:
    return _eliminated(rows)[1]


def _solved(matrix: Rows, right: Rows) -> Rows | None:
    """``matrix^-1 right``; ``None`` where it has no inverse."""
    size = len(matrix)
    if _rank(matrix) < size:
        return None
    made, _ = _eliminated([[*row, *more] for row, more in zip(matrix, right, strict=True)])
    return [row[size:] for row in made]


def _definite(matrix: Rows) -> bool:
    """All pivots of a symmetric matrix are positive."""
    rows = [list(row) for row in matrix]
    for k in range(len(rows)):
        if rows[k][k] <= 0:
            return False
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True


def _interval(value: Fraction) -> Any:
    return iv.mpf(value.numerator) / iv.mpf(value.denominator)
