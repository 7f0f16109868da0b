"""Attempts to prove what is false with values that are none: imaginary, undefined, of another size, with letters that hide."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import sympy as sp

from eigentoken.proofs.steps.theorems import (
    DECAY,
    EUCLIDEAN,
    ON_THE_RIGHT,
    OPERATOR_NORM,
    RAYLEIGH_BELOW,
)
from eigentoken.theory.calculus import Index, Letter, dot, one, vector
from eigentoken.theory.kernel import arithmetic as numbers
from eigentoken.theory.kernel import (
    books,
    dynamics,
    instances,
    kernel,
    logic,
    quantities,
    spectra,
    structure,
    sums,
)
from eigentoken.theory.kernel.formulas import Formula, latex
from eigentoken.theory.kernel.kernel import accepted
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Atom,
    Disjunction,
    Exists,
    ForAll,
    Implication,
    free_letters,
    proposition,
    same,
)
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.kernel.tensors import AtTime, Rate, Slope, Tensor, VectorLetter
from eigentoken.theory.language.conditions import BoundedInTime, IsIdentity, PositiveDefinite, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, HeadNorm, SpectralNorm, matrix
from eigentoken.theory.systems.catalogue import system

OJA, FLOW = system("oja-map"), system("oja-flow")
F, P, Q, V, W = (matrix(name) for name in "FPQVW")
c, t = sp.symbols("c t", real=True)
i, j, k, m = (Index("token", name) for name in "ijkm")
h = Index("head", "h")
u, w, z, x = vector("u"), vector("w"), vector("z"), vector("x", i)
U, STATE = VectorLetter("u"), VectorLetter("x")


def equation(left: sp.Expr, right: sp.Expr) -> sp.Eq:
    return sp.Eq(left, right, evaluate=False)


def every_square() -> Proved:
    """``|u|^2 >= 0`` for every u."""
    return logic.generalise(U, structure.square(u))


# -- vectors that are none ------------------------------------------------------------------------------------------------


def test_an_imaginary_vector_has_no_square() -> None:
    """``u := i z`` would give ``-|z|^2 >= 0``."""
    with pytest.raises(Refused, match="real"):
        logic.instantiate(every_square(), z * sp.I)
    assert logic.instantiate(every_square(), z * c).proposition == proposition(Tensor(dot(z, z) * c**2) >= 0)


def test_a_theorem_is_about_real_vectors() -> None:
    """``(i u)^T V (i u) >= lambda_d |i u|^2`` is ``u^T V u <= lambda_d |u|^2``: false."""
    with pytest.raises(Refused, match="real"):
        books.textbook(RAYLEIGH_BELOW, (logic.assume(Symmetric(V)),), None, A=V, z=u * sp.I)
    with pytest.raises(Refused, match="real"):
        books.textbook(OPERATOR_NORM, (), None, A=V, z=u * sp.I)


def test_an_undefined_vector_is_no_vector() -> None:
    """``|z/c|^2 >= 0`` says that c is not zero: so ``c != 0`` would follow for every c."""
    with pytest.raises(Refused, match="sort of u"):
        logic.instantiate(every_square(), z * (1 / c))
    nonzero = logic.assume(sp.Ne(c, 0))
    assert logic.instantiate(every_square(), z * (1 / c), nonzero).hypotheses == (nonzero.proposition,)
    with pytest.raises(Refused, match="sort of u"):
        logic.instantiate(every_square(), z * dot(u, w) ** -1)


def test_the_conclusion_of_a_theorem_is_defined_under_hypotheses() -> None:
    nonzero = proposition(sp.Ne(c, 0))
    bound = books.textbook(OPERATOR_NORM, (), None, A=V, z=u * (1 / c))
    assert bound.hypotheses == (nonzero,)
    assert books.textbook(OPERATOR_NORM, (logic.assume(nonzero),), None, A=V, z=u * (1 / c)).hypotheses == (nonzero,)
    quotient = books.textbook(EUCLIDEAN, (), None, y=u * dot(u, w) ** -1, z=z)
    assert quotient.hypotheses == (proposition(sp.Ne(Tensor(dot(u, w)), 0)),)
    rate = numbers.arithmetic([], sp.Gt(sp.Integer(1), 0, evaluate=False))
    assert books.textbook(DECAY, (rate,), None, C=1 / c, kappa=sp.Integer(1)).hypotheses == (nonzero,)


def test_a_theorem_is_about_matrices_of_the_size_d() -> None:
    """A 2 x 2 matrix has two eigenvalues on the right, not d."""
    two = sp.ImmutableMatrix([[1, 0], [0, 1]])
    with pytest.raises(Refused, match="d x d"):
        books.textbook(ON_THE_RIGHT, (instances.exact_matrix(PositiveDefinite(two)),), None, X=two)


# -- letters that hide ----------------------------------------------------------------------------------------------------


def test_a_matrix_in_a_scale_is_replaced() -> None:
    """``[lambda_1(Q) |u|^2] = lambda_1(Q) |u|^2`` for every Q: at W, on both sides."""
    found = logic.instantiate(logic.generalise(Q, quantities.scaling(dot(u, u), Eigenvalue(Q, 1))), W)
    assert Q not in free_letters(found.proposition)
    assert same(found.proposition, quantities.scaling(dot(u, u), Eigenvalue(W, 1)).proposition)


def test_a_time_hides_no_quantity() -> None:
    with pytest.raises(Refused, match="a time"):
        Tensor(dot(u, u), Tensor(dot(x, u)))
    held = logic.assume(ForAll(t, TRUE, proposition(sp.Le(Tensor(dot(x, x), t), sp.exp(t)))))
    with pytest.raises(Refused, match="a time"):
        logic.instantiate(held, Eigenvalue(Q, 1))


def test_a_state_is_taken_at_a_time_that_there_is() -> None:
    unit = logic.generalise(STATE, structure.reduction(dot(x, x), one(), FLOW))
    with pytest.raises(Refused, match="sort of x"):
        logic.instantiate(unit, AtTime(1 / c))
    with pytest.raises(Refused):
        logic.instantiate(unit, AtTime(sp.I))
    assert logic.instantiate(unit, AtTime(1 / c), logic.assume(sp.Ne(c, 0))).system == FLOW


def test_the_scales_of_a_rate_do_not_depend_on_its_time() -> None:
    """``d/dt [t u^T x_i]`` is not ``t d/dt [u^T x_i]``."""
    rate = logic.generalise(STATE, structure.increment(dot(u, x) * c, FLOW))
    along = logic.generalise(c, logic.instantiate(rate, AtTime(t)))
    with pytest.raises(Refused, match="constants"):
        logic.instantiate(along, t)
    with pytest.raises(Refused, match="constants"):
        Rate(dot(u, x) * t, t)


def test_the_matrix_of_the_layer_is_no_arbitrary_letter() -> None:
    """With one head F is the value matrix V; of W, the flow by V knows nothing."""
    rests = spectra.equilibrium(ConsensusAt(F, 1), FLOW)
    stable = dynamics.stability_of_any(ConsensusAt(F, 1), OJA)
    for each in (rests, stable):
        for hypothesis in each.hypotheses:
            each = logic.discharge(hypothesis, each)
        with pytest.raises(Refused, match="F belongs to the system"):
            logic.generalise(F, each)


def test_a_letter_is_the_identity_of_a_system() -> None:
    """``U = I`` says it of each head: the letter without an index is their sum."""
    with pytest.raises(Refused, match="which system"):
        structure.reduction(dot(u, w, (Letter("F"),)), dot(u, w), None, logic.assume(IsIdentity(F)))


# -- matrices that depend on time -------------------------------------------------------------------------------------------


def verdict(proved: Proved) -> str:
    """What is answered where P depends on time."""
    found = accepted(proved, [proposition(BoundedInTime("P"))], [proved.proposition], None)
    return "" if found.is_holds else found.reason


def test_a_least_number_at_one_time_is_none_for_all_times() -> None:
    form = Tensor(dot(u, u, (Letter("P", False, (h,)),)))
    positive = logic.assume(ForAll(h, TRUE, proposition(sp.Gt(form, 0))))
    least = sums.least(positive, sp.Symbol("c", positive=True))
    assert verdict(logic.discharge(positive.proposition, least)).startswith("least holds a matrix fixed")


def test_a_case_at_one_time_is_none_for_all_times() -> None:
    size = HeadNorm(P)
    either = numbers.arithmetic([], Disjunction((proposition(size > 1), proposition(size <= 1))))
    assert verdict(either).startswith("arithmetic holds a matrix fixed")
    grown = proposition(size > 0)
    more = numbers.arithmetic([], Implication(proposition(size > 1), grown))
    assert "fixed" in verdict(more)
    assert verdict(numbers.arithmetic([], sp.Eq(size, size, evaluate=False))) == ""


def test_what_is_recalled_for_a_fixed_matrix_is_not_put_for_one_that_moves() -> None:
    class Fixed:
        id, systems, conditions, claims = "fixed", ("",), (), ()

        @property
        def proofs(self) -> dict[str, Proved]:
            found = books.textbook(OPERATOR_NORM, (), None, A=Q, z=u)
            return {"": kernel.part(found, sp.Ge(SpectralNorm(Q), 0, evaluate=False))}

    statement = Fixed()
    recalled = books.recall(statement, statement.proofs, None, {Q: P})
    assert verdict(recalled).startswith("recall holds a matrix fixed")
    assert verdict(books.recall(statement, statement.proofs, None, {Q: W})) == ""


def test_a_matrix_that_a_proof_holds_fixed_does_not_move_because_a_statement_says_so() -> None:
    """The conditions of what is recalled may say that Q depends on time: its proof is what is read."""
    found = books.textbook(OPERATOR_NORM, (), None, A=Q, z=u)
    form = Tensor(dot(u, u, (Letter("Q", False, (h,)),)))
    positive = logic.assume(ForAll(h, TRUE, proposition(sp.Gt(form, 0))))
    least = logic.discharge(positive.proposition, sums.least(positive, sp.Symbol("c", positive=True)))
    for proved, told in (
        (kernel.part(found, sp.Ge(SpectralNorm(Q), 0, evaluate=False)), ""),
        (least, "recall holds"),
    ):
        said = SimpleNamespace(id="X", systems=(), conditions=(BoundedInTime("Q"),), claims=(), proofs={"": proved})
        assert verdict(books.recall(said, said.proofs, None, {Q: P})).startswith(told)


# -- print ----------------------------------------------------------------------------------------------------------------


def test_two_members_of_a_family_are_printed() -> None:
    """``z_i^T x_k + z_j^T x_k = (x_m^T x_m) z_i^T x_k + z_j^T x_k`` was printed as ``x_k = x_k + (x_m^T x_m) x_k``."""
    one_, other = (dot(vector("z", at), vector("x", k)) for at in (i, j))
    said = structure.reduction(one_ + other, one_ * dot(vector("x", m), vector("x", m)) + other, OJA)
    assert latex(logic.generalise(VectorLetter("z"), said).proposition).startswith(
        r"\text{for every } \text{family of vectors } z"
    )
    single = structure.reduction(one_, one_ * dot(vector("x", m), vector("x", m)), OJA)
    assert latex(logic.generalise(VectorLetter("z"), single).proposition) == r"x_{k} = |x_{m}|^{2} x_{k}"


def test_a_sum_does_not_run_over_a_letter_that_stands_beside_it() -> None:
    """``sum_j z^T x_j = z^T x_i + z^T x_j`` was printed so, with a j that is bound on the left and free on the right."""
    z = vector("z")
    total = Tensor(dot(z, vector("x", i)).summed(i))
    both = sum(Tensor(dot(z, vector("x", at))) for at in (i, j))
    shown = latex(proposition(sp.Eq(total, both, evaluate=False)))
    assert r"\sum_{k}" in shown and r"\sum_{j}" not in shown
    assert r"\sum_{j}" in latex(proposition(sp.Eq(total, 0, evaluate=False)))


def test_a_quantity_at_a_time_is_one_of_tokens_at_that_time() -> None:
    """Where a matrix could depend on time the whole is taken at it."""
    t = sp.Symbol("t", real=True)
    apart = vector("x", i) - vector("v")
    assert latex(proposition(sp.Gt(Tensor(dot(vector("v"), vector("x", i)), t), 0))) == r"v^{\top} x_{i}(t) > 0"
    assert latex(proposition(sp.Gt(Tensor(dot(apart, apart), 0), 0))) == r"\left|v - x_{i}(0)\right|^{2} > 0"
    form = Tensor(dot(vector("x", i), vector("x", i), (Letter("P"),)), t)
    assert latex(proposition(sp.Gt(form, 0))) == r"(x_{i}^{\top} P x_{i})(t) > 0"
    whole = dot(vector("x", i).summed(i), vector("x", i).summed(i))
    assert latex(proposition(sp.Gt(Tensor(whole), 0))) == r"\left|\sum_{j} x_{j}\right|^{2} > 0"
    mixed = dot(vector("x", i).summed(i), vector("w", i).summed(i))
    assert r"\sum_{j, k}" in latex(proposition(sp.Gt(Tensor(mixed), 0)))


def test_a_sum_over_a_family_is_no_equation_of_vectors() -> None:
    z_i, x_i = vector("z", i), vector("x", i)
    whole = structure.reduction(dot(z_i, x_i).summed(i), (dot(z_i, x_i) * dot(x_i, x_i)).summed(i), OJA)
    assert "z" in latex(logic.generalise(VectorLetter("z"), whole).proposition)


def test_a_direction_is_printed_with_its_binder() -> None:
    said = ForAll(VectorLetter("z"), TRUE, proposition(equation(Slope(dot(z, x), "z"), sp.Integer(0))))
    assert r"\text{for every }" in latex(said)


def test_a_guard_with_a_binder_stands_in_parentheses() -> None:
    guard = ForAll(i, TRUE, proposition(Tensor(dot(x, u)) <= c))
    said = ForAll(c, guard, proposition(c > 0))
    assert r"\text{ with } \bigl(\text{for every }" in latex(said)
    assert r"\bigl(" not in latex(ForAll(c, proposition(c > 0), proposition(c > -1)))


def test_one_name_is_one_number_in_print() -> None:
    real, positive = sp.Symbol("a", real=True), sp.Symbol("a", positive=True)
    with pytest.raises(Refused, match="two numbers"):
        Formula(ForAll(real, TRUE, Exists(positive, TRUE, proposition(real < positive))))
    assert isinstance(Formula(Atom(Symmetric(V))), Formula)
