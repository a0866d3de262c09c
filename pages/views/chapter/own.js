// The steps of one's own lesson: dragged by their handles, or moved by the arrow keys or the buttons; a caption is edited
// where it stands. What a person does names the list it was done to, so that nothing is done to another one.

const SIGNS = {
  handle: "M6 3h2v2H6zM10 3h2v2h-2zM6 8h2v2H6zM10 8h2v2h-2zM6 13h2v2H6zM10 13h2v2h-2z", open: "M5 2.6v12.8L15.4 9z",
  up: "M9 3l6 7h-4v5H7v-5H3z", down: "M9 15l6-7h-4V3H7v5H3z",
  remove: "M4.4 3L9 7.6 13.6 3 15 4.4 10.4 9l4.6 4.6-1.4 1.4L9 10.4 4.4 15 3 13.6 7.6 9 3 4.4z",
}

function createOwnList(host) {
  host.replaceChildren()
  const list = make("ol", "steps", host)
  let data = null, fire = null, sent = 0, drag = null, wanted = null, drawn = ""
  const send = edit => { sent = Math.max(sent, data.seen) + 1; fire("edited", { ...edit, of: data.of, n: sent }) }
  const sign = name => {
    const svg = shape("svg"), path = shape("path", "", svg)
    set(svg, { viewBox: "0 0 18 18", "aria-hidden": "true" })
    set(path, { d: SIGNS[name] })
    return svg
  }
  const places = () => [...list.children]
  const number = () => places().forEach((row, i) => write(row.querySelector(".place"), `${i + 1}`))
  const move = (from, to, by) => {
    if (to < 0 || to >= data.steps.length || to === from) return
    const rows = places()
    list.insertBefore(rows[from], to > from ? rows[to].nextSibling : rows[to])
    number()
    wanted = [to, by]
    send({ act: "move", i: from, to })
  }

  function row(step, i) {
    const line = make("li", "", list)
    const button = (name, act, off = false) => {
      const made = make("button", name, line)
      made.title = made.ariaLabel = `${data.words[name]}: ${i + 1}`
      made.disabled = off
      made.append(sign(name))
      made.addEventListener("click", act)
      return made
    }
    const handle = button("handle", () => {})
    make("span", "place", line, `${i + 1}`)
    const caption = make("input", "", line)
    Object.assign(caption, { value: step.title, maxLength: data.most, ariaLabel: `${data.words.caption}: ${i + 1}` })
    caption.addEventListener("change", () => {
      if (caption.value.trim()) send({ act: "title", i, title: caption.value })
      else caption.value = step.title
    })
    make("span", "where", line, step.where)
    button("open", () => send({ act: "open", i }))
    button("up", () => move(i, i - 1, "up"), i === 0)
    button("down", () => move(i, i + 1, "down"), i === data.steps.length - 1)
    button("remove", () => send({ act: "remove", i }))
    handle.addEventListener("keydown", event => {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key]
      if (!by) return
      event.preventDefault()
      move(i, i + by, "handle")
    })
    handle.addEventListener("pointerdown", event => {
      if (event.button) return
      event.preventDefault()
      handle.setPointerCapture(event.pointerId)
      drag = { i, line }
      line.classList.add("held")
    })
    handle.addEventListener("pointermove", event => {
      if (drag?.line !== line) return
      const rows = places(), at = rows.indexOf(line)
      const to = rows.findIndex(other => { const box = other.getBoundingClientRect(); return event.clientY < box.bottom })
      const goal = to < 0 ? rows.length - 1 : to
      if (goal === at) return
      list.insertBefore(line, goal > at ? rows[goal].nextSibling : rows[goal])
      if (!handle.hasPointerCapture(event.pointerId)) handle.setPointerCapture(event.pointerId)
      number()
    })
    const drop = () => {
      if (drag?.line !== line) return
      const to = places().indexOf(line)
      drag = null
      line.classList.remove("held")
      if (to !== i) { wanted = [to, "handle"]; send({ act: "move", i, to }) }
    }
    handle.addEventListener("pointerup", drop)
    handle.addEventListener("lostpointercapture", event => { if (drag?.line === line && !event.buttons) drop() })
  }

  function update(component) {
    data = component.data
    fire = component.setTriggerValue
    const now = JSON.stringify([data.of, data.steps, data.words])
    if (now === drawn || drag) return
    drawn = now
    list.replaceChildren()
    data.steps.forEach(row)
    if (wanted) {
      const [to, by] = wanted, line = places()[to]
      wanted = null
      ;(line?.querySelector(`.${by}:enabled`) ?? line?.querySelector(".handle"))?.focus()
    }
  }
  return { update, destroy() {} }
}
