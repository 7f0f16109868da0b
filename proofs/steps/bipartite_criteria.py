"""When a bipartite point is stable, in the kernel: PM-N3 for the map, CT-6 for the flow, PM-R10.

The letters: ``kappa = alpha lambda_k``, ``mu = alpha lambda_ell`` (a flow has no alpha), and the heights ``b_1 = tanh(s + t)``,
``b_2 = tanh(s - t)`` of the two sides.  The two roots that move the sides along ``v_ell`` have the sum T and the product D; what
is proved about T and D is proved for all real values of the letters, and then taken at the terms of the system.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import sympy as sp

from eigentoken.proofs.steps.consensus_criteria import other_index
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import (
    Atom,
    Conjunction,
    Disjunction,
    Equivalence,
    Negation,
    canonical,
    conjuncts,
    proposition,
    put,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import SpectrumIs
from eigentoken.theory.language.conditions import Condition, SimpleTop
from eigentoken.theory.language.terms import (
    Eigenvalue,
    ScoreAtEigenvector,
    SpectralNorm,
    alpha,
    d,
    ell,
    k,
    matrix,
    p,
    q,
    t_split,
)
from eigentoken.theory.systems.system import Time

__all__ = ["BipartiteCriterion"]

V, M = matrix("V"), matrix("M")
KAPPA, MU, TOP, B1, B2, X = sp.symbols("kappa mu mu_0 b_1 b_2 x", real=True)
BAR = (B1 + B2) / 2
SCORE_D = ScoreAtEigenvector(M, V, d)
NEGATIVE = sp.And(KAPPA < 0, B1 < 0, B2 < 0)
RANGE = (B1 > -1, B1 < 1, B2 > -1, B2 < 1)


@dataclass
class BipartiteCriterion:
    """The lemmas about T and D, and what they say at the terms of one system."""

    kernel: Kernel
    spectrum: SpectrumIs
    "The spectrum at ``BipartiteAt(V, k)`` in the formulas of the statement."
    shown: dict[tuple[str, sp.Basic], list[Proved]] = field(default_factory=dict)

    @property
    def flow(self) -> bool:
        return self.kernel.system is not None and self.kernel.system.time is Time.FLOW

    @property
    def scale(self) -> sp.Basic:
        return sp.Integer(1) if self.flow else alpha

    # -- lemmas about real numbers --------------------------------------------------------------------------------------

    @cached_property
    def pair(self) -> tuple[sp.Basic, sp.Basic]:
        """T and D in the letters."""
        if self.flow:
            return MU * (1 + BAR) - 2 * KAPPA * BAR, (KAPPA - MU) * (KAPPA * B1 * B2 - MU * BAR)
        one, two = 1 + KAPPA * B1, 1 + KAPPA * B2
        total = (1 + MU * (1 + B1) / 2) / one + (1 + MU * (1 + B2) / 2) / two
        return total, (1 + MU) * (1 + MU * (B1 + B2) / 2) / (one * two)

    @property
    def small(self) -> tuple[sp.Basic, ...]:
        """``|alpha lambda| < 1`` for a map."""
        return () if self.flow else (KAPPA > -1, KAPPA < 1, MU > -1, MU < 1)

    @property
    def inside(self) -> tuple[sp.Basic, ...]:
        total, product = self.pair
        if self.flow:
            return (total < 0, product > 0)
        return (total < 1 + product, total > -1 - product, product < 1)

    @property
    def outside(self) -> sp.Basic:
        total, product = self.pair
        if self.flow:
            return sp.Or(total > 0, product < 0)
        return sp.Or(total > 1 + product, total < -1 - product, product > 1)

    def lemma(self, hypotheses: tuple[sp.Basic, ...], said: sp.Basic, *letters: sp.Symbol) -> Proved:
        return self.kernel.lemma((*RANGE, *self.small, *hypotheses), said, KAPPA, MU, B1, B2, *letters)

    def _either(self) -> tuple[list[Proved], Proved]:
        """For ``kappa < mu``, ``mu > 0``: a root is outside, or ``kappa``, ``b_1`` and ``b_2`` are negative; in the letters."""
        kernel, (total, product) = self.kernel, self.pair
        crossing, other = (product < 0, total > 0) if self.flow else (total > 1 + product, product > 1)
        hypotheses = [kernel.assume(each) for each in (*RANGE, *self.small, MU > 0, KAPPA < MU)]
        form = kernel.assume(KAPPA * B1 * B2 <= MU * BAR)
        either = kernel.arithmetic(hypotheses, sp.Or(crossing, KAPPA * B1 * B2 <= MU * BAR))
        signs = kernel.discharge(form.proposition, kernel.arithmetic([*hypotheses, form], sp.Or(other, NEGATIVE)))
        wanted = Disjunction((proposition(self.outside), proposition(NEGATIVE)))
        return hypotheses, kernel.tautology([either, signs], wanted)

    def _closed(self, hypotheses: list[Proved], found: Proved) -> Proved:
        """``for all letters: hypotheses => what was found``."""
        kernel = self.kernel
        found = kernel.discharge(Conjunction(tuple(each.proposition for each in hypotheses)), found)
        for letter in (B2, B1, MU, KAPPA):
            found = kernel.generalise(letter, found)
        return found

    @cached_property
    def outside_or_negative(self) -> Proved:
        return self._closed(*self._either())

    @cached_property
    def negative_if_inside(self) -> Proved:
        hypotheses, either = self._either()
        inside = [self.kernel.assume(each) for each in self.inside]
        return self._closed([*hypotheses, *inside], self.kernel.arithmetic([either, *hypotheses, *inside], NEGATIVE))

    # -- at the terms of the system -----------------------------------------------------------------------------------------

    def heights(self, index: sp.Basic) -> tuple[sp.Basic, sp.Basic]:
        one, two = self.arguments(index)
        return sp.tanh(one), sp.tanh(two)

    def arguments(self, index: sp.Basic) -> tuple[sp.Basic, sp.Basic]:
        """``s + t`` and ``s - t``."""
        score = ScoreAtEigenvector(M, V, index)
        return score + t_split, score - t_split

    def lam(self, index: sp.Basic) -> sp.Basic:
        return self.scale * Eigenvalue(V, index)

    def known(self, place: sp.Basic, *along: sp.Basic) -> list[Proved]:
        """What is always true: the range of the heights at the place, and ``|alpha lambda_i| < 1`` for all of the indices."""
        sizes = () if self.flow else dict.fromkeys((place, *along))
        return [
            *self._once("range", place, self._ranges),
            *(each for i in sizes for each in self._once("size", i, self._small)),
        ]

    def _once(self, what: str, index: sp.Basic, make: Callable[[sp.Basic], list[Proved]]) -> list[Proved]:
        if (what, index) not in self.shown:
            self.shown[what, index] = make(index)
        return self.shown[what, index]

    def _ranges(self, index: sp.Basic) -> list[Proved]:
        return [self.kernel.arithmetic([], sp.And(height > -1, height < 1)) for height in self.heights(index)]

    def _small(self, index: sp.Basic) -> list[Proved]:
        norm = self.kernel.norm_of_symmetric(V)
        each = self.kernel.part(norm, norm.proposition.parts[1])
        step = self.kernel.given(alpha * SpectralNorm(V) < 1)
        bound = self.kernel.at(each, index, *self.index(index))
        return [self.kernel.arithmetic([bound, step], said) for said in (self.lam(index) > -1, self.lam(index) < 1)]

    def index(self, index: sp.Basic) -> list[Proved]:
        """What is known of an index: k and ell run to d, and 2 is at most d."""
        if index == k:
            return [self.kernel.given(sp.Ge(k, 1, evaluate=False)), self.kernel.given(sp.Le(k, d))]
        if index == ell:
            return [self.kernel.assume(sp.Ge(ell, 1, evaluate=False)), self.kernel.assume(sp.Le(ell, d))]
        return [self.kernel.given(d >= 2)] if index in (2, d - 1) else []

    def at(
        self, lemma: Proved, place: sp.Basic, along: sp.Basic, *premises: Proved, more: tuple[sp.Basic, ...] = ()
    ) -> Proved:
        """A lemma at the split on ``v_place``, for the direction ``v_along``."""
        values = (self.lam(place), self.lam(along), *self.heights(place), *more)
        return self.kernel.apply(lemma, values, *self.known(place, along), *premises)

    def scaled(self, relation: sp.Basic, *premises: Proved) -> Proved:
        """A relation between ``alpha lambda`` from one between ``lambda``."""
        return self.kernel.arithmetic(premises, relation)

    def found(self, index: sp.Basic) -> Proved:
        """The proved spectrum at the split on ``v_index``."""
        claim = put(Atom(self.spectrum), {k: sp.sympify(index)}).word if index != k else self.spectrum
        spectrum = self.kernel.spectrum(claim.place)
        bounds = self.known(index)
        _, *valid = spectrum.hypotheses
        norm = [] if self.flow else bounds[2:]
        index_known = self.index(index)
        stated = {canonical(each.proposition) for each in index_known}
        asked = [each for each in valid if canonical(each) not in stated]
        spectrum = self.kernel.supply(spectrum, *index_known, *(self.kernel.arithmetic(norm, each) for each in asked))
        return self.kernel.respelled(spectrum, claim, *norm)

    # -- the criteria -----------------------------------------------------------------------------------------------------

    def positive(self) -> Proved:
        return self.kernel.arithmetic([self.kernel.given(Eigenvalue(V, 1) > 0)], self.lam(1) > 0)

    def below_top(self, index: sp.Basic, *guards: Proved) -> Proved:
        """``alpha lambda_index < alpha lambda_1``, since the top eigenvalue is simple."""
        simple = self.kernel.unfold(self.kernel.given(SimpleTop(V)))
        return self.scaled(self.lam(index) < self.lam(1), self.kernel.at(simple, index, *guards))

    def ordered(self, earlier: sp.Basic, later: sp.Basic, *guards: Proved) -> Proved:
        """``alpha lambda_later <= alpha lambda_earlier``."""
        order = self.kernel.at(self.kernel.eigenvalue_order(V), earlier, *guards)
        return self.scaled(self.lam(later) <= self.lam(earlier), self.kernel.at(order, later, *guards))

    def side(self, height: sp.Basic) -> sp.Basic:
        """The moves within one side contract."""
        return -KAPPA * height < 0 if self.flow else sp.Abs(1 / (1 + KAPPA * height)) < 1

    def contracts(self, index: sp.Basic, side: int, *signs: Proved) -> Proved:
        """They do where ``kappa b > 0``, from the signs of both."""
        product = KAPPA * B1 > 0
        lemma = self.kernel.lemma((product,), self.side(B1), KAPPA, B1)
        values = (self.lam(index), self.heights(index)[side])
        given = [*signs, self.positive()] if index == 1 else list(signs)
        there = put(proposition(product), dict(zip((KAPPA, B1), values, strict=True)))
        return self.kernel.apply(lemma, values, self.kernel.arithmetic(given, there))

    def sign_of(self, index: sp.Basic, side: int, relation: sp.Basic, *premises: Proved) -> Proved:
        """The sign of a height from that of its argument: ``x > 0 => tanh x > 0``."""
        argument = self.arguments(index)[side]
        same = self.kernel.lemma((), sp.Equivalent(relation(X, 0), relation(sp.tanh(X), 0)), X)
        there = self.kernel.apply(same, (argument,))
        return self.kernel.modus_ponens(
            there, self.kernel.arithmetic(premises, put(proposition(relation(X, 0)), {X: argument}))
        )

    def _parts(self, proved: Proved) -> list[Proved]:
        return [self.kernel.part(proved, each) for each in conjuncts(proved.proposition)]

    def argument(self, index: sp.Basic, side: int, relation: sp.Basic, height: Proved) -> Proved:
        """The other way: from the sign of the height to that of its argument."""
        argument = self.arguments(index)[side]
        same = self.kernel.lemma((), sp.Equivalent(relation(X, 0), relation(sp.tanh(X), 0)), X)
        return self.kernel.modus_ponens(self.kernel.apply(same, (argument,)), height)

    def mean_form(
        self, index: sp.Basic, other: sp.Basic, scores: list[Proved], forward: bool, *premises: Proved
    ) -> Proved:
        """``mu bbar < kappa b_1 b_2`` and ``lambda_ell < lambda_k h``, with ``h = b_1 b_2/bbar``, say the same."""
        kernel = self.kernel
        score, (one, two) = ScoreAtEigenvector(M, V, index), self.heights(index)
        top, sine = sp.cosh(2 * score) - (p / q + q / p) / 2, sp.sinh(2 * score)
        equal = kernel.arithmetic(scores, sp.Eq(top / sine, 2 * one * two / (one + two)))
        C, Z, A, L, N = sp.symbols("C Z A L N", real=True)
        H = C / Z
        start = (A > 0, sp.Eq(H, 2 * B1 * B2 / (B1 + B2)))
        if index == 1:
            forms = (A * N * BAR < A * L * B1 * B2, N < L * H)
            signs: tuple[sp.Basic, ...] = (B1 + B2 > 0,)
        else:
            forms = (A * L * B1 * B2 < A * N * BAR, sp.Abs(L) * sp.Abs(H) > N)
            signs = (B1 < 0, B2 < 0, L < 0)
        first, second = forms if forward else forms[::-1]
        lemma = kernel.lemma((*start, *signs, first), second, C, Z, A, L, N, B1, B2)
        step = kernel.arithmetic([], sp.Gt(self.scale, 0))
        values = (top, sine, self.scale, Eigenvalue(V, index), Eigenvalue(V, other), one, two)
        return kernel.apply(lemma, values, equal, step, *premises)

    def first(self, criterion: Condition) -> Proved:
        """``Stable`` on ``v_1`` iff ``s > 0``, ``lambda_2 < lambda_1 h`` and (``q = 1`` or ``s > t``)."""
        kernel = self.kernel
        test = kernel.linear_stability(self.found(1))
        back = self._first_sufficient(test, kernel.assume(criterion))
        forth = self._first_necessary(test, criterion)
        both = kernel.iff(kernel.discharge(test.proposition.right, forth), kernel.discharge(criterion, back))
        return kernel.tautology([test, both], Equivalence(test.proposition.left, proposition(criterion)))

    def _first_necessary(self, test: Proved, criterion: Condition) -> Proved:
        kernel, wide, many = self.kernel, self.kernel.given(d >= 2), self.kernel.given(p >= q)
        stable = kernel.assume(test.proposition.right)
        side, pair = test.proposition.right.parts[1], test.proposition.right.parts[2]
        two = kernel.at(kernel.part(stable, pair), sp.Integer(2), wide)
        positive, below = self.positive(), self.below_top(sp.Integer(2), wide)
        lemma = self.lemma((KAPPA > 0, MU < KAPPA, *self.inside), sp.And(B1 + B2 > 0, MU * BAR < KAPPA * B1 * B2))
        signs = self.at(lemma, sp.Integer(1), sp.Integer(2), two, positive, below)
        score = kernel.arithmetic([many, *self._parts(signs)[:1]], ScoreAtEigenvector(M, V, 1) > 0)
        gap = self.mean_form(sp.Integer(1), sp.Integer(2), [many, score], True, *self._parts(signs))
        alone, several = kernel.assume(sp.Eq(q, 1)), kernel.assume(q >= 2)
        there = kernel.integers([wide, several], side.left)
        height = kernel.lemma(
            (*RANGE, *((KAPPA < 1,) if not self.flow else ()), KAPPA > 0, self.side(B2)), B2 > 0, KAPPA, B1, B2
        )
        values = (self.lam(1), *self.heights(sp.Integer(1)))
        contracts = kernel.modus_ponens(kernel.part(stable, side), there)
        second = kernel.apply(height, values, *self.known(sp.Integer(1)), positive, contracts)
        later = kernel.arithmetic(
            [self.argument(sp.Integer(1), 1, sp.Gt, second)], ScoreAtEigenvector(M, V, 1) > t_split
        )
        last = proposition(criterion).parts[2]
        either = kernel.by_cases(
            kernel.integers([], sp.Or(sp.Eq(q, 1), q >= 2)),
            (alone.proposition, kernel.tautology([alone], last)),
            (several.proposition, kernel.tautology([later], last)),
        )
        return kernel.tautology([score, gap, either], criterion)

    def _first_sufficient(self, test: Proved, given: Proved) -> Proved:
        kernel, wide, many = self.kernel, self.kernel.given(d >= 2), self.kernel.given(p >= q)
        one_side, two_side, pair = test.proposition.right.parts
        score, gap, either = (kernel.part(given, each) for each in given.proposition.parts)
        one, two = self.heights(sp.Integer(1))
        signs = kernel.arithmetic([score, many], sp.And(one + two > 0, one > 0))
        form = self.mean_form(sp.Integer(1), sp.Integer(2), [many, score], False, *self._parts(signs), gap)
        here = [kernel.assume(each) for each in conjuncts(pair.guard)]
        below = self.below_top(sp.Integer(2), wide)
        order = self.ordered(sp.Integer(2), ell, wide, *here)
        lemma = self.lemma(
            (KAPPA > 0, TOP < KAPPA, MU <= TOP, B1 + B2 > 0, TOP * BAR < KAPPA * B1 * B2), sp.And(*self.inside), TOP
        )
        inside = self.at(
            lemma, sp.Integer(1), ell, self.positive(), below, order, *self._parts(signs), form, more=(self.lam(2),)
        )
        moves = kernel.generalise(ell, inside, pair.guard)
        first = kernel.discharge(one_side.left, self.contracts(sp.Integer(1), 0, *self._parts(signs)))
        alone = kernel.assume(sp.Eq(q, 1))
        absurd = kernel.tautology([kernel.integers([alone, kernel.assume(two_side.left)], False)], two_side.right)
        later = kernel.assume(ScoreAtEigenvector(M, V, 1) > t_split)
        second = self.contracts(sp.Integer(1), 1, self.sign_of(sp.Integer(1), 1, sp.Gt, later))
        other = kernel.by_cases(either, (alone.proposition, absurd), (later.proposition, second))
        return kernel.tautology([first, kernel.discharge(two_side.left, other), moves], test.proposition.right)

    def last(self, criterion: Condition) -> Proved:
        """``Stable`` on ``v_d`` iff ``lambda_d < 0`` is simple, ``s < -t`` and ``lambda_1 < |lambda_d| |h|``."""
        kernel = self.kernel
        test = kernel.linear_stability(self.found(d))
        back = self._last_sufficient(test, kernel.assume(criterion))
        forth = self._last_necessary(test, criterion)
        both = kernel.iff(kernel.discharge(test.proposition.right, forth), kernel.discharge(criterion, back))
        return kernel.tautology([test, both], Equivalence(test.proposition.left, proposition(criterion)))

    def _last_necessary(self, test: Proved, criterion: Condition) -> Proved:
        kernel, wide, many = self.kernel, self.kernel.given(d >= 2), self.kernel.given(p >= q)
        pair = kernel.part(kernel.assume(test.proposition.right), test.proposition.right.parts[2])
        one = kernel.at(pair, sp.Integer(1), wide)
        below = self.below_top(d, wide)
        lemma = self.lemma((MU > 0, KAPPA < MU, *self.inside), KAPPA * B1 * B2 < MU * BAR)
        premises = (one, self.positive(), below)
        low = self.at(self.negative_if_inside, d, sp.Integer(1), *premises)
        signs = [*self._parts(low), self.at(lemma, d, sp.Integer(1), *premises)]
        negative = kernel.arithmetic(signs, Eigenvalue(V, d) < 0)
        score = kernel.arithmetic(
            [self.argument(d, 0, sp.Lt, self._of(signs, self.heights(d)[0] < 0))], -t_split > SCORE_D
        )
        both = kernel.arithmetic([score, many], SCORE_D < 0)
        form = self.mean_form(d, sp.Integer(1), [many, both], True, *signs, negative)
        near = kernel.at(pair, d - 1, wide)
        order = self.ordered(d - 1, d, wide)
        strict = self.lemma((KAPPA <= MU, *self.inside), KAPPA < MU)
        apart = kernel.arithmetic([self.at(strict, d, d - 1, near, order)], Eigenvalue(V, d) < Eigenvalue(V, d - 1))
        return kernel.tautology([negative, apart, score, form], criterion)

    def _of(self, proved: list[Proved], said: sp.Basic) -> Proved:
        return self.kernel.tautology(proved, said)

    def _last_sufficient(self, test: Proved, given: Proved) -> Proved:
        kernel, wide, many = self.kernel, self.kernel.given(d >= 2), self.kernel.given(p >= q)
        one_side, two_side, pair = test.proposition.right.parts
        negative, simple, score, gap = (kernel.part(given, each) for each in given.proposition.parts)
        balance = kernel.arithmetic([many], t_split >= 0)
        first = self.sign_of(d, 0, sp.Lt, score)
        second = self.sign_of(d, 1, sp.Lt, score, balance)
        both = kernel.arithmetic([score, balance], SCORE_D < 0)
        form = self.mean_form(d, sp.Integer(1), [many, both], False, first, second, negative, gap)
        here = [kernel.assume(each) for each in conjuncts(pair.guard)]
        order = self.ordered(sp.Integer(1), ell, *here)
        above = kernel.at(kernel.at(kernel.eigenvalue_order(V), ell, *here), d - 1, wide, *here)
        apart = self.scaled(self.lam(d) < self.lam(ell), above, simple)
        lemma = self.lemma(
            (KAPPA < 0, B1 < 0, B2 < 0, TOP > 0, MU <= TOP, KAPPA < MU, KAPPA * B1 * B2 < TOP * BAR),
            sp.And(*self.inside),
            TOP,
        )
        down = self.scaled(self.lam(d) < 0, negative)
        inside = self.at(lemma, d, ell, down, first, second, self.positive(), order, apart, form, more=(self.lam(1),))
        sides = [
            kernel.discharge(one_side.left, self.contracts(d, 0, down, first)),
            kernel.discharge(two_side.left, self.contracts(d, 1, down, second)),
        ]
        return kernel.tautology([*sides, kernel.generalise(ell, inside, pair.guard)], test.proposition.right)

    def between(self, condition: Condition) -> Proved:
        """``Unstable`` where ``lambda_d < lambda_k < lambda_1``: along ``v_1``, or else along ``v_d``."""
        kernel = self.kernel
        test = kernel.linear_instability(self.found(k))
        some = test.proposition.right.parts[2]
        below = kernel.assume(Eigenvalue(V, k) < Eigenvalue(V, 1))
        above = kernel.assume(Eigenvalue(V, k) > Eigenvalue(V, d))
        under = self.scaled(self.lam(k) < self.lam(1), below)
        over = self.scaled(self.lam(d) < self.lam(k), above)
        along_last = self.lemma((KAPPA < 0, B1 < 0, B2 < 0, MU < KAPPA), self.outside)
        either = self.at(self.outside_or_negative, k, sp.Integer(1), self.positive(), under)
        table = dict(zip((KAPPA, MU, B1, B2), (self.lam(k), self.lam(1), *self.heights(k)), strict=True))
        out, low = put(proposition(self.outside), table), put(proposition(NEGATIVE), table)
        first = kernel.witness(some, sp.Integer(1), other_index(kernel, below, V), kernel.assume(out))
        unequal = self._not_last(above)
        signs = [kernel.assume(each) for each in conjuncts(low)]
        found = self.at(along_last, k, d, *signs, over)
        second = kernel.witness(some, d, *unequal, found)
        shown = kernel.by_cases(either, (out, first), (low, second))
        unstable = kernel.modus_ponens(test, kernel.tautology([shown], test.proposition.right))
        return kernel.discharge(condition, unstable)

    def on_negative(self, nonnegative: Condition, small: Condition) -> Proved:
        """``Unstable`` where ``lambda_k < 0`` and (``s >= 0`` or ``|lambda_k| <= lambda_1``): along ``v_1`` (PM-R10)."""
        kernel, (total, product) = self.kernel, self.pair
        test = kernel.linear_instability(self.found(k))
        some = test.proposition.right.parts[2]
        negative = kernel.given(Eigenvalue(V, k) < 0)
        down = self.scaled(self.lam(k) < 0, negative)
        below = kernel.arithmetic([negative, kernel.given(Eigenvalue(V, 1) > 0)], Eigenvalue(V, k) < Eigenvalue(V, 1))
        one, two = self.heights(k)
        heights = kernel.arithmetic([kernel.assume(nonnegative), kernel.given(p >= q)], one + two >= 0)
        shorter = kernel.arithmetic([kernel.assume(small), negative], self.lam(1) >= -self.lam(k))
        leaves = sp.Or(total > 1 + product, product > 1)
        ways = []
        for condition, extra, shown in ((nonnegative, B1 + B2 >= 0, heights), (small, MU >= -KAPPA, shorter)):
            lemma = self.lemma((MU > 0, KAPPA < 0, extra), leaves)
            leaving = self.at(lemma, k, sp.Integer(1), self.positive(), down, shown)
            out = kernel.tautology([leaving], put(some.body, {ell: sp.Integer(1)}))
            found = kernel.witness(some, sp.Integer(1), other_index(kernel, below, V), out)
            ways.append((condition, kernel.modus_ponens(test, kernel.tautology([found], test.proposition.right))))
        either = Disjunction((proposition(nonnegative), proposition(small)))
        return kernel.discharge(either, kernel.by_cases(kernel.assume(either), *ways))

    def _not_last(self, above: Proved) -> list[Proved]:
        """``lambda_k > lambda_d`` gives ``k != d``; and d is an index."""
        kernel, same = self.kernel, sp.Eq(k, d)
        equal = kernel.equal_indices(kernel.assume(same), Eigenvalue(V, k))
        absurd = kernel.discharge(same, kernel.arithmetic([equal, above], False))
        return [kernel.integers([kernel.tautology([absurd], Negation(proposition(same)))], sp.Ne(d, k))]
