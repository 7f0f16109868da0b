"""The transformer layer, in numpy and in torch, against plain loops: whatever is on of biases, norms, gates and positions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from eigentoken.numerics.experiments.parts_of_layers import STEPS
from eigentoken.transformer_layer import ATTENTION_ONLY, Block, LayerParts, NormWeights, run_block, run_parts, turned

HEADS, WIDTH, D, INNER, N = 2, 2, 4, 6, 5
ALL_PARTS = [
    LayerParts(feed_forward, biases, norm)
    for feed_forward, biases, norm in product((False, True), (False, True), ("affine", "plain", "l2", "none"))
]
Rows = list[list[float]]


def turn(interleaved: bool) -> Callable[[Any], Any]:
    k = np.arange(WIDTH // 2)
    pairs = (2 * k, 2 * k + 1) if interleaved else (k, k + WIDTH // 2)
    return lambda y: turned(y, pairs, (0.7,))


def window(n: int) -> Tensor:
    """Local attention: each token sees itself and the one before."""
    near = torch.ones(n, n, dtype=torch.bool).tril()
    return near & ~torch.ones(n, n, dtype=torch.bool).tril(-2)


def block(kind: str, seed: int = 0) -> Block:
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return 0.6 * torch.randn(*shape, generator=generator, dtype=torch.float64)

    def norm(centred: bool) -> NormWeights:
        return NormWeights(1 + draw(D), draw(D) if centred else None, 1e-5, centred)

    llama = kind == "llama"
    return Block(
        heads=HEADS,
        qkv=draw(3 * HEADS * WIDTH, D),
        out=draw(D, HEADS * WIDTH),
        scale=math.sqrt(WIDTH),
        causal=kind != "bert",
        pre_norm=kind != "bert",
        attention_norm=norm(not llama),
        feed_forward_norm=norm(not llama),
        qkv_bias=None if llama else draw(3 * HEADS * WIDTH),
        out_bias=None if llama else draw(D),
        up=draw(INNER, D),
        down=draw(D, INNER),
        gate=draw(INNER, D) if llama else None,
        up_bias=None if llama else draw(INNER),
        down_bias=None if llama else draw(D),
        activation={"gpt2": "gelu_new", "bert": "gelu", "llama": "silu", "local": "relu"}[kind],
        allowed=window if kind == "local" else None,
        turn=turn(False) if llama else None,
    )


KINDS = ("gpt2", "bert", "llama", "local")


# the layer once more, with loops only


def matvec(matrix: Tensor, x: list[float], bias: Tensor | None) -> list[float]:
    rows = matrix.tolist()
    added = [0.0] * len(rows) if bias is None else bias.tolist()
    return [sum(w * e for w, e in zip(row, x, strict=True)) + b for row, b in zip(rows, added, strict=True)]


def normed(norm: NormWeights, x: list[float], parts: LayerParts) -> list[float]:
    mean = sum(x) / len(x) if norm.centred else 0.0
    spread = math.sqrt(sum((e - mean) ** 2 for e in x) / len(x) + norm.eps)
    y = [(e - mean) / spread for e in x]
    if parts.norm == "affine":
        y = [e * g for e, g in zip(y, norm.gain.tolist(), strict=True)]
        if parts.biases and norm.bias is not None:
            y = [e + b for e, b in zip(y, norm.bias.tolist(), strict=True)]
    return y


def activated(name: str, y: float) -> float:
    if name == "gelu_new":
        return 0.5 * y * (1 + math.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y**3)))
    if name == "gelu":
        return 0.5 * y * (1 + math.erf(y / math.sqrt(2)))
    return y / (1 + math.exp(-y)) if name == "silu" else max(0.0, y)


def turned_by_hand(y: list[float], position: int, on: bool) -> list[float]:
    if not on:
        return y
    c, s = math.cos(0.7 * position), math.sin(0.7 * position)
    return [y[0] * c - y[1] * s, y[0] * s + y[1] * c]


def sees(b: Block, i: int, j: int) -> bool:
    if b.allowed is not None:
        return i - 1 <= j <= i
    return j <= i or not b.causal


def attended(b: Block, x: Rows, biases: bool) -> Rows:
    mixed = [matvec(b.qkv, token, b.qkv_bias if biases else None) for token in x]
    joined: Rows = [[] for _ in x]
    for h in range(HEADS):
        q, k, v = ([m[s * HEADS * WIDTH + h * WIDTH :][:WIDTH] for m in mixed] for s in range(3))
        q, k = ([turned_by_hand(y, p, b.turn is not None) for p, y in enumerate(part)] for part in (q, k))
        for i in range(len(x)):
            seen = [j for j in range(len(x)) if sees(b, i, j)]
            weights = [math.exp(sum(a * c for a, c in zip(q[i], k[j], strict=True)) / b.scale) for j in seen]
            for a in range(WIDTH):
                joined[i].append(sum(w * v[j][a] for w, j in zip(weights, seen, strict=True)) / sum(weights))
    return [matvec(b.out, row, b.out_bias if biases else None) for row in joined]


def fed(b: Block, x: list[float], biases: bool) -> list[float]:
    assert b.up is not None
    assert b.down is not None
    inner = matvec(b.up, x, b.up_bias if biases else None)
    if b.gate is None:
        hidden = [activated(b.activation, y) for y in inner]
    else:
        hidden = [activated(b.activation, g) * y for g, y in zip(matvec(b.gate, x, None), inner, strict=True)]
    return matvec(b.down, hidden, b.down_bias if biases else None)


def plus(x: Rows, y: Rows) -> Rows:
    return [[a + c for a, c in zip(p, q, strict=True)] for p, q in zip(x, y, strict=True)]


def by_loops(b: Block, x: Rows, parts: LayerParts) -> Rows:
    halves: list[tuple[NormWeights, Any]] = [(b.attention_norm, lambda y: attended(b, y, parts.biases))]
    if parts.feed_forward:
        halves.append((b.feed_forward_norm, lambda y: [fed(b, token, parts.biases) for token in y]))
    for norm, half in halves:
        if parts.norm in {"l2", "none"}:
            x = plus(x, half(x))
            if parts.norm == "l2":
                x = [[e / math.sqrt(sum(f * f for f in token)) for e in token] for token in x]
        elif b.pre_norm:
            x = plus(x, half([normed(norm, token, parts) for token in x]))
        else:
            x = [normed(norm, token, parts) for token in plus(x, half(x))]
    return x


def tokens(seed: int = 1, *batch: int) -> Tensor:
    return torch.randn(*batch, N, D, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("parts", ALL_PARTS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_loops_whatever_is_switched_on(kind: str, parts: LayerParts) -> None:
    b, x = block(kind), tokens()
    slow = np.array(by_loops(b, x.tolist(), parts))
    fast = run_block(b, x, parts)
    assert isinstance(fast, Tensor)
    assert np.allclose(fast.numpy(), slow, rtol=1e-12, atol=1e-12)
    plain = run_block(in_numpy(b), x.numpy(), parts)
    assert isinstance(plain, np.ndarray)
    assert np.allclose(plain, slow, rtol=1e-12, atol=1e-12)


def in_numpy(b: Block) -> Block:
    """The same weights as numpy arrays."""

    def moved(value: Any) -> dict[str, Any]:
        return {name: part.numpy() for name, part in vars(value).items() if isinstance(part, Tensor)}

    norms = {
        name: replace(getattr(b, name), **moved(getattr(b, name))) for name in ("attention_norm", "feed_forward_norm")
    }
    seen = b.allowed
    return replace(b, **moved(b), **norms, allowed=None if seen is None else lambda n: seen(n).numpy())


@pytest.mark.parametrize("kind", KINDS)
def test_every_part_of_the_state_is_the_same_in_numpy_and_in_torch(kind: str) -> None:
    b, x = block(kind), tokens(8, 2)
    one, other = run_parts(b, x), run_parts(in_numpy(b), x.numpy())
    for name in ("scores", "weights", "attention_output", "after_attention", "feed_forward_output", "output"):
        assert np.allclose(getattr(one, name).numpy(), getattr(other, name), rtol=1e-12, atol=1e-12), name
    assert np.allclose(in_numpy(b).layer_matrix(), b.layer_matrix().numpy(), atol=1e-14)
    low = run_parts(in_numpy(b), x.numpy().astype(np.float32))
    assert {getattr(low, name).dtype for name in ("scores", "weights", "output")} == {np.dtype(np.float32)}


@pytest.mark.parametrize("kind", KINDS)
def test_batches_and_float32_agree(kind: str) -> None:
    b, x = block(kind), tokens(2, 3)
    whole = run_block(b, x)
    assert torch.allclose(whole[1], run_block(b, x[1]), atol=1e-12)
    names = [name for name, value in vars(b).items() if isinstance(value, Tensor)]
    norms = {
        name: replace(getattr(b, name), gain=getattr(b, name).gain.float(), bias=_single(getattr(b, name).bias))
        for name in ("attention_norm", "feed_forward_norm")
    }
    single = replace(b, **{name: getattr(b, name).float() for name in names}, **norms)
    assert torch.allclose(run_block(single, x.float()).double(), whole, rtol=1e-3, atol=1e-4)


def _single(value: Tensor | None) -> Tensor | None:
    return None if value is None else value.float()


@pytest.mark.parametrize("kind", KINDS)
def test_attention_alone_is_odd_and_on_the_sphere_and_biases_are_not_odd(kind: str) -> None:
    b, x = block(kind), torch.nn.functional.normalize(tokens(3), dim=-1)
    moved = run_block(b, x, ATTENTION_ONLY)
    assert torch.allclose(run_block(b, -x, ATTENTION_ONLY), -moved, atol=1e-13)
    assert torch.allclose(torch.linalg.vector_norm(moved, dim=-1), torch.ones(N, dtype=torch.float64), atol=1e-14)
    biased = LayerParts(feed_forward=False, biases=True, norm="l2")
    odd = torch.allclose(run_block(b, -x, biased), -run_block(b, x, biased), atol=1e-6)
    assert odd == (b.qkv_bias is None)


@pytest.mark.parametrize("kind", KINDS)
def test_permutation_equivariant_only_without_mask_and_positions(kind: str) -> None:
    b, x, order = block(kind), tokens(4), torch.tensor([3, 1, 4, 0, 2])
    same = torch.allclose(run_block(b, x[order]), run_block(b, x)[order], atol=1e-10)
    assert same == (kind == "bert")
    turned_only = replace(block("llama"), causal=False)
    assert not torch.allclose(run_block(turned_only, x[order]), run_block(turned_only, x)[order], atol=1e-6)
    unturned = replace(turned_only, turn=None)
    assert torch.allclose(run_block(unturned, x[order]), run_block(unturned, x)[order], atol=1e-10)


@pytest.mark.parametrize(("name", "parts"), STEPS, ids=[name for name, _ in STEPS])
@pytest.mark.parametrize("kind", ["gpt2", "bert", "llama"])
def test_jacobian_by_error_slope(kind: str, name: str, parts: LayerParts) -> None:
    b, x, v = block(kind), tokens(5), tokens(6)
    value, slope = torch.autograd.functional.jvp(lambda y: run_block(b, y, parts), x, v)
    steps = [2.0**-k for k in range(6, 14)]
    errors = [float(torch.linalg.vector_norm(run_block(b, x + h * v, parts) - value - h * slope)) for h in steps]
    order = (math.log(errors[2]) - math.log(errors[-1])) / (math.log(steps[2]) - math.log(steps[-1]))
    assert abs(order - 2) < 0.15


def test_interleaved_pairs_turn_like_split_ones_of_the_same_width() -> None:
    y = tokens(7)[..., :2]
    assert torch.allclose(turn(True)(y), turn(False)(y))
    assert torch.allclose(
        turn(False)(y), torch.tensor([turned_by_hand(row, p, True) for p, row in enumerate(y.tolist())], dtype=y.dtype)
    )


def test_a_wrong_layer_is_caught() -> None:
    """The comparison can fail: the norm on the wrong side, or a scale left out, is another layer."""
    b, x = block("gpt2"), tokens()
    truth = torch.tensor(by_loops(b, x.tolist(), LayerParts()), dtype=torch.float64)
    for wrong in (
        replace(b, pre_norm=False),
        replace(b, scale=1.0),
        replace(b, causal=False),
        replace(b, out_bias=None),
    ):
        assert not torch.allclose(run_block(wrong, x), truth, atol=1e-4)
