"""PM-S2: a rank-one edit along an eigenvector shifts one eigenvalue.  Reference: Li-Altafini, section 2.3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.first_failures import FirstFailure
from eigentoken.proofs.properties.matrices import edit_not_normalised, edit_without_eigenvector
from eigentoken.proofs.properties.steering_checks import shifted_spectrum
from eigentoken.proofs.steps.reductions import tensor
from eigentoken.proofs.steps.textbook_maps import DETERMINANT_LEMMA
from eigentoken.theory.calculus import Assumptions, dot, matrix, vector
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality

LK, MU, ZETA, LAM = sp.symbols("lambda_k mu zeta lambda", real=True)


FACTOR = "the characteristic polynomial is multiplied by 1 - mu z^T (zeta I - F)^(-1) w"


def _resolvent(side: str) -> tuple[Any, Any]:
    """``(zeta I - F) w`` for F w = lambda_k w; ``(zeta I - F^T) z`` for z^T F = lambda_k z^T."""
    if side == "right":
        rules = Assumptions(eigen={("F", False, "w"): LK})
        return vector("w") * ZETA - vector("w").applied(matrix("F")), rules
    rules = Assumptions(eigen={("F", True, "z"): LK})
    return vector("z") * ZETA - vector("z").applied(matrix("F^T")), rules


def _scaled(name: str) -> Any:
    return vector(name) * (ZETA - LK)


def _acted(side: str) -> tuple[Any, Any]:
    """``(F + mu w z^T) x`` for F x = lambda x; ``(F + mu w z^T)^T y`` for y^T F = lambda y^T."""
    if side == "right":
        rules = Assumptions(eigen={("F", False, "x"): LAM})
        return vector("x").applied(matrix("F")) + dot(vector("z"), vector("x")) * vector("w") * MU, rules
    rules = Assumptions(eigen={("F", True, "y"): LAM})
    return vector("y").applied(matrix("F^T")) + dot(vector("w"), vector("y")) * vector("z") * MU, rules


def _moved(side: str) -> Any:
    if side == "right":
        return vector("x") * LAM + dot(vector("z"), vector("x")) * vector("w") * MU
    return vector("y") * LAM + dot(vector("w"), vector("y")) * vector("z") * MU


def derive() -> Derivation:
    """Either eigenvector makes the resolvent scalar on the edit; which other eigenvectors are kept."""
    c, entry = sp.symbols("c w_j", real=True)
    return Derivation(
        (
            tensor(
                "right eigenvector",
                "If $Fw = \\lambda_kw$, then $(\\zeta I - F)w = (\\zeta - \\lambda_k)w$, so $(\\zeta I - F)^{-1}w = "
                "w/(\\zeta - \\lambda_k)$.",
                lambda: _resolvent("right"),
                _scaled("w"),
                r"(\zeta I - F)w = (\zeta - \lambda_k)w",
                establishes=("the matrix is changed by a term of rank one",),
            ),
            tensor(
                "left eigenvector",
                "If $z^{\\top}F = \\lambda_kz^{\\top}$, likewise from the left. Either way $z^{\\top}(\\zeta I - "
                "F)^{-1}w = z^{\\top}w/(\\zeta - \\lambda_k) = 1/(\\zeta - \\lambda_k)$.",
                lambda: _resolvent("left"),
                _scaled("z"),
                r"(\zeta I - F^{\top})z = (\zeta - \lambda_k)z",
            ),
            Citation(
                name="determinant",
                says="With $z^{\\top}(\\zeta I - F)^{-1}w = 1/(\\zeta - \\lambda_k)$; one of the two suffices.",
                theorem=DETERMINANT_LEMMA,
                formula=r"\det(\zeta I - F - \mu wz^{\top}) = \det(\zeta I - F)\,\big(1 - \mu z^{\top}(\zeta I - "
                r"F)^{-1}w\big)",
                uses=("right eigenvector", "left eigenvector"),
                establishes=(FACTOR,),
            ),
            Identity(
                name="shift",
                says="The factor replaces the root $\\lambda_k$ by $\\lambda_k + \\mu$ and changes nothing else.",
                left=(ZETA - LK) * (1 - MU / (ZETA - LK)),
                right=ZETA - (LK + MU),
                uses=("determinant",),
                needs=(FACTOR,),
                establishes=("one eigenvalue is shifted by mu, and the others stay",),
            ),
            tensor(
                "on a right eigenvector",
                "If $Fx = \\lambda x$,",
                lambda: _acted("right"),
                _moved("right"),
                r"(F + \mu wz^{\top})x = \lambda x + \mu(z^{\top}x)w",
            ),
            tensor(
                "on a left eigenvector",
                "If $y^{\\top}F = \\lambda y^{\\top}$,",
                lambda: _acted("left"),
                _moved("left"),
                r"y^{\top}(F + \mu wz^{\top}) = \lambda y^{\top} + \mu(y^{\top}w)z^{\top}",
            ),
            Inequality(
                name="kept",
                says="So $x$ stays an eigenvector with its eigenvalue iff $\\mu cw = 0$, $c = z^{\\top}x$, that is (at "
                "an entry $w_j \\neq 0$) iff $c = 0$; and likewise $y$ with $c = y^{\\top}w$.",
                hypotheses=(sp.Ne(MU, 0), sp.Ne(entry, 0)),
                conclusion=sp.Equivalent(sp.Eq(MU * c * entry, 0), sp.Eq(c, 0)),
                uses=("on a right eigenvector", "on a left eigenvector"),
            ),
            Inequality(
                name="the left condition keeps right eigenvectors",
                says="If $z^{\\top}F = \\lambda_kz^{\\top}$, then $\\lambda c = z^{\\top}Fx = \\lambda_kc$, so $c = 0$ "
                "for $\\lambda \\neq \\lambda_k$. If $Fw = \\lambda_kw$, the same for $c = y^{\\top}w$: left "
                "eigenvectors are kept.",
                hypotheses=(sp.Eq(LAM * c, LK * c), sp.Ne(LAM, LK)),
                conclusion=sp.Eq(c, 0),
                uses=("kept",),
            ),
        )
    )


def kept_by_the_left_condition() -> Sequence[Any]:
    """F = [[1, 1], [0, 2]], z = (1, -1), a left eigenvector, w = (2, 1), no eigenvector, mu = 5: spectrum and image of (1, 1)."""
    f, w, z = sp.Matrix([[1, 1], [0, 2]]), sp.Matrix([2, 1]), sp.Matrix([1, -1])
    edited = f + 5 * w * z.T
    return [*sorted(edited.eigenvals(), reverse=True), *(edited * sp.Matrix([1, 1]))]


def not_kept() -> Sequence[Any]:
    """The right condition only, w = z = e_1: the image of the eigenvector (1, 1)."""
    f, e = sp.Matrix([[1, 1], [0, 2]]), sp.Matrix([1, 0])
    return list((f + 5 * e * e.T) * sp.Matrix([1, 1]))


def right_condition_moves_it() -> Verdict:
    """Without the left condition the eigenvector (1, 1) of eigenvalue 2 is moved, although w is a right eigenvector."""
    first, second = not_kept()
    return holds(f"(1, 1) is sent to ({first}, {second})") if first != second else fails("(1, 1) is kept")


def one_suffices() -> Verdict:
    """F = [[1, 1], [0, 2]], w = e_1 (right eigenvector), z = (1, 0), not a left one: spectrum {1 + 5, 2}."""
    f, w, z = sp.Matrix([[1, 1], [0, 2]]), sp.Matrix([1, 0]), sp.Matrix([1, 0])
    left = (z.T * f).T
    is_left = left[0] * z[1] - left[1] * z[0] == 0
    found = (f + 5 * w * z.T).eigenvals()
    if found == {sp.Integer(6): 1, sp.Integer(2): 1} and not is_left:
        return holds("z is no left eigenvector, and the spectrum is {6, 2}")
    return fails(f"spectrum {found}")


PM_S2 = register(
    Statement(
        id="PM-S2",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "section 2.3"),
        title="Shifting one eigenvalue",
        systems=("multihead-map",),
        text=(
            r"Let $z^{\top}w = 1$ and $Fw = \lambda_kw$ or $z^{\top}F = \lambda_kz^{\top}$. Then the spectrum of $F + "
            r"\mu wz^{\top}$ is that of $F$ with one $\lambda_k$ replaced by $\lambda_k + \mu$. Let $\mu \neq 0$. A "
            r"right eigenvector $x$ stays an eigenvector with its eigenvalue iff $z^{\top}x = 0$. If $z^{\top}F = "
            r"\lambda_kz^{\top}$, all right eigenvectors for eigenvalues other than $\lambda_k$ are kept, with these; "
            r"if $Fw = \lambda_kw$, all left ones. So the left condition alone keeps the other right eigenvectors, "
            r"and both conditions keep the left ones, too."
        ),
        depends=("PM-S1",),
        derive=derive,
        prose_from=("shift", "kept", "the left condition keeps right eigenvectors"),
        printed=Printed(
            text=r"If $w$ and $z$ are the right and left eigenvector of $\lambda_k$, the spectrum is unchanged except "
            r"$\lambda_k \to \lambda_k + \mu$.",
            wrong=r"True, but one of the two eigenvector conditions is enough.",
            counterexamples=(
                Counterexample(
                    "right eigenvector only",
                    r"$F = \big(\begin{smallmatrix}1&1\\0&2\end{smallmatrix}\big)$, $w = z = e_1$, $\mu = 5$: $z$ is "
                    r"no left eigenvector, and the spectrum is $\{6, 2\}$.",
                    {"F": [["1", "1"], ["0", "2"]], "w": ["1", "0"], "z": ["1", "0"], "mu": "5"},
                    one_suffices,
                ),
            ),
            false=False,
        ),
        property_tests=(OnInstances(shifted_spectrum),),
        vectors=(
            Vector("left condition only: spectrum, image of (1, 1)", kept_by_the_left_condition, ("6", "2", "2", "2")),
            Vector("right condition only: image of (1, 1)", not_kept, ("7", "2")),
        ),
        variants=(
            Variant(
                "z^T F = lambda_k z^T",
                "F = (1 1; 0 2), w = z = e_1, a right eigenvector, mu = 5: the eigenvector (1, 1) is sent to (7, 2)",
                right_condition_moves_it,
            ),
            Variant(
                "w or z an eigenvector",
                "with neither, other eigenvalues change too",
                FirstFailure(edit_without_eigenvector),
            ),
            Variant("z^T w = 1", "the shift is mu z^T w", FirstFailure(edit_not_normalised)),
        ),
    )
)
