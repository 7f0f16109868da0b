"""No code without a door: nothing that only tests reach stands in any room."""

from __future__ import annotations

import ast
from pathlib import Path

import networkx as nx

from ..commands import tool
from ..tools.reachability import unreached

house = tool("house")
ROOT = Path(__file__).resolve().parents[2]
#: Found by name: the reading of a certificate by its kind, the type of a document by its name, what sympy prints with.
BY_NAME = {
    "numerics/recheck/matrices/verdict_documents.py: _Beside._eigenvector",
    "theory/kernel/tensors.py: Tensor.is_sum",
    "theory/kernel/tensors.py: Tensor.precedence",
    "theory/printing/scalars.py: PaperPrinter._needs_mul_brackets",
    "theory/printing/scalars.py: PaperPrinter.parenthesize",
    "theory/printing/scalars.py: has_exponent",
}
DOCUMENTS = "src/eigentoken/documents/"
#: What pytest calls.
PLUGIN = "src/eigentoken/pytest_plugin.py"


#: Where Python, pytest and the entry points come in.
FRONT = (
    "eigentoken",
    "eigentoken.__main__",
    "eigentoken.cli",
    "eigentoken.lab",
    "eigentoken.proofs",
    "eigentoken.pytest_plugin",
)
#: Folders that are walked (``pkgutil``): a file there is found if it registers something.
WALKED = (
    "proofs.power_method",
    "proofs.abella",
    "proofs.pham",
    "proofs.clusters",
    "proofs.new_results",
    "proofs.bounds",
    "numerics.experiments",
    "models.families",
)
#: Folders of data.
DATA = {"eigentoken.numerics.schemas"}


def test_no_code_is_reached_by_tests_alone() -> None:
    found = {each.path for each in unreached(ROOT) if not each.file.startswith((DOCUMENTS, PLUGIN))}
    assert found - BY_NAME == set()


def _registers(tree: ast.Module) -> bool:
    """Does the file register something when it is imported?"""
    decorators = [each for node in tree.body for each in getattr(node, "decorator_list", [])]
    values = [getattr(node, "value", None) for node in tree.body]
    calls = [each.func if isinstance(each, ast.Call) else each for each in (*decorators, *values)]
    return any(getattr(each, "id", "") in {"register", "recipe"} for each in calls)


def _unreached_modules(root: Path) -> set[str]:
    """Modules that no import leads to from the front doors, those inside functions and those by name included."""
    found = house.house(root)
    graph = found.imports.copy()
    doors = {name for name in FRONT if name in found.files}
    for name, path in found.files.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        graph.add_edge(name, name.rpartition(".")[0])
        for node in house.all_parts(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                told = (node.value, f"eigentoken.{node.value}", f"eigentoken{node.value}", f"{package}.{node.value}")
                graph.add_edges_from((name, each) for each in told if each in found.files)
        if package.removeprefix("eigentoken.") in WALKED and _registers(house.parsed(path)):
            doors.add(name)
    for path in (root / "tools").glob("*.py"):  # what writes the pages
        doors |= set(house.imported(path.stem, path, set(found.files)))
    return set(found.files) - doors - set().union(*(nx.descendants(graph, each) for each in doors))


def test_every_module_is_imported_from_a_door() -> None:
    assert _unreached_modules(ROOT) == DATA


def test_a_module_that_nobody_imports_is_found(tmp_path: Path) -> None:
    """Also one that registers readings, one that only another such module imports, and a helper in a folder that is walked."""
    for file, text in {
        "src/eigentoken/__init__.py": "HOMES = {'f': 'theory.used'}\n",
        "theory/__init__.py": "",
        "theory/used.py": "def f():\n    from eigentoken.theory.lazy import g\n",
        "theory/lazy.py": "",
        "theory/lost.py": "from eigentoken.theory.below import x\n@LATEX.register(int)\ndef g(): pass\n",
        "theory/below.py": "x = 1\n",
        "proofs/__init__.py": "",
        "proofs/abella/__init__.py": "",
        "proofs/abella/told.py": "from eigentoken.proofs.abella.helper import x\nONE = register(x)\n",
        "proofs/abella/helper.py": "x = 1\n",
        "proofs/abella/alone.py": "x = 1\n",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    found = {each.removeprefix("eigentoken.") for each in _unreached_modules(tmp_path)}
    assert found == {"theory.lost", "theory.below", "proofs.abella.alone"}


def test_a_namesake_is_no_door(tmp_path: Path) -> None:
    """A function with the name of another that is used, of a word in a text, or of something that a page names elsewhere."""
    for folder in ("docs", "numerics", "theory", "models", "proofs", "src/eigentoken"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[build-system]\n")
    (tmp_path / "README.md").write_text("Call `load(place)` of `eigentoken.numerics.one`.\n")
    (tmp_path / "numerics" / "one.py").write_text(
        "def load(): return helped()\ndef helped(): return 'too long to save'\n"
    )
    (tmp_path / "theory" / "two.py").write_text("def load(): pass\ndef helped(): pass\ndef save(): pass\n")
    (tmp_path / "theory" / "__init__.py").write_text("from eigentoken.theory.three import told\n")
    (tmp_path / "theory" / "three.py").write_text("def told(): pass\ndef told_as_well(): pass\n")
    (tmp_path / "proofs" / "four.py").write_text(
        "from eigentoken.theory import told, three\nSEEN = register(told)\nregister(three.told_as_well)\n"
    )
    names = sorted(each.path for each in unreached(tmp_path))
    assert names == [f"theory/two.py: {each}" for each in ("helped", "load", "save")]


def test_the_test_can_fail(tmp_path: Path) -> None:
    """Found: a function that nobody uses, with what only it uses, and a constant that nobody reads.

    Not found: what a page names, and what is registered.
    """
    for folder in ("docs", "numerics", "theory", "models", "proofs", "src/eigentoken"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "README.md").write_text("Call `named()` of `eigentoken.numerics.part`.\n")
    (tmp_path / "numerics" / "part.py").write_text(
        '__all__ = ["lost"]\n'
        "def lost(): return below()\n"
        "def below(): return 1\n"
        "def named(): return used()\n"
        "def used(): return 2\n"
        "@table.register(int)\n"
        "def entered(): return 3\n"
        "class Kept:\n    def idle(self): return 4\n"
        "KEPT, BESIDE = Kept, 5\n"
        "FORGOTTEN = KEPT\n"
        "STATED = register(BESIDE)\n"
    )
    names = sorted(each.path for each in unreached(tmp_path))
    assert names == [f"numerics/part.py: {each}" for each in ("FORGOTTEN", "Kept.idle", "below", "lost")]
