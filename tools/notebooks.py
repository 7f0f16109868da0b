"""Execute the notebooks in ``examples/`` and store their outputs: ``python tools/notebooks.py``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

__all__ = ["CellExecutionError", "execute", "execute_together"]

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def execute(path: Path) -> nbformat.NotebookNode:
    """The notebook with fresh outputs; an error in a cell is raised."""
    (notebook,) = execute_together([path])
    return notebook


def execute_together(paths: Sequence[Path]) -> list[nbformat.NotebookNode]:
    """The notebooks one after another in one kernel, which loads the libraries once and forgets all names in between."""
    notebooks = [nbformat.read(path, as_version=4) for path in paths]
    forget = nbformat.v4.new_code_cell("%reset -f")
    whole = nbformat.v4.new_notebook(
        cells=[cell for each in notebooks for cell in (*each.cells, deepcopy(forget))][:-1]
    )
    NotebookClient(whole, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    for notebook in notebooks:
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)
    return notebooks


def main() -> int:
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        nbformat.write(execute(path), path)
        print(f"executed {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
