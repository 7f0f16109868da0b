"""A transformer layer, written once: attention, biases, norms, feed-forward and positions, for numpy arrays and torch tensors.

Tokens are rows, ``(..., n, d)``.  The layer as trained and the papers' layer (eq. (3) of Li and Altafini: attention,
residual connection, l2 normalization) are the two ends of :class:`LayerParts`.  A checkpoint gives a :class:`Block` of numpy
arrays (``Layer.block()``), an experiment one of torch tensors; the numbers are those of the tokens, dtype and device too.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from eigentoken.display import with_shapes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from torch import Tensor

__all__ = [
    "ACTIVATIONS",
    "ATTENTION_ONLY",
    "Block",
    "LayerParts",
    "LayerState",
    "NormWeights",
    "ScoreRules",
    "activation",
    "attended",
    "attention",
    "cast",
    "feed_forward_update",
    "linear",
    "masked_softmax",
    "normalised",
    "run_block",
    "run_parts",
    "turned",
]

#: A numpy array or a torch tensor.
Array: TypeAlias = "NDArray[Any] | Tensor"

#: Some coordinates: every second one, or a list.
Columns: TypeAlias = "slice | NDArray[Any]"

#: The same: what is given for the tokens comes back, in their library.
A = TypeVar("A", bound="NDArray[Any] | Tensor")
#: Of a value that is only read.
R = TypeVar("R", bound="NDArray[Any] | Tensor", covariant=True)


def library(x: object) -> ModuleType:
    """``torch`` for a tensor, ``numpy`` for anything else."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        return torch
    import numpy

    return numpy


def cast(value: Array | float, like: A) -> A:
    """A weight in the arithmetic of the tokens: their library, dtype and device."""
    found, own = library(like), _open(like)
    made: A = (
        found.as_tensor(value, dtype=own.dtype, device=own.device)
        if found.__name__ == "torch"
        else found.asarray(value, dtype=own.dtype)
    )
    return made


def _open(x: Array) -> Any:
    """The array to a body that asks :func:`library` which of the two it has: their methods differ in names alone."""
    return x


def linear(x: A, W: Array, b: Array | None = None) -> A:
    """``W x_i + b`` for each token."""
    y: A = _open(x) @ cast(W, x).T
    return y if b is None else _open(y) + cast(b, x)


def normalised(x: A, eps: float, centred: bool, gain: Array | None = None, bias: Array | None = None) -> A:
    """LayerNorm ``gain (x - mean) / sqrt(var + eps) + bias``, or RMSNorm ``gain x / sqrt(mean(x^2) + eps)``."""
    tokens = _open(x)
    middle = tokens - tokens.mean(axis=-1, keepdims=True) if centred else tokens
    y = middle / library(x).sqrt((middle * middle).mean(axis=-1, keepdims=True) + cast(eps, x))
    y = y if gain is None else y * cast(gain, x)
    return y if bias is None else y + cast(bias, x)


def turned(y: A, pairs: tuple[Columns, Columns], frequencies: ArrayLike, positions: ArrayLike | None = None) -> A:
    """Rotary positions: pair m of row l turns by the angle ``positions_l frequencies_m`` (by default ``positions_l = l``)."""
    import numpy as np

    first, second = pairs
    where = np.arange(y.shape[-2]) if positions is None else np.asarray(positions, dtype=np.float64)
    angle = np.multiply.outer(where, np.asarray(frequencies, dtype=np.float64))
    cos, sin = cast(np.cos(angle), y), cast(np.sin(angle), y)
    rows = _open(y)
    found = rows.clone() if library(y).__name__ == "torch" else rows.copy()
    found[..., first] = rows[..., first] * cos - rows[..., second] * sin
    found[..., second] = rows[..., first] * sin + rows[..., second] * cos
    made: A = found
    return made


def masked_softmax(scores: A, allowed: Array | None) -> A:
    """softmax over the allowed keys of each query; the others get weight 0.

    >>> import numpy as np
    >>> masked_softmax(np.zeros((2, 2)), np.array([[True, False], [True, True]]))
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    found, open_scores = library(scores), _open(scores)
    if allowed is not None:
        seen = found.as_tensor(allowed, device=open_scores.device) if found.__name__ == "torch" else allowed
        open_scores = found.where(seen, open_scores, -math.inf)
    if found.__name__ == "torch":
        weights: A = found.softmax(open_scores, -1)
        return weights
    e = found.exp(open_scores - open_scores.max(axis=-1, keepdims=True))
    shares: A = e / e.sum(axis=-1, keepdims=True)
    return shares


# activations, by the names that configurations use


def gelu(x: A) -> A:
    """x Phi(x), exact (Hendrycks and Gimpel, 2016)."""
    return _by_library(x, lambda torch: torch.nn.functional.gelu(x), _gelu)


def gelu_tanh(x: A) -> A:
    """The tanh approximation of GELU that GPT-2 was trained with."""
    return _by_library(x, lambda torch: torch.nn.functional.gelu(x, approximate="tanh"), _gelu_tanh)


def sigmoid(x: A) -> A:
    """1 / (1 + exp(-x)), without overflow."""
    return _by_library(x, lambda torch: torch.sigmoid(x), _sigmoid)


def _by_library(x: A, by_torch: Callable[[Any], Any], by_numpy: Callable[[Any], Any]) -> A:
    """What torch has ready, and what numpy is told."""
    found = library(x)
    y: A = by_torch(found) if found.__name__ == "torch" else by_numpy(x)
    return y


def _gelu(x: NDArray[Any]) -> Any:
    from scipy.special import erf

    return x * x.dtype.type(0.5) * (1 + erf(x / x.dtype.type(math.sqrt(2))))


def _gelu_tanh(x: NDArray[Any]) -> Any:
    inner = x.dtype.type(math.sqrt(2 / math.pi)) * (x + x.dtype.type(0.044715) * x * x * x)
    return x * x.dtype.type(0.5) * (1 + library(x).tanh(inner))


def _sigmoid(x: NDArray[Any]) -> Any:
    numpy = library(x)
    e = numpy.exp(-numpy.abs(x))
    return numpy.where(x >= 0, 1 / (1 + e), e / (1 + e))


def relu(x: A) -> A:
    """max(x, 0).

    >>> import numpy as np
    >>> relu(np.array([-1.0, 2.0]))
    array([0., 2.])
    """
    y: A = library(x).maximum(x, library(x).zeros_like(x))
    return y


def mish(x: A) -> A:
    """x tanh(ln(1 + e^x))."""
    y: A = x * library(x).tanh(library(x).logaddexp(x, library(x).zeros_like(x)))
    return y


class Activation(Protocol):
    """A function of each entry."""

    def __call__(self, x: A, /) -> A: ...


ACTIVATIONS: dict[str, Activation] = {
    "gelu": gelu,
    "gelu_python": gelu,
    "gelu_10": lambda x: library(x).clip(gelu(x), -10.0, 10.0),
    "gelu_accurate": gelu_tanh,
    "gelu_python_tanh": gelu_tanh,
    "gelu_new": gelu_tanh,
    "gelu_fast": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh,
    "quick_gelu": lambda x: x * sigmoid(1.702 * x),
    "leaky_relu": lambda x: library(x).where(x > 0, x, 0.01 * x),
    "linear": lambda x: x,
    "mish": mish,
    "relu": relu,
    "relu2": lambda x: relu(x) * relu(x),
    "relu6": lambda x: library(x).clip(x, 0.0, 6.0),
    "sigmoid": sigmoid,
    "silu": lambda x: x * sigmoid(x),
    "swish": lambda x: x * sigmoid(x),
    "tanh": lambda x: library(x).tanh(x),
}


# the layer


@dataclass(frozen=True)
class LayerParts:
    """Which parts of a layer are on.

    ``norm``: "affine" (as trained), "plain" (gain 1, bias 0), "l2" (each token to length 1 after each half layer, the
    papers' model, no other norm) or "none".
    """

    feed_forward: bool = True
    biases: bool = True
    norm: str = "affine"

    def __post_init__(self) -> None:
        if self.norm not in {"affine", "plain", "l2", "none"}:
            raise ValueError(f"norm must be affine, plain, l2 or none, got {self.norm!r}")


#: The layer of Li and Altafini, eq. (3): attention, residual connection, l2 normalization, step size one.
ATTENTION_ONLY = LayerParts(feed_forward=False, biases=False, norm="l2")

#: The layer as trained.
WHOLE = LayerParts()


@dataclass(frozen=True, eq=False, repr=False)
class NormWeights(Generic[R]):
    """Layer norm, or RMS norm when ``centred`` is false; nothing at all where it is the ``identity``."""

    __repr__ = with_shapes

    gain: R
    bias: R | None
    eps: float
    centred: bool = True
    identity: bool = False

    def apply(self, x: A, parts: LayerParts = WHOLE) -> A:
        if self.identity:
            return x
        affine = parts.norm == "affine"
        bias = self.bias if affine and parts.biases else None
        return normalised(x, self.eps, self.centred, self.gain if affine else None, bias)


@dataclass(frozen=True, eq=False, repr=False)
class ScoreRules(Generic[R]):
    """What a layer does to queries, keys and scores beside ``q^T k / scale``; each part is off unless it is given.

    In this order: ``clip`` cuts the entries of q, k and v to [-clip, clip]; ``query_norm`` and ``key_norm`` normalise q and k,
    each head for itself (gains (d_h) or (H, d_h)) or, ``across``, all heads of a token together (gains (H d_h)); positions turn
    them; ``terms(q, k)`` (..., H, n, n) is added to ``q^T k / scale``; ``cap`` replaces a score s by ``cap tanh(s / cap)``;
    ``sinks`` (H) are the scores of one more key, which takes weight and has no value.
    """

    __repr__ = with_shapes

    query_norm: NormWeights[R] | None = None
    key_norm: NormWeights[R] | None = None
    across: bool = False
    clip: float | None = None
    terms: Callable[..., Array] | None = None
    cap: float | None = None
    sinks: R | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Block(Generic[R]):
    """The weights of one layer: ``qkv`` (3 H d_h, d) stacked, ``out`` (d, H d_h), norms, feed-forward; see :func:`run_parts`.

    ``causal``: token i sees the tokens j <= i; ``allowed(n)``, if given, says instead which it sees.  ``turn`` turns queries
    and keys by their positions; ``rules`` is what else happens to the scores.  Values may be of another width than queries
    (``out`` says which).  ``latent``: what ``qkv`` acts on instead of the token.  ``parallel``: the feed-forward sees the state
    before the attention.  ``attention_update_norm`` and ``attention_gain`` norm and scale an update before it is added, those
    of the feed-forward likewise.
    """

    __repr__ = with_shapes

    heads: int
    qkv: R
    out: R
    scale: float
    causal: bool
    pre_norm: bool
    attention_norm: NormWeights[R]
    feed_forward_norm: NormWeights[R]
    qkv_bias: R | None = None
    out_bias: R | None = None
    up: R | None = None
    down: R | None = None
    gate: R | None = None
    up_bias: R | None = None
    down_bias: R | None = None
    gate_bias: R | None = None
    activation: str = "gelu_new"
    allowed: Callable[[int], Array] | None = None
    turn: Activation | None = None
    rules: ScoreRules[R] | None = None
    latent: Callable[..., Array] | None = None
    parallel: bool = False
    attention_update_norm: NormWeights[R] | None = None
    feed_forward_update_norm: NormWeights[R] | None = None
    attention_gain: R | None = None
    feed_forward_gain: R | None = None

    @property
    def d(self) -> int:
        return int(self.out.shape[0])

    def layer_matrix(self) -> R:
        """``F = sum_h O_h V_h``, the layer matrix of Li and Altafini, in 64 bits."""
        double = library(self.out).float64
        out, values = _open(self.out), _open(self.qkv)[-self.out.shape[1] :]
        torch = library(self.out).__name__ == "torch"
        found: R = out.to(double) @ values.to(double) if torch else out.astype(double) @ values.astype(double)
        return found

    def seen(self, n: int) -> Array | None:
        """Boolean (n, n), row = query; ``None`` where every token sees every token."""
        import numpy as np

        if self.allowed is not None:
            return self.allowed(n)
        return np.tri(n, dtype=bool) if self.causal else None


@dataclass(frozen=True, eq=False, repr=False)
class LayerState(Generic[R]):
    """What one layer did.  Rows are tokens; H is the number of heads.

    ``scores`` (..., H, n, n) before the mask, ``weights`` (..., H, n, n) after softmax, ``attention_output``
    (..., n, d) the update sum_h O_h V_h(...) + b_O before residual and norm, ``attention_update`` what of it is added (normed
    or scaled where the layer does that), ``after_attention`` the state between the two halves, ``feed_forward_output`` and
    ``feed_forward_update`` the same of the second half (None when off), ``output`` the state after the layer.
    """

    __repr__ = with_shapes

    input: R
    scores: R
    weights: R
    attention_output: R
    after_attention: R
    feed_forward_output: R | None
    output: R
    attention_update: R
    feed_forward_update: R | None = None
    index: int = 0


def attention(block: Block[Array], x: A, biases: bool = True) -> tuple[A, A, A]:
    """Scores, weights and the update ``sum_h O_h sum_j a^h_ij (V_h x_j + b_V) + b_O`` of the (already normalised) tokens.

    ``score_ij = (Q x_i + b_Q)^T R_{j-i} (K x_j + b_K) / scale``, given without the mask; R = I where ``turn`` is not given.
    """
    seen: A = x if block.latent is None else cast(block.latent(x), x)
    mixed = linear(seen, block.qkv, block.qkv_bias if biases else None)
    width = int(block.out.shape[1])
    scores, weights, joined = attended(
        mixed, block.heads, block.scale, block.seen(x.shape[-2]), block.turn, block.rules, width
    )
    return scores, weights, linear(joined, block.out, block.out_bias if biases else None)


def attended(
    mixed: A,
    heads: int,
    scale: float,
    seen: Array | None,
    turn: Activation | None = None,
    rules: ScoreRules[Array] | None = None,
    width: int | None = None,
) -> tuple[A, A, A]:
    """Scores, weights, and what the heads see side by side: from queries, keys, values (..., n, 3 H d_h) to (..., n, H d_h).

    ``width``: of all values together, where it is not a third.
    """
    rule = ScoreRules() if rules is None else rules
    flat = _open(mixed if rule.clip is None else library(mixed).clip(mixed, -rule.clip, rule.clip))
    values = mixed.shape[-1] // 3 if width is None else width
    keys = (mixed.shape[-1] - values) // 2
    parts = (flat[..., :keys], flat[..., keys : 2 * keys], flat[..., 2 * keys :])
    q, k, v = (part.reshape((*mixed.shape[:-1], heads, -1)) for part in parts)
    q, k = _normed(q, rule.query_norm, rule.across), _normed(k, rule.key_norm, rule.across)
    q, k, v = (part.swapaxes(-2, -3) for part in (q, k, v))
    if turn is not None:
        q, k = turn(q), turn(k)
    scores = q @ k.swapaxes(-1, -2) / cast(scale, mixed)
    if rule.terms is not None:
        scores = scores + cast(rule.terms(q, k), mixed)
    if rule.cap is not None:
        scores = rule.cap * library(mixed).tanh(scores / rule.cap)
    weights = masked_softmax(scores, seen) if rule.sinks is None else _with_sinks(scores, seen, rule.sinks)
    return scores, weights, (weights @ v).swapaxes(-2, -3).reshape((*mixed.shape[:-1], -1))


def _normed(y: Any, norm: NormWeights[Array] | None, across: bool) -> Any:
    """Queries or keys (..., n, H, d_h), normalised a head or, ``across``, a token."""
    if norm is None:
        return y
    if not across:
        return norm.apply(y)
    return norm.apply(y.reshape((*y.shape[:-2], -1))).reshape(y.shape)


def _with_sinks(scores: Any, seen: Array | None, sinks: Array) -> Any:
    """The weights of the keys, where one more key of the given score takes its share: they sum to less than 1."""
    found = library(scores)
    column = cast(sinks, scores)[:, None, None] + found.zeros_like(scores[..., :1])
    whole = found.concatenate([scores, column], -1)
    if seen is None:
        return masked_softmax(whole, None)[..., :-1]
    import numpy as np

    allowed = np.concatenate([np.asarray(seen), np.ones((*np.shape(seen)[:-1], 1), dtype=bool)], -1)
    return masked_softmax(whole, allowed)[..., :-1]


def activation(name: str) -> Activation:
    """The function of a configuration's activation name."""
    if name not in ACTIVATIONS:
        raise ValueError(f"activation {name[:60]!r} is not known: expected one of {', '.join(sorted(ACTIVATIONS))}")
    return ACTIVATIONS[name]


class FeedForwardWeights(Protocol):
    """What :func:`feed_forward_update` reads of a block."""

    @property
    def activation(self) -> str: ...
    @property
    def up(self) -> Array | None: ...
    @property
    def down(self) -> Array | None: ...
    @property
    def gate(self) -> Array | None: ...
    @property
    def up_bias(self) -> Array | None: ...
    @property
    def down_bias(self) -> Array | None: ...
    @property
    def gate_bias(self) -> Array | None: ...


def feed_forward_update(block: FeedForwardWeights, x: A, biases: bool = True) -> A:
    """``down act(up x + b_up) + b_down``, or with a gate ``down (act(gate x + b_gate) * (up x + b_up)) + b_down``."""
    act = activation(block.activation)
    if block.up is None or block.down is None:
        raise ValueError("the layer has no feed-forward part: up and down are left out")
    inner = linear(x, block.up, block.up_bias if biases else None)
    gate = None if block.gate is None else act(linear(x, block.gate, block.gate_bias if biases else None))
    hidden = act(inner) if gate is None else _open(gate) * inner
    return linear(hidden, block.down, block.down_bias if biases else None)


def run_parts(block: Block[Array], x: A, parts: LayerParts = WHOLE, own: tuple[A, A, A] | None = None) -> LayerState[A]:
    """One layer, part by part: pre-norm x + f(norm(x)) twice, or post-norm norm(x + f(x)) twice.

    With ``norm="l2"``: ``x <- (x + attention(x)) / |.|`` (and the same for the feed-forward if it is on); with "none"
    ``x + f(x)`` alone.  ``own``: what another attention gives in place of :func:`attention`.
    """
    trained = parts.norm in {"affine", "plain"}

    def before(norm: NormWeights[Array], y: A) -> A:
        return norm.apply(y, parts) if trained and block.pre_norm else y

    def after(norm: NormWeights[Array], y: A) -> A:
        if trained:
            return y if block.pre_norm else norm.apply(y, parts)
        if parts.norm != "l2":
            return y
        tokens = _open(y)
        unit: A = tokens / library(y).sqrt((tokens * tokens).sum(axis=-1, keepdims=True))
        return unit

    def added(norm: NormWeights[Array] | None, gain: Array | None, update: A) -> A:
        if not trained:
            return update
        normed = update if norm is None else norm.apply(update, parts)
        return normed if gain is None else _open(normed) * cast(gain, x)

    scores, weights, update = own or attention(block, before(block.attention_norm, x), parts.biases)
    first = added(block.attention_update_norm, block.attention_gain, update)
    middle: A = after(block.attention_norm, _open(x) + first)
    second, moved, output = None, None, middle
    if parts.feed_forward and block.up is not None:
        entering = x if block.parallel else middle
        second = feed_forward_update(block, before(block.feed_forward_norm, entering), parts.biases)
        moved = added(block.feed_forward_update_norm, block.feed_forward_gain, second)
        output = after(block.feed_forward_norm, _open(middle) + moved)
    return LayerState(x, scores, weights, update, middle, second, output, first, moved)


def run_block(block: Block[Array], x: A, parts: LayerParts = WHOLE) -> A:
    """The tokens after one layer."""
    return run_parts(block, x, parts).output
