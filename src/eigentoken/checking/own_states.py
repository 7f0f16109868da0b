"""Token states that the user gives to ``check`` in place of the drawn ones: read or refused, and what holds of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigentoken.files.arrays import ArrayFileError, read_npy

if TYPE_CHECKING:
    from eigentoken.checking.report import Report
    from eigentoken.documents.check_document import OwnStates as OwnStatesDocument
    from eigentoken.documents.check_document import StateConditions
    from eigentoken.models.convention.rotary import Array
    from eigentoken.models.loading.model import Model

__all__ = [
    "COLUMNS",
    "OwnStates",
    "StatesError",
    "own_states",
    "rows_of_states",
    "says_of_states",
    "states_entering",
    "tokens_are",
    "tokens_of_rows",
]

#: Entries of the tokens of one layer up to which the certificate of the hemisphere, which repeats them, is kept.
KEPT = 4096


class StatesError(ValueError):
    """States that are not tokens of the model: one line."""


@dataclass(frozen=True, eq=False)
class OwnStates:
    """``array``: (n, d), what enters layer 0 and is run on from there; or (layers, n, d), what enters each layer."""

    array: Array
    source: str

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

    def document(
        self, entering: Iterable[tuple[int, Array]], principal: Callable[[int], Sequence[Sequence[float]] | None]
    ) -> OwnStatesDocument:
        """Where the states came from, and the conditions on tokens at what enters each layer.

        ``principal``: the rows that span the principal subspace of a layer, where they are known.
        """
        from eigentoken.theory.language.verdicts import array_digest

        return {
            "source": self.source,
            "sha256": array_digest(self.array),
            "shape": [int(each) for each in self.array.shape],
            "dtype": str(self.array.dtype),
            "per_layer": self.per_layer,
            "conditions": [self._conditions(index, x, principal(index)) for index, x in entering],
        }

    def _conditions(self, index: int, x: Array, leader: Sequence[Sequence[float]] | None) -> StateConditions:
        from dataclasses import replace

        from numpy import asarray

        from eigentoken.numerics.layers.token_conditions import conditions_at, share_on_one_side
        from eigentoken.theory.language.verdicts import array_digest

        found = conditions_at(x)
        verdict = found.hemisphere if x.size <= KEPT else replace(found.hemisphere, certificate=None)
        return {
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
        }


def states_entering(loaded: Model, own: OwnStates) -> Iterator[tuple[int, Array]]:
    """What enters each layer: the states given for it, or what the layers before make of them, while it is finite."""
    from eigentoken.checking.observe import layers_run

    if own.per_layer:
        yield from enumerate(own.array)
        return
    yield 0, own.array
    for layer, state in layers_run(loaded, 1, own.tokens, 0, own):
        if layer.index + 1 < loaded.n_layers:
            yield layer.index + 1, state.output[0]


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
    kept = np.float64 if array.dtype.itemsize == 8 else np.float32  # both hold the given numbers exactly
    return OwnStates(np.ascontiguousarray(array, dtype=kept), source)


def tokens_of_rows(rows: list[list[str]], dtype: str) -> Array:
    """The tokens that a certificate spells as fractions."""
    from fractions import Fraction

    import numpy as np

    return np.array([[float(Fraction(entry)) for entry in row] for row in rows], dtype=np.dtype(dtype))


def tokens_are(report: Report) -> str:
    """``random tokens``, or ``given tokens (FILE)``."""
    states = report.document["states"]
    return "random tokens" if states is None else f"given tokens ({states['source']})"


#: The heads of the columns of :func:`rows_of_states`.
COLUMNS = ("layer", "states", "hemisphere", "lengths", "cosines", "one side of the leader (measured)")


def says_of_states(report: Report) -> str:
    """The title of the table."""
    states = report.document["states"]
    if states is None:
        return ""
    return (
        f"conditions on the tokens of {states['source']}, certified of the floats that enter each layer, given or run through "
        "the layers before; open hemisphere, lengths, cosines of two tokens"
    )


def rows_of_states(report: Report) -> list[tuple[str, ...]]:
    """A row a layer; nothing where no states were given."""
    states = report.document["states"]
    return [
        (
            str(each["layer"]),
            "given" if each["given"] else "run",
            each["hemisphere"]["verdict"],
            _range(each["shortest"], each["longest"]),
            _range(each["smallest_cosine"], each["largest_cosine"]),
            "-" if each["measured_on_one_side"] is None else f"{each['measured_on_one_side']:.0%} of tokens",
        )
        for each in (states["conditions"] if states else ())
    ]


def _range(low: Any, high: Any) -> str:
    """From the lower end of the one to the upper end of the other, rounded outwards."""
    from eigentoken.checking.intervals import interval

    return "not known" if low is None or high is None else interval((float(low[0]), float(high[1])), 4)
