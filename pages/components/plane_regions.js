// The decision regions of a plane: posteriors on a grid, the colours of the actions, and their painting into pixels.

const SHADES = 64, HATCH = 4          // steps of a region's strength; steps of coverage by its hatching
const TINTS = { light: [0.13, 0.52], dark: [0.24, 0.55] }   // of a region where the decision is a toss-up, and where it is sure
const ON_PAPER = 2                    // pixels of a region, of which its vectors are made, to a CSS pixel
const BEND = 0.2                      // change of strength along a cell's diagonal, above which it is not interpolated

// ---- colours ---------------------------------------------------------------------------------------------------------

const packed = ([r, g, b]) => (255 << 24 | Math.round(b) << 16 | Math.round(g) << 8 | Math.round(r)) >>> 0

function shadesOf(ground, ink, [pale, full], hatched) {   // [coverage][strength] of one region, as pixels
  const table = new Uint32Array(HATCH * SHADES)
  for (let h = 0; h < HATCH; h++) for (let s = 0; s < SHADES; s++) {
    const tint = pale + (full - pale) * s / (SHADES - 1)
    table[h * SHADES + s] = packed(mix(ground, ink, hatched ? tint * 0.55 + 0.34 * h / (HATCH - 1) : tint))
  }
  return table
}

function hatching(ratio) {            // coverage of slanted lines along one period of x ± y, softened at their rims
  const period = Math.round(10 * ratio), half = 0.95 * ratio
  return Uint8Array.from({ length: period }, (_, i) =>
    Math.round(clamp(half + 0.5 - Math.abs(i - period / 2) / Math.SQRT2, 0, 1) * (HATCH - 1)))
}

// ---- the scene: posteriors on a grid ---------------------------------------------------------------------------------

function decode(raw) {
  const [H, W, K] = raw.shape, N = H * W
  const steps = new Uint16Array(raw.body.buffer, raw.body.byteOffset, K * N)
  const logs = new Float32Array(K * N)
  for (let i = 0; i < K * N; i++) logs[i] = -raw.nats / 65535 * steps[i]
  const gone = raw.body.subarray(2 * K * N)
  return { id: raw.id, H, W, K, N, logs, gone, points: raw.points }
}

function shifted(scene, shift) {      // the grid at the prior of use, and its posteriors
  const { K, N } = scene, { logs, P } = (scene.moved ??= { logs: new Float32Array(K * N), P: new Float32Array(K * N) })
  for (let at = 0; at < N * K; at += K) {
    const norm = posteriorAt(P, scene.logs, at, K, shift)
    for (let j = 0; j < K; j++) logs[at + j] = scene.logs[at + j] + (shift[j] ?? 0) - norm
  }
  return { ...scene, logs, P }
}

// How clear a decision is by its regret and the runner-up's, from 0, a toss-up, to 1.
const clearness = (best, second) => second > best ? (second - best) / (second + best) : 0

// Runs of pixels between neighbouring grid cells a and b (a = b inside a level's band), t = (pixel + ½ − centre) / step.
function runs(n, size, upwards, banded, gap) {
  const node = k => upwards ? n - 1 - k : k
  const step = size / n
  if (banded || n === 1) return Array.from({ length: n }, (_, k) => ({
    from: Math.round(k * step + (k ? gap / 2 : 0)), to: Math.round((k + 1) * step - (k < n - 1 ? gap / 2 : 0)),
    a: node(k), b: node(k), centre: 0, slope: 0,
  }))
  return Array.from({ length: n - 1 }, (_, k) => ({
    from: k ? Math.ceil((k + 0.5) * step - 0.5) : 0, to: k < n - 2 ? Math.ceil((k + 1.5) * step - 0.5) : size,
    a: node(k), b: node(k + 1), centre: (k + 0.5) * step, slope: 1 / step,
  }))
}

// ---- painting --------------------------------------------------------------------------------------------------------

// One pass over the grid finds each cell's action and how clear it is, (R₂ − R₁) / (R₂ + R₁). Between four cells that
// agree the strength is interpolated; elsewhere each pixel is decided from interpolated logs, and the frontier is drawn
// by its distance |log R₂ − log R₁| / |∇|, so it is smooth at any resolution.
function paintRegions(image, { grid, rule, xs, ys, shades, hatch, lineColour, ratio }) {
  const { W, N, K, P, logs, gone } = grid, { A, cells, risks } = rule
  const pixels = new Uint32Array(image.data.buffer), width = image.width, period = hatch.length
  const action = new Uint8Array(N), sure = new Float32Array(N), counts = new Array(A + 1).fill(0)
  for (let n = 0; n < N; n++) {
    if (gone[n]) { action[n] = A; continue }
    const chosen = action[n] = rule.decide(P, n * K), next = rule.runnerUp(chosen)
    sure[n] = next < 0 ? 1 : clearness(risks[chosen], risks[next])
  }
  // Pixels are decided one by one in cells whose corners disagree, in cells around a corner so near to the frontier that
  // its line spills over, and in cells across which the strength bends.
  const nx = xs.length, ny = ys.length, fine = new Uint8Array(nx * ny), reach = 0.7 * ratio
  const refine = (u, v) => { if (u >= 0 && v >= 0 && u < nx && v < ny) fine[v * nx + u] = 1 }
  for (let v = 0; v < ny; v++) for (let u = 0; u < nx; u++) {
    const a = ys[v].a * W + xs[u].a, b = ys[v].a * W + xs[u].b, c = ys[v].b * W + xs[u].a, d = ys[v].b * W + xs[u].b
    if (action[a] === action[b] && action[a] === action[c] && action[a] === action[d]) {
      if (Math.abs(sure[a] - sure[d]) > BEND || Math.abs(sure[b] - sure[c]) > BEND) refine(u, v)
      continue
    }
    const signed = n => action[n] === action[a] ? sure[n] : -sure[n]
    const A = signed(a), B = signed(b), C = signed(c), D = signed(d)
    const rise = (p, q) => Math.max(Math.abs(p), Math.abs(q))
    const slope = Math.hypot(rise(B - A, D - C) * xs[u].slope, rise(C - A, D - B) * ys[v].slope)
    const spill = 2 * (reach + 1) * slope
    refine(u, v)
    for (const [S, p, q] of [[A, -1, -1], [B, 1, -1], [C, -1, 1], [D, 1, 1]])
      if (Math.abs(S) < spill) { refine(u + p, v); refine(u, v + q); refine(u + p, v + q) }
  }
  const L = new Float64Array(K), GX = new Float64Array(K), GY = new Float64Array(K)
  const [lr, lg, lb] = lineColour
  pixels.fill(0)
  for (let v = 0; v < ny; v++) for (let u = 0; u < nx; u++) {
    const X = xs[u], Y = ys[v], a = Y.a * W + X.a, b = Y.a * W + X.b, c = Y.b * W + X.a, d = Y.b * W + X.b
    const holed = gone[a] || gone[b] || gone[c] || gone[d]
    if (!holed && !fine[v * nx + u] || (gone[a] && gone[b] && gone[c] && gone[d])) {
      const which = action[a], { lean, table } = shades[which], top = SHADES - 0.01
      counts[which] += (Y.to - Y.from) * (X.to - X.from)
      for (let py = Y.from; py < Y.to; py++) {
        const ty = (py + 0.5 - Y.centre) * Y.slope
        const west = sure[a] + (sure[c] - sure[a]) * ty, east = sure[b] + (sure[d] - sure[b]) * ty
        const from = clamp(west + (east - west) * (X.from + 0.5 - X.centre) * X.slope, 0, 1) * top
        const last = clamp(west + (east - west) * (X.to - 0.5 - X.centre) * X.slope, 0, 1) * top
        const step = (last - from) / Math.max(X.to - X.from - 1, 1), start = py * width + X.from, end = start + X.to - X.from
        let level = from + 0.001      // kept above the rounding of a long sum
        if (lean) for (let at = start, phase = X.from + lean * py; at < end; at++, phase++, level += step)
          pixels[at] = table[hatch[phase % period] * SHADES + (level | 0)]
        else for (let at = start; at < end; at++, level += step) pixels[at] = table[level | 0]
      }
      continue
    }
    for (let py = Y.from; py < Y.to; py++) {
      const ty = (py + 0.5 - Y.centre) * Y.slope
      for (let px = X.from, at = py * width + X.from; px < X.to; px++, at++) {
        const tx = (px + 0.5 - X.centre) * X.slope
        if (holed && gone[(ty < 0.5 ? Y.a : Y.b) * W + (tx < 0.5 ? X.a : X.b)]) {
          counts[A]++
          pixels[at] = shades[A].table[hatch[(px + shades[A].lean * py) % period] * SHADES]
          continue
        }
        let peak = -Infinity
        for (let j = 0; j < K; j++) {
          const la = logs[a * K + j], lb = logs[b * K + j], lc = logs[c * K + j], ld = logs[d * K + j]
          const west = la + (lc - la) * ty, east = lb + (ld - lb) * ty
          GX[j] = (east - west) * X.slope
          GY[j] = (lc - la + (ld - lb - lc + la) * tx) * Y.slope
          if ((L[j] = west + (east - west) * tx) > peak) peak = L[j]
        }
        for (let j = 0; j < K; j++) L[j] = L[j] - peak < -30 ? 0 : Math.exp(L[j] - peak)
        const which = rule.decide(L), next = rule.runnerUp(which), shade = shades[which]
        const best = risks[which], second = next < 0 ? Infinity : risks[next], s = next < 0 ? 1 : clearness(best, second)
        counts[which]++
        let colour = shade.table[(shade.lean ? hatch[(px + shade.lean * py) % period] * SHADES : 0) + ((s * (SHADES - 0.01)) | 0)]
        if (second < Infinity && best > 0 && second > 0) {
          let dx = 0, dy = 0
          for (let j = 0; j < K; j++) {
            const w = (cells[next * K + j] / second - cells[which * K + j] / best) * L[j]
            dx += w * GX[j]; dy += w * GY[j]
          }
          const cover = clamp(reach + 0.5 - Math.log(second / best) / Math.hypot(dx, dy), 0, 1) * 0.85
          if (cover > 0) {
            const r = colour & 255, g = colour >> 8 & 255, bl = colour >> 16 & 255
            colour = (255 << 24 | (bl + (lb - bl) * cover) << 16 | (g + (lg - g) * cover) << 8 | (r + (lr - r) * cover)) >>> 0
          }
        }
        pixels[at] = colour
      }
    }
  }
  return counts
}

