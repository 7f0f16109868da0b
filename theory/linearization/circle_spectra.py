"""The consensus set: the linearization at ``x_i = z`` for any z, and the circle of a complex eigenvalue pair.

On the consensus set all derivatives of the attention weights drop out: ``w_i -> (1/r) (I - yhat yhat^T)(w_i + alpha F wbar)``
with ``y = (I + alpha F) z``, so that only the layer matrix F enters, and the set itself carries the power method of
``I + alpha F``.  Where F acts on a plane as ``a + b J`` (J the quarter turn), the unit circle of that plane is invariant and
turned by ``arg(1 + alpha (a + i b))`` per layer.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.theory.calculus import (
    ALPHA,
    DIMENSION,
    SLOT,
    TOKENS,
    Assumptions,
    Base,
    Expression,
    Index,
    Letter,
    dot,
    factor,
    normal_form,
    prove_equal,
    vector,
    zero,
)
from eigentoken.theory.calculus.atoms import Dot, Norm
from eigentoken.theory.calculus.derivative import Direction, substitute
from eigentoken.theory.calculus.expressions import Monomial
from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.linearization.consensus_spectra import LAMBDA_L
from eigentoken.theory.linearization.linearize import PERTURBATION, linearize, norm_name
from eigentoken.theory.linearization.spectrum import EigenvalueFamily, Entry, Spectrum
from eigentoken.theory.systems.system import System, Time

__all__ = ["circle_spectrum", "consensus_set_derivative", "consensus_set_identity"]

#: Real and imaginary part of the eigenvalue pair of the plane.
A, B = sp.symbols("a b", real=True)
MEAN = "wbar"
TESTED = Dot(Base("u"), (), Base("xi"))


def consensus_set_derivative(system: System, mask: str | None = None) -> tuple[Expression, Assumptions]:
    """``sum_j (df_i/dx_j) w_j`` at ``x_i = z`` for any z, with ``y = (I + alpha F) z`` and its norm r by name."""
    if system.time is not Time.MAP or system.value is None:
        raise ValueError(f"{system.name}: a map with a value matrix is expected")
    found = linearize(system, mask=mask, tangent=False)
    rules = found.assumptions.extended(means={PERTURBATION: MEAN}, gram={(Base("z"), (), Base("z")): sp.Integer(1)})
    families = {"x": lambda index: vector("z"), "y": lambda index: vector("y")}
    return normal_form(substitute(found.derivative, families), rules), rules


def consensus_set_identity(system: System) -> Verdict:
    """The derivative on the consensus set is ``(1/r)(I - yhat yhat^T)(w_i + alpha F wbar)``, whatever the attention.

    >>> from eigentoken.theory.systems.catalogue import system
    >>> consensus_set_identity(system("multihead-map")).answer.value
    'holds'
    """
    derivative, rules = consensus_set_derivative(system)
    return prove_equal(derivative, _closed(system), rules)


def _closed(system: System) -> Expression:
    r = factor(norm_name(linearize(system)))
    mean = vector(MEAN, Index("group", "token"))
    raw = vector(PERTURBATION, SLOT) + mean.applied((Letter(system.value or ""),)) * ALPHA
    unit = vector("y") / r
    return (raw - dot(unit, raw) * unit) / r


def circle_spectrum(system: System) -> Spectrum:
    """The multipliers, in the frame that turns with the circle, of consensus on the circle of a complex pair ``a + i b``.

    F is normal on the plane (``F z = a z + b J z``); ``lambda_ell`` runs over the d - 2 other eigenvalues, with left eigenvectors
    orthogonal to the plane.  One multiplier is 1 (motion along the circle); the circle attracts where all others are
    inside the unit disc.
    """
    derivative, rules = consensus_set_derivative(system)
    if not consensus_set_identity(system).is_holds:
        raise ValueError(f"{system.name}: the derivative on the consensus set does not only know the layer matrix")
    z, e, u = Base("z"), Base("e"), Base("u")
    F = (Letter(system.value or ""),)
    plane = rules.extended(
        gram={
            (e, (), e): sp.Integer(1),
            (z, (), e): sp.Integer(0),
            (u, (), z): sp.Integer(0),
            (u, (), e): sp.Integer(0),
            (z, F, z): A,
            (e, F, e): A,
            (e, F, z): B,
            (z, F, e): -B,
        },
        eigen={(system.value, True, "u"): LAMBDA_L},
        orthogonal={("z", "xi"): (), ("e", "xi"): ()},
    )
    real, imaginary = 1 + ALPHA * A, ALPHA * B
    along = vector("z") * real + vector("e") * imaginary
    turned = vector("e") * real - vector("z") * imaginary

    def response(test: Expression, own: Expression, mean: Expression) -> sp.Expr:
        families: Direction = {"y": lambda: along, PERTURBATION: lambda index: own, MEAN: lambda index: mean}
        value = normal_form(dot(test, substitute(derivative, families)), plane)
        return _number(value, real**2 + imaginary**2)

    modulus = sp.sqrt(real**2 + imaginary**2)
    in_plane = {
        "common": response(turned, vector("e"), vector("e")) / modulus,
        "apart": response(turned, vector("e"), zero()) / modulus,
    }
    test = vector("u")
    across = {"common": response(test, vector("xi"), vector("xi")), "apart": response(test, vector("xi"), zero())}
    run = EigenvalueFamily(LAMBDA_L, DIMENSION - 2, r"\ell \geq 3", "the other eigenvalues of the layer matrix")

    def tidy(value: sp.Expr) -> sp.Expr:
        return sp.simplify(value)

    return Spectrum(
        system=system.name,
        point="circle of consensus states",
        entries=(
            Entry(tidy(in_plane["common"]), sp.Integer(1), (), "along the circle", r"\mathbf 1\otimes Jz"),
            Entry(tidy(in_plane["apart"]), TOKENS - 1, (), "disagreement in the plane", r"\eta\otimes Jz"),
            Entry(
                tidy(across["common"]),
                sp.Integer(1),
                (run,),
                "common motion out of the plane",
                r"\mathbf 1\otimes v_\ell",
            ),
            Entry(
                tidy(across["apart"]),
                sp.factor((TOKENS - 1) * (DIMENSION - 2)),
                (),
                "disagreement out of the plane",
                r"\eta\otimes v_\ell",
            ),
        ),
        dimension=TOKENS * (DIMENSION - 1),
        flow=False,
        notes=(
            "the value matrix (of several heads: their sum) acts on the plane as $a + b J$, $J$ the quarter turn",
            "multipliers in the frame that turns with the circle: the circle attracts where all but the first are inside the "
            "unit disc",
        ),
    )


def _number(value: Expression, norm_squared: sp.Expr) -> sp.Expr:
    """A tested response as a number: powers of r by ``r^2``, and ``u^T xi`` as the unit."""
    total = sp.Integer(0)
    for monomial, coefficient in value.terms.items():
        number = coefficient
        for atom, power in monomial.factors:
            if isinstance(atom, Norm):
                number *= sp.sqrt(norm_squared) ** power
            elif atom != TESTED:
                raise ValueError(f"the term {Expression({monomial: sp.Integer(1)})!r} is not explained by the plane")
        if monomial.bound or monomial.arrow is not None:
            raise ValueError(f"the term {Expression({Monomial(): coefficient})!r} is not a number")
        total += number
    return sp.together(total)
