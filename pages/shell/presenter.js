// The keys of presenter mode: p begins it and ends it, Escape ends it; the keys of a remote control step the lesson. A key
// is left to whoever types in a field, and Escape to a dialog that is open.
const FIELDS = "input, textarea, select, [contenteditable], [role=combobox], [role=spinbutton], [role=textbox], [role=grid]"

export default function ({ data }) {
  if (globalThis.bayesPresenter) return
  globalThis.bayesPresenter = true
  const press = name => document.querySelector(`.st-key-${name} button`)?.click()
  document.addEventListener("keydown", event => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || event.isComposing) return
    if (event.composedPath()[0].closest?.(FIELDS)) return
    const presenting = document.querySelector(".st-key-presenter_bar")
    if (event.key === "p") press(presenting ? "presenter_leave" : "present")
    if (!presenting) return
    if (event.key === "Escape" && !document.querySelector(data.dialog)) press("presenter_leave")
    if (event.key === "PageDown") { event.preventDefault(); press("lesson_next") }
    if (event.key === "PageUp") { event.preventDefault(); press("lesson_back") }
  }, true)   // before a list that is open keeps it to itself
}
