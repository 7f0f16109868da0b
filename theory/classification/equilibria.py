"""The equilibria of a system: consensus and bipartite ones enumerated, polygonal and clustering ones searched.

Modulo permutations of the tokens and the global sign, the consensus and bipartite equilibria on an eigenvector of the
layer matrix F are listed by (k, p, q) with p >= q (with a mask that is not full: by sign patterns).  Each one is built
with exact tokens where its eigenvector has entries in square roots, and classified exactly.  Polygonal and clustering
equilibria are found by Newton's method from random starts: a list of those is never complete, and says so (``found``);
each is identified exactly where its entries are square roots of simple fractions, else certified by Krawczyk's test
where it is isolated, else reported as numerical.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import sympy

from eigentoken.display import frame
from eigentoken.documents.equilibria_document import EquilibriaDocument, EquilibriumDocument, EquilibriumRow
from eigentoken.files.given_arrays import rows_of
from eigentoken.theory.classification.classification import ExactEigenvalue
from eigentoken.theory.classification.classify import classify
from eigentoken.theory.classification.equilibrium_search import search
from eigentoken.theory.classification.float_algebra import double
from eigentoken.theory.classification.instances import ExactMatrix, ExactVector, Instance, read_instance
from eigentoken.theory.classification.jacobians import exact_setting
from eigentoken.theory.classification.point_shapes import Undecided, certain_zero, layer_matrix
from eigentoken.theory.exactness.elements import ExactnessLimit
from eigentoken.theory.exactness.fields import Field, in_smallest_field
from eigentoken.theory.exactness.polynomials import Root, characteristic_polynomial, closed_form, factors, roots
from eigentoken.theory.language.verdicts import Verdict, undecided
from eigentoken.theory.systems.catalogue import system as system_named
from eigentoken.theory.systems.system import Space, System

if TYPE_CHECKING:
    import networkx
    from pandas import DataFrame

__all__ = ["Equilibria", "EquilibriumPoint", "equilibria", "template"]

MOST_PATTERNS = 512


@dataclass(frozen=True, repr=False)
class EquilibriumPoint:
    """One equilibrium, up to permutation and global sign.

    ``origin`` is ``enumerated`` (from an eigenvector) or ``found`` (by search, not exhaustive).  ``exact`` has the
    exact tokens where they are known; ``tokens`` are doubles.  ``family`` is the dimension of a family of equilibria of
    the same kind that is known to contain it (a repeated eigenvalue), 0 where none is known.
    """

    instance: Instance
    kind: str
    origin: str
    tokens: tuple[tuple[float, ...], ...]
    exact: ExactMatrix | None
    equilibrium: Verdict
    stable: Verdict
    k: int | None = None
    p: int | None = None
    q: int | None = None
    eigenvalue: float | None = None
    spectrum: tuple[ExactEigenvalue, ...] = ()
    linearization: str | None = None
    unstable_dimension: int | None = None
    family: int = 0
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        where = "exact tokens" if self.exact is not None else "tokens in doubles"
        return (
            f"{self.name}: equilibrium {self.equilibrium.answer}, stable {self.stable.answer} ({self.origin}, {where})"
        )

    @property
    def name(self) -> str:
        """A short name: the kind with k, p, q where they apply."""
        parts = [f"k={self.k}"] if self.k is not None else []
        parts += [f"p={self.p}", f"q={self.q}"] if self.p is not None else []
        return f"{self.kind}({', '.join(parts)})" if parts else self.kind

    def as_dict(self) -> EquilibriumDocument:
        """A JSON document."""
        return {
            "class": self.kind,
            "origin": self.origin,
            "k": self.k,
            "p": self.p,
            "q": self.q,
            "tokens": [list(token) for token in self.tokens],
            "exact": None if self.exact is None else [[str(entry) for entry in token] for token in self.exact],
            "equilibrium": self.equilibrium.as_dict(),
            "stable": self.stable.as_dict(),
            "linearization": self.linearization,
            "unstable_dimension": self.unstable_dimension,
            "spectrum": [entry.as_dict() for entry in self.spectrum],
            "family": self.family,
            "notes": list(self.notes),
        }


def template(system: str | System, parameters: Mapping[str, Any], n: int, mask: Any = None) -> Instance:
    """An instance with these parameters and n equal tokens, which need not be an equilibrium."""
    listed = system_named(system)
    n = _size(n)
    head = parameters["heads"][0] if listed.multihead and parameters.get("heads") else parameters
    matrix = next((head[name] for name in (listed.value, listed.score) if name and name in head), [[1]])
    if not isinstance(rows_of("matrix", matrix), list | tuple):
        raise ValueError(f"{listed.name}: a matrix must be rows of numbers, got {matrix!r}")
    first: Any = 1
    if listed.metric and listed.metric in parameters:
        first = f"1/sqrt({parameters[listed.metric][0][0]})"
    token = [first] + [0] * (len(matrix) - 1)
    document = {"system": listed.name, **parameters, "tokens": [token] * n}
    return read_instance(document if mask is None else {**document, "mask": mask})


def _size(n: Any) -> int:
    plain = n.item() if getattr(n, "shape", None) == () else n
    if isinstance(plain, bool) or not isinstance(plain, int) or plain < 1:
        raise ValueError(f"n must be a whole number, at least 1, got {n!r}: give the number of tokens")
    return plain


class Equilibria(Sequence["EquilibriumPoint"]):
    """The equilibria of one exact system, in the order consensus, bipartite, others; a table in a notebook.

    ``complete`` says whether the list has all consensus and bipartite equilibria on eigenvectors (not, where the mask allows too
    many sign patterns); polygonal and clustering ones are searched, never all.
    """

    def __init__(self, base: Instance, points: Sequence[EquilibriumPoint], *, complete: bool, starts: int) -> None:
        self.base, self.points, self.complete, self.starts = base, tuple(points), complete, starts

    @overload
    def __getitem__(self, index: int) -> EquilibriumPoint: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[EquilibriumPoint, ...]: ...

    def __getitem__(self, index: int | slice) -> EquilibriumPoint | tuple[EquilibriumPoint, ...]:
        return self.points[index]

    def __len__(self) -> int:
        return len(self.points)

    @property
    def stable(self) -> tuple[EquilibriumPoint, ...]:
        """Those that are certainly linearly asymptotically stable."""
        return tuple(each for each in self.points if each.stable.is_holds)

    @property
    def unstable(self) -> tuple[EquilibriumPoint, ...]:
        """Those that are certainly not stable; what is undecided is in neither list."""
        return tuple(each for each in self.points if each.stable.is_fails)

    def connections(self, *, orbits: int = 16, steps: int = 4000, seed: int = 0) -> networkx.DiGraph:
        """Which equilibrium flows to which: numerical evidence, see :mod:`eigentoken.theory.classification.connections`."""
        from eigentoken.theory.classification.connections import connection_graph

        return connection_graph(self, orbits=orbits, steps=steps, seed=seed)

    def rows(self) -> list[EquilibriumRow]:
        """One row a point: name, class, k, p, q, verdicts, unstable dimension, origin."""
        return [
            {
                "name": each.name,
                "class": each.kind,
                "k": each.k,
                "p": each.p,
                "q": each.q,
                "equilibrium": str(each.equilibrium.answer),
                "stable": str(each.stable.answer),
                "unstable_dimension": each.unstable_dimension,
                "origin": each.origin,
            }
            for each in self.points
        ]

    def to_frame(self) -> DataFrame:
        """The rows as a pandas data frame (pandas is optional)."""
        return frame(self.rows())

    def as_dict(self) -> EquilibriaDocument:
        """A JSON document."""
        return {
            "system": self.base.system.name,
            "n": self.base.n,
            "d": self.base.d,
            "complete": self.complete,
            "equilibria": [each.as_dict() for each in self.points],
        }

    def __repr__(self) -> str:
        stable = [each.name for each in self.points if each.stable.is_holds]
        told = ", ".join(stable[:6]) + (", ..." if len(stable) > 6 else "") if stable else "none"
        where = "on eigenvectors" if not self.starts else "on eigenvectors or found by search"
        lines = [f"{len(self)} equilibria of {self.base.system.name} {where}, n = {self.base.n}, d = {self.base.d}"]
        lines.append(f"linearly asymptotically stable: {told}")
        for each in self.points[:6]:
            lines.append(f"  {each.name}: stable {each.stable.answer}, unstable dimension {each.unstable_dimension}")
        if len(self) > 6:
            lines.append(f"  ... and {len(self) - 6} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        names = list(self.rows()[0]) if self.points else []
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in row.values()) + "</tr>"
            for row in self.rows()
        )
        return f"<table class='eigentoken-equilibria'><tr>{head}</tr>{body}</table>"


def equilibria(
    system: System | Instance | Mapping[str, object] | str | Path,
    *,
    n: int | None = None,
    mask: object = None,
    starts: int = 0,
    seed: int = 0,
    **parameters: object,
) -> Equilibria:
    """Consensus and bipartite equilibria, and what a search from ``starts`` random states finds besides.

    The system is given by name with its parameters as keywords (rows, arrays or texts, as in
    :meth:`~eigentoken.theory.classification.instances.Instance.of`), or as an instance, mapping, JSON text or file; ``n`` is the
    number of tokens, by default that of the instance.

    >>> listed = equilibria("oja-map", V=[[2, 0], [0, -1]], alpha="1/4", n=3)
    >>> for each in listed:
    ...     print(each.name, each.stable.answer)
    consensus(k=1) holds
    consensus(k=2) fails
    bipartite(k=1, p=2, q=1) fails
    bipartite(k=2, p=2, q=1) fails
    """
    base = _base(system, parameters, n, mask)
    listed: list[EquilibriumPoint] = []
    if not base.system.standard and not starts:
        raise ValueError(
            f"{base.system.name}: equilibria are listed from the eigenvectors of the layer matrix, which its own equation "
            "need not have: search for them with starts=100, or classify a point"
        )
    for vector in _eigenvectors(base) if base.system.standard else ():
        for signs in _patterns(base):
            found = _on_eigenvector(base, vector, signs)
            if found is not None:
                listed.append(found)
    if base.system.space is Space.EUCLIDEAN and base.system.standard:
        origin = replace(base, tokens=tuple(tuple(sympy.Integer(0) for _ in range(base.d)) for _ in range(base.n)))
        at_zero = _classified(origin, 0, ())
        if at_zero is not None:
            listed.append(at_zero)
    listed.sort(key=lambda each: (each.kind != "consensus", each.kind != "bipartite", each.k or 0, each.q or 0))
    if starts:
        listed += search(base, starts, seed, EquilibriumPoint)
    return Equilibria(base, listed, complete=not _too_many(base), starts=starts)


def _base(
    given: System | Instance | Mapping[str, Any] | str | Path, parameters: Mapping[str, Any], n: int | None, mask: Any
) -> Instance:
    """The instance whose parameters, mask and number of tokens are asked about; its tokens do not matter."""
    document: dict[str, Any] = {}
    if isinstance(given, Instance):
        document = dict(given.as_dict())
    elif isinstance(given, Mapping):
        document = dict(given)
    elif isinstance(given, Path) or (isinstance(given, str) and (given.lstrip().startswith("{") or "." in given)):
        document = dict(read_instance(given).as_dict())
    if document:
        both = sorted(set(document) & set(parameters))
        if both:
            raise ValueError(f"{both[0]} is given twice: leave out the keyword or the entry of the instance")
        tokens = document.pop("tokens", None)
        n = len(tokens) if n is None and tokens is not None else n
        mask = document.pop("mask", None) if mask is None else mask
        name = document.pop("system", None)
        if not isinstance(name, str):
            raise ValueError(f"system is missing: expected a name, got {name!r}")
        given, parameters = name, {**document, **parameters}
    if "tokens" in parameters:
        raise ValueError("tokens are not asked for: the equilibria are looked for; give n, the number of tokens")
    if n is None:
        raise ValueError("n is missing: give the number of tokens, n=3")
    return template(given if isinstance(given, str | System) else str(given), parameters, n, mask)


def _too_many(base: Instance) -> bool:
    """Too many sign patterns to list under a mask: only consensus is then enumerated."""
    return base.mask is not None and 2 ** (base.n - 1) > MOST_PATTERNS


def _patterns(base: Instance) -> Iterator[tuple[int, ...]]:
    """Sign patterns modulo permutations that the mask allows, and modulo the global sign."""
    n = base.n
    if base.mask is None:
        for q in range(n // 2 + 1):
            yield (1,) * (n - q) + (-1,) * q
        return
    if _too_many(base):
        yield (1,) * n
        return
    for tail in product((1, -1), repeat=n - 1):
        yield (1, *tail)


@dataclass(frozen=True)
class _Eigenvector:
    """A unit eigenvector, exact where the eigenvalue has degree one or two, with the dimension of its eigenspace."""

    exact: ExactVector | None
    approximate: tuple[float, ...]
    eigenvalue: float
    dimension: int
    place: int | None = None


def _eigenvectors(base: Instance) -> list[_Eigenvector]:
    """One unit eigenvector for each real eigenvalue of the layer matrix."""

    def all_roots(ground: Field) -> list[tuple[sympy.Expr | None, Root, int]]:
        matrix = layer_matrix(exact_setting(base, ground))
        listed = []
        for factor, count in factors(ground, characteristic_polynomial(ground, matrix)):
            listed += [(closed_form(ground, root), root, count) for root in roots(factor)]
        return listed

    found = []
    listed = in_smallest_field(all_roots)
    for form, root, _ in listed:
        if not root.is_real:
            continue
        if form is not None:
            try:
                found.append(in_smallest_field(partial(_exact_eigenvector, base, form)))
                continue
            except (ExactnessLimit, Undecided):
                pass
        others = [(other.enclosure.real, count) for _, other, count in listed if other is not root]
        here = root.enclosure.real
        told = all(bool(here < real) or bool(here > real) for real, _ in others)
        place = 1 + sum(count for real, count in others if here < real) if told else None
        found.append(replace(_numerical_eigenvector(base, root), place=place))
    return sorted(found, key=lambda each: -each.eigenvalue)


def _exact_eigenvector(base: Instance, form: sympy.Expr, ground: Field) -> _Eigenvector:
    setting = exact_setting(base, ground)
    value = ground.number(form)
    rows = [
        [entry - (value if i == j else 0) for j, entry in enumerate(row)] for i, row in enumerate(layer_matrix(setting))
    ]
    kernel = _kernel(rows, ground.one)
    vector = kernel[0]
    square = ground.expression(setting.pair(vector, vector))
    exact = tuple(sympy.expand(ground.expression(entry)) / sympy.sqrt(sympy.expand(square)) for entry in vector)
    return _Eigenvector(exact, tuple(double(entry) for entry in exact), double(form), len(kernel))


def _kernel(rows: list[list[Any]], one: Any) -> list[list[Any]]:
    """A basis of the kernel, by exact elimination."""
    d = len(rows)
    pivots: list[int] = []
    for column in range(d):
        place = len(pivots)
        pivot = next((r for r in range(place, d) if not certain_zero(rows[r][column])), None)
        if pivot is None:
            continue
        rows[place], rows[pivot] = rows[pivot], rows[place]
        lead = rows[place][column]
        rows[place] = [entry / lead for entry in rows[place]]
        for r in range(d):
            if r != place:
                ratio = rows[r][column]
                rows[r] = [a - ratio * b for a, b in zip(rows[r], rows[place], strict=True)]
        pivots.append(column)
    basis = []
    for free in (column for column in range(d) if column not in pivots):
        vector = [0 * one] * d
        vector[free] = one
        for place, column in enumerate(pivots):
            vector[column] = -rows[place][free]
        basis.append(vector)
    return basis


def _numerical_eigenvector(base: Instance, root: Root) -> _Eigenvector:
    import numpy as np

    from eigentoken.theory.classification.float_algebra import FloatSystem

    floats = FloatSystem.of(base)
    matrix = np.sum([np.eye(base.d) if F is None else F for F, _ in base.system.heads(floats.parameters)], axis=0)
    values, vectors = np.linalg.eig(matrix)
    vector = vectors[:, int(np.argmin(abs(values - root.value)))].real
    unit = floats.project(vector[None])[0]
    return _Eigenvector(None, tuple(float(entry) for entry in unit), root.value.real, 1)


def _on_eigenvector(base: Instance, vector: _Eigenvector, signs: tuple[int, ...]) -> EquilibriumPoint | None:
    if vector.exact is None:
        return _numerical(base, vector, signs)
    tokens = tuple(tuple(sign * entry for entry in vector.exact) for sign in signs)
    notes: tuple[str, ...] = ()
    if vector.dimension > 1:
        notes = (f"one of a family: every unit vector of the {vector.dimension}-dimensional eigenspace is a candidate",)
    return _classified(replace(base, tokens=tokens), vector.dimension - 1, notes)


def _classified(instance: Instance, family: int, notes: tuple[str, ...]) -> EquilibriumPoint | None:
    found = classify(instance)
    if found.kind in {"not-an-equilibrium", "2-cycle"}:
        return None
    return EquilibriumPoint(
        instance,
        found.kind,
        "enumerated",
        tuple(tuple(double(entry) for entry in token) for token in instance.tokens),
        instance.tokens,
        found.equilibrium,
        found.stable,
        found.k,
        found.p,
        found.q,
        None if found.eigenvalue is None else found.eigenvalue.value.real,
        found.spectrum,
        found.linearization,
        found.unstable_dimension,
        family,
        found.notes + notes,
    )


def _numerical(base: Instance, vector: _Eigenvector, signs: tuple[int, ...]) -> EquilibriumPoint | None:
    """An equilibrium on an eigenvector of degree above two: doubles, certified by Krawczyk's test where isolated."""
    from eigentoken.theory.classification.equilibrium_search import described

    tokens = tuple(tuple(sign * entry for entry in vector.approximate) for sign in signs)
    kind = "consensus" if len(set(signs)) == 1 else "bipartite"
    found = described(base, tokens, kind, "enumerated", EquilibriumPoint)
    if found is None:
        return None
    split = (signs.count(1), signs.count(-1)) if kind == "bipartite" else (None, None)
    verdict = found.equilibrium
    if verdict.is_undecided:
        verdict = undecided(f"the eigenvector has degree above two; {verdict.reason}")
    return replace(found, equilibrium=verdict, k=vector.place, p=split[0], q=split[1], eigenvalue=vector.eigenvalue)
