// The nomogram of a case: a scale for every attribute, all on the ruler of the log-odds of two classes. See nomogram.py.
// The terms are the server's. Here they are added up, and decide.js makes the posterior and the decision of the sums.

const SEND_EVERY = 150                // ms between two edits sent while dragging
const LANE = 15                       // px of a line of names
const AWAY = 24                       // px from the end of the ruler to where −∞ or +∞ stands
const FOLDED = 46                     // px of a curve that turns more than once
const SHARES = [0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6, 0.05, 0.95]
const NEAREST = 2, FARTHEST = 10      // nats of the sum that are always in sight; and that are as far as the points reach

const LOOKS = ["scene", "extent", "endless", "for", "against", "scales", "unit", "words", "classes", "actions", "loss", "order", "base"]

const scenes = (globalThis.bayesNomogramScenes ??= new Map())
globalThis.bayesNomogram = createNomogram

export default received(scenes, "bayes-nomogram", 8, body => ({ terms: new Float64Array(body.buffer, 0, body.length / 8) }))

const withSign = v => {
  if (!Number.isFinite(v)) return v > 0 ? "+∞" : v < 0 ? "−∞" : "×"
  const text = Math.abs(v).toFixed(2)
  return (Number(text) === 0 ? "" : v > 0 ? "+" : "−") + text
}
const share = p => {                  // as many digits as tell it from 0 and from 1
  if (p === 0 || p === 1) return p.toFixed(4)
  const places = Math.ceil(-Math.log10(Math.min(p, 1 - p)))
  return p < 1e-6 ? p.toExponential(3).replace("-", "−") : p.toFixed(clamp(places + 2, 4, 15))
}

function createNomogram(host) {
  const { on, redraw, theme: themeNow, hear, send: sendEdit, waits, end } = stage(host, draw)
  const svg = shape("svg", "", host), still = shape("g", "", svg), live = shape("g", "", svg), quiet = make("div", "quiet", host)
  set(svg, { role: "group" })
  quiet.setAttribute("role", "status")
  const measure = document.createElement("canvas").getContext("2d")
  let data, given, held, scene, rule, theme, rows = [], box, at = [], edited = new Map(), drag = null, sentAt = -Infinity, timer = 0, handles = []
  let path, foot, lastSaid = ""

  on(window, "bayes-nomogram", event => { if (event.detail === data?.key) redraw("stage") })

  on(window, "bayes-loss", event => {   // in a saved file λ and the prior of use have an editor
    if (!data?.editor || event.detail.key !== data.editor.bus) return
    held = event.detail
    take()
  })

  function update(component) {
    given = component.data
    hear(component)
    if (!drag && !timer && !waits()) edited.clear()
    take()
  }

  function take() {                     // what was sent, under the losses and the prior that are being edited
    const before = data, next = data = { ...given }
    const finite = part => ({ ...part, terms: part.terms.map(t => t ?? -Infinity) })
    next.base = next.base.map(finite); next.own = next.own.map(finite)
    if (held) {
      const { own, classes, use, amount, label } = next.editor, ofClasses = values => classes.map(j => values[j])
      next.loss = atAmount(held.table, held.by, amount).map(ofClasses); next.order = held.order
      const prior = held.prior && { label, terms: priorShift(own, ofClasses(held.prior)) }
      next.base = next.base.flatMap((b, i) => i === use ? (prior ? [prior] : []) : [b])
      if (prior && use < 0) next.base.push(prior)
    }
    rule = new Losses(next.loss, next.order)
    const looks = part => JSON.stringify([...LOOKS.map(name => part[name]), part.own.map(own => own.marks)])
    const alike = before && looks(before) === looks(next)
    redraw(alike ? "case" : "stage")
  }

  function draw(parts) {
    const raw = data && scenes.get(data.key)
    if (raw?.id !== data?.scene) return      // the scene is on its way
    const fresh = scene?.id !== raw.id
    scene = raw
    if (fresh || parts.has("stage")) { theme = themeNow(); layout() }
    place()
  }

  // -- the terms

  const K = () => data.classes.length
  const termsOf = (scale, i) => scene.terms.subarray(scale.from + i * K(), scale.from + (i + 1) * K())
  const weigh = terms => terms[data.for] - terms[data.against]   // NaN where both are impossible
  const inUnit = nats => nats * data.unit.perNat

  function caseOf(j) {                // the value and terms of the case on this scale, as edited here
    const own = data.own[j], i = edited.get(j)
    return i === undefined ? { value: own.value, at: own.at, terms: own.terms, text: own.text }
      : { value: scene.scales[j].values[i], at: i, terms: [...termsOf(scene.scales[j], i)], text: textOf(scene.scales[j], i) }
  }
  const textOf = (scale, i) => scale.curve ? String(scale.values[i]).replace("-", "−") : scale.values[i]

  // -- the layout: what does not change as the case does

  function layout() {
    const width = host.clientWidth, narrow = width < 560, gutter = narrow ? 6 : Math.min(200, width * 0.26)
    measure.font = `13px ${theme.font}`
    const widthOf = text => measure.measureText(text).width
    const focused = host.getRootNode().activeElement?.dataset?.scale
    still.replaceChildren(); live.replaceChildren()
    let from = 0
    for (const scale of scene.scales) { scale.from = from; from += scale.values.length * K() }
    const all = scene.scales.map((scale, j) => scale.values.map((_, i) => weigh(termsOf(scale, i))))
    const ownWeights = data.own.map(own => weigh(own.terms)), base = data.base.map(b => weigh(b.terms))
    const left = gutter + 14 + (data.endless[0] ? AWAY + 6 : 0)
    const right = width - 14 - (data.endless[1] ? AWAY + 6 : 0)
    let [low, high] = data.extent
    if (held) for (const w of base.filter(Number.isFinite)) { low = Math.min(low, w); high = Math.max(high, w) }
    if (low === high) { low -= 1; high += 1 }
    const x = w => w === Infinity ? right + AWAY : !(w > -Infinity) ? left - AWAY : left + (w - low) / (high - low) * (right - left)
    box = { width, narrow, gutter, left, right, x }

    const text = (parent, className, px, py, words, colours) => {
      const element = shape("text", className, parent)
      set(element, { x: px, y: py })
      element.textContent = words
      if (colours) inked(element, colours)
      return element
    }
    const sided = (element, w) => { const side = data.classes[w < 0 ? data.against : data.for]; inked(element, [side.light, side.dark]); return element }
    const line = (className, d) => set(shape("path", className, still), { d })

    // the ruler
    const towards = [data.classes[data.against].label, data.classes[data.for].label]
    let y = 16
    const room = (right - left) / 2 - widthOf(data.unit.word) / 2 - 14
    text(still, "", left, y, "← " + clipped(towards[0], room, widthOf))
    text(still, "mid faint", (left + right) / 2, y, data.unit.word)
    text(still, "end", right, y, clipped(towards[1], room, widthOf) + " →")
    y += 18
    const ticks = ticksOf(inUnit(low), inUnit(high), (right - left) / 70)
    for (const [v, label] of ticks) text(still, "mid faint", x(v / data.unit.perNat), y, label)
    const top = y + 5
    y = top + 6

    rows = []
    data.base.forEach((b, n) => {       // what is added whatever the values are
      const w = base[n], mid = y + (narrow ? 26 : 12)
      named(b.label, w, withUnit(w), y, mid)
      sided(shape("circle", "point", still), w)
      set(still.lastChild, { cx: x(w), cy: mid, r: 4 })
      rows.push({ base: n, mid })
      y = mid + 12
    })
    for (const j of data.scales) {
      const scale = scene.scales[j], weights = all[j], row = { j, points: [] }
      const head = narrow ? 20 : 0
      if (scale.curve) {
        const turns = turnsOf(weights), many = turns.length > 1, folded = turns.length === 1
        const height = many ? FOLDED : folded ? LANE : 0, above = LANE + 6
        const mid = y + head + above + height / 2, first = scale.values[0], span = (scale.values.at(-1) - first) || 1
        row.mid = mid
        row.flat = !many && !folded
        row.depth = value => many ? mid + height / 2 - height * clamp((value - first) / span, 0, 1)
          : folded ? (value <= scale.values[turns[0]] ? mid - height / 2 : mid + height / 2) : mid
        row.points = weights.map((w, i) => [x(w), row.depth(scale.values[i])])
        let d = ""
        weights.forEach((w, i) => {
          const [px, py] = row.points[i], broken = !Number.isFinite(w) || i && !Number.isFinite(weights[i - 1])
          if (!Number.isFinite(w)) return
          if (i && !broken && folded && i === turns[0] + 1) d += `L${row.points[i - 1][0]} ${py}`   // both branches meet where it turns
          d += `${!i || broken ? "M" : "L"}${px} ${py}`
        })
        line("line", d)
        const taken = []
        const count = Math.max(4, Math.min(9, (Math.max(...row.points.map(p => p[0])) - Math.min(...row.points.map(p => p[0]))) / 34))
        const marks = ticksOf(first, scale.values.at(-1), count)
        const step = scale.values.length > 1 ? span / (scale.values.length - 1) : 1
        for (const [v, label] of marks) {
          const i = Math.round((v - first) / step)
          if (i < 0 || i >= weights.length || Math.abs(scale.values[i] - v) > step * 0.01) continue
          const [px, py] = row.points[i], under = folded && i > turns[0]
          if (!Number.isFinite(weights[i])) endless(still, px, py, weights[i])
          else set(shape("path", "line", still), many ? { d: `M${px - 2.5} ${py}h5` } : { d: `M${px} ${py}v${under ? 5 : -5}` })
          const wide = widthOf(label) + 5, where = many ? [px + 6, py + 4] : [px - wide / 2, py + (under ? 16 : -8)]
          const area = [where[0], where[1] - 10, where[0] + wide, where[1] + 2]
          if (taken.some(t => t[0] < area[2] && area[0] < t[2] && t[1] < area[3] && area[1] < t[3])) continue
          taken.push(area)
          text(still, many ? "halo" : "mid halo", many ? px + 6 : px, where[1], label)
        }
        row.end = mid + height / 2 + (folded ? LANE + 6 : many ? 10 : 8)
      } else {
        const order = weights.map((_, i) => i).sort((a, b) => x(weights[a]) - x(weights[b]))
        const lanes = [], labels = []
        for (const i of order) {
          const label = clipped(scale.values[i], 150, widthOf), wide = widthOf(label) + 8
          const start = clamp(x(weights[i]) - wide / 2, box.gutter, width - wide)
          let lane = -1                 // the first line with room: above the scale, below it, and so on outwards
          while (lanes[lane] > start) lane = lane < 0 ? -lane : -lane - 1
          lanes[lane] = start + wide
          labels.push({ i, label, lane, start: start + wide / 2 })
        }
        const above = Math.max(1, ...labels.map(l => -l.lane)), below = Math.max(0, ...labels.map(l => l.lane))
        const mid = y + head + above * LANE + 6
        row.mid = mid
        row.flat = true
        row.depth = () => mid
        row.points = weights.map(w => [x(w), mid])
        const ends = row.points.map(p => p[0]).filter((_, i) => Number.isFinite(weights[i]))
        if (ends.length) line("line", `M${Math.min(...ends)} ${mid}H${Math.max(...ends)}`)
        for (const { label, lane, start, i } of labels) {
          const py = lane < 0 ? mid - 8 + (lane + 1) * LANE : mid + 17 + (lane - 1) * LANE
          if (Math.abs(lane) > 1) line("leader", `M${row.points[i][0]} ${mid}L${start} ${py + (lane < 0 ? 3 : -11)}`)
          text(still, "mid halo", start, py, label)
        }
        weights.forEach((w, i) => {
          const [px] = row.points[i]
          if (!Number.isFinite(w)) endless(still, px, mid, w)
          else { sided(shape("circle", "point", still), w); set(still.lastChild, { cx: px, cy: mid, r: 4 }) }
        })
        row.end = mid + 8 + below * LANE
      }
      for (const mark of data.own[j].marks ?? []) {   // of a text: its terms, one by one
        const px = x(mark.nats)
        sided(shape("circle", "point", still), mark.nats)
        set(still.lastChild, { cx: px, cy: row.mid, r: 3.5 })
      }
      if (data.own[j].marks?.length) row.end = markedWords(data.own[j].marks, row.mid, x, text, widthOf, width)
      row.head = narrow ? y + 13 : 0
      row.end = Math.max(row.end, narrow ? 0 : y + 36)
      const hit = shape("rect", "hit", still)
      set(hit, { x: left - AWAY - 6, y: y, width: right - left + 2 * AWAY + 12, height: row.end - y })
      hit.dataset.scale = j
      row.top = y
      rows.push(row)
      y = row.end + 6
    }
    const gridlines = shape("g", "", null)
    for (const [v] of ticks) set(shape("path", v === 0 ? "zero" : "grid", gridlines), { d: `M${x(v / data.unit.perNat)} ${top}V${y}` })
    still.prepend(gridlines)

    function endless(parent, px, py, w) {   // −∞ has a mark of its own: an arrowhead out of the ruler
      const mark = sided(shape("path", "never", parent), w)
      set(mark, { d: Number.isNaN(w) ? `M${px - 4} ${py - 4}l8 8m0 -8l-8 8` : w < 0 ? `M${px + 5} ${py - 6}v12l-10 -6Z` : `M${px - 5} ${py - 6}v12l10 -6Z` })
      if (Number.isNaN(w)) set(mark, { class: "line" })
    }

    path = shape("path", "path", live)
    handles = rows.map(row => {
      if (row.base !== undefined) return null
      const circle = shape("circle", "handle", live)
      set(circle, { r: matchMedia("(pointer: coarse)").matches ? 10 : 7, role: "slider", tabindex: data.fixed || !scene.scales[row.j].values.length ? -1 : 0 })
      circle.dataset.scale = row.j
      on(circle, "keydown", event => key(row, event))
      row.texts = narrow ? [text(live, "name halo", box.left - 8, row.head, ""), text(live, "own halo end", width - 6, row.head, "")]
        : [text(live, "name", 0, row.mid - 4, ""), text(live, "own", 0, row.mid + 13, "")]
      return circle
    })
    if (focused !== undefined) handles.find(handle => handle?.dataset.scale === focused)?.focus({ preventScroll: true })
    if (drag) drag = rows.find(row => row.j === drag.j) ?? null
    foot = { y: y + 10, group: shape("g", "", live), low: sumOf(all, Math.min), high: sumOf(all, Math.max), text, sided, widthOf }

    function sumOf(all, pick) {         // how far the log-odds can be, without what is impossible
      const fixed = base.filter(Number.isFinite).reduce((a, b) => a + b, 0)
      return all.reduce((sum, weights, j) => {
        const finite = [...weights, ownWeights[j]].filter(Number.isFinite)
        return sum + (data.scales.includes(j) && finite.length ? pick(...finite) : 0)
      }, fixed)
    }
    function named(label, w, says, py, mid) {
      if (narrow) { text(still, "name halo", box.left - 8, py + 13, clipped(label, width * 0.6, widthOf)); text(still, "own halo end", width - 6, py + 13, says) }
      else { text(still, "name", 0, mid + 4, clipped(label, box.gutter - 74, widthOf)); text(still, "own end", box.gutter - 6, mid + 4, says) }
    }
  }
  const withUnit = w => withSign(Number.isFinite(w) ? inUnit(w) : w)

  function markedWords(marks, mid, x, text, widthOf, width) {
    const lanes = []
    let deepest = mid
    for (const mark of [...marks].sort((a, b) => a.nats - b.nats)) {
      const wide = widthOf(mark.label) + 8, start = clamp(x(mark.nats) - wide / 2, 0, width - wide)
      let lane = 1
      while (lanes[lane] > start) lane++
      lanes[lane] = start + wide
      const py = mid + 4 + lane * LANE
      deepest = Math.max(deepest, py)
      text(still, "mid halo", start + wide / 2, py, mark.label)
    }
    return deepest + 6
  }

  function turnsOf(weights) {           // where a curve turns back, by the places of its values
    const turns = [], size = Math.max(...weights.filter(Number.isFinite).map(Math.abs), 0) * 1e-9
    let way = 0
    for (let i = 1; i < weights.length; i++) {
      const step = weights[i] - weights[i - 1]
      if (!(Math.abs(step) > size) || !Number.isFinite(step)) continue
      if (way && Math.sign(step) !== way) turns.push(i - 1)
      way = Math.sign(step)
    }
    return turns
  }

  // -- the case: its points, the line that connects them, the sums

  function place() {
    if (!box) return
    const { words } = data, sums = data.classes.map((_, k) => data.base.reduce((sum, b) => sum + b.terms[k], 0))
    let d = "", total = data.base.reduce((sum, b) => sum + weigh(b.terms), 0), pending = edited.size > 0 && data.moves
    rows.forEach((row, n) => {
      if (row.base !== undefined) { d += `${d ? "L" : "M"}${box.x(weigh(data.base[row.base].terms))} ${row.mid}`; return }
      const here = caseOf(row.j), w = weigh(here.terms), scale = scene.scales[row.j], gone = here.value === null
      here.terms.forEach((t, k) => { sums[k] += t })
      total += w
      const px = box.x(w), py = gone || typeof here.value !== "number" ? row.mid : row.depth(here.value)
      d += `${d ? "L" : "M"}${px} ${py}`
      set(handles[n], {
        cx: px, cy: py, class: `handle${gone ? " gone" : ""}${data.fixed || !scale.values.length ? " fixed" : ""}`,
        "aria-label": scale.name, "aria-valuenow": here.at ?? 0, "aria-valuemin": 0, "aria-valuemax": Math.max(scale.values.length - 1, 0),
        "aria-valuetext": `${gone ? words.missing : here.text}, ${withUnit(w)} ${data.unit.word}`,
      })
      const value = gone ? words.missing : here.text, cut = (text, room) => clipped(text, room, foot.widthOf)
      if (box.narrow) {
        write(row.texts[0], cut(`${scale.name} = ${value}`, box.width * 0.7))
        write(row.texts[1], withUnit(w))
      } else {
        write(row.texts[0], cut(scale.name, box.gutter - 14))
        write(row.texts[1], `${cut(value, box.gutter - 80)} · ${withUnit(w)}`)
      }
    })
    set(path, { d })
    const P = new Float64Array(K()), known = !pending && posteriorAt(P, sums, 0, K(), []) > -Infinity
    const chosen = known ? rule.decide(P) : -1
    host.posterior = known ? [...P] : []
    drawFoot(total, sums, P, chosen, pending)
    host.dataset.total = pending ? "" : inUnit(total).toFixed(9)
    host.dataset.posterior = known ? [...P].map(p => p.toFixed(9)).join(",") : ""
    host.dataset.decision = chosen < 0 ? "" : data.actions[chosen].label
    host.dataset.edited = [...edited].join(";")
  }

  function drawFoot(total, sums, P, chosen, pending) {
    const { group, text, sided, widthOf } = foot, { left, right, width, narrow } = box, { words } = data
    group.replaceChildren()
    let y = foot.y
    const bold = (px, py, words) => text(group, "own", px, py, words)
    const stroke = (className, d) => set(shape("path", className, group), { d })
    stroke("line", `M0 ${y}H${width}`)
    y += 22
    const verdict = pending ? "…" : chosen < 0 ? words.nowhere : fill(words.readout, {
      class: data.classes[data.for].label, p: share(P[data.for]), action: data.actions[chosen].label,
    })
    text(group, "verdict", narrow ? left - 8 : 0, y, clipped(`${words.total} ${pending ? "…" : withUnit(total)} ${data.unit.word} · ${verdict}`, width * 0.96, t => widthOf(t) * 14.5 / 12))
    if (verdict !== lastSaid) { if (lastSaid && drag === null) quiet.textContent = verdict; lastSaid = verdict }
    y += 26

    // the sum of all points, and beneath it the probability that it stands for
    let low = Math.min(foot.low, Number.isFinite(total) ? total : foot.low), high = Math.max(foot.high, Number.isFinite(total) ? total : foot.high)
    low = Math.min(low, -NEAREST); high = Math.max(high, NEAREST)
    const reach = Math.max(Number.isFinite(total) ? 1.15 * Math.abs(total) : 0, FARTHEST)   // no probability tells what is beyond
    low = Math.max(low, -reach); high = Math.min(high, reach)
    const x = w => w === Infinity ? right + AWAY * 0.6 : !(w > -Infinity) ? left - AWAY * 0.6 : left + (w - low) / (high - low) * (right - left)
    const label = (words, py) => narrow ? (text(group, "faint", left - 8, py - 15, words), 0) : text(group, "name", 0, py + 4, clipped(words, left - 16, widthOf))
    if (narrow) y += 14
    label(words.total, y)
    stroke("line", `M${left} ${y}H${right}`)
    for (const [v, label] of ticksOf(inUnit(low), inUnit(high), (right - left) / 60)) {
      const px = x(v / data.unit.perNat)
      stroke("line", `M${px} ${y}v5`)
      text(group, "mid", px, y + 17, label)
    }
    const mark = y
    y += narrow ? 50 : 36
    const pair = fill(words.share, { name: data.classes[data.for].label })
    label(pair, y)
    stroke("line", `M${left} ${y}H${right}`)
    const taken = []
    for (const p of SHARES) {           // from ½ outwards
      const w = Math.log(p / (1 - p)), px = x(w), half = widthOf(String(p)) / 2 + 3
      if (w < low || w > high) continue
      stroke("line", `M${px} ${y}v5`)
      if (taken.some(([a, b]) => a < px + half && px - half < b)) continue
      taken.push([px - half, px + half])
      text(group, "mid", px, y + 17, String(p))
    }
    if (!pending && !Number.isNaN(total)) {
      const px = x(total)
      stroke("path", `M${px} ${mark - 10}V${y + 3}`)
      set(shape("circle", "handle fixed", group), { cx: px, cy: mark, r: 6 })
      if (!Number.isFinite(total)) text(group, "mid own", px, mark - 14, withSign(total))
    }
    y += 28
    if (K() === 2) {                    // what is decided at each sum
      if (narrow) y += 12
      label(words.decision, y + 8)
      const runs = [], both = [0, 0], steps = Math.max(Math.round(right - left), 1)
      for (let s = 0; s <= steps; s++) {
        const w = low + (high - low) * s / steps
        both[data.for] = 1 / (1 + Math.exp(-w)); both[data.against] = 1 / (1 + Math.exp(w))
        const a = rule.decide(both)
        if (runs.at(-1)?.a === a) runs.at(-1).to = w; else runs.push({ a, from: w, to: w })
      }
      for (const [n, run] of runs.entries()) {
        const action = data.actions[run.a], from = x(run.from), to = x(runs[n + 1]?.from ?? run.to)
        const band = shape("rect", "band", group)
        set(band, { x: from, y, width: Math.max(to - from, 0), height: 16 })
        inked(band, [action.light, action.dark])
        if (to - from > widthOf(action.label) + 6) text(group, "mid", (from + to) / 2, y + 12, action.label)
        if (n) stroke("line", `M${from} ${y - 3}v22`)
      }
      y += 26
    } else {                            // the sums of all classes, and their softmax
      const most = Math.max(...sums), names = data.classes.map(c => c.label), wide = Math.min(Math.max(...names.map(widthOf)) + 10, narrow ? 120 : Math.max(left - 16, 90))
      const first = narrow ? 6 : 0, bar = first + wide + 90
      y += 4
      text(group, "faint", first, y, words.everyone)
      y += 8
      data.classes.forEach((one, k) => {
        text(group, "name", first, y + 13, clipped(one.label, wide - 6, widthOf))
        text(group, "end", first + wide + 78, y + 13, pending ? "…" : withUnit(most === -Infinity ? sums[k] : sums[k] - most))
        const room = right - bar - 70
        const rect = sided(shape("rect", "bar", group), 0)
        inked(rect, [one.light, one.dark])
        set(rect, { x: bar, y: y + 3, width: Math.max(room * P[k], 0.5), height: 12 })
        text(group, "", bar + room * P[k] + 5, y + 13, pending ? "…" : share(P[k]))
        y += 19
      })
    }
    set(svg, { viewBox: `0 0 ${width} ${y + 4}`, "aria-label": data.label })
  }

  // -- edits

  function move(row, i) {
    const own = data.own[row.j]
    if (caseOf(row.j).at === i) return
    if (own.at === i && !edited.has(row.j)) return
    edited.set(row.j, i)
    redraw("case")
    const rest = sentAt + SEND_EVERY - performance.now()
    if (rest > 0) timer ||= setTimeout(deliver, rest); else deliver()
  }
  function deliver() {
    clearTimeout(timer); timer = 0
    sentAt = performance.now()
    sendEdit("moved", { cells: [...edited] })
  }
  function nearest(row, px, py) {
    let best = -1, least = Infinity
    row.points.forEach(([u, v], i) => {
      const away = (u - px) ** 2 + (row.flat ? 0 : (v - py) ** 2)
      if (away < least) { least = away; best = i }
    })
    return best
  }
  function key(row, event) {
    const scale = scene.scales[row.j], step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key]
    if (!step || data.fixed || !scale.values.length) return
    event.preventDefault()
    const here = caseOf(row.j)
    const now = here.at ?? (typeof here.value === "number" ? scale.values.findIndex(v => v >= here.value) - (step > 0 ? 1 : 0) : step > 0 ? -1 : 1)
    move(row, clamp(now + step, 0, scale.values.length - 1))
  }
  const local = event => {
    const frame = svg.getBoundingClientRect(), scaled = box.width / (frame.width || 1)
    return [(event.clientX - frame.left) * scaled, (event.clientY - frame.top) * scaled]
  }
  const rowAt = event => {
    const j = event.target.dataset?.scale, row = j === undefined || data.fixed ? null : rows.find(row => row.j === Number(j))
    return row?.points.length ? row : null
  }
  on(svg, "pointerdown", event => {
    const row = rowAt(event), onPoint = event.target.classList.contains("handle")
    if (event.button || !row || event.pointerType === "touch" && !onPoint) return   // a finger beside the point scrolls, or taps
    svg.setPointerCapture(event.pointerId)
    handles[rows.indexOf(row)].focus({ preventScroll: true })
    drag = row
    if (!onPoint) move(row, nearest(row, ...local(event)))
    event.preventDefault()
  })
  on(svg, "click", event => {
    const row = rowAt(event)
    if (row && event.pointerType === "touch" && !event.target.classList.contains("handle")) move(row, nearest(row, ...local(event)))
  })
  on(svg, "pointermove", event => { if (drag) move(drag, nearest(drag, ...local(event))) })
  const release = () => { if (drag) { drag = null; if (timer) deliver() } }
  on(svg, "pointerup", release)
  on(svg, "pointercancel", release)

  return { update, destroy() { if (timer) deliver(); end() } }
}
