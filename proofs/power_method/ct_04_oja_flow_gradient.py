"""CT-4: the Oja flow: gradient structure and polygonal points.  Own derivation."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.antipodal import AGAINST, TOGETHER, G, antipodal_slopes
from eigentoken.proofs.power_method.symbols import V
from eigentoken.proofs.properties.exact_points import decimals, instance, multipliers
from eigentoken.proofs.properties.first_failures import FirstFailure, polygon_of_the_flow
from eigentoken.proofs.steps.reductions import grouped, tensor
from eigentoken.proofs.steps.textbook_maps import PRODUCT_SPECTRA
from eigentoken.theory.calculus import (
    SLOT,
    TOKENS,
    Assumptions,
    CalculusAlgebra,
    Index,
    Letter,
    differentiate,
    direction,
    dot,
    matrix,
    vector,
)
from eigentoken.theory.calculus import instance as at
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.observables import expression_of
from eigentoken.theory.kernel.propositions import relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.claims import Decreases
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.observables import oja_potential
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Citation, Derivation


def _setting() -> tuple[Any, Any, Any]:
    """The Oja flow at token i, its assumptions, and the potential W."""
    from eigentoken.theory.systems.catalogue import system

    algebra = CalculusAlgebra(Assumptions(symmetric=frozenset({"V"}), unit={"x": ()}))
    flow = system("oja-flow").advance(algebra, {"V": Letter("V")}, vector("x", SLOT))
    j = Index("token", "j")
    mean = vector("x", j).summed(j) / TOKENS
    return flow, algebra.assumptions, dot(mean, mean, matrix("V")) * sp.Rational(-1, 2)


def _decay() -> tuple[Any, Any]:
    """dW/dt along the flow."""
    flow, rules, potential = _setting()
    return differentiate(potential, {"x": lambda index: at(flow, index)}, rules), rules


def _claimed_decay() -> Any:
    """``-(1/n) sum_i |P_i V xbar|^2``."""
    i, j, l = (Index("token", name) for name in "ijl")

    def tangential(index: Any) -> Any:
        push = vector("x", index).applied(matrix("V")).summed(index) / TOKENS
        return push - dot(vector("x", i), push) * vector("x", i)

    return dot(tangential(j), tangential(l)).summed(i) * (-1 / TOKENS)


def _gradient() -> tuple[Any, Any]:
    """``-n dW(w)`` for tangent w: the inner product of w with -n grad W."""
    _, rules, potential = _setting()
    rules = rules.extended(tangent={("x", "w"): ()})
    return differentiate(potential, direction("x", "w"), rules) * (-TOKENS), rules


def _along() -> Any:
    """``sum_i w_i^T xdot_i``."""
    flow, _, _ = _setting()
    i = Index("token", "i")
    return dot(vector("w", i), at(flow, i)).summed(i)


def _linearised() -> tuple[Any, Any]:
    """The derivative of the flow along tangent w at a state whose tokens sum to zero."""
    from eigentoken.theory.systems.catalogue import system

    algebra = CalculusAlgebra(Assumptions(zero_sums=frozenset({"x"}), unit={"x": ()}, tangent={("x", "w"): ()}))
    flow = system("oja-flow").advance(algebra, {"V": Letter("V")}, vector("x", SLOT))
    return differentiate(at(flow, Index("token", "i")), direction("x", "w"), algebra.assumptions), algebra.assumptions


def _product() -> Any:
    """``P_i V wbar``."""
    i, j = Index("token", "i"), Index("token", "j")
    push = vector("w", j).applied(matrix("V")).summed(j) / TOKENS
    return push - dot(vector("x", i), push) * vector("x", i)


def derive() -> Derivation:
    """Gradient flow; decay of W; the linearisation at polygonal points."""
    together = (0, *G)
    return Derivation(
        (
            tensor(
                "gradient",
                "For tangent vectors $w_i$, $-n\\,\\mathrm dW(w) = \\sum_iw_i^{\\top}\\dot x_i$: the flow is gradient "
                "descent of $nW$, for all $n$ and $d$.",
                _gradient,
                _along(),
                r"\dot x_i = -n\operatorname{grad}_iW",
            ),
            tensor(
                "decay",
                "Along the flow.",
                _decay,
                _claimed_decay(),
                r"\dot W = -\frac1n\sum_i\lVert P_iV\bar x\rVert^2",
            ),
            tensor(
                "linearisation",
                "At $\\bar x = 0$ the linearisation is a product of two maps, $w \\mapsto \\bar w$ and $z \\mapsto "
                "(P_iVz)_i$.",
                _linearised,
                _product(),
                r"\dot w_i = P_iV\bar w",
                establishes=("B maps one space to another, and C maps back",),
            ),
            Citation(
                name="spectrum",
                says="So, with $C$: $w \\mapsto \\bar w$ and $(Bz)_i = P_iVz$, the nonzero eigenvalues of the "
                "linearisation $BC$ are those of $CB = \\bar PV$.",
                theorem=PRODUCT_SPECTRA,
                letters={"B": "B", "C": "C"},
                formula=r"\operatorname{spec}(BC) \setminus \{0\} = \operatorname{spec}(\bar PV) \setminus \{0\}",
                uses=("linearisation",),
                establishes=("B C and C B have the same nonzero eigenvalues with multiplicities",),
            ),
            grouped(
                "collinear: together",
                "For tokens $\\pm w$, half and half: all along $\\xi$ gives $V|_{w^\\perp}$.",
                antipodal_slopes("oja-flow", TOGETHER),
                (*together, *together),
                r"\xi \mapsto \left(<1>,\ <2>,\ <3>,\ <4>\right)",
            ),
            grouped(
                "collinear: against",
                "The halves moved against each other stay where they are.",
                antipodal_slopes("oja-flow", AGAINST),
                (0,) * 8,
                r"\xi \mapsto 0",
            ),
        )
    )


TRIANGLE = instance(
    "oja-flow", [["1", "0"], ["-1/2", "sqrt(3)/2"], ["-1/2", "-sqrt(3)/2"]], V=[["1", "0"], ["0", "-1/2"]]
)


def proof(kernel: Kernel) -> Proved:
    """``W' = -(1/n) sum_i |x_i'|^2``, for symbolic n and d."""
    rate, speed = kernel.increment(expression_of(oja_potential)), kernel.squared_speed()
    lost = kernel.reduction(
        relation_of(rate.proposition).rhs.expression, speed * (-1 / TOKENS), kernel.given(Symmetric(V))
    )
    bound = sp.Le(relation_of(rate.proposition).lhs, -Tensor(speed) / TOKENS, evaluate=False)
    falls = kernel.arithmetic([rate, lost, kernel.scaling(speed, -1 / TOKENS)], bound)
    return kernel.dissipates(oja_potential, 1 / TOKENS, falls)


CT_4 = register(
    Statement(
        id="CT-4",
        kind=Kind.EXTENSION,
        source=Source(HERE, "continuous-time counterpart of Lemmas 6 and 7"),
        title="The Oja flow: gradient structure and polygonal points",
        systems=("oja-flow",),
        conditions=(Symmetric(V),),
        claims=(Decreases(oja_potential, strict=True),),
        depends=("CT-1", "PM-L6"),
        derive=derive,
        proof=proof,
        vectors=(Vector("triangle, V = diag(1, -1/2)", lambda: multipliers(TRIANGLE), decimals("-1/4", "0", "1/2")),),
        variants=(
            Variant(
                "n >= 3 or V not negative on w^perp",
                "n = 2 and V < 0 on w^perp: no eigenvalue is positive at (w, -w)",
                FirstFailure(polygon_of_the_flow),
            ),
        ),
    )
)
