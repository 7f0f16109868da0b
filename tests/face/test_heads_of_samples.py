"""The heads of the playground are those of the samples: made again from the weights, and a changed one is found."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from eigentoken.pages import asset

from ..commands import tool


def differs(told: dict[str, Any], made: dict[str, Any]) -> list[str]:
    """What an orthogonal change of basis leaves as it is, and is not equal to six digits."""
    found = []
    for name, of in (
        ("eigenvalues of F", lambda f, m: np.sort_complex(np.linalg.eigvals(f))),
        ("eigenvalues of M", lambda f, m: np.sort_complex(np.linalg.eigvals(m))),
        ("their product", lambda f, m: np.array([np.trace(f @ m), np.trace(f.T @ m), np.linalg.norm(f @ m)])),
    ):
        one, two = (of(np.array(each["F"]), np.array(each["M"])) for each in (told, made))
        if np.abs(one - two).max() > 1e-4 * np.abs(two).max():
            found.append(name)
    return found


def test_heads_are_made_again_from_the_weights() -> None:
    heads = tool("heads")
    stored = [each for each in json.loads(asset("heads.json")) if each["sample"] == "rxnmapper"]
    made = heads.chosen("rxnmapper")
    named = ("sample", "package", "sha256", "layer", "head", "d", "causal", "kind")
    assert [[each[name] for name in named] for each in stored] == [[each[name] for name in named] for each in made]
    assert len(stored) == 2 and {each["kind"] for each in stored} == {"leads", "turns"}
    for told, again in zip(stored, made, strict=True):
        assert differs(told, again) == []
        assert again["residual"] < 1e-13
        kept = np.array(told["eigenvalues"]) @ [1, 1j]
        assert np.abs(np.sort_complex(np.linalg.eigvals(told["F"])) - np.sort_complex(kept)).max() < 1e-4
        for vector in told["directions"]:
            image = np.array(told["F"]) @ vector
            assert np.linalg.norm(image - (image @ vector) * np.array(vector)) < 1e-5
        changed = json.loads(json.dumps(told))
        changed["F"][0][1] += 0.01
        assert differs(changed, again) != []


def test_a_head_that_is_not_invariant_is_not_offered() -> None:
    """Where three eigenvalues would cut a complex pair there is no invariant space of dimension three."""

    class Head:
        d = 4
        V = np.eye(4)
        O = np.block(
            [[np.array([[2.0, 1], [-1, 2]]), np.zeros((2, 2))], [np.zeros((2, 2)), np.array([[1.0, 1], [-1, 1]])]]
        )
        P = np.eye(4)

    assert tool("heads").restricted(Head()) is None
