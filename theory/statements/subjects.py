"""What a statement speaks of that is no system: a head, a layer with its skip, a norm, rows of weights.

A system (:mod:`eigentoken.theory.systems.catalogue`) is an equation for all tokens at all times.  A bound on one head at given
tokens is about any model that has such a head: :class:`Subject` says what such a head must be, part by part, and
:meth:`Subject.differences` says in which part a layer is not that.  The room of the statements declares them by id
(:func:`declare`); a statement whose subject is declared is read by it, and not by the systems that it names.
"""

from __future__ import annotations

from dataclasses import dataclass

from eigentoken.theory.statements.layer_systems import ANY, Difference, LayerSystem, mask_in_words, positions_in_words

__all__ = ["BILINEAR", "Subject", "declare", "subject_of"]

#: The scores that the statements about a head speak of.
BILINEAR = "scores (Q x_i + b_Q)^T (K x_j + b_K) / scale"


@dataclass(frozen=True)
class Subject:
    """``what`` in words, and what is asked of it.

    ``masks`` and ``positions`` in the scores: :data:`ANY` or those that it covers.  ``bilinear``: its scores are a bilinear form
    of the tokens; ``rows``: its weights sum to 1; ``linear``: its values are linear in the token; ``added``: its update is added
    as it is; ``normed``: there is a norm; ``plain``: attention reads the tokens themselves, not normed ones; ``identity``: the
    value matrix is I; ``one_head``: there is one head.  ``instead``: what it is about where that is no stored layer.
    ``asks``: conditions on weights that stand in its text only, so that nothing reads them; ``tokens``: what it asks of tokens.
    Both are LaTeX.
    """

    what: str
    masks: tuple[str, ...] = (ANY,)
    positions: tuple[str, ...] = (ANY,)
    bilinear: bool = False
    rows: bool = True
    linear: bool = True
    added: bool = False
    normed: bool = False
    plain: bool = False
    identity: bool = False
    one_head: bool = False
    instead: tuple[Difference, ...] = ()
    asks: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()

    def differences(self, layer: LayerSystem) -> tuple[Difference, ...]:
        """The parts in which the layer, or its heads, are not what the statement speaks of."""
        found = list(self.instead)
        if self.one_head and layer.acting != 1:
            found.append(Difference("heads", "one head", layer.heads_text))
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
        if self.plain and layer.placement == "pre" and layer.norm != "none":
            found.append(
                Difference("normalisation", "attention of the tokens themselves", "attention of normed tokens")
            )
        if self.identity and not layer.value_is_identity:
            found.append(Difference("values", "the value matrix I", "a value matrix O V other than I"))
        return tuple(found)


_SUBJECTS: dict[str, Subject] = {}


def declare(statement: str, subject: Subject) -> None:
    """What the statement of this id speaks of; twice only if it is the same."""
    if _SUBJECTS.setdefault(statement, subject) != subject:
        raise ValueError(f"subject of {statement}: declared already, as {_SUBJECTS[statement].what!r}")


def subject_of(statement: str) -> Subject | None:
    """What a statement speaks of, where that is no system."""
    return _SUBJECTS.get(statement)
