// What the drawings share: this stands before the script of each. Words from data reach the page through textContent only.
// No empty <i> stands for a dot or a bar: a browser may fetch the italic font for it.

const make = (tag, className, parent, text) => {
  const element = document.createElement(tag)
  if (className) element.className = className
  if (tag === "button") element.type = "button"
  if (text !== undefined) element.textContent = text
  parent?.append(element)
  return element
}
const shape = (tag, className, parent) => {   // the same in SVG
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag)
  if (className) element.setAttribute("class", className)
  parent?.append(element)
  return element
}
const set = (element, looks) => { for (const [name, value] of Object.entries(looks)) element.setAttribute(name, value) }
const write = (element, text) => { if (element.textContent !== text) element.textContent = text }
const mix = (a, b, t) => a.map((v, i) => v + (b[i] - v) * t)
const inked = (element, colours) => colours.forEach((colour, dark) => element.style.setProperty(dark ? "--dark" : "--light", colour))
const clipped = (text, room, widthOf) => {        // as much of a text as there is room for
  if (widthOf(text) <= room) return text
  const signs = [...text]
  while (signs.length > 1 && widthOf(signs.join("") + "…") > room) signs.pop()
  return signs.join("") + "…"
}
const zoomOf = element => element.currentCSSZoom ?? 1   // how much larger than its own pixels it is on screen
const clamp = (v, low, high) => Math.min(Math.max(v, low), high)
const fill = (template, values) => template.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all)
// What Streamlit calls at every run: `create(element)` draws at the first, what it returns is told of the others and of the end.
const drawnBy = create => component => {
  const root = component.parentElement
  const show = () => {
    root.drawn ??= create(root.querySelector("[data-testid]"))
    root.drawn.update(component)
  }
  return called(root, show, () => { root.drawn?.destroy(); delete root.drawn })
}
// What Streamlit calls when the heavy part of a drawing has come (packed in component.py): it is `kept` under its key, with
// what `read(body, head)` makes of its body, and the light part hears the event `told`.
const received = (kept, told, size, read) => ({ data, parentElement }) => {
  const start = size + new DataView(data.buffer, data.byteOffset).getUint32(0, true)
  const head = JSON.parse(new TextDecoder().decode(data.subarray(size, start))), scene = { ...head, ...read(data.slice(start), head) }
  const show = () => {
    kept.set(head.key, scene)
    window.dispatchEvent(new CustomEvent(told, { detail: head.key }))
  }
  return called(parentElement, show, () => { if (kept.get(head.key) === scene) kept.delete(head.key) })
}
const known = new Map()
const rgbOf = colour => {             // any CSS colour as [r, g, b]
  if (!known.has(colour)) {
    const pen = document.createElement("canvas").getContext("2d")
    pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1)
    known.set(colour, [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)])
  }
  return known.get(colour)
}
const isDark = ([r, g, b]) => r * 0.3 + g * 0.59 + b * 0.11 < 128
const GLYPHS = [                      // one shape a class, of equal weight, in a box of -1..1
  "M-.9 0A.9 .9 0 1 0 .9 0A.9 .9 0 1 0-.9 0Z", "M-.8-.8H.8V.8H-.8Z", "M0-1.05L1.02 .75H-1.02Z", "M0-1.12L1.12 0L0 1.12L-1.12 0Z",
  "M0 1.05L1.02-.75H-1.02Z", "M-.36-1H.36V-.36H1V.36H.36V1H-.36V.36H-1V-.36H-.36Z",
  "M0-1L.95-.31L.59 .81H-.59L-.95-.31Z", "M0-1.15L.3-.4L1.1-.36L.48 .15L.68 .93L0 .5L-.68 .93L-.48 .15L-1.1-.36L-.3-.4Z",
]
// After a round of colours the shapes move on by one, so no two of the first 64 classes look the same.
const glyphOf = k => GLYPHS[(k + Math.floor(k / 8)) % GLYPHS.length]

function ticksOf(low, high, count) {  // round numbers, about `count` of them
  const rough = (high - low) / Math.max(count, 1), power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough * 0.999)
  const digits = clamp(-Math.floor(Math.log10(step) + 1e-9), 0, 12), list = []
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    const v = i * step
    const text = Math.abs(v) >= 1e6 || step < 1e-6 ? v.toExponential(2).replace(/\.?0+e/, "e") : v.toFixed(digits)
    list.push([v, text.replace(/-/g, "−")])
  }
  return list
}
