"""``eigentoken simulate``: from a system name and sizes, or an instance, to trajectories, a summary and a chart."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, SupportsIndex, TypedDict

import numpy as np
import torch
from torch import Tensor

from eigentoken.display import frame, html_table, listing
from eigentoken.documents.simulation_document import SimulationDocument
from eigentoken.files.given_arrays import rows_of
from eigentoken.numerics.dynamics import observables as measure
from eigentoken.numerics.dynamics.basins import Fraction95, clopper_pearson
from eigentoken.numerics.dynamics.charts import Chart, Curve, Curves, SpherePaths
from eigentoken.numerics.dynamics.equilibria import CertifiedEquilibrium, certify_equilibrium
from eigentoken.numerics.dynamics.flows import METHODS, follow
from eigentoken.numerics.dynamics.limits import Limit, name_limits
from eigentoken.numerics.dynamics.maps import iterate
from eigentoken.numerics.dynamics.matrices import dense
from eigentoken.numerics.dynamics.problem import Problem, problem
from eigentoken.numerics.dynamics.simulation_files import SavedRun, read_run, write_run
from eigentoken.numerics.dynamics.simulation_inputs import number_given, read_start
from eigentoken.numerics.dynamics.threads import torch_threads
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.systems.algebra import ParameterValue
from eigentoken.theory.systems.suggestions import meant
from eigentoken.theory.systems.system import Space, System, Time

if TYPE_CHECKING:
    from pandas import DataFrame

    from eigentoken.numerics.dynamics.drawing import Drawing

__all__ = ["OPTIONS", "Option", "OptionError", "Simulation", "simulate"]


class OptionError(ValueError):
    """An option of :func:`simulate` is out of range: the message begins with its name."""


#: Names of the first starts in a figure that shows them one by one.
STARTS = [f"start {k}" for k in range(1, 6)]


@dataclass(frozen=True)
class Option:
    """An option of the command: name, default, and what it does."""

    name: str
    default: object
    meaning: str


#: What a matrix may be given as.
Matrix = Tensor | np.ndarray | Sequence[Sequence[Any]]
#: The relative tolerance where the state has 24 bits and none was asked for, and the distance of a map at rest.
FLOAT32_RTOL, AT_REST = 1e-5, {torch.float64: 1e-13, torch.float32: 1e-5}
MASKS = ("full", "causal")

OPTIONS: tuple[Option, ...] = (
    Option("n", 10, "number of tokens (ignored when the instance gives tokens)"),
    Option("d", 3, "dimension of a token (ignored when the instance gives matrices)"),
    Option("heads", 2, "heads of a multi-head system with random matrices"),
    Option("alpha", 0.25, "step size of a map with random matrices"),
    Option("instances", 1, "random starts followed together"),
    Option("end", None, "end time of a flow (default 200) or number of layers of a map (default 400)"),
    Option("seed", 0, "seed of the random matrices and starts: the same seed gives the same run"),
    Option("mask", None, "full, causal or a 0/1 matrix (default: the system's own)"),
    Option("method", "dopri5", "dopri5 or bosh3 (adaptive), rk4 (needs step)"),
    Option("step", None, "fixed step of the integrator"),
    Option("rtol", 1e-8, "relative tolerance of the adaptive methods"),
    Option("samples", 200, "how many times are kept"),
    Option("device", None, "cpu, cuda, mps or auto, for what is not a tensor already (float32 on mps)"),
    Option("certify", False, "certify the equilibrium near the first limit, and its stability"),
)


class SimulationOptions(TypedDict, total=False):
    """The keywords of :func:`simulate` that are not parameters of a system; :data:`OPTIONS` says what each means."""

    n: int | None
    d: int | None
    heads: int | None
    alpha: float | None
    instances: int | None
    end: float | None
    seed: int | None
    mask: str | None
    method: str | None
    step: float | None
    rtol: float | None
    samples: int | None
    certify: bool | None
    device: str | None


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """A run: ``states`` (times, instances, n, d), one curve an observable (times, instances), and where it went."""

    system: System
    settings: Mapping[str, object]
    times: list[float]
    states: Tensor
    observed: Mapping[str, np.ndarray]
    limits: list[Limit]
    fractions: Mapping[str, Fraction95]
    equilibrium: CertifiedEquilibrium | None = None
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    metric: Tensor | None = None

    SCHEMA: ClassVar[Literal["eigentoken/simulation/2"]] = "eigentoken/simulation/2"

    def as_dict(self) -> SimulationDocument:
        """The summary: settings, limits with confidence intervals, first and last value of each observable."""
        certified = self.equilibrium
        return {
            "schema": self.SCHEMA,
            "system": self.system.name,
            "settings": dict(self.settings),
            "end": self.times[-1],
            "limits": {
                name: {"count": f.count, "total": f.total, "interval95": [f.low, f.high]}
                for name, f in self.fractions.items()
            },
            "first": {
                "kind": self.limits[0].kind.value,
                "clusters": self.limits[0].clusters,
                "opposite": self.limits[0].opposite,
                "motion": self.limits[0].motion,
            },
            "observables": {
                name: {"start": float(values[0].mean()), "end": float(values[-1].mean())}
                for name, values in self.observed.items()
            },
            "equilibrium": None if certified is None else certified.as_dict(),
        }

    def __repr__(self) -> str:
        starts, n, d = self.states.shape[1:]
        shape = f"{starts} start{'s' if starts > 1 else ''} of {n} tokens in R^{d}"
        unit = "layers" if self.system.time is Time.MAP else "time"
        lines = [f"{name}: {f.count} of {f.total}" for name, f in self.fractions.items()]
        lines += [f"{name}: {v[0].mean():.4g} to {v[-1].mean():.4g}" for name, v in self.observed.items()]
        head = f"<Simulation of {self.system.name}: {shape}, {self.states.dtype}, {unit} {self.times[-1]:g}>"
        return listing(head, lines)

    def _repr_html_(self) -> str:
        rows = [(name, f"{v[0].mean():.4g}", f"{v[-1].mean():.4g}") for name, v in self.observed.items()]
        found = ", ".join(f"{name} {f.count} of {f.total}" for name, f in self.fractions.items())
        return html_table(("observable", "start", "end"), rows, f"{self.system.name}: {found}")

    def to_frame(self) -> DataFrame:
        """One row a time and start: the observables (pandas)."""
        starts = range(self.states.shape[1])
        return frame(
            {"time": t, "start": b, **{name: float(values[k, b]) for name, values in self.observed.items()}}
            for k, t in enumerate(self.times)
            for b in starts
        )

    @property
    def final(self) -> Tensor:
        """The tokens at the last time: (instances, n, d)."""
        return self.states[-1]

    def plot(self, style: str = "page") -> Drawing:
        """The figure of :meth:`chart`, by matplotlib; no backend is chosen, and a notebook shows it.

        ``style`` is "page", or a venue that it is printed in: "neurips", "icml", "ieee", "thesis".
        """
        from eigentoken.numerics.dynamics.drawing import draw
        from eigentoken.numerics.dynamics.figure_styles import style_named

        return draw(self.chart(), style_named(style))

    def save(self, path: str | Path) -> Path:
        """Write times, states, observables and parameters to a ``.npz`` file (the ending is added where it is missing).

        :mod:`eigentoken.numerics.dynamics.simulation_files` lists the arrays; :meth:`load` reads them.
        """
        saved = SavedRun(self.system, self.settings, self.times, self.states, self.parameters)
        return write_run(path, saved, self.observed)

    @classmethod
    def load(cls, path: str | Path) -> Simulation:
        """The run that :meth:`save` or ``simulate --data`` wrote; limits and observables are made anew from its states."""
        saved = read_run(path)
        asked = saved.settings.get("mask")
        mask = "default" if asked is None else asked if isinstance(asked, str) else _mask_rows(asked)
        n, dtype = saved.states.shape[-2], saved.states.dtype
        task = problem(saved.system, saved.parameters, mask, dtype=dtype, n=n)
        return _simulation(task, saved.settings, saved.times, saved.states, saved.parameters)

    def chart(self) -> Chart:
        """Tokens on the sphere or circle for d = 3 or 2 (first instance), and the observables against time."""
        word = "layer" if self.system.time is Time.MAP else "time"
        panels: list[Any] = []
        if self.states.shape[-1] in (2, 3) and self.system.space is not Space.EUCLIDEAN:
            metric = None if self.metric is None else np.asarray(self.metric)
            panels.append(SpherePaths(self.states[:, 0].cpu().numpy(), metric, "tokens of the first start"))
        for name, values in self.observed.items():
            log = bool((values > 0).all()) and float(values.max()) > 100 * float(values.min())
            few = values.shape[1] <= 5
            labels = ["each start"] + [""] * 99 if not few else [""] if values.shape[1] == 1 else STARTS
            lines = [
                Curve(self.times, line, label, "plain" if few else "faint")
                for line, label in zip(values.T, labels, strict=False)
            ]
            if not few:
                lines.append(Curve(self.times, values.mean(1), "mean", "strong"))
            panels.append(Curves(lines, word, _typeset(name), log_y=log))
        limit = ", ".join(f"{name} {f.count}/{f.total}" for name, f in self.fractions.items())
        return Chart(f"{self.system.title}: {limit}", panels, columns=2)


def _typeset(name: str) -> str:
    """The name of an observable as the label of an axis.

    >>> _typeset("W = -1/2 xbar V xbar"), _typeset("effective rank")
    ('$W = -\\\\frac{1}{2}\\\\,\\\\bar{x}^T V \\\\bar{x}$', 'effective rank')
    """
    if name.startswith("E = 1 - mean"):
        return r"$E = 1 - \mathrm{mean}_i\,\cos(x_1, x_i)$"
    if name.startswith("W = -1/2 xbar"):
        return rf"$W = -\frac{{1}}{{2}}\,\bar{{x}}^T {name.split()[-2]} \bar{{x}}$"
    return name.replace("V_P", "$V_P$")


def simulate(
    source: str | Path | System | Mapping[str, object] | Instance,
    tokens: Matrix | None = None,
    *,
    n: SupportsIndex | None = None,
    d: SupportsIndex | None = None,
    heads: SupportsIndex | Sequence[Mapping[str, Matrix]] | None = None,
    alpha: float | str | Tensor | None = None,
    instances: SupportsIndex | None = None,
    end: float | None = None,
    seed: SupportsIndex | None = None,
    mask: Matrix | str | None = None,
    method: str | None = None,
    step: float | None = None,
    rtol: float | None = None,
    samples: int | None = None,
    certify: bool | None = None,
    device: str | None = None,
    begun: Callable[[System, int], None] = lambda _system, _d: None,
    **parameters: Matrix,
) -> Simulation:
    """Follow a system (by name) from random starts or from ``tokens``, or an instance (also a mapping or a JSON file).

    The other keywords are options, listed with their defaults in :data:`OPTIONS`, and the parameters of the system by
    name: ``simulate("oja-map", V=V, alpha=0.25, tokens=x)``.  Arrays and tensors keep their dtype (float32 or float64)
    and device; tokens are (n, d), or (instances, n, d) for several starts, and are taken to the state space first.
    Without matrices these are random, as in Abella et al., section 7: entries uniform on [-1/2, 1/2], values symmetrised
    as ``A + A^T``, metrics ``A A^T + I/2``.  ``begun`` is called with the system and the dimension before the first step.

    >>> run = simulate("oja-map", n=5, d=3, seed=1)
    >>> run.as_dict()["first"]["kind"]
    'consensus'
    """
    own_heads = list(heads) if isinstance(heads, list | tuple) else None
    options = {
        "n": n, "d": d, "heads": heads if own_heads is None else len(own_heads), "alpha": alpha, "instances": instances,
        "end": end, "seed": seed, "mask": mask, "method": method, "step": step, "samples": samples, "certify": certify,
        "rtol": rtol, "device": device,
    }  # fmt: skip
    chosen: dict[str, Any] = {option.name: option.default for option in OPTIONS}
    chosen |= {name: value for name, value in options.items() if value is not None}
    if mask is not None and not isinstance(mask, str):
        chosen["mask"] = _mask_rows(mask)
    chosen |= {name: _whole(name, chosen[name], least) for name, least in WHOLE.items()}
    chosen |= {name: _positive(name, chosen[name]) for name in POSITIVE if chosen[name] is not None}
    _check_options(chosen)
    given = {**parameters, "tokens": tokens, "heads": own_heads, "alpha": alpha}
    document = source.as_dict() if isinstance(source, Instance) else source
    task, start, used = read_start(document, given, chosen)
    if rtol is None and start.dtype is not torch.float64:
        chosen["rtol"] = FLOAT32_RTOL
    last = chosen["end"] if chosen["end"] is not None else (400 if task.system.time is Time.MAP else 200.0)
    if task.system.time is Time.MAP and last < 1:
        raise OptionError(f"end must be at least 1, the number of layers of {task.system.name}, got {last}")
    begun(task.system, start.shape[-1])
    with torch_threads(start.numel() < 100_000):
        times, states = _run(task, start, last, chosen)
    if chosen["device"] is None:
        del chosen["device"]
    settings = {**chosen, "end": last, "n": start.shape[-2], "d": start.shape[-1], "instances": start.shape[0]}
    return _simulation(task, {**settings, "mask": _mask_used(task, chosen["mask"])}, times, states, used)


def _simulation(
    task: Problem,
    settings: Mapping[str, object],
    times: list[float],
    states: Tensor,
    parameters: Mapping[str, ParameterValue],
) -> Simulation:
    """What is read off the states: limits, observables and, where the settings ask for it, the certified equilibrium."""
    with torch_threads(states[-1].numel() < 100_000):
        limits = name_limits(task, states[-1], t=times[-1])
    kinds = [limit.kind.value for limit in limits]
    fractions = {kind: clopper_pearson(kinds.count(kind), len(kinds)) for kind in sorted(set(kinds))}
    certified = certify_equilibrium(task, states[-1][0]) if settings.get("certify") is True else None
    metric = task.metric(0.0)
    whole = None if metric is None else dense(metric, states).cpu()
    observed = _observe(task, states)
    return Simulation(task.system, settings, times, states, observed, limits, fractions, certified, parameters, whole)


def _mask_used(task: Problem, asked: object) -> object:
    """The mask that was asked for or that the instance has, as a document says it; ``None``: that of the system."""
    if asked is not None or task.mask is None:
        return asked
    if isinstance(task.mask, Tensor):
        return [[int(entry) for entry in row] for row in task.mask.tolist()]
    return None if task.mask == task.system.mask else task.mask


#: The options that are whole numbers, with the least of each, and those that are positive numbers.
WHOLE = {"n": 1, "d": 1, "heads": 1, "instances": 1, "samples": 2, "seed": None}
POSITIVE = ("alpha", "end", "step", "rtol")


def _whole(name: str, value: Any, least: int | None) -> int:
    plain = value.item() if getattr(value, "shape", None) == () else value
    whole = not isinstance(plain, bool) and isinstance(plain, int | float) and plain == int(plain)
    if not whole or (least is not None and plain < least):
        bound = "" if least is None else f", at least {least}"
        raise OptionError(f"{name} must be a whole number{bound}, got {' '.join(str(value).split())[:60]}")
    return int(plain)


def _positive(name: str, value: Any) -> Any:
    """A number above 0; a whole one stays whole."""
    try:
        plain = value if type(value) is int else number_given(name, value)
    except ValueError:
        plain = 0
    if not 0 < plain < math.inf:
        raise OptionError(f"{name} must be a finite number above 0, got {' '.join(str(value).split())[:60]}")
    return plain


def _mask_rows(mask: Any) -> list[list[int]]:
    rows = rows_of("mask", mask)
    if not isinstance(rows, list | tuple) or not all(isinstance(row, list | tuple) for row in rows):
        raise OptionError(f"mask must be full, causal or rows of 0 and 1, got {' '.join(str(mask).split())[:60]}")
    if any(entry not in (0, 1) for row in rows for entry in row):
        raise OptionError("mask must hold 0 and 1 only: 1 where the token attends")
    return [[int(entry) for entry in row] for row in rows]


def _check_options(chosen: Mapping[str, Any]) -> None:
    """Method and mask, for maps and flows alike: an option that a system does not use is held to its range."""
    if chosen["method"] not in METHODS:
        raise OptionError(f"method {chosen['method']!r} is not known: {meant(chosen['method'], METHODS)}")
    if chosen["method"] == "rk4" and chosen["step"] is None:
        raise OptionError("method rk4 has a fixed step: give step, or use dopri5")
    if isinstance(chosen["mask"], str) and chosen["mask"] not in MASKS:
        raise OptionError(f"mask {chosen['mask']!r} is not known: {meant(chosen['mask'], MASKS)}")


def _run(task: Problem, start: Tensor, end: float, chosen: Mapping[str, Any]) -> tuple[list[float], Tensor]:
    """Times and states; a trajectory that leaves the range of floats (a token at 0 has no direction) is refused."""
    times, states = _followed(task, start, end, chosen)
    finite = torch.isfinite(states).flatten(1).all(1)
    if not bool(finite.all()):
        when = times[int((~finite).nonzero()[0])]
        raise ValueError(
            f"{task.system.name}: a token has no finite place at {when:g}: it met 0 or left the range of floats; "
            "change the tokens or the size of the matrices"
        )
    return times, states


def _followed(task: Problem, start: Tensor, end: float, chosen: Mapping[str, Any]) -> tuple[list[float], Tensor]:
    samples = int(chosen["samples"])
    if task.system.time is Time.MAP:
        orbit = iterate(task, start, int(end), every=max(1, int(end) // samples), stop_distance=AT_REST[start.dtype])
        assert orbit.states is not None
        return [float(k) for k in orbit.times], orbit.states
    rtol = float(chosen["rtol"])
    flow = follow(
        task,
        start,
        float(end),
        at=(float(end) * np.linspace(0, 1, samples) ** 3).tolist(),
        method=chosen["method"],
        step=chosen["step"],
        rtol=rtol,
        atol=rtol * 1e-3,
        stop_speed=rtol if task.autonomous else None,
        max_steps=200_000,
    )
    assert flow.states is not None
    if bool(flow.finite.all()) and flow.end < float(end) and not bool(flow.settled.all()):
        raise ValueError(
            f"{task.system.name}: stopped at time {flow.end:g} of {float(end):g} after {flow.steps} steps, which become too "
            "short: give a shorter end, a larger rtol or a fixed step"
        )
    return flow.times, flow.states


def _observe(task: Problem, states: Tensor) -> dict[str, np.ndarray]:
    curves: dict[str, Tensor] = {"diameter": measure.diameter(states)}
    if task.system.space is Space.EUCLIDEAN:
        curves["mean norm"] = measure.norms(states).mean(-1)
    else:
        curves["E = 1 - mean cos(x_1, x_i)"] = measure.cosine_gap(states)
    curves["effective rank"] = measure.effective_rank(states)
    listed = task.system
    uniform = listed.attention == "uniform" and listed.mask == "full" and not (listed.multihead or listed.over_root_d)
    if listed.standard and uniform and listed.space is Space.SPHERE and listed.value is not None:
        curves[f"W = -1/2 xbar {listed.value} xbar"] = measure.oja_potential(states, task.parameters[listed.value])
    gradient = listed.metric is not None and listed.metric == listed.score and listed.value is None
    if listed.standard and gradient and listed.time is Time.FLOW and task.autonomous:
        potentials = [measure.ellipsoid_potential(each, task.metric()) for each in states]  # n x n numbers each
        curves["V_P of eq. (10)"] = torch.stack(potentials)
    return {name: values.cpu().numpy() for name, values in curves.items()}
