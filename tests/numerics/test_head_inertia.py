"""The inertia of heads through their factors, and conditions on ``A = W B^-1`` without an inverse: against exact answers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.matrices import as_enclosure
from eigentoken.numerics.layers.head_findings import head_inertia
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS
from eigentoken.numerics.layers.symbol_values import LayerSymbolValues
from eigentoken.numerics.recheck import recheck
from eigentoken.theory.language.conditions import (
    NegativeDefinite,
    Nonsingular,
    OfOneMatrix,
    PositiveDefinite,
    PositiveSemidefinite,
    Symmetric,
)
from eigentoken.theory.language.terms import matrix

from ..tools.adversarial_matrices import fraction_inertia


def exact_inertia_of_head(q: np.ndarray, k: np.ndarray) -> tuple[int, int, int]:
    d = q.shape[1]
    qf, kf = ([[Fraction(float(v)) for v in row] for row in m] for m in (q, k))
    w = [[sum(qf[h][i] * kf[h][j] for h in range(len(qf))) for j in range(d)] for i in range(d)]
    return fraction_inertia([[w[i][j] + w[j][i] for j in range(d)] for i in range(d)])


@pytest.mark.parametrize("seed", range(12))
def test_inertia_of_heads_is_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d_h, d = int(rng.integers(1, 4)), int(rng.integers(2, 9))
    query = rng.integers(-2, 3, size=(11, d_h, d)).astype(np.float32)
    key = rng.integers(-2, 3, size=(11, d_h, d)).astype(np.float32)
    key[1] = query[1]
    key[2] = 0.0
    key[3] = -query[3]
    query[4, 0] = 0.0
    key[5] = np.nextafter(query[5], np.float32(9))
    for q, k in zip(query, key, strict=True):
        found = head_inertia(np.vstack([q, k]), "head")
        assert found.is_holds, (q, k, found.reason)
        assert tuple(found.details["inertia"]) == exact_inertia_of_head(q, k), (q, k)
        assert found.certificate is not None
        parts = {"head": np.vstack([q, k]).astype(float), "head.first": q.astype(float), "head.second": k.astype(float)}
        assert recheck(found.certificate, parts).is_holds


def test_dependent_rows_are_counted_by_the_core_and_rechecked() -> None:
    rng = np.random.default_rng(0)
    query = rng.standard_normal((8, 40)).astype(np.float16)
    full = head_inertia(np.vstack([query, rng.standard_normal((8, 40))]), "head")
    assert full.details == {"inertia": [8, 8, 24], "certified": "full row rank of [L; R]"}
    query[1] = query[0]
    again = head_inertia(np.vstack([query, query]), "head")
    assert again.certificate is not None and again.certificate.kind == "core-inertia"
    assert again.details["inertia"] == [7, 0, 33]
    parts = {"head.first": query.astype(float), "head.second": query.astype(float)}
    assert recheck(again.certificate, parts).is_holds
    changed = {**parts, "head.second": parts["head.second"] + np.eye(8, 40)}
    assert recheck(again.certificate, changed).is_fails
    document = again.certificate.as_dict()
    document["data"]["facts"]["positive"], document["data"]["facts"]["zero"] = 8, 32
    assert recheck(document, parts).is_fails


PAIR = (Symmetric, PositiveDefinite, NegativeDefinite, PositiveSemidefinite, Nonsingular)
A = sp.MatMul(matrix("W"), sp.Inverse(matrix("B")))


def _answers(w: np.ndarray, b: np.ndarray) -> LayerSymbolValues:
    return LayerSymbolValues("pair", {"W": as_enclosure(w, name="W"), "B": as_enclosure(b, name="B")})


@pytest.mark.parametrize("word", PAIR)
@pytest.mark.parametrize("seed", range(10))
def test_the_pair_agrees_with_the_inverse_formed_exactly(seed: int, word: type[OfOneMatrix]) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    w, b = (rng.integers(-3, 4, size=(n, n)).astype(float) for _ in range(2))
    found = ON_WEIGHTS(word(A), _answers(w, b))
    assert found is not None
    if round(np.linalg.det(b)) == 0:
        assert not found.is_holds
        return
    a = sp.Matrix(w.astype(int).tolist()) * sp.Matrix(b.astype(int).tolist()).inv()
    direct = certify(word.called, [[str(a[i, j]) for j in range(n)] for i in range(n)])
    assert found.answer is direct.answer, (word, w, b)
    if found.certificate is not None and len(found.certificate.inputs) == 2:
        assert recheck(found.certificate, {"W": w, "B": b}).is_holds


def test_the_pair_of_rotations() -> None:
    """A rotation over itself is the identity; over another one it is not symmetric."""
    w, b = np.array([[3.0, -4.0], [4.0, 3.0]]), np.array([[7.0, 24.0], [-24.0, 7.0]])
    words = (Symmetric(A), PositiveDefinite(A))
    assert [str(ON_WEIGHTS(word, _answers(w, w)).answer) for word in words] == ["holds", "holds"]
    assert str(ON_WEIGHTS(Symmetric(A), _answers(w, b)).answer) == "fails"
