// A graph in SVG, one pixel to a unit. See graph.py for what comes in.

const GAP = 22, ROWS = 50, TIGHT = 34, STAGGER = 16   // px between nodes of a row, between rows (at least), inside a split row
const PAD = 9, ROW = 21, TRACK = 58, LONGER = [96, 76], SHORT = 36   // round the drawing; a state's row; its bar by the room there is
const RIM = 10                                        // corner radius of a node
const BENDS = [0, 22, -22, 40, -40, 64, -64, 92, -92, 130, -130, 180, -180]   // px an edge may bow to pass nodes
const TRIES = [[1, 180], [1, 128], [2, 150], [2, 104], [3, 104]]              // [lines a row is split into, widest text]
const WHOLE = 260                                     // px, the widest name where its row has the room

const groupBy = (list, keyOf) => {
  const groups = new Map()
  for (const entry of list) groups.set(keyOf(entry), [...(groups.get(keyOf(entry)) ?? []), entry])
  return [...groups.values()]
}
const nameOf = edge => JSON.stringify([edge.source, edge.target])

// ---- geometry --------------------------------------------------------------------------------------------------------

const outside = (p, box, rim) => {    // distance of a point from a rounded box, negative inside
  const r = Math.min(rim, box.h / 2), x = Math.abs(p.x - box.x) - box.w / 2 + r, y = Math.abs(p.y - box.y) - box.h / 2 + r
  return Math.hypot(Math.max(x, 0), Math.max(y, 0)) + Math.min(Math.max(x, y), 0) - r
}
const along = ([a, b, c], t) => ({
  x: (1 - t) ** 2 * a.x + 2 * t * (1 - t) * b.x + t * t * c.x, y: (1 - t) ** 2 * a.y + 2 * t * (1 - t) * b.y + t * t * c.y,
})
const piece = (curve, s, t) => {      // of a quadratic curve, from s to t
  const [a, b, c] = curve, middle = axis => (1 - s) * (1 - t) * a[axis] + (s + t - 2 * s * t) * b[axis] + s * t * c[axis]
  return [along(curve, s), { x: middle("x"), y: middle("y") }, along(curve, t)]
}
const bowed = (a, c, bend) => {
  const dx = c.x - a.x, dy = c.y - a.y, l = Math.hypot(dx, dy) || 1
  return [a, { x: (a.x + c.x) / 2 - 2 * bend * dy / l, y: (a.y + c.y) / 2 + 2 * bend * dx / l }, c]
}
const overlap = (a, b) =>
  Math.max(0, (a.w + b.w) / 2 - Math.abs(a.x - b.x)) * Math.max(0, (a.h + b.h) / 2 - Math.abs(a.y - b.y))

// Centres of the nodes in px, from their places in node units; `sizes` are [w, h], `room` the width to be filled, from
// which on a row is split into `lines`.
function spread(nodes, sizes, room, lines, gap, side) {
  const boxes = nodes.map((n, i) => ({ ux: n.x, uy: n.y, w: sizes[i][0], h: sizes[i][1], line: 0 }))
  const xs = nodes.map(n => n.x), span = Math.max(...xs) - Math.min(...xs)
  const ends = Math.max(...boxes.map(b => b.w)) + 2 * PAD
  const rows = groupBy([...boxes].sort((a, b) => a.uy - b.uy), b => Math.round(b.uy * 100)).map(r => r.sort((a, b) => a.ux - b.ux))
  const layered = rows.every((row, i) => !i || row[0].uy - rows[i - 1][0].uy > 0.95)
  const need = (a, b, gap = side) => ((a.w + b.w) / 2 + gap) / Math.max(Math.abs(a.ux - b.ux), 0.05)
  let unit = 40, y = PAD
  if (layered) {
    rows.forEach((row, i) => {
      const apart = step => Math.max(0, ...row.slice(step).map((b, j) => need(row[j], b)))
      const step = apart(1) * span + ends > room ? lines : 1
      unit = Math.max(unit, apart(step))
      const tall = Math.max(...row.map(b => b.h)), used = Math.min(step, row.length)
      if (i) y += gap * (row[0].uy - rows[i - 1][0].uy)
      row.forEach((b, j) => { b.y = y + tall / 2 + j % step * (tall + STAGGER) })
      y += used * tall + (used - 1) * STAGGER
    })
  } else {
    // A round graph: where the width is short, its nodes move apart downwards, to rows of even distance at last.
    const top = rows[0][0].uy, high = Math.max(...boxes.map(b => b.h)), tall = Math.max(high + gap * 0.7, 84)
    const even = Math.max((rows.at(-1)[0].uy - top) * tall / (rows.length - 1), high + 14)
    for (const mix of [0, 0.25, 0.5, 0.75, 1]) {
      unit = 40
      rows.forEach((row, i) => row.forEach(b => { b.y = PAD + b.h / 2 + (1 - mix) * (b.uy - top) * tall + mix * i * even }))
      for (const [i, a] of boxes.entries()) for (const b of boxes.slice(i + 1))
        if (Math.abs(a.y - b.y) < (a.h + b.h) / 2 + 10) unit = Math.max(unit, need(a, b, 12))
      if (unit * span + ends <= room) break
    }
    y = Math.max(...boxes.map(b => b.y + b.h / 2))
  }
  const wide = span ? Math.max(unit, Math.min((room - ends) / span, unit * 1.7, 230)) : unit
  const left = Math.min(...boxes.map(b => b.ux * wide - b.w / 2)) - PAD
  for (const b of boxes) b.x = b.ux * wide - left
  return { boxes, width: Math.max(...boxes.map(b => b.x + b.w / 2)) + PAD, height: y + PAD }
}

// ---- the component ---------------------------------------------------------------------------------------------------

function createGraph(host) {
  const { on, theme, hear, send, end } = stage(host, () => { if (data) { measured.clear(); theme(); layout(true) } })
  const scroll = make("div", "scroll", host), svg = shape("svg", "", scroll)
  svg.setAttribute("role", "group")
  const layers = Object.fromEntries(["faint", "plain", "fresh", "tags", "nodes"].map(name => [name, shape("g", name, svg)]))
  const nodes = new Map(), edges = new Map()
  let data, drawn = false, width = 0, stops = { nodes: null, edges: null }
  const fire = at => send("clicked", { at })

  for (const name of ["focusin", "focusout"]) on(host, name, event => {   // an SVG element that listens to focus takes it
    const node = event.target.closest(".node"), edge = event.target.closest(".edge")
    if (node) near(node.dataset.id, name === "focusin")
    if (node || edge) { stops[node ? "nodes" : "edges"] = event.target; tabs() }
  })

  const pen = document.createElement("canvas").getContext("2d")
  const measured = new Map()
  function widthOf(text, font) {
    const key = font + text
    if (!measured.has(key)) { pen.font = font; measured.set(key, pen.measureText(text).width) }
    return measured.get(key)
  }
  const cut = (text, font, room) => clipped(text, room, part => widthOf(part, font))

  // -- what comes in

  function update(component) {
    hear(component)
    show(component.data)
  }

  function show(wanted) {
    data = wanted
    host.dataset.updates = Number(host.dataset.updates ?? 0) + 1
    svg.setAttribute("aria-label", data.label)
    keep(nodes, data.nodes, n => n.id, newNode)
    keep(edges, data.edges, nameOf, newEdge)
    for (const e of edges.values()) {
      const layer = layers[{ faint: "faint", class: "faint", new: "fresh", lit: "fresh" }[e.data.tone] ?? "plain"]
      if (e.g.parentNode !== layer) keepFocus(e.g, () => layer.append(e.g))
    }
    theme()
    layout(false)
    drawn = true
  }

  function keep(records, list, keyOf, create) {   // the same elements for what stays, so it keeps its focus and glides
    const wanted = new Set(list.map(keyOf))
    for (const [key, record] of records) if (!wanted.has(key)) { record.remove(); records.delete(key) }
    for (const entry of list) {
      const key = keyOf(entry)
      if (!records.has(key)) records.set(key, create(key))
      records.get(key).data = entry
    }
  }

  function keepFocus(element, move) {
    const had = host.getRootNode().activeElement === element
    move()
    if (had) element.focus({ preventScroll: true })
  }

  function enter(g) {
    if (!drawn) return
    g.classList.add("entering")
    setTimeout(() => g.classList.remove("entering"), 700)
  }

  function button(g, kind, event, stop) {          // clickable by pointer and keys, where the page listens
    on(g, "click", () => { if (data.clicks.includes(kind)) fire(event()) })
    on(g, "keydown", press => {
      if (!data.clicks.includes(kind) || press.ctrlKey || press.altKey || press.metaKey) return
      if (press.key === "Enter" || press.key === " ") {
        press.preventDefault()
        if (!press.repeat) fire(event())
      } else if (press.key.startsWith("Arrow")) {
        const to = stop === "nodes" ? fromNode(g, press.key) : fromEdge(g, press.key)
        if (to) { press.preventDefault(); to.focus() }
      }
    })
  }
  function enable(g, kind, spoken, pressed) {
    const able = data.clicks.includes(kind)
    g.classList.toggle("clickable", able)
    set(g, { role: able ? "button" : "img", "aria-label": spoken })
    if (able) g.setAttribute("aria-pressed", pressed)
    else { g.removeAttribute("aria-pressed"); g.removeAttribute("tabindex") }
  }

  function near(id, yes) {            // the edges of a node
    for (const e of edges.values()) if (e.data.source === id || e.data.target === id) { e.near = yes; lookOfEdge(e) }
  }

  function newNode(id) {
    const g = shape("g", "node", layers.nodes), ring = shape("rect", "ring", g), box = shape("rect", "box", g)
    const panel = shape("path", "panel", g), face = shape("g", "face", g)
    const title = shape("title", "", face), hit = shape("rect", "hit", face), pill = shape("rect", "pill", face)
    const name = shape("text", "name", face), sub = shape("text", "sub", face)
    face.dataset.node = id
    g.dataset.id = id
    const record = { g, ring, face, title, box, hit, pill, name, sub, panel, rows: [], remove: () => g.remove() }
    button(face, "node", () => ["node", id], "nodes")
    on(g, "pointerenter", () => near(id, true))
    on(g, "pointerleave", () => near(id, false))
    enter(g)
    return record
  }

  function newRow(node, k) {
    const g = shape("g", "state", node.g), title = shape("title", "", g), row = shape("rect", "row", g)
    const label = shape("text", "label", g), track = shape("rect", "track", g), bar = shape("rect", "bar", g)
    const ghost = shape("rect", "ghost", g), p = shape("text", "p", g)
    g.dataset.state = k
    button(g, "state", () => ["state", node.data.id, k], "nodes")
    return { g, title, row, label, track, bar, ghost, p }
  }

  function newEdge(key) {
    const g = shape("g", "edge", null), title = shape("title", "", g)
    const hit = shape("path", "hit", g), line = shape("path", "line", g), head = shape("path", "head", g)
    const tag = shape("text", "tag", layers.tags)
    g.dataset.edge = JSON.parse(key).join("→")
    button(g, "edge", () => ["edge", ...JSON.parse(key)], "edges")
    enter(g); enter(tag)
    return { g, title, hit, line, head, tag, remove: () => { g.remove(); tag.remove() } }
  }

  // -- where it goes

  function layout(still) {
    width = host.clientWidth
    if (!width) return
    host.classList.toggle("still", still)
    const family = getComputedStyle(host).fontFamily
    const fonts = { name: `600 14px ${family}`, small: `13px ${family}`, bold: `700 13px ${family}` }
    const list = [...nodes.values()]
    let plan = { width: 0, height: 0 }
    if (list.length) {
      const gap = data.edges.some(e => e.label) ? ROWS + 8 : ROWS
      const bars = list.some(n => n.data.bars.length), plain = TRIES[0][1], space = width / data.zoom
      const easy = bars ? [...LONGER, TRACK] : [TRACK]   // one line a row and long bars, where there is room
      const tries = [
        ...(data.zoom > 1 ? easy.map(track => [space, track, 1, plain]) : []), ...easy.map(track => [width, track, 1, plain]),
        ...(bars && data.zoom > 1 ? [[width, SHORT, 1, 128]] : []),
        ...TRIES.slice(1).filter(([lines]) => lines === 1 || list.length <= 15).map(t => [width, TRACK, ...t]),
        [width, SHORT, list.length > 15 ? 1 : 3, 104],
      ]
      for (const [limit, track, lines, room] of tries) {
        const sizes = list.map(n => measure(n.data, fonts, room, track)), places = list.map(n => ({ x: n.data.x, y: n.data.y }))
        const side = track === SHORT ? 10 : GAP
        const arranged = () => {
          const boxesOf = sizes.map(s => [s.w, s.h]), found = spread(places, boxesOf, limit, lines, gap, side)
          return data.height && found.height > data.height ? spread(places, boxesOf, limit, lines, TIGHT, side) : found
        }
        let found = arranged()
        if (found.width <= limit) list.forEach((n, i) => {   // a name that was cut is whole where its row has the room
          if (sizes[i].name === n.data.label) return
          const before = sizes[i]
          sizes[i] = measure(n.data, fonts, WHOLE, track)
          const roomier = arranged()
          if (roomier.width <= limit) found = roomier
          else sizes[i] = before
        })
        if (!plan.width || found.width < plan.width || found.width <= limit) plan = { ...found, sizes, zoom: lines > 1 ? 1 : data.zoom }
        if (found.width <= limit) break
      }
    }
    const scale = Math.max(Math.min(width / plan.width, plan.zoom ?? 1), 1)   // words keep their size: what is wider scrolls
    set(svg, { viewBox: `0 0 ${plan.width} ${plan.height}`, width: plan.width * scale, height: plan.height * scale })
    scroll.style.maxHeight = data.height ? data.height + "px" : ""
    scroll.classList.toggle("cut", plan.width * scale > width + 1 || data.height && plan.height * scale > data.height + 1)
    list.forEach((n, i) => { n.at = plan.boxes[i]; drawNode(n, plan.sizes[i]) })
    const placed = []
    for (const e of edges.values()) drawEdge(e, list, plan)
    for (const e of edges.values()) placeTag(e, list, fonts, placed)
    tabs()
    if (still) requestAnimationFrame(() => host.classList.remove("still"))
  }

  function measure(n, fonts, room, track) {
    const clip = text => cut(text, fonts.small, room), name = cut(n.label, fonts.name, room)
    const pill = n.subs.length ? Math.max(...n.subs.map(t => widthOf(clip(t), fonts.bold))) + 20 : 0   // the widest sub
    const labels = n.bars.map(b => cut(b.label, fonts.bold, Math.min(room * 0.6, 92)))
    const states = Math.max(0, ...labels.map(t => widthOf(t, fonts.bold)))
    const shares = Math.max(0, ...n.bars.map(b => widthOf(b.text, fonts.bold)))
    const words = Math.max(widthOf(name, fonts.name), widthOf(clip(n.sub), fonts.small), pill - 8) + (n.tone === "class" ? 34 : 26)
    const bars = n.bars.length ? states + shares + track + 34 : 0
    const head = pill ? 50 : n.sub ? 46 : 34
    const w = Math.max(words, bars, 52)
    return { name, clip, pill, labels, states, shares, head, w: Math.ceil(w), h: head + (n.bars.length ? n.bars.length * ROW + 7 : 0) }
  }

  function drawNode(n, { name, clip, pill, labels, states, shares, head, w, h }) {
    const { data: d, at: b } = n, top = -h / 2
    n.g.style.transform = `translate(${b.x}px,${b.y}px)`
    b.rim = d.tone === "class" && !d.bars.length ? h / 2 : RIM
    set(n.box, { x: -w / 2, y: top, width: w, height: h, rx: b.rim })
    set(n.hit, { x: -w / 2, y: top, width: w, height: d.bars.length ? head - 2 : h })
    set(n.ring, { x: -w / 2 - 4, y: top - 4, width: w + 8, height: h + 8, rx: b.rim + 4 })
    set(n.pill, { x: -pill / 2, y: top + 26, width: pill, height: pill ? 19 : 0, rx: 9.5 })
    write(n.name, name)
    set(n.name, { y: top + (head > 34 ? 16 : head / 2) }); set(n.sub, { y: top + (pill ? 36 : 33) })
    n.clip = clip
    lookOfNode(n)
    const r = RIM - 2, foot = h / 2 - 1.5, side = w / 2 - 1.5
    n.panel.setAttribute("d", d.bars.length
      ? `M${-side} ${top + head - 2}H${side}V${foot - r}Q${side} ${foot} ${side - r} ${foot}H${-side + r}Q${-side} ${foot} ${-side} ${foot - r}Z` : "")
    while (n.rows.length > d.bars.length) n.rows.pop().g.remove()
    while (n.rows.length < d.bars.length) n.rows.push(newRow(n, n.rows.length))
    d.bars.forEach((bar, k) => {
      const row = n.rows[k], y = top + head + k * ROW - 2, x = -w / 2, middle = y + ROW / 2
      const start = x + 12 + states + 8, end = w / 2 - 12 - shares - 8
      row.g.setAttribute("class", "state" + (bar.selected ? " selected" : ""))
      set(row.row, { x: x + 4, y, width: w - 8, height: ROW, rx: 5 })
      set(row.label, { x: x + 12, y: middle }); write(row.label, labels[k])
      set(row.track, { x: start, y: middle - 5, width: end - start, height: 10, rx: 2 })
      set(row.bar, { x: start, y: middle - 5, width: (end - start) * bar.share, height: 10, rx: 2 })
      const moved = bar.before !== undefined && Math.abs(bar.before - bar.share) > 5e-4
      set(row.ghost, { x: start, y: middle - 6.5, width: moved ? Math.max((end - start) * bar.before, 1) : 0, height: 13, rx: 2 })
      inked(row.bar, bar.colour)
      set(row.p, { x: w / 2 - 12, y: middle }); write(row.p, bar.text)
      write(row.title, labels[k] === bar.label ? "" : bar.label)
      enable(row.g, "state", bar.spoken, bar.selected)
    })
  }

  function lookOfNode(n) {             // what a node says and how it looks, wherever it stands
    const { data: d } = n, chosen = data.selected === d.id, sub = n.clip(d.sub)
    n.g.setAttribute("class", ["node", d.tone, chosen ? "selected" : "", n.g.classList.contains("entering") ? "entering" : ""].join(" "))
    write(n.sub, sub)
    inked(n.pill, d.colour ?? [])
    write(n.title, n.name.textContent === d.label && sub === d.sub ? "" : [d.label, d.sub].filter(Boolean).join("\n"))
    enable(n.face, "node", [d.label, d.sub].filter(Boolean).join(", "), chosen)
  }

  function lookOfEdge(e) {
    const { data: d } = e, chosen = Array.isArray(data.selected) && data.selected[0] === d.source && data.selected[1] === d.target
    const looks = [d.tone, e.near ? "near" : "", chosen ? "selected" : "", e.g.classList.contains("entering") ? "entering" : ""]
    e.g.setAttribute("class", ["edge", ...looks].join(" "))
    e.tag.setAttribute("class", ["tag", ...looks].join(" "))
    write(e.title, d.spoken)
    enable(e.g, "edge", d.spoken, chosen)
  }

  // Other looks for what is drawn, in the places where it stands: `ofNode(node)` gives of a node its `sub`, one of its
  // `subs`, the `colour` behind it, its `tone`, one or several words; `ofEdge(edge)` gives the `tone` of an edge.
  function dress(ofNode, ofEdge) {
    for (const n of nodes.values()) { Object.assign(n.data, ofNode(n.data)); if (n.at) lookOfNode(n) }
    for (const e of edges.values()) { Object.assign(e.data, ofEdge(e.data)); lookOfEdge(e) }
  }

  function reveal(id) {                // where the drawing is larger than its window, this node is brought into sight
    const { at } = nodes.get(id), scale = svg.clientHeight / svg.viewBox.baseVal.height
    for (const [place, half, from, size] of [[at.x, at.w / 2, "scrollLeft", "clientWidth"], [at.y, at.h / 2, "scrollTop", "clientHeight"]]) {
      const middle = place * scale, side = half * scale + PAD, room = scroll[size]
      if (middle - side < scroll[from] || middle + side > scroll[from] + room) scroll[from] = middle - room / 2
    }
  }

  function drawEdge(e, list, plan) {
    const { data: d } = e, a = nodes.get(d.source).at, c = nodes.get(d.target).at
    const others = list.filter(n => n.at !== a && n.at !== c).map(n => n.at)
    const back = d.directed && edges.get(nameOf({ source: d.target, target: d.source }))?.data.directed
    let curve, least = Infinity
    for (const bend of back ? BENDS.filter(v => v > 0) : BENDS) {
      const way = bowed(a, c, bend)
      let cost = Math.abs(bend) * 0.4
      for (let t = 1; t < 32 && cost < least; t++) {
        const p = along(way, t / 32)
        if (p.x < PAD || p.y < PAD || p.x > plan.width - PAD || p.y > plan.height - PAD) cost += 40
        for (const box of others) if (outside(p, box, box.rim) < 6) cost += 60
      }
      if (cost < least) { least = cost; curve = way }
    }
    const stroke = 1.4 + 4.2 * d.weight, size = d.directed ? 8 + 1.3 * stroke : 0
    const find = (from, step, box, distance) => {
      let t = from
      while (t >= 0 && t <= 1 && outside(along(curve, t), box, box.rim) < distance) t += step
      return t
    }
    const from = find(0, 0.004, a, 1), tip = find(1, -0.004, c, 1), end = find(tip, -0.004, c, size * 0.9)
    const seen = from < end
    const path = ([p, q, r]) => `M${p.x.toFixed(1)} ${p.y.toFixed(1)}Q${q.x.toFixed(1)} ${q.y.toFixed(1)} ${r.x.toFixed(1)} ${r.y.toFixed(1)}`
    const shown = seen ? piece(curve, from, end) : null, whole = seen ? path(piece(curve, from, tip)) : ""
    lookOfEdge(e)
    set(e.line, { d: shown ? path(shown) : "", "stroke-width": stroke }); set(e.hit, { d: whole })
    if (e.g.classList.contains("entering")) e.line.style.setProperty("--length", e.line.getTotalLength() || 1)
    let head = ""
    if (seen && d.directed) {
      const p = along(curve, tip), q = along(curve, end), l = Math.hypot(p.x - q.x, p.y - q.y) || 1
      const nx = -(p.y - q.y) / l * size * 0.42, ny = (p.x - q.x) / l * size * 0.42
      head = `M${p.x.toFixed(1)} ${p.y.toFixed(1)}L${(q.x + nx).toFixed(1)} ${(q.y + ny).toFixed(1)}L${(q.x - nx).toFixed(1)} ${(q.y - ny).toFixed(1)}Z`
    }
    e.head.setAttribute("d", head)
    e.points = shown && Array.from({ length: 41 }, (_, i) => along(shown, i / 40))
  }

  function placeTag(e, list, fonts, placed) {     // near the middle, clear of nodes, other labels and other lines
    const text = cut(e.data.label, fonts.small, 130)
    write(e.tag, text)
    if (!text || !e.points) { write(e.tag, ""); return }
    const lines = [...edges.values()].filter(o => o !== e && o.points && e.g.parentNode === o.g.parentNode)
    let best = null, cheapest = Infinity
    for (const i of [20, 17, 23, 14, 26, 11, 29]) {
      const spot = { w: widthOf(text, fonts.bold) + 6, h: 18, ...e.points[i] }
      const under = p => Math.abs(p.x - spot.x) < spot.w / 2 && Math.abs(p.y - spot.y) < spot.h / 2
      const cost = [...list.map(n => n.at), ...placed].reduce((sum, box) => sum + overlap(spot, box), Math.abs(i - 20))
        + 60 * lines.filter(o => o.points.some(under)).length
      if (cost < cheapest) { cheapest = cost; best = spot }
    }
    placed.push(best)
    set(e.tag, { x: best.x, y: best.y })
  }

  // -- keys: one stop of Tab for the nodes, one for the edges

  const reading = () => [...nodes.values()].sort((a, b) => a.at.y - b.at.y || a.at.x - b.at.x)
  const partsOf = n => [...(data.clicks.includes("node") ? [n.face] : []), ...(data.clicks.includes("state") ? n.rows.map(r => r.g) : [])]

  function tabs() {
    const of = { nodes: reading().flatMap(partsOf), edges: data.clicks.includes("edge") ? [...edges.values()].map(e => e.g) : [] }
    for (const [name, parts] of Object.entries(of)) {
      if (!parts.includes(stops[name])) stops[name] = parts[0] ?? null
      for (const part of parts) part.setAttribute("tabindex", part === stops[name] ? 0 : -1)
    }
  }

  function fromNode(g, key) {
    const order = reading(), n = order.find(n => n.g.contains(g)), parts = partsOf(n), k = parts.indexOf(g)
    if (key === "ArrowLeft" || key === "ArrowRight")
      return partsOf(order[(order.indexOf(n) + (key === "ArrowRight" ? 1 : -1) + order.length) % order.length])[0]
    const down = key === "ArrowDown", inside = parts[k + (down ? 1 : -1)]
    if (inside) return inside
    const way = m => (down ? 1 : -1) * (m.at.y - n.at.y)
    const far = m => way(m) + 2 * Math.abs(m.at.x - n.at.x)
    const next = order.filter(m => way(m) > 8).sort((a, b) => far(a) - far(b))[0]
    return next && partsOf(next).at(down ? 0 : -1)
  }

  function fromEdge(g, key) {
    const all = [...edges.values()].map(e => e.g), step = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1
    return all[(all.indexOf(g) + step + all.length) % all.length]
  }

  return { update, show, dress, reveal, destroy: end }
}
