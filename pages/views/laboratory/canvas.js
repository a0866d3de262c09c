// Known densities in the plane: the regions of the Bayes rule, ellipses to move and stretch, a sample, fitted boundaries.
// See canvas.py for what comes in. The regions, the optimal boundary and R* are computed here, so that they follow the
// pointer; fitted boundaries come from the server and pale while they are of another truth.

const TAU = 2 * Math.PI, LEFT = -6, RIGHT = 6
const SETTLE = 350                    // ms after the last arrow key until the change is sent
const FAR = 9, COARSE = 110           // the square over which R* is summed while something is dragged, and its steps
const LIMITS = { x: 6, y: 4.5, low: 0.2, high: 4 }
const AXIS = 1.6                      // standard deviations from the mean to a handle of the ellipse

export default drawnBy(create)

// P(c) p(x|c) of every class over a grid: (rows, columns, K), rows upwards
function joints(parts, priors, { x0, y0, step, W, H }) {
  const K = priors.length, joint = new Float64Array(K * W * H)
  for (const [k, w, mx, my, s1, s2, degrees] of parts) {
    const c = Math.cos(degrees * TAU / 360), s = Math.sin(degrees * TAU / 360), scale = priors[k] * w / (TAU * s1 * s2)
    for (let j = 0, at = k; j < H; j++) {
      const dy = y0 + j * step - my
      for (let i = 0; i < W; i++, at += K) {
        const dx = x0 + i * step - mx, u = (c * dx + s * dy) / s1, v = (c * dy - s * dx) / s2, q = u * u + v * v
        if (q < 1400) joint[at] += scale * Math.exp(-0.5 * q)
      }
    }
  }
  return joint
}

function decisions(joint, losses, N) {  // the action of least risk at each node, and that risk
  const action = new Uint8Array(N), risk = new Float64Array(N)
  for (let n = 0; n < N; n++) {
    const a = losses.decide(joint, n * losses.K)
    action[n] = a < 0 ? losses.order[0] : a   // where every density has run out
    risk[n] = losses.risks[action[n]]
  }
  return { action, risk }
}

// where decisions change: pieces [x1, y1, x2, y2] in grid units, straight between the edges of a cell
function borders({ action }, joint, loss, W, H) {
  const K = loss[0].length, pieces = [], logs = (k, n) => Math.log(Math.max(joint[n * K + k], 1e-300))
  const cross = (p, q) => {           // the share of the way from node p to node q, log P(c) p(x|c) taken as straight
    const gap = loss[action[p]].map((v, k) => v - loss[action[q]][k]), from = [], way = []
    for (let k = 0; k < K; k++) { from.push(logs(k, p)); way.push(logs(k, q) - from[k]) }
    let low = 0, high = 1
    for (let halving = 0; halving < 12; halving++) {
      const t = (low + high) / 2, here = from.map((v, k) => v + t * way[k]), top = Math.max(...here)
      if (here.reduce((sum, v, k) => sum + gap[k] * Math.exp(v - top), 0) > 0) high = t; else low = t
    }
    return (low + high) / 2
  }
  for (let j = 0; j < H - 1; j++) for (let i = 0; i < W - 1; i++) {
    const a = j * W + i, b = a + 1, c = a + W + 1, d = a + W
    if (action[a] === action[b] && action[a] === action[c] && action[a] === action[d]) continue
    const points = []
    if (action[a] !== action[b]) points.push([i + cross(a, b), j])
    if (action[b] !== action[c]) points.push([i + 1, j + cross(b, c)])
    if (action[d] !== action[c]) points.push([i + cross(d, c), j + 1])
    if (action[a] !== action[d]) points.push([i, j + cross(a, d)])
    if (points.length === 2) pieces.push([...points[0], ...points[1]])
    else {
      const x = points.reduce((sum, p) => sum + p[0], 0) / points.length, y = points.reduce((sum, p) => sum + p[1], 0) / points.length
      for (const p of points) pieces.push([...p, x, y])
    }
  }
  return pieces
}

function chained(pieces) {            // pieces that share an end, as long lines: dashes need them
  const ends = new Map(), name = (x, y) => Math.round(x * 500) + "," + Math.round(y * 500), used = new Set()
  pieces.forEach(([x1, y1, x2, y2], i) => [[x1, y1], [x2, y2]].forEach(([x, y]) => {
    const key = name(x, y)
    ends.has(key) ? ends.get(key).push(i) : ends.set(key, [i])
  }))
  const walk = (i, x, y) => {         // on from piece i, leaving it at (x, y)
    const line = [[x, y]]
    for (;;) {
      const next = ends.get(name(x, y)).filter(j => !used.has(j))
      if (ends.get(name(x, y)).length > 2 || !next.length) return line
      const [x1, y1, x2, y2] = pieces[next[0]], forth = name(x1, y1) === name(x, y)
      used.add(next[0]); [x, y] = forth ? [x2, y2] : [x1, y1]
      line.push([x, y])
    }
  }
  const lines = []
  pieces.forEach(([x1, y1, x2, y2], i) => {
    if (used.has(i)) return
    used.add(i)
    lines.push([...walk(i, x1, y1).reverse(), ...walk(i, x2, y2)])
  })
  return lines
}

function create(host) {
  const { on, redraw, theme: themeNow, fit, onPaper, hear, send, waits, end } = stage(host, draw)
  const field = make("div", "stage", host), legend = make("ul", "legend", host)
  const canvas = make("canvas", "", field), readout = make("div", "readout", field)
  canvas.dataset.testid = "laboratory-canvas"; readout.dataset.testid = "laboratory-risk"
  let data, theme, box, losses, parts = [], lines = [], handles = [], drag = null, timer = 0, stale = false, held = null

  on(window, "bayes-loss", ({ detail }) => {   // in a saved file λ and the classes' shares have an editor
    if (!data?.bus || detail.key !== data.bus) return
    const edited = JSON.stringify([detail.table, detail.prior]) !== JSON.stringify([data.loss, null])
    if (!held && !edited) return
    held = detail; losses = new Losses(detail.table, detail.order); stale ||= edited
    redraw()
  })
  const loss = () => held?.table ?? data.loss, priors = () => held?.prior ?? data.priors

  function update(component) {
    const next = component.data
    hear(component)
    if (data && JSON.stringify(data) === JSON.stringify(next)) return
    const mine = data && (drag || timer || waits()) && next.scene === data.scene
    data = next
    if (!mine) { parts = data.parts.map(part => [...part]); stale = false }
    losses = new Losses(data.loss, data.order)
    lines = data.lines.map(line => ({ ...line, paths: chained(line.pieces) }))
    build(); redraw("stage")
  }

  function build() {
    const wanted = data.draggable ? parts.length * 3 : 0
    if (handles.length !== wanted) {
      for (const handle of handles) handle.element.remove()
      handles = Array.from({ length: wanted }, (_, i) => {
        const element = make("div", i % 3 ? "handle axis" : "handle", field)
        element.tabIndex = 0; element.setAttribute("role", "slider"); element.dataset.testid = `laboratory-handle-${i}`
        const handle = { element, part: Math.floor(i / 3), way: i % 3 }
        if (!handle.way) make("span", "", element)
        listen(handle)
        return handle
      })
    }
    const draws = data.drawing && !data.bus   // in a saved file no point is added
    canvas.tabIndex = draws ? 0 : -1
    canvas.style.cursor = draws ? "crosshair" : "default"
    canvas.setAttribute("role", "img"); canvas.setAttribute("aria-label", data.words.label)
  }

  function layout() {
    const width = field.clientWidth, height = Math.round(clamp(width * 0.7, 380, 500)), per = (RIGHT - LEFT) / width
    field.style.height = height + "px"
    box = { width, height, per, top: per * height / 2 }
    return fit(canvas, width, height)
  }
  const px = x => (x - LEFT) / box.per, py = y => (box.top - y) / box.per

  function readTheme() {
    const now = themeNow()
    theme = { ...now, inks: data.actions.map(a => rgbOf(now.colour(a))), soft: now.faded(0.7), faint: now.faded(0.15) }
  }

  function draw(wanted) {
    if (!data) return
    const start = performance.now(), g = layout()
    if (wanted.has("stage")) { readTheme(); drawLegend() }
    const W = onPaper() ? 541 : 181, step = (RIGHT - LEFT) / (W - 1), H = Math.ceil(2 * box.top / step) + 2
    const grid = { x0: LEFT, y0: -box.top, step, W, H }, N = W * H
    const joint = joints(parts, priors(), grid), found = decisions(joint, losses, N)
    regions(g, found, joint, W, H)
    axes(g)
    for (let k = 0; k < data.classes.length; k++) points(g, k)
    ellipses(g)
    const scaled = borders(found, joint, loss(), W, H).map(([x1, y1, x2, y2]) => [x1 * step + LEFT, y1 * step - box.top, x2 * step + LEFT, y2 * step - box.top])
    g.lineJoin = g.lineCap = "round"
    const optimal = chained(scaled)
    stroke(g, optimal, theme.groundCss, 8, []); stroke(g, optimal, theme.inkCss, 4.5, [])
    g.globalAlpha = stale || drag ? 0.3 : 1
    for (const line of lines) { stroke(g, line.paths, theme.groundCss, line.width + 2.5, []); stroke(g, line.paths, theme.colour(line), line.width, line.dash) }
    g.globalAlpha = 1
    place()
    readout.textContent = stale || drag ? fill(data.words.about, { risk: live().toFixed(3) }) : fill(data.words.risk, { risk: data.risk })
    field.dataset.paintMs = (performance.now() - start).toFixed(1)
    field.dataset.parts = JSON.stringify(parts)
    field.dataset.optimal = scaled.length
  }

  function live() {                   // R* by a plain sum; the server's quadrature follows
    const step = 2 * FAR / COARSE, grid = { x0: -FAR, y0: -FAR, step, W: COARSE + 1, H: COARSE + 1 }, N = grid.W * grid.H
    const { risk } = decisions(joints(parts, priors(), grid), losses, N)
    return risk.reduce((sum, r) => sum + r, 0) * step * step
  }

  const small = document.createElement("canvas")
  function regions(g, { action }, joint, W, H) {
    small.width = W; small.height = H
    const image = new ImageData(W, H), K = data.classes.length, at = new Uint32Array(image.data.buffer)
    const depth = theme.dark ? [0.22, 0.3] : [0.13, 0.25]
    for (let j = 0; j < H; j++) for (let i = 0; i < W; i++) {
      const n = j * W + i, ink = theme.inks[action[n]]
      let sum = 0, top = 0
      for (let k = 0; k < K; k++) { sum += joint[n * K + k]; top = Math.max(top, joint[n * K + k]) }
      const sure = sum > 0 ? (top / sum - 1 / K) / (1 - 1 / K) : 1, t = depth[0] + depth[1] * sure
      const [r, gr, b] = theme.ground.map((v, c) => v + (ink[c] - v) * t)
      at[(H - 1 - j) * W + i] = (255 << 24 | Math.round(b) << 16 | Math.round(gr) << 8 | Math.round(r)) >>> 0
    }
    small.getContext("2d").putImageData(image, 0, 0)
    g.imageSmoothingEnabled = true; g.imageSmoothingQuality = "high"
    const per = (RIGHT - LEFT) / (W - 1), wide = W * per / box.per, tall = H * per / box.per
    g.drawImage(small, -per / 2 / box.per, box.height - (H - 0.5) * per / box.per, wide, tall)
  }

  function axes(g) {
    g.strokeStyle = theme.faint; g.fillStyle = theme.soft; g.lineWidth = 1; g.font = `13px ${theme.font}`
    g.textAlign = "center"; g.textBaseline = "bottom"
    for (let v = LEFT + 2; v < RIGHT; v += 2) {
      const x = Math.round(px(v)) + 0.5
      g.beginPath(); g.moveTo(x, box.height - 5); g.lineTo(x, box.height); g.stroke()
      g.fillText(String(v).replace("-", "−"), x, box.height - 6)
    }
    g.textAlign = "left"; g.textBaseline = "middle"
    for (let v = Math.ceil(-box.top / 2) * 2; v <= box.top; v += 2) {
      const y = Math.round(py(v)) + 0.5
      if (y < 50 || y > box.height - 24) continue
      g.beginPath(); g.moveTo(0, y); g.lineTo(5, y); g.stroke()
      g.fillText(String(v).replace("-", "−"), 8, y)
    }
  }

  function points(g, k) {             // the sample, and in a drawing, larger, what was drawn
    const n = data.points.length, r = data.drawing ? 2.2 : n > 300 ? 2.6 : n > 80 ? 3.4 : 4.6
    marks(g, k, data.points, r, data.drawing ? 0.55 : 0.9)
    if (data.drawing) marks(g, k, data.parts.map(p => [p[2], p[3], p[0]]), 5.4, 1)
  }
  function marks(g, k, list, r, opacity) {
    const path = pathOf(GLYPHS[k])
    g.fillStyle = theme.colour(data.classes[k]); g.strokeStyle = theme.groundCss
    for (const [x, y, c] of list) {
      if (c !== k) continue
      g.save(); g.translate(px(x), py(y)); g.scale(r, r); g.lineWidth = 2 / r; g.globalAlpha = stale || drag ? 0.3 : opacity
      g.stroke(path); g.fill(path); g.restore()
    }
  }

  function ellipses(g) {
    if (data.drawing) return
    for (const [k, , x, y, s1, s2, degrees] of parts) {
      g.strokeStyle = theme.colour(data.classes[k])
      for (const [sds, width] of [[1, 2], [2, 1.2]]) {
        g.lineWidth = width
        g.beginPath(); g.ellipse(px(x), py(y), sds * s1 / box.per, sds * s2 / box.per, -degrees * TAU / 360, 0, TAU); g.stroke()
      }
    }
  }

  function stroke(g, paths, colour, width, dash) {
    g.strokeStyle = colour; g.lineWidth = width; g.setLineDash(dash)
    for (const path of paths) {
      g.beginPath()
      path.forEach(([x, y], i) => g[i ? "lineTo" : "moveTo"](px(x), py(y)))
      g.stroke()
    }
    g.setLineDash([])
  }

  function drawLegend() {
    legend.replaceChildren()
    const entry = (text, d, looks) => {
      const item = make("li", "", legend), svg = shape("svg", "", item), wide = looks.fill ? 14 : 34
      set(svg, { width: wide, height: 14, viewBox: `${-wide / 2} -7 ${wide} 14`, "aria-hidden": true })
      set(shape("path", "", svg), { d, ...looks })
      make("span", "", item, text)
    }
    data.classes.forEach((c, k) => entry(c.label, GLYPHS[k], { fill: theme.colour(c), transform: "scale(5.4)" }))
    if (data.actions.length > data.classes.length) entry(data.actions.at(-1).label, "M-6-6H6V6H-6Z", { fill: theme.colour(data.actions.at(-1)), opacity: 0.6 })
    entry(data.words.optimal, "M-16 0H16", { stroke: theme.inkCss, "stroke-width": 4.5 })
    for (const line of lines) entry(line.label, "M-16 0H16", { stroke: theme.colour(line), "stroke-width": line.width, "stroke-dasharray": line.dash.join(" ") })
  }

  // -- the handles: a mean, and the tip of each axis of its ellipse

  function place() {
    for (const { element, part, way } of handles) {
      const [k, , x, y, s1, s2, degrees] = parts[part], turn = (degrees + (way === 2 ? 90 : 0)) * TAU / 360, s = way === 1 ? s1 : s2
      const hx = way ? x + AXIS * s * Math.cos(turn) : x, hy = way ? y + AXIS * s * Math.sin(turn) : y
      // an axis that points out of the picture is held by its other end
      const out = way && (Math.abs(hx) > RIGHT - 0.2 || Math.abs(hy) > box.top - 0.2), sign = out ? -1 : 1
      element.style.setProperty("--ink", theme.colour(data.classes[k]))
      element.style.left = clamp(px(way ? x + sign * AXIS * s * Math.cos(turn) : x), 8, box.width - 8) + "px"
      element.style.top = clamp(py(way ? y + sign * AXIS * s * Math.sin(turn) : y), 8, box.height - 8) + "px"
      if (!way) element.firstChild.textContent = data.classes[k].label
      element.setAttribute("aria-label", fill(way ? data.words.axis : data.words.mean, { class: data.classes[k].label }))
      element.setAttribute("aria-valuetext", way ? `σ = ${s.toFixed(2)}, ${Math.round(degrees)}°` : `(${x.toFixed(2)}, ${y.toFixed(2)})`)
      element.setAttribute("aria-valuenow", (way ? s : x).toFixed(2))
    }
  }

  const round = v => Math.round(v * 100) / 100
  function put({ part, way }, x, y) {  // the handle at a place of the plane
    const p = parts[part]
    if (!way) { p[2] = round(clamp(x, -LIMITS.x, LIMITS.x)); p[3] = round(clamp(y, -LIMITS.y, LIMITS.y)) }
    else {
      const dx = x - p[2], dy = y - p[3], s = round(clamp(Math.hypot(dx, dy) / AXIS, LIMITS.low, LIMITS.high))
      const turn = Math.atan2(dy, dx) * 360 / TAU - (way === 2 ? 90 : 0)
      p[3 + way] = s; p[6] = Math.round(((turn % 180) + 180) % 180) % 180
    }
    changed()
  }
  function changed() { stale = true; redraw() }
  function settle() {
    clearTimeout(timer); timer = 0
    send("moved", { parts: parts.map(p => p.slice(2)) })
  }
  const local = (event, frame = field.getBoundingClientRect()) => [(event.clientX - frame.left) / zoomOf(field), (event.clientY - frame.top) / zoomOf(field)]
  const inPlane = (hx, hy) => [LEFT + hx * box.per, box.top - hy * box.per]

  function listen(handle) {
    const { element } = handle
    on(element, "pointerdown", event => {
      if (event.button) return
      element.setPointerCapture(event.pointerId)
      const frame = field.getBoundingClientRect(), [hx, hy] = local(event, frame)   // what moves the page moves no mean
      drag = { handle, frame, dx: parseFloat(element.style.left) - hx, dy: parseFloat(element.style.top) - hy, moved: false }
    })
    on(element, "pointermove", event => {
      if (drag?.handle !== handle) return
      const [hx, hy] = local(event, drag.frame)
      drag.moved = true
      put(handle, ...inPlane(hx + drag.dx, hy + drag.dy))
    })
    const release = () => {
      if (drag?.handle !== handle) return
      const { moved } = drag
      drag = null
      if (moved) settle(); else redraw()
    }
    on(element, "pointerup", release); on(element, "pointercancel", release)
    on(element, "keydown", event => {
      const way = arrow(event)
      if (!way) return
      const p = parts[handle.part], big = event.shiftKey ? 5 : 1
      if (!handle.way) put(handle, p[2] + way[0] * 0.1 * big, p[3] + way[1] * 0.1 * big)
      else {
        p[3 + handle.way] = round(clamp(p[3 + handle.way] + way[1] * 0.1 * big, LIMITS.low, LIMITS.high))
        p[6] = (((p[6] - way[0] * 5 * big) % 180) + 180) % 180
        changed()
      }
      clearTimeout(timer); timer = setTimeout(settle, SETTLE)
    })
  }

  on(canvas, "click", event => {      // a point more, or, on a point, one less
    if (!data?.drawing || data.bus) return
    const [hx, hy] = local(event), [x, y] = inPlane(hx, hy)
    let hit = -1, least = 10 ** 2
    data.parts.forEach((p, i) => {
      const d = (px(p[2]) - hx) ** 2 + (py(p[3]) - hy) ** 2
      if (d < least) { least = d; hit = i }
    })
    send("drawn", { x: round(x), y: round(y), remove: hit })
  })

  return {
    update,
    destroy() { if (timer) settle(); end() },
  }
}
