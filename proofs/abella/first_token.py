"""The first token of the causal flow in the kernel (AB-L6.1, AB-L5.1): it sees itself alone, and follows Oja's flow."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.abella.causal_cascade import SMALL, after, at_least, of_the_first
from eigentoken.proofs.abella.causal_heights import (
    EIGEN,
    LOW,
    SIDE,
    VALUE,
    I,
    J,
    height,
    unit_side,
)
from eigentoken.proofs.abella.causal_sums import alone, seen_terms, token, unit
from eigentoken.proofs.abella.equations import causal_weight
from eigentoken.proofs.abella.heights import at_time
from eigentoken.proofs.steps.causal_theorems import LATE, TIME
from eigentoken.proofs.steps.equations import Z
from eigentoken.theory.calculus import DIMENSION, Expression, Index, dot, one, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.order import before
from eigentoken.theory.kernel.propositions import TRUE, Exists, ForAll, Implication, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor

__all__ = ["ATTRACTS", "OJA", "attracted", "oja"]

_Z, _V = vector(Z.name), vector(SIDE.name)


def pull(at: Index, other: Index) -> Expression:
    """``z^T (U x_j - (x_i^T U x_j) x_i)``."""
    return dot(_Z, token(other), VALUE) - dot(token(at), token(other), VALUE) * dot(_Z, token(at))


_VELOCITY = sp.Eq(Rate(dot(_Z, token(I))), Tensor(pull(I, I) / sp.sqrt(DIMENSION)), evaluate=False)
#: ``dx_i/dt = (U x_i - (x_i^T U x_i) x_i)/sqrt(d)`` for the first token i.
OJA = ForAll(I, alone(I), ForAll(Z, TRUE, proposition(_VELOCITY)))


def oja(kernel: Kernel) -> Proved:
    """Every other summand has the weight zero, and the weights sum to ``1/sqrt(d)``."""
    part = pull(I, J) - pull(I, I)
    none = kernel.factors(one() * 0)
    own = kernel.arithmetic([kernel.factors(part.at((J, I)))], sp.Eq(Tensor(part.at((J, I))), 0, evaluate=False))
    sees_it = kernel.instantiate(kernel.assume(alone(I)), J)
    never = kernel.arithmetic([sees_it, kernel.assume(before(J, I))], sp.Eq(Tensor(part), 0, evaluate=False))
    terms = seen_terms(kernel, I, J, part, never, own, sp.Eq)
    total = kernel.summed(kernel.generalise(J, terms))
    rate = kernel.increment(dot(_Z, token(I)))
    whole, alone_part = (causal_weight(I, J) * part).summed(J), pull(I, I) / sp.sqrt(DIMENSION)
    written = kernel.reduction(rate.proposition.word.relation.rhs.expression, whole + alone_part)
    found = kernel.arithmetic([rate, written, total, none, kernel.total(whole, alone_part)], _VELOCITY)
    return kernel.generalise(I, kernel.generalise(Z, found), alone(I))


def arrives(at: Index) -> Proposition:
    """``|x_i - v|^2 <= epsilon`` from some time on, for every epsilon > 0."""
    apart = token(at) - _V
    close = proposition(sp.Le(Tensor(dot(apart, apart), TIME), SMALL, evaluate=False))
    return ForAll(SMALL, TRUE, Exists(LATE, TRUE, ForAll(TIME, after(LATE), close)))


_STARTS = proposition(sp.Gt(Tensor(height(I), sp.Integer(0)), 0, evaluate=False))
#: The first token tends to each unit top eigenvector v on whose side it starts.
ATTRACTS = ForAll(SIDE, EIGEN, ForAll(I, alone(I), Implication(_STARTS, arrives(I))))


def in_distance(kernel: Kernel, heights: Proved, at: Index) -> Proved:
    """``b_i -> 1`` says that ``|x_i - v|^2 = 2 - 2 b_i -> 0``."""
    some = kernel.instantiate(heights, SMALL / 2)
    apart = token(at) - _V
    length = dot(apart, apart)
    size = kernel.arithmetic(
        [kernel.factors(length), unit(kernel, at), unit_side(kernel)],
        sp.Eq(Tensor(length), 2 - 2 * Tensor(height(at)), evaluate=False),
    )
    now = kernel.instantiate(kernel.assume(some.proposition.body), TIME, kernel.assume(after(LATE)))
    close = kernel.arithmetic([at_time(kernel, size, TIME), now], sp.Le(Tensor(length, TIME), SMALL, evaluate=False))
    always = kernel.generalise(TIME, close, after(LATE))
    there = kernel.witness(Exists(LATE, TRUE, always.proposition), LATE, always)
    return kernel.generalise(SMALL, kernel.exists_elimination(some, there))


def attracted(kernel: Kernel) -> Proved:
    """A positive height at the start has half of itself below it, and rises from there to every level below one."""
    heights = kernel.generalise(SMALL, of_the_first(kernel, I))
    start = kernel.assume(_STARTS)
    value = Tensor(height(I), sp.Integer(0))
    some = kernel.witness(
        Exists(LOW, TRUE, at_least(I, LOW, sp.Integer(0))),
        value,
        kernel.arithmetic([start], sp.Ge(value, value, evaluate=False)),
        start,
    )
    found = in_distance(kernel, kernel.exists_elimination(some, heights), I)
    each = kernel.generalise(I, kernel.discharge(_STARTS, found), alone(I))
    return kernel.generalise(SIDE, each, EIGEN)
