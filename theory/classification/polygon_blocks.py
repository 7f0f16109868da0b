"""The exact spectrum of a polygon from small matrices: d x d, (d-r) x (d-r) and r(d-r) x r(d-r), whatever n is.

Where all scores and the sum of the tokens vanish, :mod:`eigentoken.theory.linearization.attention_polygons` reduces the
Jacobian to three matrices; here they are formed in the field of the point.  E is spanned by r of the tokens (the columns of
``e``), F by a basis of the solutions of ``x_j^T f = 0`` (the columns of ``f``); no root is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eigentoken.theory.classification.jacobian_spectrum import reduced_blocks
from eigentoken.theory.classification.jacobians import ArithmeticSetting
from eigentoken.theory.classification.point_shapes import certain_zero
from eigentoken.theory.exactness.fields import Field
from eigentoken.theory.exactness.polynomials import characteristic_polynomial, factors
from eigentoken.theory.systems.system import Space, Time

__all__ = ["kernel_blocks", "polygon_blocks"]

Matrix = list[list[Any]]


def polygon_blocks(setting: ArithmeticSetting) -> list[tuple[Matrix, int]] | None:
    """Blocks with multiplicities whose spectra together are that of the linearization; ``None`` where this is no polygon
    of full attention with vanishing scores and sum (decided exactly)."""
    instance = setting.instance
    weighted = instance.system.over_root_d  # the systems with weights over the root of d are masked or have no polygons
    if weighted or instance.system.rotary or instance.mask is not None or not _is_polygon(setting):
        return None
    n, d, one = instance.n, instance.d, setting.one
    euclidean = instance.system.space is Space.EUCLIDEAN
    tokens = [list(token) for token in setting.tokens]
    e, f = _span(tokens, one)
    r = len(e)
    if r == 0 or n < r + 1:
        return None
    moment = [[_sum(x[a] * x[b] for x in tokens) / (n * one) for b in range(d)] for a in range(d)]
    on_mean = _zeros(d, d, one)  # V (I + S M^T), then projected
    on_f = _zeros(d, d, one)  # V S M^T
    turned: list[tuple[Matrix, Matrix]] = []  # (V S, M^T) of each head
    for value, score in instance.system.heads(setting.parameters):
        V = _identity(d, one) if value is None else [list(row) for row in value]
        transposed = _zeros(d, d, one) if score is None else [list(column) for column in zip(*score, strict=True)]
        pushed = _product(V, moment)
        through = _product(pushed, transposed)
        on_f = _add(on_f, through)
        on_mean = _add(on_mean, _add(V, through))
        turned.append((pushed, transposed))
    blocks: list[tuple[Matrix, int]] = []
    coordinates = _left_inverse(f) if f else []
    rows_f = [list(row) for row in zip(*f, strict=True)] if f else []  # d x (d - r)
    if f:
        apart = _product(coordinates, _product(on_f, rows_f))
        blocks.append((apart, n - 1 - r))
        blocks.append((_turning(turned, e, f, coordinates), 1))
    inside = r * (n - 1) if euclidean else n * (r - 1) - r
    if euclidean:
        blocks.append((on_mean, 1))
    elif r == 1:
        blocks.append((_product(coordinates, _product(on_mean, rows_f)), 1))
        inside = 0
    else:
        complement = [[(one if a == b else 0 * one) - moment[a][b] for b in range(d)] for a in range(d)]
        blocks.append((_product(complement, on_mean), 1))
    if inside:
        blocks.append(([[0 * one]], inside))
    return _stepped(setting, blocks)


def kernel_blocks(setting: ArithmeticSetting, field: Field) -> list[tuple[Matrix, int]] | None:
    """Where the value matrix annihilates every token (on the sphere from both sides) the derivative is ``A (x) V``.

    The weights then do not act at first order; for eigenvalues lambda of V in the field the blocks are ``lambda A``.
    ``None`` where this is not so, for several heads, or where V has other eigenvalues.
    """
    instance = setting.instance
    heads = instance.system.heads(setting.parameters)
    if len(heads) != 1 or heads[0][0] is None or instance.system.space is Space.ELLIPSOID:
        return None
    V, n, one = [list(row) for row in heads[0][0]], instance.n, setting.one
    sides = [V] if instance.system.space is Space.EUCLIDEAN else [V, [list(row) for row in zip(*V, strict=True)]]
    for token in setting.tokens:
        if not all(certain_zero(entry) for side in sides for entry in _apply(side, token)):
            return None
    weights = setting.algebra().attention(setting.tokens, heads[0][1], instance.mask, instance.system.over_root_d)
    blocks: list[tuple[Matrix, int]] = []
    moving = 0
    for factor, count in factors(field, characteristic_polynomial(field, V)):
        if len(factor) != 2:
            return None
        value = -factor[0]
        if not certain_zero(value):
            blocks.append(([[value * entry for entry in row] for row in weights], count))
            moving += count
    tangent = instance.d if instance.system.space is Space.EUCLIDEAN else instance.d - 1
    if tangent > moving:
        blocks.append(([[0 * one]], n * (tangent - moving)))
    return _stepped(setting, blocks)


def _stepped(setting: ArithmeticSetting, blocks: list[tuple[Matrix, int]]) -> list[tuple[Matrix, int]]:
    """``I + alpha B`` for a map, and the blocks split into their connected parts."""
    if setting.instance.system.time is Time.MAP:
        step, one = setting.parameters["alpha"], setting.one
        blocks = [
            ([[entry * step + (one if i == j else 0) for j, entry in enumerate(row)] for i, row in enumerate(block)], c)
            for block, c in blocks
        ]
    pieces = []
    for block, count in blocks:
        if count and block:
            pieces += [(piece, count * c) for piece, c in reduced_blocks(block, [[i] for i in range(len(block))], 1)]
    return pieces


def _is_polygon(setting: ArithmeticSetting) -> bool:
    tokens = setting.tokens
    d = len(tokens[0])
    if not all(certain_zero(_sum(token[a] for token in tokens)) for a in range(d)):
        return False
    for _, score in setting.instance.system.heads(setting.parameters):
        if score is None:
            continue
        for x in tokens:
            seen = [_sum(x[a] * score[a][b] for a in range(d)) for b in range(d)]
            if not all(certain_zero(_sum(seen[b] * y[b] for b in range(d))) for y in tokens):
                return False
    return True


def _turning(heads: Sequence[tuple[Matrix, Matrix]], e: Matrix, f: Matrix, coordinates: Matrix) -> Matrix:
    """``Psi -> P_F V S (Psi^T M^T + M^T Psi)`` in the basis ``Psi_ab = f_a g_b^T``, g the basis of E dual to e."""
    dual = _left_inverse(e)  # row b is g_b^T
    r, m = len(e), len(f)
    result: Matrix = [[] for _ in range(m * r)]
    for a in range(m):
        for b in range(r):
            columns = []
            for c in range(r):  # the image of Psi applied to e_c, in coordinates of F
                image: list[Any] | None = None
                for pushed, transposed in heads:
                    scored = _apply(transposed, e[c])  # M^T e_c
                    weight = _sum(x * y for x, y in zip(f[a], scored, strict=True))
                    inner = [weight * g for g in dual[b]]
                    if b == c:
                        inner = [x + y for x, y in zip(inner, _apply(transposed, f[a]), strict=True)]
                    part = _apply(coordinates, _apply(pushed, inner))
                    image = part if image is None else [x + y for x, y in zip(image, part, strict=True)]
                columns.append(image)
            for row_a in range(m):
                for c in range(r):
                    result[row_a * r + c].append((columns[c] or [])[row_a])
    return result


# -- small exact linear algebra ---------------------------------------------------------------------------------------


def _sum(values: Any) -> Any:
    total: Any = 0
    for value in values:
        total = total + value
    return total


def _zeros(rows: int, columns: int, one: Any) -> Matrix:
    return [[0 * one for _ in range(columns)] for _ in range(rows)]


def _identity(d: int, one: Any) -> Matrix:
    return [[one if a == b else 0 * one for b in range(d)] for a in range(d)]


def _add(left: Matrix, right: Matrix) -> Matrix:
    return [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(left, right, strict=True)]


def _product(left: Matrix, right: Matrix) -> Matrix:
    columns = list(zip(*right, strict=True))
    return [[_sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in left]


def _apply(matrix: Matrix, vector: Sequence[Any]) -> list[Any]:
    return [_sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def _span(tokens: Matrix, one: Any) -> tuple[Matrix, Matrix]:
    """Independent tokens that span E, and a basis of its orthogonal complement, as lists of vectors."""
    d = len(tokens[0])
    reduced: Matrix = []
    pivots: list[int] = []
    kept: Matrix = []
    for token in tokens:
        row = list(token)
        for pivot, other in zip(pivots, reduced, strict=True):
            ratio = row[pivot]
            row = [a - ratio * b for a, b in zip(row, other, strict=True)]
        place = next((a for a, entry in enumerate(row) if not certain_zero(entry)), None)
        if place is None:
            continue
        scale = row[place]
        row = [entry / scale for entry in row]
        reduced = [[a - other[place] * b for a, b in zip(other, row, strict=True)] for other in reduced]
        reduced.append(row)
        pivots.append(place)
        kept.append(list(token))
    complement = []
    for free in (a for a in range(d) if a not in pivots):
        vector = [0 * one] * d
        vector[free] = one
        for pivot, row in zip(pivots, reduced, strict=True):
            vector[pivot] = -row[free]
        complement.append(vector)
    return kept, complement


def _left_inverse(vectors: Matrix) -> Matrix:
    """``(B^T B)^-1 B^T`` for the matrix B with these columns."""
    gram = [[_sum(a * b for a, b in zip(x, y, strict=True)) for y in vectors] for x in vectors]
    rows = [[*gram[i], *vectors[i]] for i in range(len(vectors))]
    for k in range(len(rows)):
        place = next(i for i in range(k, len(rows)) if not certain_zero(rows[i][k]))
        rows[k], rows[place] = rows[place], rows[k]
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for i in range(len(rows)):
            if i != k:
                ratio = rows[i][k]
                rows[i] = [a - ratio * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[len(vectors) :] for row in rows]
