"""A wrong call in one line: what is wrong, what was meant, and where the help is."""

from __future__ import annotations

import re
from typing import Any, Protocol, runtime_checkable

from eigentoken.theory.systems.suggestions import meant, nearest

__all__ = ["UsageError", "usage_line"]

#: The bounds of a number, as the validator calls them and as a reader does.
_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
_KINDS = {"int": "a whole number", "float": "a number", "bool": "yes or no"}
#: The same as the parser of typer before 0.29 writes it: ``3<=x<8``, ``x>=1``; ``'x' is not a valid float``.
_NOT_IN_RANGE = re.compile(
    r"(?P<got>\S+) is not in the range (?:(?P<low>[^<x]+)(?P<above><=?))?x(?:(?P<sign>[<>]=?)(?P<limit>.+?))?\.?"
)
_NOT_OF_KIND = re.compile(r"(?P<got>'.*') is not a valid (?P<kind>int|float|bool)\w*(?: range)?\.?", re.S)
_SIGNS = {">=": "at least", ">": "above", "<=": "at most", "<": "below"}


@runtime_checkable
class UsageError(Protocol):
    """An error of the parser of the command line: typer's, or click's under an older typer, known by what it can say."""

    def format_message(self) -> str:
        """What is wrong, as the parser says it."""


def usage_line(problem: Any, path: str = "eigentoken") -> str:
    """The line for an error of the parser (typer's, known by its attributes: it exports no classes for them).

    ``path`` is the command, for the errors that do not know where they arose.
    """
    context = getattr(problem, "ctx", None)
    return f"{_said(problem, context)} (try: {path if context is None else context.command_path} --help)"


def _said(problem: Any, context: Any) -> str:
    text = str(problem.format_message())
    parameter = getattr(problem, "param", None)
    command = re.match(r"No such command '(.*?)'", text)
    if command is not None and context is not None:
        from eigentoken.commands.help_page import MEANT

        known = context.command.list_commands(context)
        wanted = (
            f"you may want `{MEANT[command[1]]}`"
            if command[1] in MEANT
            else meant(command[1], known, "the help lists them")
        )
        return f"unknown command {command[1]!r}: {wanted}"
    if hasattr(problem, "possibilities"):
        return _unknown_option(str(problem.option_name), context)
    if hasattr(problem, "param_type") and parameter is not None:
        said = getattr(parameter, "help", None)
        return f"{_called(parameter)} is missing" + (f": {said.rstrip('.')}" if said else "")
    errors = getattr(problem.__cause__, "errors", None)
    if parameter is not None and errors is not None:
        return _bad_value(_called(parameter), errors()[0])
    said = _bad_text(_called(parameter), str(getattr(problem, "message", ""))) if parameter is not None else None
    if said is not None:
        return said
    if hasattr(problem, "option_name"):
        return f"{problem.option_name} needs a value"
    extra = re.match(r"Got unexpected extra argument\(?s?\)? \((.*)\)", text)
    if extra is not None:
        searches = context is not None and any("--search" in each.opts for each in context.command.params)
        return f"one argument too many: {extra[1]}" + (f": did you mean --search {extra[1]}?" if searches else "")
    return text[:1].lower() + text[1:].rstrip(".")


def _unknown_option(name: str, context: Any) -> str:
    if context is None:
        return f"unknown option {name}"
    words = [each[2:] for parameter in context.command.params for each in parameter.opts if each.startswith("--")]
    near = nearest(name.lstrip("-"), words) if len(name.lstrip("-")) > 1 else []
    said = f"did you mean {' or '.join(f'--{each}' for each in near)}?" if near else "the help lists them"
    return f"unknown option {name}: {said}"


def _called(parameter: Any) -> str:
    """``--n`` for an option, the name that the help uses for an argument."""
    options = [str(each) for each in parameter.opts if str(each).startswith("--")]
    return options[0] if options else str(parameter.metavar or parameter.name)


def _bad_value(name: str, error: dict[str, Any]) -> str:
    kind, _, what = str(error["type"]).partition("_")
    limits = {word: error.get("ctx", {}).get(key) for key, word in _BOUNDS.items()}
    limit = next((f"{word} {value}" for word, value in limits.items() if value is not None), None)
    if limit is not None:
        return f"{name} must be {limit}, got {error['input']}"
    if what.startswith(("parsing", "type", "from")) and kind in _KINDS:
        return f"{name} must be {_KINDS[kind]}, got {error['input']!r}"
    return f"{name}: {error['msg']}, got {error['input']!r}"


def _bad_text(name: str, text: str) -> str | None:
    """The same from the sentence of an older parser; ``None`` where it is another sentence.

    >>> _bad_text("--n", "0 is not in the range x>=1."), _bad_text("--n", "9 is not in the range 1<=x<=5.")
    ('--n must be at least 1, got 0', '--n must be at most 5, got 9')
    >>> _bad_text("--alpha", "'x' is not a valid float.")
    "--alpha must be a number, got 'x'"
    """
    kind = _NOT_OF_KIND.fullmatch(text)
    if kind is not None:
        return f"{name} must be {_KINDS[kind['kind']]}, got {kind['got']}"
    found = _NOT_IN_RANGE.fullmatch(text)
    if found is None:
        return None
    bounds = [(_SIGNS[found["sign"]], found["limit"])] if found["sign"] else []
    if found["above"] and (float(found["got"]) < float(found["low"]) or not bounds):
        bounds = [("at least" if found["above"] == "<=" else "above", found["low"])]
    return f"{name} must be {bounds[0][0]} {bounds[0][1]}, got {found['got']}"
