"""The JSON schemas of the documents, written from their types.

python tools/schemas.py            write those that differ, and say which

A number belongs to one shape for ever: what each has is recorded in ``tests/face/schema_shapes.json`` (a hash of the schema
without its titles and descriptions), new numbers are added, and a shape that changed under its number is refused.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import pkgutil
import sys
from pathlib import Path
from typing import Any

import eigentoken.documents
from eigentoken.documents.schema_language import DOCUMENTS, schema_of

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "src" / "eigentoken" / "schemas"
#: the certificate belongs to the numerics, which issues it
CERTIFICATE = ROOT / "numerics" / "schemas" / "certificate.json"
SHAPES = ROOT / "tests" / "face" / "schema_shapes.json"


def generated() -> dict[Path, str]:
    """Every schema file and what it should hold."""
    package = eigentoken.documents
    found_in = {f"{package.__name__}.{each.name}" for each in pkgutil.iter_modules(package.__path__)}
    found_in.remove(schema_of.__module__)
    for name in sorted(found_in):
        importlib.import_module(name)
    found: dict[Path, str] = {}
    for kind, (name, _) in DOCUMENTS.items():
        if kind.__module__ not in found_in:
            continue  # a document of somebody else, or an example
        short = name.split("/")[1]
        path = CERTIFICATE if short == "certificate" else FOLDER / f"{short}.json"
        found[path] = _text(schema_of(kind))
    return found


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=1) + "\n"


def shape(schema: Any) -> str:
    """sha256 of what a document must be: the schema without the texts that only explain it."""
    return hashlib.sha256(json.dumps(_unexplained(schema), sort_keys=True).encode()).hexdigest()


def _unexplained(part: Any) -> Any:
    if isinstance(part, dict):
        told = ("title", "description")  # as texts; a field of that name has a rule
        return {key: _unexplained(each) for key, each in part.items() if not (key in told and isinstance(each, str))}
    return [_unexplained(each) for each in part] if isinstance(part, list) else part


def against_record(schemas: list[dict[str, Any]], record: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """The shapes of numbers that are not recorded, and the numbers whose shape is another than the recorded one."""
    found = {schema["$id"]: shape(schema) for schema in schemas}
    new = {name: value for name, value in found.items() if name not in record}
    return new, sorted(name for name in found.keys() & record.keys() if found[name] != record[name])


def main() -> int:
    texts = generated()
    record = json.loads(SHAPES.read_text(encoding="utf-8"))
    new, changed = against_record([json.loads(text) for text in texts.values()], record)
    for name in changed:
        print(f"{name} is another shape than the one of that number: give the document a new number")
    if changed:
        return 1
    if new:
        SHAPES.write_text(json.dumps(dict(sorted({**record, **new}.items())), indent=1) + "\n", encoding="utf-8")
        print(f"recorded {', '.join(sorted(new))}")
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
