"""The saved steps of the samples are what their ``training.json`` says, and the larger one has a million parameters."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from eigentoken.models import load, run_tokens
from eigentoken.models.logits import output_head

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(("name", "d", "layers"), [("byte_lm", 64, 4), ("byte_lm_million", 128, 5)])
def test_a_dozen_steps_are_there(name: str, d: int, layers: int) -> None:
    folder = EXAMPLES / name
    told = json.loads((folder / "training.json").read_text())
    losses = told["held_out_loss_in_nats_a_byte"]
    assert sorted(losses) == sorted(path.stem for path in folder.glob("*.safetensors")) and len(losses) == 12
    assert list(losses.values()) == sorted(losses.values(), reverse=True)
    model = load(folder / "step03000.safetensors")
    assert (model.d, model.n_layers, model.n_heads) == (d, layers, 4)
    if name == "byte_lm_million":
        stored = sum(int(np.prod(info.shape)) for info in model.store.infos.values())
        assert told["parameters"] == stored and 1_000_000 <= stored <= 3_000_000


def test_the_integers_are_the_model_that_was_measured() -> None:
    """The next byte of English in Python is guessed far better than by chance, and by the last step better than by the first."""
    text = np.frombuffer(
        b'"""Return the value of the first item, or None."""\n    def __init__(self', dtype=np.uint8
    ).astype(int)
    found = []
    for step in ("step00000", "step03000"):
        model = load(EXAMPLES / "byte_lm_million" / f"{step}.safetensors")
        states = list(run_tokens(model, text))
        logits = np.asarray(output_head(model).logits(states[-1].output), dtype=np.float64)[:-1]
        logits -= logits.max(axis=1, keepdims=True)
        chances = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        found.append(float(-chances[np.arange(len(chances)), text[1:]].mean()))
    assert found[0] > 5 and found[1] < 2.2
