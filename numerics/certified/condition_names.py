"""The names of the conditions that ``certify`` decides, each with one line (a light module: a shell completes from it)."""

from __future__ import annotations

__all__ = ["CONDITIONS"]

CONDITIONS: dict[str, str] = {
    "symmetric": "M = M^T exactly; with `within`, at a spectral distance at most that",
    "identity": "M = I exactly; with `within`, at a spectral distance at most that",
    "positive-definite": "x^T M x > 0 for all x != 0: every eigenvalue of sym(M) is positive",
    "negative-definite": "x^T M x < 0 for all x != 0: every eigenvalue of sym(M) is negative",
    "positive-semidefinite": "x^T M x >= 0 for all x: no eigenvalue of sym(M) is negative",
    "negative-semidefinite": "x^T M x <= 0 for all x: no eigenvalue of sym(M) is positive",
    "indefinite": "sym(M) has eigenvalues of both signs",
    "inertia": "the numbers of positive, negative and zero eigenvalues of sym(M); `expected` asks for one",
    "rank": "the rank of M; `expected` asks for one",
    "nonsingular": "M is invertible",
    "norm-bound": "the spectral norm of M is at most `bound`; without one, its interval",
    "spectrum": "all eigenvalues of M as discs, each component with its count",
    "dominant-real-part": "the eigenvalue of largest real part is real, simple and strictly ahead",
    "dominant-modulus": "the eigenvalue of largest modulus is real, simple and strictly ahead",
    "dominant-step": "the eigenvalue of largest |1 + alpha lambda| is real, simple and strictly ahead",
    "dominant-complex-pair": "one simple non-real pair is strictly ahead (`by`: real-part, modulus, step)",
    "spectral-gap": "the largest real part is that of one simple real eigenvalue; the gap to the next",
    "principal-eigenvector": "the eigenvector of the largest real part within a certified angle",
}
