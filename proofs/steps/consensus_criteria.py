"""Stability of consensus in the kernel, for every map and flow on the sphere whose spectrum the engine derives.

The multipliers are those of the proved spectrum of the statement's own system; what is here is real arithmetic on them.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Equivalence, Negation, conjuncts, proposition, put
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Stable, Unstable
from eigentoken.theory.language.conditions import Relation, SimpleTop
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, alpha, d, ell, k

__all__ = ["consensus_threshold", "other_consensus_expands", "other_index", "principal_and_others", "step_below"]


def step_below(value: sp.Basic) -> Relation:
    """``alpha (|lambda_d| - lambda_1) < 2``."""
    return Relation(alpha * (sp.Abs(Eigenvalue(value, d)) - Eigenvalue(value, 1)) < 2)


def consensus_threshold(kernel: Kernel, value: sp.Basic, positive: Proved, top: Proved) -> Proved:
    """``Stable(v_1) <=> alpha (|lambda_d| - lambda_1) < 2`` for a map, from ``lambda_1 > 0`` and a simple top eigenvalue."""
    first, last = Eigenvalue(value, 1), Eigenvalue(value, d)
    below = step_below(value)
    fixed = kernel.arithmetic([positive], 1 + alpha * first > 0)
    test = kernel.linear_stability(kernel.supply(kernel.spectrum(ConsensusAt(value, 1)), fixed))
    inside = test.proposition.right
    common, apart = inside.parts
    simple, order = kernel.unfold(top), kernel.eigenvalue_order(value)
    here = [kernel.assume(each) for each in conjuncts(common.guard)]
    between = [kernel.at(simple, ell, *here), kernel.at(kernel.at(order, ell, *here), d, *here)]
    each = kernel.arithmetic([*between, positive, kernel.assume(below)], common.body)
    zero_sum = kernel.discharge(apart.left, kernel.arithmetic([positive], apart.right))
    enough = kernel.conjunction(
        kernel.generalise(ell, each.said(r"Below the threshold common moves contract."), common.guard),
        zero_sum.said(r"Zero-sum moves contract, since $\lambda_1 > 0$."),
    )
    one, several = kernel.assume(sp.Eq(d, 1)), kernel.assume(d >= 2)
    at_last = [kernel.at(kernel.assume(common), d, several), kernel.at(simple, d, several)]
    needed = kernel.by_cases(
        kernel.integers([], sp.Or(sp.Eq(d, 1), d >= 2)),
        (one.proposition, kernel.arithmetic([kernel.equal_indices(one, last), positive], below)),
        (several.proposition, kernel.arithmetic([*at_last, positive], below)),
    )
    back = kernel.supply(needed, kernel.part(kernel.assume(inside), common))
    threshold = kernel.iff(kernel.discharge(below, enough), kernel.discharge(inside, back))
    wanted = Equivalence(proposition(Stable(ConsensusAt(value, 1))), proposition(below))
    return kernel.tautology([test, threshold], wanted)


def other_index(kernel: Kernel, below: Proved, value: sp.Basic, index: sp.Symbol = k) -> Proved:
    """``lambda_k < lambda_1`` gives ``k != 1``."""
    same = sp.Eq(index, 1)
    equal = kernel.equal_indices(kernel.assume(same), Eigenvalue(value, index))
    absurd = kernel.discharge(same, kernel.arithmetic([equal, below], False))
    return kernel.integers([kernel.tautology([absurd], Negation(proposition(same)))], sp.Ne(1, index))


def other_consensus_expands(kernel: Kernel, value: sp.Basic, below: Proved, fixed: Proved | None = None) -> Proved:
    """``Unstable(v_k)`` from ``lambda_k < lambda_1`` (and ``1 + alpha lambda_k > 0`` for a map): the direction v_1 expands."""
    found = kernel.spectrum(ConsensusAt(value, k))
    found = found if fixed is None else kernel.supply(found, fixed)
    test = kernel.linear_instability(found)
    some = test.proposition.right.parts[0]
    premises = [below] if fixed is None else [fixed, below]
    expands = kernel.arithmetic(premises, put(some.body, {ell: sp.Integer(1)}))
    outside = kernel.witness(some, sp.Integer(1), other_index(kernel, below, value), expands)
    unstable = kernel.modus_ponens(test, kernel.tautology([outside], test.proposition.right))
    return kernel.part(unstable, Unstable(ConsensusAt(value, k)))


def principal_and_others(kernel: Kernel, value: sp.Basic) -> Proved:
    """Both claims of PM-L4, PM-T1 and PM-T3: the threshold at v_1, and instability of the other consensus fixed points."""
    top = kernel.given(SimpleTop(value))
    positive = kernel.given(Eigenvalue(value, 1) > 0)
    fixed = kernel.assume(1 + alpha * Eigenvalue(value, k) > 0)
    below = kernel.assume(Eigenvalue(value, k) < Eigenvalue(value, 1))
    elsewhere = sp.And(1 + alpha * Eigenvalue(value, k) > 0, Eigenvalue(value, k) < Eigenvalue(value, 1))
    return kernel.conjunction(
        consensus_threshold(kernel, value, positive, top),
        kernel.discharge(elsewhere, other_consensus_expands(kernel, value, below, fixed)),
    )
