"""Hugging Face ids: the local cache first, then the network; an optional extra, with one clear line when it cannot."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from eigentoken.models.convention.errors import ModelError, brief
from eigentoken.models.loading.samples import SAMPLES

PREFERRED = (
    ["model.safetensors", "model.safetensors.index.json", "model-*.safetensors"],
    ["pytorch_model.bin", "pytorch_model.bin.index.json", "pytorch_model-*.bin"],
)
"""safetensors if the repository has it, else torch files."""


TIMEOUT = 10.0
#: Whose the models are that once had no organisation in their names, by the beginning of the name.
OWNERS = {
    "gpt2": "openai-community",
    "distil": "distilbert",
    "bert-": "google-bert",
    "roberta-": "FacebookAI",
    "albert-": "albert",
}
"""Seconds until a hub that does not answer is given up."""


def snapshot(name: str, revision: str | None = None) -> Path:
    """The folder of the newest cached snapshot of ``name``, downloaded if it is not there and the network allows.

    ``revision``: a branch, tag or commit instead of the newest; what is in the cache is taken only if it is that one.

    A name without an organisation is looked for in the cache alone: it is more often a mistyped path than an id.
    """
    try:
        import huggingface_hub
    except ImportError:
        raise ModelError(
            f"{name}: no such file or folder; as a Hugging Face id it needs: pip install 'eigentoken[hub]'"
        ) from None
    cached = _cached(huggingface_hub, name, revision)
    if cached is not None:
        return cached
    name_it = name if revision is None else f"{name}@{revision}"
    if "/" not in name:
        if name.lower() in (each.name for each in SAMPLES):
            raise ModelError(f"{name}: no such file or folder: did you mean sample:{name.lower()}?")
        owner = next((owner for start, owner in OWNERS.items() if name.lower().startswith(start)), "")
        raise ModelError(
            f"{name}: no such file or folder, and not in the Hugging Face cache: give a path, sample:NAME, or a hub id "
            f"with its organisation ({f'{owner}/{name}' if owner else 'org/name'})"
        )
    if _offline():
        raise ModelError(
            f"{name_it}: no such file or folder, not in the Hugging Face cache, and HF_HUB_OFFLINE forbids the network: "
            "give a path, sample:NAME, or download it first"
        )
    try:
        told = huggingface_hub.model_info(name, revision=revision, timeout=TIMEOUT)  # one request, no retries
        files = [each.rfilename for each in told.siblings or []]
        patterns = next((p for p in PREFERRED if any(f in p for f in files)), PREFERRED[0])
        wanted = ["config.json", *patterns]
        return Path(huggingface_hub.snapshot_download(name, revision=revision, allow_patterns=wanted))
    except Exception as error:
        raise ModelError(
            f"{name_it}: no such file or folder, and it could not be fetched from the Hugging Face hub "
            f"({type(error).__name__}: {brief(error, 120)}): check the name and the network, "
            "or give a path or sample:NAME"
        ) from None


def cached(name: str) -> Path | None:
    """The folder of a snapshot of ``name`` that is in the cache with its weights; the network is never asked."""
    try:
        import huggingface_hub
    except ImportError:
        return None
    return _cached(huggingface_hub, name)


def _cached(hub: Any, name: str, revision: str | None = None) -> Path | None:
    """A snapshot in the cache that has a configuration and weights."""
    try:
        folder = Path(hub.snapshot_download(name, revision=revision, local_files_only=True))
    except Exception:
        return None
    wanted = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
    has_weights = any((folder / file).exists() for file in wanted) or any(folder.glob("*.gguf"))
    return folder if has_weights else None


def _offline() -> bool:
    return any(
        os.environ.get(key, "").strip().upper() in ("1", "TRUE", "YES", "ON")
        for key in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    )
