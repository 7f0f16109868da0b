"""Perturbation of eigenvectors as a proposition: Stewart's theorem for one real direction."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import bibtex
from eigentoken.proofs.steps.equations import for_every
from eigentoken.theory.calculus import Letter, dot, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.propositions import Exists, Implication, proposition
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter

__all__ = ["EIGENVALUE", "INVARIANT_LINE"]

#: The letter for the eigenvalue that exists.
EIGENVALUE = sp.Symbol("zeta", real=True)


def _invariant_line(
    A: sp.MatrixSymbol, w: VectorLetter, below: sp.Expr, beside: sp.Expr, gap: sp.Expr
) -> tuple[tuple[Any, ...], Any]:
    if any(sp.sympify(each).has(Tensor) for each in (below, beside, gap)) or w.name in ("a", "f"):
        raise Refused("the bounds are numbers, and w is no letter of the theorem")
    here, letters = vector(w.name), product(A.name)
    turned = (Letter(A.name, True),)
    image, other = here.applied(letters), here.applied(turned)
    height = Tensor(dot(here, here, letters))
    free = vector("f")
    moved = free.applied(letters)
    rest = Tensor(dot(moved, moved)) - Tensor(dot(here, moved)) ** 2
    mixed = Tensor(dot(free, free, letters))
    across = rest - 2 * height * mixed + height**2 * Tensor(dot(free, free))
    hypotheses = (
        sp.Eq(Tensor(dot(here, here)), 1, evaluate=False),
        sp.Ge(below, 0, evaluate=False),
        sp.Ge(beside, 0, evaluate=False),
        sp.Gt(gap, 0, evaluate=False),
        sp.Gt(gap**2, 4 * below * beside, evaluate=False),
        sp.Le(Tensor(dot(image, image)) - height**2, below**2, evaluate=False),
        sp.Le(Tensor(dot(other, other)) - height**2, beside**2, evaluate=False),
        for_every(
            Implication(
                proposition(sp.Eq(Tensor(dot(here, free)), 0, evaluate=False)),
                proposition(sp.Ge(across, gap**2 * Tensor(dot(free, free)), evaluate=False)),
            ),
            VectorLetter("f"),
        ),
    )
    equal = sp.Eq(Tensor(dot(vector("a"), free, letters)), EIGENVALUE * Tensor(dot(vector("a"), free)), evaluate=False)
    unit = proposition(sp.Eq(Tensor(dot(free, free)), 1, evaluate=False))
    pair = Exists(VectorLetter("f"), unit, for_every(equal, VectorLetter("a")))
    near = proposition(sp.Le(gap * sp.Abs(EIGENVALUE - height), 2 * below * beside, evaluate=False))
    return hypotheses, Exists(EIGENVALUE, near, pair)


#: A real matrix in the frame of a unit vector w: ``|P A w| <= below``, ``|P A^T w| <= beside``, P the projection across w, and
#: ``|P A f - (w^T A w) f| >= gap |f|`` for f at right angles to w.  If ``gap^2 > 4 below beside``, there is a real eigenvector,
#: with an eigenvalue within ``2 below beside / gap`` of ``w^T A w``.
INVARIANT_LINE = Textbook(
    key="Stewart",
    name="Stewart's theorem on invariant subspaces",
    letters={"A": sp.MatrixSymbol, "w": VectorLetter, "below": sp.Expr, "beside": sp.Expr, "gap": sp.Expr},
    says=_invariant_line,
    reference="Stewart, Sun, Matrix Perturbation Theory, chapter on invariant subspaces (a subspace of dimension one)",
    bibtex=bibtex("Stewart-Sun"),
    autonomous=True,
)
