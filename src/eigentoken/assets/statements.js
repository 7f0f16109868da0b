"use strict";
// the statements of a report: find, sort, one group at a time, and a link to any of them opens what it is in
(() => {
  const groups = [...document.querySelectorAll("details.group")], rows = [...document.querySelectorAll("li.row")];
  const find = document.getElementById("find"), sort = document.getElementById("sort"), all = document.getElementById("all-groups");
  const tiles = [...document.querySelectorAll(".tile")], found = document.getElementById("found");
  const opened = new Map(groups.map(group => [group, group.open]));
  const bunches = [...document.querySelectorAll("li.bunch")], home = rows.map(row => row.parentNode);
  const top = new Map(groups.map(group => [group, [...group.querySelector("ol.rows").children]]));
  const plain = new Map();
  const text = row => {  // titles and ids at once; conditions and claims when somebody first looks for something
    if (!plain.has(row)) plain.set(row, `${row.dataset.text} ${row.textContent.toLowerCase()}`);
    return plain.get(row);
  };
  let only = "";
  const bunched = () => bunches.forEach(bunch => { bunch.hidden = !bunch.querySelector("li.row:not([hidden])"); });
  const show = () => {
    const wanted = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach(row => {
      const group = row.closest("details.group");
      const fits = (!only || group.dataset.group === only) && wanted.every(word => text(row).includes(word));
      row.hidden = !fits;
      if (fits) count += 1;
    });
    bunched();
    groups.forEach(group => {
      const some = [...group.querySelectorAll("li.row")].some(row => !row.hidden);
      group.hidden = !some;
      group.open = some && (wanted.length || only ? true : opened.get(group));
    });
    found.textContent = wanted.length || only ? `${count} of ${rows.length}` : "";
    all.hidden = !only;
    tiles.forEach(tile => tile.setAttribute("aria-pressed", String(tile.dataset.group === only)));
  };
  const order = {
    book: (a, b) => a.dataset.book - b.dataset.book,
    distance: (a, b) => a.dataset.distance - b.dataset.distance || order.book(a, b),
    holding: (a, b) => b.dataset.holding - a.dataset.holding || order.book(a, b),
    title: (a, b) => a.dataset.text.localeCompare(b.dataset.text),
  };
  // by reason, statements that share one stand under it; in any other order each stands alone, with its own
  sort.addEventListener("change", () => {
    if (sort.value === "reason") rows.forEach((row, place) => home[place].append(row));
    groups.forEach(group => {
      const list = sort.value === "reason" ? top.get(group) : [...group.querySelectorAll("li.row")].sort(order[sort.value]);
      group.querySelector("ol.rows").append(...list);
    });
    bunched();
  });
  find.addEventListener("input", show);
  tiles.forEach(tile => tile.addEventListener("click", () => {
    only = only === tile.dataset.group ? "" : tile.dataset.group;
    show();
    document.getElementById("statements").scrollIntoView();
  }));
  all.addEventListener("click", () => { only = ""; show(); });
  const reach = () => {
    const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!row || !row.classList.contains("row")) return;
    only = ""; find.value = ""; show();
    row.closest("details.group").open = true;
    row.querySelector("details.text").open = true;
    row.scrollIntoView({ block: "center" });
  };
  window.addEventListener("hashchange", reach);
  // a second click on the same link changes no address
  document.addEventListener("click", event => {
    const link = event.target.closest?.("a[href^='#s-']");
    if (link && link.getAttribute("href") === location.hash) reach();
  });
  let before = [];
  window.addEventListener("beforeprint", () => { before = groups.map(group => [group, group.open]); });
  window.addEventListener("afterprint", () => before.forEach(([group, open]) => { group.open = open; }));
  reach();
})();
