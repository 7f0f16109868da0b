"""PM-S1: steering by a rank-one edit of the output matrix.

``G = F + mu w z^T`` with ``|w| = 1``, ``z^T w = 1`` and ``mu >= 20 B``, ``B = |F| Z``, ``Z >= |z|``: there is a real eigenvalue
zeta near mu, and every real eigenvalue of modulus at least mu/2 has ``|zeta - mu| <= 6/5 B``, ``|zeta - mu - f_1 - (f_2 -
f_1^2)/mu| <= 8 B^3/mu^2`` with ``f_j = z^T F^j w``, and an eigenvector whose angle to w has a sine of at most ``|F|/zeta``.  For
z at right angles to w, ``zeta^2`` is near ``mu f_1``.  Reference: Li-Altafini, section 2.3.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.rank_one_edits import MU
from eigentoken.proofs.power_method.steered_eigenvalues import (
    EXISTS,
    LONG,
    ORTHOGONAL,
    STEERED,
    ZETA,
    bounded,
    orthogonal,
)
from eigentoken.proofs.power_method.steered_existence import exists
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.steering_checks import no_gap, steering
from eigentoken.proofs.steps.equations import for_every
from eigentoken.theory.calculus import dot, matrix, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import AnyLetter, Conjunction, Implication, Proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.terms import matrix as letter
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Kind,
    Remark,
    RemarkKind,
    Source,
    Statement,
    Variant,
    Vector,
)

_A, _B, _W, _Z, _E = (VectorLetter(name) for name in "abwzf")
_a, _b, _w, _z = vector("a"), vector("b"), vector("w"), vector("z")
_EDIT: tuple[AnyLetter, ...] = (letter("G"), _W, _Z, MU, LONG)


def _form(*names: str) -> Tensor:
    """``a^T X Y b``."""
    return Tensor(dot(_a, _b, matrix(*names)))


def _everywhere(left: sp.Expr, right: sp.Expr) -> Proposition:
    return for_every(sp.Eq(left, right, evaluate=False), _A, _B)


#: ``F = U K`` and ``C K = I`` (K the values of all heads, one below the other), ``G = U + mu w z^T C``.
_LAYER = Conjunction(
    (
        _everywhere(_form("U", "K"), _form("F")),
        _everywhere(_form("C", "K"), Tensor(dot(_a, _b))),
        _everywhere(_form("G"), _form("U") + MU * Tensor(dot(_a, _w)) * Tensor(dot(_z, _b, matrix("C")))),
    )
)
#: Then ``G K = F + mu w z^T``.
LAYER = Implication(_LAYER, _everywhere(_form("G", "K"), _form("F") + MU * Tensor(dot(_a, _w)) * Tensor(dot(_z, _b))))
_LAYER_LETTERS: tuple[AnyLetter, ...] = (*(letter(name) for name in "UKCG"), _W, _Z, MU)
CLAIMS = (
    for_every(LAYER, *_LAYER_LETTERS),
    for_every(EXISTS, *_EDIT),
    for_every(STEERED, *_EDIT, ZETA, _E),
    for_every(ORTHOGONAL, *_EDIT, ZETA, _E),
)


def _layer(k: Kernel) -> Proved:
    """The edited output at ``K b``."""
    product, inverse, edit = (k.part(k.assume(_LAYER), each) for each in _LAYER.parts)
    moved = _b.applied(matrix("K"))
    known = [
        k.instantiate(k.instantiate(edit, _A), moved),
        k.instantiate(k.instantiate(product, _A), _B),
        k.instantiate(k.instantiate(inverse, _Z), _B),
    ]
    found = k.arithmetic(known, LAYER.right.body.body)
    return k.discharge(_LAYER, k.generalise(_A, k.generalise(_B, found)))


def _for(k: Kernel, found: Proved, letters: tuple[AnyLetter, ...]) -> Proved:
    for each in reversed(letters):
        found = k.generalise(each, found)
    return found


def proof(k: Kernel) -> Proved:
    """What an eigenvector says of its eigenvalue, and Stewart's theorem for its existence."""
    steered = bounded(k)
    return k.conjunction(
        _for(k, _layer(k), _LAYER_LETTERS),
        _for(k, exists(k, steered), _EDIT),
        _for(k, steered, (*_EDIT, ZETA, _E)),
        _for(k, orthogonal(k), (*_EDIT, ZETA, _E)),
    )


def orthogonal_eigenvalues(a: str, b: str, c: str, h: str, weight: int, part: Any = sp.re) -> list[Any]:
    """The eigenvalues of F + mu e_1 e_2^T, F = (a b; c h): real (or imaginary) parts in ascending order."""
    f = sp.Matrix([[sp.Rational(a), sp.Rational(b) + weight], [sp.Rational(c), sp.Rational(h)]])
    return sorted((part(each) for each, count in f.eigenvals().items() for _ in range(count)), key=float)


_ROOT_40 = ("-6.32455532033676", "6.32455532033676")


def grows_like_a_root() -> Verdict:
    """z is orthogonal to w, and the top eigenvalue of F + mu w z^T exceeds sqrt(mu) for mu = 10^2, 10^4, 10^6."""
    seen = [orthogonal_eigenvalues("1", "0", "1", "1/2", 10**each)[-1] for each in (2, 4, 6)]
    if all(value > 10**each for value, each in zip(seen, (1, 2, 3), strict=True)):
        return holds(f"top eigenvalues {', '.join(str(each) for each in seen)}")
    return fails(f"top eigenvalues {seen}")


PM_S1 = register(
    Statement(
        id="PM-S1",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "section 2.3"),
        title="Steering by a rank-one edit",
        systems=("multihead-map",),
        claims=tuple(map(Formula, CLAIMS)),
        proof=proof,
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"By Rouch\'e's theorem no other eigenvalue, complex or not, has a modulus of at least $\mu/2$; and for $z \perp "
                r"w$ there are two eigenvalues of the order of the square roots of $\mu z^{\top}Fw$.",
            ),
        ),
        vectors=(
            Vector("z orthogonal to w, mu = 40", lambda: orthogonal_eigenvalues("0", "0", "1", "0", 40), _ROOT_40),
            Vector(
                "the same, c = -1, imaginary parts",
                lambda: orthogonal_eigenvalues("0", "0", "-1", "0", 40, sp.im),
                _ROOT_40,
            ),
            Vector(
                "F = (1 1/2; 2 -1), mu = 800",
                lambda: orthogonal_eigenvalues("1", "1/2", "2", "-1", 800),
                ("-40.0249921924", "40.0249921924"),
            ),
            Vector(
                "F = (1 0; 1 1/2), mu = 40: 3/4 -+ sqrt(641)/4",
                lambda: orthogonal_eigenvalues("1", "0", "1", "1/2", 40),
                ("-5.57949445059", "7.07949445059"),
            ),
        ),
        variants=(
            Variant(
                "z^T w = 1, and z^T F w = 0 for no change",
                "F = (1 0; 1 1/2), w = e_1, z = e_2: the eigenvalues are 3/4 +- sqrt(1/16 + mu) and grow without bound",
                grows_like_a_root,
            ),
            Variant(
                "z^T w = 1",
                "F = diag(1, 1/2), w = e_1, z = e_2, mu = 40: the eigenvalues stay 1 and 1/2",
                no_gap,
            ),
        ),
        property_tests=(OnInstances(steering),),
    )
)
