"""GENERATED: how a word refines the plan of an instance, so that the word holds, or just misses.

``GENERATED(condition, plan)`` makes it hold; ``GENERATED(condition, plan, False)`` asks for a near miss.  A claim puts
the tokens where it speaks, and brings in its own conditions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from eigentoken.numerics.instances.plans import Contradiction, HemispherePlan, MatrixPlan, Plan
from eigentoken.numerics.instances.regions import starting_in
from eigentoken.theory.language import claims, conditions
from eigentoken.theory.language.places import Zero
from eigentoken.theory.language.proportion import MultipleOf
from eigentoken.theory.language.readings import GENERATED
from eigentoken.theory.language.regions import StateRegion

__all__: list[str] = []


def _demand(**asked: Any) -> Any:
    def generated_demand(condition: Any, plan: Plan, satisfy: bool = True) -> Plan:
        wanted = {part: _wanted(value, satisfy) for part, value in asked.items()}
        return plan.demand(condition.term, MatrixPlan(**wanted)).noting(condition, satisfy)

    return generated_demand


def _wanted(value: Any, satisfy: bool) -> Any:
    if isinstance(value, str):
        return value if satisfy else f"not {value}"
    return value if satisfy else not value


GENERATED.register(conditions.Symmetric)(_demand(symmetric=True))
GENERATED.register(conditions.PositiveDefinite)(_demand(sign="positive"))
GENERATED.register(conditions.PositiveSemidefinite)(_demand(sign="nonnegative"))
GENERATED.register(conditions.NegativeDefinite)(_demand(sign="negative"))
GENERATED.register(conditions.Nonsingular)(_demand(nonsingular=True))
GENERATED.register(conditions.SimpleTop)(_demand(simple_top=True))


@GENERATED.register(conditions.NonPrincipalModulusBelow)
def generated_non_principal_modulus_below(
    condition: conditions.NonPrincipalModulusBelow, plan: Plan, satisfy: bool = True
) -> Plan:
    asked = MatrixPlan(dominant=True, simple_top=True) if satisfy else MatrixPlan()
    return plan.demand(condition.term, asked).noting(condition, satisfy)


@GENERATED.register(conditions.Relation)
def generated_relation(condition: conditions.Relation, plan: Plan, satisfy: bool = True) -> Plan:
    relation = condition.relation if satisfy else sp.Not(condition.relation)
    if isinstance(relation, sp.Or):
        parts = tuple((conditions.Relation(part), True) for part in relation.args)
        return replace(plan.noting(condition, satisfy), alternatives=(*plan.alternatives, parts))
    for part in relation.args if isinstance(relation, sp.And) else (relation,):
        plan = plan.relate(part)
    return plan.noting(condition, satisfy)


@GENERATED.register(conditions.InHemisphere)
def generated_in_hemisphere(condition: conditions.InHemisphere, plan: Plan, satisfy: bool = True) -> Plan:
    asked = HemispherePlan(condition.normal, condition.left, satisfy)
    if plan.hemisphere is not None and plan.hemisphere.inside != satisfy:
        raise Contradiction("the tokens cannot lie both inside and outside a hemisphere")
    return replace(plan, hemisphere=asked).noting(condition, satisfy)


@GENERATED.register(conditions.NotAllEqual)
def generated_not_all_equal(condition: conditions.NotAllEqual, plan: Plan, satisfy: bool = True) -> Plan:
    return replace(plan, distinct=satisfy).noting(condition, satisfy)


@GENERATED.register(conditions.BoundedInTime)
def generated_bounded_in_time(condition: conditions.BoundedInTime, plan: Plan, satisfy: bool = True) -> Plan:
    if not satisfy:
        return plan.noting(condition, satisfy)
    return replace(plan, timed=tuple(dict.fromkeys((*plan.timed, condition.name)))).noting(condition, satisfy)


@GENERATED.register(conditions.UniformlyContinuous)
def generated_uniformly_continuous(condition: conditions.UniformlyContinuous, plan: Plan, satisfy: bool = True) -> Plan:
    """Nothing to do beyond what boundedness asks; a near miss is the square wave that is drawn anyway."""
    return plan.noting(condition, satisfy)


@GENERATED.register(conditions.Commute)
def generated_commute(condition: conditions.Commute, plan: Plan, satisfy: bool = True) -> Plan:
    pair = ((condition.first, condition.second),) if satisfy else ()
    return replace(plan, commute=(*plan.commute, *pair)).noting(condition, satisfy)


@GENERATED.register(MultipleOf)
def generated_multiple_of(condition: MultipleOf, plan: Plan, satisfy: bool = True) -> Plan:
    """The factor is drawn; a near miss is any other matrix."""
    pair = ((plan.own(condition.term), plan.own(condition.of)),) if satisfy else ()
    return replace(plan, multiples=(*plan.multiples, *pair)).noting(condition, satisfy)


@GENERATED.register(conditions.SharesTopEigenvector)
def generated_shares_top_eigenvector(
    condition: conditions.SharesTopEigenvector, plan: Plan, satisfy: bool = True
) -> Plan:
    shared = (*plan.shared_top, condition.name) if satisfy else plan.shared_top
    return replace(plan, shared_top=shared).noting(condition, satisfy)


@GENERATED.register(conditions.AllOf)
def generated_all_of(condition: conditions.AllOf, plan: Plan, satisfy: bool = True) -> Plan:
    if not satisfy:
        options = tuple((part, False) for part in condition.parts)
        return replace(plan, alternatives=(*plan.alternatives, options)).noting(condition, satisfy)
    for part in condition.parts:
        plan = GENERATED(part, plan)
    return plan


@GENERATED.register(conditions.AnyOf)
def generated_any_of(condition: conditions.AnyOf, plan: Plan, satisfy: bool = True) -> Plan:
    if satisfy:
        options = tuple((part, True) for part in condition.parts)
        return replace(plan, alternatives=(*plan.alternatives, options)).noting(condition, satisfy)
    for part in condition.parts:
        plan = GENERATED(part, plan, False)
    return plan


@GENERATED.register(conditions.Not)
def generated_not(condition: conditions.Not, plan: Plan, satisfy: bool = True) -> Plan:
    made: Plan = GENERATED(condition.part, plan, not satisfy)
    return made


# --- claims: where the tokens are to be ------------------------------------------------------------------------------


@GENERATED.register(
    claims.Equilibrium, claims.TwoCycle, claims.Stable, claims.Unstable, claims.LyapunovStable, claims.AttentionRank
)
def generated_claim_at_a_place(claim: Any, plan: Plan, satisfy: bool = True) -> Plan:
    made = plan.at(claim.place)
    rank = getattr(claim, "rank", None)
    return made if rank is None else made.noticing(sp.sympify(rank).free_symbols)


@GENERATED.register(claims.SpectrumIs)
def generated_spectrum_is(claim: claims.SpectrumIs, plan: Plan, satisfy: bool = True) -> Plan:
    symbols: set[Any] = set()
    for value, count in claim.classes:
        symbols |= sp.sympify(value).free_symbols | sp.sympify(count).free_symbols
    return plan.at(claim.place).noticing(symbols)


@GENERATED.register(claims.ForwardInvariant)
def generated_forward_invariant(claim: claims.ForwardInvariant, plan: Plan, satisfy: bool = True) -> Plan:
    if isinstance(claim.region, StateRegion):  # with the place in the plan the tokens would be turned to a simple basis
        return starting_in(claim.region, plan)
    return plan if plan.hemisphere is not None else plan.at(claim.region)


@GENERATED.register(
    claims.Vanishes,
    claims.Nonnegative,
    claims.Decreases,
    claims.Increases,
    claims.Diverges,
)
def generated_claim_about_every_state(claim: claims.Claim, plan: Plan, satisfy: bool = True) -> Plan:
    """Any state will do."""
    return plan


@GENERATED.register(claims.Converges, claims.AlmostEveryConverges)
def generated_converges_or_almost_every_converges(claim: Any, plan: Plan, satisfy: bool = True) -> Plan:
    """Any start will do; a split or an index in the name of the limit is drawn."""
    index = sp.sympify(getattr(claim.place, "index", 1))
    return plan.noticing(index.free_symbols)


@GENERATED.register(claims.When)
def generated_when(claim: claims.When, plan: Plan, satisfy: bool = True) -> Plan:
    made: Plan = GENERATED(claim.claim, GENERATED(claim.condition, plan))
    return made


@GENERATED.register(claims.Iff)
def generated_iff(claim: claims.Iff, plan: Plan, satisfy: bool = True) -> Plan:
    """Both sides of the condition are drawn: ``satisfy`` chooses one (used by the tests of a statement)."""
    made: Plan = GENERATED(claim.claim, GENERATED(claim.condition, plan, satisfy))
    return made


@GENERATED.register(conditions.IsIdentity)
def generated_is_identity(condition: conditions.IsIdentity, plan: Plan, satisfy: bool = True) -> Plan:
    """The matrix of every head is the identity; a near miss is any other matrix.

    ``c X = I`` fixes X, ``X X^T = I`` asks for an orthogonal matrix, ``X X = I`` for an involution.
    """
    if not satisfy:
        return plan.demand(condition.term, MatrixPlan()).noting(condition, satisfy)
    matrix, fixed = _solved(condition.term)
    return plan.demand(matrix, MatrixPlan(fixed=fixed)).noting(condition, satisfy)


def _solved(term: Any) -> tuple[Any, Any]:
    """A matrix and what it must be for the term to be the identity; the term itself where that is not known."""
    factor, inner = term.as_coeff_mmul() if term.is_MatMul else (sp.Integer(1), term)
    inner = inner.doit()
    bare = inner.arg if isinstance(inner, sp.Transpose | sp.Inverse) else inner
    if isinstance(bare, sp.MatrixSymbol) and factor.is_Rational and factor != 0:
        value = factor if isinstance(inner, sp.Inverse) else 1 / factor
        return bare, "identity" if value == 1 else value
    if factor == 1 and inner.is_MatMul and len(inner.args) == 2:
        first, second = inner.args
        if first == sp.Transpose(second).doit():
            return (first if isinstance(first, sp.MatrixSymbol) else second), "orthogonal"
    if (
        factor == 1
        and isinstance(inner, sp.MatPow)
        and isinstance(inner.args[0], sp.MatrixSymbol)
        and inner.args[1] == 2
    ):
        return inner.args[0], "involution"
    return term, "identity"


@GENERATED.register(conditions.ShareDominantPair)
def generated_share_dominant_pair(condition: conditions.ShareDominantPair, plan: Plan, satisfy: bool = True) -> Plan:
    """Symmetric heads with one top eigenvector, of which those are kept whose other eigenvalues are smaller in modulus."""
    shared = (*plan.shared_top, condition.name) if satisfy else plan.shared_top
    return replace(plan, shared_top=shared).noting(condition, satisfy)


@GENERATED.register(conditions.NoneOpposite)
def generated_none_opposite(condition: conditions.NoneOpposite, plan: Plan, satisfy: bool = True) -> Plan:
    """Tokens drawn at random are not opposite; a near miss has one that is."""
    return replace(plan, opposite=not satisfy).noting(condition, satisfy)


@GENERATED.register(conditions.NotAllZero)
def generated_not_all_zero(condition: conditions.NotAllZero, plan: Plan, satisfy: bool = True) -> Plan:
    return (plan if satisfy else plan.at(Zero())).noting(condition, satisfy)
