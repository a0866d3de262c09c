// A table of words, to be read or to choose from. See tables.py for what comes in. Of long tables only the rows in
// sight are drawn.

const ROW = 32, BEYOND = 6            // px a row; rows drawn beyond those in sight
const WIDEST = 340, LEAST = 52, ROOM = 18   // px of a column by its words, and what is left of it at least; beside words
const MEASURED = 6                    // of a column so many of its longest words are measured
const HELD = 0.45                     // a first column up to this share of the room stays where the others scroll, and has its words whole

const long = text => text.length + (text.match(/[\u2e80-\uffdc]/g)?.length ?? 0)   // those are twice as wide
const words = cell => cell.text ?? cell
const byWords = new Intl.Collator(undefined, { numeric: true }).compare
const size = text => {                // what a cell that begins with a number counts for: 3/8 = 0.3750 for what it equals
  const value = text.replace(/^[+−(\dN].*[=≈] /s, "").replace(/−/g, "-").replace(/,(?=\d{3})/g, "").replace("∞", "1e999")
  const found = value.match(/^[≤<>≥ ]*([+-]?\d+\.?\d*(?:e[+-]?\d+)?)/i)
  return found ? Number(found[1]) : NaN
}

export default drawnBy(createListing)

function createListing(host) {
  let data, rows = [], widths = [], least = [], told = "", at = [0, 0], across = 0, laid = "", seen = "", sorted = null, unseen = false
  const { on, hear, send, redraw, end } = stage(host, parts => {
    if (!data) return
    if (parts.has("fonts")) measure()
    layout()
  })
  const find = make("input", "find", host), scroll = make("div", "scroll", host), table = make("table", "", scroll)
  const none = make("p", "none", scroll)
  const columns = make("colgroup", "", table), head = make("tr", "", make("thead", "", table)), body = make("tbody", "", table)
  const above = make("tr", "", null), below = make("tr", "", null), lines = new Map()
  const watcher = new ResizeObserver(() => redraw("stage"))   // a scroll bar comes and goes with the rows, and takes room
  watcher.observe(scroll)
  for (const gap of [above, below]) gap.setAttribute("aria-hidden", true)
  table.setAttribute("role", "none")    // what takes the keys is the grid itself
  head.setAttribute("role", "row")
  none.setAttribute("role", "status")

  find.type = "search"
  on(find, "keydown", event => {
    event.stopPropagation()                                           // its letters are no keys of the page
    if (event.key === "ArrowDown" && rows.length) { event.preventDefault(); scroll.focus() }
  })
  on(find, "input", () => { filter(); scroll.scrollTop = 0; draw() })
  on(scroll, "scroll", () => draw())
  on(scroll, "focus", mark)
  on(scroll, "blur", mark)
  on(body, "click", event => {
    const cell = event.target.closest("td, th"), row = cell?.parentElement
    if (row?.dataset.row) choose(Number(row.dataset.row), cell.cellIndex)
  })
  on(head, "click", event => sort(event.target.closest("th")?.cellIndex))
  on(head, "keydown", event => {
    if (event.key !== "Enter" && event.key !== " ") return
    event.preventDefault()
    event.stopPropagation()
    sort(event.target.closest("th")?.cellIndex)
  })
  on(scroll, "keydown", event => {
    if (!data.by || event.ctrlKey || event.altKey || event.metaKey || !rows.length) return
    const here = Math.max(rows.indexOf(at[0]), 0), page = Math.max(Math.floor(scroll.clientHeight / ROW) - 2, 1)
    const down = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -rows.length, End: rows.length }[event.key]
    const aside = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (event.key === "Enter" || event.key === " ") { if (!event.repeat) choose(at[0], at[1]) }
    else if (down) at = [rows[clamp(here + down, 0, rows.length - 1)], at[1]]
    else if (aside && data.by === "cell") at = [at[0], clamp(at[1] + aside, 0, data.heads.length - 1)]
    else return
    event.preventDefault()
    show(...at)
    draw()
  })

  function sort(column) {               // up, down, and as it came
    if (column === undefined || data.rows.length < 2) return
    sorted = sorted?.column !== column ? { column, down: false } : sorted.down ? null : { column, down: true }
    filter()
    scroll.scrollTop = 0
    laid = ""
    layout()
    head.children[column].querySelector("button").focus()
  }

  function choose(row, column) {
    if (!data.by) return
    at = [row, column]
    if (data.by === "row" || column > 0) data.chosen = [row, column]  // until the server has said what that leads to
    draw()
    send("chosen", { at: [row, column] })
  }

  function update(component) {
    const before = data
    hear(component)
    data = component.data
    const looks = JSON.stringify([data.heads, data.rows])
    const moved = JSON.stringify(before?.chosen) !== JSON.stringify(data.chosen)
    scroll.style.maxHeight = `${data.height}px`
    set(scroll, { role: data.by ? "grid" : "table", "aria-label": data.label, tabindex: 0 })
    find.hidden = !data.find
    find.placeholder = data.find
    find.setAttribute("aria-label", data.find)
    if (moved && data.chosen) at = [...data.chosen]
    at = [clamp(at[0], 0, Math.max(data.rows.length - 1, 0)), clamp(at[1], 0, data.heads.length - 1)]
    if (looks !== told) { told = looks; if (!data.find) find.value = ""; if (sorted?.column >= data.heads.length) sorted = null; filter(); measure(); laid = "" }
    if (moved && data.chosen) unseen = true
    layout()
  }

  function filter() {
    const wanted = find.value.trim().toLowerCase(), all = data.rows.map((_, i) => i)
    rows = wanted ? all.filter(i => data.rows[i].some(cell => words(cell).toLowerCase().includes(wanted))) : all
    write(none, rows.length || !data.find ? "" : data.none)
    if (sorted) order()
    if (rows.length && !rows.includes(at[0])) at = [rows[0], at[1]]
  }

  function order() {
    const { column, down } = sorted, of = data.rows.map(row => words(row[column])), sizes = of.map(size)
    rows.sort((a, b) => isNaN(sizes[a]) - isNaN(sizes[b])             // what is no number comes last, up and down
      || (down ? -1 : 1) * (sizes[a] > sizes[b] ? 1 : sizes[a] < sizes[b] ? -1 : byWords(of[a], of[b])) || a - b)
  }

  function measure() {                  // how wide each column would like to be, and must be: of numbers the head alone gives way, to two lines
    const pen = document.createElement("canvas").getContext("2d"), { fontSize, fontFamily } = getComputedStyle(host)
    pen.font = `${fontSize} ${fontFamily}`   // of the cells; heads are written smaller
    least = []
    widths = data.heads.map((head, j) => {
      if (head.width) return least[j] = head.width
      const longest = data.rows.map(row => words(row[j])).sort((a, b) => long(b) - long(a)).slice(0, MEASURED)
      const cells = Math.max(0, ...longest.map(text => pen.measureText(text).width))
      const wide = Math.ceil(Math.min(Math.max(cells, pen.measureText(head.text).width), WIDEST)) + ROOM
      const word = Math.max(0, ...head.text.split(/\s+/).map(part => long(part) > part.length ? 0 : pen.measureText(part).width))
      const needed = head.right ? Math.max(cells, word) + ROOM : 2 * LEAST   // a head may take two lines, but breaks no word
      least[j] = data.narrow ? wide : Math.min(wide, Math.max(Math.ceil(needed), LEAST))
      return wide
    })
  }

  function layout() {                   // spare columns are left out; those without a width of their own take the room, or give way
    if (!host.clientWidth) return
    const room = scroll.clientWidth - 1, sum = list => list.reduce((a, b) => a + b, 0)
    for (across = widths.length; data.heads[across - 1].spare && sum(widths.slice(0, across)) > room;) across--
    if (sorted?.column >= across) { sorted = null; filter() }
    const wanted = widths.slice(0, across), lack = sum(wanted) - room
    const scrolls = sum(least.slice(0, across)) > room
    const kept = wanted.map((w, j) => j || !scrolls || data.heads[j].width ? least[j] : Math.max(least[j], Math.min(w, HELD * room)))
    const parts = wanted.map((w, j) => lack > 0 ? w - kept[j] : data.heads[j].width ? 0 : w)
    const given = wanted.map((w, j) => w - Math.min(lack / (sum(parts) || 1), 1) * parts[j])
    host.classList.toggle("held", sum(given) > room + 1 && given[0] <= HELD * room)
    if (laid === given.join()) return shown()
    laid = given.join()
    seen = ""
    lines.clear()
    columns.replaceChildren(...given.map(w => { const column = make("col", ""); column.style.width = `${w}px`; return column }))
    table.style.width = `${sum(given)}px`
    scroll.setAttribute("aria-colcount", data.heads.length)
    head.replaceChildren(...data.heads.slice(0, across).map((entry, j) => {
      const cell = make("th", entry.right ? "right" : "", null), way = sorted?.column === j ? sorted.down ? "descending" : "ascending" : ""
      cell.setAttribute("role", "columnheader")
      if (way) cell.setAttribute("aria-sort", way)
      const button = make("button", entry.help ? "helped" : "", cell, entry.text)
      button.dir = "auto"
      if (way) make("span", "way", cell, way === "ascending" ? "↑" : "↓")
      const said = entry.help || (widths[j] > given[j] + 1 || widths[j] >= WIDEST ? entry.text : "")
      cell.title = said ? `${said}\n${data.sort}` : data.sort
      return cell
    }))
    shown()
  }

  function shown() {                    // and what was chosen elsewhere, or before there was room, comes into sight
    draw()
    if (!unseen) return
    unseen = false
    show(...data.chosen, (scroll.clientHeight - head.offsetHeight - ROW) / 2)
    draw()
  }

  function show(row, column, beside = 0) {   // scroll a row, so far from the rim, and of cells the column into sight
    const y = rows.indexOf(row) * ROW, high = scroll.clientHeight - head.offsetHeight
    if (y < 0) return
    if (y < scroll.scrollTop) scroll.scrollTop = y - beside
    else if (y + ROW > scroll.scrollTop + high) scroll.scrollTop = y + ROW - high + beside
    if (data.by !== "cell") return
    const edges = laid.split(",").map(Number), left = edges.slice(0, column).reduce((a, b) => a + b, 0)
    const held = column && host.classList.contains("held") ? edges[0] : 0
    if (left - held < scroll.scrollLeft) scroll.scrollLeft = left - held
    else if (left + edges[column] > scroll.scrollLeft + scroll.clientWidth) scroll.scrollLeft = left + edges[column] - scroll.clientWidth
  }

  function draw() {                     // a line that stays is the same element, lest a click on it be lost
    const high = Math.ceil((data.height || 400) / ROW)
    const first = clamp(Math.floor(scroll.scrollTop / ROW) - BEYOND, 0, Math.max(rows.length - 1, 0))
    const last = Math.min(first + high + 2 * BEYOND, rows.length), shown = rows.slice(first, last)
    above.style.height = `${first * ROW}px`
    below.style.height = `${(rows.length - last) * ROW}px`
    if (seen !== shown.join()) {
      seen = shown.join()
      for (const i of lines.keys()) if (!shown.includes(i)) lines.delete(i)
      for (const i of shown) if (!lines.has(i)) lines.set(i, written(i))
      shown.forEach((i, k) => lines.get(i).setAttribute("aria-rowindex", first + k + 2))
      scroll.setAttribute("aria-rowcount", rows.length + 1)
      body.replaceChildren(above, ...shown.map(i => lines.get(i)), below)
    }
    mark()
  }

  function written(i) {
    const line = make("tr", data.by ? "live" : "", null)
    line.dataset.row = i
    line.setAttribute("role", "row")
    data.rows[i].slice(0, across).forEach((cell, j) => {
      const first = j === 0 && data.by !== "row", box = make(first ? "th" : "td", data.heads[j].right ? "right" : "", line)
      box.setAttribute("role", first ? "rowheader" : data.by ? "gridcell" : "cell")
      box.dir = "auto"
      const text = words(cell)
      if (cell.bar !== undefined) {
        box.classList.add("barred")
        make("div", "bar", box).style.width = `calc((100% - 18px) * ${clamp(cell.bar, 0, 1)})`
        make("span", "", box, text)
      } else box.textContent = text
      if (cell.tint) box.style.backgroundColor = cell.tint
      if (long(text) * 6 > parseFloat(columns.children[j]?.style.width) - ROOM) box.title = text
    })
    return line
  }

  function mark() {                     // what is chosen, and where the keys are
    if (!data) return
    const focused = data.by && host.getRootNode().activeElement === scroll && scroll.matches(":focus-visible")
    scroll.removeAttribute("aria-activedescendant")
    for (const [i, line] of lines) {
      const chosen = data.chosen?.[0] === i, here = at[0] === i
      line.classList.toggle("chosen", data.by === "row" && chosen)
      line.classList.toggle("focused", data.by === "row" && here && focused)
      if (data.by === "row") line.setAttribute("aria-selected", chosen)
      ;[...line.children].forEach((box, j) => {
        const active = here && at[1] === j
        if (data.by === "cell") {
          box.classList.toggle("chosen", chosen && data.chosen[1] === j)
          box.classList.toggle("focused", active && focused)
          if (j > 0) box.setAttribute("aria-selected", chosen && data.chosen[1] === j)
        }
        if (active) box.id = "here"
        else box.removeAttribute("id")
        if (active && focused) scroll.setAttribute("aria-activedescendant", "here")
      })
    }
  }

  return { update, destroy() { end(); watcher.disconnect(); host.replaceChildren() } }
}
