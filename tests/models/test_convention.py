"""The words of the convention against loops that read like the definitions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigentoken.models import Head, Layer, Mask, ModelError, Normalization, families, run_layer
from eigentoken.models.convention.errors import brief, some
from eigentoken.models.convention.head_and_layer import FeedForward, split_heads
from eigentoken.models.convention.rotary import linear_rotary, llama3_rotary, standard_rotary
from eigentoken.models.families.family import register, supported_families
from eigentoken.models.formats.safetensors_file import widen_bfloat16
from eigentoken.transformer_layer import ACTIVATIONS, activation


@given(n=st.integers(1, 8), window=st.integers(1, 9))
@settings(derandomize=True, database=None, max_examples=40, deadline=None)
def test_masks_say_which_keys_a_query_sees(n: int, window: int) -> None:
    for mask, rule in (
        (Mask("full"), lambda i, j: True),
        (Mask("causal"), lambda i, j: j <= i),
        (Mask("local", window), lambda i, j: 0 <= i - j < window),
    ):
        allowed = mask.allowed(n)
        assert all(allowed[i, j] == rule(i, j) for i in range(n) for j in range(n))


@pytest.mark.parametrize("interleaved", [True, False])
@given(a=st.floats(-50, 50), b=st.floats(-50, 50), half=st.integers(1, 4), rest=st.integers(0, 3))
@settings(derandomize=True, database=None, max_examples=60, deadline=None)
def test_rotations_are_a_group(interleaved: bool, a: float, b: float, half: int, rest: int) -> None:
    """R_a R_b = R_(a+b), R_a^T = R_(-a), and R_a acts on rows as ``rotate`` does."""
    rotary = standard_rotary(theta=100.0, d_head=2 * half + rest, dims=2 * half, interleaved=interleaved)
    R, S = rotary.rotation(a), rotary.rotation(b)
    assert np.abs(R @ S - rotary.rotation(a + b)).max() < 1e-12
    assert np.abs(R.T - rotary.rotation(-a)).max() < 1e-12
    x = np.random.default_rng(0).standard_normal((1, rotary.d_head))
    assert np.abs(rotary.rotate(x, np.array([a])) - x @ R.T).max() < 1e-12


def test_rotation_by_hand() -> None:
    """Four coordinates, theta = 16: frequencies 1 and 1/4; pairs (0, 1), (2, 3) or (0, 2), (1, 3)."""
    x = np.array([[1.0, 2.0, 3.0, 4.0]])

    def turn(u: float, v: float, angle: float) -> tuple[float, float]:
        return u * math.cos(angle) - v * math.sin(angle), u * math.sin(angle) + v * math.cos(angle)

    near = standard_rotary(theta=16.0, d_head=4, interleaved=True)
    assert near.frequencies == (1.0, 0.25)
    assert np.allclose(near.rotate(x, np.array([2]))[0], [*turn(1, 2, 2.0), *turn(3, 4, 0.5)], rtol=0, atol=1e-15)
    far = standard_rotary(theta=16.0, d_head=4)
    (p, r), (q, s) = turn(1, 3, 2.0), turn(2, 4, 0.5)
    assert np.allclose(far.rotate(x, np.array([2]))[0], [p, q, r, s], rtol=0, atol=1e-15)


def test_rotary_refuses_what_makes_no_sense() -> None:
    wrong: list[tuple[Any, dict[str, Any]]] = [
        (standard_rotary, {"theta": -1.0, "d_head": 4}),
        (standard_rotary, {"theta": math.inf, "d_head": 4}),
        (standard_rotary, {"theta": 10.0, "d_head": 3}),
        (standard_rotary, {"theta": 10.0, "d_head": 4, "dims": 6}),
        (linear_rotary, {"theta": 10.0, "d_head": 4, "dims": 4, "factor": 0.0}),
        (llama3_rotary, {"theta": 10.0, "d_head": 4, "dims": 4, "factor": 8.0, "low": 4.0, "high": 1.0}),
    ]
    for make, options in wrong:
        more = {"original_length": 16.0} if make is llama3_rotary else {}
        with pytest.raises(ModelError, match=r"rope|rotary"):
            make(**options, **more)


def test_every_bfloat16_is_widened_exactly() -> None:
    torch = pytest.importorskip("torch")
    bits = np.arange(1 << 16, dtype=np.uint16)
    theirs = torch.from_numpy(bits.view(np.int16)).view(torch.bfloat16).float().numpy()
    assert np.array_equal(widen_bfloat16(bits), theirs, equal_nan=True)


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_activations_are_those_of_transformers(name: str) -> None:
    torch = pytest.importorskip("torch")
    table = pytest.importorskip("transformers.activations").ACT2FN
    x = np.concatenate([np.linspace(-9, 9, 301), [-1000.0, 1000.0]])
    theirs = table[name](torch.from_numpy(x))
    assert np.abs(activation(name)(x) - theirs.numpy()).max() < 1e-7
    assert activation(name)(x.astype(np.float32)).dtype == np.float32
    assert (activation(name)(torch.from_numpy(x)) - theirs).abs().max() < 1e-7
    assert activation(name)(torch.from_numpy(x).float()).dtype is torch.float32


def small_layer(placement: Any = "pre") -> Layer:
    """Three tokens wide 4, two heads of width 2, all parts present."""
    rng = np.random.default_rng(1)
    W = [rng.standard_normal((4, 4)) for _ in range(4)]
    b = [rng.standard_normal(4) for _ in range(4)]
    heads = split_heads(
        *W, n_heads=2, n_kv_heads=2, scale=1.7, layer=0, stored_dtype="float64", b_Q=b[0], b_K=b[1], b_V=b[2]
    )
    norms = [Normalization("layernorm", 1e-5, rng.standard_normal(4), rng.standard_normal(4)) for _ in range(2)]
    up, down = rng.standard_normal((5, 4)), rng.standard_normal((4, 5))
    block = FeedForward(up, down, "relu", up_bias=rng.standard_normal(5), down_bias=rng.standard_normal(4))
    return Layer(0, heads, Mask("causal"), placement, *norms, "none", lambda: block, output_bias=b[3])


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_one_layer_written_with_loops(placement: str) -> None:
    layer = small_layer(placement)
    x = np.random.default_rng(2).standard_normal((3, 4))

    def norm(n: Normalization, v: Any) -> Any:
        return n.gain * (v - v.mean()) / math.sqrt(v.var() + n.eps) + n.bias

    def attend(y: Any, i: int) -> Any:
        total = layer.output_bias.copy()  # type: ignore[union-attr]
        for h in layer.heads:
            q = h.Q @ y[i] + h.q_bias
            e = [math.exp(q @ (h.K @ y[j] + h.k_bias) / h.scale) for j in range(i + 1)]
            total += h.O @ sum(e[j] / sum(e) * (h.V @ y[j] + h.v_bias) for j in range(i + 1))
        return total

    def feed(v: Any) -> Any:
        f = layer.feed_forward
        return f.down @ np.maximum(f.up @ v + f.up_bias, 0) + f.down_bias

    first, second = layer.attention_norm, layer.feed_forward_norm
    expected = []
    for i in range(3):
        if placement == "pre":
            middle = x[i] + attend([norm(first, v) for v in x], i)
            expected.append(middle + feed(norm(second, middle)))
        else:
            middle = norm(first, x[i] + attend(x, i))
            expected.append(norm(second, middle + feed(middle)))
    assert np.abs(run_layer(layer, x).output - np.array(expected)).max() < 1e-12
    batch = np.stack([x, 2 * x])
    assert np.abs(run_layer(layer, batch).output[0] - np.array(expected)).max() < 1e-12


def test_hidden_states_of_a_wrong_shape_are_refused() -> None:
    for x in (np.zeros((3, 5)), np.zeros(4), np.zeros((3, 4), dtype=int)):
        with pytest.raises(ModelError, match="hidden states"):
            run_layer(small_layer(), x)


def test_layers_say_what_they_are() -> None:
    layer = small_layer()
    assert "layer 0: 2 heads, d=4, causal, pre-layernorm, none positions" in layer.describe()
    assert layer.heads[1].describe() == "layer 0 head 1: d=4, d_head=2, scale=1.7"
    assert isinstance(layer.heads[0], Head) and not layer.heads[0].rotary_change(2).any()


def test_a_family_can_come_from_another_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from eigentoken.models.families import family
    from eigentoken.models.families.gpt2 import Gpt2

    class Plugin:
        name = "toy"

        def load(self) -> Any:
            @register
            class Toy(Gpt2):
                model_types = ("toy-gpt",)

            return Toy

    monkeypatch.setattr(family, "_FAMILIES", supported_families())
    monkeypatch.setattr(family, "entry_points", lambda group: [Plugin()] if group == "eigentoken.families" else [])
    monkeypatch.syspath_prepend(tmp_path / "first")  # packages are looked for again where a folder was added
    assert "toy-gpt" in supported_families()

    class Broken(Plugin):
        def load(self) -> Any:
            raise RuntimeError("boom")

    monkeypatch.setattr(family, "entry_points", lambda group: [Broken()])
    monkeypatch.syspath_prepend(tmp_path / "second")
    with pytest.raises(ModelError, match=r"toy.*boom"):
        supported_families()


def test_every_file_of_the_families_folder_registers_one() -> None:
    files = {path.stem for folder in families.__path__ for path in Path(folder).glob("[a-z]*.py")}
    files -= {
        "family",
        "recognition",
        "rotary_rules",
        "tabled",
    }  # what a family is, what tells one from another, tables
    assert files == {family.__module__.rsplit(".", 1)[1] for family in supported_families().values()}


def test_messages_are_short_and_on_one_line() -> None:
    assert str(ModelError("a\n  b")) == "a b"
    assert len(brief(ValueError("x" * 1000))) == 160 and brief(KeyError()) == "KeyError"
    assert some([]) == "nothing" and some(range(9), 2) == "0, 1 (and 7 more)"
