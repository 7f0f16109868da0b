"""How far a layer is that is being examined, told to who waits: by a call, or from other processes through small files."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["Inside", "listening", "teller"]

#: Told a layer, the share of it that is done, and what of it is being examined.
Inside = Callable[[int, float, str], None]

#: Seconds between two looks at the files, and between two lines that a process writes.
PAUSE = 0.3


def teller(folder: str | None, layer: int) -> Callable[[float, str], None]:
    """What a process calls that examines a layer: its last word is in one small file of the folder; nothing without one."""
    if folder is None:
        return lambda _share, _now: None
    place, last = Path(folder) / str(layer), -PAUSE

    def tell(share: float, now: str) -> None:
        nonlocal last
        if time.monotonic() - last < PAUSE:
            return
        last = time.monotonic()
        with suppress(OSError):  # the folder is gone when the run was interrupted: nobody waits
            place.write_text(f"{share:.4f} {now}\n", encoding="utf-8")

    return tell


@contextmanager
def listening(inside: Inside | None) -> Iterator[str | None]:
    """A folder for :func:`teller`, whose files are read on and passed to ``inside`` while the block runs; ``None`` without."""
    if inside is None:
        yield None
        return
    folder, stop = tempfile.mkdtemp(prefix="eigentoken-"), threading.Event()

    def listen(tell: Inside) -> None:
        said: dict[str, str] = {}
        while not stop.wait(PAUSE):
            for place in Path(folder).iterdir():
                text = place.read_text(encoding="utf-8")
                share, space, now = text.rstrip("\n").partition(" ")
                if text.endswith("\n") and space and said.get(place.name) != text:
                    said[place.name] = text
                    tell(int(place.name), float(share), now)

    thread = threading.Thread(target=listen, args=(inside,), daemon=True)
    thread.start()
    try:
        yield folder
    finally:
        stop.set()
        thread.join()
        shutil.rmtree(folder, ignore_errors=True)
