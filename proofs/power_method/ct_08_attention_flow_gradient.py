"""CT-8: the gradient case M = cV of the attention flow.  Own derivation."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.pm_e08_attention_map import push
from eigentoken.proofs.power_method.symbols import V
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.point_checks import energy_rate
from eigentoken.proofs.steps.equations import TOKEN, Z, at_every_token, moves_by
from eigentoken.theory.calculus import Expression, Index, Letter, dot, exponential, factor, one, vector
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, ForAll, Implication, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement

C = sp.Symbol("c", real=True)


_OTHER = Index("token", "j")
_ROW = dot(vector("x", TOKEN), vector("x", _OTHER), (Letter("M"),))
#: ``M = c V``.
MULTIPLE = proposition(sp.Eq(matrix("M"), C * V, evaluate=False))


def energy() -> Expression:
    """``E = (1/2c) sum_ij exp(x_i^T M x_j)``."""
    return exponential(_ROW).summed(TOKEN, _OTHER) / (2 * C)


def _velocity() -> Expression:
    """``P_i V sum_j a_ij x_j``."""
    return push() - dot(vector("x", TOKEN), push()) * vector("x", TOKEN)


def _grown() -> Expression:
    """``Z_i |dx_i/dt|^2``, ``Z_i = sum_j exp(x_i^T M x_j)``."""
    return factor(row_sum(_ROW, _OTHER)) * dot(_velocity(), _velocity())


F = VectorLetter("f")
_RATE, _ROWS = Rate(energy()), factor(row_sum(_ROW, _OTHER))
_SPEEDS = (_ROWS * dot(vector("f", TOKEN), vector("f", TOKEN))).summed(TOKEN)
#: ``f_i`` is the velocity of token i.
VELOCITIES = proposition(moves_by(vector("f", TOKEN)))
SUM = ForAll(F, TRUE, Implication(VELOCITIES, proposition(sp.Eq(_RATE, Tensor(_SPEEDS), evaluate=False))))
GROWS = proposition(sp.Ge(_RATE, 0, evaluate=False))
_APART = proposition(sp.Ne(C, 0))
GRADIENT = tuple(ForAll(C, _APART, Implication(MULTIPLE, each)) for each in (SUM, GROWS))


def proof(k: Kernel) -> Proved:
    """The rate by the equation of the flow, one normal form, and a sum of squares with positive weights."""
    multiple = k.assume(MULTIPLE)
    rate = k.increment(energy())
    value = rate.proposition.word.relation.rhs.expression
    same = k.reduction(value, _grown().summed(TOKEN), k.given(Symmetric(V)), multiple)
    size = dot(_velocity(), _velocity())
    each = k.arithmetic([k.positive(_ROWS), k.square(_velocity()), k.product(_ROWS, size)], sp.Ge(Tensor(_grown()), 0))
    total = k.summed(k.generalise(TOKEN, each))
    grows = k.arithmetic([rate, same, total, k.factors(one() * 0)], GROWS)
    named = k.assume(VELOCITIES)
    here = k.instantiate(k.instantiate(named, TOKEN), Z)
    z = vector(Z.name)
    equal = sp.Eq(Tensor(dot(z, vector("f", TOKEN))), Tensor(dot(z, _velocity())), evaluate=False)
    members = at_every_token(k, k.arithmetic([here, _moves(k)], equal), TOKEN, Z)
    speeds = k.congruent(_SPEEDS, "f", _velocity(), TOKEN, members)
    found = k.arithmetic([rate, same, speeds], SUM.body.right)
    both = (k.generalise(F, k.discharge(VELOCITIES, found)), grows)
    gradient = (k.generalise(C, k.discharge(MULTIPLE, each), _APART) for each in both)
    return k.conjunction(*gradient, at_every_token(k, _moves(k), TOKEN, Z))


def _moves(k: Kernel) -> Proved:
    z = vector(Z.name)
    found = k.increment(dot(z, vector("x", TOKEN)))
    same = k.reduction(found.proposition.word.relation.rhs.expression, dot(z, _velocity()))
    wanted = sp.Eq(found.proposition.word.relation.lhs, Tensor(dot(z, _velocity())), evaluate=False)
    return k.arithmetic([found, same], wanted)


CT_8 = register(
    Statement(
        id="CT-8",
        kind=Kind.EXTENSION,
        source=Source(HERE, "the gradient case"),
        title="The gradient case of the attention flow",
        systems=("attention-flow",),
        conditions=(Symmetric(V),),
        claims=(*map(Formula, GRADIENT), moves_by(_velocity())),
        depends=("CT-1",),
        proof=proof,
        property_tests=(OnInstances(energy_rate),),
    )
)
