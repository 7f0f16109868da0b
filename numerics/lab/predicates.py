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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from eigentoken.numerics.author_code.decided_numbers import REFUSALS, NotDecided
from eigentoken.numerics.author_code.source import NoSource, exact_version
from eigentoken.numerics.deadline import OutOfTime, limited, tick
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.lab.answers import answer_height, named, proved_answer
from eigentoken.numerics.lab.predicate_instances import FloatInstance, UndefinedState, decided_instance, one_instance
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.language.verdicts import Verdict, undecided

if TYPE_CHECKING:
    from eigentoken.numerics.lab.conjectures import Conjecture

__all__ = [
    "call_predicate",
    "predicate_verdict",
    "predicate_violation",
    "premise_height",
    "premise_verdict",
    "told",
]

#: Seconds for one answer of a predicate on exact numbers.
PATIENCE = 10.0
#: Bits of the enclosures, in turn.
BITS = (128, 512)
PROVED = "every comparison proved, in exact and ball arithmetic"


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
        if (
            "Boolean value of Tensor" in said
        ):  # max, min or a comparison in an observable, which is asked of many states at once
            said = (
                f"{conjecture.name}: {what} compares numbers: use largest(scalars, values) or smallest(scalars, values)"
            )
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
