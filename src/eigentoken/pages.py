"""Self-contained HTML pages: style, KaTeX and content in one file that opens offline, light and dark, and prints."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from importlib.resources import files

__all__ = ["asset", "page"]

RENDER = """
document.addEventListener("DOMContentLoaded", () => renderMathInElement(document.body, {
  delimiters: [{left: "\\\\[", right: "\\\\]", display: true}, {left: "\\\\(", right: "\\\\)", display: false}],
  throwOnError: false, errorColor: "#d55e00" }));
"""


@lru_cache
def asset(name: str) -> str:
    """The text of a file shipped in ``eigentoken/assets``."""
    return (files("eigentoken") / "assets" / name).read_text(encoding="utf-8")


def page(title: str, body: str, *, style: str = "", script: str = "", mathematics: bool = True) -> str:
    """One HTML file; ``mathematics`` adds KaTeX (650 kB) and renders what stands between its delimiters."""
    katex = f"<style>{asset('katex.css')}</style>\n<script>{asset('katex.js')}</script>\n" if mathematics else ""
    render = f"<script>{RENDER}</script>\n" if mathematics else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n{katex}<style>{asset('page.css')}{style}</style>\n</head>\n<body>\n{body}\n"
        f"{render}{f'<script>{script}</script>' if script else ''}\n</body>\n</html>\n"
    )
