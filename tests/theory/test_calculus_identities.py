"""Identities of the papers for symbolic n and d, proved by the normal form; each also in a wrong version."""

from __future__ import annotations

import pytest
import sympy as sp
from mpmath import iv

from eigentoken.theory.calculus import (
    ALPHA,
    HEAD,
    SLOT,
    TOKENS,
    Assumptions,
    CalculusAlgebra,
    Index,
    Letter,
    Norm,
    delta,
    differentiate,
    dot,
    exponential,
    factor,
    is_zero,
    matrix,
    normal_form,
    one,
    prove_equal,
    row_sum,
    substitute,
    vector,
    zero,
)
from eigentoken.theory.calculus.derivative import COLUMN
from eigentoken.theory.calculus.evaluation import Numbers
from eigentoken.theory.linearization.linearize import linearize
from eigentoken.theory.systems.catalogue import system

i, j, l = (Index("token", name) for name in "ijl")
V, M = Letter("V"), Letter("M")
symmetric_unit = Assumptions(symmetric=frozenset({"V"}), unit={"x": ()})


def x(index):
    return vector("x", index)


def projected(at, value, metric=()):
    return value - dot(at, value, metric) * at


def along(flow):
    return {"x": lambda index: flow.at((SLOT, index))}


def weight(algebra, score, query, key, mask=None):
    return algebra.attention(x(SLOT), score, mask, False).at((SLOT, query), (COLUMN, key))


def closed_jacobian(mask, with_last_term=True):
    """(1/r_i)(I - yhat yhat^T)(delta_il I + alpha V[a_il(I + (x_l - xbar_i) x_i^T M) + delta_il C_i M^T]) xi."""
    algebra = CalculusAlgebra()
    xi = vector("xi")

    def a(query, key):
        return weight(algebra, M, query, key, mask)

    mean = (a(SLOT, j) * x(j)).summed(j)
    influence = a(SLOT, l) * (xi + dot(x(SLOT), xi, matrix("M")) * (x(l) - mean))
    spread = (a(SLOT, j) * dot(x(j) - mean, xi, matrix("M^T")) * (x(j) - mean)).summed(j)
    if with_last_term:
        influence = influence + delta(SLOT, l) * spread
    raw = delta(SLOT, l) * xi + influence.applied(matrix("V")) * ALPHA
    norm = factor(Norm("r", (SLOT,)))
    return projected(vector("y", SLOT) / norm, raw) / norm


@pytest.mark.parametrize("mask", [None, "causal", "anything"])
def test_the_attention_jacobian_is_the_closed_form(mask):
    found = linearize(system("attention-map"), mask=mask, tangent=False)
    assert prove_equal(found.jacobian, closed_jacobian(mask), found.assumptions).is_holds
    assert not prove_equal(found.jacobian, closed_jacobian(mask, with_last_term=False), found.assumptions).is_holds


def test_the_oja_jacobian_is_the_closed_form():
    found = linearize(system("oja-map"), tangent=False)
    xi, norm = vector("xi"), factor(Norm("r", (SLOT,)))
    raw = delta(SLOT, l) * xi + xi.applied(matrix("V")) * (ALPHA / TOKENS)
    unit = vector("y", SLOT) / norm
    assert prove_equal(found.jacobian, projected(unit, raw) / norm, found.assumptions).is_holds
    assert not prove_equal(found.jacobian, projected(x(SLOT), raw) / norm, found.assumptions).is_holds


def test_the_multihead_jacobian_is_the_sum_over_the_heads():
    found = linearize(system("multihead-map"), tangent=False)
    algebra, xi, norm = CalculusAlgebra(), vector("xi"), factor(Norm("r", (SLOT,)))
    F_h, M_h = Letter("F", False, (HEAD,)), Letter("M", False, (HEAD,))

    def a(query, key):
        return weight(algebra, M_h, query, key)

    mean = (a(SLOT, j) * x(j)).summed(j)
    influence = a(SLOT, l) * (xi + dot(x(SLOT), xi, (M_h,)) * (x(l) - mean))
    spread = (a(SLOT, j) * dot(xi, x(j) - mean, (M_h,)) * (x(j) - mean)).summed(j)
    pushed = (influence + delta(SLOT, l) * spread).applied((F_h,)).summed(HEAD)
    unit = vector("y", SLOT) / norm
    closed = projected(unit, delta(SLOT, l) * xi + pushed * ALPHA) / norm
    assert prove_equal(found.jacobian, closed, found.assumptions).is_holds


def test_oja_potential_decreases_along_the_flow():
    flow = system("oja-flow").advance(CalculusAlgebra(symmetric_unit), {"V": V}, x(SLOT))
    mean = x(j).summed(j) / TOKENS
    W = -dot(mean, mean, matrix("V")) / 2
    rate = differentiate(W, along(flow), symmetric_unit)
    push = projected(x(i), mean.applied(matrix("V")))
    assert is_zero(rate + dot(push, push).summed(i) / TOKENS, symmetric_unit).is_holds
    assert not is_zero(rate + dot(push, push).summed(i), symmetric_unit).is_holds
    assert not is_zero(rate + dot(push, push).summed(i) / TOKENS, Assumptions(unit={"x": ()})).is_holds


def test_attention_energy_in_the_gradient_case():
    c = sp.Symbol("c", real=True, nonzero=True)
    rules = symmetric_unit.extended(replaced={"M": (c, matrix("V"))})
    flow = system("attention-flow").advance(CalculusAlgebra(rules), {"V": V, "M": M}, x(SLOT))
    energy = exponential(dot(x(i), x(j), matrix("M"))).summed(i, j) / (2 * c)
    rate = differentiate(energy, along(flow), rules)
    Z = factor(row_sum(dot(x(i), x(COLUMN), matrix("M")), COLUMN))
    velocity = flow.at((SLOT, i))
    claimed = (Z * dot(velocity, velocity)).summed(i)
    assert prove_equal(rate, claimed, rules).is_holds
    assert not prove_equal(rate, claimed * 2, rules).is_holds
    skew = Assumptions(unit={"x": ()}, replaced={"M": (c, matrix("V"))})
    flow = system("attention-flow").advance(CalculusAlgebra(skew), {"V": V, "M": M}, x(SLOT))
    assert not prove_equal(differentiate(energy, along(flow), skew), claimed, skew).is_holds


def test_the_ellipsoid_flow_is_a_gradient():
    P = Letter("P")
    rules = Assumptions(symmetric=frozenset({"P"}), unit={"x": (P,)}, tangent={("x", "w"): (P,)})
    flow = system("ellipsoid-flow").advance(CalculusAlgebra(rules), {"P": P}, x(SLOT))
    potential = -exponential(dot(x(i), x(j), (P,))).summed(i, j) / 2
    slope = differentiate(potential, {"x": lambda index: vector("w", index)}, rules)
    d = sp.Symbol("d", integer=True, positive=True)
    Z = factor(row_sum(dot(x(i), x(COLUMN), (P,)), COLUMN)) * sp.sqrt(d)
    metric = (Z * dot(flow.at((SLOT, i)), vector("w", i), (P,))).summed(i)
    assert is_zero(slope + metric, rules).is_holds
    assert not is_zero(slope - metric, rules).is_holds
    not_tangent = Assumptions(symmetric=frozenset({"P"}), unit={"x": (P,)})
    assert not is_zero(slope + metric, not_tangent).is_holds


def test_central_projection_of_the_hemisphere():
    rules = Assumptions(symmetric=frozenset({"W"}), unit={"x": matrix("W")})
    P = Letter("P", False, (HEAD,))
    algebra = CalculusAlgebra(rules)
    flow = system("ellipsoid-multihead-flow").advance(algebra, {"heads": [{"P": P}], "W": Letter("W")}, x(SLOT))

    def h(index):
        return dot(vector("v"), x(index))

    rate = differentiate(x(i) / h(i), along(flow), rules)
    weights = algebra.apply(None, algebra.attention(x(SLOT), P, None, True)).at((SLOT, i), (COLUMN, j))
    claimed = (weights * h(j) / h(i) * (x(j) / h(j) - x(i) / h(i))).summed(j)
    assert prove_equal(rate, claimed, rules).is_holds
    assert not prove_equal(rate, (weights * (x(j) / h(j) - x(i) / h(i))).summed(j), rules).is_holds


def test_central_projection_with_a_value_matrix():
    lam = sp.Symbol("lambda", positive=True)
    rules = Assumptions(symmetric=frozenset({"W"}), unit={"x": matrix("W")}, eigen={("U", True, "u"): lam})
    algebra = CalculusAlgebra(rules)
    parameters = {"heads": [{"U": Letter("U"), "P": Letter("P")}], "W": Letter("W")}
    flow = system("ellipsoid-multihead-flow").advance(algebra, parameters, x(SLOT))

    def h(index):
        return dot(vector("u"), x(index))

    rate = differentiate(x(i) / h(i), along(flow), rules)
    weights = algebra.attention(x(SLOT), Letter("P"), None, True).at((SLOT, i), (COLUMN, j)) * h(j) / h(i)
    claimed = (weights * (x(j).applied(matrix("U")) / h(j) - x(i) * lam / h(i))).summed(j)
    assert prove_equal(rate, claimed, rules).is_holds


def test_the_exact_lyapunov_increments_of_the_oja_map():
    """alpha u^T (x+ - x) = (r - a)(1 + 1/r) and |x+ - x|^2 = 2 (r - a)/r with a = x^T y, r = |y|."""
    rules = Assumptions(unit={"x": ()}, norms={"r": ("y", ())})
    r, y = factor(Norm("r", (i,))), vector("y", i)
    push = y - x(i)
    a = dot(x(i), y)
    jump = y / r - x(i)
    assert prove_equal(dot(push, jump), (r - a) * (1 + 1 / r), rules).is_holds
    assert prove_equal(dot(jump, jump), 2 * (r - a) / r, rules).is_holds
    assert not prove_equal(dot(jump, jump), (r - a) / r, rules).is_holds


def test_the_key_identity_of_the_token_flow():
    """A x_l' is the gradient at x_l of log sum_i exp(x^T W x_i), the other tokens frozen, where A B = W."""
    rules = Assumptions(products={("A", "B"): matrix("W")})
    flow = system("token-flow").advance(CalculusAlgebra(rules), {"B": Letter("B"), "W": Letter("W")}, x(SLOT))
    normalizer = factor(row_sum(dot(vector("z"), x(COLUMN), matrix("W")), COLUMN))
    slope = differentiate(normalizer, {"z": lambda: vector("w")}, rules) / normalizer
    left = dot(vector("w"), flow.applied(matrix("A")))
    at_token = substitute(slope, {"z": lambda: x(SLOT)})
    assert prove_equal(left, at_token, rules).is_holds
    assert not prove_equal(left, at_token * 2, rules).is_holds


def test_absolute_positions_shift_the_flow():
    """With positions added in every layer, y = x + p follows the flow without positions."""
    letters = {"B": Letter("B"), "W": Letter("W")}
    shifted = system("token-flow").advance(
        CalculusAlgebra(), {**letters, "positions": vector("p", SLOT)}, vector("y", SLOT) - vector("p", SLOT)
    )
    plain = system("token-flow").advance(CalculusAlgebra(), letters, vector("y", SLOT))
    assert prove_equal(shifted, plain).is_holds


def test_rotary_scores_keep_the_consensus_flow():
    """x_l = x for all l moves with B x whatever the pair scores are."""

    def scores(query, key):
        return Letter("W", False, (query, key))

    flow = system("token-flow").advance(CalculusAlgebra(), {"B": Letter("B"), "pair_score": scores}, vector("z"))
    assert not prove_equal(flow, vector("z")).is_holds
    assert prove_equal(flow, vector("z").applied(matrix("B"))).is_holds


def test_change_of_coordinates_of_the_regular_value_case():
    """With z = U y and W = U^T U, the flow y' = sum_j a_ij (y_j - (y_i^T W y_j) y_i) becomes the sphere flow of z."""
    rules = Assumptions(
        symmetric=frozenset({"W"}),
        products={("U^T", "U"): matrix("W")},
        definitions={"z": x(SLOT).applied(matrix("U"))},
    )
    algebra = CalculusAlgebra(rules)
    flow = system("ellipsoid-multihead-flow").advance(
        algebra, {"heads": [{"P": Letter("P")}], "W": Letter("W")}, x(SLOT)
    )
    a = algebra.attention(x(SLOT), Letter("P"), None, True).at((COLUMN, j))

    def z(index):
        return x(index).applied(matrix("U"))

    claimed = (a * (z(j) - dot(z(SLOT), z(j)) * z(SLOT))).summed(j)
    with_product = rules.extended(replaced={"W": (sp.Integer(1), matrix("U^T", "U"))})
    assert prove_equal(flow.applied(matrix("U")), claimed, with_product).is_holds
    assert not prove_equal(flow, claimed, with_product).is_holds


def test_rows_of_attention_sum_to_one_and_signs_do_not_matter():
    algebra = CalculusAlgebra()
    row = algebra.attention(x(SLOT), M, None, False).summed(COLUMN)
    assert prove_equal(row, one()).is_holds
    abella = algebra.attention(x(SLOT), M, None, True).summed(COLUMN)
    assert not prove_equal(abella, one()).is_holds
    minus = CalculusAlgebra().attention(-x(SLOT), M, None, False)
    assert prove_equal(minus, algebra.attention(x(SLOT), M, None, False)).is_holds


def test_zero_averages_are_rows_not_columns():
    """sum_j a_ij x_j = 0 does not make sum_i exp(x_i^T M x_j) x_i vanish, unless M is symmetric."""
    rules = Assumptions(zero_averages=frozenset({"x"}))
    score = exponential(dot(x(i), x(j), matrix("M")))
    assert is_zero((score * x(j)).summed(j), rules).is_holds
    assert not is_zero((score * x(i)).summed(i), rules).is_holds
    symmetric = rules.extended(symmetric=frozenset({"M"}))
    assert is_zero((score * x(i)).summed(i), symmetric).is_holds
    pair = score * exponential(dot(x(l), x(j), matrix("M")))
    assert not is_zero((pair * x(j)).summed(j), rules).is_holds


def test_products_of_matrices_of_heads_are_left_alone():
    rules = Assumptions(products={("A", "B"): matrix("W")})
    heads = vector("z").applied((Letter("A", False, (HEAD,)), Letter("B", False, (HEAD,))))
    assert not is_zero(heads - vector("z").applied(matrix("W")), rules).is_holds
    assert is_zero(vector("z").applied(matrix("A", "B")) - vector("z").applied(matrix("W")), rules).is_holds
    assert is_zero(vector("z").applied(matrix("B^T", "A^T")) - vector("z").applied(matrix("W^T")), rules).is_holds


def test_bound_indices_may_have_any_name():
    first = (dot(x(i), x(j), matrix("A")) * dot(x(j), x(l))).summed(i, j, l)
    second = (dot(x(l), x(i), matrix("A")) * dot(x(j), x(i))).summed(l, j, i)
    assert prove_equal(first, second).is_holds
    third = (dot(x(l), x(i), matrix("A^T")) * dot(x(j), x(i))).summed(l, j, i)
    assert not prove_equal(first, third).is_holds


def test_an_instance_in_intervals_refutes():
    claim = dot(x(i), x(j), matrix("A")) - dot(x(j), x(i), matrix("A"))
    numbers = Numbers(
        sizes={"token": 2},
        scalars={},
        matrices={"A": [[iv.mpf(1), iv.mpf(2)], [iv.mpf(0), iv.mpf(1)]]},
        vectors={"x": [[iv.mpf(1), iv.mpf(0)], [iv.mpf(0), iv.mpf(1)]]},
        exp=iv.exp,
        sqrt=iv.sqrt,
        convert=lambda value: iv.mpf(int(value)),
    )
    assert is_zero(claim, instance=numbers, place={i: 0, j: 1}).is_fails
    assert is_zero(claim, instance=numbers, place={i: 0, j: 0}).is_undecided
    assert is_zero(claim, Assumptions(symmetric=frozenset({"A"}))).is_holds


def test_only_products_have_inverses():
    with pytest.raises(TypeError, match="inverted"):
        _ = (x(i).summed(i) * zero() + dot(x(i), x(j)) + 1) ** -1
    with pytest.raises(TypeError, match="inner product"):
        _ = x(i) * x(j)


def test_normal_forms_are_stable():
    found = linearize(system("attention-map"))
    again = normal_form(found.derivative, found.assumptions)
    assert repr(again) == repr(found.derivative)
