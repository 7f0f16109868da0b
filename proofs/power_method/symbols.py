"""The letters of the chapter, and the special points with symbolic sizes that its reductions start from.

``LK`` and ``LL`` are the eigenvalues lambda_k and lambda_ell as plain symbols; ``E = e^s`` with ``s = v_k^T M v_k``.  A basis
begins with the direction of the tokens; the further coordinates span what a perturbation and its image need.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.theory.language.terms import Eigenvalue, ScoreAtEigenvector, alpha, d, ell, k, matrix, n, p, q

__all__ = [
    "B1",
    "B2",
    "G2",
    "G3",
    "LK",
    "LL",
    "M1",
    "M2",
    "Z1",
    "Z2",
    "E",
    "F",
    "M",
    "S",
    "T",
    "V",
    "alpha",
    "any_score",
    "b1",
    "b2",
    "bbar",
    "consensus_value",
    "d",
    "delta",
    "ell",
    "k",
    "kappa",
    "lam",
    "m1",
    "m2",
    "mu",
    "n",
    "p",
    "q",
    "score",
    "symmetric_value",
]  # fmt: skip

V, M, F = matrix("V"), matrix("M"), matrix("F")

LK, LL = sp.symbols("lambda_k lambda_ell", real=True)
G2, G3 = sp.symbols("g_2 g_3", real=True)
E = sp.Symbol("E", positive=True)
S, T = sp.symbols("s t", real=True)
b1, b2, kappa, mu, m1, m2 = sp.symbols("b_1 b_2 kappa mu m_1 m_2", real=True)
bbar = (b1 + b2) / 2
delta = (p - q) / (p + q)

#: Row sums and heights of the attention matrix at a bipartite point, in p, q and E = e^s (PM-L9).
Z1, Z2 = p * E + q / E, q * E + p / E
B1, B2 = (p * E - q / E) / Z1, (q * E - p / E) / Z2
M1, M2 = 1 + alpha * LK * B1, 1 + alpha * LK * B2


def lam(term: Any, index: Any) -> Any:
    """``lambda_index(term)``."""
    return Eigenvalue(term, index)


def score(index: Any) -> Any:
    """``s = v_k^T M v_k``."""
    return ScoreAtEigenvector(M, V, index)


def any_score(size: int, first: Any = None, letter: str = "c") -> list[list[Any]]:
    """A score matrix of independent symbols; ``first`` is its entry (1, 1)."""
    rows = [[sp.Symbol(f"{letter}_{i + 1}{j + 1}", real=True) for j in range(size)] for i in range(size)]
    if first is not None:
        rows[0][0] = first
    return rows


def symmetric_value(top: Any = LK, g2: Any = G2, g3: Any = G3) -> list[list[Any]]:
    """V in a basis (v_k, xi, rest of V xi): ``V v_k = lambda_k v_k`` and ``V xi = g_2 xi + g_3 e_3``."""
    free = sp.Symbol("g_4", real=True)
    return [[top, 0, 0], [0, g2, g3], [0, g3, free]]


def consensus_value(top: Any = LK) -> list[list[Any]]:
    """Any F with ``F v_k = lambda_k v_k``, in a basis (v_k, xi, rest of F xi): ``F xi = f v_k + g_2 xi + g_3 e_3``."""
    f1, f2, h2, h3 = sp.symbols("f_1 f_2 h_2 h_3", real=True)
    return [[top, f1, f2], [0, G2, h2], [0, G3, h3]]
