// A decision waits a few seconds in the browser before it is sent. Nothing is sent before: closing the tab, going elsewhere or losing the
// connection sends nothing.
import {serverTime} from "./times.js";

const waiting = new Map(); // by request

// howLong a decision waits, in milliseconds: never so long that it would come too late, and not at all for what ends at once.
export function howLong(article, form) {
  const undo = Number(form.dataset.undo ?? 0), due = Number(article.dataset.due ?? 0), left = due ? due - serverTime() : Infinity;
  return left < 15000 ? 0 : Math.max(0, Math.min(undo, left - 10000));
}

// hold keeps a decision back, then calls send; undone is called if it never will be.
export function hold(article, form, what, ms, send, undone) {
  cancel(article.dataset.id);
  const place = form.querySelector(".pending"), end = performance.now() + ms, id = article.dataset.id;
  const text = Object.assign(document.createElement("span"), {role: "status"}), bar = Object.assign(document.createElement("span"), {className: "bar"});
  const button = Object.assign(document.createElement("button"), {type: "button", className: "undo"});
  button.innerHTML = "Undo <kbd>u</kbd>";
  button.setAttribute("aria-keyshortcuts", "u");
  place.replaceChildren(bar, text, button);
  place.style.setProperty("--wait", ms + "ms");
  place.classList.add("count");
  place.hidden = false;
  form.classList.add("waiting");
  const say = () => { text.textContent = what + " in " + Math.max(1, Math.ceil((end - performance.now()) / 1000)) + " s"; };
  say();
  const beat = setInterval(say, 250);
  let aside = null; // where it is told once another request is looked at
  const over = () => {
    clearInterval(beat);
    clearTimeout(timer);
    waiting.delete(id);
    aside?.remove();
    form.classList.remove("waiting");
    place.hidden = true;
    place.classList.remove("count");
    place.replaceChildren();
  };
  const timer = setTimeout(() => { over(); send(); }, ms);
  const stop = why => { over(); undone(why); };
  stop.aside = () => {
    if (aside) return;
    aside = document.createElement("div");
    aside.append(text, button);
    document.getElementById("tell")?.append(aside);
  };
  waiting.set(id, stop);
  button.addEventListener("click", () => stop("undone"));
  button.focus({preventScroll: true});
}

// cancel takes back what waits, of one request or of all.
export function cancel(id, why = "undone") {
  for (const [at, stop] of [...waiting]) if (!id || at === id) stop(why);
}

export const isWaiting = id => waiting.has(id);
export const lastWaiting = () => [...waiting.keys()].at(-1);

// Whoever goes on to the next request has not left the page: what waits is told beside it, and can still be undone.
document.addEventListener("hs:open", e => { for (const [id, stop] of waiting) if (id !== e.detail.id) stop.aside(); });

addEventListener("pagehide", () => cancel("", "left"));
document.addEventListener("hs:live", e => { if (!e.detail.up) cancel("", "offline"); });
addEventListener("offline", () => cancel("", "offline"));
