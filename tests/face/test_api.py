"""``import eigentoken as et``, as a user meets it: names, types, keywords, errors, what is shown, and twenty notebook things."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import eigentoken as et
from eigentoken import lab
from eigentoken.cli import app
from eigentoken.lab import (
    Commute,
    Conjecture,
    ConsensusAt,
    Eigenvalue,
    NoneOpposite,
    PositiveDefinite,
    Relation,
    SimpleTop,
    SpectralNorm,
    Stable,
    Symmetric,
    alpha,
    matrix,
    n,
)
from eigentoken.models import run_tokens

from ..commands import eigentoken, pytest_here, tool

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "notebook.md"
NAMES = {
    *("load", "check", "certify", "classify", "spectrum", "linearize", "equilibria", "derive", "verify", "simulate"),
    *("refute", "recheck", "steer", "reproduce", "statements", "statement", "system", "register", "register_system"),
    *("Conjecture", "Instance", "Verdict", "Report"),
}
V, M = matrix("V"), matrix("M")
A = np.array([[2.0, 1.0], [1.0, 2.0]])


# -- names and types ----------------------------------------------------------------------------------------------------


def test_every_name_of_the_api_is_there() -> None:
    assert set(dir(et)) == set(et.__all__) >= NAMES
    for name in et.__all__:
        assert getattr(et, name) is not None


def test_what_a_type_checker_reads_is_what_is_imported() -> None:
    """The imports under TYPE_CHECKING and the table of homes say the same."""
    tree = ast.parse((ROOT / "src" / "eigentoken" / "__init__.py").read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    declared = {
        alias.name: node.module
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname is None
    }
    assert declared == {name: f"eigentoken.{home}" for name, home in et._HOMES.items()}
    assert set(et.__all__) == {*declared, "__version__"}


def test_a_name_that_is_not_there_is_an_error_with_a_hint() -> None:
    with pytest.raises(AttributeError, match="did you mean certify"):
        _ = et.certfy
    with pytest.raises(AttributeError, match="has no attribute 'xyz'"):
        _ = et.xyz


USER = """\
import eigentoken as et
from eigentoken.lab import Conjecture

reveal_type(et.load("a"))
reveal_type(et.load("a").layers[0].F)
reveal_type(et.load("a").layers[0].heads[0].U)
reveal_type(et.check("a", sequences=0))
reveal_type(et.certify([[1]], "symmetric"))
reveal_type(et.classify("oja-map", tokens=[[1]]))
reveal_type(et.spectrum("oja-map"))
reveal_type(et.linearize("oja-map"))
reveal_type(et.equilibria("oja-map"))
reveal_type(et.derive("PM-L4").latex)
reveal_type(et.verify("PM-L4"))
reveal_type(et.simulate("oja-map"))
reveal_type(et.refute(Conjecture("a", "oja-map")))
reveal_type(et.recheck("a"))
reveal_type(et.steer("a", "random", "b"))
reveal_type(et.reproduce())
reveal_type(et.statements()["PM-L4"])
reveal_type(et.statement("PM-L4"))
reveal_type(et.system("oja-map"))
reveal_type(et.register(et.statement("PM-L4")))
reveal_type(et.Instance.of("oja-map", [[1]]))
reveal_type(et.basin("oja-map", tokens=[[1]]))
reveal_type(et.attempt("a"))
reveal_type(et.against_chance("a"))
reveal_type(et.compare("a", "b"))
reveal_type(et.explore("oja-map"))
reveal_type(et.nearest("a", "PM-L4"))
reveal_type(et.strengthen("a"))
reveal_type(et.register_system(et.System("mine", "mine", "sphere", "flow", "V")))
reveal_type(et.systems())
reveal_type(et.conditions())
reveal_type(et.linearize("oja-map").jacobian)
et.chek("a")
et.check("a", sequence=0)
"""


#: a user's mypy.ini: mypy looks at our package and not at what the large libraries below it are made of
SKIPPED = (
    "[mypy]\n[mypy-torch.*,matplotlib.*,mpl_toolkits.*,hypothesis.*,rich.*,typer.*,sympy.*]\nfollow_imports = skip\n"
)


def _revealed(python: str, folder: Path, configuration: str = "", cache: Path | None = None) -> None:
    """mypy --strict on a user's script: every type is one of ours, and both slips are errors.

    ``cache`` keeps what mypy has found out about files that have not changed since.
    """
    every = "".join(f"reveal_type(et.{name})\n" for name in et.__all__)
    (folder / "user.py").write_text(USER + every, encoding="utf-8")
    (folder / "mypy.ini").write_text(configuration, encoding="utf-8")
    command = [python, "-m", "mypy", "--strict", "--cache-dir", str(cache or folder / "cache"), "user.py"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    revealed = re.findall(r'Revealed type is "(.*)"', ran.stdout)
    assert len(revealed) == USER.count("reveal_type") + len(et.__all__), ran.stdout + ran.stderr
    types, names = revealed[: USER.count("reveal_type")], revealed[USER.count("reveal_type") :]
    assert not [each for each in zip(et.__all__, names, strict=True) if each[1].startswith(("Any", "typing.Any"))]
    assert not [each for each in types if re.match(r"(typing\.)?Any\b|<nothing>", each)], types
    ours = [each for each in types if each.startswith("eigentoken.")]
    assert len(ours) == len(types) - 3, types  # two arrays and a str
    errors = re.findall(r"error: .*", ran.stdout)
    assert len(errors) == 2 and '"chek"' in errors[0] and '"sequence"' in errors[1], errors


@pytest.mark.slow  # the types themselves are checked by `make lint`, and that they are shipped by tests/face/test_wheel.py
def test_mypy_sees_the_types_of_the_editable_install(tmp_path: Path) -> None:
    _revealed(sys.executable, tmp_path, SKIPPED, ROOT / ".mypy_cache" / "user")


@pytest.mark.slow
def test_mypy_sees_the_types_of_the_editable_install_without_a_configuration(tmp_path: Path) -> None:
    """The libraries below are followed too, as for a user who has written no mypy.ini."""
    _revealed(sys.executable, tmp_path)


def _revealed_to_pyright(python: str, folder: Path) -> None:
    """The same script to pyright: no type of it is unknown, and both slips are errors."""
    pytest.importorskip("pyright")
    every = "".join(f"reveal_type(et.{name})\n" for name in et.__all__)
    (folder / "user.py").write_text(USER + every, encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--pythonpath", python, "user.py"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    types = re.findall(r'information: Type of ".*" is "(.*)"', ran.stdout)
    assert len(types) == USER.count("reveal_type") + len(et.__all__), ran.stdout + ran.stderr
    assert not [each for each in types if each in ("Any", "Unknown") or "Unknown" in each], types
    errors = re.findall(r"error: .*", ran.stdout)
    assert len(errors) == 2 and '"chek"' in errors[0] and '"sequence"' in errors[1], errors


@pytest.mark.slow
def test_pyright_sees_the_types_of_the_editable_install(tmp_path: Path) -> None:
    """Pyright is no requirement (it brings node): ``pip install pyright`` runs this test and that of the wheel."""
    _revealed_to_pyright(sys.executable, tmp_path)


@pytest.fixture(scope="module")
def python_of_the_wheel(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter where a built wheel is installed and no editable install is seen."""
    venv = tmp_path_factory.mktemp("wheel") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    python = str(venv / "bin" / "python")
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "-q", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    site = next((venv / "lib").glob("python3*")) / "site-packages"
    libraries = {str(Path(importlib.util.find_spec(each).origin).parents[1]) for each in ("numpy", "mypy")}  # type: ignore[union-attr,arg-type]
    (site / "libraries.pth").write_text("\n".join(sorted(libraries)) + "\n", encoding="utf-8")
    where = subprocess.run(
        [python, "-c", "import eigentoken; print(eigentoken.__file__)"], capture_output=True, text=True
    )
    assert where.stdout.startswith(str(site)), where.stdout + where.stderr
    return python


@pytest.mark.slow
def test_mypy_sees_the_types_of_the_wheel(python_of_the_wheel: str, tmp_path: Path) -> None:
    _revealed(python_of_the_wheel, tmp_path)


@pytest.mark.slow
def test_pyright_sees_the_types_of_the_wheel(python_of_the_wheel: str, tmp_path: Path) -> None:
    _revealed_to_pyright(python_of_the_wheel, tmp_path)


# -- verdicts -----------------------------------------------------------------------------------------------------------


def test_a_verdict_compares_with_the_three_words_and_with_nothing_else() -> None:
    verdict = et.certify(A, "positive-definite")
    assert verdict == "holds" and verdict != "fails" and verdict in ("fails", "holds")
    assert verdict == et.certify(A, "positive-definite") and verdict != et.certify(-A, "positive-definite")
    assert verdict != 1 and hash(verdict) == hash(et.certify(A, "positive-definite"))
    for wrong in ("true", "Holds", "", "survived"):
        with pytest.raises(ValueError, match="one of holds, fails, undecided"):
            _ = verdict == wrong
    with pytest.raises(TypeError, match="not true or false"):
        bool(verdict)
    with pytest.raises(TypeError, match="not true or false"):
        _ = verdict and 1


def test_certify_at_all_times() -> None:
    """A matrix that depends on time, by formulas or samples, asked by name or by word, in either order."""
    formula = [["2 + sin(t)", "1/4"], ["1/4", "1"]]
    samples = {"times": [0, 1], "matrices": [np.eye(2), 2 * np.eye(2)], "lipschitz": 1}
    assert et.certify("positive-definite", formula, over=(0, 10)) == "holds"
    assert et.certify(formula, Symmetric(V), over=(0, 1)).answer in ("holds", "undecided")
    assert et.certify("positive-definite", samples, over=(0, 1)) == "holds"
    assert et.certify("positive-definite", [["1 - t"]], over=(0, 2)) == "fails"
    with pytest.raises(ValueError, match="without a radius"):
        et.certify("positive-definite", formula, over=(0, 1), radius=1)
    with pytest.raises(ValueError, match="depend on the time"):
        et.certify("spectrum", formula, over=(0, 1))


@pytest.mark.parametrize(
    "given", [A, torch.tensor(A), torch.tensor(A, dtype=torch.float32), A.tolist(), [["2", 1], [1, "2"]]]
)
def test_certify_takes_every_kind_of_matrix_in_either_order(given: Any) -> None:
    assert et.certify(given, "positive-definite") == et.certify("positive-definite", given) == "holds"
    assert et.certify(Symmetric(V), given) == et.certify(given, Symmetric(V)) == "holds"
    assert et.certify(given, "negative-definite") == "fails"


def test_certify_reads_words_on_the_matrices_that_they_name() -> None:
    assert et.certify(PositiveDefinite(V), -A) == "fails"
    assert et.certify(SimpleTop(V), A) == "holds"
    assert et.certify(SimpleTop(V), np.eye(2)) == "fails"
    assert et.certify(PositiveDefinite(V * M), V=A, M=np.eye(2)) == "holds"
    assert et.certify(PositiveDefinite(V * M), {"V": A, "M": -np.eye(2)}) == "fails"
    bound = Relation(alpha * SpectralNorm(V) < 1)
    assert et.certify(bound, A, alpha="1/4") == "holds"
    assert et.certify(bound, A, alpha="1/2") == "fails"
    assert et.certify(PositiveDefinite(V), A, radius=0.5) == "holds"
    assert et.certify(PositiveDefinite(V), A, radius=2) == "undecided"  # of every matrix within 2


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: et.certify(A, A), "the condition is missing, got ndarray and ndarray"),
        (lambda: et.certify(A, "positive-defnite"), "did you mean positive-definite"),
        (lambda: et.certify("symmetric"), "the matrix is missing"),
        (lambda: et.certify(Symmetric(V)), "V of Symmetric.* is missing: give the matrix, V="),
        (lambda: et.certify(PositiveDefinite(V * M), A), "speaks of M, V: give each by name"),
        (lambda: et.certify(Symmetric(V), A, M=A), "speaks of V|M is not in"),
        (lambda: et.certify(Relation(alpha * SpectralNorm(V) < 1), A), "speaks of the step alpha: give alpha"),
        (lambda: et.certify(NoneOpposite(), A), "speaks of tokens, not of a matrix"),
        (lambda: et.certify(Symmetric(V), A, bound=1), "bound belongs to a condition given by its name"),
        (lambda: et.certify(Commute(V, M), V=A, M=np.eye(3)), "square and of one size"),
        (lambda: et.certify(Symmetric(V), np.array([[np.nan]])), "finite|nan"),
        (lambda: et.classify("oja-mop", tokens=[[1]], V=[[1]], alpha=1), "did you mean oja-map"),
        (lambda: et.classify({"system": "oja-map"}, tokens=[[1]]), "tokens: fields go with the name of a system"),
        (lambda: et.check(torch.nn.TransformerEncoderLayer(8, 2), sequences=-1), "sequences must be a whole number"),
        (
            lambda: et.check(torch.nn.TransformerEncoderLayer(8, 2), tokens=1),
            "tokens must be a whole number, at least 2",
        ),
        (lambda: et.verify("PM-L44"), "unknown statement 'PM-L44'"),
        (lambda: et.derive("nothing"), "unknown statement"),
        (lambda: et.reproduce(scale="large"), "scale must be quick, full or paper, got 'large'"),
        (lambda: et.simulate("oja-map", V=A), "alpha is missing"),
        (lambda: et.simulate("oja-map", V=A, alpha=1, steps=3), "'steps' is no parameter .*: did you mean end"),
        (lambda: et.certify(A, ["symmetric", "inertia"]), "one condition is asked for at a time"),
        (lambda: et.steer("sample:glassllm", np.ones(128), "x", sequences=0), "must be at least 1, got 0 and 32"),
        (lambda: et.simulate("oja-map", W=A), "'W' is no parameter of oja-map and no option"),
        (lambda: et.simulate("oja-map", V=A, alpha=1, tokens=np.ones((2, 3))), "tokens must have dimension 2"),
        (lambda: et.simulate("oja-flow", V=A.astype(np.float16)), "V must be of float32 or float64, got torch.float16"),
        (lambda: et.simulate("oja-flow", V=A * np.inf), "V must hold finite numbers"),
        (
            lambda: et.steer("sample:glassllm", np.ones(3), "x"),
            r"direction must be 128 real numbers.* got float64 \(3,\)",
        ),
        (lambda: et.Instance("oja-map", V=A), r"got V: Instance\.of\('oja-map', tokens, V=\.\.\.\) reads names"),  # type: ignore[call-arg,arg-type]
        (lambda: et.Instance("oja-map", [[1, 0]]), "got 'oja-map': Instance.of"),  # type: ignore[call-arg,arg-type]
        (lambda: et.recheck(et.certify(A, "symmetric")), "certificate is about a matrix: give it"),
        (lambda: et.spectrum("oja-map", at="nowhere"), "unknown place 'nowhere'"),
    ],
)
def test_an_error_names_the_argument_and_what_to_do(call: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_wrong_types_are_told() -> None:
    with pytest.raises(TypeError, match="asked for by its id, such as 'PM-L4', got 0"):
        _ = et.statements()[0]  # type: ignore[index]
    with pytest.raises(TypeError, match="got int"):
        et.refute([3])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="got list"):
        et.recheck([1])  # type: ignore[arg-type]


# -- arrays keep their arithmetic ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", ["oja-map", "oja-flow", "attention-flow", "ellipsoid-flow"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_simulate_keeps_the_dtype(system: str, dtype: torch.dtype) -> None:
    letters = {"oja-map": "V", "oja-flow": "V", "attention-flow": "VM", "ellipsoid-flow": "P"}[system]
    given: dict[str, Any] = {letter: torch.diag(torch.tensor([2.0, 1.0, 0.5], dtype=dtype)) for letter in letters}
    start = torch.tensor([[1.0, 0.2, 0], [1, -0.3, 0.1], [1, 0, 0.4]], dtype=dtype)
    if system == "oja-map":
        given["alpha"] = 0.25
    run = et.simulate(system, tokens=start, end=20, **given)
    assert run.states.dtype is dtype and tuple(run.states.shape[1:]) == (1, 3, 3)
    array = et.simulate(system, tokens=start.numpy(), end=20, **{k: np.asarray(v) for k, v in given.items()})
    assert torch.equal(array.states, run.states)
    assert (
        et.simulate(system, n=4, end=5, **given).states.dtype is dtype
    )  # the matrices set it where no tokens are given


def test_a_flow_runs_in_the_arithmetic_of_its_tokens() -> None:
    from eigentoken.numerics.dynamics.flows import follow
    from eigentoken.numerics.dynamics.problem import problem

    start = torch.nn.functional.normalize(torch.tensor([[1.0, 0.5], [0.2, 1.0]]), dim=-1)
    for V_given in (
        [[2, 0], [0, 1]],
        torch.diag(torch.tensor([2.0, 1.0])),
        np.diag([2.0, 1.0]),
        lambda t: np.diag([2.0, 1]),
    ):
        flow = follow(problem("oja-flow", {"V": V_given}), start, 1.0)
        assert flow.final.dtype is torch.float32
    exact = follow(problem("oja-flow", {"V": [[2, 0], [0, 1]]}), start.double(), 1.0).final
    assert exact.dtype is torch.float64
    assert float((flow.final - exact).abs().max()) < 1e-5
    assert problem("oja-flow", {"V": torch.eye(2)}).parameters["V"].dtype is torch.float32


def test_several_starts_are_followed_together() -> None:
    run = et.simulate("oja-flow", V=A, tokens=np.random.default_rng(0).normal(size=(3, 4, 2)))
    assert tuple(run.states.shape[1:]) == (3, 4, 2)
    assert sum(each.count for each in run.fractions.values()) == 3


@pytest.mark.parametrize("kind", [np.asarray, torch.tensor])
def test_exact_questions_take_arrays(kind: Any) -> None:
    rows = kind([[1.0, 0.0], [1.0, 0.0]])
    found = et.classify("oja-map", tokens=rows, V=kind([[2.0, 0.0], [0.0, 1.0]]), alpha=0.25)
    assert (found.kind, found.stable == "holds") == ("consensus", True)
    assert et.Instance.of("oja-flow", rows, V=kind([[2.0, 0.0], [0.0, 1.0]])).n == 2
    listed = et.equilibria("oja-map", V=kind([[2.0, 0.0], [0.0, 1.0]]), alpha=kind(0.25), n=2)
    assert listed[0].stable == "holds"


@pytest.mark.parametrize("kind", [np.asarray, torch.tensor])
def test_masks_are_arrays_too(kind: Any) -> None:
    mask, two = kind([[1, 0], [1, 1]]), [[2.0, 0.0], [0.0, 1.0]]
    assert et.Instance.of("attention-flow", [[1, 0], [1, 0]], V=two, M=two, mask=mask).mask == ((1, 0), (1, 1))
    run = et.simulate(
        "attention-flow", V=kind(two), M=kind(two), tokens=kind([[1.0, 0.5], [0.5, 1.0]]), mask=mask, end=1
    )
    assert run.settings["mask"] == [[1, 0], [1, 1]]
    assert torch.allclose(
        run.states[-1, 0, 0],
        et.simulate(
            "attention-flow", V=kind(two), M=kind(two), tokens=kind([[1.0, 0.5], [0.1, 1.0]]), mask=mask, end=1
        ).states[-1, 0, 0],
    )  # the first token sees itself alone
    made = Conjecture("masked", "attention-flow", [Symmetric(V)], [Stable(ConsensusAt(V, 1))], mask=mask)
    assert (made.mask, made.sizes("n")) == (((1, 0), (1, 1)), (2,))
    assert Conjecture("three", "attention-flow", [Symmetric(V)], [Stable(ConsensusAt(V, 1))], n=3).sizes("n") == (3,)


# -- models -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def encoder() -> et.Model:
    torch.manual_seed(0)
    return et.load(torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 3))


def test_the_matrices_are_called_as_in_the_docs(encoder: et.Model) -> None:
    layer = encoder.layers[1]
    heads = [(h.Q.astype(float), h.K.astype(float), h.V.astype(float), h.O.astype(float)) for h in layer.heads]
    assert np.allclose(layer.F, sum(O @ W for _, _, W, O in heads), atol=1e-12)
    assert np.allclose(layer.S, sum(Q.T @ K for Q, K, _, _ in heads), atol=1e-12)
    for head, (Q, K, W, O) in zip(layer.heads, heads, strict=True):
        assert np.allclose(head.U, O @ W, atol=1e-12)
        assert np.allclose(head.P, Q.T @ K / head.scale, atol=1e-12)
    for each in (layer.F, layer.S, layer.heads[0].U, layer.heads[0].P):
        assert each.dtype == np.float64 and each.shape == (8, 8)


def test_layers_can_be_indexed_and_walked(encoder: et.Model) -> None:
    assert len(encoder.layers) == 3
    assert [layer.index for layer in encoder.layers] == [layer.index for layer in encoder.layers()] == [0, 1, 2]
    assert encoder.layers[-1].index == 2 and [layer.index for layer in encoder.layers[1:]] == [1, 2]
    with pytest.raises(IndexError, match=r"layer must be in 0\.\.2, got 3"):
        _ = encoder.layers[3]


def test_a_model_is_walked_by_layers_and_a_layer_by_heads(encoder: et.Model) -> None:
    assert len(encoder) == 3 and [layer.index for layer in encoder] == [0, 1, 2] and bool(encoder)
    assert encoder[-1].index == 2 and [layer.index for layer in encoder[1:]] == [1, 2]
    layer = encoder[0]
    assert len(layer) == layer.n_heads == 2 and list(layer) == list(layer.heads) and layer[1] is layer.heads[1]
    for outside in (lambda: encoder[3], lambda: layer[2]):
        with pytest.raises(IndexError):
            outside()
    for given, names in ((encoder, "layers"), (layer, r"\.F, \.S"), (layer[0], r"\.P, \.U")):
        with pytest.raises(ValueError, match=f"has several matrices: give one of .*{names}"):
            et.certify(given, "symmetric")


def test_the_eigenvalues_of_a_spectrum_and_of_a_point_are_lists() -> None:
    found = et.spectrum("oja-flow", at="consensus")
    assert [str(each) for each in found.eigenvalues] == ["lambda_ell - lambda_k", "-lambda_k"]
    assert found.at(n=3, d=3, lambda_k=2, lambda_ell=[1, "-1/2"]) == found.at(
        {"lambda_k": 2, "n": 3, "d": 3}, {"lambda_ell": [1, "-1/2"]}
    )
    with pytest.raises(
        ValueError, match="lambda_l is no letter of this spectrum, which has d, lambda_ell, lambda_k, n"
    ):
        found.at(lambda_k=2, n=3, d=3, lambda_l=[1, 2])
    bipartite = et.spectrum("oja-map", at="bipartite")
    assert not {str(letter) for each in bipartite.eigenvalues for letter in each.free_symbols} & {"m_1", "m_2"}
    point = et.classify("oja-flow", tokens=[[1, 0]] * 3, V=[[2, 0], [0, -1]])
    assert sorted(map(int, point.eigenvalues)) == [-3, -2, -2]  # n (d - 1) of them, as often as they are there
    turned = et.classify("oja-flow", tokens=[[1, 0, 0]], V=[[1, 0, 0], [0, 0, 1], [0, "-1", 0]])
    assert sorted(str(each.as_real_imag()[1]) for each in turned.eigenvalues) == ["-1", "1"]


def test_equilibria_are_told_apart_by_their_verdicts() -> None:
    listed = et.equilibria("oja-map", V=[[2, 0], [0, -1]], alpha="1/4", n=3)
    assert [each.name for each in listed.stable] == ["consensus(k=1)"]
    assert len(listed.unstable) == 3
    still = et.equilibria("oja-flow", V=[[0, 0], [0, 0]], n=2)
    assert not still.stable and not any(each.stable.is_holds for each in still.unstable)


def test_statements_are_searched_by_their_words() -> None:
    found = et.statements().search("Oja-map consensus STABLE")
    assert "PM-L4" in [each.id for each in found] and all("oja-map" in each.systems for each in found)
    assert et.statements().search("no statement says this") == []
    assert et.statements().keys() == [each.id for each in et.statements()]


def test_statements_are_asked_for_by_words_at_once() -> None:
    found = et.statements("Oja-map consensus STABLE")
    assert found.keys() == [each.id for each in et.statements().search("Oja-map consensus STABLE")]
    assert found["PM-L4"] is et.statement("PM-L4") and "PM-L15" not in found
    assert list(found.to_frame().index) == found.keys() and len(found) < len(et.statements())
    assert et.statements().digest(found["PM-L4"]) == found.digest(found["PM-L4"])  # evidence belongs to the same text
    assert len(et.statements("no statement says this")) == 0 and et.statements(" ") is et.statements()
    with pytest.raises(TypeError, match=r"searched by words.*got 0"):
        et.statements(0)  # type: ignore[arg-type]


def test_the_jacobian_of_a_linearization_is_the_derivative_by_one_token() -> None:
    from eigentoken.theory.linearization.linearize import jacobian_block

    found = et.linearize("attention-map")
    assert repr(found.jacobian) == repr(jacobian_block(found.derivative, found.assumptions))
    assert "<x_slot|M|xi>" in repr(found.jacobian)


def test_verify_takes_a_list_and_looks_all_of_it_up_first() -> None:
    first, second = et.verify(["PM-E9", "pm-a1"], instances=0)
    assert (first.id, second.id) == ("PM-E9", "PM-A1")
    with pytest.raises(ValueError, match="unknown statement 'PM-E99999'"):
        et.verify(["PM-L1", "PM-E99999"])


def test_a_module_without_an_embedding_is_checked_by_default(tmp_path: Path) -> None:
    torch.manual_seed(0)
    module = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    report = et.check(module, tokens=6, statements="PM-N1", work=tmp_path)
    assert len(report.document["observed"]) == 1
    assert any("random hidden states" in text for text in report.warnings)
    silent = et.check(module, sequences=0, statements=["PM-N1"], work=tmp_path)
    assert not any("random hidden states" in text for text in silent.warnings)
    assert report.answer("PM-N1") == report.answer("pm-n1") == silent.answer("PM-N1")
    with pytest.raises(KeyError, match="was not checked"):
        report.answer("PM-L4")


# -- answers can be confirmed from memory -------------------------------------------------------------------------------


def test_recheck_takes_what_the_functions_gave(tmp_path: Path) -> None:
    from dataclasses import replace

    verdict = et.certify(A, "positive-definite")
    assert et.recheck(verdict, A).verdict == "holds"
    assert et.recheck(verdict, -A).verdict == "fails"
    assert verdict.certificate is not None and et.recheck(verdict.certificate, A).verdict == "holds"
    assert verdict.margin is not None
    assert et.recheck(replace(verdict, margin=2 * verdict.margin), A).verdict == "fails"  # more than the matrix allows
    point = et.classify("oja-map", tokens=[[1, 0], [1, 0]], V=[[1, 0], [0, "1/2"]], alpha="1/4")
    assert et.recheck(point).verdict == "holds"
    assert et.recheck({**point.as_dict(), "class": "bipartite"}).verdict == "fails"
    torch.manual_seed(0)
    module = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    report = et.check(module, sequences=0, statements="PM-N1", work=tmp_path, arrays=True)
    assert et.recheck(report, module).verdict == "holds"
    torch.manual_seed(1)
    other = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    assert et.recheck(report, other).verdict == "fails"


# -- what is shown ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shown(encoder: et.Model, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One object of every public kind."""
    guess = Conjecture(
        "every step", "oja-map", [Symmetric(V), Relation(Eigenvalue(V, 1) > 0)], [Stable(ConsensusAt(V, 1))]
    )
    verdict = et.certify(A, "positive-definite")
    work = tmp_path_factory.mktemp("work")
    return {
        "model": encoder,
        "layers": encoder.layers,
        "layer": encoder.layers[0],
        "head": encoder.layers[0].heads[0],
        "verdict": verdict,
        "certificate": verdict.certificate,
        "report": et.check(encoder, sequences=0, work=work),
        "re-check": et.recheck(verdict, A),
        "classification": et.classify("oja-map", tokens=[[1, 0]] * 4, V=[[1, 0], [0, "1/2"]], alpha="1/4"),
        "instance": et.Instance.of("oja-flow", [[1, 0]] * 30, V=[[1, 0], [0, "1/2"]]),
        "equilibria": et.equilibria("oja-flow", V=np.diag([3.0, 2.0, 1.0]), n=4),
        "spectrum": et.spectrum("attention-map", at="bipartite"),
        "linearization": et.linearize("oja-map"),
        "simulation": et.simulate("oja-map", n=5, instances=3),
        "statement": et.statement("PM-L15"),
        "statements": et.statements(),
        "verified": et.verify("PM-L4", instances=0),
        "derivation": et.derive("PM-L4"),
        "conjecture": guess,
        "refutation": et.refute(guess, seconds=20),
        "system": et.system("attention-map"),
        "systems": et.systems(),
        "steps": et.statement("PM-L4").derivation,
        "embedding": et.load("sample:glassllm").embedding(),
        "feed-forward": encoder.layers[0].feed_forward,
        "norm": encoder.layers[0].attention_norm,
        "state": next(iter(run_tokens(encoder, np.ones((3, 8), dtype=np.float32)))),
    }


KINDS = (
    *("model", "layers", "layer", "head", "verdict", "certificate", "report", "re-check", "classification", "instance"),
    *("equilibria", "spectrum", "linearization", "simulation", "statement", "statements", "verified", "derivation"),
    *("conjecture", "refutation", "system", "systems", "steps", "embedding", "feed-forward", "norm", "state"),
)
PLAIN = {"layers", "certificate", "systems", "steps", "embedding", "feed-forward", "norm", "state"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_object_shows_itself_in_ten_lines(kind: str, shown: dict[str, Any]) -> None:
    value = shown[kind]
    text = repr(value)
    assert 0 < len(text.splitlines()) <= 10, text
    assert len(text) <= 2500, text
    rich = [each for each in ("_repr_html_", "_repr_latex_", "_repr_markdown_") if hasattr(value, each)]
    assert rich or kind in PLAIN
    for each in rich:
        assert str(getattr(value, each)()).strip()


def test_a_statement_in_a_notebook_is_a_line_a_condition_and_a_claim() -> None:
    told = et.statement("PM-L4")
    shown = told._repr_markdown_()
    first, *rest = shown.split("\n\n")
    assert first == "**Stability of consensus for the Oja map** (PM-L4)"
    assert [rest[0], rest[2]] == ["if", "then"]
    assert [len(each.splitlines()) for each in (rest[1], rest[3])] == [len(told.conditions), len(told.claims)]
    assert "- $V = V^{\\top}$" in shown
    silent = replace(told, claims=(), text="In words.")
    assert silent._repr_markdown_().endswith("\n\nIn words.")


@pytest.mark.parametrize("kind", KINDS)
def test_every_object_goes_through_pickle(kind: str, shown: dict[str, Any]) -> None:
    """As joblib and multiprocessing send it."""
    again = pickle.loads(pickle.dumps(shown[kind]))
    assert type(again) is type(shown[kind])
    assert repr(again) == repr(shown[kind])
    if hasattr(again, "as_dict"):
        assert without_smtlib(again.as_dict()) == without_smtlib(shown[kind].as_dict())


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_a_document_is_json(kind: str, shown: dict[str, Any]) -> None:
    """``json.dumps(verdict.as_dict())``, of whatever has one, and nothing in it that is no JSON."""
    if not hasattr(shown[kind], "as_dict"):
        further = ("model", "layer", "head", "linearization", "statement", "statements", "conjecture", "derivation")
        assert kind in {*PLAIN, *further, "system"}, kind
        return
    text = json.dumps(shown[kind].as_dict(), allow_nan=False)
    assert json.loads(text) == without_tuples(shown[kind].as_dict())


def test_a_system_is_typeset_from_its_equation() -> None:
    assert et.system("attention-map").latex.splitlines()[1:-1] == [
        r"x_{i}^{+} &= \frac{y_{i}}{\lvert y_{i} \rvert}, \\",
        r"y_{i} &= x_{i} + \alpha V \sum_{j} a_{ij} x_{j}, \\",
        r"a_{ij} &= \frac{e^{x_{i}^{\top} M x_{j}}}{\sum_{l} e^{x_{i}^{\top} M x_{l}}}",
    ]
    assert r"\sum_{j \leq i} a_{ij} x_{j}" in et.system("causal-flow").latex
    assert r"F_{1} \sum_{j} a^{(1)}_{ij} x_{j} + \cdots + F_{H}" in et.system("multihead-map").latex
    for made in map(et.system, et.systems()):
        shown = made.latex
        assert shown.count("{") == shown.count("}") and shown.startswith("\\begin{aligned}\n")
        assert str(made._repr_latex_()).strip("$\n") == shown
        for each in made.parameters:
            if each.kind != "heads":
                assert re.search(rf"(?<![A-Za-z]){each.name}(?![A-Za-z])", shown), (made.name, each.name)


def test_a_system_of_others_is_typeset_and_one_that_looks_inside_is_not() -> None:
    class Linear(et.System):
        def sublayer(self, algebra: Any, parameters: Any, x: Any, mask: Any) -> Any:
            weights = algebra.masked(algebra.scores(x, parameters["M"]), mask)
            moved = algebra.add(algebra.apply(parameters["V"], algebra.average(weights, x)), x, -1)
            again = algebra.attention(moved, parameters["M"], mask, False)  # a letter of its own for what is long
            return algebra.average(again, moved)

    shown = Linear("linear", "linear attention", "sphere", "flow", "V", "M").latex
    assert r"z_{i} &= V \sum_{j} x_{i}^{\top} M x_{j} x_{j} - x_{i}" in shown
    assert r"u_{i} &= \sum_{l} a_{il} \left(V \sum_{j} x_{l}^{\top} M x_{j} x_{j} - x_{l}\right)" in shown

    class Inside(et.System):
        def sublayer(self, algebra: Any, parameters: Any, x: Any, mask: Any) -> Any:
            return x.mT

    made = Inside("inside", "looks inside", "sphere", "flow", "V")
    assert made._repr_latex_() is None
    with pytest.raises(AttributeError):
        _ = made.latex


def without_tuples(document: Any) -> Any:
    if isinstance(document, dict):
        return {key: without_tuples(value) for key, value in document.items()}
    return [without_tuples(each) for each in document] if isinstance(document, list | tuple) else document


def without_smtlib(document: Any) -> Any:
    """A document without the solver's text, in which z3 numbers its abbreviations anew each time."""
    if isinstance(document, dict):
        return {key: without_smtlib(value) for key, value in document.items() if key != "smtlib"}
    return [without_smtlib(each) for each in document] if isinstance(document, list) else document


@pytest.mark.parametrize(
    "kind",
    [
        "report",
        "re-check",
        "classification",
        "equilibria",
        "spectrum",
        "simulation",
        "statements",
        "verified",
        "refutation",
    ],
)
def test_what_is_a_table_is_a_frame(kind: str, shown: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    made = shown[kind].to_frame()
    assert len(made) > 0 and len(made.columns) > 1
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'eigentoken\[frames\]'"):
        shown[kind].to_frame()


def test_a_derivation_has_every_format(shown: dict[str, Any], tmp_path: Path) -> None:
    made = shown["derivation"]
    assert (
        made.latex.startswith(r"\documentclass")
        and made.markdown.startswith("# Stability of consensus")
        and "<html" in made.html
    )
    assert made.steps == made.checked.lines and all(step.good for step in made.steps)
    assert made.save(tmp_path / "a.md").read_text(encoding="utf-8") == made.markdown
    with pytest.raises(ValueError, match=r"saved as \.tex, \.md, \.html or \.pdf, got 'a\.doc'"):
        made.save(tmp_path / "a.doc")


def test_a_derivation_with_a_step_that_does_not_check_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from eigentoken.api import derivations

    checked = et.verify("PM-L4", instances=0)
    broken = replace(checked, lines=(replace(checked.lines[0], answer="fails", reason="made so"), *checked.lines[1:]))
    monkeypatch.setattr(derivations, "verify_many", lambda *names, **options: [broken])
    with pytest.raises(derivations.NotDerived, match="made so"):
        et.derive("PM-L4")


def test_a_report_is_saved_in_the_format_of_its_ending(shown: dict[str, Any], tmp_path: Path) -> None:
    for name in ("a.json", "a.html", "a.tex", "a.sarif", "a.md"):
        assert shown["report"].save(tmp_path / name).stat().st_size > 100
    with pytest.raises(ValueError, match=r"saved as \.json.* got 'a.docx'"):
        shown["report"].save(tmp_path / "a.docx")
    assert shown["report"].html == (tmp_path / "a.html").read_text(encoding="utf-8")


def test_a_report_is_asked_for_a_statement(shown: dict[str, Any]) -> None:
    report = shown["report"]
    name = report.statements[0]["id"]
    assert report[name.lower()] == report.statements[0] and report[name]["word"] == report.answer(name)
    with pytest.raises(KeyError, match="'PM-X99' was not checked"):
        _ = report["PM-X99"]


def test_no_backend_of_matplotlib_is_chosen() -> None:
    code = (
        "import matplotlib\n"
        "matplotlib.use('svg')\n"
        "import eigentoken as et, eigentoken.figures.runs, eigentoken.numerics.dynamics.drawing\n"
        "figure = et.simulate('oja-map', n=3, d=3, end=5).plot()\n"
        "assert figure._repr_png_()[:4] == b'\\x89PNG'\n"
        "assert matplotlib.get_backend().lower() == 'svg', matplotlib.get_backend()\n"
        "import sys; assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    ran = eigentoken("-c", code)
    assert ran.returncode == 0, ran.stderr


# -- the words of a conjecture ------------------------------------------------------------------------------------------


def test_every_number_of_the_language_is_read_in_floats_exactly_and_in_balls() -> None:
    from eigentoken.numerics.readings import load
    from eigentoken.theory.language import readings, terms

    load()
    numbers = [each for each in vars(terms).values() if isinstance(each, type) and issubclass(each, terms.MatrixNumber)]
    assert len(numbers) > 8
    for reading in (readings.VALUE, readings.EXACT, readings.ENCLOSURE):
        assert not [each for each in numbers if each is not terms.MatrixNumber and reading.find(each) is None]


def test_numbers_of_complex_eigenvalues_are_decided() -> None:
    """On V = [[2, -1], [1, 2]] the eigenvalues are 2 + i and 2 - i; on the diagonal matrix they are rational."""
    from eigentoken.numerics.instances.exact_values import Case
    from eigentoken.theory.language.readings import ENCLOSURE, EXACT

    V = lab.matrix("V")
    turned = Case(et.Instance.of("oja-flow", [[1, 0]], V=[[2, -1], [1, 2]]))
    for number, value in (
        (lab.EigenvalueModulus(V, 1), 5**0.5),
        (lab.EigenvalueRealPart(V, 2), 2),
        (lab.RightCount(V), 2),
    ):
        found = ENCLOSURE(number, turned, 96, None)
        assert abs(float(found.mid()) - value) < 1e-12 and float(found.rad()) < 1e-12
    straight = Case(et.Instance.of("oja-flow", [[1, 0]], V=[[1, 0], [0, -3]]))
    assert float(ENCLOSURE(lab.EigenvalueModulus(V, 2), straight, 96, None).mid()) == 3
    assert EXACT(lab.RightCount(V), straight, None) == 1


def test_the_lab_brings_every_word() -> None:
    own = {
        "CONDITION",
        "InFull",
        "OfOneMatrix",
        "misplaced",
        "HeadCount",
        "MatrixNumber",
        "plain",
        "solve",
    }  # machinery of the rooms, no words
    for room in ("conditions", "claims", "places", "terms", "observables", "observables_attention"):
        module = importlib.import_module(f"eigentoken.theory.language.{room}")
        missing = set(module.__all__) - own - set(lab.__all__)
        assert not missing, (room, missing)
        for name in set(module.__all__) - own:
            assert getattr(lab, name) is getattr(module, name)
    assert {"Conjecture", "refute"} <= set(lab.__all__)


def test_the_file_that_conjecture_new_writes_runs_under_plain_pytest(tmp_path: Path) -> None:
    from eigentoken.numerics.lab import new

    file = new(tmp_path / "mine.py")
    assert "from eigentoken.lab import *" in file.read_text(encoding="utf-8")
    (tmp_path / "other.py").write_text("x = 1\n", encoding="utf-8")
    _, printed = pytest_here(tmp_path, "--collect-only", file, tmp_path / "other.py")
    assert "mine.py::principal consensus is stable for every step" in printed
    assert "other.py" not in printed
    _, printed = pytest_here(tmp_path, "--collect-only", tmp_path)  # not named: an ordinary module
    assert "no tests collected" in printed


def test_refute_takes_several_conjectures() -> None:
    made = [
        Conjecture(
            name,
            "oja-map",
            [Symmetric(V), Relation(Eigenvalue(V, 1) > 0), Relation(n >= 2)],
            [Stable(ConsensusAt(V, 1))],
        )
        for name in ("one", "two")
    ]
    report = et.refute(made, seconds=20)
    assert [result.name for result in report] == ["one", "two"] and len(report) == 2
    assert report["two"].answer == report[1].answer == "refuted"
    with pytest.raises(KeyError, match="no conjecture is called 'three'"):
        _ = report["three"]


# -- twenty things ------------------------------------------------------------------------------------------------------


def test_the_page_has_twenty_things_and_each_shows_something() -> None:
    twenty, shorter = PAGE.read_text(encoding="utf-8").split("## Shorter ways")
    sections = re.split(r"^## (\d+)\. ", twenty, flags=re.M)[1:]
    assert sections[::2] == [str(number) for number in range(1, 21)]
    for text in (*sections[1::2], shorter):
        blocks = re.findall(r"^```python shows\n(.*?)^```$", text, flags=re.M | re.S)
        assert len(blocks) == 1 and re.search(r"^# .+", blocks[0], flags=re.M), text


def test_twenty_things_a_researcher_would_write_work() -> None:
    """Every block of the page runs, and shows what the page says."""
    assert tool("docs").refreshed(PAGE) == PAGE.read_text(encoding="utf-8"), (
        "run: python tools/docs.py docs/notebook.md"
    )


def test_a_block_that_shows_something_else_is_found() -> None:
    docs = tool("docs")
    assert docs.shown("x = 1\nx + 1\n# 3\n# 4\nx\n", {}, "") == "x = 1\nx + 1\n# 2\nx\n# 1\n"
    with pytest.raises(ZeroDivisionError):
        docs.shown("1 / 0\n", {}, "")


def test_a_source_beside_a_document_that_holds_its_instance_is_refused(tmp_path: Path) -> None:
    """It would be left unread, and a re-check of another instance would seem to agree."""
    found = et.classify("oja-map", tokens=[[1, 0], [1, 0]], V=[[1, 0], [0, "1/2"]], alpha="1/4")
    path = tmp_path / "class.json"
    path.write_text(json.dumps(found.as_dict()), encoding="utf-8")
    assert et.recheck(str(path)) == "holds"
    for other in (np.eye(2), {"system": "oja-map"}, str(path)):
        with pytest.raises(ValueError, match="holds what it is about"):
            et.recheck(str(path), source=other)


@pytest.mark.parametrize("of", [lambda given: given, torch.tensor, lambda given: given.tolist()])
def test_the_source_of_a_verdict_document_is_an_array_of_any_kind(of: Any, tmp_path: Path) -> None:
    """Its truth value is never asked, and what is given is what is compared with the hash of the certificate."""
    np.save(tmp_path / "A.npy", A)
    path = tmp_path / "verdict.json"
    told = CliRunner().invoke(app, ["certify", "positive-definite", str(tmp_path / "A.npy"), "--json"])
    path.write_text(told.stdout, encoding="utf-8")
    assert et.recheck(str(path), source=of(A)) == "holds"
    assert et.recheck(str(path), source=of(2 * A)) == "fails"
    assert et.recheck(str(path), source={}) == "fails"  # nothing was given, which is not the file that is named
