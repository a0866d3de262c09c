// A path of SVG for canvases, which paper can have as well.
const pathOf = d => Object.assign(new Path2D(d), { d })

// Pixels as vectors: equal neighbours are one rectangle, and all of one colour, of 32 steps a channel, are one path.
const shade = v => v >>> 24 < 8 ? -1 : (v >>> 28) << 15 | (v >>> 19 & 31) << 10 | (v >>> 11 & 31) << 5 | v >>> 3 & 31
function rectangles({ data, width, height }, parent) {
  const pixels = new Uint32Array(data.buffer, data.byteOffset, width * height), paths = new Map(), inks = new Map()
  const close = ({ ink, x, y, w }, to) => {
    const over = inks.get(ink) >>> 24 === 255 ? 0.4 : 0   // else a hair of paper stands between two of them
    paths.set(ink, (paths.get(ink) ?? "") + `M${x} ${y}h${w + over}v${to - y + over}H${x}z`)
  }
  let open = new Map()
  for (let y = 0, at = 0; y < height; y++) {
    const next = new Map()
    for (let x = 0; x < width;) {
      const first = pixels[at], ink = shade(first), from = x
      do { x++; at++ } while (x < width && (pixels[at] === first || shade(pixels[at]) === ink))
      if (ink < 0) continue
      if (!inks.has(ink)) inks.set(ink, first)
      const above = open.get(from), goes = above?.ink === ink && above.w === x - from
      next.set(from, goes ? above : { ink, x: from, y, w: x - from })
      if (goes) open.delete(from)
    }
    for (const one of open.values()) close(one, y)
    open = next
  }
  for (const one of open.values()) close(one, height)
  for (const [ink, d] of paths) {
    const v = inks.get(ink), path = shape("path", "", parent), fill = `rgb(${v & 255},${v >> 8 & 255},${v >> 16 & 255})`
    set(path, { d, fill, "fill-opacity": (v >>> 24) / 255, "shape-rendering": "crispEdges" })
    path.style.fill = fill
  }
}

// The pen of a canvas on paper: what is drawn with it stands in an SVG in the canvas's place.
const STATE = {
  fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "13px sans-serif", textAlign: "start",
  textBaseline: "alphabetic", lineJoin: "miter", lineCap: "butt", dash: [], matrix: [1, 0, 0, 1, 0, 0], within: null,
}
const BASELINES = { top: "text-before-edge", hanging: "hanging", middle: "central", bottom: "text-after-edge", alphabetic: "alphabetic" }
const ANCHORS = { left: "start", start: "start", center: "middle", right: "end", end: "end" }
class PaperPen {
  constructor(svg, under, ratio) { Object.assign(this, STATE, { svg, under, ratio, d: "", last: [0, 0, 0, 0], kept: [] }) }
  get canvas() { return this.under.canvas }
  save() { this.kept.push(Object.fromEntries(Object.keys(STATE).map(name => [name, this[name]]))) }
  restore() { Object.assign(this, this.kept.pop()) }
  transform(a, b, c, d, e, f) {
    const [A, B, C, D, E, F] = this.matrix
    this.matrix = [A * a + C * b, B * a + D * b, A * c + C * d, B * c + D * d, A * e + C * f + E, B * e + D * f + F]
  }
  translate(x, y) { this.transform(1, 0, 0, 1, x, y) }
  scale(x, y) { this.transform(x, 0, 0, y, 0, 0) }
  rotate(t) { this.transform(Math.cos(t), Math.sin(t), -Math.sin(t), Math.cos(t), 0, 0) }
  setTransform(...m) { this.matrix = (m.length ? m : [this.ratio, 0, 0, this.ratio, 0, 0]).map(v => v / this.ratio) }
  setLineDash(dash) { this.dash = dash }
  beginPath() { this.d = "" }
  moveTo(x, y) { this.d += `M${x} ${y}` }
  lineTo(x, y) { this.d += `${this.d ? "L" : "M"}${x} ${y}` }
  quadraticCurveTo(...v) { this.d += "Q" + v.join(" ") }
  bezierCurveTo(...v) { this.d += "C" + v.join(" ") }
  closePath() { this.d += "Z" }
  rect(x, y, w, h) { this.last = [x, y, w, h]; this.d += `M${x} ${y}h${w}v${h}h${-w}Z` }
  roundRect(x, y, w, h) { this.rect(x, y, w, h) }
  arc(x, y, r, from, to, back) { this.ellipse(x, y, r, r, 0, from, to, back) }
  ellipse(x, y, rx, ry, turn, from, to, back = false) {
    const whole = Math.abs(to - from) >= 2 * Math.PI - 1e-9, end = whole ? from + (back ? -1 : 1) * Math.PI : to
    const at = t => {
      const u = rx * Math.cos(t), v = ry * Math.sin(t)
      return `${x + u * Math.cos(turn) - v * Math.sin(turn)} ${y + u * Math.sin(turn) + v * Math.cos(turn)}`
    }
    const way = `A${rx} ${ry} ${turn * 180 / Math.PI} ${!whole && Math.abs(to - from) > Math.PI ? 1 : 0} ${back ? 0 : 1} `
    this.d += `${this.d ? "L" : "M"}${at(from)}${way}${at(end)}` + (whole ? way + at(from) + "Z" : "")
  }
  put(tag, looks) {
    const element = shape(tag, "", this.within ?? this.svg)
    set(element, { ...looks, transform: `matrix(${this.matrix})`, opacity: this.globalAlpha })
    Object.assign(element.style, { fill: looks.fill, stroke: looks.stroke })   // above the rules of a style sheet
    return element
  }
  outline() {
    return { fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-linejoin": this.lineJoin,
      "stroke-linecap": this.lineCap, "stroke-dasharray": this.dash.join(" ") }
  }
  stroke(path) { this.put("path", { d: path?.d ?? this.d, ...this.outline() }) }
  fill(path, rule) {
    this.put("path", { d: path?.d ?? this.d, fill: this.fillStyle, "fill-rule": (typeof path === "string" ? path : rule) ?? "nonzero" })
  }
  fillRect(x, y, w, h) {
    this.put("path", { d: `M${x} ${y}h${w}v${h}h${-w}Z`, fill: this.fillStyle })
  }
  strokeRect(x, y, w, h) { this.put("path", { d: `M${x} ${y}h${w}v${h}h${-w}Z`, ...this.outline() }) }
  clearRect() {}
  clip() {                            // to the rectangle drawn last: a window in the paper
    const [a, , , d, e, f] = this.matrix, [x, y, w, h] = this.last, at = [x * a + e, y * d + f, w * a, h * d]
    this.within = shape("svg", "", this.within ?? this.svg)
    set(this.within, { x: at[0], y: at[1], width: at[2], height: at[3], viewBox: at.join(" ") })
    this.within.style.overflow = "hidden"
  }
  text(words, x, y, looks) {
    const element = this.put("text", { x, y, "text-anchor": ANCHORS[this.textAlign], "dominant-baseline": BASELINES[this.textBaseline], ...looks })
    element.style.font = this.font
    element.textContent = words
  }
  fillText(words, x, y) { this.text(words, x, y, { fill: this.fillStyle }) }
  strokeText(words, x, y) { this.text(words, x, y, this.outline()) }
  measureText(words) { this.under.font = this.font; return this.under.measureText(words) }
  drawImage(image, x, y, wide = image.width, high = image.height) {
    const { width, height } = image, group = this.put("g", {})
    set(group, { transform: `matrix(${this.matrix}) translate(${x} ${y}) scale(${wide / width} ${high / height})` })
    rectangles(image.getContext("2d").getImageData(0, 0, width, height), group)
  }
  putImageData(image, x, y) {           // wherever the pen is, in pixels of the canvas
    const group = shape("g", "", this.svg)
    set(group, { transform: `scale(${1 / this.ratio}) translate(${x} ${y})` })
    rectangles(image, group)
  }
  createImageData(...given) { return this.under.createImageData(...given) }
}
