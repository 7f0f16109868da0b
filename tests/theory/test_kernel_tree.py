"""The tree is read: only rules of the kernel prove, each under its own name, and each is among those that are tested."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from eigentoken.theory.calculus import one
from eigentoken.theory.kernel import logic, structure
from eigentoken.theory.kernel.propositions import TRUE
from eigentoken.theory.kernel.proved import Refused
from tests.theory.test_kernel_rules import GIVES, REFUSES

ROOT = Path(__file__).resolve().parents[2]
KERNEL = ROOT / "theory" / "kernel"
#: Programs of rules: rules that follow from others, and prove nothing themselves.
PROGRAMS = ("kernel", "quantities")
#: What of :mod:`.kernel` is one: the rest gathers the rules and accepts.
BY_CONNECTIVES = ("cases", "conjunction", "iff", "modus_ponens", "part")


def files() -> Iterator[Path]:
    for room in ("theory", "numerics", "models", "proofs", "src", "tests", "tools", "benchmarks", "examples", "docs"):
        for path in sorted((ROOT / room).rglob("*.py")):
            if not any(parent.is_symlink() for parent in path.parents):
                yield path


def calls(tree: ast.AST) -> set[str]:
    """The functions (``Class.name`` for methods) in which ``prove`` is called."""
    found: set[str] = set()

    def walk(node: ast.AST, inside: str) -> None:
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.FunctionDef | ast.ClassDef)
            here = f"{inside}.{child.name}".strip(".") if named else inside  # type: ignore[attr-defined]
            if isinstance(child, ast.Call) and getattr(child.func, "id", getattr(child.func, "attr", "")) == "prove":
                found.add(inside)
            walk(child, here)

    walk(tree, "")
    return found


def derived_rules() -> set[str]:
    """The rules that are programs of others: what the modules of the derived ones give out."""
    found: set[str] = set()
    for path in (KERNEL / f"{name}.py" for name in PROGRAMS):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                listed = set(ast.literal_eval(node.value))
                found |= listed if path.stem != "kernel" else listed & set(BY_CONNECTIVES)
    return found


def test_every_function_that_proves_is_a_rule_of_the_list() -> None:
    found: dict[str, str] = {}
    for path in sorted(KERNEL.glob("*.py")):
        for name in calls(ast.parse(path.read_text(encoding="utf-8"))):
            found[name] = path.name
    assert found.pop("Proved.said") == "proved.py"
    assert not set(found) & derived_rules()
    assert set(found) | derived_rules() == set(GIVES) == set(REFUSES)
    assert all(REFUSES.values())


#: Rules that sign with one of a few names, under which they are printed; nothing that is asked of a proof depends on these.
NAMED = {"tautology": logic.CONNECTIVES, "reduction": structure.REDUCTIONS}


def test_a_rule_signs_with_its_own_name() -> None:
    seen = set()
    for path in sorted(KERNEL.glob("*.py")):
        for function in (
            each for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(each, ast.FunctionDef)
        ):
            for call in (each for each in ast.walk(function) if isinstance(each, ast.Call)):
                if getattr(call.func, "id", "") == "prove" and function.name != "said":
                    if function.name in NAMED:
                        assert ast.unparse(call.args[1]) == "rule"
                        seen.add(function.name)
                        continue
                    assert isinstance(call.args[1], ast.Constant)
                    assert call.args[1].value == function.name
    assert seen == set(NAMED)


def test_a_name_for_print_is_none_that_acceptance_asks_for() -> None:
    """What is held fixed in time is read off the names of rules: the names that are chosen are not among those."""
    trees = [ast.parse((KERNEL / name).read_text(encoding="utf-8")) for name in ("books.py", "kernel.py")]
    kept = [each for tree in trees for each in tree.body if getattr(each, "name", "") not in BY_CONNECTIVES]
    kept = [each for each in kept if not (isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__all__")]
    asked = {each.value for part in kept for each in ast.walk(part) if isinstance(each, ast.Constant)}
    assert "textbook" in asked
    for names in NAMED.values():
        assert not asked & set(names)
        assert set(names) <= {*derived_rules(), *NAMED}
    with pytest.raises(Refused, match="no name of a step"):
        logic.tautology((), TRUE, "recall")
    with pytest.raises(Refused, match="no name of a reduction"):
        structure.reduction(one(), one(), None, rule="increment")


def reached(tree: ast.AST) -> set[str]:
    """What a module takes of the private part of the kernel."""
    private, modules, found = {"prove", "_KEY"}, set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("eigentoken.theory.kernel"):
            found |= {each.name for each in node.names} & private
            modules |= {each.asname or each.name for each in node.names}
        if isinstance(node, ast.Import):
            modules |= {each.asname for each in node.names if each.asname and "theory.kernel" in each.name}
            found |= {each.name for each in node.names if "theory.kernel" in each.name and not each.asname}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in private:
            inner = node.value
            if node.attr == "_KEY" or (isinstance(inner, ast.Name) and inner.id in modules):
                found.add(node.attr)
        if isinstance(node, ast.Name) and node.id == "_KEY":
            found.add(node.id)
        if isinstance(node, ast.Constant) and node.value in ("_KEY", "eigentoken.theory.kernel.proved"):
            found.add(str(node.value))
    return found


def test_nothing_outside_the_kernel_proves() -> None:
    looked = [path for path in files() if KERNEL not in path.parents and path != Path(__file__).resolve()]
    assert len(looked) > 500
    for path in looked:
        text = path.read_text(encoding="utf-8")
        if "_KEY" in text or "theory.kernel" in text:
            assert not reached(ast.parse(text)), path.relative_to(ROOT)


def test_programs_of_rules_prove_nothing() -> None:
    """They are no part of what is trusted: what makes a ``Proved`` is not within their reach."""
    for name in PROGRAMS:
        assert not reached(ast.parse((KERNEL / f"{name}.py").read_text(encoding="utf-8"))), name


@pytest.mark.parametrize(
    "text",
    [
        "from eigentoken.theory.kernel.proved import prove",
        "from eigentoken.theory.kernel.logic import prove as p",
        "from eigentoken.theory.kernel import logic as l\nl.prove(1)",
        "import eigentoken.theory.kernel.proved",
        "import eigentoken.theory.kernel.proved as p\np.prove(1)",
        "from eigentoken.theory.kernel import proved\nkey = proved._KEY",
        "getattr(proved, '_KEY')",
        "importlib.import_module('eigentoken.theory.kernel.proved')",
    ],
)
def test_the_reader_of_the_tree_sees_it(text: str) -> None:
    assert reached(ast.parse(text))


def test_the_trusted_part_is_counted_whole_and_does_not_grow_unseen() -> None:
    """Each module of the kernel is in one part of the count, and what is left out of it is there."""
    spec = importlib.util.spec_from_file_location("trusted", ROOT / "tools" / "trusted.py")
    assert spec is not None and spec.loader is not None
    trusted = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(trusted)
    counted = (
        [name for names in trusted.PARTS.values() for name in names] + list(trusted.PRINT) + list(trusted.PROGRAMS)
    )
    assert trusted.PROGRAMS == ("quantities",) and set(BY_CONNECTIVES) < set(trusted.OUTSIDE["kernel"])
    assert sorted(counted) == sorted(path.stem for path in KERNEL.glob("*.py"))
    for name, outside in trusted.OUTSIDE.items():
        tree = ast.parse((KERNEL / f"{name}.py").read_text(encoding="utf-8"))
        named = {each.name: each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.ClassDef)}
        assert set(outside) <= set(named)
        for each in outside:
            assert each == "said" or each == "Kernel" or not calls(named[each]), f"{each} proves"
    assert 1000 < sum(trusted.table().values()) < 2370
    rules = [lines for part, lines in trusted.table().items() if part not in ("what words mean", "acceptance")]
    assert len(rules) == 3 and sum(rules) < 1965
