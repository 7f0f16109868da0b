"""Keep what the documentation says about speed true: each page in docs/tables shows one benchmark's last real output.

``python tools/benchmarks.py [NAME ...]`` runs ``benchmarks/bench_NAME.py`` (all of them by default) and writes
``docs/tables/bench_NAME.md``; ``--check`` names the pages that are stale.  A page carries the sha256 of the script that
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
OPTIONS = {"certified": ["--flint"]}
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


def record(name: str) -> None:
    """Run a benchmark with one thread and write its page."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    command = [sys.executable, str(SCRIPTS / f"bench_{name}.py"), *OPTIONS.get(name, [])]
    ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **threads}, cwd=ROOT)
    printed = ran.stdout.strip("\n")
    if not printed or "Traceback" in ran.stderr:
        raise SystemExit(f"bench_{name}.py printed no table: {ran.stderr.strip()[-500:]}")
    summary = (ast_docstring(SCRIPTS / f"bench_{name}.py").splitlines() or [""])[0]
    body = printed if printed.lstrip().startswith(("|", "<!--")) else f"```text\n{printed}\n```"
    shown = " ".join([f"benchmarks/bench_{name}.py", *OPTIONS.get(name, [])])
    text = f"{stamp(name)}\n# {summary.rstrip('.')}\n\n`python {shown}` printed, with one thread:\n\n{body}\n"
    page(name).write_text(text, encoding="utf-8")


def ast_docstring(path: Path) -> str:
    import ast

    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--check"]:
        late = [name for name in names() if stale(name)]
        for name in late:
            print(f"docs/tables/bench_{name}.md is stale: run python tools/benchmarks.py {name}")
        return 1 if late else 0
    unknown = sorted(set(arguments) - set(names()))
    if unknown:
        raise SystemExit(f"no benchmark {', '.join(unknown)}: expected one of {', '.join(names())}")
    for name in arguments or names():
        record(name)
        print(f"wrote docs/tables/bench_{name}.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
