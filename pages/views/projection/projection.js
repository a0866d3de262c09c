// Rows in the plane of two columns, the line they are projected onto, their shadows on it, and J as the line turns.
// See projection.py for what comes in. Words and labels from data reach the page through textContent and fillText only.

const TAU = 2 * Math.PI, BINS = 24
const ROUNDING = 1e-13                // of the variance over the plane: less than this along a line is none
const SETTLE = 350                    // ms after the last arrow key until the angle is sent
const FIELD = 472, SHADOW = 236, CURVE = 168, PAD = { left: 46, right: 14, top: 12, bottom: 40 }

export default drawnBy(create)

const wrap = degrees => { const a = ((degrees % 180) + 180) % 180; return a > 179.995 ? 0 : a }
const apart = (a, b) => Math.abs(((a - b) % 180 + 270) % 180 - 90)   // of two lines
const unit = degrees => [Math.cos(degrees * TAU / 360), Math.sin(degrees * TAU / 360)]
const form = ([[a, b], [c, d]], [u, v]) => a * u * u + (b + c) * u * v + d * v * v
const short = v => v === 0 ? "0" : !isFinite(v) ? "∞" : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-4 ? v.toExponential(3) : v.toPrecision(4)

function create(host) {
  const { on, redraw, theme: themeNow, fit, hear, send, waits, end: leave } = stage(host, draw)
  const sheet = make("div", "sheet", host)
  const field = make("div", "field", sheet), shadow = make("div", "shadow", sheet), curve = make("div", "curve", sheet)
  const numbers = make("div", "numbers", sheet), legend = make("ul", "legend", host)
  const still = make("canvas", "", field), turning = make("canvas", "", field), side = make("canvas", "", shadow), hill = make("canvas", "", curve)
  const handle = make("div", "handle", field)
  handle.dataset.testid = "projection-handle"; numbers.dataset.testid = "projection-numbers"
  handle.tabIndex = 0
  handle.setAttribute("role", "slider"); handle.setAttribute("aria-valuemin", "0"); handle.setAttribute("aria-valuemax", "180")
  Object.assign(field.style, { height: FIELD + "px" }); shadow.style.height = SHADOW + "px"; curve.style.height = CURVE + "px"
  const cells = ["angle", "J", "within", "between"].map(name => {
    const cell = make("div", "", numbers), what = make("div", "what", cell), value = make("div", "value", cell)
    value.dataset.testid = "projection-" + name
    return { name, what, value }
  })

  let data, theme, box, view, shown = "", angle = 0, end = 1, drag = null, turned = false, timer = 0, glide = 0

  function update(component) {
    const next = component.data, first = !data, same = data && JSON.stringify(data) === JSON.stringify(next)
    data = next
    hear(component)
    if (same) return
    const columns = JSON.stringify([next.x, next.y, next.mean])
    if (first || columns !== shown) { angle = next.angle; cancelAnimationFrame(glide) }
    else if (!drag && !timer && !waits() && apart(angle, next.angle) > 1e-9) turnTo(next.angle)
    shown = columns
    redraw("stage")
  }

  function turnTo(goal) {              // the short way round
    const from = angle, way = ((goal - from) % 180 + 270) % 180 - 90, start = performance.now()
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches
    cancelAnimationFrame(glide)
    const step = now => {
      const t = calm ? 1 : Math.min((now - start) / 450, 1), eased = t * t * (3 - 2 * t)
      angle = t === 1 ? goal : wrap(from + way * eased)
      redraw("turn")
      if (t < 1) glide = requestAnimationFrame(step)
    }
    glide = requestAnimationFrame(step)
  }

  // -- geometry: one scale for both columns, so that a right angle looks like one

  function layout() {
    const width = field.clientWidth
    box = { left: PAD.left, top: PAD.top, w: width - PAD.left - PAD.right, h: FIELD - PAD.top - PAD.bottom }
    const [lowX, highX] = data.range[0], [lowY, highY] = data.range[1]
    const per = Math.max((highX - lowX) / box.w, (highY - lowY) / box.h)
    const cx = (lowX + highX) / 2, cy = (lowY + highY) / 2
    view = {
      per, x: v => box.left + box.w / 2 + (v - cx) / per, y: v => box.top + box.h / 2 - (v - cy) / per,
      sides: [[cx - box.w / 2 * per, cx + box.w / 2 * per], [cy - box.h / 2 * per, cy + box.h / 2 * per]],
    }
  }

  function readTheme() {
    const now = themeNow()
    theme = {
      ...now, faint: now.faded(0.12), soft: now.faded(0.7),
      between: now.dark ? "#B9A3E3" : "#7A5FA8", primary: getComputedStyle(host).getPropertyValue("--st-primary-color") || "#f55",
    }
  }

  function clear(canvas) {
    const g = fit(canvas, canvas.clientWidth, canvas.clientHeight)
    g.font = `13px ${theme.font}`
    return g
  }
  function line(g, x1, y1, x2, y2) { g.beginPath(); g.moveTo(x1, y1); g.lineTo(x2, y2); g.stroke() }
  function outlined(g, text, x, y) {       // a word with the ground around it
    g.lineJoin = "round"; g.lineWidth = 4; g.strokeStyle = theme.groundCss; g.strokeText(text, x, y)
    g.fillStyle = theme.inkCss; g.fillText(text, x, y); g.lineWidth = 1
  }

  // how far a ray from the mean at `degrees` runs inside the field, in pixels, less a margin
  function reach(degrees, sign, margin) {
    const [u, v] = unit(degrees), dx = sign * u, dy = -sign * v, px = view.x(0), py = view.y(0)
    const across = dx > 1e-9 ? (box.left + box.w - margin - px) / dx : dx < -1e-9 ? (box.left + margin - px) / dx : Infinity
    const up = dy > 1e-9 ? (box.top + box.h - margin - py) / dy : dy < -1e-9 ? (box.top + margin - py) / dy : Infinity
    return Math.max(Math.min(across, up), 20)
  }
  const tip = (degrees, length) => { const [u, v] = unit(degrees); return [view.x(0) + u * length, view.y(0) - v * length] }

  function ellipse(g, S) {             // xᵀS⁻¹x = 1; without spread one way it is a segment
    const [[a, b], [, d]] = S, mid = (a + d) / 2, half = Math.hypot((a - d) / 2, b)
    const long = Math.sqrt(Math.max(mid + half, 0)) / view.per, flat = Math.sqrt(Math.max(mid - half, 0)) / view.per
    g.beginPath()
    g.ellipse(view.x(0), view.y(0), long, flat < 0.02 * long ? 0.01 : flat, -0.5 * Math.atan2(2 * b, a - d), 0, TAU)
  }

  function drawStill() {
    const g = clear(still), { sides } = view
    g.strokeStyle = theme.faint; g.fillStyle = theme.soft
    g.textAlign = "center"; g.textBaseline = "top"
    const raw = k => sides[k].map(v => v * data.scale[k] + data.mean[k])
    for (const [v, text] of ticksOf(...raw(0), box.w / 75)) {
      const px = view.x((v - data.mean[0]) / data.scale[0])
      line(g, px, box.top, px, box.top + box.h); g.fillText(text, px, box.top + box.h + 6)
    }
    g.textAlign = "right"; g.textBaseline = "middle"
    for (const [v, text] of ticksOf(...raw(1), box.h / 70)) {
      const py = view.y((v - data.mean[1]) / data.scale[1])
      line(g, box.left, py, box.left + box.w, py); g.fillText(text, box.left - 6, py)
    }
    g.fillStyle = theme.inkCss; g.textAlign = "center"; g.textBaseline = "bottom"
    g.fillText(data.x, box.left + box.w / 2, FIELD - 1, box.w)
    g.save(); g.translate(11, box.top + box.h / 2); g.rotate(-TAU / 4); g.textBaseline = "middle"; g.fillText(data.y, 0, 0, box.h); g.restore()

    g.save(); g.beginPath(); g.rect(box.left, box.top, box.w, box.h); g.clip()
    const size = data.points.length > 600 ? 2.4 : data.points.length > 150 ? 3.2 : 4.6
    g.globalAlpha = data.points.length > 600 ? 0.45 : 0.72
    const shapes = data.classes.map((c, k) => pathOf(glyphOf(c.glyph)))
    for (const [x, y, k] of data.points) {
      g.save(); g.translate(view.x(x), view.y(y)); g.scale(size, size)
      g.fillStyle = theme.colour(data.classes[k]); g.fill(shapes[k]); g.restore()
    }
    g.globalAlpha = 1
    g.strokeStyle = theme.inkCss; g.lineWidth = 1.6; ellipse(g, data.within); g.stroke()
    g.strokeStyle = theme.between; g.lineWidth = 2.4; ellipse(g, data.between); g.stroke()
    g.restore()

    g.setLineDash([2, 4])
    g.strokeStyle = theme.soft
    for (const d of data.directions) {
      const [x1, y1] = tip(d.angle, reach(d.angle, 1, 4)), [x2, y2] = tip(d.angle, -reach(d.angle, -1, 4))
      line(g, x1, y1, x2, y2)
    }
    g.setLineDash([])
  }

  function labels(g) {                 // beside their lines, away from each other and from the handle
    g.textBaseline = "middle"; g.textAlign = "center"; g.font = `13px ${theme.font}`
    const [hx, hy] = tip(angle, end * reach(angle, end, 14)), placed = [[hx, hy, 40]]
    for (const d of data.directions) {
      const [u, v] = unit(d.angle), width = g.measureText(d.label).width, places = []
      for (const back of [0, 24, 48, 72, 96]) for (const sign of [1, -1]) {
        let [px, py] = tip(d.angle, sign * (reach(d.angle, sign, 22) - back))
        px += Math.abs(v) * (width / 2 + 9); py += Math.abs(u) * 12 * (u * v > 0 ? 1 : -1)
        places.push([Math.min(Math.max(px, box.left + width / 2 + 4), box.left + box.w - width / 2 - 4), py, width])
      }
      const free = ([px, py, w]) => placed.every(([x, y, other]) => Math.abs(x - px) > (w + other) / 2 + 6 || Math.abs(y - py) > 19)
      const place = places.find(free) ?? places[0]
      placed.push(place); outlined(g, d.label, place[0], place[1])
    }
  }

  function drawTurning() {
    const g = clear(turning), [u, v] = unit(angle)
    const ahead = reach(angle, 1, 2), behind = reach(angle, -1, 2)
    const p = tip(angle, ahead), q = tip(angle, -behind)
    g.save(); g.beginPath(); g.rect(box.left, box.top, box.w, box.h); g.clip()
    if (data.points.length <= 60) {    // every row falls onto the line
      g.globalAlpha = 0.4
      for (const [x, y, k] of data.points) {
        const z = x * u + y * v
        g.strokeStyle = theme.colour(data.classes[k]); line(g, view.x(x), view.y(y), view.x(z * u), view.y(z * v))
      }
      g.globalAlpha = 1
    }
    g.strokeStyle = theme.inkCss; g.lineWidth = 2.2; line(g, ...p, ...q)
    const bar = (S, off, colour) => { // what an ellipse casts on the line: twice the root of wᵀSw
      const half = Math.sqrt(Math.max(form(S, [u, v]), 0)), ox = -v * off, oy = -u * off
      g.strokeStyle = colour; g.lineWidth = 6; g.lineCap = "butt"
      line(g, view.x(-half * u) + ox, view.y(-half * v) + oy, view.x(half * u) + ox, view.y(half * v) + oy)
    }
    g.globalAlpha = 0.85; bar(data.within, 7, theme.soft); bar(data.between, -7, theme.between); g.globalAlpha = 1
    data.means.forEach(([x, y], k) => {
      const z = x * u + y * v, colour = theme.colour(data.classes[k])
      g.strokeStyle = colour; g.lineWidth = 1.6; g.setLineDash([4, 3])
      line(g, view.x(x), view.y(y), view.x(z * u), view.y(z * v)); g.setLineDash([])
      for (const [a, b, r] of [[x, y, 8], [z * u, z * v, 5]]) {
        g.beginPath(); g.arc(view.x(a), view.y(b), r, 0, TAU); g.fillStyle = colour; g.fill()
        g.strokeStyle = theme.groundCss; g.lineWidth = 2; g.stroke()
      }
    })
    g.restore()
    labels(g)
    const [hx, hy] = tip(angle, end * reach(angle, end, 14))
    Object.assign(handle.style, { left: hx + "px", top: hy + "px" })
    handle.setAttribute("aria-valuenow", angle.toFixed(1))
  }

  function drawShadow() {              // for each class the histogram of its rows on the line
    const g = clear(side), [u, v] = unit(angle), width = shadow.clientWidth, K = data.classes.length
    const z = data.points.map(([x, y]) => x * u + y * v)
    const low = Math.min(...z), high = Math.max(...z), margin = (high - low) * 0.05 || 1
    const left = 6, right = width - 6, at = t => left + (t - low + margin) / (high - low + 2 * margin) * (right - left)
    const bottom = SHADOW - 24, top = 26, rise = (bottom - top) / K, room = rise - Math.min(10, rise / 4), step = (high - low) / BINS || 1
    g.fillStyle = theme.inkCss; g.textAlign = "left"; g.textBaseline = "top"; g.fillText(data.words.shadow, left, 2, right - left)
    const counts = data.classes.map(() => new Array(BINS).fill(0))
    z.forEach((t, i) => counts[data.points[i][2]][Math.min(Math.floor((t - low) / step), BINS - 1)]++)
    const totals = counts.map(row => row.reduce((a, b) => a + b, 0) || 1)
    const most = Math.max(...counts.map((row, k) => Math.max(...row) / totals[k]))
    counts.forEach((row, k) => {
      const base = top + rise * (k + 1), colour = theme.colour(data.classes[k])
      g.strokeStyle = theme.faint; line(g, left, base + .5, right, base + .5)
      row.forEach((n, b) => {
        if (!n) return
        const x = at(low + b * step), h = n / totals[k] / most * room
        g.fillStyle = colour; g.globalAlpha = 0.75
        g.fillRect(x + .5, base - h, Math.max(at(low + (b + 1) * step) - x - 1, 1), h)
      })
      g.globalAlpha = 1
      const mean = at(data.means[k][0] * u + data.means[k][1] * v)
      g.strokeStyle = colour; g.lineWidth = 2; line(g, mean, base, mean, base - room - Math.min(6, rise / 8)); g.lineWidth = 1
    })
    g.fillStyle = theme.soft; g.textAlign = "center"; g.textBaseline = "top"
    data.means.map(([x, y], k) => at(x * u + y * v)).forEach((x, k) => {
      g.fillStyle = theme.colour(data.classes[k]); g.beginPath(); g.moveTo(x, bottom + 3); g.lineTo(x - 5, bottom + 11); g.lineTo(x + 5, bottom + 11); g.fill()
    })
  }

  function Jof(degrees) {
    const w = unit(degrees), within = form(data.within, w), between = form(data.between, w)
    const [[a], [, b]] = data.within, [[c], [, d]] = data.between, rounding = ROUNDING * (a + b + c + d)
    return within > rounding ? between / within : between > rounding ? Infinity : 0
  }

  function drawCurve() {
    const g = clear(hill), width = curve.clientWidth, left = 6, right = width - 6, top = 26, bottom = CURVE - 22
    const heights = Array.from({ length: 361 }, (_, i) => Jof(i / 2)), most = Math.max(...[...heights, Jof(data.best)].filter(isFinite)) || 1
    const at = degrees => left + degrees / 180 * (right - left), up = J => bottom - Math.min(J / most, 1) * (bottom - top)
    g.fillStyle = theme.inkCss; g.textAlign = "left"; g.textBaseline = "top"; g.fillText(data.words.curve, left, 2, right - left)
    g.fillStyle = theme.soft; g.textAlign = "center"
    for (const d of [0, 45, 90, 135, 180]) {
      g.strokeStyle = theme.faint; line(g, at(d), top, at(d), bottom)
      g.textAlign = d === 0 ? "left" : d === 180 ? "right" : "center"
      g.fillText(d + "°", at(d), bottom + 5)
    }
    g.strokeStyle = theme.faint; line(g, left, bottom + .5, right, bottom + .5)
    g.strokeStyle = theme.inkCss; g.lineWidth = 2; g.beginPath()
    heights.forEach((J, i) => g[i ? "lineTo" : "moveTo"](at(i / 2), up(J))); g.stroke()
    g.lineWidth = 1; g.setLineDash([2, 4]); g.strokeStyle = theme.soft; line(g, at(data.best), top - 4, at(data.best), bottom); g.setLineDash([])
    const text = fill(data.words.best, { angle: data.best.toFixed(1), J: short(Jof(data.best)) })
    const half = g.measureText(text).width / 2, head = g.measureText(data.words.curve).width
    const x = Math.min(Math.max(at(data.best), left + head + 14 + half), right - half)
    g.textAlign = "center"; g.fillStyle = theme.soft; g.fillText(text, x, 2)
    g.fillStyle = theme.primary; g.strokeStyle = theme.groundCss; g.lineWidth = 2
    g.beginPath(); g.arc(at(angle), up(Jof(angle)), 6.5, 0, TAU); g.fill(); g.stroke()
  }

  function drawNumbers() {
    const w = unit(angle), values = { angle: angle.toFixed(1) + "°", J: short(Jof(angle)), within: short(form(data.within, w)), between: short(form(data.between, w)) }
    for (const { name, what, value } of cells) { what.textContent = data.words[name]; value.textContent = values[name] }
    handle.setAttribute("aria-label", data.words.handle)
    handle.setAttribute("aria-valuetext", `${values.angle}, J = ${values.J}`)
  }

  function drawLegend() {
    legend.replaceChildren()
    const entry = (text, looks) => {
      const item = make("li", "", legend), svg = shape("svg", "", item)
      set(svg, { width: 18, height: 14, viewBox: "-9 -7 18 14", "aria-hidden": true })
      set(shape("path", "", svg), looks)
      make("span", "", item, text)
    }
    for (const c of data.classes) entry(c.label, { d: glyphOf(c.glyph), transform: "scale(5.4)", fill: theme.colour(c) })
    const ring = colour => ({ d: "M-8 0A8 5 0 1 0 8 0A8 5 0 1 0-8 0Z", fill: "none", stroke: colour, "stroke-width": 1.8 })
    entry(data.words.ellipseWithin, ring(theme.inkCss)); entry(data.words.ellipseBetween, ring(theme.between))
  }

  function draw(parts) {
    if (!data) return
    if (parts.has("stage")) { readTheme(); layout(); drawStill(); drawLegend() }
    drawTurning(); drawShadow(); drawCurve(); drawNumbers()
  }

  // -- turning

  function settle() { clearTimeout(timer); timer = 0; send("turned", { angle: Math.round(angle * 100) / 100 }) }
  function turn(degrees) { cancelAnimationFrame(glide); turned = true; angle = wrap(Math.round(degrees * 10) / 10); redraw("turn") }
  const towards = event => {
    const frame = field.getBoundingClientRect(), z = zoomOf(field)
    const dx = (event.clientX - frame.left) / z - view.x(0), dy = view.y(0) - (event.clientY - frame.top) / z
    if (Math.hypot(dx, dy) < 8) return
    const way = Math.atan2(dy, dx) * 360 / TAU
    turn(way)
    end = Math.cos((way - angle) * TAU / 360) < 0 ? -1 : 1   // the handle stays under the pointer
  }
  const along = event => {
    const frame = curve.getBoundingClientRect()
    turn(Math.min(Math.max((event.clientX - frame.left - 6) / (frame.width - 12), 0), 0.9994) * 180)
  }
  for (const [target, follow] of [[handle, towards], [turning, towards], [hill, along]]) {
    on(target, "pointerdown", event => {
      if (event.button) return
      target.setPointerCapture(event.pointerId); drag = follow; turned = false
      if (target !== handle) follow(event)
    })
    on(target, "pointermove", event => drag === follow && target.hasPointerCapture(event.pointerId) && follow(event))
    const release = () => { if (drag) { drag = null; if (turned) settle() } }
    on(target, "pointerup", release); on(target, "pointercancel", release)
  }
  on(handle, "keydown", event => {
    const way = { ArrowLeft: 1, ArrowUp: 1, ArrowRight: -1, ArrowDown: -1 }[event.key]
    if (!way) return
    event.preventDefault()
    const before = angle
    turn(angle + way * (event.shiftKey ? 10 : 1))
    if (Math.abs(before - angle) > 90) end = -end          // past 0° the other end is the same
    clearTimeout(timer); timer = setTimeout(settle, SETTLE)
  })

  return {
    update,
    destroy() { if (timer) settle(); leave(); cancelAnimationFrame(glide) },
  }
}
