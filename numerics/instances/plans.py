"""Plans: what the conditions of a statement demand of an instance, collected before anything is drawn.

Each condition refines a plan (``GENERATED(condition, plan)``), or asks for a near miss (``satisfy=False``).  A plan is
then *constructed* from the inside out: sizes, spectra, matrices with these spectra, the step on the asked side of its
threshold, tokens in the asked place (:mod:`eigentoken.numerics.instances.construction`).

The further parameters of a system that another package registered: drawn, in batches and small, and rounded.

The papers' systems have matrices and a step alone; a registered one may have vectors and numbers beside them
(:class:`~eigentoken.theory.systems.system.Parameter`).  In a batch of B a vector is ``(B, d)``, a number ``(B,)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from eigentoken.numerics.instances.rational import rounded
from eigentoken.theory.language import terms
from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.places import BipartiteAt, Place
from eigentoken.theory.language.readings import GENERATED
from eigentoken.theory.language.regions import StateRegion
from eigentoken.theory.systems.algebra import MaskValue
from eigentoken.theory.systems.catalogue import system as find_system
from eigentoken.theory.systems.system import Parameter, Space, System, Time

__all__ = [
    "STOCHASTIC",
    "Contradiction",
    "HemispherePlan",
    "MatrixPlan",
    "NotFound",
    "Plan",
    "exact_value",
    "float_value",
    "load",
    "plan_for",
    "with_further",
]


#: What a matrix may be fixed to that depends on the basis.
STOCHASTIC = ("stochastic", "doubly stochastic")


class Contradiction(ValueError):
    """The conditions leave no instance: the message names the two that clash, or the relations that do."""


class NotFound(Contradiction):
    """No instance was constructed, and it is not shown that there is none."""


@dataclass(frozen=True)
class MatrixPlan:
    """What is asked of one matrix: ``None`` means that nothing is asked.

    ``sign`` speaks of the symmetric part: "positive", "negative", "nonnegative", "not positive", ... ``fixed`` fixes the
    matrix: "identity", "zero", a rational multiple of the identity, "orthogonal" (``X X^T = I``), "involution" (``X X = I``),
    "skew" (``X^T = -X``), "stochastic", "doubly stochastic".
    """

    symmetric: bool | None = None
    sign: str | None = None
    nonsingular: bool | None = None
    simple_top: bool | None = None
    dominant: bool | None = None
    fixed: Any = None

    def merged(self, other: MatrixPlan, name: str) -> MatrixPlan:
        """Both demands; raises :class:`Contradiction` where they clash."""
        chosen: dict[str, Any] = {}
        for part in ("symmetric", "sign", "nonsingular", "simple_top", "dominant", "fixed"):
            mine, theirs = getattr(self, part), getattr(other, part)
            if mine is not None and theirs is not None and mine != theirs:
                if part == "sign" and {mine, theirs} <= {"positive", "nonnegative"}:
                    chosen[part] = "positive"
                    continue
                if part == "sign" and {mine, theirs} == {"nonnegative", "not positive"}:
                    chosen[part] = "nonnegative singular"
                    continue
                if part == "sign" and "not" in f"{mine}{theirs}" and {mine, theirs} not in _OPPOSED:
                    chosen[part] = mine if "not" not in mine else theirs
                    continue
                raise Contradiction(f"{name} cannot be both {_said(part, mine)} and {_said(part, theirs)}")
            chosen[part] = theirs if mine is None else mine
        return MatrixPlan(**chosen)


_OPPOSED = ({"positive", "not positive"}, {"negative", "not negative"}, {"nonnegative", "not nonnegative"})


def _said(part: str, value: Any) -> str:
    if part == "sign":
        return f"{value} (semi)definite" if value == "nonnegative" else f"{value} definite"
    words = {
        "symmetric": "symmetric",
        "nonsingular": "invertible",
        "simple_top": "simple at the top",
        "dominant": "dominant",
    }
    if part == "fixed":
        return str(value)
    return words[part] if value else f"not {words[part]}"


@dataclass(frozen=True)
class HemispherePlan:
    """Tokens with ``w^T x_i > 0``: w is the top eigenvector of ``normal`` (``None``: any w); ``inside=False`` just misses."""

    normal: sp.MatrixExpr | None = None
    left: bool = False
    inside: bool = True


@dataclass(frozen=True)
class Plan:
    """What is to be generated for one system.

    ``conditions`` lists every condition with whether it is to be satisfied: the last word belongs to these, evaluated
    on what was constructed.  ``place`` puts the tokens at a place; ``None`` starts them anywhere.
    """

    system: System
    matrices: Mapping[sp.MatrixExpr, MatrixPlan] = field(default_factory=dict)
    relations: tuple[sp.Basic, ...] = ()
    conditions: tuple[tuple[Condition, bool], ...] = ()
    alternatives: tuple[tuple[tuple[Condition, bool], ...], ...] = ()
    place: Place | None = None
    hemisphere: HemispherePlan | None = None
    start: StateRegion | None = None
    "The region in which the tokens start."
    distinct: bool | None = None
    opposite: bool | None = None
    timed: tuple[str, ...] = ()
    commute: tuple[tuple[Any, Any], ...] = ()
    multiples: tuple[tuple[Any, Any], ...] = ()
    "Pairs (X, Y) with ``X = c Y``."
    tied: tuple[tuple[sp.MatrixSymbol, sp.Expr, sp.MatrixSymbol], ...] = ()
    "Letters and a number (X, c, Y) with ``X = c Y`` for this c."
    on_a_line: bool = False
    "The tokens are at a unit vector and its negative, any one."
    shared_top: tuple[str, ...] = ()
    scores: tuple[sp.Expr, ...] = ()
    head_plan: Plan | None = None
    "What is asked of each head alone, as a plan for one head."
    mask: MaskValue = None
    n: tuple[int, ...] = (2, 3, 4, 5, 8)
    d: tuple[int, ...] = (2, 3, 4, 8)
    mentioned: frozenset[Any] = frozenset()
    sizes_given: bool = False
    "The sizes were asked for: no others are tried where these do not fit."

    def demand(self, term: Any, asked: MatrixPlan) -> Plan:
        """Ask something more of a matrix term; the symmetric part of X is asked of X."""
        key = self.own(_bare(term))
        known = self.matrices.get(key, MatrixPlan())
        return replace(self, matrices={**self.matrices, key: known.merged(asked, str(key))})

    def own(self, term: sp.Basic) -> sp.Basic:
        """The term in the letters of the system: the layer matrix F is the value matrix where there is one head."""
        value = self.system.value
        if value is None or self.system.multihead or value == "F":
            return term
        return term.xreplace({terms.matrix("F"): terms.matrix(value)})

    def relate(self, relation: Any) -> Plan:
        """Ask for a scalar relation."""
        relation = self.own(relation)
        numbers = relation.atoms(terms.ScoreAtEigenvector)
        return replace(
            self,
            relations=(*self.relations, relation),
            scores=tuple(dict.fromkeys([*self.scores, *sorted(numbers, key=str)])),
            mentioned=self.mentioned | relation.free_symbols,
        )

    def noting(self, condition: Condition, satisfied: bool) -> Plan:
        return replace(self, conditions=(*self.conditions, (condition, satisfied)))

    def at(self, place: Place | None) -> Plan:
        """Put the tokens at a place."""
        symbols: set[Any] = set()
        for part in (getattr(place, "index", None), getattr(place, "rank", None)):
            symbols |= sp.sympify(part).free_symbols if part is not None else set()
        return replace(self, place=place, mentioned=self.mentioned | symbols)

    def noticing(self, symbols: Iterable[sp.Basic]) -> Plan:
        """The plan knows that these symbols occur in a claim."""
        return replace(self, mentioned=self.mentioned | frozenset(symbols))

    def sized(self, n: tuple[int, ...] | None = None, d: tuple[int, ...] | None = None) -> Plan:
        """Only these sizes."""
        given = self.sizes_given or n is not None or d is not None
        return replace(self, n=self.n if n is None else n, d=self.d if d is None else d, sizes_given=given)

    @property
    def in_its_basis(self) -> bool:
        """Does the plan ask for something that another basis would not keep: entries, or a region of starts?"""
        entries = any(each.has(terms.SmallestEntry, terms.LargestEntry) for each in self.relations)
        return entries or self.start is not None or any(each.fixed in STOCHASTIC for each in self.matrices.values())

    @property
    def splits(self) -> bool:
        """Do p and q matter?"""
        return isinstance(self.place, BipartiteAt) or bool(self.mentioned & {terms.p, terms.q})

    @property
    def indexed(self) -> bool:
        """Does k matter?"""
        return terms.k in self.mentioned

    @property
    def is_map(self) -> bool:
        return self.system.time is Time.MAP

    @property
    def euclidean(self) -> bool:
        return self.system.space is Space.EUCLIDEAN

    def shapes(self) -> list[tuple[int, int, int, int]]:
        """All (n, d, k, p) that the integer relations allow, smallest first."""
        whole = [each for each in self.relations if _only_sizes(each)]
        found = self._shapes(self.n, self.d, whole)
        if not found and not self.sizes_given:
            found = self._shapes(range(1, 10), range(2, 10), whole) or self._shapes(range(1, 10), (1,), whole)
        if not found:
            asked = ", ".join(str(each) for each in whole) or f"n in {self.n}, d in {self.d}"
            empty = self.place is not None and not any(map(self.place.has_states, self.n))
            why = f": {type(self.place).__name__} has no states for such n" if empty else ""
            raise Contradiction(f"no sizes satisfy {asked}{why}")
        return found

    def _shapes(self, sizes: Any, dimensions: Any, whole: list[Any]) -> list[tuple[int, int, int, int]]:
        found = []
        for n in sizes:
            for d in dimensions:
                for k in range(1, d + 1) if self.indexed else (1,):
                    for p in range(1, n) if self.splits else (n,):
                        if self.place is not None and not _has_states(self.place, n, d, k, p):
                            continue
                        if all(_allows(each, n, d, k, p) for each in whole):
                            found.append((n, d, k, p))
        return found


@lru_cache(maxsize=16384)
def _has_states(place: Place, n: int, d: int, k: int, p: int) -> bool:
    """Are there states for these sizes: enough tokens, and as many eigenvalues as the place counts?"""
    index = sp.sympify(getattr(place, "index", 1)).subs(
        {terms.n: n, terms.d: d, terms.k: k, terms.p: p, terms.q: n - p}
    )
    return place.has_states(n) and not (index.is_Integer and not 1 <= int(index) <= d)


@lru_cache(maxsize=16384)
def _allows(relation: sp.Basic, n: int, d: int, k: int, p: int) -> bool:
    """Is the relation between sizes true of these?"""
    known = {terms.n: n, terms.d: d, terms.k: k, terms.p: p, terms.q: n - p}
    return bool(relation.subs(known) == sp.true)


def _only_sizes(relation: Any) -> bool:
    sizes = {terms.n, terms.d, terms.k, terms.p, terms.q}
    return not relation.atoms(terms.MatrixNumber) and relation.free_symbols <= sizes


def _bare(term: Any) -> Any:
    """X for X and for (X + X^T)/2."""
    if isinstance(term, sp.MatrixSymbol):
        return term
    for base in sorted(term.atoms(sp.MatrixSymbol), key=str):
        if (term - terms.sym(base)).doit().expand() == sp.ZeroMatrix(*term.shape) or term == terms.sym(base):
            return base
    inner = _symmetrised(term)
    return inner if inner is not None else term


def _symmetrised(term: Any) -> Any:
    """The Y of ``(Y + Y^T)/2``, for a product Y."""
    if term.is_MatMul and term.args[0] == sp.Rational(1, 2) and len(term.args) == 2 and term.args[1].is_MatAdd:
        parts = term.args[1].args
        if len(parts) == 2 and parts[0] == sp.Transpose(parts[1]).doit():
            return parts[0] if not isinstance(parts[0], sp.Transpose) else parts[1]
    return None


def load() -> None:
    """Register how the words of the language are generated and measured on batches; later calls do nothing."""
    from eigentoken.numerics.instances import (  # noqa: F401 - they enter their readings
        eigenvalue_gap,
        generated_words,
        matrix_words,
        observed_conditions,
        regions,
    )


def plan_for(system: System | str, conditions: Any = (), claim: Any = None, **options: Any) -> Plan:
    """The plan that satisfies all conditions, with the tokens where the claim speaks.

    >>> from eigentoken.theory.language.conditions import Symmetric
    >>> plan = plan_for("oja-map", [Symmetric(terms.matrix("V"))])
    >>> plan.matrices[terms.matrix("V")].symmetric
    True
    """
    load()
    found = find_system(system) if isinstance(system, str) else system
    mask = "causal" if found.mask == "causal" else None
    plan = replace(Plan(found, mask=mask), **options)
    for condition in conditions:
        plan = GENERATED(condition, plan)
    return plan if claim is None else GENERATED(claim, plan)


SMALL = (0.0, 0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0)
STEPS = (0.25, 0.5, 1.0, 2.0)

Draw = Callable[[Any, str], Tensor]


def with_further(
    system: System,
    parameters: Mapping[str, Any],
    count: int,
    d: int,
    draw: Draw,
    generator: torch.Generator,
    *,
    small: bool = False,
) -> dict[str, Any]:
    """The parameters with the further ones drawn: matrices as the plan asks, entries of vectors and numbers normal or small."""
    ready = dict(parameters)
    for each in system.further:
        if each.per_head:
            ready["heads"] = [
                {**head, each.name: _drawn(each, count, d, draw, generator, small)} for head in ready["heads"]
            ]
        elif each.name not in ready:
            ready[each.name] = _drawn(each, count, d, draw, generator, small)
    return ready


def _drawn(each: Parameter, count: int, d: int, draw: Draw, generator: torch.Generator, small: bool) -> Tensor:
    if each.kind == "matrix":
        return draw(terms.matrix(each.name), each.name)
    shape = (count, d) if each.kind == "vector" else (count,)
    if small:
        table = torch.tensor(STEPS if each.kind == "step" else SMALL, dtype=torch.float64)
        return table[torch.randint(0, len(table), shape, generator=generator)]
    values = torch.randn(shape, generator=generator, dtype=torch.float64)
    if each.kind == "step":
        return torch.exp(values)
    if each.default is not None and each.kind == "scalar":  # the default as often as anything else
        usual = torch.full_like(values, float(Fraction(each.default)))
        return torch.where(torch.rand(shape, generator=generator, dtype=torch.float64) < 0.5, usual, values)
    if not each.required:
        absent = torch.rand(count, generator=generator, dtype=torch.float64) < 0.5
        return torch.where(absent.reshape(-1, *([1] * (values.ndim - 1))), torch.zeros_like(values), values)
    return values


def exact_value(each: Parameter, value: Tensor, denominator: int) -> Any:
    """A vector or number of a single instance ``(1, d)`` or ``(1,)``, rounded; a step stays positive."""
    if each.kind == "vector":
        return tuple(rounded(entry, denominator) for entry in value[0].tolist())
    number = float(value[0])
    near = rounded(number, denominator)
    if each.kind == "step" and near <= 0 < number:
        return Fraction(1, max(1, round(1 / number)))
    return near


def float_value(value: Any) -> Tensor | None:
    """An exact matrix, vector or number as a batch of one."""
    if value is None:
        return None
    if not isinstance(value, tuple | list):
        return torch.tensor([float(value)], dtype=torch.float64)
    rows = [[float(entry) for entry in row] if isinstance(row, tuple | list) else float(row) for row in value]
    return torch.tensor([rows], dtype=torch.float64)
