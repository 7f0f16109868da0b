"""The shape of an exact state: clusters, antipodes, eigenvectors, the rank of its attention matrix.

The exact tangent Jacobian at ``x_i = sigma_i v`` from small pieces: weights, balances and the value matrices beside v.

:mod:`eigentoken.theory.linearization.masked_spectra` derives for any mask and any signs, where v is an eigenvector of
every head (at consensus: of their sum), that no derivative of a weight is left:

    map: ``J_ij = (delta_ij I + alpha sum_h a^h_ij C_h) / |m_i|``,  flow: ``J_ij = sum_h a^h_ij C_h - delta_ij c_i I``,

``c_i = sum_h lambda_h b^h_i`` (with the weights as they are, which may sum to 1/sqrt(d)), ``m_i = 1 + alpha c_i`` and ``C_h`` the
matrix that F_h induces on the tangent space of v.  So the numbers stay small: of M only ``s = v^T M v`` enters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eigentoken.theory.classification.jacobian_spectrum import reduced_blocks, root_places
from eigentoken.theory.classification.jacobians import ArithmeticSetting, State, sum_products, tangent_pivots
from eigentoken.theory.exactness.elements import ExactnessLimit
from eigentoken.theory.exactness.fields import Field
from eigentoken.theory.exactness.numbers import is_zero
from eigentoken.theory.exactness.polynomials import Polynomial, characteristic_polynomial, divide, factors
from eigentoken.theory.systems.algebra import Number
from eigentoken.theory.systems.system import Space, Time

__all__ = ["Shape", "Undecided", "attention_ranks", "certain_zero", "shape_of", "signed_blocks"]


class Undecided(Exception):
    """Neither the normal form nor ball arithmetic decided whether a number is zero."""


def certain_zero(value: Number) -> bool:
    """Zero or not; raises :class:`Undecided` where that is open."""
    found = is_zero(value)
    if found is None:
        raise Undecided(f"whether {value!r} is zero is open at the largest precision")
    return found


def same_tokens(left: Sequence[Any], right: Sequence[Any], factor: int = 1) -> bool:
    """``left = factor * right``, exactly."""
    return all(certain_zero(a - factor * b) for a, b in zip(left, right, strict=True))


@dataclass(frozen=True)
class Shape:
    """Clusters of equal tokens, signs relative to the first token (if all are ± it), and its eigenvalue.

    ``place`` is the 1-based rank of the eigenvalue by real part (``None`` where it is open) and ``repeated`` its
    algebraic multiplicity in the layer matrix.
    """

    clusters: tuple[int, ...]
    signs: tuple[int, ...] | None
    eigenvalue: Number = None
    place: int | None = None
    repeated: int = 1
    tied: bool = False

    @property
    def count(self) -> int:
        """Number of distinct tokens."""
        return max(self.clusters) + 1


def shape_of(setting: ArithmeticSetting, field: Field, tokens: State | None = None) -> Shape:
    """Clusters, signs and eigenvector data of a state."""
    at = setting.tokens if tokens is None else tokens
    representatives: list[Sequence[Any]] = []
    clusters = []
    for token in at:
        for number, known in enumerate(representatives):
            if same_tokens(token, known):
                clusters.append(number)
                break
        else:
            clusters.append(len(representatives))
            representatives.append(token)
    signs: tuple[int, ...] | None = None
    if len(representatives) == 1:
        signs = (1,) * len(at)
    elif len(representatives) == 2 and same_tokens(representatives[0], representatives[1], -1):
        signs = tuple(1 if cluster == 0 else -1 for cluster in clusters)
    if signs is None:
        return Shape(tuple(clusters), None)
    matrix = layer_matrix(setting)
    value = _eigenvalue(setting, matrix, at[0])
    if value is None:
        return Shape(tuple(clusters), signs)
    place, repeated, tied = _place(field, matrix, value)
    return Shape(tuple(clusters), signs, value, place, repeated, tied)


def layer_matrix(setting: ArithmeticSetting) -> list[list[Any]]:
    """``F = sum_h F_h``, the identity where the system has no value matrix."""
    d = setting.instance.d
    total = [[0 * setting.one for _ in range(d)] for _ in range(d)]
    for value, _ in setting.instance.system.heads(setting.parameters):
        for i in range(d):
            for j in range(d):
                entry = value[i][j] if value is not None else setting.one * int(i == j)
                total[i][j] = total[i][j] + entry
    return total


def _eigenvalue(setting: ArithmeticSetting, matrix: list[list[Any]], token: Sequence[Any]) -> Any:
    """lambda with ``F x = lambda x``, or ``None``."""
    image = [sum_products(row, token) for row in matrix]
    if setting.instance.system.space is Space.EUCLIDEAN:
        pivot = next((a for a, entry in enumerate(token) if not certain_zero(entry)), None)
        if pivot is None:
            return None
        value = image[pivot] / token[pivot]
    else:
        value = setting.pair(token, image)
    return value if all(certain_zero(b - value * a) for a, b in zip(token, image, strict=True)) else None


def _place(field: Field, matrix: list[list[Any]], value: Any) -> tuple[int | None, int, bool]:
    """Rank of an eigenvalue by descending real part, its multiplicity, and whether another real part is equal."""
    try:
        rest: Polynomial = characteristic_polynomial(field, matrix)
        repeated = 0
        while len(rest) > 1:
            quotient, remainder = divide(rest, [-value, field.one])
            if not certain_zero(remainder[0]):
                break
            rest, repeated = quotient, repeated + 1
        if len(rest) == 1:
            return 1, repeated, False
        above, tied = 0, False
        for factor, count in factors(field, _shifted(rest, value)):
            for place in root_places(factor, Time.FLOW):
                if place is None:
                    return None, repeated, False
                above += count * (place == 1)
                tied |= place == 0
        return above + 1, repeated, tied
    except (ExactnessLimit, Undecided):
        return None, 1, False


def _shifted(polynomial: Polynomial, value: Any) -> Polynomial:
    """``p(z + value)``, by Horner's rule."""
    result: Polynomial = [polynomial[-1]]
    for coefficient in reversed(polynomial[:-1]):
        grown = [0 * polynomial[-1], *result]
        result = [a + value * b for a, b in zip(grown, [*result, 0 * polynomial[-1]], strict=True)]
        result[0] = result[0] + coefficient
    return result


def attention_ranks(setting: ArithmeticSetting) -> tuple[int | None, ...]:
    """The rank of each head's attention matrix, by exact elimination; ``None`` where a pivot is open."""
    ranks: list[int | None] = []
    for weights in setting.attention():
        try:
            ranks.append(_rank([list(row) for row in weights]))
        except (Undecided, ExactnessLimit):
            ranks.append(None)
    return tuple(ranks)


def _rank(rows: list[list[Any]]) -> int:
    rows = _distinct(rows)
    columns = _distinct([list(column) for column in zip(*rows, strict=True)])
    matrix = [list(row) for row in zip(*columns, strict=True)]
    rank = 0
    for column in range(len(matrix[0])):
        pivot = next((r for r in range(rank, len(matrix)) if not certain_zero(matrix[r][column])), None)
        if pivot is None:
            continue
        matrix[rank], matrix[pivot] = matrix[pivot], matrix[rank]
        for r in range(rank + 1, len(matrix)):
            ratio = matrix[r][column] / matrix[rank][column]
            matrix[r] = [a - ratio * b for a, b in zip(matrix[r], matrix[rank], strict=True)]
        rank += 1
        if rank == len(matrix):
            break
    return rank


def _distinct(rows: list[list[Any]]) -> list[list[Any]]:
    """Rows without repetitions that are equal in normal form."""
    kept: list[list[Any]] = []
    for row in rows:
        if not any(all(a == b for a, b in zip(row, other, strict=True)) for other in kept):
            kept.append(row)
    return kept


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
