// What stands in a saved file in place of the app (take_away.py): it calls the drawings as Streamlit does, and answers
// what a person does in them as the server would, as far as a file can. Before it stand component.js and
// decide.js, and DRAWINGS, the drawings by their components.
// What a file says of itself is in the element «taken»; words from data reach the page through textContent only.

const FILE = JSON.parse(document.getElementById("taken").textContent), PIECES = new Map()

const unpacked = async text => {      // deflated bytes
  const packed = Uint8Array.from(atob(text), sign => sign.charCodeAt(0))
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

const UNDONE = {                      // what was done to bytes so that they compress well (grid_residuals)
  bayes_plane_scene(data) {
    const start = 4 + new DataView(data.buffer).getUint32(0, true), [H, W, K] = JSON.parse(new TextDecoder().decode(data.subarray(4, start))).shape
    const N = H * W, steps = new Uint16Array(N * K), at = (i, j, c) => i < 0 || j < 0 ? 0 : steps[(i * W + j) * K + c]
    for (let c = 0; c < K; c++) for (let i = 0; i < H; i++) for (let j = 0; j < W; j++) {
      const n = start + c * N + i * W + j, small = data[n] << 8 | data[n + N * K]
      const residual = small & 1 ? -(small + 1) / 2 : small / 2
      steps[(i * W + j) * K + c] = residual + at(i, j - 1, c) + at(i - 1, j, c) - at(i - 1, j - 1, c)
    }
    const view = new DataView(data.buffer)
    steps.forEach((v, n) => view.setUint16(start + 2 * n, v, true))
    return data
  },
}
const told = text => { document.getElementById("told").textContent = text }

// One drawing: `show` is a run of the script in which so much of what it was sent has changed.
class Piece {
  constructor({ key, component, data }, place) {
    this.key = key; this.component = component; this.data = data
    this.root = place.attachShadow({ mode: "open" })
    this.root.append(document.getElementById(`of-${component}`).content.cloneNode(true))
  }
  show(changed = {}) {
    this.data = this.data instanceof Uint8Array ? this.data : { ...this.data, ...changed }
    DRAWINGS[this.component]({
      parentElement: this.root, data: this.data,
      setTriggerValue: (name, edit) => setTimeout(() => { told(""); ANSWERS[this.component]?.[name]?.(this, edit) }),
    })
  }
}
const allOf = component => [...PIECES.values()].filter(piece => piece.component === component)

const ANSWERS = {
  bayes_losses: {
    edited(piece, { table, prior, by, n }) {
      const { posterior, prior: before, own } = piece.data, shift = priorShift(before ?? own, prior ?? own)
      piece.show({ loss: table, prior, by, seen: n, posterior: posterior.length ? atPrior(posterior, shift) ?? [] : [] })
    },
    pasted(piece, { n }) { told(FILE.words.pasted); piece.show({ seen: n }) },
  },
  bayes_plane: {
    moved(piece) {                      // its posterior is now that of the grid, under the prior that is in use
      const posterior = piece.root.querySelector("[data-testid]").posterior ?? [], [losses] = allOf("bayes_losses")
      if (!losses) return
      losses.show({ posterior })
      for (const panel of allOf("bayes_consequences")) panel.show({ posterior, prior: losses.data.prior, status: FILE.words.whole })
    },
  },
  bayes_smoothing: { sized(piece, { size, n }) { piece.show({ n: size, seen: n }) } },
  bayes_fitted: { moved(piece, { at, n }) { piece.show({ here: at.slice(0, 2), seen: n }) } },
  bayes_projection: { turned(piece, { angle, n }) { piece.show({ angle, seen: n }) } },
  bayes_player: { stepped(piece, { step, n }) { piece.show({ step, seen: n }) } },
  bayes_nomogram: {
    moved(piece, { cells, n }) {        // a nomogram beside it is of the same case
      const [first] = allOf("bayes_nomogram"), { classes } = first.data.editor
      const told = () => {
        const p = first.root.querySelector("[data-testid]").posterior ?? [], ofClasses = []
        classes.forEach((j, k) => { ofClasses[j] = p[k] })
        for (const losses of allOf("bayes_losses")) losses.show({ posterior: p.length ? ofClasses : [] })
      }
      requestAnimationFrame(() => requestAnimationFrame(told))
      for (const other of allOf("bayes_nomogram")) if (other !== piece && !other.data.moves) {
        const theirs = globalThis.bayesNomogramScenes.get(other.key), own = [...other.data.own], K = other.data.classes.length
        for (const [j, i] of cells) {
          const name = globalThis.bayesNomogramScenes.get(piece.key).scales[j].name
          const at = theirs.scales.findIndex(scale => scale.name === name), scale = theirs.scales[at]
          if (at < 0 || i >= scale.values.length) continue
          const from = scale.from + i * K, value = scale.values[i]
          own[at] = { value, at: i, terms: [...theirs.terms.slice(from, from + K)], text: scale.curve ? String(value).replace("-", "−") : value }
        }
        other.show({ own })
      }
    },
  },
}

for (const given of FILE.pieces) PIECES.set(given.key, new Piece(given, document.getElementById(given.place)))
for (const piece of PIECES.values()) if (typeof piece.data !== "string") piece.show()
for (const piece of PIECES.values()) if (typeof piece.data === "string") unpacked(piece.data).then(data => { piece.data = UNDONE[piece.component]?.(data) ?? data; piece.show() })
