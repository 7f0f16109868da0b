"""The exact tangent Jacobian at ``x_i = sigma_i v`` from small pieces: weights, balances and the value matrices beside v.

:mod:`eigentoken.theory.linearization.masked_spectra` derives for any mask and any signs, where v is an eigenvector of
every head (at consensus: of their sum), that no derivative of a weight is left:

    map: ``J_ij = (delta_ij I + alpha sum_h a^h_ij C_h) / |m_i|``,  flow: ``J_ij = sum_h a^h_ij C_h - delta_ij c_i I``,

``c_i = sum_h lambda_h b^h_i`` (with the weights as they are, which may sum to 1/sqrt(d)), ``m_i = 1 + alpha c_i`` and ``C_h`` the
matrix that F_h induces on the tangent space of v.  So the numbers stay small: of M only ``s = v^T M v`` enters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eigentoken.theory.classification.jacobian_spectrum import reduced_blocks
from eigentoken.theory.classification.jacobians import ArithmeticSetting, sum_products, tangent_pivots
from eigentoken.theory.classification.point_shapes import Shape, certain_zero
from eigentoken.theory.exactness.fields import Field
from eigentoken.theory.exactness.polynomials import characteristic_polynomial, factors
from eigentoken.theory.systems.system import Space, Time

__all__ = ["signed_blocks"]

Matrix = list[list[Any]]


def signed_blocks(
    setting: ArithmeticSetting, field: Field, shape: Shape, groups: Sequence[Sequence[int]], norms: Sequence[Any]
) -> list[tuple[Matrix, int]] | None:
    """Blocks with multiplicities whose spectra are that of the Jacobian; ``None`` where the point is not of this kind.

    ``norms`` are ``|m_i|`` for a map, token by token.
    """
    system, d = setting.instance.system, setting.instance.d
    if shape.signs is None or shape.eigenvalue is None or system.space is Space.EUCLIDEAN or d == 1:
        return None
    v = setting.tokens[0]
    induced: list[Matrix] = []
    values: list[Any] = []
    for value, _ in system.heads(setting.parameters):
        image = v if value is None else [sum_products(row, v) for row in value]
        height = setting.pair(v, image)
        fixed = all(certain_zero(b - height * a) for a, b in zip(v, image, strict=True))
        if not fixed and shape.count > 1:
            return None
        values.append(height)
        induced.append(_induced(setting, value))
    grouped = setting.grouped(setting.tokens)
    few, counts, places = (
        (setting, [1] * setting.instance.n, list(range(setting.instance.n)))
        if grouped is None
        else (grouped[0], list(grouped[0].counts), grouped[1])
    )
    first = [places.index(place) for place in range(len(counts))]
    signs = [shape.signs[place] for place in first]
    algebra = few.algebra()
    weights = [
        algebra.attention(few.tokens, score, setting.instance.mask, system.over_root_d)
        for _, score in system.heads(setting.parameters)
    ]
    own_rates = []
    for i in range(len(counts)):
        total: Any = 0 * setting.one
        for value, rows in zip(values, weights, strict=True):
            for sign, weight in zip(signs, rows[i], strict=True):
                total = total + value * weight * (sign * signs[i])
        own_rates.append(total)
    if system.time is Time.MAP:
        step = setting.parameters["alpha"]
        own = [setting.one / norms[place] for place in first]
        scales = [step * entry for entry in own]
    else:
        own, scales = [-rate for rate in own_rates], [setting.one] * len(counts)
    width = d - 1
    blocks: list[tuple[Matrix, int]] = []
    for count, entry in zip(counts, own, strict=True):
        if count > 1:
            blocks.append(([[entry]], (count - 1) * width))
    kept = groups if grouped is None else [[i] for i in range(len(counts))]
    for pieces, copies in _directions(field, induced):
        size = len(pieces[0])
        matrix: Matrix = []
        for i in range(len(counts)):
            for a in range(size):
                row = []
                for j in range(len(counts)):
                    for b in range(size):
                        entry = own[i] if i == j and a == b else 0 * setting.one
                        for piece, rows in zip(pieces, weights, strict=True):
                            entry = entry + scales[i] * rows[i][j] * piece[a][b]
                        row.append(entry)
                matrix.append(row)
        blocks += [(block, count * copies) for block, count in reduced_blocks(matrix, kept, size)]
    return blocks


def _induced(setting: ArithmeticSetting, value: Any) -> Matrix:
    """The matrix that F induces on ``{w : v^T W w = 0}`` along v, in the coordinates other than the pivot."""
    d, v = setting.instance.d, setting.tokens[0]
    pivot = tangent_pivots(setting, (v,))[0]
    normal = v if setting.metric is None else [sum_products(row, v) for row in setting.metric]
    kept = [a for a in range(d) if a != pivot]
    columns = []
    for c in kept:
        w = [setting.one if a == c else 0 * setting.one for a in range(d)]
        w[pivot] = -normal[c] / normal[pivot]
        image = w if value is None else [sum_products(row, w) for row in value]
        height = setting.pair(v, image)
        columns.append([image[a] - height * v[a] for a in kept])
    return [list(row) for row in zip(*columns, strict=True)]


def _directions(field: Field, induced: Sequence[Matrix]) -> list[tuple[list[Matrix], int]]:
    """One head with all its eigenvalues in the field: each eigenvalue by itself, with its multiplicity; else all together."""
    if len(induced) == 1:
        found = factors(field, characteristic_polynomial(field, induced[0]))
        if all(len(factor) == 2 for factor, _ in found):
            return [([[[-factor[0]]]], count) for factor, count in found]
    return [(list(induced), 1)]
