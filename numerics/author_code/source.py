"""An author's predicate with exact operations: the same lines, compiled so that nothing in them is rounded.

The file of the predicate is read again, its operators, comparisons and literals are replaced by those of
:mod:`eigentoken.numerics.author_code.operations`, and the function is made anew with the code that results; the modules that it
calls are replaced by those of :mod:`eigentoken.numerics.author_code.modules`; functions of the author's own files that it uses
are treated in the same way, and so are classes and objects of the author's own.  Where the source cannot be read nothing is
certified, and nothing is where something of the author's runs as it stands (:mod:`eigentoken.numerics.author_code.watch`).
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from enum import Enum
from functools import cached_property
from types import CellType, CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from eigentoken.numerics.author_code.decided_numbers import refuse
from eigentoken.numerics.author_code.lines import (
    HELPERS,
    NoSource,
    compared_constants,
    exact_code,
    source_text,
    used_names,
)
from eigentoken.numerics.author_code.modules import BUILTINS, StandIn, stand_in
from eigentoken.numerics.author_code.operations import lifted
from eigentoken.numerics.author_code.watch import Watch, is_author

__all__ = ["NoSource", "exact_version"]

# --- the functions ---------------------------------------------------------------------------------------------------


def exact_version(predicate: Callable[..., Any]) -> Callable[..., Any]:
    """The predicate with exact operations, made anew for each run; raises :class:`NoSource`."""
    maker = _Maker()
    made = maker.made(predicate)
    if not callable(made):
        raise NoSource("the predicate is no function")
    if made is predicate and not isinstance(predicate, type):
        raise NoSource("the predicate is no function of a file: write it as one")

    def watched(*args: Any, **options: Any) -> Any:
        with maker.watch.running():
            return made(*args, **options)

    return watched


class _Maker:
    """Makes functions anew, each once."""

    def __init__(self) -> None:
        self._made: dict[int, Any] = {}
        self._kept: list[Any] = []
        self._names: dict[int, dict[str, Any]] = {}
        self._constants: set[tuple[int, str]] = set()
        self.watch = Watch()

    def made(self, value: Any) -> Any:
        """What stands for a value in the author's code."""
        if id(value) in self._made:
            return self._made[id(value)]
        found = stand_in(value)
        if found is None:
            found = self._of_author(value)
        self._made[id(value)] = found
        self._kept.append(value)  # so that no other value gets its id
        return found

    def _of_author(self, value: Any) -> Any:
        if isinstance(value, FunctionType):
            return self._function(value) if is_author(value.__globals__, value.__code__.co_filename) else value
        if isinstance(value, MethodType):
            return MethodType(self.made(value.__func__), self.made(value.__self__))
        if isinstance(value, functools.partial):
            named = {key: self.made(each) for key, each in value.keywords.items()}
            return functools.partial(self.made(value.func), *(self.made(each) for each in value.args), **named)
        if isinstance(value, ModuleType):
            file = getattr(value, "__file__", None)
            names = vars(value)
            own = file is not None and is_author(names, file)
            return StandIn(value.__name__, lambda name: self.made(getattr(value, name))) if own else value
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, np.ndarray):
            return lifted(value)
        if isinstance(value, functools._lru_cache_wrapper):
            return self.made(value.__wrapped__)
        if type(value) in (list, tuple, dict, OrderedDict, SimpleNamespace):
            return self._container(value)
        return self._object(value)

    def _container(self, value: Any) -> Any:
        """A copy with the values made anew, which must not have changed after the run."""
        found: Any
        if isinstance(value, tuple):
            return tuple(self.made(each) for each in value)
        if isinstance(value, list):
            found = [self.made(each) for each in value]
            self.watch.keep(lambda: list(found))
        elif isinstance(value, dict):
            found = type(value)((key, self.made(each)) for key, each in value.items())
            self.watch.keep(lambda: [*found.keys(), *found.values()])
        else:
            found = SimpleNamespace(**{key: self.made(each) for key, each in vars(value).items()})
            self.watch.keep(lambda: [*vars(found).keys(), *vars(found).values()])
        return found

    def _object(self, value: Any) -> Any:
        """An object of an author's class, with its methods and attributes made anew; any other object as it is."""
        made: Any = self.made(type(value))
        if made is type(value):
            return value
        try:
            found = object.__new__(made)
        except TypeError:  # of a tuple, a number, an exception: the watch sees what it runs
            return value
        self._made[id(value)] = found
        parts = [(name, part) for each in type(value).__mro__ for name, part in vars(each).items()]
        cached = {
            name for name, part in parts if isinstance(part, cached_property)
        }  # what they found was found in floats
        slots = (each for name, part in parts if name == "__slots__" for each in _listed(part))
        held = {name: getattr(value, name) for name in slots if name not in _NO_VALUES and hasattr(value, name)}
        for name, each in {**held, **getattr(value, "__dict__", {})}.items():
            if name not in cached:
                object.__setattr__(found, name, self.made(each))

        def attributes() -> list[Any]:
            own = {name: each for name, each in getattr(found, "__dict__", {}).items() if name not in cached}
            return [*own.keys(), *own.values(), *(getattr(found, name, None) for name in held)]

        self.watch.keep(attributes)
        return found

    def _class(self, value: type) -> Any:
        """A class of the author with the methods of the author's classes made anew."""
        own: dict[str, Any] = {}
        for each in reversed(value.__mro__):
            own.update((name, found) for name, part in vars(each).items() if (found := self._part(part)) is not None)
        if not own or issubclass(value, Enum):
            return value
        kind: Any = type(value)
        try:
            return kind(value.__name__, (value,), own)
        except (TypeError, AttributeError, ValueError):
            return value

    def _part(self, part: Any) -> Any:
        """A method, a property or the like of an author's class, made anew; ``None`` for anything else."""
        if isinstance(part, staticmethod | classmethod):
            inner = self._part(part.__func__)
            return None if inner is None else type(part)(inner)
        if isinstance(part, property):
            parts = [self._part(each) for each in (part.fget, part.fset, part.fdel)]
            return None if not any(parts) else property(*parts)
        if isinstance(part, cached_property):
            return None if self._part(part.func) is None else cached_property(self._part(part.func))
        if not isinstance(part, FunctionType) or part.__code__.co_filename.startswith("<"):
            return None
        return self.made(part) if is_author(part.__globals__, part.__code__.co_filename) else None

    def _function(self, value: FunctionType) -> FunctionType:
        text = source_text(value.__code__, value.__globals__)
        code = exact_code(value.__code__, text)
        self.watch.allow(code)
        names = self._names.get(id(value.__globals__))
        if names is None:
            names = self._names[id(value.__globals__)] = {**value.__globals__, **HELPERS, "__builtins__": BUILTINS}
        cells = tuple(CellType() for _ in value.__closure__ or ())
        made = FunctionType(code, names, value.__name__, None, cells or None)
        self._made[id(value)] = made
        self._kept.append(value)
        for name, cell, own in zip(code.co_freevars, cells, value.__closure__ or (), strict=True):
            try:  # super() asks for the class as it was written
                cell.cell_contents = own.cell_contents if name == "__class__" else self.made(own.cell_contents)
            except ValueError:  # a cell without contents
                continue
        made.__defaults__ = (
            None if value.__defaults__ is None else tuple(self.made(each) for each in value.__defaults__)
        )
        if value.__kwdefaults__ is not None:
            made.__kwdefaults__ = {key: self.made(each) for key, each in value.__kwdefaults__.items()}
        constants = compared_constants(code.co_filename, text)
        self._fill(names, code, value.__globals__, constants)
        return made

    def _fill(
        self, names: dict[str, Any], code: CodeType, given: dict[str, Any], constants: dict[str, CodeType | None]
    ) -> None:
        """The global names that the code uses; what the file found by comparing is found again, by proved comparisons."""
        for name in used_names(code) - {"__builtins__", "__name__"}:
            if name not in given:
                continue
            value = given[name]
            if name not in constants or callable(value) or isinstance(value, ModuleType):
                names[name] = self.made(value)
            elif (id(given), name) not in self._constants:
                self._constants.add((id(given), name))
                names[name] = self._constant(name, names, given, constants)

    def _constant(
        self, name: str, names: dict[str, Any], given: dict[str, Any], constants: dict[str, CodeType | None]
    ) -> Any:
        again = constants[name]
        if again is not None:
            self.watch.allow(again)
            self._fill(names, again, given, constants)
            try:
                with self.watch.running():
                    return eval(again, names)
            except Exception as problem:
                refuse(
                    f"the constant {name} was found by comparing floats, and not again on exact numbers: {problem}"[
                        :300
                    ]
                )
        else:
            refuse(f"the constant {name} was found by comparing floats: assign it once, or find it in the predicate")
        return self.made(given[name])


#: Slots that hold no value of the author.
_NO_VALUES = ("__dict__", "__weakref__")


def _listed(names: Any) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
