"""Keep the documentation true: every console block is run and shows real output, every Python block is executed.

``python tools/docs.py`` rewrites the outputs in README.md and docs/*.md and regenerates the tables between markers;
``--check`` only compares and names what is stale.  In a block opened with ```console lines=12 the output is cut after
twelve lines.  A block opened with ```console norun is shown as it stands (installing, servers); there are few of those.
Python blocks of one file share their names, top to bottom; a block ```python norun is not run.  In a block ```python shows
each expression that stands alone is followed by its representation, as comments, as a notebook would show it.  A page that
begins with a comment "in a process of its own" (it registers statements) is run apart from the others.
"""

from __future__ import annotations

import ast
import atexit
import importlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(console|python)([^\n]*)\n(.*?)^```$", re.M | re.S)
OWN_PROCESS = "<!-- in a process of its own -->"
#: What the commands of a page keep between runs, a folder for each place they run in.
CACHES = tempfile.TemporaryDirectory()
MARKED = re.compile(r"<!-- generated: ([\w-]+) -->\n.*?<!-- end -->", re.S)


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


#: With one thread, as the tests have it: with two, sums of floats end in other digits.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
#: Commands that read no file of the reader's folder and write none: several pages show the same one, which is run once.
ALONE = re.compile(r"eigentoken (show [\w.+-]+|check sample:\w+ --jobs 1|statements|models|reproduce --list)")


def run(command: str, folder: Path) -> str:
    """What a console command prints, as on a terminal of 80 columns without colour."""
    return _printed_alone(command) if ALONE.fullmatch(command) else _printed(command, folder)


@cache
def _printed_alone(command: str) -> str:
    with tempfile.TemporaryDirectory() as place:
        printed = _printed(command, Path(place))
        if any(Path(place).iterdir()):
            raise AssertionError(f"{command}: it wrote a file: take it out of ALONE")
        return printed


def _printed(command: str, folder: Path) -> str:
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    environment["EIGENTOKEN_CACHE"] = str(Path(CACHES.name) / folder.name)  # what this machine keeps is not on the page
    environment["PATH"] = os.pathsep.join([_programs(), str(Path(sys.executable).parent), environment["PATH"]])
    ran = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    printed = ran.stdout + ran.stderr
    lines = [line.rstrip() for line in printed.splitlines()]
    return "\n".join(lines).strip("\n")


@cache
def _programs() -> str:
    """A folder with an ``eigentoken`` that need not load its libraries and read the book (``tools/warm.py``)."""
    warm = _beside("warm")
    folder = tempfile.mkdtemp(prefix="eigentoken-docs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = Path(folder) / "eigentoken"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(warm.command(book=True))} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return folder


def console(body: str, options: str, folder: Path) -> str:
    """The block with the output of each ``$`` line made anew."""
    limit = re.search(r"lines=(\d+)", options)
    out = []
    for line in body.splitlines():
        if not line.startswith("$ "):
            continue
        out.append(line)
        printed = run(line[2:], folder).splitlines()
        if limit and len(printed) > int(limit.group(1)):
            printed = [*printed[: int(limit.group(1))], "..."]
        out += printed
    return "\n".join(out) + "\n"


def shown(body: str, names: dict[str, object], origin: str) -> str:
    """The block, run statement by statement, with the representation of each bare expression in comments below it."""
    lines = body.splitlines()
    tree = ast.parse(body)
    out: list[str] = []
    done = 0  # lines of the block that were copied
    for statement in tree.body:
        end = statement.end_lineno or statement.lineno
        out += lines[done:end]
        done = end
        code = ast.Expression(statement.value) if isinstance(statement, ast.Expr) else ast.Module([statement], [])
        if not isinstance(code, ast.Expression):
            exec(compile(code, origin, "exec"), names)
            continue
        value = eval(compile(code, origin, "eval"), names)
        while done < len(lines) and lines[done].startswith("#"):  # what it showed before
            done += 1
        out += [f"# {line}".rstrip() for line in repr(value).splitlines()] if value is not None else []
    return "\n".join([*out, *lines[done:]]) + "\n"


def refreshed(path: Path) -> str:
    """The text of a page with outputs and tables made anew; Python blocks are executed on the way."""
    text = path.read_text(encoding="utf-8")
    if not text.startswith(OWN_PROCESS):
        return made_anew(path, text)
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import docs; docs.main(['--print', {str(path)!r}])"
    command = [*_beside("warm").command(book=True), "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    if ran.returncode != 0:
        raise AssertionError(f"{path.name}: {ran.stderr[-3000:]}")
    return ran.stdout


def made_anew(path: Path, text: str) -> str:
    """The page, run in this process."""
    names: dict[str, object] = {"__name__": "__docs__"}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "examples").symlink_to(ROOT / "examples")  # so that a reader's command works from a clone

        def block(found: re.Match[str]) -> str:
            kind, options, body = found.groups()
            if "norun" in options:
                return found.group(0)
            if kind == "python":
                here = Path.cwd()
                os.chdir(folder)
                origin = f"{path.name}: python block"
                try:
                    if "shows" in options:
                        return f"```python{options}\n{shown(body, names, origin)}```"
                    exec(compile(body, origin, "exec"), names)
                finally:
                    os.chdir(here)
                return found.group(0)
            return f"```console{options}\n{console(body, options, folder)}```"

        text = BLOCK.sub(block, text)
    return MARKED.sub(
        lambda found: f"<!-- generated: {found.group(1)} -->\n{generated(found.group(1))}<!-- end -->", text
    )


#: A decimal number with three digits or more, as sums of floats print: their last digits depend on the processor.
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?:e[+-]?\d+)?(?![\w.])")
#: Units in the last place by which such a number may differ.
LAST = 3


def agrees(page: str, made: str) -> bool:
    """Is it the same text, but for the last digit of decimal numbers?

    >>> agrees("|F| = 25.7445, 1.83e-10", "|F| = 25.7444, 1.81e-10"), agrees("0.25", "0.35")
    (True, False)
    """
    if DECIMAL.sub("#", page) != DECIMAL.sub("#", made):
        return False
    return all(_near(one, other) for one, other in zip(DECIMAL.findall(page), DECIMAL.findall(made), strict=True))


def _near(one: str, other: str) -> bool:
    a, b = Decimal(one), Decimal(other)
    if a == b:
        return True
    unit = max(Decimal(1).scaleb(int(each.as_tuple().exponent)) for each in (a, b))
    return min(len(each.as_tuple().digits) for each in (a, b)) >= 3 and abs(a - b) <= LAST * unit


def generated(name: str) -> str:
    """A generated table."""
    return "\n".join(TABLES[name]()) + "\n"


def commands_table() -> Iterator[str]:
    """The commands with the first line of their help, by the jobs that the help has them under."""
    from typer.main import get_command

    from eigentoken.cli import app
    from eigentoken.commands.help_page import JOBS

    known = get_command(app).commands  # type: ignore[attr-defined]
    yield "| job | command | what it does |"
    yield "| --- | --- | --- |"
    for job, listed in JOBS.items():
        for name in listed:
            first = (known[name].help or "").strip().split("\n")[0]
            yield f"| {job if name == listed[0] else ''} | `eigentoken {name}` | {first} |"


def gallery() -> Iterator[str]:
    """The pictures of ``tools/screenshots.py``, each with what it shows and the command that made it."""
    for shot in _beside("screenshots").SHOTS:
        yield f"![{shot.says}](images/gallery/{shot.name}.png)"
        yield ""
        yield f"{shot.says} `{shot.command}`"
        yield ""


def conditions_table() -> Iterator[str]:
    """The conditions of ``certify``."""
    from eigentoken.numerics.certified.certify import conditions

    yield "| condition | meaning |"
    yield "| --- | --- |"
    for name, meaning in conditions().items():
        yield f"| `{name}` | {meaning.replace('|', chr(92) + '|')} |"


def systems_table() -> Iterator[str]:
    """The systems and their parameters."""
    from eigentoken.theory.systems.catalogue import SYSTEMS
    from eigentoken.theory.systems.hard_attention import HARD
    from eigentoken.theory.systems.placements import PLACEMENTS

    yield "| system | state space, time | parameters | source |"
    yield "| --- | --- | --- | --- |"
    for each in (*SYSTEMS.values(), *PLACEMENTS.values(), *HARD.values()):
        letters = ", ".join(parameter.name for parameter in each.parameters)
        yield f"| `{each.name}` | {each.space}, {each.time} | {letters} | {each.source} |"


def words_table() -> Iterator[str]:
    """The words of the language: of every module of ``theory`` that adds some, and of no other author."""
    from eigentoken.theory.language.claims import Claim
    from eigentoken.theory.language.readings import WORDS

    for path in sorted((ROOT / "theory").rglob("*.py")):
        if "@word" in path.read_text(encoding="utf-8"):
            importlib.import_module(".".join(["eigentoken", *path.relative_to(ROOT).with_suffix("").parts]))

    yield "| word | kind | meaning |"
    yield "| --- | --- | --- |"
    for name, word in sorted(WORDS.items()):
        if not word.__module__.startswith("eigentoken.theory."):
            continue
        kind = "claim" if issubclass(word, Claim) else "condition"
        yield f"| `{name}` | {kind} | {(word.__doc__ or '').strip().splitlines()[0].replace('|', chr(92) + '|')} |"


def exit_codes_table() -> Iterator[str]:
    """The exit codes, as the head of the command line says them."""
    from eigentoken import cli

    yield "| exit code | meaning |"
    yield "| --- | --- |"
    said = " ".join((cli.__doc__ or "").split("Exit codes: ")[1].split("\n\n")[0].split())
    for each in said.rstrip(".").split("; "):
        code, _, meaning = each.partition(" ")
        yield f"| {int(code)} | {meaning} |"


def schemas_table() -> Iterator[str]:
    """The JSON documents with the numbers of their schemas."""
    from eigentoken.schemas import names, schema

    yield "| schema | printed by |"
    yield "| --- | --- |"
    for name in names():
        published = schema(name)
        yield f"| `{published['$id']}` | `{published['title'].replace(', ', '`, `')}` |"


def entry_points_table() -> Iterator[str]:
    """The groups of entry points that the package reads, and the module whose first sentence says what for."""
    yield "| group | read by |"
    yield "| --- | --- |"
    for room in ("theory", "numerics", "models", "proofs"):
        for path in sorted((ROOT / room).rglob("*.py")):
            for group in _groups(_beside("house").parsed(path)):
                yield f"| `{group}` | `{'.'.join(['eigentoken', *path.relative_to(ROOT).with_suffix('').parts])}` |"


def _groups(tree: ast.Module) -> Iterator[str]:
    """What a module calls ``ENTRY_POINT...``: the name of a group."""
    for node in tree.body:
        named = [target.id for target in getattr(node, "targets", ()) if isinstance(target, ast.Name)]
        if any(name.startswith("ENTRY_POINT") for name in named) and isinstance(node.value, ast.Constant):  # type: ignore[attr-defined]
            yield str(node.value.value)  # type: ignore[attr-defined]


def public_names_table() -> Iterator[str]:
    """The public names of ``import eigentoken as et``, each with its first sentence."""
    import eigentoken

    yield "| name | what it is |"
    yield "| --- | --- |"
    for name in sorted(eigentoken.__all__, key=lambda each: (each.lower(), each)):
        value = getattr(eigentoken, name)
        said = _first(value.__doc__ or "") if callable(value) else f"a {type(value).__name__}"
        yield f"| `{name}` | {said.replace('|', chr(92) + '|')} |"


def reference() -> Iterator[str]:
    """Every public module with its first sentence, and its public names with theirs."""
    chapters = {"power_method", "abella", "pham", "clusters", "new_results", "bounds"}
    for room in ("theory", "numerics", "models", "proofs", "src/eigentoken"):
        package = "eigentoken" if room.startswith("src") else f"eigentoken.{room}"
        yield f"## {package}"
        yield ""
        for path in sorted((ROOT / room).rglob("*.py")):
            parts = path.relative_to(ROOT / room).with_suffix("").parts
            tree = _beside("house").parsed(path)
            text = ast.get_docstring(tree)
            if parts[-1] in {"__init__", "__main__"} or text is None or parts[0] in chapters:
                continue
            yield f"### `{'.'.join([package, *parts])}`"
            yield ""
            yield _first(text)
            yield ""
            public = _public_names(tree)
            for node in tree.body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in public:
                    yield f"- `{_signature(node)}`: {_first(ast.get_docstring(node) or '')}"
            yield ""


def _first(text: str) -> str:
    """The first sentence or paragraph, on one line."""
    return " ".join(text.strip().split("\n\n")[0].split())


def _public_names(tree: ast.Module) -> set[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return {each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)}  # type: ignore[misc]
    return set()


def _signature(node: ast.FunctionDef | ast.ClassDef) -> str:
    return node.name if isinstance(node, ast.ClassDef) else f"{node.name}({ast.unparse(node.args)})"


def house_table() -> Iterator[str]:
    """The rooms of the house (``tools/house.py``)."""
    house = _beside("house")
    yield from house.table(house.house())


def walks_table() -> Iterator[str]:
    """What ``tools/walks.py`` recorded: the rooms that each job passes, in the order in which they are entered."""
    before = _beside("walks").BEFORE
    recorded = json.loads((ROOT / "docs" / "tables" / "walks.json").read_text(encoding="utf-8"))
    yield "| job | modules | for what it could not do before | before | rooms, in the order in which they are entered (modules) |"
    yield "| --- | --- | --- | --- | --- |"
    for job, found in recorded.items():
        rooms = ", ".join(f"`{room}` ({count})" for room, count in found["rooms"].items())
        yield f"| `{job}` | {found['modules']} | {found['since']} | {before[job]} | {rooms} |"
    yield ""
    yield "| job | calls from a room to one above it |"
    yield "| --- | --- |"
    for job, found in recorded.items():
        said = "; ".join(f"`{pair}` {count}" for pair, count in found["upward"].items())
        yield f"| `{job}` | {said} |"


def glossary() -> Iterator[str]:
    """The terms of the house: each public class with the first sentence of its docstring."""
    house = _beside("house")
    found = house.house()
    rows: list[tuple[str, str, str]] = []
    for name, path in found.files.items():
        room = house.room_of(name, path)
        if room.split(".")[0] == "face" or room in {"proofs.power_method", "proofs.abella", "proofs.pham"}:
            continue
        tree = house.parsed(path)
        public = _public_names(tree)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name in public:
                said = _first(ast.get_docstring(node) or "").split(".  ")[0].replace("|", chr(92) + "|")
                rows.append((node.name, room, said))
    yield "| term | room | what it is |"
    yield "| --- | --- | --- |"
    for term, room, said in sorted(rows, key=lambda row: row[0].lower()):
        yield f"| `{term}` | `{room}` | {said} |"


def _beside(name: str) -> ModuleType:
    """Another tool of this folder, under the name by which the tests know it; loaded once."""
    full = f"eigentoken_tools_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, ROOT / "tools" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]


TABLES = {
    "house": house_table,
    "walks": walks_table,
    "glossary": glossary,
    "reference": reference,
    "commands": commands_table,
    "gallery": gallery,
    "conditions": conditions_table,
    "systems": systems_table,
    "words": words_table,
    "exit-codes": exit_codes_table,
    "schemas": schemas_table,
    "entry-points": entry_points_table,
    "public-names": public_names_table,
}


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--print"]:
        page = Path(arguments[1])
        sys.stdout.write(made_anew(page, page.read_text(encoding="utf-8")))
        return 0
    check = "--check" in arguments
    wanted = [ROOT / name for name in arguments if not name.startswith("-")] or pages()
    stale = []
    for path in wanted:
        made = refreshed(path)
        if not agrees(path.read_text(encoding="utf-8"), made):
            stale.append(path)
            if not check:
                path.write_text(made, encoding="utf-8")
    for path in stale:
        print(f"{'stale' if check else 'refreshed'}: {shlex.quote(str(path.relative_to(ROOT)))}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
