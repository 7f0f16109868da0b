"""The equation of a system as propositions: vectors are compared by their inner products with every vector z.

``for every token i and vector z: z^T a_i = z^T b_i`` says ``a_i = b_i``; ``Delta[z^T x_i]`` is ``z^T (x_i^+ - x_i)`` of a map,
``z^T (dx_i/dt)`` of a flow.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.theory.calculus import Expression, Index, Norm, dot, factor, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import AnyLetter, for_every
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter

__all__ = [
    "LENGTH",
    "NORMALISED",
    "RAW",
    "TOKEN",
    "Z",
    "at_every_token",
    "for_every",
    "moves_by",
    "normalised",
    "of_length",
    "same_vectors",
    "the_same",
]

TOKEN = Index("token", "i")
Z = VectorLetter("z")
_Z = vector(Z.name)
_STATE = vector("x", TOKEN)
#: The vector that a map on the sphere divides by its norm.
RAW = vector("y", TOKEN)
_LENGTH = Norm("r", (TOKEN,))


def at_every_token(k: Kernel, proved: Proved, *letters: AnyLetter) -> Proved:
    """What was proved with free letters, for all of their values."""
    for letter in reversed(letters):
        proved = k.generalise(letter, proved)
    return proved


def same_vectors(left: Expression, right: Expression, *letters: AnyLetter) -> Formula:
    """``left = right``, for every value of the letters."""
    equal = sp.Eq(Tensor(dot(_Z, left)), Tensor(dot(_Z, right)), evaluate=False)
    return Formula(for_every(equal, *letters, Z))


def the_same(k: Kernel, left: Expression, right: Expression, *letters: AnyLetter) -> Proved:
    """A proof of :func:`same_vectors` by the normal form of the calculus."""
    return at_every_token(k, k.reduction(dot(_Z, left), dot(_Z, right)), *letters, Z)


def moves_by(velocity: Expression) -> Formula:
    """``x_i^+ - x_i`` (of a flow, ``dx_i/dt``) is the vector given."""
    rate = sp.Eq(Rate(dot(_Z, _STATE)), Tensor(dot(_Z, velocity)), evaluate=False)
    return Formula(for_every(rate, TOKEN, Z))


#: ``x_i^+ = y_i / r_i``.
NORMALISED = moves_by(factor(_LENGTH, -1) * RAW - _STATE)


def normalised(k: Kernel) -> Proved:
    """A proof of :data:`NORMALISED`, from the equation of a map on the sphere."""
    return at_every_token(k, k.increment(dot(_Z, _STATE)), TOKEN, Z)


#: ``y_i^T y_i = r_i^2``: what the map divides by is the norm.
LENGTH = Formula(for_every(sp.Eq(Tensor(dot(RAW, RAW)), Tensor(factor(_LENGTH, 2)), evaluate=False), TOKEN))


def of_length(k: Kernel) -> Proved:
    """A proof of :data:`LENGTH`."""
    return at_every_token(k, k.reduction(dot(RAW, RAW), factor(_LENGTH, 2)), TOKEN)
