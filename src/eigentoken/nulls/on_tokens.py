"""What ``check`` measures on tokens, held against the same layers with their attention weights drawn anew."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eigentoken.checking.own_states import OwnStates
    from eigentoken.documents.chance_document import ChanceTokens, NotTaken, NullName, TokenTest
    from eigentoken.models.convention.head_and_layer import Layer
    from eigentoken.models.loading.model import Model
    from eigentoken.numerics.layers.chance_statistics import Floats
    from eigentoken.numerics.layers.layers_on_tokens import DrawnLeaders, LayerAtStates

__all__ = ["HEAD_SHARE", "LAYER_SHARE", "note_left_out", "on_tokens", "shared_values"]

#: On tokens there are this much fewer draws than ``draws``: for heads, for their Jacobians and for layers.
HEAD_SHARE, LAYER_SHARE = 2, 10
#: What of ``check`` has no null, and why.
WITHOUT: tuple[NotTaken, ...] = (
    {
        "quantity": "hemisphere, lengths and cosines of the tokens that enter a layer",
        "why": "no weight of this layer changes what enters it; what leaves is held by its smallest cosine",
    },
    {
        "quantity": "spread of lengths, norm, gains and centring",
        "why": "they are of the tokens and of norms, which are not redrawn",
    },
    {
        "quantity": "biases and feed-forward over the attention's update",
        "why": "they are not redrawn; the attention's own size is held (update)",
    },
)
Draws = dict["NullName", dict[str, "Floats"]]


def on_tokens(
    model: Model,
    *,
    draws: int,
    seed: int,
    tokens: int,
    own: OwnStates | None = None,
    keep: bool = True,
    skip: Container[int] = (),
    watch: Callable[[str], None] = lambda _now: None,
) -> ChanceTokens:
    """Every head and layer at ``tokens`` tokens: random ones from ``seed``, or the first of those that are given.

    ``keep``: draws are read from the cache and kept there.  ``skip``: layers of which no tests are made.
    """
    from numpy import stack

    from eigentoken.checking.observe import layers_run, whole_layers
    from eigentoken.nulls.correction import correct
    from eigentoken.numerics.layers.heads_on_tokens import HEAD_QUANTITIES
    from eigentoken.numerics.layers.layers_on_tokens import LAYER_QUANTITIES
    from eigentoken.theory.language.verdicts import array_digest

    if own is not None:
        own = replace(own, array=own.array[..., :tokens, :], others=())
    tests: list[TokenTest] = []
    entering, left_out = [], {each["quantity"]: each["why"] for each in WITHOUT}
    leaders: dict[tuple[int, ...], DrawnLeaders] = {}
    if not whole_layers(model):
        left_out = {"everything": "a feed-forward is not read, so that no tokens pass through these layers"}
    for layer, state in layers_run(model, 1, tokens, seed, own):
        watch(f"layer {layer.index} on tokens")
        if layer.index == 0 or (own is not None and own.per_layer):
            entering.append(state.input[0])
        if layer.index in skip:
            note_left_out(layer, left_out)
        else:
            tests += _of_layer(layer, state.input[0], _Many(draws, seed, keep), leaders, left_out)
    correct(tests)
    prompt = None if own is None or own.prompts is None else own.prompts.ids[0][:tokens]
    return {
        "source": "random tokens" if own is None else own.source,
        "tokens": len(entering[0]) if entering else 0,
        "sha256": array_digest(stack(entering)) if entering else "",
        "ids": None if prompt is None else [int(each) for each in prompt],
        "draws": draws // HEAD_SHARE,
        "layer_draws": draws // LAYER_SHARE,
        "quantities": {**HEAD_QUANTITIES, **LAYER_QUANTITIES},
        "not_taken": [{"quantity": quantity, "why": why} for quantity, why in left_out.items()],
        "tests": tests,
    }


class _Many:
    """How many draws, from which seed, and whether they are kept."""

    def __init__(self, draws: int, seed: int, keep: bool) -> None:
        self.heads, self.layers, self.seed, self.keep = draws // HEAD_SHARE, draws // LAYER_SHARE, seed, keep


def shared_values(layer: Layer) -> tuple[int, ...]:
    """Whose keys and values each head has, counted from 0."""
    groups = sorted({head.kv_index for head in layer.heads})
    return tuple(groups.index(head.kv_index) for head in layer.heads)


def note_left_out(layer: Layer, left_out: dict[str, str]) -> tuple[bool, bool]:
    """Are Jacobians of the heads taken, and principal directions?  What is not is put into ``left_out``."""
    from eigentoken.numerics.layers.heads_on_tokens import plain_scores
    from eigentoken.numerics.layers.layers_on_tokens import WIDEST_DIRECTION

    if layer.rules.latent is not None:
        left_out[f"heads and layer {layer.index}"] = "heads read normed projections of a token (latent), not the token"
        return False, False
    rank = min(len({head.kv_index for head in layer.heads}) * len(layer.heads[0].V), layer.d)
    plain, wide = plain_scores(layer.block(feed_forward=False)), rank > WIDEST_DIRECTION
    if not plain:
        left_out["Jacobian"] = (
            "check measures it of heads without positions, norms, caps and sinks in the scores; those of some layers have one"
        )
    if wide:
        left_out["delta rho, probability and one side"] = (
            f"rank {rank}: the eigenvectors of draws of F are taken up to {WIDEST_DIRECTION}"
        )
    return plain, not wide


def _of_layer(
    layer: Layer, state: Any, many: _Many, leaders: dict[tuple[int, ...], DrawnLeaders], left_out: dict[str, str]
) -> list[TokenTest]:
    from numpy import asarray, errstate, float64

    from eigentoken.numerics.layers.layers_on_tokens import LayerAtStates, draw_leaders

    plain, directed = note_left_out(layer, left_out)
    if layer.rules.latent is not None:
        return []
    shared = shared_values(layer)
    at = LayerAtStates(layer.block(), asarray(state, dtype=float64), shared)

    def with_leaders() -> Draws:
        if not directed:
            return at.against(many.layers, many.seed, None)
        key = (*at.block.qkv.shape, *shared)
        if key not in leaders:
            leaders[key] = draw_leaders(at, many.layers, many.seed)
        return at.against(many.layers, many.seed, leaders[key])

    with errstate(all="ignore"):
        by_head, by_layer = at.heads.measured(plain), at.measured()
        seen = repr(([(name, each.tolist()) for name, each in by_head.items()], by_layer))
        heads = _kept(
            at, many, f"heads {seen}", lambda: at.heads.against(many.heads, many.seed, many.layers if plain else 0)
        )
        whole = _kept(at, many, f"layer {seen}", with_leaders)
    found = [
        test
        for index in range(len(layer.heads))
        for null, of in heads.items()
        for name, values in of.items()
        for test in _test(layer.index, index, name, null, float(by_head[name][index]), values[:, index])
    ]
    return found + [
        test
        for null, of in whole.items()
        for name, values in of.items()
        if name in by_layer
        for test in _test(layer.index, None, name, null, by_layer[name], values)
    ]


def _test(layer: int, head: int | None, quantity: str, null: NullName, value: float, draws: Floats) -> list[TokenTest]:
    """One test; none where the value or too many draws are not defined."""
    from math import isfinite

    from eigentoken.numerics.layers.chance import held_to

    held = held_to(quantity, null, value, draws) if isfinite(value) else None
    if held is None:
        return []
    return [
        {
            "layer": layer,
            "head": head,
            "quantity": quantity,
            "null": null,
            "value": held.value,
            "mean": held.mean,
            "deviation": held.deviation,
            "z": held.z,
            "p": held.p,
            "q": 1.0,
            "draws": held.draws,
        }
    ]


# -- what was drawn before ---------------------------------------------------------------------------------------------------


def _kept(at: LayerAtStates, many: _Many, what: str, draw: Callable[[], Draws]) -> Draws:
    """From the cache, if these weights met these tokens before."""
    from eigentoken.nulls.correction import keep_bytes

    if not many.keep:
        return draw()
    path = _path(at, many, what)
    found = _read(path)
    if found is None:
        found = draw()
        stream = io.BytesIO()
        _write(found, stream)
        keep_bytes(path, stream)
    return found


def _path(at: LayerAtStates, many: _Many, what: str) -> Path:
    from numpy import __version__, ascontiguousarray

    from eigentoken.files.installed import cache_folder
    from eigentoken.numerics.layers import (
        chance_draws,
        head_jacobian,
        heads_on_tokens,
        layers_on_tokens,
        observe,
        redrawn,
    )

    # what is measured of these weights is in the name too: no part of a layer is left out that changes it
    digest = hashlib.sha256(f"{what} {__version__} {many.heads} {many.layers} {many.seed} {at.shared}".encode())
    for each in (chance_draws, head_jacobian, heads_on_tokens, layers_on_tokens, observe, redrawn):
        digest.update(Path(str(each.__file__)).read_bytes())
    for name, value in sorted(vars(at.block).items()):
        digest.update(f"{name} {_told(value)}".encode())
    digest.update(ascontiguousarray(at.state).tobytes())
    return cache_folder() / "nulls" / f"tokens-{what.partition(' ')[0]}-{digest.hexdigest()[:32]}.npz"


def _told(value: Any) -> str:
    """What a part of a block is, to the last bit: numbers by their digest, objects by their parts."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if value is None or isinstance(value, str | int | float | bool):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_told(each) for each in value)}]"
    owner = getattr(value, "__self__", value)
    parts = vars(owner) if hasattr(owner, "__dict__") else {}
    inside = ", ".join(f"{name}: {_told(part)}" for name, part in sorted(parts.items()) if not name.startswith("_"))
    return f"{type(owner).__name__}.{getattr(value, '__name__', '')}({inside})"


def _write(found: Mapping[NullName, Mapping[str, Floats]], stream: io.BytesIO) -> None:
    from numpy import savez

    flat: dict[str, Any] = {f"{null}|{name}": values for null, of in found.items() for name, values in of.items()}
    savez(stream, **flat)


def _read(path: Path) -> Draws | None:
    from zipfile import BadZipFile

    from numpy import asarray, float64, load

    found: Draws = {"gaussian factors": {}, "random bases": {}}
    try:
        with load(path, allow_pickle=False) as stored:
            for each in stored.files:
                null, _, name = each.partition("|")
                found[null][name] = asarray(stored[each], dtype=float64)
    except (OSError, ValueError, KeyError, BadZipFile):
        return None
    return found
