"""Consensus at a dominant eigenvector in the kernel (AB-X2): heights over the left eigenvector, and a norm adapted to V.

``h_i = u^T x_i > 0``, ``w_i = x_i/h_i``, ``r_i = w_i - v/(u^T v)``: ``r_i' = sum_j a_ij (V r_j - lambda r_i)`` with
``a_ij = alpha_ij h_j/h_i``, so that the largest ``D_i = |r_i|_N^2`` decays.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.heads_weights import is_causal
from eigentoken.proofs.abella.heights import S, T, at_time, every, since, until
from eigentoken.proofs.steps.theorems import COMPARISON
from eigentoken.theory.calculus import Expression, Index, Letter, MaskEntry, dot, exponential, factor, one, vector
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.order import sees
from eigentoken.theory.kernel.propositions import ForAll, Proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, Tensor, VectorLetter
from eigentoken.theory.kernel.words import top_eigenvector
from eigentoken.theory.language.claims import ForwardInvariant
from eigentoken.theory.language.places import Hemisphere
from eigentoken.theory.language.terms import Eigenvalue, HeadNorm, matrix

__all__ = ["left_hemisphere_invariant"]

V = matrix("V")
TOP, SIZE = Eigenvalue(V, 1), HeadNorm(V)
I, J, _SUMMED = (Index("token", name) for name in "ijs")
VALUE, NORM = (Letter("V"),), (Letter("N"),)
LOW = sp.Symbol("c", positive=True)


def _unmasked(kernel: Kernel, at: Index, other: Index) -> Expression:
    """``exp(x_i^T M x_j) / sum_k exp(x_i^T M x_k)``, the sum over the tokens that token i sees."""
    score, x = (Letter("M"),), vector(STATE, at)
    masks = (MaskEntry("causal", at, _SUMMED),) if is_causal(kernel) else ()
    whole = factor(row_sum(dot(x, vector(STATE, _SUMMED), score), _SUMMED, masks), -1)
    return exponential(dot(x, vector(STATE, other), score)) * whole


def weight(kernel: Kernel, at: Index, other: Index) -> Expression:
    """``alpha_ij``; under a causal mask it is zero where ``j > i``."""
    plain = _unmasked(kernel, at, other)
    return sees(at, other) * plain if is_causal(kernel) else plain


def nonnegative_weight(kernel: Kernel, at: Index, other: Index) -> Proved:
    """``alpha_ij >= 0``; with full attention ``alpha_ij > 0``."""
    plain = _unmasked(kernel, at, other)
    if not is_causal(kernel):
        return kernel.positive(plain)
    known = [kernel.causal_order(at, other), kernel.product(sees(at, other), plain), kernel.positive(plain)]
    return kernel.arithmetic(known, sp.Ge(Tensor(weight(kernel, at, other)), 0, evaluate=False))


def height(at: Index) -> Expression:
    """``u^T x_i``."""
    return dot(vector("u"), vector(STATE, at))


def above(time: Any = None) -> Proposition:
    """All heights are positive."""
    return every(sp.Gt(Tensor(height(I), time), 0, evaluate=False), I)


def higher(time: Any, least: Any) -> Proposition:
    """All heights are at least a number."""
    return every(sp.Ge(Tensor(height(I), time), least, evaluate=False), I)


LEFT = top_eigenvector(V, "u", left=True)


def lifted(kernel: Kernel, at: Index) -> Proved:
    """``u^T V x_j = lambda h_j``."""
    left = kernel.part(kernel.assume(LEFT), LEFT.parts[0])
    return kernel.instantiate(left, vector(STATE, at))


def score_of_values(kernel: Kernel, at: Index, other: Index) -> Proved:
    """``|x_i^T V x_j| <= |V|``."""
    x, y = vector(STATE, at), vector(STATE, other)
    known = kernel.bounded_forms("V")
    form = kernel.instantiate(kernel.instantiate(kernel.part(known, known.proposition.parts[0]), x), y)
    units = [kernel.reduction(dot(each, each), one()) for each in (x, y)]
    here = Tensor(dot(x, y, VALUE))
    return kernel.arithmetic(
        [form, *units, kernel.factors(one()), kernel.part(known, SIZE >= 0)], sp.And(here <= SIZE, here >= -SIZE)
    )


def lowest_falls_slowly(kernel: Kernel, at: Index, other: Index) -> Proved:
    """Where all heights are positive and that of token i is the least: ``(-h_i)' <= |V| h_i``."""
    first, second = height(at), height(other)
    falls = first * -1
    gap = dot(vector("u"), vector(STATE, other), VALUE) - dot(vector(STATE, at), vector(STATE, other), VALUE) * first
    part = gap + first * SIZE
    term = weight(kernel, at, other) * part
    least = every(sp.Le(Tensor(second * -1), Tensor(falls), evaluate=False), other)
    known = [
        kernel.instantiate(kernel.assume(above()), at),
        kernel.instantiate(kernel.assume(least), other),
        *(kernel.scaling(each, -1) for each in (first, second)),
        score_of_values(kernel, at, other),
        lifted(kernel, other),
        kernel.given(TOP > 0),
        kernel.factors(part),
    ]
    rises = kernel.arithmetic(known, sp.Ge(Tensor(part), 0, evaluate=False))
    signs = [rises, kernel.product(weight(kernel, at, other), part), nonnegative_weight(kernel, at, other)]
    total = kernel.summed(kernel.generalise(other, kernel.arithmetic(signs, sp.Ge(Tensor(term), 0, evaluate=False))))
    rate = kernel.increment(falls)
    slope = rate.proposition.word.relation
    written = kernel.reduction(slope.rhs.expression, first * SIZE - term.summed(other))
    split = [kernel.total(first * SIZE, term.summed(other) * -1), kernel.scaling(first, SIZE)]
    split += [kernel.scaling(term.summed(other), -1), kernel.factors(one() * 0), kernel.scaling(first, -1)]
    said = sp.Le(slope.lhs, -SIZE * Tensor(falls), evaluate=False)
    return kernel.arithmetic([rate, written, *split, total], said)


def never_falls_fast(kernel: Kernel) -> Proved:
    """While all heights were positive: ``-h_i(t) <= C e^{-|V| t}`` where that holds at 0."""
    at, other = Index("token", "a0"), Index("token", "b0")
    slow = lowest_falls_slowly(kernel, at, other)
    least = every(sp.Le(Tensor(height(other) * -1), Tensor(height(at) * -1), evaluate=False), other)
    slopes = kernel.generalise(at, kernel.discharge(least, slow))
    along = kernel.generalise(T, at_time(kernel, kernel.discharge(above(), slopes)), since())
    return kernel.textbook(COMPARISON, along, f=height(J) * -1, kappa=SIZE, region=above())


def heights_stay_positive(kernel: Kernel) -> Proved:
    """All heights stay positive, by first exit, from ``h_i(0) >= c`` for all i."""
    never, start = never_falls_fast(kernel), kernel.assume(higher(sp.Integer(0), LOW))
    before = kernel.assume(ForAll(S, until(T), above(S)))
    now = kernel.modus_ponens(kernel.instantiate(never, T, kernel.assume(since())), before)
    turned = [kernel.generalise(I, at_time(kernel, kernel.scaling(height(I), -1), time)) for time in (0, T)]
    first = kernel.arithmetic(
        [kernel.instantiate(start, I), kernel.instantiate(turned[0], I)],
        sp.Le(Tensor(height(I) * -1, sp.Integer(0)), -LOW, evaluate=False),
    )
    found = kernel.modus_ponens(kernel.instantiate(now, -LOW), kernel.generalise(I, first))
    here = [kernel.instantiate(found, I), kernel.instantiate(turned[1], I)]
    positive = kernel.arithmetic(here, sp.Gt(Tensor(height(I), T), 0, evaluate=False))
    step = kernel.discharge(before.proposition, kernel.generalise(I, positive))
    at_start = kernel.arithmetic(
        [kernel.instantiate(start, I)], sp.Gt(Tensor(height(I), sp.Integer(0)), 0, evaluate=False)
    )
    return kernel.first_exit(kernel.generalise(I, at_start), kernel.generalise(T, step, since()))


def left_hemisphere_invariant(kernel: Kernel) -> Proved:
    """``ForwardInvariant(Hemisphere(V, left=True))``."""
    start = kernel.assume(above(sp.Integer(0)))
    found = kernel.exists_elimination(kernel.least(start, LOW), heights_stay_positive(kernel))
    region = kernel.generalise(VectorLetter("u"), kernel.discharge(start.proposition, found), LEFT)
    return kernel.modus_ponens(kernel.meaning(ForwardInvariant(Hemisphere(V, left=True))), region)
