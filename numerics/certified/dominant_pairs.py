"""Do several exact matrices share a left and a right eigenvector, and a norm in which each contracts beside them?

With ``u^T U_h = lambda_h u^T``, ``U_h v = lambda_h v``, ``u^T v = 1`` and ``Pi = I - v u^T`` the projection to ``u^perp``, the
norm ``|r|_*^2 = r^T G r`` (G positive definite) has ``|U_h r|_* < lambda_h |r|_*`` on ``u^perp`` for every h exactly when each

    ``M_h = lambda_h^2 H - U_h^T H U_h + u u^T,   H = Pi^T G Pi``

is positive definite: the first two terms vanish on v and on what is paired with it, and ``u u^T`` on ``u^perp``.  The candidates
u, v, G come from floats, rounded to rationals; whether they do is decided exactly.  What no candidate shows is undecided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from eigentoken.numerics.certified.exact_matrices import Deadline, DeadlinePassed, ExactMatrix
from eigentoken.numerics.certified.rounding import Array
from eigentoken.theory.language.verdicts import Verdict, holds, undecided

__all__ = ["LARGEST", "shared_pair"]

#: The largest width at which candidates are tried.
LARGEST = 64

#: Denominators of the rational candidates for u and v.
DENOMINATOR = 10**4


def shared_pair(values: Sequence[ExactMatrix], seconds: float = 1.0) -> Verdict:
    """``holds`` with the pair, the eigenvalues and the norm that were found, else ``undecided``.

    >>> one, two = (ExactMatrix.from_floats(np.diag(entries)) for entries in ([2.0, 1.0], [1.0, -0.5]))
    >>> shared_pair([one, two]).answer.value
    'holds'
    """
    d = values[0].shape[0]
    floats = [each.as_floats() for each in values]
    if d > LARGEST or any(each is None for each in floats):
        return undecided(f"a common pair is looked for in exact arithmetic up to width {LARGEST}")
    heads = [each for each in floats if each is not None]
    v, u = (_candidate(sum(heads[1:], heads[0]), transposed) for transposed in (False, True))
    if v is None or u is None:
        return undecided("no rational candidate for a common pair of eigenvectors was found")
    inner = sum(a * b for a, b in zip(u, v, strict=True))
    if inner == 0:
        return undecided("the candidates for u and v are orthogonal")
    u = [each / inner for each in u]
    factors = [_eigenvalue(each, v) for each in values]
    dual = [_eigenvalue(each.transpose(), u) for each in values]
    if None in factors or factors != dual:
        return undecided("the candidates for u and v are not eigenvectors of every head")
    numbers = [each for each in factors if each is not None]
    if min(numbers) <= 0:
        return undecided("a common pair was found with an eigenvalue that is not positive")
    deadline = Deadline.after(seconds)
    try:
        for name, norm in _norms(heads, numbers, u, v):
            if all(
                _contracts(value, number, norm, u, v, deadline) for value, number in zip(values, numbers, strict=True)
            ):
                shown = ", ".join(f"{float(each):.6g}" for each in numbers)
                return holds(f"the heads share u and v with eigenvalues {shown}, and contract on u^perp in {name}")
    except DeadlinePassed as problem:
        return undecided(str(problem))
    return undecided("a common pair was found, but no norm in which every head contracts beside it")


def _candidate(total: Array, transposed: bool) -> list[Fraction] | None:
    """The leading eigenvector by modulus in floats, its largest entry scaled to 1, as rationals."""
    if not np.isfinite(total).all():
        return None
    numbers, vectors = np.linalg.eig(total.T if transposed else total)
    vector = vectors[:, int(np.argmax(np.abs(numbers)))]
    vector = vector / vector[int(np.argmax(np.abs(vector)))]
    if np.abs(vector.imag).max() > 1e-9:
        return None
    return [Fraction(float(each)).limit_denominator(DENOMINATOR) for each in vector.real]


def _column(vector: Sequence[Fraction]) -> ExactMatrix:
    return ExactMatrix.from_fractions([[each] for each in vector])


def _eigenvalue(value: ExactMatrix, vector: Sequence[Fraction]) -> Fraction | None:
    """lambda with ``U v = lambda v`` exactly, if there is one."""
    column = _column(vector)
    image = [row[0] for row in value.times(column).fractions()]
    place = max(range(len(vector)), key=lambda index: abs(vector[index]))
    number = image[place] / vector[place]
    return number if all(a == number * b for a, b in zip(image, vector, strict=True)) else None


def _norms(
    heads: Sequence[Array], numbers: Sequence[Fraction], u: Sequence[Fraction], v: Sequence[Fraction]
) -> Iterator[tuple[str, ExactMatrix]]:
    """Candidates for G: the identity, and the sum ``I + sum_h A_h^T G A_h`` over words in ``A_h = U_h Pi / lambda_h``."""
    d = len(u)
    yield "the Euclidean norm", ExactMatrix.from_floats(np.eye(d))
    projection = np.eye(d) - np.outer([float(each) for each in v], [float(each) for each in u])
    parts = [head @ projection / float(number) for head, number in zip(heads, numbers, strict=True)]
    for weight in (1.0, 1.0 / len(parts)):
        G = np.eye(d)
        for _ in range(400):
            new = np.eye(d) + weight * sum(part.T @ G @ part for part in parts)
            if not np.isfinite(new).all() or np.abs(new).max() > 1e8:
                break
            settled, G = np.abs(new - G).max() < 1e-12 * np.abs(new).max(), new
            if settled:
                yield "an adapted Euclidean norm", ExactMatrix.from_floats(np.round((G + G.T) / 2 * 2**20) / 2**20)
                break


def _contracts(
    value: ExactMatrix,
    number: Fraction,
    norm: ExactMatrix,
    u: Sequence[Fraction],
    v: Sequence[Fraction],
    deadline: Deadline,
) -> bool:
    """Is ``M_h`` positive definite, by its exact inertia, and G too?"""
    d = len(u)
    row = _column(u)
    outer = _column(v).times(row.transpose())
    projection = ExactMatrix.from_floats(np.eye(d)).plus(outer.scaled(Fraction(-1)))
    if norm.inertia(deadline)[0] != d:
        return False
    H = projection.transpose().times(norm).times(projection)
    moved = value.transpose().times(H).times(value)
    M = H.scaled(number * number).plus(moved.scaled(Fraction(-1))).plus(row.times(row.transpose()))
    return M.inertia(deadline)[0] == d
