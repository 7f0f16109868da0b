"""What a system is: a state space, a time, a sublayer, and where the normalisation stands.

Every system is one composition.  The sublayer turns the tokens that it sees into a push ``u_i``; a map adds ``alpha u_i``, a
flow moves along ``u_i``; the normalisation stands after that step (tokens on a sphere or ellipsoid), before the sublayer
(pre-norm, tokens in Euclidean space) or nowhere.  A system of another package is a :class:`System` with other declarations,
or a subclass that writes its own :meth:`System.sublayer` in the operations of an
:class:`~eigentoken.theory.systems.algebra.Algebra`: every arithmetic of the house then reads that one equation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from eigentoken.theory.systems.algebra import Algebra, MaskValue, Number, Parameters, ParameterValue, State

__all__ = ["KINDS", "Normalisation", "Parameter", "Space", "System", "Time", "parameters_at", "turned_scores"]


class _Choice(StrEnum):
    """One of a few words; another one is told which there are."""

    @classmethod
    def _missing_(cls, value: object) -> _Choice:
        words = ", ".join(str(each) for each in cls)
        raise ValueError(f"{cls.__name__.lower()} must be one of {words}, got {value!r}")


class Space(_Choice):
    """Where one token lives."""

    SPHERE = "sphere"
    ELLIPSOID = "ellipsoid"
    EUCLIDEAN = "euclidean"


class Time(_Choice):
    """Layers (a map) or the limit of small steps (a flow)."""

    MAP = "map"
    FLOW = "flow"


class Normalisation(_Choice):
    """Where the tokens are normalised: after the step, before the sublayer (``u_i`` sees ``x_j/|x_j|``), or nowhere."""

    AFTER = "after"
    BEFORE = "before"
    NONE = "none"


#: The kinds of parameters: ``d x d``, ``d`` numbers, one number, one positive number, a list of heads.
KINDS = ("matrix", "vector", "scalar", "step", "heads")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a system: its name in files, its kind (one of :data:`KINDS`) and its meaning.

    A parameter with a ``default`` (a number as text; ``"0"`` or ``"I"`` for a matrix, ``"0"`` for a vector) may be left out;
    an ``optional`` one without a default is ``None`` where it is left out.  ``per_head``: every head has one of its own.
    """

    name: str
    kind: str
    meaning: str
    default: str | None = None
    optional: bool = False
    per_head: bool = False

    @property
    def required(self) -> bool:
        return self.default is None and not self.optional


@dataclass(frozen=True)
class System:
    """A dynamics of n tokens in R^d.

    ``x_i^+ = pi_W(x_i + alpha u_i)`` (map) or ``x_i' = u_i - (x_i^T W u_i) x_i`` (flow on ``x^T W x = 1``,
    W = I for the sphere), ``x_i^+ = x_i + alpha u_i`` or ``x_i' = u_i`` (Euclidean), with ``u_i = sum_h F_h sum_j a^h_ij x_j``
    and ``a^h_ij = exp(x_i^T M_h x_j) / sum_l exp(x_i^T M_h x_l)`` over the tokens that the mask lets i see.  With
    ``normalisation`` before the sublayer, ``u_i`` is taken at ``x_j/|x_j|``.

    ``value``, ``score`` and ``metric`` are the names of the parameters that play F, M and W (``None``: identity,
    uniform weights, identity).  With ``over_root_d`` the weights of a token sum to ``1/sqrt(d)`` (the convention of
    Rodriguez Abella et al.).  Parameters may depend on time: a callable is evaluated at t.

    A subclass declares these as class attributes, and may write :meth:`sublayer` anew (then it declares ``attention``), or
    :meth:`raw_step` or :meth:`advance`; ``further`` lists the parameters that its equation has beside F, M and W.
    """

    name: str
    title: str
    space: Space
    time: Time
    value: str | None = None
    score: str | None = None
    metric: str | None = None
    multihead: bool = False
    over_root_d: bool = False
    mask: str = "full"
    source: str = ""
    rotary: tuple[str, str, str] | None = None
    "Names of Q, K and the rotation R of scores ``x_l^T Q R^(l-i) K^T x_i`` that depend on the positions."
    normalisation: Normalisation | None = None
    "Left out: after the step on a sphere or ellipsoid, nowhere in Euclidean space."
    attention: str = ""
    "``softmax``, ``uniform``, or a word of the author's (``linear``, ``sigmoid``); left out: what the equation here says."
    positions: str = ""
    "How the sublayer knows the positions of the tokens: ``none``, ``rotary``, or a word of the author's."
    further: tuple[Parameter, ...] = ()

    if TYPE_CHECKING:  # a space, a time and a place of the normalisation may be given as texts

        def __init__(
            self,
            name: str,
            title: str,
            space: Space | str,
            time: Time | str,
            value: str | None = None,
            score: str | None = None,
            metric: str | None = None,
            multihead: bool = False,
            over_root_d: bool = False,
            mask: str = "full",
            source: str = "",
            rotary: tuple[str, str, str] | None = None,
            normalisation: Normalisation | str | None = None,
            attention: str = "",
            positions: str = "",
            further: Sequence[Parameter] = (),
        ) -> None: ...

    def __repr__(self) -> str:
        letters = ", ".join(each.name for each in self.parameters)
        where = "in Euclidean space" if self.space is Space.EUCLIDEAN else f"on the {self.space!s}"
        return f"<System {self.name}: {self.title}; {self.time!s} {where}, parameters {letters}>"

    @property
    def latex(self) -> str:
        """The equation, run on formulas, with the letters that it takes; needs amsmath alone."""
        from eigentoken.theory.systems.typeset import equation_of

        return equation_of(self)

    def _repr_latex_(self) -> str | None:
        try:
            return f"$$\n{self.latex}\n$$"
        except (TypeError, AttributeError, ValueError):  # an equation of others that looks inside its tokens
            return None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "space", Space(self.space))
        set_field(self, "time", Time(self.time))
        place = Normalisation.NONE if self.space is Space.EUCLIDEAN else Normalisation.AFTER
        set_field(self, "normalisation", place if self.normalisation is None else Normalisation(self.normalisation))
        if not self.attention:
            set_field(self, "attention", "uniform" if self.score is None and self.rotary is None else "softmax")
        if not self.positions:
            set_field(self, "positions", "none" if self.rotary is None else "rotary")
        set_field(self, "further", tuple(self.further))

    # ------------------------------------------------------------------ what is declared

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What an instance must give, in the order in which it is usually written."""
        listed: list[Parameter] = []
        if self.multihead:
            names = [each.name for each in self.head_parameters]
            listed.append(Parameter("heads", "heads", f"a list of heads, each with {' and '.join(names)}"))
        else:
            listed += self.head_parameters
        if self.rotary:
            meanings = ("query matrix", "key matrix", "rotation from one position to the next, orthogonal")
            listed += [Parameter(*each) for each in zip(self.rotary, ("matrix",) * 3, meanings, strict=True)]
        if self.metric and self.metric not in {self.value, self.score}:
            listed.append(Parameter(self.metric, "matrix", "symmetric positive definite, of the ellipsoid x^T W x = 1"))
        listed += [each for each in self.further if not each.per_head]
        if self.time is Time.MAP and all(each.name != "alpha" for each in listed):
            listed.append(Parameter("alpha", "step", "step size, positive"))
        return tuple(listed)

    @property
    def head_parameters(self) -> tuple[Parameter, ...]:
        """What one head has (the whole system, where it has one head)."""
        listed = []
        if self.value:
            listed.append(Parameter(self.value, "matrix", "value matrix, acts on a token from the left"))
        if self.score:
            listed.append(Parameter(self.score, "matrix", "score matrix: x_i^T M x_j before the exponential"))
        return (*listed, *(each for each in self.further if each.per_head))

    @property
    def writes_sublayer(self) -> bool:
        """Has the class an equation of its own for the push ``u_i``?"""
        kind = type(self)
        return any(getattr(kind, name) is not getattr(System, name) for name in ("sublayer", "influence", "heads"))

    @property
    def writes_step(self) -> bool:
        """Has the class a step of its own, other than ``x_i + alpha u_i`` and its normalisation?"""
        kind = type(self)
        return any(getattr(kind, name) is not getattr(System, name) for name in ("raw_step", "advance"))

    @property
    def standard(self) -> bool:
        """Is the equation the one of this class, so that the formulas derived for it (spectra, blocks, fast kernels) apply?

        Everything else is read from the equation itself: a Jacobian by differentiation, a step by running it.
        """
        if self.space is Space.EUCLIDEAN:
            return self._composed and self.time is Time.FLOW and self.normalisation is Normalisation.NONE
        return self._composed and self.normalisation is Normalisation.AFTER

    @property
    def residual(self) -> bool:
        """Is the equation ``x_i^+ = x_i + alpha u_i`` with the push of this class, in Euclidean space, without a norm?"""
        plain = self.normalisation is Normalisation.NONE and self.space is Space.EUCLIDEAN
        return self._composed and plain and self.time is Time.MAP

    @property
    def _composed(self) -> bool:
        return not (self.writes_sublayer or self.writes_step or self.further)

    # ------------------------------------------------------------------ the equation

    def heads(self, parameters: Parameters, t: Number = None) -> list[tuple[ParameterValue, ParameterValue]]:
        """The pairs (F_h, M_h); ``None`` stands for the identity and for uniform weights."""
        groups = parameters["heads"] if self.multihead else [parameters]
        if self.rotary:
            query, key, turn = (_at(parameters, name, t) for name in self.rotary)
            return [(_at(parameters, self.value, t), turned_scores(query, key, turn))]
        return [(_at(group, self.value, t), _at(group, self.score, t)) for group in groups]

    def sublayer(self, algebra: Algebra, parameters: Parameters, x: State, mask: MaskValue) -> State:
        """``u_i = sum_h F_h sum_j a^h_ij x_j`` of the tokens that the sublayer sees: the method that a subclass writes anew.

        ``parameters`` are those of one time; ``x``, their matrices and the result are in the arithmetic of ``algebra``, so the
        equation is written in its operations alone.
        """
        total = None
        for value, score in self.heads(parameters):
            rotary = parameters.get("pair_score")
            weights = algebra.attention(x, score if rotary is None else rotary, mask, self.over_root_d)
            push = algebra.apply(value, algebra.average(weights, x))
            total = push if total is None else algebra.add(total, push)
        if total is None:
            raise ValueError(f"{self.name}: heads must name at least one head, got an empty list: give F and M of each")
        return total

    def influence(
        self, algebra: Algebra, parameters: Parameters, x: State, mask: MaskValue = None, t: Number = None
    ) -> State:
        """The push ``u_i``: the sublayer at the tokens plus ``positions`` (where given), normalised if that stands before."""
        positions = _at(parameters, "positions", t)
        tokens = x if positions is None else algebra.add(x, positions)
        if self.normalisation is Normalisation.BEFORE:
            tokens = algebra.normalise(tokens)
        return self.sublayer(algebra, parameters_at(parameters, t), tokens, mask)

    def raw_step(
        self, algebra: Algebra, parameters: Parameters, x: State, mask: MaskValue = None, t: Number = None
    ) -> State:
        """``y_i = x_i + alpha u_i``, before normalization: a map on a sphere is undefined exactly where some ``y_i = 0``."""
        return algebra.add(x, self.influence(algebra, parameters, x, mask, t), parameters["alpha"])

    def advance(
        self, algebra: Algebra, parameters: Parameters, x: State, mask: MaskValue = None, t: Number = None
    ) -> State:
        """The next state of a map, or the velocity of a flow, at the state ``x``."""
        metric = _at(parameters, self.metric, t)
        if self.time is Time.MAP:
            moved = self.raw_step(algebra, parameters, x, mask, t)
            return moved if self.space is Space.EUCLIDEAN else algebra.normalise(moved, metric)
        push = self.influence(algebra, parameters, x, mask, t)
        return push if self.space is Space.EUCLIDEAN else algebra.tangent(x, push, metric)


def _at(parameters: Parameters, name: str | None, t: ParameterValue) -> ParameterValue:
    value = None if name is None else parameters.get(name)
    return value(t) if callable(value) and name not in {None, "pair_score"} else value


def parameters_at(parameters: Parameters, t: ParameterValue) -> Parameters:
    """The parameters with every function of time evaluated at t; the same mapping where there is none."""
    heads = parameters.get("heads", ())
    if not any(callable(value) for group in (parameters, *heads) for value in group.values()):
        return parameters
    ready = {name: _at(parameters, name, t) for name in parameters if name != "heads"}
    if "heads" in parameters:
        ready["heads"] = [{name: _at(head, name, t) for name in head} for head in heads]
    return ready


def turned_scores(query: ParameterValue, key: ParameterValue, turn: ParameterValue) -> ParameterValue:
    """``(l, i) -> Q R^(l-i) K^T`` for an orthogonal R, for rows of any numbers or for arrays."""
    arrays = hasattr(query, "mT")

    def transposed(matrix: State) -> ParameterValue:
        return matrix.mT if arrays else tuple(zip(*matrix, strict=True))

    def times(left: ParameterValue, right: ParameterValue) -> ParameterValue:
        if arrays:
            return left @ right
        columns = list(zip(*right, strict=True))
        return tuple(tuple(sum((a * b for a, b in zip(row, c, strict=True)), 0) for c in columns) for row in left)

    known: dict[int, ParameterValue] = {}

    def score(l: int, i: int) -> ParameterValue:
        steps = l - i
        if steps not in known:
            power = query
            for _ in range(abs(steps)):
                power = times(power, turn if steps > 0 else transposed(turn))
            known[steps] = times(power, transposed(key))
        return known[steps]

    return score
