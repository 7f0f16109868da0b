"""PM-L3: the spectrum of the Oja map at consensus.

At ``x_i = v_k``, ``m = 1 + alpha lambda_k != 0``: one multiplier ``(1 + alpha lambda_l)/|m|`` for each l != k on common
perturbations, and ``1/|m|`` with multiplicity (n-1)(d-1) on zero-sum ones.  Reference: Li-Altafini, Lemma 3, eq. (12).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.consensus_blocks import BLOCKS, blocks
from eigentoken.proofs.power_method.pm_l01_oja_fixed_points import flipped
from eigentoken.proofs.power_method.symbols import G2, G3, LK, LL, V, alpha, d, ell, k, lam, n, symmetric_value
from eigentoken.proofs.properties.exact_points import decimals, instance, multipliers
from eigentoken.proofs.steps.reductions import claimed_spectrum, consensus_multipliers, grouped
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import SpectrumIs, When
from eigentoken.theory.language.conditions import Relation, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Printed, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Derivation, Identity

E1, E2, STILL = (1, 0, 0), (0, 1, 0), (0, 0, 0)

#: The two classes of multipliers at consensus, as facts.
COMMON = "common moves along v_ell have the multiplier (1 + alpha lambda_ell)/(1 + alpha lambda_k)"
ZERO_SUM = "zero-sum moves have the multiplier 1/(1 + alpha lambda_k)"
FIXED = Relation(1 + alpha * lam(V, k) > 0)
SPECTRUM = SpectrumIs(
    ConsensusAt(V, k),
    (
        ((1 + alpha * lam(V, ell)) / (1 + alpha * lam(V, k)), 1),
        (1 / (1 + alpha * lam(V, k)), (n - 1) * (d - 1)),
    ),
)


def consensus_slopes(groups: Sequence[tuple[Any, Any, Any]], sign: int, top: Any = None) -> Callable[[], list[Any]]:
    """Derivatives of the Oja map at consensus for groups of tokens moved alike; ``sign`` is that of m."""

    def run() -> list[Any]:
        from eigentoken.proofs.steps.token_groups import slopes

        value = symmetric_value() if top is None else top
        found = slopes("oja-map", {"V": value, "alpha": alpha}, groups, (sign * (1 + alpha * LK),))
        return [entry for token in found for entry in token]

    return run


def derive() -> Derivation:
    """The blocks of the Jacobian, and its action on common and on zero-sum perturbations."""
    m = 1 + alpha * LK
    common, apart = consensus_multipliers("oja-map")
    common_negative, apart_negative = consensus_multipliers("oja-map", -1)
    eigen = symmetric_value(LK, LL, sp.Integer(0))
    one_moved = [(1, E1, E2), (n - 1, E1, STILL)]
    return Derivation(
        (
            grouped(
                "blocks",
                "One token is moved along a unit tangent vector $\\xi$, $V\\xi = g_2 \\xi + g_3 \\xi'$ with $\\xi' "
                "\\perp "
                "v_k, \\xi$ ($m > 0$): the coordinates of its image and of the image of any other token along "
                "$v_k$, $\\xi$, "
                "$\\xi'$ are those of $J_{ij}\\xi = \\frac{1}{m} P_{v_k}(\\delta_{ij} I + \\frac{\\alpha}{n} "
                "V)\\xi$.",
                consensus_slopes(one_moved, 1),
                (0, (1 + alpha * G2 / n) / m, alpha * G3 / n / m, 0, alpha * G2 / n / m, alpha * G3 / n / m),
                r"J_{ii}\xi = \left(<1>,\ <2>,\ <3>\right), \qquad J_{ji}\xi = \left(<4>,\ <5>,\ <6>\right)",
            ),
            grouped(
                "blocks, negative m",
                "For $m < 0$ the norm is $|m| = -m$: the same blocks with $|m|$.",
                consensus_slopes(one_moved, -1),
                (0, -(1 + alpha * G2 / n) / m, -alpha * G3 / n / m, 0, -alpha * G2 / n / m, -alpha * G3 / n / m),
                r"J_{ii}\xi = \left(<1>,\ <2>,\ <3>\right), \qquad J_{ji}\xi = \left(<4>,\ <5>,\ <6>\right)",
            ),
            grouped(
                "common",
                "All tokens are moved along $v_\\ell$: an eigenvector $\\mathbf 1 \\otimes v_\\ell$, one for each "
                "$\\ell \\neq k$.",
                consensus_slopes([(n, E1, E2)], 1, eigen),
                (0, common, 0),
                r"J (\mathbf 1 \otimes v_\ell) = <2>\ \mathbf 1 \otimes v_\ell",
                establishes=(COMMON,),
                assuming=(FIXED,),
            ),
            grouped(
                "zero sum",
                "Two tokens are moved in opposite directions along any tangent vector, the others stay: an "
                "eigenvector "
                "$\\eta \\otimes \\xi$ with $\\mathbf 1^{\\top}\\eta = 0$.",
                consensus_slopes([(1, E1, E2), (1, E1, (0, -1, 0)), (n - 2, E1, STILL)], 1),
                (0, apart, 0, 0, -apart, 0, 0, 0, 0),
                r"J (\eta \otimes \xi) = <2>\ \eta \otimes \xi",
                establishes=(ZERO_SUM,),
                assuming=(FIXED,),
            ),
            grouped(
                "common, negative m",
                "For $m < 0$ the same moves are eigenvectors, with $|m| = -m$:",
                consensus_slopes([(n, E1, E2)], -1, eigen),
                (0, common_negative, 0),
                r"J (\mathbf 1 \otimes v_\ell) = <2>\ \mathbf 1 \otimes v_\ell",
            ),
            grouped(
                "zero sum, negative m",
                "and",
                consensus_slopes([(1, E1, E2), (1, E1, (0, -1, 0)), (n - 2, E1, STILL)], -1),
                (0, apart_negative, 0, 0, -apart_negative, 0, 0, 0, 0),
                r"J (\eta \otimes \xi) = <2>\ \eta \otimes \xi",
            ),
            Identity(
                name="count",
                says="These are all: $d - 1$ common directions and $(n-1)(d-1)$ zero-sum ones fill the tangent space.",
                left=(d - 1) + (n - 1) * (d - 1),
                right=n * (d - 1),
                uses=("common", "zero sum"),
            ),
            claimed_spectrum(
                SPECTRUM,
                "oja-map",
                {lam(V, k): LK, lam(V, ell): LL},
                r"<1>,\qquad <3>\ [<4>\text{ times}]",
                uses=("common", "zero sum", "count"),
                assuming=(FIXED,),
            ),
        )
    )


def proof(kernel: Kernel) -> Proved:
    """The spectrum that the linearization engine proves, in the formulas of the claim; the blocks for either sign of m."""
    fixed = kernel.assume(FIXED)
    found = kernel.supply(kernel.spectrum(SPECTRUM.place), fixed)
    spectrum = kernel.discharge(FIXED, kernel.respelled(found, SPECTRUM, fixed))
    return kernel.conjunction(spectrum, blocks(kernel))


TV1_V = [["2", "0", "0"], ["0", "1/2", "0"], ["0", "0", "-1"]]


def at_eigenvector(index: int) -> Callable[[], Sequence[Any]]:
    """The multipliers at consensus on e_index for V = diag(2, 1/2, -1), n = 3, alpha = 1/4."""
    token = ["1" if place == index else "0" for place in range(3)]
    return lambda: multipliers(instance("oja-map", [token] * 3, V=TV1_V, alpha="1/4"))


PM_L3 = register(
    Statement(
        id="PM-L3",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 3, eq. (12)"),
        title="The spectrum of the Oja map at consensus",
        systems=("oja-map",),
        conditions=(Symmetric(V), Relation(n >= 2)),
        claims=(When(FIXED, SPECTRUM), BLOCKS),
        depends=("PM-CM",),
        derive=derive,
        proof=proof,
        printed=Printed(
            text=(
                r"The first (extrinsic) class of eigenvalues depends on the sign of $1 + \alpha\lambda_k$: one "
                r"value of "
                r"multiplicity $n$ for a positive sign, and a splitting $1 + (n-1)$ for a negative one."
            ),
            wrong=(
                r"The extrinsic class depends on how the map is extended off the sphere (PM-R2): it is $0$, $n$ "
                r"times, for "
                r"$y/\lVert y\rVert$, and $\operatorname{sgn}(m)/m^2$, $n$ times, with $\lVert x_i\rVert = 1$ put "
                r"in; neither "
                r"extension splits it. Stability does not depend on it."
            ),
            false=False,
        ),
        vectors=(
            Vector("TV1, k = 1", at_eigenvector(0), decimals("1/2", "2/3 * 4", "3/4")),
            Vector("TV1, k = 2", at_eigenvector(1), decimals("2/3", "8/9 * 4", "4/3")),
            Vector("TV1, k = 3", at_eigenvector(2), decimals("4/3 * 4", "3/2", "2/1")),
        ),
        variants=(
            Variant(
                "1 + alpha lambda_k > 0",
                "V = diag(1/2, -1), alpha = 41/10: consensus on v_2 is sent to its negative",
                flipped,
            ),
        ),
    )
)
