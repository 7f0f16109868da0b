"""Certificates that are not about one matrix: times, hemispheres, equilibria; re-checked, and every change is noticed."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import torch

from eigentoken.numerics.certified.certificates import save, schema
from eigentoken.numerics.certified.time_bounds import certify_formula, certify_samples
from eigentoken.numerics.dynamics.equilibria import certify_equilibrium
from eigentoken.numerics.dynamics.hemisphere import in_open_hemisphere
from eigentoken.numerics.dynamics.problem import Problem
from eigentoken.numerics.recheck import RecheckError, recheck
from eigentoken.numerics.recheck.matrices.formulas import evaluate
from eigentoken.numerics.recheck.points.attention import read_attention
from eigentoken.theory.language.verdicts import Certificate, Verdict
from eigentoken.theory.systems.catalogue import SYSTEMS, system

from ..documents import validate

TURNING = [["2 + sin(t)", "1/4"], ["1/4", "1"]]
FORMULAS: list[tuple[str, list[list[str]], tuple[Any, Any], dict[str, Any], str]] = [
    ("positive-definite", TURNING, (0, 10), {}, "holds"),
    ("positive-definite", [["cos(t)", "0"], ["0", "1"]], (0, 4), {}, "fails"),
    ("positive-definite", [["t**2 + 1/10"]], (-1, 1), {}, "holds"),
    ("positive-definite", [["(t - 1)^3 + 9", "t"], ["-t", "1"]], (-1, 1), {}, "holds"),
    ("dominant-real-part", [["3 + exp(-t)", "t^2/50"], ["0.1", "1"]], (0, 3), {}, "holds"),
    ("dominant-step", [["3 + exp(-t)", "t^2/50"], ["0.1", "1"]], (0, 3), {"alpha": "1/10"}, "holds"),
    ("norm-bound", [["sin(t)", "cos(t)"], ["-cos(t)", "sin(t)"]], (0, 6), {"bound": "3/2"}, "holds"),
    ("nonsingular", [["2 + t", "1"], ["1", "3"]], (0, 5), {}, "holds"),
    ("spectrum", TURNING, (0, 1), {}, "holds"),
    ("symmetric", TURNING, (0, 1), {"within": "1/10"}, "holds"),
    ("inertia", [["1", "t"], ["t", "-1"]], (0, "1/2"), {"expected": (2, 0, 0)}, "fails"),
]


@pytest.mark.parametrize(("condition", "formula", "interval", "options", "word"), FORMULAS)
def test_a_formula_in_time_rechecks(
    condition: str, formula: list[list[str]], interval: tuple[Any, Any], options: dict[str, Any], word: str
) -> None:
    verdict = certify_formula(condition, formula, interval, **options)
    assert str(verdict.answer) == word and verdict.certificate is not None
    assert recheck(verdict.certificate, formula).is_holds
    assert recheck(verdict.certificate.as_document()).is_holds
    validate(verdict.certificate.as_document(), schema())
    other = [[f"{entry} + 0" for entry in row] for row in formula]
    assert recheck(verdict.certificate, other).is_fails


def samples(function: Any, count: int = 31) -> tuple[list[Fraction], list[Any]]:
    times = [Fraction(k, 10) for k in range(count)]
    return times, [np.array([[function(float(t)), 0.25], [0.25, 1.0]]) for t in times]


def test_samples_in_time_recheck_and_changes_are_noticed() -> None:
    times, matrices = samples(lambda t: 2 + math.sin(t))
    verdict = certify_samples("positive-definite", times, matrices, 1, (0, 3))
    certificate = verdict.certificate
    assert verdict.is_holds and certificate is not None and (verdict.margin or 0) > 0.8
    assert recheck(certificate, matrices).is_holds
    assert recheck(certificate, {f"sample {k}": m for k, m in enumerate(matrices)}).is_holds
    validate(certificate.as_document(), schema())
    moved = [m + (k == 7) * 1e-9 for k, m in enumerate(matrices)]
    assert recheck(certificate, moved).is_fails
    assert recheck(certificate, matrices[:-1]).is_fails
    for key, value in (("lipschitz", "5"), ("interval", ["0", "4"]), ("margin", (2.0).hex()), ("times", ["0"] * 31)):
        assert not recheck(replace(certificate, data={**certificate.data, key: value}), matrices).is_holds, key
    fewer = {**certificate.data, "pieces": certificate.data["pieces"][:4] + certificate.data["pieces"][5:]}
    assert recheck(replace(certificate, data=fewer), matrices).is_fails
    times, matrices = samples(math.cos)
    verdict = certify_samples("positive-definite", times, matrices, 1, (0, 3))
    assert verdict.is_fails and recheck(verdict.certificate, matrices).is_holds


def test_a_time_certificate_is_written_and_read(tmp_path: Any) -> None:
    verdict = certify_formula("positive-definite", TURNING, (0, 2))
    assert verdict.certificate is not None
    save(verdict.certificate, tmp_path / "c.json")
    assert recheck(tmp_path / "c.json", TURNING).is_holds


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-2**2", -4),
        ("2*3 - 4/8", "5.5"),
        ("(1 + t)^2", 9),
        ("- - .5e1", 5),
        ("abs(-3) + sqrt(4)", 5),
        ("+t*t**0", 2),
        ("1e-1*10", 1),
    ],
)
def test_the_second_parser_reads_as_written(text: str, value: Any) -> None:
    assert evaluate(text, flint.arb(2)).contains(flint.arb(str(value)))


@pytest.mark.parametrize("text", ["", "t t", "2 +", "(1", "x", "2**t", "2**-1", "__import__", "exp t", "1;2", "2**65"])
def test_the_second_parser_refuses(text: str) -> None:
    with pytest.raises(RecheckError):
        evaluate(text, flint.arb(2))


def test_powers_contain_every_value() -> None:
    ball = flint.arb(0, 2)
    for k in range(5):
        for point in (-2, -1, 0, 1, 2):
            assert evaluate(f"t**{k}", ball).contains(flint.arb(point**k))
    assert evaluate("t**2", ball).lower() > -1e-8


INSIDE = [["1", "0", "1/3"], ["0", "1", "0"], ["1/3", "-1/4", "1"]]


def test_a_hemisphere_rechecks_and_changes_are_noticed() -> None:
    inside, outside = in_open_hemisphere(INSIDE), in_open_hemisphere([[1, 0], [-1, 0], [0, 1]])
    assert inside.is_holds and outside.is_fails
    for verdict, tokens in ((inside, INSIDE), (outside, [[1, 0], [-1, 0], [0, 1]])):
        certificate = verdict.certificate
        assert certificate is not None
        assert recheck(certificate).is_holds and recheck(certificate, tokens).is_holds
        assert recheck(verdict.as_dict(), tokens).is_holds
        validate(certificate.as_document(), schema())
        assert recheck(certificate, [[2, 0], [-1, 0], [0, 1]]).is_fails
    document = inside.as_dict()
    assert recheck({**document, "margin": document["margin"] * 1.01}).is_fails
    good, bad = inside.certificate, outside.certificate
    assert good is not None and bad is not None
    turned = [f"-{entry}" if not entry.startswith("-") else entry[1:] for entry in good.data["vector"]]
    assert recheck(replace(good, data={**good.data, "vector": turned})).is_fails
    assert recheck(replace(good, data={**good.data, "vector": good.data["vector"][:-1]})).is_fails
    for weights in (["1", "2", "0"], ["0", "0", "0"], ["-1", "-1", "0"], ["1", "1"]):
        assert recheck(replace(bad, data={**bad.data, "weights": weights})).is_fails


LN3 = math.log(3)
EYE = [[LN3, 0], [0, LN3]]
ELLIPSE = [[2.0, 0.5], [0.5, 1.0]]
RESTING: list[tuple[str, dict[str, Any], Any]] = [
    ("attention-map", {"V": [[1, 0], [0, 0.5]], "M": EYE, "alpha": 0.5}, [[1, 0], [-1, 0]]),
    ("attention-flow", {"V": [[1, 0], [0, 0.5]], "M": EYE}, [[1, 0], [-1, 0]]),
    ("attention-flow", {"V": [[1, 0], [0, 0.9]], "M": EYE}, [[1, 0], [-1, 0]]),
    ("oja-map", {"V": [[2, 0, 0], [0, 0.5, 0], [0, 0, -1]], "alpha": 0.25}, [[1, 0, 0]] * 3),
    ("oja-map", {"V": [[2, 0, 0], [0, 0.5, 0], [0, 0, -1]], "alpha": 0.25}, [[0, 1, 0]] * 3),
    ("oja-map", {"V": [[0.5, 0], [0, -1]], "alpha": 4.1}, [[0, 1]] * 3),
    ("causal-flow", {"U": [[1, 0], [0, 0]], "P": [[1, 0], [0, 1]]}, [[1, 0], [-1, 0]]),
    ("token-flow", {"B": [[-1, 0.5], [0, -2]], "W": [[1, 0], [0, 1]]}, [[0, 0]]),
]


def tensors(value: Any) -> Any:
    return torch.tensor(value, dtype=torch.float64)


def problem(name: str, parameters: dict[str, Any]) -> Problem:
    return Problem(system(name), {key: tensors(value) for key, value in parameters.items()})


def resting(name: str, parameters: dict[str, Any], x: Any) -> tuple[Verdict, Verdict]:
    p = problem(name, parameters)
    noise = 1e-5 * torch.randn(len(x), len(x[0]), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = certify_equilibrium(p, p.retract(tensors(x) + noise))
    return found.exists, found.stable


@pytest.mark.parametrize(("name", "parameters", "x"), RESTING)
def test_equilibria_recheck(name: str, parameters: dict[str, Any], x: Any) -> None:
    for verdict in resting(name, parameters, x):
        assert verdict.certificate is not None, verdict.reason
        again = recheck(verdict.certificate)
        assert again.is_holds, again.reason
        validate(verdict.certificate.as_document(), schema())


def equilibrium_changes(exists: Certificate, stable: Certificate) -> list[tuple[str, Certificate]]:
    def with_base(**new: Any) -> list[Certificate]:
        base = {**exists.data, **new}
        return [replace(exists, data=base), replace(stable, data={**stable.data, "equilibrium": base})]

    moved = [str(float(exists.data["centre"][0]) + 1e-3), *exists.data["centre"][1:]]
    weaker = {**exists.data["parameters"], "V": [["0x1p+0", "0x0p+0"], ["0x0p+0", (0.9).hex()]]}
    changes = [("centre", c) for c in with_base(centre=moved)]
    changes += [("cycle", c) for c in with_base(cycle=True)]
    changes += [("system", c) for c in with_base(system="oja-map")]
    changes += [("n", c) for c in with_base(n=3)] + [("d", c) for c in with_base(d=3)]
    changes += [("mask", c) for c in with_base(mask=[[1, 0], [1, 1]])]
    changes += [("radius", c) for c in with_base(radius="1e-60")]
    changes.append(("parameters", with_base(parameters=weaker)[1]))
    flipped = [[-entry for entry in row] for row in stable.data["form"]]
    changes.append(("form", replace(stable, data={**stable.data, "form": flipped})))
    changes.append(("kind", replace(stable, data={**stable.data, "kind": "flow"})))
    changes.append(("no equilibrium", replace(stable, data={k: stable.data[k] for k in ("form", "kind")})))
    changes.append(("condition", replace(exists, condition="exactly one 2-cycle in the box")))
    return changes


def test_changed_equilibria_are_noticed() -> None:
    exists, stable = (verdict.certificate for verdict in resting(*RESTING[0]))
    assert exists is not None and stable is not None
    for what, changed in equilibrium_changes(exists, stable):
        assert not recheck(changed).is_holds, what
        document = copy.deepcopy(changed.as_document())
        assert document["digest"] != exists.as_document()["digest"]
        document["digest"] = exists.as_document()["digest"]
        assert recheck(document).is_fails, what


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_the_second_attention_is_the_first(name: str) -> None:
    """The closed form agrees with the systems of the theory at random states, derivative included."""
    rng = np.random.default_rng(len(name))
    listed, n, d = system(name), 3, 2
    parameters: dict[str, Any] = {}
    for parameter in listed.parameters:
        if parameter.kind == "heads":
            names = [word for word in (listed.value, listed.score) if word]
            parameters["heads"] = [{word: rng.standard_normal((d, d)).tolist() for word in names} for _ in range(2)]
        elif parameter.kind == "step":
            parameters[parameter.name] = 0.25
        else:
            parameters[parameter.name] = (
                ELLIPSE if parameter.name == listed.metric else rng.standard_normal((d, d)).tolist()
            )
    mask = [[1, 0, 0], [1, 1, 0], [1, 1, 1]] if name == "causal-flow" else None

    def hexadecimal(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: hexadecimal(entry) for key, entry in value.items()}
        return [hexadecimal(entry) for entry in value] if isinstance(value, list) else float(value).hex()

    data = {"system": name, "n": n, "d": d, "parameters": hexadecimal(parameters), "mask": mask}
    second = read_attention(data)
    x = rng.standard_normal((n, d))

    def first(state: np.ndarray) -> np.ndarray:
        from eigentoken.theory.systems.algebra import LoopAlgebra

        push = listed.influence(LoopAlgebra(math.exp, math.sqrt), parameters, tuple(map(tuple, state.tolist())), mask)
        return np.array(push)

    u, slopes = second.push([flint.arb_mat(d, 1, [float(v) for v in row]) for row in x])
    assert np.allclose([[float(e[a, 0].mid()) for a in range(d)] for e in u], first(x), rtol=1e-12, atol=1e-12)
    h = 1e-6
    for k in range(n):
        for b in range(d):
            step = np.zeros((n, d))
            step[k, b] = h
            slope = (first(x + step) - first(x - step)) / (2 * h)
            mine = [[float(slopes[i][k][a, b].mid()) for a in range(d)] for i in range(n)]
            assert np.allclose(mine, slope, rtol=1e-6, atol=1e-7)


def test_kinds_of_other_rooms_are_not_called_false() -> None:
    other = Certificate("lab/claim", "anything", in_open_hemisphere(INSIDE).answer, {}, {})
    assert recheck(other).is_undecided
    assert recheck(replace(other, kind="nonsense")).is_fails
