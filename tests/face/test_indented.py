"""JSON with indentation as the standard encoder writes it, byte for byte."""

from __future__ import annotations

import json
from enum import StrEnum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentoken.files.indented import indented

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
DOCUMENTS = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=40)


@given(DOCUMENTS, st.integers(0, 3))
def test_the_text_is_that_of_the_standard_encoder(document: object, indent: int) -> None:
    assert indented(document, indent) == json.dumps(document, indent=indent)


def test_kinds_of_leaves_that_the_standard_encoder_takes() -> None:
    class Word(StrEnum):
        YES = "holds"

    document = {"a": (1.0, np.float64(0.1)), "b": Word.YES, "c": [Word.YES, -0.0, 5e-324, 10**30], "d": [[], {}, ()]}
    assert indented(document) == json.dumps(document, indent=1)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_json_is_refused(value: float) -> None:
    for document in (value, [value], {"a": value}, {"a": [1.0, value]}):
        with pytest.raises(ValueError, match="not JSON compliant"):
            indented(document)
    for other in ({1: 2}, object(), [np.int64(3)]):
        with pytest.raises(TypeError):
            indented(other)
