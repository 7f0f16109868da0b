"""What ``transformers`` computes inside its eager forward pass, recorded without touching its code paths."""

from __future__ import annotations

from typing import Any

import numpy as np


class Recording:
    """Per layer: softmax inputs (masked scores), attention weights, output projections, hidden states.

    ``projection`` is how the names of the modules end whose output is the attention update (``attn.c_proj``...).
    """

    def __init__(self, model: Any, given: Any, projection: str) -> None:
        import torch

        self.scores: list[Any] = []
        self.attention_outputs: list[Any] = []
        softmax = torch.nn.functional.softmax

        def recording_softmax(x: Any, *args: Any, **kwargs: Any) -> Any:
            if x.ndim == 4:  # a router of experts has its own
                self.scores.append(x.detach().float().numpy().copy())
            return softmax(x, *args, **kwargs)

        def keep(module: Any, arguments: Any, output: Any) -> None:
            first = output[0] if isinstance(output, tuple) else output
            self.attention_outputs.append(first.detach().float().numpy().copy())

        hooks = [m.register_forward_hook(keep) for name, m in model.named_modules() if name.endswith(projection)]
        tensor = torch.from_numpy(np.ascontiguousarray(given))
        kinds = {4: "pixel_values", 3: "input_features"}
        name = kinds[tensor.ndim] if tensor.is_floating_point() else "input_ids"
        torch.nn.functional.softmax = recording_softmax
        try:
            with torch.no_grad():
                eager = model.config._attn_implementation == "eager"
                out = model(**{name: tensor}, output_attentions=eager, output_hidden_states=True)
        finally:
            torch.nn.functional.softmax = softmax
            for hook in hooks:
                hook.remove()
        self.weights = [a.numpy() for a in out.attentions] if out.attentions is not None else []
        self.hidden = [h.numpy() for h in out.hidden_states]
        self.last = out.last_hidden_state.numpy()
