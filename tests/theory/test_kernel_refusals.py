"""Rule by refusal: every line of the kernel's rules that refuses is reached by a use in the lists of ``test_kernel_rules``.

The table is read off the rules, never typed: a rule that refuses for a new reason fails here until a use shows the refusal.
"""

from __future__ import annotations

import ast
import traceback
from functools import lru_cache
from pathlib import Path

import pytest

from eigentoken.theory.kernel.proved import Refused
from tests.theory.test_kernel_rules import GIVES, REFUSES
from tests.theory.test_kernel_tree import KERNEL, PROGRAMS, calls, derived_rules

#: What every rule shares: refused in one place, asked for by each rule that uses it.
SHARED = {
    "joined": "system",
    "check_sort": "wrong instance",
    "_arbitrary": "letter captured",
    "for_each_ell": "one index for all",
}
#: Refusals that no system of the catalogue reaches: what the linearization engine could answer for another system.
UNREACHED = {
    "stability_of_any": ("not of the kind that is read here", "no function of the real part"),
    "antipodal_rest": ("does not show that",),
}


PATHS = tuple(sorted(KERNEL.glob("*.py")))


@lru_cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@lru_cache
def functions(path: Path) -> tuple[ast.FunctionDef, ...]:
    return tuple(each for each in ast.walk(parsed(path)) if isinstance(each, ast.FunctionDef))


@lru_cache
def rules_of(path: Path) -> frozenset[str]:
    """The rules that a file of the kernel has, or one of the programs of rules."""
    if path.stem in PROGRAMS:
        return frozenset(each.name for each in functions(path)) & derived_rules()
    return frozenset(calls(parsed(path)))


def rule_called(rule: str) -> ast.FunctionDef | None:
    for path in PATHS:
        for function in functions(path):
            if function.name == rule and rule in rules_of(path):
                return function
    return None


def refusals() -> dict[tuple[str, int, int], str]:
    """The first and last line of every ``raise Refused(...)`` inside a rule, by file, with the name of the rule."""
    found = {}
    for path in PATHS:
        rules = rules_of(path) & set(GIVES)
        for function in functions(path):
            for node in ast.walk(function):
                if function.name in rules and isinstance(node, ast.Raise) and "Refused" in ast.unparse(node):
                    found[path.name, node.lineno, node.end_lineno or node.lineno] = function.name
    return found


@lru_cache
def reached() -> dict[str, set[tuple[str, int]]]:
    """The lines of the kernel on which each rule refused, over all its uses that are to be refused."""
    found: dict[str, set[tuple[str, int]]] = {}
    for rule, uses in REFUSES.items():
        for use, _ in uses.values():
            try:
                use()
            except (Refused, TypeError, ValueError) as refused:
                frames = traceback.extract_tb(refused.__traceback__)
                found.setdefault(rule, set()).update((Path(each.filename).name, each.lineno or 0) for each in frames)
    return found


def test_every_refusal_of_a_rule_is_shown() -> None:
    lines = set().union(*reached().values())
    wanted = refusals()
    assert len(wanted) > 100
    missing = []
    for (name, first, last), rule in wanted.items():
        shown = any((name, line) in lines for line in range(first, last + 1))
        text = "".join((KERNEL / name).read_text(encoding="utf-8").splitlines()[first - 1 : last])
        allowed = any(words in text for words in UNREACHED.get(rule, ()))
        if shown == allowed:  # not shown, or shown although it is said that it cannot be
            missing.append(f"{rule}: {name}:{first}")
    assert missing == []


def shared_by(rule: str) -> set[str]:
    """The checks of other functions that a rule asks for."""
    function = rule_called(rule)
    assert function is not None, f"{rule} is not there"
    asked = (each for each in ast.walk(function) if isinstance(each, ast.Call))
    return {each.func.id for each in asked if isinstance(each.func, ast.Name)} & set(SHARED)


def may_be_about_two_systems(rule: str) -> bool:
    """Can two of its premises, or a premise and its system, be about different systems?  With one premise alone they cannot."""
    function = rule_called(rule)
    assert function is not None, f"{rule} is not there"
    arguments = [*function.args.args, *function.args.kwonlyargs, *filter(None, [function.args.vararg])]
    told = [ast.unparse(each.annotation) for each in arguments if each.annotation]
    several = function.args.vararg is not None or any("Iterable" in each or "tuple" in each for each in told)
    return several or sum("Proved" in each or "System" in each for each in told) > 1


@lru_cache
def lines_of_shared() -> dict[str, tuple[str, range]]:
    """Where each of the shared checks stands: its file and its lines."""
    return {
        function.name: (path.name, range(function.lineno, (function.end_lineno or 0) + 1))
        for path in sorted(KERNEL.glob("*.py"))
        for function in functions(path)
        if function.name in SHARED
    }


@pytest.mark.parametrize("rule", sorted(GIVES))
def test_what_rules_share_is_refused_by_each(rule: str) -> None:
    """A premise of another system, a value of another sort, a letter that is not arbitrary, a premise about one index."""
    used = shared_by(rule)
    if "joined" in used and not may_be_about_two_systems(rule):
        used.discard("joined")
    for name in used:
        file, lines = lines_of_shared()[name]
        assert any(at == file and line in lines for at, line in reached().get(rule, ())), (
            f"{rule}: no use for {SHARED[name]}"
        )
