"""The sign in a good triple (CL-2) on a head, through its factors: enclosed where the eigenvector is, against 50 digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from eigentoken.numerics.layers.layer_readings import read_head
from eigentoken.numerics.layers.score_at_leader import score_at_leader
from eigentoken.numerics.layers.symbol_values import Answers
from eigentoken.numerics.layers.weights import HeadWeights
from eigentoken.theory.statements.layer_systems import AsIfAnswer
from eigentoken.theory.statements.registry import statements


def _head(seed: int, d: int = 12, width: int = 4, lead: float = 3.0) -> HeadWeights:
    """A head whose core ``V O`` has a real positive leader: ``V = C O^+`` for a core C that is made so."""
    source = np.random.default_rng(seed)
    Q, K, O = source.normal(size=(width, d)), source.normal(size=(width, d)), source.normal(size=(d, width))
    core = source.normal(size=(width, width)) * 0.3
    core[0] = 0
    core[0, 0] = lead
    return HeadWeights(Q, K, core @ np.linalg.pinv(O), O, 2.0, f"head{seed}")


def _by_digits(head: HeadWeights) -> mp.mpf:
    """``v^T Q^T K v`` at the leading eigenvector of ``O V``, to 50 digits."""
    with mp.workdps(50):
        Q, K, V, O = (mp.matrix(each.tolist()) for each in (head.Q, head.K, head.V, head.O))
        values, vectors = mp.eig(V * O)
        first = max(range(len(values)), key=lambda place: values[place].real)
        phi = O * vectors[:, first].apply(mp.re)
        return (Q * phi).T * (K * phi) / mp.fdot(phi, phi)


@pytest.mark.parametrize("seed", range(6))
def test_the_interval_holds_the_value_and_is_narrow(seed: int) -> None:
    head = _head(seed)
    found = score_at_leader(head)
    exact = _by_digits(head)[0]
    assert found is not None
    assert found[0] <= exact <= found[1]
    assert found[1] - found[0] < 1e-6 * max(1, abs(exact))


def test_no_interval_without_a_positive_leader_or_without_an_eigenvector() -> None:
    head = _head(2)
    turning = np.zeros((4, 4))
    turning[0, 1], turning[1, 0] = 5.0, -5.0  # the leader by real part is a pair
    turning[:2, :2] += 4 * np.eye(2)
    pair = HeadWeights(head.Q, head.K, turning @ np.linalg.pinv(head.O), head.O, 2.0, "pair")
    assert score_at_leader(pair) is None
    negative = HeadWeights(head.Q, head.K, -np.eye(4) @ np.linalg.pinv(head.O), head.O, 2.0, "negative")
    assert score_at_leader(negative) is None


def test_heads_of_a_trained_model_are_good_triples() -> None:
    """minilm: what is certified agrees with eigenvectors in floats, and some heads are good triples."""
    from eigentoken.checking.layers import weights_of
    from eigentoken.checking.run import open_model

    weights = weights_of(open_model("sample:minilm").layer(3), heads_only=True)
    good = statements().get("CL-2")
    answers = {}
    for index, head in enumerate(weights.heads):
        found = read_head(good, weights, index, Answers())
        assert found is not None
        core = np.asarray(head.V, float) @ np.asarray(head.O, float)
        values, vectors = np.linalg.eig(core)
        place = int(np.abs(values).argmax())
        phi = np.asarray(head.O, float) @ vectors[:, place].real
        real = abs(values[place].imag) < 1e-12 and values[place].real > 0
        expected = real and float((head.Q @ phi) @ (head.K @ phi)) > 0
        answers[index] = found.answer
        assert (found.answer is AsIfAnswer.MET) == expected
        assert found.answer is not AsIfAnswer.OPEN
    assert [index for index, answer in answers.items() if answer is AsIfAnswer.MET] == [1, 2, 9]
