"""Derivatives at antipodal states: half of the tokens at w, half at -w, w any unit vector.

In a basis (w, xi, e_3, e_4): ``V w = nu w + omega``, ``omega = omega_2 xi + omega_3 e_3``, and
``V xi = omega_2 w + g_2 xi + g_3 e_3 + g_4 e_4``; V is symmetric and otherwise free.  Each half has p tokens.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.power_method.symbols import alpha, p

__all__ = ["AGAINST", "TOGETHER", "G", "antipodal_slopes"]

_OMEGA2, _OMEGA3 = sp.symbols("omega_2 omega_3", real=True)
G = sp.symbols("g_2 g_3 g_4", real=True)

_W, _XI = (1, 0, 0, 0), (0, 1, 0, 0)
_MOVES = {"xi": _XI, "-xi": (0, -1, 0, 0), "0": (0, 0, 0, 0)}


def value() -> list[list[Any]]:
    """V in the basis (w, xi, e_3, e_4)."""
    nu, h33, h34, h44 = sp.symbols("nu h_33 h_34 h_44", real=True)
    return [
        [nu, _OMEGA2, _OMEGA3, 0],
        [_OMEGA2, *G],
        [_OMEGA3, G[1], h33, h34],
        [0, G[2], h34, h44],
    ]


def antipodal_slopes(name: str, moves: list[tuple[Any, int, str]]) -> Any:
    """Derivatives for groups (count, side, move), side 1 for w and -1 for -w; coordinates in order."""

    def run() -> list[Any]:
        from eigentoken.proofs.steps.token_groups import slopes

        parameters: dict[str, Any] = {"V": value()}
        if name.endswith("map"):
            parameters["alpha"] = alpha
        groups = [(count, tuple(side * entry for entry in _W), _MOVES[move]) for count, side, move in moves]
        return [entry for token in slopes(name, parameters, groups, (1,)) for entry in token]

    return run


#: Two kinds of moves: both halves together, halves against each other.
TOGETHER = [(p, 1, "xi"), (p, -1, "xi")]
AGAINST = [(p, 1, "xi"), (p, -1, "-xi")]
