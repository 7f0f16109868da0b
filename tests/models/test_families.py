"""Each family, saved by transformers and loaded here: the matrices bit for bit, and its forward pass to 1e-5."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from eigentoken.models import ModelError, load, run_tokens, supported_families

from . import conftest as tiny
from .reference import Recording

PROJECTION = {
    "Albert": "attention.dense",
    "Bert": "attention.output.dense",
    "Roberta": "attention.output.dense",
    "GPT2": "attn.c_proj",
    "GPTNeo": "attention.out_proj",
}


def close(ours: Any, theirs: Any, tolerance: float = 1e-5) -> None:
    """Equal up to ``tolerance`` in units of the largest entry (or 1)."""
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= tolerance * max(1.0, float(np.abs(theirs).max()))


def compare_forward(model: Any, recording: Recording, given: Any, tolerance: float = 1e-5, **options: Any) -> None:
    """Scores, weights, attention output and layer output of every layer, and the final state."""
    states = list(run_tokens(model, given, **options))
    layers = len(recording.weights)
    assert len(states) == model.n_layers == layers == len(recording.scores) == len(recording.attention_outputs)
    final = model.final_norm()
    for index, state in enumerate(states):
        allowed = model.layer(index).mask.allowed(state.scores.shape[-1])
        assert (recording.weights[index] > 0).any(axis=-1).all()
        close(state.scores[..., allowed], recording.scores[index][..., allowed], tolerance)
        assert (recording.weights[index][..., ~allowed] == 0).all()
        close(state.weights, recording.weights[index], tolerance)
        close(state.attention_output, recording.attention_outputs[index], tolerance)
        close(state.input, recording.hidden[index], tolerance)
        if index + 1 < layers or final is None:
            close(state.output, recording.hidden[index + 1], tolerance)
    last = states[-1].output
    close(last if final is None else final.apply(last), recording.last, tolerance)


@pytest.mark.parametrize("key", tiny.FAMILIES)
def test_forward_pass_equals_transformers(key: str, saved: Any) -> None:
    reference, folder = saved(key)
    given = tiny.make_input(key)
    recording = Recording(reference, given, PROJECTION.get(tiny.FAMILIES[key][0], "o_proj"))
    compare_forward(load(folder), recording, given)
    compare_forward(load(reference), recording, given)


def expected_heads(key: str, folder: Path, index: int) -> list[dict[str, Any]]:
    """Q, K, V, O of each head, cut by hand out of the file as the safetensors package reads it."""
    t, config = load_file(folder / "model.safetensors"), json.loads((folder / "config.json").read_text())
    kind, d = config["model_type"].replace("roberta", "bert"), config.get("hidden_size") or config["n_embd"]
    heads = config.get("num_attention_heads") or config.get("num_heads") or config["n_head"]
    kv_heads = config.get("num_key_value_heads") or heads
    if kind == "gpt2":
        fused = t[f"h.{index}.attn.c_attn.weight"]
        W = [fused[:, i * d : (i + 1) * d].T for i in range(3)] + [t[f"h.{index}.attn.c_proj.weight"].T]
    elif kind == "albert":
        inner = config["inner_group_num"]
        group = (index // inner) * config["num_hidden_groups"] // config["num_hidden_layers"]
        base = f"encoder.albert_layer_groups.{group}.albert_layers.{index % inner}.attention"
        W = [t[f"{base}.{part}.weight"] for part in ("query", "key", "value", "dense")]
    else:
        stems = {
            "bert": ("encoder.layer.{}.attention.", "self.query", "self.key", "self.value", "output.dense"),
            "vit": (
                "encoder.layer.{}.attention.",
                "attention.query",
                "attention.key",
                "attention.value",
                "output.dense",
            ),
            "gpt_neo": ("h.{}.attn.attention.", "q_proj", "k_proj", "v_proj", "out_proj"),
        }
        base, *parts = stems.get(kind, ("layers.{}.self_attn.", "q_proj", "k_proj", "v_proj", "o_proj"))
        W = [t[f"{base.format(index)}{part}.weight"] for part in parts]
    e = W[0].shape[0] // heads
    cut = []
    for h in range(heads):
        g = h * kv_heads // heads
        rows = [slice(h * e, (h + 1) * e), slice(g * e, (g + 1) * e)]
        cut.append({"Q": W[0][rows[0]], "K": W[1][rows[1]], "V": W[2][rows[1]], "O": W[3][:, rows[0]]})
    return cut


@pytest.mark.parametrize("key", tiny.FAMILIES)
def test_matrices_are_bit_for_bit_those_of_the_file(key: str, saved: Any) -> None:
    _, folder = saved(key)
    model = load(folder)
    for layer in model.layers():
        for head, expected in zip(layer.heads, expected_heads(key, folder, layer.index), strict=True):
            for name, matrix in expected.items():
                ours = getattr(head, name)
                assert ours.dtype == matrix.dtype
                assert ours.shape == matrix.shape
                assert ours.tobytes() == np.ascontiguousarray(matrix).tobytes()
                assert not ours.flags.writeable
            assert head.Q.shape == head.K.shape == head.V.shape == head.O.T.shape == (model.d_head, model.d)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_stored_dtypes_are_exact(dtype: str, tmp_path: Path) -> None:
    import torch

    reference = tiny.make_reference("qwen2").to(getattr(torch, dtype))
    reference.save_pretrained(tmp_path)
    for layer, theirs in zip(load(tmp_path).layers(), reference.layers, strict=True):
        assert layer.stored_dtype == dtype
        exact = theirs.self_attn.q_proj.weight.detach().double().numpy()
        stacked = np.concatenate([head.Q for head in layer.heads])
        assert stacked.dtype == np.dtype("float32" if dtype == "bfloat16" else dtype)
        assert (stacked.astype(np.float64) == exact).all()


def test_albert_layers_share_weights_and_say_so(saved: Any) -> None:
    model = load(saved("albert-groups")[1])
    assert [layer.weights_of for layer in model.layers()] == [0, 1, 0, 1, 4, 5, 4, 5]
    assert [layer.index for layer in model.layers()] == list(range(8))
    assert (model.layer(2).heads[0].Q == model.layer(0).heads[0].Q).all()
    assert (model.layer(4).heads[0].Q != model.layer(0).heads[0].Q).any()


def test_masks_scales_and_positions_are_those_of_the_configuration(saved: Any) -> None:
    neo, qwen, no_rope = load(saved("gpt-neo")[1]), load(saved("qwen2")[1]), load(saved("smollm3")[1])
    assert [layer.mask.describe() for layer in neo.layers()] == ["causal", "local causal window of 3"] * 2
    assert {head.scale for layer in neo.layers() for head in layer.heads} == {1.0}
    assert [layer.mask.kind for layer in qwen.layers()] == ["causal", "local", "local"]
    assert [layer.positions for layer in no_rope.layers()] == ["rotary", "none", "rotary"]
    assert [layer.heads[0].scale for layer in load(saved("gpt2-layer-scale")[1]).layers()] == [
        8**0.5 * (i + 1) for i in range(3)
    ]


def test_windows_of_older_configurations(saved: Any) -> None:
    """Before layer_types: qwen2 slides from layer max_window_layers on; mistral's absent key means 4096."""
    qwen, mistral = saved("qwen2")[1], saved("mistral")[1]
    values = json.loads((qwen / "config.json").read_text())
    del values["layer_types"]
    for first in range(4):
        masks = [layer.mask.kind for layer in load(qwen, config=values | {"max_window_layers": first}).layers()]
        assert masks == ["causal"] * first + ["local"] * (3 - first)
    off = load(qwen, config=values | {"use_sliding_window": False})
    assert {layer.mask.kind for layer in off.layers()} == {"causal"}
    values = json.loads((mistral / "config.json").read_text())
    del values["sliding_window"]
    assert load(mistral, config=values).layer(0).mask.window == 4096


def test_biases_must_agree_with_the_configuration(saved: Any) -> None:
    plain, biased = saved("llama")[1], saved("llama-biases")[1]
    for folder, change in ((plain, {"attention_bias": True}), (biased, {"attention_bias": False})):
        values = json.loads((folder / "config.json").read_text())
        with pytest.raises(ModelError, match="attention biases"):
            load(folder, config=values | change)
    values = json.loads((plain / "config.json").read_text())
    with pytest.raises(ModelError, match="attention biases are missing"):
        load(plain, config=values | {"model_type": "qwen2"})


def test_grouped_queries_use_the_right_key_value_head(saved: Any) -> None:
    layer = load(saved("llama")[1]).layer(0)
    assert [head.kv_index for head in layer.heads] == [0, 0, 1, 1]
    assert layer.heads[0].K is not layer.heads[2].K
    assert (layer.heads[2].K == layer.heads[3].K).all()
    assert (layer.heads[1].K != layer.heads[2].K).any()


@pytest.mark.parametrize("key", ["llama", "llama3", "llama-linear"])
def test_rotary_score_matrix_is_the_score_at_each_offset(key: str, saved: Any) -> None:
    """x_i^T P(j - i) x_j is the score that the forward pass gives, and Delta W = P(delta) - P(0)."""
    from eigentoken.transformer_layer import attention

    model = load(saved(key)[1])
    x = np.random.default_rng(3).standard_normal((9, model.d))
    layer = model.layer(1)
    for head, scores in zip(layer.heads, attention(layer.block(False), x)[0], strict=True):
        for i in range(9):
            for j in range(9):
                assert abs(x[i] @ head.score_matrix(j - i) @ x[j] - scores[i, j]) < 1e-10
        assert np.abs(head.rotary_change(3) - (head.score_matrix(3) - head.score_matrix(0))).max() < 1e-12
        assert np.abs(head.rotary_change(3)).max() > 1e-3
        assert not head.rotary_change(0).any()
        wrong_sign = max(abs(x[i] @ head.score_matrix(i - j) @ x[j] - scores[i, j]) for i in range(9) for j in range(9))
        assert wrong_sign > 1e-3


def test_folding_gains_is_explicit_and_leaves_the_forward_pass_alone(saved: Any) -> None:
    from eigentoken.models import run_layer

    x = np.random.default_rng(5).standard_normal((7, 16))
    for key in ("gpt2", "llama", "vit"):
        layer = load(saved(key)[1]).layer(0)
        folded = layer.fold_gains()
        assert "nothing" in layer.stamp() and "norm gain" in folded.stamp().split("not folded")[0]
        assert np.abs(run_layer(folded, x).output - run_layer(layer, x).output).max() < 1e-12
        gain = layer.attention_norm.gain.astype(np.float64)
        assert (layer.heads[0].Q.astype(np.float64) * gain == folded.heads[0].Q).all()
        with pytest.raises(ModelError, match="already"):
            folded.fold_gains()
    with pytest.raises(ModelError, match="pre"):
        load(saved("bert")[1]).layer(0).fold_gains()


def test_switches_remove_exactly_their_part(saved: Any) -> None:
    from eigentoken.models import run_layer

    layer = load(saved("bert")[1]).layer(0)
    x = np.random.default_rng(6).standard_normal((5, 16))
    bare = run_layer(layer, x, with_feed_forward=False, with_biases=False, with_norm=False)
    update = sum((w @ x) @ h.U.T for h in layer.heads for w in [_softmax(x @ h.P @ x.T)])
    assert np.abs(bare.output - (x + update)).max() < 1e-12
    assert bare.feed_forward_output is None
    biased = run_layer(layer, x, with_feed_forward=False, with_norm=False)
    assert np.abs(biased.output - bare.output).max() > 1e-3
    full = run_layer(layer, x, with_norm=False)
    assert full.feed_forward_output is not None
    assert np.abs(full.output - full.after_attention - full.feed_forward_output).max() < 1e-12


def _softmax(scores: Any) -> Any:
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def test_layer_matrix_is_the_sum_over_heads(saved: Any) -> None:
    for key in ("gpt2", "llama"):
        layer = load(saved(key)[1]).layer(0)
        assert np.abs(layer.F - sum(h.U for h in layer.heads)).max() < 1e-12


@pytest.mark.parametrize("norm_first", [True, False])
def test_a_plain_torch_encoder_in_memory(norm_first: bool) -> None:
    import torch

    torch.manual_seed(0)
    one = torch.nn.TransformerEncoderLayer(16, 4, 24, norm_first=norm_first, activation="gelu", batch_first=True)
    encoder = torch.nn.TransformerEncoder(one, 2, enable_nested_tensor=False).eval()
    x = np.random.default_rng(0).standard_normal((2, 6, 16)).astype(np.float32)
    with torch.no_grad():
        theirs = encoder(torch.from_numpy(x)).numpy()
        alone = one.eval()(torch.from_numpy(x)).numpy()
    close(list(run_tokens(load(encoder), x))[-1].output, theirs)
    close(list(run_tokens(load(one), x))[-1].output, alone)
    with pytest.raises(ModelError, match="hidden states"):
        list(run_tokens(load(encoder), np.arange(3)))


def test_a_torch_encoder_in_a_file_needs_its_heads_said(tmp_path: Path) -> None:
    """Under a prefix, with another encoder beside it; the refusal writes the configuration but for what no shape says."""
    import torch

    torch.manual_seed(0)
    one = torch.nn.TransformerEncoderLayer(16, 4, 24, batch_first=True)
    encoder = torch.nn.TransformerEncoder(one, 2, enable_nested_tensor=False).eval()
    kept = {f"body.stack.{name}": tensor for name, tensor in encoder.state_dict().items()}
    kept |= {f"other.{name}": tensor for name, tensor in one.state_dict().items()}
    torch.save({"model_state_dict": kept}, tmp_path / "weights.pt")
    with pytest.raises(
        ModelError, match=r'TransformerEncoder: .*"num_hidden_layers": 2.*"num_attention_heads": HEADS'
    ) as caught:
        load(tmp_path)
    text = str(caught.value)
    said = json.loads(text[text.index('{"model_type') :].replace("HEADS", "4"))
    assert said["prefix"] == "body.stack."
    (tmp_path / "config.json").write_text(json.dumps(said))
    x = np.random.default_rng(0).standard_normal((6, 16)).astype(np.float32)
    with torch.no_grad():
        close(list(run_tokens(load(tmp_path), x))[-1].output, encoder(torch.from_numpy(x)[None]).numpy()[0])
    shared = said | {"prefix": "other.", "num_hidden_layers": 3}
    model = load(tmp_path, config=shared | {"stacked": False})
    assert [model.architecture.weights_of(index) for index in range(3)] == [0, 0, 0]
    with pytest.raises(ModelError, match="several prefixes"):
        load(tmp_path, config={key: value for key, value in shared.items() if key != "prefix"} | {"stacked": False})
    causal = torch.nn.Transformer.generate_square_subsequent_mask(6)
    with torch.no_grad():
        masked = encoder(torch.from_numpy(x)[None], mask=causal, is_causal=True).numpy()[0]
    model = load(tmp_path, config=said | {"causal": True})
    assert model.layer(0).mask.kind == "causal"
    close(list(run_tokens(model, x))[-1].output, masked)


FAIRSEQ = {
    "attention.self.query": "self_attn.q_proj",
    "attention.self.key": "self_attn.k_proj",
    "attention.self.value": "self_attn.v_proj",
    "attention.output.dense": "self_attn.out_proj",
    "attention.output.LayerNorm": "self_attn_layer_norm",
    "intermediate.dense": "fc1",
    "output.dense": "fc2",
    "output.LayerNorm": "final_layer_norm",
}


@pytest.mark.parametrize("stem", ["decoder.sentence_encoder.", "encoder.sentence_encoder."])
@pytest.mark.parametrize("norm", ["emb_layer_norm", "layernorm_embedding"])
def test_roberta_under_the_names_of_fairseq(stem: str, norm: str, saved: Any, tmp_path: Path) -> None:
    """A training checkpoint with the options of the program beside the weights; segments are no part of it."""
    import argparse

    import torch

    reference = saved("roberta")[0]
    state = {name.removeprefix("roberta."): each.clone() for name, each in reference.state_dict().items()}
    segment = state["embeddings.token_type_embeddings.weight"][0]
    made = {
        f"{stem}embed_tokens.weight": state["embeddings.word_embeddings.weight"] + segment,
        f"{stem}embed_positions.weight": state["embeddings.position_embeddings.weight"],
    }
    for kind in ("weight", "bias"):
        made[f"{stem}{norm}.{kind}"] = state[f"embeddings.LayerNorm.{kind}"]
        for index in range(reference.config.num_hidden_layers):
            for theirs, ours in FAIRSEQ.items():
                made[f"{stem}layers.{index}.{ours}.{kind}"] = state[f"encoder.layer.{index}.{theirs}.{kind}"]
    torch.save({"model": made, "args": argparse.Namespace(arch="roberta_small")}, tmp_path / "checkpoint_best.pt")
    with pytest.raises(ModelError, match="RoBERTa in fairseq") as caught:
        load(tmp_path)
    text = str(caught.value)
    heads = str(reference.config.num_attention_heads)
    said = json.loads(text[text.index('{"model_type') :].replace("HEADS", heads))
    (tmp_path / "config.json").write_text(json.dumps(said | {"layer_norm_eps": reference.config.layer_norm_eps}))
    given = np.arange(3, 9)
    expected = list(run_tokens(load(saved("roberta")[1]), given))
    for one, other in zip(run_tokens(load(tmp_path), given), expected, strict=True):
        close(one.output, other.output)
        close(one.scores, other.scores)


def test_unknown_family_says_what_was_found_and_what_is_supported(tmp_path: Path, saved: Any) -> None:
    import shutil

    shutil.copytree(saved("gpt2")[1], tmp_path / "m")
    (tmp_path / "m/config.json").write_text(json.dumps({"model_type": "gpt-3", "architectures": ["GPT3Model"]}))
    with pytest.raises(ModelError) as caught:
        load(tmp_path / "m")
    message = str(caught.value)
    assert "gpt-3" in message and "GPT3Model" in message and "h.0.attn" in message and "\n" not in message
    assert f"{len(supported_families())} model types are read" in message and "docs/families.md" in message
    assert "nearest by name: gpt" in message


@pytest.mark.parametrize(
    ("kind", "words"), [("mamba", "state-space"), ("rwkv", "recurrent"), ("fnet", "Fourier"), ("jamba", "hybrid")]
)
def test_what_is_no_self_attention_is_refused_for_that_reason(
    kind: str, words: str, tmp_path: Path, saved: Any
) -> None:
    values = json.loads((saved("gpt2")[1] / "config.json").read_text())
    with pytest.raises(ModelError, match=rf"{kind} is .*{words}.*self-attention"):
        load(saved("gpt2")[1], config=values | {"model_type": kind})


def test_old_configurations_without_model_type(tmp_path: Path, saved: Any) -> None:
    import shutil

    for key in ("bert", "gpt2", "llama", "mistral", "vit", "albert", "gpt-neo"):
        folder = saved(key)[1]
        values = json.loads((folder / "config.json").read_text())
        (model_type, family) = (values.pop("model_type"), load(folder).family)
        shutil.copytree(folder, tmp_path / key)
        (tmp_path / key / "config.json").write_text(json.dumps(values))
        assert load(tmp_path / key).family == family == supported_families()[model_type].name
    values["architectures"] = ["BertGenerationEncoder"]
    (tmp_path / key / "config.json").write_text(json.dumps(values))
    with pytest.raises(ModelError, match="BertGenerationEncoder"):
        load(tmp_path / key)


def test_tensorflow_names_of_norms(tmp_path: Path, saved: Any) -> None:
    """bert-base-uncased calls the norms' gain and bias gamma and beta."""
    import shutil

    from safetensors.numpy import save_file

    folder = saved("bert")[1]
    renamed = {
        f"bert.{n.replace('LayerNorm.weight', 'LayerNorm.gamma').replace('LayerNorm.bias', 'LayerNorm.beta')}": a
        for n, a in load_file(folder / "model.safetensors").items()
    }
    shutil.copy(folder / "config.json", tmp_path)
    save_file(renamed, tmp_path / "model.safetensors")
    ids = tiny.make_input("bert")
    for ours, theirs in zip(run_tokens(load(tmp_path), ids), run_tokens(load(folder), ids), strict=True):
        assert np.array_equal(ours.output, theirs.output)


def test_every_family_says_what_it_is() -> None:
    assert {family.name for family in supported_families().values()} >= {
        "albert",
        "bert",
        "gpt2",
        "gpt_neo",
        "llama",
        "vit",
    }
    assert all(family.about for family in supported_families().values())


def test_html_shows_the_convention(saved: Any) -> None:
    model = load(saved("llama")[1])
    layer = model.layer(0)
    assert "llama" in model._repr_html_()
    assert "not folded: norm gain" in layer._repr_html_()
    assert "rotary" in layer.heads[0]._repr_html_() and "4 x 16" in layer.heads[0]._repr_html_()


def test_a_table_reads_attention_of_torch_under_names_of_its_own(tmp_path: Path) -> None:
    """``nn.MultiheadAttention`` has ``in_proj_weight``, without a point; a trained model of the index has it so (ANARCII)."""
    import torch
    from safetensors.torch import save_file

    from eigentoken.models.families import family as registry
    from eigentoken.models.families.tabled import Tabled, TensorNames

    class OwnNames(Tabled):
        name = "own-names"
        model_types = ("own-names",)
        about = "post-LayerNorm, full attention"
        pre, mask_kind, biases = False, "full", "qoud"
        tables = (
            TensorNames(
                layer="encoder.layers.{}.",
                fused="attention.inner.in_proj_",
                o="attention.inner.out_proj",
                attention_norm="norm_a",
                feed_forward_norm="norm_f",
                gate="",
                up="fc_1",
                down="fc_2",
                final_norm="",
                token="encoder.token",
            ),
        )
        defaults = {"hidden_act": "relu"}

    torch.manual_seed(4)
    inner = torch.nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=True).eval()
    for each in inner.parameters():
        torch.nn.init.normal_(each, std=0.5)
    names = {"self_attn": "attention.inner", "norm1": "norm_a", "norm2": "norm_f", "linear1": "fc_1", "linear2": "fc_2"}
    tensors = {"encoder.token.weight": torch.randn(9, 8)}
    for name, value in inner.state_dict().items():
        first, _, rest = name.partition(".")
        tensors[f"encoder.layers.0.{names[first]}.{rest}"] = value.contiguous()
    save_file(tensors, tmp_path / "model.safetensors")
    config = {"model_type": "own-names", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    (tmp_path / "config.json").write_text(json.dumps(config | {"intermediate_size": 12, "vocab_size": 9}))
    registry.register(OwnNames)
    try:
        model = load(tmp_path)
        ids = np.array([1, 5, 3, 8])
        (state,) = run_tokens(model, ids)
        with torch.no_grad():
            wanted = inner(tensors["encoder.token.weight"][torch.from_numpy(ids)][None])[0]
        assert np.abs(state.output - wanted.numpy()).max() < 1e-5
        assert not model.left_out.inside
    finally:
        registry._FAMILIES.pop("own-names")
