"""From the last hidden states to the distribution over the vocabulary, for the families whose head is one matrix.

``logits = E norm(x) + b`` with E the stored head (``lm_head``, ``embed_out``) or, where none is stored and the configuration
does not say otherwise, the token table (tied).  Heads with scales, caps, projections or layers of their own are not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eigentoken.models.convention.embedding import TokenEmbedding
from eigentoken.models.convention.errors import ModelError

if TYPE_CHECKING:
    from eigentoken.models.convention.rotary import Array
    from eigentoken.models.loading.model import Model

__all__ = ["OutputHead", "output_head"]

#: Entries of a configuration that change the logits beyond one matrix, and the values at which they do not.
SCALED = {
    "final_logit_softcapping": (None, 0),
    "logit_scale": (None, 1, 1.0),
    "logits_scaling": (None, 1, 1.0),
    "logit_scaling": (None, 1, 1.0),
    "word_embed_proj_dim": (None,),
}
NAMES = ("lm_head", "embed_out")


@dataclass(frozen=True, eq=False)
class OutputHead:
    """The matrix (vocabulary, d), its bias, and where it came from."""

    matrix: Array
    bias: Array | None
    tied: bool
    model: Model

    def logits(self, states: Array) -> Array:
        """Of the states (..., d) that leave the last layer."""
        norm = self.model.final_norm()
        seen = states if norm is None else norm.apply(states)
        found = seen @ np.asarray(self.matrix, dtype=seen.dtype).T
        return np.asarray(found if self.bias is None else found + np.asarray(self.bias, dtype=seen.dtype))


def output_head(model: Model) -> OutputHead:
    """The head of a causal language model, or a refusal that says why there is none."""
    if model.layer(-1).mask.kind != "causal":
        raise ModelError(f"{model.source} is no causal language model: it has no distribution of the next token")
    changed = [
        name
        for name, plain in SCALED.items()
        if name in model.config
        and model.config[name] not in (*plain, model.d if name == "word_embed_proj_dim" else None)
    ]
    if changed:
        raise ModelError(
            f"{model.source}: the output distribution is not read ({', '.join(changed)} in its configuration)"
        )
    stored = {name.removesuffix(".weight"): name for name in model.store.infos if name.endswith(".weight")}
    for place in (each for each in stored if each.rpartition(".")[2] in NAMES):
        bias = f"{place}.bias"
        return OutputHead(
            np.asarray(model.store.read(stored[place])),
            np.asarray(model.store.read(bias)) if bias in model.store.infos else None,
            False,
            model,
        )
    if model.config.get("tie_word_embeddings", True) is False:
        raise ModelError(
            f"{model.source} stores no output matrix, and its configuration says that it is not the token table"
        )
    embedding = model.embedding() if model.architecture.has_embedding else None
    if not isinstance(embedding, TokenEmbedding) or embedding.token.shape[1] != model.d:
        raise ModelError(f"{model.source} has no token table of width {model.d}: there is no output distribution")
    return OutputHead(embedding.token, None, True, model)
