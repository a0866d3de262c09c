// The document says in which language it is, and the menu which of its links is the page that is shown. On a phone the
// sidebar lies over the page: following one of its links puts it away.
export default function ({ data }) {
  document.documentElement.lang = data.language
  if (globalThis.bayesSidebar) return
  globalThis.bayesSidebar = true
  const mark = () => {
    for (const link of document.querySelectorAll(data.links))
      if (link.closest(data.here)) link.setAttribute("aria-current", "page")
      else link.removeAttribute("aria-current")
  }
  mark()
  new MutationObserver(mark).observe(document.body, { childList: true, subtree: true })
  // a sheet is as wide as the page on screen, so that no figure is drawn anew for it
  const wide = new ResizeObserver(([{ target }]) => {
    if (!matchMedia("print").matches) document.documentElement.style.setProperty("--print-width", target.getBoundingClientRect().width.toFixed(0))
  })
  const page = () => { const main = document.querySelector(data.main); if (main && main !== watched) { wide.disconnect(); wide.observe(watched = main) } }
  let watched
  page()
  new MutationObserver(page).observe(document.body, { childList: true, subtree: true })
  document.addEventListener("click", event => {
    if (event.target.closest?.(".st-key-print button")) setTimeout(() => print())
    if (event.target.closest?.(data.links) && matchMedia("(max-width: 768px)").matches)
      document.querySelector(data.close)?.click()
  })
}
