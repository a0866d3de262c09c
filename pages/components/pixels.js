// Pictures of few pixels: one that is drawn on, with what each pixel says beside it; or several, of which a pixel is
// chosen. See pixels.py for what comes in. All pictures share the pixel pointed at. A stroke is shown at once and goes
// to the server when it is let go.

const SUB = 4                         // a pixel is SUB × SUB dots, as the pictures were made
const NIB = 2.7                       // radius of the pen in dots
const RESTS = 450                     // ms after the last key of a burst when the edit counts as let go
const MOST_UNDONE = 200

const same = (a, b) => a.length === b.length && a.every((v, i) => v === b[i])
const number = (v, digits = 3) => String(Number(v.toPrecision(digits))).replace("-", "−")
const signed = v => (v > 0 ? "+" : "") + number(v)

export default drawnBy(createPixels)

function createPixels(host) {
  let data, ink = [], local = false, timer = 0, past = [], before = null
  let tool = "pen", value = null, at = -1, cursor = -1, stroke = null, built = "", sheets = [], theme
  const { on, redraw: repaint, theme: themeNow, fit, hear, send: sendEdit, waits, end } = stage(host, paint)
  const quiet = make("div", "quiet", null)
  const tools = make("div", "tools", host), field = make("div", "sheets", host)
  const readout = make("div", "readout", host)
  host.append(quiet)
  quiet.setAttribute("aria-live", "polite")

  const placeOf = i => ({ row: Math.floor(i / data.cols), col: i % data.cols })

  function update(component) {
    data = component.data
    hear(component)
    theme = themeNow()
    if (data.draw) {
      if (!(local && waits()) && !stroke && !timer) {
        if (!same(ink, data.draw.ink)) past = []                   // another case: nothing of it can be undone here
        ink = [...data.draw.ink]
        local = false
      }
      value ??= data.top
    }
    host.classList.toggle("waits", local)
    const shape = JSON.stringify([data.rows, data.cols, Boolean(data.draw), data.sheets.length, data.words])
    if (shape !== built) { build(); built = shape }
    data.sheets.forEach((sheet, s) => {
      sheets[s].title.textContent = sheet.title
      sheets[s].canvas.setAttribute("aria-label", sheet.spoken)
      legend(sheets[s].legend, sheet)
    })
    toolsShown()
    repaint()
  }

  function build() {
    tools.replaceChildren()
    field.replaceChildren()
    field.classList.toggle("small", !data.draw)
    sheets = data.sheets.map((_, s) => {
      const figure = make("figure", "sheet", field), head = make("figcaption", "head", figure)
      const title = make("span", "title", head), said = make("span", "said", head)
      const canvas = make("canvas", "", figure), low = make("div", "legend", figure)
      canvas.style.aspectRatio = `${data.cols} / ${data.rows}`
      canvas.setAttribute("role", s ? "img" : "application")
      if (!s) canvas.tabIndex = 0
      listen(canvas, s)
      return { figure, title, said, canvas, legend: low }
    })
    if (data.draw) buildTools()
  }

  // -- the tools

  const TOOLS = ["pen", "value", "eraser", "missing"]
  let buttons = {}, range, amount

  function buildTools() {
    const { words } = data, choice = make("div", "set", tools)
    set(choice, { role: "group", "aria-label": words.tools })
    buttons = {}
    for (const name of TOOLS) {
      const button = buttons[name] = make("button", "tool", choice, words[name])
      button.title = words[name + "Help"]
      on(button, "click", () => { tool = name; toolsShown() })
    }
    const holder = make("label", "amount", tools)
    range = make("input", "", holder)
    Object.assign(range, { type: "range", min: 0, max: data.top, step: 1, value })
    range.setAttribute("aria-label", words.ink)
    amount = make("output", "", holder)
    on(range, "input", () => { value = Number(range.value); tool = "value"; toolsShown() })
    const acts = make("div", "acts", tools)
    for (const [name, act] of [["undo", undo], ["clear", clear]]) {
      const button = buttons[name] = make("button", "act", acts, words[name])
      on(button, "click", act)
    }
  }
  function toolsShown() {
    tools.hidden = !data.draw
    if (!data.draw) return
    for (const name of TOOLS) buttons[name].setAttribute("aria-pressed", String(tool === name))
    buttons.undo.disabled = !past.length
    range.value = value
    amount.textContent = String(value)
  }

  // -- edits

  function begin() { before ??= [...ink] }
  function settle() {                   // let go: the server hears of it
    clearTimeout(timer); timer = 0
    if (!before || same(before, ink)) { before = null; return }
    past.push(before)
    if (past.length > MOST_UNDONE) past.shift()
    before = null
    send()
  }
  function send() {
    local = true
    host.classList.add("waits")
    toolsShown()
    sendEdit("drawn", { ink: [...ink] })
  }
  function undo() {
    settle()
    if (!past.length) return
    ink = past.pop()
    repaint()
    send()
  }
  function clear() { begin(); ink = ink.map(() => 0); repaint(); settle() }

  function dip(x, y) {                  // in pixels; from the last place of the stroke to this one
    const steps = Math.max(1, Math.ceil(Math.hypot(x - stroke.x, y - stroke.y) * SUB))
    for (let k = 1; k <= steps; k++) mark(stroke.x + (x - stroke.x) * k / steps, stroke.y + (y - stroke.y) * k / steps)
    stroke.x = x; stroke.y = y
    repaint()
  }
  function mark(x, y) {
    const { rows, cols, top } = data
    if (tool !== "pen") {
      const i = Math.floor(y) * cols + Math.floor(x)
      if (x >= 0 && x < cols && y >= 0 && y < rows) ink[i] = tool === "value" ? value : tool === "eraser" ? 0 : null
      return
    }
    const touched = new Set(), wide = cols * SUB
    for (let r = Math.max(Math.floor(y * SUB - NIB), 0); r <= Math.min(y * SUB + NIB, rows * SUB - 1); r++)
      for (let c = Math.max(Math.floor(x * SUB - NIB), 0); c <= Math.min(x * SUB + NIB, wide - 1); c++)
        if (Math.hypot(r + 0.5 - y * SUB, c + 0.5 - x * SUB) <= NIB && !stroke.dots[r * wide + c]) {
          stroke.dots[r * wide + c] = 1
          touched.add(Math.floor(r / SUB) * cols + Math.floor(c / SUB))
        }
    for (const i of touched) {
      const r0 = Math.floor(i / cols) * SUB, c0 = i % cols * SUB
      let dots = 0
      for (let r = r0; r < r0 + SUB; r++) for (let c = c0; c < c0 + SUB; c++) dots += stroke.dots[r * wide + c]
      ink[i] = Math.max(stroke.base[i] ?? 0, Math.round(dots / (SUB * SUB) * top))
    }
  }

  // -- pointing

  function listen(canvas, s) {
    const local = event => {
      const box = canvas.getBoundingClientRect()
      return [(event.clientX - box.left) / box.width * data.cols, (event.clientY - box.top) / box.height * data.rows]
    }
    const inside = ([x, y]) => x >= 0 && y >= 0 && x < data.cols && y < data.rows ? Math.floor(y) * data.cols + Math.floor(x) : -1
    const drawing = () => s === 0 && Boolean(data.draw)
    canvas.classList.toggle("paper", drawing())
    on(canvas, "pointerdown", event => {
      if (event.button || !drawing()) return
      canvas.setPointerCapture(event.pointerId)
      begin()
      const [x, y] = local(event)
      stroke = { x, y, base: [...ink], dots: new Uint8Array(data.rows * data.cols * SUB * SUB) }
      dip(x, y)
    })
    on(canvas, "pointermove", event => {
      const here = local(event)
      if (stroke && s === 0) dip(...here)
      point(inside(here))
    })
    const release = () => { if (stroke) { stroke = null; settle() } }
    on(canvas, "pointerup", release)
    on(canvas, "pointercancel", release)
    on(canvas, "pointerleave", () => { if (!stroke) point(-1) })
    on(canvas, "click", event => { if (!data.draw) { const i = inside(local(event)); if (i >= 0) sendEdit("picked", { pixel: i }) } })
    if (s) return
    on(canvas, "focus", () => { if (cursor < 0) cursor = data.picked >= 0 ? data.picked : Math.floor(data.rows / 2) * data.cols + Math.floor(data.cols / 2); repaint() })
    on(canvas, "blur", () => { settle(); repaint() })
    on(canvas, "keydown", event => key(event))
  }
  function point(i) {
    if (i === at) return
    at = i
    repaint()
  }
  function key(event) {
    const way = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key]
    if (way) {
      event.preventDefault()
      const { row, col } = placeOf(cursor)
      cursor = clamp(row + way[0], 0, data.rows - 1) * data.cols + clamp(col + way[1], 0, data.cols - 1)
      return spoken()
    }
    if (!data.draw) { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sendEdit("picked", { pixel: cursor }) } return }
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") { event.preventDefault(); undo(); return spoken() }
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const was = ink[cursor] ?? 0, next = /^\d$/.test(event.key) ? Math.min(Number(event.key), data.top)
      : event.key === "+" || event.key === "=" ? Math.min(was + 1, data.top)
      : event.key === "-" || event.key === "−" ? Math.max(was - 1, 0)
      : event.key === " " || event.key === "Enter" ? (tool === "missing" ? null : tool === "eraser" ? 0 : tool === "value" ? value : data.top)
      : event.key === "Backspace" || event.key === "Delete" ? 0
      : event.key === "m" ? null : undefined
    if (next === undefined) return
    event.preventDefault()
    begin()
    ink[cursor] = next
    clearTimeout(timer)
    timer = setTimeout(settle, RESTS)
    spoken()
  }
  function spoken() {
    repaint()
    quiet.textContent = sentence(cursor)
  }

  // -- what is said of a pixel

  function sentence(i) {
    const { words } = data, where = fill(words.place, { ...placeOf(i), name: data.names[i] })
    const parts = [where]
    if (data.draw) parts.push(ink[i] === null ? words.gone : fill(words.holds, { ink: number(ink[i]), top: data.top }))
    data.sheets.forEach((sheet, s) => { if (s || !data.draw) parts.push(sheet.kind === "signed" ? weight(sheet, i) : `${sheet.title} ${shown(sheet, i)}`) })
    return parts.join(" · ")
  }
  function weight(sheet, i) {
    const v = sheet.values[i], { words } = data
    if (local || timer || stroke) return "…"
    if (v === null) return words.silent
    const against = v === "-inf" || v < 0, size = v === "inf" ? "+∞" : v === "-inf" ? "−∞" : signed(v * words.unit.perNat)
    return fill(words.speaks, { nats: `${size} ${words.unit.word}`, name: (against ? sheet.against : sheet.for).label })
  }
  const shown = (sheet, i) => sheet.values[i] === null ? "–" : number(sheet.values[i])

  // -- painting

  const tone = ink => rgbOf(theme.colour(ink))

  function paint() {
    if (!data) return
    theme = themeNow()
    const focused = host.getRootNode().activeElement === sheets[0]?.canvas
    const place = at >= 0 ? at : focused ? cursor : -1
    sheets.forEach((sheet, s) => one(sheet.canvas, data.sheets[s], s === 0 && Boolean(data.draw), place, focused && s === 0))
    readout.hidden = !data.draw
    readout.textContent = place >= 0 && data.draw ? sentence(place) : data.words.hint
    if (data.draw) return
    const looked = place >= 0 ? place : data.picked
    data.sheets.forEach((sheet, s) => { sheets[s].said.textContent = looked >= 0 ? shown(sheet, looked) : "" })
  }

  function one(canvas, sheet, drawn, place, focused) {
    const wide = canvas.clientWidth
    if (!wide) return
    const size = wide / data.cols, high = size * data.rows, ctx = fit(canvas, wide, high), { ground, ink: text, dark } = theme
    ctx.fillStyle = `rgb(${mix(ground, text, 0.025).map(Math.round)})`
    ctx.fillRect(0, 0, wide, high)
    const values = drawn ? ink : sheet.values
    const edge = i => [i % data.cols * size, Math.floor(i / data.cols) * size]
    values.forEach((v, i) => {
      const [x, y] = edge(i)
      if (v === null) return drawn ? hatch(ctx, x, y, size) : dot(ctx, x, y, size)
      const t = clamp(Math.abs(v === "inf" || v === "-inf" ? sheet.reach : v) / (drawn ? data.top : sheet.reach), 0, 1)
      const colour = sheet.kind === "signed" ? tone(v > 0 || v === "inf" ? sheet.for : sheet.against) : sheet.colour ? tone(sheet.colour) : text
      ctx.fillStyle = `rgb(${mix(ground, colour, (sheet.kind === "signed" ? 1 : dark ? 0.95 : 0.92) * t).map(Math.round)})`
      if (t > 0) ctx.fillRect(x, y, size + 0.5, size + 0.5)
    })
    if (size > 14) {                    // a hairline grid where there is room
      ctx.strokeStyle = theme.faded(0.1); ctx.lineWidth = 1
      ctx.beginPath()
      for (let c = 1; c < data.cols; c++) { ctx.moveTo(c * size, 0); ctx.lineTo(c * size, high) }
      for (let r = 1; r < data.rows; r++) { ctx.moveTo(0, r * size); ctx.lineTo(wide, r * size) }
      ctx.stroke()
    }
    if (sheet.kind === "signed") outline(ctx, size)
    if (data.picked >= 0 && !data.draw) frameAt(ctx, ...edge(data.picked), size, theme.inkCss, 2)
    if (place >= 0) frameAt(ctx, ...edge(place), size, focused ? getComputedStyle(host).getPropertyValue("--st-primary-color") : theme.inkCss, 2)
  }
  function frameAt(ctx, x, y, size, colour, width) {
    ctx.strokeStyle = theme.groundCss; ctx.lineWidth = width + 2
    ctx.strokeRect(x + 1, y + 1, size - 2, size - 2)
    ctx.strokeStyle = colour; ctx.lineWidth = width
    ctx.strokeRect(x + 1, y + 1, size - 2, size - 2)
  }
  function hatch(ctx, x, y, size) {
    ctx.save()
    ctx.beginPath(); ctx.rect(x, y, size, size); ctx.clip()
    ctx.strokeStyle = theme.faded(0.45); ctx.lineWidth = 1
    ctx.beginPath()
    for (let d = -size; d < size; d += Math.max(size / 5, 3)) { ctx.moveTo(x + d, y + size); ctx.lineTo(x + d + size, y) }
    ctx.stroke()
    ctx.restore()
  }
  function dot(ctx, x, y, size) {
    ctx.fillStyle = theme.faded(0.35)
    ctx.beginPath(); ctx.arc(x + size / 2, y + size / 2, clamp(size / 14, 0.8, 2.2), 0, 7); ctx.fill()
  }
  function outline(ctx, size) {         // where the ink passes half, along the edges of the pixels
    const { rows, cols, top } = data, full = (r, c) => r >= 0 && c >= 0 && r < rows && c < cols && (ink[r * cols + c] ?? 0) >= top / 2
    ctx.beginPath()
    for (let r = 0; r <= rows; r++) for (let c = 0; c <= cols; c++) {
      if (c < cols && full(r, c) !== full(r - 1, c)) { ctx.moveTo(c * size, r * size); ctx.lineTo((c + 1) * size, r * size) }
      if (r < rows && full(r, c) !== full(r, c - 1)) { ctx.moveTo(c * size, r * size); ctx.lineTo(c * size, (r + 1) * size) }
    }
    ctx.lineCap = "square"
    ctx.strokeStyle = `rgba(${theme.ground},0.9)`; ctx.lineWidth = 4; ctx.stroke()
    ctx.strokeStyle = theme.inkCss; ctx.lineWidth = 1.8; ctx.stroke()
  }

  function legend(box, sheet) {         // from the one class to the other
    box.replaceChildren()
    if (sheet.kind !== "signed") return
    const side = (ink, text, name) => {
      const part = make("span", name, box)
      inked(part, [ink.light, ink.dark])
      make("span", "swatch", part)
      make("span", "", part, text)
    }
    side(sheet.against, `${sheet.against.label} ${sheet.beyond ? "≤ " : ""}${number(-sheet.reach)}`, "from")
    make("span", "zero", box, "0")
    side(sheet.for, `${sheet.beyond ? "≥ " : ""}${signed(sheet.reach)} ${sheet.for.label}`, "to")
  }

  return {
    update,
    destroy() { settle(); end() },
  }
}
