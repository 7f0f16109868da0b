"""Which lines the tests reached: a table a room, the total, and a floor below which this fails.

``make test-all`` measures while it runs (``[tool.coverage.run]`` in ``pyproject.toml``) and then calls this.  Lines that run
only in processes that a test starts are not counted, so the numbers are lower bounds.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "build" / "coverage" / "report.json"
#: percent of all lines, rounded down: the normal suite with the slow tests of liars, theory and models reached 45,139 of 48,021
FLOOR = 93


def room_of(name: str) -> str:
    """``theory/language`` for a module two levels deep, the face by its folders; a module in the open is its part's.

    >>> room_of("theory/language/words.py"), room_of("src/eigentoken/checking/run.py"), room_of("proofs/verify.py")
    ('theory/language', 'src/eigentoken/checking', 'proofs')
    """
    parts = Path(name).parts
    deep = 3 if parts[0] == "src" else 2
    return "/".join(parts[:-1][:deep])


def rooms(files: Mapping[str, Mapping[str, Mapping[str, int]]]) -> dict[str, tuple[int, int]]:
    """Room -> (lines reached, lines), from the ``files`` of coverage's JSON."""
    counted: dict[str, tuple[int, int]] = {}
    for name, each in sorted(files.items()):
        reached, lines = counted.get(room_of(name), (0, 0))
        summary = each["summary"]
        counted[room_of(name)] = reached + summary["covered_lines"], lines + summary["num_statements"]
    return counted


def table(counted: Mapping[str, tuple[int, int]]) -> Iterable[str]:
    """One line a room, and the total."""
    total = tuple(map(sum, zip(*counted.values(), strict=True)))
    width = max(map(len, counted))
    for name, (reached, lines) in [*counted.items(), ("total", total)]:
        yield f"{name:{width}}  {reached:6} of {lines:6} lines  {100 * reached / max(lines, 1):5.1f} %"


def main() -> int:
    from coverage.cmdline import main as coverage

    REPORT.parent.mkdir(parents=True, exist_ok=True)
    if coverage(["json", "--quiet"]) not in (0, None):
        print("nothing was measured: run make test-all", file=sys.stderr)
        return 2
    counted = rooms(json.loads(REPORT.read_text(encoding="utf-8"))["files"])
    print("\n".join(table(counted)))
    reached, lines = (sum(each) for each in zip(*counted.values(), strict=True))
    if 100 * reached < FLOOR * lines:
        print(
            f"the tests reach {100 * reached / lines:.1f} % of the lines, below the floor of {FLOOR} %", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
