"""PM-S2: a rank-one edit along an eigenvector shifts one eigenvalue.  Reference: Li-Altafini, section 2.3."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.properties_search import FirstFailure
from eigentoken.proofs.property_checks import OnInstances
from eigentoken.proofs.reductions import tensor
from eigentoken.proofs.textbook_maps import DETERMINANT_LEMMA
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Counterexample, Kind, Printed, Source, Statement, Variant
from eigentoken.theory.steps import Citation, Derivation, Identity
from eigentoken.theory.verdicts import Verdict, fails, holds

LK, MU, ZETA = sp.symbols("lambda_k mu zeta", real=True)


FACTOR = "the characteristic polynomial is multiplied by 1 - mu z^T (zeta I - F)^(-1) w"


def _resolvent(side: str) -> tuple[Any, Any]:
    """``(zeta I - F) w`` for F w = lambda_k w; ``(zeta I - F^T) z`` for z^T F = lambda_k z^T."""
    from eigentoken.theory.calculus import Assumptions, matrix, vector

    if side == "right":
        rules = Assumptions(eigen={("F", False, "w"): LK})
        return vector("w") * ZETA - vector("w").applied(matrix("F")), rules
    rules = Assumptions(eigen={("F", True, "z"): LK})
    return vector("z") * ZETA - vector("z").applied(matrix("F^T")), rules


def _scaled(name: str) -> Any:
    from eigentoken.theory.calculus import vector

    return vector(name) * (ZETA - LK)


def derive() -> Derivation:
    """Either eigenvector makes the resolvent scalar on the edit; the factor of the characteristic polynomial."""
    return Derivation(
        (
            tensor(
                "right eigenvector",
                "If $Fw = \\lambda_kw$, then $(\\zeta I - F)w = (\\zeta - \\lambda_k)w$, so $(\\zeta I - F)^{-1}w "
                "= w/(\\zeta - \\lambda_k)$.",
                lambda: _resolvent("right"),
                _scaled("w"),
                r"(\zeta I - F)w = (\zeta - \lambda_k)w",
                establishes=("the matrix is changed by a term of rank one",),
            ),
            tensor(
                "left eigenvector",
                "If $z^{\\top}F = \\lambda_kz^{\\top}$, likewise from the left. Either way $z^{\\top}(\\zeta I "
                "- F)^{-1}w = z^{\\top}w/(\\zeta - \\lambda_k) = 1/(\\zeta - \\lambda_k)$.",
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
        )
    )


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
            r"Let $z^{\top}w = 1$ and $Fw = \lambda_kw$ or $z^{\top}F = \lambda_kz^{\top}$. Then the spectrum of "
            r"$F + \mu wz^{\top}$ is that of $F$ with one $\lambda_k$ replaced by "
            r"$\lambda_k + \mu$. One of the two suffices; both are needed only to keep the other eigenvectors."
        ),
        depends=("PM-S1",),
        derive=derive,
        told_by=("shift",),
        printed=Printed(
            text=r"If $w$ and $z$ are the right and left eigenvector of $\lambda_k$, the spectrum is unchanged "
            r"except $\lambda_k \to \lambda_k + \mu$.",
            wrong=r"True, but one of the two eigenvector conditions is enough.",
            counterexamples=(
                Counterexample(
                    "right eigenvector only",
                    r"$F = \big(\begin{smallmatrix}1&1\\0&2\end{smallmatrix}\big)$, $w = z = e_1$, $\mu = 5$: $z$ "
                    r"is no left eigenvector, and the spectrum is $\{6, 2\}$.",
                    {"F": [["1", "1"], ["0", "2"]], "w": ["1", "0"], "z": ["1", "0"], "mu": "5"},
                    one_suffices,
                ),
            ),
            false=False,
        ),
        property_tests=(OnInstances("point_checks", "shifted_spectrum"),),
        variants=(
            Variant(
                "w or z an eigenvector",
                "with neither, other eigenvalues change too",
                FirstFailure("edit_without_eigenvector", "properties_search_matrices"),
            ),
            Variant(
                "z^T w = 1", "the shift is mu z^T w", FirstFailure("edit_not_normalised", "properties_search_matrices")
            ),
        ),
    )
)
