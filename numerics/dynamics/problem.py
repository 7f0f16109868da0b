"""A system together with its parameters, as torch sees it: what the integrators and the iteration are given.

Matrices may be dense (batched with leading axes), structured (:mod:`eigentoken.numerics.dynamics.matrices`) or
functions of time; for a map the time is the layer number, so a function of it is a layer-varying weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, reduce
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.dynamics.fused import FusedHeads
from eigentoken.numerics.dynamics.matrices import RotaryMatrix, RowScaled, StructuredMatrix, compress
from eigentoken.numerics.dynamics.torch_algebra import TorchAlgebra, mask_tensor
from eigentoken.numerics.dynamics.whole_heads import WholeHeads, whole_heads
from eigentoken.theory.systems.algebra import MaskValue, Number, ParameterValue
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.declarations import CLOSE, example_steps
from eigentoken.theory.systems.system import Parameter, Space, System, Time, parameters_at

__all__ = ["Problem", "SpanReduction", "arithmetic", "problem"]


@dataclass(frozen=True)
class Problem:
    """A system with parameters: ``advance`` is the next state of a map or the velocity of a flow."""

    system: System
    parameters: Mapping[str, ParameterValue]
    mask: MaskValue = None
    algebra: TorchAlgebra = field(default_factory=TorchAlgebra)
    fused: FusedHeads | None = None
    whole: WholeHeads | None = None

    @property
    def autonomous(self) -> bool:
        """No parameter is a function of time."""
        groups: list[Mapping[str, Any]] = [self.parameters, *self.parameters.get("heads", [])]
        return not any(callable(value) for group in groups for name, value in group.items() if name != "pair_score")

    @property
    def batched(self) -> bool:
        """Some parameter may differ between the instances of a batch."""
        groups: list[Mapping[str, Any]] = [self.parameters, *self.parameters.get("heads", [])]
        values = [value for group in groups for name, value in group.items() if name != "heads" and value is not None]
        mask = isinstance(self.mask, Tensor) and self.mask.ndim > 2
        return mask or not all(_shared(value) for value in values)

    def like(self, x: Tensor) -> Problem:
        """The same problem in the arithmetic of ``x``: parameters in its dtype, on its device."""
        if self.fused is not None or (x.dtype, x.device) == arithmetic(self.parameters, x.dtype, x.device):
            return self
        moved = _all_converted(self.parameters, x.dtype, x.device)
        mask = self.mask.to(x.device) if isinstance(self.mask, Tensor) else self.mask
        return replace(self, parameters=moved, mask=mask)

    def at(self, t: Number, like: Tensor, single: bool = False) -> Problem:
        """The flow of one time for tokens ``like``: functions of time have their values, and what is fast is used.

        Its ``advance`` is for an integrator: the work on the processor is done in place, which no derivative sees.
        ``single``: scores of unit tokens may be found in float32 (:mod:`eigentoken.numerics.dynamics.whole_heads`).
        """
        if self.fused is not None:
            return self
        now = self if self.autonomous else replace(self, parameters=parameters_at(self.parameters, t))
        unusual = "positions" in self.parameters or "pair_score" in self.parameters or not self.system.standard
        if unusual or self.system.score is None or self.algebra.root_dimension is not None:
            return now
        return replace(now, whole=whole_heads(now.heads(), now.mask, now.system.over_root_d, like, single))

    def advance(self, x: Tensor, t: Number = None) -> Tensor:
        push = None
        if self.system.time is Time.FLOW:
            push = self.whole(x) if self.whole is not None else None if self.fused is None else self.fused(x, t)
        if push is not None:
            return push if self.system.space is Space.EUCLIDEAN else self.algebra.tangent(x, push, self.metric(t))
        moved: Tensor = self.system.advance(self.algebra, self.parameters, x, self.mask, t)
        return moved

    def influence(self, x: Tensor, t: Number = None) -> Tensor:
        """``u_i = sum_h F_h sum_j a^h_ij x_j``."""
        push: Tensor = self.system.influence(self.algebra, self.parameters, x, self.mask, t)
        return push

    def metric(self, t: Number = None) -> ParameterValue:
        """W of the ellipsoid, ``None`` on the sphere and in Euclidean space."""
        value = None if self.system.metric is None else self.parameters.get(self.system.metric)
        return value(t) if callable(value) else value

    def retract(self, y: Tensor, t: Number = None) -> Tensor:
        """The nearest-ray point of the state space: ``y_i / |y_i|_W``, or ``y`` itself in Euclidean space."""
        return y if self.system.space is Space.EUCLIDEAN else self.algebra.normalise(y, self.metric(t))

    def heads(self, t: Number = None) -> list[tuple[ParameterValue, ParameterValue]]:
        """The pairs (F_h, M_h) at time t."""
        return self.system.heads(self.parameters, t)

    def span_reduction(self, x: Tensor) -> SpanReduction | None:
        """The same flow in the coordinates of the span of the tokens, when that is invariant and smaller.

        With identity values the push ``u_i`` is a combination of the tokens, so ``x(t) = c(t) Q^T`` for the orthonormal
        basis Q of the span at the start, and c obeys the same system with ``Q^T M Q`` and ``Q^T W Q``: exact, and
        ``d/n`` times cheaper for n < d.  ``None`` where it does not apply.
        """
        n, d = x.shape[-2:]
        awkward = "positions" in self.parameters or "pair_score" in self.parameters or not self.system.standard
        if n >= d or awkward:
            return None
        heads = self.heads(_probe_time(self))
        if any(value is not None for value, _ in heads):
            return None
        basis, factor = torch.linalg.qr(x.mT)  # x^T = Q R: the coordinates R^T are lower triangular
        causal = isinstance(self.mask, str) and self.mask == "causal"
        parameters = {
            name: [_reduced(head, basis) for head in value] if name == "heads" else _reduced({name: value}, basis)[name]
            for name, value in self.parameters.items()
        }
        algebra = replace(self.algebra, root_dimension=self.algebra.root_dimension or d)
        fused = None
        if self.system.score is not None and all(score is not None for _, score in heads):
            groups = self.parameters["heads"] if self.system.multihead else [self.parameters]
            scale = 1.0 / math.sqrt(algebra.root_dimension or d) if self.system.over_root_d else 1.0
            scores = [group[self.system.score] for group in groups]
            fused = FusedHeads(scores, basis, self.mask, scale, triangular=causal)
        reduced = replace(self, parameters=parameters, algebra=algebra, fused=fused)
        return SpanReduction(reduced, factor.mT.contiguous(), basis)


def _shared(value: ParameterValue) -> bool:
    """All instances of a batch have this value: a number, a word or one matrix."""
    if isinstance(value, RowScaled):
        return value.scale.ndim == 1 and value.matrix.ndim == 2
    return isinstance(value, float | int | str) or (isinstance(value, Tensor) and value.ndim in (0, 2))


@dataclass(frozen=True)
class SpanReduction:
    """A problem in the coordinates ``c`` of an invariant subspace with basis Q: ``x = c Q^T``."""

    problem: Problem
    coordinates: Tensor
    basis: Tensor

    def lift(self, c: Tensor) -> Tensor:
        return c @ self.basis.mT


def problem(
    name: System | str,
    parameters: Mapping[str, ParameterValue],
    mask: MaskValue = "default",
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
    n: int | None = None,
) -> Problem:
    """A system by name with parameters given as numbers, arrays or functions of time.

    ``mask`` "default" is the system's own (causal for ``causal-flow``, else full).  ``dtype`` and ``device`` are those of
    the arrays among the parameters (float64 on the processor where there is none); a run takes those of its tokens.

    >>> problem("oja-flow", {"V": [[2, 0], [0, 1]]}).autonomous
    True
    """
    own_dtype, own_device = arithmetic(parameters, torch.float64, torch.device("cpu"))
    dtype, device = dtype or own_dtype, own_device if device is None else torch.device(device)
    chosen = system(name)
    if chosen.writes_sublayer or chosen.writes_step:
        _check_torch_twin(chosen)
    for needed in chosen.parameters:
        identity = needed.name == chosen.value and needed.kind == "matrix" and not chosen.writes_sublayer
        if needed.name not in parameters and needed.required and not identity:
            raise ValueError(f"{chosen.name}: parameter {needed.name} is missing ({needed.meaning}): add it")
    parameters = _with_defaults(chosen, parameters)
    seen = chosen.mask if isinstance(mask, str) and mask == "default" else mask
    ready = "causal" if isinstance(seen, str) and seen == "causal" else seen
    if n is not None and not isinstance(ready, str):
        ready = mask_tensor(ready, n, device)
    converted = _all_converted(parameters, dtype, device)
    if chosen.time is Time.MAP and not isinstance(converted["alpha"], Tensor):
        converted["alpha"] = float(converted["alpha"])
    return Problem(chosen, converted, ready)


@cache
def _check_torch_twin(chosen: System) -> None:
    """An equation of another package makes of arrays what it makes of numbers (at the examples of its registration)."""
    for parameters, x, mask, moved in example_steps(chosen):
        groups = _all_converted(_with_defaults(chosen, parameters), torch.float64, torch.device("cpu"))
        state = torch.tensor(x, dtype=torch.float64)
        seen = None if mask is None else mask_tensor(mask, len(x), torch.device("cpu"))
        batch = torch.stack([state, state.flip(-1), state])  # as many as no example has tokens
        found = chosen.advance(TorchAlgebra(), groups, batch, seen)
        wanted = torch.tensor(moved, dtype=torch.float64)
        if not torch.allclose(found[0], wanted, rtol=CLOSE, atol=CLOSE):
            raise ValueError(
                f"{chosen.name}: its equation gives other tokens for arrays than for numbers: write it in the operations of "
                "the algebra alone"
            )


def _with_defaults(chosen: System, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters with those that were left out at their defaults (``None`` where there is none)."""
    left_out = [each for each in chosen.parameters if not each.required and parameters.get(each.name) is None]
    parts = [each for each in chosen.head_parameters if chosen.multihead and not each.required]
    if not left_out and not parts:
        return parameters
    d = _dimension(chosen, parameters)
    ready = {**parameters, **{each.name: _default(each, d) for each in left_out}}
    if parts:
        ready["heads"] = [
            {**head, **{each.name: _default(each, d) for each in parts if head.get(each.name) is None}}
            for head in parameters["heads"]
        ]
    return ready


def _default(parameter: Parameter, d: int | None) -> Any:
    if parameter.default is None:
        return None
    if parameter.kind in {"scalar", "step"}:
        return float(Fraction(parameter.default))
    if d is None:
        raise ValueError(f"parameter {parameter.name} is left out and no matrix tells the dimension: add it")
    if parameter.kind == "vector":
        return torch.zeros(d)
    return torch.eye(d) if parameter.default == "I" else torch.zeros(d, d)


def _dimension(chosen: System, parameters: Mapping[str, Any]) -> int | None:
    """d, as the given matrices and vectors tell it."""
    kinds = {each.name: each.kind for each in (*chosen.parameters, *chosen.head_parameters)}
    for group in (*parameters.get("heads", ()), parameters):
        for name, value in group.items():
            if kinds.get(name) in {"matrix", "vector"} and value is not None and not callable(value):
                if hasattr(value, "shape"):
                    return int(value.shape[-1])
                if isinstance(value, Sequence):
                    return len(value)
    return None


def arithmetic(
    parameters: Mapping[str, Any], dtype: torch.dtype, device: torch.device
) -> tuple[torch.dtype, torch.device]:
    """The dtype to which the arrays among the parameters promote and the device of the first tensor, else those given.

    >>> arithmetic({"V": torch.eye(2), "alpha": 0.5}, torch.float64, torch.device("cpu"))
    (torch.float32, device(type='cpu'))
    """
    dtypes: list[torch.dtype] = []
    devices: list[torch.device] = []
    for value in [*parameters.values(), *(v for head in parameters.get("heads") or () for v in head.values())]:
        if isinstance(value, _Timed):
            dtypes.append(value.dtype)
            devices.append(torch.device(value.device))
        for each in _tensors(value):
            dtypes.append(each.dtype)
            devices.append(each.device)
    whole = reduce(torch.promote_types, dtypes) if dtypes else dtype
    return whole if whole.is_floating_point else dtype, devices[0] if devices else device


def _tensors(value: Any) -> list[Tensor]:
    """The matrices in a parameter; a single number sets no arithmetic."""
    if isinstance(value, StructuredMatrix | RotaryMatrix):
        return [part for part in vars(value).values() if isinstance(part, Tensor)]
    if isinstance(value, Tensor) or hasattr(value, "__array__"):
        tensor = torch.as_tensor(value)
        return [tensor] if tensor.ndim > 1 else []
    return []


def _all_converted(parameters: Mapping[str, Any], dtype: torch.dtype, device: Any) -> dict[str, Any]:
    """Each parameter in one arithmetic; scores of pairs that are a function of (l, i), not of time, stay as they are."""
    return {
        name: value
        if name == "pair_score" and not isinstance(value, RotaryMatrix)
        else _converted(value, dtype, device)
        for name, value in parameters.items()
    }


def _converted(value: Any, dtype: torch.dtype, device: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, StructuredMatrix | RotaryMatrix):
        parts = {name: part for name, part in vars(value).items() if isinstance(part, Tensor)}
        same = all(part.dtype == dtype and part.device == torch.device(device) for part in parts.values())
        moved = {name: part.to(dtype=dtype, device=device) for name, part in parts.items()}
        structured: Any = value
        return value if same else replace(structured, **moved)
    if isinstance(value, Tensor):
        return value.to(dtype=dtype, device=device)
    if isinstance(value, _Timed):
        return replace(value, dtype=dtype, device=device)
    if callable(value):
        return _Timed(value, dtype, device)
    if isinstance(value, Sequence) and value and isinstance(value[0], Mapping):
        return [{name: _converted(entry, dtype, device) for name, entry in head.items()} for head in value]
    if isinstance(value, Sequence):
        return torch.tensor(_floats(value), dtype=dtype, device=device)
    if hasattr(value, "__array__"):
        return torch.as_tensor(value, dtype=dtype, device=device)
    return value


@dataclass(frozen=True)
class _Timed:
    """A parameter that depends on time, converted at each call."""

    function: Callable[[Any], Any]
    dtype: torch.dtype
    device: Any

    def __call__(self, t: Any) -> Any:
        return _converted(self.function(t), self.dtype, self.device)


def _floats(value: Any) -> Any:
    return [_floats(entry) for entry in value] if isinstance(value, Sequence) else float(value)


def _reduced(group: Mapping[str, Any], basis: Tensor) -> dict[str, Any]:
    reduced: dict[str, Any] = {}
    for name, value in group.items():
        if isinstance(value, Tensor) and value.ndim < 2:
            reduced[name] = value
        elif isinstance(value, Tensor | StructuredMatrix):
            reduced[name] = compress(value, basis)
        elif callable(value):
            reduced[name] = _Compressed(value, basis)
        else:
            reduced[name] = value
    return reduced


@dataclass(frozen=True)
class _Compressed:
    """``Q^T M(t) Q``."""

    function: Callable[[Any], Any]
    basis: Tensor

    def __call__(self, t: Any) -> Any:
        return compress(self.function(t), self.basis)


def _probe_time(instance: Problem) -> Any:
    return None if instance.autonomous else 0.0
