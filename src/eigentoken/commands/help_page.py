"""The help: commands by the job they are for, options with words a reader knows, and one example that can be copied.

On a terminal in panels (typer's, drawn by rich); into a pipe as plain lines.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer
import typer.main

__all__ = ["JOBS", "MEANT", "helpful", "wants_help"]

#: The panels of the help, in order, with their commands.
JOBS: dict[str, tuple[str, ...]] = {
    "Check a model": ("check", "compare", "nearest", "chance", "steer", "models"),
    "Statements and derivations": ("statements", "show", "derive", "verify", "atlas"),
    "Test a conjecture": ("refute", "strengthen", "attempt", "explore", "conjecture"),
    "Points, spectra and trajectories": ("classify", "spectrum", "basin", "simulate", "reproduce"),
    "Certificates and this machine": ("certify", "recheck", "schemas", "doctor"),
}
#: What else people call a command, with what they mean.
MEANT: dict[str, str] = {
    "help": "eigentoken --help",
    "version": "eigentoken --version",
    "list": "eigentoken statements",
    "search": "eigentoken statements --search WORDS",
    "theorems": "eigentoken statements",
    "errata": "eigentoken derive --errata",
    "book": "eigentoken derive --all",
    "prove": "eigentoken derive ID",
    "print": "eigentoken derive ID",
    "pdf": "eigentoken derive ID --format pdf -o FILE",
    "test": "eigentoken refute FILE.py",
    "attack": "eigentoken refute FILE.py",
    "sharpen": "eigentoken strengthen FILE.py",
    "propose": "eigentoken explore SYSTEM",
    "conjectures": "eigentoken conjecture new FILE.py",
    "new": "eigentoken conjecture new FILE.py",
    "report": "eigentoken check MODEL --html report.html",
    "analyze": "eigentoken check MODEL",
    "analyse": "eigentoken check MODEL",
    "diff": "eigentoken compare MODEL MODEL",
    "samples": "eigentoken models",
    "eigenvalues": "eigentoken spectrum SYSTEM",
    "run": "eigentoken simulate SYSTEM",
    "animate": "eigentoken simulate SYSTEM --animate tokens.html",
    "figures": "eigentoken reproduce --list",
    "site": "eigentoken atlas",
    "schema": "eigentoken schemas",
}
FIRST = "Try first: eigentoken check sample:rxnmapper --html report.html"
_WORDS: dict[object, str] = {int: "N", float: "X", str: "TEXT", Path: "PATH"}


def wants_help(arguments: list[str]) -> bool:
    """Is the help asked for (also by giving nothing at all)?

    >>> wants_help(["check", "-h"]), wants_help([]), wants_help(["check", "--", "-h"])
    (True, True, False)
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return not arguments or bool({"-h", "--help"} & set(arguments[:end]))


def helpful(app: typer.Typer) -> Callable[..., object]:
    """The commands of ``app`` for their help: in panels on a terminal, and by jobs."""
    app.rich_markup_mode = "rich" if sys.stdout.isatty() else None
    group: Any = typer.main.get_command(app)
    panels = {name: job for job, listed in JOBS.items() for name in listed}
    group.commands = {name: group.commands[name] for name in panels}
    for name, command in group.commands.items():
        command.rich_help_panel = panels[name]
        for each in (command, *getattr(command, "commands", {}).values()):
            _tell(each)
    group.epilog = FIRST
    _without_types(group)
    made: Callable[..., object] = group
    return made


def _tell(command: Any) -> None:
    """The example at the end, paragraphs that are not broken twice, and for each option what is put there."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    lines = [line for paragraph in paragraphs for line in [*paragraph.split("\n"), ""]]
    example = next((line for line in lines if line.startswith("Example: ")), None)
    told = "\n".join(line for line in lines if line is not example).strip()
    command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in told.split("\n\n") if paragraph.strip())
    command.epilog = example
    hints = {} if command.callback is None else get_type_hints(inspect.unwrap(command.callback))
    for parameter in command.params:
        if parameter.metavar is None:
            parameter.metavar = next(
                (_WORDS[each] for each in _parts(hints.get(parameter.name)) if each in _WORDS), None
            )
    _without_types(command)


def _parts(hint: object) -> list[object]:
    """The types that a hint is made of: of ``list[str] | None`` also ``str``."""
    return [hint, *(part for each in get_args(hint) for part in _parts(each))]


def _without_types(command: Any) -> None:
    """A switch takes nothing, and an argument is named already: newer typers write ``<bool>`` and ``<str>`` beside them."""
    listed = command.get_params

    def told(context: Any) -> list[Any]:
        found: list[Any] = listed(context)
        for parameter in found:
            bare = getattr(parameter, "is_flag", False) or not str(parameter.opts[0]).startswith("-")
            said = None if bare else parameter.metavar
            parameter.display_type_rich = lambda ctx, said=said: said
        return found

    command.get_params = told
