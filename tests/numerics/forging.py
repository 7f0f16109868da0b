"""Documents changed leaf by leaf, with every digest made anew: what a forger with our code would do."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from eigentoken.numerics.recheck.documents.shown import leaves

Path = tuple[str | int, ...]


def set_at(document: Any, path: Path, value: Any) -> Any:
    """A copy of the document with another value at the path, all digests of certificates made anew."""
    made = _copied(document)
    node = made
    for part in path[:-1]:
        node = node[part]
    node[path[-1]] = value
    return resealed(made)


def _copied(node: Any) -> Any:
    """A copy of what JSON can say: many times faster than one of anything."""
    if isinstance(node, dict):
        return {key: _copied(value) for key, value in node.items()}
    return [_copied(value) for value in node] if isinstance(node, list) else node


def resealed(node: Any) -> Any:
    """Digests of certificates as their issuer would write them."""
    if isinstance(node, dict):
        for child in node.values():
            resealed(child)
        if "digest" in node and "kind" in node:
            bare = {key: value for key, value in node.items() if key != "digest"}
            text = json.dumps(bare, sort_keys=True, separators=(",", ":"))
            node["digest"] = hashlib.sha256(text.encode()).hexdigest()
    elif isinstance(node, list):
        for child in node:
            resealed(child)
    return node


def other_values(value: Any) -> Iterator[Any]:
    """Values of the same kind that say something else."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
    elif isinstance(value, float):
        yield value * 1.01 + 0.5
        yield value * 1.0009 if value else 1e-3
    elif value is None:
        yield 1
        yield "x"
    elif isinstance(value, str):
        yield value + "x"
        if re.fullmatch(r"-?0x[01]\.[0-9a-f]+p[+-]\d+", value):
            yield (float.fromhex(value) * 1.0009 + 1e-3).hex()
        digits = re.search(r"\d", value)
        if digits is not None:
            place = digits.start()
            yield value[:place] + str((int(value[place]) + 1) % 10) + value[place + 1 :]
    elif value == []:
        yield [1]
    elif value == {}:
        yield {"x": 1}


def forgeries(document: Any) -> Iterator[tuple[Path, Any]]:
    """Every leaf changed in turn (but for the digests, which are made anew): its path and the changed document."""
    for path, value in list(leaves(document)):
        if path[-1] == "digest":
            continue
        for other in other_values(value):
            yield path, set_at(document, path, other)
