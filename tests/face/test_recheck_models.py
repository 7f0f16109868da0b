"""``eigentoken recheck`` on compare, chance and nearest: confirmed by the second arithmetic, refused, or not covered."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigentoken as et
from eigentoken.numerics.recheck.layers.numbers import (
    Near,
    exact_sum,
    interval_differs,
    near_sum,
    norm_ends,
    quotient,
    spectra,
)
from eigentoken.rechecking.recheck import AGAIN, HASHES, SECOND, Recheck, recheck_document
from eigentoken.schemas import schema

from ..commands import here

Forge = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two GPT-2 of one layer, d = 6, two heads: a real eigenvalue leads the layer of ``a``, a complex pair that of ``b``."""
    transformers = pytest.importorskip("transformers")
    import torch

    root = tmp_path_factory.mktemp("models")
    config = transformers.GPT2Config(n_layer=1, n_head=2, n_embd=6, vocab_size=11, n_positions=8, initializer_range=0.4)
    wanted = {True: "a", False: "b"}
    for seed in range(50):
        torch.manual_seed(seed)
        made = transformers.GPT2LMHeadModel(config)
        made.transformer.h[0].ln_1.weight.data.uniform_(0.5, 1.5)
        block = made.transformer.h[0].attn
        F = (block.c_attn.weight[:, 12:] @ block.c_proj.weight).T.detach().numpy()
        values = np.linalg.eigvals(F)
        real = bool(values[np.argmax(values.real)].imag == 0)
        if real in wanted:
            made.save_pretrained(root / wanted.pop(real))
    assert not wanted
    return root


@pytest.fixture(scope="module")
def documents(folder: Path) -> dict[str, dict[str, Any]]:
    """What the three functions say of them."""
    made: dict[str, Any] = {
        "compare": et.compare([str(folder / name) for name in "ab"], statements="PM-N1", work=folder / "work"),
        "chance": et.against_chance(str(folder / "a"), draws=100),
        "nearest": et.nearest(str(folder / "b"), "PM-N1", folder / "near"),
    }
    fresh = {kind: json.loads(json.dumps(found.as_dict())) for kind, found in made.items()}
    return {kind: {"schema": schema(kind)["$id"], **document} for kind, document in fresh.items()}


def judged(document: dict[str, Any], folder: Path) -> Recheck:
    path = folder / "document.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return recheck_document(path)


def test_honest_documents_are_confirmed(documents: dict[str, dict[str, Any]], folder: Path) -> None:
    left = {"compare": ["version"], "chance": ["version", "options.level"], "nearest": ["version"]}
    for kind, document in documents.items():
        found = judged(document, folder)
        assert found == "holds", (kind, found)
        assert found.not_covered == left[kind]
        assert {SECOND, HASHES} <= {each.by for each in found}


def _number(name: str, layer: int = 0) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda d: next(each for each in d["layers"][layer]["numbers"] if each["quantity"] == name)


def _moved(name: str, model: int, factor: float) -> Forge:
    """An interval scaled, and every direction made to agree with it."""

    def forge(document: dict[str, Any]) -> None:
        number = _number(name)(document)
        number["values"][model] = [end * factor for end in number["values"][model]]
        (before, after) = number["values"]
        way = "rises" if before[1] < after[0] else "falls" if after[1] < before[0] else "not parted"
        number["steps"], number["overall"] = [way], way

    return forge


def _swapped_heads(document: dict[str, Any]) -> None:
    first, second = document["layers"][0]["heads"]
    first["numbers"], second["numbers"] = second["numbers"], first["numbers"]


def _swapped_models(document: dict[str, Any]) -> None:
    document["models"].reverse()


def _narrower(document: dict[str, Any]) -> None:
    """An interval that no longer holds the number: the upper half of a part of it that lies above."""
    ends = _number("norm")(document)["values"][0]
    ends[0] = ends[1] = ends[1] * (1 + 1e-4)


def _on_tokens(quantity: str, field: str, null: str = "gaussian factors") -> Forge:
    """A number changed by a thousandth, and the z-score made to agree with it."""

    def forge(document: dict[str, Any]) -> None:
        tests = document["tokens"]["tests"]
        test = next(each for each in tests if (each["quantity"], each["null"]) == (quantity, null))
        test[field] *= 1.001
        test["z"] = (test["value"] - test["mean"]) / test["deviation"]

    return forge


def _p(factor: float, *, tokens: bool = False) -> Forge:
    """A p-value changed, and all q-values made to agree with it."""

    def forge(document: dict[str, Any]) -> None:
        from eigentoken.nulls.correction import correct

        tests = document["tokens"]["tests"] if tokens else document["tests"]
        place = next(n for n, each in enumerate(tests) if each["head"] is not None and 0.1 < each["p"] * factor < 1)
        tests[place]["p"] *= factor
        correct(tests)

    return forge


def _of(statistic: str, field: str, null: str = "gaussian factors", *, layer: bool = False) -> Forge:
    """A number of the first test of that statistic, a thousandth larger."""

    def forge(document: dict[str, Any]) -> None:
        wanted = (statistic, null, layer)
        of = (each for each in document["tests"] if (each["statistic"], each["null"], each["head"] is None) == wanted)
        next(of)[field] += 1e-3

    return forge


def _failing(document: dict[str, Any]) -> dict[str, Any]:
    return document["layers"][0]


FORGED: dict[str, tuple[str, Forge]] = {
    "a norm and its directions": ("compare", _moved("norm", 1, 3.0)),
    "a leading eigenvalue": ("compare", _moved("leading eigenvalue", 0, 1.01)),
    "a ratio": ("compare", _moved("distance to symmetric over norm", 1, 0.9)),
    "an interval beside the number": ("compare", _narrower),
    "a direction": ("compare", lambda d: _number("norm")(d).update(overall="falls", steps=["falls"])),
    "the numbers of another head": ("compare", _swapped_heads),
    "the numbers of another model": ("compare", _swapped_models),
    "another model's digest": (
        "compare",
        lambda d: d["models"][0].update(fingerprint=d["models"][1]["fingerprint"]),
    ),
    "a case": ("compare", lambda d: d["layers"][0]["words"][0]["values"].__setitem__(0, "3")),
    "a regime": ("compare", lambda d: d["layers"][0]["words"][-1]["values"].__setitem__(0, "convergence")),
    "a statement": (
        "compare",
        lambda d: d["statements"].append({"id": "PM-T1", "title": "x", "applies_to": [[0], []]}),
    ),
    "folded": ("compare", lambda d: d["options"].update(fold=True)),
    "a layer left out": ("compare", lambda d: d["layers"].clear()),
    "a p-value and what follows": ("chance", _p(0.5)),
    "a q-value": ("chance", lambda d: d["tests"][0].update(q=d["tests"][0]["q"] * 0.9)),
    "a statistic": ("chance", lambda d: d["tests"][1].update(value=d["tests"][1]["value"] + 0.01)),
    "a norm of chance": ("chance", _of("norm", "value")),
    "a gap": ("chance", _of("gap", "value")),
    "the null of a gap": ("chance", _of("gap", "mean")),
    "alpha* and its draws": ("chance", _of("alpha*", "deviation")),
    "a distance to I": ("chance", _of("distance to I", "value")),
    "the null of a distance to I": ("chance", _of("distance to I", "mean")),
    "a growth": ("chance", _of("growth", "value")),
    "an end of sym with random bases": ("chance", _of("top of sym", "mean", "random bases")),
    "a layer with random bases": ("chance", _of("asymmetry", "deviation", "random bases", layer=True)),
    "a share by growth": ("chance", lambda d: d["shares"][2].update(chance=d["shares"][2]["chance"] + 0.01)),
    "the p-value of a share by growth": ("chance", lambda d: d["shares"][2].update(p=0.9 * d["shares"][2]["p"])),
    "a z-score": ("chance", lambda d: d["tests"][1].update(z=d["tests"][1]["z"] + 0.5)),
    "another seed": ("chance", lambda d: d["options"].update(seed=7)),
    "a share": ("chance", lambda d: d["shares"][0].update(met=1 - d["shares"][0]["met"] % 2)),
    "a test left out": ("chance", lambda d: d["tests"].pop()),
    "a contraction on tokens": ("chance", _on_tokens("contraction", "value")),
    "the null of a spread on tokens": ("chance", _on_tokens("spread", "mean")),
    "the deviation of a layer on tokens": ("chance", _on_tokens("diversity", "deviation")),
    "a Jacobian on tokens": ("chance", _on_tokens("Jacobian", "value")),
    "the null of a Jacobian": ("chance", _on_tokens("Jacobian", "mean")),
    "the null of a Jacobian with random bases": ("chance", _on_tokens("Jacobian", "deviation", "random bases")),
    "a layer's update": ("chance", _on_tokens("update", "value")),
    "the null of a layer with random bases": ("chance", _on_tokens("diameter", "mean", "random bases")),
    "the null along a direction": ("chance", _on_tokens("delta rho", "mean")),
    "the null along a direction with random bases": ("chance", _on_tokens("delta rho", "deviation", "random bases")),
    "the null of a probability": ("chance", _on_tokens("probability", "mean", "random bases")),
    "so many draws on tokens": ("chance", lambda d: d["tokens"]["tests"][0].update(draws=1000)),
    "so many draws": ("chance", lambda d: d["tests"][0].update(draws=d["tests"][0]["draws"] - 1)),
    "a p-value on tokens and what follows": ("chance", _p(0.5, tokens=True)),
    "a q-value on tokens": ("chance", lambda d: d["tokens"]["tests"][0].update(q=0.9 * d["tokens"]["tests"][0]["q"])),
    "a z-score on tokens": ("chance", lambda d: d["tokens"]["tests"][3].update(z=d["tokens"]["tests"][3]["z"] + 0.5)),
    "a test on tokens left out": ("chance", lambda d: d["tokens"]["tests"].pop()),
    "other tokens": ("chance", lambda d: d["tokens"].update(sha256="0" * 64)),
    "more draws on tokens than there were": ("chance", lambda d: d["tokens"].update(draws=500)),
    "why something is not taken": ("chance", lambda d: d["tokens"]["not_taken"][0].update(why="it was too long")),
    "a fingerprint": ("chance", lambda d: d["model"].update(fingerprint="0" * 64)),
    "a meaning": ("chance", lambda d: d["statistics"].update(trace="something else")),
    "a word": ("nearest", lambda d: _failing(d).update(word="holds" if _failing(d)["word"] == "fails" else "fails")),
    "a norm of nearest": ("nearest", lambda d: _failing(d).update(norm=[2 * end for end in _failing(d)["norm"]])),
    "another layer matrix": ("nearest", lambda d: d.update(fingerprint="1" * 64)),
    "another statement": ("nearest", lambda d: d.update(statement={"id": "CT-2", "title": "x"})),
    "farther than a neighbour": ("nearest", lambda d: _failing(d).update(distance=[9.0, 9.5])),
    "nearer than anything": ("nearest", lambda d: _failing(d).update(distance=[0.0, _failing(d)["distance"][0] / 2])),
    "how far it moved": ("nearest", lambda d: d["written"].update(moved=[[0.5 * e for e in d["written"]["moved"][0]]])),
    "what was written": ("nearest", lambda d: d["written"].update(words=["fails"])),
    "what was changed": ("nearest", lambda d: d["written"].update(layers_changed=[])),
}


@pytest.mark.parametrize("change", FORGED)
def test_a_forged_document_is_refused(change: str, documents: dict[str, dict[str, Any]], folder: Path) -> None:
    kind, forge = FORGED[change]
    forged = copy.deepcopy(documents[kind])
    forge(forged)
    assert forged != documents[kind]
    assert judged(forged, folder) == "fails"


def test_what_is_written_no_more_is_not_covered(documents: dict[str, dict[str, Any]], folder: Path) -> None:
    document = copy.deepcopy(documents["nearest"])
    assert document["written"]["words"] == ["holds"] and document["layers"][0]["word"] == "fails"
    document["written"].update(folder=str(folder / "gone"), moved=[[7.0, 8.0]])
    found = judged(document, folder)
    assert found == "holds" and "written" in found.not_covered
    stranger = copy.deepcopy(documents["nearest"])
    stranger["statement"]["id"] = (
        "AB-X1c"  # no table of conditions behind the wall: the issuer's code alone, which differs
    )
    assert judged(stranger, folder) == "fails"


def test_an_upper_end_that_is_too_near_is_never_confirmed(documents: dict[str, dict[str, Any]], folder: Path) -> None:
    """Between what is shown from below and the neighbour that is found, an upper end is neither shown nor refused there."""
    from eigentoken.numerics.recheck.layers.nearest_documents import recheck_nearest

    document = copy.deepcopy(documents["nearest"])
    low, high = document["layers"][0]["distance"]
    document["layers"][0]["distance"] = [low, low + (high - low) / 2]
    layer = et.load(str(folder / "b")).layer(0)
    heads = [{name: getattr(head, name) for name in ("Q", "K", "V", "O", "scale")} for head in layer.heads]
    shown = recheck_nearest(document, lambda _: heads, None, 60.0)
    assert [(each.where, each.answer) for each in shown.found] == [("layers[0].distance", "undecided")]
    assert "the high end" in shown.found[0].why


@pytest.mark.parametrize("seed", range(3))
def test_norms_and_spectra_are_enclosed(seed: int) -> None:
    """Against mpmath with 40 digits; the enclosures are narrow, and a factor that is off by a little is not confirmed."""
    import mpmath

    source = np.random.default_rng(seed)
    factors = [(source.standard_normal((7, 3)), source.standard_normal((3, 7))) for _ in range(2 + seed)]
    near = near_sum(factors)
    with mpmath.workdps(40):
        M = sum((mpmath.matrix(a.tolist()) * mpmath.matrix(b.tolist()) for a, b in factors), mpmath.zeros(7))
        norm = mpmath.svd_r(M, compute_uv=False)[0]
        skew = mpmath.svd_r((M - M.T) / 2, compute_uv=False)[0]
        values = sorted(mpmath.eig(M, left=False, right=False), key=lambda z: -z.real)
    for value, ends in (
        (norm, norm_ends(near)),
        (skew, norm_ends(near.skew)),
        (norm / 3, norm_ends(near.divided(3.0))),
    ):
        assert ends is not None
        assert ends[0] <= value <= ends[1] and ends[1] - ends[0] < 1e-11 * float(value)
    (discs, *_) = spectra(exact_sum(factors), 1e12)
    low, high = discs.largest_real_part()
    assert low <= values[0].real <= high and high - low < 1e-8
    real = abs(values[0].imag) < 1e-20
    assert discs.leader("real-part") == ("1" if real else "2")
    gap = discs.gap()
    assert (
        gap is not None
        and gap[0] <= values[0].real - values[1].real + 1e-30
        and gap[1] >= values[0].real - values[1].real - 1e-30
    )
    ratio = quotient(norm_ends(near.skew), norm_ends(near))
    assert ratio is not None and ratio[0] <= skew / norm <= ratio[1]
    assert norm_ends(Near(np.zeros((2, 2)), 0.0)) == (0.0, 0.0)


def test_an_interval_is_confirmed_or_refused_or_open() -> None:
    assert interval_differs([0.9999999, 1.0000001], (1.0, 1.0), 1.0) is None
    assert interval_differs(None, (1.0, 1.0), 1.0) is None
    for stated, begins in (
        ([2.0, 3.0], "[2, 3] is stated"),
        ([0.0, 0.5], "[0, 0.5] is stated"),
        ([1.0, 0.5], "the ends"),
        ([1.25, 1.5], "[1.25, 1.5] is stated"),
        ([0.9, 1.1], "undecided: the interval is wider"),
        ([0.9, "inf"], "undecided: the interval is wider"),
    ):
        why = interval_differs(stated, (1.0, 1.0), 1.0)
        assert why is not None and why.startswith(begins)
    narrow = interval_differs([1.0, 1.0], (1.0 - 1e-6, 1.0 + 1e-6), 1.0)
    assert narrow is not None and narrow.startswith("undecided: the interval is narrower")
    assert str(interval_differs([1.0, 1.0], None, 1.0)).startswith("undecided")
    assert interval_differs([3.0, "inf"], (3.0, float("inf")), 1.0) is None


def test_the_commands_write_what_recheck_reads(folder: Path, tmp_path: Path) -> None:
    a, b = str(folder / "a"), str(folder / "b")
    asked = ["--statement", "PM-N1", "--jobs", "1", "--work", folder / "work"]
    assert here("compare", a, b, *asked, "-o", tmp_path / "compare.json").returncode == 0
    assert here("chance", a, "--draws", "100", "-o", tmp_path / "chance.json").returncode == 0
    (tmp_path / "nearest.json").write_text(here("nearest", b, "PM-N1", "--json").stdout)
    for kind in ("compare", "chance", "nearest"):
        ran = here("recheck", tmp_path / f"{kind}.json", "--json")
        assert ran.returncode == 0, ran.stderr
        found = json.loads(ran.stdout)
        assert found["verdict"] == "holds" and found["not_covered"][0] == "version"
        assert AGAIN in {each["by"] for each in found["certificates"]} or kind == "chance"
    refused = here("recheck", tmp_path / "compare.json", "--source", a)
    assert refused.returncode == 2 and "names several" in refused.stderr
    beside = here("recheck", tmp_path / "compare.json", "--states", tmp_path / "x.npy")
    assert beside.returncode == 2 and "those of a check report" in beside.stderr
    beside = here("recheck", tmp_path / "chance.json", "--states", tmp_path / "x.npy")
    assert beside.returncode == 2 and "leave states out" in beside.stderr
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((5, 6)))
    asked = ["--draws", "100", "--states", tmp_path / "x.npy", "-o", tmp_path / "given.json"]
    assert here("chance", a, *asked).returncode == 0
    alone = json.loads(here("recheck", tmp_path / "given.json", "--json").stdout)
    assert alone["verdict"] == "holds" and alone["not_covered"] == ["version", "options.level", "tokens"]
    ran = here("recheck", tmp_path / "given.json", "--states", tmp_path / "x.npy", "--json")
    assert ran.returncode == 0 and json.loads(ran.stdout)["not_covered"] == [
        "version",
        "options.level",
        "tokens.source",
    ]
    np.save(tmp_path / "x.npy", np.random.default_rng(1).standard_normal((5, 6)))
    assert here("recheck", tmp_path / "given.json", "--states", tmp_path / "x.npy").returncode == 1
    other = here("recheck", tmp_path / "chance.json", "--source", b)
    assert other.returncode == 1 and "not those of the document" in " ".join(other.stdout.split())


def test_what_rotary_positions_change_is_found_again(tmp_path: Path) -> None:
    """Of heads that share keys, pair by pair; a forged value, null or p-value of an offset is refused."""
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2}
    config = transformers.LlamaConfig(**sizes, intermediate_size=24, vocab_size=32)
    transformers.LlamaModel(config).eval().save_pretrained(tmp_path / "rotary")
    made = et.against_chance(str(tmp_path / "rotary"), draws=200).as_dict()
    document = {"schema": schema("chance")["$id"], **json.loads(json.dumps(made))}
    names = [each["statistic"] for each in document["tests"] if each["statistic"].startswith("rotary")]
    assert names == 4 * [f"rotary change at {offset}" for offset in (1, 8, 64)]
    assert judged(document, tmp_path) == "holds"
    for field in ("value", "mean", "deviation", "z", "p"):
        forged = copy.deepcopy(document)
        next(each for each in forged["tests"] if each["statistic"] == "rotary change at 8")[field] += 1e-3
        assert judged(forged, tmp_path) == "fails", field
