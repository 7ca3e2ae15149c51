// The page hears the server: one stream for everything it shows. While it does not hear it, it says so, and shows nothing as new that is old.
// What is told and when: see live.go. Other scripts listen to the hs: events on document.
import {serverTime, setServerTime} from "./times.js";

const build = new URL(import.meta.url).pathname.split("/")[2];
const secure = window.isSecureContext && "locks" in navigator;
let stream = null; // the one that is heard
let next = null; // the one that is being opened, in its place if there is one
let timer = 0, attempt = 0, since = null, doubt = false, told = "", outdated = false, release = null;

const say = (name, detail) => document.dispatchEvent(new CustomEvent("hs:" + name, {detail}));

// parts lists what the stream keeps current: the list, each card, the run or session. The position of a part is the position of the log up to which
// it shows every event. The server sends it with the part, and a stream that follows the part moves it on. While a part is loaded again it has none.
function parts() {
  const page = document.body.dataset, found = [], add = (name, value, at) => { if (value) found.push({name, value, at}); };
  const desk = document.querySelector(".desk[data-view]");
  if (desk) found.push({name: "view", value: desk.dataset.view, at: desk.dataset});
  for (const {dataset} of document.querySelectorAll("article.request")) add("card", dataset.id, dataset);
  add("run", document.querySelector("[data-live-run]")?.dataset.liveRun, page);
  add("session", document.querySelector("[data-live-session]")?.dataset.liveSession, page);
  return found.length ? found : [{at: page}];
}
const list = document.querySelector(".desk[data-view]");
if (list) list.dataset.position ??= document.body.dataset.position;

const follows = (query, part) => !part.name || query.getAll(part.name).includes(part.value);

// shown is the query of a stream that follows these parts.
function shown(all = parts()) {
  const query = new URLSearchParams();
  for (const part of all) if (!follows(query, part)) query.append(part.name, part.value);
  return query;
}

// needsAnother reports whether a stream no longer serves the page: other parts are shown, or a part is older than the events that the stream tells.
const needsAnother = me => me && (String(me.query) !== String(shown()) || parts().some(p => me.told > p.at.position));

// look opens a new stream when the page needs one. The old one is heard until the new one speaks. No event is lost meanwhile, because the new stream
// begins at the oldest position of the parts. Traffic cannot delay it: later calls do not move a stream that is already planned.
const pause = 250; // between two streams, for a reviewer who walks through a list
let planned = 0, last = -pause;
export function look() {
  if (planned || !needsAnother(next ?? stream)) return;
  planned = setTimeout(() => {
    planned = 0;
    if (needsAnother(next ?? stream)) open();
  }, Math.max(0, last + pause - performance.now()));
}

function open() {
  clearTimeout(timer);
  next?.end();
  last = performance.now();
  const all = parts(), known = all.map(p => parseInt(p.at.position)).filter(n => n >= 0);
  const me = {query: shown(all), told: Math.min(...known), events: [], abort: new AbortController(), silent: 0, keep: 15000};
  me.end = () => { me.over = true; clearTimeout(me.silent); me.abort.abort(); };
  me.alive = () => { clearTimeout(me.silent); me.silent = setTimeout(() => lost(me), me === next ? 10000 : 2.5 * me.keep + 5000); };
  next = me;
  me.alive();
  const q = new URLSearchParams(me.query);
  if (known.length) q.set("after", me.told);
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
  if (id) reached(me, parseInt(id));
  switch (name) {
  case "rows": case "card": case "run": case "session": me.events.push({name, detail}); break;
  case "counts": counts(detail); break;
  case "presence": say(name, detail); break;
  case "resync": resync(detail.why); break;
  case "hello": case "beat": beat(detail); break;
  case "bye": me.wait = detail.retry * (0.5 + Math.random()); doubt ||= !!detail.resync; break;
  }
}

// reached applies the events up to a position, and moves on the parts that show every event before them. Both happen at once: a list that is loaded
// in between would move on without the events. A list that was loaded at a later position is newer than the rows. A card that the stream does not
// follow yet is loaded again, because an event may be about it.
function reached(me, position) {
  const all = parts();
  for (const {name, detail} of me.events.splice(0)) {
    if (name !== "rows") say(name === "card" ? "changed" : name, detail);
    else if (all.some(p => p.name === "view" && follows(me.query, p) && !(p.at.position >= position))) say("rows", detail);
  }
  for (const part of all) {
    if (!follows(me.query, part)) { if (part.name === "card") say("changed", {id: part.value, event: ""}); }
    else if (me.told <= part.at.position) part.at.position = Math.max(position, part.at.position);
  }
  me.told = Math.max(me.told, position);
}

function hello(me, detail) {
  if (me !== next) return;
  stream?.end();
  stream = me;
  next = null;
  attempt = 0;
  me.keep = detail.keep || me.keep;
  const was = since !== null || told === "";
  since = null;
  up(true, was);
  if (detail.build !== build) older();
  if (detail.missed) me.told = detail.position;
  if (detail.missed || doubt) resync(detail.missed ? "missed" : "doubt");
  doubt = false;
  look();
}

function counts(detail) {
  for (const e of document.querySelectorAll("[data-count]")) {
    const path = e.dataset.count.split("."), n = path.reduce((o, k) => o?.[k], detail) ?? (path.length > 1 ? "0" : undefined);
    if (typeof n === "string") e.textContent = n === "0" && (path[0] === "mine" || path[0] === "unknown") ? "" : n;
  }
  say("counts", detail);
}

// resync has every part of the page loaded again: events may have been missed. A list or card has no position until it was.
function resync(why) {
  const all = parts();
  for (const {at} of all) delete at.position;
  document.body.dataset.position = stream.told; // the scripts of a run or session load it again until they succeed
  for (const {name, value} of all) {
    if (name === "view") say("resync", {why});
    else if (name) say(name === "card" ? "changed" : name, {id: value, event: ""});
  }
}

function lost(me, wait) {
  if (me.over) return;
  me.end();
  if (me === next) next = null;
  else if (me === stream) stream = null;
  else return;
  if (!stream || needsAnother(stream)) up(false, true, me.why); // what is shown is not followed
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

// The first stream opens when every script of the page has run. An event that arrives before them reaches no listener, and would count as shown.
let hiding = 0;
document.addEventListener("DOMContentLoaded", () => {
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(hidden, 10000);
    else visible();
  });
  addEventListener("online", () => { attempt = 0; if (!stream && !parked()) open(); });
  if (document.body.dataset.me) document.hidden ? hidden() : open();
});
addEventListener("offline", () => { for (const s of [stream, next]) if (s) lost(s); });
addEventListener("pagehide", () => { clearTimeout(timer); next?.end(); stream?.end(); next = stream = null; });
addEventListener("pageshow", e => { if (e.persisted) { doubt = true; up(false, true); visible(); } });
for (const name of ["hs:view", "hs:open", "hs:card", "htmx:after:swap"]) document.addEventListener(name, look);
addEventListener("popstate", look);
