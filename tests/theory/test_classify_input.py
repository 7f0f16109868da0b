"""Bad instances are refused with one line; good ones are read exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from eigentoken.theory.classification.classify import classify
from eigentoken.theory.classification.instances import Instance, InstanceError, read_instance
from eigentoken.theory.systems.catalogue import SYSTEMS

GOOD: dict[str, Any] = {
    "system": "attention-map",
    "V": [["1", "1/2"], ["1/2", "-1/3"]],
    "M": [[1, 0], [0, 1]],
    "alpha": "1/3",
    "tokens": [["1", "0"], ["-1", "0"]],
}


def changed(**changes: Any) -> dict[str, Any]:
    return {key: value for key, value in {**GOOD, **changes}.items() if value is not ...}


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (changed(V=[[1, 2]]), ["V", "square", "1 x 2"]),
        (changed(V=[[1]]), ["V", "2 x 2", "1 x 1"]),
        (changed(V=[[1, 2], [3]]), ["V", "one length"]),
        (changed(V=3), ["V", "list of rows"]),
        (changed(V=[[1, 0], [0, "one"]]), ["V[2][2]", "'one'"]),
        (changed(V=[[1, 0], [0, "1/0"]]), ["V[2][2]", "division by zero"]),
        (changed(V=[[1, 0], [0, "sqrt(-1)"]]), ["V[2][2]", "negative"]),
        (changed(V=[[1, 0], [0, "ln(0)"]]), ["V[2][2]", "not positive"]),
        (changed(V=[[1, 0], [0, "2^10000000000"]]), ["V[2][2]", "exponent"]),
        (changed(V=[[1, 0], [0, "(1"]]), ["V[2][2]", "parenthesis"]),
        (changed(V=[[1, 0], [0, None]]), ["V[2][2]", "NoneType"]),
        (changed(V=[[1, 0], [0, True]]), ["V[2][2]", "truth value"]),
        (changed(V=[[1, 0], [0, float("nan")]]), ["V[2][2]", "finite"]),
        (changed(tokens=[["1", "0"], ["1", "1"]]), ["token 2", "sphere", "|x| = 1"]),
        (changed(tokens=[["0.70710678", "0.70710678"], ["1", "0"]]), ["token 1", "not on the sphere"]),
        (changed(tokens=[["1", "0", "0"]]), ["V", "3 x 3", "2 x 2"]),
        (changed(tokens=[["1", "0"], ["1"]]), ["tokens", "one length"]),
        (changed(tokens=[]), ["tokens", "non-empty"]),
        (changed(tokens=[[]]), ["tokens", "non-empty"]),
        (changed(alpha="0"), ["alpha", "positive"]),
        (changed(alpha="-1/3"), ["alpha", "positive"]),
        (changed(alpha="sqrt(2)-3/2"), ["alpha", "positive"]),
        (changed(alpha=[1]), ["alpha", "number"]),
        (changed(system="attention"), ["unknown system", "did you mean attention-map"]),
        (changed(system="power"), ["unknown system", "oja-map", "token-flow"]),
        (changed(system=7), ["unknown system"]),
        (changed(system=...), ["system is missing"]),
        (changed(M=...), ["M is missing", "attention-map"]),
        (changed(alpha=...), ["alpha is missing"]),
        (changed(tokens=...), ["tokens is missing"]),
        (changed(beta=1), ["beta", "not a field"]),
        (changed(mask=[[1, 1]]), ["mask", "2 x 2"]),
        (changed(mask=[[1, 1], [0, 0]]), ["mask row 2", "nothing"]),
        (changed(mask=[[1, 2], [0, 1]]), ["mask row 1", "0 and 1"]),
        (changed(mask="banded"), ["mask", "banded"]),
        ({"system": "multihead-map", "heads": [], "alpha": 1, "tokens": [[1]]}, ["heads", "non-empty"]),
        ({"system": "multihead-map", "heads": [{"F": [[1]]}], "alpha": 1, "tokens": [[1]]}, ["heads[1]", "F and M"]),
        ({"system": "ellipsoid-flow", "P": [[1, 1], [0, 1]], "tokens": [[1, 0]]}, ["P", "symmetric"]),
        ({"system": "ellipsoid-flow", "P": [[1, 2], [2, 1]], "tokens": [[1, 0]]}, ["P", "positive definite"]),
        ({"system": "ellipsoid-flow", "P": [[2, 0], [0, 1]], "tokens": [[1, 0]]}, ["token 1", "ellipsoid", "x^T P x"]),
        ({"system": "causal-flow", "U": [[1]], "P": [[1]], "tokens": [[1]], "mask": "full"}, ["mask", "causal"]),
    ],
)
def test_bad_input_is_one_clear_line(document: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(InstanceError) as problem:
        read_instance(document)
    line = str(problem.value)
    assert "\n" not in line
    assert len(line) < 400
    for word in words:
        assert word in line, line


def test_the_same_line_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "point.json"
    path.write_text(json.dumps(changed(alpha=0)))
    with pytest.raises(InstanceError, match="alpha must be positive, got 0"):
        read_instance(path)
    path.write_text("{")
    with pytest.raises(InstanceError, match="is not JSON"):
        read_instance(path)
    path.write_text("[1]")
    with pytest.raises(InstanceError, match="one JSON object"):
        read_instance(path)
    path.write_text('{"system": "oja-map", "system": "oja-flow"}')
    with pytest.raises(InstanceError, match="twice"):
        read_instance(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InstanceError, match="UTF-8"):
        read_instance(path)
    with pytest.raises(InstanceError, match="cannot read"):
        read_instance(tmp_path / "absent.json")


def test_numbers_are_kept_exact() -> None:
    text = '{"system": "oja-map", "V": [[0.1, 0], [0, 1e-3]], "alpha": 0.3, "tokens": [[1, 0], [0.6, 0.80]]}'
    instance = read_instance(text)
    assert instance.parameters["V"][0][0] == sympy.Rational(1, 10)
    assert instance.parameters["V"][1][1] == sympy.Rational(1, 1000)
    assert instance.parameters["alpha"] == sympy.Rational(3, 10)
    assert instance.tokens[1] == (sympy.Rational(3, 5), sympy.Rational(4, 5))


def test_roots_and_logs_put_tokens_on_the_sphere() -> None:
    golden = ["sqrt((5+sqrt(5))/10)", "sqrt((5-sqrt(5))/10)"]
    instance = Instance.of("attention-map", [golden], V=[[1, 1], [1, 0]], M=[["ln(3)", 0], [0, "ln(2)/3"]], alpha=1)
    found = classify(instance)
    assert (found.kind, found.k) == ("consensus", 1)
    assert found.eigenvalue is not None
    assert sympy.simplify(found.eigenvalue.exact - (1 + sympy.sqrt(5)) / 2) == 0


def test_round_trip_of_documents() -> None:
    for document in (
        GOOD,
        changed(mask="causal"),
        {"system": "oja-flow", "V": [["ln(3)/2", 0], [0, "2^(1/3)"]], "tokens": [["sqrt(1/2)", "-sqrt(1/2)"]]},
        {"system": "multihead-flow", "heads": [{"F": [[1]], "M": [["exp(1)"]]}], "tokens": [[1], [-1]]},
    ):
        instance = read_instance(document)
        assert read_instance(json.loads(json.dumps(instance.as_dict()))) == instance


def test_the_document_of_an_answer() -> None:
    found = classify(read_instance({**GOOD, "V": [[1, 0], [0, "1/2"]]})).as_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert {"schema", "class", "equilibrium", "k", "p", "q", "spectrum", "stable"} <= set(found)
    assert set(found["stable"]) >= {"verdict", "margin", "reason", "certificate"}
    for entry in found["spectrum"]:
        assert set(entry) >= {"exact", "float", "multiplicity"}


SCRAPS = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 3),
        st.floats(),
        st.sampled_from(
            ["1", "0", "sqrt(2)", "ln(3)", "3/5", "x", "", "full", "causal", "1/0", "sqrt(-1)", "((", "e^e^e"]
        ),
        st.text(max_size=4),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["F", "M", "U"]), inner, max_size=2)
    ),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["V", "M", "alpha", "tokens", "mask", "heads", "P", "W", "extra"]), SCRAPS),
    st.data(),
)
def test_scraps_are_refused_or_read(scraps: dict[str, Any], data: st.DataObject) -> None:
    """Whatever stands in a field: an instance, or one line; never another exception."""
    system = data.draw(st.sampled_from([*SYSTEMS, "none", None]))
    document = {**GOOD, **scraps, "system": system}
    try:
        instance = read_instance(document)
    except InstanceError as problem:
        assert "\n" not in str(problem)
    else:
        assert instance.n >= 1


def test_latex_and_html() -> None:
    instance = read_instance({**GOOD, "V": [[1, 0], [0, "1/2"]]})
    assert r"\begin{pmatrix} 1 & 0 \\ 0 & \frac{1}{2} \end{pmatrix}" in instance._repr_latex_()
    assert "attention-map" in instance._repr_html_()
    found = classify(instance)
    assert r"\begin{array}" in found._repr_latex_()
    assert "bipartite" in found._repr_html_()


@pytest.mark.parametrize("shift", ["1/1000000", "-1/1000000"])
def test_a_perturbed_token_is_no_equilibrium(shift: str) -> None:
    """A rational rotation by the half-angle parameter t = 1e-6 moves one token on the sphere."""
    t = sympy.Rational(shift)
    moved = [(1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)]
    for system, parameters in (
        ("attention-map", {"V": [[1, 0], [0, "1/2"]], "M": [["ln(3)", 0], [0, 1]], "alpha": "1/2"}),
        ("oja-flow", {"V": [[1, 0], [0, "1/2"]]}),
        ("causal-flow", {"U": [[1, 0], [0, "1/2"]], "P": [[1, 0], [0, 1]]}),
    ):
        fine = classify(Instance.of(system, [[1, 0], [1, 0], [-1, 0]], **parameters))
        assert fine.equilibrium.is_holds
        broken = classify(Instance.of(system, [[str(a) for a in moved], [1, 0], [-1, 0]], **parameters))
        assert broken.kind == "not-an-equilibrium"
        assert broken.equilibrium.is_fails
        assert broken.stable.is_fails
