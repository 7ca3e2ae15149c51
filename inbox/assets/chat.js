// A conversation: what is said appears as it is said, what waits for a person appears beside it, and nothing that was typed gets lost.
const kept = "holdshort-playground"; // the conversation that this browser had last
const chat = () => document.getElementById("chat");
const talk = () => chat() ?? document.getElementById("session");
const log = () => document.getElementById("log");
const remember = id => { try { id ? localStorage.setItem(kept, id) : localStorage.removeItem(kept); } catch { /* without a place to keep it the list of conversations has it */ } };
const remembered = () => { try { return localStorage.getItem(kept); } catch { return null; } };

// Where somebody was is where they come back to, unless they want a new conversation.
if (chat()?.dataset.gone) remember("");
else if (chat()?.dataset.session) remember(chat().dataset.session);
else if (document.getElementById("choice")) {
  const last = remembered();
  if (new URLSearchParams(location.search).has("new")) remember("");
  else if (last) location.replace("/playground/" + encodeURIComponent(last));
}

const atEnd = () => { const l = log(); return l && l.scrollHeight - l.scrollTop - l.clientHeight < 60; };
const toEnd = () => { const l = log(); if (l) l.scrollTop = l.scrollHeight; };

// take puts what the server says in place of what is shown: bubbles that are there stay, so that nothing jumps. An answer to an older question
// than the one that was taken last is not taken.
const words = b => b.querySelector("p")?.textContent;
let asked = 0, taken = 0;
function take(text, number) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const fresh = page.querySelector("#chat,#session"), now = talk();
  if (!fresh || !now || number < taken) return;
  taken = number;
  if (fresh.dataset.gone) { remember(""); now.replaceWith(document.adoptNode(fresh)); return; }
  const end = atEnd(), into = log(), ids = new Set();
  for (const b of [...into.children]) if (!b.id) b.remove();
  let after = null;
  for (const b of [...fresh.querySelector("#log").children]) {
    ids.add(b.id);
    const old = b.id ? document.getElementById(b.id) : null;
    if (old && old.className === b.className && words(old) === words(b)) { after = old; continue; }
    const put = document.adoptNode(b);
    old ? old.replaceWith(put) : after ? after.after(put) : into.prepend(put);
    after = put;
  }
  const works = fresh.querySelector(".working");
  for (const b of [...into.children]) if (b.id && !ids.has(b.id) && !(works && b.classList.contains("streams"))) b.remove();
  document.getElementById("standing")?.replaceWith(document.adoptNode(fresh.querySelector("#standing")));
  if (now.id === "session") for (const part of ["#take", ".chat-side"]) now.querySelector(part)?.replaceWith(document.adoptNode(fresh.querySelector(part)));
  if (fresh.dataset.requests !== undefined) now.dataset.requests = fresh.dataset.requests;
  cards();
  if (end) toEnd();
  document.dispatchEvent(new CustomEvent("hs:drawn"));
}

// cards keeps one widget for each request that waits. One that was decided stays until the next message, so that its outcome is seen.
function cards() {
  const at = document.getElementById("cards");
  if (!at) return;
  const open = chat().dataset.requests.split(" ").filter(Boolean);
  for (const id of open) {
    let w = at.querySelector(`[data-request="${CSS.escape(id)}"]`);
    if (!w) {
      w = document.createElement("div");
      w.className = "widget";
      w.dataset.request = id;
      at.append(w);
    }
    if (!w.dataset.drawn) draw(w, id);
  }
  for (const a of at.querySelectorAll("article.request[data-status=open]")) { // the conversation may know earlier that it was decided
    if (!open.includes(a.dataset.id)) document.dispatchEvent(new CustomEvent("hs:changed", {detail: {id: a.dataset.id, event: ""}}));
  }
  document.getElementById("no-cards").hidden = at.children.length > 0;
}

async function draw(w, id) {
  w.dataset.drawn = "yes";
  const answer = await fetch("/requests/" + encodeURIComponent(id) + "/card", {headers: {"HX-Request": "true"}, cache: "no-store"}).catch(() => null);
  if (!answer?.ok) {
    delete w.dataset.drawn;
    if (answer?.status === 404) w.remove();
    return;
  }
  await htmx.swap({text: await answer.text(), target: w, sourceElement: w, swap: "innerHTML"});
  document.dispatchEvent(new CustomEvent("hs:card", {detail: {id}}));
}

// Looking again: when the server says that something happened, after a lost connection, and while no stream is heard.
let waits = 0, busy = false, again = false;
function later(ms) {
  clearTimeout(waits);
  waits = setTimeout(refresh, ms);
}
async function refresh() {
  if (!talk() || talk().dataset.gone) return;
  if (busy) { again = true; return; }
  busy = true;
  const number = ++asked;
  try {
    const answer = await fetch(location.pathname, {headers: {"HX-Request": "true"}, cache: "no-store"});
    if (answer.ok || answer.status === 404) take(await answer.text(), number);
  } catch { /* the page says itself that it is not connected, and looks again once it is */ }
  busy = false;
  if (again) { again = false; later(100); }
}
document.addEventListener("hs:session", e => { if (e.detail.id === (talk()?.dataset.session ?? talk()?.dataset.id)) later(40); });
document.addEventListener("hs:decided", () => later(150));
document.addEventListener("hs:live", e => { if (e.detail.up) later(0); });
setInterval(() => { if (!document.hidden && document.body.classList.contains("stale")) later(0); }, 3000);

// Pieces of an answer as the model makes them. They are no facts: the whole text comes with the conversation and takes their place.
function listen(session) {
  const pieces = new EventSource("/v1/sessions/" + encodeURIComponent(session) + "/events?type=message.delta,message.reset");
  const bubble = id => {
    let b = document.getElementById("b-" + id);
    if (b) return b.classList.contains("streams") ? b : null; // the whole of it is there
    const end = atEnd();
    b = document.createElement("div");
    b.className = "bubble streams";
    b.id = "b-" + id;
    b.append(document.createElement("p"));
    b.firstChild.dir = "auto";
    log().append(b);
    if (end) toEnd();
    return b;
  };
  pieces.addEventListener("message.delta", e => {
    const d = JSON.parse(e.data), b = bubble(d.message_id);
    if (!b) return;
    const end = atEnd();
    if (b.dataset.attempt !== String(d.attempt)) { b.dataset.attempt = d.attempt; b.dataset.seq = 0; b.firstChild.textContent = ""; }
    if (d.seq !== Number(b.dataset.seq) + 1) return later(100); // a piece is missing: the whole text will come
    b.dataset.seq = d.seq;
    b.firstChild.textContent += d.text;
    if (end) toEnd();
  });
  pieces.addEventListener("message.reset", e => document.getElementById("b-" + JSON.parse(e.data).message_id)?.classList.contains("streams") && document.getElementById("b-" + JSON.parse(e.data).message_id).remove());
  pieces.addEventListener("error", () => { for (const b of document.querySelectorAll(".bubble.streams")) b.remove(); later(300); });
  addEventListener("pagehide", () => pieces.close());
}

// Sending: what could not be sent stays in the field. Sent again as it is it is the same message, changed it is another one.
const another = form => { form.elements.message.value = crypto.getRandomValues(new Uint32Array(4)).join("-"); };
async function send(form) {
  const text = form.elements.text, button = form.querySelector("button.primary"), unsent = document.getElementById("unsent");
  if (!text.value.trim() || form.dataset.sending) return;
  form.dataset.sending = "yes";
  button.setAttribute("aria-disabled", "true");
  unsent.hidden = true;
  for (const w of document.querySelectorAll("#cards .widget")) if (!chat().dataset.requests.split(" ").includes(w.dataset.request)) w.remove();
  if (form.dataset.tried !== undefined && form.dataset.tried !== text.value) another(form);
  form.dataset.tried = text.value;
  const number = ++asked;
  try {
    const answer = await fetch(form.action, {method: "POST", body: new URLSearchParams(new FormData(form)), headers: {"HX-Request": "true"}});
    const body = await answer.text();
    if (!answer.ok) throw new Error(new DOMParser().parseFromString(body, "text/html").querySelector(".refused p")?.textContent ?? "");
    text.value = "";
    delete form.dataset.tried;
    another(form);
    take(body, Math.max(number, taken));
    toEnd();
  } catch (err) {
    unsent.textContent = "Not sent" + (err instanceof TypeError || !err.message ? ": the server cannot be reached." : ": " + err.message + ".") + " What you wrote is still here.";
    unsent.hidden = false;
  } finally {
    delete form.dataset.sending;
    button.removeAttribute("aria-disabled");
    text.focus();
  }
}
document.addEventListener("submit", e => { if (e.target.id === "say") { e.preventDefault(); send(e.target); } });
document.addEventListener("keydown", e => {
  if (e.target.id === "text" && e.key === "Enter" && !e.shiftKey && !e.isComposing) { e.preventDefault(); e.target.form.requestSubmit(); }
});
document.addEventListener("click", e => {
  const b = e.target.closest?.("button.chat-try[data-text]");
  if (!b) return;
  const text = document.getElementById("text");
  text.value = b.dataset.text;
  text.focus();
});

if (chat()?.dataset.session) {
  listen(chat().dataset.session);
  cards();
}
toEnd();
