"""The nouns of the language: matrices, eigenvalues and the other numbers that conditions speak of.

Matrix terms are sympy matrix expressions over ``MatrixSymbol``; scalar terms are sympy expressions in ordinary symbols
(n, d, p, q, k, alpha, ...) and in *quantities*: numbers computed from the matrices of an instance.  Eigenvalues
are numbered from the top, lambda_1 >= ... >= lambda_d (by real part where the matrix is not symmetric).
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.matrices.expressions.matexpr import MatrixExpr

__all__ = [
    "Angle",
    "Determinant",
    "Eigenvalue",
    "EigenvalueModulus",
    "EigenvalueRealPart",
    "H",
    "HeadCount",
    "HeadNorm",
    "HemisphereShare",
    "LargestEntry",
    "MatrixNumber",
    "Rank",
    "RightCount",
    "ScoreAtEigenvector",
    "SmallestEntry",
    "SpectralNorm",
    "SpectralRadiusOff",
    "Trace",
    "alpha",
    "d",
    "ell",
    "k",
    "matrix",
    "n",
    "p",
    "plain",
    "q",
    "skew",
    "sym",
    "t_split",
]

n = sp.Symbol("n", integer=True, positive=True)
d = sp.Symbol("d", integer=True, positive=True)
k = sp.Symbol("k", integer=True, positive=True)
ell = sp.Symbol("ell", integer=True, positive=True)
p = sp.Symbol("p", integer=True, positive=True)
q = sp.Symbol("q", integer=True, positive=True)
alpha = sp.Symbol("alpha", positive=True)

#: t = ln(p/q) / 2, the imbalance of a bipartite split.
t_split = sp.log(p / q) / 2


def matrix(name: str) -> sp.MatrixSymbol:
    """The d x d matrix parameter of that name."""
    return sp.MatrixSymbol(name, d, d)


def scalar(name: str) -> sp.Symbol:
    """A number among the parameters of a system that another package registered.

    >>> scalar("c") > 0
    c > 0
    """
    return sp.Symbol(name, real=True)


def sym(term: MatrixExpr) -> MatrixExpr:
    """The symmetric part (X + X^T)/2."""
    return (term + term.T) / 2


def skew(term: MatrixExpr) -> MatrixExpr:
    """The skew part (X - X^T)/2."""
    return (term - term.T) / 2


class MatrixNumber(sp.Expr):  # type: ignore[misc]
    """A real number computed from the matrices of an instance; its arguments are terms."""

    is_real = True
    is_commutative = True
    letter = "c"

    def __new__(cls, *args: Any) -> MatrixNumber:
        made: MatrixNumber = sp.Expr.__new__(cls, *(sp.sympify(arg) for arg in args))
        return made

    def _latex(self, printer: Any) -> str:
        inside = ", ".join(printer._print(arg) for arg in self.args)
        return rf"{self.letter}({inside})"


class Eigenvalue(MatrixNumber):
    """``lambda_k(X)``: the k-th eigenvalue from the top (the real part decides the order).

    >>> sp.latex(Eigenvalue(matrix("V"), 1))
    '\\\\lambda_{1}(V)'
    """

    def _latex(self, printer: Any) -> str:
        term, index = self.args
        return rf"\lambda_{{{printer._print(index)}}}({printer._print(term)})"


class EigenvalueRealPart(MatrixNumber):
    """``Re lambda_k(X)``, of the k-th eigenvalue from the top, which may be complex."""

    def _latex(self, printer: Any) -> str:
        term, index = self.args
        return rf"\operatorname{{Re}}\lambda_{{{printer._print(index)}}}({printer._print(term)})"


class EigenvalueModulus(MatrixNumber):
    """``|lambda_k(X)|``, of the k-th eigenvalue from the top, which may be complex."""

    def _latex(self, printer: Any) -> str:
        term, index = self.args
        return rf"\lvert\lambda_{{{printer._print(index)}}}({printer._print(term)})\rvert"


class SpectralNorm(MatrixNumber):
    """``|X|``: the largest singular value."""

    def _latex(self, printer: Any) -> str:
        return rf"\lVert {printer._print(self.args[0])} \rVert"


class HeadNorm(MatrixNumber):
    """``max_h |X_h|``: the largest norm of a matrix over the heads (with one head, its norm), at the time if X depends on it."""

    def _latex(self, printer: Any) -> str:
        return rf"\max_h\lVert {printer._print(self.args[0])}_h \rVert"


class HeadCount(MatrixNumber):
    """The number of heads that the layer needs: heads with the same scores are one head, whose values add up to more than 0.

    So a layer with a head of zero values, or with one head written as two, has fewer heads than it lists.
    """

    def _latex(self, printer: Any) -> str:
        return "H"


#: The number of heads, as a letter: ``Relation(H >= 2)``.
H = HeadCount()


class RightCount(MatrixNumber):
    """``#{Re lambda(X) > 0}``: how many eigenvalues have positive real part, with multiplicities."""

    def _latex(self, printer: Any) -> str:
        return rf"\#\{{\operatorname{{Re}}\lambda({printer._print(self.args[0])}) > 0\}}"


class HemisphereShare(MatrixNumber):
    """The probability that l independent uniform points on the unit sphere of R^m lie in one open hemisphere: arguments l, m.

    Zero where there is no point or no dimension (l or m is below one).
    """

    def _latex(self, printer: Any) -> str:
        return rf"\mathbb{{P}}_{{{printer._print(self.args[0])},\,{printer._print(self.args[1])}}}"


class ScoreAtEigenvector(MatrixNumber):
    """``s = v_k^T M v_k`` with v_k the unit eigenvector of V for lambda_k(V): arguments M, V, k."""

    def _latex(self, printer: Any) -> str:
        score, value, index = (printer._print(arg) for arg in self.args)
        return rf"v_{{{index}}}({value})^{{\top}} {score}\, v_{{{index}}}({value})"


class SpectralRadiusOff(MatrixNumber):
    """``rho(X | u^perp)``: largest modulus of the eigenvalues of X other than lambda_1(X)."""

    def _latex(self, printer: Any) -> str:
        return rf"\rho({printer._print(self.args[0])}|_{{u^\perp}})"


class Angle(MatrixNumber):
    """The smallest inner product ``min_i w^T x_i`` of the tokens with the unit top eigenvector of X (or of X^T)."""

    def _latex(self, printer: Any) -> str:
        return rf"\min_i v_1({printer._print(self.args[0])})^{{\top}} x_i"


class Trace(MatrixNumber):
    """``tr X``: the sum of the diagonal entries."""

    def _latex(self, printer: Any) -> str:
        return rf"\operatorname{{tr}}({printer._print(self.args[0])})"


class Determinant(MatrixNumber):
    """``det X``."""

    def _latex(self, printer: Any) -> str:
        return rf"\det({printer._print(self.args[0])})"


class Rank(MatrixNumber):
    """``rank X``: how many rows are linearly independent."""

    def _latex(self, printer: Any) -> str:
        return rf"\operatorname{{rank}}({printer._print(self.args[0])})"


class SmallestEntry(MatrixNumber):
    """``min_ij X_ij``: positive where all entries of X are."""

    def _latex(self, printer: Any) -> str:
        return rf"\min_{{i,j}} ({printer._print(self.args[0])})_{{ij}}"


class LargestEntry(MatrixNumber):
    """``max_ij X_ij``: negative where all entries of X are."""

    def _latex(self, printer: Any) -> str:
        return rf"\max_{{i,j}} ({printer._print(self.args[0])})_{{ij}}"


def plain(expression: sp.Basic) -> tuple[sp.Basic, dict[sp.Symbol, MatrixNumber]]:
    """Replace every quantity by a real symbol named after it, for solvers; also returns what each symbol stands for.

    >>> relation, names = plain(Eigenvalue(matrix("V"), 1) > 0)
    >>> relation
    lambda_1_V > 0
    """
    found = sorted(expression.atoms(MatrixNumber), key=str)
    names = {}
    for each in found:
        stem = "lambda" if isinstance(each, Eigenvalue) else type(each).__name__
        parts = [str(arg) for arg in each.args]
        if isinstance(each, Eigenvalue):
            parts.reverse()
        names[each] = sp.Symbol("_".join([stem, *parts]).replace(" ", ""), real=True)
    return expression.xreplace(names), {symbol: each for each, symbol in names.items()}
