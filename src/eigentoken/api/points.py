"""``et.classify``: one exact point of a system, given by keywords, an instance, a mapping or a file."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eigentoken.numerics.deadline import OutOfTime, limited
from eigentoken.theory.classification.classification import Classification
from eigentoken.theory.classification.classify import classify as classify_instance
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.systems.catalogue import system, systems
from eigentoken.theory.systems.system import System

__all__ = ["classify"]


def classify(
    point: str | Path | System | Instance | Mapping[str, Any],
    tokens: object = None,
    *,
    seconds: float = 600.0,
    **fields: Any,
) -> Classification:
    """The class, exact spectrum and stability of a point.

    ``point``: an :class:`Instance`, a mapping or JSON file with ``system``, the parameters and ``tokens``, or the name of a
    system with those as keywords.  Numbers are exact: a float, also in an array or tensor, is the decimal that Python
    prints for it; what is no decimal is written as a text, ``"1/3"``, ``"sqrt(2)/2"`` or ``"ln(3)"``.

    >>> found = classify("oja-map", tokens=[[1, 0], [1, 0]], V=[[1, 0], [0, "1/2"]], alpha="1/4")
    >>> found.kind, found.stable == "holds"
    ('consensus', True)
    """
    subject = instance_of(point, tokens, fields, "classify")
    try:
        with limited(time.time() + seconds):
            return classify_instance(subject)
    except OutOfTime:
        raise ValueError(f"not classified within {seconds:g} seconds: give more with seconds=") from None


def instance_of(
    point: object, tokens: object, fields: Mapping[str, object], name: str = "basin"
) -> str | Path | Instance | Mapping[str, Any]:
    """What was given as a point: an instance, a mapping, a file; fields go with the name of a system."""
    if tokens is not None or fields:
        if isinstance(point, Instance | Mapping) or not isinstance(point, str | System):
            given = next(iter(fields), "tokens")
            raise ValueError(f"{given}: fields go with the name of a system, got {type(point).__name__}")
        listed = _registered(point) if isinstance(point, System) else point
        return Instance.of(listed, tokens, **fields)
    if not isinstance(point, str | Path | System | Instance | Mapping):
        raise TypeError(
            f"point must be the name of a system, an Instance, a mapping or a file, got {type(point).__name__}"
        )
    if isinstance(point, System):
        raise ValueError(f"tokens are missing: {name}({point.name!r}, tokens=..., ...)")
    return point


def _registered(given: System) -> str:
    """The name under which a system is known, which is all that a document of a point keeps of it."""
    name = system(given).name
    if name not in systems():
        raise ValueError(f"{name} is not registered: a point names its system, so call et.register_system first")
    return name
