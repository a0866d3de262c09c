// Losses λ and the prior of use, to be dragged, stepped, typed or pasted. See losses.py for what comes in. While an
// edit lasts, every frame of it goes to the other drawings by the window event "bayes-loss"; the server hears of it
// once, when it is let go.

const PER_STEP = 2                    // pixels of a drag that make one step
const CATCHES = 3                     // pixels after which a press is a drag
const RESTS = 350                     // ms after the last key of a burst when the edit counts as let go
const LARGEST = 1e9

const unspaced = name => /[\u3040-\u30ff\u3400-\u9fff]/.test(name) ? " unspaced" : ""  // may break between any two characters
const copy = rows => rows.map(row => [...row])

const round = size => {               // the nearest of 1, 2, 5 times a power of ten
  const power = 10 ** Math.floor(Math.log10(size))
  return [1, 2, 5, 10].map(m => m * power).reduce((a, b) => Math.abs(b - size) < Math.abs(a - size) ? b : a)
}
const onGrid = (v, step) => Number((Math.round(v / step) * step).toFixed(clamp(Math.ceil(-Math.log10(step)), 0, 12)))
const shown = v => String(Number(v.toPrecision(7)))
const numberOf = text => {            // 1.5, 1,5, −3, 1e3; NaN for anything else
  const plain = text.trim().replace(/[−–]/g, "-")
  const dotted = /^[+-]?\d*,\d+$/.test(plain) ? plain.replace(",", ".") : plain
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(dotted) ? Number(dotted) : NaN
}

export default drawnBy(createEditor)

function createEditor(host) {
  let data, local = null, busy = "", timer = 0, built = "", fields = [], inTurn = [], shares = [], pressed = false
  const { on, theme, hear, send, waits, lastSent, end } = stage(host, () => theme())
  const scroll = make("div", "scroll", host), grid = make("table", "grid", scroll)
  const told = make("div", "told", host), problem = make("div", "problem", host), priors = make("div", "priors", host)
  problem.setAttribute("role", "alert")
  problem.hidden = true

  // -- what is shown: the server's, or the edit that it has not answered yet

  const now = () => local ?? { table: data.loss, prior: data.prior, name: null, by: data.by }
  const begin = kind => {
    local ??= { table: copy(data.loss), prior: data.prior && [...data.prior], name: null, by: data.by && copy(data.by) }
    busy = kind
  }
  const marks = () => now().by?.flat().includes(false) ? now().by : null   // null: an amount multiplies every cell, or none is
  const worth = (i, j) => marks()?.[i][j] === false ? 1 : data.amount      // of one unit of a cell, in the case
  const use = () => now().prior ?? data.own
  const shift = () => now().prior ? priorShift(data.own, use()).map(v => clamp(v, -700, 700)) : []   // as plane.py bounds it

  function tell() {                   // every frame of an edit, to the drawings of this page
    const edit = !local ? data.seen : busy ? lastSent() + 1 : lastSent()
    document.body.toggleAttribute("data-bayes-live", local !== null)
    window.dispatchEvent(new CustomEvent("bayes-loss", {
      detail: { key: data.key, table: now().table, by: marks(), order: data.order, prior: now().prior, shift: shift(), edit },
    }))
  }
  function commit() {                 // let go: the server hears of it
    clearTimeout(timer); timer = 0
    if (!busy) return
    busy = ""
    const { table, prior, name, by } = local
    if (JSON.stringify([table, prior, name, by]) === JSON.stringify([data.loss, data.prior, null, data.by]) && !waits()) {
      local = null
      tell()
      return
    }
    host.dataset.sentAt = performance.now().toFixed(1)
    send("edited", { table, prior, name, by })
    tell()
  }
  const commitSoon = () => { clearTimeout(timer); timer = setTimeout(commit, RESTS) }
  function drop() { clearTimeout(timer); timer = 0; busy = ""; if (!waits()) local = null }

  function update(component) {
    const next = data = component.data
    hear(component)
    const answered = local && !busy && !waits()
    const kept = local && (local.table.length !== next.loss.length || local.table[0].length !== next.loss[0].length)
    if (answered || kept) { local = null; busy = ""; host.dataset.settledAt = performance.now().toFixed(1); say("") }
    const looks = JSON.stringify([next.decisions, next.truths, next.flipped, next.words, next.name, !next.by])
    if (looks !== built) { built = looks; build() }
    theme()
    show()
    tell()
  }

  // -- the grid

  function build() {
    const { decisions, truths, flipped, words } = data
    const down = flipped ? truths : decisions, across = flipped ? decisions : truths
    const head = make("tr", "", make("thead", "", null)), body = make("tbody", "", null)
    const corner = make("th", "corner", head)
    make("span", "", corner, (flipped ? words.truth : words.decision) + " ↓")
    make("span", "", corner, (flipped ? words.decision : words.truth) + " →")
    const title = (cell, entry, isDecision) => {
      const box = make("div", "title" + unspaced(entry.head), cell)
      if (entry.light) { const dot = make("span", "dot", box); inked(dot, [entry.light, entry.dark]) }
      if (isDecision && entry.own && data.name !== null) box.append(nameField())
      else make("span", "", box, entry.head)
      cell.title = entry.head
    }
    for (const entry of across) { const cell = make("th", "", head); cell.scope = "col"; title(cell, entry, flipped) }
    fields = decisions.map(() => [])
    inTurn = []
    down.forEach((entry, r) => {
      const row = make("tr", "", body), name = make("th", "", row)
      name.scope = "row"
      title(name, entry, !flipped)
      across.forEach((_, c) => {
        const [i, j] = flipped ? [c, r] : [r, c], box = make("div", "cell" + (decisions[i].of === j ? " right" : ""), make("td", "", row))
        inTurn.push(fields[i][j] = lossField(box, i, j))
      })
    })
    grid.replaceChildren(head.parentElement, body)
    grid.setAttribute("aria-label", words.losses)
    scroll.classList.toggle("many", truths.length > 8)
    host.classList.toggle("wide", truths.length > 5)
    buildPriors()
  }

  function nameField() {              // the further action may be called otherwise
    const input = make("input", "name", null)
    input.value = data.name
    input.maxLength = 40
    input.setAttribute("aria-label", data.words.name)
    on(input, "change", () => {
      const name = input.value.trim()
      if (!name || name === data.name) { input.value = data.name; return }
      begin("name"); local.name = name; commit()
    })
    on(input, "keydown", event => {
      if (event.key === "Enter") input.blur()
      if (event.key === "Escape") { input.value = data.name; input.blur() }
    })
    return input
  }

  function lossField(box, i, j) {
    const label = fill(data.words.cell, { decision: data.decisions[i].name, truth: data.truths[j].name })
    const field = numberField(box, {
      label, low: -LARGEST, high: LARGEST, testid: `loss-${i}-${j}`,
      get: () => now().table[i][j],
      set: (v, kind) => { begin(kind); local.table[i][j] = v },
      dragStep: v => round(Math.max(Math.abs(v), dearest() / 10) / 50),
      keyStep: () => round(dearest() / 10),
      focus: () => markFlip(i, j),
    })
    if (data.by) {
      const times = field.times = make("button", "times", box)
      set(times, {
        "data-testid": `times-${i}-${j}`, "aria-label": fill(data.words.timesCell, { cell: label }), title: data.words.switch,
      })
      on(times, "click", () => { begin("times"); local.by[i][j] = !local.by[i][j]; changed(); commit() })
      on(times, "keydown", event => {  // who types on after Tab means the next number: focused now, it takes this key
        const next = inTurn[inTurn.indexOf(field) + 1]?.input
        if (next && /^[\d.,+−-]$/.test(event.key) && !event.ctrlKey && !event.metaKey) next.focus()
      })
    }
    on(field.input, "paste", event => {
      const text = event.clipboardData?.getData("text/plain") ?? ""
      if (!/[\t\n;]/.test(text.trim())) return
      event.preventDefault()
      drop(); field.show(true)
      send("pasted", { text: text.slice(0, 60000) })
    })
    on(field.input, "keydown", event => {
      const way = event.altKey && { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key]
      if (!way) return
      event.preventDefault(); event.stopImmediatePropagation()
      const [di, dj] = data.flipped ? [way[1], way[0]] : way
      fields[i + di]?.[j + dj]?.input.focus()
    }, { capture: true })
    return field
  }
  const dearest = () => Math.max(...now().table.flat().map(Math.abs)) || 1

  // A number to drag sideways, to step with the arrow keys, or to type over.
  function numberField(box, { label, low, high, testid, get, set, dragStep, keyStep, focus }) {
    const input = make("input", "number", box)
    input.type = "text"; input.inputMode = "decimal"; input.autocomplete = "off"; input.spellcheck = false
    input.setAttribute("role", "spinbutton")
    input.setAttribute("aria-label", label)
    input.dataset.testid = testid
    input.title = label
    const tag = make("span", "flip", box)
    let drag = null, from = 0, typing = false
    const field = {
      input, tag,
      show(force = false) {
        if (force) { typing = false; input.removeAttribute("aria-invalid") }
        if (!typing) { const text = shown(get()); if (input.value !== text) { input.value = text; if (isFocused()) input.select() } }
        input.setAttribute("aria-valuenow", get())
      },
    }
    const isFocused = () => input.getRootNode().activeElement === input
    const change = (v, kind) => { set(clamp(v, low, high), kind); field.show(); changed() }
    const revert = () => { typing = false; input.removeAttribute("aria-invalid"); say("") }

    on(input, "pointerdown", event => {
      if (event.button) return
      drag = { x: event.clientX, v: get(), step: dragStep(get()), moved: false }
      input.setPointerCapture(event.pointerId)
      if (!isFocused()) event.preventDefault()
    })
    on(input, "pointermove", event => {
      if (!drag) return
      const dx = event.clientX - drag.x
      if (!drag.moved && Math.abs(dx) < CATCHES) return
      if (!drag.moved) { drag.moved = true; revert(); host.classList.add("dragging"); focus?.() }
      const step = drag.step * (event.shiftKey ? 10 : event.altKey ? 0.1 : 1)
      change(onGrid(drag.v + Math.trunc(dx / PER_STEP) * step, Math.min(step, drag.step)), "drag")
      event.preventDefault()
    })
    const release = event => {
      if (!drag) return
      const { moved, v } = drag
      drag = null
      host.classList.remove("dragging")
      if (event.type === "pointercancel" && moved) { set(v, "drag"); commit(); show(); return }
      if (moved) commit()
      else if (!isFocused()) { input.focus(); input.select() }
    }
    on(input, "pointerup", release); on(input, "pointercancel", release)
    on(input, "focus", () => { input.select(); focus?.() })
    on(input, "input", () => {
      if (!busy) from = get()
      typing = true
      const v = numberOf(input.value), fine = Number.isFinite(v) && v >= low && v <= high
      if (fine) input.removeAttribute("aria-invalid"); else input.setAttribute("aria-invalid", "true")
      if (fine) { say(""); set(v, "type"); changed() }
    })
    on(input, "keydown", event => {
      const up = { ArrowUp: 1, ArrowDown: -1 }[event.key]
      if (up) {
        event.preventDefault()
        revert()
        if (!busy) from = get()
        const step = keyStep() * (event.shiftKey ? 10 : 1)
        change(onGrid(get() + up * step, Math.min(step, keyStep())), "keys")
        commitSoon()
      } else if (event.key === "Enter") { leave(); input.select() }
      else if (event.key === "Escape" && busy) { revert(); set(from, "type"); changed(); commit(); input.select() }
      else if (event.key === "Escape") { revert(); field.show(); input.select() }
    })
    const leave = () => {             // Enter, Tab, or a click elsewhere
      if (typing && input.hasAttribute("aria-invalid")) {
        const text = input.value.trim()
        revert()
        set(from, "type"); changed(); commit()
        say(fill(text ? data.words.unread : data.words.blank, { cell: label, text }))
        return
      }
      typing = false
      commit()
      field.show()
    }
    on(input, "blur", () => { tag.textContent = ""; leave() })
    return field
  }

  function changed() { show(); tell() }
  function say(text) { problem.textContent = text; problem.hidden = !text }

  function show() {
    fields.flat().forEach(field => field.show())
    fields.forEach((row, i) => row.forEach(({ times }, j) => {
      if (!times) return
      const pressed = now().by[i][j]
      times.setAttribute("aria-pressed", pressed)
      times.textContent = pressed ? data.words.times : data.words.once
    }))
    shares.forEach(field => field.show())
    told.textContent = [data.unit, data.words.amount, data.words.hint].filter(Boolean).join(" · ")
    const focused = host.getRootNode().activeElement
    fields.forEach((row, i) => row.forEach((field, j) => { if (field.input === focused || host.classList.contains("dragging") && field.tag.textContent) markFlip(i, j) }))
  }

  // Where the decision for the case turns while only λ_ij moves: R_i is a line in it of slope P(c_j|x).
  function markFlip(i, j) {
    for (const field of fields.flat()) field.tag.textContent = ""
    const p = atPrior(data.posterior, priorShift(data.prior ?? data.own, use()))
    if (!p || !(p[j] > 1e-12)) return
    const { table } = now(), unit = worth(i, j)
    if (!unit) return
    const losses = new Losses(atAmount(table, marks(), data.amount), data.order), risks = losses.risk(p), other = losses.runnerUp(i)
    if (other < 0) return
    const at = table[i][j] + (risks[other] - risks[i]) / (unit * p[j])
    if (Math.abs(at) < LARGEST) fields[i][j].tag.textContent = fill(data.words.flips, { value: String(Number(at.toPrecision(3))).replace("-", "−") })
  }

  // -- the prior of use

  function buildPriors() {
    const { words } = data
    priors.replaceChildren()
    shares = []
    make("div", "heading", priors, words.prior)
    const list = make("div", "shares", priors), pair = data.truths.length === 2
    data.truths.slice(0, pair ? 1 : undefined).forEach((entry, k) => {
      const row = make("div", "share", list), name = make("div", "title" + unspaced(entry.name), row)
      const dot = make("span", "dot", name)
      inked(dot, [entry.light, entry.dark])
      make("span", "", name, `P(${entry.name})`)
      name.title = entry.name
      const slider = make("input", "slider", row)
      Object.assign(slider, { type: "range", min: 0.001, max: 0.999, step: 0.001 })
      slider.dataset.testid = `prior-slider-${k}`
      const label = fill(words.share, { name: entry.name })
      slider.setAttribute("aria-label", label)
      inked(slider, [entry.light, entry.dark])
      const set = (p, kind) => { begin(kind); local.prior = withShare(use(), k, p) }
      const field = numberField(make("div", "cell", row), {
        label, low: 0.001, high: 0.999, testid: `prior-${k}`,
        get: () => Number(use()[k].toPrecision(3)), set, dragStep: () => 0.005, keyStep: () => 0.01,
      })
      const own = make("span", "own", make("div", "track", row))
      shares.push({ show() {
        field.show()
        slider.value = use()[k]
        slider.setAttribute("aria-valuetext", shown(field.input.value ? use()[k] : 0))
        slider.style.setProperty("--at", `${100 * use()[k]}%`)
        own.style.left = `${100 * data.own[k]}%`
        own.title = fill(words.own, { p: data.own[k].toFixed(3) })
      } })
      on(slider, "pointerdown", () => { pressed = true })
      on(slider, "input", () => { set(Number(slider.value), "drag"); changed() })
      on(slider, "change", () => { if (pressed) commit(); else commitSoon(); pressed = false })
    })
    const foot = make("div", "foot", priors), back = make("button", "plain", foot, words.asModel)
    back.dataset.testid = "prior-model"
    on(back, "click", () => { if (!now().prior) return; begin("drag"); local.prior = null; changed(); commit() })
    const note = make("span", "note", foot)
    shares.push({ show() { back.disabled = !now().prior; note.textContent = now().prior ? words.shifted : words.unshifted } })
  }

  const withShare = (prior, k, p) => {  // as bayes_engine.priors.with_share
    const rest = prior.reduce((a, b) => a + b) - prior[k], even = 1 / (prior.length - 1)
    return prior.map((v, i) => i === k ? p : (1 - p) * (rest > 0 ? v / rest : even))
  }

  return {
    update,
    destroy() { if (busy) commit(); end(); document.body.removeAttribute("data-bayes-live") },
  }
}
