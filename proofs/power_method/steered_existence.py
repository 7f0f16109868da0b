"""There is a large eigenvalue of ``G = F + mu w z^T``: Stewart's theorem in the frame of w.

``|P G w| = |P F w| <= N``, ``|G^T w| <= N + mu Z``, and across w, where P takes the edit away, ``P F - w^T G w`` stretches by
at least ``mu - 2N``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.power_method.rank_one_edits import EDITED, MU
from eigentoken.proofs.power_method.steered_eigenvalues import (
    ALONG,
    BOUNDS,
    EXISTS,
    LARGE,
    LONG,
    NORM,
    SETTING,
    SIZE,
    UNIT,
    ZETA,
    length_of_edit,
    nonnegative,
)
from eigentoken.proofs.power_method.steered_numbers import at_values
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.perturbation_theorems import INVARIANT_LINE
from eigentoken.proofs.steps.theorems import EUCLIDEAN, OPERATOR_NORM
from eigentoken.theory.calculus import Expression, Letter, dot, matrix, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.terms import matrix as letter

__all__ = ["exists"]

_F, _E = letter("F"), VectorLetter("f")
_e, _w, _z = vector("f"), vector("w"), vector("z")
_ONCE, _BACK = matrix("F"), (Letter("F", True),)


def _form(k: Kernel, left: Expression, right: Expression) -> Proved:
    """``a^T G b = a^T F b + mu (a^T w)(z^T b)``."""
    return k.instantiate(k.instantiate(k.assume(EDITED), left), right)


def _below(k: Kernel) -> Proved:
    """``|P G w|^2 = |P F w|^2 <= N^2``."""
    image, plain = _w.applied(matrix("G")), _w.applied(_ONCE)
    height = dot(_w, _w, matrix("G"))
    bounded_ = k.textbook(OPERATOR_NORM, A=_F, z=_w)
    known = [
        *(_form(k, each, _w) for each in (image, plain, _w)),
        expanded(k, dot(image, _w, matrix("G")), (1, dot(image, image))),
        expanded(k, dot(image, _w, _ONCE), (1, dot(image, plain))),
        expanded(k, dot(image, _w), (1, height)),
        expanded(k, dot(plain, _w, matrix("G")), (1, dot(image, plain))),
        expanded(k, dot(plain, _w, _ONCE), (1, dot(plain, plain))),
        expanded(k, dot(plain, _w), (1, dot(_w, _w, _ONCE))),
        *(k.assume(UNIT), k.assume(ALONG)),
    ]
    plain_height = Tensor(dot(_w, _w, _ONCE))
    size = k.arithmetic(
        known,
        sp.Eq(
            Tensor(dot(image, image)) - Tensor(height) ** 2, Tensor(dot(plain, plain)) - plain_height**2, evaluate=False
        ),
    )
    bound = sp.Le(Tensor(dot(image, image)) - Tensor(height) ** 2, NORM**2, evaluate=False)
    return k.arithmetic([size, k.part(bounded_, bounded_.proposition.parts[0]), k.assume(UNIT)], bound)


def _beside(k: Kernel) -> Proved:
    """``|G^T w|^2 = |F^T w + mu z|^2 <= (N + mu Z)^2``."""
    turned = (Letter("G", True),)
    image, plain = _w.applied(turned), _w.applied(_BACK)
    known = [
        *(_form(k, _w, each) for each in (image, plain, _z)),
        expanded(k, dot(_w, image, matrix("G")), (1, dot(image, image))),
        expanded(k, dot(_w, image, _ONCE), (1, dot(plain, image))),
        expanded(k, dot(_z, image), (1, dot(_w, _z, matrix("G")))),
        expanded(k, dot(_w, plain, matrix("G")), (1, dot(plain, image))),
        expanded(k, dot(_w, plain, _ONCE), (1, dot(plain, plain))),
        expanded(k, dot(_w, _z, _ONCE), (1, dot(plain, _z))),
        k.assume(UNIT),
    ]
    size = k.arithmetic(
        known,
        sp.Eq(
            Tensor(dot(image, image)),
            Tensor(dot(plain, plain)) + 2 * MU * Tensor(dot(plain, _z)) + MU**2 * Tensor(dot(_z, _z)),
            evaluate=False,
        ),
    )
    bounded_ = k.textbook(OPERATOR_NORM, A=_F, z=plain)
    moved = plain.applied(_ONCE)
    own = k.arithmetic(
        [
            k.textbook(EUCLIDEAN, y=_w, z=moved),
            expanded(k, dot(_w, moved), (1, dot(plain, plain))),
            *(k.part(bounded_, each) for each in bounded_.proposition.parts),
            *(k.assume(UNIT), k.square(plain)),
        ],
        sp.Le(Tensor(dot(plain, plain)), NORM**2, evaluate=False),
    )
    cauchy = k.textbook(EUCLIDEAN, y=plain, z=_z)
    p, c, s, m, n, r = sp.symbols("p c s m n r", real=True)
    hypotheses = (p >= 0, p <= n**2, s >= 0, s <= r**2, sp.Le(c**2, p * s), m >= 0, n >= 0, r >= 0)
    cross = k.lemma(hypotheses, c <= n * r, p, c, s, m, n, r)
    mixed = at_values(
        k,
        cross,
        (Tensor(dot(plain, plain)), Tensor(dot(plain, _z)), Tensor(dot(_z, _z)), MU, NORM, LONG),
        *(own, cauchy, k.assume(SIZE), k.square(plain), k.square(_z), nonnegative(k), k.assume(LARGE)),
    )
    height = Tensor(dot(_w, _w, matrix("G")))
    bound = sp.Le(Tensor(dot(image, image)) - height**2, (NORM + MU * LONG) ** 2, evaluate=False)
    whole = [size, own, mixed, k.assume(SIZE), k.assume(LARGE), nonnegative(k)]
    total = sp.Le(Tensor(dot(image, image)), (NORM + MU * LONG) ** 2, evaluate=False)
    return k.arithmetic([k.arithmetic(whole, total)], bound)


def _separated(k: Kernel, wanted: Proposition) -> Proved:
    """``|P G f - (w^T G w) f|^2 >= (mu - 2N)^2 |f|^2`` for f at right angles to w."""
    image, plain = _e.applied(matrix("G")), _e.applied(_ONCE)
    level = k.assume(wanted.left)
    across = plain - _w * dot(_w, plain)
    known = [
        *(_form(k, each, _e) for each in (image, plain, _w, _e)),
        expanded(k, dot(image, _e, matrix("G")), (1, dot(image, image))),
        expanded(k, dot(image, _e, _ONCE), (1, dot(image, plain))),
        expanded(k, dot(plain, _e, matrix("G")), (1, dot(image, plain))),
        expanded(k, dot(plain, _e, _ONCE), (1, dot(plain, plain))),
        expanded(k, dot(_w, _e, matrix("G")), (1, dot(_w, image))),
        expanded(k, dot(_w, _e, _ONCE), (1, dot(_w, plain))),
        *(k.assume(UNIT), level),
    ]
    flat = Tensor(dot(image, image)) - Tensor(dot(_w, image)) ** 2
    size = Tensor(dot(across, across))
    square = expanded(
        k,
        dot(across, across),
        (1, dot(plain, plain)),
        (-2, dot(_w, plain), dot(_w, plain)),
        (1, dot(_w, plain), dot(_w, plain), dot(_w, _w)),
    )
    rest = k.arithmetic([*known, square], sp.Eq(flat, size, evaluate=False))
    mixed = k.arithmetic(known, sp.Eq(Tensor(dot(_e, _e, matrix("G"))), Tensor(dot(_e, _e, _ONCE)), evaluate=False))
    bounded_ = k.textbook(OPERATOR_NORM, A=_F, z=_e)
    inside = [
        square,
        k.part(bounded_, bounded_.proposition.parts[0]),
        k.textbook(EUCLIDEAN, y=_e, z=across),
        expanded(k, dot(_e, across), (1, dot(_e, plain)), (-1, dot(_w, plain), dot(_w, _e))),
        expanded(k, dot(_e, _e, _ONCE), (1, dot(_e, plain))),
        *(k.assume(UNIT), level),
    ]
    own, length = Tensor(dot(_e, _e, _ONCE)), Tensor(dot(_e, _e))
    small = k.arithmetic(inside, sp.And(sp.Le(own**2, size * length), sp.Le(size, NORM**2 * length)))
    height = Tensor(dot(_w, _w, matrix("G")))
    high = k.arithmetic([_form(k, _w, _w), k.assume(UNIT), k.assume(ALONG), _plain_height(k)], height >= MU - NORM)
    s, m, e, h, n, u = sp.symbols("s m e h n u", real=True)
    hypotheses = (e >= 0, s >= 0, sp.Le(m**2, s * e), s <= n**2 * e, n >= 0, h >= u - n, u >= 2 * n)
    lemma = k.lemma(hypotheses, s - 2 * h * m + h**2 * e >= (u - 2 * n) ** 2 * e, s, m, e, h, n, u)
    wide = k.arithmetic([k.assume(LARGE), nonnegative(k), length_of_edit(k)], sp.And(MU >= 2 * NORM, NORM >= 0))
    found = at_values(
        k, lemma, (size, own, length, height, NORM, MU), small, high, wide, k.square(_e), k.square(across)
    )
    return k.generalise(_E, k.discharge(wanted.left, k.arithmetic([found, rest, mixed], wanted.right)))


def _plain_height(k: Kernel) -> Proved:
    """``|w^T F w| <= N``."""
    bounded_ = k.textbook(OPERATOR_NORM, A=_F, z=_w)
    plain = _w.applied(_ONCE)
    known = [
        k.textbook(EUCLIDEAN, y=_w, z=plain),
        *(k.part(bounded_, each) for each in bounded_.proposition.parts),
        expanded(k, dot(_w, _w, _ONCE), (1, dot(_w, plain))),
        k.assume(UNIT),
    ]
    return k.arithmetic(known, sp.Abs(Tensor(dot(_w, _w, _ONCE))) <= NORM)


def exists(k: Kernel, steered: Proved) -> Proved:
    """A proof of :data:`EXISTS`, from Stewart's theorem and :data:`STEERED`."""
    below, beside, gap = NORM, NORM + MU * LONG, MU - 2 * NORM
    objects = {"A": letter("G"), "w": VectorLetter("w"), "below": below, "beside": beside, "gap": gap}
    needed = INVARIANT_LINE.of(**objects)[0]
    setting = [k.assume(LARGE), nonnegative(k), length_of_edit(k)]
    found = k.textbook(
        INVARIANT_LINE,
        k.assume(UNIT),
        *(k.arithmetic(setting, each) for each in needed[1:5]),
        _below(k),
        _beside(k),
        _separated(k, needed[7].body),
        **objects,
    )
    pair = found.proposition.body
    near, unit, eigen = k.assume(found.proposition.guard), k.assume(pair.guard), k.assume(pair.body)
    height = k.arithmetic(
        [_form(k, _w, _w), k.assume(UNIT), k.assume(ALONG), _plain_height(k)],
        sp.Abs(Tensor(dot(_w, _w, matrix("G"))) - MU) <= NORM,
    )
    x, h, m, n, r = sp.symbols("x h m n r", real=True)
    hypotheses = (m > 0, n >= 0, r >= 1, m >= 20 * n * r, sp.Abs(h - m) <= n)
    lemma = k.lemma(
        (*hypotheses, (m - 2 * n) * sp.Abs(x - h) <= 2 * n * (n + m * r)), 2 * sp.Abs(x) >= m, x, h, m, n, r
    )
    half = at_values(k, lemma, (ZETA, Tensor(dot(_w, _w, matrix("G"))), MU, NORM, LONG), *setting, near, height)
    both = k.conjunction(eigen, unit)
    whole = k.modus_ponens(steered, k.conjunction(*(k.assume(each) for each in SETTING.parts), both, half))
    first, *rest = (k.part(whole, each) for each in BOUNDS.parts)
    inner = k.witness(EXISTS.right.body, _E, both, *rest)
    outer = k.witness(EXISTS.right, ZETA, first, inner)
    shown = k.exists_elimination(found, k.exists_elimination(k.assume(pair), outer))
    return k.discharge(SETTING, shown)
