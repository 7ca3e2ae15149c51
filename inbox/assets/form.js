// Fields: what is changed is marked as such and can be put back, and what is typed is checked while it is typed.
import {initial} from "./draft.js";

const timers = new WeakMap(), asked = new WeakMap();

// editing shows the arguments as fields, or as they were.
export function editing(article, on) {
  const form = article.querySelector("form.decide");
  form.classList.toggle("editing", on);
  for (const call of article.querySelectorAll(".call")) call.classList.toggle("editing", on && !!call.querySelector(".edit"));
  let mark = form.querySelector("input[name=editing]");
  if (on && !mark) form.append(Object.assign(document.createElement("input"), {type: "hidden", name: "editing", value: "1"}));
  if (!on) mark?.remove();
  const link = form.querySelector(".edit-link .label");
  if (link) link.textContent = on ? "As it was" : "Edit";
  dress(article);
}

const inputs = root => [...root.querySelectorAll("input[name],select[name],textarea[name]")].filter(e => e.type !== "hidden");

// dress marks what is changed and lets the button say what it will do.
export function dress(article) {
  const form = article.querySelector("form.decide");
  if (!form) return;
  const on = form.classList.contains("editing");
  let changed = false, amount = "";
  for (const edit of article.querySelectorAll(".edit")) {
    const differs = on && inputs(edit).some(e => e.value !== initial(e));
    edit.closest(".arg").classList.toggle("changed", differs);
    edit.querySelector(".mine").hidden = !differs;
    changed ||= differs;
  }
  const approve = form.querySelector("button.approve"), label = approve?.querySelector(".label"), each = form.querySelector("button.each");
  if (approve && !each) {
    approve.value = on ? "edit" : "approve";
    amount = newAmount(article, label.dataset.plain);
    label.textContent = changed ? amount || "Approve changed" : label.dataset.plain;
  } else if (approve) {
    approve.value = changed ? "edit" : "approve";
    label.textContent = changed ? label.dataset.plain + " as changed" : label.dataset.plain;
  }
  confirmation(article, form);
}

// newAmount: where the button names an amount it names the one that stands now.
function newAmount(article, plain) {
  for (const name of ["amount", "total", "sum", "price", "value"]) {
    const field = article.querySelector(`.edit [name$=".${name}"]`), before = field && initial(field);
    if (!before || field.value === before) continue;
    const shown = plain.match(/^(\S+ )(\d[\d.]*)( [A-Z]{3})?$/);
    if (shown && Number(shown[2]) === Number(before) && /^\d+(\.\d+)?$/.test(field.value.trim())) return shown[1] + field.value.trim() + (shown[3] ?? "");
  }
  return "";
}

// confirmation: how many of the calls that may run cannot be undone depends on what is chosen for each.
function confirmation(article, form) {
  const ask = form.querySelector(".confirm");
  if (!ask || !("count" in ask.dataset)) return;
  const calls = [...article.querySelectorAll(".call[data-final]")].filter(c => c.querySelector(".fate"));
  const chosen = article.querySelectorAll(".fate input:checked").length > 0;
  const n = chosen ? calls.filter(c => ["approve", "edit"].includes(c.querySelector(".fate input:checked")?.value)).length : calls.length;
  ask.dataset.all ??= ask.dataset.word;
  ask.querySelector(".finals").textContent = ask.querySelector(".word").textContent = ask.dataset.word = String(n);
  ask.hidden = n === 0;
}

export function reset(edit) {
  for (const e of inputs(edit)) e.value = initial(e);
}

// check asks the server what would come of it, a moment after the last key.
export function check(article) {
  const form = article.querySelector("form.decide"), place = form?.querySelector(".check");
  if (!place || form.querySelector("[name=t]") || !(form.classList.contains("editing") || article.querySelector(".fields"))) return;
  clearTimeout(timers.get(article));
  timers.set(article, setTimeout(async () => {
    asked.get(article)?.abort();
    const mine = new AbortController();
    asked.set(article, mine);
    try {
      const answer = await fetch("/requests/" + article.dataset.id + "/check", {method: "POST", body: new URLSearchParams(new FormData(form)), headers: {"HX-Request": "true"}, signal: mine.signal});
      if (answer.ok && answer.headers.get("Content-Type")?.startsWith("application/json")) show(article, place, await answer.json());
    } catch { /* it is checked again when it is sent */ }
  }, 350));
}

const plainName = name => name.replace(/^(a\.\d+|f)\./, "").replace(/\.\d+(?=\.|$)/g, "[]").replaceAll("~1", ".");

function show(article, place, found) {
  let marked = false;
  for (const label of article.querySelectorAll("[data-field]")) {
    const wrong = !found.ok && found.field && (label.dataset.field === found.field || plainName(label.dataset.field) === found.field);
    const e = label.querySelector(":is(input,select,textarea)"), touched = e && (e.dataset.touched || e.value !== initial(e));
    label.classList.toggle("wrong", !!(wrong && touched));
    label.querySelector("small.wrong").textContent = wrong && touched ? found.message.replace(/^it does not fit the schema: [^ ]*: /, "") : "";
    marked ||= !!(wrong && touched);
  }
  place.classList.toggle("no", !found.ok);
  place.classList.toggle("hold", found.ok && !!found.note);
  const missing = !found.ok && / is missing$/.test(found.message);
  place.textContent = found.ok ? found.note ?? "" : missing || marked ? "" : found.message + (found.hint ? ": " + found.hint : "");
}
