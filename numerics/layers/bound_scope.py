"""Of which layers the bounds at given tokens speak, and of which of those they can be certified here."""

from __future__ import annotations

from dataclasses import replace

from eigentoken.theory.statements.layer_systems import Difference
from eigentoken.theory.statements.subjects import Subject, SubjectOfLayer

__all__ = ["BOUNDED", "differences"]

_HEAD = Subject("a head")
#: What each bound at given tokens speaks of, in the order in which they are shown.
BOUNDED = {
    "BD-D2": Subject("an attention layer with its skip", added=True),
    "BD-D3": Subject("heads with any weights that sum to 1", added=True),
    "BD-R1": replace(_HEAD, masks=("full",), positions=("none",), bilinear=True),
    "BD-M1": replace(_HEAD, masks=("causal",)),
    "BD-J2": replace(_HEAD, positions=("none",), bilinear=True),
    "BD-N1": Subject("a norm", rows=False, linear=False, normed=True),
}
#: Bounds that need the weights of every row, which are enclosed for these scores only.
AT_WEIGHTS = replace(_HEAD, positions=("none", "rotary"), bilinear=True)
NEEDS_WEIGHTS = {"BD-D2", "BD-M1"}


def differences(statement: str, layer: SubjectOfLayer) -> tuple[Difference, ...]:
    """Why nothing is said of this layer; empty where the bound is about it and can be certified."""
    found = BOUNDED[statement].differences(layer)
    return found or (AT_WEIGHTS.differences(layer) if statement in NEEDS_WEIGHTS else ())
