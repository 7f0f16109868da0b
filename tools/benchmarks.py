"""Keep what the documentation says about speed true: each page in docs/tables shows one benchmark's last real output.

``python tools/benchmarks.py [NAME ...]`` runs ``benchmarks/bench_NAME.py`` (all of them by default) and writes
``docs/tables/bench_NAME.md``; ``--check`` names the pages that are stale; ``--compare [NAME ...]`` runs them, writes nothing, and
says which ratios got worse than the recorded ones by more than 15 % (exit code 1).  A page carries the sha256 of the script that
printed it, so a page is stale when the script changed after the run, or when there is no page.  It is a record of one
run on one machine; a test cannot run it again, but it can see that nobody edited the one without the other.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "benchmarks"
PAGES = ROOT / "docs" / "tables"
#: What the recorded run of a benchmark is asked for beside its defaults.
OPTIONS = {"certified": ["--flint"], "check": ["--slow"]}
#: How much worse than the recorded ratio a ratio may be.
WORSE = 0.15
STAMP = re.compile(
    r"<!-- written by tools/benchmarks\.py from the output of (\S+), sha256 ([0-9a-f]{64}): do not edit -->"
)


def names() -> list[str]:
    return sorted(path.stem.removeprefix("bench_") for path in SCRIPTS.glob("bench_*.py"))


def page(name: str) -> Path:
    return PAGES / f"bench_{name}.md"


def stamp(name: str) -> str:
    script = SCRIPTS / f"bench_{name}.py"
    digest = hashlib.sha256(script.read_bytes()).hexdigest()
    return f"<!-- written by tools/benchmarks.py from the output of {script.name}, sha256 {digest}: do not edit -->"


def stale(name: str) -> bool:
    """Whether the page is missing or was printed by another text of the script."""
    if not page(name).exists():
        return True
    found = STAMP.match(page(name).read_text(encoding="utf-8"))
    return found is None or found.group(0) != stamp(name)


def printed_by(name: str) -> str:
    """What a benchmark prints, run with one thread."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    command = [sys.executable, str(SCRIPTS / f"bench_{name}.py"), *OPTIONS.get(name, [])]
    ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **threads}, cwd=ROOT)
    printed = ran.stdout.strip("\n")
    if not printed or "Traceback" in ran.stderr:
        raise SystemExit(f"bench_{name}.py printed no table: {ran.stderr.strip()[-500:]}")
    if printed.startswith("|") and not re.search(r"^Missed: ", printed, re.M):
        raise SystemExit(f"bench_{name}.py ended before its last line: {ran.stderr.strip()[-500:]}")
    return printed


def record(name: str) -> None:
    """Run a benchmark and write its page."""
    printed = printed_by(name)
    summary = (ast_docstring(SCRIPTS / f"bench_{name}.py").splitlines() or [""])[0]
    body = printed if printed.lstrip().startswith(("|", "<!--")) else f"```text\n{printed}\n```"
    shown = " ".join([f"benchmarks/bench_{name}.py", *OPTIONS.get(name, [])])
    text = f"{stamp(name)}\n# {summary.rstrip('.')}\n\n`python {shown}` printed, with one thread:\n\n{body}\n"
    page(name).write_text(text, encoding="utf-8")


def ratios(text: str) -> dict[str, tuple[float, bool]]:
    """The ratios of a page or of an output by what they are of, and whether more is better.

    >>> ratios("| what | size | ratio | target |\\n| --- | --- | --- | --- |\\n| a / b | d = 2 | 1.5 | <= 2 |")
    {'a / b, d = 2': (1.5, False)}
    >>> ratios("spectrum: 8556/s in batches, 178.6/s one by one, ratio 48")
    {'spectrum': (48.0, True)}
    """
    found: dict[str, tuple[float, bool]] = {}
    columns: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and "ratio" in cells and "what" in cells:
            columns = cells
        elif line.startswith("|") and columns and len(cells) == len(columns) and not set(cells[0]) <= {"-"}:
            row = dict(zip(columns, cells, strict=True))
            of = ", ".join(part for part in (row["what"], row.get("size", "")) if part)
            found[of] = float(row["ratio"]), ">=" in row.get("target", "") or "faster" in row.get("target", "")
        elif not line.startswith("|"):
            columns = []
            plain = re.match(r"(\w[^:|]*): .*\bratio ([\d.]+)$", line)
            if plain:
                found[plain[1]] = float(plain[2]), True
    return found


def worse(recorded: str, now: str) -> list[str]:
    """Which ratios got worse by more than :data:`WORSE`, and which are no longer measured.

    >>> table = "| what | ratio | target |\\n| --- | --- | --- |\\n| a / b | {} | {} |"
    >>> worse(table.format(1.0, "<= 2"), table.format(1.2, "<= 2"))
    ['a / b: 1.2, was 1 (20 % worse)']
    >>> worse(table.format(10, ">= 8"), table.format(8, ">= 8"))
    ['a / b: 8, was 10 (25 % worse)']
    >>> worse(table.format(1.0, "<= 2"), table.format(1.1, "<= 2"))
    []
    """
    before, after = ratios(recorded), ratios(now)
    found = [f"{of}: no longer measured, was {before[of][0]:g}" for of in before if of not in after]
    for of, (ratio, more) in after.items():
        old = before[of][0] if of in before else None
        if old is not None and min(old, ratio) > 0:
            change = (old / ratio if more else ratio / old) - 1
            if change > WORSE:
                found.append(f"{of}: {ratio:g}, was {old:g} ({100 * change:.0f} % worse)")
        elif old is not None and more and ratio < old:
            found.append(f"{of}: {ratio:g}, was {old:g}")
    return found


def compare(name: str) -> list[str]:
    """Run a benchmark, print what it printed, and what got worse than its page."""
    printed = printed_by(name)
    print(f"{printed}\n", flush=True)
    if not page(name).exists():
        return []
    return [f"bench_{name}: {each}" for each in worse(page(name).read_text(encoding="utf-8"), printed)]


def ast_docstring(path: Path) -> str:
    import ast

    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--check"]:
        late = [name for name in names() if stale(name)]
        for name in late:
            print(f"docs/tables/bench_{name}.md is stale: run python tools/benchmarks.py {name}")
        return 1 if late else 0
    comparing = arguments[:1] == ["--compare"]
    arguments = arguments[1:] if comparing else arguments
    unknown = sorted(set(arguments) - set(names()))
    if unknown:
        raise SystemExit(f"no benchmark {', '.join(unknown)}: expected one of {', '.join(names())}")
    if comparing:
        late = [each for name in arguments or names() for each in compare(name)]
        print("\n".join(late) if late else f"No ratio is worse than the recorded one by more than {WORSE:.0%}.")
        return 1 if late else 0
    for name in arguments or names():
        record(name)
        print(f"wrote docs/tables/bench_{name}.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
