"""Searches for failures without a bound on the step: exact points that a long step makes unstable, or moves.

The cases are as in :mod:`eigentoken.proofs.properties.first_failures`: exact instances, drawn at random, certified by
exact arithmetic.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

from eigentoken.proofs.properties.exact_points import agree, image, instance, point_is
from eigentoken.proofs.properties.first_failures import unit_vector
from eigentoken.theory.language.verdicts import Verdict, fails


def _value(source: Random) -> tuple[Fraction, Fraction]:
    """lambda_1 > 0 > lambda_2."""
    return Fraction(source.randint(1, 6), 2), -Fraction(source.randint(1, 12), 2)


def _pair(value: tuple[Fraction, Fraction], w: Any, step: Fraction) -> dict[str, Any]:
    tokens = [[str(entry) for entry in w], [str(-entry) for entry in w]]
    return instance("oja-map", tokens, V=[[str(value[0]), "0"], ["0", str(value[1])]], alpha=str(step))


def long_step(source: Random) -> Verdict:
    """PM-L5 and PM-L6 (d) with ``alpha |lambda_d| > 2``: n = 2, k = 1, lambda_2 < 0, and (v_1, -v_1) is linearly unstable."""
    value, step = _value(source), Fraction(source.randint(1, 12), 4)
    if step * -value[1] <= 2:
        return fails("a short step")
    return point_is(_pair(value, (Fraction(1), Fraction(0)), step), "bipartite", stable="unstable")


def tilted_long_step(source: Random) -> Verdict:
    """PM-L6 (d) with ``alpha |nu| > 2``: V < 0 on w^perp for a w that is no eigenvector, and (w, -w) is linearly unstable."""
    value, w, step = _value(source), unit_vector(source), Fraction(source.randint(1, 40), 4)
    across = value[0] * w[1] ** 2 + value[1] * w[0] ** 2
    if across >= 0 or step * -across <= 2:
        return fails("V is not negative on w^perp, or the step is short")
    return point_is(_pair(value, w, step), "polygonal", stable="unstable")


def split_with_a_long_step(source: Random) -> Verdict:
    """PM-N6 with ``alpha |V| >= 1``: the score is far above the bound, and the split on v_1 is linearly unstable."""
    value, step, score = _value(source), Fraction(source.randint(2, 12), 4), source.randint(5, 20)
    count = source.randint(1, 2)
    tokens = [["1", "0"]] * count + [["-1", "0"]] * count
    scores = [[str(score), "0"], ["0", "0"]]
    document = instance(
        "attention-map", tokens, V=[[str(value[0]), "0"], ["0", str(value[1])]], M=scores, alpha=str(step)
    )
    return point_is(document, "bipartite", stable="unstable")


def heads_that_flip(source: Random) -> Verdict:
    """PM-T1 with ``1 + alpha lambda_k < 0``, below the threshold: the sum of two heads sends v_2 to its negative."""
    value, step = _value(source), Fraction(source.randint(1, 12), 4)
    if 1 + step * value[1] >= 0 or step * (-value[1] - value[0]) >= 2:
        return fails("fixed, or beyond the threshold")
    free = [[source.randint(-3, 3) for _ in range(2)] for _ in range(2)]
    total = [[value[0], Fraction(0)], [Fraction(0), value[1]]]
    other = [[str(total[i][j] - free[i][j]) for j in range(2)] for i in range(2)]
    heads = [
        {"F": [[str(entry) for entry in row] for row in free], "M": [["1", "0"], ["0", "1"]]},
        {"F": other, "M": [["0", "3"], ["-1", "0"]]},
    ]
    return agree(image(instance("multihead-map", [["0", "1"]] * 2, heads=heads, alpha=str(step))), ("0", "-1") * 2)
