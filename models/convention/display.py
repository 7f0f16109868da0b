"""HTML tables for notebooks: ``_repr_html_`` of models, layers and heads."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from eigentoken.models.convention.head_and_layer import Head, Layer
    from eigentoken.models.convention.rotary import Array


def table(title: str, rows: list[tuple[str, object]]) -> str:
    """A two-column table with a caption; everything is escaped.

    >>> table("a<b", [("n", 1)])
    '<table><caption>a&lt;b</caption><tr><th>n</th><td>1</td></tr></table>'
    """
    body = "".join(f"<tr><th>{escape(key)}</th><td>{escape(str(value))}</td></tr>" for key, value in rows)
    return f"<table><caption>{escape(title)}</caption>{body}</table>"


def layer_html(layer: Layer) -> str:
    """The layer's structure and its stamp."""
    rows: list[tuple[str, object]] = [
        ("heads", len(layer.heads)),
        ("mask", layer.mask.describe()),
        ("normalization", f"{layer.placement}, {layer.attention_norm.kind}, eps={layer.attention_norm.eps:g}"),
        ("positions", layer.rotary.describe() if layer.rotary is not None else layer.positions),
        ("weights of layer", layer.weights_of),
        ("convention", layer.stamp()),
    ]
    return table(f"layer {layer.index}", rows)


def head_html(head: Head) -> str:
    """The head's matrices: shape, dtype, Frobenius norm."""

    def line(A: Array) -> str:
        return f"{A.shape[0]} x {A.shape[1]}, Frobenius norm {np.linalg.norm(A.astype(np.float64)):.6g}"

    rows: list[tuple[str, object]] = [(name, line(getattr(head, name))) for name in "QKVO"]
    biases = [name for name in ("q_bias", "k_bias", "v_bias") if getattr(head, name) is not None]
    rows += [
        ("scale", f"{head.scale:.6g}"),
        ("biases", ", ".join(biases) or "none"),
        ("key-value head", head.kv_index),
        ("stored as", head.stored_dtype),
        ("folded", "; ".join(head.folded) or "nothing"),
    ]
    rows += [("positions", head.rotary.describe())] if head.rotary is not None else []
    return table(f"layer {head.layer}, head {head.index}", rows)
