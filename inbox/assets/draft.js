// Nothing that somebody typed is lost: it is kept in this tab, per request, until that is decided.
const name = id => "hs.draft." + id;
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
  const editing = article.querySelector("form.decide")?.classList.contains("editing") ?? false;
  try {
    if (any || editing) sessionStorage.setItem(name(article.dataset.id), JSON.stringify({fingerprint: article.dataset.fingerprint, editing, values}));
    else sessionStorage.removeItem(name(article.dataset.id));
  } catch { /* no room: it stays on the page as long as that is open */ }
}

// restore puts it back. It says whether arguments were being changed.
export function restore(article) {
  const draft = read(article.dataset.id);
  if (!draft) return false;
  const same = draft.fingerprint === article.dataset.fingerprint;
  for (const e of fieldsOf(article)) {
    const value = draft.values[key(e)];
    if (value === undefined || !same && e.name !== "text") continue; // what is asked is another: only what was said about it stays
    if (e.type === "checkbox" || e.type === "radio") e.checked = value.includes(e.value);
    else e.value = value;
  }
  return same && draft.editing;
}

export function forget(id) { try { sessionStorage.removeItem(name(id)); } catch { /* there is none then */ } }
