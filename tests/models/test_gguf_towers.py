"""Towers in GGUF (``mmproj`` files): CLIP's and SigLIP's, in both orders of the feed-forward, Whisper's; others are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from eigentoken.models import ModelError, load
from eigentoken.models.forward import run_layer

from . import reference_models as tiny
from .test_families import close

gguf = pytest.importorskip("gguf")

OUTER = {"embeddings.class_embedding": "v.class_embd", "pre_layrnorm": "v.pre_ln", "post_layernorm": "v.post_ln"}
OUTER |= {"embeddings.patch_embedding": "v.patch_embd", "embeddings.position_embedding": "v.position_embd"}
INNER = {"layer_norm1": "ln1", "layer_norm2": "ln2", "self_attn.out_proj": "attn_out", "mlp.fc1": "ffn_up"}
INNER |= {"mlp.fc2": "ffn_down"} | {f"self_attn.{letter}_proj": f"attn_{letter}" for letter in "qkv"}


def stored_as(name: str, swapped: bool) -> str | None:
    """GGUF's name of a parameter of the tower."""
    name = name.removeprefix("vision_model.")
    if name in OUTER:
        return OUTER[name]
    stem, _, ending = name.rpartition(".")
    if stem in OUTER:
        return f"{OUTER[stem]}.{ending}"
    if not stem.startswith("encoder.layers."):
        return None
    number, part = stem.removeprefix("encoder.layers.").split(".", 1)
    new = INNER[part]
    if swapped:
        new = {"ffn_up": "ffn_down", "ffn_down": "ffn_up"}.get(new, new)
    return f"v.blk.{number}.{new}.{ending}"


def write(path: Path, model: Any, *, swapped: bool = False, also: dict[str, Any] | None = None, drop: str = "") -> None:
    config = model.config
    writer = gguf.GGUFWriter(str(path), "clip")
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_string("clip.projector_type", "gemma3")
    writer.add_bool("clip.use_gelu", config.hidden_act.startswith("gelu"))
    for key, value in {
        "image_size": config.image_size,
        "patch_size": config.patch_size,
        "embedding_length": config.hidden_size,
        "feed_forward_length": config.intermediate_size,
        "block_count": config.num_hidden_layers,
        "attention.head_count": config.num_attention_heads,
    }.items():
        writer.add_uint32(f"clip.vision.{key}", value)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", config.layer_norm_eps)
    tensors = {new: value for name, value in model.state_dict().items() if (new := stored_as(name, swapped))}
    tensors |= {"mm.0.weight": torch.ones(3, 3), **(also or {})}
    for name, value in tensors.items():
        if not drop or not name.startswith(drop):
            writer.add_tensor(name, np.ascontiguousarray(value.numpy(), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("kind", ["clip_vision_model", "siglip_vision_model"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_tower_is_read_as_the_reference(tmp_path: Path, kind: str, swapped: bool) -> None:
    model = tiny.make(kind)
    write(tmp_path / "mmproj.gguf", model, swapped=swapped)
    found, pixels = load(tmp_path / "mmproj.gguf"), tiny.tokens(kind)
    assert found.config["model_type"] == kind and found.n_layers == model.config.num_hidden_layers
    with torch.no_grad():
        hidden = model(torch.from_numpy(pixels), output_hidden_states=True).hidden_states
    state = found.embedding().embed(pixels)
    close(state, hidden[0].numpy())
    for index in range(found.n_layers):
        state = np.stack([run_layer(found.layer(index), each).output for each in state])
        close(state, hidden[index + 1].numpy())
    assert not found.left_out.inside


def test_other_towers_are_refused_for_what_they_are(tmp_path: Path) -> None:
    model = tiny.make("siglip_vision_model")
    path = tmp_path / "mmproj.gguf"
    for options, says in (
        (
            {"also": {"v.blk.0.attn_qkv.weight": torch.ones(4, 4)}},
            "neither CLIP's nor SigLIP's (v.blk.0.attn_qkv.weight)",
        ),
        ({"drop": "v.position_embd"}, "neither CLIP's nor SigLIP's (no v.position_embd)"),
        ({"drop": "v."}, "has no vision tower"),
    ):
        write(path, model, **options)
        with pytest.raises(ModelError) as refused:
            load(path)
        assert says in str(refused.value) and "'gemma3'" in str(refused.value)


SOUND = {"self_attn_layer_norm": "ln1", "final_layer_norm": "ln2", "self_attn.out_proj": "attn_out", "fc1": "ffn_up"}
SOUND |= {"fc2": "ffn_down"} | {f"self_attn.{letter}_proj": f"attn_{letter}" for letter in "qkv"}
SOUND_OUTER = {"embed_positions": "a.position_embd", "layer_norm": "a.post_ln"}


def write_sound(path: Path, model: Any, projector: str) -> None:
    """Whisper's encoder as llama.cpp's converter writes it: the biases of the convolutions are columns."""
    config = model.config
    writer = gguf.GGUFWriter(str(path), "clip")
    writer.add_bool("clip.has_audio_encoder", True)
    writer.add_string("clip.projector_type", projector)
    for key, value in {
        "embedding_length": config.d_model,
        "feed_forward_length": config.encoder_ffn_dim,
        "block_count": config.encoder_layers,
        "attention.head_count": config.encoder_attention_heads,
        "num_mel_bins": config.num_mel_bins,
    }.items():
        writer.add_uint32(f"clip.audio.{key}", value)
    writer.add_float32("clip.audio.attention.layer_norm_epsilon", 1e-5)
    tensors = {"mm.a.mlp.1.weight": torch.ones(3, 3)}
    for name, value in model.encoder.state_dict().items():
        stem, _, ending = name.rpartition(".")
        if stem.startswith("layers."):
            number, part = stem.removeprefix("layers.").split(".", 1)
            tensors[f"a.blk.{number}.{SOUND[part]}.{ending}"] = value
        elif stem.startswith("conv"):
            tensors[f"a.conv1d.{stem[-1]}.{ending}"] = value[:, None] if ending == "bias" else value
        else:
            tensors[f"{SOUND_OUTER[stem]}.{ending}"] = value
    for name, value in tensors.items():
        writer.add_tensor(name, np.ascontiguousarray(value.numpy(), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("projector", ["ultravox", "qwen2a"])
def test_an_encoder_of_sound_is_read_as_whispers(tmp_path: Path, projector: str) -> None:
    model = tiny.make("whisper")
    write_sound(tmp_path / "mmproj.gguf", model, projector)
    found = load(tmp_path / "mmproj.gguf")
    assert (found.config["model_type"], found.n_layers) == ("whisper", model.config.encoder_layers)
    assert {found.layer(index).mask.kind for index in range(found.n_layers)} == {"full"}
    states = torch.randn(2, 5, model.config.d_model, generator=torch.Generator().manual_seed(0))
    for index, layer in enumerate(model.encoder.layers):
        with torch.no_grad():
            after = layer(states, None)
        after = after[0] if isinstance(after, tuple) else after
        ran = np.stack([run_layer(found.layer(index), each).output for each in states.numpy()])
        close(ran, after.numpy())
        states = after
    write_sound(tmp_path / "other.gguf", model, "glma")
    with pytest.raises(ModelError, match=r"'glma' has an encoder of sound that is not known to be Whisper's"):
        load(tmp_path / "other.gguf")


@pytest.mark.parametrize(
    ("architecture", "says"),
    [
        ("mamba2", "mamba2 is a state-space model: its layers have no self-attention"),
        ("rwkv7", "rwkv7 is a recurrent model"),
        ("wavtokenizer-dec", "is a convolutional model"),
        ("falcon-h1", "falcon-h1 is a hybrid"),
        ("baichuan", "no supported family: found GGUF architecture 'baichuan'"),
    ],
)
def test_what_is_no_self_attention_is_refused_for_that(tmp_path: Path, architecture: str, says: str) -> None:
    writer = gguf.GGUFWriter(str(tmp_path / "m.gguf"), architecture)
    writer.add_tensor("token_embd.weight", np.ones((4, 4), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(ModelError) as refused:
        load(tmp_path / "m.gguf")
    assert says in str(refused.value)


def test_the_reasons_name_architectures_that_there_are() -> None:
    """Each name of a reason is one of the ``gguf`` package's, and none is read."""
    from eigentoken.models.formats.gguf_architectures import ARCHITECTURES, HYBRIDS, NOT_ATTENTION

    told = {*HYBRIDS, *(name for names in NOT_ATTENTION.values() for name in names)}
    assert told <= set(gguf.MODEL_ARCH_NAMES.values()) and not told & set(ARCHITECTURES)
