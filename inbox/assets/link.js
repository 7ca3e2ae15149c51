// The page of one request stays true: it asks now and then how things stand. The token goes in the form, never into an address.
import {save} from "./draft.js";
import {keepTimes} from "./times.js";
import {cancel, isWaiting} from "./undo.js";

const card = document.getElementById("card");
const article = () => card.querySelector("article.request");
let timer = 0, failed = 0;

// how long until it looks again: soon while a tool is at work, now and then while it waits, never when all is said.
const pause = a => a.dataset.going !== undefined ? 1500 : a.dataset.status === "open" ? 8000 : 0;

async function look() {
  clearTimeout(timer);
  const now = article();
  if (!now || document.hidden) return;
  const body = new URLSearchParams({action: "look"});
  if (card.dataset.token) body.set("t", card.dataset.token);
  if (now.dataset.proof) body.set("proof", now.dataset.proof);
  try {
    const answer = await fetch("/r/" + encodeURIComponent(card.dataset.id), {method: "POST", body, headers: {"HX-Request": "true"}, referrerPolicy: "no-referrer", signal: AbortSignal.timeout(10000)});
    if (answer.ok) put(await answer.text()); else if (answer.status < 500 && answer.status !== 429) return;
    connected(true);
  } catch { connected(false); }
  next();
}

function next() {
  const a = article(), ms = a ? pause(a) : 0;
  if (ms) timer = setTimeout(look, Math.min(ms * 2 ** Math.min(failed, 3), 60000));
}

function connected(up) {
  if (up && !failed) return;
  failed = up ? 0 : failed + 1;
  document.body.classList.toggle("stale", !up);
  if (!up || failed === 0) document.getElementById("tell").replaceChildren(...(up ? [] : [Object.assign(document.createElement("p"), {textContent: "Not connected. What you see may have changed."})]));
  document.dispatchEvent(new CustomEvent("hs:live", {detail: {up}}));
}

// put shows what is new. While it is open and asks the same, only who decided so far: nobody is interrupted.
function put(html) {
  const t = document.createElement("template");
  t.innerHTML = html;
  const fresh = t.content.querySelector("article.request"), old = article();
  if (!fresh || !old) return;
  const same = fresh.dataset.status === old.dataset.status && fresh.dataset.fingerprint === old.dataset.fingerprint;
  if (same && fresh.dataset.revision === old.dataset.revision && old.dataset.going === undefined) return;
  if (same && old.dataset.status === "open" && old.querySelector(".decide .buttons button")) {
    const voters = fresh.querySelector(".voters");
    if (voters) old.querySelector(".voters")?.replaceWith(voters);
    old.dataset.revision = fresh.dataset.revision;
    return;
  }
  if (isWaiting(old.dataset.id)) cancel(old.dataset.id, "overtaken");
  save(old);
  old.replaceWith(fresh);
  fresh.dispatchEvent(new CustomEvent("htmx:after:swap", {bubbles: true, detail: {}}));
  document.title = document.title.replace(/^[^·]*/, fresh.dataset.status === "open" ? "Waits for a person " : "No longer open ");
}

if (card) {
  keepTimes(document);
  next();
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  document.addEventListener("hs:decided", () => { clearTimeout(timer); timer = setTimeout(look, 700); });
  addEventListener("online", look);
  // #approve and #reject lead to the button, and press nothing.
  const wanted = location.hash.slice(1);
  if (wanted === "approve" || wanted === "reject") card.querySelector(`.decide [data-verb="${wanted}"]`)?.querySelector("summary")?.focus() ?? card.querySelector(`.decide button[data-verb="${wanted}"]`)?.focus();
}
