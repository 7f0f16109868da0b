"""Numbers without letters: no relation between them is decided by rounding on its way into a proposition or a proof."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from eigentoken.theory.kernel import arithmetic as numbers
from eigentoken.theory.kernel import logic
from eigentoken.theory.kernel.closed import balls, compared, exchange, settled, sign
from eigentoken.theory.kernel.defined import where_defined
from eigentoken.theory.kernel.propositions import FALSE, TRUE, proposition, put
from eigentoken.theory.kernel.proved import Refused

x, y = sp.symbols("x y", real=True)
p = sp.Symbol("p", positive=True)
ROOT = sp.sqrt(2)


@pytest.mark.parametrize("value", [ROOT, sp.pi - 3, sp.exp(-1), 3 - 2 * ROOT, p * (ROOT - 1)])
@pytest.mark.parametrize("kind", [sp.Gt, sp.Ge, sp.Lt, sp.Le, sp.Ne, sp.Eq])
def test_a_relation_at_such_a_number_stays_as_it_is(kind: Any, value: Any) -> None:
    said = proposition(kind(x, 0, evaluate=False))
    found = put(said, {x: value})
    assert found not in (TRUE, FALSE)
    assert found.word.relation.args == (value, 0)


def test_rational_numbers_and_declared_letters_are_decided_as_before() -> None:
    said = proposition(sp.Gt(x, 0, evaluate=False))
    assert put(said, {x: sp.Rational(1, 3)}) == TRUE
    assert put(said, {x: sp.Rational(-1, 3)}) == FALSE
    assert put(said, {x: p}) == TRUE
    assert compared(sp.Le, ROOT, ROOT + 1) != sp.true


def test_an_instance_and_a_rewriting_do_not_lose_a_relation() -> None:
    every = logic.generalise(x, logic.assume(sp.Ge(x, -1, evaluate=False)), sp.Ge(x, -1, evaluate=False))
    with pytest.raises(Refused, match="the guard is not proved"):
        logic.instantiate(every, ROOT)
    shown = numbers.enclosure(sp.Ge(ROOT, -1, evaluate=False))
    assert logic.instantiate(every, ROOT, shown).proposition == shown.proposition
    rewritten = logic.rewrite(logic.assume(sp.Eq(x, ROOT, evaluate=False)), logic.assume(x > 1))
    assert rewritten.proposition not in (TRUE, FALSE)


@pytest.mark.parametrize("term", [sp.Abs(x), sp.Max(x, 1), sp.sqrt(x**2 + x), sp.Piecewise((1, x > 0), (2, True))])
def test_what_depends_on_a_sign_is_not_taken_at_such_a_number(term: Any) -> None:
    with pytest.raises(Refused, match="depends on a sign"):
        exchange(term, {x: ROOT - 1})
    assert exchange(term, {y: ROOT - 1}) == term


def test_the_sort_of_such_a_number_is_decided_in_balls() -> None:
    holds_for = logic.generalise(p, numbers.arithmetic([], sp.Gt(p, 0, evaluate=False)))
    assert logic.instantiate(holds_for, 3 - 2 * ROOT).proposition == proposition(sp.Gt(3 - 2 * ROOT, 0, evaluate=False))
    zero = ROOT + sp.sqrt(3) - sp.sqrt(5 + 2 * sp.sqrt(6))
    for value in (2 * ROOT - 3, zero, sp.log(1 - ROOT), sp.sqrt(1 - ROOT), 1 / zero, y * ROOT):
        with pytest.raises(Refused, match="not known to be"):
            logic.instantiate(holds_for, value)


def test_where_such_a_term_is_defined() -> None:
    zero = ROOT + sp.sqrt(3) - sp.sqrt(5 + 2 * sp.sqrt(6))
    assert where_defined(sp.log(ROOT - 1)) == frozenset()
    assert where_defined(sp.log(1 - ROOT)) == {sp.false}
    assert where_defined(1 / zero) == {sp.Ne(zero, 0, evaluate=False)}
    assert settled(sp.Gt, p * (ROOT - 1)) == sp.Gt(p * (ROOT - 1), 0, evaluate=False)


TERMS = st.recursive(
    st.sampled_from([sp.Integer(2), sp.Rational(-3, 7), sp.pi, sp.E, sp.Integer(0)]),
    lambda inner: st.one_of(
        st.builds(lambda a, b: sp.Add(a, b, evaluate=False), inner, inner),
        st.builds(lambda a, b: sp.Mul(a, b, evaluate=False), inner, inner),
        st.builds(lambda a: sp.Pow(a, -1, evaluate=False), inner),
        st.builds(lambda a: sp.Pow(a, sp.Rational(1, 2), evaluate=False), inner),
        st.builds(lambda f, a: f(a, evaluate=False), st.sampled_from([sp.sin, sp.atan, sp.tanh, sp.log]), inner),
    ),
    max_leaves=6,
)


@given(TERMS)
def test_a_ball_contains_the_value_and_a_sign_is_that_of_mpmath(term: Any) -> None:
    """Against mpmath at fifty digits: where the ball has a value, so has mpmath, a real one, and it lies in the ball."""
    import mpmath
    from flint import arb

    found = balls(term, bits=64)
    if found is None:
        assert sign(term) is None
        return
    with mpmath.workdps(50):
        value = mpmath.mpmathify(sp.lambdify((), term, "mpmath")())
        assert mpmath.im(value) == 0
        assert found[0].overlaps(arb(mpmath.nstr(mpmath.re(value), 40)))
