// The page of a run: it follows what happens, and a replay goes by keys and by the slider.
import "./timeline.js";

document.documentElement.classList.add("scripted");
const run = () => document.getElementById("run");
const field = e => e instanceof Element && e.closest("input,textarea,select,[contenteditable]");

// A part that comes anew would close what somebody opened and move what they scrolled to: both are put back. While they type it waits.
async function refresh() {
  const at = run();
  if (!at?.dataset.liveRun) return;
  if (at.contains(document.activeElement) && field(document.activeElement)) return later(2000);
  const answer = await fetch(location.pathname + location.search, {headers: {"HX-Request": "true"}, cache: "no-store"}).catch(() => null);
  if (!answer?.ok) return; // the page says itself that it is not connected, and asks again once it is
  const text = await answer.text();
  const open = [...at.querySelectorAll("details[open][id]")].map(d => d.id);
  const scrolled = at.querySelector("#picture .scroll")?.scrollLeft;
  await htmx.swap({text, target: at, sourceElement: at, swap: "outerMorph"});
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  const picture = run()?.querySelector("#picture .scroll");
  if (picture && scrolled) picture.scrollLeft = scrolled;
}

// A page that takes long to draw is drawn less often.
let waits = 0, asked = 0, took = 0;
function later(ms) {
  clearTimeout(waits);
  waits = setTimeout(async () => { asked = performance.now(); await refresh(); took = performance.now() - asked; }, Math.max(ms, asked + 4 * took - performance.now()));
}
document.addEventListener("hs:run", e => { if (e.detail.id === run()?.dataset.id) later(50); });

// The present moves on also when nothing happens: an open pause grows.
setInterval(() => { if (!document.hidden && document.querySelector("#run[data-live-run] .run-picture .tl-now")) later(0); }, 30000);

document.addEventListener("keydown", e => {
  if (e.key === "Escape") for (const d of document.querySelectorAll("details.run-confirm[open]")) { d.open = false; d.querySelector("summary").focus(); }
  if (e.defaultPrevented || e.altKey || e.ctrlKey || e.metaKey || e.shiftKey || field(e.target) || e.target.closest?.(".scroll")) return;
  const rel = {ArrowLeft: "prev", ArrowRight: "next", Home: "first", End: "last"}[e.key];
  const link = rel && (document.querySelector(`.replay a[rel=${rel}]`) ?? (rel === "next" && !document.querySelector(".replay") && document.querySelector("#run .begin-replay")));
  if (!link) return;
  e.preventDefault();
  location.assign(link.href);
});
document.addEventListener("change", e => { if (e.target.id === "slide") e.target.form.requestSubmit(); });

// The list of runs is looked at again when something happened, and now and then: a run may move without anybody being asked.
const list = () => document.getElementById("run-list");
let listed = 0;
async function relist() {
  clearTimeout(listed);
  listed = setTimeout(relist, 10000);
  const at = list();
  if (!at || document.hidden || document.body.classList.contains("stale") || at.contains(document.activeElement)) return;
  const answer = await fetch(location.pathname + location.search, {headers: {"HX-Request": "true"}, cache: "no-store"}).catch(() => null);
  if (answer?.ok) await htmx.swap({text: await answer.text(), target: at, sourceElement: at, swap: "outerMorph"});
}
if (list()) {
  document.addEventListener("hs:counts", () => { clearTimeout(listed); listed = setTimeout(relist, 700); });
  listed = setTimeout(relist, 10000);
}
