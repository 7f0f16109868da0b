"""Instances: a system with exact parameters and exact tokens, read from JSON or from Python values.

A file is ``{"system": "attention-map", "V": [["1","1/2"],["1/2","-1/3"]], "M": ..., "alpha": "1/3", "tokens": ...}``;
numbers are integers, decimals (kept as written) or texts of :mod:`eigentoken.theory.exactness.numbers`.  What is wrong
with an input is said in one line: the field, what was expected, what came, what to do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import sympy

from eigentoken.display import listing
from eigentoken.documents.instance import Instance as InstanceDocument
from eigentoken.documents.instance import Value
from eigentoken.files.documents import parse_json, read_json
from eigentoken.files.given_arrays import ArrayError, rows_of
from eigentoken.theory.exactness.balls import expression_ball
from eigentoken.theory.exactness.elements import ExactnessLimit
from eigentoken.theory.exactness.fields import Field, in_smallest_field
from eigentoken.theory.exactness.numbers import NumberError, exact_number, is_zero, sign
from eigentoken.theory.systems.algebra import Mask, ParameterValue, causal_mask
from eigentoken.theory.systems.catalogue import SYSTEMS, systems
from eigentoken.theory.systems.suggestions import meant
from eigentoken.theory.systems.system import Normalisation, Parameter, Space, System

__all__ = ["ExactMatrix", "ExactVector", "Instance", "InstanceError", "check_on_manifold", "read_instance"]

LARGEST_STATE = 240
LARGEST_INSTANCE = 1 << 24  # bytes of its JSON file
LARGEST_NUMBER = 10**100
IGNORED_KEYS = frozenset({"schema", "$schema", "title", "note"})

ExactVector = tuple[sympy.Expr, ...]
ExactMatrix = tuple[ExactVector, ...]


class InstanceError(ValueError):
    """A bad instance: one line that names the field, what was expected, what came and what to do."""


def _unread(value: object) -> bool:
    """Is this still as a user holds it: a list, an array, a tensor?"""
    return isinstance(value, list) or hasattr(value, "__array__")


def _read_by_of(got: str) -> str:
    return (
        f"an Instance holds a System and exact numbers in tuples, got {got}: "
        "Instance.of('oja-map', tokens, V=...) reads names, lists and arrays"
    )


@dataclass(frozen=True)
class Instance:
    """A point ``tokens`` (n rows of d numbers) of a system with its parameters, all exact.

    ``parameters`` maps the names of the system's parameters to a matrix (rows), a vector, a number (``alpha``) or, for
    ``heads``, a tuple of such mappings; what is optional and left out is ``None``.  ``mask`` is ``None`` for full attention.
    """

    system: System
    parameters: Mapping[str, ParameterValue]
    tokens: ExactMatrix
    mask: Mask = None
    mask_name: str = field(default="full", compare=False)

    if not TYPE_CHECKING:  # a type checker reads the fields above

        def __new__(cls, *given: object, **named: object) -> Instance:
            """A point as ``Instance.of`` takes it is told so, before Python counts the arguments."""
            system = given[0] if given else named.get("system")
            further = [name for name in named if name not in cls.__dataclass_fields__]
            if isinstance(system, str) or further:
                raise InstanceError(_read_by_of(further[0] if further else repr(system)))
            return super().__new__(cls)

    def __post_init__(self) -> None:
        held = {"tokens": self.tokens, **self.parameters}
        unread = [f"{name} as {type(each).__name__}" for name, each in held.items() if _unread(each)]
        if not isinstance(self.system, System) or unread:
            raise InstanceError(_read_by_of(unread[0] if unread else repr(self.system)))

    @property
    def n(self) -> int:
        """Number of tokens."""
        return len(self.tokens)

    @property
    def d(self) -> int:
        """Dimension of a token."""
        return len(self.tokens[0])

    @property
    def metric(self) -> ExactMatrix | None:
        """W of the ellipsoid ``x^T W x = 1``; ``None`` for the identity."""
        return self.parameters[self.system.metric] if self.system.metric else None

    @classmethod
    def of(cls, system: str, tokens: object, mask: object = None, **parameters: object) -> Instance:
        """The instance from Python values.

        >>> Instance.of("oja-map", [[1, 0], [-1, 0]], V=[[1, 0], [0, "-1/2"]], alpha="1/4").n
        2
        """
        mapping = {"system": system, "tokens": tokens, **parameters}
        return read_instance(mapping if mask is None else {**mapping, "mask": mask})

    def as_dict(self) -> InstanceDocument:
        """The JSON document that reads back to this instance."""
        document: dict[str, object] = {"system": self.system.name}
        for parameter in self.system.parameters:
            value = self.parameters[parameter.name]
            if parameter.kind == "heads":
                document["heads"] = [
                    {name: _texts(part) for name, part in head.items() if part is not None} for head in value
                ]
            elif value is not None:
                document[parameter.name] = _texts(value)
        document["tokens"] = _texts(self.tokens)
        if self.mask is not None and self.mask_name != self.system.mask:
            document["mask"] = "causal" if self.mask_name == "causal" else [list(row) for row in self.mask]
        return cast(InstanceDocument, document)  # parameters have the names that their system gave them

    def digest(self) -> str:
        """sha256 of the canonical JSON text of :meth:`as_dict`."""
        text = json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def __repr__(self) -> str:
        lines = [f"{name} = {value}" for name, value in self.as_dict().items() if name != "system"]
        return listing(f"<Instance of {self.system.name}: {self.n} tokens in R^{self.d}>", lines)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex}$"

    @property
    def latex(self) -> str:
        """Parameters and tokens (as columns), aligned; needs amsmath alone."""
        lines = []
        for parameter in self.system.parameters:
            value = self.parameters[parameter.name]
            if parameter.kind == "heads":
                for index, head in enumerate(value, start=1):
                    lines += [
                        rf"{name}_{{{index}}} &= {_value_latex(part)}"
                        for name, part in head.items()
                        if part is not None
                    ]
            elif value is not None:
                lines.append(f"{sympy.latex(sympy.Symbol(parameter.name))} &= {_value_latex(value)}")
        columns = tuple(zip(*self.tokens, strict=True))
        names = r"x_1,\dots," if self.n > 3 else "".join(f"x_{index}," for index in range(1, self.n))
        lines.append(rf"({names}x_{{{self.n}}}) &= {_matrix_latex(columns)}")
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><th>{escape(key)}</th><td>{escape(json.dumps(value))}</td></tr>"
            for key, value in self.as_dict().items()
        )
        return f"<table class='eigentoken-instance'>{rows}</table>"


def _texts(value: sympy.Expr | ExactVector | ExactMatrix) -> Value:
    """A number as text; a vector or matrix as lists of texts."""
    if not isinstance(value, tuple):
        return str(value)
    return [list(map(str, entry)) for entry in value] if isinstance(value[0], tuple) else list(map(str, value))


def _value_latex(value: Any) -> str:
    if not isinstance(value, tuple):
        return str(sympy.latex(value))
    return _matrix_latex(value if isinstance(value[0], tuple) else [(entry,) for entry in value])


def _matrix_latex(rows: Sequence[Sequence[sympy.Expr]]) -> str:
    body = r" \\ ".join(" & ".join(sympy.latex(entry) for entry in row) for row in rows)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def read_instance(source: str | Path | Mapping[str, object]) -> Instance:
    """The instance in a JSON file (a path), a JSON text (a string that starts with ``{``) or a mapping.

    Raises :class:`InstanceError` with one line for whatever is wrong with it.
    """
    document = source if isinstance(source, Mapping) else _document(source)
    for key in document:
        if not isinstance(key, str):
            raise InstanceError(f"keys must be strings, got {key!r}: write a JSON object")
    listed = _listed(document.get("system"))
    name = listed.name
    wanted = [parameter.name for parameter in listed.parameters]
    needed = [parameter.name for parameter in listed.parameters if parameter.required]
    for key in [*needed, "tokens"]:
        if key not in document:
            raise InstanceError(f"{key} is missing: {name} needs {', '.join([*needed, 'tokens'])}")
    for key in document:
        if key not in {*wanted, "system", "tokens", "mask"} | IGNORED_KEYS:
            raise InstanceError(
                f"{key} is not a field of {name}: expected system, {', '.join(wanted)}, tokens, mask; remove it"
            )
    tokens = _rows("tokens", document["tokens"])
    d = len(tokens[0])
    if len(tokens) * d > LARGEST_STATE:
        raise InstanceError(
            f"tokens must have n d <= {LARGEST_STATE}, got {len(tokens)} x {d}: take a smaller instance"
        )
    parameters: dict[str, Any] = {}
    for parameter in listed.parameters:
        if parameter.kind == "heads":
            parameters["heads"] = _heads(listed, document["heads"], d)
        else:
            parameters[parameter.name] = _value(parameter, parameter.name, document.get(parameter.name), d)
    if listed.metric:
        _check_metric(listed.metric, parameters[listed.metric])
    if listed.rotary:
        _check_rotation(listed.rotary[2], parameters[listed.rotary[2]])
    mask, mask_name = _mask(listed, document.get("mask"), len(tokens))
    instance = Instance(listed, parameters, tokens, mask, mask_name)
    if listed.space is not Space.EUCLIDEAN:
        check_on_manifold(instance)
    elif listed.normalisation is Normalisation.BEFORE:
        _check_directions(instance)
    return instance


def _listed(name: Any) -> System:
    if name is None:
        raise InstanceError(f"system is missing: expected one of {', '.join(SYSTEMS)}")
    known = SYSTEMS if isinstance(name, str) and name in SYSTEMS else systems()
    if not isinstance(name, str) or name not in known:
        raise InstanceError(f"unknown system {_short(name)}: {meant(name, known)}")
    return known[name]


def _value(parameter: Parameter, where: str, given: Any, d: int) -> Any:
    """The exact value of one parameter that is no list of heads; what is left out is its default, or ``None``."""
    if given is None and not parameter.required:
        if parameter.default is None:
            return None
        given = parameter.default
        if parameter.kind == "matrix":
            given = [[int(given == "I" and i == j) for j in range(d)] for i in range(d)]
        elif parameter.kind == "vector":
            given = [0] * d
    if parameter.kind == "matrix":
        return _square(where, given, d)
    if parameter.kind == "vector":
        return _vector(where, given, d)
    return _positive(where, given) if parameter.kind == "step" else _number(where, given)


def _vector(where: str, value: Any, d: int) -> ExactVector:
    value = _entries(where, value)
    if not isinstance(value, list | tuple) or len(value) != d:
        raise InstanceError(f"{where} must be a list of {d} numbers for tokens of dimension {d}, got {_short(value)}")
    return tuple(_number(f"{where}[{index}]", entry) for index, entry in enumerate(value, start=1))


def _check_directions(instance: Instance) -> None:
    """Tokens that are normalised before the sublayer have a direction."""
    for index, token in enumerate(instance.tokens, start=1):

        def vanishes(ground: Field, token: ExactVector = token) -> bool:
            return all(is_zero(ground.number(entry)) is not False for entry in token)

        if in_smallest_field(vanishes):
            raise InstanceError(
                f"token {index} is 0, and {instance.system.name} normalises it before the sublayer: give it a direction"
            )


def _document(source: str | Path) -> Mapping[str, Any]:
    """One JSON object; a decimal keeps its digits."""
    if isinstance(source, str) and source.lstrip().startswith("{"):
        document = parse_json(source, "the text", error=InstanceError, parse_float=Decimal)
    else:
        document = read_json(source, error=InstanceError, parse_float=Decimal, largest=LARGEST_INSTANCE)
    if not isinstance(document, dict):
        raise InstanceError(
            f'{_short(str(source))} must hold one JSON object, got {_kind(document)}: write {{"system": ...}}'
        )
    return document


def _kind(value: Any) -> str:
    """What a JSON text holds, in the words of JSON."""
    names = {list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _short(value: Any) -> str:
    text = " ".join((str(value) if isinstance(value, Decimal) else repr(value)).split())
    return text if len(text) <= 60 else text[:57] + "..."


def _number(where: str, value: Any) -> sympy.Expr:
    try:
        number = exact_number(value)
    except NumberError as problem:
        raise InstanceError(
            f'{where} must be a number (integer, decimal, "1/3", "ln(3)", "sqrt(2)"), got {_short(value)}: {problem}'
        ) from None
    except ExactnessLimit as problem:
        raise InstanceError(f"{where} is too involved, got {_short(value)}: {problem}") from None
    size = expression_ball(number, 128)
    if not size.is_finite():
        raise InstanceError(f"{where} must be a finite real number, got {_short(value)}: write it in simpler terms")
    if not number.is_zero and not bool(abs(size) < LARGEST_NUMBER):
        raise InstanceError(f"{where} must be below 1e100 in modulus, got {_short(value)}: rescale the system")
    return number


def _entries(where: str, value: Any) -> Any:
    """The entries of an array, tensor or table as lists; what is none of these, such as the lists of a file, as it is."""
    if isinstance(value, list | str):
        return value
    try:
        return rows_of(where, value)
    except ArrayError as problem:
        raise InstanceError(str(problem)) from None


def _rows(where: str, value: Any) -> ExactMatrix:
    value = _entries(where, value)
    if not isinstance(value, list | tuple) or not value:
        raise InstanceError(f"{where} must be a non-empty list of rows, got {_short(value)}: write [[...], ...]")
    rows = []
    for index, row in enumerate(value, start=1):
        row = _entries(f"{where} row {index}", row)
        if not isinstance(row, list | tuple) or not row:
            raise InstanceError(
                f"{where} row {index} must be a non-empty list of numbers, got {_short(row)}: write [[...], ...]"
            )
        rows.append(tuple(_number(f"{where}[{index}][{column}]", entry) for column, entry in enumerate(row, start=1)))
        if len(rows[-1]) != len(rows[0]):
            raise InstanceError(
                f"{where} must have rows of one length, "
                f"got {len(rows[0])} in row 1 and {len(rows[-1])} in row {index}: give every row as many entries"
            )
    return tuple(rows)


def _square(where: str, value: Any, d: int) -> ExactMatrix:
    rows = _rows(where, value)
    if len(rows) != len(rows[0]):
        raise InstanceError(f"{where} must be square, got {len(rows)} x {len(rows[0])}: give a d x d matrix")
    if len(rows) != d:
        raise InstanceError(
            f"{where} must be {d} x {d} to act on tokens of dimension {d}, got {len(rows)} x {len(rows)}: match them"
        )
    return rows


def _heads(listed: System, value: Any, d: int) -> tuple[Mapping[str, ExactMatrix], ...]:
    parts = {part.name: part for part in listed.head_parameters}
    names, needed = list(parts), {name for name, part in parts.items() if part.required}
    if not isinstance(value, list | tuple) or not value:
        raise InstanceError(
            f"heads must be a non-empty list of {{{', '.join(names)}}}, got {_short(value)}: give one object a head"
        )
    heads = []
    for index, head in enumerate(value, start=1):
        if not isinstance(head, Mapping) or not needed <= set(head) <= set(names):
            raise InstanceError(
                f"heads[{index}] must have exactly {' and '.join(names)}, got {_short(head)}: give both matrices"
            )
        heads.append({name: _value(part, f"heads[{index}].{name}", head.get(name), d) for name, part in parts.items()})
    return tuple(heads)


def _positive(where: str, value: Any) -> sympy.Expr:
    number = _number(where, value)
    if in_smallest_field(lambda ground: sign(ground.number(number))) != 1:
        raise InstanceError(f"{where} must be positive, got {_short(value)}: give a step size > 0")
    return number


def _mask(listed: System, value: Any, n: int) -> tuple[Mask, str]:
    given = listed.mask if value is None else _entries("mask", value)
    if listed.mask == "causal" and given != "causal":
        raise InstanceError(f"mask of {listed.name} is causal by definition, got {_short(given)}: leave it out")
    if given == "full":
        return None, "full"
    if given == "causal":
        return causal_mask(n), "causal"
    if not isinstance(given, list | tuple):
        raise InstanceError(
            f'mask must be "full", "causal" or a {n} x {n} matrix of 0 and 1, got {_short(given)}: choose one'
        )
    if len(given) != n or any(not isinstance(row, list | tuple) or len(row) != n for row in given):
        raise InstanceError(
            f"mask must be {n} x {n} for {n} tokens, got {_short(given)}: give one row and column a token"
        )
    rows = []
    for index, row in enumerate(given, start=1):
        if any(entry not in (0, 1, "0", "1") for entry in row):
            raise InstanceError(
                f"mask row {index} must hold 0 and 1 only, got {_short(row)}: 1 where the token attends"
            )
        if not any(int(entry) for entry in row):
            raise InstanceError(f"mask row {index} lets token {index} attend to nothing: give each row at least one 1")
        rows.append(tuple(int(entry) for entry in row))
    if all(all(row) for row in rows):
        return None, "full"
    return tuple(rows), "causal" if tuple(rows) == causal_mask(n) else "matrix"


def _check_metric(where: str, rows: ExactMatrix) -> None:
    d = len(rows)
    differences = [rows[i][j] - rows[j][i] for i in range(d) for j in range(i)]
    if not in_smallest_field(lambda ground: all(is_zero(ground.number(entry)) for entry in differences)):
        raise InstanceError(
            f"{where} must be symmetric, it is the metric of the ellipsoid x^T {where} x = 1: symmetrise it"
        )

    def pivots(ground: Field) -> list[int | None]:
        matrix = [[ground.number(entry) for entry in row] for row in rows]
        signs: list[int | None] = []
        for k in range(d):
            signs.append(sign(matrix[k][k]))
            if signs[-1] != 1:
                return signs
            for i in range(k + 1, d):
                ratio = matrix[i][k] / matrix[k][k]
                matrix[i] = [a - ratio * b for a, b in zip(matrix[i], matrix[k], strict=True)]
        return signs

    if any(found != 1 for found in in_smallest_field(pivots)):
        raise InstanceError(
            f"{where} must be positive definite, it is the metric of the ellipsoid x^T {where} x = 1: check its signs"
        )


def _check_rotation(where: str, rows: ExactMatrix) -> None:
    products = [
        sum((a * b for a, b in zip(rows[i], rows[j], strict=True)), sympy.Integer(-1 if i == j else 0))
        for i in range(len(rows))
        for j in range(i + 1)
    ]
    if not in_smallest_field(lambda ground: all(is_zero(ground.number(entry)) for entry in products)):
        raise InstanceError(
            f"{where} must be orthogonal, it turns the scores from one position to the next: give exact cosines and sines "
            "such as 3/5 and 4/5"
        )


def check_on_manifold(instance: Instance) -> None:
    """Raise :class:`InstanceError` unless every token is exactly on the sphere or ellipsoid."""
    metric = instance.metric
    equation = "|x| = 1" if metric is None else f"x^T {instance.system.metric} x = 1"
    for index, token in enumerate(instance.tokens, start=1):

        def excess(ground: Field, token: ExactVector = token) -> bool | None:
            entries = [ground.number(entry) for entry in token]
            total = -ground.one
            for i, a in enumerate(entries):
                for j, b in enumerate(entries):
                    if metric is not None:
                        total = total + a * b * ground.number(metric[i][j])
                    elif i == j:
                        total = total + a * b
            return is_zero(total)

        try:
            outcome = in_smallest_field(excess)
        except ExactnessLimit:
            outcome = None
        if outcome is not True:
            shown = ", ".join(str(entry) for entry in token)
            said = "is not on the" if outcome is False else "could not be decided to be on the"
            raise InstanceError(
                f"token {index} {said} {instance.system.space!s} {equation}, got ({_short(shown)[1:-1]}): "
                "give exact unit tokens such as (3/5, 4/5) or (sqrt(1/2), sqrt(1/2))"
            )
