"""CT-12 from AB-X2: of a symmetric V a right eigenvector is a left one, so that the two half spaces are one."""

from __future__ import annotations

from eigentoken.proofs.abella.ab_x02_dominant_eigenvector import AB_X2
from eigentoken.theory.calculus import dot, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import VectorLetter
from eigentoken.theory.kernel.words import top_eigenvector
from eigentoken.theory.language.claims import ForwardInvariant
from eigentoken.theory.language.conditions import InHemisphere, Symmetric
from eigentoken.theory.language.places import Hemisphere
from eigentoken.theory.language.terms import matrix

__all__ = ["basin"]

V = matrix("V")
_W, _Z = VectorLetter("w"), VectorLetter("z")
_RIGHT, _LEFT = top_eigenvector(V, _W.name), top_eigenvector(V, _W.name, left=True)


def _as_left(kernel: Kernel) -> Proved:
    """``w^T V z = lambda_1 w^T z`` for all z, from ``z^T V w = lambda_1 z^T w`` and ``V = V^T``."""
    given, w, z = kernel.assume(_RIGHT), vector(_W.name), vector(_Z.name)
    eigen, unit = (kernel.part(given, each) for each in _RIGHT.parts)
    known = [
        kernel.instantiate(eigen, _Z),
        kernel.reduction(dot(w, z, product("V")), dot(z, w, product("V")), kernel.given(Symmetric(V))),
        kernel.reduction(dot(w, z), dot(z, w)),
    ]
    turned = kernel.arithmetic(known, _LEFT.parts[0].body)
    return kernel.conjunction(kernel.generalise(_Z, turned), unit)


def basin(kernel: Kernel) -> Proved:
    """The half space of the left eigenvector (AB-X2), as that of the right one: in the condition and in the claim."""
    normal, plane = _as_left(kernel), kernel.unfold(kernel.given(InHemisphere(V)))
    meaning = kernel.meaning(InHemisphere(V, left=True))
    there = kernel.witness(meaning.proposition.right, _W, normal, kernel.assume(plane.proposition.body))
    start = kernel.modus_ponens(meaning, kernel.exists_elimination(plane, there))
    known = kernel.recall(AB_X2, start)
    stays, goes = (kernel.part(known, each) for each in known.proposition.parts)
    region = kernel.generalise(_W, kernel.instantiate(kernel.unfold(stays), _W, normal), _RIGHT)
    return kernel.conjunction(kernel.modus_ponens(kernel.meaning(ForwardInvariant(Hemisphere(V))), region), goes)
