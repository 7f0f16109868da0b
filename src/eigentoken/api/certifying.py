"""``et.certify``: a condition by its name or as a word of the language, on a matrix, in either order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

import eigentoken.numerics.layers.hypotheses  # noqa: F401 - registers its reading
from eigentoken.documents.certificate import LeadBy
from eigentoken.numerics.certified.arithmetic import using
from eigentoken.numerics.certified.certify import certify as certify_name
from eigentoken.numerics.certified.certify import check_meant, conditions
from eigentoken.numerics.certified.devices import arithmetic_of
from eigentoken.numerics.certified.enclosures import Enclosure, MatrixError
from eigentoken.numerics.certified.matrices import as_enclosure, exact_number, read_matrix
from eigentoken.numerics.certified.time_bounds import certify_at_all_times
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS
from eigentoken.numerics.layers.symbol_values import LayerSymbolValues
from eigentoken.theory.language.conditions import Condition, OfOneMatrix
from eigentoken.theory.language.readings import NoReading
from eigentoken.theory.language.terms import alpha as step_symbol
from eigentoken.theory.language.verdicts import Verdict

__all__ = ["certify"]


def certify(
    question: object,
    matrix: object = None,
    *,
    radius: object = 0.0,
    alpha: object = None,
    expected: object = None,
    bound: object = None,
    within: object = None,
    by: LeadBy = "real-part",
    time_limit: float = 10.0,
    over: tuple[object, object] | None = None,
    device: str = "cpu",
    **matrices: object,
) -> Verdict:
    """Decide a condition for every matrix within ``radius`` (spectral norm) of the one given: holds, fails or undecided.

    The condition is a name (``et.conditions()`` lists them) or a word such as ``Symmetric(V)``; condition and matrix may
    come in either order.  A matrix is an array, a tensor, nested lists of exact numbers, or the name of a file (``.npy``,
    ``.json``, ``.safetensors::tensor``); its numbers are taken exactly as they are.  A word of several letters takes the
    matrices by name: ``certify(Commute(V, M), V=A, M=B)``.  ``alpha`` is the step that a word or ``dominant-step``
    speaks of; ``expected``, ``bound``, ``within`` and ``by`` belong to names.  ``over=(a, b)`` asks for all times of an
    interval: the matrix is then rows of formulas in t, or ``{"times", "matrices", "lipschitz"}``, or a file of one of these.
    ``device`` (``cpu``, ``cuda``, ``mps``, ``auto``): where large products are formed; the bounds are the same everywhere.

    >>> import numpy as np
    >>> certify(np.eye(2), "positive-definite") == "holds"
    True
    >>> from eigentoken.theory.language.conditions import Symmetric
    >>> from eigentoken.theory.language.terms import matrix
    >>> certify(Symmetric(matrix("V")), np.eye(2)) == "holds"
    True
    >>> certify("positive-definite", [["2 + sin(t)", "1/4"], ["1/4", "1"]], over=(0, 10)) == "holds"
    True
    """
    with using(arithmetic_of(device)):
        return _certified(question, matrix, radius, alpha, expected, bound, within, by, time_limit, over, matrices)


def _certified(
    question: object,
    matrix: object,
    radius: object,
    alpha: object,
    expected: object,
    bound: object,
    within: object,
    by: LeadBy,
    time_limit: float,
    over: tuple[object, object] | None,
    matrices: Mapping[str, object],
) -> Verdict:
    """:func:`certify` in the arithmetic in force."""
    asked, given = _in_order(question, matrix)
    _check_is_a_matrix(given)
    options: dict[str, Any] = {
        "expected": expected,
        "bound": bound,
        "within": within,
    }  # of a condition given by its name
    if over is not None:
        if matrices or radius != 0.0:
            raise MatrixError("over: one matrix is asked for at all times, without a radius")
        if isinstance(over, str) or not hasattr(over, "__len__") or len(over) != 2:
            raise MatrixError(f"over must be two times (a, b), got {over!r}")
        over = (over[0], over[1])
        asked_name = asked.called if isinstance(asked, OfOneMatrix) else asked
        if not isinstance(asked_name, str):
            raise MatrixError(f"over: {type(asked).__name__} is not about one matrix: name a condition")
        return certify_at_all_times(asked_name, given, over, alpha=alpha, by=by, time_limit=time_limit, **options)
    if isinstance(asked, str):
        if matrices:
            raise MatrixError(f"{next(iter(matrices))}: {asked} is about one matrix: give it as the second argument")
        if given is None:
            raise MatrixError(f"the matrix is missing: certify({asked!r}, matrix)")
        if asked in conditions():
            check_meant(asked, by, alpha=alpha, bound=bound, within=within)
        return certify_name(
            asked,
            given,
            radius=radius,
            alpha=alpha,
            by=by,
            time_limit=time_limit,
            **options,
        )
    for name, value in options.items():
        if value is not None:
            raise MatrixError(f"{name} belongs to a condition given by its name, not to {type(asked).__name__}")
    values = _bound(asked, given, matrices, radius)
    speaks_of_step = any(step_symbol in term.free_symbols for term in _terms(asked))
    if alpha is None and speaks_of_step:
        raise MatrixError(f"{asked} speaks of the step alpha: give alpha")
    if alpha is not None and not speaks_of_step:
        raise MatrixError(f"alpha is not in {asked}: leave it out")
    step = Fraction(1) if alpha is None else exact_number(alpha)
    return _answer(asked, LayerSymbolValues("the matrices given", values, step=step))


def _in_order(first: object, second: object) -> tuple[str | Condition, object]:
    """The condition and the matrix; of two texts the one that names a condition is the condition."""
    for asked, given in ((first, second), (second, first)):
        if isinstance(asked, Condition) or (isinstance(asked, str) and asked in conditions()):
            return asked, given
    for asked, given in ((first, second), (second, first)):
        if isinstance(asked, str):
            return asked, given
    for several in (first, second):
        if isinstance(several, list | tuple) and several and all(isinstance(each, str | Condition) for each in several):
            raise MatrixError("one condition is asked for at a time: [et.certify(name, matrix) for name in ...]")
    raise MatrixError(
        f"the condition is missing, got {type(first).__name__} and {type(second).__name__}: name one, such as "
        "'positive-definite', or give a word, such as Symmetric(V)"
    )


def _check_is_a_matrix(given: object) -> None:
    """A model, a layer or a head has several matrices: say which are there."""
    for part, names in (("Layer", "F, .S"), ("Head", "P, .U"), ("Model", "layers[0].F, .layers[0].S")):
        if type(given).__name__ == part:
            raise MatrixError(f"a {part.lower()} has several matrices: give one of .{names}")


def _terms(word: object) -> Iterator[sp.Basic]:
    """The expressions in a word, however deep."""
    if isinstance(word, sp.Basic):
        yield word
    elif isinstance(word, tuple | list):
        for each in word:
            yield from _terms(each)
    elif is_dataclass(word):
        for part in fields(word):
            yield from _terms(getattr(word, part.name))


def _letters(word: Condition) -> list[str]:
    """The matrices that a word speaks of, by name."""
    found = {symbol.name for term in _terms(word) for symbol in term.atoms(sp.MatrixSymbol)}
    named = getattr(word, "name", None)
    return sorted(found | ({named} if isinstance(named, str) else set()))


def _bound(word: Condition, given: object, matrices: Mapping[str, object], radius: object) -> dict[str, Enclosure]:
    letters = _letters(word)
    if not letters:
        raise MatrixError(f"{word} speaks of tokens, not of a matrix: use eigentoken.refute or eigentoken.classify")
    by_name: dict[str, object] = dict(matrices)
    if isinstance(given, Mapping):
        by_name = {**{str(name): value for name, value in given.items()}, **by_name}
    elif given is not None:
        rest = [letter for letter in letters if letter not in by_name]
        if len(rest) != 1:
            raise MatrixError(f"{word} speaks of {', '.join(letters)}: give each by name, V=...")
        by_name[rest[0]] = given
    for name in by_name:
        if name not in letters:
            raise MatrixError(f"{name} is not in {word}, which speaks of {', '.join(letters)}")
    for letter in letters:
        if letter not in by_name:
            raise MatrixError(f"{letter} of {word} is missing: give the matrix, {letter}=...")
    reach = exact_number(radius)
    found = {
        name: read_matrix(value, reach) if isinstance(value, str) else as_enclosure(value, reach)
        for name, value in by_name.items()
    }
    shapes = {enclosure.shape for enclosure in found.values()}
    if len(shapes) > 1 or any(rows != columns for rows, columns in shapes):
        raise MatrixError(f"matrices must be square and of one size, got {sorted(shapes)}")
    return found


def _answer(word: Condition, environment: LayerSymbolValues) -> Verdict:
    try:
        verdict: Verdict | None = ON_WEIGHTS(word, environment)
    except NoReading:
        verdict = None
    if verdict is None:
        raise MatrixError(
            f"{word} speaks of tokens, not of matrices alone: use eigentoken.refute or eigentoken.classify"
        )
    return verdict
