"""Files written whole or not at all: a temporary file in the same folder, synced, renamed over the old one.

A full disk, an interruption or a crash in the middle leaves the previous file as it was.  POSIX ``rename`` is atomic within one
file system, hence the same folder; without ``fsync`` before it a crash of the machine could leave the new name on no content.

A line of a log that an interrupted run goes on from carries a sha256 of itself and of what the run is about.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from eigentoken.files.documents import DocumentError, Json, parse_json

__all__ = [
    "Replacement",
    "append_line",
    "copy_file",
    "could_be_ready",
    "naming",
    "opened",
    "ready",
    "replacing",
    "sealed",
    "sealed_text",
    "sync_tree",
    "write_bytes",
    "write_text",
]

#: how a temporary file is called, for whoever finds one after a crash
PREFIX = ".eigentoken-unfinished-"


class Replacement:
    """Several files that belong together: all are written and synced under other names, then all are renamed.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with Replacement() as files:
    ...     _ = files.place(folder / "a.txt").write_text("one")
    ...     _ = files.place(folder / "b.txt").write_text("two")
    >>> sorted(each.name for each in folder.iterdir())
    ['a.txt', 'b.txt']
    """

    def __init__(self) -> None:
        self._places: list[tuple[Path, Path]] = []

    def place(self, path: str | os.PathLike[str]) -> Path:
        """Where to write what shall stand at ``path`` in the end.

        A link is followed, so that it stays a link; a device or a pipe cannot be replaced and is written as it is.
        """
        target = Path(path)
        with naming(target):
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            special = target.exists() and not target.is_file()
            if special or target.absolute().parts[1:2] in (("dev",), ("proc",)):
                return target
            target = target.resolve()
            handle, name = tempfile.mkstemp(prefix=PREFIX, suffix=target.suffix[-32:], dir=target.parent)
            os.close(handle)
        place = Path(name)
        self._places.append((place, target))
        with naming(target):
            os.chmod(place, _mode(target))
        return place

    def __enter__(self) -> Replacement:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, _trace: object) -> None:
        try:
            if kind is None:
                self._commit()
            elif isinstance(problem, OSError) and len(self._places) == 1:
                place, target = self._places[0]
                if problem.filename in (None, str(place)):  # speak of the file that was asked for
                    raise type(problem)(problem.errno, problem.strerror or str(problem), str(target)) from None
        finally:
            self.forget()

    def forget(self) -> None:
        """Take back what was not renamed."""
        for place, _ in self._places:
            place.unlink(missing_ok=True)

    def _commit(self) -> None:
        for place, target in self._places:
            with naming(target):
                _sync(place)
        for place, target in self._places:
            with naming(target):
                os.replace(place, target)
        for folder in {target.parent for _, target in self._places}:
            _sync_folder(folder)


def ready(*paths: str | os.PathLike[str] | None) -> None:
    """Before the work whose result goes to these files: missing folders are made, and a place that cannot be written is an
    error now, not when the work is done.  A file that is there stays as it is.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> ready(folder / "new" / "a.json", None)
    >>> [each.name for each in folder.rglob("*")]
    ['new']
    """
    for path in paths:
        if path is None:
            continue
        target, files = Path(path), Replacement()
        with naming(target.parent):
            target.parent.mkdir(parents=True, exist_ok=True)
        try:
            files.place(target)
        finally:
            files.forget()


def could_be_ready(*paths: str | os.PathLike[str] | None) -> None:
    """As :func:`ready`, but no folder is made: for what is refused later it would stay empty.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> could_be_ready(folder / "new" / "a.json", None)
    >>> list(folder.iterdir())
    []
    """
    for path in (Path(each) for each in paths if each is not None):
        ready(next(each for each in path.parents if each.exists() or each == each.parent) / path.name)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The place to write to; at the end of the block it is renamed to ``path``, unless the block raised."""
    with Replacement() as files:
        yield files.place(path)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text (UTF-8) as a whole."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write bytes as a whole."""
    with replacing(path) as place, naming(Path(path)), open(place, "wb") as stream:
        stream.write(data)


def copy_file(source: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Copy the content of a file as a whole."""
    with replacing(path) as place, naming(Path(path)):
        shutil.copyfile(source, place)


def append_line(path: str | os.PathLike[str], line: str) -> None:
    """Add a line to a log and sync it; what a crash cuts off is at most this line (a reader drops a line that is cut off)."""
    if "\n" in line:
        raise ValueError("line must be one line, got an end of line inside: write it in two calls")
    with naming(Path(path)), open(path, "a+b") as stream:
        torn = stream.seek(0, os.SEEK_END) > 0 and stream.seek(-1, os.SEEK_END) >= 0 and stream.read(1) != b"\n"
        stream.write((b"\n" if torn else b"") + line.encode("utf-8") + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


@contextlib.contextmanager
def naming(target: Path) -> Iterator[None]:
    """An error of the operating system speaks of the file that was asked for, not of a temporary one."""
    try:
        yield
    except OSError as problem:
        named = type(problem)(problem.errno, problem.strerror or str(problem), str(target))
        raise named from None


def sync_tree(folder: Path) -> None:
    """Everything in a new folder reaches the disk, before the folder is renamed into its place."""
    for place, _, names in os.walk(folder):
        for name in names:
            with naming(Path(place) / name):
                _sync(Path(place) / name)
        _sync_folder(Path(place))


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those of a new file."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    """The new names reach the disk too; some file systems cannot sync a folder, and then there is nothing to do."""
    with contextlib.suppress(OSError):
        _sync(folder)


def sealed(document: Mapping[str, object], binding: str) -> str:
    """The line of a document, bound to what it is about (inputs, options, code, in any text).

    >>> line = sealed({"layer": 0, "word": "fails"}, "these weights")
    >>> opened(line, "these weights")
    {'layer': 0, 'word': 'fails'}
    >>> opened(line.replace("fails", "holds"), "these weights") is None, opened(line, "other weights") is None
    (True, True)
    """
    return sealed_text(json.dumps(document, allow_nan=False, sort_keys=True), binding)


def sealed_text(text: str, binding: str) -> str:
    """The same of a document that is a text already, as ``json.dumps`` writes it with sorted keys."""
    seal = f'"sha256": "{_seal(text, binding)}"}}'
    return "{" + seal if text == "{}" else f"{text[:-1]}, {seal}"


def opened(line: str | bytes, binding: str) -> dict[str, Json] | None:
    """The document of a line, or None where the line is not the one that was written for this binding."""
    try:
        document = parse_json(line, "the log")
    except DocumentError:
        return None
    if not isinstance(document, dict) or "sha256" not in document:
        return None
    stated = document.pop("sha256")
    text = json.dumps(document, allow_nan=False, sort_keys=True)
    return document if stated == _seal(text, binding) else None


def _seal(text: str, binding: str) -> str:
    return hashlib.sha256(f"{binding}\n{text}".encode()).hexdigest()
