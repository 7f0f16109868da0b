"""``explore``: what it proposes stands, is a file that says the same, and is told how far from the registry it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import eigentoken.lab
from eigentoken.cli import app
from eigentoken.numerics.lab.conjectures import Conjecture, load
from eigentoken.numerics.lab.explore import ExploreReport, Proposal, _Exploration, _from_registry, explore
from eigentoken.numerics.lab.vocabulary import TOPICS, claims_about, condition_sets, is_trivial, source_of
from eigentoken.schemas import schema
from eigentoken.theory.language.claims import Decreases, ForwardInvariant, Increases, Stable
from eigentoken.theory.language.conditions import IsIdentity, Symmetric
from eigentoken.theory.language.matrix_words import IsZero
from eigentoken.theory.language.observables_of_spread import interaction_energy, smallest_product, squared_diameter
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.regions import Acute, Orthant, StartsIn
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.systems.catalogue import SYSTEMS

from ..documents import validate

V, M = matrix("V"), matrix("M")


@pytest.mark.parametrize("name", ["oja-map", "attention-flow", "multihead-flow", "causal-flow", "token-flow"])
def test_every_word_is_a_line_of_a_file(name: str) -> None:
    names = {letter: matrix(letter) for letter in "VMFUPBW"} | vars(eigentoken.lab)
    system = SYSTEMS[name]
    words = {each for some in condition_sets(system) for each in some} | {*claims_about(system, ())}
    assert len(words) > 10
    for word in words:
        assert eval(source_of(word), names) == word


def test_an_instance_that_is_known_ends_other_conjectures_and_what_stands_ends_weaker_ones() -> None:
    search = _Exploration("attention-flow", 0, float("inf"))
    claim = Decreases(squared_diameter)
    search.look((), claim)
    assert (search.looked, search.fallen, len(search.killers[claim])) == (1, 1, 1)
    assert search.shares[(), claim] < 1
    search.look((StartsIn(Acute()), IsIdentity(V)), claim)
    assert len(search.standing) == 1
    search.look((StartsIn(Acute()), IsIdentity(V), Symmetric(M)), claim)
    assert (search.looked, search.implied) == (2, 1)
    (found,) = search.proposals()
    assert found.surprise > 0
    assert not found.known
    assert is_trivial((IsZero(M),), Increases(interaction_energy))
    assert not is_trivial((IsZero(V + V.T),), Increases(interaction_energy))


def test_what_the_registry_states_is_known_and_comes_last() -> None:
    search = _Exploration("oja-flow", 0, float("inf"))
    claim = Stable(ConsensusAt(V, 1))
    search.look((IsIdentity(V), StartsIn(Acute())), Increases(smallest_product))
    look = next(iter(search.standing.values()))
    book = {"X-1": ((Symmetric(V),), (claim,)), "X-2": ((), (ForwardInvariant(Orthant()),))}
    assert _from_registry((IsIdentity(V),), claim, look, book) == (0.0, "X-1", True)  # all instances satisfy V = V^T
    distance, nearest, known = _from_registry((Symmetric(V),), Increases(smallest_product), look, book)
    assert (round(distance, 4), nearest, known) == (round(1 - 1 / 3, 4), "X-1", False)
    conjecture = Conjecture("x", "oja-flow", [Symmetric(V)], [claim])
    assert Proposal(conjecture, 5, 3.0, 0.0, "X-1", True).score == 0


def test_the_command_writes_files_that_state_what_it_found(tmp_path: Path) -> None:
    ran = CliRunner().invoke(
        app,
        ["explore", "oja-flow", "--about", "orthant", "--seconds", "3", "--most", "2", "-o", str(tmp_path), "--json"],
    )
    assert ran.exit_code == 0, ran.output
    document = json.loads(ran.stdout)
    validate(document, schema("explore"))
    assert document["proposals"]
    assert document["looked"] >= document["fallen"] > 0
    for number, each in enumerate(document["proposals"], 1):
        (stated,) = load(tmp_path / f"conjecture_{number:02d}.py")
        assert stated.name == each["name"]
        assert (tmp_path / f"conjecture_{number:02d}.py").read_text() == each["source"]


def test_where_nothing_stands_no_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = ExploreReport("oja-flow", ("orthant",), (), 4, 4, 0, 0)
    monkeypatch.setattr("eigentoken.numerics.lab.explore.explore", lambda *_, **__: nothing)
    ran = CliRunner().invoke(app, ["explore", "oja-flow", "-o", str(tmp_path / "a" / "b")])
    assert ran.exit_code == 1
    assert "4 fell" in ran.stdout
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    ran = CliRunner().invoke(app, ["explore", "oja-flow", "-o", str(tmp_path / "file" / "b")])
    assert isinstance(ran.exception, OSError)


def test_a_topic_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"about must name topics \(consensus, energy.*got 'love'"):
        explore("oja-flow", "love")
    with pytest.raises(ValueError, match="seconds must be a number above 0, got 0"):
        explore("oja-flow", seconds=0)
    with pytest.raises(ValueError, match="unknown system"):
        explore("nowhere")
    assert set(TOPICS) >= {"consensus", "energy", "hemisphere"}
