"""Instances from a plan, constructed from the inside out: spectra, matrices, step, tokens.

Nothing here is drawn and thrown away for the words of the language; scalar relations that tie several quantities
together are solved for the step where they are affine in it, and otherwise left to the last look at what was made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch, Wave, relation_violation
from eigentoken.numerics.instances.matrix_quantities import shaped
from eigentoken.numerics.instances.matrix_words import head_numbers
from eigentoken.numerics.instances.plans import Contradiction, MatrixPlan, Plan, with_further
from eigentoken.numerics.instances.spectra import general_matrices, orthogonal, spectra, symmetric_matrices_with
from eigentoken.numerics.instances.states import tokens_for
from eigentoken.theory.language import terms
from eigentoken.theory.language.proportion import IDENTITY

__all__ = ["construct", "fixed_step", "rotary_matrices", "scaled", "solve_derived", "step_equation"]

SCORE_CANDIDATES = 12
#: Steps beyond this are nobody's, and floating point loses what they do.
LARGEST_STEP = 1e3


def construct(
    plan: Plan, shape: tuple[int, int, int, int], corner: str, count: int, generator: torch.Generator
) -> Batch:
    """``count`` instances of one shape (n, d, k, p) in one corner; a few may still miss a coupled relation."""
    n, d, k, p = shape
    parameters = _matrices(plan, shape, corner, count, generator)
    empty = torch.zeros(count, n, d, dtype=torch.float64)
    if plan.is_map:
        parameters["alpha"] = torch.ones(count, dtype=torch.float64)
    batch = scaled(plan, shaped(plan, Batch(plan.system, parameters, empty, k, p, corner, plan.mask)))
    batch = _with_scores(plan, batch, generator)
    if plan.is_map:
        batch = batch.with_steps(_steps(plan, batch, generator))
    batch = tokens_for(plan, batch, corner, generator)
    if plan.timed:
        batch = batch.with_parameters(_timed(plan, batch, generator))
    return batch


# --- matrices --------------------------------------------------------------------------------------------------------


def _matrices(
    plan: Plan, shape: tuple[int, int, int, int], corner: str, count: int, generator: torch.Generator
) -> dict[str, Any]:
    _, d, _, _ = shape
    frame = orthogonal(count, d, generator)
    if corner in {"integers", "tie at the top"}:
        frame = torch.eye(d, dtype=torch.float64).expand(count, d, d)

    def draw(term: Any, name: str) -> Tensor:
        asked = plan.matrices.get(term, MatrixPlan())
        if name == plan.system.metric:
            asked = asked.merged(MatrixPlan(symmetric=True, sign="positive"), name)
        bounds = _bounds(plan, term, shape)
        if asked.symmetric:
            if asked.fixed:
                return general_matrices(count, d, asked, corner, bounds, generator)
            same = any(term in pair for pair in plan.commute)
            basis = frame if same or corner == "integers" else orthogonal(count, d, generator)
            return symmetric_matrices_with(spectra(count, d, asked, corner, bounds, generator), basis)
        made = general_matrices(count, d, asked, corner, bounds, generator)
        if asked.symmetric is False:
            made = made + 0.3 * torch.triu(torch.ones(d, d, dtype=torch.float64), 1)
        return made

    if plan.system.rotary is not None:
        return dict(rotary_matrices(plan, count, d, draw, _angles(count, d, generator)))
    names = [name for name in (plan.system.value, plan.system.score, plan.system.metric) if name]
    drawn = {name: draw(terms.matrix(name), name) for name in dict.fromkeys(names)}
    for pair in plan.commute:
        _commuting(pair, drawn, plan, count, generator)
    solve_derived(plan, drawn, draw)
    _proportional(plan, shape, drawn, generator)
    for term, factor, of in plan.tied:
        if _known(term, drawn) and _known(of, drawn):
            drawn[term.name] = float(factor) * drawn[of.name]
    heads = plan.system.multihead
    made = _split_into_heads(plan, drawn, corner, count, generator) if heads else dict(drawn)
    return with_further(plan.system, made, count, d, draw, generator)


def _bounds(plan: Plan, term: Any, shape: tuple[int, int, int, int]) -> dict[int, tuple[float | None, float | None]]:
    """Bounds by numbers on single eigenvalues of the term, read from the relations."""
    found: dict[int, tuple[float | None, float | None]] = {}
    for relation in _flat(plan.relations):
        left, right = getattr(relation, "lhs", None), getattr(relation, "rhs", None)
        if isinstance(right, terms.Eigenvalue) and not isinstance(left, terms.Eigenvalue):
            left, right, relation = right, left, relation.reversed
        if not isinstance(left, terms.Eigenvalue) or left.args[0] != term or not sp.sympify(right).is_number:
            continue
        index = _index(left.args[1], shape)
        if not index.is_Integer:
            continue
        value = float(sp.sympify(right))
        lower, upper = found.get(int(index), (None, None))
        if isinstance(relation, sp.StrictGreaterThan | sp.GreaterThan):
            found[int(index)] = (value if lower is None else max(lower, value), upper)
        elif isinstance(relation, sp.StrictLessThan | sp.LessThan):
            found[int(index)] = (lower, value if upper is None else min(upper, value))
        elif isinstance(relation, sp.Eq):
            found[int(index)] = (value, value)
    return found


@lru_cache(maxsize=4096)
def _index(expression: Any, shape: tuple[int, int, int, int]) -> Any:
    """The number that an expression in the sizes is for the shape."""
    n, d, k, p = shape
    return expression.subs({terms.n: n, terms.d: d, terms.k: k, terms.p: p, terms.q: n - p})


def _flat(relations: tuple[Any, ...]) -> list[Any]:
    parts: list[Any] = []
    for relation in relations:
        parts += _flat(relation.args) if isinstance(relation, sp.And) else [relation]
    return parts


def _commuting(pair: tuple[Any, Any], drawn: dict[str, Tensor], plan: Plan, count: int, generator: Any) -> None:
    """Symmetric matrices share the frame; otherwise the second becomes a polynomial in the first."""
    both = [plan.matrices.get(term, MatrixPlan()).symmetric for term in pair]
    first, second = (getattr(term, "name", None) for term in pair)
    if all(both) or first not in drawn or second not in drawn:
        return
    weights = torch.randn(count, 3, 1, 1, generator=generator, dtype=torch.float64)
    base = drawn[first]
    eye = torch.eye(base.shape[-1], dtype=torch.float64)
    drawn[second] = weights[:, 0] * eye + weights[:, 1] * base + weights[:, 2] * base @ base


def _proportional(
    plan: Plan, shape: tuple[int, int, int, int], drawn: dict[str, Tensor], generator: torch.Generator
) -> None:
    """``X = c Y`` for the pairs of the plan, with factors of both signs, 0 and 1 among them; ``X = c I`` within its bounds."""
    for term, of in plan.multiples:
        if not _known(term, drawn) or not (of == IDENTITY or _known(of, drawn)):
            continue
        base = drawn[term.name]
        of_which = torch.eye(base.shape[-1], dtype=torch.float64).expand_as(base) if of == IDENTITY else drawn[of.name]
        factor = 1.5 * torch.randn(len(base), 1, 1, generator=generator, dtype=torch.float64)
        usual = torch.rand(len(base), 1, 1, generator=generator, dtype=torch.float64)
        factor = torch.where(usual < 0.1, torch.ones_like(factor), torch.where(usual > 0.95, 0 * factor, factor))
        low, high = _bounds(plan, term, shape).get(1, (None, None)) if of == IDENTITY else (None, None)
        if low is not None and high is not None:
            factor = low + (high - low) * usual
        elif low is not None:
            factor = torch.where(factor < low, low + (low - factor), factor)
        elif high is not None:
            factor = torch.where(factor > high, high - (factor - high), factor)
        drawn[term.name] = factor * of_which


def solve_derived(plan: Plan, drawn: dict[str, Tensor], draw: Any) -> None:
    """For a term such as ``A = W B^-1`` with demands of its own: draw A, and solve for B."""
    for term in plan.matrices:
        if isinstance(term, sp.MatrixSymbol) or not term.is_MatMul:
            continue
        left, right = term.args if len(term.args) == 2 else (sp.Identity(1), sp.Identity(1))
        if isinstance(right, sp.Inverse) and _known(left, drawn) and _known(right.arg, drawn):
            drawn[right.arg.name] = _solved(draw(term, ""), drawn[left.name])
        elif isinstance(left, sp.Inverse) and _known(left.arg, drawn) and _known(right, drawn):
            drawn[right.name] = drawn[left.arg.name] @ draw(term, "")
        elif isinstance(left, sp.Transpose) and _known(left.arg, drawn) and _known(right, drawn):
            drawn[right.name] = _solved(drawn[left.arg.name].mT, draw(term, ""))
        elif _known(left, drawn) and _known(right, drawn):
            drawn[right.name] = _solved(drawn[left.name], draw(term, ""))


def _angles(count: int, d: int, generator: torch.Generator) -> Tensor:
    """Angles of the planes that a position turns: quarter, half and third turns as often as any others."""
    free = 2 * math.pi * torch.rand(count, d // 2, generator=generator, dtype=torch.float64)
    parts = torch.tensor([2.0, 4.0, 3.0, 6.0], dtype=torch.float64)
    whole = parts[torch.randint(0, len(parts), (count, d // 2), generator=generator)]
    return torch.where(torch.rand(count, 1, generator=generator) < 0.5, 2 * math.pi / whole, free)


def rotary_matrices(plan: Plan, count: int, d: int, draw: Any, angles: Tensor) -> dict[str, Tensor]:
    """B, Q, K and R: what is asked of ``W = Q K^T`` and of ``A = W B^-1`` is drawn, and K and B are solved for."""
    assert plan.system.rotary is not None
    value = terms.matrix(str(plan.system.value))
    query, key, turn = (terms.matrix(name) for name in plan.system.rotary)
    score = query * key.T
    derived = score * value.I
    drawn = {query.name: draw(query, query.name), value.name: draw(value, value.name)}
    if score in plan.matrices or derived in plan.matrices:
        flat = draw(score, "")
        drawn[key.name] = _solved(drawn[query.name], flat).mT
        if derived in plan.matrices:
            drawn[value.name] = _solved(draw(derived, ""), flat)
    else:
        drawn[key.name] = draw(key, key.name)
    rotation = torch.eye(d, dtype=torch.float64).repeat(count, 1, 1)
    for plane in range(d // 2):
        a, b = 2 * plane, 2 * plane + 1
        cos, sin = torch.cos(angles[:, plane]), torch.sin(angles[:, plane])
        rotation[:, a, a], rotation[:, b, b] = cos, cos
        rotation[:, a, b], rotation[:, b, a] = -sin, sin
    drawn[turn.name] = rotation
    return drawn


def _solved(matrix: Tensor, right: Tensor) -> Tensor:
    """``matrix^-1 right``, not finite where the matrix is singular (such instances are left out)."""
    found, failed = torch.linalg.solve_ex(matrix, right)
    return torch.where((failed == 0)[:, None, None], found, torch.full_like(found, torch.nan))


def _known(term: Any, drawn: Mapping[str, Tensor]) -> bool:
    return isinstance(term, sp.MatrixSymbol) and term.name in drawn


def _split_into_heads(
    plan: Plan, drawn: dict[str, Tensor], corner: str, count: int, generator: torch.Generator
) -> dict[str, Any]:
    """Heads whose value matrices sum to the drawn one; with a shared top eigenvector, each head has it."""
    value, score, metric = plan.system.value, plan.system.score, plan.system.metric
    numbers = head_numbers(plan)
    if not numbers:
        raise Contradiction("no number of heads satisfies " + ", ".join(str(each) for each in plan.relations))
    heads = numbers[int(torch.randint(0, len(numbers), (1,), generator=generator))]
    d = next(iter(drawn.values())).shape[-1]
    listed: list[dict[str, Tensor]] = []
    if plan.head_plan is not None:
        one = (1, d, 1, 1)
        names = [name for name in (value, score) if name is not None]
        for _ in range(heads):
            alone = construct(plan.head_plan, one, corner, count, generator).parameters
            listed.append({name: alone[name] for name in names})
    elif value in plan.shared_top:
        frame = orthogonal(count, d, generator)
        for _ in range(heads):
            turn = (
                torch.block_diag(torch.eye(1, dtype=torch.float64), orthogonal(1, d - 1, generator)[0])
                if d > 1
                else 1.0
            )
            spectrum = spectra(count, d, MatrixPlan(simple_top=True), corner, {1: (0.0, None)}, generator)
            listed.append({str(value): symmetric_matrices_with(spectrum, frame @ turn if d > 1 else frame)})
    elif value is not None and plan.matrices.get(terms.matrix(value), MatrixPlan()).fixed == "identity":
        listed = [{value: drawn[value]} for _ in range(heads)]
    elif value is not None:
        rest = drawn[value]
        for _ in range(heads - 1):
            part = torch.randn(count, d, d, generator=generator, dtype=torch.float64)
            listed.append({value: part})
            rest = rest - part
        listed.append({value: rest})
    asked = plan.matrices.get(terms.matrix(str(score)), MatrixPlan())
    for index, head in enumerate(listed):
        if score is not None and plan.head_plan is None:
            head[score] = drawn[score] if index == 0 else general_matrices(count, d, asked, corner, {}, generator)
    parameters: dict[str, Any] = {"heads": listed}
    if metric is not None:
        parameters[metric] = drawn[metric]
    return parameters


def _timed(plan: Plan, batch: Batch, generator: torch.Generator) -> dict[str, Any]:
    """Make the named matrices depend on time, with the same bound as before at time 0."""

    def waving(value: Tensor) -> Any:
        other = torch.randn(value.shape, generator=generator, dtype=torch.float64) * 0.5
        omega = torch.exp(torch.randn(len(value), generator=generator, dtype=torch.float64))
        return Wave(value, other, omega)

    ready = dict(batch.parameters)
    for name in plan.timed:
        if name in ready:
            ready[name] = waving(ready[name])
        elif "heads" in ready:
            ready["heads"] = [{**head, name: waving(head[name])} if name in head else head for head in ready["heads"]]
    return ready


# --- scores at eigenvectors, and steps -------------------------------------------------------------------------------


def _with_scores(plan: Plan, batch: Batch, generator: torch.Generator) -> Batch:
    """Put ``v_k^T M v_k`` where the relations want it, by a rank-one change of M; candidates are tried in turn."""
    for number in plan.scores:
        score, value, index = number.args
        if not isinstance(score, sp.MatrixSymbol) or score.name not in batch.parameters:
            continue
        free = _about_score(number, tuple(plan.relations))
        vector = batch.eigenvector(value, batch.integer(index, 1))
        outer = vector.unsqueeze(-1) * vector.unsqueeze(-2)
        now = batch.scalar(number)
        best = batch
        missed = _worst(free, batch)
        for trial in range(SCORE_CANDIDATES):
            if not bool((missed > 0).any()):
                break
            spread = (0.3, 1.0, 3.0)[trial % 3]
            wanted = spread * torch.randn(batch.count, generator=generator, dtype=torch.float64)
            matrix = batch.parameters[score.name] + (wanted - now).reshape(-1, 1, 1) * outer
            tried = batch.with_parameters({**batch.parameters, score.name: matrix})
            after = _worst(free, tried)
            better = (after < missed).reshape(-1, 1, 1)
            chosen = torch.where(better, matrix, best.parameters[score.name])
            missed = torch.minimum(missed, after)
            best = batch.with_parameters({**batch.parameters, score.name: chosen})
        batch = best
    return batch


@lru_cache(maxsize=1024)
def _about_score(number: Any, relations: tuple[Any, ...]) -> tuple[Any, ...]:
    """The relations with this number in which the step does not occur."""
    return tuple(
        each
        for each in relations
        if number in each.atoms(terms.ScoreAtEigenvector) and terms.alpha not in each.free_symbols
    )


def _worst(relations: Sequence[Any], batch: Batch) -> Tensor:
    if not relations:
        return torch.full((batch.count,), -1.0, dtype=torch.float64)
    return torch.stack([relation_violation(batch, each) for each in relations]).amax(0)


def scaled(plan: Plan, batch: Batch) -> Batch:
    """A matrix whose norm, radius or eigenvalue is to have a fixed value is multiplied so that it has it."""
    for relation in _flat(plan.relations):
        if not isinstance(relation, sp.Eq):
            continue
        number, value = relation.lhs, relation.rhs
        if not isinstance(number, _HOMOGENEOUS) or not value.is_number:
            continue
        term = number.args[0]
        if not isinstance(term, sp.MatrixSymbol) or term.name not in batch.parameters:
            continue
        factor = float(value) / batch.scalar(number)
        factor = torch.where(torch.isfinite(factor) & (factor > 0), factor, torch.ones_like(factor))
        matrix = factor.reshape(-1, 1, 1) * batch.parameters[term.name]
        batch = batch.with_parameters({**batch.parameters, term.name: matrix})
    return batch


#: Quantities that are multiplied by c > 0 with their matrix.
_HOMOGENEOUS = (terms.Eigenvalue, terms.SpectralNorm, terms.SpectralRadiusOff)


def fixed_step(plan: Plan, batch: Batch) -> Tensor | None:
    """The step that an equation of the plan leaves, ``nan`` where there is none; ``None`` where no equation fixes it."""
    for relation in _flat(plan.relations):
        parts = step_equation(relation)
        if parts is not None and terms.ell not in relation.free_symbols:
            start, slope = (batch.scalar(part) for part in parts)
            root = -start / torch.where(slope == 0, torch.full_like(slope, torch.nan), slope)
            return torch.where((root > 0) & (root <= LARGEST_STEP), root, torch.full_like(root, torch.nan))
    return None


def step_equation(relation: Any) -> tuple[Any, Any] | None:
    """``(a, b)`` where the relation says ``a + b alpha = 0``."""
    if not isinstance(relation, sp.Eq) or terms.alpha not in relation.free_symbols:
        return None
    return _affine_parts(relation.lhs - relation.rhs)


def _steps(plan: Plan, batch: Batch, generator: torch.Generator) -> Tensor:
    """Step sizes inside the interval that the relations leave, many of them close to its ends; a fixed one as it is."""
    given = fixed_step(plan, batch)
    if given is not None:
        return given
    low = torch.zeros(batch.count, dtype=torch.float64)
    high = torch.full((batch.count,), torch.inf, dtype=torch.float64)
    for relation in _flat(plan.relations):
        if terms.alpha not in relation.free_symbols or not isinstance(relation, sp.core.relational.Relational):
            continue
        parts = _affine_in_step(relation)
        if parts is None:
            continue
        each = terms.ell in relation.free_symbols
        for ell in [ell for ell in range(1, batch.d + 1) if ell != batch.k] if each else [None]:
            start, slope = (torch.nan_to_num(batch.scalar(part, ell)) for part in parts)
            root = -start / torch.where(slope == 0, torch.ones_like(slope), slope)
            high = torch.where(slope > 0, torch.minimum(high, root), high)
            low = torch.where(slope < 0, torch.maximum(low, root), low)
    return _inside(low, high, batch.count, generator)


@lru_cache(maxsize=1024)
def _affine_in_step(relation: Any) -> tuple[Any, Any] | None:
    """``(a, b)`` where the relation says ``a + b alpha < 0`` (or ``<= 0``); ``None`` where it is not affine."""
    if isinstance(relation, sp.Eq | sp.Ne):
        return None
    gap = relation.lhs - relation.rhs
    if isinstance(relation, sp.StrictGreaterThan | sp.GreaterThan):
        gap = -gap
    return _affine_parts(gap)


def _affine_parts(gap: Any) -> tuple[Any, Any] | None:
    """``(a, b)`` with ``gap = a + b alpha``."""
    plain_gap, meaning = terms.plain(gap)
    slope = sp.diff(plain_gap, terms.alpha)
    if sp.simplify(sp.diff(slope, terms.alpha)) != 0:
        return None
    return plain_gap.subs(terms.alpha, 0).xreplace(meaning), slope.subs(terms.alpha, 0).xreplace(meaning)


def _inside(low: Tensor, high: Tensor, count: int, generator: torch.Generator) -> Tensor:
    share = torch.rand(count, generator=generator, dtype=torch.float64)
    edge = torch.rand(count, generator=generator, dtype=torch.float64)
    tiny = 10 ** (-1 - 3 * torch.rand(count, generator=generator, dtype=torch.float64))
    free = torch.exp(1.5 * torch.randn(count, generator=generator, dtype=torch.float64) - 0.5)
    low = torch.where(low > LARGEST_STEP, torch.full_like(low, torch.nan), low)  # a threshold at rounding: left out
    high = torch.minimum(high, torch.where(high > LARGEST_STEP, 2 * low + LARGEST_STEP, high))
    bounded = torch.isfinite(high)
    between = low + (high - low) * torch.where(edge < 0.15, tiny, torch.where(edge > 0.85, 1 - tiny, share))
    above = torch.where(edge < 0.3, low * (1 + tiny), low) + torch.where((edge < 0.3) & (low > 0), 0.0, free)
    step = torch.where(bounded, between, above)
    return torch.where(step > 0, step, torch.where(low.isnan(), low, free))
