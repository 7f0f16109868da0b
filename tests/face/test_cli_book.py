"""The command line's contract on the book: JSON with a schema, exit codes, one-line errors, no tracebacks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eigentoken.cli import app
from eigentoken.proofs import verify as verification
from eigentoken.theory.language.conditions import SimpleTop
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.steps import Derivation, Identity
from eigentoken.theory.statements.subjects import subject_of

from ..commands import eigentoken, here


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return here(*arguments)


def test_statements_json_is_one_document_with_a_schema() -> None:
    printed = run("statements", "--json")
    assert printed.returncode == 0
    document = json.loads(printed.stdout)
    assert document["schema"] == "eigentoken/statements/5"
    one = next(each for each in document["statements"] if each["id"] == "PM-L4")
    words = {"id", "kind", "source", "reading", "title", "status", "depends", "listed_sizes", "printed"}
    assert set(one) == words | {"systems", "about", "needs", "says"}
    assert one["depends"] == ["PM-L3"]


def test_the_registry_answers_questions() -> None:
    """Every row that is listed answers, and no other statement does: compared with the statements themselves."""

    def listed(*question: str) -> set[str]:
        return {each["id"] for each in json.loads(run("statements", *question, "--json").stdout)["statements"]}

    symmetric = {
        each.id for each in statements() if any(type(part).__name__ == "Symmetric" for part in each.conditions)
    }
    assert listed("--needs", "symmetric") >= symmetric
    assert len(symmetric) > 20
    causal = {each.id for each in statements() if "causal-flow" in each.systems or "causal" in each.covers.masks}
    causal |= {each.id for each in statements() if (subject := subject_of(each.id)) and "causal" in subject.masks}
    assert "BD-M1" in causal
    assert listed("--about", "causal") == causal
    assert listed("--search", "hemisphere") >= {"AB-T4.1", "AB-X1"}
    assert listed("--needs", "symmetric", "--about", "causal") == listed("--needs", "symmetric") & causal
    assert listed("--search", "no such words anywhere") == set()
    leaders = {each.id for each in statements() if any(isinstance(part, SimpleTop) for part in each.conditions)}
    assert listed("--needs", "gap") >= leaders | {"AB-X6", "BD-E1"} and "CL-13b" not in listed("--needs", "gap")
    assert {"BD-E2", "PM-X2", "PM-T2+"} <= listed("--needs", "step") and not {"CT-13", "PM-X1"} & listed(
        "--needs", "step"
    )
    assert listed("--search", "basin") >= {"BD-R2", "CT-12", "CT-13", "PM-X1", "PM-X2"}
    assert "BD-M2" in listed("--about", "mask")
    assert {"BD-S1", "BD-S2", "BD-S3", "BD-R3", "BD-T3"} == listed("--about", "row of attention weights")
    assert listed("--about", "rotary-flow") == {each.id for each in statements() if "rotary-flow" in each.systems}


def test_what_holds_for_a_model_is_what_check_says(tmp_path: Path) -> None:
    """The same layers as in a whole check, for one head with symmetric weights in the first layer and random ones in the next."""
    import numpy as np
    import torch

    from eigentoken.checking import check

    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        num_hidden_layers=2, num_attention_heads=1, hidden_size=4, intermediate_size=4, vocab_size=9
    )
    model = transformers.BertModel(config)
    own = model.encoder.layer[0].attention
    for part in (own.self.query, own.self.key, own.self.value, own.output.dense):
        part.weight.data = torch.from_numpy(np.diag([2.0, 1.5, 1.0, 0.5])).float()
    model.save_pretrained(tmp_path / "model")
    ids = [each.id for each in statements() if each.id.startswith("PM-")]
    whole = check(str(tmp_path / "model"), statements=ids, sequences=0, work=tmp_path / "work")
    held = {each["id"]: each["layers"].count("holds") for each in whole.statements if "holds" in each["layers"]}
    assert held and 1 in held.values()
    answer = json.loads(run("statements", "--search", "PM-", "--holds-for", str(tmp_path / "model"), "--json").stdout)
    counted = {name: count for name, count in answer["layers"].items() if count and name in ids}
    assert counted and counted == {name: count for name, count in held.items() if name in answer["layers"]}
    assert {each["id"] for each in answer["statements"]} == {name for name, n in answer["layers"].items() if n}
    assert not any(answer["heads"].values())  # a layer with one head is read itself


def test_what_holds_for_heads_alone_is_counted_beside_layers() -> None:
    """Heads with a real positive leader ahead in modulus, as counted by eigenvalues in floats: 4 of the 16 of the sample."""
    import numpy as np

    from eigentoken.checking.layers import Held, layers_that_hold
    from eigentoken.checking.run import open_model

    model = open_model("sample:glassllm")
    leading = 0
    for index in range(model.n_layers):
        for head in model.layer(index).heads:
            values = np.linalg.eigvals(np.asarray(head.V, float) @ np.asarray(head.O, float))
            first, second, *_ = sorted(values, key=abs, reverse=True)
            leading += bool(abs(first.imag) < 1e-9 and first.real > 0 and abs(second) < 0.999 * abs(first))
    assert layers_that_hold(model, ["BD-H1", "PM-N3"]) == {"BD-H1": Held(0, leading), "PM-N3": Held(0, 0)}
    assert leading == 4


def test_a_theorem_on_heads_is_looked_for_in_a_sample() -> None:
    """BD-H1 in the 270 heads of the sample: as many as floats say have a real positive leader ahead in modulus."""
    import numpy as np

    from eigentoken.checking.run import open_model

    model, leading = open_model("sample:smollm2"), 0
    for index in range(model.n_layers):
        for head in model.layer(index).heads:
            values = np.linalg.eigvals(np.asarray(head.V, float) @ np.asarray(head.O, float))
            first, second, *_ = sorted(values, key=abs, reverse=True)
            leading += bool(abs(first.imag) < 1e-9 and first.real > 0 and abs(second) < abs(first))
    asked = ("statements", "--search", "BD-H1", "--holds-for", "sample:smollm2", "--json")
    answer = json.loads(run(*asked).stdout)
    assert (answer["layers"], answer["heads"]) == ({"BD-H1": 0}, {"BD-H1": leading})
    assert [each["id"] for each in answer["statements"]] == ["BD-H1"] and leading == 108


def test_show_tells_the_story() -> None:
    printed = run("show", "pm-l4")
    assert printed.returncode == 0
    assert "linearly asymptotically stable ⇔ α (|λ_d(V)| - λ₁(V)) < 2" in " ".join(printed.stdout.split())
    assert "[real arithmetic" in printed.stdout
    assert max(len(line) for line in printed.stdout.splitlines()) <= 80


def test_a_long_story_ends_with_what_matters() -> None:
    """Who reads at a terminal sees the end: what is wrong and its counterexample stand there again, before nothing else."""
    printed = " ".join(run("show", "PM-L15").stdout.split())
    _, _, end = printed.partition("In short")
    assert "status:" in end and "What is wrong in the form above: The proof bounds the terms with M" in end
    assert "Counterexample: " in end and end.endswith("prints the statement alone, without its derivation.")
    assert printed.count("`eigentoken show PM-L15 --text`") == 1
    assert "In short" not in run("show", "PM-L15", "--text").stdout + run("show", "PM-A1", "--trust").stdout


def test_words_instead_of_an_id_name_the_search() -> None:
    said = run("show", "consensus").stderr
    assert "did you mean" in said and said.strip().endswith("`eigentoken statements --search consensus` lists all")
    assert "--search 'open hemisphere'" in run("show", "open hemisphere").stderr
    assert "--search" not in run("show", "PM-L44").stderr  # near an id: it is not a word


def test_a_mistyped_id_is_one_line_and_exit_2() -> None:
    printed = run("show", "PM-L44")
    assert printed.returncode == 2
    assert len(printed.stderr.strip().splitlines()) == 1
    assert "did you mean Stability of consensus for the Oja map (PM-L4)" in printed.stderr
    assert "Traceback" in eigentoken("--debug", "show", "PM-L44").stderr


def test_verify_passes_and_fails_with_its_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    good = CliRunner().invoke(app, ["verify", "PM-L4", "--instances", "0", "--json"])
    assert good.exit_code == 0
    assert json.loads(good.stdout)["verdict"] == "holds"
    import sympy as sp

    a = sp.Symbol("a")
    wrong = Derivation((Identity(name="wrong", says="", left=a, right=-a),))
    monkeypatch.setitem(vars(statements().get("PM-L4")), "derivation", wrong)
    bad = CliRunner().invoke(app, ["verify", "PM-L4", "--instances", "0", "--json"])
    assert bad.exit_code == 1
    assert json.loads(bad.stdout)["statements"][0]["verdict"] == "fails"


def test_verify_says_why_its_word_may_be_less_than_the_recorded_one() -> None:
    from eigentoken.proofs.verify import status_of

    said = "formal needs Coq (`eigentoken verify --coq`)"
    assert [str(status_of(statements().get(name))) for name in ("PM-L4", "PM-L3")] == ["formal", "derived"]
    assert said in run("verify", "PM-L4", "--instances", "5").stdout
    assert said not in run("verify", "PM-L3", "--instances", "5").stdout


def test_a_vector_is_held_to_every_printed_digit() -> None:
    from eigentoken.theory.statements.statement import Vector

    right = Vector("v", lambda: [0.5, 2], ("0.5", "2.0"))
    off = Vector("v", lambda: [0.500000000002], ("0.500000000000",))
    short = Vector("v", lambda: [1], ("1", "2"))
    broken = Vector("v", lambda: [1 / 0], ("1",))
    words = [verification.vector_line(each).answer for each in (right, off, short, broken)]
    assert words == ["holds", "fails", "fails", "fails"]


def test_a_vector_of_enclosures_is_held_to_their_width() -> None:
    """An enclosure that is wider than the printed digits agrees with nothing, whatever its middle is."""
    from flint import arb

    from eigentoken.theory.statements.statement import Vector

    def word(middle: str, radius: str) -> str:
        return verification.vector_line(Vector("v", lambda: [arb(middle, radius)], ("0.10",))).answer

    assert [word("0.1", "0.001"), word("0.1", "0.02"), word("0.5", "0.45"), word("0.12", "0")] == [
        *("holds", "fails", "fails", "fails")
    ]


def test_evidence_belongs_to_exactly_one_text(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = tmp_path / "ledger.json"
    result = verification.verify(statements().get("PM-L4"), instances=0)
    verification.record([result], ledger)
    monkeypatch.setattr(verification, "LEDGER", ledger)
    verification._ledger.cache_clear()
    assert verification.status_of(statements().get("PM-L4")) == "derived"
    text = ledger.read_text().replace(result.digest, "0" * 64)
    ledger.write_text(text)
    verification._ledger.cache_clear()
    assert verification.status_of(statements().get("PM-L4")) == "stated"
    verification._ledger.cache_clear()


def test_help_lists_only_commands_that_work() -> None:
    printed = run("--help")
    assert printed.returncode == 0
    for command in ("statements", "show", "verify"):
        assert command in printed.stdout
        helped = run(command, "--help")
        assert helped.returncode == 0
        assert "Example: eigentoken" in helped.stdout
