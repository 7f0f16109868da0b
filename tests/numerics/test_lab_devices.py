"""``refute --device``: batches are looked at on a device, and what it says is looked at again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import _disable_current_modes

from eigentoken.numerics.certified import devices, eigen
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.sampling import sample
from eigentoken.numerics.lab import Conjecture, on_device, refute
from eigentoken.numerics.lab.targets import targets
from eigentoken.theory.language.claims import (
    AlmostEveryConverges,
    Claim,
    Converges,
    Decreases,
    Equilibrium,
    Increases,
    LyapunovStable,
    Nonnegative,
    Stable,
    Unstable,
    Vanishes,
)
from eigentoken.theory.language.conditions import PositiveDefinite, SimpleTop, Symmetric
from eigentoken.theory.language.observables import oja_potential
from eigentoken.theory.language.observables_of_spread import squared_diameter
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt, ConsensusSet
from eigentoken.theory.language.readings import OBSERVED
from eigentoken.theory.language.terms import matrix
from tests.tools.simulated_torch import MixedDevices, SimulatedTorch, no_numpy

V = matrix("V")
ASKED: list[tuple[str, Claim]] = [
    ("oja-map", Stable(ConsensusAt(V, 1))),
    ("attention-map", Stable(BipartiteAt(V, 1))),
    ("attention-flow", Unstable(ConsensusAt(V, 2))),
    ("oja-map", AlmostEveryConverges(ConsensusAt(V, 1))),
    ("attention-flow", Converges(ConsensusSet())),
    ("multihead-map", Converges(ConsensusSet())),
    ("oja-map", Decreases(oja_potential)),
    ("oja-flow", Increases(oja_potential)),
    ("oja-flow", Nonnegative(squared_diameter)),
    ("attention-map", Vanishes(squared_diameter)),
    ("attention-flow", Equilibrium(ConsensusAt(V, 1))),
]


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> SimulatedTorch:
    """A device that is there, and behind which is the simulated one."""
    mode = SimulatedTorch()
    moved, on = on_device.moved_to, on_device.on

    @contextmanager
    def entered(name: str) -> Iterator[None]:
        with on("cpu"), mode:
            yield

    def carried(batch: Batch, name: str) -> Batch:
        here = moved(batch, "cpu")

        def there(value: Any) -> Any:
            if isinstance(value, list):
                return [{part: there(each) for part, each in head.items()} for head in value]
            return value.clone()

        parameters = {part: there(value) for part, value in here.parameters.items()}
        extra = {part: there(value) for part, value in here.extra.items()}
        return Batch(
            here.system, parameters, here.tokens.clone(), here.k, here.p, here.corner, here.mask, here.groups, extra
        )

    monkeypatch.setattr(on_device, "on", entered)
    monkeypatch.setattr(on_device, "moved_to", carried)

    def through(matrices: torch.Tensor, vectors: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
        """A card has eigenvalues of its own; here they are numpy's."""
        with _disable_current_modes():
            numbers, columns = by_numpy(matrices, vectors)
        return numbers.clone(), columns.clone()

    by_numpy = eigen._by_numpy
    monkeypatch.setattr(eigen, "_by_numpy", through)
    monkeypatch.setattr(torch.Tensor, "numpy", no_numpy(torch.Tensor.numpy))
    monkeypatch.setattr(on_device, "LEAST", 1)
    monkeypatch.setattr(devices, "present", lambda: ["cpu", "cuda:0"])
    devices.arithmetic_of.cache_clear()
    return mode


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    devices.arithmetic_of.cache_clear()


def drawn(system: str, claim: Claim) -> Iterator[Batch]:
    conditions = () if system in ("multihead-map", "causal-flow") else (Symmetric(V), SimpleTop(V))
    if system == "attention-flow" and isinstance(claim, Converges):
        conditions = (PositiveDefinite(V),)
    (aim,) = targets(Conjecture("device", system, conditions, [claim], n=[3, 4], d=[2, 3]))
    yield from sample(aim.plan, 30, 3, cells_at_most=3).batches


@pytest.mark.parametrize(("system", "claim"), ASKED, ids=lambda each: str(each)[:40])
def test_violations_of_a_device_are_those_of_the_processor(system: str, claim: Claim, device: SimulatedTorch) -> None:
    compared = 0
    for batch in drawn(system, claim):
        here = OBSERVED(claim, batch.take(slice(None)))
        there = on_device.looked_at(claim, batch.take(slice(None)), "cuda:0")
        judged = ~here.isnan() & ~there.isnan()
        assert bool(((here > 1e-6)[judged] == (there > 1e-6)[judged]).all())
        wrong = (here > 1e-6) & there.isnan()
        assert not bool(wrong.any()) or isinstance(claim, Converges | AlmostEveryConverges)
        assert int(wrong.sum()) <= 1  # a trajectory that settles at the very end
        compared += int(judged.sum())
    assert compared > 10 and device.asked > 50


def test_what_a_device_says_is_looked_at_again(device: SimulatedTorch, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that sees violations everywhere makes no finding."""
    true = Stable(ConsensusAt(V, 1))
    stated = Conjecture("true", "oja-flow", [Symmetric(V), SimpleTop(V), PositiveDefinite(V)], [true])
    carried = on_device.moved_to
    monkeypatch.setattr(
        on_device,
        "moved_to",
        lambda batch, name: carried(batch, name).with_parameters({"V": -carried(batch, name).parameters["V"]}),
    )
    (batch, *_) = drawn("oja-flow", true)
    assert bool((on_device.looked_at(true, batch, "cuda:0") <= 1e-6).all()) == bool(
        (OBSERVED(true, batch) <= 1e-6).all()
    )
    assert refute(stated, instances=200, device="cuda").results[0].answer == "survived"
    assert device.asked > 100


def test_a_search_on_a_device_refutes(device: SimulatedTorch) -> None:
    stated = Conjecture("any step", "oja-map", [Symmetric(V), SimpleTop(V)], [Stable(ConsensusAt(V, 1))])
    found = refute(stated, instances=3000, device="cuda").results[0]
    assert found.answer == "refuted" and device.asked > 100


def test_what_cannot_go_there_stays_here(device: SimulatedTorch) -> None:
    claim = LyapunovStable(ConsensusAt(V, 1))
    for batch in drawn("oja-map", claim):
        assert on_device.looked_at(claim, batch, "cuda:0").equal(OBSERVED(claim, batch.take(slice(None))))
    assert device.asked == 0
    asked = torch.eye(2, dtype=torch.float64)
    with pytest.raises(MixedDevices), device:
        asked @ asked


def test_devices_have_names_and_need_double_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="not on this machine"):
        refute(Conjecture("x", "oja-map", [], [Stable(ConsensusAt(V, 1))]), instances=10, device="cuda")
    with pytest.raises(ValueError, match="must be one of"):
        on_device.search_device("gpu")
    monkeypatch.setattr(devices, "present", lambda: ["cpu", "mps"])
    devices.arithmetic_of.cache_clear()
    assert on_device.search_device("auto") == "cpu"
    with pytest.raises(ValueError, match="double precision"):
        on_device.search_device("mps")
