"""Conditions that name weights are read on weights: what cannot be read is a list, with a reason each; and each reading."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import sympy as sp

from eigentoken.checking.layers import weights_of
from eigentoken.checking.run import open_model
from eigentoken.numerics.certified.matrices import as_enclosure
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS
from eigentoken.numerics.layers.layer_readings import _gains, bind, bind_head, read_layer
from eigentoken.numerics.layers.score_at_leader import form_at_leader_of
from eigentoken.numerics.layers.symbol_values import Answers, LayerSymbolValues
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.theory.language.conditions import IsIdentity, Relation
from eigentoken.theory.language.matrix_words import IsZero
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.language.terms import ScoreAtEigenvector, Trace, matrix
from eigentoken.theory.statements.layer_systems import LayerAnswer
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.systems.catalogue import system

#: The statements of the three sheets of the field.
FIELD = [
    each.id
    for each in statements()
    if each.id.startswith(("CL-", "BD-", "CT-")) or any(part in each.id for part in ("-X", "-N", "-CX"))
]
#: What is not read, with why: (statement, place, condition as it begins).
NOT_READ = {
    ("BD-E1", "head", "4 v_{1}"): "of a head it stands as a bound: check gives it for U of each head (margins.py)",
    ("BD-E2", "head", "4 v_{1}"): "it is about the layer matrix of all heads: BD-E1 is given of each head",
    ("BD-E2", "head", r"\sqrt"): "the same margin",
    ("BD-E2", "head", r"\alpha"): "the same margin",
    ("BD-P7", "head", "G = I"): "the gain stands in another layer: it is about a norm before the attention",
    ("BD-P7", "layer", "G = I"): "the gain stands in another layer: it is about a norm before the attention",
}


def _unread(weights: LayerWeights, name: str) -> set[tuple[str, str, str]]:
    """The undecided conditions of a statement on a layer and its first head, but where another one certainly fails."""
    statement, answers, found = statements().get(name), Answers(), set()
    for listed in map(system, statement.systems):
        places = {
            "layer": bind(listed, weights, answers),
            "head": bind_head(listed, weights.heads[0], answers.of_head(0), _gains(listed, weights)),
        }
        for place, letters in places.items():
            told = {LATEX(each): ON_WEIGHTS(each, letters) for each in statement.conditions}
            if not any(each is not None and each.is_fails for each in told.values()):
                found |= {(name, place, text) for text, each in told.items() if each is not None and each.is_undecided}
    return found


@pytest.mark.parametrize("sample", ["glassllm", "rxnmapper"])
def test_what_is_not_read_is_a_list_with_reasons(sample: str) -> None:
    """A causal model with grouped queries and a norm before, and one with full attention and a norm after."""
    weights = weights_of(open_model(f"sample:{sample}").layer(0))
    missing = {each for name in FIELD for each in _unread(weights, name)}
    listed = {
        (name, place, text)
        for name, place, text in missing
        if any((name, place) == known[:2] and text.startswith(known[2]) for known in NOT_READ)
    }
    assert missing == listed
    gone = {
        (known, sample)
        for known in NOT_READ
        if not any(m[:2] == known[:2] and m[2].startswith(known[2]) for m in missing)
    }
    assert all(known[0] == "BD-P7" and sample == "glassllm" for known, _ in gone), "take what is read off the list"


@pytest.mark.parametrize("sample", ["glassllm", "rxnmapper"])
def test_what_is_not_about_a_model_says_why(sample: str) -> None:
    weights, answers = weights_of(open_model(f"sample:{sample}").layer(0)), Answers()
    for name in FIELD:
        reading = read_layer(statements().get(name), weights, answers)
        if reading.answer is LayerAnswer.NOT_ABOUT:
            assert all(each.statement and each.layer for each in reading.differs) and reading.differs
        else:
            assert not reading.differs and reading.answer is not LayerAnswer.UNDECIDED


def _layer(**around: Any) -> LayerWeights:
    source = np.random.default_rng(4)
    heads = [{**{n: source.normal(size=(3, 8)) for n in "QKV"}, "O": source.normal(size=(8, 3)), "scale": 3**0.5}]
    return LayerWeights.from_arrays(0, heads * 2, **around)


def test_letters_of_one_head_are_read_through_its_factors() -> None:
    """The trace of a product, minus the identity, and a sum of letters by their norms."""
    head = _layer().heads[0]
    letters = bind_head(system("token-flow"), head, Answers())
    B, W = matrix("B"), matrix("W")
    value, score = head.O @ head.V, head.Q.T @ head.K / head.scale
    for term, dense in ((W * B, score @ value), (B * W, value @ score), (B, value), (W, score)):
        low, high = letters.trace(term)
        assert low <= np.trace(dense) <= high and high - low < 1e-10
    for sign in (sp.Gt, sp.Lt):
        told = ON_WEIGHTS(Relation(sign(Trace(W * B), 0)), letters)
        assert told is not None and told.is_holds == bool(sign(sp.Float(np.trace(score @ value)), 0))
    minus = ON_WEIGHTS(IsIdentity(-B), letters)
    assert minus is not None and minus.is_fails and minus.margin == 1.0
    apart = ON_WEIGHTS(IsZero(B + W), letters)
    sizes = [np.linalg.norm(each, 2) for each in (value, score)]
    assert apart is not None and apart.is_fails and apart.margin is not None
    assert 0.99 * abs(sizes[0] - sizes[1]) / 2 <= apart.margin <= np.linalg.norm(value + score, 2) / 2
    same = LayerWeights.from_arrays(0, [{"Q": head.V, "K": head.O.T, "V": head.V, "O": head.O, "scale": 1.0}]).heads[0]
    alike = ON_WEIGHTS(IsZero(B + W), bind_head(system("token-flow"), same, Answers()))
    assert alike is not None and alike.is_undecided  # U^T + U of equal norms: no sum is formed


def test_the_identity_is_asked_of_scores_that_are_stored_times_a_scale() -> None:
    W = matrix("W")

    def told(matrix_: Any, scale: float, minus: bool = False) -> Any:
        letters = LayerSymbolValues("here", {"W": as_enclosure(matrix_, name="W")}, {"W": scale})
        return ON_WEIGHTS(IsIdentity(-W if minus else W), letters)

    exact = 3**0.5 * np.eye(3)
    assert told(exact, 3**0.5).is_holds and told(-exact, 3**0.5, minus=True).is_holds
    assert told(np.eye(3), 3**0.5).is_fails and told(np.eye(3), 3**0.5, minus=True).is_fails
    moved = exact.copy()
    moved[0, 1] = sys.float_info.min
    assert told(moved, 3**0.5).is_fails
    assert 0.99 <= told(2 * exact, 3**0.5).margin <= 1.0


def test_the_gain_of_a_norm_before_the_attention_is_read() -> None:
    G = IsIdentity(matrix("G"))
    for place, gain in (("layer", np.ones(8)), ("head", np.array([1.0] * 7 + [0.75]))):
        weights = LayerWeights(0, _layer().heads, gain=gain)
        listed = system("pre-norm-flow")
        letters = (
            bind(listed, weights, Answers())
            if place == "layer"
            else bind_head(listed, weights.heads[0], Answers(), _gains(listed, weights))
        )
        told = ON_WEIGHTS(G, letters)
        assert told is not None and told.is_holds == (place == "layer")
        assert told.margin is None or 0.2499 < told.margin <= 0.25
    unknown = ON_WEIGHTS(G, bind(system("post-norm-flow"), _layer(), Answers()))
    assert unknown is not None and unknown.is_undecided


@pytest.mark.parametrize("seed", range(8))
def test_a_form_at_the_leader_of_whole_matrices_is_enclosed(seed: int) -> None:
    source = np.random.default_rng(seed)
    n = int(source.integers(2, 12))
    v = source.normal(size=n)
    value = 5 * np.outer(v, v) / (v @ v) + 0.2 * source.normal(size=(n, n))
    form = source.normal(size=(n, n)) * 2.0 ** float(source.integers(-40, 40))
    values, vectors = np.linalg.eig(value)
    u = np.real(vectors[:, int(np.argmax(values.real))])
    found = form_at_leader_of(as_enclosure(value), as_enclosure(form))
    assert found is not None
    exact = float(u @ form @ u) / float(u @ u)
    slip = 1e-12 * np.linalg.norm(form)
    assert found[0] - slip <= exact <= found[1] + slip
    assert found[1] - found[0] < 1e-4 * np.linalg.norm(form)
    letters = LayerSymbolValues("here", {"B": as_enclosure(value), "W": as_enclosure(form)}, {"W": 2.0})
    told = ON_WEIGHTS(Relation(ScoreAtEigenvector(matrix("W"), matrix("B"), 1) > 0), letters)
    assert told is not None and told.is_holds == (exact > 0)


def test_no_form_is_given_where_no_real_leader_is_known() -> None:
    turn = np.array([[1.0, -1.0], [1.0, 1.0]])
    assert form_at_leader_of(as_enclosure(turn), as_enclosure(np.eye(2))) is None
    letters = LayerSymbolValues("here", {"B": as_enclosure(turn), "W": as_enclosure(np.diag([1.0, -1.0]))})
    told = ON_WEIGHTS(Relation(ScoreAtEigenvector(matrix("W"), matrix("B"), 1) > 0), letters)
    assert told is not None and told.is_undecided
