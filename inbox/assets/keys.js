// Keys. Each page says what its keys do; going elsewhere and help are the same everywhere.
const acts = new Map(), going = {i: "/", m: "/?view=mine", u: "/?view=unknown", d: "/?view=decided", r: "/runs", p: "/playground"};
// These may be held down: they decide nothing.
const held = new Set(["j", "k", "ArrowDown", "ArrowUp"]);
const off = "holdshort.keys";
let leading = 0;

// onKey makes a key do something; fn says false when it does not concern it.
export function onKey(key, fn) { acts.set(key, fn); }

export function keysOn() { try { return localStorage.getItem(off) !== "off"; } catch { return true; } }

const typing = t => t.isContentEditable || t.matches?.("textarea,select,input:not([type=checkbox],[type=radio],[type=button],[type=submit])");

// name is what a key is called whatever the layout: letters of other scripts by the place of the key.
function name(e) {
  let key = e.key;
  if (key.length === 1 && key > "\x7f" && /^Key[A-Z]$/.test(e.code)) key = e.code[3];
  if (/^[a-z]$/i.test(key)) key = (e.shiftKey ? "Shift+" : "") + key.toLowerCase();
  return key;
}

document.addEventListener("keydown", e => {
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
  // A dialog has its own.
  if (document.querySelector("dialog[open]")) return;
  const key = name(e);
  if (typing(e.target)) {
    if (key === "Escape") { e.preventDefault(); e.target.blur(); acts.get("Blur")?.(e); }
    return;
  }
  if (e.repeat && !held.has(key)) return;
  if (key.length === 1 || key.startsWith("Shift+")) {
    if (!keysOn() && key !== "?") return;
    if (leading && e.timeStamp - leading < 1500) {
      leading = 0;
      if (Object.hasOwn(going, key)) { e.preventDefault(); location.assign(going[key]); }
      return;
    }
    leading = key === "g" ? e.timeStamp : 0;
    if (leading) return;
  }
  const act = acts.get(key);
  if (act && act(e) !== false) e.preventDefault();
});

// help: in a dialog where the page has one, else on its own page.
function switchOf(root) {
  for (const box of root.querySelectorAll("[data-keys-on]")) {
    box.closest("[data-keys-switch]").hidden = false;
    box.checked = keysOn();
    box.addEventListener("change", () => { try { localStorage.setItem(off, box.checked ? "on" : "off"); } catch {} });
  }
}

export async function help() {
  let dialog = document.getElementById("help");
  if (!dialog) {
    dialog = document.body.appendChild(Object.assign(document.createElement("dialog"), {id: "help"}));
    dialog.setAttribute("aria-label", "Keys");
  }
  if (!dialog.firstChild) {
    const answer = await fetch("/help", {headers: {"HX-Request": "true"}}).catch(() => null);
    if (!answer?.ok) { location.assign("/help"); return; }
    dialog.innerHTML = '<form method="dialog"><h1>Keys</h1><button autofocus>Close <kbd>Esc</kbd></button></form>' + await answer.text();
    dialog.addEventListener("keydown", e => { if (e.key === "?") dialog.close(); });
  }
  switchOf(dialog);
  if (!dialog.open) dialog.showModal();
}

onKey("?", () => { help(); });
switchOf(document);
