"""Re-check of ``eigentoken/chance``: statistics, draws, p-values and their correction found again by other formulas.

These are measurements in floats, and so is the re-check: the statistics are taken from the whole matrix ``M = L^T R`` in place of
its factors, the draws of a null are made again from the seed (the stream of ``numpy.random.default_rng([seed, r, d])``, normal
arrays (2, draws, r, d) in batches of 4,000,000 entries a factor), frames by Cholesky factors of Gram matrices in place of QR.
Matrices with random bases are written in the basis of the other frame, and their distance to I is a singular value.
A number may differ by :data:`NEAR` of itself; a p-value must be one that the draws give to a value so near.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.shown import Shown
from eigentoken.numerics.recheck.layers.chance_nulls import (
    WIDEST,
    WIDEST_SYMMETRIC,
    DrawsAgain,
    again_eigenvalues,
    growths,
    leads_growth,
    real_leads,
    statistics,
)
from eigentoken.numerics.recheck.layers.chance_turns import Turned, TurnedDraws, changes

__all__ = ["corrections", "recheck_chance"]

Floats = NDArray[np.float64]
Heads = Sequence[Mapping[str, Any]]
NEAR, NEAR_FRAMES = 1e-7, 1e-5
FEWEST, NOT_OF_SCORES = 10, ("gap", "alpha*", "distance to I", "growth")
GAUSSIAN, BASES = "gaussian factors", "random bases"
SHARES = tuple(
    f"{what} led by a real eigenvalue{order}"
    for what in ("heads", "layers")
    for order in ("", " by modulus", " by |1 + lambda|")
)


@dataclass(frozen=True)
class _Led:
    """Whether a real eigenvalue leads the values in three orders, of which shape they are, and their scale."""

    real: tuple[bool, bool, bool]
    shape: tuple[int, int, bool]
    scale: float


@dataclass(frozen=True)
class _Asked:
    """One matrix ``L^T R`` that is tested: factors (r, d)."""

    layer: int
    head: int | None
    part: str
    left: Floats
    right: Floats
    turned: Turned | None = None

    @property
    def scale(self) -> float:
        """``|L|_F |R|_F`` over the number of rows."""
        return math.sqrt(float((self.left**2).sum()) * float((self.right**2).sum())) / len(self.left)

    @property
    def shape(self) -> tuple[int, int, bool]:
        return int(self.left.shape[0]), int(self.left.shape[1]), self.head is None


def recheck_chance(document: Mapping[str, Json], layers: Sequence[int], heads_of: Callable[[int], Heads]) -> Shown:
    """``layers``: those with weights of their own; ``heads_of(layer)``: ``Q, K, V, O``, ``kv``, whose values a head has,
    and ``turned``: the first and second coordinates that rotary positions turn, with their frequencies, or ``None``."""
    shown, options = Shown(document), document["options"]
    shown.cover(("schema",))
    if options["layer_draws"] != options["draws"] // 10:
        shown.fails(("options", "layer_draws"), "a layer gets a tenth of the draws of a head")
    shown.cover(("options", "draws"), ("options", "seed"), ("options", "layer_draws"))
    nulls: dict[tuple[int, int, bool], DrawsAgain] = {}
    turns = TurnedDraws({})
    found: list[tuple[dict[str, Any], _Held]] = []
    led: list[_Led] = []
    for asked in (each for layer in layers for each in _matrices(layer, heads_of(layer))):
        if asked.shape not in nulls:
            draws = options["layer_draws"] if asked.head is None else options["draws"]
            nulls[asked.shape] = DrawsAgain.made(*asked.shape, draws, options["seed"])
        held = list(
            _tests(
                asked, nulls[asked.shape], turns.of(*asked.shape[:2], asked.turned, options["seed"], options["draws"])
            )
        )
        found += held
        if held and asked.part == "values" and min(asked.left.shape) <= WIDEST:
            values = again_eigenvalues(asked.left[None], asked.right[None])
            real = real_leads(values)[0]
            leads = bool(real[0]), bool(real[1]), bool(leads_growth(values)[0])
            led.append(_Led(leads, asked.shape, asked.scale))
    _compare_tests(shown, found)
    corrections(shown, ("tests",), document["tests"])
    _shares(shown, document["shares"], led, nulls)
    return shown


def _matrices(layer: int, heads: Heads) -> Iterator[_Asked]:
    """Scores and values of each head, then S and F: heads that share keys and values act by the sum of queries and outputs."""
    sums: dict[tuple[str, int], Floats] = {}
    shared: dict[tuple[str, int], Floats] = {}
    for number, head in enumerate(heads):
        Q, K, V, O = (np.asarray(head[name], dtype=np.float64) for name in "QKVO")
        yield _Asked(layer, number, "scores", Q, K, head["turned"])
        yield _Asked(layer, number, "values", O.T, V)
        for part, own, other in (("scores", Q, K), ("values", O.T, V)):
            key = part, head["kv"]
            sums[key] = sums.get(key, np.zeros_like(own)) + own
            shared[key] = other
    for part in ("scores", "values"):
        left = np.concatenate([each for key, each in sums.items() if key[0] == part])
        yield _Asked(layer, None, part, left, np.concatenate([each for key, each in shared.items() if key[0] == part]))


# -- tests -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Held:
    """One value against its draws, known to ``near`` of 1."""

    value: float
    draws: Floats
    near: float

    def slip(self) -> float:
        return self.near * max(1.0, abs(self.value))

    def p_values(self) -> tuple[float, float]:
        """The smallest and the largest two-sided p-value of a value so near."""
        return self._p_value(-self.slip()), self._p_value(self.slip())

    def _p_value(self, slip: float) -> float:
        below, above = self.draws <= self.value + slip, self.draws >= self.value - slip
        return min(1.0, 2 * (1 + int(min(below.sum(), above.sum()))) / (len(self.draws) + 1))


def _tests(
    asked: _Asked, null: DrawsAgain, turns: Mapping[str, Floats] | None
) -> Iterator[tuple[dict[str, Any], _Held]]:
    if not (asked.left.any() and asked.right.any()):
        return
    values = {name: float(each[0]) for name, each in statistics(asked.left[None], asked.right[None]).items()}
    if not np.isfinite(values["trace"]):
        return
    where = {"layer": asked.layer, "head": asked.head, "part": asked.part}
    scores = asked.part == "scores"
    known = [name for name, each in values.items() if np.isfinite(each) and not (scores and name in NOT_OF_SCORES)]

    def held(null_name: str, near: float, drawn: Mapping[str, Floats]) -> Iterator[tuple[dict[str, Any], _Held]]:
        for name in (each for each in drawn if each in known):
            defined = drawn[name][np.isfinite(drawn[name])]
            if len(defined) >= FEWEST:
                yield (
                    {**where, "statistic": name, "null": null_name, "draws": len(defined)},
                    _Held(values[name], defined, near),
                )

    gaussian, d = dict(null.gaussian), asked.left.shape[1]
    if not scores:
        gaussian |= null.of_scale(asked.scale)
        if min(asked.left.shape) <= WIDEST:
            values["growth"] = float(growths(again_eigenvalues(asked.left[None], asked.right[None]), d)[0])
        if min(asked.left.shape) <= WIDEST and min(d, 2 * len(asked.left)) <= WIDEST_SYMMETRIC:
            values["distance to I"] = float(np.linalg.norm(np.eye(d) - asked.left.T @ asked.right, 2))
        known += [name for name in ("distance to I", "growth") if name in values]
    # both numbers of a scale come from frames in single precision
    plain = {name: each for name, each in gaussian.items() if name != "distance to I"}
    for name in gaussian:
        near = NEAR if name in plain else NEAR_FRAMES
        yield from held(GAUSSIAN, near, {name: gaussian[name]})
    if len(null.frames):
        whole = np.linalg.svd(asked.left.T @ asked.right, compute_uv=False)
        singular = np.asarray(whole[: null.frames.shape[-1]], dtype=np.float64)
        yield from held(BASES, NEAR_FRAMES, null.with_bases(singular, d, not scores))
    if turns is not None and asked.turned is not None:
        values = {
            name: float(each[0]) for name, each in changes(asked.left[None], asked.right[None], asked.turned).items()
        }
        known = [name for name, each in values.items() if np.isfinite(each)]
        yield from held(GAUSSIAN, NEAR, turns)


def _compare_tests(shown: Shown, found: Sequence[tuple[dict[str, Any], _Held]]) -> None:
    stated = shown.document["tests"]
    if len(stated) != len(found):
        shown.fails(("tests",), f"{len(stated)} tests are stated, the weights give {len(found)}")
        return
    for place, (each, (where, held)) in enumerate(zip(stated, found, strict=True)):
        path = ("tests", place)
        for name, value in where.items():
            shown.same((*path, name), value)
        mean, deviation = float(held.draws.mean()), float(held.draws.std())
        z = (held.value - mean) / deviation if deviation > 0 else 0.0
        for name, value, size in (
            ("value", held.value, 1.0),
            ("mean", mean, 1.0),
            ("deviation", deviation, 1.0),
            ("z", z, max(1.0, abs(z), 1.0 / deviation if deviation > 0 else 1.0)),
        ):
            shown.cover((*path, name))
            if not abs(each[name] - value) <= 10 * held.slip() * size:
                shown.fails((*path, name), f"{each[name]!r} is stated, {value!r} is found")
        least, most = held.p_values()
        shown.cover((*path, "p"))
        if not least * (1 - NEAR) <= each["p"] <= most * (1 + NEAR):
            shown.fails((*path, "p"), f"{each['p']!r} is stated, the draws give {most!r}")


def corrections(shown: Shown, where: tuple[str, ...], tests: Sequence[Mapping[str, Json]]) -> None:
    """Benjamini and Hochberg over the stated p-values: ``q_i = min over p_j >= p_i of p_j m / #{p <= p_j}``.

    A family is a null of heads or of layers; tests of fewer than 40 draws, whose p-values are 0.05 or more, are another.
    """
    families: dict[tuple[str, bool, bool], list[int]] = {}
    for place, each in enumerate(tests):
        families.setdefault((each["null"], each["head"] is None, each["draws"] < 40), []).append(place)
    for places in families.values():
        p = np.array([tests[place]["p"] for place in places], dtype=np.float64)
        values, counts = np.unique(p, return_counts=True)
        scaled = np.minimum(1.0, values * len(p) / np.cumsum(counts))
        q = dict(zip(values.tolist(), np.minimum.accumulate(scaled[::-1])[::-1].tolist(), strict=True))
        for place in places:
            shown.cover((*where, place, "q"))
            wanted = q[tests[place]["p"]]
            if not math.isclose(tests[place]["q"], wanted, rel_tol=NEAR):
                shown.fails((*where, place, "q"), f"{tests[place]['q']!r} is stated, the p-values give {wanted!r}")


def _shares(
    shown: Shown,
    stated: Sequence[Mapping[str, Any]],
    led: Sequence[_Led],
    nulls: Mapping[tuple[int, int, bool], DrawsAgain],
) -> None:
    """Heads, and layers, of the shape of the first one that are led by a real eigenvalue, against the share of the draws."""
    groups = [of for whole in (False, True) if (of := [each for each in led if each.shape[2] == whole])]
    if len(stated) != 3 * len(groups):
        shown.fails(("shares",), f"{len(stated)} shares are stated, the weights give {3 * len(groups)}")
        return
    if not stated:
        shown.cover(("shares",))
    for place, each in enumerate(stated):
        of, order = groups[place // 3], place % 3
        same = [one for one in of if one.shape == of[0].shape]
        alike, null = [one.real[order] for one in same], nulls[of[0].shape]
        shown.same(("shares", place, "what"), SHARES[3 * of[0].shape[2] + order])
        shown.same(("shares", place, "met"), sum(alike))
        shown.same(("shares", place, "of"), len(alike))
        shown.cover(("shares", place, "chance"), ("shares", place, "p"))
        if order < 2:
            counts = [int(null.real[:, order].sum())] * len(same)
        else:
            counts = [int(leads_growth(one.scale * null.spectra).sum()) for one in same]
        many = len(null.real)
        chance = sum(counts) / (many * len(counts))
        if not math.isclose(each["chance"], chance, rel_tol=NEAR):
            shown.fails(("shares", place, "chance"), f"{each['chance']!r} is stated, the draws give {chance!r}")
        chances = [(1 + count) / (many + 2) for count in counts]
        p = _binomial(sum(alike), len(alike), chances[0]) if order < 2 else _of_unlike(sum(alike), chances)
        if not math.isclose(each["p"], p, rel_tol=1e-6):
            shown.fails(("shares", place, "p"), f"{each['p']!r} is stated, the shares give {p!r}")


def _of_unlike(met: int, chances: Sequence[float]) -> float:
    """The same where each has its own chance: the law by the discrete Fourier transform of its characteristic function."""
    turns = np.exp(2j * np.pi * np.arange(len(chances) + 1) / (len(chances) + 1))
    characteristic = np.prod([1 - chance + chance * turns for chance in chances], axis=0)
    law = np.maximum(np.fft.fft(characteristic).real / len(turns), 0.0)
    return min(1.0, math.fsum(law[law <= law[met] * (1 + 1e-7)].tolist()))


def _binomial(met: int, of: int, chance: float) -> float:
    """Two-sided and exact: the probability of all counts that are no likelier than this one."""

    def log(k: int) -> float:
        ways = math.lgamma(of + 1) - math.lgamma(k + 1) - math.lgamma(of - k + 1)
        return ways + k * math.log(chance) + (of - k) * math.log1p(-chance)

    return min(1.0, math.fsum(math.exp(log(k)) for k in range(of + 1) if log(k) <= log(met) + 1e-7))
