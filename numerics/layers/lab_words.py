"""Words of conjectures that no statement about trained weights uses yet, read on weights: undecided, with the reason.

A condition on each head is read head by head.
"""

from __future__ import annotations

from eigentoken.numerics.layers.symbol_values import SymbolValues
from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.matrix_words import EachHead, IsZero, Stochastic
from eigentoken.theory.language.readings import ASKED, ON_WEIGHTS
from eigentoken.theory.language.regions import StartsIn
from eigentoken.theory.language.verdicts import Verdict, all_of, undecided

__all__: list[str] = []


@ON_WEIGHTS.register(IsZero, Stochastic)
def on_weights_undecided(condition: Condition, environment: SymbolValues) -> Verdict:
    return undecided("an equality of entries of products of weights is not decided")


@ON_WEIGHTS.register(StartsIn)
def on_weights_starts_in(condition: StartsIn, environment: SymbolValues) -> None:
    return None


@ASKED.register(StartsIn)
def asked_starts_in(condition: StartsIn, weights: frozenset[str]) -> int:
    """Nothing: it is about the tokens."""
    return 0


@ON_WEIGHTS.register(EachHead)
def on_weights_each_head(condition: EachHead, environment: SymbolValues) -> Verdict | None:
    found = {
        f"head {index}": ON_WEIGHTS(condition.part, head)
        for index, head in enumerate(environment.heads or (environment,), 1)
    }
    known = {name: verdict for name, verdict in found.items() if verdict is not None}
    return all_of(known) if len(known) == len(found) else None
