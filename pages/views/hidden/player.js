// EM, played: rows coloured by responsibility, ellipses, the climb and the numbers of a step. See player.py for what comes
// in. Playing needs no server; a step that a person chose is reported once it has stood for a moment.
// Words and labels from data reach the page through textContent and fillText only.

const WHOLE = 9000, SLOWEST = 650     // ms of a long run, of one iteration
const TALLEST = 500                   // pixels of a plane
const AGAIN = 2600                    // ms of a run that starts by itself, after a change

const films = (globalThis.bayesFilms ??= new Map())
globalThis.bayesPlayer = createPlayer // the live part's element calls it

export default received(films, "bayes-film", 4, ({ buffer }, { n, k, T }) => ({
  x: new Float32Array(buffer, 0, n), y: new Float32Array(buffer, 4 * n, n),
  forms: new Float32Array(buffer, 8 * n, T * k * 6), shares: new Uint8Array(buffer, 8 * n + 24 * T * k),
}))

const minus = text => text.replace(/-/g, "−")
const shown = v => v === null || v === undefined ? "–" : minus(Math.abs(v) >= 1e6 ? v.toExponential(6) : v.toFixed(Math.abs(v) >= 1e4 ? 3 : 5))
const small = v => v === null || v === undefined ? "–" : minus(v !== 0 && Math.abs(v) < 1e-3 ? v.toExponential(1) : v.toFixed(4))
const signed = v => v === null || v === undefined ? "–" : (v < 0 ? "−" : "+") + small(Math.abs(v))

function createPlayer(host) {
  const { on, theme: themeNow, fit, hear, send, waits, end } = stage(host, draw)
  const left = make("div", "", host), right = make("div", "", host)
  const field = make("div", "stage", left), canvas = make("canvas", "", field), tip = make("div", "card", field)
  const each = whole => clamp(whole / Math.max(last(), 1), 16, SLOWEST)
  const bar = filmBar(host, left, { on, draw, pace: () => each(WHOLE), report: step => send("stepped", { step }) })
  const legend = make("ul", "legend", left)
  const numbers = make("dl", "numbers", right)
  const charts = ["whole", "near"].map(name => {
    const title = make("div", "title", right), box = make("div", "chart", right)
    return { name, title, box, canvas: make("canvas", "", box) }
  })
  tip.hidden = true

  let data, film, theme, handles = [], dragged = null, hovered = -1
  const last = () => film.T - 1

  // -- what comes in

  function update(component) {
    const found = films.get(component.data.key)
    if (!found || found.id !== component.data.film) return   // its film is on the way
    data = component.data
    hear(component)
    const first = !film, fresh = found.id !== film?.id
    film = found
    charts[0].title.textContent = data.words.whole; charts[1].title.textContent = data.words.near
    build()
    if (fresh) {
      bar.load(last(), data.step)
      if (!first && data.step < 0 && last() > 0 && !matchMedia("(prefers-reduced-motion: reduce)").matches) bar.play(() => each(AGAIN), false)
    } else if (!waits()) bar.follow(data.step)
    host.dataset.film = film.id
    draw()
  }

  const local = event => { const r = field.getBoundingClientRect(), z = zoomOf(field); return [(event.clientX - r.left) / z, (event.clientY - r.top) / z] }

  function build() {
    const wanted = data.starts && !film.grid ? film.k : 0
    if (handles.length === wanted) return   // one may be under somebody's finger
    for (const h of handles) h.remove()
    handles = []
    if (!wanted) return
    handles = data.inks.slice(0, film.k).map((ink, k) => {
      const handle = make("div", "handle", field)
      handle.tabIndex = 0; handle.setAttribute("role", "slider"); handle.dataset.start = k
      handle.ariaLabel = fill(data.words.start, { k: k + 1 })
      make("span", "", handle).textContent = k + 1
      handle.title = handle.ariaLabel
      on(handle, "pointerdown", event => { if (!event.button) { handle.setPointerCapture(event.pointerId); dragged = { k, place: null }; event.preventDefault(); handle.focus() } })
      on(handle, "pointermove", event => {
        if (dragged?.k !== k) return
        const [px, py] = local(event)
        dragged.place = [clamp((px - box.l) / box.w, 0, 1), clamp(1 - (py - box.t) / box.h, 0, 1)]
        placeHandles()
      })
      const release = () => { const d = dragged; dragged = null; if (d?.place) moved(k, d.place) }
      on(handle, "pointerup", release); on(handle, "pointercancel", release)
      on(handle, "keydown", event => {
        const way = arrow(event)
        if (!way) return
        const [x, y] = startOf(k), s = event.shiftKey ? 0.05 : 0.01
        moved(k, [clamp(x + way[0] * s, 0, 1), clamp(y + way[1] * s, 0, 1)])
      })
      return handle
    })
  }
  function moved(k, [fx, fy]) {
    const [a, b] = data.sides
    send("moved", { k, x: a.low + fx * (a.high - a.low), y: b.low + fy * (b.high - b.low) })
  }

  // -- drawing

  let box = { l: 0, t: 0, w: 1, h: 1, width: 1, height: 1 }

  function look() {
    const now = themeNow()
    theme = { ...now, inks: data.inks.map(ink => rgbOf(now.colour(ink))), grid: now.faded(0.1), soft: now.faded(0.7) }
  }
  const inkOf = (k, alpha = 1) => { const [r, g, b] = theme.inks[k % theme.inks.length]; return `rgba(${r},${g},${b},${alpha})` }

  function pen(canvas, height) {        // as wide as what it stands in
    const parent = canvas.parentElement
    parent.style.height = height + "px"
    return [fit(canvas, parent.clientWidth, height), parent.clientWidth]
  }

  function draw() {
    if (!film || !data || !host.clientWidth) return
    look()
    host.classList.toggle("narrow", host.clientWidth < 560 || last() < 1)
    bar.bar.hidden = right.hidden = last() < 1   // one picture has nothing to play
    const { pos, step } = bar, t0 = Math.floor(pos), t1 = Math.min(t0 + 1, last()), f = pos - t0
    drawStage(t0, t1, f)
    bar.show(data.words, fill(data.words.counter, { t: step, T: last() }))
    host.dataset.objective = film.numbers.objective[step]
    drawNumbers(step)
    for (const chart of charts) drawChart(chart)
    drawLegend(step)
  }

  const form = (t, k, i) => film.forms[(t * film.k + k) * 6 + i]
  const between = (t0, t1, f, k, i) => form(t0, k, i) * (1 - f) + form(t1, k, i) * f
  const px = x => box.l + x * box.w, py = y => box.t + (1 - y) * box.h
  const startOf = k => dragged?.k === k && dragged.place ? dragged.place : [form(0, k, 1), form(0, k, 2)]

  function colourAt(t0, t1, f, i) {
    const { n, k, shares } = film, c = [0, 0, 0]
    for (let j = 0; j < k; j++) {
      const r = (shares[(t0 * n + i) * k + j] * (1 - f) + shares[(t1 * n + i) * k + j] * f) / 255, ink = theme.inks[j % theme.inks.length]
      for (let m = 0; m < 3; m++) c[m] += r * ink[m] * ink[m]
    }
    return `rgb(${c.map(v => Math.round(Math.sqrt(v))).join(",")})`
  }

  function placeOfRow(i) {
    if (!film.grid) return [px(film.x[i]), py(film.y[i])]
    const c = box.cell
    return [box.l + (i % film.grid + 0.5) * c, box.t + (Math.floor(i / film.grid) + 0.5) * c]
  }
  const radius = () => film.grid ? clamp(box.cell * 0.36, 2, 15) : clamp(6.4 - Math.log10(Math.max(film.n, 1) / 40) * 1.7, 3, 6.6)

  function drawStage(t0, t1, f) {
    const width0 = field.clientWidth, rows = film.grid ? Math.ceil(film.n / film.grid) : 0
    const height = film.grid ? clamp(rows * Math.min(width0 / film.grid, 58) + 16, 60, 460) : clamp(width0 * (last() < 1 ? 0.64 : 0.72), 300, TALLEST)
    const [ctx, width] = pen(canvas, height)
    box = film.grid ? { l: 4, t: 8, w: width - 8, h: height - 16, cell: Math.min((width - 8) / film.grid, (height - 16) / rows), width, height }
      : { l: 52, t: 8, w: width - 60, h: height - 52, width, height }
    if (!film.grid) {
      drawAxes(ctx)
      ctx.save(); ctx.beginPath(); ctx.rect(box.l, box.t, box.w, box.h); ctx.clip()
      for (let k = 0; k < film.k; k++) ellipse(ctx, t0, t1, f, k, 2, true)
      ctx.restore()
    }
    drawRows(ctx, t0, t1, f)
    if (!film.grid) {
      ctx.save(); ctx.beginPath(); ctx.rect(box.l, box.t, box.w, box.h); ctx.clip()
      for (let k = 0; k < film.k; k++) ellipse(ctx, t0, t1, f, k, 1, false)
      for (let k = 0; k < film.k; k++) trail(ctx, t0, t1, f, k)
      ctx.restore()
    }
    placeHandles()
    if (hovered >= 0) tell(hovered)
  }

  function drawAxes(ctx) {
    const [a, b] = data.sides
    ctx.font = `13px ${theme.font}`; ctx.fillStyle = theme.soft; ctx.strokeStyle = theme.grid; ctx.lineWidth = 1
    ctx.textAlign = "center"; ctx.textBaseline = "top"
    for (const [v, text] of ticksOf(a.low, a.high, Math.max(box.w / 75, 4))) {
      const x = Math.round(px((v - a.low) / (a.high - a.low))) + 0.5
      ctx.beginPath(); ctx.moveTo(x, box.t); ctx.lineTo(x, box.t + box.h); ctx.stroke()
      ctx.fillText(text, x, box.t + box.h + 6)
    }
    ctx.textAlign = "right"; ctx.textBaseline = "middle"
    for (const [v, text] of ticksOf(b.low, b.high, box.h / 60)) {
      const y = Math.round(py((v - b.low) / (b.high - b.low))) + 0.5
      ctx.beginPath(); ctx.moveTo(box.l, y); ctx.lineTo(box.l + box.w, y); ctx.stroke()
      ctx.fillText(text, box.l - 6, y, 32)
    }
    ctx.fillStyle = theme.inkCss; ctx.font = `13px ${theme.font}`; ctx.textAlign = "center"; ctx.textBaseline = "bottom"
    ctx.fillText(a.label, box.l + box.w / 2, box.height - 1, box.w)
    ctx.save(); ctx.translate(16, box.t + box.h / 2); ctx.rotate(-Math.PI / 2); ctx.fillText(b.label, 0, 0, box.h); ctx.restore()
  }

  function ellipse(ctx, t0, t1, f, k, sds, filled) {
    const [w, x, y, a, b, c] = [0, 1, 2, 3, 4, 5].map(i => between(t0, t1, f, k, i))
    if (!(w > 0)) return
    ctx.beginPath()
    for (let i = 0; i <= 72; i++) {
      const u = sds * Math.cos(i * Math.PI / 36), v = sds * Math.sin(i * Math.PI / 36)
      ctx.lineTo(px(x + a * u), py(y + b * u + c * v))
    }
    ctx.closePath()
    if (filled) { ctx.fillStyle = inkOf(k, 0.07); ctx.fill() }
    ctx.strokeStyle = inkOf(k, filled ? 0.55 : 1); ctx.lineWidth = filled ? 1.2 : 2.2
    ctx.setLineDash(filled ? [5, 4] : []); ctx.stroke(); ctx.setLineDash([])
  }

  function trail(ctx, t0, t1, f, k) {
    ctx.beginPath()
    for (let t = 0; t <= t0; t++) ctx.lineTo(px(form(t, k, 1)), py(form(t, k, 2)))
    const x = px(between(t0, t1, f, k, 1)), y = py(between(t0, t1, f, k, 2))
    ctx.lineTo(x, y)
    ctx.strokeStyle = theme.groundCss; ctx.lineWidth = 3.6; ctx.stroke()
    ctx.strokeStyle = inkOf(k, 0.9); ctx.lineWidth = 1.6; ctx.stroke()
    for (const [colour, wide] of [[theme.groundCss, 6], [inkOf(k), 3]]) {   // the mean, a cross
      ctx.beginPath(); ctx.moveTo(x - 7, y); ctx.lineTo(x + 7, y); ctx.moveTo(x, y - 7); ctx.lineTo(x, y + 7)
      ctx.strokeStyle = colour; ctx.lineWidth = wide; ctx.stroke()
    }
  }

  function drawRows(ctx, t0, t1, f) {
    const r = radius(), paths = GLYPHS.map(g => pathOf(g))
    for (let i = 0; i < film.n; i++) {
      const [x, y] = placeOfRow(i)
      if (!Number.isFinite(x + y)) continue
      const seen = data.seen_labels?.[i], shape = paths[data.truth ? data.truth[i] % GLYPHS.length : 0]
      ctx.save(); ctx.translate(x, y); ctx.scale(r, r)
      if (seen) { ctx.strokeStyle = theme.inkCss; ctx.lineWidth = 4.6 / r; ctx.stroke(shape) }
      ctx.strokeStyle = theme.groundCss; ctx.lineWidth = (seen ? 1.6 : 2) / r; ctx.stroke(shape)
      ctx.fillStyle = colourAt(t0, t1, f, i); ctx.globalAlpha = film.grid || seen ? 1 : 0.9; ctx.fill(shape)
      ctx.restore()
    }
  }

  function placeHandles() {
    handles.forEach((handle, k) => {
      const [x, y] = startOf(k)
      handle.style.left = px(x) + "px"; handle.style.top = py(y) + "px"; handle.style.setProperty("--ink", inkOf(k))
      handle.hidden = !(x >= -0.001 && x <= 1.001 && y >= -0.001 && y <= 1.001)
      const [a, b] = data.sides, across = a.low + x * (a.high - a.low)
      handle.ariaValueMin = a.low; handle.ariaValueMax = a.high; handle.ariaValueNow = across.toPrecision(4)
      handle.ariaValueText = `${handle.ariaValueNow}, ${(b.low + y * (b.high - b.low)).toPrecision(4)}`
    })
  }

  function drawNumbers(t) {
    const v = Object.fromEntries(Object.entries(film.numbers).map(([name, list]) => [name, list[t]])), w = data.words
    const prior = film.numbers.log_prior.some(p => p !== 0)
    const before = t ? film.numbers.objective[t - 1] : null, stair = v.lower_bound === null ? null : v.lower_bound + v.log_prior
    const rows = [["Q", shown(v.q)], ["+ H", shown(v.entropy)]]
    if (prior) rows.push(["+ log p(Θ)", shown(v.log_prior)])
    rows.push(null, ["= " + w.objective, shown(v.objective), "sum"])
    if (film.hard || prior) rows.push(["log p(X | Θ)", shown(v.log_likelihood)])
    const gain = (to, from) => to === null || from === null ? "–" : Math.abs(to - from) < 1e-11 * Math.max(1, Math.abs(to)) ? "0" : signed(to - from)
    rows.push([w.m_step, gain(stair, before)], [w.e_step, gain(v.objective, stair)])
    rows.push([w.moved, small(v.parameter_change)])
    if (data.right) rows.push([w.right, `${data.right[t]} / ${data.right_of}`, "sum"])
    numbers.replaceChildren(...rows.flatMap(row => {
      if (!row) return [make("div", "rule", null)]
      const [term, value] = [make("dt", row[2] ?? "", null), make("dd", row[2] ?? "", null)]
      term.textContent = row[0]; value.textContent = row[1]
      return [term, value]
    }))
  }

  function drawChart({ name, canvas, title }) {
    const near = name === "near", t = bar.step
    title.hidden = canvas.parentElement.hidden = last() < 1 || (near && last() < 4)
    if (title.hidden) return
    const [ctx, width] = pen(canvas, near ? 132 : 138)
    const height = near ? 132 : 138
    const from = near ? clamp(t - 3, 0, Math.max(last() - 5, 0)) : 0, to = near ? Math.min(from + 5, last()) : last()
    const objective = film.numbers.objective, bound = film.numbers.lower_bound.map((b, i) => b === null ? null : b + film.numbers.log_prior[i])
    const range = objective.slice(from, to + 1).filter(v => v !== null)
    const low = Math.min(...range), high = Math.max(...range), length = high - low || 1
    const l = 8, r = width - 10, top = 18, bottom = height - 20
    const X = i => l + (i - from) / Math.max(to - from, 1) * (r - l), Y = v => bottom - (v - low) / length * (bottom - top)
    ctx.font = `13px ${theme.font}`; ctx.lineWidth = 1
    ctx.strokeStyle = theme.grid
    for (const y of [top, bottom]) { ctx.beginPath(); ctx.moveTo(l, y + 0.5); ctx.lineTo(r, y + 0.5); ctx.stroke() }
    ctx.fillStyle = theme.soft; ctx.textBaseline = "top"; ctx.textAlign = "center"
    for (const [v, text] of ticksOf(from, to, Math.min(to - from, 6))) if (Number.isInteger(v)) ctx.fillText(text, clamp(X(v), l + 4, r - 6), bottom + 5)
    const colour = theme.dark ? ["#56B4E9", "#F0BE45"] : ["#0072B2", "#926500"]
    ctx.lineJoin = "round"; ctx.lineWidth = near ? 2.4 : 1.6
    for (let i = from; i < to; i++) {   // M: from the log-likelihood up to the bound; E: from the bound up to it again
      const middle = bound[i + 1] ?? objective[i + 1]
      ctx.strokeStyle = colour[1]; ctx.beginPath(); ctx.moveTo(X(i), Y(objective[i])); ctx.lineTo(X(i + 1), Y(middle)); ctx.stroke()
      ctx.strokeStyle = colour[0]; ctx.beginPath(); ctx.moveTo(X(i + 1), Y(middle)); ctx.lineTo(X(i + 1), Y(objective[i + 1])); ctx.stroke()
    }
    if (near || last() < 60) for (let i = from; i <= to; i++) {
      ctx.fillStyle = colour[0]; ctx.beginPath(); ctx.arc(X(i), Y(objective[i]), near ? 4 : 2.4, 0, 7); ctx.fill()
      if (near && i > from && bound[i] !== null) { ctx.fillStyle = theme.groundCss; ctx.strokeStyle = colour[1]; ctx.lineWidth = 1.8; ctx.beginPath(); ctx.arc(X(i), Y(bound[i]), 3.4, 0, 7); ctx.fill(); ctx.stroke() }
    }
    const x = X(clamp(bar.pos, from, to))
    ctx.strokeStyle = theme.soft; ctx.lineWidth = 1; ctx.setLineDash([3, 3]); ctx.beginPath(); ctx.moveTo(x, top); ctx.lineTo(x, bottom); ctx.stroke(); ctx.setLineDash([])
    const digits = clamp(2 - Math.floor(Math.log10(length)), 2, 6)
    ctx.fillStyle = theme.inkCss; ctx.textAlign = "right"; ctx.textBaseline = "bottom"
    ctx.fillText(minus(high.toFixed(digits)), r, top - 3)          // above the end of the climb
    ctx.fillText(minus(low.toFixed(digits)), r - 4, bottom - 2)    // it rises: below its end there is room
  }

  function drawLegend(t) {
    const items = []
    const entry = (svg, text) => { const li = make("li", "", null); li.append(svg); make("span", "", li).textContent = text; items.push(li) }
    data.inks.slice(0, film.k).forEach((ink, k) => {
      const colour = inkOf(k), g = GLYPHS[data.truth && data.same ? k % GLYPHS.length : 0]
      entry(drawing(g, "-1.3 -1.3 2.6 2.6", colour), `${ink.label} · π = ${form(t, k, 0).toFixed(4)}`)
    })
    if (data.truth && !data.same) data.truths.forEach((label, c) => entry(drawing(GLYPHS[c % GLYPHS.length], "-1.3 -1.3 2.6 2.6", theme.soft), label))
    if (data.seen_labels) entry(ringed(), data.words.seen)
    legend.replaceChildren(...items)
  }
  function ringed() {
    const svg = drawing(GLYPHS[0], "-1.5 -1.5 3 3", theme.soft)
    svg.firstChild.setAttribute("stroke", theme.inkCss); svg.firstChild.setAttribute("stroke-width", "0.5"); svg.firstChild.setAttribute("fill", "none")
    return svg
  }

  // -- the rows: hover, click

  const hit = (x, y) => {
    let found = -1, least = (radius() + 5) ** 2
    for (let i = 0; i < film.n; i++) {
      const [a, b] = placeOfRow(i), d = (a - x) ** 2 + (b - y) ** 2
      if (d < least) { least = d; found = i }
    }
    return found
  }
  function tell(i) {
    const { n, k, shares } = film, t = bar.step
    tip.replaceChildren()
    make("div", "head", tip).textContent = fill(data.words.row, { n: data.rows[i] + 1 })
    const lines = data.inks.slice(0, k).map((ink, j) => [shares[(t * n + i) * k + j] / 255, ink.label]).sort((a, b) => b[0] - a[0]).slice(0, 4)
      .map(([p, label]) => `${label}: ${p.toFixed(2)}`)
    if (data.truth) lines.push(fill(data.words.truth, { label: data.truths[data.truth[i]] }))
    if (data.seen_labels) lines.push(data.seen_labels[i] ? data.words.click_hide : data.words.click_show)
    make("div", "body", tip).textContent = lines.join("\n")
    tip.hidden = false
    const [x, y] = placeOfRow(i), w = tip.offsetWidth, h = tip.offsetHeight
    tip.style.left = clamp(x - w / 2, 0, Math.max(box.width - w, 0)) + "px"
    tip.style.top = (y - h - 14 >= 0 ? y - h - 14 : y + 14) + "px"
  }
  const spot = event => hit(...local(event))
  on(canvas, "pointermove", event => {
    if (!film || !data) return
    hovered = spot(event)
    canvas.style.cursor = hovered >= 0 && data.pick ? "pointer" : "default"
    if (hovered < 0) tip.hidden = true; else tell(hovered)
  })
  on(canvas, "pointerleave", () => { hovered = -1; tip.hidden = true })
  on(canvas, "click", event => {
    const i = film ? spot(event) : -1
    if (i >= 0 && data.pick) send("picked", { row: data.rows[i] })
    else if (i < 0 && handles.length) {  // a click beside the rows: the nearest start point goes there
      const [x, y] = local(event)
      const place = [(x - box.l) / box.w, 1 - (y - box.t) / box.h]
      if (place.some(v => v < 0 || v > 1)) return
      const away = k => { const [a, b] = startOf(k); return (px(a) - x) ** 2 + (py(b) - y) ** 2 }
      moved(handles.map((_, k) => k).reduce((a, b) => away(b) < away(a) ? b : a), place)
    }
  })

  return { update, destroy() { bar.end(); end() } }
}
