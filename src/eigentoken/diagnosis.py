"""What ``eigentoken doctor`` looks at."""

from __future__ import annotations

import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version

from eigentoken.documents.doctor_document import Check

__all__ = ["diagnose"]

NEEDED = ("sympy", "mpmath", "numpy", "scipy", "torch", "hypothesis", "networkx", "python-flint", "z3-solver", "cvc5")
OPTIONAL = ("gguf", "huggingface-hub", "transformers", "distributed", "torchdiffeq")
PROGRAMS = {
    "latexmk": "PDF of derivations (Debian: texlive-latex-base texlive-latex-recommended lmodern latexmk)",
    "coqc": "re-checking exported lemmas (Debian: coq)",
    "chromium": "browser tests of reports and atlas (Debian: chromium)",
}


def diagnose() -> list[Check]:
    """One entry a finding: name, state (``ok``, ``missing``, ``warning``), detail."""
    from eigentoken.files.installed import cache_folder
    from eigentoken.version import __version__

    found = [_entry("eigentoken", "ok", f"{__version__}, Python {platform.python_version()}, {platform.machine()}")]
    for name in NEEDED:
        found.append(_package(name, "missing"))
    for name in OPTIONAL:
        found.append(_package(name, "optional, absent"))
    found += [_devices(), *_probes()]
    for program, use in PROGRAMS.items():
        found.append(_program(program, use))
    cache = cache_folder()
    found.append(_entry("cache", "ok" if cache.exists() else "empty", f"{cache} (EIGENTOKEN_CACHE moves it)"))
    return found


def _entry(name: str, state: str, detail: str) -> Check:
    return {"name": name, "state": state, "detail": detail}


def _package(name: str, absent: str) -> Check:
    try:
        return _entry(name, "ok", version(name))
    except PackageNotFoundError:
        return _entry(name, absent, f"pip install {name}")


def _program(program: str, use: str) -> Check:
    path = shutil.which(program)
    if path is None:
        return _entry(program, "optional, absent", f"for {use}")
    ran = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
    lines = [line for line in (ran.stdout or ran.stderr).splitlines() if line.strip()]
    return _entry(program, "ok", lines[0].strip() if lines else path)


#: How a device forms products, where that is not plain float64.
WAYS = {"": "", "float32": " (of float32 digits)", "int8": " (of 8-bit integers)"}


def _devices() -> Check:
    import torch

    from eigentoken.numerics.certified.devices import present

    double = ", ".join(name for name in present() if name != "mps")
    told = f"{', '.join(present())}; {torch.get_num_threads()} torch threads; batches of refute may be looked at on {double}"
    return _entry("devices", "ok", told)


def _probes() -> list[Check]:
    """One entry a device: do its products keep to the bound that every certificate assumes?"""
    from eigentoken.numerics.certified.arithmetic import probe_device
    from eigentoken.numerics.certified.devices import arithmetic_of, present
    from eigentoken.numerics.certified.probe import probe_numpy

    found = []
    for name in present():
        arithmetic = arithmetic_of(name)
        probe = probe_numpy() if name == "cpu" else probe_device(arithmetic)
        good = probe.passed if name == "cpu" else probe.within
        told = (
            f"products{WAYS[getattr(arithmetic, 'digits', '')]} err by {probe.product_ratio:.2g} of their rounding bound "
            "(below 1 is good)"
            if good
            else str(probe)
        )
        found.append(
            _entry("backend probe" if name == "cpu" else f"probe of {name}", "ok" if good else "warning", told)
        )
    return found
