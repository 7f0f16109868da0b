"""What a reading leaves out: tensors of the file that no layer uses, and weights that are all zero.

A configuration that says one layer beside a file with two, or a layer with a tensor that its family does not know, gives
verdicts about another model than the one in the file.  Which tensors a layer uses is found by reading some from a store
of names alone (its numbers are zeros), so no weight is read for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigentoken.documents.check_document import ZeroWeight
from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.errors import ModelError, some
from eigentoken.models.convention.head_and_layer import Layer
from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.tensors import TensorStore, WeightReader
from eigentoken.models.families.family import Family
from eigentoken.models.formats.renamed import RenamedStore
from eigentoken.models.loading.several_stacks import StackStore

BUFFERS = re.compile(
    r"(.*\.)?((attn|attention)\.(bias|masked_bias)|rotary_emb\.inv_freq|position_ids|num_batches_tracked)"
)
"""Constants that old checkpoints store beside the weights (causal masks, rotary frequencies): nothing is lost without them."""

STACK = re.compile(r"((?:.*?\.)?(?:\w*layers?|\w*blocks?|\w*groups|h|stages?|blk))\.(\d{1,6})\.")


@dataclass(frozen=True)
class LeftOut:
    """Tensors of the file that no layer uses.

    ``layers``: numbers of further layers.  ``inside``: tensors in layers that are read.  ``stacks``: beginnings of other
    stacks of layers (a decoder, a second tower).  Heads, poolers and embeddings are outside the layers and not listed.
    """

    layers: tuple[int, ...] = ()
    inside: tuple[str, ...] = ()
    stacks: tuple[str, ...] = ()

    def sentences(self, n_layers: int) -> list[str]:
        """One line for each kind, for reports."""
        said = []
        if self.layers:
            said.append(
                f"the file has weights of further layers ({runs(self.layers)}): the configuration says {n_layers}, and only "
                "these are checked; correct the number of layers, or take the configuration of this file"
            )
        if self.inside:
            said.append(
                f"{len(self.inside)} of the tensors in the layers are not used: {some(self.inside, 3)}; the model may "
                "have parts that this family does not have"
            )
        if self.stacks:
            said.append(f"the file has another stack of layers that is not checked: {some(self.stacks, 3)}")
        return said


class _Names(TensorStore):
    """The names and shapes of a store with zeros for numbers; remembers what was read."""

    def __init__(self, store: TensorStore) -> None:
        self.format, self.where, self.infos, self.files = store.format, store.where, store.infos, ()
        self.seen: set[str] = set()

    def read(self, name: str) -> Array:
        self.seen.add(name)
        return np.zeros(self.infos[name].shape, dtype=np.float32)


def left_out(family: Family, config: Mapping[str, Any], where: str) -> LeftOut:
    """What of the file is used by no layer of this reading."""
    store, prefix = family.weights.store, family.weights.prefix
    block = family.block(0)
    number = re.search(r"(\d+)\.$", block)
    if number is None:
        return LeftOut()
    names = _Names(store)
    try:
        twin = type(family)(Config(config, where), WeightReader(names))
        used = set()
        for index in sorted({0, min(1, family.n_layers - 1), family.n_layers - 1}):  # the first layer may lack a norm
            names.seen.clear()
            layer = twin.layer(index)
            _ = None if layer.not_read else layer.feed_forward
            used |= {name.removeprefix(prefix + family.block(index)) for name in names.seen}
    except ModelError:
        return LeftOut()  # what cannot be read is refused elsewhere
    known = {family.block(index) for index in range(family.n_layers)}
    pattern = re.compile(re.escape(prefix + block[: number.start()]) + r"(\d{1,6})\.(.+)")
    layers, inside, stacks = set(), [], set()
    for name in store.infos:
        found = pattern.fullmatch(name)
        if found is None:
            other = STACK.match(name)
            if other is not None and not (prefix + block).startswith(other[1] + "."):
                stacks.add(f"{other[1]}.*")
        elif block[: number.start()] + found[1] + "." not in known:
            layers.add(int(found[1]))
        elif found[2] not in used and not BUFFERS.fullmatch(found[2]):
            inside.append(name)
    for name in _not_renamed(store):
        other = STACK.match(name)
        if other is not None and isinstance(store, StackStore):
            stacks.add(f"{other[1]}.*")
        elif other is not None and int(other[2]) >= family.n_layers:
            layers.add(int(other[2]))
        elif other is not None and not BUFFERS.fullmatch(name):
            inside.append(name)
    return LeftOut(tuple(sorted(layers)), tuple(sorted(inside)), tuple(sorted(stacks)))


def _not_renamed(store: TensorStore) -> set[str]:
    """Tensors of a file with names of its own that were given no name of the family."""
    if not isinstance(store, RenamedStore):
        return set()
    pieces = {piece for made in store.made.values() for piece in made.pieces}
    return set(store.store.infos) - {original.name for original in store.names.values()} - pieces


def zero_parts(layer: Layer) -> list[ZeroWeight]:
    """Which of a layer's attention matrices are zero in every head: statements about them say nothing of a trained model."""
    parts: dict[ZeroWeight, str] = {"query": "Q", "key": "K", "value": "V", "output": "O"}
    return [word for word, name in parts.items() if not any(np.any(getattr(head, name)) for head in layer.heads)]


def runs(numbers: Iterable[int]) -> str:
    """``1-3, 7`` for 1, 2, 3, 7."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
