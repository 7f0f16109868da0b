"""Matrices of the literature and near misses of them, with exact ground truth: the second set of adversarial families.

Truth never comes from the certified code.  Signs: elimination over Python fractions.  Spectra: eigenvalues that are rational
by construction, compared as fractions; or FLINT's isolation of the roots of the exact characteristic polynomial at 1,200
bits, used only where the scores of the leaders are apart by more than 2^-600 of their size (a tie is then not claimed).
References: Higham, *The Test Matrix Toolbox for Matlab* (1995), for the names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from math import comb, gcd
from typing import Any

import flint
import numpy as np

from .adversarial_matrices import Generator, SignCase, SpectralCase, exact_kinds, fraction_inertia, in_turn

__all__ = ["NAMED_SIGNS", "NAMED_SPECTRA", "isolated_kinds", "named_sign_cases", "named_spectral_cases"]

Array = np.ndarray[Any, Any]
BITS, APART = 1200, 600


def _fractions(matrix: Any) -> list[list[Fraction]]:
    rows = matrix.tolist() if isinstance(matrix, np.ndarray) else matrix
    return [[Fraction(entry) for entry in row] for row in rows]


def _signs(family: str, matrix: Any) -> SignCase:
    rows = _fractions(matrix)
    n = len(rows)
    return SignCase(family, matrix, fraction_inertia([[rows[i][j] + rows[j][i] for j in range(n)] for i in range(n)]))


def _pascal(rng: Generator) -> SignCase:
    n = int(rng.integers(2, 11))
    matrix = np.array([[float(comb(i + j, i)) for j in range(n)] for i in range(n)])
    matrix[-1, -1] -= float(rng.integers(0, 3))  # positive definite, exactly singular, indefinite
    return _signs("Pascal, last entry lowered", matrix)


def _moler(rng: Generator) -> SignCase:
    n = int(rng.integers(3, 15))
    matrix = np.array([[float(min(i, j) - 1) if i != j else float(i + 1) for j in range(n)] for i in range(n)])
    matrix[0, 0] -= float(rng.choice([0.0, 4.0 ** -(n - 1), 2.0 ** -(2 * n + 4), 2.0**-20]))
    return _signs("Moler, first entry lowered", matrix)


def _lauchli(rng: Generator) -> SignCase:
    n, mu = int(rng.integers(2, 7)), float(rng.choice([1e-3, 1e-8, 2.0**-27, 1e-9, 1e-17]))
    tall = np.vstack([np.ones((1, n)), mu * np.eye(n)])
    return _signs("Lauchli Gram, rounded", tall.T @ tall)


def _kahan(rng: Generator) -> SignCase:
    n, s = int(rng.integers(2, 8)), float(rng.uniform(0.1, 0.99))
    c = float(np.sqrt(1 - s * s))
    return _signs("Kahan", np.diag(s ** np.arange(n)) @ (np.eye(n) - c * np.triu(np.ones((n, n)), 1)))


def _lotkin(rng: Generator) -> SignCase:
    n = int(rng.integers(2, 8))
    return _signs("Lotkin", [["1"] * n] + [[f"1/{i + j + 1}" for j in range(n)] for i in range(1, n)])


def _nearly_skew(rng: Generator) -> SignCase:
    n = int(rng.integers(2, 7))
    a = rng.integers(-4, 5, size=(n, n)).astype(np.float64)
    diagonal = rng.choice([0.0, 2.0**-60, -(2.0**-1060), 1e-9, 5e-324], size=n)
    return _signs("nearly skew", a - a.T + np.diag(diagonal))


def _thin_gram(rng: Generator) -> SignCase:
    """A Gram matrix of lower rank, rounded to a stored type: its zeros become small eigenvalues of either sign."""
    n, r = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    v = rng.standard_normal((n, r)).astype(np.float32)
    gram = (v @ v.T).astype(np.float32)
    if rng.random() < 0.5:  # bfloat16: the upper half of the bits
        gram = (gram.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    return _signs("Gram of lower rank, float32 and bfloat16", np.triu(gram) + np.triu(gram, 1).T)


def _huge_integers(rng: Generator) -> SignCase:
    n, shift = int(rng.integers(2, 5)), int(rng.choice([54, 64, 200, 1500]))
    a = rng.integers(-1, 2, size=(n, n)).astype(object) * (1 << shift) + rng.integers(-9, 10, size=(n, n)).astype(
        object
    )
    return _signs("integers beyond floats", [[str(entry) for entry in row] for row in (a + a.T).tolist()])


def _mirrored(rng: Generator) -> SignCase:
    n = int(rng.integers(1, 4))
    a = rng.integers(-5, 6, size=(n, n)).astype(np.float64)
    z = np.zeros((n, n))
    return _signs(
        "mirrored blocks", np.block([[z, a], [a.T, z]]) if rng.random() < 0.5 else np.block([[a, z], [z, -a]])
    )


def _divisors(rng: Generator) -> SignCase:
    n = int(rng.integers(2, 12))
    matrix = np.array([[float(gcd(i, j)) for j in range(1, n + 1)] for i in range(1, n + 1)])
    i = int(rng.integers(0, n))
    matrix[i, i] = np.nextafter(matrix[i, i], 0.0) if rng.random() < 0.3 else matrix[i, i] - float(rng.integers(0, 3))
    return _signs("greatest common divisors", matrix)


NAMED_SIGNS: dict[str, Callable[[Generator], SignCase]] = {
    "pascal": _pascal,
    "moler": _moler,
    "lauchli": _lauchli,
    "kahan": _kahan,
    "lotkin": _lotkin,
    "nearly-skew": _nearly_skew,
    "thin-gram": _thin_gram,
    "huge": _huge_integers,
    "mirrored": _mirrored,
    "gcd": _divisors,
}


def isolated_kinds(matrix: Any, alpha: Fraction) -> dict[str, str | None]:
    """Kinds of the leaders from isolated roots; None where the leading scores are not apart (a tie is not claimed)."""
    rows = _fractions(matrix)
    entries = [flint.fmpq(entry.numerator, entry.denominator) for row in rows for entry in row]
    old, flint.ctx.prec = flint.ctx.prec, BITS
    try:
        polynomial = flint.fmpq_mat(len(rows), len(rows), entries).charpoly().numer()
        roots = [(ball, m * k) for factor, m in polynomial.factor_squarefree()[1] for ball, k in factor.complex_roots()]
        step = flint.arb(flint.fmpq(alpha.numerator, alpha.denominator))
        scores = {
            "real-part": [ball.real for ball, _ in roots],
            "modulus": [abs(ball) for ball, _ in roots],
            "step": [abs(1 + ball * step) for ball, _ in roots],
        }
        return {order: _kind(roots, found) for order, found in scores.items()}
    finally:
        flint.ctx.prec = old


def _kind(roots: list[tuple[Any, int]], scores: list[Any]) -> str | None:
    order = sorted(range(len(roots)), key=lambda k: scores[k].mid(), reverse=True)
    pair = roots[order[0]][0].imag != 0
    top = order[: 2 if pair else 1]
    if pair and (len(order) < 2 or not roots[order[1]][0].overlaps(roots[order[0]][0].conjugate())):
        return None
    size = flint.arb(abs(scores[order[0]]).upper())
    rest = order[len(top) :]
    if rest and not scores[top[0]] - scores[rest[0]] > size * flint.arb(2) ** -APART:
        return None
    return ("simple" if roots[top[0]][1] == 1 else "multiple") + ("-pair" if pair else "-real")


def _alpha(rng: Generator) -> Fraction:
    return Fraction(int(rng.integers(1, 8)) * int(rng.choice([-1, 1])), int(rng.integers(1, 8)))


def _isolated(family: str, matrix: Any, rng: Generator) -> SpectralCase:
    alpha = _alpha(rng)
    return SpectralCase(family, matrix, alpha, isolated_kinds(matrix, alpha))


def _known(
    family: str, matrix: Any, eigenvalues: list[tuple[Fraction, Fraction, int]], alpha: Fraction
) -> SpectralCase:
    return SpectralCase(family, matrix, alpha, exact_kinds(eigenvalues, alpha), tuple(eigenvalues))


def _companion(rng: Generator) -> SpectralCase:
    k = int(rng.integers(2, 8))
    matrix = np.diag(np.ones(k - 1), -1)
    matrix[0] = [-float(comb(k, j) * (-1) ** j) for j in range(1, k + 1)]
    change = float(rng.choice([0.0, 2.0**-52, -(2.0**-40), 2.0**-30, 1e-3]))
    matrix[0, -1] += change
    if change == 0.0:
        return _known("companion of (x - 1)^k", matrix, [(Fraction(1), Fraction(0), k)], _alpha(rng))
    return _isolated("companion of (x - 1)^k, perturbed", matrix, rng)


def _clement(rng: Generator) -> SpectralCase:
    """Eigenvalues n - 1, n - 3, ..., 1 - n, exactly: mirrored, so that the modulus ties."""
    n = int(rng.integers(2, 9))
    matrix = np.diag(np.arange(1.0, n), 1) + np.diag(np.arange(n - 1.0, 0.0, -1.0), -1)
    eigenvalues = [(Fraction(n - 1 - 2 * k), Fraction(0), 1) for k in range(n)]
    return _known("Clement", matrix, eigenvalues, _alpha(rng))


def _circulant(rng: Generator) -> SpectralCase:
    n = int(rng.integers(2, 8))
    row = rng.integers(-2, 3, size=n)
    return _isolated("circulant", np.array([[float(row[(j - i) % n]) for j in range(n)] for i in range(n)]), rng)


def _toeplitz(rng: Generator) -> SpectralCase:
    n = int(rng.integers(2, 8))
    tiny = float(rng.choice([0.0, 1e-8, -1e-8, 2.0**-60, 2.0**-100, -1.0]))
    matrix = float(rng.integers(-2, 3)) * np.eye(n) + np.eye(n, k=1) + tiny * np.eye(n, k=-1)
    matrix = matrix + (float(rng.integers(-1, 2)) * np.eye(n, k=2) if rng.random() < 0.5 else 0.0)
    return _isolated("Toeplitz of narrow band", matrix, rng)


def _step_tie(rng: Generator) -> SpectralCase:
    """A real eigenvalue and a pair (or a mirror image) with one ``|1 + alpha lambda|``, or apart by 2^-70."""
    alpha, x = _alpha(rng), Fraction(int(rng.integers(-6, 7)))
    score = abs(1 + alpha * x)
    apart = Fraction(1, 2**70) if rng.random() < 0.3 else Fraction(0)
    if rng.random() < 0.5:
        values = [(x + apart, Fraction(0), 1), (-2 / alpha - x, Fraction(0), 1), (Fraction(-1), Fraction(0), 1)]
        rows = [[str(values[i][0]) if i == j else str(int(j > i)) for j in range(3)] for i in range(3)]
        return _known("ties by step", rows, values, alpha)
    a, b = (score * Fraction(3, 5) - 1) / alpha, abs(score * Fraction(4, 5) / alpha)
    rows = [[str(a), str(b), "1"], [str(-b), str(a), "2"], ["0", "0", str(x + apart)]]
    pair = [(a, b, 1)] if b else [(a, Fraction(0), 2)]
    return _known("ties by step", rows, [*pair, (x + apart, Fraction(0), 1)], alpha)


def _defective_pair(rng: Generator) -> SpectralCase:
    a, b = float(rng.integers(-3, 4)), float(rng.integers(1, 4))
    turn = np.array([[a, b], [-b, a]])
    matrix = np.kron(np.eye(2), turn) + np.kron(np.eye(2, k=1), np.eye(2))
    eigenvalues = [(Fraction(a), Fraction(b), 2)]
    if rng.random() < 0.5:
        ahead = a + float(rng.integers(-1, 3))
        matrix = np.block([[matrix, np.ones((4, 1))], [np.zeros((1, 4)), np.array([[ahead]])]])
        eigenvalues.append((Fraction(ahead), Fraction(0), 1))
    return _known("defective pairs", matrix, eigenvalues, _alpha(rng))


def _forsythe(rng: Generator) -> SpectralCase:
    n = int(rng.integers(2, 7))
    matrix = np.eye(n, k=1) + float(rng.integers(-1, 2)) * np.eye(n)
    matrix[-1, 0] = float(rng.choice([2.0**-40, 1e-12, -(2.0**-52), 1e-300, -1e-300]))
    return _isolated("Forsythe", matrix, rng)


def _permutation(rng: Generator) -> SpectralCase:
    """All moduli are 1, and 1 is an eigenvalue: multiple for several cycles of coprime lengths, tied otherwise."""
    n = int(rng.integers(2, 7))
    order = rng.permutation(n)
    cycles, seen = 0, set()
    for start in range(n):
        at = start
        cycles += at not in seen
        while at not in seen:
            seen.add(at)
            at = int(order[at])
    kinds: dict[str, str | None] = {
        "real-part": "simple-real" if cycles == 1 else "multiple-real",
        "modulus": "multiple-real" if cycles == n else "tie",
        "step": None,
    }
    return SpectralCase("permutation", np.eye(n)[order], _alpha(rng), kinds)


def _markov(rng: Generator) -> SpectralCase:
    """Walks on a path: 1 leads by real part and is simple; the walk has period 2, so that -1 ties by modulus."""
    n = int(rng.integers(2, 8))
    matrix = np.zeros((n, n))
    for i, j in pairwise(range(n)):
        matrix[i, j], matrix[j, i] = 0.5, 0.5
    matrix[0, 1] = matrix[n - 1, n - 2] = 1.0
    kinds: dict[str, str | None] = {"real-part": "simple-real", "modulus": "tie", "step": None}
    return SpectralCase("walk of period 2", matrix, _alpha(rng), kinds)


def _random_mirrored(rng: Generator) -> SpectralCase:
    n = int(rng.integers(1, 4))
    a = rng.integers(-4, 5, size=(n, n)).astype(np.float64)
    z = np.zeros((n, n))
    return _isolated("A and -A, A and its transpose", np.block([[a, z], [z, a.T if rng.random() < 0.5 else -a]]), rng)


NAMED_SPECTRA: dict[str, Callable[[Generator], SpectralCase]] = {
    "companion": _companion,
    "clement": _clement,
    "circulant": _circulant,
    "toeplitz": _toeplitz,
    "step-tie": _step_tie,
    "defective-pair": _defective_pair,
    "forsythe": _forsythe,
    "permutation": _permutation,
    "markov": _markov,
    "mirrored": _random_mirrored,
}


def named_sign_cases(count: int, seed: int = 0) -> Iterator[SignCase]:
    """``count`` matrices, the families in turn."""
    return in_turn(NAMED_SIGNS, count, seed)


def named_spectral_cases(count: int, seed: int = 0) -> Iterator[SpectralCase]:
    """``count`` matrices, the families in turn."""
    return in_turn(NAMED_SPECTRA, count, seed)
