"""PM-N4: consensus 2-cycles of the Oja map: exactly complementary to the stability of consensus.  New here."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.oja_classes import ONE_CYCLE, one_cycle
from eigentoken.proofs.power_method.symbols import LK, V, alpha, d, ell, k, lam, n
from eigentoken.proofs.properties.exact_points import agree, decimals, image, instance, multipliers, point_is
from eigentoken.proofs.properties.first_failures import (
    FirstFailure,
    cycle_below_the_threshold,
    cycle_on_a_middle_eigenvector,
    cycle_on_a_repeated_eigenvalue,
)
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, Equivalence, ForAll, Implication, conjuncts, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.words import index_range
from eigentoken.theory.language.claims import Iff, TwoCycle
from eigentoken.theory.language.conditions import Relation, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.verdicts import Verdict, all_of
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Source,
    SourceKind,
    Statement,
    Variant,
    Vector,
)
from eigentoken.theory.statements.steps import Derivation, Inequality


def _image() -> list[Any]:
    from eigentoken.proofs.steps.token_groups import advance_groups

    value = [[LK, 0], [0, sp.Symbol("nu", real=True)]]
    return list(advance_groups("oja-map", {"V": value, "alpha": alpha}, [(n, (1, 0))], (-(1 + alpha * LK),))[0])


def derive() -> Derivation:
    """The flip; the multipliers of PM-L3 against the unit circle; no other symmetric 2-cycles."""
    top, other, last = sp.symbols("lambda_1 lambda_ell lambda_d", real=True)
    bal = sp.Symbol("delta", real=True)
    size = -(1 + alpha * LK)
    return Derivation(
        (
            grouped(
                "flip",
                "If $m = 1 + \\alpha\\lambda_k < 0$, then $\\lVert y_i\\rVert = -m$ and consensus on $v_k$ is sent to "
                "its negative; by oddness this is a 2-cycle, with multipliers per step of moduli $|1 + "
                "\\alpha\\lambda_\\ell|/|m|$ and $1/|m|$ (PM-L3).",
                _image,
                (-1, 0),
                r"f(v_k) = <1>\,v_k",
            ),
            Inequality(
                name="sufficient",
                says="If $\\lambda_d$ is simple, $\\lambda_d < \\lambda_\\ell \\leq \\lambda_1$, and "
                "$\\alpha(|\\lambda_d| - \\lambda_1) > 2$, all moduli are below 1.",
                hypotheses=(top > 0, last < other, other <= top, alpha * (sp.Abs(last) - top) > 2),
                conclusion=sp.And(sp.Abs(1 + alpha * other) < -(1 + alpha * last), -(1 + alpha * last) > 1),
                uses=("flip",),
            ),
            Inequality(
                name="necessary: step",
                says="Conversely the direction $v_1$ forces the step beyond the threshold.",
                hypotheses=(top > 0, top > LK, size > 0, sp.Abs(1 + alpha * top) < size),
                conclusion=alpha * (sp.Abs(LK) - top) > 2,
                uses=("flip",),
            ),
            Inequality(
                name="necessary: last",
                says="An eigenvalue $\\lambda_\\ell \\leq \\lambda_k$ other than $\\lambda_k$ gives a modulus of at "
                "least 1: $k = d$, and $\\lambda_d$ is simple.",
                hypotheses=(size > 0, other <= LK),
                conclusion=sp.Abs(1 + alpha * other) >= size,
                uses=("flip",),
            ),
            Inequality(
                name="no others",
                says="A state with $f(x) = -x$ has $u = c_ix_i$ with $1 + \\alpha c_i < 0$ for all $i$, so all tokens "
                "are $\\pm u/\\lVert u\\rVert$; tokens on both sides would have the heights $\\pm\\lambda_k\\delta$, "
                "which cannot both be below $-1/\\alpha$.",
                hypotheses=(1 + alpha * LK * bal < 0, 1 - alpha * LK * bal < 0),
                conclusion=sp.false,
            ),
        )
    )


def _state(step: str) -> dict[str, Any]:
    return instance("oja-map", [["0", "1"]] * 3, V=[["1/2", "0"], ["0", "-1"]], alpha=step)


def complementary() -> Verdict:
    """lambda = (1/2, -1), threshold 4: consensus on v_1 is stable at 3.9, and at 4.1 unstable while v_2 is a 2-cycle."""
    fixed = [["1", "0"]] * 3
    value = [["1/2", "0"], ["0", "-1"]]
    return all_of(
        {
            "3.9": point_is(instance("oja-map", fixed, V=value, alpha="39/10"), "consensus", stable="stable"),
            "4.1": point_is(instance("oja-map", fixed, V=value, alpha="41/10"), "consensus", stable="unstable"),
            "cycle": agree(image(_state("41/10")), ("0", "-1") * 3),
        }
    )


PLANE = Relation(sp.Ge(d, 2, evaluate=False))
_LAST = 1 + alpha * lam(V, d)
#: The multipliers of the cycle on ``v_d`` along the other eigenvectors (PM-L3) are inside.
_INSIDE = ForAll(
    ell, index_range(ell, 1, d - 1), proposition(sp.Lt(sp.Abs(1 + alpha * lam(V, ell)), sp.Abs(_LAST), evaluate=False))
)
_SIMPLE = ForAll(ell, index_range(ell, 1, d - 1), proposition(lam(V, d) < lam(V, ell)))
_BEYOND = proposition(sp.Gt(alpha * (-lam(V, d) - lam(V, 1)), 2, evaluate=False))
_FLIPS = proposition(_LAST < 0)
#: They are iff ``lambda_d`` is simple and the step is beyond the threshold of PM-L4; then so is that of zero-sum moves.
THRESHOLD = Implication(_FLIPS, Equivalence(_INSIDE, Conjunction((_SIMPLE, _BEYOND))))
ZERO_SUM = Implication(_BEYOND, proposition(sp.Gt(sp.Abs(_LAST), 1, evaluate=False)))
#: On another eigenvector the direction ``v_d`` expands.
_OTHER = proposition(sp.And(1 + alpha * lam(V, k) < 0, lam(V, d) < lam(V, k)))
EXPANDS = Implication(_OTHER, proposition(sp.Gt(sp.Abs(_LAST), sp.Abs(1 + alpha * lam(V, k)), evaluate=False)))
CLAIMS = (
    Iff(TwoCycle(ConsensusAt(V, k)), Relation(1 + alpha * lam(V, k) < 0)),
    *map(Formula, (ONE_CYCLE, THRESHOLD, ZERO_SUM, EXPANDS)),
)


def _threshold(kernel: Kernel) -> Proved:
    """``lambda_d < lambda_ell <= lambda_1``; the largest of the ``1 + alpha lambda_ell`` is that of ``lambda_1``."""
    flips, several = kernel.assume(_FLIPS), kernel.given(PLANE)
    here = [kernel.assume(each) for each in conjuncts(_INSIDE.guard)]
    inside, simple, beyond = kernel.assume(_INSIDE), kernel.assume(_SIMPLE), kernel.assume(_BEYOND)
    first = kernel.at(inside, sp.Integer(1), several)
    order = kernel.supply(kernel.eigenvalue_order(V), kernel.given(Symmetric(V)))
    above = kernel.at(kernel.at(order, sp.Integer(1), several), ell, *here, several)
    last = kernel.at(kernel.at(order, sp.Integer(1), several), d, several)
    needed = kernel.conjunction(
        kernel.generalise(ell, kernel.arithmetic([flips, kernel.at(inside, ell, *here)], _SIMPLE.body), _SIMPLE.guard),
        kernel.arithmetic([flips, first, last], _BEYOND),
    )
    each = kernel.arithmetic([flips, kernel.at(simple, ell, *here), above, beyond], _INSIDE.body)
    enough = kernel.generalise(ell, each, _INSIDE.guard)
    both = kernel.conjunction(simple, beyond).proposition
    found = kernel.iff(kernel.discharge(_INSIDE, needed), kernel.discharge(both, enough))
    return kernel.discharge(_FLIPS, found)


def proof(kernel: Kernel) -> Proved:
    """The height is ``1 + alpha lambda_k``; where every token is sent to its negative all are equal; the rest is arithmetic."""
    top = kernel.given(lam(V, 1) > 0)
    zero_sum = kernel.arithmetic([kernel.assume(_BEYOND), top], ZERO_SUM.right)
    return kernel.conjunction(
        kernel.restated(kernel.two_cycle(ConsensusAt(V, k)), CLAIMS[0]),
        one_cycle(kernel),
        _threshold(kernel),
        kernel.discharge(_BEYOND, zero_sum),
        kernel.discharge(_OTHER, kernel.arithmetic([kernel.assume(_OTHER)], EXPANDS.right)),
    )


PM_N4 = register(
    Statement(
        id="PM-N4",
        kind=Kind.EXTENSION,
        source=Source(HERE, "complements Li-Altafini, Lemma 4"),
        title="Consensus 2-cycles of the Oja map",
        systems=("oja-map",),
        conditions=(Symmetric(V), Relation(lam(V, 1) > 0), PLANE),
        claims=CLAIMS,
        depends=("PM-L3", "PM-L4", "PM-R7"),
        derive=derive,
        proof=proof,
        printed=Printed(
            text=r"Convergence to the principal eigenvector seems to hold for any $\alpha$.",
            wrong=r"It fails for $|\lambda_d| > \lambda_1$ and $\alpha > 2/(|\lambda_d| - \lambda_1)$: there the "
            r"2-cycle on $v_d$ is stable and consensus on $v_1$ is not.",
            kind=SourceKind.FORMALISED,
            counterexamples=(
                Counterexample(
                    "TV17",
                    r"$\lambda = (\frac12, -1)$, threshold 4: stable at $\alpha = 3.9$, a 2-cycle on $v_2$ instead at "
                    r"$\alpha = 4.1$.",
                    _state("41/10"),
                    complementary,
                ),
            ),
        ),
        vectors=(
            Vector(
                "TV17, multipliers of the cycle at 4.1",
                lambda: multipliers(_state("41/10"), -1),
                decimals("-61/62", "-10/31 * 2"),
            ),
        ),
        variants=(
            Variant(
                "alpha > 2/(|lambda_d| - lambda_1)",
                "below the threshold the 2-cycle on v_d has a multiplier outside",
                FirstFailure(cycle_below_the_threshold),
            ),
            Variant(
                "k = d",
                "on another eigenvector the direction v_d expands",
                FirstFailure(cycle_on_a_middle_eigenvector),
            ),
            Variant(
                "lambda_d simple",
                "a repeated lambda_d gives a multiplier of modulus 1",
                FirstFailure(cycle_on_a_repeated_eigenvalue),
            ),
        ),
    )
)
