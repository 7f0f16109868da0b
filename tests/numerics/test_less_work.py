"""What a check leaves out to be faster changes no answer: corners, guessed eigenvectors, exact numbers, the collector, hashes."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentoken.files.collecting import COLLECTED_AFTER, seldom_collected
from eigentoken.files.writing import opened, sealed, sealed_text
from eigentoken.models.convention.tensors import file_sha256
from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.definiteness import eigenvalue_intervals
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.exact_matrices import Deadline, DeadlinePassed, ExactMatrix, allow_charpoly
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS
from eigentoken.numerics.layers.symbol_values import HeadSymbolValues
from eigentoken.numerics.layers.weights import CORNER, HeadWeights
from eigentoken.theory.calculus.expressions import Expression, dot, vector
from eigentoken.theory.calculus.expressions import Index as token
from eigentoken.theory.calculus.normal_form import normal_form
from eigentoken.theory.language.proportion import IDENTITY, MultipleOf
from eigentoken.theory.language.terms import matrix

D, R = CORNER + 8, 3
M, V = matrix("M"), matrix("V")


def _values(Q: Any, K: Any, V: Any, O: Any, dense: bool = True) -> HeadSymbolValues:
    head = HeadWeights(*(np.asarray(each, dtype=float) for each in (Q, K, V, O)), 1.0, "head", dense=dense)
    return HeadSymbolValues(head, {"M": "score", "V": "value"})


def test_a_corner_says_no_only_where_the_whole_does() -> None:
    source = np.random.default_rng(0)
    Q, K, V_, O = (source.integers(-3, 4, shape).astype(float) for shape in ((R, D), (R, D), (R, D), (D, R)))
    both = MultipleOf(M, V), MultipleOf(M, IDENTITY)
    for condition in both:
        assert ON_WEIGHTS(condition, _values(Q, K, V_, O)).is_fails
        assert ON_WEIGHTS(condition, _values(Q, K, V_, O, dense=False)).is_fails  # a corner is no d x d matrix
    assert ON_WEIGHTS(both[0], _values(Q, K, 2 * K, Q.T)).is_holds  # V = 2 M


def test_a_corner_that_is_a_multiple_says_nothing_of_the_rest() -> None:
    """M agrees with 0 I and with V/2 in the first rows and columns, and with neither further on."""
    source = np.random.default_rng(1)
    Q, K = source.integers(-3, 4, (2, R, D)).astype(float)
    hidden = Q.copy()
    hidden[:, :CORNER] = 0.0
    found = ON_WEIGHTS(MultipleOf(M, IDENTITY), _values(hidden, K, K, Q.T))
    assert found.is_fails and int(found.reason.split()[1].rstrip(",")) > CORNER
    other = Q.T.copy()
    other[CORNER:] += 1.0
    values = _values(Q, K, 2 * K, other)
    assert ON_WEIGHTS(MultipleOf(M, V), values).is_fails
    assert ON_WEIGHTS(MultipleOf(M, V), _values(Q, K, 2 * K, other, dense=False)).is_undecided


@given(st.integers(0, 2**31), st.integers(2, 9), st.sampled_from([0.0, 1e-3, 1.0, 50.0]))
def test_guessed_eigenvectors_are_believed_only_where_they_are_some(seed: int, n: int, raised: float) -> None:
    source = np.random.default_rng(seed)
    S = source.standard_normal((n, n))
    S = S + S.T
    w, X = np.linalg.eigh(S)
    near = S + raised * np.outer(X[:, 0], X[:, 0])
    near = 0.5 * (near + near.T)
    other = S + raised * np.diag(np.arange(n))
    for matrix_, guess in (
        (near, X),
        (other, X),
        (near, source.standard_normal((n, n))),
        (near, np.full((n, n), np.nan)),
    ):
        found, plain = eigenvalue_intervals(matrix_, 0.0, guess), eigenvalue_intervals(matrix_, 0.0)
        assert found is not None and plain is not None
        assert (np.diff(found[0]) >= 0).all() and found[1] <= 1.5 * plain[1] + 1e-300
        assert (np.abs(found[0] - plain[0]) <= found[1] + plain[1]).all()
    assert (w[1:] >= w[:-1]).all()


def test_what_is_too_large_is_not_written_in_exact_numbers() -> None:
    """Two leaders that floats do not part, at d = 80 and a limit that allows no polynomial."""
    asked = []

    def exact() -> ExactMatrix:
        asked.append(True)
        return ExactMatrix.from_floats(A)

    A = np.triu(np.ones((80, 80)), 1) + np.eye(80)
    whole = Enclosure(A, _exact=exact)
    assert certify("dominant-real-part", whole, time_limit=1e-3).is_undecided and not asked
    with pytest.raises(DeadlinePassed, match="order 384"):
        allow_charpoly(384, Deadline.after(1.0))
    allow_charpoly(20, Deadline.after(10.0), bits=53)
    small = np.array([[1.0, 1.0], [0.0, 1.0]])
    assert certify("dominant-real-part", small).is_fails


@pytest.mark.parametrize("entries", [[0, 0], [5, -3], [-8, 7], [-1, -1023]])
def test_the_longest_numerator(entries: list[int]) -> None:
    found = ExactMatrix.from_floats(np.array([entries], dtype=float))
    longest = max(abs(int(each)) for each in found.numerators.entries())
    assert found.bits == max(longest.bit_length(), 1)


def test_the_least_spelling_does_not_depend_on_the_names() -> None:
    """A sum over four indices: every order of them is one spelling."""

    def chain(names: str) -> Expression:
        a, b, c, e = (token("token", each) for each in names)
        x = [vector("x", each) for each in (a, b, c, e)]
        found = dot(x[0], x[1]) * dot(x[1], x[2]) * dot(x[2], x[3]) * dot(x[3], x[3])
        for each in (a, b, c, e):
            found = found.summed(each)
        return found

    from eigentoken.theory.calculus.expressions import Assumptions

    first, *others = (normal_form(chain(names), Assumptions()).terms for names in ("abce", "ecba", "bace", "zyxw"))
    assert len(first) == 1 and all(each == first for each in others)


def test_the_collector_is_as_before_after_an_error() -> None:
    before = gc.get_threshold()
    with pytest.raises(ValueError, match="told"), seldom_collected():
        assert gc.get_threshold()[0] >= COLLECTED_AFTER
        raise ValueError("told")
    assert gc.get_threshold() == before
    try:
        gc.set_threshold(0, *before[1:])  # switched off by the caller: it stays so
        with seldom_collected():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)


def test_a_text_is_sealed_as_its_document_is() -> None:
    for document in ({}, {"layer": 0, "arrays": ["a"], "record": {"b": [1.5, None], "a": "\u00e9"}}):
        text = json.dumps(document, allow_nan=False, sort_keys=True)
        assert sealed_text(text, "here") == sealed(document, "here")
        assert opened(sealed_text(text, "here"), "here") == document
        assert opened(sealed_text(text, "here"), "there") is None


def test_a_file_that_changed_has_another_hash(tmp_path: Path) -> None:
    place = tmp_path / "weights"
    place.write_bytes(b"one")
    first = file_sha256(place)
    assert file_sha256(place) == first
    place.write_bytes(b"other")
    assert file_sha256(place) != first
