"use strict";
// The playground of a statement: its system on a sphere or circle, with controls, a plot, and a link that carries the state.
document.querySelectorAll("figure.play").forEach(figure => {
  const systems = JSON.parse(figure.dataset.play), part = name => figure.querySelector("." + name);
  const canvas = part("ball"), pen = canvas.getContext("2d"), plot = part("plot");
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d00", "#5a6672"];
  const option = (list, value, text) => { const made = document.createElement("option"); made.value = value; made.textContent = text; list.append(made); };
  systems.forEach((system, index) => option(part("which"), index, system.name));
  Object.keys(Sphere.quantities).forEach(name => option(part("quantity"), name, name));
  part("quantity").value = systems[0].quantity || "diameter";
  let system, x, trails, history, first, turn = [0.6, 0.35], running = false, layers = 0, seed = 7;
  const random = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
  const deep = value => JSON.parse(JSON.stringify(value));
  const flat = () => (system.d || 3) === 2;
  const fresh = () => [random() - 0.5, random() - 0.5, flat() ? 0 : random() - 0.5];

  function begin(tokens) {
    x = tokens.map(token => Sphere.normalise(system, token)); first = deep(x);
    trails = x.map(() => []); history = []; layers = 0; note(); draw();
  }
  function choose(tokens) {
    system = deep(systems[Number(part("which").value) || 0]);
    turn = flat() ? [0, -Math.PI / 2] : [0.6, 0.35];
    part("about").textContent = (system.about || "") + (system.tokens ? " Dashed rings: its own tokens." : ""); part("alive").hidden = !system.tokens;
    fill(); begin(tokens || system.tokens || Array.from({ length: system.n }, fresh));
  }
  // the controls show what the system is
  function fill() {
    const total = Sphere.sum(system.heads.map(head => head.F)), d = system.d || 3;
    part("alpha").value = system.alpha; part("alpha").closest("label").hidden = system.time !== "map";
    part("alpha-said").textContent = Number(system.alpha).toFixed(3);
    part("tokens").value = system.tokens ? system.tokens.length : system.n;
    part("tokens-said").textContent = part("tokens").value;
    part("dimension").value = d;
    const text = m => m.slice(0, d).map(row => row.slice(0, d).map(v => +v.toFixed(6)).join(" ")).join("\n");
    part("values").value = text(system.heads[0].F); part("scores").value = text(system.heads[0].M);
    part("scores").closest("label").hidden = system.uniform;
    const own = Sphere.eigen(total), editable = system.heads.length === 1 && Sphere.symmetric(total);
    part("eigenvalues").hidden = !editable;
    figure.querySelectorAll(".eigenvalue").forEach((slider, k) => {
      slider.closest("label").hidden = k >= d;
      if (editable) { slider.value = own[k].value; slider.nextElementSibling.textContent = own[k].value.toFixed(2); }
    });
    part("wrong").textContent = "";
  }
  const view = p => {
    const [a, b] = turn, x1 = Math.cos(a) * p[0] - Math.sin(a) * p[1], y1 = Math.sin(a) * p[0] + Math.cos(a) * p[1];
    return [x1, Math.cos(b) * p[2] - Math.sin(b) * y1, Math.sin(b) * p[2] + Math.cos(b) * y1];
  };
  const place = p => { const v = view(p); return [210 + 150 * v[0], 210 - 150 * v[1], v[2]]; };
  function line(points) {
    pen.beginPath();
    points.forEach((p, i) => { const [px, py] = place(p); i ? pen.lineTo(px, py) : pen.moveTo(px, py); });
    pen.stroke();
  }
  function note() { history.push({ at: layers, value: Sphere.quantities[part("quantity").value](system, x) }); if (history.length > 2000) history.shift(); }
  function draw() {
    const style = getComputedStyle(document.body), colour = name => style.getPropertyValue(name).trim();
    pen.clearRect(0, 0, 420, 420);
    pen.strokeStyle = colour("--line") || "#ccc"; pen.lineWidth = 1; pen.setLineDash([]);
    const circle = f => line(Array.from({ length: 61 }, (_, i) => Sphere.normalise(system, f(i / 30 * Math.PI))));
    if (flat()) circle(t => [Math.cos(t), Math.sin(t), 0]);
    else {
      for (let k = 0; k < 6; k += 1) { const c = k * Math.PI / 6; circle(t => [Math.cos(t) * Math.cos(c), Math.cos(t) * Math.sin(c), Math.sin(t)]); }
      for (let k = -2; k <= 2; k += 1) { const z = Math.sin(k * Math.PI / 6), r = Math.cos(k * Math.PI / 6); circle(t => [r * Math.cos(t), r * Math.sin(t), z]); }
    }
    directions(colour("--ink") || "#222");
    if (system.tokens) first.forEach((token, i) => {  // where a counterexample began
      const [px, py] = place(token);
      pen.strokeStyle = colours[i % colours.length]; pen.lineWidth = 2; pen.setLineDash([3, 3]);
      pen.beginPath(); pen.arc(px, py, 12, 0, 7); pen.stroke(); pen.setLineDash([]);
    });
    x.forEach((token, i) => {
      pen.strokeStyle = pen.fillStyle = colours[i % colours.length]; pen.lineWidth = 1.5; pen.globalAlpha = 0.5;
      line(trails[i]);
      const [px, py, depth] = place(token);
      pen.globalAlpha = depth < -1e-9 ? 0.45 : 1;
      pen.beginPath(); pen.arc(px, py, 7, 0, 7); pen.fill(); pen.globalAlpha = 1;
    });
    curve();
    const now = system.time === "map" ? `layer ${layers}` : `time ${(layers * 0.05).toFixed(2)}`;
    part("said").textContent = `${now}, diameter ${Sphere.quantities.diameter(system, x).toFixed(4)}`;
    figure.dataset.state = JSON.stringify(x); figure.dataset.layers = layers;
  }
  // both ends of each eigenvector of a symmetric F (of a head of a sample: of the real ones), the leading one strong
  function directions(shade) {
    const total = Sphere.sum(system.heads.map(head => head.F));
    figure.dataset.directions = 0;
    const given = system.directions && !flat() ? system.directions.map(vector => ({ vector })) : [];
    if (!Sphere.symmetric(total) && !given.length) return;
    const own = given.length ? given : Sphere.eigen(total).filter(each => !flat() || Math.abs(each.vector[2]) < 0.5);
    own.forEach((each, k) => {
      const name = `v${k + 1}`, tip = Sphere.scaled(Sphere.normalise(system, each.vector), 1.12);
      pen.strokeStyle = pen.fillStyle = shade; pen.globalAlpha = k ? 0.45 : 1; pen.lineWidth = k ? 1 : 2;
      pen.setLineDash([]); line([[0, 0, 0], tip]); pen.setLineDash([4, 4]); line([[0, 0, 0], Sphere.scaled(tip, -1)]);
      pen.setLineDash([]); pen.font = "13px system-ui, sans-serif"; pen.textAlign = "center";
      const [px, py] = place(Sphere.scaled(tip, 1.1)), [qx, qy] = place(Sphere.scaled(tip, -1.1));
      const inside = v => Math.min(404, Math.max(14, v));  // a long axis of an ellipsoid keeps its name on the canvas
      pen.fillText(`+${name}`, inside(px), inside(py + 4)); pen.fillText(`-${name}`, inside(qx), inside(qy + 4)); pen.globalAlpha = 1;
    });
    figure.dataset.directions = own.length;
  }
  // the quantity over the layers; drawn at most ten times a second, and once more at the end
  let drawn = 0, waiting = null;
  function curve() {
    figure.dataset.quantity = history[history.length - 1].value;
    if (waiting) return;
    const rest = Math.max(0, 100 - (performance.now() - drawn));
    waiting = setTimeout(() => { waiting = null; drawn = performance.now(); redraw(); }, drawn ? rest : 0);
  }
  function redraw() {
    const shown = history.filter(each => Number.isFinite(each.value));
    if (!shown.length) { plot.textContent = "not defined here: the values are not symmetric"; return; }
    const name = part("quantity").value, map = system.time === "map";
    // a start alone, or a value that stays, gets room around it: a scale of no length has ticks without end
    const values = shown.map(each => each.value), low = Math.min(...values), high = Math.max(...values);
    const room = Math.max(0, 0.02 * (Math.abs(low) || 1) - (high - low)), last = Math.max(map ? 10 : 1, shown.at(-1).at * (map ? 1 : 0.05));
    const made = Plot.plot({
      width: 420, height: 130, marginLeft: 54, marginBottom: 30, marginTop: 18, ariaLabel: name,
      style: { background: "transparent", color: "var(--ink)", fontSize: "11px" },
      x: { label: map ? "layer" : "time", ticks: 5, nice: false, domain: [shown[0].at * (map ? 1 : 0.05), last] }, y: { label: name, ticks: 4, grid: true, nice: true, domain: [low - room, high + room] },
      marks: [
        Plot.ruleY([shown[0].value], { stroke: "var(--soft)", strokeDasharray: "4 3" }),
        Plot.line(shown, { x: each => map ? each.at : each.at * 0.05, y: "value", stroke: "var(--accent)", strokeWidth: 1.8 }),
        Plot.dot(shown.slice(-1), { x: each => map ? each.at : each.at * 0.05, y: "value", r: 3, fill: "var(--accent)" }),
      ],
    });
    made.querySelectorAll("g[aria-label]").forEach(each => each.removeAttribute("aria-label"));  // the whole has a name
    plot.replaceChildren(made); figure.dataset.plotted = shown.length;
  }
  function forward(count) {
    for (let k = 0; k < count; k += 1) {
      const next = Sphere.step(system, x, 0.05);
      const moved = Math.max(...next.map((token, i) => Math.hypot(...Sphere.plus(token, x[i], -1))));
      x = next; layers += 1; note();
      x.forEach((token, i) => { trails[i].push(token); if (trails[i].length > 400) trails[i].shift(); });
      if (moved < 1e-9) { draw(); stop(); part("said").textContent += ", at rest"; return; }
    }
    draw();
  }
  function stop() { running = false; part("run").textContent = "run"; }
  function frame() {
    if (!running) return;
    forward(1);
    if (running) setTimeout(() => requestAnimationFrame(frame), system.time === "map" ? 120 : 16);
  }
  part("run").addEventListener("click", () => {
    if (calm) { forward(20); return; }
    running = !running; part("run").textContent = running ? "stop" : "run"; frame();
  });
  part("alive").addEventListener("click", () => {
    stop(); begin(deep(first)); part("nudge").click(); part("run").click();
  });
  part("step").addEventListener("click", () => { stop(); forward(1); });
  part("nudge").addEventListener("click", () => {
    x = x.map(token => Sphere.normalise(system, Sphere.plus(token, fresh(), 0.25))); note(); draw();
    part("said").textContent += ", nudged";
  });
  part("reset").addEventListener("click", () => { stop(); begin(deep(first)); });
  part("again").addEventListener("click", () => { stop(); delete system.tokens; begin(Array.from({ length: Number(part("tokens").value) }, fresh)); });
  part("which").addEventListener("change", () => { stop(); choose(); });
  part("quantity").addEventListener("change", () => { history = []; note(); draw(); });
  part("alpha").addEventListener("input", () => { system.alpha = Number(part("alpha").value); part("alpha-said").textContent = system.alpha.toFixed(3); draw(); });
  part("tokens").addEventListener("input", () => { part("tokens-said").textContent = part("tokens").value; begin(Array.from({ length: Number(part("tokens").value) }, fresh)); });
  part("dimension").addEventListener("change", () => {
    system.d = Number(part("dimension").value); turn = flat() ? [0, -Math.PI / 2] : [0.6, 0.35];
    const cut = m => m.map((row, i) => row.map((v, j) => flat() && (i > 1 || j > 1) ? 0 : v));
    const base = systems[Number(part("which").value) || 0];
    delete system.directions; system.heads = deep(base.heads).map(head => ({ F: cut(head.F), M: cut(head.M) }));
    system.metric = deep(base.metric).map((row, i) => row.map((v, j) => flat() && (i > 1) !== (j > 1) ? 0 : v));
    fill(); begin(Array.from({ length: Number(part("tokens").value) }, fresh));
  });
  figure.querySelectorAll(".eigenvalue").forEach((slider, k) => slider.addEventListener("input", () => {
    delete system.directions; const own = Sphere.eigen(system.heads[0].F); own[k].value = Number(slider.value);
    system.heads[0].F = [0, 1, 2].map(i => [0, 1, 2].map(j => own.reduce((total, each) => total + each.value * each.vector[i] * each.vector[j], 0)));
    slider.nextElementSibling.textContent = Number(slider.value).toFixed(2);
    const d = system.d || 3;
    part("values").value = system.heads[0].F.slice(0, d).map(row => row.slice(0, d).map(v => +v.toFixed(6)).join(" ")).join("\n");
    draw();
  }));
  function matrix(text) {
    const d = system.d || 3, rows = text.trim().split("\n").map(row => row.replace(/[[\],;]+/g, " ").trim().split(/\s+/).map(Number));
    if (rows.length !== d || rows.some(row => row.length !== d || !row.every(Number.isFinite))) {
      throw new Error(`expected ${d} rows of ${d} numbers, got ${rows.length} rows of ${rows.map(row => row.length).join(", ")}`);
    }
    return [0, 1, 2].map(i => [0, 1, 2].map(j => i < d && j < d ? rows[i][j] : 0));
  }
  part("use").addEventListener("click", () => {
    try {
      const F = matrix(part("values").value), M = system.uniform ? system.heads[0].M : matrix(part("scores").value);
      delete system.directions; system.heads = [{ F, M }, ...system.heads.slice(1)]; fill(); draw();
    } catch (problem) { part("wrong").textContent = problem.message; }
  });
  const packed = () => btoa(JSON.stringify({ which: Number(part("which").value) || 0, alpha: system.alpha, d: system.d || 3, heads: system.heads, tokens: x }))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  part("link").addEventListener("click", () => {
    location.hash = "state=" + packed();
    if (navigator.clipboard && isSecureContext) navigator.clipboard.writeText(location.href).catch(() => undefined);
    part("said").textContent += ", the address carries this state";
  });
  function unpacked() {
    const found = /#state=([\w-]+)/.exec(location.hash);
    if (!found) return null;
    try {
      const state = JSON.parse(atob(found[1].replaceAll("-", "+").replaceAll("_", "/")));
      const three = row => Array.isArray(row) && row.length === 3 && row.every(Number.isFinite);
      const square = m => Array.isArray(m) && m.length === 3 && m.every(three);
      const good = systems[state.which] && Number.isFinite(state.alpha) && [2, 3].includes(state.d) && state.heads.length > 0
        && state.heads.every(head => square(head.F) && square(head.M)) && state.tokens.length > 0 && state.tokens.every(three);
      return good ? state : null;
    } catch { return null; }
  }
  let held = null, from = null;
  const where = event => { const box = canvas.getBoundingClientRect(); return [(event.clientX - box.left) * 420 / box.width, (event.clientY - box.top) * 420 / box.height]; };
  canvas.addEventListener("pointerdown", event => {
    const [px, py] = where(event);
    held = x.findIndex(token => { const [qx, qy] = place(token); return Math.hypot(px - qx, py - qy) < 12; });
    from = [px, py]; canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    if (!from) return;
    const [px, py] = where(event);
    if (held >= 0) {
      const right = (px - 210) / 150, up = (210 - py) / 150, [a, b] = turn;
      const flatness = Math.min(0.999, Math.hypot(right, up)), k = flatness / (Math.hypot(right, up) || 1);
      const depth = flat() ? 0 : Math.sqrt(1 - flatness * flatness) * (view(x[held])[2] < 0 ? -1 : 1);
      const z = Math.cos(b) * up * k + Math.sin(b) * depth, y1 = -Math.sin(b) * up * k + Math.cos(b) * depth, x1 = right * k;
      x[held] = Sphere.normalise(system, [Math.cos(a) * x1 + Math.sin(a) * y1, -Math.sin(a) * x1 + Math.cos(a) * y1, flat() ? 0 : z]);
      trails[held] = [];
    } else if (!flat()) turn = [turn[0] + (px - from[0]) / 120, turn[1] + (py - from[1]) / 120];
    from = [px, py]; draw();
  });
  canvas.addEventListener("pointerup", () => { held = null; from = null; });
  canvas.addEventListener("keydown", event => {
    const by = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.15], ArrowDown: [0, 0.15] }[event.key];
    if (!by || flat()) return;
    event.preventDefault(); turn = [turn[0] + by[0], turn[1] + by[1]]; draw();
  });
  const carried = unpacked();
  if (carried) {
    part("which").value = carried.which; choose();
    if (JSON.stringify(carried.heads) !== JSON.stringify(system.heads)) delete system.directions;
    Object.assign(system, { alpha: carried.alpha, d: carried.d, heads: carried.heads });
    turn = flat() ? [0, -Math.PI / 2] : [0.6, 0.35]; system.tokens = carried.tokens; fill(); begin(carried.tokens);
  } else choose();
});

document.querySelectorAll("button.copy").forEach(button => button.addEventListener("click", () => {
  const text = button.closest("body").querySelector("pre.bibtex").textContent;
  const done = () => { button.textContent = "copied"; };
  if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(text).then(done, done);
  else { const area = document.createElement("textarea"); area.value = text; document.body.append(area); area.select(); document.execCommand("copy"); area.remove(); done(); }
}));
