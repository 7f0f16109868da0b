"""What the steps of a proof hold fixed in time: a matrix that depends on time by the conditions is none of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import Expression
from eigentoken.theory.kernel.observables import parameters_of
from eigentoken.theory.kernel.propositions import (
    Atom,
    Conjunction,
    Proposition,
    children,
    conjuncts,
    free_letters,
    relation_of,
    times_of,
    value_letters,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import VectorLetter
from eigentoken.theory.language.terms import MatrixNumber, matrix

__all__ = ["steps_that_hold"]


def steps_that_hold(proved: Proved, moving: frozenset[Any]) -> list[str]:
    """The rules of the steps of its tree that hold one of these matrices fixed."""
    return [each.rule for each in proved.tree() if held_fixed(each) & moving or (moving and autonomous(each))]


def held_fixed(step: Proved) -> frozenset[Any]:
    """The letters that a step treats as constant in time."""
    if step.rule == "increment":
        return free_letters(step.proposition.word.relation.lhs)
    if step.rule in {"witness", "instantiate", "textbook"}:  # a letter for a number is one number, at all times
        values = (step.detail[1] if step.rule == "textbook" else step.detail).values()
        numbers = frozenset().union(*(free_letters(each) for each in values if isinstance(each, sp.Expr)))
        return numbers | (_held_by_theorem(*step.detail) if step.rule == "textbook" else _held_as_a_vector(step))
    if step.rule == "recall":
        return step.detail[2]
    if step.rule in {"monotone", "dissipates"}:  # a rate holds matrices fixed
        return frozenset(map(matrix, parameters_of(step.proposition.word.observable)))
    if step.rule == "arithmetic":  # what is one case at one time may be another at another time
        said = [part for each in (step, *step.premises) for part in conjuncts(each.proposition)]
        return frozenset().union(*(_in_numbers(each) for each in said if not isinstance(each, Atom)))
    fixed = {"spectrum", "equilibrium", "two_cycle", "first_exit", "least", "meaning", "half_space", "attention_rank"}
    return free_letters(step.proposition) if step.rule in fixed else frozenset()


def _held_by_theorem(theorem: Any, objects: Mapping[str, Any]) -> frozenset[Any]:
    """Along a trajectory a quantity, or a region, with a matrix in it changes with the matrix, which its rate does not see."""
    if theorem.time is None:
        return frozenset()
    return frozenset().union(
        *(
            value_letters(each)
            for name, each in objects.items()
            if name not in theorem.moves and isinstance(each, Expression | Proposition)
        )
    )


def _held_as_a_vector(step: Proved) -> frozenset[Any]:
    """What stands for a vector at a time of the trajectory is one vector at all times, and so are the matrices in it."""
    said = step.premises[0].proposition if step.rule == "instantiate" else step.proposition
    inside = Conjunction((said.guard, said.body))
    timed = isinstance(said.letter, VectorLetter) and any(time is not None for time, _ in times_of(inside, said.letter))
    values = (each for each in step.detail.values() if timed and isinstance(each, Expression))
    return frozenset().union(*map(value_letters, values))


def _in_numbers(said: Proposition) -> frozenset[Any]:
    """The letters of the eigenvalues and norms that it speaks of."""
    relation = relation_of(said)
    here = () if relation is None else relation.atoms(MatrixNumber)
    return frozenset().union(*map(free_letters, here), *map(_in_numbers, children(said)))


def autonomous(step: Proved) -> bool:
    """A step about systems whose matrices do not depend on time."""
    fixed = {"same_state", "stability_of_any", "unstable"}
    return step.rule in fixed or (step.rule == "textbook" and bool(step.detail[0].autonomous))
