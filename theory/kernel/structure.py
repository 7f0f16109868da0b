"""Rules about many tokens: identities for symbolic n and d, increments from the equation of a system, sums, induction."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import (
    SLOT,
    TOKENS,
    Assumptions,
    Expression,
    Index,
    Norm,
    differentiate,
    direction,
    dot,
    expand_definitions,
    exponential,
    factor,
    instance,
    normal_form,
    one,
    substitute,
    vector,
    zero,
)
from eigentoken.theory.calculus.expressions import frozen
from eigentoken.theory.kernel.defined import where_defined
from eigentoken.theory.kernel.forms import product_of
from eigentoken.theory.kernel.logic import check_sort
from eigentoken.theory.kernel.propositions import (
    Conjunction,
    Exists,
    ForAll,
    Implication,
    Proposition,
    proposition,
    put,
    relation_of,
    same,
)
from eigentoken.theory.kernel.proved import Proved, Refused, joined, prove
from eigentoken.theory.kernel.tensors import (
    STATE,
    Opposite,
    Rate,
    Slope,
    Tensor,
    VectorLetter,
    bases_of,
    is_defined,
    letters_in,
    named_of,
    norms_of,
    real_where_defined,
)
from eigentoken.theory.language.conditions import IsIdentity, Symmetric
from eigentoken.theory.linearization.linearize import Linearization, linearize
from eigentoken.theory.systems.system import System, Time

__all__ = [
    "REDUCTIONS",
    "increment",
    "induction",
    "opposite",
    "pair",
    "reduction",
    "slope",
    "square",
    "squared_speed",
    "summed",
    "with_values",
]


#: The names of steps by the normal form of the calculus, for print.
REDUCTIONS = ("reduction", "total", "scaling", "product", "factors", "exponential_of")


@lru_cache(maxsize=64)
def equation_of(system: System) -> Linearization:
    """The step or the velocity of a system for symbolic n and d, and the names that it introduces."""
    return linearize(system, tangent=False)


def _known(system: System | None, premises: tuple[Proved, ...], *quantities: Expression) -> Assumptions:
    """What the normal form may use: unit tokens of the system, its definitions, and what is proved of letters.

    With heads, a letter of the heads is the identity for each of them; without an index it is their sum, which is not.
    """
    rules = Assumptions() if system is None else equation_of(system).assumptions
    of_heads = {system.value, system.score} if system is not None and system.multihead else set()
    for each in premises:
        written = _written(each.proposition, rules, of_heads, quantities)
        if written is not None:
            rules = rules.extended(**written)
            continue
        word = getattr(each.proposition, "word", None)
        if not isinstance(word, Symmetric | IsIdentity) or not isinstance(word.term, sp.MatrixSymbol):
            raise Refused(
                f"a reduction uses the system, the symmetry of letters and their products, got {each.proposition!r}"
            )
        name = word.term.name
        if isinstance(word, IsIdentity) and system is None:
            raise Refused(f"{name} could be a letter of heads, each of them the identity: say which system it is of")
        if name in of_heads and (isinstance(word, Symmetric) or name in totals_of(quantities)):
            raise Refused(
                f"{name} is the sum of the heads: its symmetry is not that of each head, nor are they its value"
            )
        if isinstance(word, Symmetric):
            rules = rules.extended(symmetric=frozenset({name}))
        else:
            rules = rules.extended(replaced={name: (sp.Integer(1), ())})
    return rules


def _written(
    said: Proposition, rules: Assumptions, of_heads: set[Any], quantities: Iterable[Expression]
) -> dict[str, Any] | None:
    """What ``A B = C`` and ``A = c B`` are for the normal form, of letters, c one for a real number.

    None of them is the sum of heads; in the second neither is one of a head, and B is not written as something else in turn.
    """
    relation = relation_of(said)
    if not isinstance(relation, sp.Eq) or not relation.lhs.is_Matrix:
        return None
    (one_scale, left), (scale, right) = map(product_of, relation.args)
    if one_scale != 1 or len(right) != 1 or any(each.transposed for each in (*left, *right)):
        return None
    names = {each.name for each in (*left, *right)}
    if len(left) == 2 and scale == 1 and of_heads.isdisjoint(names):
        return {"products": {tuple(each.name for each in left): right}}
    if len(left) != 1 or not isinstance(scale, sp.Symbol) or not scale.is_real:
        return None
    indexed = {letter.name for each in quantities for letter in letters_in(frozen(each)) if letter.indices}
    if names & (of_heads | indexed):
        raise Refused(f"{relation} is not said of each head")
    written = {letter.name for _, letters in rules.replaced.values() for letter in letters or ()} | set(rules.replaced)
    if names & written or len(names) == 1:
        raise Refused(f"{left[0].name} or {right[0].name} is written as another matrix already")
    return {"replaced": {left[0].name: (scale, right)}}


def totals_of(quantities: Iterable[Expression]) -> set[str]:
    """The names of matrices without an index of a head."""
    return {letter.name for each in quantities for letter in letters_in(frozen(each)) if not letter.indices}


def reduction(
    left: Expression, right: Any, system: System | None, *premises: Proved, rule: str = "reduction"
) -> Proved:
    """``left = right`` for all n and d, by the normal form of the calculus, at every state of the system.

    The right side may be a term in quantities (:func:`quantity_of`).  ``rule`` is the name under which the step is printed, one
    of :data:`REDUCTIONS`.
    """
    joint, hypotheses = joined(premises, system)
    if rule not in REDUCTIONS:
        raise Refused(f"{rule} is no name of a reduction")
    term = Tensor(right) if isinstance(right, Expression) else right
    wanted = sp.Eq(Tensor(left), term, evaluate=False)
    sides = (left, right if isinstance(right, Expression) else quantity_of(term))
    rules = _known(joint, premises, *sides)
    indexed = {letter.name for side in sides for letter in letters_in(frozen(side)) if letter.indices}
    if indexed & rules.symmetric:
        raise Refused("what is known of a matrix is not known of one with an index: the matrix is the sum of the heads")
    rest = normal_form(sides[0] - sides[1], rules)
    if rest.terms:  # with what the vectors of a map are defined as
        rest = normal_form(expand_definitions(sides[0] - sides[1], rules), rules)
    if rest.terms:
        raise Refused(f"{len(rest.terms)} terms of the difference remain: {rest!s:.200}")
    return prove(proposition(wanted), rule, premises, joint, (*hypotheses, *with_values(wanted)))


def quantity_of(term: Any) -> Expression:
    """The expression whose value the term is: numbers and quantities at the state, their sums, products, powers, exponentials."""
    if type(term) is Tensor and term.time is None:
        return term.expression
    if not term.has(Tensor):
        return one() * term
    if isinstance(term, sp.Pow) and term.exp.is_Integer:
        return quantity_of(term.base) ** int(term.exp)
    if not isinstance(term, sp.Add | sp.Mul | sp.exp):
        raise Refused(f"{term} is not made of quantities at the state")
    parts = [quantity_of(each) for each in term.args]
    return (
        sum(parts, zero()) if term.is_Add else math.prod(parts, start=one()) if term.is_Mul else exponential(parts[0])
    )


def with_values(relation: Any) -> tuple[Proposition, ...]:
    """Where the terms of a new relation have values: hypotheses."""
    return tuple(map(proposition, sorted(where_defined(relation), key=sp.default_sort_key)))


def written_out(term: Tensor) -> None:
    """Refuses where it has names for functions of the state: the raw step of a map, its norms."""
    if any(is_defined(base.name) for base in bases_of(term.key)) or norms_of(term.key) or named_of(term.key):
        raise Refused(f"{term} has names for functions of the state: write it in the state {STATE}")


def _defining(term: Tensor, system: System) -> Assumptions:
    """What the equation of the system defines, all names of the quantity among it."""
    rules = equation_of(system).assumptions
    unknown = {base.name for base in bases_of(term.key) if is_defined(base.name)} - set(rules.definitions)
    if unknown or named_of(term.key) or {each.name for each in norms_of(term.key)} - set(rules.norms):
        raise Refused(f"{term} has names that {system.name} does not define")
    return rules


def increment(quantity: Expression, system: System) -> Proved:
    """The derivative of a quantity along the flow, or its increment under the map, from the equation of the system."""
    term = Rate(quantity)
    written_out(term)
    found = equation_of(system)

    def moved(*indices: Index) -> Expression:
        return instance(found.step, *indices)

    if system.time is Time.FLOW:
        value = differentiate(quantity, {STATE: moved}, found.assumptions)
    else:
        value = substitute(quantity, {STATE: moved}) - quantity
    wanted = sp.Eq(term, Tensor(value), evaluate=False)
    return prove(proposition(wanted), "increment", (), system, with_values(wanted))


def slope(quantity: Expression, system: System, along: str = "w") -> Proved:
    """The derivative of a quantity at the state, along a family of vectors; vectors that the map defines move with the state."""
    term = Slope(quantity, along)
    rules = _defining(term, system)
    if any(base.name == along for base in bases_of(term.key)):
        raise Refused(f"{along} stands in the quantity: choose another letter for the direction")
    wanted = sp.Eq(term, Tensor(differentiate(quantity, direction(STATE, along), rules)), evaluate=False)
    return prove(proposition(wanted), "slope", (), system, with_values(wanted))


def opposite(quantity: Expression, system: System) -> Proved:
    """The value of a quantity at ``-x`` in terms of the state: x changes its sign, and what an odd equation defines does."""
    term = Opposite(quantity)
    rules = _defining(term, system)

    def negated(name: str) -> Callable[..., Expression]:
        return lambda *indices: -vector(name, *indices)

    for definition in rules.definitions.values():  # of the vectors; their norms are even
        turned = substitute(expand_definitions(definition, rules), {STATE: negated(STATE)})
        if normal_form(turned + expand_definitions(definition, rules), rules).terms:
            raise Refused(f"the calculus does not show that {system.name} is odd")
    signs = {name: negated(name) for name in (STATE, *rules.definitions)}
    wanted = sp.Eq(term, Tensor(substitute(quantity, signs)), evaluate=False)
    return prove(proposition(wanted), "opposite", (), system, with_values(wanted))


def square(vectors: Expression, *indices: Index) -> Proved:
    """``sum |v|^2 >= 0`` over the indices given."""
    if vectors.terms and not vectors.is_vector:
        raise Refused(f"a vector has a square, got {vectors!r}")
    if not all(map(real_where_defined, vectors.terms.values())):  # the square of an imaginary one is negative
        raise Refused(f"the coefficients of {vectors!r} are not known to be real")
    wanted = sp.Ge(Tensor(dot(vectors, vectors).summed(*indices)), 0, evaluate=False)
    roots = tuple(
        sp.sympify(each) for each in vectors.terms.values()
    )  # sqrt(c) is real where c >= 0, its square everywhere
    return prove(proposition(wanted), "square", (), None, (*with_values(wanted), *with_values(roots)))


def pair(proved: Proved, name: str = STATE) -> Proved:
    """Two tokens: ``n = 2`` gives, for every token i, a token j (the other one) with ``sum_k x_k = x_i + x_j``; of any family."""
    if not same(proved.proposition, proposition(sp.Eq(TOKENS, 2, evaluate=False))):
        raise Refused("it must be proved that there are two tokens")
    if name == "z":
        raise Refused("z is the vector that sums are compared by: choose another letter for the family")
    i, j, z = Index("token", "i"), Index("token", "j"), vector("z")
    total = dot(z, vector(name, i)).summed(i)
    both = Tensor(dot(z, vector(name, i))) + Tensor(dot(z, vector(name, j)))
    equal = ForAll(VectorLetter("z"), Conjunction(()), proposition(sp.Eq(Tensor(total), both, evaluate=False)))
    wanted = ForAll(i, Conjunction(()), Exists(j, Conjunction(()), equal))
    return prove(wanted, "pair", (proved,), proved.system, proved.hypotheses)


def squared_speed(system: System, weighted: bool = False) -> Expression:
    """``sum_i |f_i|^2``, f the velocity of a flow, or the step ``x_i^+ - x_i`` of a map, from the equation of the system.

    With ``weighted``, of a map on the sphere, ``sum_i r_i |f_i|^2`` with the norms r_i > 0 that it divides by.
    """
    found = equation_of(system)
    moved = found.step if system.time is Time.FLOW else found.step - vector(STATE, SLOT)
    i = Index("token", "i")
    here = instance(moved, i)
    size = dot(here, here)
    if weighted:
        if len(found.assumptions.norms) != 1:
            raise Refused(f"{system.name} does not divide by one norm for each token")
        size = factor(Norm(next(iter(found.assumptions.norms)), (i,))) * size
    return size.summed(i)


def of_every_index(proved: Proved, kinds: Any, what: str) -> tuple[Proposition, Any]:
    """What is said of every index without a guard, and the relation in it, which is one of the kinds."""
    said = proved.proposition
    relation = relation_of(said.body) if isinstance(said, ForAll) and isinstance(said.letter, Index) else None
    if not isinstance(relation, kinds) or said.guard != Conjunction(()):
        raise Refused(f"{what} is needed, for every index, without a guard, got {said!r}")
    return said, relation


def summed(proved: Proved) -> Proved:
    """``a_i <= b_i`` for every token i gives ``sum_i a_i <= sum_i b_i``; also for ``=``.  Scales must not depend on i."""
    said, relation = of_every_index(proved, sp.Le | sp.Ge | sp.Eq, "an equation or an inequality that is not strict")
    sides = [sum_over(said.letter, side) for side in relation.args]
    wanted = proposition(relation.func(*sides, evaluate=False))
    return prove(wanted, "summed", (proved,), proved.system, proved.hypotheses)


def sum_over(index: Index, term: Any) -> Tensor:
    """The sum of a term over an index; a quotient in it must have a name, so that it can be said where the sum has a value."""
    found = Tensor(quantity_of(term).summed(index))
    where_defined(found)
    return found


def induction(letter: sp.Symbol, base: Proved, step: Proved, first: int) -> Proved:
    """``P(first)`` and ``for all m >= first: P(m) => P(m+1)`` give ``P(m)`` for all integers ``m >= first``."""
    system, hypotheses = joined((base, step))
    said = step.proposition
    if not (letter.is_integer and isinstance(said, ForAll) and isinstance(said.body, Implication)):
        raise Refused("the step must be an implication for all values of the integer letter")
    check_sort(letter, sp.sympify(first))
    check_sort(letter, letter + 1)
    guard, claim = proposition(sp.Ge(letter, first, evaluate=False)), said.body.left
    if said.letter != letter or not same(said.guard, guard):
        raise Refused(f"the step must be for all {letter}, under the guard {letter} >= {first}")
    if not same(said.body.right, put(claim, {letter: letter + 1})):
        raise Refused("the step does not lead from P(m) to P(m + 1)")
    if not same(base.proposition, put(claim, {letter: sp.Integer(first)})):
        raise Refused(f"the base is not the claim at {first}")
    return prove(ForAll(letter, guard, claim), "induction", (base, step), system, hypotheses)
