"""PH-M: the unnormalised token flow, in columns: ``dx_l/dt = sum_i p_li B x_i``, ``p_li = softmax_i(x_l^T W x_i)``.

``B = V^T``, ``A = W B^{-1}``, ``W = A B``.  The paper's row convention is ``dX/dt = softmax(X W X^T) X V`` with ``W = Q K^T``.
Reference: Pham-et-al, the model; column convention.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import PHAM
from eigentoken.proofs.pham.token_equation import CLAIMS, proof
from eigentoken.proofs.properties.deterministic_data import as_numbers, det_tokens, numbers
from eigentoken.proofs.properties.flow_properties import key_identity
from eigentoken.proofs.steps.calculus_steps import TOKEN_I, TOKEN_K, field_of, tensor_step
from eigentoken.proofs.steps.extremes import bound_by_slope
from eigentoken.proofs.steps.reductions import all_agree
from eigentoken.proofs.steps.tensor_reductions import EXACT, matrix_of_symbols, tokens_of_symbols, velocity
from eigentoken.proofs.steps.textbook_flows import CONTINUATION
from eigentoken.theory.calculus import (
    Assumptions,
    Letter,
    differentiate,
    direction,
    dot,
    exponential,
    factor,
    instance,
    vector,
)
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.language.conditions import Nonsingular
from eigentoken.theory.language.observables_attention import solve
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, SourceKind, Statement, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality, Reduction, Step
from eigentoken.theory.systems.catalogue import system

W, B = matrix("W"), matrix("B")
#: ``A = W B^{-1}``, a term and not a parameter.
A = W * B.inv()
LARGEST = "the largest squared norm"


def calculus_rules(**more: Any) -> Any:
    """``A B = W`` with A symmetric, for the dimension-free calculus."""
    return Assumptions(symmetric=frozenset({"A"}), products={("A", "B"): (Letter("W"),)}, **more)


def token_field(rules: Any, state: str = "x") -> Any:
    """The registered token flow in the calculus."""
    return field_of("token-flow", {"B": Letter("B"), "W": Letter("W")}, rules, state)


def soft_average(index: Any, values: Any) -> Any:
    """``sum_k p_ik values(k)`` with the weights of the token flow."""
    pair = dot(vector("x", index), vector("x", TOKEN_K), (Letter("W"),))
    weight = exponential(pair) * factor(row_sum(pair, TOKEN_K), -1)
    return (weight * values(TOKEN_K)).summed(TOKEN_K)


def log_sum_exp_step(name: str, says: str, rules: Any, **options: Any) -> Reduction:
    """``d/dX ln sum_j exp(z^T W x_j) = sum_j softmax_j X^T W x_j``, for every number of tokens and every dimension."""
    pair = dot(vector("z"), vector("x", TOKEN_K), (Letter("W"),))
    total = row_sum(pair, TOKEN_K)
    weight = exponential(pair) * factor(total, -1)
    return tensor_step(
        name,
        says,
        derive=lambda: differentiate(factor(total), direction("z", "X"), rules) * factor(total, -1),
        claimed=(weight * dot(vector("X"), vector("x", TOKEN_K), (Letter("W"),))).summed(TOKEN_K),
        rules=rules,
        left="\\frac{1}{Z}\\,dZ(z)\\,X",
        **options,
    )


def _identities() -> tuple[Step, ...]:
    """Rows and columns, the key identity, and the gradient of the normaliser."""
    rules = calculus_rules()
    field = token_field(rules)
    tokens, score, value = tokens_of_symbols(2, 2, "x"), matrix_of_symbols(2, "w"), matrix_of_symbols(2, "v")

    def rows() -> list[Any]:
        """softmax(X W X^T) X V, with loops over rows."""
        weights = EXACT.attention(tokens, score, None, False)
        mixed = EXACT.average(weights, tokens)
        return [sum(row[b] * value[b][a] for b in range(2)) for row in mixed for a in range(2)]

    transposed = tuple(zip(*value, strict=True))
    return (
        Reduction(
            name="rows and columns",
            says="The row form $\\dot X = \\operatorname{softmax}(XWX^{\\top})XV$ is the registered column form with "
            "$B = V^{\\top}$.",
            scope="2 tokens, d = 2",
            derive=rows,
            claimed=tuple(
                entry for row in velocity("token-flow", {"B": transposed, "W": score}, tokens) for entry in row
            ),
            agrees=all_agree,
            entrywise=True,
            shows=lambda _: "\\dot x_l = \\sum_i p_{li}\\,B x_i, \\qquad B = V^{\\top}",
        ),
        tensor_step(
            "key identity",
            "Multiply by $A$, $AB = W$, and pair with a vector $X$: $X^{\\top}A\\dot x_i = \\sum_j "
            "p_{ij}\\,X^{\\top}Wx_j$.",
            derive=lambda: dot(vector("X"), instance(field, TOKEN_I), (Letter("A"),)),
            claimed=soft_average(TOKEN_I, lambda k: dot(vector("X"), vector("x", k), (Letter("W"),))),
            rules=rules,
            left="X^{\\top}A\\dot x_i",
            establishes=("A times the velocity is a softmax average",),
        ),
        log_sum_exp_step(
            "gradient",
            "The right side is the derivative along $X$ of $F(z) = \\ln Z(z)$, $Z(z) = \\sum_j e^{z^{\\top}Wx_j}$ with "
            "the other tokens frozen, at $z = x_i$. So $A\\dot x_l = \\nabla F(x_l)$.",
            rules,
            uses=("key identity",),
            establishes=("A times the velocity is the gradient of log-sum-exp",),
        ),
    )


def _growth() -> tuple[Step, ...]:
    """The largest norm grows at most exponentially, so solutions exist for all times; consensus."""
    from eigentoken.proofs.pham.energy import smooth_step

    weight, size, growth, speed, product, factor, first = sp.symbols("p M g v s E M_0", real=True)
    x = sp.Symbol("x", real=True)
    mass = sp.Symbol("P", real=True)
    return (
        Inequality(
            name="growth",
            says="With $g = \\lVert B\\rVert$ and the largest norm $M = |x_l|$: each summand of $\\tfrac{d}{dt}|x_l|^2 "
            "= 2\\sum_i p_{li}\\,x_l^{\\top}Bx_i$, where $s = x_l^{\\top}Bx_i \\le Mgv$ and $|x_i| = v \\le M$, is at "
            "most $2gp_{li}M^2$; and the weights $p$ sum to one.",
            hypotheses=(weight >= 0, growth >= 0, speed >= 0, speed <= size, product <= size * growth * speed),
            conclusion=2 * weight * product <= 2 * growth * weight * size**2,
            establishes=(
                f"{LARGEST} is the largest of finitely many differentiable functions of time",
                f"where {LARGEST} is attained the derivative is at most 2g times {LARGEST}",
            ),
        ),
        *bound_by_slope(
            LARGEST,
            "2g",
            names=("slope of the largest norm", "squared norms"),
            says=("For $\\max_l|x_l|^2$:", "So the squared norms grow at most exponentially."),
            formulas=(
                "D^+\\max_l|x_l|^2 \\le 2\\lVert B\\rVert\\max_l|x_l|^2",
                "\\max_l|x_l(t)|^2 \\le e^{2\\lVert B\\rVert t}\\max_l|x_l(0)|^2",
            ),
            uses=("growth",),
        ),
        Inequality(
            name="bound of the norms",
            says="Roots, with $E = e^{\\lVert B\\rVert t}$: $M \\le EM_0$.",
            hypotheses=(size >= 0, factor >= 0, first >= 0, size**2 <= factor**2 * first**2),
            conclusion=size <= factor * first,
            uses=("squared norms",),
            needs=(f"{LARGEST} at time t is at most exp(2g t) times {LARGEST} at the start",),
            establishes=("solutions are bounded on bounded intervals of time",),
        ),
        smooth_step(),
        Citation(
            name="global existence",
            says="So solutions exist for all times.",
            theorem=CONTINUATION,
            uses=("bound of the norms", "Lipschitz field"),
            establishes=("solutions exist for all times",),
        ),
        Identity(
            name="consensus",
            says="If all tokens are at $x$, any weights that sum to $P = 1$ give $\\dot x = P\\,Bx = Bx$.",
            left=mass * x,
            right=x,
            where={mass: sp.Integer(1)},
            establishes=("consensus states are invariant",),
        ),
        Identity(
            name="rest",
            says="If all scores vanish, the weights are $1/L$, and tokens whose sum $S$ is zero are pushed by $BS/L = 0$ "
            "(coordinatewise).",
            left=x * mass / first,
            right=sp.Integer(0),
            where={mass: sp.Integer(0)},
        ),
    )


def derive() -> Derivation:
    """Rows and columns, the key identity, growth, consensus."""
    return Derivation(
        (
            *_identities(),
            *_growth(),
        )
    )


def data() -> tuple[Any, Any, Any, Any]:
    """The data of the chapter: tokens, W, A = -diag(1, 2), B = A^{-1} W."""
    tokens = det_tokens(4, 2)
    score = as_numbers((("1", "0.5"), ("-0.5", "1")))
    form = as_numbers((("-1", "0"), ("0", "-2")))
    columns = solve(form, list(zip(*score, strict=True)))
    return tokens, score, form, tuple(zip(*columns, strict=True))


def field_example() -> Any:
    """``dx_1/dt``."""
    tokens, score, _, value = data()
    return system("token-flow").advance(numbers(), {"B": value, "W": score}, tokens)[0]


PH_M = register(
    Statement(
        id="PH-M",
        kind=Kind.DEFINITION,
        source=Source(PHAM, "the model; column convention", SourceKind.SUMMARISED),
        title="The unnormalised token flow",
        systems=("token-flow",),
        conditions=(Nonsingular(B),),
        claims=CLAIMS,
        proof=proof,
        derive=derive,
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"A factor $1/\sqrt{d_k}$ is absorbed in $W$, and $B = V^{\top}$ for the row convention.",
            ),
            Remark(
                RemarkKind.SOURCE,
                "The statements of this chapter are derived here; the paper's own texts were not at hand, and may "
                "differ in wording and strength.",
            ),
        ),
        vectors=(Vector("velocity of token 1", field_example, ("-0.181401274760940", "0.120096620803755")),),
        property_tests=(key_identity,),
    )
)
