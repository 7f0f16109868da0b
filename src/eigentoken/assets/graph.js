"use strict";
// The dependency graph: pointing at a statement (or reaching it by keyboard) shows all that it rests on and all that uses it.
const searched = { ids: null, show: [] };  // the statements that the search finds, shown in the graph while nothing is pointed at
for (const svg of document.querySelectorAll("svg.graph")) {
  const edges = [...svg.querySelectorAll(".edge")], nodes = [...svg.querySelectorAll(".node")];
  const reached = (start, here, there) => {
    const found = new Set([start]), open = [start];
    while (open.length) {
      const name = open.pop();
      for (const edge of edges) {
        if (edge.dataset[here] !== name) continue;
        edge.classList.add("near");
        if (!found.has(edge.dataset[there])) { found.add(edge.dataset[there]); open.push(edge.dataset[there]); }
      }
    }
    return found;
  };
  const clear = () => {
    for (const part of [...edges, ...nodes]) part.classList.remove("near");
    for (const node of searched.ids ? nodes : []) node.classList.toggle("near", searched.ids.has(node.dataset.id));
    svg.classList.toggle("chosen", searched.ids !== null && nodes.length > 0);
  };
  searched.show.push(clear);
  const choose = node => {
    for (const edge of edges) edge.classList.remove("near");
    const near = new Set([...reached(node.dataset.id, "to", "from"), ...reached(node.dataset.id, "from", "to")]);
    for (const other of nodes) other.classList.toggle("near", near.has(other.dataset.id));
    svg.classList.add("chosen");
  };
  for (const node of nodes) {
    node.addEventListener("pointerenter", () => choose(node));
    node.addEventListener("focus", () => choose(node));
    node.addEventListener("pointerleave", clear);
    node.addEventListener("blur", clear);
  }
}

// The table of statements: every word that is typed must occur in the row.
const find = document.getElementById("find");
if (find) {
  const rows = [...document.querySelectorAll("#all tr[data-id]")].map(row => [row, (row.textContent + " " + row.dataset.text).toLowerCase()]);
  const filter = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const ids = new Set();
    for (const [row, text] of rows) {
      row.hidden = !words.every(word => text.includes(word));
      if (!row.hidden) ids.add(row.dataset.id);
    }
    document.getElementById("found").textContent = words.length ? `${ids.size} of ${rows.length}` : "";
    searched.ids = words.length ? ids : null;
    searched.show.forEach(show => show());
    // the first of what was found stand right under the question; the table has them all
    const hits = document.getElementById("hits"), first = rows.filter(([row]) => !row.hidden).slice(0, 8);
    hits.hidden = !words.length || !first.length;
    hits.replaceChildren(...(hits.hidden ? [] : first).map(([row]) => {
      const item = document.createElement("li");
      item.append(row.querySelector("a").cloneNode(true), ` (${row.dataset.id})`);
      return item;
    }));
  };
  find.addEventListener("input", filter);
  filter();
}
