// A text that is typed, and beneath it the same text with what each of its words says: from one class to the other by
// colour, its strength in nats. See text_message.py for what comes in. What is typed goes to the server when the typing
// rests. All words reach the page through textContent and attributes only.

const RESTS = 350                     // ms without a key until the server hears of what was typed
const FULL = 62                       // percent of the class's colour behind the word that says most

const size = v => v === "inf" || v === "-inf" ? Infinity : Math.abs(v)
const against = v => v === "-inf" || v < 0

export default drawnBy(createMessage)

function createMessage(host) {
  let data, timer = 0, local = false, built = "", units = [], at = -1, gone = false
  const { on, theme, hear, send: sendEdit, waits, end } = stage(host, paint)
  const bar = make("div", "bar", host), label = make("label", "label", bar), missing = make("button", "", bar)
  const field = make("textarea", "", host)
  const read = make("div", "read", host), legend = make("div", "legend", host)
  const card = make("div", "card", host), quiet = make("div", "quiet", host)
  field.id = "typed"; label.htmlFor = "typed"
  field.rows = 3
  field.spellcheck = false
  missing.type = "button"
  card.hidden = true
  quiet.setAttribute("aria-live", "polite")

  function update(component) {
    data = component.data
    hear(component)
    label.textContent = data.label
    field.setAttribute("aria-label", data.label)
    missing.textContent = data.words.missing
    missing.title = data.words.missingHelp
    field.maxLength = data.most
    bar.hidden = field.hidden = !data.editable
    if (!local || (!waits() && !timer)) {      // the server has heard of all that was typed
      local = false
      gone = data.text === null
      if (field.value !== (data.text ?? "")) field.value = data.text ?? ""
    }
    typing()
    const drawn = JSON.stringify([data.pieces, data.terms, data.words, data.for, data.against])
    if (drawn !== built) { build(); built = drawn }
    paint()
  }

  // -- typing

  function typing() {
    host.classList.toggle("waits", local)
    missing.setAttribute("aria-pressed", String(gone))
    field.placeholder = gone ? data.words.gone : data.words.empty
  }
  function send() {
    clearTimeout(timer); timer = 0
    if (local) sendEdit("typed", { text: gone ? null : field.value })
  }
  function edited() { local = true; clearTimeout(timer); timer = setTimeout(send, RESTS); typing() }
  on(field, "input", event => { gone = false; if (!event.isComposing) edited() })
  on(field, "compositionend", edited)                   // 中文: the word stands when the choice is made
  on(field, "blur", () => { if (timer) send() })
  on(field, "keydown", event => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); if (timer) send() } })
  on(missing, "click", () => { gone = !gone; if (gone) field.value = ""; local = true; typing(); send() })

  // -- what each word says

  function build() {
    read.replaceChildren()
    units = []
    at = -1
    card.hidden = true
    read.classList.toggle("words", data.words_apart)
    read.hidden = legend.hidden = !data.pieces.length
    for (const piece of data.pieces) {
      if (typeof piece === "string") { read.append(piece); continue }
      const span = make("span", "", read, piece.text)
      span.classList.toggle("unseen", !piece.terms.length)
      span.classList.toggle("again", piece.again)
      span.classList.toggle("never", size(piece.nats) === Infinity)
      units.push({ ...piece, span })
    }
    if (data.beyond) make("span", "beyond", read, data.beyond)
    read.tabIndex = 0
    read.setAttribute("role", "group")
    read.setAttribute("aria-label", data.spoken)
    legend.replaceChildren()
    const scale = make("span", "scale", legend)
    make("span", "", scale, `${data.against.label} ${data.low}`)
    make("span", "ramp", scale)
    make("span", "", scale, `${data.high} ${data.for.label}`)
    if (units.some(u => !u.terms.length)) make("span", "struck", legend, data.words.unseen)
    make("span", "", legend, data.words.hint)
  }

  function paint() {
    if (!data) return
    const { colour: ink } = theme()
    const behind = (side, part) => `color-mix(in srgb, ${ink(side)} ${(FULL * part).toFixed(1)}%, transparent)`
    for (const unit of units) {
      const side = against(unit.nats) ? data.against : data.for
      const part = clamp(size(unit.nats) / data.reach, 0, 1)
      unit.span.style.setProperty("--ground", part ? behind(side, part) : "transparent")
      unit.span.style.setProperty("--edge", ink(side))
    }
    legend.style.setProperty("--from", behind(data.against, 1))
    legend.style.setProperty("--to", behind(data.for, 1))
  }

  function point(i) {
    if (units[at]) units[at].span.classList.remove("here")
    at = i
    card.hidden = i < 0
    if (i < 0) return
    const unit = units[i]
    unit.span.classList.add("here")
    card.replaceChildren()
    if (!unit.terms.length) make("p", "head", card, unit.text), make("p", "body", card, data.words.silent)
    unit.terms.forEach((t, k) => {
      if (k === data.listed) return make("p", "body", card, data.words.more.replace("{n}", unit.terms.length - k))
      if (k > data.listed) return
      const term = data.terms[t]
      make("p", "head", card, `${term.term}: ${term.nats}`)
      for (const line of term.lines) make("p", "body", card, line)
    })
    if (unit.again) make("p", "body", card, data.words.again)
    const box = host.getBoundingClientRect(), word = unit.span.getClientRects()[0]
    if (!word) return
    card.style.top = `${word.bottom - box.top + 7}px`
    card.style.left = `${clamp(word.left - box.left, 0, Math.max(box.width - card.offsetWidth, 0))}px`
  }
  const under = event => units.findIndex(u => u.span === event.composedPath()[0])
  on(read, "pointermove", event => { const i = under(event); if (i !== at) point(i) })
  on(read, "pointerdown", event => point(under(event)))
  on(read, "pointerleave", event => { if (event.pointerType !== "touch") point(-1) })
  on(read, "scroll", () => point(-1))
  on(read, "blur", () => point(-1))
  on(read, "keydown", event => {
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    if (event.key === "Escape") return point(-1)
    if (!way || !units.length) return
    event.preventDefault()
    point(clamp(at < 0 ? (way > 0 ? 0 : units.length - 1) : at + way, 0, units.length - 1))
    units[at].span.scrollIntoView({ block: "nearest" })
    quiet.textContent = card.innerText
  })

  return {
    update,
    destroy() { if (timer) send(); end() },
  }
}
