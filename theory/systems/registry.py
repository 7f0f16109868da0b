"""Systems of other packages: entered by a decorator or an entry point, looked at once, found by name like our own.

A package adds a system with :func:`register_system` and names its module in the entry point group ``eigentoken.systems``::

    [project.entry-points."eigentoken.systems"]
    my-systems = "my_systems"

The module registers when it is imported, or in a function ``load()``.  What is declared is compared with what the equation
does (:mod:`eigentoken.theory.systems.declarations`) before the name is entered.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from eigentoken.theory.systems.declarations import DeclarationError, check_declaration, check_equation, declared
from eigentoken.theory.systems.system import System

__all__ = ["ENTRY_POINT_GROUP", "added", "register_system"]

ENTRY_POINT_GROUP = "eigentoken.systems"

_ADDED: dict[str, System] = {}
_LOADED: set[EntryPoint] = set()

Given = TypeVar("Given", System, type[System])


def register_system(given: Given) -> Given:
    """Enter a system under its name: a subclass of :class:`System` (as a decorator) or a composed ``System(...)``.

    Its declarations must be complete and must say what its equation does, or a :class:`ValueError` says in one line what is
    wrong.  A name is taken once; the same class defined again (a notebook cell that is run twice) takes its own place.
    """
    made = given if isinstance(given, System) else declared(given)
    check_declaration(made)
    _check_name(made)
    check_equation(made)
    _ADDED[made.name] = made
    return given


def _check_name(made: System) -> None:
    from eigentoken.theory.systems.catalogue import POSITIONAL, SYSTEMS

    if made.name in SYSTEMS or made.name in POSITIONAL:
        raise DeclarationError(f"system name {made.name!r} is taken by a system of the papers: choose another")
    other = _ADDED.get(made.name)
    if other is None or other == made or (type(made) is not System and _place(made) == _place(other)):
        return
    raise DeclarationError(f"system name {made.name!r} is taken by {'.'.join(_place(other))}: choose another")


def _place(made: System) -> tuple[str, str]:
    return type(made).__module__, type(made).__qualname__


def added() -> Mapping[str, System]:
    """The registered systems by name, with every entry point of :data:`ENTRY_POINT_GROUP` loaded.

    Whatever a package raises is one :class:`ValueError` that names the package, and nothing of that package is entered.
    """
    for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda each: each.name):
        if entry not in _LOADED:
            _load(entry)
    return _ADDED


def _load(entry: EntryPoint) -> None:
    before = dict(_ADDED)
    _LOADED.add(entry)
    try:
        module = entry.load()
        if hasattr(module, "load"):
            module.load()
    except Exception as problem:
        _LOADED.discard(entry)
        _ADDED.clear()
        _ADDED.update(before)
        package = entry.dist.name if entry.dist is not None else entry.module.partition(".")[0]
        said = " ".join(f"{type(problem).__name__}: {problem}".split())
        raise ValueError(f"entry point {entry.name} ({package}): {said}; uninstall {package} or repair it") from problem
