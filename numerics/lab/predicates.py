"""Free predicates: what a conjecture says of an instance where the language has no word yet.

A predicate is given one instance with its parameters and tokens as attributes, and with ``n, d, k, p, q``,
``is_equilibrium()``, ``advance()`` (the next state of a map, the velocity of a flow) and ``attention()``.  It has one meaning,
that of elementwise numpy arrays of real numbers.  In the search these are floats.  To certify, its own lines are run on arrays
of exact and enclosed numbers (:mod:`eigentoken.numerics.author_code.decided_arrays`) with exact operations
(:mod:`eigentoken.numerics.author_code.source`): every comparison is proved or refused, integers stay exact, and a float stands
for what its author may have meant.  Only what it answers there can refute.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from operator import mul
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from flint import fmpq
from torch import Tensor

from eigentoken.numerics.author_code.decided_arrays import decided_array
from eigentoken.numerics.author_code.decided_numbers import REFUSALS, DecidedNumber, NotDecided, decided
from eigentoken.numerics.author_code.source import NoSource, exact_version
from eigentoken.numerics.author_code.watch import unwatched
from eigentoken.numerics.deadline import OutOfTime, limited, tick
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.lab.answers import answer_height, named, proved_answer
from eigentoken.numerics.readings.certified_claims import classified
from eigentoken.numerics.readings.trajectories import problem_of
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.language.verdicts import Verdict, undecided
from eigentoken.theory.systems.algebra import LoopAlgebra, full_mask
from eigentoken.theory.systems.system import System, Time

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from eigentoken.numerics.lab.conjectures import Conjecture

__all__ = [
    "UndefinedState",
    "call_predicate",
    "predicate_verdict",
    "predicate_violation",
    "premise_height",
    "premise_verdict",
    "told",
]

REST = 1e-9
#: Seconds for one answer of a predicate on exact numbers.
PATIENCE = 10.0
#: Bits of the enclosures, in turn.
BITS = (128, 512)
PROVED = "every comparison proved, in exact and ball arithmetic"


class UndefinedState(Exception):
    """The map is not defined at the state (``y_i = 0`` has no direction), so nothing is said of it."""


class FloatInstance(SimpleNamespace):
    """One instance for a free predicate: parameters and tokens as numpy arrays."""

    def advance(self, tokens: ArrayLike | None = None, **parameters: ArrayLike) -> NDArray[np.float64]:
        """The next state of a map, or the velocity of a flow; also at other tokens, or with other parameters by name."""
        batch: Batch = self._batch
        if tokens is not None or parameters:
            shapes = {name: np.shape(value) for name, value in vars(self).items()}
            given = _checked(batch.system, shapes, {**parameters, **({} if tokens is None else {"tokens": tokens})})
            floats = {
                name: torch.from_numpy(np.array(value, dtype=float, order="C"))[None] for name, value in given.items()
            }
            state = floats.pop("tokens", batch.tokens)
            batch = batch.with_parameters({**batch.parameters, **floats}, state)
        moved = problem_of(batch).advance(batch.tokens, 0.0)[0].numpy()
        if not np.isfinite(moved).all():
            self._undefined.append(True)  # stays, even if the predicate handles the exception
            raise UndefinedState("the state has no image: y_i = 0")
        return moved

    def attention(self, head: int = 0) -> NDArray[np.float64]:
        """The attention matrix of a head, n x n."""
        batch: Batch = self._batch
        _has_softmax(batch.system)
        score = batch.system.heads(batch.parameters, 0.0)[head][1]
        problem = problem_of(batch)
        weights = problem.algebra.attention(batch.tokens, score, batch.mask, batch.system.over_root_d)
        dense = weights if isinstance(weights, Tensor) else weights.dense(batch.tokens)
        return dense.expand(1, batch.n, batch.n)[0].numpy()

    def is_equilibrium(self) -> bool:
        """Does the state stay where it is (within rounding)?  The exact instance decides this exactly."""
        moved = self.advance()
        rest = moved - self.tokens if self._batch.system.time is Time.MAP else moved
        return bool(np.abs(rest).max() < REST)


def _has_softmax(system: System) -> None:
    if not system.standard:
        raise ValueError(f"{system.name} has a sublayer of its own: its weights are not known here, compute them")


class DecidedInstance(SimpleNamespace):
    """One exact instance for a free predicate: parameters and tokens as numpy arrays of decided numbers."""

    def advance(self, tokens: Any = None, **parameters: Any) -> Any:
        """The next state of a map, or the velocity of a flow; also at other tokens, or with other parameters by name."""
        system, mask = self._case.instance.system, self._case.instance.mask
        if tokens is not None or parameters:
            shapes = {name: np.shape(value) for name, value in vars(self).items()}
            given = _checked(system, shapes, {**parameters, **({} if tokens is None else {"tokens": tokens})})
            exact = {name: _decided_rows(value) for name, value in given.items()}
            state = exact.pop("tokens", self._tokens)
            return decided_array(system.advance(_DECIDED, {**self._parameters, **exact}, state, mask))
        with self._by_formulas():
            return decided_array(system.advance(_DECIDED, self._parameters, self._tokens, mask))

    def attention(self, head: int = 0) -> Any:
        """The attention matrix of a head, n x n."""
        instance = self._case.instance
        _has_softmax(instance.system)
        score = instance.system.heads(self._parameters)[head][1]
        with self._by_formulas():
            return decided_array(_DECIDED.attention(self._tokens, score, instance.mask, instance.system.over_root_d))

    def _by_formulas(self) -> AbstractContextManager[None]:
        """Nothing of an author can start where the equation is one of ours and every number in it is decided."""
        system = self._case.instance.system
        ours = type(system) is System and system.standard and _all_decided((self._tokens, self._parameters))
        return unwatched() if ours else nullcontext()

    def is_equilibrium(self) -> bool:
        """Decided exactly; raises where it is not decided."""
        verdict = classified(self._case).equilibrium
        if verdict.is_undecided:
            raise NotDecided(verdict.reason)
        return bool(verdict.is_holds)


def _checked(system: System, shapes: Mapping[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Tokens and parameters that a predicate puts in the place of its own: known names, with the shapes of its own."""
    known = [name for name in ("tokens", *(each.name for each in system.parameters)) if name in shapes]
    for name, value in given.items():
        if name not in known or name == "heads":
            listed = ", ".join(each for each in known if each != "heads")
            raise ValueError(f"advance of {system.name} takes {listed}, got {name}")
        if np.shape(value) != shapes[name]:
            raise ValueError(f"advance: {name} must have the shape {shapes[name]} of its own, got {np.shape(value)}")
    return given


def _decided_rows(value: Any) -> Any:
    """A number, vector or matrix of an author as decided numbers in tuples; what is no number is refused."""
    if isinstance(value, list | tuple | np.ndarray) and np.ndim(value):
        return tuple(_decided_rows(each) for each in value)
    number = decided(value[()] if isinstance(value, np.ndarray) else value)
    if number is NotImplemented:
        raise NotDecided(f"advance is given {type(value).__name__}, which is no number")
    return number


def _all_decided(value: Any) -> bool:
    """Are all numbers in these rows, vectors and heads decided ones, and the rows plain tuples?"""
    if type(value) is dict:
        return all(map(_all_decided, value.values()))
    return all(map(_all_decided, value)) if type(value) is tuple else value is None or type(value) is DecidedNumber


def _rational(numbers: Sequence[Any]) -> list[fmpq] | None:
    """The values, if all of them are rational."""
    found = [each.value for each in numbers if isinstance(each, DecidedNumber) and isinstance(each.value, fmpq)]
    return found if len(found) == len(numbers) else None


def _product(left: Any, matrix: Any, right: Any) -> Any:
    """``x^T M y``; where all numbers are rational, without a decided number for each step."""
    found = [_rational(each) for each in (left, right, *matrix)]
    known = [each for each in found if each is not None]
    if len(known) == len(found):
        x, y, *rows = known
        pairs = zip(x, rows, strict=True)
        return decided(sum((a * sum(map(mul, row, y), fmpq(0)) for a, row in pairs), fmpq(0)))
    total = decided(0)
    for a, row in zip(left, matrix, strict=True):
        for entry, b in zip(row, right, strict=True):
            total = total + a * entry * b
    return total


class _DecidedAlgebra(LoopAlgebra):
    """The formulas in decided numbers; equal scores give weights that are exactly equal."""

    def attention(self, x: Any, score: Any, mask: Any, over_root_d: bool) -> Any:
        """``a_ij = exp(s_ij - s_il) / sum_m exp(s_im - s_il)`` for the first l that i attends to."""
        n, d = len(x), len(x[0])
        allowed = full_mask(n) if mask is None else mask
        divisor = decided(d).sqrt() if over_root_d else decided(1)
        rows = []
        for i in range(n):
            matrices = [score(i, j) if callable(score) else score for j in range(n)]
            scores: list[Any] = [None if score is None else _product(x[i], matrices[j], x[j]) for j in range(n)]
            first = next(j for j in range(n) if allowed[i][j])
            terms = [
                decided(0) if not allowed[i][j] else decided(1) if score is None else (scores[j] - scores[first]).exp()
                for j in range(n)
            ]
            total = sum(terms[1:], terms[0]) * divisor
            rows.append(tuple(term / total for term in terms))
        return tuple(rows)


_DECIDED = _DecidedAlgebra(lambda y: decided(y).exp(), lambda y: decided(y).sqrt(), decided(1))


def one_instance(batch: Batch, index: int) -> FloatInstance:
    """One instance of a batch with numpy arrays as attributes."""

    def plain(value: Any) -> Any:
        value = value(0.0) if callable(value) else value
        if isinstance(value, list):
            return [SimpleNamespace(**{name: plain(each) for name, each in head.items()}) for head in value]
        if value is None:
            return None
        return value[index].numpy().copy() if value.ndim > 1 else float(value[index])

    parameters = {name: plain(value) for name, value in batch.parameters.items()}
    tokens = batch.tokens[index].numpy().copy()  # the predicate may change them
    sizes = {"n": batch.n, "d": batch.d, "k": batch.k, "p": batch.p, "q": batch.q}
    return FloatInstance(
        **parameters, **sizes, tokens=tokens, _batch=batch.take(slice(index, index + 1)), _undefined=[]
    )


def decided_instance(case: Case) -> DecidedInstance:
    """The exact instance with arrays of decided numbers as attributes, at the present precision of balls."""

    def rows(value: Any) -> Any:
        if value is None:
            return None
        return tuple(rows(each) for each in value) if isinstance(value, tuple | list) else decided(value)

    def shown(value: Any) -> Any:
        if not isinstance(value, tuple):
            return None if value is None else decided(value)
        return decided_array([list(row) if isinstance(row, tuple) else row for row in value])

    given = case.instance.parameters
    plain = {name: value for name, value in given.items() if name != "heads"}
    found: dict[str, Any] = {name: shown(value) for name, value in plain.items()}
    parameters: dict[str, Any] = {name: rows(value) for name, value in plain.items()}
    if "heads" in given:
        found["heads"] = [
            SimpleNamespace(**{part: shown(each) for part, each in head.items()}) for head in given["heads"]
        ]
        parameters["heads"] = tuple({part: rows(each) for part, each in head.items()} for head in given["heads"])
    sizes = {"n": case.n, "d": case.d, "k": case.k, "p": case.p, "q": case.q}
    tokens = rows(case.instance.tokens)
    shown_tokens = decided_array([list(token) for token in tokens])
    return DecidedInstance(**found, **sizes, tokens=shown_tokens, _case=case, _parameters=parameters, _tokens=tokens)


# --- in floats: the search -------------------------------------------------------------------------------------------


def call_predicate(conjecture: Conjecture, instance: Any, part: str = "holds_if") -> float:
    """How true ``holds_if`` (or the premise ``given``) is: 1 or -1 for True and False, or its margin.

    What it raises, or answers instead, is told with the line in the file.
    """
    predicate = getattr(conjecture, part)
    assert callable(predicate)
    with told(conjecture, part, conjecture.predicate_file if part == "holds_if" else ""):
        answer = predicate(instance)
    found = answer_height(answer)
    if found is None:
        code = getattr(predicate, "__code__", None)
        place = (conjecture.file, conjecture.line) if code is None else (code.co_filename, code.co_firstlineno)
        said = f"{part} returned {named(answer)}: return True or False (of an array, .all() or .any()), or a float"
        raise _error(f"{conjecture.name}: {said}, negative where it is false", *place)
    return found


def _error(said: str, file: str, line: int) -> Exception:
    from eigentoken.numerics.lab.conjectures import ConjectureError

    return ConjectureError(said, file, line)


@contextmanager
def told(conjecture: Conjecture, what: str, file: str = "") -> Iterator[None]:
    """What the code of an author raises becomes one message, with the line in the file of the conjecture."""
    from eigentoken.numerics.lab.conjectures import ConjectureError

    try:
        yield
    except (ConjectureError, UndefinedState):
        raise
    except Exception as problem:
        frames = traceback.extract_tb(problem.__traceback__)
        home = file or conjecture.file
        lines = [frame.lineno for frame in frames if frame.filename == home]
        said = f"{conjecture.name}: {what} raised {type(problem).__name__}: {problem}"
        place = (home, lines[-1] or 1) if lines else (conjecture.file, conjecture.line or 1)
        raise ConjectureError(said, *place) from None


def predicate_violation(conjecture: Conjecture, batch: Batch) -> Tensor:
    """1 and -1 where the predicate is false and true, or minus its margin; ``nan`` where the state has no image.

    Nothing is judged where the state has no image, or where the margin is ``nan``.
    """
    return -_heights(conjecture, batch, "holds_if")


def premise_height(conjecture: Conjecture, batch: Batch) -> Tensor:
    """How true the premise ``given`` is of each instance: not negative where it is true."""
    return _heights(conjecture, batch, "given")


def _heights(conjecture: Conjecture, batch: Batch, part: str) -> Tensor:
    found = [_height(conjecture, one_instance(batch, b), part) for b in range(batch.count)]
    return torch.tensor(found, dtype=torch.float64)


def _height(conjecture: Conjecture, instance: FloatInstance, part: str) -> float:
    try:
        answer = call_predicate(conjecture, instance, part)
    except Exception:
        if instance._undefined:
            return float("nan")
        raise
    return float("nan") if instance._undefined else answer


# --- on exact numbers: the certificate -------------------------------------------------------------------------------


def predicate_verdict(predicate: Callable[[Any], Any], case: Case) -> Verdict:
    """The free predicate on exact numbers: a proved answer counts, a float does not; it is given ``PATIENCE`` seconds.

    Where it is false of the exact numbers it must be so twice, and false of their floats, too: a predicate that keeps
    state, or asks what kind of numbers it is given, refutes nothing.
    """
    return _asked(predicate, case, False)


def premise_verdict(premise: Callable[[Any], Any], case: Case) -> Verdict:
    """The premise ``given`` on exact numbers: where it is true it must be so twice, and true of their floats, too."""
    return _asked(premise, case, True)


def _asked(predicate: Callable[[Any], Any], case: Case, wanted: bool) -> Verdict:
    try:
        with limited(time.time() + PATIENCE):
            verdict = _proved(predicate, case)
            if verdict.is_undecided or verdict.is_holds != wanted:
                return verdict
            if _proved(predicate, case) != verdict:
                return undecided(
                    "the predicate gave two answers on the same exact numbers: it is not a function of them"
                )
            if not all(_so_in_floats(predicate, case, wanted) for _ in range(2)):
                said = "true" if wanted else "false"
                return undecided(f"the predicate is {said} of the exact numbers, but not of the same numbers as floats")
            return verdict
    except OutOfTime:
        tick()  # raises where it was the time of the whole search that ended
        return undecided(f"the predicate gave no answer on these exact numbers in {PATIENCE:g} s")


def _proved(predicate: Callable[[Any], Any], case: Case) -> Verdict:
    """The answer on numbers whose comparisons are proved; undecided, with the reason, where one is left open."""
    reason = ""
    for bits in BITS:
        del REFUSALS[:]
        try:
            with precision(bits):
                answer = exact_version(predicate)(decided_instance(case))
                found = proved_answer(answer)
        except NoSource as problem:
            return undecided(str(problem))
        except NotDecided as problem:
            REFUSALS.append(str(problem))
            found = None
        except Exception as problem:
            return undecided(f"the predicate raises {type(problem).__name__} on exact numbers: {problem}"[:300])
        if REFUSALS:  # the predicate may have gone on after a comparison that was left open
            reason = REFUSALS[0]
            continue
        if found is None:
            return undecided("the predicate gives neither True nor False nor a real number on exact numbers")
        return found.verdict(f"of the exact numbers ({PROVED})")
    return undecided(f"on exact numbers no answer: {reason}")


def _so_in_floats(predicate: Callable[[Any], Any], case: Case, wanted: bool) -> bool:
    """Does the predicate say so of the floats next to the exact numbers?  No answer there is none."""
    instance = one_instance(batch_of(case.instance, case.k, case.p), 0)
    try:
        found = answer_height(predicate(instance))
        return found is not None and (found >= 0 if wanted else found < 0) and not instance._undefined
    except Exception:
        return False
