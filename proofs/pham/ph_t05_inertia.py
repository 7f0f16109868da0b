"""PH-T5: inertia: with A symmetric and ``sym W`` definite, B has as many eigenvalues on the right as A, or as -A.

Reference: Pham-et-al, intermediate regime; derived here.
"""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import PHAM
from eigentoken.proofs.pham.inertia import CLAIMS, proof
from eigentoken.proofs.pham.ph_m_token_flow import A, W, calculus_rules
from eigentoken.proofs.properties.deterministic_data import as_numbers, eigenvalues
from eigentoken.proofs.properties.first_failures import FirstFailure
from eigentoken.proofs.properties.matrices import inertia_with_negative_scores, inertia_without_symmetry
from eigentoken.proofs.steps.calculus_steps import tensor_step
from eigentoken.proofs.steps.textbook import OSTROWSKI_SCHNEIDER
from eigentoken.theory.calculus import Letter, dot, vector
from eigentoken.theory.language.conditions import AnyOf, NegativeDefinite, Nonsingular, PositiveDefinite, Symmetric
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, SourceKind, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Inequality, Step


def _positive_scores() -> tuple[Step, ...]:
    """A B + B^T A = W + W^T with W > 0: A and B have the same inertia."""
    rules = calculus_rules()
    z = vector("z")
    least, square, form = sp.symbols("mu N q", real=True)
    return (
        tensor_step(
            "Lyapunov form",
            "For every $z$, since $A$ is symmetric and $AB = W$: $z^{\\top}(AB + B^{\\top}A)z = 2z^{\\top}Wz$, the "
            "form of $W + W^{\\top} \\succ 0$.",
            derive=lambda: dot(z, z, (Letter("A"), Letter("B"))) + dot(z, z, (Letter("B", True), Letter("A"))),
            claimed=dot(z, z, (Letter("W"),)) * 2,
            rules=rules,
            left="z^{\\top}(AB + B^{\\top}A)\\,z",
        ),
        Inequality(
            name="hypotheses",
            says="With $\\mu = \\lambda_{\\min}(\\operatorname{sym} W) > 0$ the form $q = z^{\\top}Wz \\ge \\mu N$, $N "
            "= |z|^2 > 0$, is positive.",
            hypotheses=(least > 0, square > 0, form >= least * square),
            conclusion=2 * form > 0,
            uses=("Lyapunov form",),
            needs=("sym W is positive definite",),
            establishes=("A B + B^T A is positive definite",),
        ),
        Citation(
            name="inertia",
            says="With $H = A$, $X = B$.",
            theorem=OSTROWSKI_SCHNEIDER,
            letters={"H": "A", "X": "B"},
            uses=("hypotheses",),
            establishes=(
                "B has no eigenvalue on the imaginary axis",
                "B has as many eigenvalues with positive real part as A has positive ones",
            ),
            formula="\\#\\{\\operatorname{Re}\\lambda(B) > 0\\} = \\#\\{\\lambda(A) > 0\\}, \\qquad "
            "\\operatorname{Re}\\lambda(B) \\neq 0",
        ),
    )


def _negative_scores() -> tuple[Step, ...]:
    """For W < 0 the signs are opposite."""
    rules = calculus_rules()
    z = vector("z")
    least, square, form = sp.symbols("mu N q", real=True)
    return (
        tensor_step(
            "negative scores",
            "If $\\operatorname{sym} W \\prec 0$, the matrix $-A$ takes the place of $A$:",
            derive=lambda: -(dot(z, z, (Letter("A"), Letter("B"))) + dot(z, z, (Letter("B", True), Letter("A")))),
            claimed=dot(z, z, (Letter("W"),)) * -2,
            rules=rules,
            left="z^{\\top}\\bigl((-A)B + B^{\\top}(-A)\\bigr)z",
        ),
        Inequality(
            name="negative scores, positive form",
            says="is positive, since then $q = z^{\\top}Wz \\le -\\mu N$ with $\\mu > 0$, $N = |z|^2 > 0$.",
            hypotheses=(least > 0, square > 0, form <= -least * square),
            conclusion=-2 * form > 0,
            uses=("negative scores",),
            establishes=("(-A) B + B^T (-A) is positive definite",),
        ),
        Citation(
            name="inertia for negative scores",
            says="So the count is flipped.",
            theorem=OSTROWSKI_SCHNEIDER,
            letters={"H": "(-A)", "X": "B"},
            uses=("negative scores, positive form",),
            formula="\\operatorname{sym} W \\prec 0:\\qquad \\#\\{\\operatorname{Re}\\lambda(B) > 0\\} = "
            "\\#\\{\\lambda(A) < 0\\}",
            establishes=("B has as many eigenvalues with positive real part as (-A) has positive ones",),
        ),
    )


def derive() -> Derivation:
    """``A B + B^T A = W + W^T`` and the inertia theorem, for both signs of W."""
    return Derivation(
        (
            *_positive_scores(),
            *_negative_scores(),
        )
    )


def example() -> list[Any]:
    """Real parts of the eigenvalues of B for A = diag(1, -1, -2)."""
    score = as_numbers(((1, 1, 0), (-1, 1, 2), (0, -2, 1)))
    form = (1, -1, -2)
    value = tuple(tuple(entry / form[a] for entry in row) for a, row in enumerate(score))
    return [each.real for each in eigenvalues(value)]


def inertia_on_instances(instances: int, seed: int) -> Verdict:
    """Random rational A (symmetric) and W (definite symmetric part), d = 2, 3: exact counts by Routh's criterion.

    For real polynomials of degree 2 and 3 the number of roots on the right follows from the signs of the coefficients and of
    ``a_1 a_2 - a_3`` (Routh), which are exact here.
    """
    source = random.Random(seed)

    def number() -> Any:
        return sp.Rational(source.randint(-9, 9), source.randint(1, 5))

    done = 0
    while done < instances:
        d = source.choice((2, 3))
        root = sp.Matrix(d, d, lambda *_: number())
        turn = sp.Matrix(d, d, lambda *_: number())
        way = source.choice((1, -1))
        score = way * (root * root.T + sp.eye(d)) + turn - turn.T
        half = sp.Matrix(d, d, lambda *_: number())
        form = half + half.T
        if form.det() == 0:
            continue
        value = form.inv() * score
        right = _roots_on_the_right([sp.Integer(1), *_characteristic(value)])
        wanted = _positive_eigenvalues(way * form)
        if right is None:
            continue  # a degenerate Routh table says nothing
        if right != wanted:
            return fails(f"{right} eigenvalues of B on the right, not {wanted}: A = {form.tolist()}, sign of W {way}")
        done += 1
    return holds(f"{instances} exact instances: the counts agree")


def _characteristic(matrix: sp.Matrix) -> list[Any]:
    x = sp.Symbol("x")
    return list(sp.Poly(matrix.charpoly(x).as_expr(), x).all_coeffs()[1:])


def _positive_eigenvalues(form: sp.Matrix) -> int:
    """Descartes' rule is exact for symmetric matrices: all roots are real."""
    signs = [each for each in [sp.Integer(1), *_characteristic(form)] if each != 0]
    return sum(bool((a > 0) != (b > 0)) for a, b in pairwise(signs))


def _roots_on_the_right(coefficients: list[Any]) -> int | None:
    """Sign changes of the first column of Routh's table; ``None`` where an entry vanishes."""
    if len(coefficients) == 3:
        column = coefficients
    else:
        _, a_1, a_2, a_3 = coefficients
        if a_1 == 0:
            return None
        column = [sp.Integer(1), a_1, (a_1 * a_2 - a_3) / a_1, a_3]
    if any(each == 0 for each in column):
        return None
    return sum(bool((a > 0) != (b > 0)) for a, b in pairwise(column))


PH_T5 = register(
    Statement(
        id="PH-T5",
        kind=Kind.THEOREM,
        source=Source(PHAM, "intermediate regime; derived here", SourceKind.SUMMARISED),
        title="Inertia of the value matrix",
        systems=("token-flow",),
        conditions=(Symmetric(A), Nonsingular(A), AnyOf((PositiveDefinite(W), NegativeDefinite(W)))),
        claims=CLAIMS,
        proof=proof,
        depends=("PH-M",),
        facts=("A is symmetric", "(-A) is symmetric", "sym W is positive definite"),
        derive=derive,
        vectors=(
            Vector(
                "real parts of the spectrum of B",
                example,
                ("-0.896688167161138", "-0.896688167161138", "1.293376334322275"),
            ),
        ),
        property_tests=(inertia_on_instances,),
        variants=(
            Variant(
                "Symmetric(A)",
                "the counts of A and B differ",
                FirstFailure(inertia_without_symmetry),
            ),
            Variant(
                "PositiveDefinite(W)",
                "sym W < 0 flips the count",
                FirstFailure(inertia_with_negative_scores),
            ),
        ),
    )
)
