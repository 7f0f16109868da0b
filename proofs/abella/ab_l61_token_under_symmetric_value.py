"""AB-L6.1: one token under a symmetric value matrix: Oja's flow in its own time.

``y(t) = e^{sU} y_0 / |e^{sU} y_0|``, ``s = int abar``.  The equilibria of smaller eigenvalues are unstable, but their domain of
attraction is not empty.  Reference: Abella-Silvestre-Tabuada, Lemma 6.1.
"""

from __future__ import annotations

import random
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import as_numbers, numbers, symmetric_eigenpairs
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.proofs.steps.textbook import RAYLEIGH
from eigentoken.proofs.steps.textbook_flows import EXPONENTIAL_LIMIT, NULL_SUBMANIFOLDS
from eigentoken.theory.language.conditions import InHemisphere, SimpleTop, Symmetric
from eigentoken.theory.language.observables import dot
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality, Step

U = matrix("U")
VALUE = ((2, 1, 0), (1, 0, 1), (0, 1, -1))


def _coordinates() -> tuple[Step, ...]:
    """Each eigencoordinate grows at its own rate; ratios to the top one decay."""
    s, mu, lam, start, top = sp.symbols("s mu lambda c_mu c_lambda", real=True)
    square = sp.Function("N", positive=True)(s)
    growth = sp.Symbol("R", real=True)
    coordinate = start * sp.exp(mu * s) / sp.sqrt(square)
    slope = sp.diff(coordinate, s).subs(sp.Derivative(square, s), 2 * growth)
    size = sp.Symbol("N", positive=True)
    height = sp.Symbol("b", real=True)
    coordinate_mu, quotient, ratio, fast, slow = sp.symbols("y_mu q k E D", real=True)
    return (
        Identity(
            name="closed form",
            says="In the eigenbasis of $U$ let $z = e^{sU}y_0$, $N = |z|^2$, $R = z^{\\top}Uz$, so that "
            "$\\tfrac{dN}{ds} = 2R$. The coordinate $y_{\\mu} = c_{\\mu}e^{\\mu s}/\\sqrt N$ solves "
            "$\\tfrac{dy_{\\mu}}{ds} = (\\mu - R/N)\\,y_{\\mu}$, and $R/N = y^{\\top}Uy$: the flow (22) in the time "
            "$s$.",
            left=slope.subs(square, size),
            right=(mu - growth / size) * start * sp.exp(mu * s) / sp.sqrt(size),
            establishes=("the solution in closed form",),
        ),
        Identity(
            name="ratios",
            says="Against the top coordinate every other one decays at the rate $\\lambda - \\mu$: the normalisation "
            "cancels.",
            left=(start * sp.exp(mu * s) / sp.sqrt(size)) / (top * sp.exp(lam * s) / sp.sqrt(size)),
            right=start / top * sp.exp(mu * s - lam * s),
            uses=("closed form",),
        ),
        Inequality(
            name="decay",
            says="For $\\mu < \\lambda$ and $s > 0$ the exponential factor $E = e^{-(\\lambda-\\mu)s}$ is below one, "
            "and it tends to zero.",
            hypotheses=(lam > mu, s > 0),
            conclusion=sp.exp(-(lam - mu) * s) < 1,
            uses=("ratios",),
        ),
        Inequality(
            name="coordinates",
            says="Let $v^{\\top}y_0 > 0$, $b = v^{\\top}y$ and $\\delta$ the gap between $\\lambda$ and the next "
            "eigenvalue. A coordinate $y_{\\mu} = q\\,b$ is $q$ times the top one, $q^2 = k^2 E$ with $k = "
            "c_{\\mu}/c_{\\lambda}$ and $E = e^{-2(\\lambda-\\mu)s} \\le D = e^{-2\\delta s}$; since $b^2 \\le 1$, $0 "
            "\\le y_{\\mu}^2 \\le k^2 D$.",
            hypotheses=(
                sp.Eq(coordinate_mu, quotient * height),
                height**2 <= 1,
                sp.Eq(quotient**2, ratio**2 * fast),
                fast <= slow,
            ),
            conclusion=sp.And(coordinate_mu**2 >= 0, coordinate_mu**2 <= ratio**2 * slow),
            uses=("ratios", "decay"),
        ),
    )


def _attraction() -> tuple[Step, ...]:
    """The distance to v tends to zero, from exactly the open hemisphere of v."""
    s, mu, lam, top = sp.symbols("s mu lambda c_lambda", real=True)
    height = sp.Symbol("b", real=True)
    fast_exponent, slow_exponent = sp.symbols("x z", real=True)
    delta, others, scale = sp.symbols("delta S f", real=True)
    return (
        Inequality(
            name="ordered exponents",
            says="Indeed for $\\lambda - \\mu \\ge \\delta > 0$ and $s > 0$ the exponents are ordered,",
            hypotheses=(delta > 0, lam - mu >= delta, s > 0),
            conclusion=sp.And((lam - mu) * s >= delta * s, delta * s > 0),
            uses=("decay",),
        ),
        Inequality(
            name="slowest factor",
            says="and so are their exponentials, with $x = (\\lambda - \\mu)s$ and $z = \\delta s$; both are below one.",
            hypotheses=(fast_exponent >= slow_exponent, slow_exponent > 0),
            conclusion=sp.And(sp.exp(-2 * fast_exponent) <= sp.exp(-2 * slow_exponent), sp.exp(-2 * slow_exponent) < 1),
            uses=("ordered exponents",),
        ),
        Inequality(
            name="distance",
            says="With $S = \\sum_{\\mu<\\lambda} y_{\\mu}^2 = 1 - b^2$ and $b > 0$ (a positive multiple of "
            "$c_{\\lambda}$), $|y - v|^2 = 2(1 - b)$ lies between zero and $2S$, a multiple of $e^{-2\\delta s}$.",
            hypotheses=(height > 0, height <= 1, sp.Eq(others, 1 - height**2)),
            conclusion=sp.And(2 * (1 - height) >= 0, 2 * (1 - height) <= 2 * others),
            uses=("coordinates", "slowest factor"),
            needs=("the solution in closed form", "the top eigenvalue is simple"),
            establishes=("the squared distance to v lies between zero and a decaying exponential of s",),
        ),
        Citation(
            name="attraction",
            says="So $y \\to v$ from every start with $v^{\\top}y_0 > 0$, for any sign of $\\lambda$.",
            theorem=EXPONENTIAL_LIMIT,
            letters={"q": "the squared distance to v"},
            uses=("distance",),
            establishes=("the squared distance to v tends to zero",),
            formula="|y(t) - v|^2 \\to 0",
        ),
        Inequality(
            name="exactly the hemisphere",
            says="If $v^{\\top}y_0 = c_{\\lambda} \\le 0$, then $b = c_{\\lambda}f$ with a positive factor $f = "
            "e^{\\lambda s}/\\sqrt N$ is never positive, and $|y - v|^2 = 2(1 - b) \\ge 2$: $v$ attracts exactly "
            "$\\{v^{\\top}y > 0\\}$.",
            hypotheses=(sp.Eq(height, top * scale), scale > 0, top <= 0),
            conclusion=2 * (1 - height) >= 2,
            uses=("closed form", "attraction"),
            needs=("the squared distance to v tends to zero",),
            establishes=("v attracts exactly the open hemisphere around v",),
        ),
    )


def _other_eigenvectors() -> tuple[Step, ...]:
    """The other eigenvectors attract null sets and are unstable."""
    lam, top = sp.symbols("lambda c_lambda", real=True)
    rayleigh, height, end = sp.symbols("rho b l", real=True)
    return (
        Inequality(
            name="domain of the others",
            says="By the symmetry $y \\to -y$, $-v$ attracts $\\{v^{\\top}y < 0\\}$. Let $l$ be the limit of the "
            "height: $1$ if $c_{\\lambda} = v^{\\top}y_0 > 0$, $-1$ if it is negative. On $L_{\\mu}$, $\\mu < "
            "\\lambda$, heights are zero: a start whose limit is there has $v^{\\top}y_0 = 0$. (The equilibrium "
            "itself is such a start.)",
            hypotheses=(
                sp.Implies(top > 0, sp.Eq(end, 1)),
                sp.Implies(top < 0, sp.Eq(end, -1)),
                sp.Eq(end, 0),
            ),
            conclusion=sp.Eq(top, 0),
            uses=("exactly the hemisphere",),
            needs=("v attracts exactly the open hemisphere around v",),
            establishes=(
                "the domain of the other equilibria lies in finitely many submanifolds of positive codimension",
            ),
        ),
        Citation(
            name="null domain",
            says="The equator $\\{v^{\\top}y = 0\\}$ is a null set, and so is the domain.",
            theorem=NULL_SUBMANIFOLDS,
            letters={"B": "the domain of the other equilibria"},
            uses=("domain of the others",),
            formula="\\operatorname{meas}\\{y_0 : v^{\\top}y_0 = 0\\} = 0",
            establishes=("the domain of the other equilibria has measure zero",),
        ),
        Citation(
            name="Rayleigh",
            says="On the sphere, with the top eigenvalue $\\lambda$:",
            theorem=RAYLEIGH,
            letters={"A": "U"},
            formula="y^{\\top}Uy \\le \\lambda",
            establishes=("a unit vector where the form of U is its top eigenvalue is an eigenvector",),
        ),
        Inequality(
            name="instability of the others",
            says="At an equilibrium in $L_{\\mu}$, $\\mu < \\lambda$, the height $b = v^{\\top}y > 0$ grows: $\\dot b "
            "= \\bar\\alpha(\\lambda - \\rho)\\,b$ with $\\rho = y^{\\top}Uy$ near $\\mu$.",
            hypotheses=(height > 0, rayleigh < lam),
            conclusion=(lam - rayleigh) * height > 0,
            uses=("Rayleigh",),
            needs=("a unit vector where the form of U is its top eigenvalue is an eigenvector",),
            establishes=("the other equilibria are unstable",),
        ),
    )


def derive() -> Derivation:
    """Each eigencoordinate of ``e^{sU} y_0`` grows at its own rate; the normalisation is common."""
    return Derivation(
        (
            *_coordinates(),
            *_attraction(),
            *_other_eigenvectors(),
        )
    )


def nonempty_domain() -> Verdict:
    """U = diag(3, 2, 1), y_0 = (0, 1, 1)/sqrt 2: the first coordinate stays 0, the ratio of the others decays like e^{-s}."""
    b, c = sp.symbols("b c", positive=True)
    value = tuple(tuple(sp.Integer(3 - p if p == q else 0) for q in range(3)) for p in range(3))
    speed = velocity("oja-flow", {"V": value}, ((sp.Integer(0), b, c),))[0]
    ratio_rate = sp.simplify((speed[2] * b - c * speed[1]) / b**2 / (c / b))
    if speed[0] == 0 and ratio_rate == -1:
        return holds("y_1 = 0 is invariant and d/ds (y_3/y_2) = -(y_3/y_2) exactly, so (0, 1, 1)/sqrt(2) tends to e_2")
    return fails(f"the first coordinate moves by {speed[0]}, the ratio at the rate {ratio_rate}")


def closed_form_example() -> Any:
    """``y`` at s = 0.7 from (1, 1, 1)/sqrt 3."""
    scalars = numbers()
    values, vectors = symmetric_eigenpairs(as_numbers(VALUE))
    start = [scalars.one / scalars.sqrt(3 * scalars.one)] * 3
    moment = scalars.one * 7 / 10
    grown = [scalars.exp(moment * value) * dot(vector, start) for value, vector in zip(values, vectors, strict=True)]
    point = [sum(g * vector[a] for g, vector in zip(grown, vectors, strict=True)) for a in range(3)]
    return scalars.normalise((point,))[0]


def ratios_on_instances(instances: int, seed: int) -> Verdict:
    """``d/ds (y_k / y_1) = -(lambda - mu_k) (y_k / y_1)`` exactly, for random rational spectra and tokens."""
    source = random.Random(seed)
    for _ in range(instances):
        d = source.choice((2, 3, 4))
        spectrum = [sp.Rational(source.randint(-20, 20), source.randint(1, 6)) for _ in range(d)]
        value = tuple(tuple(spectrum[p] if p == q else sp.Integer(0) for q in range(d)) for p in range(d))
        token = [sp.Rational(source.randint(1, 9), 5), *(sp.Rational(source.randint(-9, 9), 5) for _ in range(d - 1))]
        speed = velocity("oja-flow", {"V": value}, (tuple(token),))[0]
        for k in range(1, d):
            slope = (speed[k] * token[0] - token[k] * speed[0]) / token[0] ** 2
            if slope != (spectrum[k] - spectrum[0]) * token[k] / token[0]:
                return fails(f"the ratio of coordinate {k + 1} moves wrongly for {spectrum}, {token}")
    return holds(f"{instances} exact instances")


AB_L61 = register(
    Statement(
        id="AB-L6.1",
        kind=Kind.LEMMA,
        source=Source(ABELLA, "Lemma 6.1"),
        title="One token under a symmetric value matrix",
        systems=("causal-flow",),
        conditions=(Symmetric(U), SimpleTop(U), InHemisphere(U)),
        text="Let $\\dot y = \\bar\\alpha(t)\\bigl(Uy - (y^{\\top}Uy)\\,y\\bigr)$ with $\\int\\bar\\alpha = \\infty$. "
        "Then $y(t) = e^{sU}y_0/|e^{sU}y_0|$, $s = \\int_0^t\\bar\\alpha$. If the top eigenvalue is simple with unit "
        "eigenvector $v$, then $v$ attracts exactly $\\{v^{\\top}y > 0\\}$, for any sign of $\\lambda$. Equilibria in "
        "$L_{\\mu}$, $\\mu < \\lambda$, are unstable; their domain of attraction is a nonempty subset of "
        "$v^{\\perp}$, of measure zero.",
        facts=(
            "U is symmetric",
            "the top eigenvalue is simple",
            "s tends to infinity",
        ),
        derive=derive,
        prose_from=("null domain", "instability of the others"),
        printed=Printed(
            text="(2) $y^* \\in L_{\\mu}(U) \\cap S^n$, $\\mu < \\lambda$, is unstable with empty domain of attraction.",
            wrong="Unstable, yes; the domain of attraction is not empty (it contains $y^*$ itself, and more). It is a "
            "null set.",
            counterexamples=(
                Counterexample(
                    name="diag(3, 2, 1)",
                    says="$U = \\operatorname{diag}(3, 2, 1)$, $y_0 = (0, 1, 1)/\\sqrt2 \\to e_2$.",
                    instance={
                        "system": "causal-flow",
                        "U": [["3", "0", "0"], ["0", "2", "0"], ["0", "0", "1"]],
                        "tokens": [["0", "sqrt(1/2)", "sqrt(1/2)"]],
                    },
                    check=nonempty_domain,
                ),
            ),
        ),
        property_tests=(ratios_on_instances,),
        vectors=(
            Vector(
                "eigenvalues of U",
                lambda: symmetric_eigenpairs(as_numbers(VALUE))[0],
                ("-1.699628148275318", "0.239123278256555", "2.460504870018763"),
            ),
            Vector(
                "y at s = 0.7 from (1, 1, 1)/sqrt 3",
                closed_form_example,
                ("0.844491739157210", "0.494837870180806", "0.204863819963786"),
            ),
        ),
    )
)
