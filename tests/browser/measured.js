// What is written where on screen: its size in pixels, zoomed and scaled as it is, and its contrast on what is behind it.
// Left out are marks that are dragged, which are drawn on a canvas, and texts on the points of a chart, which
// tests/unit/test_legible.py has.
() => {
  const lum = ([r, g, b]) => { const f = [r, g, b].map(v => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 }); return .2126 * f[0] + .7152 * f[1] + .0722 * f[2] }
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true })
  const rgba = colour => { pen.clearRect(0, 0, 1, 1); pen.fillStyle = "#000"; pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); const d = pen.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255] }
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]))
  const parentOf = e => e.parentElement ?? e.getRootNode().host
  const found = []
  const roots = [document.querySelector("[data-testid='stApp']")]
  for (let i = 0; i < roots.length; i++)
    for (const e of roots[i].querySelectorAll("*")) {
      if (e.shadowRoot) roots.push(e.shadowRoot)
      const own = [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent).join("").replace(/\u2060/g, "").trim()
      if (!own || e.matches("style, script, annotation, option, [data-testid='stIconMaterial']") || e.closest("annotation, .katex-mathml, #skeleton, [role=slider], [data-testid='stSkipToContent']")) continue
      if (!e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue
      const range = document.createRange(); range.selectNodeContents(e)
      const box = range.getBoundingClientRect()
      if (box.width < 2 || box.height < 2 || box.right < 0 || box.bottom < 0) continue
      const style = getComputedStyle(e)
      if (style.clipPath !== "none" || [...function*() { for (let p = e; p; p = parentOf(p)) yield p }()].some(p => getComputedStyle(p).clipPath.startsWith("inset(50"))) continue
      let size = parseFloat(style.fontSize)
      if (e instanceof SVGElement && e.getScreenCTM) { const m = e.getScreenCTM(); size *= Math.hypot(m.c, m.d) ; if (m.d / (e.ownerSVGElement?.getScreenCTM()?.d || 1) >= 0 && Math.abs(e.ownerSVGElement.getScreenCTM().d - 1) < .01) size *= e.currentCSSZoom ?? 1 }
      else size *= e.currentCSSZoom ?? 1
      let scrolls = false   // within a box of its own
      for (let p = parentOf(e); p && !p.matches("[data-testid='stMain']"); p = parentOf(p))
        scrolls ||= /auto|scroll/.test(getComputedStyle(p).overflowX) && p.scrollWidth > p.clientWidth + 1
      let opacity = 1, ground = null
      const layers = []
      for (let p = e; p; p = parentOf(p)) {
        const s = getComputedStyle(p)
        opacity *= parseFloat(s.opacity)
        const c = rgba(s.backgroundColor)
        if (c[3] > 0) { layers.push(c); if (c[3] === 1) break }
      }
      if (e instanceof SVGElement && !e.closest('.main-svg')) {
        const at = [box.left + box.width / 2, box.top + box.height / 2]
        for (const shape of e.ownerSVGElement?.querySelectorAll("rect, path, circle, ellipse, polygon") ?? []) {
          if (!(shape.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING)) break
          const s = getComputedStyle(shape), b = shape.getBoundingClientRect()
          if (s.fill === "none" || b.left > at[0] || b.right < at[0] || b.top > at[1] || b.bottom < at[1]) continue
          const c = rgba(s.fill); c[3] *= parseFloat(s.fillOpacity)
          for (let p = shape; p && p !== e.ownerSVGElement; p = p.parentElement) c[3] *= parseFloat(getComputedStyle(p).opacity)
          if (c[3] > 0 && s.visibility === "visible" && b.width >= box.width - 2 && b.height >= box.height - 8) { if (c[3] === 1) layers.length = 0; layers.unshift(c) }
        }
      }
      let below = [255, 255, 255]
      for (const c of layers.reverse()) below = over(c, below)
      const ink = rgba(e instanceof SVGElement ? style.fill : style.color)
      ink[3] *= opacity
      const text = over(ink, below), [a, b] = [lum(text), lum(below)].sort((x, y) => y - x)
      found.push({ text: own.slice(0, 40), size: Math.round(size * 100) / 100, ratio: e.closest(".textpoint") ? 21 : Math.round((a + .05) / (b + .05) * 100) / 100, right: scrolls ? 0 : box.right, left: scrolls ? 0 : box.left, wide: innerWidth })
    }
  return found
}
