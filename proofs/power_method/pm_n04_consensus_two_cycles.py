"""PM-N4: consensus 2-cycles of the Oja map: exactly complementary to the stability of consensus.  New here."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.oja_classes import ONE_CYCLE, one_cycle
from eigentoken.proofs.power_method.symbols import LK, V, alpha, k, lam, n
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
from eigentoken.theory.kernel.proved import Proved
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


CLAIMS = (
    Iff(TwoCycle(ConsensusAt(V, k)), Relation(1 + alpha * lam(V, k) < 0)),
    Formula(ONE_CYCLE),
)


def proof(kernel: Kernel) -> Proved:
    """The height is ``1 + alpha lambda_k``; and where every token is sent to its negative all tokens are equal."""
    return kernel.conjunction(kernel.restated(kernel.two_cycle(ConsensusAt(V, k)), CLAIMS[0]), one_cycle(kernel))


PM_N4 = register(
    Statement(
        id="PM-N4",
        kind=Kind.EXTENSION,
        source=Source(HERE, "complements Li-Altafini, Lemma 4"),
        title="Consensus 2-cycles of the Oja map",
        systems=("oja-map",),
        conditions=(Symmetric(V),),
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
