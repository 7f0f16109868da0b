"""Heights over a plane in the kernel: where all heights ``v^T x_i`` are positive, the lowest does not fall (AB-X1, AB-T4.1).

For the flow with any heads, ``U = I``, on any ellipsoid; the scores may depend on time.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.attention_bounds import METRIC, I, weight
from eigentoken.proofs.steps.theorems import CAUCHY_SCHWARZ
from eigentoken.theory.calculus import HEAD, Expression, Index, dot, one, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, AtTime, Tensor, VectorLetter
from eigentoken.theory.language.conditions import IsIdentity, PositiveDefinite, Symmetric
from eigentoken.theory.language.terms import matrix

__all__ = ["T", "X", "above", "at_time", "cosine", "every", "height", "higher", "since"]

W, U = matrix("W"), matrix("U")
T, S = sp.symbols("t s", real=True)
LOW = sp.Symbol("c", positive=True)
X = VectorLetter(STATE)


def height(at: Index) -> Expression:
    """``v^T x_i``."""
    return dot(vector("v"), vector(STATE, at))


def every(said: Any, *letters: Any) -> Proposition:
    """For all values of the letters."""
    found = proposition(said)
    for letter in reversed(letters):
        found = ForAll(letter, TRUE, found)
    return found


def above(time: Any = None) -> Proposition:
    """All heights are positive: at a state, or at a time."""
    return every(sp.Gt(Tensor(height(I), time), 0, evaluate=False), I)


def higher(least: Any, time: Any = None) -> Proposition:
    """All heights are at least a number."""
    return every(sp.Ge(Tensor(height(I), time), least, evaluate=False), I)


def since(start: Any = 0) -> Proposition:
    """``t >= start``."""
    return proposition(sp.Ge(T, start, evaluate=False))


def until(end: Any, *, closed: bool = False) -> Proposition:
    """``0 <= s < end``, or up to the end."""
    last = sp.Le(S, end) if closed else sp.Lt(S, end)
    return Conjunction((proposition(sp.Ge(S, 0, evaluate=False)), proposition(last)))


def at_time(kernel: Kernel, proved: Proved, time: Any = T) -> Proved:
    """What holds at every state holds at a time of the trajectory."""
    return kernel.instantiate(kernel.generalise(X, proved), AtTime(sp.sympify(time)))


def cosine(kernel: Kernel, at: Index, other: Index) -> Proved:
    """``-1 <= x_i^T W x_j <= 1``."""
    x, y = vector(STATE, at), vector(STATE, other)
    form = kernel.textbook(CAUCHY_SCHWARZ, kernel.given(Symmetric(W)), kernel.given(PositiveDefinite(W)), A=W, y=x, z=y)
    units = [kernel.reduction(dot(each, each, METRIC), one()) for each in (x, y)]
    here = Tensor(dot(x, y, METRIC))
    return kernel.arithmetic([form, *units, kernel.factors(one())], sp.And(here <= 1, here >= -1))


def lowest_rises(kernel: Kernel, at: Index, other: Index) -> Proved:
    """Where all heights are positive and that of token i is the least, it does not fall, at any state."""
    first, second = height(at), height(other)
    falls = first * -1
    gap = second - dot(vector(STATE, at), vector(STATE, other), METRIC) * first
    term = weight(at, other) * gap
    over = [
        kernel.assume(above()),
        kernel.assume(every(sp.Le(Tensor(second * -1), Tensor(falls), evaluate=False), other)),
    ]
    known = [kernel.instantiate(over[0], at), kernel.instantiate(over[1], other)]
    scaled = [kernel.scaling(each, -1) for each in (first, second)]
    rises = kernel.arithmetic([*known, *scaled, cosine(kernel, at, other), kernel.factors(gap)], Tensor(gap) >= 0)
    parts = [rises, kernel.product(weight(at, other), gap), kernel.positive(weight(at, other))]
    total = kernel.generalise(other, kernel.arithmetic(parts, sp.Ge(Tensor(term), 0, evaluate=False)))
    sums = kernel.summed(kernel.generalise(HEAD, kernel.summed(total)))
    rate = kernel.increment(falls)
    slope = rate.proposition.word.relation
    written = kernel.reduction(slope.rhs.expression, term.summed(other, HEAD) * -1, kernel.given(IsIdentity(U)))
    return kernel.arithmetic(
        [rate, written, sums, kernel.scaling(term.summed(other, HEAD), -1), kernel.scaling(one(), 0)],
        sp.Le(slope.lhs, 0, evaluate=False),
    )
