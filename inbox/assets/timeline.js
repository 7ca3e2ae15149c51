// Pictures of runs: their times are in the reader's own zone, and one that is wider than its place shows the last pause first.
const clock = new Intl.DateTimeFormat(undefined, {hour: "2-digit", minute: "2-digit", second: "2-digit"});
const seen = new WeakSet();

export function dress(root = document) {
  for (const t of root.querySelectorAll(".run-picture text[data-at]")) t.textContent = clock.format(Number(t.dataset.at));
  for (const s of root.querySelectorAll(".timeline.mini .scroll")) {
    if (seen.has(s)) continue;
    seen.add(s);
    const pause = [...s.querySelectorAll(".tl-bar.t-hold")].at(-1);
    const from = pause ? pause.getBoundingClientRect().left - s.getBoundingClientRect().left : 0;
    if (from > s.clientWidth * .75) s.scrollLeft = from - 40;
  }
}

dress();
document.addEventListener("htmx:after:swap", () => dress());
