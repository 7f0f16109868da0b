"""The dynamical systems of the three papers, each written once, and every system by its name.

Here are the declarations; the equation is that of :class:`~eigentoken.theory.systems.system.System`.

Systems of other packages are entered by a decorator or an entry point, looked at once, and found by name like our own.
A package adds a system with :func:`register_system` and names its module in the entry point group ``eigentoken.systems``::

    [project.entry-points."eigentoken.systems"]
    my-systems = "my_systems"

The module registers when it is imported, or in a function ``load()``.  What is declared is compared with what the equation
does (:mod:`eigentoken.theory.systems.declarations`) before the name is entered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from eigentoken.display import Listed
from eigentoken.files.installed import package_folders
from eigentoken.theory.systems.declarations import DeclarationError, check_declaration, check_equation, declared
from eigentoken.theory.systems.hard_attention import HARD
from eigentoken.theory.systems.placements import PLACEMENTS
from eigentoken.theory.systems.suggestions import meant
from eigentoken.theory.systems.system import Space, System, Time

__all__ = [
    "ENTRY_POINT_GROUP",
    "OURS",
    "POSITIONAL",
    "SPECIAL_CASES",
    "SYSTEMS",
    "SpecialCase",
    "added",
    "register_system",
    "special_case",
    "system",
    "systems",
]

LI_ALTAFINI = "Li, Altafini: Analogies between Transformer Layers and Power Method"
ABELLA = "Rodriguez Abella, Silvestre, Tabuada: The Asymptotic Behavior of Attention in Transformers"
PHAM = "Pham et al.: Dynamical Properties of Tokens in Self-Attention and Effects of Positional Encoding"

_LISTED = (
    System("oja-map", "multi-agent Oja map", Space.SPHERE, Time.MAP, "V", None, source=f"{LI_ALTAFINI}, eq. (9)"),
    System("oja-flow", "multi-agent Oja flow", Space.SPHERE, Time.FLOW, "V", None, source="CT-1"),
    System(
        "attention-map", "single-head attention map", Space.SPHERE, Time.MAP, "V", "M", source=f"{LI_ALTAFINI}, eq. (8)"
    ),
    System("attention-flow", "single-head attention flow", Space.SPHERE, Time.FLOW, "V", "M", source="CT-1"),
    System(
        "multihead-map",
        "multi-head attention map",
        Space.SPHERE,
        Time.MAP,
        "F",
        "M",
        multihead=True,
        source=f"{LI_ALTAFINI}, eq. (3)",
    ),
    System(
        "multihead-flow", "multi-head attention flow", Space.SPHERE, Time.FLOW, "F", "M", multihead=True, source="CT-2"
    ),
    System(
        "ellipsoid-flow",
        "attention flow on an ellipsoid, gradient case",
        Space.ELLIPSOID,
        Time.FLOW,
        None,
        "P",
        metric="P",
        over_root_d=True,
        source=f"{ABELLA}, eq. (8)",
    ),
    System(
        "ellipsoid-map",
        "multi-head attention layer on an ellipsoid",
        Space.ELLIPSOID,
        Time.MAP,
        "U",
        "P",
        metric="W",
        multihead=True,
        over_root_d=True,
        source=f"{ABELLA}, eq. (6)",
    ),
    System(
        "ellipsoid-multihead-flow",
        "multi-head attention flow on an ellipsoid",
        Space.ELLIPSOID,
        Time.FLOW,
        "U",
        "P",
        metric="W",
        multihead=True,
        over_root_d=True,
        source=f"{ABELLA}, eq. (7), and with U = I eq. (11)",
    ),
    System(
        "causal-flow",
        "causal attention flow with a value matrix",
        Space.SPHERE,
        Time.FLOW,
        "U",
        "P",
        over_root_d=True,
        mask="causal",
        source=f"{ABELLA}, eqs. (15) and (21)",
    ),
    System(
        "token-flow",
        "unnormalised token flow",
        Space.EUCLIDEAN,
        Time.FLOW,
        "B",
        "W",
        source=f"{PHAM}, column convention",
    ),
)

#: All systems by name.
SYSTEMS: Mapping[str, System] = {listed.name: listed for listed in _LISTED}

#: Systems whose scores depend on the positions of the tokens: instances and conjectures know them; nothing is derived for
#: them from the formulas of the others.
POSITIONAL: Mapping[str, System] = {
    "rotary-flow": System(
        "rotary-flow",
        "unnormalised token flow with rotary encoding",
        Space.EUCLIDEAN,
        Time.FLOW,
        "B",
        None,
        source=f"{PHAM}, rotary encoding, column convention",
        rotary=("Q", "K", "R"),
    )
}


#: Every system of the house: those that have formulas of their own, and those that are read from their equation.
OURS: Mapping[str, System] = {**SYSTEMS, **POSITIONAL, **PLACEMENTS, **HARD}


@dataclass(frozen=True)
class SpecialCase:
    """The system ``small`` is the system ``large`` for particular parameters: what holds of ``large`` holds of it.

    ``values`` names, for each matrix of one head of ``large`` (and its metric), what it is in ``small``: a parameter of
    ``small``, ``"0"`` or ``"I"``.  Steps, sizes and tokens are the same; a system with heads is taken with one head.
    Where ``masked``, the weights of ``small`` are those of ``large`` under the mask of ``small``: only what was proved for
    this mask carries over.
    """

    small: str
    large: str
    values: Mapping[str, str]
    masked: bool = False


#: Every special case that is used, each one step; :func:`special_case` composes them.  No map is a special case of a flow.
SPECIAL_CASES: tuple[SpecialCase, ...] = (
    SpecialCase("oja-map", "attention-map", {"V": "V", "M": "0"}),
    SpecialCase("attention-map", "multihead-map", {"F": "V", "M": "M"}),
    SpecialCase("oja-flow", "attention-flow", {"V": "V", "M": "0"}),
    SpecialCase("attention-flow", "multihead-flow", {"F": "V", "M": "M"}),
    SpecialCase("ellipsoid-flow", "ellipsoid-multihead-flow", {"U": "I", "P": "P", "W": "P"}),
    SpecialCase("causal-flow", "ellipsoid-multihead-flow", {"U": "U", "P": "P", "W": "I"}, masked=True),
)


def special_case(small: str, large: str, *, masked: bool = False) -> Mapping[str, str] | None:
    """What the parameters of ``large`` are where it is ``small``; ``None`` where ``large`` does not contain ``small``.

    With ``masked`` the mask may differ: the letters are then known, and nothing is said to carry over.

    >>> special_case("oja-map", "multihead-map")
    {'F': 'V', 'M': '0'}
    >>> special_case("attention-map", "oja-map") is None, special_case("oja-flow", "oja-map") is None
    (True, True)
    >>> special_case("causal-flow", "ellipsoid-multihead-flow") is None
    True
    """
    if small == large:
        names = (each.name for each in system(small).parameters if each.kind == "matrix")
        heads = (system(small).value, system(small).score) if system(small).multihead else ()
        return {name: name for name in (*names, *heads) if name}
    for case in SPECIAL_CASES:
        usable = case.large == large and (masked or not case.masked)
        rest = special_case(small, case.small, masked=masked) if usable else None
        if rest is not None:
            return {name: rest.get(value, value) for name, value in case.values.items()}
    return None


def systems() -> Listed[System]:
    """All systems by name: those of the papers, and those that other packages registered (entry points are loaded)."""
    return Listed({**OURS, **added()})


def system(given: str | System) -> System:
    """The system of that name, ours or registered by another package; a system itself, unless its name is another's.

    >>> system("oja-map").parameters[0].name
    'V'
    >>> system(System("oja-map", "mine", "sphere", "map", "V", "M"))
    Traceback (most recent call last):
    ValueError: the name 'oja-map' is that of another system, multi-agent Oja map: give this one a name of its own
    """
    name = given.name if isinstance(given, System) else given
    known: Mapping[str, System] = OURS if isinstance(name, str) and name in OURS else systems()
    if isinstance(given, System):
        named = known.get(name, given)
        if named is not given and named != given:
            raise ValueError(
                f"the name {name!r} is that of another system, {named.title}: give this one a name of its own"
            )
        return named
    try:
        return known[name]
    except (KeyError, TypeError):
        raise ValueError(f"unknown system {name!r}: {meant(name, known)}") from None


ENTRY_POINT_GROUP = "eigentoken.systems"

_ADDED: dict[str, System] = {}
_LOADED: set[EntryPoint] = set()

Given = TypeVar("Given", bound=System | type[System])


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
    if made.name in OURS:
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
    for entry in _entries(package_folders()):
        if entry not in _LOADED:
            _load(entry)
    return _ADDED


@lru_cache(maxsize=1)
def _entries(folders: tuple[tuple[str, int], ...]) -> tuple[EntryPoint, ...]:
    """The entry points of the packages in these folders, by name."""
    return tuple(sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda each: each.name))


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
