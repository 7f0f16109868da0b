"""LAPACK's routines as scipy wraps them, without the rest of ``scipy.linalg``, whose import takes longer than many a certificate.

The same extension module under the same name: where ``scipy.linalg`` is imported before or after, it has these very functions.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

from eigentoken.numerics.certified.rounding import Array

__all__ = [
    "dgeev",
    "dgeev_lwork",
    "dgetrf",
    "dgetri",
    "dgetri_lwork",
    "dpotrf",
    "dtrtrs",
    "eigenvector",
    "real_schur",
    "sgetrf",
    "sgetri",
    "sgetri_lwork",
    "spotrf",
    "strtrs",
]

_NAME = "scipy.linalg._flapack"


def _routines() -> Any:
    if "scipy.linalg" in sys.modules:
        return importlib.import_module("scipy.linalg.lapack")
    import scipy

    place = [str(Path(each) / "linalg") for each in scipy.__path__]
    found = PathFinder.find_spec("_flapack", place)
    spec = None if found is None or found.origin is None else spec_from_file_location(_NAME, found.origin)
    if spec is None or spec.loader is None:  # a scipy that is built in another way
        return importlib.import_module("scipy.linalg.lapack")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[_NAME] = module
    return module


_LAPACK = _routines()
dgeev, dgeev_lwork = _LAPACK.dgeev, _LAPACK.dgeev_lwork
dgetrf, dgetri, dgetri_lwork = _LAPACK.dgetrf, _LAPACK.dgetri, _LAPACK.dgetri_lwork
sgetrf, sgetri, sgetri_lwork = _LAPACK.sgetrf, _LAPACK.sgetri, _LAPACK.sgetri_lwork
dpotrf, dtrtrs = _LAPACK.dpotrf, _LAPACK.dtrtrs

spotrf, strtrs = _LAPACK.spotrf, _LAPACK.strtrs


def eigenvector(matrix: Array, place: int) -> Array | None:
    """The eigenvector of the eigenvalue at that place (0: the smallest) of a symmetric matrix: a guess, nothing is claimed."""
    n = matrix.shape[0]
    work, whole, _ = _LAPACK.dsyevr_lwork(n, lower=1)
    _, vectors, count, _, info = _LAPACK.dsyevr(
        matrix, range="I", lower=1, il=place + 1, iu=place + 1, lwork=int(work), liwork=int(whole)
    )
    if info != 0 or count < 1 or not np.isfinite(vectors[:, 0]).all():
        return None
    return np.ascontiguousarray(vectors[:, 0])


def real_schur(matrix: Array) -> tuple[Array, Array] | None:
    """``(T, Z)`` with the matrix near ``Z T Z^T``, T real and nearly triangular: what ``scipy.linalg.schur`` gives."""
    work = _LAPACK.dgees(_unsorted, matrix, lwork=-1)[-2]
    form, _, _, _, basis, _, info = _LAPACK.dgees(_unsorted, matrix, lwork=int(work[0]))
    return (np.asarray(form), np.asarray(basis)) if info == 0 else None


def _unsorted(*_eigenvalue: float) -> None:
    """No eigenvalue comes before another."""
