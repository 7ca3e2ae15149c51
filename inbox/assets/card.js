// The card of a request: deciding, looking again when something changed, and losing nothing that was typed.
import {forget, me, restore, save} from "./draft.js";
import {cancel, hold, howLong, isWaiting, lastWaiting} from "./undo.js";
import {onKey} from "./keys.js";
import {serverTime} from "./times.js";
import "./timeline.js";

// Fields are dealt with by a file of their own, loaded where a card has any.
const forms = (article, fn) => { if (article.querySelector(".edit, .fields, .fate")) import("./form.js").then(fn); };
const dress = article => forms(article, f => f.dress(article));
const check = article => forms(article, f => f.check(article));
const editing = (article, on) => forms(article, f => f.editing(article, on));

const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, {detail}));
const articles = id => [...document.querySelectorAll("article.request")].filter(a => !id || a.dataset.id === id);
const formOf = article => article.querySelector("form.decide");
const unsent = new Map(); // what could not be delivered, by request
const quiet = /^(reveal|draw|fields|add:|drop:)/; // these decide nothing
const doing = {approve: "Approving", edit: "Approving as changed", each: "Deciding", reject: "Rejecting", select: "Sending the choice", answer: "Sending the answer", respond: "Answering for the tool"};

const done = {approve: "approved", edit: "changed and approved", reject: "rejected", select: "chosen", answer: "answered", respond: "answered"};

// --- a card in its place ---

const clock = new Intl.DateTimeFormat(undefined, {timeStyle: "short"}), day = new Intl.DateTimeFormat(undefined, {dateStyle: "medium", timeStyle: "short"});

function settle(article) {
  if (article.dataset.settled) return;
  article.dataset.settled = "1";
  for (const t of article.querySelectorAll("time[data-clock]")) {
    const at = Date.parse(t.dateTime);
    t.title = t.textContent;
    t.textContent = (Math.abs(at - serverTime()) < 12 * 3600e3 ? clock : day).format(at);
  }
  const was = restore(article);
  if (article.dataset.status !== "open") save(article);
  else {
    if (was.editing) editing(article, true);
    if (was.draw) drawAgain(article, was.draw);
  }
  dress(article);
  if (was.editing || formOf(article)?.classList.contains("editing")) check(article);
  if (unsent.has(article.dataset.id)) notSent(article);
  try {
    const left = sessionStorage.getItem(leftName(article.dataset.id));
    if (left && article.dataset.status === "open") say(article, left, "hold");
    sessionStorage.removeItem(leftName(article.dataset.id));
  } catch { /* nothing is kept here */ }
  if (document.body.classList.contains("stale")) hears(false);
  tell("hs:card", {id: article.dataset.id});
}

// drawAgain has the server draw the fields that were there when somebody typed into them.
const drawing = new Set();
async function drawAgain(article, body) {
  const id = article.dataset.id;
  if (drawing.has(id)) return;
  drawing.add(id);
  try {
    const answer = await ask(formOf(article).getAttribute("action"), {method: "POST", body});
    if (answer.ok && article.isConnected) answered(article, await answer.text());
  } catch { /* what was typed is still kept */ } finally { drawing.delete(id); }
}

const look = () => articles().forEach(settle);
document.addEventListener("htmx:after:swap", look);
document.addEventListener("hs:card", look);

// where the reader is: the focus, what is unfolded.
function placeOf(article) {
  const at = document.activeElement, inside = article.contains(at);
  const focus = inside && (at.id ? "#" + CSS.escape(at.id) : at.name ? `[name="${CSS.escape(at.name)}"]` + (at.type === "radio" || at.type === "checkbox" || at.tagName === "BUTTON" ? `[value="${CSS.escape(at.value)}"]` : "") : at.matches("summary") ? "details." + at.parentElement.classList[0] + ` > summary` : "");
  return {
    focus,
    nth: focus ? [...article.querySelectorAll(focus)].indexOf(at) : 0, // several fields may be called the same
    range: inside && typeof at.selectionStart === "number" ? [at.selectionStart, at.selectionEnd] : null,
    open: [...article.querySelectorAll("details")].map(d => d.open),
    confirm: article.querySelector("[name=confirm]")?.value ?? "",
    said: article.querySelector(".decide .check"),
    fingerprint: article.dataset.fingerprint,
  };
}

function putBack(article, place) {
  const all = article.querySelectorAll("details");
  if (all.length === place.open.length) all.forEach((d, i) => { d.open ||= place.open[i]; });
  const confirm = article.querySelector("[name=confirm]");
  if (confirm && place.fingerprint === article.dataset.fingerprint && !confirm.value) confirm.value = place.confirm;
  const said = article.querySelector(".decide .check");
  if (said && place.said && !said.textContent && place.fingerprint === article.dataset.fingerprint) { said.textContent = place.said.textContent; said.className = place.said.className; }
  const at = place.focus && article.querySelectorAll(place.focus)[place.nth];
  if (!at) return;
  at.focus({preventScroll: true});
  if (place.range && typeof at.selectionStart === "number") try { at.setSelectionRange(...place.range); } catch { /* not every input has one */ }
}

// swap puts what the server drew in the place of a card.
function swap(article, html) {
  const t = document.createElement("template");
  t.innerHTML = html;
  const fresh = t.content.querySelector("article.request");
  if (!fresh) return null;
  // It may have been drawn anew while this was asked for.
  if (!article.isConnected) article = articles(article.dataset.id)[0] ?? article;
  const place = placeOf(article);
  // Every event up to the old card's position was told, and led to a load.
  if (+article.dataset.position > fresh.dataset.position) fresh.dataset.position = article.dataset.position;
  article.replaceWith(fresh);
  window.htmx?.process(fresh);
  settle(fresh);
  putBack(fresh, place);
  fresh.dispatchEvent(new CustomEvent("htmx:after:swap", {bubbles: true, detail: {}}));
  return fresh;
}

// answered shows the card that came as the answer to a form. A card that was loaded meanwhile may be newer: then it is loaded once more.
function answered(article, html) {
  const [now = article] = articles(article.dataset.id), fresh = swap(article, html);
  if (fresh && +now.dataset.drawn > fresh.dataset.drawn) again(fresh.dataset.id);
  return fresh;
}

async function ask(url, options = {}) {
  const answer = await fetch(url, {...options, headers: {"HX-Request": "true", ...options.headers}, signal: AbortSignal.timeout(20000)});
  const elsewhere = answer.headers.get("HX-Redirect");
  if (elsewhere) { location.assign(elsewhere); await new Promise(() => {}); }
  return answer;
}

// again looks what stands now.
const asking = new Map(), later = new Set(), failed = new Set();
async function again(id) {
  if (asking.has(id)) { asking.set(id, true); return; } // once more when this one is there
  asking.set(id, false);
  try {
    const [article] = articles(id);
    if (!article) return;
    const token = formOf(article)?.querySelector("[name=t]")?.value, proof = article.dataset.proof ?? "";
    const answer = token ? await ask(formOf(article).getAttribute("action"), {method: "POST", body: new URLSearchParams({t: token, action: "look", proof})}) // a token stays out of addresses
      : await ask("/requests/" + encodeURIComponent(id) + "/card", {headers: proof ? {"Holdshort-Revealed": proof} : {}});
    if (answer.status === 429 || answer.status >= 500) retry(id);
    if (!answer.ok && answer.status !== 404) return;
    const html = await answer.text(), [still] = articles(id);
    if (!still) return;
    // It was drawn anew meanwhile, and may show more than what was asked for here.
    if (still !== article) { asking.set(id, true); return; }
    if (answer.status === 404) { still.querySelector(".buttons")?.replaceChildren("This is no longer there, or no longer yours to see."); return; }
    if (isWaiting(id)) {
      const t = document.createElement("template");
      t.innerHTML = html;
      const fresh = t.content.firstElementChild;
      if (fresh?.dataset.status === "open" && fresh.dataset.fingerprint === still.dataset.fingerprint) { later.add(id); return; } // it is shown when that is over
      cancel(id, "overtaken");
    }
    save(still);
    const before = still.dataset.status, fresh = swap(still, html);
    if (fresh && before === "open" && fresh.dataset.status !== "open") unsent.delete(id);
  } catch { retry(id); } finally {
    const more = asking.get(id);
    asking.delete(id);
    if (more) again(id);
  }
}

// retry loads a card again after a while: a load may fail while the stream is heard. A page that does not hear it waits until it does.
function retry(id) {
  if (document.body.classList.contains("stale")) failed.add(id);
  else setTimeout(again, 2000, id);
}

document.addEventListener("hs:changed", e => { if (articles(e.detail.id).length) again(e.detail.id); });
// While the page does not hear the server the bar says so to everybody; what is pressed then is still tried, and told if it fails.
const hears = up => { for (const b of document.querySelectorAll(".decide .buttons :is(button, summary, a.button)")) up ? b.removeAttribute("aria-disabled") : b.setAttribute("aria-disabled", "true"); };
document.addEventListener("hs:live", e => {
  hears(e.detail.up);
  if (e.detail.up) for (const id of new Set([...unsent.keys(), ...failed])) again(id); // a decision may have arrived
  if (e.detail.up) failed.clear();
});
document.addEventListener("hs:presence", e => {
  for (const place of document.querySelectorAll("[data-looking]")) {
    if (place.dataset.looking !== e.detail.id) continue;
    const who = e.detail.who ?? [];
    place.hidden = !who.length;
    place.textContent = who.length ? "· " + who.slice(0, 3).join(", ") + (who.length > 3 ? " and " + (who.length - 3) + " more" : "") + (who.length > 1 ? " are looking" : " is looking") : "";
  }
});

// --- deciding ---

document.addEventListener("submit", e => {
  const form = e.target, article = form.closest("article.request");
  if (!article) return;
  if (form.matches("form.comment, form.assign, form.call-off")) { e.preventDefault(); small(article, form); return; }
  if (!form.matches("form.decide")) return;
  e.preventDefault();
  const button = e.submitter;
  if (!button?.value) return;
  if (quiet.test(button.value)) { save(article); post(article, form, button); return; }
  decide(article, form, button);
});

// what the form says, with the button that was pressed.
const bodyOf = (form, button) => new URLSearchParams(new FormData(form, button));

// post sends what decides nothing, and shows the card that comes back.
async function post(article, form, button) {
  try {
    const answer = await ask(button.getAttribute("formaction") ?? form.getAttribute("action"), {method: "POST", body: bodyOf(form, button)});
    const html = await answer.text();
    if (/^(add|drop):|^draw/.test(button.value)) forget(article.dataset.id); // the numbers of entries have changed: what was typed came back with the card
    const fresh = answered(article, html);
    if (fresh) save(fresh); else say(article, "Not done: " + textOf(html), "no");
  } catch { say(article, "Not sent: no connection.", "no"); }
}

const textOf = html => { const t = document.createElement("template"); t.innerHTML = html; return t.content.querySelector("p")?.textContent ?? "try again"; };

function say(article, text, tone = "") {
  const place = article.querySelector(".decide .check");
  if (!place) return;
  place.className = "check " + tone;
  place.textContent = text;
}

// small forms: a comment, whose it is, calling it off.
async function small(article, form) {
  if (form.dataset.busy) return;
  form.dataset.busy = "1";
  try {
    const answer = await ask(form.getAttribute("action"), {method: "POST", body: new URLSearchParams(new FormData(form))});
    const html = await answer.text();
    if (answer.ok && form.matches(".comment")) form.elements.text.value = "";
    save(article);
    if (!answered(article, html)) say(article, "Not done: " + textOf(html), "no");
  } catch { say(article, "Not sent: no connection. What you wrote is kept.", "no"); } finally { delete form.dataset.busy; }
}

// ready says what is still missing before something can be sent. The server looks at the same things.
function ready(article, form, verb) {
  const word = form.querySelector(".confirm"), typed = form.querySelector("[name=confirm]");
  if (verb === "each") {
    const open = [...article.querySelectorAll(".fate")].find(f => !f.querySelector("input:checked"));
    if (open) { open.querySelector("input").focus(); return "Choose for each call what becomes of it."; }
  }
  if (verb === "select" && !article.querySelector("[name=option]:checked")) { article.querySelector("[name=option]")?.focus(); return "Choose first."; }
  if (verb === "answer" && article.querySelector("textarea[name=value]")?.value.trim() === "") { article.querySelector("textarea[name=value]").focus(); return "Write an answer first."; }
  if (verb === "respond" && !form.elements.respond.value.trim()) { opened(form, "respond"); return "Write the answer first."; }
  const reveal = form.querySelector(".unseen button");
  if (reveal && ["approve", "edit"].includes(verb)) { reveal.focus(); return "Part of this is withheld: reveal it first."; }
  const want = word && ["approve", "edit", "each"].includes(verb) ? verb === "each" ? word.dataset.word : word.dataset.all ?? word.dataset.word : "0";
  if (want !== "0" && typed.value.trim().toLowerCase() !== want.toLowerCase()) {
    word.hidden = false;
    typed.focus();
    return "This cannot be undone: type " + want + " first.";
  }
  return "";
}

function opened(form, verb) {
  const d = form.querySelector(`details[data-verb="${verb}"]`);
  if (!d) return;
  d.open = true;
  d.querySelector("textarea")?.focus();
}

function decide(article, form, button) {
  const id = article.dataset.id, verb = button.value === "approve" && form.classList.contains("editing") && !form.querySelector(".each") ? "edit" : button.value;
  if (isWaiting(id) || form.dataset.sending) return; // pressed twice
  const missing = ready(article, form, verb);
  say(article, missing, "hold");
  if (missing) return;
  save(article);
  for (const d of form.querySelectorAll("details[open]")) d.open = false;
  const body = bodyOf(form, button);
  body.set("action", verb);
  const ms = howLong(article, form), send = () => deliver(article, form, body, verb);
  if (!ms) { send(); return; }
  const what = (verb === "approve" || verb === "edit") && button.querySelector(".label") ? button.querySelector(".label").textContent.replace(/^Approve/, "Approving") : doing[verb] ?? "Sending";
  hold(article, form, what, ms, send, why => {
    const words = {undone: "Undone: nothing was sent.", offline: "The connection was lost: nothing was sent.", overtaken: "Nothing of yours was sent."};
    if (why === "left") { leftBehind(id, "Not sent: the page was left before."); return; }
    if (!article.isConnected) note(words[why], id);
    say(article, words[why], "hold");
    button.focus({preventScroll: true});
    if (later.delete(id)) again(id);
  });
}

// deliver sends a decision. The same key goes with every try: however often it arrives, it counts once.
async function deliver(article, form, body, verb) {
  const id = article.dataset.id;
  form.dataset.sending = "1";
  form.setAttribute("aria-busy", "true");
  pending(form, "Sending…");
  let answer, html;
  try {
    answer = await ask(form.getAttribute("action"), {method: "POST", body});
    html = await answer.text();
  } catch { answer = null; }
  delete form.dataset.sending;
  form.removeAttribute("aria-busy");
  const [now] = articles(id);
  if (!now) { elsewhere(id, answer, html, body, verb); return; }
  if (!answer || answer.status >= 500 || answer.status === 429) {
    unsent.set(id, {body, verb, why: !answer ? "no connection" : answer.status === 429 ? "too much at once" : "the server could not take it"});
    notSent(now);
    return;
  }
  unsent.delete(id);
  if (answer.ok) forget(id);
  const fresh = answered(now, html);
  if (!fresh) { pending(formOf(now), ""); say(now, "Not recorded: " + textOf(html), "no"); return; }
  fresh.querySelector(".note[role=alert], label.wrong, .confirm.wrong")?.scrollIntoView({block: "nearest"});
  if (document.activeElement === document.body) fresh.querySelector(".question")?.focus({preventScroll: true});
  if (answer.ok) decided(id, verb, fresh);
}

// decided tells that a decision was recorded. waits: the request still needs the approval of others.
function decided(id, verb, card) {
  const waits = card?.dataset.status === "open";
  tell("hs:decided", {id, waits, outcome: waits ? "your approval counts" : done[verb] ?? "decided"});
}

// elsewhere: the reader has gone on to another request meanwhile.
function elsewhere(id, answer, html, body, verb) {
  const t = document.createElement("template");
  t.innerHTML = html ?? "";
  if (answer?.ok) {
    forget(id);
    decided(id, verb, t.content.querySelector("article.request"));
    return;
  }
  if (!answer || answer.status >= 500 || answer.status === 429) {
    unsent.set(id, {body, verb, why: answer ? "the server could not take it" : "no connection"});
    note("Not delivered: " + unsent.get(id).why + ".", id);
    return;
  }
  note((t.content.querySelector("[role=alert]")?.textContent ?? "Not recorded.").trim(), id);
}

// note says something about a request that is not on the page.
function note(text, id) {
  const place = document.getElementById("tell"), box = document.createElement("div"), words = document.createElement("span"), link = document.createElement("a"), away = document.createElement("button");
  if (!place) return;
  words.textContent = text;
  link.href = "/requests/" + id;
  link.textContent = "Show";
  away.type = "button";
  away.className = "plain";
  away.textContent = "Close";
  away.addEventListener("click", () => box.remove());
  link.addEventListener("click", () => box.remove());
  box.append(words, link, away);
  place.append(box);
}

// leftBehind remembers what was not sent, to say so when the request is looked at again.
const leftName = id => "hs.left." + me + "." + id;
function leftBehind(id, text) { try { sessionStorage.setItem(leftName(id), text); } catch { /* then it is not said */ } }
addEventListener("pagehide", () => { for (const id of unsent.keys()) leftBehind(id, "Not delivered: the page was left before it could be."); });

function pending(form, text, ...more) {
  const place = form?.querySelector(".pending");
  if (!place) return;
  place.hidden = !text;
  form.classList.toggle("waiting", !!text);
  place.replaceChildren(...text ? [Object.assign(document.createElement("span"), {role: "status", textContent: text}), ...more] : []);
}

// notSent says so, and lets them try again.
function notSent(article) {
  const id = article.dataset.id, form = formOf(article), was = unsent.get(id);
  if (!was || article.dataset.status !== "open") { unsent.delete(id); return; }
  const retry = Object.assign(document.createElement("button"), {type: "button", className: "primary", textContent: "Retry"});
  const drop = Object.assign(document.createElement("button"), {type: "button", textContent: "Leave it"});
  retry.addEventListener("click", () => deliver(article, form, was.body, was.verb));
  drop.addEventListener("click", () => { unsent.delete(id); pending(form, ""); });
  pending(form, "Not delivered: " + was.why + ".", retry, drop);
}

// --- typing and pressing ---

document.addEventListener("input", e => {
  const article = e.target.closest?.("article.request");
  if (!article || !e.target.name) return;
  e.target.dataset.touched = "1";
  save(article);
  dress(article);
  if (e.target.closest(".edit, .fields")) check(article);
});

document.addEventListener("change", e => {
  const article = e.target.closest?.("article.request");
  if (article && "draw" in e.target.dataset) article.querySelector("button.draw")?.click();
});

document.addEventListener("click", e => {
  const article = e.target.closest?.("article.request");
  if (!article || e.button || e.ctrlKey || e.metaKey || e.shiftKey) return;
  const link = e.target.closest("a[data-verb], button.edit-link"), fill = e.target.closest("[data-fill]");
  if (fill) {
    const answer = article.querySelector("textarea[name=value]");
    if (answer) { answer.value = fill.dataset.fill; answer.focus(); answer.dispatchEvent(new Event("input", {bubbles: true})); }
  }
  if (link) { e.preventDefault(); press(article, link.dataset.verb); }
  if (e.target.closest("button.reset")) {
    forms(article, f => {
      f.reset(e.target.closest(".edit"));
      save(article);
      f.dress(article);
      f.check(article);
    });
  }
});

document.addEventListener("keydown", e => {
  const article = e.target.closest?.("article.request");
  if (!article || e.key !== "Enter" || e.isComposing) return;
  if (e.target.name === "confirm") { e.preventDefault(); press(article, article.querySelector("button.each") && article.querySelector(".fate input:checked") ? "each" : "approve"); return; }
  if (e.target.tagName !== "TEXTAREA" || !(e.ctrlKey || e.metaKey)) return;
  e.preventDefault();
  (e.target.closest(".drawer")?.querySelector("button") ?? e.target.closest("form.comment")?.querySelector("button") ?? formOf(article).querySelector("button.answers, button.select"))?.click();
});

// press does what a key or a link says.
function press(article, verb) {
  const form = formOf(article);
  if (!form) return;
  if (/^[1-9]$/.test(verb)) {
    const option = article.querySelectorAll("[name=option]")[verb - 1];
    if (option) { option.click(); option.focus(); }
    return;
  }
  switch (verb) {
  case "undo": cancel(isWaiting(article.dataset.id) ? article.dataset.id : lastWaiting() ?? article.dataset.id); return;
  case "comment": article.querySelector("form.comment textarea")?.focus(); return;
  case "assign": article.querySelector("form.assign button")?.click(); return;
  case "edit":
    if (!form.querySelector(".edit-link")) return;
    forms(article, f => {
      f.editing(article, !form.classList.contains("editing"));
      save(article);
      if (form.classList.contains("editing")) article.querySelector(".call.editing .edit :is(input,textarea,select):not([type=hidden])")?.focus();
      else say(article, "");
    });
    return;
  case "reject": opened(form, "reject"); return;
  case "respond": if (form.querySelector("details[data-verb=respond]")) opened(form, "respond"); else form.querySelector("button[aria-keyshortcuts=s]")?.click(); return;
  case "approve": form.querySelector("button[aria-keyshortcuts=a]")?.click(); return;
  default: form.querySelector(`button[data-verb="${CSS.escape(verb)}"]`)?.click();
  }
}

document.addEventListener("hs:decide", e => { for (const article of articles(e.detail.id)) press(article, e.detail.verb); });

const here = verb => { const all = articles(); if (all.length !== 1) return false; press(all[0], verb); };
if (!document.querySelector(".desk")) for (const [key, verb] of Object.entries({a: "approve", r: "reject", e: "edit", s: "respond", c: "comment", m: "assign", u: "undo"})) onKey(key, () => here(verb));
for (let n = 1; n <= 9; n++) onKey(String(n), () => document.querySelector("[name=option]") ? here(String(n)) : false);
look();
