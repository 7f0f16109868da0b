"""A number of a matrix: the least difference of two neighbouring eigenvalues, positive where the spectrum is simple."""

from __future__ import annotations

from typing import Any

from eigentoken.theory.language.terms import MatrixNumber

__all__ = ["EigenvalueGap"]


class EigenvalueGap(MatrixNumber):
    """``min_k (lambda_k(X) - lambda_{k+1}(X))``, of the real parts from the top: positive where all of them differ.

    A matrix of size one has no two eigenvalues: its gap is infinite.
    """

    def _latex(self, printer: Any) -> str:
        term = printer._print(self.args[0])
        return rf"\min_k\left(\lambda_k({term}) - \lambda_{{k+1}}({term})\right)"
