"""Derivatives at bipartite points: p tokens at v_k and q at -v_k, moved in the ways that diagonalise the Jacobian.

The moves are: two tokens of one side in opposite directions; the two sides as wholes.  The systems are
evaluated on groups with symbolic sizes, so the answers hold for every p, q and d.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.power_method.symbols import LK, LL, E, alpha, any_score, d, p, q, symmetric_value
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.statements.steps import Identity, Reduction

__all__ = [
    "bipartite_count",
    "bipartite_moves",
    "pairs_moved",
    "sides_moved",
    "written_trace",
]

#: Sizes of the moves of the two sides.
X, Y = sp.symbols("xi_1 xi_2", real=True)

_PLUS, _MINUS, _ALONG, _AGAINST, _STILL = (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 0)


def _parameters(name: str, value: Any) -> dict[str, Any]:
    parameters: dict[str, Any] = {"V": value}
    if name.startswith("attention"):
        parameters["M"] = any_score(3, sp.log(E))
    if name.endswith("map"):
        parameters["alpha"] = alpha
    return parameters


def _run(name: str, groups: Sequence[Any], lengths: Sequence[Any], value: Any) -> list[Any]:
    from eigentoken.proofs.steps.token_groups import slopes

    found = slopes(name, _parameters(name, value), groups, lengths)
    return [entry for token in found for entry in token]


def pairs_moved(name: str, lengths: Sequence[Any], side: int) -> Callable[[], list[Any]]:
    """Two tokens of a side are moved along xi and -xi: the coordinate along xi of the first, then all others."""

    def run() -> list[Any]:
        here, there, count, other = (_PLUS, _MINUS, p, q) if side == 1 else (_MINUS, _PLUS, q, p)
        groups = [(1, here, _ALONG), (1, here, _AGAINST), (count - 2, here, _STILL), (other, there, _STILL)]
        return _run(name, groups, lengths, symmetric_value())

    return run


def sides_moved(name: str, lengths: Sequence[Any]) -> Callable[[], list[Any]]:
    """The sides are moved by xi_1 v_l and xi_2 v_l: the coordinates along v_k and v_l of both images."""

    def run() -> list[Any]:
        groups = [(p, _PLUS, (0, X, 0)), (q, _MINUS, (0, Y, 0))]
        found = _run(name, groups, lengths, symmetric_value(LK, LL, sp.Integer(0)))
        return [found[0], found[1], found[3], found[4]]

    return run


#: Names of the three reductions of :func:`bipartite_moves`.
MOVES = ("pairs, first side", "pairs, second side", "sides")


def bipartite_moves(
    name: str,
    own: tuple[Any, Any],
    block: Any,
    says: tuple[str, str, str],
    shown: tuple[str, str, str],
    establishes: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] = ((), (), ()),
    lengths: Sequence[Any] = (1,),
) -> tuple[Reduction, ...]:
    """The spectrum at a bipartite point: ``own`` on pairs of each side, the 2 x 2 ``block`` on the sides as wholes."""
    still = (0,) * 7
    sides = (0, block[0, 0] * X + block[0, 1] * Y, 0, block[1, 0] * X + block[1, 1] * Y)
    claimed = [(0, own[0], 0, 0, -own[0], *still), (0, own[1], 0, 0, -own[1], *still), sides]
    derived = [pairs_moved(name, lengths, 1), pairs_moved(name, lengths, -1), sides_moved(name, lengths)]
    return tuple(
        grouped(MOVES[place], says[place], derived[place], claimed[place], shown[place], establishes=establishes[place])
        for place in range(3)
    )


def bipartite_count() -> Identity:
    """Pairs of both sides and the sides as wholes span the tangent space: (p-1) + (q-1) + 2 = n for each direction."""
    with sp.evaluate(False):
        left = (p - 1) * (d - 1) + (q - 1) * (d - 1) + 2 * (d - 1)
    return Identity(
        name="count",
        says="For each of the $d - 1$ directions these are $n = p + q$ independent vectors: the spectrum is complete.",
        left=left,
        right=(p + q) * (d - 1),
        uses=MOVES,
    )


def written_trace(block: Any) -> Any:
    """``b_11 + b_22``, kept as a sum for print (the checkers evaluate it)."""
    return sp.Add(block[0, 0], block[1, 1], evaluate=False)
