"""Bundle KaTeX (MIT) for offline pages: one script, one stylesheet with its fonts inlined, its licence.

Maintainers run this when KaTeX is updated (it needs npm, which checks what it fetched against its sha512); the
three files it writes are shipped as package data, so that users need nothing.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import tarfile
import tempfile
from pathlib import Path

VERSION = "0.16.22"
ASSETS = Path(__file__).resolve().parent.parent / "src" / "eigentoken" / "assets"


def inline_fonts(css: str, fonts: Path) -> str:
    """Each ``@font-face`` with its woff2 as a data address; the older formats are dropped."""

    def face(found: re.Match[str]) -> str:
        data = base64.b64encode((fonts / found.group(1)).read_bytes()).decode()
        return f'src:url(data:font/woff2;base64,{data}) format("woff2")'

    return re.sub(r'src:url\(fonts/([^)]+\.woff2)\) format\("woff2"\)[^}]*', face, css)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(
            ["npm", "pack", "--json", f"katex@{VERSION}"], cwd=folder, check=True, capture_output=True, text=True
        )
        archive = Path(folder) / json.loads(packed.stdout)[0]["filename"]
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
        dist = Path(folder) / "package" / "dist"
        script = (dist / "katex.min.js").read_text() + "\n" + (dist / "contrib" / "auto-render.min.js").read_text()
        (ASSETS / "katex.js").write_text(script)
        (ASSETS / "katex.css").write_text(inline_fonts((dist / "katex.min.css").read_text(), dist / "fonts"))
        (ASSETS / "katex-LICENSE.md").write_text((Path(folder) / "package" / "LICENSE").read_text())
    print(f"KaTeX {VERSION}: {sum(path.stat().st_size for path in ASSETS.glob('katex*')) // 1000} kB")


if __name__ == "__main__":
    main()
