"""AB-E4, AB-E5, AB-E6: the discrete multi-head attention layer, with the normaliser on the right.

``y_i^+ = pi_W(y_i + sum_h sum_j alpha^h_ij U_h y_j)``, ``alpha^h_ij = exp(y_i^T P_h y_j) / Z^h_i``, ``Z^h_i = sqrt(d) sum_k
exp(y_i^T P_h y_k)``: rows of alpha sum to ``1/sqrt(d)``.  The printed matrix forms (4), (5) multiply by the diagonal
normaliser from the left of the exponential, which normalises over the wrong index.
Reference: Abella-Silvestre-Tabuada, eqs. (4)-(6).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.equations import (
    NORM_OF_THE_STEP,
    NORMALISED,
    PUSHED,
    norm_of_the_step,
    normalised,
    pushed,
)
from eigentoken.proofs.abella.heads_flow import attention_weight
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import det_matrix, det_tokens, diagonal, identity, numbers
from eigentoken.proofs.properties.flow_properties import order_of_factors, tangent_field
from eigentoken.proofs.steps.calculus_steps import HEAD, TOKEN_J, tensor_step
from eigentoken.proofs.steps.reductions import all_agree
from eigentoken.proofs.steps.tensor_reductions import EXACT, matrix_of_symbols, tokens_of_symbols
from eigentoken.theory.calculus import (
    ALPHA,
    DIMENSION,
    SLOT,
    Assumptions,
    CalculusAlgebra,
    Letter,
    one,
    vector,
)
from eigentoken.theory.calculus.derivative import COLUMN
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.observables import apply_matrix, dot
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import sign
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Vector
from eigentoken.theory.statements.steps import Derivation, Identity, Reduction
from eigentoken.theory.systems.catalogue import system

SIZES = "2 tokens, d = 2"


def matrix_form(tokens: Any, scores: Any, value: Any, *, right: bool, scalars: Any = EXACT) -> list[list[Any]]:
    """Columns of ``V x exp(S) D`` (right) or ``V x D exp(S)`` (left, as printed), ``S_ji = x_j^T K^T Q x_i``."""
    count, d = len(tokens), len(tokens[0])
    kernel = [
        [scalars.exp(dot(tokens[j], apply_matrix(scores, tokens[i]))) for i in range(count)] for j in range(count)
    ]
    inverse = [
        scalars.one / (scalars.sqrt(d * scalars.one) * sum(kernel[j][i] for j in range(count))) for i in range(count)
    ]
    columns = []
    for i in range(count):
        weights = [kernel[j][i] * (inverse[i] if right else inverse[j]) for j in range(count)]
        mixed = [sum(weights[j] * tokens[j][a] for j in range(count)) for a in range(d)]
        columns.append(list(apply_matrix(value, mixed)))
    return columns


def _transposed(rows: Any) -> tuple[tuple[Any, ...], ...]:
    return tuple(zip(*rows, strict=True))


def derive_matrix_form() -> Derivation:
    """The right-hand normaliser reproduces the weights of the systems."""
    tokens, scores, value = tokens_of_symbols(2, 2, "x"), matrix_of_symbols(2, "m"), matrix_of_symbols(2, "v")
    # K^T Q scores: x_j^T (K^T Q) x_i = x_i^T P x_j with P = Q^T K
    weights = EXACT.attention(tokens, _transposed(scores), None, True)
    componentwise = [entry for row in EXACT.apply(value, EXACT.average(weights, tokens)) for entry in row]
    total, normaliser, root = sp.symbols("E Z r", positive=True)
    return Derivation(
        (
            Identity(
                name="row sums",
                says="With $E = \\sum_k e^{y_i^{\\top}Py_k}$ the weights of token $i$ sum to $1/\\sqrt d$, not to 1: "
                "the factor rescales time and is not a temperature ($r = \\sqrt d$).",
                left=total / normaliser,
                right=1 / root,
                where={normaliser: root * total},
                establishes=("rows of the attention matrix sum to one over root d",),
            ),
            Reduction(
                name="order of the factors",
                says="Multiplying the columns, $V x \\exp(x^{\\top}K^{\\top}Qx)\\,D$, gives the componentwise layer "
                "(6).",
                scope=SIZES,
                derive=lambda: [entry for column in matrix_form(tokens, scores, value, right=True) for entry in column],
                claimed=tuple(componentwise),
                agrees=all_agree,
                entrywise=True,
                shows=lambda _: (
                    "z_i = \\bigl[V x \\exp(x^{\\top}K^{\\top}Qx)\\,D\\bigr]_i = \\sum_j "
                    "\\frac{e^{x_i^{\\top}Q^{\\top}Kx_j}}{\\sqrt d\\,\\sum_k e^{x_i^{\\top}Q^{\\top}Kx_k}}\\, V x_j"
                ),
            ),
        )
    )


def derive_layer() -> Derivation:
    """The registered layer, for every number of tokens and heads and every dimension."""
    chosen = system("ellipsoid-map")
    value, score, metric = Letter("U", False, (HEAD,)), Letter("P", False, (HEAD,)), Letter("W")
    rules = Assumptions(symmetric=frozenset({"W"}), unit={"y": (metric,)})
    here, other = vector("y", SLOT), vector("y", TOKEN_J)

    def row_sums() -> Any:
        weights = CalculusAlgebra(rules).attention(here, score, None, chosen.over_root_d)
        return weights.summed(COLUMN)

    def pushed() -> Any:
        given = {"heads": [{"U": value, "P": score}], "W": metric, "alpha": ALPHA}
        return chosen.raw_step(CalculusAlgebra(rules), given, here)

    return Derivation(
        (
            tensor_step(
                "row sums of the system",
                "In the registered layer the weights of each head $h$ and token sum to $1/\\sqrt d$.",
                derive=row_sums,
                claimed=one() / sp.sqrt(DIMENSION),
                rules=rules,
                left="\\sum_j \\alpha^{h}_{ij}",
            ),
            tensor_step(
                "componentwise",
                "Before normalisation the registered layer, with values scaled by $\\alpha$, is the sum of (6).",
                derive=pushed,
                claimed=here + (attention_weight(score, SLOT) * other).applied((value,)).summed(TOKEN_J, HEAD) * ALPHA,
                rules=rules,
                left="y_i + \\alpha\\,u_i",
            ),
        )
    )


# -- the printed order is wrong ----------------------------------------------------------------------------------------

_TOKENS = ((1, 0), (0, 1))
_KQ = ((1, 0), (2, 0))


def printed_order_fails() -> Verdict:
    """As printed the weights of token 1 do not sum to ``1/sqrt(2)``: certified by balls."""
    tokens = tuple(tuple(sp.Integer(entry) for entry in row) for row in _TOKENS)
    unit = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(1)))
    scores = tuple(tuple(sp.Integer(entry) for entry in row) for row in _KQ)
    right = sum(matrix_form(tokens, scores, unit, right=True)[0])
    left = sum(matrix_form(tokens, scores, unit, right=False)[0])
    if sp.expand(sp.simplify(right - 1 / sp.sqrt(2))) != 0:
        return fails("the corrected order does not sum to 1/sqrt(2)")
    if sign(left - 1 / sp.sqrt(2) - 2) == 1:
        return holds("tokens e_1, e_2: the printed weights of token 1 sum to more than 1/sqrt(2) + 2")
    return fails("the printed weights sum to 1/sqrt(2)")


def order_example(right: bool) -> list[Any]:
    """``z_1`` for the tokens e_1, e_2."""
    scalars = numbers()
    rows = [tuple(tuple(entry * scalars.one for entry in row) for row in each) for each in (_TOKENS, _KQ, identity(2))]
    return matrix_form(rows[0], rows[1], rows[2], right=right, scalars=scalars)[0]


def layer_data() -> tuple[Any, Any, Any]:
    """The data of AB-E6: tokens on the ellipsoid, heads and metric."""
    scalars = numbers()
    metric = diagonal(scalars.one, 2 * scalars.one, 3 * scalars.one)
    tokens = scalars.normalise(det_tokens(3, 3), metric)
    heads = [{"P": det_matrix(3, 1), "U": det_matrix(3, 3)}, {"P": det_matrix(3, 2), "U": None}]
    return tokens, heads, metric


def layer_example() -> Any:
    """``y_1^+`` with values scaled by 1/10."""
    tokens, heads, metric = layer_data()
    scalars = numbers()
    parameters = {"heads": heads, "W": metric, "alpha": scalars.one / 10}
    return system("ellipsoid-map").advance(scalars, parameters, tokens)[0]


ORDER = Counterexample(
    name="two tokens",
    says="$x_1 = e_1$, $x_2 = e_2$, $K^{\\top}Q = \\begin{pmatrix}1&0\\\\2&0\\end{pmatrix}$, $V = I$: with $D$ on the "
    "left the weights of token 1 do not sum to $1/\\sqrt2$.",
    instance={"tokens": [["1", "0"], ["0", "1"]], "KTQ": [["1", "0"], ["2", "0"]], "V": [["1", "0"], ["0", "1"]]},
    check=printed_order_fails,
)


def proof(kernel: Kernel) -> Proved:
    """The equation of the layer, with its weights."""
    return kernel.conjunction(*(each(kernel) for each in (pushed, normalised, norm_of_the_step)))


AB_E4 = register(
    Statement(
        id="AB-E4",
        kind=Kind.DEFINITION,
        source=Source(ABELLA, "eq. (4)"),
        title="Self-attention in matrix form",
        systems=("ellipsoid-map",),
        claims=(PUSHED,),
        derive=derive_matrix_form,
        proof=pushed,
        printed=Printed(
            text="$z = V x\\, D \\exp(x^{\\top}K^{\\top}Qx)$.",
            wrong="With $D$ to the left of the exponential the sum over the keys is divided by the normaliser of the "
            "key, not of the query; (6) and everything later need it on the right.",
            counterexamples=(ORDER,),
        ),
        vectors=(
            Vector("z_1, corrected order", lambda: order_example(True), ("0.190170302792672", "0.516936478393875")),
            Vector("z_1, as printed", lambda: order_example(False), ("0.190170302792672", "2.612425837060839")),
        ),
        property_tests=(order_of_factors,),
    )
)

AB_E5 = register(
    Statement(
        id="AB-E5",
        kind=Kind.DEFINITION,
        source=Source(ABELLA, "eq. (5)"),
        title="The multi-head layer in matrix form",
        systems=("ellipsoid-map",),
        claims=(PUSHED, NORMALISED, NORM_OF_THE_STEP),
        depends=("AB-E2", "AB-E4"),
        derive=derive_matrix_form,
        proof=lambda kernel: kernel.conjunction(pushed(kernel), normalised(kernel), norm_of_the_step(kernel)),
        printed=Printed(
            text="$D_{\\eta}$ to the left of the exponential; output matrices $W_{\\eta}$ for $1 \\le \\eta \\le "
            "\\ell$.",
            wrong="The order of $D_{\\eta}$ as in (4); and the index of the output matrices runs over the $h$ heads, "
            "not over the $\\ell$ tokens.",
            counterexamples=(ORDER,),
        ),
        property_tests=(order_of_factors,),
    )
)

AB_E6 = register(
    Statement(
        id="AB-E6",
        kind=Kind.DEFINITION,
        source=Source(ABELLA, "eq. (6)"),
        title="The multi-head layer, componentwise",
        systems=("ellipsoid-map",),
        claims=(PUSHED, NORMALISED, NORM_OF_THE_STEP),
        depends=("AB-E2", "AB-E5"),
        derive=derive_layer,
        proof=proof,
        vectors=(
            Vector(
                "step 1/10, three tokens, two heads",
                layer_example,
                ("0.165756295318650", "-0.255131287850258", "-0.529887064219655"),
            ),
        ),
        property_tests=(tangent_field,),
    )
)
