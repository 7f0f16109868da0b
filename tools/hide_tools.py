"""Run a command on a PATH that has everything except the optional tools: ``hide_tools.py python -m pytest``.

The suite has to pass on a machine without Coq, LaTeX and Chromium.  A machine that has them cannot show it, so they are
really taken away: each folder of PATH that holds one of them is replaced by a folder of links to all its other programs
(``git``, ``make`` and ``python`` stay, neither ``shutil.which`` nor ``subprocess`` finds ``coqc``), and the folders that hold
none stay as they are, so that the interpreter of a virtual environment still knows where it lives.  An environment
variable would hide a tool only from the code that asks for it.

The whole PATH is kept under another name, ``EIGENTOKEN_WHOLE_PATH``: ``tests/conftest.py`` gives it back to the tests that say by
their marker which tool they need, so that one run holds both kinds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

#: a marker of a test -> the tools it stands for; each entry is one tool under the names it is installed by
NEEDED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "needs_coq": (("coqc",),),
    "needs_latex": (("latexmk",), ("pdflatex",)),
    "needs_poppler": (("pdftotext",),),
    "needs_browser": (("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),),
}
#: programs that belong to these tools and could stand in for them
RELATIVES = ("coqtop", "coqchk", "tex", "latex", "xelatex", "lualatex", "luatex", "etex", "pdftex", "chrome")
#: the environment variable with the PATH as it was
WHOLE = "EIGENTOKEN_WHOLE_PATH"
HIDDEN = frozenset(name for tools in NEEDED.values() for names in tools for name in names) | frozenset(RELATIVES)


def whole_path() -> str:
    """The PATH with the tools, also where they are hidden."""
    return os.environ.get(WHOLE, os.environ.get("PATH", os.defpath))


def missing(marker: str) -> str:
    """Which tool of this marker is not on the whole PATH: its name, or the empty text where all are there."""
    path = whole_path()
    absent = (names[0] for names in NEEDED[marker] if not any(shutil.which(name, path=path) for name in names))
    return next(absent, "")


def hidden_path(path: str, place: Path) -> str:
    """``path`` with each folder that holds a hidden tool replaced by a folder of links below ``place``."""
    kept = []
    for index, entry in enumerate(path.split(os.pathsep)):
        folder = Path(entry or os.curdir)
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        if HIDDEN.isdisjoint(names):
            kept.append(entry)
            continue
        mirror = place / str(index)
        mirror.mkdir()
        for name in names:
            if name not in HIDDEN:
                (mirror / name).symlink_to(folder.absolute() / name)
        kept.append(str(mirror))
    return os.pathsep.join(kept)


def main(command: list[str]) -> int:
    if not command:
        print("usage: hide_tools.py COMMAND [ARGUMENT...]", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="eigentoken-path-") as place:
        whole = whole_path()  # also where a caller has hidden them before
        environment = {**os.environ, WHOLE: whole, "PATH": hidden_path(whole, Path(place))}
        return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
