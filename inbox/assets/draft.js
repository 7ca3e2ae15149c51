// Nothing that somebody typed is lost: it is kept in this tab, per request, until that is decided.
// It is of one person: whoever logs in after them in the same tab finds none of it.
export const me = document.body.dataset.me || document.querySelector("#card[data-token]")?.dataset.token.slice(-24) || "";
const name = id => "hs.draft." + me + "." + id;
try {
  for (const key of Object.keys(sessionStorage)) if (/^hs\.(draft|left)\./.test(key) && !key.startsWith("hs.draft." + me + ".") && !key.startsWith("hs.left." + me + ".")) sessionStorage.removeItem(key);
} catch { /* nothing is kept here */ }
const kept = new Set(["key", "fingerprint", "proof", "t", "confirm"]); // of one drawing; and what cannot be undone is confirmed afresh

export function fieldsOf(article) {
  const form = article.querySelector("form.decide"), comment = article.querySelector("form.comment");
  return [...form?.elements ?? [], ...comment?.elements ?? []].filter(e => e.name && !kept.has(e.name) && e.type !== "hidden" && e.type !== "submit" && e.type !== "button");
}

const key = e => (e.form.classList.contains("comment") ? "c:" : "") + e.name;

// initial is what stood in a field before anybody typed.
export const initial = e => e.dataset.was ?? (e.tagName === "SELECT" ? [...e.options].find(o => o.defaultSelected)?.value ?? "" : e.defaultValue);

function read(id) {
  try { return JSON.parse(sessionStorage.getItem(name(id))) ?? null; } catch { return null; }
}

// Entries of lists have numbers, and of alternatives one is chosen: without these there are no fields to put anything into.
const lists = form => [...form?.elements ?? []].filter(e => e.name?.endsWith(".#")).map(e => [e.name, e.value]);

// save keeps what is typed where that is not what the page came with.
export function save(article) {
  const values = {};
  let any = false;
  for (const e of fieldsOf(article)) {
    if (e.type === "checkbox" || e.type === "radio") {
      if (e.checked || e.defaultChecked) any = true;
      if (e.checked) (values[key(e)] ??= []).push(e.value);
      continue;
    }
    if (e.value !== initial(e)) { values[key(e)] = e.value; any = true; }
  }
  const form = article.querySelector("form.decide"), editing = form?.classList.contains("editing") ?? false, entries = lists(form);
  try {
    if (any || editing || entries.length) sessionStorage.setItem(name(article.dataset.id), JSON.stringify({fingerprint: article.dataset.fingerprint, editing, values, entries}));
    else sessionStorage.removeItem(name(article.dataset.id));
  } catch { /* no room: it stays on the page as long as that is open */ }
}

// restore puts it back. It says whether arguments were being changed, and gives what to ask for where the form has to be drawn with other
// fields first.
export function restore(article) {
  const draft = read(article.dataset.id);
  if (!draft) return {};
  const same = draft.fingerprint === article.dataset.fingerprint;
  for (const e of fieldsOf(article)) {
    const value = draft.values[key(e)];
    if (value === undefined || !same && e.name !== "text") continue; // what is asked is another: only what was said about it stays
    if (e.type === "checkbox" || e.type === "radio") e.checked = value.includes(e.value);
    else e.value = value;
  }
  const form = article.querySelector("form.decide");
  if (!same || !form) return {};
  const chosen = [...form.elements].some(e => e.name?.endsWith(".@") && draft.values[e.name] !== undefined && e.value !== initial(e));
  if (!chosen && JSON.stringify(lists(form)) === JSON.stringify(draft.entries ?? [])) return {editing: draft.editing};
  const body = new URLSearchParams(new FormData(form));
  for (const [at] of lists(form)) body.delete(at);
  for (const [at, number] of draft.entries ?? []) body.append(at, number);
  for (const [at, value] of Object.entries(draft.values)) if (typeof value === "string" && !at.startsWith("c:")) body.set(at, value);
  if (draft.editing) body.set("editing", "1");
  body.set("action", "draw");
  return {editing: draft.editing, draw: body};
}

export function forget(id) { try { sessionStorage.removeItem(name(id)); } catch { /* there is none then */ } }
