"""AB-R5.1: an invertible value matrix with ``W = U^T U`` and the modified map ``sigma_y X = U^{-1} (I - U y y^T U^T) X``.

The modified map cancels U and is not a projection.  Reference: Abella-Silvestre-Tabuada, Remark 5.1.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.flow_properties import sigma_cancels
from eigentoken.proofs.steps.equations import Z, at_every_token, for_every
from eigentoken.theory.calculus import Expression, Letter, dot, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, ForAll, Implication, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.conditions import Nonsingular
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.layer_systems import Covers
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement

U, S = matrix("U"), matrix("S")
VALUE, BACK = (Letter("U"),), (Letter("S"),)
_A, _B, _Z = VectorLetter("a"), VectorLetter("b"), vector(Z.name)
TOKEN, OTHER = vector("a"), vector("b")
#: ``Ua`` and ``Ub``, and their product, which is ``a^T W b`` with ``W = U^T U``.
MOVED, PUSHED = TOKEN.applied(VALUE), OTHER.applied(VALUE)
PRODUCT = dot(MOVED, PUSHED)


def _equal(left: Expression, right: Expression) -> sp.Eq:
    return sp.Eq(Tensor(left), Tensor(right), evaluate=False)


#: ``S`` is the inverse of U: ``S U w = w`` and ``U S w = w`` for all w.
_W = vector("w")
_SIDES = ((*BACK, *VALUE), (*VALUE, *BACK))
INVERSE = Conjunction(tuple(for_every(_equal(dot(_Z, _W, side), dot(_Z, _W)), VectorLetter("w"), Z) for side in _SIDES))
#: ``S (I - U a a^T U^T) U b = b - (a^T W b) a``.
_LEFT, _RIGHT = dot(_Z, (PUSHED - PRODUCT * MOVED).applied(BACK)), dot(_Z, OTHER - PRODUCT * TOKEN)
CANCELS = ForAll(S, INVERSE, for_every(_equal(_LEFT, _RIGHT), _A, _B, Z))
#: On the ellipsoid ``a^T W a = 1`` the image is tangent: ``a^T W (b - (a^T W b) a) = 0``.
_UNIT = proposition(sp.Eq(Tensor(dot(MOVED, MOVED)), 1, evaluate=False))
_IMAGE = dot(MOVED, (OTHER - PRODUCT * TOKEN).applied(VALUE))
TANGENT = for_every(Implication(_UNIT, proposition(sp.Eq(Tensor(_IMAGE), 0, evaluate=False))), _A, _B)
#: At ``a = Sb``, ``c = Sw`` it is the summand of the causal model on the sphere: ``U (c - (a^T W c) a) = w - (b^T w) b``.
_FROM, _TO = OTHER.applied(BACK), _W.applied(BACK)
_LIFTED = dot(_FROM.applied(VALUE), _TO.applied(VALUE))
_CARRIED = dot(_Z, (_TO - _LIFTED * _FROM).applied(VALUE)), dot(_Z, _W - dot(OTHER, _W) * OTHER)
SPHERE = ForAll(S, INVERSE, for_every(_equal(*_CARRIED), _B, VectorLetter("w"), Z))


def _cancelled(kernel: Kernel, side: int, of: Expression, seen: Expression) -> Proved:
    """``z^T S U w = z^T w`` (or with U S) at a vector w, seen with a vector z."""
    inverse = kernel.part(kernel.assume(INVERSE), INVERSE.parts[side])
    return kernel.instantiate(kernel.instantiate(inverse, of), seen)


def proof(kernel: Kernel) -> Proved:
    """The inverse takes the value matrix away in both summands, on either side; the rest is arithmetic."""
    first, second = (_cancelled(kernel, 0, each, _Z) for each in (OTHER, TOKEN))
    parts = (dot(_Z, PUSHED.applied(BACK)), dot(_Z, MOVED.applied(BACK)))
    whole = [kernel.factors(parts[0] - PRODUCT * parts[1]), kernel.factors(_RIGHT)]
    cancels = kernel.arithmetic([first, second, *whole], _equal(_LEFT, _RIGHT))
    image = kernel.factors(PRODUCT - PRODUCT * dot(MOVED, MOVED))
    tangent = kernel.arithmetic([kernel.assume(_UNIT), image], sp.Eq(Tensor(_IMAGE), 0, evaluate=False))
    lifted = [
        *(_cancelled(kernel, 1, each, _Z) for each in (_W, OTHER)),
        _cancelled(kernel, 1, _W, _FROM.applied(VALUE)),
        _cancelled(kernel, 1, OTHER, _W),
        *map(kernel.factors, _CARRIED),
    ]
    sphere = at_every_token(kernel, kernel.arithmetic(lifted, _equal(*_CARRIED)), _B, VectorLetter("w"), Z)
    return kernel.conjunction(
        kernel.settled(kernel.generalise(S, at_every_token(kernel, cancels, _A, _B, Z), INVERSE)),
        at_every_token(kernel, kernel.discharge(_UNIT, tangent), _A, _B),
        kernel.generalise(S, sphere, INVERSE),
    )


def not_idempotent() -> Verdict:
    """U = 2I in the plane, y = (1/2, 0), X = (0, 1): sigma X = X/2 and sigma sigma X = X/4."""
    value = sp.diag(2, 2)
    y = sp.Matrix([sp.Rational(1, 2), 0])
    X = sp.Matrix([0, 1])
    if (y.T * value.T * value * y)[0] != 1:
        return fails("y is not on the ellipsoid")
    sigma = value.inv() * (sp.eye(2) - value * y * y.T * value.T)
    once, twice = sigma * X, sigma * sigma * X
    if once != twice and (y.T * value.T * value * once)[0] == 0:
        return holds(f"sigma X = {list(once)} is tangent, and sigma sigma X = {list(twice)} differs from it")
    return fails("the map is idempotent there")


AB_R51 = register(
    Statement(
        id="AB-R5.1",
        kind=Kind.REMARK,
        source=Source(ABELLA, "Remark 5.1"),
        title="Invertible value matrix with a modified map",
        systems=("causal-flow",),
        covers=Covers(replaced="the map sigma_y in place of the projection"),
        conditions=(Nonsingular(U),),
        claims=(Formula(CANCELS), Formula(TANGENT), Formula(SPHERE)),
        depends=("AB-E15",),
        proof=proof,
        printed=Printed(
            text="$\\sigma_y$ is a projection to the ellipsoid; the domain of attraction contains $\\{y_j \\neq "
            "-y_1\\}$.",
            wrong="$\\sigma_y$ maps into the tangent space but is not idempotent: it cancels $U$. The domain claim "
            "inherits the correction of AB-T5.1.",
            counterexamples=(
                Counterexample(
                    name="U = 2I",
                    says="$U = 2I$: on tangent vectors $\\sigma_y = \\tfrac12$.",
                    instance={"U": [["2", "0"], ["0", "2"]], "y": ["1/2", "0"], "X": ["0", "1"]},
                    check=not_idempotent,
                ),
            ),
        ),
        property_tests=(sigma_cancels,),
    )
)
