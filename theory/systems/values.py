"""The parameters of a system as values: numbers, vectors, matrices and lists of heads, taken from one arithmetic to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["mapped"]


def mapped(parameters: Mapping[str, Any], number: Callable[[Any], Any]) -> dict[str, Any]:
    """The parameters with ``number`` applied to each of their numbers; what is left out (``None``) stays so.

    >>> mapped({"alpha": 1, "b": (1, 2), "V": ((1, 0), (0, 3)), "heads": ({"F": ((4,),)},)}, float)
    {'alpha': 1.0, 'b': (1.0, 2.0), 'V': ((1.0, 0.0), (0.0, 3.0)), 'heads': [{'F': ((4.0,),)}]}
    """

    def value(given: Any) -> Any:
        if given is None:
            return None
        return tuple(value(entry) for entry in given) if isinstance(given, tuple | list) else number(given)

    return {
        name: [mapped(head, number) for head in given] if name == "heads" else value(given)
        for name, given in parameters.items()
    }
