// The textbook's Gibbs chain, played: every update lights its node, shows its probabilities given all others and what was
// drawn. See gibbs_walk.py for what comes in. Playing needs no server; a step that a person chose is reported once it has
// stood for a moment. Words and labels from data reach the page through textContent and fillText only.

const FIRST = 650, FASTEST = 14, QUICKER = 0.94   // ms of the first update of a play, of the fastest; each is so much shorter

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
  const { on, theme: themeNow, fit, hear, send, waits, end } = stage(host, draw)
  const left = make("div", "", host), right = make("div", "", host)
  const network = createGraph(make("div", "graph", left))
  const bar = filmBar(host, left, {
    on, draw, whole: true, pace: k => Math.max(FIRST * QUICKER ** k, FASTEST),
    report: step => send("stepped", { step }), chapter: step => (Math.floor(step / per()) + 1) * per(),
  })
  const title = make("div", "title", left), chart = make("div", "chart", left), canvas = make("canvas", "", chart)
  const head = make("div", "head", right), given = make("p", "given", right), levels = make("div", "levels", right), result = make("p", "result", right)
  const count = make("p", "count", right), exact = make("p", "exact", right), steps = make("ol", "steps", right)

  let data, nodes = [], states = [], theme
  const last = () => data.drawn.length
  const per = () => Math.max(data.hidden.length, 1)

  // -- what comes in

  function update(component) {
    const next = component.data, fresh = next.id !== data?.id, again = !fresh && next.look === data.look
    data = next
    hear(component)
    if (fresh) { bar.load(last(), data.step); remember() }
    else if (!waits()) bar.follow(data.step)
    if (!again) { words(); neighbours(); network.show(data.graph) }
    draw()
  }

  function remember() {                // the state after every update
    let now = [...data.start]
    states = [now]
    data.drawn.forEach((level, k) => { now = [...now]; now[data.hidden[k % per()]] = level; states.push(now) })
  }

  function words() {
    rich(title, data.words.running)
    steps.replaceChildren(...data.algorithm.map(([depth, text]) => { const li = make("li", ["", "deep", "deeper"][depth]); rich(li, text); return li }))
  }

  function neighbours() {              // of every node its children and its Markov blanket
    const edges = data.graph.edges.map(e => [Number(e.source), Number(e.target)])
    nodes = data.graph.nodes.map(({ label, subs }, j) => {
      const parents = edges.filter(e => e[1] === j).map(e => e[0]), children = edges.filter(e => e[0] === j).map(e => e[1])
      const partners = edges.filter(e => children.includes(e[1])).map(e => e[0])
      const blanket = [...new Set([...parents, ...children, ...partners])].filter(i => i !== j).sort((a, b) => a - b)
      return { label, levels: subs, children, blanket }
    })
  }

  // -- drawing

  function readTheme() {
    const now = themeNow()
    theme = { ...now, soft: now.faded(0.7), grid: now.faded(0.1) }
  }
  const pairOf = level => data.inks[level % data.inks.length], inkOf = level => pairOf(level)[theme.dark ? 1 : 0]

  function draw() {
    if (!data || !host.clientWidth) return
    host.classList.toggle("narrow", host.clientWidth < 720)
    readTheme()
    const k = bar.step, now = states[k], lit = k ? data.hidden[(k - 1) % per()] : -1, blanket = lit < 0 ? [] : nodes[lit].blanket
    dress(now, lit, blanket)
    drawUpdate(k, now, lit, blanket)
    const t = Math.floor(k / per()), sweeps = data.hits.length
    const hits = data.hits.slice(0, t).reduce((a, b) => a + b, 0)
    rich(count, t ? fill(data.words.count, { n: hits, t, p: (hits / t).toFixed(4) }) : data.words.none)
    write(exact, data.exact === null ? data.words.unknown : fill(data.words.exact, { p: short(data.exact) }))
    drawSteps(k)
    bar.show(data.words, fill(k ? data.words.counter : data.words.outset, { t: Math.ceil(k / per()), T: sweeps, i: (k - 1) % per() + 1, n: per() }))
    Object.assign(host.dataset, { lit: lit < 0 ? "" : lit, hits, sweep: t })
    drawChart(t)
  }

  function dress(now, lit, blanket) {
    const tones = { evidence: data.evidence, asked: data.asked, lit: [lit], near: blanket }
    network.dress(
      ({ id }) => {
        const j = Number(id), tone = Object.keys(tones).filter(name => tones[name].includes(j)).join(" ")
        return { sub: nodes[j].levels[now[j]], colour: pairOf(now[j]), tone }
      },
      ({ source, target }) => {         // into the lit node, out of it, into its children
        const a = Number(source), b = Number(target)
        return { tone: lit >= 0 && (a === lit || b === lit || nodes[lit].children.includes(b)) ? "near" : "" }
      },
    )
    if (lit >= 0) network.reveal(String(lit))
  }

  function drawUpdate(k, now, lit, blanket) {
    if (lit < 0) {
      write(head, data.words.begin); write(given, data.words.beginning); write(result, ""); levels.replaceChildren()
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
    write(result, fill(data.words[before === after ? known ? "forced" : "stayed" : "moved"], { before: n.levels[before], after: n.levels[after] }))
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
    ctx.font = `13px ${theme.font}`; ctx.lineWidth = 1
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

  return { update, destroy() { bar.end(); network.destroy(); end() } }
}
