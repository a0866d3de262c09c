// What the drawings of Streamlit and of Plotly have as pixels, as vectors on paper: a picture in a figure, and a table. Both
// are made beforehand or at once, and shown in print alone (printed.py).
export default function ({ data }) {
  if (globalThis.bayesPrinted) return
  globalThis.bayesPrinted = true

  async function traced(image) {        // a heat map: decoding it takes a moment, so it is traced when it is drawn
    const href = image.getAttribute("href") ?? image.getAttribute("xlink:href") ?? ""
    if (image.traced === href || !href.startsWith("data:image/")) return
    image.traced = href
    const at = name => image.getAttribute(name) ?? 0, wide = Math.round(at("width")), high = Math.round(at("height"))
    await image.decode().catch(() => {})
    if (!(wide > 0 && high > 0) || image.traced !== href) return
    const canvas = document.createElement("canvas")
    canvas.width = wide; canvas.height = high
    const pen = canvas.getContext("2d")
    pen.imageSmoothingEnabled = false
    pen.drawImage(image, 0, 0, wide, high)
    image.onPaper?.remove()
    const sheet = image.onPaper = shape("svg", "traced", null)
    set(sheet, { x: at("x"), y: at("y"), width: at("width"), height: at("height"), viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: "none", "aria-hidden": "true" })
    sheet.style.opacity = getComputedStyle(image).opacity
    rectangles(pen.getImageData(0, 0, wide, high), sheet)
    image.after(sheet)
  }
  let asked = 0, printing = false
  const look = () => { asked = 0; if (printing) written(); for (const image of document.querySelectorAll(".js-plotly-plot image")) traced(image) }
  const soon = () => { asked ||= setTimeout(look, 200) }
  new MutationObserver(soon).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["href", "xlink:href"] })
  soon()

  // A table is drawn on a canvas; what it says stands in it for screen readers, as far as it is scrolled into view.
  const turn = to => {
    if (printing === to) return
    printing = to
    for (const old of document.querySelectorAll(".paper-table")) old.remove()
    if (to) written()
  }
  const written = () => {
    for (const frame of document.querySelectorAll(data.frames)) {
      const said = frame.querySelector("canvas table")
      if (!said || frame.nextElementSibling?.matches(".paper-table")) continue
      const table = make("table", "paper-table", null)
      for (const row of said.rows) {
        const line = make("tr", "", table)
        for (const cell of row.cells) make(cell.tagName === "TH" ? "th" : "td", /^[−+-]?[\d.,]+%?$/.test(cell.textContent.trim()) ? "number" : "", line, cell.textContent)
      }
      frame.after(table)
    }
  }
  const print = matchMedia("print")
  turn(print.matches)
  print.addEventListener("change", ({ matches }) => turn(matches))
  window.addEventListener("beforeprint", () => turn(true))
  window.addEventListener("afterprint", () => turn(print.matches))
}
