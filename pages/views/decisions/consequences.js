// What losses and a prior of use lead to: the risks of the chosen case, the simplex, risk and confusion of held-out
// rows. See consequences.py for what comes in. While an edit lasts ("bayes-loss") all of it is computed here from the
// held-out posteriors, which were sent once; when the server has answered, its own numbers stand in the same places.

const MOST_DOTS = 900                 // rows drawn on the simplex

const scenes = (globalThis.bayesRows ??= new Map())
globalThis.bayesConsequences = createPanel   // the live part's element calls it

export default received(scenes, "bayes-rows", 8, (body, { n, k, size }) => {
  const Floats = size === 8 ? Float64Array : Float32Array
  let at = 0
  const take = (Kind, length) => { const part = new Kind(body.buffer, at, length); at += length * Kind.BYTES_PER_ELEMENT; return part }
  return { logs: take(Floats, n * k), weight: take(Floats, n), amount: take(Floats, n), truth: take(Uint16Array, n), which: take(Uint16Array, n) }
})

const draw = (tag, looks, parent, text) => {
  const element = shape(tag, "", parent)
  set(element, looks)
  if (text !== undefined) element.textContent = text
  return element
}

function general(v, digits, signed = false) {   // Python's format(v, ".{digits}g")
  if (!Number.isFinite(v)) return "–"
  const sign = v < 0 ? "−" : signed ? "+" : ""
  const [mantissa, power] = Math.abs(v).toExponential(digits - 1).split("e")
  const e = Number(power), bare = text => text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text
  if (e < -4 || e >= digits) return `${sign}${bare(mantissa)}e${e < 0 ? "−" : "+"}${String(Math.abs(e)).padStart(2, "0")}`
  return sign + bare(Math.abs(v).toFixed(digits - 1 - e))
}
function rowCount(n) {   // a whole number with separators; of weighted rows fewer than a thousand with their decimals
  const whole = Math.round(n)
  return n >= 1000 || Math.abs(n - whole) < 1e-9 ? whole.toLocaleString("en-US") : general(n, 4)
}
const percent = v => (100 * v).toFixed(1) + "%"

// ---- held-out rows under any losses and prior -------------------------------------------------------------------------

// (n, K) posteriors at the prior of use, and what each row then weighs.
function posteriors(scene, prior) {
  const { n, k, logs, which, priors, weight, truth } = scene
  const P = new Float64Array(n * k), ok = new Uint8Array(n), w = new Float64Array(n)
  const shifts = priors.map(own => prior ? priorShift(own, prior) : [])
  for (let i = 0; i < n; i++) ok[i] = posteriorAt(P, logs, i * k, k, shifts[which[i]]) > -Infinity ? 1 : 0
  const share = new Float64Array(k)
  let total = 0
  for (let i = 0; i < n; i++) { share[truth[i]] += weight[i]; total += weight[i] }
  for (let i = 0; i < n; i++) w[i] = prior ? weight[i] * prior[truth[i]] * total / share[truth[i]] : weight[i]
  return { P, ok, w }
}

// As bayes_engine.decision.evaluate.estimated_risk; the interval is the linear one, not the bootstrap's. A row's amount
// multiplies the cells of the table that `by` marks, or all (null); it has a say in the decision where cells of the
// `rule` are marked, for one that multiplies every cell changes none.
function assess(scene, { P, ok, w }, { table, by }, rule) {
  const { n, k, truth, amount } = scene, zeros = () => Array.from({ length: rule.A }, () => new Array(k).fill(0))
  const confusion = zeros(), cost = zeros(), loss = new Float64Array(n)
  let total = 0, right = 0, undecided = 0
  for (let i = 0; i < n; i++) {
    const j = truth[i], costOf = a => (by && !by[a][j] ? 1 : amount[i]) * table[a][j]
    total += w[i]
    if (!ok[i]) {                           // no decision is better than none
      undecided++
      loss[i] = w[i] * Math.max(...table.map((_, a) => costOf(a)))
      continue
    }
    const chosen = rule.decide(P, i * k, rule.marks ? amount[i] : 1)
    loss[i] = w[i] * costOf(chosen)
    confusion[chosen][j] += w[i]
    cost[chosen][j] += loss[i]
    if (chosen === j) right += w[i]         // the classes are the first actions, in their order
  }
  const risk = loss.reduce((a, b) => a + b, 0) / total
  let spread = 0
  for (let i = 0; i < n; i++) spread += (loss[i] - risk * w[i]) ** 2
  const half = 1.96 * Math.sqrt(spread) / total
  return { risk, low: risk - half, high: risk + half, accuracy: right / total, confusion, cost: cost.map(row => row.map(v => v / total)), undecided }
}

// ---- the panel ---------------------------------------------------------------------------------------------------------

function createPanel(host) {
  const { on, redraw, theme, end } = stage(host, () => { if (data) show() })
  const sections = {}
  const panel = make("div", "panel", host)
  for (const name of ["case", "simplex", "rows"]) sections[name] = make("section", name, panel)
  const quiet = make("div", "quiet", host)
  quiet.setAttribute("role", "status")
  let data, held = null, cache = {}, lastChosen = null, cells = null, cellsFor = ""
  on(window, "bayes-rows", event => { if (event.detail === data?.key) { cache = {}; redraw() } })
  on(window, "bayes-loss", ({ detail }) => { if (detail?.key === data?.key) { held = detail; redraw() } })

  function update({ data: next }) {
    data = next
    if (held && held.edit <= next.edit) held = null
    redraw()
  }

  function inUse() {
    const fits = held && held.table.length === data.loss.length && held.table[0].length === data.loss[0].length
    const live = fits && held.edit > data.edit
    const { table, by, prior } = live ? held : { table: data.loss, by: data.by, prior: data.prior }
    const own = atAmount(table, by, data.amount)   // the case's own table
    return { live, cells: { table, by }, table: own, losses: new Losses(own, data.order), prior }
  }

  function show() {
    const start = performance.now()
    const shown = inUse(), { colour } = theme()
    host.classList.toggle("live", shown.live)
    const p = casePosterior(shown.prior)
    drawCase(p, shown, colour)
    drawSimplex(p, shown, colour)
    drawRows(shown, colour)
    host.dataset.live = shown.live ? "1" : ""
    host.dataset.showMs = (performance.now() - start).toFixed(2)
    host.dataset.shows = Number(host.dataset.shows ?? 0) + 1
  }

  function casePosterior(prior) {     // the case's, at the prior that is being edited
    const was = data.prior ?? data.own, is = prior ?? data.own
    if (!data.posterior.length) return null
    return atPrior(data.posterior, priorShift(was, is))
  }

  // -- the case: R(a|x) of each decision

  function drawCase(p, { losses }, colour) {
    const section = sections.case, { words } = data
    section.replaceChildren()
    make("h3", "", section, words.case)
    if (!p) { make("p", "note", section, data.status); host.dataset.chosen = ""; return }
    const chosen = losses.decide(p), risks = [...losses.risks]
    const head = make("p", "verdict", section)
    const dot = make("span", "dot", head)
    dot.style.background = colour(data.decisions[chosen])
    make("strong", "", head, data.decisions[chosen].head)
    make("span", "", head, fill(words.against, { risk: general(risks[chosen], 4), unit: data.unit ? " " + data.unit : "" }))
    const low = Math.min(0, ...risks), span = Math.max(0, ...risks) - low || 1
    const list = make("div", "bars", section)
    list.setAttribute("role", "img")
    list.setAttribute("aria-label", words.risks + ": " + risks.map((r, a) => `${data.decisions[a].head} ${general(r, 4)}`).join(", "))
    const order = risks.map((_, a) => a)
    const kept = order.length > 8 ? order.sort((a, b) => risks[a] - risks[b]).slice(0, 8) : order
    for (const a of kept) {
      const row = make("div", a === chosen ? "bar least" : "bar", list)
      make("span", "name", row, data.decisions[a].head)
      const track = make("span", "track", row), ink = make("span", "", track)
      ink.style.left = `${100 * (Math.min(risks[a], 0) - low) / span}%`
      ink.style.width = `${100 * Math.abs(risks[a]) / span}%`
      ink.style.background = colour(data.decisions[a])
      make("span", "value", row, general(risks[a], 4))
    }
    if (order.length > 8) make("p", "note", section, fill(words.more, { n: order.length - 8 }))
    if (words.sized) make("p", "note", section, words.sized)
    host.dataset.chosen = data.decisions[chosen].head
    host.dataset.risks = risks.map(r => general(r, 4)).join(",")
    if (chosen !== lastChosen) { if (lastChosen !== null) quiet.textContent = data.decisions[chosen].head; lastChosen = chosen }
  }

  // -- the simplex

  function drawSimplex(p, shown, colour) {
    const section = sections.simplex, K = data.truths.length
    section.replaceChildren()
    make("h3", "", section, K === 2 ? data.words.line : data.words.triangle)
    const width = Math.max(Math.min(section.clientWidth || 320, K === 2 ? 620 : 380), 200)
    if (K === 2) drawLine(section, p, shown, colour, width)
    else drawTriangle(section, p, shown, colour, width)
  }

  function dotsOf(shown) {            // positions of some held-out rows: their posteriors
    const scene = scenes.get(data.key)
    if (!scene || scene.id !== data.scene) return []
    const { P, ok } = computed(scene, shown.prior), every = Math.max(1, Math.floor(scene.n / MOST_DOTS)), dots = []
    for (let i = 0; i < scene.n; i += every) if (ok[i]) dots.push({ i, truth: scene.truth[i], p: P.subarray(i * scene.k, (i + 1) * scene.k) })
    return dots
  }

  // Two classes: each action's risk is a straight line over P(c|x), the lower envelope decides.
  function drawLine(section, p, shown, colour, width) {
    const { table, losses } = shown, { words, truths, decisions } = data
    const left = 46, right = 14, top = 10, h = 128, strip = 34, foot = 40, w = width - left - right
    const svg = draw("svg", { width, height: top + h + strip + foot, role: "img" }, section)
    const X = q => left + w * q, values = table.flat(), high = Math.max(...values), low = Math.min(...values)
    const Y = r => top + h - (high > low ? (r - low) / (high - low) : 0) * (h - 6)
    const risk = (a, q) => table[a][1] * (1 - q) + table[a][0] * q     // q = P(first class)
    const cuts = cutsOf(shown)
    for (const r of high > low ? [low, high] : [low]) {
      draw("line", { x1: left, x2: left + w, y1: Y(r), y2: Y(r), class: "hair" }, svg)
      draw("text", { x: left - 7, y: Y(r) + 4, class: "tick end" }, svg, general(r, 5))
    }
    draw("text", { x: left - 7, y: (Y(low) + Y(high)) / 2 + 4, class: "tick end" }, svg, "R")
    table.forEach((_, a) => draw("line", { x1: X(0), x2: X(1), y1: Y(risk(a, 0)), y2: Y(risk(a, 1)), stroke: colour(decisions[a]), class: "risk" }, svg))
    for (const { from, to, a } of cuts) {
      draw("line", { x1: X(from), x2: X(to), y1: Y(risk(a, from)), y2: Y(risk(a, to)), stroke: colour(decisions[a]), class: "least" }, svg)
      draw("rect", { x: X(from), y: top + h + 4, width: Math.max(w * (to - from), 0), height: strip, fill: colour(decisions[a]), "fill-opacity": decisions[a].of === null ? 0.3 : 0.42 }, svg)
    }
    for (const dot of dotsOf(shown)) {
      const y = top + h + 4 + strip * (dot.truth === 0 ? 0.3 : 0.7) + ((dot.i * 7919) % 13 - 6) * 0.6
      draw("circle", { cx: X(dot.p[0]), cy: y, r: 2.6, fill: colour(truths[dot.truth]), class: "row" }, svg)
    }
    let last = -99
    for (const { from } of cuts.slice(1)) {
      draw("line", { x1: X(from), x2: X(from), y1: top, y2: top + h + strip + 9, class: "cut" }, svg)
      const at = clamp(X(from), left + 14, left + w - 14)
      if (at - last > 40) { draw("text", { x: at, y: top + h + strip + 22, class: "cutvalue mid" }, svg, from.toFixed(from < 0.01 || from > 0.99 ? 4 : 3)); last = at }
    }
    draw("text", { x: left, y: top + h + strip + 37, class: "tick" }, svg, "0")
    draw("text", { x: left + w, y: top + h + strip + 37, class: "tick end" }, svg, `P(${truths[0].name}|x) → 1`)
    if (p) {
      const a = losses.decide(p)
      draw("line", { x1: X(p[0]), x2: X(p[0]), y1: Y(risk(a, p[0])), y2: top + h + 4 + strip / 2, class: "guide" }, svg)
      draw("circle", { cx: X(p[0]), cy: Y(risk(a, p[0])), r: 4.5, fill: colour(decisions[a]), class: "case" }, svg)
      draw("circle", { cx: X(p[0]), cy: top + h + 4 + strip / 2, r: 7, fill: colour(decisions[a]), class: "case" }, svg)
    }
    const said = cuts.map(({ from, to, a }) => fill(words.segment, { action: decisions[a].head, from: from.toFixed(3), to: to.toFixed(3) })).join("; ")
    svg.setAttribute("aria-label", fill(words.lineSaid, { name: truths[0].name }) + " " + said)
    host.dataset.cuts = cuts.slice(1).map(c => c.from.toFixed(6)).join(",")
    make("p", "note", section, words.lineNote)
  }

  function cutsOf({ table, losses }) {  // the lower envelope of straight lines on [0, 1]
    const at = new Set([0, 1])
    table.forEach((s, a) => table.slice(a + 1).forEach(t => {
      const slope = (s[0] - s[1]) - (t[0] - t[1]), q = (t[1] - s[1]) / slope
      if (q > 0 && q < 1) at.add(q)
    }))
    const ends = [...at].sort((a, b) => a - b), list = []
    for (let k = 0; k + 1 < ends.length; k++) {
      const q = (ends[k] + ends[k + 1]) / 2, a = losses.decide([q, 1 - q])
      if (list.at(-1)?.a === a) list.at(-1).to = ends[k + 1]
      else list.push({ from: ends[k], to: ends[k + 1], a })
    }
    return list
  }

  // Three classes: the triangle; of more, the slice through the case in which three shares vary.
  function drawTriangle(section, p, shown, colour, width) {
    const { table, losses } = shown, { words, truths, decisions } = data, K = truths.length
    const three = K === 3 ? [0, 1, 2] : data.three
    const rest = truths.map((_, j) => three.includes(j) || !p ? 0 : p[j]), free = 1 - rest.reduce((a, b) => a + b, 0)
    const side = width - 60, h = side * 0.866, ox = 30, oy = 26
    const corner = [[ox, oy + h], [ox + side, oy + h], [ox + side / 2, oy]]
    const place = b => [0, 1].map(d => b.reduce((sum, v, m) => sum + v * corner[m][d], 0))
    const svg = draw("svg", { width, height: h + oy + 30, role: "img" }, section)
    // R_a − R_b over the triangle is linear: each region is the triangle clipped by A − 1 half planes, exactly.
    const at = table.map(row => { const fixed = rest.reduce((sum, v, j) => sum + v * row[j], 0); return three.map(j => fixed + free * row[j]) })
    const shares = []
    data.order.forEach((a, rank) => {
      let polygon = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
      data.order.forEach((b, other) => {
        if (a === b || !polygon.length) return
        const d = three.map((_, m) => at[b][m] - at[a][m])
        if (d.every(v => v === 0)) { if (other < rank) polygon = []; return }
        polygon = clip(polygon, d)
      })
      if (polygon.length < 3) return
      draw("polygon", { points: polygon.map(b => place(b).map(v => v.toFixed(2)).join(",")).join(" "), fill: colour(decisions[a]), "fill-opacity": decisions[a].of === null ? 0.28 : 0.42, class: "region" }, svg)
      const area = 100 * areaOf(polygon)
      if (area >= 0.05) shares.push(fill(words.area, { action: decisions[a].head, share: area.toFixed(1) }))
    })
    if (K === 3) for (const dot of dotsOf(shown)) {
      const [x, y] = place([...dot.p])
      draw("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 2.6, fill: colour(truths[dot.truth]), class: "row" }, svg)
    }
    const short = text => text.length > 16 ? text.slice(0, 15) + "…" : text
    three.forEach((j, m) => draw("text", { x: corner[m][0], y: m === 2 ? oy - 9 : oy + h + 19, class: "tick " + (m === 2 ? "mid" : m ? "end" : ""), "font-weight": 600 }, svg, short(truths[j].name)))
    if (p && free > 0) {
      const [x, y] = place(three.map(j => p[j] / free)), a = losses.decide(p)
      draw("circle", { cx: x, cy: y, r: 7, fill: colour(decisions[a]), class: "case" }, svg)
    }
    svg.setAttribute("aria-label", words.triangleSaid + " " + shares.join("; "))
    host.dataset.areas = shares.join(";")
    make("p", "note", section, K === 3 ? words.triangleNote : fill(words.sliceNote, { share: percent(free) }))
  }

  function clip(polygon, d) {         // the part where d·b ≥ 0
    const value = b => b[0] * d[0] + b[1] * d[1] + b[2] * d[2], out = []
    polygon.forEach((b, k) => {
      const c = polygon[(k + 1) % polygon.length], vb = value(b), vc = value(c)
      if (vb >= 0) out.push(b)
      if (vb * vc < 0) { const t = vb / (vb - vc); out.push(b.map((v, m) => v + (c[m] - v) * t)) }
    })
    return out
  }
  function areaOf(polygon) {          // as a share of the triangle
    let sum = 0
    polygon.forEach((b, k) => { const c = polygon[(k + 1) % polygon.length]; sum += b[0] * c[1] - c[0] * b[1] })
    return Math.abs(sum)
  }

  // -- held-out rows

  function computed(scene, prior) {
    const key = JSON.stringify([scene.id, prior])
    if (cache.key !== key) cache = { key, ...posteriors(scene, prior) }
    return cache
  }

  function report({ live, cells: { table, by }, prior }) {
    if (!live) return data.report
    const scene = scenes.get(data.key)
    if (!scene || scene.id !== data.scene) return data.report
    const rows = computed(scene, prior), K = data.truths.length
    const plain = Array.from({ length: K }, (_, i) => Array.from({ length: K }, (_, j) => Number(i !== j)))
    const ours = assess(scene, rows, { table, by }, new Losses(table, data.order, by))
    const naive = assess(scene, rows, { table, by }, new Losses(plain, data.order.filter(a => a < K)))
    return { ...ours, naive: naive.risk, naiveAccuracy: naive.accuracy, rough: true }
  }

  function drawRows(shown, colour) {
    const section = sections.rows, { words, decisions, truths } = data
    if (!data.report) { section.replaceChildren(); cells = null; cellsFor = ""; return }
    const found = report(shown), wanted = JSON.stringify([decisions, truths, words, data.scheme])
    if (!cells || cellsFor !== wanted) { cellsFor = wanted; buildRows(section) }
    const unit = data.unit ? " " + data.unit : ""
    cells.risk.textContent = general(found.risk, 4)
    cells.unit.textContent = unit
    cells.interval.textContent = fill(found.rough ? words.rough : words.interval, { low: general(found.low, 4), high: general(found.high, 4) })
    cells.naive.textContent = general(found.naive, 4)
    const saved = found.risk - found.naive
    cells.saved.textContent = Math.abs(saved) > 1e-12 ? fill(words.difference, { value: general(saved, 3, true) }) : words.same
    cells.saved.className = "sub " + (saved < -1e-12 ? "good" : saved > 1e-12 ? "bad" : "")
    cells.accuracy.textContent = percent(found.accuracy)
    const lost = found.accuracy - found.naiveAccuracy
    cells.lost.textContent = Math.abs(lost) > 1e-12 ? fill(words.differenceAccuracy, { value: (lost < 0 ? "−" : "+") + percent(Math.abs(lost)) }) : words.same
    const most = Math.max(...found.cost.flat().map(Math.abs), 1e-300)
    found.confusion.forEach((row, a) => row.forEach((n, j) => {
      const { box, count, cost } = cells.table[a][j], c = found.cost[a][j]
      count.textContent = rowCount(n)
      cost.textContent = c ? general(c, 3, true) : ""
      box.style.setProperty("--shade", `${(100 * clamp(c / most, 0, 1)).toFixed(1)}%`)
      box.classList.toggle("none", !n)
    }))
    host.dataset.risk = general(found.risk, 4)
    host.dataset.interval = `${general(found.low, 4)},${general(found.high, 4)}`
    host.dataset.confusion = found.confusion.map(row => row.map(n => general(n, 4)).join(",")).join(";")
  }

  function buildRows(section) {
    const { words, decisions, truths } = data
    section.replaceChildren()
    make("h3", "", section, words.rows)
    const figures = make("div", "figures", section)
    const figure = (name, help) => {
      const box = make("div", "figure", figures)
      box.title = help
      make("div", "what", box, name)
      const value = make("div", "value", box)
      return [value, make("div", "sub", box)]
    }
    cells = {}
    const [risk, interval] = figure(words.risk, words.riskHelp)
    cells.risk = make("span", "", risk); cells.risk.dataset.testid = "risk"
    cells.unit = make("small", "", risk)
    cells.interval = interval; interval.dataset.testid = "interval"
    ;[cells.naive, cells.saved] = figure(words.naive, words.naiveHelp)
    ;[cells.accuracy, cells.lost] = figure(words.accuracy, words.accuracyHelp)
    make("p", "note", section, data.scheme)
    const scroll = make("div", "scroll", section), table = make("table", "confusion", scroll)
    const head = make("tr", "", make("thead", "", table)), body = make("tbody", "", table)
    make("th", "", head)
    truths.forEach(entry => { const cell = make("th", "", head, entry.head); cell.scope = "col" })
    cells.table = decisions.map(entry => {
      const row = make("tr", "", body), name = make("th", "", row, entry.head)
      name.scope = "row"
      return truths.map((_, j) => {
        const box = make("td", entry.of === j ? "right" : "", row)
        return { box, count: make("b", "", box), cost: make("small", "", box) }
      })
    })
    make("p", "note", section, words.confusion)
  }

  return { update, destroy: end }
}
