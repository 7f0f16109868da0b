"use strict";
(() => {
  // lines over the models: a panel each, bands where intervals are certified, a name at the end of each line
  const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#8a5fa8", "#7a7a7a"];
  const few = COLOURS.length;
  for (const place of document.querySelectorAll(".lines[data-panels]")) {
    for (const panel of JSON.parse(place.dataset.panels)) {
      const names = panel.lines.filter(line => !line.faint).map(line => line.name);
      const rows = panel.lines.flatMap((line, number) => line.x.map((x, i) =>
        ({ number, name: line.name, faint: line.faint, x, y: line.y[i], low: line.low[i], high: line.high[i] })));
      const known = rows.filter(row => row.y !== null), bold = known.filter(row => !row.faint);
      const banded = bold.filter(row => row.high > row.low);
      const last = names.map(name => bold.filter(row => row.name === name).at(-1)).filter(Boolean);
      // the names at the ends, a line apart from each other
      const all = known.map(row => row.y), apart = (Math.max(...all) - Math.min(...all)) / 15;
      [...last].sort((a, b) => a.y - b.y).reduce((below, row) => { row.at = Math.max(row.y, below + apart); return row.at; }, -Infinity);
      const colour = names.length > few ? { type: "ordinal", domain: names, scheme: "viridis", legend: false }
        : { domain: names, range: COLOURS.slice(0, names.length) };
      const drawn = Plot.plot({
        width: 460, height: 270, marginLeft: 52, marginRight: 70, marginBottom: 38, grid: true, color: colour,
        style: { background: "transparent", color: "var(--ink)", fontSize: "12px" },
        x: { type: panel.log ? "log" : "linear", label: panel.x, ticks: panel.log ? 4 : Math.min(8, panel.lines[0].x.length), tickFormat: panel.log ? "~s" : "d" },
        y: { label: null, nice: true },
        marks: [
          Plot.areaY(banded, { x: "x", y1: "low", y2: "high", fill: "name", fillOpacity: 0.18, z: "name" }),
          Plot.line(known.filter(row => row.faint), { x: "x", y: "y", z: "number", stroke: "var(--soft)", strokeOpacity: 0.35, strokeWidth: 0.8 }),
          Plot.line(bold, { x: "x", y: "y", z: "name", stroke: "name", strokeWidth: 2 }),
          bold.length > 200 ? null : Plot.dot(bold, { x: "x", y: "y", fill: "name", r: 3 }),
          names.length > few ? null : Plot.text(last, { x: "x", y: "at", text: "name", dx: 8, textAnchor: "start", fill: "var(--ink)" }),
          Plot.tip(bold, Plot.pointer({ x: "x", y: "y", title: row => `${row.name}\n${panel.x} ${row.x}: ${row.y.toPrecision(4)}`, fill: "var(--paper)" })),
        ].filter(Boolean),
      });
      const svg = drawn.tagName === "svg" ? drawn : drawn.querySelector("svg");
      const said = last.map(row => `${row.name} ends at ${row.y.toPrecision(3)}`).join(", ");
      svg.setAttribute("role", "img"); svg.setAttribute("aria-label", `${panel.title}: ${said}`);
      svg.querySelectorAll("g[aria-label]").forEach(part => { part.dataset.mark = part.getAttribute("aria-label"); part.removeAttribute("aria-label"); });
      const held = document.createElement("figure"), caption = document.createElement("figcaption");
      caption.textContent = panel.title; held.append(caption, drawn); place.append(held);
    }
  }
})();
