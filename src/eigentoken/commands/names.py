"""Names that a shell completes: read from files and light modules, so that a press of the tab key costs no sympy."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.resources import files
from typing import Annotated

import typer

__all__ = [
    "DeviceOption",
    "conditions",
    "formats",
    "models",
    "recipes",
    "schemas",
    "statement_ids",
    "styles",
    "systems",
]


def _starting(known: Iterable[str], begun: str) -> list[str]:
    return [each for each in known if each.startswith(begun)]


def devices(incomplete: str) -> list[str]:
    return _starting(("cpu", "cuda", "mps", "auto"), incomplete)


#: Where large products are formed: an option of several commands.
DeviceOption = Annotated[
    str, typer.Option(help="Where large products are formed: cpu, cuda, mps or auto.", autocompletion=devices)
]


def statement_ids(incomplete: str) -> list[str]:
    """The ids in the ledger of the package (its own statements, each of which is recorded there)."""
    return _starting(json.loads(files("eigentoken.proofs").joinpath("ledger.json").read_text()), incomplete)


def systems(incomplete: str) -> list[str]:
    from eigentoken.theory.systems.catalogue import POSITIONAL, SYSTEMS, systems

    try:
        known = [name for name in systems() if name not in POSITIONAL]
    except ValueError:  # a package that is broken: its names are not completed, and the command says so
        known = list(SYSTEMS)
    return _starting(known, incomplete)


def conditions(incomplete: str) -> list[str]:
    from eigentoken.numerics.certified.condition_names import CONDITIONS

    return _starting(CONDITIONS, incomplete)


def models(incomplete: str) -> list[str]:
    """The samples; for a path the shell's own completion has nothing to add here."""
    from eigentoken.models.loading.samples import SAMPLES

    return _starting((f"sample:{each.name}" for each in SAMPLES), incomplete)


def recipes(incomplete: str) -> list[str]:
    """The names that the recipes are registered by, read from their text: their modules would load torch."""
    import re

    folder = files("eigentoken.numerics") / "experiments"
    texts = [each.read_text(encoding="utf-8") for each in folder.iterdir() if each.name.endswith(".py")]
    return _starting(
        sorted(name for text in texts for name in re.findall(r'^@recipe\(\s*"([^"]+)"', text, re.M)), incomplete
    )


def styles(incomplete: str) -> list[str]:
    from eigentoken.numerics.dynamics.figure_styles import STYLES

    return _starting(STYLES, incomplete)


def formats(incomplete: str) -> list[str]:
    """Formats of a derivation; several are joined by commas, and the last of them is completed."""
    from eigentoken.output import FORMATS

    chosen, comma, begun = incomplete.rpartition(",")
    return [f"{chosen}{comma}{each}" for each in _starting(FORMATS, begun) if each not in chosen.split(",")]


def schemas(incomplete: str) -> list[str]:
    from eigentoken.schemas import names

    return _starting(names(), incomplete)
