// The bar of a film: to its start, a step back, play, a step on, to its end, and a slider. It moves the film itself; a
// step that a person chose is reported once it has stood for a moment. Step −1 is the end, wherever that is.

const ICONS = {
  rewind: "M3 3h2.4v12H3zM15 3v12L6.4 9z", back: "M4 3h2v12H4zM14 3.4v11.2L7 9z", play: "M5 2.6v12.8L15.4 9z", pause: "M4.5 3h3.4v12H4.5zM10.1 3h3.4v12h-3.4z",
  forward: "M12 3h2v12h-2zM4 3.4v11.2L11 9z", chapter: "M8 3l6.4 6L8 15zM2.4 3l6.4 6-6.4 6zM14 3h2v12h-2z", end: "M12.6 3H15v12h-2.4zM3 3v12L11.6 9z",
}
const REST = 300, SOON = 120          // ms a step must stand before it is reported; where the server draws it
const drawing = (path, box = "0 0 18 18", colour = "") => {
  const svg = shape("svg"), part = shape("path", "", svg)
  set(svg, { viewBox: box })
  set(part, { d: path, ...(colour && { fill: colour }) })
  return svg
}

// `pace(k)`: ms of the k-th step of a play. `draw()` is called wherever the film moves. `report(step, plays)` says what was
// chosen. `whole`: there is nothing between two steps. `chapter(step)`: where the next chapter begins, for a button of its
// own. `waits`, where the server draws the film: every step of a play is reported, and it may have yet to answer.
function filmBar(host, parent, { on, pace, draw, report, whole = false, chapter = null, waits = null }) {
  const bar = make("div", "film", parent), buttons = {}
  for (const name of ["rewind", "back", "play", "forward", ...(chapter ? ["chapter"] : []), "end"]) {
    const button = buttons[name] = make("button", name === "play" ? "main" : "", bar)
    button.dataset.act = name; button.append(drawing(ICONS[name]))
  }
  const range = make("input", "", bar), counter = make("output", "", bar)
  Object.assign(range, { type: "range", min: 0, step: 1 })
  let last = 0, pos = 0, playing = null, reported = null, timer = 0

  const step = () => whole ? Math.floor(pos) : Math.round(pos)
  const named = t => t === last ? -1 : t
  const placed = t => t < 0 ? last : clamp(t, 0, last)
  function stop() { if (playing) { cancelAnimationFrame(playing.frame); playing = null; pos = step() } }
  function to(t) { stop(); pos = clamp(t, 0, last); draw(); reportSoon() }
  function reportNow() { clearTimeout(timer); timer = 0; reported = named(step()); report(reported, playing !== null) }
  function reportSoon() {
    clearTimeout(timer)
    timer = setTimeout(() => { timer = 0; if (waits || named(step()) !== reported) reportNow() }, waits ? SOON : REST)
  }
  function play(paced = pace, chosen = true, aloud = true) {
    if (pos >= last) pos = 0
    const from = pos
    if (whole) pos += 0.6              // the first of whole steps comes soon
    let before = performance.now()
    const tick = now => {
      const was = step()
      if (!waits?.()) pos = Math.min(pos + (now - before) / paced(Math.floor(pos - from)), last)
      before = now
      if (pos >= last) { stop(); if (waits) reportNow(); else if (chosen) reportSoon() }
      else playing.frame = requestAnimationFrame(tick)
      if (waits && playing && step() !== was) reportNow()
      draw()
    }
    playing = { frame: requestAnimationFrame(tick) }
    if (waits && aloud) reportNow()
    draw()
  }
  on(buttons.play, "click", () => { if (playing) to(step()); else play() })
  on(buttons.rewind, "click", () => to(0))
  on(buttons.end, "click", () => to(last))
  on(buttons.back, "click", () => to(whole || !playing ? step() - 1 : Math.floor(pos)))
  on(buttons.forward, "click", () => to(whole || !playing ? step() + 1 : Math.ceil(pos)))
  if (chapter) on(buttons.chapter, "click", () => to(chapter(step())))
  on(range, "input", () => to(Number(range.value)))
  on(bar, "keydown", event => {        // the slider has these keys of its own
    const step = event.target !== range && { ArrowLeft: buttons.back, ArrowRight: buttons.forward }[event.key]
    if (!step) return
    event.preventDefault()
    if (!step.disabled) step.click()
  })

  return {
    play, stop, bar,
    resume() { play(pace, true, false) },   // a play that the server knows of
    get playing() { return playing !== null },
    get rests() { return timer === 0 },  // all that was chosen is reported
    get pos() { return pos }, get step() { return step() }, get last() { return last },
    load(length, at) { stop(); clearTimeout(timer); timer = 0; last = length; pos = placed(at); reported = named(pos) },   // another film
    follow(at) { if (named(placed(at)) !== reported) { stop(); pos = placed(at); reported = named(pos) } },         // another address
    show(words, text) {
      const t = step(), now = playing ? "pause" : "play"
      Object.assign(range, { max: last, value: t, disabled: !last, ariaLabel: words.scrub })
      counter.textContent = text
      for (const [name, button] of Object.entries(buttons)) button.title = button.ariaLabel = words[name === "play" ? now : name]
      buttons.rewind.disabled = buttons.back.disabled = !playing && t === 0
      for (const name of ["forward", "chapter", "end"]) if (buttons[name]) buttons[name].disabled = !playing && t === last
      buttons.play.disabled = !last
      if (buttons.play.dataset.now !== now) { buttons.play.dataset.now = now; buttons.play.replaceChildren(drawing(ICONS[now])) }
      Object.assign(host.dataset, { step: t, steps: last, playing: playing ? "yes" : "no" })
    },
    end() { stop(); clearTimeout(timer) },
  }
}

// The bar alone, of a film that the server draws: see film.py.
function createFilm(host) {
  const { on, hear, send, waits, end } = stage(host, draw)
  let data
  const bar = filmBar(host, host, {
    on, draw, whole: true, waits: () => waits(), pace: () => data.pace, report: (step, plays) => send("stepped", { step, plays }),
  })

  function update(component) {
    const before = data
    data = component.data
    hear(component)
    if (data.last !== before?.last) bar.load(data.last, data.step)
    else if (!waits() && bar.rests) bar.follow(data.step)
    if (!waits() && bar.rests && data.plays !== bar.playing) { if (data.plays) bar.resume(); else bar.stop() }
    draw()
  }
  function draw() { if (data) bar.show(data.words, `${bar.step} / ${data.last}`) }

  return { update, destroy() { bar.end(); end() } }
}
