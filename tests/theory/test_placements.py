"""Residual attention with the norm in each place: vectors of BD-P, special cases, and one equation in every arithmetic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.classification.jacobians import ball_setting
from eigentoken.theory.exactness.balls import expression_ball, precision
from eigentoken.theory.systems.algebra import LoopAlgebra
from eigentoken.theory.systems.catalogue import system, systems
from eigentoken.theory.systems.placements import PLACEMENTS

FLOATS, EXACT = LoopAlgebra(math.exp, math.sqrt), LoopAlgebra(sp.exp, sp.sqrt)
V, M = [["1", "1/2"], ["-1/3", "2"]], [["1", "0"], ["1/2", "-1"]]
G, H = [["2", "0"], ["0", "1/2"]], [["3", "0"], ["0", "1"]]
TOKENS = [["3/5", "4/5"], ["5/13", "-12/13"], ["1", "0"]]


def advanced(name: str, x: Any, mask: Any = None, **parameters: Any) -> Any:
    rows = system(name).advance(FLOATS, parameters, tuple(map(tuple, x)), mask)
    return np.array(rows, dtype=float)


def _eye(d: int, size: float = 1.0) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(size * float(i == j) for j in range(d)) for i in range(d))


@pytest.mark.parametrize(
    ("name", "cosine", "radius"),
    [
        ("attention-flow", 0.4794867821854205, 1.0),
        ("post-norm-flow", 0.4794867821854205, 1.0),
        ("pre-norm-flow", 0.3742741602434541, 1.538870963020184),
        ("peri-norm-flow", 0.5203585095781524, 1.832745830382295),
    ],
)
def test_equiangular_tokens_of_the_sheet(name: str, cosine: float, radius: float) -> None:
    """TV-P: four orthogonal tokens of length 1, V = I, scores x^T x, until t = 1."""
    unit = _eye(4)
    gains = {each.name: unit for each in system(name).further}

    def velocity(_: float, x: Any) -> Any:
        return advanced(name, x.reshape(4, 4), V=unit, M=unit, **gains).ravel()

    end = solve_ivp(velocity, (0, 1), np.eye(4).ravel(), method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1].reshape(4, 4)
    sizes = np.linalg.norm(end, axis=1)
    cosines = (end @ end.T / np.outer(sizes, sizes))[np.triu_indices(4, 1)]
    assert np.allclose(cosines, cosine, rtol=0, atol=1e-9) and np.allclose(sizes, radius, rtol=0, atol=1e-9)


def test_distances_of_the_pre_norm_flow_do_not_shrink() -> None:
    """BD-P3: constant for beta = 0, growing for beta > 0; the peri-norm flow is on the same curve (BD-P4)."""
    unit, x = _eye(3), np.eye(3) * 2.0
    for beta, name in ((0.0, "pre-norm-flow"), (1.5, "pre-norm-flow"), (0.0, "peri-norm-flow")):
        gains = {each.name: unit for each in system(name).further}
        speed = advanced(name, x, V=unit, M=_eye(3, beta), **gains)
        slope = float((x[0] - x[1]) @ (speed[0] - speed[1]))
        assert slope > 1e-3 if beta else abs(slope) < 1e-14


def _parameters(name: str, gains: bool = True) -> dict[str, Any]:
    listed = {"V": V, "B": V, "M": M, "W": M, "G": G, "H": H, "alpha": "1/3"}
    wanted = [each for each in system(name).parameters if each.required or gains]
    return {each.name: listed[each.name] for each in wanted}


@pytest.mark.parametrize("mask", [None, "causal"])
@pytest.mark.parametrize("name", PLACEMENTS)
def test_symbols_balls_and_floats_agree(name: str, mask: str | None) -> None:
    instance = Instance.of(name, TOKENS, mask=mask, **_parameters(name))
    exact = instance.system.advance(EXACT, instance.parameters, instance.tokens, instance.mask)
    floats = {key: _floats(value) for key, value in instance.parameters.items()}
    near = instance.system.advance(FLOATS, floats, _floats(instance.tokens), instance.mask)
    setting = ball_setting(instance, 128)
    with precision(128):
        balls = setting.advance(setting.tokens)
        for i, row in enumerate(exact):
            for k, entry in enumerate(row):
                assert balls[i][k].overlaps(expression_ball(sp.sympify(entry), 128))
                assert float(balls[i][k].rad()) < 1e-30
                assert abs(float(balls[i][k].mid()) - near[i][k]) < 1e-14


def _floats(value: Any) -> Any:
    return tuple(_floats(each) for each in value) if isinstance(value, tuple) else float(value)


def test_without_gains_they_are_the_systems_that_are_known() -> None:
    def step(name: str, **further: Any) -> Any:
        instance = Instance.of(name, TOKENS, **{**_parameters(name, gains=False), **further})
        return sp.Matrix(instance.system.advance(EXACT, instance.parameters, instance.tokens, None))

    assert step("post-norm-map") == step("attention-map")
    assert step("post-norm-flow") == step("attention-flow")
    assert step("post-norm-flow", G=G) != step("post-norm-flow")
    flow = Instance.of("token-flow", TOKENS, B=V, W=M)
    moved = sp.Matrix(flow.tokens) + sp.Rational(1, 3) * sp.Matrix(
        flow.system.advance(EXACT, flow.parameters, flow.tokens, None)
    )
    assert (step("residual-map") - moved).applyfunc(sp.simplify) == sp.zeros(3, 2)
    assert step("pre-norm-map") == step("residual-map", B=V, W=M)  # unit tokens: the norm does nothing
    assert step("pre-norm-map", G=G) != step("pre-norm-map")


def test_names_are_listed_and_taken() -> None:
    assert set(PLACEMENTS) <= set(systems())
    from eigentoken.theory.systems.catalogue import register_system
    from eigentoken.theory.systems.system import Space, System, Time

    with pytest.raises(ValueError, match="'peri-norm-map' is taken"):
        register_system(System("peri-norm-map", "mine", Space.SPHERE, Time.MAP, "V", "M"))
    with pytest.raises(ValueError, match="is 0, and pre-norm-map normalises it"):
        Instance.of("pre-norm-map", [["0", "0"], ["1", "0"]], V=V, M=M, alpha="1")
