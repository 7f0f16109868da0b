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
  // eigenvalues (largest first) and unit eigenvectors of a symmetric 3 x 3 matrix, by Jacobi's rotations
  function eigen(matrix) {
    let a = matrix.map(row => [...row]), q = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    for (let sweep = 0; sweep < 60; sweep += 1) {
      for (const [i, j] of [[0, 1], [0, 2], [1, 2]]) {
        if (Math.abs(a[i][j]) < 1e-300) continue;
        const t = Math.atan2(2 * a[i][j], a[i][i] - a[j][j]) / 2, c = Math.cos(t), s = Math.sin(t);
        const turned = m => m.map(row => row.map((v, k) => k === i ? c * row[i] + s * row[j] : k === j ? c * row[j] - s * row[i] : v));
        const flip = m => m[0].map((_, k) => m.map(row => row[k]));
        a = flip(turned(flip(turned(a)))); q = turned(q);
      }
    }
    return [0, 1, 2].map(k => ({ value: a[k][k], vector: q.map(row => row[k]) })).sort((one, two) => two.value - one.value);
  }
  const sum = matrices => [0, 1, 2].map(i => [0, 1, 2].map(j => matrices.reduce((total, m) => total + m[i][j], 0)));
  const symmetric = m => [[0, 1], [0, 2], [1, 2]].every(([i, j]) => Math.abs(m[i][j] - m[j][i]) < 1e-12);
  // what is plotted as the tokens move
  const quantities = {
    "diameter": (system, x) => Math.max(...x.flatMap(a => x.map(b => Math.hypot(...plus(a, b, -1))))),
    "smallest inner product": (system, x) => Math.min(...x.flatMap(a => x.map(b => dot(a, times(system.metric, b))))),
    "smallest height over v1": (system, x) => {
      const f = sum(system.heads.map(head => head.F));
      if (!symmetric(f)) return NaN;
      const v = eigen(f)[0].vector, heights = x.map(token => dot(v, token));
      return Math.max(Math.min(...heights), Math.min(...heights.map(h => -h)));
    },
    "potential -1/2 mean F mean": (system, x) => {
      const mean = scaled(x.reduce((a, b) => plus(a, b)), 1 / x.length);
      return -0.5 * dot(mean, times(sum(system.heads.map(head => head.F)), mean));
    },
    "interaction, mean of exp(x_i M x_j)": (system, x) =>
      x.flatMap(a => x.map(b => Math.exp(dot(a, times(system.heads[0].M, b))))).reduce((a, b) => a + b) / (x.length * x.length),
  };
  return { advance, step, normalise, dot, plus, scaled, times, eigen, sum, symmetric, quantities };
})();
