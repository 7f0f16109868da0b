"""Torch files with objects of other programs: the tensors beside them are read, and nothing of them is imported or run."""

from __future__ import annotations

import argparse
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.models import load
from eigentoken.models.formats.stand_ins import stand_ins
from eigentoken.models.formats.torch_pickle import TorchPickleStore

from .spoiled import gpt2_tensors, read_all, refused

torch = pytest.importorskip("torch")


class Options:
    """An object of a program that the reader does not have."""

    def __init__(self, width: int) -> None:
        self.width = width


class Runs:
    """Asks for a function when it is unpickled."""

    def __init__(self, function: Callable[..., Any], *given: object) -> None:
        self.asked = (function, given)

    def __reduce__(self) -> Any:
        return self.asked


@pytest.fixture
def gone() -> Iterator[types.ModuleType]:
    """A module that is there while the file is written, and not when it is read."""
    module = types.ModuleType("a_program_of_others")
    Options.__module__ = module.__name__
    module.Options = Options  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    yield module
    sys.modules.pop(module.__name__, None)
    Options.__module__ = __name__


def tensors() -> dict[str, Any]:
    return {name: torch.from_numpy(array) for name, array in gpt2_tensors().items()}


def same_as_the_file(folder: Path) -> bool:
    return np.array_equal(load(folder).layer(1).output_matrix(), gpt2_tensors()["h.1.attn.c_proj.weight"].T)


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize(
    "wrapped",
    [
        lambda made: {"model": made, "args": argparse.Namespace(lr=0.1, layers=[1, 2])},
        lambda made: {"state_dict": made, "config": Options(4), "best": np.float64(0.5), "place": Path("x")},
        lambda made: (made, None, {"options": Options(8)}),
        lambda made: [{"module." + name: each for name, each in made.items()}, {"state": {0: 1}}],
        lambda made: {"state_dict": ({"epoch": 3}, made)},
    ],
)
def test_the_weights_beside_options_of_a_program_are_read(
    wrapped: Any, legacy: bool, gone: types.ModuleType, folder: Path
) -> None:
    (folder / "model.safetensors").unlink()
    torch.save(wrapped(tensors()), folder / "pytorch_model.bin", _use_new_zipfile_serialization=not legacy)
    del sys.modules[gone.__name__]
    read_all(folder)
    assert same_as_the_file(folder)
    assert gone.__name__ not in sys.modules


def nested(made: dict[str, Any]) -> Any:
    """Modules inside one another whose state dict is this."""
    top = torch.nn.Module()
    for name, value in made.items():
        *path, last = name.split(".")
        at = top
        for part in path:
            if part not in at._modules:
                at.add_module(part, torch.nn.Module())
            at = at._modules[part]
        at.register_parameter(last, torch.nn.Parameter(value))
    top.register_buffer("kept", torch.ones(2))
    top.register_buffer("left_out", torch.ones(2), persistent=False)
    return top


@pytest.mark.parametrize("wrapped", [lambda made: made, lambda made: {"model": made, "epoch": 1}])
def test_a_pickled_module_is_read_by_its_parameters(wrapped: Any, folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    module = nested(tensors())
    torch.save(wrapped(module), folder / "model.pt")
    assert same_as_the_file(folder)
    assert set(TorchPickleStore(folder / "model.pt").infos) == set(module.state_dict())
    torch.save(wrapped(module), folder / "model.pt", _use_new_zipfile_serialization=False)  # with its source text
    refused(folder, "save the weights alone")


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize(
    "name", ["builtins.eval", "subprocess.check_call", "shutil.rmtree", "importlib.import_module", "runpy.run_path"]
)
def test_a_function_of_the_standard_library_is_refused(name: str, legacy: bool, folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    module, _, attribute = name.rpartition(".")
    function = getattr(__import__(module), attribute)
    torch.save(tensors() | {"x": Runs(function, "nothing")}, folder / "a.pt", _use_new_zipfile_serialization=not legacy)
    refused(folder, "asks to run", attribute, "nothing was executed")


def test_a_module_inside_itself_ends(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "model.safetensors").unlink()
    module = nested(tensors())
    module._modules["again"] = module._modules["once_more"] = module
    torch.save(module, folder / "model.pt")
    refused(folder, "inside one another")
    monkeypatch.setattr("eigentoken.models.formats.stand_ins.MOST", 30)
    refused(folder, "more than 30")


def test_a_function_of_another_package_is_not_imported(folder: Path, tmp_path: Path) -> None:
    (folder / "model.safetensors").unlink()
    mark = tmp_path / "ran"
    module = types.ModuleType("hostile_of_others")
    exec(f"def go(*given):\n    open({str(mark)!r}, 'w').close()", module.__dict__)
    sys.modules[module.__name__] = module
    try:
        torch.save(tensors() | {"x": Runs(module.go, 1)}, folder / "a.pt")
        assert same_as_the_file(folder)
    finally:
        del sys.modules[module.__name__]
    assert not mark.exists()


def test_a_program_of_torchscript_is_named(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), str(folder / "model.pt"))
    refused(folder, "TorchScript", "torch.jit.load(FILE).state_dict()")


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")  # torch's own exporter
def test_a_program_of_torch_package_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may hold TorchScript, which torch.jit.load does not find in it; what the refusal says to do gives the weights."""
    monkeypatch.setattr("torch.package.package_exporter._gate_torchscript_serialization", False)
    (folder / "model.safetensors").unlink()
    for made in (torch.jit.script(torch.nn.Linear(2, 2)), torch.nn.Linear(2, 2)):
        with torch.package.PackageExporter(str(folder / "model.pt")) as exporter:
            exporter.extern("**")
            exporter.save_pickle("kept", "model.pkl", made)
        refused(
            folder, "a program of torch.package", "PackageImporter(FILE).load_pickle(PACKAGE, RESOURCE).state_dict()"
        )
        again = torch.package.PackageImporter(str(folder / "model.pt")).load_pickle("kept", "model.pkl")
        assert set(again.state_dict()) == {"weight", "bias"}


def test_nothing_of_ours_stays_in_the_list_of_torch(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save({"model": tensors(), "args": argparse.Namespace(lr=0.1)}, folder / "a.pt")
    before = set(torch.serialization.get_safe_globals())
    (found,) = stand_ins(folder / "a.pt", is_zip=True)
    assert isinstance(found, tuple) and found[1] == "argparse.Namespace"
    read_all(folder)
    assert set(torch.serialization.get_safe_globals()) == before
