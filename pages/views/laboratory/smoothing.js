// One case under four smoothings over the number of rows: the log-odds above, one estimate beneath, a marker to drag.
// See smoothing.py. All numbers are the engine's, at a fixed list of sizes; the browser looks them up.

const SETTLE = 350                    // ms after the last key until the size is sent
const TOP = 14, ODDS_HIGH = 200, CELL_HIGH = 150, GAP = 46, LANE = 16, RIGHT = 16
const SHARES = [0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 1e-4, 0.9999, 1e-6, 0.999999, 1e-8, 0.99999999]

export default drawnBy(create)

const short = p => {                  // as many digits as tell it from 0 and from 1
  if (p === 0 || p === 1) return String(p)
  const places = Math.ceil(-Math.log10(Math.min(p, 1 - p)))
  return p < 1e-4 ? p.toExponential(2).replace("-", "−") : p.toFixed(clamp(places + 2, 4, 9))
}
const rowsWords = n => n >= 100 ? n.toLocaleString("en").replaceAll(",", " ") : String(Math.round(n * 100) / 100)
const fewRows = v => v >= 1e5 ? v.toExponential(1).replace("+", "") : String(Number(v.toPrecision(4)))

function create(host) {
  const { on, redraw, theme: themeNow, hear, send, waits, end } = stage(host, draw)
  const list = make("div", "rules", host), svg = shape("svg", "", host), quiet = make("div", "quiet", host)
  quiet.setAttribute("role", "status")
  const measure = document.createElement("canvas").getContext("2d")
  let data, theme, box, at = 0, drag = null, timer = 0, handle, marks = [], cells = []

  function update(component) {
    const before = data && looks(data)
    hear(component)
    data = component.data
    for (const rule of data.rules) rule.odds = rule.odds.map(v => v === "+" ? Infinity : v === "-" ? -Infinity : v === null ? NaN : v)
    const wanted = data.sizes.indexOf(data.n)
    if (!before || !(drag !== null || timer || waits())) at = Math.max(wanted, 0)
    at = Math.min(at, data.sizes.length - 1)
    redraw(before === looks(data) ? "case" : "stage")
  }
  const looks = ({ n, seen, ...rest }) => JSON.stringify(rest, (_, v) => v === Infinity ? "+" : v === -Infinity ? "-" : v)

  function draw(parts) {
    if (!data) return
    if (parts.has("stage")) { theme = themeNow(); layout() }
    place()
  }

  const colour = rule => theme.colour(rule)
  const x = n => box.left + Math.log10(n / data.sizes[0]) / Math.log10(data.sizes.at(-1) / data.sizes[0]) * (box.right - box.left)
  const p = odds => 1 / (1 + Math.exp(-odds))

  function layout() {
    const width = host.clientWidth, narrow = width < 560
    measure.font = `13px ${theme.font}`
    host.classList.toggle("narrow", narrow)
    const focused = host.getRootNode().activeElement === handle
    svg.replaceChildren(); list.replaceChildren()
    const finite = data.rules.flatMap(rule => rule.odds).filter(Number.isFinite)
    let low = finite.length ? Math.min(...finite) : 0, high = finite.length ? Math.max(...finite) : 0
    const more = Math.max((3 - (high - low)) / 2, 0.3)
    low = Math.max(low - more, -30); high = Math.min(high + more, 30)
    const never = data.rules.some(rule => rule.odds.includes(-Infinity)), surely = data.rules.some(rule => rule.odds.includes(Infinity))
    const left = narrow ? 46 : 66, right = width - RIGHT
    const upper = TOP + 18 + (surely ? LANE : 0), lower = upper + ODDS_HIGH, base = lower + (never ? LANE : 0)
    box = { width, narrow, left, right, upper, lower }
    const y = box.y = odds => Number.isNaN(odds) ? NaN : odds === Infinity ? upper - LANE : odds === -Infinity ? lower + LANE
      : upper + (high - clamp(odds, low, high)) / (high - low) * ODDS_HIGH
    const text = (className, px, py, words, parent = svg) => {
      const element = shape("text", className, parent)
      set(element, { x: px, y: py })
      element.textContent = words
      return element
    }
    const line = (className, d) => { const element = shape("path", className, svg); set(element, { d }); return element }
    const path = (values, place) => {
      let d = "", pen = false, last
      values.forEach((v, i) => {
        const py = place(v)
        if (Number.isNaN(py)) { pen = false; return }
        if (pen && Math.abs(py - last) > 0 && (!Number.isFinite(v) || !Number.isFinite(values[i - 1])) && v !== values[i - 1]) pen = false
        d += `${pen ? "L" : "M"}${x(data.sizes[i]).toFixed(1)} ${py.toFixed(1)}`
        pen = true; last = py
      })
      return d
    }
    const taken = []
    text("title", 0, TOP, data.words.posterior)
    for (const share of SHARES) {
      const odds = Math.log(share / (1 - share))
      if (odds < low || odds > high) continue
      const py = y(odds)
      line(share === 0.5 ? "zero" : "grid", `M${left} ${py}H${right}`)
      if (taken.some(t => Math.abs(t - py) < 14)) continue
      taken.push(py)
      text("end tick", left - 6, py + 4, share < 0.001 ? share.toExponential(0).replace("-", "−") : String(share))
    }
    if (surely) { line("grid", `M${left} ${upper - LANE}H${right}`); text("end tick", left - 6, upper - LANE + 4, "1") }
    if (never) { line("grid", `M${left} ${lower + LANE}H${right}`); text("end tick", left - 6, lower + LANE + 4, "0") }
    let bottom = base
    if (data.cell) {
      const under = base + GAP, ground = under + CELL_HIGH
      const values = [data.cell.frequency ?? 0, ...data.rules.flatMap(rule => rule.value)]
      const room = Math.max(0.12 * (Math.max(...values) - Math.min(...values)), 0.02)
      const least = Math.max(Math.min(...values) - room, 0), reach = Math.min(Math.max(...values) + room, 1)
      const z = box.z = v => ground - (v - least) / (reach - least) * CELL_HIGH
      text("title", 0, under - 12, clipped(data.words.estimate, width, t => measure.measureText(t).width * 13 / 12))
      for (const [v, label] of ticksOf(least, reach, 4)) { line("grid", `M${left} ${z(v)}H${right}`); text("end tick", left - 6, z(v) + 4, label) }
      if (data.cell.frequency !== null) {
        line("frequency", `M${left} ${z(data.cell.frequency)}H${right}`)
        text("end halo", right, z(data.cell.frequency) + (z(data.cell.frequency) < under + 20 ? 14 : -5), data.words.frequency)
      }
      bottom = ground
    }
    const decades = Math.floor(Math.log10(data.sizes.at(-1)) + 1e-9)
    for (let d = Math.ceil(Math.log10(data.sizes[0]) - 1e-9); d <= decades; d++) {
      const px = x(10 ** d)
      line("grid", `M${px} ${upper}V${bottom}`)
      text(d === decades ? "end tick" : "mid tick", d === decades ? right : px, bottom + 17, d < 3 ? String(10 ** d) : d < 6 && !narrow ? `${10 ** (d - 3)} 000` : `10${["⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"][d] ?? "ⁿ"}`)
    }
    text("mid tick", (left + right) / 2, bottom + 33, data.words.rows)
    const looks = (element, rule) => set(element, { stroke: colour(rule), "stroke-width": rule.width, "stroke-dasharray": rule.dash.join(" ") })
    for (const rule of data.rules) {
      looks(line("curve", path(rule.odds, y)), rule)
      if (data.cell) looks(line("curve", path(rule.value, box.z)), rule)
    }
    box.bottom = bottom
    // the marker
    const live = shape("g", "", svg)
    handle = shape("g", "handle", live)
    set(handle, { role: "slider", tabindex: 0, "aria-label": data.words.slider, "aria-valuemin": 0, "aria-valuemax": data.sizes.length - 1 })
    shape("path", "marker", handle)
    shape("rect", "knob", handle)
    set(shape("text", "mid knobText", handle), {})
    marks = data.rules.flatMap(rule => [rule.odds, ...(data.cell ? [rule.value] : [])].map((values, n) => {
      const dot = shape("circle", "dot", live)
      set(dot, { r: 5, fill: colour(rule) })
      return { dot, values, place: n ? box.z : y }
    }))
    on(handle, "keydown", press)
    set(svg, { viewBox: `0 0 ${width} ${bottom + 40}`, height: bottom + 40, role: "group", "aria-label": data.words.label })
    table()
    if (focused) handle.focus({ preventScroll: true })
  }

  function table() {
    const head = make("div", "row head", list)
    list.classList.toggle("alone", !data.cell)
    make("span", "", head, data.words.smoothing); make("span", "", head, data.words.posterior)
    if (data.cell) { make("span", "", head, data.words.cell); make("span", "", head, data.words.weight) }
    cells = data.rules.map(rule => {
      const row = make("div", "row", list), name = make("span", "name", row)
      const key = shape("svg", "key", name), stroke = shape("path", "", key)
      set(key, { width: 26, height: 8, viewBox: "0 0 26 8", "aria-hidden": "true" })
      set(stroke, { d: "M0 4H26", stroke: colour(rule), "stroke-width": rule.width, "stroke-dasharray": rule.dash.join(" "), fill: "none" })
      make("span", "", name, rule.name)
      const posterior = make("span", "posterior", row), value = make("b", "", posterior), action = make("span", "action", posterior)
      if (!data.cell) return { value, action }
      const estimate = make("span", "estimate", row), number = make("b", "", estimate), fraction = make("span", "fraction", estimate)
      const weight = make("span", "weight", row), bar = make("span", "bar", weight), told = make("span", "", weight)
      return { value, action, number, fraction, bar, told }
    })
  }

  function place() {
    if (!box) return
    const n = data.sizes[at], px = x(n), words = `n = ${rowsWords(n)}`
    const [marker, knob, label] = handle.children
    const wide = measure.measureText(words).width * 13 / 12 + 18, mid = clamp(px, wide / 2, box.width - wide / 2)
    set(marker, { d: `M${px} ${TOP + 8}V${box.bottom}` })
    set(knob, { x: mid - wide / 2, y: TOP - 14, width: wide, height: 24, rx: 12 })
    set(label, { x: mid, y: TOP + 3 })
    write(label, words)
    for (const mark of marks) {
      const py = mark.place(mark.values[at])
      set(mark.dot, { cx: px, cy: Number.isNaN(py) ? -20 : py })
    }
    const said = []
    data.rules.forEach((rule, r) => {
      const odds = rule.odds[at], cell = cells[r], action = rule.decision[at]
      const probability = Number.isNaN(odds) ? "–" : short(p(odds))
      write(cell.value, probability)
      write(cell.action, action < 0 ? data.words.nowhere : `→ ${data.actions[action].label}`)
      said.push(`${rule.name} ${probability}`)
      if (!data.cell) return
      write(cell.number, short(rule.value[at]))
      const rows = data.cell.rows * n, total = data.cell.total * n
      const plus = v => v > 0 ? ` + ${fewRows(v)}` : ""
      write(cell.fraction, rule.added[at] > 0 ? `(${fewRows(rows)}${plus(rule.adds[at])}) / (${fewRows(total)}${plus(rule.added[at])})`
        : `${fewRows(rows)} / ${fewRows(total)}`)
      const weight = total + rule.added[at] > 0 ? rule.added[at] / (total + rule.added[at]) : 1
      cell.bar.style.width = `${(weight * 100).toFixed(1)}%`
      cell.bar.style.background = colour(rule)
      write(cell.told, weight === 0 ? "0 %" : weight < 1e-3 ? "< 0.1 %" : `${(weight * 100).toFixed(1)} %`)
    })
    set(handle, { "aria-valuenow": at, "aria-valuetext": `${words}: ${said.join(", ")}` })
    host.dataset.n = n
    host.dataset.posterior = data.rules.map(rule => p(rule.odds[at]).toFixed(9)).join(",")
    host.dataset.estimate = data.cell ? data.rules.map(rule => rule.value[at].toFixed(9)).join(",") : ""
  }

  function go(i, wait) {
    i = clamp(i, 0, data.sizes.length - 1)
    if (i !== at) { at = i; redraw("case") }
    if (wait) { clearTimeout(timer); timer = setTimeout(deliver, SETTLE) }
  }
  function deliver() {
    clearTimeout(timer); timer = 0
    if (data.sizes[at] !== data.n) send("sized", { size: data.sizes[at] })
  }
  const nearest = n => data.sizes.reduce((best, v, i) => Math.abs(Math.log(v / n)) < Math.abs(Math.log(data.sizes[best] / n)) ? i : best, 0)
  const under = event => {
    const frame = svg.getBoundingClientRect(), px = (event.clientX - frame.left) * box.width / (frame.width || 1)
    return nearest(data.sizes[0] * (data.sizes.at(-1) / data.sizes[0]) ** clamp((px - box.left) / (box.right - box.left), 0, 1))
  }
  function press(event) {
    const to = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, Home: 0, End: data.sizes.length - 1,
      PageDown: nearest(data.sizes[at] / 10), PageUp: nearest(data.sizes[at] * 10) }[event.key]
    if (to === undefined) return
    event.preventDefault()
    go(to, true)
  }
  on(svg, "pointerdown", event => {
    if (event.button) return
    svg.setPointerCapture(event.pointerId)
    handle.focus({ preventScroll: true })
    drag = event.pointerId
    go(under(event))
    event.preventDefault()
  })
  on(svg, "pointermove", event => { if (drag === event.pointerId) go(under(event)) })
  const release = event => { if (drag === event.pointerId) { drag = null; deliver() } }
  on(svg, "pointerup", release)
  on(svg, "pointercancel", release)

  return { update, destroy() { if (timer) deliver(); end() } }
}
