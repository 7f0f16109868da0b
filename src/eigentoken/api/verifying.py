"""``et.verify``: everything that a statement carries, or that each of several carries."""

from __future__ import annotations

from typing import overload

from eigentoken.proofs.verify import PROPERTY_INSTANCES, Verified
from eigentoken.proofs.verify import verify as verify_one
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Statement

__all__ = ["verify"]


@overload
def verify(
    statement: Statement | str, *, instances: int = ..., second: bool = ..., seed: int = ..., printed: bool = ...
) -> Verified: ...


@overload
def verify(
    statement: list[str] | list[Statement] | tuple[Statement | str, ...],
    *,
    instances: int = ...,
    second: bool = ...,
    seed: int = ...,
    printed: bool = ...,
) -> list[Verified]: ...


def verify(
    statement: Statement | str | list[str] | list[Statement] | tuple[Statement | str, ...],
    *,
    instances: int = PROPERTY_INSTANCES,
    second: bool = True,
    seed: int = 0,
    printed: bool = False,
) -> Verified | list[Verified]:
    """Check everything that a statement, or the one of an id, carries; of a list, that of each.

    ``instances``: random instances for each property, from ``seed``; ``second`` re-checks with the second arithmetic;
    ``printed``: only what printing needs.  Every id of a list is looked up before the first is checked.

    >>> verify("PM-E9", instances=0) == "holds"
    True
    """
    if isinstance(statement, list | tuple):
        known = [each if isinstance(each, Statement) else statements().get(each) for each in statement]
        return [verify_one(each, instances=instances, second=second, seed=seed, printed=printed) for each in known]
    told = statement if isinstance(statement, Statement) else statements().get(statement)
    return verify_one(told, instances=instances, second=second, seed=seed, printed=printed)
