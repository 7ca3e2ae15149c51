// The page hears the server: one stream for everything it shows. While it does not hear it, it says so, and shows nothing as new that is old.
// What is told and when: see live.go. Other scripts listen to the hs: events on document.
import {serverTime, setServerTime} from "./times.js";

const build = new URL(import.meta.url).pathname.split("/")[2];
const secure = window.isSecureContext && "locks" in navigator;
let after = document.body.dataset.position ?? ""; // the position that the page shows
let stream = null; // the one that is heard
let next = null; // the one that is being opened, in its place if there is one
let timer = 0, attempt = 0, since = null, doubt = false, told = "", outdated = false, release = null;

const say = (name, detail) => document.dispatchEvent(new CustomEvent("hs:" + name, {detail}));

// What the page shows now.
function shown() {
  const q = new URLSearchParams();
  const desk = document.querySelector(".desk[data-view]");
  if (desk) q.set("view", desk.dataset.view);
  const cards = new Set([...document.querySelectorAll("article.request[data-id]")].map(a => a.dataset.id));
  for (const id of cards) if (id) q.append("card", id);
  const run = document.querySelector("[data-live-run]")?.dataset.liveRun, session = document.querySelector("[data-live-session]")?.dataset.liveSession;
  if (run) q.set("run", run);
  if (session) q.set("session", session);
  return q;
}

// A card that is opened was drawn after this position, by its id: what the stream before it was told since is not told again.
const opened = new Map();
document.addEventListener("hs:open", e => { opened.clear(); opened.set(e.detail?.id, after); });

// look follows what the page shows: if that has changed a new stream is opened, and the old one is heard until the new one speaks.
let looking = 0;
export function look() {
  clearTimeout(looking);
  looking = setTimeout(() => {
    const now = shown().toString();
    if ((next ?? stream) && (next ?? stream).shown !== now) open();
  }, 250); // whoever goes through a list does not stop at every row
}

function open() {
  clearTimeout(timer);
  next?.end();
  const q = shown(), me = {shown: q.toString(), cards: q.getAll("card"), after, abort: new AbortController(), silent: 0, keep: 15000};
  me.end = () => { me.over = true; clearTimeout(me.silent); me.abort.abort(); };
  me.alive = () => { clearTimeout(me.silent); me.silent = setTimeout(() => lost(me), 2.5 * me.keep + 5000); };
  next = me;
  if (after !== "") q.set("after", after);
  me.alive();
  read(me, "/live?" + q).then(wait => lost(me, wait), () => lost(me));
}

// read follows a stream to its end, and gives how long to wait before the next try if the server said so.
async function read(me, address) {
  const answer = await fetch(address, {signal: me.abort.signal, headers: {Accept: "text/event-stream"}, cache: "no-store", credentials: "same-origin"});
  if (answer.status === 401) return loggedOut(me);
  if (!answer.ok || !answer.headers.get("Content-Type")?.startsWith("text/event-stream")) {
    me.why = answer.status === 429 ? "too many pages are open" : "";
    answer.body?.cancel();
    return 1000 * answer.headers.get("Retry-After") || undefined;
  }
  const from = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const {value, done} = await from.read();
    if (done || me.over) return me.wait;
    text += value;
    me.alive();
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) heard(me, text.slice(0, end));
  }
}

function heard(me, block) {
  let id = "", name = "", data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("id: ")) id = line.slice(4);
    else if (line.startsWith("event: ")) name = line.slice(7);
    else if (line.startsWith("data: ")) data += line.slice(6);
  }
  if (me.over) return;
  const detail = name && JSON.parse(data);
  if (name === "hello") hello(me, detail);
  if (me !== stream) return;
  if (id) after = id; // everything up to it was told
  switch (name) {
  case "rows": rows(detail); break;
  case "counts": counts(detail); break;
  case "card": say("changed", detail); break;
  case "presence": case "run": case "session": say(name, detail); break;
  case "resync": resync(detail.why); break;
  case "hello": case "beat": beat(detail); break;
  case "bye": me.wait = detail.retry * (0.5 + Math.random()); doubt ||= !!detail.resync; break;
  }
}

function hello(me, detail) {
  if (me !== next) return;
  const before = stream;
  before?.end();
  stream = me;
  next = null;
  attempt = 0;
  me.keep = detail.keep || me.keep;
  const was = since !== null || told === "";
  since = null;
  up(true, was);
  if (detail.build !== build) older();
  if (detail.missed || doubt) resync(detail.missed ? "missed" : "doubt");
  else if (before) for (const id of me.cards) if (!before.cards.includes(id) && opened.get(id) !== me.after) say("changed", {id, event: ""});
  doubt = false;
}

// A list of what was searched for is not added to: only the engine knows what fits.
function rows(detail) {
  if (new URLSearchParams(document.querySelector(".desk")?.dataset.view).get("q")) detail.upsert = detail.upsert.filter(r => document.getElementById("row-" + r.id));
  if (detail.upsert.length || detail.gone.length) say("rows", detail);
}

function counts(detail) {
  for (const e of document.querySelectorAll("[data-count]")) {
    const path = e.dataset.count.split("."), n = path.reduce((o, k) => o?.[k], detail) ?? (path.length > 1 ? "0" : undefined);
    if (typeof n === "string") e.textContent = n === "0" && (path[0] === "mine" || path[0] === "unknown") ? "" : n;
  }
  say("counts", detail);
}

// resync asks for everything that the page shows: something may have been missed.
function resync(why) {
  const q = shown();
  say("resync", {why});
  for (const id of q.getAll("card")) say("changed", {id, event: ""});
  if (q.has("run")) say("run", {id: q.get("run")});
  if (q.has("session")) say("session", {id: q.get("session")});
}

function lost(me, wait) {
  if (me.over) return;
  me.end();
  if (me === next) next = null;
  else if (me === stream) stream = null;
  else return;
  if (!stream) up(false, true, me.why);
  if (!next) again(wait);
}

// again tries later, and later still: not all pages at the same moment.
function again(wait) {
  clearTimeout(timer);
  if (parked()) return;
  const most = Math.min(15000, 500 * 2 ** attempt++);
  timer = setTimeout(open, Math.max(500, wait ?? most * (0.5 + Math.random() / 2)));
}

function loggedOut(me) {
  me.why = "login";
  return 15000;
}

// What is said about it.
const clock = new Intl.DateTimeFormat(undefined, {timeStyle: "short"});
const state = () => document.getElementById("state");

function up(is, changed, why) {
  document.body.classList.toggle("stale", !is);
  if (!is) since ??= new Date();
  const text = is ? "live" : why === "login" ? "You are logged out." : why === "paused" ? "Paused in the background." : why ? "Not live: " + why + "." : "Not connected since " + clock.format(since) + ", trying again.";
  if (text !== told) {
    told = text;
    const e = state();
    if (e) {
      e.setAttribute("aria-live", is ? "off" : "polite"); // that all is well is not announced every few seconds
      e.classList.toggle("alarm", !is);
      e.replaceChildren(text);
      if (why === "login") e.append(" ", link("Log in", "/login?next=" + encodeURIComponent(location.pathname + location.search)));
    }
    notice("offline", is || why === "paused" || e?.offsetParent ? "" : text); // where there is no room for it, it is said at the bottom
  }
  if (changed) say("live", {up: is});
}

function beat(detail) {
  setServerTime(detail.now);
  const e = state();
  if (!e || !detail.sealed) return;
  let at = e.querySelector("time");
  if (!at) {
    at = document.createElement("time");
    at.dataset.ago = "";
    e.replaceChildren("live · audit sealed ", at);
  }
  at.dateTime = new Date(detail.sealed).toISOString();
  delete at.dataset.told;
  at.textContent = Math.max(0, Math.round((serverTime() - detail.sealed) / 1000)) + " s ago";
}

function link(text, to) {
  const a = document.createElement("a");
  a.href = to;
  a.textContent = text;
  return a;
}

function notice(name, text, ...more) {
  const tell = document.getElementById("tell");
  let e = tell?.querySelector(`[data-notice="${name}"]`);
  if (!text) return e?.remove();
  if (!e && tell) {
    e = document.createElement("div");
    e.dataset.notice = name;
    tell.append(e);
  }
  e?.replaceChildren(text, ...more);
}

function older() {
  if (outdated) return;
  outdated = true;
  const reload = document.createElement("button");
  reload.type = "button";
  reload.textContent = "Reload";
  reload.addEventListener("click", () => location.reload());
  notice("older", "This page is from an older version.", reload);
}

// A browser opens only a few connections to one server, however many pages it has. Pages that nobody sees give theirs back, but for one that
// stays to notify.
const parked = () => document.hidden && !release;

function hidden() {
  if (!secure) return park();
  const wait = new AbortController();
  hidden.wait = wait;
  navigator.locks.request("holdshort-live", {ifAvailable: true}, held => held ? hold() : park()).then(() => {
    if (document.hidden && !release && !wait.signal.aborted) return navigator.locks.request("holdshort-live", {signal: wait.signal}, hold);
  }).catch(() => {}); // nobody waits for it any more
}

// hold keeps the page connected until somebody sees it, or it is closed.
function hold() {
  if (!document.hidden) return;
  if (!stream && !next) open();
  return new Promise(done => { release = done; });
}

function park() {
  clearTimeout(timer);
  next?.end();
  stream?.end();
  next = stream = null;
  up(false, true, "paused");
}

function visible() {
  clearTimeout(hiding);
  hidden.wait?.abort();
  release?.();
  release = null;
  if (!stream && !next) { attempt = 0; open(); }
}

let hiding = 0;
document.addEventListener("visibilitychange", () => {
  clearTimeout(hiding);
  if (document.hidden) hiding = setTimeout(hidden, 10000);
  else visible();
});
addEventListener("online", () => { attempt = 0; if (!stream && !parked()) open(); });
addEventListener("offline", () => { for (const s of [stream, next]) if (s) lost(s); });
addEventListener("pagehide", () => { clearTimeout(timer); next?.end(); stream?.end(); next = stream = null; });
addEventListener("pageshow", e => { if (e.persisted) { doubt = true; up(false, true); visible(); } });
for (const name of ["hs:view", "hs:open", "hs:card", "htmx:after:swap"]) document.addEventListener(name, look);
addEventListener("popstate", look);
if (document.body.dataset.me) document.hidden ? hidden() : open();
