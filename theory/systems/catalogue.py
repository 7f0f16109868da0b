"""The dynamical systems of the three papers, each written once.

All of them are one composition: every token is pushed by ``u_i = sum_h F_h sum_j a^h_ij x_j``; a map moves it to
``pi(x_i + alpha u_i)`` with the retraction ``pi`` of its state space, a flow along the tangential part of ``u_i``.
What differs is the state space, the time, where the weights ``a_ij`` come from, and which matrices are parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from eigentoken.theory.systems.algebra import Algebra
from eigentoken.theory.systems.suggestions import meant

__all__ = [
    "POSITIONAL",
    "SPECIAL_CASES",
    "SYSTEMS",
    "Parameter",
    "Space",
    "SpecialCase",
    "System",
    "Time",
    "special_case",
    "system",
    "turned_scores",
]


class Space(StrEnum):
    """Where one token lives."""

    SPHERE = "sphere"
    ELLIPSOID = "ellipsoid"
    EUCLIDEAN = "euclidean"


class Time(StrEnum):
    """Layers (a map) or the limit of small steps (a flow)."""

    MAP = "map"
    FLOW = "flow"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a system: its name in files, its kind (``matrix``, ``step``, ``heads``) and its meaning."""

    name: str
    kind: str
    meaning: str


@dataclass(frozen=True)
class System:
    """A dynamics of n tokens in R^d.

    ``x_i^+ = pi_W(x_i + alpha u_i)`` (map) or ``x_i' = u_i - (x_i^T W u_i) x_i`` (flow on ``x^T W x = 1``,
    W = I for the sphere) or ``x_i' = u_i`` (Euclidean), with ``u_i = sum_h F_h sum_j a^h_ij x_j`` and
    ``a^h_ij = exp(x_i^T M_h x_j) / sum_l exp(x_i^T M_h x_l)`` over the tokens that the mask lets i see.

    ``value``, ``score`` and ``metric`` are the names of the parameters that play F, M and W (``None``: identity,
    uniform weights, identity).  With ``over_root_d`` the weights of a token sum to ``1/sqrt(d)`` (the convention of
    Rodriguez Abella et al.).  Parameters may depend on time: a callable is evaluated at t.
    """

    name: str
    title: str
    space: Space
    time: Time
    value: str | None
    score: str | None
    metric: str | None = None
    multihead: bool = False
    over_root_d: bool = False
    mask: str = "full"
    source: str = ""
    rotary: tuple[str, str, str] | None = None
    "Names of Q, K and the rotation R of scores ``x_l^T Q R^(l-i) K^T x_i`` that depend on the positions."

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What an instance must give, in the order in which it is usually written."""
        listed: list[Parameter] = []
        if self.multihead:
            names = [name for name in (self.value, self.score) if name]
            listed.append(Parameter("heads", "heads", f"a list of heads, each with {' and '.join(names)}"))
        else:
            if self.value:
                listed.append(Parameter(self.value, "matrix", "value matrix, acts on a token from the left"))
            if self.score:
                listed.append(Parameter(self.score, "matrix", "score matrix: x_i^T M x_j before the exponential"))
        if self.rotary:
            meanings = ("query matrix", "key matrix", "rotation from one position to the next, orthogonal")
            listed += [Parameter(*each) for each in zip(self.rotary, ("matrix",) * 3, meanings, strict=True)]
        if self.metric and self.metric not in {self.value, self.score}:
            listed.append(Parameter(self.metric, "matrix", "symmetric positive definite, of the ellipsoid x^T W x = 1"))
        if self.time is Time.MAP:
            listed.append(Parameter("alpha", "step", "step size, positive"))
        return tuple(listed)

    def heads(self, parameters: Mapping[str, Any], t: Any = None) -> list[tuple[Any, Any]]:
        """The pairs (F_h, M_h); ``None`` stands for the identity and for uniform weights."""
        groups = parameters["heads"] if self.multihead else [parameters]
        if self.rotary:
            query, key, turn = (_at(parameters, name, t) for name in self.rotary)
            return [(_at(parameters, self.value, t), turned_scores(query, key, turn))]
        return [(_at(group, self.value, t), _at(group, self.score, t)) for group in groups]

    def influence(
        self, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any = None, t: Any = None
    ) -> Any:
        """``u_i = sum_h F_h sum_j a^h_ij x_j``; a parameter ``positions`` is added to the tokens first."""
        positions = _at(parameters, "positions", t)
        tokens = x if positions is None else algebra.add(x, positions)
        total = None
        for value, score in self.heads(parameters, t):
            rotary = _at(parameters, "pair_score", t)
            weights = algebra.attention(tokens, score if rotary is None else rotary, mask, self.over_root_d)
            push = algebra.apply(value, algebra.average(weights, tokens))
            total = push if total is None else algebra.add(total, push)
        if total is None:
            raise ValueError(f"{self.name}: heads must name at least one head, got an empty list: give F and M of each")
        return total

    def raw_step(self, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any = None, t: Any = None) -> Any:
        """``y_i = x_i + alpha u_i``, before normalization: the map is undefined exactly where some ``y_i = 0``."""
        return algebra.add(x, self.influence(algebra, parameters, x, mask, t), parameters["alpha"])

    def advance(self, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any = None, t: Any = None) -> Any:
        """The next state of a map, or the velocity of a flow, at the state ``x``."""
        metric = _at(parameters, self.metric, t)
        if self.time is Time.MAP:
            return algebra.normalise(self.raw_step(algebra, parameters, x, mask, t), metric)
        push = self.influence(algebra, parameters, x, mask, t)
        return push if self.space is Space.EUCLIDEAN else algebra.tangent(x, push, metric)


def _at(parameters: Mapping[str, Any], name: str | None, t: Any) -> Any:
    value = None if name is None else parameters.get(name)
    return value(t) if callable(value) and name not in {None, "pair_score"} else value


def turned_scores(query: Any, key: Any, turn: Any) -> Any:
    """``(l, i) -> Q R^(l-i) K^T`` for an orthogonal R, for rows of any numbers or for arrays."""
    arrays = hasattr(query, "mT")

    def transposed(matrix: Any) -> Any:
        return matrix.mT if arrays else tuple(zip(*matrix, strict=True))

    def times(left: Any, right: Any) -> Any:
        if arrays:
            return left @ right
        columns = list(zip(*right, strict=True))
        return tuple(tuple(sum((a * b for a, b in zip(row, c, strict=True)), 0) for c in columns) for row in left)

    known: dict[int, Any] = {}

    def score(l: int, i: int) -> Any:
        steps = l - i
        if steps not in known:
            power = query
            for _ in range(abs(steps)):
                power = times(power, turn if steps > 0 else transposed(turn))
            known[steps] = times(power, transposed(key))
        return known[steps]

    return score


LI_ALTAFINI = "Li, Altafini: Analogies between Transformer Layers and Power Method"
ABELLA = "Rodriguez Abella, Silvestre, Tabuada: The Asymptotic Behavior of Attention in Transformers"
PHAM = "Pham et al.: Dynamical Properties of Tokens in Self-Attention and Effects of Positional Encoding"

_LISTED = (
    System("oja-map", "multi-agent Oja map", Space.SPHERE, Time.MAP, "V", None, source=f"{LI_ALTAFINI}, eq. (9)"),
    System("oja-flow", "multi-agent Oja flow", Space.SPHERE, Time.FLOW, "V", None, source="CT-1"),
    System(
        "attention-map", "single-head attention map", Space.SPHERE, Time.MAP, "V", "M", source=f"{LI_ALTAFINI}, eq. (8)"
    ),
    System("attention-flow", "single-head attention flow", Space.SPHERE, Time.FLOW, "V", "M", source="CT-1"),
    System(
        "multihead-map",
        "multi-head attention map",
        Space.SPHERE,
        Time.MAP,
        "F",
        "M",
        multihead=True,
        source=f"{LI_ALTAFINI}, eq. (3)",
    ),
    System(
        "multihead-flow", "multi-head attention flow", Space.SPHERE, Time.FLOW, "F", "M", multihead=True, source="CT-2"
    ),
    System(
        "ellipsoid-flow",
        "attention flow on an ellipsoid, gradient case",
        Space.ELLIPSOID,
        Time.FLOW,
        None,
        "P",
        metric="P",
        over_root_d=True,
        source=f"{ABELLA}, eq. (8)",
    ),
    System(
        "ellipsoid-map",
        "multi-head attention layer on an ellipsoid",
        Space.ELLIPSOID,
        Time.MAP,
        "U",
        "P",
        metric="W",
        multihead=True,
        over_root_d=True,
        source=f"{ABELLA}, eq. (6)",
    ),
    System(
        "ellipsoid-multihead-flow",
        "multi-head attention flow on an ellipsoid",
        Space.ELLIPSOID,
        Time.FLOW,
        "U",
        "P",
        metric="W",
        multihead=True,
        over_root_d=True,
        source=f"{ABELLA}, eq. (7), and with U = I eq. (11)",
    ),
    System(
        "causal-flow",
        "causal attention flow with a value matrix",
        Space.SPHERE,
        Time.FLOW,
        "U",
        "P",
        over_root_d=True,
        mask="causal",
        source=f"{ABELLA}, eqs. (15) and (21)",
    ),
    System(
        "token-flow",
        "unnormalised token flow",
        Space.EUCLIDEAN,
        Time.FLOW,
        "B",
        "W",
        source=f"{PHAM}, column convention",
    ),
)

#: All systems by name.
SYSTEMS: Mapping[str, System] = {listed.name: listed for listed in _LISTED}

#: Systems whose scores depend on the positions of the tokens: instances and conjectures know them; nothing is derived for
#: them from the formulas of the others.
POSITIONAL: Mapping[str, System] = {
    "rotary-flow": System(
        "rotary-flow",
        "unnormalised token flow with rotary encoding",
        Space.EUCLIDEAN,
        Time.FLOW,
        "B",
        None,
        source=f"{PHAM}, rotary encoding, column convention",
        rotary=("Q", "K", "R"),
    )
}


@dataclass(frozen=True)
class SpecialCase:
    """The system ``small`` is the system ``large`` for particular parameters: what holds of ``large`` holds of it.

    ``values`` names, for each matrix of one head of ``large`` (and its metric), what it is in ``small``: a parameter of
    ``small``, ``"0"`` or ``"I"``.  Steps, sizes and tokens are the same; a system with heads is taken with one head.
    Where ``masked``, the weights of ``small`` are those of ``large`` under the mask of ``small``: only what was proved for
    this mask carries over.
    """

    small: str
    large: str
    values: Mapping[str, str]
    masked: bool = False


#: Every special case that is used, each one step; :func:`special_case` composes them.  No map is a special case of a flow.
SPECIAL_CASES: tuple[SpecialCase, ...] = (
    SpecialCase("oja-map", "attention-map", {"V": "V", "M": "0"}),
    SpecialCase("attention-map", "multihead-map", {"F": "V", "M": "M"}),
    SpecialCase("oja-flow", "attention-flow", {"V": "V", "M": "0"}),
    SpecialCase("attention-flow", "multihead-flow", {"F": "V", "M": "M"}),
    SpecialCase("ellipsoid-flow", "ellipsoid-multihead-flow", {"U": "I", "P": "P", "W": "P"}),
    SpecialCase("causal-flow", "ellipsoid-multihead-flow", {"U": "U", "P": "P", "W": "I"}, masked=True),
)


def special_case(small: str, large: str, *, masked: bool = False) -> Mapping[str, str] | None:
    """What the parameters of ``large`` are where it is ``small``; ``None`` where ``large`` does not contain ``small``.

    With ``masked`` the mask may differ: the letters are then known, and nothing is said to carry over.

    >>> special_case("oja-map", "multihead-map")
    {'F': 'V', 'M': '0'}
    >>> special_case("attention-map", "oja-map") is None, special_case("oja-flow", "oja-map") is None
    (True, True)
    >>> special_case("causal-flow", "ellipsoid-multihead-flow") is None
    True
    """
    if small == large:
        names = (each.name for each in system(small).parameters if each.kind == "matrix")
        heads = (system(small).value, system(small).score) if system(small).multihead else ()
        return {name: name for name in (*names, *heads) if name}
    for case in SPECIAL_CASES:
        usable = case.large == large and (masked or not case.masked)
        rest = special_case(small, case.small, masked=masked) if usable else None
        if rest is not None:
            return {name: rest.get(value, value) for name, value in case.values.items()}
    return None


def system(name: str) -> System:
    """The system of that name.

    >>> system("oja-map").parameters[0].name
    'V'
    """
    try:
        return {**SYSTEMS, **POSITIONAL}[name]
    except KeyError:
        raise ValueError(f"unknown system {name!r}: {meant(name, (*SYSTEMS, *POSITIONAL))}") from None
