"""Certificates on disk: one JSON document, and a safetensors file beside it for arrays.

The document is :meth:`eigentoken.theory.language.verdicts.Certificate.as_dict` with a ``digest`` of all of it; the arrays are
named by their content hashes.  The JSON schema is ``numerics/schemas/certificate.json`` (:func:`schema`).
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from eigentoken.files.arrays import write_safetensors
from eigentoken.files.documents import Json
from eigentoken.files.writing import Replacement
from eigentoken.theory.language.verdicts import Certificate

__all__ = ["save", "schema"]


def schema() -> dict[str, Json]:
    """The published JSON schema of a certificate document."""
    text = (files("eigentoken.numerics") / "schemas" / "certificate.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def save(certificate: Certificate, path: str | Path) -> list[Path]:
    """Write ``path`` (JSON), and ``path`` with the suffix ``.safetensors`` if there are arrays; what was written."""
    target = Path(path)
    written = [target]
    if certificate.arrays:
        written.append(target.with_suffix(".safetensors"))
    text = json.dumps(certificate.as_document(), indent=2, sort_keys=True, allow_nan=False)
    with Replacement() as files:  # both or neither
        files.place(target).write_text(text + "\n", encoding="utf-8")
        for beside in written[1:]:
            write_safetensors(files.place(beside), certificate.arrays)
    return written
