"""Execute the notebooks in ``examples/`` and store their outputs: ``python tools/notebooks.py``."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def execute(path: Path) -> nbformat.NotebookNode:
    """The notebook with fresh outputs; an error in a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLES)}}
    ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    return notebook


def main() -> int:
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        nbformat.write(execute(path), path)
        print(f"executed {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
