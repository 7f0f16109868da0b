"""What a certified region is: its kind, the rates from the starts within a radius, and the facts that imply them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from eigentoken.display import html_table, listing
from eigentoken.documents.basin_document import BasinDocument, Facts, HeadSubject, ObservedTokens, RegionDocument
from eigentoken.numerics.basins.decimals import text
from eigentoken.theory.language.reasons import RATE_UNITS, basin_reason

if TYPE_CHECKING:
    from eigentoken.theory.classification.instances import Instance

__all__ = ["Basin", "BasinRegion", "RegionRate"]

Kind = Literal["half-space", "ball", "cone", "ellipsoid"]
Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class RegionRate:
    """From every start within ``radius`` the measure shrinks by the factor ``rate`` a layer (map), or as ``exp(-rate t)``."""

    radius: Fraction
    rate: Fraction


@dataclass(frozen=True)
class BasinRegion:
    """A region of attraction of one equilibrium, certified: ``measure`` of a state shrinks at the stated rate.

    ``distance(tokens)`` is that measure in floats (infinite where a token is on the other side); ``rate(distance)`` the rate
    that is certified for starts that far away, ``None`` beyond the largest radius.
    """

    kind: Kind
    statement: str | None
    discrete: bool
    rates: tuple[RegionRate, ...]
    facts: Facts
    measure: Callable[[Floats], float] = field(compare=False, repr=False)

    @property
    def says(self) -> str:
        """The region and its measure in a sentence."""
        return basin_reason(self.kind)

    def distance(self, tokens: object) -> float:
        """The measure of a state (n rows of d numbers), in floats."""
        return self.measure(np.asarray(tokens, dtype=np.float64))

    def rate(self, distance: float) -> Fraction | None:
        """The rate of the smallest stated radius that is not below this distance."""
        return next((each.rate for each in self.rates if float(each.radius) >= distance), None)

    def as_dict(self) -> RegionDocument:
        return {
            "kind": self.kind,
            "statement": self.statement,
            "says": self.says,
            "unit": RATE_UNITS[self.discrete],
            "rates": [{"radius": text(each.radius), "rate": text(each.rate)} for each in self.rates],
            "facts": self.facts,
        }


@dataclass(frozen=True, repr=False)
class Basin:
    """Certified regions of attraction of one equilibrium: of an exact instance, or of the leading direction of a head."""

    regions: tuple[BasinRegion, ...]
    instance: Instance | None = None
    head: HeadSubject | None = None
    observed: ObservedTokens | None = None

    def as_dict(self) -> BasinDocument:
        """The JSON document (``eigentoken/basin/1``)."""
        return {
            "schema": "eigentoken/basin/1",
            "instance": None if self.instance is None else self.instance.as_dict(),
            "instance_sha256": None if self.instance is None else self.instance.digest(),
            "head": self.head,
            "regions": [each.as_dict() for each in self.regions],
            "observed": self.observed,
        }

    def _rows(self) -> list[tuple[str, str, str, str]]:
        return [
            (each.kind, each.statement or "contraction", text(rate.radius), text(rate.rate))
            for each in self.regions
            for rate in each.rates
        ]

    def __repr__(self) -> str:
        about = (
            f"{self.instance.system.name}, {self.instance.n} tokens in R^{self.instance.d}"
            if self.instance is not None
            else f"layer {self.head['layer']} head {self.head['head']}"
            if self.head is not None
            else ""
        )
        lines = [f"{kind} ({by}): radius {radius}, rate {rate}" for kind, by, radius, rate in self._rows()]
        return listing(f"<Basin of {about}: {len(self.regions)} regions>", lines)

    def _repr_html_(self) -> str:
        return html_table(("region", "by", "radius", "rate"), self._rows(), "certified basin")


def strictly_rated(
    radii: Sequence[Fraction], rate: Callable[[Fraction], Fraction | None], discrete: bool
) -> tuple[RegionRate, ...]:
    """The radii, small ones first, at which the formula gives a rate that says something."""
    found = []
    for radius in sorted(set(radii)):
        value = rate(radius)
        if value is not None and value > 0 and (not discrete or value < 1):
            found.append(RegionRate(radius, value))
    return tuple(found)


def facts_of(values: Mapping[str, Any]) -> Facts:
    """Numbers as texts, on the way into a document."""
    made: Any = {
        name: [text(each) for each in value]
        if isinstance(value, tuple)
        else text(value)
        if isinstance(value, Fraction)
        else value
        for name, value in values.items()
    }
    return made
