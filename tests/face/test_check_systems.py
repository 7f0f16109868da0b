"""``check`` speaks of the model's own layer: heads, mask, positions and shared matrices must match, or it says so.

Tiny checkpoints with chosen heads, saved by transformers, through the command line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from typer.testing import CliRunner

from eigentoken.cli import app
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.subjects import subject_of
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import Time

from ..shares import others_slow

Pair = tuple[Any, Any]
E1, E2 = np.diag([1.0, 0, 0, 0]), np.diag([0, 1.0, 0, 0])
ZERO = np.zeros((4, 4))


def _factors(product: Any, rank: int) -> Pair:
    """``L (d, rank), R (rank, d)`` with ``L R`` exactly the product of a matrix with at most ``rank`` nonzero rows."""
    product = np.asarray(product, dtype=float)
    rows = [i for i in range(len(product)) if product[i].any()]
    assert len(rows) <= rank
    left, right = np.zeros((len(product), rank)), np.zeros((rank, len(product)))
    for place, row in enumerate(rows):
        left[row, place], right[place] = 1.0, product[row]
    return left, right


def bert(folder: Path, heads: Sequence[Pair], *, causal: bool = False, layers: int = 1) -> Path:
    """A BERT with d = 4 whose heads have ``U_h = O_h V_h`` and ``Q_h^T K_h`` as given."""
    transformers = pytest.importorskip("transformers")
    width = 4 // len(heads)
    config = transformers.BertConfig(
        hidden_size=4,
        num_attention_heads=len(heads),
        num_hidden_layers=layers,
        intermediate_size=4,
        vocab_size=20,
        is_decoder=causal,
    )
    transformers.BertModel(config).save_pretrained(folder)
    tensors = load_file(folder / "model.safetensors")
    pairs = [(_factors(value, width), _factors(score, width)) for value, score in heads]
    stacked = {
        "self.query": np.vstack([score[0].T for _, score in pairs]),
        "self.key": np.vstack([score[1] for _, score in pairs]),
        "self.value": np.vstack([value[1] for value, _ in pairs]),
        "output.dense": np.hstack([value[0] for value, _ in pairs]),
    }
    for layer in range(layers):
        for name, matrix in stacked.items():
            tensors[f"encoder.layer.{layer}.attention.{name}.weight"] = np.ascontiguousarray(matrix, dtype=np.float32)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def checked(folder: Path, *more: str, code: int = 0) -> dict[str, Any]:
    """The document that ``check --json`` prints."""
    arguments = ["check", str(folder), "--json", "--sequences", "0", "--work", str(folder / "work"), *more]
    ran = CliRunner().invoke(app, arguments)
    assert ran.exit_code == code, ran.output
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


def told(document: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in document["statements"] if each["id"] == name)
    return found


def differing(document: dict[str, Any], name: str) -> set[str]:
    found = told(document, name)
    assert found["word"] == "not about this model", found
    assert {each["layers"] for each in found["differs"]} == {len(document["layers"])}
    return {each["part"] for each in found["differs"]}


def holding(document: dict[str, Any]) -> set[str]:
    return {each["id"] for each in document["statements"] if each["word"] == "holds"}


def _push(x: Any, heads: Sequence[Pair]) -> Any:
    """``sum_h U_h sum_j a^h_ij x_j`` of two heads with full attention, whose scores are divided by sqrt(2) as BERT does."""
    total = np.zeros_like(x)
    for value, score in heads:
        weights = np.exp(x @ score @ x.T / np.sqrt(2))
        total += (weights / weights.sum(axis=1, keepdims=True)) @ x @ value.T
    return total


CANCEL = [(10 * E2, 30 * E2), (E1 - 9.5 * E2, ZERO)]
HALF_SPACE = [(10 * E1, ZERO), (-9 * E1, 42 * E1)]


def test_heads_that_cancel_are_not_the_one_head_of_their_sum(tmp_path: Path) -> None:
    """F = diag(1, 1/2, 0, 0) satisfies AB-X2c; the layer does not do what AB-X2c concludes, and the word says so."""
    document = checked(bert(tmp_path / "m", CANCEL))
    low, high = document["layers"][0]["leading_eigenvalue"]
    assert 1 - 1e-12 < low <= 1.0 <= high < 1 + 1e-12
    assert differing(document, "AB-X2c") == {"heads"}
    found = told(document, "AB-X2c")
    assert found["differs"][0]["layer"].startswith("2 heads")
    assert found["as_one_head"]["layers"]["met as if one head"] == 1
    assert "AB-X2c" not in holding(document)
    checked(tmp_path / "m", "--require", "AB-X2c", code=1)
    # why: both tokens start with u.x = 0.78 > 0 (u = e1) and AB-X2c would have both converge to e1
    x = np.array([[0.78, np.sqrt(1 - 0.78**2), 0, 0], [0.78, -np.sqrt(1 - 0.78**2), 0, 0]])
    for _ in range(40000):
        push = _push(x, CANCEL)
        x += 1e-3 * (push - (x * push).sum(axis=1, keepdims=True) * x)
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    assert x == pytest.approx(np.array([[0, 1, 0, 0], [0, -1, 0, 0]]), abs=1e-6)


def test_heights_fall_where_the_sum_of_the_heads_would_make_them_grow(tmp_path: Path) -> None:
    """F = e1 e1^T from 10 e1 e1^T and -9 e1 e1^T (scored): PH-T4c is about one head, and its bound is false here."""
    document = checked(bert(tmp_path / "m", HALF_SPACE))
    assert differing(document, "PH-T4c") == {"heads"}
    assert told(document, "PH-T4c")["as_one_head"]["layers"]["met as if one head"] == 1
    checked(tmp_path / "m", "--require", "PH-T4c", code=1)
    x = np.array([[1.0, 0, 0, 0], [1.5, 0, 0, 0]])
    for _ in range(9000):
        x += 1e-4 * _push(x, HALF_SPACE)
    assert (x[:, 0] < 0.4).all()  # at t = 0.9; PH-T4c with lambda = 1 would have both above e^0.9 = 2.46


ONE = [(np.diag([3.0, 1.0, 0.5, 0.25]), np.diag([1.0, 0.5, 0.25, 2.0]))]
SINGLE = {"AB-X2c", "PH-T3", "PH-T4c", "PM-T3", "CT-1", "CT-5"}


def test_one_head_with_full_attention_gets_the_statements_about_one_head(tmp_path: Path) -> None:
    document = checked(bert(tmp_path / "m", ONE))
    assert document["layers"][0]["system"]["says"].startswith("1 head, full attention, no positions in the scores")
    assert holding(document) >= SINGLE
    assert told(document, "PH-T2")["word"] == "fails"
    assert told(document, "PM-L13")["word"] == "fails"  # |V| = 3 is not below 1
    assert document["layers"][0]["regime"]["of"] == "this layer"
    assert document["layers"][0]["regime"]["regime"] == "divergence"
    assert all(each["as_one_head"] is None for each in document["statements"])
    assert differing(document, "PM-T2") == {"scores"}  # the Oja map has uniform weights
    assert differing(document, "AB-T3.1") == {"metric", "values"}
    assert differing(document, "AB-T6.1") == {"mask"}
    assert differing(document, "PH-T7") == {"positions"}
    for each in document["statements"]:
        if each["word"] == "holds" and subject_of(each["id"]) is None:  # of a matrix alone nothing is idealised
            assert each["idealisations"], each["id"]
            flows = [system(name).time is Time.FLOW for name in statements().get(each["id"]).systems]
            assert ("step" in each["idealisations"]) == all(flows), each["id"]
    assert {each["measured"] for each in document["idealisations"]} == {"not measured"}
    checked(tmp_path / "m", "--require", "PM-T3")


def test_a_causal_flag_takes_the_statements_about_full_attention_away(tmp_path: Path) -> None:
    document = checked(bert(tmp_path / "m", ONE, causal=True))
    for name in SINGLE - {"AB-X2c", "PH-T4c"}:
        assert differing(document, name) == {"mask"}, name
    assert holding(document) >= {"AB-X2c", "PH-T4c", "AB-T6.1", "PM-N1"}  # these cover a causal mask
    assert document["layers"][0]["alpha_star"] == ["inf", "inf"]
    assert document["layers"][0]["regime"]["regime"] == "not about this model"
    checked(tmp_path / "m", "--require", "PM-T3", code=1)


def test_a_second_head_takes_the_statements_about_one_head_away(tmp_path: Path) -> None:
    halves = [
        (np.diag([3.0, 1.0, 0, 0]), np.diag([1.0, 0.5, 0, 0])),
        (np.diag([0, 0, 0.5, 0.25]), np.diag([0, 0, 1.0, 2])),
    ]
    document = checked(bert(tmp_path / "m", halves))
    for name in SINGLE:
        assert differing(document, name) == {"heads"}, name
    assert holding(document) == {
        "BD-E1",
        "BD-E2",
        "PM-E4",
        "PM-E5",
        "PM-N1",
        "PM-T1",
        "CT-2",
    }  # of these only F enters, whatever the heads
    assert document["layers"][0]["regime"]["of"] == "as if one head"


def test_rotary_positions_take_the_statements_without_them_away(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        hidden_size=4, num_attention_heads=1, num_hidden_layers=1, intermediate_size=4, vocab_size=20
    )
    transformers.LlamaModel(config).save_pretrained(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    for name, matrix in (("q", np.eye(4)), ("k", ONE[0][1]), ("v", ONE[0][0]), ("o", np.eye(4))):
        tensors[f"layers.0.self_attn.{name}_proj.weight"] = matrix.astype(np.float32)
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    document = checked(tmp_path)
    for name in SINGLE - {"AB-X2c", "PH-T4c"}:
        assert differing(document, name) == {"mask", "positions"}, name
    assert differing(document, "AB-X2c") == {"positions"}
    assert differing(document, "PH-T7") == {"mask"}
    assert holding(document) == {
        "BD-E1",
        "BD-H1",
        "PH-T4c",
    }  # of a matrix alone; any weights that are nonnegative and sum to one
    assert document["layers"][0]["alpha_star"] is None  # the threshold of PM-N1, which has no positions


def test_a_head_that_is_exactly_zero_and_heads_with_equal_scores_are_not_counted(tmp_path: Path) -> None:
    score, value = np.diag([1.0, 0.5, 0, 0]), np.diag([3.0, 1.0, 0, 0])
    silent = checked(bert(tmp_path / "a", [(value, score), (ZERO, E1)]))
    assert silent["layers"][0]["system"]["acting"] == 1
    assert told(silent, "PH-T4c")["word"] == "holds"
    equal = checked(bert(tmp_path / "b", [(value, score), (E1 - E2, score)]))
    assert equal["layers"][0]["system"]["acting"] == 1
    assert told(equal, "PH-T4c")["word"] == "holds"
    nearly = checked(bert(tmp_path / "c", [(value, score), (2.0**-100 * E1, E1)]))
    assert nearly["layers"][0]["system"]["acting"] == 2
    assert differing(nearly, "PH-T4c") == {"heads"}
    cancelled = checked(bert(tmp_path / "d", [(value, score), (-value, score)]))
    assert cancelled["layers"][0]["system"]["acting"] == 0
    assert not holding(cancelled)


def test_uniform_weights_make_an_oja_layer(tmp_path: Path) -> None:
    """No scores at all: two heads average evenly, and together they are the Oja map of F."""
    document = checked(bert(tmp_path / "m", [(np.diag([3.0, 1.0, 0, 0]), ZERO), (np.diag([0, 0, 0.5, 0.25]), ZERO)]))
    assert document["layers"][0]["system"]["uniform"]
    assert holding(document) >= {"PM-L4", "CT-3", "CT-4"}
    assert differing(document, "AB-T3.1") == {"metric", "values"}


def test_the_gradient_case_needs_its_metric(tmp_path: Path) -> None:
    """P = I and U = I: the metric of the layer is the score matrix, and AB-T3.1 is about it."""
    document = checked(bert(tmp_path / "m", [(np.eye(4), 2 * np.eye(4))]))  # the scale of four-wide heads is 2
    assert document["layers"][0]["system"]["score_is_identity"]
    assert holding(document) >= {"AB-T3.1", "AB-T4.1"}
    other = checked(bert(tmp_path / "n", [(np.eye(4), np.eye(4))]))
    assert differing(other, "AB-T3.1") == {"metric"}
    assert told(other, "AB-T4.1")["word"] == "holds"


def test_the_mean_that_a_layernorm_subtracts_is_named_with_its_size(tmp_path: Path) -> None:
    """F = 3 on (1, 1, 1, 1) and -1/2 beside it: PM-T3 has consensus on (1, 1, 1, 1) stable, which LayerNorm sends to 0."""
    ones = np.full((4, 4), 0.25)
    folder = bert(tmp_path / "m", [(3 * ones - 0.5 * (np.eye(4) - ones), np.eye(4))])
    arguments = ["check", str(folder), "--json", "--sequences", "4", "--tokens", "6", "--work", str(tmp_path / "work")]
    ran = CliRunner().invoke(app, arguments)
    assert ran.exit_code == 0, ran.output
    document = json.loads(ran.stdout)
    found = told(document, "PM-T3")
    assert (found["word"], "centring" in found["idealisations"]) == ("holds", True)
    sizes = {each["name"]: each["measured"] for each in document["idealisations"]}
    assert sizes["centring"] == [document["observed"][0]["left_out"]["centring"]]
    assert sizes["centring"][0] == pytest.approx(3 / np.sqrt(3**2 + 3 * 0.5**2), rel=1e-6)  # |3 J| / |F|, Frobenius


def test_gpt2_is_causal_and_bert_is_not(tmp_path: Path) -> None:
    from eigentoken.theory.statements.registry import statements
    from eigentoken.theory.statements.subjects import subject_of
    from eigentoken.theory.systems.catalogue import system

    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=20, n_positions=12)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "gpt2")
    documents = {"causal": checked(tmp_path / "gpt2"), "full": checked(bert(tmp_path / "bert", CANCEL))}
    for statement in (each for each in statements() if each.systems and subject_of(each.id) is None):
        masks = {system(name).mask for name in statement.systems} | set(statement.covers.masks)
        for mask, document in documents.items():
            if not masks & {mask, "any"}:
                assert "mask" in differing(document, statement.id), (statement.id, mask)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
@pytest.mark.parametrize("seed", others_slow(range(3), lambda seed: seed == 0))
def test_random_weights_hold_nothing_that_any_weights_would(family: str, seed: int, tmp_path: Path) -> None:
    """What holds asks more than an inverse, and is seen in the eigenvalues: a real positive leader of F in each layer."""
    from eigentoken.models import load

    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(seed)
    small = {"vocab_size": 20}
    made = {
        "bert": lambda: transformers.BertModel(
            transformers.BertConfig(
                hidden_size=8, num_attention_heads=2, num_hidden_layers=2, intermediate_size=8, **small
            )
        ),
        "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=2, n_head=2, n_embd=8, **small)),
    }[family]()
    made.save_pretrained(tmp_path)
    document = checked(tmp_path)
    assert holding(document) <= {"PM-N1"}
    leaders = []
    for layer in load(str(tmp_path)).layers():
        values = np.linalg.eigvals(layer.F)
        first = values[np.argmax(values.real)]
        leaders.append(abs(first.imag) < 1e-12 and first.real > 0)
    assert ("PM-N1" in holding(document)) == all(leaders)
    for each in document["statements"]:
        assert (each["word"] == "holds") <= (each["asks"] == "more")


@pytest.mark.parametrize("heads", [1, 2])
def test_zero_weights_hold_nothing(heads: int, tmp_path: Path) -> None:
    from eigentoken.theory.statements.subjects import subject_of

    document = checked(bert(tmp_path, [(ZERO, ZERO)] * heads))
    about_systems = [each for each in document["statements"] if subject_of(each["id"]) is None]
    assert {each["word"] for each in about_systems} == {"not about this model"}
    assert "holds" not in {
        each["word"] for each in document["statements"]
    }  # bounds on a head are about these, and ask nothing
    assert "heads" in differing(document, "CT-1")


def test_what_asks_only_for_an_inverse_or_nothing_is_listed_apart(tmp_path: Path) -> None:
    document = checked(
        bert(tmp_path / "a", [(np.array([[1.0, 2, 0, 0], [0, 1, 3, 0], [0, 0, 1, 1], [1, 0, 0, 1]]), np.eye(4))])
    )
    assert told(document, "PH-T8")["word"] == "asks only invertibility"
    assert told(document, "AB-L4.1")["word"] == "asks nothing of the weights"
    singular = checked(bert(tmp_path / "b", [(E1, np.eye(4))]))
    assert told(singular, "PH-T8")["word"] == "fails"
    checked(tmp_path / "a", "--require", "PH-T8", "--require", "AB-L4.1")
    checked(tmp_path / "b", "--require", "PH-T8", code=1)
