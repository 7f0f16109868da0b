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
  // the parts of a picture have names that a reader by ear is not told: the whole has one
  const unlabelled = svg => svg.querySelectorAll("g[aria-label]").forEach(part => {
    part.dataset.mark = part.getAttribute("aria-label"); part.removeAttribute("aria-label");
  });
  // a picture of Observable Plot with a name for who cannot see it
  const picture = (label, options) => {
    const drawn = Plot.plot({ style: { background: "transparent", color: "var(--ink)", fontSize: "12px" }, ...options });
    const svg = drawn.tagName === "svg" ? drawn : drawn.querySelector("svg");
    svg.setAttribute("role", "img"); svg.setAttribute("aria-label", label);
    unlabelled(svg);
    return drawn;
  };
  const short = value => value === null || value === undefined ? "-"
    : Number.isInteger(Number(value)) && Math.abs(value) < 1e4 ? String(Number(value)) : Number(value).toPrecision(4);
  const rough = value => String(Number(Number(value).toPrecision(3)));
  // a statement by its title, as a link to its text on this page
  // a text with ids in parentheses, each the link to its statement
  const linked = text => text.split(/\(([A-Z]{2}-[A-Z]{0,3}\d+(?:\.\d+)?[a-z]?)\)/).map((part, place) => {
    if (place % 2 === 0) return part;
    const whole = make("span"); whole.append("(", named(part), ")");
    return whole;
  });
  const named = id => {
    const title = document.querySelector(`[id="s-${id}"] .title`), link = make("a", { href: `#s-${id}` }, title ? title.textContent : id);
    const whole = make("span"); whole.append(link, " ", make("span", { class: "id" }, id));
    return whole;
  };
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
  const line = () => { const row = make("div", { role: "row" }); heat.append(row); return row; };
  const top = line();
  top.append(make("span", { class: "name", role: "columnheader" }, "head"));
  for (let column = 0; column < count; column += 1) top.append(make("span", { class: "number", role: "columnheader" }, String(column)));
  top.append(make("span", { class: "number whole", role: "columnheader" }, "layer"));
  const label = layer => {
    const shared = data.layers.filter(other => other.weights_of === layer.layer);
    return shared.length > 1 ? `layers ${shared[0].layer}–${shared[shared.length - 1].layer}` : `layer ${layer.layer}`;
  };
  distinct.forEach((layer, row) => {
    const held = line(), buttons = [];
    held.append(make("span", { class: "name", role: "rowheader" }, label(layer)));
    for (let column = 0; column <= count; column += 1) {
      const head = layer.heads[column], whole = column === count;
      if (!head && !whole) { held.append(make("span", { role: "gridcell" })); buttons.push(null); continue; }
      const cell = make("button", { type: "button", role: "gridcell", tabindex: row + column ? "-1" : "0", ...(whole ? { class: "whole" } : {}) });
      cell.dataset.row = row; cell.dataset.column = column;
      cell.addEventListener("click", () => choose(row, column));
      held.append(cell); buttons.push(cell);
    }
    cells.push(buttons);
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
  // by quantiles one outlier leaves the others their colours: a value is coloured by its rank, equal values alike
  const bars = document.getElementById("legend"), scaled = document.getElementById("scale");
  const ruler = numbers => {
    if (!numbers.length) return null;
    const sorted = [...numbers].sort((a, b) => a - b), last = sorted.length - 1, low = sorted[0], high = sorted[last];
    const first = new Map(), final = new Map();
    sorted.forEach((v, i) => { if (!first.has(v)) first.set(v, i); final.set(v, i); });
    const ranks = scaled.value === "rank";
    const place = v => low === high ? 0.5 : ranks ? (first.get(v) + final.get(v)) / 2 / last : (v - low) / (high - low);
    return { place, low, high, at: t => ranks ? sorted[Math.round(t * last)] : low + t * (high - low) };
  };
  const bar = (scale, over) => {
    const held = make("figure"), caption = !scale ? `no value for ${over}` : scale.low === scale.high ? `${short(scale.low)} for all ${over}`
      : `${over}: ${short(scale.low)} to ${short(scale.high)}`;
    if (scale && scale.low !== scale.high) held.append(Plot.legend({ width: 260, marginLeft: 18, marginRight: 18, ticks: [0, 0.25, 0.5, 0.75, 1],
      tickFormat: t => rough(scale.at(t)), color: { type: "linear", domain: [0, 1], interpolate: colour }, style: { color: "var(--ink)" } }));
    const drawn = held.querySelector("svg");
    if (drawn) { drawn.setAttribute("role", "img"); drawn.setAttribute("aria-label", `colour bar, ${caption}`); unlabelled(drawn); }
    held.append(make("figcaption", {}, caption + (scale && scale.low !== scale.high && scaled.value === "rank" ? ", by quantiles" : "")));
    return held;
  };
  const paint = () => {
    const choice = choices[Number(select.value)];
    const scale = whole => {
      const numbers = [];
      if (!choice.word) cells.forEach((line, row) => line.forEach((cell, column) => {
        if (cell && (column === count) === whole) { const v = value(choice, row, column); if (v !== null) numbers.push(v); }
      }));
      return ruler(numbers);
    };
    const scales = [scale(false), scale(true)];
    const tint = (v, of) => v === null || !of ? "transparent" : colour(of.place(v));
    cells.forEach((line, row) => line.forEach((cell, column) => {
      if (!cell) return;
      const v = value(choice, row, column), whole = column === count;
      const where = whole ? `${label(distinct[row])}, all heads` : `${label(distinct[row])}, head ${column}`;
      cell.style.background = choice.word ? words[v] : tint(v, scales[Number(whole)]);
      cell.title = `${where}: ${choice.word ? v : short(v)}`;
      cell.setAttribute("aria-label", cell.title);
    }));
    scaled.disabled = choice.word;
    bars.replaceChildren(...choice.word
      ? [Plot.legend({ color: { type: "categorical", domain: Object.keys(words), range: Object.values(words) }, style: { color: "var(--ink)" } })]
      : [bar(scales[0], "heads"), bar(scales[1], "layers")]);
  };
  scaled.addEventListener("change", paint);
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
      more.append(make("summary", {}, `certificate: ${verdict.certificate.kind}`), make("pre", { tabindex: "0" }, JSON.stringify(verdict.certificate, null, 1)));
      entry.append(more);
    }
    list.append(entry);
  };
  function wholeHead(head, shown, list) {
    const sizes = make("table");
    const top = make("tr"); ["matrix", "norm", "to symmetric", "to I", "sym to ≻ 0", "sym to ≺ 0"].forEach(name => top.append(make("th", {}, name)));
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
  let asked = 0;
  async function choose(row, column, unasked = false) {
    detail.toggleAttribute("data-unasked", unasked);
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
    } else if (unasked) {  // what nobody asked for is told in short
      const head = shown.heads[column], words = [["inertia of sym(P)", head.score_inertia], ["inertia of sym(U)", head.value_inertia], ["leader of U = O V", head.value_leader]];
      words.forEach(([name, verdict]) => list.append(make("dt", {}, name), make("dd", {}, verdict.verdict)));
      list.append(make("dt", {}, "regime"), make("dd", {}, head.regime.regime));
      detail.append(make("p", { class: "quiet" }, "Choose a cell for reasons, margins, sizes, conditions and certificates."));
    } else {
      const head = shown.heads[column];
      verdictRows(list, "inertia of sym(P)", head.score_inertia);
      verdictRows(list, "inertia of sym(U)", head.value_inertia);
      verdictRows(list, "leader of U = O V", head.value_leader);
      const regime = make("dd", {}, `${head.regime.regime} (${head.regime.of}): `);
      regime.append(...linked(head.regime.reason));
      list.append(make("dt", {}, "regime"), regime);
      const met = make("dd", {}, head.met.length ? "" : "none");
      head.met.forEach((id, place) => met.append(place ? ", " : "", named(id)));
      list.append(make("dt", {}, "conditions met as if the head were alone"), met);
      wholeHead(head, shown, list);
    }
    reachable(detail);
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
  let view = null, shownLayer = null;  // what of the plane is seen: [[x0, x1], [y0, y1]], or all
  function drawCloud(layer, seen = null) {
    shownLayer = layer; view = seen;
    const leader = layer.leaders.step.eigenvalue, radius = leader ? Math.hypot(1 + leader.re, leader.im) : 0;
    const [left, right, high] = layer.discs.reduce(([a, b, c], [re, im, within]) =>
      [Math.min(a, re - within), Math.max(b, re + within), Math.max(c, Math.abs(im) + within)], [0, 0, 0]);
    // the eigenvalues fill the picture: of a circle that is much larger, the part among them is seen
    const spread = Math.max(-left, right, high) || 1, circle = leader && 1 + radius <= 2.2 * spread;
    const ends = circle ? [Math.min(left, -1 - radius), Math.max(right, radius - 1), Math.max(high, radius)] : [left, right, high || spread / 4];
    const pad = 0.04 * (ends[1] - ends[0] || 1);
    const [xs, ys] = seen ?? [[ends[0] - pad, ends[1] + pad], [-ends[2] - pad, ends[2] + pad]];
    const turns = Array.from({ length: 241 }, (_, k) => 2 * Math.PI * k / 240);
    const inside = layer.discs.filter(([re, im]) => re >= xs[0] && re <= xs[1] && im >= ys[0] && im <= ys[1]);
    const width = 520, height = 460, margins = { marginLeft: 52, marginBottom: 40, marginTop: 24, marginRight: 16 };
    // a unit is as long on both axes
    const unit = Math.max((xs[1] - xs[0]) / (width - 68), (ys[1] - ys[0]) / (height - 64));
    const grown = ([a, b], length) => { const middle = (a + b) / 2; return [middle - unit * length / 2, middle + unit * length / 2]; };
    const x = grown(xs, width - 68), y = grown(ys, height - 64);
    const says = ([re, im, within]) => `${short(re)} ${im < 0 ? "-" : "+"} ${short(Math.abs(im))} i, within ${within.toExponential(2)}`;
    const marks = leader ? [leader, ...(leader.im ? [{ ...leader, im: -leader.im }] : [])].map(each => ({ re: each.re, im: each.im })) : [];
    // its name stands beside the leader where it would stick out on the right
    const aside = leader && x[1] - leader.re < 40 * unit;
    const drawn = picture(`${layer.discs.length} certified eigenvalue discs` + (leader ? `, leader ${short(leader.re)}${leader.im ? ` ± ${short(Math.abs(leader.im))} i` : ""}` : ""), {
      width, height, ...margins, x: { domain: x, label: "Re λ", grid: true, ticks: 7 }, y: { domain: y, label: "Im λ", grid: true, ticks: 7 },
      marks: [
        Plot.ruleX([0], { stroke: "var(--soft)" }), Plot.ruleY([0], { stroke: "var(--soft)" }),
        ...(leader ? [Plot.line(turns, { x: t => radius * Math.cos(t) - 1, y: t => radius * Math.sin(t), stroke: "var(--undecided)", strokeDasharray: "4 3", clip: true, className: "unit" })] : []),
        Plot.dot(inside, { x: d => d[0], y: d => d[1], r: d => Math.max(2.2, d[2] / unit), fill: "var(--accent)", fillOpacity: 0.6, clip: true }),
        Plot.dot(marks, { x: "re", y: "im", symbol: "times", r: 7, stroke: "var(--fails)", strokeWidth: 2.5, clip: true }),
        Plot.text(marks.slice(0, 1), { x: "re", y: "im", text: () => "leader", dy: -14, textAnchor: aside ? "end" : "middle", dx: aside ? 8 : 0, fill: "var(--ink)", stroke: "var(--paper)", strokeWidth: 4, clip: true }),
        Plot.tip(inside, Plot.pointer({ x: d => d[0], y: d => d[1], title: says, fill: "var(--paper)", maxRadius: 12 })),
      ], r: { type: "identity" },
    });
    const svg = drawn.tagName === "svg" ? drawn : drawn.querySelector("svg");
    svg.dataset.view = JSON.stringify([x, y]);
    zoomable(svg, x, y, { width, height, left: 52, right: 16, top: 24, bottom: 40 });
    document.getElementById("cloud").replaceChildren(drawn);
  }
  const zoomable = (svg, x, y, box) => {
    const at = event => {
      const place = svg.getBoundingClientRect(), across = (event.clientX - place.left) / place.width * box.width, down = (event.clientY - place.top) / place.height * box.height;
      const part = Math.min(1, Math.max(0, (across - box.left) / (box.width - box.left - box.right))), rise = Math.min(1, Math.max(0, (box.height - box.bottom - down) / (box.height - box.top - box.bottom)));
      return { across, down, re: x[0] + part * (x[1] - x[0]), im: y[0] + rise * (y[1] - y[0]) };
    };
    let from = null, frame = null;
    svg.addEventListener("pointerdown", event => { from = at(event); event.preventDefault(); }, true);  // before the tips, which keep it
    svg.addEventListener("pointermove", event => {
      if (!from) return;
      const to = at(event);
      if (!frame) { frame = document.createElementNS("http://www.w3.org/2000/svg", "rect"); svg.append(frame); }
      for (const [name, v] of Object.entries({ x: Math.min(from.across, to.across), y: Math.min(from.down, to.down), width: Math.abs(to.across - from.across),
        height: Math.abs(to.down - from.down), fill: "none", stroke: "var(--accent)" })) frame.setAttribute(name, v);
    });
    svg.addEventListener("pointerup", event => {
      const begun = from; from = null;
      if (frame) frame.remove();
      if (!begun) return;
      const to = at(event);
      if (Math.abs(to.across - begun.across) < 6 || Math.abs(to.down - begun.down) < 6) return;
      drawCloud(shownLayer, [[Math.min(begun.re, to.re), Math.max(begun.re, to.re)], [Math.min(begun.im, to.im), Math.max(begun.im, to.im)]]);
    });
    svg.addEventListener("dblclick", () => drawCloud(shownLayer));
  };
  const zoom = (factor, toLeader) => {
    if (!shownLayer) return;
    const svg = document.querySelector("#cloud svg[data-view]"), [x, y] = JSON.parse(svg.dataset.view), leader = shownLayer.leaders.step.eigenvalue;
    const middle = toLeader && leader ? [leader.re, leader.im] : [(x[0] + x[1]) / 2, (y[0] + y[1]) / 2];
    drawCloud(shownLayer, [x, y].map((ends, k) => { const half = (ends[1] - ends[0]) / 2 * factor; return [middle[k] - half, middle[k] + half]; }));
  };
  document.getElementById("closer").addEventListener("click", () => zoom(0.5, true));
  document.getElementById("wider").addEventListener("click", () => zoom(2, false));
  document.getElementById("whole").addEventListener("click", () => { if (shownLayer) drawCloud(shownLayer); });
  which.addEventListener("change", cloud);

  const curves = document.getElementById("curves");
  const plot = (title, axis, series, zero) => {
    const points = series.flatMap(each => each.values.map((value, i) => ({ i, value, low: each.band?.[i][0], high: each.band?.[i][1], colour: each.colour })));
    const figure = make("figure"), whole = points.length < 12 ? points.map(each => each.i) : undefined;
    figure.append(picture(title, { width: 262, height: 200, marginLeft: 54, marginBottom: 36, marginTop: 14,
      x: { label: axis, ticks: whole ?? 6, tickFormat: k => Number.isInteger(k) ? String(k) : "" }, y: { label: null, ticks: 5, grid: true, zero },
      marks: [
        ...(zero ? [Plot.ruleY([0], { stroke: "var(--soft)" })] : []),
        ...(series[0].band ? [Plot.areaY(points, { x: "i", y1: "low", y2: "high", fill: series[0].colour, fillOpacity: 0.22, className: "band" })] : []),
        Plot.line(points, { x: "i", y: "value", stroke: series[0].colour, strokeWidth: 2, marker: points.length < 20 ? "dot" : null }),
        Plot.tip(points, Plot.pointer({ x: "i", y: "value", fill: "var(--paper)", title: d => `${d.i}: ${short(d.value)}` + (d.low === undefined ? "" : ` in [${short(d.low)}, ${short(d.high)}]`) })),
      ] }), make("figcaption", {}, title));
    curves.append(figure);
  };
  const seen = data.observed;
  if (seen.length) {
    // before the first layer, then after each; no band where one sequence was run
    const ends = (name, of = o => o[name]) => [of(seen[0])[0], ...seen.map(o => of(o)[1])];
    const along = name => [{ values: ends(name), colour: "var(--holds)",
      band: seen.every(o => o[`${name}_intervals`]) ? ends(name, o => o[`${name}_intervals`]) : undefined }];
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
    if (seen.some(each => each.isIntersecting)) {
      watch.disconnect(); cloud();
      if (!asked && cells.length) choose(0, cells[0][0] ? 0 : count, true);  // the reader sees what a choice shows
    }
  }, { rootMargin: "600px" }).observe(document.getElementById("cloud"));
  window.addEventListener("beforeprint", () => {
    const layer = ready.get(Number(which.value));
    if (layer) { drawn = which.value; drawCloud(layer); }
  });
})();
// A formula that does not fit beside its title has the width of the page, and is set smaller where that is not enough.
(() => {
  const rows = [...document.querySelectorAll(".row")].filter(row => row.querySelector(".why"));
  const letters = part => part.offsetWidth / parseFloat(getComputedStyle(part).fontSize);
  const spread = () => rows.filter(row => row.clientWidth).forEach(row => {
    const parts = [...row.querySelectorAll(".why .katex-html > .base")];
    row.classList.toggle("wide", parts.some(part => part.offsetWidth > row.clientWidth / 2));
    row.style.setProperty("--letters", Math.max(1, ...parts.map(letters)).toFixed(1));
  });
  let waiting = 0;
  const later = () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(spread); };
  const seen = new MutationObserver(later);
  document.querySelectorAll("ol.rows").forEach(list => seen.observe(list, { childList: true, subtree: true, attributes: true, attributeFilter: ["hidden"] }));
  addEventListener("resize", later);
  later();
})();
