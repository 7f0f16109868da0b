"""Parametrised sets of which the normal suite runs a share: the other members go the same way, and are marked slow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

__all__ = ["others_slow"]


def others_slow(
    values: Iterable[Any], quick: Callable[[Any], bool], name: Callable[[Any], str] | None = None
) -> list[Any]:
    """The values as parameters (a tuple is several arguments), marked slow where they are not quick; ``name``: their ids."""

    def parameter(value: Any) -> Any:
        arguments = value if isinstance(value, tuple) else (value,)
        marks = () if quick(value) else (pytest.mark.slow,)
        return pytest.param(*arguments, marks=marks, id=None if name is None else name(value))

    return [parameter(value) for value in values]
