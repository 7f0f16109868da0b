"""The JSON schemas of the documents, written from their types.

python tools/schemas.py            write those that differ, and say which
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path
from typing import Any

import eigentoken.documents
from eigentoken.documents.schema_language import DOCUMENTS, schema_of

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "src" / "eigentoken" / "schemas"
#: the certificate belongs to the numerics, which issues it
CERTIFICATE = ROOT / "numerics" / "schemas" / "certificate.json"


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


def main() -> None:
    for path, text in generated().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
