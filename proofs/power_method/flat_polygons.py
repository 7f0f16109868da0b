"""Polygonal states of the attention flow with flat scores in the kernel (CT-7): they rest, and the velocity is linearised there.

Let ``x_i^T M x_j = 0`` for all pairs and ``sum_j x_j = 0``; half of the tokens at w and half at -w with ``w^T M w = 0`` is such a
state.  The weights are 1/n there, and their derivatives stay: scores act to first order.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.power_method.pm_e08_attention_map import push
from eigentoken.proofs.steps.equations import TOKEN, Z, at_every_token, for_every
from eigentoken.theory.calculus import TOKENS, Expression, Index, Letter, dot, exponential, factor, one, vector
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, Implication
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Slope, Tensor, VectorLetter
from eigentoken.theory.language.terms import n

__all__ = ["FLAT", "LINEARISED", "RESTS", "proof"]

J, _SUMMED, WAY = Index("token", "j"), Index("token", "s"), VectorLetter("w")
VALUE, SCORE = (Letter("V"),), (Letter("M"),)
_Z, _X = vector(Z.name), vector("x", TOKEN)


def _score(at: Index) -> Expression:
    """``x_i^T M x_j``."""
    return dot(_X, vector("x", at), SCORE)


_NO_SUM = sp.Eq(Tensor(dot(_Z, vector("x", J)).summed(J)), 0, evaluate=False)
#: All scores vanish, and the tokens sum to zero.
FLAT = Conjunction(
    (for_every(sp.Eq(Tensor(_score(J)), 0, evaluate=False), TOKEN, J), for_every(_NO_SUM, Z)),
)


def velocity() -> Expression:
    """``f_i = u_i - (x_i^T u_i) x_i``, ``u_i = sum_j a_ij V x_j``."""
    return push() - dot(_X, push()) * _X


def moved(at: Index) -> Expression:
    """``w_i^T M x_j + x_i^T M w_j``, how the score moves."""
    return dot(vector("w", TOKEN), vector("x", at), SCORE) + dot(_X, vector("w", at), SCORE)


def drift() -> Expression:
    """``(1/n) sum_j (w_j + (w_i^T M x_j + x_i^T M w_j) x_j)``."""
    return (vector("w", J) + moved(J) * vector("x", J)).summed(J) / TOKENS


def _image() -> Expression:
    """``(I - x_i x_i^T) V m_i``, m the drift."""
    found = drift().applied(VALUE)
    return found - dot(_X, found) * _X


_REST = sp.Eq(Rate(dot(_Z, _X)), 0, evaluate=False)
_SLOPE = sp.Eq(Slope(dot(_Z, velocity()), WAY.name), Tensor(dot(_Z, _image())), evaluate=False)
#: There the flow rests.
RESTS = Implication(FLAT, for_every(_REST, TOKEN, Z))
#: There the velocity of token i changes along w by ``(I - x_i x_i^T) V m_i``.
LINEARISED = Implication(FLAT, for_every(_SLOPE, WAY, TOKEN, Z))


def weight(at: Index) -> Expression:
    """``a_ij``."""
    return exponential(_score(at)) * factor(row_sum(_score(_SUMMED), _SUMMED), -1)


def uniform_weight(k: Kernel) -> Proved:
    """``a_ij = 1/n``."""
    row = factor(row_sum(_score(_SUMMED), _SUMMED))
    flat = k.instantiate(k.instantiate(k.part(k.assume(FLAT), FLAT.parts[0]), TOKEN), J)
    single = Tensor(exponential(_score(J)))
    each = k.arithmetic([k.exponential_of(_score(J)), flat], sp.Eq(single, 1, evaluate=False))
    total = k.summed(k.generalise(J, each))
    whole = k.arithmetic([total, k.factors(one() * n)], sp.Eq(Tensor(row), n, evaluate=False))
    known = [k.product(weight(J), row), each, whole]
    return k.arithmetic(known, sp.Eq(Tensor(weight(J)), 1 / n, evaluate=False))


def uniform(k: Kernel, quantity: Expression) -> Proved:
    """``sum_j a_ij q_j = (1/n) sum_j q_j``."""
    term = weight(J) * quantity
    rest = term - quantity / n
    known = [uniform_weight(k), k.product(weight(J), quantity)]
    split = [k.total(term, quantity * (-1 / n)), k.scaling(quantity, -1 / n)]
    none = k.arithmetic([*known, *split], sp.Eq(Tensor(rest), 0, evaluate=False))
    total = k.summed(k.generalise(J, none))
    both = [
        k.total(term.summed(J), quantity.summed(J) * (-1 / n)),
        k.scaling(quantity.summed(J), -1 / n),
        k.factors(one() * 0),
    ]
    said = sp.Eq(Tensor(term.summed(J)), Tensor(quantity.summed(J)) / n, evaluate=False)
    return k.arithmetic([total, *both], said)


def vanishing(k: Kernel, seen: Expression) -> Proved:
    """``sum_j a_ij y^T V x_j = 0``."""
    quantity = dot(seen, vector("x", J), VALUE)
    turned = seen.applied((Letter("V", True),))
    none = k.instantiate(k.part(k.assume(FLAT), FLAT.parts[1]), turned)
    said = sp.Eq(Tensor((weight(J) * quantity).summed(J)), 0, evaluate=False)
    return k.arithmetic([uniform(k, quantity), none], said)


def rests(k: Kernel) -> Proved:
    rate = k.increment(dot(_Z, _X))
    along, level = (weight(J) * dot(_Z, vector("x", J), VALUE)).summed(J), dot(_Z, _X)
    across = (weight(J) * dot(_X, vector("x", J), VALUE)).summed(J)
    written = k.reduction(rate.proposition.word.relation.rhs.expression, along - across * level)
    split = [k.total(along, across * level * -1), k.scaling(across * level, -1), k.product(across, level)]
    found = k.arithmetic([rate, written, *split, vanishing(k, _Z), vanishing(k, _X)], _REST)
    return k.discharge(FLAT, at_every_token(k, found, TOKEN, Z))


def _sum(quantity: Expression) -> Expression:
    return (weight(J) * quantity).summed(J)


def linearised(k: Kernel) -> Proved:
    """The push and its weights are differentiated; where the push is zero its direction does not matter."""
    slope = k.slope(dot(_Z, velocity()), WAY.name)
    w, level, turned = vector("w", TOKEN), dot(_Z, _X), dot(_Z, vector("w", TOKEN))

    def kept(seen: Expression) -> Expression:
        """``y^T V (w_j + s'_ij x_j)``."""
        return dot(seen, vector("w", J), VALUE) + moved(J) * dot(seen, vector("x", J), VALUE)

    pushes = {name: _sum(dot(seen, vector("x", J), VALUE)) for name, seen in (("z", _Z), ("x", _X), ("w", w))}
    scores, first, second = _sum(moved(J)), _sum(kept(_Z)), _sum(kept(_X))
    pieces = [
        (1, first, one()),
        (-1, scores, pushes["z"]),
        (-1, second, level),
        (1, scores * level, pushes["x"]),
        (-1, pushes["w"], level),
        (-1, pushes["x"], turned),
    ]
    whole = first
    for sign, left, right in pieces[1:]:
        whole = whole + left * right * sign
    written = k.reduction(slope.proposition.word.relation.rhs.expression, whole)
    split = [k.total(first, *(left * right * sign for sign, left, right in pieces[1:]))]
    for sign, left, right in pieces[1:]:
        split += [k.scaling(left * right, sign), k.product(left, right)]
    known = [*(vanishing(k, seen) for seen in (_Z, _X, w)), uniform(k, kept(_Z)), uniform(k, kept(_X))]
    target = dot(_Z, _image())
    ends = [kept(_Z).summed(J) / TOKENS, kept(_X).summed(J) / TOKENS]
    end = [
        k.reduction(target, ends[0] - ends[1] * level),
        k.total(ends[0], ends[1] * level * -1),
        k.scaling(ends[1] * level, -1),
        k.product(ends[1], level),
        *(k.scaling(kept(seen).summed(J), 1 / TOKENS) for seen in (_Z, _X)),
    ]
    found = k.arithmetic([slope, written, *split, *known, *end], _SLOPE)
    return k.discharge(FLAT, at_every_token(k, found, WAY, TOKEN, Z))


def proof(k: Kernel) -> Proved:
    """At rest, and what the scores do there to first order."""
    return k.conjunction(rests(k), linearised(k))
