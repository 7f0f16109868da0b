"""A wrong call in one line: what is wrong, what was meant, and where the help is."""

from __future__ import annotations

import re
from typing import Any

from eigentoken.theory.systems.suggestions import meant

__all__ = ["usage_line"]

#: The bounds of a number, as the validator calls them and as a reader does.
_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
_KINDS = {"int": "a whole number", "float": "a number", "bool": "yes or no"}


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
        known = context.command.list_commands(context)
        return f"unknown command {command[1]!r}: {meant(command[1], known)}"
    if hasattr(problem, "possibilities"):
        return _unknown_option(str(problem.option_name), context)
    if hasattr(problem, "param_type") and parameter is not None:
        said = getattr(parameter, "help", None)
        return f"{_called(parameter)} is missing" + (f": {said.rstrip('.')}" if said else "")
    errors = getattr(problem.__cause__, "errors", None)
    if parameter is not None and errors is not None:
        return _bad_value(_called(parameter), errors()[0])
    if hasattr(problem, "option_name"):
        return f"{problem.option_name} needs a value"
    extra = re.match(r"Got unexpected extra argument\(?s?\)? \((.*)\)", text)
    if extra is not None:
        return f"one argument too many: {extra[1]}"
    return text[:1].lower() + text[1:].rstrip(".")


def _unknown_option(name: str, context: Any) -> str:
    if context is None:
        return f"unknown option {name}"
    known = [each for parameter in context.command.params for each in parameter.opts if each.startswith("--")]
    return f"unknown option {name}: {meant(name, known, 'the help lists them')}"


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
