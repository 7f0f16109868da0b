"""Token states that the user gives to ``check`` in place of the drawn ones: read or refused, and what holds of them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigentoken.files.arrays import ArrayFileError, read_npy

if TYPE_CHECKING:
    from eigentoken.checking.prompts import Prompts
    from eigentoken.checking.report import Report
    from eigentoken.documents.check_document import OwnStates as OwnStatesDocument
    from eigentoken.documents.check_document import StateConditions
    from eigentoken.models.convention.rotary import Array
    from eigentoken.models.loading.model import Model
    from eigentoken.numerics.layers.token_conditions import Leaders
    from eigentoken.theory.language.conditions import Condition

__all__ = [
    "COLUMNS",
    "OwnStates",
    "StatesError",
    "conditions_on_tokens",
    "own_states",
    "rows_of_states",
    "says_of_states",
    "states_entering",
    "states_of_prompts",
    "tokens_are",
    "tokens_of_rows",
]

#: Entries of the tokens of one layer up to which the certificate of the hemisphere, which repeats them, is kept.
KEPT = 4096
#: Numbers of a state are smaller: the norms of a layer square them.
LARGEST = 1e150


class StatesError(ValueError):
    """States that are not tokens of the model: one line."""


@dataclass(frozen=True, eq=False)
class OwnStates:
    """``array``: (n, d), what enters layer 0 and is run on from there; or (layers, n, d), what enters each layer.

    Of several prompts ``array`` is the first, which is observed and bounded, and ``others`` are what the rest begin with.
    """

    array: Array
    source: str
    prompts: Prompts | None = None
    others: tuple[Array, ...] = ()

    @property
    def per_layer(self) -> bool:
        return self.array.ndim == 3

    @property
    def tokens(self) -> int:
        return int(self.array.shape[-2])

    def entering(self, index: int) -> Array | None:
        """The states (1, n, d) given for this layer, if some are."""
        if self.per_layer:
            return self.array[index][None]
        return self.array[None] if index == 0 else None

    @property
    def whole(self) -> Array:
        """The states of all prompts, one below the other; the array itself where there is one."""
        from numpy import concatenate

        return concatenate([self.array, *self.others]) if self.others else self.array

    def document(
        self,
        loaded: Model,
        principal: Callable[[int], Sequence[Sequence[float]] | None],
        statement_ids: Sequence[str],
    ) -> OwnStatesDocument:
        """Where the states came from, and the conditions on tokens at what enters each layer.

        ``principal``: the rows that span the principal subspace of a layer, where they are known; ``statement_ids``: the
        statements whose conditions on tokens are decided.
        """
        from eigentoken.theory.language.verdicts import array_digest

        asked = conditions_on_tokens(statement_ids)
        leaders = _leaders_in(loaded, asked)
        return {
            "source": self.source,
            "sha256": array_digest(self.whole),
            "shape": [int(each) for each in self.whole.shape],
            "dtype": str(self.array.dtype),
            "per_layer": self.per_layer,
            "prompts": None
            if self.prompts is None
            else {"read_by": self.prompts.read_by, "ids": [[int(each) for each in ids] for ids in self.prompts.ids]},
            "conditions": [
                self._conditions(prompt, index, x, principal(index), asked, leaders(index))
                for prompt, index, x in states_entering(loaded, self)
            ],
        }

    def _conditions(
        self,
        prompt: int,
        index: int,
        x: Array,
        leader: Sequence[Sequence[float]] | None,
        asked: Mapping[str, Condition],
        leaders: Leaders | None,
    ) -> StateConditions:
        from dataclasses import replace

        from numpy import asarray

        from eigentoken.numerics.layers.token_conditions import conditions_at, share_on_one_side, verdict_at
        from eigentoken.theory.language.verdicts import array_digest

        found = conditions_at(x)
        verdict = found.hemisphere if x.size <= KEPT else replace(found.hemisphere, certificate=None)
        return {
            "prompt": prompt,
            "layer": index,
            "tokens": len(x),
            "given": self.entering(index) is not None,
            "sha256": array_digest(x),
            "hemisphere": verdict.as_dict(),
            "shortest": _ends(found.shortest),
            "longest": _ends(found.longest),
            "smallest_cosine": _ends(found.smallest_cosine),
            "largest_cosine": _ends(found.largest_cosine),
            "measured_on_one_side": share_on_one_side(x, asarray(leader[0])) if leader and len(leader) == 1 else None,
            "asked": {text: verdict_at(condition, x, found, leaders).answer.text for text, condition in asked.items()},
        }


def _leaders_in(loaded: Model, asked: Mapping[str, Condition]) -> Callable[[int], Leaders | None]:
    """The leading eigenvectors of each layer, enclosed once, where a half space is asked about."""

    from eigentoken.checking.layers import weights_of
    from eigentoken.numerics.layers.token_conditions import Leaders

    wanted = any(getattr(condition, "normal", None) is not None for condition in asked.values())

    @functools.cache
    def of_weights(index: int) -> Leaders:
        return Leaders.of(weights_of(loaded.layer(index)).value)

    return lambda index: of_weights(loaded.architecture.weights_of(index)) if wanted else None


def conditions_on_tokens(statement_ids: Sequence[str]) -> dict[str, Condition]:
    """The conditions on tokens alone of these statements, by their LaTeX."""
    from eigentoken.numerics.layers.token_conditions import asks_of_tokens
    from eigentoken.theory.language.readings import LATEX
    from eigentoken.theory.statements.registry import statements

    every = (condition for name in statement_ids for condition in statements().get(name).conditions)
    return {LATEX(condition): condition for condition in every if asks_of_tokens(condition)}


def states_entering(loaded: Model, own: OwnStates) -> Iterator[tuple[int, int, Array]]:
    """Prompt, layer and what enters it: the states given for it, or what the layers before make of them, while it is finite."""
    from eigentoken.checking.observe import layers_run

    if own.per_layer:
        yield from ((0, index, x) for index, x in enumerate(own.array))
        return
    for prompt, start in enumerate((own.array, *own.others)):
        yield prompt, 0, start
        for layer, state in layers_run(loaded, 1, len(start), 0, OwnStates(start, own.source)):
            if layer.index + 1 < loaded.n_layers:
                yield prompt, layer.index + 1, state.output[0]


def states_of_prompts(prompts: Prompts, model: Model) -> OwnStates:
    """The states before layer 0 of each prompt, by the model's own embedding."""
    from eigentoken.models.forward import first_states

    first, *others = (first_states(model, ids[None])[0] for ids in prompts.ids)
    return OwnStates(first, prompts.source, prompts, tuple(others))


def _ends(ends: tuple[float, float] | None) -> Any:
    return None if ends is None else list(ends)


def own_states(states: object, model: Model) -> OwnStates:
    """``states``: an array, or the path of a ``.npy`` file, held against the shapes of the model."""
    import numpy as np

    wanted = f"floats of shape (n, {model.d}) or ({model.n_layers}, n, {model.d}), n at least 2"
    source, array = "array", states
    if isinstance(states, str | os.PathLike):
        source = Path(states).name
        try:
            array = read_npy(states)
        except ArrayFileError as problem:
            raise StatesError(f"states: {problem}: expected a .npy file with {wanted}") from None
    if not isinstance(array, np.ndarray):
        raise StatesError(f"states must be a numpy array or a .npy file, {wanted}, got {type(array).__name__}")
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise StatesError(f"states must be {wanted} (16, 32 or 64 bits), got {array.dtype} {array.shape}")
    if array.ndim not in (2, 3) or array.shape[-1] != model.d:
        raise StatesError(f"states must be {wanted}: the model's tokens have width {model.d}, got shape {array.shape}")
    if array.ndim == 3 and len(array) != model.n_layers:
        raise StatesError(f"states must be {wanted}: the model has {model.n_layers} layers, got shape {array.shape}")
    if array.shape[-2] < 2:
        raise StatesError(f"states must be {wanted}: too few tokens, got shape {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(each) for each in np.argwhere(~np.isfinite(array))[0])
        raise StatesError(f"states must be finite, got {array[where]} at {where}")
    if float(np.abs(array).max()) >= LARGEST:
        raise StatesError(f"states must be {wanted}, each number below {LARGEST:g}: its square would be no float")
    kept = np.float64 if array.dtype.itemsize == 8 else np.float32  # both hold the given numbers exactly
    return OwnStates(np.ascontiguousarray(array, dtype=kept), source)


def tokens_of_rows(rows: list[list[str]], dtype: str) -> Array:
    """The tokens that a certificate spells as fractions."""
    from fractions import Fraction

    import numpy as np

    if dtype not in ("float16", "float32", "float64"):
        raise StatesError(f"states of a report are floats of 16, 32 or 64 bits, got {dtype[:40]!r}")
    return np.array([[float(Fraction(entry)) for entry in row] for row in rows], dtype=np.dtype(dtype))


def tokens_are(report: Report) -> str:
    """``random tokens``, or ``given tokens (FILE)``."""
    states = report.document["states"]
    return "random tokens" if states is None else f"given tokens ({states['source']})"


#: The heads of the columns of :func:`rows_of_states`.
COLUMNS = ("layer", "states", "hemisphere", "lengths", "cosines", "one side")


def says_of_states(report: Report) -> str:
    """The title of the table."""
    states = report.document["states"]
    if states is None:
        return ""
    return (
        f"conditions on the tokens of {states['source']}, certified of the floats that enter each layer, given or run through "
        "the layers before; open hemisphere, lengths, cosines of two tokens; one side (measured): how many of the tokens are on "
        "one side of the plane across the leading eigenvector"
    )


def rows_of_states(report: Report) -> list[tuple[str, ...]]:
    """A row a layer, over all prompts; nothing where no states were given."""
    states = report.document["states"]
    by_layer: dict[int, list[StateConditions]] = {}
    for each in states["conditions"] if states else ():
        by_layer.setdefault(each["layer"], []).append(each)
    return [
        (
            str(layer),
            "given" if of[0]["given"] else "run",
            _words([each["hemisphere"]["verdict"] for each in of]),
            _range(_least(of, "shortest"), _most(of, "longest")),
            _range(_least(of, "smallest_cosine"), _most(of, "largest_cosine")),
            _sides([each["measured_on_one_side"] for each in of]),
        )
        for layer, of in sorted(by_layer.items())
    ]


def _words(words: Sequence[str]) -> str:
    """``holds``, or ``holds in 3 of 4`` prompts."""
    return words[0] if len(words) == 1 else f"holds in {words.count('holds')} of {len(words)}"


def _sides(shares: Sequence[float | None]) -> str:
    known = [each for each in shares if each is not None]
    return f"{sum(known) / len(known):.0%}" if known else "-"


def _least(of: Sequence[StateConditions], name: str) -> Any:
    """The interval with the smallest low end over the prompts; ``None`` where one is not known."""
    found: list[Any] = [each[name] for each in of]  # type: ignore[literal-required]
    return None if None in found else min(found, key=lambda ends: float(ends[0]))


def _most(of: Sequence[StateConditions], name: str) -> Any:
    found: list[Any] = [each[name] for each in of]  # type: ignore[literal-required]
    return None if None in found else max(found, key=lambda ends: float(ends[1]))


def _range(low: Any, high: Any) -> str:
    """From the lower end of the one to the upper end of the other, rounded outwards."""
    from eigentoken.checking.intervals import interval

    return "not known" if low is None or high is None else interval((float(low[0]), float(high[1])), 4)
