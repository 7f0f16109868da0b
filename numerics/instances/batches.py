"""Batches of instances as torch sees them, and the values of terms and relations on them.

A :class:`Batch` holds instances of one shape (n tokens in R^d, the same indices k and p) of one system: matrices are
``(B, d, d)``, steps ``(B,)``, tokens ``(B, n, d)``.  Scalars of the language (:mod:`eigentoken.theory.language.terms`) are
evaluated to ``(B,)`` tensors, and a relation to a *violation*: negative where it holds, positive where it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
import torch
from sympy.logic.boolalg import BooleanAtom
from sympy.matrices.expressions.matexpr import MatrixExpr
from torch import Tensor

from eigentoken.numerics.certified.eigen import eig
from eigentoken.numerics.instances.hemisphere_shares import hemisphere_share
from eigentoken.theory.language import terms
from eigentoken.theory.language.readings import VALUE
from eigentoken.theory.systems.algebra import MaskValue, ParameterValue
from eigentoken.theory.systems.system import System

__all__ = ["Batch", "Wave", "relation_violation"]


#: An eigenvalue with a larger imaginary part (relative to the largest) is complex, and has no real eigenvector.
TURNING = 1e-9


Index = Tensor | Sequence[int] | slice


@dataclass(frozen=True, eq=False)
class Wave:
    """A bounded time-varying matrix ``cos(omega t) X + sgn(sin(omega t)) Y``: discontinuous where Y != 0."""

    cosine: Tensor
    square: Tensor
    omega: Tensor

    def __call__(self, t: Any) -> Tensor:
        phase = (self.omega * t).reshape(-1, 1, 1)  # t is a number, or one for each instance
        return torch.cos(phase) * self.cosine + torch.sign(torch.sin(phase)) * self.square

    def take(self, index: Index) -> Wave:
        return Wave(self.cosine[index], self.square[index], self.omega[index])

    def in_arrays(self) -> Callable[[Any], Any]:
        """The same function with numpy's arrays."""
        cosine, square, omega = (each.numpy() for each in (self.cosine, self.square, self.omega))

        def value(t: Any) -> Any:
            phase = (omega * t).reshape(-1, 1, 1)
            return np.cos(phase) * cosine + np.sign(np.sin(phase)) * square

        return value


@dataclass(frozen=True, eq=False)
class Batch:
    """Instances of one shape of one system; ``extra`` holds named vectors such as the normal of a hemisphere.

    ``groups`` labels tokens that coincide in every instance (``None`` where nothing is known): the Jacobian of a full
    attention splits along it.
    """

    system: System
    parameters: Mapping[str, ParameterValue]
    tokens: Tensor
    k: int = 1
    p: int = 1
    corner: str = "generic"
    mask: MaskValue = None
    groups: tuple[int, ...] | None = None
    extra: Mapping[str, Tensor] = field(default_factory=dict)
    _memory: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def count(self) -> int:
        return int(self.tokens.shape[0])

    @property
    def n(self) -> int:
        return int(self.tokens.shape[1])

    @property
    def d(self) -> int:
        return int(self.tokens.shape[2])

    @property
    def q(self) -> int:
        return self.n - self.p

    def take(self, index: Index) -> Batch:
        """The instances with these numbers."""
        return replace(
            self,
            parameters={name: _taken(value, index) for name, value in self.parameters.items()},
            tokens=self.tokens[index],
            extra={name: value[index] for name, value in self.extra.items()},
            _memory={},
        )

    @property
    def undefined(self) -> Tensor:
        """Instances where a term that was asked for does not exist (an inverse of a singular matrix)."""
        found: Tensor = self._memory.get("undefined", torch.zeros(self.count, dtype=torch.bool))
        return found

    @property
    def finite(self) -> Tensor:
        """Instances whose parameters and tokens are all finite."""
        good = torch.isfinite(self.tokens).all(-1).all(-1)
        for group in (self.parameters, *self.parameters.get("heads", ())):
            for value in group.values():
                if isinstance(value, Tensor) and value.ndim:
                    good = good & torch.isfinite(value).reshape(self.count, -1).all(-1)
        return good

    def with_parameters(self, parameters: Mapping[str, ParameterValue], tokens: Tensor | None = None) -> Batch:
        """The same shape with other numbers."""
        return replace(self, parameters=parameters, tokens=self.tokens if tokens is None else tokens, _memory={})

    def at(self, state: Tensor, groups: tuple[int, ...] | None = None) -> Batch:
        """The same instances at another state, whose tokens need not coincide; what is known of the matrices stays known."""
        kept = self._lasting() if state.shape == self.tokens.shape else {}
        return replace(self, tokens=state, groups=groups, _memory=kept)

    def with_steps(self, alpha: Tensor) -> Batch:
        """The same instances with other steps; what is known of the matrices stays known."""
        kept = {} if "undefined" in self._memory else self._lasting(frozenset({"alpha"}))
        return replace(self, parameters={**self.parameters, "alpha": alpha}, _memory=kept)

    def _lasting(self, changed: frozenset[str] = frozenset()) -> dict[Any, Any]:
        """What is remembered and speaks neither of the tokens nor of these parameters."""
        return {key: value for key, value in self._memory.items() if _outlasts(key, changed)}

    def named(self, name: str) -> ParameterValue:
        """The matrix of that name; in a multi-head system the sum over the heads, ``F = sum_h F_h``."""
        if name in self.parameters:
            return self.parameters[name]
        heads = self.parameters.get("heads", ())
        if heads and name in heads[0]:
            return sum((head[name] for head in heads[1:]), heads[0][name])
        if name == "F" and self.system.value is not None:  # the layer matrix of a system with one head
            return self.named(self.system.value)
        if name in self.extra:
            return self.extra[name]
        raise ValueError(
            f"{self.system.name} has no matrix {name}: its parameters are "
            f"{', '.join(each.name for each in self.system.parameters)}"
        )

    def matrix(self, term: MatrixExpr) -> Tensor:
        """The value ``(B, d, d)`` of a matrix term (a time-varying parameter at time 0)."""
        if term not in self._memory:
            self._memory[term] = self._matrix(term)
        found: Tensor = self._memory[term]
        return found

    def _matrix(self, term: MatrixExpr) -> Tensor:
        if isinstance(term, sp.MatrixSymbol):
            value = self.named(term.name)
            return value(0.0) if callable(value) else value
        if isinstance(term, sp.MatrixBase):
            entries = torch.tensor(term.tolist(), dtype=torch.float64)
            return entries.expand(self.count, *entries.shape)
        if isinstance(term, sp.Identity):
            return torch.eye(self.d, dtype=torch.float64).expand(self.count, self.d, self.d)
        if isinstance(term, sp.ZeroMatrix):
            return torch.zeros(self.count, self.d, self.d, dtype=torch.float64)
        if isinstance(term, sp.Transpose):
            return self.matrix(term.arg).mT
        if isinstance(term, sp.Inverse):
            inverse, failed = torch.linalg.inv_ex(self.matrix(term.arg))
            good = (failed == 0) & torch.isfinite(inverse).all(-1).all(-1)
            self._memory["undefined"] = self._memory.get("undefined", ~good) | ~good
            return torch.where(good[:, None, None], inverse, torch.zeros_like(inverse))
        if term.is_MatAdd:
            parts = [self.matrix(part) for part in term.args]
            return sum(parts[1:], parts[0])
        if term.is_MatMul:
            product: Any = None
            factor: Any = 1.0
            for part in term.args:
                if getattr(part, "is_Matrix", False):
                    value = self.matrix(part)
                    product = value if product is None else product @ value
                else:
                    factor = factor * self.scalar(part).reshape(-1, 1, 1)
            return factor * product
        if isinstance(term, sp.MatPow) and term.args[1].is_Integer:
            return torch.linalg.matrix_power(self.matrix(term.args[0]), int(term.args[1]))
        raise ValueError(f"no numbers for the matrix term {term}: use sums, products, transposes and inverses")

    def eigen(self, term: MatrixExpr) -> tuple[Tensor, Tensor]:
        """Eigenvalues ``(B, d)``, largest real part first, and unit eigenvectors in columns."""
        key = ("eigen", term)
        if key not in self._memory:
            value = self.matrix(term)
            if bool((value == value.mT).all()):
                numbers, vectors = torch.linalg.eigh(value)
                self._memory[key] = numbers.flip(-1), vectors.flip(-1)
            else:
                numbers, vectors = eig(value)
                order = numbers.real.argsort(dim=-1, descending=True, stable=True)
                numbers = numbers.gather(-1, order)
                vectors = vectors.gather(-1, order.unsqueeze(-2).expand_as(vectors))
                self._memory[key] = numbers, vectors
        found: tuple[Tensor, Tensor] = self._memory[key]
        return found

    def eigenvector(self, term: MatrixExpr, index: int, left: bool = False) -> Tensor:
        """The real unit eigenvector ``(B, d)`` of the index-th eigenvalue from the top; ``nan`` where that is complex."""
        numbers, columns = self.eigen(sp.Transpose(term).doit() if left else term)
        vectors = columns[..., index - 1]
        if not vectors.is_complex():
            return vectors / torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
        turning = numbers[..., index - 1].imag.abs() > TURNING * (1 + numbers.abs().amax(-1))
        real = vectors.real / torch.linalg.vector_norm(vectors.real, dim=-1, keepdim=True)
        return torch.where(turning.unsqueeze(-1), torch.full_like(real, torch.nan), real)

    def integer(self, expression: sp.Expr | int, ell: int | None = None) -> int:
        """An index or a size, such as ``d`` or ``(n - 1)(d - 1)``."""
        if isinstance(expression, int):
            return expression
        value = _size_function(sp.sympify(expression))(self.n, self.d, self.k, self.p, self.q, ell)
        if value != int(value):
            raise ValueError(f"{expression} is not an integer in n, d, k, p, q: got {value}")
        return int(value)

    def sizes(self, ell: int | None = None) -> dict[sp.Symbol, int]:
        known = {terms.n: self.n, terms.d: self.d, terms.k: self.k, terms.p: self.p, terms.q: self.q}
        return known if ell is None else {**known, terms.ell: ell}

    def scalar(
        self, expression: sp.Expr | int, ell: int | None = None, given: Mapping[sp.Symbol, Tensor] | None = None
    ) -> Tensor:
        """The value ``(B,)`` of a scalar term; letters that are ``given`` may have a number ``(..., B)`` for more than that."""
        given = given or {}
        function, symbols, numbers = _compiled(sp.sympify(expression))
        values = [given[each] if each in given else self._symbol(each, ell) for each in symbols]
        values += [
            self._number_with(each, ell, given)
            if given and not each.free_symbols.isdisjoint(given)
            else self._number(each, ell)
            for each in numbers
        ]
        result = function(*values)
        result = result if isinstance(result, Tensor) else torch.tensor(float(result), dtype=torch.float64)
        return result.expand(self.count) if result.ndim == 0 else result

    def _number_with(self, number: Any, ell: int | None, given: Mapping[sp.Symbol, Tensor]) -> Tensor:
        """A quantity of a matrix in which letters stand that are given: by the row of what they have."""
        inside = {letter: value for letter, value in given.items() if letter in number.free_symbols}
        named = {letter: sp.Symbol(f"given_{i}", real=True) for i, letter in enumerate(inside)}
        rows = [each.reshape(-1, self.count) for each in torch.broadcast_tensors(*inside.values())]
        found = []
        for row in zip(*rows, strict=True):
            extra = {**self.extra, **{each.name: value for each, value in zip(named.values(), row, strict=True)}}
            found.append(VALUE(number.xreplace(named), replace(self, extra=extra, _memory={}), ell))
        return torch.stack(found).reshape(torch.broadcast_shapes(*(each.shape for each in inside.values())))

    def _symbol(self, symbol: sp.Symbol, ell: int | None) -> Tensor:
        sizes = self.sizes(ell)
        if symbol in sizes:
            return torch.tensor(float(sizes[symbol]), dtype=torch.float64)
        found = self.parameters.get(symbol.name, self.extra.get(symbol.name))
        if isinstance(found, Tensor) and found.ndim == 1:
            return found
        raise ValueError(f"{symbol} is not a number of {self.system.name}: expected n, d, k, p, q or a parameter")

    def _number(self, number: Any, ell: int | None) -> Tensor:
        key = (number, ell)
        if key not in self._memory:
            self._memory[key] = VALUE(number, self, ell)
        found: Tensor = self._memory[key]
        return found


@VALUE.register(terms.Eigenvalue, terms.EigenvalueRealPart)
def value_eigenvalue(number: terms.Eigenvalue | terms.EigenvalueRealPart, batch: Batch, ell: int | None) -> Tensor:
    index = batch.integer(number.args[1], ell)
    return batch.eigen(number.args[0])[0][:, index - 1].real if 1 <= index <= batch.d else _nothing(batch)


@VALUE.register(terms.EigenvalueModulus)
def value_eigenvalue_modulus(number: terms.EigenvalueModulus, batch: Batch, ell: int | None) -> Tensor:
    index = batch.integer(number.args[1], ell)
    return batch.eigen(number.args[0])[0][:, index - 1].abs() if 1 <= index <= batch.d else _nothing(batch)


@VALUE.register(terms.SpectralNorm)
def value_spectral_norm(number: terms.SpectralNorm, batch: Batch, ell: int | None) -> Tensor:
    """Of a symmetric matrix the largest modulus of its eigenvalues, which others ask for as well."""
    value = batch.matrix(number.args[0])
    if bool((value == value.mT).all()):
        return batch.eigen(number.args[0])[0].abs().amax(-1)
    return torch.linalg.matrix_norm(value, ord=2)


@VALUE.register(terms.HeadNorm)
def value_head_norm(number: terms.HeadNorm, batch: Batch, ell: int | None) -> Tensor:
    name = number.args[0].name
    heads = [each for each in batch.parameters.get("heads", ()) if name in each]
    found = [each[name] for each in heads] or [batch.named(name)]
    at_once = [each(0.0) if callable(each) else each for each in found]
    return torch.stack([torch.linalg.matrix_norm(each, ord=2) for each in at_once]).amax(0)


@VALUE.register(terms.RightCount)
def value_right_count(number: terms.RightCount, batch: Batch, ell: int | None) -> Tensor:
    parts = batch.eigen(number.args[0])[0].real
    near = (parts.abs() < 1e-9 * parts.abs().amax(-1, keepdim=True).clamp_min(1e-300)).any(-1)
    return torch.where(near, _nothing(batch), (parts > 0).sum(-1).to(torch.float64))


@VALUE.register(terms.HemisphereShare)
def value_hemisphere_share(number: terms.HemisphereShare, batch: Batch, ell: int | None) -> Tensor:
    share = hemisphere_share(*(batch.integer(each, ell) for each in number.args))
    return torch.full((batch.count,), float(share), dtype=torch.float64)


@VALUE.register(terms.SpectralRadiusOff)
def value_spectral_radius_off(number: terms.SpectralRadiusOff, batch: Batch, ell: int | None) -> Tensor:
    others = batch.eigen(number.args[0])[0][:, 1:].abs()
    return others.amax(-1) if others.shape[-1] else torch.zeros(batch.count, dtype=torch.float64)


@VALUE.register(terms.ScoreAtEigenvector)
def value_score_at_eigenvector(number: terms.ScoreAtEigenvector, batch: Batch, ell: int | None) -> Tensor:
    index = batch.integer(number.args[2], ell)
    if not 1 <= index <= batch.d:
        return _nothing(batch)
    vector = batch.eigenvector(number.args[1], index)
    return torch.einsum("bi,bij,bj->b", vector, batch.matrix(number.args[0]), vector)


@VALUE.register(terms.Angle)
def value_angle(number: terms.Angle, batch: Batch, ell: int | None) -> Tensor:
    heights = torch.einsum("bnd,bd->bn", batch.tokens, batch.eigenvector(number.args[0], 1))
    return torch.maximum(heights.amin(-1), -heights.amax(-1))


def _nothing(batch: Batch) -> Tensor:
    return torch.full((batch.count,), torch.nan, dtype=torch.float64)


@lru_cache(maxsize=16384)
def _outlasts(key: Any, changed: frozenset[str]) -> bool:
    """Is this, that a batch remembers, the same at other tokens, and with others of the parameters of these names?

    It may be a matrix, its eigenvalues and eigenvectors, or a number of matrices: all others are forgotten.
    """
    if key == "undefined":
        return True
    term = key[0 if isinstance(key[0], terms.MatrixNumber) else 1] if isinstance(key, tuple) and len(key) == 2 else key
    if not isinstance(term, MatrixExpr | terms.MatrixNumber) or term.has(terms.Angle):
        return False
    return changed.isdisjoint(each.name for each in term.free_symbols)


def _taken(value: Any, index: Any) -> Any:
    if isinstance(value, Tensor):
        return value[index] if value.ndim else value
    if isinstance(value, Wave):
        return value.take(index)
    if isinstance(value, list | tuple):
        return [{name: _taken(each, index) for name, each in head.items()} for head in value]
    return value


def _largest(*values: Any) -> Any:
    result = torch.as_tensor(values[0], dtype=torch.float64)
    for value in values[1:]:
        result = torch.maximum(result, torch.as_tensor(value, dtype=torch.float64))
    return result


def _smallest(*values: Any) -> Any:
    return -_largest(*(-value for value in values))


_TORCH = {
    "Abs": abs,
    "Max": _largest,
    "Min": _smallest,
    **{name: getattr(torch, name) for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "atanh": torch.atanh,
    "acos": torch.acos,
    "asin": torch.asin,
    "atan": torch.atan,
    "sign": torch.sign,
    "coth": lambda value: 1 / torch.tanh(value),
}


@lru_cache(maxsize=4096)
def _size_function(expression: Any) -> Callable[..., Any]:
    symbols = [terms.n, terms.d, terms.k, terms.p, terms.q, terms.ell]
    strange = expression.free_symbols - set(symbols)
    if strange:
        raise ValueError(f"{expression} must be an integer in n, d, k, p, q, ell: {strange} are not sizes")
    function: Callable[..., Any] = sp.lambdify(symbols, expression, modules="math")
    return function


@lru_cache(maxsize=4096)
def _compiled(expression: Any) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]:
    """The expression as a function of its plain symbols and its quantities, in this order."""
    numbers = tuple(sorted(expression.atoms(terms.MatrixNumber), key=str))
    letters = [each.name for each in expression.free_symbols]
    # sympy compiles for letters of different names at once, and for dummies after it has put others in their places, one by one
    letter = sp.Symbol if len(set(letters)) == len(letters) else sp.Dummy
    names = {number: letter(f"number_{index}_of_a_matrix") for index, number in enumerate(numbers)}
    ready = expression.xreplace(names)
    constants = {
        each: each.evalf(20) for each in ready.atoms(sp.Pow, sp.Function) if each.is_number and not each.is_Rational
    }
    ready = ready.xreplace(constants)  # sqrt(2) has no letter: torch takes tensors only
    symbols = tuple(sorted(ready.free_symbols - set(names.values()), key=str))
    compiled: Callable[..., Any] = sp.lambdify([*symbols, *names.values()], ready, modules=[_TORCH, "math"])
    return compiled, symbols, numbers


def relation_violation(batch: Batch, relation: Any) -> Tensor:
    """How far a sympy relation is from holding: negative where it holds, positive where it fails.

    A relation with the free index ``ell`` is meant for every ``ell != k``.  A quantity that does not exist (the second
    eigenvalue of a 1 x 1 matrix) makes the relation fail.
    """
    if _indexed(relation):
        parts = [_violation(batch, relation, ell) for ell in range(1, batch.d + 1) if ell != batch.k]
        if not parts:
            return torch.full((batch.count,), -torch.inf, dtype=torch.float64)
        return torch.stack(parts).amax(0)
    return _violation(batch, relation, None)


@lru_cache(maxsize=4096)
def _indexed(relation: Any) -> bool:
    """Does the free index ``ell`` occur in it?"""
    return terms.ell in sp.sympify(relation).free_symbols


def _violation(batch: Batch, relation: Any, ell: int | None) -> Tensor:
    if isinstance(relation, bool | BooleanAtom):
        sign = -1.0 if relation else 1.0
        return torch.full((batch.count,), sign * torch.inf, dtype=torch.float64)
    if isinstance(relation, sp.And):
        return torch.stack([_violation(batch, part, ell) for part in relation.args]).amax(0)
    if isinstance(relation, sp.Or):
        return torch.stack([_violation(batch, part, ell) for part in relation.args]).amin(0)
    if isinstance(relation, sp.Not):
        return -_violation(batch, relation.args[0], ell)
    if isinstance(relation, sp.Implies):
        return torch.minimum(_violation(batch, relation.args[1], ell), -_violation(batch, relation.args[0], ell))
    if not isinstance(relation, sp.core.relational.Relational):
        raise ValueError(f"a relation must be built of comparisons with And, Or, Not, got {relation}")
    left, right = batch.scalar(relation.lhs, ell), batch.scalar(relation.rhs, ell)
    gap = left - right
    scale = 1e-12 * (1 + torch.maximum(left.abs(), right.abs()))
    if isinstance(relation, sp.Eq):
        value = gap.abs() - scale
    elif isinstance(relation, sp.Ne):
        value = scale - gap.abs()
    else:
        value = gap if isinstance(relation, sp.StrictLessThan | sp.LessThan) else -gap
        if isinstance(relation, sp.LessThan | sp.GreaterThan):
            value = value - scale
    return torch.nan_to_num(value, nan=torch.inf, posinf=torch.inf, neginf=-torch.inf)
