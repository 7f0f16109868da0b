"""AB-T6.1: causal consensus at the top eigenvector of a symmetric value matrix, and the boundary of its hypotheses.

The printed estimate needs the forward invariance of the hemisphere, which is proved first here.
Reference: Abella-Silvestre-Tabuada, Theorem 6.1.
"""

from __future__ import annotations

import math
from typing import Any

import sympy as sp

from eigentoken.proofs.abella.ab_l61_token_under_symmetric_value import VALUE
from eigentoken.proofs.abella.causal_cascade import consensus_at_top
from eigentoken.proofs.abella.causal_heights import half_space_kept
from eigentoken.proofs.abella.causal_rates import EXPONENTIAL, exponentially_stable
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import (
    FLOATS,
    as_floats,
    as_numbers,
    det_matrix,
    det_tokens,
    numbers,
    scaled,
    symmetric_eigenpairs,
)
from eigentoken.proofs.properties.trajectories import integrate
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Converges, ForwardInvariant
from eigentoken.theory.language.conditions import BoundedInTime, InHemisphere, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.observables import dot
from eigentoken.theory.language.places import ConsensusAt, Hemisphere
from eigentoken.theory.language.terms import Eigenvalue, matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import evaluate, sign
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Printed, Remark, RemarkKind, Source, Statement, Variant, Vector
from eigentoken.theory.systems.algebra import causal_mask
from eigentoken.theory.systems.catalogue import system

U = matrix("U")


def proof(kernel: Kernel) -> Proved:
    """The half space by first exit, the limit by induction over the tokens, the rate near it by a weighted largest gap."""
    return kernel.conjunction(half_space_kept(kernel), consensus_at_top(kernel), exponentially_stable(kernel))


# -- the boundary of the hypotheses -----------------------------------------------------------------------------------


def negative_top_fails() -> Verdict:
    """U = diag(-1, -3/2): the multiplier of token 2 at (v, v) is positive, so (v, v) is unstable."""
    value = multiplier(1, (-1, sp.Rational(-3, 2)))
    if sign(value) == 1:
        return holds(f"lambda = -1, mu = -3/2, token 2: multiplier {value} > 0, so (v, v) repels token 2")
    return fails("the multiplier is not positive")


def multiplier(side: int, values: tuple[Any, Any], token: int = 2) -> Any:
    """Multiplier of a token at (v, v), or at (v, -v), for U = diag(values), P = I on the circle, from the registered system."""
    eps = sp.Symbol("epsilon", real=True)
    unit = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(1)))
    value = ((sp.sympify(values[0]), sp.Integer(0)), (sp.Integer(0), sp.sympify(values[1])))
    tokens = [(sp.Integer(1), sp.Integer(0)), (sp.Integer(side), sp.Integer(0))]
    tokens[token - 1] = (tokens[token - 1][0] * sp.cos(eps), sp.sin(eps))
    speed = velocity("causal-flow", {"U": value, "P": unit}, tuple(tokens))[token - 1]
    return sp.simplify(sp.diff(speed[1], eps).subs(eps, 0))


def outside_hemisphere_fails() -> Verdict:
    """With U = diag(1, 0), P = I the bipartite state (v, -v) attracts: tokens outside the hemisphere do not reach
    consensus."""
    value, first = (multiplier(-1, (1, 0), token) for token in (2, 1))
    if sign(value) == -1 and sign(first) == -1:
        return holds(f"both multipliers at (v, -v), {first} and {value}, are negative: it is exponentially stable")
    return fails("the bipartite state is not stable")


def nonsymmetric_fails() -> Verdict:
    """U = [[1, 5], [0, 1/2]], one token at (0.9, -0.3): v^T y_0 > 0 and the limit is -v."""
    s = sp.Symbol("s", real=True)
    value = sp.Matrix([[1, 5], [0, sp.Rational(1, 2)]])
    start = sp.Matrix([sp.Rational(9, 10), sp.Rational(-3, 10)])
    left = sp.Matrix([[1, 10]])
    if left * value != left or value * sp.Matrix([1, 0]) != sp.Matrix([1, 0]):
        return fails("the eigenvectors are wrong")
    weight = (left * start)[0]
    # e^{sU} y_0 = e^s (u.y_0) v + e^{s/2} (y_0 - (u.y_0) v), since u.v = 1
    rest = start - weight * sp.Matrix([1, 0])
    solution = sp.exp(s) * weight * sp.Matrix([1, 0]) + sp.exp(s / 2) * rest
    checks = (solution.diff(s) - value * solution).applyfunc(sp.expand) == sp.zeros(2, 1)
    if checks and solution.subs(s, 0) == start and weight < 0 < start[0]:
        return holds(
            f"u = (1, 10): u^T y_0 = {weight} < 0 < v^T y_0, and e^(sU) y_0 = e^s ({weight}) v + O(e^(s/2)) tends to -v"
        )
    return fails("the closed form does not check")


def _data() -> tuple[Any, Any, Any]:
    scalars = numbers()
    value = as_numbers(VALUE)
    top = symmetric_eigenpairs(value)[1][-1]
    if top[0] < 0:
        top = tuple(-entry for entry in top)
    tokens = scalars.normalise(det_tokens(3, 3))
    tokens = tuple(tuple(entry if dot(top, row) > 0 else -entry for entry in row) for row in tokens)
    return tokens, top, value


def start_example() -> list[Any]:
    """v and b(0)."""
    tokens, top, _ = _data()
    return [*top, *(dot(top, row) for row in tokens)]


def end_example() -> list[float]:
    """``1 - b(5)`` for P(t) = cos(t) det_matrix(3), from the tangential part so that no digits are lost."""
    tokens, top, value = _data()
    matrix_u, base, side = as_floats(value), as_floats(det_matrix(3)), [float(entry) for entry in top]
    flow = system("causal-flow")

    def field(t: float, state: Any) -> list[float]:
        rows = FLOATS.normalise(tuple(tuple(state[3 * i : 3 * i + 3]) for i in range(3)))
        given = {"U": matrix_u, "P": scaled(math.cos(t), base)}
        return [entry for row in flow.advance(FLOATS, given, rows, causal_mask(3)) for entry in row]

    end = integrate(field, [float(entry) for row in tokens for entry in row], [5.0])[0]
    rows = FLOATS.normalise(tuple(tuple(end[3 * i : 3 * i + 3]) for i in range(3)))
    gaps = []
    for row in rows:
        along = dot(side, row)
        across = sum((a - along * b) ** 2 for a, b in zip(row, side, strict=True))
        gaps.append(across / (1 + along))
    return gaps


def increase_example() -> list[Any]:
    """``d/dt (1 - b_2)`` for U = diag(1, 0.9), P = 0, angles (1.4, 0.8); the multipliers of the boundary cases."""
    value = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Rational(9, 10)))
    zero = ((sp.Integer(0), sp.Integer(0)), (sp.Integer(0), sp.Integer(0)))
    angles = (sp.Rational(7, 5), sp.Rational(4, 5))
    tokens = tuple((sp.cos(angle), sp.sin(angle)) for angle in angles)
    speed = velocity("causal-flow", {"U": value, "P": zero}, tokens)
    cases = [
        -speed[1][0],
        multiplier(1, (-1, sp.Rational(-3, 2))),
        multiplier(-1, (1, 0)),
    ]
    return [evaluate(case).real for case in cases]


def zero_top_keeps_signs(instances: int, seed: int) -> Verdict:
    """For lambda = 0 the slope of b_i is a multiple of b_i: exactly, on random rational instances in the plane."""
    import random

    source = random.Random(seed)
    for _ in range(instances):
        value = ((sp.Integer(0), sp.Integer(0)), (sp.Integer(0), -sp.Rational(source.randint(1, 30), 7)))
        zero = ((sp.Integer(0), sp.Integer(0)), (sp.Integer(0), sp.Integer(0)))
        tokens = []
        for _ in range(3):
            t = sp.Rational(source.randint(-9, 9), 10)
            tokens.append(((1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)))
        tokens[1] = (sp.Integer(0), sp.Integer(1))
        speed = velocity("causal-flow", {"U": value, "P": zero}, tuple(tokens))
        if speed[1][0] != 0:
            return fails(f"a token at height 0 moves at {tokens}")
    return holds(f"{instances} exact instances: a token at height 0 keeps it")


def largest_gap_falls(instances: int, seed: int) -> Verdict:
    """The largest of ``tau^(2i) (1 - b_i^2)`` falls at the rate of the third claim, at random states with ``b_i > 1/2``."""
    import random

    source, flow, size, seen = random.Random(seed), system("causal-flow"), 3, 0
    for _ in range(instances):
        entries = [[source.uniform(-1, 1) for _ in range(size)] for _ in range(size)]
        value = tuple(
            tuple(entries[i][j] + entries[j][i] + 3.0 * (i == j == 0) for j in range(size)) for i in range(size)
        )
        scores = tuple(tuple(source.uniform(-0.5, 0.5) for _ in range(size)) for _ in range(size))
        rates, vectors = symmetric_eigenpairs(as_numbers(value))
        top, side = float(rates[-1]), [float(entry) for entry in vectors[-1]]
        gap, norm = top - float(rates[-2]), max(abs(float(rate)) for rate in rates)
        bound = math.sqrt(sum(entry**2 for row in scores for entry in row))
        tau = gap / (4 * size * norm * math.exp(2 * bound))
        rows = []
        for _ in range(size):
            spread = source.choice((1e-3, 0.1, 0.5))
            (row,) = FLOATS.normalise((tuple(entry + spread * source.uniform(-1, 1) for entry in side),))
            rows.append(row if dot(side, row) > 0.5 else tuple(side))
        if top <= 0 or not gap:
            continue
        seen += 1
        moved = flow.advance(FLOATS, {"U": value, "P": scores}, tuple(rows), causal_mask(size))
        gaps = [tau ** (2 * i) * (1 - dot(side, row) ** 2) for i, row in enumerate(rows)]
        i = gaps.index(max(gaps))
        slope = -2 * tau ** (2 * i) * dot(side, rows[i]) * dot(side, moved[i])
        rate = math.exp(-2 * bound) * gap / (4 * size * math.sqrt(size))
        if slope > -rate * gaps[i] + 1e-12:
            return fails(f"the largest weighted gap {gaps[i]} has the slope {slope}, at the rate {rate}, at {rows}")
    return holds(f"the largest weighted gap falls at the rate of the claim in {seen} instances (floats)")


AB_T61 = register(
    Statement(
        id="AB-T6.1",
        kind=Kind.THEOREM,
        source=Source(ABELLA, "Theorem 6.1"),
        title="Causal consensus at the top eigenvector",
        systems=("causal-flow",),
        conditions=(Symmetric(U), SimpleTop(U), Relation(Eigenvalue(U, 1) > 0), BoundedInTime("P"), InHemisphere(U)),
        claims=(ForwardInvariant(Hemisphere(U)), Converges(ConsensusAt(U, 1)), Formula(EXPONENTIAL)),
        depends=("AB-E15",),
        proof=proof,
        printed=Printed(
            text="The proof uses $V_b = 1 - b$ as a strict ISS Lyapunov function on $b \\in (0, 1]$.",
            wrong="The theorem is true; the estimate needs the forward invariance of the hemisphere, which is not "
            "shown. $1 - b_i$ need not decrease for $i \\ge 2$.",
            false=False,
        ),
        vectors=(
            Vector(
                "v and b(0)",
                start_example,
                (
                    "0.901752646908814",
                    "0.415261485453819",
                    "0.120000260381534",
                    "0.035674718856022",
                    "0.385522757058251",
                    "0.47274551555858",
                ),
            ),
            Vector("1 - b(5)", end_example, ("8.67906192458E-4", "2.32241943E-6", "2.37862603E-6")),
            Vector(
                "slope of 1 - b_2; multipliers for lambda < 0 and at the bipartite state",
                increase_example,
                ("0.113117897642832", "0.176776695296637", "-0.538528392188366"),
            ),
        ),
        variants=(
            Variant(
                "Relation(Eigenvalue(U, 1) > 0)",
                "$U = \\operatorname{diag}(-1, -\\tfrac32)$: $(v, v)$ has a positive multiplier for token 2.",
                negative_top_fails,
            ),
            Variant(
                "InHemisphere(U)",
                "$U = \\operatorname{diag}(1, 0)$, $P = I$: the bipartite state $(v, -v)$ is exponentially stable; in "
                "general when $e^{-2v^{\\top}Pv}\\lambda < \\lambda - \\mu_2$.",
                outside_hemisphere_fails,
            ),
            Variant(
                "Symmetric(U)",
                "$U = \\begin{pmatrix}1&5\\\\0&\\tfrac12\\end{pmatrix}$, $y_0 \\propto (0.9, -0.3)$: the left "
                "eigenvector decides, and the limit is $-v$.",
                nonsymmetric_fails,
            ),
        ),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                "A bound $b$ on the norm of $P$ is one at all times. The third claim is exponential stability of $(v, "
                "\\dots, v)$, uniformly in the starting time: its constants depend on $P$ through $b$ alone.",
            ),
            Remark(
                RemarkKind.OPEN,
                "The rate there is no sharp one: the local multipliers are $(\\mu/i - \\lambda)/\\sqrt d$ for token $i$ and "
                "the other eigenvalues $\\mu$, whatever $P$ is. For a $P$ that does not depend on time that is AB-X3.",
            ),
            Remark(
                RemarkKind.OPEN,
                "Beyond the statement: $\\lambda = 0$ simple still works, since then $\\dot b_i "
                "\\propto b_i$; a multiple top eigenvalue works with $v = \\Pi_{\\lambda}y_1(0)/|\\Pi_{\\lambda}y_1(0)|$ and "
                "$v^{\\top}y_i(0) > 0$; several heads with symmetric $U_{\\eta}$, a common top eigenvector and "
                "$\\lambda_{\\eta} > 0$ simple work by the same proof.",
            ),
        ),
        property_tests=(zero_top_keeps_signs, largest_gap_falls),
    )
)
