"""Every BD-* statement has a row in the table of bounds of ``check``, or a reason that the documentation prints."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from eigentoken.checking.token_bounds import OF_WEIGHTS, QUANTITIES
from eigentoken.numerics.layers.bound_scope import BOUNDED
from eigentoken.numerics.layers.margins import MARGINS
from eigentoken.numerics.layers.token_bounds import LayerAtTokens, NormAtTokens, bounds_of_layer
from eigentoken.theory.statements.registry import statements

DOCS = Path(__file__).resolve().parents[2] / "docs"

#: The other BD-* statements, and why no bound of theirs stands beside a measured value of a layer or head.
NO_ROW = {
    ("BD-S1", "BD-S2", "BD-S3", "BD-R3"): "about rows of a softmax only, not about what a head puts out",
    ("BD-J1",): "an equality, the Jacobian in blocks, which BD-J2 and BD-J3 bound",
    ("BD-K1",): "an example with matrices of its own: no constant bounds the Jacobian at all tokens",
    ("BD-N2",): "about the norm before the attention alone; the Jacobians here are those of a head in what it reads",
    ("BD-N3",): "an equality about two vectors",
    ("BD-R2",): "about a head without a skip, layer after layer: no stored layer is that",
    (
        "BD-M2",
    ): "about products of attention matrices of successive layers: skips and feed-forwards stand between stored ones",
    (
        "BD-P1",
        "BD-P2",
        "BD-P4",
        "BD-P5",
        "BD-P6",
    ): "about equiangular tokens with the value matrix I: no stored layer is that",
    (
        "BD-P3",
    ): "about raw distances in a pre-norm flow: no stored layer is that flow, and its speed is no change across a layer",
    ("BD-P7",): "about a linearisation of a flow near consensus, as time grows: no stored layer is that flow",
    ("BD-T1", "BD-T2"): "about equiangular tokens and one layer without a skip: no stored layer is that",
}


def test_each_statement_of_bounds_has_a_row_or_a_reason() -> None:
    without = [name for names in NO_ROW for name in names]
    rows = [*QUANTITIES, *OF_WEIGHTS]
    registered = [each.id for each in statements() if each.id.startswith("BD-")]
    assert sorted(rows + without) == sorted(registered)
    assert set(QUANTITIES) == set(BOUNDED) and set(OF_WEIGHTS) == set(MARGINS)


def test_each_bound_that_is_named_is_computed() -> None:
    """A layer with a norm and one head gives every row but that of another mask, each with a number."""
    source = np.random.default_rng(0)
    head = {name: source.normal(size=(2, 4)) / 4 for name in "QKV"} | {"O": source.normal(size=(4, 2)), "scale": 2.0}
    x = source.normal(size=(3, 4))
    norm = NormAtTokens(np.ones(4), None, True, x)
    layer = LayerAtTokens([head], x, x, np.zeros_like(x), np.ones((3, 3), dtype=bool), None, norm)
    found = bounds_of_layer(layer, BOUNDED)
    assert sorted(each.statement for each in found) == sorted(BOUNDED)
    assert all(np.isfinite(each.bound) for each in found)


def test_the_reasons_stand_in_the_documentation() -> None:
    text = (DOCS / "check.md").read_text(encoding="utf-8")
    for names, reason in NO_ROW.items():
        assert f"\n- {', '.join(names)}: {reason}" in text
