"""Models with several stacks: which one is read, what is said of the others, and names with a part or a revision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.models import ModelError, load, run_tokens
from eigentoken.models.loading.sources import named

from . import reference_models as tiny
from .test_families import close


def two_towers(tmp_path: Path) -> Any:
    """CLIP with a text and a vision tower in one file."""
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    text = tiny.CASES["clip_text_model"].options
    vision = tiny.CASES["clip_vision_model"].options | {"hidden_size": 12}
    config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=8)
    torch.manual_seed(4)
    model = transformers.CLIPModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    model.save_pretrained(tmp_path)
    return model


def test_the_towers_of_clip_in_one_file(tmp_path: Path) -> None:
    import torch

    reference = two_towers(tmp_path)
    ids, pixels = tiny.tokens("clip_text_model"), tiny.tokens("clip_vision_model")
    with torch.no_grad():
        text = reference.text_model(input_ids=torch.from_numpy(ids)).last_hidden_state.numpy()
        vision = reference.vision_model(pixel_values=torch.from_numpy(pixels)).last_hidden_state.numpy()
    for source in (str(tmp_path), reference):
        model = load(source)
        *_, last = run_tokens(model, ids)
        close(model.final_norm().apply(last.output), text)  # type: ignore[union-attr]
        assert model.d == 16 and load(source, part="text").d == 16
        tower = load(source, part="vision")
        *_, last = run_tokens(tower, pixels)
        close(last.output, vision)
        assert tower.d == 12
    assert load(f"{tmp_path}#vision").source == f"{tmp_path}#vision"
    with pytest.raises(ModelError, match="no part 'sound': expected text or vision"):
        load(f"{tmp_path}#sound")


def test_a_decoder_says_that_its_cross_attention_is_left_out(tmp_path: Path) -> None:
    tiny.make("t5").save_pretrained(tmp_path)
    said = load(f"{tmp_path}#decoder").left_out
    assert any("EncDecAttention" in name for name in said.inside) and said.stacks == ("encoder.block.*",)
    assert load(tmp_path).left_out.inside == () and load(tmp_path).left_out.stacks == ("decoder.block.*",)
    with pytest.raises(ModelError, match="no part 'middle': expected encoder or decoder"):
        load(tmp_path, part="middle")


def test_a_model_with_one_stack_has_no_parts(tmp_path: Path) -> None:
    tiny.make("opt").save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="has one stack of layers"):
        load(f"{tmp_path}#decoder")
    model = load(tmp_path)
    with pytest.raises(ModelError, match="not of a model in memory"):
        load(model, part="decoder")


def test_names_with_a_revision(tmp_path: Path) -> None:
    assert named("org/name", "step1000") == "org/name@step1000"
    with pytest.raises(ModelError, match="a revision is of a hub id"):
        named(str(tmp_path), "main")
    with pytest.raises(ModelError, match=r"org/name@step1: no such file or folder, not in the Hugging Face cache"):
        load("org/name", revision="step1")
    with pytest.raises(ModelError, match=r"org/name@step1: no such file"):
        load("org/name@step1#decoder")


def test_hidden_states_where_a_stack_reads_sound(tmp_path: Path) -> None:
    tiny.make("whisper").save_pretrained(tmp_path)
    model = load(tmp_path)
    with pytest.raises(ModelError, match="convolutions"):
        list(run_tokens(model, np.arange(4)))
    *_, last = run_tokens(model, np.zeros((3, 16), dtype=np.float32))
    assert last.output.shape == (3, 16)


def test_the_table_of_families_has_a_row_for_each_type() -> None:
    """The recorded page is of the types that are read now, and none deviates by more than 1e-5."""
    import re

    from eigentoken.models import supported_families

    page = (Path(__file__).parents[2] / "docs/tables/families.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \|(.*)\|$", page, re.M)
    assert [name for name, _ in rows] == list(supported_families())
    for name, rest in rows:
        last = rest.split("|")[-1].strip()
        elsewhere = any(word in rest for word in ("roberta", "towers", "torch.nn", "test_wrapped_models.py"))
        compared = float(last) <= 1e-5 if last else elsewhere
        assert compared, name
