"""Documents held to their published schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import jsonschema

__all__ = ["validate"]


def validate(document: object, published: Mapping[str, Any]) -> None:
    """``jsonschema.validate``, which would hold the schema to the schema of schemas for each document anew."""
    _validator(json.dumps(published)).validate(document)


@cache
def _validator(published: str) -> jsonschema.Draft202012Validator:
    read = json.loads(published)
    jsonschema.Draft202012Validator.check_schema(read)
    return jsonschema.Draft202012Validator(read)
