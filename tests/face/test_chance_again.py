"""The second arithmetic of ``chance`` on tokens: it agrees with the first on layers of several families, and shares no code."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigentoken as et
from eigentoken.numerics.layers import head_jacobian, heads_on_tokens, layers_on_tokens, redrawn
from eigentoken.numerics.recheck.layers import chance_layers, chance_nulls, chance_on_tokens
from eigentoken.rechecking.lines import AGAIN
from eigentoken.rechecking.recheck import recheck_document

SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24, "vocab_size": 32}
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "rotary, shared values, a gate": ("Llama", {**SIZES, "num_key_value_heads": 2}),
    "norms after the layer": ("Bert", SIZES),
    "beside each other, part of a head turned": ("GPTNeoX", {**SIZES, "rotary_pct": 0.5}),
    "norms of updates": ("Glm4", {**SIZES, "num_key_value_heads": 2, "head_dim": 4}),
}


def document_of(name: str, sizes: dict[str, Any], folder: Path) -> Path:
    """What ``chance`` says of a tiny model with gains and biases of its own."""
    transformers, torch = pytest.importorskip("transformers"), pytest.importorskip("torch")
    torch.manual_seed(0)
    pads = {"pad_token_id": 0} if name == "Glm4" else {}
    made = getattr(transformers, f"{name}Model")(getattr(transformers, f"{name}Config")(**sizes, **pads))
    for parameter in made.parameters():
        parameter.data += 0.2 * torch.randn_like(parameter.data)
    made.save_pretrained(folder / "model")
    found = et.against_chance(str(folder / "model"), draws=200, tokens=6)
    path = folder / "chance.json"
    path.write_text(json.dumps({"schema": "eigentoken/chance/6", **found.as_dict()}))
    return path


def _raises(*_given: Any, **_named: Any) -> Any:
    raise AssertionError("the issuer's arithmetic was asked")


@pytest.mark.parametrize("family", FAMILIES)
def test_layers_are_found_again_without_the_code_that_drew_them(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is made again by the issuer, whose functions raise; a number that is off by a thousandth is refused."""
    path = document_of(*FAMILIES[family], tmp_path)
    for module, names in (
        (heads_on_tokens.HeadsAtTokens, ("against", "measured", "attend", "mixed")),
        (layers_on_tokens.LayerAtStates, ("against", "measured", "_after", "_turned")),
        (layers_on_tokens, ("draw_leaders", "principal_of_factors", "run_parts")),
        (head_jacobian, ("jacobian_norms",)),
        (redrawn, ("draw_heads", "lower_factors", "random_rotations")),
    ):
        for name in names:
            monkeypatch.setattr(module, name, _raises)
    found = recheck_document(path)
    assert found == "holds", found
    assert not any(each.where == "tokens" and each.by == AGAIN for each in found)
    document = json.loads(path.read_text())
    quantities = {test["quantity"] for test in document["tokens"]["tests"]}
    assert {"contraction", "update", "diversity", "delta rho", "probability"} <= quantities
    assert ("Jacobian" in quantities) == (family == "norms after the layer")
    for place in range(0, len(document["tokens"]["tests"]), 7):
        forged = json.loads(path.read_text())
        test = forged["tokens"]["tests"][place]
        test["mean"] += 0.001 * max(abs(test["mean"]), test["deviation"])
        test["z"] = (test["value"] - test["mean"]) / test["deviation"] if test["deviation"] else 0.0
        other = tmp_path / "forged.json"
        other.write_text(json.dumps(forged))
        if place % 5 == 0:
            assert recheck_document(other) == "fails", test


def test_a_layer_that_the_second_arithmetic_cannot_read_is_said_to_be_made_again(tmp_path: Path) -> None:
    path = document_of("Olmo2", {**SIZES, "num_key_value_heads": 4}, tmp_path)
    found = recheck_document(path)
    assert found == "holds"
    assert any(each.where == "tokens" and each.by == AGAIN and "layers 0, 1" in each.reason for each in found)


def test_the_second_arithmetic_imports_nothing_of_the_first() -> None:
    for module in (chance_layers, chance_nulls, chance_on_tokens):
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        own = [name for name in names if name.startswith("eigentoken")]
        data = {"eigentoken.files.documents", "eigentoken.documents.chance_document"}
        assert own and all(".recheck." in name or name in data for name in own), own


def test_activations_and_leaders_are_those_of_the_first_arithmetic() -> None:
    from eigentoken.transformer_layer import activation

    x = np.linspace(-6.0, 6.0, 101)
    for name, own in chance_layers.ACTIVATIONS.items():
        assert own(x) == pytest.approx(activation(name)(x), abs=1e-14), name
    source, planes = np.random.default_rng(0), set()
    for rank in (3, 7, 7, 7, 7):
        left, right = source.standard_normal((7, rank)), source.standard_normal((rank, 7))
        first, second = layers_on_tokens.principal_of_factors(left, right), chance_layers.leader_of(left, right)
        assert first @ first.T == pytest.approx(second @ second.T, abs=1e-9)
        planes.add(first.shape[1])
    assert planes == {1, 2}
