// One column in one class, and parameters to drag: a Gaussian over its rows as stems, or θ on the simplex of its levels.
// Beneath it Σ log L as a bar, and the likeliest parameters beside those chosen. See fitted.py.

const SETTLE = 350                    // ms after the last arrow key until the place is sent
const HIGH = 270, BAR = 84, TOP = 26
const BANDS = [[-0.5, 0.62], [-2, 0.46], [-5, 0.34], [-10, 0.25], [-30, 0.18], [-100, 0.13], [-300, 0.09], [-1000, 0.06]]   // nats below the maximum, and how dark
const SPANS = [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 1e4, 2e4, 5e4, 1e5, 1e6, 1e7]   // nats that the bar is long

export default drawnBy(create)

const minus = text => text.replace("-", "−")
const nats = v => v === -Infinity ? "−∞" : minus(v.toFixed(Math.abs(v) < 1000 ? 3 : 1))
const ratio = drop => drop > -7 ? `${(100 * Math.exp(drop)).toFixed(drop > -2 ? 1 : 2)} %` : drop === -Infinity ? "0" : `10${raised(drop / Math.LN10)}`
const raised = power => minus(power.toFixed(Math.abs(power) < 10 ? 1 : 0)).replace(/./g, c => "⁰¹²³⁴⁵⁶⁷⁸⁹"["0123456789".indexOf(c)] ?? { "−": "⁻", ".": "·" }[c])

function create(host) {
  const { on, redraw, theme: themeNow, fit, hear, send, waits, end } = stage(host, draw)
  const list = make("div", "places", host), field = make("div", "field", host)
  const canvas = make("canvas", "", field), svg = shape("svg", "", field)
  let data, theme, box, here, drag = null, timer = 0, handles = [], live, rows = [], sent = ""

  function update(component) {
    const fresh = !data || data.of !== component.data.of, before = data && looks(data)
    hear(component)
    data = component.data
    if (fresh || !(drag || timer || waits())) here = [...data.here]
    redraw(before === looks(data) ? "case" : "stage")   // else a handle would be another one under the finger
  }
  const looks = ({ here, seen, ...rest }) => JSON.stringify(rest)
  function draw(parts) {
    if (!data) return
    if (parts.has("stage")) { theme = themeNow(); layout() }
    place()
  }

  // -- the log-likelihood, as fitted_column.py has it

  const gaussian = () => data.kind === "gaussian"
  const thetaOf = at => data.counts.length === 2 ? [at[0], 1 - at[0]] : [at[0], at[1], Math.max(1 - at[0] - at[1], 0)]
  function logL(at) {
    if (gaussian()) {
      const [mu, sd] = at, squares = data.squares + data.n * (data.mean - mu) ** 2
      return -0.5 * data.n * Math.log(2 * Math.PI) - data.n * Math.log(sd) - 0.5 * squares / sd ** 2
    }
    return thetaOf(at).reduce((sum, t, s) => data.counts[s] ? sum + data.counts[s] * Math.log(t) : sum, 0)
  }
  const density = (x, [mu, sd]) => Math.exp(-0.5 * ((x - mu) / sd) ** 2) / (sd * Math.sqrt(2 * Math.PI))
  const best = () => data.places[0]
  const round = v => Number((Math.round(v / data.step) * data.step).toFixed(10))
  function kept(at) {                 // within what can be dragged
    if (gaussian()) return [clamp(round(at[0]), data.low, data.high), clamp(round(at[1]), data.least, data.most)]
    const theta = (at.length === 3 ? at : thetaOf(at)).map(t => Math.max(t, 0)), sum = theta.reduce((a, b) => a + b, 0) || 1
    const [a, b] = theta.map(t => Math.round(t / sum * 1000) / 1000)
    return data.counts.length === 2 ? [a, Number((1 - a).toFixed(3))] : [a, Number(Math.min(b, 1 - a).toFixed(3))]
  }
  const digits = () => Math.max(0, -Math.floor(Math.log10(data.step) + 1e-9))
  const said = at => gaussian() ? at.map(v => minus(v.toFixed(Math.min(digits() + 1, 12)))) : thetaOf(at).map(t => t.toFixed(3))

  // -- what stays while one drags

  const text = (parent, className, px, py, words) => {
    const element = shape("text", className, parent)
    set(element, { x: px, y: py })
    element.textContent = words
    return element
  }
  const line = (parent, className, d) => { const element = shape("path", className, parent); set(element, { d }); return element }

  function layout() {
    const width = host.clientWidth, narrow = width < 560, focused = handles.findIndex(h => h === host.getRootNode().activeElement)
    svg.replaceChildren(); list.replaceChildren(); handles = []
    const pen = document.createElement("canvas").getContext("2d")
    pen.font = `13px ${theme.font}`
    const widthOf = words => pen.measureText(words).width
    const three = !gaussian() && data.counts.length === 3
    const side = three ? Math.min(width - 30, 440) : 0, high = three ? Math.round(side * Math.sqrt(3) / 2) + 58 : HIGH + TOP + 30
    box = { width, narrow, left: narrow ? 34 : 52, right: width - 14, high, widthOf }
    const ink = theme.colour(data.ink)
    const still = shape("g", "", svg)
    live = shape("g", "", svg)
    canvas.hidden = !three
    if (gaussian()) scaleOfNumbers(still)
    else if (three) triangle(still, side, ink)
    else segment(still, ink)
    box.ink = ink
    const names = gaussian() ? [data.words.mean, data.words.sd] : [data.words.theta]
    names.forEach((name, i) => {
      const handle = shape("circle", "handle", svg)
      set(handle, { r: matchMedia("(pointer: coarse)").matches ? 16 : 9, role: "slider", tabindex: 0, "aria-label": name, fill: i ? theme.groundCss : ink, stroke: i ? ink : theme.groundCss })
      on(handle, "keydown", event => press(i, event))
      handles.push(handle)
    })
    if (focused >= 0) handles[focused]?.focus({ preventScroll: true })
    const all = high + BAR
    set(svg, { viewBox: `0 0 ${width} ${all}`, height: all, role: "group", "aria-label": data.words.label })
    field.style.height = `${all}px`
    table()
  }

  function scaleOfNumbers(still) {
    const { left, right } = box
    box.x = v => left + (v - data.low) / (data.high - data.low) * (right - left)
    box.value = px => data.low + (px - left) / (right - left) * (data.high - data.low)
    box.ground = TOP + HIGH
    for (const [v, label] of ticksOf(data.low, data.high, (right - left) / 80)) {
      line(still, "grid", `M${box.x(v)} ${TOP}V${box.ground}`)
      text(still, "mid tick", box.x(v), box.ground + 17, label)
    }
    line(still, "axis", `M${left} ${box.ground}H${right}`)
    text(still, "title", 0, 14, data.words.title)
  }

  function triangle(still, side, ink) {
    const { width } = box, tall = side * Math.sqrt(3) / 2, x0 = (width - side) / 2, base = 30 + tall
    const corners = box.corners = [[x0, base], [x0 + side, base], [x0 + side / 2, 30]]
    box.at = theta => [0, 1].map(d => corners.reduce((sum, c, s) => sum + theta[s] * c[d], 0))
    box.theta = (px, py) => {
      const c = (base - py) / tall, b = (px - x0) / side - c / 2
      return [1 - b - c, b, c]
    }
    canvas.style.width = `${width}px`; canvas.style.height = `${box.high}px`
    const pad = fit(canvas, width, box.high), wide = canvas.width, rows = canvas.height, scale = wide / width
    const picture = pad.createImageData(wide, rows), [r, g, b] = rgbOf(ink), top = best().value
    for (let j = 0; j < rows; j++) for (let i = 0; i < wide; i++) {
      const theta = box.theta((i + 0.5) / scale, (j + 0.5) / scale)
      if (theta[0] < 0 || theta[1] < 0 || theta[2] < 0) continue
      let value = 0
      for (let s = 0; s < 3; s++) if (data.counts[s]) value += data.counts[s] * Math.log(theta[s])
      const band = BANDS.find(([drop]) => value - top > drop), at = 4 * (j * wide + i)
      picture.data[at] = r; picture.data[at + 1] = g; picture.data[at + 2] = b
      picture.data[at + 3] = 255 * (band ? band[1] : 0.03)
    }
    pad.putImageData(picture, 0, 0)
    line(still, "axis", `M${corners.map(c => c.join(" ")).join("L")}Z`)
    for (const t of [0.25, 0.5, 0.75]) {
      const join = (p, q) => line(still, "grid", `M${box.at(p).join(" ")}L${box.at(q).join(" ")}`)
      join([t, 1 - t, 0], [t, 0, 1 - t]); join([1 - t, t, 0], [0, t, 1 - t]); join([1 - t, 0, t], [0, 1 - t, t])
    }
    data.levels.forEach((level, s) => {
      const [px, py] = corners[s], words = clipped(level, width * (s === 2 ? 0.8 : 0.46), box.widthOf), half = box.widthOf(words) / 2 + 4
      text(still, "mid corner", clamp(px, half, width - half), s === 2 ? 16 : py + 20, words)
    })
    stars(still)
  }

  function segment(still, ink) {
    const { left, right } = box, top = best().value, deep = Math.min(12, Math.max(6, data.counts[0] + data.counts[1]))
    box.x = v => left + v * (right - left)
    box.value = px => (px - left) / (right - left)
    box.ground = TOP + HIGH
    box.y = v => TOP + 14 + clamp((top - v) / deep, 0, 1) * (HIGH - 14)
    let d = ""
    for (let i = 0; i <= 600; i++) {
      const v = logL([i / 600, 1 - i / 600])
      if (v >= top - deep) d += `${d ? "L" : "M"}${box.x(i / 600).toFixed(1)} ${box.y(v).toFixed(1)}`
    }
    for (const [v, label] of ticksOf(0, 1, 5)) { line(still, "grid", `M${box.x(v)} ${TOP}V${box.ground}`); text(still, "mid tick", box.x(v), box.ground + 17, label) }
    for (const [v, label] of ticksOf(top - deep, top, 4)) text(still, "end tick", left - 5, box.y(v) + 4, label)
    line(still, "axis", `M${left} ${box.ground}H${right}`)
    set(line(still, "curve", d), { stroke: ink })
    text(still, "title", 0, 14, data.words.title)
    box.at = theta => [box.x(theta[0]), box.y(logL([theta[0]]))]
    stars(still)
  }

  function stars(still) {             // the places that the table names, on the simplex
    data.places.forEach((p, i) => {
      const [px, py] = box.at(thetaOf(p.at))
      if (i) { set(shape("circle", "other", still), { cx: px, cy: py, r: 4.5 }); text(still, "halo tick", px + 8, py - 6, p.short) }
      else set(shape("path", "star", still), { d: GLYPHS[7], transform: `translate(${px} ${py}) scale(9)` })
    })
  }

  function table() {
    const heads = gaussian() ? ["", "μ, σ", data.words.sum, data.words.share, data.words.own] : ["", "θ", data.words.sum, data.words.share]
    const head = make("div", "row head", list)
    list.classList.toggle("four", heads.filter(h => h !== null).length === 4 || data.asked === null)
    const cellsOf = (parent, words) => words.map(w => make("span", "", parent, w))
    const shown = gaussian() && data.asked !== null ? heads : heads.slice(0, 4)
    cellsOf(head, shown)
    const row = (name, at) => {
      const line = make("div", "row", list), first = make("span", "first", line)
      if (gaussian()) {
        const key = shape("svg", "key", first), stroke = shape("path", at ? `ghost${name === data.places[0].name ? "" : " second"}` : "curve", key)
        set(key, { width: 22, height: 8, viewBox: "0 0 22 8", "aria-hidden": "true" })
        set(stroke, { d: "M0 4H22" })
        if (!at) set(stroke, { stroke: box.ink })
      }
      if (at) { const button = make("button", "set", first, name); on(button, "click", () => { here = at.map(v => v); go(here, false); deliver() }); button.title = data.words.take }
      else make("span", "name", first, name)
      return cellsOf(line, shown.slice(1).map(() => ""))
    }
    rows = [row(data.words.here, null), ...data.places.map(p => row(p.name, p.at))]
  }
  function tell(cells, at, exact) {
    const value = logL(at)
    write(cells[0], exact ? (gaussian() ? at.map(v => minus(v.toFixed(Math.min(digits() + 2, 12)))) : thetaOf(at).map(t => t.toFixed(3))).join(", ") : said(at).join(", "))
    write(cells[1], nats(value))
    write(cells[2], ratio(Math.min(value - best().value, 0)))
    if (cells[3]) write(cells[3], density(data.asked, at).toFixed(4))
    return value
  }

  // -- what moves

  function place() {
    if (!box) return
    live.replaceChildren()
    if (gaussian()) curveOverRows()
    else {
      const [px, py] = box.at(thetaOf(here))
      set(handles[0], { cx: px, cy: py, "aria-valuetext": `${data.levels.map((l, s) => `${l} ${thetaOf(here)[s].toFixed(3)}`).join(", ")}: ${nats(logL(here))}` })
      set(handles[0], { "aria-valuenow": here[0], "aria-valuemin": 0, "aria-valuemax": 1 })
    }
    const value = tell(rows[0], here, false)
    data.places.forEach((p, i) => tell(rows[i + 1], p.at, true))
    bar(value)
    host.dataset.place = here.join(",")
    host.dataset.sum = value === -Infinity ? "-inf" : value.toFixed(9)
  }

  function curveOverRows() {
    const [mu, sd] = here, peak = 1 / (sd * Math.sqrt(2 * Math.PI)), usual = 1 / (best().at[1] * Math.sqrt(2 * Math.PI))
    const reach = Math.max(1.3 * usual, 1.06 * peak), y = p => box.ground - p / reach * HIGH
    const curve = at => {
      let d = ""
      for (let i = 0; i <= 240; i++) { const v = data.low + (data.high - data.low) * i / 240; d += `${i ? "L" : "M"}${box.x(v).toFixed(1)} ${y(density(v, at)).toFixed(1)}` }
      return d
    }
    for (const [v, label] of ticksOf(0, reach, 4)) if (v) { text(live, "end tick", box.left - 5, y(v) + 4, label); line(live, "grid", `M${box.left} ${y(v)}H${box.right}`) }
    data.places.forEach((p, i) => set(line(live, `ghost${i ? " second" : ""}`, curve(p.at)), {}))
    let stems = ""
    for (const v of data.values) stems += `M${box.x(v).toFixed(1)} ${box.ground}V${y(density(v, here)).toFixed(1)}`
    set(line(live, "stems", stems), { stroke: box.ink, "stroke-width": data.values.length > 60 ? 0.7 : 1.6 })
    if (data.values.length <= 200) for (const v of data.values) set(shape("circle", "row-dot", live), { cx: box.x(v), cy: y(density(v, here)), r: data.values.length > 60 ? 2.5 : 4.5, fill: box.ink })
    set(line(live, "curve", curve(here)), { stroke: box.ink })
    const right = mu + sd <= data.high, edge = right ? mu + sd : Math.max(mu - sd, data.low)
    line(live, "axis", `M${box.x(mu)} ${y(density(edge, here))}H${box.x(edge)}`)
    set(handles[0], { cx: box.x(mu), cy: y(peak), "aria-valuenow": mu, "aria-valuemin": data.low, "aria-valuemax": data.high, "aria-valuetext": `μ = ${said(here)[0]}: ${nats(logL(here))}` })
    set(handles[1], { cx: box.x(edge), cy: y(density(edge, here)), "aria-valuenow": sd, "aria-valuemin": data.least, "aria-valuemax": data.most, "aria-valuetext": `σ = ${said(here)[1]}: ${nats(logL(here))}` })
    const around = Number(handles[0].getAttribute("r")) + 5
    text(live, "mid halo handleName", box.x(mu), y(peak) - around, "μ")
    text(live, "halo handleName", box.x(edge) + (right ? around : -around - 10), y(density(edge, here)) + 4, "σ")
  }

  function bar(value) {               // from so many nats below the maximum up to it
    const top = best().value, drop = top - value, { left, right, high } = box, y = high + 30
    const others = data.places.slice(1).map(p => top - p.value).filter(v => v < 40)
    const span = SPANS.find(s => s >= 1.05 * Math.max(Number.isFinite(drop) ? drop : 0, ...others)) ?? SPANS.at(-1)
    const x = v => right - clamp(v / span, 0, 1) * (right - left)
    text(live, "title", 0, y - 10, data.words.bar)
    text(live, "end title", right, y - 10, `${nats(value)} (${data.words.top} ${nats(top)})`)
    set(shape("rect", "empty", live), { x: left, y, width: right - left, height: 18, rx: 3 })
    set(shape("rect", "", live), { x: left, y, width: Number.isFinite(drop) ? Math.max(x(drop) - left, 1) : 0, height: 18, rx: 3, fill: box.ink })
    const taken = []                  // the names under the bar, the likeliest first, each left of what is in its way
    data.places.map((p, i) => [top - p.value, p.short, i]).filter(([v]) => v <= span).forEach(([v, name, i]) => {
      line(live, i ? "mark" : "mark first", `M${x(v)} ${y - 4}V${y + 24}`)
      const half = box.widthOf(name) / 2
      let px = clamp(x(v), left + half, box.width - half)
      for (const [from, to] of taken) if (px + half > from - 8 && px - half < to + 8) px = from - 8 - half
      taken.push([px - half, px + half])
      text(live, "mid tick", px, y + 38, name)
    })
    const end = nats(top - span)
    if (taken.every(([from]) => from > left + box.widthOf(end) + 8)) text(live, "tick", left, y + 38, end)
  }

  // -- edits

  function go(at, wait) {
    here = kept(at)
    redraw("case")
    if (wait) { clearTimeout(timer); timer = setTimeout(deliver, SETTLE) }
  }
  function deliver() {
    clearTimeout(timer); timer = 0
    const now = here.join()
    if (now !== data.here.join() || now !== sent && waits()) { sent = now; send("moved", { at: here, of: data.of }) }
  }
  const local = event => {
    const frame = svg.getBoundingClientRect(), scaled = box.width / (frame.width || 1)
    return [(event.clientX - frame.left) * scaled, (event.clientY - frame.top) * scaled]
  }
  function follow(event) {
    const [px, py] = local(event)
    if (gaussian()) {
      const v = box.value(px - drag.dx)
      go(drag.i ? [here[0], Math.max(Math.abs(v - here[0]), data.least)] : [v, here[1]])
    } else if (data.counts.length === 2) { const t = clamp(box.value(px - drag.dx), 0, 1); go([t, 1 - t]) }
    else go(box.theta(px - drag.dx, py - drag.dy).map(t => t < 0.004 ? 0 : t))
  }
  function handleAt(event, finger) {  // a finger need not hit it: as far as half of 44 px is near enough
    const i = handles.indexOf(event.target)
    if (i >= 0 || !finger) return i
    const [px, py] = local(event)
    const away = handles.map(h => Math.hypot(px - Number(h.getAttribute("cx")), py - Number(h.getAttribute("cy"))))
    const nearest = away.indexOf(Math.min(...away))
    return away[nearest] <= 24 ? nearest : -1
  }
  // touch-action of a shape within the drawing does not keep a browser from scrolling
  on(svg, "touchstart", event => { if (event.touches.length === 1 && handleAt(event.touches[0], true) >= 0) event.preventDefault() }, { passive: false })
  on(svg, "pointerdown", event => {
    const i = handleAt(event, event.pointerType === "touch")
    if (event.button || i < 0) return
    svg.setPointerCapture(event.pointerId)
    handles[i].focus({ preventScroll: true })
    const [px, py] = local(event)
    drag = { i, id: event.pointerId, dx: px - Number(handles[i].getAttribute("cx")), dy: py - Number(handles[i].getAttribute("cy")) }
    event.preventDefault()
  })
  on(svg, "pointermove", event => { if (drag?.id === event.pointerId) follow(event) })
  const release = event => { if (drag?.id === event.pointerId) { drag = null; deliver() } }
  on(svg, "pointerup", release)
  on(svg, "pointercancel", release)
  function press(i, event) {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }[event.key]
    if (!by) return
    event.preventDefault()
    const far = event.shiftKey ? 10 : 1
    if (gaussian()) { const step = data.step * far * (by[0] + by[1]); go(i ? [here[0], here[1] + step] : [here[0] + step, here[1]], true); return }
    const t = thetaOf(here), step = 0.01 * far
    if (t.length === 2) { const a = clamp(t[0] + step * (by[0] + by[1]), 0, 1); go([a, 1 - a], true); return }
    if (by[0]) { const m = clamp(by[0] * step, -t[1], t[0]); go([t[0] - m, t[1] + m, t[2]], true) }
    else { const c = clamp(t[2] + by[1] * step, 0, 1), rest = t[0] + t[1], share = rest > 0 ? t[0] / rest : 0.5; go([(1 - c) * share, (1 - c) * (1 - share), c], true) }
  }

  return { update, destroy() { if (timer) deliver(); end() } }
}
