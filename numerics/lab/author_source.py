"""An author's predicate with exact operations: the same lines, compiled so that nothing in them is rounded.

The file of the predicate is read again, its operators, comparisons and literals are replaced by those of
:mod:`eigentoken.numerics.lab.author_operations`, and the function is made anew with the code that results; the modules that it
calls are replaced by those of :mod:`eigentoken.numerics.lab.author_modules`; functions of the author's own files that it uses
are treated in the same way.  Where the source cannot be read nothing is certified.
"""

from __future__ import annotations

import ast
import functools
import linecache
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
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
    made = _Maker().made(predicate)
    if not callable(made):
        raise NoSource("the predicate is no function")
    if made is predicate and not isinstance(predicate, type):
        raise NoSource("the predicate is no function of a file: write it as one")
    return made


#: Folders whose code is nobody's predicate.
_LIBRARIES = tuple(
    str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


def _is_author(names: dict[str, Any], file: str) -> bool:
    home = str(names.get("__name__", "")).split(".")[0]
    if home == "eigentoken" or file.startswith("<frozen"):
        return False
    resolved = str(Path(file).resolve())
    return not resolved.startswith((*_LIBRARIES, str(Path(np.__file__).parents[1])))


class _Maker:
    """Makes functions anew, each once."""

    def __init__(self) -> None:
        self._made: dict[int, Any] = {}
        self._kept: list[Any] = []
        self._names: dict[int, dict[str, Any]] = {}

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
            return self._function(value) if _is_author(value.__globals__, value.__code__.co_filename) else value
        if isinstance(value, MethodType):
            return MethodType(self.made(value.__func__), value.__self__)
        if isinstance(value, functools.partial):
            named = {key: self.made(each) for key, each in value.keywords.items()}
            return functools.partial(self.made(value.func), *(self.made(each) for each in value.args), **named)
        if isinstance(value, ModuleType):
            file = getattr(value, "__file__", None)
            names = vars(value)
            own = file is not None and _is_author(names, file)
            return StandIn(value.__name__, lambda name: self.made(getattr(value, name))) if own else value
        if type(value) in (list, tuple):
            return type(value)(self.made(each) for each in value)
        if type(value) is dict:
            return {key: self.made(each) for key, each in value.items()}
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, np.ndarray):
            return lifted(value)
        if isinstance(value, functools._lru_cache_wrapper):
            return self.made(value.__wrapped__)
        call = vars(type(value)).get("__call__")
        if isinstance(call, FunctionType) and _is_author(call.__globals__, call.__code__.co_filename):
            return MethodType(self.made(call), value)
        return value

    def _class(self, value: type) -> Any:
        """A class of the author with its own methods made anew."""
        module = sys.modules.get(value.__module__)
        file = getattr(module, "__file__", None)
        methods = {name: each for name, each in vars(value).items() if isinstance(each, FunctionType)}
        if file is None or not methods or not _is_author(vars(module), file):
            return value
        own = {name: self.made(each) for name, each in methods.items() if each.__code__.co_filename == file}
        try:
            return type(value)(value.__name__, (value,), own)
        except TypeError:
            return value

    def _function(self, value: FunctionType) -> FunctionType:
        code = _exact_code(value.__code__, value.__globals__)
        names = self._names.get(id(value.__globals__))
        if names is None:
            names = self._names[id(value.__globals__)] = {**value.__globals__, **_HELPERS, "__builtins__": BUILTINS}
        cells = tuple(CellType() for _ in value.__closure__ or ())
        made = FunctionType(code, names, value.__name__, None, cells or None)
        self._made[id(value)] = made
        self._kept.append(value)
        for cell, own in zip(cells, value.__closure__ or (), strict=True):
            try:
                cell.cell_contents = self.made(own.cell_contents)
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


def _used(code: CodeType) -> set[str]:
    found = set(code.co_names)
    for inner in _inner(code):
        found |= _used(inner)
    return found - set(_HELPERS)
