"""The documentation cannot drift: its blocks are run, its tables made anew, its notebooks executed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..commands import tool

ROOT = Path(__file__).resolve().parents[2]


docs = tool("docs")
benchmarks = tool("benchmarks")


#: docs/notebook.md is run by tests/face/test_api.py
PAGES = [path for path in docs.pages() if path.name != "notebook.md"]
#: Every command of these is on another page or has a test of its own; together they take as long as all the others.
LONG = {"tour.md", "dynamics.md", "survivors.md", "training.md"}


@pytest.mark.parametrize(
    "path", [pytest.param(each, id=each.name, marks=[pytest.mark.slow] * (each.name in LONG)) for each in PAGES]
)
def test_a_page_shows_what_the_commands_print(path: Path) -> None:
    page, made = path.read_text(encoding="utf-8"), docs.refreshed(path)
    assert docs.agrees(page, made), f"run: python tools/docs.py {path.relative_to(ROOT)}"


def test_only_last_digits_of_decimal_numbers_may_differ() -> None:
    assert docs.agrees("norm 25.7445, residual 1.83e-10", "norm 25.7444, residual 1.81e-10")
    for page, made in (
        ("25.7445", "25.7455"),
        ("3 of 4 layers", "2 of 4 layers"),
        ("0.25", "0.26"),
        ("1.83e-10", "1.83e-11"),
        ("holds 1.25", "fails 1.25"),
        ("1.25 1.26", "1.25"),
        ("PM-N1.234", "PM-N1.235"),
    ):
        assert not docs.agrees(page, made), (page, made)


def test_the_docs_test_can_fail(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo two\none\n```\n")
    assert docs.refreshed(page) == "```console\n$ echo two\ntwo\n```\n"
    page.write_text("```python\nassert 1 == 2\n```\n")
    with pytest.raises(AssertionError):
        docs.refreshed(page)


@pytest.mark.parametrize("name", benchmarks.names())
def test_a_benchmark_page_was_printed_by_the_present_script(name: str) -> None:
    assert not benchmarks.stale(name), f"run: python tools/benchmarks.py {name}"


def test_ratios_that_got_worse_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = "| what | size | ratio | target |\n| --- | --- | --- | --- |\n| a / b | d = 2 | {} | {} |\n"
    for target, recorded, now, named in (
        ("<= 2", 1.0, 1.2, 1),
        ("<= 2", 1.0, 1.1, 0),
        (">= 8", 10.0, 8.0, 1),
        (">= 8", 8.0, 10.0, 0),
    ):
        assert len(benchmarks.worse(table.format(recorded, target), table.format(now, target))) == named
    assert benchmarks.worse(table.format(1.0, "<= 2"), "nothing") == ["a / b, d = 2: no longer measured, was 1"]
    monkeypatch.setattr(benchmarks, "SCRIPTS", tmp_path)
    monkeypatch.setattr(benchmarks, "PAGES", tmp_path)
    printed = table.format(2.0, "<= 2").replace("\n", "\\n")
    (tmp_path / "bench_mine.py").write_text(f'"""Mine."""\nprint("{printed}\\nMissed: none.")\n', encoding="utf-8")
    benchmarks.record("mine")
    assert benchmarks.main(["--compare"]) == 0
    benchmarks.page("mine").write_text(
        benchmarks.page("mine").read_text().replace("| 2.0 |", "| 1.0 |"), encoding="utf-8"
    )
    assert benchmarks.main(["--compare", "mine"]) == 1


def test_a_benchmark_page_can_be_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "bench_mine.py"
    script.write_text('"""Mine."""\nprint("| a |\\n\\nMissed: none.")\n', encoding="utf-8")
    monkeypatch.setattr(benchmarks, "SCRIPTS", tmp_path)
    monkeypatch.setattr(benchmarks, "PAGES", tmp_path)
    assert benchmarks.names() == ["mine"]
    assert benchmarks.stale("mine")
    benchmarks.record("mine")
    assert not benchmarks.stale("mine")
    before = benchmarks.page("mine").read_text(encoding="utf-8")
    script.write_text('"""Mine."""\nprint("| b |")\n', encoding="utf-8")
    assert benchmarks.stale("mine")
    with pytest.raises(SystemExit, match=r"bench_mine\.py ended before its last line"):
        benchmarks.record("mine")
    assert benchmarks.page("mine").read_text(encoding="utf-8") == before


def test_links_between_pages_resolve() -> None:
    import re

    for path in docs.pages():
        words = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        words = re.sub(r"``[^`\n]*``|`[^`\n]*`|\$[^$\n]*\$", "", words)
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", words):
            if not target.startswith("http"):
                assert (path.parent / target).exists(), (path.name, target)


NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def executed(paths: list[Path], folder: Path) -> None:
    """One after another in one kernel; none of them knows a name of the one before."""
    nbformat = pytest.importorskip("nbformat")
    small = [folder / f"{name}.ipynb" for name in ("first", "second")]
    for path, lines in zip(small, ("known = 1\nknown", "'known' in globals()"), strict=True):
        nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(lines)]), path)
    *ours, first, second = tool("notebooks").execute_together([*paths, *small])
    assert len(ours) == len(paths)
    for each in ours:
        assert any(cell.get("outputs") for cell in each.cells)
    assert [each.cells[0].outputs[0].data["text/plain"] for each in (first, second)] == ["1", "False"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_names_its_kernel_and_opens_in_colab(path: Path) -> None:
    """Without the name JupyterLab asks which kernel to take before anything can be run."""
    held = json.loads(path.read_text(encoding="utf-8"))
    assert held["metadata"]["kernelspec"]["name"] == "python3"
    assert f"colab.research.google.com/github/eigentoken/eigentoken/blob/main/examples/{path.name}" in json.dumps(held)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_all_notebooks_run(tmp_path: Path) -> None:
    assert len(NOTEBOOKS) >= 5
    executed(NOTEBOOKS, tmp_path)


@pytest.mark.filterwarnings("ignore")
def test_an_error_in_a_cell_is_an_error(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    notebooks = tool("notebooks")
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")]), tmp_path / "wrong.ipynb")
    with pytest.raises(notebooks.CellExecutionError, match="ZeroDivisionError"):
        notebooks.execute(tmp_path / "wrong.ipynb")
