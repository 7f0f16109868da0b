"""Free predicates: what a conjecture says of an instance where the language has no word yet.

A predicate is given one instance with its parameters and tokens as attributes, and with ``n, d, k, p, q``,
``is_equilibrium()``, ``advance()`` (the next state of a map, the velocity of a flow) and ``attention()``.  In the search these
are numpy arrays of floats.  To certify, it is run on numpy arrays of exact and enclosed numbers, whose comparisons are proved
or refused (:mod:`eigentoken.numerics.lab.decided_arrays`); a predicate that does not run on those is given sympy matrices.
Only what it answers there can refute, and only if it did not turn the exact numbers into floats.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
import torch
from torch import Tensor

from eigentoken.numerics.deadline import OutOfTime, limited, tick
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.lab.decided_arrays import decided_array
from eigentoken.numerics.lab.decided_numbers import DecidedNumber, NotDecided, decided
from eigentoken.numerics.readings.certified_claims import classified
from eigentoken.numerics.readings.exact_values import Case
from eigentoken.numerics.readings.trajectories import problem_of
from eigentoken.theory.algebra import LoopAlgebra
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.systems import Time
from eigentoken.theory.verdicts import Verdict, fails, holds, undecided

if TYPE_CHECKING:
    from eigentoken.numerics.lab.conjectures import Conjecture

__all__ = [
    "call_predicate",
    "predicate_home",
    "predicate_verdict",
    "predicate_violation",
    "resolved",
    "run_again",
    "stated_again",
    "told",
]

REST = 1e-9
#: Seconds for one answer of a predicate on exact numbers: sympy can take for ever on large ones.
PATIENCE = 10.0
#: Bits of the enclosures, in turn.
BITS = (128, 512)


class FloatInstance(SimpleNamespace):
    """One instance for a free predicate: parameters and tokens as numpy arrays."""

    def advance(self) -> Any:
        """The next state of a map, or the velocity of a flow."""
        batch: Batch = self._batch
        return problem_of(batch).advance(batch.tokens, 0.0)[0].numpy()

    def attention(self, head: int = 0) -> Any:
        """The attention matrix of a head, n x n."""
        batch: Batch = self._batch
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


class _OfCase(SimpleNamespace):
    """One exact instance for a free predicate, in the arithmetic of ``_algebra``."""

    def _moved(self) -> Any:
        return self._case.instance.system.advance(
            self._algebra, self._parameters, self._tokens, self._case.instance.mask
        )

    def _weights(self, head: int) -> Any:
        instance = self._case.instance
        score = instance.system.heads(self._parameters)[head][1]
        return self._algebra.attention(self._tokens, score, instance.mask, instance.system.over_root_d)

    def is_equilibrium(self) -> bool:
        """Decided exactly; raises where it is not decided."""
        verdict = classified(self._case).equilibrium
        if verdict.is_undecided:
            raise NotDecided(verdict.reason)
        return bool(verdict.is_holds)


class ExactInstance(_OfCase):
    """One instance for a free predicate: parameters and tokens as sympy matrices of exact numbers."""

    def advance(self) -> sp.Matrix:
        """The next state of a map, or the velocity of a flow, in exact numbers."""
        rows = self._moved()
        return sp.Matrix([[sp.nsimplify(entry) if entry.is_Rational else entry for entry in row] for row in rows])

    def attention(self, head: int = 0) -> sp.Matrix:
        """The attention matrix of a head in exact numbers."""
        return sp.Matrix(self._weights(head))


class DecidedInstance(_OfCase):
    """One instance for a free predicate: parameters and tokens as numpy arrays of decided numbers."""

    def advance(self) -> Any:
        """The next state of a map, or the velocity of a flow."""
        return decided_array(self._moved())

    def attention(self, head: int = 0) -> Any:
        """The attention matrix of a head."""
        return decided_array(self._weights(head))


_SYMPY = LoopAlgebra(sp.exp, sp.sqrt, sp.Integer(1))
_DECIDED = LoopAlgebra(lambda y: decided(y).exp(), lambda y: decided(y).sqrt(), decided(1))


def one_instance(batch: Batch, index: int) -> FloatInstance:
    """One instance of a batch with numpy arrays as attributes."""

    def plain(value: Any) -> Any:
        value = value(0.0) if callable(value) else value
        if isinstance(value, list):
            return [SimpleNamespace(**{name: plain(each) for name, each in head.items()}) for head in value]
        return value[index].numpy() if value.ndim > 1 else float(value[index])

    parameters = {name: plain(value) for name, value in batch.parameters.items()}
    tokens = batch.tokens[index].numpy()
    one = batch.take([index])
    return FloatInstance(**parameters, tokens=tokens, n=batch.n, d=batch.d, k=batch.k, p=batch.p, q=batch.q, _batch=one)


def exact_instance(case: Case) -> ExactInstance:
    """The exact instance with sympy matrices as attributes."""
    return ExactInstance(**_attributes(case, _SYMPY, sp.Matrix, sp.sympify))


def decided_instance(case: Case) -> DecidedInstance:
    """The exact instance with arrays of decided numbers as attributes, at the present precision of balls."""
    return DecidedInstance(**_attributes(case, _DECIDED, decided_array, decided))


def _attributes(case: Case, algebra: Any, matrix: Callable[[Any], Any], number: Callable[[Any], Any]) -> dict[str, Any]:
    """What an exact instance has, with matrices and numbers of one arithmetic, and rows of them for its formulas."""

    def rows(value: Any) -> Any:
        return tuple(rows(each) for each in value) if isinstance(value, tuple | list) else number(value)

    def shown(value: Any) -> Any:
        return matrix([list(row) for row in value]) if isinstance(value, tuple) else number(value)

    given = case.instance.parameters
    plain = {name: value for name, value in given.items() if name != "heads"}
    found: dict[str, Any] = {name: shown(value) for name, value in plain.items()}
    parameters: dict[str, Any] = {name: rows(value) for name, value in plain.items()}
    if "heads" in given:
        found["heads"] = [
            SimpleNamespace(**{part: shown(each) for part, each in head.items()}) for head in given["heads"]
        ]
        parameters["heads"] = tuple({part: rows(each) for part, each in head.items()} for head in given["heads"])
    return found | {
        "tokens": matrix([list(token) for token in case.instance.tokens]),
        "n": case.n,
        "d": case.d,
        "k": case.k,
        "p": case.p,
        "q": case.q,
        "_case": case,
        "_algebra": algebra,
        "_parameters": parameters,
        "_tokens": rows(case.instance.tokens),
    }


def call_predicate(conjecture: Conjecture, instance: Any) -> Any:
    """``holds_if(instance)``; what it raises is told with the line in the file."""
    assert callable(conjecture.holds_if)
    with told(conjecture, "holds_if", conjecture.predicate_file):
        return conjecture.holds_if(instance)


@contextmanager
def told(conjecture: Conjecture, what: str, file: str = "") -> Iterator[None]:
    """What the code of an author raises becomes one message, with the line in the file of the conjecture."""
    from eigentoken.numerics.lab.conjectures import ConjectureError

    try:
        yield
    except ConjectureError:
        raise
    except Exception as problem:
        frames = traceback.extract_tb(problem.__traceback__)
        home = file or conjecture.file
        lines = [frame.lineno for frame in frames if frame.filename == home]
        said = f"{conjecture.name}: {what} raised {type(problem).__name__}: {problem}"
        place = (home, lines[-1] or 1) if lines else (conjecture.file, conjecture.line or 1)
        raise ConjectureError(said, *place) from None


def predicate_violation(conjecture: Conjecture, batch: Batch) -> Tensor:
    """1 where the predicate is false, -1 where it is true."""
    answers = [-1.0 if bool(call_predicate(conjecture, one_instance(batch, b))) else 1.0 for b in range(batch.count)]
    return torch.tensor(answers, dtype=torch.float64)


def predicate_verdict(predicate: Callable[[Any], Any], case: Case) -> Verdict:
    """The free predicate on exact numbers: a proved answer counts, a float does not; it is given ``PATIENCE`` seconds.

    Where it is false of the exact numbers it must be false of their floats, too: a predicate that compares the form of two
    expressions instead of their values, or hides an error, gives no refutation.
    """
    try:
        with limited(time.time() + PATIENCE):
            proved = _on_decided_numbers(predicate, case)
            verdict = _on_sympy(predicate, case) if proved is None else proved
            if verdict.is_fails and _true_in_floats(predicate, case):
                return undecided("the predicate is false of the exact numbers, but true of the same numbers as floats")
            return verdict
    except OutOfTime:
        tick()  # raises where it was the time of the whole search that ended
        return undecided(f"the predicate gave no answer on these exact numbers in {PATIENCE:g} s")


def _on_decided_numbers(predicate: Callable[[Any], Any], case: Case) -> Verdict | None:
    """The answer on numbers whose comparisons are proved; ``None`` where it does not run on them, or one is left open."""
    for bits in BITS:
        before = NotDecided.made
        try:
            with precision(bits):
                answer = predicate(decided_instance(case))
                if isinstance(answer, np.ndarray) and answer.ndim == 0:
                    answer = answer.item()
                if not isinstance(answer, bool | np.bool_ | DecidedNumber):
                    return None
                said = bool(answer)
        except NotDecided:
            continue
        except Exception:
            return None
        if NotDecided.made != before:  # the predicate went on after a comparison that was left open
            continue
        how = "every comparison proved, in exact and ball arithmetic"
        return holds(f"the predicate is true of the exact numbers ({how})") if said else _false(how)
    return None


def _on_sympy(predicate: Callable[[Any], Any], case: Case) -> Verdict:
    """The answer on sympy matrices; one that was reached through floats is none."""
    try:
        with _conversions() as left:
            answer = predicate(exact_instance(case))
    except Exception:
        return undecided(
            "the predicate runs on no exact numbers (arrays of exact numbers, sympy matrices): it stays a float comparison"
        )
    if left:
        return undecided(f"the predicate {left[0]}")
    if answer is True or answer is sp.true:
        return holds("the predicate is true of the exact numbers (as sympy matrices)")
    if answer is False or answer is sp.false:
        return _false("as sympy matrices")
    return undecided(f"the predicate gave {answer!r} on exact numbers")


def _false(how: str) -> Verdict:
    return fails(f"the predicate is false of the exact numbers ({how})")


def _true_in_floats(predicate: Callable[[Any], Any], case: Case) -> bool:
    """Is the predicate true of the floats next to the exact numbers, or does it give no answer there?"""
    try:
        return bool(predicate(one_instance(batch_of(case.instance, case.k, case.p), 0)))
    except Exception:
        return True


@contextmanager
def _conversions() -> Iterator[list[str]]:
    """Notes where code outside sympy leaves exact numbers: what it does with them, and how it should be written.

    That is ``float(x)``, ``x.evalf()`` and ``sympy.N(x)``, and ``x == y`` that is false because the two are written otherwise,
    while their values may be equal: enclosures do not part them.
    """
    noted: list[str] = []
    floats = "turns exact numbers into floats: compare the numbers as they are"
    forms = "compares the form of expressions whose values may be equal: compare with a tolerance"

    def converting(original: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **options: Any) -> Any:
            if _from_outside({"N"}):
                noted.append(floats)
            return original(*args, **options)

        return called

    def comparing(original: Callable[..., Any]) -> Callable[..., Any]:
        def called(first: Any, second: Any) -> Any:
            same = original(first, second)
            if same is not True and _from_outside({"__ne__"}) and not _parted(first, second):
                noted.append(forms)
            return same

        return called

    owners: list[tuple[Any, str, Any]] = [(sp.Expr, "__eq__", comparing), (sp.Number, "__float__", converting)]
    owners += [(sp.Expr, name, converting) for name in ("__float__", "__complex__", "evalf", "n")]
    before = [(owner, name, owner.__dict__.get(name)) for owner, name, _ in owners]
    try:
        for owner, name, watching in owners:
            setattr(owner, name, watching(getattr(owner, name)))
        yield noted
    finally:
        for owner, name, own in before:
            if own is None:
                delattr(owner, name)
            else:
                setattr(owner, name, own)


def _from_outside(passed_on: set[str]) -> bool:
    """Does the call before the last come from code that is not sympy's, directly or through one of these functions?"""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_name in passed_on:
        frame = frame.f_back
    return not str(frame.f_globals.get("__name__", "")).startswith("sympy.")


def _parted(first: Any, second: Any) -> bool:
    """Do enclosures show that two numbers differ?  What is no number differs from one."""
    try:
        gap = sp.Add(first, -sp.sympify(second), evaluate=False)
    except (TypeError, AttributeError, sp.SympifyError):
        return True
    try:
        with precision(BITS[-1]):
            return bool(decided(gap) != 0)
    except NotDecided:
        return False


# --- where a predicate comes from, and running it again --------------------------------------------------------------


def resolved(text: str, beside: str) -> tuple[Callable[[Any], Any], str, str]:
    """The function that ``file.py:function`` or ``package.module:function`` names, with its file and name."""
    home, _, name = text.rpartition(":")
    if not home or not name.isidentifier():
        raise ValueError(f"holds_if must be a function or 'file.py:function', got {text!r}")
    if home.endswith(".py"):
        path = Path(home) if Path(home).is_absolute() else Path(beside).parent / home
        if not path.is_file():
            raise ValueError(f"holds_if: there is no file {path}")
        module = ModuleType(path.stem)
        module.__file__ = str(path)
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    else:
        module = importlib.import_module(home)
        path = Path(str(module.__file__))
    found = module.__dict__.get(name)
    if not callable(found):
        raise ValueError(f"holds_if: {path} has no function {name}")
    return found, str(path), name


def predicate_home(conjecture: Conjecture) -> dict[str, str]:
    """Where the predicate can be found again: file, sha256 of the file, and the function or the conjecture."""
    file = Path(conjecture.predicate_file or conjecture.file)
    if not file.is_file():
        return {}
    home = {"file": str(file), "sha256": _sha256(file), "conjecture": conjecture.name}
    return {**home, "function": conjecture.predicate_name} if conjecture.predicate_name else home


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def run_again(home: Any, case: Case, beside: Path | None = None) -> Verdict:
    """Run the predicate of a certificate again on its exact numbers: ``holds`` where it is false of them, as certified.

    This runs the code of the file, so the caller asks for it; a file that changed is not run.
    """
    file = _unchanged(home, beside)
    if isinstance(file, Verdict):
        return file
    from eigentoken.numerics.lab.conjectures import load

    if "function" in home:
        predicate, _, _ = resolved(f"{file}:{home['function']}", str(file))
    else:
        listed = {each.name: each for each in load(file)}
        found = listed[home["conjecture"]].holds_if if home["conjecture"] in listed else None
        if not callable(found):
            return undecided(f"{file} states no conjecture {home['conjecture']!r} with a predicate")
        predicate = found
    verdict = predicate_verdict(predicate, case)
    if verdict.is_undecided:
        return verdict
    if verdict.is_holds:
        return fails(f"the predicate of {file.name}, run again, is true of the exact numbers")
    return holds(f"the predicate of {file.name} (sha256 agrees), run again, is false of the exact numbers")


def stated_again(home: Any, statement: Any, beside: Path | None = None) -> Any:
    """The claim of a certificate whose observable is code of the conjecture's file: that file, if it is unchanged, is run.

    A claim of the language, or a verdict that says why there is none.
    """
    from eigentoken.numerics.lab.conjectures import load
    from eigentoken.numerics.lab.documents import encode

    file = _unchanged(home, beside)
    if isinstance(file, Verdict):
        return file
    listed = [each for each in load(file) if each.name == home["conjecture"]]
    found = next((claim for each in listed for claim in each.claims if encode(claim) == statement), None)
    return undecided(f"{file} makes no such claim in {home['conjecture']!r}") if found is None else found


def _unchanged(home: Any, beside: Path | None) -> Path | Verdict:
    """The file that a certificate names, where it is still the one that was run; otherwise why not."""
    if not home:
        return undecided("the predicate was not written in a file: it cannot be run again")
    file = Path(home["file"])
    if not file.is_file() and beside is not None:
        file = beside / file.name
    if not file.is_file():
        return undecided(f"the file of the predicate is not here: {home['file']}")
    if _sha256(file) != home["sha256"]:
        return undecided(f"{file} is not the file that was run: its sha256 differs")
    return file
