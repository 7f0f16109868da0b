"""A report of many layers and heads, for the browser tests and for ``bench_pages.py``.

It is the real report of a tiny random GPT-2, with its records repeated: what a layer and a head look like in a report is
written nowhere twice.
"""

from __future__ import annotations

import copy
import math
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["page"]


@cache
def _tiny_report() -> dict[str, Any]:
    import torch
    import transformers

    from eigentoken.checking import check

    torch.manual_seed(1)
    config = transformers.GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=30, n_positions=16)
    with tempfile.TemporaryDirectory() as folder:
        transformers.GPT2LMHeadModel(config).save_pretrained(folder)
        report = check(folder, work=Path(folder) / "work", sequences=2, tokens=4)
    return report.document


def page(layers: int, heads: int, eigenvalues: int = 1600) -> str:
    """The HTML of a report with so many layers, heads and eigenvalues a layer."""
    from eigentoken.checking.html import report_html
    from eigentoken.checking.report import Report

    document = copy.deepcopy(_tiny_report())
    layer, seen = document["layers"][0], document["observed"][0]
    spiral = [1 - k / (eigenvalues + 100) for k in range(eigenvalues)]
    layer["discs"] = [[math.cos(k) * radius, math.sin(k) * radius, 1e-8] for k, radius in enumerate(spiral)]
    layer["heads"] = [{**layer["heads"][0], "head": number} for number in range(heads)]
    document["layers"] = [{**layer, "layer": index, "weights_of": index, "used_by": [index]} for index in range(layers)]
    document["statements"] = [{**each, "layers": each["layers"] * layers} for each in document["statements"]]
    document["observed"] = [{**seen, "layer": index} for index in range(layers)]
    document["model"] = {**document["model"], "description": f"{layers} layers, {heads} heads"}
    return report_html(Report(document))
