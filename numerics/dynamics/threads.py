"""How many threads torch uses: one for small states, where handing work around costs more than the work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["torch_threads"]


@contextmanager
def torch_threads(small: bool) -> Iterator[None]:
    """Within the block torch runs on one thread if ``small``, else as before; gradients are off."""
    before = torch.get_num_threads()
    try:
        if small and before != 1:
            torch.set_num_threads(1)
        with torch.no_grad():
            yield
    finally:
        if torch.get_num_threads() != before:
            torch.set_num_threads(before)
