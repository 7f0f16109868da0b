"""An author's predicate with exact operations: the same lines, compiled so that nothing in them is rounded.

The file of the predicate is read again, its operators, comparisons and literals are replaced by those of
:mod:`eigentoken.numerics.lab.author_operations`, and the function is made anew with the code that results; the modules that it
calls are replaced by those of :mod:`eigentoken.numerics.lab.author_modules`; functions of the author's own files that it uses
are treated in the same way, and so are classes and objects of the author's own.  Where the source cannot be read nothing is
certified, and nothing is where something of the author's runs as it stands (:mod:`eigentoken.numerics.lab.author_watch`).
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections import OrderedDict
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cached_property
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from eigentoken.numerics.lab.author_modules import BUILTINS, StandIn, stand_in
from eigentoken.numerics.lab.author_operations import (
    binary,
    caught,
    chained,
    in_place,
    lifted,
    literal,
    state_changed,
)
from eigentoken.numerics.lab.author_watch import Watch, is_author

__all__ = ["NoSource", "exact_version"]

_HELPERS: dict[str, Any] = {
    "__eigentoken_binary__": binary,
    "__eigentoken_in_place__": in_place,
    "__eigentoken_compared__": chained,
    "__eigentoken_literal__": literal,
    "__eigentoken_caught__": caught,
    "__eigentoken_state__": state_changed,
}
_SIGNS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


class NoSource(Exception):
    """The source of a predicate cannot be read, or is not what was run."""


# --- the lines -------------------------------------------------------------------------------------------------------


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(f"__eigentoken_{name}__", ast.Load()), list(args), [])


class _Exact(ast.NodeTransformer):
    """Operators, comparisons, literals and handlers of exceptions, replaced; the order of evaluation stays."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return _call("literal", node) if isinstance(node.value, float | complex) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        sign = ast.Constant(_SIGNS[type(node.op)])
        return _call("binary", sign, self.visit(node.left), self.visit(node.right))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        signs = ast.Tuple([ast.Constant(_SIGNS[type(each)]) for each in node.ops], ast.Load())
        return _call("compared", signs, self.visit(node.left), *(self.visit(each) for each in node.comparators))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        sign = ast.Constant(_SIGNS[type(node.op)])
        read = _Loaded().visit(ast.parse(ast.unparse(node.target), mode="eval").body)
        made = _call("in_place", sign, self.visit(read), self.visit(node.value))
        return ast.Assign([self.visit(node.target)], made)

    def visit_Try(self, node: ast.Try) -> ast.stmt:
        self.generic_visit(node)
        for handler in node.handlers:
            handler.body.insert(0, ast.Expr(_call("caught")))
        if node.finalbody:
            node.finalbody.insert(0, ast.Expr(_call("caught")))
        return node

    def visit_With(self, node: ast.With) -> ast.stmt:
        self.generic_visit(node)
        told = ast.ExceptHandler(None, None, [ast.Expr(_call("caught")), ast.Raise()])
        node.body = [ast.Try(node.body, [told], [], [])]
        return node

    def visit_Global(self, node: ast.Global) -> list[ast.stmt]:
        return [node, ast.Expr(_call("state"))]

    def visit_Nonlocal(self, node: ast.Nonlocal) -> list[ast.stmt]:
        return [node, ast.Expr(_call("state"))]

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        """Patterns stay; what is matched and the cases are visited."""
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.guard = None if case.guard is None else self.visit(case.guard)
            case.body = [self.visit(each) for each in case.body]
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        """Defaults are values of the function that was made; those of inner functions are visited."""
        node.defaults = [self.visit(each) for each in node.defaults]
        node.kw_defaults = [None if each is None else self.visit(each) for each in node.kw_defaults]
        return node


class _Loaded(ast.NodeTransformer):
    """A place that is written, as one that is read."""

    def visit_Store(self, node: ast.Store) -> ast.Load:
        return ast.Load()


@functools.lru_cache(maxsize=32)
def _compiled(file: str, text: str) -> tuple[CodeType, CodeType]:
    """The file as it is, and with exact operations."""
    plain = compile(ast.parse(text), file, "exec", dont_inherit=True)
    tree = ast.fix_missing_locations(_Exact().visit(ast.parse(text)))
    return plain, compile(tree, file, "exec", dont_inherit=True)


def _inner(code: CodeType) -> list[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def _pairs(plain: CodeType, exact: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Code of the file as it is, beside the same with exact operations."""
    yield plain, exact
    for first, second in zip(_inner(plain), _inner(exact), strict=True):
        yield from _pairs(first, second)


def _exact_code(code: CodeType, names: dict[str, Any]) -> CodeType:
    file = Path(code.co_filename)
    text = file.read_text(encoding="utf-8") if file.is_file() else "".join(linecache.getlines(code.co_filename, names))
    if not text:
        raise NoSource(
            f"the source of {code.co_name} cannot be read, so it is not run on exact numbers: write it in a file"
        )
    try:
        listed = list(_pairs(*_compiled(code.co_filename, text)))
    except (SyntaxError, ValueError):
        raise NoSource(f"the source of {code.co_name} is not what was run: the file was changed") from None
    found = [(own, exact) for own, exact in listed if _same(own, code)]
    alike = [(own, exact) for own, exact in found if own.co_code == code.co_code]
    rewritten = any(name.startswith("@py_") for name in (*code.co_varnames, *code.co_names))  # pytest's assertions
    if not (alike or rewritten) or not (alike or found):
        raise NoSource(f"the source of {code.co_name} is not what was run: the file was changed")
    chosen = (alike or found)[0][1]
    if len({_place(own) for own, _ in alike or found}) > 1:
        places = [exact for own, exact in alike or found if _place(own) == _place(code)]
        if len(places) != 1:
            raise NoSource(f"several functions {code.co_name} stand on one line: write each on a line of its own")
        chosen = places[0]
    if chosen.co_freevars != code.co_freevars or chosen.co_argcount != code.co_argcount:
        raise NoSource(f"{code.co_name} could not be made exact")
    return chosen


def _same(own: CodeType, code: CodeType) -> bool:
    return (own.co_name, own.co_firstlineno, own.co_freevars) == (code.co_name, code.co_firstlineno, code.co_freevars)


def _place(code: CodeType) -> tuple[Any, ...]:
    """Line and column of the first things that the code does."""
    return tuple((line, column) for line, _, column, _ in code.co_positions() if column)[:3]


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
        code = _exact_code(value.__code__, value.__globals__)
        self.watch.allow(code)
        names = self._names.get(id(value.__globals__))
        if names is None:
            names = self._names[id(value.__globals__)] = {**value.__globals__, **_HELPERS, "__builtins__": BUILTINS}
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
        for name in _used(code):
            if name in value.__globals__ and name not in ("__builtins__", "__name__"):
                names[name] = self.made(value.__globals__[name])
        return made


#: Slots that hold no value of the author.
_NO_VALUES = ("__dict__", "__weakref__")


def _listed(names: Any) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _used(code: CodeType) -> set[str]:
    found = set(code.co_names)
    for inner in _inner(code):
        found |= _used(inner)
    return found - set(_HELPERS)
