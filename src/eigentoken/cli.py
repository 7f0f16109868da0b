"""The command line: commands parse, call one function, print.

Exit codes: 0 done; 1 the answer is negative (refuted, a required hypothesis fails, a re-check does not agree, a step
does not check); 2 the input is bad, with one clear line; 3 a bug of ours, with one line and the way to report it.
"""

from __future__ import annotations

import _thread
import errno
import gc
import os
import re
import sys
import threading
from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Annotated, NoReturn

import typer
import typer.main

from eigentoken.commands import basins, book, certified, dynamics, exact, lab, site, spectrum, survivors, weights
from eigentoken.commands.completion import asked_by_bash, complete_for_bash
from eigentoken.commands.help_page import helpful, wants_help
from eigentoken.files.collecting import COLLECTED_AFTER
from eigentoken.output import say_error, say_interrupted, settings
from eigentoken.usage import UsageError, usage_line

__all__ = ["app", "main"]

_REMEDIES = {
    errno.ENOENT: "check the path, and make the folder first where something is to be written",
    errno.EACCES: "choose a place that you may use",
    errno.EPERM: "choose a place that you may use",
    errno.EROFS: "choose a place that can be written",
    errno.EISDIR: "give a file, not a folder",
    errno.EEXIST: "it is in the way of a folder that is to be made, choose another place",
    errno.ENOTDIR: "choose a folder, not a file",
    errno.ENOSPC: "make room, or choose another place",
}

app = typer.Typer(
    name="eigentoken",
    help="State a result about tokens once; derive it, attack it, and check it on real weights.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for module in (book, exact, basins, spectrum, certified, weights, lab, survivors, dynamics, site):
    module.add_to(app)


def _version(wanted: bool) -> None:
    if wanted:
        from eigentoken.version import __version__

        print(f"eigentoken {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors (and JSON, if asked for).")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    settings.debug = debug
    settings.quiet = quiet


def _global_first(arguments: list[str]) -> list[str]:
    """``--quiet`` (``-q``) and ``--debug`` may stand anywhere before a ``--``; the parser wants them before the command.

    >>> _global_first(["check", "sample:rxnmapper", "--quiet"])
    ['--quiet', 'check', 'sample:rxnmapper']
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    moved = [each for each in arguments[:end] if each in ("--quiet", "-q", "--debug")]
    return moved + [each for each in arguments[:end] if each not in moved] + arguments[end:]


def _called(arguments: list[str]) -> str:
    """The command that is asked for: the first argument that is no option."""
    return next((each for each in arguments if not each.startswith("-")), "")


@cache
def _parser(called: str) -> Callable[..., object]:
    """The command with its options; all of them, where none of that name is known.

    Options are read from the functions, which for all commands takes longer than many an answer.
    """
    one = [each for each in app.registered_commands if each.name == called]
    chosen = copy(app)
    chosen.registered_commands = one or app.registered_commands
    return typer.main.get_command(chosen)


#: The code for Ctrl-C, as shells have it; and the commands that go on where they stopped.
INTERRUPTED = 128 + 2
RESUMED = ("check", "compare", "reproduce")
#: Seconds after which a Ctrl-C that Python forgot comes again.
AGAIN = 0.05


def main() -> None:
    """The entry point: bad input is one line and exit 2, never a traceback."""
    gc.set_threshold(COLLECTED_AFTER, *gc.get_threshold()[1:])
    sys.unraisablehook = _unraisable
    if asked_by_bash():
        complete_for_bash(_main)
    else:
        _main()


def _unraisable(problem: sys.UnraisableHookArgs) -> None:
    """Ctrl-C in a destructor or a weak reference's callback is printed and forgotten by Python: here it comes again, after it."""
    if issubclass(problem.exc_type, KeyboardInterrupt):
        threading.Timer(AGAIN, _thread.interrupt_main).start()
    else:
        sys.__unraisablehook__(problem)


def _main() -> None:
    settings.interrupted = False
    try:
        arguments = _global_first(sys.argv[1:])
        called = helpful(app) if wants_help(arguments) else _parser(_called(arguments))
        code = called(args=arguments, prog_name="eigentoken", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED and not settings.interrupted:  # the parser makes this number of Ctrl-C, without a word
            say_interrupted(_kept())
        sys.exit(code if isinstance(code, int) else 0)
    except BrokenPipeError:
        _unread()
    except SystemExit as ended:  # the parser and rich end with 1, our word for a negative answer
        if isinstance(ended.__context__, BrokenPipeError):
            _unread()
        raise
    except (ValueError, OSError) as problem:
        _stop(problem, 2, "error")
    except MemoryError:
        _stop(ValueError("not enough memory for this input: take a smaller one"), 2, "error")
    except KeyboardInterrupt:
        say_interrupted(_kept())
        sys.exit(INTERRUPTED)
    except Exception as problem:
        if isinstance(problem, UsageError):
            _misused(problem)
        _stop(problem, 3, "internal error (a bug of eigentoken; --debug shows where)")


def _kept() -> str:
    """What becomes of what an interrupted command had done."""
    resumed = _called(sys.argv[1:]) in RESUMED
    return "what was finished is kept; the same command, without --fresh, goes on from there" if resumed else ""


def _unread() -> NoReturn:
    """Who read our output left (``eigentoken statements | head -1``): no word, and the code that a shell gives for it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still buffered goes nowhere
    sys.exit(128 + 13)  # SIGPIPE


def _misused(problem: UsageError) -> NoReturn:
    """A wrong call is one line and exit 2; a bare ``eigentoken`` is its help."""
    text = problem.format_message()
    if not text:  # the help was drawn already
        sys.exit(2)
    if not text.startswith("Usage:"):
        known = {each.name for each in app.registered_commands}
        command = next((each for each in sys.argv[1:] if each in known), "")
        text = f"eigentoken: error: {usage_line(problem, f'eigentoken {command}'.strip())}"
    if text.startswith("Usage:"):  # the whole help, drawn by the parser
        print(text, file=sys.stderr)
    else:
        say_error(text)
    sys.exit(2)


def _stop(problem: Exception, code: int, label: str) -> None:
    if settings.debug:
        raise problem
    text = str(problem) or type(problem).__name__
    if isinstance(problem, OSError) and problem.filename is not None:
        text = f"{problem.filename}: {problem.strerror}; {_REMEDIES.get(problem.errno or 0, 'check the path')}"
    say_error(f"eigentoken: {label}: {_one_line(_with_option(text))}")
    sys.exit(code)


def _with_option(text: str) -> str:
    """A message of a function that begins with the name of an argument names the option of the command instead.

    ``seconds must be above 0`` is ``--seconds must be above 0`` where the command that was called has such an option.
    """
    found = re.match(r"(\w+)(?= must | '[^']*' is not known)", text)
    called = _called(sys.argv[1:])
    command = getattr(_parser(called), "commands", {}).get(called)
    if found is None or command is None:
        return text
    option = f"--{found[1].replace('_', '-')}"
    return option + text[found.end() :] if any(option in each.opts for each in command.params) else text


def _one_line(text: str) -> str:
    """The text on one line; what is very long (a number of 5,000 digits, a path) is cut in the middle.

    >>> len(_one_line("x" * 5000))
    1000
    """
    plain = " ".join(text.split())
    return plain if len(plain) <= 1000 else f"{plain[:600]} ... {plain[-395:]}"


if __name__ == "__main__":
    main()
