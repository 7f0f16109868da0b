"""Norms that are adapted to a matrix with a dominant eigenvalue, as a proposition."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import bibtex
from eigentoken.theory.calculus import dot, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Exists,
    ForAll,
    Implication,
    Proposition,
    proposition,
)
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.kernel.words import top_eigenvector
from eigentoken.theory.language.conditions import NonPrincipalModulusBelow, PositiveDefinite, Symmetric
from eigentoken.theory.language.terms import Eigenvalue, matrix

__all__ = ["ADAPTED_NORM", "FORM", "RHO", "contracts"]

#: The matrix of the norm, and its contraction factor.
FORM, RHO = matrix("N"), sp.Symbol("rho", nonnegative=True)


def contracts(A: sp.MatrixSymbol) -> Proposition:
    """``|A z|_N^2 <= rho^2 |z|_N^2`` for all z with ``u^T z = 0``."""
    z, norm = vector("z"), product(FORM.name)
    moved = z.applied(product(A.name))
    below = sp.Le(Tensor(dot(moved, moved, norm)), RHO**2 * Tensor(dot(z, z, norm)), evaluate=False)
    level = proposition(sp.Eq(Tensor(dot(vector("u"), z)), 0, evaluate=False))
    return ForAll(VectorLetter("z"), TRUE, Implication(level, proposition(below)))


def _adapted(A: sp.MatrixSymbol) -> tuple[tuple[Any, ...], Any]:
    factor = Exists(RHO, proposition(Eigenvalue(A, 1) > RHO), contracts(A))
    norm = Exists(FORM, proposition_of_norm(), factor)
    side = proposition(sp.Gt(Tensor(dot(vector("u"), vector("v"))), 0, evaluate=False))
    pair = Exists(VectorLetter("v"), Conjunction((top_eigenvector(A, "v"), side)), norm)
    conclusion = ForAll(VectorLetter("u"), top_eigenvector(A, "u", left=True), pair)
    return (NonPrincipalModulusBelow(A), sp.Gt(Eigenvalue(A, 1), 0)), conclusion


def proposition_of_norm() -> Proposition:
    """N is symmetric and positive definite."""
    return Conjunction((proposition(Symmetric(FORM)), proposition(PositiveDefinite(FORM))))


#: For a left top eigenvector u of A: there is a right one, v, with ``u^T v > 0`` (the eigenvalue is simple), and a Euclidean norm
#: ``|z|_N`` in which A, on the space ``u^T z = 0`` where its eigenvalues are the others, contracts by less than ``lambda_1``.
ADAPTED_NORM = Textbook(
    key="adapted-norm",
    name="the theorem on norms close to the spectral radius",
    letters={"A": sp.MatrixSymbol},
    says=_adapted,
    reference="Horn, Johnson, Matrix Analysis, chapter on norms (matrix norms and the spectral radius)",
    bibtex=bibtex("Horn-Johnson"),
    autonomous=True,
)
