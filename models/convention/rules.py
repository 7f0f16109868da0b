"""What attention layers do beside softmax of a bilinear form: said in words, and handed to the forward pass.

The theorems are about ``softmax_j(x_i^T P x_j)`` and an update ``sum_h U_h sum_j a_ij x_j`` that is added as it is.  A layer with
norms of queries and keys, capped scores, sinks, a normed latent or a normed update is another system; :meth:`Rules.scores`,
:meth:`Rules.weights` and :meth:`Rules.values` say in which part, and ``check`` then says that a statement is not about it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigentoken.display import with_shapes
from eigentoken.models.convention.normalization import Normalization
from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.score_terms import ScoreTerms
from eigentoken.transformer_layer import ScoreRules, linear


@dataclass(frozen=True, eq=False, repr=False)
class Latent:
    """Multi-head latent attention (DeepSeek-AI, 2024): heads read normed projections of the token, not the token.

    ``z = [norm_q(A_q x); norm_kv(A_kv x); A_r x]``, and ``qkv`` (rows of all queries, keys, values) acts on z; without ``A_q``
    the first part is x itself.
    """

    __repr__ = with_shapes

    kv_down: Array
    kv_norm: Normalization
    shared_key: Array
    qkv: Array
    q_down: Array | None = None
    q_norm: Normalization | None = None

    def __call__(self, x: Array) -> Array:
        first = x
        if self.q_down is not None and self.q_norm is not None:
            first = self.q_norm.apply(linear(x, self.q_down))
        return np.concatenate([first, self.kv_norm.apply(linear(x, self.kv_down)), linear(x, self.shared_key)], -1)


@dataclass(frozen=True, eq=False, repr=False)
class Rules:
    """The parts of a layer that :class:`~eigentoken.transformer_layer.ScoreRules` describes, as the checkpoint has them."""

    __repr__ = with_shapes

    query_norm: Normalization | None = None
    key_norm: Normalization | None = None
    across: bool = False
    clip: float | None = None
    terms: ScoreTerms | None = None
    cap: float | None = None
    sinks: Array | None = None
    latent: Latent | None = None

    def scores(self) -> str:
        """How scores are made where they are no bilinear form of the tokens (positions apart), else nothing."""
        said = ["queries and keys cut to a range"] if self.clip is not None else []
        said += ["norms of queries and keys"] if self.query_norm is not None or self.key_norm is not None else []
        said += ["a norm inside queries and keys"] if self.latent is not None else []
        said += (
            ["terms of content and position"] if self.terms is not None and self.terms.kind == "disentangled" else []
        )
        said += [f"scores capped at {self.cap:g}"] if self.cap is not None else []
        return ", ".join(said)

    def weights(self) -> str:
        """How weights are made where they do not sum to 1, else nothing."""
        return "softmax with a sink, weights that sum to less than 1" if self.sinks is not None else ""

    def values(self) -> str:
        """How values are made where they are not linear in the token, else nothing."""
        said = ["values cut to a range"] if self.clip is not None else []
        said += ["a norm inside the values"] if self.latent is not None else []
        return ", ".join(said)

    def as_run(self) -> ScoreRules[Array] | None:
        """For the forward pass; ``None`` where nothing is beside the bilinear form."""
        norms = [None if norm is None else norm.weights() for norm in (self.query_norm, self.key_norm)]
        parts = (self.clip, self.terms, self.cap, self.sinks)
        if norms == [None, None] and all(part is None for part in parts):
            return None
        return ScoreRules(norms[0], norms[1], self.across, self.clip, self.terms, self.cap, self.sinks)


PLAIN = Rules()
