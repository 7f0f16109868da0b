"""Textbook theorems as propositions: what a reader must believe, with typed letters, hypotheses and conclusion.

Books are cited by author, title and chapter; numbers of theorems differ from edition to edition, and were not checked.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import bibtex
from eigentoken.theory.calculus import Expression, Index, dot, instance, vector
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
    put,
    value_letters,
)
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.kernel.tensors import STATE, AtTime, Rate, Tensor, VectorLetter
from eigentoken.theory.language.conditions import Nonsingular, PositiveDefinite, Symmetric
from eigentoken.theory.language.terms import Eigenvalue, RightCount, SpectralNorm, d
from eigentoken.theory.systems.system import Time

__all__ = [
    "BETWEEN",
    "CAUCHY_OF_FAMILIES",
    "CAUCHY_SCHWARZ",
    "COMPARISON",
    "DECAY",
    "EUCLIDEAN",
    "LARGEST_NUMBER",
    "OFF_THE_TOP",
    "ON_THE_RIGHT",
    "OPERATOR_NORM",
    "OSTROWSKI_SCHNEIDER",
    "RAYLEIGH_ABOVE",
    "RAYLEIGH_BELOW",
    "SYLVESTER",
    "TANGENT_OF_TANH",
]


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


def _rayleigh_above(A: sp.MatrixSymbol, z: Expression) -> tuple[tuple[Any, ...], Any]:
    largest = Eigenvalue(A, 1) * Tensor(dot(z, z))
    return (Symmetric(A),), sp.Le(Tensor(dot(z, z, product(A.name))), largest, evaluate=False)


#: ``z^T A z <= lambda_1(A) |z|^2``.
RAYLEIGH_ABOVE = Textbook(
    key="Rayleigh-above",
    name="Rayleigh's principle from above",
    letters={"A": sp.MatrixSymbol, "z": Expression},
    says=_rayleigh_above,
    reference="Horn, Johnson, Matrix Analysis, chapter on Hermitian matrices (variational characterisations)",
    bibtex=bibtex("Horn-Johnson"),
)


def _between(A: sp.MatrixSymbol, z: Expression) -> tuple[tuple[Any, ...], Any]:
    form, image = Tensor(dot(z, z, product(A.name))), z.applied(product(A.name))
    top, last = Eigenvalue(A, 1), Eigenvalue(A, d)
    bound = (top + last) * form - top * last * Tensor(dot(z, z))
    return (Symmetric(A),), sp.Le(Tensor(dot(image, image)), bound, evaluate=False)


#: ``(A z - lambda_d z)^T (lambda_1 z - A z) >= 0``, multiplied out.
BETWEEN = Textbook(
    key="spectral-bounds",
    name="the spectral theorem, for (A - lambda_d I)(lambda_1 I - A)",
    letters={"A": sp.MatrixSymbol, "z": Expression},
    says=_between,
    reference="Horn, Johnson, Matrix Analysis, chapter on Hermitian matrices (the spectral theorem)",
    bibtex=bibtex("Horn-Johnson"),
)


def _off_the_top(A: sp.MatrixSymbol, v: VectorLetter, z: Expression) -> tuple[tuple[Any, ...], Any]:
    line, other = vector(v.name), vector("u")
    pair = sp.Eq(Tensor(dot(other, line, product(A.name))), Eigenvalue(A, 1) * Tensor(dot(other, line)), evaluate=False)
    given = (
        Symmetric(A),
        sp.Ge(d, 2, evaluate=False),
        ForAll(VectorLetter("u"), TRUE, proposition(pair)),
        sp.Gt(Tensor(dot(line, line)), 0, evaluate=False),
        sp.Eq(Tensor(dot(line, z)), 0, evaluate=False),
    )
    form, image, size = Tensor(dot(z, z, product(A.name))), z.applied(product(A.name)), Tensor(dot(z, z))
    second, last = Eigenvalue(A, 2), Eigenvalue(A, d)
    square = sp.Le(Tensor(dot(image, image)), (second + last) * form - second * last * size, evaluate=False)
    return given, Conjunction(tuple(map(proposition, (square, sp.Le(form, second * size, evaluate=False)))))


#: The same on the complement of a top eigenvector v, where the largest eigenvalue is ``lambda_2``.
#:
#: Proof.  A symmetric A maps the complement of v to itself, and there it has the eigenvalues ``lambda_2 >= ... >= lambda_d``
#: (one copy of ``lambda_1`` belongs to v).  In an orthonormal eigenbasis of it both bounds hold for each ``mu`` among them:
#: ``(lambda_2 - mu)(mu - lambda_d) >= 0`` and ``mu <= lambda_2``.  :data:`~.saddle_theorems.RAYLEIGH_SECOND` is the second
#: bound, for v of length one and any quantity in its place.
OFF_THE_TOP = Textbook(
    key="spectral-bounds-deflated",
    name="the spectral theorem on the complement of an eigenvector",
    letters={"A": sp.MatrixSymbol, "v": VectorLetter, "z": Expression},
    says=_off_the_top,
    reference="Horn, Johnson, Matrix Analysis, chapter on Hermitian matrices (the spectral theorem, deflation)",
    bibtex=bibtex("Horn-Johnson"),
)


def _inertia(H: sp.MatrixSymbol, X: sp.MatrixExpr) -> tuple[tuple[Any, ...], Any]:
    counts = [sp.Eq(RightCount(sign * X), RightCount(sign * H), evaluate=False) for sign in (1, -1)]
    none = sp.Eq(RightCount(X) + RightCount(-X), d, evaluate=False)
    return (Symmetric(H), PositiveDefinite(H * X + X.T * H)), Conjunction(tuple(map(proposition, (*counts, none))))


#: If ``H X + X^T H > 0`` with H symmetric, X has the inertia of H, and no eigenvalue on the imaginary axis.
OSTROWSKI_SCHNEIDER = Textbook(
    key="Ostrowski-Schneider",
    name="the Ostrowski-Schneider inertia theorem",
    letters={"H": sp.MatrixSymbol, "X": sp.MatrixExpr},
    says=_inertia,
    reference="Ostrowski, Schneider, J. Math. Anal. Appl. 4 (1962), 72-84",
    bibtex=bibtex("Ostrowski-Schneider"),
)


def _on_the_right(X: sp.MatrixExpr) -> tuple[tuple[Any, ...], Any]:
    return (PositiveDefinite(X),), sp.Eq(RightCount(X), d, evaluate=False)


#: A matrix with a positive definite symmetric part has all its eigenvalues in the right half plane.
ON_THE_RIGHT = Textbook(
    key="positive-stable",
    name="the spectrum of a matrix with positive definite symmetric part",
    letters={"X": sp.MatrixExpr},
    says=_on_the_right,
    reference="Horn, Johnson, Topics in Matrix Analysis, chapter on stable matrices and inertia",
    bibtex=bibtex("Horn-Johnson-Topics"),
)


def _sylvester(L: sp.MatrixSymbol, T: sp.MatrixSymbol) -> tuple[tuple[Any, ...], Any]:
    counts = [sp.Eq(RightCount(sign * L * T * L.T), RightCount(sign * T), evaluate=False) for sign in (1, -1)]
    return (Symmetric(T), Nonsingular(L)), Conjunction(tuple(map(proposition, counts)))


#: ``L T L^T`` has the inertia of T, for T symmetric and L nonsingular.
SYLVESTER = Textbook(
    key="Sylvester-inertia",
    name="Sylvester's law of inertia",
    letters={"L": sp.MatrixSymbol, "T": sp.MatrixSymbol},
    says=_sylvester,
    reference="Horn, Johnson, Matrix Analysis, chapter on Hermitian matrices and congruences",
    bibtex=bibtex("Horn-Johnson"),
)


def _cauchy_schwarz(A: sp.MatrixSymbol, y: Expression, z: Expression) -> tuple[tuple[Any, ...], Any]:
    metric = product(A.name)
    lengths = Tensor(dot(y, y, metric)) * Tensor(dot(z, z, metric))
    return (Symmetric(A), PositiveDefinite(A)), sp.Le(Tensor(dot(y, z, metric)) ** 2, lengths, evaluate=False)


#: ``(y^T A z)^2 <= (y^T A y)(z^T A z)`` for A symmetric and positive definite.
CAUCHY_SCHWARZ = Textbook(
    key="Cauchy-Schwarz",
    name="the Cauchy-Schwarz inequality",
    letters={"A": sp.MatrixSymbol, "y": Expression, "z": Expression},
    says=_cauchy_schwarz,
    reference="Horn, Johnson, Matrix Analysis, chapter on norms (inner products)",
    bibtex=bibtex("Horn-Johnson"),
)


def _operator_norm(A: sp.MatrixSymbol, z: Expression) -> tuple[tuple[Any, ...], Any]:
    image = z.applied(product(A.name))
    bound = sp.Le(Tensor(dot(image, image)), SpectralNorm(A) ** 2 * Tensor(dot(z, z)), evaluate=False)
    return (), Conjunction((proposition(bound), proposition(sp.Ge(SpectralNorm(A), 0, evaluate=False))))


#: ``|Az|^2 <= |A|^2 |z|^2``, and ``|A| >= 0``.
OPERATOR_NORM = Textbook(
    key="operator-norm",
    name="the bound of a matrix by its norm",
    letters={"A": sp.MatrixSymbol, "z": Expression},
    says=_operator_norm,
    reference="Horn, Johnson, Matrix Analysis, chapter on norms",
    bibtex=bibtex("Horn-Johnson"),
)


def _euclidean(y: Expression, z: Expression) -> tuple[tuple[Any, ...], Any]:
    return (), sp.Le(Tensor(dot(y, z)) ** 2, Tensor(dot(y, y)) * Tensor(dot(z, z)), evaluate=False)


#: ``(y^T z)^2 <= |y|^2 |z|^2``.
EUCLIDEAN = Textbook(
    key="Cauchy-Schwarz-Euclidean",
    name="the Cauchy-Schwarz inequality",
    letters={"y": Expression, "z": Expression},
    says=_euclidean,
    reference="Rudin, Principles of Mathematical Analysis, chapter on the real and complex number systems",
    bibtex=bibtex("Rudin-Principles"),
)


def _tangent_of_tanh(x: sp.Expr) -> tuple[tuple[Any, ...], Any]:
    return (sp.Ge(x, 0, evaluate=False),), sp.Le(sp.tanh(x), x, evaluate=False)


#: ``tanh x <= x`` for ``x >= 0``: the derivative of tanh is at most 1.
TANGENT_OF_TANH = Textbook(
    key="mean-value-tanh",
    name="the mean value theorem, for the hyperbolic tangent",
    letters={"x": sp.Expr},
    says=_tangent_of_tanh,
    reference="Rudin, Principles of Mathematical Analysis, chapter on differentiation",
    bibtex=bibtex("Rudin-Principles"),
)


def _largest_number(value: Expression) -> tuple[tuple[Any, ...], Any]:
    if value.is_vector:
        raise Refused(f"numbers are compared, got the vector {value!r}")
    most, other = Index("token", "m"), Index("token", "q")
    below = sp.Le(Tensor(instance(value, other)), Tensor(instance(value, most)), evaluate=False)
    return (), Exists(most, TRUE, ForAll(other, TRUE, proposition(below)))


#: Of finitely many numbers, one for each token (in the slot index), one is the largest.
LARGEST_NUMBER = Textbook(
    key="finite-largest",
    name="a finite set of numbers has a largest one",
    letters={"value": Expression},
    says=_largest_number,
    reference="Rudin, Principles of Mathematical Analysis, chapter on basic topology (finite sets)",
    bibtex=bibtex("Rudin-Principles"),
)


def _of_families(y: Expression, z: Expression) -> tuple[tuple[Any, ...], Any]:
    token = Index("token", "i")
    if not (y.is_vector and z.is_vector) or y.free_indices | z.free_indices != {token}:
        raise Refused("there is one vector y and one z for each token i")
    whole = [dot(one, other).summed(token) for one, other in ((y, z), (y, y), (z, z))]
    return (), sp.Le(Tensor(whole[0]) ** 2, Tensor(whole[1]) * Tensor(whole[2]), evaluate=False)


#: ``(sum_i y_i^T z_i)^2 <= sum_i |y_i|^2 sum_i |z_i|^2``.
CAUCHY_OF_FAMILIES = Textbook(
    key="Cauchy-Schwarz-families",
    name="the Cauchy-Schwarz inequality for families of vectors",
    letters={"y": Expression, "z": Expression},
    says=_of_families,
    reference="Rudin, Principles of Mathematical Analysis, chapter on the real and complex number systems",
    bibtex=bibtex("Rudin-Principles"),
)


_T, _S = sp.symbols("t s", real=True)
_LARGEST = sp.Symbol("C", real=True)


def _comparison(f: Expression, kappa: sp.Expr, region: Proposition) -> tuple[tuple[Any, ...], Any]:
    indices = sorted(f.free_indices)
    here = [Index(each.kind, f"a{place}") for place, each in enumerate(indices)]
    other = [Index(each.kind, f"b{place}") for place, each in enumerate(indices)]
    one_f, other_f = f.at(*zip(indices, here, strict=True)), f.at(*zip(indices, other, strict=True))
    parts = Tensor(one_f).divisors()
    if not indices or {_T, _S, _LARGEST} & value_letters(f) or any(each.kind != "token" for each in indices):
        raise Refused("the functions are one for each token, or each pair, and functions of the state alone")
    if sp.sympify(kappa).has(Tensor):
        raise Refused(f"the rate is a number, got {kappa}")

    def each(letters: list[Index], said: Any) -> Proposition:
        found = proposition(said)
        for letter in reversed(letters):
            found = ForAll(letter, TRUE, found)
        return found

    def at(said: Proposition, time: Any) -> Proposition:
        return put(said, {VectorLetter(STATE): AtTime(time)})

    def value(term: Expression, time: Any) -> Tensor:
        return Tensor(term, time)

    largest = each(other, sp.Le(value(other_f, _T), value(one_f, _T), evaluate=False))
    falls = sp.Le(Rate(one_f, _T), -kappa * value(one_f, _T), evaluate=False)
    smooth = [each(here, at(proposition(sp.Ne(part, 0)), _T)) for part in dict.fromkeys(parts)]
    body = Conjunction((each(here, Implication(largest, proposition(falls))), *smooth))
    since = proposition(sp.Ge(_T, 0, evaluate=False))
    until = sp.Le(_S, _T) if parts else sp.Lt(_S, _T)
    before = ForAll(_S, Conjunction((proposition(sp.Ge(_S, 0, evaluate=False)), proposition(until))), at(region, _S))
    start = each(here, sp.Le(value(one_f, sp.Integer(0)), _LARGEST, evaluate=False))
    end = each(here, sp.Le(value(one_f, _T), _LARGEST * sp.exp(-kappa * _T), evaluate=False))
    conclusion = Implication(before, ForAll(_LARGEST, TRUE, Implication(start, end)))
    return (ForAll(_T, since, Implication(at(region, _T), body)),), ForAll(_T, since, conclusion)


#: The largest M of finitely many differentiable functions of the state: where those that are largest have a slope of at most
#: ``-kappa M``, M(t) <= C e^{-kappa t}.  In a region, as long as the trajectory was in it (up to and with t, if f divides).
COMPARISON = Textbook(
    key="comparison-of-the-largest",
    name="the comparison lemma for the largest of finitely many absolutely continuous functions",
    letters={"f": Expression, "kappa": sp.Expr, "region": Proposition},
    says=_comparison,
    reference="Walter, Ordinary Differential Equations, on differential inequalities in the sense of Caratheodory",
    bibtex=bibtex("Walter"),
    time=Time.FLOW,
)


def _decay(C: sp.Expr, kappa: sp.Expr) -> tuple[tuple[Any, ...], Any]:
    small, late = sp.Symbol("epsilon", positive=True), sp.Symbol("T", nonnegative=True)
    if {_T, small, late} & (sp.sympify(C).free_symbols | sp.sympify(kappa).free_symbols):
        raise Refused("C and kappa do not depend on the time")
    below = sp.Le(C * sp.exp(-kappa * _T), small, evaluate=False)
    after = ForAll(_T, proposition(sp.Ge(_T, late, evaluate=False)), proposition(below))
    return (sp.Gt(kappa, 0),), ForAll(small, TRUE, Exists(late, TRUE, after))


#: ``C e^{-kappa t}`` tends to zero.
DECAY = Textbook(
    key="exponential-decay",
    name="the limit of the exponential function",
    letters={"C": sp.Expr, "kappa": sp.Expr},
    says=_decay,
    reference="Rudin, Principles of Mathematical Analysis, chapter on some special functions",
    bibtex=bibtex("Rudin-Principles"),
)
