"""``check --states``: given token states in place of random ones; what is refused, and numbers found by hand."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.checking import check
from eigentoken.checking.html import summary_html
from eigentoken.checking.own_states import rows_of_states, tokens_are
from eigentoken.checking.report import Report
from eigentoken.checking.sentences import sentence
from eigentoken.models import load
from eigentoken.models.forward import run_layer
from eigentoken.numerics.layers.token_conditions import conditions_at
from eigentoken.rechecking.recheck import recheck_document
from eigentoken.theory.language.verdicts import array_digest

from ..commands import here

D, LAYERS = 4, 2


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A GPT-2 of two layers of width 4."""
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(3)
    config = transformers.GPT2Config(n_layer=LAYERS, n_head=1, n_embd=D, vocab_size=9, n_positions=8, bos_token_id=0)
    config.eos_token_id = 0
    folder = tmp_path_factory.mktemp("states")
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work")


#: Lengths 5, 3, 1; cosines 9/15, 4/5, 0: computed on paper.
TOKENS = np.array([[3, 4, 0, 0], [3, 0, 0, 0], [0, 1, 0, 0]], dtype=np.float32)


def _checked(model: str, work: Path, states: object) -> Report:
    return check(model, statements=("BD-D2", "BD-N1"), work=work, states=states)


def _around(ends: Any, value: float) -> bool:
    return bool(ends[0] <= value <= ends[1] and ends[1] - ends[0] < 1e-12)


def test_the_conditions_are_those_found_on_paper(model: str, work: Path) -> None:
    states = _checked(model, work, TOKENS).document["states"]
    assert states is not None
    assert (states["source"], states["shape"], states["dtype"]) == ("array", [3, D], "float32")
    assert states["sha256"] == array_digest(TOKENS) and not states["per_layer"]
    first, second = states["conditions"]
    assert (first["given"], second["given"]) == (True, False)
    assert first["hemisphere"]["verdict"] == "holds" and first["hemisphere"]["certificate"] is not None
    assert _around(first["shortest"], 1.0) and _around(first["longest"], 5.0)
    assert _around(first["smallest_cosine"], 0.0)
    assert first["largest_cosine"][0] < 0.8 < first["largest_cosine"][1]


def test_observation_and_bounds_are_at_the_given_states(model: str, work: Path) -> None:
    document = _checked(model, work, TOKENS).document
    assert (document["options"]["sequences"], document["options"]["tokens"]) == (1, 3)
    loaded = load(model)
    x = TOKENS[None]
    for index in range(LAYERS):
        seen, layer = document["observed"][index], loaded.layer(index)
        unit = x[0].astype(float) / np.linalg.norm(x[0].astype(float), axis=1, keepdims=True)
        assert seen["tokens"] == 3
        assert seen["E"][0] == pytest.approx(1 - float((unit @ unit[0]).mean()), abs=1e-12)
        lengths = np.linalg.norm(x[0].astype(float), axis=1)
        assert seen["left_out"]["length_spread"] == pytest.approx(lengths.std() / lengths.mean(), abs=1e-12)
        entering = np.stack([x[0], layer.attention_norm.apply(x[0])])
        assert document["bounds"][index]["sha256"] == array_digest(entering)
        assert document["states"]["conditions"][index]["sha256"] == array_digest(x[0])
        x = run_layer(layer, x).output


def test_states_of_each_layer_are_taken_in_each_layer(model: str, work: Path, tmp_path: Path) -> None:
    opposite = np.array([[1, 0, 0, 0], [-1, 0, 0, 0], [0, 2, 0, 0]], dtype=np.float64)
    file = tmp_path / "hidden.npy"
    np.save(file, np.stack([TOKENS.astype(np.float64), opposite]))
    report = _checked(model, work, file)
    states = report.document["states"]
    assert states is not None and states["per_layer"] and states["source"] == "hidden.npy"
    first, second = states["conditions"]
    assert first["given"] and second["given"]
    assert (first["hemisphere"]["verdict"], second["hemisphere"]["verdict"]) == ("holds", "fails")
    assert _around(second["smallest_cosine"], -1.0) or second["smallest_cosine"][0] == -1.0
    assert [each["E"][0] for each in report.document["observed"]][1] == pytest.approx(1 - 0 / 3)
    assert tokens_are(report) == "given tokens (hidden.npy)"
    assert [row[2] for row in rows_of_states(report)] == ["holds", "fails"]
    page = tmp_path / "report.html"
    report.save(page)
    assert "Conditions on the given tokens" in page.read_text(encoding="utf-8")
    assert "random tokens" not in page.read_text(encoding="utf-8") and summary_html(report)


def test_without_states_the_document_says_so(model: str, work: Path) -> None:
    report = check(model, statements="BD-N1", work=work, sequences=1, tokens=4)
    assert report.document["states"] is None and rows_of_states(report) == []
    assert tokens_are(report) == "random tokens"


REFUSED: dict[str, tuple[object, str]] = {
    "wrong width": (np.ones((3, D + 1)), "width 4, got shape (3, 5)"),
    "wrong number of layers": (np.ones((3, 3, D)), "2 layers, got shape (3, 3, 4)"),
    "not finite": (np.array([[1.0, 2, 3, 4], [1, np.nan, 3, 4]]), "must be finite, got nan at (1, 1)"),
    "not an array": ([[1.0, 2.0, 3.0, 4.0]], "must be a numpy array or a .npy file"),
    "token ids": (np.ones((3, D), dtype=int), "got int64 (3, 4)"),
    "empty": (np.ones((0, D)), "too few tokens, got shape (0, 4)"),
    "huge": (np.full((3, D), 1e300), "each number below 1e+150: its square would be no float"),
    "one token": (np.ones((1, D)), "too few tokens, got shape (1, 4)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_state_of_the_model_is_refused_in_one_line(name: str, model: str, work: Path) -> None:
    states, says = REFUSED[name]
    with pytest.raises(ValueError, match=r"^states must be") as refused:
        _checked(model, work, states)
    assert says in str(refused.value) and "\n" not in str(refused.value)
    if name != "not finite":
        assert "(n, 4) or (2, n, 4)" in str(refused.value)


def test_none_observed_and_states_given_is_a_contradiction(model: str, work: Path) -> None:
    with pytest.raises(ValueError, match="leave sequences=0"):
        check(model, work=work, sequences=0, states=TOKENS)


def test_the_command_takes_a_file_and_refuses_another(model: str, work: Path, tmp_path: Path) -> None:
    file, text = tmp_path / "tokens.npy", tmp_path / "words.npy"
    np.save(file, TOKENS)
    text.write_text("to be or not to be", encoding="utf-8")
    asked = ("check", model, "--statement", "BD-N1", "--work", str(work), "--jobs", "1", "--states")
    shown = here(*asked, str(file))
    assert shown.returncode == 0, shown.stderr
    assert "3 given tokens (tokens.npy)" in " ".join(shown.stdout.split())
    for bad in (text, tmp_path / "nothing.npy"):
        refused = here(*asked, str(bad))
        assert refused.returncode == 2 and refused.stderr.count("\n") == 1 and bad.name in refused.stderr
    beside = here(*asked, str(file), "--revisions", "a,b")
    assert beside.returncode == 2 and "--states is of one report" in beside.stderr


def test_a_recheck_finds_all_that_is_said_of_the_states_again(model: str, work: Path, tmp_path: Path) -> None:
    """The tokens of a small report are in its certificates: everything about them is made again, digests and bounds included."""
    path = tmp_path / "report.json"
    _checked(model, work, TOKENS).save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    found = recheck_document(path)
    assert found == "holds" and "states.source" in found.not_covered
    assert not {"states", "bounds", "states.conditions[]"} & set(found.not_covered)
    told = [(each.where, each.condition) for each in found if each.where.startswith("states")]
    assert told.count(("states, layer 1", "lengths and cosines")) == 1

    def first(forged: dict[str, Any]) -> dict[str, Any]:
        return forged["states"]["conditions"][0]

    for change in (
        lambda d: first(d)["hemisphere"]["certificate"]["data"].update(vector=["-1", "0", "0", "0"]),
        lambda d: first(d)["hemisphere"]["certificate"]["data"]["tokens"][0].__setitem__(0, "7/2"),
        lambda d: first(d).update(longest=[2 * end for end in first(d)["longest"]]),
        lambda d: first(d).update(smallest_cosine=[-1.0, -0.9]),
        lambda d: first(d).update(sha256="0" * 64),
        lambda d: first(d).update(given=False),
        lambda d: first(d).update(tokens=99),
        lambda d: d["states"].update(shape=[4, 3]),
    ):
        forged = copy.deepcopy(document)
        change(forged)
        path.write_text(json.dumps(forged), encoding="utf-8")
        assert recheck_document(path) == "fails"


def test_states_that_a_report_does_not_hold_are_given_again(
    model: str, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import eigentoken.checking.own_states as module

    monkeypatch.setattr(module, "KEPT", 0)
    path = tmp_path / "report.json"
    _checked(model, work, TOKENS).save(path)
    without = recheck_document(path)
    assert without == "holds" and {"states", "bounds"} <= set(without.not_covered)
    given = recheck_document(path, states=TOKENS)
    assert given == "holds" and not {"states", "bounds"} & set(given.not_covered)
    assert recheck_document(path, states=TOKENS + 1) == "fails"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["states"]["conditions"][1]["shortest"] = [0.0, 1e-9]
    path.write_text(json.dumps(document), encoding="utf-8")
    assert recheck_document(path, states=TOKENS) == "fails"
    _checked(model, work, None).save(path)
    with pytest.raises(ValueError, match="not about given states"):
        recheck_document(path, states=TOKENS)


@pytest.mark.parametrize("seed", range(4))
def test_lengths_and_cosines_enclose_the_exact_ones(seed: int) -> None:
    from flint import arb, ctx, fmpq

    x = np.random.default_rng(seed).standard_normal((5, 7)) * 10.0 ** (3 * seed - 4)
    x[1] = -3 * x[0]
    found = conditions_at(x)
    rows = [[arb(fmpq(*value.as_integer_ratio())) for value in map(float, row)] for row in x]  # exact: 53 bits

    def product(a: list[Any], b: list[Any]) -> Any:
        return sum((p * q for p, q in zip(a, b, strict=True)), arb(0))

    with ctx.workprec(300):
        lengths = sorted(float(product(row, row).sqrt()) for row in rows)
        pairs = [(a, b) for i, a in enumerate(rows) for b in rows[:i]]
        cosines = sorted(float(product(a, b) / (product(a, a) * product(b, b)).sqrt()) for a, b in pairs)
    for ends, value in (
        (found.shortest, lengths[0]),
        (found.longest, lengths[-1]),
        (found.smallest_cosine, cosines[0]),
        (found.largest_cosine, cosines[-1]),
    ):
        assert ends is not None and ends[0] <= value <= ends[1]
        assert ends[1] - ends[0] <= 1e-13 * max(1.0, abs(value))


def test_a_zero_token_has_no_direction_and_an_overflow_no_length() -> None:
    zero = conditions_at(np.array([[0.0, 0.0], [1.0, 0.0]]))
    assert zero.hemisphere.is_fails and zero.smallest_cosine is None and zero.shortest is not None
    huge = conditions_at(np.full((2, 2), 1e300))
    assert huge.longest is None and huge.largest_cosine is None and huge.hemisphere.is_holds


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A GPT-2 of two layers, d = 6, on bytes."""
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(3)
    folder = tmp_path_factory.mktemp("causal")
    config = transformers.GPT2Config(
        n_layer=2, n_head=2, n_embd=6, vocab_size=256, n_positions=16, initializer_range=0.6
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return str(folder)


def test_prompts_are_run_through_the_model_and_decide_conditions_on_tokens(
    causal: str, work: Path, tmp_path: Path
) -> None:
    """States of each prompt and layer by the model's own forward pass; statements say what holds of their tokens there."""
    from eigentoken.models.forward import first_states, run_tokens

    file = tmp_path / "prompts.txt"
    file.write_text("abc\nhello, world\n")
    report = check(causal, statements=("AB-X1c", "PM-N1", "BD-N1"), work=work, prompts=file)
    states = report.document["states"]
    assert states is not None and states["prompts"] is not None
    assert (states["source"], states["prompts"]["read_by"]) == ("prompts.txt", "bytes")
    assert [bytes(ids).decode() for ids in states["prompts"]["ids"]] == ["abc", "hello, world"]
    found = {(each["prompt"], each["layer"]): each for each in states["conditions"]}
    assert set(found) == {(prompt, layer) for prompt in (0, 1) for layer in (0, 1)}
    model = load(causal)
    asked = {}
    for prompt, ids in enumerate(states["prompts"]["ids"]):
        entering = [first_states(model, np.array([ids]))[0], next(run_tokens(model, np.array([ids]))).output[0]]
        for layer, x in enumerate(entering):
            here_now, told = conditions_at(x), found[prompt, layer]
            assert told["sha256"] == array_digest(x) and told["tokens"] == len(ids)
            assert told["hemisphere"]["verdict"] == here_now.hemisphere.answer.text
            assert told["longest"] == list(here_now.longest or ())
            asked[prompt, layer] = told["hemisphere"]["verdict"]
    (told,) = [each for each in report.statements if each["id"] == "AB-X1c"]
    (hemisphere,) = told["at_tokens"]
    for layer, word in enumerate(hemisphere["layers"]):
        both = {asked[0, layer], asked[1, layer]}
        assert word == ("fails" if "fails" in both else "holds" if both == {"holds"} else "undecided")
    (counted,) = [each for each in report.statements if each["id"] == "PM-N1"]
    assert counted["at_tokens"] == [{"condition": "n \\geq 2", "layers": ["holds", "holds"]}]
    said = sentence(report, told)
    assert "of given tokens (prompts.txt): " in said and "(certified)" in said
    assert check(causal, statements="PM-N1", work=work).statements[0]["at_tokens"] == []
    for wrong, says in (
        ({"prompts": file, "states": TOKENS}, "give one of them"),
        ({"prompts": file, "sequences": 0}, "prompts are a sequence"),
        ({"prompts": [[1, 400]]}, "the vocabulary has"),
    ):
        with pytest.raises(ValueError, match=says):
            check(causal, statements="PM-N1", work=work, **wrong)


def test_a_report_on_prompts_is_made_again_from_their_ids(causal: str, work: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    check(causal, statements=("AB-X1c", "BD-N1"), work=work, prompts=[[97, 98, 99], [5, 6]]).save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    found = recheck_document(path)
    assert found == "holds" and not {"states", "bounds"} & set(found.not_covered)

    def last(forged: dict[str, Any]) -> dict[str, Any]:
        return forged["states"]["conditions"][-1]

    for change in (
        lambda d: last(d).update(smallest_cosine=[0.99, 0.995]),
        lambda d: last(d)["asked"].update(dict.fromkeys(last(d)["asked"], "undecided")),
        lambda d: d["statements"][0]["at_tokens"][0].update(layers=["undecided", "undecided"]),
    ):
        forged = copy.deepcopy(document)
        change(forged)
        path.write_text(json.dumps(forged), encoding="utf-8")
        assert recheck_document(path) != "holds"
    other = copy.deepcopy(document)
    other["states"]["prompts"]["ids"][1] = [
        7,
        8,
    ]  # not the prompts of these states: they are refused
    path.write_text(json.dumps(other), encoding="utf-8")
    found = recheck_document(path)
    assert found == "fails" and {"states.prompts", "bounds"} <= {each.partition("[")[0] for each in found.not_covered}


def test_conditions_on_tokens_are_decided_on_exact_floats() -> None:
    from eigentoken.numerics.layers.token_conditions import asks_of_tokens, verdict_at
    from eigentoken.theory.language.conditions import InHemisphere, NoneOpposite, NotAllEqual, NotAllZero, Relation
    from eigentoken.theory.language.terms import matrix, n

    def at(condition: Any, *rows: list[float]) -> str:
        x = np.array(rows)
        return str(verdict_at(condition, x, conditions_at(x)).answer.text)

    assert (
        at(NotAllEqual(), [1.0, 0.0], [1.0, 0.0]) == "fails" and at(NotAllEqual(), [1.0, 0.0], [1.0, 5e-324]) == "holds"
    )
    assert at(NotAllZero(), [0.0, 0.0], [0.0, 0.0]) == "fails" and at(NotAllZero(), [0.0, 0.0], [0.0, 1.0]) == "holds"
    assert (
        at(NoneOpposite(), [1.0, 0.0], [-1.0, 0.0]) == "fails" and at(NoneOpposite(), [1.0, 0.0], [0.0, 1.0]) == "holds"
    )
    assert at(NoneOpposite(), [1.0, 0.0], [-2.0, 0.0]) == "undecided"
    assert at(InHemisphere(), [1.0, 0.0], [-1.0, 0.0]) == "fails"
    assert (
        at(Relation(n >= 3), [1.0, 0.0], [0.0, 1.0]) == "fails"
        and at(Relation(n >= 2), [1.0, 0.0], [0.0, 1.0]) == "holds"
    )
    assert asks_of_tokens(InHemisphere()) and asks_of_tokens(InHemisphere(matrix("V")))
    assert not asks_of_tokens(InHemisphere(matrix("P")))
