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
from eigentoken.numerics.recheck.layers.chance_turns import Turned, TurnedDraws, changes, largest_square

__all__ = ["corrections", "recheck_chance"]

Floats = NDArray[np.float64]
Heads = Sequence[Mapping[str, Any]]
NEAR, NEAR_FRAMES = 1e-7, 1e-5
WIDEST, WIDEST_SYMMETRIC = 384, 640
#: The widths of random bases, of heads and of layers.
WIDEST_OF_BASES, WIDEST_TURNED = (32, 64), (32, 256)
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
    nulls: dict[tuple[int, int, bool], _Draws] = {}
    turns = TurnedDraws({})
    found: list[tuple[dict[str, Any], _Held]] = []
    led: list[_Led] = []
    for asked in (each for layer in layers for each in _matrices(layer, heads_of(layer))):
        if asked.shape not in nulls:
            draws = options["layer_draws"] if asked.head is None else options["draws"]
            nulls[asked.shape] = _Draws.made(*asked.shape, draws, options["seed"])
        held = list(
            _tests(
                asked, nulls[asked.shape], turns.of(*asked.shape[:2], asked.turned, options["seed"], options["draws"])
            )
        )
        found += held
        if held and asked.part == "values" and min(asked.left.shape) <= WIDEST:
            values = _eigenvalues(asked.left[None], asked.right[None])
            real = _real_leads(values)[0]
            leads = bool(real[0]), bool(real[1]), bool(_leads_growth(values)[0])
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
    largest = largest_square(*grams)
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


def _real_leads(values: NDArray[np.complex128]) -> NDArray[np.bool_]:
    """For each row of eigenvalues: by real part, by modulus."""
    rows, sizes = np.arange(len(values)), np.abs(values)
    firsts = [values[rows, np.argmax(by, axis=-1)] for by in (values.real, sizes)]
    return np.stack([np.abs(first.imag) <= 1e-12 * sizes.max(axis=-1) for first in firsts], axis=-1)


def _leads_growth(values: NDArray[np.complex128]) -> NDArray[np.bool_]:
    """For each row of eigenvalues: by ``|1 + lambda|``."""
    sizes = (1 + values.real) ** 2 + values.imag**2
    first = values[np.arange(len(values)), np.argmax(sizes, axis=-1)]
    return np.asarray(np.abs(first.imag) <= 1e-12 * np.abs(values).max(axis=-1))


def _growths(values: NDArray[np.complex128], d: int) -> Floats:
    """The largest ``|1 + lambda|`` of d x d matrices with these eigenvalues and zeros."""
    found = np.sqrt(((1 + values.real) ** 2 + values.imag**2).max(axis=-1))
    return np.asarray(found if values.shape[-1] == d else np.maximum(found, 1.0))


@dataclass(frozen=True)
class _Draws:
    """What random weights of one shape give: eigenvalues and singular values are of draws of scale 1."""

    shape: tuple[int, int, bool]
    gaussian: dict[str, Floats]
    real: NDArray[np.bool_]
    frames: Floats
    spectra: NDArray[np.complex128]
    sizes: Floats

    @classmethod
    def made(cls, width: int, d: int, whole: bool, draws: int, seed: int) -> _Draws:
        source = np.random.default_rng([seed, width, d])
        batch = max(1, min(draws, 4_000_000 // (width * d)))
        found: dict[str, list[Floats]] = {}
        real, frames, spectra, sizes = [], [], [], []
        framed = not whole or min(width, d) <= WIDEST_TURNED[whole]
        for start in range(0, draws, batch):
            left, right = source.standard_normal((2, min(batch, draws - start), width, d))
            for name, values in _statistics(left, right).items():
                found.setdefault(name, []).append(values)
            scales = np.linalg.norm(left, axis=(1, 2)) * np.linalg.norm(right, axis=(1, 2)) / width
            if min(width, d) <= WIDEST:
                roots = _eigenvalues(left, right)
                real.append(_real_leads(roots))
                spectra.append(roots / scales[:, None])
            if framed:
                frames.append(_between(left[:, :d], right[:, :d]))
                sizes.append(_singular(left, right) / scales[:, None])
        rank = min(width, d)
        return cls(
            (width, d, whole),
            {name: np.concatenate(each) for name, each in found.items()},
            np.concatenate(real) if real else np.zeros((0, 2), dtype=bool),
            np.concatenate(frames).astype(np.float32).astype(np.float64) if frames else np.zeros((0, rank, rank)),
            np.concatenate(spectra) if spectra else np.zeros((0, rank), dtype=np.complex128),
            np.concatenate(sizes) if sizes else np.zeros((0, rank)),
        )

    def of_scale(self, scale: float) -> dict[str, Floats]:
        """Distance to I and growth of Gaussian draws of this scale."""
        _width, d, whole = self.shape
        found = {}
        if len(self.frames) and self.frames.shape[-1] <= WIDEST_TURNED[whole]:
            found["distance to I"] = self._from_identity(scale * self.sizes)
        return found | ({"growth": _growths(scale * self.spectra, d)} if len(self.spectra) else {})

    def _whole(self, s: Floats) -> Floats:
        """``A diag(s) B^T`` in the basis [B, C] of both frames: ``A = B G + C H`` with ``H^T H = I - G^T G``, H of its rank."""
        rank, d = self.frames.shape[-1], self.shape[1]
        more = min(rank, d - rank)
        left = np.zeros((len(self.frames), rank + more, rank))
        left[:, :rank] = self.frames
        if more:
            left[:, rank:] = self._outside(more)
        found = np.zeros((len(left), rank + more, rank + more))
        found[..., :rank] = left * s[..., None, :]
        return found

    def _outside(self, more: int) -> Floats:
        """H, by the singular values of G: ``H = (1 - c^2)^(1/2) W^T`` on the least of them."""
        _left, cosines, right = np.linalg.svd(self.frames)
        kept = slice(cosines.shape[-1] - more, None)
        return np.asarray(np.sqrt(np.maximum(0.0, 1 - cosines[:, kept] ** 2))[..., None] * right[:, kept])

    def _from_identity(self, s: Floats) -> Floats:
        """``|I - M|``, the largest singular value; 1 where there are more coordinates."""
        whole = self._whole(s)
        size = whole.shape[-1]
        found = np.linalg.svd(np.eye(size) - whole, compute_uv=False)[..., 0]
        return np.asarray(found if size == self.shape[1] else np.maximum(found, 1.0))

    def with_bases(self, s: Floats, d: int, spectra: bool) -> dict[str, Floats]:
        """Trace and asymmetry of ``A diag(s) B^T``: sums over the entries of ``B^T A``; spectra of ``diag(s) B^T A`` turned."""
        total = float(s @ s)
        trace = np.einsum("nii,i->n", self.frames, s) / math.sqrt(len(s) * total)
        square = np.einsum("nij,nji,i,j->n", self.frames, self.frames, s, s, optimize=True)
        found = {"trace": trace, "asymmetry": np.sqrt(np.maximum(0.0, (1 - square / total) / 2))}
        whole = self.shape[2]
        if len(s) <= WIDEST_TURNED[whole]:
            made = self._whole(s)
            values = np.linalg.eigvalsh(made + made.swapaxes(-1, -2)) / 2
            found |= _at_ends(values, np.full(len(trace), s[0]), d)
        narrow = spectra and len(s) <= WIDEST_OF_BASES[whole]
        cores = self.frames.swapaxes(-1, -2) * s
        if narrow:
            found |= _spectral(cores, np.full(len(trace), s[0]), d)
        if spectra and len(s) <= WIDEST_TURNED[whole]:
            found["distance to I"] = self._from_identity(s)
        if narrow:
            found["growth"] = _growths(np.asarray(np.linalg.eigvals(cores), dtype=np.complex128), d)
        return found


def _singular(left: Floats, right: Floats) -> Floats:
    """Of ``L^T R``, from above."""
    if left.shape[-2] >= left.shape[-1]:
        return np.asarray(np.linalg.svd(left.swapaxes(-1, -2) @ right, compute_uv=False))
    roots = [np.linalg.cholesky(each @ each.swapaxes(-1, -2)) for each in (left, right)]
    return np.asarray(np.linalg.svd(roots[0].swapaxes(-1, -2) @ roots[1], compute_uv=False))


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

    def slip(self) -> float:
        return self.near * max(1.0, abs(self.value))

    def p_values(self) -> tuple[float, float]:
        """The smallest and the largest two-sided p-value of a value so near."""
        return self._p_value(-self.slip()), self._p_value(self.slip())

    def _p_value(self, slip: float) -> float:
        below, above = self.draws <= self.value + slip, self.draws >= self.value - slip
        return min(1.0, 2 * (1 + int(min(below.sum(), above.sum()))) / (len(self.draws) + 1))


def _tests(asked: _Asked, null: _Draws, turns: Mapping[str, Floats] | None) -> Iterator[tuple[dict[str, Any], _Held]]:
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

    gaussian, d = dict(null.gaussian), asked.left.shape[1]
    if not scores:
        gaussian |= null.of_scale(asked.scale)
        if min(asked.left.shape) <= WIDEST:
            values["growth"] = float(_growths(_eigenvalues(asked.left[None], asked.right[None]), d)[0])
        if min(asked.left.shape) <= WIDEST_TURNED[asked.head is None]:
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
            shown.cover((*where, place, "q"))
            wanted = q[tests[place]["p"]]
            if not math.isclose(tests[place]["q"], wanted, rel_tol=NEAR):
                shown.fails((*where, place, "q"), f"{tests[place]['q']!r} is stated, the p-values give {wanted!r}")


def _shares(
    shown: Shown,
    stated: Sequence[Mapping[str, Any]],
    led: Sequence[_Led],
    nulls: Mapping[tuple[int, int, bool], _Draws],
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
            counts = [int(_leads_growth(one.scale * null.spectra).sum()) for one in same]
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
