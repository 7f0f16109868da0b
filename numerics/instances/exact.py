"""From a floating-point instance to exact ones nearby: rotate to a basis that makes the place simple, then round.

All systems on the sphere and in Euclidean space are unchanged by an orthogonal change of basis (every matrix becomes
``R^T X R``), so the eigenvectors or directions that a place speaks of can be made coordinate vectors; what is left is
rounded to multiples of ``1/denominator``.  On an ellipsoid ``W = L L^T`` with a rational L and tokens ``x = L^-T u`` with u
rational on the sphere are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.clusters import exact_cluster
from eigentoken.numerics.instances.construction import step_equation
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.instances.plans import STOCHASTIC, MatrixPlan, Plan, exact_value, float_value
from eigentoken.numerics.instances.polygon_tokens import polygon_tokens
from eigentoken.numerics.instances.rational import rounded, sphere_point
from eigentoken.theory.classification.instances import Instance, InstanceError
from eigentoken.theory.language import terms
from eigentoken.theory.language.places import (
    AntipodalAt,
    BipartiteAt,
    Clustering,
    ConsensusAt,
    EachAt,
    Equiangular,
    Place,
    Polygonal,
    Zero,
)
from eigentoken.theory.language.proportion import IDENTITY
from eigentoken.theory.language.readings import PLACED_EXACTLY
from eigentoken.theory.systems.algebra import MaskValue, Number, ParameterValue
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import Space

__all__ = ["ExactDraft", "Rows", "batch_of", "draft", "exact_rows", "rows_of", "turned"]

Rows = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class ExactDraft:
    """Rational parameters and tokens (texts where a root is needed), before they are checked by ``Instance.of``."""

    system: str
    matrices: Mapping[str, Rows]
    heads: tuple[Mapping[str, ParameterValue], ...]
    alpha: Fraction | None
    tokens: tuple[tuple[sp.Expr, ...], ...]
    k: int
    p: int
    mask: MaskValue = None
    further: Mapping[str, ParameterValue] = field(default_factory=dict)
    "vectors and numbers of a system that has them, by name"

    def instance(self) -> Instance | None:
        """The exact instance, or ``None`` where the draft is not one (a token off the manifold, a step not positive)."""
        given: dict[str, Any] = {name: _texts(value) for name, value in {**self.matrices, **self.further}.items()}
        if self.heads:
            given["heads"] = [{name: _texts(value) for name, value in head.items()} for head in self.heads]
        if self.alpha is not None:
            given["alpha"] = str(self.alpha)
        if self.mask is not None and system(self.system).mask != self.mask:
            given["mask"] = self.mask if isinstance(self.mask, str) else [list(row) for row in self.mask]
        try:
            return Instance.of(self.system, _texts(self.tokens), **given)
        except (InstanceError, ZeroDivisionError):
            return None


def _texts(value: Any) -> Any:
    """A number as text; a vector or matrix as lists of texts."""
    return [_texts(entry) for entry in value] if isinstance(value, tuple | list) else str(value)


def batch_of(instance: Instance, k: int, p: int, groups: tuple[int, ...] | None = None) -> Batch:
    """The exact instance as a batch of one, in floating point."""

    parameters: dict[str, Any] = {
        name: [{part: float_value(each) for part, each in head.items()} for head in value]
        if name == "heads"
        else float_value(value)
        for name, value in instance.parameters.items()
    }
    tokens = float_value(instance.tokens)
    assert tokens is not None
    mask = None if instance.mask is None else "causal" if instance.mask_name == "causal" else instance.mask
    return Batch(instance.system, parameters, tokens, k, p, "exact", mask, groups)


def turned(batch: Batch, frame: Tensor) -> Batch:
    """The same instance in the orthonormal basis given by the columns of ``frame (d, d)``."""

    def turn(value: Any) -> Any:
        value = value(0.0) if callable(value) else value
        if not isinstance(value, Tensor) or value.ndim < 2:
            return value
        return frame.mT @ value @ frame if value.ndim == 3 else value @ frame

    parameters = {
        name: [{part: turn(each) for part, each in head.items()} for head in value] if name == "heads" else turn(value)
        for name, value in batch.parameters.items()
    }
    return batch.with_parameters(parameters, batch.tokens @ frame)


def _completed(vector: Tensor) -> Tensor:
    """An orthonormal basis whose first column is the unit vector."""
    frame = torch.linalg.qr(vector.reshape(-1, 1), mode="complete").Q
    return torch.cat([vector.reshape(-1, 1), frame[:, 1:]], 1)


def _basis(plan: Plan, batch: Batch) -> Tensor:
    """The basis in which the place of the plan is simple."""
    place = plan.place
    if isinstance(place, AntipodalAt | Polygonal):
        x = batch.tokens[0]
        if batch.n % 2 and batch.d > 1:  # a triangle: its plane becomes the first two axes
            first = x[0]
            second = x[1] - (x[1] @ first) * first
            frame = _completed(first)
            second = second / torch.linalg.vector_norm(second)
            rest = torch.linalg.qr(torch.stack([first, second], 1), mode="complete").Q[:, 2:]
            return torch.cat([frame[:, :1], second.reshape(-1, 1), rest], 1)
        return _completed(x[0])
    if isinstance(place, ConsensusAt | BipartiteAt | EachAt):
        value = batch.matrix(place.term)
        if bool((value == value.mT).all()):
            return batch.eigen(place.term)[1][0]
        return _completed(batch.eigenvector(place.term, batch.integer(place.index))[0])
    name = plan.system.value
    if name is not None and plan.matrices.get(terms.matrix(name), MatrixPlan()).symmetric:
        value = batch.matrix(terms.matrix(name))[0]  # a sum over heads is symmetric up to rounding only
        return torch.linalg.eigh((value + value.mT) / 2).eigenvectors.flip(-1)
    return torch.eye(batch.d, dtype=torch.float64)


def draft(plan: Plan, batch: Batch, denominator: int, *, as_it_stands: bool = False) -> ExactDraft | None:
    """An exact draft near the single instance of the batch, at this roundness; ``None`` where the place has no state.

    The instance is turned to a basis in which it is simple, unless it is to be taken ``as_it_stands`` (which only an instance at
    no place, or at an opposite pair, can be): what code of an author says of entries is not the same in another basis.
    """
    as_it_stands = as_it_stands and (plan.place is None or isinstance(plan.place, AntipodalAt))
    if isinstance(plan.place, Clustering):
        return _clustered_draft(batch, denominator)
    curved = batch.system.space is Space.ELLIPSOID and denominator > 1 and plan.place is None
    if batch.system.space is Space.ELLIPSOID and not curved:
        batch = _on_the_unit_metric(batch)
    ready = turned(batch, torch.eye(batch.d, dtype=torch.float64) if as_it_stands else _basis(plan, batch))
    factor = _metric_factor(ready, denominator) if curved else None
    if curved and factor is None:
        return None
    asked_of = [*plan.matrices.items(), *(() if plan.head_plan is None else plan.head_plan.matrices.items())]
    symmetric = {
        getattr(term, "name", "")
        for term, asked in asked_of
        if asked.symmetric or (asked.fixed is not None and asked.fixed not in _NOT_SYMMETRIC)
    }
    turning = {getattr(term, "name", "") for term, asked in asked_of if asked.fixed == "orthogonal"}
    kept = {getattr(term, "name", ""): asked.fixed for term, asked in asked_of if asked.fixed in _ROUNDED_WHOLE}
    diagonal = None if as_it_stands else _diagonal_name(plan, ready)
    corner = isinstance(plan.place, ConsensusAt) and diagonal is None

    def rows(name: str, value: Tensor) -> Rows:
        entries = value[0].tolist()
        d = len(entries)
        if name in turning and name not in symmetric:
            return _rational_rotation(value[0], denominator)
        made = [[rounded(entries[i][j], denominator) for j in range(d)] for i in range(d)]
        if name in kept:
            return _as_fixed(made, str(kept[name]))
        for i in range(d):
            for j in range(d):
                if name == diagonal and i != j:
                    made[i][j] = Fraction(0)
                elif name in symmetric and j < i:
                    made[i][j] = made[j][i]
                elif corner and name == plan.system.value and j == 0 and i > 0:
                    made[i][j] = Fraction(0)
        paired = isinstance(plan.place, AntipodalAt | Polygonal) and batch.n % 2 == 0 and not as_it_stands
        if name == plan.system.score and paired:
            made[0][0] = Fraction(0)
        if name == plan.system.metric:
            return rows_of(sp.eye(d) if factor is None else factor * factor.T)
        return tuple(tuple(row) for row in made)

    kinds = {each.name: each for each in plan.system.further if each.kind != "matrix"}

    def part_of(name: str, value: Tensor) -> Any:
        return exact_value(kinds[name], value, denominator) if name in kinds else rows(name, value)

    matrices: dict[str, Rows] = {}
    further: dict[str, Any] = {}
    heads: list[dict[str, Any]] = []
    alpha: Fraction | None = None
    for name, value in ready.parameters.items():
        if name == "heads":
            heads = [{part: part_of(part, each) for part, each in head.items()} for head in value]
        elif name == "alpha":
            alpha = _step(float(value[0]), denominator)
        elif isinstance(value, Tensor):
            (further if name in kinds else matrices)[name] = part_of(name, value)
    if plan.system.rotary is not None and not _respect_rotation(plan, ready, matrices, denominator):
        return None
    if not _respect_derived(plan, ready, matrices, denominator):
        return None
    _respect_multiples(plan, ready, matrices, denominator)
    tokens = (
        _opposite(batch, denominator)
        if as_it_stands and plan.place is not None
        else _tokens(plan, ready, denominator, diagonal is not None)
        if factor is None
        else _on_ellipsoid(ready, factor, denominator)
    )
    if tokens is None or (alpha is not None and alpha <= 0):
        return None
    made = ExactDraft(batch.system.name, matrices, tuple(heads), alpha, tokens, batch.k, batch.p, batch.mask, further)
    return _with_fixed_step(plan, made)


_ROUNDED_WHOLE = ("skew", *STOCHASTIC)
_NOT_SYMMETRIC = ("orthogonal", *_ROUNDED_WHOLE)


def _as_fixed(rows: list[list[Fraction]], fixed: str) -> Rows:
    """Rounded entries made skew, or with rows (and columns) that sum to one: the largest entry of a row takes the difference."""
    d = len(rows)
    if fixed == "skew":
        return tuple(
            tuple(rows[i][j] if i < j else -rows[j][i] if j < i else Fraction(0) for j in range(d)) for i in range(d)
        )
    if fixed == "stochastic":
        for row in rows:
            largest = row.index(max(row))
            row[largest] += 1 - sum(row)
        return tuple(map(tuple, rows))
    for row in rows[:-1]:  # doubly: the last column and the last row follow from the others
        row[-1] = 1 - sum(row[:-1], Fraction(0))
    rows[-1] = [1 - sum((row[j] for row in rows[:-1]), Fraction(0)) for j in range(d)]
    return tuple(map(tuple, rows))


def _with_fixed_step(plan: Plan, made: ExactDraft) -> ExactDraft | None:
    """The draft with the step that an equation of the plan leaves, solved exactly where the equation is rational."""
    equations = [parts for parts in map(step_equation, plan.relations) if parts is not None]
    instance = made.instance() if equations and made.alpha is not None else None
    if instance is None:
        return made
    case = Case(instance, made.k, made.p)
    start, slope = (case.exact(part) for part in equations[0])
    if start is None or slope is None or not (start.is_Rational and slope.is_Rational) or slope == 0:
        return made
    root = -start / slope
    return replace(made, alpha=Fraction(int(root.p), int(root.q))) if root > 0 else None


def _rational_rotation(value: Tensor, denominator: int) -> Rows:
    """A rational orthogonal matrix near an orthogonal one: Cayley's ``D (I - S)(I + S)^-1`` with a rounded skew S.

    D is the diagonal of signs that keeps ``I + D Q`` farthest from singular.
    """
    d = len(value)
    eye = torch.eye(d, dtype=torch.float64)
    signs = max(
        product((1, -1), repeat=d), key=lambda each: float(torch.det(eye + torch.tensor(each)[:, None] * value).abs())
    )
    turned = torch.tensor(signs, dtype=torch.float64)[:, None] * value
    floats = torch.linalg.solve(eye + turned, eye - turned).tolist()
    skew = sp.zeros(d, d)
    for i in range(d):
        for j in range(i):
            entry = rounded(floats[i][j], denominator)
            skew[i, j], skew[j, i] = (
                sp.Rational(entry.numerator, entry.denominator),
                -sp.Rational(entry.numerator, entry.denominator),
            )
    return rows_of(sp.diag(*signs) * (sp.eye(d) - skew) * (sp.eye(d) + skew).inv())


def _step(value: float, denominator: int) -> Fraction:
    """A step rounded, and not to 0: a small one to the nearest 1/m."""
    near = rounded(value, denominator)
    return near if near > 0 or value <= 0 else Fraction(1, round(1 / value))


def _clustered_draft(batch: Batch, denominator: int) -> ExactDraft | None:
    made = exact_cluster(batch, denominator)
    alpha = _step(float(batch.parameters["alpha"][0]), denominator) if "alpha" in batch.parameters else None
    if made is None or (alpha is not None and alpha <= 0):
        return None
    return ExactDraft(batch.system.name, made[0], (), alpha, made[1], batch.k, batch.p, batch.mask)


def _respect_derived(plan: Plan, batch: Batch, matrices: dict[str, Rows], denominator: int) -> bool:
    """For a term such as ``A = W B^-1`` with demands of its own: round A and W, and solve for B exactly."""
    for term in plan.matrices:
        if isinstance(term, sp.MatrixSymbol) or not term.is_MatMul or len(term.args) != 2:
            continue
        left, right = term.args
        if not (isinstance(right, sp.Inverse) and getattr(left, "name", "") in matrices):
            continue
        solved = _divided(_grid(plan, batch, term, denominator), exact_rows(matrices[left.name]))
        if solved is None:
            return False
        matrices[right.arg.name] = rows_of(solved)
    return True


def _respect_multiples(plan: Plan, batch: Batch, matrices: dict[str, Rows], denominator: int) -> None:
    """``X = c Y`` with a rounded c, exactly."""
    for term, of in plan.multiples:
        name, other = getattr(term, "name", ""), getattr(of, "name", "")
        if name not in matrices or not (of == IDENTITY or other in matrices):
            continue
        whole = exact_rows(matrices[other]) if other else sp.eye(batch.d)
        floats = torch.tensor([[float(entry) for entry in whole.row(i)] for i in range(batch.d)], dtype=torch.float64)
        near = float((batch.parameters[name][0] * floats).sum() / (floats * floats).sum().clamp_min(1e-300))
        factor = rounded(near, denominator)
        matrices[name] = rows_of(sp.Rational(factor.numerator, factor.denominator) * whole)


def _respect_rotation(plan: Plan, batch: Batch, matrices: dict[str, Rows], denominator: int) -> bool:
    """R with rational cosines and sines; what is asked of ``W = Q K^T`` and ``A = W B^-1`` is rounded, K and B solved for."""
    assert plan.system.rotary is not None
    query, key, turn = plan.system.rotary
    value = str(plan.system.value)
    d = batch.d
    floats = batch.parameters[turn][0].tolist()
    rotation = [[Fraction(int(i == j)) for j in range(d)] for i in range(d)]
    for plane in range(d // 2):
        a, b = 2 * plane, 2 * plane + 1
        cos, sin = sphere_point([floats[a][a], floats[b][a]], denominator)
        rotation[a][a], rotation[b][b], rotation[a][b], rotation[b][a] = cos, cos, -sin, sin
    matrices[turn] = tuple(tuple(row) for row in rotation)
    score = terms.matrix(query) * terms.matrix(key).T
    derived = score * terms.matrix(value).I
    if score not in plan.matrices and derived not in plan.matrices:
        return True
    flat = _grid(plan, batch, score, denominator)
    solved = _divided(exact_rows(matrices[query]), flat)
    if solved is None:
        return False
    matrices[key] = rows_of(solved.T)
    if derived in plan.matrices:
        solved = _divided(_grid(plan, batch, derived, denominator), flat)
        if solved is None:
            return False
        matrices[value] = rows_of(solved)
    return True


def _grid(plan: Plan, batch: Batch, term: Any, denominator: int) -> Any:
    """The value of a term, rounded, symmetric where that is asked for."""
    value = batch.matrix(term)[0].tolist()
    d = len(value)
    grid = [[rounded(value[i][j], denominator) for j in range(d)] for i in range(d)]
    if plan.matrices.get(term, MatrixPlan()).symmetric:
        grid = [[grid[min(i, j)][max(i, j)] for j in range(d)] for i in range(d)]
    return exact_rows(grid)


def exact_rows(rows: Number) -> Number:
    """Rows of fractions as a sympy matrix."""
    return sp.Matrix([[sp.Rational(entry.numerator, entry.denominator) for entry in row] for row in rows])


def _divided(left: Any, right: Any) -> Any:
    """``left^-1 right``, or ``None`` where left is singular."""
    return None if left.det() == 0 else left.inv() * right


def rows_of(matrix: Number) -> Rows:
    """A rational sympy matrix as rows of fractions."""
    return tuple(tuple(Fraction(int(a.p), int(a.q)) for a in matrix.row(i)) for i in range(matrix.rows))


def _metric_factor(batch: Batch, denominator: int) -> Any:
    """A rational lower triangular L, with a positive diagonal, near the one with ``W = L L^T``; ``None``: W is not definite."""
    lower, failed = torch.linalg.cholesky_ex(batch.named(str(batch.system.metric))[0])
    if int(failed):
        return None
    floats, least = lower.tolist(), Fraction(1, denominator)
    return exact_rows(
        [
            [
                max(least, rounded(entry, denominator)) if i == j else rounded(entry, denominator)
                for j, entry in enumerate(row)
            ]
            for i, row in enumerate(floats)
        ]
    )


def _on_ellipsoid(batch: Batch, factor: Any, denominator: int) -> tuple[tuple[Any, ...], ...]:
    """``x = L^-T u`` with u rational on the unit sphere: then ``x^T L L^T x = 1`` exactly."""
    lower = torch.tensor([[float(a) for a in factor.row(i)] for i in range(batch.d)], dtype=torch.float64)
    points = [sphere_point(token, denominator) for token in (batch.tokens[0] @ lower).tolist()]
    back = factor.T.inv()
    return tuple(rows_of((back * exact_rows([point]).T).T)[0] for point in points)


def _on_the_unit_metric(batch: Batch) -> Batch:
    """Tokens on the unit sphere: the exact draft takes the metric to be the identity."""
    from eigentoken.numerics.instances.states import on_manifold

    name = str(batch.system.metric)
    eye = torch.eye(batch.d, dtype=torch.float64).unsqueeze(0)
    ready = batch.with_parameters({**batch.parameters, name: eye})
    return ready.with_parameters(ready.parameters, on_manifold(ready, batch.tokens))


def _diagonal_name(plan: Plan, batch: Batch) -> str | None:
    """The matrix that the chosen basis makes diagonal."""
    place = plan.place
    if isinstance(place, AntipodalAt | Polygonal):
        return None
    term = (
        place.term if isinstance(place, ConsensusAt | BipartiteAt | EachAt) else terms.matrix(str(batch.system.value))
    )
    if not hasattr(term, "name") or batch.system.multihead:
        return None
    asked = plan.matrices.get(term, MatrixPlan())
    return term.name if asked.symmetric and term.name in batch.parameters else None


Tokens = tuple[tuple[Any, ...], ...]


def _tokens(plan: Plan, batch: Batch, denominator: int, diagonal: bool) -> Tokens | None:
    """Exact tokens at the place of the plan, or those of the batch, rounded; ``None`` where there are none."""
    if plan.place is not None:
        found: Tokens | None = PLACED_EXACTLY(plan.place, batch, denominator, diagonal)
        return found
    return _rounded(batch, denominator)


def _rounded(batch: Batch, denominator: int) -> Tokens:
    x = batch.tokens[0].tolist()
    if batch.system.space is Space.EUCLIDEAN:
        return tuple(tuple(rounded(a, denominator) for a in token) for token in x)
    return tuple(sphere_point(token, denominator) for token in x)


def _opposite(batch: Batch, denominator: int) -> Tokens:
    """The first half of the tokens at a point near the first one, the others opposite to it."""
    first = sphere_point(batch.tokens[0, 0].tolist(), denominator)
    return tuple(first if i < batch.n // 2 else tuple(-a for a in first) for i in range(batch.n))


def _on_axis(batch: Batch, index: int, split: int) -> Tokens:
    """The first tokens at a coordinate vector, the others at its negative."""
    unit = tuple(Fraction(int(i == index)) for i in range(batch.d))
    return tuple(unit if i < split else tuple(-a for a in unit) for i in range(batch.n))


@PLACED_EXACTLY.register(Place)
def placed_exactly_by_rounding(place: Place, batch: Batch, denominator: int, diagonal: bool) -> Tokens:
    return _rounded(batch, denominator)


@PLACED_EXACTLY.register(ConsensusAt)
def placed_exactly_consensus_at(place: ConsensusAt, batch: Batch, denominator: int, diagonal: bool) -> Tokens:
    return _on_axis(batch, batch.integer(place.index) - 1 if diagonal else 0, batch.n)


@PLACED_EXACTLY.register(BipartiteAt)
def placed_exactly_bipartite_at(place: BipartiteAt, batch: Batch, denominator: int, diagonal: bool) -> Tokens:
    return _on_axis(batch, batch.integer(place.index) - 1 if diagonal else 0, batch.p)


@PLACED_EXACTLY.register(AntipodalAt)
def placed_exactly_antipodal_at(place: AntipodalAt, batch: Batch, denominator: int, diagonal: bool) -> Tokens | None:
    return _on_axis(batch, 0, batch.n // 2) if place.has_states(batch.n) else None


@PLACED_EXACTLY.register(Equiangular)
def placed_exactly_equiangular(place: Equiangular, batch: Batch, denominator: int, diagonal: bool) -> Tokens | None:
    """The coordinate vectors, which are orthogonal; where there are not enough of them, equal tokens."""
    if batch.n <= batch.d and place.cosine in (None, 0):
        return tuple(tuple(Fraction(int(i == j)) for j in range(batch.d)) for i in range(batch.n))
    return _on_axis(batch, 0, batch.n) if place.cosine in (None, 1) else None


@PLACED_EXACTLY.register(EachAt)
def placed_exactly_each_at(place: EachAt, batch: Batch, denominator: int, diagonal: bool) -> Tokens:
    return _on_axis(batch, batch.integer(place.index) - 1 if diagonal else 0, max(1, batch.n // 2))


@PLACED_EXACTLY.register(Polygonal)
def placed_exactly_polygonal(place: Polygonal, batch: Batch, denominator: int, diagonal: bool) -> Tokens | None:
    """Without push: antipodal tokens; a triangle of three; where weights are equal also with pairs w, -w."""
    made = polygon_tokens(batch, denominator)
    return _on_axis(batch, 0, batch.n // 2) if made is None and batch.n % 2 == 0 else made


@PLACED_EXACTLY.register(Zero)
def placed_exactly_zero(place: Zero, batch: Batch, denominator: int, diagonal: bool) -> Tokens:
    return tuple(tuple(Fraction(0) for _ in range(batch.d)) for _ in range(batch.n))
