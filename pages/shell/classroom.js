// The document says in which language it is. On a phone the sidebar lies over the page: following one of its links
// puts it away.
export default function ({ data }) {
  document.documentElement.lang = data.language
  if (globalThis.bayesSidebar) return
  globalThis.bayesSidebar = true
  document.addEventListener("click", event => {
    if (event.target.closest?.(data.links) && matchMedia("(max-width: 768px)").matches)
      document.querySelector(data.close)?.click()
  })
}
