"""The connection graph of equilibria: who flows to whom, by unstable dimension.

Nodes are the equilibria of :func:`~eigentoken.theory.classification.equilibria.equilibria`.  An edge from A to B says
that an orbit in double precision, started near A along one of its unstable directions, came to rest at B up to permutation
and global sign.  That is numerical evidence: every edge has ``evidence="numerical"``, the number of orbits and the drop of
the unstable dimension; no edge is a proof, and a missing edge proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eigentoken.theory.classification.equilibrium_search import signature
from eigentoken.theory.classification.float_algebra import FloatSystem
from eigentoken.theory.systems.system import Time

if TYPE_CHECKING:
    import networkx

    from eigentoken.theory.classification.equilibria import Equilibria, EquilibriumPoint

__all__ = ["connection_graph"]

Array = NDArray[Any]

PUSH = 1e-4
AT_REST = 1e-10
SAME = 1e-4
ESCAPED = 1e6
LEFT = 1e-2
SLOW = 1e-5


def connection_graph(listed: Equilibria, *, orbits: int = 16, steps: int = 4000, seed: int = 0) -> networkx.DiGraph:
    """Equilibria as nodes (0, 1, ... with ``name``, ``kind``, ``unstable_dimension``, ``stable``), orbits as edges.

    The unstable eigenvectors, both ways, and ``orbits`` random mixtures of them are followed from each node, for at
    most ``steps`` steps; orbits that come to rest elsewhere, or nowhere, are counted in the node attributes
    ``elsewhere`` and ``restless``.
    """
    import networkx

    graph = networkx.DiGraph(evidence="numerical", system=listed.base.system.name, n=listed.base.n)
    for index, each in enumerate(listed):
        graph.add_node(
            index,
            name=each.name,
            kind=each.kind,
            origin=each.origin,
            unstable_dimension=each.unstable_dimension,
            stable=str(each.stable.answer),
            elsewhere=0,
            restless=0,
        )
    if not listed:
        return graph
    floats = FloatSystem.of(listed[0].instance)
    marks = [signature(floats, np.array(each.tokens)) for each in listed]
    rng = np.random.default_rng(seed)
    for index, each in enumerate(listed):
        for target in _limits(floats, each, marks, rng, orbits, steps):
            if target is None:
                graph.nodes[index]["restless"] += 1
            elif target < 0:
                graph.nodes[index]["elsewhere"] += 1
            elif target != index:
                _add_edge(graph, index, target, listed)
    return graph


def _add_edge(graph: Any, source: int, target: int, listed: Sequence[EquilibriumPoint]) -> None:
    if graph.has_edge(source, target):
        graph.edges[source, target]["orbits"] += 1
        return
    above, below = listed[source].unstable_dimension, listed[target].unstable_dimension
    drop = None if above is None or below is None else above - below
    graph.add_edge(source, target, orbits=1, evidence="numerical", drop=drop)


def _limits(
    floats: FloatSystem,
    each: EquilibriumPoint,
    marks: Sequence[Array],
    rng: np.random.Generator,
    orbits: int,
    steps: int,
) -> list[int | None]:
    """Where orbits along the unstable eigenvectors, both ways, and along random mixtures of them end.

    A node, -1 (at rest elsewhere) or ``None`` (not at rest).
    """
    start = np.array(each.tokens)
    directions = _unstable_directions(floats, start)
    if directions.shape[1] == 0:
        return []
    mixed = np.concatenate(
        [directions, -directions, directions @ rng.standard_normal((directions.shape[1], orbits))], axis=1
    )
    mixed = (mixed / np.linalg.norm(mixed, axis=0)).T.reshape(-1, *start.shape)
    states = floats.project(start + PUSH * mixed)
    rate = np.sum([1.0 if F is None else np.linalg.norm(F, 2) for F, _ in floats.system.heads(floats.parameters)])
    h = 0.25 / max(float(rate), 1e-9)
    return [_matched(floats, state, marks, h) for state in _followed(floats, states, h, steps)]


def _followed(floats: FloatSystem, states: Array, h: float, steps: int) -> Array:
    """Each orbit where it came to rest, or where it was slowest after it had left, if it then speeds up again.

    Rounding pushes an orbit towards a saddle off its stable manifold in the end: the slowest place is the saddle.
    """
    results = states.copy()
    moving = np.arange(len(states))
    fastest, slowest = np.zeros(len(states)), np.full(len(states), np.inf)
    for _ in range(steps):
        moved = floats.step(states[moving], h)
        speed = np.max(np.abs(moved - states[moving]), axis=(1, 2))
        states[moving] = moved
        left = fastest[moving] > LEFT
        fastest[moving] = np.maximum(fastest[moving], speed)
        slower = (speed < slowest[moving]) | ~left
        results[moving[slower]] = moved[slower]
        slowest[moving] = np.where(left, np.minimum(slowest[moving], speed), np.inf)
        passed = (slowest[moving] < SLOW) & (speed > 10 * slowest[moving])
        over = passed | (speed < AT_REST) | ~(np.max(np.abs(moved), axis=(1, 2)) < ESCAPED)
        moving = moving[~over]
        if len(moving) == 0:
            break
    results[moving] = states[moving]
    return results


def _matched(floats: FloatSystem, state: Array, marks: Sequence[Array], h: float) -> int | None:
    if not np.all(np.isfinite(state)) or np.max(np.abs(floats.step(state, h) - state)) > SLOW:
        return None
    mark = signature(floats, state)
    distances = [float(np.max(np.abs(mark - other))) for other in marks]
    best = int(np.argmin(distances))
    return best if distances[best] < SAME else -1


def _unstable_directions(floats: FloatSystem, state: Array) -> Array:
    """Columns that span the unstable directions, real and imaginary parts of complex ones."""
    matrix = floats.jacobian(state, lambda x: floats.advance(floats.project(x)))
    values, vectors = np.linalg.eig(matrix)
    excess = np.abs(values) - 1 if floats.system.time is Time.MAP else values.real
    columns = [part for k in np.flatnonzero(excess > 1e-9) for part in (vectors[:, k].real, vectors[:, k].imag)]
    kept = [column for column in columns if np.linalg.norm(column) > 1e-9]
    return np.array(kept).T if kept else np.zeros((state.size, 0))
