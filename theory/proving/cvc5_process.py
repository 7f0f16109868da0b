"""A second opinion that cannot hang: cvc5 answers in a process of its own, which ends when an attempt takes too long.

cvc5's time limit does not interrupt its algebraic decomposition, and how long that takes depends on the order of the
variables; so each attempt goes to a copy of a helper process, with a fixed hash seed (the same question is the same question in
every run) and a limit of processor time, and the next attempt to another copy where the first gave no answer.  Questions and
answers are numbered.  No answer to any is ``undecided``; as the limit does not depend on what else the machine does, that is
kept, too.
"""

from __future__ import annotations

import atexit
import hashlib
import itertools
import json
import math
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import sympy as sp

from eigentoken.theory.language.verdicts import KeptAnswers, Verdict, undecided

__all__ = ["Hint", "best_attempts", "guarded_inequality", "name_of"]

#: Hypotheses, conclusion, the number of the attempt, seconds.
Question = tuple[tuple[sp.Basic, ...], sp.Basic, int, float]
#: Processor time of one attempt, and how much longer than that an answer may take on a busy machine.
SECONDS, PATIENCE = 4.0, 15.0
#: So many times as long for an attempt that is known to answer.
KNOWN = 2
#: What is not read by one attempt is not read by another.
OUTSIDE = "outside real arithmetic"
BEST = Path(__file__).with_name("best_attempts.json")


class Hint(NamedTuple):
    """The attempt that answered a question soonest, and the places of the hypotheses from which it did: none for all."""

    attempt: int
    enough: tuple[int, ...] = ()


#: The hint of a question that no attempt answered: the long ones are not tried again in vain.
UNANSWERED, NO_HINT = -1, -2
_LOCK = threading.Lock()
_NUMBERS = itertools.count()
_HELPER: list[subprocess.Popen[bytes]] = []
#: apart from what the first solver keeps: a second opinion is never the first one's answer
_KEPT = KeptAnswers(undecided=True)


def guarded_inequality(hypotheses: Sequence[sp.Basic], conclusion: sp.Basic, seconds: float = SECONDS) -> Verdict:
    """:func:`~eigentoken.theory.proving.cvc5_inequalities.inequality_by_cvc5`, with a limit that holds.

    So much processor time for each long attempt.

    >>> import sympy as sp
    >>> x = sp.Symbol("x", real=True)
    >>> guarded_inequality([x > 1], x**2 > x).answer.value
    'holds'
    """
    stated = tuple(hypotheses)
    return _KEPT.answer((stated, conclusion, seconds), lambda: _asked(stated, conclusion, seconds))


def _asked(hypotheses: tuple[sp.Basic, ...], conclusion: sp.Basic, seconds: float) -> Verdict:
    """The answer of the first attempt that gives one, beginning with the one that gave it before.

    Where none did, the short ones are asked.
    """
    from eigentoken.theory.proving.cvc5_inequalities import ATTEMPTS, hypotheses_near

    found = undecided(f"cvc5: no answer within {seconds:g} s")
    near = bool(hypotheses_near([sp.sympify(each) for each in hypotheses], sp.sympify(conclusion)))
    numbers = [place for place, attempt in enumerate(ATTEMPTS) if near or not attempt.near]
    best, enough = best_attempts().get(name_of(hypotheses, conclusion), Hint(NO_HINT))
    few = tuple(hypotheses[place] for place in enough if 0 <= place < len(hypotheses))
    if few and best in numbers:  # what follows from some of them follows from all; nothing else is learnt from some
        answer = _attempted((few, conclusion, best, KNOWN * seconds * ATTEMPTS[best].share))
        if answer is not None and answer.is_holds:
            return answer
    if best == UNANSWERED:
        numbers = [place for place in numbers if not ATTEMPTS[place].long]
        found = undecided("cvc5: no answer to a short question, and none to a long one when the hints were made")
    for number in sorted(numbers, key=lambda place: place != best):
        longer = (
            KNOWN if number == best else 1
        )  # on a slower machine it still answers, where the others would be asked in vain
        answer = _attempted((hypotheses, conclusion, number, longer * seconds * ATTEMPTS[number].share))
        if answer is not None:
            found = answer
        if not found.is_undecided or OUTSIDE in found.reason:
            break
    return found


def name_of(hypotheses: tuple[sp.Basic, ...], conclusion: sp.Basic) -> str:
    """A short name of a question, by which it is found again."""
    return hashlib.sha256(str((hypotheses, conclusion)).encode()).hexdigest()[:16]


@cache
def best_attempts() -> dict[str, Hint]:
    """The attempt that answered a question of the book when ``tools/second_opinions.py`` asked: it is tried first.

    It may have answered from a few of the hypotheses.  Where it gives no answer the others are asked in their order.  A question
    that none answered then (``UNANSWERED``) is asked briefly, and stays undecided: no ``holds`` or ``fails`` depends on a hint.
    """
    try:
        read = json.loads(BEST.read_text(encoding="utf-8")).items()
        return {str(name): Hint(int(number), tuple(map(int, enough))) for name, (number, *enough) in read}
    except (OSError, ValueError, TypeError, AttributeError):  # no hints
        return {}


def _attempted(question: Question) -> Verdict | None:
    """The answer of the helper process; ``None`` where it ended, or was ended, before it answered."""
    with _LOCK:
        helper, asked = _helper(), next(_NUMBERS)
        try:
            if helper.stdin is None or helper.stdout is None:
                raise OSError("the helper process has no pipes")
            _send(helper.stdin, (asked, *question))
            while select.select([helper.stdout], [], [], PATIENCE * question[-1])[0]:
                answer = _receive(helper.stdout)
                if answer is None:  # its time was over
                    return None
                number, verdict = answer
                if number == asked and isinstance(verdict, Verdict):  # never the late answer to another question
                    return verdict
        except (OSError, EOFError, pickle.PickleError, TypeError, ValueError):
            pass
        _stop()
    return None


def _helper() -> subprocess.Popen[bytes]:
    if _HELPER and _HELPER[0].poll() is None:
        return _HELPER[0]
    _HELPER.clear()
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "eigentoken.theory.proving.cvc5_process"]
    # without buffers, which a wait for input does not see
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, bufsize=0)
    _HELPER.append(started)
    return _HELPER[0]


@atexit.register
def _stop() -> None:
    for helper in _HELPER:
        helper.kill()
        for stream in (helper.stdin, helper.stdout):
            if stream is not None:
                stream.close()
        helper.wait()
    _HELPER.clear()


def _send(stream: Any, message: Any) -> None:
    data = pickle.dumps(message)
    left = memoryview(struct.pack("<Q", len(data)) + data)
    while left:
        left = left[stream.write(left) :]
    stream.flush()


def _receive(stream: Any) -> Any:
    return pickle.loads(_bytes(stream, struct.unpack("<Q", _bytes(stream, 8))[0]))


def _bytes(stream: Any, count: int) -> bytes:
    found = b""
    while len(found) < count:
        more = stream.read(count - len(found))
        if not more:
            raise EOFError
        found += more
    return found


def _serve(source: BinaryIO, target: BinaryIO) -> None:
    """Answer questions until the asker closes the pipe."""
    from eigentoken.theory.proving.cvc5_inequalities import ATTEMPTS, inequality_by_cvc5

    last: Any = None
    begun: dict[Any, Any] = {}
    while True:
        try:
            asked, hypotheses, conclusion, number, seconds = _receive(source)
        except EOFError:
            return
        _limit(seconds)
        if (hypotheses, conclusion) != last:
            last, begun = (hypotheses, conclusion), {}
        attempts = ATTEMPTS[number : number + 1]
        _send(target, (asked, inequality_by_cvc5(hypotheses, conclusion, attempts=attempts, begun=begun)))


def _serve_always(source: BinaryIO, target: BinaryIO) -> None:
    """Answer in a copy of this process, which has the libraries loaded.

    Where its time ends the copy, it is said that nobody answered, and the next copy begins.
    """
    import cvc5  # noqa: F401

    import eigentoken.theory.proving.cvc5_inequalities  # noqa: F401

    while True:
        copy = os.fork()
        if not copy:
            _serve(source, target)
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]) == 0:  # the asker closed the pipe
            return
        _send(target, None)


def _limit(seconds: float) -> None:
    """So much processor time from now on; the system ends the process after that."""
    try:
        import resource
    except ImportError:  # no such limit here: the asker's patience is one
        return
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + seconds), hard))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interruption is the asker's, who closes the pipe
    (_serve_always if hasattr(os, "fork") else _serve)(sys.stdin.buffer, sys.stdout.buffer)
