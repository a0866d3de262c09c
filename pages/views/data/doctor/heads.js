// The rows of a table under heads that say what each column is, how it is spread, and what was found in it. See heads.py
// for what comes in. Texts from data go through textContent only; of the rows only those in sight are in the page.

const ROW = 26, SPARE = 6, NARROW = 96, WIDE = 200, HIGH = 34, SAMPLE = 60
const SHAPES = {                     // a sign of its own for each severity, not only a colour
  serious: "M5.5 0 L11 5.5 L5.5 11 L0 5.5 Z", warning: "M5.5 .5 L11 10.5 L0 10.5 Z",
  note: "M5.5 1.5 A4 4 0 1 1 5.49 1.5 Z M5.5 3.2 A2.3 2.3 0 1 0 5.51 3.2 Z",
}

export default drawnBy(createHeads)

function createHeads(host) {
  const { on, theme: themeNow, fit, hear, send, end } = stage(host, () => {
    if (!data) return
    theme = themeNow(); spread(); rowsInSight()
  })
  const legend = make("div", "legend", host), scroll = make("div", "scroll", host), grid = make("div", "grid", scroll)
  const top = make("div", "top", grid), body = make("div", "body", grid), pen = document.createElement("canvas").getContext("2d")
  let data = null, widths = [], gutter = 40, buttons = [], rows = new Map(), at = 0, theme
  scroll.tabIndex = 0
  grid.setAttribute("role", "grid")
  top.setAttribute("role", "row")
  on(scroll, "scroll", rowsInSight, { passive: true })
  on(top, "keydown", keys)

  function keys(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -at, End: buttons.length - 1 - at }[event.key]
    if (step !== undefined) focus(Math.min(Math.max(at + step, 0), buttons.length - 1))
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") scroll.scrollTop += event.key === "ArrowDown" ? ROW : -ROW
    else if (event.key === "PageDown" || event.key === "PageUp") scroll.scrollTop += (event.key === "PageDown" ? 1 : -1) * 10 * ROW
    else return
    event.preventDefault()
  }

  function focus(j) {
    buttons[at] && (buttons[at].tabIndex = -1)
    at = j
    buttons[at].tabIndex = 0
    buttons[at].focus({ preventScroll: true })
    reveal(at)
  }

  function reveal(j) {               // the head j between the gutter and the right edge
    const left = gutter + widths.slice(0, j).reduce((a, b) => a + b, 0)
    if (left - gutter < scroll.scrollLeft) scroll.scrollLeft = left - gutter
    else if (left + widths[j] > scroll.scrollLeft + scroll.clientWidth) scroll.scrollLeft = left + widths[j] - scroll.clientWidth
  }

  const text = (column, i) => column.codes ? (column.codes[i] < 0 ? null : column.levels[column.codes[i]]) : column.texts[i]

  function measure() {
    const font = getComputedStyle(host).fontFamily
    pen.font = `13.5px ${font}`
    const long = s => pen.measureText(s ?? "").width
    const natural = data.columns.map(column => {
      const cells = column.codes ? column.levels : column.texts.slice(0, SAMPLE)
      return Math.max(...cells.map(long), 0) + 18 + (column.dots ? 15 : 0)
    })
    pen.font = `600 13.5px ${font}`
    const named = data.columns.map(column => long(column.name) + 18)
    pen.font = `600 13px ${font}`
    return data.columns.map((column, j) =>
      Math.ceil(Math.min(Math.max(natural[j], named[j], long(column.sub) + 18, NARROW), WIDE)))
  }

  function spread() {                // what room is left goes to the columns, up to half as much again
    const own = measure(), total = own.reduce((a, b) => a + b, 0), room = scroll.clientWidth - gutter - total
    const more = room > 0 && total ? Math.min(1 + room / total, 1.6) : 1
    widths = own.map(w => Math.floor(w * more))
    grid.style.width = `${gutter + widths.reduce((a, b) => a + b, 0)}px`
    top.childNodes.forEach((cell, j) => { cell.style.width = `${j ? widths[j - 1] : gutter}px` })
    rows.forEach(row => row.remove())
    rows.clear()
    paint()
  }

  function update(component) {
    const before = data
    hear(component)
    data = component.data
    scroll.setAttribute("aria-label", data.label)
    grid.setAttribute("aria-rowcount", data.numbers.length + 1)
    gutter = 18 + 8 * String(data.numbers.at(-1) ?? "").length + 6
    body.style.height = `${data.numbers.length * ROW}px`
    const same = before && before.key === data.key
    if (!same) { scroll.scrollTop = 0; scroll.scrollLeft = 0; at = 0 }
    legend.replaceChildren(...data.legend.slice(0, data.colours.length).map((name, c) => {
      const entry = make("span", "class"), dot = make("span", "dot", entry)
      dot.code = c
      make("span", "", entry).textContent = name
      return entry
    }))
    draw()
    theme = themeNow()
    spread()
    rowsInSight()
    if (data.picked !== null && data.picked !== before?.picked) reveal(data.picked)
  }

  function draw() {
    const focused = buttons.indexOf(host.getRootNode().activeElement)
    top.replaceChildren()
    make("div", "corner", top).textContent = data.corner
    buttons = data.columns.map((column, j) => {
      const cell = make("div", "cell0", top), head = make("button", `head ${column.tone}`, cell)
      cell.setAttribute("role", "columnheader")
      head.type = "button"
      head.tabIndex = j === Math.min(at, data.columns.length - 1) ? 0 : -1
      head.setAttribute("aria-pressed", data.picked === j)
      head.setAttribute("aria-label", column.spoken)
      head.title = column.spoken
      make("span", "name", head).textContent = column.name
      make("span", "sub", head).textContent = column.sub
      make("canvas", "", head)
      const marks = make("span", "marks", head)
      for (const [severity, n] of column.marks) {
        const mark = make("span", `mark ${severity}`, marks), svg = shape("svg", "", mark)
        set(svg, { viewBox: "0 0 11 11" })
        set(shape("path", "", svg), { d: SHAPES[severity], fill: "currentColor", "fill-rule": "evenodd" })
        make("span", "", mark).textContent = n
      }
      head.onclick = () => { at = j; send("picked", { column: j }) }
      return head
    })
    if (focused >= 0 && buttons[focused]) buttons[focused].focus({ preventScroll: true })
  }

  function paint() {                 // the bars, stacked by class
    buttons.forEach((head, j) => {
      const w = widths[j] - 17
      if (!(w > 0)) return
      const ink = fit(head.querySelector("canvas"), w, HIGH), bars = data.columns[j].bars, most = Math.max(...bars.map(b => b.reduce((a, c) => a + c, 0)), 1)
      const neutral = getComputedStyle(host).getPropertyValue("--st-primary-color") || "#888"
      const step = Math.min(w / Math.max(bars.length, 1), 26), width = Math.max(step - (step > 5 ? 1.5 : 0.5), 1)
      bars.forEach((bar, i) => {
        let y = HIGH - 1
        bar.forEach((n, c) => {
          if (!n) return
          const h = Math.max(n / most * (HIGH - 2), 0.7)
          ink.fillStyle = data.colours.length ? shade(c) : neutral
          ink.fillRect(i * step, y - h, width, h)
          y -= h
        })
      })
      ink.fillStyle = getComputedStyle(host).color
      ink.globalAlpha = 0.25
      ink.fillRect(0, HIGH - 1, Math.max(step * bars.length - 1, 0), 1)
    })
    host.querySelectorAll(".dot").forEach(dot => { dot.style.background = shade(dot.code) })
  }
  const shade = code => data.colours[code % data.colours.length][theme.dark ? 1 : 0]

  function rowsInSight() {
    if (!data) return
    const first = Math.max(Math.floor(scroll.scrollTop / ROW) - SPARE, 0)
    const last = Math.min(Math.ceil((scroll.scrollTop + scroll.clientHeight) / ROW) + SPARE, data.numbers.length)
    for (const [i, row] of rows) if (i < first || i >= last) { row.remove(); rows.delete(i) }
    for (let i = first; i < last; i++) if (!rows.has(i)) rows.set(i, one(i))
  }

  function one(i) {
    const row = make("div", "row", body)
    row.style.top = `${i * ROW}px`
    row.setAttribute("role", "row")
    row.setAttribute("aria-rowindex", i + 2)
    const number = make("div", "number", row)
    number.style.width = `${gutter}px`
    number.textContent = data.numbers[i]
    data.columns.forEach((column, j) => {
      const value = text(column, i), cell = make("div", "cell", row)
      cell.setAttribute("role", "gridcell")
      cell.style.width = `${widths[j]}px`
      cell.classList.toggle("right", column.right)
      cell.classList.toggle("none", value === null)
      cell.classList.toggle("off", column.tone === "off")
      cell.classList.toggle("picked", data.picked === j)
      if (column.dots && value !== null) {
        const dot = make("span", "dot", cell)
        dot.code = column.codes[i] % data.colours.length
        dot.style.background = shade(dot.code)
      }
      cell.append(value ?? data.missing)
      if (value !== null && value.length > 12) cell.title = value
    })
    return row
  }

  return { update, destroy() { end(); host.replaceChildren() } }
}
