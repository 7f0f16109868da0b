"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byIndex = new Map(data.layers.map(layer => [layer.layer, layer]));
  const distinct = data.layers.filter(layer => layer.weights_of === layer.layer);
  const make = (tag, attributes = {}, text = "") => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text) node.textContent = text;
    return node;
  };
  const draw = (tag, attributes = {}, text = "") => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text) node.textContent = text;
    return node;
  };
  const short = value => value === null || value === undefined ? "-"
    : Number.isInteger(Number(value)) && Math.abs(value) < 1e4 ? String(Number(value)) : Number(value).toPrecision(4);
  const rough = value => String(Number(Number(value).toPrecision(3)));
  const interval = ends => { const [low, high] = ends.map(short); return low === high ? low : `[${low}, ${high}]`; };
  // viridis-like, colour-blind safe; t in [0, 1]
  const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  const colour = t => {
    const place = Math.min(0.9999, Math.max(0, t)) * (stops.length - 1), low = Math.floor(place), part = place - low;
    return `rgb(${stops[low].map((value, i) => Math.round(value + part * (stops[low + 1][i] - value))).join(",")})`;
  };
  const words = { holds: "#0072b2", fails: "#d55e00", undecided: "#b8a12e" };

  const choices = data.choices.map((choice, place) => ({ ...choice, place }));
  const select = document.getElementById("colour");
  choices.forEach(choice => select.append(make("option", { value: String(choice.place) }, choice.name)));
  // the details of a layer stay packed (zlib, base64) until it is first opened
  const opened = new Map();
  const unpack = async name => {
    if (!window.DecompressionStream) throw new Error("this browser is too old to unpack the details (it needs DecompressionStream)");
    const bytes = Uint8Array.from(atob(document.getElementById(name).textContent), letter => letter.charCodeAt(0));
    return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text());
  };
  const ready = new Map();
  const full = layer => {
    const index = layer.layer;
    if (!opened.has(index)) opened.set(index, unpack(`layer-${index}`).then(found => { ready.set(index, found); return found; }));
    return opened.get(index);
  };

  const heat = document.getElementById("heat");
  const count = Math.max(1, ...distinct.map(layer => layer.heads.length));
  heat.style.gridTemplateColumns = `max-content repeat(${count}, minmax(var(--cell, 1.6rem), 1fr)) minmax(max-content, 1fr)`;
  const cells = [];
  // head numbers above the columns; the last column, set apart, is the whole layer
  heat.append(make("span", { class: "name", role: "columnheader" }, "head"));
  for (let column = 0; column < count; column += 1) heat.append(make("span", { class: "number", role: "columnheader" }, String(column)));
  heat.append(make("span", { class: "number whole", role: "columnheader" }, "layer"));
  const label = layer => {
    const shared = data.layers.filter(other => other.weights_of === layer.layer);
    return shared.length > 1 ? `layers ${shared[0].layer}–${shared[shared.length - 1].layer}` : `layer ${layer.layer}`;
  };
  distinct.forEach((layer, row) => {
    heat.append(make("span", { class: "name" }, label(layer)));
    const line = [];
    for (let column = 0; column <= count; column += 1) {
      const head = layer.heads[column], whole = column === count;
      if (!head && !whole) { heat.append(make("span")); line.push(null); continue; }
      const cell = make("button", { type: "button", role: "gridcell", tabindex: row + column ? "-1" : "0", ...(whole ? { class: "whole" } : {}) });
      cell.dataset.row = row; cell.dataset.column = column;
      cell.addEventListener("click", () => choose(row, column));
      heat.append(cell); line.push(cell);
    }
    cells.push(line);
  });
  heat.addEventListener("keydown", event => {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const at = document.activeElement;
    const edge = { Home: -Infinity, End: Infinity }[event.key];  // the ends of the row; with Ctrl, of the column too
    if (!move && !edge) return;
    event.preventDefault();
    const [down, right] = move ?? [event.ctrlKey ? edge : 0, edge];
    const row = Number(at.dataset.row ?? 0) + down, column = Number(at.dataset.column ?? 0) + right;
    const next = cells[Math.min(cells.length - 1, Math.max(0, row))]?.[Math.min(count, Math.max(0, column))];
    if (next) next.focus();
  });
  const value = (choice, row, column) => {
    const layer = distinct[row];
    return (column === count ? layer.whole : layer.heads[column])[choice.place];
  };
  const paint = () => {
    const choice = choices[Number(select.value)];
    const scale = whole => {
      const numbers = [];
      if (!choice.word) cells.forEach((line, row) => line.forEach((cell, column) => {
        if (cell && (column === count) === whole) { const v = value(choice, row, column); if (v !== null) numbers.push(v); }
      }));
      return numbers.length ? [Math.min(...numbers), Math.max(...numbers)] : null;
    };
    const scales = [scale(false), scale(true)];
    // one large value would leave the rest dark: positive numbers over more than a decade are coloured by their logarithm
    const wide = ends => ends && ends[0] > 0 && ends[1] > 10 * ends[0];
    const place = (v, ends) => wide(ends) ? Math.log(v / ends[0]) / Math.log(ends[1] / ends[0]) : (v - ends[0]) / (ends[1] - ends[0] || 1);
    const tint = (v, ends) => v === null || !ends ? "transparent" : colour(place(v, ends));
    cells.forEach((line, row) => line.forEach((cell, column) => {
      if (!cell) return;
      const v = value(choice, row, column), whole = column === count;
      const where = whole ? `${label(distinct[row])}, all heads` : `${label(distinct[row])}, head ${column}`;
      cell.style.background = choice.word ? words[v] : tint(v, scales[Number(whole)]);
      cell.title = `${where}: ${choice.word ? v : short(v)}`;
      cell.setAttribute("aria-label", cell.title);
    }));
    const range = (ends, over) => !ends ? `no value for ${over}` : ends[0] === ends[1] ? `${short(ends[0])} for all ${over}`
      : `from ${short(ends[0])} (dark) to ${short(ends[1])} (bright${wide(ends) ? ", by its logarithm" : ""}) over the ${over}`;
    document.getElementById("legend").textContent = choice.word
      ? "blue: holds, orange: fails, yellow: undecided" : `${range(scales[0], "heads")}; ${range(scales[1], "layers")}`;
  };
  select.addEventListener("change", paint);

  const detail = document.getElementById("detail");
  const verdictRows = (list, name, verdict) => {
    list.append(make("dt", {}, name));
    const entry = make("dd");
    entry.append(make("span", { class: verdict.verdict }, verdict.verdict));
    const margin = verdict.margin === null ? "" : ` (margin ${short(verdict.margin)} ${verdict.unit})`;
    entry.append(document.createTextNode(`${margin}: ${verdict.reason}`));
    if (verdict.certificate) {
      const more = make("details");
      more.append(make("summary", {}, `certificate: ${verdict.certificate.kind}`), make("pre", {}, JSON.stringify(verdict.certificate, null, 1)));
      entry.append(more);
    }
    list.append(entry);
  };
  let asked = 0;
  async function choose(row, column) {
    cells.flat().forEach(cell => cell && cell.setAttribute("aria-selected", "false"));
    cells[row][column].setAttribute("aria-selected", "true");
    const layer = distinct[row], list = make("dl"), turn = asked += 1;
    let shown;
    try { shown = await full(layer); } catch (problem) { detail.textContent = problem.message; return; }
    if (turn !== asked) return;  // the reader has chosen again meanwhile
    detail.replaceChildren(make("h3", {}, column === count ? `${label(layer)}, all heads together` : `${label(layer)}, head ${column}`), list);
    if (column === count) {
      for (const [name, verdict] of Object.entries(shown.leaders)) verdictRows(list, `leader by ${name}`, verdict);
      verdictRows(list, "inertia of sym(S)", shown.score_inertia);
      list.append(make("dt", {}, "regime"), make("dd", {}, `${shown.regime.regime} (${shown.regime.of}): ${shown.regime.reason}`));
      list.append(make("dt", {}, "system"), make("dd", {}, shown.system));
    } else {
      const head = shown.heads[column];
      verdictRows(list, "inertia of sym(P)", head.score_inertia);
      verdictRows(list, "inertia of sym(U)", head.value_inertia);
      verdictRows(list, "leader of U = O V", head.value_leader);
      list.append(make("dt", {}, "regime"), make("dd", {}, `${head.regime.regime} (${head.regime.of}): ${head.regime.reason}`));
      list.append(make("dt", {}, "conditions met as if the head were alone"), make("dd", {}, head.met.join(", ") || "none"));
      const sizes = make("table");
      const top = make("tr"); ["", "norm", "to symmetric", "to I", "sym to ≻ 0", "sym to ≺ 0"].forEach(name => top.append(make("th", {}, name)));
      sizes.append(top);
      for (const [name, of] of Object.entries(head.sizes)) {
        const line = make("tr"); line.append(make("th", {}, name));
        for (const key of ["norm", "distance_to_symmetric", "distance_to_identity", "distance_to_positive_definite", "distance_to_negative_definite"])
          line.append(make("td", {}, of[key] ? interval(of[key]) : "-"));
        sizes.append(line);
      }
      list.append(make("dt", {}, "certified sizes (spectral norm)")); const held = make("dd"); const wide = make("div", { class: "display" }); wide.append(sizes); held.append(wide); list.append(held);
      head.rotary.forEach(each => list.append(make("dt", {}, `rotary, offset ${each.offset}`),
        make("dd", {}, `|P(δ)| ${interval(each.norm)}, |ΔW(δ)| ${interval(each.change)}` + (each.relative_change ? `, |ΔW| / |P| ${interval(each.relative_change)}` : ""))));
      const more = make("details"), inner = make("dl");
      more.append(make("summary", {}, "every condition of the statements about one head, as if it were alone"), inner);
      head.conditions.forEach((found, place) => {
        if (!found) return;
        const [verdict, margin, unit, reason] = found;
        verdictRows(inner, shown.conditions[place], { verdict, margin, unit, reason, certificate: null });
      });
      inner.querySelectorAll("dt").forEach(node => { if (window.katex) { try { katex.render(node.textContent, node, { throwOnError: false }); } catch { /* the LaTeX text stays */ } } });
      detail.append(more);
    }
    which.value = String(layer.layer);
    cloud();
  }

  const which = document.getElementById("which");
  distinct.forEach(layer => which.append(make("option", { value: String(layer.layer) }, label(layer))));
  let drawn = null;
  async function cloud() {
    if (drawn === which.value) return;
    const turn = drawn = which.value;
    try {
      const layer = await full(byIndex.get(Number(turn)));
      if (turn === drawn) drawCloud(layer);
    } catch (problem) { document.getElementById("cloud").textContent = problem.message; }
  }
  function drawCloud(layer) {
    const size = 420, pad = 30;
    const svg = draw("svg", { viewBox: `0 0 ${size} ${size}`, width: size, height: size, role: "img",
      "aria-label": `${layer.discs.length} certified eigenvalue discs` });
    const leader = layer.leaders.step.eigenvalue, radius = leader ? Math.hypot(1 + leader.re, leader.im) : 0;
    // the eigenvalues fill the picture: of a circle that is much larger, the part among them is seen
    const spread = Math.max(...layer.discs.map(disc => Math.max(Math.abs(disc[0]), Math.abs(disc[1])) + disc[2]));
    const reach = Math.min(Math.max(1.05 * spread, leader ? 1.02 * (1 + radius) : 0), 2 * spread) || 1;
    const x = v => pad + (v + reach) / (2 * reach) * (size - 2 * pad), y = v => size - x(v);
    svg.append(draw("line", { x1: x(-reach), x2: x(reach), y1: y(0), y2: y(0), class: "axis" }),
      draw("line", { x1: x(0), x2: x(0), y1: y(-reach), y2: y(reach), class: "axis" }),
      draw("text", { x: size - pad - 14, y: y(0) - 5 }, "Re"), draw("text", { x: x(0) + 5, y: pad - 8 }, "Im"),
      draw("text", { x: x(-reach), y: size - 8 }, `Re from ${rough(-reach)}`),
      draw("text", { x: x(reach), y: size - 8, "text-anchor": "end" }, `to ${rough(reach)}`));
    if (leader) {
      svg.append(draw("circle", { cx: x(-1), cy: y(0), r: radius / (2 * reach) * (size - 2 * pad), fill: "none",
        stroke: "var(--undecided)", "stroke-dasharray": "4 3" }));
    }
    layer.discs.forEach(([re, im, within]) => {
      const dot = draw("circle", { cx: x(re), cy: y(im), r: Math.max(2, within / (2 * reach) * (size - 2 * pad)),
        fill: "var(--accent)", "fill-opacity": ".65" });
      dot.append(draw("title", {}, `${short(re)} ${im < 0 ? "-" : "+"} ${short(Math.abs(im))} i, within ${within.toExponential(2)}`));
      svg.append(dot);
    });
    document.getElementById("cloud").replaceChildren(svg);
  }
  which.addEventListener("change", cloud);

  const curves = document.getElementById("curves");
  const plot = (title, axis, series, zero) => {
    if (!series.length) return;
    const width = 320, height = 200, pad = 48;
    const all = series.flatMap(each => each.band ? each.band.flat() : each.values).concat(zero ? [0] : []);
    const low = Math.min(...all), high = Math.max(...all), span = high - low || 1, steps = series[0].values.length;
    const x = i => pad + (steps > 1 ? i / (steps - 1) : 0.5) * (width - pad - 10), y = v => height - 24 - (v - low) / span * (height - 44);
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title });
    svg.append(draw("line", { x1: pad, x2: width - 10, y1: height - 24, y2: height - 24, class: "axis" }),
      draw("line", { x1: pad, x2: pad, y1: 20, y2: height - 24, class: "axis" }),
      draw("text", { x: 2, y: 24 }, rough(high)), draw("text", { x: 2, y: height - 24 }, rough(low)),
      draw("text", { x: (pad + width) / 2, y: height - 6, "text-anchor": "middle" }, axis),
      draw("text", { x: x(0), y: height - 8, "text-anchor": "middle" }, "0"));
    if (steps > 1) svg.append(draw("text", { x: x(steps - 1), y: height - 8, "text-anchor": "end" }, String(steps - 1)));
    if (zero && low < 0 && high > 0) svg.append(draw("line", { x1: pad, x2: width - 10, y1: y(0), y2: y(0), class: "axis", "stroke-dasharray": "3 3" }));
    for (const each of series) {
      if (each.band) {
        const up = each.band.map((b, i) => `${x(i)},${y(b[1])}`), down = each.band.map((b, i) => `${x(i)},${y(b[0])}`).reverse();
        svg.append(draw("polygon", { points: [...up, ...down].join(" "), class: "band", fill: each.colour }));
      }
      svg.append(draw("polyline", { points: each.values.map((v, i) => `${x(i)},${y(v)}`).join(" "), class: "curve", stroke: each.colour }));
    }
    const figure = make("figure");
    figure.append(svg, make("figcaption", {}, title));
    curves.append(figure);
  };
  const seen = data.observed;
  if (seen.length) {
    const along = name => [{ values: [seen[0][name][0], ...seen.map(o => o[name][1])], colour: "var(--holds)" }];
    const applied = "layers applied (0: the input)";
    plot("mean distance of token directions", applied, along("mean_distance"));
    plot("E = 1 - mean cosine with the first token", applied, along("E"));
    plot("correlation with the principal direction of the layer just applied (at 0: of the first)", applied, along("correlation"));
    plot("change of that correlation in the layer, with its interval", "layer", [{ values: seen.map(o => o.delta_rho), band: seen.map(o => o.delta_rho_interval), colour: "var(--fails)" }], true);
    plot("fraction of tokens whose correlation grows, with its interval", "layer", [{ values: seen.map(o => o.probability), band: seen.map(o => o.probability_interval), colour: "var(--fails)" }]);
  } else curves.textContent = "No tokens were run.";
  paint();
  // unpacked at once and drawn when the reader comes near; paper cannot wait, so what is unpacked by then is drawn for it
  if (distinct.length) full(distinct[0]).catch(() => {});
  new IntersectionObserver((seen, watch) => {
    if (seen.some(each => each.isIntersecting)) { watch.disconnect(); cloud(); }
  }, { rootMargin: "600px" }).observe(document.getElementById("cloud"));
  window.addEventListener("beforeprint", () => {
    const layer = ready.get(Number(which.value));
    if (layer) { drawn = which.value; drawCloud(layer); }
  });
})();
