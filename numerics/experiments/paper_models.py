"""The checkpoints that the papers themselves used, by the names under which the Hugging Face hub knows them.

They are taken when their weights are on the disk already and never fetched: the largest has 10 GB.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["ALBERTS", "FIGURE_2", "FIGURE_7", "GPT2_XL", "PAPER_MODELS", "stands_in", "whose"]

#: Table 1 of Li and Altafini (and GPT-2 XL of Abella et al.): the model's name there, and its ids, newest first.
PAPER_MODELS: dict[str, tuple[str, ...]] = {
    "ALBERT-base": ("albert/albert-base-v2", "albert-base-v2", "albert/albert-base-v1", "albert-base-v1"),
    "ALBERT-large": ("albert/albert-large-v2", "albert-large-v2", "albert/albert-large-v1", "albert-large-v1"),
    "ALBERT-xlarge": ("albert/albert-xlarge-v2", "albert-xlarge-v2", "albert/albert-xlarge-v1", "albert-xlarge-v1"),
    "ALBERT-xxlarge": (
        "albert/albert-xxlarge-v2",
        "albert-xxlarge-v2",
        "albert/albert-xxlarge-v1",
        "albert-xxlarge-v1",
    ),
    "BERT-base": (
        "google-bert/bert-base-uncased",
        "bert-base-uncased",
        "google-bert/bert-base-cased",
        "bert-base-cased",
    ),
    "BERT-large": (
        "google-bert/bert-large-uncased",
        "bert-large-uncased",
        "google-bert/bert-large-cased",
        "bert-large-cased",
    ),
    "GPT2 small": ("openai-community/gpt2", "gpt2"),
    "GPT2 medium": ("openai-community/gpt2-medium", "gpt2-medium"),
    "GPT2 large": ("openai-community/gpt2-large", "gpt2-large"),
    "GPT2 xlarge": ("openai-community/gpt2-xl", "gpt2-xl"),
    "GPTNeo 125M": ("EleutherAI/gpt-neo-125m", "EleutherAI/gpt-neo-125M"),
    "GPTNeo 1.3B": ("EleutherAI/gpt-neo-1.3B",),
    "GPTNeo 2.7B": ("EleutherAI/gpt-neo-2.7B",),
}

ALBERTS = ("ALBERT-base", "ALBERT-large", "ALBERT-xlarge", "ALBERT-xxlarge")
#: Figure 7 and 9 show six models and refer to figure 2 for the remaining three.
FIGURE_2 = ("BERT-base", "GPT2 medium", "GPTNeo 2.7B")
FIGURE_7 = ("BERT-large", "GPT2 small", "GPT2 large", "GPT2 xlarge", "GPTNeo 125M", "GPTNeo 1.3B")
GPT2_XL = "GPT2 xlarge"


def stands_in(model: Any, paper: Sequence[str]) -> str:
    """Why a run on this model may differ: it is not one of the paper's own (empty if it is)."""
    own = any(model.source in PAPER_MODELS[name] for name in paper)
    return "" if own else f"but {model.source} stands in for the paper's models, whose weights are not on the disk"


def whose(models: Sequence[Any], paper: Sequence[str]) -> str:
    """Which of the opened models are the paper's own, and what stands in for the others."""
    ids = {source for name in paper for source in PAPER_MODELS[name]}
    own, others = (" and ".join(m.describe() for m in models if (m.source in ids) is same) for same in (True, False))
    if not own:
        return f"the paper's {', '.join(paper)}: no weights on the disk, {others} in their place"
    return f"the paper's own models: {own}" + (f"; beside them {others}" if others else "")
