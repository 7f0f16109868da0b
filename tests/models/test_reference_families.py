"""Every further family against ``transformers``: weights bit for bit, scores, attention, layers and the final state to 1e-5."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.models import ModelError, load, run_layer, run_tokens

from . import reference_models as tiny
from .reference import Recording
from .test_families import close


def cases(**wanted: bool) -> list[Any]:
    """Every case, the variants marked slow."""
    return [
        pytest.param(key, marks=pytest.mark.slow) if case.slow else key
        for key, case in tiny.CASES.items()
        if all(getattr(case, name) == value for name, value in wanted.items())
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """``made(key)``: the reference, its folder, its input and what it computes; made once."""
    pytest.importorskip("transformers")
    kept: dict[str, Any] = {}

    def get(key: str) -> tuple[Any, Path, Any, Recording]:
        if key not in kept:
            case, model = tiny.CASES[key], tiny.make(key)
            folder = tmp_path_factory.mktemp(key)
            model.save_pretrained(folder)
            kept[key] = (
                model,
                folder,
                tiny.tokens(key),
                Recording(stack(model, case.part), tiny.tokens(key), case.projection),
            )
        return kept[key]

    return get


def stack(model: Any, part: str) -> Any:
    """The reference's own stack of layers that is compared."""
    return getattr(model, part) if part else model


def source(folder: Path, case: tiny.Case) -> str:
    return f"{folder}#{case.part}" if case.part else str(folder)


@pytest.mark.parametrize("key", cases(attention_only=False))
def test_the_forward_pass_is_that_of_transformers(key: str, made: Any) -> None:
    reference, folder, given, recording = made(key)
    case = tiny.CASES[key]
    compare(load(source(folder, case)), recording, given, case, reference)
    compare(load(reference, part=case.part or None), recording, given, case, reference)


def compare(model: Any, recording: Recording, given: Any, case: tiny.Case, reference: Any) -> None:
    states = list(run_tokens(model, given if model.architecture.has_embedding else recording.hidden[0]))
    assert len(states) == model.n_layers == len(recording.attention_outputs)
    final = model.final_norm()
    for index, state in enumerate(states):
        compare_attention(model.layer(index), state, recording, index, case)
        close(state.input, recording.hidden[index])
        if index + 1 < len(states):
            close(state.output, recording.hidden[index + 1])
    last = states[-1].output if final is None else final.apply(states[-1].output)
    if case.head:
        project = next(module for name, module in reference.named_modules() if name.endswith(case.head))
        last = last @ project.weight.detach().numpy().T
    close(last, recording.last)


def compare_attention(layer: Any, state: Any, recording: Recording, index: int, case: tiny.Case) -> None:
    """Scores where they are seen, weights, and the update."""
    close(state.attention_output, recording.attention_outputs[index])
    if case.implementation != "eager":
        return  # the reference hands out neither scores nor weights
    allowed = layer.mask.allowed(state.scores.shape[-1])
    ours, theirs = state.scores, recording.scores[index][..., : state.scores.shape[-1]]
    if case.up_to_rows:
        ours, theirs = (each - np.diagonal(each, axis1=-2, axis2=-1)[..., None] for each in (ours, theirs))
    close(ours[..., allowed], theirs[..., allowed])
    assert (recording.weights[index][..., ~allowed] == 0).all()
    close(state.weights, recording.weights[index])


@pytest.mark.parametrize("key", cases(attention_only=True))
def test_the_attention_of_a_mixture_is_that_of_transformers(key: str, made: Any) -> None:
    """Each layer on the state that the reference has there: scores, weights, update; dense layers whole."""
    reference, folder, _, recording = made(key)
    for model in (load(folder), load(reference)):
        said = [layer.not_read for layer in model.layers()]
        assert any("mixture of 4 experts" in each for each in said)
        for index, layer in enumerate(model.layers()):
            state = run_layer(layer, recording.hidden[index], with_feed_forward=not layer.not_read)
            compare_attention(layer, state, recording, index, tiny.CASES[key])
            if not layer.not_read and index + 1 < model.n_layers:
                close(state.output, recording.hidden[index + 1])
        with pytest.raises(ModelError, match="mixture of 4 experts, which is not read"):
            run_layer(model.layer(-1), recording.hidden[-2])


@pytest.mark.parametrize("key", cases())
def test_the_numbers_are_those_of_the_file(key: str, made: Any) -> None:
    """Every entry of Q, K, V and O is a stored one, each as often as it is stored, in the stored dtype.

    That they stand in the right places the forward pass shows.
    """
    from safetensors.numpy import load_file

    _, folder, _, _ = made(key)
    model, stored = load(source(folder, tiny.CASES[key])), load_file(folder / "model.safetensors")
    for layer in model.layers():
        once = {head.kv_index: head for head in reversed(layer.heads)}
        ours = [head.Q for head in layer.heads] + [head.O for head in layer.heads]
        ours += [matrix for head in once.values() for matrix in (head.K, head.V)]
        if layer.rules.latent is not None:
            assert "rounded products of the stored factors" in layer.stamp()
            continue
        names = attention_names(model, layer.index)
        assert names and {matrix.dtype for matrix in ours} == {stored[name].dtype for name in names}
        theirs = np.concatenate([stored[name].ravel() for name in names])
        assert np.array_equal(np.sort(np.concatenate([matrix.ravel() for matrix in ours])), np.sort(theirs))


def attention_names(model: Any, index: int) -> list[str]:
    """The stored attention matrices of a layer: those that its family says it reads, by their shapes."""
    family = model.architecture
    parts = [part for letter, (part, _) in family.projections().items() if letter in "qkvo"]
    return [f"{family.weights.prefix}{family.at(index, part)}.weight" for part in parts]


def test_a_gain_of_turned_coordinates_alone_is_refused(made: Any) -> None:
    """YaRN multiplies what it turns: where only a part of a head is turned, that is no change of the score scale."""
    reference, folder, _, _ = made("stablelm")
    values = reference.config.to_dict()
    rope = {"rope_type": "yarn", "rope_theta": 50.0, "factor": 4.0, "original_max_position_embeddings": 12}
    for share, refused in ((0.5, True), (1.0, False)):
        model = load(folder, config=values | {"rope_parameters": rope | {"partial_rotary_factor": share}})
        if refused:
            with pytest.raises(ModelError, match=r"2 of 4 coordinates of a head by 1\.13"):
                model.layer(0)
        else:
            assert model.layer(0).heads[0].scale < 2.0


@pytest.mark.slow
@pytest.mark.parametrize("key", list(tiny.CASES))
def test_a_configuration_that_leaves_its_defaults_out_means_the_same(key: str, made: Any) -> None:
    """What hub configurations do not say is what the reference's class has by default."""
    reference, folder, given, _ = made(key)
    case = tiny.CASES[key]
    short = reference.config.to_diff_dict() | {"model_type": reference.config.model_type}
    if case.part:
        short |= {"eigentoken_part": case.part}
    usual = type(reference.config)().to_dict()
    short = {
        name: value for name, value in short.items() if name == "model_type" or value != usual.get(name, value)
    } | {name: short[name] for name in short if name not in usual}
    with_all, with_few = load(source(folder, case)), load(folder, config=short)
    for one, other in zip(with_all.layers(), with_few.layers(), strict=True):
        if case.attention_only:
            x = np.random.default_rng(1).standard_normal((5, with_all.d))
            close(
                run_layer(other, x, with_feed_forward=False).output,
                run_layer(one, x, with_feed_forward=False).output,
                0.0,
            )
        assert (one.mask, one.rotary, one.heads[0].scale, one.positions) == (
            other.mask,
            other.rotary,
            other.heads[0].scale,
            other.positions,
        )
    if not case.attention_only and with_all.architecture.has_embedding:
        for one, other in zip(run_tokens(with_all, given), run_tokens(with_few, given), strict=True):
            close(other.output, one.output, 0.0)
