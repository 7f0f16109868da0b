"""Rules about quantities that are made of others: products, exponentials, sums of which one term is known, least ones, equals."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.theory.calculus import Expression, Index, dot, substitute, vector
from eigentoken.theory.calculus.atoms import Exp, Norm, SumExp
from eigentoken.theory.kernel.closed import positive as known_positive
from eigentoken.theory.kernel.logic import check_sort
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Exists,
    ForAll,
    free_letters,
    proposition,
    same,
)
from eigentoken.theory.kernel.proved import Proved, Refused, joined, prove
from eigentoken.theory.kernel.structure import of_every_index, quantity_of, sum_over, with_values
from eigentoken.theory.kernel.tensors import (
    STATE,
    Tensor,
    VectorLetter,
    bases_of,
    is_defined,
    letters_of,
    named_of,
    norms_of,
    seen_by_one,
)
from eigentoken.theory.systems.system import System

__all__ = ["congruent", "least", "positive", "same_state", "summand"]


def positive(quantity: Expression) -> Proved:
    """A sum of products of exponentials, of rows of them and of norms that a map divides by, with positive scales, is positive.

    There is at least one token, and where a map is defined the norm that it divides by is not zero.
    A row under a mask is a sum over what a token sees, itself among it where the mask is causal.
    """
    for monomial, scale in quantity.terms.items():
        rows = [atom for atom, _ in monomial.factors if isinstance(atom, SumExp)]
        plain = all(isinstance(atom, Exp | SumExp | Norm) for atom, _ in monomial.factors)
        seen = all(map(seen_by_one, rows)) and all(mask.name == "causal" for row in rows for mask in row.masks)
        indices = [*monomial.bound, *(row.bound for row in rows)]
        if any(index.kind not in ("token", "head") for index in indices):
            raise Refused(f"a sum over {', '.join(sorted({each.kind for each in indices}))} could be empty")
        if monomial.arrow is not None or not plain or not seen or not known_positive(scale):
            raise Refused(f"{quantity!r} is no sum of products of exponentials and norms with positive scales")
    if not quantity.terms:
        raise Refused("an empty sum is zero")
    wanted = sp.Gt(Tensor(quantity), 0, evaluate=False)
    return prove(proposition(wanted), "positive", (), None, with_values(wanted))


def congruent(quantity: Expression, name: str, member: Expression, at: Index, proved: Proved) -> Proved:
    """``z^T x_i = z^T b_i`` for every token i and vector z gives ``[e(x)] = [e(b)]``: equals for equals, also in sums.

    ``member`` is ``b_i``, in the index ``at``.  In the quantity the family is written out: where it is the state, names for
    functions of the state (the raw step of a map, its norms) would keep the old vectors.
    """
    z = VectorLetter("z")
    if at.kind != "token" or not member.is_vector or z in letters_of(member):
        raise Refused(f"a member is a vector for each token, without the letter {z.name}, got {member!r}")
    equal = sp.Eq(Tensor(dot(vector(z.name), vector(name, at))), Tensor(dot(vector(z.name), member)), evaluate=False)
    if not same(proved.proposition, ForAll(at, TRUE, ForAll(z, TRUE, proposition(equal)))):
        raise Refused(f"it is not proved that {name}_{at.name} is {member!r}, for every token")
    term = Tensor(quantity)
    named = {base.name for base in bases_of(term.key)}
    moving = name == STATE and (any(map(is_defined, named)) or norms_of(term.key))
    if moving or named_of(term.key) or is_defined(name):
        raise Refused(f"{quantity!r} has names for functions of the state: write it in {STATE}")

    def replaced(*indices: Index) -> Expression:
        if [each.kind for each in indices] != ["token"]:
            raise Refused(f"{name} is a family with one member for each token")
        return member.at((at, indices[0]))

    wanted = sp.Eq(term, Tensor(substitute(term.expression, {name: replaced})), evaluate=False)
    return prove(proposition(wanted), "congruent", (proved,), proved.system, (*proved.hypotheses, *with_values(wanted)))


def same_state(quantity: Expression, one: Any, other: Any, proved: Proved, system: System) -> Proved:
    """``x_i(t) = x_i(s)`` for every token i gives ``[e](t) = [e](s)``: a quantity is a function of the state.

    Where a matrix of the system depends on time that is not so: a statement that says so cannot use this.
    """
    i, z = Index("token", "i"), VectorLetter("z")
    own = dot(vector(z.name), vector(STATE, i))
    equal = sp.Eq(Tensor(own, one), Tensor(own, other), evaluate=False)
    joint, hypotheses = joined((proved,), system)
    if not same(proved.proposition, ForAll(i, TRUE, ForAll(z, TRUE, proposition(equal)))):
        raise Refused(f"it is not proved that the states at {one} and at {other} are the same, for every token")
    wanted = sp.Eq(Tensor(quantity, one), Tensor(quantity, other), evaluate=False)
    return prove(proposition(wanted), "same_state", (proved,), joint, (*hypotheses, *with_values(wanted)))


def summand(proved: Proved, at: Index) -> Proved:
    """``a_k >= 0`` for every k gives ``sum_k a_k >= a_i``: what is left out is not negative."""
    said, relation = of_every_index(proved, sp.Le | sp.Ge, "a term that is at least zero")
    if relation.lts != 0:
        raise Refused("what is summed must be said to be at least zero")
    check_sort(said.letter, at)
    each = quantity_of(relation.gts).at((said.letter, at))
    wanted = sp.Ge(sum_over(said.letter, relation.gts), Tensor(each), evaluate=False)
    return prove(proposition(wanted), "summand", (proved,), proved.system, proved.hypotheses)


def least(proved: Proved, letter: sp.Symbol) -> Proved:
    """Finitely many positive numbers have a positive lower bound: ``a_i > 0`` for every i gives ``c > 0`` with ``a_i >= c``."""
    said, relation = of_every_index(proved, sp.Lt | sp.Gt, "a number above zero")
    if relation.lts != 0:
        raise Refused("the numbers must be said to be above zero")
    if letter.assumptions0 != sp.Symbol("c", positive=True).assumptions0 or letter in free_letters(said):
        raise Refused(f"{letter} must be a new letter for a positive number")
    below = proposition(sp.Ge(relation.gts, letter, evaluate=False))
    wanted = Exists(letter, TRUE, ForAll(said.letter, TRUE, below))
    return prove(wanted, "least", (proved,), proved.system, proved.hypotheses)
