// A path of SVG for canvases, which paper can have as well.
const pathOf = d => Object.assign(new Path2D(d), { d })

// The pen of a canvas on paper: what is drawn with it stands in an SVG over the canvas; pixels stay on the canvas.
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
  isPaint(paint) { return typeof paint === "string" }   // what is no colour is a pattern: its pixels stay on the canvas
  stroke(path) { this.put("path", { d: path?.d ?? this.d, ...this.outline() }) }
  fill(path, rule) {
    if (!this.isPaint(this.fillStyle)) { this.below(pen => path?.d ? pen.fill(path) : pen.fill(new Path2D(this.d))); return }
    this.put("path", { d: path?.d ?? this.d, fill: this.fillStyle, "fill-rule": (typeof path === "string" ? path : rule) ?? "nonzero" })
  }
  fillRect(x, y, w, h) {
    if (this.isPaint(this.fillStyle)) this.put("path", { d: `M${x} ${y}h${w}v${h}h${-w}Z`, fill: this.fillStyle })
    else this.below(pen => pen.fillRect(x, y, w, h))
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
  below(act) {
    const { under, ratio, matrix: [a, b, c, d, e, f] } = this
    under.save()
    under.setTransform(a * ratio, b * ratio, c * ratio, d * ratio, e * ratio, f * ratio)
    under.globalAlpha = this.globalAlpha; under.fillStyle = this.fillStyle
    act(under)
    under.restore()
  }
  drawImage(...given) { this.below(pen => { pen.imageSmoothingEnabled = this.imageSmoothingEnabled ?? true; pen.drawImage(...given) }) }
  putImageData(...given) { this.under.putImageData(...given) }
  createImageData(...given) { return this.under.createImageData(...given) }
  getImageData(...given) { return this.under.getImageData(...given) }
  createPattern(...given) { return this.under.createPattern(...given) }
  createLinearGradient(...given) { return this.under.createLinearGradient(...given) }
  createRadialGradient(...given) { return this.under.createRadialGradient(...given) }
}
