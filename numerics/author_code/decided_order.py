"""Order and averages of decided arrays: extremes, sorting, means and spreads, closeness; ties of enclosures stay enclosed.

The i-th smallest of enclosed numbers lies between the i-th smallest lower end and the i-th smallest upper end, so a sorted
array needs no comparison of its entries; the place of an entry (``argmax``, ``argsort``) needs them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from typing import Any

import numpy as np
from flint import acb, arb, fmpq

from eigentoken.numerics.author_code.decided_arrays import DecidedArray, decided_array, each, enter, larger, smaller
from eigentoken.numerics.author_code.decided_numbers import DecidedNumber, NotDecided, decided, enclosure

__all__ = ["ascending", "root"]


def ascending(values: Sequence[Any]) -> list[DecidedNumber]:
    """Real numbers in order: exact ones by their size, others by the ends of their enclosures."""
    numbers = [decided(value) for value in values]
    if any(isinstance(number.value, acb) for number in numbers):
        raise NotDecided("complex numbers are put in order")
    if all(isinstance(number.value, fmpq) for number in numbers):
        return sorted(numbers, key=lambda number: number.value)
    lows, highs = (_ends([enclosure(number) for number in numbers], end) for end in ("lower", "upper"))
    return [DecidedNumber(low.union(high)) for low, high in zip(lows, highs, strict=True)]


def _ends(balls: Sequence[arb], end: str) -> list[arb]:
    """The exact ends of the balls in ascending order: comparisons of exact numbers are decided."""
    ends = [getattr(ball, end)() for ball in balls]
    if any(not each.is_finite() for each in ends):
        raise NotDecided("a number has no finite enclosure")
    return sorted(ends, key=cmp_to_key(_sign))


def _sign(a: Any, b: Any) -> int:
    return -1 if a < b else 1 if a > b else 0


def root(square: DecidedNumber) -> DecidedNumber:
    """The square root of a number that is known not to be negative, also where its enclosure reaches below zero."""
    ball = enclosure(square)
    if isinstance(square.value, fmpq) or ball.lower() >= 0:
        return square.sqrt()
    return DecidedNumber(arb(0).union(ball.upper().sqrt()))


def _along(array: Any, axis: Any, keepdims: bool, function: Callable[[Any], Any]) -> Any:
    """The function of each line along an axis (of all entries where there is none)."""
    given = np.asarray(decided_array(array))
    if axis is None:
        found = function(list(given.reshape(-1)))
        return decided_array(np.array(found, dtype=object).reshape((1,) * given.ndim)) if keepdims else found
    if isinstance(axis, tuple):
        axes = [int(number) % given.ndim for number in axis]
        kept = [number for number in range(given.ndim) if number not in axes]
        joined = np.transpose(given, [*kept, *axes]).reshape([given.shape[number] for number in kept] + [-1])
        found = _along(joined, -1, False, function)
        shape = [1 if number in axes else size for number, size in enumerate(given.shape)]
        return np.reshape(decided_array(found), shape) if keepdims else found
    moved = np.moveaxis(given, axis, -1)
    made = np.empty(moved.shape[:-1], dtype=object)
    for index in np.ndindex(made.shape):
        made[index] = function(list(moved[index]))
    if made.ndim == 0 and not keepdims:
        return made.item()
    return decided_array(np.expand_dims(made, axis) if keepdims else made)


def _only(name: str, options: dict[str, Any]) -> None:
    if any(value is not None for value in options.values()):
        raise NotDecided(f"numpy.{name} with {sorted(options)} has no certified version")


def _best(choose: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    def found(line: list[Any]) -> Any:
        if not line:
            raise NotDecided("an array without entries has no largest and no smallest one")
        best = line[0]
        for other in line[1:]:
            best = choose(best, other)
        return best

    return found


@enter(np.max, np.amax)
def _max(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Any:
    _only("max", options)
    return _along(a, axis, keepdims, _best(larger))


@enter(np.min, np.amin)
def _min(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Any:
    _only("min", options)
    return _along(a, axis, keepdims, _best(smaller))


@enter(np.ptp)
def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    return _max(a, axis, None, keepdims) - _min(a, axis, None, keepdims)


def _average(line: list[Any]) -> DecidedNumber:
    if not line:
        raise NotDecided("the mean of an array without entries")
    total = line[0]
    for number in line[1:]:
        total = total + number
    found: DecidedNumber = total / len(line)
    return found


@enter(np.mean)
def _mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Any:
    _only("mean", {"dtype": dtype, **options})
    return _along(a, axis, keepdims, _average)


def _spread(ddof: Any) -> Callable[[Any], Any]:
    def found(line: list[Any]) -> Any:
        middle = _average(line)
        total = decided(0)
        for number in line:
            total = total + abs(number - middle) * abs(number - middle)
        return total / (len(line) - ddof)

    return found


@enter(np.var)
def _var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False, **options: Any
) -> Any:
    _only("var", {"dtype": dtype, **options})
    return _along(a, axis, keepdims, _spread(ddof))


@enter(np.std)
def _std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False, **options: Any
) -> Any:
    _only("std", {"dtype": dtype, **options})
    spread = _spread(ddof)
    return _along(a, axis, keepdims, lambda line: root(spread(line)))


@enter(np.average)
def _weighted(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    if returned:
        raise NotDecided("numpy.average with the sum of the weights has no certified version")
    if weights is None:
        return _along(a, axis, keepdims, _average)
    values, factors = decided_array(a), decided_array(weights)
    if values.shape != factors.shape:
        raise NotDecided("numpy.average takes weights of the shape of the array here")
    return (values * factors).sum(axis=axis, keepdims=keepdims) / factors.sum(axis=axis, keepdims=keepdims)


@enter(np.sort)
def _sort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    given: Any = decided_array(a)
    if axis is None:
        given, axis = given.reshape(-1), -1
    moved = np.moveaxis(np.asarray(given), axis, -1).copy()
    for index in np.ndindex(moved.shape[:-1]):
        moved[index] = ascending(list(moved[index]))
    return decided_array(np.moveaxis(moved, -1, axis))


@enter(np.median)
def _median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    def middle(line: list[Any]) -> Any:
        ordered = ascending(line)
        return (ordered[(len(line) - 1) // 2] + ordered[len(line) // 2]) / 2

    return _along(a, axis, keepdims, middle)


def _places(array: Any, axis: int | None, function: Callable[[list[Any]], Any]) -> Any:
    given = np.asarray(decided_array(array))
    if axis is None:
        return function(list(given.reshape(-1)))
    moved = np.moveaxis(given, axis, -1)
    found = np.array([function(list(moved[index])) for index in np.ndindex(moved.shape[:-1])], dtype=int)
    return found.reshape(moved.shape[:-1] + found.shape[1:])


def _first(better: Callable[[Any, Any], bool]) -> Callable[[list[Any]], int]:
    def found(line: list[Any]) -> int:
        place = 0
        for number in range(1, len(line)):
            if better(line[number], line[place]):
                place = number
        return place

    return found


@enter(np.argmax)
def _argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    found = _places(a, axis, _first(lambda new, old: bool(new > old)))
    return np.expand_dims(found, axis) if keepdims and axis is not None else found


@enter(np.argmin)
def _argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    found = _places(a, axis, _first(lambda new, old: bool(new < old)))
    return np.expand_dims(found, axis) if keepdims and axis is not None else found


@enter(np.argsort)
def _argsort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """All comparisons decided; equal entries are refused, since numpy's order of them depends on the method."""

    def ordered(line: list[Any]) -> list[int]:
        def compared(i: int, j: int) -> int:
            if line[i] == line[j]:
                raise NotDecided("the order of equal entries")
            return -1 if line[i] < line[j] else 1

        return sorted(range(len(line)), key=cmp_to_key(compared))

    given = np.asarray(decided_array(a))
    if axis is None:
        return np.array(ordered(list(given.reshape(-1))))
    return np.moveaxis(_places(given, axis, ordered), -1, axis)


@enter(np.clip)
def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    found = decided_array(a)
    low, high = (one if one is not None else other for one, other in ((a_min, min), (a_max, max)))
    found = found if low is None else np.maximum(found, low)
    return found if high is None else np.minimum(found, high)


@enter(np.round, np.around)
def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    return each(decided_array(a), lambda number: decided(round(number, int(decimals))))


@enter(np.real)
def _real(val: Any) -> Any:
    return val.real


@enter(np.imag)
def _imag(val: Any) -> Any:
    return val.imag


@enter(np.isclose)
def _isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    first, second = decided_array(a), decided_array(b)
    return np.abs(first - second) <= decided(atol) + decided(rtol) * np.abs(second)


@enter(np.allclose)
def _allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    return bool(np.all(_isclose(a, b, rtol, atol)))


@enter(np.array_equal)
def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    first, second = decided_array(a1), decided_array(a2)
    return first.shape == second.shape and bool(np.all(first == second))


@enter(np.all)
def _all(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    return np.all(decided_array(a).astype(bool), axis=axis, keepdims=keepdims)


@enter(np.any)
def _any(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    return np.any(decided_array(a).astype(bool), axis=axis, keepdims=keepdims)


@enter(np.nan_to_num)
def _without_nan(x: Any, *options: Any, **named: Any) -> DecidedArray:
    """Every decided number is finite."""
    return decided_array(x)
