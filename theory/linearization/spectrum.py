"""A spectrum with symbolic multiplicities: what it is, how it is counted, compared and evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from eigentoken.theory.language.verdicts import Verdict, fails, holds

__all__ = ["EigenvalueFamily", "Entry", "Spectrum"]


@dataclass(frozen=True)
class EigenvalueFamily:
    """A symbol of an entry that runs over several values: ``lambda_l`` over other eigenvalues, i over tokens."""

    symbol: sp.Symbol
    count: sp.Expr
    latex: str
    meaning: str


@dataclass(frozen=True)
class Entry:
    """One class of eigenvalues: the value (for each value of the running symbols) and its multiplicity there.

    ``block`` is the matrix whose eigenvalues a pair of entries are; ``tangent`` is false for directions off the
    manifold, and ``extension`` then says which continuation of the map they belong to.
    """

    value: sp.Expr
    multiplicity: sp.Expr
    runs: tuple[EigenvalueFamily, ...] = ()
    title: str = ""
    eigenvectors: str = ""
    tangent: bool = True
    extension: str = ""
    block: sp.ImmutableMatrix | None = None

    @property
    def count(self) -> sp.Expr:
        """How many eigenvalues the entry stands for."""
        total = self.multiplicity
        for run in self.runs:
            total = total * run.count
        return sp.expand(total)


@dataclass(frozen=True)
class Spectrum:
    """The eigenvalues of a linearization at a point.

    ``entries`` are the tangent classes first; ``dimension`` is what the multiplicities of those must add up to;
    ``conditions`` say where the formulas are valid; ``relations`` (such as ``n = p + q``) are used when counting and
    comparing; ``abbreviations`` are letters (``m_1``, ``b_1``) with what they stand for.
    """

    system: str
    point: str
    entries: tuple[Entry, ...]
    dimension: sp.Expr
    flow: bool
    conditions: tuple[sp.Basic, ...] = ()
    relations: tuple[tuple[sp.Symbol, sp.Expr], ...] = ()
    abbreviations: tuple[tuple[sp.Symbol, sp.Expr], ...] = ()

    @property
    def tangent(self) -> tuple[Entry, ...]:
        """The classes that decide stability."""
        return tuple(entry for entry in self.entries if entry.tangent)

    @property
    def extrinsic(self) -> tuple[Entry, ...]:
        """The classes off the manifold: they depend on how the map is continued, and decide nothing."""
        return tuple(entry for entry in self.entries if not entry.tangent)

    def related(self, value: sp.Expr) -> sp.Expr:
        """The value with the relations used, in a normal form of rational functions."""
        return sp.cancel(sp.together(self.expanded(value).subs(self.relations)))

    def expanded(self, value: sp.Expr) -> sp.Expr:
        """The value with the abbreviations written out."""
        result = sp.sympify(value)
        for letter, meaning in self.abbreviations:
            result = result.subs(letter, meaning)
        return result

    def count_check(self) -> Verdict:
        """The multiplicities of the tangent classes add up to the dimension, symbolically."""
        total = sp.Add(*(entry.count for entry in self.tangent))
        excess = sp.expand(self.related(total - self.dimension))
        if excess == 0:
            return holds(f"the multiplicities add up to {self.dimension}")
        return fails(f"the multiplicities add up to {sp.expand(total)}, which exceeds {self.dimension} by {excess}")

    def same_as(self, other: Spectrum) -> bool:
        """Equal entries (value, multiplicity, runs) in any order, by the normal form of rational functions."""
        return _keys(self) == _keys(other)

    def at(
        self,
        values: Mapping[Any, Any],
        runs: Mapping[Any, Sequence[Any]],
        convert: Callable[[sp.Expr], Any] = sp.simplify,
    ) -> list[tuple[Any, int]]:
        """Numbers: ``(eigenvalue, multiplicity)`` of the tangent classes.

        ``values`` gives the symbols (by symbol or name), ``runs`` the list of values of each running symbol.  Classes
        of multiplicity zero are left out.  Entries that are the roots of a block of three or more groups are computed
        from the block.
        """
        named = {str(key): sp.sympify(value) for key, value in values.items()}
        listed = {str(key): [sp.sympify(value) for value in found] for key, found in runs.items()}
        result = []
        for entry in self.tangent:
            from_block = entry.block is not None and entry.value in [run.symbol for run in entry.runs]
            free = [run.symbol for run in entry.runs if not (from_block and run.symbol == entry.value)]
            for extra in _choices(free, listed):
                known = {**named, **extra}
                for name, expression in self.relations:
                    known.setdefault(str(name), expression.subs(_table(expression, known)))
                count = entry.multiplicity.subs(_table(entry.multiplicity, known))
                if count.free_symbols:
                    raise ValueError(f"values must name {sorted(map(str, count.free_symbols))} for the multiplicity")
                if count == 0:
                    continue
                for letter, meaning in reversed(self.abbreviations):
                    known[str(letter)] = meaning.subs(_table(meaning, known))
                if from_block and entry.block is not None:
                    numbers = _roots_of_block(entry.block.subs(_table(entry.block, known)))
                else:
                    numbers = [entry.value.subs(_table(entry.value, known))]
                for number in numbers:
                    if number.free_symbols:
                        missing = sorted(map(str, number.free_symbols))
                        raise ValueError(f"values must name {', '.join(missing)}, got only {', '.join(sorted(known))}")
                    result.append((convert(number), int(count)))
        return result

    def _repr_latex_(self) -> str:
        from eigentoken.theory.linearization.latex import spectrum_latex

        return f"$$\n{spectrum_latex(self)}\n$$"


def _roots_of_block(block: sp.ImmutableMatrix) -> list[sp.Expr]:
    """The eigenvalues of a block of numbers with their multiplicities: computed with 300 digits, so that a multiple one
    (which costs digits in proportion to its multiplicity) still has many."""
    if block.free_symbols:
        return [sp.Add(*block)]  # the caller names what is missing
    from mpmath import MPContext

    mp = MPContext()
    mp.dps = 300
    size = block.rows
    numbers = mp.matrix(size, size)
    for i in range(size):
        for j in range(size):
            real, imaginary = sp.N(block[i, j], 300).as_real_imag()
            numbers[i, j] = mp.mpc(str(real), str(imaginary)) if imaginary != 0 else mp.mpf(str(real))
    found = mp.eig(numbers, left=False, right=False)
    return [sp.Float(str(mp.re(value)), 90) + sp.I * sp.Float(str(mp.im(value)), 90) for value in found]


def _table(expression: sp.Expr, known: Mapping[str, sp.Expr]) -> dict[sp.Symbol, sp.Expr]:
    return {symbol: known[symbol.name] for symbol in expression.free_symbols if symbol.name in known}


def _choices(symbols: Sequence[sp.Symbol], listed: Mapping[str, list[sp.Expr]]) -> list[dict[str, sp.Expr]]:
    found: list[dict[str, sp.Expr]] = [{}]
    for symbol in symbols:
        if symbol.name not in listed:
            raise ValueError(f"runs must list the values of {symbol.name}, got only {', '.join(listed) or 'nothing'}")
        found = [{**old, symbol.name: value} for old in found for value in listed[symbol.name]]
    return found


def _keys(spectrum: Spectrum) -> list[str]:
    return sorted(
        repr(
            (
                sp.srepr(spectrum.related(entry.value)),
                sp.srepr(sp.expand(spectrum.related(entry.multiplicity))),
                sorted(run.symbol.name for run in entry.runs),
                entry.tangent,
                entry.extension,
            )
        )
        for entry in spectrum.entries
    )
