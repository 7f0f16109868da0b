"""A second opinion that cannot hang: cvc5 answers in a process of its own, which ends when an attempt takes too long.

cvc5's time limit does not interrupt its algebraic decomposition, and how long that takes depends on the order of the
variables; so each attempt goes to a helper process with a fixed hash seed (the same question is the same question in
every run) and a limit of processor time, and the next attempt to another where the first gave no answer.  No answer to any
is ``undecided``; as the limit does not depend on what else the machine does, that is kept, too.
"""

from __future__ import annotations

import atexit
import math
import os
import pickle
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any, BinaryIO

import sympy as sp

from eigentoken.theory.language.verdicts import KeptAnswers, Verdict, undecided

__all__ = ["guarded_inequality"]

#: Processor time of one attempt, and how much longer than that an answer may take on a busy machine.
SECONDS, PATIENCE = 4.0, 15.0
#: What is not read by one attempt is not read by another.
OUTSIDE = "outside real arithmetic"
_LOCK = threading.Lock()
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
    """The answer of the first attempt that gives one."""
    from eigentoken.theory.proving.cvc5_inequalities import ATTEMPTS, hypotheses_near

    found = undecided(f"cvc5: no answer within {seconds:g} s")
    near = bool(hypotheses_near([sp.sympify(each) for each in hypotheses], sp.sympify(conclusion)))
    for number in (place for place, attempt in enumerate(ATTEMPTS) if near or not attempt.near):
        answer = _attempted((hypotheses, conclusion, number, seconds * ATTEMPTS[number].share))
        if answer is not None:
            found = answer
        if not found.is_undecided or OUTSIDE in found.reason:
            break
    return found


def _attempted(question: tuple[tuple[sp.Basic, ...], sp.Basic, int, float]) -> Verdict | None:
    """The answer of the helper process; ``None`` where it ended, or was ended, before it answered."""
    with _LOCK:
        helper = _helper()
        try:
            if helper.stdin is None or helper.stdout is None:
                raise OSError("the helper process has no pipes")
            _send(helper.stdin, question)
            ready, _, _ = select.select([helper.stdout], [], [], PATIENCE * question[-1])
            if ready:
                answer = _receive(helper.stdout)
                if isinstance(answer, Verdict):
                    return answer
        except (OSError, EOFError, pickle.PickleError):
            pass
        _stop()
    return None


def _helper() -> subprocess.Popen[bytes]:
    if _HELPER and _HELPER[0].poll() is None:
        return _HELPER[0]
    _HELPER.clear()
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "eigentoken.theory.proving.cvc5_process"]
    _HELPER.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment))
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
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def _receive(stream: Any) -> Any:
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError
    return pickle.loads(stream.read(struct.unpack("<Q", head)[0]))


def _serve(source: BinaryIO, target: BinaryIO) -> None:
    """Answer questions until the asker closes the pipe."""
    from eigentoken.theory.proving.cvc5_inequalities import ATTEMPTS, inequality_by_cvc5

    while True:
        try:
            hypotheses, conclusion, number, seconds = _receive(source)
        except EOFError:
            return
        _limit(seconds)
        _send(target, inequality_by_cvc5(hypotheses, conclusion, attempts=ATTEMPTS[number : number + 1]))


def _limit(seconds: float) -> None:
    """So much processor time from now on; the system ends the process after that."""
    try:
        import resource
    except ImportError:  # no such limit here: the asker's patience is one
        return
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + seconds), hard))


if __name__ == "__main__":
    _serve(sys.stdin.buffer, sys.stdout.buffer)
