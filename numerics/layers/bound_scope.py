"""Of which layers the bounds at given tokens speak, and of which of those they can be certified here."""

from __future__ import annotations

from eigentoken.theory.statements.layer_systems import Difference, LayerSystem
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.subjects import Subject, subject_of

__all__ = ["BOUNDED", "differences"]

#: The statements with a bound at given tokens, in the order in which they are shown.
BOUNDED = (
    *("BD-D2", "BD-D3", "BD-R1", "BD-R1b", "BD-R4", "BD-M1", "BD-J2", "BD-N1"),
    *("BD-D2b", "BD-L1", "BD-T3"),  # weaker than BD-D2, BD-J2 and what is enclosed of a row: from lengths and norms
    *("BD-J3", "BD-D1", "BD-H2"),
)
#: Bounds that need the weights of every row, which are enclosed for these scores only.
AT_WEIGHTS = Subject("a head whose weights are enclosed", positions=("none", "rotary"), bilinear=True)
NEEDS_WEIGHTS = ("BD-D1", "BD-D2", "BD-D2b", "BD-M1", "BD-T3")
#: A bound whose blocks are enclosed for scores with one gradient a row only.
AT_BLOCKS = Subject("a head whose Jacobian is enclosed", positions=("none",), bilinear=True)


def differences(statement: str, layer: LayerSystem) -> tuple[Difference, ...]:
    """Why nothing is said of this layer; empty where the bound is about it and can be certified."""
    subject = subject_of(statements().get(statement).id)
    if subject is None:
        raise ValueError(f"{statement} has no declared subject: expected one of {', '.join(BOUNDED)}")
    found = subject.differences(layer)
    if statement in NEEDS_WEIGHTS:
        return found or AT_WEIGHTS.differences(layer)
    return found or (AT_BLOCKS.differences(layer) if statement == "BD-J3" else ())
