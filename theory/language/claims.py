"""Claims: what a statement concludes.

"Stable" means linearly asymptotically stable: spectral radius of the intrinsic Jacobian below 1 (map), all eigenvalues
with negative real part (flow).  ``Iff`` ties a claim to a condition in both directions.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eigentoken.theory.language.conditions import CONDITION, Condition, misplaced
from eigentoken.theory.language.observables import Observable
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt, Place
from eigentoken.theory.language.readings import LATEX, word

if TYPE_CHECKING:
    import sympy as sp

__all__ = [
    "AlmostEveryConverges",
    "AttentionRank",
    "Claim",
    "Converges",
    "Decreases",
    "Diverges",
    "Equilibrium",
    "ForwardInvariant",
    "Iff",
    "InFull",
    "Increases",
    "LyapunovStable",
    "Nonnegative",
    "SpectrumIs",
    "Stable",
    "TwoCycle",
    "Unstable",
    "Vanishes",
    "When",
]


class Claim(ABC):  # noqa: B024 - the readings are the methods
    """A conclusion about a system under conditions."""

    def __post_init__(self) -> None:
        """Each field is of the kind that the word asks for: told where the claim is written."""
        for part, kind, said in _FIELDS:
            if hasattr(self, part) and not isinstance(getattr(self, part), kind()):
                raise misplaced(self, part, getattr(self, part), said)

    def _repr_latex_(self) -> str:
        return f"${LATEX(self)}$"


class InFull(Claim):
    """A claim that no word says: ``said`` is a proposition of the kernel."""

    said: object


#: Fields of claims: their name, their type, and what is expected in words.
_FIELDS: tuple[tuple[str, Callable[[], type], str], ...] = (
    ("place", lambda: Place, "a place of eigentoken.theory.language.places, such as ConsensusAt(V, 1)"),
    ("region", lambda: Place, "a place of eigentoken.theory.language.places, such as Hemisphere(V)"),
    ("observable", lambda: Observable, "an Observable"),
    ("claim", lambda: Claim, "a claim, such as Stable(ConsensusAt(V, 1))"),
    ("condition", lambda: Condition, CONDITION),
)


@word
@dataclass(frozen=True)
class Equilibrium(Claim):
    """The place is a fixed point of the map, or a zero of the flow."""

    place: Place


@word
@dataclass(frozen=True)
class TwoCycle(Claim):
    """The map sends the place to its negative and back."""

    place: Place


@word
@dataclass(frozen=True)
class SpectrumIs(Claim):
    """The intrinsic Jacobian at the place has exactly these eigenvalues, with multiplicities.

    ``classes`` is a tuple of ``(expression, multiplicity)``; an expression that contains the free index ``ell`` stands
    for one eigenvalue for each ``ell != k``.
    """

    place: Place
    classes: tuple[tuple[sp.Expr, sp.Expr], ...]


@word
@dataclass(frozen=True)
class Stable(Claim):
    """The place is linearly asymptotically stable; of a map that takes it to its negative, the 2-cycle of the two is."""

    place: Place


@word
@dataclass(frozen=True)
class Unstable(Claim):
    """The Jacobian at the place has an eigenvalue of modulus above 1 (map) or of positive real part (flow).

    Of a map that takes the place to its negative the multipliers of the 2-cycle are meant.
    """

    place: Place


@word
@dataclass(frozen=True)
class LyapunovStable(Claim):
    """Trajectories that start near the place stay near it."""

    place: Place


@word
@dataclass(frozen=True)
class Iff(Claim):
    """The claim holds exactly when the condition does."""

    claim: Claim
    condition: Condition


@word
@dataclass(frozen=True)
class When(Claim):
    """The claim holds whenever the further condition does (one part of a statement with several)."""

    condition: Condition
    claim: Claim


@word
@dataclass(frozen=True)
class Vanishes(Claim):
    """The observable is zero at every state (an identity)."""

    observable: Observable


@word
@dataclass(frozen=True)
class Nonnegative(Claim):
    """The observable is at least zero at every state (an inequality); with ``strict``, above zero."""

    observable: Observable
    strict: bool = False


@word
@dataclass(frozen=True)
class Decreases(Claim):
    """The observable does not increase along trajectories; with ``strict``, decreases off the equilibria."""

    observable: Observable
    strict: bool = False


@word
@dataclass(frozen=True)
class Increases(Claim):
    """The observable does not decrease along trajectories."""

    observable: Observable
    strict: bool = False


@word
@dataclass(frozen=True)
class ForwardInvariant(Claim):
    """Trajectories that start in the region stay in it."""

    region: Place


@word
@dataclass(frozen=True)
class Converges(Claim):
    """Every trajectory that starts under the conditions converges to the place (up to the global sign)."""

    place: Place


@word
@dataclass(frozen=True)
class AlmostEveryConverges(Claim):
    """All trajectories but those from a set of measure zero converge to the place (up to the global sign)."""

    place: Place


@word
@dataclass(frozen=True)
class Diverges(Claim):
    """The norm of at least one token (``every``: of each token) grows without bound."""

    every: bool = False


@word
@dataclass(frozen=True)
class AttentionRank(Claim):
    """The attention matrix at the place has this rank."""

    place: Place
    rank: sp.Expr | int


@LATEX.register(Equilibrium)
def latex_equilibrium(claim: Equilibrium) -> str:
    return rf"{LATEX(claim.place)} \text{{ is an equilibrium}}"


@LATEX.register(TwoCycle)
def latex_two_cycle(claim: TwoCycle) -> str:
    return rf"{LATEX(claim.place)} \text{{ and its negative form a 2-cycle}}"


@LATEX.register(SpectrumIs)
def latex_spectrum_is(claim: SpectrumIs) -> str:
    classes = _spectrum_latex(claim.classes, getattr(claim.place, "index", None))
    return rf"\text{{the spectrum at }} {LATEX(claim.place)} \text{{ is }} {classes}"


@LATEX.register(Stable)
def latex_stable(claim: Stable) -> str:
    return rf"{LATEX(claim.place)} \text{{ is linearly asymptotically stable}}"


@LATEX.register(Unstable)
def latex_unstable(claim: Unstable) -> str:
    return rf"{LATEX(claim.place)} \text{{ is linearly unstable}}"


@LATEX.register(LyapunovStable)
def latex_lyapunov_stable(claim: LyapunovStable) -> str:
    return rf"{LATEX(claim.place)} \text{{ is Lyapunov stable}}"


@LATEX.register(Iff)
def latex_iff(claim: Iff) -> str:
    return rf"{LATEX(claim.claim)} \iff {LATEX(claim.condition)}"


@LATEX.register(When)
def latex_when(claim: When) -> str:
    return rf"{LATEX(claim.condition)} \implies {LATEX(claim.claim)}"


@LATEX.register(Vanishes)
def latex_vanishes(claim: Vanishes) -> str:
    return rf"{claim.observable.latex} = 0"


@LATEX.register(Nonnegative)
def latex_nonnegative(claim: Nonnegative) -> str:
    relation = ">" if claim.strict else r"\geq"
    return f"{claim.observable.latex} {relation} 0"


@LATEX.register(Decreases)
def latex_decreases(claim: Decreases) -> str:
    how = "decreases strictly off the equilibria" if claim.strict else "does not increase along trajectories"
    return rf"{claim.observable.latex} \text{{ {how}}}"


@LATEX.register(Increases)
def latex_increases(claim: Increases) -> str:
    how = "increases strictly off the equilibria" if claim.strict else "does not decrease along trajectories"
    return rf"{claim.observable.latex} \text{{ {how}}}"


@LATEX.register(ForwardInvariant)
def latex_forward_invariant(claim: ForwardInvariant) -> str:
    return rf"{LATEX(claim.region)} \text{{ is forward invariant}}"


@LATEX.register(Converges)
def latex_converges(claim: Converges) -> str:
    return rf"\text{{every trajectory converges to }} {LATEX(claim.place)}{_or_negative(claim.place)}"


@LATEX.register(AlmostEveryConverges)
def latex_almost_every_converges(claim: AlmostEveryConverges) -> str:
    return rf"\text{{almost every trajectory converges to }} {LATEX(claim.place)}{_or_negative(claim.place)}"


def _or_negative(place: Place) -> str:
    """An eigenvector has no sign of its own, and the systems are odd: a limit on one is meant up to the global sign."""
    return r" \text{ or to its negative}" if isinstance(place, ConsensusAt | BipartiteAt) else ""


@LATEX.register(Diverges)
def latex_diverges(claim: Diverges) -> str:
    who = "every token" if claim.every else "some token"
    return rf"\text{{the norm of {who} grows without bound}}"


@LATEX.register(AttentionRank)
def latex_attention_rank(claim: AttentionRank) -> str:
    from eigentoken.theory.printing.scalars import scalar_latex

    return rf"\operatorname{{rank}} A = {scalar_latex(claim.rank)} \text{{ at }} {LATEX(claim.place)}"


# -- the classes of a spectrum ------------------------------------------------------------------------------------------------


def _turned(function: Any) -> bool:
    """``tanh(t - s)``, s a number of the matrices: sympy's order of ``-tanh(s - t)``, which the statements write."""
    from sympy import sinh, tanh

    from eigentoken.theory.language.terms import MatrixNumber

    terms = function.args[0].as_coefficients_dict()
    numbers = [value for term, value in terms.items() if isinstance(term, MatrixNumber)]
    return isinstance(function, tanh | sinh) and any(value < 0 for value in numbers)


def _as_written(function: Any) -> str:
    from eigentoken.theory.printing.scalars import scalar_latex

    if not _turned(function):
        return scalar_latex(function)
    return rf"\{function.func.__name__}\left({scalar_latex(-function.args[0])}\right)"


def _runs(value: Any) -> bool:
    """Does an eigenvalue run over ``ell``, itself or in a letter that print gave to a part of it (``theta_{1,ell}``)?"""
    from eigentoken.theory.language.terms import ell

    return bool(value.has(ell)) or any(each.name.endswith(r",\ell}") for each in value.free_symbols)


def _spectrum_latex(classes: Sequence[tuple[Any, Any]], index: Any = None) -> str:
    """Eigenvalues with multiplicities; hyperbolic functions that occur again and again get a letter, ``where b_1 = ...``.

    A class that runs over ``ell`` says over which: all but the ``index`` of the place.

    >>> from sympy import Symbol, tanh
    >>> x = Symbol("x")
    >>> print(_spectrum_latex([(1 + tanh(x), 1), (1 / tanh(x), 3)])[:44])
    1 + b_{1},\\quad \\frac{1}{b_{1}}\\ [3\\text{ ti
    """
    from sympy import Symbol, sympify
    from sympy.functions.elementary.hyperbolic import HyperbolicFunction

    from eigentoken.theory.printing.scalars import scalar_latex

    values = [sympify(value) for value, _ in classes]
    repeated = [
        each
        for each in sorted(set().union(*(value.atoms(HyperbolicFunction) for value in values)), key=str)
        if sum(value.count(each) for value in values) > 1
    ]
    names = {each: Symbol(f"b_{index}", real=True) for index, each in enumerate(repeated, 1)}
    letters = {each: -name if _turned(each) else name for each, name in names.items()}
    others = "" if index is None else rf"\ (\ell \neq {scalar_latex(sympify(index))})"
    rows = [
        f"{scalar_latex(value.xreplace(letters))}{others if _runs(value) else ''}"
        + ("" if count == 1 else rf"\ [{scalar_latex(count)}\text{{ times}}]")
        for value, (_, count) in zip(values, classes, strict=True)
    ]
    text = r",\quad ".join(rows)
    if names:
        given = r",\quad ".join(f"{scalar_latex(name)} = {_as_written(each)}" for each, name in names.items())
        text += rf",\qquad \text{{where }} {given}"
    return text
