"""A watch over a run on exact numbers: code of the author that runs as it stands, in floats, makes the answer not count.

Which of an author's functions run is not known from the source alone: methods of objects, properties, operators of classes,
functions kept in containers, decorators of libraries, ``eval``.  So each function that starts while the predicate runs is
looked at: those that were compiled again are exact, those of Python, numpy, sympy and this package are trusted, and any other
is refused.  So is what objects and containers of the author keep from one run to the next.
"""

from __future__ import annotations

import functools
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from eigentoken.numerics.author_code.decided_numbers import refuse

__all__ = ["Watch", "is_author", "unwatched"]


def _folder(name: str) -> str:
    return str(Path(sysconfig.get_path(name)).resolve())


#: Folders of Python's own code, and of installed packages.
_PYTHON = (_folder("stdlib"), _folder("platstdlib"))
_PACKAGES = (
    _folder("purelib"),
    _folder("platlib"),
    *(str(Path(each).resolve()) for each in sys.path if each.endswith("-packages")),
)
#: Files that compiled code names in its tracebacks.
_COMPILED = (".pyx", ".pxd", ".pxi")
#: Packages that know decided numbers, or are called by those that do.
_TRUSTED = {"numpy", "sympy", "mpmath", "flint", "eigentoken", "_pytest", "coverage"}


@functools.lru_cache(maxsize=4096)
def _home(file: str) -> str:
    """``author``, ``python``, or the name of the package that the file belongs to."""
    if file.startswith("<frozen") or file.endswith(_COMPILED):
        return "python"
    resolved = str(Path(file).resolve())
    for folder in _PACKAGES:
        if resolved.startswith(folder + "/"):
            return resolved[len(folder) + 1 :].split("/")[0].removesuffix(".py")
    return "python" if resolved.startswith(_PYTHON) else "author"


def is_author(names: dict[str, Any], file: str) -> bool:
    """Is the code of that file, with those global names, nobody's library?"""
    return str(names.get("__name__", "")).split(".")[0] != "eigentoken" and _home(file) == "author"


@contextmanager
def unwatched() -> Iterator[None]:
    """For formulas of this package on its own numbers, in which nothing of an author can start: looking at each of their
    functions takes longer than they do.
    """
    hooks: tuple[tuple[Any, Any], ...] = ((sys.settrace, sys.gettrace()), (sys.setprofile, sys.getprofile()))
    ours = [(install, hook) for install, hook in hooks if isinstance(getattr(hook, "__self__", None), Watch)]
    for install, _ in ours:
        install(None)
    try:
        yield
    finally:
        for install, hook in ours:
            install(hook)


class Watch:
    """What may run, and what may not change, while a predicate is asked of exact numbers."""

    def __init__(self) -> None:
        self._exact: dict[int, CodeType] = {}
        self._seen: dict[int, tuple[CodeType, str]] = {}
        self._kept: list[tuple[Callable[[], Any], Any]] = []

    def allow(self, code: CodeType) -> None:
        """The code, and what is defined inside it, was compiled with exact operations."""
        self._exact[id(code)] = code
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                self.allow(inner)

    def keep(self, now: Callable[[], object]) -> None:
        """What ``now()`` lists must be the same objects after the run."""
        self._kept.append((now, now()))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Look at each function that starts inside the block; another tracer (of coverage) goes on beside it."""
        install: Callable[[Any], None] = sys.settrace if sys.gettrace() is None else sys.setprofile
        before = None if install is sys.settrace else sys.getprofile()
        install(self._started)
        try:
            yield
        finally:
            install(before)
        for now, then in self._kept:
            found = now()
            if len(found) != len(then) or any(a is not b for a, b in zip(found, then, strict=True)):
                refuse("the predicate keeps state between its calls (in an object or a container)")

    def _started(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or id(code) in self._exact:
            return
        found = self._seen.get(id(code))
        if found is None:
            found = self._seen[id(code)] = (code, self._objection(frame))
        if found[1] == "author":
            refuse(
                f"the predicate runs {code.co_qualname} as it stands, in floats: call it as a plain function of a file"
            )
        elif found[1] and frame.f_back is not None and id(frame.f_back.f_code) in self._exact:
            refuse(f"the predicate calls {code.co_qualname} of {found[1]}, which has no certified version")

    def _objection(self, frame: FrameType) -> str:
        """Nothing, or whose code it is: the author's own, or that of a package that computes in floats."""
        code, names = frame.f_code, frame.f_globals
        name = str(names.get("__name__", ""))
        generated = code.co_qualname.startswith("__create_fn__.") or name.startswith("namedtuple_")
        if (
            code.co_filename == "<string>" and generated
        ):  # methods of a dataclass or a namedtuple compare and assign fields
            return ""
        if name.split(".")[0] == "eigentoken" and not code.co_filename.startswith("<"):
            return ""
        home = _home(code.co_filename)
        return "" if home == "python" or home in _TRUSTED else home
