"use strict";
// The dependency graph: pointing at a statement (or reaching it by keyboard) shows all that it rests on and all that uses it.
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
  const clear = () => { svg.classList.remove("chosen"); for (const part of [...edges, ...nodes]) part.classList.remove("near"); };
  const choose = node => {
    clear();
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
    let count = 0;
    for (const [row, text] of rows) {
      row.hidden = !words.every(word => text.includes(word));
      count += Number(!row.hidden);
    }
    document.getElementById("found").textContent = words.length ? `${count} of ${rows.length}` : "";
  };
  find.addEventListener("input", filter);
  filter();
}
