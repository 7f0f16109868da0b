"""Classify a point of a system exactly: which kind of equilibrium it is, its spectrum, its linear stability.

The classes are those of Li and Altafini, for all systems:

- ``consensus``: all tokens equal;
- ``bipartite``: tokens at v and at -v, v an eigenvector of the layer matrix ``F = sum_h F_h``;
- ``polygonal``: no token is pushed, ``u_i = 0`` for all i (zero means where F is nonsingular; in Euclidean space, where
  every equilibrium has ``u_i = 0``: zero means);
- ``clustering``: every other equilibrium;
- ``2-cycle``: of a map, ``f(f(x)) = x`` and ``f(x) != x``;
- ``not-an-equilibrium``, and ``undecided`` where neither exact nor ball arithmetic tells.

A point may be in two of the first three (p = q on an eigenvector for Oja): the first in this order is the class, the
others are listed under ``also``.  ``k`` is the place of the eigenvalue among those of F in descending order of the real
part, the first place where it is repeated; ``p`` tokens are at the direction of the first token, ``q`` at its antipode.

``stable`` means *linearly asymptotically stable*: the spectral radius of the Jacobian on the tangent spaces is below 1
(map), or all real parts are negative (flow).  It ``fails`` at a point that is no equilibrium, at a linearly unstable
one and at a marginal one (an eigenvalue exactly on the boundary); ``linearization`` tells the last two apart, and at
``marginal`` nothing is said about stability in the sense of Lyapunov.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from eigentoken.documents.classification_document import ShapeName
from eigentoken.theory.classification import sentences as words
from eigentoken.theory.classification.ball_spectra import ball_spectrum, nearby_equilibrium
from eigentoken.theory.classification.certificates import certified, spectrum_notes, stability, stability_verdict
from eigentoken.theory.classification.classification import Classification, ExactEigenvalue
from eigentoken.theory.classification.instances import Instance, read_instance
from eigentoken.theory.classification.jacobian_spectrum import (
    StabilityAnswer,
    eigenvalue_entry,
    groups_at,
    linearization,
    moduli_entries,
    reduced_blocks,
    spectral_factors,
    spectrum_entries,
)
from eigentoken.theory.classification.jacobians import (
    ArithmeticSetting,
    Matrix,
    State,
    ball_setting,
    exact_setting,
    grouped_blocks,
    intrinsic_jacobian,
    jacobian,
    sum_products,
    tangent_pivots,
)
from eigentoken.theory.classification.point_shapes import (
    Shape,
    Undecided,
    attention_ranks,
    certain_zero,
    shape_of,
    signed_blocks,
)
from eigentoken.theory.classification.polygon_blocks import kernel_blocks, polygon_blocks
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.exactness.elements import ExactnessLimit
from eigentoken.theory.exactness.fields import Field, in_smallest_field
from eigentoken.theory.exactness.numbers import sign
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.systems.system import Space, Time

__all__ = ["Classification", "classify"]

FIRST_LOOK_BITS = 192
ROUNDED = 1e-6


def classify(point: Instance | Mapping[str, object] | str | Path) -> Classification:
    """The class, exact spectrum and stability of a point: an instance, or whatever ``read_instance`` reads.

    >>> point = Instance.of("attention-map", [[1, 0], [-1, 0]], V=[[1, 0], [0, "1/2"]],
    ...                     M=[["ln(3)", 0], [0, "ln(3)"]], alpha="1/2")
    >>> found = classify(point)
    >>> found.kind, [str(entry.exact) for entry in found.spectrum], str(found.stable.answer)
    ('bipartite', ['6/7', '25/28'], 'holds')
    """
    return certified(_decided(point if isinstance(point, Instance) else read_instance(point)))


def _decided(instance: Instance) -> Classification:
    excluded = _excluded_by_balls(instance)
    if excluded is not None:
        return excluded
    try:
        return in_smallest_field(lambda field: _classify_in(instance, field))
    except ZeroDivisionError:
        if instance.system.standard:
            raise
        return Classification(instance, "not-an-equilibrium", fails(words.NO_VALUE), _not_stable(instance))
    except (ExactnessLimit, Undecided) as problem:
        reason = f"not decided: {problem}; ball arithmetic with {FIRST_LOOK_BITS} bits does not exclude an equilibrium"
        return Classification(
            instance,
            "undecided",
            undecided(reason),
            undecided("whether the point is an equilibrium is open"),
            arithmetic="balls",
        )


# ---------------------------------------------------------------------- a first look with balls


def _excluded_by_balls(instance: Instance) -> Classification | None:
    """The classification of a point that balls certify to be neither an equilibrium nor on a 2-cycle."""
    discrete = instance.system.time is Time.MAP
    with precision(FIRST_LOOK_BITS):
        setting = ball_setting(instance, FIRST_LOOK_BITS)
        image = setting.advance()
        target = setting.tokens if discrete else tuple(tuple(0 * a for a in token) for token in setting.tokens)
        distance, token = _apart(image, target)
        if distance <= 0:
            return None
        if discrete and _apart(setting.advance(image), setting.tokens)[0] <= 0:
            return None
    reason = words.moved_reason(discrete, distance, token + 1)
    verdict = fails(reason, margin=distance, unit=words.residual_unit)
    notes = [words.NO_CYCLE_NOTE] if discrete else []
    nearby = nearby_equilibrium(instance) if distance < ROUNDED else None
    if nearby is not None:
        notes.append(
            f"a certified equilibrium lies within {nearby['distance']:.2g}: if numbers were rounded, write them exactly"
        )
    return Classification(
        instance,
        "not-an-equilibrium",
        verdict,
        _not_stable(instance),
        arithmetic="balls",
        notes=tuple(notes),
        nearby=nearby,
    )


def _apart(left: State, right: State) -> tuple[float, int]:
    """A certified lower bound on the largest difference of entries, and its token; 0 where the balls meet."""
    best, where = 0.0, 0
    for index, (x, y) in enumerate(zip(left, right, strict=True)):
        for a, b in zip(x, y, strict=True):
            gap = abs(a - b)
            if gap > 0:
                bound = float(gap.abs_lower().mid()) * (1 - 2.0**-50)
                best, where = max((best, where), (bound, index), key=lambda entry: entry[0])
    return best, where


def _not_stable(instance: Instance) -> Verdict:
    return fails(words.NOT_STABLE)


# ---------------------------------------------------------------------- the exact classification


def _classify_in(instance: Instance, field: Field) -> Classification:
    setting = exact_setting(instance, field)
    if instance.system.time is Time.FLOW:
        for index, token in enumerate(setting.advance()):
            if not all(certain_zero(entry) for entry in token):
                verdict = fails(words.token_moves_reason(index + 1))
                return Classification(instance, "not-an-equilibrium", verdict, _not_stable(instance))
        return _equilibrium(setting, field, ())
    if instance.system.space is Space.EUCLIDEAN or instance.system.writes_step:
        return _fixed_or_moved(setting, field)
    heights: list[Any] = []
    for index, (x, y) in enumerate(zip(setting.tokens, setting.raw_step(), strict=True)):
        if all(certain_zero(entry) for entry in y):
            verdict = fails(words.undefined_reason(index + 1))
            return Classification(instance, "not-an-equilibrium", verdict, _not_stable(instance))
        height = setting.pair(x, y)
        heights.append(height if all(certain_zero(b - height * a) for a, b in zip(x, y, strict=True)) else None)
    if all(height is not None and _certain_sign(height) > 0 for height in heights):
        return _equilibrium(setting, field, heights)
    return _moved(setting, field)


def _fixed_or_moved(setting: ArithmeticSetting, field: Field) -> Classification:
    """A map whose image is computed as it stands: in Euclidean space, or with a step of its own."""
    instance = setting.instance
    image = setting.advance()
    moved = [i + 1 for i, (x, y) in enumerate(zip(setting.tokens, image, strict=True)) if not _equal(x, y)]
    if not moved:
        return _equilibrium(setting, field, ())
    try:
        cycle = all(_equal(x, y) for x, y in zip(setting.advance(image), setting.tokens, strict=True))
    except ZeroDivisionError:  # f(x) has no image, so f(f(x)) is not x
        cycle = False
    reason = words.moved_exactly_reason(moved, cycle=cycle)
    if cycle:
        return _two_cycle(setting, field, image, [], reason)
    note = words.NO_CYCLE_NOTE
    return Classification(instance, "not-an-equilibrium", fails(reason), _not_stable(instance), notes=(note,))


def _certain_sign(value: Any) -> int:
    found = sign(value)
    if found is None:
        raise Undecided(f"the sign of {value!r} is open at the largest precision")
    return found


def _moved(setting: ArithmeticSetting, field: Field) -> Classification:
    """A map that moves the point: a 2-cycle or not."""
    instance = setting.instance
    forward = _among_tokens(setting, setting.tokens, setting.tokens)
    if forward is None:
        reason = words.off_the_lines_reason()
        note = "whether f(f(x)) = x was not decided: f(x) has tokens off the lines of the given ones"
        return Classification(instance, "not-an-equilibrium", fails(reason), _not_stable(instance), notes=(note,))
    image, norms = forward
    moved = [i + 1 for i, (x, y) in enumerate(zip(setting.tokens, image, strict=True)) if not _equal(x, y)]
    backward = _among_tokens(setting, image, setting.tokens)
    if backward is None or not all(_equal(x, y) for x, y in zip(backward[0], setting.tokens, strict=True)):
        verdict = fails(words.moved_exactly_reason(moved, cycle=False))
        note = words.NO_CYCLE_NOTE
        return Classification(instance, "not-an-equilibrium", verdict, _not_stable(instance), notes=(note,))
    return _two_cycle(setting, field, image, [*norms, *backward[1]], words.moved_exactly_reason(moved, cycle=True))


def _equal(left: Any, right: Any) -> bool:
    return all(certain_zero(a - b) for a, b in zip(left, right, strict=True))


def _among_tokens(setting: ArithmeticSetting, at: State, targets: State) -> tuple[State, list[Any]] | None:
    """``f(at)`` with its norms, if each image lies on the line of one of the targets; ``None`` otherwise."""
    image, norms = [], []
    for index, y in enumerate(setting.raw_step(at)):
        for target in (targets[index], *targets):
            height = setting.pair(target, y)
            if all(certain_zero(b - height * a) for a, b in zip(target, y, strict=True)):
                turn = _certain_sign(height)
                if turn == 0:
                    return None
                image.append(tuple(turn * entry for entry in target))
                norms.append(turn * height)
                break
        else:
            return None
    return tuple(image), norms


# ---------------------------------------------------------------------- equilibria


def _equilibrium(setting: ArithmeticSetting, field: Field, heights: Any) -> Classification:
    instance = setting.instance
    shape = shape_of(setting, field)
    at_rest = _at_rest(setting)
    verdict = holds(words.fixed_reason(instance.system.time is Time.MAP))
    kinds = _kinds(shape, at_rest)
    base = _described(
        Classification(instance, kinds[0], verdict, undecided("open"), also=tuple(kinds[1:])), setting, field, shape
    )
    groups = groups_at(instance, shape.clusters)
    try:
        blocks = _derived_blocks(setting, field, shape, groups, heights, at_rest) if instance.system.standard else None
        if blocks is None:
            matrix, width = _tangent_matrix(setting, heights)
            blocks = reduced_blocks(matrix, groups, width)
        found = linearization(spectral_factors(field, blocks), instance.system.time)
        entries = spectrum_entries(field, found)
    except (ExactnessLimit, ArithmeticError) as limit:
        return _with_balls(base, groups, str(limit))
    base = replace(base, spectrum=entries, linearization=found.answer.text, unstable_dimension=found.outside)
    return replace(base, stable=stability(found, instance.system.time), notes=base.notes + spectrum_notes(found))


def _derived_blocks(
    setting: ArithmeticSetting, field: Field, shape: Shape, groups: list[list[int]], heights: Any, at_rest: bool
) -> list[tuple[Matrix, int]] | None:
    """Blocks of the Jacobian by the formulas for the papers' equation; ``None`` where none of them is for this point."""
    blocks = polygon_blocks(setting) if at_rest and shape.count > 2 else None
    if blocks is None and shape.count > 2:
        blocks = kernel_blocks(setting, field)
    if blocks is None:
        blocks = signed_blocks(setting, field, shape, groups, heights)
    return grouped_blocks(setting, groups, heights) if blocks is None else blocks


def _at_rest(setting: ArithmeticSetting) -> bool:
    """No token is pushed; in Euclidean space, where that holds at every equilibrium: all weighted means are zero.

    In Euclidean space nothing is said of a sublayer that is not a value matrix after weighted means.
    """
    system = setting.instance.system
    if system.space is not Space.EUCLIDEAN:
        return all(certain_zero(entry) for token in setting.influence() for entry in token)
    if not system.standard:
        return False
    algebra = setting.algebra()
    for _, score in system.heads(setting.parameters):
        weights = algebra.attention(setting.tokens, score, setting.instance.mask, False)
        means = algebra.average(weights, setting.tokens)
        if not all(certain_zero(entry) for token in means for entry in token):
            return False
    return True


def _kinds(shape: Shape, at_rest: bool) -> list[ShapeName]:
    kinds: list[ShapeName] = []
    if shape.count == 1:
        kinds.append("consensus")
    elif shape.signs is not None and shape.eigenvalue is not None:
        kinds.append("bipartite")
    if at_rest:
        kinds.append("polygonal")
    return kinds or ["clustering"]


def _described(base: Classification, setting: ArithmeticSetting, field: Field, shape: Shape) -> Classification:
    """The class with k, p, q, the number of clusters and the ranks of the attention matrices."""
    notes = list(base.notes)
    if shape.eigenvalue is not None:
        if shape.place is None:
            notes.append("the place k of the eigenvalue among those of F was not decided")
        if shape.repeated > 1:
            notes.append(words.repeated_note(shape.repeated))
        if shape.tied:
            notes.append(words.TIED_NOTE)
    split = shape.signs is not None and shape.count == 2
    return replace(
        base,
        k=shape.place if shape.eigenvalue is not None else None,
        eigenvalue=None if shape.eigenvalue is None else eigenvalue_entry(field, shape.eigenvalue),
        p=shape.signs.count(1) if split and shape.signs else None,
        q=shape.signs.count(-1) if split and shape.signs else None,
        clusters=shape.count,
        attention_rank=attention_ranks(setting),
        notes=tuple(notes),
    )


def _tangent_matrix(setting: ArithmeticSetting, norms: Any) -> tuple[Matrix, int]:
    matrix = jacobian(setting, norms=norms)
    if setting.instance.system.space is Space.EUCLIDEAN:
        return matrix, setting.instance.d
    pivots = tangent_pivots(setting)
    return intrinsic_jacobian(setting, matrix, pivots, pivots), setting.instance.d - 1


def _with_balls(base: Classification, groups: list[list[int]], limit: str) -> Classification:
    note = f"the exact spectrum was given up ({limit}); the enclosures are certified by ball arithmetic"
    found = ball_spectrum(base.instance, groups)
    if found is None:
        reason = f"the spectrum was not enclosed: {limit}"
        return replace(base, stable=undecided(reason), linearization="undecided", arithmetic="exact, spectrum open")
    entries, answer, gap = found
    time = base.instance.system.time
    verdict = stability_verdict(answer, gap, time, entries, answer is StabilityAnswer.UNSTABLE, "ball arithmetic")
    return replace(
        base,
        spectrum=entries,
        linearization=answer.text,
        stable=verdict,
        arithmetic="exact, spectrum by balls",
        notes=(*base.notes, note),
    )


# ---------------------------------------------------------------------- 2-cycles


def _cycle_matrix(
    setting: ArithmeticSetting, image: State, norms: list[Any], mirrored: bool, groups: list[list[int]]
) -> tuple[Matrix, list[list[int]], int]:
    """The Jacobian of ``f o f`` (of f, where f(x) = -x and f is odd), the groups and the width of a token's block."""
    euclidean = setting.instance.system.space is Space.EUCLIDEAN
    matrix = jacobian(setting, norms=norms)
    start, end = ([], []) if euclidean else (tangent_pivots(setting), tangent_pivots(setting, image))
    if not euclidean:
        matrix = intrinsic_jacobian(setting, matrix, start, end)
    if not mirrored:
        back = jacobian(setting, image, norms)
        if not euclidean:
            back = intrinsic_jacobian(setting, back, end, start, image)
        columns = list(zip(*matrix, strict=True))
        matrix = [[sum_products(row, column) for column in columns] for row in back]
    return matrix, groups, setting.instance.d - (not euclidean)


def _size(entry: ExactEigenvalue) -> float:
    return entry.value.real


def _two_cycle(setting: ArithmeticSetting, field: Field, image: State, norms: list[Any], reason: str) -> Classification:
    """``{x, f(x)}`` is a 2-cycle: multipliers per step, that is the square roots of the moduli for ``f o f``."""
    instance = setting.instance
    shape = shape_of(setting, field)
    at_rest = _at_rest(setting)
    base = Classification(
        instance,
        "2-cycle",
        fails(reason),
        undecided("open"),
        shape=_kinds(shape, at_rest)[0],
    )
    base = _described(base, setting, field, shape)
    mirrored = all(_equal(x, tuple(-entry for entry in y)) for x, y in zip(setting.tokens, image, strict=True))
    mirrored = mirrored and instance.system.standard  # then f is odd, and x a fixed point of -f
    groups = groups_at(instance, shape.clusters)
    try:
        blocks = signed_blocks(setting, field, shape, groups, norms) if mirrored else None
        if blocks is None and mirrored:
            blocks = grouped_blocks(setting, groups, norms)
        if blocks is None:
            blocks = reduced_blocks(*_cycle_matrix(setting, image, norms, mirrored, groups))
        found = linearization(spectral_factors(field, blocks), Time.MAP)
        entries = moduli_entries(field, found, halved=not mirrored)
    except (ExactnessLimit, ArithmeticError) as limit:
        if not mirrored:
            return replace(base, stable=undecided(f"the spectrum was not found: {limit}"), linearization="undecided")
        listed = _with_balls(base, groups, str(limit))
        moduli = [
            replace(
                entry,
                value=complex(abs(entry.value)),
                enclosure="",
                ball=None if entry.ball is None else abs(entry.ball),
            )
            for entry in listed.spectrum
        ]
        note = words.moduli_note(mirrored)
        return replace(listed, spectrum=tuple(sorted(moduli, key=_size)), notes=(*listed.notes, note))
    note = words.moduli_note(mirrored)
    return replace(
        base,
        spectrum=entries,
        linearization=found.answer.text,
        unstable_dimension=found.outside,
        stable=stability(found, Time.MAP),
        notes=(*base.notes, note),
    )
