"""Terms on one exact instance: exact numbers where they exist, enclosures of any precision everywhere.

A :class:`Case` is an exact instance (:class:`eigentoken.theory.classification.instances.Instance`) with the index k and
the split p that a statement speaks of.  Eigenvalues of rational matrices come from the factored characteristic polynomial:
rational roots are exact, others are isolated in balls; the k-th eigenvalue is enclosed by order statistics, so no gap is
assumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cmp_to_key, reduce
from typing import Any

import sympy as sp
from flint import acb, acb_mat, arb, fmpq, fmpq_mat

from eigentoken.numerics.instances.hemisphere_shares import hemisphere_share
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.exactness.balls import PRECISIONS, expression_ball, precision
from eigentoken.theory.exactness.elements import ExactnessLimit
from eigentoken.theory.exactness.numbers import sign_of_expression
from eigentoken.theory.exactness.polynomials import enclosed_eigenvalues, exact_eigenvalues
from eigentoken.theory.language import terms
from eigentoken.theory.language.readings import ENCLOSURE, EXACT
from eigentoken.theory.systems.system import Time

__all__ = ["Case", "NoValue", "relation_truth"]

BITS = PRECISIONS[:4]


class NoValue(Exception):
    """A quantity that does not exist for the instance, or that could not be enclosed."""


@dataclass(frozen=True)
class Case:
    """An exact instance, and the k and p that the statement means; ``extra`` holds further exact vectors."""

    instance: Instance
    k: int = 1
    p: int = 0
    extra: Mapping[str, sp.Basic] = field(default_factory=dict)
    _memory: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def n(self) -> int:
        return self.instance.n

    @property
    def d(self) -> int:
        return self.instance.d

    @property
    def q(self) -> int:
        return self.n - self.p

    def sizes(self, ell: int | None = None) -> dict[sp.Basic, sp.Basic]:
        known: dict[Any, Any] = {terms.n: self.n, terms.d: self.d, terms.k: self.k, terms.p: self.p, terms.q: self.q}
        if self.instance.system.time is Time.MAP:
            known[terms.alpha] = self.instance.parameters["alpha"]
        for each in self.instance.system.further:
            if each.kind in {"scalar", "step"} and not each.per_head and each.name != "alpha":
                known[terms.scalar(each.name)] = self.instance.parameters[each.name]
        return known if ell is None else {**known, terms.ell: ell}

    def integer(self, expression: sp.Expr | int, ell: int | None = None) -> int:
        value = sp.sympify(expression).subs(self.sizes(ell))
        if not value.is_Integer:
            raise NoValue(f"{expression} is not an integer here: {value}")
        return int(value)

    def named(self, name: str) -> sp.Matrix:
        """The exact matrix of that name; the sum over the heads in a multi-head system."""
        parameters = self.instance.parameters
        if name in parameters:
            return sp.Matrix([list(row) for row in parameters[name]])
        heads = parameters.get("heads", ())
        if heads and name in heads[0]:
            total = sp.zeros(self.d, self.d)
            for head in heads:
                total += sp.Matrix([list(row) for row in head[name]])
            return total
        if name == "F" and self.instance.system.value is not None:  # the layer matrix of a system with one head
            return self.named(self.instance.system.value)
        raise NoValue(f"{self.instance.system.name} has no matrix {name}")

    def matrix(self, term: sp.MatrixExpr) -> sp.Matrix:
        """The exact value of a matrix term."""
        if term not in self._memory:
            symbols = {symbol: self.named(symbol.name) for symbol in term.atoms(sp.MatrixSymbol)}
            self._memory[term] = _matrix_value(term, symbols, self.d)
        return self._memory[term]

    def tokens(self) -> list[sp.Matrix]:
        return [sp.Matrix(list(token)) for token in self.instance.tokens]

    # ------------------------------------------------------------------ eigenvalues

    def is_symmetric(self, term: sp.MatrixExpr) -> bool | None:
        """Exactly symmetric, certainly not, or undecided."""
        value = self.matrix(term)
        for i in range(self.d):
            for j in range(i):
                found = zero(value[i, j] - value[j, i])
                if found is not True:
                    return found
        return True

    def eigenvalues(self, term: sp.MatrixExpr, bits: int) -> list[acb]:
        """All eigenvalues as ``acb`` enclosures at this precision, repeated by multiplicity, in no order."""
        key = ("eigenvalues", term, bits)
        if key not in self._memory:
            with precision(bits):
                self._memory[key] = _eigenvalues(self.matrix(term), bits)
        found: list[Any] = self._memory[key]
        return found

    def rational_eigenvalues(self, term: sp.MatrixExpr) -> dict[sp.Rational, int] | None:
        """All eigenvalues with multiplicities, where the matrix and all of them are rational."""
        key = ("rational", term)
        if key not in self._memory:
            self._memory[key] = _rational_eigenvalues(self.matrix(term))
        found: dict[sp.Rational, int] | None = self._memory[key]
        return found

    def eigenvalue(self, term: sp.MatrixExpr, index: int, bits: int) -> arb:
        """An enclosure of the index-th largest real part."""
        if not 1 <= index <= self.d:
            raise NoValue(f"there is no eigenvalue {index} of a {self.d} x {self.d} matrix")
        values = self.eigenvalues(term, bits)
        with precision(bits):
            reals = [value.real for value in values]
            lowers = sorted((each.lower() for each in reals), key=_EXACT_ORDER, reverse=True)
            uppers = sorted((each.upper() for each in reals), key=_EXACT_ORDER, reverse=True)
            return lowers[index - 1].union(uppers[index - 1])

    def eigenvector(self, term: sp.MatrixExpr, index: int) -> sp.Matrix:
        """An exact eigenvector (not normalised) for a simple rational eigenvalue; raises :class:`NoValue` otherwise."""
        listed = self.rational_eigenvalues(term)
        if listed is None:
            raise NoValue("the eigenvalues are not all rational")
        ordered = [value for value in sorted(listed, reverse=True) for _ in range(listed[value])]
        value = ordered[index - 1]
        if listed[value] != 1:
            raise NoValue(f"eigenvalue {index} is repeated: its eigenvector is not determined")
        return (self.matrix(term) - value * sp.eye(self.d)).nullspace()[0]

    # ------------------------------------------------------------------ scalars

    def exact(self, expression: sp.Expr, ell: int | None = None) -> sp.Expr | None:
        """The exact value of a scalar term, or ``None`` where only enclosures are known."""
        replaced = {}
        for number in sp.sympify(expression).atoms(terms.MatrixNumber):
            try:
                value = EXACT(number, self, ell)
            except NoValue:
                return None
            if value is None:
                return None
            replaced[number] = value
        return sp.sympify(expression).xreplace(replaced).subs(self.sizes(ell))

    def ball(self, expression: sp.Expr, bits: int, ell: int | None = None) -> arb:
        """An enclosure of a scalar term."""
        expression = sp.sympify(expression)
        with precision(bits):
            leaves = {number: ENCLOSURE(number, self, bits, ell) for number in expression.atoms(terms.MatrixNumber)}
            for symbol, value in self.sizes(ell).items():
                leaves[symbol] = expression_ball(sp.sympify(value), bits)
            return _evaluate(expression, leaves, bits)


@EXACT.register(terms.Eigenvalue, terms.EigenvalueRealPart)
def exact_eigenvalue(number: terms.MatrixNumber, case: Case, ell: int | None) -> sp.Expr | None:
    ordered = _ordered(number.args[0], case)
    if ordered is None:
        return None
    index = case.integer(number.args[1], ell)
    if not 1 <= index <= case.d:
        raise NoValue(f"there is no eigenvalue {index}")
    return ordered[index - 1]


@EXACT.register(terms.SpectralRadiusOff)
def exact_spectral_radius_off(number: terms.SpectralRadiusOff, case: Case, ell: int | None) -> sp.Expr | None:
    ordered = _ordered(number.args[0], case)
    return None if ordered is None else max((abs(value) for value in ordered[1:]), default=sp.Integer(0))


@EXACT.register(terms.SpectralNorm)
def exact_spectral_norm(number: terms.SpectralNorm, case: Case, ell: int | None) -> sp.Expr | None:
    ordered = _ordered(number.args[0], case)
    return None if ordered is None or not case.is_symmetric(number.args[0]) else max(abs(value) for value in ordered)


@EXACT.register(terms.ScoreAtEigenvector)
def exact_score_at_eigenvector(number: terms.ScoreAtEigenvector, case: Case, ell: int | None) -> sp.Expr:
    vector = case.eigenvector(number.args[1], case.integer(number.args[2], ell))
    return (vector.T * case.matrix(number.args[0]) * vector)[0, 0] / (vector.T * vector)[0, 0]


@EXACT.register(terms.EigenvalueModulus)
def exact_eigenvalue_modulus(number: terms.EigenvalueModulus, case: Case, ell: int | None) -> sp.Expr | None:
    value = exact_eigenvalue(number, case, ell)
    return None if value is None else abs(value)


@EXACT.register(terms.Angle, terms.HeadNorm)
def exact_angle(number: terms.MatrixNumber, case: Case, ell: int | None) -> None:
    return None


@EXACT.register(terms.RightCount)
def exact_right_count(number: terms.RightCount, case: Case, ell: int | None) -> sp.Expr | None:
    ordered = _ordered(number.args[0], case)
    return None if ordered is None else sp.Integer(sum(bool(value > 0) for value in ordered))


@EXACT.register(terms.HemisphereShare)
def exact_hemisphere_share(number: terms.HemisphereShare, case: Case, ell: int | None) -> sp.Expr:
    return hemisphere_share(*(case.integer(each, ell) for each in number.args))


def _ordered(term: Any, case: Case) -> list[sp.Rational] | None:
    """The eigenvalues from the top, repeated, where they are all rational."""
    listed = case.rational_eigenvalues(term)
    return None if listed is None else [each for each in sorted(listed, reverse=True) for _ in range(listed[each])]


@ENCLOSURE.register(terms.Eigenvalue, terms.EigenvalueRealPart)
def enclosure_eigenvalue(number: terms.MatrixNumber, case: Case, bits: int, ell: int | None) -> arb:
    return case.eigenvalue(number.args[0], case.integer(number.args[1], ell), bits)


@ENCLOSURE.register(terms.EigenvalueModulus)
def enclosure_eigenvalue_modulus(number: terms.EigenvalueModulus, case: Case, bits: int, ell: int | None) -> arb:
    """Of every eigenvalue that may be the k-th by its real part: of a conjugate pair both have one modulus."""
    place = case.eigenvalue(number.args[0], case.integer(number.args[1], ell), bits)
    with precision(bits):
        moduli = [abs(each) for each in case.eigenvalues(number.args[0], bits) if each.real.overlaps(place)]
        return reduce(lambda one, other: one.union(other), moduli)


@ENCLOSURE.register(terms.SpectralNorm)
def enclosure_spectral_norm(number: terms.SpectralNorm, case: Case, bits: int, ell: int | None) -> arb:
    term = number.args[0]
    if case.is_symmetric(term) is True:
        return _largest([abs(value) for value in case.eigenvalues(term, bits)])
    square = case.eigenvalues(term.T * term, bits)
    return _largest([value.real for value in square]).sqrt()


@ENCLOSURE.register(terms.RightCount)
def enclosure_right_count(number: terms.RightCount, case: Case, bits: int, ell: int | None) -> arb:
    parts = [value.real for value in case.eigenvalues(number.args[0], bits)]
    if not all(part > 0 or part < 0 for part in parts):
        raise NoValue("an eigenvalue is not separated from the imaginary axis")
    return arb(sum(bool(part > 0) for part in parts))


@ENCLOSURE.register(terms.HemisphereShare)
def enclosure_hemisphere_share(number: terms.HemisphereShare, case: Case, bits: int, ell: int | None) -> arb:
    value = exact_hemisphere_share(number, case, ell)
    with precision(bits):
        return arb(int(value.p)) / int(value.q)


@ENCLOSURE.register(terms.SpectralRadiusOff)
def enclosure_spectral_radius_off(number: terms.SpectralRadiusOff, case: Case, bits: int, ell: int | None) -> arb:
    values = case.eigenvalues(number.args[0], bits)
    top = max(range(len(values)), key=lambda i: _EXACT_ORDER(values[i].real.mid()))
    if any(not values[i].real < values[top].real for i in range(len(values)) if i != top):
        raise NoValue("the top eigenvalue is not separated")
    others = [abs(value) for i, value in enumerate(values) if i != top]
    return _largest(others) if others else arb(0)


@ENCLOSURE.register(terms.ScoreAtEigenvector)
def enclosure_score_at_eigenvector(number: terms.ScoreAtEigenvector, case: Case, bits: int, ell: int | None) -> arb:
    return expression_ball(EXACT(number, case, ell), bits)


@ENCLOSURE.register(terms.Angle, terms.HeadNorm)
def enclosure_angle(number: terms.MatrixNumber, case: Case, bits: int, ell: int | None) -> arb:
    raise NoValue("an angle of tokens and the largest norm over the heads have no enclosure here")


def _order(a: Any, b: Any) -> int:
    return -1 if a < b else 1 if a > b else 0


#: The order of exact numbers (balls of radius zero), whose comparisons are decided.
_EXACT_ORDER = cmp_to_key(_order)


def _largest(values: list[Any]) -> Any:
    best = values[0]
    for value in values[1:]:
        best = best.max(value)
    return best


def zero(value: sp.Expr) -> bool | None:
    """Exactly zero, certainly not, or undecided."""
    value = sp.sympify(value)
    if value.is_Rational:
        return bool(value == 0)
    try:
        found = sign_of_expression(value)
    except (ExactnessLimit, ValueError):
        found = None
    return None if found is None else found == 0


def _matrix_value(term: Any, symbols: Mapping[Any, sp.Matrix], d: int) -> sp.Matrix:
    if isinstance(term, sp.MatrixSymbol):
        return symbols[term]
    if isinstance(term, sp.Identity):
        return sp.eye(d)
    if isinstance(term, sp.ZeroMatrix):
        return sp.zeros(d, d)
    if isinstance(term, sp.Transpose):
        return _matrix_value(term.arg, symbols, d).T
    if isinstance(term, sp.Inverse):
        inner = _matrix_value(term.arg, symbols, d)
        if zero(inner.det()) is not False:
            raise NoValue(f"{term.arg} is singular here: its inverse does not exist")
        return inner.inv()
    if term.is_MatAdd:
        total = sp.zeros(d, d)
        for part in term.args:
            total += _matrix_value(part, symbols, d)
        return total
    if term.is_MatMul:
        product, factor = sp.eye(d), sp.Integer(1)
        for part in term.args:
            if getattr(part, "is_Matrix", False):
                product = product * _matrix_value(part, symbols, d)
            else:
                factor *= part
        return factor * product
    if isinstance(term, sp.MatPow) and term.args[1].is_Integer:
        return _matrix_value(term.args[0], symbols, d) ** int(term.args[1])
    raise NoValue(f"no exact value for the matrix term {term}")


def _rational(value: sp.Matrix) -> fmpq_mat | None:
    if not all(entry.is_Rational for entry in value):
        return None
    return fmpq_mat(
        [[fmpq(int(value[i, j].p), int(value[i, j].q)) for j in range(value.cols)] for i in range(value.rows)]
    )


def _rational_eigenvalues(value: sp.Matrix) -> dict[sp.Rational, int] | None:
    exact = _rational(value)
    if exact is None:
        return None
    found = exact_eigenvalues(exact)
    if not all(isinstance(root, fmpq) for root, _ in found):
        return None
    return {sp.Rational(int(root.p), int(root.q)): multiplicity for root, multiplicity in found}


def _eigenvalues(value: sp.Matrix, bits: int) -> list[Any]:
    exact = _rational(value)
    if exact is not None:
        return [acb(root) for root, multiplicity in exact_eigenvalues(exact) for _ in range(multiplicity)]
    entries = [[acb(expression_ball(value[i, j], bits)) for j in range(value.cols)] for i in range(value.rows)]
    found = enclosed_eigenvalues(acb_mat(entries))
    if found is None:
        raise NoValue("the eigenvalues could not be enclosed")
    return found


def _evaluate(expression: Any, leaves: Mapping[Any, Any], bits: int) -> arb:
    if expression in leaves:
        return leaves[expression]
    if expression.is_number and not expression.atoms(terms.MatrixNumber):
        return expression_ball(expression, bits)
    parts = [_evaluate(part, leaves, bits) for part in expression.args]
    if expression.is_Add:
        return sum(parts[1:], parts[0])
    if expression.is_Mul:
        product = parts[0]
        for part in parts[1:]:
            product = product * part
        return product
    if expression.is_Pow:
        exponent = expression.args[1]
        if exponent.is_Integer:
            return parts[0] ** int(exponent)
        if exponent == sp.Rational(1, 2):
            return parts[0].sqrt()
        return (parts[1] * parts[0].log()).exp()
    if isinstance(expression, sp.Max):
        return _largest(parts)
    if isinstance(expression, sp.Min):
        return -_largest([-part for part in parts])
    if isinstance(expression, sp.Abs):
        return abs(parts[0])
    name = expression.func.__name__
    if hasattr(parts[0], name):
        result: arb = getattr(parts[0], name)()
        return result
    raise NoValue(f"no enclosure for {name} in {expression}")


def relation_truth(case: Case, relation: sp.Basic, ell: int | None = None) -> bool | None:
    """Is the relation true of the case?  ``None`` where the precision does not tell.

    A relation with the free index ``ell`` is meant for every ``ell != k``.
    """
    if ell is None and terms.ell in relation.free_symbols:
        parts = [relation_truth(case, relation, each) for each in range(1, case.d + 1) if each != case.k]
        return _all(parts)
    if relation in (sp.true, sp.false, True, False):
        return bool(relation)
    if isinstance(relation, sp.And):
        return _all([relation_truth(case, part, ell) for part in relation.args])
    if isinstance(relation, sp.Or):
        return _negated(_all([_negated(relation_truth(case, part, ell)) for part in relation.args]))
    if isinstance(relation, sp.Not):
        return _negated(relation_truth(case, relation.args[0], ell))
    if isinstance(relation, sp.Implies):
        return relation_truth(case, sp.Or(sp.Not(relation.args[0]), relation.args[1]), ell)
    try:
        sign = _sign(case, relation.lhs - relation.rhs, ell)
    except NoValue:
        return None
    if sign is None:
        return None
    answers = {
        sp.StrictGreaterThan: sign > 0,
        sp.GreaterThan: sign >= 0,
        sp.StrictLessThan: sign < 0,
        sp.LessThan: sign <= 0,
        sp.Eq: sign == 0,
        sp.Ne: sign != 0,
    }
    return next((answer for kind, answer in answers.items() if isinstance(relation, kind)), None)


def _all(parts: list[bool | None]) -> bool | None:
    if any(part is False for part in parts):
        return False
    return None if any(part is None for part in parts) else True


def _negated(part: bool | None) -> bool | None:
    return None if part is None else not part


def _sign(case: Case, expression: Any, ell: int | None) -> int | None:
    exact = case.exact(expression, ell)
    if exact is not None:
        if exact.is_Rational:
            return int(exact.p > 0) - int(exact.p < 0)
        if not exact.has(sp.Abs, sp.Max, sp.Min):
            try:
                return sign_of_expression(exact)
            except (ExactnessLimit, ValueError):
                pass
    for bits in BITS:
        enclosure = case.ball(expression, bits, ell)
        if enclosure > 0:
            return 1
        if enclosure < 0:
            return -1
    return None
