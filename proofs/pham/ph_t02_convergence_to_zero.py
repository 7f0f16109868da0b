"""PH-T2: with A symmetric negative definite, all tokens tend to zero iff ``sym W`` is positive definite.  PH-C2, PH-C4: why.

The summary's hypothesis "sym A < 0 and sym W > 0" is not enough without symmetry of A (PH-C2).
Reference: Pham-et-al, convergence regime; derived here.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import PHAM
from eigentoken.proofs.pham.energy import energy_steps, smooth_step
from eigentoken.proofs.pham.exact_instances import GROWS, grows
from eigentoken.proofs.pham.ph_m_token_flow import A, W, calculus_rules, data, token_field
from eigentoken.proofs.pham.regimes import CONVERGENCE, converges
from eigentoken.proofs.pham.singular_values import CLAIMS as CONSERVATION
from eigentoken.proofs.pham.singular_values import proof as conserves
from eigentoken.proofs.pham.slow_decay import decay_steps, mean_moves, three_tokens_example
from eigentoken.proofs.properties.deterministic_data import FLOATS, as_floats, numbers
from eigentoken.proofs.properties.first_failures import FirstFailure
from eigentoken.proofs.properties.flow_properties import conserved_height, rotations_grow
from eigentoken.proofs.properties.matrices import one_token_converges, positive_form_grows
from eigentoken.proofs.properties.trajectories import integrate
from eigentoken.proofs.steps.calculus_steps import TOKEN_I, along_flow, tensor_step
from eigentoken.proofs.steps.tensor_reductions import applied, slope, velocity
from eigentoken.proofs.steps.textbook import LASALLE, OSTROWSKI_SCHNEIDER, SPECTRAL
from eigentoken.proofs.steps.textbook_flows import LINEAR_GROWTH
from eigentoken.theory.calculus import Assumptions, Letter, vector, zero
from eigentoken.theory.calculus import dot as inner
from eigentoken.theory.language.conditions import NegativeDefinite, PositiveDefinite, Symmetric
from eigentoken.theory.language.observables import apply_matrix, dot
from eigentoken.theory.language.observables_attention import token_energy
from eigentoken.theory.language.terms import n
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import evaluate
from eigentoken.theory.statements.layer_systems import Covers
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    Source,
    SourceKind,
    Statement,
    Variant,
    Vector,
)
from eigentoken.theory.statements.steps import Citation, Computation, Derivation, Identity, Inequality, Step
from eigentoken.theory.systems.catalogue import system

INVARIANT_SET = "every trajectory tends to the largest invariant set where the derivative of the energy vanishes"


def _convergence() -> tuple[Step, ...]:
    """The energy decreases and is radially unbounded: LaSalle."""
    q, square, least = sp.symbols("q N mu", real=True)
    rest, small = sp.symbols("R epsilon", real=True)
    return (
        *energy_steps(),
        smooth_step(),
        Inequality(
            name="sign",
            says="With $\\operatorname{sym} W \\succ 0$, $q = \\bar x^{\\top}W\\bar x \\ge 0$: $\\dot{\\mathcal{E}} "
            "\\le -L\\,q \\le 0$.",
            hypotheses=(q >= 0, n >= 1),
            conclusion=-n * q <= 0,
            uses=("chain",),
            needs=("the energy rate is bounded by the mean token",),
            establishes=("the energy is continuously differentiable and does not increase along trajectories",),
        ),
        Inequality(
            name="radially unbounded",
            says="$\\mathcal{E} \\ge \\tfrac12\\mu N$ with $N = \\sum_l|x_l|^2$ and $\\mu = \\lambda_{\\min}(-A) > 0$, "
            "so trajectories are bounded: $N \\le 2\\mathcal{E}(0)/\\mu$.",
            hypotheses=(least > 0, q >= least * square / 2),
            conclusion=square <= 2 * q / least,
            uses=("sign",),
            establishes=("the trajectories are bounded",),
        ),
        Citation(
            name="LaSalle",
            says="So every trajectory tends to the largest invariant set where $\\dot{\\mathcal{E}} = 0$.",
            theorem=LASALLE,
            letters={"V": "the energy"},
            uses=("sign", "radially unbounded", "Lipschitz field"),
            establishes=(INVARIANT_SET,),
        ),
        Inequality(
            name="the limit",
            says="That set is the origin, where all tokens are zero; and with the distance to it, $\\sum_l|x_l|^2 = N "
            "+ R$, each part $N = |x_l|^2$ becomes smaller than any $\\epsilon$.",
            hypotheses=(square >= 0, rest >= 0, square + rest < small),
            conclusion=sp.And(square < small, small > 0),
            uses=("LaSalle", "equality"),
            needs=(INVARIANT_SET, "the energy rate vanishes only at the origin"),
            establishes=("all tokens tend to zero",),
        ),
        *decay_steps(),
    )


def _indefinite_scores() -> tuple[Step, ...]:
    """Necessity: an indefinite W has a state at rest away from zero."""
    q = sp.Symbol("q", real=True)
    x, weight, mass = sp.symbols("x p P", real=True)
    lowest, highest, one, other = sp.symbols("lambda mu a b", real=True)
    return (
        Citation(
            name="spectral theorem",
            says="In a basis of eigenvectors $e_k$ of $\\operatorname{sym} W$, with eigenvalues $\\lambda_k$:",
            theorem=SPECTRAL,
            letters={"A": "sym W"},
            formula="\\Bigl(\\sum_k a_ke_k\\Bigr)^{\\top}W\\Bigl(\\sum_k a_ke_k\\Bigr) = \\sum_k\\lambda_ka_k^2",
            establishes=("sym W has an orthonormal basis of eigenvectors",),
        ),
        Inequality(
            name="indefinite W",
            says="If $\\operatorname{sym} W$ is neither positive nor negative definite, it has eigenvalues $\\lambda "
            "\\le 0 \\le \\mu$. If both are zero, every eigenvector $x$ has $x^{\\top}Wx = 0$; otherwise take $x = ae "
            "+ bf$ with their unit eigenvectors $e \\perp f$ and $a^2 = \\mu$, $b^2 = -\\lambda$: the form vanishes, "
            "and $|x|^2 > 0$.",
            hypotheses=(
                lowest <= 0,
                highest >= 0,
                sp.Or(lowest < 0, highest > 0),
                sp.Eq(one**2, highest),
                sp.Eq(other**2, -lowest),
            ),
            conclusion=sp.And(sp.Eq(lowest * one**2 + highest * other**2, 0), one**2 + other**2 > 0),
            uses=("spectral theorem",),
            needs=("sym W has an orthonormal basis of eigenvectors",),
            establishes=("the form of an indefinite W vanishes at a vector that is not zero",),
        ),
        applied(
            "necessity, indefinite W",
            "At $(x, -x, 0, \\dots, 0)$ all scores are zero, the weights are uniform ($p$), and the push $p\\,(Bx - "
            "Bx)$ vanishes: an equilibrium that is not the origin.",
            weight * (x + q),
            {x: mass, q: -mass},
            sp.Integer(0),
            uses=("indefinite W",),
            needs=("the form of an indefinite W vanishes at a vector that is not zero",),
            establishes=("for indefinite W there is an equilibrium that is not the origin",),
        ),
    )


def _negative_scores() -> tuple[Step, ...]:
    """Necessity: for negative W consensus states grow."""
    q, square, least = sp.symbols("q N mu", real=True)
    one = sp.Symbol("a", real=True)
    return (
        tensor_step(
            "negative W",
            "If $\\operatorname{sym} W \\prec 0$, take $H = -A \\succ 0$: for every $z$ the form of $HB + B^{\\top}H$ "
            "is $-2z^{\\top}Wz$.",
            derive=lambda: (
                -(
                    inner(vector("z"), vector("z"), (Letter("A"), Letter("B")))
                    + inner(vector("z"), vector("z"), (Letter("B", True), Letter("A")))
                )
            ),
            claimed=inner(vector("z"), vector("z"), (Letter("W"),)) * -2,
            rules=calculus_rules(),
            left="-z^{\\top}(AB + B^{\\top}A)\\,z",
        ),
        Inequality(
            name="positive form",
            says="It is positive: $q = z^{\\top}Wz \\le -\\mu N$ with $\\mu > 0$, $N = |z|^2 > 0$.",
            hypotheses=(least > 0, square > 0, q <= -least * square),
            conclusion=-2 * q > 0,
            uses=("negative W",),
            establishes=("(-A) B + B^T (-A) is positive definite",),
        ),
        Citation(
            name="inertia",
            says="So $B$ has the inertia of $-A$.",
            theorem=OSTROWSKI_SCHNEIDER,
            letters={"H": "(-A)", "X": "B"},
            uses=("positive form",),
            formula="\\#\\{\\operatorname{Re}\\lambda(B) > 0\\} = \\#\\{\\lambda(-A) > 0\\}",
            establishes=("B has as many eigenvalues with positive real part as (-A) has positive ones",),
        ),
        Inequality(
            name="eigenvalues on the right",
            says="Every eigenvalue $a$ of $-A \\succ 0$, with an eigenvector $z$, $N = |z|^2 > 0$, is positive: $aN = "
            "z^{\\top}(-A)z = q > 0$. There are $D \\ge 1$ of them, so $B$ has $D$ eigenvalues with positive real "
            "part.",
            hypotheses=(sp.Eq(one * square, q), q > 0, square > 0),
            conclusion=one > 0,
            uses=("inertia",),
            needs=("B has as many eigenvalues with positive real part as (-A) has positive ones",),
            establishes=("B has an eigenvalue with positive real part",),
        ),
        recalled(
            "PH-M",
            "consensus states are invariant",
            "Consensus states move by $\\dot x = Bx$.",
            "\\dot x = Bx",
            name="consensus",
        ),
        Citation(
            name="necessity, negative W",
            says="So some consensus states do not converge: $\\operatorname{sym} W \\succ 0$ is necessary.",
            theorem=LINEAR_GROWTH,
            letters={"X": "B"},
            uses=("eigenvalues on the right", "consensus"),
            needs=("consensus states are invariant",),
            establishes=("some solution of the linear flow of B is unbounded",),
        ),
    )


def derive() -> Derivation:
    """Energy, LaSalle, and necessity."""
    return Derivation(
        (
            *_convergence(),
            *_indefinite_scores(),
            *_negative_scores(),
        )
    )


# -- examples and counterexamples --------------------------------------------------------------------------------------

_ROOT3 = sp.sqrt(3)


def indefinite_equilibrium() -> Verdict:
    """W = [[1, 4], [0, 1]], B = -W (Hurwitz), x = (1, -2 + sqrt 3): (x, -x, 0) is an equilibrium, exactly."""
    score = ((sp.Integer(1), sp.Integer(4)), (sp.Integer(0), sp.Integer(1)))
    value = tuple(tuple(-entry for entry in row) for row in score)
    x = (sp.Integer(1), -2 + _ROOT3)
    tokens = (x, tuple(-entry for entry in x), (sp.Integer(0), sp.Integer(0)))
    speed = [sp.simplify(entry) for row in velocity("token-flow", {"B": value, "W": score}, tokens) for entry in row]
    if all(entry == 0 for entry in speed):
        return holds(
            "A = -I, B = -W is Hurwitz, and (x, -x, 0) with x^T W x = 0 is an equilibrium away from the origin"
        )
    return fails(f"the velocity is {speed}")


def rotation(degrees: int) -> sp.Matrix:
    """The rotation of the plane by that angle, exactly."""
    angle = sp.pi * degrees / 180
    return sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])


def nonsymmetric_diverges() -> Verdict:
    """PH-C2: sym A = -I/2, sym W = I/2, and B has eigenvalues 1/2 +- i sqrt(3)/2."""
    form, score = -rotation(-60), rotation(60)
    value = (form.inv() * score).applyfunc(sp.simplify)
    symmetric = [((each + each.T) / 2).applyfunc(sp.simplify) for each in (form, score)]
    spectrum = value.eigenvals()
    grows = all(sp.simplify(sp.re(each) - sp.Rational(1, 2)) == 0 for each in spectrum)
    if symmetric[0] == -sp.eye(2) / 2 and symmetric[1] == sp.eye(2) / 2 and grows:
        return holds(
            "sym A = -I/2, sym W = I/2 exactly, and both eigenvalues of B have real part 1/2: consensus tokens grow"
        )
    return fails("the example does not check")


def derive_rotation() -> Derivation:
    """Consensus states move by B, whose eigenvalues have positive real part."""
    t = sp.Symbol("t", real=True)
    b, c, s = sp.symbols("b c s", real=True)
    return Derivation(
        (
            Computation(
                name="the matrices",
                says="$A = -R(-60^{\\circ})$, $W = R(60^{\\circ})$: symmetric parts and spectrum in exact arithmetic.",
                scope="the given instance",
                run=nonsymmetric_diverges,
                formula="\\operatorname{sym} A = -\\tfrac12 I,\\quad \\operatorname{sym} W = \\tfrac12 I,\\quad "
                "\\operatorname{spec} B = \\tfrac12 \\pm \\tfrac{\\sqrt3}{2}i",
            ),
            Identity(
                name="growth",
                says="A consensus state moves by $\\dot x = Bx$, and $|x|^2$ by $2x^{\\top}\\operatorname{sym}(B)\\,x "
                "= |x|^2$ since $\\operatorname{sym} B = \\tfrac12 I$: the norm is $e^{t/2}|x(0)|$.",
                left=2 * (c * (c / 2 + b * s) + s * (-b * c + s / 2)),
                right=c**2 + s**2,
                where={b: sp.sqrt(3) / 2},
                uses=("the matrices",),
            ),
            slope(
                "the norm",
                "Indeed $f = e^{t/2}$ has $\\tfrac{d}{dt}f^2 = f^2$.",
                sp.exp(t),
                t,
                sp.exp(t / 2) ** 2,
                uses=("growth",),
            ),
        )
    )


def derive_singular() -> Derivation:
    """A left kernel vector of B gives a conserved quantity for each token."""
    rules = Assumptions(eigen={("B", True, "u"): sp.Integer(0)})
    field = token_field(rules)
    determinant_w, determinant_a, determinant_b = sp.symbols("w a b", real=True)
    return Derivation(
        (
            tensor_step(
                "conservation",
                "Let $B^{\\top}u = 0$. Along the registered flow $u^{\\top}x_i$ is constant, for each token.",
                derive=lambda: along_flow(inner(vector("u"), vector("x", TOKEN_I)), field, rules, "x"),
                claimed=zero(),
                rules=rules,
                left="\\tfrac{d}{dt}\\,u^{\\top}x_i",
            ),
            Inequality(
                name="W = AB forces B invertible",
                says="With determinants $w = ab$: if $\\operatorname{sym} W \\succ 0$ then $w \\neq 0$, hence $b \\neq "
                "0$.",
                hypotheses=(sp.Eq(determinant_w, determinant_a * determinant_b), sp.Ne(determinant_w, 0)),
                conclusion=sp.Ne(determinant_b, 0),
            ),
        )
    )


def energy_example() -> list[Any]:
    """The rate of the energy and its two bounds, and the energy at the start."""
    import mpmath

    tokens, score, form, value = data()
    scalars = numbers()
    speed = system("token-flow").advance(scalars, {"B": value, "W": score}, tokens)
    rate = -sum(dot(x, apply_matrix(form, v)) for x, v in zip(tokens, speed, strict=True))
    middle = -sum(
        mpmath.log(sum(scalars.exp(dot(x, apply_matrix(score, y))) for y in tokens) / len(tokens)) for x in tokens
    )
    mean = [sum(column) / len(tokens) for column in zip(*tokens, strict=True)]
    last = -len(tokens) * dot(mean, apply_matrix(score, mean))
    return [rate, middle, last, token_energy(scalars, system("token-flow"), {"B": value, "W": score}, tokens)]


def decay_example() -> list[float]:
    """The energy at t = 10, and the scalar pair x' = -x tanh x^2 at t = 100."""
    import math

    tokens, score, _, value = data()
    matrix_w, matrix_b = as_floats(score), as_floats(value)
    flow = system("token-flow")

    def field(_: float, state: Any) -> list[float]:
        rows = tuple(tuple(state[2 * i : 2 * i + 2]) for i in range(4))
        return [entry for row in flow.advance(FLOATS, {"B": matrix_b, "W": matrix_w}, rows) for entry in row]

    end = integrate(field, [float(entry) for row in tokens for entry in row], [10.0])[0]
    rows = tuple(tuple(end[2 * i : 2 * i + 2]) for i in range(4))
    late = integrate(lambda _, x: [-x[0] * math.tanh(x[0] ** 2)], [1.0], [100.0])[0][0]
    return [token_energy(FLOATS, flow, {"B": matrix_b, "W": matrix_w}, rows), late]


ROTATED = Counterexample(
    name="PH-C2",
    says="$A = -R(-60^{\\circ})$, $W = R(60^{\\circ})$: $\\operatorname{sym} A = -\\tfrac12 I$, $\\operatorname{sym} W "
    "= \\tfrac12 I$, and consensus tokens grow like $e^{t/2}$.",
    instance={
        "system": "token-flow",
        "W": [["1/2", "-sqrt(3)/2"], ["sqrt(3)/2", "1/2"]],
        "B": [["1/2", "sqrt(3)/2"], ["-sqrt(3)/2", "1/2"]],
        "tokens": [["1", "0"], ["1", "0"]],
    },
    check=nonsymmetric_diverges,
)

PH_T2 = register(
    Statement(
        id="PH-T2",
        kind=Kind.THEOREM,
        source=Source(PHAM, "convergence regime; derived here", SourceKind.SUMMARISED),
        title="Convergence to zero",
        systems=("token-flow",),
        conditions=(Symmetric(A), NegativeDefinite(A), PositiveDefinite(W)),
        claims=CONVERGENCE,
        proof=converges,
        depends=("PH-M", "PH-T1"),
        facts=("(-A) is symmetric", "sym W is symmetric"),
        derive=derive,
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"Unless all tokens coincide, the deviations decay exactly like $t^{-1/2}$; the mean is $O(t^{-5/2})$ "
                r"and for $L \ge 3$ in general of that order, not exponentially small (on the line it follows "
                r"$-\tfrac12w^2\kappa_2\kappa_3$ with the central moments of the tokens, see the vectors), while for "
                r"$L = 2$ it decays exponentially. Nor is the extension to several heads with one symmetric $A \prec "
                r"0$, $W_{\eta} = AB_{\eta}$ and $\operatorname{sym} W_{\eta} \succ 0$ proved here; the system of the "
                r"statement has one head.",
            ),
        ),
        printed=Printed(
            text="In the summary at hand: when $A_{\\mathrm{sym}} \\prec 0$ and $W_{\\mathrm{sym}} \\succ 0$, all "
            "tokens converge to zero.",
            wrong="Without symmetry of $A$ this is false (PH-C2). The paper's theorems are reported to require "
            "symmetric $A$; with it the condition is necessary and sufficient.",
            kind=SourceKind.SUMMARISED,
            counterexamples=(ROTATED,),
        ),
        vectors=(
            Vector(
                "rate of the energy, its two bounds, energy at 0",
                energy_example,
                ("-1.180823180423962", "-0.613588640685277", "-0.003373805312773", "1.570023535341501"),
            ),
            Vector(
                "energy at t = 10; scalar pair at t = 100", decay_example, ("0.215186377970416", "0.070591595260111")
            ),
            Vector(
                "W = 1, B = -1 from (1, 0.2, -0.9): tokens and mean at t = 10; mean, skewness, mean over -(1/2) "
                "kappa_2 kappa_3 at t = 100",
                three_tokens_example,
                (
                    "0.252731447446",
                    "0.022040221066",
                    "-0.274634671667",
                    "4.5665614921E-5",
                    "1.32099136E-7",
                    "-0.149539392783",
                    "1.017907",
                ),
            ),
            Vector(
                "second coordinate of x with x^T W x = 0", lambda: [evaluate(-2 + _ROOT3).real], ("-0.267949192431123",)
            ),
        ),
        variants=(
            Variant("Symmetric(A)", "PH-C2: consensus tokens grow.", nonsymmetric_diverges),
            Variant(
                "PositiveDefinite(W)",
                "$W = \\begin{pmatrix}1&4\\\\0&1\\end{pmatrix}$, $B = -W$: an equilibrium $(x, -x, 0)$ away from the "
                "origin.",
                indefinite_equilibrium,
            ),
            Variant(
                "L >= 2",
                "one token converges although W is not definite: necessity needs two",
                FirstFailure(one_token_converges),
            ),
            Variant(
                "L = 2",
                "with three tokens the mean is pushed by the deviations: at (2, -1, -1), $W = 1$, $B = -1$, it is zero "
                "and moves",
                mean_moves,
            ),
            Variant(
                "NegativeDefinite(A)",
                "A > 0: B has an eigenvalue with positive real part, and consensus tokens grow",
                FirstFailure(positive_form_grows),
            ),
        ),
    )
)

PH_C2 = register(
    Statement(
        id="PH-C2",
        kind=Kind.COUNTEREXAMPLE,
        source=Source(PHAM, "boundary of PH-T2", SourceKind.SUMMARISED),
        title="Symmetry of A cannot be dropped",
        systems=("token-flow",),
        conditions=(NegativeDefinite(A), PositiveDefinite(W)),
        covers=Covers(example="its own rotations A and W"),
        claims=GROWS,
        proof=grows,
        depends=("PH-M",),
        derive=derive_rotation,
        vectors=(
            Vector(
                "imaginary part of an eigenvalue of B, growth factor at t = 10",
                lambda: [evaluate(_ROOT3 / 2).real, evaluate(sp.exp(5)).real],
                ("0.866025403784439", "148.413159102577"),
            ),
        ),
        property_tests=(rotations_grow,),
    )
)

PH_C4 = register(
    Statement(
        id="PH-C4",
        kind=Kind.COUNTEREXAMPLE,
        source=Source(PHAM, "boundary of PH-M", SourceKind.SUMMARISED),
        title="A singular value matrix conserves",
        systems=("token-flow",),
        claims=CONSERVATION,
        proof=conserves,
        depends=("PH-M",),
        derive=derive_singular,
        property_tests=(conserved_height,),
    )
)
