"""AB-E25: the function (25) that is plotted: it vanishes only at consensus when the cosine is signed.

Reference: Abella-Silvestre-Tabuada, eq. (25).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import det_tokens, numbers
from eigentoken.proofs.steps.equations import for_every
from eigentoken.proofs.steps.tensor_reductions import EXACT
from eigentoken.proofs.steps.textbook import CAUCHY_SCHWARZ
from eigentoken.theory.calculus import TOKENS, Index, dot, one, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Equivalence, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, Tensor
from eigentoken.theory.language.conditions import Relation
from eigentoken.theory.language.observables_attention import absolute_cosine_gap, cosine_gap
from eigentoken.theory.language.terms import n
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality
from eigentoken.theory.systems.catalogue import system


def derive() -> Derivation:
    """Each cosine is at most one, with equality exactly for equal directions."""
    cosine, square = sp.symbols("c D", real=True)
    a_norm, b_norm = sp.symbols("p q", positive=True)
    product, first_square, second_square = sp.symbols("s P Q", real=True)
    return Derivation(
        (
            Citation(
                name="Cauchy-Schwarz",
                says="With $p = |y_1|$, $q = |y_i|$ and $s = y_1^{\\top}y_i$:",
                theorem=CAUCHY_SCHWARZ,
                formula="|y_1^{\\top}y_i| \\le |y_1|\\,|y_i|",
                establishes=("inner products are bounded by the product of the norms",),
            ),
            Inequality(
                name="cosines",
                says="So the cosine $c_i = s/(pq)$ lies in $[-1, 1]$.",
                hypotheses=(product <= a_norm * b_norm, product >= -a_norm * b_norm),
                conclusion=sp.And(product / (a_norm * b_norm) <= 1, product / (a_norm * b_norm) >= -1),
                uses=("Cauchy-Schwarz",),
                needs=("inner products are bounded by the product of the norms",),
                establishes=("cosines lie in [-1, 1]",),
            ),
            Identity(
                name="equality",
                says="The squared distance of the directions is $D = 2 - 2c$ (with $s = y_1^{\\top}y_i = c\\,p\\,q$, "
                "$p = |y_1|$, $q = |y_i|$): $c = 1$ exactly when the directions agree.",
                left=first_square / a_norm**2 + second_square / b_norm**2 - 2 * product / (a_norm * b_norm),
                right=2 - 2 * cosine,
                where={product: cosine * a_norm * b_norm, first_square: a_norm**2, second_square: b_norm**2},
            ),
            Inequality(
                name="nonnegative",
                says="So each summand $1 - c$ of $\\ell\\,E$ is nonnegative, and vanishes only at $c = 1$ ($D = 0$).",
                hypotheses=(cosine <= 1, cosine >= -1, sp.Eq(square, 2 - 2 * cosine)),
                conclusion=sp.And(
                    1 - cosine >= 0,
                    sp.Implies(sp.Eq(cosine, 1), sp.Eq(square, 0)),
                    sp.Implies(sp.Eq(square, 0), sp.Eq(cosine, 1)),
                ),
                uses=("cosines", "equality"),
                needs=("cosines lie in [-1, 1]",),
                establishes=("the function is nonnegative and vanishes exactly at equal directions",),
            ),
        )
    )


def antipodal_pair() -> Verdict:
    """Tokens e_1 and -e_1: the printed function vanishes, and they are not equal."""
    one, nil = sp.Integer(1), sp.Integer(0)
    tokens = ((one, nil), (-one, nil))
    printed = absolute_cosine_gap(EXACT, system("causal-flow"), {}, tokens)
    signed = cosine_gap(EXACT, system("causal-flow"), {}, tokens)
    if printed == 0 and signed == 1:
        return holds("tokens e_1, -e_1: the printed E is exactly 0, the signed one is 1")
    return fails(f"printed {printed}, signed {signed}")


def gaps_example() -> list[Any]:
    """Signed and absolute E of five tokens on S^2."""
    scalars = numbers()
    tokens = scalars.normalise(det_tokens(5, 3))
    flow = system("causal-flow")
    return [cosine_gap(scalars, flow, {}, tokens), absolute_cosine_gap(scalars, flow, {}, tokens)]


_K, _I = Index("token", "k"), Index("token", "i")
_GAP = one() - dot(vector(STATE, _K), vector(STATE, _I)).summed(_I) / TOKENS
_APART = vector(STATE, _K) - vector(STATE, _I)
_SQUARES = dot(_APART, _APART).summed(_I)
_EQUAL = for_every(sp.Eq(Tensor(dot(_APART, _APART)), 0, evaluate=False), _I)
_NONE = sp.Eq(Tensor(_GAP), 0, evaluate=False)
#: E with any token in place of the first one, on the sphere.
NONNEGATIVE = Formula(for_every(sp.Ge(Tensor(_GAP), 0, evaluate=False), _K))
ZERO_AT_CONSENSUS = Formula(for_every(Equivalence(proposition(_NONE), _EQUAL), _K))


def proof(kernel: Kernel) -> Proved:
    """``E = (1/2n) sum_i |x_k - x_i|^2``."""
    written = kernel.reduction(_GAP, _SQUARES / (2 * TOKENS))
    scaled = kernel.scaling(_SQUARES, 1 / (2 * TOKENS))
    half = kernel.arithmetic([written, scaled], sp.Eq(Tensor(_GAP), Tensor(_SQUARES) / (2 * TOKENS), evaluate=False))
    each = kernel.settled(kernel.square(_APART))
    total = kernel.settled(kernel.square(_APART, _I))
    sign = kernel.generalise(_K, kernel.arithmetic([half, total], sp.Ge(Tensor(_GAP), 0, evaluate=False)))
    one_of = kernel.summand(kernel.generalise(_I, each), _I)
    zero_each = sp.Eq(Tensor(dot(_APART, _APART)), 0, evaluate=False)
    alike = kernel.generalise(_I, kernel.arithmetic([half, kernel.assume(_NONE), one_of, each], zero_each))
    summed = kernel.summed(kernel.assume(_EQUAL))
    nothing = kernel.factors(one() * 0)
    back = kernel.arithmetic([half, summed, nothing], _NONE)
    both = kernel.iff(kernel.discharge(_NONE, alike), kernel.discharge(_EQUAL, back))
    return kernel.conjunction(sign, kernel.generalise(_K, both))


AB_E25 = register(
    Statement(
        id="AB-E25",
        kind=Kind.DEFINITION,
        source=Source(ABELLA, "eq. (25)"),
        title="The function that measures consensus",
        systems=("causal-flow",),
        conditions=(Relation(n >= 2),),
        claims=(NONNEGATIVE, ZERO_AT_CONSENSUS),
        facts=("the metric is symmetric and positive definite",),
        derive=derive,
        proof=proof,
        printed=Printed(
            text="$E(y) = 1 - \\frac1{\\ell}\\sum_i \\frac{|y_1^{\\top}y_i|}{|y_1|\\,|y_i|}$, zero only at consensus.",
            wrong="With the absolute value an antipodal pair gives zero, too; the signed cosine is meant.",
            counterexamples=(
                Counterexample(
                    name="antipodal pair",
                    says="$y_1 = e_1$, $y_2 = -e_1$: the printed $E$ is 0, the signed one is 1.",
                    instance={"tokens": [["1", "0"], ["-1", "0"]]},
                    check=antipodal_pair,
                ),
            ),
        ),
        vectors=(
            Vector(
                "signed and absolute E of det_tokens(5, 3)", gaps_example, ("0.928344160118396", "0.327172181830025")
            ),
        ),
    )
)
