"""Words about matrices as words about their quadratic forms; and that what has an inverse is nonsingular."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.matrices.expressions.inverse import Inverse

from eigentoken.theory.calculus import Expression, Letter, dot, vector, zero
from eigentoken.theory.calculus.atoms import transpose
from eigentoken.theory.kernel.propositions import Atom, Equivalence, ForAll, proposition
from eigentoken.theory.kernel.proved import Proved, Refused, prove
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language import conditions
from eigentoken.theory.language.conditions import Nonsingular, OfOneMatrix
from eigentoken.theory.language.readings import Reading
from eigentoken.theory.language.terms import d

__all__ = ["as_form", "bilinear", "invertible"]

_Z = VectorLetter("z")
#: Of which sign ``z^T X z`` is for all ``z != 0``.
SIGN_OF_FORM: Reading[type] = Reading("sign_of_form", "of which sign is the form?")


@SIGN_OF_FORM.register(conditions.PositiveDefinite)
def sign_of_positive_definite(word: conditions.PositiveDefinite) -> type:
    return sp.Gt


@SIGN_OF_FORM.register(conditions.PositiveSemidefinite)
def sign_of_positive_semidefinite(word: conditions.PositiveSemidefinite) -> type:
    return sp.Ge


@SIGN_OF_FORM.register(conditions.NegativeDefinite)
def sign_of_negative_definite(word: conditions.NegativeDefinite) -> type:
    return sp.Lt


def bilinear(left: Expression, term: Any, right: Expression) -> Expression:
    """``left^T X right`` for sums of products of letters, transposed or not, with real scales."""
    total = zero()
    for part in term.args if isinstance(term, sp.MatAdd) else (term,):
        scale, letters = product_of(part)
        total = total + dot(left, right, letters) * scale
    return total


def product_of(term: Any) -> tuple[sp.Expr, tuple[Letter, ...]]:
    """The scale and the letters of a product of matrices."""
    if isinstance(term, sp.MatrixSymbol) and term.shape == (d, d):
        return sp.Integer(1), (Letter(term.name),)
    if isinstance(term, sp.Identity) and term.shape == (d, d):
        return sp.Integer(1), ()
    if isinstance(term, sp.Transpose):
        scale, letters = product_of(term.arg)
        return scale, transpose(letters)
    if isinstance(term, sp.MatMul):
        whole: tuple[sp.Expr, tuple[Letter, ...]] = (sp.Integer(1), ())
        for each in term.args:
            scale, letters = product_of(each) if each.is_Matrix else (each, ())
            whole = (whole[0] * scale, whole[1] + letters)
        return whole
    raise Refused(f"{term} is no sum of products of d x d letters: give the rest a letter of its own")


def as_form(word: Any) -> Proved:
    """``X > 0`` says: ``z^T X z > 0`` for every z with ``|z|^2 > 0``; the same for other signs; nonsingular: ``|X z|^2 > 0``."""
    z = vector(_Z.name)
    if isinstance(word, Nonsingular):
        sign = sp.Gt(Tensor(bilinear(z, word.term.T * word.term, z)), 0, evaluate=False)
    elif SIGN_OF_FORM.find(type(word)):
        sign = SIGN_OF_FORM(word)(Tensor(bilinear(z, word.term, z)), 0, evaluate=False)
    else:
        raise Refused(f"{type(word).__name__} says nothing of the sign of a form")
    body = ForAll(_Z, proposition(sp.Gt(Tensor(dot(z, z)), 0, evaluate=False)), proposition(sign))
    return prove(Equivalence(Atom(word), body), "as_form", ())


def invertible(proved: Proved, letter: sp.MatrixSymbol) -> Proved:
    """A word about ``X^-1`` says that there is one: X is nonsingular."""
    word = getattr(proved.proposition, "word", None)
    if not isinstance(word, OfOneMatrix) or Inverse(letter) not in word.term.atoms(Inverse):
        raise Refused(f"a proved word about the inverse of {letter} is needed, got {proved.proposition!r}")
    return prove(Atom(Nonsingular(letter)), "invertible", (proved,), proved.system, proved.hypotheses)
