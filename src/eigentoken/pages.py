"""Self-contained HTML pages: style, KaTeX and content in one file that opens offline, light and dark, and prints."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from importlib.resources import files

__all__ = ["asset", "page"]

#: What is wider than its place scrolls, and can be reached by keyboard.
REACHABLE = """
function reachable(root) {
  for (const node of [root, ...root.querySelectorAll(".display, .scroll, p, ul, ol, pre, figcaption")]) {
    if (node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).overflowX === "auto") node.tabIndex = 0;
  }
}
"""
RENDER = (
    REACHABLE
    + """
document.addEventListener("DOMContentLoaded", () => { renderMathInElement(document.body, {
  delimiters: [{left: "\\\\[", right: "\\\\]", display: true}, {left: "\\\\(", right: "\\\\)", display: false}],
  throwOnError: false, errorColor: "#b34700" }); reachable(document.body); });
"""
)


#: The same for a long page: what is in sight (or printed) is rendered, the rest when the reader comes near it.
RENDER_NEAR = (
    REACHABLE
    + """
document.addEventListener("DOMContentLoaded", () => {
  const spots = [...document.querySelectorAll("p, li, tr, h1, h2, h3, dt, dd, figcaption")]
    .filter(node => node.textContent.includes("\\\\(") || node.textContent.includes("\\\\["));
  const render = node => { renderMathInElement(node, {
    delimiters: [{left: "\\\\[", right: "\\\\]", display: true}, {left: "\\\\(", right: "\\\\)", display: false}],
    throwOnError: false, errorColor: "#b34700" }); reachable(node); };
  const near = new IntersectionObserver(seen => seen.forEach(each => {
    if (each.isIntersecting) { near.unobserve(each.target); render(each.target); }
  }), { rootMargin: "600px" });
  const first = new Set(spots.filter(node => node.getClientRects().length && node.getBoundingClientRect().top < innerHeight));
  first.forEach(render);
  spots.forEach(node => { if (!first.has(node)) near.observe(node); });
  window.addEventListener("beforeprint", () => { near.disconnect(); spots.forEach(render); });
});
"""
)


@lru_cache
def asset(name: str) -> str:
    """The text of a file shipped in ``eigentoken/assets``."""
    return (files("eigentoken") / "assets" / name).read_text(encoding="utf-8")


def page(
    title: str, body: str, *, style: str = "", script: str = "", mathematics: bool = True, long: bool = False
) -> str:
    """One HTML file; ``mathematics`` adds KaTeX (650 kB) and renders what stands between its delimiters.

    On a ``long`` page a formula is rendered when the reader comes near it, or prints.
    """
    katex = f"<style>{asset('katex.css')}</style>\n<script>{asset('katex.js')}</script>\n" if mathematics else ""
    render = f"<script>{RENDER_NEAR if long else RENDER}</script>\n" if mathematics else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n{katex}<style>{asset('page.css')}{style}</style>\n</head>\n<body>\n{body}\n"
        f"{render}{f'<script>{script}</script>' if script else ''}\n</body>\n</html>\n"
    )
