"""``recheck`` of what ``steer`` wrote: certificates and guarantees by the second arithmetic, forgeries refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import eigentoken as et

PROMPTS = [[0, 4, 7, 2, 8], [5, 1, 6]]


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A GPT-2 of one layer, three heads, d = 12, with random weights, steered for half of eight tokens."""
    folder, rng, d = tmp_path_factory.mktemp("steer"), np.random.default_rng(3), 12
    shapes = {"attn.c_attn.weight": (d, 3 * d), "attn.c_attn.bias": (3 * d,), "attn.c_proj.weight": (d, d)}
    shapes |= {"attn.c_proj.bias": (d,), "mlp.c_fc.weight": (d, d), "mlp.c_fc.bias": (d,), "mlp.c_proj.bias": (d,)}
    shapes |= {
        "mlp.c_proj.weight": (d, d),
        **{f"{ln}.{p}": (d,) for ln in ("ln_1", "ln_2") for p in ("weight", "bias")},
    }
    named = {f"h.0.{name}": shape for name, shape in shapes.items()}
    named |= {"wte.weight": (9, d), "wpe.weight": (8, d), "ln_f.weight": (d,), "ln_f.bias": (d,)}
    save_file({k: rng.standard_normal(s).astype(np.float32) for k, s in named.items()}, folder / "model.safetensors")
    config = {
        "model_type": "gpt2",
        "n_embd": d,
        "n_layer": 1,
        "n_head": 3,
        "n_inner": d,
        "vocab_size": 9,
        "n_positions": 8,
    }
    (folder / "config.json").write_text(json.dumps(config))
    return et.steer(str(folder), "token:4", folder / "new", guarantee=0.5, prompts=PROMPTS)


def test_an_edit_is_confirmed_and_says_what_is_not_covered(edited: Any) -> None:
    found = et.recheck(edited)
    assert found == "holds", found
    assert found.not_covered == ["prompts.source", "prompts.read_by"]
    assert {each.where for each in found} >= {"weights", "folder", "verdicts, leading eigenvector"}
    told = edited.document["tokens"]["guaranteed"]
    assert told["tokens"] == 8 and 4 <= told["holds"] < 8


def _held(document: Any) -> Any:
    return next(each for each in document["tokens"]["guaranteed"]["each"] if each["verdict"] == "holds")


def _set(node: Any, **values: Any) -> None:
    node.update(values)


FORGERIES: dict[str, Callable[[Any], None]] = {
    "a token that fails is said to hold": lambda d: _set(
        next(each for each in d["tokens"]["guaranteed"]["each"] if each["verdict"] == "fails"),
        verdict="holds",
        side="+w",
    ),
    "the other side": lambda d: _set(_held(d), side="-w" if _held(d)["side"] == "+w" else "+w"),
    "a smaller angle": lambda d: _set(_held(d), tangent_at_most=_held(d)["tangent_at_most"] / 2),
    "another kappa": lambda d: _set(_held(d), kappa=[-each for each in reversed(_held(d)["kappa"])]),
    "another cosine": lambda d: _set(_held(d), cosine=[0.1, 0.2]),
    "a count": lambda d: _set(d["tokens"]["guaranteed"], holds=8, fails=0),
    "another direction": lambda d: _set(d["edit"], direction=[-each for each in d["edit"]["direction"]]),
    "more strength": lambda d: _set(d, strength=d["strength"] * 2),
    "the eigenvalue": lambda d: _set(d["leading_eigenvalue"], re=d["leading_eigenvalue"]["re"] + 1),
    "a sharper cosine": lambda d: _set(d, cosine_at_least=1.0),
    "less damage": lambda d: _set(d["output"]["stored"], mean_kl=0.0),
    "more tokens a sequence": lambda d: _set(d["run"], tokens=d["run"]["tokens"] + 1),
    "another model": lambda d: _set(d, folder=str(Path(d["folder"]).parent)),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_edit_is_refused(name: str, edited: Any) -> None:
    document = json.loads(json.dumps({"schema": "eigentoken/steer/2", **edited.as_dict()}))
    before = copy.deepcopy(document)
    FORGERIES[name](document)
    assert document != before
    assert et.recheck(document) == "fails"


def test_an_edited_folder_has_nothing_else_that_is_new(edited: Any, tmp_path: Path) -> None:
    """Another embedding or another value matrix in the written folder is found, with digests that fit."""
    import shutil

    from safetensors.numpy import load_file

    document = json.loads(json.dumps({"schema": "eigentoken/steer/2", **edited.as_dict()}))
    for name in ("wte.weight", "h.0.mlp.c_fc.weight"):
        folder = tmp_path / name
        shutil.copytree(document["folder"], folder)
        tensors = load_file(folder / "model.safetensors")
        save_file(tensors | {name: 2 * tensors[name]}, folder / "model.safetensors")
        digest = et.load(str(folder)).fingerprint()
        found = et.recheck(document | {"folder": str(folder), "folder_fingerprint": digest})
        assert found == "fails" and any(name in each.reason for each in found)


def test_states_are_steered_and_refused_beside_prompts(edited: Any, tmp_path: Path) -> None:
    model = edited.document["model"]
    states = np.random.default_rng(0).standard_normal((5, 12)).astype(np.float32)
    found = et.steer(model, "random", tmp_path / "a", states=states)
    assert found.document["states"] == {"source": "array", "tokens": 5}
    assert found.document["tokens"]["guaranteed"]["tokens"] == 5
    with pytest.raises(ValueError, match="give one of them"):
        et.steer(model, "random", tmp_path / "b", states=states, prompts=PROMPTS)
    with pytest.raises(ValueError, match="what enters layer 0"):
        et.steer(model, "random", tmp_path / "c", states=states[None])
