"""Small structured instances: integers and halves, the matrices that people write down first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations_with_replacement, islice, permutations, product

import torch
from torch import Tensor

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.construction import fixed_step, rotary_matrices, scaled, solve_derived
from eigentoken.numerics.instances.matrix_words import head_numbers
from eigentoken.numerics.instances.plans import STOCHASTIC, MatrixPlan, Plan, with_further
from eigentoken.numerics.instances.regions import into_region
from eigentoken.numerics.instances.spectra import multiple_of_identity
from eigentoken.numerics.instances.states import in_hemisphere, tokens_for
from eigentoken.theory.language import terms
from eigentoken.theory.language.places import AntipodalAt, Polygonal

__all__ = ["mirrored_states", "structured_batches"]

SPECTRUM = (2.0, 1.0, 0.5, 0.0, -0.5, -1.0, -2.0)
STEPS = (0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0)
#: Mirrored states that are tried with each instance.
STATES = 124
#: This share of the states of three tokens or more with equal weights is on one line.
LINED = 0.15
#: So many diagonal matrices of one size are kept.
MOST_DIAGONALS = 4096
SMALL = (0.0, 1.0, -1.0, 2.0, -2.0, -3.0)


def structured_batches(plan: Plan, most: int, seed: int) -> Iterator[Batch]:
    """Batches over the smallest shapes of the plan, all with entries from short lists."""
    generator = torch.Generator().manual_seed(seed)
    shapes = sorted(plan.shapes(), key=lambda shape: (shape[0] * shape[1], shape))
    small = [shape for shape in shapes if shape[0] <= 4 and shape[1] <= 3][:40] or shapes[:4]
    share = max(48, most // len(small))
    for shape in small:
        yield _shaped(plan, shape, share, generator)


def _pick(rows: Tensor, count: int, generator: torch.Generator) -> Tensor:
    index = torch.randint(0, len(rows), (count,), generator=generator)
    return rows[index]


def _shaped(plan: Plan, shape: tuple[int, int, int, int], count: int, generator: torch.Generator) -> Batch:
    n, d, k, p = shape

    def draw(term: object, name: str) -> Tensor:
        asked = plan.matrices.get(term, MatrixPlan())
        metric = name == plan.system.metric
        return _pick(_candidates(plan, asked, d, name == plan.system.score, metric), count, generator)

    names = [name for name in (plan.system.value, plan.system.score, plan.system.metric) if name]
    if plan.system.rotary is not None:
        turns = torch.tensor([math.pi, math.pi / 2], dtype=torch.float64)
        angles = turns[torch.randint(0, len(turns), (count, d // 2), generator=generator)]
        drawn = rotary_matrices(plan, count, d, draw, angles)
    else:
        drawn = {name: draw(terms.matrix(name), name) for name in dict.fromkeys(names)}
        solve_derived(plan, drawn, draw)
    parameters: dict[str, object] = dict(drawn)
    if plan.system.multihead:
        alone = plan if plan.head_plan is None else plan.head_plan
        inside = [name for name in names if name != plan.system.metric]
        numbers = head_numbers(plan)
        many = numbers[int(torch.randint(0, min(2, len(numbers)), (1,), generator=generator))] if numbers else 1
        first = {name: drawn[name] for name in inside}
        heads = [] if plan.head_plan is not None else [first]
        while len(heads) < many:
            heads.append({name: _drawn_alone(alone, name, d, count, generator) for name in inside})
        parameters = {"heads": heads, **{name: drawn[name] for name in names if name == plan.system.metric}}
    parameters = with_further(plan.system, parameters, count, d, draw, generator, small=True)
    if plan.is_map:
        steps = torch.tensor(STEPS, dtype=torch.float64)
        parameters["alpha"] = steps[torch.randint(0, len(steps), (count,), generator=generator)]
    empty = torch.zeros(count, n, d, dtype=torch.float64)
    batch = scaled(plan, Batch(plan.system, parameters, empty, k, p, "structured", plan.mask))
    given = fixed_step(plan, batch) if plan.is_map else None
    if given is not None:
        batch = batch.with_parameters({**batch.parameters, "alpha": given})
    if not bool(batch.finite.all()):
        batch = batch.take(batch.finite)
    batch = tokens_for(plan, batch, "structured", generator)
    if plan.place is None and plan.distinct is not False:
        simple = _mirrored_tokens(batch, generator) if plan.euclidean else _axis_tokens(batch, generator)
        if plan.hemisphere is None:
            batch = batch.at(simple)
        elif plan.hemisphere.inside and not plan.euclidean:
            batch = in_hemisphere(plan, batch.at(simple), generator)
        batch = batch if plan.start is None else into_region(plan.start, batch, generator)
    return batch.take(batch.finite)


def _drawn_alone(plan: Plan, name: str, d: int, count: int, generator: torch.Generator) -> Tensor:
    asked = plan.matrices.get(terms.matrix(name), MatrixPlan())
    return _pick(_candidates(plan, asked, d, name == plan.system.score, False), count, generator)


def _axis_tokens(batch: Batch, generator: torch.Generator) -> Tensor:
    """Signed axes and (3/5, 4/5) tokens on the sphere."""
    d = batch.d
    listed = [sign * torch.eye(d, dtype=torch.float64)[i] for i in range(d) for sign in (1.0, -1.0)]
    for i in range(d):
        for j in range(d):
            if i != j:
                token = torch.zeros(d, dtype=torch.float64)
                token[i], token[j] = 0.6, 0.8
                listed += [token, torch.where(token == 0.6, -token, token)]
    table = torch.stack(listed)
    index = torch.randint(0, len(table), (batch.count, batch.n), generator=generator)
    from eigentoken.numerics.instances.states import on_manifold

    tokens = table[index]
    if batch.n > 2:  # some on one line, with unequal numbers at its ends
        own = torch.Generator().manual_seed(batch.n * 100 + d)
        signs = torch.where(torch.rand(batch.count, batch.n, 1, generator=own) < 0.5, 1.0, -1.0).double()
        lined = (torch.rand(batch.count, 1, 1, generator=own) < LINED) & _equal_weights(batch)[:, None, None]
        tokens = torch.where(lined, signs * tokens[:, :1], tokens)
    return on_manifold(batch, tokens)


def _equal_weights(batch: Batch) -> Tensor:
    """Where there are no scores, or none but 0: ranks on a line are then decided by rational numbers, not by rounding."""
    score = batch.system.score
    known = batch.parameters.get(score) if score is not None else None
    if score is None:
        return torch.ones(batch.count, dtype=torch.bool)
    if not isinstance(known, Tensor):
        return torch.zeros(batch.count, dtype=torch.bool)
    return (known == 0).flatten(1).all(-1)


def _mirrored_tokens(batch: Batch, generator: torch.Generator) -> Tensor:
    """Euclidean tokens x, -x, ... with a token at 0 for odd n; for half of the instances all tokens are integers."""
    half = torch.randint(-2, 3, (batch.count, (batch.n + 1) // 2, batch.d), generator=generator).to(torch.float64)
    parts = [half[:, : batch.n // 2], -half[:, : batch.n // 2]]
    if batch.n % 2:
        parts.append(torch.zeros(batch.count, 1, batch.d, dtype=torch.float64))
    free = torch.randint(-2, 3, (batch.count, batch.n, batch.d), generator=generator).to(torch.float64)
    chosen = torch.rand(batch.count, 1, 1, generator=generator) < 0.5
    return torch.where(chosen, torch.cat(parts, 1), free)


def mirrored_states(batch: Batch) -> Batch:
    """Every instance with its own state, and with many small mirrored ones x, -x, ... (integers; a token at 0 for odd n).

    Few parameters satisfy the conditions, so each that does is tried with many states.
    """
    half = batch.n // 2
    if half == 0 or batch.count == 0:
        return batch
    whole = torch.tensor(list(product((0.0, 1.0, 2.0, -1.0, -2.0), repeat=batch.d)), dtype=torch.float64)[1:]
    chosen = whole
    if half > 1:  # further pairs from the same list, turned through it
        chosen = torch.stack([whole.roll(7 * pair, 0) for pair in range(half)], 1)
    pairs = chosen.reshape(len(whole), half, batch.d)[:STATES]
    parts = [pairs, -pairs, torch.zeros(len(pairs), batch.n - 2 * half, batch.d, dtype=torch.float64)]
    states = torch.cat(parts, 1)
    index = torch.arange(batch.count)
    many = batch.take(torch.cat([index, index.repeat_interleave(len(states))]))
    return many.at(torch.cat([batch.tokens, states.repeat(batch.count, 1, 1)]))


def _simple_orthogonal(d: int, asked: MatrixPlan) -> Tensor:
    """Signed permutations, and (3/5, 4/5) rotations and reflections; only symmetric ones where that is asked for."""
    eye = torch.eye(d, dtype=torch.float64)
    listed = [eye[list(order)] for order in permutations(range(d))]
    if d > 1:
        turn, mirror = eye.clone(), eye.clone()
        turn[:2, :2] = torch.tensor([[0.6, -0.8], [0.8, 0.6]], dtype=torch.float64)
        mirror[:2, :2] = torch.tensor([[0.6, 0.8], [0.8, -0.6]], dtype=torch.float64)
        listed += [turn, mirror]
    signs = [torch.diag(torch.tensor(each, dtype=torch.float64)) for each in product((1.0, -1.0), repeat=d)]
    found = [sign @ each for each in listed for sign in signs]
    if asked.fixed == "involution" or asked.symmetric:
        found = [each for each in found if bool((each == each.mT).all())]
    return torch.stack(found)


def _simple_fixed(d: int, asked: MatrixPlan) -> Tensor:
    """Skew matrices of small integers; permutations and their means in pairs, and for rows alone those with equal rows."""
    eye = torch.eye(d, dtype=torch.float64)
    if asked.fixed == "skew":
        upper = [torch.zeros_like(eye)]
        for i in range(d):
            for j in range(i + 1, d):
                for value in (1.0, -1.0, 2.0):
                    single = torch.zeros_like(eye)
                    single[i, j], single[j, i] = value, -value
                    upper.append(single)
        return torch.stack([*upper, *(a + b for a in upper for b in upper)])
    orders = [eye[list(order)] for order in permutations(range(d))][:24]
    listed = [*orders, *((a + b) / 2 for a in orders for b in orders)]
    if asked.fixed == "stochastic":
        listed += [eye[i].expand(d, d).clone() for i in range(d)] + [torch.full_like(eye, 1 / d)]
    if asked.symmetric:
        listed = [each for each in listed if bool((each == each.mT).all())]
    return torch.stack(listed)


@lru_cache(maxsize=32)
def _diagonals(d: int) -> Tensor:
    """Diagonal matrices with entries from a short list in its order: all of them, or evenly many where there are more."""
    step = max(1, math.comb(len(SPECTRUM) + d - 1, d) // MOST_DIAGONALS)
    rows = islice(combinations_with_replacement(SPECTRUM, d), 0, None, step)
    return torch.diag_embed(torch.tensor(list(rows), dtype=torch.float64))


def _candidates(plan: Plan, asked: MatrixPlan, d: int, score: bool, metric: bool) -> Tensor:
    eye = torch.eye(d, dtype=torch.float64)
    if asked.fixed is not None or metric:
        if asked.fixed in ("skew", *STOCHASTIC):
            return _simple_fixed(d, asked)
        factor = 1.0 if asked.fixed is None else multiple_of_identity(asked.fixed)
        return _simple_orthogonal(d, asked) if factor is None else (factor * eye).unsqueeze(0)
    diagonals = _diagonals(d)
    if asked.symmetric and not isinstance(plan.place, AntipodalAt | Polygonal):
        return diagonals
    if asked.symmetric:
        mixed = []
        for entries in product((1.0, 0.0, -1.0, 2.0), repeat=3):
            block = torch.diag(torch.tensor([entries[0], entries[1], *([-1.0] * (d - 2))][:d], dtype=torch.float64))
            if d > 1:
                block[0, 1] = block[1, 0] = entries[2]
            mixed.append(block)
        return torch.cat([diagonals, torch.stack(mixed)])
    listed = [torch.zeros_like(eye), eye, -eye, 3 * eye, -3 * eye]
    skew = torch.zeros_like(eye)
    if d > 1:
        skew[0, 1], skew[1, 0] = 1.0, -1.0
        listed += [skew, skew + eye, skew - eye, 2 * skew + eye]
        for i, j in ((0, 1), (1, 0)):
            for value in SMALL[1:]:
                single = torch.zeros_like(eye)
                single[i, j] = value
                listed += [single, single + eye]
                if score:
                    listed.append(single + single.T)
    return torch.cat([torch.stack(listed), diagonals[:: max(1, len(diagonals) // 24)]])
