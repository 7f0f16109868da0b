"""Which true statement is asked of which exact instances.

The statements (``truths/*.py``) are plain functions of one instance, as a numpy user writes them.  The instances are exact, and
most of them are chosen where inequalities hold with equality: equal tokens, antipodal ones, orthonormal ones, multiples of the
identity.  There the smallest rounding, and any other meaning of an operation, turns a true statement into a false one.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from eigentoken.numerics.instances.exact_values import Case
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.conditions import PositiveDefinite, Relation, Symmetric
from eigentoken.theory.language.terms import matrix, n

FOLDER = Path(__file__).parent / "truths"
Rows = list[list[Any]]

#: Exact unit vectors; the first is the one where consensus is put, the second is another one.
UNIT: dict[int, Rows] = {
    1: [[1], [-1], [1], [1]],
    2: [[1, 0], ["3/5", "4/5"], [0, 1], ["-5/13", "12/13"], ["sqrt(2)/2", "-sqrt(2)/2"]],
    3: [[1, 0, 0], ["2/3", "2/3", "1/3"], [0, 1, 0], ["-2/7", "3/7", "6/7"], [0, 0, 1]],
    4: [["1/2"] * 4, [1, 0, 0, 0], ["1/2", "-1/2", "1/2", "-1/2"], [0, 0, 1, 0], [0, "3/5", 0, "4/5"]],
}
TRIANGLE: Rows = [[1, 0], ["-1/2", "sqrt(3)/2"], ["-1/2", "-sqrt(3)/2"]]


def _opposite(vector: list[Any]) -> list[Any]:
    return [f"-({entry})" if isinstance(entry, str) else -entry for entry in vector]


def consensus(count: int, d: int, which: int = 0) -> Rows:
    return [UNIT[d][which]] * count


def antipodal(count: int, d: int, which: int = 0) -> Rows:
    first = UNIT[d][which]
    return [first if i % 2 == 0 else _opposite(first) for i in range(count)]


def with_a_third(d: int) -> Rows:
    """x, -x and y: the perimeter of that triangle is exactly 2 pi."""
    return [UNIT[d][0], _opposite(UNIT[d][0]), UNIT[d][1]]


def generic(count: int, d: int) -> Rows:
    return list(itertools.islice(itertools.cycle(UNIT[d]), count))


def basis(d: int) -> Rows:
    return [[int(i == j) for j in range(d)] for i in range(d)]


#: Token states: where equality holds first.
STATES: tuple[Rows, ...] = (
    consensus(3, 2),
    antipodal(2, 2),
    with_a_third(3),
    consensus(6, 3),
    basis(3),
    consensus(7, 2, 1),
    generic(3, 2),
    antipodal(4, 3, 1),
    consensus(10, 1),
    generic(4, 4),
    TRIANGLE,
    with_a_third(2),
    consensus(1, 2),
    antipodal(3, 4),
    generic(5, 3),
    consensus(5, 4),
)
EQUAL: tuple[Rows, ...] = (
    consensus(3, 2),
    consensus(7, 2, 1),
    consensus(6, 3),
    consensus(5, 3, 1),
    consensus(10, 1),
    consensus(9, 4),
    consensus(2, 2, 4),
)


def square(kind: str, d: int, which: int) -> Rows:
    """The which-th matrix of a kind: ``any``, ``symmetric``, ``definite``, ``leading`` (diagonal, the first entry leads)."""
    listed: dict[str, list[Callable[[int, int], Any]]] = {
        "any": [
            lambda i, j: [2, -1, "1/3"][(i + 2 * j) % 3],
            lambda i, j: int(i == j),
            lambda i, j: 0,
            lambda i, j: (1 if i < j else -1) * int(i != j),
            lambda i, j: ["7/10", "1/10", "-3/10", 1][(2 * i + j) % 4],
        ],
        "symmetric": [
            lambda i, j: "1/3" if i == j else 0,
            lambda i, j: ["-1/2", 1, "2/3"][(i + j) % 3],
            lambda i, j: -3 if i == j else 0,
            lambda i, j: 1,
            lambda i, j: [2, "1/10", "-7/10"][(i * j) % 3],
        ],
        "definite": [
            lambda i, j: "7/3" if i == j else 0,
            lambda i, j: 2 if i == j else "1/3",
            lambda i, j: int(i == j),
            lambda i, j: i + 1 if i == j else 0,
            lambda i, j: "3/2" if i == j else "-1/10",
        ],
        "leading": [
            lambda i, j: [2, 1, "-1/3", "1/7"][i] if i == j else 0,
            lambda i, j: [1, "9/10", "1/10", -1][i] if i == j else 0,
        ],
    }
    make = listed[kind][which % len(listed[kind])]
    return [[make(i, j) for j in range(d)] for i in range(d)]


STEPS = ("1/3", "1", "1/10", "7/4", "3")


@dataclass(frozen=True)
class Truth:
    """One true statement, the system it is asked of, and how its instances are made."""

    name: str
    predicate: Callable[[Any], Any]
    system: str
    kind: str = "any"
    states: tuple[Rows, ...] = STATES
    mask: str | None = None

    def cases(self) -> Iterator[Case]:
        for number, tokens in enumerate(self.states):
            yield Case(instance(self.system, tokens, self.kind, number, self.mask), p=(len(tokens) + 1) // 2)

    def conditions(self) -> list[Any]:
        """The conditions under which it is true, for a search of its own."""
        V = matrix("V")
        given: list[Any] = {"symmetric": [Symmetric(V)], "definite": [Symmetric(V), PositiveDefinite(V)]}.get(
            self.kind, []
        )
        fewest = min(len(tokens) for tokens in self.states)
        return given + ([Relation(n >= fewest)] if fewest > 1 else [])


def instance(system: str, tokens: Rows, kind: str, number: int, mask: str | None = None) -> Instance:
    """An exact instance of any system: matrices of the kind, whole numbers and small fractions."""
    return _instance(system, tuple(map(tuple, tokens)), kind, number, mask)


@cache
def _instance(system: str, tokens: tuple[tuple[Any, ...], ...], kind: str, number: int, mask: str | None) -> Instance:
    d = len(tokens[0])
    value, score, step = square(kind, d, number), square("any", d, number + 1), STEPS[number % len(STEPS)]
    other = square("any", d, number + 2)
    unit = square("any", d, 1)
    options: dict[str, dict[str, Any]] = {
        "oja-map": {"V": value, "alpha": step},
        "oja-flow": {"V": value},
        "attention-map": {"V": value, "M": score, "alpha": step},
        "attention-flow": {"V": value, "M": score},
        "multihead-map": {"heads": [{"F": value, "M": score}, {"F": other, "M": value}], "alpha": step},
        "multihead-flow": {"heads": [{"F": value, "M": score}, {"F": other, "M": value}]},
        "ellipsoid-flow": {"P": unit},
        "ellipsoid-map": {"heads": [{"U": value, "P": score}, {"U": other, "P": value}], "W": unit, "alpha": step},
        "ellipsoid-multihead-flow": {"heads": [{"U": value, "P": score}], "W": unit},
        "causal-flow": {"U": value, "P": score},
        "token-flow": {"B": value, "W": score},
        "rotary-flow": {"B": value, "Q": score, "K": other, "R": turned(d)},
    }
    return Instance.of(system, tokens, mask, **options[system])


def turned(d: int) -> Rows:
    """A rotation by the angle of (3, 4, 5) in the first plane."""
    rows: Rows = [[int(i == j) for j in range(d)] for i in range(d)]
    if d > 1:
        rows[0][:2], rows[1][:2] = ["3/5", "-4/5"], ["4/5", "3/5"]
    return rows


@cache
def statements(name: str) -> ModuleType:
    """The module of true statements of that name."""
    spec = importlib.util.spec_from_file_location(f"eigentoken_truths_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _at_least(count: int) -> tuple[Rows, ...]:
    return tuple(state for state in STATES if len(state) >= count)


def _in_space() -> tuple[Rows, ...]:
    return tuple(state for state in STATES if len(state[0]) == 3)


def _group(module: str, group: str, system: str, **options: Any) -> Iterator[Truth]:
    for predicate in getattr(statements(module), group):
        yield Truth(f"{module}: {predicate.__name__} ({system})", predicate, system, **options)


def truths() -> list[Truth]:
    """All of them, in a fixed order."""
    return [truth for part in _parts() for truth in part]


def _parts() -> Sequence[Iterator[Truth]]:
    spheres: dict[str, Any] = {"states": EQUAL}
    return (
        _group("weights", "STOCHASTIC", "attention-map"),
        _group("weights", "UNIFORM", "attention-map", **spheres),
        _group("weights", "UNIFORM", "token-flow", **spheres),
        _group("weights", "CAUSAL", "attention-flow", mask="causal"),
        _group("weights", "CAUSAL_UNIFORM", "attention-map", mask="causal", **spheres),
        _group("weights", "OVER_ROOT_D", "ellipsoid-flow"),
        _group("weights", "OVER_ROOT_D", "causal-flow"),
        _group("tokens", "SPHERE", "oja-map"),
        _group("tokens", "PAIRS", "attention-flow", states=_at_least(2)),
        _group("tokens", "TRIPLES", "oja-flow", states=_at_least(3)),
        _group("tokens", "SPACE", "multihead-flow", states=_in_space()),
        _group("matrices", "ANY", "oja-flow"),
        _group("matrices", "SYMMETRIC", "oja-map", kind="symmetric"),
        _group("matrices", "DEFINITE", "oja-flow", kind="definite"),
        _group("numbers", "SIZES", "attention-map"),
        _group("numbers", "STEP", "oja-map"),
        _group("motion", "OJA_MAP", "oja-map", kind="definite"),
        _group("motion", "ATTENTION_MAP", "attention-map", kind="definite"),
        _group("motion", "MULTIHEAD_MAP", "multihead-map", kind="definite"),
        _group("motion", "MULTIHEAD_FLOW", "multihead-flow"),
        _group("motion", "OJA_FLOW", "oja-flow"),
        _group("motion", "OJA_FLOW_SYMMETRIC", "oja-flow", kind="symmetric"),
        _group("motion", "ATTENTION_FLOW", "attention-flow"),
        _group("motion", "REST_OF_FLOWS", "oja-flow", kind="leading", states=(EQUAL[0], EQUAL[2], EQUAL[4])),
        _group("motion", "REST_OF_FLOWS", "attention-flow", kind="leading", states=(EQUAL[0], EQUAL[2], EQUAL[4])),
        _group("motion", "REST_OF_MAPS", "attention-map", kind="leading", states=(EQUAL[0], EQUAL[2], EQUAL[4])),
        _group("motion", "ELLIPSOID_FLOW", "ellipsoid-flow"),
        _group("motion", "ELLIPSOID_HEADS_FLOW", "ellipsoid-multihead-flow"),
        _group("motion", "ELLIPSOID_HEADS_MAP", "ellipsoid-map", kind="definite"),
        _group("motion", "CAUSAL_FLOW", "causal-flow"),
        _group("motion", "TOKEN_FLOW", "token-flow"),
        _group("motion", "ROTARY_FLOW", "rotary-flow"),
        _group("escapes", "ESCAPES", "oja-flow"),
        _group("idioms", "IDIOMS", "attention-map", states=(EQUAL[0], EQUAL[2], EQUAL[4], generic(7, 2))),
    )
