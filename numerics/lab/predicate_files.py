"""Where a free predicate comes from, and where it can be found again."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eigentoken.numerics.lab.conjectures import Conjecture

__all__ = ["file_digest", "predicate_home", "premise_home", "resolved"]


def resolved(text: str, beside: str) -> tuple[Callable[[Any], Any], str, str]:
    """The function that ``file.py:function`` or ``package.module:function`` names, with its file and name."""
    home, _, name = text.rpartition(":")
    if not home or not name.isidentifier():
        raise ValueError(f"holds_if must be a function or 'file.py:function', got {text!r}")
    if home.endswith(".py"):
        path = Path(home) if Path(home).is_absolute() else Path(beside).parent / home
        if not path.is_file():
            raise ValueError(f"holds_if: there is no file {path}")
        module = ModuleType(path.stem)
        module.__file__ = str(path)
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    else:
        module = importlib.import_module(home)
        path = Path(str(module.__file__))
    found = module.__dict__.get(name)
    if not callable(found):
        raise ValueError(f"holds_if: {path} has no function {name}")
    return found, str(path), name


def predicate_home(conjecture: Conjecture) -> dict[str, str]:
    """Where the predicate can be found again: file, sha256 of the file, and the function or the conjecture."""
    home = _home(conjecture, Path(conjecture.predicate_file or conjecture.file))
    return {**home, "function": conjecture.predicate_name} if home and conjecture.predicate_name else home


def premise_home(conjecture: Conjecture) -> dict[str, str]:
    """Where the premise can be found again: the file that states the conjecture."""
    return _home(conjecture, Path(conjecture.file))


def _home(conjecture: Conjecture, file: Path) -> dict[str, str]:
    return {"file": str(file), "sha256": file_digest(file), "conjecture": conjecture.name} if file.is_file() else {}


def file_digest(file: Path) -> str:
    """sha256 of the file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
