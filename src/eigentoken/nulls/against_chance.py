"""Every head and layer of a model against the nulls of its shape, corrected for their number."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eigentoken.display import frame, html_table, listing
from eigentoken.nulls.correction import correct, keep_bytes

if TYPE_CHECKING:
    from pandas import DataFrame

    from eigentoken.checking.own_states import OwnStates
    from eigentoken.documents.chance_document import (
        ChanceBody,
        ChanceShare,
        ChanceTest,
        ChanceTokens,
        NotTaken,
        NullName,
        TokenTest,
    )
    from eigentoken.models.convention.head_and_layer import Layer
    from eigentoken.models.loading.model import Model
    from eigentoken.numerics.layers.chance import HeldAgainst
    from eigentoken.numerics.layers.chance_draws import Null
    from eigentoken.numerics.layers.chance_statistics import Floats

__all__ = ["AgainstChance", "against_chance", "not_taken"]

#: Draws of a whole layer are this much fewer: they are d x d.
LAYER_SHARE = 10


@dataclass(frozen=True, repr=False)
class AgainstChance:
    """``document`` is the JSON, the rest are views."""

    document: ChanceBody

    def as_dict(self) -> ChanceBody:
        return self.document.copy()

    @property
    def tests(self) -> list[ChanceTest]:
        return list(self.document["tests"])

    @property
    def token_tests(self) -> list[TokenTest]:
        """What is measured on tokens; none where no tokens were run."""
        tokens = self.document["tokens"]
        return [] if tokens is None else list(tokens["tests"])

    def not_random(self, null: NullName, *, layers: bool = False, tokens: bool = False) -> list[str]:
        """The heads (``layer.head``), or the layers, that differ from this null in some statistic after the correction.

        ``tokens``: in what they do to tokens, in place of statistics of the weights.
        """
        names = {
            str(each["layer"]) if each["head"] is None else f"{each['layer']}.{each['head']}": None
            for each in (self.token_tests if tokens else self.tests)
            if each["null"] == null
            and (each["head"] is None) == layers
            and each["q"] <= self.document["options"]["level"]
        }
        return list(names)

    def sentences(self) -> list[str]:
        """What a reader is told: how many heads look random, which do not, and by what."""
        from eigentoken.nulls.sentences import sentences

        return sentences(self)

    def to_frame(self) -> DataFrame:
        """One row a test of the weights (pandas)."""
        return frame(dict(each) for each in self.tests)

    def tokens_to_frame(self) -> DataFrame:
        """One row a test of what is measured on tokens (pandas)."""
        return frame(dict(each) for each in self.token_tests)

    def __repr__(self) -> str:
        return listing(f"<{self.document['model']['description']} against chance>", self.sentences())

    def _repr_html_(self) -> str:
        return html_table(("against chance",), [(each,) for each in self.sentences()])


def against_chance(
    model: object,
    *,
    draws: int = 2000,
    seed: int = 0,
    level: float = 0.05,
    tokens: int = 32,
    states: object = None,
    prompts: object = None,
    done: Callable[[], None] = lambda: None,
    watch: Callable[[str], None] = lambda _now: None,
) -> AgainstChance:
    """Hold every head and layer of a model against random weights of its shape.

    What is measured on tokens is held against the same layers at the same ``tokens`` tokens (0: none), with attention weights
    drawn anew: random tokens from ``seed``, or the first of ``states`` or of the first of ``prompts``, as ``check`` takes them.
    Half as many draws for a head, a tenth for a layer.

    A matrix with random bases has a spectrum of its own, which is solved for each draw: wide heads and layers get fewer of them,
    and every test says how many (``draws``): its p-value is at least ``2 / (draws + 1)``.

    ``draws`` of each null for a head (a tenth of it for a layer), from ``seed``: drawn once for a shape and kept in the cache.
    ``level``: the expected share of false ones among what is called not random (Benjamini and Hochberg).  Measured in floats.
    ``done`` is called after each layer, ``watch`` with what begins.  The model is whatever :func:`eigentoken.check` takes.
    """
    from eigentoken.checking.run import open_model

    if not isinstance(draws, int) or isinstance(draws, bool) or draws < 10 * LAYER_SHARE:
        raise ValueError(f"draws must be a whole number, at least {10 * LAYER_SHARE}, got {draws!r}")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 0 or tokens == 1:
        raise ValueError(f"tokens must be a whole number, 0 or at least 2, got {tokens!r}")
    if tokens == 0 and not (states is None and prompts is None):
        raise ValueError(f"{'states' if prompts is None else 'prompts'} are tokens to run: leave out tokens=0")
    loaded = open_model(model)
    own = _own(loaded, states, prompts)
    nulls = _Nulls(draws, seed)
    tests: list[ChanceTest] = []
    led: list[_Led] = []
    for index in sorted({loaded.architecture.weights_of(number) for number in range(loaded.n_layers)}):
        watch(f"layer {index}")
        layer = loaded.layer(index)
        tests += _of_layer(layer, nulls, led)
        done()
    correct(tests)
    told = None
    if tokens:
        from eigentoken.nulls.on_tokens import on_tokens

        told = on_tokens(loaded, draws=draws, seed=seed, tokens=tokens, own=own, watch=watch)
    left = not_taken(nulls.known)
    return AgainstChance(_document(loaded, tests, _shares(led), left, told, draws, seed, level))


def not_taken(shapes: Iterable[tuple[int, int, bool]]) -> list[NotTaken]:
    """What is left out of the statistics of weights for its cost, from the shapes (width, d, whole layer) of the factors."""
    from eigentoken.numerics.layers.chance_draws import too_wide

    return [
        {"quantity": f"{name}, of {'layers' if whole else 'heads'}", "why": why}
        for width, d, whole in sorted(set(shapes))
        for name, why in too_wide(width, d, whole)
    ]


def _own(loaded: Model, states: object, prompts: object) -> OwnStates | None:
    """The tokens that are given, if some are."""
    from eigentoken.checking.own_states import own_states, states_of_prompts
    from eigentoken.checking.prompts import read_prompts

    if states is not None and prompts is not None:
        raise ValueError("states and prompts are both tokens to run: give one of them")
    if prompts is not None:
        return states_of_prompts(read_prompts(prompts, loaded), loaded)
    return None if states is None else own_states(states, loaded)


@dataclass(frozen=True)
class _Led:
    """Whether a real eigenvalue leads the values of a head, or of a layer: by real part, by modulus, by ``|1 + lambda|``."""

    layer: bool
    leads: tuple[bool, bool, bool]
    null: Null
    scale: float


def _of_layer(layer: Layer, nulls: _Nulls, led: list[_Led]) -> list[ChanceTest]:
    """The tests of its heads and of the sums of all heads; ``led`` gets whether a real eigenvalue leads each head and F."""
    import numpy as np

    from eigentoken.numerics.layers.chance_turned import held_turned
    from eigentoken.numerics.layers.rotary_scores import OFFSETS

    tests: list[ChanceTest] = []
    for head in layer.heads:
        for part, left, right in (("scores", head.Q, head.K), ("values", head.O.T, head.V)):
            factors = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
            tests += _held(layer.weights_of, head.index, part, factors, nulls.of(factors[0]), led)
            if part == "scores" and head.rotary is not None:
                turns = [np.asarray(head.rotary.rotation(offset), dtype=np.float64) for offset in OFFSETS]
                found = held_turned(*factors, turns, nulls.turned(factors[0], turns))
                tests += [_test(layer.weights_of, head.index, part, each) for each in found]
    for part in ("scores", "values"):
        whole = _summed(layer, part)
        tests += _held(layer.weights_of, None, part, whole, nulls.of(whole[0], whole=True), led)
    return tests


def _held(
    layer: int, head: int | None, part: str, factors: tuple[Floats, Floats], null: Null, led: list[_Led]
) -> list[ChanceTest]:
    from eigentoken.numerics.layers.chance import held_against
    from eigentoken.numerics.layers.chance_statistics import real_leaders, scale_of

    found = held_against(*factors, null, scores=part == "scores")
    leads = real_leaders(*factors) if part == "values" and found else None
    led += [] if leads is None else [_Led(head is None, leads, null, float(scale_of(*factors)))]
    return [_test(layer, head, part, each) for each in found]


def _summed(layer: Layer, part: str) -> tuple[Floats, Floats]:
    """Factors of S (scores) or F (values): heads that share keys and values act by the sum of their queries or outputs."""
    import numpy as np

    own: dict[int, Floats] = {}
    shared: dict[int, Floats] = {}
    for head in layer.heads:
        first, second = (head.Q, head.K) if part == "scores" else (head.O.T, head.V)
        here = np.asarray(first, dtype=np.float64)
        own[head.kv_index] = here if head.kv_index not in own else own[head.kv_index] + here
        shared[head.kv_index] = np.asarray(second, dtype=np.float64)
    return np.concatenate(list(own.values())), np.concatenate(list(shared.values()))


def _test(layer: int, head: int | None, part: str, found: HeldAgainst) -> ChanceTest:
    return {
        "layer": layer,
        "head": head,
        "part": "scores" if part == "scores" else "values",
        "statistic": found.statistic,
        "null": found.null,
        "value": found.value,
        "mean": found.mean,
        "deviation": found.deviation,
        "z": found.z,
        "p": found.p,
        "q": 1.0,
        "draws": found.draws,
    }


def _shares(led: Sequence[_Led]) -> list[ChanceShare]:
    """How many heads and layers are led by a real eigenvalue, and how many random ones of the commonest shape would be."""
    from eigentoken.numerics.layers.chance import share_p_value, shares_p_value

    made: list[ChanceShare] = []
    for layers in (False, True):
        of = [each for each in led if each.layer == layers]
        alike = [each for each in of if each.null is of[0].null]
        for column, order in enumerate(("", " by modulus") if alike else ()):
            draws = alike[0].null.real_leaders[:, column]
            met = sum(each.leads[column] for each in alike)
            what = f"{'layers' if layers else 'heads'} led by a real eigenvalue{order}"
            p = share_p_value(met, len(alike), draws)
            made.append({"what": what, "met": met, "of": len(alike), "chance": float(draws.mean()), "p": p})
        if alike:  # this order depends on the scale: each has a chance of its own
            counts = [int(each.null.led_by_growth(each.scale).sum()) for each in alike]
            many, met = len(alike[0].null.eigenvalues), sum(each.leads[2] for each in alike)
            what = f"{'layers' if layers else 'heads'} led by a real eigenvalue by |1 + lambda|"
            p = shares_p_value(met, [(1 + count) / (many + 2) for count in counts])
            chance = sum(counts) / (many * len(counts))
            made.append({"what": what, "met": met, "of": len(alike), "chance": chance, "p": p})
    return made


def _document(
    loaded: Model,
    tests: list[ChanceTest],
    shares: list[ChanceShare],
    left: list[NotTaken],
    tokens: ChanceTokens | None,
    draws: int,
    seed: int,
    level: float,
) -> ChanceBody:
    from eigentoken.numerics.layers.chance_statistics import STATISTICS
    from eigentoken.version import __version__

    return {
        "version": __version__,
        "model": {"source": loaded.source, "description": loaded.describe(), "fingerprint": loaded.fingerprint()},
        "options": {"draws": draws, "layer_draws": draws // LAYER_SHARE, "seed": seed, "level": level},
        "statistics": STATISTICS,
        "not_taken": left,
        "shares": shares,
        "tests": tests,
        "tokens": tokens,
    }


class _Nulls:
    """The draws by shape, from the cache where they are there already."""

    def __init__(self, draws: int, seed: int) -> None:
        self.draws, self.seed = draws, seed
        self.known: dict[tuple[int, int, bool], Null] = {}
        self.known_turned: dict[tuple[int, int, str], dict[str, Floats]] = {}

    def of(self, factor: Floats, whole: bool = False) -> Null:
        """For factors of this shape (width, d); for a ``whole`` layer fewer draws."""
        import eigentoken.numerics.layers.chance_draws as numerics

        width, d = int(factor.shape[0]), int(factor.shape[1])
        key = (width, d, whole)
        if key not in self.known:
            draws = self.draws // LAYER_SHARE if whole else self.draws
            path = self._path(f"{width}-{d}-{draws}-{self.seed}-{'layer' if whole else 'head'}")
            found = numerics.read_null(path)
            if found is None:
                found = numerics.draw_null(width, d, draws, self.seed, whole=whole)
                stream = io.BytesIO()
                numerics.write_null(found, stream)
                keep_bytes(path, stream)
            self.known[key] = found
        return self.known[key]

    def turned(self, factor: Floats, turns: Sequence[Floats]) -> dict[str, Floats]:
        """What these turns change of the scores of random factors of this shape."""
        import eigentoken.numerics.layers.chance_turned as numerics

        width, d = int(factor.shape[0]), int(factor.shape[1])
        digest = hashlib.sha256(b"".join(each.tobytes() for each in turns)).hexdigest()[:16]
        key = (width, d, digest)
        if key not in self.known_turned:
            path = self._path(f"{width}-{d}-{self.draws}-{self.seed}-turned-{digest}")
            found = numerics.read_turned(path)
            if found is None:
                found = numerics.draw_turned(width, d, self.draws, self.seed, turns)
                stream = io.BytesIO()
                numerics.write_turned(found, stream)
                keep_bytes(path, stream)
            self.known_turned[key] = found
        return self.known_turned[key]

    @staticmethod
    def _path(name: str) -> Path:
        from eigentoken.files.installed import cache_folder
        from eigentoken.numerics.layers import chance_draws, chance_statistics, chance_turned

        made_by = (chance_draws, chance_statistics, chance_turned)
        sources = b"".join(Path(str(each.__file__)).read_bytes() for each in made_by)
        code = hashlib.sha256(sources).hexdigest()[:16]
        return cache_folder() / "nulls" / f"{name}-{code}.npz"
