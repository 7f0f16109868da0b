"""Settings for all tests: Hypothesis profiles, one BLAS thread, no network; a test that needs a tool is skipped without it."""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Generator
from functools import cache
from pathlib import Path
from types import ModuleType

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import pytest
import typer.testing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

#: Set where the cache of this run has been made: the workers are given it by the process that begins them.
OWN_CACHE = "EIGENTOKEN_CACHE_OF_THE_TESTS"


def _begin_with_an_empty_cache() -> str:
    """What `check` keeps is of this run alone: what an earlier one kept may hide what this one would find. Samples are shared."""
    from eigentoken.files.installed import cache_folder

    samples = cache_folder() / "samples"
    samples.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="eigentoken-tests-"))
    (folder / "samples").symlink_to(samples.resolve(), target_is_directory=True)
    os.environ["EIGENTOKEN_CACHE"] = os.environ[OWN_CACHE] = str(folder)
    return str(folder)


MADE_HERE = None if OWN_CACHE in os.environ else _begin_with_an_empty_cache()


def pytest_unconfigure() -> None:
    """The process that made the cache takes it away."""
    if MADE_HERE:
        shutil.rmtree(MADE_HERE, ignore_errors=True)


gc.disable()  # until all tests are collected: what is imported by then stays, and looking through it frees nothing

#: ``CliRunner`` reads the options of all commands from their functions: once for all tests, as a process does.
typer.testing._get_command = cache(typer.testing._get_command)

settings.register_profile("ci", derandomize=True, database=None, deadline=None, max_examples=50)
settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile(
    "deep", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def _hide_tools() -> ModuleType:
    """``tools/hide_tools.py``, which says what each ``needs_*`` marker stands for."""
    place = Path(__file__).resolve().parents[1] / "tools" / "hide_tools.py"
    spec = importlib.util.spec_from_file_location("eigentoken_tools_hide_tools", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOLS = _hide_tools()
PROOFS = Path(__file__).resolve().parent / "proofs"


def pytest_collection_finish() -> None:
    """What the libraries and the tests have made by now stays: the collector need not look at it again and again.

    At its first example Hypothesis (6.100) asks the collector who holds its random numbers, so it has one before.
    """
    given(st.none())(lambda _: None)()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test marked ``needs_*`` is skipped, with the reason, where its tool is not on the PATH.

    What reads the proofs of the whole book stands before the tests of the proofs: one worker makes them for all.
    """
    book = [item for item in items if item.get_closest_marker("whole_book")]
    rest = [item for item in items if not item.get_closest_marker("whole_book")]
    first = next((index for index, item in enumerate(rest) if item.path.is_relative_to(PROOFS)), len(rest))
    items[:] = [*rest[:first], *book, *rest[first:]]
    absent = {marker: tool for marker in TOOLS.NEEDED if (tool := TOOLS.missing(marker))}
    for item in items:
        for marker, tool in absent.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=f"{tool} is not on the PATH ({marker})"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """The gate runs the suite with all these tools hidden (``tools/hide_tools.py``); a marked test has them back.

    So a test that uses a tool and does not say so by its marker fails there.
    """
    hidden = os.environ["PATH"]
    if any(item.get_closest_marker(marker) for marker in TOOLS.NEEDED):
        os.environ["PATH"] = TOOLS.whole_path()
    try:
        return (yield)
    finally:
        os.environ["PATH"] = hidden
