// Formulas stand between $ in the files, where code hosts draw them, and are drawn here by the KaTeX of the other pages.
document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".arithmatex").forEach(each => renderMathInElement(each, {
  delimiters: [{ left: "\\[", right: "\\]", display: true }, { left: "\\(", right: "\\)", display: false }], throwOnError: false })));
// What axe-core finds in the theme: a dialog without a name, groups of buttons with one name, wide tables out of the keyboard's reach.
(() => {
  const named = () => {
    document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
    document.querySelectorAll("nav.md-code__nav").forEach((each, number) => each.setAttribute("aria-label", `code block ${number + 1}`));
    document.querySelectorAll(".arithmatex").forEach(each => {  // on a phone: a formula that no line holds scrolls by itself
      if (each.getBoundingClientRect().width > 0 && [...each.querySelectorAll(".base")].some(part =>
        part.getBoundingClientRect().right > innerWidth) && !each.closest(".md-typeset__scrollwrap")) { each.classList.add("wide"); each.tabIndex = 0; }
    });
    document.querySelectorAll(".md-typeset__scrollwrap").forEach(each => { if (each.scrollWidth > each.clientWidth) each.tabIndex = 0; });
  };
  let waiting = 0;
  const later = () => { clearTimeout(waiting); waiting = setTimeout(named, 50); };
  document.addEventListener("DOMContentLoaded", () => {
    named();
    new MutationObserver(later).observe(document.body, { childList: true, subtree: true });
  });
})();
// Before it is printed a formula is told how wide its longest unbroken part is, in its own letters (extra.css makes it fit).
addEventListener("beforeprint", () => [...document.querySelectorAll(".katex")].map(node => [node, Math.max(1, ...[...node.querySelectorAll(".katex-html > .base")]
  .map(part => part.offsetWidth / parseFloat(getComputedStyle(node).fontSize)))]).forEach(([node, width]) => node.style.setProperty("--letters", width.toFixed(1))));
