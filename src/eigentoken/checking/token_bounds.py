"""Certified bounds at the tokens of one sequence, layer by layer: made for the document, and as a reader sees them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from eigentoken.checking.own_states import OwnStates
    from eigentoken.checking.report import Report
    from eigentoken.documents.check_document import LayerBounds, LayerRecord, NotBounded, TokenBound
    from eigentoken.models.convention.head_and_layer import Layer
    from eigentoken.models.loading.model import Model
    from eigentoken.numerics.layers.symbol_values import Answers
    from eigentoken.numerics.layers.token_bounds import LayerAtTokens

__all__ = [
    "COLUMNS",
    "OF_WEIGHTS",
    "QUANTITIES",
    "SAYS",
    "BoundSummary",
    "bounds_at_tokens",
    "bounds_html",
    "layers_at_tokens",
    "not_about",
    "summaries",
    "with_margins",
]

#: What is bounded, in the words of the sheet.
QUANTITIES = {
    "BD-D2": "diversity of the attention's update over that of the tokens",
    "BD-D3": "the same for any attention weights: diversity of the update over that of the tokens",
    "BD-R1": "diameter of what a head puts out over that of its values",
    "BD-R1b": "diameter of what a head puts out over that of the tokens, from norms alone",
    "BD-R4": "change of the diameter across the attention layer over the diameter, from norms alone",
    "BD-M1": "diameter of what a causal head puts out over that of its values",
    "BD-J2": "norm of a head's Jacobian",
    "BD-N1": "length of what the attention norm puts out",
    "BD-D2b": "diversity of the attention's update over that of the tokens, from norms",
    "BD-L1": "norm of a head's Jacobian, from norms and the largest length of a token",
    "BD-T3": "largest attention weight of a row with the most keys, from the lengths of queries and keys",
    "BD-J3": "norm of a head's Jacobian, from the norms of its blocks",
    "BD-D1": "diameter of what a head puts out over that of its values, from its weights",
    "BD-H2": "width of the attention's update along the mean token over that of the tokens, for any attention weights",
}
#: What is bounded by the weights alone, without tokens.
OF_WEIGHTS = {
    "BD-E1": "second largest real part of an eigenvalue of F, or of U of one head, over the leader",
    "BD-E2": "1 over the step below which principal consensus of the layer is stable",
    "BD-H1": "factor per step of the distance to consensus, near it, of one head as if alone (a start on one side)",
}
PARTS = ("Q", "K", "V", "O", "scale", "q_bias", "k_bias", "v_bias")


def layers_at_tokens(
    model: Model, tokens: int, seed: int, own: OwnStates | None = None
) -> Iterator[tuple[Layer, LayerAtTokens]]:
    """Each layer at the first sequence of the observation, run in floats; ends where the tokens overflow."""
    from eigentoken.checking.observe import layers_run
    from eigentoken.numerics.layers.symbol_values import Answers

    last, of_weights = -1, Answers()
    for layer, state in layers_run(model, 1, tokens, seed, own):
        if layer.weights_of != last:
            last, of_weights = layer.weights_of, Answers()
        yield layer, _at_tokens(layer, state, of_weights)


def _at_tokens(layer: Layer, state: Any, of_weights: Answers) -> LayerAtTokens:
    from eigentoken.checking.layers import rotary_pairs
    from eigentoken.numerics.layers.token_bounds import LayerAtTokens, NormAtTokens

    norm, x, pre = layer.attention_norm, state.input[0], layer.placement == "pre"
    seen = norm.apply(x) if pre else x
    put_out = seen if pre else state.after_attention[0]
    return LayerAtTokens(
        heads=[{name: getattr(head, name) for name in PARTS} for head in layer.heads],
        state=x,
        seen=seen,
        update=state.attention_output[0],
        allowed=layer.mask.allowed(len(x)),
        pairs=rotary_pairs(layer),
        norm=None if norm.kind == "none" else NormAtTokens(norm.gain, norm.bias, norm.kind == "layernorm", put_out),
        of_weights=of_weights,
    )


def bounds_at_tokens(
    model: Model, tokens: int, seed: int, statements: Sequence[str], own: OwnStates | None = None
) -> list[LayerBounds]:
    """The bounds of those of ``statements`` that speak of a layer or its heads, and why the others do not."""
    from numpy import stack

    from eigentoken.checking.layers import weights_of
    from eigentoken.numerics.layers.bound_scope import BOUNDED, differences
    from eigentoken.numerics.layers.token_bounds import bounds_of_layer
    from eigentoken.theory.language.verdicts import array_digest
    from eigentoken.theory.statements.layer_systems import LayerSystem

    found: list[LayerBounds] = []
    for layer, given in layers_at_tokens(model, tokens, seed, own):
        count, around = len(layer.heads), vars(weights_of(layer).surroundings)
        apart = {name: differences(name, LayerSystem(count, count, **around)) for name in BOUNDED if name in statements}
        about = [name for name, differs in apart.items() if not differs]
        refused: list[NotBounded] = [
            {"statement": name, "differs": [each.as_dict() for each in differs]}
            for name, differs in apart.items()
            if differs
        ]
        found.append(
            {
                "layer": layer.index,
                "tokens": len(given.state),
                "sha256": array_digest(stack([given.state, given.seen])),
                "bounds": [each.as_dict() for each in bounds_of_layer(given, about)],
                "not_about": refused,
            }
        )
    return found


def with_margins(bounds: Sequence[LayerBounds], records: Mapping[int, LayerRecord], model: Model) -> list[LayerBounds]:
    """The bounds with those that are read from the weights of each layer; of a layer where no tokens were run, these alone."""
    known = {each["layer"]: each for each in bounds}
    found: list[LayerBounds] = []
    for index in range(model.n_layers):
        margins = records[model.architecture.weights_of(index)]["margins"]
        told = known.get(index)
        if told is None and not (margins["bounds"] or margins["not_about"]):
            continue
        nothing: LayerBounds = {"layer": index, "tokens": 0, "sha256": "", "bounds": [], "not_about": []}
        of_tokens = nothing if told is None else told
        found.append(
            {
                **of_tokens,
                "bounds": [*of_tokens["bounds"], *margins["bounds"]],
                "not_about": [*of_tokens["not_about"], *margins["not_about"]],
            }
        )
    return found


class BoundSummary(NamedTuple):
    """One statement over all layers (or heads): how many bounds say something, and the middle one of each number."""

    statement: str
    quantity: str
    places: int
    telling: int
    bound: float | None
    measured: float
    ratio: float | None

    def cells(self) -> tuple[str, ...]:
        """As text, for a table."""
        numbers = [_shown(each) for each in (self.bound, self.measured, self.ratio)]
        said = f"{self.telling} of {self.places}" if self.telling else f"vacuous in all {self.places}"
        return (f"{self.quantity} ({self.statement})", said, *numbers)


#: The heads of the columns of :meth:`BoundSummary.cells`.
COLUMNS = ("what is bounded", "says something in", "bound", "measured", "ratio")
SAYS = (
    "bounds at the tokens of one sequence (BD-E, BD-H: of the weights, without tokens): certified; beside them what was "
    "measured in floating point, which is no bound (medians over layers or heads)"
)


def _title(name: str) -> str:
    from eigentoken.theory.statements.registry import statements

    return str(statements().get(name).title)


def _middle(values: Sequence[float]) -> float | None:
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else None


def _bounded(listed: Sequence[TokenBound]) -> Sequence[TokenBound]:
    """Those with a bound, so that medians are of the same layers and heads; all of them where none has one."""
    return [each for each in listed if each["bound"] is not None] or listed


def summaries(listed: Sequence[LayerBounds]) -> list[BoundSummary]:
    """A row a statement, in the order of :data:`QUANTITIES`."""
    found: dict[str, list[TokenBound]] = {}
    for layer in listed:
        for each in layer["bounds"]:
            found.setdefault(each["statement"], []).append(each)
    return [
        BoundSummary(
            name,
            quantity,
            len(found[name]),
            sum(not each["vacuous"] for each in found[name]),
            _middle([each["bound"] for each in found[name] if each["bound"] is not None]),
            _middle([each["measured"] for each in _bounded(found[name])]) or 0.0,
            _middle([each["ratio"] for each in found[name] if each["ratio"] is not None]),
        )
        for name, quantity in {**QUANTITIES, **OF_WEIGHTS}.items()
        if name in found
    ]


def not_about(listed: Sequence[LayerBounds]) -> list[str]:
    """One sentence a statement and reason: which bound is not about these heads, in which part, in how many layers."""
    counted: dict[tuple[str, str], int] = {}
    for layer in listed:
        for each in layer["not_about"]:
            why = "; ".join(f"it supposes {part['statement']}, here {part['layer']}" for part in each["differs"])
            counted[each["statement"], why] = counted.get((each["statement"], why), 0) + 1
    return [
        f"{_title(name)} ({name}): not about these heads: {why}"
        + ("" if count == len(listed) else f" ({count} of {len(listed)} layers)")
        for (name, why), count in counted.items()
    ]


def bounds_html(report: Report) -> str:
    """The summary, and each bound of each layer and head behind a fold: ``bounds.html``; nothing without bounds."""
    from eigentoken.pages import filled

    listed = report.document["bounds"]
    rows, apart = summaries(listed), not_about(listed)
    if not rows and not apart:
        return ""
    return filled(
        "bounds.html",
        says=f"{SAYS[0].upper()}{SAYS[1:]}.",
        columns=COLUMNS,
        rows=[(each.statement, _title(each.statement), each.quantity, each.cells()[1:]) for each in rows],
        apart=apart,
        layers=listed,
        shown=_shown,
    )


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
