"""Rules of dynamics: from spectra to stability, from rates to monotone quantities.

``Stable`` is linear asymptotic stability: every multiplier inside the unit circle (map), every eigenvalue in the left half plane
(flow).  A class of the spectrum with multiplicity zero says nothing, so each class enters under the guard that it is there.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.theory.calculus import Index
from eigentoken.theory.calculus.atoms import Dot
from eigentoken.theory.kernel.closed import compared
from eigentoken.theory.kernel.closed import positive as known_positive
from eigentoken.theory.kernel.observables import definition_of, expression_of, parameters_of
from eigentoken.theory.kernel.order import is_real_letter
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Atom,
    Conjunction,
    Disjunction,
    Equivalence,
    Exists,
    ForAll,
    Implication,
    Proposition,
    canonical,
    free_letters,
    proposition,
    put,
    relation_of,
    same,
)
from eigentoken.theory.kernel.proved import Proved, Refused, joined, prove
from eigentoken.theory.kernel.spectra import classes_of, engine, for_each_ell, grouped, has_root, heights, in_words
from eigentoken.theory.kernel.structure import squared_speed
from eigentoken.theory.kernel.tensors import STATE, Rate, Tensor, VectorLetter, matrices_of
from eigentoken.theory.kernel.words import index_range
from eigentoken.theory.language.claims import Decreases, Increases, Stable, Unstable
from eigentoken.theory.language.conditions import SimpleTop
from eigentoken.theory.language.observables import Observable
from eigentoken.theory.language.places import ConsensusAt, Place
from eigentoken.theory.language.terms import EigenvalueModulus, EigenvalueRealPart, ell, n
from eigentoken.theory.linearization.consensus_spectra import LAMBDA_L, TOKEN
from eigentoken.theory.systems.system import System, Time

__all__ = ["dissipates", "first_exit", "linear_instability", "linear_stability", "monotone", "stability_of_any"]


def _inside(values: tuple[Any, ...], flow: bool) -> Any:
    """All of them strictly inside: of a pair, by its sum T and product D, real or not (Schur-Cohn, Routh-Hurwitz)."""
    if len(values) == 2:
        total, product = values
        return (
            sp.And(total < 0, product > 0) if flow else sp.And(total < 1 + product, total > -1 - product, product < 1)
        )
    return values[0] < 0 if flow else sp.Abs(values[0]) < 1


def _outside(values: tuple[Any, ...], flow: bool) -> Any:
    """At least one of them strictly outside: not both on the inside or on the boundary."""
    if len(values) == 2:
        total, product = values
        return sp.Or(total > 0, product < 0) if flow else sp.Or(total > 1 + product, total < -1 - product, product > 1)
    return values[0] > 0 if flow else sp.Abs(values[0]) > 1


def _classes(found: Proved, real: tuple[Proved, ...], binder: type) -> tuple[Any, list[Proposition]]:
    """The place, and for each class that it is inside (or that one is outside), under the guard that the class is there."""
    place, classes = classes_of(found)
    flow = _is_flow(found.system)
    for_each_ell(real)
    known = {canonical(each.proposition) for each in real}
    parts: list[Proposition] = []
    for values, multiplicity in grouped(classes):
        for root in (each for value in values for each in value.atoms(sp.Pow) if has_root(each)):
            real_root = compared(sp.Ge, root.base, sp.Integer(0))
            if real_root != sp.true and canonical(proposition(real_root)) not in known:
                raise Refused(f"{root.base} >= 0 is not proved: the eigenvalue could be complex")
        said = proposition((_inside if binder is ForAll else _outside)(values, flow))
        if any(ell in value.free_symbols for value in values):
            said = binder(ell, Conjunction((index_range(ell), proposition(sp.Ne(ell, place.index)))), said)
        there = proposition(sp.Gt(multiplicity, 0))
        if there != TRUE:
            said = Implication(there, said) if binder is ForAll else Conjunction((there, said))
        parts.append(said)
    return place, parts


def _is_flow(system: System | None) -> bool:
    if system is None:
        raise Refused("a spectrum, and a trajectory, is that of a system")
    return system.time is Time.FLOW


def linear_stability(found: Proved, *real: Proved) -> Proved:
    """``Stable(place) <=> every class of the proved spectrum is inside``."""
    system, hypotheses = joined((found, *real))
    place, parts = _classes(found, real, ForAll)
    said = Equivalence(Atom(Stable(place)), Conjunction(tuple(parts)))
    return prove(said, "linear_stability", (found, *real), system, hypotheses)


def stability_of_any(place: Place, system: System) -> Proved:
    """``Stable`` at consensus on the first eigenvector of any value matrix X whose first eigenvalue is simple.

    Then ``lambda_1`` is real, since complex eigenvalues come in pairs with one real part.  The others may be complex, and X need
    not be diagonalisable: their real parts a and moduli m decide, ``|1 + alpha lambda|^2 = 1 + 2 alpha a + alpha^2 m^2``.
    With a causal mask the Jacobian is triangular in the tokens, and there is one class for each of them.
    """
    if not isinstance(place, ConsensusAt) or place.index != 1:
        raise Refused("the first eigenvector of the value matrix is what this is about")
    found, table = engine(place, system, masks=("full", "causal"))
    real, size = sp.symbols("a m", real=True)
    measures = {real: EigenvalueRealPart(place.term, ell), size: EigenvalueModulus(place.term, ell), **table}
    parts: list[Proposition] = []
    for entry in found.tangent:
        value = sp.sympify(found.expanded(entry.value))
        there = proposition(sp.Gt(in_words(entry.multiplicity, table), 0))
        inside: Proposition
        if entry.block is not None or not all(each.is_real for each in value.free_symbols):
            raise Refused(f"the classes of {system.name} at consensus are not of the kind that is read here")
        if LAMBDA_L in value.free_symbols:
            slope, rest = sp.diff(value, LAMBDA_L), value.subs(LAMBDA_L, 0)
            if slope.has(
                LAMBDA_L
            ):  # else it is a + b lambda: Re is a + b Re lambda, the square of the modulus as below
                raise Refused("the modulus of a class is no function of the real part and the modulus of an eigenvalue")
            square = rest**2 + 2 * rest * slope * real + slope**2 * size**2
            measured = sp.expand(rest + slope * real if _is_flow(system) else square)
            bound = sp.Lt(in_words(sp.factor(measured), measures), 0 if _is_flow(system) else 1)
            inside = proposition(bound)
            if TOKEN in value.free_symbols:
                inside = ForAll(TOKEN, index_range(TOKEN, 1, n), inside)
            inside = ForAll(ell, index_range(ell, 2), inside)
        else:
            inside = proposition(_inside((in_words(value, table),), _is_flow(system)))
        parts.append(inside if there == TRUE else Implication(there, inside))
    said = Equivalence(Atom(Stable(place)), Conjunction(tuple(parts)))
    needed = (Atom(SimpleTop(place.term)), *heights(found, table, sp.Gt))
    return prove(said, "stability_of_any", (), system, needed, detail=found)


def linear_instability(found: Proved, *real: Proved) -> Proved:
    """``Unstable(place) <=> some class of the proved spectrum is outside``."""
    system, hypotheses = joined((found, *real))
    place, parts = _classes(found, real, Exists)
    said = Equivalence(Atom(Unstable(place)), Disjunction(tuple(parts)))
    return prove(said, "linear_instability", (found, *real), system, hypotheses)


def first_exit(start: Proved, step: Proved) -> Proved:
    """A strict inequality that holds at time 0, and at t whenever it held on [0, t), holds for ever.

    ``P(t)`` is ``for all tokens: a(t) < b(t)`` (or one such inequality) along a flow, with continuous sides.  Were T the first
    time at which P fails, P would hold on [0, T), so at T by ``step``, and by continuity a little longer.
    """
    system, hypotheses = joined((start, step))
    said = step.proposition
    if not (isinstance(said, ForAll) and isinstance(said.body, Implication) and isinstance(said.body.left, ForAll)):
        raise Refused("the step must be: for all t >= 0, if P on [0, t) then P at t")
    t, before, claim = said.letter, said.body.left, said.body.right
    s = before.letter
    if not _times(t, s) or not _is_flow(system):
        raise Refused("t and s must be real times of a flow, of one sort")
    until = Conjunction((proposition(sp.Ge(s, 0, evaluate=False)), proposition(s < t)))
    if not (same(said.guard, proposition(sp.Ge(t, 0, evaluate=False))) and same(before.guard, until)):
        raise Refused("the step must be for all t >= 0, from P at all s with 0 <= s < t")
    if not same(before.body, put(claim, {t: s})) or not same(start.proposition, put(claim, {t: sp.Integer(0)})):
        raise Refused("the step and the start must speak of the same P")
    tokens = isinstance(claim, ForAll) and isinstance(claim.letter, Index) and claim.guard == TRUE
    relation = relation_of(claim.body if tokens else claim)
    if not isinstance(relation, sp.Lt | sp.Gt) or not _continuous(relation, t):
        raise Refused(
            "P must be a strict inequality between continuous functions of time, for each of finitely many tokens"
        )
    return prove(ForAll(t, said.guard, claim), "first_exit", (start, step), system, hypotheses)


def _times(t: Any, s: Any) -> bool:
    """Real letters of one sort, with or without a sign: no integers, no rationals, no other set of times with gaps."""
    return is_real_letter(t) and is_real_letter(s) and s.assumptions0 == t.assumptions0


def _continuous(term: Any, t: sp.Symbol) -> bool:
    """Polynomials and exponentials of t and of inner products of tokens at time t.  Matrices could depend on time."""
    if t not in sp.sympify(term).free_symbols:
        return not term.has(Rate)
    if isinstance(term, Tensor):
        steady = all(t not in each.free_symbols for each in term.coefficients())
        plain = all(isinstance(atom, Dot) and power > 0 for part, _ in term.key for atom, power in part.factors)
        return type(term) is Tensor and term.time == t and steady and plain and not matrices_of(term.key)
    if isinstance(term, sp.Pow) and not (term.exp.is_integer and term.exp.is_positive):
        return False
    known = isinstance(term, sp.Rel | sp.Add | sp.Mul | sp.Pow | sp.exp | sp.Symbol)
    return known and all(_continuous(each, t) for each in term.args)


def dissipates(observable: Observable, scale: Any, proved: Proved, *positive: Proved, weighted: bool = False) -> Proved:
    """``Rate(W) <= -c sum_i |f_i|^2`` with ``c > 0`` at every state gives ``Decreases(W)``, strictly off the equilibria.

    ``f_i`` is the velocity of a flow, ``x_i^+ - x_i`` of a map: where the state is no equilibrium, one of them is not zero.  With
    ``weighted`` the squares have the weights ``r_i > 0``, the norms that a map divides by.
    """
    if proved.system is None:
        raise Refused("a rate is that of a system")
    system, hypotheses = joined((proved, *positive))
    known = {canonical(each.proposition) for each in positive}
    if (
        not known_positive(sp.sympify(scale))
        and canonical(proposition(compared(sp.Gt, sp.sympify(scale), sp.Integer(0)))) not in known
    ):
        raise Refused(f"the scale must be positive, got {scale}")
    if sp.sympify(scale).has(Tensor):
        raise Refused(f"the scale must be one number for all states, got {scale}")
    speed = Tensor(squared_speed(proved.system, weighted))
    wanted = proposition(sp.Le(Rate(expression_of(observable)), -scale * speed, evaluate=False))
    if not same(proved.proposition, wanted):
        raise Refused(f"the rate of {observable.name} is not bounded by the squared speed: {proved.proposition!r}")
    wholly = _at_every_state(observable, proved.system, hypotheses)
    return prove(Atom(Decreases(observable, strict=True)), "dissipates", (proved, *positive), system, wholly)


def _at_every_state(
    observable: Observable, system: System, hypotheses: tuple[Proposition, ...]
) -> tuple[Proposition, ...]:
    """The hypotheses of what is known at every state and for all tokens, with the definition of the observable."""
    arbitrary = {VectorLetter(STATE), *expression_of(observable).free_indices}
    declared = {each.name for each in (*system.parameters, *system.head_parameters)}
    strange = parameters_of(observable) - declared
    if strange:
        raise Refused(f"{observable.name} speaks of {', '.join(sorted(strange))}, which {system.name} does not have")
    if any(arbitrary & free_letters(each) for each in hypotheses):
        raise Refused("the rate is known under a hypothesis about the state: it must hold at every state")
    return (*hypotheses, *map(proposition, definition_of(observable)))


def monotone(observable: Observable, proved: Proved) -> Proved:
    """``Rate(W) <= 0`` at every state gives ``Decreases(W)``; ``>= 0`` gives ``Increases(W)``."""
    if proved.system is None:
        raise Refused("a rate is that of a system")
    rate = Rate(expression_of(observable))
    for relation, word in ((sp.Le, Decreases), (sp.Ge, Increases)):
        if same(proved.proposition, proposition(relation(rate, 0))):
            hypotheses = _at_every_state(observable, proved.system, proved.hypotheses)
            return prove(Atom(word(observable)), "monotone", (proved,), proved.system, hypotheses)
    raise Refused(f"the sign of the rate of {observable.name} is what is needed, got {proved.proposition!r}")
