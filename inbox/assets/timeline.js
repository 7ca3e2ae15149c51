// The times below a picture of a run, in the reader's own zone.
const clock = new Intl.DateTimeFormat(undefined, {hour: "2-digit", minute: "2-digit", second: "2-digit"});

export function localTimes(root = document) {
  for (const t of root.querySelectorAll(".run-picture text[data-at]")) t.textContent = clock.format(Number(t.dataset.at));
}

localTimes();
document.addEventListener("htmx:after:swap", () => localTimes());
