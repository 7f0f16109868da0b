"""``eigentoken compare``: what changed between models of one shape, certified only where intervals part."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import eigentoken as et
from eigentoken.comparing.compare import labels_of, step_numbers
from eigentoken.comparing.page import comparison_html, comparison_json
from eigentoken.comparing.sentences import spans
from eigentoken.models import ModelError, load
from eigentoken.numerics.layers.changes import beyond_both_ends, directions, parted
from eigentoken.numerics.recheck.documents.strict import broken_rule
from eigentoken.schemas import schema

from ..commands import here

SAVED = Path(__file__).resolve().parents[2] / "examples" / "byte_lm"


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A tiny GPT-2, the same with the values of layer 1 doubled, and that one again."""
    from safetensors.numpy import load_file, save_file

    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(1)
    root = tmp_path_factory.mktemp("steps")
    config = transformers.GPT2Config(n_layer=2, n_head=2, n_embd=16, vocab_size=20, n_positions=12)
    transformers.GPT2LMHeadModel(config).save_pretrained(root / "step0")
    tensors = load_file(root / "step0" / "model.safetensors")
    name = next(name for name in tensors if name.endswith("h.1.attn.c_proj.weight"))
    tensors[name] = tensors[name] * np.float32(2)
    shutil.copytree(root / "step0", root / "step10")
    save_file(tensors, root / "step10" / "model.safetensors", metadata={"format": "pt"})
    shutil.copytree(root / "step10", root / "step20")
    return [root / "step0", root / "step10", root / "step20"]


@pytest.fixture(scope="module")
def found(steps: list[Path], tmp_path_factory: pytest.TempPathFactory) -> et.Comparison:
    return et.compare([str(each) for each in steps], statements="PM-N1", work=tmp_path_factory.mktemp("work"))


def test_only_intervals_that_part_are_a_change(found: et.Comparison, steps: list[Path]) -> None:
    """Doubled values double the norm of layer 1 and change nothing else; equal weights are never told apart."""
    first, second = found.document["layers"]
    assert {way for number in first["numbers"] for way in (*number["steps"], number["overall"])} == {"not parted"}
    norm = next(each for each in second["numbers"] if each["quantity"] == "norm")
    assert norm["steps"] == ["rises", "not parted"] and norm["overall"] == "rises"
    for path, ends in zip(steps, norm["values"], strict=True):
        assert ends[0] <= np.linalg.norm(load(str(path)).layer(1).F, 2) <= ends[1]
    ratio = next(each for each in second["numbers"] if each["quantity"] == "distance to symmetric over norm")
    assert ratio["overall"] == "not parted"  # the same direction, longer
    for head in second["heads"]:
        ways = {number["quantity"]: number["overall"] for number in head["numbers"]}
        assert ways["value norm"] == "rises" and ways["score norm"] == "not parted"
    said = found.sentences()
    assert "the norm of F rises in layer 1 (certified)" in said
    assert "the norm of the values U rises in 2 of 4 heads (certified)" in said
    assert not any("scores" in text for text in said)


def test_the_order_of_the_models_is_the_direction(steps: list[Path], tmp_path: Path) -> None:
    back = et.compare(str(steps[1]), str(steps[0]), statements="PM-N1", work=tmp_path)  # or one list
    norm = next(each for each in back.document["layers"][1]["numbers"] if each["quantity"] == "norm")
    assert norm["overall"] == "falls"


def test_what_lies_beyond_both_ends_is_said(steps: list[Path], tmp_path: Path) -> None:
    """Doubled and halved again: the ends are equal, the saved step between them is not."""
    there_and_back = et.compare([str(steps[0]), str(steps[1]), str(steps[0])], statements="PM-N1", work=tmp_path)
    said = there_and_back.sentences()
    assert (
        "the norm of F is not told apart at the ends; between them it was higher than at both ends in layer 1 (certified)"
        in said
    )
    assert any(
        "norm of the values U" in text and text.endswith("higher than at both ends in 2 of 4 heads (certified)")
        for text in said
    )
    assert not any("lower than at both ends" in text and "norm" in text for text in said)
    one_way = et.compare([str(each) for each in steps], statements="PM-N1", work=tmp_path).sentences()
    assert not any("between them" in text for text in one_way)


def test_beyond_is_beyond_both_and_certified() -> None:
    low, middle, high = [0.0, 1.0], [2.0, 3.0], [4.0, 5.0]
    assert beyond_both_ends([low, high, middle]) == beyond_both_ends([middle, high, low]) == ["rises"]
    assert beyond_both_ends([high, low, middle]) == ["falls"]
    assert beyond_both_ends([middle, high, low, middle]) == ["rises", "falls"]
    assert beyond_both_ends([low, middle, high]) == beyond_both_ends([low, high]) == []
    assert beyond_both_ends([middle, [3.0, 5.0], middle]) == []  # it touches: nothing is certified
    assert beyond_both_ends([middle, None, middle]) == beyond_both_ends([None, high, middle]) == []


def test_intervals_part_or_they_do_not() -> None:
    assert parted([0.0, 1.0], [2.0, 3.0]) == "rises"
    assert parted([2.0, 3.0], [0.0, 1.0]) == "falls"
    assert (
        parted([0.0, 1.0], [1.0, 3.0]) == parted([0.0, "inf"], [2.0, 3.0]) == parted([0.0, 1.0], None) == "not parted"
    )
    assert directions([[0.0, 1.0], [2.0, 3.0], [2.5, 4.0]]) == ["rises", "not parted"]


def test_document_page_table_and_figure(found: et.Comparison, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    document = json.loads(comparison_json(found))
    assert broken_rule(document, schema("compare")) is None
    del document["layers"][0]["numbers"][0]["overall"]
    assert broken_rule(document, schema("compare")) is not None
    page = comparison_html(found)
    named = copy.deepcopy(found.document)
    named["models"][0]["source"] = "<b>bold</b>"  # a name is text, whatever it is
    assert "&lt;b&gt;bold" in comparison_html(et.Comparison(named)) and "<b>bold" not in comparison_html(
        et.Comparison(named)
    )
    assert page.count("data-panels=") == 1 and "http://" not in page.replace("http://www.w3.org", "").replace(
        "http://purl.org", ""
    )
    table = found.to_frame()
    assert set(table["model"]) == {"step0", "step10", "step20"}
    assert (table["low"] <= table["high"]).where(table["low"].notna(), True).all()
    assert len(found.plot().axes) == 4
    assert found.save(tmp_path / "c.json").read_text() == comparison_json(found)
    with pytest.raises(ValueError, match=r"saved as \.json, \.html"):
        found.save(tmp_path / "c.csv")


def test_models_of_another_shape_are_refused(steps: list[Path], tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=20, n_positions=12)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "other")
    with pytest.raises(ValueError, match=r"another shape than .* \(layers 2 and 1\)"):
        et.compare([str(steps[0]), str(tmp_path / "other")], statements="PM-N1", work=tmp_path / "work")
    for wrong in (str(steps[0]), [str(steps[0])], [], et.load(str(steps[0]))):  # a model is no list of its layers
        with pytest.raises(ValueError, match="two or more models"):
            et.compare(wrong)


def test_the_command_and_its_refusals(steps: list[Path], tmp_path: Path) -> None:
    base = ["compare", *steps, "--statement", "PM-N1", "--jobs", "1", "--work", tmp_path / "work"]
    ran = here(*base, "--html", tmp_path / "c.html", "-o", tmp_path / "c.json")
    assert ran.returncode == 0, ran.stderr
    assert "3 models: step0, step10, step20" in ran.stdout
    assert (tmp_path / "c.html").exists() and json.loads((tmp_path / "c.json").read_text())[
        "schema"
    ] == "eigentoken/compare/2"
    assert max(map(len, ran.stdout.splitlines())) <= 80
    for arguments, says in (
        (["compare", steps[0]], "two or more"),
        ([*base, "--html", tmp_path / "c.txt"], ".html file"),
        (
            ["check", steps[0], "--revisions", "a,b"],
            "`eigentoken compare` takes the saved steps of a training as files or folders",
        ),
        (["check", "org/name", "--revisions", "a,b", "--require", "PM-N1"], "--require is of one report"),
        ([*base, "--statement", "PM-N999"], "did you mean"),
    ):
        refused = here(*arguments)
        assert refused.returncode == 2, (arguments, refused.stdout)
        assert says in refused.stderr and len(refused.stderr.strip().splitlines()) == 1


def test_revisions_on_the_hub_are_compared(steps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``check --revisions`` opens each revision of one name, in the order given."""
    from eigentoken.models.loading import hub

    kept = {each.name: each for each in steps}
    monkeypatch.setattr(hub, "snapshot", lambda name, revision: kept[revision])
    base = ["check", "org/model", "--statement", "PM-N1", "--jobs", "1", "--work", tmp_path, "--json"]
    document = json.loads(here(*base, "--revisions", "step10, step0").stdout)
    assert document["schema"] == "eigentoken/compare/2"
    assert [each["source"] for each in document["models"]] == ["org/model@step10", "org/model@step0"]
    assert [each["label"] for each in document["models"]] == ["step10", "step0"]
    norm = next(each for each in document["layers"][1]["numbers"] if each["quantity"] == "norm")
    assert norm["overall"] == "falls"


def test_labels_steps_and_spans() -> None:
    assert labels_of(["runs/a/step1/", "runs/a/step22"]) == ["step1", "step22"]
    assert labels_of(["x", "y", "x"]) == ["x", "y", "x (2)"]
    assert step_numbers(["step10", "step9"]) is None
    assert spans(["2", "2", "1"], ["a", "b", "c"]) == "2 (a to b), 1 (c)"


def test_the_saved_steps_are_whole() -> None:
    """Twelve files that the recipe wrote, each read as what the recipe says, with its held-out loss beside it."""
    told = json.loads((SAVED / "training.json").read_text())
    files = sorted(SAVED.glob("*.safetensors"))
    assert [path.stem for path in files] == sorted(told["held_out_loss_in_nats_a_byte"])
    assert len(files) == 12
    for path in files:
        model = load(str(path))
        assert (model.n_layers, model.n_heads, model.d, model.layer(0).stored_dtype) == (4, 4, 64, "float16")
    losses = list(told["held_out_loss_in_nats_a_byte"].values())
    assert losses[0] > np.log(200) and losses[-1] < losses[0] / 2
    with pytest.raises(ModelError):
        load(str(SAVED / "step99999.safetensors"))


def test_the_recorded_loss_is_that_of_the_stored_weights() -> None:
    """The forward pass here on the stored numbers gives a loss near the recorded one on other bytes of the same kind."""
    from eigentoken.models.forward import run_tokens

    model = load(str(SAVED / "step03000.safetensors"))
    text = Path(json.__file__).read_bytes()[2000 : 2000 + 4 * 128]
    ids = np.frombuffer(text, dtype=np.uint8).astype(int).reshape(4, 128)
    last = list(run_tokens(model, ids))[-1].output
    norm = model.final_norm()
    assert norm is not None
    logits = norm.apply(last) @ np.asarray(model.embedding().token, dtype=float).T
    logits -= logits.max(axis=-1, keepdims=True)
    logs = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    loss = -np.take_along_axis(logs[:, :-1], ids[:, 1:, None], axis=-1).mean()
    recorded = json.loads((SAVED / "training.json").read_text())["held_out_loss_in_nats_a_byte"]["step03000"]
    assert abs(loss - recorded) < 0.7
