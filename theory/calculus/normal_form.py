"""The normal form: two expressions that differ by the stated relations become the same sum of terms.

Rules, applied until nothing changes: products of matrices (symmetry, replaced matrices, products), eigenvectors, unit and tangent
vectors, orthonormality, norms, Kronecker deltas, ``sum_j exp(s_ij) = Z_i`` (rows of attention sum to one), sums of
nothing, folded means; then bound indices are renamed so that the spelling is the least one.  A zero normal form is a
proof that the expression vanishes for all n and d; a nonzero one says nothing by itself.

Each term has one spelling: the direction of inner products, and the names of bound indices.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import Any

import sympy as sp

from eigentoken.theory.calculus.atoms import (
    Base,
    Delta,
    Dot,
    Exp,
    Index,
    Letter,
    Letters,
    MaskEntry,
    Named,
    Norm,
    SumExp,
    indices_of,
    map_indices,
    transpose,
)
from eigentoken.theory.calculus.expressions import (
    Assumptions,
    Expression,
    Monomial,
    frozen,
    in_order,
    row_sum,
    thawed,
    written,
)

__all__ = ["least_spelling", "normal_form", "oriented"]


def oriented(atom: Dot, rules: Assumptions) -> Dot:
    """``a^T W b`` or ``b^T W^T a``: fewer transposes first, then the order of the names."""
    flipped_word = tuple(
        Letter(each.name, False, each.indices) if each.name in rules.symmetric else each
        for each in transpose(atom.letters)
    )
    flipped = Dot(atom.right, flipped_word, atom.left)
    turned, other = (sum(part.transposed for part in each.letters) for each in (atom, flipped))
    if turned != other:
        return atom if turned < other else flipped
    return atom if written(atom) <= written(flipped) else flipped


def least_spelling(monomial: Monomial, rules: Assumptions) -> Monomial:
    """The monomial with its bound indices named 1, 2, ... so that its text is the least one."""
    kinds: dict[str, list[Index]] = {}
    for index in monomial.bound:
        kinds.setdefault(index.kind, []).append(index)
    names = {kind: [Index(kind, str(place + 1)) for place in range(len(found))] for kind, found in kinds.items()}
    inside = [[index for index in set(indices_of(each)) if index in monomial.bound] for each in monomial.factors]
    known: dict[tuple[object, ...], Any] = {}  # a factor has few of the indices, and comes back in many of the orders
    spellings = []
    for orders in itertools.product(*(itertools.permutations(found) for found in kinds.values())):
        table: dict[Index, Index] = {}
        for kind, order in zip(kinds, orders, strict=True):
            table.update(zip(order, names[kind], strict=True))
        factors = []
        for (each, power), own in zip(monomial.factors, inside, strict=True):
            key = (each, *(table[index] for index in own))
            if key not in known:
                known[key] = _respelled(map_indices(each, table) if own else each, rules)
            factors.append((known[key], power))
        arrow = map_indices(monomial.arrow, table) if table else monomial.arrow
        spellings.append(Monomial(tuple(sorted(table.values())), in_order(factors), arrow))
    return min(spellings, key=_text_of_factors) if len(spellings) > 1 else spellings[0]


def _text_of_factors(spelling: Monomial) -> str:
    """The text of a spelling after its bound indices, which are the same in all."""
    factors = ", ".join(map(written, spelling.factors))
    return f"({factors}{',' if len(spelling.factors) == 1 else ''}), arrow={spelling.arrow!r})"


def _respelled(atom: Any, rules: Assumptions) -> Any:
    """The factor with its inner products in the preferred direction, after a change of names."""
    if isinstance(atom, Dot):
        return oriented(atom, rules)
    if isinstance(atom, Exp):
        return Exp(_respelled_terms(atom.exponent, rules))
    if isinstance(atom, SumExp):
        return SumExp(atom.bound, _respelled_terms(atom.exponent, rules), tuple(sorted(atom.masks)))
    return atom


def _respelled_terms(terms: Any, rules: Assumptions) -> Any:
    changed = []
    for monomial, value in terms:
        factors = in_order((_respelled(each, rules), power) for each, power in monomial.factors)
        changed.append((Monomial(monomial.bound, factors, monomial.arrow), value))
    return in_order(changed)


def normal_form(expression: Expression, assumptions: Assumptions) -> Expression:
    """The expression reduced by the relations, with collected and cancelled coefficients."""
    pending = dict(expression.terms)
    done: dict[Monomial, list[sp.Expr]] = {}
    while pending:
        monomial, value = pending.popitem()
        reduced = _step(monomial, assumptions)
        if reduced is None:
            key = least_spelling(monomial, assumptions)
            done.setdefault(key, []).append(value)
            continue
        for part, scale in reduced:
            product = scale * value
            if product != 0:
                pending[part] = pending.get(part, sp.Integer(0)) + product
    collected = {monomial: _coefficient(sp.Add(*values)) for monomial, values in done.items()}
    return Expression({monomial: value for monomial, value in collected.items() if value != 0})


@lru_cache(maxsize=4096)  # the same few coefficients come back in every term
def _coefficient(value: sp.Expr) -> sp.Expr:
    return value if value.is_Rational else sp.cancel(sp.together(value))


Reduction = list[tuple[Monomial, sp.Expr]]


def _step(monomial: Monomial, rules: Assumptions) -> Reduction | None:
    """One rewriting of the monomial into a sum of others, or ``None`` where no rule applies."""
    for attempt in (_matrices, _deltas, _dots, _exponents, _named, _sums):
        reduced = attempt(monomial, rules)
        if reduced is not None:
            return reduced
    return None


def _with(monomial: Monomial, remove: Any, *added: tuple[Any, int]) -> Monomial:
    """The monomial without one factor (all its powers) and with others."""
    powers: dict[Any, int] = {}
    for each, power in (*((each, power) for each, power in monomial.factors if each != remove), *added):
        powers[each] = powers.get(each, 0) + power
    return Monomial(monomial.bound, tuple((each, p) for each, p in powers.items() if p), monomial.arrow)


# -- matrices and eigenvectors ----------------------------------------------------------------------------------------


def _reduce_letters(letters: Letters, rules: Assumptions) -> tuple[sp.Expr, Letters | None] | None:
    """(factor, letters) after one rule, letters None for the zero matrix; or None where no rule applies."""
    for place, each in enumerate(letters):
        before, after = letters[:place], letters[place + 1 :]
        if each.name in rules.replaced:
            scale, other = rules.replaced[each.name]
            if other is None:
                return sp.Integer(0), None
            other = tuple(Letter(part.name, part.transposed, each.indices or part.indices) for part in other)
            return scale, before + (transpose(other) if each.transposed else other) + after
        if each.transposed and each.name in rules.symmetric:
            return sp.Integer(1), (*before, Letter(each.name, False, each.indices), *after)
        if after and not each.indices and not after[0].indices:
            following = after[0]
            untransposed = not each.transposed and not following.transposed
            if untransposed and (each.name, following.name) in rules.products:
                return sp.Integer(1), before + rules.products[each.name, following.name] + after[1:]
            both = each.transposed and following.transposed
            if both and (following.name, each.name) in rules.products:
                return sp.Integer(1), before + transpose(rules.products[following.name, each.name]) + after[1:]
    return None


def _reduce_arrow(letters: Letters, base: Base, rules: Assumptions) -> tuple[sp.Expr, Letters | None] | None:
    return _reduce_letters(letters, rules) or _reduce_eigen(letters, base, rules)


def _reduce_eigen(letters: Letters, base: Base, rules: Assumptions) -> tuple[sp.Expr, Letters | None] | None:
    """The last matrix of the product, applied to one of its eigenvectors."""
    if letters and not letters[-1].indices:
        last = letters[-1]
        sides = {last.transposed, not last.transposed} if last.name in rules.symmetric else {last.transposed}
        for transposed in sides:
            if (last.name, transposed, base.name) in rules.eigen:
                return rules.eigen[last.name, transposed, base.name], letters[:-1]
    return None


def _matrices(monomial: Monomial, rules: Assumptions) -> Reduction | None:
    if monomial.arrow is not None:
        letters, base = monomial.arrow
        reduced = _reduce_arrow(letters, base, rules)
        if reduced is not None:
            scale, shorter = reduced
            if shorter is None or scale == 0:
                return []
            return [(Monomial(monomial.bound, monomial.factors, (shorter, base)), scale)]
    for each, power in monomial.factors:
        if not isinstance(each, Dot):
            continue
        right = _reduce_arrow(each.letters, each.right, rules)
        left = None if right is not None else _reduce_eigen(transpose(each.letters), each.left, rules)
        if right is None and left is None:
            continue
        scale, shorter = right if right is not None else left  # type: ignore[misc]
        if shorter is None or scale == 0:
            if power < 0:
                raise ZeroDivisionError(f"{each} is zero in a denominator")
            return []
        letters = shorter if right is not None else transpose(shorter)
        return [(_with(monomial, each, (Dot(each.left, letters, each.right), power)), scale**power)]
    return None


# -- inner products ------------------------------------------------------------------------------------------------


def _dot_value(atom: Dot, rules: Assumptions) -> tuple[sp.Expr, tuple[tuple[Any, int], ...]] | None:
    left, letters, right = atom
    if left == right:
        if left.name in rules.unit and letters == rules.unit[left.name]:
            return sp.Integer(1), ()
        for name, (of, metric) in rules.norms.items():
            if left.name == of and letters == metric:
                return sp.Integer(1), ((Norm(name, left.indices), 2),)
    if left.indices == right.indices:
        for pair in ((left.name, right.name), (right.name, left.name)):
            if pair in rules.tangent and letters == rules.tangent[pair]:
                return sp.Integer(0), ()
    for pair in ((left.name, right.name), (right.name, left.name)):
        if pair in rules.orthogonal and letters == rules.orthogonal[pair]:
            return sp.Integer(0), ()
    for key, value in (((left, letters, right), 1), ((right, transpose(letters), left), 1)):
        if key in rules.gram:
            return rules.gram[key] * value, ()
    return None


def _dots(monomial: Monomial, rules: Assumptions) -> Reduction | None:
    for each, power in monomial.factors:
        if not isinstance(each, Dot):
            continue
        found = _dot_value(each, rules)
        if found is not None:
            value, replaced = found
            if value == 0:
                if power < 0:
                    raise ZeroDivisionError(f"{each} is zero in a denominator")
                return []
            return [(_with(monomial, each, *((atom, p * power) for atom, p in replaced)), value**power)]
        preferred = oriented(each, rules)
        if preferred != each:
            return [(_with(monomial, each, (preferred, power)), sp.Integer(1))]
    return None


# -- deltas, signs, masks --------------------------------------------------------------------------------------------


def _deltas(monomial: Monomial, rules: Assumptions) -> Reduction | None:
    for each, power in monomial.factors:
        if not isinstance(each, Delta):
            continue
        if each.first == each.second:
            return [(_with(monomial, each), sp.Integer(1))]
        if power < 0:  # 1/0 where the two are not equal: no number
            continue
        if each.first.kind != each.second.kind:
            return []
        for old, new in ((each.first, each.second), (each.second, each.first)):
            if old in monomial.bound:
                kept = tuple(index for index in monomial.bound if index != old)
                rest = Monomial(kept, _with(monomial, each).factors, monomial.arrow)
                renamed = map_indices(rest, {old: new})
                return [(_joined(renamed), sp.Integer(1))]
        if power > 1:
            return [(_with(monomial, each, (each, 1)), sp.Integer(1))]
        ordered = Delta(*sorted((each.first, each.second)))
        if ordered != each:
            return [(_with(monomial, each, (ordered, 1)), sp.Integer(1))]
        if each.second in indices_of((_with(monomial, each).factors, monomial.arrow)):
            first, second = each.first, each.second
            table = {second: first}
            rest = map_indices(_with(monomial, each), table)
            return [(_with(_joined(rest), None, (each, 1)), sp.Integer(1))]
    return None


def _joined(monomial: Monomial) -> Monomial:
    """Equal factors that arose by renaming, with their powers added."""
    powers: dict[Any, int] = {}
    for each, power in monomial.factors:
        powers[each] = powers.get(each, 0) + power
    return Monomial(monomial.bound, tuple((each, p) for each, p in powers.items() if p), monomial.arrow)


def _named(monomial: Monomial, rules: Assumptions) -> Reduction | None:
    for each, power in monomial.factors:
        if isinstance(each, MaskEntry) and power > 1:
            return [(_with(monomial, each, (each, 1)), sp.Integer(1))]
        if isinstance(each, Named) and each.name in rules.signs and power not in (0, 1):
            return [(_with(monomial, each, (each, power % 2)), sp.Integer(1))]
    return None


# -- exponentials and sums -------------------------------------------------------------------------------------------


def _exponents(monomial: Monomial, rules: Assumptions) -> Reduction | None:
    present = [(each, power) for each, power in monomial.factors if isinstance(each, Exp)]
    if present:
        total = Expression({})
        for each, power in present:
            total = total + thawed(each.exponent) * power
        normal = normal_form(total, rules)
        constant = normal.terms.get(Monomial(), sp.Integer(0))
        rest = normal - constant
        kept = (Exp(frozen(rest)), 1)
        if len(present) > 1 or present[0] != kept or constant != 0 or not rest.terms:
            others = tuple(pair for pair in monomial.factors if not isinstance(pair[0], Exp))
            factors = (*others, kept) if rest.terms else others
            return [(Monomial(monomial.bound, factors, monomial.arrow), sp.exp(constant))]
    for each, power in monomial.factors:
        if isinstance(each, SumExp):
            reduced = _normalizer(each, rules)
            if reduced is not None:
                scale, replaced = reduced
                added = tuple((atom, p * power) for atom, p in replaced)
                return [(_with(monomial, each, *added), scale**power)]
    return None


def _normalizer(atom: SumExp, rules: Assumptions) -> tuple[sp.Expr, tuple[tuple[Any, int], ...]] | None:
    """``sum_j [masks] exp(s_j)``: what does not depend on j is taken out; a sum over nothing is a number."""
    dummy, masks = atom.bound, tuple(sorted(atom.masks))
    normal = normal_form(thawed(atom.exponent), rules)
    inside = Expression({m: c for m, c in normal.terms.items() if dummy in indices_of(m)})
    outside = Expression({m: c for m, c in normal.terms.items() if dummy not in indices_of(m)})
    constant = outside.terms.get(Monomial(), sp.Integer(0))
    outside = outside - constant
    taken: tuple[tuple[Any, int], ...] = ((Exp(frozen(outside)), 1),) if outside.terms else ()
    if not inside.terms and not masks:
        return rules.sizes[atom.bound.kind] * sp.exp(constant), taken
    kept = SumExp(dummy, frozen(inside), masks)
    if kept == atom and not outside.terms and constant == 0:
        return None
    return sp.exp(constant), (*taken, (kept, 1))


def _sums(monomial: Monomial, rules: Assumptions) -> Reduction | None:
    for index in monomial.bound:
        reduced = _sum_over(index, monomial, rules)
        if reduced is not None:
            return reduced
    return None


def _sum_over(index: Index, monomial: Monomial, rules: Assumptions) -> Reduction | None:
    """The rules that remove one bound index."""
    kept_bound = tuple(other for other in monomial.bound if other != index)
    with_index = [(each, power) for each, power in monomial.factors if index in indices_of(each)]
    others = tuple((each, power) for each, power in monomial.factors if index not in indices_of(each))
    in_arrow = monomial.arrow is not None and index in indices_of(monomial.arrow)
    if not with_index and not in_arrow:
        return [(Monomial(kept_bound, others, monomial.arrow), rules.sizes[index.kind])]
    weights = [
        (each, power)
        for each, power in with_index
        if isinstance(each, Exp) or (isinstance(each, MaskEntry) and power > 0)
    ]
    linear = [pair for pair in with_index if pair not in weights]
    slots = len(linear) + int(in_arrow)
    if not slots:
        return [(_normalized(index, kept_bound, others, weights, monomial.arrow), sp.Integer(1))]
    if slots == 1 and (in_arrow or linear[0][1] == 1):
        holder = monomial.arrow if in_arrow else linear[0][0]
        occurrences = [place for place in _places(holder) if index in indices_of(place)]
        if len(occurrences) == 1 and indices_of(holder).count(index) == 1:
            return _single_place(index, occurrences[0], holder, kept_bound, others, weights, monomial, rules)
    return None


def _normalized(
    index: Index, bound: tuple[Index, ...], others: tuple[Any, ...], weights: list[tuple[Any, int]], arrow: Any
) -> Monomial:
    """``sum_j [mask] exp(...)`` with j nowhere else: a normalizer."""
    exponent = Expression({})
    masks = []
    for each, power in weights:
        if isinstance(each, Exp):
            exponent = exponent + thawed(each.exponent) * power
        else:
            masks.append(each)
    atom = row_sum(exponent, index, tuple(masks))
    return _joined(Monomial(bound, (*others, (atom, 1)), arrow))


def _places(holder: Any) -> list[Base | Letter]:
    """The vectors and matrices that one inner product or arrow is made of."""
    if isinstance(holder, Dot):
        return [holder.left, *holder.letters, holder.right]
    if isinstance(holder, tuple) and len(holder) == 2 and isinstance(holder[1], Base):
        return [*holder[0], holder[1]]
    return []


def _single_place(
    index: Index,
    place: Base | Letter,
    holder: Any,
    bound: tuple[Index, ...],
    others: tuple[Any, ...],
    weights: list[tuple[Any, int]],
    monomial: Monomial,
    rules: Assumptions,
) -> Reduction | None:
    """The bound index occurs in one vector (or matrix) only: fold the sum into a mean, a total, or zero."""
    scale = rules.sizes[index.kind]
    new: Base | Letter
    if isinstance(place, Base) and place.indices == (index,):
        if not weights and place.name in rules.zero_sums:
            return []
        if place.name in rules.zero_averages and _is_one_row(index, place.name, weights, rules):
            return []
        if weights or place.name not in rules.means:
            return None
        new = Base(f"{rules.means[place.name]}", (Index("group", index.kind),))
    elif isinstance(place, Letter) and place.indices == (index,) and place.name in rules.totals and not weights:
        scale = sp.Integer(1)
        new = Letter(rules.totals[place.name], place.transposed)
    else:
        return None
    changed = _replace(holder, place, new)
    if isinstance(holder, Dot):
        return [(_joined(Monomial(bound, (*others, (changed, 1)), monomial.arrow)), scale)]
    return [(Monomial(bound, others, changed), scale)]


def _is_one_row(index: Index, family: str, weights: list[tuple[Any, int]], rules: Assumptions) -> bool:
    """The factors are one row of attention with the index as key: ``exp(x_i^T M x_j)`` times what does not depend on j.

    A column (the index as query) is not a row, unless M is symmetric.
    """
    scores = [
        (monomial, value)
        for each, _ in weights
        if isinstance(each, Exp)
        for monomial, value in each.exponent
        if index in indices_of(monomial)
    ]
    if len(scores) != 1 or scores[0][1] != 1 or len(scores[0][0].factors) != 1:
        return False
    atom, power = scores[0][0].factors[0]
    if (
        power != 1
        or not isinstance(atom, Dot)
        or len(atom.letters) != 1
        or {atom.left.name, atom.right.name} != {family}
    ):
        return False
    (matrix,) = atom.letters
    is_key = atom.right.indices == (index,) if not matrix.transposed else atom.left.indices == (index,)
    return (is_key or matrix.name in rules.symmetric) and atom.left != atom.right


def _replace(holder: Any, old: Any, new: Any) -> Any:
    if holder == old:
        return new
    if isinstance(holder, tuple) and not isinstance(holder, (Base, Letter)):
        parts = [_replace(part, old, new) for part in holder]
        return type(holder)(*parts) if hasattr(holder, "_fields") else tuple(parts)
    return holder
