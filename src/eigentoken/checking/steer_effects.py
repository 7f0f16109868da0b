"""What an edit of the last layer does beyond its guarantee, measured: to the distribution of the next token, by strength."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentoken.checking.prompts import Prompts
    from eigentoken.documents.steer_document import CurvePoint, OutputEffect, SteerRun, SteerStates, SuggestedStrength
    from eigentoken.models.convention.head_and_layer import Layer
    from eigentoken.models.convention.rotary import Array
    from eigentoken.models.loading.model import Model
    from eigentoken.models.logits import OutputHead
    from eigentoken.numerics.dynamics.charts import Chart
    from eigentoken.numerics.layers.damage import Damage
    from eigentoken.numerics.layers.steering import Edit

__all__ = ["Effects", "at_share", "curve_chart", "suggestions", "with_output"]

#: Strengths of the curve, as multiples of the one that is stored.
MULTIPLES = (0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
#: Shares of tokens for which a strength is suggested.
SHARES = (0.5, 0.9, 1.0)


def with_output(layer: Layer, matrix: Array) -> Layer:
    """The layer with another output matrix (d, heads x width)."""
    width = layer.heads[0].O.shape[1]
    heads = tuple(
        replace(head, O=matrix[:, number * width : (number + 1) * width]) for number, head in enumerate(layer.heads)
    )
    return replace(layer, heads=heads)


@dataclass(frozen=True, eq=False)
class Effects:
    """A model and token sequences; ``start``: hidden states (1, n, d) before layer 0, an array a sequence."""

    model: Model
    starts: Sequence[Array]
    drawn: tuple[int, int, int] = (0, 0, 0)
    "Sequences, tokens and seed of random ones."
    given: SteerStates | None = None

    @classmethod
    def of(
        cls,
        model: Model,
        prompts: Prompts | None,
        sequences: int,
        tokens: int,
        seed: int,
        states: object = None,
    ) -> Effects:
        """Of the given prompts or states (n, d), or of random tokens."""
        from eigentoken.checking.observe import starting_tokens
        from eigentoken.models.forward import first_states

        if prompts is not None:
            return cls(model, [first_states(model, each[None]) for each in prompts.ids])
        if states is not None:
            from eigentoken.checking.own_states import StatesError, own_states

            own = own_states(states, model)
            if own.per_layer:
                raise StatesError(
                    f"states must be (n, {model.d}), what enters layer 0, to be steered: got one array a layer"
                )
            return cls(model, [own.array[None]], given={"source": own.source, "tokens": own.tokens})
        drawn = first_states(model, starting_tokens(model, sequences, tokens, seed))
        return cls(
            model, [each[None] for each in drawn], (sequences, drawn.shape[1], seed)
        )  # as many as have positions

    @cached_property
    def _changed(self) -> tuple[int, ...]:
        """The layers that have the weights of the last one."""
        origin = self.model.architecture.weights_of(self.model.n_layers - 1)
        return tuple(k for k in range(self.model.n_layers) if self.model.architecture.weights_of(k) == origin)

    def _run(self, states: Sequence[Array], first: int, stop: int, output: Array | None) -> list[Array]:
        from eigentoken.models.forward import run_layer

        found = list(states)
        for layer in self.model.layers(first, stop):
            edited = with_output(layer, output) if output is not None and layer.index in self._changed else layer
            found = [run_layer(edited, x).output for x in found]
        return found

    @cached_property
    def _untouched(self) -> list[Array]:
        """What enters the first layer that is changed."""
        return self._run(self.starts, 0, self._changed[0], None)

    @cached_property
    def entering_last(self) -> list[Array]:
        """What enters the last layer of the model as it was."""
        return self._run(self._untouched, self._changed[0], self.model.n_layers - 1, None)

    def run(self) -> SteerRun:
        """What was run, for who makes it again."""
        from numpy import concatenate

        from eigentoken.theory.language.verdicts import array_digest

        sequences, tokens, seed = self.drawn
        digest = array_digest(concatenate([each[0] for each in self.entering_last]))
        return {"sequences": sequences, "tokens": tokens, "seed": seed, "sha256": digest}

    def final(self, output: Array | None) -> Array:
        """The states (m, d) that leave the last layer, of all sequences, with another output matrix."""
        from numpy import concatenate, float32

        matrix = None if output is None else output.astype(float32)
        found = self._run(self._untouched, self._changed[0], self.model.n_layers, matrix)
        return concatenate([each[0] for each in found])

    def output(self, edit: Edit, stored: Array) -> OutputEffect:
        """The damage of the stored matrix, and along a curve of strengths; ``None`` with the reason where there is no head."""
        from numpy import asarray, float64, outer

        from eigentoken.models.convention.errors import ModelError
        from eigentoken.models.logits import output_head

        try:
            head = output_head(self.model)
        except ModelError as problem:
            return {"why_not": str(problem), "stored": None, "curve": []}
        before = head.logits(self.final(None))
        base = asarray(self.model.layer(-1).output_matrix(), dtype=float64)

        def at(strength: float) -> Array:
            return base + strength * outer(edit.direction, edit.row)

        strengths = [edit.strength * share for share in MULTIPLES]
        curve = [_point(mu, self._damage(head, before, at(mu))) for mu in strengths]
        return {"why_not": None, "stored": _point(edit.strength, self._damage(head, before, stored)), "curve": curve}

    def _damage(self, head: OutputHead, before: Array, matrix: Array) -> Damage:
        from eigentoken.numerics.layers.damage import damage

        return damage(before, head.logits(self.final(matrix)))


def _point(strength: float, found: Damage) -> CurvePoint:
    return {
        "strength": strength,
        "positions": found.positions,
        "mean_kl": found.mean_kl,
        "largest_kl": found.largest_kl,
        "top1_kept": found.top1_kept,
    }


def at_share(needed: Array, share: float) -> float | None:
    """The smallest strength that is enough for that share of the tokens; ``None`` where none is."""
    from math import ceil

    from numpy import isfinite, sort

    value = float(sort(needed)[max(0, ceil(share * len(needed)) - 1)])
    return value if isfinite(value) else None


def suggestions(needed: Array) -> Iterator[SuggestedStrength]:
    """From the strength that each token needs (PM-S3, in floats): what a share of all tokens needs."""
    for share in SHARES:
        yield {"share": share, "strength": at_share(needed, share)}


def curve_chart(output: OutputEffect, model: str) -> Chart:
    """Damage by strength: relative entropy, and the share of positions that keep their likeliest token."""
    from eigentoken.numerics.dynamics.charts import Chart, Curve, Curves

    points = output["curve"]
    x = [each["strength"] for each in points]
    entropy = [
        Curve(x, [each["mean_kl"] for each in points], "mean"),
        Curve(x, [each["largest_kl"] for each in points], "largest"),
    ]
    kept = [Curve(x, [each["top1_kept"] for each in points], "")]
    panels = [
        Curves(entropy, "strength", "nats", "relative entropy of the next token", log_x=True),
        Curves(kept, "strength", "share", "positions that keep their likeliest token", log_x=True),
    ]
    return Chart(f"damage by strength: {model}", panels)
