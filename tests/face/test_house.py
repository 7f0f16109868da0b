"""The house: one package, imports in one direction, no file under two names, nothing heavy at the door."""

from __future__ import annotations

import ast
import json
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from ..commands import tool

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("theory", "numerics", "models", "proofs")
house = tool("house")

#: below all rooms: files, the documents as types, how objects show themselves, the equations of a transformer layer; they
#: import no room
GROUND = ("files", "documents", "display", "transformer_layer")
#: which rooms a room may import
ALLOWED = {
    "theory": {*GROUND, "theory"},
    "numerics": {*GROUND, "theory", "numerics"},
    "models": {*GROUND, "models"},
    "proofs": {*GROUND, "theory", "numerics", "proofs"},
}


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in house.all_parts(path):
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
    below = {*ROOMS, *GROUND}
    return rooms & below | ({"face"} if rooms - below else set())


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_one_way(room: str) -> None:
    files = list((ROOT / room).rglob("*.py"))
    assert files
    for path in files:
        extra = _rooms_imported(_imports(path)) - ALLOWED[room]
        assert not extra, f"{path.relative_to(ROOT)} imports {sorted(extra)}"


def test_the_ground_imports_no_room() -> None:
    for room in GROUND:
        face = ROOT / "src" / "eigentoken"
        files = [*(face / room).rglob("*.py"), *face.glob(f"{room}.py")]
        assert files
        for path in files:
            assert _rooms_imported(_imports(path)) <= {*GROUND}, path


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
    loaded = _modules_after("import eigentoken, eigentoken.cli") - _modules_after("import typer")  # old ones load rich
    assert not loaded & {"torch", "sympy", "scipy", "numpy", "matplotlib", "transformers", "rich.table"}


def _every_module() -> list[str]:
    """All modules of the package, imported."""
    rooms = ["eigentoken", *(f"eigentoken.{room}" for room in ROOMS)]
    found = [each.name for room in rooms for each in pkgutil.walk_packages(import_module(room).__path__, f"{room}.")]
    for name in (each for each in found if not each.endswith("__main__")):
        import_module(name)
    return found


def test_no_file_is_loaded_under_two_names() -> None:
    assert len(set(_every_module())) > 400
    files: dict[Path, set[str]] = {}
    for name, module in list(sys.modules.items()):
        if name != "__main__" and (path := getattr(module, "__file__", None)):
            files.setdefault(Path(path).resolve(), set()).add(name)
    ours = {
        path: names
        for path, names in files.items()
        if any(path.is_relative_to(ROOT / room) for room in (*ROOMS, "src"))
    }
    assert len(ours) > 400
    assert not {path: names for path, names in ours.items() if len(names) > 1}


def test_every_module_is_of_a_readable_size() -> None:
    sources = [path for room in (*ROOMS, "src") for path in (ROOT / room).rglob("*.py")]
    long = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources}
    assert not {name: count for name, count in long.items() if count > 520}


def _long_functions(path: Path, most: int = 100) -> list[str]:
    """Functions of more lines than ``most``, by name."""
    functions = (node for node in house.all_parts(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return [each.name for each in functions if (each.end_lineno or each.lineno) - each.lineno + 1 > most]


def test_no_function_is_longer_than_a_hundred_lines() -> None:
    sources = [path for room in (*ROOMS, "src") for path in (ROOT / room).rglob("*.py")]
    long = {str(path.relative_to(ROOT)): names for path in sources if (names := _long_functions(path))}
    assert not long


def test_a_long_function_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "long.py"
    file.write_text("class A:\n    def short(self):\n        pass\n    def long(self):\n" + "        x = 1\n" * 100)
    assert _long_functions(file) == ["long"]
    assert not _long_functions(file, 101)


def test_no_two_rooms_import_each_other() -> None:
    """Between sub-rooms imports go one way too, those inside functions included."""
    graph = house.house(ROOT).rooms()
    assert {"theory.language", "numerics.recheck.points", "proofs.steps", "face.checking"} <= set(graph)
    assert not house.cycles(graph)


def test_a_circle_closed_inside_a_function_is_seen(tmp_path: Path) -> None:
    for room, text in {
        "one": "from eigentoken.theory.two import b\n",
        "two": "def f():\n    from ..one import a\n",
    }.items():
        (tmp_path / "theory" / room).mkdir(parents=True)
        (tmp_path / "theory" / room / "__init__.py").write_text(text)
    ((rooms, pairs),) = house.cycles(house.house(tmp_path).rooms())
    assert rooms == ["theory.one", "theory.two"]
    assert ("eigentoken.theory.two", "eigentoken.theory.one") in pairs


def test_every_room_says_what_it_is_for() -> None:
    """For whom, what enters, what leaves, what is below: at the head of each sub-room of the four rooms."""
    heads = [path for room in ROOMS for path in (ROOT / room).rglob("__init__.py")]
    chapters = {
        ROOT / "proofs" / name for name in ("power_method", "abella", "pham", "clusters", "new_results", "bounds")
    }
    assert len(heads) > 30
    for path in heads:
        said = ast.get_docstring(house.parsed(path)) or ""
        if path.parent in chapters or path.parent.name == "schemas":
            assert said
            continue
        missing = [part for part in ("For:", "Enters:", "Leaves:", "Below") if part not in said]
        assert not missing, f"{path.relative_to(ROOT)} does not say {missing}"


def test_the_picture_of_the_house_is_current() -> None:
    assert house.PICTURE.read_text(encoding="utf-8") == house.picture(house.house(ROOT)), (
        "run: python tools/house.py --picture"
    )


def test_the_walks_are_shorter_than_before_the_rooms() -> None:
    """As recorded; the tool runs the three jobs for half a minute."""
    walks = json.loads((ROOT / "docs" / "tables" / "walks.json").read_text(encoding="utf-8"))
    before, audited = tool("walks").BEFORE, tool("walks").AUDITED
    assert set(walks) == set(before) == set(audited)
    rooms = set(house.house(ROOT).rooms())
    for job, found in walks.items():
        assert found["modules"] < audited[job], job
        assert found["modules"] - found["since"] < before[job], job  # beside what it could not do then
        assert sum(found["rooms"].values()) == found["modules"]
        assert set(found["rooms"]) <= rooms, "run: python tools/walks.py --write docs/tables/walks.json"


def test_a_name_stands_for_one_thing() -> None:
    """No two public classes of the package have one name; the typed documents, each in its own file, are apart."""
    found: dict[str, list[str]] = {}
    for name, path in house.house(ROOT).files.items():
        if ".documents." in name and name.startswith("eigentoken.documents."):
            continue
        for node in house.parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(name)
    assert len(found) > 300
    assert not {name: places for name, places in found.items() if len(places) > 1}


boundaries = tool("boundaries")

#: What passes between rooms as ``Any``, and why no type says more.  A place ends with a name, or with ``*`` for all of a class.
UNTYPED = {
    "theory.systems.algebra: Number": "a number of whatever arithmetic computes: rings have no type in Python",
    "theory.systems.algebra: State": "tokens, as that arithmetic keeps them",
    "theory.systems.algebra: Weights": "attention, as that arithmetic keeps it",
    "theory.classification.float_algebra: FloatAlgebra.*": "a number, or an array of them, one for each instance",
    "theory.proving.cvc5_formulas: *": "terms, kinds and solvers of cvc5, which has no types",
    "theory.proving.normal_form: Quotients.*": "an expression of sympy, whose parts have no common type",
    "numerics.dynamics.array_problem: ArrayProblem.*": "a time for all instances, or one for each; a parameter, or how it moves",
    "numerics.instances.batches: Wave.in_arrays": "as ArrayProblem",
    "proofs.properties.trajectories: extrapolated": "a field of numbers of mpmath, and where it starts",
    "theory.systems.algebra: ParameterValue": "a parameter, as that arithmetic keeps it",
    "files.documents: Json": "a parsed text of somebody else, tested part by part where it is read",
    "theory.language.readings: Reading.__call__": "what a word is read on belongs to the reading",
    "theory.language.readings: GENERATED": "its answers are of a room above",
    "theory.language.readings: OBSERVED": "its answers are of a room above",
    "theory.language.readings: PLACED": "its answers are of a room above",
    "theory.language.readings: PLACED_EXACTLY": "its answers are of a room above",
    "theory.language.readings: DISTANCE": "its answers are of a room above",
    "theory.language.readings: VALUE": "its answers are of a room above",
    "theory.kernel.*": "a word, a proposition or a formula of sympy: the kernel asks which, and refuses what is none of them",
    "proofs.coq.*": "a letter, a term or a word of the kernel, on its way to Coq: what has no form there is refused",
    "theory.statements.steps: Reduction.*": "both sides of a reduction are of one kind, which the step chooses",
    "proofs.steps.reductions: tensor": "as Reduction",
    "theory.calculus.expressions: Assumptions.extended": "the fields of the class, by keyword",
    "theory.calculus.expressions: Monomial.factors": "atoms hold expressions, and these hold atoms",
    "files.given_arrays: *": "rows from whatever holds numbers (lists, arrays, tensors), or the value itself",
    "models.convention.head_and_layer: FeedForward.parts": "the fields of a feed-forward part, by name",
    "numerics.author_code.*": "whatever the code of an author makes of exact numbers",
    "numerics.lab.conjectures: Conjecture.holds_if": "code of an author: what it is given, and what it answers",
    "numerics.lab.predicate_instances: DecidedInstance.*": "numbers of author_code",
    "numerics.certified.rounding: inflate": "a float or an array, and the same again",
    "numerics.certified.time_bounds: certify_at_all_times": "the options of certify, handed on",
    "numerics.layers.symbol_values: LayerSymbolValues.ask": "the options of certify, handed on",
    "numerics.dynamics.charts: *": "what matplotlib draws: lists, arrays, tensors",
    "numerics.experiments.registry: Context.*": "a model: the room of models stands beside numerics, which may not name it",
    "numerics.instances.plans: plan_for": "fields of a plan, by keyword",
    "numerics.readings.starts_in_a_basin: Capture.region": "a region of rational numbers, boxes or balls",
    "numerics.recheck.refutations.interval_recheck: interval": "an interval of mpmath",
    "numerics.recheck.refutations.interval_recheck: Arithmetic.*": "numbers of the arithmetic that is chosen there",
    "models.convention.rotary: Array": "of any dtype",
    "proofs.pham.half_spaces: *": "a kind of relation of sympy, and its two sides",
    "proofs.power_method.pm_cx1_antipodal_tokens: *": "an instance as a document, a number of mpmath",
    "proofs.properties.token_fields: *": "arrays of floats, or numbers of mpmath, and fields of either",
    "output: *": "what rich prints",
    "usage: usage_line": "an error of click, which is not imported at the door",
}


def _listed(place: str) -> str | None:
    """The entry that a place falls under."""
    return next((each for each in UNTYPED if place == each or (each[-1] == "*" and place.startswith(each[:-1]))), None)


def test_what_passes_between_rooms_has_a_type() -> None:
    found = [place.partition("(")[0] for place in boundaries.untyped(ROOT)]
    assert not [place for place in found if _listed(place) is None], "give it a type, or a reason in UNTYPED"
    assert set(UNTYPED) <= {_listed(place) for place in found}, "an entry of UNTYPED is no longer needed"


def test_any_between_rooms_is_seen(tmp_path: Path) -> None:
    """A parameter, a result, a field, an alias, also through the package that hands it on; not what stays in its room."""
    made = {
        "one/__init__.py": "from .inner import handed_on\n",
        "one/inner.py": (
            "from dataclasses import dataclass\nfrom typing import Any\n"
            "Alias = dict[str, Any]\n"
            "def handed_on(x: int) -> 'list[Any]': ...\n"
            "def typed(x: int) -> int: ...\n"
            "def at_home(x: Any) -> int: ...\n"
            "@dataclass\nclass Thing:\n    held: Any\n    own: int\n    def asked(self, *more: Any) -> int: ...\n"
            "    def _kept(self, x: Any) -> int: ...\n    def unasked(self, x: Any) -> int: ...\n"
        ),
        "one/beside.py": "from .inner import at_home\nat_home(1)\n",
        "two/__init__.py": (
            "from eigentoken.theory.one import handed_on, inner\nfrom ..one.inner import typed\n"
            "def f(thing):\n    return thing.held, thing.asked(own=1), inner.Alias, thing._kept\n"
        ),
    }
    for name, text in made.items():
        (tmp_path / "theory" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "theory" / name).write_text(text)
    assert boundaries.untyped(tmp_path) == [
        f"theory.one.inner: {each}" for each in ("Alias", "handed_on(->)", "Thing.held", "Thing.asked(more)")
    ]
