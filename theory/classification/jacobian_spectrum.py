"""The spectrum of an exact Jacobian: symmetry reduction, characteristic polynomials, stability decisions.

Tokens that are equal and that the mask treats alike are interchangeable, so the Jacobian commutes with their
permutations: on zero-sum perturbations of a group of c tokens it is one block ``J_ii - J_ij`` taken c - 1 times, and
the rest is the quotient by the groups.  The pattern is checked entry by entry before it is used.  Blocks are split
along the strongly connected components of their nonzero entries; every characteristic polynomial is factored.

For people and files it is given as closed forms, doubles and enclosures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sympy
from flint import acb, arb

from eigentoken.documents.classification_document import Stability
from eigentoken.theory.classification.classification import ExactEigenvalue
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.exactness.balls import PRECISIONS, precision
from eigentoken.theory.exactness.fields import Field
from eigentoken.theory.exactness.numbers import ball, sign
from eigentoken.theory.exactness.polynomials import (
    MOST_SHOWN,
    Polynomial,
    Root,
    characteristic_polynomial,
    closed_form,
    divide,
    factors,
    gcd,
    monic,
    root_balls,
    roots,
    terms,
    tidy,
)
from eigentoken.theory.systems.algebra import Mask
from eigentoken.theory.systems.system import Time

__all__ = [
    "PointLinearization",
    "StabilityAnswer",
    "eigenvalue_entry",
    "groups_at",
    "interchangeable",
    "linearization",
    "moduli_entries",
    "reduced_blocks",
    "root_places",
    "spectral_factors",
    "spectrum_entries",
    "symmetric_blocks",
]

Matrix = list[list[Any]]
Factors = list[tuple[Polynomial, int]]


def interchangeable(clusters: Sequence[int], mask: Mask) -> list[list[int]]:
    """Tokens by groups: equal (same cluster number), and swapping two of them leaves the mask as it is."""
    groups: list[list[int]] = []
    for token, cluster in enumerate(clusters):
        for group in groups:
            if clusters[group[0]] == cluster and _swap_keeps(mask, group[0], token):
                group.append(token)
                break
        else:
            groups.append([token])
    return groups


def groups_at(instance: Instance, clusters: Sequence[int]) -> list[list[int]]:
    """The interchangeable tokens of an instance; none where the scores depend on the positions, or nothing is known."""
    if instance.system.positions != "none" or not instance.system.standard:
        return [[token] for token in range(instance.n)]
    return interchangeable(clusters, instance.mask)


def _swap_keeps(mask: Mask, i: int, j: int) -> bool:
    if mask is None:
        return True
    others = [k for k in range(len(mask)) if k not in {i, j}]
    return (
        mask[i][i] == mask[j][j]
        and mask[i][j] == mask[j][i]
        and all(mask[i][k] == mask[j][k] and mask[k][i] == mask[k][j] for k in others)
    )


def reduced_blocks(matrix: Matrix, groups: Sequence[Sequence[int]], width: int) -> list[tuple[Matrix, int]]:
    """Blocks with multiplicities whose spectra together are that of the matrix (tokens of ``width`` coordinates).

    If the matrix does not have the pattern of the groups it is returned whole.
    """

    if not _has_pattern(matrix, groups, width):
        groups = [[token] for group in groups for token in group]
    return [(piece, count) for block, count in symmetric_blocks(matrix, groups, width) for piece in _components(block)]


def symmetric_blocks(matrix: Matrix, groups: Sequence[Sequence[int]], width: int) -> list[tuple[Matrix, int]]:
    """``J_ii - J_ij`` for each group of c >= 2 tokens, c - 1 times, and the quotient by the groups, once.

    For a matrix that commutes with the permutations inside the groups; the caller knows that it does.
    """

    def part(i: int, j: int) -> Matrix:
        return [row[j * width : (j + 1) * width] for row in matrix[i * width : (i + 1) * width]]

    blocks = [
        (_difference(part(group[0], group[0]), part(group[0], group[1])), len(group) - 1)
        for group in groups
        if len(group) > 1
    ]
    quotient: Matrix = []
    for group in groups:
        for row in matrix[group[0] * width : (group[0] + 1) * width]:
            sums = [_total([row[j * width + column] for j in other]) for other in groups for column in range(width)]
            quotient.append(sums)
    if quotient:
        blocks.append((quotient, 1))
    return blocks


def _has_pattern(matrix: Matrix, groups: Sequence[Sequence[int]], width: int) -> bool:
    """Every entry equals that of the first tokens of its groups (or the first two, inside a group)."""
    for left in groups:
        for right in groups:
            for i in left:
                for j in right:
                    source, target = left[0], right[1] if left is right and i != j else right[0]
                    for a in range(width):
                        row, model = matrix[i * width + a], matrix[source * width + a]
                        if row[j * width : (j + 1) * width] != model[target * width : (target + 1) * width]:
                            return False
    return True


def _difference(left: Matrix, right: Matrix) -> Matrix:
    return [[a - b for a, b in zip(x, y, strict=True)] for x, y in zip(left, right, strict=True)]


def _total(values: list[Any]) -> Any:
    total: Any = 0
    for value in values:
        total = total + value
    return total


def _components(block: Matrix) -> list[Matrix]:
    """Diagonal blocks of a block triangular form: strongly connected components of the nonzero entries."""
    size = len(block)
    forward = [[j for j in range(size) if i != j and block[i][j] != 0] for i in range(size)]
    backward: list[list[int]] = [[] for _ in range(size)]
    for i, row in enumerate(forward):
        for j in row:
            backward[j].append(i)
    reach = [(_reachable(forward, i), _reachable(backward, i)) for i in range(size)]
    left = set(range(size))
    pieces = []
    while left:
        first = min(left)
        members = sorted((reach[first][0] & reach[first][1]) | {first})
        left -= set(members)
        pieces.append([[block[i][j] for j in members] for i in members])
    return pieces


def _reachable(edges: list[list[int]], start: int) -> set[int]:
    seen, front = {start}, [start]
    while front:
        for target in edges[front.pop()]:
            if target not in seen:
                seen.add(target)
                front.append(target)
    return seen


def spectral_factors(field: Field, blocks: Sequence[tuple[Matrix, int]]) -> Factors:
    """Monic factors, irreducible over the field, of the product of the characteristic polynomials."""
    listed: Factors = []
    done: list[tuple[Matrix, Factors]] = []
    for block, count in blocks:
        found = next((known for other, known in done if _same(other, block)), None)
        if found is None:
            found = factors(field, characteristic_polynomial(field, block))
            done.append((block, found))
        for factor, multiplicity in found:
            for place, (known, total) in enumerate(listed):
                if len(known) == len(factor) and all(a == b for a, b in zip(known, factor, strict=True)):
                    listed[place] = (known, total + count * multiplicity)
                    break
            else:
                listed.append((factor, count * multiplicity))
    return listed


def _same(left: Matrix, right: Matrix) -> bool:
    return len(left) == len(right) and all(
        a == b for x, y in zip(left, right, strict=True) for a, b in zip(x, y, strict=True)
    )


class StabilityAnswer(StrEnum):
    """What the linearization says: inside, outside, exactly on the boundary of the stability region, or open."""

    STABLE = "stable"
    MARGINAL = "marginal"
    UNSTABLE = "unstable"
    UNDECIDED = "undecided"

    @property
    def text(self) -> Stability:
        """As documents write it."""
        return _TEXTS[self]


_TEXTS: dict[StabilityAnswer, Stability] = {
    StabilityAnswer.STABLE: "stable",
    StabilityAnswer.MARGINAL: "marginal",
    StabilityAnswer.UNSTABLE: "unstable",
    StabilityAnswer.UNDECIDED: "undecided",
}


@dataclass(frozen=True)
class PointLinearization:
    """Eigenvalues with multiplicities, and where the worst of them lies.

    ``answer`` is ``stable`` if all lie inside the unit disc (map) or the open left half plane (flow), ``unstable`` if one
    lies outside its closure, ``marginal`` if none is outside and one is exactly on the boundary.  ``not_inside`` says
    that some eigenvalue is certainly not inside, even where the answer is undecided.  ``gap`` bounds from below the
    distance of ``max |z|`` from 1 (of ``max Re z`` from 0) for ``stable`` and ``unstable``.
    """

    eigenvalues: tuple[tuple[Root, int], ...]
    answer: StabilityAnswer
    not_inside: bool
    gap: float
    boundary: tuple[tuple[Root, int], ...] = ()
    outside: int | None = None
    "how many eigenvalues lie outside, where all places are decided"


def linearization(factored: Factors, time: Time) -> PointLinearization:
    """Decide the linear stability from the factors of the characteristic polynomial."""
    values: list[tuple[Root, int]] = []
    boundary: list[tuple[Root, int]] = []
    open_ones = not_inside = False
    outside = 0
    gaps: list[tuple[bool, float]] = []
    for factor, count in factored:
        for piece in _split_mirror(factor, time):
            places, decided, heights = _places(piece, time)
            found = roots(piece)
            values += [(root, count) for root in found]
            for place, height, root in zip(places, heights, _matched(found, decided), strict=True):
                if place == 0:
                    boundary.append((root, count))
                outside += count * (place == 1)
                open_ones |= place is None
                gaps.append((place == 1, height))
            mirrored = len(piece) > 1 and _is_mirror(piece, time)
            not_inside |= mirrored or any(place in (0, 1) for place in places)
    values.sort(key=lambda entry: (entry[0].value.real, entry[0].value.imag))
    if outside:
        answer, gap = StabilityAnswer.UNSTABLE, max(height for out, height in gaps if out)
    elif open_ones:
        answer, gap = StabilityAnswer.UNDECIDED, 0.0
    elif boundary:
        answer, gap = StabilityAnswer.MARGINAL, 0.0
    else:
        answer, gap = StabilityAnswer.STABLE, min((height for _, height in gaps), default=1.0)
    return PointLinearization(tuple(values), answer, not_inside, gap, tuple(boundary), None if open_ones else outside)


def root_places(factor: Polynomial, time: Time) -> list[int | None]:
    """-1, 0, 1 for each root inside, on, outside the boundary of the stability region; ``None`` where it is open."""
    return [place for piece in _split_mirror(factor, time) for place in _places(piece, time)[0]]


def _mirror(factor: Polynomial, time: Time) -> Polynomial:
    """Monic polynomial of the mirrored roots: ``1/z`` for a map, ``-z`` for a flow."""
    if time is Time.MAP:
        return monic(factor[::-1]) if factor[0] != 0 else [factor[-1]]
    return monic([-c if k % 2 else c for k, c in enumerate(factor)])


def _is_mirror(factor: Polynomial, time: Time) -> bool:
    other = _mirror(factor, time)
    return len(other) == len(factor) and all(a == b for a, b in zip(other, factor, strict=True))


def _split_mirror(factor: Polynomial, time: Time) -> list[Polynomial]:
    """A squarefree factor split into the part closed under mirroring (which may touch the boundary) and the rest.

    A factor whose roots are all told from the boundary by balls is left whole.
    """
    if len(factor) <= 2 or None not in _places(factor, time, PRECISIONS[1:3])[0]:
        return [factor]
    pieces: list[Polynomial] = []
    one = factor[-1]
    for value in (one, -one) if time is Time.MAP else (0 * one,):  # the real points of the boundary, exactly
        quotient, remainder = divide(factor, [-value, one])
        if len(factor) > 2 and remainder[0] == 0:
            pieces.append([-value, one])
            factor = quotient
    if pieces:
        return [*pieces, *_split_mirror(factor, time)]
    if all(root_balls(factor, bits) is None for bits in PRECISIONS[1:3]):
        return [factor]  # the roots are not even told apart from each other
    common = gcd(factor, _mirror(factor, time))
    if len(common) in {1, len(factor)}:
        return [factor]
    return [common, monic(divide(factor, common)[0])]


def _places(
    factor: Polynomial, time: Time, tried: Sequence[int] = PRECISIONS[1:]
) -> tuple[list[int | None], list[Any], list[float]]:
    """For each root: -1 inside, 0 exactly on the boundary, 1 outside, ``None`` open; its ball; its distance."""
    if len(factor) == 2:
        value = -factor[0]
        found = root_balls(factor, 192) or []
        if time is Time.MAP:
            signs = (sign(1 - value), sign(1 + value))
            place = None if signs[0] is None or signs[1] is None else -min(signs[0], signs[1])
            gap = 1 - value if found[0].real > 0 else 1 + value
            return [place], found, [_below(abs(ball(gap, 192)))]
        return [sign(value)], found, [_below(abs(ball(value, 192)))]
    mirrored = _is_mirror(factor, time)
    places: list[int | None] = [None] * (len(factor) - 1)
    found = []
    heights = [0.0] * len(places)
    for bits in tried:
        balls = root_balls(factor, bits)
        if balls is None:
            continue
        found, places, heights = balls, [], []
        with precision(bits):
            for enclosure in balls:
                excess = abs(enclosure) - 1 if time is Time.MAP else enclosure.real
                place = 1 if excess > 0 else -1 if excess < 0 else None
                if place is None and mirrored and _on_boundary(enclosure, balls, time):
                    place = 0
                places.append(place)
                heights.append(_below(abs(excess)))
        if None not in places:
            break
    return places, found, heights


def _on_boundary(enclosure: Any, balls: list[Any], time: Time) -> bool:
    """The mirror image of the root is its conjugate: the mirrored ball meets one root ball only, the conjugate's."""
    image = 1 / enclosure if time is Time.MAP else -enclosure
    met = [other for other in balls if other.overlaps(image)]
    conjugates = [other for other in balls if other.overlaps(enclosure.conjugate())]
    return len(met) == 1 and len(conjugates) == 1 and met[0] is conjugates[0]


def _matched(found: list[Root], balls: list[Any]) -> list[Root]:
    """The roots in the order of the balls."""
    matched = [next((root for root in found if root.enclosure.overlaps(each)), found[0]) for each in balls]
    return matched if matched else list(found)


def _below(value: arb | acb) -> float:
    """A double below a nonnegative ball."""
    bound = float(value.abs_lower().mid()) if hasattr(value, "abs_lower") else 0.0
    return max(0.0, bound * (1 - 2.0**-50))


LONGEST_FORM = 240
DIGITS = 20


def eigenvalue_entry(field: Field, value: Any) -> ExactEigenvalue:
    """An exact real number of the field as an entry."""
    enclosure = ball(value, 192)
    return ExactEigenvalue(tidy(field, value), complex(float(enclosure.mid())), 1, None, _printed(enclosure), enclosure)


def _printed(enclosure: Any) -> str:
    with precision(96):
        return str(enclosure.str(DIGITS))


def _form(field: Field, root: Root) -> tuple[sympy.Expr | None, str | None]:
    """The closed form of a root, and a description where there is none."""
    exact = closed_form(field, root)
    if exact is not None and len(str(exact)) <= LONGEST_FORM:
        return exact, None
    if sum(terms(coefficient) for coefficient in root.factor) > MOST_SHOWN:
        return None, None
    z = sympy.Symbol("z")
    summands = [field.expression(coefficient) * z**degree for degree, coefficient in enumerate(root.factor)]
    text = str(sympy.Add(*summands))
    if len(text) > LONGEST_FORM:
        return None, None
    where = f"{root.value.real:.12g}" if root.is_real else f"{root.value:.12g}"
    return None, f"RootOf({text}, near {where})"


def spectrum_entries(field: Field, found: PointLinearization) -> tuple[ExactEigenvalue, ...]:
    """The eigenvalues in ascending order of real part, then imaginary part."""
    entries = []
    for root, count in found.eigenvalues:
        exact, description = _form(field, root)
        entries.append(ExactEigenvalue(exact, root.value, count, description, _printed(root.enclosure), root.enclosure))
    return tuple(entries)


def moduli_entries(field: Field, found: PointLinearization, halved: bool) -> tuple[ExactEigenvalue, ...]:
    """``|z|`` for each eigenvalue, or ``|z|^(1/2)`` if the eigenvalues are those of two steps; equal ones together."""
    listed: list[tuple[sympy.Expr | None, Any, int]] = []
    for root, count in found.eigenvalues:
        exact, _ = _form(field, root)
        with precision(192):
            modulus = abs(acb(root.enclosure))
            size = modulus.sqrt() if halved else modulus
        form = None
        if exact is not None and root.is_real:
            form = -exact if root.enclosure.real < 0 else exact
        elif len(root.factor) == 3 and not root.is_real:
            form = sympy.sqrt(tidy(field, root.factor[0]))
        if form is not None and halved:
            form = sympy.sqrt(form)
        for place, (known, enclosure, total) in enumerate(listed):
            if form is not None and known == form:
                listed[place] = (known, enclosure, total + count)
                break
        else:
            listed.append((form, size, count))
    listed.sort(key=lambda entry: float(entry[1].mid()))
    return tuple(
        ExactEigenvalue(form, complex(float(size.mid())), count, None, _printed(size), size)
        for form, size, count in listed
    )
