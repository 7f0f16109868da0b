"""The lines of an author's file, compiled as they are and with exact operations.

Operators, comparisons, literals and handlers of exceptions are replaced by those of
:mod:`eigentoken.numerics.author_code.operations`; the order of evaluation stays.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

from eigentoken.numerics.author_code.operations import binary, caught, chained, in_place, literal, state_changed

__all__ = ["HELPERS", "NoSource", "compared_constants", "exact_code", "source_text", "used_names"]

#: What the compiled lines call.
HELPERS: dict[str, Any] = {
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
def _compiled(file: str, text: str) -> dict[tuple[Any, ...], list[tuple[CodeType, CodeType]]]:
    """Each code of the file as it is, beside the same with exact operations, by what tells a function."""
    plain = compile(ast.parse(text), file, "exec", dont_inherit=True)
    tree = ast.fix_missing_locations(_Exact().visit(ast.parse(text)))
    found: dict[tuple[Any, ...], list[tuple[CodeType, CodeType]]] = {}
    for own, exact in _pairs(plain, compile(tree, file, "exec", dont_inherit=True)):
        found.setdefault(_key(own), []).append((own, exact))
    return found


@functools.lru_cache(maxsize=32)
def compared_constants(file: str, text: str) -> dict[str, CodeType | None]:
    """Names that the file gives to what it finds by comparing, with exact code for it; ``None`` where it is no one assignment."""
    found: dict[str, CodeType | None] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            continue
        parts = list(ast.walk(node))
        stored = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        if not any(
            isinstance(part, ast.Compare) or (isinstance(part, ast.Name) and part.id in found) for part in parts
        ):
            continue
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        alone = len(targets) == 1 and isinstance(targets[0], ast.Name) and value is not None
        for name in stored:
            if not alone or name in found or value is None or name != getattr(targets[0], "id", None):
                found[name] = None
                continue
            tree = ast.fix_missing_locations(ast.Expression(_Exact().visit(value)))
            found[name] = compile(tree, file, "eval", dont_inherit=True)
    return found


def _inner(code: CodeType) -> list[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def _pairs(plain: CodeType, exact: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Code of the file as it is, beside the same with exact operations."""
    yield plain, exact
    for first, second in zip(_inner(plain), _inner(exact), strict=True):
        yield from _pairs(first, second)


def source_text(code: CodeType, names: dict[str, Any]) -> str:
    file = Path(code.co_filename)
    return file.read_text(encoding="utf-8") if file.is_file() else "".join(linecache.getlines(code.co_filename, names))


def exact_code(code: CodeType, text: str) -> CodeType:
    """The code that the text of its file has for it, with exact operations; raises :class:`NoSource`."""
    if not text:
        raise NoSource(
            f"the source of {code.co_name} cannot be read, so it is not run on exact numbers: write it in a file"
        )
    try:
        found = _compiled(code.co_filename, text).get(_key(code), [])
    except (SyntaxError, ValueError):
        raise NoSource(f"the source of {code.co_name} is not what was run: the file was changed") from None
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


def _key(code: CodeType) -> tuple[Any, ...]:
    return code.co_name, code.co_firstlineno, code.co_freevars


def _place(code: CodeType) -> tuple[Any, ...]:
    """Line and column of the first things that the code does."""
    return tuple((line, column) for line, _, column, _ in code.co_positions() if column)[:3]


def used_names(code: CodeType) -> set[str]:
    found = set(code.co_names)
    for inner in _inner(code):
        found |= used_names(inner)
    return found - set(HELPERS)
