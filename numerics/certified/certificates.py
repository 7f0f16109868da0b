"""Certificates on disk: one JSON document, and a safetensors file beside it for arrays.

The document is :meth:`eigentoken.theory.language.verdicts.Certificate.as_dict` with a ``digest`` of all of it; the arrays are
named by their content hashes.  The JSON schema is ``numerics/schemas/certificate.json`` (:func:`schema`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from eigentoken.documents.certificate import Certificate as CertificateDocument
from eigentoken.files.arrays import write_safetensors
from eigentoken.files.documents import Json, read_json
from eigentoken.files.writing import Replacement
from eigentoken.theory.language.verdicts import Certificate, VerdictAnswer, array_digest

__all__ = ["CertificateError", "document_of", "load", "save", "schema"]


class CertificateError(ValueError):
    """A certificate file that cannot be read, or was changed: one line."""


def schema() -> dict[str, Json]:
    """The published JSON schema of a certificate document."""
    text = (files("eigentoken.numerics") / "schemas" / "certificate.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def document_of(certificate: Certificate) -> CertificateDocument:
    """The JSON document of a certificate, with its digest."""
    return certificate.as_document()


def save(certificate: Certificate, path: str | Path) -> list[Path]:
    """Write ``path`` (JSON), and ``path`` with the suffix ``.safetensors`` if there are arrays; what was written."""
    target = Path(path)
    written = [target]
    if certificate.arrays:
        written.append(target.with_suffix(".safetensors"))
    text = json.dumps(document_of(certificate), indent=2, sort_keys=True, allow_nan=False)
    with Replacement() as files:  # both or neither
        files.place(target).write_text(text + "\n", encoding="utf-8")
        for beside in written[1:]:
            write_safetensors(files.place(beside), certificate.arrays)
    return written


def load(path: str | Path) -> Certificate:
    """Read what :func:`save` wrote; refuses a document or arrays that were changed."""
    source = Path(path)
    document = read_json(source, error=CertificateError)
    if not isinstance(document, Mapping) or document.get("schema") != Certificate.SCHEMA:
        raise CertificateError(f"{source} is not a certificate of schema {Certificate.SCHEMA}")
    arrays = _arrays(source.with_suffix(".safetensors"), document.get("arrays", {}))
    try:
        certificate = Certificate(
            document["kind"],
            document["condition"],
            VerdictAnswer(document["verdict"]),
            document["inputs"],
            document["data"],
            arrays,
        )
    except (KeyError, ValueError) as error:
        raise CertificateError(f"{source} is not a certificate: {error}") from None
    if certificate.digest() != document.get("digest"):
        raise CertificateError(f"{source} was changed: its digest does not match its content")
    return certificate


def _arrays(beside: Path, named: Mapping[str, str]) -> dict[str, Any]:
    if not named:
        return {}
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        found = load_file(str(beside))
    except (OSError, SafetensorError) as error:
        raise CertificateError(f"cannot read the arrays in {beside}: {error}") from None
    if set(found) != set(named):
        raise CertificateError(f"{beside} has arrays {sorted(found)}, the certificate names {sorted(named)}")
    for name, array in found.items():
        if array_digest(array) != named[name]:
            raise CertificateError(f"array {name!r} in {beside} was changed: its hash does not match")
    return dict(found)
