"""The re-check's own table of what a claim is on one exact instance: True, False, or None where there is no method.

``CLAIM_TRUTH(claim, look, data)``; ``data`` is that of the certificate, and not trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp
from mpmath import iv

from eigentoken.numerics.recheck.refutations import complex_numbers  # noqa: F401 - fills its rows of EXACT_NUMBER
from eigentoken.numerics.recheck.refutations.centre_terms import decided_on_the_centre
from eigentoken.numerics.recheck.refutations.condition_truths import CONDITION_TRUTH, EXACT_NUMBER
from eigentoken.numerics.recheck.refutations.exact_motions import (
    falls_to_zero_or_stays,
    rests_on_a_manifold,
    turns_away,
)
from eigentoken.numerics.recheck.refutations.flows import slope_along
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.interval_recheck import interval, interval_jacobian, intrinsic_charpoly
from eigentoken.numerics.recheck.refutations.limits import left_region, limit_truth, stays_bounded
from eigentoken.numerics.recheck.refutations.region_truths import greater_interval
from eigentoken.theory.language import claims, terms
from eigentoken.theory.language.contractions import ContractsInBall, HyperplaneLimits
from eigentoken.theory.language.opposites_and_rates import Decays, Fails
from eigentoken.theory.language.readings import Reading
from eigentoken.theory.systems.algebra import LoopAlgebra
from eigentoken.theory.systems.system import Time

__all__ = ["CLAIM_TRUTH"]

Data = Mapping[str, Any]

CLAIM_TRUTH: Reading[bool | None] = Reading("truth", "is it true of this instance, by the second arithmetic?")


def _no_jacobian(look: IndependentInstance) -> bool:
    """With positions in the scores there is no closed form of the Jacobian here."""
    return look.instance.system.rotary is not None


@CLAIM_TRUTH.register(claims.Claim)
def truth_unknown(word: claims.Claim, look: IndependentInstance, data: Data) -> None:
    """No method."""
    return


@CLAIM_TRUTH.register(claims.When)
def truth_when(word: claims.When, look: IndependentInstance, data: Data) -> bool | None:
    given = CONDITION_TRUTH(word.condition, look, {})
    return None if given is None else True if not given else CLAIM_TRUTH(word.claim, look, data)


@CLAIM_TRUTH.register(claims.Iff)
def truth_iff(word: claims.Iff, look: IndependentInstance, data: Data) -> bool | None:
    given, inner = CONDITION_TRUTH(word.condition, look, {}), CLAIM_TRUTH(word.claim, look, data)
    return None if given is None or inner is None else given == inner


@CLAIM_TRUTH.register(claims.Equilibrium)
def truth_equilibrium(word: claims.Equilibrium, look: IndependentInstance, data: Data) -> bool | None:
    return look.at_rest()


@CLAIM_TRUTH.register(claims.Diverges)
def truth_diverges(word: claims.Diverges, look: IndependentInstance, data: Data) -> bool | None:
    return stays_bounded(look, word.every)


@CLAIM_TRUTH.register(claims.Stable)
def truth_stable(word: claims.Stable, look: IndependentInstance, data: Data) -> bool | None:
    if _no_jacobian(look):
        return None
    if not look.two_cycle():
        return look.stable()
    return False if look.cycle_outside() else look.cycle_inside()


@CLAIM_TRUTH.register(claims.Unstable)
def truth_unstable(word: claims.Unstable, look: IndependentInstance, data: Data) -> bool | None:
    if _no_jacobian(look):
        return None
    return look.cycle_outside() if look.two_cycle() else look.unstable()


@CLAIM_TRUTH.register(claims.LyapunovStable)
def truth_lyapunov_stable(word: claims.LyapunovStable, look: IndependentInstance, data: Data) -> bool | None:
    """The linearization denies it, or gives more; where it is silent, motions that are known exactly."""
    if _no_jacobian(look):
        return None
    if look.at_rest() is False:
        turns_over = look.two_cycle()
        if turns_over:
            outside = look.cycle_outside()
            return False if outside else True if look.cycle_inside() else None
        return None if turns_over is None and look.instance.system.time is Time.MAP else False
    if look.unstable() or turns_away(look):
        return False
    if look.stable() or rests_on_a_manifold(look) or falls_to_zero_or_stays(look):
        return True
    return decided_on_the_centre(look, data["data"]) if data.get("kind") == "stability/centre-form" else None


@CLAIM_TRUTH.register(claims.SpectrumIs)
def truth_spectrum_is(word: claims.SpectrumIs, look: IndependentInstance, data: Data) -> bool | None:
    """Claimed values against the exact characteristic polynomial on the tangent spaces."""
    polynomial = None if _no_jacobian(look) or not look.at_rest() else intrinsic_charpoly(look.instance)
    if polynomial is None:
        return None
    z = polynomial.gen
    claimed = sp.Poly(1, z)
    for value, count in word.classes:
        for ell in look.indices(sp.Tuple(sp.sympify(value), sp.sympify(count))):
            numbers = sp.sympify(value).atoms(terms.MatrixNumber)
            values = {number: EXACT_NUMBER(number, look, ell) for number in numbers}
            if any(each is None for each in values.values()):
                return None
            number = sp.simplify(sp.sympify(value).xreplace(values).subs(look.sizes(ell)))
            times = sp.sympify(count).subs(look.sizes(ell))
            if not number.is_Rational or not times.is_Integer or times < 0:
                return None
            claimed = claimed * sp.Poly(z - number, z) ** int(times)
    return bool(claimed.monic() == polynomial.monic())


@CLAIM_TRUTH.register(claims.TwoCycle)
def truth_two_cycle(word: claims.TwoCycle, look: IndependentInstance, data: Data) -> bool | None:
    return None if _no_jacobian(look) else look.two_cycle()


@CLAIM_TRUTH.register(claims.AttentionRank)
def truth_attention_rank(word: claims.AttentionRank, look: IndependentInstance, data: Data) -> bool | None:
    rank = None if _no_jacobian(look) else _attention_rank(look)
    return None if rank is None else bool(rank == sp.sympify(word.rank).subs(look.sizes()))


def _attention_rank(look: IndependentInstance) -> int | None:
    system = look.instance.system
    if system.multihead:
        return None  # each head has weights of its own
    score = None if system.score is None else look.named(system.score)
    tokens = [sp.Matrix(token) for token in look.instance.tokens]
    seen = look.instance.mask or [[1] * len(tokens)] * len(tokens)
    rows = []
    for x, mask in zip(tokens, seen, strict=True):
        raw = [
            sp.Integer(0) if not sees else sp.Integer(1) if score is None else sp.exp((x.T * score * y)[0, 0])
            for y, sees in zip(tokens, mask, strict=True)
        ]
        rows.append([sp.simplify(each / sum(raw)) for each in raw])
    return int(sp.Matrix(rows).rank(simplify=True))


@CLAIM_TRUTH.register(claims.Converges)
def truth_converges(word: claims.Converges, look: IndependentInstance, data: Data) -> bool | None:
    return limit_truth(look, word, data)


@CLAIM_TRUTH.register(claims.AlmostEveryConverges)
def truth_almost_every_converges(
    word: claims.AlmostEveryConverges, look: IndependentInstance, data: Data
) -> bool | None:
    return None if _no_jacobian(look) else limit_truth(look, word, data)


@CLAIM_TRUTH.register(claims.ForwardInvariant)
def truth_forward_invariant(word: claims.ForwardInvariant, look: IndependentInstance, data: Data) -> bool | None:
    return None if _no_jacobian(look) else left_region(look, word, data)


@CLAIM_TRUTH.register(Fails)
def truth_fails(word: Fails, look: IndependentInstance, data: Data) -> bool | None:
    inner = CLAIM_TRUTH(word.claim, look, data)
    return None if inner is None else not inner


@CLAIM_TRUTH.register(Decays)
def truth_decays(word: Decays, look: IndependentInstance, data: Data) -> bool | None:
    """The change plus the rate times the value, in intervals; the rate by sympy."""
    rate = sp.sympify(word.rate)
    values = {number: EXACT_NUMBER(number, look, None) for number in rate.atoms(terms.MatrixNumber)}
    if _no_jacobian(look) or any(each is None for each in values.values()):
        return None
    exact = rate.xreplace(values).subs(look.sizes())
    if not exact.is_number or not exact.is_real:
        return None
    seen = _Observed(look)
    return _sign(-(seen.change(word.observable) + interval(exact) * seen.value(word.observable)))


@CLAIM_TRUTH.register(ContractsInBall)
def truth_contracts_in_ball(word: ContractsInBall, look: IndependentInstance, data: Data) -> bool | None:
    """Inside the ball, by intervals, and the change of ``R^2`` there; outside, or untold, nothing is confirmed."""
    vector = look.eigenvector(look.matrix(word.term), 1)
    if vector is None:
        return None
    tokens = [sp.Matrix(list(token)) for token in look.instance.tokens]
    heights = [(vector.T * token)[0, 0] for token in tokens]
    size = (vector.T * vector)[0, 0]
    if not all(interval(each * heights[0]).a > 0 for each in heights):
        return None
    pairs = zip(tokens, heights, strict=True)
    square = sum((size * (token.T * token)[0, 0] / height**2 - 1 for token, height in pairs), sp.Integer(0))
    below, decays = word.at(list(vector), sp.simplify(square), look.instance.system)
    numbers = {number: EXACT_NUMBER(number, look, None) for number in below.atoms(terms.MatrixNumber)}
    if any(each is None for each in numbers.values()):
        return None
    room = interval((below.lts - below.gts).xreplace(numbers).subs(look.sizes()))
    return truth_decays(decays, look, data) if room.b < 0 else None


@CLAIM_TRUTH.register(HyperplaneLimits)
def truth_hyperplane_limits(word: HyperplaneLimits, look: IndependentInstance, data: Data) -> None:
    """Nothing certifies a limit of rescaled coordinates, and nothing is confirmed."""


# --- observables -----------------------------------------------------------------------------------------------------


@CLAIM_TRUTH.register(claims.Vanishes)
def truth_vanishes(word: claims.Vanishes, look: IndependentInstance, data: Data) -> bool | None:
    value = _Observed(look).value(word.observable)
    return False if value.a > 0 or value.b < 0 else None


@CLAIM_TRUTH.register(claims.Nonnegative)
def truth_nonnegative(word: claims.Nonnegative, look: IndependentInstance, data: Data) -> bool | None:
    if _no_jacobian(look):
        return None
    value = _Observed(look).value(word.observable)
    return False if word.strict and value.a == 0 and value.b == 0 else _sign(value)


@CLAIM_TRUTH.register(claims.Decreases)
def truth_decreases(word: claims.Decreases, look: IndependentInstance, data: Data) -> bool | None:
    return None if _no_jacobian(look) else _sign(-_Observed(look).change(word.observable))


@CLAIM_TRUTH.register(claims.Increases)
def truth_increases(word: claims.Increases, look: IndependentInstance, data: Data) -> bool | None:
    return None if _no_jacobian(look) else _sign(_Observed(look).change(word.observable))


def _sign(value: Any) -> bool | None:
    return True if value.a > 0 else False if value.b < 0 else None


class _Observed:
    """Observables of one instance in intervals, and their change along the flow or over one layer."""

    def __init__(self, look: IndependentInstance) -> None:
        self.instance = look.instance
        self.scalars = LoopAlgebra(iv.exp, iv.sqrt, iv.mpf(1), greater=greater_interval)
        self.parameters = {name: self._numbers(value) for name, value in self.instance.parameters.items()}
        self.state = [[interval(entry) for entry in token] for token in self.instance.tokens]

    def _numbers(self, value: Any) -> Any:
        if isinstance(value, tuple) and value and isinstance(value[0], Mapping):
            return [{name: self._numbers(each) for name, each in head.items()} for head in value]
        return [[interval(entry) for entry in row] for row in value] if isinstance(value, tuple) else interval(value)

    def value(self, observable: Any, state: Any = None) -> Any:
        at = self.state if state is None else state
        return observable(self.scalars, self.instance.system, self.parameters, at, self.instance.mask)

    def change(self, observable: Any) -> Any:
        image, _ = interval_jacobian(self.instance)
        if self.instance.system.time is Time.MAP:
            return self.value(observable, image) - self.value(observable)
        return slope_along(observable, self.instance, self.parameters, self.state, image)
