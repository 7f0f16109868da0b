"""The classes of a spectrum as LaTeX, for the claim that a spectrum is this one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Symbol, sympify
from sympy.functions.elementary.hyperbolic import HyperbolicFunction, sinh, tanh

from eigentoken.theory.language.terms import MatrixNumber, ell
from eigentoken.theory.printing.scalars import scalar_latex

__all__ = ["spectrum_latex"]


def _turned(function: Any) -> bool:
    """``tanh(t - s)``, s a number of the matrices: sympy's order of ``-tanh(s - t)``, which the statements write."""
    terms = function.args[0].as_coefficients_dict()
    numbers = [value for term, value in terms.items() if isinstance(term, MatrixNumber)]
    return isinstance(function, tanh | sinh) and any(value < 0 for value in numbers)


def _as_written(function: Any) -> str:
    if not _turned(function):
        return scalar_latex(function)
    return rf"\{function.func.__name__}\left({scalar_latex(-function.args[0])}\right)"


def spectrum_latex(classes: Sequence[tuple[Any, Any]], index: Any = None) -> str:
    """Eigenvalues with multiplicities; hyperbolic functions that occur again and again get a letter, ``where b_1 = ...``.

    A class that runs over ``ell`` says over which: all but the ``index`` of the place.

    >>> from sympy import Symbol, tanh
    >>> x = Symbol("x")
    >>> print(spectrum_latex([(1 + tanh(x), 1), (1 / tanh(x), 3)])[:44])
    1 + b_{1},\\quad \\frac{1}{b_{1}}\\ [3\\text{ ti
    """
    values = [sympify(value) for value, _ in classes]
    repeated = [
        each
        for each in sorted(set().union(*(value.atoms(HyperbolicFunction) for value in values)), key=str)
        if sum(value.count(each) for value in values) > 1
    ]
    names = {each: Symbol(f"b_{index}", real=True) for index, each in enumerate(repeated, 1)}
    letters = {each: -name if _turned(each) else name for each, name in names.items()}
    others = "" if index is None else rf"\ (\ell \neq {scalar_latex(sympify(index))})"
    rows = [
        f"{scalar_latex(value.xreplace(letters))}{others if value.has(ell) else ''}"
        + ("" if count == 1 else rf"\ [{scalar_latex(count)}\text{{ times}}]")
        for value, (_, count) in zip(values, classes, strict=True)
    ]
    text = r",\quad ".join(rows)
    if names:
        given = r",\quad ".join(f"{scalar_latex(name)} = {_as_written(each)}" for each, name in names.items())
        text += rf",\qquad \text{{where }} {given}"
    return text
