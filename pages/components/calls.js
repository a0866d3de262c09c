// Streamlit calls a drawing's function at every run of the page, and ends the last call when the drawing leaves the page. Of
// runs that come while the browser still fetches the script, it calls the function too, in any order, and ends each but the
// newest at once: so what was called last of those that have not ended is what is to be seen.
const called = (root, show, end) => {
  const calls = root.calls ??= []
  calls.push(show)
  show()
  setTimeout(() => calls.splice(0, calls.length - 1))   // by then Streamlit has ended what it ends at once
  return () => {
    const place = calls.indexOf(show)
    if (place < 0) return
    calls.splice(place, 1)
    if (!root.isConnected || !calls.length) { calls.length = 0; end() }
    else if (place === calls.length) calls.at(-1)()
  }
}
