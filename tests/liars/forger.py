"""Forged documents: every field of an honest document changed, one at a time, with all digests made anew; and parts of one
document put into another.

The forger knows how digests are computed (they are no signatures) and seals what it has changed.  A forgery is a lie unless the
change leaves the meaning as it was; such changes are not made: a margin is only raised, never lowered, and a number is never
written in another way.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Path = tuple[str | int, ...]

WORDS = ("holds", "fails", "undecided")
#: Keys whose numbers promise "at least this much": a smaller number promises less and is no lie.
PROMISES = ("margin", "at_least", "beyond", "apart", "low", "norm_above", "distance_above")
#: Radii and upper ends: a wider enclosure says less, within the documented slack; a narrower one is tried.
RADII = ("radius", "high", "norm_at_most")
#: An eigenvalue of a real matrix and its conjugate are both there.
CONJUGATES = ("im",)
#: Facts of a certificate that another number may state as truly: how far the matrix may be off, and what separates eigenvalues.
#: What is confirmed of them is proved, whoever wrote it.
WITNESSES = ("slack", "beta")


def leaves(node: Any, path: Path = ()) -> Iterator[Path]:
    """The place of every number, word, truth value and null."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from leaves(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from leaves(value, (*path, index))
    else:
        yield path


def containers(node: Any, path: Path = ()) -> Iterator[Path]:
    """The place of every object and list."""
    if isinstance(node, dict | list):
        yield path
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in items:
            yield from containers(value, (*path, key))


def at(node: Any, path: Path) -> Any:
    for key in path:
        node = node[key]
    return node


def copied(node: Any) -> Any:
    """A copy of what JSON can say: many times faster than one of anything."""
    if isinstance(node, dict):
        return {key: copied(value) for key, value in node.items()}
    return [copied(value) for value in node] if isinstance(node, list) else node


def put(node: Any, path: Path, value: Any) -> Any:
    """The document with one value replaced; what does not lead there is shared with the document that was given."""
    if not path:
        return value
    found = node.copy()
    found[path[0]] = put(node[path[0]], path[1:], value)
    return found


def other_values(value: Any, promise: bool) -> Iterator[Any]:
    """Values that say something else."""
    if isinstance(value, bool):
        yield not value
    elif value is None:
        yield from (0, "none", 1.5)
    elif isinstance(value, int | float):
        yield value * 100 + 1
        yield value + (abs(value) + 1) / 1000 if isinstance(value, float) else value + 1
        if not promise:
            yield -value if value else 1
            yield 0 if value else 2
    elif value in WORDS:
        yield from (word for word in WORDS if word != value)
    else:
        yield from other_texts(str(value), promise)


def other_texts(text: str, promise: bool) -> Iterator[str]:
    """Another number, another hash, another sentence."""
    if len(text) == 64 and set(text) <= set("0123456789abcdef"):
        yield ("1" if text[0] == "0" else "0") + text[1:]
        return
    if text.startswith(("0x", "-0x")) and "p" in text:
        number = float.fromhex(text)
        yield (number * 100 + 1).hex()
        if not promise:
            yield (-number if number else 1.0).hex()
        return
    for digit in text:
        if digit.isdigit():
            yield text.replace(digit, str((int(digit) + 1) % 10 or 1), 1)
            break
    yield f"{text} indeed" if text else "indeed"
    if text:
        yield ""


def changed_fields(document: Any, chosen: Iterable[Path] | None = None) -> Iterator[tuple[Path, Any]]:
    """Each field (or those that are chosen) with each other value, sealed and not."""
    for path in leaves(document) if chosen is None else chosen:
        if path[-1] in WITNESSES:
            continue
        promise = any(str(key) in PROMISES + CONJUGATES for key in path[-2:])
        stated = at(document, path)
        narrower = path[-1] in RADII and stated not in (0.0, "0", None)
        less = ("0",) if isinstance(stated, str) else (0.0, -1.0)
        for value in less if narrower else other_values(stated, promise):
            forged = put(document, path, value)
            yield path, forged
            sealed = resealed(forged)
            if sealed not in (forged, document):
                yield path, sealed


def changed_shapes(document: Any, chosen: Iterable[Path] | None = None) -> Iterator[tuple[Path, Any]]:
    """Keys left out or added, entries left out, repeated or exchanged."""
    for path in containers(document) if chosen is None else chosen:
        node = at(document, path)
        if isinstance(node, dict):
            for key in node:
                if key in WITNESSES:
                    continue
                yield (*path, key), resealed(put(document, path, {k: v for k, v in node.items() if k != key}))
            yield path, resealed(put(document, path, {**node, "further": 1}))
        else:
            for other in ([*node, *node[:1]], node[:-1], node[::-1]):
                if other != node:
                    yield path, resealed(put(document, path, other))


def drawn(document: Any, way: str, count: int, seed: str) -> Iterator[tuple[Path, Any]]:
    """One forgery at each of so many places of a large document."""
    places = list({"changed_fields": leaves, "changed_shapes": containers}[way](document))
    generator = random.Random(seed)
    for path in generator.sample(places, min(count, len(places))):
        made = list(globals()[way](document, [path]))
        if made:
            yield generator.choice(made)


def grafted(document: Any, donor: Any) -> Iterator[tuple[Path, Any]]:
    """Every part that two documents have in the same place, taken from the other one."""
    for path in containers(document):
        if not path:
            continue
        try:
            other = at(donor, path)
        except (KeyError, IndexError, TypeError):
            continue
        forged = resealed(put(document, path, other))
        if forged != document:
            yield path, forged


# --- digests ---------------------------------------------------------------------------------------------------------


def resealed(document: Any) -> Any:
    """All digests made anew, from the inside out: what an attacker who reads our code does."""
    found = copied(document)
    _seal(found)
    return found


def _seal(node: Any) -> None:
    if isinstance(node, list):
        for each in node:
            _seal(each)
    if not isinstance(node, dict):
        return
    if "instance_sha256" in node and isinstance(node.get("instance"), Mapping):
        digest = _sha(node["instance"], (",", ":"))
        node["instance_sha256"] = digest
        _name_instance(node, digest)
    if isinstance(node.get("conjecture"), dict) and "digest" in node["conjecture"]:
        stated = node["conjecture"]
        stated["digest"] = _sha({key: value for key, value in stated.items() if key != "digest"}, None)
        _name(node, "conjecture", stated["digest"])
    for value in node.values():
        _seal(value)
    if {"kind", "condition", "verdict", "inputs", "data", "digest"} <= set(node):
        node["digest"] = _sha({key: value for key, value in node.items() if key != "digest"}, (",", ":"))


def _name_instance(node: Any, digest: str) -> None:
    _name(node, "instance", digest)


def _name(node: Any, role: str, digest: str) -> None:
    """Every certificate below names this digest for that input."""
    if isinstance(node, dict):
        if isinstance(node.get("inputs"), dict) and role in node["inputs"] and "kind" in node:
            node["inputs"][role] = digest
        for value in node.values():
            _name(value, role, digest)
    elif isinstance(node, list):
        for value in node:
            _name(value, role, digest)


def _sha(value: Any, separators: tuple[str, str] | None) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=separators).encode()).hexdigest()
