"""Sums of terms over symbolic index ranges: scalars and vectors, for symbolic n and d.

A term is ``coefficient * product of factors`` (a scalar) or that times ``product of matrices * base`` (a vector), summed over its
bound indices.  Coefficients are sympy expressions in alpha, n, d and the like.  Arithmetic here only distributes;
what is equal to what is decided by the normal form (:mod:`eigentoken.theory.calculus.normal_form`).

What is assumed about the letters: the relations that the normal form uses.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple, cast

import sympy as sp

from eigentoken.theory.calculus.atoms import (
    Base,
    Delta,
    Dot,
    Exp,
    Index,
    Letter,
    Letters,
    MaskEntry,
    Named,
    Norm,
    SumExp,
    indices_of,
    map_indices,
    transpose,
)

__all__ = [
    "ALPHA",
    "DIMENSION",
    "HEADS",
    "TOKENS",
    "Assumptions",
    "Expression",
    "Monomial",
    "delta",
    "dot",
    "exponential",
    "factor",
    "matrix",
    "one",
    "vector",
    "zero",
]

Factor = Dot | Exp | SumExp | Norm | Delta | MaskEntry | Named
Arrow = tuple[Letters, Base]

_fresh_names = itertools.count()

#: The name of the index that a normalizer sums over; nothing else carries it.
PLACEHOLDER = "*"


class Monomial(NamedTuple):
    """The part of a term without its coefficient."""

    bound: tuple[Index, ...] = ()
    factors: tuple[tuple[Any, int], ...] = ()
    arrow: Arrow | None = None


def _fresh(index: Index) -> Index:
    return Index(index.kind, f"_{next(_fresh_names)}")


def _apart(monomial: Monomial) -> Monomial:
    """The same monomial with new names for its bound indices, so that two can be multiplied."""
    if not monomial.bound:
        return monomial
    table = {index: _fresh(index) for index in monomial.bound}
    renamed: Monomial = map_indices(monomial, table)
    return renamed


def _merged(*factor_lists: Iterable[tuple[Any, int]]) -> tuple[tuple[Any, int], ...]:
    powers: dict[Any, int] = {}
    for each, power in itertools.chain(*factor_lists):
        powers[each] = powers.get(each, 0) + power
    return tuple((each, power) for each, power in powers.items() if power)


@dataclass(frozen=True, eq=False)
class Expression:
    """A scalar or vector: a finite sum of terms.

    >>> i, j = Index("token", "i"), Index("token", "j")
    >>> n = sp.Symbol("n", positive=True)
    >>> mean = vector("x", j).summed(j) / n
    >>> print(dot(vector("x", i), mean))
    (1/n) sum_1 <x_1|x_i>
    """

    terms: Mapping[Monomial, sp.Expr]

    # -- arithmetic -------------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Expression:
        terms = dict(self.terms)
        for monomial, coefficient in _expression(other).terms.items():
            terms[monomial] = terms.get(monomial, sp.Integer(0)) + coefficient
        return Expression({monomial: value for monomial, value in terms.items() if value != 0})

    __radd__ = __add__

    def __neg__(self) -> Expression:
        return self * sp.Integer(-1)

    def __sub__(self, other: Any) -> Expression:
        return self + (-_expression(other))

    def __rsub__(self, other: Any) -> Expression:
        return _expression(other) - self

    def __mul__(self, other: Any) -> Expression:
        if not isinstance(other, Expression):
            scale = sp.sympify(other)
            return Expression({monomial: scale * value for monomial, value in self.terms.items()} if scale != 0 else {})
        total: dict[Monomial, sp.Expr] = {}
        for (one_part, a), (other_part, b) in itertools.product(self.terms.items(), other.terms.items()):
            left, right = one_part, _apart(other_part)
            if left.arrow is not None and right.arrow is not None:
                raise TypeError("two vectors have no product here: use dot(a, b) for the inner product")
            arrow = left.arrow if left.arrow is not None else right.arrow
            product = Monomial(left.bound + right.bound, _merged(left.factors, right.factors), arrow)
            total[product] = total.get(product, sp.Integer(0)) + a * b
        return Expression({monomial: value for monomial, value in total.items() if value != 0})

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Expression:
        if isinstance(other, Expression):
            return self * other**-1
        return self * (1 / sp.sympify(other))

    def __rtruediv__(self, other: Any) -> Expression:
        return _expression(other) * self**-1

    def __pow__(self, power: int) -> Expression:
        if len(self.terms) == 1:
            ((monomial, coefficient),) = self.terms.items()
            if monomial.arrow is None and not monomial.bound:
                raised = tuple((each, old * power) for each, old in monomial.factors)
                return Expression({Monomial((), raised, None): coefficient**power})
        if power < 0:
            raise TypeError("only a single product can be inverted: name the sum first (factor(Named(...)))")
        result = one()
        for _ in range(power):
            result = result * self
        return result

    # -- structure --------------------------------------------------------------------------------------------------

    def summed(self, *indices: Index) -> Expression:
        """The sum over all values of the given free indices."""
        total: dict[Monomial, sp.Expr] = {}
        for monomial, value in self.terms.items():
            table = {index: _fresh(index) for index in indices}
            body: Monomial = map_indices(monomial, table)
            bound = Monomial(body.bound + tuple(table.values()), body.factors, body.arrow)
            total[bound] = total.get(bound, sp.Integer(0)) + value
        return Expression(total)

    def at(self, *pairs: tuple[Index, Index]) -> Expression:
        """The same expression with free indices replaced, all at once; terms that become equal are added."""
        table = dict(pairs)
        return thawed(tuple((map_indices(_apart(monomial), table), value) for monomial, value in self.terms.items()))

    def applied(self, letters: Letters) -> Expression:
        """The vector with a product of matrices applied from the left."""
        total: dict[Monomial, sp.Expr] = {}
        for monomial, value in self.terms.items():
            if monomial.arrow is None:
                raise TypeError("a matrix acts on a vector, got a scalar")
            inner, base = monomial.arrow
            total[Monomial(monomial.bound, monomial.factors, (letters + inner, base))] = value
        return Expression(total)

    @property
    def free_indices(self) -> frozenset[Index]:
        """The indices that are not summed over."""
        found: set[Index] = set()
        for monomial in self.terms:
            inner = {index for each, _ in monomial.factors if isinstance(each, SumExp) for index in [each.bound]}
            found |= set(indices_of(monomial)) - set(monomial.bound) - inner
        return frozenset(found)

    @property
    def is_vector(self) -> bool:
        return any(monomial.arrow is not None for monomial in self.terms)

    def mapped(self, change: Callable[[Monomial, sp.Expr], Expression]) -> Expression:
        """The sum of ``change(monomial, coefficient)`` over the terms."""
        total = zero()
        for monomial, value in self.terms.items():
            total = total + change(monomial, value)
        return total

    def __repr__(self) -> str:
        from eigentoken.theory.calculus.text import as_text

        return as_text(self)


def _expression(value: Any) -> Expression:
    if isinstance(value, Expression):
        return value
    number = sp.sympify(value)
    return Expression({Monomial(): number} if number != 0 else {})


# -- constructors -----------------------------------------------------------------------------------------------------


def zero() -> Expression:
    """The empty sum."""
    return Expression({})


def one() -> Expression:
    """The scalar 1."""
    return Expression({Monomial(): sp.Integer(1)})


def vector(name: str, *indices: Index) -> Expression:
    """The vector of that name."""
    return Expression({Monomial((), (), ((), Base(name, indices))): sp.Integer(1)})


def factor(atom: Factor, power: int = 1) -> Expression:
    """A scalar with one factor."""
    return Expression({Monomial((), ((atom, power),)): sp.Integer(1)})


def delta(first: Index, second: Index) -> Expression:
    """Kronecker's delta."""
    return factor(Delta(first, second))


def matrix(*names: str | Letter) -> Letters:
    """A product of matrices; ``"M^T"`` is the transpose of M.

    >>> matrix("V", "M^T")
    (Letter(name='V', transposed=False, indices=()), Letter(name='M', transposed=True, indices=()))
    """
    letters = []
    for each in names:
        if isinstance(each, Letter):
            letters.append(each)
        elif each.endswith("^T"):
            letters.append(Letter(each[:-2], True))
        else:
            letters.append(Letter(each))
    return tuple(letters)


def dot(left: Expression, right: Expression, letters: Letters = ()) -> Expression:
    """``left^T W right``, W the product of the letters."""
    total: dict[Monomial, sp.Expr] = {}
    for (a, value_a), (b, value_b) in itertools.product(left.terms.items(), right.terms.items()):
        b = _apart(b)
        if a.arrow is None or b.arrow is None:
            raise TypeError("dot takes two vectors, got a scalar")
        middle = transpose(a.arrow[0]) + letters + b.arrow[0]
        atom = Dot(a.arrow[1], middle, b.arrow[1])
        product = Monomial(a.bound + b.bound, _merged(a.factors, b.factors, [(atom, 1)]))
        total[product] = total.get(product, sp.Integer(0)) + value_a * value_b
    return Expression({monomial: value for monomial, value in total.items() if value != 0})


def exponential(exponent: Expression) -> Expression:
    """``exp`` of a scalar without bound indices."""
    if any(monomial.bound or monomial.arrow is not None for monomial in exponent.terms):
        raise TypeError("the exponent must be a scalar without sums")
    return factor(Exp(frozen(exponent)))


def row_sum(exponent: Expression, index: Index, masks: tuple[MaskEntry, ...] = ()) -> SumExp:
    """``sum_j [masks] exp(exponent)`` over the index, under a name of its own that nothing outside can capture."""
    dummy = Index(index.kind, PLACEHOLDER)

    def hidden(thing: Any) -> Any:
        return map_indices(thing, {index: dummy})

    return SumExp(dummy, hidden(frozen(exponent)), tuple(sorted(hidden(masks))))


def opened(atom: SumExp) -> tuple[Index, Expression, tuple[MaskEntry, ...]]:
    """A fresh index, and the exponent and masks in it."""
    index = _fresh(atom.bound)
    exponent, masks = map_indices((atom.exponent, atom.masks), {atom.bound: index})
    return index, thawed(exponent), masks


Frozen = tuple[tuple[Monomial, sp.Expr], ...]


def frozen(expression: Expression) -> Frozen:
    """The terms in a fixed order, hashable."""
    return in_order(expression.terms.items())


@lru_cache(maxsize=100_000)
def written(part: Any) -> str:
    """The ``repr`` of a part of a term, by which parts are put in order: the same few come back in every spelling."""
    return repr(part)


def in_order(parts: Iterable[Any]) -> tuple[Any, ...]:
    """Sorted by their text, which is not written where there is nothing to sort."""
    found = tuple(parts)
    return found if len(found) < 2 else tuple(sorted(found, key=written))


def thawed(terms: object) -> Expression:
    """The expression of terms that :func:`frozen` gave; where letters or indices were replaced, equal ones are put together."""
    total: dict[Monomial, sp.Expr] = {}
    for monomial, value in cast(Frozen, terms):
        whole = Monomial(monomial.bound, _merged(monomial.factors), monomial.arrow)
        total[whole] = total.get(whole, sp.Integer(0)) + value
    return Expression({monomial: value for monomial, value in total.items() if value != 0})


#: The symbols of the papers: n tokens, dimension d, H heads, step size alpha.
TOKENS = sp.Symbol("n", integer=True, positive=True)
DIMENSION = sp.Symbol("d", integer=True, positive=True)
HEADS = sp.Symbol("H", integer=True, positive=True)
ALPHA = sp.Symbol("alpha", positive=True)


def _nothing() -> Any:
    return field(default_factory=dict)


@dataclass(frozen=True)
class Assumptions:
    """Relations between letters, each one an oriented rewriting rule.

    ``sizes``        how many values an index of each kind has
    ``symmetric``    matrices S with ``S^T = S``
    ``unit``         families with ``x_i^T W x_i = 1``, W the product of the given letters
    ``tangent``      pairs ``(x, w)`` with ``x_i^T W w_i = 0``
    ``orthogonal``   pairs ``(v, w)`` with ``v^T W w_i = 0`` for every i
    ``norms``        norm name -> (vector name, W): ``y_i^T W y_i = r_i^2``
    ``definitions``  vector name -> its expression in the slot index
    ``eigen``        ``(matrix, transposed, vector) -> value``: the matrix applied to the vector is value times it
    ``gram``         ``(vector, letters, vector) -> value`` for vectors without indices
    ``products``     ``(A, B) -> letters``: the product AB of two untransposed matrices
    ``replaced``     matrix -> (factor, letters or None for zero): ``M = c V``
    ``zero_sums``    families with ``sum_j x_j = 0``
    ``zero_averages`` families with ``sum_j a_ij x_j = 0`` for every i and every row of weights that is used
    ``means``        family -> name of its mean: ``sum_j w_j = size * mean``
    ``totals``       matrix with a head index -> the name of its sum over the heads
    ``signs``        named scalars with square 1
    ``unit_in_norm`` norm name -> family whose unit length is put into the norm (its own motion is then left out)
    """

    sizes: Mapping[str, sp.Expr] = field(default_factory=lambda: {"token": TOKENS, "head": HEADS})
    symmetric: frozenset[str] = frozenset()
    unit: Mapping[str, Letters] = _nothing()
    tangent: Mapping[tuple[str, str], Letters] = _nothing()
    orthogonal: Mapping[tuple[str, str], Letters] = _nothing()
    norms: Mapping[str, tuple[str, Letters]] = _nothing()
    definitions: Mapping[str, Expression] = _nothing()
    eigen: Mapping[tuple[str, bool, str], sp.Expr] = _nothing()
    gram: Mapping[tuple[Base, Letters, Base], sp.Expr] = _nothing()
    products: Mapping[tuple[str, str], Letters] = _nothing()
    replaced: Mapping[str, tuple[sp.Expr, Letters | None]] = _nothing()
    zero_sums: frozenset[str] = frozenset()
    zero_averages: frozenset[str] = frozenset()
    means: Mapping[str, str] = _nothing()
    totals: Mapping[str, str] = _nothing()
    signs: frozenset[str] = frozenset()
    unit_in_norm: Mapping[str, str] = _nothing()

    def extended(self, **changes: Any) -> Assumptions:
        """These assumptions and more: mappings and sets are joined, not replaced."""
        joined: dict[str, Any] = {}
        for name, value in changes.items():
            old = getattr(self, name)
            joined[name] = old | value if isinstance(old, frozenset) else {**old, **value}
        return replace(self, **joined)
