// The regions (plane_regions.js) on a canvas, the rows over them, and a case to drag. See plane.py for what comes in.

const MANY = 150, FADED = 0.4         // more points than this are drawn paler; what a faded point has of its strength
const AROUND = [[0, -1], [0, 1], [1, 0], [-1, 0], [1, -1], [-1, -1], [1, 1], [-1, 1]]   // where a card may stand
const FURTHER = [1, 2.5, 4.5, 7]      // and how far off, in its least distances
const NEAR = 11                       // px from a point's middle to what does not cover it, nor its ring
const SEND_EVERY = 150                // ms between two moves sent while dragging

const scenes = (globalThis.bayesScenes ??= new Map())
globalThis.bayesPlane = createPlane   // the live part's element calls it

export default received(scenes, "bayes-scene", 4, body => ({ body }))

// ---- sides: from values to pixels ------------------------------------------------------------------------------------

// Along a side as one reads it, from the left or from the top: levels from the first on, numbers upwards.
const fractionOf = (side, v) => side.levels.length ? (v + 0.5) / side.levels.length : (v - side.low) / (side.high - side.low)
const depthOf = (side, v) => side.levels.length ? fractionOf(side, v) : 1 - fractionOf(side, v)
const valueAtDepth = (side, f) => valueAt(side, side.levels.length ? f : 1 - f)
const digitsOf = side => clamp(Math.ceil(2.5 - Math.log10(side.high - side.low)), 0, 12)   // some 300 to 3000 steps a side
const numberOn = (side, v) => side.levels.length ? side.levels[v] : v.toFixed(digitsOf(side)).replace("-", "−")
const placeOn = (side, v) => side.levels.length   // what is shown is what is meant: a place has no hidden digits
  ? clamp(Math.round(v), 0, side.levels.length - 1)
  : clamp(Number(v.toFixed(digitsOf(side))), side.low, side.high)
const valueAt = (side, f) => placeOn(side, side.levels.length ? f * side.levels.length - 0.5 : side.low + f * (side.high - side.low))

const shareOf = p => {   // two digits or, where it is nearly 1, four as in the sentence above the picture, or what tells it from 1
  const places = Math.ceil(-Math.log10(1 - p))
  return p < 1 ? p.toFixed(clamp(places, clamp(places + 1, 2, 4), 16)) : p.toFixed(2)
}

// ---- the component ---------------------------------------------------------------------------------------------------

function createPlane(host) {
  const { on, redraw, theme: themeNow, fit, ratio: ratioNow, onPaper, sheetOf, hear, send: sendEdit, waits, end } = stage(host, draw)
  const field = make("div", "stage", host)
  const regions = make("canvas", "regions", field), marks = make("canvas", "marks", field)
  const up = make("div", "guide up", field), across = make("div", "guide across", field), spot = make("div", "spot", field)
  const handle = make("div", "handle", field)
  const readout = make("div", "card readout", field), tip = make("div", "card tip", field)
  const legend = make("div", "legend", host), quiet = make("div", "quiet", host)
  handle.dataset.testid = "plane-case"; readout.dataset.testid = "plane-readout"; tip.dataset.testid = "plane-tip"
  regions.setAttribute("aria-hidden", "true")
  quiet.setAttribute("role", "status")
  handle.tabIndex = 0
  handle.setAttribute("role", "slider")

  let data, grid, scene, rule, theme, box, image, at = null, shownLoss = "", shownShift = ""
  spot.hidden = true
  let drag = null, hovered = -1, lastAction = -1, held = null, wrong = [], sentAt = -Infinity, timer = 0, waiting = null, paints = 0
  let dots = [], docked = false         // where the points stand, in pixels; whether the case's card is under the picture

  on(window, "bayes-scene", event => { if (event.detail === data?.key) redraw("stage") })
  on(window, "bayes-loss", ({ detail }) => {
    if (detail?.key !== data?.key) return
    held = detail.edit > data.edit ? detail : null   // else it says what the server has said already
    take()
    redraw("regions")
  })

  function update(component) {
    const before = data, next = data = component.data
    hear(component)
    if (held && held.edit <= next.edit) held = null   // the server knows of the edit that was shown ahead of it
    if (!next.case) at = null
    else if (!at || !drag && !waits() && !timer) at = { x: next.case.x, y: next.case.y, exact: next.case.posterior, shift: next.shift }
    take()
    const still = before && ["scene", "height", "x", "y", "classes", "actions", "words", "label"]
      .every(name => JSON.stringify(before[name]) === JSON.stringify(next[name]))
    redraw(...(still ? ["regions", "legend"] : ["stage"]))
  }

  const inUse = () => held
    ? { loss: held.table, by: held.by, shift: held.shift, order: held.order }
    : { loss: data.loss, by: data.by, shift: data.shift, order: data.order }

  function take() {                     // the losses and the prior in use: the server's, or those being edited
    const { loss, by, shift, order } = inUse(), fits = loss.length === data.actions.length
    const own = fits ? atAmount(loss, by, data.amount) : atAmount(data.loss, data.by, data.amount)
    const rules = JSON.stringify([own, fits ? order : data.order]), shifts = JSON.stringify(shift)
    if (rules !== shownLoss) { shownLoss = rules; rule = new Losses(...JSON.parse(rules)).regrets() }
    if (shifts !== shownShift) { shownShift = shifts; grid = scene && shifted(scene, shift) }
    const found = held ? judged() : data.wrong
    if (JSON.stringify(found) !== JSON.stringify(wrong)) { wrong = found; redraw("marks", "legend") }
    host.dataset.wrong = wrong.join(",")
  }

  function judged() {                   // the rows whose decision costs too much under what is being edited
    const { loss, by, shift, order } = inUse(), sizes = scene?.points?.amount ?? []
    if (loss.length !== data.actions.length) return data.wrong
    const losses = new Losses(loss, order, by)
    return (scene?.points?.posterior ?? []).flatMap((p, i) => {
      const moved = atPrior(p, shift), truth = scene.points.truth[i]
      if (!moved || truth < 0) return []
      const amount = by && sizes.length ? sizes[i] : 1   // one that multiplies every cell changes no decision
      const chosen = losses.decide(moved, 0, amount), costs = atAmount(loss, by, amount).map(row => row[truth])
      return costs[chosen] > Math.min(...costs) ? [i] : []
    })
  }

  function draw(parts) {
    const raw = data && scenes.get(data.key), fresh = raw?.id === data?.scene && scene?.id !== raw?.id
    if (fresh) { scene = decode(raw); grid = shifted(scene, inUse().shift) }
    if (!data || scene?.id !== data.scene) return   // the scene is on its way
    const all = fresh || parts.has("stage")
    if (all) { readTheme(); layout(); drawMarks(); show(-1) }
    else if (parts.has("marks")) drawMarks()
    if (all || parts.has("regions")) paint()
    if (all || parts.has("legend")) drawLegend()
    placeCase()
  }

  function readTheme() {
    theme = themeNow()
    const { dark, ground, ink, colour } = theme
    theme.greyCss = `rgb(${mix(ground, ink, 0.5)})`
    // Hatching leans along x + y for an action that is no class, and (−1 modulo its period) along x − y where nothing holds.
    const tints = dark ? TINTS.dark : TINTS.light, back = hatching(window.devicePixelRatio || 1).length - 1
    theme.shades = data.actions.map(a => ({ lean: a.of === null ? 1 : 0, table: shadesOf(ground, rgbOf(colour(a)), tints, a.of === null) }))
    theme.shades.push({ lean: back, table: shadesOf(ground, mix(ground, ink, 0.35), tints, true) })
  }

  // -- geometry

  const sideY = () => data.y ?? { label: "", low: 0, high: 1, levels: [""] }
  const bands = () => sideY().levels
  const pen = size => `${size} ${theme.font}`

  function layout() {
    const ratio = onPaper() ? ON_PAPER : ratioNow(), width = field.clientWidth, height = data.height
    field.style.height = marks.style.height = height + "px"
    const ctx = fit(marks, width, height)
    ctx.font = pen("13px")
    const y = data.y, short = text => cut(ctx, text, width * 0.22)
    const yTicks = !y ? [] : y.levels.length ? y.levels.map((label, i) => [i, short(label)])
      : ticksOf(y.low, y.high, (height - 70) / 56)
    const left = y ? Math.ceil(Math.max(22, ...yTicks.map(t => ctx.measureText(t[1]).width))) + 12 : 10
    const right = 14, top = y ? 28 : 8, w = width - left - right
    const x = data.x, xTicks = x.levels.length ? x.levels.map((label, i) => [i, label]) : ticksOf(x.low, x.high, w / 84)
    const widest = Math.max(...xTicks.map(t => ctx.measureText(t[1]).width), 0)
    const slanted = x.levels.length > 0 && widest > w / x.levels.length - 8
    const foot = slanted ? Math.min(widest, 110) * 0.6 + 14 : 20
    const h = Math.max(height - top - foot - 28, 40)
    box = { ratio, width, height, left, top, w, h, foot, slanted, xTicks, yTicks, pw: Math.round(w * ratio), ph: Math.round(h * ratio) }
    regions.width = box.pw; regions.height = box.ph
    Object.assign(regions.style, { left: left + "px", top: top + "px", width: w + "px", height: h + "px" })
    image = regions.getContext("2d").createImageData(box.pw, box.ph)
    const gap = Math.round(3 * ratio)
    box.xs = runs(grid.W, box.pw, false, x.levels.length > 0, gap)
    box.ys = runs(grid.H, box.ph, !bands().length, bands().length > 0, gap)
    box.hatch = hatching(ratio)
  }

  const cut = (ctx, text, room) => clipped(text, room, part => ctx.measureText(part).width)
  const pixelOf = p => [box.left + fractionOf(data.x, p.x) * box.w, box.top + depthOf(sideY(), p.y) * box.h]
  const placeOf = (px, py) => ({ x: valueAt(data.x, (px - box.left) / box.w), y: valueAtDepth(sideY(), (py - box.top) / box.h) })

  // -- the three layers

  function paint() {
    const start = performance.now()
    const counts = paintRegions(image, {
      grid, rule, xs: box.xs, ys: box.ys, shades: theme.shades, lineColour: theme.ink, ratio: box.ratio,
      hatch: onPaper() ? box.hatch.map(() => 0) : box.hatch,
    })
    if (onPaper()) paintPaper()
    else regions.getContext("2d").putImageData(image, 0, 0)
    host.dataset.paintMs = (performance.now() - start).toFixed(2)
    host.dataset.paints = ++paints
    host.dataset.regions = counts.join(",")
  }

  // On paper the regions are rectangles, and the hatching is lines within those that have one.
  function paintPaper() {
    const sheet = sheetOf(regions, box.w, box.h, box.pw, box.ph)
    rectangles(image, sheet)
    for (const lean of new Set(theme.shades.map(s => s.lean).filter(Boolean))) {
      const mask = new ImageData(box.pw, box.ph), only = theme.shades.map(s => ({ lean: 0, table: s.table.map(() => s.lean === lean ? 0xff000000 : 0) }))
      paintRegions(mask, { grid, rule, xs: box.xs, ys: box.ys, shades: only, hatch: box.hatch, lineColour: [0, 0, 0], ratio: 0 })
      const { pw, ph } = box, seen = new Uint32Array(mask.data.buffer), step = box.hatch.length
      let d = ""
      for (let at = 0; at < pw + ph; at += step) {
        const across = y => lean === 1 ? at - y : at - ph + y
        for (let y = 0, from = -1; y <= ph; y++) {
          const x = across(y), on = y < ph && x >= 0 && x < pw && seen[y * pw + x]
          if (on && from < 0) from = y
          if (!on && from >= 0) { d += `M${across(from)} ${from}L${x} ${y}`; from = -1 }
        }
      }
      set(shape("path", "", sheet), { d, stroke: theme.inkCss, "stroke-opacity": 0.34, "stroke-width": 1.9 * box.ratio / Math.SQRT2, fill: "none" })
    }
  }

  function drawMarks() {
    const ctx = fit(marks, box.width, box.height), { ratio, left, top, w, h } = box, b = top + h
    ctx.fillStyle = ctx.strokeStyle = theme.inkCss
    const sharp = v => Math.round(v * ratio) / ratio + 0.5 / ratio
    ctx.globalAlpha = 0.28
    ctx.strokeRect(sharp(left), sharp(top), w - 1 / ratio, h - 1 / ratio)
    ctx.globalAlpha = 0.78
    ctx.font = pen("13px")
    ctx.textBaseline = "middle"; ctx.textAlign = "right"
    for (const [v, text] of box.yTicks) {
      const py = top + depthOf(data.y, v) * h
      if (!data.y.levels.length) tick(ctx, left - 5, sharp(py), left, sharp(py))
      ctx.fillText(text, left - 9, py)
    }
    for (const [v, text] of box.xTicks) {
      const px = left + fractionOf(data.x, v) * w
      if (!data.x.levels.length) tick(ctx, sharp(px), b, sharp(px), b + 5)
      ctx.save()
      ctx.translate(px, b + (data.x.levels.length ? 5 : 9))
      if (box.slanted) ctx.rotate(-0.6)
      ctx.textAlign = box.slanted ? "right" : "center"
      ctx.textBaseline = box.slanted ? "middle" : "top"
      ctx.fillText(box.slanted ? cut(ctx, text, 110) : text, 0, box.slanted ? 5 : 0)
      ctx.restore()
    }
    ctx.globalAlpha = 1
    ctx.font = pen("600 14px")
    ctx.textBaseline = "top"; ctx.textAlign = "right"
    ctx.fillText(cut(ctx, data.x.label, w - 24) + (data.x.levels.length ? "" : " →"), left + w, b + box.foot + 8)
    ctx.textAlign = "left"
    const named = data.y && data.held ? box.width * 0.42 : box.width - 40
    if (data.y) ctx.fillText((data.y.levels.length ? "" : "↑ ") + cut(ctx, data.y.label, named), 0, 2)
    if (data.y && data.held) {            // what the regions make of the features that are not on the axes
      ctx.font = pen("13px"); ctx.textAlign = "right"
      ctx.fillText(cut(ctx, data.held, box.width * 0.54), left + w, 3)
    }
    drawPoints(ctx)
  }
  const tick = (ctx, x0, y0, x1, y1) => { ctx.beginPath(); ctx.moveTo(x0, y0); ctx.lineTo(x1, y1); ctx.stroke() }

  const pointAt = i => ({ x: scene.points.x[i], y: scene.points.y[i] })
  const drawn = i => scene.points.x[i] !== null && scene.points.y[i] !== null
  const radius = () => clamp(6.2 - Math.log10(Math.max(scene.points.x.length, 1) / 40) * 1.6, 2.8, 6.2)

  function drawPoints(ctx) {
    if (!scene.points) { dots = []; return }
    const { truth } = scene.points, r = radius(), ringed = new Set(wrong), pale = new Set(data.faded)
    const strength = clamp(Math.sqrt(MANY / truth.length), 0.22, 1)   // many points must not hide the regions
    ctx.save()
    const rim = r + 6                   // with its ring a point may reach over the picture's edge
    ctx.beginPath(); ctx.rect(box.left - rim, box.top - rim, box.w + 2 * rim, box.h + 2 * rim); ctx.clip()
    ctx.lineJoin = "round"
    dots = [...truth.keys()].filter(drawn).map(i => pixelOf(pointAt(i)))
    const shapes = data.classes.map((_, k) => pathOf(glyphOf(k)))
    const nameless = pathOf(GLYPHS[0])
    for (const late of [false, true]) for (let i = 0; i < truth.length; i++) {
      if (ringed.has(i) !== late || !drawn(i)) continue
      const [px, py] = pixelOf(pointAt(i)), known = truth[i] >= 0
      ctx.save()
      ctx.translate(px, py)
      ctx.globalAlpha = strength * (pale.has(i) ? FADED : 1)
      if (late) {
        ctx.beginPath(); ctx.arc(0, 0, r + 3.6, 0, 7)
        ctx.strokeStyle = theme.groundCss; ctx.lineWidth = 4; ctx.stroke()
        ctx.strokeStyle = theme.inkCss; ctx.lineWidth = 1.8; ctx.stroke()
      }
      ctx.scale(r, r)
      const shape = known ? shapes[truth[i]] : nameless
      ctx.strokeStyle = theme.groundCss; ctx.lineWidth = 3 / r; ctx.stroke(shape)
      ctx.fillStyle = known ? theme.colour(data.classes[truth[i]]) : theme.greyCss
      ctx.fill(shape)
      ctx.restore()
    }
    ctx.restore()
  }

  function drawLegend() {
    const { words } = data, groups = []
    const entry = (list, drawing, text) => {
      const item = make("li", "", list)
      item.append(drawing)
      make("span", "", item, text)
    }
    const group = name => {
      const list = make("ul", "", null)
      make("li", "what", list, name)
      groups.push(list)
      return list
    }
    const decisions = group(words.decision)
    data.actions.forEach((action, i) => entry(decisions, swatch(theme.shades[i]), action.label))
    if (scene.gone.some(Boolean)) entry(decisions, swatch(theme.shades[data.actions.length]), words.nowhere)
    if (scene.points) {
      const truths = group(words.truth)
      data.classes.forEach((label, k) => entry(truths, glyph(glyphOf(k), theme.colour(label)), label.label))
      if (scene.points.truth.some(k => k < 0)) entry(truths, glyph(GLYPHS[0], theme.greyCss), words.unknown)
      if (wrong.length) entry(truths, glyph("", "", true), words.wrong)
      if (data.faded.length && words.faded) entry(truths, glyph(GLYPHS[0], theme.greyCss, false, FADED), words.faded)
    }
    legend.replaceChildren(...groups)
  }

  function swatch(shade) {            // a piece of the region itself, from sure to toss-up
    const canvas = make("canvas", "", null), { ratio } = box
    canvas.width = Math.round(30 * ratio); canvas.height = Math.round(14 * ratio)
    Object.assign(canvas.style, { width: "30px", height: "14px", borderRadius: "3px", flex: "none" })
    const ctx = canvas.getContext("2d"), piece = ctx.createImageData(canvas.width, canvas.height)
    const pixels = new Uint32Array(piece.data.buffer)
    for (let i = 0; i < pixels.length; i++) {
      const px = i % canvas.width, py = Math.floor(i / canvas.width)
      const level = Math.round((1 - px / canvas.width) * (SHADES - 1))
      pixels[i] = shade.table[(shade.lean ? box.hatch[(px + shade.lean * py) % box.hatch.length] * SHADES : 0) + level]
    }
    ctx.putImageData(piece, 0, 0)
    if (!onPaper()) return canvas
    const drawn = shape("svg", "", null)
    set(drawn, { viewBox: `0 0 ${canvas.width} ${canvas.height}`, width: 30, height: 14 })
    rectangles(piece, drawn)
    return drawn
  }

  function glyph(path, colour, ring = false, opacity = 1) {
    const svg = shape("svg")
    set(svg, { viewBox: "-1.3 -1.3 2.6 2.6", width: 15, height: 15, opacity })
    if (ring) set(shape("circle", "", svg), { r: 1.1, fill: "none", stroke: theme.inkCss, "stroke-width": 0.3 })
    else set(shape("path", "", svg), { d: path, fill: colour })
    return svg
  }

  // -- the case

  function interpolated({ x, y }) {     // P(c|x), interpolated as the regions are; null where there is none
    const { W, H, K, logs, gone } = grid
    const cell = (side, v, n) => {
      if (side.levels.length || n === 1) return [clamp(Math.round(v), 0, n - 1), clamp(Math.round(v), 0, n - 1), 0]
      const u = fractionOf(side, v) * n - 0.5, low = clamp(Math.floor(u), 0, n - 2)
      return [low, low + 1, u - low]
    }
    const [i, k, tx] = cell(data.x, x, W), [j, l, ty] = cell(sideY(), y, H)
    if (gone[(ty < 0.5 ? j : l) * W + (tx < 0.5 ? i : k)]) return null
    const log = Array.from({ length: K }, (_, c) => {
      const value = (r, s) => logs[(r * W + s) * K + c]
      const west = value(j, i) + (value(l, i) - value(j, i)) * ty, east = value(j, k) + (value(l, k) - value(j, k)) * ty
      return west + (east - west) * tx
    })
    const p = new Float64Array(K)
    posteriorAt(p, log, 0, K, [])
    return [...p]
  }

  function placeCase() {
    for (const part of [handle, readout, up, across]) part.hidden = !at
    const n = scene.points?.x.length ?? 0
    set(field, { role: "group", "aria-label": data.label })
    set(marks, { tabindex: n ? 0 : -1, role: n ? "application" : "img", "aria-label": n ? fill(data.words.points, { n }) : data.label })
    host.dataset.case = at ? `${at.x},${at.y}` : ""
    if (!at) return
    const { shift } = inUse(), here = interpolated(at)
    const exact = at.exact?.length ? atPrior(at.exact, at.exact.map((_, j) => (shift[j] ?? 0) - (at.shift[j] ?? 0))) : null
    // where the regions go by the axes alone, what the whole case comes to is the server's to say
    const awaited = data.alone && !at.exact, p = exact ?? (data.alone ? null : here)
    const read = p => !p ? data.words.nowhere : fill(data.words.readout, {
      class: data.classes[p.indexOf(Math.max(...p))].label, p: shareOf(Math.max(...p)), action: data.actions[rule.decide(p)].label,
    })
    const alone = data.alone ? fill(data.alone, { reading: read(here) }) : ""
    const chosen = p ? rule.decide(p) : -1, verdict = awaited ? alone : read(p)
    const where = data.x.label + " " + numberOn(data.x, at.x) + (data.y ? " · " + data.y.label + " " + numberOn(data.y, at.y) : "")
    host.dataset.decision = chosen < 0 ? "" : data.actions[chosen].label
    host.dataset.posterior = p ? p.map(v => v.toFixed(6)).join(",") : ""
    host.posterior = p                  // to its last digit, for whoever draws it without the app
    const [px, py] = pixelOf(at), ink = p ? theme.colour(data.actions[chosen]) : theme.inkCss
    handle.style.setProperty("--ink", ink); readout.style.setProperty("--ink", ink)
    handle.style.left = px + "px"; handle.style.top = py + "px"
    Object.assign(up.style, { left: px + "px", top: py + "px", height: box.top + box.h - py + "px" })
    Object.assign(across.style, { left: box.left + "px", top: py + "px", width: px - box.left + "px" })
    across.hidden = !data.y
    readout.replaceChildren()
    make("div", "head", readout, verdict)
    if (alone && !awaited) make("div", "alone", readout, alone)
    make("div", "body", readout, (data.case.label ? data.case.label + " · " : "") + where)
    beside(readout, px, py, 22)
    const spoken = `${data.case.label}: ${where}. ${verdict}`
    const [low, high] = data.x.levels.length ? [0, data.x.levels.length - 1] : [data.x.low, data.x.high]
    set(handle, {
      "aria-label": data.case.label || data.label, "aria-roledescription": data.words.case,
      "aria-valuemin": low, "aria-valuemax": high, "aria-valuenow": at.x, "aria-valuetext": spoken,
    })
    if (chosen !== lastAction) { if (lastAction !== -1) quiet.textContent = verdict; lastAction = chosen }
  }

  // Around the place, where it covers no point; where there is none such, under the picture, or for a moment (a `brief`
  // card) where it covers the fewest.
  function beside(card, px, py, distance, brief = false) {
    const w = card.offsetWidth, h = card.offsetHeight, least = brief ? 0 : box.left, places = []
    for (const far of FURTHER) for (const [across, down] of AROUND) {
      const x = px + across * (w / 2 + far * distance) - w / 2, y = py + down * (h / 2 + far * distance) - h / 2
      const left = across ? x : clamp(x, least, Math.max(box.width - w, least))
      if (left < least || left + w > box.width || y < box.top || y + h > box.top + box.h) continue   // nor what names the axes
      const covered = dots.filter(([u, v]) => u > left - NEAR && u < left + w + NEAR && v > y - NEAR && v < y + h + NEAR)
      places.push({ left, top: y, covered: covered.length })
    }
    const best = places.find(place => !place.covered) ?? places.sort((a, b) => a.covered - b.covered)[0]
    const under = !brief && !(best?.covered === 0 && !(drag && docked))   // while it is dragged it stays there
    const { left, top } = under || !best ? { left: 0, top: box.height + 8 } : best
    Object.assign(card.style, { left: left + "px", top: top + "px" })
    if (!brief) { docked = under; field.style.height = box.height + (under ? h + 12 : 0) + "px" }
  }

  function move(place) {
    if (place.x === at.x && place.y === at.y) return
    at = { ...place, exact: null }
    placeCase()
    send()
  }
  function send(now = false) {        // at most every 150 ms; the last move is always sent
    waiting = at
    const rest = now ? 0 : sentAt + SEND_EVERY - performance.now()
    if (rest > 0) { timer ||= setTimeout(deliver, rest) } else deliver()
  }
  function deliver() {
    clearTimeout(timer); timer = 0
    if (!waiting) return
    sentAt = performance.now()
    sendEdit("moved", { x: waiting.x, y: waiting.y })
    waiting = null
  }

  for (const name of ["pointerenter", "pointerleave", "focus", "blur"]) on(handle, name, () => redraw("case"))   // the card grows

  const local = (event, frame = field.getBoundingClientRect()) => [(event.clientX - frame.left) / zoomOf(field), (event.clientY - frame.top) / zoomOf(field)]
  on(handle, "pointerdown", event => {
    if (event.button) return
    handle.setPointerCapture(event.pointerId)
    const frame = field.getBoundingClientRect(), [px, py] = local(event, frame), [cx, cy] = pixelOf(at)
    drag = { frame, dx: cx - px, dy: cy - py }   // what moves the page meanwhile moves no case
  })
  on(handle, "pointermove", event => {
    if (!drag) return
    const [px, py] = local(event, drag.frame)
    move(placeOf(px + drag.dx, py + drag.dy))
  })
  const release = () => {
    if (!drag) return
    drag = null
    if (waiting) deliver()
  }
  on(handle, "pointerup", release); on(handle, "pointercancel", release)
  on(handle, "keydown", event => {
    const way = arrow(event)
    if (!way) return
    const step = (side, v, sign) => sign === 0 ? v
      : placeOn(side, v + sign * (side.levels.length ? 1 : (side.high - side.low) * (event.shiftKey ? 0.05 : 0.01)))
    move({ x: step(data.x, at.x, way[0]), y: step(sideY(), at.y, bands().length ? -way[1] : way[1]) })
  })

  // -- the points: hover, click, keys

  function hit(px, py) {
    if (!scene?.points) return -1
    let found = -1, least = (radius() + 5) ** 2
    for (let i = 0; i < scene.points.x.length; i++) {
      if (!drawn(i)) continue
      const [x, y] = pixelOf(pointAt(i)), d = (x - px) ** 2 + (y - py) ** 2
      if (d < least) { least = d; found = i }
    }
    return found
  }
  function show(i) {
    if (i === hovered) return
    hovered = i
    marks.style.cursor = i >= 0 ? "pointer" : at ? "crosshair" : "default"
    tip.replaceChildren()
    spot.hidden = i < 0
    if (i < 0) return
    const [head, ...body] = scene.points.text[i].split("\n")
    make("div", "head", tip, head)
    if (body.length) make("div", "body", tip, body.join("\n"))
    const [px, py] = pixelOf(pointAt(i))
    Object.assign(spot.style, { left: px + "px", top: py + "px" })
    beside(tip, px, py, 14, true)
  }
  on(marks, "pointermove", event => { if (scene && box) show(hit(...local(event))) })
  on(marks, "pointerleave", () => show(-1))
  on(marks, "blur", () => show(-1))
  on(marks, "click", event => {
    const [px, py] = local(event), i = hit(px, py)
    const inside = px >= box.left && px <= box.left + box.w && py >= box.top && py <= box.top + box.h
    if (i >= 0) { show(i); sendEdit("picked", { row: scene.points.row[i] }) }
    else if (at && inside) move(placeOf(px, py))
  })
  on(marks, "keydown", event => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: 1, ArrowDown: -1 }[event.key]
    if (step && scene?.points) {
      event.preventDefault()
      const { x } = scene.points, path = [...x.keys()].filter(drawn).sort((a, b) => x[a] - x[b])
      const k = path.indexOf(hovered)
      show(path[(k < 0 ? (step > 0 ? 0 : -1) : k + step + path.length) % path.length] ?? path.at(-1))
      quiet.textContent = scene.points.text[hovered].replaceAll("\n", ", ")
    } else if (event.key === "Enter" && hovered >= 0) sendEdit("picked", { row: scene.points.row[hovered] })
    else if (event.key === "Escape") show(-1)
  })

  return {
    update,
    destroy() { end(); if (waiting) deliver() },
  }
}
