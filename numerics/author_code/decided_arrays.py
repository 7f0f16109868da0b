"""Arrays of :class:`DecidedNumber` with one meaning: elementwise, as numpy's, with every function certified or refused.

A ufunc of numpy is read from a table of functions of decided numbers, a function of numpy from a table of certified versions
(:func:`enter`) or from a list of those that only move entries or add and multiply them.  Everything else raises
:class:`NotDecided`: no function of numpy is run on these arrays because it happens not to fail.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import acb, arb

from eigentoken.numerics.author_code.decided_numbers import (
    NO_FLOATS,
    DecidedNumber,
    NotDecided,
    decided,
    enclosure,
    refuse,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DecidedArray", "apply_function", "apply_ufunc", "decided_array", "each", "enter", "larger", "smaller"]


class DecidedArray(np.ndarray):
    """A numpy array of decided numbers.

    >>> a = decided_array([[2, 1], [1, 2]])
    >>> bool((a @ a > 3).all()), bool((a**2 == [[4, 1], [1, 4]]).all()), a.sum() / 7 < 1
    (True, True, True)
    """

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return apply_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return apply_function(function, args, kwargs)

    def astype(self, dtype: Any, *options: Any, **named: Any) -> Any:
        if dtype in (bool, np.bool_):
            return _truths(self)
        if dtype not in (object, np.object_):
            raise NotDecided(NO_FLOATS)
        return self.copy()

    def _text(self, *options: Any) -> str:
        refuse("the predicate turns exact numbers into texts")
        return "DecidedArray(...)"

    __repr__ = __str__ = __format__ = _text

    @property  # type: ignore[misc]
    def real(self) -> NDArray[np.generic]:
        return each(self, lambda number: number.real)

    @property  # type: ignore[misc]
    def imag(self) -> NDArray[np.generic]:
        return each(self, lambda number: number.imag)


def _method(function: Any) -> Callable[..., Any]:
    def called(self: Any, *args: Any, **options: Any) -> Any:
        return apply_function(function, (self, *args), options)

    return called


for _name in ("max", "min", "mean", "var", "std", "argmax", "argmin", "argsort", "clip", "round", "all", "any"):
    setattr(DecidedArray, _name, _method(getattr(np, _name)))


def _sort_in_place(self: Any, axis: int = -1, *options: Any, **named: Any) -> None:
    self[...] = apply_function(np.sort, (self, axis, *options), named)


def _refused_method(name: str) -> Callable[..., Any]:
    def called(self: Any, *args: Any, **options: Any) -> Any:
        raise NotDecided(f"the method {name} of an array has no certified version")

    return called


setattr(DecidedArray, "sort", _sort_in_place)  # noqa: B010 - as the methods above
for _name in ("searchsorted", "partition", "argpartition", "tobytes", "tofile", "dump", "dumps", "choose", "byteswap"):
    setattr(DecidedArray, _name, _refused_method(_name))


def decided_array(values: object) -> DecidedArray:
    """The array with every entry as a decided number."""
    plain = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    made = np.empty(plain.shape, dtype=object)
    flat = made.reshape(-1)
    for place, value in enumerate(plain.flat):
        number = value if type(value) is DecidedNumber else decided(value)
        if number is NotImplemented:
            raise NotDecided(f"an entry of type {type(value).__name__} is no number")
        flat[place] = number
    return made.view(DecidedArray)


def each(array: Any, function: Callable[[Any], Any]) -> DecidedArray:
    """The function of every entry."""
    made = np.empty(array.shape, dtype=object)
    flat = made.reshape(-1)
    for place, value in enumerate(array.flat):
        flat[place] = function(value)
    return made.view(DecidedArray)


def larger(a: DecidedNumber, b: DecidedNumber) -> DecidedNumber:
    """The larger one; of two enclosures that overlap, an enclosure of it."""
    if isinstance(a.value, acb) or isinstance(b.value, acb):
        raise NotDecided("complex numbers are compared by size")
    gap = (a - b).value
    if gap > 0 or gap < 0:
        return a if gap > 0 else b
    if gap == 0:
        return a
    return DecidedNumber(enclosure(a).max(enclosure(b)))


def smaller(a: DecidedNumber, b: DecidedNumber) -> DecidedNumber:
    """The smaller one, or an enclosure of it."""
    return -larger(-a, -b)


# --- ufuncs ----------------------------------------------------------------------------------------------------------


def _named(name: str) -> Callable[[Any], Any]:
    return lambda number: number.of(name)


def _logarithm(base: int) -> Callable[[Any], Any]:
    return lambda number: number.log() / decided(base).log()


def _sign(number: DecidedNumber) -> DecidedNumber:
    return decided(1 if number > 0 else -1 if number < 0 else 0)


def _arctan2(y: DecidedNumber, x: DecidedNumber) -> DecidedNumber:
    found = arb.atan2(enclosure(y), enclosure(x))
    if not found.is_finite():
        raise NotDecided("the angle has no finite enclosure")
    return DecidedNumber(found)


#: Half a turn in degrees, for angles.
_TURN = 180

_UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.divide: operator.truediv,
    np.power: operator.pow, np.float_power: operator.pow, np.floor_divide: operator.floordiv, np.remainder: operator.mod,
    np.negative: operator.neg, np.positive: operator.pos, np.absolute: abs, np.fabs: abs,
    np.square: lambda a: a * a, np.reciprocal: lambda a: 1 / a, np.conjugate: lambda a: a.conjugate(),
    np.sqrt: lambda a: a.sqrt(), np.exp: lambda a: a.exp(), np.log: lambda a: a.log(), np.exp2: lambda a: 2**a,
    np.log2: _logarithm(2), np.log10: _logarithm(10), np.log1p: lambda a: (a + 1).log(), np.expm1: lambda a: a.exp() - 1,
    np.sin: _named("sin"), np.cos: _named("cos"), np.tan: _named("tan"), np.sinh: _named("sinh"),
    np.cosh: _named("cosh"), np.tanh: _named("tanh"), np.arcsin: _named("asin"), np.arccos: _named("acos"),
    np.arctan: _named("atan"), np.arcsinh: _named("asinh"), np.arccosh: _named("acosh"), np.arctanh: _named("atanh"),
    np.arctan2: _arctan2, np.hypot: lambda a, b: (a * a + b * b).sqrt(),
    np.radians: lambda a: a * DecidedNumber(arb.pi()) / _TURN, np.deg2rad: lambda a: a * DecidedNumber(arb.pi()) / _TURN,
    np.degrees: lambda a: a * _TURN / DecidedNumber(arb.pi()), np.rad2deg: lambda a: a * _TURN / DecidedNumber(arb.pi()),
    np.floor: lambda a: a.floor(), np.ceil: lambda a: a.ceil(), np.trunc: lambda a: a.trunc(), np.rint: lambda a: a.rint(),
    np.sign: _sign, np.maximum: larger, np.minimum: smaller, np.fmax: larger, np.fmin: smaller,
}  # fmt: skip
_TRUTHS: dict[Any, Callable[..., Any]] = {
    np.equal: operator.eq, np.not_equal: operator.ne, np.less: operator.lt, np.less_equal: operator.le,
    np.greater: operator.gt, np.greater_equal: operator.ge,
    np.isfinite: lambda a: True, np.isnan: lambda a: False, np.isinf: lambda a: False, np.signbit: lambda a: a < 0,
    np.logical_and: lambda a, b: bool(a) and bool(b), np.logical_or: lambda a, b: bool(a) or bool(b),
    np.logical_not: lambda a: not a, np.logical_xor: lambda a, b: bool(a) != bool(b),
}  # fmt: skip


def apply_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A ufunc of numpy on decided numbers, or a reduction with one."""
    out = options.pop("out", None)
    options = {name: value for name, value in options.items() if value is not np._NoValue}
    options = {name: value for name, value in options.items() if value is not None or name == "axis"}
    if options.pop("where", True) is not True or options.pop("dtype", object) not in (object, np.object_):
        raise NotDecided(f"numpy.{ufunc.__name__} with a choice of entries or of a type has no certified version")
    if method in ("__call__", "outer") and not options:
        found = _called(ufunc, inputs, method == "outer")
    elif method in ("reduce", "accumulate"):
        found = _folded(ufunc, method, inputs, options)
    else:
        raise NotDecided(f"numpy.{ufunc.__name__}.{method} with {sorted(options)} has no certified version")
    if out is None or out[0] is None:
        return found
    target = out[0]
    if not isinstance(target, DecidedArray):
        raise NotDecided("the predicate writes exact numbers into an array of floats")
    target[...] = found
    return target


def _called(ufunc: Any, inputs: tuple[Any, ...], outer: bool) -> Any:
    if outer and len(inputs) == 2:
        first, second = (_entries(given) for given in inputs)
        inputs = (first.reshape(first.shape + (1,) * second.ndim), second)
    if ufunc is np.matmul or ufunc.__name__ in ("vecdot", "matvec", "vecmat"):
        return _settled(ufunc(*(_entries(given) for given in inputs)))
    if ufunc in _TRUTHS:
        answers = np.frompyfunc(_TRUTHS[ufunc], ufunc.nin, 1)(*(_compared_entries(given) for given in inputs))
        return answers.astype(bool) if isinstance(answers, np.ndarray) and answers.ndim else bool(answers)
    if ufunc not in _UFUNCS:
        raise NotDecided(f"numpy.{ufunc.__name__} has no certified version")
    return _settled(np.frompyfunc(_UFUNCS[ufunc], ufunc.nin, 1)(*(_entries(given) for given in inputs)))


def _folded(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    array = _entries(inputs[0])
    axis, keepdims = options.pop("axis", inputs[1] if len(inputs) > 1 else 0), options.pop("keepdims", False)
    initial = options.pop("initial", None)
    if options or len(inputs) > 2:
        raise NotDecided(f"numpy.{ufunc.__name__}.{method} with {sorted(options)} has no certified version")
    if method == "accumulate" and ufunc in (np.add, np.multiply, np.maximum, np.minimum):
        return _settled(np.frompyfunc(_UFUNCS[ufunc], 2, 1).accumulate(array, axis=axis, dtype=object))
    if method == "reduce" and ufunc in (np.logical_and, np.logical_or):
        return getattr(ufunc, method)(np.asarray(_truths(array)), axis=axis, keepdims=keepdims)
    starts = {np.add: 0, np.multiply: 1}
    if ufunc in starts:
        start = decided(starts[ufunc] if initial is None else initial)
        return _settled(ufunc.reduce(array, axis=axis, keepdims=keepdims, initial=start, dtype=object))
    if ufunc in (np.maximum, np.minimum) and array.size and initial is None:
        return _settled(_extreme(array, axis, keepdims, _UFUNCS[ufunc]))
    raise NotDecided(f"numpy.{ufunc.__name__}.{method} has no certified version for this array")


def _extreme(array: Any, axis: Any, keepdims: bool, choose: Any) -> Any:
    axes = tuple(range(array.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    fold = np.frompyfunc(choose, 2, 1)
    for number in sorted((each % array.ndim for each in axes), reverse=True):
        array = np.asarray(fold.reduce(array, axis=number, keepdims=True, dtype=object))
    return array if keepdims else array.squeeze(tuple(each % array.ndim for each in axes))


def _entries(given: Any) -> Any:
    """The operand as a plain array of decided numbers (without axes for one number)."""
    if isinstance(given, np.ndarray | list | tuple):
        return np.asarray(decided_array(given))
    number = decided(given)
    if number is NotImplemented:
        raise NotDecided(f"an operand of type {type(given).__name__} is no number")
    return _alone(number)


def _alone(number: Any) -> Any:
    made = np.empty((), dtype=object)
    made[()] = number
    return made


def _compared_entries(given: Any) -> Any:
    """As :func:`_entries`, with infinities as they are: every decided number is finite."""
    if isinstance(given, float) and np.isinf(given):
        return _alone(float(given))
    if isinstance(given, np.ndarray) and given.dtype.kind in "fO":
        made = np.empty(given.shape, dtype=object)
        for index in np.ndindex(given.shape):
            entry: Any = given[index]
            infinite = isinstance(entry, float) and np.isinf(entry)
            made[index] = float(entry) if infinite else _entries(entry).item()
        return made
    return _entries(given)


def _truths(array: Any) -> Any:
    made = np.empty(np.shape(array), dtype=bool)
    for index in np.ndindex(made.shape):
        made[index] = bool(np.asarray(array)[index])
    return made


def _settled(found: Any) -> Any:
    """Arrays of objects as arrays of decided numbers, and arrays without axes as numbers."""
    if isinstance(found, tuple | list):
        return type(found)(_settled(part) for part in found)
    if isinstance(found, np.ndarray) and found.dtype == object:
        return decided_array(np.asarray(found)) if found.ndim else _settled(found.item())
    return found


# --- functions -------------------------------------------------------------------------------------------------------

#: Certified versions of functions of numpy.
_CERTIFIED: dict[Any, Callable[..., Any]] = {}

#: Functions of numpy that only move entries, or add, subtract and multiply them: numpy's loops over objects are right.
_MOVING = (
    "reshape ravel transpose matrix_transpose permute_dims swapaxes moveaxis rollaxis concatenate concat stack vstack hstack"
    " dstack column_stack block split array_split hsplit vsplit dsplit tile repeat roll flip fliplr flipud rot90 squeeze"
    " expand_dims broadcast_to broadcast_arrays atleast_1d atleast_2d atleast_3d diag diagonal diagflat tril triu take"
    " take_along_axis compress extract delete insert append where copy meshgrid ix_ shape ndim size resize select nonzero"
    " count_nonzero flatnonzero argwhere trace sum prod cumsum cumprod diff ediff1d dot vdot inner outer einsum tensordot kron"
    " cross linalg.cross linalg.outer linalg.tensordot linalg.matmul linalg.vecdot linalg.diagonal linalg.trace"
    " linalg.matrix_transpose convolve correlate fill_diagonal put_along_axis copyto place put apply_along_axis"
    " triu_indices_from tril_indices_from diag_indices_from result_type isscalar einsum_path linalg.matrix_power"
    " linalg.multi_dot zeros_like ones_like full_like"
)


def _moving() -> set[Any]:
    found = set()
    for name in _MOVING.split():
        home, _, last = name.rpartition(".")
        function = getattr(np.linalg if home else np, last, None)
        if function is not None:
            found.add(function)
    return found


_MOVING_FUNCTIONS = _moving()


def enter(*functions: Any) -> Callable[[Any], Any]:
    """Enter a certified version of functions of numpy."""

    def entered(version: Any) -> Any:
        for function in functions:
            _CERTIFIED[function] = version
        return version

    return entered


def apply_function(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A function of numpy on decided arrays: certified, or refused."""
    from eigentoken.numerics.author_code import (
        decided_linalg,  # noqa: F401 - they enter their versions
        decided_order,  # noqa: F401 - they enter their versions
    )

    if options.get("out") is not None:
        raise NotDecided(f"numpy.{function.__name__} with an array for its result has no certified version")
    options = {name: value for name, value in options.items() if value is not np._NoValue}
    if function in _CERTIFIED:
        return _CERTIFIED[function](*args, **options)
    if function not in _MOVING_FUNCTIONS:
        home = getattr(function, "__module__", "numpy") or "numpy"
        raise NotDecided(f"{home}.{function.__name__} has no certified version")
    if options.pop("dtype", None) not in (None, object):
        raise NotDecided(NO_FLOATS)
    return _settled(
        function(*(_plain(given) for given in args), **{key: _plain(each) for key, each in options.items()})
    )


def _plain(given: Any) -> Any:
    """Decided arrays as plain arrays of decided numbers, which numpy's own loops take."""
    if isinstance(given, DecidedArray):
        return given.view(np.ndarray)
    if isinstance(given, DecidedNumber):
        return _alone(given)
    if isinstance(given, tuple | list) and any(isinstance(part, DecidedArray | tuple | list) for part in given):
        return type(given)(_plain(part) if isinstance(part, DecidedArray | tuple | list) else part for part in given)
    return given
