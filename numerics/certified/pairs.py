"""The pair (W, A) of the token flow, ``A = W B^-1``, without forming an inverse.

``B^T A B = B^T W``: a congruence by the invertible B.  So sym(A) and sym(B^T W) have the same inertia (Sylvester), A is
symmetric iff ``B^T W`` is, and definiteness of ``B^T W`` implies that B is invertible (``B x = 0`` gives
``x^T B^T W x = 0``).  In row notation B is the transpose of the value matrix.  Margins are spectral norms of ``B^T W``.
"""

from __future__ import annotations

from typing import Any

from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.enclosures import MatrixError, product
from eigentoken.numerics.certified.matrices import as_enclosure
from eigentoken.theory.language.verdicts import Verdict, fails, undecided

__all__ = ["PAIR_CONDITIONS", "certify_pair"]

_IMPLY_INVERTIBLE = ("positive-definite", "negative-definite")
PAIR_CONDITIONS = (
    "symmetric",
    "positive-definite",
    "negative-definite",
    "positive-semidefinite",
    "negative-semidefinite",
    "indefinite",
    "inertia",
    "nonsingular",
)


def certify_pair(condition: str, W: Any, B: Any, **options: Any) -> Verdict:
    """A condition on ``A = W B^-1`` from W and B alone.

    >>> certify_pair("negative-definite", [["1", "1/2"], ["-1/2", "1"]], [["-1", "-1/2"], ["1/4", "-1/2"]]).word.value
    'holds'
    """
    if condition not in PAIR_CONDITIONS:
        raise MatrixError(f"{condition!r} is not carried by a congruence: expected one of {', '.join(PAIR_CONDITIONS)}")
    w, b = as_enclosure(W, name="W"), as_enclosure(B, name="B")
    if not (w.is_square and b.is_square and w.shape == b.shape):
        raise MatrixError(f"W and B must be square of one size, got {w.shape} and {b.shape}")
    found = certify(condition, product(b.transpose, w), **options)
    if not (condition in _IMPLY_INVERTIBLE and found.is_holds):
        invertible = certify("nonsingular", b)
        if invertible.is_fails:
            return fails(f"A = W B^-1 is not defined: {invertible.reason}", certificate=invertible.certificate)
        if invertible.is_undecided:
            return undecided(f"{condition} of A = W B^-1: whether B is invertible is undecided ({invertible.reason})")
    reason = f"B^T W = B^T A B: {found.reason}"
    return Verdict(found.word, reason, found.margin, "spectral norm of B^T W", found.certificate, found.details)
