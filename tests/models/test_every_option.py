"""Every option of every configuration, moved to other values: read as ``transformers`` reads it, or refused, never passed over.

The slow test changes one entry at a time of every tiny model; the quick one has the entries that were once read otherwise.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.table_families import deviations
from eigentoken.models import ModelError, load
from eigentoken.models.families.family import CHANGES_ATTENTION

from . import conftest as first
from . import reference_models as tiny
from .reference import Recording
from .test_families import PROJECTION

pytest.importorskip("transformers")

CASES = dict(tiny.CASES) | {
    f"first {key}": tiny.Case(prefix, options, PROJECTION.get(prefix, "o_proj"))
    for key, (prefix, options) in first.FAMILIES.items()
}
WORDS = ("relu", "silu", "gelu_new", "gelu", "tanh", "layer_norm", "absolute", "rotary", "relative_key")
#: What a model computes in evaluation does not depend on these.
IDLE = {"vocab_size", "use_cache", "return_dict", "dtype", "architectures", "transformers_version", "model_type"}
IDLE |= {
    "output_hidden_states",
    "output_attentions",
    "chunk_size_feed_forward",
    "id2label",
    "label2id",
    "is_encoder_decoder",
}
IDLE |= {"bos_token_id", "eos_token_id", "pad_token_id", "mask_token_id", "decoder_start_token_id", "problem_type"}
#: Of the picture that is given, or of the head of the stand-in, not of the reading.
OTHER_SHAPES = {"image_size", "patch_size", "word_embed_proj_dim"}
#: Where the reference itself has two answers, and why ours is the one that it is.
TOLD = {
    ("gemma", "hidden_act"): "the oldest files say gelu and mean its tanh form",
    ("falcon", "alibi"): "eager adds ALiBi twice, sdpa once, as Falcon was trained (the case falcon-rw)",
    (
        "phi3-longrope",
        "original_max_position_embeddings",
    ): "longer sequences than were trained are refused by the forward pass",
}


class TooLong(Exception):
    """A reference that takes longer than it should: a huge model."""


def others(value: Any) -> Iterator[Any]:
    """Other values of the same kind."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int) and value > 0:
        yield from (value + 1, value * 2, max(1, value // 2))
    elif isinstance(value, float):
        yield from (value * 1.7 + 0.01, 0.3)
    elif value is None:
        yield from (True, 2, 0.7)
    elif isinstance(value, str):
        yield from WORDS
    elif isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        yield from (list(reversed(value)), ["full_attention"] * len(value), ["sliding_attention"] * len(value))


def given(key: str) -> Any:
    """What the model of a case reads; ids from 3 on, so that no moved number makes one of them padding."""
    made = first.make_input(key[6:]) if key.startswith("first ") else tiny.tokens(key)
    return made if made.dtype.kind == "f" else np.maximum(made, 3)


def recorded(case: tiny.Case, seed: int, tokens: Any, **changed: Any) -> tuple[Any, Recording] | None:
    """The reference with changed options, and what it computes; None where it does not take them."""

    def ring(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(120)
    try:
        model = tiny.built(case, seed, **changed)
        record = Recording(getattr(model, case.part) if case.part else model, tokens, case.projection)
    except Exception:
        return None
    else:
        if not any(name.endswith(case.head) for name, _ in model.named_modules()):
            return None  # equal widths need no module between them, which the comparison asks for
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return (model, record) if np.isfinite(record.last).all() else None


def outcome(case: tiny.Case, made: tuple[Any, Recording], tokens: Any, folder: Path) -> str:
    """``refused``, or the largest deviation of our reading."""
    model, record = made
    model.save_pretrained(folder)
    try:
        ours = load(f"{folder}#{case.part}" if case.part else folder)
        worst = max(deviations(ours, record, tokens, case, model))
    except ModelError:
        return "refused"
    return "agrees" if worst < 2e-4 else f"deviates by {worst:.1e}"


@pytest.mark.parametrize(
    ("key", "changed", "expected"),
    [
        ("gemma", {"hidden_act": "silu"}, "agrees"),
        ("gemma3_text", {"attn_logit_softcapping": 0.7}, "agrees"),
        ("phi3-longrope", {"max_position_embeddings": 48}, "agrees"),
        ("phi3-longrope", {"original_max_position_embeddings": 13}, "agrees"),
        ("phi3-longrope", {"original_max_position_embeddings": 6}, "refused"),
        ("t5", {"dense_act_fn": "silu"}, "agrees"),
        ("whisper-decoder", {"scale_embedding": True}, "agrees"),
        ("deberta-v2", {"max_relative_positions": 2}, "refused"),
        ("deberta-v2", {"position_buckets": 2}, "agrees"),
        ("olmoe", {"clip_qkv": 0.7}, "refused"),
        ("qwen3_moe", {"use_sliding_window": True, "sliding_window": 3}, "agrees"),
        ("qwen3_moe", {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}, "agrees"),
        ("deepseek_v3", {"head_dim": 2}, "refused"),
        ("deberta-absolute", {"pos_att_type": ["x"]}, "refused"),
    ],
)
def test_what_was_once_read_otherwise(key: str, changed: dict[str, Any], expected: str, tmp_path: Path) -> None:
    made = recorded(CASES[key], 5, given(key), **changed)
    if made is None:  # transformers 5.10 runs no such model, so there is nothing to read otherwise
        assert (key, changed, expected) == ("deepseek_v3", {"head_dim": 2}, "refused")
        return
    assert outcome(CASES[key], made, given(key), tmp_path) == expected


@pytest.mark.parametrize(
    ("key", "entries"),
    [
        ("olmo3", {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 50.0}}),
        ("gemma3_text", {"rope_parameters": {"rope_type": "default", "rope_theta": 50.0}}),
        ("modernbert", {"rope_parameters": {"rope_type": "default", "rope_theta": 50.0}}),
    ],
)
def test_one_rotary_rule_where_each_kind_of_layer_has_its_own(
    key: str, entries: dict[str, Any], tmp_path: Path
) -> None:
    """The reference passes over it in silence; which layers it would be about is not said."""
    tiny.built(CASES[key], 5).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | entries))
    with pytest.raises(ModelError, match="a rule for each kind of layer"):
        load(tmp_path).layer(0)


@pytest.mark.parametrize("key", ["glm", "gemma2", "llama"])
def test_a_rotary_rule_for_all_beside_rules_for_kinds_is_refused(key: str, tmp_path: Path) -> None:
    """``transformers`` writes both where one dict was given to a model with kinds of layers and to another."""
    tiny.built(CASES.get(key) or CASES[f"first {key}"], 5).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    for theta in (
        50.0,
        None,
    ):  # null: what transformers 5.10 writes for a type whose layers are of kinds, which these are not
        rope = {
            "rope_type": "default",
            "rope_theta": theta,
            "full_attention": {"rope_type": "default", "rope_theta": 9.0},
        }
        (tmp_path / "config.json").write_text(json.dumps(config | {"rope_parameters": rope}))
        with pytest.raises(ModelError, match="beside one another"):
            load(tmp_path).layer(0)


@pytest.mark.parametrize("option", CHANGES_ATTENTION)
def test_an_option_of_another_type_is_refused(option: str, tmp_path: Path) -> None:
    """``transformers`` passes over it; a model that was trained with it would be read as another one."""
    tiny.built(CASES["olmo2"], 5).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    for value, refused in ((2.0, True), (None, False), (False, False)):
        (tmp_path / "config.json").write_text(json.dumps(config | {option: value}))
        if refused:
            with pytest.raises(ModelError, match=f"{option}=2.0 changes the attention, and olmo2 does not have it"):
                load(tmp_path)
        else:
            load(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("key", CASES)
def test_no_option_is_passed_over(key: str, tmp_path: Path) -> None:
    import transformers

    case, tokens = CASES[key], given(key)
    options = getattr(transformers, f"{case.prefix}Config")(**case.options).to_dict()
    wrong, tried = [], 0
    for name, value in options.items():
        if name in IDLE or name in OTHER_SHAPES or name.startswith("_") or (key.partition("-")[0], name) in TOLD:
            continue
        if (key, name) in TOLD:
            continue
        for number, other in enumerate(others(value)):
            made = recorded(case, 5, tokens, **{name: other})
            if made is not None:
                tried += 1
                found = outcome(case, made, tokens, tmp_path / f"{name}{number}")
                wrong += [f"{name}={other!r}: {found}"] if found.startswith("deviates") else []
    assert not wrong
    assert tried >= 3
