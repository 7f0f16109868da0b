"""``check --estimate``: what a check would cost, before it is run, from measured layers (benchmarks/layer_costs.py)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentoken.numerics.layers.costs import LayerCost

__all__ = ["Estimate", "ModelShape", "estimate", "of_recheck", "shape_of", "worthwhile_jobs"]

#: Seconds by the clock: what takes longer is announced before it begins.
LONG = 60.0
#: Seconds until a new process has loaded what a layer needs: layers that take less together are done where the command is.
START = 3.0
SHAPE = re.compile(r"^shape:(\d+)x(\d+)$")


@dataclass(frozen=True)
class ModelShape:
    """Layers with weights of their own, and the width of a token."""

    name: str
    layers: int
    d: int


@dataclass(frozen=True)
class Estimate:
    """Costs of one layer and of all, with ``together`` layers side by side."""

    shape: ModelShape
    layer: LayerCost
    together: int
    measured: tuple[LayerCost, ...]

    @property
    def seconds(self) -> float:
        """Processor time of all layers."""
        return self.layer.seconds * self.shape.layers

    def sentences(self) -> list[str]:
        """What a reader is told: numbers, and how they are known."""
        from eigentoken.numerics.layers.costs import exponents

        cost, shape = self.layer, self.shape
        widest, narrowest = max(each.d for each in self.measured), min(each.d for each in self.measured)
        grown = exponents(self.measured)[-1]
        how = (
            "measured at this width"
            if cost.measured
            else f"below the narrowest that was measured, d = {narrowest}, with time on the line through the first two"
            if cost.d < narrowest
            else f"between measured widths up to {widest}"
            if cost.d <= widest
            else f"beyond the widest that was measured, d = {widest}, with time as d^{max(3.0, grown):.2f} (measured there: "
            f"{grown:.2f}) and memory as d^2"
        )
        wall = self.seconds / self.together
        layers = "layers with weights of their own" if shape.layers > 1 else "layer with weights of its own"
        return [
            f"{shape.name}: {shape.layers} {layers}, d = {shape.d}",
            f"one layer: about {_time(cost.seconds)} of one core and {cost.bytes / 1e9:.1f} GB ({how})",
            f"all layers: about {_time(self.seconds)} of processor time; {self.together} side by side, about {_time(wall)}",
            "each layer is stored as it is done: an interrupted check goes on where it stopped (--work)",
        ]

    def in_advance(self) -> str | None:
        """One line before a check that takes longer than :data:`LONG`; ``None`` before a short one."""
        wall = self.seconds / self.together
        if wall < LONG:
            return None
        memory = self.layer.bytes * self.together / 1e9
        return (
            f"{self.shape.layers} layers of d = {self.shape.d}: about {_time(wall)} and {memory:.1f} GB, "
            f"{self.together} side by side; each is stored as it is done (--estimate says how this is known)"
        )


def shape_of(model: str) -> ModelShape:
    """Of ``shape:LAYERSxD``, or of a model that is opened but whose weights are not read."""
    found = SHAPE.match(model)
    if found:
        layers, d = (int(each) for each in found.groups())
        if not (layers and d):
            raise ValueError(f"MODEL {model}: expected shape:LAYERSxD with positive numbers, e.g. shape:80x8192")
        return ModelShape(model, layers, d)
    if model.startswith("shape:"):
        raise ValueError(f"MODEL {model}: expected shape:LAYERSxD, e.g. shape:80x8192")
    from eigentoken.checking.run import open_model

    loaded = open_model(model)
    own = {loaded.architecture.weights_of(index) for index in range(loaded.n_layers)}
    return ModelShape(loaded.source, len(own), loaded.d)


def estimate(model: str | ModelShape, jobs: int = 1) -> Estimate:
    """What ``check`` of this model, or of this shape, takes."""
    from eigentoken.checking.run import affordable_jobs
    from eigentoken.numerics.layers.costs import LayerCost, layer_cost
    from eigentoken.pages import asset

    kept = json.loads(asset("layer_costs.json"))["layers"]
    known = tuple(LayerCost(each["d"], each["seconds"], each["bytes"]) for each in kept)
    shape = model if isinstance(model, ModelShape) else shape_of(model)
    together = max(1, min(affordable_jobs(shape.d, jobs), shape.layers))
    return Estimate(shape, layer_cost(shape.d, known), together, known)


def of_recheck(layers: int, d: int) -> str:
    """What a re-check of a report on so many layers takes: one to two times the check, of which the layers are estimated."""
    seconds = estimate(ModelShape("", layers, d)).seconds
    return (
        f"about {_time(seconds)} to {_time(2 * seconds)} of one core" if seconds > START else "some seconds of one core"
    )


def worthwhile_jobs(shape: ModelShape, jobs: int) -> int:
    """As many processes as are asked for, or one where they would take longer to start than they save."""
    return jobs if jobs > 1 and estimate(shape, 1).seconds * (jobs - 1) / jobs > START else 1


def _time(seconds: float) -> str:
    """``40 s``, ``12 min``, ``3.5 h``, ``2.1 days``."""
    for unit, length, limit in (("s", 1, 90), ("min", 60, 90), ("h", 3600, 48)):
        if seconds < limit * length:
            return f"{seconds / length:.2g} {unit}" if seconds / length < 10 else f"{seconds / length:.0f} {unit}"
    return f"{seconds / 86400:.2g} days"
