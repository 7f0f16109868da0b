"""``eigentoken steer``: a new checkpoint that loads, the original as it was, a certified eigenpair, bad directions refused."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from typer.testing import CliRunner

from eigentoken.checking.observe import starting_tokens
from eigentoken.checking.steer import read_direction, steer
from eigentoken.cli import app
from eigentoken.models import load
from eigentoken.models.forward import first_states, run_layer
from eigentoken.schemas import schema
from eigentoken.transformer_layer import attention


def _digests(model: Any) -> dict[str, str]:
    return {file.path.name: hashlib.sha256(file.path.read_bytes()).hexdigest() for file in model.files}


@pytest.mark.parametrize("name", ["rxnmapper", "glassllm"])
def test_a_steered_copy_is_certified_and_the_original_untouched(name: str, tmp_path: Path) -> None:
    """rxnmapper: every layer shares the matrix; glassllm: grouped values and float16, so V has a kernel."""
    model = load(f"sample:{name}")
    before = _digests(model)
    w = np.random.default_rng(1).standard_normal(model.d)
    report = steer(model, w, tmp_path / "new", strength=40.0, sequences=2, tokens=8).as_dict()
    assert _digests(load(f"sample:{name}")) == before
    copy = load(str(tmp_path / "new"))
    assert copy.n_layers == model.n_layers
    assert copy.format.startswith("safetensors")
    F = copy.layer(-1).F
    values, vectors = np.linalg.eig(F)
    first = int(np.argmax(values.real))
    found = report["leading_eigenvalue"]
    assert abs(values[first].real - found["re"]) <= found["radius"] + 1e-6
    assert found["re"] > 30.0
    assert {verdict["verdict"] for verdict in report["verdicts"].values()} == {"holds"}
    true = abs(float(np.real(vectors[:, first]) @ (w / np.linalg.norm(w))))
    assert report["cosine_at_least"] <= true + 1e-9
    assert report["cosine_at_least"] > 0.9
    assert report["tokens"]["after"]["mean"] > report["tokens"]["before"]["mean"]
    told = report["tokens"]["guaranteed"]
    assert told["tokens"] == len(told["each"]) == 16
    assert [each["verdict"] for each in told["each"]].count("holds") == told["holds"] > 0
    _agrees_with_the_forward_pass(model, copy, w / np.linalg.norm(w), told["each"])


def _agrees_with_the_forward_pass(model: Any, copy: Any, w: Any, each: list[dict[str, Any]]) -> None:
    """The certified |cos| of every token encloses what the forward pass of the new layer computes (float32)."""
    x = first_states(model, starting_tokens(model, 2, 8, 0))
    for layer in model.layers(0, model.n_layers - 1):
        x = run_layer(layer, x).output
    last = replace(copy.layer(-1), index=model.n_layers - 1)
    seen = last.attention_norm.apply(x) if last.placement == "pre" else x
    after = (x + attention(last.block(False), seen)[2]).reshape(-1, model.d).astype(np.float64)
    cosines = np.abs(after @ w) / np.linalg.norm(after, axis=1)
    for cosine, told in zip(cosines, each, strict=True):
        assert told["cosine"][0] - 1e-4 <= cosine <= told["cosine"][1] + 1e-4
        if told["verdict"] == "holds":
            assert 1 / np.hypot(1, told["tangent_at_most"]) <= cosine + 1e-4


def test_unusual_directions(tmp_path: Path) -> None:
    model = load("sample:glassllm")
    path = tmp_path / "w.npy"
    np.save(path, np.ones((1, model.d), dtype=np.float32))  # a row, single precision
    assert steer(model, str(path), tmp_path / "row", sequences=1, tokens=4).document["strength"] == 20.0
    np.save(path, np.arange(model.d))  # whole numbers
    assert read_direction(str(path), model).dtype.kind == "i"
    assert read_direction("token:3", model).shape == (model.d,)


@pytest.mark.parametrize(
    ("direction", "said"),
    [
        ("token:99999999", "vocabulary"),
        ("token:-1", "vocabulary"),
        ("somewhere", "must be a .npy file"),
        ("missing.npy", "missing.npy"),
        ("short.npy", "entries"),
        ("zero.npy", "not zero"),
        ("nan.npy", "finite"),
        ("pickled.npy", "nothing was unpickled"),
        ("text.npy", "nothing was unpickled"),
        ("complex.npy", "real numbers"),
    ],
)
def test_bad_directions_are_one_line_and_exit_2(direction: str, said: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("short.npy", np.ones(3))
    np.save("zero.npy", np.zeros(128))
    np.save("nan.npy", np.full(128, np.nan))
    np.save("pickled.npy", np.array([object()]), allow_pickle=True)
    np.save("complex.npy", np.ones(128, dtype=complex))
    Path("text.npy").write_text("hello")
    ran = CliRunner().invoke(app, ["steer", "sample:glassllm", "--direction", direction, "-o", "out"])
    assert ran.exit_code != 0
    text = str(ran.exception) if ran.exception is not None else ran.output
    assert said in text + ran.output
    assert not Path("out").exists()


def test_the_document_has_a_schema_and_the_folder_must_be_new(tmp_path: Path) -> None:
    arguments = ["steer", "sample:glassllm", "--direction", "random", "-o", str(tmp_path / "out"), "--json"]
    ran = CliRunner().invoke(app, arguments)
    assert ran.exit_code == 0, ran.output
    document = json.loads(ran.stdout)
    assert document["schema"] == "eigentoken/steer/2"
    checker = jsonschema.Draft202012Validator(schema("steer"))
    checker.validate(document)
    for name in ("leading_eigenvalue", "cosine_at_least", "tokens"):
        assert not checker.is_valid({key: value for key, value in document.items() if key != name})
    document["tokens"]["guaranteed"]["each"][0]["verdict"] = "probably"
    assert not checker.is_valid(document)
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code != 0
    assert "exists already" in str(again.exception) + again.output


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A GPT-2 of two layers, d = 8, 256 tokens, with a head of its own; and the reference implementation."""
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(1)
    config = transformers.GPT2Config(
        n_layer=2, n_head=2, n_embd=8, vocab_size=256, n_positions=16, initializer_range=0.4, tie_word_embeddings=False
    )
    reference = transformers.GPT2LMHeadModel(config).eval()
    with torch.no_grad():  # versions of transformers draw weights in other orders: these are the same for all
        for _, weight in sorted(reference.named_parameters()):
            weight += 0.4 * torch.randn(weight.shape) - weight if weight.ndim == 2 else 0
    folder = tmp_path_factory.mktemp("causal") / "model"
    reference.save_pretrained(folder)
    return folder, reference


def _reference_logits(reference: Any, ids: Any) -> Any:
    import torch

    with torch.no_grad():
        return reference(torch.tensor(ids)).logits.double().numpy()


def test_sides_damage_and_curve_are_those_of_the_reference(causal: tuple[Path, Any], tmp_path: Path) -> None:
    """On given prompts: the sign of each token, KL and the likeliest token against transformers with the written weights."""
    transformers = pytest.importorskip("transformers")
    folder, reference = causal
    prompts = [[1, 2, 3, 4, 5], [200, 7, 9]]
    report = steer(str(folder), "random", tmp_path / "new", strength=6.0, prompts=prompts).as_dict()
    assert report["prompts"] == {"source": "list", "read_by": "ids", "prompts": 2, "tokens": 8, "ids": prompts}
    edited = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "new").eval()
    apart, kept = [], []
    for ids in prompts:
        p, q = (_reference_logits(each, [ids])[0] for each in (reference, edited))
        p, q = (each - np.log(np.exp(each).sum(-1, keepdims=True)) for each in (p, q))
        apart += (np.exp(p) * (p - q)).sum(-1).tolist()
        kept += (p.argmax(-1) == q.argmax(-1)).tolist()
    stored = report["output"]["stored"]
    assert stored["positions"] == 8 and stored["top1_kept"] == np.mean(kept)
    assert stored["mean_kl"] == pytest.approx(np.mean(apart), rel=1e-4)
    assert stored["largest_kl"] == pytest.approx(max(apart), rel=1e-4)
    curve = report["output"]["curve"]
    assert [each["strength"] for each in curve] == sorted(each["strength"] for each in curve)
    at_stored = next(each for each in curve if each["strength"] == 6.0)
    assert at_stored["mean_kl"] == pytest.approx(stored["mean_kl"], rel=1e-4)
    assert curve[0]["mean_kl"] < curve[-1]["mean_kl"]
    told = report["tokens"]["guaranteed"]
    sides = [each["side"] for each in told["each"]]
    assert (told["towards"], told["away"]) == (sides.count("+w"), sides.count("-w"))
    assert told["towards"] + told["away"] == told["holds"] > 0
    signed = _signed_cosines(load(str(folder)), load(str(tmp_path / "new")), prompts)
    for side, cosine in zip(sides, signed, strict=True):
        assert side is None or (cosine > 0) == (side == "+w")


def _signed_cosines(model: Any, copy: Any, prompts: list[list[int]]) -> list[float]:
    w = read_direction("random", model)
    found = []
    for ids in prompts:
        x = run_layer(model.layer(0), first_states(model, np.array([ids]))).output
        after = run_layer(copy.layer(1), x, with_feed_forward=False).after_attention[0]
        found += (after @ w / np.linalg.norm(after, axis=1)).tolist()
    return found


def test_a_strength_is_chosen_for_a_wanted_guarantee(causal: tuple[Path, Any], tmp_path: Path) -> None:
    """The chosen strength is certified to be enough, and the suggestion is what the tokens need: a little less is not enough."""
    folder, _ = causal
    ids = [[5, 6, 7, 8, 9, 10, 11, 12, 13, 14]]
    report = steer(str(folder), "random", tmp_path / "most", guarantee=0.8, prompts=ids).as_dict()
    told = report["tokens"]["guaranteed"]
    assert told["holds"] == 8
    less = steer(str(folder), "random", tmp_path / "less", strength=report["strength"] * 0.98, prompts=ids).as_dict()
    assert less["tokens"]["guaranteed"]["holds"] == 7
    shares = {each["share"]: each["strength"] for each in report["suggested"]}
    assert shares[0.5] <= report["strength"] / 1.01 <= shares[0.9] <= shares[1.0]
    for wrong, says in (
        ({"guarantee": 1.5}, "share of the tokens"),
        ({"guarantee": 0.5, "strength": 2.0}, "leave one out"),
    ):
        with pytest.raises(ValueError, match=says):
            steer(str(folder), "random", tmp_path / "no", **wrong)
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("tied", [True, False])
def test_the_output_distribution_is_that_of_the_reference(tied: bool, tmp_path: Path) -> None:
    from eigentoken.models import ModelError
    from eigentoken.models.forward import run_tokens
    from eigentoken.models.logits import output_head

    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(0)
    sizes = {
        "hidden_size": 8,
        "intermediate_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "vocab_size": 20,
    }
    reference = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes, tie_word_embeddings=tied)).eval()
    reference.model.norm.weight.data.uniform_(0.5, 1.5)
    reference.save_pretrained(tmp_path / "llama")
    model, ids = load(str(tmp_path / "llama")), [[1, 5, 7, 3]]
    head = output_head(model)
    assert head.tied == tied
    found = head.logits(list(run_tokens(model, np.array(ids)))[-1].output)
    assert np.abs(found - _reference_logits(reference, ids)).max() < 1e-5
    with pytest.raises(ModelError, match="no causal language model"):
        output_head(load("sample:rxnmapper"))
    config = json.loads((tmp_path / "llama" / "config.json").read_text())
    (tmp_path / "llama" / "config.json").write_text(json.dumps({**config, "logit_scale": 0.5}))
    with pytest.raises(ModelError, match="logit_scale"):
        output_head(load(str(tmp_path / "llama")))


def test_prompts_are_texts_bytes_or_ids_or_refused(causal: tuple[Path, Any], tmp_path: Path) -> None:
    from eigentoken.checking.prompts import PromptsError, read_prompts

    model = load(str(causal[0]))
    file = tmp_path / "prompts.txt"
    file.write_text("hello\n\nhé\n", encoding="utf-8")
    read = read_prompts(file, model)
    assert (read.source, read.read_by) == ("prompts.txt", "bytes")
    assert [bytes(each.tolist()).decode() for each in read.ids] == ["hello", "hé"]
    np.save(tmp_path / "ids.npy", np.array([[1, 2], [3, 4]]))
    assert [each.tolist() for each in read_prompts(tmp_path / "ids.npy", model).ids] == [[1, 2], [3, 4]]
    (tmp_path / "mixed.json").write_text('["a b", [1, 2]]')
    (tmp_path / "nothing.json").write_text("[]")
    (tmp_path / "broken.json").write_text("[")
    for wrong, says in (
        ([[1, 999]], "the vocabulary has 0..255"),
        ([[1]], "at least 2"),
        ([list(range(17))], "16 fit the positions"),
        ([[0.5, 1.5]], "list of token ids"),
        (tmp_path / "mixed.json", "got both"),
        (tmp_path / "nothing.json", "prompts must be one or more: nothing.json has none"),
        ([[1, 2], []], "prompt 1 has no tokens"),
        (tmp_path / "broken.json", "broken.json"),
        (tmp_path / "x.csv", "prompts must be"),
        (tmp_path / "gone.txt", "cannot read gone.txt"),
    ):
        with pytest.raises(PromptsError, match=says):
            read_prompts(wrong, model)
    tokenizers = pytest.importorskip("tokenizers")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 3, "b": 4, "?": 0}, unk_token="?"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.save(str(causal[0] / "tokenizer.json"))
    try:
        read = read_prompts(["a b a", "b c"], model)
        assert read.read_by == "tokenizer.json" and [each.tolist() for each in read.ids] == [[3, 4, 3], [4, 0]]
        (causal[0] / "tokenizer.json").write_text("{}")
        with pytest.raises(PromptsError, match="cannot be read as a tokenizer"):
            read_prompts(["a b"], model)
    finally:
        (causal[0] / "tokenizer.json").unlink()
    with pytest.raises(PromptsError, match="no tokenizer"):
        read_prompts(["a b"], load("sample:glassllm"))


def test_the_command_shows_sides_damage_and_a_figure(causal: tuple[Path, Any], tmp_path: Path) -> None:
    arguments = ["steer", str(causal[0]), "--direction", "random", "--guarantee", "0.5", "-o", str(tmp_path / "out")]
    ran = CliRunner().invoke(app, [*arguments, "--figure", str(tmp_path / "damage.svg")])
    assert ran.exit_code == 0, ran.output
    said = " ".join(ran.stdout.split())
    for text in (
        "on the side of +w and",
        "next token: measured, relative entropy",
        "damage by strength",
        "cos with its sign",
    ):
        assert text in said
    assert (tmp_path / "damage.svg").read_text().count("<svg") == 1
    report = steer("sample:glassllm", "random", tmp_path / "grouped", sequences=1, tokens=3)
    assert "strength" in repr(report) and (report.document["output"]["stored"] is None) == bool(
        report.document["output"]["why_not"]
    )
