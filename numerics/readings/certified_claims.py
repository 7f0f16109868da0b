"""CERTIFIED for claims: is the claim true of this exact instance (and state)?  Exact arithmetic or balls only.

``fails`` refutes the claim for the instance.  ``holds`` speaks of the instance alone: of its state where the claim is
about states, of its point where it is about a point.  A limit claim is refuted by an exact start that stays elsewhere, or
by a certified attracting region elsewhere (:mod:`eigentoken.numerics.readings.attracting_regions`).
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from flint import acb, arb

from eigentoken.numerics.instances.exact_values import BITS, Case, NoValue, zero
from eigentoken.numerics.readings.author_observables import author_sign, is_authors
from eigentoken.numerics.readings.centre_forms import centre_form
from eigentoken.numerics.readings.certified_conditions import verdict_of
from eigentoken.numerics.readings.euclidean_orbits import known_orbit
from eigentoken.numerics.readings.exact_places import at_place, same_tokens
from eigentoken.numerics.readings.silent_linearizations import falling_form, hidden_growth, manifold_of_rest
from eigentoken.theory.classification.classify import Classification, classify
from eigentoken.theory.classification.jacobians import Jet, ball_setting
from eigentoken.theory.classification.sentences import moduli_note
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.language import claims, terms
from eigentoken.theory.language.observables import Observable
from eigentoken.theory.language.readings import CERTIFIED
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer, fails, holds, undecided
from eigentoken.theory.systems.system import Space, Time

__all__ = ["change_of", "classified", "handed_on", "observable_sign", "rate_sign", "value_of"]

#: The kind of certificate that a form on the centre directions is.
CENTRE_FORM = "stability/centre-form"


def classified(case: Case) -> Classification:
    """The exact classification of the state of the case, computed once."""
    if "classification" not in case._memory:
        case._memory["classification"] = classify(case.instance)
    found: Classification = case._memory["classification"]
    return found


def _elsewhere(place: Any, case: Case) -> Verdict | None:
    """Why nothing can be said: the tokens are not (known to be) at the place that the claim speaks of."""
    found = at_place(place, case)
    if found is True:
        return None
    said = "are not at" if found is False else "could not be decided to be at"
    return undecided(f"the tokens {said} {type(place).__name__}: the claim says nothing about this state")


@CERTIFIED.register(claims.Equilibrium)
def certified_equilibrium(claim: claims.Equilibrium, case: Case) -> Verdict:
    away = _elsewhere(claim.place, case)
    return classified(case).equilibrium if away is None else away


@CERTIFIED.register(claims.TwoCycle)
def certified_two_cycle(claim: claims.TwoCycle, case: Case) -> Verdict:
    found = classified(case)
    away = _elsewhere(claim.place, case)
    if away is not None:
        return away
    if found.kind == "undecided":
        return undecided("the class of the point is open")
    return verdict_of(found.kind == "2-cycle", "the point and its image form a 2-cycle")


@CERTIFIED.register(claims.Stable)
def certified_stable(claim: claims.Stable, case: Case) -> Verdict:
    away = _elsewhere(claim.place, case)
    return classified(case).stable if away is None else away


@CERTIFIED.register(claims.Unstable)
def certified_unstable(claim: claims.Unstable, case: Case) -> Verdict:
    away = _elsewhere(claim.place, case)
    if away is not None:
        return away
    found = classified(case)
    turns_over = found.kind == "2-cycle" and moduli_note(True) in found.notes  # x -> -x: a fixed point of -f
    if not found.equilibrium.is_holds and not turns_over:
        return undecided("the place is not an equilibrium of this instance: instability is not defined")
    if found.linearization == "unstable":
        return holds(found.stable.reason)
    if found.linearization == "stable":
        return fails(f"it is {found.stable.reason}")
    if found.linearization == "marginal":
        return fails(f"no eigenvalue is outside: {found.stable.reason}")
    return undecided(found.stable.reason)


@CERTIFIED.register(claims.LyapunovStable)
def certified_lyapunov_stable(claim: claims.LyapunovStable, case: Case) -> Verdict:
    away = _elsewhere(claim.place, case)
    if away is not None:
        return away
    found = classified(case)
    if found.equilibrium.is_fails and found.kind != "2-cycle":
        return fails(f"the place is not an equilibrium: {found.equilibrium.reason}")
    if found.stable.is_holds or found.linearization == "unstable":
        return found.stable
    growth = hidden_growth(case)
    if growth is not None:
        return fails(growth)
    rest = falling_form(case) or manifold_of_rest(case, found)
    return _by_centre_form(case, found) if rest is None else holds(rest)


def _by_centre_form(case: Case, found: Classification) -> Verdict:
    """A form on the centre directions of a marginal equilibrium decides, or nothing does."""
    form = centre_form(case.instance) if found.equilibrium.is_holds and found.linearization == "marginal" else None
    if form is None:
        return undecided("the linearization is silent about stability in the sense of Lyapunov")
    certificate = Certificate(
        kind=CENTRE_FORM,
        condition="the state is stable in the sense of Lyapunov",
        verdict=VerdictAnswer.FAILS if form.unstable else VerdictAnswer.HOLDS,
        data={"instance": case.instance.as_dict(), "k": case.k, "p": case.p, **form.as_data()},
    )
    return (fails if form.unstable else holds)(form.told, certificate=certificate)


@CERTIFIED.register(claims.SpectrumIs)
def certified_spectrum_is(claim: claims.SpectrumIs, case: Case) -> Verdict:
    away = _elsewhere(claim.place, case)
    if away is not None:
        return away
    claimed: list[tuple[Any, int | None]] = []
    try:
        for value, count in claim.classes:
            indexed = terms.ell in (sp.sympify(value).free_symbols | sp.sympify(count).free_symbols)
            for ell in [each for each in range(1, case.d + 1) if each != case.k] if indexed else [None]:
                claimed += [(value, ell)] * max(0, case.integer(count, ell))
    except NoValue as problem:
        return undecided(str(problem))
    seen = [entry for entry in classified(case).spectrum for _ in range(entry.multiplicity)]
    if not seen and not classified(case).equilibrium.is_holds:
        return undecided("the place is not an equilibrium of this instance")
    if len(seen) != len(claimed):
        return fails(f"{len(claimed)} eigenvalues are claimed, there are {len(seen)}")
    expected = [case.exact(value, ell) for value, ell in claimed]
    if any(value is None for value in expected) or any(entry.exact is None for entry in seen):
        return _enclosed_spectra(seen, claimed, case)
    left = [entry.exact for entry in seen]
    for value in expected:
        apart = [zero(sp.sympify(each) - value) for each in left]
        found = next((i for i, each in enumerate(apart) if each is True), None)
        if found is None:
            known = all(each is False for each in apart)
            return (
                fails(f"{value} is claimed and is not an eigenvalue")
                if known
                else undecided(f"{value} was not matched")
            )
        left.pop(found)
    return holds(f"all {len(expected)} eigenvalues agree exactly")


def _enclosed_spectra(seen: list[Any], claimed: list[tuple[Any, int | None]], case: Case) -> Verdict:
    """Two lists of enclosures: they differ where the claimed values cannot be matched with enclosures that they meet.

    Enclosures that meet prove no equality, so the claim is refuted or left open, never confirmed.
    """
    if any(entry.ball is None for entry in seen):
        return undecided("the eigenvalues have no enclosures here")
    for bits in BITS:
        try:
            balls = [case.ball(value, bits, ell) for value, ell in claimed]
        except NoValue as problem:
            return undecided(str(problem))
        meeting = [[acb(ball).overlaps(acb(entry.ball)) for entry in seen] for ball in balls]
        alone = next((number for number, row in enumerate(meeting) if not any(row)), None)
        if alone is not None:
            value = claimed[alone][0]
            return fails(f"{value} is claimed, and every eigenvalue is enclosed apart from it ({bits} bits)")
        if len(_matching(meeting)) < len(claimed):
            return fails(f"the claimed eigenvalues cannot be matched with the enclosed ones ({bits} bits)")
    return undecided("the eigenvalues have no closed form: the enclosures meet, which proves no equality")


def _matching(meeting: list[list[bool]]) -> dict[int, int]:
    """A largest matching of rows with columns, by augmenting paths."""
    row_of: dict[int, int] = {}

    def placed(row: int, tried: set[int]) -> bool:
        for column, meets in enumerate(meeting[row]):
            if meets and column not in tried:
                tried.add(column)
                if column not in row_of or placed(row_of[column], tried):
                    row_of[column] = row
                    return True
        return False

    for row in range(len(meeting)):
        placed(row, set())
    return row_of


@CERTIFIED.register(claims.AttentionRank)
def certified_attention_rank(claim: claims.AttentionRank, case: Case) -> Verdict:
    away = _elsewhere(claim.place, case)
    if away is not None:
        return away
    ranks = classified(case).attention_rank
    if not ranks or ranks[0] is None:
        return undecided("the rank of the attention matrix was not decided")
    wanted = case.integer(claim.rank)
    return verdict_of(ranks[0] == wanted, f"the attention matrix has rank {wanted} (it has {ranks[0]})")


# --- combined claims -------------------------------------------------------------------------------------------------


@CERTIFIED.register(claims.When)
def certified_when(claim: claims.When, case: Case) -> Verdict:
    given = CERTIFIED(claim.condition, case)
    if given.is_fails:
        return holds(f"vacuous: {given.reason}")
    found: Verdict = CERTIFIED(claim.claim, case)
    if found.is_holds or given.is_holds:
        return found
    return undecided(given.reason)


@CERTIFIED.register(claims.Iff)
def certified_iff(claim: claims.Iff, case: Case) -> Verdict:
    given, found = CERTIFIED(claim.condition, case), CERTIFIED(claim.claim, case)
    for each in (given, found):
        if each.is_undecided:
            return undecided(each.reason)
    if given.answer is found.answer:
        own = handed_on(found, VerdictAnswer.HOLDS)
        return holds(f"both {given.answer}: {found.reason}", certificate=own)
    said = "holds" if given.is_holds else "fails"
    reason = f"the condition {said} ({given.reason}) and the claim {found.answer} ({found.reason})"
    return fails(reason, certificate=handed_on(found, VerdictAnswer.FAILS))


def handed_on(verdict: Verdict, answer: VerdictAnswer) -> Certificate | None:
    """The certificate by a form on the centre directions, for a claim that is made of the claim of the verdict."""
    own = verdict.certificate
    if own is None or own.kind != CENTRE_FORM:
        return None
    return Certificate(own.kind, f"what is claimed of: {own.condition}", answer, data=own.data)


# --- observables -----------------------------------------------------------------------------------------------------


def observable_sign(observable: Observable, case: Case) -> tuple[int | None, str]:
    """The sign of the observable at the state, and a printed enclosure."""
    if is_authors(observable):
        return author_sign(observable, case, rate=False)
    for bits in BITS:
        with precision(bits):
            setting = ball_setting(case.instance, bits)
            parameters = {**setting.parameters, **_extra(case, bits)}
            value = observable(setting.algebra(), case.instance.system, parameters, setting.tokens, case.instance.mask)
            if value > 0:
                return 1, value.str(12)
            if value < 0:
                return -1, value.str(12)
            if value == 0:
                return 0, "0"
    return None, value.str(12)


def _extra(case: Case, bits: int) -> dict[str, Any]:
    from eigentoken.theory.exactness.balls import expression_ball

    return {name: [expression_ball(sp.sympify(entry), bits) for entry in vector] for name, vector in case.extra.items()}


def rate_sign(observable: Observable, case: Case) -> tuple[int | None, str]:
    """The sign of the change of the observable in one layer, or of its derivative along the flow."""
    if is_authors(observable):
        return author_sign(observable, case, rate=True)
    for bits in BITS:
        with precision(bits):
            value = change_of(observable, case, bits)
            if value > 0:
                return 1, value.str(12)
            if value < 0:
                return -1, value.str(12)
            if value == 0:
                return 0, "0"
    return None, value.str(12)


def value_of(observable: Observable, case: Case, bits: int) -> arb:
    """The observable at the state, in a ball; the precision is that of the caller."""
    setting = ball_setting(case.instance, bits)
    parameters = {**setting.parameters, **_extra(case, bits)}
    return observable(setting.algebra(), case.instance.system, parameters, setting.tokens, case.instance.mask)


def change_of(observable: Observable, case: Case, bits: int) -> arb:
    """The change of the observable in one layer, or its derivative along the flow, in a ball."""
    setting = ball_setting(case.instance, bits)
    parameters = {**setting.parameters, **_extra(case, bits)}
    moved = setting.advance()

    def ask(x: Any) -> Any:
        return observable(setting.algebra(), case.instance.system, parameters, x, case.instance.mask)

    if case.instance.system.time is Time.MAP:
        return ask(moved) - ask(setting.tokens)
    jets = tuple(
        tuple(Jet(a, {0: b}) for a, b in zip(token, velocity, strict=True))
        for token, velocity in zip(setting.tokens, moved, strict=True)
    )
    found = ask(jets)
    return found.slopes.get(0, 0 * setting.one) if isinstance(found, Jet) else 0 * setting.one


def _by_sign(found: tuple[int | None, str], good: tuple[int, ...], what: str) -> Verdict:
    sign, shown = found
    if sign is None:
        return undecided(f"{what} was not told from zero: {shown}")
    return holds(f"{what} is {shown} at this state") if sign in good else fails(f"{what} is {shown} at this state")


@CERTIFIED.register(claims.Vanishes)
def certified_vanishes(claim: claims.Vanishes, case: Case) -> Verdict:
    return _by_sign(observable_sign(claim.observable, case), (0,), claim.observable.name)


@CERTIFIED.register(claims.Nonnegative)
def certified_nonnegative(claim: claims.Nonnegative, case: Case) -> Verdict:
    return _by_sign(observable_sign(claim.observable, case), (1,) if claim.strict else (0, 1), claim.observable.name)


@CERTIFIED.register(claims.Decreases)
def certified_decreases(claim: claims.Decreases, case: Case) -> Verdict:
    return _by_sign(rate_sign(claim.observable, case), (-1, 0), f"the change of {claim.observable.name}")


@CERTIFIED.register(claims.Increases)
def certified_increases(claim: claims.Increases, case: Case) -> Verdict:
    return _by_sign(rate_sign(claim.observable, case), (0, 1), f"the change of {claim.observable.name}")


# --- limits ----------------------------------------------------------------------------------------------------------


@CERTIFIED.register(claims.Converges, claims.AlmostEveryConverges)
def certified_converges_or_almost_every_converges(claim: Any, case: Case) -> Verdict:
    from eigentoken.numerics.readings.attracting_regions import limit_verdict

    return limit_verdict(claim, case)


@CERTIFIED.register(claims.Diverges)
def certified_diverges(claim: claims.Diverges, case: Case) -> Verdict:
    found = classified(case)
    if found.equilibrium.is_holds:
        return fails("the start is an equilibrium, so no token moves (exact)")
    orbit = known_orbit(case)
    if orbit is not None and orbit.bounded:
        return fails(f"{orbit.told}: it stays bounded (exact)")
    if _decaying_consensus(case):
        return fails("equal tokens move by x' = B x, and every eigenvalue of B has a negative real part (balls)")
    if claim.every and _mirrored_with_zero(case):
        return fails(
            "the tokens are a set with -x for each x, so a token at 0 stays there: its velocity is odd (exact)"
        )
    return undecided("the start moves: nothing was certified about its limit")


def _decaying_consensus(case: Case) -> bool:
    """Equal tokens of a Euclidean flow, whatever the weights: they decay where B is in the open left half plane."""
    system, tokens = case.instance.system, case.instance.tokens
    if system.space is not Space.EUCLIDEAN or system.value is None or system.multihead or not system.standard:
        return False
    if any(same_tokens(token, tokens[0]) is not True for token in tokens):
        return False
    return any(all(value.real < 0 for value in case.eigenvalues(terms.matrix(system.value), bits)) for bits in BITS[:2])


def _mirrored_with_zero(case: Case) -> bool:
    """Full attention commutes with ``x -> -x`` and with permutations: a token at 0 of a mirrored state never moves.

    Scores that depend on the positions do not commute with permutations.
    """
    system = case.instance.system
    if case.instance.mask is not None or system.rotary is not None or system.space is not Space.EUCLIDEAN:
        return False
    if not system.standard:
        return False
    tokens = [tuple(token) for token in case.instance.tokens]
    if not any(all(entry == 0 for entry in token) for token in tokens):
        return False
    mirrored = [tuple(-entry for entry in token) for token in tokens]
    return sorted(tokens, key=str) == sorted(mirrored, key=str)
