"""The inertia of a head's ``sym(L^T R)`` from the stacked factors ``Z = [L; R]`` of shape (2r, d), without forming d x d.

``sym(L^T R) = Z^T J Z / 2`` with ``J = [[0, I], [I, 0]]`` of inertia (r, r, 0).  Where Z has full row rank 2r <= d, a congruence
by Z adds d - 2r zeros (Sylvester): ``(r, r, d - 2r)``, certified by the definiteness of ``Z Z^T``.  Where rows are dependent, the
nonzero eigenvalues of ``Z^T J Z`` are those of the core ``J Z Z^T``, an integer matrix of order 2r; all are real, so
Descartes' rule counts them exactly.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import flint
import numpy as np

from eigentoken.documents.certificate import MatrixFacts
from eigentoken.documents.verdict_object import VerdictDetails
from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.enclosures import product
from eigentoken.numerics.certified.exact_matrices import (
    Deadline,
    DeadlinePassed,
    ExactMatrix,
    sign_counts_of_polynomial,
)
from eigentoken.numerics.certified.matrices import as_enclosure
from eigentoken.numerics.certified.rounding import Array
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer

__all__ = ["head_inertia"]

UNIT: Final = "spectral norm"
TIME_LIMIT = 1.0


def head_inertia(factors: Array, name: str, time_limit: float = TIME_LIMIT) -> Verdict:
    """The inertia of ``sym(L^T R)``, with a certificate about ``Z`` (full rank) or about its halves L and R (the core)."""
    stacked = np.asarray(factors, dtype=np.float64)
    r, d = stacked.shape[0] // 2, stacked.shape[1]
    left, right = as_enclosure(stacked[:r], name=f"{name}.first"), as_enclosure(stacked[r:], name=f"{name}.second")
    if 2 * r <= d:
        z = as_enclosure(stacked, name=name)
        full = certify("positive-definite", product(z, z.transpose), time_limit=time_limit)
        if full.is_holds:
            text = f"inertia ({r}, {r}, {d - 2 * r}): [L; R] has full row rank, so sym(L^T R) is congruent to J + 0"
            details: VerdictDetails = {"inertia": [r, r, d - 2 * r], "certified": "full row rank of [L; R]"}
            return replace(full, reason=text, details=details)
        try:
            counts = _core_counts(stacked, Deadline.after(time_limit))
        except DeadlinePassed:
            pass
        else:
            return _of_the_core(counts, {**left.inputs, **right.inputs}, name)
    return certify("inertia", product(left.transpose, right), time_limit=time_limit)


def _core_counts(stacked: Array, deadline: Deadline) -> tuple[int, int, int]:
    """Signs of the eigenvalues of ``Z^T J Z``: those of ``J Z Z^T``, and zeros."""
    r, d = stacked.shape[0] // 2, stacked.shape[1]
    z = ExactMatrix.from_floats(np.ascontiguousarray(stacked))
    rows = (z.numerators * z.numerators.transpose()).tolist()
    swapped = ExactMatrix(flint.fmpz_mat(rows[r:] + rows[:r]), flint.fmpz(1))
    positive, negative, _ = sign_counts_of_polynomial(swapped.charpoly(deadline))
    return positive, negative, d - positive - negative


def _of_the_core(counts: tuple[int, int, int], inputs: dict[str, str], name: str) -> Verdict:
    d = sum(counts)
    data: MatrixFacts = {
        "shape": [d, d],
        "terms": [[[f"{name}.first", True], [f"{name}.second", False]]],
        "slack": "0",
        "margin": (0.0).hex(),
        "unit": UNIT,
        "options": {},
        "facts": {"positive": counts[0], "negative": counts[1], "zero": counts[2]},
    }
    certificate = Certificate("core-inertia", "inertia", VerdictAnswer.HOLDS, inputs, data)
    reason = "inertia ({}, {}, {}): the signs of the core J Z Z^T of Z = [L; R], counted exactly".format(*counts)
    details: VerdictDetails = {"inertia": list(counts), "certified": "exact characteristic polynomial of the core"}
    return Verdict(VerdictAnswer.HOLDS, reason, 0.0, UNIT, certificate, details)
