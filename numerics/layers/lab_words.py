"""Words of conjectures, read on weights: whether a matrix or a sum of them is zero, and what is asked of each head."""

from __future__ import annotations

import sympy as sp

from eigentoken.numerics.certified.rounding import down
from eigentoken.numerics.layers.symbol_values import NotBound, SymbolValues, printed
from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.matrix_words import EachHead, IsZero, Stochastic
from eigentoken.theory.language.readings import ASKED, ON_WEIGHTS
from eigentoken.theory.language.regions import StartsIn
from eigentoken.theory.language.verdicts import Verdict, all_of, fails, holds, undecided

__all__: list[str] = []


@ON_WEIGHTS.register(IsZero)
def on_weights_is_zero(condition: IsZero, environment: SymbolValues) -> Verdict:
    """By the norm: above zero it fails, and of a sum of k letters one has to move by a k-th of it."""
    term = condition.term
    try:
        low, high = environment.norm(term)
        whole = environment.whole(term) if low == 0.0 else None  # of a head, its letters alone
    except NotBound as problem:
        return undecided(str(problem))
    if whole is not None:
        exact = None if whole.slack else whole.exact
        if high == 0.0 or (exact is not None and exact.is_zero()):
            return holds(f"{printed(term)} is zero, exactly")
        return undecided(f"the norm of {printed(term)} is not certainly above zero")
    parts = term.args if isinstance(term, sp.MatAdd) else (term,)
    linear = all(isinstance(each, sp.MatrixSymbol | sp.Transpose) for each in parts)
    said = f"the norm of {printed(term)} is at least {low:.3g}"
    return fails(said, margin=down(low / len(parts)), unit="spectral norm") if linear else fails(said)


@ON_WEIGHTS.register(Stochastic)
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
