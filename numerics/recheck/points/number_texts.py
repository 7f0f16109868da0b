"""Exact numbers as they are written in an instance or a spectrum, read by a parser of our own into balls.

    ``1/3``, ``sqrt(2)/2``, ``exp(-3/2)``, ``log(3)``, ``2**(1/3)``, ``E``, ``pi``, ``I``, ``cos(pi/5)``

Nothing is evaluated as code.  Texts are bounded in length, depth and exponents, so that no text costs more than a moment.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

import flint

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.reading import RecheckError

__all__ = ["complex_ball", "printed_ball", "real_ball"]

arb, acb = flint.arb, flint.acb
LONGEST_TEXT = 4000
LARGEST_EXPONENT = 400
FUNCTIONS = frozenset(("sqrt", "exp", "log", "cos", "sin", "tan", "cosh", "sinh", "tanh"))


def complex_ball(text: Any, names: Mapping[str, Any] | None = None) -> Any:
    """The ball of a number as it is written; ``names`` are balls for further names.

    >>> complex_ball("1/4 + sqrt(-4)").imag == 2
    True
    """
    written = str(text)
    if len(written) > LONGEST_TEXT:
        raise RecheckError(f"a number is longer than {LONGEST_TEXT} characters")
    try:
        value = _evaluate(ast.parse(written, mode="eval").body, names or {})
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError, ZeroDivisionError):
        raise RecheckError(f"a number cannot be read: {written[:60]!r}") from None
    if not value.is_finite():
        raise RecheckError(f"a number is not finite: {written[:60]!r}")
    return value


def real_ball(text: Json) -> flint.arb:
    """The same for a real number."""
    value = complex_ball(text)
    if not value.imag == 0:
        raise RecheckError(f"a number is not real: {str(text)[:60]!r}")
    return value.real


def _evaluate(node: ast.expr, names: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return acb(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate(node.operand, names)
    if isinstance(node, ast.BinOp):
        left, right = _evaluate(node.left, names), _evaluate(node.right, names)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
        if isinstance(node.op, ast.Pow) and abs(right) < LARGEST_EXPONENT:
            return _power(left, right)
    if isinstance(node, ast.Name):
        known = {"E": lambda: acb(1).exp(), "pi": lambda: acb(arb.pi()), "I": lambda: acb(0, 1)}
        if node.id in names:
            return names[node.id]
        if node.id in known:
            return known[node.id]()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
        value = _evaluate(node.args[0], names)
        if node.func.id in ("Abs", "abs"):
            return acb(abs(value))
        if node.func.id in FUNCTIONS:
            return _real_if_real(value, node.func.id)
    raise RecheckError("a number cannot be read: expected integers, fractions, powers, roots, exp, log, cos, sin")


def _power(base: Any, exponent: Any) -> Any:
    whole = exponent.real.unique_fmpz() if exponent.imag == 0 else None
    if whole is not None:
        return base ** int(whole)
    if base.imag == 0 and exponent.imag == 0 and base.real > 0:
        return acb(base.real**exponent.real)
    return base**exponent


def _real_if_real(value: Any, name: str) -> Any:
    """A function of a real number in real arithmetic where that is real, so that no imaginary part creeps in."""
    if value.imag == 0 and not (name in ("sqrt", "log") and not value.real >= 0):
        return acb(getattr(value.real, name)())
    if value.imag == 0 and name == "sqrt" and value.real < 0:
        return acb(arb(0), (-value.real).sqrt())
    return getattr(value, name)()


def printed_ball(text: Any) -> Any:
    """The complex ball that FLINT prints: ``[0.66667 +/- 3.4e-21] + [0.25 +/- 1e-20]j``.

    >>> printed_ball("0.5000 - [0.25 +/- 1e-20]j").imag.contains(-0.25)
    True
    """
    written = str(text).strip()
    if len(written) > LONGEST_TEXT:
        raise RecheckError("a printed ball is too long")
    if not written.endswith("j"):
        return acb(_printed(written))
    depth, split = 0, 0
    for place, letter in enumerate(written):
        depth += (letter == "[") - (letter == "]")
        if (
            place
            and depth == 0
            and letter in "+-"
            and written[place - 1] == " "
            and written[place + 1 : place + 2] == " "
        ):
            split = place
    imaginary = _printed(written[split + 1 if split else 0 : -1].strip())
    if not split:
        return acb(arb(0), imaginary)
    return acb(_printed(written[:split].strip()), -imaginary if written[split] == "-" else imaginary)


def _printed(text: str) -> Any:
    number = r"-?\d+(?:\.\d*)?(?:e[+-]?\d{1,6})?"
    if re.fullmatch(rf"{number}|\[{number} \+/- {number}\]|\[\+/- {number}\]", text) is None:
        raise RecheckError(f"a printed ball cannot be read: {text[:60]!r}")
    return arb(text)
