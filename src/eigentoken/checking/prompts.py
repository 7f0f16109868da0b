"""Prompts of the user, as token ids: texts through the tokenizer of the model's folder, bytes, or ids as they are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigentoken.files.arrays import ArrayFileError, read_npy
from eigentoken.files.documents import read_json

if TYPE_CHECKING:
    from eigentoken.documents.steer_document import ReadBy, SteerPrompts
    from eigentoken.models.convention.rotary import Array
    from eigentoken.models.loading.model import Model

__all__ = ["Prompts", "PromptsError", "read_prompts"]

FORMS = "a .txt file with a prompt a line, a .json list of texts or of lists of token ids, or a .npy array of ids (prompts, n)"
#: A vocabulary of so many rows and no tokenizer: the tokens are bytes.
BYTES = 256


class PromptsError(ValueError):
    """Prompts that are not tokens of the model: one line."""


@dataclass(frozen=True, eq=False)
class Prompts:
    """``ids``: an array (n,) a prompt; ``read_by``: ``tokenizer.json``, ``bytes`` or ``ids``."""

    ids: tuple[Array, ...]
    source: str
    read_by: ReadBy

    def as_dict(self) -> SteerPrompts:
        return {
            "source": self.source,
            "read_by": self.read_by,
            "prompts": len(self.ids),
            "tokens": sum(len(each) for each in self.ids),
            "ids": [[int(one) for one in each] for each in self.ids],
        }


def read_prompts(prompts: object, model: Model) -> Prompts:
    """``prompts``: a file, or a list of texts or of lists of ids; each is held against the vocabulary and the positions."""
    import numpy as np

    from eigentoken.checking.observe import reads_ids

    if not reads_ids(model):
        raise PromptsError(f"prompts: {model.source} turns no token ids into states: give states instead")
    source, given = "list", prompts
    if isinstance(prompts, str | os.PathLike):
        source, given = Path(prompts).name, _from_file(Path(prompts))
    if isinstance(given, np.ndarray):
        given = list(given)
    if isinstance(given, list) and not given:
        raise PromptsError(f"prompts must be one or more: {'the list' if source == 'list' else source} has none")
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise PromptsError(f"prompts must be {FORMS}, got {type(given).__name__}")
    texts = [each for each in given if isinstance(each, str)]
    if texts and len(texts) != len(given):
        raise PromptsError("prompts must be all texts or all lists of token ids, got both")
    read_by: ReadBy = "ids"
    ids = [np.asarray(each) for each in given] if not texts else []
    if texts:
        ids, read_by = _tokenized(texts, model)
    return Prompts(tuple(_fitting(number, each, model) for number, each in enumerate(ids)), source, read_by)


def _from_file(path: Path) -> Any:
    if path.suffix == ".npy":
        try:
            return read_npy(path)
        except ArrayFileError as problem:
            raise PromptsError(f"prompts: {problem}: expected {FORMS}") from None
    if path.suffix == ".json":
        return read_json(path, error=PromptsError)
    if path.suffix != ".txt":
        raise PromptsError(f"prompts must be {FORMS}, got {path.name!r}")
    try:
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as problem:
        raise PromptsError(f"prompts: cannot read {path.name} as text ({type(problem).__name__})") from None


def _tokenized(texts: Sequence[str], model: Model) -> tuple[list[Any], ReadBy]:
    import numpy as np

    beside = [file.path.parent / "tokenizer.json" for file in model.files[:1]]
    known = next((path for path in beside if path.is_file()), None)
    vocabulary = len(model.embedding().token)  # type: ignore[union-attr]
    if known is None and vocabulary == BYTES:
        return [np.frombuffer(text.encode(), dtype=np.uint8).astype(int) for text in texts], "bytes"
    if known is None:
        raise PromptsError(
            f"prompts: there is no tokenizer.json beside the weights of {model.source}: give token ids, as .json or .npy"
        )
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise PromptsError("prompts: texts need the package tokenizers (pip install tokenizers), or give ids") from None
    try:
        reader = Tokenizer.from_file(str(known))
    except Exception as problem:  # the library raises a bare Exception for a file that it cannot read
        raise PromptsError(f"prompts: {known.name} cannot be read as a tokenizer: {str(problem)[:120]}") from None
    return [np.asarray(reader.encode(text).ids, dtype=int) for text in texts], "tokenizer.json"


def _fitting(number: int, ids: Any, model: Model) -> Array:
    import numpy as np

    embedding: Any = model.embedding()
    rows, position = len(embedding.token), getattr(embedding, "position", None)
    named = f"prompts: prompt {number}"
    if ids.size == 0:
        raise PromptsError(f"{named} has no tokens: at least 2 are needed")
    if ids.dtype.kind not in "iu" or ids.ndim != 1:
        raise PromptsError(f"{named} must be a text or a list of token ids, got {ids.dtype} of shape {ids.shape}")
    if len(ids) < 2:
        raise PromptsError(f"{named} has {len(ids)} tokens: at least 2 are needed")
    if ids.min() < 0 or ids.max() >= rows:
        raise PromptsError(f"{named} has ids in {ids.min()}..{ids.max()}: the vocabulary has 0..{rows - 1}")
    room = len(ids) if position is None else len(position) - embedding.position_offset
    if len(ids) > room:
        raise PromptsError(f"{named} has {len(ids)} tokens: {room} fit the positions of the model")
    return np.ascontiguousarray(ids, dtype=np.int64)
