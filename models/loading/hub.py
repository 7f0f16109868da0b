"""Hugging Face ids: the local cache first, then the network; an optional extra, with one clear line when it cannot."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eigentoken.models.convention.configuration import read_json_object
from eigentoken.models.convention.errors import ModelError, brief, some
from eigentoken.models.loading.samples import SAMPLES

PREFERRED = (
    ["model.safetensors", "model.safetensors.index.json", "model-*.safetensors"],
    ["pytorch_model.bin", "pytorch_model.bin.index.json", "pytorch_model-*.bin"],
)
"""safetensors if the repository has it, else torch files."""

BESIDE = ("config.json", "tokenizer.json")
"""What is wanted beside the weights: the configuration, and the tokenizer that ``--prompts`` reads."""

TIMEOUT = 10.0
"""Seconds until a hub that does not answer is given up."""

#: Whose the models are that once had no organisation in their names, by the beginning of the name.
OWNERS = {
    "gpt2": "openai-community",
    "distil": "distilbert",
    "bert-": "google-bert",
    "roberta-": "FacebookAI",
    "albert-": "albert",
}


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
        wanted = _wanted(name_it, [each.rfilename for each in told.siblings or []])
        with _quiet_unless_a_terminal():
            return Path(huggingface_hub.snapshot_download(name, revision=revision, allow_patterns=wanted))
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(_not_fetched(name, revision, error)) from None


def _wanted(name: str, files: list[str]) -> list[str]:
    """The files to download, safetensors before torch files before one GGUF."""
    patterns = next((p for p in PREFERRED if any(file in p for file in files)), None)
    if patterns is not None:
        return [*BESIDE, *patterns]
    packed = [file for file in files if file.endswith(".gguf")]
    if len(packed) == 1:
        return [*BESIDE, *packed]
    what = f"{len(packed)} GGUF files" if packed else "no weights that are read"
    raise ModelError(
        f"{name}: the repository on the hub has {what} ({some(sorted(packed or files), 4)}): "
        + (
            "download one of them and give its path"
            if packed
            else "expected model.safetensors, pytorch_model.bin or a GGUF"
        )
    )


def _not_fetched(name: str, revision: str | None, error: Exception) -> str:
    """Why nothing came, by the client's own kinds of errors, and what to do."""
    from huggingface_hub import errors

    name_it = name if revision is None else f"{name}@{revision}"
    if isinstance(error, errors.GatedRepoError):
        return f"{name_it}: a gated repository of the hub: ask for access on its page, then log in (`hf auth login`, or HF_TOKEN)"
    if isinstance(error, errors.RepositoryNotFoundError):
        return (
            f"{name_it}: no such file or folder, and no such repository on the hub, or a private one: check the name, "
            "log in if it is private (`hf auth login`, or HF_TOKEN), or give a path or sample:NAME"
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return f"{name_it}: the repository {name} of the hub has no branch, tag or commit {revision!r}"
    return (
        f"{name_it}: no such file or folder, and it could not be fetched from the Hugging Face hub "
        f"({type(error).__name__}: {brief(error, 120)}): check the name and the network, or give a path or sample:NAME; "
        "what was downloaded is kept, and the next run goes on from there"
    )


@contextmanager
def _quiet_unless_a_terminal() -> Iterator[None]:
    """The client's progress bars, on a terminal only."""
    from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    if sys.stderr.isatty() or are_progress_bars_disabled():
        yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()


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
    except Exception as error:
        there = getattr(
            error, "snapshot_path", None
        )  # newer clients: a snapshot that lacks files, of which many are not wanted
        if there is None:
            return None
        folder = Path(there)
    whole = any((folder / file).exists() for file in ("model.safetensors", "pytorch_model.bin"))
    return folder if whole or any(folder.glob("*.gguf")) or _all_shards(folder) else None


def _all_shards(folder: Path) -> bool:
    """Are an index and all its shards there?  After a download that broke off the index may stand alone."""
    for name in ("model.safetensors.index.json", "pytorch_model.bin.index.json"):
        if (folder / name).exists():
            shards = read_json_object(folder / name).get("weight_map")
            return not isinstance(shards, dict) or all((folder / str(shard)).exists() for shard in shards.values())
    return False


def _offline() -> bool:
    return any(
        os.environ.get(key, "").strip().upper() in ("1", "TRUE", "YES", "ON")
        for key in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    )
