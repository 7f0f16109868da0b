"""``certify``: one condition on one matrix, answered in one of three ways with a margin and a certificate.

A verdict is about every matrix within ``radius`` (spectral norm) of the exact value of the input.  Definiteness words
concern the symmetric part: ``positive-definite`` means ``x^T M x > 0`` for all x != 0, whether or not M is symmetric;
``symmetric`` is a condition of its own.

Where one Cholesky factorization of a symmetric matrix answers a condition on signs, the call returns after it, with a copy of
the matrix of its own: the sharp margin, the digest and the certificate are made when one of them is first asked for
(:func:`~eigentoken.numerics.certified.questions.answer_now`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from eigentoken.display import Listed
from eigentoken.documents.certificate import LeadBy
from eigentoken.numerics.certified.arithmetic import current, using
from eigentoken.numerics.certified.condition_names import CONDITIONS
from eigentoken.numerics.certified.devices import arithmetic_of
from eigentoken.numerics.certified.dominance import ORDERS
from eigentoken.numerics.certified.enclosures import Enclosure, MatrixError
from eigentoken.numerics.certified.exact_matrices import Deadline
from eigentoken.numerics.certified.matrices import as_enclosure, exact_number, read_matrix
from eigentoken.numerics.certified.questions import Question
from eigentoken.numerics.certified.shape_conditions import (
    decide_identity,
    decide_nonsingular,
    decide_norm_bound,
    decide_rank,
    decide_symmetric,
)
from eigentoken.numerics.certified.sign_conditions import decide_inertia, decide_signs
from eigentoken.numerics.certified.spectral_conditions import (
    decide_complex_pair,
    decide_dominance,
    decide_eigenvector,
    decide_gap,
    decide_spectrum,
)
from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.systems.suggestions import meant

__all__ = ["certify", "check_meant", "conditions"]

_DECIDERS: dict[str, Callable[[Question], Verdict]] = {
    "symmetric": decide_symmetric,
    "identity": decide_identity,
    "positive-definite": decide_signs,
    "negative-definite": decide_signs,
    "positive-semidefinite": decide_signs,
    "negative-semidefinite": decide_signs,
    "indefinite": decide_signs,
    "inertia": decide_inertia,
    "rank": decide_rank,
    "nonsingular": decide_nonsingular,
    "norm-bound": decide_norm_bound,
    "spectrum": decide_spectrum,
    "dominant-real-part": decide_dominance,
    "dominant-modulus": decide_dominance,
    "dominant-step": decide_dominance,
    "dominant-complex-pair": decide_complex_pair,
    "spectral-gap": decide_gap,
    "principal-eigenvector": decide_eigenvector,
}


def conditions() -> Listed[str]:
    """The names that :func:`certify` knows, each with one line.

    >>> "positive-definite" in conditions()
    True
    """
    return Listed(CONDITIONS)


def certify(
    condition: str,
    matrix: object,
    *,
    radius: object = 0.0,
    alpha: object = None,
    expected: object = None,
    bound: object = None,
    within: object = None,
    by: LeadBy = "real-part",
    time_limit: float = 10.0,
    device: str | None = None,
) -> Verdict:
    """Decide one condition for every matrix within ``radius`` of the one given.

    ``matrix``: an array, a tensor, nested lists of exact numbers, an
    :class:`~eigentoken.numerics.certified.enclosures.Enclosure`, or the name of a file (``.npy``, ``.json``,
    ``.safetensors::tensor``).  ``alpha``: the step of ``dominant-step``.
    ``expected``: the rank, or the inertia as three counts.  ``bound``, ``within``: see :func:`conditions`.
    ``time_limit``: seconds for the exact rung.  ``device``: where large products are formed (``cpu``, ``cuda``, ``mps``,
    ``auto``; default: the arithmetic in force), after a probe; the bounds are the same everywhere.

    >>> certify("positive-definite", [["2", "1"], ["1", "1/2"]]).answer.value  # exactly singular
    'fails'
    """
    if condition not in _DECIDERS:
        raise MatrixError(f"unknown condition {condition!r}: {meant(condition, _DECIDERS)}")
    if by not in ORDERS:
        raise MatrixError(f"by must be one of {', '.join(ORDERS)}, got {by!r}")
    step = _option("alpha", alpha)
    if step is None and (condition == "dominant-step" or (condition == "dominant-complex-pair" and by == "step")):
        raise MatrixError("dominant-step orders by |1 + alpha lambda|: give alpha")
    reach = _option("radius", radius)
    enclosure = read_matrix(matrix, reach) if isinstance(matrix, str) else as_enclosure(matrix, reach)
    question = Question(
        condition,
        enclosure,
        Deadline.after(time_limit),
        step,
        _expected_rank(condition, expected),
        _expected_inertia(condition, expected, enclosure),
        _option("bound", bound),
        _option("within", within),
        by,
    )
    with using(current() if device is None else arithmetic_of(device)):
        return _DECIDERS[condition](question)


#: The conditions that an option belongs to.
OWNERS = {
    "alpha": ("dominant-step", "dominant-complex-pair"),
    "bound": ("norm-bound",),
    "within": ("symmetric", "identity", "principal-eigenvector"),
}


def check_meant(condition: str, by: str, **options: object) -> None:
    """An option that a condition does not read would pass for one that it satisfies."""
    for name, value in options.items():
        owned = condition in OWNERS[name] and not (name == "alpha" and condition != "dominant-step" and by != "step")
        if value is not None and not owned:
            raise MatrixError(f"{name} has no meaning for {condition}: it belongs to {', '.join(OWNERS[name])}")
    if by != ORDERS[0] and condition != "dominant-complex-pair":
        raise MatrixError(f"by has no meaning for {condition}: it belongs to dominant-complex-pair")


def _option(name: str, value: object) -> Fraction | None:
    return None if value is None else _number(name, value)


def _number(name: str, value: object) -> Fraction:
    """The exact number of an option; what is wrong with it names the option."""
    try:
        return exact_number(value)
    except MatrixError as error:
        raise MatrixError(f"{name}: {error}") from None


def _expected_rank(condition: str, expected: object) -> int | None:
    if expected is not None and condition not in ("rank", "inertia"):
        raise MatrixError(f"expected has no meaning for {condition}")
    return None if expected is None or condition != "rank" else _count(expected)


def _expected_inertia(condition: str, expected: object, enclosure: Enclosure) -> tuple[int, int, int] | None:
    if expected is None or condition != "inertia":
        return None
    given = list(expected) if isinstance(expected, list | tuple) else [expected]
    counts = [_count(count) for count in given]
    if len(counts) != 3 or sum(counts) != enclosure.shape[0]:
        raise MatrixError(f"expected inertia must be three counts that add up to {enclosure.shape[0]}, got {expected}")
    positive, negative, zero = counts
    return positive, negative, zero


def _count(value: object) -> int:
    number = _number("expected", value)
    if number.denominator != 1 or number < 0:
        raise MatrixError(f"expected must be a whole number >= 0, or three for the inertia, got {value!r}")
    return int(number)
