"""What a simulation starts from: random parameters and tokens of a system, or those of an instance (a mapping or JSON file).

Tensors and arrays keep their dtype and device: the tokens set the arithmetic, else the matrices do, else it is float64 on
the processor.  Numbers in documents are exact texts, decimals or integers, read as float64.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigentoken.files.documents import parse_json, read_json
from eigentoken.files.given_arrays import dense_array
from eigentoken.numerics.certified.devices import arithmetic_of
from eigentoken.numerics.dynamics.basins import random_tokens
from eigentoken.numerics.dynamics.problem import Problem, arithmetic, problem
from eigentoken.theory.exactness.numbers import NumberError, exact_number
from eigentoken.theory.systems.catalogue import POSITIONAL, SYSTEMS, system, systems
from eigentoken.theory.systems.suggestions import meant
from eigentoken.theory.systems.system import Space, System, Time

__all__ = ["followed", "given_array", "number_given", "read_start"]

#: Why the positional systems are not in the list of ``simulate``.
NOT_FOLLOWED = (
    "its scores depend on the positions of the tokens, simulate does not follow it; classify and refute know it"
)


FLOATS = (torch.float32, torch.float64)
PLAIN = (torch.float64, torch.device("cpu"))


def read_start(
    source: str | Path | System | Mapping[str, Any], given: Mapping[str, Any], chosen: Mapping[str, Any]
) -> tuple[Problem, Tensor, dict[str, Any]]:
    """The problem, the starts (instances, n, d) and the parameters; ``given`` are parameters and tokens by name.

    The matrices are random where only a system is named.
    """
    fields = {name: value for name, value in given.items() if value is not None}
    named = isinstance(source, System) or (isinstance(source, str) and (source in SYSTEMS or source in followed()))
    if isinstance(source, System):
        listed, document = system(source), dict[str, Any]()
    elif named:
        listed, document = system(str(source)), dict[str, Any]()
    else:
        document = dict(source if isinstance(source, Mapping) else _document(str(source)))
        listed = _system_of(document)
    _check_given(listed, fields, chosen)
    only_a_step = set(fields) <= {"alpha", "tokens"}
    document |= fields
    tokens = None if document.get("tokens") is None else given_array("tokens", document["tokens"], (2, 3))
    if named and only_a_step and any(each.name not in {"alpha", "tokens"} for each in listed.parameters):
        parameters = _random_parameters(listed, tokens, chosen)
    else:
        parameters = _from_document(listed, document)
    d = _dimension(listed, parameters, tokens, int(chosen["d"]))
    dtype, device = (tokens.dtype, tokens.device) if tokens is not None else arithmetic(parameters, *PLAIN)
    if (asked := chosen.get("device")) is not None:
        device = torch.device(arithmetic_of(str(asked)).name)
        dtype = torch.float32 if device.type == "mps" else dtype
    if tokens is None:
        kind = "normal" if listed.space is Space.EUCLIDEAN else "sphere"
        seed = int(chosen["seed"]) + 1
        start = random_tokens(int(chosen["instances"]), int(chosen["n"]), d, seed=seed, distribution=kind)
    else:
        start = tokens if tokens.ndim == 3 else tokens.unsqueeze(0)
    if start.shape[-1] != d:
        raise ValueError(f"tokens must have dimension {d} to match the matrices, got {start.shape[-1]}")
    _check_sizes(listed, parameters, d)
    start = start.to(dtype=dtype, device=device)
    mask = document.get("mask") if chosen["mask"] is None else chosen["mask"]
    seen = "default" if mask is None else mask
    task = problem(listed, parameters, seen, dtype=dtype, device=device, n=start.shape[-2])
    return task, task.retract(start, 0.0), parameters


def given_array(where: str, value: Any, ndim: tuple[int, ...] = (2,)) -> Tensor:
    """An array or tensor as it is (its numbers detached and finite), or rows of exact numbers as float64."""
    value = dense_array(where, value)
    if not isinstance(value, Tensor | np.ndarray):
        read: Any = [number_given(where, entry) for entry in value] if ndim == (1,) else _rows(where, value)
        return torch.tensor(read, dtype=torch.float64)
    try:
        tensor = torch.as_tensor(np.ascontiguousarray(value) if isinstance(value, np.ndarray) else value)
    except TypeError:  # a type of numbers that torch does not have
        raise ValueError(f"{where} must be of float32 or float64, got {value.dtype}: convert it first") from None
    if not tensor.is_floating_point() and not tensor.is_complex() and tensor.dtype is not torch.bool:
        tensor = tensor.to(torch.float64)
    if tensor.dtype not in FLOATS:
        raise ValueError(f"{where} must be of float32 or float64, got {tensor.dtype}: convert it first")
    if tensor.ndim not in ndim or 0 in tensor.shape:
        expected = "(d,)" if ndim == (1,) else "(d, d)" if ndim == (2,) else "(n, d) or (instances, n, d)"
        raise ValueError(f"{where} must have shape {expected}, got {tuple(tensor.shape)}")
    if not bool(torch.isfinite(tensor).all()):
        raise ValueError(f"{where} must hold finite numbers, got an infinity or not-a-number: remove it")
    return tensor


#: What others call the last time of a flow, or the number of steps of a map.
CALLED_END = ("time", "times", "t", "t_end", "t_max", "tmax", "duration", "steps", "n_steps", "iterations", "depth")


def _check_given(listed: System, fields: Mapping[str, Any], chosen: Mapping[str, Any]) -> None:
    wanted = [each.name for each in listed.parameters]
    for name in fields:
        if name not in {*wanted, "tokens"} and name not in chosen:
            known = [*wanted, "tokens", *(option for option in chosen if option not in wanted)]
            likely = "did you mean end?" if name.lower() in CALLED_END else meant(name, known)
            raise ValueError(f"{name!r} is no parameter of {listed.name} and no option: {likely}")


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
    elif path.endswith(".npz"):
        raise ValueError(f"{path} is a data file, not an instance: eigentoken.Simulation.load reads the data of a run")
    else:
        document = read_json(path, parse_float=Decimal)
    if not isinstance(document, dict):
        raise ValueError(f"{path} must hold one JSON object with system, parameters and tokens")
    return document


def _system_of(document: Mapping[str, Any]) -> System:
    name = document.get("system")
    if isinstance(name, str) and name in POSITIONAL:
        raise ValueError(f"{name}: {NOT_FOLLOWED}")
    known = SYSTEMS if isinstance(name, str) and name in SYSTEMS else followed()
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"unknown system {name!r}: {meant(name, known)}")
    return known[name]


def _from_document(listed: System, document: Mapping[str, Any]) -> dict[str, Any]:
    _check_fields(listed, document)
    parameters: dict[str, Any] = {}
    for parameter in listed.parameters:
        value = document.get(parameter.name)
        if value is None:
            if parameter.required:
                raise ValueError(f"{listed.name}: {parameter.name} is missing ({parameter.meaning})")
        elif parameter.kind == "heads":
            heads = list(value) if isinstance(value, list | tuple) else []
            if not heads or not all(isinstance(head, Mapping) for head in heads):
                said = f"heads must be a list of objects, one for each head, got {str(value)[:60]}"
                raise ValueError(f"{listed.name}: {said}")
            kinds = {part.name: part.kind for part in listed.head_parameters}
            parameters["heads"] = [
                {key: _value(key, kinds.get(key, "matrix"), given) for key, given in head.items()} for head in heads
            ]
        else:
            parameters[parameter.name] = _value(parameter.name, parameter.kind, value)
    return parameters


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
        return given_array(name, value)
    if kind == "vector":
        if not isinstance(dense_array(name, value), list | tuple | Tensor | np.ndarray) or not len(value):
            raise ValueError(f"{name} must be a non-empty list of numbers, got {str(value)[:60]}: write [...]")
        return given_array(name, value, (1,))
    number = number_given(name, value)
    if kind == "step" and not number > 0:
        raise ValueError(f"{name} must be a finite number above 0, got {str(value)[:60]}")
    return number


def _rows(where: str, value: Any) -> list[list[float]]:
    """A matrix of floats, as rows of one length."""
    given = value if isinstance(value, list | tuple) and all(isinstance(row, list | tuple) for row in value) else []
    if not given or not given[0] or len({len(row) for row in given}) != 1:
        raise ValueError(
            f"{where} must be a non-empty list of rows of one length, got {_short(value)}: write [[...], ...]"
        )
    return [[number_given(where, entry) for entry in row] for row in given]


def _short(value: Any) -> str:
    return " ".join(str(value).split())[:60]


def number_given(where: str, value: Any) -> float:
    """A number, also as a text such as 1/3, as a float."""
    if isinstance(value, Tensor | np.ndarray | np.generic) and value.ndim == 0:
        value = value.item()
    try:
        return float(exact_number(value))
    except (NumberError, OverflowError) as error:
        raise ValueError(
            f"{where} must hold numbers (integers, decimals, '1/3', 'ln(3)'), got {_short(value)!r}: {error}"
        ) from None


def _dimension(listed: System, parameters: Mapping[str, Any], tokens: Tensor | None, default: int) -> int:
    groups = [*parameters.get("heads", []), parameters]
    for group in groups:
        for value in group.values():
            if isinstance(value, Tensor) and value.ndim == 2:
                if value.shape[0] != value.shape[1]:
                    raise ValueError(f"{listed.name}: matrices must be square, got {value.shape[0]} rows")
                return int(value.shape[0])
    sizes = [
        len(value) for group in groups for value in group.values() if isinstance(value, Tensor) and value.ndim == 1
    ]
    return sizes[0] if sizes else default if tokens is None else int(tokens.shape[-1])


def _check_sizes(listed: System, parameters: Mapping[str, Any], d: int) -> None:
    """Further parameters have the size of the tokens (a broadcast would hide a slip)."""
    for each in listed.further:
        for group in parameters["heads"] if each.per_head else [parameters]:
            value = group.get(each.name)
            if each.kind in {"matrix", "vector"} and value is not None and len(value) != d:
                raise ValueError(
                    f"{listed.name}: {each.name} must have {d} entries for tokens of dimension {d}, got {len(value)}"
                )


def _random_parameters(listed: System, tokens: Tensor | None, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Random matrices of Abella et al., section 7; of the width of the tokens where these are given."""
    d = int(chosen["d"]) if tokens is None else int(tokens.shape[-1])
    generator = torch.Generator().manual_seed(int(chosen["seed"]))

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
