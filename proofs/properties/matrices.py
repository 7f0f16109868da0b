"""Searches for failures without a condition, for statements about matrices and single formulas (steering, Abella, Pham).

The cases are as in :mod:`eigentoken.proofs.properties.first_failures`: exact instances, drawn at random, certified by
exact arithmetic.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import sympy as sp

from eigentoken.proofs.properties.first_failures import small, unit_vector
from eigentoken.proofs.steps.tensor_reductions import EXACT, velocity
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import sign
from eigentoken.theory.systems.algebra import causal_mask

ZETA = sp.Symbol("zeta")


def _matrix(source: Random, size: int) -> sp.Matrix:
    return sp.Matrix(size, size, lambda *_: sp.Integer(source.randint(-3, 3)))


def _vector(source: Random, size: int) -> sp.Matrix:
    return sp.Matrix([sp.Integer(source.randint(-2, 2)) for _ in range(size)])


def _shown(matrix: sp.Matrix) -> str:
    return str(matrix.tolist())


def _rows(matrix: sp.Matrix) -> tuple[tuple[Any, ...], ...]:
    return tuple(map(tuple, matrix.tolist()))


# -- steering --------------------------------------------------------------------------------------------------------


def _edited(source: Random, size: int = 3) -> tuple[sp.Matrix, sp.Matrix, sp.Matrix, sp.Integer]:
    return _matrix(source, size), _vector(source, size), _vector(source, size), sp.Integer(source.randint(1, 5))


def _shifts_one(f: sp.Matrix, w: sp.Matrix, z: sp.Matrix, mu: Any) -> bool:
    """Is the spectrum of F + mu w z^T that of F with one eigenvalue replaced by itself plus mu?"""
    before, after = (each.charpoly(ZETA).as_expr() for each in (f, f + mu * w * z.T))
    return any(
        sp.expand(after * (ZETA - root) - before * (ZETA - root - mu)) == 0
        for root in sp.roots(sp.Poly(before, ZETA), multiple=True)
    )


def edit_without_eigenvector(source: Random) -> Verdict:
    """PM-S2 with neither eigenvector, ``z^T w = 1``: more than one eigenvalue changes, or by another amount."""
    f, w, z, mu = _edited(source, 2)
    right, left = f * w, (z.T * f).T
    if (z.T * w)[0] != 1 or right[0] * w[1] == right[1] * w[0] or left[0] * z[1] == left[1] * z[0]:
        return fails("not an instance")
    if not _shifts_one(f, w, z, mu):
        return holds(
            f"F = {_shown(f)}, w = {_shown(w)}, z = {_shown(z)}, mu = {mu}: no single eigenvalue is shifted by mu"
        )
    return fails("one eigenvalue is shifted")


def edit_not_normalised(source: Random) -> Verdict:
    """PM-S2 with ``z^T w != 1``: the shift is ``mu z^T w``, not mu."""
    entries = [sp.Integer(source.randint(-4, 4)) for _ in range(2)]
    f, w = sp.diag(*entries), sp.Matrix([1, 0])
    z, mu = (
        sp.Matrix([sp.Integer(source.randint(-3, 3)), sp.Integer(source.randint(1, 3))]),
        sp.Integer(source.randint(1, 5)),
    )
    if z[0] in (0, 1):
        return fails("z^T w = 1, or no shift at all")
    found = (f + mu * w * z.T).eigenvals(multiple=True)
    if not _shifts_one(f, w, z, mu) and sorted(found) == sorted([entries[0] + mu * z[0], entries[1]]):
        return holds(f"F = diag{tuple(entries)}, w = e_1, z = {_shown(z)}, mu = {mu}: the shift is {mu * z[0]}")
    return fails("shifted by mu")


def unsteered_token(source: Random) -> Verdict:
    """PM-S3 with ``kappa_i = 0``: the step does not depend on mu at all."""
    value, x, o = _matrix(source, 2), _vector(source, 2), _vector(source, 2)
    if value.det() == 0 or not any(o):
        return fails("V_cat is singular")
    inner = value.inv() * o
    z = sp.Matrix([-inner[1], inner[0]])
    w = sp.Matrix([sp.Rational(3, 5), sp.Rational(4, 5)])
    u, alpha = _matrix(source, 2), sp.Rational(1, 2)
    steps = [x + alpha * (u + mu * w * z.T * value.inv()) * o for mu in (0, 1, 10**6)]
    off = steps[0][0] * w[1] != steps[0][1] * w[0]
    if (z.T * z)[0] != 0 and steps[0] == steps[1] == steps[2] and off:
        return holds(
            f"V_cat = {_shown(value)}, o = {_shown(o)}, z = {_shown(z)}: kappa = 0 and y is the same for mu = 0, 1, 10^6"
        )
    return fails("steered")


# -- Abella ----------------------------------------------------------------------------------------------------------


def weight_of_a_later_token(source: Random) -> Verdict:
    """AB-L4.1 for causal attention and ``j > i``: the weight is zero, below every positive bound."""
    count = source.randint(2, 4)
    state = tuple(tuple(sp.Rational(each) for each in unit_vector(source)) for _ in range(count))
    score = _matrix(source, 2)
    weights = EXACT.attention(state, _rows(score), causal_mask(count), True)
    later = [weights[i][j] for i in range(count) for j in range(i + 1, count)]
    if later and all(each == 0 for each in later):
        return holds(f"{count} tokens, P = {_shown(score)}: all {len(later)} causal weights with j > i are 0")
    return fails("a weight is positive")


def no_open_hemisphere(source: Random) -> Verdict:
    """AB-R4.2 with ``l = n + 2`` tokens in R^{n+1}: a positive combination of them is zero, so no open hemisphere has them."""
    d = source.randint(2, 4)
    tokens = sp.Matrix([[sp.Integer(source.randint(-3, 3)) for _ in range(d + 1)] for _ in range(d)])
    kernel = tokens.nullspace()
    if len(kernel) != 1:
        return fails("more than one relation")
    relation = kernel[0]
    if all(each > 0 for each in relation) or all(each < 0 for each in relation):
        return holds(
            f"the columns of {_shown(tokens)} satisfy the relation {_shown(relation.T)}: a probability below 1"
        )
    return fails("the tokens may lie in a hemisphere")


def attention_that_ends(source: Random) -> Verdict:
    """AB-L5.1 with a finite integral of the weight: ``a(t) = tanh(artanh a_0 + S)`` stays below 1."""
    a0 = Fraction(source.randint(-9, 9), 10)
    total = Fraction(source.randint(1, 30), 10)
    e = sp.exp(2 * sp.Rational(total.numerator, total.denominator))
    start = sp.Rational(a0.numerator, a0.denominator)
    limit = (e * (1 + start) - (1 - start)) / (e * (1 + start) + (1 - start))
    room = 2 * (1 - start) / (e * (1 + start) + (1 - start))
    if room.is_positive:
        return holds(f"a_0 = {a0}, integral {total}: a stays below {sp.N(limit, 6)}, by the exact formula")
    return fails("the limit is 1")


# -- Pham ------------------------------------------------------------------------------------------------------------


def _rotated(source: Random) -> sp.Matrix:
    c, s = unit_vector(source)
    return sp.Matrix([[sp.Rational(c), -sp.Rational(s)], [sp.Rational(s), sp.Rational(c)]])


def _definite(matrix: sp.Matrix) -> int:
    """1, -1 or 0: the sign of the symmetric part of a 2 x 2 matrix, if it is definite."""
    part = (matrix + matrix.T) / 2
    if part.det() <= 0:
        return 0
    return 1 if part[0, 0] > 0 else -1


def _positive_parts(matrix: sp.Matrix) -> int | None:
    """The number of eigenvalues with positive real part of a 2 x 2 matrix; none where one lies on the imaginary axis."""
    trace, det = matrix.trace(), matrix.det()
    if det < 0:
        return 1
    if det == 0 or trace == 0:
        return None
    return 2 if trace > 0 else 0


def _counts_differ(a: sp.Matrix, w: sp.Matrix) -> Verdict:
    """Do A and ``B = A^{-1} W`` have different numbers of eigenvalues with positive real part?"""
    counts = _positive_parts(a), _positive_parts(a.inv() * w)
    if None not in counts and counts[0] != counts[1]:
        return holds(
            f"A = {_shown(a)}, W = {_shown(w)}: {counts[0]} and {counts[1]} eigenvalues with positive real part"
        )
    return fails("the counts agree")


def inertia_without_symmetry(source: Random) -> Verdict:
    """PH-T5 with A not symmetric, sym W > 0: the counts of A and of B = A^{-1} W differ."""
    a = -_rotated(source) * sp.Integer(source.randint(1, 3)) + sp.Integer(source.randint(0, 1)) * _matrix(source, 2)
    w = _rotated(source) * sp.Integer(source.randint(1, 3))
    if a.det() == 0 or a == a.T or _definite(w) != 1:
        return fails("not an instance")
    return _counts_differ(a, w)


def inertia_with_negative_scores(source: Random) -> Verdict:
    """PH-T5 with sym W < 0, A symmetric: the count flips."""
    a = _matrix(source, 2)
    a = a + a.T
    w = -_rotated(source)
    if a.det() == 0 or _definite(w) != -1:
        return fails("not an instance")
    return _counts_differ(a, w)


def pair_form_stands_still(source: Random) -> Verdict:
    """PH-T1, strictness, with sym W = 0 (not definite): two different tokens, and the pair form is constant."""
    entry = sp.Rational(small(source))
    score = sp.Matrix([[0, entry], [-entry, 0]])
    form = sp.diag(sp.Rational(small(source)), sp.Rational(small(source)))
    value = form.inv() * score
    tokens = tuple(tuple(sp.Rational(small(source)) for _ in range(2)) for _ in range(2))
    speed = velocity("token-flow", {"B": _rows(value), "W": _rows(score)}, tokens)
    gap, change = (sp.Matrix([a - b for a, b in zip(*each, strict=True)]) for each in (tokens, speed))
    if any(gap) and sp.simplify((gap.T * form * change)[0]) == 0:
        return holds(f"A = {_shown(form)}, W = {_shown(score)}, tokens {tokens}: the pair form has derivative 0")
    return fails("it grows")


def one_token_converges(source: Random) -> Verdict:
    """PH-T2, necessity, with one token: A < 0 symmetric, sym W not definite, and x' = B x converges to 0 all the same."""
    a = -sp.diag(sp.Integer(source.randint(1, 4)), sp.Integer(source.randint(1, 4)))
    w = _matrix(source, 2)
    value = a.inv() * w
    if _definite(w) == 0 and value.det() > 0 and value.trace() < 0:
        return holds(
            f"A = {_shown(a)}, W = {_shown(w)} (not definite): B = {_shown(value)} is Hurwitz, one token tends to 0"
        )
    return fails("not an instance")


def positive_form_grows(source: Random) -> Verdict:
    """PH-T2 with A > 0 symmetric, sym W > 0: B = A^{-1} W has an eigenvalue with positive real part, consensus tokens grow."""
    form = sp.diag(sp.Integer(source.randint(1, 4)), sp.Integer(source.randint(1, 4)))
    score = _rotated(source)
    if _definite(score) != 1:
        return fails("W is not positive definite")
    value = form.inv() * score
    if (_positive_parts(value) or 0) > 0:
        return holds(
            f"A = {_shown(form)}, W = {_shown(score)}: B = {_shown(value)} expands, and consensus states obey x' = B x"
        )
    return fails("B is Hurwitz")


def _radial_direction(source: Random, stretches: tuple[int, int], radii: tuple[int, int]) -> tuple[Any, ...]:
    """A stretch a and a radius r in tenths, ``c = (a^2 - a^{-2})/2``, and the sign of the registered flow's radial speed."""
    from eigentoken.proofs.properties.rotary_rings import a, r, radial_speed

    stretch, radius = (sp.Rational(source.randint(*each), 10) for each in (stretches, radii))
    return (stretch**2 - 1 / stretch**2) / 2, stretch, radius, sign(radial_speed()[0].subs({a: stretch, r: radius}))


def rotary_without_divergence(source: Random) -> Verdict:
    """PH-T7(c) with ``|c| <= 1``: the radius does not grow."""
    c, stretch, radius, direction = _radial_direction(source, (8, 19), (1, 20))
    if abs(c) <= 1 and direction == -1:
        return holds(f"a = {stretch}, c = {c}, r = {radius}: the radius shrinks")
    return fails("|c| > 1")


def equal_tokens_at_rest(source: Random) -> Verdict:
    """PH-T3 with equal tokens, all of them 0: an equilibrium, for any A > 0 and sym W > 0."""
    form = sp.diag(abs(sp.Rational(small(source))), abs(sp.Rational(small(source))))
    score = _rotated(source)
    value = form.inv() * score
    zero = tuple((sp.Integer(0), sp.Integer(0)) for _ in range(source.randint(2, 4)))
    speed = velocity("token-flow", {"B": _rows(value), "W": _rows(score)}, zero)
    if _definite(score) == 1 and not any(entry for row in speed for entry in row):
        return holds(f"A = {_shown(form)}, W = {_shown(score)}: tokens at 0 stay there")
    return fails("they move")
