"""One instance as a free predicate is given it: parameters and tokens as arrays of floats, or of decided numbers.

Both kinds have ``advance()``, also at other tokens, with other parameters or heads, or of another system, so that a conjecture
may compare two instances; ``attention()`` and ``is_equilibrium()``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from operator import mul
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from flint import fmpq
from torch import Tensor

from eigentoken.numerics.author_code.decided_arrays import decided_array
from eigentoken.numerics.author_code.decided_numbers import DecidedNumber, NotDecided, decided
from eigentoken.numerics.author_code.watch import unwatched
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.readings.certified_claims import classified
from eigentoken.numerics.readings.trajectories import problem_of
from eigentoken.theory.systems.algebra import LoopAlgebra, full_mask
from eigentoken.theory.systems.catalogue import system as find_system
from eigentoken.theory.systems.system import System, Time

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["DecidedInstance", "FloatInstance", "UndefinedState", "decided_instance", "one_instance"]

REST = 1e-9


class UndefinedState(Exception):
    """The map is not defined at the state (``y_i = 0`` has no direction), so nothing is said of it."""


class FloatInstance(SimpleNamespace):
    """One instance for a free predicate: parameters and tokens as numpy arrays."""

    def advance(
        self, tokens: ArrayLike | None = None, *, system: str | None = None, **parameters: ArrayLike | Sequence[object]
    ) -> NDArray[np.float64]:
        """The next state of a map, or the velocity of a flow; also at other tokens, with other parameters, of another system."""
        if tokens is not None or parameters or system is not None:
            batch = self._alone()
            other, floats = _elsewhere(self, batch.system, system, tokens, parameters, _float_array)
            state = floats.pop("tokens", batch.tokens)
            ready = {name: value for name, value in batch.parameters.items() if name in _names(other)}
            batch = replace(batch, system=other, groups=None).with_parameters({**ready, **floats}, state)
            moved = problem_of(batch).advance(batch.tokens, 0.0)[0].numpy()
        else:
            moved = self._once("advance", lambda whole: problem_of(whole).advance(whole.tokens, 0.0))
        if not np.isfinite(moved).all():
            self._undefined.append(True)  # stays, even if the predicate handles the exception
            raise UndefinedState("the state has no image: y_i = 0")
        return moved

    def attention(self, head: int = 0) -> NDArray[np.float64]:
        """The attention matrix of a head, n x n."""
        _has_softmax(self._whole.system)

        def weights_of(whole: Batch) -> Tensor:
            score = whole.system.heads(whole.parameters, 0.0)[head][1]
            weights = problem_of(whole).algebra.attention(whole.tokens, score, whole.mask, whole.system.over_root_d)
            dense = weights if isinstance(weights, Tensor) else weights.dense(whole.tokens)
            return dense.expand(whole.count, whole.n, whole.n)

        return self._once(("attention", head), weights_of)

    def _alone(self) -> Batch:
        """This instance as a batch of one."""
        alone: Batch = self._whole.take(slice(self._index, self._index + 1))
        return alone

    def _once(self, what: object, ask: Callable[[Batch], Tensor]) -> NDArray[np.float64]:
        """The part of this instance in what is computed for all instances of its batch at once."""
        key = ("predicate", what)
        if key not in self._whole._memory:
            self._whole._memory[key] = ask(self._whole)
        found: Tensor = self._whole._memory[key]
        return found[self._index].numpy().copy()

    def is_equilibrium(self) -> bool:
        """Does the state stay where it is (within rounding)?  The exact instance decides this exactly."""
        moved = self.advance()
        rest = moved - self.tokens if self._whole.system.time is Time.MAP else moved
        return bool(np.abs(rest).max() < REST)


def _has_softmax(system: System) -> None:
    if not system.standard:
        raise ValueError(f"{system.name} has a sublayer of its own: its weights are not known here, compute them")


class DecidedInstance(SimpleNamespace):
    """One exact instance for a free predicate: parameters and tokens as numpy arrays of decided numbers."""

    def advance(self, tokens: Any = None, *, system: str | None = None, **parameters: Any) -> Any:
        """The next state of a map, or the velocity of a flow; also at other tokens, with other parameters, of another system."""
        own, mask = self._case.instance.system, self._case.instance.mask
        if tokens is not None or parameters or system is not None:
            other, exact = _elsewhere(self, own, system, tokens, parameters, _decided_rows)
            state = exact.pop("tokens", self._tokens)
            ready = {name: value for name, value in self._parameters.items() if name in _names(other)}
            return decided_array(other.advance(_DECIDED, {**ready, **exact}, state, mask))
        with self._by_formulas():
            return decided_array(own.advance(_DECIDED, self._parameters, self._tokens, mask))

    def attention(self, head: int = 0) -> Any:
        """The attention matrix of a head, n x n."""
        instance = self._case.instance
        _has_softmax(instance.system)
        score = instance.system.heads(self._parameters)[head][1]
        with self._by_formulas():
            return decided_array(_DECIDED.attention(self._tokens, score, instance.mask, instance.system.over_root_d))

    def _by_formulas(self) -> AbstractContextManager[None]:
        """Nothing of an author can start where the equation is one of ours and every number in it is decided."""
        system = self._case.instance.system
        ours = type(system) is System and system.standard and _all_decided((self._tokens, self._parameters))
        return unwatched() if ours else nullcontext()

    def is_equilibrium(self) -> bool:
        """Decided exactly; raises where it is not decided."""
        verdict = classified(self._case).equilibrium
        if verdict.is_undecided:
            raise NotDecided(verdict.reason)
        return bool(verdict.is_holds)


def _names(system: System) -> set[str]:
    return {each.name for each in system.parameters}


def _elsewhere(
    instance: Any,
    own: System,
    system: str | None,
    tokens: Any,
    parameters: Mapping[str, Any],
    number: Callable[[Any], Any],
) -> tuple[System, dict[str, Any]]:
    """The system that is asked for, and what is given in the place of the instance's own: known names, with their shapes."""
    other = own if system is None else find_system(system)
    n, d = np.shape(instance.tokens)
    shapes = {each.name: _SHAPES[each.kind](d) for each in other.parameters if each.kind in _SHAPES}
    given = {**parameters, **({} if tokens is None else {"tokens": tokens})}
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name == "heads" and other.multihead:
            found["heads"] = _given_heads(other, value, d, number)
            continue
        expected = (n, d) if name == "tokens" else shapes.get(name)
        if expected is None:
            listed = ", ".join(["tokens", *shapes, *(["heads"] if other.multihead else [])])
            raise ValueError(f"advance of {other.name} takes {listed}, got {name}")
        if np.shape(value) != expected:
            raise ValueError(f"advance: {name} must have the shape {expected}, got {np.shape(value)}")
        found[name] = number(value)
    missing = [each.name for each in other.parameters if each.required and each.name not in {*vars(instance), *found}]
    if missing:
        raise ValueError(f"advance of {other.name} needs {', '.join(missing)}: give them by name")
    return other, found


_SHAPES: dict[str, Callable[[int], tuple[int, ...]]] = {
    "matrix": lambda d: (d, d),
    "vector": lambda d: (d,),
    "scalar": lambda d: (),
    "step": lambda d: (),
}


def _given_heads(system: System, heads: Any, d: int, number: Callable[[Any], Any]) -> list[dict[str, Any]]:
    """Heads of an instance, or mappings of their matrices, any number of them."""
    names = [name for name in (system.value, system.score) if name is not None]
    found = []
    for head in heads:
        parts = head if isinstance(head, Mapping) else vars(head)
        wrong = [name for name in names if name not in parts or np.shape(parts[name]) != (d, d)]
        if wrong:
            raise ValueError(
                f"advance: each head must have {', '.join(names)} of the shape {(d, d)}, look at {wrong[0]}"
            )
        found.append({name: number(parts[name]) for name in names})
    if not found:
        raise ValueError("advance: heads must name at least one head, got an empty list")
    return found


def _float_array(value: Any) -> Tensor:
    return torch.from_numpy(np.array(value, dtype=float, order="C"))[None]


def _decided_rows(value: Any) -> Any:
    """A number, vector or matrix of an author as decided numbers in tuples; what is no number is refused."""
    if isinstance(value, list | tuple | np.ndarray) and np.ndim(value):
        return tuple(_decided_rows(each) for each in value)
    number = decided(value[()] if isinstance(value, np.ndarray) else value)
    if number is NotImplemented:
        raise NotDecided(f"advance is given {type(value).__name__}, which is no number")
    return number


def _all_decided(value: Any) -> bool:
    """Are all numbers in these rows, vectors and heads decided ones, and the rows plain tuples?"""
    if type(value) is dict:
        return all(map(_all_decided, value.values()))
    return all(map(_all_decided, value)) if type(value) is tuple else value is None or type(value) is DecidedNumber


def _rational(numbers: Sequence[Any]) -> list[fmpq] | None:
    """The values, if all of them are rational."""
    found = [each.value for each in numbers if isinstance(each, DecidedNumber) and isinstance(each.value, fmpq)]
    return found if len(found) == len(numbers) else None


def _product(left: Any, matrix: Any, right: Any) -> Any:
    """``x^T M y``; where all numbers are rational, without a decided number for each step."""
    found = [_rational(each) for each in (left, right, *matrix)]
    known = [each for each in found if each is not None]
    if len(known) == len(found):
        x, y, *rows = known
        pairs = zip(x, rows, strict=True)
        return decided(sum((a * sum(map(mul, row, y), fmpq(0)) for a, row in pairs), fmpq(0)))
    total = decided(0)
    for a, row in zip(left, matrix, strict=True):
        for entry, b in zip(row, right, strict=True):
            total = total + a * entry * b
    return total


class _DecidedAlgebra(LoopAlgebra):
    """The formulas in decided numbers; equal scores give weights that are exactly equal."""

    def attention(self, x: Any, score: Any, mask: Any, over_root_d: bool) -> Any:
        """``a_ij = exp(s_ij - s_il) / sum_m exp(s_im - s_il)`` for the first l that i attends to."""
        n, d = len(x), len(x[0])
        allowed = full_mask(n) if mask is None else mask
        divisor = decided(d).sqrt() if over_root_d else decided(1)
        rows = []
        for i in range(n):
            matrices = [score(i, j) if callable(score) else score for j in range(n)]
            scores: list[Any] = [None if score is None else _product(x[i], matrices[j], x[j]) for j in range(n)]
            first = next(j for j in range(n) if allowed[i][j])
            terms = [
                decided(0) if not allowed[i][j] else decided(1) if score is None else (scores[j] - scores[first]).exp()
                for j in range(n)
            ]
            total = sum(terms[1:], terms[0]) * divisor
            rows.append(tuple(term / total for term in terms))
        return tuple(rows)


_DECIDED = _DecidedAlgebra(lambda y: decided(y).exp(), lambda y: decided(y).sqrt(), decided(1))


def one_instance(batch: Batch, index: int) -> FloatInstance:
    """One instance of a batch with numpy arrays as attributes."""

    def plain(value: Any) -> Any:
        value = value(0.0) if callable(value) else value
        if isinstance(value, list):
            return [SimpleNamespace(**{name: plain(each) for name, each in head.items()}) for head in value]
        if value is None:
            return None
        return value[index].numpy().copy() if value.ndim > 1 else float(value[index])

    parameters = {name: plain(value) for name, value in batch.parameters.items()}
    tokens = batch.tokens[index].numpy().copy()  # the predicate may change them
    sizes = {"n": batch.n, "d": batch.d, "k": batch.k, "p": batch.p, "q": batch.q}
    return FloatInstance(**parameters, **sizes, tokens=tokens, _whole=batch, _index=index, _undefined=[])


def decided_instance(case: Case) -> DecidedInstance:
    """The exact instance with arrays of decided numbers as attributes, at the present precision of balls."""

    def rows(value: Any) -> Any:
        if value is None:
            return None
        return tuple(rows(each) for each in value) if isinstance(value, tuple | list) else decided(value)

    def shown(value: Any) -> Any:
        if not isinstance(value, tuple):
            return None if value is None else decided(value)
        return decided_array([list(row) if isinstance(row, tuple) else row for row in value])

    given = case.instance.parameters
    plain = {name: value for name, value in given.items() if name != "heads"}
    found: dict[str, Any] = {name: shown(value) for name, value in plain.items()}
    parameters: dict[str, Any] = {name: rows(value) for name, value in plain.items()}
    if "heads" in given:
        found["heads"] = [
            SimpleNamespace(**{part: shown(each) for part, each in head.items()}) for head in given["heads"]
        ]
        parameters["heads"] = tuple({part: rows(each) for part, each in head.items()} for head in given["heads"])
    sizes = {"n": case.n, "d": case.d, "k": case.k, "p": case.p, "q": case.q}
    tokens = rows(case.instance.tokens)
    shown_tokens = decided_array([list(token) for token in tokens])
    return DecidedInstance(**found, **sizes, tokens=shown_tokens, _case=case, _parameters=parameters, _tokens=tokens)
