"""Assumption 1 of Li-Altafini: ``V = V^T`` nonsingular, ``lambda_1 > lambda_2 >= ... >= lambda_d``, ``lambda_1 > 0``."""

from __future__ import annotations

from eigentoken.theory.language.conditions import Nonsingular, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.terms import Eigenvalue, matrix

__all__ = ["ASSUMPTION_1"]

_V = matrix("V")
ASSUMPTION_1 = (Symmetric(_V), Nonsingular(_V), SimpleTop(_V), Relation(Eigenvalue(_V, 1) > 0))
