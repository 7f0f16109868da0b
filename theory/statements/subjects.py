"""What a statement speaks of that is no system: a head, a layer with its skip, a norm, rows of weights.

A system (:mod:`eigentoken.theory.systems.catalogue`) is an equation for all tokens at all times.  A bound on one head at given
tokens is about any model that has such a head: :class:`Subject` says what such a head must be, part by part, and
:meth:`Subject.differences` says in which part a layer is not that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from eigentoken.theory.statements.layer_systems import ANY, Difference, mask_in_words, positions_in_words

__all__ = ["BILINEAR", "Subject", "SubjectOfLayer"]

#: The scores that the statements about a head speak of.
BILINEAR = "scores (Q x_i + b_Q)^T (K x_j + b_K) / scale"


class SubjectOfLayer(Protocol):
    """What is read of a layer: the fields of that name of :class:`~eigentoken.theory.statements.layer_systems.LayerSystem`."""

    @property
    def mask(self) -> str: ...
    @property
    def positions(self) -> str: ...
    @property
    def scores(self) -> str: ...
    @property
    def weights(self) -> str: ...
    @property
    def values(self) -> str: ...
    @property
    def update(self) -> str: ...
    @property
    def norm(self) -> str: ...


@dataclass(frozen=True)
class Subject:
    """``what`` in words, and what is asked of it.

    ``masks`` and ``positions`` in the scores: :data:`ANY` or those that it covers.  ``bilinear``: its scores are a bilinear form
    of the tokens; ``rows``: its weights sum to 1; ``linear``: its values are linear in the token; ``added``: its update is added
    as it is; ``normed``: there is a norm.
    """

    what: str
    masks: tuple[str, ...] = (ANY,)
    positions: tuple[str, ...] = (ANY,)
    bilinear: bool = False
    rows: bool = True
    linear: bool = True
    added: bool = False
    normed: bool = False

    def differences(self, layer: SubjectOfLayer) -> tuple[Difference, ...]:
        """The parts in which the layer, or its heads, are not what the statement speaks of."""
        found = []
        if not {ANY, layer.mask} & set(self.masks):
            found.append(Difference("mask", " or ".join(map(mask_in_words, self.masks)), mask_in_words(layer.mask)))
        if not {ANY, layer.positions} & set(self.positions):
            said = " or ".join(map(positions_in_words, self.positions))
            found.append(Difference("positions", said, positions_in_words(layer.positions)))
        if self.bilinear and layer.scores:
            found.append(Difference("scores", BILINEAR, layer.scores))
        if self.rows and layer.weights:
            found.append(Difference("attention", "weights that sum to 1", layer.weights))
        if self.linear and layer.values:
            found.append(Difference("values", "values that are linear in the token", layer.values))
        if self.added and layer.update:
            found.append(Difference("normalisation", "an update that is added as it is", layer.update))
        if self.normed and layer.norm == "none":
            found.append(Difference("normalisation", "a norm", "no norm"))
        return tuple(found)
