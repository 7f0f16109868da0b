"""What a simulation starts from: random parameters and tokens of a system, or those of an instance (a mapping or JSON file)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from eigentoken.files.documents import parse_json, read_json
from eigentoken.numerics.dynamics.basins import random_tokens
from eigentoken.numerics.dynamics.problem import Problem, problem
from eigentoken.theory.exactness.parsing import NumberError, exact_number
from eigentoken.theory.systems.catalogue import POSITIONAL, SYSTEMS, system, systems
from eigentoken.theory.systems.suggestions import meant
from eigentoken.theory.systems.system import Space, System, Time

__all__ = ["followed", "read_start"]

#: Why the positional systems are not in the list of ``simulate``.
NOT_FOLLOWED = (
    "its scores depend on the positions of the tokens, simulate does not follow it; classify and refute know it"
)


def read_start(
    source: str | Path | Mapping[str, Any], chosen: Mapping[str, Any]
) -> tuple[Problem, Tensor, dict[str, Any]]:
    """The problem, the state that it starts from and its parameters: random ones for a name, those of an instance."""
    generator = torch.Generator().manual_seed(int(chosen["seed"]))
    if isinstance(source, str) and (source in SYSTEMS or source in followed()):
        name, parameters, given = source, _random_parameters(system(source), chosen, generator), None
        mask = chosen["mask"]
    else:
        document = source if isinstance(source, Mapping) else _document(str(source))
        name, parameters, given = _from_document(document)
        mask = document.get("mask") if chosen["mask"] is None else chosen["mask"]
    listed = system(name)
    d = _dimension(listed, parameters, given, int(chosen["d"]))
    if given is None:
        kind = "normal" if listed.space is Space.EUCLIDEAN else "sphere"
        start = random_tokens(
            int(chosen["instances"]), int(chosen["n"]), d, seed=int(chosen["seed"]) + 1, distribution=kind
        )
    else:
        start = torch.tensor(given, dtype=torch.float64).unsqueeze(0)
    if start.shape[-1] != d:
        raise ValueError(f"tokens must have dimension {d} to match the matrices, got {start.shape[-1]}")
    _check_sizes(listed, parameters, d)
    task = problem(listed, parameters, "default" if mask is None else mask, n=start.shape[-2])
    return task, task.retract(start, 0.0), parameters


def followed() -> Mapping[str, System]:
    """The systems that ``simulate`` follows: all but those of the papers whose scores depend on positions."""
    return {name: each for name, each in systems().items() if name not in POSITIONAL}


def _document(path: str) -> Mapping[str, Any]:
    if path in POSITIONAL:
        raise ValueError(f"{path}: {NOT_FOLLOWED}")
    if path.lstrip().startswith("{"):
        document = parse_json(path, "the text", parse_float=Decimal)
    elif not os.path.exists(path):
        known = followed()
        hint = meant(path, known, f"give the path of a JSON file, or one of {', '.join(known)}")
        raise ValueError(f"{path[:80]!r} is neither a system nor an instance file: {hint}")
    else:
        document = read_json(path, parse_float=Decimal)
    if not isinstance(document, dict):
        raise ValueError(f"{path} must hold one JSON object with system, parameters and tokens")
    return document


def _from_document(document: Mapping[str, Any]) -> tuple[str, dict[str, Any], Any]:
    name = document.get("system")
    if isinstance(name, str) and name in POSITIONAL:
        raise ValueError(f"{name}: {NOT_FOLLOWED}")
    known = SYSTEMS if isinstance(name, str) and name in SYSTEMS else followed()
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"unknown system {name!r}: {meant(name, known)}")
    listed = known[name]
    _check_fields(listed, document)
    parameters: dict[str, Any] = {}
    for parameter in listed.parameters:
        value = document.get(parameter.name)
        if value is None:
            if parameter.required:
                raise ValueError(f"{name}: {parameter.name} is missing ({parameter.meaning})")
        elif parameter.kind == "heads":
            if not isinstance(value, list) or not value or not all(isinstance(head, dict) for head in value):
                raise ValueError(f"{name}: heads must be a list of objects, one for each head, got {str(value)[:60]}")
            kinds = {part.name: part.kind for part in listed.head_parameters}
            parameters["heads"] = [
                {key: _value(key, kinds.get(key, "matrix"), given) for key, given in head.items()} for head in value
            ]
        else:
            parameters[parameter.name] = _value(parameter.name, parameter.kind, value)
    tokens = document.get("tokens")
    return name, parameters, None if tokens is None else _rows("tokens", tokens)


def _check_fields(listed: System, document: Mapping[str, Any]) -> None:
    """Where a parameter may be left out, a slip in its name must not pass for that."""
    wanted = [each.name for each in listed.parameters]
    if all(each.required for each in listed.parameters):
        return
    for key in document:
        if key not in {*wanted, "system", "tokens", "mask", "schema", "$schema", "title", "note"}:
            raise ValueError(f"{listed.name}: {key} is not one of its parameters: {meant(key, wanted)}")


def _value(name: str, kind: str, value: Any) -> Any:
    if kind == "matrix":
        return _rows(name, value)
    if kind == "vector":
        if not isinstance(value, list) or not value:
            raise ValueError(f"{name} must be a non-empty list of numbers, got {str(value)[:60]}: write [...]")
        return [_number(name, entry) for entry in value]
    number = _number(name, value)
    if kind == "step" and not number > 0:
        raise ValueError(f"{name} must be a finite number above 0, got {str(value)[:60]}")
    return number


def _rows(where: str, value: Any) -> list[list[float]]:
    """A matrix of floats, as rows of one length."""
    given = value if isinstance(value, list) and all(isinstance(row, list) for row in value) else []
    if not given or not given[0] or len({len(row) for row in given}) != 1:
        raise ValueError(
            f"{where} must be a non-empty list of rows of one length, got {str(value)[:60]}: write [[...], ...]"
        )
    return [[_number(where, entry) for entry in row] for row in given]


def _number(where: str, value: Any) -> float:
    try:
        return float(exact_number(value))
    except (NumberError, OverflowError) as error:
        raise ValueError(
            f"{where} must hold numbers (integers, decimals, '1/3', 'ln(3)'), got {str(value)[:60]!r}: {error}"
        ) from None


def _dimension(listed: System, parameters: Mapping[str, Any], given: Any, default: int) -> int:
    groups = [*parameters.get("heads", []), parameters]
    for group in groups:
        for value in group.values():
            if isinstance(value, Tensor) and value.ndim == 2:
                return int(value.shape[0])
            if isinstance(value, list) and value and isinstance(value[0], list):
                if len({len(row) for row in value} | {len(value)}) != 1:
                    raise ValueError(f"{listed.name}: matrices must be square, got {len(value)} rows")
                return len(value)
    vectors = {each.name for each in (*listed.parameters, *listed.head_parameters) if each.kind == "vector"}
    sizes = [len(value) for group in groups for name, value in group.items() if name in vectors and value is not None]
    return sizes[0] if sizes else len(given[0]) if given is not None else default


def _check_sizes(listed: System, parameters: Mapping[str, Any], d: int) -> None:
    """Further parameters have the size of the tokens (a broadcast would hide a slip)."""
    for each in listed.further:
        for group in parameters["heads"] if each.per_head else [parameters]:
            value = group.get(each.name)
            if each.kind in {"matrix", "vector"} and value is not None and len(value) != d:
                raise ValueError(
                    f"{listed.name}: {each.name} must have {d} entries for tokens of dimension {d}, got {len(value)}"
                )


def _random_parameters(listed: System, chosen: Mapping[str, Any], generator: torch.Generator) -> dict[str, Any]:
    d = int(chosen["d"])

    def entries() -> Tensor:
        return torch.rand(d, d, generator=generator, dtype=torch.float64) - 0.5

    def value() -> Tensor:
        square = entries()
        return square + square.mT

    def group() -> dict[str, Tensor]:
        made = {}
        if listed.value:
            made[listed.value] = value()
        if listed.score and listed.score != listed.metric:
            made[listed.score] = entries()
        return made

    parameters: dict[str, Any] = (
        {"heads": [group() for _ in range(int(chosen["heads"]))]} if listed.multihead else group()
    )
    if listed.metric:
        square = entries()
        parameters[listed.metric] = square @ square.mT + 0.5 * torch.eye(d, dtype=torch.float64)
    if listed.time is Time.MAP:
        parameters["alpha"] = float(chosen["alpha"])
    for each in (part for part in listed.further if part.required):
        if each.per_head:
            for head in parameters["heads"]:
                head[each.name] = _drawn(each.kind, d, generator)
        elif each.name not in parameters:
            parameters[each.name] = _drawn(each.kind, d, generator)
    return parameters


def _drawn(kind: str, d: int, generator: torch.Generator) -> Any:
    """A further parameter of a system: entries uniform on [-1/2, 1/2], a step on [0, 1]."""
    if kind in {"scalar", "step"}:
        number = float(torch.rand((), generator=generator, dtype=torch.float64))
        return number if kind == "step" else number - 0.5
    return torch.rand((d, d) if kind == "matrix" else (d,), generator=generator, dtype=torch.float64) - 0.5
