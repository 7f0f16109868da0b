"""Self-contained HTML pages: style, KaTeX and content in one file that opens offline, light and dark, and prints.

Every page is a template of ``assets`` (Jinja2, which escapes what it is given) in ``base.html``, with the look of ``page.css``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

__all__ = ["asset", "filled", "mathematical", "page"]

#: What is wider than its place scrolls, and can be reached by keyboard; a colon or comma stays with the formula before it.
REACHABLE = """
document.addEventListener("toggle", event => { if (event.target.open) reachable(event.target); }, true);
function reachable(root) {
  for (const node of [root, ...root.querySelectorAll(".display, .scroll, .why, p, ul, ol, dt, pre, figcaption")]) {
    const style = getComputedStyle(node), wide = node.scrollWidth > node.clientWidth + 1 && style.overflowX === "auto";
    if (wide || (node.scrollHeight > node.clientHeight + 1 && style.overflowY === "auto")) node.tabIndex = 0;
  }
}
"""
#: KaTeX over a part of the page.
TYPESET = """
function typeset(root) {
  renderMathInElement(root, {
    delimiters: [{left: "\\\\[", right: "\\\\]", display: true}, {left: "\\\\(", right: "\\\\)", display: false}],
    throwOnError: false, errorColor: "#b34700" });
  for (const node of root.querySelectorAll(".katex")) {
    const after = node.parentNode.nextSibling, mark = after?.nodeType === Node.TEXT_NODE && /^[.,:;)!?]+/.exec(after.data);
    const last = mark && [...node.querySelectorAll(".katex-html > .base")].pop();
    if (!last) continue;
    const held = document.createElement("span");
    held.className = "after"; held.textContent = mark[0];
    after.data = after.data.slice(mark[0].length); last.append(held);
  }
  reachable(root);
}
"""
#: Paper does not scroll: a formula whose longest unbroken part is wider than the page is told how wide it is, in its own letters,
#: and the style for print makes it so small that it fits.
FITTED = """
function fitted() {
  const letters = node => Math.max(0, ...[...node.querySelectorAll(".katex-html > .base")].map(part => part.offsetWidth))
    / parseFloat(getComputedStyle(node).fontSize);
  const wide = [...document.querySelectorAll(".katex")].map(node => [node, letters(node)]).filter(([, width]) => width > 12);
  for (const [node, width] of wide) node.style.setProperty("--letters", width.toFixed(1));
}
"""
RENDER = (
    REACHABLE
    + TYPESET
    + FITTED
    + """
document.addEventListener("DOMContentLoaded", () => { typeset(document.body); fitted(); });
window.addEventListener("beforeprint", fitted);
"""
)


#: The same for a long page: what is in sight (or printed) is rendered, the rest when the reader comes near it.
RENDER_NEAR = (
    REACHABLE
    + TYPESET
    + FITTED
    + """
document.addEventListener("DOMContentLoaded", () => {
  const spots = [...document.querySelectorAll("p, li, tr, h1, h2, h3, dt, dd, figcaption")]
    .filter(node => node.textContent.includes("\\\\(") || node.textContent.includes("\\\\["));
  const near = new IntersectionObserver(seen => seen.forEach(each => {
    if (each.isIntersecting) { near.unobserve(each.target); typeset(each.target); }
  }), { rootMargin: "600px" });
  const first = new Set(spots.filter(node => node.getClientRects().length && node.getBoundingClientRect().top < innerHeight));
  first.forEach(typeset);
  spots.forEach(node => { if (!first.has(node)) near.observe(node); });
  window.addEventListener("beforeprint", () => { near.disconnect(); spots.forEach(typeset); fitted(); });
});
"""
)


@lru_cache
def asset(name: str) -> str:
    """The text of a file shipped in ``eigentoken/assets``."""
    return (files("eigentoken") / "assets" / name).read_text(encoding="utf-8")


@lru_cache
def _templates() -> Environment:
    """The templates of ``assets``: everything is escaped, and a name that is not given is an error."""
    found = Environment(
        loader=FunctionLoader(asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.globals["asset"] = lambda name: Markup(asset(name))
    found.filters["mathematical"] = mathematical
    return found


def mathematical(text: str) -> Markup:
    """LaTeX between the delimiters that KaTeX reads."""
    return Markup(r"\({}\)").format(text)


def filled(template: str, **parts: object) -> Markup:
    """The template with its parts."""
    return Markup(_templates().get_template(template).render(parts))


def page(
    title: str,
    body: str,
    *,
    style: str = "",
    scripts: Sequence[str] = (),
    mathematics: bool = True,
    long: bool = False,
    linked: bool = False,
) -> str:
    """One HTML file; ``mathematics`` adds KaTeX (650 kB) and renders what stands between its delimiters.

    On a ``long`` page a formula is rendered when the reader comes near it, or prints.  A page that is ``linked`` takes style and
    scripts (their names) from the files beside it.
    """
    return filled(
        "base.html",
        title=title,
        body=Markup(body),
        style=Markup(style),
        scripts=[each if linked else Markup(each) for each in scripts],
        mathematics=mathematics,
        render=Markup(RENDER_NEAR if long else RENDER),
        linked=linked,
    )
