"""Conditions: declarative predicates on the parameters and the start of a system.

A condition says *what* must hold; how it is printed, decided, generated and observed is dispatched
(:mod:`eigentoken.theory.language.readings`).  Matrix arguments are terms (:mod:`eigentoken.theory.language.terms`): ``A
= W B^{-1}`` or the symmetric part of a product need no word of their own.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy as sp
from sympy.logic.boolalg import Boolean

from eigentoken.theory.language.readings import LATEX, SYMBOLIC, word
from eigentoken.theory.language.terms import Eigenvalue, d, ell
from eigentoken.theory.printing.scalars import matrix_latex, scalar_latex

__all__ = [
    "CONDITION",
    "AllOf",
    "AnyOf",
    "BoundedInTime",
    "Commute",
    "Condition",
    "InHemisphere",
    "IsIdentity",
    "NegativeDefinite",
    "NonPrincipalModulusBelow",
    "NoneOpposite",
    "Nonsingular",
    "Not",
    "NotAllEqual",
    "NotAllZero",
    "OfOneMatrix",
    "PositiveDefinite",
    "PositiveSemidefinite",
    "Relation",
    "ShareDominantPair",
    "SharesTopEigenvector",
    "SimpleTop",
    "Symmetric",
    "UniformlyContinuous",
    "misplaced",
]


#: What is expected where a condition belongs.
CONDITION = "a condition, such as Symmetric(V), or a relation wrapped in Relation(...)"


def misplaced(word: Any, part: str, value: Any, expected: str) -> TypeError:
    """The error for a field that holds something of another kind."""
    got = "a claim" if hasattr(value, "_repr_latex_") and type(value).__module__.endswith("claims") else ""
    shown = f"{value!r}{f', {got}' if got else ''}"
    opposite = "; for the opposite of a claim say Fails(claim)" if got and isinstance(word, Not) else ""
    return TypeError(f"{type(word).__name__}: {part} must be {expected}, got {shown}{opposite}")


class Condition(ABC):  # noqa: B024 - the readings are the methods
    """A predicate on the parameters and the start of a system."""

    def _repr_latex_(self) -> str:
        return f"${LATEX(self)}$"


@dataclass(frozen=True)
class OfOneMatrix(Condition):
    """A condition on one matrix term; ``called`` is its name where it is asked of a single matrix (``certify``)."""

    term: sp.MatrixExpr
    called: ClassVar[str]


@word
@dataclass(frozen=True)
class Symmetric(OfOneMatrix):
    """``X = X^T``."""

    called = "symmetric"


@word
@dataclass(frozen=True)
class PositiveDefinite(OfOneMatrix):
    """``z^T X z > 0`` for all z != 0: a condition on sym(X); symmetry is a separate word."""

    called = "positive-definite"


@word
@dataclass(frozen=True)
class PositiveSemidefinite(OfOneMatrix):
    """``z^T X z >= 0`` for all z: a condition on sym(X)."""

    called = "positive-semidefinite"


@word
@dataclass(frozen=True)
class NegativeDefinite(OfOneMatrix):
    """``z^T X z < 0`` for all z != 0: a condition on sym(X)."""

    called = "negative-definite"


@word
@dataclass(frozen=True)
class Nonsingular(OfOneMatrix):
    """``X`` is invertible."""

    called = "nonsingular"


@word
@dataclass(frozen=True)
class SimpleTop(OfOneMatrix):
    """The eigenvalue of largest real part is real, and every other one has a smaller real part."""

    called = "dominant-real-part"


@word
@dataclass(frozen=True)
class NonPrincipalModulusBelow(Condition):
    """``|lambda| < lambda_1(X)`` for every other eigenvalue (strict dominance by modulus)."""

    term: sp.MatrixExpr


@word
@dataclass(frozen=True)
class Relation(Condition):
    """A scalar relation between quantities, as a sympy relational: ``Relation(Eigenvalue(V, 1) > 0)``."""

    relation: sp.Basic

    def __post_init__(self) -> None:
        if self.relation in (sp.true, sp.false, True, False):
            raise ValueError(f"a relation must say something, got {self.relation}: it was decided when written")
        if not isinstance(self.relation, Boolean):
            expected = "a comparison of quantities, such as Eigenvalue(V, 1) > 0"
            raise misplaced(self, "relation", self.relation, expected)


@word
@dataclass(frozen=True)
class InHemisphere(Condition):
    """All tokens start in an open half space: ``w^T x_i(0) > 0`` for all i.

    ``normal`` is a matrix term whose unit top eigenvector is w, or ``None`` for *some* w (the tokens lie in an open
    hemisphere).  ``left`` takes the left eigenvector instead (nonsymmetric matrices).
    """

    normal: sp.MatrixExpr | None = None
    left: bool = False


@word
@dataclass(frozen=True)
class NotAllEqual(Condition):
    """The tokens do not all coincide at the start."""


@word
@dataclass(frozen=True)
class BoundedInTime(Condition):
    """``t -> X(t)`` is measurable and ``sup_t |X(t)| <= b`` for a finite b: it may depend on time, discontinuously."""

    name: str


@word
@dataclass(frozen=True)
class UniformlyContinuous(Condition):
    """``t -> X(t)`` is uniformly continuous."""

    name: str


@word
@dataclass(frozen=True)
class Commute(Condition):
    """``X Y = Y X``."""

    first: sp.MatrixExpr
    second: sp.MatrixExpr


@word
@dataclass(frozen=True)
class SharesTopEigenvector(Condition):
    """All heads' value matrices have one common unit eigenvector v for their (simple, positive) top eigenvalues."""

    name: str


@word
@dataclass(frozen=True)
class AllOf(Condition):
    """Every part holds."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        _check_parts(self, self.parts)


@word
@dataclass(frozen=True)
class AnyOf(Condition):
    """At least one part holds."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        _check_parts(self, self.parts)


@word
@dataclass(frozen=True)
class Not(Condition):
    """The part does not hold."""

    part: Condition

    def __post_init__(self) -> None:
        _check_parts(self, (self.part,))


def _check_parts(word: Condition, parts: Any) -> None:
    for part in parts:
        if not isinstance(part, Condition):
            raise misplaced(word, "part", part, CONDITION)


# --- LaTeX -----------------------------------------------------------------------------------------------------------


@LATEX.register(Symmetric)
def latex_symmetric(condition: Symmetric) -> str:
    text = matrix_latex(condition.term)
    return rf"{text} = {_transposed(text)}"


def _transposed(text: str) -> str:
    return rf"{text}^{{\top}}" if len(text) == 1 else rf"\left({text}\right)^{{\top}}"


def _definiteness(relation: str) -> Any:
    def latex_definite(condition: Any) -> str:
        return rf"\operatorname{{sym}}({matrix_latex(condition.term)}) {relation} 0"

    return latex_definite


LATEX.register(PositiveDefinite)(_definiteness(r"\succ"))
LATEX.register(PositiveSemidefinite)(_definiteness(r"\succeq"))
LATEX.register(NegativeDefinite)(_definiteness(r"\prec"))


@LATEX.register(Nonsingular)
def latex_nonsingular(condition: Nonsingular) -> str:
    return rf"\det {matrix_latex(condition.term)} \neq 0"


@LATEX.register(SimpleTop)
def latex_simple_top(condition: SimpleTop) -> str:
    term = matrix_latex(condition.term)
    return rf"\lambda_1({term}) > \operatorname{{Re}} \lambda_\ell({term}) \text{{ for }} \ell \geq 2"


@LATEX.register(NonPrincipalModulusBelow)
def latex_non_principal_modulus_below(condition: NonPrincipalModulusBelow) -> str:
    term = matrix_latex(condition.term)
    return rf"\lambda_1({term}) > |\lambda_\ell({term})| \text{{ for }} \ell \geq 2"


@LATEX.register(Relation)
def latex_relation(condition: Relation) -> str:
    return scalar_latex(condition.relation)


@LATEX.register(InHemisphere)
def latex_in_hemisphere(condition: InHemisphere) -> str:
    if condition.normal is None:
        return r"\exists\, w:\ w^{\top} x_i(0) > 0 \text{ for all } i"
    vector = "u_1" if condition.left else "v_1"
    return rf"{vector}({matrix_latex(condition.normal)})^{{\top}} x_i(0) > 0 \text{{ for all }} i"


@LATEX.register(NotAllEqual)
def latex_not_all_equal(condition: NotAllEqual) -> str:
    return r"x_i(0) \neq x_j(0) \text{ for some } i, j"


@LATEX.register(BoundedInTime)
def latex_bounded_in_time(condition: BoundedInTime) -> str:
    return rf"t \mapsto {condition.name}(t) \text{{ measurable}},\ \sup_{{t}} \lVert {condition.name}(t) \rVert \leq b < \infty"


@LATEX.register(UniformlyContinuous)
def latex_uniformly_continuous(condition: UniformlyContinuous) -> str:
    return rf"t \mapsto {condition.name}(t) \text{{ uniformly continuous}}"


@LATEX.register(Commute)
def latex_commute(condition: Commute) -> str:
    first, second = matrix_latex(condition.first), matrix_latex(condition.second)
    return rf"{first} {second} = {second} {first}"


@LATEX.register(SharesTopEigenvector)
def latex_shares_top_eigenvector(condition: SharesTopEigenvector) -> str:
    return rf"{condition.name}_h v = \lambda_1({condition.name}_h)\, v \text{{ for all heads }} h"


@LATEX.register(AllOf)
def latex_all_of(condition: AllOf) -> str:
    shown = (rf"\left({LATEX(part)}\right)" if _alternatives(part) else LATEX(part) for part in condition.parts)
    return r" \text{ and } ".join(shown)


def _alternatives(condition: Condition) -> bool:
    """A disjunction, by word or by relation: inside a conjunction it needs parentheses."""
    return isinstance(condition, AnyOf) or (isinstance(condition, Relation) and isinstance(condition.relation, sp.Or))


@LATEX.register(AnyOf)
def latex_any_of(condition: AnyOf) -> str:
    return r" \text{ or } ".join(rf"\left[{LATEX(part)}\right]" for part in condition.parts)


@LATEX.register(Not)
def latex_not(condition: Not) -> str:
    return rf"\text{{not }} \left[{LATEX(condition.part)}\right]"


# --- what a condition says about the symbols: a sympy Boolean over quantities --------------------------------------


def _eigenvalue(term: Any, index: Any) -> Eigenvalue:
    return Eigenvalue(term, index)


@SYMBOLIC.register(Relation)
def symbolic_relation(condition: Relation) -> Any:
    return condition.relation


@SYMBOLIC.register(PositiveDefinite)
def symbolic_positive_definite(condition: PositiveDefinite) -> Any:
    return sp.Gt(_eigenvalue((condition.term + condition.term.T) / 2, d), 0)


@SYMBOLIC.register(PositiveSemidefinite)
def symbolic_positive_semidefinite(condition: PositiveSemidefinite) -> Any:
    return sp.Ge(_eigenvalue((condition.term + condition.term.T) / 2, d), 0)


@SYMBOLIC.register(NegativeDefinite)
def symbolic_negative_definite(condition: NegativeDefinite) -> Any:
    return sp.Lt(_eigenvalue((condition.term + condition.term.T) / 2, 1), 0)


@SYMBOLIC.register(SimpleTop)
def symbolic_simple_top(condition: SimpleTop) -> Any:
    return sp.Gt(_eigenvalue(condition.term, 1), _eigenvalue(condition.term, 2))


@SYMBOLIC.register(NonPrincipalModulusBelow)
def symbolic_non_principal_modulus_below(condition: NonPrincipalModulusBelow) -> Any:
    return sp.Gt(_eigenvalue(condition.term, 1), sp.Abs(_eigenvalue(condition.term, ell)))


@SYMBOLIC.register(
    Symmetric, Nonsingular, InHemisphere, NotAllEqual, BoundedInTime, UniformlyContinuous, Commute, SharesTopEigenvector
)
def symbolic_condition_by_name(condition: Condition) -> Any:
    """Facts without a scalar form: an atom that derivations take as a named hypothesis."""
    return sp.Symbol(f"[{LATEX(condition)}]")


@SYMBOLIC.register(AllOf)
def symbolic_all_of(condition: AllOf) -> Any:
    return sp.And(*(SYMBOLIC(part) for part in condition.parts))


@SYMBOLIC.register(AnyOf)
def symbolic_any_of(condition: AnyOf) -> Any:
    return sp.Or(*(SYMBOLIC(part) for part in condition.parts))


@SYMBOLIC.register(Not)
def symbolic_not(condition: Not) -> Any:
    return sp.Not(SYMBOLIC(condition.part))


@word
@dataclass(frozen=True)
class IsIdentity(OfOneMatrix):
    """``X = I`` (for every head, where the system has heads): a parameter given as ``None`` is the identity, too."""

    called = "identity"


@LATEX.register(IsIdentity)
def latex_is_identity(condition: IsIdentity) -> str:
    return rf"{matrix_latex(condition.term)} = I"


@SYMBOLIC.register(IsIdentity)
def symbolic_is_identity(condition: IsIdentity) -> Any:
    return sp.Symbol(f"[{LATEX(condition)}]")


@word
@dataclass(frozen=True)
class ShareDominantPair(Condition):
    """The value matrices ``U_h`` of all heads have one u, one v and one norm in which each contracts (AB-X2).

    ``u^T U_h = lambda_h u^T``, ``U_h v = lambda_h v``, ``lambda_h > 0``, ``u^T v > 0``, and some Euclidean norm on ``u^perp``
    has ``|U_h r|_* < lambda_h |r|_*`` for every head h and every r != 0.  For one head: the eigenvalue lambda > 0 is simple and
    larger in modulus than the others.  The sum ``F = sum_h U_h`` then has the same pair, so v is its leading eigenvector.
    """

    name: str


@LATEX.register(ShareDominantPair)
def latex_share_dominant_pair(condition: ShareDominantPair) -> str:
    name = condition.name
    return (
        rf"u^{{\top}}{name}_h = \lambda_h u^{{\top}},\ {name}_h v = \lambda_h v,\ "
        rf"\lVert {name}_h|_{{u^{{\perp}}}} \rVert_* < \lambda_h \text{{ for all heads }} h"
    )


@SYMBOLIC.register(ShareDominantPair)
def symbolic_share_dominant_pair(condition: ShareDominantPair) -> Any:
    return sp.Symbol(f"[{LATEX(condition)}]")


@word
@dataclass(frozen=True)
class NoneOpposite(Condition):
    """No token starts at the antipode of the first: ``x_j(0) != -x_1(0)`` for all j."""


@word
@dataclass(frozen=True)
class NotAllZero(Condition):
    """Some token does not start at the origin (Euclidean systems)."""


@LATEX.register(NoneOpposite)
def latex_none_opposite(condition: NoneOpposite) -> str:
    return r"x_j(0) \neq -x_1(0) \text{ for all } j"


@LATEX.register(NotAllZero)
def latex_not_all_zero(condition: NotAllZero) -> str:
    return r"x_i(0) \neq 0 \text{ for some } i"


@SYMBOLIC.register(NoneOpposite, NotAllZero)
def symbolic_none_opposite_or_not_all_zero(condition: Condition) -> sp.Symbol:
    return sp.Symbol(f"[{LATEX(condition)}]")
