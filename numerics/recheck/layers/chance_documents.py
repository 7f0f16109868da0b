"""Re-check of ``eigentoken/chance``: statistics, draws, p-values and their correction found again by other formulas.

These are measurements in floats, and so is the re-check: the statistics are taken from the whole matrix ``M = L^T R`` in place of
its factors, the draws of a null are made again from the seed (the stream of ``numpy.random.default_rng([seed, r, d])``, normal
arrays (2, draws, r, d) in batches of 4,000,000 entries a factor), frames by Cholesky factors of Gram matrices in place of QR.
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

__all__ = ["recheck_chance"]

Floats = NDArray[np.float64]
Heads = Sequence[Mapping[str, Any]]
NEAR, NEAR_FRAMES = 1e-7, 1e-5
WIDEST, WIDEST_SYMMETRIC, WIDEST_OF_BASES = 384, 640, 32
FEWEST, NOT_OF_SCORES = 10, ("gap", "alpha*")
GAUSSIAN, BASES = "gaussian factors", "random bases"
SHARES = tuple(
    f"{what} led by a real eigenvalue{order}" for what in ("heads", "layers") for order in ("", " by modulus")
)


@dataclass(frozen=True)
class _Led:
    """Whether a real eigenvalue leads the values by real part and by modulus, and of which shape they are."""

    real: tuple[bool, bool]
    shape: tuple[int, int, bool]


@dataclass(frozen=True)
class _Asked:
    """One matrix ``L^T R`` that is tested: factors (r, d)."""

    layer: int
    head: int | None
    part: str
    left: Floats
    right: Floats

    @property
    def shape(self) -> tuple[int, int, bool]:
        return int(self.left.shape[0]), int(self.left.shape[1]), self.head is None


def recheck_chance(document: Mapping[str, Json], layers: Sequence[int], heads_of: Callable[[int], Heads]) -> Shown:
    """``layers``: those with weights of their own; ``heads_of(layer)``: ``Q, K, V, O`` and ``kv``, whose values a head has."""
    shown, options = Shown(document), document["options"]
    shown.cover(("schema",))
    if options["layer_draws"] != options["draws"] // 10:
        shown.fails(("options", "layer_draws"), "a layer gets a tenth of the draws of a head")
    shown.cover(("options", "draws"), ("options", "seed"), ("options", "layer_draws"))
    nulls: dict[tuple[int, int, bool], _Draws] = {}
    found: list[tuple[dict[str, Any], _Held]] = []
    led: list[_Led] = []
    for asked in (each for layer in layers for each in _matrices(layer, heads_of(layer))):
        if asked.shape not in nulls:
            draws = options["layer_draws"] if asked.head is None else options["draws"]
            nulls[asked.shape] = _Draws.made(*asked.shape, draws, options["seed"])
        held = list(_tests(asked, nulls[asked.shape]))
        found += held
        if held and asked.part == "values" and min(asked.left.shape) <= WIDEST:
            real = _real_leads(_eigenvalues(asked.left[None], asked.right[None]))[0]
            led.append(_Led((bool(real[0]), bool(real[1])), asked.shape))
    _compare_tests(shown, found)
    _corrections(shown, document["tests"])
    _shares(shown, document["shares"], led, nulls)
    return shown


def _matrices(layer: int, heads: Heads) -> Iterator[_Asked]:
    """Scores and values of each head, then S and F: heads that share keys and values act by the sum of queries and outputs."""
    sums: dict[tuple[str, int], Floats] = {}
    shared: dict[tuple[str, int], Floats] = {}
    for number, head in enumerate(heads):
        Q, K, V, O = (np.asarray(head[name], dtype=np.float64) for name in "QKVO")
        yield _Asked(layer, number, "scores", Q, K)
        yield _Asked(layer, number, "values", O.T, V)
        for part, own, other in (("scores", Q, K), ("values", O.T, V)):
            key = part, head["kv"]
            sums[key] = sums.get(key, np.zeros_like(own)) + own
            shared[key] = other
    for part in ("scores", "values"):
        left = np.concatenate([each for key, each in sums.items() if key[0] == part])
        yield _Asked(layer, None, part, left, np.concatenate([each for key, each in shared.items() if key[0] == part]))


# -- statistics and draws ----------------------------------------------------------------------------------------------------


def _small(left: Floats, right: Floats) -> Floats:
    """The smaller of ``R L^T`` and ``L^T R``, turned: the same nonzero eigenvalues."""
    wide = left.shape[-2] > left.shape[-1]
    return right.swapaxes(-1, -2) @ left if wide else left @ right.swapaxes(-1, -2)


def _eigenvalues(left: Floats, right: Floats) -> NDArray[np.complex128]:
    return np.asarray(np.linalg.eigvals(_small(left, right)), dtype=np.complex128)


def _statistics(left: Floats, right: Floats) -> dict[str, Floats]:
    """Of ``M = L^T R`` for a batch of factors (N, r, d), from traces of products of Gram matrices.

    ``|M|_F^2 = tr(L L^T R R^T)``, ``tr M = tr(L R^T)``, ``|M - M^T|_F^2 = 2 (|M|_F^2 - tr M^2)``.
    """
    rank = min(left.shape[-2:])
    cross = left @ right.swapaxes(-1, -2)
    grams = [each @ each.swapaxes(-1, -2) for each in (left, right)]
    squares = np.einsum("nij,nij->n", *grams)
    skew = 2 * (squares - np.einsum("nij,nji->n", cross, cross))
    largest = _largest_square(*grams)
    with np.errstate(all="ignore"):
        found = {
            "trace": np.trace(cross, axis1=-2, axis2=-1) / np.sqrt(rank * squares),
            "asymmetry": np.sqrt(np.maximum(skew, 0.0) / (4 * squares)),
            "stable rank": squares / (rank * largest),
        }
        if min(left.shape[-1], 2 * left.shape[-2]) <= WIDEST_SYMMETRIC:
            found |= _symmetric(left, right, np.sqrt(largest))
        sizes = np.trace(grams[0], axis1=-2, axis2=-1) * np.trace(grams[1], axis1=-2, axis2=-1)
        found["norm"] = left.shape[-2] * np.sqrt(largest / sizes)
        if rank <= WIDEST:
            found |= _spectral(_small(left, right), np.sqrt(largest), left.shape[-1])
    return found


def _spectral(cores: Floats, norms: Floats, d: int) -> dict[str, Floats]:
    """Leader, gap and alpha* of d x d matrices whose eigenvalues are those of the cores, and zeros.

    ``alpha* = min 2 (l - Re z) / (|z|^2 - l^2)`` over the eigenvalues z with ``|z| > l``, l the leader, real and positive.
    """
    values = np.asarray(np.linalg.eigvals(cores), dtype=np.complex128)
    real, kernel = values.real, np.zeros((len(values), d - values.shape[-1]))
    down = -np.sort(-np.hstack([real, kernel]), axis=-1)
    top = down[:, :1]
    with np.errstate(all="ignore"):
        excess = values.real**2 + values.imag**2 - top**2
        steps = np.where(excess > 0, 2 * (top - real) / excess, np.inf).min(axis=-1) * norms
        share = np.where(np.isinf(steps), 1.0, steps / (1 + steps))
        return {
            "leader": real.max(axis=-1) / np.abs(values).max(axis=-1),
            "gap": (down[:, 0] - down[:, 1]) / norms if d > 1 else np.full(len(values), np.nan),
            "alpha*": np.where(_real_leads(values)[:, 0] & (down[:, 0] > 0), share, np.nan),
        }


def _symmetric(left: Floats, right: Floats, norms: Floats) -> dict[str, Floats]:
    """Ends of ``(M + M^T) / 2`` over the norm, and where it is no low-rank matrix the share of positive eigenvalues.

    ``M + M^T = Z^T J Z`` for ``Z = [L; R]``, J exchanging the halves: the eigenvalues of ``X^T J X`` where ``X X^T = Z Z^T``; of
    few columns ``((L + R)^T (L + R) - (L - R)^T (L - R)) / 2``.
    """
    rows, d = left.shape[-2:]
    if d < 2 * rows:
        both, apart = left + right, left - right
        values = np.linalg.eigvalsh(both.swapaxes(-1, -2) @ both - apart.swapaxes(-1, -2) @ apart) / 4
        return {"positive share": _positive(values)} | _at_ends(values, norms, d)
    stacked = np.concatenate([left, right], axis=-2)
    return _at_ends(_exchanged(stacked @ stacked.swapaxes(-1, -2)), norms, d)


def _exchanged(gram: Floats) -> Floats:
    """Eigenvalues of ``X^T J X / 2`` for ``X X^T`` the Gram matrix."""
    values, vectors = np.linalg.eigh(gram)
    root = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
    half = gram.shape[-1] // 2
    swapped = np.concatenate([root[..., half:, :], root[..., :half, :]], axis=-2)
    made = root.swapaxes(-1, -2) @ swapped
    return np.asarray(np.linalg.eigvalsh(made + made.swapaxes(-1, -2)) / 4)


def _at_ends(values: Floats, norms: Floats, d: int) -> dict[str, Floats]:
    """The largest and the smallest, with the zeros of a kernel."""
    zero = [np.zeros((*values.shape[:-1], 1))] if values.shape[-1] < d else []
    every = np.concatenate([values, *zero], axis=-1)
    with np.errstate(all="ignore"):
        return {"top of sym": every.max(axis=-1) / norms, "bottom of sym": every.min(axis=-1) / norms}


def _positive(values: Floats) -> Floats:
    """The share of positive eigenvalues among those that are not zero."""
    least = 1e-9 * np.abs(values).max(axis=-1, keepdims=True)
    up, down = (values > least).sum(axis=-1), (values < -least).sum(axis=-1)
    return np.asarray(up / (up + down))


def _largest_square(first: Floats, second: Floats) -> Floats:
    """``|M|^2``, the largest eigenvalue of ``A^(1/2) B A^(1/2)`` for the Gram matrices A, B of the factors."""
    values, vectors = np.linalg.eigh(first)
    root = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
    return np.asarray(np.linalg.eigvalsh(root.swapaxes(-1, -2) @ second @ root)[..., -1])


def _real_leads(values: NDArray[np.complex128]) -> NDArray[np.bool_]:
    """For each row of eigenvalues: by real part, by modulus."""
    rows, sizes = np.arange(len(values)), np.abs(values)
    firsts = [values[rows, np.argmax(by, axis=-1)] for by in (values.real, sizes)]
    return np.stack([np.abs(first.imag) <= 1e-12 * sizes.max(axis=-1) for first in firsts], axis=-1)


@dataclass(frozen=True)
class _Draws:
    """What random weights of one shape give."""

    gaussian: dict[str, Floats]
    real: NDArray[np.bool_]
    frames: Floats

    @classmethod
    def made(cls, width: int, d: int, whole: bool, draws: int, seed: int) -> _Draws:
        source = np.random.default_rng([seed, width, d])
        batch = max(1, min(draws, 4_000_000 // (width * d)))
        found: dict[str, list[Floats]] = {}
        real, frames = [], []
        for start in range(0, draws, batch):
            left, right = source.standard_normal((2, min(batch, draws - start), width, d))
            for name, values in _statistics(left, right).items():
                found.setdefault(name, []).append(values)
            if min(width, d) <= WIDEST:
                real.append(_real_leads(_eigenvalues(left, right)))
            if not whole:
                frames.append(_between(left[:, :d], right[:, :d]))
        return cls(
            {name: np.concatenate(each) for name, each in found.items()},
            np.concatenate(real) if real else np.zeros((0, 2), dtype=bool),
            np.concatenate(frames).astype(np.float32).astype(np.float64) if frames else np.zeros((0, width, width)),
        )

    def with_bases(self, s: Floats, d: int, spectra: bool) -> dict[str, Floats]:
        """Trace and asymmetry of ``A diag(s) B^T``: sums over the entries of ``B^T A``; spectra of ``diag(s) B^T A`` turned."""
        total = float(s @ s)
        trace = np.einsum("nii,i->n", self.frames, s) / math.sqrt(len(s) * total)
        square = np.einsum("nij,nji,i,j->n", self.frames, self.frames, s, s, optimize=True)
        found = {"trace": trace, "asymmetry": np.sqrt(np.maximum(0.0, (1 - square / total) / 2))}
        if spectra and len(s) <= WIDEST_OF_BASES:
            found |= _spectral(self.frames.swapaxes(-1, -2) * s, np.full(len(trace), s[0]), d)
        return found


def _between(left: Floats, right: Floats) -> Floats:
    """``B^T A`` of the frames that Gram and Schmidt make of the rows: ``A = L^T C^-T`` with ``C C^T = L L^T``."""
    lower = [np.linalg.cholesky(each @ each.swapaxes(-1, -2)) for each in (left, right)]
    half = np.linalg.solve(lower[1], right @ left.swapaxes(-1, -2))
    return np.asarray(np.linalg.solve(lower[0], half.swapaxes(-1, -2)).swapaxes(-1, -2))


# -- tests -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Held:
    """One value against its draws, known to ``near`` of 1."""

    value: float
    draws: Floats
    near: float

    def p_values(self) -> tuple[float, float]:
        """The smallest and the largest two-sided p-value of a value so near."""
        return self._p_value(-self.near), self._p_value(self.near)

    def _p_value(self, slip: float) -> float:
        below, above = self.draws <= self.value + slip, self.draws >= self.value - slip
        return min(1.0, 2 * (1 + int(min(below.sum(), above.sum()))) / (len(self.draws) + 1))


def _tests(asked: _Asked, null: _Draws) -> Iterator[tuple[dict[str, Any], _Held]]:
    if not (asked.left.any() and asked.right.any()):
        return
    values = {name: float(each[0]) for name, each in _statistics(asked.left[None], asked.right[None]).items()}
    if not np.isfinite(values["trace"]):
        return
    where = {"layer": asked.layer, "head": asked.head, "part": asked.part}
    scores = asked.part == "scores"
    known = [name for name, each in values.items() if np.isfinite(each) and not (scores and name in NOT_OF_SCORES)]

    def held(null_name: str, near: float, drawn: Mapping[str, Floats]) -> Iterator[tuple[dict[str, Any], _Held]]:
        for name in (each for each in drawn if each in known):
            defined = drawn[name][np.isfinite(drawn[name])]
            if len(defined) >= FEWEST:
                yield {**where, "statistic": name, "null": null_name}, _Held(values[name], defined, near)

    yield from held(GAUSSIAN, NEAR, null.gaussian)
    if len(null.frames):
        whole = np.linalg.svd(asked.left.T @ asked.right, compute_uv=False)
        singular = np.asarray(whole[: null.frames.shape[-1]], dtype=np.float64)
        yield from held(BASES, NEAR_FRAMES, null.with_bases(singular, asked.left.shape[1], not scores))


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
            if not abs(each[name] - value) <= 10 * held.near * size:
                shown.fails((*path, name), f"{each[name]!r} is stated, {value!r} is found")
        least, most = held.p_values()
        shown.cover((*path, "p"))
        if not least * (1 - NEAR) <= each["p"] <= most * (1 + NEAR):
            shown.fails((*path, "p"), f"{each['p']!r} is stated, the draws give {most!r}")


def _corrections(shown: Shown, tests: Sequence[Mapping[str, Any]]) -> None:
    """Benjamini and Hochberg over the stated p-values: ``q_i = min over p_j >= p_i of p_j m / #{p <= p_j}``."""
    families: dict[tuple[str, bool], list[int]] = {}
    for place, each in enumerate(tests):
        families.setdefault((each["null"], each["head"] is None), []).append(place)
    for places in families.values():
        p = np.array([tests[place]["p"] for place in places], dtype=np.float64)
        values, counts = np.unique(p, return_counts=True)
        scaled = np.minimum(1.0, values * len(p) / np.cumsum(counts))
        q = dict(zip(values.tolist(), np.minimum.accumulate(scaled[::-1])[::-1].tolist(), strict=True))
        for place in places:
            shown.cover(("tests", place, "q"))
            wanted = q[tests[place]["p"]]
            if not math.isclose(tests[place]["q"], wanted, rel_tol=NEAR):
                shown.fails(("tests", place, "q"), f"{tests[place]['q']!r} is stated, the p-values give {wanted!r}")


def _shares(
    shown: Shown,
    stated: Sequence[Mapping[str, Any]],
    led: Sequence[_Led],
    nulls: Mapping[tuple[int, int, bool], _Draws],
) -> None:
    """Heads, and layers, of the shape of the first one that are led by a real eigenvalue, against the share of the draws."""
    groups = [of for whole in (False, True) if (of := [each for each in led if each.shape[2] == whole])]
    if len(stated) != 2 * len(groups):
        shown.fails(("shares",), f"{len(stated)} shares are stated, the weights give {2 * len(groups)}")
        return
    if not stated:
        shown.cover(("shares",))
    for place, each in enumerate(stated):
        of, order = groups[place // 2], place % 2
        alike = [one.real[order] for one in of if one.shape == of[0].shape]
        draws = nulls[of[0].shape].real[:, order]
        shown.same(("shares", place, "what"), SHARES[2 * of[0].shape[2] + order])
        shown.same(("shares", place, "met"), sum(alike))
        shown.same(("shares", place, "of"), len(alike))
        shown.cover(("shares", place, "chance"), ("shares", place, "p"))
        count = int(draws.sum())
        if not math.isclose(each["chance"], count / len(draws), rel_tol=NEAR):
            said = f"{each['chance']!r} is stated, the draws give {count / len(draws)!r}"
            shown.fails(("shares", place, "chance"), said)
        p = _binomial(sum(alike), len(alike), (1 + count) / (len(draws) + 2))
        if not math.isclose(each["p"], p, rel_tol=1e-6):
            shown.fails(("shares", place, "p"), f"{each['p']!r} is stated, the shares give {p!r}")


def _binomial(met: int, of: int, chance: float) -> float:
    """Two-sided and exact: the probability of all counts that are no likelier than this one."""

    def log(k: int) -> float:
        ways = math.lgamma(of + 1) - math.lgamma(k + 1) - math.lgamma(of - k + 1)
        return ways + k * math.log(chance) + (of - k) * math.log1p(-chance)

    return min(1.0, math.fsum(math.exp(log(k)) for k in range(of + 1) if log(k) <= log(met) + 1e-7))
