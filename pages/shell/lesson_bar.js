// The keys of a lesson: ← and → step, q goes to the answer, Escape leaves it. A key that something in focus understands
// is left to it.
const TAKES = "input, textarea, select, [contenteditable], [role=slider], [role=radio], [role=tab], [role=grid], " +
  "[role=option], [role=combobox], [role=spinbutton], [role=menuitem], [role=application], [role=img], svg, canvas"

export default function () {
  if (globalThis.bayesLesson) return
  globalThis.bayesLesson = true
  const find = query => document.querySelector(query)
  document.addEventListener("keydown", event => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return
    if (!find(".st-key-lesson_bar")) return
    const from = event.composedPath()[0]
    if (event.key === "Escape" && from.closest?.(".st-key-lesson_bar input")) from.blur()
    if (from.closest?.(TAKES)) return
    if (event.key === "ArrowLeft") find(".st-key-lesson_back button")?.click()
    else if (event.key === "ArrowRight") find(".st-key-lesson_next button")?.click()
    else if (event.key === "q") {
      event.preventDefault()
      find(".st-key-lesson_answer input, .st-key-lesson_choice :is(button, input)")?.focus()
    }
  })
}
