// Times as people feel them, exact on hover, in the reader's own zone.
const second = 1000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
const exact = new Intl.DateTimeFormat(undefined, {dateStyle: "medium", timeStyle: "medium"});

// The server's clock, as far as this page knows it: a reader's clock may be wrong.
let skew = 0;
export const serverTime = () => Date.now() + skew;
export function setServerTime(at) { skew = at - Date.now(); }

export function span(ms) {
  if (ms < 0) ms = 0;
  if (ms < minute) return Math.floor(ms / second) + " s";
  if (ms < hour) return Math.floor(ms / minute) + " min";
  if (ms < 10 * hour && Math.floor(ms / minute) % 60) return Math.floor(ms / hour) + " h " + Math.floor(ms / minute) % 60 + " min";
  if (ms < 2 * day) return Math.floor(ms / hour) + " h";
  return Math.floor(ms / day) + " days";
}

export function left(ms) {
  if (ms <= 0) return "time is up";
  if (ms < 10 * minute) return Math.floor(ms / minute) + ":" + String(Math.floor(ms / second) % 60).padStart(2, "0") + " left";
  return span(ms) + " left";
}

function refresh(root) {
  const now = serverTime();
  for (const t of root.querySelectorAll("time[data-ago],time[data-left]")) {
    const at = Date.parse(t.dateTime);
    if (Number.isNaN(at)) continue;
    const text = "left" in t.dataset ? left(at - now) : now - at < 5 * second ? "just now" : span(now - at) + ("plain" in t.dataset ? "" : " ago");
    if (t.textContent !== text) t.textContent = text;
    if (!t.dataset.told) { t.title = exact.format(at); t.dataset.told = "1"; }
    if ("left" in t.dataset) t.parentElement?.classList.toggle("due", at - now < 15 * minute);
  }
}

export function keepTimes(root) {
  refresh(root);
  setInterval(() => { if (!document.hidden) refresh(root); }, second);
  document.addEventListener("visibilitychange", () => refresh(root));
  document.addEventListener("htmx:after:swap", () => refresh(root));
}
