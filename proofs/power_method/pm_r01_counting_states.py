"""PM-R1: which states on an eigenvector are equilibria; each token has two choices, and states are paired by the sign.

Reference: Li-Altafini, Remark 1.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_l01_oja_fixed_points import CLAIMS as FIXED_POINTS
from eigentoken.proofs.power_method.pm_l01_oja_fixed_points import FLIPPED, flipped
from eigentoken.proofs.power_method.pm_l12_jacobian_at_bipartite import LINE, ON_THE_LINE, sigma
from eigentoken.proofs.power_method.pm_r07_antipodal_equilibria import PAIRS, PM_R7
from eigentoken.proofs.power_method.pm_r08_extrinsic_at_bipartite import UNIT
from eigentoken.proofs.power_method.symbols import V, k, n, p, q
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.point_checks import signed_states
from eigentoken.proofs.steps.equations import TOKEN, Z, for_every
from eigentoken.theory.calculus import dot, one, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import (
    Conjunction,
    Disjunction,
    Implication,
    Negation,
    Proposition,
    proposition,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement

_Z, _V, _X = vector(Z.name), vector(LINE.name), vector("x", TOKEN)


def _is(sign: int) -> Proposition:
    """``x_i = sign v``."""
    return for_every(sp.Eq(Tensor(dot(_Z, _X)), Tensor(dot(_Z, _V) * sign), evaluate=False), Z)


#: A token on the line of a unit v is at v or at -v, and not at both.
CHOICES = Conjunction((Disjunction((_is(1), _is(-1))), Negation(Conjunction((_is(1), _is(-1))))))
SIGNED = Conjunction((ON_THE_LINE, UNIT))
TWO = for_every(Implication(SIGNED, for_every(CHOICES, TOKEN)), LINE)
#: No token is its own negative.
APART = for_every(Negation(for_every(sp.Eq(Tensor(dot(_Z, _X)), Tensor(-dot(_Z, _X)), evaluate=False), Z)), TOKEN)
CLAIMS = (*FIXED_POINTS[:2], *map(Formula, (TWO, PAIRS, APART)))


def _choices(kernel: Kernel) -> Proved:
    """``(v^T x_i)^2 = 1``: the sign is 1 or -1; and v is not zero."""
    place = kernel.assume(SIGNED)
    line, unit = kernel.instantiate(kernel.part(place, ON_THE_LINE), TOKEN), kernel.part(place, UNIT)
    sign = Tensor(sigma(TOKEN))
    length = (kernel.instantiate(line, _X), kernel.factors(sigma(TOKEN) * sigma(TOKEN)), *_of_unit_length(kernel))
    either = kernel.arithmetic(length, sp.Or(sp.Eq(sign, 1), sp.Eq(sign, -1)))
    along = (kernel.instantiate(line, Z), kernel.factors(sigma(TOKEN) * dot(_Z, _V)), kernel.scaling(dot(_Z, _V), -1))
    branches = []
    for value in (1, -1):
        case = proposition(sp.Eq(sign, value))
        there = kernel.generalise(Z, kernel.arithmetic([kernel.assume(case), *along], _is(value).body))
        branches.append((case, kernel.tautology([there], CHOICES.parts[0])))
    some = kernel.by_cases(either, *branches)
    both = kernel.assume(CHOICES.parts[1].part)
    here = [kernel.instantiate(kernel.part(both, _is(value)), _V) for value in (1, -1)]
    false = kernel.arithmetic([*here, kernel.scaling(dot(_V, _V), -1), unit], sp.false)
    none = kernel.tautology([kernel.discharge(both.proposition, false)], CHOICES.parts[1])
    return kernel.generalise(LINE, kernel.discharge(SIGNED, kernel.generalise(TOKEN, kernel.conjunction(some, none))))


def _of_unit_length(kernel: Kernel) -> tuple[Proved, Proved]:
    return kernel.reduction(dot(_X, _X), one()), kernel.factors(one())


def _apart(kernel: Kernel) -> Proved:
    equal = kernel.assume(APART.body.part)
    false = kernel.arithmetic(
        [kernel.instantiate(equal, _X), kernel.scaling(dot(_X, _X), -1), *_of_unit_length(kernel)], sp.false
    )
    return kernel.generalise(TOKEN, kernel.tautology([kernel.discharge(equal.proposition, false)], APART.body))


def proof(kernel: Kernel) -> Proved:
    """The heights at consensus and bipartite points; each token by itself; the map is odd (PM-R7)."""
    return kernel.conjunction(
        kernel.restated(kernel.equilibrium(ConsensusAt(V, k)), CLAIMS[0]),
        kernel.restated(kernel.equilibrium(BipartiteAt(V, k)), CLAIMS[1], kernel.given(sp.Eq(n, p + q))),
        _choices(kernel),
        kernel.part(kernel.recall(PM_R7), PAIRS),
        _apart(kernel),
    )


PM_R1 = register(
    Statement(
        id="PM-R1",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "Remark 1"),
        title="Consensus and bipartite states: two choices for each token, in antipodal pairs",
        systems=("oja-map",),
        conditions=(Symmetric(V),),
        claims=CLAIMS,
        depends=("PM-L1", "PM-R7"),
        proof=proof,
        printed=Printed(
            text=r"For a given $k$ there are $2^n$ possible consensus or bipartite consensus equilibria.",
            wrong=r"Some of them may not be equilibria: the conditions $1 + \alpha\lambda_k > 0$ and "
            r"$\alpha|\lambda_k\delta| < 1$ are missing.",
            counterexamples=(
                Counterexample(
                    "2-cycle",
                    r"$V = \operatorname{diag}(\frac12, -1)$, $\alpha = 4.1$: neither $(v_2, v_2)$ nor $(-v_2, -v_2)$ "
                    r"is fixed.",
                    FLIPPED,
                    flipped,
                ),
            ),
        ),
        property_tests=(OnInstances(signed_states),),
    )
)
