"""mypy on the package: the rooms are links in ``src/eigentoken``, so the settings in ``pyproject.toml`` say it all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parent.parent
    sys.exit(subprocess.run([sys.executable, "-m", "mypy", *sys.argv[1:]], cwd=root).returncode)
