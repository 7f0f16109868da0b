"""What ``explore`` puts together: conditions on the parameters and the start, and claims by topic, for one system.

A slot of conditions (value matrix, scores, start, step) gives one of its options or none; a claim belongs to topics that a user
names.  :func:`source_of` writes a word as a line of a conjecture file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from itertools import product
from typing import Any

import sympy as sp

from eigentoken.theory.language import observables, observables_of_spread
from eigentoken.theory.language.claims import (
    AlmostEveryConverges,
    Claim,
    Converges,
    Decreases,
    ForwardInvariant,
    Increases,
    Stable,
    Unstable,
)
from eigentoken.theory.language.conditions import (
    Condition,
    InHemisphere,
    IsIdentity,
    NegativeDefinite,
    PositiveDefinite,
    Relation,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.matrix_words import IsZero
from eigentoken.theory.language.observables import Observable, oja_potential
from eigentoken.theory.language.observables_of_spread import (
    interaction_energy,
    mean_square,
    smallest_entry,
    smallest_product,
    squared_diameter,
)
from eigentoken.theory.language.places import AntipodalAt, ConsensusAt, ConsensusSet, Hemisphere, SomeEquilibrium
from eigentoken.theory.language.regions import Acute, Orthant, StartsIn
from eigentoken.theory.language.terms import Eigenvalue, SmallestEntry, SpectralNorm, alpha, matrix
from eigentoken.theory.systems.system import Space, System, Time

__all__ = ["TOPICS", "claims_about", "condition_sets", "is_trivial", "source_of"]

#: What may be asked for, and in which words it is said.
TOPICS: dict[str, str] = {
    "consensus": "tokens agree: limits, stability, diameter",
    "energy": "quantities that grow or fall along trajectories",
    "hemisphere": "half spaces and angles that are kept",
    "orthant": "signs of coordinates that are kept",
    "clusters": "two antipodal groups, and limits that are not consensus",
}


def _value_conditions(V: Any) -> list[tuple[Condition, ...]]:
    return [
        (),
        (Symmetric(V),),
        (IsZero(V + V.T),),
        (PositiveDefinite(V),),
        (Relation(SmallestEntry(V) >= 0),),
        (Symmetric(V), PositiveDefinite(V)),
        (Symmetric(V), NegativeDefinite(V)),
        (Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0)),
        (IsIdentity(V),),
    ]


def _score_conditions(M: Any) -> list[tuple[Condition, ...]]:
    return [(), (Symmetric(M),), (PositiveDefinite(M),), (IsIdentity(M),), (IsZero(M),)]


def condition_sets(system: System) -> list[tuple[Condition, ...]]:
    """Every choice from the slots, fewest words first."""
    slots: list[list[tuple[Condition, ...]]] = []
    value = None if system.value is None else matrix(system.value)
    if value is not None:
        slots.append(_value_conditions(value))
    if system.score is not None and system.score not in (system.value, system.metric):
        slots.append(_score_conditions(matrix(system.score)))
    starts: list[tuple[Condition, ...]] = [(), (InHemisphere(),), (StartsIn(Acute()),), (StartsIn(Orthant()),)]
    if value is not None:
        starts.insert(2, (InHemisphere(value),))
    slots.append(starts)
    if system.time is Time.MAP and value is not None:
        slots.append([(), (Relation(alpha * SpectralNorm(value) < 1),)])
    found = [tuple(each for part in choice for each in part) for choice in product(*slots)]
    return sorted(found, key=lambda each: (len(each), str(each)))


def claims_about(system: System, topics: Sequence[str]) -> list[Claim]:
    """The claims of the topics that can be made of the system, each once."""
    unknown = [each for each in topics if each not in TOPICS]
    if unknown:
        raise ValueError(f"about must name topics ({', '.join(TOPICS)}), got {unknown[0]!r}")
    return list(dict.fromkeys(claim for topic in topics or TOPICS for claim in _claims(system, topic)))


def _claims(system: System, topic: str) -> Iterator[Claim]:
    curved = system.space is not Space.EUCLIDEAN
    value = None if system.value is None else matrix(system.value)
    if topic == "consensus":
        yield from (Decreases(squared_diameter), Increases(smallest_product), Increases(mean_square))
        if value is not None and curved:
            yield Stable(ConsensusAt(value, 1))
        yield from (AlmostEveryConverges(ConsensusSet()), Converges(ConsensusSet()))
    elif topic == "energy":
        yield Increases(mean_square)
        if system.score is not None:
            yield from (Increases(interaction_energy), Decreases(interaction_energy))
        if system.value == "V":
            yield Decreases(oja_potential)
    elif topic == "hemisphere":
        yield from (ForwardInvariant(Hemisphere()), ForwardInvariant(Acute()), Increases(smallest_product))
    elif topic == "orthant":
        yield from (ForwardInvariant(Orthant()), Increases(smallest_entry))
    elif topic == "clusters":
        if curved:
            yield Unstable(AntipodalAt())
        yield Converges(SomeEquilibrium())


def is_trivial(conditions: Sequence[Condition], claim: Claim) -> bool:
    """Does a condition make the claim empty: scores that are zero have one interaction energy at every state?"""
    energy = getattr(claim, "observable", None) is interaction_energy
    return energy and any(isinstance(each, IsZero) and isinstance(each.term, sp.MatrixSymbol) for each in conditions)


# --- as lines of a file ----------------------------------------------------------------------------------------------


def source_of(thing: Any) -> str:
    """A word as Python, in the names of ``eigentoken.lab``.

    >>> source_of(Stable(ConsensusAt(matrix("V"), 1)))
    'Stable(ConsensusAt(V))'
    """
    if isinstance(thing, Observable):
        homes = {**vars(observables), **vars(observables_of_spread)}
        return next(name for name, each in homes.items() if each is thing)
    if isinstance(thing, tuple):
        return f"({', '.join(map(source_of, thing))}{',' if len(thing) == 1 else ''})"
    if is_dataclass(thing):
        given: list[str] = []
        for each in fields(thing):
            value = getattr(thing, each.name)
            if each.default is MISSING or value != each.default:
                said = source_of(value)
                given.append(said if len(given) == fields(thing).index(each) else f"{each.name}={said}")
        return f"{type(thing).__name__}({', '.join(given)})"
    if isinstance(thing, sp.Rational) and not thing.is_Integer:
        return f"Rational({thing.p}, {thing.q})"
    return str(thing)
