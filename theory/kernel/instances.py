"""Exact instances: the velocity of a system at given weights and tokens, and what holds of a matrix with given entries.

Numbers are exact (rational, algebraic, exponentials of such); weights and tokens may contain letters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.core.symbol import Str

from eigentoken.theory.kernel.arithmetic import check_defined
from eigentoken.theory.kernel.propositions import Atom, Negation, Proposition, proposition, relation_of
from eigentoken.theory.kernel.proved import Proved, Refused, prove
from eigentoken.theory.kernel.tensors import real_where_defined
from eigentoken.theory.language import conditions
from eigentoken.theory.language.claims import Claim
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.printing.scalars import scalar_latex
from eigentoken.theory.proving.normal_form import identity_verdict
from eigentoken.theory.systems.algebra import LoopAlgebra
from eigentoken.theory.systems.system import Space, System, Time

__all__ = ["UnboundedFrom", "VanishesFrom", "VelocityIs", "exact_matrix", "rows", "velocity_at"]

Rows = tuple[tuple[sp.Expr, ...], ...]
_EXACT = LoopAlgebra(lambda u: sp.exp(sp.expand(u)), sp.sqrt, sp.Integer(1))


def rows(entries: Any) -> Rows:
    """The entries of a matrix, or of a list of tokens, as exact numbers."""
    listed = entries.tolist() if isinstance(entries, sp.MatrixBase) else entries
    return tuple(tuple(sp.sympify(entry) for entry in row) for row in listed)


@dataclass(frozen=True)
class VelocityIs(Claim):
    """At these weights (by name) and tokens, the velocities of the tokens of the flow are these."""

    weights: tuple[tuple[Str, Rows], ...]
    tokens: Rows
    velocity: Rows


@LATEX.register(VelocityIs)
def latex_velocity_is(claim: VelocityIs) -> str:
    given = r",\ ".join(f"{name.name} = {_matrix(value)}" for name, value in claim.weights)
    tokens = ", ".join(_column(token) for token in claim.tokens)
    factor = _factor(claim)
    moved = ", ".join(_column(token) for token in claim.velocity)
    sign = "x" if factor == 1 else "-x" if factor == -1 else ""
    speed = rf"\bigl({moved}\bigr)" if factor is None else sign or rf"{scalar_latex(factor)}\, x" if factor else "0"
    return rf"\text{{at }} {given},\ x = \bigl({tokens}\bigr)\text{{: }} \dot x = {speed}"


def _factor(claim: VelocityIs) -> sp.Expr | None:
    """The number k with ``velocity = k x``, where there is one."""
    pairs = [pair for one in zip(claim.tokens, claim.velocity, strict=True) for pair in zip(*one, strict=True)]
    if all(moved == 0 for _, moved in pairs):
        return sp.Integer(0)
    found = {moved / token for token, moved in pairs if token != 0}
    still = all(moved == 0 for token, moved in pairs if token == 0)
    return found.pop() if len(found) == 1 and still else None


@dataclass(frozen=True)
class UnboundedFrom(Claim):
    """With these weights, the trajectory of the flow that starts at these tokens is unbounded."""

    weights: tuple[tuple[Str, Rows], ...]
    tokens: Rows


@dataclass(frozen=True)
class VanishesFrom(Claim):
    """With these weights, the trajectory of the flow that starts at these tokens tends to zero."""

    weights: tuple[tuple[Str, Rows], ...]
    tokens: Rows


@LATEX.register(UnboundedFrom, VanishesFrom)
def latex_from(claim: UnboundedFrom | VanishesFrom) -> str:
    given = r",\ ".join(f"{name.name} = {_matrix(value)}" for name, value in claim.weights)
    tokens = ", ".join(_column(token) for token in claim.tokens)
    end = "is unbounded" if isinstance(claim, UnboundedFrom) else "tends to zero"
    return rf"\text{{with }} {given}\text{{, the trajectory from }} \bigl({tokens}\bigr) \text{{ {end}}}"


def _matrix(value: Rows) -> str:
    inside = r" \\ ".join(" & ".join(map(scalar_latex, row)) for row in value)
    return rf"\left(\begin{{matrix}} {inside} \end{{matrix}}\right)"


def _column(token: tuple[sp.Expr, ...]) -> str:
    return "(" + ", ".join(map(scalar_latex, token)) + ")"


def velocity_at(claim: VelocityIs, system: System) -> Proved:
    """The velocities, evaluated by the equation of the system in exact expressions."""
    if system.time is not Time.FLOW or system.space is not Space.EUCLIDEAN or system.mask != "full":
        raise Refused(f"{system.name} is no flow in Euclidean space with full attention: it has no velocity here")
    numbers = [entry for _, value in claim.weights for row in value for entry in row]
    numbers += [entry for value in (claim.tokens, claim.velocity) for row in value for entry in row]
    if not all(map(real_where_defined, numbers)):
        raise Refused("weights, tokens and velocities are real numbers")
    given = {name.name: value for name, value in claim.weights}
    if set(given) != {each.name for each in system.parameters}:
        raise Refused(f"the weights of {system.name} are {', '.join(each.name for each in system.parameters)}")
    sizes = {len(row) for value in (*given.values(), claim.tokens, claim.velocity) for row in value}
    square = all(len(value) == len(value[0]) for value in given.values())
    if len(sizes) != 1 or not square or len(claim.velocity) != len(claim.tokens):
        raise Refused("weights, tokens and velocities must have one dimension, and a velocity belongs to each token")
    found = system.advance(_EXACT, given, claim.tokens)
    for row, claimed in zip(found, claim.velocity, strict=True):
        for entry, said in zip(row, claimed, strict=True):
            if not identity_verdict(sp.sympify(entry), said).is_holds:
                raise Refused(f"the velocity is {entry}, not {said}")
    check_defined(Atom(claim), ())
    return prove(Atom(claim), "velocity_at", (), system)


def exact_matrix(said: Any) -> Proved:
    """A word about the sign or the symmetry of a matrix with exact entries, or an equation of two: it holds, or it does not."""
    wanted = proposition(said)
    truth = _truth(wanted)
    if truth is None:
        raise Refused(f"the signs of the minors are not decided exactly: {wanted!r}")
    return prove(wanted if truth else Negation(wanted), "exact_matrix", ())


def _truth(wanted: Proposition) -> bool | None:
    relation, word = relation_of(wanted), getattr(wanted, "word", None)
    if isinstance(relation, sp.Eq):
        left, right = (_entries(side) for side in relation.args)
        return None if left.shape != right.shape else _zero(left - right)
    if isinstance(word, conditions.Symmetric):
        matrix = _entries(word.term)
        return _zero(matrix - matrix.T)
    if isinstance(word, conditions.PositiveDefinite | conditions.NegativeDefinite):
        matrix = _entries(word.term) * (1 if isinstance(word, conditions.PositiveDefinite) else -1)
        minors = [((matrix + matrix.T) / 2)[:size, :size].det() for size in range(1, matrix.rows + 1)]
        exact = [sp.radsimp(sp.expand(each)) for each in minors]
        return all(each > 0 for each in exact) if all(each.is_Rational for each in exact) else None
    raise Refused(f"{wanted!r} says nothing of the sign or the symmetry of a matrix with exact entries")


def _entries(term: Any) -> sp.Matrix:
    """The matrix with its entries: exact numbers, without letters."""
    value = term.doit()
    if not isinstance(value, sp.MatrixBase) or value.rows != value.cols:
        raise Refused(f"{term} is no square matrix with given entries")
    if value.free_symbols or not all(each.is_algebraic and each.is_real for each in value):
        raise Refused(f"the entries of {term} are not exact real numbers")
    return sp.Matrix(value)


def _zero(matrix: sp.Matrix) -> bool:
    """Algebraic numbers vanish exactly where their minimal polynomial is z."""
    z = sp.Symbol("z")
    return all(each == 0 or sp.minimal_polynomial(each, z) == z for each in matrix)
