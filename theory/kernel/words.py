"""What words of the language mean in other words: equivalences and facts that the rules may unfold.

Each entry is part of what a reader must believe, as a definition is.  Eigenvalues are numbered from the top; where a matrix is
symmetric they are real, ``lambda_1 >= ... >= lambda_d``, and the norm is the largest modulus.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.theory.calculus import HEAD, Expression, Index, Letter, delta, dot, vector
from eigentoken.theory.kernel.forms import bilinear
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Atom,
    Conjunction,
    Equivalence,
    Exists,
    ForAll,
    ForAlmostEvery,
    Implication,
    Proposition,
    for_every,
    proposition,
    relation_of,
)
from eigentoken.theory.kernel.proved import Proved, Refused, prove
from eigentoken.theory.kernel.tensors import STATE, Tensor, VectorLetter
from eigentoken.theory.language import claims, conditions
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt, ConsensusSet, Hemisphere, Zero
from eigentoken.theory.language.proportion import IDENTITY, MultipleOf
from eigentoken.theory.language.readings import Reading
from eigentoken.theory.language.terms import (
    Eigenvalue,
    EigenvalueModulus,
    EigenvalueRealPart,
    HeadNorm,
    MatrixNumber,
    SpectralNorm,
    d,
    ell,
    matrix,
    p,
    q,
)
from eigentoken.theory.systems.system import System, Time

__all__ = [
    "bounded_forms",
    "bounded_norm",
    "eigenvalue_order",
    "equal_indices",
    "equiangular",
    "half_space",
    "index_range",
    "meaning",
    "norm_of_symmetric",
    "real_parts_below",
    "stays_near",
    "top_direction",
    "top_eigenvector",
]

_OTHER = sp.Symbol("j", integer=True)


def index_range(letter: sp.Symbol, first: int = 1, last: Any = d) -> Proposition:
    """``first <= letter <= last``."""
    return proposition(sp.And(sp.Ge(letter, first, evaluate=False), sp.Le(letter, last, evaluate=False)))


def _when_symmetric(term: Any) -> tuple[Proposition, ...]:
    if not isinstance(term, sp.MatrixExpr) or term.shape != (d, d) or term.free_symbols & {ell, _OTHER}:
        raise Refused(f"{term} must be a d x d matrix that does not speak of {ell} or {_OTHER}")
    return (Atom(Symmetric(term)),)


#: Words about a symmetric matrix, in terms of its eigenvalues.
OF_SYMMETRIC: Reading[Proposition] = Reading("of_symmetric", "what does it say of a symmetric matrix?")
#: Words that are names for other words.
IN_OTHER_WORDS: Reading[Proposition] = Reading("in_other_words", "what does it say in other words?")


@OF_SYMMETRIC.register(conditions.SimpleTop)
def simple_top_of_symmetric(word: conditions.SimpleTop) -> Proposition:
    below = proposition(Eigenvalue(word.term, ell) < Eigenvalue(word.term, 1))
    return ForAll(ell, index_range(ell, 2), below)


@OF_SYMMETRIC.register(conditions.PositiveDefinite)
def positive_definite_of_symmetric(word: conditions.PositiveDefinite) -> Proposition:
    return proposition(Eigenvalue(word.term, d) > 0)


@OF_SYMMETRIC.register(conditions.PositiveSemidefinite)
def positive_semidefinite_of_symmetric(word: conditions.PositiveSemidefinite) -> Proposition:
    return proposition(Eigenvalue(word.term, d) >= 0)


@OF_SYMMETRIC.register(conditions.NegativeDefinite)
def negative_definite_of_symmetric(word: conditions.NegativeDefinite) -> Proposition:
    return proposition(Eigenvalue(word.term, 1) < 0)


@IN_OTHER_WORDS.register(claims.AlmostEveryConverges)
def almost_every_converges_in_other_words(word: claims.AlmostEveryConverges) -> Proposition:
    return ForAlmostEvery(Atom(claims.Converges(word.place)))


@IN_OTHER_WORDS.register(conditions.NonPrincipalModulusBelow)
def modulus_below_in_other_words(word: conditions.NonPrincipalModulusBelow) -> Proposition:
    below = proposition(EigenvalueModulus(word.term, ell) < Eigenvalue(word.term, 1))
    return ForAll(ell, index_range(ell, 2), below)


@IN_OTHER_WORDS.register(MultipleOf)
def multiple_of_identity_in_other_words(word: MultipleOf) -> Proposition:
    """``u^T X z = lambda_1(X) u^T z`` for all vectors u and z, for a letter X that is a multiple of the identity."""
    if word.of != IDENTITY or not isinstance(word.term, sp.MatrixSymbol):
        raise Refused(f"that {word.term} is a multiple of {word.of} has no meaning in other words here")
    u, z = vector("u"), vector("z")
    form, plain = Tensor(dot(u, z, (Letter(word.term.name),))), Tensor(dot(u, z))
    equal = proposition(sp.Eq(form, Eigenvalue(word.term, 1) * plain, evaluate=False))
    return ForAll(VectorLetter("u"), TRUE, ForAll(VectorLetter("z"), TRUE, equal))


_T = sp.Symbol("t", real=True)
_I, _J = Index("token", "i"), Index("token", "j")


def _above(normal: str, time: Any) -> Proposition:
    """``w^T x_i(t) > 0`` for every token i."""
    return for_every(sp.Gt(Tensor(dot(vector(normal), vector(STATE, _I)), time), 0, evaluate=False), _I)


def top_eigenvector(term: Any, name: str, *, left: bool = False) -> Proposition:
    """``name`` is a unit eigenvector of the matrix for its first eigenvalue: ``z^T X v = lambda_1 z^T v`` for all z.

    With ``left``, ``u^T X z = lambda_1 u^T z`` for all z.
    """
    if not isinstance(term, sp.MatrixSymbol):
        raise Refused(f"{term} must be a letter: its eigenvectors are said with inner products")
    here, other = vector(name), vector("z")
    form = dot(here, other, (Letter(term.name),)) if left else dot(other, here, (Letter(term.name),))
    equal = sp.Eq(Tensor(form), Eigenvalue(term, 1) * Tensor(dot(here, other)), evaluate=False)
    unit = sp.Eq(Tensor(dot(here, here)), 1, evaluate=False)
    return Conjunction((ForAll(VectorLetter("z"), TRUE, proposition(equal)), proposition(unit)))


def _normal(place: Any) -> Proposition:
    """What the normal w of a hemisphere is: any vector, or a unit eigenvector."""
    return TRUE if place.normal is None else top_eigenvector(place.normal, "w", left=place.left)


@IN_OTHER_WORDS.register(conditions.InHemisphere)
def in_hemisphere_in_other_words(word: conditions.InHemisphere) -> Proposition:
    """``there is w: w^T x_i(0) > 0 for all i``; with a matrix, w is one of its unit top eigenvectors."""
    return Exists(VectorLetter("w"), _normal(word), _above("w", sp.Integer(0)))


@IN_OTHER_WORDS.register(claims.ForwardInvariant)
def forward_invariant_in_other_words(word: claims.ForwardInvariant) -> Proposition:
    """``for all w: if w^T x_i(0) > 0 for all i, then w^T x_i(t) > 0 for all i and all t >= 0``, for the normals w."""
    if not isinstance(word.region, Hemisphere):
        raise Refused(f"{word.region} has no meaning in other words here")
    later = ForAll(_T, proposition(sp.Ge(_T, 0, evaluate=False)), _above("w", _T))
    return ForAll(VectorLetter("w"), _normal(word.region), Implication(_above("w", sp.Integer(0)), later))


def equiangular(cosine: Any = None) -> Proposition:
    """The state is equiangular: all ``|x_i|^2`` are equal, and all ``x_i^T x_j``, ``i != j`` (with a cosine: ``c |x_i|^2``)."""
    first, second, third, fourth = (Index("token", name) for name in ("i", "j", "k", "l"))
    tokens = {each: vector(STATE, each) for each in (first, second, third, fourth)}
    squares = [Tensor(dot(tokens[each], tokens[each])) for each in (first, third)]
    lengths = for_every(sp.Eq(*squares, evaluate=False), first, third)

    def other(one: Index, two: Index, said: Any) -> Proposition:
        return ForAll(one, TRUE, ForAll(two, proposition(sp.Eq(Tensor(delta(one, two)), 0, evaluate=False)), said))

    inner = [Tensor(dot(tokens[a], tokens[b])) for a, b in ((first, second), (third, fourth))]
    alike = other(first, second, other(third, fourth, proposition(sp.Eq(*inner, evaluate=False))))
    if cosine is not None:
        alike = other(first, second, proposition(sp.Eq(inner[0], sp.sympify(cosine) * squares[0], evaluate=False)))
    return Conjunction((lengths, alike))


_K, _S = sp.symbols("K s", real=True)


def _from(time: Any, first: Any) -> Proposition:
    return proposition(sp.Ge(time, first, evaluate=False))


def _size(time: Any) -> Tensor:
    """``sum_i |x_i|^2``."""
    return Tensor(dot(vector(STATE, _I), vector(STATE, _I)).summed(_I), time)


@IN_OTHER_WORDS.register(claims.Diverges)
def diverges_in_other_words(word: claims.Diverges) -> Proposition:
    """The squared norm of some token, or of each, exceeds every number at some time."""
    size = Tensor(dot(vector(STATE, _I), vector(STATE, _I)), _T)
    unbounded = ForAll(_K, TRUE, Exists(_T, _from(_T, 0), proposition(sp.Gt(size, _K, evaluate=False))))
    return (ForAll if word.every else Exists)(_I, TRUE, unbounded)


@IN_OTHER_WORDS.register(conditions.NotAllZero)
def not_all_zero_in_other_words(word: conditions.NotAllZero) -> Proposition:
    return proposition(sp.Gt(_size(sp.Integer(0)), 0, evaluate=False))


@IN_OTHER_WORDS.register(conditions.NotAllEqual)
def not_all_equal_in_other_words(word: conditions.NotAllEqual) -> Proposition:
    gap = vector(STATE, _I) - vector(STATE, _J)
    apart = proposition(sp.Gt(Tensor(dot(gap, gap), 0), 0, evaluate=False))
    return Exists(_I, TRUE, Exists(_J, TRUE, apart))


@IN_OTHER_WORDS.register(claims.Converges)
def converges_in_other_words(word: claims.Converges) -> Proposition:
    """To zero: ``sum_i |x_i|^2 < K`` from some time on, for every K > 0; to consensus: all ``|x_i - x_j|^2 <= epsilon``.

    To consensus at the first eigenvector, up to its sign: ``|x_i - v|^2 <= epsilon`` for one of the unit top eigenvectors v.
    """
    if word.place == Zero():
        small_state = proposition(sp.Lt(_size(_T), _K, evaluate=False))
        late_enough = Exists(_S, _from(_S, 0), ForAll(_T, _from(_T, _S), small_state))
        return ForAll(_K, proposition(sp.Gt(_K, 0, evaluate=False)), late_enough)
    if isinstance(word.place, ConsensusAt) and word.place.index == 1:
        return Exists(
            VectorLetter("v"), top_eigenvector(word.place.term, "v"), _finally(vector(STATE, _I) - vector("v"), _I)
        )
    if word.place != ConsensusSet():
        raise Refused(f"convergence to {word.place} has no meaning in other words here")
    return _finally(vector(STATE, _I) - vector(STATE, _J), _I, _J)


_STEPS = sp.Symbol("t", integer=True)


def stays_near(name: str) -> Proposition:
    """Trajectories of a map that start near the state ``name`` stay near: for every epsilon there is a delta, in squares.

    One delta serves all starts, or almost all: the map is continuous near a state at which it rests, so that what stays near
    from a dense set of starts stays near from all (within any larger epsilon).
    """
    near, small = sp.symbols("epsilon delta", positive=True)
    apart = vector(STATE, _I) - vector(name, _I)

    def close(time: Any, bound: sp.Symbol) -> Proposition:
        return for_every(sp.Lt(Tensor(dot(apart, apart), time), bound, evaluate=False), _I)

    later = ForAll(_STEPS, _from(_STEPS, 0), close(_STEPS, near))
    return ForAll(near, TRUE, Exists(small, TRUE, ForAlmostEvery(Implication(close(sp.Integer(0), small), later))))


@IN_OTHER_WORDS.register(claims.LyapunovStable)
def lyapunov_stable_in_other_words(word: claims.LyapunovStable) -> Proposition:
    """Of a split between a top eigenvector and its negative: every state a of this form, ``a_i = +- v``, is stable."""
    place, side = word.place, dot(vector("v"), vector("a", _I))
    if not isinstance(place, BipartiteAt) or place.index != 1:
        raise Refused(f"Lyapunov stability of {place} has no meaning in other words here")
    on_line = sp.Eq(
        Tensor(dot(vector("z"), vector("a", _I))), Tensor(side * dot(vector("z"), vector("v"))), evaluate=False
    )
    parts = (
        for_every(ForAll(VectorLetter("z"), TRUE, proposition(on_line)), _I),
        for_every(sp.Eq(Tensor(side) ** 2, 1, evaluate=False), _I),
        proposition(sp.Eq(Tensor(side.summed(_I)), p - q, evaluate=False)),
    )
    split = Exists(VectorLetter("v"), top_eigenvector(place.term, "v"), Conjunction(parts))
    return ForAll(VectorLetter("a"), split, stays_near("a"))


def _finally(apart: Expression, *indices: Index) -> Proposition:
    """For every epsilon > 0 the squares of the vectors are at most epsilon from some time on."""
    small, late = sp.Symbol("epsilon", positive=True), sp.Symbol("T", nonnegative=True)
    close = for_every(sp.Le(Tensor(dot(apart, apart), _T), small, evaluate=False), *indices)
    after = ForAll(_T, proposition(sp.Ge(_T, late, evaluate=False)), close)
    return ForAll(small, TRUE, Exists(late, TRUE, after))


#: Words about a trajectory in continuous time.
_OF_A_FLOW = (conditions.InHemisphere, claims.ForwardInvariant, claims.Converges, claims.Diverges)


def bounded_forms(name: str, system: System) -> Proved:
    """``(u^T X w)^2 <= N^2 |u|^2 |w|^2`` for all u, w (and each head), and ``N >= 0``: what the norm ``N = max_h |X_h|`` is."""
    if name not in (system.value, system.score, system.metric) or not name:
        raise Refused(f"{name!r} is the name of no matrix of {system.name}")
    heads = (HEAD,) if system.multihead and name in (system.value, system.score) else ()
    u, w, norm = vector("u"), vector("w"), HeadNorm(matrix(name))
    form = Tensor(dot(u, w, (Letter(name, False, heads),)))
    said = proposition(sp.Le(form**2, norm**2 * Tensor(dot(u, u)) * Tensor(dot(w, w)), evaluate=False))
    for each in (VectorLetter("w"), VectorLetter("u"), *heads):
        said = ForAll(each, TRUE, said)
    return prove(Conjunction((said, proposition(norm >= 0))), "bounded_forms", (), system)


def bounded_norm(name: str, letter: sp.Symbol) -> Proved:
    """``X(t)`` is bounded in time: there is b >= 0 with ``max_h |X_h| <= b`` at all times."""
    if letter.assumptions0 != sp.Symbol("b", nonnegative=True).assumptions0:
        raise Refused(f"{letter} must be a letter for a number that is not negative")
    said = Exists(letter, TRUE, proposition(HeadNorm(matrix(name)) <= letter))
    return prove(said, "bounded_norm", (), None, (Atom(conditions.BoundedInTime(name)),))


def meaning(word: Any, system: System | None = None) -> Proved:
    """``word <=> what it means``; for words about a matrix, under the hypothesis that the matrix is symmetric.

    >>> from eigentoken.theory.language.terms import matrix
    >>> meaning(conditions.PositiveDefinite(matrix("V"))).hypotheses
    (Atom(word=Symmetric(term=V)),)
    """
    if OF_SYMMETRIC.find(type(word)):
        said = Equivalence(Atom(word), OF_SYMMETRIC(word))
        return prove(said, "meaning", (), None, _when_symmetric(word.term))
    if IN_OTHER_WORDS.find(type(word)):
        if isinstance(word, _OF_A_FLOW) and (system is None or system.time is not Time.FLOW):
            raise Refused(f"{type(word).__name__} speaks of the trajectories of a flow here")
        if isinstance(word, claims.LyapunovStable) and (
            system is None or system.time is not Time.MAP or _masked(system)
        ):
            raise Refused("Lyapunov stability is that of a map here, in which no token differs from another")
        return prove(Equivalence(Atom(word), IN_OTHER_WORDS(word)), "meaning", (), system)
    raise Refused(f"{type(word).__name__} has no meaning in other words here")


def _masked(system: System) -> bool:
    """Do tokens differ by their number, in what they see or in their positions?"""
    return system.mask != "full" or bool(system.rotary) or not system.standard


def top_direction(term: Any, left: bool) -> Proposition:
    """w is an eigenvector for ``lambda_1(X)`` (a left one): ``|w|^2 > 0`` and ``w^T X z = lambda_1 w^T z`` for every z."""
    normal, other = vector("w"), vector("z")
    pair = bilinear(normal, term, other) if left else bilinear(other, term, normal)
    value = sp.Eq(Tensor(pair), Eigenvalue(term, 1) * Tensor(dot(normal, other)), evaluate=False)
    nonzero = proposition(sp.Gt(Tensor(dot(normal, normal)), 0, evaluate=False))
    return Conjunction((nonzero, ForAll(VectorLetter("z"), TRUE, proposition(value))))


def half_space(word: Any, system: System | None = None) -> Proved:
    """Half spaces by a top eigenvector w, where that is real and simple (then w is one up to its length and sign).

    The tokens start on one side of some such w; and a half space is invariant if, for every such w, tokens that start on its side
    stay there.
    """
    place = getattr(word, "region", word)
    if not isinstance(word, conditions.InHemisphere | claims.ForwardInvariant) or not isinstance(
        place, conditions.InHemisphere | Hemisphere
    ):
        raise Refused(f"{type(word).__name__} does not speak of a half space")
    if place.normal is None:
        raise Refused("the half space is not that of a top eigenvector")
    known, start, w = top_direction(place.normal, place.left), _above("w", sp.Integer(0)), VectorLetter("w")
    said: Proposition = Exists(w, known, start)
    if isinstance(word, claims.ForwardInvariant):
        if system is None or system.time is not Time.FLOW:
            raise Refused("the trajectories of a flow are meant")
        said = ForAll(w, Conjunction((known, start)), ForAll(_T, _from(_T, 0), _above("w", _T)))
    simple = Atom(conditions.SimpleTop(place.normal))
    return prove(Equivalence(Atom(word), said), "half_space", (), system, (simple,))


def eigenvalue_order(term: Any) -> Proved:
    """``lambda_j <= lambda_ell`` for ``1 <= ell <= j <= d``, of a symmetric matrix."""
    later = proposition(sp.And(sp.Ge(_OTHER, ell, evaluate=False), sp.Le(_OTHER, d, evaluate=False)))
    inner = ForAll(_OTHER, later, proposition(Eigenvalue(term, _OTHER) <= Eigenvalue(term, ell)))
    return prove(ForAll(ell, index_range(ell), inner), "eigenvalue_order", (), None, _when_symmetric(term))


def modulus(term: Any) -> Proved:
    """``|Re lambda_ell| <= |lambda_ell|`` for every eigenvalue of any matrix."""
    if not isinstance(term, sp.MatrixExpr) or term.shape != (d, d) or term.free_symbols & {ell}:
        raise Refused(f"{term} must be a d x d matrix that does not speak of {ell}")
    said = proposition(sp.Abs(EigenvalueRealPart(term, ell)) <= EigenvalueModulus(term, ell))
    return prove(ForAll(ell, index_range(ell), said), "modulus", (), None)


def real_parts_below(term: Any) -> Proved:
    """``Re lambda_ell < lambda_1`` for every other eigenvalue of a matrix whose first one is real and simple: what that says."""
    if not isinstance(term, sp.MatrixExpr) or term.shape != (d, d) or term.free_symbols & {ell}:
        raise Refused(f"{term} must be a d x d matrix that does not speak of {ell}")
    said = proposition(EigenvalueRealPart(term, ell) < Eigenvalue(term, 1))
    top = (Atom(conditions.SimpleTop(term)),)
    return prove(ForAll(ell, index_range(ell, 2), said), "real_parts_below", (), None, top)


def norm_of_symmetric(term: Any) -> Proved:
    """``|X| = max(|lambda_1|, |lambda_d|)``, and every eigenvalue is at most that in modulus."""
    norm = SpectralNorm(term)
    extreme = proposition(sp.Eq(norm, sp.Max(sp.Abs(Eigenvalue(term, 1)), sp.Abs(Eigenvalue(term, d)))))
    each = ForAll(ell, index_range(ell), proposition(sp.Abs(Eigenvalue(term, ell)) <= norm))
    return prove(Conjunction((extreme, each)), "norm_of_symmetric", (), None, _when_symmetric(term))


def equal_indices(equation: Proved, quantity: Any) -> Proved:
    """``i = j`` gives ``lambda_i(X) = lambda_j(X)``, and the same of any quantity with an index."""
    relation = relation_of(equation.proposition)
    if not isinstance(relation, sp.Eq) or not isinstance(quantity, MatrixNumber) or relation.lhs not in quantity.args:
        raise Refused("an equation between indices is needed, and a quantity that has the left one")
    other = quantity.func(*(relation.rhs if each == relation.lhs else each for each in quantity.args))
    said = proposition(sp.Eq(quantity, other, evaluate=False))
    return prove(said, "equal_indices", (equation,), equation.system, equation.hypotheses)
