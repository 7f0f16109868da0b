"""The data file of a simulation, a ``.npz`` archive that numpy reads and :meth:`Simulation.load` reads back.

========================  ============================================================================================
``times``                 (times,)
``states``                (times, starts, n, d), in the dtype of the run
``observable_NAME``       (times, starts): ``diameter``, ``effective_rank``, ``E``, ``W``, ``V_P``, ``mean_norm``
``parameter_NAME``        a matrix, a vector or a number by its letter in the equation; ``parameter_head0_F`` of a head
``run``                   a JSON text: ``schema`` (``eigentoken/simulation-data/1``), ``system`` and ``settings``
========================  ============================================================================================

An observable and a parameter may have one letter (the potential W, the metric W), hence the words before the names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from eigentoken.files.arrays import read_npz, write_npz
from eigentoken.files.documents import parse_json
from eigentoken.files.writing import replacing
from eigentoken.theory.systems.algebra import ParameterValue
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import System

__all__ = ["SCHEMA", "SavedRun", "read_run", "write_run"]

SCHEMA = "eigentoken/simulation-data/1"


@dataclass(frozen=True, eq=False)
class SavedRun:
    """What a data file holds, beside the observables, which the states give again."""

    system: System
    settings: Mapping[str, object]
    times: list[float]
    states: Tensor
    parameters: Mapping[str, ParameterValue]


def write_run(path: str | Path, run: SavedRun, observed: Mapping[str, np.ndarray]) -> Path:
    """Write the file (the ending is added where it is missing); a file that is there is replaced as a whole."""
    target = Path(path) if Path(path).suffix == ".npz" else Path(f"{path}.npz")
    said = {"schema": SCHEMA, "system": run.system.name, "settings": dict(run.settings)}
    arrays = {
        "run": np.array(json.dumps(said)),
        "times": np.asarray(run.times, dtype=np.float64),
        "states": run.states.cpu().numpy(),
        **{f"observable_{_symbol(name)}": values for name, values in observed.items()},
        **_arrays(run.parameters),
    }
    with replacing(target) as place:
        write_npz(place, arrays)
    return target


def read_run(path: str | Path) -> SavedRun:
    """The run of a data file; what is missing, or does not fit together, is told in one line."""
    arrays = read_npz(path)
    missing = [name for name in ("run", "times", "states") if name not in arrays]
    if missing:
        raise ValueError(f"{path} is not the data file of a simulation: it has no array {missing[0]}")
    said = parse_json(str(arrays["run"]), f"{path}, run")
    if not isinstance(said, dict) or said.get("schema") != SCHEMA:
        found = said.get("schema") if isinstance(said, dict) else None
        raise ValueError(f"{path} must have the schema {SCHEMA}, got {found!r}: write it again with simulate --data")
    settings = said.get("settings")
    if not isinstance(settings, dict) or not isinstance(said.get("system"), str):
        raise ValueError(f"{path}: run must name a system and its settings")
    listed = system(said["system"])
    times, states = arrays["times"], arrays["states"]
    shaped = states.ndim == 4 and 0 not in states.shape and times.shape == states.shape[:1]
    if not shaped or states.dtype not in (np.float32, np.float64) or times.dtype != np.float64:
        raise ValueError(
            f"{path}: states must be (times, starts, n, d) of float32 or float64, one for each of the times, got "
            f"{states.shape} of {states.dtype} and {times.shape} of {times.dtype}"
        )
    if not np.isfinite(states).all() or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise ValueError(f"{path}: states must be finite and times increasing: the file is damaged")
    return SavedRun(
        listed, settings, times.tolist(), torch.from_numpy(states.copy()), _parameters(path, listed, arrays)
    )


def _parameters(path: str | Path, listed: System, arrays: Mapping[str, np.ndarray]) -> dict[str, ParameterValue]:
    found: dict[str, ParameterValue] = {}
    for each in listed.parameters:
        if each.kind == "heads":
            heads: list[dict[str, ParameterValue]] = []
            letters = [part.name for part in listed.head_parameters]
            while any(f"parameter_head{len(heads)}_{letter}" in arrays for letter in letters):
                keys = {letter: f"parameter_head{len(heads)}_{letter}" for letter in letters}
                heads.append({letter: _value(arrays[key]) for letter, key in keys.items() if key in arrays})
            found["heads"] = heads
        elif f"parameter_{each.name}" in arrays:
            found[each.name] = _value(arrays[f"parameter_{each.name}"])
        elif each.required:
            raise ValueError(f"{path} is not the data file of a run of {listed.name}: it has no parameter_{each.name}")
    return found


def _value(array: np.ndarray) -> Tensor | float:
    return float(array) if array.ndim == 0 else torch.from_numpy(array.copy())


def _symbol(observable: str) -> str:
    """The name of an observable without its formula, as a name in a file.

    >>> _symbol("E = 1 - mean cos(x_1, x_i)"), _symbol("V_P of eq. (10)"), _symbol("effective rank")
    ('E', 'V_P', 'effective_rank')
    """
    return observable.partition(" = ")[0].partition(" of eq")[0].replace(" ", "_")


def _arrays(parameters: Mapping[str, ParameterValue], prefix: str = "parameter_") -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for name, value in parameters.items():
        if name == "heads" and isinstance(value, Sequence):
            for h, head in enumerate(value):
                found.update(_arrays(head, f"{prefix}head{h}_"))
        elif value is not None:
            found[prefix + name] = value.cpu().numpy() if isinstance(value, Tensor) else np.asarray(value)
    return found
