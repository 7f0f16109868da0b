"""Scalars of the dimension-free calculus as terms: inner products, sums over tokens, attention weights.

``Tensor(e)`` is the number that the expression ``e`` has at a state; ``Tensor(e, t)`` at time ``t`` of a trajectory.  ``Rate(e)``
is its derivative along a flow, or its increment under a map.  Two expressions that have one normal form (with nothing assumed)
are one term.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import sympy as sp
from sympy.printing.precedence import PRECEDENCE

from eigentoken.theory.calculus import Assumptions, Expression, Index, factor, instance, normal_form, substitute, vector
from eigentoken.theory.calculus.atoms import Base, Dot, Exp, Letter, Named, Norm, SumExp
from eigentoken.theory.calculus.expressions import Frozen, Monomial, frozen, thawed
from eigentoken.theory.calculus.latex import expression_latex
from eigentoken.theory.kernel.closed import exchange
from eigentoken.theory.kernel.refused import Refused

__all__ = [
    "STATE",
    "AtTime",
    "Opposite",
    "Rate",
    "Slope",
    "Tensor",
    "VectorLetter",
    "bases_of",
    "is_defined",
    "is_reserved",
    "letters_of",
    "matrices_of",
    "moves",
    "real_where_defined",
]

#: The letter of the state.
STATE = "x"

_NOTHING = Assumptions()
_DEFINED = re.compile(r"y\d*")
#: Names of indices that the calculus gives itself: to sums (1, 2, ... in a normal form), to a family's own index.
_RESERVED = re.compile(r"\d+|_.*|\*|slot|column")


def is_defined(name: str) -> bool:
    """``y, y2, ...`` are the vectors that the equation of a map introduces: functions of the state, no letters."""
    return _DEFINED.fullmatch(name) is not None


def is_reserved(index: Index) -> bool:
    """Would a sum of the calculus capture an index of this name?"""
    return _RESERVED.fullmatch(index.name) is not None


class VectorLetter(NamedTuple):
    """A letter for a vector, or for a family of vectors with one member for each token: the state ``x`` is one."""

    name: str


class AtTime(NamedTuple):
    """What a state letter is replaced by along a trajectory: the state at this time."""

    time: sp.Expr


@lru_cache(maxsize=50_000)
def real_where_defined(term: sp.Expr) -> bool:
    """A real number wherever it has a value: of real letters, without the imaginary unit."""
    letters = (each for each in term.free_symbols if isinstance(each, sp.Symbol))
    return term.is_real is not False and not term.has(sp.I) and all(each.is_real for each in letters)


def _is_time(term: sp.Expr) -> bool:
    """No quantity and no matrix hides in it: their letters would not be seen, nor replaced."""
    return not term.has(Tensor, sp.MatrixSymbol) and real_where_defined(term)


class Tensor(sp.AtomicExpr):  # type: ignore[misc]
    """The value of a scalar expression, at a state or at a time."""

    is_real = True
    is_commutative = True
    __slots__ = ("_number", "_scales", "key", "time")
    key: tuple[tuple[Monomial, sp.Expr], ...]
    time: sp.Expr | None
    _number: int
    _scales: tuple[sp.Expr, ...]

    def __new__(cls, expression: Expression, time: Any = None) -> Tensor:
        if expression.is_vector:
            raise TypeError(f"a term must be a scalar, got the vector {expression!r}: take an inner product")
        taken = sorted(index.name for index in expression.free_indices if is_reserved(index))
        if taken:
            raise Refused(f"the calculus names its own indices {', '.join(taken)}: choose another name")
        terms = frozen(expression)
        if not _whole_powers(terms):
            raise Refused(f"a power in a term is a whole number, so that it has a real value: {expression!r}")
        made: Tensor = sp.AtomicExpr.__new__(cls)
        made.key, made._scales = _spelled(terms)
        made.time = None if time is None else sp.sympify(time)
        unreal = [each for each in made.coefficients() if not real_where_defined(each)]
        if unreal:
            raise Refused(f"a term is a real number: {', '.join(map(str, unreal))} is not known to be one")
        if made.time is not None and not _is_time(made.time):
            raise Refused(f"a time is a real number, made of numbers and letters for numbers alone, got {made.time}")
        return made

    @property
    def expression(self) -> Expression:
        return thawed(self.key)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._identity() == other._identity()

    def __hash__(self) -> int:
        """Of the key, which is long: found once."""
        try:
            return self._number
        except AttributeError:
            self._number = hash(self._identity())
        return self._number

    def _identity(self) -> tuple[Any, ...]:
        return (type(self).__name__, self.key, self.time)

    def _hashable_content(self) -> tuple[str, str]:
        """By this sympy orders sums and products; what is equal to what is said by the key."""
        return (type(self).__name__, str(self))

    def __str__(self) -> str:
        return _text(self)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.expression, self.time)

    @property
    def free_symbols(self) -> set[sp.Basic]:
        """Scalar letters, in the coefficients and in the time."""
        found = set().union(*(each.free_symbols for each in self.coefficients()))
        return found | (self.time.free_symbols if self.time is not None else set())

    def coefficients(self) -> tuple[sp.Expr, ...]:
        """The scalars that stand in it, also in exponents."""
        return self._scales

    def divisors(self) -> list[Tensor]:
        """What it divides by, norms of a map's raw step and rows of attention apart: those are positive where there is a step."""
        found = []
        for monomial, _ in self.key:
            for atom, power in monomial.factors:
                if isinstance(atom, Exp | SumExp) and _divides(atom.exponent):
                    raise Refused(f"{self} divides by a quantity in an exponent: name the quotient first")
                if power < 0 and not (isinstance(atom, Exp | Norm) or (isinstance(atom, SumExp) and seen_by_one(atom))):
                    if factor(atom).free_indices & set(monomial.bound):
                        raise Refused(f"{self} divides by a quantity in a sum: name the quotient first")
                    part = Tensor(factor(atom))
                    moves = VectorLetter(STATE) in part.letters()
                    found.append(Tensor(factor(atom), self.time) if moves else part)
        return found

    def letters(self) -> set[Any]:
        """Every free letter: scalars, indices of tokens, vectors, matrices (by name)."""
        return set(_letters_of(self.key)) | (self.time.free_symbols if self.time is not None else set())

    def put(self, table: Mapping[Any, Any]) -> Tensor:
        """The term with letters replaced, all at once: and a state by the state at a time."""
        here = self.letters()
        if not any(old in here or getattr(old, "name", None) in here for old in table):
            return self
        scalars = {old: sp.sympify(new) for old, new in table.items() if isinstance(old, sp.Symbol | sp.MatrixSymbol)}
        if any(new.has(Tensor) for old, new in scalars.items() if old in here):
            raise Refused(f"a scale in {self} cannot become a quantity: multiply outside")
        expression = thawed(_scaled(self.key, scalars)) if scalars else self.expression
        pairs = [(old, new) for old, new in table.items() if isinstance(old, Index)]
        expression = expression.at(*pairs) if pairs else expression
        families = {old.name: new for old, new in table.items() if isinstance(old, VectorLetter) and old in here}
        self._check_constant(families)
        vectors = {name: _member(new) for name, new in families.items() if not isinstance(new, AtTime)}
        expression = substitute(expression, vectors) if vectors else expression
        matrices = {
            old.name: new for old, new in table.items() if isinstance(old, sp.MatrixSymbol) and old.name in here
        }
        expression = _with_matrices(expression, matrices) if matrices else expression
        time = exchange(self.time, scalars) if self.time is not None else None
        for moment in (new for new in families.values() if isinstance(new, AtTime)):
            if time is not None:
                raise Refused(f"{self} is taken at time {time} already")
            time = moment.time
        return type(self)(expression, time)

    def _check_constant(self, families: Mapping[str, Any]) -> None:
        """A rate holds its other vectors fixed: see :class:`Rate`."""

    @property
    def precedence(self) -> int:
        """For the printer: a product or a quotient is bracketed before it is raised to a power."""
        ((monomial, scale),) = self.key if len(self.key) == 1 else ((Monomial(), sp.Integer(1)),)
        plain = type(self) is not Tensor or (
            scale == 1 and [power for _, power in monomial.factors] in ([], [1]) and not monomial.bound
        )
        return int(PRECEDENCE["Atom" if plain and not self.is_product else "Mul"])

    def _latex(self, printer: Any) -> str:
        """Several terms stand in parentheses: it may be a factor.  Inner products of tokens at a time are written ``x_i(t)``."""
        moment = "" if self.time is None else printer._print(self.time)
        inside = moment if self.made_of_tokens() else ""
        text = expression_latex(self.expression, weights=True, time=inside, taken=getattr(printer, "taken", ()))
        single = self.precedence == PRECEDENCE["Atom"] and len(self.key) < 2
        plain = (
            (single and not self._one_product()) if moment and not inside else len(self.key) < 2 or _one_square(text)
        )
        text = text if plain else rf"\left({text}\right)"
        return text if not moment or inside else rf"{text}({moment})"

    @property
    def is_product(self) -> bool:
        """For the printer: is it one inner product ``x^T y``, which stands in parentheses beside other factors?"""
        return self._one_product() and (self.time is None or self.made_of_tokens())

    def _one_product(self) -> bool:
        ((monomial, scale),) = self.key if len(self.key) == 1 else ((Monomial(), sp.Integer(1)),)
        if type(self) is not Tensor or scale != 1 or monomial.bound or [power for _, power in monomial.factors] != [1]:
            return False
        only = monomial.factors[0][0]
        return isinstance(only, Dot) and (only.left != only.right or bool(only.letters))

    @property
    def is_negative_term(self) -> bool:
        """For the printer: is it one term with a minus before it?"""
        return type(self) is Tensor and len(self.key) == 1 and bool(self.key[0][1].could_extract_minus_sign())

    @property
    def is_sum(self) -> bool:
        """For the printer: does it begin with a sign of summation, which would take in a factor behind it?"""
        return type(self) is Tensor and len(self.key) == 1 and bool(self.key[0][0].bound)

    def made_of_tokens(self) -> bool:
        """Is it made of inner products of vectors, and no matrices, exponentials or names for functions of the state?"""
        plain = all(isinstance(atom, Dot) and not atom.letters for part, _ in self.key for atom, _ in part.factors)
        return type(self) is Tensor and plain and not any(is_defined(base.name) for base in bases_of(self.key))

    def plain_latex(self, taken: tuple[str, ...] = ()) -> str:
        """As it is printed where it stands alone: without parentheses around one inner product."""
        moment = sp.latex(self.time) if self.time is not None and self.made_of_tokens() else ""
        text = expression_latex(self.expression, weights=True, time=moment, taken=taken)
        return _ROW_ALONE.sub(r"\1", text)

    def _sympystr(self, printer: Any) -> str:
        at = "" if self.time is None else f", {self.time}"
        return f"{type(self).__name__}({self.expression!r}{at})"


def in_brackets(text: str) -> str:
    r"""In square brackets that are as high as what stands in them; a line may end inside.

    >>> in_brackets("x"), in_brackets(r"\frac{x}{y}")
    ('\\bigl[x\\bigr]', '\\Bigl[\\frac{x}{y}\\Bigr]')
    """
    size = "Big" if re.search(r"\\frac|\\sum", text) else "big"
    return rf"\{size}l[{text}\{size}r]"


#: A sum of exponentials that stands alone: the parentheses are for what stands beside it.
_ROW_ALONE = re.compile(r"\A\\Big\(((?:(?!\\Big).)*)\\Big\)\Z")


class Rate(Tensor):
    """The derivative of the expression along the flow, or its increment under one step of the map.

    Only the state moves: scales and other vectors in it are constants, and cannot be replaced by what moves.
    """

    def __new__(cls, expression: Expression, time: Any = None) -> Rate:
        made: Rate = super().__new__(cls, expression, time)
        if made.time is not None and any(made.time.free_symbols & each.free_symbols for each in made.coefficients()):
            raise Refused(f"the scales in {made} are constants: they do not depend on the time {made.time}")
        return made

    def _check_constant(self, families: Mapping[str, Any]) -> None:
        moved = [name for name, new in families.items() if name != STATE and moves(new)]
        if moved:
            raise Refused(f"{', '.join(moved)} is constant in {self}: it cannot become what moves with the state")

    def _latex(self, printer: Any) -> str:
        text = rf"\Delta{in_brackets(super().plain_latex(getattr(printer, 'taken', ())))}"
        return text if self.time is None else rf"{text}({printer._print(self.time)})"

    def plain_latex(self, taken: tuple[str, ...] = ()) -> str:
        return rf"\Delta{in_brackets(super().plain_latex(taken))}"


class Slope(Rate):
    """The derivative of a quantity at the state along ``x_i -> x_i + eps w_i``, for every token at once.

    ``w`` is the family ``along``, any vectors: what is differentiated is the formula of the map off the sphere, too.  Like a
    rate it holds scales and other vectors fixed; the state in it is what it is.
    """

    __slots__ = ("along",)
    along: str

    def __new__(cls, expression: Expression, along: str = "w", time: Any = None) -> Slope:
        if time is not None:
            raise Refused("a slope is taken at a state, not at a time")
        if along == STATE or is_defined(along):
            raise Refused(f"{along} is no direction: it is given by the state")
        made: Slope = super().__new__(cls, expression)
        made.along = along
        return made

    def _identity(self) -> tuple[Any, ...]:
        return (type(self).__name__, self.key, self.along)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.expression, self.along)

    def letters(self) -> set[Any]:
        return super().letters() | {VectorLetter(self.along)}

    def put(self, table: Mapping[Any, Any]) -> Slope:
        if VectorLetter(STATE) in table:
            raise Refused(f"{self} is a derivative at the state: another state has its own")
        new = table.get(VectorLetter(self.along), VectorLetter(self.along))
        if not isinstance(new, VectorLetter):
            raise Refused(f"the direction of {self} is replaced by another letter only, got {new}")
        inside = Rate(self.expression).put(table)
        return Slope(inside.expression, new.name)

    def _latex(self, printer: Any) -> str:
        return self.plain_latex(getattr(printer, "taken", ()))

    def plain_latex(self, taken: tuple[str, ...] = ()) -> str:
        return rf"\mathrm{{D}}{in_brackets(Tensor.plain_latex(self, taken))}({self.along})"

    def _sympystr(self, printer: Any) -> str:
        return f"Slope({self.expression!r}, {self.along})"


class Opposite(Rate):
    """The value of a quantity at the opposite state ``-x``, also of the vectors that a map defines; the rest is held fixed."""

    def __new__(cls, expression: Expression, time: Any = None) -> Opposite:
        if time is not None:
            raise Refused("the opposite state is that of a state, not of a time")
        made: Opposite = super().__new__(cls, expression)
        return made

    def put(self, table: Mapping[Any, Any]) -> Opposite:
        if VectorLetter(STATE) in table:
            raise Refused(f"{self} is taken at the opposite of the state: another state has its own")
        return Opposite(Rate(self.expression).put(table).expression)

    def _latex(self, printer: Any) -> str:
        return self.plain_latex(getattr(printer, "taken", ()))

    def plain_latex(self, taken: tuple[str, ...] = ()) -> str:
        return rf"{in_brackets(Tensor.plain_latex(self, taken))}(-{STATE})"


def seen_by_one(row: SumExp) -> bool:
    """Is it a sum over all, or over what one token sees?  Others could be empty; where the mask is causal a token sees itself."""
    return not row.masks or (len(row.masks) == 1 and row.masks[0].key == row.bound)


def _one_square(text: str) -> bool:
    """Is what is printed one square ``|a - b|^2``?"""
    return re.fullmatch(r"\\left\|[^|]*\\right\|\^\{2\}", text) is not None


def moves(new: Any) -> bool:
    """Does the state occur in what a vector is replaced by?"""
    inside = tuple(new.terms) if isinstance(new, Expression) else (Base(new.name),)
    return bool(norms_of(inside)) or any(base.name == STATE or is_defined(base.name) for base in bases_of(inside))


def _member(new: Any) -> Any:
    """How the members of a family are replaced: by another letter, or by an expression in the slot index."""
    if isinstance(new, VectorLetter):
        return lambda *indices: vector(new.name, *indices)
    if isinstance(new, Expression):
        if not new.is_vector and new.terms:
            raise Refused(f"a vector is replaced by a vector, got {new!r}")
        return lambda *indices: instance(new, *indices)
    raise Refused(f"a vector is replaced by a vector, a family or a time, got {new!r}")


@lru_cache(maxsize=50_000)  # the same terms stand in many steps
def _spelled(terms: Frozen) -> tuple[Frozen, tuple[sp.Expr, ...]]:
    """The normal form by what holds of all vectors, and the scalars that stand in it."""
    key = frozen(normal_form(thawed(terms), _NOTHING))
    return key, tuple(each for each in _leaves(key) if isinstance(each, sp.Basic))


@lru_cache(maxsize=50_000)
def _text(term: Tensor) -> str:
    return str(sp.AtomicExpr.__str__(term))


def letters_of(expression: Expression) -> set[Any]:
    """Every free letter of an expression: scalars, indices of tokens, vectors, matrices (by name)."""
    return set(_letters_of(frozen(expression)))


@lru_cache(maxsize=50_000)
def _letters_of(key: Frozen) -> frozenset[Any]:
    expression = thawed(key)
    names = {base.name for base in bases_of(key)}
    if any(map(is_defined, names)) or norms_of(key):
        names = {name for name in names if not is_defined(name)} | {STATE}
    indices = {index for index in expression.free_indices if index.name != "*"}
    scalars = set().union(*(each.free_symbols for each in _leaves(key) if isinstance(each, sp.Basic)))
    return frozenset((*scalars, *indices, *map(VectorLetter, names), *matrices_of(key)))


def _whole_powers(terms: Any) -> bool:
    """Are all powers whole numbers, in exponents too?  The root of an inner product has no value where that is negative."""
    return all(
        sp.sympify(power).is_Integer and _whole_powers(getattr(atom, "exponent", ()))
        for part, _ in terms
        for atom, power in part.factors
    )


def _divides(terms: Any) -> bool:
    """Is there a quantity with a negative power in it?"""
    return any(
        power < 0 or _divides(getattr(atom, "exponent", ())) for part, _ in terms for atom, power in part.factors
    )


def _leaves(thing: Any) -> list[Any]:
    return [leaf for part in thing for leaf in _leaves(part)] if isinstance(thing, tuple) else [thing]


def _scaled(thing: Any, scalars: Mapping[Any, Any]) -> Any:
    """The frozen terms with letters in their coefficients replaced, also in exponents."""
    if isinstance(thing, sp.Basic):
        return exchange(thing, scalars)
    if isinstance(thing, tuple):
        parts = [_scaled(part, scalars) for part in thing]
        return type(thing)(*parts) if hasattr(thing, "_fields") else tuple(parts)
    return thing


def _with_matrices(expression: Expression, matrices: Mapping[str, Any]) -> Expression:
    """Matrices replaced by other letters, by the identity or by zero."""
    found: dict[str, tuple[sp.Expr, tuple[Letter, ...] | None]] = {}
    for name, new in matrices.items():
        if isinstance(new, sp.MatrixSymbol) and new.name not in matrices:
            found[name] = (sp.Integer(1), (Letter(new.name),))
        elif isinstance(new, sp.Identity | sp.ZeroMatrix):
            found[name] = (sp.Integer(1), ()) if isinstance(new, sp.Identity) else (sp.Integer(0), None)
        elif new != sp.MatrixSymbol(name, *new.shape):
            raise Refused(f"{name} in a quantity is replaced by a letter, the identity or zero, got {new}")
    return normal_form(expression, Assumptions(replaced=found))


def _all_of(kind: type, thing: Any) -> set[Any]:
    if isinstance(thing, kind):
        return {thing}
    return set().union(*(_all_of(kind, part) for part in thing)) if isinstance(thing, tuple) and thing else set()


def bases_of(thing: Any) -> set[Base]:
    """Every vector that occurs."""
    return _all_of(Base, thing)


def norms_of(thing: Any) -> set[Norm]:
    """Every norm ``r_i`` that occurs: a function of the state."""
    return _all_of(Norm, thing)


def named_of(thing: Any) -> set[Named]:
    """Every scalar that is kept by its name."""
    return _all_of(Named, thing)


def matrices_of(thing: Any) -> set[str]:
    """The names of the matrices that occur."""
    return {each.name for each in letters_in(thing)}


def letters_in(thing: Any) -> set[Letter]:
    """Every matrix that occurs, with its indices."""
    return _all_of(Letter, thing)
