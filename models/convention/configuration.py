"""A checkpoint's configuration, read with checks: a wrong value is one line that names the key and the file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eigentoken.files import documents
from eigentoken.files.documents import Json
from eigentoken.models.convention.errors import ModelError

MAX_LAYERS = 10_000
MAX_WIDTH = 1 << 24
MAX_JSON_BYTES = 64 << 20


class Config:
    """Typed access to the values of a configuration.  Alternatives are tried in order: ``integer("n_embd", "dim")``."""

    def __init__(self, values: Mapping[str, Json], where: str) -> None:
        self.values = dict(values)
        self.where = where

    def raw(self, *keys: str) -> Json:
        """The first of the keys that is present and not null, else None."""
        return next((self.values[key] for key in keys if self.values.get(key) is not None), None)

    def integer(self, *keys: str, default: int | None = None, minimum: int = 1, maximum: int = MAX_WIDTH) -> int:
        """A whole number in a range."""
        value = self.raw(*keys)
        if value is None:
            value = default
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            raise ModelError(
                f"{self.where}: {keys[0]} must be a whole number in {minimum}..{maximum}, got {_show(value)}"
            )
        return value

    def number(self, *keys: str, default: float | None = None, minimum: float = 0.0) -> float:
        """A finite number, at least ``minimum``."""
        value = self.raw(*keys)
        if value is None:
            value = default
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ModelError(f"{self.where}: {keys[0]} must be a number, got {_show(value)}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number) or number < minimum:
            raise ModelError(f"{self.where}: {keys[0]} must be finite and at least {minimum:g}, got {_show(value)}")
        return number

    def flag(self, *keys: str, default: bool = False) -> bool:
        """True or false."""
        value = self.raw(*keys)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise ModelError(f"{self.where}: {keys[0]} must be true or false, got {_show(value)}")
        return value

    def text(self, *keys: str, default: str | None = None) -> str:
        """A string."""
        value = self.raw(*keys)
        if value is None:
            value = default
        if not isinstance(value, str):
            raise ModelError(f"{self.where}: {keys[0]} must be a string, got {_show(value)}")
        return value

    def section(self, *keys: str) -> Config | None:
        """A nested object, if there is one."""
        value = self.raw(*keys)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise ModelError(f"{self.where}: {keys[0]} must be an object, got {_show(value)}")
        return Config(value, f"{self.where}: {keys[0]}")

    def layers(self, *keys: str) -> int:
        """The number of layers."""
        return self.integer(*keys, maximum=MAX_LAYERS)

    def heads(self, width: int, *keys: str) -> int:
        """The number of heads, which must divide ``width``."""
        n_heads = self.integer(*keys)
        if width % n_heads:
            raise ModelError(f"{self.where}: {keys[0]} must divide the width {width}, got {n_heads}")
        return n_heads

    def refuse(self, key: str, allowed: tuple[object, ...], why: str) -> None:
        """Raise if the key is present with a value for which the forward pass would be another one."""
        value = self.raw(key)
        if value is not None and value not in allowed:
            raise ModelError(f"{self.where}: {key}={_show(value)} is not supported: {why}")


def parse_json(text: str | bytes, where: str) -> Json:
    """JSON as the whole toolkit reads it: no key twice (two tensors of one name), no NaN."""
    return documents.parse_json(text, where, error=ModelError)


def read_json_object(path: Path) -> dict[str, Json]:
    """The object in a small JSON file."""
    value = documents.read_json(path, error=ModelError, largest=MAX_JSON_BYTES)
    if not isinstance(value, dict):
        raise ModelError(f"{path}: expected a JSON object, got {type(value).__name__}")
    return value


def _show(value: Any) -> str:
    """A value for messages; huge integers have no decimal text in Python."""
    if isinstance(value, int) and value.bit_length() > 200:
        return "a huge integer"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
