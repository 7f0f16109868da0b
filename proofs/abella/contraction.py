"""Contraction of the tokens, seen from the origin on a plane, in the kernel: exponential consensus (AB-X1, AB-T4.1).

``w_i = x_i / h_i`` with the heights ``h_i = v^T x_i > 0``, and ``D_ij = |w_i - w_j|_W^2``: at the widest pair D decays.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.abella.ab_l41_attention_weight_bounds import AB_L41
from eigentoken.proofs.abella.attention_bounds import BOUND, BOUNDS, LEAST, METRIC, I, J, K, of_every_weight, weight
from eigentoken.proofs.abella.heads_weights import (
    NORM,
    is_causal,
    nonnegative_weight,
    seen_weight_from_below,
    weight_of,
)
from eigentoken.proofs.abella.heights import (
    LOW,
    S,
    T,
    above,
    at_time,
    cosine,
    every,
    height,
    heights_stay,
    higher,
    since,
    until,
)
from eigentoken.proofs.steps.theorems import COMPARISON, DECAY, EUCLIDEAN, RAYLEIGH_BELOW
from eigentoken.theory.calculus import HEAD, HEADS, Expression, Index, dot, one, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.order import sees
from eigentoken.theory.kernel.propositions import TRUE, Exists, ForAll, Implication, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.kernel.tensors import STATE, Tensor, VectorLetter
from eigentoken.theory.language.claims import Converges
from eigentoken.theory.language.conditions import InHemisphere, IsIdentity, PositiveDefinite, Symmetric
from eigentoken.theory.language.places import ConsensusSet
from eigentoken.theory.language.terms import d, matrix, n

__all__ = ["EXPONENTIAL", "consensus", "distance", "exponential", "projected"]

W, U = matrix("W"), matrix("U")
#: A bound on the heights.
HIGH = sp.Symbol("m", positive=True)
#: Every ``a_ik = alpha_ik h_k/h_i`` is at least this, and a number that is at most that.
PULL, SLOWEST = LOW * sp.exp(-2 * NORM / LEAST) / (HIGH * sp.sqrt(d) * n), sp.Symbol("a", positive=True)
KAPPA = SLOWEST * n * HEADS / 2


def projected(at: Index) -> Expression:
    """``w_i = x_i / v^T x_i``."""
    return height(at) ** -1 * vector(STATE, at)


def distance(one_at: Index, other: Index) -> Expression:
    """``D_ij = |w_i - w_j|_W^2``."""
    apart = projected(one_at) - projected(other)
    return dot(apart, apart, METRIC)


def on_ellipsoid() -> Proposition:
    """``v^T z <= m`` for all z of the ellipsoid."""
    z = vector("z")
    unit = proposition(sp.Eq(Tensor(dot(z, z, METRIC)), 1, evaluate=False))
    return ForAll(
        VectorLetter("z"),
        TRUE,
        Implication(unit, proposition(sp.Le(Tensor(dot(vector("v"), z)), HIGH, evaluate=False))),
    )


class ContractionSetting:
    """Hypotheses: all heights are at least c, at most m; the norms of the scores are at most b."""

    kappa = KAPPA

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.low = kernel.assume(higher(LOW))
        self.high = kernel.assume(on_ellipsoid())
        self.norm = kernel.assume(BOUND <= NORM)
        self.slow = kernel.assume(sp.Ge(PULL, SLOWEST, evaluate=False))
        self._heights: dict[Index, Proved] = {}
        self.least = kernel.unfold(kernel.given(PositiveDefinite(W)))

    def weight_from_below(self, at: Index, other: Index) -> Proved:
        """``alpha_ik >= e^{-2b/lambda}/(sqrt(d) n)``."""
        kernel = self.kernel
        weights = kernel.part(kernel.recall(AB_L41), of_every_weight(BOUNDS[2]))
        bound = kernel.instantiate(kernel.instantiate(kernel.instantiate(weights, HEAD), at), other)
        return kernel.arithmetic(
            [bound, self.norm, self.least],
            sp.Ge(Tensor(weight(at, other)), sp.exp(-2 * NORM / LEAST) / (sp.sqrt(d) * n), evaluate=False),
        )

    def heights(self, at: Index) -> Proved:
        """``c <= h_i <= m``, and ``h_i != 0``; shown once for each index."""
        if at not in self._heights:
            self._heights[at] = self._between(at)
        return self._heights[at]

    def _between(self, at: Index) -> Proved:
        kernel, x = self.kernel, vector(STATE, at)
        unit = kernel.arithmetic(
            [kernel.reduction(dot(x, x, METRIC), one()), kernel.factors(one())],
            sp.Eq(Tensor(dot(x, x, METRIC)), 1, evaluate=False),
        )
        above_ = kernel.modus_ponens(kernel.instantiate(self.high, x), unit)
        here = Tensor(height(at))
        return kernel.arithmetic(
            [kernel.instantiate(self.low, at), above_], sp.And(here >= LOW, here <= HIGH, sp.Ne(here, 0))
        )

    def known(self, proved: Proved, *indices: Index) -> Proved:
        """Without the hypotheses that heights are not zero."""
        return self.kernel.supply(proved, *map(self.heights, indices))

    def pull(self, at: Index, other: Index) -> Proved:
        """``a_ik >= c e^{-2b/lambda}/(m sqrt(d) n) >= a``."""
        kernel = self.kernel
        ratio, smaller = height(other) * height(at) ** -1, self.weight_from_below(at, other)
        seen = weight_of(kernel, at, other)
        parts = [self.known(each, at, other) for each in (kernel.product(seen, ratio), kernel.factors(ratio))]
        quotient = kernel.arithmetic(
            [parts[1], self.heights(at), self.heights(other)], sp.Ge(Tensor(ratio), LOW / HIGH, evaluate=False)
        )
        return kernel.arithmetic(
            [smaller, parts[0], quotient, self.least, self.slow],
            sp.Ge(Tensor(seen * ratio), SLOWEST, evaluate=False),
        )

    def draws(self, at: Index, other: Index) -> Proved:
        """``a_ik >= 0``."""
        kernel = self.kernel
        ratio, seen = height(other) * height(at) ** -1, weight_of(kernel, at, other)
        parts = [self.known(each, at, other) for each in (kernel.product(seen, ratio), kernel.factors(ratio))]
        signs = [nonnegative_weight(kernel, at, other), self.heights(at), self.heights(other)]
        return kernel.arithmetic([*parts, *signs], sp.Ge(Tensor(seen * ratio), 0, evaluate=False))

    def square(self, at: Index, other: Index) -> Proved:
        """``D_ij >= 0``."""
        return self.nonnegative(projected(at) - projected(other), at, other)

    def nonnegative(self, apart: Expression, *indices: Index) -> Proved:
        """``z^T W z >= 0``."""
        kernel = self.kernel
        form = kernel.textbook(RAYLEIGH_BELOW, kernel.given(Symmetric(W)), A=W, z=apart)
        found = [self.known(each, *indices) for each in (form, kernel.square(apart))]
        return kernel.arithmetic([*found, self.least], sp.Ge(Tensor(dot(apart, apart, METRIC)), 0, evaluate=False))

    def sum_of(self, *pieces: tuple[int, Expression], indices: tuple[Index, ...]) -> list[Proved]:
        """``[sum c e] = sum c [e]``."""
        kernel = self.kernel
        found = [
            kernel.total(*(each * scale for scale, each in pieces)),
            *(kernel.scaling(each, scale) for scale, each in pieces),
        ]
        return [self.known(each, *indices) for each in found]

    # -- the widest pair ------------------------------------------------------------------------------------------------

    def widest(self, first: Index, second: Index) -> Proposition:
        """No pair is wider than (i, j)."""
        here = [Index("token", "b0"), Index("token", "b1")]
        return every(sp.Le(Tensor(distance(*here)), Tensor(distance(first, second)), evaluate=False), *here)

    def middle(self, first: Index, second: Index, other: Index) -> Proved:
        """``D_ij <= 2 D_ki + 2 D_kj``: the square of ``w_i + w_j - 2 w_k``."""
        kernel, indices = self.kernel, (first, second, other)
        near, far, pair = distance(other, first), distance(other, second), distance(first, second)
        corner = projected(first) + projected(second) - projected(other) * 2
        written = kernel.reduction(dot(corner, corner, METRIC), near * 2 + far * 2 - pair)
        parts = self.sum_of((2, near), (2, far), (-1, pair), indices=indices)
        known = [self.nonnegative(corner, *indices), self.known(written, *indices), *parts]
        return kernel.arithmetic(known, Tensor(pair) <= 2 * Tensor(near) + 2 * Tensor(far))

    def one_term(self, first: Index, second: Index, other: Index, pulls: bool = True) -> tuple[Expression, Proved]:
        """What token k and a head add to the slope of ``D_ij``: at most ``-a D_ij/2``, at the widest pair.

        Without ``pulls``, of a token that the two may not see: it is not positive.
        """
        kernel, indices = self.kernel, (first, second, other)
        near, far, pair = distance(other, first), distance(other, second), distance(first, second)
        gap, term, products, known = projected(first) - projected(second), one() * 0, [], []
        for at, plus, minus, sign in ((first, far, near, 2), (second, near, far, -2)):
            toward = vector(STATE, other) - height(other) * projected(at)
            seen = weight_of(kernel, at, other)
            term = term + seen * height(at) ** -1 * dot(toward, gap, METRIC) * sign
            pull, turn = seen * height(other) * height(at) ** -1, plus - minus - pair
            parts = self.sum_of((1, plus), (-1, minus), (-1, pair), indices=indices)
            value = Tensor(pull) * (Tensor(plus) - Tensor(minus) - Tensor(pair))
            split = [self.known(kernel.product(pull, turn), *indices), *parts]
            drawn = self.pull(at, other) if pulls else self.draws(at, other)
            known += [kernel.arithmetic(split, sp.Eq(Tensor(pull * turn), value, evaluate=False)), drawn]
            products.append(pull * turn)
        written = [kernel.total(*products), kernel.reduction(term, products[0] + products[1])]
        widest = kernel.instantiate(kernel.assume(self.widest(first, second)), other)
        known += [self.known(each, *indices) for each in written]
        known += [kernel.instantiate(widest, first), kernel.instantiate(widest, second)]
        known += [self.square(other, first), self.square(other, second), self.middle(first, second, other)]
        most = -SLOWEST * Tensor(pair) / 2 if pulls else sp.Integer(0)
        return term, kernel.arithmetic(known, sp.Le(Tensor(term), most, evaluate=False))

    def total(self, first: Index, second: Index, other: Index) -> tuple[Expression, Proved]:
        """What token k and a head add to the slope, and that all of it is at most ``-kappa D_ij``."""
        kernel = self.kernel
        term, each = self.one_term(first, second, other)
        return term, kernel.summed(kernel.generalise(HEAD, kernel.summed(kernel.generalise(other, each))))

    def slope(self, first: Index, second: Index) -> Proved:
        """``D_ij' <= -kappa D_ij`` at the widest pair."""
        kernel, other, pair = self.kernel, Index("token", "k"), distance(first, second)
        term, total = self.total(first, second, other)
        rate = kernel.increment(pair)
        whole = term.summed(other, HEAD)
        written = kernel.reduction(rate.proposition.word.relation.rhs.expression, whole, kernel.given(IsIdentity(U)))
        scaled = kernel.scaling(pair, -self.kappa)
        known = [self.known(every_, first, second) for every_ in (rate, written, scaled)]
        return kernel.arithmetic(
            [*known, total], sp.Le(rate.proposition.word.relation.lhs, -self.kappa * Tensor(pair), evaluate=False)
        )

    def shape(self, first: Index, second: Index) -> Proved:
        """``D_ij = 1/h_i^2 + 1/h_j^2 - 2 s_ij/(h_i h_j)`` with ``s_ij = x_i^T W x_j``."""
        kernel, x, y = self.kernel, vector(STATE, first), vector(STATE, second)
        units = [kernel.reduction(dot(each, each, METRIC), one()) for each in (x, y)]
        turned = kernel.reduction(dot(y, x, METRIC), dot(x, y, METRIC))
        whole = self.known(kernel.factors(distance(first, second)), first, second)
        one_height, other_height = Tensor(height(first)), Tensor(height(second))
        value = 1 / one_height**2 + 1 / other_height**2 - 2 * Tensor(dot(x, y, METRIC)) / (one_height * other_height)
        known = [whole, *units, turned, kernel.factors(one()), self.heights(first), self.heights(second)]
        return kernel.arithmetic(known, sp.Eq(Tensor(distance(first, second)), value, evaluate=False))

    def at_most(self, first: Index, second: Index) -> Proved:
        """``D_ij <= 4/c^2``."""
        known = [
            self.shape(first, second),
            self.heights(first),
            self.heights(second),
            cosine(self.kernel, first, second),
        ]
        return self.kernel.arithmetic(known, sp.Le(Tensor(distance(first, second)), 4 / LOW**2, evaluate=False))

    def token_gap(self, first: Index, second: Index) -> Proved:
        """``|x_i - x_j|^2 <= (m^2/lambda) D_ij``."""
        kernel, x, y = self.kernel, vector(STATE, first), vector(STATE, second)
        form, product = dot(x - y, x - y, METRIC), dot(x, y, METRIC)
        written = kernel.reduction(form, one() * 2 - product * 2)
        parts = [*self.sum_of((2, one()), (-2, product), indices=()), kernel.factors(one())]
        value = kernel.arithmetic([written, *parts], sp.Eq(Tensor(form), 2 - 2 * Tensor(product), evaluate=False))
        heights = [self.heights(first), self.heights(second), cosine(kernel, first, second), self.shape(first, second)]
        near = kernel.arithmetic([value, *heights], Tensor(form) <= HIGH**2 * Tensor(distance(first, second)))
        below = kernel.textbook(RAYLEIGH_BELOW, kernel.given(Symmetric(W)), A=W, z=x - y)
        apart = Tensor(dot(x - y, x - y))
        return kernel.arithmetic(
            [near, below, self.least], sp.Le(apart, HIGH**2 / LEAST * Tensor(distance(first, second)), evaluate=False)
        )


#: The first token, and that every token sees it.
FIRST = Index("token", "l")
SEEN = every(sp.Eq(Tensor(sees(J, FIRST)), 1, evaluate=False), J)


class CausalSetting(ContractionSetting):
    """Under a causal mask: all tokens see the first one, and it alone is known to draw them together."""

    kappa = SLOWEST * HEADS / 2

    def weight_from_below(self, at: Index, other: Index) -> Proved:
        if other != FIRST:
            raise Refused("the first token is the one that all tokens see")
        return seen_weight_from_below(self.kernel, at, other, self.kernel.instantiate(self.kernel.assume(SEEN), at))

    def total(self, first: Index, second: Index, other: Index) -> tuple[Expression, Proved]:
        kernel = self.kernel
        term, each = self.one_term(first, second, other, pulls=False)
        less = self.known(kernel.scaling(term, -1), first, second, other)
        falls = kernel.arithmetic([each, less], sp.Ge(Tensor(term * -1), 0, evaluate=False))
        pulled, strong = self.one_term(first, second, FIRST)
        turned = self.known(kernel.scaling(pulled, -1), first, second, FIRST)
        more = kernel.summand(kernel.generalise(other, falls), FIRST)
        whole = term.summed(other)
        back = self.known(kernel.scaling(whole, -1), first, second)
        pair = Tensor(distance(first, second))
        every_head = kernel.arithmetic(
            [more, strong, turned, back], sp.Le(Tensor(whole), -SLOWEST * pair / 2, evaluate=False)
        )
        return term, kernel.summed(kernel.generalise(HEAD, every_head))


def decay(setting: ContractionSetting) -> Proved:
    """Where the heights stay above c: ``D_ij(t) <= C e^{-kappa t}``, by comparison of the widest pair."""
    kernel, first, second = setting.kernel, Index("token", "a0"), Index("token", "a1")
    falls = kernel.discharge(setting.widest(first, second), setting.slope(first, second))
    smooth = [kernel.arithmetic([setting.heights(each)], sp.Ne(Tensor(height(each)), 0)) for each in (first, second)]
    both = kernel.conjunction(*(kernel.generalise(first, kernel.generalise(second, each)) for each in (falls, *smooth)))
    along = kernel.generalise(T, at_time(kernel, kernel.discharge(higher(LOW), both)), since())
    return kernel.textbook(COMPARISON, along, f=distance(J, K), kappa=setting.kappa, region=higher(LOW))


def gap_bound(kernel: Kernel, kind: type[ContractionSetting] = ContractionSetting) -> Proved:
    """``|x_i(t) - x_j(t)|^2 <= 4 m^2/(lambda c^2) e^{-kappa t}`` for all pairs and ``t >= 0``, from ``h_i(0) >= c`` for all i."""
    setting, here = kind(kernel), kernel.assume(since())
    start = kernel.assume(higher(LOW, sp.Integer(0)))
    stays = kernel.modus_ponens(heights_stay(kernel), start)
    sooner = kernel.instantiate(stays, S, kernel.assume(sp.Ge(S, 0, evaluate=False)))
    before = kernel.generalise(S, sooner, until(T, closed=True))
    widths = kernel.discharge(higher(LOW), kernel.generalise(J, kernel.generalise(K, setting.at_most(J, K))))
    first = kernel.modus_ponens(at_time(kernel, widths, 0), start)
    bound = kernel.modus_ponens(kernel.instantiate(decay(setting), T, here), before)
    width = kernel.modus_ponens(kernel.instantiate(bound, 4 / LOW**2), first)
    gaps = kernel.discharge(higher(LOW), setting.token_gap(I, J))
    now = kernel.modus_ponens(at_time(kernel, gaps, T), kernel.instantiate(stays, T, here))
    apart = vector(STATE, I) - vector(STATE, J)
    said = sp.Le(Tensor(dot(apart, apart), T), GAP * sp.exp(-kind.kappa * T), evaluate=False)
    close = kernel.arithmetic([now, kernel.instantiate(kernel.instantiate(width, I), J), setting.least], said)
    return kernel.generalise(T, kernel.generalise(I, kernel.generalise(J, close)), since())


#: ``4 m^2/(lambda c^2)``.
GAP = 4 * HIGH**2 / (LEAST * LOW**2)
_APART = vector(STATE, I) - vector(STATE, J)
_SMALLER = proposition(sp.Ge(PULL, SLOWEST, evaluate=False))
_GUARDS = (
    (LOW, higher(LOW, sp.Integer(0))),
    (HIGH, on_ellipsoid()),
    (NORM, proposition(BOUND <= NORM)),
    (SLOWEST, _SMALLER),
)


def _rate() -> Proposition:
    said = sp.Le(Tensor(dot(_APART, _APART), T), GAP * sp.exp(-KAPPA * T), evaluate=False)
    found: Proposition = ForAll(T, since(), every(said, I, J))
    for letter, guard in reversed(_GUARDS):
        found = ForAll(letter, guard, found)
    return ForAll(VectorLetter("v"), TRUE, found)


#: ``|x_i(t) - x_j(t)|^2 <= 4 m^2/(lambda c^2) e^{-kappa t}`` where all heights are at least c at the start.
EXPONENTIAL = _rate()


def exponential(kernel: Kernel) -> Proved:
    """A proof of :data:`EXPONENTIAL`."""
    found = gap_bound(kernel)
    for letter, guard in reversed(_GUARDS):
        found = kernel.generalise(letter, found, guard)
    return kernel.generalise(VectorLetter("v"), found)


def high_enough(kernel: Kernel) -> Proved:
    """There is m > 0 with ``v^T z <= m`` on the ellipsoid: ``m = 1 + |v|^2/lambda``."""
    z, v = vector("z"), vector("v")
    least = kernel.unfold(kernel.given(PositiveDefinite(W)))
    unit = kernel.assume(sp.Eq(Tensor(dot(z, z, METRIC)), 1, evaluate=False))
    most = 1 + Tensor(dot(v, v)) / LEAST
    known = [
        kernel.textbook(EUCLIDEAN, y=v, z=z),
        kernel.textbook(RAYLEIGH_BELOW, kernel.given(Symmetric(W)), A=W, z=z),
        *(kernel.square(each) for each in (v, z)),
        least,
        unit,
    ]
    short = kernel.arithmetic(known, sp.Le(Tensor(dot(z, z)), 1 / LEAST, evaluate=False))
    product = kernel.arithmetic(
        [known[0], short, *known[2:5]], sp.Le(Tensor(dot(v, z)) ** 2, Tensor(dot(v, v)) / LEAST, evaluate=False)
    )
    below = kernel.arithmetic([product, known[2], least], sp.Le(Tensor(dot(v, z)), most, evaluate=False))
    all_of_it = kernel.generalise(VectorLetter("z"), kernel.discharge(unit.proposition, below))
    positive = kernel.arithmetic([known[2], least], sp.Gt(most, 0, evaluate=False))
    return kernel.witness(Exists(HIGH, TRUE, on_ellipsoid()), most, all_of_it, positive)


def consensus(kernel: Kernel) -> Proved:
    """``Converges(ConsensusSet())``: some plane has all tokens above it, and then the gaps decay."""
    least = kernel.unfold(kernel.given(PositiveDefinite(W)))
    kind = CausalSetting if is_causal(kernel) else ContractionSetting
    gaps = gap_bound(kernel, kind)
    if is_causal(kernel):
        gaps = kernel.exists_elimination(kernel.first_token(FIRST, J), gaps)
    rate = kernel.arithmetic([least], sp.Gt(kind.kappa, 0, evaluate=False))
    limit = kernel.textbook(DECAY, rate, kernel.arithmetic([least], sp.Ne(LEAST, 0)), C=GAP, kappa=kind.kappa)
    small = limit.proposition.letter
    some = kernel.instantiate(limit, small)
    late = some.proposition.letter
    after = kernel.assume(sp.Ge(T, late, evaluate=False))
    now = kernel.instantiate(gaps, T, kernel.arithmetic([after], since()))
    under = kernel.instantiate(kernel.assume(some.proposition.body), T, after)
    apart = vector(STATE, I) - vector(STATE, J)
    close = kernel.arithmetic(
        [kernel.instantiate(kernel.instantiate(now, I), J), under, least],
        sp.Le(Tensor(dot(apart, apart), T), small, evaluate=False),
    )
    every_pair = kernel.generalise(T, kernel.generalise(I, kernel.generalise(J, close)), after.proposition)
    there = kernel.witness(Exists(late, TRUE, every_pair.proposition), late, every_pair)
    found = kernel.generalise(small, kernel.exists_elimination(some, there))
    goes = kernel.modus_ponens(kernel.meaning(Converges(ConsensusSet())), found)
    slowest = kernel.witness(
        Exists(SLOWEST, TRUE, proposition(sp.Ge(PULL, SLOWEST, evaluate=False))),
        PULL,
        kernel.arithmetic([least], sp.Ge(PULL, PULL, evaluate=False)),
        kernel.arithmetic([least], sp.Gt(PULL, 0, evaluate=False)),
    )
    for some_number in (slowest, high_enough(kernel), kernel.settled(kernel.bounded_norm("P", NORM))):
        goes = kernel.exists_elimination(some_number, goes)
    start = kernel.assume(above(sp.Integer(0)))
    goes = kernel.exists_elimination(kernel.least(start, LOW), goes)
    for_all = kernel.generalise(VectorLetter("v"), kernel.discharge(start.proposition, goes))
    plane = kernel.unfold(kernel.given(InHemisphere()))
    one_plane = kernel.instantiate(for_all, plane.proposition.letter)
    return kernel.exists_elimination(plane, kernel.modus_ponens(one_plane, kernel.assume(plane.proposition.body)))
