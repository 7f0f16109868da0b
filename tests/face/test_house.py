"""The house: one package, imports in one direction, no file under two names, nothing heavy at the door."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("theory", "numerics", "models", "proofs")

#: below all rooms: reading and writing files; it imports none of them
GROUND = "files"
#: which rooms a room may import
ALLOWED = {
    "theory": {GROUND, "theory"},
    "numerics": {GROUND, "theory", "numerics"},
    "models": {GROUND, "models"},
    "proofs": {GROUND, "theory", "numerics", "proofs"},
}


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _base_package(path, node.level) + (node.module or "")
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return found


def _base_package(path: Path, level: int) -> str:
    """The absolute package that ``level`` dots mean in this file, with a dot behind it."""
    if level == 0 or ROOT not in path.parents:
        return ""
    parts = ["eigentoken", *path.relative_to(ROOT).parent.parts]
    return ".".join(parts[: len(parts) - level + 1]) + "."


def _rooms_imported(names: set[str]) -> set[str]:
    parts = [name.split(".") for name in names if name.startswith("eigentoken")]
    rooms = {part[1] for part in parts if len(part) > 1}
    below = {*ROOMS, GROUND}
    return rooms & below | ({"face"} if rooms - below else set())


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_one_way(room: str) -> None:
    files = list((ROOT / room).rglob("*.py"))
    assert files
    for path in files:
        extra = _rooms_imported(_imports(path)) - ALLOWED[room]
        assert not extra, f"{path.relative_to(ROOT)} imports {sorted(extra)}"


def test_the_ground_imports_no_room() -> None:
    files = list((ROOT / "src" / "eigentoken" / GROUND).rglob("*.py"))
    assert files
    for path in files:
        assert _rooms_imported(_imports(path)) <= {GROUND}, path


def test_the_direction_test_sees_a_wrong_import(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("def f():\n    from eigentoken.numerics import probe\n    import eigentoken.cli\n")
    assert _rooms_imported(_imports(wrong)) - ALLOWED["theory"] == {"numerics", "face"}


def test_theory_names_no_torch() -> None:
    for path in (ROOT / "theory").rglob("*.py"):
        assert not any(name.split(".")[0] == "torch" for name in _imports(path)), path


def _modules_after(code: str) -> set[str]:
    printed = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return set(json.loads(printed.stdout))


def test_importing_theory_loads_no_torch() -> None:
    code = (
        "import eigentoken.theory, pkgutil, importlib\n"
        "for each in pkgutil.walk_packages(eigentoken.theory.__path__, 'eigentoken.theory.'):\n"
        "    importlib.import_module(each.name)"
    )
    assert "torch" not in _modules_after(code)


def test_the_door_is_light() -> None:
    loaded = _modules_after("import eigentoken, eigentoken.cli")
    assert not loaded & {"torch", "sympy", "scipy", "numpy", "matplotlib", "transformers", "rich.table"}


def test_no_file_is_loaded_under_two_names() -> None:
    code = (
        "import importlib, pkgutil, eigentoken, sys\n"
        "for room in ['eigentoken'] + ['eigentoken.' + r for r in ('theory', 'numerics', 'models', 'proofs')]:\n"
        "    for each in pkgutil.walk_packages(importlib.import_module(room).__path__, room + '.'):\n"
        "        if '__main__' not in each.name: importlib.import_module(each.name)\n"
    )
    check = (
        code + "files = {}\n"
        "for name, module in list(sys.modules.items()):\n"
        "    path = getattr(module, '__file__', None)\n"
        "    if path and name != '__main__': files.setdefault(path, []).append(name)\n"
        f"ours = lambda p: p.startswith({str(ROOT)!r}) and 'site-packages' not in p\n"
        "twice = {p: n for p, n in files.items() if len(n) > 1 and ours(p)}\n"
        "assert not twice, twice\n"
        "count = sum(n.startswith('eigentoken.') for n in sys.modules)\n"
        "assert count > 20, count\n"
    )
    ran = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, cwd=ROOT)
    assert ran.returncode == 0, ran.stderr[-2000:]


def test_every_module_is_of_a_readable_size() -> None:
    sources = [path for room in (*ROOMS, "src") for path in (ROOT / room).rglob("*.py")]
    long = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources}
    assert not {name: count for name, count in long.items() if count > 520}
