// Says once that the browser shows the address that the session wrote last.
export default function ({ data, parentElement, setTriggerValue }) {
  clearTimeout(parentElement.looking)
  const look = () => {
    if (!data.number || parentElement.said === data.asked) return
    if ((new URLSearchParams(location.search).get("s") ?? "") !== data.address)
      parentElement.looking = setTimeout(look, 50)
    else {
      parentElement.said = data.asked
      setTriggerValue("heard", data.number)
    }
  }
  parentElement.looking = setTimeout(look)
  return () => clearTimeout(parentElement.looking)
}
