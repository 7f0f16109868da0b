"""PH-T8 in the kernel: what adding ``lambda I`` to the scores does to the form of A.

Let ``A B = W`` and ``C B = G`` with ``G = W + lambda I``.  At ``z = B y`` the forms differ by ``lambda z^T y``, and
``z^T y = y^T B y``: it is the sign of B that decides which way A moves.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.pham.softmax_sums import FORM, IS_FORM
from eigentoken.theory.calculus import dot, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.claims import Claim, When
from eigentoken.theory.language.conditions import NegativeDefinite, PositiveDefinite
from eigentoken.theory.language.terms import matrix

__all__ = ["CLAIMS", "proof"]

B, MOVED, SHIFTED = matrix("B"), matrix("C"), matrix("G")
LAM = sp.Symbol("lambda", real=True)
Y, U, Z = VectorLetter("v"), VectorLetter("u"), VectorLetter("z")
POINT = vector("v")
IMAGE = POINT.applied(product("B"))


def _said(kind: Any, left: Any, right: Any) -> Proposition:
    return proposition(kind(left, sp.sympify(right), evaluate=False))


#: ``z^T G u = z^T W u + lambda z^T u``: G is ``W + lambda I``.
_PAIR = dot(vector("z"), vector("u"))
IS_SHIFT = ForAll(
    Z,
    TRUE,
    ForAll(
        U,
        TRUE,
        _said(
            sp.Eq,
            Tensor(dot(vector("z"), vector("u"), product("G"))),
            Tensor(dot(vector("z"), vector("u"), product("W"))) + LAM * Tensor(_PAIR),
        ),
    ),
)
IS_MOVED = proposition(sp.Eq(MOVED * B, SHIFTED, evaluate=False))
BEFORE, AFTER = (Tensor(dot(IMAGE, IMAGE, product(name))) for name in ("A", "C"))
WORK = Tensor(dot(POINT, POINT, product("B")))
NONZERO = _said(sp.Gt, Tensor(dot(POINT, POINT)), 0)


POSITIVE = proposition(LAM > 0)


def _for_all(body: Proposition, guard: Proposition = TRUE, sign: Proposition = TRUE) -> ForAll:
    """For every A, lambda, ``G = W + lambda I``, C with ``C B = G``, and vector v."""
    at_point = ForAll(MOVED, IS_MOVED, ForAll(Y, guard, body))
    return ForAll(FORM, IS_FORM, ForAll(LAM, sign, ForAll(SHIFTED, IS_SHIFT, at_point)))


IDENTITY = _said(sp.Eq, AFTER, BEFORE + LAM * WORK)
CLAIMS: tuple[Claim, ...] = (
    Formula(_for_all(IDENTITY)),
    When(NegativeDefinite(B), Formula(_for_all(_said(sp.Lt, AFTER, BEFORE), NONZERO, POSITIVE))),
    When(PositiveDefinite(B), Formula(_for_all(_said(sp.Gt, AFTER, BEFORE), NONZERO, POSITIVE))),
)


def _identity(kernel: Kernel) -> Proved:
    """``(B v)^T C (B v) = (B v)^T G v = (B v)^T W v + lambda (B v)^T v``."""
    shift = kernel.instantiate(kernel.instantiate(kernel.assume(IS_SHIFT), IMAGE), POINT)
    facts = [
        kernel.reduction(dot(IMAGE, IMAGE, product("C")), dot(IMAGE, POINT, product("G")), kernel.assume(IS_MOVED)),
        kernel.reduction(dot(IMAGE, IMAGE, product("A")), dot(IMAGE, POINT, product("W")), kernel.assume(IS_FORM)),
        kernel.reduction(dot(IMAGE, POINT), dot(POINT, POINT, product("B"))),
        shift,
    ]
    return kernel.arithmetic(facts, IDENTITY)


def _every(kernel: Kernel, proved: Proved, guard: Proposition = TRUE, sign: Proposition = TRUE) -> Proved:
    at_point = kernel.generalise(MOVED, kernel.generalise(Y, proved, guard), IS_MOVED)
    shifted = kernel.generalise(SHIFTED, at_point, IS_SHIFT)
    return kernel.generalise(FORM, kernel.generalise(LAM, shifted, sign), IS_FORM)


def proof(kernel: Kernel) -> Proved:
    """The identity; and its sign for a definite B."""
    identity = _identity(kernel)
    parts = [_every(kernel, identity)]
    for word, relation in ((NegativeDefinite(B), sp.Lt), (PositiveDefinite(B), sp.Gt)):
        signed = kernel.modus_ponens(kernel.as_form(word), kernel.assume(word))
        here = kernel.instantiate(signed, POINT, kernel.assume(NONZERO))
        moved = kernel.arithmetic([identity, here, kernel.assume(POSITIVE)], _said(relation, AFTER, BEFORE))
        parts.append(kernel.discharge(word, _every(kernel, moved, NONZERO, POSITIVE)))
    return kernel.conjunction(*parts)
