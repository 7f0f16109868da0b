"""Free predicates: what a conjecture says of an instance where the language has no word yet.

A predicate is given one instance with its parameters and tokens as attributes, numpy arrays in the search and sympy matrices
of exact numbers when a counterexample is certified, and with ``n, d, k, p, q``, ``is_equilibrium()``, ``advance()`` (the next
state of a map, the velocity of a flow) and ``attention()``.  Only what it answers on exact numbers can refute.
"""

from __future__ import annotations

import hashlib
import importlib
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
import torch
from torch import Tensor

from eigentoken.numerics.deadline import OutOfTime, limited, tick
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.readings.certified_claims import classified
from eigentoken.numerics.readings.exact_values import Case
from eigentoken.numerics.readings.trajectories import problem_of
from eigentoken.theory.algebra import LoopAlgebra
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
]

REST = 1e-9
#: Seconds for one answer of a predicate on exact numbers: sympy can take for ever on large ones.
PATIENCE = 10.0


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


class ExactInstance(SimpleNamespace):
    """One instance for a free predicate: parameters and tokens as sympy matrices of exact numbers."""

    def advance(self) -> sp.Matrix:
        """The next state of a map, or the velocity of a flow, in exact numbers."""
        instance = self._case.instance
        moved = instance.system.advance(_SYMPY, instance.parameters, instance.tokens, instance.mask)
        return sp.Matrix([[sp.nsimplify(entry) if entry.is_Rational else entry for entry in row] for row in moved])

    def attention(self, head: int = 0) -> sp.Matrix:
        """The attention matrix of a head in exact numbers."""
        instance = self._case.instance
        score = instance.system.heads(instance.parameters)[head][1]
        return sp.Matrix(_SYMPY.attention(instance.tokens, score, instance.mask, instance.system.over_root_d))

    def is_equilibrium(self) -> bool:
        """Decided exactly; raises where it is not decided."""
        verdict = classified(self._case).equilibrium
        if verdict.is_undecided:
            raise ValueError(verdict.reason)
        return bool(verdict.is_holds)


_SYMPY = LoopAlgebra(sp.exp, sp.sqrt, sp.Integer(1))


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
    parameters = {
        name: [SimpleNamespace(**{part: sp.Matrix(rows) for part, rows in head.items()}) for head in value]
        if name == "heads"
        else sp.Matrix(value)
        if isinstance(value, tuple)
        else value
        for name, value in case.instance.parameters.items()
    }
    tokens = sp.Matrix([list(token) for token in case.instance.tokens])
    sizes = {"n": case.n, "d": case.d, "k": case.k, "p": case.p, "q": case.q}
    return ExactInstance(**parameters, tokens=tokens, **sizes, _case=case)


def call_predicate(conjecture: Conjecture, instance: Any) -> Any:
    """``holds_if(instance)``; what it raises is told with the line in the file."""
    from eigentoken.numerics.lab.conjectures import ConjectureError

    assert callable(conjecture.holds_if)
    try:
        return conjecture.holds_if(instance)
    except Exception as problem:
        frames = traceback.extract_tb(problem.__traceback__)
        file = conjecture.predicate_file or conjecture.file
        lines = [frame.lineno for frame in frames if frame.filename == file]
        said = f"{conjecture.name}: holds_if raised {type(problem).__name__}: {problem}"
        place = (file, lines[-1] or 1) if lines else (conjecture.file, conjecture.line or 1)
        raise ConjectureError(said, *place) from None


def predicate_violation(conjecture: Conjecture, batch: Batch) -> Tensor:
    """1 where the predicate is false, -1 where it is true."""
    answers = [-1.0 if bool(call_predicate(conjecture, one_instance(batch, b))) else 1.0 for b in range(batch.count)]
    return torch.tensor(answers, dtype=torch.float64)


def predicate_verdict(predicate: Callable[[Any], Any], case: Case) -> Verdict:
    """The free predicate on exact numbers: an exact answer counts, a float does not; it is given ``PATIENCE`` seconds."""
    try:
        with limited(time.time() + PATIENCE):
            answer = predicate(exact_instance(case))
    except OutOfTime:
        tick()  # raises where it was the time of the whole search that ended
        return undecided(f"the predicate gave no answer on these exact numbers in {PATIENCE:g} s")
    except Exception:
        return undecided("the predicate does not run on exact numbers (sympy matrices): it stays a float comparison")
    if answer is True or answer is sp.true:
        return holds("the predicate is true of the exact numbers")
    if answer is False or answer is sp.false:
        return fails("the predicate is false of the exact numbers")
    return undecided(f"the predicate gave {answer!r} on exact numbers")


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
