"""Uses of the rules about matrices and half spaces: what they give, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp
from sympy.core.symbol import Str

from eigentoken.theory.calculus import Index, Letter, dot, one, vector
from eigentoken.theory.kernel import books, dynamics, forms, instances, logic, structure, sums, words
from eigentoken.theory.kernel.instances import VelocityIs, rows
from eigentoken.theory.kernel.observables import expression_of
from eigentoken.theory.kernel.propositions import TRUE, Atom, Conjunction, Equivalence, Exists, ForAll, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.claims import ForwardInvariant
from eigentoken.theory.language.conditions import InHemisphere, NoneOpposite, Nonsingular, PositiveDefinite, Symmetric
from eigentoken.theory.language.observables_attention import pair_form
from eigentoken.theory.language.places import ConsensusSet, Hemisphere
from eigentoken.theory.language.terms import Eigenvalue, matrix
from eigentoken.theory.systems.catalogue import system

__all__ = ["FURTHER", "GIVES", "REFUSES"]

assume = logic.assume
A, V, W = matrix("A"), matrix("V"), matrix("W")
i, g = Index("token", "i"), Index("group", "g")
x, y, t = sp.symbols("x y t", real=True)
Z, NORMAL = vector("z"), vector("w")
TOKEN_FLOW = system("token-flow")
HEIGHT = Tensor(dot(vector("x", i), vector("w")))


def _said(kind: Any, left: Any, right: Any) -> Any:
    return proposition(kind(left, right, evaluate=False))


QUOTIENT = _said(sp.Eq, A * V, W)
NOT_ZERO = _said(sp.Gt, Tensor(dot(Z, Z)), sp.Integer(0))
FORM = Tensor(dot(Z, Z, (Letter("V"),)) - dot(Z, Z, (Letter("W", True), Letter("V"))) * 2)
MIXED = PositiveDefinite(V - 2 * W.T * V)
LEFT = _said(sp.Eq, Tensor(dot(NORMAL, Z, (Letter("V"),))), Eigenvalue(V, 1) * Tensor(dot(NORMAL, Z)))
TOP_LEFT = Conjunction(
    (_said(sp.Gt, Tensor(dot(NORMAL, NORMAL)), sp.Integer(0)), ForAll(VectorLetter("z"), TRUE, LEFT))
)
ON_ONE_SIDE = ForAll(i, TRUE, _said(sp.Gt, Tensor(dot(NORMAL, vector("x", i)), 0), sp.Integer(0)))
EVERY_X = ForAll(x, TRUE, proposition(x > y))
EVERY_V = ForAll(V, TRUE, Atom(Symmetric(V)))
AUTONOMOUS = books.Textbook(
    "fixed", "a theorem", {"X": sp.MatrixSymbol}, lambda X: ((), Symmetric(X)), "A, T", "@book{}", autonomous=True
)

ONE = sp.ImmutableMatrix([[1]])
TURN = sp.ImmutableMatrix([[1, 2], [-2, 1]])
AT = sp.Symbol("a", real=True)


def _moves(velocity: Any = 2 * AT, value: Any = ((2,),), **other: Any) -> VelocityIs:
    """Two tokens at one point a of the line: they move by B a."""
    given = {"B": value, "W": ((1,),), **other}
    weights = tuple((Str(name), rows(each)) for name, each in given.items())
    return VelocityIs(weights, rows(((AT,), (AT,))), rows(((velocity,), (velocity,))))


GIVES: dict[str, tuple[Callable[[], Proved], Any]] = {
    "as_form": (
        lambda: forms.as_form(MIXED),
        Equivalence(Atom(MIXED), ForAll(VectorLetter("z"), NOT_ZERO, _said(sp.Gt, FORM, sp.Integer(0)))),
    ),
    "invertible": (lambda: forms.invertible(assume(Symmetric(W * V.inv())), V), Nonsingular(V)),
    "velocity_at": (lambda: instances.velocity_at(_moves(), TOKEN_FLOW), Atom(_moves())),
    "exact_matrix": (lambda: instances.exact_matrix(PositiveDefinite(TURN)), PositiveDefinite(TURN)),
    "half_space": (
        lambda: words.half_space(InHemisphere(V, left=True)),
        Equivalence(Atom(InHemisphere(V, left=True)), Exists(VectorLetter("w"), TOP_LEFT, ON_ONE_SIDE)),
    ),
}

REFUSES: dict[str, dict[str, tuple[Callable[[], Any], str]]] = {
    "as_form": {
        "another word": (lambda: forms.as_form(Symmetric(V)), "says nothing of the sign"),
        "an inverse": (lambda: forms.as_form(PositiveDefinite(W * V.inv())), "letter of its own"),
        "another size": (lambda: forms.as_form(PositiveDefinite(sp.MatrixSymbol("A", 2, 2))), "d x d"),
    },
    "invertible": {
        "no inverse": (lambda: forms.invertible(assume(Symmetric(W * V)), V), "inverse of V"),
        "the inverse of another": (lambda: forms.invertible(assume(Symmetric(W * V.inv())), W), "inverse of W"),
        "a relation": (lambda: forms.invertible(assume(_said(sp.Eq, W * V.inv(), W)), V), "inverse of V"),
        "an implication": (
            lambda: forms.invertible(logic.discharge(Symmetric(V), assume(Symmetric(W * V.inv()))), V),
            "inverse of V",
        ),
    },
    "velocity_at": {
        "another velocity": (lambda: instances.velocity_at(_moves(3 * AT), TOKEN_FLOW), "the velocity is"),
        "other weights": (lambda: instances.velocity_at(_moves(value=((3,),)), TOKEN_FLOW), "the velocity is"),
        "another system": (lambda: instances.velocity_at(_moves(), system("rotary-flow")), "the weights of"),
        "a map": (lambda: instances.velocity_at(_moves(), system("oja-map")), "no flow"),
        "a sphere": (lambda: instances.velocity_at(_moves(), system("ellipsoid-flow")), "no flow"),
        "a mask": (lambda: instances.velocity_at(_moves(), system("causal-flow")), "no flow"),
        "a weight too many": (lambda: instances.velocity_at(_moves(P=((1,),)), TOKEN_FLOW), "the weights of"),
        "another dimension": (
            lambda: instances.velocity_at(_moves(value=((2, 0), (0, 2))), TOKEN_FLOW),
            "one dimension",
        ),
        "no real number": (lambda: instances.velocity_at(_moves(value=((sp.I,),)), TOKEN_FLOW), "real numbers"),
        "a quotient that could be undefined": (
            lambda: instances.velocity_at(_moves(1, value=((1 / AT,),)), TOKEN_FLOW),
            "does not follow",
        ),
    },
    "exact_matrix": {
        "a letter": (lambda: instances.exact_matrix(PositiveDefinite(V)), "given entries"),
        "another word": (lambda: instances.exact_matrix(Nonsingular(TURN)), "says nothing"),
        "an unknown entry": (lambda: instances.exact_matrix(Symmetric(sp.ImmutableMatrix([[AT]]))), "not exact"),
        "a float": (lambda: instances.exact_matrix(PositiveDefinite(sp.ImmutableMatrix([[0.5]]))), "not exact"),
        "minors that are not rational": (
            lambda: instances.exact_matrix(PositiveDefinite(sp.ImmutableMatrix([[sp.sqrt(2)]]))),
            "not decided exactly",
        ),
        "two sizes": (lambda: instances.exact_matrix(sp.Eq(ONE, TURN, evaluate=False)), "not decided|not exact"),
    },
    "half_space": {
        "another word": (lambda: words.half_space(NoneOpposite()), "half space"),
        "another region": (lambda: words.half_space(ForwardInvariant(ConsensusSet()), TOKEN_FLOW), "half space"),
        "no normal": (lambda: words.half_space(InHemisphere()), "top eigenvector"),
        "a trajectory of no system": (lambda: words.half_space(ForwardInvariant(Hemisphere(V))), "of a flow"),
        "a map": (lambda: words.half_space(ForwardInvariant(Hemisphere(V)), system("oja-map")), "of a flow"),
        "a term that is no product of letters": (lambda: words.half_space(InHemisphere(V.inv())), "letter of its own"),
    },
}

#: More that other rules refuse, where matrices, quotients and observables with letters of their own are about.
FURTHER: dict[str, dict[str, tuple[Callable[[], Any], str]]] = {
    "reduction": {
        "a product in the other order": (
            lambda: structure.reduction(
                dot(Z, Z, (Letter("V"), Letter("A"))), dot(Z, Z, (Letter("W"),)), None, assume(QUOTIENT)
            ),
            "remain",
        ),
        "a product that is no letter": (
            lambda: structure.reduction(one(), one(), None, assume(_said(sp.Eq, A * V, 2 * W))),
            "their products",
        ),
        "a product of heads": (
            lambda: structure.reduction(
                one(), one(), system("multihead-flow"), assume(_said(sp.Eq, A * matrix("F"), W))
            ),
            "their products",
        ),
    },
    "instantiate": {
        "a quotient that could be undefined": (lambda: logic.instantiate(assume(EVERY_X), 1 / y), "sort"),
        "another divisor": (lambda: logic.instantiate(assume(EVERY_X), 1 / y, assume(sp.Ne(t, 0))), "sort"),
        "an imaginary quotient": (
            lambda: logic.instantiate(assume(EVERY_X), sp.I / y, assume(sp.Ne(y, 0))),
            "sort",
        ),
        "an inverse that could be missing": (lambda: logic.instantiate(assume(EVERY_V), W.inv()), "sort"),
        "the inverse of another": (
            lambda: logic.instantiate(assume(EVERY_V), W.inv(), assume(Nonsingular(V))),
            "sort",
        ),
    },
    "witness": {
        "an inverse that could be missing": (
            lambda: logic.witness(Exists(V, TRUE, Atom(Symmetric(V))), W.inv(), assume(Symmetric(W.inv()))),
            "sort",
        ),
    },
    "positive": {
        "a group that could be empty": (
            lambda: sums.positive((one() * 2).summed(g)),
            "could be empty",
        ),
    },
    "monotone": {
        "an observable of another system": (
            lambda: dynamics.monotone(
                pair_form,
                books.argued(_said(sp.Ge, Rate(expression_of(pair_form)), sp.Integer(0)), "so", system("oja-flow")),
            ),
            "does not have",
        ),
        "only some tokens": (
            lambda: dynamics.monotone(
                pair_form,
                books.argued(
                    _said(sp.Ge, Rate(expression_of(pair_form)), sp.Integer(0)),
                    "so",
                    TOKEN_FLOW,
                    assume(HEIGHT > 0, TOKEN_FLOW),
                ),
            ),
            "at every state",
        ),
    },
}
