// The inbox: a list, and one request of it beside it. Everything here is also reachable by plain links and forms.
import {onKey} from "./keys.js";
import {drawViews} from "./views.js";
import {arrived, drawNotify, titled} from "./notify.js";

const $ = id => document.getElementById(id), desk = document.querySelector(".desk"), card = $("card"), list = $("list"), dialog = $("ask");
const send = (name, detail) => document.dispatchEvent(new CustomEvent(name, {detail}));
const still = matchMedia("(prefers-reduced-motion: reduce)"), narrow = matchMedia("(max-width: 820px)");
const rowOf = id => $("row-" + id), rowsNow = () => [...list.querySelectorAll("li.row:not(.leaving)")];
const linkOf = row => row?.querySelector("a");
const openID = () => card.dataset.id ?? "";
const word = row => row?.querySelector("b")?.textContent.trim() ?? "";

let loading, shownAt = 0, hovered = null, lastPick = "";

export function say(text) { $("say").textContent = text; }

// part asks for a part of a page. Whoever is no longer known is led to the login.
async function part(url, options = {}) {
  const answer = await fetch(url, {...options, headers: {"HX-Request": "true", ...options.headers}});
  const elsewhere = answer.headers.get("HX-Redirect");
  if (elsewhere) { location.assign(elsewhere); throw new DOMException("gone", "AbortError"); }
  return answer;
}

const parsed = html => { const t = document.createElement("template"); t.innerHTML = html; return t.content; };

// --- one request ---

const address = id => (id ? "/requests/" + id : "/") + (desk.dataset.view && "?" + desk.dataset.view);

function mark(id) {
  for (const old of list.querySelectorAll("[aria-current=true]:not(.chip)")) old.removeAttribute("aria-current");
  const row = rowOf(id);
  row?.setAttribute("aria-current", "true");
  linkOf(row)?.setAttribute("aria-current", "true");
  return row;
}

// The scripts of a card come when the list is there; without them its forms still work.
const cardScripts = () => Promise.all([import("./card.js"), import("./timeline.js")]).catch(() => {});

// fill puts something into the card's place and tells everybody who cares.
function fill(content) {
  card.replaceChildren(card.querySelector(":scope > .back"), content);
  card.removeAttribute("aria-busy");
  card.scrollTop = 0;
  window.htmx?.process(card);
  card.dispatchEvent(new CustomEvent("htmx:after:swap", {bubbles: true, detail: {}}));
}

// open shows a request beside the list. into: move the focus into it.
export async function open(id, {push = true, into = false, wait = 0} = {}) {
  const before = openID(), row = mark(id);
  if (before === id && card.querySelector("article")) {
    shut(false);
    if (into) enter();
    return;
  }
  card.dataset.id = id;
  card.setAttribute("aria-busy", "true");
  shut(false);
  if (push) history[before ? "replaceState" : "pushState"]({}, "", address(id));
  titled(null, word(row) || "Request");
  leaveGone(before);
  loading?.abort();
  const mine = loading = new AbortController();
  // Whoever holds j down reads none of those in between.
  if (wait) await new Promise(done => setTimeout(done, wait));
  if (mine.signal.aborted) return;
  send("hs:open", {id});
  try {
    const [answer] = await Promise.all([part("/requests/" + id + "/card", {signal: mine.signal}), cardScripts()]), html = await answer.text();
    if (mine.signal.aborted) return;
    fill(parsed(html));
    shownAt = performance.now();
  } catch (e) {
    if (e.name === "AbortError") return;
    const note = parsed('<div class="empty unloaded"><b>Not loaded: no connection</b><button type="button">Try again</button></div>');
    note.querySelector("button").addEventListener("click", () => { delete card.dataset.id; open(id, {push: false}); });
    fill(note);
  }
  if (into || narrow.matches) enter();
}

const enter = () => (card.querySelector("h1[tabindex]") ?? card).focus({preventScroll: true});

// shut says whether only the list is seen. On a phone the one that is not seen cannot be reached by keys or readers either.
function shut(is) {
  desk.classList.toggle("open", !is);
  list.inert = document.querySelector(".nav").inert = narrow.matches && !is;
}
narrow.addEventListener("change", () => shut(!desk.classList.contains("open")));

export function close({push = true} = {}) {
  const id = openID();
  loading?.abort();
  delete card.dataset.id;
  shut(true);
  fill($("none").content.cloneNode(true));
  if (push) history.pushState({}, "", address(""));
  titled(null, "");
  send("hs:open", {id: ""});
  linkOf(rowOf(id))?.focus();
  mark("");
  leaveGone(id);
}

addEventListener("popstate", () => {
  const at = location.pathname.match(/^\/requests\/([^/]+)$/), query = location.search.slice(1);
  if (reading || query !== desk.dataset.view) load(query, {push: false});
  if (at) open(decodeURIComponent(at[1]), {push: false}); else if (location.pathname === "/") close({push: false});
});

// --- the list ---

let reading = null; // the load that is under way
let owed = false; // the list has to be read again
const wanted = () => reading?.query ?? desk.dataset.view;

// load shows another view of the list. What is open stays open. The list gets the position of the log that the server read before the list: live.js
// follows the view from there, so the order in which loads, events and streams arrive does not matter.
export async function load(query, {push = true, keep = false} = {}) {
  reading?.abort.abort();
  if (!keep) clearTimeout(typed);
  const mine = reading = {query, abort: new AbortController()}, signal = mine.abort.signal;
  let fresh, position;
  try {
    const answer = await part("/" + (query && "?" + query), {signal});
    fresh = parsed(await answer.text());
    position = positionOf(answer);
    if (!answer.ok) throw new Error(String(answer.status));
    if (keep) await more(fresh, rowsNow().length, signal);
  } catch (e) {
    if (reading !== mine) return;
    reading = null;
    if (keep) owed = true; else if (e.name !== "AbortError") say("The list could not be loaded");
    if (owed) setTimeout(() => { if (owed) refresh(); }, 2000);
    return;
  }
  if (reading !== mine) return;
  reading = null;
  owed = false;
  stale.clear();
  const same = desk.dataset.view === query;
  desk.dataset.view = query;
  desk.dataset.position = position;
  const focused = document.activeElement?.closest?.("li.row")?.dataset.id, chip = document.activeElement?.closest?.("a.chip")?.firstChild.textContent, picks = picked(), top = scroller().scrollTop;
  swap(fresh);
  if (chip) [...list.querySelectorAll("a.chip")].find(c => c.firstChild.textContent === chip)?.focus();
  window.htmx?.process(list);
  if (keep || same) {
    for (const id of picks) { const box = rowOf(id)?.querySelector(".pick"); if (box) box.checked = true; }
    scroller().scrollTop = top;
    if (focused) linkOf(rowOf(focused))?.focus({preventScroll: true});
  }
  dressed();
  if (push && !same) history.pushState({}, "", address(openID()));
  if (!same) { markNav(); send("hs:view", {query}); say(list.querySelector("h1").textContent + ", " + rowsNow().length + " shown"); }
  list.dispatchEvent(new CustomEvent("htmx:after:swap", {bubbles: true, detail: {}}));
}

// refresh reads the shown view again. A load that is under way does as well, unless it fails: each list is followed from its own position.
function refresh() {
  owed = true;
  if (!reading) load(desk.dataset.view, {push: false, keep: true});
}

const positionOf = answer => answer.headers.get("Holdshort-Position");

// swap puts a list in place. The field in which somebody types is left alone.
function swap(fresh) {
  const find = list.querySelector(".find"), next = fresh.querySelector(".find");
  if (!find.contains(document.activeElement)) { list.replaceChildren(fresh); return; }
  for (const other of [...find.parentElement.children]) if (other !== find) other.remove();
  for (const kept of find.querySelectorAll("[type=hidden]")) kept.remove();
  find.prepend(...next.querySelectorAll("[type=hidden]"));
  const around = [...next.parentElement.children], at = around.indexOf(next);
  find.before(...around.slice(0, at));
  find.after(...around.slice(at + 1));
  $("pile").replaceWith(fresh.querySelector("#pile"));
}

// more reads on until as many rows are there as were.
async function more(fresh, many, signal) {
  for (let next; fresh.querySelectorAll("li.row").length < many && (next = fresh.querySelector("li.more a"));) {
    const answer = await part(moreOf(next), {signal});
    if (!answer.ok) return;
    next.closest("li").replaceWith(parsed(await answer.text()));
  }
}

const moreOf = link => link.getAttribute("href") + "&part=rows";

// extend adds the rows that follow. They may be older than the rest of the list, which is then followed from their position.
async function extend(link) {
  const item = link.parentElement, before = rowsNow().at(-1);
  if (item.ariaBusy) return;
  item.ariaBusy = "true";
  try {
    const answer = await part(moreOf(link)), fresh = parsed(await answer.text());
    if (!item.isConnected) return;
    if (!answer.ok) throw new Error(String(answer.status));
    for (const row of fresh.querySelectorAll("li.row")) if (rowOf(row.dataset.id)) row.remove();
    item.replaceWith(fresh);
    desk.dataset.position = Math.min(desk.dataset.position, positionOf(answer));
  } catch (e) {
    item.ariaBusy = null;
    if (e.name !== "AbortError") say("The list could not be loaded");
    return;
  }
  window.htmx?.process(list);
  linkOf(before?.nextElementSibling)?.focus();
  list.dispatchEvent(new CustomEvent("htmx:after:swap", {bubbles: true, detail: {}}));
}

const scroller = () => $("rows").parentElement;

// dressed does what the list needs after it was drawn.
function dressed() {
  const unpick = $("unpick");
  if (unpick) unpick.hidden = false;
  mark(openID());
  drawViews(desk.dataset.view, say);
  drawNotify(say);
  chosen();
}

function markNav() {
  const now = new URLSearchParams(desk.dataset.view).get("view") ?? "inbox";
  for (const link of document.querySelectorAll(".nav a[data-view]")) link.toggleAttribute("aria-current", link.dataset.view === now);
  document.querySelector(".nav a[aria-current]")?.setAttribute("aria-current", "page");
}

const plain = e => e.button === 0 && !e.ctrlKey && !e.metaKey && !e.shiftKey && !e.altKey && !e.defaultPrevented;

document.addEventListener("click", e => {
  if (e.target.matches?.(".pick")) { pickRange(e.target, e.shiftKey); return; }
  const link = e.target.closest?.("a");
  if (!link || !plain(e)) return;
  const row = link.closest("li.row");
  if (row) { e.preventDefault(); open(row.dataset.id, {into: e.detail === 0}); }
  else if (link.matches("#list .chip, #list .empty a[href^='/?'], #list .empty a[href='/'], .nav a[data-view]")) { e.preventDefault(); go(link); }
  else if (link.matches("#rows > .more > a")) { e.preventDefault(); extend(link); }
  else if (link.matches("#card > .back")) { e.preventDefault(); close(); }
  else if (link.matches("[data-close]")) { if (dialog.open) { e.preventDefault(); dialog.close(); } }
  else if (link.closest("#ask") && link.pathname.startsWith("/requests/")) { e.preventDefault(); dialog.close(); open(link.pathname.split("/")[2]); }
});

// go shows another view. The navigation leads to a list, with nothing open; a filter leaves open what is.
function go(link) {
  const query = new URL(link.href).search.slice(1), nav = link.matches(".nav a"), same = query === wanted();
  if (nav && openID()) close({push: same && query === desk.dataset.view});
  if (!nav || !same) load(query);
}

let typed;
list.addEventListener("input", e => {
  if (!e.target.matches("input[type=search]") || e.isComposing) return;
  clearTimeout(typed);
  typed = setTimeout(find, 250);
});
list.addEventListener("change", e => { if (e.target.matches("select[name=sort]")) find(); });
list.addEventListener("submit", e => {
  if (e.target.matches(".find")) { e.preventDefault(); clearTimeout(typed); find(); }
  else if (e.target.id === "pile") { e.preventDefault(); summary(e.submitter?.value); }
});

function find() {
  const q = new URLSearchParams();
  for (const [name, value] of new FormData(list.querySelector(".find"))) if (value.trim()) q.set(name, value.trim());
  q.sort();
  load(q.toString());
}

// --- selecting several ---

const picked = () => [...list.querySelectorAll(".pick:checked")].map(box => box.value);

function chosen() {
  const n = picked().length;
  list.classList.toggle("picking", n > 0);
  for (const e of list.querySelectorAll("[data-picked]")) e.textContent = n;
  for (const e of list.querySelectorAll("[data-several]")) e.textContent = n ? " " + n : "";
}

// pickRange selects one row, or all from the last one that was touched to this one.
function pickRange(box, range) {
  const boxes = [...list.querySelectorAll(".pick")], from = boxes.findIndex(b => b.value === lastPick), to = boxes.indexOf(box);
  if (range && from >= 0) for (const b of boxes.slice(Math.min(from, to), Math.max(from, to) + 1)) b.checked = box.checked;
  lastPick = box.value;
  chosen();
  say(picked().length + " selected");
}

function unpick() {
  for (const box of list.querySelectorAll(".pick:checked")) box.checked = false;
  chosen();
}
list.addEventListener("click", e => { if (e.target.closest("#unpick")) { unpick(); say("Nothing is selected"); } });

async function summary(verb) {
  const ids = picked();
  if (!ids.length || !verb || dialog.open) return;
  const body = new URLSearchParams([["verb", verb], ...ids.map(id => ["pick", id])]);
  try {
    const answer = await part("/requests/batch?step=summary", {method: "POST", body});
    dialog.replaceChildren(parsed(await answer.text()));
  } catch (e) {
    if (e.name !== "AbortError") say("Not loaded: no connection");
    return;
  }
  if (!dialog.querySelector("[data-close]")) dialog.append(parsed('<footer><a class="button" href="/" data-close>Close</a></footer>'));
  dialog.showModal();
  const head = dialog.querySelector("h1") ?? dialog;
  head.tabIndex = -1;
  head.focus({preventScroll: true});
  dialog.scrollTop = 0;
}

dialog.addEventListener("submit", async e => {
  const form = e.target;
  if (form.method !== "post") return;
  e.preventDefault();
  const button = form.querySelector("button:not([type])"), unsent = form.querySelector(".unsent");
  if (button.disabled) return;
  button.disabled = true;
  if (unsent) unsent.hidden = true;
  try {
    const answer = await part(form.getAttribute("action"), {method: "POST", body: new URLSearchParams(new FormData(form))});
    dialog.replaceChildren(parsed(await answer.text()));
  } catch (e) {
    // The form has its key: sent again, it decides once.
    button.disabled = false;
    if (unsent) unsent.hidden = false;
    return;
  }
  const done = [...dialog.querySelectorAll("[data-tone=yes]")].map(li => li.dataset.id);
  unpick();
  if (keeps()) anew(done); else change({gone: done, upsert: []}, true);
  if (done.includes(openID())) send("hs:changed", {id: openID(), status: "", revision: 0});
  say(dialog.querySelector("h1")?.textContent ?? "");
  dialog.querySelector("[data-close]")?.focus();
});
dialog.addEventListener("close", () => { dialog.replaceChildren(); (linkOf(rowOf(openID())) ?? linkOf(rowsNow()[0]))?.focus(); });

// --- what happens meanwhile ---

const sortKey = {
  "": r => [+r.dataset.urgency, +r.dataset.created],
  newest: r => [-r.dataset.created],
  due: r => [r.dataset.due ? +r.dataset.due : Infinity, +r.dataset.created],
};

function comesBefore(a, b, key) {
  const x = key(a), y = key(b);
  for (let i = 0; i < x.length; i++) if (x[i] !== y[i]) return x[i] < y[i];
  return a.dataset.id < b.dataset.id;
}

// anchor is the row that must not move: the one that is used, or the first that is seen of a list that was scrolled.
function anchor() {
  const box = scroller().getBoundingClientRect();
  const used = hovered?.isConnected && !hovered.matches(".leaving") ? hovered : document.activeElement?.closest?.("#rows li.row");
  if (used) return used;
  return scroller().scrollTop > 0 ? rowsNow().find(r => r.getBoundingClientRect().bottom > box.top) : null;
}

// holding does something to the list so that the row that is used stays where it is.
function holding(act) {
  const row = anchor(), at = row?.getBoundingClientRect().top;
  act();
  if (!row?.isConnected) return;
  const by = row.getBoundingClientRect().top - at, pile = scroller();
  // Room to scroll, until the pointer is gone.
  if (by > 0 && row === hovered) $("rows").style.minBlockSize = pile.clientHeight + pile.scrollTop + by + "px";
  pile.scrollTop += by;
}

// change applies what came from the server. byMe: this page did it.
function change({upsert = [], gone = []}, byMe) {
  const query = new URLSearchParams(desk.dataset.view), sorts = query.get("view") === "decided" ? sortKey.newest : sortKey[query.get("sort") ?? ""] ?? sortKey[""];
  const key = query.get("q") ? r => [r.querySelector(".state") ? 1 : 0, ...sorts(r)] : sorts; // search results: open requests first
  const fresh = [], told = [];
  holding(() => {
    for (const {id, html} of upsert) {
      const row = parsed(html).querySelector("li.row"), old = rowOf(id);
      if (!row) continue;
      if (old && !old.matches(".leaving")) { replace(old, row, sorts); told.push(row); continue; }
      old?.remove();
      told.push(row);
      if (place(row, key)) fresh.push(row);
    }
    for (const id of gone) leave(rowOf(id), byMe);
  });
  for (const row of fresh) { row.classList.add("new"); row.addEventListener("animationend", () => row.classList.remove("new"), {once: true}); }
  if (fresh.length) { list.querySelector("#pile .empty")?.remove(); above(fresh); say(fresh.length === 1 ? "New: " + word(fresh[0]) : fresh.length + " new requests"); }
  arrived(told);
  chosen();
  for (const row of told) window.htmx?.process(row);
  $("rows").dispatchEvent(new CustomEvent("htmx:after:swap", {bubbles: true, detail: {}}));
}

// place puts a row where it belongs; not at all if it belongs to what was not loaded yet.
function place(row, key) {
  const next = rowsNow().find(r => comesBefore(row, r, key)), more = $("rows").querySelector("li.more");
  if (!next && more) return false;
  $("rows").insertBefore(row, next ?? null);
  return true;
}

function replace(old, row, key) {
  const box = old.querySelector(".pick"), link = linkOf(old), focused = old.contains(document.activeElement) && (document.activeElement === box ? ".pick" : "a");
  if (box?.checked) row.querySelector(".pick")?.setAttribute("checked", "");
  const moves = key(old).join() !== key(row).join();
  old.replaceWith(row);
  if (moves && !place(row, key)) row.remove();
  if (old.dataset.id === openID()) mark(openID());
  if (focused) (row.querySelector(focused) ?? link)?.focus({preventScroll: true});
}

// leave takes a row out. The one whose request is open stays, marked, until somebody goes on; so does one whose leaving would move what is pointed at.
function leave(row, byMe) {
  if (!row || row.matches(".leaving")) return;
  const box = row.querySelector(".pick");
  if (box) { box.checked = false; box.disabled = true; }
  row.classList.add("closed");
  const left = row.querySelector(".t");
  if (left && !left.querySelector(".state")) { left.classList.remove("due"); left.textContent = "closed"; }
  if (row.dataset.id === openID() && !byMe) return;
  if (hovered?.isConnected && hovered !== row && row.compareDocumentPosition(hovered) & Node.DOCUMENT_POSITION_FOLLOWING && scroller().scrollTop < row.offsetHeight) { row.classList.add("later"); return; }
  slideOut(row);
}

function slideOut(row) {
  const away = () => {
    const focused = row.contains(document.activeElement), next = near(row);
    row.remove();
    if (focused) linkOf(next)?.focus({preventScroll: true});
    if (!rowsNow().length && !$("rows").querySelector("li.more")) refresh();
  };
  if (still.matches || document.hidden) { away(); return; }
  row.classList.add("leaving");
  let done = false;
  const once = () => { if (!done) { done = true; holding(away); } };
  row.addEventListener("animationend", once, {once: true});
  setTimeout(once, 400);
}

// leaveGone lets go of a row that was kept only because it was open.
function leaveGone(id) { const row = rowOf(id); if (row?.matches(".closed") && row.querySelector(".pick")) slideOut(row); }

const near = row => {
  for (let r = row.nextElementSibling; r; r = r.nextElementSibling) if (r.matches("li.row:not(.leaving, .closed)")) return r;
  for (let r = row.previousElementSibling; r; r = r.previousElementSibling) if (r.matches("li.row:not(.leaving, .closed)")) return r;
};

// above says that something new stands above what is seen.
function above(fresh) {
  const top = scroller().getBoundingClientRect().top, n = fresh.filter(r => r.getBoundingClientRect().bottom <= top + 4).length, button = $("above");
  if (!n) return;
  const all = (+button.dataset.n || 0) + n;
  button.dataset.n = all;
  button.textContent = "↑ " + all + " new";
  button.hidden = false;
}
list.addEventListener("click", e => { if (e.target.id === "above") scroller().scrollTo({top: 0, behavior: still.matches ? "auto" : "smooth"}); });
list.addEventListener("scroll", e => { const b = $("above"); if (e.target === scroller() && e.target.scrollTop < 8 && b) { b.hidden = true; b.dataset.n = 0; } }, true);

// What is pointed at stays where it is, as long as the pointer is used: a mouse that only lies there holds nothing.
let resting = 0;
list.addEventListener("pointermove", e => {
  if (e.pointerType !== "mouse") return;
  hovered = e.target.closest("#rows li.row");
  clearTimeout(resting);
  resting = setTimeout(release, 3000);
}, {passive: true});
list.addEventListener("pointerleave", release);
function release() {
  clearTimeout(resting);
  hovered = null;
  $("rows").style.minBlockSize = "";
  for (const row of list.querySelectorAll("li.later")) { row.classList.remove("later"); slideOut(row); }
  if (scroller().scrollTop < 8) { $("above").hidden = true; $("above").dataset.n = 0; }
}

// anew asks for rows. Lists with closed requests need it: their rows say more than the stream sends. One question is under way at a time, so that an
// older answer cannot replace a newer one. A row that is not in the answer is not in the view.
const stale = new Set();
let asking = false;
async function anew(ids) {
  for (const id of ids) stale.add(id);
  if (asking || !stale.size) return;
  const now = [...stale].slice(0, 50), shown = $("rows"), query = new URLSearchParams(desk.dataset.view);
  for (const id of now) { stale.delete(id); query.append(rowOf(id) ? "id" : "new", id); }
  query.set("part", "row");
  asking = true;
  let rows = null;
  try {
    const answer = await part("/?" + query), html = await answer.text();
    if (answer.ok || answer.status === 404) rows = [...parsed(answer.ok ? html : "").querySelectorAll("li.row")];
  } catch { /* it is asked again */ }
  asking = false;
  // A list that was loaded meanwhile is complete up to its own position.
  if (shown === $("rows")) {
    if (!rows) { for (const id of now) stale.add(id); setTimeout(anew, 2000, []); return; }
    const found = new Set(rows.map(r => r.dataset.id));
    change({upsert: rows.map(r => ({id: r.dataset.id, html: r.outerHTML})), gone: now.filter(id => !found.has(id))});
  }
  anew([]);
}
const keeps = () => { const q = new URLSearchParams(desk.dataset.view); return q.has("q") || q.get("view") === "decided"; };

document.addEventListener("hs:rows", e => {
  const {upsert = [], gone = []} = e.detail;
  if (!keeps()) { change({upsert, gone}); return; }
  anew([...upsert.map(r => r.id), ...gone.filter(rowOf)]);
});

// The numbers themselves are filled in where they are heard. Here: a filter that would show nothing goes, and one that has something now comes.
document.addEventListener("hs:counts", e => {
  const c = e.detail, flat = {soon: c.soon};
  for (const [kind, n] of Object.entries(c.kinds ?? {})) flat["kinds." + kind] = n;
  for (const p of ["critical", "high"]) flat["priorities." + p] = c.priorities?.[p];
  for (const place of list.querySelectorAll(".top .chip [data-count]")) {
    const name = place.dataset.count, chip = place.closest(".chip");
    if (name !== "all") chip.hidden = (flat[name] ?? "0") === "0" && !chip.hasAttribute("aria-current");
  }
  const counted = list.querySelector(".top [data-count=all]");
  if (counted && Object.entries(flat).some(([name, n]) => n && n !== "0" && !list.querySelector(`.top [data-count="${CSS.escape(name)}"]`))) redraw();
  const oldest = list.querySelector(".oldest time");
  if (oldest && c.oldest) { oldest.dateTime = new Date(c.oldest).toISOString(); delete oldest.dataset.told; }
  if (oldest) oldest.parentElement.hidden = !c.oldest;
  titled(c.all);
});

// redraw draws the filters anew: there is a kind now of which there was none. Calls while it is planned do not delay it. An answer counts unless a
// later one, or a whole list, was faster.
let drawing = 0, redraws = 0, redrawn = 0;
function redraw() {
  drawing ||= setTimeout(async () => {
    drawing = 0;
    const query = desk.dataset.view, shown = $("rows"), mine = ++redraws;
    const answer = await part("/" + (query && "?" + query)).catch(() => null), html = answer?.ok && await answer.text().catch(() => "");
    if (!html || shown !== $("rows") || mine < redrawn) return;
    redrawn = mine;
    const fresh = parsed(html).querySelector(".chips"), old = list.querySelector(".chips");
    if (!fresh || old.contains(document.activeElement)) return;
    holding(() => { old.replaceWith(fresh); drawViews(query, say); });
  }, 300);
}

document.addEventListener("hs:resync", refresh);
document.addEventListener("hs:live", e => { if (e.detail.up) card.querySelector(".unloaded button")?.click(); });
document.addEventListener("hs:show", e => { if (e.detail?.id) open(e.detail.id); });

// What was decided leaves, unless it waits for others too, and the next one opens: the place in the list is kept. On a phone the next one waits for
// a tap: its button would come under the thumb that has just pressed.
document.addEventListener("hs:decided", e => {
  const {id, outcome, waits} = e.detail, row = rowOf(id), next = row && near(row), about = word(row), became = (outcome || "decided").replace(/^./, c => c.toUpperCase());
  const away = () => { if (keeps()) { if (row) anew([id]); } else if (!waits) leave(row, true); };
  if (openID() !== id) { away(); return; }
  if (next && !narrow.matches) {
    away();
    open(next.dataset.id);
    linkOf(next).focus();
    tell(became + ": " + about, "Show", id);
    say("Next: " + word(next));
    return;
  }
  if (keeps()) away(); else if (!waits) row?.classList.add("closed");
  if (next) tell(became, "Next: " + word(next), next.dataset.id);
  else say(became + (about && ": " + about));
});

// tell says something for a while, with a way to a request.
let telling = 0;
function tell(said, where, id) {
  const place = $("tell"), note = document.createElement("div"), text = document.createElement("span"), link = document.createElement("a");
  text.textContent = said;
  link.textContent = where.length > 40 ? where.slice(0, 39) + "…" : where;
  text.dir = link.dir = "auto";
  link.href = "/requests/" + id;
  link.addEventListener("click", e => { if (plain(e)) { e.preventDefault(); note.remove(); open(id, {into: true}); } });
  note.className = "told";
  note.append(text, link);
  place.querySelector(".told")?.remove();
  place.append(note);
  clearTimeout(telling);
  telling = setTimeout(() => note.remove(), 8000);
}

document.addEventListener("htmx:after:swap", () => mark(openID()));

// --- keys ---

// here is the row that keys act on.
const here = () => document.activeElement?.closest?.("#rows li.row") ?? rowOf(openID());

function move(step) {
  const rows = rowsNow(), at = rows.indexOf(here());
  const to = at < 0 ? (step > 0 ? rows[0] : rows.at(-1)) : rows[at + step];
  if (!to) {
    const more = step > 0 && $("rows").querySelector("li.more a");
    if (more) more.click(); else say(step > 0 ? "That was the last one" : "That was the first one");
    return;
  }
  linkOf(to).focus();
  to.scrollIntoView({block: "nearest"});
  if (!narrow.matches) open(to.dataset.id, {wait: 120});
}

const inCard = () => card.contains(document.activeElement);
onKey("j", () => move(1));
onKey("k", () => move(-1));
onKey("ArrowDown", () => !inCard() && move(1));
onKey("ArrowUp", () => !inCard() && move(-1));
onKey("o", () => { const row = here() ?? rowsNow()[0]; if (row) open(row.dataset.id, {into: true}); });
onKey("Enter", e => { if (e.target !== document.body) return false; const row = here() ?? rowsNow()[0]; if (row) open(row.dataset.id, {into: true}); });
onKey("x", () => { const box = here()?.querySelector(".pick"); if (box && !box.disabled) { box.checked = !box.checked; pickRange(box, false); } });
onKey("Shift+x", () => { const box = here()?.querySelector(".pick"); if (box && !box.disabled) { box.checked = true; pickRange(box, true); } });
onKey("*", () => {
  const boxes = [...list.querySelectorAll(".pick:not(:disabled)")], all = !boxes.every(b => b.checked);
  for (const b of boxes) b.checked = all;
  chosen();
  say(picked().length + " selected");
});
onKey("/", () => { const field = list.querySelector("input[type=search]"); if (narrow.matches && openID()) close(); field.focus(); field.select(); });
onKey("Blur", e => { if (card.contains(e.target)) enter(); else linkOf(here() ?? rowsNow()[0])?.focus(); });
onKey("Escape", () => {
  if (picked().length) { unpick(); say("Nothing is selected"); return; }
  if (!openID()) return false;
  if (inCard() && !narrow.matches && rowOf(openID())) { linkOf(rowOf(openID())).focus(); return; }
  close();
});

// A decision is for what is seen: not for a card that is still coming, nor for one that came under the finger this very moment.
function decide(verb) {
  const id = openID(), shown = card.querySelector("article[data-id]");
  if (!id || shown?.dataset.id !== id || card.hasAttribute("aria-busy")) return;
  if (performance.now() - shownAt < 400) return;
  send("hs:decide", {id, verb});
}
for (const [key, verb] of Object.entries({a: "approve", r: "reject", e: "edit", s: "respond", c: "comment", m: "assign"})) {
  onKey(key, () => {
    if ((key === "a" || key === "r") && picked().length) summary(verb);
    else if (openID()) decide(verb);
    else return false;
  });
}
onKey("u", () => send("hs:decide", {id: openID(), verb: "undo"}));

(window.requestIdleCallback ?? setTimeout)(cardScripts);
dressed();
shut(!desk.classList.contains("open"));
markNav();
titled(null, openID() ? card.querySelector("h1")?.textContent.trim() : undefined);
