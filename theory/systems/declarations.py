"""Is a system what it says?  Its declarations, and a few steps of its equation in floating point, before it is entered.

Looked at: the parameters that the equation uses are those declared; the state keeps its shape; a step stays on the sphere or
ellipsoid, a velocity is tangent; with normalisation before the sublayer the lengths of the tokens do not matter to the push;
no token sees what the mask hides; without positions the tokens are interchangeable; the equation is written in the operations
of the algebra alone (:mod:`eigentoken.theory.systems.opaque`), so that every arithmetic reads the same one.  These are checks of
the author's declarations, by a few examples: nothing is derived from them.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any

from eigentoken.theory.systems.algebra import LoopAlgebra, OwnMask, ParameterValue, causal_mask
from eigentoken.theory.systems.opaque import LooksInside, Opaque, OpaqueAlgebra, hidden, shown
from eigentoken.theory.systems.suggestions import meant
from eigentoken.theory.systems.system import KINDS, Normalisation, Parameter, Space, System, Time

__all__ = ["CLOSE", "DeclarationError", "Rows", "check_declaration", "check_equation", "declared", "example_steps"]

#: Names that stand for something else in an instance, a conjecture or a report.
RESERVED = frozenset({"system", "tokens", "mask", "heads", "schema", "title", "note", "positions", "pair_score", "t"})
RESERVED_NUMBERS = frozenset({"n", "d", "k", "p", "q", "ell"})
MASKS = ("full", "causal")
CLOSE = 1e-9
_METHODS = (property, classmethod, staticmethod)
Rows = tuple[tuple[float, ...], ...]


class DeclarationError(ValueError):
    """A system is not what it says it is: one line that names the system, what was expected, what came."""


def declared(kind: type[System]) -> System:
    """The system that a subclass declares by its class attributes."""
    if not (isinstance(kind, type) and issubclass(kind, System)):
        raise DeclarationError(f"register_system needs a System or a subclass of System, got {kind!r}")
    known = [each.name for each in fields(System)]
    own = [each for each in kind.__mro__ if each is not System and issubclass(each, System)]
    given: dict[str, Any] = {}
    for each in reversed(own):
        for name, value in vars(each).items():
            if name in known:
                given[name] = value
            elif not name.startswith("_") and not callable(value) and not isinstance(value, _METHODS):
                raise DeclarationError(f"{kind.__name__}: unknown declaration {name}: {meant(name, known)}")
    for name in ("name", "title", "space", "time"):
        if name not in given:
            raise DeclarationError(f"{kind.__name__}: {name} is missing: declare {name} = ... in the class")
    try:
        return kind(**given)
    except (TypeError, ValueError) as problem:
        raise DeclarationError(f"{kind.__name__}: {problem}") from None


def check_declaration(made: System) -> None:
    """Raise :class:`DeclarationError` where the declarations are incomplete or contradict each other."""
    name = made.name
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise DeclarationError(f"system name must be lower case words joined by '-', got {name!r}: such as 'my-map'")
    if not made.title:
        raise DeclarationError(f"{name}: title is empty: say in a few words what the system is")
    if made.mask not in MASKS:
        raise DeclarationError(f"{name}: mask must be one of {', '.join(MASKS)}, got {made.mask!r}")
    if (made.space is Space.ELLIPSOID) != (made.metric is not None):
        raise DeclarationError(f"{name}: metric names W of an ellipsoid x^T W x = 1 and belongs to no other space")
    if (made.space is Space.EUCLIDEAN) == (made.normalisation is Normalisation.AFTER):
        said = "after puts tokens on a sphere or ellipsoid; before and none leave them in Euclidean space"
        raise DeclarationError(f"{name}: normalisation {made.normalisation} does not fit space {made.space}: {said}")
    if made.multihead and made.metric is not None and made.metric in {made.value, made.score}:
        raise DeclarationError(
            f"{name}: {made.metric} is the metric of the ellipsoid and of every head at once: give the heads one of their own"
        )
    if made.multihead and not made.head_parameters:
        raise DeclarationError(f"{name}: a head has no parameter: name value, score or a further one per head")
    if made.rotary is not None and (made.multihead or made.score is not None or len(made.rotary) != 3):
        raise DeclarationError(f"{name}: rotary names Q, K and R of one head, beside no score and no list of heads")
    if made.writes_sublayer and (made.attention in {"", "softmax", "uniform"}) and "attention" not in vars(type(made)):
        raise DeclarationError(
            f"{name}: the sublayer is written anew: declare attention = 'softmax', 'uniform' or a word of your own"
        )
    if not made.writes_sublayer:
        own = "uniform" if made.score is None and made.rotary is None else "softmax"
        if made.attention != own:
            said = f"attention {made.attention!r} is declared, and its equation has {own} weights"
            raise DeclarationError(f"{name}: {said}: write a sublayer")
        if made.positions != ("none" if made.rotary is None else "rotary"):
            said = f"positions {made.positions!r} are declared, and its equation knows none"
            raise DeclarationError(f"{name}: {said}: write a sublayer, or name rotary matrices")
    _check_parameters(made)


def _check_parameters(made: System) -> None:
    known: set[str] = set()
    for each in made.further:
        if not isinstance(each, Parameter):
            raise DeclarationError(f"{made.name}: further lists Parameter(name, kind, meaning), got {each!r}")
        if each.kind not in KINDS or each.kind == "heads":
            kinds = ", ".join(kind for kind in KINDS if kind != "heads")
            raise DeclarationError(f"{made.name}: parameter {each.name} must be of kind {kinds}, got {each.kind!r}")
        if each.per_head and not made.multihead:
            raise DeclarationError(f"{made.name}: parameter {each.name} is per head, and multihead is not declared")
        _check_default(made, each)
    listed = [*made.parameters, *(made.head_parameters if made.multihead else ())]
    for each in listed:
        if not each.name.isidentifier() or (each.name in RESERVED and each.kind != "heads"):
            raise DeclarationError(f"{made.name}: {each.name!r} cannot name a parameter: choose another name")
        if each.name in RESERVED_NUMBERS:
            raise DeclarationError(f"{made.name}: {each.name!r} is a size or an index: choose another parameter name")
        if each.name == "alpha" and each.kind != "step":
            raise DeclarationError(f"{made.name}: alpha is the step of a map: choose another name for a {each.kind}")
        if each.name in known:
            raise DeclarationError(f"{made.name}: parameter {each.name} is declared twice: give each its own name")
        known.add(each.name)


def _check_default(made: System, each: Parameter) -> None:
    if each.default is None:
        return
    allowed = {"matrix": ("0", "I"), "vector": ("0",)}.get(each.kind)
    good = each.default in allowed if allowed else re.fullmatch(r"-?\d+(\.\d+)?(/\d+)?", str(each.default)) is not None
    if not good or not isinstance(each.default, str):
        wanted = " or ".join(map(repr, allowed)) if allowed else "a number as text such as '1/2'"
        raise DeclarationError(f"{made.name}: default of {each.name} must be {wanted}, got {each.default!r}")


# ---------------------------------------------------------------------- the equation, at a few states


class _Declared(dict[str, Any]):
    """Parameters that say which name the equation asked for in vain."""

    def __init__(self, values: Mapping[str, Any], made: System) -> None:
        super().__init__(values)
        self.made = made

    def __missing__(self, name: str) -> Any:
        known = [each.name for each in (*self.made.parameters, *self.made.head_parameters)]
        raise DeclarationError(
            f"{self.made.name}: the equation asks for parameter {name!r}, which is not declared: "
            f"{meant(name, known, 'list it in further')}"
        )


def check_equation(made: System) -> None:
    """Raise :class:`DeclarationError` where the equation does not do what the declarations say (see the module)."""
    draw = random.Random(f"eigentoken {made.name} changed")
    for parameters, x, mask, moved in example_steps(made):
        if _gap(moved, _run(made, parameters, x, mask)) > 0:
            raise DeclarationError(
                f"{made.name}: its equation gives two answers at one state: it must be a function of it"
            )
        _check_state(made, x, moved, parameters[made.metric] if made.metric else None)
        _check_mask(made, parameters, x, draw)
        if mask is None and made.positions == "none":
            _check_interchange(made, parameters, x, moved)
        if made.normalisation is Normalisation.BEFORE:
            _check_lengths(made, parameters, x, mask)
        if (made.writes_sublayer or made.writes_step) and made.rotary is None:
            _check_operations(made, parameters, x, mask, moved)
    _check_word(made)


_FLOATS = LoopAlgebra(math.exp, math.sqrt)


def example_steps(made: System) -> Iterator[tuple[Mapping[str, ParameterValue], Rows, ParameterValue, Rows]]:
    """A few random parameters, states and masks, always the same ones, and what the equation makes of them in floats."""
    draw = random.Random(f"eigentoken {made.name}")
    for n, d in ((3, 2), (2, 3), (4, 4)):
        parameters = _Declared(_random_parameters(made, d, draw, left_out=d == 3), made)
        x = tuple(tuple(draw.gauss(0, 1) for _ in range(d)) for _ in range(n))
        if made.space is not Space.EUCLIDEAN:
            x = _FLOATS.normalise(x, parameters[made.metric] if made.metric else None)
        mask = causal_mask(n) if made.mask == "causal" else None
        yield parameters, x, mask, _run(made, parameters, x, mask)


def _run(
    made: System, parameters: Mapping[str, Any], x: Rows, mask: Any, equation: Callable[..., Any] | None = None
) -> Rows:
    try:
        moved = (equation or made.advance)(_FLOATS, parameters, x, mask)
        rows = tuple(tuple(float(entry) for entry in token) for token in moved)
    except DeclarationError:
        raise
    except Exception as problem:
        said = " ".join(f"{type(problem).__name__}: {problem}".split())
        kinds = ", ".join(f"{each.name} ({each.kind})" for each in made.parameters)
        raise DeclarationError(
            f"{made.name}: its equation fails at {len(x)} tokens in R^{len(x[0])} ({said}): "
            f"write it in the operations of the algebra, with the declared parameters {kinds}"
        ) from problem
    if len(rows) != len(x) or any(len(row) != len(x[0]) for row in rows):
        raise DeclarationError(
            f"{made.name}: its equation turns {len(x)} tokens in R^{len(x[0])} into {len(rows)} rows of "
            f"{len(rows[0]) if rows else 0}: give each token its own push in R^d"
        )
    if not all(math.isfinite(entry) for row in rows for entry in row):
        raise DeclarationError(f"{made.name}: its equation is not finite at random tokens and parameters")
    return rows


def _check_operations(made: System, parameters: Mapping[str, Any], x: Rows, mask: Any, moved: Rows) -> None:
    """The same step with tokens and parameters that only the operations can read."""
    kinds = {each.name: each.kind for each in (*made.parameters, *made.head_parameters)}

    def covered(group: Mapping[str, Any]) -> _Declared:
        return _Declared({name: hidden(value, kinds[name], name) for name, value in group.items()}, made)

    ready = covered({name: value for name, value in parameters.items() if name != "heads"})
    if "heads" in parameters:
        ready["heads"] = [covered(head) for head in parameters["heads"]]
    seen: OwnMask = None if mask is None else Opaque(mask, "mask")
    try:
        again: Rows = shown(made.advance(OpaqueAlgebra(_FLOATS), ready, Opaque(x, "x"), seen))
    except DeclarationError:
        raise
    except Exception as problem:
        inside = isinstance(problem, LooksInside)
        said = str(problem) if inside else " ".join(f"{type(problem).__name__}: {problem}".split())
        raise DeclarationError(
            f"{made.name}: its equation is not written in the operations of the algebra alone, so not every arithmetic could "
            f"read it: {said}"
        ) from problem
    if _gap(again, moved) > CLOSE:
        raise DeclarationError(
            f"{made.name}: its equation gives other tokens where it cannot look at the arithmetic: write it in the "
            "operations of the algebra alone"
        )


def _check_state(made: System, x: Rows, moved: Rows, metric: Any) -> None:
    if made.space is Space.EUCLIDEAN:
        return
    for token, after in zip(x, moved, strict=True):
        weighted = [sum(w * a for w, a in zip(row, after, strict=True)) for row in metric] if metric else after
        if made.time is Time.MAP:
            off = abs(sum(a * b for a, b in zip(after, weighted, strict=True)) - 1)
            if off > CLOSE:
                raise DeclarationError(
                    f"{made.name}: a step leaves the {made.space} (|x|^2 - 1 = {off:.2g}): write sublayer and leave "
                    "advance to the house, or declare space euclidean"
                )
        else:
            off = abs(sum(a * b for a, b in zip(token, weighted, strict=True)))
            if off > CLOSE * (1 + max(map(abs, after))):
                raise DeclarationError(
                    f"{made.name}: the velocity is not tangent to the {made.space} (x . x' = {off:.2g}): write sublayer "
                    "and leave advance to the house, or declare space euclidean"
                )


def _check_mask(made: System, parameters: Mapping[str, Any], x: Rows, draw: random.Random) -> None:
    """With the causal mask the tokens before the last do not change when the last one does."""
    mask = causal_mask(len(x))
    other = (*x[:-1], tuple(-a for a in reversed(x[-1])))
    before, after = (_run(made, parameters, state, mask)[:-1] for state in (x, other))
    if _gap(before, after) > CLOSE:
        raise DeclarationError(
            f"{made.name}: a token sees what the mask hides from it: use algebra.attention(x, M, mask, ...) or "
            "algebra.masked(weights, mask)"
        )


def _check_word(made: System) -> None:
    """``softmax`` and ``uniform`` are words of the papers' sublayer: whoever declares them has it (defaults put in)."""
    if not made.writes_sublayer or made.attention not in {"softmax", "uniform"}:
        return
    said = f"{made.name}: attention {made.attention!r} says u_i = sum_h F_h sum_j a_ij x_j with such weights"
    needed = [each.name for each in made.further if each.required]
    if needed:
        raise DeclarationError(f"{said}, without parameter {needed[0]}: declare attention in a word of your own")
    declarations = {each.name: getattr(made, each.name) for each in fields(System)}
    plain = System(**{**declarations, "further": ()})
    draw = random.Random(f"eigentoken {made.name}")
    for n, d in ((3, 2), (2, 3)):
        parameters = _Declared(_random_parameters(made, d, draw, left_out=True), made)
        x = tuple(tuple(draw.gauss(0, 1) for _ in range(d)) for _ in range(n))
        own, theirs = (_run(made, parameters, x, None, each.influence) for each in (made, plain))
        if _gap(own, theirs) > CLOSE:
            raise DeclarationError(
                f"{said}, and its sublayer does something else: declare attention in a word of your own"
            )


def _check_interchange(made: System, parameters: Mapping[str, Any], x: Rows, moved: Rows) -> None:
    turned = _run(made, parameters, (*x[1:], x[0]), None)
    if _gap(turned, (*moved[1:], moved[0])) > CLOSE:
        raise DeclarationError(
            f"{made.name}: its tokens are not interchangeable, and no positions are declared: declare positions = ..."
        )


def _check_lengths(made: System, parameters: Mapping[str, Any], x: Rows, mask: Any) -> None:
    longer = tuple(tuple((2 + i) * a for a in token) for i, token in enumerate(x))
    pushes = (_run(made, parameters, state, mask, made.influence) for state in (x, longer))
    if _gap(*pushes) > CLOSE:
        raise DeclarationError(
            f"{made.name}: the push depends on the lengths of the tokens, and the normalisation is declared before the "
            "sublayer: write sublayer, which is given the normalised tokens"
        )


def _gap(left: Iterable[Sequence[float]], right: Iterable[Sequence[float]]) -> float:
    return max(abs(a - b) for p, q in zip(left, right, strict=True) for a, b in zip(p, q, strict=True))


def _default(each: Parameter, d: int) -> Any:
    if each.default is None:
        return None
    if each.kind == "vector":
        return (0.0,) * d
    if each.kind == "matrix":
        return tuple(tuple(float(each.default == "I" and i == j) for j in range(d)) for i in range(d))
    return float(Fraction(each.default))


def _random_parameters(made: System, d: int, draw: random.Random, left_out: bool) -> dict[str, Any]:
    def drawn(each: Parameter) -> Any:
        if left_out and not each.required:
            return _default(each, d)
        if each.kind == "step":
            return 0.1 + draw.random()
        if each.kind == "scalar":
            return draw.gauss(0, 1)
        if each.kind == "vector":
            return tuple(draw.gauss(0, 1) for _ in range(d))
        return tuple(tuple(draw.gauss(0, 1) for _ in range(d)) for _ in range(d))

    values: dict[str, Any] = {}
    for each in made.parameters:
        if each.kind == "heads":
            values["heads"] = [
                _Declared({part.name: drawn(part) for part in made.head_parameters}, made) for _ in range(2)
            ]
        else:
            values[each.name] = drawn(each)
    if made.metric:
        rows = values[made.metric]
        values[made.metric] = tuple(
            tuple(sum(a * b for a, b in zip(p, q, strict=True)) + (i == j) for j, q in enumerate(rows))
            for i, p in enumerate(rows)
        )
    if made.rotary:
        turn = [[float(i == j) for j in range(d)] for i in range(d)]
        turn[0][0] = turn[1][1] = 0.6
        turn[0][1], turn[1][0] = -0.8, 0.8
        values[made.rotary[2]] = tuple(map(tuple, turn))
    return values
