// The textbook's Gibbs chain, played: every update lights its node, shows its probabilities given all others and what was
// drawn. See gibbs_walk.py for what comes in. Playing needs no server; a step that a person chose is reported once it has
// stood for a moment. Words and labels from data reach the page through textContent and fillText only.

const FIRST = 650, FASTEST = 14, QUICKER = 0.94   // ms of the first update of a play, of the fastest; each is so much shorter
const GAP = 26, ROWS = 52, TALL = 50, PAD = 10     // px between nodes of a row, between rows; a node's height; round it all
const BENDS = [0, 24, -24, 46, -46, 72, -72, 110, -110, 150, -150]

const rich = (element, text) => {      // X_i with its index below
  if (element.dataset.text === text) return
  element.dataset.text = text
  element.replaceChildren(...text.split(/(\w_\w)/).map((part, i) => {
    if (i % 2 === 0) return part
    const span = make("span", "sign"), index = document.createElement("sub")
    index.textContent = part[2]; span.append(part[0], index)
    return span
  }))
}
const short = p => p > 0 && p < 0.0001 || p < 1 && p > 0.9999 ? String(p) : p.toFixed(4)

export default drawnBy(createWalk)

function createWalk(host) {
  const { on, theme: themeNow, fit, hear, send, waits, end } = stage(host, parts => {
    if (!data) return
    if (parts.has("fonts")) drawnFor = ""
    layout(); draw()
  })
  const left = make("div", "", host), right = make("div", "", host)
  const scroll = make("div", "scroll", left), svg = shape("svg", "net", scroll)
  const edgeLayer = shape("g", "", svg), nodeLayer = shape("g", "", svg)
  const bar = filmBar(host, left, {
    on, draw, whole: true, pace: k => Math.max(FIRST * QUICKER ** k, FASTEST),
    tell: step => send("stepped", { step }), chapter: step => (Math.floor(step / per()) + 1) * per(),
  })
  const title = make("div", "title", left), chart = make("div", "chart", left), canvas = make("canvas", "", chart)
  const head = make("div", "head", right), given = make("p", "given", right), levels = make("div", "levels", right), said = make("p", "said", right)
  const count = make("p", "count", right), exact = make("p", "exact", right), steps = make("ol", "steps", right)
  svg.setAttribute("role", "img")

  let data, nodes = [], edges = [], states = [], theme, drawnFor = ""
  const last = () => data.drawn.length
  const per = () => Math.max(data.hidden.length, 1)

  // -- what comes in

  function update(component) {
    const next = component.data, fresh = next.id !== data?.id, again = !fresh && next.look === data.look
    data = next
    hear(component)
    if (fresh) { bar.load(last(), data.step); remember() }
    else if (!waits()) bar.follow(data.step)
    if (!again) { words(); build() }
    layout(); draw()
  }

  function remember() {                // the state after every update
    let now = [...data.start]
    states = [now]
    data.drawn.forEach((level, k) => { now = [...now]; now[data.hidden[k % per()]] = level; states.push(now) })
  }

  function words() {
    const w = data.words
    svg.setAttribute("aria-label", w.label); rich(title, w.running)
    steps.replaceChildren(...data.algorithm.map(([depth, text]) => { const li = make("li", ["", "deep", "deeper"][depth]); rich(li, text); return li }))
  }

  function build() {
    nodeLayer.replaceChildren(); edgeLayer.replaceChildren(); drawnFor = ""
    edges = data.edges.map(([a, b]) => { const g = shape("g", "edge", edgeLayer); return { a, b, g, line: shape("path", "line", g), head: shape("path", "head", g) } })
    nodes = data.nodes.map((n, j) => {
      const g = shape("g", "node", nodeLayer)
      g.dataset.node = n.id
      const tip = shape("title", "", g), ring = shape("rect", "ring", g), box = shape("rect", "box", g), pill = shape("rect", "pill", g)
      return { ...n, j, g, tip, ring, box, pill, name: shape("text", "name", g), value: shape("text", "value", g) }
    })
    for (const n of nodes) {
      const parents = data.edges.filter(e => e[1] === n.j).map(e => e[0]), children = data.edges.filter(e => e[0] === n.j).map(e => e[1])
      const partners = data.edges.filter(e => children.includes(e[1])).map(e => e[0])
      n.blanket = [...new Set([...parents, ...children, ...partners])].filter(j => j !== n.j).sort((a, b) => a - b)
    }
  }

  // -- where it goes

  const pen = document.createElement("canvas").getContext("2d")
  function clipped(text, font, room) {
    pen.font = font
    if (pen.measureText(text).width <= room) return text
    const signs = [...text]
    while (signs.length > 1 && pen.measureText(signs.join("") + "…").width > room) signs.pop()
    return signs.join("") + "…"
  }

  function layout() {
    const width = host.clientWidth
    if (!width) return
    host.classList.toggle("narrow", width < 720)
    const room = left.clientWidth, key = `${data.id}|${data.look}|${room}`
    if (key === drawnFor) return
    drawnFor = key
    const family = getComputedStyle(host).fontFamily, bold = `600 14px ${family}`, plain = `700 13.5px ${family}`
    const most = nodes.length > 15 ? 104 : 172
    for (const n of nodes) {
      n.shown = clipped(n.label, bold, most); n.values = n.levels.map(v => clipped(v, plain, most - 10))
      pen.font = bold; const a = pen.measureText(n.shown).width
      pen.font = plain; n.pillWide = Math.max(...n.values.map(v => pen.measureText(v).width)) + 20
      n.w = Math.ceil(Math.max(a + 24, n.pillWide + 16, 64))
    }
    const rows = [...new Set(nodes.map(n => n.y))].sort((a, b) => a - b).map(y => nodes.filter(n => n.y === y).sort((a, b) => a.x - b.x))
    let unit = 40
    for (const row of rows) row.slice(1).forEach((n, i) => { unit = Math.max(unit, ((n.w + row[i].w) / 2 + GAP) / Math.max(n.x - row[i].x, 0.05)) })
    const span = Math.max(...nodes.map(n => n.x)), ends = Math.max(...nodes.map(n => n.w)) + 2 * PAD
    if (span) unit = Math.max(unit, Math.min((room - ends) / span, unit * 1.6, 240))
    rows.forEach((row, i) => { for (const n of row) { n.cx = n.x * unit; n.cy = PAD + TALL / 2 + i * (TALL + ROWS) } })
    const low = Math.min(...nodes.map(n => n.cx - n.w / 2)) - PAD
    for (const n of nodes) n.cx -= low
    const w = Math.max(...nodes.map(n => n.cx + n.w / 2)) + PAD, h = rows.length * (TALL + ROWS) - ROWS + 2 * PAD
    const scale = Math.max(Math.min(room / w, nodes.length > 8 ? 1 : 330 / h, 1.45), nodes.length > 15 ? 0.7 : 0.9)
    set(svg, { viewBox: `0 0 ${w} ${h}`, width: w * scale, height: h * scale })
    for (const n of nodes) {
      set(n.g, { transform: `translate(${n.cx},${n.cy})` })
      set(n.box, { x: -n.w / 2, y: -TALL / 2, width: n.w, height: TALL, rx: 9 })
      set(n.ring, { x: -n.w / 2 - 5, y: -TALL / 2 - 5, width: n.w + 10, height: TALL + 10, rx: 13 })
      set(n.pill, { x: -n.pillWide / 2, y: 1, width: n.pillWide, height: 19, rx: 9.5 })
      set(n.name, { y: -11 }); set(n.value, { y: 11 })
      write(n.name, n.shown)
    }
    for (const e of edges) drawEdge(e)
  }

  function drawEdge(e) {
    const a = nodes[e.a], c = nodes[e.b]
    const inside = (p, n, air) => Math.abs(p.x - n.cx) < n.w / 2 + air && Math.abs(p.y - n.cy) < TALL / 2 + air
    const curveOf = bend => {
      const dx = c.cx - a.cx, dy = c.cy - a.cy, l = Math.hypot(dx, dy) || 1
      const mx = (a.cx + c.cx) / 2 - 2 * bend * dy / l, my = (a.cy + c.cy) / 2 + 2 * bend * dx / l
      return t => ({ x: (1 - t) ** 2 * a.cx + 2 * t * (1 - t) * mx + t * t * c.cx, y: (1 - t) ** 2 * a.cy + 2 * t * (1 - t) * my + t * t * c.cy })
    }
    let way, least = Infinity
    for (const bend of BENDS) {
      const curve = curveOf(bend)
      let cost = Math.abs(bend) * 0.4
      for (let t = 1; t < 32; t++) for (const n of nodes) if (n !== a && n !== c && inside(curve(t / 32), n, 7)) cost += 60
      if (cost < least) { least = cost; way = curve }
    }
    let s = 0, t = 1
    while (s < 1 && inside(way(s), a, 1)) s += 0.005
    while (t > s && inside(way(t), c, 2)) t -= 0.005
    const tip = way(t)
    let back = t
    while (back > s && Math.hypot(way(back).x - tip.x, way(back).y - tip.y) < 9) back -= 0.005
    const foot = way(back), l = Math.hypot(tip.x - foot.x, tip.y - foot.y) || 1, nx = -(tip.y - foot.y) / l * 4.6, ny = (tip.x - foot.x) / l * 4.6
    const points = Array.from({ length: 25 }, (_, i) => way(s + (back - s) * i / 24))
    set(e.line, { d: "M" + points.map(p => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`).join("L") })
    set(e.head, { d: `M${tip.x.toFixed(1)} ${tip.y.toFixed(1)}L${(foot.x + nx).toFixed(1)} ${(foot.y + ny).toFixed(1)}L${(foot.x - nx).toFixed(1)} ${(foot.y - ny).toFixed(1)}Z` })
  }

  // -- drawing

  function readTheme() {
    const now = themeNow()
    theme = { ...now, soft: now.faded(0.62), grid: now.faded(0.1) }
  }
  const inkOf = level => data.inks[level % data.inks.length][theme.dark ? 1 : 0]

  function draw() {
    if (!data || !host.clientWidth) return
    readTheme()
    const k = bar.step, now = states[k], lit = k ? data.hidden[(k - 1) % per()] : -1, blanket = lit < 0 ? [] : nodes[lit].blanket
    follow(lit)
    for (const n of nodes) {
      const tones = [n.evidence ? "evidence" : "", n.query >= 0 ? "query" : "", n.j === lit ? "lit" : "", blanket.includes(n.j) ? "blanket" : ""]
      n.g.setAttribute("class", ["node", ...tones].filter(Boolean).join(" "))
      n.g.dataset.level = now[n.j]
      n.g.style.setProperty("--ink", inkOf(now[n.j]))
      write(n.value, n.values[now[n.j]])
      write(n.tip, `${n.label} = ${n.levels[now[n.j]]}`)
    }
    for (const e of edges) e.g.classList.toggle("near", lit >= 0 && (e.a === lit || e.b === lit || blanket.includes(e.a) && nodes[lit].blanket.includes(e.b) && data.edges.some(f => f[0] === lit && f[1] === e.b)))
    drawUpdate(k, now, lit, blanket)
    const t = Math.floor(k / per()), sweeps = data.hits.length
    const hits = data.hits.slice(0, t).reduce((a, b) => a + b, 0)
    rich(count, t ? fill(data.words.count, { n: hits, t, p: (hits / t).toFixed(4) }) : data.words.none)
    write(exact, data.exact === null ? data.words.unknown : fill(data.words.exact, { p: short(data.exact) }))
    drawSteps(k)
    bar.show(data.words, fill(k ? data.words.counter : data.words.outset, { t: Math.ceil(k / per()), T: sweeps, i: (k - 1) % per() + 1, n: per() }))
    Object.assign(host.dataset, { lit: lit < 0 ? "" : nodes[lit].id, hits, sweep: t })
    drawChart(t)
  }

  function follow(lit) {                // where the drawing is larger than its window, the lit node stays in sight
    if (lit < 0) return
    const scale = svg.clientHeight / svg.viewBox.baseVal.height, { cx, cy, w } = nodes[lit]
    const high = scroll.clientHeight, wide = scroll.clientWidth, side = w / 2 * scale + 8
    const x = cx * scale, y = cy * scale
    if (y - 40 < scroll.scrollTop || y + 40 > scroll.scrollTop + high) scroll.scrollTop = y - high / 2
    if (x - side < scroll.scrollLeft || x + side > scroll.scrollLeft + wide) scroll.scrollLeft = x - wide / 2
  }

  function drawUpdate(k, now, lit, blanket) {
    if (lit < 0) {
      write(head, data.words.begin); write(given, data.words.beginning); write(said, ""); levels.replaceChildren()
      return
    }
    const n = nodes[lit], p = data.p[k - 1], before = states[k - 1][lit], after = now[lit]
    write(head, `P(${n.label} | ${data.words.others})`)
    write(given, (blanket.length ? data.words.given : data.words.alone) + blanket.map(j => `${nodes[j].label} = ${nodes[j].levels[states[k - 1][j]]}`).join(" · "))
    if (levels.dataset.lit !== `${data.id}|${data.look}|${lit}`) {   // the rows of this node, once
      levels.dataset.lit = `${data.id}|${data.look}|${lit}`
      levels.replaceChildren(...n.levels.flatMap((level, s) => {
        const label = make("span", "label"), track = make("div", "track"), share = make("span", "share")
        label.textContent = label.title = level
        make("div", "fill", track).style.setProperty("--ink", inkOf(s))
        return [label, track, share]
      }))
    }
    n.levels.forEach((_level, s) => {
      const [label, track, share] = [0, 1, 2].map(i => levels.children[3 * s + i])
      for (const [part, name] of [[label, "label"], [track, "track"], [share, "share"]]) part.className = s === after ? `${name} drawn` : name
      track.firstChild.style.width = 100 * p[s] + "%"; track.firstChild.style.setProperty("--ink", inkOf(s))
      write(share, short(p[s]))
    })
    const known = Math.max(...p) === 1
    write(said, fill(data.words[before === after ? known ? "forced" : "stayed" : "moved"], { before: n.levels[before], after: n.levels[after] }))
  }

  function drawSteps(k) {                // which lines of the algorithm this step is: 0 … see gibbs_walk.py
    const full = k && k % per() === 0
    const active = !k ? [0] : full ? [3, 4, 5] : [3, 4]
    if (k === last() && k) active.push(6)
    ;[...steps.children].forEach((li, i) => li.classList.toggle("now", active.includes(i)))
  }

  function drawChart(t) {
    const width = chart.clientWidth, height = chart.clientHeight, ctx = fit(canvas, width, height), T = data.hits.length
    const l = 30, r = width - 8, top = 8, bottom = height - 32, X = s => l + (s - 1) / Math.max(T - 1, 1) * (r - l), Y = p => bottom - p * (bottom - top)
    ctx.font = `11.5px ${theme.font}`; ctx.lineWidth = 1
    for (const v of [0, 0.5, 1]) {
      ctx.strokeStyle = theme.grid; ctx.beginPath(); ctx.moveTo(l, Math.round(Y(v)) + 0.5); ctx.lineTo(r, Math.round(Y(v)) + 0.5); ctx.stroke()
      ctx.fillStyle = theme.soft; ctx.textAlign = "right"; ctx.textBaseline = "middle"; ctx.fillText(String(v), l - 6, Y(v))
    }
    if (data.exact !== null) { ctx.strokeStyle = theme.inkCss; ctx.setLineDash([5, 4]); ctx.lineWidth = 1.4; ctx.beginPath(); ctx.moveTo(l, Y(data.exact)); ctx.lineTo(r, Y(data.exact)); ctx.stroke(); ctx.setLineDash([]) }
    const colour = inkOf(1)
    const line = (from, to, alpha, wide) => {
      let n = 0
      ctx.globalAlpha = alpha; ctx.strokeStyle = colour; ctx.lineWidth = wide; ctx.lineJoin = "round"; ctx.beginPath()
      for (let s = 1; s <= to; s++) { n += data.hits[s - 1]; if (s >= from) ctx.lineTo(X(s), Y(n / s)) }
      ctx.stroke(); ctx.globalAlpha = 1
    }
    line(1, T, 0.2, 1.4); line(1, t, 1, 2.2)
    const strip = bottom + 6, place = s => l + s / T * (r - l)
    for (let s = 0, end; s < T; s = end) {   // runs of equal sweeps, broken where the walk stands
      for (end = s + 1; end < T && end !== t && data.hits[end] === data.hits[s];) end++
      ctx.globalAlpha = s < t ? 1 : 0.22; ctx.fillStyle = data.hits[s] ? colour : theme.grid
      ctx.fillRect(place(s), strip, place(end) - place(s), 8)
    }
    ctx.globalAlpha = 1
    if (t) { const n = data.hits.slice(0, t).reduce((a, b) => a + b, 0); ctx.fillStyle = colour; ctx.beginPath(); ctx.arc(X(t), Y(n / t), 4.4, 0, 7); ctx.fill() }
    ctx.fillStyle = theme.soft; ctx.textBaseline = "bottom"; ctx.textAlign = "left"; ctx.fillText("1", l, height - 1)
    ctx.textAlign = "right"; ctx.fillText(String(T), r, height - 1)
    ctx.textAlign = "center"; ctx.fillText(data.words.time, (l + r) / 2, height - 1)
  }

  return { update, destroy() { bar.end(); end() } }
}
