"""AB-L4.1: bounds on the attention weights, and the sharp ones.

``|P| <= b``, ``K^2 = 1/lambda_min(W)``: all scores lie in ``[-K^2 b, K^2 b]``.
Reference: Abella-Silvestre-Tabuada, Lemma 4.1.
"""

from __future__ import annotations

import random
from typing import Any

import sympy as sp

from eigentoken.proofs.abella.attention_bounds import BOUNDS, of_every_weight, weight_bounds
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import det_matrix, numbers, symmetric_eigenpairs, times, transposed
from eigentoken.proofs.properties.first_failures import FirstFailure
from eigentoken.proofs.properties.matrices import weight_of_a_later_token
from eigentoken.proofs.steps.textbook import CAUCHY_SCHWARZ
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.terms import ell, matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Inequality, Step

W = matrix("W")

root = sp.Symbol("r", positive=True)
low, high = sp.symbols("m M", positive=True)
score, rest = sp.symbols("x S", positive=True)
RANGE = (sp.Eq(low * high, 1), low <= 1, low <= score, score <= high, (ell - 1) * low <= rest, rest <= (ell - 1) * high)
WEIGHT = score / (root * (score + rest))


def _step(name: str, says: str, conclusion: Any, **options: Any) -> Inequality:
    return Inequality(name=name, says=says, hypotheses=RANGE, conclusion=conclusion, uses=("scores",), **options)


def _scores() -> tuple[Step, ...]:
    """Scores of tokens on the ellipsoid lie between -K^2 b and K^2 b."""
    b = sp.Symbol("b", positive=True)
    form, least, square = sp.symbols("q lambda N", real=True)
    s, u, v, w, big, k = sp.symbols("s u v w K k", real=True)
    return (
        Inequality(
            name="norms",
            says="On $\\mathcal{E}_W$, $1 = q = y^{\\top}Wy \\ge \\lambda N$, $\\lambda = \\lambda_{\\min}(W)$, $N = "
            "|y|^2$: $|y|^2 \\le K^2 = 1/\\lambda$.",
            hypotheses=(sp.Eq(form, 1), least > 0, form >= least * square),
            conclusion=square <= 1 / least,
            establishes=("tokens have norm at most K",),
        ),
        Citation(
            name="products",
            says="For the Euclidean product of $y_i$ and $Py_j$:",
            theorem=CAUCHY_SCHWARZ,
            formula="|y_i^{\\top}Py_j| \\le |y_i|\\,|Py_j|",
            establishes=("inner products are bounded by the product of the norms",),
        ),
        Inequality(
            name="bounded scores",
            says="With $|y_i| = u \\le K$, $|y_j| = v \\le K$ and $|Py_j| = w \\le \\lVert P\\rVert\\,v \\le bv$ a "
            "score $s$ is at most $K^2b$ in modulus.",
            hypotheses=(s <= u * w, s >= -u * w, u >= 0, u <= big, v >= 0, v <= big, w >= 0, w <= b * v),
            conclusion=sp.And(s <= big**2 * b, s >= -(big**2) * b),
            uses=("norms", "products"),
            needs=("tokens have norm at most K", "inner products are bounded by the product of the norms"),
            establishes=("scores are at most K^2 b in modulus",),
        ),
        Inequality(
            name="scores",
            says="So each exponential of a score lies in $[m, M]$ with $M = 1/m = e^{k}$, $k = K^2 b$.",
            hypotheses=(s >= -k, s <= k),
            conclusion=sp.And(sp.exp(-k) <= sp.exp(s), sp.exp(s) <= sp.exp(k)),
            uses=("bounded scores",),
            needs=("scores are at most K^2 b in modulus",),
        ),
    )


def _bounds() -> tuple[Step, ...]:
    """All exponentials lie in [m, M] with m = e^{-K^2 b}, M = 1/m: the bounds."""
    return (
        _step(
            "sharp lower bound",
            "Write $x$ for the exponential of the pair $(i, j)$, $S$ for the sum of the other $\\ell - 1$ ones, $r = "
            "\\sqrt d$. The weight is smallest at $x = m$, $S = (\\ell - 1)M$; $M/m = M^2 = e^{2K^2b}$.",
            1 / (root * (1 + (ell - 1) * high**2)) <= WEIGHT,
        ),
        _step(
            "sharp upper bound",
            "It is largest at $x = M$, $S = (\\ell - 1)m$.",
            1 / (root * (1 + (ell - 1) * low**2)) >= WEIGHT,
        ),
        Inequality(
            name="printed lower bound",
            says="The printed $c_1 = 1/(\\sqrt d\\,\\ell\\,e^{2K^2b})$ is weaker. It needs only that there are at most "
            "$\\ell - 1$ others, so it holds under a mask, too, for the tokens that token $i$ sees.",
            hypotheses=(
                sp.Eq(low * high, 1),
                low <= 1,
                low <= score,
                score <= high,
                rest <= (ell - 1) * high,
            ),
            conclusion=1 / (root * ell * high**2) <= WEIGHT,
            uses=("scores",),
            establishes=("the weights are bounded below",),
            about=("ellipsoid-multihead-flow", "causal-flow"),
        ),
        Inequality(
            name="printed upper bound",
            says="And so is $c_2 = e^{2K^2b}$, since $d \\ge 1$.",
            hypotheses=(*RANGE, root >= 1),
            conclusion=high**2 >= WEIGHT,
            uses=("scores",),
            establishes=("the weights are bounded above",),
        ),
    )


def derive() -> Derivation:
    """All exponentials lie in [m, M] with m = e^{-K^2 b}, M = 1/m; the rest is one fraction."""
    return Derivation(
        (
            *_scores(),
            *_bounds(),
        )
    )


def bounds_example() -> list[Any]:
    """``b = |det_matrix(3)|``, K = 1, l = 4, n = 2: b, c_1, c_2 and the sharp bounds."""
    scalars = numbers()
    matrix_p = det_matrix(3)
    values, _ = symmetric_eigenpairs(times(transposed(matrix_p), matrix_p))
    b = scalars.sqrt(values[-1])
    big, third = scalars.exp(2 * b), scalars.sqrt(3 * scalars.one)
    return [b, 1 / (third * 4 * big), big, 1 / (third * (1 + 3 * big)), 1 / (third * (1 + 3 / big))]


def bounds_on_instances(instances: int, seed: int) -> Verdict:
    """Random exact exponentials inside the range: the four bounds, by exact rational arithmetic."""
    source = random.Random(seed)
    for _ in range(instances):
        top = sp.Rational(source.randint(10, 60), 10)
        bottom = 1 / top
        count = source.randint(2, 9)
        values = [bottom + (top - bottom) * sp.Rational(source.randint(0, 50), 50) for _ in range(count)]
        weight = values[0] / sum(values)
        if not 1 / (1 + (count - 1) * top**2) <= weight <= 1 / (1 + (count - 1) * bottom**2):
            return fails(f"a weight leaves the sharp bounds: {values}")
    return holds(f"{instances} exact instances stay within the sharp bounds")


AB_L41 = register(
    Statement(
        id="AB-L4.1",
        kind=Kind.LEMMA,
        source=Source(ABELLA, "Lemma 4.1"),
        title="Bounds on attention weights",
        systems=("ellipsoid-multihead-flow",),
        conditions=(Symmetric(W), PositiveDefinite(W)),
        claims=tuple(Formula(of_every_weight(each)) for each in BOUNDS),
        facts=("the metric is symmetric and positive definite",),
        derive=derive,
        proof=weight_bounds,
        vectors=(
            Vector(
                "b, c_1, c_2 and the sharp bounds for |det_matrix(3)|, K = 1, 4 tokens, d = 3",
                bounds_example,
                ("1.583525545406764", "0.006080601869146", "23.737381661146", "0.007995196228031", "0.512570148625844"),
            ),
        ),
        property_tests=(bounds_on_instances,),
        variants=(
            Variant(
                "j <= i",
                "causal weights of later tokens are 0, below every positive bound",
                FirstFailure(weight_of_a_later_token),
            ),
        ),
    )
)
