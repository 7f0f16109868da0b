"""Property checks of the cross-ratio of four tokens under the Oja map (PM-T2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from eigentoken.proofs.properties.checks import above, gap
from eigentoken.proofs.properties.random_states import tokens

if TYPE_CHECKING:
    import numpy as np

__all__ = ["cross_ratio", "loss"]


def loss(alpha: float, push: Any, a: Any, b: Any) -> float:
    """``4 alpha^2 (u^T(a-b))^2 / ((r_a + r_b)^2 |a-b|^2)``."""
    import numpy as np

    lengths = np.linalg.norm(a + alpha * push) + np.linalg.norm(b + alpha * push)
    return float((2 * alpha * (push @ (a - b)) / lengths / np.linalg.norm(a - b)) ** 2)


def cross_ratio(source: np.random.Generator) -> Mapping[str, float]:
    """Four tokens, two near w and two near -w or anywhere, ``alpha |V| < 1/2``: one step of the registered map."""
    import numpy as np

    from eigentoken.theory.classification.float_algebra import FloatAlgebra
    from eigentoken.theory.systems.catalogue import system

    d, spread = int(source.integers(2, 5)), 10 ** source.uniform(-2, 0.5)
    value = source.normal(size=(d, d))
    value += value.T
    norm = np.linalg.norm(value, 2)
    alpha = source.uniform(0.05, 0.49) / norm
    w = tokens(source, 1, d)[0]
    x = np.outer([1, 1, -1, -1], w) + spread * source.normal(size=(4, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    after = np.asarray(system("oja-map").advance(FloatAlgebra(), {"V": value, "alpha": alpha}, x))
    push = value @ x.mean(axis=0)
    pairs = {"ab": (0, 1), "cd": (2, 3), "ac": (0, 2), "bd": (1, 3)}
    old, new = (
        {name: float(np.sum((state[i] - state[j]) ** 2)) for name, (i, j) in pairs.items()} for state in (x, after)
    )
    eps = {name: loss(float(alpha), push, x[i], x[j]) for name, (i, j) in pairs.items()}
    chi, later = (each["ab"] * each["cd"] / (each["ac"] * each["bd"]) for each in (old, new))
    factor = (1 - eps["ab"]) * (1 - eps["cd"])
    tangential = [push @ push - (push @ each) ** 2 for each in x]
    found = {
        "the cross-ratio after a step": gap(later / chi, factor / ((1 - eps["ac"]) * (1 - eps["bd"]))),
        "a loss is below 1": max(each - 1 for each in eps.values()),
        "at most the losses of its numerator": above(later / chi, factor),
    }
    if x[0] @ x[1] >= 0:
        found["near tokens lose little"] = eps["ab"] - 4 * alpha**2 * (tangential[0] + tangential[1])
    return found
