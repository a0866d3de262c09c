// What a click in a saved network leads to (take_away.py): P(x_j | e) of every node, exactly, by variable elimination. The
// derivatives of P(e) by the indicators of the findings are the joint probabilities with them (Darwiche 2003), so one pass
// forwards and one back give all of them.

class Elimination {                   // tables: [{ scope: [nodes], values }], row-major; sizes: levels of each node
  constructor(tables, sizes) { this.tables = tables; this.sizes = sizes }

  // P(e) in nats, and of each node Σ of the derivatives, a share for each level; null where P(e) = 0.
  given(evidence) {
    const { sizes } = this
    const found = sizes.map((n, v) => ({ scope: [v], values: Array.from({ length: n }, (_, k) => Number(evidence[v] < 0 || evidence[v] === k)) }))
    let live = [...this.tables.map(table => ({ ...table })), ...found], log = 0
    const done = [], left = new Set(sizes.keys())
    while (left.size) {
      const unite = v => [v, ...new Set(live.filter(f => f.scope.includes(v)).flatMap(f => f.scope).filter(u => u !== v))]
      const cells = scope => scope.reduce((n, v) => n * sizes[v], 1)
      const next = [...left].reduce((best, v) => { const size = cells(unite(v)); return size < best.size ? { v, size } : best }, { size: Infinity }).v
      const scope = unite(next), inputs = live.filter(f => f.scope.includes(next)), out = { scope: scope.slice(1), values: null }
      const step = { scope, inputs, out, walk: inputs.map(f => this.walk(scope, f.scope)) }
      const rest = cells(out.scope), sum = new Float64Array(rest)
      for (let c = 0, all = rest * sizes[next]; c < all; c++) sum[c % rest] += inputs.reduce((p, f, i) => p * f.values[step.walk[i](c)], 1)
      const top = Math.max(...sum)
      if (!(top > 0)) return null
      log += Math.log(top)
      out.values = sum.map(v => v / top)
      done.push(step)
      live = [...live.filter(f => !inputs.includes(f)), out]
      left.delete(next)
    }
    for (const f of live) f.slope = [1]
    log += live.reduce((sum, f) => sum + Math.log(f.values[0]), 0)
    for (const { scope, inputs, out, walk } of done.reverse()) {
      for (const f of inputs) f.slope = new Float64Array(f.values.length)
      const rest = out.values.length, all = rest * sizes[scope[0]]
      for (let c = 0; c < all; c++) {
        const places = walk.map(place => place(c)), slope = out.slope[c % rest]
        if (slope) inputs.forEach((f, i) => {
          f.slope[places[i]] += inputs.reduce((p, other, j) => j === i ? p : p * other.values[places[j]], slope)
        })
      }
    }
    return { log, shares: found.map(({ values, slope }) => {
      const joint = Array.from(slope, (s, k) => s * values[k]), sum = joint.reduce((a, b) => a + b, 0)
      return joint.map(p => p / sum)
    }) }
  }

  walk(scope, part) {                 // where a cell of a table over `scope` stands in one over a part of it
    const { sizes } = this, strides = []
    let stride = 1
    for (let i = part.length - 1; i >= 0; i--) { strides[part[i]] = stride; stride *= sizes[part[i]] }
    const steps = scope.map(v => [sizes[v], strides[v] ?? 0]).reverse()
    return cell => { let at = 0; for (const [n, s] of steps) { at += cell % n * s; cell = Math.floor(cell / n) } return at }
  }
}

// Numbers as bayes_engine/numerals.py writes them.
const fixed = (v, places) => {        // halves to the even digit, as Python has it
  const text = v.toFixed(places), [whole, digits] = v.toFixed(Math.min(places + 60, 100)).split(".")
  if (!/^50*$/.test(digits.slice(places))) return text
  const cut = places ? `${whole}.${digits.slice(0, places)}` : whole
  return Number(cut.at(-1)) % 2 ? text : cut
}
const number = (v, digits = 4) => {
  if (v === 0) return "0"
  const place = Math.floor(Math.log10(Math.abs(v)))
  if (place < -3 || place > 6) return v.toExponential(digits - 1).replace(/e([+-])(\d)$/, "e$10$2")
  return fixed(v, Math.max(place === -3 ? digits + 2 : digits - Math.max(place, 0), 0))
}
const certain = (v, digits) => {
  const steady = Number(v.toPrecision(14)), p = steady === 1 ? v : steady   // as graph.py has it
  const text = number(p, digits)
  return p < 1 && Number(text) === 1 ? fixed(p, Math.ceil(-Math.log10(1 - p))) : text
}
const numberOfLog = log => {
  if (Math.abs(log) < 700) return number(Math.exp(log))
  const power = Math.floor(log / Math.LN10)
  return `${Math.exp(log - power * Math.LN10).toFixed(3)}e${power}`
}

const net = FILE.besides
if (net.tables) {
  const inference = new Elimination(net.tables, net.nodes.map(node => node.levels.length))
  const prior = inference.given(net.nodes.map(() => -1)).shares
  let target = net.target
  const seen = [...net.evidence]

  const shownOf = (node, j, now) => { // the levels that have a bar, as draw.py chooses them
    const all = node.levels.map((_, k) => k), most = k => Math.max(prior[j][k], now[j][k])
    if (all.length <= net.most) return all
    return all.sort((a, b) => (seen[j] !== a) - (seen[j] !== b) || most(b) - most(a) || a - b).slice(0, net.most).sort((a, b) => a - b)
  }
  const shown = data => {
    const answer = inference.given(seen), now = answer?.shares ?? prior, any = seen.some(k => k >= 0)
    told(!any ? net.words.nothing : answer ? fill(net.words.evidence, { p: numberOfLog(answer.log) }) : net.words.impossible)
    return data.nodes.map((drawn, j) => {
      const node = net.nodes[j], observed = seen[j] >= 0
      const bars = shownOf(node, j, now).map(k => {
        const share = answer && observed ? Number(seen[j] === k) : now[j][k], text = certain(share, 3)
        const colour = observed ? net.colours.seen : j === target ? net.colours.classes[k % net.colours.classes.length] : net.colours.belief
        return {
          ...(any && answer ? { before: prior[j][k] } : {}), label: node.levels[k], share, text, colour, selected: seen[j] === k, level: k,
          spoken: fill(net.words.spoken, { node: drawn.label, state: node.levels[k], p: text }),
        }
      })
      return { ...drawn, bars, tone: observed ? "evidence" : j === target ? "class" : "" }
    })
  }
  ANSWERS.bayes_graph = {
    clicked(piece, { at: [kind, id, bar], n }) {
      const j = net.nodes.findIndex(node => node.id === id)
      if (kind === "node") target = j
      else {
        const k = piece.data.nodes[j].bars[bar].level ?? shownOf(net.nodes[j], j, now())[bar]
        seen[j] = seen[j] === k ? -1 : k
      }
      piece.show({ nodes: shown(piece.data), seen: n })
    },
  }
  const now = () => inference.given(seen)?.shares ?? prior
  for (const piece of allOf("bayes_graph")) piece.show({ nodes: shown(piece.data) })
}
