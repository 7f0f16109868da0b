"""Textbook theorems as propositions: what a reader must believe, with typed letters, hypotheses and conclusion.

Books are cited by author, title and chapter; numbers of theorems differ from edition to edition, and were not checked.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import bibtex
from eigentoken.theory.calculus import Expression, dot
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.terms import Eigenvalue, d

__all__ = ["RAYLEIGH_BELOW"]


def _rayleigh(A: sp.MatrixSymbol, z: Expression) -> tuple[tuple[Any, ...], Any]:
    least = Eigenvalue(A, d) * Tensor(dot(z, z))
    return (Symmetric(A),), sp.Ge(Tensor(dot(z, z, product(A.name))), least, evaluate=False)


#: ``z^T A z >= lambda_d(A) |z|^2``.
RAYLEIGH_BELOW = Textbook(
    key="Rayleigh",
    name="Rayleigh's principle",
    letters={"A": sp.MatrixSymbol, "z": Expression},
    says=_rayleigh,
    reference="Horn, Johnson, Matrix Analysis, chapter on Hermitian matrices (variational characterisations)",
    bibtex=bibtex("Horn-Johnson"),
)
