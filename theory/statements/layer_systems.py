"""The system of one attention layer, and whether a statement speaks of it.

A statement names the systems that it is about (:mod:`eigentoken.theory.systems.catalogue`); a layer of a model has a system too.
Attention, number of heads, mask, positions inside the scores and shared matrices must match (:func:`contains`), and of a system
that another package declares its parameters and a normalisation before the sublayer: where they do not, the
statement is not about the layer, and the :class:`Difference` says in which part.  What is left, map or flow, the place of the
normalisation, gains, biases, feed-forward, is an *idealisation* that a verdict may stand beside, named
(:func:`idealisations`) so that its size can be measured.

Positions that are added once, before the first layer, only choose the start: they are no part of a layer's system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from eigentoken.documents.check_document import Difference as DifferenceDocument
from eigentoken.documents.check_document import NormName, Part, PlacementName
from eigentoken.documents.check_document import System as SystemDocument
from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import Normalisation, System, Time

__all__ = [
    "ANY",
    "AsIfAnswer",
    "Covers",
    "Difference",
    "LayerAnswer",
    "LayerSystem",
    "Match",
    "contains",
    "idealisations",
    "mask_in_words",
    "positions_in_words",
]

#: Every mask, or every dependence of the scores on positions.
ANY = "any"


class LayerAnswer(StrEnum):
    """What is said of one statement and one layer.

    ``holds``: the layer is an instance of the statement's system up to the named idealisations, and all its conditions on
    weights are certified.  What asks nothing of the weights beyond being finite, or only that a matrix be invertible and it
    is, has words of its own: no such statement is counted among those that hold.  ``no condition on weights``: the statement
    lists none; what its text supposes in words is not read.
    """

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"
    NOT_ABOUT = "not about this model"
    ASKS_NOTHING = "asks nothing of the weights"
    ASKS_INVERTIBLE = "asks only invertibility"
    NO_CONDITION = "no condition on weights"


class AsIfAnswer(StrEnum):
    """What the conditions of a statement about one head say of a sum of heads, or of one head alone: no verdict on the layer."""

    MET = "met as if one head"
    NOT_MET = "not met as if one head"
    OPEN = "undecided as if one head"


@dataclass(frozen=True)
class Covers:
    """What the derivation of a statement covers beyond the systems that it names.

    ``masks`` and ``positions``: further masks (``causal``, ``full``) and positions inside the scores (``rotary``), or
    :data:`ANY`.  ``heads``: the conditions under which a statement about a system of one head is also about several heads,
    its value letter standing for ``F = sum_h F_h``; empty: always; ``None``: never.  ``replaced``: what the statement puts in
    the place of a part of its systems; a statement about a replaced part is about no stored layer.  ``example``: the particular
    matrices that the statement is about; its conditions say what they satisfy, and a layer that satisfies them too is another
    layer, of which nothing is said.
    """

    masks: tuple[str, ...] = ()
    positions: tuple[str, ...] = ()
    heads: tuple[Condition, ...] | None = None
    replaced: str = ""
    example: str = ""

    def describe(self) -> str:
        """What is covered beside the systems, in words; empty where nothing is.

        >>> Covers(masks=("causal",), heads=()).describe()
        'also with causal attention; with several heads'
        """
        found = []
        if self.masks:
            found.append(
                "also with " + " or ".join("any mask" if each == ANY else mask_in_words(each) for each in self.masks)
            )
        if self.positions:
            found.append(
                " or ".join(
                    "any positions in the scores" if e == ANY else positions_in_words(e) for e in self.positions
                )
            )
        if self.heads is not None:
            asked = ", ".join(LATEX(each) for each in self.heads)
            found.append("with several heads" + (f" if {asked}" if asked else ""))
        if self.replaced:
            found.append(f"with {self.replaced}")
        if self.example:
            found.append(f"for {self.example} alone")
        return "; ".join(found)


@dataclass(frozen=True)
class LayerSystem:
    """One attention layer ``u_i = sum_h U_h sum_j a^h_ij x_j`` as a system.

    ``acting`` counts the heads that act: heads with exactly the same scores count as one, and heads whose ``O V`` is
    exactly zero as none (both only where certified).  ``uniform``: one head acts and its scores are exactly zero.
    ``score_is_identity`` and ``value_is_identity``: one head acts and its P, or U, is exactly the identity.
    ``positions`` are those inside the scores; ``added_positions`` those added once before the layers.
    ``scores``, ``weights``, ``values`` and ``update`` say what the layer does beside ``x_i^T P x_j``, softmax, ``V x_j`` and
    adding the update as it is; empty where it does nothing else.
    """

    heads: int
    acting: int
    mask: str = "full"
    window: int | None = None
    positions: str = "none"
    added_positions: str = "none"
    key_value_heads: int = 1
    queries_are_keys: bool = False
    uniform: bool = False
    score_is_identity: bool = False
    value_is_identity: bool = False
    placement: PlacementName = "post"
    norm: NormName = "layernorm"
    gains_folded: bool = False
    scores: str = ""
    weights: str = ""
    values: str = ""
    update: str = ""

    @property
    def heads_text(self) -> str:
        """``8 heads``, or how many of them act."""
        if self.acting == 0:
            return f"{_count(self.heads, 'head')}, none of which acts (every O V is exactly zero)"
        if self.acting == self.heads:
            return _count(self.heads, "head")
        return f"{_count(self.heads, 'head')} that act as {self.acting} (equal scores, or O V exactly zero)"

    @property
    def mask_text(self) -> str:
        return mask_in_words(self.mask) + (f" of {self.window}" if self.window is not None else "")

    def describe(self) -> str:
        """One line: what is matched with the systems of the statements."""
        shared = (
            f", {_count(self.key_value_heads, 'key-value head')}" if self.key_value_heads not in (1, self.heads) else ""
        )
        added = (
            f" ({self.added_positions} positions are added once, before the layers)"
            if self.added_positions != "none"
            else ""
        )
        scores = ", uniform weights" if self.uniform else ""
        beside = "".join(f", {each}" for each in (self.scores, self.weights, self.values, self.update) if each)
        return (
            f"{self.heads_text}{shared}, {self.mask_text}, {positions_in_words(self.positions)}{added}{scores}{beside}"
        )

    def as_dict(self) -> SystemDocument:
        return {
            "heads": self.heads,
            "acting": self.acting,
            "mask": self.mask,
            "window": self.window,
            "positions": self.positions,
            "added_positions": self.added_positions,
            "key_value_heads": self.key_value_heads,
            "queries_are_keys": self.queries_are_keys,
            "uniform": self.uniform,
            "score_is_identity": self.score_is_identity,
            "value_is_identity": self.value_is_identity,
            "placement": self.placement,
            "norm": self.norm,
            "gains_folded": self.gains_folded,
            "scores": self.scores,
            "weights": self.weights,
            "values": self.values,
            "update": self.update,
            "says": self.describe(),
        }


@dataclass(frozen=True)
class Difference:
    """The part in which a statement's system does not contain the layer's, and what each of them has there."""

    part: Part
    statement: str
    layer: str

    def __str__(self) -> str:
        return f"{self.statement}; this layer has {self.layer}"

    def as_dict(self) -> DifferenceDocument:
        return {"part": self.part, "statement": self.statement, "layer": self.layer}


@dataclass(frozen=True)
class Match:
    """One system of a statement beside a layer: about it where nothing differs and ``needs`` (of the heads) hold."""

    system: System
    differences: tuple[Difference, ...] = ()
    needs: tuple[Condition, ...] = ()

    @property
    def only_heads(self) -> bool:
        """Would it be about the layer if its heads were one head?"""
        return {each.part for each in self.differences} == {"heads"}


def contains(listed: System, covers: Covers, layer: LayerSystem) -> Match:
    """Does the system, with what the derivation covers beside it, contain the layer's?

    >>> one = LayerSystem(heads=1, acting=1)
    >>> contains(system("attention-flow"), Covers(), one).differences
    ()
    >>> print(contains(system("attention-flow"), Covers(), LayerSystem(heads=12, acting=12)).differences[0])
    one head; this layer has 12 heads
    """
    found: list[Difference] = []
    needs: tuple[Condition, ...] = ()
    if layer.acting == 0:
        found.append(Difference("heads", "a head that acts", layer.heads_text))
    elif layer.acting > 1 and not listed.multihead:
        if covers.heads is None:
            found.append(Difference("heads", "one head", layer.heads_text))
        else:
            needs = covers.heads
    masks = {listed.mask, *covers.masks}
    if not masks & {ANY, layer.mask}:
        found.append(Difference("mask", " or ".join(map(mask_in_words, sorted(masks))), layer.mask_text))
    positions = {listed.positions, *covers.positions}
    if not positions & {ANY, layer.positions}:
        found.append(
            Difference(
                "positions",
                " or ".join(map(positions_in_words, sorted(positions))),
                positions_in_words(layer.positions),
            )
        )
    if listed.attention == "uniform" and not layer.uniform:
        found.append(Difference("scores", "uniform weights 1/n", "weights that depend on scores"))
    if listed.metric is not None and listed.metric == listed.score and not layer.score_is_identity:
        found.append(
            Difference("metric", "the score matrix as its metric", "the metric I and a score matrix other than I")
        )
    if listed.value is None and not layer.value_is_identity:
        found.append(Difference("values", "the value matrix I", "a value matrix O V other than I"))
    found += _beside_attention(layer)
    found += _of_others(listed, layer)
    if covers.replaced:
        found.append(Difference("map", covers.replaced, "the map of its system"))
    if covers.example:
        found.append(Difference("matrices", covers.example, "matrices of its own"))
    return Match(listed, tuple(found), needs)


def _beside_attention(layer: LayerSystem) -> list[Difference]:
    """What a layer does that is in no system: no derivation covers it, whatever else it covers."""
    has = (
        Difference("scores", "scores x_i^T P x_j", layer.scores),
        Difference("attention", "weights that sum to 1", layer.weights),
        Difference("values", "values that are linear in the token", layer.values),
        Difference("normalisation", "an update that is added as it is", layer.update),
    )
    return [each for each in has if each.layer]


def _of_others(listed: System, layer: LayerSystem) -> list[Difference]:
    """What a system of another package may have and the papers' systems have not; a stored layer is a residual softmax layer."""
    found = []
    if listed.attention not in {"softmax", "uniform"}:
        found.append(Difference("attention", f"{listed.attention} attention", "softmax attention"))
    for each in listed.further:
        if each.required:
            found.append(Difference("parameters", f"the parameter {each.name} ({each.meaning})", "no such parameter"))
    if listed.writes_step:
        found.append(Difference("step", "a step of its own", "the step x + u of a residual layer"))
    if listed.normalisation is Normalisation.BEFORE and layer.placement != "pre":
        found.append(
            Difference("normalisation", "a normalisation before the sublayer", f"{layer.placement}-normalisation")
        )
    return found


def matches(systems: Sequence[str], covers: Covers, layer: LayerSystem) -> list[Match]:
    """Every system of a statement beside the layer, those that contain it first, then by how little differs."""
    found = [contains(system(name), covers, layer) for name in systems]
    return sorted(found, key=lambda each: (len(each.differences), bool(each.needs)))


def idealisations(listed: System, layer: LayerSystem) -> tuple[str, ...]:
    """What a verdict about the layer leaves out, by name (:data:`IDEALISATIONS` says each)."""
    if listed.normalisation is Normalisation.BEFORE:
        names = [*(["step"] if listed.time is Time.FLOW else []), "unit tokens"]
    else:
        names = ["step"] if listed.time is Time.FLOW else ["step of a map"] if layer.placement == "pre" else []
        names.append("no normalisation" if listed.normalisation is Normalisation.NONE else "normalisation")
    names += ["centring"] if layer.norm == "layernorm" and listed.normalisation is not Normalisation.NONE else []
    names += ["weights over root d"] if listed.over_root_d else []
    names += [] if layer.gains_folded or layer.norm == "none" else ["gains"]
    return (*names, "biases", "feed-forward")


#: What each idealisation replaces, and the ratio that is its size.
IDEALISATIONS: dict[str, str] = {
    "step": "a flow; a layer is one step of attention update / state",
    "step of a map": "alpha = 1; in a pre-norm layer alpha is normed state / state",
    "normalisation": "tokens on a sphere or ellipsoid; spread of their lengths / mean",
    "unit tokens": "the sublayer sees tokens of length 1; a layer's norm gives them length",
    "centring": "no mean is subtracted; what that changes of F / F",
    "no normalisation": "none; what the norm, without gains, changes / state",
    "weights over root d": "they sum to 1/sqrt(d); a layer moves faster by",
    "gains": "even norm gains; what uneven ones change / update",
    "biases": "none in the attention; what they add / update",
    "feed-forward": "none; its update / attention update",
}


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def mask_in_words(kind: str) -> str:
    words = {
        "full": "full attention",
        "causal": "causal attention",
        "local": "causal attention in a window",
        "near": "full attention to a distance",
    }
    return words.get(kind, f"{kind} mask")


def positions_in_words(kind: str) -> str:
    return "no positions in the scores" if kind == "none" else f"{kind} positions in the scores"
