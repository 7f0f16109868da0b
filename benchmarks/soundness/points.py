"""``classify``: equilibria and stability of points whose tangent spectrum is known in closed form or decided by exact inertia.

``V = Q diag(lambda) Q^T`` with a rational orthogonal Q; all tokens are +-q_c.  For the Oja systems every weight is 1/n, so with
``m = (p - q)/n`` and ``s_i = +-1`` the raw step is ``(s_i + alpha m lambda_c) q_c``: the point is fixed iff ``c_i = 1 + alpha s_i
m lambda_c > 0`` for all i.  Along a tangent eigenvector of value lambda the differential is ``D (I + (alpha lambda / n) 1 1^T)``
with ``D = diag(1/c_i)``, similar to a symmetric matrix: its eigenvalues lie in (-1, 1) iff ``D^-1 - K`` and ``D^-1 + K`` are
positive definite (K the matrix in brackets), and one lies beyond iff one of these has a negative eigenvalue.  For the flow it is
``(lambda / n) 1 1^T - diag(s_i m lambda_c)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from eigentoken.theory.classification.classify import classify
from eigentoken.theory.classification.instances import Instance

from . import exact
from .exact import Rows
from .judging import Case, Domain


def _orthogonal(rng: Any, d: int) -> Rows:
    """A product of two rational reflections."""
    q = exact.identity(d)
    for _ in range(2):
        v = [Fraction(int(x)) for x in rng.integers(-2, 3, d)]
        length = sum(x * x for x in v)
        if length:
            q = exact.times(q, exact.plus(exact.identity(d), [[2 * a * b / length for b in v] for a in v], -1))
    return q


def _texts(rows: Rows) -> list[list[str]]:
    return [[str(entry) for entry in row] for row in rows]


def _ones(n: int) -> Rows:
    return [[Fraction(1)] * n for _ in range(n)]


def _diagonal(values: list[Fraction]) -> Rows:
    return [[x if i == j else Fraction(0) for j in range(len(values))] for i, x in enumerate(values)]


def _stable(blocks: list[tuple[Rows, Rows]]) -> bool | None:
    """True: all strictly inside; False: one strictly outside; None: on the border.  Each matrix must be positive definite."""
    counts = [exact.inertia(each) for pair in blocks for each in pair]
    if any(negative for _, negative, _ in counts):
        return False
    return None if any(zero for _, _, zero in counts) else True


def _known(rng: Any, flow: bool) -> tuple[Instance, bool, bool | None, str]:
    d, n = int(rng.integers(2, 4)), int(rng.integers(1, 5))
    q = _orthogonal(rng, d)
    values = [Fraction(int(x)) for x in rng.integers(-3, 4, d)]
    if rng.random() < 0.4:
        values[0] = values[-1] + Fraction(int(rng.integers(-1, 2)), 2 ** int(rng.choice([2, 20, 60])))
    v = exact.times(exact.times(q, _diagonal(values)), exact.transpose(q))
    c = int(rng.integers(d))
    signs = [Fraction(1)] * n if rng.random() < 0.5 else [Fraction(int(x)) for x in rng.choice([-1, 1], n)]
    column = [row[c] for row in q]
    tokens = [[s * x for x in column] for s in signs]
    mean = sum(signs, Fraction(0)) / n
    alpha = Fraction(int(rng.integers(1, 7)), int(rng.integers(1, 7)))
    tangent = [x for k, x in enumerate(values) if k != c]
    blocks = []
    if flow:
        decay = _diagonal([s * mean * values[c] for s in signs])
        fixed = True
        for x in tangent:  # minus the differential must be positive definite; it is symmetric
            minus = exact.plus(decay, _ones(n), -x / n)
            blocks.append((minus, exact.identity(n)))
        instance = Instance.of("oja-flow", _texts(tokens), V=_texts(v))
    else:
        factors = [1 + alpha * s * mean * values[c] for s in signs]
        fixed = all(factor > 0 for factor in factors)
        for x in tangent:
            k = exact.plus(exact.identity(n), _ones(n), alpha * x / n)
            sizes = _diagonal(factors)
            blocks.append((exact.plus(sizes, k, -1), exact.plus(sizes, k)))
        instance = Instance.of("oja-map", _texts(tokens), V=_texts(v), alpha=str(alpha))
    same = abs(sum(signs, Fraction(0))) == n
    return instance, fixed, (_stable(blocks) if fixed else None), "consensus" if same else ""


def _ask(instance: Instance, fixed: bool, stable: bool | None, kind: str) -> Iterator[Case]:
    found = classify(instance)
    told = instance.as_dict()
    word = str(found.equilibrium.answer)
    yield Case(
        word,
        f"equilibrium of {told}: {word}, but it is {fixed}"
        if word != "undecided" and (word == "holds") != fixed
        else "",
    )
    if not fixed:
        return
    if kind and instance.n > 1:
        yield Case(word, f"class of {told}: {found.kind}, but it is {kind}" if found.kind != kind else "")
    word = str(found.stable.answer)
    wrong = (word == "holds" and stable is not True) or (word == "fails" and stable is True)
    yield Case(word, f"stability of {told}: {word}, but the truth is {stable}" if wrong else "")


def maps(rng: Any) -> Iterator[Case]:
    """The Oja map at points of +-q_c."""
    yield from _ask(*_known(rng, flow=False))


def flows(rng: Any) -> Iterator[Case]:
    """The Oja flow at points of +-q_c."""
    yield from _ask(*_known(rng, flow=True))


def elsewhere(rng: Any) -> Iterator[Case]:
    """Tokens at rational points of the sphere: fixed iff every raw step is a positive multiple of its token."""
    d, n = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    v = exact.fractions(rng.integers(-2, 3, (d, d)))
    tokens = [exact.transpose(_orthogonal(rng, d))[int(rng.integers(d))] for _ in range(n)]
    alpha = Fraction(int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    mean = [sum(column, Fraction(0)) / n for column in exact.transpose(tokens)]
    push = [sum((a * b for a, b in zip(row, mean, strict=True)), Fraction(0)) for row in v]
    raw = [[x + alpha * y for x, y in zip(token, push, strict=True)] for token in tokens]
    if any(not any(step) for step in raw):
        return  # the map is not defined there
    fixed = True
    for token, step in zip(tokens, raw, strict=True):
        along = sum((a * b for a, b in zip(token, step, strict=True)), Fraction(0))
        fixed = fixed and along > 0 and all(y == along * x for x, y in zip(token, step, strict=True))
    instance = Instance.of("oja-map", _texts(tokens), V=_texts(v), alpha=str(alpha))
    verdict = classify(instance).equilibrium
    word = str(verdict.answer)
    wrong = word != "undecided" and (word == "holds") != fixed
    yield Case(word, f"equilibrium of {instance.as_dict()}: {word}, but it is {fixed}" if wrong else "")


DOMAIN = Domain(
    "classify",
    "equilibria, classes and stability",
    30_000,
    {"Oja maps at +-q": maps, "Oja flows at +-q": flows, "points elsewhere": elsewhere},
    seeds_at_once=10,
)
