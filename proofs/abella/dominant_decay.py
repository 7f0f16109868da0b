"""Decay toward a dominant eigenvector in the kernel (AB-X2), in a norm that is adapted to the value matrix."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.abella.dominant import (
    LEFT,
    LOW,
    NORM,
    TOP,
    VALUE,
    I,
    J,
    V,
    above,
    height,
    heights_stay_positive,
    lifted,
    nonnegative_weight,
    weight,
)
from eigentoken.proofs.abella.heights import S, T, at_time, every, since, until
from eigentoken.proofs.steps.adapted_norms import ADAPTED_NORM, FORM, RHO, contracts
from eigentoken.proofs.steps.theorems import CAUCHY_SCHWARZ, COMPARISON, DECAY, EUCLIDEAN, RAYLEIGH_BELOW
from eigentoken.theory.calculus import Expression, Index, dot, one, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, Exists, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, Tensor, VectorLetter
from eigentoken.theory.kernel.words import top_eigenvector
from eigentoken.theory.language.claims import Converges
from eigentoken.theory.language.conditions import InHemisphere, NonPrincipalModulusBelow, PositiveDefinite, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, d

__all__ = ["dominant_consensus"]

RIGHT = top_eigenvector(V, "v")
LEAST = Eigenvalue(FORM, d)
#: ``u^T v``, and the numbers of the bounds: all ``D_i <= 1/e``, all ``h_j/h_i >= delta``.
PRODUCT = dot(vector("u"), vector("v"))
G, CAP, DELTA = Tensor(PRODUCT), sp.Symbol("e", positive=True), sp.Symbol("delta", positive=True)
SMALL = sp.Le(DELTA**2 * (2 / (CAP * LEAST) + 2 / G**2), 1, evaluate=False)
KAPPA = 2 * (TOP - RHO) * DELTA


def limit() -> Expression:
    """``v/(u^T v)``."""
    return PRODUCT**-1 * vector("v")


def projected(at: Index) -> Expression:
    """``w_i = x_i/h_i``."""
    return height(at) ** -1 * vector(STATE, at)


def rest(at: Index) -> Expression:
    """``r_i = w_i - v/(u^T v)``."""
    return projected(at) - limit()


def size(at: Index) -> Expression:
    """``D_i = |r_i|_N^2``."""
    return dot(rest(at), rest(at), NORM)


def within(time: object = None) -> Proposition:
    """``D_i <= 1/e`` for all tokens."""
    return every(sp.Le(Tensor(size(I), time), 1 / CAP, evaluate=False), I)


class Pulled:
    """Hypotheses: u, v and N as the theorem on adapted norms gives them, and all heights are positive."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.high, self.left, self.right = (kernel.assume(each) for each in (above(), LEFT, RIGHT))
        self.side = kernel.assume(sp.Gt(G, 0, evaluate=False))
        self.symmetric, self.definite = kernel.assume(Symmetric(FORM)), kernel.assume(PositiveDefinite(FORM))
        self.least = kernel.modus_ponens(kernel.meaning(PositiveDefinite(FORM)), self.definite)
        self.below, self.contracts = kernel.assume(RHO < TOP), kernel.assume(contracts(V))
        self.apart = kernel.arithmetic([self.side], sp.Ne(G, 0))

    def up(self, at: Index) -> Proved:
        """``h_i > 0``."""
        return self.kernel.instantiate(self.high, at)

    def known(self, proved: Proved, *indices: Index) -> Proved:
        """Without the hypotheses that heights, and ``u^T v``, are not zero."""
        return self.kernel.supply(proved, *self.nonzero(*indices))

    def nonzero(self, *indices: Index) -> list[Proved]:
        """What vectors here divide by: ``u^T v`` and heights."""
        heights = [self.kernel.arithmetic([self.up(at)], sp.Ne(Tensor(height(at)), 0)) for at in indices]
        return [self.apart, *heights]

    def unit(self, here: Expression) -> Proved:
        """``|x_i|^2 = 1``."""
        kernel = self.kernel
        return kernel.arithmetic(
            [kernel.reduction(dot(here, here), one()), kernel.factors(one())],
            sp.Eq(Tensor(dot(here, here)), 1, evaluate=False),
        )

    def nonnegative(self, here: Expression, *indices: Index) -> Proved:
        """``z^T N z >= lambda_d(N) |z|^2 >= 0``."""
        kernel = self.kernel
        form = kernel.textbook(RAYLEIGH_BELOW, self.symmetric, A=FORM, z=here)
        known = [self.known(each, *indices) for each in (form, kernel.square(here))]
        length, value = Tensor(dot(here, here)), Tensor(dot(here, here, NORM))
        return kernel.arithmetic([*known, self.least], sp.And(value >= 0, length >= 0, value >= LEAST * length))

    # -- one token's part of the slope ---------------------------------------------------------------------------------

    def bracket(self, at: Index, other: Index) -> tuple[Expression, Proved]:
        """``r_i^T N (V x_j - (u^T V x_j) w_i) = h_j (r_i^T N V r_j - lambda D_i)``."""
        kernel, here, moved = self.kernel, rest(at), vector(STATE, other).applied(VALUE)
        lift, along = dot(vector("u"), vector(STATE, other), VALUE), dot(here, projected(at), NORM)
        whole = dot(here, moved, NORM) - lift * along
        cross, tail = dot(here, rest(other).applied(VALUE), NORM), dot(here, vector("v").applied(VALUE), NORM)
        base, h = dot(here, vector("v"), NORM), height(other)
        eigen = kernel.instantiate(kernel.part(self.right, RIGHT.parts[0]), here.applied(NORM), *self.nonzero(at))
        turned = [
            kernel.reduction(dot(here.applied(NORM), vector("v"), VALUE), tail, self.symmetric),
            kernel.reduction(dot(vector("v"), here.applied(NORM)), base, self.symmetric),
        ]
        push = [
            kernel.reduction(dot(here, moved, NORM), h * cross + h * PRODUCT**-1 * tail),
            kernel.total(h * cross, h * PRODUCT**-1 * tail),
            kernel.product(h, cross),
            kernel.product(h * PRODUCT**-1, tail),
            kernel.factors(h * PRODUCT**-1),
        ]
        value = Tensor(h) * Tensor(cross) + Tensor(h) / G * TOP * Tensor(base)
        tails = [self.known(each, at, other) for each in (*push, *turned, eigen)]
        first = kernel.arithmetic([*tails, self.apart], sp.Eq(Tensor(dot(here, moved, NORM)), value, evaluate=False))
        pulls = [
            kernel.reduction(along, size(at) + PRODUCT**-1 * base, self.symmetric),
            kernel.total(size(at), PRODUCT**-1 * base),
            kernel.product(PRODUCT**-1, base),
            kernel.factors(PRODUCT**-1),
        ]
        back = kernel.arithmetic(
            [*(self.known(each, at, other) for each in pulls), self.apart],
            sp.Eq(Tensor(along), Tensor(size(at)) + Tensor(base) / G, evaluate=False),
        )
        parts = [kernel.total(dot(here, moved, NORM), lift * along * -1), kernel.scaling(lift * along, -1)]
        parts += [kernel.product(lift, along)]
        known = [first, back, lifted(kernel, other), *(self.known(each, at, other) for each in parts), self.apart]
        said = sp.Eq(Tensor(whole), Tensor(h) * (Tensor(cross) - TOP * Tensor(size(at))), evaluate=False)
        return whole, kernel.arithmetic(known, said)

    def crossing(self, at: Index, other: Index) -> Proved:
        """``r_i^T N V r_j <= rho D_i`` where D_i is the largest."""
        kernel, moved = self.kernel, rest(other).applied(VALUE)
        largest = kernel.instantiate(kernel.assume(self.largest(at)), other)
        products = kernel.textbook(CAUCHY_SCHWARZ, self.symmetric, self.definite, A=FORM, y=rest(at), z=moved)
        taken = kernel.instantiate(self.contracts, rest(other), *self.nonzero(other))
        level = kernel.arithmetic([kernel.factors(one() * 0)], taken.proposition.left)
        shorter = kernel.modus_ponens(taken, level)
        signs = [self.nonnegative(rest(each), at, other) for each in (at, other)]
        known = [self.known(each, at, other) for each in (products, shorter, largest)]
        said = sp.Le(Tensor(dot(rest(at), moved, NORM)), RHO * Tensor(size(at)), evaluate=False)
        return kernel.arithmetic([*known, *signs], said)

    def largest(self, at: Index) -> Proposition:
        """No ``D_j`` is larger than ``D_i``."""
        other = Index("token", "b0")
        return every(sp.Le(Tensor(size(other)), Tensor(size(at)), evaluate=False), other)

    def term(self, at: Index, other: Index) -> tuple[Expression, Proved]:
        """What token j adds to the slope of D_i: ``(2 alpha_ij h_j/h_i)(r_i^T N V r_j - lambda D_i)``, and its bound."""
        kernel = self.kernel
        whole, value = self.bracket(at, other)
        scale = height(at) ** -1 * 2
        parts = [
            kernel.product(weight(kernel, at, other) * scale, whole),
            kernel.product(weight(kernel, at, other), scale),
            kernel.factors(scale),
        ]
        known = [*(self.known(each, at, other) for each in parts), value, self.crossing(at, other), self.below]
        known += [nonnegative_weight(kernel, at, other), self.up(at), self.up(other), self.nonnegative(rest(at), at)]
        pull = Tensor(weight(kernel, at, other)) * Tensor(height(other)) / Tensor(height(at))
        said = sp.Le(
            Tensor(weight(kernel, at, other) * scale * whole),
            -2 * (TOP - RHO) * pull * Tensor(size(at)),
            evaluate=False,
        )
        return weight(kernel, at, other) * scale * whole, kernel.arithmetic(known, said)

    # -- the slope of the largest ----------------------------------------------------------------------------------------

    def _rate(self, at: Index, term: Expression, other: Index) -> list[Proved]:
        """``D_i' = sum_j`` of the terms."""
        kernel = self.kernel
        rate = kernel.increment(size(at))
        value = rate.proposition.word.relation.rhs.expression
        written = kernel.reduction(value, term.summed(other), self.symmetric)
        return [self.known(each, at) for each in (rate, written)]

    def falls(self, at: Index) -> Proved:
        """``D_i' <= 0`` at the largest."""
        kernel, other = self.kernel, Index("token", "j")
        term, bound = self.term(at, other)
        known = [bound, self.below, nonnegative_weight(kernel, at, other), self.up(at), self.up(other)]
        known.append(self.nonnegative(rest(at), at))
        each = kernel.arithmetic(known, sp.Le(Tensor(term), 0, evaluate=False))
        total = kernel.summed(kernel.generalise(other, each))
        rates = self._rate(at, term, other)
        slope = rates[0].proposition.word.relation.lhs
        return kernel.arithmetic([*rates, total, kernel.factors(one() * 0)], sp.Le(slope, 0, evaluate=False))

    def heights(self, at: Index) -> Proved:
        """``delta <= h_i <= 1`` where ``D_i <= 1/e``."""
        kernel, x, u = self.kernel, vector(STATE, at), vector("u")
        unit = kernel.part(self.left, LEFT.parts[1])
        most = kernel.arithmetic(
            [kernel.textbook(EUCLIDEAN, y=u, z=x), unit, self.unit(x), self.up(at)], Tensor(height(at)) <= 1
        )
        corner = rest(at) - limit()
        sizes = [dot(projected(at), projected(at)), dot(rest(at), rest(at)), dot(limit(), limit()), dot(corner, corner)]
        parallel = [
            kernel.reduction(sizes[0] + sizes[3], sizes[1] * 2 + sizes[2] * 2),
            kernel.total(sizes[0], sizes[3]),
            kernel.total(sizes[1] * 2, sizes[2] * 2),
            *(kernel.scaling(each, 2) for each in sizes[1:3]),
            kernel.square(corner),
        ]
        wide = kernel.arithmetic(
            [self.known(each, at) for each in parallel], Tensor(sizes[0]) <= 2 * Tensor(sizes[1]) + 2 * Tensor(sizes[2])
        )
        exact = kernel.arithmetic(
            [self.known(kernel.factors(sizes[0]), at), self.unit(x), self.up(at)],
            sp.Eq(Tensor(sizes[0]), 1 / Tensor(height(at)) ** 2, evaluate=False),
        )
        ends = kernel.arithmetic(
            [self.known(kernel.factors(sizes[2])), kernel.part(self.right, RIGHT.parts[1]), self.side],
            sp.Eq(Tensor(sizes[2]), 1 / G**2, evaluate=False),
        )
        cap = kernel.instantiate(kernel.assume(within()), at)
        short = kernel.arithmetic(
            [self.nonnegative(rest(at), at), cap, self.least],
            sp.Le(Tensor(sizes[1]), 1 / (CAP * LEAST), evaluate=False),
        )
        far = kernel.arithmetic(
            [wide, exact, ends, short, self.up(at), self.side, self.least],
            sp.Le(1 / Tensor(height(at)) ** 2, 2 / (CAP * LEAST) + 2 / G**2, evaluate=False),
        )
        small = kernel.assume(SMALL)
        product = kernel.arithmetic(
            [far, small, self.up(at), self.side, self.least], Tensor(height(at)) ** 2 >= DELTA**2
        )
        return kernel.arithmetic(
            [product, most, self.up(at)], sp.And(Tensor(height(at)) <= 1, Tensor(height(at)) >= DELTA)
        )

    def decays(self, at: Index) -> Proved:
        """``D_i' <= -kappa D_i`` at the largest, where all ``D_j <= 1/e``."""
        kernel, other = self.kernel, Index("token", "j")
        term, bound = self.term(at, other)
        weighted = weight(kernel, at, other) * size(at)
        ratio = kernel.arithmetic(
            [self.heights(at), self.heights(other)],
            sp.Ge(Tensor(height(other)) / Tensor(height(at)), DELTA, evaluate=False),
        )
        known = [
            bound,
            ratio,
            self.below,
            nonnegative_weight(kernel, at, other),
            self.up(at),
            self.nonnegative(rest(at), at),
        ]
        known.append(self.known(kernel.product(weight(kernel, at, other), size(at)), at))
        each = kernel.arithmetic(known, sp.Le(Tensor(term), -KAPPA * Tensor(weighted), evaluate=False))
        total = kernel.summed(kernel.generalise(other, each))
        rates = self._rate(at, term, other)
        slope = rates[0].proposition.word.relation.lhs
        whole = self.known(kernel.reduction(weighted.summed(other) * -KAPPA, size(at) * -KAPPA), at)
        scaled = self.known(kernel.scaling(size(at), -KAPPA), at)
        return kernel.arithmetic(
            [*rates, total, whole, scaled], sp.Le(slope, -KAPPA * Tensor(size(at)), evaluate=False)
        )

    def gap(self, at: Index) -> Proved:
        """``|x_i - v|^2 <= (4/lambda_d(N)) D_i``."""
        kernel, x, v = self.kernel, vector(STATE, at), vector("v")
        ends = kernel.part(self.right, RIGHT.parts[1])
        near = Tensor(dot(x, v))
        cosine = kernel.arithmetic(
            [kernel.textbook(EUCLIDEAN, y=x, z=v), self.unit(x), ends], sp.And(near <= 1, near >= -1)
        )
        turned = kernel.reduction(dot(v, x), dot(x, v))
        exact = kernel.arithmetic(
            [kernel.factors(dot(x - v, x - v)), self.unit(x), ends, turned],
            sp.Eq(Tensor(dot(x - v, x - v)), 2 - 2 * near, evaluate=False),
        )
        h = Tensor(height(at))
        length = kernel.arithmetic(
            [
                self.known(kernel.factors(dot(rest(at), rest(at))), at),
                self.unit(x),
                ends,
                turned,
                self.up(at),
                self.side,
            ],
            sp.Eq(Tensor(dot(rest(at), rest(at))), 1 / h**2 - 2 * near / (h * G) + 1 / G**2, evaluate=False),
        )
        unit = kernel.part(self.left, LEFT.parts[1])
        most = kernel.arithmetic(
            [kernel.textbook(EUCLIDEAN, y=vector("u"), z=x), unit, self.unit(x), self.up(at)], h <= 1
        )
        scaled = kernel.arithmetic(
            [exact, length, cosine, self.up(at), self.side],
            Tensor(dot(x - v, x - v)) <= 4 * h**2 * Tensor(dot(rest(at), rest(at))),
        )
        close = kernel.arithmetic(
            [scaled, most, self.up(at), self.nonnegative(rest(at), at)],
            Tensor(dot(x - v, x - v)) <= 4 * Tensor(dot(rest(at), rest(at))),
        )
        said = sp.Le(Tensor(dot(x - v, x - v)), 4 / LEAST * Tensor(size(at)), evaluate=False)
        return kernel.arithmetic([close, self.nonnegative(rest(at), at), self.least], said)


def _bounded_by(kernel: Kernel, slope: Proved, setting: Pulled, region: Proposition, kappa: sp.Expr) -> Proved:
    """The comparison lemma for the largest D_i, in a region."""
    at = Index("token", "a0")
    falls = kernel.generalise(at, kernel.discharge(setting.largest(at), slope))
    level = kernel.arithmetic([setting.up(at)], sp.Ne(Tensor(height(at)), 0))
    smooth = [kernel.generalise(at, each) for each in (level, setting.apart)]
    inside = kernel.conjunction(falls, *smooth)
    along = kernel.generalise(T, at_time(kernel, kernel.discharge(region, inside)), since())
    return kernel.textbook(COMPARISON, along, setting.apart, f=size(J), kappa=kappa, region=region)


def _before(kernel: Kernel, always: Proved) -> Proved:
    """What holds for all times t >= 0 holds up to t."""
    sooner = kernel.instantiate(always, S, kernel.assume(sp.Ge(S, 0, evaluate=False)))
    return kernel.generalise(S, sooner, until(T, closed=True))


def stays_within(kernel: Kernel, setting: Pulled, positive: Proved, start: Proved) -> Proved:
    """``D_i(t) <= 1/e`` for all tokens and ``t >= 0``."""
    bound = _bounded_by(kernel, setting.falls(Index("token", "a0")), setting, above(), sp.Integer(0))
    here = kernel.instantiate(bound, T, kernel.assume(since()))
    found = kernel.instantiate(kernel.modus_ponens(here, _before(kernel, positive)), 1 / CAP)
    return kernel.generalise(T, kernel.modus_ponens(found, start), since())


def gap_decays(kernel: Kernel) -> Proved:
    """``|x_i(t) - v|^2 <= 4/(lambda_d(N) e) e^{-kappa t}`` for all tokens and ``t >= 0``."""
    setting, here = Pulled(kernel), kernel.assume(since())
    positive, start = heights_stay_positive(kernel), kernel.assume(within(sp.Integer(0)))
    inside = stays_within(kernel, setting, positive, start)
    region = Conjunction((above(), within()))
    bound = _bounded_by(kernel, setting.decays(Index("token", "a0")), setting, region, KAPPA)
    both = kernel.conjunction(*(kernel.instantiate(each, T, here) for each in (positive, inside)))
    before = _before(kernel, kernel.generalise(T, both, since()))
    found = kernel.instantiate(kernel.modus_ponens(kernel.instantiate(bound, T, here), before), 1 / CAP)
    sizes = kernel.instantiate(kernel.modus_ponens(found, start), I)
    near = kernel.modus_ponens(
        at_time(kernel, kernel.discharge(above(), setting.gap(I))), kernel.instantiate(positive, T, here)
    )
    apart = vector(STATE, I) - vector("v")
    said = sp.Le(Tensor(dot(apart, apart), T), GAP * sp.exp(-KAPPA * T), evaluate=False)
    close = kernel.arithmetic([near, sizes, setting.least], said)
    return kernel.generalise(T, kernel.generalise(I, close), since())


#: ``4/(lambda_d(N) e)``.
GAP = 4 / (LEAST * CAP)


def toward_eigenvector(kernel: Kernel) -> Proved:
    """``Converges(ConsensusAt(V, 1))``, with the numbers and vectors that the theorem on adapted norms gives."""
    setting, gaps = Pulled(kernel), gap_decays(kernel)
    rate = kernel.arithmetic([setting.below], sp.Gt(KAPPA, 0))
    some_time = kernel.textbook(DECAY, rate, kernel.arithmetic([setting.least], sp.Ne(LEAST, 0)), C=GAP, kappa=KAPPA)
    small = some_time.proposition.letter
    some = kernel.instantiate(some_time, small)
    late = some.proposition.letter
    after = kernel.assume(sp.Ge(T, late, evaluate=False))
    now = kernel.instantiate(kernel.instantiate(gaps, T, kernel.arithmetic([after], since())), I)
    under = kernel.instantiate(kernel.assume(some.proposition.body), T, after)
    apart = vector(STATE, I) - vector("v")
    close = kernel.arithmetic([now, under, setting.least], sp.Le(Tensor(dot(apart, apart), T), small, evaluate=False))
    every_token = kernel.generalise(T, kernel.generalise(I, close), after.proposition)
    there = kernel.witness(Exists(late, TRUE, every_token.proposition), late, every_token)
    found = kernel.generalise(small, kernel.exists_elimination(some, there))
    meaning = kernel.meaning(Converges(ConsensusAt(V, 1)))
    limit_of_all = kernel.witness(meaning.proposition.right, VectorLetter("v"), setting.right, found)
    return kernel.modus_ponens(meaning, limit_of_all)


def _numbers(kernel: Kernel, goes: Proved) -> Proved:
    """Without delta and e, which there are: delta is small enough, and 1/e bounds the finitely many ``D_i(0)``."""
    setting = Pulled(kernel)
    sum_of = 2 / (CAP * LEAST) + 2 / G**2
    ratio = 1 / (1 + sum_of)
    signs = [setting.least, setting.side]
    total = kernel.arithmetic(signs, sp.Gt(sum_of, 0, evaluate=False))
    positive = kernel.arithmetic([total, *signs], sp.Gt(ratio, 0, evaluate=False))
    small = kernel.arithmetic([total, *signs], SMALL.xreplace({DELTA: ratio}))
    delta = kernel.witness(Exists(DELTA, TRUE, proposition(SMALL)), ratio, small, positive)
    goes = kernel.exists_elimination(delta, goes)
    size_now = Tensor(size(I))
    lower = kernel.arithmetic([setting.nonnegative(rest(I), I)], sp.Gt(1 / (1 + size_now), 0, evaluate=False))
    at_start = kernel.modus_ponens(
        at_time(kernel, kernel.discharge(above(), kernel.generalise(I, lower)), 0), kernel.assume(above(sp.Integer(0)))
    )
    least = kernel.least(at_start, CAP)
    value = Tensor(size(I), sp.Integer(0))
    signs_now = kernel.modus_ponens(
        at_time(kernel, kernel.discharge(above(), kernel.generalise(I, setting.nonnegative(rest(I), I))), 0),
        kernel.assume(above(sp.Integer(0))),
    )
    bound = kernel.arithmetic(
        [kernel.instantiate(kernel.assume(least.proposition.body), I), kernel.instantiate(signs_now, I)],
        sp.Le(value, 1 / CAP, evaluate=False),
    )
    return kernel.exists_elimination(least, kernel.supply(goes, kernel.generalise(I, bound)))


def dominant_consensus(kernel: Kernel) -> Proved:
    """``Converges(ConsensusAt(V, 1))`` for tokens in the open hemisphere of a left top eigenvector."""
    goes = _numbers(kernel, toward_eigenvector(kernel))
    start = kernel.assume(above(sp.Integer(0)))
    goes = kernel.exists_elimination(kernel.least(start, LOW), goes)
    adapted = kernel.textbook(ADAPTED_NORM, kernel.given(NonPrincipalModulusBelow(V)), kernel.given(TOP > 0), A=V)
    pair = kernel.instantiate(adapted, VectorLetter("u"), kernel.assume(LEFT))
    norm = pair.proposition.body
    goes = kernel.exists_elimination(kernel.assume(norm.body), goes)
    goes = kernel.exists_elimination(kernel.assume(norm), goes)
    goes = kernel.exists_elimination(pair, goes)
    for_all = kernel.generalise(VectorLetter("u"), kernel.discharge(start.proposition, goes), LEFT)
    plane = kernel.unfold(kernel.given(InHemisphere(V, left=True)))
    normal = plane.proposition
    one_plane = kernel.instantiate(for_all, normal.letter, kernel.assume(normal.guard))
    return kernel.exists_elimination(plane, kernel.modus_ponens(one_plane, kernel.assume(normal.body)))
