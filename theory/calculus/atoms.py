"""The atoms of the dimension-free calculus: indices, matrices, vectors and the scalar factors built from them.

All of them are immutable, hashable and have one spelling, so that equal things are equal objects.  An index has a
``kind``, the range that it runs over: ``token`` (n of them), ``head`` (H), or a group of equal tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import sympy as sp

    from eigentoken.theory.calculus.expressions import Monomial

__all__ = [
    "Base",
    "Delta",
    "Dot",
    "Exp",
    "Index",
    "Letter",
    "Letters",
    "MaskEntry",
    "Named",
    "Norm",
    "SumExp",
    "indices_of",
    "map_indices",
    "transpose",
]


class Index(NamedTuple):
    """An index of a given kind."""

    kind: str
    name: str


class Letter(NamedTuple):
    """A matrix, possibly transposed, possibly one for each head or pair of tokens."""

    name: str
    transposed: bool = False
    indices: tuple[Index, ...] = ()


#: A product of matrices, first factor first.
Letters = tuple[Letter, ...]


class Base(NamedTuple):
    """A vector that is not taken apart further: ``x_i``, a perturbation ``w_i``, an eigenvector ``v_k``."""

    name: str
    indices: tuple[Index, ...] = ()


class Dot(NamedTuple):
    """``left^T W right``, W the product of the letters."""

    left: Base
    letters: Letters
    right: Base


class Exp(NamedTuple):
    """``exp`` of a scalar, given by its frozen normal form."""

    exponent: tuple[tuple[Monomial, sp.Expr], ...]


class SumExp(NamedTuple):
    """``sum_j [masks] exp(exponent)`` over the bound index: the normalizer of a row of attention."""

    bound: Index
    exponent: tuple[tuple[Monomial, sp.Expr], ...]
    masks: tuple[MaskEntry, ...] = ()


class Norm(NamedTuple):
    """``r_i``, the norm of a named vector: never equal to a :class:`Named` that is spelled alike."""

    name: str
    indices: tuple[Index, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Norm) and tuple(self) == tuple(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((Norm, *self))


class Delta(NamedTuple):
    """1 where the two indices are equal, else 0."""

    first: Index
    second: Index


class MaskEntry(NamedTuple):
    """1 where token ``query`` sees token ``key``, else 0."""

    name: str
    query: Index
    key: Index


class Named(NamedTuple):
    """A scalar that depends on indices and is kept by its name: a sign ``sigma_i``, a height ``h_i``."""

    name: str
    indices: tuple[Index, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and tuple(self) == tuple(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((Named, *self))


def transpose(letters: Letters) -> Letters:
    """The transposed product."""
    return tuple(Letter(letter.name, not letter.transposed, letter.indices) for letter in reversed(letters))


def map_indices(thing: Any, table: Mapping[Index, Index]) -> Any:
    """The same thing with the indices of the table replaced, in nested tuples of atoms."""
    if isinstance(thing, Index):
        return table.get(thing, thing)
    if isinstance(thing, tuple):
        parts = [map_indices(part, table) if isinstance(part, tuple) else part for part in thing]
        return type(thing)(*parts) if hasattr(thing, "_fields") else tuple(parts)
    return thing


def indices_of(thing: object) -> list[Index]:
    """Every occurrence of an index, in order, with repetitions."""
    if isinstance(thing, Index):
        return [thing]
    if isinstance(thing, tuple):
        return [index for part in thing if isinstance(part, tuple) for index in indices_of(part)]
    return []
