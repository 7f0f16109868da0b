"""Work in progress of a long recipe, kept on disk so that a killed run goes on where it stopped, with the same numbers.

A checkpoint is one ``.npz`` file that is replaced as a whole (written beside it, flushed to the disk, renamed): a
process killed at any moment leaves the old state or the new one, never half of it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from eigentoken.files.arrays import ArrayFileError, read_npz, write_npz
from eigentoken.files.writing import replacing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Checkpoint", "Workbench"]


class Checkpoint:
    """One state by name: :meth:`load` gives the last one saved, :meth:`save` writes at most once in ``every`` seconds.

    Without a path nothing is kept and nothing is found.
    """

    def __init__(self, path: Path | None, every: float = 5.0) -> None:
        self.path, self.every = path, every
        self._saved = time.monotonic()

    def load(self) -> dict[str, np.ndarray] | None:
        """The arrays of the last save; what cannot be read counts as nothing."""
        if self.path is None or not self.path.exists():
            return None
        try:
            return read_npz(self.path)
        except (OSError, ArrayFileError):
            return None

    def save(self, state: Callable[[], Mapping[str, object]], *, now: bool = False) -> None:
        """Write the arrays that ``state`` makes; it is called only when it is time to write."""
        if self.path is None or not (now or time.monotonic() - self._saved >= self.every):
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.path) as place:
            write_npz(place, {name: np.asarray(value) for name, value in state().items()}, compressed=False)
        self._saved = time.monotonic()


class Workbench:
    """The checkpoints of one recipe at one scale and seed; ``None`` as folder keeps nothing."""

    def __init__(self, folder: Path | None = None, every: float = 5.0) -> None:
        self.folder, self.every = folder, every

    def checkpoint(self, name: str) -> Checkpoint:
        """The state of that name, for a loop that saves itself as it goes."""
        return Checkpoint(None if self.folder is None else self.folder / f"{name}.npz", self.every)

    def part(self, name: str, compute: Callable[[], Mapping[str, ArrayLike]]) -> dict[str, np.ndarray]:
        """The arrays that ``compute`` gives, computed once: found on the disk if an earlier run finished this part."""
        kept = self.checkpoint(name)
        found = kept.load()
        if found is None:
            found = {key: np.asarray(value) for key, value in compute().items()}
            made = found
            kept.save(lambda: made, now=True)
        return found

    def clear(self) -> None:
        """Forget everything: the recipe has been recorded."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
