// What a drawing has from the page it stands on: listeners that go with it, the theme, its width, sharp canvases; and the
// numbers under which the server hears of what a person does in it (component.py).

// The way that an arrow key goes, right and up being positive; nothing of any other key.
function arrow(event) {
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key]
  if (way) event.preventDefault()
  return way
}

// What a person did stands over older answers until its own has come, or until it is taken for lost with the connection.
// A server with a class of sixty may need many seconds.
const ANSWER_WITHIN = 20000           // ms

// `draw(parts)` is called once a frame with the Set of what `redraw` was told. "stage" is among them where the theme, the
// width, the fonts ("fonts" as well) or the screen's pixels have changed. Where there is no room it is called once there is.
function stage(host, draw) {
  host.replaceChildren()
  const probe = make("span", "", host)  // its colours say when the theme's variables have changed
  probe.style.cssText = "position: absolute; width: 0; height: 0; color: var(--st-text-color); "
    + "background: var(--st-background-color); transition: color 1ms, background-color 1ms"
  const listeners = new AbortController(), { signal } = listeners
  const on = (target, name, act, options) => target.addEventListener(name, act, { ...options, signal })
  let parts = new Set(), frame = 0, width = 0, fire, seen = 0, sent = 0, sentAt = -Infinity

  const redraw = (...wanted) => {
    wanted.forEach(part => parts.add(part))
    frame ||= requestAnimationFrame(() => {
      frame = 0
      if (!host.clientWidth) return
      const now = parts
      parts = new Set()
      draw(now)
    })
  }
  const watcher = new ResizeObserver(() => {
    if (host.clientWidth !== width) { width = host.clientWidth; redraw("stage") }
  })
  watcher.observe(host)
  on(probe, "transitionend", () => redraw("stage"))
  on(document.fonts, "loadingdone", () => redraw("stage", "fonts"))   // also of a font that is first asked for later
  const moved = () => {                 // to another screen, or closer
    on(matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`), "change", () => { moved(); redraw("stage") }, { once: true })
  }
  moved()

  // On paper all of it is drawn anew at once, on white and as vectors; and again as it was.
  let onPaper = matchMedia("print").matches
  const turn = to => {
    if (onPaper === to) return
    onPaper = to
    if (!to) {
      for (const sheet of host.querySelectorAll(".on-paper")) sheet.remove()
      for (const canvas of host.querySelectorAll("canvas")) canvas.style.visibility = ""
    }
    if (host.clientWidth) draw(new Set(["stage"]))
  }
  on(matchMedia("print"), "change", event => turn(event.matches))
  on(window, "beforeprint", () => turn(true))
  on(window, "afterprint", () => turn(matchMedia("print").matches))
  const ratioNow = () => onPaper ? Math.max(3, window.devicePixelRatio || 1) : window.devicePixelRatio || 1

  function theme() {
    const { color, backgroundColor } = onPaper ? { color: "#1c1b1a", backgroundColor: "#fff" } : getComputedStyle(probe), ink = rgbOf(color), ground = rgbOf(backgroundColor)
    const dark = isDark(ground)
    host.classList.toggle("dark", dark)
    return {
      dark, ink, ground, inkCss: `rgb(${ink})`, groundCss: `rgb(${ground})`, font: getComputedStyle(host).fontFamily,
      colour: entry => dark ? entry.dark : entry.light, faded: alpha => `rgba(${ink},${alpha})`,
    }
  }

  function fit(canvas, wide, high) {    // a blank canvas of this size in CSS pixels, and its pen
    const ratio = ratioNow() * (onPaper ? 1 : zoomOf(canvas)), across = Math.round(wide * ratio), down = Math.round(high * ratio)
    if (canvas.width !== across || canvas.height !== down) { canvas.width = across; canvas.height = down }
    const pen = canvas.getContext("2d")
    pen.setTransform(ratio, 0, 0, ratio, 0, 0)
    pen.clearRect(0, 0, wide, high)
    pen.lineWidth = pen.globalAlpha = 1
    pen.setLineDash([])
    return onPaper ? paper(canvas, pen, wide, high, ratio) : pen
  }
  const paper = (canvas, pen, wide, high, ratio) => new PaperPen(sheetOf(canvas, wide, high, wide, high), pen, ratio)
  function sheetOf(canvas, wide, high, across, down) {   // an SVG of so many units over the canvas, in its place
    if (canvas.sheet?.isConnected) canvas.sheet.remove()
    const sheet = canvas.sheet = shape("svg", "on-paper", null), at = getComputedStyle(canvas)
    canvas.after(sheet)
    canvas.style.visibility = "hidden"
    set(sheet, { viewBox: `0 0 ${across} ${down}`, width: wide, height: high, preserveAspectRatio: "none", "aria-hidden": "true" })
    const over = at.position === "absolute" ? { left: at.left, top: at.top } : { left: canvas.offsetLeft + "px", top: canvas.offsetTop + "px" }
    Object.assign(sheet.style, { position: "absolute", pointerEvents: "none", overflow: "visible", margin: 0, ...over })
    return sheet
  }

  return {
    on, redraw, theme, fit, ratio: ratioNow, onPaper: () => onPaper, sheetOf,
    hear({ data, setTriggerValue }) { fire = setTriggerValue; seen = data.seen; sent = Math.max(sent, seen) },
    send(name, edit) { sentAt = performance.now(); fire(name, { ...edit, n: ++sent }) },
    waits: () => seen < sent && performance.now() - sentAt < ANSWER_WITHIN,   // for an answer
    lastSent: () => sent,
    end() { listeners.abort(); watcher.disconnect(); cancelAnimationFrame(frame) },
  }
}
