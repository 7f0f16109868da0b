"""What an author's code calls, when it is run on exact numbers: ``math``, ``numpy`` and builtins with decided numbers.

``math.sqrt(2)``, ``np.log(x.n)``, ``np.linspace(0, 1, 4)`` and ``np.zeros(3)`` give decided numbers; a function of numpy that
has no certified version is refused as soon as a decided number reaches it; so are random numbers without a seed, and clocks.
"""

from __future__ import annotations

import builtins
import math
import numbers
import random
import secrets
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import sympy as sp
from flint import arb

from eigentoken.numerics.author_code.decided_arrays import DecidedArray, apply_function, apply_ufunc, decided_array
from eigentoken.numerics.author_code.decided_numbers import NO_FLOATS, DecidedNumber, NotDecided, decided
from eigentoken.numerics.author_code.operations import binary, is_decided, lifted, literal

__all__ = ["BUILTINS", "stand_in"]

_CONSTANTS: dict[str, Callable[[], Any]] = {
    "pi": lambda: decided(sp.pi),
    "e": lambda: decided(sp.E),
    "tau": lambda: decided(2 * sp.pi),
    "euler_gamma": lambda: DecidedNumber(arb.const_euler()),
}


# --- math ------------------------------------------------------------------------------------------------------------

_MATH_UFUNCS = {
    **{name: getattr(np, name) for name in ("sqrt", "exp", "exp2", "log2", "log10", "log1p", "expm1", "fabs")},
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "degrees", "radians")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")},
}


def _hypot(*parts: Any) -> Any:
    return sum((decided(part) * decided(part) for part in parts), decided(0)).sqrt()


def _log(x: Any, base: Any = None) -> Any:
    return decided(x).log() if base is None else decided(x).log() / decided(base).log()


def _isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> bool:
    first, second = decided(a), decided(b)
    gap = abs(first - second)
    return bool(
        gap <= decided(rel_tol) * abs(first) or gap <= decided(rel_tol) * abs(second) or gap <= decided(abs_tol)
    )


def _product(values: Any, *, start: Any = 1) -> Any:
    for value in values:
        start = binary("*", start, value)
    return start


_MATH: dict[str, Callable[..., Any]] = {
    "log": _log,
    "pow": lambda a, b: decided(a) ** decided(b),
    "hypot": _hypot,
    "dist": lambda p, q: _hypot(*(decided(a) - decided(b) for a, b in zip(p, q, strict=True))),
    "fsum": lambda values: sum((decided(value) for value in values), decided(0)),
    "sumprod": lambda p, q: sum((decided(a) * decided(b) for a, b in zip(p, q, strict=True)), decided(0)),
    "prod": _product,
    "isclose": _isclose,
    "floor": lambda a: math.floor(lifted(a)),
    "ceil": lambda a: math.ceil(lifted(a)),
    "trunc": lambda a: math.trunc(lifted(a)),
}
#: Functions of integers, and questions about any float: as they are.
_OF_INTEGERS = {"comb", "factorial", "gcd", "lcm", "isqrt", "perm"}
_ALWAYS = {"isfinite": True, "isnan": False, "isinf": False}


def _math(name: str) -> Any:
    if name in _CONSTANTS:
        return _CONSTANTS[name]()
    if name in _MATH_UFUNCS:
        return lambda *given: apply_ufunc(_MATH_UFUNCS[name], "__call__", given, {})
    if name in _MATH:
        return _MATH[name]
    if name in _ALWAYS:
        return lambda given: _ALWAYS[name] if is_decided(given) else getattr(math, name)(given)
    found = getattr(math, name)
    return found if name in _OF_INTEGERS or not callable(found) else _refused(f"math.{name}", found)


def _refused(said: str, function: Any) -> Callable[..., Any]:
    """The function as it is, unless a decided number reaches it."""

    def called(*args: Any, **options: Any) -> Any:
        if _reached((*args, *options.values())):
            raise NotDecided(f"{said} has no certified version")
        return function(*args, **options)

    return called


def _reached(values: Any) -> bool:
    return any(
        is_decided(each)
        or (isinstance(each, list | tuple) and _reached(each))
        or (isinstance(each, np.ndarray) and each.dtype == object and _reached(each.reshape(-1).tolist()))
        for each in values
    )


# --- numpy -----------------------------------------------------------------------------------------------------------


def _raised(values: Any) -> Any:
    """Lists of numbers with a float or a decided number among them as decided arrays; floats as decided numbers."""
    if isinstance(values, list | tuple):
        parts = [_raised(each) for each in values]
        if any(is_decided(each) for each in parts) and all(_is_number(each) for each in parts):
            return decided_array(parts)
        rows = {each.shape for each in parts if isinstance(each, DecidedArray)}
        if len(rows) == 1 and all(isinstance(each, DecidedArray) for each in parts):
            return decided_array(np.array([np.asarray(each) for each in parts], dtype=object))
        return type(values)(parts) if type(values) in (list, tuple) else values
    if isinstance(values, np.ndarray) and values.dtype == object and not isinstance(values, DecidedArray):
        return decided_array(values) if _reached((values,)) else values
    return lifted(values)


def _is_number(value: Any) -> bool:
    return isinstance(value, DecidedNumber | int | np.integer | np.bool_)


#: Functions whose result is no integer even where all arguments are.
_FRACTIONAL = {"mean", "average", "var", "std", "median"}


def _function(function: Any, home: str) -> Callable[..., Any]:
    name = function.__name__

    def called(*args: Any, **options: Any) -> Any:
        args = tuple(_raised(each) for each in args)
        options = {key: _raised(each) for key, each in options.items()}
        if (home == "linalg" or name in _FRACTIONAL) and args and not is_decided(args[0]):
            args = (_decided_argument(args[0]), *args[1:])
        if _reached((*args, *options.values())):
            return apply_function(function, args, options)
        return function(*args, **options)

    return called


def _decided_argument(given: Any) -> Any:
    array = given if isinstance(given, np.ndarray) else np.array(given, dtype=object)
    return decided_array(array) if array.dtype.kind in "biuO" and array.size else given


class _Ufunc:
    """A ufunc of numpy; with floats or decided numbers it is certified, and so is every one whose values are no integers."""

    def __init__(self, ufunc: Any) -> None:
        self._ufunc = ufunc

    def _run(self, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        args = tuple(_raised(each) for each in args)
        if method == "__call__" and self._ufunc in _CERTAIN and self._ufunc not in _EXACT_ON_INTEGERS:
            return apply_ufunc(self._ufunc, method, args, options)
        if _reached(args):
            return apply_ufunc(self._ufunc, method, args, options)
        return getattr(self._ufunc, method)(*args, **options)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._run("__call__", args, options)

    def __getattr__(self, name: str) -> Any:
        if name in ("reduce", "accumulate", "outer", "at", "reduceat"):
            return lambda *args, **options: self._run(name, args, options)
        return getattr(self._ufunc, name)


#: Ufuncs whose values on integers are integers or truths.
_EXACT_ON_INTEGERS = {
    np.add, np.subtract, np.multiply, np.negative, np.positive, np.absolute, np.floor_divide, np.remainder, np.square,
    np.sign, np.maximum, np.minimum, np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.logical_and, np.logical_or, np.logical_not, np.logical_xor, np.isfinite, np.isnan, np.isinf, np.matmul,
    np.floor, np.ceil, np.trunc, np.rint, np.conjugate, np.bitwise_and, np.bitwise_or, np.invert, np.gcd, np.lcm,
}  # fmt: skip
_CERTAIN = {
    np.divide, np.power, np.float_power, np.reciprocal, np.sqrt, np.exp, np.exp2, np.log, np.log2, np.log10, np.log1p,
    np.expm1, np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh, np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh,
    np.arctanh, np.arctan2, np.hypot, np.radians, np.deg2rad, np.degrees, np.rad2deg, np.fabs, np.cbrt,
}  # fmt: skip
_FLOAT_TYPES = (None, float, np.float64, "float", "float64", "f8", "d")


def _is_float_type(dtype: Any) -> bool:
    return any(dtype is each for each in _FLOAT_TYPES) or (isinstance(dtype, str) and dtype in _FLOAT_TYPES)


def _created(name: str) -> Callable[..., Any]:
    """``zeros``, ``ones``, ``eye``, ... of floats are exact; of another type they are numpy's."""

    def called(*args: Any, **options: Any) -> Any:
        position = {"eye": 3, "identity": 1}.get(name, 1)
        dtype = options.get("dtype", args[position] if len(args) > position else None)
        found = getattr(np, name)(*args, **options)
        return decided_array(found) if _is_float_type(dtype) and found.dtype.kind == "f" else found

    return called


def _array(values: Any, dtype: Any = None, *options: Any, **named: Any) -> Any:
    given = _raised(values)
    if _reached((given,)):
        if dtype not in (None, object, np.object_):
            raise NotDecided(NO_FLOATS)
        copied = decided_array(given if isinstance(given, np.ndarray) else np.array(given, dtype=object))
        return given if isinstance(values, DecidedArray) and named.get("copy") is False else copied
    found = np.array(given, dtype, *options, **named)
    return decided_array(found) if found.dtype.kind == "f" and np.isfinite(found).all() else found


def _asarray(values: Any, dtype: Any = None, *options: Any, **named: Any) -> Any:
    return values if isinstance(values, DecidedArray) and dtype is None else _array(values, dtype)


def _full(shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    value = lifted(fill_value)
    if not _is_float_type(dtype) or (not is_decided(value) and dtype is None):
        return np.full(shape, fill_value, dtype, **options)
    made = np.empty(shape, dtype=object)
    made[...] = value if isinstance(value, np.ndarray) else None
    if not isinstance(value, np.ndarray):
        for index in np.ndindex(made.shape):
            made[index] = decided(value)
    return decided_array(made)


def _linspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, **options: Any) -> Any:
    if options:
        raise NotDecided("numpy.linspace with more than its ends and a number of points has no certified version")
    first, last, many = decided(start), decided(stop), int(num)
    parts = max(1, many - 1 if endpoint else many)
    return decided_array(np.array([first + (last - first) * index / parts for index in range(many)], dtype=object))


def _arange(*args: Any, **options: Any) -> Any:
    given = [lifted(each) for each in args]
    if any(is_decided(each) for each in given):
        whole = [int(each) if is_decided(each) and each.is_integer() else each for each in given]
        if any(is_decided(each) for each in whole):
            raise NotDecided("numpy.arange with steps that are no integers has no certified version: use linspace")
        return decided_array(np.arange(*whole))
    found = np.arange(*given, **options)
    return decided_array(found) if found.dtype.kind == "f" else found


_CREATING: dict[str, Callable[..., Any]] = {
    **{name: _created(name) for name in ("zeros", "ones", "eye", "identity", "empty", "tri")},
    "array": _array,
    "asarray": _asarray,
    "asanyarray": _asarray,
    "ascontiguousarray": _asarray,
    "full": _full,
    "linspace": _linspace,
    "arange": _arange,
}


def _isscalar(value: Any) -> bool:
    return isinstance(value, DecidedNumber) or bool(np.isscalar(value))


def _numpy(name: str) -> Any:
    if name in _CONSTANTS:
        return _CONSTANTS[name]()
    if name in _CREATING:
        return _CREATING[name]
    if name == "isscalar":
        return _isscalar
    if name == "linalg":
        return StandIn("numpy.linalg", lambda inner: _wrapped(getattr(np.linalg, inner), "linalg"))
    if name == "random":
        return StandIn("numpy.random", _numpy_random)
    return _wrapped(getattr(np, name), "")


def _wrapped(found: Any, home: str) -> Any:
    if isinstance(found, np.ufunc):
        return _Ufunc(found)
    if isinstance(found, float):
        return literal(found)
    if callable(found) and not isinstance(found, type) and hasattr(found, "__name__"):
        return _function(found, home)
    return found


# --- chance and time -------------------------------------------------------------------------------------------------


def _unrepeatable(said: str) -> Callable[..., Any]:
    def called(*args: Any, **options: Any) -> Any:
        raise NotDecided(f"the predicate uses {said}, so its answer cannot be repeated")

    return called


def _numpy_random(name: str) -> Any:
    def seeded(*args: Any, **options: Any) -> Any:
        if not args and not options:
            raise NotDecided("the predicate uses random numbers without a seed, so its answer cannot be repeated")
        return getattr(np.random, name)(*args, **options)

    if name in ("default_rng", "RandomState", "SeedSequence", "PCG64", "Philox"):
        return seeded
    found = getattr(np.random, name)
    return found if isinstance(found, type) else _unrepeatable("random numbers (numpy.random)")


class StandIn:
    """In the place of a module: its names, each as it is for exact numbers."""

    def __init__(self, name: str, found: Callable[[str], Any]) -> None:
        self._name, self._found = name, found

    def __getattr__(self, name: str) -> Any:
        return self._found(name)


_MODULES: dict[int, Callable[[], Any]] = {
    id(np): lambda: StandIn("numpy", _numpy),
    id(np.linalg): lambda: _numpy("linalg"),
    id(np.random): lambda: _numpy("random"),
    id(math): lambda: StandIn("math", _math),
    id(random): lambda: StandIn("random", lambda name: _unrepeatable("random numbers")),
    id(time): lambda: StandIn("time", lambda name: _unrepeatable("the clock")),
    id(secrets): lambda: StandIn("secrets", lambda name: _unrepeatable("random numbers")),
}


def stand_in(value: Any) -> Any:
    """What stands for a module, a function of math or numpy, or a float; ``None`` where the value stays."""
    if isinstance(value, ModuleType):
        made = _MODULES.get(id(value))
        return None if made is None else made()
    if isinstance(value, float | np.floating):
        return lifted(value)
    if isinstance(value, np.ufunc):
        return _Ufunc(value)
    home = getattr(value, "__module__", None) or ""
    if isinstance(value, type) or not callable(value):
        return None
    name = getattr(value, "__name__", "")
    if home == "math":
        return _math(name)
    if isinstance(home, str) and home.split(".")[0] == "numpy" and getattr(np.linalg, name, None) is value:
        return _wrapped(value, "linalg")
    if isinstance(home, str) and home.split(".")[0] == "numpy" and getattr(np, name, None) is value:
        return _numpy(name)
    if home in ("time", "random", "secrets") or _of_random(value):
        return _unrepeatable("random numbers" if home != "time" else "the clock")
    return None


def _of_random(value: Any) -> bool:
    owner = getattr(value, "__self__", None)
    hidden = (random.Random, np.random.RandomState) if isinstance(owner, ModuleType) is False else ()
    shared = (random.random.__self__, np.random.mtrand._rand)  # type: ignore[attr-defined]
    return bool(hidden) and any(owner is each for each in shared)


# --- builtins --------------------------------------------------------------------------------------------------------


def _isinstance(value: Any, classes: Any) -> bool:
    """A decided number is a float."""
    if isinstance(value, DecidedNumber):
        listed = classes if isinstance(classes, tuple) else (classes,)
        if any(
            each in (float, np.floating, np.float64, np.generic, np.number, numbers.Real, numbers.Number)
            for each in listed
        ):
            return True
    return builtins.isinstance(value, classes)


def _silent(*values: Any, **options: Any) -> None:
    """Nothing is printed while exact numbers are looked at."""


def _pow(base: Any, exponent: Any, modulus: Any = None) -> Any:
    return binary("**", base, exponent) if modulus is None else pow(base, exponent, modulus)


def _divmod(a: Any, b: Any) -> Any:
    return binary("//", a, b), binary("%", a, b)


#: The builtins that an author's code sees.
BUILTINS: dict[str, Any] = {
    **vars(builtins),
    "isinstance": _isinstance,
    "print": _silent,
    "pow": _pow,
    "divmod": _divmod,
    "id": _refused("id()", id),
}
