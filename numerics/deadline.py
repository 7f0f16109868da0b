"""A time after which work stops where it is: by an alarm in the main thread, by :func:`tick` in the loops elsewhere.

The end is a time of the wall clock (``time.time()``), so that it can be sent to another process.  :class:`OutOfTime` is no
``Exception``: nothing that handles errors takes it for one.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["OutOfTime", "is_over", "limited", "patient", "tick"]

_LOCAL = threading.local()
#: Seconds: an alarm is never set later than this (an endless time is asked for as infinity).
LONGEST = 1e8
#: Modules whose work is not broken off: those of coverage hold a lock that nobody would give back, and a package whose import
#: is broken off is there in part, and fails later.
UNBROKEN = frozenset(
    {"coverage.collector", "coverage.control", "importlib._bootstrap", "_frozen_importlib", "importlib"}
)
#: Entering and leaving a ``with`` is not broken off: gradients would stay off, or a precision changed, in all that follows.
#: (Only where it is short: those of the modules in WAITING wait for other processes or threads.)  Nor is what the interpreter
#: calls by itself, the end of an object and what Hypothesis does at each collection of garbage: an exception there is dropped.
CONTEXTS = frozenset({"__enter__", "__exit__", "__del__", "gc_callback"})
WAITING = ("concurrent", "multiprocessing", "subprocess", "threading", "joblib", "distributed")
#: Seconds until the alarm rings again; and where it was heard, in case that somebody drops every exception.
MOMENT, AGAIN = 1e-3, 1.0


class OutOfTime(BaseException):
    """The time that was given is over."""


def is_over() -> bool:
    """Has the end of an enclosing :func:`limited` passed?"""
    end = getattr(_LOCAL, "end", None)
    return end is not None and time.time() >= end


def tick() -> None:
    """Raise :class:`OutOfTime` where the end of an enclosing :func:`limited` has passed."""
    if is_over() and not getattr(_LOCAL, "patient", False):
        raise OutOfTime


@contextmanager
def patient() -> Iterator[None]:
    """No alarm rings inside the block: for code that must not be interrupted, and asks :func:`is_over` itself."""
    alarm = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    start, end = time.time(), getattr(_LOCAL, "end", None)
    _LOCAL.patient = True  # an alarm that rang just now is not heard, and not forgotten: its time is that of the end
    waiting = signal.setitimer(signal.ITIMER_REAL, 0)[0] if alarm else 0.0
    try:
        yield
    finally:
        _LOCAL.patient = False
        if alarm and (waiting or end is not None):
            left = waiting - (time.time() - start) if end is None else end - time.time()
            signal.setitimer(signal.ITIMER_REAL, min(LONGEST, max(1e-6, left)))


@contextmanager
def limited(end: float | None) -> Iterator[None]:
    """Work inside the block stops at ``end`` with :class:`OutOfTime`, which the caller of the block handles.

    An alarm that was set before (by a test runner, say) is set again afterwards.

    >>> import itertools
    >>> try:
    ...     with limited(time.time() + 0.01):
    ...         for _ in itertools.count():
    ...             pass
    ... except OutOfTime:
    ...     print("stopped")
    stopped
    """
    if end is None:
        yield
        return
    outer = getattr(_LOCAL, "end", None)
    _LOCAL.end = end if outer is None else min(end, outer)
    alarm = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    start = time.time()
    try:
        tick()
        if alarm:
            before = signal.signal(signal.SIGALRM, _ring)
            waiting, _ = signal.setitimer(signal.ITIMER_REAL, min(LONGEST, max(1e-6, _LOCAL.end - start)))
        try:
            yield
        finally:
            if alarm:  # nobody hears it from here on: an alarm between these lines would end the process
                signal.signal(signal.SIGALRM, signal.SIG_IGN)
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
                if waiting:
                    signal.setitimer(signal.ITIMER_REAL, max(1e-6, waiting - (time.time() - start)))
    finally:
        _LOCAL.end = outer


def _ring(number: int, frame: FrameType | None) -> None:
    """Stop the work, or ring again in a moment where what would be stopped is an import, coverage, or the edge of a ``with``."""
    if getattr(_LOCAL, "patient", False):
        return
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        edge = frame.f_code.co_name in CONTEXTS and module.split(".")[0] not in WAITING
        if edge or module in UNBROKEN:
            signal.setitimer(signal.ITIMER_REAL, MOMENT)
            return
        frame = frame.f_back
    signal.setitimer(signal.ITIMER_REAL, AGAIN)
    raise OutOfTime
