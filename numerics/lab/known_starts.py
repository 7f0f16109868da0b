"""Starts whose trajectories are known exactly, as places to look: equal tokens, and mirrored tokens on a line.

What is certified of them is in :mod:`eigentoken.numerics.readings.euclidean_orbits`.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from eigentoken.numerics.certified.eigen import eig, eigvals
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.readings.seen_silences import mirrored_lines
from eigentoken.theory.language.claims import AlmostEveryConverges, Claim, Converges, Diverges
from eigentoken.theory.language.places import ConsensusAt, SomeEquilibrium, Zero
from eigentoken.theory.systems.system import Space, Time

__all__ = ["known_starts", "on_a_line"]

#: Equal tokens are looked at after so many units of ``1/|B|``, and a little later.
LATE, LATER = 30.0, 33.7
#: Bounded, at rest, and near zero, in units of the size at the start.
GROWN, STILL, GONE = 5.0, 1e-2, 0.5
#: Lines are looked at for so many instances of a batch.
LINES = 64


def known_starts(claim: Claim | None, batch: Batch) -> Iterator[tuple[Batch, Tensor]]:
    """Instances with such starts, and a positive number where the claim is seen to fail there."""
    name = batch.system.value
    place = getattr(claim, "place", None)
    if name is None or not batch.system.standard or batch.system.multihead:
        return
    if batch.system.space is Space.SPHERE:
        if isinstance(claim, Converges | AlmostEveryConverges) and isinstance(place, SomeEquilibrium | ConsensusAt):
            yield from _of_turning_tokens(batch, name, attract=isinstance(claim, AlmostEveryConverges))
        return
    if not isinstance(claim, Diverges) and not isinstance(place, Zero | SomeEquilibrium):
        return
    if batch.count == 0 or not isinstance(batch.parameters.get(name), Tensor):
        return
    B = batch.named(name)
    equal = batch.at(batch.tokens[:, :1].expand_as(batch.tokens).clone())
    yield equal, _of_equal_tokens(claim, place, B, equal.tokens[:, 0])
    score = batch.system.score
    if score is not None and batch.mask is None and batch.n > 1 and isinstance(batch.parameters.get(score), Tensor):
        yield from _of_lines(claim, batch.take(list(range(min(batch.count, LINES)))), name, score)


def _of_equal_tokens(claim: Claim | None, place: object, B: Tensor, x: Tensor) -> Tensor:
    size = torch.linalg.matrix_norm(B).clamp_min(1e-9)[:, None, None]
    late, later = ((torch.linalg.matrix_exp(time * B / size) @ x[..., None])[..., 0] for time in (LATE, LATER))
    norm = torch.linalg.vector_norm
    start = norm(x, dim=-1)
    if isinstance(claim, Diverges):
        seen = torch.maximum(norm(late, dim=-1), norm(later, dim=-1)) < GROWN * start
    elif isinstance(place, Zero):
        seen = norm(late, dim=-1) > GONE * start
    else:
        seen = norm(later - late, dim=-1) > STILL * start
    return torch.where(seen & (start > 1e-9), 1.0, -1.0).double()


def _of_turning_tokens(batch: Batch, name: str, attract: bool) -> Iterator[tuple[Batch, Tensor]]:
    """Equal tokens on the sphere, where the values have no real eigenvector; with ``attract`` those that draw others to them."""
    values = batch.parameters.get(name)
    if batch.d % 2 or batch.count == 0 or not isinstance(values, Tensor):
        return
    found = eigvals(values)
    turning = found.imag.abs().amin(-1)
    if attract:
        if batch.d != 2 or batch.mask is not None:
            return
        grown = found.real.amin(-1)
        if batch.system.time is Time.MAP:
            step = batch.parameters["alpha"]
            grown = (1 + step.reshape(-1, 1) * found).abs().amin(-1) - 1
        turning = torch.minimum(turning, grown)
    equal = batch.at(batch.tokens[:, :1].expand_as(batch.tokens).clone())
    yield equal, torch.where(turning > 1e-3, 1.0, -1.0).double()


def _of_lines(claim: Claim | None, batch: Batch, name: str, score: str) -> Iterator[tuple[Batch, Tensor]]:
    """Tokens v, -v, 0, ..., 0 on the lines of eigenvectors, where that breaks the claim."""
    sign = -1 if isinstance(claim, Diverges) else 1
    rows, tokens, heights = [], [], []
    for index in range(batch.count):
        lines = mirrored_lines(batch.named(name)[index].numpy(), batch.named(score)[index].numpy())
        best = max(((sign * growth, v) for growth, v in lines), key=lambda each: each[0], default=None)
        if best is not None and best[0] > 1e-9:
            state = torch.zeros_like(batch.tokens[0])
            state[0], state[1] = torch.tensor(best[1]), -torch.tensor(best[1])
            rows.append(index)
            tokens.append(state)
            heights.append(min(best[0], 1.0))
    if rows:
        yield batch.take(rows).at(torch.stack(tokens)), torch.tensor(heights, dtype=torch.float64)


def on_a_line(batch: Batch) -> Tensor:
    """The tokens at their lengths on both sides of the line of an eigenvector of the values, that of the largest modulus."""
    values, vectors = eig(batch.named(str(batch.system.value)))
    top = values.abs().argmax(-1)
    line = vectors.real.gather(-1, top[:, None, None].expand(-1, batch.d, 1)).squeeze(-1)
    line = line / torch.linalg.vector_norm(line, dim=-1, keepdim=True).clamp_min(1e-12)
    sides = 1.0 - 2.0 * (torch.arange(batch.n) % 2).double()
    lengths = torch.linalg.vector_norm(batch.tokens, dim=-1) * sides
    return lengths.unsqueeze(-1) * line.unsqueeze(1)
