"""Models of TransformerLens and nnsight in memory, by stand-ins with the names, shapes and formulas of the packages.

The packages themselves (TransformerLens 3.9 and 4.3, nnsight 0.8) were compared by hand: largest deviation 4e-6.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from eigentoken.models import ModelError, load, run_tokens
from eigentoken.models.formats.hooked import unwrapped_names

torch = pytest.importorskip("torch")
IDS = np.array([[3, 1, 4, 1, 5, 9]])
CFG: dict[str, Any] = {
    "n_layers": 2,
    "d_model": 12,
    "d_head": 4,
    "n_heads": 3,
    "d_mlp": 20,
    "d_vocab": 16,
    "n_ctx": 8,
    "act_fn": "relu",
    "eps": 1e-5,
    "normalization_type": "LN",
    "positional_embedding_type": "standard",
    "attention_dir": "causal",
    "attn_scale": 2.0,
    "use_attn_scale": True,
}


class Hooked(torch.nn.Module):  # type: ignore[name-defined, misc]
    """The parameters of a HookedTransformer, and its forward pass as its components write it (einsum by head)."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.cfg = SimpleNamespace(**(CFG | settings))
        c, generator = self.cfg, torch.Generator().manual_seed(0)
        H, d, e, m, kv = c.n_heads, c.d_model, c.d_head, c.d_mlp, getattr(c, "n_key_value_heads", None)
        mark, G = ("_", kv) if kv else ("", H)
        shapes = {"W_Q": (H, d, e), "b_Q": (H, e), "W_O": (H, e, d), "b_O": (d,)}
        shapes |= {
            f"{mark}{name}": shape
            for name, shape in {"W_K": (G, d, e), "b_K": (G, e), "W_V": (G, d, e), "b_V": (G, e)}.items()
        }
        inner = {"W_in": (d, m), "b_in": (m,), "W_out": (m, d), "b_out": (d,)}
        inner |= {"W_gate": (d, m)} if getattr(c, "gated_mlp", False) else {}
        self.kept: dict[str, Any] = {"embed.W_E": (c.d_vocab, d), "pos_embed.W_pos": (c.n_ctx, d)}
        for index in range(c.n_layers):
            self.kept |= {f"blocks.{index}.attn.{name}": shape for name, shape in shapes.items()}
            self.kept |= {f"blocks.{index}.mlp.{name}": shape for name, shape in inner.items()}
            if c.normalization_type in ("LN", "RMS"):
                parts = ("w", "b") if c.normalization_type == "LN" else ("w",)
                self.kept |= {f"blocks.{index}.{ln}.{part}": (d,) for ln in ("ln1", "ln2") for part in parts}
        self.kept = {name: torch.randn(shape, generator=generator) for name, shape in self.kept.items()}

    def state_dict(self) -> dict[str, Any]:
        return dict(self.kept)

    def _norm(self, x: Any, name: str) -> Any:
        kind = self.cfg.normalization_type
        x = x - x.mean(-1, keepdim=True) if kind in ("LN", "LNPre") else x
        x = x / (x.pow(2).mean(-1, keepdim=True) + self.cfg.eps).sqrt()
        x = x * self.kept[f"{name}.w"] if kind in ("LN", "RMS") else x
        return x + self.kept[f"{name}.b"] if kind == "LN" else x

    def run(self, ids: Any) -> list[Any]:
        c, found = self.cfg, []
        x = self.kept["embed.W_E"][ids] + self.kept["pos_embed.W_pos"][: ids.shape[-1]]
        for index in range(c.n_layers):
            p = {name.removeprefix(f"blocks.{index}."): t for name, t in self.kept.items()}
            take = lambda name, p=p: p.get(f"attn.{name}", p.get(f"attn._{name}"))  # noqa: E731
            seen = self._norm(x, f"blocks.{index}.ln1")
            q, k, v = (torch.einsum("bid,hde->bihe", seen, take(f"W_{n}")) + take(f"b_{n}") for n in "QKV")
            k, v = (each.repeat_interleave(c.n_heads // each.shape[2], 2) for each in (k, v))
            scores = torch.einsum("bihe,bjhe->bhij", q, k) / c.attn_scale
            scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf)
            mixed = torch.einsum("bhij,bjhe->bihe", scores.softmax(-1), v)
            x = x + torch.einsum("bihe,hed->bid", mixed, p["attn.W_O"]) + p["attn.b_O"]
            seen = self._norm(x, f"blocks.{index}.ln2")
            inner = seen @ p["mlp.W_in"]
            inner = torch.relu(seen @ p["mlp.W_gate"]) * inner if "mlp.W_gate" in p else inner
            inner = inner + p["mlp.b_in"]
            inner = inner if "mlp.W_gate" in p else torch.relu(inner)
            x = x + inner @ p["mlp.W_out"] + p["mlp.b_out"]
            found.append(x.numpy())
        return found


@pytest.mark.parametrize(
    "settings",
    [{}, {"normalization_type": "LNPre"}, {"normalization_type": "RMS", "gated_mlp": True, "n_key_value_heads": 1}],
)
def test_a_hooked_transformer_is_read_as_it_runs(settings: dict[str, Any]) -> None:
    hooked = Hooked(**settings)
    model = load(hooked)
    for ours, theirs in zip(run_tokens(model, IDS), hooked.run(torch.tensor(IDS)), strict=True):
        assert np.abs(ours.output - theirs).max() < 1e-4
    head = model.layer(1).heads[2]
    assert np.array_equal(head.Q, hooked.kept["blocks.1.attn.W_Q"][2].T.numpy())
    assert np.array_equal(head.O, hooked.kept["blocks.1.attn.W_O"][2].T.numpy())
    assert not model.left_out.inside


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"positional_embedding_type": "alibi"}, "positions 'alibi'"),
        ({"use_qk_norm": True}, "cfg.use_qk_norm = True"),
        ({"act_fn": "solu_ln"}, "solu_ln"),
        ({"num_experts": 8}, "num_experts"),
    ],
)
def test_what_a_hooked_transformer_does_beside_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        load(Hooked(**settings))


def test_nnsight_keeps_the_model_that_it_wraps() -> None:
    inner = torch.nn.TransformerEncoderLayer(16, 4, 24)
    assert load(SimpleNamespace(_module=inner)).d == 16
    with pytest.raises(ModelError, match="source must be"):
        load(SimpleNamespace(_module="no module"))


def _bridge(changed: bool) -> Any:
    """The tensors of a GPT-2 behind the names of a bridge, whose own views are those, or others."""
    rng, d, o = np.random.default_rng(1), 8, "_original_component"
    shapes = {
        f"attn.{o}.c_attn.{o}.weight": (d, 3 * d),
        f"attn.{o}.c_attn.{o}.bias": (3 * d,),
        f"attn.{o}.c_proj.bias": (d,),
    }
    shapes |= {f"attn.{o}.c_proj.weight": (d, d), f"attn.q.{o}.weight": (d, d), f"mlp.{o}.c_fc.weight": (d, d)}
    shapes |= {f"mlp.{o}.c_fc.bias": (d,), f"mlp.{o}.c_proj.weight": (d, d), f"mlp.{o}.c_proj.bias": (d,)}
    shapes |= {f"{ln}.{o}.{part}": (d,) for ln in ("ln_1", "ln_2") for part in ("weight", "bias")}
    named = {f"transformer.h.0.{o}.{name}": shape for name, shape in shapes.items()} | {
        f"transformer.h.0.ln1.{o}.bias": (d,)
    }
    named |= {
        f"transformer.{name}": shape for name, shape in {f"wte.{o}.weight": (9, d), f"wpe.{o}.weight": (6, d)}.items()
    }
    named |= {"transformer.ln_f.weight": (d,), "transformer.ln_f.bias": (d,)}
    tensors = {name: torch.tensor(rng.standard_normal(shape), dtype=torch.float32) for name, shape in named.items()}
    config = {
        "model_type": "gpt2",
        "n_embd": d,
        "n_layer": 1,
        "n_head": 2,
        "n_inner": d,
        "vocab_size": 9,
        "n_positions": 6,
    }
    fused = tensors[f"transformer.h.0.{o}.attn.{o}.c_attn.{o}.weight"]
    W_Q = fused[:, :d].reshape(1, d, 2, 4).permute(0, 2, 1, 3) * (2 if changed else 1)
    W_O = tensors[f"transformer.h.0.{o}.attn.{o}.c_proj.weight"].reshape(1, 2, 4, d)
    original = SimpleNamespace(state_dict=lambda: tensors, config=SimpleNamespace(to_dict=lambda: config))
    return SimpleNamespace(original_model=original, cfg=SimpleNamespace(), W_Q=W_Q, W_O=W_O)


def test_a_bridge_is_read_by_the_model_that_it_wraps_unless_it_runs_other_weights() -> None:
    model = load(_bridge(changed=False))
    assert model.family == "gpt2" and not model.left_out.inside
    assert all("_original_component" not in name and ".attn.q." not in name for name in model.store.infos)
    with pytest.raises(ModelError, match="runs other weights"):
        load(_bridge(changed=True))


def test_names_of_wrappers_are_left_out() -> None:
    tensors: Any = {"a._original_component.w": 1, "a.q._original_component.w": 2, "b.w": 3}
    assert unwrapped_names(tensors) == {"a.w": 1, "b.w": 3}
