"""PM-N1: consensus for any layer matrix F: what must dominate is |1 + alpha lambda|, not Re lambda and not |lambda|.

New here; Li-Altafini treat symmetric F and describe the general case in words (sections 2.1.1 and D.4.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.symbols import G2, G3, LK, F, alpha, any_score, consensus_value, lam, n
from eigentoken.proofs.properties.exact_points import agree, image, instance, multipliers, point_is
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.proofs.steps.textbook_maps import BLOCK_TRIANGULAR, KRONECKER
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Atom, Equivalence, ForAll, conjuncts, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.words import index_range
from eigentoken.theory.language.claims import Stable, When
from eigentoken.theory.language.conditions import NonPrincipalModulusBelow, Relation, SimpleTop
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import EigenvalueModulus, EigenvalueRealPart, ell
from eigentoken.theory.language.verdicts import Verdict, all_of
from eigentoken.theory.statements.layer_systems import Covers
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
from eigentoken.theory.statements.steps import Citation, Derivation, Inequality, Step

_AT, _MOVE, _STILL = (1, 0, 0), (0, 1, 0), (0, 0, 0)


def _one_moved(count: Any) -> Any:
    """A row that sees ``count`` equal tokens: its image when it is moved itself, and when another one is."""

    def run() -> list[Any]:
        from eigentoken.proofs.steps.token_groups import slopes

        heads = [{"F": consensus_value(), "M": any_score(3)}]
        parameters = {"heads": heads, "alpha": alpha}
        found = slopes("multihead-map", parameters, [(1, _AT, _MOVE), (count - 1, _AT, _STILL)], (1 + alpha * LK,))
        return [entry for token in found for entry in token]

    return run


def _spectrum() -> tuple[Step, ...]:
    """The Jacobian at consensus for full and for causal attention, and its spectrum."""
    i = sp.Symbol("i", integer=True, positive=True)
    m = 1 + alpha * LK
    entry, total, constant = sp.symbols("a s x", real=True)

    def blocks(size: Any) -> tuple[Any, ...]:
        return (0, (1 + alpha * G2 / size) / m, alpha * G3 / size / m, 0, alpha * G2 / size / m, alpha * G3 / size / m)

    return (
        grouped(
            "blocks",
            "Let $Fv_k = \\lambda_kv_k$ and let $\\xi \\perp v_k$, $F\\xi = f_1v_k + g_2\\xi + g_3\\xi'$ be any "
            "vector, so that $G\\xi = g_2\\xi + g_3\\xi'$ for the compression $G$ of $F$ to $v_k^\\perp$. One token "
            "is moved along $\\xi$: with $m = 1 + \\alpha\\lambda_k > 0$ and any scores, $J_{ij}\\xi = "
            "\\frac1m(\\delta_{ij}\\xi + \\frac{\\alpha}{n}G\\xi)$.",
            _one_moved(n),
            blocks(n),
            r"J_{ii}\xi = \left(<1>,\ <2>,\ <3>\right), \qquad J_{ji}\xi = \left(<4>,\ <5>,\ <6>\right)",
            establishes=(
                "the Jacobian is (I + alpha A x G)/m in Kronecker form",
                "F, in a basis that begins with v_k, is block triangular",
            ),
        ),
        grouped(
            "causal rows",
            "A token that sees $i$ equal tokens (itself among them) attends to each with weight $1/i$: the same with "
            "$i$ for $n$. With the causal mask the Jacobian is block triangular with diagonal blocks $\\frac1m(I + "
            "\\frac{\\alpha}{i}G)$; with any mask $A$ is the uniform row-stochastic matrix of the mask.",
            _one_moved(i),
            blocks(i),
            r"J_{ii}\xi = \left(<1>,\ <2>,\ <3>\right), \qquad J_{ij}\xi = \left(<4>,\ <5>,\ <6>\right)",
            establishes=("the causal A is block triangular",),
        ),
        Citation(
            name="Kronecker product",
            says="The spectrum of the Jacobian from those of $A$ and $G$:",
            theorem=KRONECKER,
            formula=r"\Big\{\frac{1+\alpha ag}{m} : a \in \operatorname{spec}A,\ g \in \operatorname{spec}G\Big\}",
            uses=("blocks", "causal rows"),
            establishes=("its eigenvalues are (1 + alpha a g)/m over the eigenvalues a of A and g of G",),
        ),
        Citation(
            name="eigenvalues of G",
            says="In a basis that begins with $v_k$ the matrix $F$ has the diagonal blocks $\\lambda_k$ and $G$: the "
            "eigenvalues of $G$ are those of $F$ other than $\\lambda_k$.",
            theorem=BLOCK_TRIANGULAR,
            letters={"A": "F, in a basis that begins with v_k,"},
            formula=r"\operatorname{spec}F = \{\lambda_k\} \cup \operatorname{spec}G",
            uses=("blocks",),
            establishes=("the eigenvalues of F, in a basis that begins with v_k, are those of its diagonal blocks",),
        ),
        Citation(
            name="eigenvalues of the causal A",
            says="The causal $A$ is triangular, with the diagonal $1/i$.",
            theorem=BLOCK_TRIANGULAR,
            letters={"A": "the causal A"},
            formula=r"\operatorname{spec}A = \{1, \tfrac12, \dots, \tfrac1n\}",
            uses=("causal rows",),
            establishes=("the eigenvalues of the causal A are those of its diagonal blocks",),
        ),
        Inequality(
            name="spectrum",
            says="For full attention all entries of $A$ are $a = 1/n$: a constant vector $x$ is kept, $nax = x$, and a "
            "vector with the sum $s = 0$ is sent to $as = 0$, so $A$ has the eigenvalues $1$ and $0$ ($n-1$ times). "
            "The multipliers are $\\frac{1+\\alpha\\lambda_\\ell}{m}$ and $\\frac1m$, $(n-1)(d-1)$ times; with the "
            "causal mask $\\frac{1+\\alpha\\lambda_\\ell/i}{m}$, $i \\leq n$.",
            hypotheses=(sp.Eq(entry * n, 1), sp.Eq(total, 0)),
            conclusion=sp.And(sp.Eq(n * entry * constant, constant), sp.Eq(entry * total, 0)),
            uses=("Kronecker product", "eigenvalues of G", "eigenvalues of the causal A"),
            needs=(
                "its eigenvalues are (1 + alpha a g)/m over the eigenvalues a of A and g of G",
                "the eigenvalues of F, in a basis that begins with v_k, are those of its diagonal blocks",
                "the eigenvalues of the causal A are those of its diagonal blocks",
            ),
            establishes=("the multipliers at consensus for any layer matrix",),
        ),
    )


def _step_bound() -> tuple[Step, ...]:
    """Which multipliers are inside the unit circle, and the step below which the modulus dominates."""
    re, im, top = sp.symbols("a b lambda_1", real=True)
    share = sp.Symbol("c", real=True)
    inside = (1 + alpha * re) ** 2 + alpha**2 * im**2 < (1 + alpha * top) ** 2
    bound = alpha * (re**2 + im**2 - top**2) < 2 * (top - re)
    return (
        Inequality(
            name="disagreement",
            says="$1/m$ is inside the unit circle iff $\\lambda_k > 0$ ($m > 0$).",
            hypotheses=(1 + alpha * LK > 0, 1 / (1 + alpha * LK) < 1),
            conclusion=LK > 0,
            uses=("spectrum",),
        ),
        Inequality(
            name="disagreement, converse",
            says="And conversely.",
            hypotheses=(LK > 0,),
            conclusion=sp.And(1 / (1 + alpha * LK) < 1, 1 / (1 + alpha * LK) > 0),
        ),
        Inequality(
            name="step",
            says="For $\\lambda_\\ell = a + \\mathrm i b$ the inequality $|1 + \\alpha\\lambda_\\ell| < 1 + "
            "\\alpha\\lambda_1$ says",
            hypotheses=(top > 0, inside),
            conclusion=bound,
        ),
        Inequality(
            name="step, converse",
            says="Conversely it holds for every $\\alpha$ if $|\\lambda_\\ell| \\leq \\lambda_1$, and otherwise iff "
            "$\\alpha < 2(\\lambda_1 - \\operatorname{Re}\\lambda_\\ell)/(|\\lambda_\\ell|^2 - \\lambda_1^2)$.",
            hypotheses=(top > 0, bound),
            conclusion=inside,
        ),
        Inequality(
            name="modulus dominance suffices",
            says="If $\\lambda_1 > |\\lambda_\\ell|$ the inequality holds for every step.",
            hypotheses=(top > 0, re**2 + im**2 < top**2),
            conclusion=inside,
        ),
        Inequality(
            name="causal rows follow",
            says="For $\\lambda_k > 0$ the rows $i > 1$ of the causal mask follow: with $c = 1/i \\in (0, 1]$ the "
            "number $1 + \\alpha\\lambda_\\ell c$ lies between $1$ and $1 + \\alpha\\lambda_\\ell$.",
            hypotheses=(top > 0, inside, share > 0, share <= 1),
            conclusion=(1 + alpha * re * share) ** 2 + alpha**2 * im**2 * share**2 < (1 + alpha * top) ** 2,
        ),
    )


def derive() -> Derivation:
    """The Jacobian for full and for causal attention; then the step below which the modulus dominates."""
    return Derivation(
        (
            *_spectrum(),
            *_step_bound(),
        )
    )


SPIRAL_F = [["1", "0", "0"], ["0", "9/10", "-3"], ["0", "3", "9/10"]]
NO_SCORE = [["0", "0", "0"], ["0", "0", "0"], ["0", "0", "0"]]


def _spiral(step: str) -> dict[str, Any]:
    return instance("multihead-map", [["1", "0", "0"]] * 2, heads=[{"F": SPIRAL_F, "M": NO_SCORE}], alpha=step)


NEGATIVE_TOP = instance("oja-map", [["1", "0"]] * 2, V=[["-2", "0"], ["0", "1"]], alpha="1")


def spiral_threshold() -> Sequence[Any]:
    """alpha* of F = 1 + [[.9, -3], [3, .9]], and the ratio |1 + alpha lambda| / (1 + alpha) at alpha = 1."""
    a, b = sp.Rational(9, 10), sp.Integer(3)
    return sp.N(2 * (1 - a) / (a**2 + b**2 - 1), 30), sp.N(sp.sqrt((1 + a) ** 2 + b**2) / 2, 30)


def spiral() -> Verdict:
    """Stable at alpha = 0.022 < alpha*, unstable at 0.023 and at 1: the real part of the pair is below lambda_1 all along."""
    return all_of(
        {
            "alpha = 0.022": point_is(_spiral("22/1000"), "consensus", stable="stable"),
            "alpha = 0.023": point_is(_spiral("23/1000"), "consensus", stable="unstable"),
            "alpha = 1": point_is(_spiral("1"), "consensus", stable="unstable"),
        }
    )


def negative_top() -> Verdict:
    """F = diag(-2, 1): -2 is largest in modulus; consensus on e_1 flips, and is not attracted to at alpha = 1."""
    return all_of(
        {
            "e_1 is sent to -e_1": agree(image(NEGATIVE_TOP), ("-1", "0", "-1", "0")),
            "its cycle repels": _outside(multipliers(NEGATIVE_TOP, -1)),
        }
    )


def _outside(found: Sequence[Any]) -> Verdict:
    from eigentoken.theory.language.verdicts import fails, holds

    if any(abs(each) > 1 for each in found):
        return holds("a multiplier of the cycle is above 1 in modulus")
    return fails("no multiplier is certainly outside the unit circle")


PRINCIPAL = Stable(ConsensusAt(F, 1))
MODULUS = EigenvalueModulus(F, ell)
#: ``alpha (|lambda_ell|^2 - lambda_1^2) < 2 (lambda_1 - Re lambda_ell)`` for every other eigenvalue: the step is below alpha*.
STEP = ForAll(
    ell,
    index_range(ell, 2),
    proposition(alpha * (MODULUS**2 - lam(F, 1) ** 2) < 2 * (lam(F, 1) - EigenvalueRealPart(F, ell))),
)
CRITERION = Equivalence(Atom(PRINCIPAL), STEP)


def proof(k: Kernel) -> Proved:
    """The criterion, in the real parts and moduli of the eigenvalues; dominance by modulus implies it for every step."""
    top = k.given(lam(F, 1) > 0)
    found = k.stability_of_any(ConsensusAt(F, 1))
    found = k.supply(found, k.arithmetic([top], 1 + alpha * lam(F, 1) > 0))
    inside, *rest = found.proposition.right.parts
    within = [k.assume(each) for each in conjuncts(STEP.guard)]
    # enough: STEP => every class is inside
    enough = k.at(k.assume(STEP), ell, *within)
    if isinstance(inside.body, ForAll):  # a class for each row of the causal mask
        row = [k.assume(each) for each in conjuncts(inside.body.guard)]
        part = k.at(k.modulus(F), ell, *within)
        below = k.arithmetic([enough, top, part], EigenvalueRealPart(F, ell) <= lam(F, 1))
        one = k.arithmetic([enough, top, below, *row], inside.body.body)
        enough = k.generalise(inside.body.letter, one, inside.body.guard)
    else:
        enough = k.arithmetic([enough, top], inside.body)
    parts = [k.generalise(ell, enough, inside.guard)]
    parts += [k.discharge(each.left, k.arithmetic([top], each.right)) for each in rest]
    # needed: the class of the first row is STEP
    whole = k.assume(found.proposition.right)
    needed = k.at(k.part(whole, inside), ell, *within)
    if isinstance(inside.body, ForAll):
        many = k.integers([k.given(n >= 2)], sp.Ge(n, 1, evaluate=False))
        needed = k.at(needed, sp.Integer(1), many)
    needed = k.generalise(ell, k.arithmetic([needed, top], STEP.body), STEP.guard)
    criterion = k.tautology(
        [found, k.discharge(STEP, k.conjunction(*parts)), k.discharge(whole.proposition, needed)], CRITERION
    )
    modulus = k.at(k.unfold(k.assume(NonPrincipalModulusBelow(F))), ell, *within)
    part = k.at(k.modulus(F), ell, *within)
    step = k.generalise(ell, k.arithmetic([modulus, part, top], STEP.body), STEP.guard)
    stable = k.tautology([criterion, step], Atom(PRINCIPAL))
    return k.conjunction(k.discharge(NonPrincipalModulusBelow(F), stable), criterion)


PM_N1 = register(
    Statement(
        id="PM-N1",
        kind=Kind.EXTENSION,
        source=Source(HERE, "extends Li-Altafini, Theorem 1 and D.4.3"),
        title="Consensus for any layer matrix, step and mask",
        systems=("multihead-map", "attention-map", "oja-map"),
        covers=Covers(masks=("causal",)),
        conditions=(SimpleTop(F), Relation(lam(F, 1) > 0), Relation(n >= 2)),
        claims=(When(NonPrincipalModulusBelow(F), PRINCIPAL), Formula(CRITERION)),
        depends=("PM-CM",),
        derive=derive,
        proof=proof,
        printed=Printed(
            text=(
                r"Convergence to the principal eigenvector holds for any $F$ with a strictly dominant real eigenvalue "
                r"(ordered by real part), for any $\alpha$."
            ),
            wrong=(
                r"Real-part dominance is not enough at a fixed step, and modulus dominance with $\lambda_1 < 0$ is not "
                r"either: $|1 + \alpha\lambda_\ell| < 1 + \alpha\lambda_1$ is what is needed."
            ),
            kind=SourceKind.FORMALISED,
            counterexamples=(
                Counterexample(
                    "spiral",
                    r"$F = 1 \oplus \big(\begin{smallmatrix}.9 & -3\\ 3 & .9\end{smallmatrix}\big)$ has $\lambda_1 = 1 "
                    r"> .9 = \operatorname{Re}\lambda_{2,3}$, and consensus on $v_1$ is unstable for $\alpha > "
                    r"\alpha^* = 0.0227\ldots$",
                    _spiral("1"),
                    spiral,
                ),
                Counterexample(
                    "negative dominant eigenvalue",
                    r"$F = \operatorname{diag}(-2, 1)$, $\alpha = 1$: the eigenvector of $-2$ is not fixed, and its "
                    r"2-cycle repels.",
                    NEGATIVE_TOP,
                    negative_top,
                ),
            ),
        ),
        vectors=(Vector("spiral", spiral_threshold, ("0.0227014755959", "1.77553")),),
        variants=(Variant("|lambda_l| < lambda_1", "the spiral at alpha = 1", spiral),),
    )
)
