"""Searches for exact instances that fail when one condition is dropped, for statements in words.

A case draws one instance of exact numbers that satisfies the other conditions and violates the dropped one, and says by
exact or ball arithmetic whether the conclusion fails there (``holds``: it fails, the instance is a certified witness).
:class:`FirstFailure` draws until one is found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from eigentoken.proofs.properties.exact_points import agree, image, instance, multipliers, point_is
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided

__all__ = ["Case", "FirstFailure", "small", "unit_vector"]

#: draws one instance and says for certain whether the conclusion fails there
Case = Callable[[Random], Verdict]
#: Instances that are drawn at most.
TRIES = 300


@dataclass(frozen=True)
class FirstFailure:
    """Draw instances of a case until one fails for certain; ``holds`` names the instance, ``undecided``: none was found."""

    case: Case
    tries: int = TRIES

    def __call__(self, seed: int = 0) -> Verdict:
        for index in range(self.tries):
            verdict = self.case(Random(f"{self.case.__name__} {seed} {index}"))
            if verdict.is_holds:
                return holds(f"found at draw {index + 1} of a random search: {verdict.reason}")
        return undecided(f"none of {self.tries} random instances fails")


def small(source: Random, low: int = -6, high: int = 6, parts: tuple[int, ...] = (1, 2, 4)) -> Fraction:
    """A small rational number that is not zero."""
    while True:
        value = Fraction(source.randint(low, high), source.choice(parts))
        if value:
            return value


def unit_vector(source: Random) -> tuple[Fraction, Fraction]:
    """A rational point of the circle off the axes."""
    t = Fraction(source.randint(1, 9), source.randint(10, 19)) * source.choice((1, -1))
    return (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)


def _diagonal(*entries: Any) -> list[list[str]]:
    return [[str(entry) if i == j else "0" for j in range(len(entries))] for i, entry in enumerate(entries)]


def _texts(*vectors: Any) -> list[list[str]]:
    return [[str(entry) for entry in vector] for vector in vectors]


def _classified(document: dict[str, Any]) -> Any:
    from eigentoken.theory.classification.classify import classify
    from eigentoken.theory.classification.instances import read_instance

    return classify(read_instance(document))


# -- maps ------------------------------------------------------------------------------------------------------------


def alignment_lost(source: Random) -> Verdict:
    """PM-E4, PM-E5 without a symmetric F: triangular F, ``|1 + alpha lambda_2| <= 1 + alpha lambda_1``, a common token."""
    top, low, off = abs(small(source)), small(source), small(source)
    alpha, x, y = abs(small(source)), small(source), small(source)
    if low >= top or abs(1 + alpha * low) > 1 + alpha * top:
        return fails("not dominated")
    after = (x + alpha * (top * x + off * y), y + alpha * low * y)
    if not any(after):
        return fails("the step is not defined")
    before, later = x**2 / (x**2 + y**2), after[0] ** 2 / (after[0] ** 2 + after[1] ** 2)
    if later < before:
        return holds(
            f"F = [[{top}, {off}], [0, {low}]], alpha = {alpha}, all tokens at ({x}, {y}): corr^2 with v_1 = e_1 falls from "
            f"{before} to {later}"
        )
    return fails("the correlation does not fall")


def _cycle(values: tuple[Fraction, ...], place: int, alpha: Fraction) -> Verdict:
    """Consensus on v_k is a 2-cycle, and one of its multipliers is not inside the unit circle, by PM-L3 exactly."""
    length = -(1 + alpha * values[place])
    if length <= 0:
        return fails("no 2-cycle")
    token = ["1" if each == place else "0" for each in range(len(values))]
    other = ["-1" if each == place else "0" for each in range(len(values))]
    document = instance("oja-map", [token] * 2, V=_diagonal(*values), alpha=str(alpha))
    sent = agree(image(document), [*other, *other])
    worst = max(abs(1 + alpha * each) / length for index, each in enumerate(values) if index != place)
    found = any(agree([each], [value]).is_holds for each in multipliers(document, -1) for value in (worst, -worst))
    if sent.is_holds and worst >= 1 and found:
        return holds(
            f"lambda = {list(map(str, values))}, k = {place + 1}, alpha = {alpha}: a multiplier of modulus {worst}"
        )
    return fails(f"the largest modulus is {worst}")


def cycle_below_the_threshold(source: Random) -> Verdict:
    """PM-N4 with ``alpha <= 2/(|lambda_d| - lambda_1)``: the 2-cycle on v_d does not attract."""
    top = abs(small(source))
    low = -top - abs(small(source))
    alpha = abs(small(source))
    return _cycle((top, low), 1, alpha) if alpha * (-low - top) < 2 else fails("beyond the threshold")


def cycle_on_a_middle_eigenvector(source: Random) -> Verdict:
    """PM-N4 with k < d."""
    top, middle = abs(small(source)), -abs(small(source))
    low, alpha = middle - abs(small(source)), abs(small(source))
    return _cycle((top, middle, low), 1, alpha) if alpha * (-low - top) > 2 else fails("below the threshold")


def cycle_on_a_repeated_eigenvalue(source: Random) -> Verdict:
    """PM-N4 with lambda_d not simple."""
    top, low, alpha = abs(small(source)), -abs(small(source)), abs(small(source))
    return _cycle((top, low, low), 2, alpha) if alpha * (-low - top) > 2 else fails("below the threshold")


def cycle_that_attracts(source: Random) -> Verdict:
    """PM-L4(b), PM-T1 with ``1 + alpha lambda_k < 0``: consensus on v_d is no fixed point, and its 2-cycle attracts."""
    top, low, alpha = abs(small(source)), -abs(small(source)), abs(small(source))
    if alpha * (-low - top) <= 2:
        return fails("below the threshold")
    document = instance("oja-map", [["0", "1"]] * 2, V=_diagonal(top, low), alpha=str(alpha))
    worst = max((1 + alpha * top) / -(1 + alpha * low), Fraction(1) / -(1 + alpha * low))
    if agree(image(document), ("0", "-1") * 2).is_holds and worst < 1:
        return holds(f"V = diag({top}, {low}), alpha = {alpha}: f(x) = -x at consensus on e_2, moduli at most {worst}")
    return fails(f"the largest modulus is {worst}")


def _antipodal(source: Random, system: str, p: int, q: int, score: Fraction) -> Verdict:
    w = unit_vector(source)
    value = [[str(small(source)), "1"], ["1", str(small(source))]]
    heights = [[entry * score for entry in row] for row in ((1, 0), (0, 1))]
    parameters: dict[str, Any] = {"V": value}
    if system.startswith("attention"):
        parameters["M"] = _texts(*heights)
    if system.endswith("map"):
        parameters["alpha"] = "1/10"
    tokens = _texts(*[w] * p, *[[-entry for entry in w]] * q)
    found = _classified(instance(system, tokens, **parameters))
    if found.equilibrium.is_fails:
        return holds(f"V = {value}, M = {score} I, {p} tokens at w = ({w[0]}, {w[1]}) and {q} at -w: no equilibrium")
    return fails("an equilibrium")


def antipodal_uneven(source: Random) -> Verdict:
    """PM-L8 with ``p != q``, w no eigenvector."""
    return _antipodal(source, "attention-map", *source.choice(((2, 1), (1, 2), (3, 1))), Fraction(0))


def antipodal_scored(source: Random) -> Verdict:
    """PM-L8 with ``w^T M w != 0``, half and half, w no eigenvector."""
    return _antipodal(source, "attention-map", 1, 1, small(source))


def antipodal_uneven_in_the_flow(source: Random) -> Verdict:
    """CT-1 with ``p != q``."""
    return _antipodal(source, source.choice(("oja-flow", "attention-flow")), 2, 1, Fraction(0))


def antipodal_scored_in_the_flow(source: Random) -> Verdict:
    """CT-1 with ``w^T M w != 0``."""
    return _antipodal(source, "attention-flow", 1, 1, small(source))


def kernel_without_sign(source: Random) -> Verdict:
    """PM-P1 with some ``c_i <= -1/alpha``: the kernel condition holds, and the state is sent to its negative."""
    top, low, alpha = abs(small(source)), -abs(small(source)), abs(small(source))
    if 1 + alpha * low >= 0:
        return fails("c_i > -1/alpha")
    document = instance(
        "attention-map",
        [["0", "1"]] * 2,
        V=_diagonal(top, low),
        M=_diagonal(small(source), small(source)),
        alpha=str(alpha),
    )
    if agree(image(document), ("0", "-1", "0", "-1")).is_holds:
        return holds(f"V = diag({top}, {low}), alpha = {alpha}, consensus on e_2, c_i = {low}: the image is -x")
    return fails("the state is fixed")


def _split(p: int, q: int, second: Fraction, ratio: Fraction) -> tuple[dict[str, Any], Fraction, Fraction, bool]:
    """V = diag(1, second), ``e^{2s} = ratio``, alpha = 1/2: the point on v_1, its heights, and whether the block is inside."""
    b1, b2 = (p * ratio - q) / (p * ratio + q), (q * ratio - p) / (q * ratio + p)
    entries = b1 - second * (1 + b1) / 2, b2 - second * (1 + b2) / 2
    inside = min(entries) > 0 and (1 - second) * (b1 * b2 - second * (b1 + b2) / 2) > 0
    document = instance(
        "attention-map",
        _texts(*[(1, 0)] * p, *[(-1, 0)] * q),
        V=_diagonal(1, second),
        M=[[f"1/2*ln({ratio})", "0"], ["0", "0"]],
        alpha="1/2",
    )
    return document, b1, b2, inside


def block_that_expands(source: Random) -> Verdict:
    """PM-T3 without ``|tr B| < 1 + det B``: ``alpha |V| < 1``, ``lambda_1 b_i > 0``, and the point is unstable."""
    second, ratio = Fraction(source.randint(1, 9), 10), Fraction(source.randint(11, 90), 10)
    document, b1, b2, inside = _split(*source.choice(((1, 1), (2, 2), (3, 2))), second, ratio)
    if inside or min(b1, b2) <= 0:
        return fails("not an instance")
    return point_is(document, "bipartite", stable="unstable")


def _side_that_expands(source: Random, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> Verdict:
    """``lambda_1 b_2 < 0`` for a side of two or more tokens, the block inside: the point, as it is changed, is unstable."""
    second, ratio = -Fraction(source.randint(5, 9), 10), Fraction(source.randint(21, 40), 20)
    document, _, b2, inside = _split(*source.choice(((3, 2), (4, 3), (5, 4))), second, ratio)
    if not inside or b2 >= 0:
        return fails("not an instance")
    return point_is(changed(document), "bipartite", stable="unstable")


def side_that_expands(source: Random) -> Verdict:
    """PM-T3 with ``lambda_1 b_2 < 0`` for a side of two tokens, the block inside: ``1/m_2 > 1``."""
    return _side_that_expands(source, lambda document: document)


def polygon_of_the_flow(source: Random) -> Verdict:
    """CT-4 for two tokens and ``V < 0`` on w^perp: no eigenvalue of the linearisation is positive."""
    w = unit_vector(source)
    top, low = abs(small(source)), -abs(small(source))
    if top * w[1] ** 2 + low * w[0] ** 2 >= 0:
        return fails("V is not negative on w^perp")
    document = instance("oja-flow", _texts(w, [-each for each in w]), V=_diagonal(top, low))
    return point_is(document, "polygonal", stable="marginal")


def map_beyond_the_flow(source: Random) -> Verdict:
    """CT-6 with ``alpha |V| >= 1``: a bipartite point, fixed for both, stable for the flow and unstable for the map."""
    value = (Fraction(1), -abs(small(source)))
    ratio, alpha = Fraction(source.randint(4, 9)), abs(small(source, parts=(1, 2)))
    tokens, score = _texts((1, 0), (-1, 0)), [[f"ln({ratio})", "0"], ["0", "0"]]
    map_point = instance("attention-map", tokens, V=_diagonal(*value), M=score, alpha=str(alpha))
    flow_point = instance("attention-flow", tokens, V=_diagonal(*value), M=score)
    flow = point_is(flow_point, "bipartite", stable="stable")
    mapped = point_is(map_point, "bipartite", stable="unstable")
    if flow.is_holds and mapped.is_holds and alpha * max(value[0], -value[1]) >= 1:
        return holds(
            f"V = diag(1, {value[1]}), e^s = {ratio}, alpha = {alpha}: stable for the flow, unstable for the map"
        )
    return fails("they agree")


def four_tokens_escape(source: Random) -> Verdict:
    """PM-CX1 with n = 4: a start near (v_1, v_1, -v_1, -v_1) with W < 0 leaves, by balls along the orbit.

    W = 0 at the nearby fixed points and W does not increase (PM-L7), so the orbit cannot return to them.
    """
    from eigentoken.proofs.properties.exact_points import observed
    from eigentoken.theory.language.observables import oja_potential

    t = Fraction(1, source.randint(12, 25))
    near = ((1 - t**2) / (1 + t**2), 2 * t / (1 + t**2))
    low = -Fraction(source.randint(2, 6), 10)
    tokens = _texts(near, (near[0], -near[1]), (-1, 0), (-1, 0))
    document = instance("oja-map", tokens, V=_diagonal(1, low), alpha="1/4")
    first, later = observed(oja_potential, document), observed(oja_potential, document, steps=60)
    if first < 0 and later < first:
        return holds(
            f"V = diag(1, {low}), alpha = 1/4, tokens at angles +-{float(2 * t):.3f}, pi, pi: W = {first.str(6)} < 0 at the "
            f"start, {later.str(6)} after 60 steps, while W = 0 at the fixed points near by"
        )
    return fails(f"W = {first.str(6)}")
