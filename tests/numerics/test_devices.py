"""Products on a device: the bounds hold in any order of summation, with fused multiply-add, with flushed subnormal numbers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pytest
import torch

import eigentoken as et
from eigentoken.numerics.certified import devices
from eigentoken.numerics.certified.arithmetic import NUMPY, current, multiply, residual_above, using
from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.definiteness import cholesky_bound
from eigentoken.numerics.certified.devices import (
    TorchDevice,
    arithmetic_of,
    exact_in_integers,
    present,
    quickest,
    sliced,
    sliced_in_integers,
)
from eigentoken.numerics.certified.enclosures import Enclosure, MatrixError, product
from eigentoken.numerics.certified.probe import BackendRefused
from eigentoken.numerics.certified.rounding import TINY, UNIT
from eigentoken.numerics.recheck import recheck
from tests.commands import here
from tests.tools.simulated_device import SimulatedDevice, SimulatedIntegers, chopped, fixed_point

#: Every device of this machine, the slices that a device without float64 would use, and two that are not here.
DEVICES = [
    SimulatedDevice(1),
    SimulatedDevice(2),
    TorchDevice("cpu", least=0),
    TorchDevice("cpu", "float32", least=0),
    TorchDevice("cpu", "int8", least=0),
    SimulatedIntegers(3),
    *(TorchDevice(name, "" if name != "mps" else "float32", least=0) for name in present()[1:]),
    *(TorchDevice(name, "int8", least=0) for name in present()[1:] if name != "mps"),
]
named = pytest.mark.parametrize("device", DEVICES, ids=lambda each: f"{each.name}-{getattr(each, 'digits', '')}")


def exact(matrix: np.ndarray) -> flint.fmpq_mat:
    rows = [[flint.fmpq(*float(entry).as_integer_ratio()) for entry in row] for row in matrix]
    return flint.fmpq_mat(rows)


def graded(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    return np.asarray(np.ldexp(rng.standard_normal((rows, columns)), rng.integers(-30, 30, (rows, columns))))


@named
def test_a_product_errs_by_at_most_its_bound(device: object) -> None:
    rng = np.random.default_rng(3)
    for m, k, n in ((1, 1, 1), (2, 9, 3), (7, 40, 5)):
        a, b = graded(rng, m, k), graded(rng, k, n)
        b[k // 2 :] *= 2.0**-1000  # results that are subnormal
        with using(device):
            found = multiply(a, b)
        truth, sizes = exact(a) * exact(b), exact(np.abs(a)) * exact(np.abs(b))
        for i in range(m):
            for j in range(n):
                error = abs(flint.fmpq(*float(found[i, j]).as_integer_ratio()) - truth[i, j])
                bound = sizes[i, j] * flint.fmpq(k) * flint.fmpq(*UNIT.as_integer_ratio()) * flint.fmpq(101, 100)
                assert error <= bound + 2 * k * flint.fmpq(*TINY.as_integer_ratio())


@named
def test_answers_on_a_device_are_those_of_exact_arithmetic(device: object) -> None:
    rng = np.random.default_rng(5)
    counted = 0
    with using(device):
        for size in (3, 5, 8):
            for wanted in (-1.0, 0.0, 2.0**-40, 1.0):
                q, _ = np.linalg.qr(rng.standard_normal((size, size)))
                s = (q * np.array([wanted, *rng.uniform(0.5, 2.0, size - 1)])) @ q.T
                s = 0.5 * (s + s.T)
                minors = [exact(s[:k, :k]).det() for k in range(1, size + 1)]
                verdict = certify("positive-definite", s)
                assert verdict == ("holds" if all(minor > 0 for minor in minors) else "fails")
                counted += 1
    assert counted == 12 and current() is NUMPY


@named
def test_certificates_of_a_device_are_confirmed(device: object) -> None:
    rng = np.random.default_rng(7)
    a = rng.standard_normal((70, 70))
    values = a + 4 * np.outer(a[0], a[0]) / 70
    asked = (("positive-definite", a @ a.T / 70 + np.eye(70)), ("dominant-real-part", values), ("nonsingular", a))
    for condition, matrix in asked:
        with using(device):
            verdict = certify(condition, matrix)
        assert verdict == "holds"
        assert verdict.certificate is not None
        assert recheck(verdict.certificate, {"matrix": matrix}) == "holds"


@named
def test_an_enclosed_product_holds_the_exact_one(device: object) -> None:
    rng = np.random.default_rng(9)
    a, b = graded(rng, 6, 30), graded(rng, 30, 6)
    with using(device):
        found = product(Enclosure.from_floats(a), Enclosure.from_floats(b, name="other"))
    scale = flint.fmpq(2) ** found.exponent if found.exponent >= 0 else 1 / flint.fmpq(2) ** -found.exponent
    rest = exact(a) * exact(b) - exact(found.center) * scale
    squares = sum((rest[i, j] ** 2 for i in range(6) for j in range(6)), flint.fmpq(0))
    assert squares <= (flint.fmpq(*found.radius.as_integer_ratio()) * scale) ** 2


def test_a_factor_of_a_device_is_not_believed() -> None:
    class Liar(SimulatedDevice):
        def factor(self, matrix: np.ndarray) -> np.ndarray | None:
            return np.eye(len(matrix))

    s = np.array([[1.0, 2.0], [2.0, 1.0]])
    with using(Liar()):
        assert cholesky_bound(s, 0.0) is None
        assert cholesky_bound(np.diag([3.0, 2.0]), 0.0) is None  # definite, and this factor does not show it
        assert certify("positive-definite", s) == "fails"
        assert residual_above(s, np.eye(2)) >= np.linalg.norm(s - np.eye(2), 2)


def test_an_arithmetic_beyond_its_bound_is_refused() -> None:
    with pytest.raises(BackendRefused, match="may not issue certificates"), using(SimulatedDevice(spoil=True)):
        raise AssertionError("TF32 was let in")
    half = TorchDevice("cpu", "float32", least=0)
    truth = half._whole
    object.__setattr__(
        half, "_whole", lambda a, b: truth(a, b).astype(np.float16).astype(np.float64)
    )  # sums in half precision
    with pytest.raises(BackendRefused), using(half):
        raise AssertionError("half-precision sums were let in")


@pytest.mark.parametrize("product", [chopped, fixed_point], ids=lambda each: each.__name__)
def test_arithmetics_that_were_let_in_before_are_refused(product: Any) -> None:
    """Towards zero it errs by twice the bound, with one scale for a row by any multiple of it; random entries show neither."""
    device = SimulatedDevice()
    device.product = product  # type: ignore[method-assign]
    with pytest.raises(BackendRefused, match="may not issue certificates"), using(device):
        raise AssertionError(f"{product.__name__} was let in")


@pytest.mark.parametrize("spoiled", [np.nan, np.inf, -np.inf, 1e300])
def test_a_device_that_breaks_after_its_probe_makes_no_false_answer(spoiled: float) -> None:
    device = SimulatedDevice()
    definite, indefinite = np.diag([3.0, 2.0, 1.0]) + 0.1, np.array([[1.0, 2.0, 0], [2.0, 1.0, 0], [0, 0, 1.0]])
    turning = np.array([[0.0, -1.0, 0], [1.0, 0.0, 0], [0, 0, 0.5]])
    with using(device):
        device.product = lambda a, b: np.full((a.shape[0], b.shape[1]), spoiled)  # type: ignore[method-assign]
        assert certify("positive-definite", definite) != "fails"
        assert certify("positive-definite", indefinite) != "holds"
        assert certify("dominant-modulus", turning) != "holds"
        assert certify("nonsingular", indefinite) != "fails"
        device.product = lambda a, b: np.zeros(1)  # type: ignore[method-assign]
        with pytest.raises(BackendRefused, match="product of shape"):
            multiply(definite, definite)


def test_large_products_are_probed_where_a_device_has_a_routine_for_them() -> None:
    class TwoRoutines(SimulatedDevice):
        def product(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return np.asarray(
                a @ b if len(a) < 200 else (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float64)
            )

    with pytest.raises(BackendRefused), using(TwoRoutines(least=64**3)):
        raise AssertionError("a large product in single precision was let in")


def test_slices_are_exact_where_digits_end_and_numpy_elsewhere() -> None:
    rng = np.random.default_rng(11)
    a, b = rng.integers(-(2**40), 2**40, (4, 600)).astype(float), rng.integers(-(2**40), 2**40, (600, 3)).astype(float)
    truth = exact(a) * exact(b)
    found = sliced(a, b, np.matmul)
    assert all(found[i, j] == float(truth[i, j].p) for i in range(4) for j in range(3))
    wide = np.array([[1.0, 2.0**-300]])
    assert float(sliced(wide, np.ones((2, 1)), np.matmul)[0, 0]) == 1.0


def plain(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(a.astype(np.int64) @ b.astype(np.int64))


@pytest.mark.parametrize("integers", [plain, TorchDevice("cpu", "int8").integers, SimulatedDevice(6).integers])
@pytest.mark.parametrize("spread", [0, 8, 60])
@pytest.mark.parametrize("inner", [1, 2, 37, 300])
def test_slices_of_integers_keep_to_the_bound_in_every_entry(integers: Any, spread: int, inner: int) -> None:
    """Also where levels are left out, and where entries cancel; zero rows and columns among them."""
    rng = np.random.default_rng(inner + spread)
    a = np.ldexp(rng.standard_normal((4, inner)), rng.integers(-spread, spread + 1, (4, inner)))
    b = np.ldexp(rng.standard_normal((inner, 3)), rng.integers(-spread, spread + 1, (inner, 3)))
    a[1] = 0.0
    if inner > 2:
        half = inner // 2
        a[:, half : 2 * half], b[half : 2 * half] = a[:, :half], -b[:half] * (1 + 2.0**-30)
    found = sliced_in_integers(a, b, integers)
    truth, sizes = exact(a) * exact(b), exact(np.abs(a)) * exact(np.abs(b))
    for i in range(4):
        for j in range(3):
            error = abs(flint.fmpq(*float(found[i, j]).as_integer_ratio()) - truth[i, j])
            assert error <= sizes[i, j] * inner * flint.fmpq(1, 2**53)


def test_levels_are_left_out_where_that_is_shown_not_to_matter() -> None:
    asked: list[int] = []

    def counted(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        asked.append(a.shape[1])
        return plain(a, b)

    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((20, 64)), rng.standard_normal((64, 20))
    sliced_in_integers(a, b, counted)
    dense = len(asked)
    b[:, 0] = np.ldexp(b[:, 0], np.where(np.arange(64) % 2, 0, -40))  # what is left out might be all of some entry
    a[:, 1::2] = np.ldexp(a[:, 1::2], -40)
    asked.clear()
    sliced_in_integers(a, b, counted)
    assert dense == 10 and len(asked) == 30  # the leading digits, and 9 levels of 18, or all 29


def test_integers_that_saturate_or_wrap_are_found_out() -> None:
    assert exact_in_integers(plain) and exact_in_integers(SimulatedDevice(1).integers)
    assert exact_in_integers(TorchDevice("cpu", "int8").integers)
    assert not exact_in_integers(SimulatedDevice(spoil=True).integers)
    assert not exact_in_integers(lambda a, b: plain(a, b).astype(np.int16))
    assert not exact_in_integers(lambda a, b: np.asarray(a.astype(np.float32) @ b.astype(np.float32)).astype(np.int64))

    def not_here(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        raise NotImplementedError("_int_mm is not on this device")

    assert not exact_in_integers(not_here)
    with pytest.raises(BackendRefused), using(SimulatedIntegers(spoil=True)):
        raise AssertionError("sums in 16 bits were let in")


def test_the_quickest_exact_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert quickest("cpu", ("",), 64) == TorchDevice("cpu")
    assert quickest("cpu", ("float32", "int8"), 64).digits in ("float32", "int8")
    spent = {"": 0.02, "int8": 0.0}
    monkeypatch.setattr(TorchDevice, "product", lambda self, a, b: time.sleep(spent[self.digits]))
    assert quickest("cpu", ("", "int8"), 8).digits == "int8"
    monkeypatch.setattr(devices, "exact_in_integers", lambda _: False)
    assert quickest("cpu", ("", "int8"), 8).digits == ""


def test_devices_that_are_not_here_are_named() -> None:
    assert arithmetic_of("cpu") is NUMPY
    for wrong in ("gpu", "cuda:x", "mps:1"):
        with pytest.raises(MatrixError, match="device must be one of"):
            arithmetic_of(wrong)
    if not torch.cuda.is_available():
        assert arithmetic_of("auto") is NUMPY or torch.backends.mps.is_available()
        with pytest.raises(MatrixError, match="not on this machine: torch sees cpu"):
            et.certify("positive-definite", np.eye(2), device="cuda")
        with pytest.raises(ValueError, match="not on this machine"):
            et.simulate("oja-map", n=3, d=2, device="cuda")
    assert et.certify("positive-definite", np.eye(2), device="auto") == "holds"
    assert et.simulate("oja-map", n=3, d=2, end=3, device="cpu").settings["device"] == "cpu"


def test_check_forms_its_products_where_it_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    device = SimulatedDevice(4)
    monkeypatch.setattr(devices, "arithmetic_of", lambda name: device if name == "simulated" else NUMPY)
    layer = torch.nn.TransformerEncoderLayer(8, 2, dim_feedforward=8, batch_first=True)
    here, there = (
        et.check(layer, statements=["PM-L4"], sequences=0, work=tmp_path, device=name) for name in ("cpu", "simulated")
    )
    assert device.asked > 0
    answers = [
        [(each["name"], each["verdict"]["verdict"]) for each in _conditions(report.as_dict())]
        for report in (here, there)
    ]
    assert answers[0] == answers[1] != []


def _conditions(found: object) -> list[dict[str, Any]]:
    """Every verdict of a report, wherever it stands, with the name of where it stands."""
    if isinstance(found, dict):
        own = [{"name": name, "verdict": value} for name, value in found.items() if _is_verdict(value)]
        return own + [each for value in found.values() for each in _conditions(value)]
    return [each for value in found for each in _conditions(value)] if isinstance(found, list) else []


def _is_verdict(value: object) -> bool:
    return isinstance(value, dict) and "verdict" in value


def test_the_command_names_the_device(tmp_path: Path) -> None:
    path = f"{tmp_path}/a.npy"
    np.save(path, np.eye(3))
    assert "holds" in here("certify", "positive-definite", path, "--device", "auto").stdout
    assert "backend probe" in here("doctor").stdout
