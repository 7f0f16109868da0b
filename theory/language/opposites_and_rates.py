"""Two claims more: the opposite of a claim about a point or state, and an observable that decays at a rate.

``Exists`` is refused with what to say instead: no single instance refutes that something exists, but one instance shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import sympy as sp

from eigentoken.theory.language.claims import (
    AttentionRank,
    Claim,
    Equilibrium,
    LyapunovStable,
    Nonnegative,
    SpectrumIs,
    Stable,
    TwoCycle,
    Unstable,
    Vanishes,
)
from eigentoken.theory.language.conditions import misplaced
from eigentoken.theory.language.observables import Observable
from eigentoken.theory.language.readings import LATEX, word
from eigentoken.theory.printing.scalars import scalar_latex

__all__ = ["Decays", "Exists", "Fails"]

#: Claims that are decided at one point or state, so that an instance can show their opposite to be false.
_OF_ONE_STATE = (
    Equilibrium, TwoCycle, Stable, Unstable, LyapunovStable, SpectrumIs, AttentionRank, Vanishes, Nonnegative,
)  # fmt: skip


@word
@dataclass(frozen=True)
class Fails(Claim):
    """The claim is false of every instance: a counterexample is an instance of which it is certified."""

    claim: Claim

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.claim, _OF_ONE_STATE):
            expected = "a claim that one state decides (Stable, Equilibrium, Nonnegative, ...): what all trajectories do is not"
            raise misplaced(self, "claim", self.claim, expected)


@word
@dataclass(frozen=True)
class Decays(Claim):
    """``E' <= -c E`` along the flow, ``E(x+) <= (1 - c) E(x)`` over a layer: an observable falls at the rate c at least."""

    observable: Observable
    rate: sp.Expr | int


def Exists(*_: object, **__: object) -> NoReturn:
    """Refused: a search over instances cannot refute that something exists, it can only find it."""
    raise TypeError(
        "Exists: no instance refutes that something exists. State that it never happens, Fails(claim): a certified "
        "counterexample to that is the example"
    )


@LATEX.register(Fails)
def latex_fails(claim: Fails) -> str:
    return rf"\text{{never: }} {LATEX(claim.claim)}"


@LATEX.register(Decays)
def latex_decays(claim: Decays) -> str:
    return rf"{claim.observable.latex} \text{{ decays at the rate }} {scalar_latex(sp.sympify(claim.rate))}"
