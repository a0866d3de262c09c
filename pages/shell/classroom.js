// On a phone the sidebar lies over the page: following one of its links puts it away.
export default function () {
  if (globalThis.bayesSidebar) return
  globalThis.bayesSidebar = true
  document.addEventListener("click", event => {
    const link = event.target.closest?.('[data-testid="stSidebar"] [data-testid="stPageLink"] a')
    if (link && matchMedia("(max-width: 768px)").matches)
      document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click()
  })
}
