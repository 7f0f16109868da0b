"""AB-X0 in the kernel: a common push of all tokens has a negative second variation on the average, unless all tokens coincide.

Push all tokens along e, ``w_i = e - (x_i^T P e) x_i``.  With ``c = x_i^T P x_j`` and ``a_i = x_i^T P e`` the second variation of
the potential is a sum over pairs; averaged over e it is ``-sum_ij e^c (1 - c)(1 - (1 + c + c^2)/d)``, negative for ``d >= 3``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.abella.gradient import FORM, ROW, P, field, gradient_premises
from eigentoken.proofs.steps.equations import Z, at_every_token, for_every
from eigentoken.proofs.steps.strict_saddles import (
    AXIS,
    CIRCLE,
    MEAN_OF_FORM,
    SADDLES,
    WAY,
    apart,
    critical,
    curved,
    mean_of_form,
    second_variation,
)
from eigentoken.proofs.steps.theorems import CAUCHY_SCHWARZ, RAYLEIGH_BELOW
from eigentoken.theory.calculus import (
    DIMENSION,
    SLOT,
    Expression,
    Index,
    Letter,
    dot,
    exponential,
    factor,
    one,
    row_sum,
    substitute,
    vector,
    zero,
)
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.observables import expression_of
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, Exists, ForAll, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, Rate, Tensor, VectorLetter
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.observables_attention import ellipsoid_potential
from eigentoken.theory.language.places import ConsensusSet
from eigentoken.theory.language.terms import d, matrix

I, J, A0, B0 = (Index("token", name) for name in ("i", "j", "p", "q"))
POTENTIAL = expression_of(ellipsoid_potential)
#: The letter in which the form is averaged.
_V = VectorLetter("v")


def pushed(axis: str, at: Index) -> Expression:
    """``e - (x_i^T P e) x_i``."""
    here = vector(STATE, at)
    return vector(axis) - dot(here, vector(axis), FORM) * here


def pair(at: Index, other: Index) -> Expression:
    """``c = x_i^T P x_j``."""
    return dot(vector(STATE, at), vector(STATE, other), FORM)


def variation(axis: str) -> Expression:
    """``-1/2 sum_ij e^c (b^2 (1 - c)^2 + 2g - 2s + 2 a_i a_j c - c (2g - s))``.

    Here ``g = e^T P e``, ``b = a_i + a_j`` and ``s = a_i^2 + a_j^2``.
    """
    c, e = pair(I, J), vector(axis)
    first, second = (dot(vector(STATE, at), e, FORM) for at in (I, J))
    length, both, squares = dot(e, e, FORM), first + second, first * first + second * second
    inside = both * both * (one() - c) * (one() - c) + (length - squares) * 2 + first * second * c * 2
    inside = inside - c * (length * 2 - squares)
    return (exponential(c) * inside).summed(I, J) * sp.Rational(-1, 2)


def term(at: Index, other: Index) -> Expression:
    """``e^c (1 - c)(1 - (1 + c + c^2)/d)``."""
    c = pair(at, other)
    return exponential(c) * (one() - c) * (one() - (one() + c + c * c) / DIMENSION)


def nonnegative(kernel: Kernel, at: Index, other: Index) -> Proved:
    """Each pair contributes a number that is not negative, for ``d >= 3``, and is positive where ``c < 1``."""
    c, here = pair(at, other), Tensor(term(at, other))
    value, grown = Tensor(c), Tensor(exponential(c))
    less, rest = one() - c, one() - (one() + c + c * c) / DIMENSION
    known = [
        kernel.product(exponential(c) * less, rest),
        kernel.product(exponential(c), less),
        kernel.factors(less),
        kernel.factors(rest),
        kernel.factors(one()),
        kernel.positive(exponential(c)),
    ]
    written = kernel.arithmetic(
        known, sp.Eq(here, grown * (1 - value) * (1 - (1 + value + value**2) / d), evaluate=False)
    )
    many, size = kernel.assume(d >= 3), bounded(kernel, at, other)
    room = kernel.arithmetic([many, size], sp.Ge(1 - (1 + value + value**2) / d, 0, evaluate=False))
    sign = kernel.arithmetic([written, room, size, known[-1]], sp.Ge(here, 0, evaluate=False))
    strict = kernel.arithmetic([many, size], sp.Implies(value < 1, 1 - (1 + value + value**2) / d > 0))
    positive = kernel.arithmetic([written, strict, size, known[-1]], sp.Implies(value < 1, here > 0))
    return kernel.conjunction(sign, positive)


def unit(kernel: Kernel, at: Index) -> Proved:
    here = dot(vector(STATE, at), vector(STATE, at), FORM)
    return kernel.arithmetic([kernel.reduction(here, one()), kernel.factors(one())], sp.Eq(Tensor(here), 1))


def bounded(kernel: Kernel, at: Index, other: Index) -> Proved:
    """``-1 <= c <= 1``."""
    known = [kernel.given(each(P)) for each in (Symmetric, PositiveDefinite)]
    x, y = vector(STATE, at), vector(STATE, other)
    product = kernel.textbook(CAUCHY_SCHWARZ, *known, A=P, y=x, z=y)
    value = Tensor(pair(at, other))
    return kernel.arithmetic([product, unit(kernel, at), unit(kernel, other)], sp.And(value <= 1, value >= -1))


def below_one(kernel: Kernel, at: Index, other: Index) -> Proved:
    """``c < 1`` for two tokens that are different."""
    gap = vector(STATE, at) - vector(STATE, other)
    there = kernel.assume(sp.Gt(Tensor(dot(gap, gap)), 0, evaluate=False))
    symmetric = kernel.given(Symmetric(P))
    least = kernel.unfold(kernel.given(PositiveDefinite(P)))
    below = kernel.textbook(RAYLEIGH_BELOW, symmetric, A=P, z=gap)
    size = kernel.reduction(dot(gap, gap, FORM), one() * 2 - pair(at, other) * 2, symmetric)
    known = [there, least, below, size, kernel.factors(one() * 2 - pair(at, other) * 2), kernel.factors(one())]
    return kernel.arithmetic(known, sp.Lt(Tensor(pair(at, other)), 1, evaluate=False))


def mean_is_negative(kernel: Kernel) -> Proved:
    """``-sum_ij e^c (1 - c)(1 - (1 + c + c^2)/d) < 0``, where tokens p and q are different."""
    mean = mean_of_form(variation(_V.name), P, _V)
    total = term(I, J).summed(I, J)
    written = kernel.reduction(mean, total * -1, kernel.given(Symmetric(P)))
    signs = kernel.part(nonnegative(kernel, I, J), sp.Ge(Tensor(term(I, J)), 0, evaluate=False))
    inner = kernel.summand(kernel.generalise(I, signs), A0)
    row = term(I, J).summed(I)
    here = kernel.part(nonnegative(kernel, A0, J), sp.Ge(Tensor(term(A0, J)), 0, evaluate=False))
    rows = kernel.generalise(J, kernel.arithmetic([inner, here], sp.Ge(Tensor(row), 0, evaluate=False)))
    outer = kernel.summand(rows, B0)
    at_pair = kernel.instantiate(kernel.generalise(J, inner), B0)
    both = nonnegative(kernel, A0, B0)
    known = [written, kernel.scaling(total, -1), outer, at_pair, both, below_one(kernel, A0, B0)]
    return kernel.arithmetic(known, sp.Lt(Tensor(mean), 0, evaluate=False))


def curved_by_a_push(kernel: Kernel) -> Proved:
    """For ``d >= 3``, some common push has a negative second variation where two tokens are different."""
    words = [kernel.given(each(P)) for each in (Symmetric, PositiveDefinite)]
    some = kernel.textbook(MEAN_OF_FORM, *words, q=variation(_V.name), A=P, v=_V)
    below = kernel.assume(some.proposition.body)
    along = substitute(second_variation(POTENTIAL, P), {WAY.name: lambda *at: pushed(AXIS.name, at[0])})
    written = kernel.reduction(along, variation(AXIS.name), words[0])
    falls = kernel.arithmetic([written, below, mean_is_negative(kernel)], sp.Lt(Tensor(along), 0, evaluate=False))
    none = kernel.reduction(dot(vector(STATE, I), pushed(AXIS.name, I), FORM), zero(), words[0])
    said = sp.Eq(Tensor(dot(vector(STATE, I), pushed(AXIS.name, I), FORM)), 0, evaluate=False)
    flat = kernel.generalise(I, kernel.arithmetic([none, kernel.factors(zero())], said))
    found = kernel.witness(curved(POTENTIAL, P), pushed(AXIS.name, SLOT), flat, falls)
    return kernel.exists_elimination(some, found)


def _named(first: Index, second: Index) -> Exists:
    """Two tokens are different, in other letters."""
    gap = vector(STATE, first) - vector(STATE, second)
    return Exists(first, TRUE, Exists(second, TRUE, proposition(sp.Gt(Tensor(dot(gap, gap)), 0, evaluate=False))))


def almost_every_start(kernel: Kernel) -> Proved:
    """``AlmostEveryConverges(ConsensusSet())``."""
    saddles = kernel.generalise(VectorLetter(STATE), every_saddle(kernel))
    premises = (*gradient_premises(kernel), saddles)
    found = kernel.textbook(SADDLES, *premises, V=POTENTIAL, weight=ROW, f=field(), A=P)
    return kernel.modus_ponens(kernel.meaning(AlmostEveryConverges(ConsensusSet())), found)


def every_saddle(kernel: Kernel) -> Proved:
    """Every critical point with two different tokens has a direction of negative curvature, for ``d >= 2``."""
    both = Conjunction((critical(POTENTIAL, P), apart()))
    pairs = kernel.part(kernel.assume(both), apart())
    found = curved_by_a_push(kernel)
    renamed = kernel.part(pairs, _named(A0, B0))
    found = kernel.exists_elimination(kernel.assume(renamed.proposition.body), found)
    found = kernel.exists_elimination(renamed, found)
    many = kernel.discharge(both, found)
    words = [kernel.given(each(P)) for each in (Symmetric, PositiveDefinite)]
    on = kernel.generalise(I, unit(kernel, I))
    plane = kernel.textbook(CIRCLE, *words, kernel.assume(sp.Eq(d, 2, evaluate=False)), on, A=P)
    either = kernel.integers([kernel.given(d >= 2)], sp.Or(sp.Eq(d, 2), d >= 3))
    return kernel.by_cases(either, (sp.Eq(d, 2, evaluate=False), plane), (d >= 3, many))


# -- the flow with P is conjugate to the one with the identity ------------------------------------------------------------

ROOT, _ROOT_LETTER, _S = matrix("R"), (Letter("R"),), Index("token", "s")
#: R is a symmetric root of P.
IS_ROOT = Conjunction(
    (proposition(Symmetric(ROOT)), proposition(sp.Eq(sp.MatMul(ROOT, ROOT, evaluate=False), P, evaluate=False)))
)


def _image(at: Index) -> Expression:
    """``R x_i``."""
    return vector(STATE, at).applied(_ROOT_LETTER)


def _sphere_field() -> Expression:
    """The velocity of the case ``P = I`` at ``z_i = R x_i``."""
    row = factor(row_sum(dot(_image(I), _image(_S)), _S), -1) / sp.sqrt(DIMENSION)
    weight = exponential(dot(_image(I), _image(J))) * row
    return (weight * (_image(J) - dot(_image(I), _image(J)) * _image(I))).summed(J)


_MOVED = sp.Eq(Rate(dot(vector(Z.name), _image(I))), Tensor(dot(vector(Z.name), _sphere_field())), evaluate=False)
#: ``z_i = R x_i`` follows the flow with ``P = I`` on the sphere.
CONJUGATE = ForAll(ROOT, IS_ROOT, for_every(_MOVED, I, Z))


def conjugate(kernel: Kernel) -> Proved:
    """``x_i^T P x_j = (R x_i)^T (R x_j)``, in the weights too."""
    rate = kernel.increment(dot(vector(Z.name), _image(I)))
    root = kernel.assume(IS_ROOT)
    parts = [kernel.part(root, each) for each in IS_ROOT.parts]
    written = kernel.reduction(
        rate.proposition.word.relation.rhs.expression, dot(vector(Z.name), _sphere_field()), *parts
    )
    found = at_every_token(kernel, kernel.arithmetic([rate, written], _MOVED), I, Z)
    return kernel.generalise(ROOT, found, IS_ROOT)


def proof(kernel: Kernel) -> Proved:
    """Strict saddles off the consensus set, and the conjugacy."""
    return kernel.conjunction(almost_every_start(kernel), conjugate(kernel))
