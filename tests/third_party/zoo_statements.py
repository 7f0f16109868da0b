"""Statements of another package about its own systems: ``check`` matches them with the layers of a model."""

from __future__ import annotations

from eigentoken.theory.language.claims import Equilibrium
from eigentoken.theory.language.conditions import Nonsingular, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement


def load() -> None:
    for number, (system, letter, title) in enumerate(
        (
            ("prenorm-heads-map", "F", "A pre-norm layer with a symmetric F"),
            ("prenorm-map", "V", "One pre-norm head with a symmetric V"),
            ("sigmoid-map", "V", "Sigmoid attention with a symmetric V"),
        ),
        start=1,
    ):
        value = matrix(letter)
        register(
            Statement(
                id=f"ZOO-{number}",
                kind=Kind.CONJECTURE,
                source=Source("zoo", f"{number}"),
                title=title,
                systems=(system,),
                conditions=(Symmetric(value), Nonsingular(value)),
                claims=(Equilibrium(ConsensusAt(value, 1)),),
            )
        )
