"""A time limit stops the work and leaves nothing changed behind: not whether gradients are kept, not a precision."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

import mpmath
import torch

from eigentoken.numerics.deadline import OutOfTime, limited

#: So often the alarm must have found the work in each of its parts.
ALARMS = 150


def test_an_alarm_never_leaves_a_context_half_entered_or_half_left() -> None:
    """Without care 43 of 400 alarms left gradients off, and 82 a precision of 100 bits, for all that followed."""
    inside = [0]

    @contextmanager
    def counted() -> Iterator[None]:
        inside[0] += 1
        try:
            yield
        finally:
            inside[0] -= 1

    bits = mpmath.mp.prec
    stopped = 0
    for _ in range(ALARMS):
        try:
            with limited(time.time() + 1e-3):
                while True:
                    with torch.no_grad(), mpmath.workprec(bits + 47), counted():
                        pass
        except OutOfTime:
            stopped += 1
        left = (torch.is_grad_enabled(), mpmath.mp.prec, inside[0])
        torch.set_grad_enabled(True)
        mpmath.mp.prec = bits
        assert left == (True, bits, 0)
    assert stopped == ALARMS


def test_waiting_for_other_processes_is_still_stopped() -> None:
    go = Event()
    pool = ThreadPoolExecutor(1)
    worker = pool.submit(go.wait, 30)
    try:
        with limited(time.time() + 0.05), pool:
            pass  # leaving the pool waits for its worker
    except OutOfTime:
        go.set()
    assert worker.result()
