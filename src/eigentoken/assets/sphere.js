"use strict";
// Tokens on a sphere or ellipsoid: the systems of eigentoken in three dimensions, for the eye.
// A browser test compares `advance` with the toolkit's own loops.
const Sphere = (() => {
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const times = (m, x) => m.map(row => dot(row, x));
  const plus = (a, b, c = 1) => a.map((value, i) => value + c * b[i]);
  const scaled = (a, c) => a.map(value => value * c);
  const norm = (system, x) => Math.sqrt(dot(x, times(system.metric, x)));
  const normalise = (system, x) => scaled(x, 1 / norm(system, x));

  function influence(system, x) {
    return x.map((xi, i) => {
      let total = [0, 0, 0];
      for (const head of system.heads) {
        const seen = x.map((_, j) => !system.causal || j <= i);
        const scores = x.map((xj, j) => seen[j] ? (system.uniform ? 0 : dot(xi, times(head.M, xj))) : -Infinity);
        const top = Math.max(...scores), weights = scores.map(score => Math.exp(score - top));
        const sum = weights.reduce((a, b) => a + b, 0) * (system.overRootD ? Math.sqrt(system.d || 3) : 1);
        let mixed = [0, 0, 0];
        x.forEach((xj, j) => { mixed = plus(mixed, xj, weights[j] / sum); });
        total = plus(total, times(head.F, mixed));
      }
      return total;
    });
  }
  // the next state of a map, or the velocity of a flow
  function advance(system, x) {
    const u = influence(system, x);
    if (system.time === "map") return x.map((xi, i) => normalise(system, plus(xi, u[i], system.alpha)));
    return x.map((xi, i) => plus(u[i], xi, -dot(xi, times(system.metric, u[i]))));
  }
  function step(system, x, h) {
    if (system.time === "map") return advance(system, x);
    const on = y => y.map(token => normalise(system, token));
    const k1 = advance(system, x), mid = on(x.map((xi, i) => plus(xi, k1[i], h / 2)));
    const k2 = advance(system, mid), mid2 = on(x.map((xi, i) => plus(xi, k2[i], h / 2)));
    const k3 = advance(system, mid2), last = on(x.map((xi, i) => plus(xi, k3[i], h)));
    const k4 = advance(system, last);
    return on(x.map((xi, i) => xi.map((v, c) => v + h / 6 * (k1[i][c] + 2 * k2[i][c] + 2 * k3[i][c] + k4[i][c]))));
  }
  return { advance, step, normalise, dot, plus, scaled };
})();

document.querySelectorAll("figure.play").forEach(figure => {
  const systems = JSON.parse(figure.dataset.play);
  const canvas = figure.querySelector("canvas"), pen = canvas.getContext("2d");
  const which = figure.querySelector(".which"), run = figure.querySelector(".run"), said = figure.querySelector(".said");
  const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d00", "#5a6672"];
  systems.forEach((system, index) => {
    const option = document.createElement("option");
    option.value = index; option.textContent = system.name; which.append(option);
  });
  let system, x, trails, turn = [0.6, 0.35], running = false, layers = 0, seed = 7;
  const random = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
  const start = () => {
    system = systems[Number(which.value) || 0];
    x = (system.tokens || Array.from({ length: system.n }, () => [random() - 0.5, random() - 0.5, random() - 0.5]))
      .map(token => Sphere.normalise(system, token));
    trails = x.map(() => []); layers = 0; draw();
  };
  const view = p => {
    const [a, b] = turn, x1 = Math.cos(a) * p[0] - Math.sin(a) * p[1], y1 = Math.sin(a) * p[0] + Math.cos(a) * p[1];
    return [x1, Math.cos(b) * p[2] - Math.sin(b) * y1, Math.sin(b) * p[2] + Math.cos(b) * y1];
  };
  const place = p => { const v = view(p); return [210 + 165 * v[0], 210 - 165 * v[1], v[2]]; };
  function ring(points) {
    pen.beginPath();
    points.forEach((p, i) => { const [px, py] = place(p); i ? pen.lineTo(px, py) : pen.moveTo(px, py); });
    pen.stroke();
  }
  function draw() {
    const style = getComputedStyle(document.body);
    pen.clearRect(0, 0, 420, 420);
    pen.strokeStyle = style.getPropertyValue("--line") || "#ccc"; pen.lineWidth = 1;
    const circle = f => ring(Array.from({ length: 61 }, (_, i) => Sphere.normalise(system, f(i / 30 * Math.PI))));
    for (let k = 0; k < 6; k += 1) { const c = k * Math.PI / 6; circle(t => [Math.cos(t) * Math.cos(c), Math.cos(t) * Math.sin(c), Math.sin(t)]); }
    for (let k = -2; k <= 2; k += 1) { const z = Math.sin(k * Math.PI / 6), r = Math.cos(k * Math.PI / 6); circle(t => [r * Math.cos(t), r * Math.sin(t), z]); }
    x.forEach((token, i) => {
      pen.strokeStyle = pen.fillStyle = colours[i % colours.length]; pen.lineWidth = 1.5; pen.globalAlpha = 0.5;
      ring(trails[i]);
      const [px, py, depth] = place(token);
      pen.globalAlpha = depth < 0 ? 0.45 : 1;
      pen.beginPath(); pen.arc(px, py, 7, 0, 7); pen.fill(); pen.globalAlpha = 1;
    });
    const spread = Math.max(...x.flatMap(a => x.map(b => Math.hypot(...Sphere.plus(a, b, -1)))));
    said.textContent = `${system.time === "map" ? `layer ${layers}` : `time ${(layers * 0.05).toFixed(2)}`}, diameter ${spread.toFixed(4)}`;
    figure.dataset.state = JSON.stringify(x);
  }
  function frame() {
    if (!running) return;
    x = Sphere.step(system, x, 0.05); layers += 1;
    x.forEach((token, i) => { trails[i].push(token); if (trails[i].length > 400) trails[i].shift(); });
    draw();
    setTimeout(() => requestAnimationFrame(frame), system.time === "map" ? 120 : 16);
  }
  run.addEventListener("click", () => { running = !running; run.textContent = running ? "stop" : "run"; frame(); });
  figure.querySelector(".again").addEventListener("click", start);
  which.addEventListener("change", start);
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
      const right = (px - 210) / 165, up = (210 - py) / 165, [a, b] = turn;
      const flat = Math.min(0.999, Math.hypot(right, up)), k = flat / (Math.hypot(right, up) || 1);
      const depth = Math.sqrt(1 - flat * flat) * (view(x[held])[2] < 0 ? -1 : 1);
      const z = Math.cos(b) * up * k + Math.sin(b) * depth, y1 = -Math.sin(b) * up * k + Math.cos(b) * depth, x1 = right * k;
      x[held] = Sphere.normalise(system, [Math.cos(a) * x1 + Math.sin(a) * y1, -Math.sin(a) * x1 + Math.cos(a) * y1, z]);
      trails[held] = [];
    } else turn = [turn[0] + (px - from[0]) / 120, turn[1] + (py - from[1]) / 120];
    from = [px, py]; draw();
  });
  canvas.addEventListener("pointerup", () => { held = null; from = null; });
  start();
});

document.querySelectorAll("button.copy").forEach(button => button.addEventListener("click", () => {
  const text = button.closest("body").querySelector("pre.bibtex").textContent;
  const done = () => { button.textContent = "copied"; };
  if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(text).then(done, done);
  else { const area = document.createElement("textarea"); area.value = text; document.body.append(area); area.select(); document.execCommand("copy"); area.remove(); done(); }
}));
