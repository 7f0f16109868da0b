"""PM-R2: what decides stability is the block on the tangent spaces; the n extrinsic eigenvalues depend on the extension.

Reference: Li-Altafini, Remark 2 (and 8 for bipartite points).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.symbols import B1, B2, LK, E, alpha, any_score, n
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.point_checks import extrinsic_at_consensus
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation
from eigentoken.theory.systems.algebra import LoopAlgebra

_FREE = sp.Symbol("nu", real=True)


def _radial(name: str, groups: list[tuple[Any, int, Any]], extension: str, length: Any) -> Any:
    """Radial parts of the derivative when tokens sigma v_k are moved along themselves by given amounts.

    ``homogeneous`` divides by the norm of y; ``unit`` by the norm with ``|x_i| = 1`` put in.
    """

    def run() -> list[Any]:
        from eigentoken.proofs.steps.token_groups import GroupAlgebra, _jet_exp, _jet_root, known_root
        from eigentoken.theory.classification.jacobians import Jet
        from eigentoken.theory.systems.catalogue import SYSTEMS

        counts = tuple(count for count, _, _ in groups)
        root = _jet_root(known_root(length))
        algebra = GroupAlgebra(_jet_exp, root, sp.Integer(1), counts)
        state = tuple((Jet(sp.Integer(side), {0: side * move}), Jet(sp.Integer(0), {})) for _, side, move in groups)
        parameters = {"V": [[LK, 0], [0, _FREE]], "M": any_score(2, sp.log(E)), "alpha": alpha}
        system = SYSTEMS[name]
        push = system.influence(algebra, parameters, state)
        raw = LoopAlgebra.add(algebra, state, push, alpha)
        found = []
        for x, u, y, (_, side, _) in zip(state, push, raw, groups, strict=True):
            if extension == "homogeneous":
                squared = y[0] * y[0] + y[1] * y[1]
            else:
                squared = 1 + 2 * alpha * (x[0] * u[0] + x[1] * u[1]) + alpha**2 * (u[0] * u[0] + u[1] * u[1])
            found.append((y[0] / root(squared)).slopes.get(0, sp.Integer(0)) * side)
        return found

    return run


def consensus(extension: str, sign: int, groups: list[tuple[Any, int, Any]]) -> Any:
    """The Oja map at consensus; ``sign`` is that of m = 1 + alpha lambda_k."""
    return _radial("oja-map", groups, extension, (sign * (1 + alpha * LK),))


def bipartite(extension: str, groups: list[tuple[Any, int, Any]]) -> Any:
    """The attention map at a bipartite point with m_1, m_2 > 0."""
    return _radial("attention-map", groups, extension, (1 + alpha * LK * B1, 1 + alpha * LK * B2))


def derive() -> Derivation:
    """Radial moves at consensus: all tokens, and two against each other; both extensions, both signs of m."""
    m = 1 + alpha * LK
    everyone, pair = [(n, 1, 1)], [(1, 1, 1), (1, 1, -1), (n - 2, 1, 0)]
    return Derivation(
        (
            grouped(
                "homogeneous, all",
                "Extension $y_i/\\lVert y_i\\rVert$: a common radial move has the radial multiplier",
                consensus("homogeneous", 1, everyone),
                (0,),
                r"<1>",
            ),
            grouped(
                "homogeneous, pairs",
                "So has a zero-sum one: the extrinsic eigenvalues are $0$, $n$ times.",
                consensus("homogeneous", 1, pair),
                (0, 0, 0),
                r"<1>,\ <2>,\ <3>",
            ),
            grouped(
                "unit, all",
                "Extension with $\\lVert x_i\\rVert = 1$ put in, $r_i^2 = 1 + 2\\alpha x_i^{\\top}u_i + "
                "\\alpha^2\\lVert u_i\\rVert^2$, $m = 1 + \\alpha\\lambda_k > 0$: a common radial move has the "
                "multiplier",
                consensus("unit", 1, everyone),
                (1 / m**2,),
                r"<1>",
            ),
            grouped(
                "unit, pairs",
                "A zero-sum one has the same multiplier $1/m^2$: $n$ times, no splitting.",
                consensus("unit", 1, pair),
                (1 / m**2, -1 / m**2, 0),
                r"<1>,\ <2>,\ <3>",
            ),
            grouped(
                "unit, all, negative m",
                "For $m < 0$ both are $-1/m^2 = \\operatorname{sgn}(m)/m^2$.",
                consensus("unit", -1, everyone),
                (-1 / m**2,),
                r"<1>",
            ),
            grouped(
                "unit, pairs, negative m",
                "Again $n$ times.",
                consensus("unit", -1, pair),
                (-1 / m**2, 1 / m**2, 0),
                r"<1>,\ <2>,\ <3>",
                establishes=("the extrinsic eigenvalues depend on the extension only",),
            ),
        )
    )


PM_R2 = register(
    Statement(
        id="PM-R2",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "Remark 2"),
        title="Extrinsic eigenvalues at consensus",
        systems=("oja-map", "attention-map"),
        text=(
            r"The map sends $(S^{d-1})^n$ to itself, so its Jacobian maps tangent vectors to tangent vectors and is "
            r"block triangular; the $n(d-1)$ eigenvalues of the tangent block decide stability. The $n$ extrinsic "
            r"ones depend on how $f$ is extended off the sphere: they are $0$ for $y_i/\lVert y_i\rVert$, and "
            r"$\operatorname{sgn}(m)/m^2$ with $\lVert x_i\rVert = 1$ put in, $m = 1 + \alpha\lambda_k$, in both "
            r"cases $n$ times."
        ),
        depends=("PM-L3",),
        derive=derive,
        prose_from=(
            "homogeneous, all",
            "homogeneous, pairs",
            "unit, all",
            "unit, pairs",
            "unit, all, negative m",
            "unit, pairs, negative m",
        ),
        property_tests=(OnInstances(extrinsic_at_consensus),),
    )
)
