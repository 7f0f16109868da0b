"""TransformerLens' HookedTransformer in memory, as it runs: with the folding and centring that were done when it was loaded.

:mod:`eigentoken.models.formats.hooked` gives its tensors these names and shapes and its ``cfg`` these keys.
"""

from __future__ import annotations

from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.head_and_layer import Mask
from eigentoken.models.convention.normalization import Normalization, no_norm
from eigentoken.models.convention.rotary import Rotary, standard_rotary
from eigentoken.models.families.family import register
from eigentoken.models.families.tabled import Tabled, TensorNames

NAMES = {
    "layer": "blocks.{}.",
    "q": "attn.q",
    "k": "attn.k",
    "v": "attn.v",
    "o": "attn.o",
    "attention_norm": "ln1",
    "feed_forward_norm": "ln2",
    "up": "mlp.in",
    "down": "mlp.out",
    "final_norm": "ln_final",
    "token": "embed",
}


@register
class HookedTransformer(Tabled):
    """Norm before, of the kind that ``cfg`` says; positions added or rotary; heads of any width."""

    name = "hooked-transformer"
    model_types = ("hooked-transformer",)
    about = "TransformerLens in memory: the weights that it runs, folded and centred as it was loaded"
    biases = "qkvoud"

    def settings(self, config: Config) -> None:
        self.norm_kind = config.text("norm")
        self.parallel = config.flag("parallel")
        self.mask_kind = "causal" if config.flag("causal") else "full"
        self.has_positions = config.flag("positions")
        self.biases = "qkvod" if config.flag("gated") else "qkvoud"
        cap = config.number("cap", default=0.0)
        self.cap = cap if cap > 0 else None
        updates = {"attention_update_norm": "ln1_post", "feed_forward_update_norm": "ln2_post"}
        self.tables = (
            TensorNames(
                **NAMES,
                gate="mlp.gate" if config.flag("gated") else "",
                position="pos_embed" if self.has_positions else "",
                **(updates if config.flag("norms_after") else {}),
            ),
        )

    def norm(self, name: str, width: int | None = None) -> Normalization:
        width = self.d if width is None else width
        if not name or self.norm_kind == "none":
            return no_norm(width)
        return self.weights.norm(name, width, eps=self.eps, rms=self.norm_kind == "rms", bias=True)

    def scale(self, index: int) -> float:
        scale = self.config.number("scale")
        return scale * (index + 1) if self.config.flag("scale_by_layer") else scale

    def mask(self, index: int) -> Mask:
        return super().mask(index) if self.mask_kind == "causal" else Mask("full")

    def rotary_at(self, index: int) -> Rotary | None:
        dims = self.config.integer("rotary_dims", default=0, minimum=0)
        if not dims:
            return None
        theta, pairs = self.config.number("rope_theta"), self.config.flag("neighbours")
        return standard_rotary(theta=theta, d_head=self.d_head, dims=dims, interleaved=pairs)
